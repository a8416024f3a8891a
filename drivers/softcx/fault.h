/* SPDX-License-Identifier: BSD-3-Clause */
/* clang-format off */
/*
 * The fault plan: what a NIC does wrong, or does as early as it may, on purpose. `softcx run
 * --faults=SPEC` gives it; the data path carries it out (dp/fault.h). A driver that keeps the rules
 * works on with overwrite and records, and reports the two errors in words.
 *
 * SPEC is a list with commas:
 *   send-error=N  the Nth send of the NIC completes in error, its syndrome by the seed
 *   recv-error=N  the Nth frame received by a queue of the NIC completes in error
 *   dma-delay=N   what the NIC writes arrives up to N steps later (1 to 255), in any order that
 *                 PCI Express allows: dp/late.h
 *   overwrite     a receive buffer, and a CQE but for its owner word, is filled with 0xdb as soon
 *                 as the NIC sees that it was given back
 *   records       send records are read between doorbells, and what they count is sent
 * and for `softcx serve` and `softcx vfio`, whose NIC has firmware of its own, where C is the Cth
 * command after INIT_HCA:
 *   pages=N@C     the firmware asks for N pages more; -N: it would give N back. Up to eight times
 *   health=S@C    the firmware stops, with health syndrome S (0 to 255), until it is reset
 *   link-flap=MS  the link goes down and up, each after up to MS ms, by the seed
 */
/* clang-format on */
#ifndef SCX_FAULT_H
#define SCX_FAULT_H

#include <stddef.h>
#include <stdint.h>

#define SCX_FAULT_PAGES_MAX 8u

struct scx_fault_plan {
	uint64_t send_error, recv_error; /* counted from 1 over all queues of the NIC; 0: none */
	uint32_t dma_delay; /* steps of the data path, at most; 0: none */
	/* of a PCI device's firmware: at the at-th command after INIT_HCA */
	struct scx_fault_at {
		uint64_t at; /* 0: none */
		int32_t nr;
	} pages[SCX_FAULT_PAGES_MAX], health;
	uint32_t nr_pages;
	uint32_t link_flap; /* ms, at most, between two changes of the link; 0: none */
	uint8_t overwrite, records;
};

/* 0; -EINVAL: why has the word that is wrong. An empty spec is no plan. */
int scx_fault_parse(const char *spec, struct scx_fault_plan *plan, char *why, size_t why_bytes);

#endif /* SCX_FAULT_H */
