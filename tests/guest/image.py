#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the initramfs of a guest: busybox, the kernel's modules that are asked for, one script.

usage: image.py OUT KERNEL-FOLDER SCRIPT MODULE...

KERNEL-FOLDER is an unpacked kernel package with busybox beside it (fetch.sh). The modules and what
they depend on are loaded by /init, in order; then SCRIPT runs, and the machine is switched off.
"""
import gzip
import lzma
import os
import re
import sys

INIT = b"""#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
for m in $(cat /modules); do insmod /lib/$m.ko || echo "GUEST insmod $m failed"; done
. /case
poweroff -f
"""


class Cpio:
    """The newc format, of which the kernel's documentation says all (buffer-format.rst)."""

    def __init__(self):
        self.out, self.ino = bytearray(), 1

    def add(self, name, mode, data=b"", rdev=(0, 0)):
        raw = name.encode() + b"\0"
        fields = [self.ino, mode, 0, 0, 1, 0, len(data), 0, 0, rdev[0], rdev[1], len(raw), 0]
        self.ino += 1
        self.out += b"070701" + b"".join(b"%08x" % f for f in fields) + raw
        self.out += b"\0" * (-len(self.out) % 4) + data
        self.out += b"\0" * (-len(self.out) % 4)


def modules(folder, wanted):
    """(name, bytes) of each, after what it depends on; what is no file is built in."""
    files, order, done = {}, [], set()
    for at, _, names in os.walk(folder):
        for n in names:
            m = re.fullmatch(r"(.*)\.ko(\.xz)?", n)
            if m:
                files[m[1].replace("-", "_")] = os.path.join(at, n)

    def add(name):
        name = name.replace("-", "_")
        if name in done or name not in files:
            return
        done.add(name)
        with open(files[name], "rb") as f:
            data = f.read()
        if files[name].endswith(".xz"):
            data = lzma.decompress(data)
        depends = re.search(rb"\0depends=([^\0]*)\0", data)
        for d in depends[1].decode().split(",") if depends else []:
            add(d)
        order.append((name, data))

    for w in wanted:
        if w.replace("-", "_") not in files:
            sys.exit(f"image: no module {w} below {folder}")
        add(w)
    return order


def main():
    out, kernel, script, *wanted = sys.argv[1:]
    c = Cpio()
    for d in ("bin", "lib", "proc", "sys", "dev", "tmp"):
        c.add(d, 0o040755)
    c.add("dev/console", 0o020600, rdev=(5, 1))
    with open(kernel + "/bin/busybox", "rb") as f:
        c.add("bin/busybox", 0o100755, f.read())
    mods = modules(kernel + "/lib/modules", wanted)
    for name, data in mods:
        c.add(f"lib/{name}.ko", 0o100644, data)
    c.add("modules", 0o100644, "\n".join(n for n, _ in mods).encode() + b"\n")
    c.add("init", 0o100755, INIT)
    with open(script, "rb") as f:
        c.add("case", 0o100755, f.read())
    c.add("TRAILER!!!", 0)
    with gzip.open(out, "wb", compresslevel=1) as f:
        f.write(c.out)


if __name__ == "__main__":
    main()
