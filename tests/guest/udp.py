#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The host's part of cases that ask for UDP: 200 datagrams, of 100 source ports, each time that the
guest says "GUEST send PORT", until it has given its verdict or is off.

usage: udp.py CONSOLE SECONDS
"""
import re
import socket
import sys
import time

TO = "192.168.77.2"


def send(port):
    for source in range(20000, 20100):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.bind(("192.168.77.1", source))
            for n in range(2):
                s.sendto(b"%d %d" % (source, n), (TO, port))
        time.sleep(0.002)


def main():
    console, until, done = sys.argv[1], time.monotonic() + int(sys.argv[2]), 0
    while time.monotonic() < until:
        with open(console, "rb") as f:
            text = f.read()
        asked = re.findall(rb"GUEST send (\d+)", text)
        for port in asked[done:]:
            send(int(port))
        done = len(asked)
        if b"GUEST VERDICT" in text or b"reboot: Power down" in text:
            print(f"udp: {done} times 200 datagrams")
            return
        time.sleep(0.1)
    sys.exit("udp: the guest came to no end")


if __name__ == "__main__":
    main()
