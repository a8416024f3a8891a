// SPDX-License-Identifier: BSD-3-Clause
/* carillon-testpmd's command line: what is understood, and that every mistake is named with its
 * cure. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "apps/testpmd/options.h"

#define WORDS_MAX 16

/* Splits at spaces and parses; the text must be short. */
static int
parse(const char *text, struct crl_tp_options *o, struct crl_err *err)
{
	static char copy[512];
	char *argv[WORDS_MAX] = {"--"}, *save = NULL;
	int argc = 1;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *w = strtok_r(copy, " ", &save); w != NULL; w = strtok_r(NULL, " ", &save))
		argv[argc++] = w;
	memset(err, 0, sizeof(*err));
	return crl_tp_options_parse(argc, argv, o, err);
}

static void
defaults(void **state)
{
	struct crl_tp_options o;
	struct crl_err err;

	assert_int_equal(parse("", &o, &err), 0);
	assert_string_equal(o.engine->name, "io");
	assert_int_equal(o.rxq, 1);
	assert_int_equal(o.rxd, 1024);
	assert_int_equal(o.burst, 32);
	assert_int_equal(o.nb_cores, 1);
	assert_int_equal(o.rings, CRL_TP_RINGS_HOST);
	assert_int_equal(o.engine_opts.txpkts_nr, 1);
	assert_int_equal(o.engine_opts.txpkts[0], 64);
	assert_int_equal(o.engine_opts.src_ip, 0xc6120001);
	assert_int_equal(o.engine_opts.dst_port, 9);
	assert_false(o.interactive);
}

static void
all_words(void **state)
{
	struct crl_tp_options o;
	struct crl_err err;

	assert_int_equal(
		parse("--forward-mode=txonly --rxq=0 --txq=4 --rxd=512 --txd 2048 --burst=64 "
		      "--txpkts=64,128 --nb-cores=2 --stats-period 1 --auto-start "
		      "--duration=2.5 --json=/tmp/x.json",
			&o, &err),
		0);
	assert_string_equal(o.engine->name, "txonly");
	assert_int_equal(o.txq, 4);
	assert_int_equal(o.txd, 2048);
	assert_int_equal(o.engine_opts.txpkts_nr, 2);
	assert_int_equal(o.engine_opts.txpkts[1], 128);
	assert_true(o.duration_s > 2.4 && o.duration_s < 2.6);
	assert_true(o.auto_start);
	assert_string_equal(o.json, "/tmp/x.json");

	assert_int_equal(
		parse("--tx-ip=10.0.0.1,10.0.0.2 --tx-udp=7 --eth-peer=0,02:00:00:00:00:ff "
		      "--gpu=gpu_crl_cuda0 --portmask=0x2 --cpu-queues=2 -i -a",
			&o, &err),
		0);
	assert_int_equal(o.engine_opts.src_ip, 0x0a000001);
	assert_int_equal(o.engine_opts.src_port, 7);
	assert_int_equal(o.engine_opts.dst_port, 7);
	assert_int_equal(o.engine_opts.peer_mac[5], 0xff);
	assert_int_equal(o.rings, CRL_TP_RINGS_GPU);
	assert_int_equal(o.portmask, 2);
	assert_int_equal(o.cpu_queues, 2);
	assert_true(o.interactive);

	assert_int_equal(
		parse("--tx-first --rings=host --gpu=host --flow-isolate-all --port-topology=loop "
		      "--mbuf-size=4096 --tx-udp=7,8 --tx-inline=972",
			&o, &err),
		0);
	assert_int_equal(o.rings, CRL_TP_RINGS_HOST);
	assert_int_equal(o.engine_opts.dst_port, 8);
	assert_int_equal(o.tx_inline, 972);
	assert_true(o.tx_first);
	assert_int_equal(parse("--help", &o, &err), 0);
	assert_true(o.help);
}

/* Each mistake, a piece of the cause, a piece of the cure. */
static const struct {
	const char *text, *cause, *fix;
} mistakes[] = {
	{"--rxd=1000", "--rxd=1000 is no power of two", "512 or 1024"},
	{"--txd=3", "--txd=3 is no power of two", "2 or 4"},
	{"--rxd=65536", "--rxd=65536 is out of range", "from 1 to 32768"},
	{"--rxd=0", "out of range", "from 1 to 32768"},
	{"--rxd=12x", "--rxd=12x", "number"},
	{"--rxq=1001", "--rxq=1001", "from 0 to 1000"},
	{"--rxq=-1", "--rxq=-1", "from 0 to 1000"},
	{"--rxq=65 --txq=65", "--rxq=65: one rule spreads over 64", "--queue-flows"},
	{"--forward-mode=5tswap --queue-flows", "with 5tswap", "choose io"},
	{"--mtu=67", "--mtu=67", "from 68"},
	{"--burst=0", "--burst=0", "from 1 to 64"},
	{"--burst=65", "--burst=65", "from 1 to 64"},
	{"--nb-cores=0", "--nb-cores=0", "from 1"},
	{"--stats-period=x", "--stats-period=x", "number"},
	{"--stats-period=", "--stats-period=", "number"},
	{"--forward-mode=csum", "no forward mode 'csum'", "icmpecho, io, macswap"},
	{"--txpkts=0", "--txpkts=0", "at least 42"},
	{"--txpkts=a", "--txpkts=a", "at least 42"},
	{"--txpkts=41", "--txpkts=41", "at least 42"},
	{"--txpkts=9000,9000", "--txpkts=9000,9000", "at most 9600"},
	{"--tx-ip=10.0.0.1", "--tx-ip=10.0.0.1", "two IPv4 addresses"},
	{"--tx-ip=10.0.0.1,x", "--tx-ip", "two IPv4 addresses"},
	{"--tx-udp=x", "--tx-udp=x", "port"},
	{"--tx-udp=70000", "--tx-udp=70000", "65535"},
	{"--tx-udp=1,2,3", "--tx-udp=1,2,3", "port"},
	{"--tx-udp=", "--tx-udp=", "port"},
	{"--tx-udp=9,", "--tx-udp=9,", "port"},
	{"--tx-udp=4294967305", "--tx-udp=4294967305", "65535"}, /* 9, in 32 bits */
	{"--tx-udp=18446744073709551625,9", "--tx-udp=", "65535"},
	{"--tx-udp=9,-65527", "--tx-udp=9,-65527", "port"},
	{"--rxq=+4", "--rxq=+4", "number"},
	{"--rxq=\t4", "--rxq=\t4", "number"},
	{"--rxq=\t-18446744073709551612", "--rxq=", "number"},
	{"--portmask=-1", "--portmask=-1", "mask"},
	{"--eth-peer=0,zz", "--eth-peer=0,zz", "MAC"},
	{"--eth-peer=0,02:00:00:00:00:100", "--eth-peer", "MAC"},
	{"--eth-peer=1,02:00:00:00:00:01", "one peer serves all ports", "--eth-peer=0,MAC"},
	{"--eth-peer=0,100000002:0:0:0:0:1", "--eth-peer", "MAC"}, /* 2, in 32 bits */
	{"--eth-peer=0,2:0:0:0:0:+1", "--eth-peer", "MAC"},
	{"--eth-peer=0,2:0:0:0:0", "--eth-peer", "MAC"},
	{"--portmask=0", "--portmask=0", "mask"},
	{"--portmask=q", "--portmask=q", "mask"},
	{"--duration=0", "--duration=0", "seconds"},
	{"--duration=inf", "--duration=inf", "seconds"},
	{"--duration=2s", "--duration=2s", "seconds"},
	{"--rings=nic", "'nic'", "--rings=host"},
	{"--rings=gpu", "without a GPU", "--gpu=NAME"},
	{"--gpu=", "--gpu=", "empty"},
	{"--json=", "--json=", "empty"},
	{"--mbuf-size=100", "--mbuf-size=100", "multiple of 64"},
	{"--mbuf-size=32", "--mbuf-size=32", "from 64"},
	{"--tx-inline=973", "--tx-inline=973", "from 0 to 972"},
	{"--rxq=0", "io receives", "--rxq=1"},
	{"--txq=0", "io sends", "--txq=1"},
	{"--rxq=2", "--rxq=2 and --txq=1 differ", "same number"},
	{"--forward-mode=txonly --txq=0", "txonly sends", "--txq=1"},
	{"--forward-mode=rxonly --tx-first", "--tx-first", "leave"},
	{"--forward-mode=icmpecho --cpu-queues=1", "icmpecho", "leave --cpu-queues out"},
	{"--cpu-queues=1 --flow-isolate-all", "--flow-isolate-all", "leave one"},
	{"--port-topology=paired", "'paired'", "loop"},
	{"--nonsense", "unknown option '--nonsense'", "--help"},
	{"--rx=3", "unknown option '--rx=3'", "--help"},
	{"-z", "unknown option '-z'", "--help"},
	{"--rxq", "'--rxq' lacks its value", "--help"},
	{"word", "'word' is no option", "--"},
	{"--auto-start=1", "'--auto-start=1': it takes no value", "leave out"},
	{"--txfreet=32", "testpmd's --txfreet is", "thresholds"},
	{"--enable-hw-vlan", "testpmd's --enable-hw-vlan is", "tags"},
	{"--enable-hw-vlan-stripe", "unknown option '--enable-hw-vlan-stripe'", "--help"},
	{"--=1", "unknown option '--=1'", "--help"},
	{"--total-num-mbufs=4096", "testpmd's --total-num-mbufs", "--rxd"},
	{"--mbcache=250", "testpmd's --mbcache", "mempool"},
	{"--no-lsc-interrupt", "testpmd's --no-lsc-interrupt", "control loop"},
	{"--coremask=0x3", "testpmd's --coremask", "-l"},
	{"--record-burst-stats", "testpmd's --record-burst-stats", "--json"},
};

static void
every_mistake(void **state)
{
	struct crl_tp_options o;
	struct crl_err err;
	char line[512];

	for (size_t i = 0; i < sizeof(mistakes) / sizeof(mistakes[0]); i++) {
		int ret = parse(mistakes[i].text, &o, &err);

		if (ret != -EINVAL || strstr(err.cause, mistakes[i].cause) == NULL ||
			strstr(err.fix, mistakes[i].fix) == NULL)
			fail_msg("%s: %d: '%s' / '%s'", mistakes[i].text, ret, err.cause, err.fix);
		/* One line. */
		assert_null(strchr(crl_err_str(&err, line, sizeof(line)), '\n'));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(all_words),
		cmocka_unit_test(every_mistake),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
