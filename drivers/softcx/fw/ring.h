/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where a queue's ring and doorbell record lie, as CQ, SQ and RQ contexts say it: a umem id, an
 * offset, and within a page a page_offset. The checks are the same for all three.
 */
#ifndef SCX_FW_RING_H
#define SCX_FW_RING_H

#include "fw.h"

struct scx_fw_ring {
	/* in, from the context */
	bool ring_valid, record_valid; /* the umem valid bits */
	uint32_t ring_umem, record_umem;
	uint64_t ring_off, record_off; /* bytes in the umem */
	uint32_t page_offset;	       /* in units of page size / 64 */
	uint32_t log_page_size;	       /* above 4096 bytes */
	uint64_t bytes;		       /* of the ring */
	bool nic_writes;	       /* into the ring: CQ */
	/* out */
	struct scx_buf buf;
	uint32_t *dbrec;
};

/* Find and check both, and make obj hold their umems; 0 or refused. */
int scx_fw_ring(struct scx_fw_call *c, struct scx_fw_obj *obj, struct scx_fw_ring *r);

#endif /* SCX_FW_RING_H */
