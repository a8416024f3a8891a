#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Style as a test: what a reviewer would say for the hundredth time, said by a program.

usage: style.py CHECK SOURCE-ROOT, where CHECK is one of
  lengths   files of at most 400 lines (tests 500), functions of 60, lines of 100 columns (scripts 120);
            longer only if long.txt, beside this file, names it with its reason
  tokens    ordering and volatile only in mem.h and order.h; no printing or exiting in libraries;
            no leftover marks, no paths of one machine, an SPDX line in each source file
  commits   subjects are "area: what changed", bodies are set off by an empty line
Exit status: 0 all well, 1 something to mend (each line says where), 77 cannot be judged here.
"""
import os
import re
import subprocess
import sys

MAX_FILE_LINES = 400
MAX_TEST_LINES = 500
MAX_FUNCTION_LINES = 60
MAX_COLUMNS = 100
MAX_SCRIPT_COLUMNS = 120
MAX_SUBJECT = 120
CODE = (".c", ".h", ".cu", ".cuh")
SCRIPT = (".sh", ".py")

# Written in pieces, so that this file passes its own check.
MARKS = "|".join(["TO" + "DO", "FIX" + "ME", "X" + "XX", "HA" + "CK"])
ORDERING = (
    r"\bvolatile\b|\basm\b|__asm|__threadfence|__sync_|__atomic_|atomic_thread_fence"
    r"|\bmfence\b|__ldg|_mm_[lms]fence"
)
# It has become the program whose end it is: nobody else is left to say that a log is not whole.
MAY_EXIT = ("drivers/softcx/front_vfio/device.c",)
NO_PRINT = r"\b(?:printf|fprintf|vprintf|vfprintf|puts|fputs|putchar|perror|exit|_exit|abort)\s*\("
MACHINE_PATH = r"(?<![\w.$}])/(?:home|root|work)/[A-Za-z]"


def tracked(root):
    """All files of the tree, by git where there is one (untracked ones too, no build output)."""
    try:
        out = subprocess.run(
            ["git", "-C", root, "ls-files", "-co", "--exclude-standard"],
            check=True, capture_output=True, text=True,
        ).stdout
        names = out.splitlines()
    except (OSError, subprocess.CalledProcessError):
        names = [
            os.path.relpath(os.path.join(folder, name), root)
            for folder, _, files in os.walk(root)
            if not re.search(r"/(\.git|\.deps|build[^/]*)(/|$)", folder)
            for name in files
        ]
    return sorted(n for n in names if os.path.isfile(os.path.join(root, n)))


def read(root, name):
    with open(os.path.join(root, name), encoding="utf-8", errors="replace") as file:
        return file.read()


def without_comments(text):
    """C text with comments and string contents blanked, line numbers kept."""

    def blank(match):
        word = match.group(0)
        if word[0] in "\"'":
            return word[0] + word[0]
        return re.sub(r"[^\n]", " ", word)

    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
    return re.sub(pattern, blank, text, flags=re.DOTALL)


def allowed_lengths(root):
    """long.txt: 'path[:function] lines reason'. It is a ratchet: lower a number when you can."""
    allowed = {}
    for line in read(root, "tests/style/long.txt").splitlines():
        words = line.split(None, 2)
        if words and not line.startswith("#"):
            if len(words) < 3:
                sys.exit(f"tests/style/long.txt: '{line}' gives no reason")
            allowed[words[0]] = int(words[1])
    return allowed


def functions(lines):
    """(name, first line, length) of each function: its body stands between braces in column 0."""
    start = None
    for nr, line in enumerate(lines, 1):
        if line.rstrip() == "{":
            start = nr
        elif line.startswith("}") and start is not None:
            head = " ".join(lines[max(0, start - 6) : start - 1])
            names = re.findall(r"(\w+)\s*\(", re.sub(r"^.*[;}]", "", head))
            yield (names[0] if names else "?"), start, nr - start - 1
            start = None


def check_lengths(root):
    allowed = allowed_lengths(root)
    for name in tracked(root):
        if not name.endswith(CODE + SCRIPT):
            continue
        lines = read(root, name).splitlines()
        limit = MAX_COLUMNS if name.endswith(CODE) else MAX_SCRIPT_COLUMNS
        most = allowed.get(name, MAX_TEST_LINES if name.startswith("tests/") else MAX_FILE_LINES)
        if len(lines) > most:
            yield f"{name}: {len(lines)} lines; is this one thing? At most {most}"
        for nr, line in enumerate(lines, 1):
            columns = len(line.expandtabs(8))
            if columns > limit and "http" not in line:
                yield f"{name}:{nr}: {columns} columns, at most {limit}"
        if name.endswith(CODE):
            for function, nr, length in functions(lines):
                if length > allowed.get(f"{name}:{function}", MAX_FUNCTION_LINES):
                    yield f"{name}:{nr}: {function}: {length} lines, at most {MAX_FUNCTION_LINES}"


def matches(pattern, text):
    for match in re.finditer(pattern, text):
        yield text.count("\n", 0, match.start()) + 1, match.group(0)


def check_tokens(root):
    for name in tracked(root):
        text = read(root, name)
        base = os.path.basename(name)
        if name.endswith(CODE + SCRIPT + (".build",)) or base == "run":
            for nr, word in matches(rf"\b(?:{MARKS})\b", text):
                yield f"{name}:{nr}: '{word}': finish it, or file an issue"
            for nr, word in matches(MACHINE_PATH, text):
                yield f"{name}:{nr}: '{word}...' is a path of one machine"
        if name.endswith(CODE + SCRIPT) and "SPDX-License-Identifier" not in text[:300]:
            yield f"{name}:1: no SPDX-License-Identifier line"
        if not name.endswith(CODE):
            continue
        code = without_comments(text)
        if name.startswith(("gpu_queues/", "drivers/mlx5/")) and base not in ("mem.h", "order.h", "tsan.h"):
            for nr, word in matches(ORDERING, code):
                yield f"{name}:{nr}: '{word}' belongs into gpu_queues/mem.h or order.h"
        if name.startswith(("gpu_queues/", "drivers/")) and base != "log.c":
            for nr, word in matches(NO_PRINT, code):
                if name in MAY_EXIT and word.startswith("_exit"):
                    continue
                yield f"{name}:{nr}: '{word}': a library neither prints nor exits"


def check_commits(root):
    try:
        out = subprocess.run(
            ["git", "-C", root, "log", "--no-merges", "--format=%h%x00%s%x00%B%x01"],
            check=True, capture_output=True, text=True,
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        print("SKIP: no git history here")
        sys.exit(77)
    for record in out.split("\x01"):
        if not record.strip():
            continue
        sha, subject, message = record.strip().split("\x00")
        lines = message.splitlines()
        if not re.match(r"^[\w./,*{}+-]+(?: [\w./+-]+)?: \S", subject):
            yield f"{sha}: '{subject}' is not 'area: what changed'"
        if len(subject) > MAX_SUBJECT or subject.endswith("."):
            yield f"{sha}: '{subject}': at most {MAX_SUBJECT} characters, no full stop"
        if len(lines) > 1 and lines[1].strip():
            yield f"{sha}: no empty line between subject and body"


def main():
    checks = {"lengths": check_lengths, "tokens": check_tokens, "commits": check_commits}
    if len(sys.argv) != 3 or sys.argv[1] not in checks:
        sys.exit(__doc__)
    found = list(checks[sys.argv[1]](sys.argv[2]))
    for line in found:
        print(line)
    print(f"{len(found)} to mend")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
