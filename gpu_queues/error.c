/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Errors in words: filling and printing struct crl_err, and the words of an error CQE's syndrome.
 * Host only, any thread: nothing here has state.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "err.h"
#include "queue.h"

#define PUBLIC __attribute__((visibility("default")))

/* PRM, "Error CQE syndromes", with what each means for a queue of Ethernet frames. */
static const struct {
	uint8_t code;
	const char *words;
} syndromes[] = {
	{CRL_SYND_LOCAL_LENGTH,
		"local length error: a frame is longer than its buffer or the MTU, or "
		"lacks the headers that must be inline"},
	{CRL_SYND_LOCAL_QP_OP, "local operation error: the WQE is malformed"},
	{CRL_SYND_LOCAL_PROT, "local protection error: a key does not cover the address"},
	{CRL_SYND_WR_FLUSH, "flushed: the queue was in error already"},
	{0x06, "memory window bind error"},
	{CRL_SYND_BAD_RESP, "bad response"},
	{CRL_SYND_LOCAL_ACCESS, "local access error: the NIC may not write that memory"},
	{0x12, "remote invalid request"},
	{0x13, "remote access error"},
	{0x14, "remote operation error"},
	{0x15, "transport retries exceeded"},
	{0x16, "receiver-not-ready retries exceeded"},
	{0x22, "remote aborted"},
};

PUBLIC const char *
crl_syndrome_str(uint8_t syndrome)
{
	for (size_t i = 0; i < sizeof(syndromes) / sizeof(syndromes[0]); i++)
		if (syndromes[i].code == syndrome)
			return syndromes[i].words;
	return "unknown syndrome";
}

PUBLIC int
crl_err_set(
	struct crl_err *err, int code, const char *step, const char *fix, const char *cause, ...)
{
	va_list ap;

	if (err == NULL)
		return code;
	memset(err, 0, sizeof(*err));
	err->code = code;
	snprintf(err->step, sizeof(err->step), "%s", step);
	snprintf(err->fix, sizeof(err->fix), "%s", fix != NULL ? fix : "");
	va_start(ap, cause);
	vsnprintf(err->cause, sizeof(err->cause), cause, ap);
	va_end(ap);
	return code;
}

PUBLIC const char *
crl_err_str(const struct crl_err *err, char *buf, size_t bytes)
{
	if (bytes == 0)
		return buf;
	if (err->code == 0)
		snprintf(buf, bytes, "no error");
	else
		snprintf(buf, bytes, "%s: %s%s%s", err->step, err->cause,
			err->fix[0] ? ". Fix: " : "", err->fix);
	return buf;
}

/* Cause and fix of what is not an error CQE. */
static void
set_engine_error(struct crl_err *err, const struct crl_qerror *qe, const char *step)
{
	const char *fix = "destroy the queue and create it again; report it with the dump";

	switch (qe->kind) {
	case CRL_QERR_OPCODE:
		crl_err_set(err, -EIO, step, fix,
			"queue 0x%x: a CQE with an opcode it cannot get (0x%x)", qe->queue,
			qe->cqe[63] >> 4);
		break;
	case CRL_QERR_COUNTER:
		crl_err_set(err, -EIO, step, fix,
			"queue 0x%x: a CQE for WQE %u, which is not outstanding", qe->queue,
			qe->wqe);
		break;
	case CRL_QERR_TURN:
		crl_err_set(err, -EIO, step,
			"see what became of the producer that reserved before it; create the queue "
			"again",
			"queue 0x%x: the turn of the range at WQEBB %u did not come", qe->queue,
			qe->wqe);
		break;
	case CRL_QERR_ABI:
		crl_err_set(err, -EIO, step, "build engine and program from the same version",
			"queue 0x%x: the queue has device ABI %u, the engine %u", qe->queue,
			qe->wqe, CRL_DEV_ABI);
		break;
	default:
		crl_err_set(err, -EIO, step, fix,
			"queue 0x%x: the NIC reports more bytes than the buffer has (WQE %u)",
			qe->queue, qe->wqe);
	}
}

/*
 * Cards tell two protection errors apart only by the vendor syndrome: a key that does not fit, and
 * memory that did not answer on PCIe (0x51 sending, 0x56 receiving). tests/corpus has both.
 */
static const char *
cqe_fix(const struct crl_qerror *qe)
{
	if (qe->syndrome == CRL_SYND_LOCAL_PROT && (qe->vendor == 0x51 || qe->vendor == 0x56))
		return "the key fits but the memory did not answer on PCIe: IOMMU, ACS, or GPU "
		       "memory "
		       "that is not shared; run carillon-doctor";
	if (qe->syndrome == CRL_SYND_LOCAL_PROT || qe->syndrome == CRL_SYND_LOCAL_ACCESS)
		return "register the memory that the WQE names, and use its key";
	if (qe->syndrome == CRL_SYND_LOCAL_LENGTH && qe->is_rx)
		return "give receive buffers room for the port's MTU (rx_buf_bytes; "
		       "carillon-testpmd's --mbuf-size), and create the queue again";
	return "destroy the queue and create it again";
}

PUBLIC void
crl_err_from_qerror(struct crl_err *err, const struct crl_qerror *qe)
{
	const char *step = qe->is_rx ? "receive" : "send";

	if (qe->kind != CRL_QERR_CQE)
		set_engine_error(err, qe, step);
	else
		crl_err_set(err, -EIO, step, cqe_fix(qe),
			"queue 0x%x stopped at WQE %u: %s (syndrome 0x%02x, vendor 0x%02x)",
			qe->queue, qe->wqe, crl_syndrome_str(qe->syndrome), qe->syndrome,
			qe->vendor);
	err->queue = qe->queue;
	err->wqe = qe->wqe;
	err->syndrome = qe->syndrome;
	err->vendor = qe->vendor;
	err->is_rx = qe->is_rx;
	memcpy(err->wqe_bytes, qe->wqe_bytes, sizeof(err->wqe_bytes));
	memcpy(err->cqe_bytes, qe->cqe, sizeof(err->cqe_bytes));
}
