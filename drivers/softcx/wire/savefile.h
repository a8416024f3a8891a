/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A capture file being written, in libpcap's format with nanoseconds: what pcap.c and tap.c share.
 * Whole records are handed to the kernel at once, when the data path has nothing else to do and at
 * least every FLUSH_NS while it has, so that a kill -9 leaves a file that any reader takes.
 */
#ifndef SCX_SAVEFILE_H
#define SCX_SAVEFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "../wire.h"
#include "libpcap.h"

struct scx_savefile {
	const struct scx_pcap *lib;
	pcap_t *format; /* of the records; NULL: no file */
	pcap_dumper_t *to;
	char *buffer;
	size_t pending;	   /* bytes not handed over yet */
	uint64_t since_ns; /* the oldest of them */
	int fd;
	bool stuck; /* a pipe that nobody empties: it gets no more time */
};

/* 0 or -errno with err filled. path NULL: a file that takes everything and keeps nothing. */
int scx_savefile_open(struct scx_savefile *s, const char *path, char *err, size_t err_bytes);
void scx_savefile_write(struct scx_savefile *s, const struct scx_frame *f, unsigned nr);
void scx_savefile_idle(struct scx_savefile *s); /* a good moment to hand over */
void scx_savefile_close(struct scx_savefile *s);

#endif /* SCX_SAVEFILE_H */
