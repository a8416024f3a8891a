/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What happens to a device outside of any call of the program's, seen by a thread that otherwise
 * sleeps: a port's netdev goes down, comes up or gets another MTU (rtnetlink), and the program lets
 * go of an open device (inotify on its memfd; the kernel tells when the last descriptor and the
 * last mapping are gone, as it would tell a driver). Started and stopped by device.c.
 *
 * A message only says that it is time to look: the state is then asked for, under scxf_lock, so
 * that an old message cannot undo what the program has set since.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "front.h"

#define HOME  0 /* sockets: in the program's network namespace, */
#define THERE 1 /* and in that of netdevs that stayed outside */

static int stop_fd = -1, closes_fd = -1, links[2] = {-1, -1};
static pthread_t thread;
static bool running;

static int
link_socket(void)
{
	struct sockaddr_nl at = {.nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK};
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE), rc;

	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&at, sizeof(at))) {
		rc = -errno;
		close(fd);
		return rc;
	}
	return scxf_move_high(fd);
}

/* The netdev is up and has a carrier, as far as can be told. gone: there is none of that name. */
static bool
netdev_runs(int sock, const char *name, bool *gone)
{
	struct ifreq r = {0};

	strncpy(r.ifr_name, name, sizeof(r.ifr_name) - 1);
	if (sock < 0 || !name[0])
		return true;
	if (!ioctl(sock, SIOCGIFFLAGS, &r))
		return (r.ifr_flags & IFF_UP) && (r.ifr_flags & IFF_RUNNING);
	*gone |= errno == ENODEV;
	return false;
}

void
scxf_watch_look(struct scxf_dev *d)
{
	const struct scx_conf_port *p = d->port;
	bool gone = false, up = netdev_runs(links[HOME], p->nic, &gone);
	struct ifreq r = {0};

	if (p->netdev[0] && p->netns[0])
		up = up && netdev_runs(links[THERE], p->netdev, &gone);
	scx_port_link(d->nic, up);
	if (gone && !d->netdev_gone)
		scx_log(d->name,
			"its netdev is gone: nothing comes or goes any more. Cause: somebody "
			"removed, renamed or moved it; fix: end the program and start it again");
	d->netdev_gone = gone;
	memcpy(r.ifr_name, p->nic, sizeof(p->nic));
	if (links[HOME] < 0 || ioctl(links[HOME], SIOCGIFMTU, &r) || (uint32_t)r.ifr_mtu == d->mtu)
		return;
	d->mtu = r.ifr_mtu;
	if (scx_port_mtu(d->nic, d->mtu))
		scx_log(d->name, "the NIC does not take an MTU of %u", d->mtu);
}

/* All that is there, unread: a socket that overflowed says so once, which is a message as well. */
static void
throw_away(int fd)
{
	char junk[8192];

	while (read(fd, junk, sizeof(junk)) > 0 || errno == ENOBUFS || errno == EINTR)
		errno = 0;
}

static void *
thread_main(void *arg)
{
	struct pollfd p[] = {{stop_fd, POLLIN, 0}, {closes_fd, POLLIN, 0}, {links[HOME], POLLIN, 0},
		{links[THERE], POLLIN, 0}};

	prctl(PR_SET_NAME, "softcx-watch");
	/* forever: until scxf_watch_stop() */
	while (poll(p, 4, -1) >= 0 || errno == EINTR) {
		if (p[0].revents)
			break;
		for (unsigned i = 1; i < 4; i++)
			if (p[i].revents)
				throw_away(p[i].fd);
		pthread_mutex_lock(&scxf_lock);
		if (p[1].revents)
			scxf_ctx_reap();
		if (p[2].revents || p[3].revents)
			scxf_look_at_all();
		pthread_mutex_unlock(&scxf_lock);
	}
	return NULL;
}

/* Without one of them the device works, and what will not be seen is told. */
static void
open_sources(const char *netns)
{
	int home = -1, there = -1;

	closes_fd = inotify_init1(IN_CLOEXEC | IN_NONBLOCK);
	if (closes_fd < 0)
		scx_log(NULL, "inotify: %s: a device that is closed is noticed when one is opened",
			strerror(errno));
	else
		closes_fd = scxf_move_high(closes_fd);
	links[HOME] = link_socket();
	if (netns) {
		home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
		there = open(netns, O_RDONLY | O_CLOEXEC);
		if (home >= 0 && there >= 0 && !setns(there, CLONE_NEWNET)) {
			links[THERE] = link_socket();
			if (setns(home, CLONE_NEWNET))
				scx_log(NULL, "back to the own network namespace: %s",
					strerror(errno));
		}
	}
	if (links[HOME] < 0 || (netns && links[THERE] < 0))
		scx_log(NULL, "no rtnetlink socket: links stay up whatever their netdevs do");
	if (home >= 0)
		close(home);
	if (there >= 0)
		close(there);
}

int
scxf_watch_start(const char *netns)
{
	sigset_t all, before;
	int rc;

	stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (stop_fd < 0)
		return -errno;
	stop_fd = scxf_move_high(stop_fd);
	open_sources(netns);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, thread_main, NULL);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	running = !rc;
	return -rc;
}

/* Not under scxf_lock, which the thread may be waiting for. */
void
scxf_watch_stop(void)
{
	uint64_t one = 1;

	if (!running || write(stop_fd, &one, sizeof(one)) != sizeof(one))
		return;
	pthread_join(thread, NULL);
	running = false;
}

/* fd is one that the program will get; -1: its close will not be seen. */
int
scxf_watch_close(int fd)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	return closes_fd < 0 ? -1 : inotify_add_watch(closes_fd, path, IN_CLOSE);
}

void
scxf_watch_forget(int wd)
{
	if (wd >= 0)
		inotify_rm_watch(closes_fd, wd);
}
