/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The run: where the NIC's step is, and why there; NIC first, its alive word seen, then the
 * engines; until enough packets have gone round, or none moves any more; engines end first. Host
 * code.
 */
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <time.h>

#include "gpu_queues/engine.h"
#include "gpu_queues/fwd_warp.h"
#include "gpu_queues/launch.h"
#include "inside.cuh"

#define QUIET_NS 3000000000ull /* without a packet: nothing will come any more */
#define ALIVE_NS 10000000000ull
#define STOP_NS	 5000000000ull

static void
nap(void)
{
	struct timespec ts = {0, 200000};

	nanosleep(&ts, NULL);
}

/* Place and GPUs; the reason in words. */
static int
choose(struct loop *l, struct crl_loop_result *res)
{
	int nr = 0, there = 0, back = 0, other;
	enum crl_loop_place place = l->cfg.place;

	if (!loop_cuda(l, cudaGetDeviceCount(&nr), "count GPUs"))
		return -ENODEV;
	other = l->cfg.nic_gpu >= 0 ? l->cfg.nic_gpu : nr > 1 ? (l->engine_gpu + 1) % nr : -1;
	if (l->engine_gpu >= nr || other >= nr || (place == CRL_LOOP_PEER && other < 0)) {
		snprintf(l->err, l->err_bytes, "there are %d GPUs", nr);
		return -ENODEV;
	}
	if (other >= 0 && other != l->engine_gpu) {
		cudaDeviceCanAccessPeer(&there, l->engine_gpu, other);
		cudaDeviceCanAccessPeer(&back, other, l->engine_gpu);
	}
	if (place == CRL_LOOP_PEER && !(there && back)) {
		snprintf(l->err, l->err_bytes, "GPUs %d and %d do not reach each other's memory",
			l->engine_gpu, other);
		return -ENOTSUP;
	}
	snprintf(res->why, sizeof(res->why), "asked for");
	if (place == CRL_LOOP_AUTO) {
		place = there && back ? CRL_LOOP_PEER : CRL_LOOP_SAME;
		snprintf(res->why, sizeof(res->why), "%s",
			there && back ? "a second GPU is there and both reach each other"
			: nr > 1      ? "the other GPU's memory is out of reach"
				      : "there is one GPU");
	}
	l->cfg.place = place;
	l->nic_gpu = place == CRL_LOOP_PEER ? other : l->engine_gpu;
	return 0;
}

static int
peers(struct loop *l)
{
	cudaError_t e;

	if (l->cfg.place != CRL_LOOP_PEER)
		return 0;
	cudaSetDevice(l->engine_gpu);
	e = cudaDeviceEnablePeerAccess(l->nic_gpu, 0);
	if (e == cudaSuccess || e == cudaErrorPeerAccessAlreadyEnabled) {
		cudaSetDevice(l->nic_gpu);
		e = cudaDeviceEnablePeerAccess(l->engine_gpu, 0);
	}
	cudaGetLastError();
	e = e == cudaErrorPeerAccessAlreadyEnabled ? cudaSuccess : e;
	return loop_cuda(l, e, "peer access") ? 0 : -ENOTSUP;
}

static void
describe(struct loop *l, struct crl_loop_result *res)
{
	struct cudaDeviceProp p;
	const char *nic = l->cfg.place == CRL_LOOP_FUSED  ? "blocks of the engine's kernel"
			  : l->cfg.place == CRL_LOOP_SAME ? "a second kernel on the engine's GPU"
							  : "a kernel on another GPU";

	cudaGetDeviceProperties(&p, l->engine_gpu);
	snprintf(res->engine_where, sizeof(res->engine_where),
		"a resident kernel on GPU %d (%.60s)", l->engine_gpu, p.name);
	cudaGetDeviceProperties(&p, l->nic_gpu);
	snprintf(res->nic_where, sizeof(res->nic_where), "%s, GPU %d (%.60s)", nic, l->nic_gpu,
		p.name);
}

static void
options(const struct loop *l, struct crl_engine_opts *o)
{
	memset(o, 0, sizeof(*o));
	o->txpkts_nr = 1;
	o->txpkts[0] = (uint16_t)l->cfg.frame;
	o->dst_port = LOOP_PORT;
	o->in_flight = l->cfg.in_flight;
	o->tx_frames_max = l->cfg.packets;
	crl_engine_opts_default(o);
}

/* The engines' kernel from libcarillon_cuda. */
static int
engines_start(struct loop *l, struct crl_loop_result *res, struct crl_engine_run **run)
{
	struct crl_stream_cfg *s = (struct crl_stream_cfg *)calloc(l->cfg.active, sizeof(*s));
	struct crl_engine_cfg cfg;
	struct crl_engine_opts o;
	struct crl_err err;
	uint32_t i;
	int rc;

	if (!s)
		return -ENOMEM;
	options(l, &o);
	for (i = 0; i < l->cfg.active; i++)
		s[i].rx = s[i].tx = &l->queue[i];
	memset(&cfg, 0, sizeof(cfg));
	memset(&err, 0, sizeof(err));
	cfg.size = sizeof(cfg);
	cfg.where = CRL_ON_CUDA;
	cfg.cuda_device = l->engine_gpu;
	cfg.engine = crl_engine_find("stamp");
	cfg.opts = &o;
	cfg.streams = s;
	cfg.nr_streams = l->cfg.active;
	cfg.burst = l->cfg.burst;
	if (l->cfg.place == CRL_LOOP_SAME)
		cfg.spare_sms = (res->nic.blocks + res->nic.per_sm - 1u) / res->nic.per_sm;
	rc = crl_engine_start(&cfg, run, &err);
	free(s);
	if (rc != 0) {
		crl_err_str(&err, l->err, l->err_bytes);
		return rc;
	}
	return 0;
}

/* Before any kernel is resident: see load_all() in run_cuda.cu. */
static int
engine_facts(struct loop *l, struct crl_loop_result *res)
{
	struct crl_engine_opts o;
	struct crl_cuda_facts f;
	int rc;

	options(l, &o);
	rc = crl_cuda_facts(crl_engine_kernel("stamp", &o), l->engine_gpu, &f);

	if (rc != 0) {
		snprintf(l->err, l->err_bytes, "the engine's kernel cannot be loaded: %s",
			strerror(-rc));
		return rc;
	}
	res->engine = {l->cfg.active, f.registers, f.shared_bytes, f.per_sm, f.sms, f.kernel};
	return 0;
}

/* The same streams for the fused kernel, which has no engine.c to make them. */
static int
fused_streams(struct loop *l)
{
	uint32_t n = l->cfg.queues, i;
	struct crl_stream *s = (struct crl_stream *)calloc(n, sizeof(*s));
	bool ok;

	if (!s)
		return -ENOMEM;
	cudaSetDevice(l->engine_gpu);
	ok = loop_cuda(l, cudaMalloc((void **)&l->streams, n * sizeof(*s)), "cudaMalloc") &&
	     loop_cuda(l, cudaMalloc((void **)&l->dev_queues, n * sizeof(*l->queue)), "cudaMalloc");
	for (i = 0; i < n && ok; i++) {
		s[i].rx = s[i].tx = &l->dev_queues[i];
		s[i].ctl = &l->ctl[i];
		s[i].tx_lkey = l->queue[i].rq.lkey;
		s[i].burst = l->cfg.burst;
		options(l, &s[i].opts);
	}
	ok = ok &&
	     loop_cuda(l, cudaMemcpy(l->streams, s, n * sizeof(*s), cudaMemcpyHostToDevice),
		     "send streams") &&
	     loop_cuda(l,
		     cudaMemcpy(l->dev_queues, l->queue, n * sizeof(*l->queue),
			     cudaMemcpyHostToDevice),
		     "send queues");
	free(s);
	return ok ? 0 : -EIO;
}

static void
totals(const struct loop *l, struct crl_loop_result *res)
{
	struct crl_qstats q;
	uint32_t i;

	res->sent = res->received = res->torn = res->missed = res->sent_bytes = 0;
	for (i = 0; i < l->cfg.active; i++) {
		memcpy(&q, &l->stats[i], sizeof(q));
		res->sent += q.tx_packets;
		res->received += q.rx_packets;
		res->sent_bytes += q.tx_bytes;
		res->torn += q.torn;
		res->missed += q.missed;
	}
}

/* Until all there is went round, or time or packets are enough, or nothing moves. */
static void
watch(struct loop *l, struct crl_loop_result *res)
{
	uint64_t want = l->cfg.packets * l->cfg.active, start = crl_now_ns(), now = start;
	uint64_t first = 0, first_ns = start, last = 0, moved = start;

	do {
		nap();
		now = crl_now_ns();
		totals(l, res);
		if (first == 0 && res->received != 0) {
			first = res->received;
			first_ns = now;
		}
		if (res->received != last)
			moved = now;
		last = res->received;
	} while ((want == 0 || res->received < want) &&
		 (double)(now - start) < l->cfg.seconds * 1e9 && now - moved < QUIET_NS &&
		 (l->cfg.stop_at == 0 || (double)res->received < l->cfg.stop_at));
	res->seconds = (double)(now - first_ns) * 1e-9;
	if (res->seconds <= 0)
		res->seconds = (double)(now - start) * 1e-9;
}

/* All engines told, and all gone. */
static int
stop(struct loop *l, struct crl_loop_result *res)
{
	uint64_t start = crl_now_ns();
	uint32_t i;

	for (i = 0; i < l->cfg.active; i++)
		crl_st32(&l->ctl[i].stop, 1);
	for (i = 0; i < l->cfg.active; i++) {
		while (crl_ld32(&l->ctl[i].done) == 0) {
			if (crl_now_ns() - start > STOP_NS) {
				snprintf(l->err, l->err_bytes,
					"queue %u's engine has not left %llu ms after it was told",
					i, STOP_NS / 1000000u);
				return -ETIMEDOUT;
			}
		}
	}
	res->stop_ms = (double)(crl_now_ns() - start) * 1e-6;
	return 0;
}

static int
wait_alive(struct loop *l)
{
	uint64_t start = crl_now_ns();

	while (crl_ld32(&l->words->alive) == 0 && crl_now_ns() - start < ALIVE_NS)
		nap();
	if (crl_ld32(&l->words->alive) != 0)
		return 0;
	snprintf(l->err, l->err_bytes, "the NIC's kernel gives no sign of life");
	return -ETIMEDOUT;
}

/* Two kernels: the NIC's, then the engines'. */
static int
run_two(struct loop *l, struct crl_loop_result *res)
{
	struct crl_engine_run *run = NULL;
	struct crl_err err;
	int rc = engine_facts(l, res), left;

	rc = rc != 0 ? rc : loop_nic_facts(l, &res->nic);
	if (rc == 0 && res->nic.blocks > res->nic.per_sm * res->nic.sms) {
		snprintf(l->err, l->err_bytes, "%u workers, GPU %d holds %u", res->nic.blocks,
			l->nic_gpu, res->nic.per_sm * res->nic.sms);
		return -ENOSPC;
	}
	rc = rc != 0 ? rc : loop_nic_start(l);
	if (rc != 0)
		return rc;
	rc = wait_alive(l);
	rc = rc != 0 ? rc : engines_start(l, res, &run);
	if (rc == 0)
		watch(l, res);
	rc = rc != 0 ? rc : stop(l, res);
	left = run ? crl_engine_stop(run, STOP_NS, &err) : 0;
	if (rc == 0 && left != 0) {
		crl_err_str(&err, l->err, l->err_bytes);
		rc = left;
	}
	left = loop_nic_end(l, res); /* why the NIC stood still is why the engines did not stop */
	return left != 0 ? left : rc;
}

static int
run_fused(struct loop *l, struct crl_loop_result *res)
{
	int rc = fused_streams(l), left;

	rc = rc != 0 ? rc : loop_fused_start(l, res);
	if (rc != 0)
		return rc;
	watch(l, res);
	rc = stop(l, res);
	left = loop_nic_end(l, res); /* why the NIC stood still is why the engines did not stop */
	return left != 0 ? left : rc;
}

/* What is missing when all stand still: frames that left and did not come. */
static void
judge(const struct loop *l, struct crl_loop_result *res)
{
	uint64_t here = l->cfg.packets != 0 ? 0 : (uint64_t)l->cfg.active * l->cfg.in_flight;
	uint64_t wait;

	totals(l, res);
	res->lost = res->sent - res->nic_received;
	/* what the NIC delivered and no engine took must be what is under way */
	wait = res->nic_received - res->received;
	if (wait != here)
		res->lost += wait > here ? wait - here : here - wait;
}

static int
defaults(struct loop *l, const struct crl_loop_cfg *cfg)
{
	struct crl_loop_cfg *c = &l->cfg;

	if (cfg->size != sizeof(*cfg))
		return -EINVAL;
	*c = *cfg;
	c->queues = c->queues ? c->queues : 64u;
	c->active = c->active && c->active < c->queues ? c->active : c->queues;
	c->frame = c->frame ? c->frame : 64u;
	c->depth = c->depth ? c->depth : 1024u;
	c->in_flight = c->in_flight ? c->in_flight : c->depth / 2u;
	c->burst = c->burst ? c->burst : 64u;
	c->workers = c->workers ? c->workers : c->queues < 264u ? c->queues : 264u;
	c->seconds = c->seconds > 0 ? c->seconds : 10;
	while ((1u << l->log_depth) < c->depth)
		l->log_depth++;
	l->engine_gpu = c->engine_gpu;
	if (c->queues > CRL_LOOP_QUEUES_MAX || c->frame < 64u || c->frame > 9600u ||
		1u << l->log_depth != c->depth || c->depth > CRL_DEPTH_MAX || c->depth < 64u ||
		c->in_flight > c->depth / 2u || c->burst > CRL_BURST_MAX || c->workers > 512u ||
		c->workers * 8u < c->queues || (c->packets != 0 && c->packets < c->in_flight)) {
		snprintf(l->err, l->err_bytes,
			"1 to %u queues, frames of 64 to 9600 bytes, rings of a power of two from "
			"64 to "
			"%u, at most half as many packets under way and at least so many to send, "
			"a worker for 8 queues",
			CRL_LOOP_QUEUES_MAX, CRL_DEPTH_MAX);
		return -EINVAL;
	}
	return 0;
}

extern "C" int
crl_loop_run(const struct crl_loop_cfg *cfg, struct crl_loop_result *res, char *err, size_t bytes)
{
	struct loop *l = (struct loop *)calloc(1, sizeof(*l));
	int rc;

	if (!l)
		return -ENOMEM;
	memset(res, 0, sizeof(*res));
	l->err = err;
	l->err_bytes = bytes;
	snprintf(err, bytes, "no memory");
	rc = defaults(l, cfg);
	rc = rc != 0 ? rc : choose(l, res);
	rc = rc != 0 ? rc : peers(l);
	rc = rc != 0 ? rc : loop_memory(l);
	rc = rc != 0 ? rc : loop_tables(l);
	if (rc == 0) {
		describe(l, res);
		rc = l->cfg.place == CRL_LOOP_FUSED ? run_fused(l, res) : run_two(l, res);
	}
	if (rc == 0)
		judge(l, res);
	loop_memory_free(l);
	free(l);
	return rc;
}
