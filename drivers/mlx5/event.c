/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events: the NIC's own through a DevX event channel (CQ and work queue errors) and the context's
 * async fd (link, device), and those of engines through error mailboxes in memory. All are taken
 * without waiting. Host only.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "gpu_queues/control.h"
#include "internal.h"

#define EVENTS_STEP "subscribe to events"

#define EVENTS_PER_LOOK 64 /* of each source: no call stays because events keep coming */

/* PRM event types. */
#define EV_CQ_ERROR   0x04
#define EV_WQ_CATAS   0x05
#define EV_WQ_INVALID 0x10
#define EV_WQ_ACCESS  0x11
#define EQE_TYPE_BYTE 1 /* of an event queue entry */
#define EQE_BYTES     64

/* What a cookie says besides the queue's id. */
enum { COOKIE_TX_CQ, COOKIE_RX_CQ, COOKIE_SQ, COOKIE_RQ, COOKIE_KINDS };

static int
set_nonblocking(int fd)
{
	int flags = fcntl(fd, F_GETFL);

	if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
		return -errno;
	return 0;
}

static int
watch(struct crl_ctx *ctx, int fd)
{
	struct epoll_event ev = {.events = EPOLLIN};
	int ret = set_nonblocking(fd);

	if (ret == 0 && epoll_ctl(ctx->poll_fd, EPOLL_CTL_ADD, fd, &ev) != 0)
		ret = -errno;
	return ret;
}

int
crl_events_open(struct crl_ctx *ctx, struct crl_err *err)
{
	int ret;

	ctx->poll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (ctx->poll_fd < 0)
		return crl_fail_errno(
			err, errno, EVENTS_STEP, "raise the limit of open files", "no epoll fd");
	ret = watch(ctx, ctx->ibv->async_fd);
	if (ret != 0)
		goto undo_poll;
	errno = 0;
	ctx->events = mlx5dv_devx_create_event_channel(ctx->ibv, 0);
	if (ctx->events == NULL && errno != EOPNOTSUPP && errno != EPROTONOSUPPORT) {
		ret = -errno;
		goto undo_poll;
	}
	if (ctx->events == NULL) {
		snprintf(ctx->events_why, sizeof(ctx->events_why), "the kernel has no DevX events");
	} else {
		ret = watch(ctx, ctx->events->fd);
		if (ret != 0)
			goto undo_channel;
	}
	ctx->info.events = ctx->events != NULL;
	snprintf(ctx->info.events_why, sizeof(ctx->info.events_why), "%s", ctx->events_why);
	return 0;

undo_channel:
	mlx5dv_devx_destroy_event_channel(ctx->events);
undo_poll:
	close(ctx->poll_fd);
	return crl_fail_errno(
		err, ret != 0 ? -ret : EIO, EVENTS_STEP, "see the kernel log", "no event channel");
}

void
crl_events_close(struct crl_ctx *ctx)
{
	if (ctx->events != NULL)
		mlx5dv_devx_destroy_event_channel(ctx->events);
	close(ctx->poll_fd);
}

static int
subscribe(struct crl_queue *q, struct mlx5dv_devx_obj *obj, int kind, const uint16_t *types,
	size_t nr, struct crl_err *err)
{
	uint16_t list[4];
	int ret;

	if (obj == NULL)
		return 0;
	memcpy(list, types, nr * sizeof(*types));
	ret = crl_errno_of(mlx5dv_devx_subscribe_devx_event(q->ctx->events, obj,
		(uint16_t)(nr * sizeof(*types)), list, q->id * COOKIE_KINDS + (uint64_t)kind));
	if (ret == 0)
		return 0;
	/* A kernel that passes fewer types on to users still runs queues: crl_info says what is
	 * missing. */
	if (ret == EINVAL || ret == EOPNOTSUPP) {
		q->ctx->info.events = 0;
		snprintf(q->ctx->info.events_why, sizeof(q->ctx->info.events_why),
			"the kernel refuses %s error events (errno %d)",
			kind <= COOKIE_RX_CQ ? "CQ" : "work queue", ret);
		return 0;
	}
	return crl_fail_errno(
		err, ret, EVENTS_STEP, "see the kernel log", "queue %u", q->cfg.index);
}

int
crl_events_subscribe(struct crl_queue *q, struct crl_err *err)
{
	static const uint16_t cq_types[] = {EV_CQ_ERROR};
	static const uint16_t wq_types[] = {EV_WQ_CATAS, EV_WQ_INVALID, EV_WQ_ACCESS};
	int ret;

	if (q->ctx->events == NULL)
		return 0;
	ret = subscribe(q, q->tx_cq.obj, COOKIE_TX_CQ, cq_types, 1, err);
	if (ret == 0)
		ret = subscribe(q, q->rx_cq.obj, COOKIE_RX_CQ, cq_types, 1, err);
	if (ret == 0)
		ret = subscribe(q, q->sq.obj, COOKIE_SQ, wq_types, 3, err);
	if (ret == 0)
		ret = subscribe(q, q->rq.obj, COOKIE_RQ, wq_types, 3, err);
	return ret;
}

CRL_PUBLIC int
crl_event_fd(const struct crl_ctx *ctx)
{
	return ctx->poll_fd;
}

static struct crl_queue *
find_queue(struct crl_ctx *ctx, uint64_t id)
{
	struct crl_queue *q;

	LIST_FOREACH(q, &ctx->queues, link)
	if (q->id == id)
		return q;
	return NULL;
}

static void
start_event(struct crl_event *ev, enum crl_event_type type, struct crl_queue *q)
{
	memset(ev, 0, sizeof(*ev));
	ev->type = type;
	ev->queue = q;
}

/* 1: an event, 0: one was taken that is nobody's, -EAGAIN: none is there, or another -errno. */
static int
next_of_channel(struct crl_ctx *ctx, struct crl_event *ev)
{
	union {
		struct mlx5dv_devx_async_event_hdr hdr;
		uint8_t bytes[sizeof(struct mlx5dv_devx_async_event_hdr) + EQE_BYTES];
	} buf;
	struct crl_queue *q;
	unsigned kind;
	ssize_t n;

	memset(&buf, 0, sizeof(buf));
	n = mlx5dv_devx_get_event(ctx->events, &buf.hdr, sizeof(buf));
	if (n < 0 && errno == EOVERFLOW) {
		start_event(ev, CRL_EVENT_LOST, NULL);
		crl_err_set(&ev->err, -EOVERFLOW, "read events", "look at every queue",
			"the kernel dropped events");
		return 1;
	}
	if (n < 0)
		return errno == EINTR ? 0 : -errno;
	q = find_queue(ctx, buf.hdr.cookie / COOKIE_KINDS);
	kind = buf.hdr.cookie % COOKIE_KINDS;
	if (q == NULL) /* of a queue destroyed in the meantime */
		return 0;
	start_event(ev, kind <= COOKIE_RX_CQ ? CRL_EVENT_CQ_ERROR : CRL_EVENT_WQ_ERROR, q);
	crl_err_set(&ev->err, -EIO, "run a queue", "destroy the queue and create it again",
		"the NIC reports an error of the %s of queue %u (event type 0x%02x)",
		kind == COOKIE_TX_CQ   ? "send CQ"
		: kind == COOKIE_RX_CQ ? "receive CQ"
		: kind == COOKIE_SQ    ? "send queue"
				       : "receive queue",
		q->cfg.index, buf.hdr.out_data[EQE_TYPE_BYTE]);
	ev->err.is_rx = kind == COOKIE_RX_CQ || kind == COOKIE_RQ;
	ev->err.queue = ev->err.is_rx ? q->rq.num : q->sq.num;
	return 1;
}

static int
next_of_device(struct crl_ctx *ctx, struct crl_event *ev)
{
	struct ibv_async_event async;
	int got = 1;

	if (ibv_get_async_event(ctx->ibv, &async) != 0)
		return errno == EINTR ? 0 : -errno;
	switch (async.event_type) {
	case IBV_EVENT_PORT_ACTIVE:
		start_event(ev, CRL_EVENT_LINK, NULL);
		break;
	case IBV_EVENT_PORT_ERR:
		start_event(ev, CRL_EVENT_LINK, NULL);
		crl_err_set(&ev->err, -ENETDOWN, "link", "check the cable and the other end",
			"port %d of %s is down", async.element.port_num, ctx->info.name);
		break;
	case IBV_EVENT_DEVICE_FATAL:
		start_event(ev, CRL_EVENT_DEVICE, NULL);
		crl_err_set(&ev->err, -EIO, "device", "see the kernel log and devlink health",
			"%s is in a fatal state", ctx->info.name);
		break;
	default:
		got = 0; /* addresses, partitions: nothing of ours */
	}
	ibv_ack_async_event(&async);
	return got;
}

/* As crl_control_step() takes it. */
static int
next_of_engine(struct crl_queue *q, unsigned side, struct crl_event *ev)
{
	struct crl_err err;

	if (!crl_control_take(&q->shared->error[side], &err))
		return 0;
	start_event(ev, CRL_EVENT_QUEUE_ERROR, q);
	ev->err = err;
	return 1;
}

/* Take what one source has, into events + n: the new n, or -errno if there is nothing else. */
static int
drain(struct crl_ctx *ctx, int (*next)(struct crl_ctx *, struct crl_event *),
	struct crl_event *events, int n, int max)
{
	for (int looks = 0; n < max && looks < EVENTS_PER_LOOK; looks++) {
		int ret = next(ctx, &events[n]);

		if (ret < 0)
			return ret == -EAGAIN || n > 0 ? n : ret;
		n += ret;
	}
	return n;
}

CRL_PUBLIC int
crl_event_next(struct crl_ctx *ctx, struct crl_event *events, int max)
{
	struct crl_queue *q;
	int n = 0;

	LIST_FOREACH(q, &ctx->queues, link)
	for (unsigned side = CRL_QERROR_SQ; side <= CRL_QERROR_RQ && n < max; side++)
		n += next_of_engine(q, side, &events[n]);
	if (ctx->events != NULL)
		n = drain(ctx, next_of_channel, events, n, max);
	if (n >= 0)
		n = drain(ctx, next_of_device, events, n, max);
	return n;
}
