/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages that a vfio-user server must refuse, whatever went before: too short, past the end of a
 * region or of a file.
 */
#ifndef CRL_FUZZ_VFIOMUST_H
#define CRL_FUZZ_VFIOMUST_H

#include "drivers/softcx/front_pci/pci.h"
#include "fz.h"

#define NO_FILE UINT64_MAX /* none comes with the message */

static uint64_t
body64(const uint8_t *body, uint32_t at)
{
	uint64_t v;

	memcpy(&v, body + at, 8);
	return v;
}

static bool
outside(uint64_t from, uint64_t bytes, uint64_t size)
{
	return from > size || bytes > size - from;
}

/* file: bytes of the file that comes with the message, 0 if the NIC may not write there. */
static bool
must_fail(uint16_t cmd, const uint8_t *body, uint32_t n, uint64_t file)
{
	static const uint8_t least[] = {0, 4, 32, 24, 0, 16, 0, 16, 20, 16, 16};
	uint64_t size, count;
	uint32_t region;

	if (cmd < sizeof(least) && n < least[cmd])
		return true;
	if (cmd == 2)
		return file != NO_FILE && (body[4] & 3) == 3 &&
		       (file == 0 || outside(body64(body, 8), body64(body, 24), file));
	if (cmd != 9 && cmd != 10)
		return false;
	region = (uint32_t)body64(body, 8);
	count = body64(body, 8) >> 32;
	size = region == 0 ? PCI_BAR_BYTES : region == 7 ? PCI_CONFIG : 0;
	return count > 4096 || outside(body64(body, 0), count, size) ||
	       (cmd == 10 && count > n - 16);
}

#endif /* CRL_FUZZ_VFIOMUST_H */
