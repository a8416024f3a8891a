/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Frames for the engines under test, numbered, and what must come out of each engine for them:
 * every number once and in order, every byte as the engine's rule makes it.
 */
#ifndef ORDER_TRAFFIC_H
#define ORDER_TRAFFIC_H

#include "nic.h"

/* Of an engine, by its name; NULL: it neither takes nor sends anything that can be judged. */
const struct nic_traffic *traffic_of(const char *engine);

#endif /* ORDER_TRAFFIC_H */
