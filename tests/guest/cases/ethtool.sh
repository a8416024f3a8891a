# SPDX-License-Identifier: BSD-3-Clause
#: judge mlx5_core
#: modules mlx5_core
#: files ethtool
#: boot ipv6.disable=1
#: smp 2
# Statistics, features, channels, indirection and rules by ethtool, each with traffic that shows it. The host sends
# 200 datagrams of 100 source ports each time it is asked.
nic_up || exit
ip addr add 192.168.77.2/24 dev $n
sleep 1
bad=
step() { echo "GUEST step $*"; "$@" > /tmp/out 2>&1 || { bad="$bad [$*: $(head -1 /tmp/out)]"; return 1; }; }
stat() { v=$(ethtool -S $n | sed -n "s/^ *$1: //p"); echo "${v:-0}"; }

# turn PORT MORE: what rings 0 and 1 receive while the host sends, in r0 and r1
turn() {
	was0=$(stat rx0_packets) was1=$(stat rx1_packets)
	echo "GUEST send $1"
	sleep 3
	more=20 # where they are counted, until all have come: the host's time is its own
	while [ $more -gt 0 ] && [ $(($(stat rx0_packets) + $(stat rx1_packets) - was0 - was1)) -lt $2 ]; do
		sleep 1
		more=$((more - 1))
	done
	r0=$(($(stat rx0_packets) - was0)) r1=$(($(stat rx1_packets) - was1))
	echo "GUEST port $1: ring 0 $r0, ring 1 $r1"
}

step ethtool -S $n && grep -q 'rx_packets_phy' /tmp/out || bad="$bad [-S]"
step ethtool -k $n && grep -q '^rx-checksumming: on' /tmp/out || bad="$bad [-k]"
step ethtool -K $n rx off
step ethtool -K $n rx on
step ethtool -L $n combined 1
turn 4000 200
[ $r0 -ge 200 ] && [ $r1 = 0 ] || bad="$bad [one channel: $r0 $r1]"
step ethtool -L $n combined 2
step ethtool -N $n rx-flow-hash udp4 sdfn
turn 4000 200
[ $r0 -ge 40 ] && [ $r1 -ge 40 ] || bad="$bad [two channels: $r0 $r1]"
step ethtool -X $n weight 0 1
turn 4000 200
[ $r0 -le 4 ] && [ $r1 -ge 200 ] || bad="$bad [weight 0 1: $r0 $r1]"
step ethtool -X $n equal 2
step ethtool -x $n
step ethtool -K $n ntuple on
step ethtool -N $n flow-type udp4 dst-port 4001 action 0
step ethtool -N $n flow-type udp4 dst-port 4002 action -1
turn 4001 200
[ $r0 -ge 200 ] && [ $r1 -le 4 ] || bad="$bad [rule to ring 0: $r0 $r1]"
turn 4002 0
[ $((r0 + r1)) -le 4 ] || bad="$bad [rule to drop: $r0 $r1]"
step ethtool -n $n
for rule in $(sed -n 's/^Filter: //p' /tmp/out); do
	step ethtool -N $n delete $rule
done
turn 4002 200
[ $((r0 + r1)) -ge 200 ] || bad="$bad [rule deleted: $r0 $r1]"
ip link set $n down
[ -z "$bad" ] && echo "GUEST VERDICT ok" || echo "GUEST bad:$bad"
