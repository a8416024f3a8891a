/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * `--log-dump`: which memory the driver gave, what of a queue lies in which umem, and the first
 * entries of each ring, which whoever steps has read where they are and reported. The first two run
 * under the NIC's lock, the last in the thread that takes reports.
 */
#include <inttypes.h>
#include <stdio.h>

#include "ring.h"

static const char *
memory(int device)
{
	return device ? "device memory" : "host memory";
}

void
scx_fw_log_umem(struct scx_nic *nic, const struct scx_fw_obj *umem, const struct scx_dmabuf *d)
{
	char how[64] = "by address";

	if (d != NULL)
		snprintf(how, sizeof(how), "dma-buf, descriptor %d, offset 0x%" PRIx64, d->fd,
			d->offset);
	scx_log(nic->name, "umem 0x%x: %" PRIu64 " bytes at 0x%" PRIx64 ", %s, %s", umem->num,
		umem->bytes, umem->at, memory(umem->device), how);
}

void
scx_fw_log_ring(struct scx_nic *nic, const struct scx_fw_obj *obj, const struct scx_fw_ring *r)
{
	scx_log(nic->name,
		"%s 0x%x: ring of %" PRIu64 " bytes in umem 0x%x at offset 0x%" PRIx64
		", record in umem 0x%x at offset 0x%" PRIx64,
		scx_fw_kind_name(obj->kind), obj->num, r->bytes, r->ring_umem, r->ring_off,
		r->record_umem, r->record_off);
}

void
scx_fw_dumped(struct scx_nic *nic, const struct scx_dp_report *r)
{
	static const struct {
		const char *queue, *entry;
		size_t bytes;
	} is[] = {
		[SCX_DP_DUMP_SQ] = {"SQ", "WQE", 64},
		[SCX_DP_DUMP_RQ] = {"RQ", "WQE", 16},
		[SCX_DP_DUMP_CQ] = {"CQ", "CQE", 64},
	};
	char text[2 * sizeof(r->bytes) + sizeof(r->bytes) / 4 + 1];
	size_t n = 0;

	for (size_t i = 0; i < is[r->why].bytes; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n, "%s%02x",
			i > 0 && i % 4 == 0 ? " " : "", r->bytes[i]);
	scx_log(nic->name, "%s 0x%x: %s %u at 0x%" PRIx64 " in %s: %s", is[r->why].queue, r->num,
		is[r->why].entry, r->index, r->value[0], memory(r->value[1] != 0), text);
}
