/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every bound of Carillon and of the software ConnectX in one place: sizes that something must not
 * exceed, and times or tries after which a wait gives up. Plain macros, so that C, C++, CUDA and
 * the preprocessor can all use them. The relations at the end are checked wherever this file is
 * included; numbers that a format prescribes (bytes of a WQE) are in gpu_queues/wire instead.
 */
#ifndef CRL_CONFIG_LIMITS_H
#define CRL_CONFIG_LIMITS_H

/* ---- Rings ---- */

/* 32768 entries: a 16-bit wire index then names one entry in flight. */
#define CRL_LOG_DEPTH_MAX 15u
#define CRL_DEPTH_MIN	  1u
#define CRL_DEPTH_MAX	  32768u

/* ---- Engines ---- */

#define CRL_BURST_MAX	 64u	      /* packets an iteration */
#define CRL_TXPKTS_MAX	 16u	      /* segments of a txonly frame */
#define CRL_LOOK_EVERY	 32u	      /* iterations between two looks at the control words, */
#define CRL_LOOK_PACKETS 256u	      /* or packets, where one takes microseconds, */
#define CRL_LOOK_BYTES	 (512u << 10) /* or bytes of them, where an engine reads them all */
#define CRL_GLANCE_TICKS 400000u /* or a GPU's clocks, 0.2 ms, to a look at the words alone */
#define CRL_EMPW_FRAMES_MAX 32u	 /* of one multi-packet send, as net_mlx5: what one CQE frees */
#define CRL_PONG_NS_MAX	    200000000u /* a pingpong frame that is not back by then is lost */
#define CRL_DRAIN_NS_MAX    500000000u /* a stopping or failed stream waits so long for its sends */

/* ---- The software ConnectX's tables ---- */

/*
 * Powers of two. An object's slot is its number & (MAX - 1), a key's its index & (MAX - 1) with
 * index = key >> 8; so the firmware gives numbers of one kind that differ in these low bits, and
 * any bits above. A second object in an occupied slot is refused with -EEXIST.
 */
#if defined(CRL_SMALL_TABLES) /* of fuzz targets: full soon, and looked through fast */
#define SCX_DP_SQ_MAX	   64u
#define SCX_DP_RQ_MAX	   64u
#define SCX_DP_CQ_MAX	   128u
#define SCX_DP_MKEY_MAX	   64u
#define SCX_DP_TIR_MAX	   16u
#define SCX_DP_RQT_MAX	   8u
#define SCX_DP_RQT_LEN	   64u
#define SCX_DP_RULE_MAX	   64u
#define SCX_DP_COUNTER_MAX 8u
#define SCX_FT_MAX	   8u
#define SCX_FG_MAX	   16u
#define SCX_FTE_MAX	   64u
#define SCX_SMALL_OBJ_MAX  16u
#define SCX_UMEM_MAX	   32u
#define SCX_UAR_PAGES_MAX  64u
#define SCX_FLOW_SLOTS	   64u
#else
#define SCX_DP_SQ_MAX	   2048u
#define SCX_DP_RQ_MAX	   2048u
#define SCX_DP_CQ_MAX	   4096u
#define SCX_DP_MKEY_MAX	   4096u
#define SCX_DP_TIR_MAX	   2048u /* one of each a queue that a rule names alone */
#define SCX_DP_RQT_MAX	   2048u
#define SCX_DP_RQT_LEN	   512u /* entries of one indirection table */
#define SCX_DP_RULE_MAX	   2048u
#define SCX_DP_COUNTER_MAX 256u /* counter sets; 0: not counted by set */
#define SCX_FT_MAX	   256u /* flow tables, groups and entries of a guest's driver */
#define SCX_FG_MAX	   1024u
#define SCX_FTE_MAX	   4096u
#define SCX_SMALL_OBJ_MAX  1024u /* PDs, transport domains, TISes, each */
#define SCX_UMEM_MAX	   8192u
#define SCX_UAR_PAGES_MAX  4096u
#define SCX_FLOW_SLOTS	   4096u /* of the flow-result cache, a power of two */
#endif
#define SCX_DP_FRAME_MAX 16384u /* bytes of the longest frame of any port */

/* The longest MTU: with the Ethernet header and two VLAN tags such a frame is the longest one. */
#define SCX_MTU_MAX (SCX_DP_FRAME_MAX - 22u)
#define SCX_MTU_MIN 68u

/* ---- The software ConnectX's waits ---- */

/* A stepping thread that has not carried out a command after so long is stuck, and its NIC dead. */
#define SCX_ANSWER_NS_MAX 10000000000ull

/* softcx, a wait of one worker for another (dp/stuck.h): what the others wait for at most, a turn
 * of a worker, is a million times shorter. Below the line before, so that the host can say why. */
#define SCX_CREW_NS_MAX 5000000000ull
#define SCX_CREW_LOOKS	1024u /* between two of the clock, a power of two */
#define SCX_CREW_STEPS	50u   /* looks at the clock that make the whole wait, at least */

/*
 * After the last work the stepping thread goes on for SPIN, then offers the processor at every turn
 * until YIELD, then naps, and after IDLE naps longer. A nap bounds what a doorbell waits.
 */
#define SCX_SPIN_NS	10000u
#define SCX_YIELD_NS	200000u
#define SCX_NAP_NS	20000u
#define SCX_IDLE_NS	5000000u
#define SCX_IDLE_NAP_NS 40000u

#define SCX_IPV6_EXT_MAX   8u /* headers followed before layer 4 counts as not there */
#define SCX_CONF_PORTS_MAX 8u /* ports of one softcx run */

/* ---- DPDK's side, and carillon-testpmd ---- */

#define CRL_EAL_DEVS_MAX      32u
#define CRL_GPUDEVS_MAX	      32u
#define CRL_PORT_QUEUES_MAX   1000u /* of ours on one port: net_mlx5 has so many external ids */
#define CRL_FLOW_QUEUES_MAX   64u   /* that one rule spreads over */
#define CRL_TP_PORTS_MAX      8u
#define CRL_TP_QUEUES_MAX     1000u /* of a port; with several ports there are more */
#define CRL_TP_CPU_QUEUES_MAX 64u
#define CRL_TP_ENGINES_MAX    16u /* that the queues are shared out to */
#define CRL_TP_CORES_MAX      64u
#define CRL_TP_ERRORS_MAX     16u /* kept for telemetry and the report */

/* ---- How they relate ---- */

#if CRL_TP_QUEUES_MAX > CRL_PORT_QUEUES_MAX || CRL_FLOW_QUEUES_MAX > CRL_PORT_QUEUES_MAX
#error "what testpmd may ask for, and what a rule may name, a port must be able to hold"
#endif
#if CRL_TP_PORTS_MAX > CRL_EAL_DEVS_MAX || CRL_TP_PORTS_MAX > SCX_CONF_PORTS_MAX
#error "a port is a device of EAL's, and in tests one of softcx's"
#endif
#if CRL_FLOW_QUEUES_MAX > SCX_DP_RQT_LEN
#error "the queues of a rule stand in one indirection table"
#endif

#if CRL_DEPTH_MAX != 1u << CRL_LOG_DEPTH_MAX
#error "the two ways of saying the greatest depth differ"
#endif
#if CRL_DEPTH_MAX > 0x10000u / 2u
#error "a ring of more than half of what 16 bits count cannot tell full from empty on the wire"
#endif
#if CRL_EMPW_FRAMES_MAX > CRL_BURST_MAX || CRL_EMPW_FRAMES_MAX > 61u || CRL_TXPKTS_MAX > 61u
#error "a WQE has 63 segments, two of which are not the frames'"
#endif
#if CRL_BURST_MAX > 255u
#error "a cookie counts the slots of a send in eight bits"
#endif
#if SCX_DP_CQ_MAX < SCX_DP_SQ_MAX + SCX_DP_RQ_MAX
#error "softcx: each SQ and RQ may have a CQ of its own"
#endif
#if SCX_DP_SQ_MAX & (SCX_DP_SQ_MAX - 1u) || SCX_DP_RQ_MAX & (SCX_DP_RQ_MAX - 1u) ||                \
	SCX_DP_CQ_MAX & (SCX_DP_CQ_MAX - 1u) || SCX_DP_MKEY_MAX & (SCX_DP_MKEY_MAX - 1u) ||        \
	SCX_DP_TIR_MAX & (SCX_DP_TIR_MAX - 1u) || SCX_DP_RQT_MAX & (SCX_DP_RQT_MAX - 1u)
#error "softcx: slots are found by masking, so a table's size is a power of two"
#endif
#if SCX_DP_RQT_LEN & (SCX_DP_RQT_LEN - 1u)
#error "softcx: the length of an indirection table is a power of two"
#endif

#if SCX_SPIN_NS >= SCX_YIELD_NS || SCX_YIELD_NS >= SCX_IDLE_NS || SCX_NAP_NS > SCX_IDLE_NAP_NS
#error "softcx: the thread backs off step by step"
#endif

#endif /* CRL_CONFIG_LIMITS_H */
