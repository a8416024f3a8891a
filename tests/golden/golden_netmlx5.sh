#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# golden_netmlx5.c in net_mlx5's ways of sending, on a softcx in loopback.
. "$(dirname "$0")/../e2e/lib.sh"
e2e_begin "${GOLDEN:?}"

find_ports 1
while read -r setting devargs; do
	timeout 60 "$SOFTCX" run -- "$GOLDEN" "$setting" -l 0 --no-huge -m 64 --no-shconf \
		-a "${BDFS[0]}$devargs" >"$T/out" 2>&1 || {
		fail "$setting: status $?"
		tail -n 40 "$T/out" >&2
	}
	grep -E 'compared|masked' "$T/out"
	! grep -q 'left out' "$T/out" || fail "$setting: no frames with checksum offload"
done <<'SETTINGS'
send ,txq_mpw_en=0,txq_inline_max=0
empw
inline ,txqs_min_inline=0
header ,txq_inline_min=18,txq_inline_max=0
whole ,txq_mpw_en=0,txqs_min_inline=0
SETTINGS
