/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * apps/doctor/tree.c for a fuzzer: every file that the doctor asks for has what the input says, and
 * often something that such a file could have. So the checks see machines that nobody has.
 */
#include <stdarg.h>
#include <stdio.h>

#include "faketree.h"

static struct fz *in;

void
faketree(struct fz *f)
{
	in = f;
}

/* A text of at most bytes - 1: from the list, or the input's own. */
static size_t
text(char *out, size_t bytes)
{
	static const char *const some[] = {"0x15b3", "0x101d", "0x1017", "0x10de", "0x020000",
		"0x030200", "1", "0", "-1", "4: ACTIVE", "5: LinkUp", "InfiniBand", "Ethernet",
		"9000", "1500", "up", "down", "mlx5_0", "22.41.1000", "16.20.1", "16.0 GT/s PCIe",
		"16", "DMA-FQ", "identity", "0x0 0x0 0x0", "0x100000000 0x1ffffffff 0x14220c",
		"Linux version 6.1.0", "HugePages_Total: 4", "18446744073709551616",
		"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04"};
	uint32_t how = fz_u8(in), n = 0;

	if (how < 2 * sizeof(some) / sizeof(some[0]))
		return (size_t)snprintf(out, bytes, "%s", some[how / 2]) < bytes ? strlen(out)
										 : bytes - 1;
	if (how >= 240)
		n = (how - 239) * 16; /* long ones */
	else
		n = how & 15u;
	n = n < bytes - 1 ? n : (uint32_t)bytes - 1;
	fz_bytes(in, out, n);
	out[n] = '\0';
	return n;
}

bool
dr_exists(const struct doctor *d, const char *fmt, ...)
{
	return fz_u8(in) & 1;
}

size_t
dr_bytes(const struct doctor *d, void *out, size_t bytes, const char *fmt, ...)
{
	uint32_t n = fz_u16(in) % (bytes + 1), most = fz_u8(in);

	memset(out, 0, n);
	fz_bytes(in, out, n < most ? n : most);
	return n;
}

bool
dr_line(const struct doctor *d, char *out, size_t bytes, const char *fmt, ...)
{
	size_t n = text(out, bytes);

	out[strcspn(out, "\n")] = '\0';
	return n != 0;
}

long
dr_number(const struct doctor *d, long otherwise, const char *fmt, ...)
{
	uint32_t how = fz_u8(in);

	return how < 64 ? otherwise : how < 240 ? (long)(how - 64) : (long)fz_u64(in);
}

bool
dr_link(const struct doctor *d, char *out, size_t bytes, const char *fmt, ...)
{
	return text(out, bytes) != 0;
}

bool
dr_real(const struct doctor *d, char out[PATH_MAX], const char *fmt, ...)
{
	static const char *const part[] = {"/pci0000:40", "/0000:40:01.0", "/0000:41:00.0",
		"/0000:43:00.0", "/0000:44:00.0", "/x"};
	uint32_t nr = fz_below(in, 40);
	size_t n = (size_t)snprintf(out, PATH_MAX, "sys/devices");

	if (nr > 30)
		return text(out, PATH_MAX) != 0;
	for (uint32_t i = 0; i < nr; i++)
		n += (size_t)snprintf(out + n, PATH_MAX - n, "%s", part[fz_below(in, 6)]);
	return nr != 0;
}

unsigned
dr_list(const struct doctor *d, char name[][DR_NAME], unsigned max, const char *fmt, ...)
{
	static const char *const some[] = {"0000:43:00.0", "0000:44:00.0", "0000:45:00.1", "mlx5_0",
		"mlx5_1", "eth0", "uverbs0", "node0", "node1", "hugepages-2048kB", "1"};
	uint32_t nr = fz_u8(in), n = 0;

	nr = nr >= 250 ? max : nr % 5u;
	for (uint32_t i = 0; i < nr && n < max; i++, n++) {
		uint32_t how = fz_u8(in);

		if (how < 11 * 16)
			snprintf(name[n], DR_NAME, "%s", some[how / 16]);
		else
			text(name[n], DR_NAME);
	}
	return n;
}

bool
dr_may_write(const struct doctor *d, unsigned *mode, const char *fmt, ...)
{
	*mode = fz_u16(in) & 07777u;
	return fz_u8(in) & 1;
}
