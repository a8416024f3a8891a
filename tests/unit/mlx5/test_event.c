/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * event.c against a kernel of this file's own, to which the linker sends its calls: what is
 * subscribed to, what each event becomes, what is nobody's, and that no call stays for ever.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/mlx5/internal.h"

#define MAX 16

static struct crl_ctx ctx;
static struct crl_queue q[2];
static struct crl_shared shared[2];
static struct crl_err err;
static struct mlx5dv_devx_event_channel channel;

/* What the kernel has, and what it was asked. */
static struct {
	struct {
		int code; /* 0: an event, else an errno; -1: no byte at all, -2: the cookie alone */
		uint64_t cookie;
		uint8_t type;
	} dev[MAX];
	struct {
		int code;
		enum ibv_event_type type;
	} async[MAX];
	unsigned nr_dev, at_dev, nr_async, at_async, acked, endless;
	struct {
		const void *obj;
		uint16_t types[4], bytes;
		uint64_t cookie;
	} sub[MAX];
	unsigned nr_sub, refuse_at;
	int refuse;
} k;

int __wrap_mlx5dv_devx_subscribe_devx_event(struct mlx5dv_devx_event_channel *c,
	struct mlx5dv_devx_obj *obj, uint16_t bytes, uint16_t types[], uint64_t cookie);
int
__wrap_mlx5dv_devx_subscribe_devx_event(struct mlx5dv_devx_event_channel *c,
	struct mlx5dv_devx_obj *obj, uint16_t bytes, uint16_t types[], uint64_t cookie)
{
	assert_ptr_equal(c, &channel);
	assert_true(k.nr_sub < MAX && bytes <= sizeof(k.sub[0].types));
	k.sub[k.nr_sub].obj = obj;
	k.sub[k.nr_sub].bytes = bytes;
	k.sub[k.nr_sub].cookie = cookie;
	memcpy(k.sub[k.nr_sub].types, types, bytes);
	return ++k.nr_sub == k.refuse_at ? k.refuse : 0;
}

ssize_t __wrap_mlx5dv_devx_get_event(
	struct mlx5dv_devx_event_channel *c, struct mlx5dv_devx_async_event_hdr *to, size_t bytes);
ssize_t
__wrap_mlx5dv_devx_get_event(
	struct mlx5dv_devx_event_channel *c, struct mlx5dv_devx_async_event_hdr *to, size_t bytes)
{
	assert_ptr_equal(c, &channel);
	assert_int_equal(bytes, sizeof(*to) + 64);
	if (k.at_dev == k.nr_dev && k.endless == 0) {
		errno = EAGAIN;
		return -1;
	}
	if (k.at_dev == k.nr_dev) { /* events of a queue that is no more */
		k.endless--;
		to->cookie = UINT64_MAX;
		return (ssize_t)bytes;
	}
	if (k.dev[k.at_dev].code == -1) {
		errno = EOVERFLOW; /* of something else */
		k.at_dev++;
		return 0;
	}
	if (k.dev[k.at_dev].code > 0) {
		errno = k.dev[k.at_dev++].code;
		return -1;
	}
	to->cookie = k.dev[k.at_dev].cookie;
	if (k.dev[k.at_dev].code == 0)
		to->out_data[1] = k.dev[k.at_dev].type;
	k.at_dev++;
	return (ssize_t)bytes;
}

int __wrap_ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *to);
int
__wrap_ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *to)
{
	if (k.at_async == k.nr_async) {
		errno = EAGAIN;
		return -1;
	}
	if (k.async[k.at_async].code != 0) {
		errno = k.async[k.at_async++].code;
		return -1;
	}
	memset(to, 0, sizeof(*to));
	to->event_type = k.async[k.at_async++].type;
	to->element.port_num = 1;
	return 0;
}

void __wrap_ibv_ack_async_event(struct ibv_async_event *event);
void
__wrap_ibv_ack_async_event(struct ibv_async_event *event)
{
	k.acked++;
}

static int
open_ctx(void **state)
{
	memset(&k, 0, sizeof(k));
	memset(&ctx, 0, sizeof(ctx));
	memset(q, 0, sizeof(q));
	memset(shared, 0, sizeof(shared));
	LIST_INIT(&ctx.queues);
	ctx.events = &channel;
	ctx.info.events = 1;
	for (unsigned i = 0; i < 2; i++) {
		q[i].ctx = &ctx;
		q[i].id = 5 + i;
		q[i].cfg.index = 20 + i;
		q[i].sq.num = 0x100 + i;
		q[i].rq.num = 0x200 + i;
		q[i].tx_cq.obj = (struct mlx5dv_devx_obj *)&k.sub[0];
		q[i].rx_cq.obj = (struct mlx5dv_devx_obj *)&k.sub[1];
		q[i].sq.obj = (struct mlx5dv_devx_obj *)&k.sub[2];
		q[i].rq.obj = (struct mlx5dv_devx_obj *)&k.sub[3];
		q[i].shared = &shared[i];
		LIST_INSERT_HEAD(&ctx.queues, &q[i], link);
	}
	return 0;
}

static void
subscriptions(void **state)
{
	static const uint16_t cq[] = {0x04}, wq[] = {0x05, 0x10, 0x11};

	assert_int_equal(crl_events_subscribe(&q[1], &err), 0);
	assert_int_equal(k.nr_sub, 4);
	for (unsigned i = 0; i < 4; i++) {
		assert_ptr_equal(k.sub[i].obj, &k.sub[i]);
		assert_int_equal(k.sub[i].cookie, 6 * 4 + i);
		assert_int_equal(k.sub[i].bytes, i < 2 ? sizeof(cq) : sizeof(wq));
		assert_memory_equal(k.sub[i].types, i < 2 ? cq : wq, k.sub[i].bytes);
	}
	assert_int_equal(ctx.info.events, 1);
	k.nr_sub = 0;
	q[1].tx_cq.obj = q[1].sq.obj = NULL; /* no send side */
	assert_int_equal(crl_events_subscribe(&q[1], &err), 0);
	assert_int_equal(k.nr_sub, 2);
	ctx.events = NULL;
	assert_int_equal(crl_events_subscribe(&q[1], &err), 0);
	assert_int_equal(k.nr_sub, 2);
}

static void
refused_subscriptions(void **state)
{
	static const int soft[] = {EINVAL, EOPNOTSUPP};

	for (k.refuse_at = 1; k.refuse_at <= 4; k.refuse_at++) {
		const char *what = k.refuse_at <= 2 ? "CQ error" : "work queue error";

		for (unsigned i = 0; i < 2; i++) {
			k.refuse = soft[i];
			k.nr_sub = 0;
			ctx.info.events = 1;
			assert_int_equal(crl_events_subscribe(&q[0], &err), 0);
			assert_int_equal(k.nr_sub, 4);
			assert_int_equal(ctx.info.events, 0);
			assert_non_null(strstr(ctx.info.events_why, what));
		}
		k.refuse = ENOMEM;
		k.nr_sub = 0;
		assert_int_equal(crl_events_subscribe(&q[0], &err), -ENOMEM);
		assert_int_equal(k.nr_sub, k.refuse_at);
		k.refuse = -1; /* and errno */
		k.nr_sub = 0;
		errno = EPERM;
		assert_int_equal(crl_events_subscribe(&q[0], &err), -EPERM);
	}
}

static void
give(uint64_t id, unsigned kind, uint8_t type)
{
	k.dev[k.nr_dev].cookie = id * 4 + kind;
	k.dev[k.nr_dev++].type = type;
}

static void
queue_errors(void **state)
{
	static const char *const names[] = {"send CQ", "receive CQ", "send queue", "receive queue"};
	struct crl_event ev[MAX];
	char words[64];

	for (unsigned i = 0; i < 4; i++)
		give(6, i, (uint8_t)(4 + i));
	give(9, 0, 4); /* nobody's */
	k.dev[k.nr_dev++].code = EINTR;
	k.dev[k.nr_dev++].code = EOVERFLOW;
	assert_int_equal(crl_event_next(&ctx, ev, MAX), 5);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(ev[i].type, i < 2 ? CRL_EVENT_CQ_ERROR : CRL_EVENT_WQ_ERROR);
		assert_ptr_equal(ev[i].queue, &q[1]);
		assert_int_equal(ev[i].err.code, -EIO);
		assert_int_equal(ev[i].err.is_rx, i % 2);
		assert_int_equal(ev[i].err.queue, i % 2 ? 0x201 : 0x101);
		snprintf(words, sizeof(words), "the %s of queue 21 (event type 0x%02x)", names[i],
			4 + i);
		assert_non_null(strstr(ev[i].err.cause, words));
	}
	assert_int_equal(ev[4].type, CRL_EVENT_LOST);
	assert_null(ev[4].queue);
	assert_int_equal(ev[4].err.code, -EOVERFLOW);
	assert_int_equal(crl_event_next(&ctx, ev, MAX), 0);
}

/* A kernel that returns less than an event: none, and one of type 0. */
static void
short_events(void **state)
{
	struct crl_event ev[MAX];

	k.dev[0].code = -1;
	k.nr_dev = 1;
	errno = EIO;
	assert_int_equal(crl_event_next(&ctx, ev, MAX), 0);
	give(6, 0, 0xff);
	give(6, 1, 0xff);
	k.dev[2].code = -2;
	assert_int_equal(crl_event_next(&ctx, ev, MAX), 2);
	assert_non_null(strstr(ev[0].err.cause, "type 0xff"));
	assert_non_null(strstr(ev[1].err.cause, "type 0x00"));
}

static void
device_events(void **state)
{
	struct crl_event ev[MAX];

	k.async[0].type = IBV_EVENT_PORT_ACTIVE;
	k.async[1].type = IBV_EVENT_GID_CHANGE;
	k.async[2].type = IBV_EVENT_PORT_ERR;
	k.async[3].code = EINTR;
	k.async[4].type = IBV_EVENT_DEVICE_FATAL;
	k.nr_async = 5;
	memset(ev, 0x5a, sizeof(ev));
	assert_int_equal(crl_event_next(&ctx, ev, MAX), 3);
	assert_int_equal(k.acked, 4);
	assert_int_equal(ev[0].type, CRL_EVENT_LINK);
	assert_int_equal(ev[0].err.code, 0);
	assert_int_equal(ev[1].type, CRL_EVENT_LINK);
	assert_int_equal(ev[1].err.code, -ENETDOWN);
	assert_int_equal(ev[2].type, CRL_EVENT_DEVICE);
	assert_int_equal(ev[2].err.code, -EIO);
	for (unsigned i = 0; i < 3; i++)
		assert_null(ev[i].queue);
	ctx.events = NULL; /* the device's are still there without a channel */
	k.at_async = 0;
	assert_int_equal(crl_event_next(&ctx, ev, MAX), 3);
}

/* Engines' mailboxes: taken once, both sides, and no more than was asked for. */
static void
mailboxes(void **state)
{
	struct crl_event ev[MAX];

	for (unsigned i = 0; i < 4; i++) {
		shared[i / 2].error[i % 2].seq = 1;
		shared[i / 2].error[i % 2].kind = CRL_QERR_CQE;
		shared[i / 2].error[i % 2].queue = 0x300 + i;
	}
	assert_int_equal(crl_event_next(&ctx, ev, 3), 3);
	assert_int_equal(crl_event_next(&ctx, ev + 3, MAX - 3), 1);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(ev[i].type, CRL_EVENT_QUEUE_ERROR);
		assert_ptr_equal(ev[i].queue, &q[1 - i / 2]);
		assert_int_equal(ev[i].err.code, -EIO);
		assert_int_equal(ev[i].err.queue, 0x300 + 2 * (1 - i / 2) + i % 2);
		assert_int_equal(shared[i / 2].error[i % 2].seq, 0);
	}
	assert_int_equal(crl_event_next(&ctx, ev, MAX), 0);
}

/* What is broken is told when there is nothing else, and what there is comes first. */
static void
broken(void **state)
{
	struct crl_event ev[MAX];

	k.dev[0].code = EIO;
	k.nr_dev = 1;
	assert_int_equal(crl_event_next(&ctx, ev, MAX), -EIO);
	k.at_dev = 0;
	shared[0].error[0].seq = 1;
	assert_int_equal(crl_event_next(&ctx, ev, MAX), 1);
	k.at_dev = k.nr_dev;
	k.async[0].code = ENODEV;
	k.nr_async = 1;
	assert_int_equal(crl_event_next(&ctx, ev, MAX), -ENODEV);
}

/* Events that keep coming: a call looks so many times and no more, and never beyond max. */
static void
bounded(void **state)
{
	struct crl_event ev[MAX];

	k.endless = 1000;
	assert_int_equal(crl_event_next(&ctx, ev, MAX), 0);
	assert_int_equal(k.endless, 1000 - 64);
	k.endless = 0;
	for (unsigned i = 0; i < MAX; i++)
		give(5, 0, 4);
	assert_int_equal(crl_event_next(&ctx, ev, 5), 5);
	assert_int_equal(k.at_dev, 5);
	assert_int_equal(crl_event_next(&ctx, ev, MAX), MAX - 5);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(subscriptions, open_ctx),
		cmocka_unit_test_setup(refused_subscriptions, open_ctx),
		cmocka_unit_test_setup(queue_errors, open_ctx),
		cmocka_unit_test_setup(short_events, open_ctx),
		cmocka_unit_test_setup(device_events, open_ctx),
		cmocka_unit_test_setup(mailboxes, open_ctx),
		cmocka_unit_test_setup(broken, open_ctx),
		cmocka_unit_test_setup(bounded, open_ctx),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
