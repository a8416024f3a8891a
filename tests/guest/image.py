#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Builds the initramfs of a guest: busybox, the kernel's modules that are asked for, one script.

usage: image.py [--add FILE]... [--put FILE=NAME]... OUT KERNEL-FOLDER SCRIPT MODULE...

KERNEL-FOLDER is an unpacked kernel package with busybox beside it (fetch.sh). The modules and what
they depend on are loaded by /init, in order; then SCRIPT runs, and the machine is switched off.
--add FILE has a file of this machine in the guest as well, under the same name and byte by byte,
with the libraries that the dynamic linker finds for it here; a program is found by its name there.
--put FILE=NAME is a file under another name.
"""
import argparse
import gzip
import lzma
import os
import re
import subprocess
import sys

INIT = b"""#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/programs
mount -t proc proc /proc; mount -t sysfs sys /sys; mount -t devtmpfs dev /dev
chmod 755 / # EAL takes no plugin from below a folder that all may write to
mkdir -p /dev/shm /dev/hugepages
grep -q hugetlbfs /proc/filesystems && mount -t hugetlbfs huge /dev/hugepages
for m in $(cat /modules); do insmod /lib/$m.ko || echo "GUEST insmod $m failed"; done
. /guest.sh
. /case
poweroff -f
"""


class Cpio:
    """The newc format, of which the kernel's documentation says all (buffer-format.rst)."""

    def __init__(self):
        self.out, self.ino, self.names = bytearray(), 1, set()

    def add(self, name, mode, data=b"", rdev=(0, 0)):
        name = name.lstrip("/")
        if name in self.names:
            return
        if os.path.dirname(name):
            self.add(os.path.dirname(name), 0o040755)
        self.names.add(name)
        raw = name.encode() + b"\0"
        fields = [self.ino, mode, 0, 0, 1, 0, len(data), 0, 0, rdev[0], rdev[1], len(raw), 0]
        self.ino += 1
        self.out += b"070701" + b"".join(b"%08x" % f for f in fields) + raw
        self.out += b"\0" * (-len(self.out) % 4) + data
        self.out += b"\0" * (-len(self.out) % 4)

    def file(self, path, name):
        with open(path, "rb") as f:
            self.add(name, 0o100755, f.read())


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


def closure(path):
    """The file and its libraries, as absolute names without links in their folders."""
    out = subprocess.run(["ldd", path], capture_output=True, text=True, check=False).stdout
    if "not found" in out:
        sys.exit(f"image: {path} lacks a library:\n{out}")
    for p in [path] + re.findall(r"(/\S+) \(0x", out):
        yield os.path.join(os.path.realpath(os.path.dirname(p)), os.path.basename(p))


def add_linked(c, path):
    """A file, or a link and what it names: a library under two names stays one to the loader."""
    while os.path.islink(path):
        to = os.readlink(path)
        c.add(path, 0o120777, to.encode())
        path = os.path.join(os.path.dirname(path), to)
        path = os.path.join(os.path.realpath(os.path.dirname(path)), os.path.basename(path))
    c.file(path, path)


def add_files(c, files, puts):
    for f in files:
        if not os.path.exists(f):
            sys.exit(f"image: no file {f}")
        for p in closure(os.path.abspath(f)):
            add_linked(c, p)
        if os.access(f, os.X_OK) and ".so" not in f:
            at = os.path.join(os.path.realpath(os.path.dirname(f)), os.path.basename(f))
            c.add("programs/" + os.path.basename(f), 0o120777, at.encode())
    for p in puts:
        c.file(*p.split("=", 1))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--add", action="append", default=[])
    p.add_argument("--put", action="append", default=[])
    p.add_argument("out")
    p.add_argument("kernel")
    p.add_argument("script")
    p.add_argument("module", nargs="+")
    a = p.parse_args()
    c = Cpio()
    for d in ("bin", "lib", "proc", "sys", "dev", "tmp", "run", "etc", "var", "programs"):
        if d == "lib" and a.add:
            c.add("lib", 0o120777, b"usr/lib")  # as on the machine that the files are from
            c.add("lib64", 0o120777, b"usr/lib64")
            c.add("usr/lib", 0o040755)
        c.add(d, 0o040755)
    c.add("var/tmp", 0o041777)
    c.add("var/run", 0o120777, b"../run")
    c.add("dev/console", 0o020600, rdev=(5, 1))
    c.file(a.kernel + "/bin/busybox", "bin/busybox")
    mods = modules(a.kernel, a.module)
    for name, data in mods:
        c.add(f"{'usr/' if a.add else ''}lib/{name}.ko", 0o100644, data)
    c.add("modules", 0o100644, "\n".join(n for n, _ in mods).encode() + b"\n")
    c.add("init", 0o100755, INIT)
    c.file(a.script, "case")
    c.file(os.path.join(os.path.dirname(os.path.abspath(__file__)), "guest.sh"), "guest.sh")
    add_files(c, a.add, a.put)
    c.add("TRAILER!!!", 0)
    with gzip.open(a.out, "wb", compresslevel=1) as f:
        f.write(c.out)


if __name__ == "__main__":
    main()
