#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Does crl_layout() see it when two fields of one size change places? In a copy of the headers each pair of lines that
declare fields of one type, in the structs of layout.h, is exchanged; the number must be another one each time.

usage: layout.py CC SOURCE-ROOT
"""
import re
import shutil
import subprocess
import sys
import tempfile

cc, root = sys.argv[1], sys.argv[2]
FIELD = re.compile(r"^\t((?:struct |const )*\w+ [*]?)(\w+);")
PROGRAM = """#include <stdio.h>
#include "gpu_queues/layout.h"
int main(void) { printf("%08x", crl_layout()); return 0; }
"""


def number(folder):
    """crl_layout() of the headers in folder."""
    with open(f"{folder}/main.c", "w", encoding="ascii") as file:
        file.write(PROGRAM)
    subprocess.run([cc, "-O0", "-I", folder, f"{folder}/main.c", "-o", f"{folder}/main"], check=True)
    return subprocess.run([f"{folder}/main"], check=True, capture_output=True, text=True).stdout


def swaps(lines, structs):
    """Places of lines i, i + 1 within one of the structs, of the same type."""
    inside = None
    for i, line in enumerate(lines[:-1]):
        if match := re.match(r"^struct (?:\w+\(\d+\) )?(\w+) {", line):
            inside = match[1]
        elif line.startswith("};"):
            inside = None
        a, b = FIELD.match(line), FIELD.match(lines[i + 1])
        whole = all("/*" not in text or "*/" in text for text in lines[i : i + 2])  # comments are on one line
        if inside in structs and whole and a and b and a[1].strip() == b[1].strip():
            yield inside, i


def main():
    with open(f"{root}/gpu_queues/layout.h", encoding="ascii") as file:
        structs = set(re.findall(r"L\(\w+, struct (\w+),", file.read()))
    bad = 0
    tried = {}
    with tempfile.TemporaryDirectory() as folder:
        for part in ("gpu_queues", "config"):
            shutil.copytree(f"{root}/{part}", f"{folder}/{part}")
        intact = number(folder)
        for header in ("queue.h", "stream.h"):
            path = f"{folder}/gpu_queues/{header}"
            with open(path, encoding="utf-8") as file:
                lines = file.readlines()
            for struct, i in swaps(lines, structs):
                if tried.setdefault(struct, 0) >= 2:  # of each struct some
                    continue
                tried[struct] += 1
                with open(path, "w", encoding="utf-8") as file:
                    file.writelines([*lines[:i], lines[i + 1], lines[i], *lines[i + 2 :]])
                if number(folder) == intact:
                    print(f"{struct}: not seen: {lines[i].strip()} {lines[i + 1].strip()}")
                    bad += 1
            with open(path, "w", encoding="utf-8") as file:
                file.writelines(lines)
    print(f"{sum(tried.values())} exchanges in {', '.join(sorted(tried))}, {bad} not seen")
    return bad != 0 or len(tried) < 6


sys.exit(main())
