// SPDX-License-Identifier: BSD-3-Clause
/*
 * A service that embeds Carillon without DPDK, of installed headers and `pkg-config carillon`
 * alone: it registers memory of its own, makes queues, leads frames to them by a rule of libmlx5's,
 * sends numbered blocks from that memory, takes them on the next queue, and meets an error and what
 * is refused. tests/install/prefix.sh builds it against the prefix and runs it under softcx. Exit
 * status 1 with a line: something is not as carillon.h says. Every wait is bounded.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <infiniband/mlx5dv.h>

#include "carillon/carillon.h"
#include "gpu_queues/carillon_dev.h"

#define QUEUES	    4u
#define BLOCK_BYTES 1024u
#define BLOCKS	    64u	 /* of a queue, under way at most */
#define TOTAL	    500u /* that each queue sends */
#define WAIT_NS	    10000000000u
#define DMAC_OFF    8u /* of the destination address in the parameters of a match */

static uint8_t *memory;
static struct crl_ctx *ctx;
static struct crl_region *region;
static struct crl_queue *queue[QUEUES];
static struct crl_queue_dev dev[QUEUES]; /* what the data path runs on */

/* PRM, "CREATE_TIR": a direct TIR of one RQ; "ALLOC_TRANSPORT_DOMAIN", which it needs. */
static struct mlx5dv_devx_obj *domain, *tir[QUEUES];
static struct mlx5dv_flow_matcher *matcher;
static struct ibv_flow *flow[QUEUES];

static void
must(bool ok, const char *what, const struct crl_err *err)
{
	char line[512] = "";

	if (ok)
		return;
	if (err != NULL)
		crl_err_str(err, line, sizeof(line));
	fprintf(stderr, "embed: %s: %s\n", what, err != NULL ? line : strerror(errno));
	exit(1);
}

static void
put32(uint8_t *p, uint32_t v)
{
	v = htonl(v);
	memcpy(p, &v, sizeof(v));
}

static struct mlx5dv_devx_obj *
command(uint32_t opcode, const uint8_t *context, size_t bytes, uint32_t *number)
{
	uint8_t in[32 + 240] = {0}, out[16] = {0};
	struct mlx5dv_devx_obj *obj;

	put32(in, opcode << 16);
	if (bytes != 0)
		memcpy(in + 32, context, bytes);
	obj = mlx5dv_devx_obj_create(
		crl_ibv_context(ctx), in, bytes != 0 ? 32 + bytes : 16, out, sizeof(out));
	must(obj != NULL, "a DevX object", NULL);
	memcpy(number, out + 8, sizeof(*number));
	*number = ntohl(*number) & 0xffffff;
	return obj;
}

/* Frames to 02:00:00:00:00:(i + 1) are queue i's. */
static void
steer(void)
{
	struct {
		size_t bytes;
		uint8_t match[64];
	} mask = {.bytes = 64}, value = {.bytes = 64};
	struct mlx5dv_flow_matcher_attr attr = {.type = IBV_FLOW_ATTR_NORMAL,
		.match_criteria_enable = 1, /* outer headers */
		.match_mask = (struct mlx5dv_flow_match_parameters *)(void *)&mask};
	uint8_t context[240] = {0};
	uint32_t td, number;

	domain = command(0x816, NULL, 0, &td);
	put32(mask.match + DMAC_OFF, 0xffffffff);
	put32(mask.match + DMAC_OFF + 4, 0xffff0000);
	matcher = mlx5dv_create_flow_matcher(crl_ibv_context(ctx), &attr);
	must(matcher != NULL, "a matcher", NULL);
	for (uint32_t i = 0; i < QUEUES; i++) {
		struct mlx5dv_flow_action_attr to = {.type = MLX5DV_FLOW_ACTION_DEST_DEVX};

		put32(context + 0x1c, crl_queue_rqn(queue[i]));
		put32(context + 0x24, td);
		to.obj = tir[i] = command(0x900, context, sizeof(context), &number);
		put32(value.match + DMAC_OFF, 0x02000000);
		put32(value.match + DMAC_OFF + 4, (i + 1) << 16);
		flow[i] = mlx5dv_create_flow(
			matcher, (struct mlx5dv_flow_match_parameters *)(void *)&value, 1, &to);
		must(flow[i] != NULL, "a rule", NULL);
	}
}

static void
open_all(void)
{
	struct crl_cfg cfg = {.size = sizeof(cfg)};
	struct crl_region_cfg mine = {.size = sizeof(mine), .bytes = QUEUES * BLOCKS * BLOCK_BYTES};
	struct crl_err err = {0};
	struct crl_pkt none[1];
	uint32_t n;

	memory = mmap(NULL, mine.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(memory != MAP_FAILED, "memory", NULL);
	mine.addr = memory;
	must(crl_open(&cfg, &ctx, &err) == 0, "open", &err);
	must(crl_region_reg(ctx, &mine, &region, &err) == 0, "register", &err);
	for (uint32_t i = 0; i < QUEUES; i++) {
		struct crl_queue_cfg q = {.size = sizeof(q),
			.flags = CRL_Q_TX | CRL_Q_RX,
			.index = i,
			.tx_region = region};

		must(crl_queue_create(ctx, &q, &queue[i], &err) == 0, "create", &err);
		must(crl_queue_export(queue[i], &dev[i], &err) == 0, "export", &err);
		must(crl_dev_check(&dev[i]) == CRL_OK, "one version", NULL);
		/* From the first call on the NIC has the queue's buffers. */
		must(crl_rx_poll(&dev[i], none, 1, 0, &n) == CRL_AGAIN, "first poll", NULL);
	}
	steer();
}

/* Block seq of queue i to the next queue; its memory is the NIC's until its cookie comes back. */
static bool
send_block(uint32_t i, uint64_t seq)
{
	uint8_t *block = memory + (i * BLOCKS + seq % BLOCKS) * BLOCK_BYTES;
	const uint8_t head[14] = {2, 0, 0, 0, 0, (uint8_t)((i + 1) % QUEUES + 1), 2, 0, 0, 0, 0,
		(uint8_t)(i + 1), 0x88, 0xb5};
	enum crl_st st;
	uint64_t pi;

	st = crl_tx_reserve(&dev[i], 1, 0, &pi);
	if (st == CRL_AGAIN)
		return false;
	must(st == CRL_OK, "room for a frame", NULL);
	memset(block, (int)(seq & 0xff), BLOCK_BYTES);
	memcpy(block, head, sizeof(head));
	memcpy(block + 16, &seq, sizeof(seq));
	crl_tx_frame(&dev[i], pi, crl_region_iova(region) + (uint64_t)(block - memory), BLOCK_BYTES,
		seq, 0);
	crl_tx_ring(&dev[i], pi + 1);
	return true;
}

/* The frames that came, in order and whole. Returns how many. */
static uint32_t
receive_blocks(uint32_t i, uint64_t expect)
{
	struct crl_pkt pkt[32];
	uint64_t seq;
	uint32_t n;

	must(crl_rx_poll(&dev[i], pkt, 32, 0, &n) != CRL_FAILED, "receive", NULL);
	for (uint32_t k = 0; k < n; k++) {
		memcpy(&seq, pkt[k].data + 16, sizeof(seq));
		must(pkt[k].len == BLOCK_BYTES && seq == expect + k &&
				pkt[k].data[BLOCK_BYTES - 1] == (seq & 0xff),
			"a block came out of order or torn", NULL);
		crl_rx_release(&dev[i], &pkt[k]);
	}
	return n;
}

static void
transfer(void)
{
	uint64_t sent[QUEUES] = {0}, back[QUEUES] = {0}, got[QUEUES] = {0};
	uint64_t end = crl_now_ns() + WAIT_NS, all = 0;
	struct crl_wc wc[32];
	uint32_t n;

	while (all < (uint64_t)QUEUES * TOTAL) {
		must(crl_now_ns() < end, "blocks are missing", NULL);
		all = 0;
		for (uint32_t i = 0; i < QUEUES; i++) {
			/* Neither memory nor the other's ring may be overrun. */
			if (sent[i] < TOTAL && sent[i] - back[i] < BLOCKS &&
				sent[i] - got[(i + 1) % QUEUES] < BLOCKS)
				sent[i] += send_block(i, sent[i]);
			must(crl_tx_done(&dev[i], wc, 32, &n) != CRL_FAILED, "send", NULL);
			for (uint32_t k = 0; k < n; k++)
				must(wc[k].status == CRL_OK && wc[k].cookie == back[i]++,
					"a cookie", NULL);
			got[i] += receive_blocks(i, got[i]);
			all += got[i];
		}
	}
	for (uint32_t i = 0; i < QUEUES; i++)
		while (back[i] < sent[i]) {
			must(crl_now_ns() < end, "cookies are missing", NULL);
			crl_tx_done(&dev[i], wc, 32, &n);
			back[i] += n;
		}
}

/* A frame that lies nowhere: its cookie comes back, and the words come as an event. */
static void
failure(void)
{
	uint64_t end = crl_now_ns() + WAIT_NS, pi;
	struct crl_event event[8];
	enum crl_st st = CRL_AGAIN;
	struct crl_wc wc;
	uint32_t n = 0;
	int nr;

	must(crl_tx_reserve(&dev[0], 1, 0, &pi) == CRL_OK, "room for a bad frame", NULL);
	crl_tx_frame(&dev[0], pi, 0xdead0000, 64, 77, 0);
	crl_tx_ring(&dev[0], pi + 1);
	while (st == CRL_AGAIN && crl_now_ns() < end)
		st = crl_tx_done(&dev[0], &wc, 1, &n);
	must(st == CRL_FAILED && n == 1 && wc.cookie == 77 && wc.status == CRL_FAILED,
		"the failure of a bad frame", NULL);
	nr = crl_event_next(ctx, event, 8);
	must(nr > 0 && event[0].type == CRL_EVENT_QUEUE_ERROR && event[0].queue == queue[0] &&
			strstr(event[0].err.cause, "stopped at WQE") != NULL,
		"the event of a bad frame", nr > 0 ? &event[0].err : NULL);
	must(crl_tx_reserve(&dev[0], 1, 0, &pi) == CRL_FAILED, "a failed queue takes more", NULL);
}

/* What must not be done is refused, and can be done when its time has come. */
static void
close_all(void)
{
	struct crl_queue_dev again;
	struct crl_err err = {0};

	must(crl_close(ctx, &err) == -EBUSY, "a context with queues closes", NULL);
	must(crl_region_dereg(region, &err) == -EBUSY, "a region in use goes", NULL);
	must(crl_queue_export(queue[1], &again, &err) == -EBUSY,
		"a queue that was used is handed out as a fresh one", NULL);
	must(crl_queue_destroy(queue[1], &err) == -EBUSY, "a queue goes that a TIR names", NULL);
	for (uint32_t i = 0; i < QUEUES; i++) {
		must(ibv_destroy_flow(flow[i]) == 0, "take a rule back", NULL);
		must(mlx5dv_devx_obj_destroy(tir[i]) == 0, "take a TIR back", NULL);
		must(crl_queue_destroy(queue[i], &err) == 0, "destroy", &err);
	}
	must(mlx5dv_destroy_flow_matcher(matcher) == 0, "take the matcher back", NULL);
	must(mlx5dv_devx_obj_destroy(domain) == 0, "take the domain back", NULL);
	must(crl_region_dereg(region, &err) == 0, "deregister", &err);
	must(crl_close(ctx, &err) == 0, "close", &err);
	munmap(memory, QUEUES * BLOCKS * BLOCK_BYTES);
}

int
main(void)
{
	open_all();
	transfer();
	failure();
	close_all();
	printf("embed: %u blocks over %u queues, each in order and whole\n", QUEUES * TOTAL,
		QUEUES);
	return 0;
}
