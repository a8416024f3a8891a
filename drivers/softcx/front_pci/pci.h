/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The software ConnectX as a PCI device. vfio_user.c takes messages from the socket and hands them
 * to: guest_mem.c (DMA_MAP), config_space.c and bar.c (region accesses), device.c (reset,
 * interrupts). bar.c rings the command queue (cmdq.c), event queues and UAR pages. serve.c owns the
 * socket and the one thread in which all of this and the data path's steps run; nothing here locks.
 *
 * What comes from the socket and from the guest's memory is not trusted: it may be refused or make
 * the client go, but never read or write outside of what was mapped.
 */
#ifndef SCX_PCI_H
#define SCX_PCI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../fault.h"
#include "../softcx.h"

#define PCI_PAGE	   4096u
#if defined(CRL_SMALL_TABLES) /* config/limits.h */
#define PCI_BAR_BYTES	   (256u << 10)
#define PCI_WINDOW	   (1ull << 26)
#else
#define PCI_BAR_BYTES	   (16u << 20)
#define PCI_WINDOW	   (1ull << 36) /* bus addresses that can be memory */
#endif
#define PCI_UAR_FIRST	   16u /* the pages before are registers and the MSI-X table */
#define PCI_UAR_PAGES	   (PCI_BAR_BYTES / PCI_PAGE)
#define PCI_VECTORS	   32u
#define PCI_MSIX_TABLE	   0x2000u /* in BAR 0; the client keeps the table itself */
#define PCI_MSIX_PBA	   0x3000u
#define PCI_CONFIG	   4096u
#define PCI_EXTENTS_DIRECT 4096u

struct pci_extent {
	uint64_t from, bytes, offset;
	int fd;
	uint8_t *host; /* direct: where it is */
};

struct pci_mem {
	uint8_t *window; /* address a of the bus is window[a]; NULL: direct */
	struct pci_extent *e;
	struct scx_extents *known; /* the same for the data path, in order */
	uint32_t nr, max;
	bool direct;
};

/* Two halves of a doorbell that came as two messages. */
struct pci_half {
	uint64_t at; /* BAR offset of the first half; 0: none */
	uint8_t bytes[4];
};

struct pci_dev {
	struct scx_nic *nic;
	struct scx_fault_plan faults;
	struct scx_nic_cfg cfg; /* of every NIC that is made; its wire is NULL while one has it */
	struct scx_guest guest;
	struct scx_wire *wire;
	uint16_t device_id, fw_major, fw_minor, fw_sub;
	uint8_t config[PCI_CONFIG];
	uint8_t *uar;
	struct pci_mem mem;
	int irq[PCI_VECTORS];	       /* eventfds; -1: none */
	bool irq_pending[PCI_VECTORS]; /* raised while there was none */
	uint32_t cmdq_hi;
	uint64_t cmdq; /* bus address */
	bool cmdq_known;
	bool cmdq_told; /* that a slot was rung in vain: once a reset */
	uint32_t nic_interface;
	struct pci_half half;
	uint8_t *in, *out; /* mailboxes of the command that runs */
	bool own_uar;
	uint64_t starting_until; /* ns: the firmware says so long that it is initializing */
	const volatile int *stop; /* whoever serves is to end; NULL: nobody says so */
	uint32_t waiting;	 /* bar_memory.c */
	uint64_t waiting_since, health_at;
};

/*
 * device.c: 0 or -errno; the wire is the device's when it is made. uar: PCI_BAR_BYTES of the
 * caller's for the BAR, with memory that is direct; NULL: memory comes as files.
 */
int pci_dev_init(struct pci_dev *d, const struct scx_nic_cfg *cfg, uint8_t *uar);
void pci_dev_fini(struct pci_dev *d);
/* A new NIC, with nothing of the old one; the memory stays mapped, interrupts stay connected. */
int pci_dev_reset(struct pci_dev *d);
/* The firmware alone starts anew: configuration space stays as it is. */
int pci_dev_restart(struct pci_dev *d);
/* What a client leaves behind goes: its memory and its interrupts. */
void pci_dev_disconnect(struct pci_dev *d);
/* fds become the device's, -1 is none; -EINVAL: no such vectors, or what is no eventfd. */
int pci_dev_set_irqs(
	struct pci_dev *d, uint32_t start, uint32_t nr, const int *fds, uint32_t nr_fds);

/* config_space.c */
void pci_config_init(struct pci_dev *d);
int pci_config_read(const struct pci_dev *d, uint64_t off, uint32_t n, uint8_t *to);
int pci_config_write(struct pci_dev *d, uint64_t off, uint32_t n, const uint8_t *from);

/* bar.c: the initialization segment, whose registers are 4 bytes each, and UAR pages */
#define PCI_ISEG_BYTES 0x2000u
enum {
	PCI_ISEG_FW_REV = 0x0,	/* minor << 16 | major */
	PCI_ISEG_CMD_REV = 0x4, /* revision << 16 | fw subminor */
	PCI_ISEG_CMDQ_HI = 0x10,
	PCI_ISEG_CMDQ_LO = 0x14,  /* address 31:12, nic_interface 10:8, log slots, log stride */
	PCI_ISEG_CMD_RING = 0x18, /* a bit for each slot */
	PCI_ISEG_INIT = 0x1fc,	  /* 31: initializing, 30: a software reset is carried out */
	/* the health buffer: what the firmware knew when it stopped */
	PCI_ISEG_ASSERT = 0x200, /* six words, two more, exit pointer, return address */
	PCI_ISEG_HEALTH_FW = 0x230,
	PCI_ISEG_RFR = 0x238,	   /* 31: a reset is asked for, 26:24 severity */
	PCI_ISEG_SYNDROME = 0x23c, /* 23:16 */
	PCI_ISEG_TIME_HI = 0x1000,
	PCI_ISEG_TIME_LO = 0x1004,
	PCI_ISEG_HEALTH = 0x1010, /* 31:24 syndrome, 23:0 a counter that advances */
};
/* nic_interface: what the driver wants, or the firmware says it is. */
enum { PCI_NIC_FULL = 0, PCI_NIC_DISABLED = 1, PCI_NIC_SW_RESET = 7 };
enum { PCI_UAR_EQ_ARM = 0x40, PCI_UAR_EQ_CI = 0x48 };
uint32_t pci_iseg(const struct pci_dev *d, uint64_t off);
void pci_iseg_write(struct pci_dev *d, uint64_t off, uint32_t v);
int pci_bar_read(struct pci_dev *d, uint64_t off, uint32_t n, uint8_t *to);
int pci_bar_write(struct pci_dev *d, uint64_t off, uint32_t n, const uint8_t *from);

/* cmdq.c: carry out the commands of these slots. */
#define PCI_CMDQ_LOG_SLOTS  5u
#define PCI_CMDQ_LOG_STRIDE 6u
void pci_cmdq_ring(struct pci_dev *d, uint32_t slots);
uint32_t pci_cmdq_waiting(struct pci_dev *d); /* slots that are the NIC's, rung or not */

/* bar_memory.c: a BAR that is memory. fill: after each reset; poll: take what was stored; work. */
void pci_bar_fill(struct pci_dev *d);
unsigned pci_bar_poll(struct pci_dev *d);

/* guest_mem.c: 0 or -errno. The fd stays the caller's. */
int pci_mem_init(struct pci_mem *m, bool direct);
void pci_mem_fini(struct pci_mem *m);
int pci_mem_add(struct pci_mem *m, uint64_t from, uint64_t bytes, int fd, uint64_t offset);
int pci_mem_add_host(struct pci_mem *m, uint64_t from, uint64_t bytes, void *host); /* direct */
int pci_mem_remove(struct pci_mem *m, uint64_t from, uint64_t bytes);
void *pci_mem_at(void *mem, uint64_t addr, uint64_t bytes);
void *pci_mem_map(void *mem, const struct scx_pages *want, uint64_t *bytes);
void pci_mem_unmap(void *mem, void *base, uint64_t bytes);
void *pci_mem_all(void *mem, uint64_t *bytes, const struct scx_extents **holes);

/* vfio_user.c: one message; 0, or -errno when the client has gone or must go. */
int pci_message(struct pci_dev *d, int sock);

#endif /* SCX_PCI_H */
