# SPDX-License-Identifier: BSD-3-Clause
"""The kinds of fault, as rules over source text.

A rule is (kind, files, pattern, new): wherever the pattern stands in the code of a function of these
files, one mutant has new in its place (a template as of re.sub, or a function of source and match
that gives (start, end, text) triples). Rules know words and shapes of the code, no line numbers; one
that finds nothing any more is an error, because a kind of fault would then go untried in silence.
"""
import hashlib
import pathlib
import random
import re

from source import closing

DEVICE = ("gpu_queues/*.h", "gpu_queues/wire/*.h", "gpu_queues/engines/*.h")
DRIVER = ("drivers/mlx5/*.c", "drivers/mlx5/prm.h")
ALL = DEVICE + DRIVER
# The host's own: interfaces of compiled code, what order.h's edges are made of (tests/ptx), no code.
NOT = ("control.h", "engine.h", "err.h", "launch.h", "order.h", "port.h", "run.h")


class Mutant:
    """One fault: text[start:end] of a file becomes new. name says where and what, whatever moves."""

    def __init__(self, source, fn, kind, start, end, new, what=None):
        self.path, self.function, self.kind = source.path, fn.name, kind
        self.start, self.end, self.new, self.old = start, end, new, source.text[start:end]
        left = source.plain[max(fn.start, start - 40) : start]
        right = source.plain[end : min(fn.end, end + 24)]
        left = left[max(left.rfind(";"), left.rfind("{"), left.rfind("}")) + 1 :]
        right = re.split(r"[;{}]", right, maxsplit=1)[0]
        what = what or f"{left}[{source.plain[start:end]} => {new.strip() or 'nothing'}]{right}"
        self.name = f"{self.path}:{fn.name}:{kind}: " + re.sub(r"\s+", " ", what).strip()

    def text(self, source):
        """The file with the fault; as many lines as before, so that nothing else in it changes."""
        gone = self.old.count("\n") - self.new.count("\n")
        return source.text[: self.start] + self.new + "\n" * gone + source.text[self.end :]


def _of(source, globs):
    path = pathlib.PurePosixPath(source.path)
    return path.name not in NOT and any(path.match(g) for g in globs)


def turn(words):
    """Each of the words becomes the next of them, and the last the first."""
    after = dict(zip(words, words[1:] + words[:1]))
    return r"\b(?:" + "|".join(words) + r")\b", lambda s, m: [(m.start(), m.end(), after[m.group(0)])]


def unwrap(form):
    """A call gives way to form, in which {} is its argument."""

    def new(source, match):
        opened = match.end() - 1
        (first, last), end = source.arguments(opened)[0], closing(source.code, opened)
        return [(match.start(), end, form.format(source.text[first:last], *match.groups()))]

    return new


def argument(index, form):
    """That argument of the call (from the end if negative) gives way to form, in which {} is it."""

    def new(source, match):
        parts = source.arguments(match.end() - 1)
        if not -len(parts) <= index < len(parts):
            return []
        start, end = parts[index]
        return [(start, end, form.format(source.text[start:end]))]

    return new


def exchange(index):
    """Argument index and the next of the call in each other's place."""

    def new(source, match):
        parts = source.arguments(match.end() - 1)
        if index + 1 >= len(parts):
            return []
        (a, b), (c, d) = parts[index], parts[index + 1]
        text = source.text
        return [(a, d, text[c:d] + text[b:c] + text[a:b])] if text[a:b] != text[c:d] else []

    return new


def unchecked(source, match):
    """An if that leaves: what it asks is still worked out, and never true."""
    opened = match.end() - 1
    inside = source.arguments(opened)
    start, end = inside[0][0], inside[-1][1]
    after = re.compile(r"\)\s*(?:return|goto|break|continue)\b").match(source.code, end)
    return [(start, end, f"({source.text[start:end]}) && 0")] if after else []


def bound(form):
    """A comparison's bound moved; not where the smaller or larger of two is taken, of which both are."""

    def new(source, match):
        left = re.search(r"[\w>.\[\]()-]+$", source.code[: match.start()].rstrip())
        right = re.match(r" ([\w>.\[\]()-]+) \? ([\w>.\[\]()-]+)\s+: (?:\(\w+\))?([\w>.\[\]()-]+)",
                         source.code[match.end() :])
        if left and right:
            taken = {re.sub(r"^\(\w+\)", "", right.group(k)).rstrip(");,") for k in (2, 3)}
            if {left.group(0), right.group(1)} == taken:
                return []
        return [(match.start(), match.end(), match.expand(form))]

    return new


def out_of_call(name):
    return rf"\b(?:{name})\("


ERRORS = [f"CRL_QERR_{e}" for e in ("CQE", "OPCODE", "COUNTER", "LENGTH", "TURN")]
MODES = [f"CRL_MODE_{m}" for m in ("RUN", "PARKED", "FAILING", "FAILED", "STOPPING")]

TEXT_RULES = [
    # byte order
    ("byte order", ALL, r"\bcrl_bswap(?:16|32|64)\(", unwrap("({})")),
    ("byte order", ALL, r"\bcrl_(ld|st)_be(16|32)(?=\()", r"crl_\1\2"),
    ("byte order", ALL, r"\bcrl_from_be(?:16|32|64)\(", unwrap("({}).be")),
    ("byte order", ALL, r"\bcrl_to_be(16|32|64)\(", unwrap("(crl_be{1}){{{0}}}")),
    ("byte order", DRIVER, r"\brte_cpu_to_be_16\(", unwrap("({})")),
    ("byte order", ("gpu_queues/wire/be.h",), r"(<<|>>) (8|24|32)\b(?=.*;)", r"\1 (\2 - 1)"),
    # ds count
    ("ds count", DEVICE, r"\b[12]u \+ (?=nr\b|i\b|crl_eth_segs\()", r"3u + "),
    ("ds count", DEVICE, r"\b[12]u \+ (?=nr\b|i\b|crl_eth_segs\()", r""),
    ("ds count", DEVICE, r"(?<=, )[\w>.-]+ds\[\w+\](?=,)", r"\g<0> + 1u"),
    ("ds count", DEVICE, r"\b4u \* n\b", r"(4u * n - 1u)"),
    ("ds count", DEVICE, r"\bds\+\+", "ds"),
    ("ds count", DEVICE, r"\bds = (\d)\b", r"ds = 1 + \1"),
    ("ds count", DEVICE, r"(?<=<< 8 \| )ds\b", "(ds + 1u)"),
    ("ds count", DEVICE, r"(?<=, )ds(?=, )", "ds - 1u"),
    ("ds count", DEVICE, r"\bds \+ 3u\b", "ds + 4u"),
    ("ds count", DEVICE, r"\bds \+ 3u\b", "ds + 2u"),
    ("ds count", DEVICE, r"\bsegs = 2\b", "segs = 3"),
    # owner bit
    ("owner bit", ("gpu_queues/wire/cqe.h",), r"op_own & 1u", "op_own & 2u"),
    ("owner bit", ("gpu_queues/wire/cqe.h",), r"== (?=\(ci >> log_depth)", "!= "),
    ("owner bit", ("gpu_queues/wire/cqe.h",), r"ci >> log_depth", "ci >> (log_depth + 1u)"),
    ("owner bit", ("gpu_queues/wire/cqe.h",), r"ci >> log_depth & 1u", "0u"),
    ("owner bit", ("gpu_queues/wire/cqe.h",), r"crl_cqe_opcode\(op_own\) != CRL_CQE_INVALID &&", ""),
    ("owner bit", ("gpu_queues/wire/cqe.h",), r"op_own >> 4", "op_own >> 3"),
    ("owner bit", ("gpu_queues/cq_poll.h",), r"\btail >> 24\b", "tail >> 16"),
    ("owner bit", ("gpu_queues/cq_poll.h",), r"(?<=crl_tail_op_own\(\*tail\), )ci\b", "ci + 1u"),
    ("owner bit", ("gpu_queues/queue_mem.h",), r" << 4 \| 1u", " << 4"),
    ("owner bit", ("gpu_queues/queue_mem.h",), r"CRL_CQE_INVALID << 4", "0"),
    # record word
    ("record word", DEVICE, *turn(["CRL_DBREC_SND_WORD", "CRL_DBREC_RCV_WORD"])),
    ("record word", DEVICE, *turn(["CRL_DBREC_CQ_CI", "CRL_DBREC_CQ_ARM"])),
    ("record word", DEVICE, r"\bcrl_index16\(sq->posted\)", "crl_index16(sq->rung)"),
    ("record word", DEVICE, r"\bcrl_index16\(rq->pi\)", "crl_index16(rq->ci)"),
    ("record word", DEVICE, r"\bcrl_index24\(cq->ci\)", "crl_index24(cq->ci_told)"),
    ("record word", ("drivers/mlx5/*.c",), r"(?<=[+>])( ?)\b(ring(?:->|\.))?dbrec_off\b(?! =)", r"\1\2dbrec_off + 4"),
    # wrap masks
    ("wrap mask", DEVICE, r"\bcrl_ring_slot\(", argument(1, "{} - 1u")),
    ("wrap mask", DEVICE, r"\bcrl_ring_slot\(", argument(1, "{} + 1u")),
    ("wrap mask", DEVICE, r"& \(([^()]+(?:\([^()]*\))?[^()]*) - 1u\)", r"& (\1)"),
    ("wrap mask", DEVICE, r"& 0x(f+)f(u?)\b", r"& 0x\1\2"),
    ("wrap mask", DRIVER, r"& 0x(f+)f(u?)\b", r"& 0x\1\2"),
    ("wrap mask", DEVICE, r"& 0x3f\b", "& 0x1f"),
    ("wrap mask", DEVICE, r" % [\w>-]+(?=[ ;)])", ""),
    ("wrap mask", DEVICE, r"\bcrl_index16\(", unwrap("(uint16_t)({} & 0x7fffu)")),
    ("wrap mask", DEVICE, r"(?<=from \+ )\(uint16_t\)", ""),
    ("wrap mask", ("gpu_queues/wire/be.h", "gpu_queues/ring.h"), r"\(uint16_t\)(?=\(w - )", "(uint32_t)"),
    # keys and queue numbers
    ("key", DEVICE, r"(?<=[,=] )[\w>.\[\]-]*\blkey\b(?! =)(?!;)", r"(\g<0> ^ 1u)"),
    ("key", DEVICE, r"(?<== )[\w>.\[\]-]*lkey;", "0;"),
    ("key", DEVICE, r"\blkey \? lkey : ", "lkey ? 0 : "),
    ("key", DEVICE, r"\bsq->sqn\b(?! =)", "sq->cq.cqn"),
    ("key", DEVICE, r"\brq->rqn\b(?! =)", "rq->cq.cqn"),
    ("key", DEVICE, r"\bsqn << 8", "sqn << 9"),
    ("key", DRIVER, r"(?<=, )[\w>.-]+(?:pdn|tdn|tisn|cqn|num|umem_id|page_id|eqn|counter_set)(?=\);)",
     r"\g<0> ^ 1"),
    ("key", DRIVER, r"\bcrl_region_lkey\(\w[\w>-]*\)", "CRL_LKEY_INVALID"),
    # reserved bits
    ("reserved bits", DEVICE, r"\bs\.q\[1\] = 0;", "s.q[1] = 1;"),
    ("reserved bits", DEVICE, r"\{\{0, 0\}\}", "{{0, 1}}"),
    ("reserved bits", DEVICE, r"\(cs_flags & 0xffu\) << 32", r"\g<0> | 1u"),
    ("reserved bits", DEVICE, r"(?<=\(ce << CRL_WQE_CE_SHIFT\))", " | 1u"),
    ("reserved bits", DEVICE, r"\bcrl_bswap32\(len\)", "crl_bswap32(len | CRL_WQE_INLINE)"),
    ("reserved bits", DEVICE, r"\| CRL_WQE_INLINE\b", ""),
    ("reserved bits", DEVICE, r"crl_index16\(index\) << 8", r"(\g<0> | 1u << 24)"),
    ("reserved bits", DRIVER, r"(?<=/ 4\] = )\{0\}", "{0, 0, 0, 1}"),
    # one too many, one too few
    ("off by one", ALL, r"(?<![-<>=])(<|>)(?![<>=])(?= )", bound(r"\1=")),
    ("off by one", ALL, r"(?<![-<>=])(<|>)=(?!=)(?= )", bound(r"\1")),
    ("off by one", ALL, r"(?<=[\w)\]]) \+ 1u?\b", ""),
    ("off by one", ALL, r"(?<=[\w)\]]) - 1u?\b", ""),
    ("off by one", ALL, r"\b(?:i|k|n|at) = 0(?=[;,])", lambda s, m: [(m.end() - 1, m.end(), "1")]),
    # checks and conditions
    ("dropped check", ALL, r"\bif \(", unchecked),
    ("dropped check", DRIVER, r"\b(?:ret|st) == 0(?= &&|\))", r"(\g<0> || 1)"),
    ("dropped check", DRIVER, r"\breturn ret;", "return 0;"),
    ("condition", ALL, r"(?<![=!<>])==(?!=)", "!="),
    ("condition", ALL, r"!=(?!=)", "=="),
    ("condition", ALL, r"&&", "||"),
    ("condition", ALL, r"\|\|", "&&"),
    ("condition", ALL, r"!(?=[\w(*])", ""),
    # opcodes, states, what is said
    ("opcode", DEVICE, *turn(["CRL_OPCODE_SEND", "CRL_OPCODE_EMPW", "CRL_OPCODE_NOP"])),
    ("opcode", DEVICE, *turn(["CRL_WQE_CE_ALWAYS", "CRL_WQE_CE_ON_FIRST_ERR"])),
    ("opcode", DEVICE, *turn(["CRL_CQE_REQ", "CRL_CQE_RESP_SEND"])),
    ("opcode", DEVICE, *turn(["CRL_CQE_REQ_ERR", "CRL_CQE_RESP_ERR"])),
    ("opcode", DEVICE, r"\bindex\) << 8 \| opcode\b", r"index) << 8 | (opcode ^ 1u)"),
    ("opcode", DRIVER, r"\bCRL_CMD_OP_\w+(?=\);)", r"\g<0> ^ 1"),
    ("opcode", DRIVER, *turn(["CRL_Q_STATE_RST", "CRL_Q_STATE_RDY"])),
    ("opcode", DRIVER, r"\bCRL_WQ_CYCLIC\b", "CRL_WQ_LINKED_LIST"),
    ("opcode", DRIVER, r"\bCRL_HCA_CAP_ETH\b", "CRL_HCA_CAP_ATOMIC"),
    ("opmod", DRIVER, r"<< 1 \| CRL_HCA_CAP_CURRENT", "<< 1"),
    ("opcode", DEVICE, *turn(ERRORS)),
    ("status", DEVICE, r"\breturn CRL_(?:OK|AGAIN);", "return CRL_FAILED;"),
    ("status", DEVICE, r"\breturn CRL_(?:FAILED|STUCK|INVALID);", "return CRL_AGAIN;"),
    ("status", DEVICE, *turn(["CRL_QS_READY", "CRL_QS_FAILED"])),
    ("status", DEVICE, *turn(MODES)),
    ("status", ("gpu_queues/engines/*.h", "gpu_queues/fwd.h"), *turn(["CRL_DROP", "CRL_SEND"])),
    ("status", DEVICE, *turn(["CRL_TURN_BUSY", "CRL_TURN_IDLE"])),
    ("status", DEVICE, r"\breturn (true|false);",
     lambda s, m: [(m.start(1), m.end(1), "false" if m.group(1) == "true" else "true")]),
    ("status", DRIVER, r"(?<=, )-E\w+(?=,)", "-EIO"),
    ("status", DRIVER, r"\breturn -E\w+;", "return 0;"),
    # swapped arguments
    ("swapped arguments", DEVICE,
     out_of_call("crl_seg_data|crl_ring_room|crl_cookie_slots|crl_copy32|crl_pkt_copy"), exchange(0)),
    ("swapped arguments", DEVICE,
     out_of_call("crl_seg_data|crl_csum_update|crl_cas32|crl_cas64|crl_seg_ctrl"), exchange(1)),
    ("swapped arguments", DEVICE, out_of_call("crl_seg_ctrl|crl_sq_put_nop"), exchange(3)),
    ("swapped arguments", DEVICE, out_of_call("crl_sq_put_ctrl|crl_st_seg"), exchange(3)),
    ("swapped arguments", DRIVER, out_of_call("memcpy|place_ring|crl_mem_take|crl_mem_put"), exchange(1)),
    # widths of shifts, fields of packets, numbers of the wire
    ("shift", ALL, r"(<<|>>) (\d+)(u?)\b", lambda s, m: [(m.start(2), m.end(2), str(int(m.group(2)) + 1))]),
    ("shift", ("gpu_queues/stream.h", "gpu_queues/wire/*.h"), r"(<<|>>) (8|16|24|32)\b", r"\1 (\2 - 1)"),
    ("field", ("gpu_queues/engines/*.h",), r"(?<=\b(?:ip|l4) \+ )\d+|(?<=\b(?:arp) \+ )\d+|(?<=\b(?:eth) \+ )\d+",
     lambda s, m: [(m.start(), m.end(), str(int(m.group(0)) + 2))]),
    ("field", ("gpu_queues/engines/*.h",), r"(?<=\bicmp \+ )\d+|(?<=->data \+ )\d+|(?<=\bp \+ )\d+",
     lambda s, m: [(m.start(), m.end(), str(int(m.group(0)) + 2))]),
    ("number", ("gpu_queues/wire/*.h", "gpu_queues/engines/*.h", "gpu_queues/pkt.h"), r"#macro",
     lambda s, m: [(m.start(), m.end(), f"({m.group(0)} + 1u)")]),
    ("layout", ("drivers/mlx5/prm_queues.h",), r"(?<=, )(0x[0-9a-f]{3})(?=, \d+\))", r"\1 + 1"),
    ("layout", ("drivers/mlx5/prm_queues.h",), r"(?<=, )(\d+)(?=\) \\)", r"\1 + 1"),
]


def _text_mutants(source, fn, rule):
    kind, _, pattern, new = rule
    if fn.macro != (pattern == r"#macro" or kind == "layout"):
        return
    if pattern == r"#macro":
        pattern = r"(?<=\t| )(?:\d+|0x[0-9a-f]+)u\b"
    for match in re.compile(pattern).finditer(source.code, fn.start, fn.end):
        places = new(source, match) if callable(new) else [(match.start(), match.end(), match.expand(new))]
        for start, end, text in places:
            if text != source.text[start:end]:
                yield Mutant(source, fn, kind, start, end, text)


EDGE = re.compile(r"crl_order_\w+\(\);")
WORK = re.compile(r"\b(?!if|for|while|switch|sizeof|return)\w+\(|\breturn\b|->\w+(?:\[.*\])? [-+|]?= ")


def _edge_mutants(source, fn):
    """Each call of an edge left out, and in the place of what comes before and after it."""
    for start, end, units, index in source.statements(fn):
        if not EDGE.fullmatch(source.code[start:end]):
            continue
        yield Mutant(source, fn, "edge deleted", start, end, "(void)0;")
        begin, stop = units[index]
        for step, kind in ((1, "edge swapped with what follows"), (-1, "edge swapped with what precedes")):
            other = index + step
            while 0 <= other < len(units) and not WORK.search(source.code[slice(*units[other])]):
                other += step
            if not 0 <= other < len(units) or _declares(source, units[other]):
                continue
            if step > 0:
                first, last = begin, units[other][1]
                text = source.text[stop:last] + " " + source.text[begin:stop]
            else:
                first, last = units[other][0], stop
                text = source.text[begin:stop] + " " + source.text[first:begin]
            what = source.plain[start:end] + " and " + source.plain[slice(*units[other])][:60]
            yield Mutant(source, fn, kind, first, last, text, what)


def _declares(source, unit):
    return re.match(r"(?:const |struct |enum |uint\d+_t|bool|int|size_t)", source.code[slice(*unit)])


def _statement_mutants(source, fn, driver):
    """Statements left out: counts and stores, calls, and in the driver each step of an unwinding."""
    labels = [m for m in re.finditer(r"^(\w+):", source.code[fn.start : fn.end], re.MULTILINE)]
    undo = fn.start + labels[0].start() if labels else fn.end
    for start, end, _, _ in source.statements(fn):
        text = source.code[start:end]
        if EDGE.fullmatch(text) or re.match(r"\(void\)|return|goto|break|continue|;|crl_relax\(|CRL_LANE\(", text):
            if driver and labels and text.startswith("goto "):
                yield Mutant(source, fn, "unwinding", start, end, _next_label(labels, text))
            continue
        if re.search(r"\+\+;$|--;$|^[^=()]* [-+|&]= ", text):
            kind = "lost count"
        elif re.match(r"\*?[\w>.\[\]*()-]+(?:->|\[|\.|\*?)[^=;]* = ", text) and not re.match(
            r"(?:const |struct |enum |static |unsigned |char |uint\d+_t |bool |int |size_t |void |ssize_t )", text
        ):
            kind = "lost store"
        elif re.match(r"\w+\(", text):
            kind = "lost call"
        else:
            continue
        yield Mutant(source, fn, "unwinding" if driver and start > undo else kind, start, end, "(void)0;")


def _next_label(labels, text):
    names = [m.group(1) for m in labels]
    wanted = text[len("goto ") : -1].strip()
    at = names.index(wanted) if wanted in names else len(names) - 1
    return f"goto {names[at + 1]};" if at + 1 < len(names) else "return ret;"


def mutants(sources):
    """(all mutants of the sources, each rule that found nothing)."""
    made, idle = [], []
    for rule in TEXT_RULES:
        mine = [m for s in sources if _of(s, rule[1]) for fn in s.functions for m in _text_mutants(s, fn, rule)]
        if not mine:
            idle.append(f"{rule[0]}: {rule[2]}")
        made += mine
    for source in sources:
        driver = _of(source, DRIVER)
        if driver or _of(source, DEVICE):
            for fn in (f for f in source.functions if not f.macro):
                made += _statement_mutants(source, fn, driver)
                made += _edge_mutants(source, fn) if not driver else []
    return _named(made), idle


def _named(made):
    """One of those that make the same text; a number behind names that are not alone."""
    seen, names, out = set(), {}, []
    for mutant in sorted(made, key=lambda m: (m.path, m.start, m.end, m.kind, m.new)):
        key = (mutant.path, mutant.start, mutant.end, mutant.new)
        if key in seen:
            continue
        seen.add(key)
        names[mutant.name] = names.get(mutant.name, 0) + 1
        if names[mutant.name] > 1:
            mutant.name += f" #{names[mutant.name]}"
        out.append(mutant)
    return out


# Without --deep one in so many of the frequent kinds: always the same ones, by their names.
THINNED = {
    "gpu_queues/": (5, ("condition", "field", "lost call", "lost store", "number", "off by one", "status")),
    "drivers/": (20, ("condition", "layout", "lost call", "lost store", "off by one", "status")),
}

FILE_MIN, KIND_MIN = 3, 8  # of a lot

# The core: kinds of fault that a NIC or a processor punishes, in the files that post, ring, poll and
# set queues up. Its survivors have been gone through one by one.
CORE_KINDS = (
    "byte order", "ds count", "owner bit", "record word", "edge deleted", "edge swapped with what follows",
    "edge swapped with what precedes", "wrap mask", "key", "reserved bits", "off by one", "dropped check", "opcode",
    "opmod", "unwinding",
)
CORE = re.compile(
    r"gpu_queues/(?:(?:cq_poll|rq_refill|sq_doorbell|sq_post|sq_reserve|sq_share|qp_post|fwd|stream|engine_loop|ring"
    r"|carillon_dev|queue_mem)\.h|wire/cqe\.h)|drivers/mlx5/(?:sq|rq|cq|queue|td|umem)\.c"
)


def is_core(mutant):
    return mutant.kind in CORE_KINDS and CORE.fullmatch(mutant.path)


def is_usual(mutant):
    for folder, (share, kinds) in THINNED.items():
        if mutant.path.startswith(folder) and mutant.kind in kinds:
            return hashlib.sha256(mutant.name.encode()).digest()[0] % share == 0
    if mutant.path.startswith("drivers/") and mutant.kind == "dropped check":
        return hashlib.sha256(mutant.name.encode()).digest()[0] % 4 == 0
    return True


def fair_lot(made, count, seed):
    """count mutants of all files in proportion, at least FILE_MIN of each, and at least KIND_MIN of each kind.

    Of a file every so many-th in the order of kind and place, from a beginning by lot: a file's kinds are in
    proportion too.
    """
    drawn, chosen = random.Random(seed), set()
    for path in sorted({m.path for m in made}):
        mine = sorted((m for m in made if m.path == path), key=lambda m: (m.kind, m.start, m.end, m.new))
        share = min(len(mine), max(FILE_MIN, round(count * len(mine) / len(made))))
        begin = drawn.random()
        chosen |= {mine[int((begin + k) * len(mine) / share)] for k in range(share)}
    for side, kind in sorted({(m.path.startswith("drivers/"), m.kind) for m in made}):
        mine = [m for m in made if m.path.startswith("drivers/") == side and m.kind == kind]
        left = [m for m in mine if m not in chosen]
        lacking = max(0, min(KIND_MIN, len(mine)) - (len(mine) - len(left)))
        chosen |= set(drawn.sample(left, lacking))
    return [m for m in made if m in chosen]
