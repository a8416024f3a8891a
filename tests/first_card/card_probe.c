/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What can be asked of a card without a cable: queues, NOPs over several laps of the rings, and
 * errors made on purpose, whose CQEs are printed whole. config/first-card.sh calls it with the PCI
 * address or RDMA name, and knows what each line should say. A line is "NAME ok|bad EVIDENCE".
 */
#include <stdio.h>
#include <string.h>

#include <carillon/carillon.h>

#include "gpu_queues/carillon_dev.h"
#include "gpu_queues/cq_poll.h"
#include "gpu_queues/sq_doorbell.h"
#include "gpu_queues/sq_reserve.h"

#define DEPTH	64u
#define LAPS	3u
#define WAIT_NS 1000000000ull

static struct crl_err err;
static struct crl_ctx *ctx;
static struct crl_region *region;
static struct crl_queue *queue;
static struct crl_queue_dev dev;
static int bad;

static void
line(const char *name, int ok, const char *evidence)
{
	printf("%s %s %s\n", name, ok ? "ok" : "bad", evidence);
	fflush(stdout);
	bad |= !ok;
}

static int
failed(const char *name, int ret)
{
	char text[512];

	if (ret < 0)
		line(name, 0, crl_err_str(&err, text, sizeof(text)));
	return ret < 0;
}

/* A new queue, its send side empty. */
static int
queue_up(const char *name)
{
	struct crl_queue_cfg cfg = {.size = sizeof(cfg), .flags = CRL_Q_TX, .tx_depth = DEPTH};

	cfg.tx_region = region;
	return failed(name, crl_queue_create(ctx, &cfg, &queue, &err)) ||
	       failed(name, crl_queue_export(queue, &dev, &err));
}

/* The CQE that is at places after the next one, within the bound. */
static const uint8_t *
wait_cqe(unsigned at)
{
	uint64_t end = crl_now_ns() + WAIT_NS;
	uint32_t tail;

	do {
		if (crl_cq_peek(&dev.sq.cq, dev.sq.cq.ci + at, &tail)) {
			crl_order_cqe_before_payload();
			return (const uint8_t *)crl_cq_entry(&dev.sq.cq, dev.sq.cq.ci + at);
		}
	} while (crl_now_ns() < end);
	return NULL;
}

static void
post_nop(uint64_t cookie)
{
	uint64_t pi;

	if (crl_sq_reserve(&dev.sq, 1, &pi) == CRL_OK)
		crl_sq_put_nop(&dev.sq, pi, 1, true, cookie);
	crl_sq_ring(&dev.sq);
}

/* NOPs one by one; each must come back with its own cookie. Returns how many did. */
static unsigned
nops(unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		uint64_t cookie = 0;

		post_nop(i + 1);
		if (wait_cqe(0) == NULL ||
			crl_sq_poll(&dev.sq, &dev.error[CRL_QERROR_SQ], 1) != CRL_OK ||
			crl_sq_take(&dev.sq, &cookie) != CRL_OK || cookie != i + 1)
			return i;
		crl_cq_giveback(&dev.sq.cq);
	}
	return n;
}

static void
hex(char *out, const uint8_t *b, unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		out += sprintf(out, "%02x", b[i]);
}

/* The error CQE against what tests/corpus has seen cards write. */
static void
judge(const char *name, const uint8_t *e, unsigned index, uint8_t syndrome, uint8_t vendor,
	uint8_t hw)
{
	uint8_t x = (uint8_t)(0xff ^ index);
	char text[256], key[64], bytes[160];

	if (e == NULL) {
		line(name, 0, "no CQE within a second");
		return;
	}
	for (unsigned i = 0; i < CRL_CQE_BYTES; i++)
		x ^= i == 62 ? 0 : e[i];
	hex(bytes, e, 0, CRL_CQE_BYTES);
	snprintf(text, sizeof(text), "syndrome %02x vendor %02x hardware %02x, CQE %s", e[55],
		e[54], e[52], bytes);
	line(name, e[55] == syndrome && e[54] == vendor && e[52] == hw, text);
	snprintf(key, sizeof(key), "%s-signature", name);
	snprintf(text, sizeof(text), "byte 0x3e is %02x, by the formula %02x; last byte %02x",
		e[62], x, e[63]);
	line(key, e[62] == x && (e[63] & 0xfe) == 0xd2, text);
}

/* A send that fails, and one behind it that is flushed. */
static void
provoke(const char *name, uint32_t key, uint64_t addr, uint8_t vendor, uint8_t hw)
{
	struct crl_piece wrong = {NULL, addr, 100, key};
	uint64_t pi;

	if (queue_up(name))
		return;
	if (crl_sq_reserve(&dev.sq, 2, &pi) == CRL_OK) {
		crl_sq_put_send(&dev.sq, pi, &wrong, 1, 0, true, 1);
		crl_sq_put_nop(&dev.sq, pi + 1, 1, true, 2);
	}
	crl_sq_ring(&dev.sq);
	judge(name, wait_cqe(0), 0, CRL_SYND_LOCAL_PROT, vendor, hw);
	if (strcmp(name, "key") == 0) {
		const uint8_t *e = wait_cqe(1);
		char text[64] = "no CQE within a second";

		if (e != NULL)
			snprintf(text, sizeof(text), "syndrome %02x vendor %02x", e[55], e[54]);
		line("flush", e != NULL && e[55] == CRL_SYND_WR_FLUSH && e[54] == 0xf9, text);
	}
	(void)failed(name, crl_queue_destroy(queue, &err));
}

static void
normal(void)
{
	char text[160];
	unsigned n;

	if (queue_up("queue"))
		return;
	snprintf(text, sizeof(text), "SQ 0x%x on its own CQ, rings in host memory",
		crl_queue_sqn(queue));
	line("queue", 1, text);
	n = nops(1);
	line("nop", n == 1, n == 1 ? "doorbell, WQE fetch, CQE" : "no right CQE within a second");
	n = nops(LAPS * DEPTH);
	snprintf(text, sizeof(text), "%u of %u NOPs came back in order", n, LAPS * DEPTH);
	line("laps", n == LAPS * DEPTH, text);
	line("quiet", !crl_cq_peek(&dev.sq.cq, dev.sq.cq.ci, &n),
		"the next CQE is not written yet");
	(void)failed("queue", crl_queue_destroy(queue, &err));
}

int
main(int argc, char **argv)
{
	struct crl_region_cfg rc = {.size = sizeof(rc), .flags = CRL_REGION_ALLOC, .bytes = 65536};
	struct crl_cfg cfg = {.size = sizeof(cfg), .device = argc > 1 ? argv[1] : NULL};
	uint32_t lkey;
	uint64_t iova;

	if (failed("open", crl_open(&cfg, &ctx, &err)))
		return 1;
	line("open", 1, "crl_open: well");
	if (failed("region", crl_region_reg(ctx, &rc, &region, &err)))
		return 1;
	normal();
	if (queue_up("again"))
		return 1;
	lkey = dev.txbuf.lkey;
	iova = dev.txbuf.iova;
	(void)failed("again", crl_queue_destroy(queue, &err));
	provoke("key", lkey + 0x100, iova, 0x52, 0x92);
	provoke("bounds", lkey, iova + 65536 - 10, 0x53, 0x9d);
	if (!queue_up("again")) {
		line("again", nops(1) == 1, "a queue made after the errors sends");
		(void)failed("again", crl_queue_destroy(queue, &err));
	}
	(void)failed("region", crl_region_dereg(region, &err));
	(void)failed("close", crl_close(ctx, &err));
	return bad;
}
