/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Commands that bring a NIC up and take it down again: enable, interface step (ISSI), pages,
 * capabilities, INIT_HCA and back. Called by cmd.c with a checked mailbox, for a guest's kernel
 * only. The pages are kept and given back, the very same ones; this NIC has memory of its own and
 * writes nothing into them.
 */
#include <string.h>

#include "hca.h"

static int
need(struct scx_fw_call *c, enum scx_hca_state least)
{
	static const char *const words[] = {"off", "enabled", "running"};

	if (c->nic->hca->state >= least)
		return 0;
	return scx_fw_refuse(c, SCX_FW_R_HCA_STATE, NULL, 0, "the NIC is %s, not yet %s",
		words[c->nic->hca->state], words[least]);
}

static int
own_function(struct scx_fw_call *c, uint32_t embedded, uint32_t function)
{
	if (embedded == 0 && function == 0)
		return 0;
	return scx_fw_refuse(c, SCX_FW_R_VPORT, c->in, 16, "embedded_cpu_function %u, function %u",
		embedded, function);
}

int
scx_cmd_enable_hca(struct scx_fw_call *c)
{
	int rc = own_function(c, crl_prm_get(c->in, CRL_PRM_ENABLE_HCA_IN_EMBEDDED_CPU_FUNCTION),
		crl_prm_get(c->in, CRL_PRM_ENABLE_HCA_IN_FUNCTION_ID));

	if (rc != 0)
		return rc;
	if (c->nic->hca->state != SCX_HCA_OFF)
		return scx_fw_refuse(
			c, SCX_FW_R_HCA_ENABLED, NULL, 0, "the NIC is enabled already");
	c->nic->hca->state = SCX_HCA_ENABLED;
	return 0;
}

int
scx_cmd_disable_hca(struct scx_fw_call *c)
{
	int rc = own_function(c, crl_prm_get(c->in, CRL_PRM_DISABLE_HCA_IN_EMBEDDED_CPU_FUNCTION),
		crl_prm_get(c->in, CRL_PRM_DISABLE_HCA_IN_FUNCTION_ID));

	if (rc == 0)
		rc = need(c, SCX_HCA_ENABLED);
	if (rc != 0)
		return rc;
	if (c->nic->hca->state == SCX_HCA_RUNNING)
		return scx_fw_refuse(c, SCX_FW_R_HCA_STATE, NULL, 0, "TEARDOWN_HCA comes first");
	if (c->nic->hca->nr_pages > 0)
		return scx_fw_refuse(c, SCX_FW_R_HCA_STATE, NULL, 0, "%u pages were not taken back",
			c->nic->hca->nr_pages);
	c->nic->hca->state = SCX_HCA_OFF;
	return 0;
}

int
scx_cmd_query_issi(struct scx_fw_call *c)
{
	crl_prm_set(c->out, CRL_PRM_QUERY_ISSI_OUT_CURRENT_ISSI, c->nic->hca->issi);
	crl_prm_set(c->out, CRL_PRM_QUERY_ISSI_OUT_SUPPORTED_ISSI_DW0, SCX_ISSI_KNOWN);
	return 0;
}

int
scx_cmd_set_issi(struct scx_fw_call *c)
{
	uint32_t issi = crl_prm_get(c->in, CRL_PRM_SET_ISSI_IN_CURRENT_ISSI);

	if (issi > 31 || !(SCX_ISSI_KNOWN >> issi & 1u))
		return scx_fw_refuse(c, SCX_FW_R_ISSI, c->in, 16, "current_issi is %u", issi);
	c->nic->hca->issi = issi;
	return 0;
}

/* op_mod: what the pages are for. */
enum { PAGES_BOOT = 1, PAGES_INIT = 2, PAGES_REGULAR = 3 };

int
scx_cmd_query_pages(struct scx_fw_call *c)
{
	uint32_t what = crl_prm_get(c->in, CRL_PRM_CMD_IN_OP_MOD), all,
		 have = c->nic->hca->nr_pages;
	int rc = own_function(c, crl_prm_get(c->in, CRL_PRM_QUERY_PAGES_IN_EMBEDDED_CPU_FUNCTION),
		crl_prm_get(c->in, CRL_PRM_QUERY_PAGES_IN_FUNCTION_ID));

	if (rc == 0)
		rc = need(c, SCX_HCA_ENABLED);
	if (rc != 0)
		return rc;
	if (what < PAGES_BOOT || what > PAGES_REGULAR)
		return scx_fw_refuse(c, SCX_FW_R_OP_MOD, c->in, 8, "op_mod is 0x%x", what);
	all = what == PAGES_BOOT ? SCX_PAGES_BOOT : SCX_PAGES_BOOT + SCX_PAGES_INIT;
	if (what == PAGES_REGULAR)
		all = have; /* nothing more is wanted once it runs */
	crl_prm_set(c->out, CRL_PRM_QUERY_PAGES_OUT_NUM_PAGES, all > have ? all - have : 0);
	return 0;
}

static int
give(struct scx_fw_call *c, uint32_t nr)
{
	const struct scx_guest *g = c->nic->cfg.guest;
	struct scx_fw_hca *hca = c->nic->hca;
	const uint8_t *pas = c->in + CRL_PRM_MANAGE_PAGES_IN_BYTES;

	if ((c->in_bytes - CRL_PRM_MANAGE_PAGES_IN_BYTES) / 8 < nr ||
		nr > SCX_PAGES_MAX - hca->nr_pages)
		return scx_fw_refuse(c, SCX_FW_R_PAGE_COUNT, NULL, 0,
			"%u pages announced, %zu bytes of list, %u pages there already", nr,
			c->in_bytes - CRL_PRM_MANAGE_PAGES_IN_BYTES, hca->nr_pages);
	for (uint32_t i = 0; i < nr; i++) {
		uint64_t at = crl_prm_get64(pas + (size_t)i * 8, 64);

		if (at % SCX_PAGE != 0 || g->at(g->arg, at, SCX_PAGE) == NULL)
			return scx_fw_refuse(c, SCX_FW_R_PAGES, pas + (size_t)i * 8, 8,
				"page %u is at bus address 0x%llx", i, (unsigned long long)at);
		hca->page[hca->nr_pages + i] = at;
	}
	hca->nr_pages += nr;
	hca->given += nr;
	return 0;
}

/* Those given last go back first. */
static int
take(struct scx_fw_call *c, uint32_t nr)
{
	struct scx_fw_hca *hca = c->nic->hca;
	uint8_t *pas = c->out + CRL_PRM_MANAGE_PAGES_OUT_BYTES;

	if (nr > hca->nr_pages)
		nr = hca->nr_pages;
	if ((c->out_bytes - CRL_PRM_MANAGE_PAGES_OUT_BYTES) / 8 < nr)
		return scx_fw_refuse(c, SCX_FW_R_OUT_SHORT, NULL, 0,
			"%u pages wanted back, room for %zu", nr,
			(c->out_bytes - CRL_PRM_MANAGE_PAGES_OUT_BYTES) / 8);
	for (uint32_t i = 0; i < nr; i++)
		crl_prm_set64(pas + (size_t)i * 8, 64, hca->page[--hca->nr_pages]);
	hca->taken += nr;
	crl_prm_set(c->out, CRL_PRM_MANAGE_PAGES_OUT_OUTPUT_NUM_ENTRIES, nr);
	return 0;
}

int
scx_cmd_manage_pages(struct scx_fw_call *c)
{
	uint32_t nr = crl_prm_get(c->in, CRL_PRM_MANAGE_PAGES_IN_INPUT_NUM_ENTRIES);
	int rc = own_function(c, crl_prm_get(c->in, CRL_PRM_MANAGE_PAGES_IN_EMBEDDED_CPU_FUNCTION),
		crl_prm_get(c->in, CRL_PRM_MANAGE_PAGES_IN_FUNCTION_ID));

	if (rc == 0)
		rc = need(c, SCX_HCA_ENABLED);
	if (rc != 0)
		return rc;
	switch (crl_prm_get(c->in, CRL_PRM_CMD_IN_OP_MOD)) {
	case 0: /* the driver has none to give */
		return 0;
	case 1:
		return give(c, nr);
	case 2:
		return take(c, nr);
	}
	return scx_fw_refuse(c, SCX_FW_R_OP_MOD, c->in, 8, "op_mod is 0x%x",
		crl_prm_get(c->in, CRL_PRM_CMD_IN_OP_MOD));
}

/* A driver writes the whole page back, with some fields changed; none may exceed what is offered.
 */
int
scx_cmd_set_hca_cap(struct scx_fw_call *c)
{
	const uint8_t *set = crl_prm_at(c->in, CRL_PRM_SET_HCA_CAP_IN_CAPABILITY);
	CRL_ALIGNAS(8) uint8_t page[CRL_PRM_HCA_CAP_BYTES] = {0};
	uint8_t bits;
	int at;

	if (crl_prm_get(c->in, CRL_PRM_CMD_IN_OP_MOD) >> 1 != CRL_HCA_CAP_GENERAL)
		return scx_fw_refuse(c, SCX_FW_R_CAP_PAGE, NULL, 0, "page 0x%x cannot be set",
			crl_prm_get(c->in, CRL_PRM_CMD_IN_OP_MOD) >> 1);
	if (c->nic->hca->state != SCX_HCA_ENABLED)
		return scx_fw_refuse(
			c, SCX_FW_R_HCA_STATE, NULL, 0, "between ENABLE_HCA and INIT_HCA only");
	at = scx_layout_reserved(SCX_LAYOUT_HCA_CAP, set, &bits);
	if (at >= 0)
		return scx_fw_refuse(c, SCX_FW_R_CAP_VALUE, set + at / 16 * 16, 16,
			"bits 0x%02x in byte 0x%x of the capabilities are not offered", bits, at);
	scx_fw_hca_caps(c->nic, CRL_HCA_CAP_GENERAL, page);
	for (const struct scx_layout_field *f = scx_layouts[SCX_LAYOUT_HCA_CAP].field;
		f->name != NULL; f++) {
		uint32_t field = (uint32_t)f->off << 16 | f->bits;

		if (f->bits <= 32 && crl_prm_get(set, field) > crl_prm_get(page, field))
			return scx_fw_refuse(c, SCX_FW_R_CAP_VALUE, NULL, 0,
				"%s set to %u, the most is %u", f->name, crl_prm_get(set, field),
				crl_prm_get(page, field));
	}
	c->nic->hca->checksum = (uint8_t)crl_prm_get(set, CRL_PRM_HCA_CAP_CMDIF_CHECKSUM);
	return 0;
}

uint32_t
scx_cmd_checksum(const struct scx_nic *nic)
{
	return nic->hca != NULL ? nic->hca->checksum : 0;
}

int
scx_cmd_init_hca(struct scx_fw_call *c)
{
	int rc = need(c, SCX_HCA_ENABLED);

	if (rc != 0)
		return rc;
	if (c->nic->hca->state == SCX_HCA_RUNNING ||
		c->nic->hca->nr_pages < SCX_PAGES_BOOT + SCX_PAGES_INIT)
		return scx_fw_refuse(c, SCX_FW_R_HCA_STATE, NULL, 0,
			"%s, %u pages of %u were given",
			c->nic->hca->state == SCX_HCA_RUNNING ? "it runs" : "it is enabled",
			c->nic->hca->nr_pages, SCX_PAGES_BOOT + SCX_PAGES_INIT);
	c->nic->hca->state = SCX_HCA_RUNNING;
	c->nic->hca->commands = UINT64_MAX; /* not this one */
	return 0;
}

/* Objects that are left stay: whoever leaves some is told so when their number comes up again. */
int
scx_cmd_teardown_hca(struct scx_fw_call *c)
{
	uint32_t profile = crl_prm_get(c->in, CRL_PRM_TEARDOWN_HCA_IN_PROFILE);
	int rc = need(c, SCX_HCA_RUNNING);

	if (rc != 0)
		return rc;
	if (profile != 0)
		return scx_fw_refuse(c, SCX_FW_R_NOT_OFFERED, c->in, 16,
			"profile %u: only a graceful end is offered", profile);
	c->nic->hca->state = SCX_HCA_ENABLED;
	return 0;
}

int
scx_cmd_query_adapter(struct scx_fw_call *c)
{
	static const char board[16] = "CRL0000000001";
	void *a = crl_prm_at(c->out, CRL_PRM_QUERY_ADAPTER_OUT_QUERY_ADAPTER_STRUCT);

	crl_prm_set(a, CRL_PRM_QUERY_ADAPTER_IEEE_VENDOR_ID, 0x02c9);
	/* The board id, what drivers print as the PSID, ends the 208 bytes. */
	memcpy((uint8_t *)crl_prm_at(a, CRL_PRM_QUERY_ADAPTER_VSD) + 208 - sizeof(board), board,
		sizeof(board));
	return 0;
}

int
scx_cmd_set_driver_version(struct scx_fw_call *c)
{
	const char *said = crl_prm_at(c->in, CRL_PRM_SET_DRIVER_VERSION_IN_DRIVER_VERSION);
	char text[64];

	/* What a guest says goes to somebody's terminal. */
	for (size_t i = 0; i < sizeof(text); i++)
		text[i] = said[i] == '\0' || (said[i] >= ' ' && said[i] <= '~') ? said[i] : '?';
	scx_log(c->nic->name, "driver: %.64s", text);
	return 0;
}
