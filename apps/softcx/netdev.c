/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The netdevs of the ports. Each port has a veth pair inside the new network namespace, whose NIC
 * end gives DPDK the netdev it wants beside an mlx5 device: index, MAC, MTU, link. With --wire
 * veth:NAME the frames go over a netdev as well: if NAME exists outside, it is bound as it is, and
 * the pair stays inside; if not, the pair's other end is put outside under that name. Called by
 * machine.c.
 *
 * The NIC end sends nothing by itself: no addresses, no ARP. Offloads are off at both ends, so that
 * no frame comes with work left to do.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netlink/route/link.h>
#include <netlink/route/link/veth.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "config/limits.h"
#include "softcx_run.h"

static int
failed(const char *netdev, const char *what, int err)
{
	run_say("netdev %s: %s: %s", netdev, what, strerror(err));
	return RUN_EXIT_FAILED;
}

static struct ifreq
request(const char *netdev)
{
	struct ifreq r = {0};

	memcpy(r.ifr_name, netdev, strnlen(netdev, IFNAMSIZ - 1));
	return r;
}

/* Exists in the network namespace that the socket belongs to? */
static bool
exists(int sock, const char *netdev)
{
	struct ifreq r = request(netdev);

	return !ioctl(sock, SIOCGIFINDEX, &r);
}

static int
add_flags(int sock, const char *netdev, short flags)
{
	struct ifreq r = request(netdev);

	if (ioctl(sock, SIOCGIFFLAGS, &r))
		return -errno;
	r.ifr_flags |= flags;
	return ioctl(sock, SIOCSIFFLAGS, &r) ? -errno : 0;
}

/* Best effort: a netdev without one of them has nothing to turn off. */
static void
offloads_off(int sock, const char *netdev)
{
	static const uint32_t cmds[] = {ETHTOOL_STXCSUM, ETHTOOL_STSO, ETHTOOL_SGSO, ETHTOOL_SGRO};

	for (unsigned i = 0; i < sizeof(cmds) / sizeof(cmds[0]); i++) {
		struct ethtool_value v = {.cmd = cmds[i], .data = 0};
		struct ifreq r = request(netdev);

		r.ifr_data = (void *)&v;
		ioctl(sock, SIOCETHTOOL, &r);
	}
}

/* Before it is up, or IPv6 would have taken an address. No file: a kernel without IPv6. */
static void
no_ipv6(const char *netdev)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "/proc/sys/net/ipv6/conf/%s/addr_gen_mode", netdev);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "1", 1) != 1) /* 1: none */
		run_say("netdev %s: IPv6 may send frames of its own: %s", netdev, strerror(errno));
	close(fd);
}

/* nic inside, its other end under the name other in the network namespace other_ns (-1: inside as
 * well). */
static int
make_pair(const char *nic, const char *other, int other_ns, const struct scx_conf_port *p)
{
	struct nl_sock *nl = nl_socket_alloc();
	struct rtnl_link *link = rtnl_link_veth_alloc(),
			 *peer = link ? rtnl_link_veth_get_peer(link) : NULL;
	struct nl_addr *mac = nl_addr_build(AF_UNSPEC, p->mac, sizeof(p->mac));
	int rc = -NLE_NOMEM;

	if (nl && link && peer && mac) {
		rtnl_link_set_name(link, nic);
		rtnl_link_set_addr(link, mac);
		rtnl_link_set_mtu(link, p->mtu);
		rtnl_link_set_name(peer, other);
		rtnl_link_set_mtu(peer, p->mtu);
		if (other_ns >= 0)
			rtnl_link_set_ns_fd(peer, other_ns);
		rc = nl_connect(nl, NETLINK_ROUTE);
		if (!rc)
			rc = rtnl_link_add(nl, link, NLM_F_CREATE | NLM_F_EXCL);
	}
	if (mac)
		nl_addr_put(mac);
	if (peer)
		rtnl_link_put(peer);
	if (link)
		rtnl_link_put(link);
	if (nl)
		nl_socket_free(nl);
	if (!rc)
		return 0;
	run_say("making the veth pair %s and %s: %s; does this kernel have veth?", nic, other,
		nl_geterror(rc));
	return RUN_EXIT_FAILED;
}

/* The port looks like the netdev that is its wire. */
static int
copy_identity(int sock, const char *netdev, struct scx_conf_port *p)
{
	struct ifreq r = request(netdev);

	if (ioctl(sock, SIOCGIFHWADDR, &r))
		return failed(netdev, "its MAC address", errno);
	if (r.ifr_hwaddr.sa_family != ARPHRD_ETHER)
		return failed(netdev, "it is no Ethernet netdev", EPROTOTYPE);
	memcpy(p->mac, r.ifr_hwaddr.sa_data, sizeof(p->mac));
	r = request(netdev);
	if (ioctl(sock, SIOCGIFMTU, &r))
		return failed(netdev, "its MTU", errno);
	p->mtu = r.ifr_mtu;
	if (p->mtu >= SCX_MTU_MIN && p->mtu <= SCX_MTU_MAX)
		return 0;
	run_say("netdev %s: its MTU is %d, and the port's can be %u to %u: ip link set %s mtu 1500",
		netdev, r.ifr_mtu, SCX_MTU_MIN, SCX_MTU_MAX, netdev);
	return RUN_EXIT_FAILED;
}

static int
make_port(struct run *run, unsigned i, int caller_ns, int caller_sock, int sock)
{
	struct scx_conf_port *p = &run->conf.port[i];
	char nic[IFNAMSIZ], other[IFNAMSIZ + 4];
	bool veth = p->wire == SCX_CONF_VETH, bind = false;
	int rc;

	snprintf(nic, sizeof(nic), RUN_NIC_FMT, i);
	strcpy(p->nic, nic);
	snprintf(other, sizeof(other), RUN_NIC_FMT "p", i);
	if (veth) {
		strcpy(other, run->wire_name[i]);
		bind = exists(caller_sock, other);
		strcpy(p->netdev, bind ? other : nic);
		strcpy(p->netns, bind ? "caller" : ""); /* machine.c puts the path there */
		rc = bind ? copy_identity(caller_sock, other, p) : 0;
		if (rc)
			return rc;
		run_say(bind ? "port %u: bound to the netdev %s, which is there already"
			     : "port %u: made the netdev %s, the other end of its wire",
			i, other);
		if (bind)
			snprintf(other, sizeof(other), RUN_NIC_FMT "p", i);
	}
	rc = make_pair(nic, other, veth && !bind ? caller_ns : -1, p);
	if (rc)
		return rc;
	no_ipv6(nic);
	offloads_off(sock, nic);
	offloads_off(veth && !bind ? caller_sock : sock, other);
	if (!veth || bind)
		no_ipv6(other);
	rc = add_flags(sock, nic, IFF_UP | IFF_NOARP);
	if (!rc)
		rc = add_flags(veth && !bind ? caller_sock : sock, other, IFF_UP);
	return rc ? failed(nic, "bringing the pair up", -rc) : 0;
}

int
run_make_netdevs(struct run *run, int caller_ns, int caller_sock)
{
	int sock = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = 0;

	if (sock < 0)
		return failed("-", "a socket", errno);
	add_flags(sock, "lo", IFF_UP); /* programs expect one; without it they still run */
	for (unsigned i = 0; i < run->conf.nr_ports && !rc; i++)
		rc = make_port(run, i, caller_ns, caller_sock, sock);
	close(sock);
	return rc;
}

/*
 * The kernel would remove them some time after the namespace has lost its last process; until then
 * the end outside bears its name, and the next run would bind to a netdev that goes.
 */
void
run_remove_netdevs(const struct run *run)
{
	struct nl_sock *nl = nl_socket_alloc();
	struct rtnl_link *link = rtnl_link_alloc();
	bool can = nl && link && !nl_connect(nl, NETLINK_ROUTE);

	for (unsigned i = 0; can && i < run->conf.nr_ports; i++) {
		if (!run->conf.port[i].nic[0])
			continue; /* not made: this may be the caller's namespace */
		rtnl_link_set_name(link, run->conf.port[i].nic);
		rtnl_link_delete(nl, link);
	}
	if (link)
		rtnl_link_put(link);
	if (nl)
		nl_socket_free(nl);
}
