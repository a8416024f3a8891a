/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The thread that steps NICs: frames go through while commands come, a destroy command returns only
 * after the data path has let go, an idle NIC wakes up in time and leaves the processor alone.
 */
#include <time.h>

#include "fixture.h"

static uint64_t
cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void
nap(long ns)
{
	struct timespec ts = {.tv_nsec = ns};

	nanosleep(&ts, NULL);
}

/* Post one frame and a buffer for it at index pi, ring, and wait for the CQE of the reception. */
static bool
round_trip(struct fx *fx, uint16_t pi, uint64_t wait_ns)
{
	uint8_t *wqe = fx->mem + FX_SQ_RING + (pi & 63u) * 64,
		*seg = fx->mem + FX_RQ_RING + (pi & 63u) * 16;
	volatile uint32_t *rec = (volatile uint32_t *)(fx->mem + FX_SQ_DBREC);
	volatile uint32_t *rq_rec = (volatile uint32_t *)(fx->mem + FX_RQ_DBREC);
	volatile uint32_t *cq_rec = (volatile uint32_t *)(fx->mem + FX_CQ_DBREC);
	volatile uint8_t *cqe = fx->mem + FX_CQ_RING + (pi & 63u) * 64;
	uint64_t give_up = scx_fw_now_ns() + wait_ns;

	((crl_be32 *)seg)[0] = crl_to_be32(2048);
	((crl_be32 *)seg)[1] = crl_to_be32(fx->lkey);
	*(crl_be64 *)(seg + 8) = crl_to_be64((uintptr_t)fx->mem + FX_DATA + 4096);
	memset(wqe, 0, 64);
	((crl_be32 *)wqe)[0] = crl_to_be32((uint32_t)pi << 8 | 0x0a);
	((crl_be32 *)wqe)[1] = crl_to_be32(fx->sq << 8 | 3);
	((crl_be32 *)wqe)[8] = crl_to_be32(60);
	((crl_be32 *)wqe)[9] = crl_to_be32(fx->lkey);
	*(crl_be64 *)(wqe + 40) = crl_to_be64((uintptr_t)fx->mem + FX_DATA);
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	rq_rec[0] = crl_to_be32(pi + 1u).be;
	rec[1] = crl_to_be32(pi + 1u).be;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	*(volatile uint64_t *)(fx->uar_mem + fx->uar * 4096 + 0x800) = *(uint64_t *)wqe;
	/* Owner bit of the CQE's last byte: the wrap count's parity; opcode 2 is a reception. */
	while ((cqe[63] & 1) != ((pi >> FX_LOG_CQ) & 1) || cqe[63] >> 4 != 2) {
		if (scx_fw_now_ns() > give_up)
			return false;
		nap(1000);
	}
	cq_rec[0] = crl_to_be32(pi + 1u).be;
	return true;
}

static void
frames_and_commands_at_once(void **state)
{
	struct fx *fx = *state;
	uint64_t worst = 0;

	fx_queues(fx);
	assert_int_equal(0, scx_nic_start(&fx->nic, 1));
	assert_int_equal(-EBUSY, scx_nic_start(&fx->nic, 1));
	assert_int_equal(0, scx_nic_poll(fx->nic)); /* the thread's business now */
	for (unsigned i = 0; i < 300; i++) {
		uint64_t t = scx_fw_now_ns();

		assert_true(round_trip(fx, (uint16_t)i, 2000000000));
		t = scx_fw_now_ns() - t;
		if (t > worst)
			worst = t;
		fx_cmd_tis(fx);
		fx_ok(fx);
		fx_destroy(fx, CRL_CMD_OP_DESTROY_TIS, fx_num(fx));
		fx_cmd_tir(fx);
		fx_ok(fx);
		fx_destroy(fx, CRL_CMD_OP_DESTROY_TIR, fx_num(fx));
	}
	print_message("worst round trip %llu us\n", (unsigned long long)worst / 1000);
	scx_nic_report(fx->nic);
	scx_nic_stop(&fx->nic, 1);
	scx_nic_stop(&fx->nic, 1); /* nothing runs: nothing happens */
}

/* After 5 ms without work the thread sleeps in naps; what it then costs, and that it still wakes.
 */
static void
idle_costs_little_and_wakes(void **state)
{
	struct fx *fx = *state;
	uint64_t cpu, wall;
	uint16_t pi = 0;

	fx_queues(fx);
	assert_int_equal(0, scx_nic_start(&fx->nic, 1));
	nap(5000000);
	cpu = cpu_ns();
	wall = scx_fw_now_ns();
	nap(200000000);
	cpu = cpu_ns() - cpu;
	wall = scx_fw_now_ns() - wall;
	print_message("idle: %llu%% of a processor\n", (unsigned long long)(cpu * 100 / wall));
	assert_true(cpu * 100 / wall < 50);
	for (; pi < 20; pi++) {
		nap(3000000);
		assert_true(round_trip(fx, pi, 2000000000));
	}
	scx_nic_stop(&fx->nic, 1);
}

/* The memory of a destroyed queue is unmapped at once: a later access of the data path would crash.
 */
static void
destroy_lets_go(void **state)
{
	struct fx *fx = *state;

	fx_queues(fx);
	assert_int_equal(0, scx_nic_start(&fx->nic, 1));
	for (unsigned i = 0; i < 50; i++) {
		struct fx other = *fx;
		uint32_t umem, sq;
		uint8_t *sqc, *wq;

		assert_int_equal(0, posix_memalign((void **)&other.mem, 4096, 1u << 16));
		memset(other.mem, 0, 1u << 16);
		assert_int_equal(0, scx_umem_reg(fx->nic, fx->uid, other.mem, 1u << 16, 1, &umem));
		sqc = fx_cmd_sq(fx);
		wq = crl_prm_at(sqc, CRL_PRM_SQC_WQ);
		crl_prm_set(wq, CRL_PRM_WQ_WQ_UMEM_ID, umem);
		crl_prm_set(wq, CRL_PRM_WQ_DBR_UMEM_ID, umem);
		fx_ok(fx);
		sq = fx_num(fx);
		fx_cmd_state(fx, CRL_CMD_OP_MODIFY_SQ, sq, CRL_Q_STATE_RST, CRL_Q_STATE_RDY);
		fx_ok(fx);
		/* NOPs by the hundred, rung, and the queue destroyed while they are fetched */
		for (unsigned n = 0; n < 64; n++) {
			((crl_be32 *)(other.mem + FX_SQ_RING + n * 64))[0] = crl_to_be32(n << 8);
			((crl_be32 *)(other.mem + FX_SQ_RING + n * 64))[1] =
				crl_to_be32(sq << 8 | 1);
		}
		((crl_be32 *)(other.mem + FX_SQ_DBREC))[1] = crl_to_be32(64);
		__atomic_thread_fence(__ATOMIC_SEQ_CST);
		*(volatile uint64_t *)(fx->uar_mem + fx->uar * 4096 + 0x800) =
			*(uint64_t *)(other.mem + FX_SQ_RING + 63 * 64);
		fx_destroy(fx, CRL_CMD_OP_DESTROY_SQ, sq);
		assert_int_equal(0, scx_umem_dereg(fx->nic, fx->uid, umem));
		memset(other.mem, 0xa5, 1u << 16);
		free(other.mem);
	}
	scx_nic_stop(&fx->nic, 1);
}

/* Two NICs in one thread; stopping one name stops the thread of both. */
static void
two_nics(void **state)
{
	struct fx *a = fx_make(NULL), *b = fx_make("cx7");
	struct scx_nic *both[] = {a->nic, b->nic};

	fx_queues(a);
	fx_queues(b);
	assert_int_equal(0, scx_nic_start(both, 2));
	for (uint16_t i = 0; i < 50; i++) {
		assert_true(round_trip(a, i, 2000000000));
		assert_true(round_trip(b, i, 2000000000));
	}
	scx_nic_stop(both, 2);
	fx_drop(a);
	fx_drop(b);
	assert_int_equal(-EINVAL, scx_nic_start(both, 0));
}

/* A NIC is destroyed while its thread runs. */
static void
destroy_while_running(void **state)
{
	struct fx *fx = fx_make(NULL);

	fx_queues(fx);
	assert_int_equal(0, scx_nic_start(&fx->nic, 1));
	assert_true(round_trip(fx, 0, 2000000000));
	fx_drop(fx);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(frames_and_commands_at_once, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(idle_costs_little_and_wakes, fx_new, fx_free),
		cmocka_unit_test_setup_teardown(destroy_lets_go, fx_new, fx_free),
		cmocka_unit_test(two_nics),
		cmocka_unit_test(destroy_while_running),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
