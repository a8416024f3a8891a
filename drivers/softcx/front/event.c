/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event descriptors: the verbs' asynchronous events, DevX command answers, DevX events with their
 * subscriptions. Each is one end of a SOCK_SEQPACKET pair, so that read(2), poll(2) and O_NONBLOCK
 * work without a hook and a read gives one record. The program closing its end is noticed at the
 * next record, which then has nowhere to go.
 *
 * scxf_event() runs in the data path's thread; everything else under scxf_lock. Both take ev_lock,
 * and hold it over no call into the model.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>

#include "core.h"
#include "event.h"

#define FILES_MAX      256
#define SUBS_MAX       16384 /* a queue of Carillon's has eight */
#define EVENTS_A_CALL  16 /* MAX_NUM_EVENTS of mlx5_ib */
#define PORT_DOWN      1  /* subtypes of a port change */
#define PORT_ACTIVE    4
#define IB_PORT_ACTIVE 9 /* enum ib_event_type */
#define IB_PORT_ERR    10
#define OP_CREATE_CQ   0x400

enum file_kind { FILE_FREE, FILE_ASYNC, FILE_CMD, FILE_DEVX };

struct file {
	enum file_kind kind;
	struct scxf_ctx *ctx;
	int fd;	      /* our end */
	dev_t st_dev; /* of the program's end: any duplicate has them */
	ino_t st_ino;
	bool omit_data; /* records are cookies only */
	bool full;	/* said so already */
};

struct sub {
	struct file *file; /* NULL: free */
	uint32_t handle;   /* of the DevX object, 0: the device's own events */
	struct scx_obj obj;
	uint8_t type;
	int eventfd; /* -1: records go to the file */
	uint64_t cookie;
};

static struct file files[FILES_MAX];
static struct sub subs[SUBS_MAX];
static unsigned nr_subs; /* subs[] beyond it are free */
static pthread_mutex_t ev_lock = PTHREAD_MUTEX_INITIALIZER;

static void
sub_free(struct sub *s)
{
	if (s->eventfd >= 0)
		close(s->eventfd);
	s->file = NULL;
}

static void
file_free(struct file *f)
{
	for (unsigned i = 0; i < nr_subs; i++)
		if (subs[i].file == f)
			sub_free(&subs[i]);
	close(f->fd);
	f->kind = FILE_FREE;
}

/* 0, -EAGAIN: full, -EPIPE: the reader is gone, and so is f. */
static int
file_send(struct file *f, const void *record, size_t bytes)
{
	if (send(f->fd, record, bytes, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return 0;
	if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) {
		if (!f->full)
			scx_log(f->ctx->dev->name,
				"an event descriptor is full, nobody reads it: events are lost");
		f->full = true;
		return -EAGAIN;
	}
	file_free(f);
	return -EPIPE;
}

static struct file *
file_of(struct scxf_ctx *ctx, int fd, enum file_kind kind)
{
	struct stat st;

	if (scxf_fstat(fd, &st))
		return NULL;
	for (unsigned i = 0; i < FILES_MAX; i++)
		if (files[i].kind == kind && files[i].ctx == ctx && files[i].st_ino == st.st_ino &&
			files[i].st_dev == st.st_dev)
			return &files[i];
	return NULL;
}

/* Files whose reader has gone go now: a probe of a socket without a peer reads end of file. A
 * program that opens and closes for ever must not fill its table of descriptors with our ends. */
static struct file *
file_slot(void)
{
	struct file *slot = NULL;
	char b;

	for (unsigned i = 0; i < FILES_MAX; i++) {
		if (files[i].kind != FILE_FREE &&
			!recv(files[i].fd, &b, 1, MSG_DONTWAIT | MSG_PEEK))
			file_free(&files[i]);
		if (files[i].kind == FILE_FREE && slot == NULL)
			slot = &files[i];
	}
	return slot;
}

static int
file_new(struct scxf_call *c, enum file_kind kind, uint16_t attr, bool omit_data)
{
	struct stat st;
	struct file *f;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return scxf_refuse(c, -errno, "no descriptor for events");
	if (scxf_fstat(pair[0], &st)) {
		int rc = -errno;

		close(pair[0]);
		close(pair[1]);
		return rc;
	}
	pthread_mutex_lock(&ev_lock);
	f = file_slot();
	if (f)
		*f = (struct file){kind, c->ctx, scxf_move_high(pair[1]), st.st_dev, st.st_ino,
			omit_data, false};
	pthread_mutex_unlock(&ev_lock);
	if (!f) {
		close(pair[0]);
		close(pair[1]);
		return scxf_refuse(c, -ENFILE, "more than %u event descriptors", FILES_MAX);
	}
	scxf_attr(c, attr)->data_s64 = pair[0];
	return 0;
}

static int
async_event_alloc(struct scxf_call *c)
{
	int rc = scxf_need_context(c);

	return rc ? rc : file_new(c, FILE_ASYNC, UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE, false);
}

static int
async_cmd_alloc(struct scxf_call *c)
{
	int rc = scxf_need_devx(c);

	return rc ? rc : file_new(c, FILE_CMD, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE, false);
}

static int
async_devx_alloc(struct scxf_call *c)
{
	uint64_t flags = scxf_in_u64(c, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 0);
	int rc = scxf_need_devx(c);

	if (rc)
		return rc;
	if (flags & ~(uint64_t)MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA)
		return scxf_refuse(
			c, -EINVAL, "event channel flags 0x%llx", (unsigned long long)flags);
	return file_new(c, FILE_DEVX, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE, flags);
}

int
scxf_event_send(struct scxf_ctx *ctx, int fd, const void *record, size_t bytes)
{
	struct file *f;
	int rc = -EBADF;

	pthread_mutex_lock(&ev_lock);
	f = file_of(ctx, fd, FILE_CMD);
	if (f)
		rc = file_send(f, record, bytes);
	pthread_mutex_unlock(&ev_lock);
	return rc;
}

/* CQs have two event types, other objects none of those; without an object only the port's may be
 * asked for. */
static bool
type_fits(const struct scxf_obj *obj, uint16_t type)
{
	if (!obj)
		return type == EV_PORT_CHANGE;
	if (obj->devx.opcode == OP_CREATE_CQ)
		return type == EV_COMP || type == EV_CQ_ERROR;
	return type == 0x05 || (type >= 0x10 && type <= 0x13);
}

static int
sub_add(struct file *f, const struct sub *want)
{
	unsigned i;

	for (i = 0; i < nr_subs && subs[i].file; i++)
		;
	if (i == SUBS_MAX)
		return -ENOMEM;
	if (i == nr_subs)
		nr_subs++;
	subs[i] = *want;
	subs[i].file = f;
	return 0;
}

static int
subscribe_types(struct scxf_call *c, struct file *f, const uint16_t *types, size_t nr, int efd)
{
	const struct scxf_obj *obj = scxf_attr_obj(c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE);
	struct ib_uverbs_attr *h = scxf_attr(c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE);
	struct sub s = {.handle = h ? h->data : 0, .eventfd = -1};
	int rc = 0;

	s.cookie = scxf_in_u64(c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, 0);
	if (obj)
		s.obj = obj->devx;
	for (size_t i = 0; i < nr && !rc; i++) {
		s.type = types[i];
		if (efd >= 0) {
			s.eventfd = fcntl(efd, F_DUPFD_CLOEXEC, SCXF_FD_MIN);
			if (s.eventfd < 0)
				return -errno;
		}
		rc = sub_add(f, &s);
		if (rc && s.eventfd >= 0)
			close(s.eventfd);
	}
	return rc;
}

static int
subscribe(struct scxf_call *c)
{
	int fd = scxf_attr(c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE)->data_s64,
	    rc = scxf_need_devx(c);
	const struct scxf_obj *obj = scxf_attr_obj(c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE);
	uint16_t types[EVENTS_A_CALL];
	size_t bytes;
	const void *list = scxf_in(c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, &bytes);
	int efd = (int)scxf_in_u64(c, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, UINT64_MAX);
	struct file *f;

	if (rc)
		return rc;
	if (bytes % 2 || bytes > sizeof(types))
		return scxf_refuse(c, -EINVAL, "a list of %zu bytes of event types", bytes);
	memcpy(types, list, bytes);
	for (size_t i = 0; i < bytes / 2; i++)
		if (!type_fits(obj, types[i]))
			return scxf_refuse(
				c, -EINVAL, "event type 0x%02x is none of this object", types[i]);
	if (efd >= 0 && fcntl(efd, F_GETFD) < 0)
		return scxf_refuse(c, -EBADF, "descriptor %d for the events is not open", efd);
	pthread_mutex_lock(&ev_lock);
	f = file_of(c->ctx, fd, FILE_DEVX);
	rc = f ? subscribe_types(c, f, types, bytes / 2, efd) : -EBADF;
	pthread_mutex_unlock(&ev_lock);
	return rc ? scxf_refuse(c, rc,
			    "descriptor %d is no event channel of this context, or too many "
			    "subscriptions",
			    fd)
		  : 0;
}

static void
sub_deliver(struct sub *s, const struct scx_event *ev)
{
	uint8_t record[8 + SCXF_EQE_BYTES];
	uint64_t one = 1;

	if (s->eventfd >= 0) {
		if (write(s->eventfd, &one, sizeof(one)) < 0) {
			/* its counter is at the limit: the reader has been told enough */
		}
		return;
	}
	memcpy(record, &s->cookie, 8);
	scxf_eqe(ev, record + 8);
	file_send(s->file, record, s->file->omit_data ? 8 : sizeof(record));
}

static bool
sub_matches(const struct sub *s, const struct scxf_dev *dev, const struct scx_event *ev)
{
	if (!s->file || s->file->ctx->dev != dev || s->type != ev->type)
		return false;
	return !s->handle || s->obj.num == ev->obj;
}

void
scxf_event(void *arg, const struct scx_event *ev)
{
	struct scxf_dev *dev = arg;
	bool port = ev->type == EV_PORT_CHANGE &&
		    (ev->subtype == PORT_ACTIVE || ev->subtype == PORT_DOWN);

	pthread_mutex_lock(&ev_lock);
	for (unsigned i = 0; i < nr_subs; i++)
		if (sub_matches(&subs[i], dev, ev))
			sub_deliver(&subs[i], ev);
	if (port)
		dev->link_up = ev->subtype == PORT_ACTIVE;
	for (unsigned i = 0; port && i < FILES_MAX; i++)
		if (files[i].kind == FILE_ASYNC && files[i].ctx->dev == dev) {
			struct ib_uverbs_async_event_desc d = {
				.element = 1, /* the port */
				.event_type = dev->link_up ? IB_PORT_ACTIVE : IB_PORT_ERR,
			};

			file_send(&files[i], &d, sizeof(d));
		}
	pthread_mutex_unlock(&ev_lock);
}

void
scxf_event_forget_obj(struct scxf_ctx *ctx, uint32_t handle)
{
	pthread_mutex_lock(&ev_lock);
	for (unsigned i = 0; i < nr_subs; i++)
		if (subs[i].file && subs[i].file->ctx == ctx && subs[i].handle == handle)
			sub_free(&subs[i]);
	pthread_mutex_unlock(&ev_lock);
}

void
scxf_event_forget_ctx(struct scxf_ctx *ctx)
{
	pthread_mutex_lock(&ev_lock);
	for (unsigned i = 0; i < FILES_MAX; i++)
		if (files[i].kind != FILE_FREE && files[i].ctx == ctx)
			file_free(&files[i]);
	pthread_mutex_unlock(&ev_lock);
}

const struct scxf_method scxf_event_methods[] = {
	METHOD(UVERBS_OBJECT_ASYNC_EVENT, UVERBS_METHOD_ASYNC_EVENT_ALLOC, async_event_alloc,
		FD_NEW(UVERBS_ATTR_ASYNC_EVENT_ALLOC_FD_HANDLE)),
	METHOD(MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC,
		async_cmd_alloc, FD_NEW(MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE)),
	METHOD(MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD, MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
		async_devx_alloc, FD_NEW(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE),
		IN(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS, 1, 4, 8)),
	METHOD(MLX5_IB_OBJECT_DEVX, MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT, subscribe,
		FD_IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE, 1),
		HANDLE(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE, 0, SCXF_DEVX),
		IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST, 1, 2, ANY),
		IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE, 0, 8, 8),
		IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM, 0, 4, 8)),
	{0},
};
