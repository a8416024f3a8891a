/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * hb_check corrupts: what the adversary of adv.h makes of each edge that is left out. The clocks'
 * objections do not count here; what counts is that a frame, a WQE, a report or a count comes out
 * wrong, that an engine's own checks fail, or that nothing moves any more. Each run is a process of
 * its own, for what becomes of a program whose memory lies is anybody's guess.
 *
 * A run that comes through is made again from its seed, each time with one load that gets what a
 * later store brings, where no edge forbids it. With all edges in place the same runs must all come
 * through.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "adv.h"
#include "check.h"

#define PACKETS	      1500u
#define SPINS	      40000u /* more than any of these runs needs by a factor of ten */
#define SECONDS_MAX   20u    /* of a run that lost its way */
#define FORESIGHTS    24u    /* runs made again */
#define SCHEDULES     3u
#define EXIT_CORRUPT  3
#define EXIT_STANDING 4

static void
say_and_leave(const char *text)
{
	printf("%s", text);
	fflush(stdout);
	_exit(EXIT_CORRUPT);
}

static void
once(const struct subject *s, uint64_t with_seed, const struct mutation *m,
	const struct adv_foresight *given)
{
	uint64_t done;

	adv_open(with_seed, given);
	done = run_subject(s, PACKETS, with_seed, m);
	hb_close();
	if (done >= PACKETS)
		return;
	printf("%llu of %u packets went through", (unsigned long long)done, PACKETS);
	fflush(stdout);
	_exit(EXIT_STANDING);
}

static void
child(const struct subject *s, uint64_t with_seed, const struct mutation *m)
{
	static struct adv_foresight kept[FORESIGHTS];
	const struct adv_foresight *list;
	uint32_t nr, i;

	hb_refused = say_and_leave;
	program_spins = SPINS;
	alarm(SECONDS_MAX);
	once(s, with_seed, m, NULL);
	nr = adv_foresights(&list);
	for (i = 0; i < FORESIGHTS && i < nr; i++)
		kept[i] = list[nr <= FORESIGHTS ? i : i * nr / FORESIGHTS];
	nr = i;
	for (i = 0; i < nr; i++)
		once(s, with_seed, m, &kept[i]);
	_exit(0);
}

/* 0: it came through; else how it did not is in text. */
static int
fate(const struct subject *s, uint64_t with_seed, const struct mutation *m, char *text,
	size_t bytes)
{
	int fd[2], status = 0;
	size_t n = 0;
	ssize_t got;
	pid_t pid;

	fflush(stdout);
	if (pipe(fd) != 0 || (pid = fork()) < 0) {
		perror("hb_check");
		exit(1);
	}
	if (pid == 0) {
		dup2(fd[1], STDOUT_FILENO);
		dup2(fd[1], STDERR_FILENO);
		close(fd[0]);
		child(s, with_seed, m);
	}
	close(fd[1]);
	while (n + 1u < bytes && (got = read(fd[0], text + n, bytes - 1u - n)) > 0)
		n += (size_t)got;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	close(fd[0]);
	waitpid(pid, &status, 0); /* bound: its alarm */
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
		snprintf(text, bytes, "nothing comes to an end");
	return status;
}

/* Runs all programs until one does not come through. True: one did not. */
static bool
any_corrupt(const struct mutation *wrong, const char *title)
{
	struct mutation m = *wrong;
	char text[256];
	uint32_t i, k;

	for (k = 0; k < SCHEDULES; k++) {
		m.deaf = k % 2u == 0;
		for (i = 0; i < nr_subjects; i++) {
			if (fate(&subjects[i], seed + 100u * k + i, &m, text, sizeof(text)) == 0)
				continue;
			printf("%-36s %s, seed %llu: %s\n", title, subjects[i].name,
				(unsigned long long)(seed + 100u * k + i), text);
			fflush(stdout);
			return true;
		}
	}
	printf("%-36s came through\n", title);
	fflush(stdout);
	return false;
}

int
corrupts(void)
{
	struct mutation m = {-1, -1, -1, false};
	char title[64];
	int bad = any_corrupt(&m, "all edges in place");

	for (m.drop = 0; m.drop < (int)HB_NR_EDGES; m.drop++) {
		snprintf(title, sizeof(title), "without %s", hb_edge_name[m.drop]);
		bad += !any_corrupt(&m, title);
	}
	return bad;
}
