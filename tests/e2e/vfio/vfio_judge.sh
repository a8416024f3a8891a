#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# libmlx5's user-space VFIO driver, as the distribution built it, on a software ConnectX in its own process.
# Prints one line as tests/guest/run's table has it: judge, version, case, verdict, seconds. Needs no root.
#
#   usage: vfio_judge.sh SOFTCX VFIO_DRIVER
set -uo pipefail

softcx=$1 driver=$2
T=$(mktemp -d)
trap 'rm -rf "$T"' EXIT
start=$(date +%s.%N)
version="rdma-core $(dpkg-query -W -f '${Version}' ibverbs-providers 2>/dev/null || echo unknown)"
limit=120 # of a run, of 0.2 s of work: the program and its NIC take turns, and a busy machine makes each turn long
wrong=()

# run NAME OPTIONS... -- ARGUMENTS...: the program's words in NAME.out, the NIC's in NAME.nic
run() {
	local name=$1 options=()

	shift
	while [ "$1" != -- ]; do
		options+=("$1")
		shift
	done
	shift
	timeout "$limit" "$softcx" vfio --seed 1 --log "$T/$name.nic" "${options[@]}" -- "$driver" "$@" \
		> "$T/$name.out" 2>&1 || wrong+=("$name: $(tail -n 1 "$T/$name.out")")
	grep -q 'vfio_driver: ok' "$T/$name.out" || wrong+=("$name: no ok")
}

# has NAME PATTERN: the NIC said so
has() {
	grep -qE "$2" "$T/$1.nic" || wrong+=("$1: the NIC did not say '$2'")
}

# What the program does wrong on purpose is refused; nothing else is.
clean() {
	local rest

	has "$1" 'refused 1 times: command IN_USE$'
	has "$1" 'refused 1 times: data path SEG_KEY$'
	rest=$(grep 'refused [0-9]* times' "$T/$1.nic" | grep -vE ': command IN_USE$|: data path SEG_KEY$' | head -n 1)
	[ -z "$rest" ] || wrong+=("$1: $rest")
	has "$1" 'closed: 0 ranges of memory are still the device'
}

run round -- 500
clean round
has round 'received 500 '
for profile in cx7 bf3; do
	run "$profile" --profile "$profile" -- 100
	clean "$profile"
done
run late --faults dma-delay=20 -- 150 # DMA that arrives later, in an order that PCI Express allows
clean late
has late 'received 150 '

# The NIC asks for pages and then gives all of them back, while it runs.
run pages --faults pages=64@8,pages=-384@16 -- 10 300
clean pages
has pages 'pages: 384 given, 384 taken back, 0 are the NIC'

# stops SYNDROME MS: after the last command of the set-up the firmware stops. libmlx5 then ends the program with
# SIGABRT: at once when there is a syndrome, after three looks a second apart when only the counter stands still.
stops() {
	local rc

	# bash itself has a word to say of a program that aborts
	{
		timeout "$limit" "$softcx" vfio --seed 1 --log "$T/stops.nic" --faults "health=$1@21" \
			-- "$driver" 10 "$2"
		rc=$?
	} > "$T/stops.out" 2>&1
	[ $rc = 134 ] || wrong+=("a firmware that stopped with syndrome $1: status $rc, not 134")
	has stops "the firmware stops, with health syndrome 0x$1"
}
stops 8 2500
[ "${CRL_E2E:-}" != full ] || stops 0 8000

seconds=$(awk -v a="$start" -v b="$(date +%s.%N)" 'BEGIN { printf "%.1f", b - a }')
if [ ${#wrong[@]} = 0 ]; then
	printf '%-12s %-26s %-16s %-8s %s\n' libmlx5 "$version" vfio ok "$seconds s"
	exit 0
fi
printf '%-12s %-26s %-16s %-8s %s\n' libmlx5 "$version" vfio FAILED "$seconds s  ${wrong[0]}"
printf '%s\n' "${wrong[@]}" >&2
tail -n 20 "$T"/*.nic >&2
exit 1
