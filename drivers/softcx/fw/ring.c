/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rings and doorbell records in umems: see ring.h. A guest's kernel names
 * pages and bus addresses instead. Called by the create commands of CQ, SQ and RQ.
 * Sums are compared by subtraction, so that no offset can wrap past the end.
 */
#include <stdlib.h>

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
	r->buf.at = umem->at + off + within;
	r->buf.device = umem->device;
	r->buf.dump = c->nic->cfg.log_dump;
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
scx_fw_pages(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *pas,
	const struct scx_pages *part)
{
	const struct scx_guest *g = c->nic->cfg.guest;
	uint32_t log_page = part->log_page;
	uint64_t bytes = part->from + part->most;
	uint64_t nr = (bytes + (1ull << log_page) - 1) >> log_page;
	size_t room = c->in_bytes - (size_t)((const uint8_t *)pas - c->in);
	struct scx_pages want = *part;
	uint64_t *page;

	if (nr == 0 || nr > room / sizeof(uint64_t) || nr > SCX_FW_PAGES_MAX)
		return scx_fw_refuse(c, SCX_FW_R_IN_SHORT, NULL, 0,
			"%llu bytes are %llu pages, the list has %zu", (unsigned long long)bytes,
			(unsigned long long)nr, room / sizeof(uint64_t));
	page = calloc(nr, sizeof(*page));
	if (page == NULL)
		return scx_fw_refuse(c, SCX_FW_R_FULL, NULL, 0, "no memory for the list");
	for (uint64_t i = 0; i < nr; i++)
		/* the low bits of an entry are flags */
		page[i] = crl_prm_get64((const uint8_t *)pas + i * 8, CRL_PRM_PAS) & ~0xfffull;
	want.page = page;
	want.nr = (uint32_t)nr;
	obj->map = g->map(g->arg, &want, &obj->map_bytes);
	free(page);
	if (obj->map == NULL)
		return scx_fw_refuse(c, SCX_FW_R_PAGES, pas, nr < 8 ? nr * 8 : 64,
			"%llu pages of 2^%u bytes", (unsigned long long)nr, log_page);
	return 0;
}

/* A ring by its pages, its record by a bus address. */
static int
place_physical(struct scx_fw_call *c, struct scx_fw_obj *obj, struct scx_fw_ring *r)
{
	const struct scx_guest *g = c->nic->cfg.guest;
	uint32_t log_page = SCX_LOG_PAGE + r->log_page_size;
	uint64_t within = (1ull << log_page) / 64 * r->page_offset;
	int rc;

	if (log_page > SCX_LOG_PAGE_MAX)
		return scx_fw_refuse(
			c, SCX_FW_R_RING_BOUNDS, NULL, 0, "pages of 2^%u bytes", log_page);
	rc = scx_fw_pages(c, obj, r->pas,
		&(struct scx_pages){
			.log_page = log_page, .from = within, .least = r->bytes, .most = r->bytes});
	if (rc != 0)
		return rc;
	r->buf.base = obj->map;
	r->buf.bytes = r->bytes;
	if (r->record_off % CRL_DBREC_BYTES != 0)
		return scx_fw_refuse(c, SCX_FW_R_RECORD_ALIGN, NULL, 0,
			"doorbell record at bus address 0x%llx", (unsigned long long)r->record_off);
	r->dbrec = g->at(g->arg, r->record_off, CRL_DBREC_BYTES);
	if (r->dbrec == NULL)
		return scx_fw_refuse(c, SCX_FW_R_PAGES, NULL, 0,
			"doorbell record at bus address 0x%llx", (unsigned long long)r->record_off);
	return 0;
}

int
scx_fw_ring(struct scx_fw_call *c, struct scx_fw_obj *obj, struct scx_fw_ring *r)
{
	struct scx_fw_obj *umem;
	int rc;

	if (!r->ring_valid && !r->record_valid && c->uid == 0 && c->nic->cfg.guest != NULL)
		return place_physical(c, obj, r);
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
	rc = place_record(c, umem, r);
	if (rc == 0 && c->nic->cfg.log_dump != 0)
		scx_fw_log_ring(c->nic, obj, r);
	return rc;
}
