# SPDX-License-Identifier: BSD-3-Clause
#: judge dpdk-testpmd
#: modules mlx5_core ib_uverbs mlx5_ib
#: files dpdk-testpmd rdma dpdk stdbuf /usr/libexec/coreutils/libstdbuf.so
#: boot hugepages=96 ipv6.disable=1
# Debian's testpmd: RSS over two queues, then rules: a UDP port to one queue, another to none. The host sends 200
# datagrams of 100 source ports each time it is asked; testpmd counts by queue.
nic_up || exit
mkfifo /tmp/cmd
stdbuf -oL dpdk-testpmd --lcores 0@0,1@0 -a $dev -- -i --rxq=2 --txq=2 --rss-udp --forward-mode=rxonly \
	--total-num-mbufs=8192 < /tmp/cmd >> /tmp/log 2>&1 &
pid=$!
exec 3> /tmp/cmd
say() { echo "$*" >&3; }

# queue NUMBER: packets that testpmd says it received there, in the run that has ended
queue() {
	q=$(sed -n "/Queue= $1 ->/,/TX-packets/s/.*RX-packets: *\([0-9]*\).*/\1/p" /tmp/log | tail -1)
	echo "${q:-0}"
}

# reached NUMBER: the port has counted so many packets since it was started
reached() {
	say show port stats 0
	sleep 0.3
	[ "$(count RX-packets)" -ge "$1" ]
}

# turn PORT MORE: forwards while the host sends to the port, until so many have come; the host's time is its own
turn() {
	: > /tmp/log
	say show port stats 0
	until_true 200 in_log RX-packets
	before=$(count RX-packets)
	: > /tmp/log
	say start
	until_true 200 in_log 'forwards packets on'
	echo "GUEST send $1"
	sleep 2.5
	until_true 100 reached $((before + $2))
	say stop
	until_true 200 in_log 'Done\.'
	echo "GUEST port $1: queue 0 $(queue 0), queue 1 $(queue 1)"
}

until_true 300 in_log 'testpmd> ' && echo "GUEST up"
turn 4000 200
a0=$(queue 0) a1=$(queue 1)
: > /tmp/log
say flow create 0 ingress pattern eth / ipv4 / udp dst is 4001 / end actions queue index 1 / end
until_true 100 in_log 'rule.*created\|error'
say flow create 0 ingress pattern eth / ipv4 / udp dst is 4002 / end actions drop / end
until_true 100 in_log '#1 created\|error'
grep -i 'flow rule\|error' /tmp/log | sed 's/^/GUEST /'
turn 4001 200
b0=$(queue 0) b1=$(queue 1)
turn 4002 0
c0=$(queue 0) c1=$(queue 1)
say quit
wait $pid
status=$?
tail -5 /tmp/log
[ $status = 0 ] && [ $((a0 + a1)) -ge 200 ] && [ $a0 -ge 40 ] && [ $a1 -ge 40 ] &&
	[ $b0 -le 2 ] && [ $b1 -ge 200 ] && [ $((c0 + c1)) -le 2 ] && echo "GUEST VERDICT ok"
