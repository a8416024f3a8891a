#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles every kernel to PTX for one architecture and lets check_ptx.py read it.
# usage: ptx_kernels.sh SOURCE-ROOT ARCH
set -euo pipefail
root=$1 arch=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
nvcc -std=c++17 -I "$root" -ptx -arch="compute_$arch" -o "$tmp/kernels.ptx" "$root/gpu_queues/run_cuda.cu"
echo "compute_$arch"
python3 "$root/tests/ptx/check_ptx.py" "$tmp/kernels.ptx"
