#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The host's part of cases that look at each frame.

usage: frames.py swap NETDEV MAC FRAMES SECONDS    send to MAC; each must come back once, in order,
                                                   with its addresses swapped and nothing else changed
       frames.py flows NETDEV FLOWS FRAMES SECONDS what comes must be flowgen's frames, in sequence
"""
import collections
import random
import socket
import struct
import sys
import time

ETH_P_ALL, SOL_PACKET, PACKET_STATISTICS, PACKET_IGNORE_OUTGOING = 3, 263, 6, 23
SO_RCVBUFFORCE = 33
ROOM = 256 << 20
WINDOW = 32  # frames on their way
QUIET = 3  # seconds without a frame are too many
OURS = bytes.fromhex("0a0000000001")
KIND = 0x88B5  # IEEE 802, local experimental: nobody else sends it


def open_socket(netdev):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETH_P_ALL))
    s.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, ROOM)
    s.setsockopt(SOL_PACKET, PACKET_IGNORE_OUTGOING, 1)
    s.bind((netdev, 0))
    s.settimeout(QUIET)
    return s


def dropped(s):
    """Frames that the kernel had no room for: this side's fault."""
    return struct.unpack("II", s.getsockopt(SOL_PACKET, PACKET_STATISTICS, 8))[1]


def swap(netdev, mac, frames, seconds):
    s, rng = open_socket(netdev), random.Random(1)
    guest = bytes.fromhex(mac.replace(":", ""))
    waiting, sent, got, until = collections.deque(), 0, 0, time.monotonic() + seconds
    while got < frames:
        while sent < frames and len(waiting) < WINDOW:
            body = struct.pack(">HI", KIND, sent) + rng.randbytes(rng.randrange(42, 1497))
            s.send(guest + OURS + body)
            waiting.append(OURS + guest + body)
            sent += 1
        try:
            f = s.recv(2048)
        except TimeoutError:
            sys.exit(f"swap: frame {got} of {sent} sent never came back, {dropped(s)} lost on this side")
        if f[12:14] != struct.pack(">H", KIND):
            continue
        if f != waiting.popleft():
            sys.exit(f"swap: in place of frame {got} came {f[:24].hex()}... of {len(f)} bytes")
        got += 1
        if time.monotonic() > until:
            sys.exit(f"swap: {got} frames in {seconds} s")
    try:
        while True:
            if s.recv(2048)[12:14] == struct.pack(">H", KIND):
                sys.exit("swap: one frame more than was sent")
    except TimeoutError:
        print(f"swap: {got} frames came back, once each, in order, addresses swapped")


def checksum_ok(head):
    total = sum(struct.unpack(">10H", head))
    return (total & 0xFFFF) + (total >> 16) in (0xFFFF, 0x1FFFE)


def flows(netdev, nr_flows, frames, seconds):
    """From 10.254.0.0:1000 to 10.253.0.0 + k port 1001, k counting through the flows."""
    s, last, got, until = open_socket(netdev), None, 0, time.monotonic() + seconds
    s.settimeout(seconds)
    base = struct.unpack(">I", socket.inet_aton("10.253.0.0"))[0]
    while got < frames:
        try:
            f = s.recv(2048)
        except TimeoutError:
            sys.exit(f"flows: {got} frames in {seconds} s")
        if time.monotonic() > until:
            sys.exit(f"flows: {got} frames in {seconds} s")
        if f[12:14] != b"\x08\x00" or f[26:30] != socket.inet_aton("10.254.0.0"):
            continue
        k = struct.unpack(">I", f[30:34])[0] - base
        if not 0 <= k < nr_flows or (last is not None and k != (last + 1) % nr_flows):
            sys.exit(f"flows: after {last} came {k}, {dropped(s)} lost on this side")
        if f[34:38] != struct.pack(">HH", 1000, 1001) or not checksum_ok(f[14:34]):
            sys.exit(f"flows: {f[:42].hex()}")
        last, got = k, got + 1
    print(f"flows: {got} frames in sequence through {nr_flows} flows")


def main():
    what, netdev, arg, frames, seconds = sys.argv[1:]
    if what == "swap":
        swap(netdev, arg, int(frames), int(seconds))
    else:
        flows(netdev, int(arg), int(frames), int(seconds))


if __name__ == "__main__":
    main()
