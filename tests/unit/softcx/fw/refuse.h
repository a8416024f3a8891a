/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the parts of test_fw_refuse.c share: fields that get wrong values, and the list of its
 * tests.
 */
#ifndef SCX_TEST_REFUSE_H
#define SCX_TEST_REFUSE_H

#include "fixture.h"

/* A field of a context gets a value, the command is refused, with 0 or the right value it is not.
 */
struct wrong {
	uint32_t field, value;
	enum scx_fw_refusal why;
};

static inline void
try_fields(struct fx *fx, uint8_t *ctx, const struct wrong *w, size_t nr)
{
	for (size_t i = 0; i < nr; i++) {
		uint32_t right = crl_prm_get(ctx, w[i].field);

		crl_prm_set(ctx, w[i].field, w[i].value);
		fx_refused(fx, w[i].why);
		crl_prm_set(ctx, w[i].field, right);
	}
	fx_ok(fx);
}

static inline void
try_fields64(struct fx *fx, uint8_t *ctx, uint32_t field, uint64_t value, enum scx_fw_refusal why)
{
	uint64_t right = crl_prm_get64(ctx, field);

	crl_prm_set64(ctx, field, value);
	fx_refused(fx, why);
	crl_prm_set64(ctx, field, right);
}

#define TRY(ctx, table) try_fields(fx, ctx, table, sizeof(table) / sizeof((table)[0]))

/* refuse_queues.c */
void refuse_cq(void **state);
void refuse_sq(void **state);
void refuse_rq(void **state);
void refuse_modify(void **state);
/* refuse_others.c */
void refuse_rqt(void **state);
void refuse_tir_and_tis(void **state);
void refuse_other_uid(void **state);
void refuse_tables_fill_up(void **state);
void refuse_memory(void **state);
void refuse_flows(void **state);

#endif /* SCX_TEST_REFUSE_H */
