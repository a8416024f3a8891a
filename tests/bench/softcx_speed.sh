#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# How fast the software ConnectX is, beside programs that do the same work without it. Run by hand:
#
#   meson devenv -C build ../tests/bench/softcx_speed.sh [SECONDS] [ROUNDS] [PATTERN]
#
# PATTERN: only the lines of the table whose name matches it (grep -E).
#
# Nothing is asserted. 64-byte frames (60 without the checksum on veth, where the kernel counts);
# each pair is measured in one run, in alternating order, ROUNDS times (3) of SECONDS each (4), and
# printed with the least, the middle and the largest ratio. The figures are those of a software
# model: they say nothing of any NIC.
#
# On a machine that others use as well packets a second say little, so each pair has a second line:
# nanoseconds of processor time a packet, of the thread that does the work in question (the one that
# steps the NIC, or the lcore of a program without one), and the ratio the other way up.
. "$(dirname "$0")/../e2e/lib.sh"
SPAN=${SPAN:-${1:-4}} ROUNDS=${ROUNDS:-${2:-3}} ONLY=${ONLY:-${3:-.}}
export SPAN ROUNDS ONLY
e2e_begin dpdk-testpmd stdbuf

MBUFS=16384 PMD_MB=256
PMD_EXPECT=. # a log line is no failure here

# cpu_ns PID THREADS: processor time of the threads of PID and its children named so (ERE)
cpu_ns()
{
	local p t sum=0

	for p in $(descendants "$1"); do
		for t in /proc/"$p"/task/*; do
			grep -qxE "$2" "$t/comm" 2>/dev/null || continue
			sum=$((sum + $(cut -d' ' -f1 "$t/schedstat")))
		done
	done
	echo $sum
}

received()
{
	xstats 0
	COUNT=${XS[rx_good_packets]}
}

# measure COUNTER PID THREADS: packets a second in PPS, processor time a packet in NS
measure()
{
	local count cpu start

	$1
	count=$COUNT cpu=$(cpu_ns "$2" "$3") start=$(date +%s%N)
	sleep "$SPAN"
	$1
	count=$((COUNT - count)) cpu=$(($(cpu_ns "$2" "$3") - cpu))
	PPS=$((count * 1000000000 / ($(date +%s%N) - start)))
	NS=$(awk -v c="$cpu" -v n="$count" 'BEGIN { printf "%.1f", n ? c / n : 0 }')
}

LCORE='(lcore|rte)-worker.*'

# memif_start: two ports of one testpmd, joined by shared memory
memif_start()
{
	local vdevs=(--vdev "net_memif0,role=server,id=0,socket=$T/memif" --vdev
		"net_memif1,role=client,id=0,socket=$T/memif")

	plain_start memif "${vdevs[@]}" --single-file-segments
}

# plain_start NAME EAL-OPTIONS...: testpmd without softcx, up to the prompt
plain_start()
{
	local name=$1

	shift
	PMD_LOG=$T/$name.log
	: >"$PMD_LOG"
	rm -f "$T/$name.in"
	mkfifo "$T/$name.in"
	exec {PMD_FD}<>"$T/$name.in"
	stdbuf -oL dpdk-testpmd -l "$LCORES" --no-huge -m "$PMD_MB" --no-shconf --no-pci \
		--file-prefix "$name" "$@" -- -i --total-num-mbufs="$MBUFS" --forward-mode=io \
		<"$T/$name.in" >"$PMD_LOG" 2>&1 &
	PMD_PID=$!
	PMD_MARK=0
	pmd_sync 30 || die "testpmd did not reach its prompt"
}

# circle THREADS BURSTS: of 32 packets, which go round
circle()
{
	pmd_do "start tx_first $2"
	sleep 0.5
	measure received "$PMD_PID" "$1"
	pmd_do stop 20
	pmd_quit
}

loopback_mlx5()
{
	SCX=() DEVARGS=${1:-}
	pmd_start mlx5 --rxq=1 --txq=1 --rxd=1024 --txd=1024 --forward-mode=io
	circle softcx 8
}

loopback_memif()
{
	memif_start
	circle "$LCORE" 8
}

# As many packets on their way as carillon-testpmd's --tx-first sends
loopback_mlx5_burst()
{
	SCX=() DEVARGS=''
	pmd_start mlx5 --rxq=1 --txq=1 --rxd=1024 --txd=1024 --forward-mode=io
	circle softcx 1
}

# What reaches the other end of the veth, by the kernel's count
arrived()
{
	COUNT=$(ip -n peer -s -j link show dev w1 |
		sed 's/.*"rx":{[^}]*"packets":\([0-9]*\).*/\1/')
}

flood()
{
	pmd_do 'set fwd txonly'
	pmd_do start
	sleep 0.5
	measure arrived "$PMD_PID" "$1"
	pmd_do stop 20
	pmd_quit
}

veth_mlx5()
{
	SCX=(--wire veth:w0) DEVARGS=''
	pmd_start veth --rxq=1 --txq=1 --rxd=1024 --txd=1024 --forward-mode=io
	flood softcx
}

veth_af_packet()
{
	plain_start af_packet --vdev net_af_packet0,iface=w0
	flood "$LCORE"
}

# loopback_engine [OPTION]: the same frames round the same loopback, by an engine of ours on host
# threads
loopback_engine()
{
	local log=$T/engine.log job

	: >"$log"
	timeout 60 "$SOFTCX" run -- "$CARILLON_TESTPMD" -l 0,1 --no-huge -m 256 --no-shconf \
		-a "${BDFS[0]}" -- --forward-mode=io --rings=host --rxq=1 --txq=1 --rxd=1024 \
		--txd=1024 --tx-first --duration="$((SPAN + 4))" --stats-period=1 "$@" >"$log" 2>&1 &
	job=$!
	wait_for 10 grep -qs Rx-pps "$log" || note "carillon-testpmd: $(tail -n 2 "$log")"
	measure counted "$job" softcx
	wait "$job" || note "carillon-testpmd: status $?: $(tail -n 2 "$log")"
}

# By its own last statistics block: the span ends where two blocks end, so count blocks, not time
counted()
{
	local n

	n=$(grep -c RX-packets "$log")
	wait_for 3 more_blocks "$n" || note 'carillon-testpmd prints no statistics'
	COUNT=$(sed -n 's/.*RX-packets: *\([0-9]*\).*/\1/p' "$log" | tail -n 1)
}

more_blocks()
{
	[ "$(grep -c RX-packets "$log")" -gt "$1" ]
}

# versus LABEL A B ARGUMENT-OF-A: what A and B reach, and by what factor A is ahead
versus()
{
	local label=$1 a=$2 b=$3 arg=${4:-} i

	grep -qE "$ONLY" <<<"$label" || return
	PPS_A=() PPS_B=() NS_A=() NS_B=()
	for ((i = 0; i < ROUNDS; i++)); do
		if [ $((i % 2)) = 0 ]; then
			$a $arg; PPS_A+=("$PPS") NS_A+=("$NS"); $b; PPS_B+=("$PPS") NS_B+=("$NS")
		else
			$b; PPS_B+=("$PPS") NS_B+=("$NS"); $a $arg; PPS_A+=("$PPS") NS_A+=("$NS")
		fi
	done
	line "$label" PPS_A PPS_B 'a / b'
	line '    ns of processor time a packet' NS_A NS_B 'b / a'
}

# line LABEL ARRAY ARRAY RATIO: the middle of each, and least, middle and largest ratio of a round
line()
{
	local -n of_a=$2 of_b=$3
	local i ratios=()

	for ((i = 0; i < ROUNDS; i++)); do
		ratios+=("$(awk -v a="${of_a[i]}" -v b="${of_b[i]}" \
			"BEGIN { printf \"%.2f\\n\", a && b ? $4 : 0 }")")
	done
	printf '%-44s %12s %12s   %s\n' "$1" "$(middle "${of_a[@]}")" "$(middle "${of_b[@]}")" \
		"$(printf '%s\n' "${ratios[@]}" | sort -n | xargs | awk '
			{ print $1 " / " $(int((NF + 1) / 2)) " / " $NF }')"
}

middle()
{
	printf '%s\n' "$@" | sort -n | sed -n "$((($# + 1) / 2))p"
}

wire_make 1500
find_ports 1
echo "Rings, doorbell and NIC step: host memory, a CPU thread of the program's process; strict"
echo "checks on; $(nproc) cores, $(sed -n 's/^model name\s*: //p' /proc/cpuinfo | head -n 1);" \
	"load $(cut -d' ' -f1-3 /proc/loadavg);" "$ROUNDS rounds of $SPAN s"
printf '%-44s %12s %12s   %s\n' '' 'first, pps' 'second, pps' 'ratio: least / middle / largest'
versus 'testpmd io, softcx loopback : memif pair' loopback_mlx5 loopback_memif
versus '  the same, txq_mpw_en=0,txq_inline_max=0' loopback_mlx5 loopback_memif \
	txq_mpw_en=0,txq_inline_max=0
versus 'txonly to a veth, softcx : net_af_packet' veth_mlx5 veth_af_packet
if [ -n "${CARILLON_TESTPMD:=$(command -v carillon-testpmd)}" ]; then
	versus 'softcx loopback, our engine : testpmd io' loopback_engine loopback_mlx5_burst
	for option in --tx-inline=268 --mbuf-size=2048; do
		versus "  the same, engine with $option" loopback_engine loopback_mlx5_burst $option
	done
else
	echo 'no carillon-testpmd: its engines are not measured'
fi
