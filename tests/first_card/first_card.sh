#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The rehearsal of config/first-card.sh on the software card: all twenty outcomes but the two that
# need a kernel driver and a GPU are as predicted, and retire nothing. A card that answers otherwise
# (here a stand-in for the probe) is told of, and makes the status 1.
# Environment besides lib.sh's: FIRST_CARD (the script), BUILD (the build directory).
. "$(dirname "$0")/../e2e/lib.sh"
e2e_begin python3 ibv_devinfo

# json EXPRESSION: of the report r; v is the verdict by name
json()
{
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
v = {c["name"]: c["verdict"] for c in r["checks"]}
print(eval(sys.argv[2]))' "$T/card.json" "$1"
}

"$SOFTCX" run --log="$T/log" -- "$FIRST_CARD" -b "$BUILD" -o "$T/card.json" --loop >"$T/out" 2>&1
is 'status' $? 0
[ -s "$T/card.json" ] || die "no report: $(cat "$T/out")"
is 'checks' "$(json 'len(r["checks"])')" 20
is 'numbers' "$(json '[c["number"] for c in r["checks"]] == list(range(1, 21))')" True
is 'otherwise' "$(json '[n for n in v if v[n] == "otherwise"]')" '[]'
[ "$(json 'v["log"]')" = not-run ] || fail 'the kernel log was judged for a software card'
[ -e /proc/driver/nvidia/version ] || is 'not run' "$(json 'sorted(n for n in v if v[n] == "not-run")')" \
	"['gpu', 'log']"
is 'retired by a software card' "$(json '[c["retires"] for c in r["checks"] if c["retires"]]')" '[]'
is 'doctor in it' "$(json 'r["doctor"]["stop"]')" 0
grep -q '20 not run' "$T/out" && fail 'nothing ran'

# The same build, but the card lets a NOP vanish and names another vendor syndrome.
mkdir -p "$T/build/tests/first_card"
ln -s "$BUILD/apps" "$T/build/apps"
ln -s "$BUILD/tests/e2e" "$T/build/tests/e2e"
printf '#!/bin/sh\n"%s" "$@" | sed -e "s/^nop ok/nop bad/" -e "s/^key ok/key bad/"\n' \
	"$BUILD/tests/first_card/card_probe" >"$T/build/tests/first_card/card_probe"
chmod +x "$T/build/tests/first_card/card_probe"
"$SOFTCX" run --log="$T/log" -- "$FIRST_CARD" -b "$T/build" -o "$T/card.json" --no-frames >"$T/out" 2>&1
is 'status of another card' $? 1
is 'otherwise' "$(json '[n for n in v if v[n] == "otherwise"]')" "['nop', 'key']"

"$SOFTCX" run --log="$T/log" -- "$FIRST_CARD" -b "$BUILD" -d mlx5_9 -o "$T/none.json" >"$T/out" 2>&1
is 'status for a device that is not there' $? 2

# SIGINT ends it, though the program that runs then ends in order; and leaves no report.
rm -f "$T/card.json"
: >"$T/out"
env --default-signal=INT "$SOFTCX" run --log="$T/log" -- "$FIRST_CARD" -b "$BUILD" -o "$T/card.json" \
	--loop >"$T/out" 2>&1 &
PID=$!
wait_for 60 grep -q '^again' "$T/out" || fail "it does not come so far: $(cat "$T/out")"
kill -INT $PID
wait_for 30 gone $PID || { fail 'SIGINT does not end it'; kill -KILL $PID; }
wait $PID
is 'status after SIGINT' $? 130
[ ! -e "$T/card.json" ] || fail 'a report of a run that was ended'
