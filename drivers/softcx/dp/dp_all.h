/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All parts of the data path in reading order, for the one file that compiles them: dp.c on the
 * host, and a CUDA file for a NIC step that runs as a kernel.
 */
#ifndef SCX_DP_ALL_H
#define SCX_DP_ALL_H

#include "shared.h"
#include "refuse.h"
#include "fault.h"
#include "state.h"
#include "far.h"
#include "dump.h"
#include "late.h"
#include "syndrome.h"
#include "doorbell.h"
#include "fetch.h"
#include "send.h"
#include "batch.h"
#include "parse.h"
#include "checksum.h"
#include "examine.h"
#include "steer.h"
#include "rss.h"
#include "receive.h"
#include "scatter.h"
#include "complete.h"
#include "dma.h"
#include "objects.h"
#include "control.h"
#include "patient.h"
#include "stuck.h"
#include "crew.h"
#include "worker.h"
#include "worker_send.h"
#include "worker_steer.h"
#include "worker_copy.h"
#include "worker_receive.h"
#include "worker_alone.h"
#include "worker_turn.h"
#include "remote.h"

#endif /* SCX_DP_ALL_H */
