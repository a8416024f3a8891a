# SPDX-License-Identifier: BSD-3-Clause
"""Many mutants of a file in one text, of which a number in the environment chooses one.

Compiling costs more than testing, so it is done once: a statement with faults becomes a chain of
ifs, an expression a chain of ?:, each link of which is one mutant of it, and the last the code as it
is; a one among an initialiser's zeros is asked for. CRL_MUTANT=0, or none, is the program without a
fault; with CRL_MUTANT_SEEN=FILE a program also says there, a byte a number, which mutants it came
by; by plain system calls, as tests wrap the C library's. What cannot be written so (macros, some
initialisers) is left to be compiled by itself.
"""
import re

from source import closing

HEAD = """#ifndef CRL_MUTANT_NR
#define CRL_MUTANT_NR
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static int crl_mutant_nr __attribute__((unused));
static volatile unsigned char *crl_mutant_seen __attribute__((unused));
__attribute__((constructor, unused, no_sanitize_thread)) static void
crl_mutant_choose(void)
{
	const char *nr = getenv("CRL_MUTANT"), *seen = getenv("CRL_MUTANT_SEEN");
	long fd = seen ? syscall(SYS_open, seen, O_RDWR) : -1;
	long map = fd < 0 ? -1 : syscall(SYS_mmap, 0L, 1L << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0L);

	if (fd >= 0)
		syscall(SYS_close, fd);
	crl_mutant_seen = map == -1 ? NULL : (volatile unsigned char *)map;
	crl_mutant_nr = nr ? atoi(nr) : 0;
}
__attribute__((unused, no_sanitize_thread)) static int
crl_mutant(int nr)
{
	if (crl_mutant_seen)
		crl_mutant_seen[nr] = 1;
	return crl_mutant_nr == nr;
}
#endif
"""
SEEN_BYTES = 1 << 20
DECLARES = re.compile(
    r"(?!return|goto|else|case)(?:(?:const|static|struct|enum|unsigned|union)\s+)*\w+[\s*]+\w+\s*[=,;\[]"
)


BRACES = re.compile(r"\{[{0, ]+1\}+")  # {0, 0, 1} in the place of zeros


class Place:
    """text[start:end] of the source, a statement or an expression, and the mutants in it."""

    def __init__(self, start, end, form):
        self.start, self.end, self.form, self.mutants = start, end, form, []


def _initialiser(source, start, end, at):
    """The initialiser in a declaration that at lies in: (start, end), or None."""
    begin, i = None, start
    while i < end:
        if source.code[i] in "([{":
            last = closing(source.code, i)
            i = last
            continue
        if source.code[i] == "=" and source.code[i + 1] != "=" and begin is None:
            begin = i + 1
        if source.code[i] in ",;":
            if begin is not None and begin <= at < i:
                first, last = source.trim(begin, i)
                return None if source.code[first] == "{" else (first, last)
            begin = None
        i += 1
    return None


def _places(source, fn):
    """Every statement and controlling expression of a function."""
    for start, end, _, _ in source.statements(fn):
        if DECLARES.match(source.code, start, end):
            yield Place(start, end, "declaration")
        else:
            yield Place(start, end, "statement")
    for word in re.finditer(r"\b(if|while|switch|for)\s*\(", source.code[fn.start : fn.end]):
        opened = fn.start + word.end() - 1
        last = closing(source.code, opened) - 1
        if word.group(1) != "for":
            yield Place(*source.trim(opened + 1, last), "expression")
            continue
        begin = opened + 1
        for i in range(opened + 1, last + 1):
            if source.code[i] == ";" or i == last:
                start, end = source.trim(begin, i)
                declares = DECLARES.match(source.code, start, i + 1)
                yield Place(start, i + 1 if declares else end, "declaration" if declares else "expression")
                begin = i + 1


def _find(source, fn, places, mutant):
    if mutant.kind.startswith("edge swapped"):
        return Place(mutant.start, mutant.end, "statement")
    around = [p for p in places if p.start <= mutant.start and mutant.end <= p.end]
    if not around:
        return None
    place = min(around, key=lambda p: p.end - p.start)
    if BRACES.fullmatch(mutant.new) and not source.code[place.start : mutant.start].startswith("static"):
        return Place(mutant.start, mutant.end, "braces")
    if place.form == "declaration":
        span = _initialiser(source, place.start, place.end, mutant.start)
        place = Place(*span, "expression") if span and span[0] <= mutant.start and mutant.end <= span[1] else None
    return place


class Schema:
    """mutants of one source: those in numbers are in text, rest must be compiled one by one."""

    def __init__(self, source, mutants, first):
        """first: their numbers begin there, so that no other text of a run has the same ones."""
        self.source, self.rest, self.numbers = source, [], {}
        self.places = {}
        by_name = {}
        for fn in source.functions:
            if not fn.macro:
                by_name[fn.start] = (fn, list(_places(source, fn)))
        for number, mutant in enumerate(mutants, first):
            around = [v for v in by_name.values() if v[0].start <= mutant.start < v[0].end]
            place = _find(source, *around[0], mutant) if around else None
            if place is None:
                self.rest.append(mutant)
                continue
            self.numbers[mutant] = number
            key = (place.start, place.end)
            self.places.setdefault(key, place).mutants.append(mutant)
        text = self.text()
        for mutant, number in list(self.numbers.items()):
            if f"/*[{number}]*/" not in text:  # it overlaps with another, and neither is in the other
                self.drop(mutant)
                self.rest.append(mutant)

    def drop(self, mutant):
        del self.numbers[mutant]
        for place in self.places.values():
            if mutant in place.mutants:
                place.mutants.remove(mutant)

    def _render(self, start, end, inside):
        out, at = [], start
        for place in inside:
            if place.start < at or not place.mutants:
                continue
            out.append(self.source.text[at : place.start])
            within = [p for p in inside if p is not place and place.start <= p.start and p.end <= place.end]
            out.append(self._choice(place, self._render(place.start, place.end, within)))
            at = place.end
        return "".join(out) + self.source.text[at:end]

    def _choice(self, place, plain):
        text, parts = self.source.text, []
        if place.form == "braces":
            (m,) = place.mutants
            number = self.numbers[m]
            return m.new.replace("1", f"\n/*[{number}]*/ crl_mutant({number}) /*[/{number}]*/\n")
        for m in place.mutants:
            number = self.numbers[m]
            changed = text[place.start : m.start] + m.new + text[m.end : place.end]
            marks = f"\n/*[{number}]*/ ", f" /*[/{number}]*/\n"
            if place.form == "statement":
                parts.append(f"if (crl_mutant({number})) {{ {marks[0]}{changed}{marks[1]} }} else ")
            else:
                parts.append(f"crl_mutant({number}) ? ({marks[0]}{changed}{marks[1]}) : ")
        if place.form == "statement":
            return "{ " + "".join(parts) + "{ " + plain + " } }"
        return "(" + "".join(parts) + "(" + plain + "))"

    def text(self):
        inside = sorted(self.places.values(), key=lambda p: (p.start, -p.end))
        return HEAD + self._render(0, len(self.source.text), inside)

    def blamed(self, words):
        """The mutants on whose lines a compiler's words put an error."""
        name, text = self.source.path.rsplit("/", 1)[-1], self.text()
        lines = {int(n) for n in re.findall(rf"\b{re.escape(name)}:(\d+):\d+: error", words)}
        found = set()
        for mutant, number in self.numbers.items():
            first = text.index(f"/*[{number}]*/")
            last = text.index(f"/*[/{number}]*/")
            span = range(text.count("\n", 0, first) + 1, text.count("\n", 0, last) + 2)
            if any(line in span for line in lines):
                found.add(mutant)
        return found
