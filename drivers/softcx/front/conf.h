/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What `softcx run` tells libsoftcx.so: one environment variable, lines of key=value, read once at
 * the first open of a device. The program `softcx` writes it, the interposer reads it; both through
 * this file, so that the text has one home.
 *
 *   profile=cx6dx        capability profile                      (whole device)
 *   seed=42              decimal                                 (whole device)
 *   faults=SPEC          ../fault.h, absent: none
 *   nic-step=cpu | remote | gpu | copy | copy-test      who steps the data path, absent: cpu
 *   gpu=0                CUDA ordinal, of nic-step=gpu and copy
 *   host-doorbells=0     1: no doorbell pages in that GPU's memory
 *   log=FILE             absent: standard error
 *   log-dump=0           umems, and so many of the first entries of each ring, to the log
 *   state=DIR            where libsoftcx.so leaves the mark that a device was opened
 *   port=0               starts a port; the lines below belong to the last port named
 *   mac=02:5c:78:00:00:00   mtu=1500
 *   nic=NAME             the port's netdev in the program's network namespace: its MTU is the
 * port's wire=loopback | cable | veth | pcap netdev=NAME          veth: the netdev to bind
 *   netns=FILE           veth: network namespace of that netdev, absent: the program's own
 *   in=FILE out=FILE     pcap: either may be absent
 *   tap=FILE             copy of both directions, any wire
 */
#ifndef SCX_CONF_H
#define SCX_CONF_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "../../../config/limits.h"

/*
 * nic-step: a thread on this processor; the same behind the protocol of a GPU's, for tests of it; a
 * kernel on GPU number gpu; a thread on this processor that reaches dma-bufs through that GPU's
 * copy engine; the same with a stand-in for the engine, for tests.
 */
enum scx_conf_step {
	SCX_CONF_STEP_CPU,
	SCX_CONF_STEP_REMOTE,
	SCX_CONF_STEP_GPU,
	SCX_CONF_STEP_COPY,
	SCX_CONF_STEP_COPY_TEST
};

#define SCX_CONF_ENV	 "SOFTCX_CONFIG"
#define SCX_CONF_GPU_MAX 255u	  /* greatest ordinal that is taken */
#define SCX_CONF_DUMP_MAX 1000000u
#define SCX_CONF_PATH	 256u	  /* bytes of a path with its NUL */
#define SCX_CONF_BYTES	 16384u	  /* bytes of the whole text with its NUL */
#define SCX_CONF_OPENED	 "opened" /* name of the mark in the state folder */
#define SCX_CONF_LOST	 "lost"	  /* another: what was to be written was not */

/* The character devices: 231 is InfiniBand's dynamic-looking but fixed major, 192 the first uverbs
 * minor. */
#define SCX_UVERBS_MAJOR 231u
#define SCX_UVERBS_MINOR 192u

enum scx_conf_wire { SCX_CONF_LOOPBACK, SCX_CONF_CABLE, SCX_CONF_VETH, SCX_CONF_PCAP };

struct scx_conf_port {
	uint8_t mac[6];
	uint32_t mtu; /* bytes of Ethernet payload */
	enum scx_conf_wire wire;
	char nic[16]; /* IFNAMSIZ */
	char netdev[16];
	char netns[SCX_CONF_PATH];
	char in[SCX_CONF_PATH];
	char out[SCX_CONF_PATH];
	char tap[SCX_CONF_PATH];
};

struct scx_conf {
	char profile[16];
	uint64_t seed;
	char faults[SCX_CONF_PATH]; /* a plan that scx_fault_parse() takes */
	char log[SCX_CONF_PATH];    /* empty: none; so for every text here */
	char state[SCX_CONF_PATH];
	uint32_t log_dump;
	enum scx_conf_step step;
	uint32_t gpu;	       /* CUDA ordinal, of a step on a GPU or with its help */
	uint32_t host_doorbells; /* 1: that GPU's engines ring in host memory all the same */
	uint32_t nr_ports;
	struct scx_conf_port port[SCX_CONF_PORTS_MAX];
};

/* 0; -EINVAL: an unknown key, a bad number or a line in the wrong place (err says which). */
int scx_conf_parse(const char *text, struct scx_conf *conf, char *err, size_t err_bytes);
/* 0; -EINVAL: a text with a newline in it; -ENOSPC: buf is too small. */
int scx_conf_format(const struct scx_conf *conf, char *buf, size_t bytes);
/* 0; -EINVAL: no such. */
int scx_conf_step(const char *text, enum scx_conf_step *step);
/* 0; -EINVAL: not six hexadecimal bytes with colons. */
int scx_conf_mac(const char *text, uint8_t mac[6]);

/* What a profile looks like from outside: PCI device id and firmware version, as sysfs and uverbs
 * show them. */
struct scx_identity {
	const char *profile;
	const char *hca_type;
	uint16_t pci_device;
	uint16_t fw_major, fw_minor, fw_sub;
	bool inline_l2; /* its vport asks for inline L2 headers, as ../fw/caps.c says */
};
/* NULL: no such profile. */
const struct scx_identity *scx_identity(const char *profile);
extern const struct scx_identity scx_identities[]; /* ends with profile NULL */

#endif /* SCX_CONF_H */
