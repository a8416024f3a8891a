/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the fault plan has the firmware itself do, for a NIC that is a PCI device: ask for pages or
 * give some back, fail for good with a health syndrome, let the link go down and up. Counted in
 * commands since INIT_HCA, so that a run repeats; the link goes by the clock and the seed. Called
 * after each command and each turn of the data path, without the NIC's lock.
 */
#include <inttypes.h>

#include "../fault.h"
#include "hca.h"

/* splitmix64 (Steele, Lea, Flood 2014), as in dp/fault.h. */
static uint64_t
chance(struct scx_fw_hca *hca)
{
	uint64_t z = hca->chance += 0x9e3779b97f4a7c15ull;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
	z = (z ^ z >> 27) * 0x94d049bb133111ebull;
	return z ^ z >> 31;
}

void
scx_page_request(struct scx_nic *nic, int32_t pages)
{
	const struct scx_event ev = {.type = SCX_EVENT_PAGE_REQUEST, .obj = (uint32_t)pages};

	scx_log(nic->name, pages > 0 ? "asks for %d pages more" : "gives %d pages back",
		pages > 0 ? pages : -pages);
	scx_fw_event(nic, &ev);
}

uint64_t
scx_nic_dead_since(const struct scx_nic *nic, uint8_t *syndrome)
{
	if (nic->hca == NULL)
		return 0;
	*syndrome = nic->hca->syndrome;
	return nic->hca->dead_ns;
}

void
scx_nic_die(struct scx_nic *nic, uint8_t syndrome)
{
	scx_log(nic->name, "the firmware stops, with health syndrome 0x%x", syndrome);
	nic->hca->syndrome = syndrome;
	nic->hca->dead_ns = scx_fw_now_ns();
}

/* A request waits until some event queue takes it. */
void
scx_fw_plan_command(struct scx_nic *nic)
{
	const struct scx_fault_plan *plan = nic->cfg.faults;
	struct scx_fw_hca *hca = nic->hca;

	if (plan == NULL || hca->state != SCX_HCA_RUNNING)
		return;
	hca->commands++;
	for (unsigned i = 0; i < plan->nr_pages; i++) {
		if (hca->pages_done >> i & 1 || hca->commands < plan->pages[i].at ||
			!scx_eq_takes(nic, SCX_EVENT_PAGE_REQUEST))
			continue;
		hca->pages_done |= 1u << i;
		scx_page_request(nic, plan->pages[i].nr);
	}
	if (plan->health.at != 0 && hca->commands >= plan->health.at && hca->dead_ns == 0)
		scx_nic_die(nic, (uint8_t)plan->health.nr);
}

void
scx_fw_plan_turn(struct scx_nic *nic)
{
	const struct scx_fault_plan *plan = nic->cfg.faults;
	struct scx_fw_hca *hca = nic->hca;
	uint64_t now;

	if (plan == NULL || plan->link_flap == 0 || hca->state != SCX_HCA_RUNNING)
		return;
	now = scx_fw_now_ns();
	if (now < hca->flap_ns)
		return;
	/* The first time only sets the time: the driver comes up with the link as it is. */
	if (hca->flap_ns != 0 && hca->admin_up)
		scx_port_link(nic, !atomic_load(&nic->link_up));
	hca->flap_ns = now + 1000000u * (1 + chance(hca) % plan->link_flap);
}
