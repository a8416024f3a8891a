/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices. Nothing happens before the first open of any: then the configuration is read, every
 * port's NIC made and the data path started. Called by interpose.c under scxf_lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sched.h>
#include <unistd.h>

#include "../fault.h"
#include "../wire.h"
#include "front.h"

#define DEV_DIR	    "/dev/infiniband/uverbs"
#define SPEC_ERRMSG 256

pthread_mutex_t scxf_lock = PTHREAD_MUTEX_INITIALIZER;

static struct scx_conf conf;
static struct scxf_dev devs[SCX_CONF_PORTS_MAX];
static pid_t owner; /* who brought the devices up; 0: nobody yet */
static int failed;  /* -errno of a bring-up that failed: not tried again */

int
scxf_dev_path(const char *path)
{
	char *end;
	unsigned long n;

	if (!path || strncmp(path, DEV_DIR, sizeof(DEV_DIR) - 1) ||
		path[sizeof(DEV_DIR) - 1] < '0' || path[sizeof(DEV_DIR) - 1] > '9')
		return -1;
	n = strtoul(path + sizeof(DEV_DIR) - 1, &end, 10);
	return *end || n >= SCX_CONF_PORTS_MAX ? -1 : (int)n;
}

bool
scxf_forked(void)
{
	return owner && owner != getpid();
}

/* Opens the packet socket where the netdev is: this thread alone goes there, and comes back. */
static int
open_veth(const struct scx_conf_port *p, struct scx_wire **w, char *err)
{
	int home = -1, there = -1, rc;

	if (p->netns[0]) {
		home = open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC);
		there = open(p->netns, O_RDONLY | O_CLOEXEC);
		if (home < 0 || there < 0 || setns(there, CLONE_NEWNET)) {
			rc = -errno;
			snprintf(err, SPEC_ERRMSG, "network namespace %s: %s", p->netns,
				strerror(-rc));
			goto out;
		}
	}
	rc = scx_wire_veth(p->netdev, w, err, SPEC_ERRMSG);
	if (home >= 0 && setns(home, CLONE_NEWNET)) {
		rc = -errno; /* the thread is in the wrong namespace now: better no device than that
			      */
		snprintf(err, SPEC_ERRMSG, "back to the own network namespace: %s", strerror(-rc));
	}
out:
	if (home >= 0)
		close(home);
	if (there >= 0)
		close(there);
	return rc;
}

static int
open_wire(unsigned i, struct scx_wire **w, struct scx_wire **cable_end, char *err)
{
	const struct scx_conf_port *p = &conf.port[i];
	struct scx_wire *tapped;
	int rc = 0;

	*w = NULL; /* what the NIC takes for loopback */
	switch (p->wire) {
	case SCX_CONF_LOOPBACK:
		if (p->tap[0] && !(*w = scx_wire_loopback()))
			rc = -ENOMEM;
		break;
	case SCX_CONF_CABLE:
		if (i % 2)
			*w = *cable_end;
		else
			rc = scx_wire_pair(w, cable_end);
		break;
	case SCX_CONF_VETH:
		rc = open_veth(p, w, err);
		break;
	case SCX_CONF_PCAP:
		rc = scx_wire_pcap(
			p->in[0] ? p->in : NULL, p->out[0] ? p->out : NULL, w, err, SPEC_ERRMSG);
		break;
	}
	if (!rc && p->wire == SCX_CONF_PCAP)
		devs[i].pcap = *w;
	if (rc || !p->tap[0])
		return rc;
	rc = scx_wire_tap(*w, p->tap, &tapped, err, SPEC_ERRMSG);
	if (!rc)
		*w = tapped;
	return rc;
}

/* What the netdev has now: somebody may have changed it since `softcx run` made it. */
static uint32_t
netdev_mtu(const struct scx_conf_port *p)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct ifreq r = {0};
	uint32_t mtu = p->mtu;

	if (fd < 0)
		return mtu;
	memcpy(r.ifr_name, p->nic, sizeof(p->nic));
	if (p->nic[0] && !ioctl(fd, SIOCGIFMTU, &r))
		mtu = r.ifr_mtu;
	close(fd);
	return mtu;
}

void
scxf_changed(struct scxf_dev *dev)
{
	if (dev->pcap)
		scx_wire_pcap_changed(dev->pcap, dev->nr_receiving != 0);
}

void
scxf_mtu_changed(const char *netdev, uint32_t mtu)
{
	pthread_mutex_lock(&scxf_lock);
	for (unsigned i = 0; i < conf.nr_ports; i++) {
		struct scxf_dev *d = &devs[i];

		if (failed || !d->nic || strcmp(d->port->nic, netdev))
			continue;
		d->mtu = mtu;
		if (scx_port_mtu(d->nic, mtu))
			scx_log(d->name, "the NIC does not take an MTU of %u", mtu);
	}
	pthread_mutex_unlock(&scxf_lock);
}

void
scxf_look_at_all(void)
{
	for (unsigned i = 0; i < conf.nr_ports; i++)
		if (devs[i].nic)
			scxf_watch_look(&devs[i]);
}

/* Away from the low numbers, which programs count on. */
int
scxf_move_high(int fd)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, SCXF_FD_MIN);

	if (high < 0)
		return fd;
	close(fd);
	return high;
}

static int
dev_create(unsigned i, struct scx_wire **cable_end)
{
	struct scxf_dev *d = &devs[i];
	char err[SPEC_ERRMSG] = "";
	struct scx_nic_cfg cfg = {
		.profile = conf.profile,
		.name = d->name,
		.seed = conf.seed + i,
		.event = scxf_event,
		.event_arg = d,
		.nr_uar_pages = SCXF_UAR_PAGES,
		.log_dump = conf.log_dump,
	};
	struct scx_fault_plan faults;
	int rc;

	snprintf(d->name, sizeof(d->name), "mlx5_%u", i);
	d->index = i;
	d->port = &conf.port[i];
	d->identity = scx_identity(conf.profile);
	d->link_up = true;
	memcpy(cfg.mac, d->port->mac, sizeof(cfg.mac));
	d->mtu = netdev_mtu(d->port);
	cfg.mtu = d->mtu;
	d->uar_base = mmap(NULL, SCXF_UAR_PAGES * SCXF_UAR_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (d->uar_base == MAP_FAILED)
		return -errno;
	cfg.uar_base = d->uar_base;
	rc = open_wire(i, &cfg.wire, cable_end, err);
	if (rc) {
		scx_log(d->name, "no wire: %s", err[0] ? err : strerror(-rc));
		return rc;
	}
	if (conf.faults[0] != '\0') {
		rc = scx_fault_parse(conf.faults, &faults, err, sizeof(err));
		if (rc) {
			scx_log(d->name, "no fault plan: %s", err);
			return rc;
		}
		scx_log(d->name, "fault plan %s, seed %llu", conf.faults,
			(unsigned long long)cfg.seed);
		cfg.faults = &faults;
	}
	scxf_changed(d);
	rc = scxf_step_make(d, &conf, cfg.seed, &cfg, err, sizeof(err));
	if (rc) {
		scx_log(d->name, "no NIC step: %s (%s); softcx run --nic-step cpu needs no GPU",
			err, strerror(-rc));
		return rc;
	}
	rc = scx_nic_create(&cfg, &d->nic);
	if (rc)
		scx_log(d->name, "the NIC does not come up: %s", strerror(-rc));
	return rc;
}

/* The mark that `softcx run` looks for at the end. */
static void
leave_mark(void)
{
	char path[SCX_CONF_PATH + sizeof(SCX_CONF_OPENED) + 1];
	int fd;

	if (!conf.state[0])
		return;
	snprintf(path, sizeof(path), "%s/%s", conf.state, SCX_CONF_OPENED);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
	if (fd >= 0)
		close(fd);
}

/* And the one that it finds if log or capture lost something. */
static void
open_log(void)
{
	char path[SCX_CONF_PATH + sizeof(SCX_CONF_LOST) + 1];
	int rc;

	if (conf.state[0]) {
		snprintf(path, sizeof(path), "%s/%s", conf.state, SCX_CONF_LOST);
		scx_log_mark(path);
	}
	if (!conf.log[0])
		return;
	rc = scx_log_open(conf.log);
	if (rc == 0)
		return;
	scx_log(NULL, "log file %s: %s; logging here instead", conf.log, strerror(-rc));
	scx_log_lose();
}

static void bring_down(void);

static int
bring_up(void)
{
	struct scx_nic *nics[SCX_CONF_PORTS_MAX];
	struct scx_wire *cable_end = NULL;
	char err[SPEC_ERRMSG] = "";
	const char *text = getenv(SCX_CONF_ENV), *outside = NULL;
	int rc;

	if (!text || scx_conf_parse(text, &conf, err, sizeof(err))) {
		scx_log(NULL, "%s %s%s: start the program with `softcx run`", SCX_CONF_ENV,
			text ? "is wrong: " : "is not set", err);
		return -ENODEV;
	}
	if (sysconf(_SC_PAGESIZE) != SCXF_UAR_BYTES) {
		scx_log(NULL, "pages of %ld bytes: the model needs pages of 4096",
			sysconf(_SC_PAGESIZE));
		return -ENODEV;
	}
	open_log();
	leave_mark();
	for (unsigned i = 0; i < conf.nr_ports; i++) {
		rc = dev_create(i, &cable_end);
		if (rc)
			return rc;
		nics[i] = devs[i].nic;
		if (devs[i].port->netns[0])
			outside = devs[i].port->netns; /* there is but one */
	}
	scxf_crash_words();
	rc = scx_nic_start(nics, conf.nr_ports);
	if (!rc)
		rc = scxf_watch_start(outside);
	if (rc)
		scx_log(NULL, "a thread of the NIC's does not start: %s", strerror(-rc));
	else
		scxf_look_at_all();
	/*
	 * Registered after CUDA's own handlers, so that it runs before them: a kernel's counters
	 * are fetched while there is a GPU to ask.
	 */
	if (!rc && scxf_needs_gpu())
		atexit(bring_down);
	return rc;
}

/* Last things, when the process exits in an orderly way: figures to the log, capture files flushed.
 */
static void __attribute__((destructor))
bring_down(void)
{
	struct scx_nic *nics[SCX_CONF_PORTS_MAX];

	if (!owner || failed || scxf_forked())
		return;
	scxf_watch_stop();
	pthread_mutex_lock(&scxf_lock);
	for (unsigned i = 0; i < conf.nr_ports; i++)
		nics[i] = devs[i].nic;
	scx_nic_stop(nics, conf.nr_ports);
	for (unsigned i = 0; i < conf.nr_ports; i++) {
		scx_nic_report(nics[i]);
		scx_nic_destroy(nics[i]);
	}
	scxf_far_end();
	failed = -ENODEV; /* a thread that still runs gets no further */
	pthread_mutex_unlock(&scxf_lock);
}

/* For a program that counts what it leaves behind, by dlsym(): objects of all devices. */
__attribute__((visibility("default"))) unsigned
softcx_objects(void)
{
	unsigned n = 0;

	pthread_mutex_lock(&scxf_lock);
	for (unsigned i = 0; owner && !failed && i < conf.nr_ports; i++)
		n += scx_nic_objects(devs[i].nic);
	pthread_mutex_unlock(&scxf_lock);
	return n;
}

int
scxf_open(unsigned index, int flags)
{
	if (!owner) {
		owner = getpid();
		failed = bring_up();
	}
	if (failed)
		return failed;
	if (index >= conf.nr_ports)
		return -ENOENT;
	scxf_ctx_reap();
	return scxf_ctx_new(&devs[index], flags);
}
