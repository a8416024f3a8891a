/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A wire that is a Linux netdev: packet sockets on the NIC's end of a veth pair, or on any other
 * netdev. Called by the data path's thread.
 *
 * Two sockets. The receiving one has a TPACKET_V2 ring, so that a frame costs no system call and is
 * seen at once (V3 hands over blocks, up to a millisecond late). It ignores outgoing frames, which
 * are our own. The sending one goes past the queueing discipline with sendmmsg, a burst a call; it
 * listens to no protocol. Where the kernel lets us, several frames at once leave by burst.h instead
 * of by the socket, in half the time; both have sent when they return, so order holds. Which way is
 * taken, and why, is said when the wire opens.
 *
 * Linux hands over frames with work left for a NIC: VLAN tag beside the frame, checksum not yet
 * computed, several segments in one. The tag is put back, the checksum computed; segments are a
 * mistake in the set-up (`softcx run` turns that off at both ends of its pairs) and are dropped
 * with a line in the log.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "../log.h"
#include "../wire.h"
#include "burst.h"

#define SLOT_BYTES  16384u /* of the ring: a jumbo frame with all headers before it */
#define BLOCK_BYTES (1u << 18)
#define NR_SLOTS    1024u
#define BURST	    64u
#define TAG_BYTES   4u

struct veth {
	struct scx_wire wire;
	char name[IFNAMSIZ];
	int rx, tx;
	struct scx_burst *burst; /* NULL: all frames leave through tx */
	uint32_t burst_len;	 /* the longest frame that leaves in a burst */
	uint8_t *ring;
	uint32_t next;	/* slot to look at */
	uint32_t given; /* slots before next that the data path still reads: given back at the next
			   recv */
	uint64_t dropped_rx, dropped_tx;
	bool said_segments, said_long;
};

static struct tpacket2_hdr *
slot(struct veth *v, uint32_t i)
{
	return (struct tpacket2_hdr *)(v->ring + (size_t)(i % NR_SLOTS) * SLOT_BYTES);
}

static void
give_back(struct veth *v)
{
	for (; v->given; v->given--) {
		struct tpacket2_hdr *h = slot(v, v->next - v->given);

		/* release: our reads of the frame before the kernel may write the slot again */
		__atomic_store_n(&h->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
	}
}

/* The one's complement sum that the sender left for the hardware: from start on, stored at start +
 * offset. */
static void
finish_checksum(uint8_t *frame, uint32_t len, uint32_t start, uint32_t offset)
{
	uint64_t sum = 0;
	uint32_t i;

	if (start >= len || offset > len - start || len - start - offset < 2)
		return;
	for (i = start; i + 1 < len; i += 2)
		sum += (uint32_t)frame[i] << 8 | frame[i + 1];
	if (i < len)
		sum += (uint32_t)frame[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	sum = ~sum & 0xffff;
	if (!sum) /* UDP: zero would say that there is no checksum */
		sum = 0xffff;
	frame[start + offset] = sum >> 8;
	frame[start + offset + 1] = sum;
}

/* The tag goes back between the addresses and the type; there is room before every frame of the
 * ring. */
static uint8_t *
restore_tag(uint8_t *frame, const struct tpacket2_hdr *h)
{
	uint16_t tpid = h->tp_status & TP_STATUS_VLAN_TPID_VALID ? h->tp_vlan_tpid : ETHERTYPE_VLAN;
	uint8_t *at = frame - TAG_BYTES;

	memmove(at, frame, 2 * ETHER_ADDR_LEN);
	at[12] = tpid >> 8;
	at[13] = tpid;
	at[14] = h->tp_vlan_tci >> 8;
	at[15] = h->tp_vlan_tci;
	return at;
}

/* false: the frame cannot go on to the NIC. */
static bool
take_frame(struct veth *v, struct tpacket2_hdr *h, struct scx_frame *f)
{
	uint8_t *frame = (uint8_t *)h + h->tp_mac;
	struct virtio_net_hdr vh;

	memcpy(&vh, frame - sizeof(vh), sizeof(vh));
	if (vh.gso_type != VIRTIO_NET_HDR_GSO_NONE || h->tp_snaplen < h->tp_len) {
		if (!v->said_segments)
			scx_log(v->name,
				"a frame of %u bytes holds several segments, or is longer than %u: "
				"dropped. Cause: "
				"segmentation offload of the peer; fix: ethtool -K PEER tso off "
				"gso off gro off",
				h->tp_len, SLOT_BYTES);
		v->said_segments = true;
		v->dropped_rx++;
		return false;
	}
	if (vh.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)
		finish_checksum(frame, h->tp_snaplen, vh.csum_start, vh.csum_offset);
	f->len = h->tp_snaplen;
	f->flags = vh.flags & VIRTIO_NET_HDR_F_DATA_VALID ? SCX_FRAME_CSUM_VALID : 0;
	if (h->tp_status & TP_STATUS_VLAN_VALID) {
		frame = restore_tag(frame, h);
		f->len += TAG_BYTES;
	}
	f->data = frame;
	return true;
}

static unsigned
veth_recv(struct scx_wire *w, struct scx_frame *f, unsigned nr)
{
	struct veth *v = (struct veth *)w;
	unsigned got = 0;

	give_back(v);
	while (got < nr && v->given < NR_SLOTS) {
		struct tpacket2_hdr *h = slot(v, v->next);

		/* acquire: the kernel's store of the status before our reads of the frame */
		if (!(__atomic_load_n(&h->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
			break;
		v->next++;
		v->given++;
		got += take_frame(v, h, &f[got]);
	}
	return got;
}

static void
drop_tx(struct veth *v, const struct scx_frame *f, int err)
{
	v->dropped_tx++;
	if (err == EMSGSIZE && !v->said_long) {
		scx_log(v->name,
			"a frame of %u bytes is longer than the netdev's MTU allows: dropped",
			f->len);
		v->said_long = true;
	}
}

static unsigned
send_packets(struct veth *v, const struct scx_frame *f, unsigned nr)
{
	struct mmsghdr msg[BURST];
	struct iovec iov[BURST];
	unsigned sent = 0;

	if (nr > BURST)
		nr = BURST;
	memset(msg, 0, nr * sizeof(msg[0]));
	for (unsigned i = 0; i < nr; i++) {
		iov[i] = (struct iovec){(void *)(uintptr_t)f[i].data, f[i].len};
		msg[i].msg_hdr.msg_iov = &iov[i];
		msg[i].msg_hdr.msg_iovlen = 1;
	}
	while (sent < nr) {
		int n = sendmmsg(v->tx, msg + sent, nr - sent, MSG_DONTWAIT);

		if (n > 0) {
			sent += n;
		} else if (errno == EAGAIN || errno == EWOULDBLOCK) {
			break; /* the socket's buffer is full: offered again */
		} else if (errno != EINTR) {
			drop_tx(v, &f[sent++], errno); /* as a link that is down drops */
		}
	}
	return sent;
}

/* 0: not by this way, not now. */
static unsigned
send_burst(struct veth *v, const struct scx_frame *f, unsigned nr)
{
	int err = 0;
	unsigned sent = scx_burst_send(v->burst, f, nr, &err);

	if (err == -ENETDOWN) {
		drop_tx(v, &f[sent++], ENETDOWN);
	} else if (err != 0 && err != -EINTR && err != -EAGAIN && err != -ENOMEM) {
		scx_log(v->name, "a burst of frames failed (%s): a packet socket from now on",
			strerror(-err));
		scx_burst_close(v->burst);
		v->burst = NULL;
	}
	return sent;
}

/* Frames that may leave in a burst, from the first on. */
static unsigned
burst_length(const struct veth *v, const struct scx_frame *f, unsigned nr)
{
	unsigned n = 0;

	while (n < nr && f[n].len <= v->burst_len && f[n].len >= ETHER_HDR_LEN)
		n++;
	return n;
}

static unsigned
veth_send(struct scx_wire *w, const struct scx_frame *f, unsigned nr)
{
	struct veth *v = (struct veth *)w;
	unsigned sent = 0;

	while (sent < nr) {
		unsigned n = v->burst ? burst_length(v, f + sent, nr - sent) : 0, done = 0;

		if (n >= SCX_BURST_LEAST)
			done = send_burst(v, f + sent, n);
		if (done == 0) /* the socket takes any, and says what is wrong with one */
			done = send_packets(
				v, f + sent, n == 0 || n >= SCX_BURST_LEAST ? nr - sent : n);
		if (done == 0)
			break;
		sent += done;
	}
	return sent;
}

static void
veth_close(struct scx_wire *w)
{
	struct veth *v = (struct veth *)w;

	if (v->dropped_rx || v->dropped_tx)
		scx_log(v->name, "the wire dropped %llu received and %llu sent frames",
			(unsigned long long)v->dropped_rx, (unsigned long long)v->dropped_tx);
	if (v->burst)
		scx_burst_close(v->burst);
	munmap(v->ring, (size_t)NR_SLOTS * SLOT_BYTES);
	close(v->rx);
	close(v->tx);
	free(v);
}

static const struct scx_wire_ops veth_ops = {
	.name = "veth",
	.send = veth_send,
	.recv = veth_recv,
	.close = veth_close,
};

static int
bind_to(int fd, int ifindex, uint16_t protocol)
{
	struct sockaddr_ll a = {
		.sll_family = AF_PACKET, .sll_protocol = htons(protocol), .sll_ifindex = ifindex};

	return bind(fd, (struct sockaddr *)&a, sizeof(a)) ? -errno : 0;
}

static int
set(int fd, int option, int value)
{
	return setsockopt(fd, SOL_PACKET, option, &value, sizeof(value)) ? -errno : 0;
}

static int
open_rx(struct veth *v, int ifindex, const char **step)
{
	struct tpacket_req ring = {
		BLOCK_BYTES, NR_SLOTS / (BLOCK_BYTES / SLOT_BYTES), SLOT_BYTES, NR_SLOTS};
	struct packet_mreq promisc = {.mr_ifindex = ifindex, .mr_type = PACKET_MR_PROMISC};
	int rc;

	*step = "receive options";
	if ((rc = set(v->rx, PACKET_VERSION, TPACKET_V2)) ||
		(rc = set(v->rx, PACKET_VNET_HDR, 1)) ||
		(rc = set(v->rx, PACKET_IGNORE_OUTGOING, 1)))
		return rc;
	*step = "receive ring";
	if (setsockopt(v->rx, SOL_PACKET, PACKET_RX_RING, &ring, sizeof(ring)))
		return -errno;
	v->ring = mmap(
		NULL, (size_t)NR_SLOTS * SLOT_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, v->rx, 0);
	if (v->ring == MAP_FAILED)
		return -errno;
	*step = "promiscuous mode"; /* the NIC model filters by address, not the netdev */
	if (setsockopt(v->rx, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc, sizeof(promisc)))
		return -errno;
	*step = "bind";
	return bind_to(v->rx, ifindex, ETH_P_ALL);
}

static int
open_tx(struct veth *v, int ifindex, const char **step)
{
	int rc = 0, bytes = 4 << 20;

	*step = "send options";
	rc = set(v->tx, PACKET_QDISC_BYPASS, 1);
	if (rc)
		return rc;
	/* best effort: a small buffer costs rate, nothing else */
	setsockopt(v->tx, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes));
	*step = "bind";
	return bind_to(v->tx, ifindex, 0);
}

/* The faster way to send, if it is to be had; the packet socket does as well. */
static void
open_burst(struct veth *v, unsigned ifindex)
{
	struct ifreq mtu = {0};
	const char *step = "MTU";
	int rc;

	memcpy(mtu.ifr_name, v->name, sizeof(mtu.ifr_name));
	rc = ioctl(v->tx, SIOCGIFMTU, &mtu) ? -errno : scx_burst_open(ifindex, &v->burst, &step);
	if (rc) {
		scx_log(v->name, "frames leave one by one through a packet socket. Cause: %s: %s",
			step, strerror(-rc));
		return;
	}
	v->burst_len = (uint32_t)mtu.ifr_mtu + ETHER_HDR_LEN;
	if (v->burst_len > SCX_BURST_FRAME_MAX)
		v->burst_len = SCX_BURST_FRAME_MAX;
	scx_log(v->name,
		"frames of up to %u bytes leave in bursts (BPF), others one by one through a "
		"packet socket",
		v->burst_len);
}

int
scx_wire_veth(const char *netdev, struct scx_wire **w, char *err, size_t err_bytes)
{
	struct veth *v = calloc(1, sizeof(*v));
	const char *step = "netdev";
	unsigned ifindex = if_nametoindex(netdev);
	int rc = -errno;

	if (!v)
		return -ENOMEM;
	v->ring = MAP_FAILED;
	v->rx = v->tx = -1;
	if (!ifindex)
		goto fail;
	step = "packet socket (needs CAP_NET_RAW)";
	v->rx = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	v->tx = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	rc = v->rx < 0 || v->tx < 0 ? -errno : 0;
	if (!rc)
		rc = open_rx(v, ifindex, &step);
	if (!rc)
		rc = open_tx(v, ifindex, &step);
	if (rc)
		goto fail;
	snprintf(v->name, sizeof(v->name), "%s", netdev);
	open_burst(v, ifindex);
	v->wire.ops = &veth_ops;
	*w = &v->wire;
	return 0;
fail:
	snprintf(err, err_bytes, "netdev %s: %s: %s", netdev, step, strerror(-rc));
	if (v->ring != MAP_FAILED)
		munmap(v->ring, (size_t)NR_SLOTS * SLOT_BYTES);
	if (v->rx >= 0)
		close(v->rx);
	if (v->tx >= 0)
		close(v->tx);
	free(v);
	return rc;
}
