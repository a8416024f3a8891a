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
	const void *pas;	       /* list of pages, for a ring that is in no umem */
	/* out */
	struct scx_buf buf;
	uint32_t *dbrec;
};

#define SCX_LOG_PAGE	 12u
#define SCX_LOG_PAGE_MAX 31u
#define SCX_FW_PAGES_MAX (1u << 20)
#define CRL_PRM_PAS	 64u /* an entry of a list of pages, as a field at offset 0 */

/*
 * Map part of what a list of pages at pas, inside the command, names: obj->map is the part's first
 * byte, undone when obj is freed. The part's own list is not looked at. 0 or refused.
 */
int scx_fw_pages(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *pas,
	const struct scx_pages *part);

/* Find and check both, and make obj hold their umems; 0 or refused. */
int scx_fw_ring(struct scx_fw_call *c, struct scx_fw_obj *obj, struct scx_fw_ring *r);

/* dump.c: where they are, to the log. */
void scx_fw_log_ring(
	struct scx_nic *nic, const struct scx_fw_obj *obj, const struct scx_fw_ring *r);

/* wq.c: a wq's type and sizes, 0 or refused; then what scx_fw_ring() does, for what it says. */
int scx_fw_wq_check(
	struct scx_fw_call *c, const void *wq, uint32_t stride_min, uint32_t stride_max);
int scx_fw_wq_place(
	struct scx_fw_call *c, struct scx_fw_obj *obj, const void *wq, struct scx_fw_ring *r);

#endif /* SCX_FW_RING_H */
