// SPDX-License-Identifier: BSD-3-Clause
/*
 * dma-buf export of drivers/gpu: what is refused and why, what a software ConnectX is told, and
 * that a GPU that does not order a NIC's writes is not used as if it did.
 */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "drivers/softcx/dmabuf_registry.h"
#include "gpu_test.h"

static char page[4096] __attribute__((aligned(4096)));

/* The software ConnectX's registry, as libsoftcx.so would have it. */
static struct {
	int fail, fd;
	void *addr;
	size_t bytes;
} published = {.fd = -1};

int
softcx_dmabuf_add(int fd, void *addr, size_t bytes)
{
	if (published.fail != 0)
		return published.fail;
	published.fd = fd;
	published.addr = addr;
	published.bytes = bytes;
	return 0;
}

void
softcx_dmabuf_del(int fd)
{
	assert_int_equal(fd, published.fd);
	published.fd = -1;
}

static void
dmabuf(void **state)
{
	struct crl_gpu *g = open_kind("g", CRL_GPU_CUDA);
	struct crl_err err = {0};
	uint64_t offset = 99;
	struct stat s1, s2;
	int fd, again;
	char *p;

	assert_int_equal(crl_gpu_mem_alloc(g, 8192, 0, (void **)&p, NULL), 0);
	assert_int_equal(crl_gpu_mem_dmabuf(g, p + 4096, 4096, 0, &fd, &offset, &err), 0);
	assert_int_equal(offset, 4096);
	assert_int_equal(crl_gpu_mem_dmabuf(g, p, 1, 0, &again, &offset, &err), 0);
	assert_int_equal(offset, 0);
	assert_int_equal(again, fd); /* one export an allocation */
	assert_int_equal(published.fd, fd);
	assert_ptr_equal(published.addr, p);
	assert_int_equal(published.bytes, 8192);
	assert_int_equal(fstat(fd, &s1), 0);
	assert_int_equal(crl_gpu_mem_dmabuf(g, p + 4096, 4097, 0, &fd, &offset, &err), -ERANGE);
	assert_int_equal(crl_gpu_mem_dmabuf(g, page, 1, 0, &fd, &offset, &err), -EPERM);
	assert_int_equal(crl_gpu_mem_free(g, p), 0);
	assert_int_equal(published.fd, -1);
	assert_true(fstat(again, &s2) != 0 || s2.st_ino != s1.st_ino); /* closed with the memory */
	assert_int_equal(crl_gpu_close(g, NULL), 0);

	g = open_kind("h", CRL_GPU_HOST);
	assert_int_equal(crl_gpu_mem_alloc(g, 8192, 0, (void **)&p, NULL), 0);
	assert_int_equal(crl_gpu_mem_dmabuf(g, p, 1, 0, &fd, &offset, &err), -ENOTSUP);
	assert_int_equal(crl_gpu_mem_free(g, p), 0);
	assert_int_equal(crl_gpu_close(g, NULL), 0);
}

/* A software ConnectX that does not take the dma-buf, and one that could not read it. */
static void
dmabuf_refused(void **state)
{
	struct crl_gpu *g = open_kind("g", CRL_GPU_CUDA);
	struct crl_err err = {0};
	uint64_t offset;
	int fd, before;
	char *p;

	assert_int_equal(crl_gpu_mem_alloc(g, 4096, 0, (void **)&p, NULL), 0);
	published.fail = -ENOSPC;
	before = dup(0);
	close(before);
	assert_int_equal(crl_gpu_mem_dmabuf(g, p, 1, 0, &fd, &offset, &err), -ENOSPC);
	fd = dup(0);
	close(fd);
	assert_int_equal(fd, before); /* no descriptor was left open */
	published.fail = 0;
	assert_int_equal(mprotect(p, 4096, PROT_NONE), 0);
	assert_int_equal(crl_gpu_mem_dmabuf(g, p, 1, 0, &fd, &offset, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.cause, "software ConnectX"));
	assert_int_equal(published.fd, -1);
	assert_int_equal(crl_gpu_mem_free(g, p), 0);
	assert_int_equal(crl_gpu_close(g, NULL), 0);
}

static void
write_ordering(void **state)
{
	struct crl_err err = {0};
	struct crl_gpu *g;
	uint64_t offset;
	void *p;
	int fd;

	fake_cuda()->ordering = 0;
	g = open_kind("g", CRL_GPU_CUDA);
	assert_int_equal(crl_gpu_mem_alloc(g, 64, 0, &p, NULL), 0);
	assert_int_equal(crl_gpu_mem_dmabuf(g, p, 64, 0, &fd, &offset, &err), -EOPNOTSUPP);
	assert_non_null(strstr(err.cause, "before its payload"));
	assert_int_equal(crl_gpu_mem_dmabuf(g, p, 64, CRL_GPU_I_FLUSH, &fd, &offset, &err), 0);
	assert_int_equal(crl_gpu_flush(g), 0);
	assert_int_equal(fake_cuda()->flushes, 1);
	assert_int_equal(crl_gpu_mem_free(g, p), 0);
	assert_int_equal(crl_gpu_close(g, NULL), 0);

	fake_cuda()->flush = 0;
	g = open_kind("g", CRL_GPU_CUDA);
	assert_int_equal(crl_gpu_mem_alloc(g, 64, 0, &p, NULL), 0);
	assert_int_equal(
		crl_gpu_mem_dmabuf(g, p, 64, CRL_GPU_I_FLUSH, &fd, &offset, &err), -EOPNOTSUPP);
	assert_int_equal(crl_gpu_flush(g), -ENOTSUP);
	assert_int_equal(crl_gpu_mem_free(g, p), 0);
	assert_int_equal(crl_gpu_close(g, NULL), 0);

	fake_cuda()->ordering = 100;
	g = open_kind("g", CRL_GPU_CUDA);
	assert_int_equal(crl_gpu_flush(g), 0);
	assert_int_equal(fake_cuda()->flushes, 1); /* ordered: nothing to do */
	assert_int_equal(crl_gpu_close(g, NULL), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		T(dmabuf),
		T(dmabuf_refused),
		T(write_ordering),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
