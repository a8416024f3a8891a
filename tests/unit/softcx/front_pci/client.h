/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A driver at the other end of a vfio-user socket, for tests of the PCI front: the server runs in a
 * thread; the driver shares memory with it, sends messages, and speaks the command interface.
 */
#ifndef TESTS_FRONT_PCI_CLIENT_H
#define TESTS_FRONT_PCI_CLIENT_H

#include <setjmp.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <cmocka.h>

#include "drivers/mlx5/prm.h"
#include "drivers/softcx/front_pci/pci.h"
#include "drivers/softcx/front_pci/serve.h"

#define MEM_BYTES (4u << 20)
#define MEM_FROM  0x100000u /* on the bus */
#define CMDQ	  0x1000u   /* offsets in the memory */
#define IN_BOX	  0x2000u
#define OUT_BOX	  0x10000u
#define BOX_STEP  1024u
#define GIVEN	  0x100000u /* pages for the firmware */
#define EQ_RING	  0x80000u
#define TOKEN	  0x5au
#define WAIT_MS	  5000

struct client {
	pthread_t server;
	volatile int stop;
	char dir[64], path[96];
	int sock, fd, irq;
	uint8_t *mem;
	struct scx_fault_plan faults; /* of the NIC, told before it comes up */
	uint16_t id;
	uint8_t reply[8192];
	uint32_t nr_reply;
};

struct access {
	uint64_t off;
	uint32_t region, count;
	uint8_t data[64];
};

int setup_plan(void **state, const char *plan);
/* cmocka fixtures: a server and a client of it; with a fault plan */
int setup(void **state);
int teardown(void **state);
void dial(struct client *c);
/* A message, with a descriptor unless it is -1; the error of the answer, which is in reply[]. */
int message(struct client *c, uint16_t cmd, const void *body, uint32_t n, int fd);
int write_region(struct client *c, uint32_t region, uint64_t off, const void *data, uint32_t n);
uint32_t read32(struct client *c, uint32_t region, uint64_t off);
void bar_write(struct client *c, uint64_t off, uint32_t v);
int dma(struct client *c, uint16_t cmd, uint64_t from, uint64_t bytes, int fd);
void hello(struct client *c);
void put64(uint8_t *at, uint64_t v);
/* in[] into slot 1 and mailboxes; the slot. ring() then says its delivery status. */
uint8_t *prepare(struct client *c, const uint8_t *in, uint32_t in_len, uint32_t out_len);
uint32_t ring(struct client *c);
/* Run, with no mistake: the first 16 bytes of the answer. */
uint8_t *command(struct client *c, const uint8_t *in, uint32_t in_len, uint32_t out_len);
uint8_t *simple(
	struct client *c, uint16_t opcode, uint32_t op_mod, uint32_t in_len, uint32_t out_len);
void give_pages(struct client *c, uint32_t what, uint32_t first);
/* From ENABLE_HCA to INIT_HCA, with pages. */
void bring_up(struct client *c);

#endif /* TESTS_FRONT_PCI_CLIENT_H */
