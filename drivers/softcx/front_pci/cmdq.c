/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The command queue: slots of 64 bytes in the driver's memory, each with 16 bytes of input and of
 * output, and chains of mailboxes for what is longer. What is wrong with a slot or a mailbox is
 * answered by a delivery status, before any firmware sees the command.
 *
 * Once SET_HCA_CAP set cmdif_checksum, slots and mailboxes are signed: the exclusive or of all
 * bytes of a slot, or of a mailbox, is 0xff, and so is that of a mailbox's bytes behind the data
 * without the last one. 1: the driver signs; 3: both do.
 */
#include <string.h>

#include "../../../gpu_queues/wire/be.h"
#include "../log.h"
#include "pci.h"

#define SLOT_BYTES   64u
#define INLINE_BYTES 16u
#define BLOCK_BYTES  512u
#define MAILBOX	     576u
#define TYPE_PCI     7u
#define LEN_MAX	     (1u << 20)
#define OWNER_HW     1u
enum {
	SLOT_TYPE = 0,
	SLOT_IN_LEN = 4,
	SLOT_IN_PTR = 8,
	SLOT_IN = 0x10,
	SLOT_OUT = 0x20,
	SLOT_OUT_PTR = 0x30,
	SLOT_OUT_LEN = 0x38,
	SLOT_TOKEN = 0x3c,
	SLOT_SIG = 0x3d,
	SLOT_STATUS = 0x3f
};
enum {
	BLOCK_CTRL = 0x200,
	BLOCK_NEXT = 0x230,
	BLOCK_NUM = 0x238,
	BLOCK_TOKEN = 0x23d,
	BLOCK_CTRL_SIG = 0x23e,
	BLOCK_SIG = 0x23f
};
enum { CHECK_IN = 1, CHECK_OUT = 2 }; /* bits of cmdif_checksum */
enum delivery {
	DELIVERY_OK = 0,
	DELIVERY_SIGNATURE = 1,
	DELIVERY_TOKEN = 2,
	DELIVERY_BLOCK_NUM = 3,
	DELIVERY_OUT_PTR = 4,
	DELIVERY_IN_PTR = 5,
	DELIVERY_IN_LEN = 7,
	DELIVERY_OUT_LEN = 8,
	DELIVERY_DESCRIPTOR = 0x10,
};

/* A slot as it was when it was rung: the driver may change its memory at any time. */
struct slot {
	uint8_t *at;
	uint8_t copy[SLOT_BYTES];
	uint32_t in_len, out_len;
	uint32_t check; /* CHECK_*: as it was when the command came */
};

static uint32_t
be32_at(const uint8_t *p)
{
	crl_be32 be;

	memcpy(&be, p, sizeof(be));
	return crl_from_be32(be);
}

static uint64_t
be64_at(const uint8_t *p)
{
	return (uint64_t)be32_at(p) << 32 | be32_at(p + 4);
}

static uint8_t
xor8(const uint8_t *p, size_t n)
{
	uint8_t x = 0;

	for (size_t i = 0; i < n; i++)
		x ^= p[i];
	return x;
}

static bool
block_signed(const uint8_t *m)
{
	return xor8(m + BLOCK_CTRL, BLOCK_SIG - BLOCK_CTRL) == 0xff && xor8(m, MAILBOX) == 0xff;
}

static void
sign_block(uint8_t *m)
{
	m[BLOCK_CTRL_SIG] = (uint8_t)~xor8(m + BLOCK_CTRL, BLOCK_CTRL_SIG - BLOCK_CTRL);
	m[BLOCK_SIG] = (uint8_t)~xor8(m, BLOCK_SIG);
}

/* Copy between buf (from INLINE_BYTES on) and a chain of mailboxes. */
static enum delivery
mailboxes(
	struct pci_dev *d, const struct slot *s, uint32_t ptr, uint8_t *buf, uint32_t len, bool out)
{
	uint64_t addr = be64_at(s->copy + ptr);
	uint32_t num = 0;

	for (uint32_t off = INLINE_BYTES; off < len; off += BLOCK_BYTES, num++) {
		uint32_t n = len - off < BLOCK_BYTES ? len - off : BLOCK_BYTES;
		uint8_t *m = addr % BLOCK_BYTES == 0 ? pci_mem_at(&d->mem, addr, MAILBOX) : NULL;

		if (m == NULL)
			return out ? DELIVERY_OUT_PTR : DELIVERY_IN_PTR;
		if (!out && s->check & CHECK_IN && !block_signed(m))
			return DELIVERY_SIGNATURE;
		if (m[BLOCK_TOKEN] != s->copy[SLOT_TOKEN])
			return DELIVERY_TOKEN;
		if (be32_at(m + BLOCK_NUM) != num)
			return DELIVERY_BLOCK_NUM;
		if (out)
			memcpy(m, buf + off, n);
		else
			memcpy(buf + off, m, n);
		if (out && s->check & CHECK_OUT)
			sign_block(m);
		addr = be64_at(m + BLOCK_NEXT);
	}
	return DELIVERY_OK;
}

static enum delivery
execute(struct pci_dev *d, struct slot *s)
{
	enum delivery rc;
	uint16_t uid;

	if (s->check & CHECK_IN && xor8(s->copy, SLOT_BYTES) != 0xff)
		return DELIVERY_SIGNATURE;
	if (s->copy[SLOT_TYPE] != TYPE_PCI)
		return DELIVERY_DESCRIPTOR;
	s->in_len = be32_at(s->copy + SLOT_IN_LEN);
	s->out_len = be32_at(s->copy + SLOT_OUT_LEN);
	if (s->in_len < 8 || s->in_len > LEN_MAX || s->in_len % 4 != 0)
		return DELIVERY_IN_LEN;
	if (s->out_len < 8 || s->out_len > LEN_MAX || s->out_len % 4 != 0)
		return DELIVERY_OUT_LEN;
	memcpy(d->in, s->copy + SLOT_IN, INLINE_BYTES);
	rc = mailboxes(d, s, SLOT_IN_PTR, d->in, s->in_len, false);
	if (rc != DELIVERY_OK)
		return rc;
	uid = (uint16_t)(d->in[2] << 8 | d->in[3]);
	memset(d->out, 0, INLINE_BYTES);
	scx_cmd(d->nic, uid, d->in, s->in_len, d->out, s->out_len, NULL);
	memcpy(s->at + SLOT_OUT, d->out, INLINE_BYTES);
	return mailboxes(d, s, SLOT_OUT_PTR, d->out, s->out_len, true);
}

/* As it will be with that status. */
static void
sign_slot(const struct slot *s, uint8_t status)
{
	uint8_t slot[SLOT_BYTES];

	memcpy(slot, s->at, SLOT_BYTES);
	slot[SLOT_STATUS] = status;
	slot[SLOT_SIG] = 0;
	s->at[SLOT_SIG] = (uint8_t)~xor8(slot, SLOT_BYTES);
}

static void
run_slot(struct pci_dev *d, uint32_t i)
{
	struct slot s = {.at = NULL};
	enum delivery rc;
	uint8_t syndrome;
	int tell;

	if (d->cmdq_known)
		s.at = pci_mem_at(
			&d->mem, d->cmdq + ((uint64_t)i << PCI_CMDQ_LOG_STRIDE), SLOT_BYTES);
	if (s.at == NULL) {
		if (!d->cmdq_told)
			scx_log(d->cfg.name, "command slot %u rung, and no memory at 0x%llx", i,
				(unsigned long long)d->cmdq);
		d->cmdq_told = true;
		return;
	}
	/* Pairs with the driver's write barrier before the doorbell. */
	if (!(__atomic_load_n(s.at + SLOT_STATUS, __ATOMIC_ACQUIRE) & OWNER_HW)) {
		if (!d->cmdq_told)
			scx_log(d->cfg.name, "command slot %u rung, but it is not the NIC's", i);
		d->cmdq_told = true;
		return;
	}
	if (scx_nic_dead_since(d->nic, &syndrome) != 0)
		return; /* nobody is there to take it */
	memcpy(s.copy, s.at, SLOT_BYTES);
	/* The command that makes the queue which takes such events is not told by it. */
	tell = scx_eq_takes(d->nic, SCX_EVENT_COMMAND);
	s.check = scx_cmd_checksum(d->nic);
	rc = execute(d, &s);
	if (s.check & CHECK_OUT)
		sign_slot(&s, (uint8_t)(rc << 1));
	if (rc != DELIVERY_OK) {
		scx_log(d->cfg.name, "command slot %u: delivery status 0x%x", i, rc);
		scx_log_bytes(d->cfg.name, s.copy, SLOT_BYTES);
	}
	/* Pairs with the driver's read barrier: the answer is there when the slot is its own again.
	 */
	__atomic_store_n(s.at + SLOT_STATUS, (uint8_t)(rc << 1), __ATOMIC_RELEASE);
	if (tell)
		scx_eq_command_done(d->nic, 1u << i);
}

void
pci_cmdq_ring(struct pci_dev *d, uint32_t slots)
{
	for (uint32_t i = 0; i < 1u << PCI_CMDQ_LOG_SLOTS; i++)
		if (slots >> i & 1)
			run_slot(d, i);
}

uint32_t
pci_cmdq_waiting(struct pci_dev *d)
{
	const uint8_t *at = NULL;
	uint32_t slots = 0;

	if (d->cmdq_known)
		at = pci_mem_at(&d->mem, d->cmdq, (uint64_t)SLOT_BYTES << PCI_CMDQ_LOG_SLOTS);
	for (uint32_t i = 0; at != NULL && i < 1u << PCI_CMDQ_LOG_SLOTS; i++)
		if (__atomic_load_n(at + i * SLOT_BYTES + SLOT_STATUS, __ATOMIC_ACQUIRE) & OWNER_HW)
			slots |= 1u << i;
	return slots;
}
