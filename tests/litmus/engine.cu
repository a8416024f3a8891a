// SPDX-License-Identifier: BSD-3-Clause
// The engine's columns of the litmus tests, one kernel each, by the functions of mem.h and order.h:
// what nvcc makes of them is compared with the columns.
#include "gpu_queues/mem.h"
#include "gpu_queues/order.h"

extern "C" __global__ void
wqe_before_record(struct crl_seg *wqe, uint32_t *rec, struct crl_seg s)
{
	crl_st_seg(wqe, s);
	crl_order_wqe_before_record();
	crl_st_be32(rec, 1);
}

extern "C" __global__ void
record_before_uar(uint32_t *rec, uint64_t *uar)
{
	crl_st_be32(rec, 1);
	crl_order_record_before_uar();
	crl_st_mmio64(uar, 1);
	crl_order_uar_out();
}

extern "C" __global__ void
cqe_before_payload(const uint32_t *cqe, const uint16_t *pkt)
{
	uint32_t r0 = crl_ld32(cqe);

	crl_order_cqe_before_payload();
	if (r0 + crl_ld16(pkt) == 7)
		__trap();
}

extern "C" __global__ void
reads_before_giveback(const uint16_t *pkt, uint32_t *rec)
{
	uint32_t r0 = crl_ld16(pkt);

	crl_order_reads_before_giveback();
	crl_st_be32(rec, 1);
	if (r0 == 7)
		__trap();
}

extern "C" __global__ void
send_done_before_reuse(const uint32_t *cqe, struct crl_seg *wqe, struct crl_seg s)
{
	uint32_t r0 = crl_ld32(cqe);

	crl_order_send_done_before_reuse();
	crl_st_seg(wqe, s);
	if (r0 == 7)
		__trap();
}

extern "C" __global__ void
payload_before_wqe(uint16_t *pkt, struct crl_seg *wqe, uint32_t *rec, struct crl_seg s)
{
	crl_st16(pkt, 1);
	crl_order_payload_before_wqe();
	crl_st_seg(wqe, s);
	crl_order_wqe_before_record();
	crl_st_be32(rec, 1);
}

extern "C" __global__ void
producer_before_ringer_0(struct crl_seg *wqe, uint64_t *flag, struct crl_seg s)
{
	crl_st_seg(wqe, s);
	crl_order_producer_before_ringer();
	crl_st64(flag, 1);
}

// The ringer's own edge before the record comes on top of this one.
extern "C" __global__ void
producer_before_ringer_1(const uint64_t *flag, uint32_t *rec)
{
	uint64_t r0 = crl_ld64(flag);

	crl_order_producer_before_ringer();
	crl_st_be32(rec, 1);
	if (r0 == 7)
		__trap();
}

extern "C" __global__ void
producer_before_ringer_gpu_0(struct crl_seg *wqe, uint64_t *flag, struct crl_seg s)
{
	crl_st_seg(wqe, s);
	crl_order_producer_before_ringer_gpu();
	crl_st64(flag, 1);
}

extern "C" __global__ void
producer_before_ringer_gpu_1(const uint64_t *flag, uint32_t *rec)
{
	uint64_t r0 = crl_ld64(flag);

	crl_order_ringer_after_producer_gpu();
	crl_order_wqe_before_record();
	crl_st_be32(rec, 1);
	if (r0 == 7)
		__trap();
}

extern "C" __global__ void
producer_before_ringer_block_0(struct crl_seg *wqe, uint64_t *flag, struct crl_seg s)
{
	crl_st_seg(wqe, s);
	crl_order_producer_before_ringer_block();
	crl_st64(flag, 1);
}

extern "C" __global__ void
producer_before_ringer_block_1(const uint64_t *flag, uint32_t *rec)
{
	uint64_t r0 = crl_ld64(flag);

	crl_order_producer_before_ringer_block();
	crl_order_wqe_before_record();
	crl_st_be32(rec, 1);
	if (r0 == 7)
		__trap();
}

extern "C" __global__ void
poller_before_worker_0(const uint32_t *cqe, uint64_t *flag)
{
	uint32_t r0 = crl_ld32(cqe);

	crl_order_poller_before_worker();
	crl_st64(flag, 1);
	if (r0 == 7)
		__trap();
}

extern "C" __global__ void
poller_before_worker_1(const uint64_t *flag, const uint16_t *pkt)
{
	uint64_t r1 = crl_ld64(flag);

	crl_order_poller_before_worker();
	if (r1 + crl_ld16(pkt) == 7)
		__trap();
}
