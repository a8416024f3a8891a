# SPDX-License-Identifier: BSD-3-Clause
#: judge mlx5_core
#: modules mlx5_core
#: nic --faults pages=100@60,pages=-50@90,pages=-370@120
# The firmware asks for 100 pages more, gives 50 back and then all; the driver follows, and the port talks.
n=$(ls /sys/class/net | grep -v '^lo$' | head -1)
ip addr add 192.168.77.2/24 dev $n
ip link set $n up
sleep 2
ping -c 3 -W 2 192.168.77.1 | grep -q ' 0% packet loss' && pinged=1
rmmod mlx5_core && [ -n "$pinged" ] && echo "GUEST VERDICT ok"
