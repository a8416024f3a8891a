/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The device: its NIC comes up when the group hands out its descriptor, and goes with it. The BAR
 * is memory, which the program maps and stores to; a thread looks at it in turn, carries out what
 * was stored, and steps the data path. Called by hooks.c under the lock.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/vfio.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "../fault.h"
#include "../front/conf.h"
#include "../log.h"
#include "../wire.h"
#include "vfio.h"

#define ERR_BYTES  256u
#define BUSY_TURNS 64	 /* without work before the thread sleeps between turns */
#define SLEEP_NS   50000 /* a doorbell waits no longer */
#define FD_MIN	   512

static struct {
	struct pci_dev *pci;
	uint8_t *bar;
	pthread_t thread;
	volatile bool stop;
	pid_t owner;
	uint32_t ranges_most;
} dev;

bool
vf_foreign(void)
{
	return dev.owner != 0 && dev.owner != getpid();
}

/* Takes the lock for each turn, so that the program's calls come in between. */
static void *
turns(void *arg)
{
	const struct timespec nap = {.tv_nsec = SLEEP_NS};
	unsigned idle = 0;

	while (!dev.stop) { /* forever: until the device is closed */
		unsigned done;

		vf_enter();
		done = dev.stop ? 0 : pci_bar_poll(dev.pci) + scx_nic_poll(dev.pci->nic);
		vf_leave();
		idle = done > 0 ? 0 : idle + 1;
		if (idle > BUSY_TURNS)
			nanosleep(&nap, NULL);
		else
			sched_yield();
	}
	return NULL;
}

static int
open_wire(const struct scx_conf_port *p, struct scx_wire **w, char *err)
{
	struct scx_wire *tapped;
	int rc = 0;

	*w = NULL;
	if (p->wire == SCX_CONF_VETH)
		rc = scx_wire_veth(p->netdev, w, err, ERR_BYTES);
	else if (p->wire == SCX_CONF_PCAP)
		rc = scx_wire_pcap(
			*p->in ? p->in : NULL, *p->out ? p->out : NULL, w, err, ERR_BYTES);
	else
		*w = scx_wire_loopback();
	if (rc == 0 && *w == NULL)
		rc = -ENOMEM;
	if (rc != 0 || *p->tap == '\0')
		return rc;
	rc = scx_wire_tap(*w, p->tap, &tapped, err, ERR_BYTES);
	if (rc == 0)
		*w = tapped;
	return rc;
}

/* What `softcx vfio` said. */
static int
configure(struct scx_conf *conf, struct scx_nic_cfg *cfg, struct scx_fault_plan *plan, char *err)
{
	const char *text = getenv(SCX_CONF_ENV);
	int rc;

	if (text == NULL || scx_conf_parse(text, conf, err, ERR_BYTES) != 0 ||
		conf->nr_ports != 1) {
		scx_log(NULL, "%s %s %s: start the program with `softcx vfio`", SCX_CONF_ENV,
			text != NULL ? "is wrong:" : "is not set", err);
		return -ENODEV;
	}
	if (*conf->log != '\0' && (rc = scx_log_open(conf->log)) != 0) {
		scx_log(NULL, "log file %s: %s; logging here instead", conf->log, strerror(-rc));
		scx_log_lose();
	}
	cfg->profile = conf->profile;
	cfg->name = "mlx5_vfio";
	cfg->seed = conf->seed;
	cfg->mtu = conf->port[0].mtu;
	memcpy(cfg->mac, conf->port[0].mac, sizeof(cfg->mac));
	cfg->roce = true; /* libmlx5 turns it on without a look, and ends where it is refused */
	if (*conf->faults != '\0') {
		rc = scx_fault_parse(conf->faults, plan, err, ERR_BYTES);
		if (rc != 0)
			return rc;
		cfg->faults = plan;
		scx_log(cfg->name, "fault plan %s, seed %llu", conf->faults,
			(unsigned long long)conf->seed);
	}
	return open_wire(&conf->port[0], &cfg->wire, err);
}

static int
bring_up(int fd)
{
	static struct scx_conf conf;
	struct scx_fault_plan plan;
	struct scx_nic_cfg cfg = {.wire = NULL};
	char err[ERR_BYTES] = "";
	int rc = configure(&conf, &cfg, &plan, err);

	if (rc != 0) {
		if (*err != '\0')
			scx_log(NULL, "vfio: %s", err);
		return rc;
	}
	dev.bar = mmap(NULL, PCI_BAR_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (dev.bar == MAP_FAILED) {
		rc = -errno;
		goto no_bar;
	}
	rc = pci_dev_init(dev.pci, &cfg, dev.bar);
	if (rc != 0)
		goto no_device;
	pci_bar_fill(dev.pci);
	dev.stop = false;
	dev.owner = getpid();
	rc = pthread_create(&dev.thread, NULL, turns, NULL);
	if (rc == 0)
		return 0;
	rc = -rc;
	pci_dev_fini(dev.pci);
	cfg.wire = dev.pci->wire;
no_device:
	munmap(dev.bar, PCI_BAR_BYTES);
no_bar:
	dev.owner = 0;
	cfg.wire->ops->close(cfg.wire);
	return rc;
}

int
vf_device_open(void)
{
	int fd, rc;

	if (dev.pci != NULL)
		return -EBUSY;
	fd = vf_file_new(VF_DEVICE, PCI_BAR_BYTES);
	if (fd < 0)
		return fd;
	dev.pci = calloc(1, sizeof(*dev.pci));
	rc = dev.pci != NULL ? bring_up(fd) : -ENOMEM;
	if (rc == 0)
		return fd;
	free(dev.pci);
	dev.pci = NULL;
	vf_close(fd);
	close(fd);
	return rc;
}

/* With the lock, which is given up while the thread ends. */
void
vf_device_closed(void)
{
	struct scx_wire *w;

	if (dev.pci == NULL)
		return;
	dev.stop = true;
	pthread_mutex_unlock(&vf_lock);
	pthread_join(dev.thread, NULL);
	pthread_mutex_lock(&vf_lock);
	scx_log(dev.pci->cfg.name,
		"closed: %u ranges of memory are still the device's, at most %u were",
		dev.pci->mem.nr, dev.ranges_most);
	pci_dev_fini(dev.pci);
	w = dev.pci->wire;
	if (w != NULL)
		w->ops->close(w);
	munmap(dev.bar, PCI_BAR_BYTES);
	free(dev.pci);
	dev.pci = NULL;
	dev.owner = 0;
	dev.ranges_most = 0;
}

int
vf_device_map(uint64_t iova, uint64_t bytes, void *host)
{
	int rc;

	if (dev.pci == NULL)
		return -ENODEV;
	rc = pci_mem_add_host(&dev.pci->mem, iova, bytes, host);
	if (dev.pci->mem.nr > dev.ranges_most)
		dev.ranges_most = dev.pci->mem.nr;
	return rc;
}

int
vf_device_unmap(uint64_t iova, uint64_t *bytes)
{
	uint64_t want = *bytes == UINT64_MAX ? PCI_WINDOW : *bytes, before = 0, after = 0;
	int rc;

	*bytes = 0;
	if (dev.pci == NULL)
		return 0;
	for (uint32_t i = 0; i < dev.pci->mem.nr; i++)
		before += dev.pci->mem.e[i].bytes;
	rc = pci_mem_remove(&dev.pci->mem, iova, want);
	for (uint32_t i = 0; i < dev.pci->mem.nr; i++)
		after += dev.pci->mem.e[i].bytes;
	*bytes = before - after;
	return rc == -ENOENT ? 0 : rc; /* nothing was there: the kernel says so by the size */
}

static long
region_info(void *arg)
{
	struct vfio_region_info r;

	memcpy(&r, arg, sizeof(r));
	if (r.argsz < sizeof(r) || r.index >= VFIO_PCI_NUM_REGIONS)
		return -EINVAL;
	r.argsz = sizeof(r);
	r.cap_offset = 0;
	r.flags = 0;
	r.size = 0;
	r.offset = 0;
	if (r.index == VFIO_PCI_BAR0_REGION_INDEX) {
		r.size = PCI_BAR_BYTES;
		r.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE |
			  VFIO_REGION_INFO_FLAG_MMAP;
	} else if (r.index == VFIO_PCI_CONFIG_REGION_INDEX) {
		r.size = PCI_CONFIG;
		r.offset = PCI_BAR_BYTES;
		r.flags = VFIO_REGION_INFO_FLAG_READ | VFIO_REGION_INFO_FLAG_WRITE;
	}
	memcpy(arg, &r, sizeof(r));
	return 0;
}

static long
irq_info(void *arg)
{
	struct vfio_irq_info q;

	memcpy(&q, arg, sizeof(q));
	if (q.argsz < sizeof(q) || q.index >= VFIO_PCI_NUM_IRQS)
		return -EINVAL;
	q.flags = q.index == VFIO_PCI_MSIX_IRQ_INDEX ? VFIO_IRQ_INFO_EVENTFD : 0;
	q.count = q.index == VFIO_PCI_MSIX_IRQ_INDEX ? PCI_VECTORS : 0;
	memcpy(arg, &q, sizeof(q));
	return 0;
}

/* The device keeps descriptors of its own: the program may close its. */
static long
set_irqs(void *arg)
{
	const struct vfio_irq_set *s = arg;
	int fds[PCI_VECTORS], rc;

	if (s->index != VFIO_PCI_MSIX_IRQ_INDEX || !(s->flags & VFIO_IRQ_SET_ACTION_TRIGGER))
		return -EINVAL;
	if (s->flags & VFIO_IRQ_SET_DATA_NONE && s->count == 0)
		return pci_dev_set_irqs(dev.pci, 0, PCI_VECTORS, NULL, 0);
	if (!(s->flags & VFIO_IRQ_SET_DATA_EVENTFD) || s->count > PCI_VECTORS ||
		s->argsz < sizeof(*s) + s->count * sizeof(int))
		return -EINVAL;
	memcpy(fds, s->data, s->count * sizeof(int));
	for (uint32_t i = 0; i < s->count; i++)
		if (fds[i] >= 0)
			fds[i] = fcntl(fds[i], F_DUPFD_CLOEXEC, FD_MIN);
	rc = pci_dev_set_irqs(dev.pci, s->start, s->count, fds, s->count);
	for (uint32_t i = 0; rc != 0 && i < s->count; i++)
		if (fds[i] >= 0)
			close(fds[i]);
	return rc;
}

long
vf_device_ioctl(unsigned long req, void *arg)
{
	struct vfio_device_info info;
	int rc;

	switch (req) {
	case VFIO_DEVICE_GET_INFO:
		memcpy(&info, arg, offsetof(struct vfio_device_info, num_irqs) + 4);
		if (info.argsz < offsetof(struct vfio_device_info, num_irqs) + 4)
			return -EINVAL;
		info.flags = VFIO_DEVICE_FLAGS_RESET | VFIO_DEVICE_FLAGS_PCI;
		info.num_regions = VFIO_PCI_NUM_REGIONS;
		info.num_irqs = VFIO_PCI_NUM_IRQS;
		memcpy(arg, &info, offsetof(struct vfio_device_info, num_irqs) + 4);
		return 0;
	case VFIO_DEVICE_GET_REGION_INFO:
		return region_info(arg);
	case VFIO_DEVICE_GET_IRQ_INFO:
		return irq_info(arg);
	case VFIO_DEVICE_SET_IRQS:
		return set_irqs(arg);
	case VFIO_DEVICE_RESET:
		rc = pci_dev_reset(dev.pci);
		if (rc == 0)
			pci_bar_fill(dev.pci);
		return rc;
	}
	scx_log(NULL, "vfio: request 0x%lx to the device is not known here", req);
	return -ENOTTY;
}

int
vf_device_access(void *buf, size_t n, int64_t off, bool write, long *rc)
{
	uint64_t at = (uint64_t)off - PCI_BAR_BYTES;

	if (off < (int64_t)PCI_BAR_BYTES || dev.pci == NULL)
		return 0;
	if (at > PCI_CONFIG || n > PCI_CONFIG - at)
		*rc = -EINVAL;
	else if (write)
		*rc = pci_config_write(dev.pci, at, (uint32_t)n, buf);
	else
		*rc = pci_config_read(dev.pci, at, (uint32_t)n, buf);
	if (*rc == 0)
		*rc = (long)n;
	return 1;
}

/*
 * `softcx vfio` has become the program, so nobody else is left to say by an exit status that the
 * log or a capture is not whole. Registered before the program's own, so it comes after all of
 * them.
 */
static void
at_end(int status, void *arg)
{
	(void)arg;
	if (status != 0 || !scx_log_lost())
		return;
	fflush(NULL);
	_exit(EXIT_FAILURE);
}

__attribute__((constructor)) static void
watch_end(void)
{
	on_exit(at_end, NULL);
}
