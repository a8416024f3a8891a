/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory and its registration against fake_queue.h: umem.c and mem.c, by address and by dma-buf,
 * with every failure and what it leaves: nothing, and no descriptor either.
 */
#include <numaif.h>

#include "fake_queue.h"

static struct crl_ctx ctx;
static struct crl_err err;
static struct fake_mem far = {.name = "far", .litter = 0xee};
static struct crl_mem far_mem;
static struct crl_region_cfg cfg;

/* The kernel's answers to host memory. */
static int mbind_fails, mmap_fails, numa_is, numa_max, mapped;
static unsigned long mbind_mask[16];
static size_t mbind_bytes;

void *__real_mmap64(void *a, size_t n, int prot, int flags, int fd, off_t off);
void *__wrap_mmap64(void *a, size_t n, int prot, int flags, int fd, off_t off);
void *
__wrap_mmap64(void *a, size_t n, int prot, int flags, int fd, off_t off)
{
	if (mmap_fails != 0) {
		errno = mmap_fails;
		return MAP_FAILED;
	}
	mapped++;
	return __real_mmap64(a, n, prot, flags, fd, off);
}

int __real_munmap(void *a, size_t n);
int __wrap_munmap(void *a, size_t n);
int
__wrap_munmap(void *a, size_t n)
{
	mapped--;
	return __real_munmap(a, n);
}

long __wrap_mbind(void *a, unsigned long n, int mode, const unsigned long *mask, unsigned long max,
	unsigned flags);
long
__wrap_mbind(void *a, unsigned long n, int mode, const unsigned long *mask, unsigned long max,
	unsigned flags)
{
	assert_int_equal(mode, MPOL_PREFERRED);
	assert_int_equal(max, 8 * sizeof(mbind_mask));
	assert_int_equal(flags, 0);
	assert_non_null(a);
	mbind_bytes = n;
	memcpy(mbind_mask, mask, sizeof(mbind_mask));
	errno = mbind_fails;
	return mbind_fails ? -1 : 0;
}

int __wrap_numa_available(void);
int
__wrap_numa_available(void)
{
	return numa_is;
}

int __wrap_numa_max_node(void);
int
__wrap_numa_max_node(void)
{
	return numa_max;
}

static int
start(void **state)
{
	(void)state;
	memset(&fx, 0, sizeof(fx));
	memset(&ctx, 0, sizeof(ctx));
	memset(&err, 0, sizeof(err));
	memset(&mr_asked, 0, sizeof(mr_asked));
	memset(mbind_mask, 0, sizeof(mbind_mask));
	heap_live = mapped = mbind_fails = mmap_fails = numa_is = numa_max = 0;
	mbind_bytes = 0;
	ctx.numa_node = -1;
	ctx.info.numa_node = -1;
	LIST_INIT(&ctx.queues);
	LIST_INIT(&ctx.regions);
	far_mem = fake_memory(&far);
	far_mem.place = CRL_PLACE_GPU;
	crl_mem_host_init(&ctx);
	cfg = (struct crl_region_cfg){
		.size = sizeof(cfg), .flags = CRL_REGION_ALLOC, .bytes = 5000, .mem = &far_mem};
	return 0;
}

static void
assert_clean(void)
{
	assert_int_equal(fake_live(), 0);
	assert_int_equal(heap_live, 0);
	assert_int_equal(far.live, 0);
	assert_int_equal(mapped, 0);
	assert_true(LIST_EMPTY(&ctx.regions));
}

static int
end(void **state)
{
	(void)state;
	assert_clean();
	return 0;
}

static bool
is_open(int fd)
{
	return fcntl(fd, F_GETFD) >= 0;
}

static void
by_dmabuf(void **state)
{
	struct crl_region *r;

	(void)state;
	assert_int_equal(crl_region_reg(&ctx, &cfg, &r, &err), 0);
	assert_string_equal(fx.list, "alloc-far dmabuf-far mr-dmabuf ");
	assert_int_equal(far.bytes, 65536); /* whole pages of a GPU */
	assert_int_equal(far.align, 65536);
	assert_int_equal(mr_asked.offset, 0x7000);
	assert_int_equal(mr_asked.bytes, 65536);
	assert_true(mr_asked.iova == (uintptr_t)far.addr);
	assert_int_equal(mr_asked.access, IBV_ACCESS_LOCAL_WRITE);
	assert_int_equal(mr_asked.fd, far.fd);
	assert_false(is_open(far.fd));
	assert_ptr_equal(crl_region_addr(r), far.addr);
	assert_int_equal(crl_region_bytes(r), 65536);
	assert_true(crl_region_iova(r) == (uintptr_t)far.addr);
	assert_int_equal(crl_region_lkey(r), fake_number(0));
	assert_ptr_equal(LIST_FIRST(&ctx.regions), r);
	assert_int_equal(crl_region_dereg(r, &err), 0);
	assert_string_equal(fx.list, "alloc-far dmabuf-far mr-dmabuf -mr -far ");
	assert_int_equal(crl_region_dereg(NULL, &err), 0);
}

/* The caller's own memory, under the caller's own address. */
static void
by_address(void **state)
{
	static uint8_t bytes[100];
	struct crl_region *r;

	(void)state;
	cfg.flags = 0;
	cfg.addr = bytes;
	cfg.bytes = sizeof(bytes);
	cfg.mem = NULL;
	cfg.iova = 0x123000 + ((uintptr_t)bytes + 64) % 4096;
	assert_int_equal(crl_region_reg(&ctx, &cfg, &r, &err), -EINVAL);
	assert_non_null(strstr(err.cause, "different offsets in their pages"));
	assert_string_equal(fx.list, "");
	cfg.iova = 0x123000 + (uintptr_t)bytes % 4096;
	assert_int_equal(crl_region_reg(&ctx, &cfg, &r, &err), 0);
	assert_string_equal(fx.list, "mr ");
	assert_ptr_equal(mr_asked.addr, bytes);
	assert_int_equal(mr_asked.bytes, 100);
	assert_int_equal(mr_asked.iova, cfg.iova);
	assert_int_equal(mr_asked.access, IBV_ACCESS_LOCAL_WRITE);
	assert_int_equal(crl_region_iova(r), cfg.iova);
	assert_int_equal(crl_region_bytes(r), 100);
	assert_ptr_equal(crl_region_addr(r), bytes);
	assert_int_equal(crl_region_dereg(r, &err), 0);
	assert_string_equal(fx.list, "mr -mr ");
}

static void
each_fails(void **state)
{
	static const char *const lists[] = {"alloc-far ! ", "alloc-far dmabuf-far ! -far ",
		"alloc-far dmabuf-far mr-dmabuf ! -far "};
	static const char *const words[] = {"allocate memory: 65536 bytes of far: it says no",
		"export a region as a dma-buf: 65536 bytes of far: it says no",
		"register a region: 65536 bytes of far at "};
	struct crl_region *r = NULL;
	char text[512];

	for (unsigned n = 1; n <= 3; n++) {
		start(state);
		far.fd = -1;
		fx.fail_at = n;
		fx.fail_with = ENOSPC;
		assert_int_equal(crl_region_reg(&ctx, &cfg, &r, &err), -ENOSPC);
		assert_string_equal(fx.list, lists[n - 1]);
		crl_err_str(&err, text, sizeof(text));
		assert_ptr_equal(strstr(text, words[n - 1]), text);
		assert_false(is_open(far.fd));
		assert_clean();
		assert_null(r);
	}
	assert_non_null(strstr(err.fix, "dma-bufs for regions"));
	for (unsigned dmabuf = 0; dmabuf <= 1; dmabuf++) { /* it does not say why */
		start(state);
		far_mem.dmabuf = dmabuf ? fake_dmabuf : NULL;
		fx.fail_at = 2 + dmabuf;
		errno = EPERM;
		assert_int_equal(crl_region_reg(&ctx, &cfg, &r, &err), -EIO);
		assert_non_null(strstr(err.fix, dmabuf ? "dma-bufs" : "ulimit -l"));
		assert_clean();
	}
	heap_fail_at = 1;
	assert_int_equal(crl_region_reg(&ctx, &cfg, &r, &err), -ENOMEM);
}

static void
no_region(void **state)
{
	struct crl_region *r = NULL;
	static uint8_t byte;
	const struct crl_region_cfg bad[] = {
		{.size = sizeof(cfg), .flags = CRL_REGION_ALLOC},
		{.size = sizeof(cfg), .flags = CRL_REGION_ALLOC << 1, .bytes = 1, .addr = &byte},
		{.size = sizeof(cfg), .flags = 3, .bytes = 1},
		{.size = sizeof(cfg), .bytes = 1},
		{.size = sizeof(cfg), .addr = &byte},
		{.size = sizeof(cfg) - 1, .flags = CRL_REGION_ALLOC, .bytes = 1},
	};

	(void)state;
	for (unsigned i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(crl_region_reg(&ctx, &bad[i], &r, &err), -EINVAL);
		assert_int_equal(err.code, -EINVAL);
	}
	far_mem.free = NULL;
	assert_int_equal(crl_region_reg(&ctx, &cfg, &r, &err), -EINVAL);
	assert_string_equal(err.step, "memory allocator");
	assert_string_equal(fx.list, "");
	assert_null(r);
}

/* The NIC keeps the key: told, and the region is there for another try. */
static void
kept(void **state)
{
	struct crl_region *r;

	(void)state;
	assert_int_equal(crl_region_reg(&ctx, &cfg, &r, &err), 0);
	for (unsigned negative = 0; negative <= 1; negative++) {
		fx.givers = 0;
		fx.refuse_at = 1;
		fx.negative = negative;
		assert_int_equal(crl_region_dereg(r, &err), -EBUSY);
		assert_int_equal(err.code, -EBUSY);
		assert_non_null(strstr(err.cause, "did not let go of key 0x41"));
		assert_int_equal(far.live, 1);
		assert_ptr_equal(LIST_FIRST(&ctx.regions), r);
	}
	assert_int_equal(crl_region_dereg(r, &err), 0);
}

/* Rings: as regions, with a umem in the place of a key. */
static void
umems(void **state)
{
	struct mlx5dv_devx_umem *umem = NULL;
	const struct mlx5dv_devx_umem_in *in;
	static uint8_t ring[64];

	(void)state;
	assert_int_equal(crl_umem_reg(&ctx, &far_mem, ring, 64, &umem, &err), 0);
	assert_string_equal(fx.list, "dmabuf-far umem ");
	in = &fake_thing("umem", 0)->umem_in;
	assert_int_equal((uintptr_t)in->addr, 0x7000);
	assert_int_equal(in->size, 64);
	assert_int_equal(in->dmabuf_fd, far.fd);
	assert_true(in->comp_mask == MLX5DV_UMEM_MASK_DMABUF);
	assert_false(is_open(far.fd));
	crl_umem_dereg(&umem);
	assert_null(umem);
	crl_umem_dereg(&umem); /* once more harms nothing */
	far.fd = -1;
	for (unsigned n = 1; n <= 2; n++) {
		fx.calls = 0;
		fx.fail_at = n;
		fx.fail_with = ENODEV;
		assert_int_equal(crl_umem_reg(&ctx, &far_mem, ring, 64, &umem, &err), -ENODEV);
		assert_non_null(strstr(err.cause,
			n == 1 ? "64 bytes of far: it says no" : "64 bytes of far by dma-buf: "));
		assert_false(is_open(far.fd));
	}
	assert_non_null(strstr(err.fix, "import dma-bufs for DevX"));
	far_mem.dmabuf = NULL;
	fx.calls = 0;
	fx.fail_at = 1;
	fx.fail_with = 0;
	errno = EPERM; /* of an older failure */
	assert_int_equal(crl_umem_reg(&ctx, &far_mem, ring, 64, &umem, &err), -EIO);
	assert_ptr_equal(strstr(err.cause, "64 bytes of far: "), err.cause);
	assert_non_null(strstr(err.fix, "ulimit -l"));
}

/* A program that closed its standard input: descriptor 0 is one like another. */
static void
descriptor_0(void **state)
{
	struct mlx5dv_devx_umem *umem = NULL;
	struct crl_region *r = NULL;
	int in = dup(0), ret, fd;
	bool open_after;

	(void)state;
	close(0);
	ret = crl_region_reg(&ctx, &cfg, &r, &err);
	fd = far.fd;
	open_after = is_open(0);
	dup2(in, 0);
	assert_int_equal(ret, 0);
	assert_int_equal(fd, 0);
	assert_false(open_after);
	assert_int_equal(crl_region_dereg(r, &err), 0);
	close(0);
	fx.calls = 0;
	fx.fail_at = 3;
	fx.fail_with = ENODEV;
	ret = crl_region_reg(&ctx, &cfg, &r, &err);
	fd = far.fd;
	open_after = is_open(0);
	dup2(in, 0);
	assert_int_equal(ret, -ENODEV);
	assert_int_equal(fd, 0);
	assert_false(open_after);
	assert_non_null(strstr(err.fix, "dma-bufs for regions"));
	close(0);
	fx.calls = 0;
	fx.fail_at = 2;
	ret = crl_umem_reg(&ctx, &far_mem, far.addr, 64, &umem, &err);
	fd = far.fd;
	open_after = is_open(0);
	dup2(in, 0);
	close(in);
	assert_int_equal(ret, -ENODEV);
	assert_int_equal(fd, 0);
	assert_false(open_after);
	assert_non_null(strstr(err.cause, " by dma-buf"));
	assert_non_null(strstr(err.fix, "import dma-bufs for DevX"));
}

/* Host memory: on the NIC's node where there is one, and given back where it cannot be. */
static void
host_memory(void **state)
{
	const struct crl_mem *mem = crl_mem_host(&ctx);
	uint8_t *p = NULL;

	(void)state;
	assert_int_equal(mem->alloc(mem->arg, 8192, 4096, (void **)&p), 0);
	assert_int_equal(p[0] | p[8191], 0);
	assert_int_equal(mbind_bytes, 0); /* no node is known */
	mem->free(mem->arg, p, 8192);
	assert_int_equal(mapped, 0);
	numa_max = 70;
	for (int node = 0; node <= 70; node += 35) {
		ctx.info.numa_node = node;
		crl_mem_host_init(&ctx);
		assert_int_equal(ctx.numa_node, node);
		assert_int_equal(mem->alloc(mem->arg, 8192, 4096, (void **)&p), 0);
		assert_int_equal(mbind_bytes, 8192);
		for (int i = 0; i < 16; i++)
			assert_true(mbind_mask[i] == (i == node / 64 ? 1ul << node % 64 : 0));
		mem->free(mem->arg, p, 8192);
	}
	p = NULL;
	mbind_fails = EPERM;
	assert_int_equal(mem->alloc(mem->arg, 8192, 4096, (void **)&p), -EPERM);
	assert_int_equal(mapped, 0);
	mmap_fails = EAGAIN;
	assert_int_equal(mem->alloc(mem->arg, 8192, 4096, (void **)&p), -EAGAIN);
	assert_int_equal(mem->alloc(mem->arg, 8192, 8192, (void **)&p), -EINVAL);
	assert_null(p);
}

static void
nodes(void **state)
{
	(void)state;
	ctx.info.numa_node = -1;
	crl_mem_host_init(&ctx);
	assert_int_equal(ctx.numa_node, -1);
	assert_string_equal(ctx.numa_why, "the NIC's node is not known");
	ctx.info.numa_node = 0;
	numa_is = -1;
	crl_mem_host_init(&ctx);
	assert_int_equal(ctx.numa_node, -1);
	assert_string_equal(ctx.numa_why, "the kernel has no NUMA calls");
	numa_is = 0;
	crl_mem_host_init(&ctx);
	assert_int_equal(ctx.numa_node, 0);
	ctx.info.numa_node = 1;
	crl_mem_host_init(&ctx);
	assert_int_equal(ctx.numa_node, -1);
	assert_string_equal(ctx.numa_why, "the NIC's node 1 has no memory");
}

static void
puts_and_takes(void **state)
{
	uint8_t here[8] = {1, 2, 3}, *p = NULL;

	(void)state;
	assert_int_equal(crl_mem_take(&far_mem, 65536, 65536, (void **)&p, &err), 0);
	assert_int_equal(crl_mem_put(&far_mem, p, here, 8, &err), 0);
	assert_memory_equal(p, here, 8);
	fx.calls = 0;
	fx.fail_at = 1;
	fx.fail_with = EIO;
	assert_int_equal(crl_mem_put(&far_mem, p, here, 8, &err), -EIO);
	assert_string_equal(err.cause, "copy of 8 bytes to far: it says no");
	far_mem.write = NULL;
	here[0] = 9;
	assert_int_equal(crl_mem_put(&far_mem, p, here, 8, &err), 0);
	assert_memory_equal(p, here, 8);
	crl_mem_give(&far_mem, NULL, 65536); /* nothing */
	assert_int_equal(far.live, 1);
	crl_mem_give(&far_mem, p, 65536);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(by_dmabuf, start, end),
		cmocka_unit_test_setup_teardown(by_address, start, end),
		cmocka_unit_test_setup_teardown(each_fails, start, end),
		cmocka_unit_test_setup_teardown(no_region, start, end),
		cmocka_unit_test_setup_teardown(kept, start, end),
		cmocka_unit_test_setup_teardown(umems, start, end),
		cmocka_unit_test_setup_teardown(descriptor_0, start, end),
		cmocka_unit_test_setup_teardown(host_memory, start, end),
		cmocka_unit_test_setup_teardown(nodes, start, end),
		cmocka_unit_test_setup_teardown(puts_and_takes, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
