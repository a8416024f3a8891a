# SPDX-License-Identifier: BSD-3-Clause
"""Mutants of all files in one build, and only the tests that come by a mutant run for it.

The way of long runs: compiling is done once (run compiles each file's mutants by themselves, which is
the sooner way to the first few). After it every test runs twice with all faults switched off and
says which mutants it came by. What no test comes by survives at once; any other costs the tests that
do, the likely killers first. A test that fails soon, or hangs, does so twice running or has not killed.
"""
import os
import queue
import random
import threading
import time

import schema as schemas
from schema import Schema

AGAIN_S = 3  # what fails within this is run again
DROPS_MAX = 12  # builds until every mutant that does not compile here is out


class Whole:
    """shop: the copy all is built in; bench: one of the tree as it is, for what must be compiled alone."""

    def __init__(self, shop, bench, shift, sources, chosen, jobs):
        self.shop, self.bench, self.shift, self.sources, self.jobs = shop, bench, shift, sources, jobs
        self.schemas, first = [], 1
        for path in dict.fromkeys(m.path for m in chosen):
            mine = [m for m in chosen if m.path == path]
            self.schemas.append(Schema(sources[path], mine, first))
            first += len(mine)
        self.tests = {s.source.path: bench.seeing(s.source.path) for s in self.schemas}
        self.all = list({t.name: self.shop.tests[t.name] for tests in self.tests.values() for t in tests}.values())
        self.seen, self.busy = {}, {t.name: threading.Lock() for t in self.all}
        self.survivors, self.tested = queue.SimpleQueue(), threading.Event()

    def build(self):
        """All tests with all mutants; those that do not compile here are left to be compiled alone."""
        for _ in range(DROPS_MAX):
            for schema in self.schemas:
                self.shop.put(schema.source.path, schema.text())
            words = self.shop.make_all(self.all, self.jobs)
            if not words:
                return
            dropped = 0
            for schema in self.schemas:
                for mutant in schema.blamed(words):
                    schema.drop(mutant)
                    schema.rest.append(mutant)
                    dropped += 1
            if dropped == 0:
                break
        errors = "\n".join(line for line in words.splitlines() if "error" in line or "undefined" in line)
        raise RuntimeError(f"the mutants do not compile together:\n{errors[:3000]}")

    def look(self, test):
        """Which mutants a test comes by, and how long it takes; it must pass."""
        path = os.path.join(self.shop.tree, "seen-" + "".join(c for c in test.name if c.isalnum()))
        with open(path, "wb") as file:
            file.truncate(schemas.SEEN_BYTES)
        for _ in range(2):
            begun = time.monotonic()
            result, cpu_s = self.shop.run(test, test.limit_s, more={"CRL_MUTANT_SEEN": path})
            wall_s = time.monotonic() - begun
            if result in ("ok", "skip"):
                break
        if result not in ("ok", "skip"):
            raise RuntimeError(f"{test.name}: {result} with all faults switched off")
        with open(path, "rb") as file:
            marks = file.read()
        test.seconds, test.wall, test.cost = cpu_s, wall_s, wall_s + 0.02
        self.shift.useful[test.name] = result == "ok", cpu_s  # for those that are compiled alone
        self.seen[test.name] = {n for n, mark in enumerate(marks) if mark}

    def kills(self, test, mutant, number):
        begun = time.monotonic()
        limit_s, cpu_s = 6 + 8 * test.wall, int(2 + 4 * test.seconds)
        lock = self.busy[test.name] if test.suite not in ("unit", "order") else threading.Lock()
        with lock:
            result, _ = self.shop.run(test, limit_s, cpu_s, None, number)
            took_s = time.monotonic() - begun
            # Once more where the machine's load may have failed it, and where that costs little.
            if result == "timeout" or (result == "fail" and took_s < AGAIN_S):
                result, _ = self.shop.run(test, limit_s, cpu_s, None, number)
        self.shift.ran(mutant, test, time.monotonic() - begun)
        return result in ("fail", "timeout")

    def judge(self, mutant, number):
        passing = [t for t in map(self.mine, self.tests[mutant.path]) if number in self.seen.get(t.name, ())]
        for test in self.shift.order(mutant, passing):
            if self.shift.late():
                return "undecided", None
            if self.kills(test, mutant, number):
                return "killed", test.name
        return "survived", None if passing else "no test comes by it"

    def mine(self, test):
        return self.shop.tests[test.name]

    def by_itself(self, mutant):
        """One after another, by a thread of its own: there is one copy for it."""
        source = self.sources[mutant.path]
        try:
            late = self.shift.late()
            return ("undecided", None) if late else self.bench.alone(mutant, source, self.tests[mutant.path])
        finally:
            self.bench.shop.put(mutant.path, source.text)

    def beside(self, rest):
        """What needs the other copy, while tests run: whether survivors are the same code, and between them rest."""
        while True:
            try:
                item, work = self.survivors.get(timeout=0.001 if rest else 0.2), self.to_the_end
            except queue.Empty:
                if not rest:
                    if self.tested.is_set() and self.survivors.empty():
                        return
                    continue
                item, work = rest.pop(), self.one
            self.each(work, [item], 1)

    def to_the_end(self, mutant, test):
        """A survivor: is it the same machine code?"""
        try:
            verdict, _ = self.bench.survivor(mutant, self.sources[mutant.path])
        finally:
            self.bench.shop.put(mutant.path, self.sources[mutant.path].text)
        self.shift.note(mutant, verdict, test)

    def each(self, work, items, jobs=None):
        """work(*item) for all items, by so many threads; what goes wrong is told at the end."""
        todo = queue.SimpleQueue()
        for item in items:
            todo.put(item)

        def worker():
            while True:
                try:
                    item = todo.get_nowait()
                except queue.Empty:
                    return
                try:
                    work(*item)
                except Exception as error:
                    name = getattr(item[0], "name", "?")
                    print(f"{name}: {error}", flush=True)
                    self.shift.errors.append(f"{name}: {str(error).splitlines()[0]}")

        threads = [threading.Thread(target=worker) for _ in range(jobs or self.jobs)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def run(self):
        self.say("compiling")
        self.build()
        self.say("built; which test comes by which mutant?")
        self.each(self.look, [(t,) for t in self.all])
        self.say("the tests")
        rest = [(m, None) for s in self.schemas for m in s.rest]
        random.Random(0).shuffle(rest)
        other = threading.Thread(target=self.beside, args=(rest,))
        other.start()
        items = [(m, n) for s in self.schemas for m, n in s.numbers.items()]
        random.Random(0).shuffle(items)  # what --seconds leaves out is not always the same file's
        self.each(self.one, items)
        self.tested.set()
        self.say("the machine code of survivors")
        other.join()

    def one(self, mutant, number):
        verdict, test = self.by_itself(mutant) if number is None else self.judge(mutant, number)
        if verdict == "survived" and number is not None:
            print(f"survives: {mutant.name} ({test or 'reached'})", flush=True)
            self.survivors.put((mutant, test))
        else:
            self.shift.note(mutant, verdict, test)

    @staticmethod
    def say(words):
        print(f"{time.strftime('%H:%M:%S')} {words}", flush=True)
