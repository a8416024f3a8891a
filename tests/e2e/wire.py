#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Frames for the end-to-end tests: make them, send and capture them on a netdev, compare captures.

  wire.py make KIND OUT [--seed S] [--count N] [--max BYTES]   a capture file of test frames
  wire.py exchange NETDEV IN OUT [--expect N] [--seconds S] [--rate PPS] [--delay S] [--mode MODE]
                                    send IN on NETDEV, write what comes from there to OUT; with
                                    --mode as many must come, and then diff is done at once
  wire.py listen NETDEV OUT --seconds S [--expect N]          the same without sending
  wire.py diff SENT GOT MODE [--mac MAC]   GOT must be SENT as forward mode MODE changes it
  wire.py echoes SENT GOT                  each ARP and ICMP echo request of SENT is answered in GOT
  wire.py answered GOT                     each ICMP and ICMPv6 echo request has one reply
  wire.py length IN                        number of frames

Standard library only. The frames' checksums are right unless the kind says otherwise.
"""
import argparse
import collections
import random
import select
import socket
import struct
import sys
import time

ETH_P_ALL = 3
SOL_PACKET, PACKET_AUXDATA, PACKET_IGNORE_OUTGOING = 263, 8, 23
TP_STATUS_VLAN_VALID, TP_STATUS_VLAN_TPID_VALID = 1 << 4, 1 << 6
MAC_A, MAC_B = bytes.fromhex('020000000a01'), bytes.fromhex('020000000b02')


def csum(data):
    """RFC 1071: ones' complement of the ones' complement sum of 16-bit words."""
    if len(data) % 2:
        data += b'\0'
    total = sum(struct.unpack('>%dH' % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def eth(kind, payload, dst=MAC_B, src=MAC_A, tags=()):
    """tags: (tpid, tci) pairs, outermost first."""
    head = dst + src
    for tpid, tci in tags:
        head += struct.pack('>HH', tpid, tci)
    return head + struct.pack('>H', kind) + payload


def ip4(proto, payload, src='10.1.0.1', dst='10.1.0.2', frag=0, ident=1, options=b'', bad=False):
    length = 20 + len(options) + len(payload)
    head = struct.pack('>BBHHHBBH4s4s', 0x45 + len(options) // 4, 0, length, ident, frag, 64, proto,
                       0, socket.inet_aton(src), socket.inet_aton(dst)) + options
    value = csum(head) ^ (0x5555 if bad else 0)
    return head[:10] + struct.pack('>H', value) + head[12:] + payload


def pseudo(src, dst, proto, length):
    if ':' in src:
        return (socket.inet_pton(socket.AF_INET6, src) + socket.inet_pton(socket.AF_INET6, dst) +
                struct.pack('>II', length, proto))
    return socket.inet_aton(src) + socket.inet_aton(dst) + struct.pack('>BBH', 0, proto, length)


def udp(payload, src, dst, sport, dport, bad=False):
    head = struct.pack('>HHHH', sport, dport, 8 + len(payload), 0)
    value = csum(pseudo(src, dst, 17, 8 + len(payload)) + head + payload) or 0xffff
    return head[:6] + struct.pack('>H', value ^ (0x5555 if bad else 0)) + payload


def tcp(payload, src, dst, sport, dport, bad=False):
    head = struct.pack('>HHIIBBHHH', sport, dport, 1000, 2000, 0x50, 0x10, 8192, 0, 0)
    value = csum(pseudo(src, dst, 6, 20 + len(payload)) + head + payload)
    return head[:16] + struct.pack('>H', value ^ (0x5555 if bad else 0)) + head[18:] + payload


def ip6(proto, payload, src='fd00::1', dst='fd00::2'):
    return (struct.pack('>IHBB', 6 << 28, len(payload), proto, 64) +
            socket.inet_pton(socket.AF_INET6, src) + socket.inet_pton(socket.AF_INET6, dst) +
            payload)


def udp4_frame(rng, length, tags=(), sport=None, dport=None, src='10.1.0.1', dst='10.1.0.2'):
    """An Ethernet frame of exactly length bytes: 42 and more without tags."""
    room = length - 42 - 4 * len(tags)
    data = rng.randbytes(room)
    sport, dport = (port or rng.randrange(1024, 65536) for port in (sport, dport))
    return eth(0x0800, ip4(17, udp(data, src, dst, sport, dport), src, dst), tags=tags)


def make_sizes(rng, count, top):
    """Every length at which something changes, then lengths by chance. At least 20 bytes: net_mlx5
    does not send frames of up to 18 when it inlines."""
    edges = list(range(20, 24)) + list(range(58, 68)) + [31, 32, 33, 41, 42, 43, 78, 79, 80, 81]
    for power in (128, 256, 512, 1024, 2048, 4096):
        edges += [power - 1, power, power + 1]
    edges += [290, 291, 1499, 1500, 1501, 1513, 1514, 1515, 1518, 2175, 2176]
    edges += [8999, 9000, 9013, 9014]
    for n in [n for n in edges if n <= top]:
        yield udp4_frame(rng, n) if n >= 42 else eth(0x88b5, rng.randbytes(n - 14))
    for _ in range(count):
        yield udp4_frame(rng, rng.randint(42, top))


def make_mixed(rng, count, top):
    """One of each kind of packet that a parser may trip over."""
    a4, b4, a6, b6 = '10.1.0.1', '10.1.0.2', 'fd00::1', 'fd00::2'
    vlan, qinq = (0x8100, 0x2064), (0x88a8, 0x0007)
    for _ in range(count):
        data = rng.randbytes(rng.randint(0, 200))
        yield udp4_frame(rng, rng.randint(46, top), tags=[vlan])
        yield udp4_frame(rng, rng.randint(50, top), tags=[qinq, vlan])
        yield udp4_frame(rng, 1518, tags=[vlan])
        yield eth(0x0800, ip4(6, tcp(data, a4, b4, 1234, 80)))
        yield eth(0x0800, ip4(17, udp(data, a4, b4, 5, 6), options=b'\x94\x04\0\0'))
        yield eth(0x0800, ip4(17, udp(rng.randbytes(64), a4, b4, 5, 6), frag=0x2000, ident=9))
        yield eth(0x0800, ip4(17, rng.randbytes(48), frag=9, ident=9))
        yield eth(0x0800, ip4(253, data))
        yield eth(0x86dd, ip6(17, udp(data, a6, b6, 7, 8)))
        yield eth(0x86dd, ip6(6, tcp(data, a6, b6, 7, 8)), tags=[vlan])
        inner = udp(data, a6, b6, 9, 10)
        yield eth(0x86dd, ip6(0, struct.pack('>BB6s', 60, 0, b'\x01\x04\0\0\0\0') +
                              struct.pack('>BB6s', 17, 0, b'\x01\x04\0\0\0\0') + inner))
        yield eth(0x86dd, ip6(44, struct.pack('>BBHI', 17, 0, 1, 77) + rng.randbytes(64)))
        yield eth(0x0806, arp(1, '10.1.0.1', '10.1.0.9'), dst=b'\xff' * 6)
        yield eth(0x88b5, rng.randbytes(60), dst=bytes.fromhex('0180c200000e'))
        yield eth(60, rng.randbytes(60))  # a length, not a type: IEEE 802.3 with LLC


def make_all(rng, count, top):
    yield from make_sizes(rng, count, top)
    yield from make_mixed(rng, max(1, count // 20), min(top, 1514))


def make_csum(rng, count, top):
    """Right and wrong checksums: the destination port says which: 1 good, 2 L3 bad, 3 L4 bad."""
    a4, b4, a6, b6 = '10.1.0.1', '10.1.0.2', 'fd00::1', 'fd00::2'
    for _ in range(count):
        data = rng.randbytes(rng.randint(1, min(1400, top - 80)))
        yield eth(0x0800, ip4(17, udp(data, a4, b4, 999, 1)))
        yield eth(0x0800, ip4(6, tcp(data, a4, b4, 999, 1)))
        yield eth(0x86dd, ip6(17, udp(data, a6, b6, 999, 1)))
        yield eth(0x86dd, ip6(6, tcp(data, a6, b6, 999, 1)))
        yield eth(0x0800, ip4(17, udp(data, a4, b4, 999, 2), bad=True))
        yield eth(0x0800, ip4(6, tcp(data, a4, b4, 999, 2), bad=True))
        yield eth(0x0800, ip4(17, udp(data, a4, b4, 999, 3, bad=True)))
        yield eth(0x0800, ip4(6, tcp(data, a4, b4, 999, 3, bad=True)))
        yield eth(0x86dd, ip6(17, udp(data, a6, b6, 999, 3, bad=True)))
        yield eth(0x86dd, ip6(6, tcp(data, a6, b6, 999, 3, bad=True)))


def make_flows(rng, count, top):
    """UDP and TCP flows with addresses and ports by chance, v4 and v6 in turn."""
    for i in range(count):
        proto = (udp, tcp)[i // 2 % 2]
        number = (17, 6)[i // 2 % 2]
        sport, dport = rng.randrange(1, 65536), rng.randrange(1, 65536)
        if i % 2:
            src, dst = ('fd00::%x:1' % rng.randrange(65536) for _ in range(2))
            yield eth(0x86dd, ip6(number, proto(b'flow', src, dst, sport, dport), src, dst))
        else:
            src, dst = ('10.1.%d.%d' % (rng.randrange(256), rng.randrange(256)) for _ in range(2))
            yield eth(0x0800, ip4(number, proto(b'flow', src, dst, sport, dport), src, dst))


MICROSOFT = (  # "Verifying the RSS hash calculation": destination, its port, source, its port
    ('161.142.100.80', 1766, '66.9.149.187', 2794),
    ('65.69.140.83', 4739, '199.92.111.2', 14230),
    ('12.22.207.184', 38024, '24.19.198.95', 12898),
    ('209.142.163.6', 2217, '38.27.205.30', 48228),
    ('202.188.127.2', 1303, '153.39.163.191', 44251),
    ('3ffe:2501:200:3::1', 1766, '3ffe:2501:200:1fff::7', 2794),
    ('ff02::1', 4739, '3ffe:501:8::260:97ff:fe40:efab', 14230),
    ('fe80::200:f8ff:fe21:67cf', 38024, '3ffe:1900:4545:3:200:f8ff:fe21:67cf', 44251))


def make_microsoft(rng, count, top):
    for dst, dport, src, sport in MICROSOFT:
        segment = tcp(b'', src, dst, sport, dport)
        if ':' in src:
            yield eth(0x86dd, ip6(6, segment, src, dst))
        else:
            yield eth(0x0800, ip4(6, segment, src, dst))


def make_ports(rng, count, top):
    """count UDP frames to each of the ports 5000 to 5003, in turn."""
    for i in range(count * 4):
        yield udp4_frame(rng, 64, sport=1000 + i // 4, dport=5000 + i % 4)


def make_udp(rng, count, top):
    for i in range(count):
        yield udp4_frame(rng, top, sport=1000 + i % 60000, dport=5000)


def arp(op, src, dst, mac=MAC_A, target=b'\0' * 6):
    return struct.pack('>HHBBH6s4s6s4s', 1, 0x0800, 6, 4, op, mac, socket.inet_aton(src), target,
                       socket.inet_aton(dst))


def make_echo(rng, count, top):
    """ARP requests and ICMP echo requests of many lengths; icmpecho answers any address."""
    for i in range(count):
        yield eth(0x0806, arp(1, '10.1.0.1', '10.1.0.%d' % (2 + i % 200)), dst=b'\xff' * 6)
        body = struct.pack('>BBHHH', 8, 0, 0, 77, i) + rng.randbytes(rng.randint(0, top - 42))
        yield eth(0x0800, ip4(1, body[:2] + struct.pack('>H', csum(body)) + body[4:]))


KINDS = {'sizes': make_sizes, 'mixed': make_mixed, 'all': make_all, 'csum': make_csum, 'flows': make_flows,
         'microsoft': make_microsoft, 'ports': make_ports, 'udp': make_udp, 'echo': make_echo}


def pcap_write(path, frames):
    with open(path, 'wb') as f:
        f.write(struct.pack('<IHHiIII', 0xa1b2c3d4, 2, 4, 0, 0, 262144, 1))
        for i, frame in enumerate(frames):
            f.write(struct.pack('<IIII', i // 1000000, i % 1000000, len(frame), len(frame)) + frame)


def pcap_read(path):
    with open(path, 'rb') as f:
        data = f.read()
    order = {0xa1b2c3d4: '<', 0xa1b23c4d: '<'}.get(struct.unpack('<I', data[:4])[0], '>')
    frames, at = [], 24
    while at + 16 <= len(data):
        _, _, kept, length = struct.unpack(order + 'IIII', data[at:at + 16])
        if kept != length or at + 16 + kept > len(data):
            sys.exit('%s: frame %d is cut short' % (path, len(frames)))
        frames.append(data[at + 16:at + 16 + kept])
        at += 16 + kept
    return frames


def open_netdev(netdev):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.bind((netdev, ETH_P_ALL))
    s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20)  # SO_RCVBUFFORCE
    s.setblocking(False)
    return s


def receive(s, got):
    """All that is there; the kernel keeps the outer VLAN tag beside the frame: put it back."""
    while True:
        try:
            frame, aux, _, _ = s.recvmsg(65600, 256)
        except BlockingIOError:
            return
        for level, kind, data in aux:
            if level == SOL_PACKET and kind == PACKET_AUXDATA:
                status, _, _, _, _, tci, tpid = struct.unpack('IIIHHHH', data)
                if status & TP_STATUS_VLAN_VALID:
                    tpid = tpid if status & TP_STATUS_VLAN_TPID_VALID else 0x8100
                    frame = frame[:12] + struct.pack('>HH', tpid, tci) + frame[12:]
        got.append(frame)


def exchange(netdev, sent, out, expect, seconds, rate, delay):
    s = open_netdev(netdev)
    time.sleep(delay)
    got, start = [], time.monotonic()
    for i, frame in enumerate(sent):
        while rate and time.monotonic() < start + i / rate:
            receive(s, got)
            time.sleep(0.0002)
        while True:
            try:
                s.send(frame)
                break
            except (BlockingIOError, OSError) as e:
                if e.errno not in (11, 105) or time.monotonic() > start + 30:  # EAGAIN, ENOBUFS
                    raise
                select.select([], [s], [], 0.01)
        if i % 16 == 0:
            receive(s, got)
    end = time.monotonic() + seconds
    while time.monotonic() < end and (expect is None or len(got) < expect):
        select.select([s], [], [], 0.05)
        receive(s, got)
    if expect is not None:  # one that should not come is seen only by waiting for it
        time.sleep(0.1)
        receive(s, got)
    pcap_write(out, got)
    if expect is not None and len(got) != expect:
        sys.exit('%d frames came back, wanted %d' % (len(got), expect))


def swap_five(frame):
    """As app/test-pmd/5tswap.c: MACs, then addresses and ports behind any VLAN tags."""
    f = bytearray(frame)
    f[0:6], f[6:12] = frame[6:12], frame[0:6]
    at, kind = 14, frame[12:14]
    while kind in (b'\x81\x00', b'\x88\xa8'):
        kind = frame[at + 2:at + 4]
        at += 4
    if kind == b'\x08\x00':
        f[at + 12:at + 16], f[at + 16:at + 20] = frame[at + 16:at + 20], frame[at + 12:at + 16]
        proto, at = frame[at + 9], at + (frame[at] & 15) * 4
    elif kind == b'\x86\xdd':
        f[at + 8:at + 24], f[at + 24:at + 40] = frame[at + 24:at + 40], frame[at + 8:at + 24]
        proto, at = frame[at + 6], at + 40
    else:
        return bytes(f)
    if proto in (6, 17):
        f[at:at + 2], f[at + 2:at + 4] = frame[at + 2:at + 4], frame[at:at + 2]
    return bytes(f)


def expected(mode, mac):
    """The function from a frame to what the forward mode makes of it, before padding."""
    own = bytes.fromhex(mac.replace(':', '')) if mac else None
    return {'io': lambda f: f,
            'macswap': lambda f: f[6:12] + f[0:6] + f[12:],
            'mac': lambda f: bytes.fromhex('020000000000') + own + f[12:],
            '5tswap': swap_five}[mode]


def diff(sent, got, mode, mac):
    change = expected(mode, mac)
    want = collections.Counter(change(f).ljust(60, b'\0') for f in sent)
    have = collections.Counter(got)
    bad = 0
    for name, frames in (('missing', want - have), ('not sent or changed wrongly', have - want)):
        for frame, n in list(frames.items())[:3]:
            print('%s, %d times: %d bytes %s' % (name, n, len(frame), frame[:64].hex()),
                  file=sys.stderr)
        bad += sum(frames.values())
    if bad:
        sys.exit('%s: %d of %d frames differ' % (mode, bad, len(sent)))


def echoes(sent, got):
    want = collections.Counter()
    for f in sent:
        if f[12:14] == b'\x08\x06':
            want[('arp', f[28:32], f[38:42])] += 1
        else:
            want[('echo', f[26:30], f[30:34], f[38:], 0)] += 1
    have = collections.Counter()
    for f in got:
        if f[12:14] == b'\x08\x06' and f[20:22] == b'\0\x02':
            have[('arp', f[38:42], f[28:32])] += 1
        elif f[12:14] == b'\x08\0' and f[34:36] == b'\0\0':
            end = 14 + struct.unpack('>H', f[16:18])[0]
            have[('echo', f[30:34], f[26:30], f[38:end], csum(f[34:end]))] += 1
    if want != have:
        sys.exit('%d requests, %d right answers, %d other frames' %
                 (len(sent), sum((want & have).values()), sum((have - want).values())))


def echo_key(f):
    """(is a reply, requester, answerer, id and sequence number) of an echo's first or only part."""
    if f[12:14] == b'\x08\x00' and f[23] == 1 and not struct.unpack('>H', f[20:22])[0] & 0x1fff:
        src, dst, icmp, kinds = f[26:30], f[30:34], f[34:], (8, 0)
    elif f[12:14] == b'\x86\xdd' and f[20] == 58:
        src, dst, icmp, kinds = f[22:38], f[38:54], f[54:], (128, 129)
    elif f[12:14] == b'\x86\xdd' and f[20] == 44 and f[54] == 58 and f[56:58] == b'\x00\x01':
        src, dst, icmp, kinds = f[22:38], f[38:54], f[62:], (128, 129)
    else:
        return None
    if icmp[0] not in kinds:
        return None
    return (True, dst, src, icmp[4:8]) if icmp[0] == kinds[1] else (False, src, dst, icmp[4:8])


def answered(frames):
    keys = [k for k in map(echo_key, frames) if k]
    asked = collections.Counter(k[1:] for k in keys if not k[0])
    replied = collections.Counter(k[1:] for k in keys if k[0])
    if asked != replied or not asked:
        sys.exit('%d echo requests, %d without a reply, %d replies too many' %
                 (sum(asked.values()), sum((asked - replied).values()),
                  sum((replied - asked).values())))
    print('%d echo requests, each with its reply' % sum(asked.values()))


def main():
    p = argparse.ArgumentParser(description=__doc__,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('verb', choices=['make', 'exchange', 'listen', 'diff', 'echoes', 'answered',
                                     'length'])
    p.add_argument('args', nargs='*')
    p.add_argument('--seed', type=int, default=1)
    p.add_argument('--count', type=int, default=100)
    p.add_argument('--max', type=int, default=1514)
    p.add_argument('--expect', type=int)
    p.add_argument('--seconds', type=float, default=5)
    p.add_argument('--rate', type=float)
    p.add_argument('--delay', type=float, default=0)
    p.add_argument('--mac')
    p.add_argument('--mode')
    o = p.parse_args()
    if o.verb == 'make':
        pcap_write(o.args[1], KINDS[o.args[0]](random.Random(o.seed), o.count, o.max))
    elif o.verb == 'exchange':
        sent = pcap_read(o.args[1])
        expect = len(sent) if o.mode else o.expect
        exchange(o.args[0], sent, o.args[2], expect, o.seconds, o.rate, o.delay)
        if o.mode:
            diff(sent, pcap_read(o.args[2]), o.mode, o.mac)
    elif o.verb == 'listen':
        exchange(o.args[0], [], o.args[1], o.expect, o.seconds, None, 0)
    elif o.verb == 'diff':
        diff(pcap_read(o.args[0]), pcap_read(o.args[1]), o.args[2], o.mac)
    elif o.verb == 'echoes':
        echoes(pcap_read(o.args[0]), pcap_read(o.args[1]))
    elif o.verb == 'answered':
        answered(pcap_read(o.args[0]))
    else:
        print(len(pcap_read(o.args[0])))


if __name__ == '__main__':
    main()
