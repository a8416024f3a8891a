// SPDX-License-Identifier: BSD-3-Clause
/*
 * The values of options: each function takes the text that stands after "=" and puts what it means
 * into the options, or says what was wrong with it and what would be right. Host, main lcore.
 */
#include "option_values.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FRAME_BYTES_MIN 42u   /* Ethernet, IPv4 and UDP headers */
#define FRAME_BYTES_MAX 9600u /* the largest frame a ConnectX port takes */
#define DEPTH_MAX	32768u
#define MAC_CHARS	"0123456789abcdefABCDEF:"

int
crl_tp_bad(struct crl_err *err, const char *fix, const char *cause, ...)
{
	va_list ap;

	err->code = -EINVAL;
	snprintf(err->step, sizeof(err->step), "options");
	snprintf(err->fix, sizeof(err->fix), "%s", fix);
	va_start(ap, cause);
	vsnprintf(err->cause, sizeof(err->cause), cause, ap);
	va_end(ap);
	return -EINVAL;
}

/* A whole number from min to max. */
int
crl_tp_number(struct crl_err *err, const char *name, const char *text, unsigned long long min,
	unsigned long long max, uint32_t *out)
{
	char fix[96];
	char *end;
	unsigned long long v;

	snprintf(fix, sizeof(fix), "give a number from %llu to %llu", min, max);
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno != 0 || *text < '0' || *text > '9' || *end != '\0' || v < min || v > max)
		return crl_tp_bad(err, fix, "--%s=%s is out of range", name, text);
	*out = (uint32_t)v;
	return 0;
}

int
crl_tp_depth(struct crl_err *err, const char *name, const char *text, uint32_t *out)
{
	uint32_t below = 1;
	char fix[96];
	int ret = crl_tp_number(err, name, text, 1, DEPTH_MAX, out);

	if (ret != 0)
		return ret;
	if ((*out & (*out - 1)) == 0)
		return 0;
	while (below * 2 <= *out)
		below *= 2;
	snprintf(fix, sizeof(fix), "give a power of two, such as %u or %u", below, below * 2);
	return crl_tp_bad(
		err, fix, "--%s=%u is no power of two, and rings wrap by masking", name, *out);
}

int
crl_tp_forward_mode(struct crl_err *err, const char *text, struct crl_tp_options *o)
{
	char names[128], fix[160];

	o->engine = crl_engine_find(text);
	if (o->engine != NULL)
		return 0;
	snprintf(fix, sizeof(fix), "choose one of %s", crl_engine_names(names, sizeof(names)));
	return crl_tp_bad(err, fix, "there is no forward mode '%s'", text);
}

int
crl_tp_txpkts(struct crl_err *err, const char *text, struct crl_tp_options *o)
{
	uint32_t total = 0;
	int ret = crl_engine_opts_txpkts(&o->engine_opts, text, err);

	for (uint32_t i = 0; ret == 0 && i < o->engine_opts.txpkts_nr; i++)
		total += o->engine_opts.txpkts[i];
	if (ret == 0 && o->engine_opts.txpkts[0] >= FRAME_BYTES_MIN && total <= FRAME_BYTES_MAX)
		return 0;
	return crl_tp_bad(err,
		"give up to 16 lengths, as 64,128: the first at least 42, together at most 9600",
		"--txpkts=%s cannot be sent", text);
}

int
crl_tp_tx_ip(struct crl_err *err, const char *text, struct crl_tp_options *o)
{
	char copy[64], *comma;
	struct in_addr a, b;

	snprintf(copy, sizeof(copy), "%s", text);
	comma = strchr(copy, ',');
	if (comma != NULL)
		*comma++ = '\0';
	if (comma == NULL || inet_pton(AF_INET, copy, &a) != 1 ||
		inet_pton(AF_INET, comma, &b) != 1)
		return crl_tp_bad(err, "give two IPv4 addresses, as --tx-ip=198.18.0.1,198.18.0.2",
			"--tx-ip=%s is not understood", text);
	o->engine_opts.src_ip = ntohl(a.s_addr);
	o->engine_opts.dst_ip = ntohl(b.s_addr);
	return 0;
}

int
crl_tp_tx_udp(struct crl_err *err, const char *text, struct crl_tp_options *o)
{
	const char *whole = text;
	unsigned long src, dst;
	char *end;

	errno = 0;
	src = dst = strtoul(text, &end, 10);
	if (*text >= '0' && *text <= '9' && *end == ',') {
		text = end + 1;
		dst = strtoul(text, &end, 10);
	}
	if (*text < '0' || *text > '9' || *end != '\0')
		return crl_tp_bad(err, "give one port or two, as --tx-udp=9,9",
			"--tx-udp=%s is not understood", whole);
	if (errno != 0 || src > UINT16_MAX || dst > UINT16_MAX)
		return crl_tp_bad(
			err, "ports go up to 65535", "--tx-udp=%s is out of range", whole);
	o->engine_opts.src_port = (uint16_t)src;
	o->engine_opts.dst_port = (uint16_t)dst;
	return 0;
}

int
crl_tp_eth_peer(struct crl_err *err, const char *text, struct crl_tp_options *o)
{
	size_t len = strspn(text, "0123456789"); /* of the port */
	unsigned int m[6];
	int n = 0;

	/* Two digits at most for each: a longer number would be cut down to one that fits. */
	if (*text < '0' || *text > '9' || text[len] != ',' ||
		text[len + 1 + strspn(text + len + 1, MAC_CHARS)] != '\0' ||
		sscanf(text + len, ",%2x:%2x:%2x:%2x:%2x:%2x%n", &m[0], &m[1], &m[2], &m[3],
			&m[4], &m[5], &n) != 6 ||
		text[len + (size_t)n] != '\0')
		return crl_tp_bad(err, "give a port and a MAC, as --eth-peer=0,02:00:00:00:00:01",
			"--eth-peer=%s is not understood", text);
	if (strspn(text, "0") != len)
		return crl_tp_bad(err, "give --eth-peer=0,MAC, and to send to another run another",
			"--eth-peer=%s: one peer serves all ports, and it is number 0", text);
	for (int i = 0; i < 6; i++)
		o->engine_opts.peer_mac[i] = (uint8_t)m[i];
	return 0;
}

int
crl_tp_portmask(struct crl_err *err, const char *text, struct crl_tp_options *o)
{
	char *end;

	errno = 0;
	o->portmask = strtoull(text, &end, 16);
	if (errno != 0 || !isxdigit((unsigned char)*text) || *end != '\0' || o->portmask == 0)
		return crl_tp_bad(err,
			"give a hexadecimal mask with a bit a device, as --portmask=0x1",
			"--portmask=%s chooses no device", text);
	return 0;
}

int
crl_tp_duration(struct crl_err *err, const char *text, struct crl_tp_options *o)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || *end != '\0' || !isfinite(v) || v <= 0 || v > 1e7)
		return crl_tp_bad(err, "give seconds, as --duration=2.5",
			"--duration=%s is no time to run", text);
	o->duration_s = v;
	return 0;
}

int
crl_tp_rings(struct crl_err *err, const char *text, struct crl_tp_options *o)
{
	if (strcmp(text, "gpu") == 0)
		o->rings = CRL_TP_RINGS_GPU;
	else if (strcmp(text, "host") == 0)
		o->rings = CRL_TP_RINGS_HOST;
	else
		return crl_tp_bad(
			err, "give --rings=gpu or --rings=host", "rings cannot be in '%s'", text);
	return 0;
}

int
crl_tp_text(struct crl_err *err, const char *name, const char *text, char *out, size_t bytes)
{
	if (text[0] == '\0' || strlen(text) >= bytes)
		return crl_tp_bad(err, "give a shorter one, and not an empty one",
			"--%s=%s cannot be used", name, text);
	memcpy(out, text, strlen(text) + 1);
	return 0;
}

/* Where frames of testpmd's loop topology differ from what a user of several ports may expect. */
int
crl_tp_topology(struct crl_err *err, const char *text)
{
	if (strcmp(text, "loop") == 0)
		return 0;
	return crl_tp_bad(err, "leave it out, or give --port-topology=loop",
		"port topology '%s' is not built: a queue sends on the port that it receives from",
		text);
}
