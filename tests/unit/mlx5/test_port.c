/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * port.c and attach.c against fake_dpdk.h: with which arguments net_mlx5 is asked, in which order,
 * what each failure undoes, and that neither descriptor, device nor pool is left.
 */
#include "fake_dpdk.h"

static struct ibv_context ibv;
static struct ibv_pd pd = {.handle = 66};
static struct crl_ctx ctx, other_ctx;
static struct crl_eal eal;
static struct crl_err err;
static struct crl_port_cfg cfg;

static int
start(void **state)
{
	(void)state;
	memset(&dp, 0, sizeof(dp));
	memset(&eal, 0, sizeof(eal));
	memset(&ctx, 0, sizeof(ctx));
	memset(&err, 0, sizeof(err));
	heap_live = 0;
	dp.fd = -1;
	if (ibv.cmd_fd == 0)
		ibv.cmd_fd = memfd_create("device", 0);
	ctx.ibv = &ibv;
	ctx.pd = &pd;
	strcpy(ctx.info.bdf, "0000:99:00.0");
	eal.args.nr_devs = 2;
	strcpy(eal.args.devs[1].bdf, "0000:99:00.0");
	eal.args.devs[1].devargs = "";
	eal.ctx[1] = &ctx;
	cfg = (struct crl_port_cfg){.size = sizeof(cfg)};
	return 0;
}

static void
assert_clean(void)
{
	assert_int_equal(dp.probed | dp.pools | dp.maps, 0);
	assert_int_equal(heap_live, 0);
	assert_int_equal(fcntl(dp.fd, F_GETFD), -1);
	assert_null(eal.port[1]);
	assert_string_equal(ctx.port_name, "");
}

static int
end(void **state)
{
	(void)state;
	assert_clean();
	return 0;
}

/* Opens, compares the list of calls, and closes. */
static void
assert_opens(const char *list)
{
	struct crl_port *port = NULL;

	dp.used = 0;
	assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), 0);
	assert_string_equal(dp.list, list);
	assert_ptr_equal(eal.port[1], port);
	assert_string_equal(ctx.port_name, "7 (0000:99:00.0)");
	assert_int_equal(crl_port_id(port), 7);
	assert_ptr_equal(crl_port_ctx(port), &ctx);
	assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), -EBUSY);
	assert_string_equal(err.cause, "port 7 (0000:99:00.0) is open");
	dp.used = 0;
	assert_int_equal(crl_port_close(eal.port[1], &err), 0);
	assert_string_equal(dp.list,
		cfg.nr_cpu_rxq && cfg.mp == NULL ? "-start-7 -probe -pool " : "-start-7 -probe ");
	assert_clean();
}

#define PROBED "dup stat words probe info "

static void
opens(void **state)
{
	(void)state;
	assert_opens(PROBED "info mtu-of-7 configure-7:0,1 tx-7.0:512 start-7 ");
	assert_int_equal(dp.conf.rxmode.mtu, 1600);
	assert_int_equal(dp.conf.rxmode.mq_mode, 0);
	assert_int_equal(dp.conf.rxmode.offloads, 0);
	cfg.isolate = 1;
	cfg.promiscuous = 1; /* which has no sense then */
	assert_opens(PROBED "isolate-7 info mtu-of-7 configure-7:0,1 tx-7.0:512 start-7 ");
	cfg.isolate = 0;
	assert_opens(PROBED "info mtu-of-7 configure-7:0,1 tx-7.0:512 start-7 promiscuous-7 ");
	cfg.promiscuous = 0;
	cfg.nr_cpu_rxq = 1;
	cfg.nr_cpu_txq = 2;
	cfg.cpu_depth = 64;
	cfg.mtu = 1500;
	assert_opens(PROBED "info configure-7:1,2 pool rx-7.0:64 tx-7.0:64 tx-7.1:64 mtu-7=1500 "
			    "start-7 ");
	assert_int_equal(dp.conf.rxmode.mq_mode, 0);
	assert_string_equal(dp.pool_name, "crl_cpu_7");
	assert_int_equal(dp.pool_size, 2 * 64 + 256);
	assert_int_equal(dp.pool_cache, 128);
	assert_int_equal(dp.pool_room, RTE_MBUF_DEFAULT_BUF_SIZE);
	assert_int_equal(dp.socket, 1);
	assert_ptr_equal(dp.mp, fake_pool);
	cfg.nr_cpu_rxq = 3;
	cfg.nr_cpu_txq = 0;
	cfg.cpu_depth = 0;
	assert_opens(PROBED "info configure-7:3,1 pool rx-7.0:512 rx-7.1:512 rx-7.2:512 "
			    "tx-7.0:512 mtu-7=1500 start-7 ");
	assert_int_equal(dp.pool_size, 3 * 2 * 512 + 256);
	assert_int_equal(dp.conf.rxmode.mq_mode, RTE_ETH_MQ_RX_RSS);
	assert_true(dp.conf.rx_adv_conf.rss_conf.rss_hf == (RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP));
	cfg.mp = (struct rte_mempool *)&cfg; /* the program's own */
	cfg.nr_cpu_rxq = 1;
	assert_opens(PROBED "info configure-7:1,1 rx-7.0:512 tx-7.0:512 mtu-7=1500 start-7 ");
	assert_ptr_equal(dp.mp, cfg.mp);
}

/* Frames that do not fit one buffer are scattered: the room is 2048 bytes, 26 are no payload. */
static void
large_frames(void **state)
{
	(void)state;
	for (cfg.mtu = 2021; cfg.mtu <= 2023; cfg.mtu++) {
		struct crl_port *port;

		assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), 0);
		assert_int_equal(dp.conf.rxmode.mtu, cfg.mtu);
		assert_true(dp.conf.rxmode.offloads ==
			    (cfg.mtu > 2022 ? RTE_ETH_RX_OFFLOAD_SCATTER : 0));
		assert_int_equal(crl_port_close(port, &err), 0);
	}
}

static void
devargs(void **state)
{
	static const struct {
		const char *given, *passed;
	} rows[] = {{"", "pd_handle=66,dv_flow_en=1"},
		{"a=1,b=2", "pd_handle=66,dv_flow_en=1,a=1,b=2"},
		{"dv_flow_en=1", "pd_handle=66,dv_flow_en=1"},
		{"a=1,dv_flow_en=1", "pd_handle=66,a=1,dv_flow_en=1"}};
	static const struct {
		const char *given, *cause;
	} bad[] = {{"cmd_fd=3", "cmd_fd is Carillon's to give"},
		{"a=1,pd_handle=3", "pd_handle is Carillon's to give"},
		{"dv_flow_en=2",
			"external queues need dv_flow_en=1, not what is in \"dv_flow_en=2\""}};
	struct crl_port *port;
	char want[128];

	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		eal.args.devs[1].devargs = rows[i].given;
		assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), 0);
		snprintf(want, sizeof(want), "0000:99:00.0,cmd_fd=%d,%s", dp.fd, rows[i].passed);
		assert_string_equal(dp.devargs, want);
		assert_int_equal(crl_port_close(port, &err), 0);
	}
	dp.used = 0;
	dp.list[0] = '\0';
	for (unsigned i = 0; i < 3; i++) {
		eal.args.devs[1].devargs = bad[i].given;
		assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), -EINVAL);
		assert_string_equal(err.cause, bad[i].cause);
		assert_string_equal(dp.list, "");
		assert_clean();
	}
	eal.args.devs[1].devargs = "";
	cfg.size--;
	assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), -EINVAL);
	cfg.size++;
	assert_int_equal(crl_port_open(&eal, 2, &cfg, &port, &err), -EINVAL);
	assert_string_equal(err.cause, "device 2 of 2");
	assert_string_equal(dp.list, "");
}

static void
each_fails(void **state)
{
	/* What is undone after each of the calls, but the probe that failed closed its own. */
	static const char *const undone[] = {"", "", "", "stat ", NULL};
	struct crl_port *port = NULL;
	const char *after;
	unsigned n;

	for (n = 1;; n++) {
		start(state);
		cfg.nr_cpu_rxq = cfg.nr_cpu_txq = 2;
		cfg.mtu = 1500;
		cfg.promiscuous = 1;
		dp.fail_at = n;
		dp.fail_with = ENODEV;
		dp.failed_probe = KEEPS_FD;
		if (crl_port_open(&eal, 1, &cfg, &port, &err) == 0)
			break;
		assert_int_equal(err.code, n == 3 ? -ENOMEM : -ENODEV);
		assert_true(err.step[0] && err.cause[0]);
		after = strchr(dp.list, '!') + 2;
		if (n <= 4)
			assert_string_equal(after, undone[n - 1]);
		else if (n < 8)
			assert_string_equal(after, "-probe ");
		else
			assert_string_equal(after, n == 8    ? "-probe "
						   : n == 15 ? "-start-7 -probe -pool "
							     : "-probe -pool ");
		assert_clean();
		assert_null(port);
	}
	assert_int_equal(n, 16);
	assert_int_equal(crl_port_close(port, &err), 0);
	start(state);
	heap_fail_at = 1;
	assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), -ENOMEM);
	assert_string_equal(dp.list, "");
	for (unsigned with_words = 0; with_words <= 1; with_words++) {
		start(state);
		cfg.isolate = 1;
		dp.fail_at = 6;
		dp.fail_with = with_words ? ENOTSUP : EPERM;
		assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), -dp.fail_with);
		assert_ptr_equal(
			strstr(err.cause, with_words ? "it is late [" : "net_mlx5 gives no"),
			err.cause);
		assert_clean();
	}
	start(state);
	dp.fail_at = 7; /* the MTU is asked for when none is given */
	dp.fail_with = EIO;
	assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), -EIO);
	assert_string_equal(err.cause, "net_mlx5 does not say [5]");
	start(state);
	dp.fail_at = 6;
	dp.fail_with = EIO;
	assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), -EIO);
	assert_string_equal(dp.list, PROBED "info ! -probe ");
}

/* A probe that fails may have closed the descriptor, and another may have its number by now. */
static void
probe_fails(void **state)
{
	struct crl_port *port;

	for (unsigned keeps = 0; keeps <= 1; keeps++) {
		start(state);
		dp.fail_at = 4;
		dp.fail_with = ENODEV;
		dp.failed_probe = keeps ? KEEPS_FD : CLOSES_FD;
		assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), -ENODEV);
		assert_ptr_equal(
			strstr(err.cause, "net_mlx5 did not take 0000:99:00.0,cmd_fd="), err.cause);
		assert_clean();
	}
	start(state);
	dp.fail_at = 4;
	dp.fail_with = ENODEV;
	dp.failed_probe = REUSES_FD;
	assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), -ENODEV);
	assert_int_equal(close(dp.fd), 0); /* it is not ours to close, and is open */
	start(state);
	dp.no_driver = true;
	assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), -ENODEV);
	assert_string_equal(
		err.cause, "no driver made a port of 0000:99:00.0: net_mlx5 is not there");
	assert_string_equal(dp.list, "dup stat words probe -probe ");
}

/* A program that closed its standard input: descriptor 0 is one like another. */
static void
descriptor_0(void **state)
{
	struct crl_port *port;
	int in = dup(0), ret, fd;

	(void)state;
	close(0);
	ret = crl_port_open(&eal, 1, &cfg, &port, &err);
	fd = dp.fd;
	if (ret == 0)
		ret = crl_port_close(port, &err);
	dp.calls = 0;
	dp.fail_at = 2; /* to look at it */
	dp.fail_with = EIO;
	close(0);
	fd |= crl_port_open(&eal, 1, &cfg, &port, &err) != -EIO;
	fd |= fcntl(0, F_GETFD) != -1;
	dup2(in, 0);
	close(in);
	assert_int_equal(ret, 0);
	assert_int_equal(fd, 0);
	dp.fd = -1;
}

static void
closing(void **state)
{
	struct crl_queue q = {.cfg = {.index = 9}};
	struct crl_flow flow;
	struct crl_port *port;

	(void)state;
	assert_int_equal(crl_port_close(NULL, &err), 0);
	cfg.nr_cpu_rxq = 1;
	assert_int_equal(crl_port_open(&eal, 1, &cfg, &port, &err), 0);
	dp.used = 0;
	dp.list[0] = '\0';
	LIST_INSERT_HEAD(&port->flows, &flow, link);
	assert_int_equal(crl_port_close(port, &err), -EBUSY);
	assert_string_equal(err.cause, "flows of port 7 (0000:99:00.0) live");
	LIST_REMOVE(&flow, link);
	for (unsigned i = 0; i < CRL_PORT_QUEUES_MAX; i += CRL_PORT_QUEUES_MAX - 1) {
		port->queues[i].queue = &q; /* the first, and the last */
		assert_int_equal(crl_port_close(port, &err), -EBUSY);
		assert_string_equal(err.cause, "queue 9 is attached");
		port->queues[i].queue = NULL;
	}
	assert_string_equal(dp.list, "");
	for (unsigned n = 1; n <= 2; n++) {
		dp.givers = 0;
		dp.refuse_at = n;
		assert_int_equal(crl_port_close(port, &err), -EBUSY);
		assert_string_equal(err.cause, n == 1 ? "port 7 does not stop [16]"
						      : "net_mlx5 does not let go of "
							"0000:99:00.0 [16]");
		assert_ptr_equal(eal.port[1], port);
		assert_int_equal(dp.pools, 1);
	}
	assert_int_equal(crl_port_close(port, &err), 0);
}

/* ---- attach.c ---- */

static void
attached(void **state)
{
	struct crl_queue rx = {
		.ctx = &ctx, .cfg = {.flags = CRL_Q_RX, .index = 3}, .rq = {.num = 0x77}};
	struct crl_queue tx = {.ctx = &ctx, .cfg = {.flags = CRL_Q_TX, .index = 4}};
	struct crl_queue alien = {.ctx = &other_ctx, .cfg = {.index = 5}};
	static struct crl_port port = {.id = 7, .ctx = &ctx};

	(void)state;
	strcpy(other_ctx.info.bdf, "0000:01:00.0");
	assert_int_equal(crl_port_slot(&port, NULL), -1);
	assert_int_equal(crl_port_attach(&port, &tx, &err), 0);
	assert_string_equal(dp.list, "mac-of-7 mtu-of-7 ");
	assert_int_equal(tx.port, 7);
	assert_int_equal(tx.mtu, 1614);
	assert_memory_equal(tx.mac, "\x02\x03\x04\x05\x06\x07", 6);
	assert_true(tx.attached);
	dp.used = 0;
	assert_int_equal(crl_port_attach(&port, &rx, &err), 0);
	assert_string_equal(dp.list, "mac-of-7 mtu-of-7 map-7 ");
	assert_int_equal(dp.mapped_id, crl_port_ext_id(1));
	assert_int_equal(dp.mapped_rqn, 0x77);
	assert_int_equal(crl_port_slot(&port, &tx), 0);
	assert_int_equal(crl_port_slot(&port, &rx), 1);
	dp.used = 0;
	dp.list[0] = '\0';
	assert_int_equal(crl_port_attach(&port, &rx, &err), -EINVAL);
	assert_string_equal(err.cause, "queue 3 is attached");
	assert_int_equal(crl_port_attach(&port, &alien, &err), -EINVAL);
	assert_string_equal(err.cause, "queue 5 belongs to 0000:01:00.0");
	assert_int_equal(crl_port_detach(&port, &alien, &err), -EINVAL);
	assert_string_equal(err.cause, "queue 5 is not attached here");
	port.queues[1].nr_flows = 2;
	assert_int_equal(crl_port_detach(&port, &rx, &err), -EBUSY);
	assert_string_equal(err.cause, "2 flows lead to queue 3");
	port.queues[1].nr_flows = 0;
	assert_string_equal(dp.list, "");
	dp.refuse_at = 1;
	assert_int_equal(crl_port_detach(&port, &rx, &err), -EBUSY);
	assert_string_equal(err.cause, "net_mlx5 did not let go of receive queue 0x77 [16]");
	assert_true(rx.attached);
	assert_ptr_equal(port.queues[1].queue, &rx);
	assert_int_equal(crl_port_detach(&port, &rx, &err), 0);
	assert_int_equal(dp.mapped_id, crl_port_ext_id(1));
	assert_false(rx.attached);
	assert_null(port.queues[1].queue);
	dp.used = 0;
	dp.list[0] = '\0';
	assert_int_equal(crl_port_detach(&port, &tx, &err), 0);
	assert_string_equal(dp.list, "");
	assert_false(tx.attached);
}

static void
not_attached(void **state)
{
	struct crl_queue rx = {
		.ctx = &ctx, .cfg = {.flags = CRL_Q_RX, .index = 3}, .rq = {.num = 0x77}};
	static struct crl_port port = {.id = 7, .ctx = &ctx};

	for (unsigned n = 1; n <= 3; n++) {
		start(state);
		dp.fail_at = n;
		dp.fail_with = ENODEV;
		assert_int_equal(crl_port_attach(&port, &rx, &err), -ENODEV);
		assert_string_equal(
			err.cause, n == 3 ? "net_mlx5 did not map receive queue 0x77 [19]"
					  : "port 7 does not say its address and MTU [19]");
		assert_string_equal(strchr(dp.list, '!'), "! ");
		assert_false(rx.attached);
		assert_null(port.queues[0].queue);
		assert_int_equal(rx.mtu, n == 3 ? 1614 : 0);
	}
	start(state);
	for (unsigned i = 0; i < CRL_PORT_QUEUES_MAX - 1; i++)
		port.queues[i].queue = (struct crl_queue *)&port;
	assert_int_equal(crl_port_attach(&port, &rx, &err), 0); /* the last */
	assert_int_equal(crl_port_slot(&port, &rx), CRL_PORT_QUEUES_MAX - 1);
	assert_int_equal(crl_port_detach(&port, &rx, &err), 0);
	port.queues[CRL_PORT_QUEUES_MAX - 1].queue = port.queues[0].queue;
	dp.used = 0;
	dp.list[0] = '\0';
	assert_int_equal(crl_port_attach(&port, &rx, &err), -ENOSPC);
	assert_non_null(strstr(err.cause, "a port takes 1000 queues"));
	assert_int_equal(crl_port_slot(&port, &rx), -1);
	assert_string_equal(dp.list, "");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(opens, start, end),
		cmocka_unit_test_setup_teardown(large_frames, start, end),
		cmocka_unit_test_setup_teardown(devargs, start, end),
		cmocka_unit_test_setup_teardown(each_fails, start, end),
		cmocka_unit_test_setup_teardown(probe_fails, start, end),
		cmocka_unit_test_setup_teardown(descriptor_0, start, end),
		cmocka_unit_test_setup_teardown(closing, start, end),
		cmocka_unit_test_setup_teardown(attached, start, end),
		cmocka_unit_test_setup_teardown(not_attached, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
