#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# usage: edges.sh TSAN_EDGES ORDER_H
# Intact, nothing is reported; with each edge left out a data race is, but for those that keep nothing
# but atomic accesses apart, where no race can be (they are orders of two words, and a NIC that missed
# one would sleep or look again), which are listed here and must not be reported either. An edge of GPU
# scope or of a block's is on a host the one without it in its name, and has no caller here.
#
# TSan reports what it saw happen; two threads that by chance kept apart show no race. So a race that
# must be gets some tries; one that must not be is wrong at the first.
set -u
exe=$1 order=$2 failed=0
unseen=' payload_before_wqe record_before_uar uar_out wqe_before_published_index cq_arm error_before_seq '
export TSAN_OPTIONS=halt_on_error=1:exitcode=66

edges=$(sed -n 's/^crl_order_\(.*\)(void)$/\1/p' "$order")
[ "$(wc -w <<<"$edges")" -ge 14 ] || { echo "FAIL: found only these edges: $edges"; exit 1; }
for edge in '' $edges; do
	wanted=66
	[[ -z $edge || $edge == *_gpu || $edge == *_block || $unseen == *" $edge "* ]] && wanted=0
	for ((try = 0; try < 8; try++)); do
		out=$(timeout 100 "$exe" ${edge:+"$edge"} 2>&1)
		rc=$?
		[ "$wanted" = 66 ] && [ "$rc" = 0 ] || break
	done
	if [ "$rc" != "$wanted" ]; then
		echo "FAIL: ${edge:-intact}: status $rc, wanted $wanted"
		head -n 40 <<<"$out"
		failed=1
	elif [ "$rc" = 66 ] && ! grep -q 'ThreadSanitizer: data race' <<<"$out"; then
		echo "FAIL: $edge: something else than a race: $out"
		failed=1
	else
		echo "${edge:-intact}: $([ "$rc" = 66 ] && echo 'a race, as it must be' || echo 'no race')"
	fi
done
exit $failed
