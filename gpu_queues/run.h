/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Inside of a started engine, shared by engine.c (checks, streams) and run_threads.c (host
 * threads).
 */
#ifndef CRL_RUN_H
#define CRL_RUN_H

#include <pthread.h>

#include "engine.h"
#include "launch.h"
#include "stop.h"

struct crl_engine_run {
	const struct crl_engine *engine;
	struct crl_stream **stream; /* [nr_streams], each on cache lines of its own */
	uint32_t nr_streams;
	uint32_t nr_threads;
	uint32_t nr_owned;   /* streams whose control words say so */
	uint32_t nr_started; /* threads of ours that run */
	uint32_t own;	     /* the threads are the caller's */
	pthread_t *thread;   /* [nr_threads] */
	int *cpu;	     /* [nr_threads] */
	uint32_t
		*working; /* [nr_threads] 1 from the thread's start to its last access of the run */
	void *cuda_lib;	  /* CRL_ON_CUDA: dlopen handle, kernel run and its stop function */
	struct crl_cuda_run *cuda;
	int (*cuda_stop)(struct crl_cuda_run *run, uint64_t wait_ns, struct crl_stop_watch *watch,
		struct crl_err *err);
	int (*cuda_park)(struct crl_cuda_run *run, uint64_t wait_ns, struct crl_err *err);
	int (*cuda_resume)(struct crl_cuda_run *run, struct crl_err *err);
	struct crl_cuda_facts facts;
	uint32_t leaving; /* its streams were asked to leave their kernel; some may have */
	uint32_t out;	  /* the kernel has ended, parked */
};

/* run_threads.c: starts run's host threads; on failure those started were stopped and joined. */
int crl_threads_start(struct crl_engine_run *run, struct crl_err *err);
/* Waits until deadline_ns for all threads to have finished, looking at watch meanwhile, then joins
 * ours. -ETIMEDOUT. */
int crl_threads_join(
	struct crl_engine_run *run, uint64_t deadline_ns, struct crl_stop_watch *watch);

#endif /* CRL_RUN_H */
