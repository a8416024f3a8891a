#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Adds up meson's testlog.json files: the last step of config/check.sh.

Prints each skipped test with its reason, each failed one by name, then one line alone:
"N passed, N failed, N skipped". Fails if a test failed, if none ran, or if one was skipped for a
reason that is not in the list below: what config/setup.sh could have installed is no reason.
"""
import json
import re
import sys

# What a machine may lack without that being anybody's fault.
GOOD_REASONS = [
    r"no nvcc",
    r"no GPU",
    r"no NVIDIA driver",
    r"no ConnectX",
    r"kernel (has|lacks|without)",
    r"this kernel",
    r"not built with",
    r"no git history",
    r"needs? root",
    r"not run, as told",
]


def entries(path):
    with open(path, encoding="utf-8") as log:
        for line in log:
            if line.strip():
                yield json.loads(line)


def skip_reason(test):
    """The line of the test's output that says why: SKIP: reason, or TAP's # SKIP reason."""
    text = (test.get("stdout") or "") + "\n" + (test.get("stderr") or "")
    found = re.findall(r"(?:^|#\s*)skip(?:ped)?:?\s+(.+)$", text, re.IGNORECASE | re.MULTILINE)
    if found:
        return found[-1].strip()
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip() if lines else "gives no reason"


def main(paths):
    passed, failed, skipped, bad_skips = 0, [], [], 0
    for path in paths:
        try:
            tests = list(entries(path))
        except FileNotFoundError:
            print(f"no test ran in {path.split('/')[0]}: meson wrote no log")
            failed.append(path)
            continue
        for test in tests:
            if test["result"] in ("OK", "EXPECTEDFAIL"):
                passed += 1
            elif test["result"] == "SKIP":
                skipped.append((test["name"], skip_reason(test)))
            else:
                failed.append(f"{test['name']} ({test['result'].lower()}, {path.split('/')[0]})")
    for name, reason in skipped:
        known = any(re.search(good, reason, re.IGNORECASE) for good in GOOD_REASONS)
        bad_skips += not known
        print(f"skipped {name}: {reason}")
        if not known:
            print("    that is no reason to skip: it counts as failed")
    for name in failed:
        print(f"failed {name}")
    nr_failed = len(failed) + bad_skips
    print(f"{passed} passed, {nr_failed} failed, {len(skipped) - bad_skips} skipped")
    return 1 if nr_failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
