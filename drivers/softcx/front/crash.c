/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Words for a crash of the data path's thread. A card's memory is pinned when it is registered;
 * here the program can unmap what a queue still uses, and the thread that steps the NIC then
 * touches nothing. The program dies as it would anyway, but its author learns why. Set up by
 * device.c.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "front.h"

static void
hex(uint64_t v, char *to)
{
	for (unsigned i = 0; i < 16; i++)
		to[i] = "0123456789abcdef"[v >> (60 - 4 * i) & 15];
}

/* In the thread that faulted: nothing but system calls. Going back makes it fault again, for good.
 */
static void
on_fault(int sig, siginfo_t *info, void *context)
{
	char words[] =
		"softcx: the NIC's thread crashed at address 0x################. Most likely "
		"the program unmapped memory that a queue, a key or a CQ of its still uses: "
		"destroy those first\n";
	char name[16] = "";
	int kept = errno;

	prctl(PR_GET_NAME, name);
	if (!strcmp(name, SCX_STEP_THREAD)) {
		hex((uintptr_t)info->si_addr, strchr(words, '#'));
		if (write(STDERR_FILENO, words, sizeof(words) - 1) < 0) {
			/* nobody to tell */
		}
	}
	signal(sig, SIG_DFL);
	if (info->si_code <= 0)
		raise(sig); /* from kill(): nothing faults again, and it comes once we are back */
	errno = kept;
}

/* A handler of the program's, or a sanitizer's, stays: it has words of its own. */
void
scxf_crash_words(void)
{
	static const int sigs[] = {SIGSEGV, SIGBUS};
	struct sigaction mine = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO}, theirs;

	for (unsigned i = 0; i < sizeof(sigs) / sizeof(sigs[0]); i++)
		if (!sigaction(sigs[i], NULL, &theirs) && theirs.sa_handler == SIG_DFL)
			sigaction(sigs[i], &mine, NULL);
}
