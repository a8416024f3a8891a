#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# kill -9 of softcx run, or of the program, at any moment: no process, netdev or mount stays, with a
# netdev outside that softcx made (it goes) and one that was there before (it stays, and works again).
. "$(dirname "$0")/lib.sh"
e2e_begin ibv_devinfo ip

left()
{
	[ -z "$(descendants $$ sleep)" ] && ! ip link show dev made0 >/dev/null 2>&1 &&
		! grep -q softcx /proc/self/mountinfo
}

ip link add there0 type veth peer name there1
ip link set there0 up
ip link set there1 up
RANDOM=$((SEED & 0x7fff))
note "seed $SEED"
for round in 1 2 3 4 5 6; do
	wire=veth:made
	[ $((round % 2)) = 0 ] && wire=veth:there
	"$SOFTCX" run --ports 2 --wire $wire --log "$T/log" -- sh -c 'ibv_devinfo >/dev/null; exec sleep 1000' \
		>"$T/out" 2>&1 &
	PID=$!
	sleep 0.0$((RANDOM % 9))
	[ "$round" -gt 4 ] && sleep 0.4
	victim=$PID
	[ "$round" -gt 2 ] && victim=$(descendants $PID sleep)
	kill -KILL "${victim:-$PID}"
	wait "$PID" 2>/dev/null
	wait_for 5 left || fail "round $round, $wire: something stays: $(ps -ef; ip -br link; cat "$T/out")"
	ip link show dev there0 >/dev/null 2>&1 || fail "round $round: the netdev of ours is gone"
done
