# SPDX-License-Identifier: BSD-3-Clause
"""What a run found, in words; what is known of survivors; and what earlier runs teach later ones."""
import collections
import glob
import os
import re
import subprocess
import sys
import time


def listed(here):
    """survivors.txt: a name a line, the reason in the lines under it, indented. {name: reason}."""
    found, name = {}, None
    with open(os.path.join(here, "survivors.txt"), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#") or not line.strip():
                continue
            if line[0].isspace():
                if name is None:
                    sys.exit(f"mutation: survivors.txt gives a reason for nothing: {line.strip()}")
                found[name] = (found[name] + " " + line.strip()).strip()
            else:
                name = line.strip()
                found[name] = ""
    for name, reason in found.items():
        if not reason:
            sys.exit(f"mutation: survivors.txt gives no reason for {name}")
    return found


def survivors_of(path):
    with open(path, encoding="utf-8") as file:
        return {m.group(1) for m in re.finditer(r"^survived: (.*)$", file.read(), re.MULTILINE)}


def newest(here):
    """The text of the newest report of this folder, by its name's date; '': there is none."""
    for path in sorted(glob.glob(os.path.join(here, "report-*.txt")))[-1:]:
        with open(path, encoding="utf-8") as file:
            return file.read()
    return ""


def killed_before(here):
    """Names of the mutants that the newest report says were killed."""
    return set(re.findall(r"^killed: (.*)$", newest(here), re.MULTILINE))


def killed_in(paths):
    """Of those reports: {name: a test that killed in that function}."""
    found = {}
    for path in paths:
        with open(path, encoding="utf-8") as file:
            text = file.read()
        by = {(p, f): t for p, f, t in re.findall(r"^function (\S+?):(\S+) .*?: (.*) \d+$", text, re.MULTILINE)}
        for name in re.findall(r"^killed: (.*)$", text, re.MULTILINE):
            tests = by.get(tuple(name.split(":")[:2]), "")
            found[name] = re.split(r" \d+, ", tests)[0]
    return found


def hints(here, *more):
    """Which tests killed in which function, from the newest report and more: {(path, function, test): kills}."""
    found, text = {}, newest(here)
    for path in more:
        with open(path, encoding="utf-8") as file:
            text += file.read()
    for path, name, by in re.findall(r"^function (\S+?):(\S+) .*?: (.*)$", text, re.MULTILINE):
        for test, count in re.findall(r"([^,]+?) (\d+)(?:, |$)", by):
            found[path, name, test] = int(count)
            found[path, test] = found.get((path, test), 0) + int(count)
    return found


def write_verdicts(path, shift):
    with open(path, "w", encoding="utf-8") as file:
        for mutant, verdict, test in shift.done:
            print(verdict, test or "-", mutant.name, sep="\t", file=file)
        for error in shift.errors:
            print("error", "-", error, sep="\t", file=file)


def joined(paths, chosen):
    """(what became of the chosen, errors), from files of write_verdicts(); what none of them names is undecided."""
    told, errors = {}, []
    for path in paths:
        with open(path, encoding="utf-8") as file:
            for verdict, test, name in (line.rstrip("\n").split("\t") for line in file):
                if verdict == "error":
                    errors.append(name)
                elif verdict != "undecided":
                    told[name] = verdict, None if test == "-" else test
    unknown = set(told) - {m.name for m in chosen}
    errors += [f"a verdict on what is not made: {name}" for name in sorted(unknown)]
    return [(m, *told.get(m.name, ("undecided", None))) for m in chosen], errors


def _share(killed, counted):
    return f"{100 * killed / counted:.1f}%" if counted else "-"


def _tables(args, made, shift):
    kinds, tests, functions = {}, collections.Counter(), {}
    for mutant, verdict, test in shift.done:
        side = "driver" if mutant.path.startswith("drivers/") else "device"
        kinds.setdefault((side, mutant.kind), collections.Counter())[verdict] += 1
        at = functions.setdefault((mutant.path, mutant.function), (collections.Counter(), collections.Counter()))
        at[0][verdict] += 1
        if verdict == "killed":
            tests[test] += 1
            at[1][test] += 1
    there = collections.Counter(("driver" if m.path.startswith("drivers/") else "device", m.kind) for m in made)
    yield f"{'':8}{'kind':32}{'there':>7}{'killed':>8}{'survive':>8}{'same':>6}{'stillborn':>10}{'of counted':>11}"
    for (side, kind), n in sorted(kinds.items()):
        yield (f"{side:8}{kind:32}{there[side, kind]:7}{n['killed']:8}{n['survived']:8}{n['same code']:6}"
               f"{n['stillborn']:10}{_share(n['killed'], n['killed'] + n['survived']):>11}")
    yield ""
    yield "killed by"
    for test, count in tests.most_common():
        yield f"{count:6}  {test}"
    yield ""
    for (path, name), (verdicts, by) in sorted(functions.items()):
        if by:
            some = ", ".join(f"{t} {c}" for t, c in by.most_common())
            yield f"function {path}:{name} {verdicts['killed']} of {sum(verdicts.values())}: {some}"


def commit(root, *words):
    done = subprocess.run(["git", "-C", root, *words], capture_output=True, text=True)
    return done.stdout.strip()


def _standing(reason):
    """Of a survivor, by what survivors.txt has of it."""
    if reason is None:
        return "not listed"
    return {"OPEN": "open", "SPEED": "speed"}.get(reason.split(":")[0], "equivalent")


def _head(root, args, made, chosen, shift, count, seconds):
    counted = count["killed"] + count["survived"]
    yield f"command   tests/mutation/run {' '.join(sys.argv[1:])}"
    yield "commit    " + (commit(root, "describe", "--always", "--dirty") or "no git here")
    yield f"date      {time.strftime('%Y-%m-%d %H:%M')}"
    yield (f"runtime   {seconds:.0f} s, {args.jobs} at a time, {os.cpu_count()} processors, load "
           f"{os.getloadavg()[1]:.1f} at its end")
    if args.after:
        yield f"after     {len(args.carried)} of these were killed in the runs before, which are below"
    ran = len(shift.done) - len(args.carried) - count["undecided"]
    yield f"mutants   {len(made)} there are, {len(chosen) + len(args.carried)} chosen, {ran} run, seed {args.seed}"
    yield (f"          {count['stillborn']} do not compile, {count['same code']} are the same machine code, "
           f"{count['undecided']} undecided when time was up")
    yield f"counted   {counted}: {count['killed']} killed, {count['survived']} survived"
    yield f"score     {_share(count['killed'], counted)} of those counted were killed"
    known = listed(os.path.dirname(os.path.abspath(__file__)))
    ways = collections.Counter(_standing(known.get(m.name)) for m, verdict, _ in shift.done if verdict == "survived")
    none = ways["equivalent"] + ways["speed"]
    yield (f"survivors {ways['equivalent']} are no faults by their reason in survivors.txt, {ways['speed']} of speed "
           f"only; {ways['open']} are OPEN there, {ways['not listed']} are not listed")
    yield f"          {_share(count['killed'], counted - none)} without those {none}"


def finish(here, root, args, made, chosen, shift, seconds):
    """Prints the outcome, writes the report; returns what is wrong, a line each."""
    known, count, bad = listed(here), collections.Counter(v for _, v, _ in shift.done), []
    names = {m.name for m in made}
    if not args.sample:  # by lot only what was killed before is asked for
        bad += [f"listed in survivors.txt and not made any more: {n}" for n in known if n not in names]
    for mutant, verdict, test in shift.done:
        if verdict == "survived" and mutant.name not in known:
            bad.append(f"survives and is not listed: {mutant.name}")
        if verdict == "killed" and mutant.name in known:
            bad.append(f"listed and killed, by {test}: {mutant.name}")
    head = list(_head(root, args, made, chosen, shift, count, seconds))
    print("\n".join(head))
    if args.report:
        lines = head + [""] + list(_tables(args, made, shift)) + [""]
        for mutant, verdict, _ in sorted(shift.done, key=lambda d: d[0].name):
            if verdict == "survived":
                lines += [f"survived: {mutant.name}", f"          {known.get(mutant.name, 'not listed')}"]
        for path in args.after:
            with open(path, encoding="utf-8") as file:
                lines += ["", "before:"] + ["    " + line for line in file.read().split("\n\n")[0].splitlines()]
        lines += [""] + sorted(f"killed: {m.name}" for m, verdict, _ in shift.done if verdict == "killed")
        with open(args.report, "w", encoding="utf-8") as file:
            file.write("\n".join(lines) + "\n")
    return bad
