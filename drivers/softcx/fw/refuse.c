/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Refusals: counted, and told once of each kind and NIC, in words and with the bytes that were
 * wrong. Commands refuse under the NIC's lock, the data path's refusals come from whoever steps it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "fw.h"

static _Atomic uint64_t times[SCX_FW_R_COUNT]; /* all NICs of the process together */

/* clang-format off */
#define INFO(id, status, advice) {#id, CRL_CMD_STAT_##status, advice},
static const struct {
	const char *name;
	uint32_t status;
	const char *advice;
} infos[SCX_FW_R_COUNT] = {SCX_FW_REFUSE_LIST(INFO)};

#define DP_INFO(id, words, advice) {#id, words, advice},
static const struct {
	const char *name;
	const char *words; /* a format for two unsigned long long */
	const char *advice;
} dp_infos[SCX_DP_R_COUNT] = {SCX_DP_REFUSE_LIST(DP_INFO)};

#define STATUS_WORDS(NAME, value, words) case value: return words;
/* clang-format on */

static const char *
status_words(uint32_t status)
{
	switch (status) {
		CRL_CMD_STATS(STATUS_WORDS)
	}
	return "?";
}

int
scx_fw_refuse(struct scx_fw_call *c, enum scx_fw_refusal why, const void *bytes, size_t nr_bytes,
	const char *fmt, ...)
{
	char text[400];
	va_list ap;

	c->status = infos[why].status;
	c->syndrome = SCX_SYNDROME | (uint32_t)why;
	atomic_fetch_add(&times[why], 1);
	if (atomic_fetch_add(&c->nic->refused[why], 1) > 0)
		return -EREMOTEIO;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	scx_log(c->nic->name, "%s refused, %s (status 0x%02x, syndrome 0x%08x %s): %s; %s", c->name,
		status_words(c->status), c->status, c->syndrome, infos[why].name, text,
		infos[why].advice);
	if (nr_bytes > 0)
		scx_log_bytes(c->nic->name, bytes, nr_bytes);
	return -EREMOTEIO;
}

uint64_t
scx_fw_refused(enum scx_fw_refusal why)
{
	return atomic_load(&times[why]);
}

const char *
scx_fw_refusal_name(enum scx_fw_refusal why)
{
	return infos[why].name;
}

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
void
scx_fw_dp_refused(struct scx_nic *nic, const struct scx_dp_report *r)
{
	char text[300];

	if (r->why >= SCX_DP_R_COUNT)
		return;
	if (atomic_fetch_add(&nic->dp_refused[r->why], 1) > 0)
		return;
	snprintf(text, sizeof(text), dp_infos[r->why].words, (unsigned long long)r->value[0],
		(unsigned long long)r->value[1]);
	scx_log(nic->name, "queue 0x%x, WQE %u, %s: %s; %s", r->num, r->index,
		dp_infos[r->why].name, text, dp_infos[r->why].advice);
	scx_log_bytes(nic->name, r->bytes, sizeof(r->bytes));
}
#pragma GCC diagnostic pop

void
scx_fw_refusal_report(struct scx_nic *nic)
{
	unsigned triggered = 0;

	for (unsigned i = 0; i < SCX_FW_R_COUNT; i++) {
		uint64_t n = atomic_load(&nic->refused[i]);

		triggered += n > 0;
		if (n > 0)
			scx_log(nic->name, "refused %" PRIu64 " times: command %s", n,
				infos[i].name);
	}
	for (unsigned i = 0; i < SCX_DP_R_COUNT; i++) {
		uint64_t n = atomic_load(&nic->dp_refused[i]);

		triggered += n > 0;
		if (n > 0)
			scx_log(nic->name, "refused %" PRIu64 " times: data path %s", n,
				dp_infos[i].name);
	}
	scx_log(nic->name, "refusals defined %u, triggered %u",
		(unsigned)SCX_FW_R_COUNT + (unsigned)SCX_DP_R_COUNT, triggered);
}
