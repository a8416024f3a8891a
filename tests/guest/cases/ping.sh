# SPDX-License-Identifier: BSD-3-Clause
#: judge mlx5_core
#: modules mlx5_core
# Ping both ways over the wire: the guest's mlx5_core and the host's end of a veth pair.
n=$(ls /sys/class/net | grep -v '^lo$' | head -1)
ip link set lo up
ip link set $n up
ip addr add 192.168.77.2/24 dev $n
sleep 1
pinged=
for size in 56 1400; do
	ping -c 5 -s $size -W 2 192.168.77.1 | grep ' 0% packet loss' && pinged=$pinged$size,
done
echo "GUEST pinged the host with ${pinged:-nothing}"
was=$(cat /sys/class/net/$n/statistics/rx_packets)
echo "GUEST up"
# the host's ten pings, counted: the host's time is its own
until_true 300 eval '[ $(($(cat /sys/class/net/$n/statistics/rx_packets) - was)) -ge 10 ]'
sleep 1
cd /sys/class/net/$n/statistics
echo "GUEST packets received $(cat rx_packets) sent $(cat tx_packets)"
cd /
ip link set $n down
[ "$pinged" = 56,1400, ] && echo "GUEST VERDICT ok"
