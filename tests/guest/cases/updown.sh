# SPDX-License-Identifier: BSD-3-Clause
#: judge mlx5_core
#: modules mlx5_core
# Down and up 100 times, another MTU now and then, and a ping in the end; then the module is unloaded.
n=$(ls /sys/class/net | grep -v '^lo$' | head -1)
ip addr add 192.168.77.2/24 dev $n
i=0
while [ $i -lt 100 ]; do
	ip link set $n up || break
	[ $((i % 10)) = 5 ] && ip link set $n mtu $((1400 + i))
	ip link set $n down || break
	i=$((i + 1))
done
echo "GUEST rounds $i"
ip link set $n mtu 1500
ip link set $n up
sleep 1
ping -c 3 -W 2 192.168.77.1 | grep -q ' 0% packet loss' && pinged=1
ip link set $n down
rmmod mlx5_core && [ $i = 100 ] && [ -n "$pinged" ] && echo "GUEST VERDICT ok"
