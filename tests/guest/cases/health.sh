# SPDX-License-Identifier: BSD-3-Clause
#: judge mlx5_core
#: modules mlx5_core
#: nic --faults health=8@700
#: allow poll_health:.*Fatal error 5
#: allow print_health_info:
#: allow mlx5_health_try_recover:
#: allow handle_bad_state:
#: allow error_sw_reset:
#: allow reset_fw_if_needed:.*Issuing FW Reset$
#: allow wait_for_pages:.*Skipping
#: allow pci_slot_reset
#: allow wait vital counter
#: allow health recovery succeeded
#: allow modify_tirs_lb:.*failed, -67
#: allow refresh tir\(0x[0-9a-f]+\) failed, -67
# The firmware stops with a syndrome while the port is up: the driver says so, resets the device by nic_interface
# (a reset that is not done makes a line that is not allowed), and has a port that talks again. What it says on the
# way is a fault's, not of allowed.txt.
n=$(ls /sys/class/net | grep -v '^lo$' | head -1)
ip addr add 192.168.77.2/24 dev $n
ip link set $n up
sleep 1
ping -c 3 -W 2 192.168.77.1 | grep -q ' 0% packet loss' && before=1
i=0
while [ $i -lt 60 ] && ! dmesg | grep -q 'health recovery succeeded\|recovery failed'; do
	ip link set $n mtu $((1400 + i)) # commands, until the one at which it stops
	sleep 1
	i=$((i + 1))
done
dmesg | grep -i 'health\|fatal\|synd\|recover' | tail -20
sleep 2
n=$(ls /sys/class/net | grep -v '^lo$' | head -1)
ip addr add 192.168.77.2/24 dev $n
ip link set $n up
sleep 2
ping -c 3 -W 2 192.168.77.1 | grep -q ' 0% packet loss' && after=1
rmmod mlx5_core && [ -n "$before" ] && [ -n "$after" ] && echo "GUEST VERDICT ok"
