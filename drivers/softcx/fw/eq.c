/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Event queues of a guest's kernel: rings that the NIC writes 64-byte entries into, each with an
 * MSI-X vector that is raised once for each time that the driver armed the queue. Events come from
 * whoever steps the data path and from commands; both are the front's one thread.
 */
#include <stdlib.h>
#include <string.h>

#include "hca.h"
#include "ring.h"

#define EQE_BYTES     64u
#define EQE_TYPE      1u
#define EQE_SUBTYPE   3u
#define EQE_DATA      0x20u
#define EQE_OWNER     63u
#define EQ_LOG_SZ_MAX 22u
#define EQ_DELIVERY   64u /* bits of one word of the mask */

struct eq {
	uint8_t *ring;
	uint32_t log_size, vector;
	uint32_t pi, ci; /* free-running, 24 bits of ci are the driver's */
	uint64_t mask[4];
	bool armed, full_told;
};

static void
entry(struct scx_nic *nic, struct scx_fw_obj *obj, const uint8_t *e)
{
	const struct scx_guest *g = nic->cfg.guest;
	struct eq *eq = obj->own;
	uint8_t *at = eq->ring + (size_t)(eq->pi & ((1u << eq->log_size) - 1)) * EQE_BYTES;

	if (((eq->pi - eq->ci) & 0xffffff) >= 1u << eq->log_size) {
		if (!eq->full_told)
			scx_log(nic->name, "event queue 0x%x is full, events are lost", obj->num);
		eq->full_told = true;
		return;
	}
	memcpy(at, e, EQE_OWNER);
	/* Pairs with the driver's read barrier between owner bit and the rest. */
	__atomic_store_n(at + EQE_OWNER, (uint8_t)(eq->pi >> eq->log_size & 1), __ATOMIC_RELEASE);
	eq->pi++;
	if (!eq->armed)
		return;
	eq->armed = false;
	g->irq(g->arg, eq->vector);
}

static void
put32(uint8_t *at, uint32_t v)
{
	crl_be32 be = crl_to_be32(v);

	memcpy(at, &be, sizeof(be));
}

/* The queue that takes events of the type; the lowest number, when several do. */
static struct scx_fw_obj *
taker(struct scx_nic *nic, uint8_t type)
{
	const struct scx_fw_table *t = &nic->table[SCX_FW_EQ];

	for (uint32_t i = t->first; i < t->max; i++) {
		const struct eq *eq = t->slot[i] != NULL ? t->slot[i]->own : NULL;

		if (eq != NULL && eq->mask[type / EQ_DELIVERY] >> type % EQ_DELIVERY & 1)
			return t->slot[i];
	}
	return NULL;
}

static struct scx_fw_obj *
eq_of_cq(struct scx_nic *nic, uint32_t cqn)
{
	const struct scx_fw_table *t = &nic->table[SCX_FW_CQ];
	struct scx_fw_obj *cq = NULL;

	if (cqn >= t->base && cqn - t->base < t->max)
		cq = t->slot[cqn - t->base];
	for (uint32_t i = 0; cq != NULL && i < cq->nr_hold; i++)
		if (cq->hold[i]->kind == SCX_FW_EQ)
			return cq->hold[i];
	return NULL;
}

void
scx_fw_eq_event(struct scx_nic *nic, const struct scx_event *ev)
{
	struct scx_fw_obj *to =
		ev->type == SCX_EVENT_COMPLETION ? eq_of_cq(nic, ev->obj) : taker(nic, ev->type);
	uint8_t e[EQE_BYTES] = {[EQE_TYPE] = ev->type};

	if (to == NULL)
		return; /* nobody asked */
	switch (ev->type) {
	case SCX_EVENT_COMPLETION:
		put32(e + EQE_DATA + 24, ev->obj);
		break;
	case SCX_EVENT_CQ_ERROR:
		put32(e + EQE_DATA, ev->obj);
		e[EQE_DATA + 11] = 1; /* syndrome: overrun */
		break;
	case SCX_EVENT_WQ_CATAS_ERROR:
		e[EQE_DATA + 20] = ev->subtype;
		put32(e + EQE_DATA + 24, ev->obj);
		break;
	case SCX_EVENT_COMMAND:
		put32(e + EQE_DATA, ev->obj);
		break;
	case SCX_EVENT_PAGE_REQUEST: /* function 0 */
		put32(e + EQE_DATA + 4, ev->obj);
		break;
	case SCX_EVENT_PORT_CHANGE:
		e[EQE_SUBTYPE] = ev->subtype;
		e[EQE_DATA + 8] = (uint8_t)(ev->obj << 4);
		break;
	}
	entry(nic, to, e);
}

int
scx_eq_takes(struct scx_nic *nic, uint8_t type)
{
	return taker(nic, type) != NULL;
}

void
scx_eq_command_done(struct scx_nic *nic, uint32_t slots)
{
	const struct scx_event ev = {.type = SCX_EVENT_COMMAND, .obj = slots};

	scx_fw_eq_event(nic, &ev);
}

void
scx_eq_doorbell(struct scx_nic *nic, uint32_t eqn, uint32_t ci, int arm)
{
	const struct scx_guest *g = nic->cfg.guest;
	const struct scx_fw_table *t = &nic->table[SCX_FW_EQ];
	struct eq *eq = eqn < t->max && t->slot[eqn] != NULL ? t->slot[eqn]->own : NULL;

	if (eq == NULL) {
		scx_log(nic->name, "doorbell for event queue 0x%x, which does not exist", eqn);
		return;
	}
	eq->ci = ci & 0xffffff;
	eq->full_told = false;
	if (!arm)
		return;
	eq->armed = ((eq->pi - eq->ci) & 0xffffff) == 0;
	if (!eq->armed) /* what came in between is told at once */
		g->irq(g->arg, eq->vector);
}

unsigned
scx_eq_pages(struct scx_nic *nic, uint32_t *page, unsigned max)
{
	const struct scx_fw_table *t = &nic->table[SCX_FW_EQ];
	unsigned nr = 0, k;

	for (uint32_t i = t->first; i < t->max && nr < max; i++) {
		if (t->slot[i] == NULL)
			continue;
		page[nr] = crl_prm_get(t->slot[i]->ctx, CRL_PRM_EQC_UAR_PAGE);
		for (k = 0; page[k] != page[nr]; k++)
			;
		nr += k == nr;
	}
	return nr;
}

static const uint32_t eqc_not_offered[] = {
	CRL_PRM_EQC_STATUS,
	CRL_PRM_EQC_EC,
	CRL_PRM_EQC_OI,
	CRL_PRM_EQC_ST,
	CRL_PRM_EQC_CONSUMER_COUNTER,
	CRL_PRM_EQC_PRODUCER_COUNTER,
};

static int
check(struct scx_fw_call *c, const void *eqc)
{
	uint32_t size = crl_prm_get(eqc, CRL_PRM_EQC_LOG_EQ_SIZE);
	uint32_t vector = crl_prm_get(eqc, CRL_PRM_EQC_INTR);

	if (!scx_fw_fields_zero(c, SCX_LAYOUT_EQC, eqc, eqc_not_offered,
		    sizeof(eqc_not_offered) / sizeof(eqc_not_offered[0])))
		return -1;
	if (size > EQ_LOG_SZ_MAX)
		return scx_fw_refuse(c, SCX_FW_R_EQ_SIZE, NULL, 0,
			"log_eq_size is %u, the most is %u", size, EQ_LOG_SZ_MAX);
	if (vector >= c->nic->cfg.guest->nr_irqs)
		return scx_fw_refuse(c, SCX_FW_R_EQ_VECTOR, NULL, 0, "intr is %u of %u vectors",
			vector, c->nic->cfg.guest->nr_irqs);
	if (crl_prm_get(eqc, CRL_PRM_EQC_LOG_PAGE_SIZE) + SCX_LOG_PAGE > SCX_LOG_PAGE_MAX)
		return scx_fw_refuse(c, SCX_FW_R_RING_BOUNDS, NULL, 0, "log_page_size is %u",
			crl_prm_get(eqc, CRL_PRM_EQC_LOG_PAGE_SIZE));
	return 0;
}

static int
fill(struct scx_fw_call *c, struct scx_fw_obj *obj, const void *eqc)
{
	uint32_t log_page = SCX_LOG_PAGE + crl_prm_get(eqc, CRL_PRM_EQC_LOG_PAGE_SIZE);
	uint64_t within = (1ull << log_page) / 64 * crl_prm_get(eqc, CRL_PRM_EQC_PAGE_OFFSET);
	uint64_t bytes = (uint64_t)EQE_BYTES << crl_prm_get(eqc, CRL_PRM_EQC_LOG_EQ_SIZE);
	const uint8_t *mask = crl_prm_at(c->in, CRL_PRM_CREATE_EQ_IN_EVENT_BITMASK);
	struct eq *eq = calloc(1, sizeof(*eq));
	int rc;

	if (eq == NULL)
		return scx_fw_refuse(c, SCX_FW_R_FULL, NULL, 0, "no memory for an event queue");
	eq->log_size = crl_prm_get(eqc, CRL_PRM_EQC_LOG_EQ_SIZE);
	eq->vector = crl_prm_get(eqc, CRL_PRM_EQC_INTR);
	for (unsigned i = 0; i < 4; i++)
		eq->mask[i] = crl_prm_get64(mask + (size_t)i * 8, 64);
	if (scx_fw_get_hold(c, obj, SCX_FW_UAR, crl_prm_get(eqc, CRL_PRM_EQC_UAR_PAGE)) == NULL)
		rc = -1;
	else
		rc = scx_fw_pages(c, obj, c->in + CRL_PRM_CREATE_EQ_IN_BYTES,
			&(struct scx_pages){.log_page = log_page,
				.from = within,
				.least = bytes,
				.most = bytes});
	if (rc != 0) {
		free(eq);
		return rc;
	}
	eq->ring = obj->map;
	obj->own = eq; /* from now on it takes events */
	return 0;
}

int
scx_cmd_create_eq(struct scx_fw_call *c)
{
	const void *eqc = crl_prm_at(c->in, CRL_PRM_CREATE_EQ_IN_EQ_CONTEXT_ENTRY);
	struct scx_fw_obj *obj;
	int rc = check(c, eqc);

	if (rc != 0)
		return rc;
	obj = scx_fw_new(c, SCX_FW_EQ);
	if (obj == NULL)
		return -1;
	memcpy(obj->ctx, eqc, CRL_PRM_EQC_BYTES);
	rc = fill(c, obj, eqc);
	if (rc != 0) {
		scx_fw_free(c->nic, obj);
		return rc;
	}
	crl_prm_set(c->out, CRL_PRM_CREATE_EQ_OUT_EQ_NUMBER, obj->num);
	return 0;
}

int
scx_cmd_query_eq(struct scx_fw_call *c)
{
	struct scx_fw_obj *obj =
		scx_fw_get(c, SCX_FW_EQ, crl_prm_get(c->in, CRL_PRM_QUERY_EQ_IN_EQ_NUMBER));
	void *eqc = crl_prm_at(c->out, CRL_PRM_QUERY_EQ_OUT_EQ_CONTEXT_ENTRY);
	const struct eq *eq;

	if (obj == NULL)
		return -1;
	eq = obj->own;
	memcpy(eqc, obj->ctx, CRL_PRM_EQC_BYTES);
	crl_prm_set(eqc, CRL_PRM_EQC_CONSUMER_COUNTER, eq->ci);
	crl_prm_set(eqc, CRL_PRM_EQC_PRODUCER_COUNTER, eq->pi & 0xffffff);
	return 0;
}

int
scx_cmd_destroy_eq(struct scx_fw_call *c)
{
	return scx_fw_destroy_num(c, SCX_FW_EQ, CRL_PRM_DESTROY_EQ_IN_EQ_NUMBER);
}
