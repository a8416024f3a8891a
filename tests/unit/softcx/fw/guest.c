/* SPDX-License-Identifier: BSD-3-Clause */
/* See guest.h. */
#include "guest.h"

CRL_ALIGNAS(4096) uint8_t bus[BUS_BYTES];
static struct scx_extents extents = {1, {{0, BUS_BYTES}}};
unsigned irqs[VECTORS];

static void *
bus_at(void *arg, uint64_t addr, uint64_t bytes)
{
	return addr <= BUS_BYTES && bytes <= BUS_BYTES - addr ? bus + addr : NULL;
}

/* Only pages that follow each other: enough for the firmware, the mapping has its own test. */
static void *
bus_map(void *arg, const struct scx_pages *want, uint64_t *bytes)
{
	for (uint32_t i = 1; i < want->nr; i++)
		if (want->page[i] != want->page[i - 1] + (1ull << want->log_page))
			return NULL;
	*bytes = want->most;
	while (*bytes > want->least && bus_at(arg, want->page[0] + want->from, *bytes) == NULL)
		*bytes -= 4096;
	return bus_at(arg, want->page[0] + want->from, *bytes);
}

static void
bus_unmap(void *arg, void *base, uint64_t bytes)
{
	assert_in_range((uintptr_t)base, (uintptr_t)bus, (uintptr_t)bus + BUS_BYTES);
}

static void *
bus_all(void *arg, uint64_t *bytes, const struct scx_extents **holes)
{
	*bytes = BUS_BYTES;
	*holes = &extents;
	return bus;
}

static void
bus_irq(void *arg, uint32_t vector)
{
	assert_in_range(vector, 0, VECTORS - 1);
	irqs[vector]++;
}

static const struct scx_guest guest = {
	NULL, bus_at, bus_map, bus_unmap, bus_all, bus_irq, VECTORS, 1};

static int new (void **state, bool roce)
{
	struct fx *fx = fx_make_guest(NULL, &guest, roce);

	memset(bus, 0, sizeof(bus));
	memset(irqs, 0, sizeof(irqs));
	fx->uid = 0;
	*state = fx;
	return 0;
}

int
guest_new(void **state)
{
	return new (state, false);
}

int
guest_new_roce(void **state)
{
	return new (state, true);
}

int
guest_free(void **state)
{
	fx_drop(*state);
	return 0;
}

uint8_t *
guest_cmd_eq(struct fx *fx, uint32_t vector, uint64_t mask)
{
	uint8_t *in = fx_in(fx, CRL_CMD_OP_CREATE_EQ, CRL_PRM_CREATE_EQ_IN_BYTES + 8, 16);
	uint8_t *eqc = crl_prm_at(in, CRL_PRM_CREATE_EQ_IN_EQ_CONTEXT_ENTRY);

	crl_prm_set(eqc, CRL_PRM_EQC_LOG_EQ_SIZE, EQ_LOG);
	crl_prm_set(eqc, CRL_PRM_EQC_UAR_PAGE, fx->uar);
	crl_prm_set(eqc, CRL_PRM_EQC_INTR, vector);
	crl_prm_set64(crl_prm_at(in, CRL_PRM_CREATE_EQ_IN_EVENT_BITMASK), 64, mask);
	crl_prm_set64(in + CRL_PRM_CREATE_EQ_IN_BYTES, 64, EQ_AT);
	return eqc;
}

void
cmd_roce(struct fx *fx, uint32_t on)
{
	uint8_t *in = fx_in(fx, CRL_CMD_OP_MODIFY_NIC_VPORT_CONTEXT,
		CRL_PRM_MODIFY_NIC_VPORT_CONTEXT_IN_BYTES, 16);

	crl_prm_set(crl_prm_at(in, CRL_PRM_MODIFY_NIC_VPORT_CONTEXT_IN_FIELD_SELECT),
		CRL_PRM_NIC_VPORT_SELECT_ROCE_EN, 1);
	crl_prm_set(crl_prm_at(in, CRL_PRM_MODIFY_NIC_VPORT_CONTEXT_IN_NIC_VPORT_CONTEXT),
		CRL_PRM_NIC_VPORT_CONTEXT_ROCE_EN, on);
}
