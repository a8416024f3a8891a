/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks "firmware", "devx" and "uar": what each device says of itself once Carillon's own code has
 * opened it. The facts devx.DEVICE.* are probe.c's; "ok" or Carillon's words why not. Host only.
 */
#include <string.h>

#include "doctor.h"

void
dr_check_firmware(struct doctor *d)
{
	for (unsigned i = 0; i < d->nr_nics; i++) {
		const struct dr_nic *n = &d->nic[i];
		const char *least = n->model != NULL ? n->model->fw_min : NULL;
		struct dr_finding *f;
		char have[64];

		if (!n->usable)
			continue;
		if (!dr_line(d, have, sizeof(have), "sys/class/infiniband/%s/fw_ver", n->ib)) {
			f = dr_find(
				d, DR_NOTE, "unknown", n->ib, "the firmware's version is not said");
			dr_evidence(f, "/sys/class/infiniband/%s/fw_ver cannot be read", n->ib);
			dr_fix(f, "none needed if check 'devx' is well");
			continue;
		}
		if (least != NULL && dr_version_cmp(have, least) < 0) {
			f = dr_find(d, DR_STOP, "old", n->ib, "firmware %s; %s needs %s or newer",
				have, n->model->name, least);
			dr_fix(f, "update it: mlxfwmanager or `devlink dev flash pci/%s`",
				n->pci.bdf);
		} else {
			f = dr_find(d, DR_OK, "version", n->ib, "firmware %s", have);
		}
		dr_evidence(f, "/sys/class/infiniband/%s/fw_ver: %s", n->ib, have);
	}
}

static void
judge_caps(struct doctor *d, const struct dr_nic *n)
{
	long wq = dr_fact_number(d, 15, "devx.%s.log_max_wq_sz", n->ib);
	long inl = dr_fact_number(d, 0, "devx.%s.inline_mode", n->ib);
	struct dr_finding *f;

	if (dr_fact_number(d, 1, "devx.%s.events", n->ib) == 0) {
		f = dr_find(d, DR_WARN, "no_events", n->ib,
			"the NIC's own error events cannot be subscribed to");
		dr_evidence(f, "crl_info: %s",
			dr_fact(d, "devx.%s.events_why", n->ib) != NULL
				? dr_fact(d, "devx.%s.events_why", n->ib)
				: "events 0");
		dr_fix(f, "errors still arrive as error CQEs; a newer kernel brings the events");
	}
	if (wq < 10) {
		f = dr_find(d, DR_WARN, "short_rings", n->ib, "rings of at most %ld entries",
			1l << (wq < 0 ? 0 : wq));
		dr_evidence(f, "QUERY_HCA_CAP log_max_wq_sz: %ld", wq);
		dr_fix(f, "ask for no more by --txd and --rxd, or update the firmware");
	}
	if (inl != 0) {
		f = dr_find(d, DR_NOTE, "inline", n->ib,
			"this NIC wants headers in the WQE: each send copies some bytes");
		dr_evidence(f, "minimum inline mode %ld (1 L2, 2 IP, 3 L4)", inl);
		dr_fix(f, "devlink dev eswitch set pci/%s inline-mode none, where the card has it",
			n->pci.bdf);
	}
}

void
dr_check_devx(struct doctor *d)
{
	for (unsigned i = 0; i < d->nr_nics; i++) {
		const struct dr_nic *n = &d->nic[i];
		const char *said = dr_fact(d, "devx.%s", n->ib);
		struct dr_finding *f;

		if (!n->usable || n->uverbs[0] == '\0')
			continue;
		if (said == NULL) {
			f = dr_find(d, DR_NOTE, "not_tried", n->ib, "DevX was not tried");
			dr_evidence(f, "nobody said devx.%s", n->ib);
			dr_fix(f, "run the doctor on the machine itself");
			continue;
		}
		if (strcmp(said, "ok") != 0) {
			f = dr_find(
				d, DR_STOP, "refused", n->ib, "Carillon cannot open it for DevX");
			dr_evidence(f, "%s", said);
			dr_fix(f, "what the evidence says; DevX needs root or CAP_NET_RAW, "
				  "firmware with UCTX, and rdma-core's mlx5 provider");
			continue;
		}
		f = dr_find(d, DR_OK, "opens", n->ib, "opens for DevX with all that Carillon uses");
		dr_evidence(f, "crl_open: well; log_max_wq_sz %ld, time stamps %ld",
			dr_fact_number(d, -1, "devx.%s.log_max_wq_sz", n->ib),
			dr_fact_number(d, -1, "devx.%s.ts_format", n->ib));
		judge_caps(d, n);
	}
}

void
dr_check_uar(struct doctor *d)
{
	for (unsigned i = 0; i < d->nr_nics; i++) {
		const struct dr_nic *n = &d->nic[i];
		const char *kind = dr_fact(d, "devx.%s.uar", n->ib);
		struct dr_finding *f;

		if (!n->usable || kind == NULL)
			continue;
		if (strcmp(kind, "nc_dedicated") == 0) {
			f = dr_find(d, DR_OK, "kind", n->ib, "uncached doorbell page of its own");
		} else if (strcmp(kind, "bf") == 0) {
			f = dr_find(d, DR_NOTE, "bf", n->ib,
				"doorbells go through write-combining (BlueFlame) pages");
			dr_fix(f, "works; rdma-core 45 and newer gives uncached pages of a queue's "
				  "own (NC_DEDICATED)");
		} else if (strcmp(kind, "nc_shared") == 0) {
			f = dr_find(d, DR_NOTE, "nc_shared", n->ib,
				"all queues ring one uncached doorbell page");
			dr_fix(f, "works; the kernel found that write combining does not, as in "
				  "many virtual machines; rdma-core 45 and newer gives uncached "
				  "pages of a queue's own (NC_DEDICATED)");
		} else {
			f = dr_find(d, DR_STOP, "none", n->ib, "no doorbell page can be had");
			dr_fix(f, "end other users of the card; on arm64 and in virtual machines "
				  "see whether the kernel allows write-combining maps");
		}
		dr_evidence(f, "mlx5dv_devx_alloc_uar: %s", kind);
	}
}
