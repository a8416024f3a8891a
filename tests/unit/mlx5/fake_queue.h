/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The rest of what a queue is made of, after fake_devx.h: doorbell pages, keys, and memory that
 * writes its calls down. To be included by one file of a
 * test. One thread.
 */
#ifndef CRL_TEST_FAKE_QUEUE_H
#define CRL_TEST_FAKE_QUEUE_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fake_devx.h"
#include "heap.h"

#define DEV_SHIFT (1ull << 40) /* from an address to the "GPU's" */

/* One page for each that is asked for; of the shared kind there is one in all. */
static uint8_t uar_page[4][4096];
static unsigned uar_refuse; /* a bit a kind that does not exist: 1 << enum crl_uar */
static int uar_shared_users;

struct mlx5dv_devx_uar *__wrap_mlx5dv_devx_alloc_uar(struct ibv_context *c, uint32_t flags);
struct mlx5dv_devx_uar *
__wrap_mlx5dv_devx_alloc_uar(struct ibv_context *c, uint32_t flags)
{
	const enum crl_uar kind = flags == 1u << 31		      ? CRL_UAR_NC_DEDICATED
				  : flags == MLX5DV_UAR_ALLOC_TYPE_BF ? CRL_UAR_BF
				  : flags == MLX5DV_UAR_ALLOC_TYPE_NC ? CRL_UAR_NC_SHARED
								      : CRL_UAR_ANY;
	static const char *const names[] = {"?", "own-nc", "bf", "nc"};
	static struct mlx5dv_devx_uar shared;
	struct fake_thing *t;

	(void)c;
	fake_note("uar-%s ", names[kind]);
	if (uar_refuse & 1u << kind) {
		errno = EOPNOTSUPP;
		return NULL;
	}
	if (fake_fails())
		return NULL;
	if (kind == CRL_UAR_NC_SHARED) {
		uar_shared_users++;
		shared.base_addr = uar_page[3];
		shared.reg_addr = uar_page[3] + 0x800;
		shared.page_id = 99;
		return &shared;
	}
	t = fake_make("uar");
	t->u.uar.base_addr = uar_page[fx.nr % 3];
	t->u.uar.reg_addr = uar_page[fx.nr % 3] + 0x800;
	t->u.uar.page_id = fake_number(fx.nr - 1);
	return &t->u.uar;
}

void __wrap_mlx5dv_devx_free_uar(struct mlx5dv_devx_uar *u);
void
__wrap_mlx5dv_devx_free_uar(struct mlx5dv_devx_uar *u)
{
	fake_note("-uar ");
	if (u->page_id == 99)
		uar_shared_users--;
	else
		fake_give(u, "uar");
}

int __wrap_mlx5dv_devx_subscribe_devx_event(struct mlx5dv_devx_event_channel *c,
	struct mlx5dv_devx_obj *o, uint16_t bytes, uint16_t types[], uint64_t cookie);
int
__wrap_mlx5dv_devx_subscribe_devx_event(struct mlx5dv_devx_event_channel *c,
	struct mlx5dv_devx_obj *o, uint16_t bytes, uint16_t types[], uint64_t cookie)
{
	(void)c;
	(void)bytes;
	(void)types;
	(void)cookie;
	fake_note("events-%s ", ((struct fake_thing *)o)->what);
	return fake_fails() ? fake_code() : 0;
}

static struct {
	const void *addr;
	size_t bytes;
	uint64_t iova, offset;
	int access, fd;
} mr_asked;

static struct ibv_mr *
fake_mr(void)
{
	struct fake_thing *t;

	if (fake_fails())
		return NULL;
	t = fake_make("mr");
	t->u.mr.lkey = fake_number(fx.nr - 1);
	return &t->u.mr;
}

struct ibv_mr *__wrap_ibv_reg_mr_iova(
	struct ibv_pd *pd, void *addr, size_t bytes, uint64_t iova, int access);
struct ibv_mr *
__wrap_ibv_reg_mr_iova(struct ibv_pd *pd, void *addr, size_t bytes, uint64_t iova, int access)
{
	(void)pd;
	fake_note("mr ");
	mr_asked.addr = addr;
	mr_asked.bytes = bytes;
	mr_asked.iova = iova;
	mr_asked.access = access;
	mr_asked.fd = -1;
	return fake_mr();
}

struct ibv_mr *__wrap_ibv_reg_dmabuf_mr(
	struct ibv_pd *pd, uint64_t offset, size_t bytes, uint64_t iova, int fd, int access);
struct ibv_mr *
__wrap_ibv_reg_dmabuf_mr(
	struct ibv_pd *pd, uint64_t offset, size_t bytes, uint64_t iova, int fd, int access)
{
	(void)pd;
	fake_note("mr-dmabuf ");
	mr_asked.offset = offset;
	mr_asked.bytes = bytes;
	mr_asked.iova = iova;
	mr_asked.access = access;
	mr_asked.fd = fd;
	assert_true(fcntl(fd, F_GETFD) >= 0);
	return fake_mr();
}

int __wrap_ibv_dereg_mr(struct ibv_mr *mr);
int
__wrap_ibv_dereg_mr(struct ibv_mr *mr)
{
	fake_note("-mr ");
	if (fake_refuses())
		return fake_code();
	fake_give(mr, "mr");
	return 0;
}

/* Memory by name; what lives of it is counted. */
struct fake_mem {
	const char *name;
	size_t bytes, align; /* of the last that was taken */
	uint8_t litter;	     /* what it is full of when it is taken */
	uint8_t *addr;
	int live, host, mmio;
	int fd; /* of its last dma-buf */
};

static struct crl_err fake_words; /* what memory says of its last failure */

static int
fake_mem_failed(void)
{
	return crl_err_set(&fake_words, -errno, "ask memory", "ask again", "it says no");
}

static int
fake_alloc(void *arg, size_t bytes, size_t align, void **addr)
{
	struct fake_mem *m = arg;

	fake_note("alloc-%s ", m->name);
	if (fake_fails())
		return fake_mem_failed();
	assert_int_equal(bytes % align, 0);
	m->addr = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	assert_true(m->addr != MAP_FAILED);
	memset(m->addr, m->litter, bytes);
	m->bytes = bytes;
	m->align = align;
	m->live++;
	*addr = m->addr;
	return 0;
}

static void
fake_free(void *arg, void *addr, size_t bytes)
{
	struct fake_mem *m = arg;

	fake_note("-%s ", m->name);
	m->live--;
	munmap(addr, bytes);
}

static int
fake_write(void *arg, void *dst, const void *src, size_t bytes)
{
	struct fake_mem *m = arg;

	fake_note("write-%s ", m->name);
	if (fake_fails())
		return fake_mem_failed();
	memcpy(dst, src, bytes);
	return 0;
}

static int
fake_dmabuf(void *arg, void *addr, size_t bytes, uint64_t *offset)
{
	struct fake_mem *m = arg;

	(void)addr;
	(void)bytes;
	fake_note("dmabuf-%s ", m->name);
	if (fake_fails())
		return fake_mem_failed();
	*offset = 0x7000;
	m->fd = memfd_create("dmabuf", MFD_CLOEXEC);
	return m->fd;
}

static int
fake_map(struct fake_mem *m, const char *what, int *count, void *addr, void **dev)
{
	fake_note("%s-%s ", what, m->name);
	if (fake_fails())
		return fake_mem_failed();
	++*count;
	*dev = (void *)((uintptr_t)addr + DEV_SHIFT);
	return 0;
}

static int
fake_map_host(void *arg, void *addr, size_t bytes, void **dev)
{
	struct fake_mem *m = arg;

	assert_int_equal(bytes, 4096);
	return fake_map(m, "host", &m->host, addr, dev);
}

static int
fake_map_mmio(void *arg, void *addr, size_t bytes, void **dev)
{
	struct fake_mem *m = arg;

	assert_int_equal(bytes, CRL_UAR_BYTES);
	return fake_map(m, "mmio", &m->mmio, addr, dev);
}

static void
fake_unmap_host(void *arg, void *addr)
{
	struct fake_mem *m = arg;

	(void)addr;
	fake_note("-host-%s ", m->name);
	m->host--;
}

static void
fake_unmap_mmio(void *arg, void *addr)
{
	struct fake_mem *m = arg;

	(void)addr;
	fake_note("-mmio-%s ", m->name);
	m->mmio--;
}

static void
fake_why(void *arg, struct crl_err *why)
{
	(void)arg;
	*why = fake_words;
}

/* With every function there is, as a GPU's memory has. */
static struct crl_mem
fake_memory(struct fake_mem *m)
{
	m->live = m->host = m->mmio = 0;
	return (struct crl_mem){.size = sizeof(struct crl_mem),
		.place = CRL_PLACE_HOST,
		.name = m->name,
		.arg = m,
		.alloc = fake_alloc,
		.free = fake_free,
		.write = fake_write,
		.dmabuf = fake_dmabuf,
		.map_host = fake_map_host,
		.unmap_host = fake_unmap_host,
		.map_mmio = fake_map_mmio,
		.unmap_mmio = fake_unmap_mmio,
		.why = fake_why};
}

/* Reached by address, as a host's. */
static struct crl_mem __attribute__((unused)) fake_plain(struct fake_mem *m)
{
	struct crl_mem mem = fake_memory(m);

	mem.write = NULL;
	mem.dmabuf = NULL;
	mem.map_host = mem.map_mmio = NULL;
	mem.unmap_host = mem.unmap_mmio = NULL;
	return mem;
}

#endif /* CRL_TEST_FAKE_QUEUE_H */
