/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames for the target steer: of all kinds that rules tell apart, and others that are nearly the
 * same.
 */
#ifndef CRL_FUZZ_STEERFRAME_H
#define CRL_FUZZ_STEERFRAME_H

#include "fz.h"
#include "refnet.h"

#define STEER_FRAME 128u /* bytes */

/* A frame from nothing. */
static inline void
steer_frame(struct fz *f, uint8_t p[STEER_FRAME], uint32_t how)
{
	uint32_t at = 14;

	memset(p, 0, STEER_FRAME);
	p[0] = how & 1 ? 0xff : 2;
	p[5] = how >> 1 & 3u;
	p[11] = how >> 3 & 1;
	if (how & 16) {
		ref_put16(p + 12, how & 32 ? 0x8100 : 0x88a8);
		ref_put16(p + 14, fz_u8(f) & 3u);
		at = 18;
	}
	if (how & 64) {
		ref_put16(p + at - 2, 0x0800);
		p[at] = 0x45;
		ref_put16(p + at + 2, 100);
		p[at + 9] = how & 128 ? 6 : 17;
	} else {
		ref_put16(p + at - 2, 0x86dd);
		p[at] = 0x60;
		ref_put16(p + at + 4, 60);
		p[at + 6] = how & 128 ? 6 : 17;
	}
	for (uint32_t n = fz_u8(f) & 7u; n > 0; n--) {
		uint32_t where = at + fz_below(f, 64);

		p[where] = fz_u8(f);
	}
}

/* n bits of a frame change, mostly in bytes that rules look at. */
static inline void
steer_vary(struct fz *f, uint8_t p[STEER_FRAME], uint32_t n)
{
	static const uint8_t at[] = {0, 3, 5, 8, 11, 15};
	static const uint8_t ip[] = {
		1, 1, 6, 7, 8, 9, 12, 15, 16, 19, 20, 21, 21, 22, 23, 23, 33, 40, 41, 43};
	uint32_t l3 = p[12] == 0x81 || p[12] == 0x88 ? 18 : 14, i;

	for (; n > 0; n--) {
		i = fz_below(f, sizeof(at) + sizeof(ip));
		i = i < sizeof(at) ? at[i] : l3 + ip[i - sizeof(at)];
		p[i] ^= (uint8_t)(1u << (fz_u8(f) & 7u));
	}
}

#endif /* CRL_FUZZ_STEERFRAME_H */
