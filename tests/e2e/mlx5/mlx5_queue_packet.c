/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One packet round by host code: our send queue, the loopback wire, a rule, our receive queue; RSS
 * over four queues; a bad key, whose error comes back as an event in words. Argument list: EAL's.
 */
#include <errno.h>
#include <unistd.h>

#include <rte_launch.h>
#include <rte_lcore.h>

#include "net.h"

#define NR_QUEUES 4u
#define NR_FLOWS  128u

static struct crl_err err;
static struct test_queue queues[NR_QUEUES];

static struct crl_flow *
flow_to(struct crl_port *port, uint32_t fields, uint16_t dst_port, unsigned nr)
{
	struct crl_match m = {.size = sizeof(m), .fields = fields, .dst_port = dst_port};
	struct crl_queue *to[NR_QUEUES];
	struct crl_flow *flow;

	for (unsigned i = 0; i < nr; i++)
		to[i] = queues[i].q;
	must(crl_flow_add(port, &m, to, nr, &flow, &err), &err, "add a flow");
	return flow;
}

static void
test_round(struct crl_port *port)
{
	struct test_queue *t = &queues[0];
	struct crl_flow *flow =
		flow_to(port, CRL_MATCH_IPV4 | CRL_MATCH_UDP | CRL_MATCH_DST_PORT, 4000, 1);
	uint8_t frame[2048];
	uint64_t cookie = 0;
	uint32_t len = 0;

	for (unsigned i = 0; i < 600; i++) { /* more than a lap of both rings */
		uint8_t *f = t->dev.txbuf.addr;

		frame_udp(f, t->dev.mac, 4000, (uint16_t)i);
		send_at(t, 0, t->dev.txbuf.lkey);
		if (!sent(t, &cookie) || received(t, 1, WAIT_NS, frame, &len) != 0) {
			CHECK(false, "round %u: lost", i);
			break;
		}
		if (cookie != 0x1000 || len != FRAME_LEN || memcmp(frame, f, len) != 0)
			CHECK(false, "round %u: cookie 0x%lx, %u bytes", i, (unsigned long)cookie,
				len);
	}
	CHECK(len == FRAME_LEN, "no packet came");
	must(crl_flow_del(flow, &err), &err, "delete the flow");
	send_at(t, 0, t->dev.txbuf.lkey);
	CHECK(sent(t, &cookie), "send without a rule did not complete");
	CHECK(received(queues, NR_QUEUES, NOT_NS, frame, &len) < 0, "a packet came without a rule");
}

static void
test_rss(struct crl_port *port)
{
	struct crl_flow *flow = flow_to(port, CRL_MATCH_IPV4 | CRL_MATCH_UDP, 0, NR_QUEUES);
	unsigned got[NR_QUEUES] = {0}, total = 0;
	uint8_t frame[2048];
	uint64_t cookie;
	uint32_t len;

	for (unsigned i = 0; i < NR_FLOWS; i++) {
		int first = -1;

		for (int again = 0; again < 2; again++) { /* a flow stays on its queue */
			int q;

			frame_udp(queues[0].dev.txbuf.addr, queues[0].dev.mac, 4000, (uint16_t)i);
			send_at(&queues[0], 0, queues[0].dev.txbuf.lkey);
			if (!sent(&queues[0], &cookie))
				break;
			q = received(queues, NR_QUEUES, WAIT_NS, frame, &len);
			if (q < 0)
				break;
			CHECK(again == 0 || q == first, "flow %u moved from queue %d to %d", i,
				first, q);
			first = q;
			got[q]++;
			total++;
		}
	}
	CHECK(total == 2 * NR_FLOWS, "%u of %u packets came", total, 2 * NR_FLOWS);
	for (unsigned i = 0; i < NR_QUEUES; i++)
		CHECK(got[i] >= NR_FLOWS / 8, "queue %u got %u of %u", i, got[i], total);
	printf("RSS: %u %u %u %u\n", got[0], got[1], got[2], got[3]);
	must(crl_flow_del(flow, &err), &err, "delete the RSS flow");
}

static struct {
	struct crl_event event;
	uint32_t nr; /* QUEUE_ERROR events */
} seen;

static void
on_event(void *arg, struct crl_ctx *ctx, const struct crl_event *ev)
{
	(void)arg;
	(void)ctx;
	if (ev->type != CRL_EVENT_QUEUE_ERROR)
		return;
	seen.event = *ev;
	crl_st32(&seen.nr, seen.nr + 1);
}

/* A frame with a key that is nobody's: the queue stops, and the control lcore hears why, once. */
static void
test_bad_key(struct crl_ctx *ctx)
{
	struct crl_lcore control = {
		.size = sizeof(control), .ctxs = &ctx, .nr_ctxs = 1, .event = on_event};
	unsigned lcore = rte_get_next_lcore(-1, 1, 0);
	struct test_queue *t = &queues[3];
	uint64_t cookie, end;
	char line[512];

	CHECK(rte_eal_remote_launch(crl_lcore_run, &control, lcore) == 0, "no control lcore");
	send_at(t, 0, 0xdeadbe00);
	CHECK(!sent(t, &cookie), "a frame with a bad key was sent");
	for (end = crl_now_ns() + WAIT_NS; crl_ld32(&seen.nr) == 0 && crl_now_ns() < end;)
		usleep(1000);
	usleep(20000); /* some more looks: it must not come twice */
	crl_st32(&control.stop, 1);
	CHECK(rte_eal_wait_lcore(lcore) == 0, "the control lcore failed");
	CHECK(control.nr_loops > 1 && control.nr_events >= 1, "%lu loops, %lu events",
		(unsigned long)control.nr_loops, (unsigned long)control.nr_events);
	CHECK(seen.nr == 1 && seen.event.queue == t->q, "%u events", seen.nr);
	printf("%s\n", crl_err_str(&seen.event.err, line, sizeof(line)));
	CHECK(seen.event.err.syndrome == CRL_SYND_LOCAL_PROT, "syndrome 0x%02x",
		seen.event.err.syndrome);
	CHECK(seen.event.err.queue == crl_queue_sqn(t->q), "queue 0x%x", seen.event.err.queue);
	CHECK(seen.event.err.wqe_bytes[3] == CRL_OPCODE_SEND, "no WQE bytes");
}

/*
 * An engine that gives receive slots back but not CQEs: the NIC finds no room for a CQE, and says
 * so by an event of the CQ.
 */
static void
test_cq_overrun(struct crl_ctx *ctx, struct crl_port *port)
{
	struct test_queue *t =
		&queues[0]; /* rules lead to the first; its CQ is as deep as its RQ */
	struct crl_flow *flow = flow_to(port, CRL_MATCH_IPV4 | CRL_MATCH_UDP, 0, 1);
	struct crl_rq *rq = &t->dev.rq;
	struct crl_event ev = {.type = CRL_EVENT_LOST};
	uint64_t cookie, end;
	char line[512];

	for (unsigned i = 0; i < 2u << rq->log_depth && ev.type != CRL_EVENT_CQ_ERROR; i++) {
		struct crl_pkt pkt;
		uint32_t n;

		send_at(t, 0, t->dev.txbuf.lkey);
		if (!sent(t, &cookie))
			break;
		crl_cq_giveback(&t->dev.sq.cq);
		if (crl_rq_poll(rq, &t->dev.error[CRL_QERROR_RQ], &pkt, 1, &n) == CRL_OK)
			crl_rq_release(rq, pkt.index);
		crl_rq_collect(rq);
		crl_st_be32(&rq->dbrec[CRL_DBREC_RCV_WORD], crl_index16(rq->pi));
		crl_event_next(ctx, &ev, 1);
	}
	for (end = crl_now_ns() + WAIT_NS; ev.type != CRL_EVENT_CQ_ERROR && crl_now_ns() < end;)
		crl_event_next(ctx, &ev, 1);
	CHECK(ev.type == CRL_EVENT_CQ_ERROR && ev.queue == t->q, "no event (type %d)",
		(int)ev.type);
	printf("%s\n", crl_err_str(&ev.err, line, sizeof(line)));
	CHECK(strstr(line, "receive CQ of queue 0") != NULL, "the event names another CQ");
	must(crl_flow_del(flow, &err), &err, "delete the flow");
}

int
main(int argc, char **argv)
{
	struct crl_port_cfg cfg = {.size = sizeof(cfg), .isolate = 1};
	struct crl_region_cfg rc = {.size = sizeof(rc), .flags = CRL_REGION_ALLOC, .bytes = 65536};
	struct crl_region *tx;
	struct crl_port *port;
	struct crl_eal *eal;
	struct crl_ctx *ctx;

	setvbuf(stdout, NULL, _IOLBF, 0);
	must(crl_eal_init(argc, argv, &eal, &err), &err, "start EAL");
	ctx = crl_eal_ctx(eal, 0);
	must(crl_port_open(eal, 0, &cfg, &port, &err), &err, "open the port");
	must(crl_region_reg(ctx, &rc, &tx, &err), &err, "register frames");
	for (unsigned i = 0; i < NR_QUEUES; i++)
		queue_up(ctx, port, i, tx, &queues[i]);
	test_round(port);
	test_rss(port);
	test_bad_key(ctx);
	test_cq_overrun(ctx, port);
	for (unsigned i = 0; i < NR_QUEUES; i++)
		queue_down(port, &queues[i]);
	must(crl_region_dereg(tx, &err), &err, "deregister frames");
	must(crl_port_close(port, &err), &err, "close the port");
	must(crl_eal_cleanup(eal, &err), &err, "clean EAL up");
	return check_done("mlx5_queue_packet");
}
