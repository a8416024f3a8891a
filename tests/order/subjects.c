/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hb_check runs: each engine by threads, and by a warp where run_cuda.cu has it so; each way
 * to use a queue that no engine has. A new engine belongs here: hb_check intact fails without it.
 */
#include <string.h>

#include "check.h"

const struct subject subjects[] = {
	{"5tswap", program_engine, "5tswap", false, true},
	{"flowgen", program_engine, "flowgen", false, false},
	{"icmpecho", program_engine, "icmpecho", false, false},
	{"io", program_engine, "io", false, true},
	{"macswap", program_engine, "macswap", false, false},
	{"pingpong", program_engine, "pingpong", false, false},
	{"rxonly", program_engine, "rxonly", false, false},
	{"stamp", program_engine, "stamp", false, false},
	{"txonly", program_engine, "txonly", false, false},
	{"txfirst", program_first, "io", false, true},
	{"own", program_own, "macswap", false, false},
	/* thrice, under schedules of their own: what host and engine do then meets rarely */
	{"error", program_engine, "macswap", true, false},
	{"error", program_engine, "macswap", true, true},
	{"error", program_engine, "5tswap", true, false},
	{"dev", program_dev, NULL, false, false},
	{"5tswap_warp", program_warp, "5tswap", false, false},
	{"flowgen_warp", program_warp, "flowgen", false, false},
	{"icmpecho_warp", program_warp, "icmpecho", false, false},
	{"io_warp", program_warp, "io", false, true},
	{"macswap_warp", program_warp, "macswap", false, false},
	{"rxonly_warp", program_warp, "rxonly", false, false},
	{"stamp_warp", program_warp, "stamp", false, true},
	{"txonly_warp", program_warp, "txonly", false, true},
	{"own_warp", program_own_warp, "5tswap", false, false},
	{"error_warp", program_warp, "macswap", true, true},
	{"share", program_share, NULL, false, false},
	{"burst", program_burst, NULL, false, false},
	{"combine", program_combine, NULL, false, false},
	{"split", program_split, NULL, false, false},
};
const uint32_t nr_subjects = sizeof(subjects) / sizeof(subjects[0]);

const char *
subject_missing(void)
{
	const struct crl_engine *e;
	uint32_t i;

	for (e = crl_engines; e->name; e++) {
		for (i = 0; i < nr_subjects; i++)
			if (strcmp(subjects[i].name, e->name) == 0)
				break;
		if (i == nr_subjects)
			return e->name;
	}
	return NULL;
}
