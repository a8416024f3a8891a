/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The machine that the program sees: network and mount namespaces of its own, a fresh /sys that
 * shows the netdevs of that network namespace, and on a tmpfs inside it the sysfs tree of the NIC.
 * All of it belongs to the namespaces, so the kernel clears it away when the last process inside is
 * gone. Called by main.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softcx_run.h"

/* Mount points that every sysfs has; what is usually there, a program with a NIC does not look for.
 */
static const char *const mount_points[] = {"/sys/fs/pstore", "/sys/kernel/security",
	"/sys/kernel/debug", "/sys/kernel/tracing", "/sys/fs/bpf"};

#define CALLER_NS "caller-net" /* in the state folder: the network namespace outside */

static int
failed(const char *what)
{
	if (errno == EPERM || errno == EACCES)
		run_say("%s: no permission. It needs CAP_SYS_ADMIN and CAP_NET_ADMIN: run it as "
			"root (sudo softcx run ...) or "
			"in a user namespace (unshare -Urn softcx run ...)",
			what);
	else
		run_say("%s: %s", what, strerror(errno));
	return RUN_EXIT_FAILED;
}

static int
mount_tmpfs(struct run *run)
{
	for (unsigned i = 0; i < sizeof(mount_points) / sizeof(mount_points[0]); i++) {
		struct stat st;

		if (stat(mount_points[i], &st) || !S_ISDIR(st.st_mode))
			continue;
		if (mount("softcx", mount_points[i], "tmpfs", MS_NOSUID | MS_NODEV, "mode=755"))
			return failed("mounting a tmpfs");
		snprintf(run->sysfs, sizeof(run->sysfs), "%s", mount_points[i]);
		return 0;
	}
	run_say("this kernel's sysfs has none of the mount points that hold the NIC's files (%s, "
		"...)",
		mount_points[0]);
	return RUN_EXIT_FAILED;
}

/* Programs that give up root still leave the mark that they opened the device. */
static int
make_state(struct run *run)
{
	int n = snprintf(run->conf.state, sizeof(run->conf.state), "%s/state", run->sysfs);

	if (n >= (int)sizeof(run->conf.state) || mkdir(run->conf.state, 0755) ||
		chmod(run->conf.state, 01777))
		return failed("making a folder on the tmpfs");
	return 0;
}

/* The namespace outside, under a name that libsoftcx.so can open: for a netdev that stays there. */
static int
bind_caller_ns(struct run *run, int caller_ns)
{
	char from[64], to[SCX_CONF_PATH];
	int fd;

	snprintf(from, sizeof(from), "/proc/self/fd/%d", caller_ns);
	if (snprintf(to, sizeof(to), "%s/%s", run->sysfs, CALLER_NS) >= (int)sizeof(to))
		return RUN_EXIT_FAILED; /* mount_points[] are short */
	fd = open(to, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return failed("making a file on the tmpfs");
	close(fd);
	if (mount(from, to, NULL, MS_BIND, NULL))
		return failed("binding the network namespace outside");
	for (unsigned i = 0; i < run->conf.nr_ports; i++)
		if (run->conf.port[i].netns[0])
			strcpy(run->conf.port[i].netns, to);
	return 0;
}

int
run_make_machine(struct run *run)
{
	int caller_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), rc;
	int caller_sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	if (caller_ns < 0 || caller_sock < 0)
		return failed("the network namespace outside");
	if (unshare(CLONE_NEWNET | CLONE_NEWNS))
		return failed("making network and mount namespaces");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return failed("making mounts private");
	if (mount("sysfs", "/sys", "sysfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
		return failed("mounting /sys");
	rc = mount_tmpfs(run);
	if (!rc)
		rc = make_state(run);
	if (!rc)
		rc = run_make_netdevs(run, caller_ns, caller_sock);
	if (!rc)
		rc = bind_caller_ns(run, caller_ns);
	if (!rc)
		rc = run_make_sysfs(run);
	close(caller_sock);
	close(caller_ns);
	return rc;
}

static bool
mark_is_there(const struct run *run, const char *name)
{
	char path[RUN_PATH + 32];

	snprintf(path, sizeof(path), "%s/%s", run->conf.state, name);
	return !access(path, F_OK);
}

bool
run_output_was_lost(const struct run *run)
{
	return mark_is_there(run, SCX_CONF_LOST);
}

bool
run_device_was_opened(const struct run *run)
{
	return mark_is_there(run, SCX_CONF_OPENED);
}
