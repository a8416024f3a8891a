#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Links that go down and come up, opens that end, memory that goes from under a queue: see
# mlx5_outside.c, which is the argument. A netdev outside and what is plugged into it move the link too.
. "$(dirname "$0")/../lib.sh"
OUTSIDE=$1
if [ -z "${E2E_INSIDE:-}" ]; then
	[ "$(id -u)" = 0 ] || skip "namespaces need root"
	E2E_INSIDE=1 CRL_SEED=$SEED exec unshare --net --mount --pid --fork --kill-child --mount-proc bash "$0" "$@"
fi
e2e_begin ip ibv_devinfo

timeout 40 "$SOFTCX" run --log "$T/log" -- "$OUTSIDE" || fail "$(cat "$T/log")"

# A sanitizer has words of its own for it.
if ! ldd "$OUTSIDE" | grep -q libasan; then
	timeout 20 "$SOFTCX" run -- "$OUTSIDE" unmap >"$T/out" 2>&1
	is 'unmapped ring: status' $? 139
	grep -q "^softcx: the NIC's thread crashed at address 0x[0-9a-f]*[1-9a-f].*unmapped memory" "$T/out" ||
		fail "unmapped ring: no words: $(cat "$T/out")"
fi

# Outside, a netdev that was there and one that softcx makes. Down before, down later, up again.
ip link add there0 type veth peer name there1
ip link set there0 up
state() { sed -n 's/.*state:[[:space:]]*PORT_\([A-Z]*\).*/\1/p'; }
is 'cable not plugged in' "$("$SOFTCX" run --wire veth:there0 -- ibv_devinfo 2>"$T/err" | state)" DOWN
ip link set there1 up
is 'cable plugged in' "$("$SOFTCX" run --wire veth:there0 -- ibv_devinfo 2>"$T/err" | state)" ACTIVE
mkfifo "$T/go"
"$SOFTCX" run --wire veth:made0 -- sh -c 'ibv_devinfo; read x; ibv_devinfo' <"$T/go" >"$T/out" 2>"$T/err" &
PID=$!
exec 8>"$T/go"
wait_for 10 grep -q PORT_ "$T/out" || fail "no device: $(cat "$T/err")"
ip link set made0 down
echo >&8
wait_for 10 gone $PID || kill -KILL $PID
is 'the other end goes down' "$(state <"$T/out" | xargs)" 'ACTIVE DOWN'
