// SPDX-License-Identifier: BSD-3-Clause
/*
 * Devices, ports, queues and steering: from the options to queues that an engine can run, and back.
 * Main lcore; each step's error comes from the library that failed, in its words.
 */
#include "app.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_ethdev.h>
#include <rte_gpudev.h>

#include "drivers/gpu/crl_gpu.h"

static int
fail(struct crl_err *err, int code, const char *step, const char *fix, const char *cause,
	const char *what)
{
	return crl_err_set(err, code, step, fix, "%s%s", cause, what);
}

static int16_t
gpudev_by_name(const char *name)
{
	struct rte_gpu_info info;
	int16_t id;

	RTE_GPU_FOREACH(id)
	if (rte_gpu_info_get(id, &info) == 0 && strcmp(info.name, name) == 0)
		return id;
	return -1;
}

/* One that was given and is not there was refused: without its arguments it would be another. */
static bool
vdev_was_given(const char *name)
{
	struct rte_devargs *da;

	RTE_EAL_DEVARGS_FOREACH("vdev", da)
	if (strcmp(da->name, name) == 0)
		return true;
	return false;
}

/* --gpu and --rings: which memory queues are made of, and who runs them. */
int
crl_tp_memory(struct crl_tp_app *app, struct crl_err *err)
{
	const char *name = app->opt.gpu;
	struct crl_gpu_info info;
	struct crl_gpu *gpu;
	int16_t id;
	int ret;

	app->cuda_device = -1;
	if (name[0] == '\0' || strcmp(name, "host") == 0) {
		app->opt.rings = CRL_TP_RINGS_HOST;
		return 0;
	}
	id = gpudev_by_name(name);
	if (id < 0 && !vdev_was_given(name) && rte_eal_hotplug_add("vdev", name, "") == 0)
		id = gpudev_by_name(name);
	gpu = id >= 0 ? crl_gpu_find(name) : NULL;
	if (gpu == NULL)
		return fail(err, -ENODEV, "--gpu",
			"give gpu_crl_cuda0, gpu_crl_cuda1, ... or gpu_crl_host0, and see what its "
			"driver said above",
			"there is no gpudev of Carillon's that is called ", name);
	crl_gpu_info_get(gpu, &info);
	crl_gpu_close(gpu, NULL); /* the vdev keeps it open */
	/*
	 * One place for all: rings here and buffers there would let a CQE overtake its payload, as
	 * no write order holds across two memories.
	 */
	if (app->opt.rings == CRL_TP_RINGS_GPU)
		ret = crl_mem_gpudev(app->eal, id, &app->gpu_mem, err);
	else
		ret = crl_mem_gpudev_host(app->eal, id, &app->gpu_mem, err);
	if (ret != 0)
		return ret;
	app->mem = &app->gpu_mem;
	if (info.kind == CRL_GPU_CUDA)
		app->cuda_device = info.device;
	snprintf(app->gpu_model, sizeof(app->gpu_model), "%s", info.model);
	return 0;
}

/* Frames that the engine makes itself, or the first burst of --tx-first; written by one queue only.
 */
static int
tx_region(
	struct crl_tp_app *app, struct crl_tp_port *p, struct crl_tp_queue *q, struct crl_err *err)
{
	struct crl_region_cfg cfg = {
		.size = sizeof(cfg), .flags = CRL_REGION_ALLOC, .mem = app->mem};
	size_t frame = 0, frames = app->opt.engine->own_frames;

	if (app->opt.tx_first)
		frames = CRL_BURST_MAX;
	if (frames == 0)
		return 0;
	for (uint32_t i = 0; i < app->opt.engine_opts.txpkts_nr; i++)
		frame += app->opt.engine_opts.txpkts[i];
	/* Frames begin on cache lines; pages are what memory is given in. */
	cfg.bytes = ((frame + 63) / 64 * 64 * frames + 65535) / 65536 * 65536;
	return crl_region_reg(p->ctx, &cfg, &q->tx_region, err);
}

/* A frame of our own that no port of this MTU sends would be lost without a word from the NIC. */
static int
check_frame(const struct crl_tp_options *o, const struct crl_tp_queue *q, struct crl_err *err)
{
	const uint32_t head = RTE_ETHER_HDR_LEN;
	uint32_t frame = 0;

	for (uint32_t i = 0; i < o->engine_opts.txpkts_nr; i++)
		frame += o->engine_opts.txpkts[i];
	if ((o->engine->own_frames == 0 && !o->tx_first) || frame <= q->dev.mtu)
		return 0;
	return crl_err_set(err, -EMSGSIZE, "--txpkts",
		"give --mtu=N with room for it, or a smaller --txpkts",
		"frames of %u bytes need an MTU of %u, and the port's is %u", frame, frame - head,
		q->dev.mtu - head);
}

/* Any frame that the port lets in, with a VLAN tag: a longer one stops its queue. */
static uint32_t
buffer_bytes(const struct crl_tp_options *o, const struct crl_tp_port *p)
{
	const uint32_t least = 2112; /* as the library: no power of two */
	uint32_t frame;
	uint16_t mtu;

	if (o->mbuf_bytes != 0 || rte_eth_dev_get_mtu(p->id, &mtu) != 0)
		return o->mbuf_bytes;
	frame = mtu + RTE_ETHER_HDR_LEN + RTE_VLAN_HLEN;
	return frame > least ? (frame + 63) / 64 * 64 : least;
}

static int
queue_open(struct crl_tp_app *app, struct crl_tp_port *p, uint32_t i, struct crl_err *err)
{
	const struct crl_tp_options *o = &app->opt;
	struct crl_tp_queue *q = &p->queues[i];
	struct crl_queue_cfg cfg = {
		.size = sizeof(cfg),
		.flags = o->engine->needs,
		.index = i,
		.tx_depth = o->txd,
		.rx_depth = o->rxd,
		.rx_buf_bytes = buffer_bytes(o, p),
		.tx_inline_max = o->tx_inline,
		.rings = app->mem,
	};
	int ret;

	q->lcore = -1;
	ret = tx_region(app, p, q, err);
	if (ret != 0)
		return ret;
	cfg.tx_region = q->tx_region;
	ret = crl_queue_create(p->ctx, &cfg, &q->queue, err);
	if (ret != 0)
		goto dereg;
	/* Attached first: that is where a queue learns the port's address and MTU, which it
	 * exports. */
	ret = crl_port_attach(p->port, q->queue, err);
	if (ret != 0)
		goto destroy;
	ret = crl_queue_export(q->queue, &q->dev, err);
	if (ret == 0)
		ret = check_frame(o, q, err);
	if (ret != 0)
		goto detach;
	q->watch.ctl = crl_queue_ctl(q->queue);
	p->nr_queues++;
	return 0;

detach:
	crl_port_detach(p->port, q->queue, NULL);
destroy:
	crl_queue_destroy(q->queue, NULL);
	q->queue = NULL;
dereg:
	if (q->tx_region != NULL)
		crl_region_dereg(q->tx_region, NULL);
	q->tx_region = NULL;
	return ret;
}

/* stamp, --queue-flows: what a queue sends comes back to it, by its UDP port. */
static int
steer_back(struct crl_tp_app *app, struct crl_tp_port *p, struct crl_err *err)
{
	struct crl_match match = {.size = sizeof(match),
		.fields = CRL_MATCH_IPV4 | CRL_MATCH_UDP | CRL_MATCH_DST_PORT};
	int ret = 0;

	for (uint32_t i = 0; i < p->nr_queues && ret == 0; i++) {
		match.dst_port = (uint16_t)(app->opt.engine_opts.dst_port + i);
		ret = crl_flow_add(
			p->port, &match, &p->queues[i].queue, 1, &p->flows[p->nr_flows], err);
		p->nr_flows += ret == 0;
	}
	return ret;
}

/* All packets to our queues; beside CPU queues only IPv4 UDP, so that each side has something. */
static int
steer(struct crl_tp_app *app, struct crl_tp_port *p, struct crl_err *err)
{
	struct crl_match match = {.size = sizeof(match)};
	struct crl_queue *queues[CRL_FLOW_QUEUES_MAX];
	int ret;

	if (!(app->opt.engine->needs & CRL_Q_RX))
		return 0;
	if (strcmp(app->opt.engine->name, "stamp") == 0 || app->opt.engine_opts.own_flow != 0)
		return steer_back(app, p, err);
	if (app->opt.cpu_queues != 0)
		match.fields = CRL_MATCH_IPV4 | CRL_MATCH_UDP;
	for (uint32_t i = 0; i < p->nr_queues; i++)
		queues[i] = p->queues[i].queue;
	ret = crl_flow_add(p->port, &match, queues, p->nr_queues, &p->flows[0], err);
	p->nr_flows = ret == 0;
	return ret;
}

static void
keep_first(int *ret, struct crl_err *err, int this_ret, const struct crl_err *this_err)
{
	if (*ret == 0 && this_ret != 0) {
		*ret = this_ret;
		if (err != NULL)
			*err = *this_err;
	}
}

static int
port_close(struct crl_tp_port *p, struct crl_err *err)
{
	struct crl_err e = {0};
	int ret = 0;

	while (p->nr_flows > 0)
		keep_first(&ret, err, crl_flow_del(p->flows[--p->nr_flows], &e), &e);
	for (uint32_t i = p->nr_queues; i-- > 0;) {
		keep_first(&ret, err, crl_port_detach(p->port, p->queues[i].queue, &e), &e);
		keep_first(&ret, err, crl_queue_destroy(p->queues[i].queue, &e), &e);
		if (p->queues[i].tx_region != NULL)
			keep_first(&ret, err, crl_region_dereg(p->queues[i].tx_region, &e), &e);
	}
	free(p->queues);
	if (p->port != NULL)
		keep_first(&ret, err, crl_port_close(p->port, &e), &e);
	memset(p, 0, sizeof(*p));
	return ret;
}

static int
port_open(struct crl_tp_app *app, unsigned device, struct crl_tp_port *p, struct crl_err *err)
{
	uint32_t nr = app->opt.engine->needs & CRL_Q_RX ? app->opt.rxq : app->opt.txq;
	struct crl_port_cfg cfg = {
		.size = sizeof(cfg),
		.mtu = (uint16_t)app->opt.mtu,
		.nr_cpu_rxq = (uint16_t)app->opt.cpu_queues,
		.nr_cpu_txq = (uint16_t)app->opt.cpu_queues,
		.isolate = app->opt.cpu_queues == 0 || app->opt.flow_isolate,
		.promiscuous = app->opt.cpu_queues != 0,
	};
	struct crl_info info = {.size = sizeof(info)};
	int ret;

	p->device = device;
	p->ctx = crl_eal_ctx(app->eal, device);
	p->queues = calloc(nr, sizeof(*p->queues));
	if (p->queues == NULL)
		return fail(err, -ENOMEM, "open a port", "free some memory",
			"no memory for its queues", "");
	if (crl_info(p->ctx, &info) == 0)
		p->numa_node = info.numa_node;
	ret = crl_port_open(app->eal, device, &cfg, &p->port, err);
	if (ret != 0)
		goto close_port;
	p->id = crl_port_id(p->port);
	for (uint32_t i = 0; ret == 0 && i < nr; i++)
		ret = queue_open(app, p, i, err);
	if (ret == 0)
		ret = steer(app, p, err);
	if (ret == 0)
		return 0;

close_port:
	port_close(p, NULL);
	return ret;
}

static void
print_port(const struct crl_tp_port *p)
{
	struct rte_ether_addr mac = {0};

	rte_eth_macaddr_get(p->id, &mac);
	printf("Configuring Port %u (socket %d)\n", p->id, p->numa_node);
	printf("Port %u: " RTE_ETHER_ADDR_PRT_FMT "\n", p->id, RTE_ETHER_ADDR_BYTES(&mac));
}

int
crl_tp_ports_open(struct crl_tp_app *app, struct crl_err *err)
{
	unsigned nr = crl_eal_nr_devices(app->eal);
	int ret;

	for (unsigned i = 0; i < nr && i < 64; i++) {
		if (!(app->opt.portmask >> i & 1))
			continue;
		if (app->nr_ports == CRL_TP_PORTS_MAX) {
			ret = fail(err, -E2BIG, "open ports", "choose some with -a or --portmask",
				"there are more devices than this program takes", "");
			goto close_ports;
		}
		ret = port_open(app, i, &app->ports[app->nr_ports], err);
		if (ret != 0)
			goto close_ports;
		print_port(&app->ports[app->nr_ports++]);
	}
	if (app->nr_ports > 0)
		return 0;
	return fail(err, -ENODEV, "open ports",
		"give a --portmask with a bit of a device that there is",
		"--portmask chooses no device", "");

close_ports:
	crl_tp_ports_close(app, NULL);
	return ret;
}

int
crl_tp_ports_close(struct crl_tp_app *app, struct crl_err *err)
{
	struct crl_err e = {0};
	int ret = 0;

	while (app->nr_ports > 0)
		keep_first(&ret, err, port_close(&app->ports[--app->nr_ports], &e), &e);
	return ret;
}
