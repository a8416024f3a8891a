/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting an engine makes some calls that can fail: each is made to fail at its N-th time, for all
 * N. Start must then say so in words, leave no thread and no memory behind, and work the next time.
 * The linker puts our functions in the place of theirs (--wrap) in engine.c and run_threads.c.
 */
#include <errno.h>
#include <pthread.h>

#include "tests/unit/gpu_queues/fake_nic.h"

#include "gpu_queues/engine.h"

#define STREAMS	  4
#define CALLS_MAX 100
#define S_NS	  1000000000ull

static int calls, fail_at; /* fail_at 0: none */
static int live;	   /* allocations not freed */
static int counting;

void *__real_malloc(size_t bytes);
void *__real_calloc(size_t nr, size_t bytes);
void *__real_aligned_alloc(size_t align, size_t bytes);
void __real_free(void *p);
int __real_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);
void *__wrap_malloc(size_t bytes);
void *__wrap_calloc(size_t nr, size_t bytes);
void *__wrap_aligned_alloc(size_t align, size_t bytes);
void __wrap_free(void *p);
int __wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg);

static bool
fails(void)
{
	return counting && __sync_add_and_fetch(&calls, 1) == fail_at;
}

static void *
counted(void *p)
{
	if (counting && p)
		__sync_add_and_fetch(&live, 1);
	return p;
}

void *
__wrap_malloc(size_t bytes)
{
	return fails() ? NULL : counted(__real_malloc(bytes));
}

void *
__wrap_calloc(size_t nr, size_t bytes)
{
	return fails() ? NULL : counted(__real_calloc(nr, bytes));
}

void *
__wrap_aligned_alloc(size_t align, size_t bytes)
{
	return fails() ? NULL : counted(__real_aligned_alloc(align, bytes));
}

void
__wrap_free(void *p)
{
	if (counting && p)
		__sync_sub_and_fetch(&live, 1);
	__real_free(p);
}

int
__wrap_pthread_create(pthread_t *t, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	return fails() ? EAGAIN : __real_pthread_create(t, attr, fn, arg);
}

static int
start_and_stop(struct fake_nic *nic, struct crl_err *err)
{
	struct crl_stream_cfg s[STREAMS];
	struct crl_engine_run *run = NULL;
	struct crl_engine_cfg cfg;
	int i, rc;

	memset(&cfg, 0, sizeof(cfg));
	memset(s, 0, sizeof(s));
	for (i = 0; i < STREAMS; i++)
		s[i].rx = s[i].tx = &nic[i].q;
	cfg.size = sizeof(cfg);
	cfg.engine = crl_engine_find("io");
	cfg.streams = s;
	cfg.nr_streams = STREAMS;
	calls = live = 0;
	counting = 1;
	rc = crl_engine_start(&cfg, &run, err);
	if (rc == 0)
		assert_int_equal(crl_engine_stop(run, 10 * S_NS, err), 0);
	else
		assert_null(run);
	counting = 0;
	assert_int_equal(live, 0);
	return rc;
}

static void
each_call(void **state)
{
	static struct fake_nic nic[STREAMS];
	struct crl_err err;
	int n, i, rc;

	for (i = 0; i < STREAMS; i++)
		fake_open(&nic[i], 4, 4, 128, true);
	for (n = 1; n < CALLS_MAX; n++) {
		memset(&err, 0, sizeof(err));
		fail_at = n;
		rc = start_and_stop(nic, &err);
		if (calls < n)
			break; /* there is no n-th call */
		assert_true(rc == -ENOMEM || rc == -EAGAIN);
		assert_true(err.code == rc && err.step[0] && err.cause[0]);
		fail_at = 0;
		assert_int_equal(start_and_stop(nic, &err), 0);
	}
	assert_int_equal(rc, 0);
	assert_true(n > 2 * STREAMS && n < CALLS_MAX);
	print_message("%d calls made to fail\n", n - 1);
	for (i = 0; i < STREAMS; i++)
		fake_close(&nic[i]);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(each_call)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
