/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The wrappers of inject.h. Each asks inject_fails() first and then does what the real call does.
 * The list of wrapped names is in meson.build; a name that is there only does not link.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <infiniband/mlx5dv.h>
#include <infiniband/verbs.h>
#include <numaif.h>

#include "inject.h"

static unsigned armed, armed_release;
static const char *fired;
static long live[LIVE_KINDS];
static bool refused;   /* the armed release failed, and nothing was armed since */
static unsigned early; /* things given back meanwhile */
static unsigned later; /* calls after the one that failed, giving back left out */

void
inject_arm(unsigned n)
{
	armed = n;
	armed_release = 0;
	fired = NULL;
	refused = false;
	early = 0;
	later = 0;
}

void
inject_arm_release(unsigned n)
{
	armed = 0;
	armed_release = n;
	fired = NULL;
	refused = false;
	early = 0;
	later = 0;
}

unsigned
inject_early(void)
{
	return early;
}

unsigned
inject_later(void)
{
	return later;
}

static void
gave(enum inject_kind kind)
{
	live[kind]--;
	early += refused;
}

const char *
inject_fired(void)
{
	return fired;
}

long
inject_live(enum inject_kind kind)
{
	return live[kind];
}

const char *
inject_kind_name(enum inject_kind kind)
{
	static const char *const names[] = {"heap blocks", "mappings", "file descriptors", "umems",
		"memory regions", "DevX objects", "doorbell pages", "event channels",
		"protection domains", "contexts", "device lists", "flows", "probed devices",
		"mempools", "mapped queues"};

	return names[kind];
}

/* True when this call is the one to fail; errno is then set. */
bool inject_fails(const char *name, int code);
bool
inject_fails(const char *name, int code)
{
	later += fired != NULL;
	if (armed == 0 || --armed > 0)
		return false;
	fired = name;
	errno = code;
	return true;
}

bool inject_release_fails(const char *name);
bool
inject_release_fails(const char *name)
{
	if (armed_release == 0 || --armed_release > 0)
		return false;
	fired = name;
	refused = true;
	errno = EBUSY;
	return true;
}

void inject_count(enum inject_kind kind, long n);
void
inject_count(enum inject_kind kind, long n)
{
	live[kind] += n;
}

/* REAL(type, name, args): the call behind the wrapper. */
#define REAL(type, name, ...)                                                                      \
	type __real_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__);                                                           \
	type __wrap_##name(__VA_ARGS__)

/* A call that makes a thing and returns a pointer to it. */
#define MAKER(type, name, kind, code, params, args)                                                \
	type __real_##name params;                                                                 \
	type __wrap_##name params;                                                                 \
	type __wrap_##name params                                                                  \
	{                                                                                          \
		type p;                                                                            \
                                                                                                   \
		if (inject_fails(#name, code))                                                     \
			return NULL;                                                               \
		p = __real_##name args;                                                            \
		live[kind] += p != NULL;                                                           \
		return p;                                                                          \
	}

/* A call that gives a thing back and can be refused with an errno. */
#define GIVER(name, kind, params, args)                                                            \
	int __real_##name params;                                                                  \
	int __wrap_##name params;                                                                  \
	int __wrap_##name params                                                                   \
	{                                                                                          \
		int ret;                                                                           \
                                                                                                   \
		if (inject_release_fails(#name))                                                   \
			return EBUSY;                                                              \
		ret = __real_##name args;                                                          \
		if (ret == 0)                                                                      \
			gave(kind);                                                                \
		return ret;                                                                        \
	}

/* A call that makes nothing and returns an errno. */
#define ASKER(name, code, params, args)                                                            \
	int __real_##name params;                                                                  \
	int __wrap_##name params;                                                                  \
	int __wrap_##name params                                                                   \
	{                                                                                          \
		return inject_fails(#name, code) ? code : __real_##name args;                      \
	}

/* clang-format off */
MAKER(void *, malloc, LIVE_MALLOC, ENOMEM, (size_t n), (n))
MAKER(void *, calloc, LIVE_MALLOC, ENOMEM, (size_t n, size_t size), (n, size))
MAKER(struct ibv_device **, ibv_get_device_list, LIVE_LIST, ENOMEM, (int *n), (n))
MAKER(struct ibv_context *, mlx5dv_open_device, LIVE_CONTEXT, EACCES,
      (struct ibv_device *d, struct mlx5dv_context_attr *a), (d, a))
MAKER(struct ibv_pd *, ibv_alloc_pd, LIVE_PD, ENOMEM, (struct ibv_context *c), (c))
MAKER(struct mlx5dv_devx_obj *, mlx5dv_devx_obj_create, LIVE_OBJ, EINVAL,
      (struct ibv_context *c, const void *in, size_t il, void *out, size_t ol),
      (c, in, il, out, ol))
MAKER(struct mlx5dv_devx_umem *, mlx5dv_devx_umem_reg_ex, LIVE_UMEM, EFAULT,
      (struct ibv_context *c, struct mlx5dv_devx_umem_in *in), (c, in))
MAKER(struct mlx5dv_devx_event_channel *, mlx5dv_devx_create_event_channel, LIVE_CHANNEL, ENOMEM,
      (struct ibv_context *c, enum mlx5dv_devx_create_event_channel_flags f), (c, f))
MAKER(struct ibv_mr *, ibv_reg_mr_iova, LIVE_MR, EFAULT,
      (struct ibv_pd *pd, void *a, size_t n, uint64_t iova, int access), (pd, a, n, iova, access))

GIVER(mlx5dv_devx_obj_destroy, LIVE_OBJ, (struct mlx5dv_devx_obj *o), (o))
GIVER(ibv_dereg_mr, LIVE_MR, (struct ibv_mr *mr), (mr))

ASKER(mlx5dv_init_obj, EINVAL, (struct mlx5dv_obj *o, uint64_t type), (o, type))
ASKER(mlx5dv_devx_query_eqn, EIO, (struct ibv_context *c, uint32_t v, uint32_t *eqn), (c, v, eqn))
ASKER(mlx5dv_devx_general_cmd, EINVAL,
      (struct ibv_context *c, const void *in, size_t il, void *out, size_t ol),
      (c, in, il, out, ol))
ASKER(mlx5dv_devx_obj_modify, EINVAL,
      (struct mlx5dv_devx_obj *o, const void *in, size_t il, void *out, size_t ol),
      (o, in, il, out, ol))
ASKER(mlx5dv_devx_obj_query, EINVAL,
      (struct mlx5dv_devx_obj *o, const void *in, size_t il, void *out, size_t ol),
      (o, in, il, out, ol))
ASKER(mlx5dv_devx_subscribe_devx_event, ENOMEM,
      (struct mlx5dv_devx_event_channel *ch, struct mlx5dv_devx_obj *o, uint16_t n,
       uint16_t *types, uint64_t cookie),
      (ch, o, n, types, cookie))
/* clang-format on */

REAL(struct mlx5dv_devx_uar *, mlx5dv_devx_alloc_uar, struct ibv_context *c, uint32_t flags)
{
	struct mlx5dv_devx_uar *u;

	if (inject_fails("mlx5dv_devx_alloc_uar", ENOMEM))
		return NULL;
	u = __real_mlx5dv_devx_alloc_uar(c, flags);
	live[LIVE_UAR] += u != NULL;
	return u;
}

REAL(void, mlx5dv_devx_free_uar, struct mlx5dv_devx_uar *u)
{
	gave(LIVE_UAR);
	__real_mlx5dv_devx_free_uar(u);
}

REAL(void, free, void *p)
{
	live[LIVE_MALLOC] -= p != NULL;
	__real_free(p);
}

REAL(void, ibv_free_device_list, struct ibv_device **l)
{
	live[LIVE_LIST]--;
	__real_ibv_free_device_list(l);
}

REAL(int, mlx5dv_devx_umem_dereg, struct mlx5dv_devx_umem *u)
{
	gave(LIVE_UMEM);
	return __real_mlx5dv_devx_umem_dereg(u);
}

REAL(void, mlx5dv_devx_destroy_event_channel, struct mlx5dv_devx_event_channel *c)
{
	gave(LIVE_CHANNEL);
	__real_mlx5dv_devx_destroy_event_channel(c);
}

REAL(int, ibv_dealloc_pd, struct ibv_pd *pd)
{
	gave(LIVE_PD);
	return __real_ibv_dealloc_pd(pd);
}

REAL(int, ibv_close_device, struct ibv_context *c)
{
	gave(LIVE_CONTEXT);
	return __real_ibv_close_device(c);
}

/* Large file offsets are on in every build, so that these are the names the driver's objects have.
 */
REAL(void *, mmap64, void *a, size_t n, int prot, int flags, int fd, off_t off)
{
	void *p;

	if (inject_fails("mmap64", ENOMEM))
		return MAP_FAILED;
	p = __real_mmap64(a, n, prot, flags, fd, off);
	live[LIVE_MAPPING] += p != MAP_FAILED;
	return p;
}

REAL(int, munmap, void *a, size_t n)
{
	gave(LIVE_MAPPING);
	return __real_munmap(a, n);
}

REAL(long, mbind, void *a, unsigned long n, int mode, const unsigned long *mask, unsigned long max,
	unsigned flags)
{
	return inject_fails("mbind", EINVAL) ? -1 : __real_mbind(a, n, mode, mask, max, flags);
}

REAL(int, epoll_create1, int flags)
{
	int fd;

	if (inject_fails("epoll_create1", EMFILE))
		return -1;
	fd = __real_epoll_create1(flags);
	live[LIVE_FD] += fd >= 0;
	return fd;
}

REAL(int, epoll_ctl, int ep, int op, int fd, struct epoll_event *ev)
{
	return inject_fails("epoll_ctl", ENOSPC) ? -1 : __real_epoll_ctl(ep, op, fd, ev);
}

REAL(int, close, int fd)
{
	live[LIVE_FD]--;
	return __real_close(fd);
}

int __real_fcntl64(int fd, int cmd, ...);
int __wrap_fcntl64(int fd, int cmd, ...);
int
__wrap_fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	long arg;

	if (inject_fails("fcntl64", EMFILE))
		return -1;
	va_start(ap, cmd);
	arg = va_arg(ap, long);
	va_end(ap);
	fd = __real_fcntl64(fd, cmd, arg);
	live[LIVE_FD] += cmd == F_DUPFD_CLOEXEC && fd >= 0;
	return fd;
}
