#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""carillon-doctor on made-up machines: each with the exact findings expected, and no other.

usage: doctor_trees.py CARILLON-DOCTOR [SEED]
A situation's doc string lists what must be found beside "ok", as LEVEL ID [SUBJECT]; what it does
not list must not be found. Each finding must carry its evidence, and a fix.
"""
import json
import random
import subprocess
import sys
import tempfile

import situations_machine
import situations_nic
from tree import SITUATIONS, Machine


def expected(function):
    wanted = set()
    for line in (function.__doc__ or "").splitlines():
        words = line.split()
        if words and words[0] in ("stop", "warn", "note"):
            wanted.add(tuple(words[:2]) + ((words[2],) if len(words) > 2 else ("",)))
    return wanted


def judge(doctor, function, with_text):
    """What is wrong with the doctor's report of this situation, as lines."""
    m = Machine()
    checks = function(m) or {}
    wrong = []
    with tempfile.TemporaryDirectory() as root:
        m.write(root)
        run = subprocess.run([doctor, "--root", root, "--json"], capture_output=True, text=True, timeout=20)
        text = with_text and subprocess.run([doctor, "--root", root], capture_output=True, text=True, timeout=20)
    wanted = expected(function)
    status = 1 if any(level == "stop" for level, _, _ in wanted) else 0
    if run.returncode != status or (text and text.returncode != status):
        wrong.append(f"exit status {run.returncode}, not {status}: {run.stderr}")
    report = json.loads(run.stdout)
    found = {(f["level"], f["id"], f["subject"]) for f in report["findings"] if f["level"] != "ok"}
    wrong += [f"missed: {' '.join(f)}" for f in sorted(wanted - found)]
    wrong += [f"false alarm: {' '.join(f)}" for f in sorted(found - wanted)]
    for f in report["findings"]:
        if not f["evidence"] or (f["level"] != "ok" and not f["fix"]):
            wrong.append(f"{f['id']} lacks evidence or fix")
        if text and f["level"] != "ok" and f["id"] not in text.stdout:
            wrong.append(f"{f['id']} is not in the text")
    for gpu, (rdma, path) in checks.items():
        got = [(c["rdma"], c["path"]) for c in report["choices"] if c["gpu"] == gpu]
        if got != [(rdma, path)]:
            wrong.append(f"choice for {gpu}: {got}, not {rdma} {path}")
    return wrong


def rubbish(doctor, function, rng):
    """The situation with some of its files made into what no kernel writes: a report all the same, and sound JSON."""
    m = Machine()
    function(m)
    for path in rng.sample(sorted(m.files), min(len(m.files), 12)):
        m.put(path, rng.choice([rng.randbytes(rng.randrange(300)), b"", b"-1\n", b"9" * 40 + b"\n", b"a b c\n" * 200,
                                m.files[path][:len(m.files[path]) // 2], m.files[path] + rng.randbytes(40)]))
    with tempfile.TemporaryDirectory() as root:
        m.write(root)
        run = subprocess.run([doctor, "--root", root, "--json", "--all"], capture_output=True, timeout=20)
    if run.returncode not in (0, 1):
        return [f"exit status {run.returncode}: {run.stderr[-300:]}"]
    try:
        json.loads(run.stdout.decode())
    except ValueError as error:
        return [f"no JSON: {error}"]
    return []


def main():
    doctor, bad = sys.argv[1], 0
    print(f"from {situations_nic.__name__} and {situations_machine.__name__}")
    seed = sys.argv[2] if len(sys.argv) > 2 else str(random.getrandbits(32))
    rng = random.Random(seed)
    for i, function in enumerate(SITUATIONS):
        wrong = judge(doctor, function, i % 6 == 0)
        if i % 4 == 1:
            wrong += [f"rubbish, seed {seed}: {line}" for line in rubbish(doctor, function, rng)]
        bad += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {function.__name__}")
        for line in wrong:
            print(f"    {line}")
    with tempfile.TemporaryDirectory() as root:
        run = subprocess.run([doctor, "--root", root], capture_output=True, text=True, timeout=20)
        if run.returncode != 2 or "cannot look" not in run.stderr:
            bad += 1
            print(f"not ok nothing to look at: status {run.returncode}")
    print(f"{len(SITUATIONS)} situations, {bad} bad")
    return bad != 0 or len(SITUATIONS) < 40


sys.exit(main())
