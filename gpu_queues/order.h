/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * THE place for ordering. Each edge of the protocol between an engine and a NIC is one function,
 * named for what it guarantees; the comment names the two observers and the accesses it keeps
 * apart. No fence, barrier or flush stands anywhere else. README.md has the same as a table.
 *
 * On a GPU an edge is a fence of system scope: fence.release.sys before stores, fence.acq_rel.sys
 * behind loads, as in NVIDIA's own header for these queues. PTX promises a PCIe device nothing at
 * any scope; what is known is that system scope is the stronger practice: with no fence 0.06 to
 * 0.4% of posts over PCIe showed the observer an old WQE, with it none. An edge of smaller scope is
 * a separate, named function with the placement it needs.
 *
 * On the host the bodies are the ones its architecture needs toward a coherent DMA device: x86-64
 * keeps stores in order and loads in order, so the compiler must be held and the write-combining
 * register be fenced; arm64 needs its barriers of the outer shareable domain.
 *
 * Under ThreadSanitizer an edge also tells it what it carries (tsan.h). Two tell nothing, for there
 * is no access that could race without them: payload_before_wqe, which a later edge holds, and
 * uar_out.
 *
 * Cost: one fence is about 1200 cycles on an H200. Edges stand once a burst, never once a packet.
 */
#ifndef CRL_ORDER_H
#define CRL_ORDER_H

#include "port.h"
#include "tsan.h"

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define CRL_FENCE_RELEASE(scope) __asm__ volatile("fence.release." scope ";" ::: "memory")
#define CRL_FENCE_ACQUIRE(scope) __asm__ volatile("fence.acquire." scope ";" ::: "memory")
#elif defined(__CUDA_ARCH__)
#define CRL_FENCE_RELEASE(scope) __asm__ volatile("fence.acq_rel." scope ";" ::: "memory")
#define CRL_FENCE_ACQUIRE(scope) __asm__ volatile("fence.acq_rel." scope ";" ::: "memory")
#endif

/* Whatever came before, before stores, as a device sees them. */
CRL_FN void
crl_fence_store(void)
{
#if defined(__CUDA_ARCH__)
	CRL_FENCE_RELEASE("sys");
#elif defined(__aarch64__)
	__asm__ volatile("dmb oshst" ::: "memory");
#elif defined(__x86_64__)
	__asm__ volatile("" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* Loads before loads and stores, of what a device wrote. */
CRL_FN void
crl_fence_load(void)
{
#if defined(__CUDA_ARCH__)
	__asm__ volatile("fence.acq_rel.sys;" ::: "memory");
#elif defined(__aarch64__)
	__asm__ volatile("dmb osh" ::: "memory");
#elif defined(__x86_64__)
	__asm__ volatile("" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/* Loads and stores before a store that hands over what they were done to. */
CRL_FN void
crl_fence_handover(void)
{
#if !defined(__CUDA_ARCH__) && defined(__aarch64__)
	crl_fence_load(); /* a barrier of stores alone lets loads be done after the word */
#else
	crl_fence_store();
#endif
}

/* Stores to memory before stores to a register; on x86-64 also out of the write-combining buffers.
 */
CRL_FN void
crl_fence_mmio(void)
{
#if defined(__CUDA_ARCH__)
	CRL_FENCE_RELEASE("sys");
#elif defined(__aarch64__)
	__asm__ volatile("dmb oshst" ::: "memory");
#elif defined(__x86_64__)
	__asm__ volatile("sfence" ::: "memory");
#else
	__sync_synchronize();
#endif
}

/*
 * Stores before stores, as far as this GPU's own second-level cache: the release fence of the
 * scoped edges below. It does not throw away the first-level cache, as __threadfence() does.
 */
CRL_FN void
crl_fence_store_gpu(void)
{
#if defined(__CUDA_ARCH__)
	CRL_FENCE_RELEASE("gpu");
#else
	crl_fence_mmio();
#endif
}

/*
 * Packet bytes written by this thread, before the WQE that names them.
 * Observers: this thread; the NIC's payload read, which follows its WQE read. The NIC reads a WQE
 * only after the record or register told it to, so crl_order_wqe_before_record(), which is
 * cumulative, holds this edge too: the body keeps the compiler only. Bytes written by another
 * thread need crl_order_producer_before_ringer() in that thread.
 */
CRL_FN void
crl_order_payload_before_wqe(void)
{
	__asm__ volatile("" ::: "memory");
}

/*
 * WQEs of a burst, before the doorbell record that counts them.
 * Observers: the ringing lane; the NIC's WQE fetch, once it has read the record (on its own, at any
 * doorbell of the page, also one of another queue).
 */
CRL_FN void
crl_order_wqe_before_record(void)
{
	CRL_TSAN_RELEASE("wqe_before_record");
	crl_fence_store();
}

/*
 * Doorbell record, before the register. Observers: the ringing lane; the NIC's record read, which a
 * register write triggers. Without it a NIC that takes the record's count sees the old one and
 * sleeps.
 */
CRL_FN void
crl_order_record_before_uar(void)
{
	CRL_TSAN_RELEASE("record_before_uar");
	crl_fence_mmio();
}

/*
 * The two edges of a post at GPU scope, for whoever asks by name (crl_sq_ring_gpu): rings and
 * record in this GPU's own memory, where every reader, the NIC too, reads through the same
 * second-level cache; never for rings in host or another GPU's memory. An H200 needs about half the
 * time of system scope (docs/speed.md); the litmus has seen no stale WQE at either. PTX promises a
 * NIC nothing at either. On a host: the edges above.
 */
CRL_FN void
crl_order_wqe_before_record_gpu(void)
{
	CRL_TSAN_RELEASE("wqe_before_record_gpu");
	crl_fence_store_gpu();
}

CRL_FN void
crl_order_record_before_uar_gpu(void)
{
	CRL_TSAN_RELEASE("record_before_uar_gpu");
	crl_fence_store_gpu();
}

/*
 * A register store, before whatever this thread does next: out of the write-combining buffer at
 * once, and in order with the next store to the same register. Observers: the ringing lane; the
 * NIC's register. A GPU's .mmio store needs none.
 */
CRL_FN void
crl_order_uar_out(void)
{
#if !defined(__CUDA_ARCH__) && defined(__aarch64__)
	__asm__ volatile("dsb st" ::: "memory"); /* a dmb orders it, and lets it wait */
#elif !defined(__CUDA_ARCH__)
	crl_fence_mmio();
#endif
}

/*
 * The owner bit of a CQE, before the rest of the CQE and the packet bytes. Observers: the NIC,
 * which writes payload, then CQE, its last byte last; the polling lane. Once for all CQEs seen in a
 * burst.
 */
CRL_FN void
crl_order_cqe_before_payload(void)
{
	CRL_TSAN_ACQUIRE("cqe_before_payload", CRL_TSAN_LOADS);
	crl_fence_load();
}

/*
 * Reads of CQEs and packets, before the record that gives their slots back. Observers: the polling
 * lane; the NIC's next write to the slot. Once a burst for the RQ's record and both CQs' records.
 */
CRL_FN void
crl_order_reads_before_giveback(void)
{
	CRL_TSAN_RELEASE("reads_before_giveback");
	crl_fence_load();
}

/*
 * A send's CQE, before its WQE slot or buffer is written again. Observers: the NIC's last read of
 * slot and buffer, which came before its CQE; the lane that reuses them, also when it is another
 * than the one that polled.
 */
CRL_FN void
crl_order_send_done_before_reuse(void)
{
	CRL_TSAN_ACQUIRE("send_done_before_reuse", CRL_TSAN_LOADS);
	CRL_TSAN_RELEASE("send_done_before_reuse");
	crl_fence_load();
}

/*
 * WQEs and payload by a producing thread, before it tells the thread that rings; the ringer calls
 * it again after it was told and before it touches the queue. Observers: producer; ringer and,
 * through its record and register stores, the NIC.
 */
CRL_FN void
crl_order_producer_before_ringer(void)
{
	CRL_TSAN_ACQUIRE("producer_before_ringer", CRL_TSAN_LOADS);
	CRL_TSAN_RELEASE("producer_before_ringer");
	crl_fence_load();
}

/*
 * The same where producer and ringer are threads of one GPU and only they are meant: what the NIC
 * sees is ordered by the ringer's own two edges, which hold for all that it saw (a fence is
 * cumulative). Two functions, as the producer's half waits for its stores and the ringer's half for
 * nothing: before the word that tells; after the word was seen.
 */
CRL_FN void
crl_order_producer_before_ringer_gpu(void)
{
#if defined(__CUDA_ARCH__)
	crl_fence_store_gpu();
#else
	crl_order_producer_before_ringer();
#endif
}

CRL_FN void
crl_order_ringer_after_producer_gpu(void)
{
#if defined(__CUDA_ARCH__)
	CRL_FENCE_ACQUIRE("gpu");
#else
	crl_order_producer_before_ringer();
#endif
}

/*
 * And where all of them are threads of one block: both halves. The words between them and the
 * queue's book may then lie in shared memory. What the NIC sees is the ringer's own two edges'
 * affair as before, and these reach as far as the NIC.
 */
CRL_FN void
crl_order_producer_before_ringer_block(void)
{
#if defined(__CUDA_ARCH__)
	__asm__ volatile("fence.acq_rel.cta;" ::: "memory");
#else
	crl_order_producer_before_ringer();
#endif
}

/*
 * A poller's view of CQE and payload, before it tells a worker thread of the packet; the worker
 * calls it again after it was told and before it reads. Observers: the NIC through the poller; the
 * worker.
 */
CRL_FN void
crl_order_poller_before_worker(void)
{
	CRL_TSAN_ACQUIRE("poller_before_worker", CRL_TSAN_LOADS);
	CRL_TSAN_RELEASE("poller_before_worker");
	crl_fence_load();
}

/*
 * WQEs, before the index under which another processor will ring for them (a proxy that owns the
 * register). Observers: the building lane; the proxy and, after its record store, the NIC.
 */
CRL_FN void
crl_order_wqe_before_published_index(void)
{
	CRL_TSAN_RELEASE("wqe_before_published_index");
	crl_fence_store();
}

/*
 * A CQ's arm word in its record, before the arm register. Observers: the arming thread; the NIC,
 * which reads the record when the register is written.
 */
CRL_FN void
crl_order_cq_arm(void)
{
	CRL_TSAN_RELEASE("cq_arm");
	crl_fence_mmio();
}

/* An error mailbox's contents, before its seq. Observers: the engine; the host's control loop. */
CRL_FN void
crl_order_error_before_seq(void)
{
	CRL_TSAN_RELEASE("error_before_seq");
	crl_fence_store();
}

/* A mailbox's seq or a control word, before what it announces. Observers: the other processor; the
 * reader. */
CRL_FN void
crl_order_seq_before_error(void)
{
	CRL_TSAN_ACQUIRE("seq_before_error", 3u);
	crl_fence_load();
}

/* What an engine did to its queues, before the control word that says it stands still or has left.
 */
CRL_FN void
crl_order_work_before_word(void)
{
	CRL_TSAN_RELEASE("work_before_word");
	crl_fence_handover();
}

#endif /* CRL_ORDER_H */
