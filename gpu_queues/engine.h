/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Engines for host programs: the list of those there are, and how one is started and stopped over
 * queues, on host threads or as a persistent kernel on a GPU. A program with a packet function of
 * its own fills a struct crl_engine like those in engine.c; nothing else differs.
 *
 * Threads: crl_engine_start(), crl_engine_stop() and crl_engine_work() of one run may be called
 * from different threads, stop from one at a time. No call waits without a bound. Returns: 0 or
 * -errno and *err (NULL: not wanted) in words.
 */
#ifndef CRL_ENGINE_H
#define CRL_ENGINE_H

#include "err.h"
#include "layout.h"
#include "stream.h"

#if defined(__cplusplus)
extern "C" {
#endif

struct crl_engine {
	const char *name; /* as on the command line, testpmd's where it has one */
	const char *what; /* one line for --help */
	uint32_t needs;	  /* CRL_Q_RX, CRL_Q_TX: the sides of which a stream must have */
	enum crl_turn (*turn)(struct crl_stream *s); /* one bounded iteration, on a host thread */
	/* More checks of a stream's options before it starts, NULL: none. */
	int (*check)(const struct crl_stream *s, struct crl_err *err);
	/* Frames of its own that a queue's txbuf should hold for it, each on a cache line; a txbuf
	 * is written by one stream only. */
	uint32_t own_frames;
};

/* The engines of engines/, in the order of their names; ends with name NULL. */
extern const struct crl_engine crl_engines[];

/* NULL: no engine of that name; crl_engine_names() says which there are. */
const struct crl_engine *crl_engine_find(const char *name);
/* "5tswap, flowgen, icmpecho, ..." into buf of bytes. Returns buf. */
const char *crl_engine_names(char *buf, size_t bytes);

/* Options of engines with frames of their own where they are zero, as testpmd has them. */
void crl_engine_opts_default(struct crl_engine_opts *opts);
/* "64" or "64,128,..." as in testpmd's --txpkts. -EINVAL: no numbers, a zero, or too many. */
int crl_engine_opts_txpkts(struct crl_engine_opts *opts, const char *list, struct crl_err *err);

enum crl_where {
	CRL_ON_HOST = 0, /* host threads */
	CRL_ON_CUDA =
		1, /* a persistent kernel, one block a stream; libcarillon_cuda is loaded for it */
};

/* A receive and a send queue that one engine instance joins. The structs stay the caller's,
 * unmoved. */
struct crl_stream_cfg {
	struct crl_queue_dev *rx; /* NULL: none */
	struct crl_queue_dev *tx; /* NULL: none; may equal rx, or be of another port */
	struct crl_ctl *ctl;	  /* NULL: rx's, or tx's where there is no rx */
	uint32_t tx_lkey; /* of rx's buffers on tx's device; 0: rx's own key, right within a device
			   */
};

#define CRL_ENGINE_OWN_THREADS 1u /* start no thread: the caller's call crl_engine_work() */
/* Streams begin standing still, touching no queue, until crl_engine_resume() or
 * crl_control_park(). */
#define CRL_ENGINE_PARKED 2u

struct crl_engine_cfg {
	uint32_t size;	/* sizeof(struct crl_engine_cfg) */
	uint32_t flags; /* CRL_ENGINE_* */
	enum crl_where where;
	int cuda_device;    /* CRL_ON_CUDA */
	uint32_t spare_sms; /* CRL_ON_CUDA: multiprocessors that another resident kernel needs */
	const struct crl_engine *engine;
	const struct crl_engine_opts *opts; /* NULL: defaults; copied */
	const struct crl_stream_cfg *streams;
	uint32_t nr_streams;
	uint32_t burst;	     /* packets an iteration; 0: 32; up to CRL_BURST_MAX */
	uint32_t nr_threads; /* CRL_ON_HOST; stream i runs on thread i % nr_threads. 0: one each */
	const int *
		cpus; /* [nr_threads] CPU of each thread, negative: not pinned; NULL: none pinned */
};

struct crl_engine_run;

/*
 * Checks everything, then starts. The queues belong to the run until it has stopped.
 *   -EINVAL    an argument, an option, a queue that is not READY or has not the side that is needed
 *   -EPROTO    a queue was filled by a host of another CRL_DEV_ABI, or the program was compiled
 *              with other structs (layout.h); err names both
 *   -EBUSY     one side of a queue or its control words are in two streams, or in another run
 *   -ENOSYS    CRL_ON_CUDA and no libcarillon_cuda, or an engine that it does not have
 *   -EAGAIN    no thread could be made;  -ENOMEM
 */
int crl_engine_start_as(const struct crl_engine_cfg *cfg, uint32_t layout,
	struct crl_engine_run **run, struct crl_err *err);

/* A packet function is compiled with the program: it and the library must mean the same structs. */
static inline int
crl_engine_start(const struct crl_engine_cfg *cfg, struct crl_engine_run **run, struct crl_err *err)
{
	return crl_engine_start_as(cfg, crl_layout(), run, err);
}

/*
 * With CRL_ENGINE_OWN_THREADS: runs thread's streams until they have left, on the caller's thread.
 * Each number from 0 to nr_threads - 1 must be called once. -EINVAL: no such number.
 */
int crl_engine_work(struct crl_engine_run *run, uint32_t thread);

/*
 * Asks all streams to leave and waits up to wait_ns. 0: all left, their sends came back or were
 * given up after CRL_DRAIN_NS_MAX, the run is freed. -ETIMEDOUT: some have not left; err names the
 * first; the run lives, call again. Own threads must have returned from crl_engine_work() as well.
 * -EIO: CUDA refused; sends may have been given up, the run is freed.
 */
int crl_engine_stop(struct crl_engine_run *run, uint64_t wait_ns, struct crl_err *err);

/* The parts of a stop, by what was over then. */
enum crl_stop_part {
	CRL_STOP_SEEN,	  /* the last stream had seen the word, */
	CRL_STOP_LEFT,	  /* and had left: its sends were over */
	CRL_STOP_ENDED,	  /* the kernel, or the last thread, had ended */
	CRL_STOP_FETCHED, /* queue states were back in the caller's structs */
	CRL_STOP_FREED,	  /* the run was gone; on a GPU its memory may wait for the next run */
	CRL_STOP_PARTS,
};

/* When, in ns from the call on; 0: not seen. */
struct crl_stop_times {
	uint64_t ns[CRL_STOP_PARTS];
};

/* The same, and how long it took; of a run that timed out what is known so far. */
int crl_engine_stop_timed(struct crl_engine_run *run, uint64_t wait_ns,
	struct crl_stop_times *times, struct crl_err *err);

/*
 * All streams stand still and touch no queue until crl_engine_resume(); waits up to wait_ns. On a
 * GPU their kernel has ended when this returns 0, so that no CUDA call waits for it (docs/gpu.md
 * has those that do), and starts again where it stood. A heartbeat does not rise meanwhile, and
 * that is no stall. -ETIMEDOUT: not all do; call again, or resume, which on a GPU is possible only
 * after a park that returned 0, as streams that have left their kernel do not come back to it.
 * resume: -EAGAIN such a park is still to be finished; -EIO CUDA refused. It does not wait for the
 * streams to go on. Park, resume and crl_control_park() of one stream: one thread at a time.
 */
int crl_engine_park(struct crl_engine_run *run, uint64_t wait_ns, struct crl_err *err);
int crl_engine_resume(struct crl_engine_run *run, struct crl_err *err);

/* For inspection while the run lives: its streams, as this program built them. */
uint32_t crl_engine_nr_streams(const struct crl_engine_run *run);
const struct crl_stream *crl_engine_stream(const struct crl_engine_run *run, uint32_t i);

#if defined(__cplusplus)
}
#endif

#endif /* CRL_ENGINE_H */
