/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * gpudev.c with fake_gpu.c in the place of drivers/gpu and of DPDK's gpudev library, so that every
 * answer of theirs can be had: what is asked of them, with which arguments, what comes of each
 * failure, and that nothing stays mapped, registered or referenced.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include <rte_errno.h>

#include "fake_gpu.h"

#define LONG "a_name_of_sixty_letters_which_is_more_than_a_message_has_room"

static struct {
	struct crl_eal eal;
	struct crl_gpudev beyond; /* which looks like a free slot */
} room;
#define eal room.eal
static struct crl_err err;

static int
start(void **state)
{
	(void)state;
	memset(&room, 0, sizeof(room));
	memset(&call, 0, sizeof(call));
	memset(devs, 0, sizeof(devs));
	nr_devs = DEVS;
	for (int i = 0; i < DEVS; i++) {
		snprintf(devs[i].name, sizeof(devs[i].name), "dev%d", i);
		devs[i].known = true;
	}
	return 0;
}

static int
end(void **state)
{
	(void)state;
	room.beyond.gpu = &devs[0];
	crl_gpudev_put_all(&eal);
	for (int i = 0; i < DEVS; i++)
		assert_int_equal(devs[i].refs, 0);
	for (int i = 0; i < SLOTS; i++)
		assert_null(eal.gpudev[i].gpu);
	assert_ptr_equal(room.beyond.gpu, &devs[0]);
	assert_int_equal(call.registered, 0);
	assert_int_equal(call.uars, 0);
	return 0;
}

/* What lies on the stack where a function that leaves its own unset would find it. */
static void
litter(uint8_t byte)
{
	volatile uint8_t bytes[4096];

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = byte;
}

static void
open_mem(int16_t id, struct crl_mem *mem)
{
	memset(mem, 0xa5, sizeof(*mem));
	litter(0xa5);
	assert_int_equal(crl_mem_gpudev(&eal, id, mem, &err), 0);
}

static void
open_near(int16_t id, struct crl_mem *mem)
{
	memset(mem, 0xa5, sizeof(*mem));
	litter(0xa5);
	assert_int_equal(crl_mem_gpudev_host(&eal, id, mem, &err), 0);
}

/* Is the page at p mapped? */
static bool
mapped(void *p)
{
	unsigned char there;

	return mincore(p, 4096, &there) == 0;
}

static void
kinds(void **state)
{
	struct crl_mem mem;

	(void)state;
	for (int round = 0; round < 2; round++) { /* the second finds the slots filled */
		open_mem(1, &mem);
		assert_int_equal(mem.size, sizeof(mem));
		assert_int_equal(mem.place, CRL_PLACE_GPU);
		assert_string_equal(mem.name, "gpudev 1 (dev1)");
		assert_ptr_equal(mem.arg, &eal.gpudev[0]);
		assert_true(mem.alloc && mem.free && mem.why);
		assert_true(mem.write && mem.read && mem.dmabuf);
		assert_true(mem.map_host && mem.map_mmio && mem.unmap_host && mem.unmap_mmio);
		open_mem(2, &mem);
		assert_int_equal(mem.size, sizeof(mem));
		assert_int_equal(mem.place, CRL_PLACE_HOST);
		assert_string_equal(mem.name, "gpudev 2 (dev2, host memory)");
		assert_ptr_equal(mem.arg, &eal.gpudev[1]);
		assert_true(mem.alloc && mem.free && mem.why);
		assert_false(mem.write || mem.read || mem.dmabuf);
		assert_false(mem.map_host || mem.map_mmio || mem.unmap_host || mem.unmap_mmio);
		open_near(1, &mem);
		assert_int_equal(mem.size, sizeof(mem));
		assert_int_equal(mem.place, CRL_PLACE_HOST);
		assert_string_equal(mem.name, "host memory that dev1 reaches");
		assert_ptr_equal(mem.arg, &eal.gpudev[0]);
		assert_true(mem.alloc && mem.free && mem.why);
		assert_false(mem.write || mem.read || mem.dmabuf);
		assert_true(mem.map_host && mem.map_mmio && mem.unmap_host && mem.unmap_mmio);
		assert_int_equal(devs[1].refs, 1);
		assert_int_equal(devs[2].refs, 1);
	}
}

static void
long_names(void **state)
{
	struct crl_mem mem;

	(void)state;
	strcpy(devs[0].name, LONG);
	open_mem(0, &mem);
	assert_string_equal(
		mem.name, "gpudev 0 (a_name_of_sixty_letters_which_is_more_th, host memory)");
	open_near(0, &mem);
	assert_string_equal(
		mem.name, "host memory that a_name_of_sixty_letters_which_is_more_th reaches");
}

static void
slots(void **state)
{
	struct crl_mem mem, was = {0};

	(void)state;
	for (int16_t i = 0; i < SLOTS; i++) {
		open_mem((int16_t)(i + 1), &mem);
		assert_ptr_equal(mem.arg, &eal.gpudev[i]);
		assert_int_equal(eal.gpudev[i].dev_id, i + 1);
	}
	mem = was;
	assert_int_equal(crl_mem_gpudev(&eal, 0, &mem, &err), -ENOSPC);
	assert_string_equal(err.cause, "more than 32 gpudevs");
	assert_memory_equal(&mem, &was, sizeof(mem));
	assert_int_equal(crl_mem_gpudev_host(&eal, 0, &mem, &err), -ENOSPC);
	assert_memory_equal(&mem, &was, sizeof(mem));
	for (int16_t i = SLOTS; i > 0; i--) {
		open_mem(i, &mem);
		assert_ptr_equal(mem.arg, &eal.gpudev[i - 1]);
		assert_int_equal(devs[i].refs, 1);
	}
	assert_int_equal(devs[0].refs, 0);
	crl_gpudev_put_all(&eal);
	for (int i = 0; i < DEVS; i++)
		assert_int_equal(devs[i].refs, 0);
	open_mem(0, &mem); /* there is room again */
	assert_ptr_equal(mem.arg, &eal.gpudev[0]);
}

static void
none_of_that_number(void **state)
{
	struct crl_mem mem = {0}, was = {0};

	(void)state;
	nr_devs = 3;
	devs[1].mute = true;
	assert_int_equal(crl_mem_gpudev(&eal, 5, &mem, &err), -ENODEV);
	assert_string_equal(err.cause, "no gpudev 5; there is 0 (dev0), 2 (dev2)");
	assert_int_equal(crl_mem_gpudev_host(&eal, 5, &mem, &err), -ENODEV);
	assert_memory_equal(&mem, &was, sizeof(mem));
	nr_devs = 0;
	assert_int_equal(crl_mem_gpudev(&eal, 0, &mem, &err), -ENODEV);
	assert_string_equal(err.cause, "no gpudev 0; there is none");
	nr_devs = DEVS; /* more than there is room for */
	for (int i = 0; i < DEVS; i++)
		strcpy(devs[i].name, LONG);
	assert_int_equal(crl_mem_gpudev(&eal, -3, &mem, &err), -ENODEV);
	assert_non_null(
		strstr(err.cause, "no gpudev -3; there is 0 (" LONG "), 2 (" LONG "), 3 (a"));
}

static void
unknown_to_us(void **state)
{
	struct crl_mem mem;

	(void)state;
	devs[1].known = false;
	assert_int_equal(crl_mem_gpudev(&eal, 1, &mem, &err), -ENOTSUP);
	assert_string_equal(err.cause, "gpudev 1 (dev1) cannot export memory as a dma-buf");
	open_mem(3, &mem);
	assert_ptr_equal(mem.arg, &eal.gpudev[0]);
}

static void
alloc(void **state)
{
	struct crl_mem mem;
	void *p = NULL;

	(void)state;
	open_mem(3, &mem);
	assert_int_equal(mem.alloc(mem.arg, 12345, 4096, &p), 0);
	assert_ptr_equal(p, memory);
	assert_int_equal(call.dev_id, 3);
	assert_int_equal(call.bytes, 12345);
	assert_int_equal(call.align, 4096);
	call.dev_id = 0;
	mem.free(mem.arg, p, 12345);
	assert_int_equal(call.dev_id, 3);
	assert_ptr_equal(call.ptr, memory);
	call.ret = -1;
	call.rte_error = EPERM;
	assert_int_equal(mem.alloc(mem.arg, 1, 1, &p), -EPERM);
	call.rte_error = 0; /* it does not say why: what an older failure left is not told */
	rte_errno = EPERM;
	assert_int_equal(mem.alloc(mem.arg, 1, 1, &p), -ENOMEM);
}

static void
copies(void **state)
{
	char here[4];
	struct crl_mem mem;

	(void)state;
	open_mem(3, &mem);
	assert_int_equal(mem.write(mem.arg, memory, here, 99), 0);
	assert_ptr_equal(call.gpu, &devs[3]);
	assert_ptr_equal(call.dst, memory);
	assert_ptr_equal(call.src, here);
	assert_int_equal(call.bytes, 99);
	assert_int_equal(mem.read(mem.arg, here, memory, 98), 1000);
	assert_ptr_equal(call.dst, here);
	assert_ptr_equal(call.src, memory);
	assert_int_equal(call.bytes, 98);
	call.ret = -EIO;
	assert_int_equal(mem.write(mem.arg, memory, here, 99), -EIO);
	assert_int_equal(mem.read(mem.arg, here, memory, 98), 1000 - EIO);
}

/* The fd is the caller's own: closing it leaves drivers/gpu's open. */
static void
dmabuf(void **state)
{
	struct rlimit was, few;
	struct crl_err why = {0};
	struct crl_mem mem;
	uint64_t offset = 0;
	int fd, in;

	(void)state;
	open_mem(3, &mem);
	call.fd = memfd_create("dmabuf", 0);
	assert_true(call.fd >= 0);
	fd = mem.dmabuf(mem.arg, memory, 4096, &offset);
	assert_true(fd >= 0 && fd != call.fd);
	assert_int_equal(fcntl(fd, F_GETFD), FD_CLOEXEC);
	assert_int_equal(offset, 77);
	assert_ptr_equal(call.gpu, &devs[3]);
	assert_ptr_equal(call.src, memory);
	assert_int_equal(call.bytes, 4096);
	assert_int_equal(close(fd), 0);
	assert_true(fcntl(call.fd, F_GETFD) >= 0);
	/* It may be 0 where the program closed its standard input. */
	in = dup(0);
	close(0);
	errno = EIO;
	fd = mem.dmabuf(mem.arg, memory, 4096, &offset);
	assert_int_equal(dup2(in, 0), 0);
	assert_int_equal(fd, 0);
	close(in);
	/* No descriptor left. */
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &was), 0);
	few = was;
	few.rlim_cur = 1;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	fd = mem.dmabuf(mem.arg, memory, 4096, &offset);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &was), 0);
	assert_int_equal(fd, -EMFILE);
	call.ret = -ENOTSUP;
	assert_int_equal(mem.dmabuf(mem.arg, memory, 4096, &offset), -ENOTSUP);
	mem.why(mem.arg, &why);
	assert_int_equal(why.code, -ENOTSUP);
	assert_string_equal(why.cause, "it said -95");
	close(call.fd);
}

static void
maps(void **state)
{
	struct crl_err why = {0};
	struct crl_mem mem;
	void *dev = NULL;

	(void)state;
	open_mem(3, &mem);
	call.shift = 0x10000;
	assert_int_equal(mem.map_host(mem.arg, memory, 8192, &dev), 0);
	assert_true((uintptr_t)dev == (uintptr_t)memory + 0x10000);
	assert_ptr_equal(call.gpu, &devs[3]);
	assert_ptr_equal(call.ptr, memory);
	assert_int_equal(call.bytes, 8192);
	assert_int_equal(call.registered, 1);
	mem.unmap_host(mem.arg, memory);
	assert_int_equal(call.registered, 0);
	call.gpu = NULL;
	call.shift = 0x20000;
	assert_int_equal(mem.map_mmio(mem.arg, memory, 4096, &dev), 0);
	assert_true((uintptr_t)dev == (uintptr_t)memory + 0x20000);
	assert_ptr_equal(call.gpu, &devs[3]);
	assert_ptr_equal(call.ptr, memory);
	assert_int_equal(call.uars, 1);
	mem.unmap_mmio(mem.arg, memory);
	assert_int_equal(call.uars, 0);
	dev = memory;
	call.ret = -EEXIST;
	litter(0xa5);
	assert_int_equal(mem.map_host(mem.arg, memory, 8192, &dev), -EEXIST);
	call.ret = -EPERM;
	assert_int_equal(mem.map_mmio(mem.arg, memory, 4096, &dev), -EPERM);
	assert_ptr_equal(dev, memory);
	mem.why(mem.arg, &why);
	assert_int_equal(why.code, -EPERM);
	assert_string_equal(why.cause, "it said -1");
}

static void
near(void **state)
{
	struct crl_mem mem;
	uint8_t *p = NULL;

	(void)state;
	open_near(3, &mem);
	assert_int_equal(mem.alloc(mem.arg, 8192, 4096, (void **)&p), 0);
	assert_true(mapped(p) && mapped(p + 4096));
	assert_int_equal(p[0] | p[8191], 0);
	p[0] = p[8191] = 1;
	assert_ptr_equal(call.gpu, &devs[3]);
	assert_ptr_equal(call.ptr, p);
	assert_int_equal(call.bytes, 8192);
	assert_int_equal(call.registered, 1);
	mem.free(mem.arg, p, 8192);
	assert_false(mapped(p) || mapped(p + 4096));
	assert_int_equal(call.registered, 0);
}

static void
near_refused(void **state)
{
	struct crl_err why = {0};
	struct crl_mem mem;
	void *p = NULL;

	(void)state;
	open_near(3, &mem);
	assert_int_equal(mem.alloc(mem.arg, 16384, 8192, &p), -EINVAL);
	assert_null(call.ptr);
	assert_int_equal(mem.alloc(mem.arg, (size_t)1 << 62, 4096, &p), -ENOMEM);
	assert_null(call.ptr);
	mem.why(mem.arg, &why);
	assert_int_equal(why.code, -ENOMEM);
	assert_string_equal(why.step, "mmap");
	assert_non_null(strstr(why.cause, "4611686018427387904 bytes: Cannot allocate memory"));
	call.ret = -EPERM;
	assert_int_equal(mem.alloc(mem.arg, 8192, 4096, &p), -EPERM);
	assert_false(mapped(call.ptr));
	mem.why(mem.arg, &why);
	assert_string_equal(why.cause, "it said -1");
	call.ret = 0;
	call.shift = 0x1000; /* a kernel would name it otherwise than this processor */
	assert_int_equal(mem.alloc(mem.arg, 8192, 4096, &p), -ENOTSUP);
	assert_int_equal(call.registered, 0);
	assert_false(mapped(call.ptr));
	assert_null(p);
	mem.why(mem.arg, &why);
	assert_int_equal(why.code, -ENOTSUP);
	assert_non_null(strstr(why.cause, "gpudev 3 (dev3) sees the memory at 0x"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(kinds, start, end),
		cmocka_unit_test_setup_teardown(long_names, start, end),
		cmocka_unit_test_setup_teardown(slots, start, end),
		cmocka_unit_test_setup_teardown(none_of_that_number, start, end),
		cmocka_unit_test_setup_teardown(unknown_to_us, start, end),
		cmocka_unit_test_setup_teardown(alloc, start, end),
		cmocka_unit_test_setup_teardown(copies, start, end),
		cmocka_unit_test_setup_teardown(dmabuf, start, end),
		cmocka_unit_test_setup_teardown(maps, start, end),
		cmocka_unit_test_setup_teardown(near, start, end),
		cmocka_unit_test_setup_teardown(near_refused, start, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
