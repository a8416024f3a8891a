// SPDX-License-Identifier: BSD-3-Clause
/*
 * Parses what stands after "--". Every word is checked when it is read, and the combination at the
 * end, so that nothing has been set up when the user learns of a mistake. Host, main lcore.
 */
#include "option_values.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

const char crl_tp_usage[] =
	"carillon-testpmd [EAL options] -- [options]\n"
	"testpmd's own:\n"
	"  --forward-mode=M     5tswap, flowgen, icmpecho, io (default), macswap, pingpong, "
	"rxonly,\n"
	"                       stamp, txonly\n"
	"  --rxq=N --txq=N      queues a port (default 1)\n"
	"  --rxd=N --txd=N      entries of a queue, a power of two up to 32768 (default 1024)\n"
	"  --burst=N            packets an iteration, 1 to 64 (default 32)\n"
	"  --txpkts=X[,Y...]    bytes of each segment of a frame of our own (default 64); flowgen\n"
	"                       and pingpong take one, and flowgen counts the FCS in\n"
	"  --flowgen-flows=N    flowgen: flows it goes through (default 1024)\n"
	"  --tx-ip=SRC,DST --tx-udp=SRC[,DST] --eth-peer=0,MAC   txonly, pingpong: what is "
	"sent, and to whom\n"
	"  --mbuf-size=N        bytes of a receive buffer, a multiple of 64 (default 2112,\n"
	"                       or more by the port's MTU); a longer frame stops its queue\n"
	"  --nb-cores=N         worker lcores that run engines (default 1)\n"
	"  --portmask=HEX       which devices (default all)\n"
	"  --mtu=N              the ports' MTU (default: as they are); frames may have 14 bytes "
	"more\n"
	"  --stats-period=S     print port statistics every S seconds\n"
	"  --auto-start, -a     start without a prompt's start (what happens anyway without -i)\n"
	"  --tx-first           send a burst before forwarding, at the first start\n"
	"  --flow-isolate-all   CPU queues receive nothing\n"
	"  -i, --interactive    read commands from standard input; help lists them. Without, a\n"
	"                       signal (Ctrl-C) or --duration ends it; Enter does not\n"
	"Carillon's:\n"
	"  --gpu=NAME           gpudev that holds rings and buffers, e.g. gpu_crl_cuda0; or host\n"
	"  --rings=gpu|host     where rings are (default gpu with --gpu, else host)\n"
	"  --tx-inline=N        frames of up to N bytes travel in the send ring (default 0)\n"
	"  --in-flight=N        stamp: frames that go round on each queue (default 64)\n"
	"  --queue-flows        io, macswap, rxonly, txonly: UDP port dst + i is queue i's flow, a "
	"rule each\n"
	"  --engines=N          so many engines, on a GPU kernels, share the queues (default 1)\n"
	"  --cpu-queues=N       queues of net_mlx5 beside ours; ours then take IPv4 UDP only\n"
	"  --duration=S         end after S seconds (fractions allowed)\n"
	"  --json=FILE          write a report at the end\n"
	"  --help, -h\n";

enum {
	OPT_MODE = 256,
	OPT_RXQ,
	OPT_TXQ,
	OPT_RXD,
	OPT_TXD,
	OPT_BURST,
	OPT_TXPKTS,
	OPT_FLOWS,
	OPT_TX_IP,
	OPT_TX_UDP,
	OPT_ETH_PEER,
	OPT_MBUF,
	OPT_CORES,
	OPT_PORTMASK,
	OPT_PERIOD,
	OPT_TX_FIRST,
	OPT_ISOLATE,
	OPT_GPU,
	OPT_RINGS,
	OPT_TX_INLINE,
	OPT_IN_FLIGHT,
	OPT_CPU_QUEUES,
	OPT_DURATION,
	OPT_JSON,
	OPT_TOPOLOGY,
	OPT_MTU,
	OPT_QUEUE_FLOWS,
	OPT_ENGINES,
};

static const struct option words[] = {
	{"forward-mode", required_argument, NULL, OPT_MODE},
	{"rxq", required_argument, NULL, OPT_RXQ},
	{"txq", required_argument, NULL, OPT_TXQ},
	{"rxd", required_argument, NULL, OPT_RXD},
	{"txd", required_argument, NULL, OPT_TXD},
	{"burst", required_argument, NULL, OPT_BURST},
	{"txpkts", required_argument, NULL, OPT_TXPKTS},
	{"flowgen-flows", required_argument, NULL, OPT_FLOWS},
	{"tx-ip", required_argument, NULL, OPT_TX_IP},
	{"tx-udp", required_argument, NULL, OPT_TX_UDP},
	{"eth-peer", required_argument, NULL, OPT_ETH_PEER},
	{"mbuf-size", required_argument, NULL, OPT_MBUF},
	{"nb-cores", required_argument, NULL, OPT_CORES},
	{"portmask", required_argument, NULL, OPT_PORTMASK},
	{"stats-period", required_argument, NULL, OPT_PERIOD},
	{"auto-start", no_argument, NULL, 'a'},
	{"tx-first", no_argument, NULL, OPT_TX_FIRST},
	{"flow-isolate-all", no_argument, NULL, OPT_ISOLATE},
	{"port-topology", required_argument, NULL, OPT_TOPOLOGY},
	{"interactive", no_argument, NULL, 'i'},
	{"gpu", required_argument, NULL, OPT_GPU},
	{"rings", required_argument, NULL, OPT_RINGS},
	{"tx-inline", required_argument, NULL, OPT_TX_INLINE},
	{"in-flight", required_argument, NULL, OPT_IN_FLIGHT},
	{"cpu-queues", required_argument, NULL, OPT_CPU_QUEUES},
	{"mtu", required_argument, NULL, OPT_MTU},
	{"engines", required_argument, NULL, OPT_ENGINES},
	{"queue-flows", no_argument, NULL, OPT_QUEUE_FLOWS},
	{"duration", required_argument, NULL, OPT_DURATION},
	{"json", required_argument, NULL, OPT_JSON},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static int
text_option(int opt, const char *arg, struct crl_tp_options *o, struct crl_err *err)
{
	switch (opt) {
	case OPT_MODE:
		return crl_tp_forward_mode(err, arg, o);
	case OPT_TXPKTS:
		return crl_tp_txpkts(err, arg, o);
	case OPT_TX_IP:
		return crl_tp_tx_ip(err, arg, o);
	case OPT_TX_UDP:
		return crl_tp_tx_udp(err, arg, o);
	case OPT_ETH_PEER:
		return crl_tp_eth_peer(err, arg, o);
	case OPT_PORTMASK:
		return crl_tp_portmask(err, arg, o);
	case OPT_GPU:
		return crl_tp_text(err, "gpu", arg, o->gpu, sizeof(o->gpu));
	case OPT_RINGS:
		return crl_tp_rings(err, arg, o);
	case OPT_DURATION:
		return crl_tp_duration(err, arg, o);
	case OPT_JSON:
		return crl_tp_text(err, "json", arg, o->json, sizeof(o->json));
	default:
		return crl_tp_topology(err, arg);
	}
}

static int
number_option(int opt, const char *arg, struct crl_tp_options *o, struct crl_err *err)
{
	switch (opt) {
	case OPT_RXQ:
		return crl_tp_number(err, "rxq", arg, 0, CRL_TP_QUEUES_MAX, &o->rxq);
	case OPT_TXQ:
		return crl_tp_number(err, "txq", arg, 0, CRL_TP_QUEUES_MAX, &o->txq);
	case OPT_RXD:
		return crl_tp_depth(err, "rxd", arg, &o->rxd);
	case OPT_TXD:
		return crl_tp_depth(err, "txd", arg, &o->txd);
	case OPT_BURST:
		return crl_tp_number(err, "burst", arg, 1, CRL_BURST_MAX, &o->burst);
	case OPT_MBUF:
		return crl_tp_number(err, "mbuf-size", arg, 64, 65536, &o->mbuf_bytes);
	case OPT_TX_INLINE:
		return crl_tp_number(err, "tx-inline", arg, 0, 972, &o->tx_inline);
	case OPT_CORES:
		return crl_tp_number(err, "nb-cores", arg, 1, CRL_TP_CORES_MAX, &o->nb_cores);
	case OPT_FLOWS:
		return crl_tp_number(err, "flowgen-flows", arg, 1, 1u << 20, &o->engine_opts.flows);
	case OPT_IN_FLIGHT:
		return crl_tp_number(
			err, "in-flight", arg, 1, CRL_DEPTH_MAX, &o->engine_opts.in_flight);
	case OPT_PERIOD:
		return crl_tp_number(err, "stats-period", arg, 0, 86400, &o->stats_period_s);
	case OPT_ENGINES:
		return crl_tp_number(err, "engines", arg, 1, CRL_TP_ENGINES_MAX, &o->engines);
	case OPT_MTU:
		return crl_tp_number(err, "mtu", arg, 68, 65535 - 14, &o->mtu);
	case OPT_CPU_QUEUES:
		return crl_tp_number(
			err, "cpu-queues", arg, 0, CRL_TP_CPU_QUEUES_MAX, &o->cpu_queues);
	default:
		return text_option(opt, arg, o, err);
	}
}

static int
flag_option(int opt, const char *arg, struct crl_tp_options *o, struct crl_err *err)
{
	switch (opt) {
	case 'a':
		o->auto_start = true;
		return 0;
	case 'i':
		o->interactive = true;
		return 0;
	case 'h':
		o->help = true;
		return 0;
	case OPT_TX_FIRST:
		o->tx_first = true;
		return 0;
	case OPT_ISOLATE:
		o->flow_isolate = true;
		return 0;
	case OPT_QUEUE_FLOWS:
		o->engine_opts.own_flow = 1;
		return 0;
	default:
		return number_option(opt, arg, o, err);
	}
}

/* The word that getopt_long did not take: ours with a value too much, of testpmd, or of nobody. */
static int
unknown(struct crl_err *err, const char *word)
{
	bool is_long = strncmp(word, "--", 2) == 0;
	int len = (int)strcspn(word, "=");
	const char *why = is_long ? crl_tp_foreign_option(word + 2) : NULL;

	if (is_long && optopt != 0)
		return crl_tp_bad(
			err, "leave out what stands behind =", "'%s': it takes no value", word);
	if (why != NULL)
		return crl_tp_bad(err, why, "testpmd's %.*s is not an option here", len, word);
	return crl_tp_bad(
		err, "carillon-testpmd -- --help lists the options", "unknown option '%s'", word);
}

/* How frames find their queue: one rule over all of them, or one each. */
static int
check_flows(const struct crl_tp_options *o, struct crl_err *err)
{
	static const char *const fit[] = {"io", "macswap", "rxonly", "stamp", "txonly"};
	const char *mode = o->engine->name;
	bool each = o->engine_opts.own_flow != 0, fits = false;

	for (size_t i = 0; i < sizeof(fit) / sizeof(fit[0]); i++)
		fits |= strcmp(mode, fit[i]) == 0;
	if (each && !fits)
		return crl_tp_bad(err, "leave --queue-flows out, or choose io or macswap",
			"with %s frames do not keep the UDP port that leads to a queue", mode);
	if ((o->engine->needs & CRL_Q_RX) && o->rxq > CRL_FLOW_QUEUES_MAX && !each &&
		strcmp(mode, "stamp") != 0)
		return crl_tp_bad(err,
			"add --queue-flows, which makes a rule a queue, or ask for "
			"fewer queues",
			"--rxq=%u: one rule spreads over %u queues", o->rxq, CRL_FLOW_QUEUES_MAX);
	return 0;
}

static int
check_together(struct crl_tp_options *o, struct crl_err *err)
{
	bool rx = o->engine->needs & CRL_Q_RX, tx = o->engine->needs & CRL_Q_TX;
	const char *mode = o->engine->name;

	if (rx && o->rxq == 0)
		return crl_tp_bad(err, "give --rxq=1 or more",
			"%s receives, and --rxq=0 leaves nothing to", mode);
	if (tx && o->txq == 0)
		return crl_tp_bad(err, "give --txq=1 or more",
			"%s sends, and --txq=0 leaves nothing to", mode);
	if (rx && tx && o->rxq != o->txq)
		return crl_tp_bad(err, "give both the same number",
			"%s sends from the queue it received in, but --rxq=%u and --txq=%u differ",
			mode, o->rxq, o->txq);
	if (o->mbuf_bytes % 64 != 0)
		return crl_tp_bad(err, "give a multiple of 64, as 2112", "--mbuf-size=%u is none",
			o->mbuf_bytes);
	if (o->rings == CRL_TP_RINGS_GPU && o->gpu[0] == '\0')
		return crl_tp_bad(
			err, "add --gpu=NAME, or give --rings=host", "--rings=gpu without a GPU");
	if (o->tx_first && (!(rx && tx) || o->engine->own_frames != 0))
		return crl_tp_bad(err, "leave --tx-first out, or choose io, macswap or 5tswap",
			"--tx-first has no meaning with %s", mode);
	if (o->cpu_queues != 0 && strcmp(mode, "icmpecho") == 0)
		return crl_tp_bad(err, "leave --cpu-queues out, or choose another mode",
			"with CPU queues ours take UDP only, and icmpecho answers ARP and ICMP");
	if (o->cpu_queues != 0 && o->flow_isolate)
		return crl_tp_bad(err, "leave one of the two out",
			"--flow-isolate-all leaves CPU queues nothing to receive");
	return check_flows(o, err);
}

static void
defaults(struct crl_tp_options *o)
{
	memset(o, 0, sizeof(*o));
	o->engine = crl_engine_find("io");
	crl_engine_opts_default(&o->engine_opts);
	o->rxq = o->txq = 1;
	o->rxd = o->txd = 1024;
	o->burst = 32;
	o->nb_cores = o->engines = 1;
	o->portmask = UINT64_MAX;
}

int
crl_tp_options_parse(int argc, char *const *argv, struct crl_tp_options *o, struct crl_err *err)
{
	int opt, ret, at;

	defaults(o);
	opterr = 0;
	optind = 0; /* glibc: begin anew */
	for (;;) {  /* leaves at the last word */
		at = optind > 0 ? optind : 1;
		opt = getopt_long(argc, argv, "+:aih", words, NULL);
		if (opt == -1)
			break;
		if (opt == '?')
			return unknown(err, argv[at]);
		if (opt == ':')
			return crl_tp_bad(err, "carillon-testpmd -- --help shows what it takes",
				"option '%s' lacks its value", argv[at]);
		ret = flag_option(opt, optarg, o, err);
		if (ret != 0)
			return ret;
	}
	if (optind < argc)
		return crl_tp_bad(err, "options begin with --", "'%s' is no option", argv[optind]);
	if (o->rings == CRL_TP_RINGS_DEFAULT)
		o->rings = o->gpu[0] != '\0' ? CRL_TP_RINGS_GPU : CRL_TP_RINGS_HOST;
	return o->help ? 0 : check_together(o, err);
}
