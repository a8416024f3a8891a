#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Reads compiled kernels and checks, in every path, what a NIC relies on.

usage: check_ptx.py FILE.ptx

Each kernel becomes a graph of instructions. From an instruction the search goes backwards over all
paths until each has met one of a set of instructions; what it met there is judged.

  post      before every doorbell (st.mmio) stands a system fence, before that the send record, before
            that a system fence, and no WQE store lies between the fences and the doorbell
  giveback  before every receive or CQ record stands a system fence, and no load of what the NIC writes
            lies between
  payload   before every load of a CQE's byte count stands a system fence that no path goes round
  loads     no load takes the read-only path (ld.global.nc, ldu): it would not see what the NIC wrote
A kernel that sends has all of them; one that only receives has no doorbell.
"""
import re
import sys

FENCE = re.compile(r"^(membar\.sys|fence\.(acq_rel|sc|release)\.sys)\b")
BOTH = re.compile(r"^(membar\.sys|fence\.(acq_rel|sc)\.sys)\b")  # also for loads behind it
WQE = re.compile(r"^(st\.v2\.b64|st\.volatile\.u8 +\[%\w+\+11\])")
RECORD = re.compile(r"^st\.volatile\.u32 +\[(%\w+)(?:\+(\d+))?\], +(%\w+)")
LOAD = re.compile(r"^ld\.volatile\.")
BYTE_COUNT = re.compile(r"^ld\.volatile\.u32 +%\w+, +\[%\w+\+44\]")
READ_ONLY = re.compile(r"^(ld\.(\w+\.)*nc\b|ldu\.)")


class Kernel:
    def __init__(self, name, text):
        self.name = name
        self.code, labels = [], {}
        for line in text.splitlines():
            line = line.split("//")[0].strip()
            label = re.match(r"^(\$\w+):", line)
            if label:
                labels[label.group(1)] = len(self.code)
            elif line.endswith(";") and not line.startswith("."):
                self.code.append(re.sub(r"\s+", " ", line[:-1]))
        self.wire = set()  # registers that hold a word in the wire's byte order
        self.before = [[] for _ in self.code]
        for at, op in enumerate(self.code):
            swapped = re.match(r"^(?:or\.b32|prmt\.b32) (%\w+),", op)
            if swapped:
                self.wire.add(swapped.group(1))
            jump = re.match(r"^(@!?%\w+ )?bra(\.uni)? (\$\w+)", op)
            if re.search(r"\bbrx\b|\bcall\b", op):
                raise SystemExit(f"{name}: '{op}': a path this check cannot follow")
            if jump and labels[jump.group(3)] < len(self.code):
                self.before[labels[jump.group(3)]].append(at)
            if not (jump and not jump.group(1)) and op not in ("ret", "exit") and at + 1 < len(self.code):
                self.before[at + 1].append(at)

    def record(self, op):
        """'send', 'back' or None: which record a store writes."""
        match = RECORD.match(op)
        if not match or match.group(3) not in self.wire:
            return None
        return {"4": "send", None: "back"}.get(match.group(2))

    def find(self, test):
        return [at for at, op in enumerate(self.code) if test(op)]

    def back(self, start, test):
        """The instructions that pass test and are met first, backwards from start; -1: the entry."""
        met, seen, todo = set(), set(), [start]
        while todo:
            at = todo.pop()
            if not self.before[at] and at == 0:
                met.add(-1)
            if at == 0:
                met.add(-1)
            for prev in self.before[at]:
                if prev in seen:
                    continue
                seen.add(prev)
                if test(self.code[prev]):
                    met.add(prev)
                else:
                    todo.append(prev)
        return met

    def op(self, at):
        return "the kernel's entry" if at < 0 else f"'{self.code[at]}'"


def expect(kernel, start, stop, good, what):
    """All that stop meets backwards from start must be good; yields what is not, returns the rest."""
    met = kernel.back(start, stop)
    for at in met:
        if at < 0 or not good(kernel.code[at]):
            yield f"{kernel.name}: {what}: before {kernel.op(start)} stands {kernel.op(at)}"


def is_fence(op):
    return bool(FENCE.match(op))


def is_both(op):
    return bool(BOTH.match(op))


def is_mmio(op):
    return op.startswith("st.mmio.")


def check_post(k):
    # a record that gives back may stand beside the send record: the fence before them is for both
    def event(op):
        return is_fence(op) or WQE.match(op) or is_mmio(op) or k.record(op) == "send"

    for bell in k.find(is_mmio):
        yield from expect(k, bell, event, is_fence, "no fence between record and doorbell")
        for fence in k.back(bell, event):
            if fence < 0 or not is_fence(k.code[fence]):
                continue
            yield from expect(k, fence, event, lambda op: k.record(op) == "send", "no record before the bell")
            for rec in k.back(fence, event):
                if rec >= 0 and k.record(k.code[rec]) == "send":
                    yield from expect(k, rec, event, is_fence, "no fence between WQE and record")


def check_giveback(k):
    for rec in k.find(lambda op: k.record(op) == "back"):
        yield from expect(k, rec, lambda op: is_fence(op) or LOAD.match(op), is_fence, "no fence before give-back")


def check_payload(k):
    for load in k.find(lambda op: bool(BYTE_COUNT.match(op))):
        yield from expect(k, load, is_both, is_both, "no fence between CQE and payload")


def check_loads(k):
    for at in k.find(lambda op: bool(READ_ONLY.match(op))):
        yield f"{k.name}: {k.op(at)} takes the read-only path"


def check(k):
    yield from check_post(k)
    yield from check_giveback(k)
    yield from check_payload(k)
    yield from check_loads(k)
    wqes, bells = len(k.find(WQE.match)), len(k.find(is_mmio))
    back = len(k.find(lambda op: k.record(op) == "back"))
    if "rxonly" not in k.name and (wqes == 0 or bells == 0):
        yield f"{k.name}: {wqes} WQE stores and {bells} doorbells; a kernel that sends has both"
    if back == 0:
        yield f"{k.name}: no record that gives anything back"


def main():
    text = open(sys.argv[1], encoding="ascii").read()
    parts = re.split(r"^\.visible \.entry (\w+)\(", text, flags=re.M)[1:]
    kernels = [Kernel(name, body) for name, body in zip(parts[::2], parts[1::2])]
    wrong = [line for k in kernels for line in check(k)]
    for line in wrong:
        print(line)
    for k in kernels:
        print(
            f"{k.name}: {len(k.code)} instructions, {len(k.find(is_fence))} system fences, "
            f"{len(k.find(WQE.match))} WQE stores, {len(k.find(is_mmio))} doorbells"
        )
    return 1 if wrong or not kernels else 0


if __name__ == "__main__":
    sys.exit(main())
