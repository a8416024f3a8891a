# SPDX-License-Identifier: BSD-3-Clause
#: judge mlx5_core
#: modules mlx5_core
#: mtu 9000
# Frames of 9000 bytes, both ways, after 1500; the wire's ends have as much.
nic_up || exit
ip addr add 192.168.77.2/24 dev $n
ip link set $n mtu 9000 || echo "GUEST no MTU of 9000"
sleep 1
ping -c 5 -s 8900 -W 2 192.168.77.1 | grep -q ' 0% packet loss' && pinged=1
was=$(cat /sys/class/net/$n/statistics/rx_bytes)
echo "GUEST up"
until_true 200 eval '[ $(($(cat /sys/class/net/$n/statistics/rx_bytes) - was)) -ge 89000 ]' && came=1
ip link set $n mtu 1500
ping -c 2 -s 1400 -W 2 192.168.77.1 | grep -q ' 0% packet loss' && [ -n "$pinged" ] && [ -n "$came" ] &&
	echo "GUEST VERDICT ok"
