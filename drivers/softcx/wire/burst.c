/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The BPF program behind burst.h, and its calls. It is run by BPF_PROG_TEST_RUN, which makes one
 * socket buffer and calls the program with it. The program fills that buffer with one frame after
 * the other and sends a clone each time (bpf_clone_redirect); what it writes next goes to a copy,
 * because the clone holds on to the bytes. Softirqs are off meanwhile (Linux 6.2 and later; before
 * that they run in between, which costs time and changes nothing else).
 *
 * The program names the netdev by number, and the kernel looks that up in the network namespace of
 * the calling thread. A wire may be opened elsewhere than in the namespace of the program, so the
 * thread that sends moves to the wire's, and stays there: it belongs to softcx and has nothing else
 * to do with networks.
 *
 * By hand and without libbpf: the program is thirty instructions, and this code is loaded into
 * every program that softcx runs.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <net/ethernet.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "burst.h"

/* Memory shared with the program: a header, then the frames. */
struct header {
	uint32_t nr; /* frames to send */
	int32_t err; /* of the frame that could not be sent: negative errno */
	uint32_t pad[14];
};

struct slot {
	uint32_t len;
	uint32_t pad[15]; /* the frame starts a cache line */
	uint8_t frame[SCX_BURST_FRAME_MAX];
};

struct shared {
	struct header h;
	struct slot slot[SCX_BURST_NR];
};

#define NETNS_HERE "/proc/thread-self/ns/net"

struct scx_burst {
	int map, prog;
	int netns;	/* open, for setns */
	ino_t netns_id; /* never 0 */
	struct shared *shared;
	uint8_t first[64]; /* what the socket buffer holds to begin with */
};

#define FRAME_AT ((int)offsetof(struct slot, frame))
#define INSN(op, d, s, o, i)                                                                       \
	{                                                                                          \
		.code = (op), .dst_reg = (d), .src_reg = (s), .off = (o), .imm = (i)               \
	}
#define SET(d, i)	      INSN(BPF_ALU64 | BPF_MOV | BPF_K, d, 0, 0, i)
#define COPY(d, s)	      INSN(BPF_ALU64 | BPF_MOV | BPF_X, d, s, 0, 0)
#define ADD(d, i)	      INSN(BPF_ALU64 | BPF_ADD | BPF_K, d, 0, 0, i)
#define LOAD(d, s, o)	      INSN(BPF_LDX | BPF_W | BPF_MEM, d, s, o, 0)
#define STORE(d, o, s)	      INSN(BPF_STX | BPF_W | BPF_MEM, d, s, o, 0)
#define CALL(f)		      INSN(BPF_JMP | BPF_CALL, 0, 0, 0, BPF_FUNC_##f)
#define JUMP(c, d, i, to)     INSN(BPF_JMP | BPF_##c | BPF_K, d, 0, to, i)
#define JUMP_REG(c, d, s, to) INSN(BPF_JMP | BPF_##c | BPF_X, d, s, to, 0)

/* The network namespace of this thread, as far as we know; 0: not looked yet. */
static __thread ino_t netns_here;

static int
bpf(enum bpf_cmd cmd, union bpf_attr *attr)
{
	int rc = (int)syscall(SYS_bpf, cmd, attr, sizeof(*attr));

	return rc < 0 ? -errno : rc;
}

/*
 * for (i = 0; i < header.nr; i++): set the length, write the bytes, send a clone; returns i. r6 is
 * the socket buffer, r7 the header, r8 i, r9 the slot. The kernel's verifier wants the bounds that
 * we keep anyway.
 */
static int
load_program(struct scx_burst *b, unsigned ifindex)
{
	const struct bpf_insn program[] = {
		/*  0 */ COPY(6, 1),
		/*  1 */ INSN(BPF_LD | BPF_DW | BPF_IMM, 7, BPF_PSEUDO_MAP_VALUE, 0, b->map),
		/*  2 */ INSN(0, 0, 0, 0, 0),
		/*  3 */ COPY(9, 7),
		/*  4 */ ADD(9, offsetof(struct shared, slot)),
		/*  5 */ SET(8, 0),
		/*  6 */ LOAD(1, 7, offsetof(struct header, nr)), /* the loop's head */
		/*  7 */ JUMP_REG(JGE, 8, 1, 27),		  /* i >= nr: to the end */
		/*  8 */ LOAD(2, 9, offsetof(struct slot, len)),
		/*  9 */ JUMP(JGT, 2, SCX_BURST_FRAME_MAX, 25),
		/* 10 */ JUMP(JLT, 2, ETHER_HDR_LEN, 24),
		/* 11 */ INSN(BPF_STX | BPF_DW | BPF_MEM, 10, 2, -8, 0),
		/* 12 */ LOAD(1, 6, offsetof(struct __sk_buff, len)),
		/* 13 */ JUMP_REG(JEQ, 1, 2, 4), /* as long as the one before */
		/* 14 */ COPY(1, 6),
		/* 15 */ SET(3, 0),
		/* 16 */ CALL(skb_change_tail),
		/* 17 */ JUMP(JNE, 0, 0, 16), /* no memory: to the error */
		/* 18 */ COPY(1, 6),
		/* 19 */ SET(2, 0),
		/* 20 */ COPY(3, 9),
		/* 21 */ ADD(3, FRAME_AT),
		/* 22 */ INSN(BPF_LDX | BPF_DW | BPF_MEM, 4, 10, -8, 0),
		/* 23 */ SET(5, 0),
		/* 24 */ CALL(skb_store_bytes),
		/* 25 */ JUMP(JNE, 0, 0, 8),
		/* 26 */ COPY(1, 6),
		/* 27 */ SET(2, (int)ifindex),
		/* 28 */ SET(3, 0),
		/* 29 */ CALL(clone_redirect),
		/* 30 */ JUMP(JSLT, 0, 0, 3),
		/* 31 */ ADD(8, 1),
		/* 32 */ ADD(9, sizeof(struct slot)),
		/* 33 */ JUMP(JLT, 8, SCX_BURST_NR, -28),
		/* 34 */ STORE(7, offsetof(struct header, err), 0), /* the error, or no error */
		/* 35 */ COPY(0, 8),				    /* the end */
		/* 36 */ INSN(BPF_JMP | BPF_EXIT, 0, 0, 0, 0),
	};
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	attr.prog_type = BPF_PROG_TYPE_SCHED_CLS;
	attr.insns = (uintptr_t)program;
	attr.insn_cnt = sizeof(program) / sizeof(program[0]);
	attr.license = (uintptr_t) "Dual BSD/GPL"; /* which these helpers ask for */
	memcpy(attr.prog_name, "softcx_burst", sizeof("softcx_burst"));
	b->prog = bpf(BPF_PROG_LOAD, &attr);
	return b->prog < 0 ? b->prog : 0;
}

static int
make_memory(struct scx_burst *b)
{
	union bpf_attr attr;
	void *at;

	memset(&attr, 0, sizeof(attr));
	attr.map_type = BPF_MAP_TYPE_ARRAY;
	attr.key_size = sizeof(uint32_t);
	attr.value_size = sizeof(struct shared);
	attr.max_entries = 1;
	attr.map_flags = BPF_F_MMAPABLE;
	memcpy(attr.map_name, "softcx_burst", sizeof("softcx_burst"));
	b->map = bpf(BPF_MAP_CREATE, &attr);
	if (b->map < 0)
		return b->map;
	at = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, b->map, 0);
	if (at == MAP_FAILED)
		return -errno;
	b->shared = at;
	return 0;
}

/* Send what the shared memory says; how many left, or -errno. */
static int
run(struct scx_burst *b, unsigned nr)
{
	union bpf_attr attr;
	int rc;

	b->shared->h.nr = nr;
	b->shared->h.err = 0;
	memset(&attr, 0, sizeof(attr));
	attr.test.prog_fd = (uint32_t)b->prog;
	attr.test.data_in = (uintptr_t)b->first;
	attr.test.data_size_in = sizeof(b->first);
	attr.test.repeat = 1;
	rc = bpf(BPF_PROG_TEST_RUN, &attr);
	return rc < 0 ? rc : (int)attr.test.retval;
}

static int
remember_netns(struct scx_burst *b)
{
	struct stat st;

	b->netns = open(NETNS_HERE, O_RDONLY | O_CLOEXEC);
	if (b->netns < 0 || fstat(b->netns, &st))
		return -errno;
	b->netns_id = st.st_ino;
	return 0;
}

static int
enter_netns(const struct scx_burst *b)
{
	struct stat st;

	if (netns_here == 0 && !stat(NETNS_HERE, &st))
		netns_here = st.st_ino;
	if (netns_here == b->netns_id)
		return 0;
	if (setns(b->netns, CLONE_NEWNET))
		return -errno;
	netns_here = b->netns_id;
	return 0;
}

int
scx_burst_open(unsigned ifindex, struct scx_burst **out, const char **step)
{
	struct scx_burst *b = calloc(1, sizeof(*b));
	int rc;

	*step = "memory";
	if (!b)
		return -ENOMEM;
	b->map = b->prog = b->netns = -1;
	*step = "network namespace";
	rc = remember_netns(b);
	if (rc)
		goto fail;
	*step = "BPF map (needs CAP_BPF)";
	rc = make_memory(b);
	if (!rc) {
		*step = "BPF program (needs CAP_BPF and CAP_NET_ADMIN)";
		rc = load_program(b, ifindex);
	}
	if (!rc) {
		*step = "BPF run";
		rc = run(b, 0);
	}
	if (rc)
		goto fail;
	*out = b;
	return 0;
fail:
	scx_burst_close(b);
	return rc;
}

void
scx_burst_close(struct scx_burst *b)
{
	if (b->shared)
		munmap(b->shared, sizeof(*b->shared));
	if (b->prog >= 0)
		close(b->prog);
	if (b->map >= 0)
		close(b->map);
	if (b->netns >= 0)
		close(b->netns);
	free(b);
}

unsigned
scx_burst_send(struct scx_burst *b, const struct scx_frame *f, unsigned nr, int *err)
{
	int sent;

	*err = enter_netns(b);
	if (*err)
		return 0;
	if (nr > SCX_BURST_NR)
		nr = SCX_BURST_NR;
	for (unsigned i = 0; i < nr; i++) {
		struct slot *s = &b->shared->slot[i];

		s->len = f[i].len;
		memcpy(s->frame, f[i].data, f[i].len);
	}
	sent = run(b, nr);
	if (sent < 0) {
		*err = sent;
		return 0;
	}
	*err = (unsigned)sent < nr ? b->shared->h.err : 0;
	return (unsigned)sent;
}
