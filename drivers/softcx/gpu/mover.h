/* SPDX-License-Identifier: BSD-3-Clause */
/* mover.cu, for the table of what libsoftcx_cuda has: see ../step.h. */
#ifndef SCX_GPU_MOVER_H
#define SCX_GPU_MOVER_H

#include <stddef.h>

struct scx_mover;

int scx_mover_cuda(int device, struct scx_mover **mover, char *err, size_t bytes);

#endif /* SCX_GPU_MOVER_H */
