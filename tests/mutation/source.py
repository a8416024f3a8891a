# SPDX-License-Identifier: BSD-3-Clause
"""C text as far as mutation needs it: what is code, where functions, statements and arguments are.

Nothing here parses C in general. It relies on this tree's form (clang-format's): a function's name
opens a line, its body's braces stand in column 0, everything in it is indented by tabs.
"""
import re

BLANK = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)
# Checked when all is well, and silent then: a loosened assertion is no fault of the queues.
ASSERTS = re.compile(r"\b(?:CRL_ASSERT|CRL_STATIC_ASSERT|_Static_assert|static_assert|assert)\(")
KNOWN = {"__x86_64__": "True"}  # all else that is asked by defined() is not: a host's compiler


def _spaces(text):
    return re.sub(r"[^\n]", " ", text)


def closing(code, at):
    """The index behind the bracket that closes the one at code[at]."""
    depth = 0
    for i in range(at, len(code)):
        if code[i] in "([{":
            depth += 1
        elif code[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i + 1
    return len(code)


def _condition(line):
    """Whether the host's compiler takes a branch; branches that ask for no processor are taken."""
    words = re.sub(r"defined\s*\(?\s*(\w+)\s*\)?", lambda m: KNOWN.get(m.group(1), "False"), line)
    words = words.replace("&&", " and ").replace("||", " or ").replace("!", " not ")
    if not re.fullmatch(r"(?:[()\s]|True|False|and|or|not)+", words):
        return True
    return bool(eval(words))  # of the words True, False, and, or, not alone: no other gets here


def _live(code):
    """code with every branch blanked that is compiled for other processors or not at all."""
    out, stack = [], []
    for line in code.splitlines(keepends=True):
        word = re.match(r"#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)", line)
        if word:
            kind, rest = word.groups()
            if kind in ("if", "ifdef", "ifndef"):
                on = _condition(rest) if kind == "if" else kind == "ifndef"
                stack.append([on, on])
            elif kind == "elif":
                stack[-1] = [not stack[-1][1] and _condition(rest), stack[-1][1] or _condition(rest)]
            elif kind == "else":
                stack[-1] = [not stack[-1][1], True]
            else:
                stack.pop()
        keep = all(on for on, _ in stack) and not word
        out.append(line if keep else _spaces(line))
    return "".join(out)


class Function:
    """A function's body, or a macro's replacement: text[start:end], called name."""

    def __init__(self, name, start, end, macro=False):
        self.name, self.start, self.end, self.macro = name, start, end, macro


class Source:
    """One file: text as it is, code of the same length with all blanked that is not to be changed."""

    def __init__(self, path, text):
        self.path, self.text = path, text
        # What names are made of: with its strings, without comments.
        self.plain = BLANK.sub(lambda m: _spaces(m.group(0)) if m.group(0)[0] == "/" else m.group(0), text)
        code = BLANK.sub(lambda m: _spaces(m.group(0)), text)
        code = _live(code)
        for found in ASSERTS.finditer(code):
            end = closing(code, found.end() - 1)
            code = code[: found.start()] + _spaces(code[found.start() : end]) + code[end:]
        self.code = code
        self.functions = list(self._functions()) + list(self._macros())

    def _functions(self):
        for opened in re.finditer(r"^\{", self.code, re.MULTILINE):
            head = self.code[: opened.start()]
            names = list(re.finditer(r"^(\w+)\(", head, re.MULTILINE))
            if names:
                yield Function(names[-1].group(1), opened.start() + 1, closing(self.code, opened.start()) - 1)

    def _macros(self):
        for found in re.finditer(r"^#define (\w+)(\([\w, ]*\))?((?:\\\n|[^\n])*)", self.code, re.MULTILINE):
            yield Function(found.group(1), found.start(3), found.end(3), macro=True)

    def arguments(self, opened):
        """(start, end) of each argument of the call whose bracket opens at that index."""
        end, at, parts, start = closing(self.code, opened) - 1, opened + 1, [], opened + 1
        while at < end:
            if self.code[at] in "([{":
                at = closing(self.code, at)
                continue
            if self.code[at] == ",":
                parts.append((start, at))
                start = at + 1
            at += 1
        parts.append((start, end))
        return [self.trim(s, e) for s, e in parts]

    def trim(self, start, end):
        inner = self.plain[start:end]  # strings are blank in code, and belong to it all the same
        lead = len(inner) - len(inner.lstrip())
        return start + lead, start + lead + len(inner.strip())

    def unit(self, at, end):
        """The whole statement, with what it governs, that starts at or after at: (start, end) or None."""
        while at < end and self.code[at].isspace():
            at += 1
        if at >= end:
            return None
        start = at
        label = re.compile(r"(?:case\b[^:;]*|default|\w+)\s*:(?!:)").match(self.code, at, end)
        if label and "?" not in label.group(0):
            return start, label.end()
        word = re.compile(r"(if|for|while|switch)\s*\(").match(self.code, at, end)
        if word:
            inner = self.unit(closing(self.code, word.end() - 1), end)
            done = inner[1] if inner else end
            other = re.compile(r"\s*else\b").match(self.code, done, end)
            if word.group(1) == "if" and other:
                inner = self.unit(other.end(), end)
                done = inner[1] if inner else end
            return start, done
        if self.code[at] == "{":
            return start, closing(self.code, at)
        while at < end and self.code[at] != ";":
            at = closing(self.code, at) if self.code[at] in "([{" else at + 1
        return start, min(at + 1, end)

    def blocks(self, start, end):
        """Every list of statements in text[start:end], outermost first, each a list of (start, end)."""
        units, at = [], start
        while (found := self.unit(at, end)) is not None:
            units.append(found)
            at = found[1]
        yield units
        for first, last in units:
            for opened in re.finditer(r"\{", self.code[first:last]):
                begin = first + opened.start()
                # Only the outermost braces here: blocks() of those finds the ones inside. A brace
                # behind = or ( opens no block.
                before = self.code[first:begin].rstrip()
                if before and not re.search(r"(\)|\belse)$", before):
                    continue
                if self.code[first:begin].count("{") == self.code[first:begin].count("}"):
                    yield from self.blocks(begin + 1, closing(self.code, begin) - 1)

    def statements(self, fn):
        """All simple statements of a function, each once: (start, end, inside of its block's list)."""
        seen = set()
        for units in self.blocks(fn.start, fn.end):
            for index, (start, end) in enumerate(units):
                inner = self._inner(start, end)
                if inner and inner not in seen:
                    seen.add(inner)
                    yield inner[0], inner[1], units, index

    def _inner(self, start, end):
        """The one simple statement that text[start:end] is or governs; None: there are more or none."""
        while True:
            word = re.compile(r"(if|for|while|switch)\s*\(").match(self.code, start, end)
            if not word:
                break
            found = self.unit(closing(self.code, word.end() - 1), end)
            if not found or found[1] != end:
                return None
            start = found[0]
        return None if self.code[start] == "{" or self.code[end - 1] != ";" else (start, end)
