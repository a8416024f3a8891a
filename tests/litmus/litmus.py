#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Judges the edges' litmus tests by PTX's memory model, and holds them to what nvcc makes of order.h.

usage: litmus.py verdicts FILE.litmus...       each as it stands: its outcome cannot be; and with the
                                               engine's fences left out, or of GPU scope: it can
       litmus.py compiled ENGINE.ptx FILE.litmus...   the engine's columns are what was compiled, but for kinds of
                                               fences; with those compiled its outcome cannot be
       litmus.py known                         the model itself, on tests whose verdict is known

The files are in the format that Dat3M's Dartagnan reads; no tool for them is in Debian, so the model is here,
for what they use: loads, stores and fences of constants at addresses of their own, no dependency, no atomic.
It is the axiomatic model of the PTX ISA, chapter "Memory Consistency Model": moral strength, release and
acquire patterns by fences, synchronization, base causality, causality; axioms Coherence, Fence-SC,
SC-per-location and Causality. The last thread is the NIC, which PTX does not know: it stands there as a
thread of another GPU whose own steps are ordered, the best that can be hoped for from a device.
"""
import itertools
import re
import sys

FENCE, LOAD, STORE, INIT = "fence", "ld", "st", "init"


class Event:
    def __init__(self, thread, kind, sem="weak", scope="sys", loc=None, value=None, reg=None):
        self.thread, self.kind, self.sem, self.scope = thread, kind, sem, scope
        self.loc, self.value, self.reg = loc, value, reg

    def writes(self):
        return self.kind in (STORE, INIT)

    def strong(self):
        return self.kind in (FENCE, INIT) or self.sem != "weak"

    def releases(self):
        return self.kind == FENCE and self.sem != "acquire"

    def acquires(self):
        return self.kind == FENCE and self.sem != "release"


class Litmus:
    def __init__(self, text, path):
        head = re.match(r'PTX (\w+)\n"([^"]*)"\n\{(.*?)\}\n(.*)~exists\n\((.*)\)\n$', text, re.DOTALL)
        if not head:
            raise SystemExit(f"{path}: not in the format")
        self.name, self.locs = head.group(1), re.findall(r"(?<!:)\b(\w+)=0;", head.group(3))
        rows = [[c.strip() for c in row.rstrip(" ;").split("|")] for row in head.group(4).splitlines()]
        self.at = [re.match(r"P\d+@cta (\d+),gpu (\d+)$", c).groups() for c in rows[0]]  # block, GPU
        self.threads = [[self.event(t, row[t]) for row in rows[1:] if len(row) > t and row[t]]
                        for t in range(len(rows[0]))]
        self.wanted = [(int(t), reg, op == "==", int(v)) for t, reg, op, v in
                       re.findall(r"P(\d+):(\w+) (==|!=) (\d+)", head.group(5))]

    @classmethod
    def load(cls, path):
        with open(path, encoding="utf-8") as file:
            return cls(file.read(), path)

    @staticmethod
    def event(thread, text):
        fence = re.match(r"fence\.(sc|acq_rel|release|acquire)\.(\w+)$", text)
        load = re.match(r"ld\.(weak|relaxed)(?:\.(\w+))? (\w+), (\w+)$", text)
        store = re.match(r"st\.(weak|relaxed)(?:\.(\w+))? (\w+), (\d+)$", text)
        if fence:
            return Event(thread, FENCE, *fence.groups())
        if load:
            return Event(thread, LOAD, load.group(1), load.group(2) or "sys", load.group(4), reg=load.group(3))
        if store:
            return Event(thread, STORE, store.group(1), store.group(2) or "sys", store.group(3), int(store.group(4)))
        raise SystemExit(f"'{text}': an instruction that is not known here")

    def engine(self):
        return range(len(self.threads) - 1)

    def possible(self, threads):
        """Whether some execution of these threads that the model allows ends as ~exists says."""
        events = [Event(None, INIT, loc=loc, value=0) for loc in self.locs] + [e for t in threads for e in t]
        return any(self.ends_so(events, rf) and Execution(self, events, threads, rf, co, sc).allowed()
                   for rf in choices_rf(events) for co in choices_co(self.locs, events) for sc in choices_sc(events))

    def ends_so(self, events, rf):
        value = {(e.thread, e.reg): events[rf[i]].value for i, e in enumerate(events) if e.kind == LOAD}
        return all((value[t, reg] == v) == equal for t, reg, equal, v in self.wanted)


def choices_rf(events):
    loads = [i for i, e in enumerate(events) if e.kind == LOAD]
    froms = [[w for w, e in enumerate(events) if e.writes() and e.loc == events[i].loc] for i in loads]
    for pick in itertools.product(*froms):
        yield dict(zip(loads, pick))


def choices_co(locs, events):
    per = []
    for loc in locs:
        first = [i for i, e in enumerate(events) if e.kind == INIT and e.loc == loc]
        rest = [i for i, e in enumerate(events) if e.kind == STORE and e.loc == loc]
        per.append([first + list(p) for p in itertools.permutations(rest)])
    for pick in itertools.product(*per):
        yield {(a, b) for order in pick for a, b in itertools.combinations(order, 2)}


def choices_sc(events):
    for order in itertools.permutations([i for i, e in enumerate(events) if e.kind == FENCE and e.sem == "sc"]):
        yield set(itertools.combinations(order, 2))


def compose(a, b):
    after = {}
    for x, y in b:
        after.setdefault(x, []).append(y)
    return {(x, z) for x, y in a for z in after.get(y, ())}


def closure(a):
    a = set(a)
    while True:
        more = compose(a, a) - a
        if not more:
            return a
        a |= more


class Execution:
    def __init__(self, litmus, events, threads, rf, co, sc):
        self.at, self.events, self.co, self.sc = litmus.at, events, co, sc
        self.rf = {(w, r) for r, w in rf.items()}
        self.fr = {(r, w2) for w, r in self.rf for w1, w2 in co if w1 == w}
        at = {id(e): i for i, e in enumerate(events)}
        self.po = {(at[id(a)], at[id(b)]) for t in threads for a, b in itertools.combinations(t, 2)}
        every = range(len(events))
        self.strong = {(a, b) for a in every for b in every if a != b and self.morally_strong(a, b)}
        self.same = {(a, b) for a in every for b in every if events[a].loc and events[a].loc == events[b].loc}
        self.cause = self.causality()

    def covers(self, a, b):
        if a.kind == INIT or b.kind == INIT or a.scope == "sys":
            return True
        (block, gpu), (other_block, other_gpu) = self.at[a.thread], self.at[b.thread]
        return gpu == other_gpu and (a.scope == "gpu" or block == other_block)

    def morally_strong(self, i, j):
        a, b = self.events[i], self.events[j]
        if a.loc and b.loc and a.loc != b.loc:
            return False
        if (i, j) in self.po or (j, i) in self.po:
            return True
        return a.strong() and b.strong() and self.covers(a, b) and self.covers(b, a)

    def causality(self):
        ev, po = self.events, self.po
        observed = self.rf & self.strong
        release = {(f, w) for f, w in po if ev[f].releases() and ev[w].kind == STORE and ev[w].strong()}
        acquire = {(r, f) for r, f in po if ev[f].acquires() and ev[r].kind == LOAD and ev[r].strong()}
        sync = compose(compose(release, observed), acquire) & self.strong | self.sc & self.strong
        here = {(i, i) for i in range(len(ev))}
        base = closure(compose(compose(po | here, sync), po | here))
        first = {(i, j) for i, e in enumerate(ev) if e.kind == INIT for j, f in enumerate(ev) if f.kind != INIT}
        return base | compose(observed, base | po & self.same) | first

    def allowed(self):
        ev, cause = self.events, self.cause
        coherence = {(a, b) for a, b in cause & self.same if ev[a].writes() and ev[b].writes()}
        fences = {(a, b) for a, b in cause if ev[a].kind == ev[b].kind == FENCE and ev[a].sem == ev[b].sem == "sc"}
        if coherence - self.co or fences - self.sc:
            return False
        location = closure(self.strong & (self.rf | self.co | self.fr) | self.po & self.same)
        turned = compose(self.rf | self.fr, cause)
        return all(a != b for a, b in location | turned)


def without(threads, which, scope=None):
    """The threads with the fences of those in which left out, or of another scope."""
    out = []
    for t, events in enumerate(threads):
        keep = []
        for e in events:
            if t in which and e.kind == FENCE:
                if scope is None:
                    continue
                e = Event(t, FENCE, e.sem, scope)
            keep.append(e)
        out.append(keep)
    return out


def verdicts(paths):
    bad = 0
    print(f"{'edge':30} {'as it is':10} {'acq_rel':10} {'GPU scope':10} left out")
    for path in paths:
        lit = Litmus.load(path)
        say = {True: "can be", False: "cannot be"}
        plain = lit.possible(lit.threads)
        weaker = [[Event(e.thread, e.kind, "acq_rel" if e.kind == FENCE else e.sem, e.scope, e.loc, e.value, e.reg)
                   for e in t] for t in lit.threads]
        scope = lit.possible(without(lit.threads, lit.engine(), "gpu"))
        # each engine thread's fence by itself, so that none of them is idle
        gone = [lit.possible(without(lit.threads, [t])) for t in lit.engine()]
        print(f"{lit.name:30} {say[plain]:10} {say[lit.possible(weaker)]:10} {say[scope]:10} "
              + ", ".join(say[g] for g in gone))
        bad += plain or not all(gone) or not scope
    return bad


# Well known shapes, threads with / between instructions: what PTX allows of them (NVIDIA's ISA document and the
# paper "A Formal Analysis of the NVIDIA PTX Memory Consistency Model", ASPLOS 2019).
KNOWN = [
    ("MP, relaxed, no fence", True, "st.relaxed.sys x, 1 / st.relaxed.sys y, 1",
     "ld.relaxed.sys r0, y / ld.relaxed.sys r1, x", "P1:r0 == 1 /\\ P1:r1 == 0"),
    ("MP, reader's fence only", True, "st.weak x, 1 / st.relaxed.sys y, 1",
     "ld.relaxed.sys r0, y / fence.acq_rel.sys / ld.weak r1, x", "P1:r0 == 1 /\\ P1:r1 == 0"),
    ("MP, weak flag", True, "st.weak x, 1 / fence.acq_rel.sys / st.weak y, 1",
     "ld.weak r0, y / fence.acq_rel.sys / ld.weak r1, x", "P1:r0 == 1 /\\ P1:r1 == 0"),
    ("MP, fences", False, "st.weak x, 1 / fence.acq_rel.sys / st.relaxed.sys y, 1",
     "ld.relaxed.sys r0, y / fence.acq_rel.sys / ld.weak r1, x", "P1:r0 == 1 /\\ P1:r1 == 0"),
    ("MP, release and acquire", False, "st.weak x, 1 / fence.release.sys / st.relaxed.sys y, 1",
     "ld.relaxed.sys r0, y / fence.acquire.sys / ld.weak r1, x", "P1:r0 == 1 /\\ P1:r1 == 0"),
    ("MP, acquire for release", True, "st.weak x, 1 / fence.acquire.sys / st.relaxed.sys y, 1",
     "ld.relaxed.sys r0, y / fence.acquire.sys / ld.weak r1, x", "P1:r0 == 1 /\\ P1:r1 == 0"),
    ("MP, release for acquire", True, "st.weak x, 1 / fence.release.sys / st.relaxed.sys y, 1",
     "ld.relaxed.sys r0, y / fence.release.sys / ld.weak r1, x", "P1:r0 == 1 /\\ P1:r1 == 0"),
    ("MP, block scope, one block", False, "st.weak x, 1 / fence.acq_rel.cta / st.relaxed.sys y, 1",
     "ld.relaxed.sys r0, y / fence.acq_rel.cta / ld.weak r1, x", "P1:r0 == 1 /\\ P1:r1 == 0", "cta 0,gpu 0"),
    ("MP, block scope, two blocks", True, "st.weak x, 1 / fence.acq_rel.cta / st.relaxed.sys y, 1",
     "ld.relaxed.sys r0, y / fence.acq_rel.cta / ld.weak r1, x", "P1:r0 == 1 /\\ P1:r1 == 0", "cta 1,gpu 0"),
    ("MP, GPU scope, two blocks", False, "st.weak x, 1 / fence.acq_rel.gpu / st.relaxed.sys y, 1",
     "ld.relaxed.sys r0, y / fence.acq_rel.gpu / ld.weak r1, x", "P1:r0 == 1 /\\ P1:r1 == 0", "cta 1,gpu 0"),
    ("SB, fence.acq_rel", True, "st.relaxed.sys x, 1 / fence.acq_rel.sys / ld.relaxed.sys r0, y",
     "st.relaxed.sys y, 1 / fence.acq_rel.sys / ld.relaxed.sys r1, x", "P0:r0 == 0 /\\ P1:r1 == 0"),
    ("SB, fence.sc", False, "st.relaxed.sys x, 1 / fence.sc.sys / ld.relaxed.sys r0, y",
     "st.relaxed.sys y, 1 / fence.sc.sys / ld.relaxed.sys r1, x", "P0:r0 == 0 /\\ P1:r1 == 0"),
    ("SB, fence.sc of GPU scope between GPUs", True,
     "st.relaxed.sys x, 1 / fence.sc.gpu / ld.relaxed.sys r0, y",
     "st.relaxed.sys y, 1 / fence.sc.gpu / ld.relaxed.sys r1, x", "P0:r0 == 0 /\\ P1:r1 == 0"),
    ("LB, relaxed", True, "ld.relaxed.sys r0, x / st.relaxed.sys y, 1",
     "ld.relaxed.sys r1, y / st.relaxed.sys x, 1", "P0:r0 == 1 /\\ P1:r1 == 1"),
    ("CoRR, relaxed", False, "st.relaxed.sys x, 1", "ld.relaxed.sys r0, x / ld.relaxed.sys r1, x",
     "P1:r0 == 1 /\\ P1:r1 == 0"),
    ("CoRR, weak", True, "st.relaxed.sys x, 1", "ld.weak r0, x / ld.weak r1, x", "P1:r0 == 1 /\\ P1:r1 == 0"),
    ("CoWR", False, "st.relaxed.sys x, 1 / ld.relaxed.sys r0, x", "st.relaxed.sys y, 1", "P0:r0 == 0"),
    ("2+2W, fences", False, "st.relaxed.sys x, 1 / fence.sc.sys / st.relaxed.sys y, 2 / ld.relaxed.sys r0, y",
     "st.relaxed.sys y, 1 / fence.sc.sys / st.relaxed.sys x, 2 / ld.relaxed.sys r1, x", "P0:r0 == 1 /\\ P1:r1 == 1"),
]


def known():
    bad = 0
    for name, want, first, second, condition, *where in KNOWN:
        rows = itertools.zip_longest(first.split(" / "), second.split(" / "), fillvalue="")
        text = f'PTX known\n"{name}"\n{{\nx=0; y=0;\n}}\nP0@cta 0,gpu 0 | P1@{(where or ["cta 0,gpu 1"])[0]} ;\n' \
            + "".join(f"{a} | {b} ;\n" for a, b in rows) + f"~exists\n({condition})\n"
        lit = Litmus(text, name)
        got = lit.possible(lit.threads)
        print(f"{name:40} {'can be' if got else 'cannot be'}{'' if got == want else ': WRONG'}")
        bad += got != want
    return bad


SAME = [  # an instruction as nvcc writes it, and by what name the model knows it
    (r"st\.v2\.b64", "st.weak"),
    (r"st\.volatile(?:\.global)?\.u\d+", "st.relaxed.sys"),
    (r"st\.mmio\.relaxed\.sys\.global\.u64", "st.relaxed.sys"),
    (r"ld\.volatile(?:\.global)?\.u\d+", "ld.relaxed.sys"),
    (r"membar\.sys|fence\.sc\.sys", "fence.sc.sys"),
    (r"fence\.(acq_rel|release|acquire)\.\w+", None),  # by their own names
]


def shapes_of(ptx):
    """By kernel: its loads, stores and fences in the model's names."""
    with open(ptx, encoding="utf-8") as file:
        text = file.read()
    out = {}
    for name, body in re.findall(r"\.entry (\w+)\(.*?\n\{(.*?)\n\}", text, re.DOTALL):
        out[name] = []
        for line in body.splitlines():
            op = line.strip().split(" ")[0].split("\t")[0].rstrip(";")
            if re.match(r"(ld|st|membar|fence|atom|red)\b", op) and not op.startswith("ld.param"):
                known = [to for pattern, to in SAME if re.fullmatch(pattern, op)]
                out[name].append(known[0] or op if known else op)
    return out


def fence_of(text):
    """Of an instruction in the model's names: its fence without the kind, and the kind."""
    m = re.match(r"fence\.(sc|acq_rel|release|acquire)\.(\w+)$", text)
    return (f"fence.{m.group(2)}", m.group(1)) if m else (text, None)


def compiled(ptx, paths):
    """Columns and compiled code agree but for the kinds of fences; with those that were compiled it cannot be."""
    bad, shapes = 0, shapes_of(ptx)
    for path in paths:
        lit, wrong = Litmus.load(path), 0
        threads = list(lit.threads)
        for t in lit.engine():
            name = lit.name + (f"_{t}" if len(lit.engine()) > 1 else "")
            want = [f"{e.kind}.{e.sem}" + ("" if e.sem == "weak" else f".{e.scope}") for e in lit.threads[t]]
            got = shapes.get(name, [])
            same = [fence_of(g)[0] for g in got] == [fence_of(w)[0] for w in want]
            print(f"{name:32} {' '.join(got)}{'' if same else ' : the litmus test has ' + ' '.join(want)}")
            wrong += not same
            if same:
                threads[t] = [Event(e.thread, FENCE, fence_of(g)[1], e.scope) if e.kind == FENCE else e
                              for e, g in zip(lit.threads[t], got)]
        if not wrong and lit.possible(threads):
            print(f"{lit.name}: with the fences that were compiled the bad outcome can be")
            wrong = 1
        bad += wrong
    return bad


def main():
    if sys.argv[1:2] == ["verdicts"] and len(sys.argv) > 2:
        sys.exit(verdicts(sys.argv[2:]) != 0)
    if sys.argv[1:] == ["known"]:
        sys.exit(known() != 0)
    if sys.argv[1:2] == ["compiled"] and len(sys.argv) > 3:
        sys.exit(compiled(sys.argv[2], sys.argv[3:]) != 0)
    sys.exit("usage: litmus.py verdicts FILE.litmus... | compiled ENGINE.ptx FILE.litmus... | known")


main()
