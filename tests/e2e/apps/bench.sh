#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# carillon-bench in host threads: each sub-command measures, says in every line what it must, writes
# JSON that holds the fields a reader needs and a picture; a torn WQE, a wrong option, a missing GPU
# and a file that cannot be written have their exit statuses.
# usage: [SOFTCX_DIR=DIR] bench.sh CARILLON-BENCH      DIR: where softcx and carillon-testpmd are
set -uo pipefail
bench=$1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
bad=0

fail() {
	echo "FAILED: $*"
	bad=1
}

# expect STATUS WORDS...: runs the program, whose output goes to $tmp/out
expect() {
	local want=$1 got
	shift
	timeout 60 "$bench" "$@" >"$tmp/out" 2>&1
	got=$?
	[ "$got" = "$want" ] || {
		tail -n 5 "$tmp/out"
		fail "carillon-bench $*: exit status $got, not $want"
	}
}

for b in post rtt poll litmus trigger; do
	rounds=(--rounds 40)
	[ "$b" = post ] && rounds=(--only single)
	expect 0 "$b" --on host --quick "${rounds[@]}" --json "$tmp/$b.json"
done
expect 0 post --on host --quick --only rate --json "$tmp/rate.json" --plot "$tmp/rate.svg"
grep -q '<svg' "$tmp/rate.svg" || fail "no picture"
expect 0 plot "$tmp/rate.json" "$tmp/again.png"
[ -s "$tmp/again.png" ] || fail "no second picture"
if [ -n "${SOFTCX_DIR:-}" ]; then
	expect 0 economy --quick --tools "$SOFTCX_DIR" --json "$tmp/economy.json"
	grep -q 'ours over net_mlx5' "$tmp/out" || fail "economy compares nothing"
	# 1, 16, 4 and 1024 queues, 64 and 9000 bytes, one flow a queue and every frame checked
	expect 0 loopback --on host --quick --tools "$SOFTCX_DIR" --json "$tmp/loopback.json"
	[ "$(grep -c '"mpps"' "$tmp/loopback.json")" = 4 ] || fail "loopback has not four lines"
	expect 1 loopback --on host --quick --tools "$SOFTCX_DIR" --sizes 64 --queues 7919
	grep -q 'equal shares' "$tmp/out" || fail "a number of queues that fits no ports is not told of"
fi
# The programs that a bench has started end with it, whatever ends it.
for signal in TERM KILL; do
	[ -n "${SOFTCX_DIR:-}" ] || break
	mark=9.$((10000 + RANDOM))
	TMPDIR=$tmp "$bench" loopback --on host --quick --tools "$SOFTCX_DIR" --seconds "$mark" >"$tmp/out" 2>&1 &
	pid=$!
	for _ in $(seq 100); do
		ps -eo args= | grep -q "^[^ ]*carillon-testpmd .*=$mark" && break
		sleep 0.1
	done
	kill -$signal $pid
	wait $pid 2>/dev/null
	for _ in $(seq 80); do
		ps -eo args= | grep -q "[d]uration=$mark" || break
		sleep 0.1
	done
	! ps -eo args= | grep "[d]uration=$mark" || fail "programs live on after SIG$signal"
done
expect 0 post --on host --quick --only 'shared: ours, 1 group x 2 threads, batch 32' \
	--json "$tmp/shared.json"

/usr/bin/python3 - "$tmp"/*.json <<'END' || bad=1
import json, sys
bad = 0
for name in sys.argv[1:]:
    r = json.load(open(name))
    for key in ('program', 'version', 'commit', 'bench', 'date', 'on', 'machine', 'gpu', 'lost', 'torn', 'failed'):
        if key not in r:
            print('%s: no %s' % (name, key)); bad = 1
    if r['on'] not in ('host', 'programs') or r['gpu'] is not None or r['lost'] or r['torn'] or not r['lines']:
        print('%s: wrong head' % name); bad = 1
    measured = 0
    for line in r['lines']:
        for key in ('what', 'placement', 'trigger', 'nic_step', 'fence', 'clock', 'unit', 'samples'):
            if not str(line.get(key, '')):
                print('%s: a line without %s: %s' % (name, key, line)); bad = 1
        if 'missing' in line:
            if not line['missing'].isprintable() or len(line['missing']) < 10:
                print('%s: not measured, and not why: %s' % (name, line)); bad = 1
            continue
        measured += 1
        if line['lost'] or line['torn'] or line['done'] <= 0:
            print('%s: %s' % (name, line)); bad = 1
        if 'p50' in line and not line['min'] <= line['p50'] <= line['p99'] <= line['p999'] <= line['max']:
            print('%s: quantiles out of order: %s' % (name, line)); bad = 1
    if not measured:
        print('%s: nothing measured' % name); bad = 1
sys.exit(bad)
END

expect 1 post --on host --quick --only 'single: ours' --tear --json "$tmp/torn.json"
grep -q '"torn":[1-9]' "$tmp/torn.json" || fail "a torn WQE was not counted"
expect 1 post --on host --quick --only 'no line has this'
expect 1 post --on host --quick --only 'single: ours' --json "$tmp/none/x.json"
expect 1 plot "$tmp/none.json" "$tmp/x.svg"
! grep -q 'p50' "$tmp/out" || fail "measured before it found that the report cannot be written"
expect 1 post --on host --quick --plot "$tmp/none/x.svg"
grep -q 'cannot write' "$tmp/out" || fail "a picture that cannot be written is found out at the end"

# What plot is given may be anything: it says so, and carries nothing of it out.
for json in '{}' '[]' '{"lines":1}' '{"lines":{}}' '{"lines":[1,null,[]]}' '{"lines":[{}]}' '{"lines":'; do
	printf '%s' "$json" >"$tmp/odd.json"
	expect 1 plot "$tmp/odd.json" "$tmp/x.svg"
	[ -s "$tmp/out" ] || fail "plot of $json says nothing"
done
ran=$tmp/ran
printf '{"lines":[{"what":null,"fence":"`touch %s`\\nEOD\\n!touch %s\\n","p50":1,"p99":2}],"bench":"`touch %s`"}' \
	"$ran" "$ran" "$ran" >"$tmp/odd.json"
expect 0 plot "$tmp/odd.json" "$tmp/a_b'\`touch ran\`.svg"
[ -s "$tmp/a_b'\`touch ran\`.svg" ] || fail "the picture has another name: $(ls "$tmp")"
[ ! -e "$ran" ] && [ ! -e ran ] || fail 'plot ran a command that stood in the report'
expect 2 plot "$tmp/rate.json" "$tmp/x.pdf"
ln -s /dev/full "$tmp/full.svg"
expect 1 plot "$tmp/rate.json" "$tmp/full.svg"
grep -q 'not whole' "$tmp/out" || fail "a picture on a full disk is taken for one"
expect 0 trigger --on host --quick --rounds 40 --only 'spinning lcore'
grep -q '^1 lines' "$tmp/out" || fail "trigger --only: $(tail -n 1 "$tmp/out")"
for words in 'post --on moon' 'post --rounds 0' 'post --samples 0' 'loopback --sizes 64,x'; do
	expect 2 $words
	grep -q "is no value for $(grep -oE -- '--[a-z]+' <<<"$words")\$" "$tmp/out" || fail "$words: $(cat "$tmp/out")"
done
expect 2 post --plot "$tmp/x.pdf"
expect 2 loopback --sizes 63
expect 2 loopback --queues 1,,2
expect 2 loopback --seconds 0
expect 2 nonsense
grep -q "no bench 'nonsense'" "$tmp/out" || fail 'a bench that there is not is not named'
expect 2
expect 0 --help
grep -q 'exit status' <(tr 'E' 'e' <"$tmp/out") || fail "--help does not name the exit statuses"
[ -e /dev/nvidiactl ] || {
	expect 1 post --quick
	grep -q 'on host' "$tmp/out" || fail "without a GPU it does not say what to do"
}
exit $bad
