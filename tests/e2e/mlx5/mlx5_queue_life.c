/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Queues without DPDK: every depth, every refusal in words, parents that wait for their children,
 * and 200 rounds of create and destroy after which nothing has grown. Runs under softcx run.
 */
#include <dirent.h>
#include <errno.h>

#include "check.h"

static struct crl_err err;

static unsigned
count_dir(const char *path)
{
	DIR *d = opendir(path);
	unsigned n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

/* Bytes of address space: a leaked ring or page shows here. */
static unsigned long
vm_pages(void)
{
	unsigned long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");

	if (f != NULL) {
		if (fscanf(f, "%lu", &pages) != 1)
			pages = 0;
		fclose(f);
	}
	return pages;
}

static struct crl_queue_cfg
queue_cfg(uint32_t index)
{
	return (struct crl_queue_cfg){
		.size = sizeof(struct crl_queue_cfg),
		.flags = CRL_Q_TX | CRL_Q_RX,
		.index = index,
		.tx_depth = 64,
		.rx_depth = 64,
	};
}

static void
test_life(struct crl_ctx *ctx)
{
	unsigned fds = 0;
	unsigned long pages = 0;

	for (int i = 0; i < 200; i++) {
		struct crl_queue_cfg cfg = queue_cfg(0);
		struct crl_queue *q;
		char step[64];

		snprintf(step, sizeof(step), "create, round %d", i);
		must(crl_queue_create(ctx, &cfg, &q, &err), &err, step);
		must(crl_queue_destroy(q, &err), &err, "destroy");
		if (i == 9) {
			fds = count_dir("/proc/self/fd");
			pages = vm_pages();
		}
	}
	CHECK(count_dir("/proc/self/fd") == fds, "file descriptors grew to %u from %u",
		count_dir("/proc/self/fd"), fds);
	CHECK(vm_pages() <= pages + 64, "address space grew to %lu pages from %lu", vm_pages(),
		pages);
}

static void
test_depths(struct crl_ctx *ctx)
{
	for (uint32_t depth = 1; depth <= CRL_DEPTH_MAX; depth *= 2) {
		struct crl_queue_cfg cfg = queue_cfg(0);
		struct crl_queue_dev dev;
		struct crl_queue *q;
		int ret;

		cfg.tx_depth = cfg.rx_depth = depth;
		cfg.rx_buf_bytes = 128;
		ret = crl_queue_create(ctx, &cfg, &q, &err);
		CHECK(ret == 0, "depth %u: %s", depth, err.cause);
		if (ret != 0)
			continue;
		must(crl_queue_export(q, &dev, &err), &err, "export");
		CHECK(dev.abi == CRL_DEV_ABI && dev.flags == (CRL_Q_TX | CRL_Q_RX), "stamp");
		CHECK(1u << dev.sq.log_depth == depth && 1u << dev.rq.log_depth == depth,
			"depth %u exported as %u and %u", depth, 1u << dev.sq.log_depth,
			1u << dev.rq.log_depth);
		CHECK(1u << dev.sq.cq.log_depth >= depth, "CQ shallower than SQ");
		for (uint32_t i = 0; i < depth; i++)
			if (crl_cqe_is_sw_owned(dev.sq.cq.cqe[i].op_own, i, dev.sq.cq.log_depth))
				CHECK(false, "CQE %u valid at start", i);
		CHECK((uintptr_t)dev.sq.dbrec / 64 != (uintptr_t)dev.sq.cq.dbrec / 64 &&
				(uintptr_t)dev.rq.dbrec / 64 != (uintptr_t)dev.sq.dbrec / 64,
			"records share a line");
		CHECK(crl_from_be64(dev.rq.wqe[depth - 1].addr) ==
				dev.rq.buf_iova + (uint64_t)(depth - 1) * 128,
			"last slot names another buffer");
		must(crl_queue_destroy(q, &err), &err, "destroy");
	}
}

static void
refuse(struct crl_ctx *ctx, const struct crl_queue_cfg *cfg, int code, const char *words)
{
	struct crl_queue *q = (struct crl_queue *)1;

	refused(crl_queue_create(ctx, cfg, &q, &err), &err, code, words);
	CHECK(q == (struct crl_queue *)1, "out-parameter of a failed call was touched");
}

static void
test_refusals(struct crl_ctx *ctx)
{
	struct crl_queue_cfg good = queue_cfg(0), cfg;
	struct crl_queue *q;

#define REFUSE(change, code, words)                                                                \
	do {                                                                                       \
		cfg = good;                                                                        \
		change;                                                                            \
		refuse(ctx, &cfg, code, words);                                                    \
	} while (0)
	REFUSE(cfg.size = 8, -EINVAL, "8 bytes");
	REFUSE(cfg.flags = 0, -EINVAL, "flags");
	REFUSE(cfg.flags = 64, -EINVAL, "flags");
	REFUSE(cfg.tx_depth = 1000, -EINVAL, "512 and 1024");
	REFUSE(cfg.rx_depth = 3, -EINVAL, "2 and 4");
	REFUSE(cfg.rx_depth = 65536, -EINVAL, "above 32768");
	REFUSE(cfg.rx_buf_bytes = 100, -EINVAL, "100");
	REFUSE(cfg.rx_headroom = 2112, -EINVAL, "headroom");
	REFUSE(cfg.signal_every = 17, -EINVAL, "signal_every 17 is above 16");
	REFUSE(cfg.cq_flags = 8, -EINVAL, "cq_flags");
	REFUSE(cfg.flags = CRL_Q_RX; cfg.cq_flags = CRL_CQ_COLLAPSED, -EINVAL, "no send side");
	REFUSE(cfg.uar = (enum crl_uar)9, -EINVAL, "uar 9");
#undef REFUSE
	must(crl_queue_create(ctx, &good, &q, &err), &err, "create");
	refuse(ctx, &good, -EINVAL, "queue 0 lives already");
	refused(crl_close(ctx, &err), &err, -EBUSY, "queue 0 lives");
	crl_queue_ctl(q)->owned = 1; /* as crl_engine_start() leaves it */
	refused(crl_queue_destroy(q, &err), &err, -EBUSY, "an engine runs queue 0");
	crl_queue_ctl(q)->owned = 0;
	must(crl_queue_destroy(q, &err), &err, "destroy");
}

static void
test_regions(struct crl_ctx *ctx)
{
	struct crl_region_cfg cfg = {.size = sizeof(cfg), .flags = CRL_REGION_ALLOC, .bytes = 5000};
	struct crl_queue_cfg qc = queue_cfg(3);
	struct crl_region *r;
	struct crl_queue *q;

	must(crl_region_reg(ctx, &cfg, &r, &err), &err, "region");
	CHECK(crl_region_bytes(r) >= 5000 && crl_region_lkey(r) != 0, "region of %zu bytes",
		crl_region_bytes(r));
	memset(crl_region_addr(r), 0x5a, crl_region_bytes(r));
	refused(crl_close(ctx, &err), &err, -EBUSY, "region");
	qc.tx_region = r;
	must(crl_queue_create(ctx, &qc, &q, &err), &err, "create");
	refused(crl_region_dereg(r, &err), &err, -EBUSY, "queue 3 uses it");
	must(crl_queue_destroy(q, &err), &err, "destroy");
	must(crl_region_dereg(r, &err), &err, "dereg");
	cfg.bytes = 0;
	refused(crl_region_reg(ctx, &cfg, &r, &err), &err, -EINVAL, "0 bytes");
	cfg.flags = 0;
	cfg.bytes = 4096;
	refused(crl_region_reg(ctx, &cfg, &r, &err), &err, -EINVAL, "no region");
}

static void
test_facts(struct crl_ctx *ctx)
{
	struct crl_path path = {.size = sizeof(path)};
	struct crl_info info = {.size = sizeof(info)};
	struct crl_queue_cfg cfg = queue_cfg(7);
	struct crl_event ev;
	struct crl_queue *q;
	uint64_t missed = 1;

	must(crl_info(ctx, &info), &err, "info");
	printf("%s at %s, firmware %s, node %d, ts %u/%u, inline %u, events %u %s\n", info.name,
		info.bdf, info.fw_ver, info.numa_node, info.sq_ts_format, info.rq_ts_format,
		info.inline_mode, info.events, info.events_why);
	must(crl_queue_create(ctx, &cfg, &q, &err), &err, "create");
	must(crl_path(q, &path), &err, "path");
	printf("%s\n", path.text);
	CHECK(path.uar != CRL_UAR_ANY && path.rings == CRL_PLACE_HOST, "path is vague");
	CHECK(crl_event_next(ctx, &ev, 1) == 0, "an event of a fresh context");
	if (info.own_counter) {
		must(crl_missed(ctx, &missed, &err), &err, "missed");
		CHECK(missed == 0, "%lu packets missed at start", (unsigned long)missed);
	}
	must(crl_queue_destroy(q, &err), &err, "destroy");
}

static void
test_open(void)
{
	struct crl_cfg cfg = {.size = sizeof(cfg), .device = "mlx5_99"};
	struct crl_ctx *ctx = NULL;

	refused(crl_open(&cfg, &ctx, &err), &err, -ENODEV,
		"no RDMA device mlx5_99; there is mlx5_0");
	cfg.device = "ff:1f.7";
	refused(crl_open(&cfg, &ctx, &err), &err, -ENODEV, "ff:1f.7");
	cfg.size = 1;
	refused(crl_open(&cfg, &ctx, &err), &err, -EINVAL, "1 bytes");
	CHECK(ctx == NULL, "a failed open made a context");
}

int
main(void)
{
	struct crl_cfg cfg = {.size = sizeof(cfg), .device = "mlx5_0"};
	struct crl_ctx *ctx;

	setvbuf(stdout, NULL, _IOLBF, 0);
	must(crl_open(&cfg, &ctx, &err), &err, "open");
	test_facts(ctx);
	test_regions(ctx);
	test_refusals(ctx);
	test_depths(ctx);
	test_life(ctx);
	must(crl_close(ctx, &err), &err, "close");
	test_open();
	return check_done("mlx5_queue_life");
}
