/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * carillon-doctor: will Carillon run on this machine, and if not, what to do about it. One pass:
 * inventory, probes, checks, report. It changes nothing and leaves nothing behind. Exit status: 0
 * nothing stops Carillon, 1 something does, 2 it could not look. Host only.
 */
#include <argp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../output.h"
#include "doctor.h"

const char *argp_program_version = "carillon-doctor " DR_VERSION;

static const char doc[] =
	"Will Carillon run on this machine, and if not, what to do about it?\v"
	"Exit status: 0 nothing stops Carillon, 1 something does, 2 the doctor could not look.\n"
	"With --root nothing of this machine is looked at: facts that are no files (versions, what "
	"DevX and CUDA say) come from DIR/facts, a line \"key value\" each.";

static const struct argp_option options[] = {
	{"json", 'j', NULL, 0, "All findings, as one JSON object", 0},
	{"all", 'a', NULL, 0, "Print what is well, too", 0},
	{"root", 'r', "DIR", 0, "Judge the tree below DIR (DIR/sys, DIR/proc, DIR/dev)", 0},
	{"list", 'l', NULL, 0, "Print the names of the checks", 0},
	{0},
};

struct args {
	const char *root;
	bool json, all, list;
};

static error_t
parse(int key, char *arg, struct argp_state *state)
{
	struct args *a = state->input;

	switch (key) {
	case 'j':
		a->json = true;
		return 0;
	case 'a':
		a->all = true;
		return 0;
	case 'l':
		a->list = true;
		return 0;
	case 'r':
		a->root = arg;
		return 0;
	case ARGP_KEY_ARG:
		argp_error(state, "'%s' is no option", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static void
start(struct doctor *d, const struct args *a)
{
	const char *overlay = getenv("SYSFS_PATH");

	d->live = a->root == NULL;
	if (!d->live)
		snprintf(d->root, sizeof(d->root), "%s", a->root);
	else if (overlay != NULL && strcmp(overlay, "/sys") != 0)
		snprintf(d->nic_sys, sizeof(d->nic_sys), "%s", overlay);
}

int
main(int argc, char **argv)
{
	static const struct argp argp = {options, parse, NULL, doc, NULL, NULL, NULL};
	static struct doctor d;
	struct args a = {0};
	int status;

	output_watch("carillon-doctor");
	argp_err_exit_status = 2;
	argp_parse(&argp, argc, argv, 0, NULL, &a);
	for (unsigned i = 0; a.list && i < dr_nr_checks; i++)
		printf("%-12s %s\n", dr_checks[i].name, dr_checks[i].about);
	if (a.list)
		return 0;
	start(&d, &a);
	if (!dr_inventory(&d)) {
		fprintf(stderr, "carillon-doctor: cannot look: there is no %s/sys/bus\n", d.root);
		return 2;
	}
	if (d.live)
		dr_probe(&d);
	else
		dr_facts_load(&d);
	for (unsigned i = 0; i < dr_nr_checks; i++) {
		d.check = dr_checks[i].name;
		dr_checks[i].run(&d);
	}
	status = dr_count(&d, DR_STOP) > 0;
	if (!a.json)
		dr_report_text(&d, a.all);
	else if (dr_report_json(&d, status) != 0)
		return 2;
	return status;
}
