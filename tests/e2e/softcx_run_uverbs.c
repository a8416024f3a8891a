/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver that makes mistakes, on the device that `softcx run` puts under it: each mistake gets
 * the errno that Linux gives, nothing crashes, and events arrive where they were asked for. Uses
 * libmlx5 where it lets a mistake through, the bare ioctl where it does not. Run by
 * softcx_run_uverbs.sh; with the argument "fork" it looks at the device from a child.
 */
#include <errno.h>
#include <fcntl.h>
#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/ib_user_ioctl_cmds.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/rdma_user_ioctl_cmds.h>

#define ATTRS 4

static int failures;

static void
is(const char *what, int got, int wanted)
{
	if (got == wanted)
		return;
	failures++;
	printf("FAIL: %s: got %d (%s), wanted %d (%s)\n", what, got, strerror(got), wanted,
		strerror(wanted));
}

static void
need(int ok, const char *what)
{
	if (ok)
		return;
	printf("FAIL: %s: %s\n", what, strerror(errno));
	exit(1);
}

struct call {
	struct ib_uverbs_ioctl_hdr hdr;
	struct ib_uverbs_attr attr[ATTRS];
};

/* errno of the ioctl, 0: it went well */
static int
run(int fd, struct call *c, unsigned object, unsigned method, unsigned nr)
{
	c->hdr.object_id = object;
	c->hdr.method_id = method;
	c->hdr.num_attrs = nr;
	c->hdr.length = sizeof(c->hdr) + nr * sizeof(c->attr[0]);
	return ioctl(fd, RDMA_VERBS_IOCTL, c) ? errno : 0;
}

static struct ibv_context *
open_device(int index)
{
	struct mlx5dv_context_attr attr = {.flags = MLX5DV_CONTEXT_FLAGS_DEVX};
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *ctx;

	need(list && list[index], "the device list");
	ctx = mlx5dv_open_device(list[index], &attr);
	need(ctx != NULL, "opening the device");
	ibv_free_device_list(list);
	return ctx;
}

static void
malformed(int fd)
{
	struct call c = {0};
	uint8_t out[64];

	c.attr[0] = (struct ib_uverbs_attr){
		.attr_id = UVERBS_ATTR_QUERY_PORT_PORT_NUM, .len = 1, .data = 1};
	is("mandatory attribute missing",
		run(fd, &c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, 1), EINVAL);
	c.attr[1] = (struct ib_uverbs_attr){
		.attr_id = UVERBS_ATTR_QUERY_PORT_RESP, .len = 8, .data = (uintptr_t)out};
	is("output too short", run(fd, &c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, 2),
		EINVAL);
	c.attr[1].len = sizeof(out);
	is("all in order", run(fd, &c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, 2), 0);
	c.attr[0].data = 2;
	is("no such port", run(fd, &c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, 2), EINVAL);
	c.attr[0].data = 1;
	c.attr[2] = c.attr[0];
	is("attribute twice", run(fd, &c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, 3),
		EINVAL);
	c.attr[2].attr_id = 0xfff;
	is("unknown attribute, optional",
		run(fd, &c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, 3), 0);
	c.attr[2].flags = UVERBS_ATTR_F_MANDATORY;
	is("unknown attribute, mandatory",
		run(fd, &c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, 3), EPROTONOSUPPORT);
	is("unknown method", run(fd, &c, UVERBS_OBJECT_DEVICE, 0xeee, 0), EPROTONOSUPPORT);
	is("unknown object", run(fd, &c, 0xeee, 0, 0), EPROTONOSUPPORT);
	c.hdr.reserved1 = 1;
	is("reserved field set", run(fd, &c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_QUERY_PORT, 2),
		EPROTONOSUPPORT);
	c.hdr.reserved1 = 0;
	c.hdr.length = 7;
	is("wrong length", ioctl(fd, RDMA_VERBS_IOCTL, &c) ? errno : 0, EINVAL);
	is("another ioctl", ioctl(fd, 0x1234, &c) ? errno : 0, ENOTTY);
}

static int
destroy(int fd, unsigned object, unsigned method, unsigned attr, uint32_t handle)
{
	struct call c = {0};

	c.attr[0] = (struct ib_uverbs_attr){.attr_id = attr, .data = handle};
	return run(fd, &c, object, method, 1);
}

static void
handles(struct ibv_context *a, struct ibv_context *b)
{
	struct ibv_pd *pd = ibv_alloc_pd(a);
	static uint8_t mem[8192];
	struct ibv_mr *mr;

	need(pd != NULL, "a PD");
	is("no such handle",
		destroy(a->cmd_fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
			UVERBS_ATTR_DESTROY_PD_HANDLE, 9999),
		ENOENT);
	is("handle of another context",
		destroy(b->cmd_fd, UVERBS_OBJECT_PD, UVERBS_METHOD_PD_DESTROY,
			UVERBS_ATTR_DESTROY_PD_HANDLE, pd->handle),
		ENOENT);
	is("handle of another kind",
		destroy(a->cmd_fd, UVERBS_OBJECT_MR, UVERBS_METHOD_MR_DESTROY,
			UVERBS_ATTR_DESTROY_MR_HANDLE, pd->handle),
		EINVAL);
	mr = ibv_reg_mr(pd, mem, sizeof(mem), IBV_ACCESS_LOCAL_WRITE);
	need(mr != NULL, "a memory region");
	is("PD with a region", ibv_dealloc_pd(pd), EBUSY);
	is("deregister", ibv_dereg_mr(mr), 0);
	is("PD without", ibv_dealloc_pd(pd), 0);
}

static void
memory(struct ibv_context *ctx)
{
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	uint8_t *ro = mmap(NULL, 8192, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint8_t *gone =
		mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct mlx5dv_devx_umem_in in = {
		.addr = ro, .size = 4096, .access = 0, .pgsz_bitmap = 2048};
	int fd = memfd_create("no dma-buf", MFD_CLOEXEC);

	need(pd && ro != MAP_FAILED && gone != MAP_FAILED && fd >= 0, "memory");
	munmap(gone + 4096, 4096);
	errno = 0;
	need(!ibv_reg_mr(pd, ro, 8192, IBV_ACCESS_LOCAL_WRITE),
		"writable region of read-only memory was taken");
	is("region of read-only memory", errno, EFAULT);
	need(!ibv_reg_mr(pd, gone, 8192, 0), "region over a hole was taken");
	is("region over a hole", errno, EFAULT);
	need(!ibv_reg_mr(pd, ro, 8192, IBV_ACCESS_REMOTE_WRITE),
		"remote write without local write was taken");
	is("remote write without local write", errno, EINVAL);
	need(!ibv_reg_dmabuf_mr(pd, 0, 4096, 0, fd, 0), "dma-buf region of a plain file was taken");
	is("dma-buf region of a plain file", errno, EBADF);
	need(!mlx5dv_devx_umem_reg_ex(ctx, &in), "umem without a possible page size was taken");
	is("umem without a possible page size", errno, EINVAL);
	need(!mlx5dv_devx_umem_reg(ctx, gone, 8192, IBV_ACCESS_LOCAL_WRITE),
		"umem over a hole was taken");
	is("umem over a hole", errno, EFAULT);
	ibv_dealloc_pd(pd);
	close(fd);
}

/* mailbox words: opcode in the upper half of the first */
static void
devx(struct ibv_context *ctx)
{
	uint32_t in[4] = {htobe32(0x816u << 16)}, out[4], again[4] = {htobe32(0x905u << 16)};
	struct mlx5dv_devx_obj *td = mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out));

	need(td != NULL, "a transport domain");
	is("modify with another object's number",
		mlx5dv_devx_obj_modify(td, again, sizeof(again), out, sizeof(out)), EINVAL);
	is("query opcode in modify", mlx5dv_devx_obj_modify(td, in, sizeof(in), out, sizeof(out)),
		EINVAL);
	in[0] = htobe32(0x817u << 16);
	need(!mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)),
		"a create that destroys was taken");
	is("destroy opcode in create", errno, EINVAL);
	in[0] = htobe32(0x912u << 16); /* CREATE_TIS, far too short */
	need(!mlx5dv_devx_obj_create(ctx, in, sizeof(in), out, sizeof(out)),
		"a short CREATE_TIS was taken");
	is("refused by the firmware", errno, EREMOTEIO);
	is("status in the mailbox", (be32toh(out[0]) >> 24) != 0, 1);
	is("destroy", mlx5dv_devx_obj_destroy(td), 0);
}

static void
events(struct ibv_context *ctx)
{
	struct mlx5dv_devx_event_channel *ch = mlx5dv_devx_create_event_channel(
		ctx, MLX5DV_DEVX_CREATE_EVENT_CHANNEL_FLAGS_OMIT_EV_DATA);
	uint16_t port_change = 9, completion = 0;
	struct pollfd p;

	need(ch != NULL, "an event channel");
	is("port events",
		mlx5dv_devx_subscribe_devx_event(ch, NULL, sizeof(port_change), &port_change, 42),
		0);
	is("completions of no CQ",
		mlx5dv_devx_subscribe_devx_event(ch, NULL, sizeof(completion), &completion, 42),
		EINVAL);
	p = (struct pollfd){.fd = ch->fd, .events = POLLIN};
	is("nothing happened yet", poll(&p, 1, 0), 0);
	fcntl(ctx->async_fd, F_SETFL, O_NONBLOCK);
	is("asynchronous events do not wait", read(ctx->async_fd, &p, sizeof(p)) < 0 ? errno : 0,
		EAGAIN);
	mlx5dv_devx_destroy_event_channel(ch);
}

/* The device looks like a character device by name, by descriptor and by any duplicate of it. */
static void
looks(struct ibv_context *ctx)
{
	int fd = fcntl(ctx->cmd_fd, F_DUPFD_CLOEXEC, 100);
	struct stat a, b;

	need(fd >= 0 && !stat("/dev/infiniband/uverbs0", &a) && !fstat(fd, &b), "stat");
	is("a character device by name", S_ISCHR(a.st_mode), 1);
	is("a character device by descriptor", S_ISCHR(b.st_mode), 1);
	is("the same number", a.st_rdev == b.st_rdev, 1);
	close(fd);
}

static int
from_a_child(void)
{
	struct ibv_context *ctx = open_device(0);
	struct ibv_pd *pd = ibv_alloc_pd(ctx);
	struct stat st;
	int status;
	pid_t pid;

	need(pd != NULL, "a PD");
	fflush(stdout);
	pid = fork();
	need(pid >= 0, "fork");
	if (!pid) {
		is("PD in the child", ibv_alloc_pd(ctx) ? 0 : errno, EIO);
		is("opening in the child", open("/dev/infiniband/uverbs0", O_RDWR) < 0 ? errno : 0,
			EIO);
		is("a character device in the child",
			!fstat(ctx->cmd_fd, &st) && S_ISCHR(st.st_mode), 1);
		fflush(stdout);
		_exit(failures != 0);
	}
	waitpid(pid, &status, 0);
	is("the child's findings", status, 0);
	is("the parent goes on", ibv_dealloc_pd(pd), 0);
	ibv_close_device(ctx);
	return failures != 0;
}

/* A PD that only the kernel's side knows of. */
static int
leave_pd(int fd)
{
	uint32_t out[4] = {0};
	struct call c = {
		.attr = {
			{.attr_id = UVERBS_ATTR_WRITE_CMD,
				.len = 4,
				.data = IB_USER_VERBS_CMD_ALLOC_PD},
			{.attr_id = UVERBS_ATTR_CORE_IN, .len = 8},
			{.attr_id = UVERBS_ATTR_CORE_OUT, .len = 4, .data = (uintptr_t)out},
		}};

	return run(fd, &c, UVERBS_OBJECT_DEVICE, UVERBS_METHOD_INVOKE_WRITE, 3);
}

/* Many opens, each let go of: more than there are UAR pages, so they have to come back. */
static void
open_and_close(void)
{
	for (unsigned i = 0; i < 600; i++) {
		struct ibv_context *ctx = open_device(0);

		need(!leave_pd(ctx->cmd_fd), "a PD that stays behind");
		ibv_close_device(ctx);
	}
}

int
main(int argc, char **argv)
{
	struct ibv_context *a, *b;

	if (argc > 1 && !strcmp(argv[1], "fork"))
		return from_a_child();
	a = open_device(0);
	b = open_device(0);
	malformed(a->cmd_fd);
	handles(a, b);
	memory(a);
	devx(a);
	events(a);
	looks(a);
	ibv_close_device(b);
	ibv_close_device(a);
	open_and_close();
	return failures != 0;
}
