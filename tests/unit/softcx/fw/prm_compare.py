#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Every field of drivers/mlx5/prm.h against the headers of others.

usage: prm_compare.py DUMP-PROGRAM LINUX-FOLDER DPDK-MLX5_PRM.H

A field is looked up in Linux's mlx5_ifc.h, and where that lacks it in DPDK's mlx5_prm.h; offset and
width must be the same. A field that neither knows fails, as does a layout or opcode. In those
headers a layout is a struct of arrays of u8 in which one byte of the array stands for one bit.
"""
import re
import subprocess
import sys

SKIP = 77  # meson: not run

# Bits of a modify bitmask that DPDK has as constants only: layout, field, name of the constant.
CONSTANTS = [("modify_tir_bitmask", "indirect_table", "MLX5_MODIFY_TIR_IN_MODIFY_BITMASK_INDIRECT_TABLE")]

# What all commands start with has no struct of its own there: a command that has nothing else.
HEADS = {"cmd_in": "alloc_pd_in", "cmd_out": "alloc_pd_out"}


class Header:
    def __init__(self, *paths):
        text = ""
        for path in paths:
            with open(path, encoding="utf-8") as f:
                text += f.read()
        self.text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
        self.body = {}
        for m in re.finditer(r"(?m)^(struct|union) mlx5_ifc_(\w+) \{(.*?)^\};", self.text, re.S):
            self.body[m[2].removesuffix("_bits")] = (m[1], m[3])
        self.sizes = {}

    def members(self, body):
        """(name, bits) of each member in order; an inner union or struct is one member."""
        at = 0
        member = re.compile(
            r"\s*(?:(struct|union)\s+mlx5_ifc_(\w+)\s+(\w+)|u8\s+(\w+))((?:\s*\[[^\]]*\])*)\s*;", re.S
        )
        nested = re.compile(r"\s*(struct|union)\s*\{")
        while body[at:].strip():
            m = nested.match(body, at)
            if m:
                depth, end = 1, m.end()
                while depth:
                    depth += {"{": 1, "}": -1}.get(body[end], 0)
                    end += 1
                inner = list(self.members(body[m.end() : end - 1]))
                name = re.compile(r"\s*(\w*)\s*(?:\[[^\]]*\])?\s*;").match(body, end)
                bits = [b for _, b in inner]
                yield name[1], max(bits) if m[1] == "union" else sum(bits)
                at = name.end()
                continue
            m = member.match(body, at)
            if not m:
                raise ValueError("cannot read: " + body[at : at + 80])
            bits = self.size(m[2].removesuffix("_bits")) if m[2] else 1
            for n in re.findall(r"\[([^\]]*)\]", m[5]):
                bits *= int(n, 0) if n.strip() else 0
            yield m[3] or m[4], bits
            at = m.end()

    def size(self, layout):
        if layout not in self.body:
            return 0  # of another file, seen in unions only; elsewhere offsets would come out wrong
        if layout not in self.sizes:
            kind, body = self.body[layout]
            bits = [b for _, b in self.members(body)]
            self.sizes[layout] = max(bits) if kind == "union" else sum(bits)
        return self.sizes[layout]

    def fields(self, layout):
        off, found = 0, {}
        for name, bits in self.members(self.body[layout][1]):
            found[name] = (off, bits)
            off += bits
        return found

    def field(self, layout, name):
        return self.fields(layout).get(name) if layout in self.body else None

    def constant(self, name):
        m = re.search(name + r"\s*=\s*([^,\n]+)", self.text)
        return eval(re.sub(r"(?i)(\d)u?l*\b", r"\1", m[1])) if m else None  # 1ULL << 1, 0x100


def main():
    dump, linux_dir, dpdk_file = sys.argv[1:]
    try:
        linux = Header(linux_dir + "/mlx5_ifc.h", linux_dir + "/device.h")
        dpdk = Header(dpdk_file)
    except OSError as e:
        print("not fetched (config/setup.sh does):", e)
        return SKIP
    bad = seen = by_dpdk = 0
    for line in subprocess.run([dump], check=True, text=True, capture_output=True).stdout.splitlines():
        kind, *what = line.split()
        seen += 1
        if kind == "L":
            mine = int(what[1])
            theirs = linux.size(what[0]) if what[0] in linux.body else "not there"
            if what[0] in HEADS:
                theirs = mine  # the part that all commands share ends before any of them does
        elif kind == "F":
            mine = (int(what[2]), int(what[3]))
            layout = HEADS.get(what[0], what[0])
            theirs = linux.field(layout, what[1])
            if theirs is None:
                theirs = dpdk.field(layout, what[1])
                by_dpdk += theirs is not None
            for bitmask, field, constant in CONSTANTS:
                if theirs is None and [bitmask, field] == what[:2]:
                    theirs = (64 - dpdk.constant(constant).bit_length(), 1)
        elif kind == "O":
            mine, theirs = int(what[1]), linux.constant("MLX5_CMD_OP_" + what[0])
        else:
            mine, theirs = int(what[1]), linux.constant("MLX5_CMD_STAT_" + what[0])
        if mine != theirs:
            print("%s: ours %s, theirs %s" % (line, mine, theirs))
            bad += 1
    what = "%d layouts, fields, opcodes and statuses compared, %d with DPDK's header only, %d differ"
    print(what % (seen, by_dpdk, bad))
    return 1 if bad or seen < 400 else 0


if __name__ == "__main__":
    sys.exit(main())
