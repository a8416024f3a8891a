/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * pause-thread: stops one thread of a running program for a while and lets it go on, with the
 * program knowing nothing of it. SIGSTOP would stop all threads, so this seizes the one by ptrace.
 * Used to show that packets flow while the control lcore stands still.
 *
 * usage: pause-thread PID NAME SECONDS     NAME as in /proc/PID/task/TID/comm; "main": TID = PID
 * Exit status: 0 it stood still for the whole time, 1 not (a line says why), 2 wrong arguments.
 */
#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

/* The thread of that name, 0: none. The first of several: lcores have names of their own. */
static pid_t
find_thread(pid_t pid, const char *name)
{
	char path[64], comm[32];
	pid_t found = 0;
	struct dirent *e;
	FILE *f;
	DIR *d;

	if (!strcmp(name, "main"))
		return pid;
	snprintf(path, sizeof(path), "/proc/%d/task", (int)pid);
	d = opendir(path);
	if (!d)
		return 0;
	while (!found && (e = readdir(d)) != NULL) {
		pid_t tid = (pid_t)atoi(e->d_name);

		if (tid <= 0)
			continue;
		snprintf(path, sizeof(path), "/proc/%d/task/%d/comm", (int)pid, (int)tid);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(comm, sizeof(comm), f)) {
			comm[strcspn(comm, "\n")] = 0;
			if (!strcmp(comm, name))
				found = tid;
		}
		fclose(f);
	}
	closedir(d);
	return found;
}

/* State letter of the thread, as ps shows it: t is a ptrace stop. */
static char
thread_state(pid_t pid, pid_t tid)
{
	char path[64], line[512], *after;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", (int)pid, (int)tid);
	f = fopen(path, "r");
	if (!f)
		return '?';
	after = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
	fclose(f);
	return after && after[1] ? after[2] : '?';
}

int
main(int argc, char **argv)
{
	double seconds = argc == 4 ? atof(argv[3]) : 0;
	struct timespec t;
	pid_t pid, tid;
	int status;

	if (argc != 4 || seconds <= 0 || seconds > 60) {
		fprintf(stderr, "usage: pause-thread PID THREAD-NAME SECONDS (up to 60)\n");
		return 2;
	}
	pid = (pid_t)atoi(argv[1]);
	tid = find_thread(pid, argv[2]);
	if (!tid) {
		fprintf(stderr, "pause-thread: process %d has no thread '%s'\n", (int)pid, argv[2]);
		return 1;
	}
	if (ptrace(PTRACE_SEIZE, tid, 0, 0) || ptrace(PTRACE_INTERRUPT, tid, 0, 0)) {
		fprintf(stderr, "pause-thread: cannot stop thread %d: %s\n", (int)tid,
			strerror(errno));
		return 1;
	}
	if (waitpid(tid, &status, __WALL) != tid || !WIFSTOPPED(status)) {
		fprintf(stderr, "pause-thread: thread %d did not stop\n", (int)tid);
		return 1;
	}
	t.tv_sec = (time_t)seconds;
	t.tv_nsec = (long)((seconds - (double)t.tv_sec) * 1e9);
	nanosleep(&t, NULL);
	if (thread_state(pid, tid) != 't') {
		fprintf(stderr, "pause-thread: thread %d did not stay stopped\n", (int)tid);
		return 1;
	}
	printf("thread %d '%s' stood still for %.1f s\n", (int)tid, argv[2], seconds);
	/* Letting go of a thread that has ended meanwhile fails, and is no fault. */
	ptrace(PTRACE_DETACH, tid, 0, 0);
	return 0;
}
