/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * softcx: puts a software ConnectX under any program. `softcx run -- PROGRAM` makes network and
 * mount namespaces of its own, in them a netdev and a sysfs tree for every port, preloads
 * libsoftcx.so and runs the program in a pid namespace. When the program or softcx ends, however
 * that is, all that it started goes with it, and netdevs and mounts with the last of them.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "../output.h"
#include "softcx_run.h"

void (*run_sigpipe)(int sig);

void
run_say(const char *fmt, ...)
{
	va_list ap;

	fputs("softcx: ", stderr);
	va_start(ap, fmt);
	vfprintf(stderr, fmt, ap);
	va_end(ap);
	fputc('\n', stderr);
}

static int
cmd_run(int argc, char **argv)
{
	static struct run run;
	int rc = run_options(argc, argv, &run);

	if (!rc)
		rc = run_find_program(&run);
	if (!rc)
		rc = run_find_library(&run, "front", "libsoftcx.so");
	if (!rc)
		rc = run_make_machine(&run);
	if (rc) {
		run_remove_netdevs(&run);
		return rc;
	}
	rc = run_program(&run);
	run_remove_netdevs(&run);
	if (!run_device_was_opened(&run))
		run_say("%s never opened the device", run.argv[0]);
	if (!run_output_was_lost(&run))
		return rc;
	run_say("log or capture is not whole: see above");
	return rc != 0 ? rc : RUN_EXIT_FAILED;
}

int
main(int argc, char **argv)
{
	run_sigpipe = signal(SIGPIPE, SIG_DFL);
	output_watch("softcx");
	if (argc > 1 && !strcmp(argv[1], "run"))
		return cmd_run(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "serve"))
		return cmd_serve(argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "vfio"))
		return cmd_vfio(argc - 1, argv + 1);
	if (argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"))) {
		puts("usage: softcx run [OPTION...] -- PROGRAM [ARGUMENT...]\n\n"
		     "Runs PROGRAM with a software ConnectX under it. `softcx run --help` lists "
		     "the options.\n\n"
		     "       softcx serve --socket PATH [OPTION...]\n\n"
		     "Serves one as a vfio-user PCI device, for a virtual machine. `softcx serve "
		     "--help` lists the options.\n\n"
		     "       softcx vfio [OPTION...] -- PROGRAM [ARGUMENT...]\n\n"
		     "Runs PROGRAM with one that it finds in /dev/vfio. `softcx vfio --help` lists "
		     "the options.");
		return 0;
	}
	if (argc > 1 && !strcmp(argv[1], "--version")) {
		puts("softcx " CRL_VERSION);
		return 0;
	}
	if (argc > 1)
		run_say("no command '%s'; usage: softcx run [OPTION...] -- PROGRAM [ARGUMENT...]",
			argv[1]);
	else
		run_say("usage: softcx run [OPTION...] -- PROGRAM [ARGUMENT...]");
	return RUN_EXIT_USAGE;
}
