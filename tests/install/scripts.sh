#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The scripts that people start by hand, wrongly asked: said at once, with the status that is for it,
# and nothing is begun, made or left. usage: scripts.sh TOP
set -uo pipefail
cd "$1" || exit 1
tmp=$(mktemp -d) || exit 1
trap 'rm -rf "$tmp"' EXIT
export TMPDIR=$tmp
bad=0

# wrong STATUS WORDS COMMAND...
wrong() {
	local status=$1 words=$2 rc
	shift 2
	timeout -k 5 20 "$@" >"$tmp/out" 2>&1 </dev/null
	rc=$?
	[ $rc = "$status" ] && grep -q -- "$words" "$tmp/out" || {
		echo "$*: status $rc, not $status, or not: $words"
		head -n 5 "$tmp/out"
		bad=1
	}
	[ "$(find "$tmp" -mindepth 1 ! -name out ! -path "$tmp/tmp.*" | wc -l)" = 0 ] || {
		echo "$*: left behind: $(ls "$tmp")"
		bad=1
	}
	rm -rf "$tmp"/tmp.*
}

for option in -d -b -o; do
	wrong 2 "first-card: $option wants a value" config/first-card.sh $option
done
wrong 2 'there is no folder /nosuch' config/first-card.sh -b /nosuch
wrong 2 'cannot write /nosuch/x' config/first-card.sh -o /nosuch/x
wrong 2 'is a folder' config/first-card.sh -o "$tmp"
CRL_BUILD=$tmp wrong 1 'there is no build in' config/demo.sh --no-build
for option in --logs --tally --kernel; do
	wrong 64 "guest: $option wants a value" tests/guest/run $option
done
wrong 64 'guest: no option --nosuch' tests/guest/run --nosuch
wrong 64 'guest: cannot write /nosuch/x' tests/guest/run --quick --tally /nosuch/x
wrong 64 'guest: no folder for logs' tests/guest/run --quick --logs /proc/nosuch/x
for part in 0/0 3/2 a/b 1; do
	wrong 2 'argument --part' tests/mutation/run --list --part $part
done
wrong 2 'argument --seconds' tests/mutation/run --list --seconds -1
wrong 2 'argument --only' tests/mutation/run --list --only '('
wrong 2 'argument --join' tests/mutation/run --join /nosuch
for packets in 0 -1 x 1x 9999999999999999; do
	wrong 2 'is no number of packets' tests/order/run /bin/true "$packets"
done

wrong 64 'chroot: --logs wants a value' tests/chroot/run --logs
wrong 64 'chroot: no option --nosuch' tests/chroot/run --nosuch
wrong 2 'usage: tests/order/run' tests/order/run

# Who asks is told, of options or settings too, and no more happens.
while read -r script word; do
	wrong 0 "$word" "$script" --help
	wrong 0 "$word" "$script" -h
done <<'EOF'
config/bundle.sh CRL_BUILD
config/check.sh CRL_CHECK
config/demo.sh --pause-lcore
config/first-card.sh --no-frames
tests/chroot/run --build
tests/fuzz/run --tally
tests/guest/run --quick
tests/mutation/run --lot
tests/order/run PACKETS
EOF
wrong 0 'usage: config/setup.sh' config/setup.sh --help

# SIGINT ends all of its parts, not one.
printf '#!/bin/sh\nsleep 0.5\n' >"$tmp/part"
chmod +x "$tmp/part"
env --default-signal=INT tests/order/run "$tmp/part" 1000 >"$tmp/out" 2>&1 &
pid=$!
for _ in $(seq 100); do
	grep -q 'hb_check intact' "$tmp/out" && break
	sleep 0.02
done
kill -INT $pid
wait $pid
[ $? = 130 ] || { echo "order/run: SIGINT does not end it"; bad=1; }
rm "$tmp/part"

# A run that is ended takes its copies of the tree and its programs along.
tests/mutation/run --lot 50 >"$tmp/out" 2>&1 &
pid=$!
for _ in $(seq 100); do
	compgen -G "$tmp/mutation-*/as-it-is/meson.build" >/dev/null && break
	sleep 0.1
done
kill -TERM $pid
wait $pid
[ $? = 143 ] || { echo "mutation/run: status after SIGTERM is not 143"; bad=1; }
! compgen -G "$tmp/mutation-*" || { echo "mutation/run leaves its copies"; bad=1; }
exit $bad
