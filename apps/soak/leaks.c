// SPDX-License-Identifier: BSD-3-Clause
/*
 * What this process holds: descriptors, mappings, threads, heap, huge pages, DPDK's memory and
 * mbufs, and the objects that the software ConnectX keeps for it. Counted where it is all one's
 * own to count, in /proc and by the libraries' own figures. Main thread.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <rte_malloc.h>
#include <rte_mempool.h>

#include "soak.h"

/* Libraries' tables double now and then, pages come and go: whatever repeats outgrows this. */
#define RSS_SLACK_KB	 512
#define HEAP_SLACK_BYTES 16384
#define LEAK_BYTES	 100000

static long
entries(const char *folder)
{
	DIR *d = opendir(folder);
	long n = 0;

	while (d != NULL && readdir(d) != NULL)
		n++;
	if (d != NULL)
		closedir(d);
	return n;
}

static long
lines(const char *file)
{
	FILE *f = fopen(file, "r");
	long n = 0;
	int c;

	while (f != NULL && (c = getc(f)) != EOF)
		n += c == '\n';
	if (f != NULL)
		fclose(f);
	return n;
}

/* Kilobytes of all lines that begin with name. */
static long
rollup(const char *name)
{
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	long sum = 0, v;
	char line[256];

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (strncmp(line, name, strlen(name)) == 0 &&
			sscanf(line + strlen(name), "%ld", &v) == 1)
			sum += v;
	if (f != NULL)
		fclose(f);
	return sum;
}

/*
 * Kilobytes in memory, but for doorbell pages, which alone are write-only: libmlx5 keeps those that
 * it ever had until the device closes and hands them out in turn, so that on a software ConnectX
 * one more of them is touched by each queue. As mappings they are counted.
 */
static long
resident_kb(void)
{
	FILE *f = fopen("/proc/self/smaps", "r");
	bool counts = false;
	char line[512], perm[5];
	long sum = 0, v;

	while (f != NULL && fgets(line, sizeof(line), f) != NULL)
		if (sscanf(line, "%*x-%*x %4s", perm) == 1)
			counts = strcmp(perm, "-w-s") != 0;
		else if (counts && sscanf(line, "Rss: %ld", &v) == 1)
			sum += v;
	if (f != NULL)
		fclose(f);
	return sum;
}

static void
count_pool(struct rte_mempool *mp, void *arg)
{
	struct soak_leaks *l = arg;

	l->mempools++;
	l->mbufs_out += rte_mempool_in_use_count(mp);
}

static long
eal_bytes(void)
{
	struct rte_malloc_socket_stats st;
	long sum = 0;

	for (int i = 0; i < RTE_MAX_NUMA_NODES; i++)
		if (rte_malloc_get_socket_stats(i, &st) == 0)
			sum += (long)st.heap_allocsz_bytes;
	return sum;
}

/*
 * malloc counts what its threads keep for themselves as used. Without that its count is exact; it
 * can be had only before a program starts.
 */
void
soak_leaks_begin(char **argv)
{
	static const char key[] = "GLIBC_TUNABLES", value[] = "glibc.malloc.tcache_count=0";

	if (getenv(key) == NULL && setenv(key, value, 1) == 0)
		execv("/proc/self/exe", argv); /* when it fails the counts are a bit larger */
}

void
soak_leaks_count(struct soak_leaks *l)
{
	struct mallinfo2 heap = mallinfo2();
	unsigned (*objects)(void);

	memset(l, 0, sizeof(*l));
	l->heap_bytes = (long)(heap.uordblks + heap.hblkhd);
	l->fds = entries("/proc/self/fd");
	l->threads = entries("/proc/self/task");
	l->maps = lines("/proc/self/maps");
	l->rss_kb = resident_kb();
	l->huge_kb = rollup("Private_Hugetlb:") + rollup("Shared_Hugetlb:");
	rte_mempool_walk(count_pool, l);
	l->eal_bytes = eal_bytes();
	/* There on a software ConnectX alone: a card does not say what it keeps. */
	*(void **)&objects = dlsym(RTLD_DEFAULT, "softcx_objects");
	l->objects = objects != NULL ? (long)objects() : -1;
}

uint64_t
soak_leaks_compare(const struct soak_leaks *from, const struct soak_leaks *to)
{
	const struct {
		const char *what;
		long from, to, slack;
	} rows[] = {
		{"descriptors", from->fds, to->fds, 0},
		{"mappings", from->maps, to->maps, 0},
		{"threads", from->threads, to->threads, 0},
		{"bytes of heap", from->heap_bytes, to->heap_bytes, HEAP_SLACK_BYTES},
		{"kB resident", from->rss_kb, to->rss_kb, RSS_SLACK_KB},
		{"kB of huge pages", from->huge_kb, to->huge_kb, 0},
		{"mempools", from->mempools, to->mempools, 0},
		{"mbufs in use", from->mbufs_out, to->mbufs_out, 0},
		{"bytes of EAL's heap", from->eal_bytes, to->eal_bytes, 0},
		{"objects in the NIC", from->objects, to->objects, 0},
	};
	uint64_t leaked = 0;

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].to <= rows[i].from + rows[i].slack)
			continue;
		fprintf(stderr, "carillon-soak: %ld %s, there were %ld\n", rows[i].to, rows[i].what,
			rows[i].from);
		leaked++;
	}
	return leaked;
}

static void *
sleeper(void *arg)
{
	(void)arg;
	for (;;) /* forever: the thread that is left behind on purpose */
		pause();
	return NULL;
}

void
soak_leak(struct soak *s, const char *what)
{
	struct crl_region_cfg cfg = {.size = sizeof(cfg), .flags = CRL_REGION_ALLOC, .bytes = 4096};
	struct crl_region *region;
	pthread_t thread;

	if (strcmp(what, "fd") == 0)
		(void)!open("/dev/null", O_RDONLY);
	else if (strcmp(what, "map") == 0)
		s->kept = mmap(NULL, 4096, PROT_READ, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	else if (strcmp(what, "heap") == 0)
		s->kept = malloc(LEAK_BYTES);
	else if (strcmp(what, "thread") == 0)
		pthread_create(&thread, NULL, sleeper, NULL);
	else if (strcmp(what, "object") == 0)
		crl_region_reg(crl_eal_ctx(s->eal, 0), &cfg, &region, NULL);
}
