# SPDX-License-Identifier: BSD-3-Clause
#: judge mlx5_core
#: modules mlx5_core
# Ping both ways over the wire: the guest's mlx5_core and the host's end of a veth pair.
n=$(ls /sys/class/net | grep -v '^lo$' | head -1)
ip link set lo up
ip link set $n up
ip addr add 192.168.77.2/24 dev $n
sleep 1
ping -c 5 -W 2 192.168.77.1 | grep -E 'received|loss' | sed 's/^/GUEST ping /'
ping -c 3 -s 1400 -W 2 192.168.77.1 | grep -q ' 0% packet loss' && echo "GUEST pinged"
echo "GUEST up"
i=0
# the host pings now, and says so by a frame count that rises
while [ $i -lt 40 ] && [ ! -e /tmp/done ]; do
	[ "$(cat /sys/class/net/$n/statistics/rx_packets)" -ge 18 ] && touch /tmp/done
	sleep 0.25; i=$((i + 1))
done
sleep 1
cd /sys/class/net/$n/statistics
echo "GUEST packets received $(cat rx_packets) sent $(cat tx_packets)"
cd /
ip link set $n down
echo "GUEST VERDICT ok"
