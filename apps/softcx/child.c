/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs the program to its end: environment, preload, signals, exit status. The program has a
 * process group of its own and, if there is a terminal, the terminal, as under a shell; so a signal
 * to our group reaches it once, through us.
 *
 * Between us and the program stands the first process of a pid namespace, the keeper: it starts the
 * program, waits for it and takes in orphans. When it goes the kernel kills all that is left in the
 * namespace, and it goes when we do, however that happens. Called by main.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "softcx_run.h"

/* On the socket between us and the namespace; each way a byte is a message. */
#define SAY_HERE    'h' /* program, before it is one: its pid comes with it. Answer: SAY_GO */
#define SAY_GO	    'g'
#define SAY_STOPPED 's' /* keeper: the program was stopped, as from its terminal */
#define SAY_HELD    'p' /* keeper: by a SIGSTOP, from whoever */

/* What is passed on; SIGCHLD and SIGIO are ours. */
static const int forwarded[] = {
	SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGALRM, SIGWINCH};

static int
set_environment(const struct run *run)
{
	static char text[SCX_CONF_BYTES], preload[4 * RUN_PATH], pci[2 * RUN_PATH];
	const char *before = getenv("LD_PRELOAD");
	int n;

	if (scx_conf_format(&run->conf, text, sizeof(text))) {
		run_say("a file name with a newline in it, or too many of them");
		return RUN_EXIT_USAGE;
	}
	n = snprintf(preload, sizeof(preload), "%s%s%s%s%s", run->asan, run->asan[0] ? ":" : "",
		run->library, before && *before ? ":" : "", before ? before : "");
	if (n >= (int)sizeof(preload)) {
		run_say("LD_PRELOAD: %zu bytes are more than there is room for; shorten it",
			strlen(before));
		return RUN_EXIT_USAGE;
	}
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
become_program(const struct run *run, int link, const sigset_t *mask)
{
	char word = SAY_HERE;
	int err;

	setpgid(0, 0);
	/* The terminal is ours when the answer comes. None: nobody is left to tell. */
	if (send(link, &word, 1, MSG_NOSIGNAL) != 1 || recv(link, &word, 1, 0) != 1)
		_exit(RUN_EXIT_FAILED);
	sigprocmask(SIG_SETMASK, mask, NULL);
	signal(SIGPIPE, run_sigpipe);
	execv(run->program, run->argv);
	err = errno;
	run_say("%s: %s", run->program, strerror(err));
	_exit(err == ENOENT ? RUN_EXIT_NOT_FOUND : RUN_EXIT_UNFIT);
}

/* What is in /proc has the numbers of this namespace. In mounts of our own: outside they differ. */
static void
mount_proc(void)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
		mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		run_say("mounting /proc: %s; the program sees the process numbers outside there",
			strerror(errno));
}

/* The first process of the namespace; never returns. Signals with no handler do not reach it. */
static void
keep(const struct run *run, int link, const sigset_t *mask)
{
	char word;
	int status;
	pid_t pid, gone;

	if (prctl(PR_SET_PDEATHSIG, SIGKILL))
		_exit(RUN_EXIT_FAILED);
	mount_proc();
	pid = fork();
	if (!pid)
		become_program(run, link, mask);
	if (pid < 0) {
		run_say("fork: %s", strerror(errno));
		_exit(RUN_EXIT_FAILED);
	}
	for (;;) { /* until the program ends, which is its own affair */
		gone = waitpid(-1, &status, WUNTRACED);
		if (gone < 0 && errno != EINTR)
			_exit(RUN_EXIT_FAILED);
		if (gone != pid)
			continue;
		if (!WIFSTOPPED(status))
			_exit(WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
		word = WSTOPSIG(status) == SIGSTOP ? SAY_HELD : SAY_STOPPED;
		send(link, &word, 1, MSG_NOSIGNAL);
	}
}

/* The terminal goes to that group, if it was ours. SIGTTOU is ignored, or the way back would stop
 * us. */
static void
give_terminal(pid_t from, pid_t to)
{
	if (isatty(0) && tcgetpgrp(0) == from)
		tcsetpgrp(0, to);
}

/*
 * The program was stopped from its terminal: so are we, and it goes on when we do. Whoever holds it
 * by SIGSTOP lets go of it himself, and would not know of us; but one that stops itself so while it
 * has the terminal would keep that from the shell.
 */
static void
stop_with(pid_t pid, char word)
{
	if (word == SAY_HELD && !(isatty(0) && tcgetpgrp(0) == pid))
		return;
	give_terminal(pid, getpgrp());
	raise(SIGSTOP);
	give_terminal(getpgrp(), pid);
	kill(-pid, SIGCONT);
}

/* The next byte, and in *pid who sent it, as numbered here. 0: none there, or the end. */
static char
hear(int link, int flags, pid_t *pid)
{
	union {
		char bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr align;
	} control;
	char word = 0;
	struct iovec iov = {&word, 1};
	struct msghdr msg = {.msg_iov = &iov,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof(control)};
	struct cmsghdr *c;
	struct ucred who;

	if (recvmsg(link, &msg, flags) != 1)
		return 0;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_CREDENTIALS) {
		memcpy(&who, CMSG_DATA(c), sizeof(who));
		*pid = who.pid;
	}
	return word;
}

/* Signals go to the program itself. Returns the exit status to end with. */
static int
wait_for(pid_t keeper, pid_t program, int link, const sigset_t *set)
{
	for (;;) { /* until the program ends, which is its own affair */
		int status, sig = sigwaitinfo(set, NULL);
		pid_t who;
		char word;

		if (sig > 0 && sig != SIGCHLD && sig != SIGIO) {
			kill(program, sig);
			continue;
		}
		while ((word = hear(link, MSG_DONTWAIT, &who)) != 0)
			stop_with(program, word);
		if (waitpid(keeper, &status, WNOHANG) == keeper)
			return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	}
}

/* The keeper, in a new pid namespace; the program is its child. 0 or -errno. */
static int
start_keeper(const struct run *run, int link[2], const sigset_t *mask, pid_t *keeper)
{
	int yes = 1;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, link))
		return -errno;
	if (setsockopt(link[0], SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) ||
		fcntl(link[0], F_SETOWN, getpid()) || fcntl(link[0], F_SETFL, O_ASYNC))
		return -errno;
	/*
	 * A fork into a new pid namespace. unshare() would leave this process with a namespace for
	 * its children that dies with the keeper, and then not even a thread can be made, which a
	 * sanitizer does at the end.
	 */
	*keeper = (pid_t)syscall(SYS_clone, CLONE_NEWPID | SIGCHLD, NULL, NULL, NULL, NULL);
	if (*keeper < 0)
		return -errno;
	if (!*keeper) {
		close(link[0]);
		keep(run, link[1], mask);
	}
	close(link[1]);
	return 0;
}

int
run_program(const struct run *run)
{
	sigset_t set, before;
	pid_t keeper = 0, program = 0;
	char word = SAY_GO;
	int link[2], rc = set_environment(run);

	if (rc)
		return rc;
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	sigaddset(&set, SIGIO);
	for (unsigned i = 0; i < sizeof(forwarded) / sizeof(forwarded[0]); i++)
		sigaddset(&set, forwarded[i]);
	sigprocmask(SIG_BLOCK, &set, &before);
	rc = start_keeper(run, link, &before, &keeper);
	if (rc) {
		run_say("starting a process in a pid namespace: %s", strerror(-rc));
		return RUN_EXIT_FAILED;
	}
	signal(SIGTTOU, SIG_IGN);
	if (hear(link[0], 0, &program) == SAY_HERE) {
		give_terminal(getpgrp(), program);
		send(link[0], &word, 1, MSG_NOSIGNAL);
	} /* else it did not come so far, and has said why */
	rc = wait_for(keeper, program, link[0], &set);
	give_terminal(program, getpgrp());
	close(link[0]);
	return rc;
}
