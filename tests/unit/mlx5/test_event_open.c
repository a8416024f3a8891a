/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Opening and closing the event sources of a context, call by call: the linker sends event.c's
 * calls here, where each is written down and any of them can fail. What is undone, and in which
 * order, is read from the list.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>

#include <cmocka.h>

#include "drivers/mlx5/internal.h"

#define ASYNC_FD   7
#define CHANNEL_FD 9

static struct ibv_context ibv = {.async_fd = ASYNC_FD};
static struct mlx5dv_devx_event_channel channel = {.fd = CHANNEL_FD};
static struct crl_ctx ctx;
static struct crl_err err;

static char list[512];
static size_t listed;
static unsigned calls, fail_at;
static int fail_with, epoll_fd, flags_before;

/* Writes the call down; true when it is the one that fails. */
static bool __attribute__((format(printf, 1, 2))) called(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	listed += (size_t)vsnprintf(list + listed, sizeof(list) - listed, fmt, ap);
	va_end(ap);
	if (++calls != fail_at)
		return false;
	if (fail_with != 0)
		errno = fail_with;
	return true;
}

int __wrap_epoll_create1(int flags);
int
__wrap_epoll_create1(int flags)
{
	return called("create %s;", flags == EPOLL_CLOEXEC ? "cloexec" : "?") ? -1 : epoll_fd;
}

int __wrap_fcntl64(int fd, int cmd, ...);
int
__wrap_fcntl64(int fd, int cmd, ...)
{
	va_list ap;
	int arg;

	if (cmd == F_GETFL)
		return called(" getfl %d;", fd) ? -1 : flags_before;
	assert_int_equal(cmd, F_SETFL);
	va_start(ap, cmd);
	arg = va_arg(ap, int);
	va_end(ap);
	assert_int_equal(arg, flags_before | O_NONBLOCK);
	return called(" setfl %d;", fd) ? -1 : 0;
}

int __wrap_epoll_ctl(int ep, int op, int fd, struct epoll_event *ev);
int
__wrap_epoll_ctl(int ep, int op, int fd, struct epoll_event *ev)
{
	assert_int_equal(op, EPOLL_CTL_ADD);
	assert_int_equal(ev->events, EPOLLIN);
	return called(" add %d to %d;", fd, ep) ? -1 : 0;
}

struct mlx5dv_devx_event_channel *__wrap_mlx5dv_devx_create_event_channel(
	struct ibv_context *c, enum mlx5dv_devx_create_event_channel_flags flags);
struct mlx5dv_devx_event_channel *
__wrap_mlx5dv_devx_create_event_channel(
	struct ibv_context *c, enum mlx5dv_devx_create_event_channel_flags flags)
{
	assert_ptr_equal(c, &ibv);
	assert_int_equal(flags, 0);
	return called(" channel;") ? NULL : &channel;
}

void __wrap_mlx5dv_devx_destroy_event_channel(struct mlx5dv_devx_event_channel *c);
void
__wrap_mlx5dv_devx_destroy_event_channel(struct mlx5dv_devx_event_channel *c)
{
	assert_ptr_equal(c, &channel);
	called(" destroy;");
}

int __wrap_close(int fd);
int
__wrap_close(int fd)
{
	called(" close %d;", fd);
	return 0;
}

static int
start(void **state)
{
	fail_at = 0;
	fail_with = ENOSPC;
	epoll_fd = 5;
	flags_before = O_RDWR;
	return 0;
}

static int
open_events(void)
{
	memset(&ctx, 0, sizeof(ctx));
	memset(&err, 0, sizeof(err));
	ctx.ibv = &ibv;
	ctx.info.events = 2; /* neither of the two that it becomes */
	listed = 0;
	list[0] = '\0';
	calls = 0;
	return crl_events_open(&ctx, &err);
}

#define ALL "create cloexec; getfl 7; setfl 7; add 7 to 5; channel; getfl 9; setfl 9; add 9 to 5;"

static void
opened(void **state)
{
	for (flags_before = O_RDONLY; flags_before <= O_RDWR; flags_before++) { /* 0 is flags too */
		assert_int_equal(open_events(), 0);
		assert_string_equal(list, ALL);
		assert_int_equal(ctx.info.events, 1);
		assert_string_equal(ctx.info.events_why, "");
		assert_ptr_equal(ctx.events, &channel);
		assert_int_equal(crl_event_fd(&ctx), 5);
		crl_events_close(&ctx);
		assert_string_equal(list, ALL " destroy; close 5;");
	}
}

/* A program that closed its own descriptors gets 0. */
static void
descriptor_0(void **state)
{
	epoll_fd = 0;
	assert_int_equal(open_events(), 0);
	assert_int_equal(crl_event_fd(&ctx), 0);
}

static void
each_fails(void **state)
{
	static const struct {
		int len; /* of the calls in ALL that were made */
		const char *undone;
	} after[] = {{15, ""}, {24, " close 5;"}, {33, " close 5;"}, {45, " close 5;"},
		{54, " close 5;"}, {63, " destroy; close 5;"}, {72, " destroy; close 5;"},
		{84, " destroy; close 5;"}};
	char want[512];

	for (unsigned n = 1; n <= 8; n++) {
		fail_at = n;
		assert_int_equal(open_events(), -ENOSPC);
		assert_int_equal(err.code, -ENOSPC);
		assert_true(err.step[0] && err.cause[0] && err.fix[0]);
		snprintf(want, sizeof(want), "%.*s%s", after[n - 1].len, ALL, after[n - 1].undone);
		assert_string_equal(list, want);
	}
	fail_at = 9;
	assert_int_equal(open_events(), 0);
}

/* A kernel without DevX events: queues run, and crl_info says what is missing. */
static void
no_channel(void **state)
{
	static const int soft[] = {EOPNOTSUPP, EPROTONOSUPPORT};

	fail_at = 5;
	for (unsigned i = 0; i < 2; i++) {
		fail_with = soft[i];
		assert_int_equal(open_events(), 0);
		assert_string_equal(list, "create cloexec; getfl 7; setfl 7; add 7 to 5; channel;");
		assert_int_equal(ctx.info.events, 0);
		assert_string_equal(ctx.info.events_why, "the kernel has no DevX events");
		crl_events_close(&ctx);
		assert_string_equal(
			list, "create cloexec; getfl 7; setfl 7; add 7 to 5; channel; close 5;");
	}
	fail_with = 0; /* it fails, and does not say why */
	errno = EOPNOTSUPP;
	assert_int_equal(open_events(), -EIO);
	assert_int_equal(err.code, -EIO);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(opened, start),
		cmocka_unit_test_setup(descriptor_0, start),
		cmocka_unit_test_setup(each_fails, start),
		cmocka_unit_test_setup(no_channel, start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
