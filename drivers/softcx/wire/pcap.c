/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capture files as a wire: frames of one savefile come in, frames sent go to another. Called by the
 * data path's thread. Nothing is lost on the way in: a frame that the NIC has no rule or no buffer
 * for yet is offered again, for up to WAIT_NS, so that a program's slow start costs no frame; after
 * that the NIC has had its chance and the frame is gone, as from any wire.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "../log.h"
#include "savefile.h"

#define QUIET_NS    (1000ull * 1000 * 1000)
#define FRAME_BYTES 65535u
#define WAIT_NS	    (5ull * 1000 * 1000 * 1000)

struct pcap_wire {
	struct scx_wire wire;
	const struct scx_pcap *lib;
	pcap_t *in;	      /* NULL: nothing comes in, or the file is at its end */
	struct scx_frame now; /* the frame on offer, in libpcap's memory */
	bool again;	      /* it was handed back */
	uint64_t since_ns;    /* when for the first time, 0: not yet */
	uint64_t lost;
	bool started; /* the first frame has been offered: no more waiting for a quiet program */
	_Atomic uint64_t changed_ns; /* last change, 0: nobody tells of any */
	atomic_bool receives;
	struct scx_savefile out;
};

static uint64_t
now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000ull + t.tv_nsec;
}

static bool
ready(struct pcap_wire *p)
{
	uint64_t changed = p->changed_ns;

	if (!p->started)
		p->started = !changed || (p->receives && now_ns() - changed > QUIET_NS);
	return p->started;
}

void
scx_wire_pcap_changed(struct scx_wire *w, int receives)
{
	struct pcap_wire *p = (struct pcap_wire *)w;

	p->receives = receives != 0;
	p->changed_ns = now_ns();
}

static bool
next_frame(struct pcap_wire *p)
{
	struct pcap_pkthdr *h;
	const uint8_t *data;
	int rc;

	while (p->in) {
		rc = p->lib->next_ex(p->in, &h, &data);
		if (rc != 1) {
			if (rc == PCAP_ERROR) {
				scx_log("pcap", "the capture file ends early: %s",
					p->lib->geterr(p->in));
				scx_log_lose();
			}
			p->lib->close(p->in);
			p->in = NULL;
			return false;
		}
		if (h->caplen >= 14 && h->caplen <= FRAME_BYTES) {
			p->now = (struct scx_frame){data, h->caplen, 0};
			p->since_ns = 0;
			return true;
		}
		p->lost++; /* no Ethernet frame */
	}
	return false;
}

static unsigned
pcap_wire_recv(struct scx_wire *w, struct scx_frame *f, unsigned nr)
{
	struct pcap_wire *p = (struct pcap_wire *)w;

	if (!nr)
		return 0;
	if (!ready(p)) {
		scx_savefile_idle(&p->out);
		return 0;
	}
	if (p->again && now_ns() - p->since_ns > WAIT_NS) {
		p->lost++;
		p->again = false;
	}
	if (!p->again && !next_frame(p)) {
		scx_savefile_idle(&p->out);
		return 0;
	}
	p->again = false;
	*f = p->now;
	return 1;
}

static void
pcap_wire_back(struct scx_wire *w)
{
	struct pcap_wire *p = (struct pcap_wire *)w;

	p->again = true;
	if (!p->since_ns)
		p->since_ns = now_ns();
	scx_savefile_idle(&p->out);
}

static unsigned
pcap_wire_send(struct scx_wire *w, const struct scx_frame *f, unsigned nr)
{
	struct pcap_wire *p = (struct pcap_wire *)w;

	scx_savefile_write(&p->out, f, nr);
	return nr;
}

static void
pcap_wire_close(struct scx_wire *w)
{
	struct pcap_wire *p = (struct pcap_wire *)w;

	if (p->lost)
		scx_log("pcap",
			"%llu frames of the capture file found no rule or buffer in time, or were "
			"no frames",
			(unsigned long long)p->lost);
	if (p->in)
		p->lib->close(p->in);
	scx_savefile_close(&p->out);
	free(p);
}

static const struct scx_wire_ops pcap_ops = {
	.name = "pcap",
	.send = pcap_wire_send,
	.recv = pcap_wire_recv,
	.close = pcap_wire_close,
	.back = pcap_wire_back,
};

int
scx_wire_pcap(const char *in, const char *out, struct scx_wire **w, char *err, size_t err_bytes)
{
	char why[PCAP_ERRBUF_SIZE];
	struct pcap_wire *p = calloc(1, sizeof(*p));
	int rc = -EINVAL;

	if (!p)
		return -ENOMEM;
	p->lib = scx_pcap(err, err_bytes);
	if (!p->lib) {
		rc = -ENOENT;
		goto fail;
	}
	if (in) {
		p->in = p->lib->open_offline(in, why);
		if (!p->in) {
			snprintf(err, err_bytes, "capture file %s: %s", in, why);
			goto fail;
		}
		if (p->lib->datalink(p->in) != DLT_EN10MB) {
			snprintf(err, err_bytes, "capture file %s: no Ethernet frames in it", in);
			goto fail;
		}
	}
	rc = scx_savefile_open(&p->out, out, err, err_bytes);
	if (rc)
		goto fail;
	p->wire.ops = &pcap_ops;
	*w = &p->wire;
	return 0;
fail:
	if (p->in)
		p->lib->close(p->in);
	free(p);
	return rc;
}
