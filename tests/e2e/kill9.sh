#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# kill -9 at random moments, of softcx and of the program under it: afterwards there is no netdev,
# no process, no mount and no file that was not there before. What DPDK itself leaves when it is
# killed (its runtime directory, net_mlx5's socket) is DPDK's. CRL_SEED repeats a run. The limit of time
# is the script's own and follows the rounds: a round is a delay of 2.5 s at most and 4 s to settle.
ROUNDS=12
case ${CRL_E2E:-} in full) ROUNDS=100 ;; esac
if [ -z "${KILL9_LIMIT:-}" ]; then
	export KILL9_LIMIT=$((60 + 8 * ROUNDS))
	timeout -k 10 "$KILL9_LIMIT" "$0" "$@"
	RC=$?
	[ $RC != 124 ] || echo "kill9: $ROUNDS rounds took more than $KILL9_LIMIT s" >&2
	exit $RC
fi
. "$(dirname "$0")/lib.sh"
e2e_begin dpdk-testpmd ibv_devinfo python3

RANDOM=$((SEED % 32768))
note "seed $SEED, $ROUNDS rounds"
wire_make 1500
export TMPDIR=/tmp XDG_RUNTIME_DIR=/run

# Everything that could be left behind, a line each.
inventory()
{
	ip -o link | awk '{ print "netdev", $2 }'
	ip -n peer -o link | awk '{ print "peer netdev", $2 }'
	awk '{ print "mount", $5 }' /proc/self/mountinfo
	find /run /dev/shm /var/lock /var/tmp -mindepth 1 ! -path '/run/dpdk*' \
		! -name 'dpdk_net_mlx5_*' 2>/dev/null | sed 's/^/file /'
	find /tmp -mindepth 1 -maxdepth 1 -newer "$T/start" | grep -iE 'softcx|crl|scx|carillon' |
		sed 's/^/file /'
	ip netns list | awk '{ print "netns", $1 }'
	lsns -n -o TYPE,NS 2>/dev/null | awk '{ print "namespace", $1, $2 }'
	ps -eo args= | grep -E 'softcx|testpmd|ibv_devinfo' | grep -v -e grep -e kill9 |
		sed 's/^/process /'
}

settled()
{
	inventory | sort >"$T/after"
	diff "$T/before" "$T/after" >"$T/left"
}

touch "$T/start"
sleep 0.01
inventory | sort >"$T/before"

for ((i = 1; i <= ROUNDS; i++)); do
	DELAY=$((RANDOM % 2500))
	WIRE=(--wire veth:w0)
	[ $((RANDOM % 2)) = 0 ] || WIRE=(--pcap-out "$T/tap.pcap")
	VICTIM=$((RANDOM % 3))
	"$SOFTCX" run --ports $((1 + RANDOM % 2)) "${WIRE[@]}" -- dpdk-testpmd -l 0,1 --no-huge \
		-m 96 --no-shconf -- --total-num-mbufs=2048 --forward-mode=txonly --stats-period=1 \
		>"$T/log" 2>&1 </dev/null &
	PID=$!
	sleep "$((DELAY / 1000)).$(printf %03d $((DELAY % 1000)))"
	case $VICTIM in
	0) KILL=$PID ;;				        # what the user started
	1) KILL=$(descendants $PID dpdk-testpmd) ;; # the program
	2) KILL=$(descendants $PID) ;;		        # all at once
	esac
	# shellcheck disable=SC2086 # several process ids
	kill -KILL ${KILL:-$PID} 2>/dev/null
	wait $PID 2>/dev/null
	wait_for 4 settled || {
		fail "round $i: killed ($VICTIM) after $DELAY ms, left behind:"
		head -n 20 "$T/left" >&2
		break
	}
done

# The same wire is usable at once.
"$SOFTCX" run --wire veth:w0 -- ibv_devinfo >"$T/out" 2>&1 ||
	fail "after the kills: $(cat "$T/out")"
