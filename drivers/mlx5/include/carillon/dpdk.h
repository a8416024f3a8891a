/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Carillon beside DPDK: EAL start-up, a net_mlx5 port that shares the device with Carillon's
 * queues, steering, gpudev memory, and the control lcore. Library libcarillon_dpdk, over
 * libcarillon.
 *
 * Why EAL start-up is here: net_mlx5 takes queues of ours only on a device that was imported from
 * our own verbs context, so the device must not be probed by rte_eal_init(). crl_eal_init()
 * therefore takes mlx5 devices out of the arguments and crl_port_open() probes them with the user's
 * devargs.
 *
 * Threads and returns: as carillon.h. Call all of it from the main lcore, except
 * crl_lcore_run().
 */
#ifndef CARILLON_DPDK_H
#define CARILLON_DPDK_H

#include "carillon.h"

#ifdef __cplusplus
extern "C" {
#endif

struct crl_eal;
struct crl_port;
struct crl_flow;
struct rte_mempool;

/* ---- EAL ---- */

/*
 * rte_eal_init() with the mlx5 devices of `-a BDF[,devargs]` (also --allow, pci:BDF, short BDF)
 * kept back and opened by Carillon; with no -a at all, every mlx5 device of the machine that no -b
 * names. Returns the number of arguments used, as rte_eal_init() does: argv[that number] is set to
 * argv[0] (it was "--"), and the program's own options follow it.
 *   -ENODEV    -a names an mlx5 device that cannot be opened, or there is no mlx5 device at all
 *   -EINVAL    EAL refused its arguments (it has printed why)
 *   what crl_open() returns
 */
int crl_eal_init(int argc, char **argv, struct crl_eal **eal, struct crl_err *err);
/*
 * Closes the contexts and cleans EAL up. -EBUSY: a port is open or a context has children; -EIO: a
 * context did not close well; eal is still there, call again. After any other answer it is gone.
 */
int crl_eal_cleanup(struct crl_eal *eal, struct crl_err *err);

unsigned crl_eal_nr_devices(const struct crl_eal *eal);
/* Device i in the order of the arguments; NULL: no such. Belongs to eal. */
struct crl_ctx *crl_eal_ctx(const struct crl_eal *eal, unsigned i);

/* ---- Port ---- */

struct crl_port_cfg {
	uint32_t size;		/* sizeof(struct crl_port_cfg) */
	uint16_t nr_cpu_rxq;	/* receive queues of net_mlx5 itself, polled by lcores; may be 0 */
	uint16_t nr_cpu_txq;	/* 0: 1, which net_mlx5 wants */
	uint16_t cpu_depth;	/* descriptors of each; 0: 512 */
	uint16_t mtu;		/* 0: leave it */
	uint8_t isolate;	/* 1: only flows of crl_flow_add() receive; 0: the CPU queues too */
	uint8_t promiscuous;	/* without isolate: CPU queues take every address */
	struct rte_mempool *mp; /* of the CPU queues; NULL: one is made on the NIC's NUMA node */
};

/*
 * Imports device i of eal into net_mlx5 with the user's devargs, configures and starts it.
 *   -EBUSY     that device's port is open already
 *   -ENOTSUP   net_mlx5 was built without external queues or refused the import
 */
int crl_port_open(struct crl_eal *eal, unsigned i, const struct crl_port_cfg *cfg,
	struct crl_port **port, struct crl_err *err);
/* -EBUSY: flows live or queues are attached; err names one. */
int crl_port_close(struct crl_port *port, struct crl_err *err);

uint16_t crl_port_id(const struct crl_port *port); /* for every rte_eth_ function */
struct crl_ctx *crl_port_ctx(const struct crl_port *port);

/* Makes queue a possible target of flows (it gets an external queue id), and takes that back. */
int crl_port_attach(struct crl_port *port, struct crl_queue *queue, struct crl_err *err);
/* -EBUSY: a flow still leads to it. */
int crl_port_detach(struct crl_port *port, struct crl_queue *queue, struct crl_err *err);

/* ---- Steering ---- */

#define CRL_MATCH_ETHERTYPE (1u << 0)
#define CRL_MATCH_DST_MAC   (1u << 1)
#define CRL_MATCH_IPV4	    (1u << 2) /* any IPv4 */
#define CRL_MATCH_IPV6	    (1u << 3) /* any IPv6 */
#define CRL_MATCH_SRC_IP    (1u << 4)
#define CRL_MATCH_DST_IP    (1u << 5)
#define CRL_MATCH_UDP	    (1u << 6) /* any UDP, with IPV4 or IPV6 */
#define CRL_MATCH_TCP	    (1u << 7)
#define CRL_MATCH_SRC_PORT  (1u << 8)
#define CRL_MATCH_DST_PORT  (1u << 9)
#define CRL_MATCH_VLAN	    (1u << 10)

/* Numbers in host order, addresses in wire order; a field counts if its bit is set in fields. */
struct crl_match {
	uint32_t size;	   /* sizeof(struct crl_match) */
	uint32_t fields;   /* CRL_MATCH_*; 0: every packet */
	uint32_t priority; /* 0 is looked at first */
	uint16_t ethertype, vlan_id, src_port, dst_port;
	uint8_t dst_mac[6];
	uint8_t src_ip[16], dst_ip[16]; /* IPv4 in the first four bytes */
};

/*
 * Packets that match go to queues[0], or with n > 1 are spread by Toeplitz RSS over addresses and
 * ports. The queues must be attached and have a receive side; n 1 to 64.
 *   -EINVAL    fields that contradict each other, a queue that is not attached
 *   what rte_flow_create() refuses, with its message in err->cause
 */
int crl_flow_add(struct crl_port *port, const struct crl_match *match,
	struct crl_queue *const *queues, unsigned n, struct crl_flow **flow, struct crl_err *err);
int crl_flow_del(struct crl_flow *flow, struct crl_err *err);

/* ---- gpudev memory ---- */

/*
 * Fills mem with DPDK's gpudev dev_id: place GPU. name and arg point into storage of the library,
 * valid until crl_eal_cleanup(). -ENODEV: no such gpudev; err lists those there are.
 */
int crl_mem_gpudev(struct crl_eal *eal, int16_t dev_id, struct crl_mem *mem, struct crl_err *err);

/*
 * Host memory that gpudev dev_id reaches: place host, registered with the GPU, at one address for
 * both processors. For rings and buffers that a kernel runs and the NIC's side keeps in host
 * memory. Returns as crl_mem_gpudev().
 */
int crl_mem_gpudev_host(
	struct crl_eal *eal, int16_t dev_id, struct crl_mem *mem, struct crl_err *err);

/* ---- Control lcore ---- */

struct crl_lcore {
	uint32_t size;	      /* sizeof(struct crl_lcore) */
	uint32_t interval_us; /* between two looks; 0: 1000 */
	struct crl_ctx *const *ctxs;
	unsigned nr_ctxs;
	/* Called in the control lcore for each event; NULL: events are taken and counted only. */
	void (*event)(void *arg, struct crl_ctx *ctx, const struct crl_event *ev);
	void *arg;
	uint32_t stop;	   /* caller stores 1 to end it */
	uint64_t nr_loops; /* counters it writes */
	uint64_t nr_events;
};

/*
 * The control loop, in the shape of rte_eal_remote_launch(): takes the events of all contexts until
 * lcore->stop. While it runs the contexts are its own, except for the any-thread functions.
 * Returns 0, or -EIO when a device went away.
 */
int crl_lcore_run(void *lcore);
/* One look, for programs with a loop of their own. Returns the number of events, or -errno. */
int crl_lcore_once(struct crl_lcore *lcore);

#ifdef __cplusplus
}
#endif

#endif /* CARILLON_DPDK_H */
