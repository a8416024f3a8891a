/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A guest for tests of the firmware: a bus that is one array, interrupts that are counted, and
 * fixture.h's driver as the kernel, uid 0.
 */
#ifndef SCX_TEST_GUEST_H
#define SCX_TEST_GUEST_H

#include "drivers/softcx/fw/hca.h"
#include "fixture.h"

#define BUS_BYTES (2u << 20)
#define VECTORS	  4u
#define EQ_AT	  0x1f0000u /* where guest_cmd_eq() has the ring */
#define EQ_LOG	  4u

extern uint8_t bus[BUS_BYTES];
extern unsigned irqs[VECTORS];

int guest_new(void **state);	  /* cmocka set-up */
int guest_new_roce(void **state); /* with the capability roce */
void cmd_roce(struct fx *fx, uint32_t on);
int guest_free(void **state);
uint8_t *guest_cmd_eq(struct fx *fx, uint32_t vector, uint64_t mask); /* its context */

#endif /* SCX_TEST_GUEST_H */
