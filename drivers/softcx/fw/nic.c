/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A NIC from creation to report, its user contexts and its port: the part of softcx.h that is no
 * command and no memory. The thread that steps NICs is in thread.c.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../../../gpu_queues/wire/cqe.h"
#include "../fault.h"
#include "hca.h"
#include "remote.h"

static bool
mtu_ok(uint32_t mtu)
{
	return mtu >= SCX_MTU_MIN && mtu <= SCX_MTU_MAX;
}

void
scx_fw_event(struct scx_nic *nic, const struct scx_event *ev)
{
	if (nic->hca != NULL)
		scx_fw_eq_event(nic, ev);
	else if (nic->cfg.event != NULL)
		nic->cfg.event(nic->cfg.event_arg, ev);
}

/* Tell the data path about the port: its MTU, or that the link is down. */
int
scx_fw_port_set(struct scx_nic *nic)
{
	struct scx_dp_cmd cmd = {.op = SCX_DP_PORT_SET};

	cmd.arg = atomic_load(&nic->link_up) ? nic->cfg.mtu : 0;
	return scx_fw_dp(nic, &cmd);
}

static int
dp_create(struct scx_nic *nic)
{
	if ((nic->cfg.step != NULL) + (nic->cfg.faults != NULL) + (nic->cfg.copy != NULL) > 1)
		return -EOPNOTSUPP; /* the plan stays on this side, and none is silently left out */
	if (nic->cfg.step != NULL) {
		nic->remote = scx_fw_remote_new(nic);
		return nic->remote != NULL ? scx_fw_port_set(nic) : -ENOMEM;
	}
	/* Its own pages: the data path's tables are large and start out as zeros either way. */
	int rc = posix_memalign((void **)&nic->dp, SCX_PAGE, scx_dp_bytes());

	if (rc != 0) {
		nic->dp = NULL;
		return -rc;
	}
	scx_dp_init(nic->dp, nic->cfg.uar_base, nic->cfg.nr_uar_pages, nic->cfg.seed);
	scx_dp_copy(nic->dp, nic->cfg.copy);
	scx_dp_faults(nic->dp, nic->cfg.faults);
	if (nic->cfg.faults != NULL && nic->cfg.faults->dma_delay != 0) {
		rc = posix_memalign(&nic->late, 64, scx_dp_late_bytes());
		if (rc != 0) {
			nic->late = NULL;
			return -rc;
		}
		scx_dp_late(nic->dp, nic->late);
	}
	return scx_fw_port_set(nic);
}

int
scx_nic_create(const struct scx_nic_cfg *cfg, struct scx_nic **out)
{
	const struct scx_fw_profile *profile = scx_fw_profile(cfg->profile);
	struct scx_nic *nic;
	int rc;

	if (profile == NULL || cfg->uar_base == NULL || cfg->nr_uar_pages < 2 || !mtu_ok(cfg->mtu))
		return -EINVAL;
	nic = calloc(1, sizeof(*nic));
	if (nic == NULL)
		return -ENOMEM;
	nic->cfg = *cfg;
	nic->profile = profile;
	nic->clock_khz = profile->khz;
	nic->uid_next = 1;
	snprintf(nic->name, sizeof(nic->name), "%s", cfg->name ? cfg->name : "nic");
	pthread_mutex_init(&nic->lock, NULL);
	pthread_mutex_init(&nic->step_lock, NULL);
	atomic_init(&nic->link_up, true);
	rc = scx_fw_tables_init(nic);
	if (rc == 0 && cfg->guest != NULL)
		rc = scx_fw_hca_init(nic);
	if (rc == 0)
		rc = dp_create(nic);
	if (rc != 0) {
		nic->cfg.wire = NULL; /* stays the caller's, as does the step */
		free(nic->remote);
		nic->remote = NULL;
		scx_nic_destroy(nic);
		return rc;
	}
	scx_log(nic->name, "profile %s, seed %" PRIu64 ", MTU %u", profile->name, cfg->seed,
		cfg->mtu);
	if (cfg->step != NULL)
		scx_log(nic->name, "the NIC step runs in %s", cfg->step->where);
	*out = nic;
	return 0;
}

/* A step elsewhere is told to end and waited for. */
static void
end_remote(struct scx_nic *nic)
{
	uint64_t told = scx_fw_now_ns();

	if (nic->remote == NULL)
		return;
	scx_fw_remote_free(nic->remote);
	scx_log(nic->name, "the NIC step ended %.2f ms after it was told",
		(double)(scx_fw_now_ns() - told) / 1e6);
}

void
scx_nic_destroy(struct scx_nic *nic)
{
	if (nic == NULL)
		return;
	if (nic->thread != NULL)
		scx_nic_stop(&nic, 1);
	if (nic->cfg.wire != NULL)
		nic->cfg.wire->ops->close(nic->cfg.wire);
	end_remote(nic);
	scx_fw_tables_fini(nic);
	scx_fw_hca_fini(nic);
	free(nic->dp);
	free(nic->late);
	pthread_mutex_destroy(&nic->step_lock);
	pthread_mutex_destroy(&nic->lock);
	free(nic);
}

struct scx_wire *
scx_nic_take_wire(struct scx_nic *nic)
{
	struct scx_wire *w = nic->cfg.wire;

	nic->cfg.wire = NULL;
	return w;
}

int
scx_fw_uid_alloc(struct scx_nic *nic, uint16_t *uid)
{
	for (uint16_t n = 1; n < SCX_UID_MAX; n++) {
		uint16_t u = nic->uid_next;

		nic->uid_next = u + 1u < SCX_UID_MAX ? u + 1 : 1;
		if (!nic->uid_used[u]) {
			nic->uid_used[u] = 1;
			*uid = u;
			return 0;
		}
	}
	return -ENOSPC;
}

bool
scx_fw_uid_known(const struct scx_nic *nic, uint32_t uid)
{
	return uid > 0 && uid < SCX_UID_MAX && nic->uid_used[uid];
}

int
scx_uid_alloc(struct scx_nic *nic, uint16_t *uid)
{
	int rc;

	pthread_mutex_lock(&nic->lock);
	rc = scx_fw_uid_alloc(nic, uid);
	pthread_mutex_unlock(&nic->lock);
	return rc;
}

void
scx_uid_destroy(struct scx_nic *nic, uint16_t uid)
{
	struct scx_fw_call c = {.nic = nic, .name = "context close"};
	unsigned left = 0;

	pthread_mutex_lock(&nic->lock);
	for (unsigned k = 0; k < SCX_FW_KINDS; k++) {
		struct scx_fw_table *t = &nic->table[k];

		for (uint32_t i = 0; i < t->max && t->used > 0; i++)
			if (t->slot[i] != NULL && t->slot[i]->uid == uid &&
				scx_fw_destroy(&c, t->slot[i]))
				left++;
	}
	if (uid < SCX_UID_MAX)
		nic->uid_used[uid] = 0;
	pthread_mutex_unlock(&nic->lock);
	if (left > 0)
		scx_log(nic->name, "%u objects of uid %u could not be destroyed", left, uid);
}

uint32_t
scx_eqn(struct scx_nic *nic)
{
	return SCX_EQN;
}

int
scx_port_mtu(struct scx_nic *nic, uint32_t mtu)
{
	int rc;

	if (!mtu_ok(mtu))
		return -EINVAL;
	pthread_mutex_lock(&nic->lock);
	nic->cfg.mtu = mtu;
	rc = scx_fw_port_set(nic);
	pthread_mutex_unlock(&nic->lock);
	return rc;
}

void
scx_port_link(struct scx_nic *nic, int up)
{
	struct scx_event ev = {.type = SCX_EVENT_PORT_CHANGE, .obj = 1};
	int rc = 0;

	pthread_mutex_lock(&nic->lock);
	if (atomic_exchange(&nic->link_up, up != 0) == (up != 0)) {
		pthread_mutex_unlock(&nic->lock);
		return;
	}
	rc = scx_fw_port_set(nic);
	pthread_mutex_unlock(&nic->lock);
	if (rc != 0)
		scx_log(nic->name, "the data path did not take the link's state: %s",
			strerror(-rc));
	ev.subtype = up ? SCX_EVENT_PORT_ACTIVE : SCX_EVENT_PORT_DOWN;
	scx_fw_event(nic, &ev);
}

unsigned
scx_nic_objects(struct scx_nic *nic)
{
	unsigned n = 0;

	pthread_mutex_lock(&nic->lock);
	for (unsigned k = 0; k < SCX_FW_KINDS; k++)
		n += nic->table[k].used;
	pthread_mutex_unlock(&nic->lock);
	return n;
}

void
scx_nic_report(struct scx_nic *nic)
{
	struct scx_dp_stats s;
	int rc;

	pthread_mutex_lock(&nic->lock);
	rc = scx_fw_stats(nic, &s);
	pthread_mutex_unlock(&nic->lock);
	if (rc == 0) {
		scx_log(nic->name,
			"sent %" PRIu64 " frames (%" PRIu64 " bytes), received %" PRIu64
			" (%" PRIu64 " bytes) of %" PRIu64 " on the wire",
			s.tx_frames, s.tx_bytes, s.rx_frames, s.rx_bytes, s.rx_wire);
		scx_log(nic->name,
			"not received: no buffer %" PRIu64 ", drop rule %" PRIu64
			", no match %" PRIu64 ", too long %" PRIu64 "; not sent: too long %" PRIu64,
			s.rx_no_buffer, s.rx_dropped, s.rx_no_match, s.rx_too_long, s.tx_too_long);
		scx_log(nic->name,
			"doorbells %" PRIu64 ", WQEs %" PRIu64 ", CQEs %" PRIu64
			", error CQEs send %" PRIu64 " receive %" PRIu64
			", flow cache hits %" PRIu64 " misses %" PRIu64 ", reports lost %" PRIu64,
			s.doorbells, s.wqes, s.cqes, s.tx_errors, s.rx_errors, s.flow_hits,
			s.flow_misses, s.reports_lost);
		scx_log(nic->name,
			"PCIe, modelled: %" PRIu64 " bytes read, %" PRIu64
			" bytes written, %" PRIu64 " TLPs",
			s.pci_read, s.pci_written, s.pci_tlps);
		scx_log(nic->name,
			"memory, counted: bytes read of WQEs %" PRIu64 ", of receive WQEs %" PRIu64
			", of payload %" PRIu64 "; bytes written of payload %" PRIu64
			", of CQEs %" PRIu64,
			s.wqe_bytes, s.rq_wqe_bytes, s.pci_read - s.wqe_bytes - s.rq_wqe_bytes,
			s.pci_written - s.cqes * CRL_CQE_BYTES, s.cqes * CRL_CQE_BYTES);
	}
	if (nic->hca != NULL && nic->hca->given > 0)
		scx_log(nic->name,
			"pages: %" PRIu64 " given, %" PRIu64 " taken back, %u are the NIC's",
			nic->hca->given, nic->hca->taken, nic->hca->nr_pages);
	scx_fw_refusal_report(nic);
}
