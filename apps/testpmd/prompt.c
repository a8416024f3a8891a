// SPDX-License-Identifier: BSD-3-Clause
/*
 * -i: a few of testpmd's commands on standard input. Never waits: the control loop asks each time
 * round for what has come. Main lcore.
 */
#include "app.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PARK_BYTES (1u << 20)

static char buf[512];
static size_t used;
static bool parked;  /* by park */

static const char help[] = "start | stop | park | resume | quit\n"
			   "show port stats all|N | show fwd stats all | show config fwd\n"
			   "clear port stats all | clear fwd stats all\n";

/* testpmd takes blanks as they come. */
static void
squeeze(char *line)
{
	char *to = line;

	for (const char *from = line; *from != '\0'; from++) {
		bool blank = strchr(" \t\r", *from) != NULL;

		if (!blank)
			*to++ = *from;
		else if (to != line && to[-1] != ' ')
			*to++ = ' ';
	}
	if (to != line && to[-1] == ' ')
		to--;
	*to = '\0';
}

static void
start(struct crl_tp_app *app)
{
	if (!app->stands) {
		printf("Packet forwarding already started\n");
		return;
	}
	crl_tp_clear_forward(app);
	crl_tp_print_config(app, stdout);
	crl_tp_engine_go(app);
}

static void
stop(struct crl_tp_app *app)
{
	if (app->stands) {
		printf("Packet forwarding not started\n");
		return;
	}
	printf("Telling cores to stop...\nWaiting for lcores to finish...\n");
	if (!crl_tp_engine_stand(app))
		printf("Some go on: what follows may be less than what they do\n");
	crl_tp_print_forward(app, stdout);
	printf("\nDone.\n");
}

/*
 * Out of the way of CUDA calls that wait for a kernel's end; two such calls are made as a proof, in
 * the memory that the rings are in. Frames that come meanwhile wait in the NIC's ring.
 */
static void
park(struct crl_tp_app *app)
{
	uint64_t t[3] = {crl_now_ns()};
	struct crl_err err = {0};
	char line[512];
	void *p;

	if (crl_tp_engine_leave(app, true, &err) != 0) {
		printf("Not parked: %s\n", crl_err_str(&err, line, sizeof(line)));
		return;
	}
	parked = true;
	t[1] = crl_now_ns();
	printf("Parked in %.2f ms.\n", (double)(t[1] - t[0]) / 1e6);
	if (app->mem == NULL)
		return;
	if (app->mem->alloc(app->mem->arg, PARK_BYTES, 4096, &p) != 0) {
		printf("No memory of %s.\n", app->mem->name);
		return;
	}
	app->mem->free(app->mem->arg, p, PARK_BYTES);
	t[2] = crl_now_ns();
	printf("%u bytes of %s allocated and freed in %.2f ms.\n", PARK_BYTES, app->mem->name,
		(double)(t[2] - t[1]) / 1e6);
}

static void
resume(struct crl_tp_app *app)
{
	struct crl_err err = {0};
	char line[512];

	if (!parked) {
		printf("Not parked\n");
		return;
	}
	if (crl_tp_engine_leave(app, false, &err) != 0) {
		printf("Not resumed: %s\n", crl_err_str(&err, line, sizeof(line)));
		return;
	}
	parked = false;
	__atomic_store_n(&app->stands, false, __ATOMIC_RELAXED);
	printf("Resumed.\n");
}

/* which: "all" or a port's number. */
static void
show_port(struct crl_tp_app *app, const char *which)
{
	bool all = strcmp(which, "all") == 0, shown = false;
	char *end;
	unsigned long port = strtoul(which, &end, 10);

	if (!all && (end == which || *end != '\0')) {
		printf("Bad arguments\n");
		return;
	}
	for (uint32_t i = 0; i < app->nr_ports; i++)
		if (all || app->ports[i].id == port) {
			crl_tp_print_nic(&app->ports[i], stdout);
			shown = true;
		}
	if (!shown)
		printf("Invalid port %s\n", which);
}

static void
not_found(const char *line)
{
	const char *instead = crl_tp_foreign_command(line);

	if (instead != NULL)
		printf("testpmd's '%s' is no command here: %s\n", line, instead);
	else
		printf("Command not found: '%s'. The commands are:\n%s", line, help);
}

/* One line. True: quit. */
static bool
command(struct crl_tp_app *app, char *line)
{
	squeeze(line);
	if (strcmp(line, "quit") == 0)
		return true;
	if (parked && (strcmp(line, "start") == 0 || strcmp(line, "stop") == 0)) {
		printf("Parked: resume first\n");
	} else if (strcmp(line, "start") == 0) {
		start(app);
	} else if (strcmp(line, "stop") == 0) {
		stop(app);
	} else if (strcmp(line, "park") == 0) {
		park(app);
	} else if (strcmp(line, "resume") == 0) {
		resume(app);
	} else if (strncmp(line, "show port stats ", 16) == 0) {
		show_port(app, line + 16);
	} else if (strcmp(line, "show fwd stats all") == 0) {
		crl_tp_print_forward(app, stdout);
	} else if (strcmp(line, "show config fwd") == 0) {
		crl_tp_print_config(app, stdout);
		crl_tp_print_path(app, stdout);
	} else if (strcmp(line, "clear port stats all") == 0) {
		crl_tp_clear_nic(app);
		printf("\n  NIC statistics for all ports cleared\n");
	} else if (strcmp(line, "clear fwd stats all") == 0) {
		crl_tp_clear_forward(app);
	} else if (strcmp(line, "help") == 0) {
		fputs(help, stdout);
	} else if (line[0] != '\0') {
		not_found(line);
	}
	return false;
}

/* The prompt for the first time, behind everything that the start has said. */
void
crl_tp_prompt_begin(void)
{
	printf("testpmd> ");
}

bool
crl_tp_prompt(struct crl_tp_app *app)
{
	struct pollfd p = {.fd = STDIN_FILENO, .events = POLLIN};
	char *end;
	ssize_t n;

	if (poll(&p, 1, 0) <= 0)
		return false;
	n = read(STDIN_FILENO, buf + used, sizeof(buf) - 1 - used);
	if (n <= 0)
		return true; /* end of input: as quit */
	used += (size_t)n;
	buf[used] = '\0';
	while ((end = strchr(buf, '\n')) != NULL) {
		*end = '\0';
		if (command(app, buf))
			return true;
		used -= (size_t)(end + 1 - buf);
		memmove(buf, end + 1, used + 1);
		printf("testpmd> ");
		fflush(stdout);
	}
	if (used == sizeof(buf) - 1)
		used = 0; /* a line that no command has */
	return false;
}
