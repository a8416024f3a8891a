/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The text between `softcx run` and libsoftcx.so: what is written is what is read, and nothing that
 * is not in conf.h's list gets through.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/softcx/front/conf.h"

#define PORT "port=0\n"

static struct scx_conf conf;
static char err[256];

static int
parse(const char *text)
{
	err[0] = 0;
	return scx_conf_parse(text, &conf, err, sizeof(err));
}

static void
all_of_it(void **state)
{
	assert_int_equal(
		parse("profile=cx7\nseed=18446744073709551615\nlog=/tmp/x "
		      "y\nstate=/s\nlog-dump=7\nnic-step=gpu\ngpu=3\nhost-doorbells=1\n"
		      "port=0\nmac=02:5c:78:00:00:0a\nmtu=9000\nnic=scx0\nwire=veth\nnetdev="
		      "w0\nnetns=/n\n"
		      "port=1\nmac=ff:ee:dd:cc:bb:aa\nwire=pcap\nin=/a,b\nout=/c\ntap=/d\n"),
		0);
	assert_string_equal(conf.profile, "cx7");
	assert_true(conf.seed == UINT64_MAX);
	assert_string_equal(conf.log, "/tmp/x y");
	assert_string_equal(conf.state, "/s");
	assert_int_equal(conf.step, SCX_CONF_STEP_GPU);
	assert_int_equal(conf.gpu, 3);
	assert_int_equal(conf.host_doorbells, 1);
	assert_int_equal(conf.log_dump, 7);
	assert_int_equal(conf.nr_ports, 2);
	assert_memory_equal(conf.port[0].mac, "\x02\x5c\x78\x00\x00\x0a", 6);
	assert_int_equal(conf.port[0].mtu, 9000);
	assert_string_equal(conf.port[0].nic, "scx0");
	assert_int_equal(conf.port[0].wire, SCX_CONF_VETH);
	assert_string_equal(conf.port[0].netdev, "w0");
	assert_string_equal(conf.port[0].netns, "/n");
	assert_int_equal(conf.port[1].mtu, 1500);
	assert_int_equal(conf.port[1].wire, SCX_CONF_PCAP);
	assert_string_equal(conf.port[1].in, "/a,b");
	assert_string_equal(conf.port[1].out, "/c");
	assert_string_equal(conf.port[1].tap, "/d");
}

static void
round_trip(void **state)
{
	static struct scx_conf before;
	char text[SCX_CONF_BYTES];

	assert_int_equal(parse("profile=bf3\nseed=42\nlog=/"
			       "l\nport=0\nmac=00:00:00:00:00:01\nmtu=68\nwire=cable\n"
			       "port=1\nwire=cable\ntap=/t\n"),
		0);
	before = conf;
	assert_int_equal(scx_conf_format(&before, text, sizeof(text)), 0);
	assert_int_equal(parse(text), 0);
	assert_memory_equal(&before, &conf, sizeof(conf));
	for (size_t n = 0; n < strlen(text) + 1; n++)
		assert_int_equal(
			scx_conf_format(&before, text, n), n < strlen(text) + 1 ? -ENOSPC : 0);
}

static void
newline_in_a_name(void **state)
{
	char text[SCX_CONF_BYTES];

	assert_int_equal(parse(PORT), 0);
	strcpy(conf.log, "/a\nseed=1");
	assert_int_equal(scx_conf_format(&conf, text, sizeof(text)), -EINVAL);
}

static void
refused(void **state)
{
	static const char *const bad[] = {
		"",				/* no port */
		"profile=cx6dx\n",		/* no port */
		PORT "nosuchkey=1\n",		/* unknown */
		"mac=02:00:00:00:00:00\n" PORT, /* of no port yet */
		"profile=cx99\n" PORT,		/* no such profile */
		"nic-step=dpu\n" PORT,
		"gpu=256\n" PORT,
		"host-doorbells=2\n" PORT,
		"seed=-1\n" PORT,
		"seed=\n" PORT,
		"seed=1x\n" PORT,
		"seed=18446744073709551616\n" PORT,
		"port=1\n",
		PORT "port=0\n",
		PORT "port=2\n",
		"port=x\n", /* out of order */
		PORT "mac=02:00:00:00:00\n",
		PORT "mac=02-00-00-00-00-00\n",
		PORT "mac=2:0:0:0:0:0\n",
		PORT "mtu=65536\n",
		PORT "mtu=\n",
		PORT "wire=carrier pigeon\n",
		PORT "wire=veth\n",			    /* without netdev */
		PORT "wire=cable\n",			    /* one end */
		PORT "wire=cable\nport=1\nwire=loopback\n", /* one end */
		PORT "wire=loopback\nport=1\nwire=cable\n", /* the same, at an odd port */
		PORT "netdev=sixteencharacters\n",	    /* longer than IFNAMSIZ - 1 */
		PORT "just words\n",			    /* no = */
		"port=0\nport=1\nport=2\nport=3\nport=4\nport=5\nport=6\nport=7\nport=8\n",
	};

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		if (parse(bad[i]) != -EINVAL)
			fail_msg("taken: %s", bad[i]);
		assert_int_not_equal(err[0], 0);
	}
}

static void
too_long(void **state)
{
	char text[2 * SCX_CONF_PATH + 32];
	int n = sprintf(text, "log=");

	memset(text + n, 'x', SCX_CONF_PATH);
	strcpy(text + n + SCX_CONF_PATH, "\n" PORT);
	assert_int_equal(parse(text), -EINVAL);
	strcpy(text + n + SCX_CONF_PATH - 1, "\n" PORT);
	assert_int_equal(parse(text), 0);
	memset(text, 'y', sizeof(text) - 1);
	text[sizeof(text) - 1] = 0;
	assert_int_equal(parse(text), -EINVAL);
}

static void
identities(void **state)
{
	assert_int_equal(scx_identity("cx6dx")->pci_device, 0x101d);
	assert_null(scx_identity("cx"));
	assert_null(scx_identity(""));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_of_it),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(newline_in_a_name),
		cmocka_unit_test(refused),
		cmocka_unit_test(too_long),
		cmocka_unit_test(identities),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
