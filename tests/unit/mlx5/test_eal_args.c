/* SPDX-License-Identifier: BSD-3-Clause */
/* Splitting EAL's command line: every spelling of -a and -b, and what EAL is left with. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "drivers/mlx5/eal_args.h"
#include "drivers/mlx5/internal.h"
#include "heap.h"

/* The machine's are the first three; the last is one that the list does not reach. */
static const char machine[][16] = {"0000:01:00.0", "0000:01:00.1", "0000:81:00.0", "0000:99:00.0"};

#define ARGS_MAX 200

static struct crl_eal_args args;
static struct crl_err err;

/* Splits a line of words; the words heap_live in the static buffer until the next call. */
static int
split(const char *line)
{
	static char words[2048];
	static char *argv[ARGS_MAX + 1];
	int argc = 0;

	strcpy(words, line);
	for (char *w = strtok(words, " "); w != NULL; w = strtok(NULL, " ")) {
		assert_true(argc < ARGS_MAX);
		argv[argc++] = w;
	}
	argv[argc] = NULL;
	memset(&err, 0, sizeof(err));
	return crl_eal_args_split(argc, argv, machine, 3, &args, &err);
}

static void
expect(const char *line, const char *left, const char *devs)
{
	char got[512] = "", kept[256] = "";

	assert_int_equal(split(line), 0);
	for (int i = 0; i < args.argc; i++) {
		strcat(got, i ? " " : "");
		strcat(got, args.argv[i]);
	}
	assert_null(args.argv[args.argc]);
	for (unsigned i = 0; i < args.nr_devs; i++) {
		strcat(kept, i ? " " : "");
		strcat(kept, args.devs[i].bdf);
		if (args.devs[i].devargs[0] != '\0') {
			strcat(kept, ",");
			strcat(kept, args.devs[i].devargs);
		}
	}
	assert_string_equal(got, left);
	assert_string_equal(kept, devs);
	crl_eal_args_free(&args);
	assert_int_equal(heap_live, 0);
}

static void
test_spellings(void **state)
{
	(void)state;
	expect("p -l 0 -a 0000:01:00.0 -- -i", "p -a 0000:00:00.7 -l 0 -- -i", "0000:01:00.0");
	expect("p -a01:00.0 -l 0", "p -a 0000:00:00.7 -l 0", "0000:01:00.0");
	expect("p --allow=pci:0000:81:00.0,a=1,b=2 --", "p -a 0000:00:00.7 --",
		"0000:81:00.0,a=1,b=2");
	expect("p --allow 0000:01:00.1 -n 4", "p -a 0000:00:00.7 -n 4", "0000:01:00.1");
	expect("p -a 01:00.1 -a 01:00.0,x=y", "p -a 0000:00:00.7", "0000:01:00.1 0000:01:00.0,x=y");
}

static void
test_others_stay(void **state)
{
	(void)state;
	expect("p -a 0000:02:00.0 -a 01:00.0 -m 64", "p -a 0000:02:00.0 -m 64", "0000:01:00.0");
	expect("p -a class=eth -a 01:00.0", "p -a class=eth", "0000:01:00.0");
	expect("p -a 0000:02:00.0", "p -a 0000:02:00.0", "");
	/* A short option whose value only looks like one. */
	expect("p --vdev net_null0 -a 01:00.0", "p -a 0000:00:00.7 --vdev net_null0",
		"0000:01:00.0");
	/* After "--" the words are the program's. */
	expect("p -a 01:00.0 -- -a 01:00.1 --no-pci", "p -a 0000:00:00.7 -- -a 01:00.1 --no-pci",
		"0000:01:00.0");
}

static void
test_no_allow(void **state)
{
	(void)state;
	expect("p -l 0", "p -b 0000:01:00.0 -b 0000:01:00.1 -b 0000:81:00.0 -l 0",
		"0000:01:00.0 0000:01:00.1 0000:81:00.0");
	expect("p -b 01:00.0 --block=81:00.0 -b 05:00.0",
		"p -b 0000:01:00.1 -b 01:00.0 --block=81:00.0 -b 05:00.0", "0000:01:00.1");
	expect("p", "p -b 0000:01:00.0 -b 0000:01:00.1 -b 0000:81:00.0",
		"0000:01:00.0 0000:01:00.1 0000:81:00.0");
}

static void
test_from(void **state)
{
	(void)state;
	assert_int_equal(split("p -a 01:00.0 -l 0 -- x"), 0);
	/* p -a NONE -l 0 -- x: the index EAL returns leads back to the caller's "--". */
	assert_string_equal(args.argv[5], "--");
	assert_int_equal(args.from[5], 5);
	assert_int_equal(args.from[1], 0);
	assert_int_equal(args.from[6], 6);
	crl_eal_args_free(&args);
	assert_int_equal(split("p -a 02:00.0 -a 01:00.0 -- x"), 0);
	assert_string_equal(args.argv[3], "--");
	assert_int_equal(args.from[3], 5);
	crl_eal_args_free(&args);
	assert_null(args.argv);
	assert_null(args.from);
	crl_eal_args_free(&args); /* once more harms nothing */
}

/* A name that is far too long for a device is not one; it is left to EAL. */
static void
test_long_name(void **state)
{
	static char line[300] = "p -a ";

	(void)state;
	memset(line + 5, '0', 200);
	strcpy(line + 205, " -a 01:00.0");
	assert_int_equal(split(line), 0);
	assert_int_equal(args.nr_devs, 1);
	assert_string_equal(args.devs[0].bdf, "0000:01:00.0");
	crl_eal_args_free(&args);
}

/* One that has just not the room for a terminator, and its neighbours. */
static void
test_name_that_fills_its_room(void **state)
{
	char line[80];

	(void)state;
	for (int len = 30; len <= 34; len++) {
		snprintf(line, sizeof(line), "p -a %0*d -a 01:00.0", len, 0);
		assert_int_equal(split(line), 0);
		assert_int_equal(args.nr_devs, 1);
		assert_int_equal(args.argc, 3);
		assert_int_equal(strlen(args.argv[2]), len);
		crl_eal_args_free(&args);
	}
}

/* What lies behind argc is not there, nor a device behind the last of the list. */
static void
test_ends(void **state)
{
	char *argv[] = {"p", "-a", "01:00.0", NULL};

	(void)state;
	assert_int_equal(crl_eal_args_split(2, argv, machine, 3, &args, &err), 0);
	assert_int_equal(args.nr_devs, 0);
	assert_int_equal(args.argc, 2);
	crl_eal_args_free(&args);
	expect("p -a 99:00.0", "p -a 99:00.0", "");
	expect("p -a -- x", "p -a -- x", "");
	expect("p -a 02:00.0 -- x", "p -a 02:00.0 -- x", "");
	expect("p -a 02:00.0 -- x y", "p -a 02:00.0 -- x y", "");
	expect("p -a 01:00.0 -- x y", "p -a 0000:00:00.7 -- x y", "0000:01:00.0");
	assert_int_equal(crl_eal_args_split(0, argv, machine, 3, &args, &err), -EINVAL);
	assert_non_null(strstr(err.cause, "no program name"));
}

/* As many devices as there may be, and all the room that takes; one more is refused. */
static void
test_full(void **state)
{
	char bdfs[CRL_EAL_DEVS_MAX + 1][16], line[2048] = "p";
	char *argv[] = {"p", NULL};

	(void)state;
	for (unsigned i = 0; i <= CRL_EAL_DEVS_MAX; i++)
		snprintf(bdfs[i], sizeof(bdfs[i]), "0000:%02x:00.0", (i + 16) & 0xffu);
	assert_int_equal(
		crl_eal_args_split(1, argv, (const char(*)[16])bdfs, CRL_EAL_DEVS_MAX, &args, &err),
		0);
	assert_int_equal(args.nr_devs, CRL_EAL_DEVS_MAX);
	assert_int_equal(args.argc, 1 + 2 * CRL_EAL_DEVS_MAX);
	assert_string_equal(args.argv[args.argc - 1], bdfs[CRL_EAL_DEVS_MAX - 1]);
	assert_null(args.argv[args.argc]);
	crl_eal_args_free(&args);
	assert_int_equal(crl_eal_args_split(1, argv, (const char(*)[16])bdfs, CRL_EAL_DEVS_MAX + 1,
				 &args, &err),
		-EINVAL);
	assert_non_null(strstr(err.cause, "more than 32 mlx5 devices"));
	/* One device many times takes the room of one; one of EAL's takes none. */
	for (unsigned i = 0; i <= CRL_EAL_DEVS_MAX; i++)
		strcat(line, " -b 02:00.0 -b 01:00.0");
	strcat(line, " -b 81:00.0");
	assert_int_equal(split(line), 0);
	assert_int_equal(args.nr_devs, 1);
	assert_string_equal(args.devs[0].bdf, "0000:01:00.1");
	crl_eal_args_free(&args);
	assert_int_equal(heap_live, 0);
}

static void
test_no_memory(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 2; n++) {
		heap_fail_at = n;
		assert_int_equal(split("p -l 0"), -ENOMEM);
		assert_int_equal(heap_live, 0);
		assert_null(args.argv);
	}
	heap_fail_at = 3;
	assert_int_equal(split("p -l 0"), 0);
	heap_fail_at = 0;
	crl_eal_args_free(&args);
	assert_int_equal(heap_live, 0);
}

/* rte_eal_init() returns the index of the argument before the first that it left alone. */
static void
test_used(void **state)
{
	(void)state;
	/* p -a NONE: all three are EAL's; of the caller's, all three too. */
	assert_int_equal(split("p -a 01:00.0"), 0);
	assert_int_equal(crl_eal_args_used(&args, 3, 2), 2);
	crl_eal_args_free(&args);
	/* p -a NONE -l 0 file: EAL stops before the word that is no option. */
	assert_int_equal(split("p -l 0 -a 01:00.0 file"), 0);
	assert_int_equal(crl_eal_args_used(&args, 6, 4), 4);
	crl_eal_args_free(&args);
	/* p -b B -b B -b B -- -i: to the caller's "--". */
	assert_int_equal(split("p -- -i"), 0);
	assert_int_equal(crl_eal_args_used(&args, 3, 7), 1);
	crl_eal_args_free(&args);
	/* p -b B -b B -b B --: the "--" is the last. */
	assert_int_equal(split("p --"), 0);
	assert_int_equal(crl_eal_args_used(&args, 2, 7), 1);
	crl_eal_args_free(&args);
	/* p -b B -b B -b B: nothing of the caller's but its name. */
	assert_int_equal(split("p"), 0);
	assert_int_equal(crl_eal_args_used(&args, 1, 6), 0);
	crl_eal_args_free(&args);
}

static void
test_refusals(void **state)
{
	(void)state;
	assert_int_equal(split("p -a 01:00.0 -a 0000:01:00.0"), -EINVAL);
	assert_non_null(strstr(err.cause, "twice"));
	assert_int_equal(split("p --no-pci -a 01:00.0"), -EINVAL);
	assert_non_null(strstr(err.cause, "--no-pci"));
	/* A missing value is EAL's to complain of. */
	assert_int_equal(split("p -a"), 0);
	assert_string_equal(args.argv[args.argc - 1], "-a");
	crl_eal_args_free(&args);
}

static void
test_devargs(void **state)
{
	(void)state;
	assert_true(crl_devargs_has("dv_flow_en=1", "dv_flow_en"));
	assert_true(crl_devargs_has("a=1,cmd_fd=3", "cmd_fd"));
	assert_false(crl_devargs_has("a=1,xcmd_fd=3", "cmd_fd"));
	assert_false(crl_devargs_has("cmd_fdx=3", "cmd_fd"));
	assert_false(crl_devargs_has("", "cmd_fd"));
	assert_false(crl_devargs_has(",,", "cmd_fd"));
}

static void
test_bdf(void **state)
{
	static const char *const bad[] = {"", "0", "01:00", "01:00.8", "01:20.0", "0000:01:00.0x",
		"mlx5_0", "+1:00.0", " 1:00.0", "0000:01:00:0", "00000:01:00.0", "01:00.0,a=b",
		"0000:01:00.00", "0000:01:00.0:", "01:00.00", "01:00.0."};
	char bdf[16];

	(void)state;
	assert_int_equal(crl_bdf_parse("01:00.1", bdf), 0);
	assert_string_equal(bdf, "0000:01:00.1");
	assert_int_equal(crl_bdf_parse("ABCD:FE:1f.7", bdf), 0);
	assert_string_equal(bdf, "abcd:fe:1f.7");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(crl_bdf_parse(bad[i], bdf), -EINVAL);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spellings),
		cmocka_unit_test(test_others_stay),
		cmocka_unit_test(test_no_allow),
		cmocka_unit_test(test_from),
		cmocka_unit_test(test_long_name),
		cmocka_unit_test(test_name_that_fills_its_room),
		cmocka_unit_test(test_ends),
		cmocka_unit_test(test_full),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_used),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_devargs),
		cmocka_unit_test(test_bdf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
