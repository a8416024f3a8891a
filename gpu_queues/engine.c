/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting and stopping an engine: the checks before, and the building of its streams. Host code;
 * the loops themselves are run_threads.c and run_cuda.cu, the list of engines engine_list.c.
 */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "queue_mem.h"
#include "run.h"
#include "sq_post.h"

#define STEP "start engine"

/* One side of a queue: there, of our ABI, ready, and of a shape that the data path takes. */
static int
check_side(const struct crl_queue_dev *q, uint32_t side, struct crl_err *err)
{
	uint32_t log = side == CRL_Q_RX ? q->rq.log_depth : q->sq.log_depth;
	uint32_t state = side == CRL_Q_RX ? q->rq.state : q->sq.state;
	const char *word = side == CRL_Q_RX ? "receive" : "send";

	if (q->abi != CRL_DEV_ABI)
		return crl_err_set(err, -EPROTO, STEP,
			"build host and device code from one version",
			"queue %u was filled by a host of device ABI %u, this engine is of ABI %u",
			q->index, q->abi, CRL_DEV_ABI);
	if (!(q->flags & side))
		return crl_err_set(err, -EINVAL, STEP, "create the queue with that side",
			"queue %u has no %s side", q->index, word);
	if (!crl_depth_ok(log) || state != CRL_QS_READY)
		return crl_err_set(err, -EINVAL, STEP, "create the queue anew",
			"queue %u's %s side is not ready (state %u, depth 2^%u)", q->index, word,
			state, log);
	if (!q->stats || !q->error)
		return crl_err_set(
			err, -EINVAL, STEP, NULL, "queue %u has no counters or mailbox", q->index);
	if (side == CRL_Q_RX && (q->rq.headroom % 2u != 0 || q->rq.stride % 2u != 0 ||
					q->rq.headroom >= q->rq.stride))
		return crl_err_set(err, -EINVAL, STEP,
			"give even numbers, headroom below the buffer size",
			"queue %u: frames at %u in buffers of %u bytes", q->index, q->rq.headroom,
			q->rq.stride);
	if (side == CRL_Q_TX && crl_wqebbs(2u + crl_empw_segs(q->sq.inline_max, q->sq.inline_max)) >
					crl_ring_depth(q->sq.log_depth))
		return crl_err_set(err, -EINVAL, STEP, "use a deeper ring or inline less",
			"queue %u: a frame of %u inlined bytes does not fit into a ring of %llu "
			"WQEBBs",
			q->index, q->sq.inline_max,
			(unsigned long long)crl_ring_depth(q->sq.log_depth));
	if (side == CRL_Q_TX &&
		(q->sq.signal_every == 0 || q->sq.signal_every > crl_ring_depth(q->sq.log_depth)))
		return crl_err_set(err, -EINVAL, STEP, "use crl_signal_every()",
			"queue %u: a completion every %u sends can stop a ring of %llu", q->index,
			q->sq.signal_every, (unsigned long long)crl_ring_depth(q->sq.log_depth));
	return 0;
}

/* The control words that a stream gets; NULL: it has none. */
static struct crl_ctl *
ctl_of(const struct crl_engine_cfg *cfg, const struct crl_stream_cfg *c)
{
	const struct crl_queue_dev *rx = cfg->engine->needs & CRL_Q_RX ? c->rx : NULL;

	return c->ctl ? c->ctl : rx ? rx->ctl : c->tx ? c->tx->ctl : NULL;
}

static int
check_shared(const struct crl_engine_cfg *cfg, uint32_t i, struct crl_err *err)
{
	struct crl_ctl *ctl = ctl_of(cfg, &cfg->streams[i]);
	uint32_t k;

	for (k = 0; k < i; k++) {
		if (cfg->streams[i].rx && cfg->streams[i].rx == cfg->streams[k].rx)
			return crl_err_set(err, -EBUSY, STEP, "use more queues or fewer streams",
				"streams %u and %u receive from the same queue %u", k, i,
				cfg->streams[i].rx->index);
		if (cfg->streams[i].tx && cfg->streams[i].tx == cfg->streams[k].tx)
			return crl_err_set(err, -EBUSY, STEP, "use more queues or fewer streams",
				"streams %u and %u send on the same queue %u", k, i,
				cfg->streams[i].tx->index);
		if (ctl && ctl == ctl_of(cfg, &cfg->streams[k]))
			return crl_err_set(err, -EBUSY, STEP,
				"give each stream control words of its own",
				"streams %u and %u have the same control words", k, i);
	}
	return 0;
}

static int
check_cfg(const struct crl_engine_cfg *cfg, struct crl_err *err)
{
	uint32_t i;
	int rc;

	if (!cfg || cfg->size != sizeof(*cfg) || !cfg->engine || !cfg->streams ||
		cfg->nr_streams == 0)
		return crl_err_set(err, -EINVAL, STEP,
			"set size, engine, streams and nr_streams; crl_engine_names() lists the "
			"engines",
			"no engine, no streams, or a config of another version");
	if (cfg->burst > CRL_BURST_MAX)
		return crl_err_set(err, -EINVAL, STEP, "give a smaller burst",
			"a burst of %u, the most is %u", cfg->burst, CRL_BURST_MAX);
	for (i = 0; i < cfg->nr_streams; i++) {
		const struct crl_stream_cfg *s = &cfg->streams[i];

		if (((cfg->engine->needs & CRL_Q_RX) && !s->rx) ||
			((cfg->engine->needs & CRL_Q_TX) && !s->tx))
			return crl_err_set(err, -EINVAL, STEP,
				"set both of the stream's rx and tx, or the one it needs",
				"%s needs %s, and stream %u lacks it", cfg->engine->name,
				cfg->engine->needs == CRL_Q_RX	 ? "a receive queue"
				: cfg->engine->needs == CRL_Q_TX ? "a send queue"
								 : "a receive and a send queue",
				i);
		rc = s->rx && (cfg->engine->needs & CRL_Q_RX) ? check_side(s->rx, CRL_Q_RX, err)
							      : 0;
		if (rc == 0 && s->tx && (cfg->engine->needs & CRL_Q_TX))
			rc = check_side(s->tx, CRL_Q_TX, err);
		if (rc == 0)
			rc = check_shared(cfg, i, err);
		if (rc != 0)
			return rc;
	}
	return 0;
}

/* Control words as a fresh engine finds them; rearm keeps counting. */
static void
ctl_reset(struct crl_stream *s, uint32_t wish)
{
	crl_st32(&s->ctl->stop, 0);
	crl_st32(&s->ctl->park, crl_park_next(crl_ld32(&s->ctl->park), wish));
	crl_st32(&s->ctl->parked, 0);
	crl_st32(&s->ctl->done, 0);
	crl_st32(&s->ctl->stopping, 0);
	s->rearmed = crl_ld32(&s->ctl->rearm);
	crl_st32(&s->ctl->rearmed, s->rearmed);
}

/* Counters go on from where an earlier engine on the same queues left them. */
static void
counts_load(struct crl_stream *s)
{
	uint32_t i;

	for (i = 0; s->rx && i < sizeof(s->rxc) / sizeof(uint64_t); i++)
		(&s->rxc.packets)[i] = crl_ld64(&s->rx->stats->rx_packets + i);
	for (i = 0; s->tx && i < sizeof(s->txc) / sizeof(uint64_t); i++)
		(&s->txc.packets)[i] = crl_ld64(&s->tx->stats->tx_packets + i);
	for (i = 0; s->rx && i < sizeof(s->rtt) / sizeof(uint64_t); i++)
		(&s->rtt.count)[i] = crl_ld64(&s->rx->stats->rtt_count + i);
	for (i = 0; s->rx && i < sizeof(s->stamp) / sizeof(uint64_t); i++)
		(&s->stamp.torn)[i] = crl_ld64(&s->rx->stats->torn + i);
}

static int
stream_make(
	const struct crl_engine_cfg *cfg, uint32_t i, struct crl_stream **out, struct crl_err *err)
{
	const struct crl_stream_cfg *c = &cfg->streams[i];
	size_t bytes = (sizeof(struct crl_stream) + 63u) & ~(size_t)63u;
	struct crl_stream *s = aligned_alloc(64, bytes);

	if (!s)
		return crl_err_set(err, -ENOMEM, STEP, NULL, "no memory for stream %u", i);
	memset(s, 0, bytes);
	s->rx = cfg->engine->needs & CRL_Q_RX ? c->rx : NULL;
	s->tx = cfg->engine->needs & CRL_Q_TX ? c->tx : NULL;
	s->ctl = ctl_of(cfg, c);
	s->tx_lkey = c->tx_lkey ? c->tx_lkey : s->rx ? s->rx->rq.lkey : 0;
	s->burst = cfg->burst ? cfg->burst : 32u;
	s->look_every = CRL_LOOK_EVERY;
	s->look_step = CRL_LOOK_PACKETS;
	if (cfg->opts)
		s->opts = *cfg->opts;
	crl_engine_opts_default(&s->opts);
	*out = s;
	if (!s->ctl)
		return crl_err_set(err, -EINVAL, STEP, NULL, "stream %u has no control words", i);
	if (crl_ld32(&s->ctl->owned))
		return crl_err_set(err, -EBUSY, STEP,
			"stop that engine first, or give the stream control words of its own",
			"an engine runs with the control words of stream %u", i);
	ctl_reset(s, cfg->flags & CRL_ENGINE_PARKED ? CRL_PARK_STAND : CRL_PARK_NOT);
	counts_load(s);
	return cfg->engine->check ? cfg->engine->check(s, err) : 0;
}

static void
run_free(struct crl_engine_run *run)
{
	uint32_t i;

	for (i = 0; i < run->nr_owned; i++)
		crl_st32(&run->stream[i]->ctl->owned, 0);
	for (i = 0; run->stream && i < run->nr_streams; i++)
		free(run->stream[i]);
	free(run->stream);
	free(run->thread);
	free(run->cpu);
	free(run->working);
	if (run->cuda_lib)
		dlclose(run->cuda_lib);
	free(run);
}

static int
run_alloc(const struct crl_engine_cfg *cfg, struct crl_engine_run **out)
{
	struct crl_engine_run *run = calloc(1, sizeof(*run));
	uint32_t i;

	*out = run;
	if (!run)
		return -ENOMEM;
	run->engine = cfg->engine;
	run->own = cfg->flags & CRL_ENGINE_OWN_THREADS;
	run->nr_streams = cfg->nr_streams;
	run->nr_threads = cfg->where == CRL_ON_CUDA ? 0
			  : cfg->nr_threads	    ? cfg->nr_threads
						    : cfg->nr_streams;
	run->stream = calloc(run->nr_streams, sizeof(run->stream[0]));
	run->thread = calloc(run->nr_threads + 1u, sizeof(run->thread[0]));
	run->cpu = calloc(run->nr_threads + 1u, sizeof(run->cpu[0]));
	run->working = calloc(run->nr_threads + 1u, sizeof(run->working[0]));
	if (!run->stream || !run->thread || !run->cpu || !run->working)
		return -ENOMEM;
	for (i = 0; i < run->nr_threads; i++)
		run->cpu[i] = cfg->cpus ? cfg->cpus[i] : -1;
	return 0;
}

/* Loads the kernels and starts one; every failure says what a user can do about it. */
static int
cuda_start(const struct crl_engine_cfg *cfg, struct crl_engine_run *run, struct crl_err *err)
{
	int (*start)(const char *, int, struct crl_stream *const *, uint32_t, uint32_t,
		struct crl_cuda_run **, struct crl_err *);
	int (*facts)(const char *, int, struct crl_cuda_facts *);
	uint32_t (*abi)(void), (*layout)(void);
	const char *kernel;
	int rc;

	/* Once loaded it stays: to unload kernels is to wait for every kernel of the GPU. */
	run->cuda_lib = dlopen(CRL_CUDA_LIBRARY, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!run->cuda_lib)
		return crl_err_set(err, -ENOSYS, STEP,
			"build with nvcc on PATH, or run the engine on host threads",
			"no CUDA kernels: %s", dlerror());
	*(void **)&abi = dlsym(run->cuda_lib, "crl_cuda_abi");
	*(void **)&facts = dlsym(run->cuda_lib, "crl_cuda_facts");
	*(void **)&layout = dlsym(run->cuda_lib, "crl_cuda_layout");
	*(void **)&start = dlsym(run->cuda_lib, "crl_cuda_start");
	*(void **)&run->cuda_stop = dlsym(run->cuda_lib, "crl_cuda_stop");
	*(void **)&run->cuda_park = dlsym(run->cuda_lib, "crl_cuda_park");
	*(void **)&run->cuda_resume = dlsym(run->cuda_lib, "crl_cuda_resume");
	if (!abi || !layout || !facts || !start || !run->cuda_stop || !run->cuda_park ||
		!run->cuda_resume)
		return crl_err_set(err, -ENOSYS, STEP, "install one version of all libraries",
			CRL_CUDA_LIBRARY " lacks a function");
	if (layout() != crl_layout())
		return crl_err_set(err, -EPROTO, STEP, "install one version of all libraries",
			"structs of layout %08x, and " CRL_CUDA_LIBRARY " has %08x", crl_layout(),
			layout());
	if (abi() != CRL_DEV_ABI)
		return crl_err_set(err, -EPROTO, STEP, "install one version of all libraries",
			"the queues are of device ABI %u, " CRL_CUDA_LIBRARY " is of ABI %u",
			CRL_DEV_ABI, abi());
	kernel = crl_engine_kernel(cfg->engine->name, &run->stream[0]->opts);
	rc = facts(kernel, cfg->cuda_device, &run->facts);
	if (rc != 0 && rc != -ENOSYS) /* which the start says in words */
		return crl_err_set(err, rc, STEP, "see nvidia-smi and the kernel's log",
			"GPU %d does not load the kernels", cfg->cuda_device);
	return start(kernel, cfg->cuda_device, run->stream, run->nr_streams, cfg->spare_sms,
		&run->cuda, err);
}

int
crl_engine_facts(const struct crl_engine_run *run, struct crl_cuda_facts *facts)
{
	if (run->cuda == NULL)
		return -ENOTSUP;
	*facts = run->facts;
	return 0;
}

int
crl_engine_start_as(const struct crl_engine_cfg *cfg, uint32_t layout, struct crl_engine_run **out,
	struct crl_err *err)
{
	struct crl_engine_run *run = NULL;
	uint32_t i;
	int rc;

	if (layout != crl_layout())
		return crl_err_set(err, -EPROTO, STEP,
			"compile the program anew, against this library's headers",
			"the program has structs of layout %08x, this library of %08x", layout,
			crl_layout());
	rc = check_cfg(cfg, err);
	if (rc != 0)
		return rc;
	rc = run_alloc(cfg, &run);
	if (rc != 0) {
		crl_err_set(err, rc, STEP, NULL, "no memory");
		goto undo_run;
	}
	for (i = 0; i < cfg->nr_streams; i++) {
		rc = stream_make(cfg, i, &run->stream[i], err);
		if (rc != 0)
			goto undo_run;
	}
	for (; run->nr_owned < run->nr_streams; run->nr_owned++)
		crl_st32(&run->stream[run->nr_owned]->ctl->owned, 1);
	rc = cfg->where == CRL_ON_CUDA ? cuda_start(cfg, run, err) : crl_threads_start(run, err);
	if (rc != 0)
		goto undo_run;
	*out = run;
	return 0;
undo_run:
	if (run)
		run_free(run);
	return rc;
}

/* The first stream that has not left, for the message. */
static uint32_t
first_present(const struct crl_engine_run *run)
{
	uint32_t i;

	for (i = 0; i < run->nr_streams; i++) {
		if (crl_ld32(&run->stream[i]->ctl->done) == 0)
			return i;
	}
	return 0;
}

int
crl_engine_stop(struct crl_engine_run *run, uint64_t wait_ns, struct crl_err *err)
{
	struct crl_stop_times times;

	return crl_engine_stop_timed(run, wait_ns, &times, err);
}

int
crl_engine_stop_timed(struct crl_engine_run *run, uint64_t wait_ns, struct crl_stop_times *times,
	struct crl_err *err)
{
	struct crl_stop_watch watch = {run->stream, run->nr_streams, 0, 0, crl_now_ns(), times};
	uint64_t deadline = crl_until(watch.told_ns, wait_ns);
	int rc, lost = 0;
	uint32_t i;

	memset(times, 0, sizeof(*times));
	for (i = 0; i < run->nr_streams; i++)
		crl_st32(&run->stream[i]->ctl->stop, 1);
	/* a park that timed out: to its end first, as streams that left still have to drain */
	if (run->leaving && crl_engine_park(run, wait_ns, err) == -ETIMEDOUT)
		return -ETIMEDOUT;
	if (run->out) /* it has sends to wait for; refused, nothing runs, and all can go */
		lost = crl_engine_resume(run, err);
	rc = run->cuda ? run->cuda_stop(run->cuda, wait_ns, &watch, lost == 0 ? err : NULL)
		       : crl_threads_join(run, deadline, &watch);
	if (rc == -ETIMEDOUT)
		return crl_err_set(err, rc, "stop engine", "call again with more time",
			"stream %u has not left within %llu ms", first_present(run),
			(unsigned long long)(wait_ns / 1000000u));
	rc = rc == 0 ? lost : rc;
	run_free(run);
	times->ns[CRL_STOP_FREED] = crl_now_ns() - watch.told_ns;
	return rc;
}

uint32_t
crl_engine_nr_streams(const struct crl_engine_run *run)
{
	return run->nr_streams;
}

const struct crl_stream *
crl_engine_stream(const struct crl_engine_run *run, uint32_t i)
{
	return i < run->nr_streams ? run->stream[i] : NULL;
}
