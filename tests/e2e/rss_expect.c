/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which queue should get each frame of a capture file: DPDK's rte_softrss, not ours, computes the
 * hash. Run by testpmd_rss.sh and testpmd_rules.sh:
 *
 *   rss_expect KEY l3|l4 TABLE-SIZE CAPTURE QUEUE...
 *
 * KEY: 80 hexadecimal digits. The table of TABLE-SIZE entries repeats the queues given, as net_mlx5
 * fills it. l3 hashes addresses, l4 addresses and ports. Prints the number of frames of each queue,
 * "queue count" a line, and with CRL_RSS_VERBOSE the hash of each frame first.
 */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_byteorder.h>
#include <rte_ether.h>
#include <rte_ip.h>
#include <rte_thash.h>

#define KEY_BYTES 40
#define QUEUES_MAX 1024

static uint16_t
be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t
be32(const uint8_t *p)
{
	return (uint32_t)be16(p) << 16 | be16(p + 2);
}

/* The words that are hashed; their number, 0 if the frame is of no kind that the tests send. */
static unsigned
tuple_of(const uint8_t *f, uint32_t len, int l4, uint32_t *tuple)
{
	unsigned n = 0, words, ip_bytes;
	const uint8_t *ip = f + 14;

	if (len < 14 + sizeof(struct rte_ipv4_hdr) + 4)
		return 0;
	if (be16(f + 12) == RTE_ETHER_TYPE_IPV4) {
		words = 2;
		ip_bytes = (ip[0] & 15u) * 4u;
		for (unsigned i = 0; i < words; i++)
			tuple[n++] = be32(ip + 12 + 4 * i);
	} else if (be16(f + 12) == RTE_ETHER_TYPE_IPV6 &&
		len >= 14 + sizeof(struct rte_ipv6_hdr) + 4) {
		words = 8;
		ip_bytes = 40;
		for (unsigned i = 0; i < words; i++)
			tuple[n++] = be32(ip + 8 + 4 * i);
	} else {
		return 0;
	}
	if (l4)
		tuple[n++] = be32(ip + ip_bytes);
	return n;
}

static int
key_of(const char *hex, uint8_t *key)
{
	unsigned byte;

	if (strlen(hex) != 2 * KEY_BYTES)
		return -1;
	for (unsigned i = 0; i < KEY_BYTES; i++) {
		if (sscanf(hex + 2 * i, "%2x", &byte) != 1)
			return -1;
		key[i] = (uint8_t)byte;
	}
	return 0;
}

int
main(int argc, char **argv)
{
	uint64_t count[QUEUES_MAX] = { 0 };
	char err[PCAP_ERRBUF_SIZE];
	struct pcap_pkthdr *h;
	uint8_t key[KEY_BYTES];
	uint32_t tuple[16];
	const uint8_t *f;
	pcap_t *in;

	if (argc < 6 || key_of(argv[1], key) != 0) {
		fprintf(stderr, "usage: rss_expect KEY l3|l4 TABLE-SIZE CAPTURE QUEUE...\n");
		return 2;
	}
	in = pcap_open_offline(argv[4], err);
	if (in == NULL) {
		fprintf(stderr, "%s\n", err);
		return 1;
	}
	while (pcap_next_ex(in, &h, &f) == 1) {
		unsigned n = tuple_of(f, h->caplen, strcmp(argv[2], "l4") == 0, tuple);
		uint32_t hash = n != 0 ? rte_softrss(tuple, n, key) : 0;
		unsigned long entry = hash % strtoul(argv[3], NULL, 10);
		unsigned long q = strtoul(argv[5 + entry % (unsigned long)(argc - 5)], NULL, 10);

		if (getenv("CRL_RSS_VERBOSE") != NULL)
			printf("hash 0x%x\n", hash);
		if (q < QUEUES_MAX)
			count[q]++;
	}
	pcap_close(in);
	for (unsigned q = 0; q < QUEUES_MAX; q++)
		if (count[q] != 0)
			printf("%u %lu\n", q, count[q]);
	return 0;
}
