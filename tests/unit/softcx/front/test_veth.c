/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The netdev wire between the two ends of a veth pair: what is sent in bursts and what is sent one
 * by one arrives byte for byte and in order; the sending thread may be in another network namespace
 * than the netdev; without permission for BPF all goes one by one, and the log says so; a link that
 * is down drops, a netdev that is gone ends the bursts, and neither stops the NIC. Needs root, for
 * namespaces and netdevs.
 */
#include <linux/capability.h>
#include <net/if.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

#include "drivers/softcx/log.h"
#include "drivers/softcx/wire.h"

#define MTU   3000u /* more than a burst takes, so that both ways are used */
#define TRIES 1000u
#define BATCH 125u /* the data path offers no more at once */

static struct scx_wire *a, *b;
static char err[256], log_path[64];
static uint8_t bytes[BATCH][MTU + 18];

static void
sh(const char *command)
{
	if (system(command))
		fail_msg("%s failed", command);
}

/* Frame i of kind: 0 short ones, 1 long ones, 2 mixed; some with a VLAN tag. */
static struct scx_frame
frame(unsigned i, unsigned kind)
{
	static const uint8_t head[] = {2, 0, 0, 0, 0, 0xb, 2, 0, 0, 0, 0, 0xa};
	struct scx_frame f = {bytes[i], 60 + i * 7, 0};

	if (kind == 1 || (kind == 2 && i % 11 > 8))
		f.len = MTU + 14 - i;
	for (uint32_t at = 0; at < f.len; at++)
		bytes[i][at] = (uint8_t)(i + at * 7 + kind);
	memcpy(bytes[i], head, sizeof(head));
	memcpy(bytes[i] + 12, i % 5 == 4 ? "\x81\x00\x00\x07\x88\xb5" : "\x88\xb5\x00\x00\x00\x00",
		6);
	return f;
}

static void
send_all(struct scx_frame *f, unsigned nr)
{
	unsigned sent = 0;

	for (unsigned i = 0; sent < nr && i < TRIES; i++)
		sent += a->ops->send(a, f + sent, nr - sent);
	assert_int_equal(sent, nr);
}

static void
expect(const struct scx_frame *f, unsigned nr)
{
	struct scx_frame got[BATCH];
	unsigned n = 0;

	for (unsigned i = 0; n < nr && i < TRIES; i++) {
		unsigned k = b->ops->recv(b, got, nr - n);

		for (unsigned j = 0; j < k; j++, n++) {
			assert_int_equal(got[j].len, f[n].len);
			assert_memory_equal(got[j].data, f[n].data, f[n].len);
		}
		if (k == 0)
			usleep(1000);
	}
	assert_int_equal(n, nr);
}

static int
logged(const char *words)
{
	char text[4096];
	FILE *f = fopen(log_path, "r");
	size_t n = fread(text, 1, sizeof(text) - 1, f);

	fclose(f);
	text[n] = 0;
	return strstr(text, words) != NULL;
}

static int
make_pair(void **state)
{
	if (unshare(CLONE_NEWNET))
		return -1;
	sh("ip link add w0 mtu 3000 type veth peer name w1 mtu 3000");
	sh("ip link set w0 addrgenmode none arp off up; ip link set w1 addrgenmode none arp off "
	   "up");
	assert_int_equal(scx_wire_veth("w0", &a, err, sizeof(err)), 0);
	assert_int_equal(scx_wire_veth("w1", &b, err, sizeof(err)), 0);
	return 0;
}

static int
close_pair(void **state)
{
	a->ops->close(a);
	b->ops->close(b);
	return 0;
}

static void
every_kind_arrives(void **state)
{
	struct scx_frame f[BATCH];

	assert_true(logged("leave in bursts")); /* else this test shows nothing of them */
	for (unsigned kind = 0; kind < 3; kind++)
		for (unsigned nr = 1; nr <= BATCH; nr += nr < 8 ? 1 : 39) {
			for (unsigned i = 0; i < nr; i++)
				f[i] = frame(i, kind);
			send_all(f, nr);
			expect(f, nr);
		}
}

/* Takes the capabilities of BPF out of the effective set, or puts them back. */
static void
permit_bpf(int permit)
{
	struct __user_cap_header_struct h = {_LINUX_CAPABILITY_VERSION_3, 0};
	struct __user_cap_data_struct caps[2];
	uint32_t admin = 1u << CAP_SYS_ADMIN, bpf = 1u << (CAP_BPF - 32);

	assert_int_equal(syscall(SYS_capget, &h, caps), 0);
	caps[0].effective = permit ? caps[0].effective | admin : caps[0].effective & ~admin;
	caps[1].effective = permit ? caps[1].effective | bpf : caps[1].effective & ~bpf;
	assert_int_equal(syscall(SYS_capset, &h, caps), 0);
}

static void
without_permission(void **state)
{
	struct scx_frame f[BATCH];

	a->ops->close(a);
	permit_bpf(0);
	assert_int_equal(scx_wire_veth("w0", &a, err, sizeof(err)), 0);
	permit_bpf(1);
	assert_true(logged("frames leave one by one through a packet socket. Cause: BPF"));
	for (unsigned i = 0; i < BATCH; i++)
		f[i] = frame(i, 2);
	send_all(f, BATCH);
	expect(f, BATCH);
}

/* The thread has gone elsewhere since the wire was opened, where the same number is another netdev.
 */
static void
another_namespace(void **state)
{
	struct scx_frame f[8];
	char command[64];

	for (unsigned i = 0; i < 8; i++)
		f[i] = frame(i, 0);
	snprintf(command, sizeof(command), "ip link add other index %u type veth peer name far",
		if_nametoindex("w0"));
	assert_int_equal(unshare(CLONE_NEWNET), 0);
	sh(command);
	sh("ip link set far up; ip link set other up");
	send_all(f, 8);
	expect(f, 8);
}

static void
link_down_drops(void **state)
{
	struct scx_frame f[8];

	for (unsigned i = 0; i < 8; i++)
		f[i] = frame(i, 0);
	sh("ip link set w0 down");
	send_all(f, 8);
	sh("ip link set w0 up");
	f[0] = frame(90, 0);
	send_all(f, 1);
	expect(f, 1); /* and none of those before */
}

static void
netdev_gone(void **state)
{
	struct scx_frame f[8];

	for (unsigned i = 0; i < 8; i++)
		f[i] = frame(i, 0);
	sh("ip link del w0");
	send_all(f, 8); /* dropped */
	assert_true(logged("a packet socket from now on"));
	send_all(f, 8);
}

int
main(void)
{
	/* another_namespace comes last but for those that do not care: its thread moves */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(every_kind_arrives, make_pair, close_pair),
		cmocka_unit_test_setup_teardown(link_down_drops, make_pair, close_pair),
		cmocka_unit_test_setup_teardown(without_permission, make_pair, close_pair),
		cmocka_unit_test_setup_teardown(netdev_gone, make_pair, close_pair),
		cmocka_unit_test_setup_teardown(another_namespace, make_pair, close_pair),
	};
	int rc, fd;

	if (geteuid() != 0 || unshare(CLONE_NEWNET) || system("ip -V >/dev/null")) {
		puts("SKIP: needs root, network namespaces and ip(8)");
		return 77;
	}
	strcpy(log_path, "/tmp/scx_veth_XXXXXX");
	fd = mkstemp(log_path);
	if (fd < 0 || scx_log_open(log_path))
		return 1;
	rc = cmocka_run_group_tests(tests, NULL, NULL);
	close(fd);
	unlink(log_path);
	return rc;
}
