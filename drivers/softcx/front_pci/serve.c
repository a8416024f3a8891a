/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The loop: messages of the client, then steps of the data path, then a short wait when neither has
 * anything to do. When a client goes, all that it had is taken from the NIC, and the next client
 * finds a new one.
 */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "../log.h"
#include "../wire.h"
#include "pci.h"
#include "serve.h"

#define IDLE_MS	      1	 /* a frame from the wire waits no longer */
#define BUSY_TURNS    64 /* without work before the loop waits */
#define ACCEPT_MS     100
#define MESSAGES_MAX  65536 /* without a step of the data path */
#define TURN_US	      100000 /* in a call that waits: then vfio_user.c looks at stop */

/* The socket's file, as it was made: what bears its name later may be somebody else's. */
static int
listen_at(const char *path, int *sock, struct stat *made)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};
	int s, rc;

	if (strlen(path) >= sizeof(a.sun_path))
		return -ENAMETOOLONG;
	if (*path == '\0') /* which Linux would take, and choose a name that nobody knows */
		return -ENOENT;
	memcpy(a.sun_path, path, strlen(path));
	s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (s < 0)
		return -errno;
	if (bind(s, (struct sockaddr *)&a, sizeof(a)) != 0) {
		rc = -errno;
		close(s);
		return rc;
	}
	if (lstat(path, made) != 0 || listen(s, 1) != 0) {
		rc = -errno;
		close(s);
		unlink(path);
		return rc;
	}
	*sock = s;
	return 0;
}

static void
remove_own(const char *path, const struct stat *made)
{
	struct stat now;

	if (lstat(path, &now) == 0 && now.st_dev == made->st_dev && now.st_ino == made->st_ino)
		unlink(path);
}

static int
accept_one(int listener, const volatile int *stop)
{
	const struct timeval wait = {.tv_usec = TURN_US};

	while (!*stop) { /* forever: until there is a client, or stop */
		struct pollfd p = {.fd = listener, .events = POLLIN};
		int s;

		if (poll(&p, 1, ACCEPT_MS) <= 0)
			continue;
		s = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
		if (s < 0)
			continue;
		setsockopt(s, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait));
		setsockopt(s, SOL_SOCKET, SO_SNDTIMEO, &wait, sizeof(wait));
		return s;
	}
	return -1;
}

static void
serve_client(struct pci_dev *d, int s, const volatile int *stop)
{
	unsigned idle = 0, messages = 0;
	int rc = 0;

	while (!*stop && rc == 0) { /* forever: until the client goes, or stop */
		struct pollfd p = {.fd = s, .events = POLLIN};
		int n = poll(&p, 1, idle > BUSY_TURNS ? IDLE_MS : 0);

		/*
		 * All that was rung is in the registers before the data path looks: a queue in
		 * which doorbells grow old, while the WQEs that they tell of are done long since,
		 * is nothing that a bus has. A driver that waits for completions ends it.
		 */
		if (n > 0) {
			rc = pci_message(d, s);
			idle = 0;
			if (++messages < MESSAGES_MAX && d->nic != NULL)
				continue;
		}
		messages = 0;
		if (d->nic == NULL)
			break; /* a reset that failed */
		if (scx_nic_poll(d->nic) > 0)
			idle = 0;
		else
			idle++;
	}
	if (rc == -ETIMEDOUT)
		scx_log(d->cfg.name, "the client goes: half a message for 10 s, or an answer that "
				     "it does not take");
	else if (rc != 0 && rc != -ECONNRESET && rc != -ECANCELED)
		scx_log(d->cfg.name, "the client goes: %s", strerror(-rc));
}

int
scx_serve(const struct scx_nic_cfg *cfg, const char *socket_path, const volatile int *stop)
{
	struct pci_dev *d = calloc(1, sizeof(*d));
	int listener = -1, s, rc = -ENOMEM;
	struct stat made;

	if (d == NULL)
		goto no_device;
	rc = listen_at(socket_path, &listener, &made);
	if (rc != 0)
		goto no_device;
	rc = pci_dev_init(d, cfg, NULL);
	if (rc != 0)
		goto no_device;
	d->stop = stop;
	scx_log(cfg->name, "serves vfio-user at %s", socket_path);
	while (rc == 0 && (s = accept_one(listener, stop)) >= 0) {
		serve_client(d, s, stop);
		close(s);
		/* The NIC lets go of the memory before it is taken away. */
		rc = *stop ? 0 : pci_dev_reset(d);
		pci_dev_disconnect(d);
	}
	pci_dev_fini(d);
	if (d->wire != NULL)
		d->wire->ops->close(d->wire);
	goto out;
no_device:
	if (cfg->wire != NULL)
		cfg->wire->ops->close(cfg->wire);
out:
	if (listener >= 0) {
		close(listener);
		remove_own(socket_path, &made);
	}
	free(d);
	return rc;
}
