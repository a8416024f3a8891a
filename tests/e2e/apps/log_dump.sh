#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# softcx run --log-dump: the umems of each queue and the first entries of each ring, with the bytes
# that lie there, for rings by address and by dma-buf; nothing of it without the option.
# Environment besides lib.sh's: TESTPMD, GPU_QUEUE (rings in a stand-in for a GPU's memory), PLUGIN.
. "$(dirname "$0")/../lib.sh"
e2e_begin "$TESTPMD"
export XDG_RUNTIME_DIR=$T
judge=$(dirname "$0")/dumps.py

# run NAME STEP DUMPS: a second of 64-byte frames going round
run()
{
	timeout 30 "$SOFTCX" run --log "$T/$1" --nic-step "$2" --log-dump "$3" -- "$TESTPMD" -l 0,1 --no-huge -m 256 \
		--no-shconf --no-telemetry --file-prefix "$1" -- --forward-mode=macswap --tx-first --duration=0.3 \
		>"$T/$1.out" 2>&1
	is "$1: status" $? 0
}

for step in cpu remote; do
	run "$step" "$step" 5
	python3 "$judge" "$T/$step" 'host memory' 'by address' 64 || fail "$step: $(head -n 40 "$T/$step")"
	# five of each ring: no more are told of, of net_mlx5's queues neither
	is "$step: most entries of a ring" \
		"$(sed -n -E 's/.* ((SQ|RQ|CQ) 0x[0-9a-f]+): (WQE|CQE) .*/\1/p' "$T/$step" | sort | uniq -c |
			awk '$1 > n { n = $1 } END { print n }')" 5
done
run none cpu 0
! grep -E 'umem|WQE [0-9]' "$T/none" || fail 'told of without being asked'
if [ -n "${GPU_QUEUE:-}" ]; then
	# The stand-in's memory is in the step's reach, or by way of a copy engine's stand-in.
	for step in cpu copy-test; do
		timeout 30 "$SOFTCX" run --log "$T/dmabuf-$step" --nic-step "$step" --log-dump 4 --seed "$SEED" -- \
			"$GPU_QUEUE" -l 0,1 --no-huge -m 256 --no-shconf --no-telemetry --file-prefix "$step" \
			-d "$PLUGIN" --vdev=gpu_crl_cuda0 >"$T/dmabuf-$step.out" 2>&1
		is "dma-buf, $step: status" $? 0
		[ $step = cpu ] && where='host memory' || where='device memory'
		python3 "$judge" "$T/dmabuf-$step" "$where" dma-buf 64 ||
			fail "dma-buf, $step, seed $SEED: $(head -n 40 "$T/dmabuf-$step")"
		grep -q 'error CQEs send 0 receive 0' "$T/dmabuf-$step" || fail "dma-buf, $step: errors"
		grep -q 'triggered 0$' "$T/dmabuf-$step" || fail "dma-buf, $step, seed $SEED: refusals"
	done
fi
