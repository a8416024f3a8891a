/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Between carillon-bench and libcarillon_bench_cuda, which is built where there is an nvcc: plain
 * C, found with dlopen(), so that the program runs where there is no CUDA. One call measures one
 * line. Threads: one caller. Samples that a call returns are malloc()ed and the caller's to free.
 */
#ifndef CRL_BENCH_CUDA_H
#define CRL_BENCH_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

#define BN_CUDA_LIBRARY "libcarillon_bench_cuda.so.0"
#define BN_CUDA_ABI	1u

enum bn_side {
	BN_OURS = 0,
	BN_DOCA = 1, /* NVIDIA's DOCA GPUNetIO device header, found when this was built */
};

enum bn_scope {
	BN_SYSTEM = 0,
	BN_GPU = 1,
	BN_NO_FENCE = 2, /* litmus and the floor of trigger only */
};

/* Who posts: how many share a queue, and where the words lie by which they agree. */
enum bn_share {
	BN_EXCLUSIVE = 0,
	BN_SHARED_BLOCK = 1, /* one queue a block; ours: words in shared memory; DOCA: CTA mode */
	BN_SHARED_GPU = 2,   /* words in GPU memory; DOCA: GPU mode */
};

struct bn_gpu {
	char name[64];
	int sms, devices;
	int sm_clock_khz; /* the highest; what it ran at is in each line's cycles and ns */
	int driver, runtime;
	bool doca;
	char doca_from[160]; /* include folder, or why there is none */
};

/* What came of a line. */
struct bn_result {
	uint64_t *sample; /* [nr_samples]; unit: the call's */
	uint32_t nr_samples;
	uint64_t done; /* packets, WQEs or rounds altogether */
	uint64_t lost, torn;
	uint32_t registers; /* a thread of the measured kernel, as the compiler gave it */
	double extra[4];    /* the call's */
	char why[200];	    /* words, when it returns less than 0 */
};

struct bn_post_cfg {
	enum bn_side side;
	enum bn_scope scope;
	enum bn_share share;
	uint32_t blocks, warps, batch, log_depth;
	uint32_t bursts;   /* a warp and launch */
	uint32_t launches; /* measured; one before them is not */
	bool ring_full;	   /* completions are awaited, and a second kernel gives them */
	bool uar_in_gpu;   /* else in pinned host memory */
	bool single;	   /* one thread, one WQE a doorbell: samples are cycles of each post */
	bool tear;	   /* for tests of this program: breaks a WQE before the check */
};

/*
 * A device of this number is used by all calls. 0, or -errno: bn_gpu.doca_from says why in words.
 */
int bn_cuda_open(uint32_t abi, int device, struct bn_gpu *gpu);

/*
 * Posts. Samples: nanoseconds of a launch, by events on the stream (single: cycles of a post).
 * done: WQEs of all measured launches. extra[0]: WQEs of a launch.
 */
int bn_cuda_post(const struct bn_post_cfg *cfg, struct bn_result *out);

/* Litmus: which two accesses an edge keeps apart, and who would see them the wrong way round. */
enum bn_edge {
	BN_WQE_RECORD = 0,   /* GPU writes WQEs, then the record; the observer reads both */
	BN_RECORD_UAR = 1,   /* GPU writes the record, then the register; the observer reads both */
	BN_CQE_PAYLOAD = 2,  /* the observer writes payload, then a CQE; the GPU reads both */
	BN_READ_GIVEBACK = 3 /* GPU reads payload, then gives the slot back; overwritten at once */
};

struct bn_litmus_cfg {
	enum bn_edge edge;
	enum bn_scope scope;
	bool peer;	 /* the observer is a kernel on the second GPU; else host threads */
	uint32_t pairs;	 /* of a writer and an observer, at the same time */
	uint32_t wqes;	 /* or 64-byte pieces of payload, a round */
	uint64_t rounds; /* of each pair */
};

/* done: rounds; torn: those in which old (or too new) bytes were seen. */
int bn_cuda_litmus(const struct bn_litmus_cfg *cfg, struct bn_result *out);

struct bn_rtt_cfg {
	enum bn_scope scope;
	bool bare; /* two kernels that exchange flags, with as many fences */
	bool host; /* rings, record and register in host memory, the NIC a host thread */
	uint32_t rounds;
};

/* Samples: cycles of a round. extra[0]: nanoseconds a cycle, as measured in the run. */
int bn_cuda_rtt(const struct bn_rtt_cfg *cfg, struct bn_result *out);

struct bn_poll_cfg {
	uint32_t queues;
	bool all; /* each queue is active and has a warp of its own; else one warp serves all, of
		     which one is active */
	uint32_t rounds;
};

/* Samples: cycles from the NIC's store of a CQE to its sight of the answer; extra[0] as above. */
int bn_cuda_poll(const struct bn_poll_cfg *cfg, struct bn_result *out);

/* From "data ready in a kernel" to "the NIC sees the doorbell". */
enum bn_path {
	BN_ECHO = 0,	   /* the kernel echoes the start word: the floor of all */
	BN_GPU_POST = 1,   /* scope as asked */
	BN_LCORE = 2,	   /* flag to a spinning lcore, which posts */
	BN_SPIN_SYNC = 3,  /* the kernel ends; spinning stream sync, then a CPU post */
	BN_BLOCK_SYNC = 4, /* the same, blocking */
	BN_LAUNCH = 5,	   /* kernel launched at that moment, spinning sync, CPU post */
	BN_LCORE_RATE = 6  /* flags that do not wait: samples are the lcore's ns a message */
};

struct bn_trigger_cfg {
	enum bn_path path;
	enum bn_scope scope;
	uint32_t rounds;   /* up to 32768 */
	bool rings_in_gpu; /* of BN_GPU_POST: WQEs and record in GPU memory; else in host memory */
	int cpu_main, cpu_nic, cpu_lcore; /* to pin to; -1: as the scheduler likes */
};

/*
 * Samples: nanoseconds. torn: rounds in which the NIC saw a doorbell that was not the round's or,
 * where it can read them, an old WQE or record; of rings in GPU memory the WQEs are read
 * afterwards.
 */
int bn_cuda_trigger(const struct bn_trigger_cfg *cfg, struct bn_result *out);

enum bn_load {
	BN_GEMM = 0, /* a matrix product */
	BN_COPY = 1  /* a device to device copy */
};

struct bn_tax_cfg {
	enum bn_load load;
	bool small; /* the idle engine has at most 32 registers a thread */
	uint32_t repeats;
	uint32_t size; /* matrix side, or MiB */
};

/*
 * Three rows of repeats samples, nanoseconds: alone, beside an engine that polls and has nothing,
 * beside one that posts all the time; measured in alternation. why: the library or kernel.
 */
int bn_cuda_tax(const struct bn_tax_cfg *cfg, struct bn_result *out);

#if defined(__cplusplus)
}
#endif

#endif /* CRL_BENCH_CUDA_H */
