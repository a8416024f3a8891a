/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How a host call reports what went wrong, beside the negative errno it returns: the step that
 * failed, the cause and what to do about it, in words. Filled by the callee, owned by the caller,
 * printed by neither: libraries never print. A fresh struct is all zero.
 */
#ifndef CRL_ERR_H
#define CRL_ERR_H

#include <stddef.h>
#include <stdint.h>

#if defined(__cplusplus)
extern "C" {
#endif

struct crl_err {
	int code;	      /* -errno, what the call returned; 0 in a fresh struct */
	uint32_t fw_syndrome; /* firmware's own code for why it refused a command, 0: none */
	uint32_t queue;	      /* SQ or RQ number, 0: none */
	uint32_t wqe;	      /* counter of the WQE that failed */
	uint8_t fw_status;    /* PRM command status, 0: none */
	uint8_t syndrome;     /* of an error CQE, CRL_SYND_* */
	uint8_t vendor;	      /* vendor syndrome of an error CQE */
	uint8_t is_rx;	      /* queue is an RQ */
	char step[40];	      /* what was being done, "create send queue" */
	char cause[216];      /* why it failed, in words, with the numbers */
	char fix[216];	      /* what to change; may be empty */
	uint8_t wqe_bytes[64];
	uint8_t cqe_bytes[64];
};

/*
 * Fills code, step, fix and cause (a printf format) and returns code, so that a caller can write
 * "return crl_err_set(err, -EINVAL, ...)". err may be NULL; fix may be NULL: none.
 */
int crl_err_set(struct crl_err *err, int code, const char *step, const char *fix, const char *cause,
	...) __attribute__((format(printf, 5, 6)));

/* One line, "STEP: CAUSE. FIX", NUL-terminated, into buf of bytes. Returns buf. Any thread. */
const char *crl_err_str(const struct crl_err *err, char *buf, size_t bytes);

/* Words for the syndrome of an error CQE (byte 55); never NULL. Any thread. */
const char *crl_syndrome_str(uint8_t syndrome);

/*
 * Fills err from a queue's error mailbox (struct crl_qerror as bytes were copied by the caller):
 * code -EIO, queue, wqe, syndrome, vendor, dumps, and words for step, cause and fix.
 */
struct crl_qerror;
void crl_err_from_qerror(struct crl_err *err, const struct crl_qerror *qe);

#if defined(__cplusplus)
}
#endif

#endif /* CRL_ERR_H */
