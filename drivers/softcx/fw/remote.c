/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The host's half of a data path that steps elsewhere (dp/remote.h): commands over, doorbells of
 * the driver's pages over, frames between the wire and the step, reports back. Called by chan.c in
 * the stepping thread's place; like it, it never waits.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "../dp/remote.h"
#include "remote.h"

#define WIRE_BUDGET 64u

struct scx_fw_remote {
	struct scx_step *step;
	struct scx_remote *r;
	bool posted; /* a command is on its way */
	bool dead;
	uint32_t ring_ci, rx_ci, report_ci; /* the step's, when last looked at, and ours */
	uint32_t nr_pages;		    /* that a queue has named so far */
	uint32_t page[SCX_UAR_PAGES_MAX];
	uint8_t named[SCX_UAR_PAGES_MAX];
};

struct scx_fw_remote *
scx_fw_remote_new(struct scx_nic *nic)
{
	const struct scx_wire *wire = nic->cfg.wire;
	struct scx_fw_remote *x = calloc(1, sizeof(*x));

	if (x == NULL)
		return NULL;
	x->step = nic->cfg.step;
	x->r = x->step->remote;
	/* Constants, read with the first command. */
	scx_st32(&x->r->turnaround, wire == NULL || (wire->flags & SCX_WIRE_TURNAROUND));
	scx_st32(&x->r->patient, wire != NULL && wire->ops->back != NULL);
	return x;
}

void
scx_fw_remote_free(struct scx_fw_remote *x)
{
	if (x == NULL)
		return;
	x->step->end(x->step->arg);
	free(x);
}

/* The page that a new queue names is looked at from now on; what it held before is forgotten. */
static void
watch_page(struct scx_nic *nic, uint32_t page)
{
	struct scx_fw_remote *x = nic->remote;
	uint8_t *uar = (uint8_t *)nic->cfg.uar_base + (size_t)page * CRL_UAR_BYTES;

	if (page >= nic->cfg.nr_uar_pages || page >= SCX_UAR_PAGES_MAX || x->named[page])
		return;
	(void)scx_take64(uar + CRL_UAR_CQ_ARM);
	for (uint32_t r = 0; r < SCX_SEND_REGS; r++)
		(void)scx_take64(uar + CRL_UAR_BF_REG + r * CRL_UAR_BF_REG_BYTES);
	x->named[page] = 1;
	x->page[x->nr_pages++] = page;
	scx_st32(&x->r->pages, x->nr_pages);
}

void
scx_fw_remote_post(struct scx_nic *nic, bool stats)
{
	struct scx_fw_remote *x = nic->remote;
	const struct scx_dp_cmd *cmd = &nic->chan.cmd;

	if (!stats && cmd->op == SCX_DP_SQ_SET)
		watch_page(nic, cmd->u.sq.uar_page);
	if (!stats && cmd->op == SCX_DP_CQ_SET)
		watch_page(nic, cmd->u.cq.uar_page);
	x->r->what = stats ? SCX_REMOTE_STATS : SCX_REMOTE_COMMAND;
	if (!stats)
		x->r->cmd = *cmd;
	scx_fence_release(); /* pairs with the step's acquire of cmd_seq */
	scx_st32(&x->r->cmd_seq, x->r->cmd_seq + 1u);
	x->posted = true;
}

/* Whether the command that was posted has been carried out; its results are in the slot then. */
bool
scx_fw_remote_done(struct scx_nic *nic, bool stats)
{
	struct scx_fw_remote *x = nic->remote;

	if (!x->posted || scx_ld32_acquire(&x->r->cmd_done) != x->r->cmd_seq)
		return false;
	x->posted = false;
	nic->chan.rc = x->r->rc;
	if (stats)
		nic->chan.stats = x->r->stats;
	else
		memcpy(nic->chan.cmd.result, x->r->result, sizeof(nic->chan.cmd.result));
	return true;
}

/* One register: what it holds goes over. False: there is no room, it stays in the register. */
static bool
take_register(struct scx_fw_remote *x, uint32_t page, uint8_t *reg, bool arm, unsigned *work)
{
	struct scx_remote_ring *e = &x->r->ring[x->r->ring_pi % SCX_REMOTE_RINGS];

	if (scx_ld64(reg) == 0)
		return true;
	if (x->r->ring_pi - x->ring_ci == SCX_REMOTE_RINGS) {
		x->ring_ci = scx_ld32_acquire(&x->r->ring_ci);
		if (x->r->ring_pi - x->ring_ci == SCX_REMOTE_RINGS)
			return false;
	}
	e->page = page;
	e->arm = arm;
	e->raw = scx_take64(reg);
	scx_fence_release(); /* pairs with the step's acquire of ring_pi */
	scx_st32(&x->r->ring_pi, x->r->ring_pi + 1u);
	(*work)++;
	return true;
}

static unsigned
take_doorbells(struct scx_nic *nic)
{
	struct scx_fw_remote *x = nic->remote;
	unsigned work = 0;

	for (uint32_t i = 0; i < x->nr_pages; i++) {
		uint8_t *uar = (uint8_t *)nic->cfg.uar_base + (size_t)x->page[i] * CRL_UAR_BYTES;

		if (!take_register(x, x->page[i], uar + CRL_UAR_CQ_ARM, true, &work))
			return work;
		for (uint32_t r = 0; r < SCX_SEND_REGS; r++)
			if (!take_register(x, x->page[i],
				    uar + CRL_UAR_BF_REG + r * CRL_UAR_BF_REG_BYTES, false, &work))
				return work;
	}
	return work;
}

/*
 * Frames of the wire into the ring. A patient wire's frames wait in the ring for their place, so
 * that none is asked for back.
 */
static unsigned
wire_in(struct scx_fw_remote *x, struct scx_wire *wire)
{
	struct scx_frame f[SCX_RX_GROUP];
	struct scx_remote *r = x->r;
	unsigned room, n;

	x->rx_ci = scx_ld32_acquire(&r->rx_ci);
	room = SCX_REMOTE_FRAMES - (r->rx_pi - x->rx_ci);
	if (room > SCX_RX_GROUP)
		room = SCX_RX_GROUP;
	if (wire->ops->back != NULL && room > 1)
		room = 1; /* such a wire hands out one at a time */
	n = room > 0 ? wire->ops->recv(wire, f, room) : 0;
	for (unsigned i = 0; i < n; i++) {
		struct scx_remote_frame *to = &r->rx[(r->rx_pi + i) % SCX_REMOTE_FRAMES];

		to->len = f[i].len;
		to->flags = f[i].flags;
		memcpy(to->data, f[i].data, f[i].len < SCX_DP_FRAME_MAX ? f[i].len : 0);
	}
	if (n == 0)
		return 0;
	scx_fence_release(); /* pairs with the step's acquire of rx_pi */
	scx_st32(&r->rx_pi, r->rx_pi + n);
	return n;
}

/* What the step sent, to the wire, as much as that takes. */
static unsigned
wire_out(struct scx_fw_remote *x, struct scx_wire *wire)
{
	struct scx_remote *r = x->r;
	uint32_t nr = scx_ld32_acquire(&r->tx_pi) - r->tx_ci, n, i;
	struct scx_frame f[WIRE_BUDGET];

	if (nr > WIRE_BUDGET)
		nr = WIRE_BUDGET;
	for (i = 0; i < nr; i++) {
		const struct scx_remote_frame *from = &r->tx[(r->tx_ci + i) % SCX_REMOTE_FRAMES];

		f[i] = (struct scx_frame){from->data, from->len, from->flags};
	}
	n = nr > 0 ? wire->ops->send(wire, f, nr) : 0;
	if (n == 0)
		return 0;
	scx_fence_release(); /* pairs with the step's acquire of tx_ci: the slots are read */
	scx_st32(&r->tx_ci, r->tx_ci + n);
	return n;
}

bool
scx_fw_remote_report(struct scx_nic *nic, struct scx_dp_report *out)
{
	struct scx_fw_remote *x = nic->remote;

	if (scx_ld32_acquire(&x->r->report_pi) == x->report_ci)
		return false;
	*out = x->r->report[x->report_ci++ % SCX_REMOTE_REPORTS];
	scx_fence_release(); /* pairs with the step's acquire of report_ci */
	scx_st32(&x->r->report_ci, x->report_ci);
	return true;
}

unsigned
scx_fw_remote_turn(struct scx_nic *nic, uint64_t ticks)
{
	struct scx_fw_remote *x = nic->remote;
	struct scx_wire *wire = nic->cfg.wire;
	unsigned work = 0;
	int rc = x->dead ? 0 : x->step->keep(x->step->arg);

	if (rc != 0) {
		x->dead = true;
		scx_log(nic->name, "the NIC step in %s has ended: %s; the NIC is dead",
			x->step->where, x->step->why(x->step->arg));
	}
	if (x->dead)
		return 0;
	scx_st64(&x->r->clock, ticks);
	work += take_doorbells(nic);
	if (wire != NULL && !x->r->turnaround) {
		work += wire_out(x, wire);
		work += wire_in(x, wire);
	}
	return work;
}

bool
scx_fw_remote_dead(const struct scx_nic *nic)
{
	return nic->remote->dead;
}
