#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What `softcx run --log-dump` wrote, read and judged; used by log_dump.sh and tests/gpu.

  dumps.py LOG MEMORY HOW [FRAME]

MEMORY is `host memory` or `device memory`, HOW `by address` or `dma-buf`: there must be an SQ and
an RQ, each with the CQ it completes into, whose rings and records lie in umems of that kind, and
dumped entries of each ring whose bytes are what they should be by this file's own reading of the
PRM's layouts. FRAME: bytes of each received frame. Prints the lines that it found; exit status 1
and words when something is missing or wrong.
"""
import re
import struct
import sys

UMEM = re.compile(r'umem (0x\w+): (\d+) bytes at (0x\w+), (host memory|device memory), (by address|dma-buf)')
RING = re.compile(r'(SQ|RQ|CQ) (0x\w+): ring of (\d+) bytes in umem (0x\w+) at offset (0x\w+), '
                  r'record in umem (0x\w+) at offset (0x\w+)')
ENTRY = re.compile(r'(SQ|RQ|CQ) (0x\w+): (?:WQE|CQE) (\d+) at (0x\w+) in (host memory|device memory): '
                   r'([0-9a-f ]+)$')
SEND, EMPW, SENT, RECEIVED = 0x0a, 0x29, 0, 2


class Wrong(Exception):
    pass


def need(ok, words):
    if not ok:
        raise Wrong(words)


class Log:
    def __init__(self, path):
        self.umem, self.ring, self.entry, self.line = {}, {}, {}, {}
        for line in open(path, errors='replace'):
            for pattern, take in ((UMEM, self.take_umem), (RING, self.take_ring),
                                  (ENTRY, self.take_entry)):
                found = pattern.search(line.rstrip('\n'))
                if found:
                    take(found, line.strip())

    def take_umem(self, m, line):
        self.umem[m[1]] = (int(m[3], 16), int(m[2]), m[4], m[5])
        self.line[m[1]] = line

    def take_ring(self, m, line):
        self.ring[(m[1], m[2])] = (int(m[3]), m[4], int(m[5], 16), m[6], int(m[7], 16))
        self.line[(m[1], m[2])] = line

    def take_entry(self, m, line):
        self.entry.setdefault((m[1], m[2]), []).append(
            (int(m[3]), int(m[4], 16), m[5], bytes.fromhex(m[6].replace(' ', '')), line))

    def kind_of(self, queue):
        """The kinds of memory of a queue's ring and record."""
        _, ring, _, record, _ = self.ring[queue]
        return {self.umem[ring][2:], self.umem[record][2:]}


def place(log, queue, size, memory):
    """Each dumped entry lies in its slot, in the umem that the queue's line names."""
    bytes_, umem, off, _, _ = log.ring[queue]
    base = log.umem[umem][0] + off
    for index, at, where, data, line in log.entry[queue]:
        need(at == base + index * size % bytes_, 'not in its slot: ' + line)
        need(at + size <= log.umem[umem][0] + log.umem[umem][1], 'outside of the umem: ' + line)
        need(where == memory, 'not in %s: %s' % (memory, line))
        need(len(data) == size, '%d bytes: %s' % (len(data), line))


def sq(log, queue):
    """The CQ that it completes into cannot be told from WQEs; the CQEs name the queue."""
    number, due = int(queue[1], 16), None
    for index, _, _, w, line in log.entry[queue]:
        head, second = struct.unpack('>II', w[:8])
        need(head & 0xff in (SEND, EMPW), 'opcode 0x%x: %s' % (head & 0xff, line))
        need(head >> 8 == index and second >> 8 == number, 'index or queue: ' + line)
        need(due is None or index == due, 'WQE %s was expected: %s' % (due, line))
        need(second & 0x3f >= 3, 'ds %d: %s' % (second & 0x3f, line))
        due = index + ((second & 0x3f) + 3) // 4


def cq(log, queue, frame):
    """Returns the SQ that the CQEs name, None: they are an RQ's."""
    named = set()
    for index, _, _, e, line in log.entry[queue]:
        opcode, lap = e[63] >> 4, index * 64 // log.ring[queue][0] & 1
        need(opcode in (SENT, RECEIVED), 'opcode %d: %s' % (opcode, line))
        need(e[63] & 1 == lap, 'owner bit: ' + line)
        if opcode == RECEIVED:
            named.add(None)
            need(not frame or struct.unpack('>I', e[44:48])[0] == frame, 'bytes: ' + line)
        else:
            named.add(struct.unpack('>I', e[56:60])[0] & 0xffffff)
            need(e[56] in (SEND, EMPW), 'of a WQE with opcode 0x%x: %s' % (e[56], line))
    need(len(named) == 1, 'CQEs of several queues: %s' % (queue,))
    return named.pop()


def judge(path, memory, how, frame=0, say=print):
    log = Log(path)
    ours = [q for q in log.entry if q in log.ring and log.kind_of(q) == {(memory, how)}]
    have = {kind: [q for q in ours if q[0] == kind] for kind in ('SQ', 'RQ', 'CQ')}
    for kind in have:
        need(have[kind], 'no dumped %s whose ring and record are in %s, %s' % (kind, memory, how))
    for q in ours:
        place(log, q, 16 if q[0] == 'RQ' else 64, memory)
    for q in have['SQ']:
        sq(log, q)
    for q in have['RQ']:
        for _, _, _, w, line in log.entry[q]:
            bytes_, key, at = struct.unpack('>IIQ', w)
            need(bytes_ >= 64 and key and at, 'receive WQE: ' + line)
    named = [cq(log, q, frame) for q in have['CQ']]
    need(None in named, 'no CQE of a received frame')
    need(any(int(q[1], 16) in named for q in have['SQ']), 'no CQE of a sent one')
    shown = have['SQ'][:1] + have['RQ'][:1] + have['CQ'][:2]
    for q in shown:
        say(log.line[q])
        say(log.entry[q][0][4])
    for umem in sorted({u for q in shown for u in (log.ring[q][1], log.ring[q][3])}):
        say(log.line[umem])
    return sum(len(log.entry[q]) for q in ours)


def main():
    try:
        n = judge(sys.argv[1], sys.argv[2], sys.argv[3], int((sys.argv + ['0'])[4]))
    except (Wrong, IndexError, KeyError, ValueError, OSError) as e:
        print('dumps.py: %s: %s' % (type(e).__name__, e), file=sys.stderr)
        return 1
    print('%d entries' % n)
    return 0


if __name__ == '__main__':
    sys.exit(main())
