#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# carillon-testpmd, compiled with the suite's compiler, DPDK and rdma-core, answers Linux's ping. Where it does
# not compile, because DPDK's interface is another, the compiler's first words are the reason.
set -u
if ! ninja -C /build apps/testpmd/carillon-testpmd > /tmp/ninja.log 2>&1; then
	rm -rf /build/* /build/.[!.]*
	meson setup /build /carillon > /tmp/meson.log 2>&1 ||
		{ echo "FAIL: meson: $(grep -m1 ERROR /tmp/meson.log)"; cat /tmp/meson.log; exit 1; }
	ninja -C /build apps/testpmd/carillon-testpmd > /tmp/ninja.log 2>&1 ||
		{ cat /tmp/ninja.log; echo "FAIL: $(grep -m1 error: /tmp/ninja.log)"; exit 1; }
fi
TESTPMD=/build/apps/testpmd/carillon-testpmd
. /carillon/tests/e2e/lib.sh
e2e_begin ping "$TESTPMD"
wire_make 1500
ip -n peer addr add 10.1.0.1/24 dev w1
timeout 60 "$SOFTCX" run --wire veth:w0 -- "$TESTPMD" -l 0,1 --no-huge -m 256 --no-shconf --no-telemetry \
	-- --forward-mode=icmpecho --duration=12 > "$T/crl.log" 2>&1 &
pid=$!
sleep 3
out=$(timeout 30 ip netns exec peer ping -q -n -c 30 -i 0.05 -W 2 10.1.0.2 2>&1)
grep -q '30 packets transmitted, 30 received' <<< "$out" || fail "$(tail -n 3 <<< "$out")"
wait $pid || fail "carillon-testpmd ended with $?"
cat "$T/crl.log"
