#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Inside `meson devenv -C build`: is everything that gets installed found by its bare name?

usage: devenv.py BUILD-DIR NAME...   the NAMEs must be among what the build installs, at least
Programs through PATH, libraries and DPDK plugins through the loader, .pc files through pkg-config; and
each of them is the one of this build, not an older one of the system.
"""
import ctypes
import json
import os
import re
import shutil
import subprocess
import sys


def loaded_from(name):
    """The file that the loader takes for a bare library name, None: none. In a process of its own."""
    child = subprocess.run(
        [sys.executable, sys.argv[0], "--load", name], capture_output=True, text=True, timeout=30
    )
    if child.returncode:
        print(child.stderr.strip().splitlines()[-1])
        return None
    return child.stdout.strip()


def load(name):
    ctypes.CDLL(name, mode=os.RTLD_LAZY)
    with open("/proc/self/maps", encoding="utf-8") as maps:
        stem = name.split(".so")[0]
        paths = [line.split()[-1] for line in maps if os.path.basename(line.split()[-1]).startswith(stem)]
    print(os.path.realpath(paths[0]))


def main(build, wanted):
    installed = json.loads(
        subprocess.run(
            ["meson", "introspect", "--installed", build], check=True, capture_output=True, text=True
        ).stdout
    )
    names = {os.path.basename(place) for place in installed.values()}
    bad = [f"{name} is not among what the build installs" for name in wanted if name not in names]
    seen = 0
    for name, place in sorted((os.path.basename(p), p) for p in installed.values()):
        if "/bin/" in place:
            found = shutil.which(name)
        elif re.search(r"\.so$", name):
            found = loaded_from(name)
        else:
            continue
        seen += 1
        if found is None:
            bad.append(f"{name} is not found by name")
        elif not os.path.realpath(found).startswith(os.path.realpath(build) + os.sep):
            bad.append(f"{name} is found at {found}, not in this build")
    for pc in (n[:-3] for n in names if n.endswith(".pc")):
        seen += 1
        if subprocess.run(["pkg-config", "--exists", "--print-errors", pc], check=False).returncode:
            bad.append(f"pkg-config does not find {pc}")
    for line in bad:
        print(line)
    print(f"{seen} names looked up, {len(bad)} wrong")
    return 1 if bad or not seen else 0


if __name__ == "__main__":
    if sys.argv[1] == "--load":
        load(sys.argv[2])
        sys.exit(0)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
