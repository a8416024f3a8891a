#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The engine's columns of the litmus tests against what nvcc makes of mem.h and order.h, for the oldest
# and the newest architecture there are kernels for; and that a weaker order.h is seen.
# usage: compiled.sh SOURCE-ROOT FILE.litmus...
set -euo pipefail
root=$1
shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# judge INCLUDE ARCH FILE.litmus...
judge()
{
	nvcc -std=c++17 -I "$1" -ptx -arch="compute_$2" -o "$tmp/engine.ptx" "$root/tests/litmus/engine.cu"
	python3 "$root/tests/litmus/litmus.py" compiled "$tmp/engine.ptx" "${@:3}"
}

judge "$root" 80 "$@"
judge "$root" 100 "$@"
mkdir "$tmp/weaker"
cp -r "$root/gpu_queues" "$root/config" "$tmp/weaker/"
sed -i '/FENCE_/s/"sys"/"gpu"/; s/fence\.acq_rel\.sys/fence.acq_rel.gpu/' "$tmp/weaker/gpu_queues/order.h"
! judge "$tmp/weaker" 80 "$@" >"$tmp/out" || { echo "fences of GPU scope were not seen"; exit 1; }
sed 's/fence\.release/fence.acquire/' "$root/gpu_queues/order.h" >"$tmp/weaker/gpu_queues/order.h"
! judge "$tmp/weaker" 100 "$@" >"$tmp/out" || { echo "acquire for release was not seen"; exit 1; }
