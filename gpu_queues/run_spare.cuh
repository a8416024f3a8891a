/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a run that ended well leaves for the next one on its device: a stream, and memory for
 * streams and queues. Their release takes the driver 0.2 ms as a rule and was seen to take 17,
 * which is no part of a stop; and who starts next need not wait for them. For run_cuda.cu.
 */
#ifndef CRL_RUN_SPARE_CUH
#define CRL_RUN_SPARE_CUH

#include <cuda_runtime.h>
#include <pthread.h>

#include "stream.h"

#define CRL_SPARES 4u

struct crl_spare {
	int device;
	uint32_t nr; /* streams that the memory has room for; 0: nothing is here */
	cudaStream_t stream;
	struct crl_stream *streams;
	struct crl_queue_dev *queues;
};

static struct crl_spare crl_spares[CRL_SPARES];
static pthread_mutex_t crl_spares_lock = PTHREAD_MUTEX_INITIALIZER;

/* False: there is no place for it. */
static bool
crl_spare_keep(const struct crl_spare *s)
{
	bool kept = false;

	pthread_mutex_lock(&crl_spares_lock);
	for (uint32_t i = 0; i < CRL_SPARES && !kept; i++) {
		kept = crl_spares[i].nr == 0;
		if (kept)
			crl_spares[i] = *s;
	}
	pthread_mutex_unlock(&crl_spares_lock);
	return kept;
}

/* The smallest that has room for s->nr on s->device, into *s. False: there is none. */
static bool
crl_spare_take(struct crl_spare *s)
{
	struct crl_spare *best = NULL;

	pthread_mutex_lock(&crl_spares_lock);
	for (uint32_t i = 0; i < CRL_SPARES; i++)
		if (crl_spares[i].nr >= s->nr && crl_spares[i].device == s->device &&
			(!best || crl_spares[i].nr < best->nr))
			best = &crl_spares[i];
	if (best) {
		*s = *best;
		best->nr = 0;
	}
	pthread_mutex_unlock(&crl_spares_lock);
	return best != NULL;
}

#endif /* CRL_RUN_SPARE_CUH */
