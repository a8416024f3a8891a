# SPDX-License-Identifier: BSD-3-Clause
#: judge mlx5_core
#: modules mlx5_core
#: nic --faults link-flap=500
# The link goes down and up by itself, twice a second or more often: the netdev's carrier follows.
n=$(ls /sys/class/net | grep -v '^lo$' | head -1)
ip link set $n up
i=0
while [ $i -lt 40 ] && [ "$(cat /sys/class/net/$n/carrier_changes)" -lt 12 ]; do
	sleep 1
	i=$((i + 1))
done
c=$(cat /sys/class/net/$n/carrier_changes)
echo "GUEST carrier changes $c"
rmmod mlx5_core && [ "$c" -ge 12 ] && echo "GUEST VERDICT ok"
