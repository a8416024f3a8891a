#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes the checking build's order.h from the real one: the same functions, each telling the checker its name.

usage: gen_order.py gpu_queues/order.h OUT-ORDER-H OUT-EDGES-H
Every edge of order.h gets a name in the checker's list, so that one without a rule there does not go unseen.
An edge at GPU scope is the edge without _gpu, which is what it is on a host.
"""
import re
import sys

ORDER = """/* Made by gen_order.py from gpu_queues/order.h: stands in its place in the checking build. */
#ifndef CRL_ORDER_H
#define CRL_ORDER_H
#define CRL_NO_TSAN 1 /* the hooks are the checker's here */

#include "hb_edges.h"

#ifdef __cplusplus
extern "C"
#endif
void hb_edge(enum hb_edge edge);

{functions}
#endif
"""
EDGES = """/* Made by gen_order.py from gpu_queues/order.h: the edges there are. */
#ifndef HB_EDGES_H
#define HB_EDGES_H

#define HB_EDGES(X) \\
{list}

#define HB_EDGE_ENUM(name) HB_##name,
enum hb_edge { HB_EDGES(HB_EDGE_ENUM) HB_NR_EDGES };

#endif
"""


# The halves of an edge that has two at GPU scope, and both of it within a block.
HALVES = {
    "ringer_after_producer_gpu": "producer_before_ringer",
    "producer_before_ringer_block": "producer_before_ringer",
}


def edge(name):
    return HALVES.get(name, name.removesuffix("_gpu"))


def main():
    source, order, edges = sys.argv[1:]
    with open(source, encoding="utf-8") as file:
        names = re.findall(r"^crl_order_(\w+)\(void\)$", file.read(), flags=re.MULTILINE)
    if not names:
        sys.exit(f"{source}: no edges found")
    body = "".join(
        f"static inline void\ncrl_order_{name}(void)\n{{\n\thb_edge(HB_{edge(name)});\n}}\n\n" for name in names
    )
    names = [name for name in names if edge(name) == name]
    with open(order, "w", encoding="utf-8") as file:
        file.write(ORDER.replace("{functions}", body))
    with open(edges, "w", encoding="utf-8") as file:
        file.write(EDGES.replace("{list}", " \\\n".join(f"\tX({name})" for name in names)))


main()
