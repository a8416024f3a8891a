#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# carillon-soak in its short form: a few seconds of each kind of setting must come out with nothing
# lost, torn, doubled or leaked; and each of those, done on purpose, must be found and named.
# Environment besides lib.sh's: SOAK (carillon-soak).
. "$(dirname "$0")/../e2e/lib.sh"
e2e_begin python3 "$SOAK"
export XDG_RUNTIME_DIR=$T
EALOPT=(-l 0 --no-huge -m 128 --no-shconf --no-telemetry --log-level=error --file-prefix soak)

# soak NAME OPTIONS...: RC is its status
soak()
{
	local name=$1

	shift
	timeout 40 "$SOFTCX" run --seed="$SEED" ${FAULTS:+--faults=$FAULTS} -- "$SOAK" "${EALOPT[@]}" -- \
		--seed="$SEED" --json="$T/$name.json" "$@" >"$T/$name.log" 2>&1
	RC=$?
}

json()
{
	python3 -c 'import json,sys; r=json.load(open(sys.argv[1])); print(eval(sys.argv[2]))' "$T/$1.json" "$2"
}

# sound NAME OPTIONS...: all is well, and the NIC refused nothing that was not asked for
sound()
{
	soak "$@"
	[ "$RC" = 0 ] || fail "$1: status $RC: $(tail -n 15 "$T/$1.log")"
	is "$1: last line" "$(grep '^soak: lost' "$T/$1.log")" 'soak: lost=0 torn=0 leaked=0 dup=0'
}

# found NAME FIELD OPTIONS...: the status says so, and that field of the last line alone is not 0
found()
{
	local name=$1 field=$2

	shift 2
	soak "$name" --packets=20000 --queues=1 --patience=1 --rounds=3 "$@"
	is "$name: status" "$RC" 1
	grep -Eq "^soak: .*$field=[1-9]" "$T/$name.log" || fail "$name: $(tail -n 5 "$T/$name.log")"
	is "$name: nothing else" "$(grep '^soak: lost' "$T/$name.log" | grep -oE '=[0-9]+' | grep -vc '=0')" 1
}

sound small --packets=1000000 --limits --queues=2 --ring=256 --burst=64
is 'small: packets' "$(json small 'r["packets"]')" 1000000
is 'small: limits tried' "$(json small 'r["limits"] > 5')" True
is 'small: resident' "$(json small 'r["rss_kb"][0] > 10000')" True
# A thousand doorbell pages were had, and in these rounds some 200 are touched for the first time.
sound pages --packets=30000 --limits --queues=8 --ring=32 --rounds=40
sound laps --packets=300000 --queues=1 --ring=8 --rounds=2
is 'laps: of rings' "$(json laps 'r["ring_laps"] > 40000 and r["wraps_16bit"] >= 4')" True
sound forwarded --packets=100000 --queues=3 --forwarders=2 --threads=2 --sizes=60-1514 --inline=200
is 'forwarded: all' "$(json forwarded 'r["forwarded"] == r["packets"] == 100000')" True
sound long --packets=10000 --sizes=60-9018 --collapsed --ring=32
sound failing --packets=200000 --queues=4 --faults=3 --forwarders=1
is 'failing: errors' "$(json failing '(r["errors_planned"], r["errors_seen"], r["errors_other"])')" '(12, 12, 0)'
FAULTS=overwrite,records sound early --packets=100000 --queues=2 --ring=32

# Rounds that there is no more time for are not begun: a thousand would be some ten seconds.
soak hasty --packets=100000000 --rounds=1000 --seconds=1 # so short ones that frames may come or not
is 'hasty: it ended in time' "$(json hasty 'r["seconds"] < 5')" True

found tear torn --plant=tear=777
found drop lost --plant=drop=1
found dup dup --plant=dup=20
for what in fd map heap thread object; do
	found "leak-$what" leaked --plant="leak=$what"
done
# An error that nobody planned is one.
FAULTS=send-error=5000 soak unplanned --packets=20000 --patience=1
is 'unplanned error: status' "$RC" 1
grep -q '^carillon-soak: .*stopped at WQE' "$T/unplanned.log" || fail "unplanned: $(cat "$T/unplanned.log")"
# Options that cannot be are refused before anything is made.
for bad in --sizes=10 --queues=65 --plant=tear=x --plant=leak=x --forward=io extra; do
	"$SOAK" -- "$bad" >"$T/bad.log" 2>&1 && fail "$bad is taken"
	grep -q . "$T/bad.log" || fail "$bad: no words"
done
