// SPDX-License-Identifier: BSD-3-Clause
/*
 * testpmd's words that mean nothing here, options and commands, each with what to do instead: who
 * brings a command line from there learns why it is refused. tests/e2e/apps holds the options
 * against the list that the installed testpmd prints. Host, main lcore.
 */
#include "options.h"

#include <string.h>

static const struct {
	const char *instead;
	const char *words; /* between blanks */
} options[] = {
	{"queues of ours own their buffers: --rxd and --mbuf-size set how many and how large",
		" total-num-mbufs "},
	{"choose lcores with EAL's -l or --lcores, and their number with --nb-cores", " coremask "},
	{"choose devices with -a, or with --portmask", " nb-ports portlist "},
	{"memory is always taken on the NIC's NUMA node",
		" numa no-numa socket-num port-numa-config ring-numa-config "},
	{"--mbuf-size sets the largest frame that is received", " max-pkt-len "},
	{"a frame is received in one buffer: set --mbuf-size",
		" rxpkts rxoffs rxhdrs enable-scatter "},
	{"give --rxq=1", " disable-rss "},
	{"with several queues RSS is over addresses and ports",
		" rss-ip rss-udp rss-level-inner rss-level-outer rx-mq-mode "},
	{"per-queue counters are printed at the end and under /carillon/ of telemetry",
		" display-xstats "},
	{"give -i and the commands on standard input", " cmdline-file "},
	{"give --eth-peer=0,MAC", " eth-peers-configfile "},
	{"--json reports packets and time", " record-core-cycles "},
	{"--json reports doorbells and completions", " record-burst-stats "},
	{"txonly sends one flow: choose it with --tx-ip and --tx-udp", " txonly-multi-flow "},
	{"checksum offload is not an option of this program", " tx-offloads rx-offloads "},
	{"the NIC's checksum verdicts are always counted", " enable-rx-cksum "},
	{"there is nothing to flush: queues are new", " no-flush-rx "},
	{"there is no mempool: queues of ours own their buffers",
		" mbcache mp-alloc mp-anon no-iova-contig multi-rx-mempool "},
	{"frames are received as they came over the wire", " max-lro-pkt-size enable-lro "},
	{"links are watched by the control loop, without interrupts", " no-lsc-interrupt "},
	{"devices are watched by the control loop, without interrupts", " no-rmv-interrupt "},
	{"nothing waits for a link at the start", " disable-link-check "},
	{"devices are chosen at the start: with -a, or with --portmask", " hot-plug "},
	{"hairpin queues are not built", " hairpinq hairpin-mode "},
	{"there are no time stamps: --forward-mode=pingpong measures round trips",
		" latencystats enable-rx-timestamp "},
	{"--stats-period prints bits a second", " bitrate-stats "},
	{"one process runs all queues", " num-procs proc-id "},
	{"what queues use is registered, which keeps it in memory", " mlockall no-mlockall "},
	{"each queue has buffers of its own", " rxq-share "},
	{"the NIC takes the FCS off", " disable-crc-strip "},
	{"what finds no buffer is dropped, and is counted as RX-missed", " enable-drop-en "},
	{"ports are open from the start of the program to quit", " disable-device-start "},
	{"the link is the kernel driver's: set it with ethtool", " eth-link-speed "},
	{"flowgen makes each frame anew: leave it out", " flowgen-clones "},
	{"tunnels are not looked into", " geneve-parsed-port vxlan-gpe-port "},
	{"link changes and errors are always printed", " print-event mask-event "},
	{"VLAN tags stay where they are in the frame",
		" enable-hw-vlan enable-hw-vlan-filter enable-hw-vlan-strip"
		" enable-hw-vlan-extend enable-hw-qinq-strip "},
	{"rings have no thresholds: --rxd and --txd set their depth",
		" rxpt rxht rxwt rxfreet txpt txht txwt txfreet txrst "},
	{"there is no noisy mode", " noisy-tx-sw-buffer-size noisy-tx-sw-buffer-flushtime"
				   " noisy-lkup-memory noisy-lkup-num-reads noisy-lkup-num-writes"
				   " noisy-lkup-num-reads-writes "},
};

/* By how they begin, the more special first. */
static const struct {
	const char *begin, *instead;
} commands[] = {
	{"start tx_first", "give --tx-first: then the first start sends a burst"},
	{"set ", "modes, bursts and frames are options: see carillon-testpmd -- --help"},
	{"show port ", "there are show port stats all and show port stats N"},
	{"show config ", "there is show config fwd"},
	{"clear port ", "there is clear port stats all"},
	{"port ", "ports are open from the start of the program to quit"},
};

const char *
crl_tp_foreign_option(const char *word)
{
	size_t len = strcspn(word, "=");
	const char *at;

	for (size_t i = 0; len != 0 && i < sizeof(options) / sizeof(options[0]); i++)
		for (at = options[i].words; at[1] != '\0'; at = strchr(at + 1, ' '))
			if (strncmp(at + 1, word, len) == 0 && at[1 + len] == ' ')
				return options[i].instead;
	return NULL;
}

const char *
crl_tp_foreign_command(const char *line)
{
	for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strncmp(line, commands[i].begin, strlen(commands[i].begin)) == 0)
			return commands[i].instead;
	return NULL;
}
