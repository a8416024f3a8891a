/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The configuration text between `softcx run` and libsoftcx.so: see conf.h for the keys. Parsing is
 * strict, because a key that is misread here would be a wire that silently is another one.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conf.h"

const struct scx_identity scx_identities[] = {
	{"cx5", "MT4119", 0x1017, 16, 35, 1000, true},
	{"cx6dx", "MT4125", 0x101d, 22, 41, 1000, false},
	{"cx7", "MT4129", 0x1021, 28, 41, 1000, false},
	{"bf3", "MT41692", 0xa2dc, 32, 41, 1000, false},
	{NULL, NULL, 0, 0, 0, 0, false},
};

const struct scx_identity *
scx_identity(const char *profile)
{
	for (const struct scx_identity *id = scx_identities; id->profile; id++)
		if (!strcmp(id->profile, profile))
			return id;
	return NULL;
}

static const char *const step_names[] = {"cpu", "remote", "gpu", "copy", "copy-test"};
static const char *const wire_names[] = {"loopback", "cable", "veth", "pcap"};

static int
parse_u64(const char *v, uint64_t max, uint64_t *out)
{
	char *end;

	if (*v < '0' || *v > '9')
		return -EINVAL;
	errno = 0;
	*out = strtoull(v, &end, 10);
	return errno || *end || *out > max ? -EINVAL : 0;
}

static int
parse_text(const char *v, char *out, size_t bytes)
{
	if (strlen(v) >= bytes)
		return -EINVAL;
	strcpy(out, v);
	return 0;
}

int
scx_conf_mac(const char *v, uint8_t mac[6])
{
	unsigned b[6];
	int n = 0;

	if (strlen(v) != 17 || strspn(v, "0123456789abcdefABCDEF:") != 17)
		return -EINVAL;
	if (sscanf(v, "%2x:%2x:%2x:%2x:%2x:%2x%n", &b[0], &b[1], &b[2], &b[3], &b[4], &b[5], &n) !=
			6 ||
		n != 17)
		return -EINVAL;
	for (int i = 0; i < 6; i++)
		mac[i] = b[i];
	return 0;
}

static int
parse_wire(const char *v, enum scx_conf_wire *wire)
{
	for (unsigned i = 0; i < sizeof(wire_names) / sizeof(wire_names[0]); i++)
		if (!strcmp(v, wire_names[i])) {
			*wire = (enum scx_conf_wire)i;
			return 0;
		}
	return -EINVAL;
}

int
scx_conf_step(const char *v, enum scx_conf_step *step)
{
	for (unsigned i = 0; i < sizeof(step_names) / sizeof(step_names[0]); i++)
		if (!strcmp(v, step_names[i])) {
			*step = (enum scx_conf_step)i;
			return 0;
		}
	return -EINVAL;
}

static int
parse_port_key(const char *k, const char *v, struct scx_conf_port *p)
{
	uint64_t u;

	if (!strcmp(k, "mac"))
		return scx_conf_mac(v, p->mac);
	if (!strcmp(k, "mtu")) {
		if (parse_u64(v, 65535, &u))
			return -EINVAL;
		p->mtu = u;
		return 0;
	}
	if (!strcmp(k, "wire"))
		return parse_wire(v, &p->wire);
	if (!strcmp(k, "nic"))
		return parse_text(v, p->nic, sizeof(p->nic));
	if (!strcmp(k, "netdev"))
		return parse_text(v, p->netdev, sizeof(p->netdev));
	if (!strcmp(k, "netns"))
		return parse_text(v, p->netns, sizeof(p->netns));
	if (!strcmp(k, "in"))
		return parse_text(v, p->in, sizeof(p->in));
	if (!strcmp(k, "out"))
		return parse_text(v, p->out, sizeof(p->out));
	if (!strcmp(k, "tap"))
		return parse_text(v, p->tap, sizeof(p->tap));
	return -ENOENT;
}

static int
parse_key(const char *k, const char *v, struct scx_conf *c)
{
	uint64_t u;

	if (!strcmp(k, "profile"))
		return scx_identity(v) ? parse_text(v, c->profile, sizeof(c->profile)) : -EINVAL;
	if (!strcmp(k, "seed"))
		return parse_u64(v, UINT64_MAX, &c->seed);
	if (!strcmp(k, "faults"))
		return parse_text(v, c->faults, sizeof(c->faults));
	if (!strcmp(k, "log"))
		return parse_text(v, c->log, sizeof(c->log));
	if (!strcmp(k, "state"))
		return parse_text(v, c->state, sizeof(c->state));
	if (!strcmp(k, "nic-step"))
		return scx_conf_step(v, &c->step);
	if (!strcmp(k, "gpu")) {
		if (parse_u64(v, SCX_CONF_GPU_MAX, &u))
			return -EINVAL;
		c->gpu = u;
		return 0;
	}
	if (!strcmp(k, "log-dump")) {
		if (parse_u64(v, SCX_CONF_DUMP_MAX, &u))
			return -EINVAL;
		c->log_dump = u;
		return 0;
	}
	if (!strcmp(k, "host-doorbells")) {
		if (parse_u64(v, 1, &u))
			return -EINVAL;
		c->host_doorbells = u;
		return 0;
	}
	if (!strcmp(k, "port")) {
		/* ports come in order: a gap would leave one without a wire */
		if (parse_u64(v, SCX_CONF_PORTS_MAX - 1, &u) || u != c->nr_ports)
			return -EINVAL;
		c->port[c->nr_ports++].mtu = 1500;
		return 0;
	}
	return c->nr_ports ? parse_port_key(k, v, &c->port[c->nr_ports - 1]) : -ENOENT;
}

static int
check_whole(const struct scx_conf *c, char *err, size_t err_bytes)
{
	if (!c->nr_ports) {
		snprintf(err, err_bytes, "no port");
		return -EINVAL;
	}
	for (unsigned i = 0; i < c->nr_ports; i++)
		if (c->port[i].wire == SCX_CONF_VETH && !c->port[i].netdev[0]) {
			snprintf(err, err_bytes, "port %u: wire=veth without netdev=", i);
			return -EINVAL;
		}
	/* ports 0 and 1 are the ends of one cable, 2 and 3 of the next */
	for (unsigned i = 0; i < c->nr_ports; i++)
		if (c->port[i].wire == SCX_CONF_CABLE &&
			((i ^ 1u) >= c->nr_ports || c->port[i ^ 1u].wire != SCX_CONF_CABLE)) {
			snprintf(err, err_bytes, "port %u: wire=cable without a second end", i);
			return -EINVAL;
		}
	return 0;
}

int
scx_conf_parse(const char *text, struct scx_conf *c, char *err, size_t err_bytes)
{
	char line[SCX_CONF_PATH + 32];

	memset(c, 0, sizeof(*c));
	strcpy(c->profile, "cx6dx");
	while (*text) {
		size_t n = strcspn(text, "\n");
		char *eq;

		if (n >= sizeof(line)) {
			snprintf(err, err_bytes, "a line of %zu bytes", n);
			return -EINVAL;
		}
		memcpy(line, text, n);
		line[n] = 0;
		text += n + (text[n] == '\n');
		if (!n)
			continue;
		eq = strchr(line, '=');
		if (eq)
			*eq = 0;
		if (!eq || parse_key(line, eq + 1, c)) {
			snprintf(err, err_bytes, "'%.60s%s%.60s'", line, eq ? "=" : "",
				eq ? eq + 1 : "");
			return -EINVAL;
		}
	}
	return check_whole(c, err, err_bytes);
}

struct out {
	char *p;
	size_t left;
	int rc;
};

static void __attribute__((format(printf, 2, 3))) emit(struct out *o, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(o->p, o->left, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= o->left) {
		o->rc = -ENOSPC;
		return;
	}
	o->p += n;
	o->left -= n;
}

/* A text with a newline would be read back as two lines. */
static void
emit_text(struct out *o, const char *key, const char *v)
{
	if (strchr(v, '\n'))
		o->rc = -EINVAL;
	else if (*v)
		emit(o, "%s=%s\n", key, v);
}

int
scx_conf_format(const struct scx_conf *c, char *buf, size_t bytes)
{
	struct out o = {buf, bytes, 0};

	emit_text(&o, "profile", c->profile);
	emit(&o, "seed=%llu\n", (unsigned long long)c->seed);
	emit_text(&o, "faults", c->faults);
	emit_text(&o, "log", c->log);
	emit_text(&o, "state", c->state);
	emit(&o, "log-dump=%u\nnic-step=%s\ngpu=%u\nhost-doorbells=%u\n", c->log_dump,
		step_names[c->step], c->gpu, c->host_doorbells);
	for (unsigned i = 0; i < c->nr_ports && !o.rc; i++) {
		const struct scx_conf_port *p = &c->port[i];

		emit(&o, "port=%u\nmac=%02x:%02x:%02x:%02x:%02x:%02x\nmtu=%u\nwire=%s\n", i,
			p->mac[0], p->mac[1], p->mac[2], p->mac[3], p->mac[4], p->mac[5], p->mtu,
			wire_names[p->wire]);
		emit_text(&o, "nic", p->nic);
		emit_text(&o, "netdev", p->netdev);
		emit_text(&o, "netns", p->netns);
		emit_text(&o, "in", p->in);
		emit_text(&o, "out", p->out);
		emit_text(&o, "tap", p->tap);
	}
	return o.rc;
}
