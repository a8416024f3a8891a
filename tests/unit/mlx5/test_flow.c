/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * flow.c against a rte_flow of this file's own, to which the linker sends its calls: the pattern
 * and the action that each crl_match and list of queues become, byte by byte.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <rte_errno.h>
#include <rte_ethdev.h>

#include "drivers/mlx5/dpdk_internal.h"
#include "heap.h"

#define QUEUES 4u

static struct crl_port port;
static struct crl_queue queue[QUEUES];
static struct crl_queue *const all[] = {&queue[0], &queue[1], &queue[2]};
static struct crl_err err;

/* What was asked for at last. */
static struct {
	struct rte_flow_attr attr;
	struct {
		enum rte_flow_item_type type;
		bool any;
		uint8_t spec[64], mask[64];
	} item[6];
	unsigned nr;
	enum rte_flow_action_type action;
	uint16_t ids[CRL_FLOW_QUEUES_MAX];
	unsigned nr_ids;
	struct rte_flow_action_rss rss;
	unsigned made, gone;
} asked;
static bool refuse, mute; /* mute: and says neither why nor an errno */

static size_t
item_bytes(enum rte_flow_item_type type)
{
	switch (type) {
	case RTE_FLOW_ITEM_TYPE_ETH:
		return sizeof(struct rte_flow_item_eth);
	case RTE_FLOW_ITEM_TYPE_VLAN:
		return sizeof(struct rte_flow_item_vlan);
	case RTE_FLOW_ITEM_TYPE_IPV4:
		return sizeof(struct rte_flow_item_ipv4);
	case RTE_FLOW_ITEM_TYPE_IPV6:
		return sizeof(struct rte_flow_item_ipv6);
	case RTE_FLOW_ITEM_TYPE_UDP:
		return sizeof(struct rte_flow_item_udp);
	default:
		assert_int_equal(type, RTE_FLOW_ITEM_TYPE_TCP);
		return sizeof(struct rte_flow_item_tcp);
	}
}

static void
note_action(const struct rte_flow_action *a)
{
	assert_int_equal(a[1].type, RTE_FLOW_ACTION_TYPE_END);
	asked.action = a->type;
	if (a->type == RTE_FLOW_ACTION_TYPE_QUEUE) {
		asked.ids[0] = ((const struct rte_flow_action_queue *)a->conf)->index;
		asked.nr_ids = 1;
		return;
	}
	assert_int_equal(a->type, RTE_FLOW_ACTION_TYPE_RSS);
	asked.rss = *(const struct rte_flow_action_rss *)a->conf;
	asked.nr_ids = asked.rss.queue_num;
	memcpy(asked.ids, asked.rss.queue, asked.nr_ids * sizeof(asked.ids[0]));
}

struct rte_flow *__wrap_rte_flow_create(uint16_t id, const struct rte_flow_attr *attr,
	const struct rte_flow_item *item, const struct rte_flow_action *action,
	struct rte_flow_error *why);
struct rte_flow *
__wrap_rte_flow_create(uint16_t id, const struct rte_flow_attr *attr,
	const struct rte_flow_item *item, const struct rte_flow_action *action,
	struct rte_flow_error *why)
{
	assert_int_equal(id, 7);
	if (refuse) {
		why->message = mute ? NULL : "not today";
		rte_errno = mute ? rte_errno : ENOTSUP;
		return NULL;
	}
	asked.attr = *attr;
	for (asked.nr = 0; item[asked.nr].type != RTE_FLOW_ITEM_TYPE_END; asked.nr++) {
		const struct rte_flow_item *i = &item[asked.nr];
		size_t n = item_bytes(i->type);

		assert_true(asked.nr < 6 && n <= sizeof(asked.item[0].spec) && i->last == NULL);
		memset(&asked.item[asked.nr], 0, sizeof(asked.item[0]));
		asked.item[asked.nr].type = i->type;
		asked.item[asked.nr].any = i->spec == NULL;
		assert_int_equal(i->spec == NULL, i->mask == NULL);
		if (i->spec != NULL) {
			memcpy(asked.item[asked.nr].spec, i->spec, n);
			memcpy(asked.item[asked.nr].mask, i->mask, n);
		}
	}
	note_action(action);
	asked.made++;
	return (struct rte_flow *)&asked;
}

int __wrap_rte_flow_destroy(uint16_t id, struct rte_flow *flow, struct rte_flow_error *why);
int
__wrap_rte_flow_destroy(uint16_t id, struct rte_flow *flow, struct rte_flow_error *why)
{
	assert_int_equal(id, 7);
	assert_ptr_equal(flow, &asked);
	if (refuse) {
		why->message = "it stays";
		rte_errno = EBUSY;
		return -EBUSY;
	}
	asked.gone++;
	return 0;
}

static int
open_port(void **state)
{
	memset(&port, 0, sizeof(port));
	memset(&asked, 0, sizeof(asked));
	memset(queue, 0, sizeof(queue));
	port.id = 7;
	LIST_INIT(&port.flows);
	for (unsigned i = 0; i < QUEUES; i++) {
		queue[i].cfg.flags = CRL_Q_RX;
		queue[i].cfg.index = 10 + i;
		if (i < 3)
			port.queues[2 * i + 1].queue = &queue[i];
	}
	refuse = mute = false;
	return 0;
}

static int
no_leaks(void **state)
{
	assert_int_equal(heap_live, 0);
	return 0;
}

/* Adds a flow to queue 0, and takes it away again; what was asked for stays. */
static void
ask(struct crl_match m)
{
	struct crl_flow *f;

	m.size = sizeof(m);
	assert_int_equal(crl_flow_add(&port, &m, all, 1, &f, &err), 0);
	assert_int_equal(crl_flow_del(f, &err), 0);
}

static void
assert_item(unsigned i, enum rte_flow_item_type type)
{
	assert_true(i < asked.nr);
	assert_int_equal(asked.item[i].type, type);
}

/* n bytes at offset at of both spec and mask, and none else in the mask. */
static void
assert_only(unsigned i, size_t at, const void *value, size_t n)
{
	uint8_t mask[64] = {0};

	assert_false(asked.item[i].any);
	memset(mask + at, 0xff, n);
	assert_memory_equal(asked.item[i].mask, mask, sizeof(mask));
	assert_memory_equal(asked.item[i].spec + at, value, n);
}

static void
layer2(void **state)
{
	static const uint8_t mac[] = {2, 3, 4, 5, 6, 7};

	ask((struct crl_match){.priority = 3});
	assert_int_equal(asked.attr.priority, 3);
	assert_true(asked.attr.ingress && !asked.attr.egress);
	assert_int_equal(asked.nr, 1);
	assert_item(0, RTE_FLOW_ITEM_TYPE_ETH);
	assert_true(asked.item[0].any);
	ask((struct crl_match){.fields = CRL_MATCH_DST_MAC, .dst_mac = {2, 3, 4, 5, 6, 7}});
	assert_only(0, 0, mac, 6);
	ask((struct crl_match){.fields = CRL_MATCH_ETHERTYPE, .ethertype = 0x88b5});
	assert_only(0, 12, "\x88\xb5", 2);
	ask((struct crl_match){.fields = CRL_MATCH_VLAN | CRL_MATCH_ETHERTYPE,
		.vlan_id = 0x123,
		.ethertype = 0x88b5});
	assert_int_equal(asked.nr, 2);
	assert_item(1, RTE_FLOW_ITEM_TYPE_VLAN);
	assert_memory_equal(asked.item[1].spec, "\x01\x23\x88\xb5", 4);
	assert_memory_equal(asked.item[1].mask, "\x0f\xff\xff\xff", 4);
	for (unsigned i = 0; i < 14; i++)
		assert_int_equal(asked.item[0].mask[i], 0);
	ask((struct crl_match){.fields = CRL_MATCH_VLAN, .vlan_id = 4095});
	assert_memory_equal(asked.item[1].spec, "\x0f\xff\0\0", 4);
	assert_memory_equal(asked.item[1].mask, "\x0f\xff\0\0", 4);
}

static void
layer3(void **state)
{
	struct crl_match m = {.fields = CRL_MATCH_IPV4};
	unsigned i;

	ask(m);
	assert_int_equal(asked.nr, 2);
	assert_item(1, RTE_FLOW_ITEM_TYPE_IPV4);
	assert_true(asked.item[1].any);
	for (i = 0; i < 16; i++) {
		m.src_ip[i] = (uint8_t)(0x10 + i);
		m.dst_ip[i] = (uint8_t)(0x40 + i);
	}
	m.fields = CRL_MATCH_IPV4 | CRL_MATCH_SRC_IP;
	ask(m);
	assert_only(1, 12, m.src_ip, 4);
	m.fields = CRL_MATCH_IPV4 | CRL_MATCH_DST_IP;
	ask(m);
	assert_only(1, 16, m.dst_ip, 4);
	m.fields = CRL_MATCH_IPV6;
	ask(m);
	assert_int_equal(asked.nr, 2);
	assert_item(1, RTE_FLOW_ITEM_TYPE_IPV6);
	assert_true(asked.item[1].any);
	m.fields = CRL_MATCH_IPV6 | CRL_MATCH_SRC_IP;
	ask(m);
	assert_only(1, 8, m.src_ip, 16);
	m.fields = CRL_MATCH_IPV6 | CRL_MATCH_DST_IP;
	ask(m);
	assert_only(1, 24, m.dst_ip, 16);
}

static void
layer4(void **state)
{
	static const struct {
		uint32_t bit;
		enum rte_flow_item_type type;
	} proto[] = {
		{CRL_MATCH_UDP, RTE_FLOW_ITEM_TYPE_UDP}, {CRL_MATCH_TCP, RTE_FLOW_ITEM_TYPE_TCP}};

	for (unsigned i = 0; i < 2; i++) {
		struct crl_match m = {.fields = CRL_MATCH_IPV4 | proto[i].bit,
			.src_port = 0x1234,
			.dst_port = 0x5678};

		ask(m);
		assert_int_equal(asked.nr, 3);
		assert_item(2, proto[i].type);
		assert_true(asked.item[2].any);
		m.fields |= CRL_MATCH_SRC_PORT;
		ask(m);
		assert_only(2, 0, "\x12\x34", 2);
		m.fields ^= CRL_MATCH_SRC_PORT | CRL_MATCH_DST_PORT;
		ask(m);
		assert_only(2, 2, "\x56\x78", 2);
	}
}

static void
queues(void **state)
{
	struct crl_match m = {.size = sizeof(m)};
	struct crl_flow *f;

	ask(m);
	assert_int_equal(asked.action, RTE_FLOW_ACTION_TYPE_QUEUE);
	assert_int_equal(asked.ids[0], crl_port_ext_id(1));
	assert_int_equal(crl_flow_add(&port, &m, all, 3, &f, &err), 0);
	assert_int_equal(asked.action, RTE_FLOW_ACTION_TYPE_RSS);
	assert_int_equal(asked.nr_ids, 3);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(asked.ids[i], crl_port_ext_id(2 * i + 1));
		assert_int_equal(port.queues[2 * i + 1].nr_flows, 1);
	}
	assert_int_equal(asked.rss.types, RTE_ETH_RSS_IP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_TCP);
	assert_int_equal(asked.rss.func, RTE_ETH_HASH_FUNCTION_TOEPLITZ);
	assert_ptr_equal(LIST_FIRST(&port.flows), f);
	refuse = true;
	assert_int_equal(crl_flow_del(f, &err), -EBUSY);
	assert_non_null(strstr(err.cause, "it stays"));
	assert_int_equal(port.queues[1].nr_flows, 1);
	refuse = false;
	assert_int_equal(crl_flow_del(f, &err), 0);
	assert_true(LIST_EMPTY(&port.flows));
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(port.queues[2 * i + 1].nr_flows, 0);
	assert_int_equal(asked.made, asked.gone);
	assert_int_equal(crl_flow_del(NULL, &err), 0);
}

static void
refuse_match(struct crl_match m, unsigned n, struct crl_queue *const *q, const char *words)
{
	struct crl_flow *f = NULL;

	m.size = sizeof(m);
	assert_int_equal(crl_flow_add(&port, &m, q, n, &f, &err), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	if (strstr(err.cause, words) == NULL)
		fail_msg("\"%s\" is not in \"%s\"", words, err.cause);
	assert_null(f);
	assert_int_equal(asked.made, 0);
}

static void
refusals(void **state)
{
	static struct crl_queue *many[CRL_FLOW_QUEUES_MAX + 1], *lonely[] = {&queue[3]};
	struct crl_match m = {.size = sizeof(m)};
	struct crl_flow *f = NULL;

	for (unsigned i = 0; i <= CRL_FLOW_QUEUES_MAX; i++)
		many[i] = &queue[0];
	refuse_match(m, 0, all, "0 queues");
	refuse_match(m, CRL_FLOW_QUEUES_MAX + 1, many, "65 queues");
	refuse_match(m, 1, lonely, "queue 0 of the list is not attached");
	queue[1].cfg.flags = CRL_Q_TX;
	refuse_match(m, 2, all, "queue 11 has no receive side");
	m.fields = CRL_MATCH_IPV4 | CRL_MATCH_ETHERTYPE;
	refuse_match(m, 1, all, "an Ethertype already");
	m.fields = CRL_MATCH_IPV6 | CRL_MATCH_ETHERTYPE;
	refuse_match(m, 1, all, "an Ethertype already");
	m.fields = CRL_MATCH_TCP;
	refuse_match(m, 1, all, "UDP and TCP need");
	m.fields = CRL_MATCH_SRC_IP;
	refuse_match(m, 1, all, "addresses need");
	m.fields = CRL_MATCH_IPV6 | CRL_MATCH_SRC_PORT;
	refuse_match(m, 1, all, "ports need");
	m.fields = CRL_MATCH_VLAN;
	m.vlan_id = 4096;
	refuse_match(m, 1, all, "end at 4095");
	m.fields = CRL_MATCH_VLAN << 1;
	refuse_match(m, 1, all, "does not know");
	m.fields = 0;
	assert_int_equal(crl_flow_add(&port, &m, many, CRL_FLOW_QUEUES_MAX, &f, &err), 0);
	assert_int_equal(asked.nr_ids, CRL_FLOW_QUEUES_MAX);
	assert_int_equal(crl_flow_del(f, &err), 0);
	refuse = true;
	assert_int_equal(crl_flow_add(&port, &m, all, 1, &f, &err), -ENOTSUP);
	assert_non_null(strstr(err.cause, "not today"));
	assert_int_equal(port.queues[1].nr_flows, 0);
	mute = true;
	rte_errno = EPERM; /* of an older failure */
	assert_int_equal(crl_flow_add(&port, &m, all, 1, &f, &err), -EIO);
	assert_non_null(strstr(err.cause, "gives no reason"));
}

/* A match that is none, a queue of the first slot, and no memory for each of the two blocks. */
static void
edges(void **state)
{
	struct crl_match m = {.size = sizeof(m)};
	struct crl_flow *f = NULL;

	assert_int_equal(crl_flow_add(&port, NULL, all, 1, &f, &err), -EINVAL);
	m.size--;
	assert_int_equal(crl_flow_add(&port, &m, all, 1, &f, &err), -EINVAL);
	assert_int_equal(asked.made, 0);
	m.size++;
	for (unsigned n = 1; n <= 2; n++) {
		heap_fail_at = n;
		assert_int_equal(crl_flow_add(&port, &m, all, 1, &f, &err), -ENOMEM);
		assert_int_equal(heap_live, 0);
		assert_null(f);
	}
	port.queues[0].queue = &queue[3];
	assert_int_equal(
		crl_flow_add(&port, &m, (struct crl_queue *[]){&queue[3]}, 1, &f, &err), 0);
	assert_int_equal(asked.ids[0], crl_port_ext_id(0));
	assert_int_equal(crl_flow_del(f, &err), 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(layer2, open_port, no_leaks),
		cmocka_unit_test_setup_teardown(layer3, open_port, no_leaks),
		cmocka_unit_test_setup_teardown(layer4, open_port, no_leaks),
		cmocka_unit_test_setup_teardown(queues, open_port, no_leaks),
		cmocka_unit_test_setup_teardown(refusals, open_port, no_leaks),
		cmocka_unit_test_setup_teardown(edges, open_port, no_leaks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
