/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the program to its end: environment, preload, signals, exit status. The program has a
 * process group of its own and, if there is a terminal, the terminal, as under a shell; so a signal
 * to our group reaches it once, through us. If we die, however, it dies. Called by main.c.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softcx_run.h"

/* What is passed on; SIGCHLD is ours. */
static const int forwarded[] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

static int
set_environment(const struct run *run)
{
	static char text[SCX_CONF_BYTES], preload[4 * RUN_PATH], pci[2 * RUN_PATH];
	const char *before = getenv("LD_PRELOAD");

	if (scx_conf_format(&run->conf, text, sizeof(text))) {
		run_say("a file name with a newline in it, or too many of them");
		return RUN_EXIT_USAGE;
	}
	snprintf(preload, sizeof(preload), "%s%s%s%s%s", run->asan, run->asan[0] ? ":" : "",
		run->library, before && *before ? ":" : "", before ? before : "");
	snprintf(pci, sizeof(pci), "%s/bus/pci/devices", run->sysfs);
	if (setenv(SCX_CONF_ENV, text, 1) || setenv("LD_PRELOAD", preload, 1) ||
		setenv("SYSFS_PATH", run->sysfs, 1) || setenv("SYSFS_PCI_DEVICES", pci, 1)) {
		run_say("environment: %s", strerror(errno));
		return RUN_EXIT_FAILED;
	}
	return 0;
}

/* Never returns. */
static void
become_program(const struct run *run, pid_t parent, const sigset_t *mask)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != parent)
		_exit(RUN_EXIT_FAILED); /* nobody is left to tell */
	setpgid(0, 0);
	sigprocmask(SIG_SETMASK, mask, NULL);
	execv(run->program, run->argv);
	run_say("%s: %s", run->program, strerror(errno));
	_exit(errno == ENOENT ? RUN_EXIT_NOT_FOUND : RUN_EXIT_UNFIT);
}

/* The terminal goes to that group, if it was ours. SIGTTOU is blocked, or the way back would stop
 * us. */
static void
give_terminal(pid_t from, pid_t to)
{
	if (isatty(0) && tcgetpgrp(0) == from)
		tcsetpgrp(0, to);
}

/* The program was stopped from its terminal: so are we, and it goes on when we do. */
static void
stop_with(pid_t pid)
{
	give_terminal(pid, getpgrp());
	raise(SIGSTOP);
	give_terminal(getpgrp(), pid);
	kill(-pid, SIGCONT);
}

static int
wait_for(pid_t pid, const sigset_t *set)
{
	for (;;) { /* until the program ends, which is its own affair */
		siginfo_t info;
		int status, sig = sigwaitinfo(set, &info);

		if (sig > 0 && sig != SIGCHLD) {
			kill(pid, sig);
			continue;
		}
		while (waitpid(pid, &status, WNOHANG | WUNTRACED) == pid) {
			if (WIFSTOPPED(status))
				stop_with(pid);
			else
				return WIFEXITED(status) ? WEXITSTATUS(status)
							 : 128 + WTERMSIG(status);
		}
	}
}

int
run_program(const struct run *run)
{
	sigset_t set, before;
	pid_t parent = getpid(), pid;
	int rc = set_environment(run);

	if (rc)
		return rc;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	for (unsigned i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&set, forwarded[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	pid = fork();
	if (pid < 0) {
		run_say("fork: %s", strerror(errno));
		return RUN_EXIT_FAILED;
	}
	if (!pid)
		become_program(run, parent, &before);
	setpgid(pid, pid); /* in both, whoever comes first */
	signal(SIGTTOU, SIG_IGN);
	give_terminal(getpgrp(), pid);
	rc = wait_for(pid, &set);
	give_terminal(pid, getpgrp());
	return rc;
}
