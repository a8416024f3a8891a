#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The host's part of the case bulk: takes what the guest sends, sends as much, compares the sums.

usage: bulk.py CONSOLE SECONDS
"""
import hashlib
import os
import re
import socket
import sys
import time

BYTES = 4 << 20


def wait_for(console, pattern, until):
    while time.monotonic() < until:
        with open(console, "rb") as f:
            m = re.search(pattern, f.read())
        if m:
            return m
        time.sleep(0.1)
    sys.exit(f"bulk: the console never said {pattern}")


def main():
    console, seconds = sys.argv[1], int(sys.argv[2])
    until = time.monotonic() + seconds
    listener = socket.create_server(("192.168.77.1", 7001))
    listener.settimeout(seconds)
    conn, _ = listener.accept()
    conn.settimeout(seconds)
    start, got = time.monotonic(), bytearray()
    while len(got) < BYTES:
        part = conn.recv(1 << 16)
        if not part:
            break
        got += part
    conn.close()
    took = time.monotonic() - start
    said = wait_for(console, rb"GUEST md5 (\w{32})", until)[1].decode()
    if len(got) != BYTES or hashlib.md5(got).hexdigest() != said:
        sys.exit(f"bulk: {len(got)} bytes came from the guest, or not the right ones")
    data = os.urandom(BYTES)
    wait_for(console, rb"GUEST listening", until)
    with socket.create_connection(("192.168.77.2", 7002), timeout=seconds) as s:
        s.sendall(data)
    said = wait_for(console, rb"GUEST md5in (\w{32})", until)[1].decode()
    if hashlib.md5(data).hexdigest() != said:
        sys.exit("bulk: the guest received something else")
    print(f"bulk: {BYTES} bytes each way, the guest's in {took:.1f} s")


if __name__ == "__main__":
    main()
