/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The sysfs tree of the ports, as rdma-core and DPDK's PCI bus read it when SYSFS_PATH and
 * SYSFS_PCI_DEVICES point to it: a PCI function a port, with its InfiniBand device, its verbs
 * device and its netdev. Called by machine.c, once the netdevs are there.
 */
#include <errno.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "softcx_run.h"

/* Writing goes on after a failure, and the first errno is kept. */
struct tree {
	const char *root;
	int err;
};

static void
make_parents(struct tree *t, char *path)
{
	for (char *s = path + strlen(t->root) + 1; (s = strchr(s, '/')); s++) {
		*s = 0;
		if (mkdir(path, 0755) && errno != EEXIST && !t->err)
			t->err = errno;
		*s = '/';
	}
}

/* put(t, "name/of/%s", x, NULL, "content %u\n", y) needs two formats: the path is made first. */
static void __attribute__((format(printf, 3, 4)))
put(struct tree *t, const char *path, const char *fmt, ...)
{
	char full[2 * RUN_PATH];
	va_list ap;
	FILE *f;

	snprintf(full, sizeof(full), "%s/%s", t->root, path);
	make_parents(t, full);
	f = fopen(full, "we");
	if (!f) {
		t->err = t->err ? t->err : errno;
		return;
	}
	va_start(ap, fmt);
	vfprintf(f, fmt, ap);
	va_end(ap);
	if (fclose(f) && !t->err)
		t->err = errno;
}

static void
put_link(struct tree *t, const char *path, const char *to)
{
	char full[2 * RUN_PATH], target[2 * RUN_PATH];

	snprintf(full, sizeof(full), "%s/%s", t->root, path);
	snprintf(target, sizeof(target), "%s/%s", t->root, to);
	make_parents(t, full);
	if (symlink(target, full) && !t->err)
		t->err = errno;
}

static const char *
at(const char *dir, const char *name)
{
	static char path[RUN_PATH];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

/*
 * The machine's node when it has one; -1 with several: the model is on no node. Programs that ask
 * for memory on the NIC's node take -1 for a node of theirs at best.
 */
static int
only_node(void)
{
	FILE *f = fopen("/sys/devices/system/node/online", "re");
	char text[32] = "", *end;
	long node;

	if (!f)
		return -1;
	if (!fgets(text, sizeof(text), f))
		text[0] = 0;
	fclose(f);
	node = strtol(text, &end, 10);
	return end != text && (*end == '\n' || !*end) ? (int)node : -1;
}

static void
put_pci(struct tree *t, const char *dir, const char *bdf, const struct scx_identity *id)
{
	char resource[7 * 57 + 1] = "", link[64];

	/* no BARs: nobody may map this function, the UAR comes from the uverbs device */
	for (unsigned i = 0; i < 7; i++)
		strcat(resource, "0x0000000000000000 0x0000000000000000 0x0000000000000000\n");
	put(t, at(dir, "vendor"), "0x15b3\n");
	put(t, at(dir, "device"), "0x%04x\n", id->pci_device);
	put(t, at(dir, "subsystem_vendor"), "0x15b3\n");
	put(t, at(dir, "subsystem_device"), "0x0016\n");
	put(t, at(dir, "class"), "0x020000\n");
	put(t, at(dir, "revision"), "0x00\n");
	put(t, at(dir, "numa_node"), "%d\n", only_node());
	put(t, at(dir, "max_vfs"), "0\n");
	put(t, at(dir, "resource"), "%s", resource);
	put(t, at(dir, "modalias"), "pci:v000015B3d0000%04Xsv000015B3sd00000016bc02sc00i00\n",
		id->pci_device);
	put(t, at(dir, "uevent"),
		"DRIVER=mlx5_core\nPCI_CLASS=20000\nPCI_ID=15B3:%04X\nPCI_SUBSYS_ID=15B3:0016\nPCI_"
		"SLOT_NAME=%s\n",
		id->pci_device, bdf);
	put_link(t, at(dir, "driver"), "bus/pci/drivers/mlx5_core");
	snprintf(link, sizeof(link), "bus/pci/devices/%s", bdf);
	put_link(t, link, dir);
}

static void
put_infiniband(struct tree *t, const char *dir, unsigned i, const struct scx_conf_port *p,
	const struct scx_identity *id)
{
	char ib[128], link[64], guid[24];
	const uint8_t *m = p->mac;

	snprintf(ib, sizeof(ib), "%s/infiniband/mlx5_%u", dir, i);
	snprintf(guid, sizeof(guid), "%02x%02x:%02x00:00%02x:%02x%02x", m[0], m[1], m[2], m[3],
		m[4], m[5]);
	put(t, at(ib, "node_type"), "1: CA\n");
	put(t, at(ib, "node_guid"), "%s\n", guid);
	put(t, at(ib, "sys_image_guid"), "%s\n", guid);
	put(t, at(ib, "node_desc"), "software ConnectX\n");
	put(t, at(ib, "fw_ver"), "%u.%u.%04u\n", id->fw_major, id->fw_minor, id->fw_sub);
	put(t, at(ib, "hca_type"), "%s\n", id->hca_type);
	put(t, at(ib, "board_id"), "SOFTCX0000001\n");
	put(t, at(ib, "ports/1/link_layer"), "Ethernet\n");
	put(t, at(ib, "ports/1/state"), "4: ACTIVE\n");
	put_link(t, at(ib, "device"), dir);
	snprintf(link, sizeof(link), "class/infiniband/mlx5_%u", i);
	put_link(t, link, ib);
}

static void
put_port(struct tree *t, unsigned i, const struct scx_conf_port *p, const struct scx_identity *id)
{
	char bdf[32], dir[64], verbs[64], net[128], nic[IFNAMSIZ];

	snprintf(bdf, sizeof(bdf), RUN_BDF_FMT, i);
	snprintf(nic, sizeof(nic), RUN_NIC_FMT, i);
	snprintf(dir, sizeof(dir), "devices/pci0000:99/%s", bdf);
	snprintf(verbs, sizeof(verbs), "class/infiniband_verbs/uverbs%u", i);
	snprintf(net, sizeof(net), "%s/net/%s", dir, nic);
	put_pci(t, dir, bdf, id);
	put_infiniband(t, dir, i, p, id);
	put(t, at(verbs, "dev"), "%u:%u\n", SCX_UVERBS_MAJOR, SCX_UVERBS_MINOR + i);
	put(t, at(verbs, "ibdev"), "mlx5_%u\n", i);
	put(t, at(verbs, "abi_version"), "1\n");
	put_link(t, at(verbs, "device"), dir);
	put(t, at(net, "ifindex"), "%u\n", if_nametoindex(nic));
	put(t, at(net, "dev_port"), "0\n");
	put(t, at(net, "dev_id"), "0x0\n");
}

int
run_make_sysfs(const struct run *run)
{
	struct tree t = {run->sysfs, 0};
	char path[2 * RUN_PATH];

	put(&t, "class/infiniband_verbs/abi_version", "6\n");
	put(&t, "bus/pci/drivers/mlx5_core/module", "%s", "");
	snprintf(path, sizeof(path), "%s/bus/auxiliary/devices/", run->sysfs);
	make_parents(&t, path);
	for (unsigned i = 0; i < run->conf.nr_ports; i++)
		put_port(&t, i, &run->conf.port[i], scx_identity(run->conf.profile));
	if (!t.err)
		return 0;
	run_say("writing the sysfs tree to %s: %s", run->sysfs, strerror(t.err));
	return RUN_EXIT_FAILED;
}
