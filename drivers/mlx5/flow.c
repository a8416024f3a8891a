/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Steering: crl_match to an rte_flow pattern, queues to a QUEUE or RSS action over their external
 * ids. net_mlx5 makes the kernel rules, the TIR and the indirection table. Main lcore.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_errno.h>
#include <rte_ethdev.h>

#include "dpdk_internal.h"

#define FLOW_STEP "add a flow"

#define IP_BITS	  (CRL_MATCH_SRC_IP | CRL_MATCH_DST_IP)
#define PORT_BITS (CRL_MATCH_SRC_PORT | CRL_MATCH_DST_PORT)
#define ALL_BITS                                                                                   \
	(CRL_MATCH_ETHERTYPE | CRL_MATCH_DST_MAC | CRL_MATCH_IPV4 | CRL_MATCH_IPV6 | IP_BITS |     \
		CRL_MATCH_UDP | CRL_MATCH_TCP | PORT_BITS | CRL_MATCH_VLAN)

/* Items and the memory they point to. */
struct pattern {
	struct rte_flow_item items[6]; /* eth, vlan, ip, udp or tcp, and zeros: the end */
	unsigned nr;
	struct rte_flow_item_eth eth, eth_mask;
	struct rte_flow_item_vlan vlan, vlan_mask;
	struct rte_flow_item_ipv4 ip4, ip4_mask;
	struct rte_flow_item_ipv6 ip6, ip6_mask;
	struct rte_flow_item_udp udp, udp_mask;
	struct rte_flow_item_tcp tcp, tcp_mask;
};

static int
check_match(const struct crl_match *m, struct crl_err *err)
{
	const char *wrong = NULL;
	uint32_t f;
	int ret = crl_check_size(err, FLOW_STEP, CRL_SIZE_OF(m), sizeof(*m));

	if (ret != 0)
		return ret;
	f = m->fields;
	if (f & ~ALL_BITS)
		wrong = "fields has a bit that this version does not know";
	else if ((f & CRL_MATCH_IPV4) && (f & CRL_MATCH_IPV6))
		wrong = "no packet is IPv4 and IPv6";
	else if ((f & CRL_MATCH_UDP) && (f & CRL_MATCH_TCP))
		wrong = "no packet is UDP and TCP";
	else if ((f & IP_BITS) && !(f & (CRL_MATCH_IPV4 | CRL_MATCH_IPV6)))
		wrong = "addresses need CRL_MATCH_IPV4 or CRL_MATCH_IPV6";
	else if ((f & (CRL_MATCH_UDP | CRL_MATCH_TCP)) && !(f & (CRL_MATCH_IPV4 | CRL_MATCH_IPV6)))
		wrong = "UDP and TCP need CRL_MATCH_IPV4 or CRL_MATCH_IPV6";
	else if ((f & PORT_BITS) && !(f & (CRL_MATCH_UDP | CRL_MATCH_TCP)))
		wrong = "ports need CRL_MATCH_UDP or CRL_MATCH_TCP";
	else if ((f & CRL_MATCH_ETHERTYPE) && (f & (CRL_MATCH_IPV4 | CRL_MATCH_IPV6)))
		wrong = "CRL_MATCH_IPV4 and CRL_MATCH_IPV6 are an Ethertype already";
	else if ((f & CRL_MATCH_VLAN) && m->vlan_id > 4095)
		wrong = "VLAN ids end at 4095";
	if (wrong != NULL)
		return crl_err_set(err, -EINVAL, FLOW_STEP, "see struct crl_match",
			"%s (fields 0x%x)", wrong, f);
	return 0;
}

_Static_assert(RTE_FLOW_ITEM_TYPE_END == 0, "zeros end a pattern");

static void
add_item(struct pattern *p, enum rte_flow_item_type type, const void *spec, const void *mask)
{
	p->items[p->nr++] = (struct rte_flow_item){.type = type, .spec = spec, .mask = mask};
}

static void
add_l2(struct pattern *p, const struct crl_match *m)
{
	const bool eth = m->fields & (CRL_MATCH_DST_MAC | CRL_MATCH_ETHERTYPE);

	if (m->fields & CRL_MATCH_DST_MAC) {
		memcpy(p->eth.hdr.dst_addr.addr_bytes, m->dst_mac, sizeof(m->dst_mac));
		memset(p->eth_mask.hdr.dst_addr.addr_bytes, 0xff, sizeof(m->dst_mac));
	}
	if ((m->fields & CRL_MATCH_ETHERTYPE) && !(m->fields & CRL_MATCH_VLAN)) {
		p->eth.hdr.ether_type = rte_cpu_to_be_16(m->ethertype);
		p->eth_mask.hdr.ether_type = 0xffff;
	}
	add_item(p, RTE_FLOW_ITEM_TYPE_ETH, eth ? &p->eth : NULL, eth ? &p->eth_mask : NULL);
	if (!(m->fields & CRL_MATCH_VLAN))
		return;
	p->vlan.hdr.vlan_tci = rte_cpu_to_be_16(m->vlan_id);
	p->vlan_mask.hdr.vlan_tci = rte_cpu_to_be_16(0xfff);
	if (m->fields & CRL_MATCH_ETHERTYPE) {
		p->vlan.hdr.eth_proto = rte_cpu_to_be_16(m->ethertype);
		p->vlan_mask.hdr.eth_proto = 0xffff;
	}
	add_item(p, RTE_FLOW_ITEM_TYPE_VLAN, &p->vlan, &p->vlan_mask);
}

static void
add_l3(struct pattern *p, const struct crl_match *m)
{
	const bool addr = m->fields & IP_BITS;

	if (m->fields & CRL_MATCH_SRC_IP) {
		memcpy(&p->ip4.hdr.src_addr, m->src_ip, 4);
		memcpy(&p->ip6.hdr.src_addr, m->src_ip, 16);
		p->ip4_mask.hdr.src_addr = UINT32_MAX;
		memset(&p->ip6_mask.hdr.src_addr, 0xff, 16);
	}
	if (m->fields & CRL_MATCH_DST_IP) {
		memcpy(&p->ip4.hdr.dst_addr, m->dst_ip, 4);
		memcpy(&p->ip6.hdr.dst_addr, m->dst_ip, 16);
		p->ip4_mask.hdr.dst_addr = UINT32_MAX;
		memset(&p->ip6_mask.hdr.dst_addr, 0xff, 16);
	}
	if (m->fields & CRL_MATCH_IPV4)
		add_item(p, RTE_FLOW_ITEM_TYPE_IPV4, addr ? &p->ip4 : NULL,
			addr ? &p->ip4_mask : NULL);
	if (m->fields & CRL_MATCH_IPV6)
		add_item(p, RTE_FLOW_ITEM_TYPE_IPV6, addr ? &p->ip6 : NULL,
			addr ? &p->ip6_mask : NULL);
}

static void
add_l4(struct pattern *p, const struct crl_match *m)
{
	const bool port = m->fields & PORT_BITS;

	if (m->fields & CRL_MATCH_SRC_PORT) {
		p->udp.hdr.src_port = p->tcp.hdr.src_port = rte_cpu_to_be_16(m->src_port);
		p->udp_mask.hdr.src_port = p->tcp_mask.hdr.src_port = 0xffff;
	}
	if (m->fields & CRL_MATCH_DST_PORT) {
		p->udp.hdr.dst_port = p->tcp.hdr.dst_port = rte_cpu_to_be_16(m->dst_port);
		p->udp_mask.hdr.dst_port = p->tcp_mask.hdr.dst_port = 0xffff;
	}
	if (m->fields & CRL_MATCH_UDP)
		add_item(p, RTE_FLOW_ITEM_TYPE_UDP, port ? &p->udp : NULL,
			port ? &p->udp_mask : NULL);
	if (m->fields & CRL_MATCH_TCP)
		add_item(p, RTE_FLOW_ITEM_TYPE_TCP, port ? &p->tcp : NULL,
			port ? &p->tcp_mask : NULL);
}

static int
find_slots(struct crl_flow *f, struct crl_queue *const *queues, struct crl_err *err)
{
	for (unsigned i = 0; i < f->nr_queues; i++) {
		int slot = crl_port_slot(f->port, queues[i]);

		if (slot < 0)
			return crl_err_set(err, -EINVAL, FLOW_STEP, "crl_port_attach() it first",
				"queue %u of the list is not attached to this port", i);
		if (!(queues[i]->cfg.flags & CRL_Q_RX))
			return crl_err_set(err, -EINVAL, FLOW_STEP, "create it with CRL_Q_RX",
				"queue %u has no receive side", queues[i]->cfg.index);
		f->slots[i] = (uint16_t)slot;
	}
	return 0;
}

static int
create(struct crl_flow *f, const struct crl_match *m, struct crl_err *err)
{
	struct rte_flow_attr attr = {.ingress = 1, .priority = m->priority};
	struct rte_flow_error why = {0};
	uint16_t ids[CRL_FLOW_QUEUES_MAX];
	struct rte_flow_action_queue one = {.index = crl_port_ext_id(f->slots[0])};
	struct rte_flow_action_rss rss = {
		.func = RTE_ETH_HASH_FUNCTION_TOEPLITZ,
		.types = RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP,
		.queue_num = f->nr_queues,
		.queue = ids,
	};
	struct rte_flow_action actions[] = {
		{.type = RTE_FLOW_ACTION_TYPE_QUEUE, .conf = &one},
		{.type = RTE_FLOW_ACTION_TYPE_END},
	};
	struct pattern *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return crl_fail_errno(err, ENOMEM, FLOW_STEP, "", "no memory");
	for (unsigned i = 0; i < f->nr_queues; i++)
		ids[i] = crl_port_ext_id(f->slots[i]);
	if (f->nr_queues > 1)
		actions[0] =
			(struct rte_flow_action){.type = RTE_FLOW_ACTION_TYPE_RSS, .conf = &rss};
	add_l2(p, m);
	add_l3(p, m);
	add_l4(p, m);
	rte_errno = 0;
	f->rte = rte_flow_create(f->port->id, &attr, p->items, actions, &why);
	free(p);
	if (f->rte == NULL)
		return crl_fail_rte(err, rte_errno, FLOW_STEP,
			"see net_mlx5's own message (--log-level=pmd.net.mlx5:debug)", "%s",
			why.message ? why.message : "net_mlx5 gives no reason");
	return 0;
}

CRL_PUBLIC int
crl_flow_add(struct crl_port *port, const struct crl_match *match, struct crl_queue *const *queues,
	unsigned n, struct crl_flow **flow, struct crl_err *err)
{
	struct crl_flow *f;
	int ret = check_match(match, err);

	if (ret != 0)
		return ret;
	if (n == 0 || n > CRL_FLOW_QUEUES_MAX)
		return crl_err_set(err, -EINVAL, FLOW_STEP,
			"give 1 to 64, or a rule for each queue", "a rule cannot lead to %u queues",
			n);
	f = calloc(1, sizeof(*f));
	if (f == NULL)
		return crl_fail_errno(err, ENOMEM, FLOW_STEP, "", "no memory");
	f->port = port;
	f->nr_queues = n;
	ret = find_slots(f, queues, err);
	if (ret == 0)
		ret = create(f, match, err);
	if (ret != 0) {
		free(f);
		return ret;
	}
	for (unsigned i = 0; i < n; i++)
		port->queues[f->slots[i]].nr_flows++;
	LIST_INSERT_HEAD(&port->flows, f, link);
	*flow = f;
	return 0;
}

CRL_PUBLIC int
crl_flow_del(struct crl_flow *f, struct crl_err *err)
{
	struct rte_flow_error why = {0};

	if (f == NULL)
		return 0;
	if (rte_flow_destroy(f->port->id, f->rte, &why) != 0)
		return crl_fail_rte(err, rte_errno, "delete a flow", "see net_mlx5's own message",
			"%s", why.message ? why.message : "net_mlx5 gives no reason");
	for (unsigned i = 0; i < f->nr_queues; i++)
		f->port->queues[f->slots[i]].nr_flows--;
	LIST_REMOVE(f, link);
	free(f);
	return 0;
}
