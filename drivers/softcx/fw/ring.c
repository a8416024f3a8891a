/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings and doorbell records in umems: see ring.h. Called by the create commands of cmd_queue.c.
 * Sums are compared by subtraction, so that no offset can wrap past the end.
 */
#include "../../../gpu_queues/wire/doorbell.h"
#include "ring.h"

#define IBV_LOCAL_WRITE 1u /* IBV_ACCESS_LOCAL_WRITE */

static int
place_ring(struct scx_fw_call *c, const struct scx_fw_obj *umem, struct scx_fw_ring *r)
{
	uint64_t page = (uint64_t)SCX_PAGE << r->log_page_size;
	uint64_t off = r->ring_off, within = page / 64 * r->page_offset;

	if (off > umem->bytes || within > umem->bytes - off ||
		r->bytes > umem->bytes - off - within)
		return scx_fw_refuse(c, SCX_FW_R_RING_BOUNDS, NULL, 0,
			"ring of %llu bytes at offset 0x%llx + 0x%llx of umem 0x%x, which has %llu "
			"bytes",
			(unsigned long long)r->bytes, (unsigned long long)off,
			(unsigned long long)within, umem->num, (unsigned long long)umem->bytes);
	r->buf.base = umem->base + off + within;
	r->buf.bytes = r->bytes;
	if (((uintptr_t)umem->base + off) % SCX_PAGE != 0)
		return scx_fw_refuse(c, SCX_FW_R_RING_ALIGN, NULL, 0,
			"ring at offset 0x%llx of umem 0x%x is at %p: not the start of a page",
			(unsigned long long)off, umem->num, (void *)r->buf.base);
	if (r->nic_writes && !(umem->access & IBV_LOCAL_WRITE))
		return scx_fw_refuse(c, SCX_FW_R_READ_ONLY, NULL, 0,
			"umem 0x%x is read-only and the NIC writes CQEs", umem->num);
	return 0;
}

static int
place_record(struct scx_fw_call *c, const struct scx_fw_obj *umem, struct scx_fw_ring *r)
{
	uint8_t *at;

	if (r->record_off > umem->bytes || umem->bytes - r->record_off < CRL_DBREC_BYTES)
		return scx_fw_refuse(c, SCX_FW_R_RECORD_BOUNDS, NULL, 0,
			"doorbell record at offset 0x%llx of umem 0x%x, which has %llu bytes",
			(unsigned long long)r->record_off, umem->num,
			(unsigned long long)umem->bytes);
	at = umem->base + r->record_off;
	if ((uintptr_t)at % CRL_DBREC_BYTES != 0)
		return scx_fw_refuse(c, SCX_FW_R_RECORD_ALIGN, NULL, 0,
			"doorbell record at offset 0x%llx of umem 0x%x is at %p",
			(unsigned long long)r->record_off, umem->num, (void *)at);
	if (at < r->buf.base + r->buf.bytes && at + CRL_DBREC_BYTES > r->buf.base)
		return scx_fw_refuse(c, SCX_FW_R_RECORD_IN_RING, NULL, 0,
			"doorbell record at %p, the ring has %llu bytes at %p", (void *)at,
			(unsigned long long)r->buf.bytes, (void *)r->buf.base);
	r->dbrec = (uint32_t *)at;
	return 0;
}

int
scx_fw_ring(struct scx_fw_call *c, struct scx_fw_obj *obj, struct scx_fw_ring *r)
{
	struct scx_fw_obj *umem;
	int rc;

	if (!r->ring_valid || !r->record_valid)
		return scx_fw_refuse(c, SCX_FW_R_NO_UMEM, NULL, 0, "%s by a physical address",
			r->ring_valid ? "doorbell record" : "ring");
	umem = scx_fw_get_hold(c, obj, SCX_FW_UMEM, r->ring_umem);
	if (umem == NULL)
		return -1;
	rc = place_ring(c, umem, r);
	if (rc != 0)
		return rc;
	umem = scx_fw_get_hold(c, obj, SCX_FW_UMEM, r->record_umem);
	if (umem == NULL)
		return -1;
	return place_record(c, umem, r);
}
