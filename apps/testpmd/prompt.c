// SPDX-License-Identifier: BSD-3-Clause
/*
 * -i: a few of testpmd's commands on standard input. Never waits: the control loop asks each time
 * round for what has come. Main lcore.
 */
#include "app.h"

#include <poll.h>
#include <string.h>
#include <unistd.h>

static char buf[512];
static size_t used;

static const char help[] = "start | stop | quit\n"
			   "show port stats all | show fwd stats all | show config fwd\n"
			   "clear port stats all | clear fwd stats all\n";

/* One line. True: quit. */
static bool
command(struct crl_tp_app *app, const char *line)
{
	if (strcmp(line, "quit") == 0)
		return true;
	if (strcmp(line, "start") == 0) {
		crl_tp_clear_forward(app);
		crl_tp_engine_park(app, false);
		crl_tp_print_config(app, stdout);
	} else if (strcmp(line, "stop") == 0) {
		printf("Telling cores to stop...\n");
		crl_tp_engine_park(app, true);
		crl_tp_print_forward(app, stdout);
		printf("\nDone.\n");
	} else if (strcmp(line, "show port stats all") == 0) {
		for (uint32_t i = 0; i < app->nr_ports; i++)
			crl_tp_print_nic(&app->ports[i], stdout);
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
		printf("Command not found: '%s'. The commands are:\n%s", line, help);
	}
	return false;
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
