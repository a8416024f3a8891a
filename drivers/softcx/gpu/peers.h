/* SPDX-License-Identifier: BSD-3-Clause */
/* peers.cu, for the table of what libsoftcx_cuda has: see ../step.h. */
#ifndef SCX_GPU_PEERS_H
#define SCX_GPU_PEERS_H

int scx_peers_cuda(int a, int b);

#endif /* SCX_GPU_PEERS_H */
