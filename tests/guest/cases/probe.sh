# SPDX-License-Identifier: BSD-3-Clause
#: judge mlx5_core
#: modules mlx5_core
# mlx5_core probes, makes a netdev, and lets go of the NIC with all pages returned.
n=$(ls /sys/class/net | grep -v '^lo$' | head -1)
echo "GUEST netdev ${n:-none} $(cat /sys/class/net/$n/address 2>/dev/null)"
dev=$(basename "$(readlink /sys/class/net/$n/device)")
echo "$dev" > /sys/bus/pci/drivers/mlx5_core/unbind
echo "GUEST unbound"
echo "$dev" > /sys/bus/pci/drivers/mlx5_core/bind
n=$(ls /sys/class/net | grep -v '^lo$' | head -1)
echo "GUEST again ${n:-none}"
rmmod mlx5_core && [ -n "$n" ] && echo "GUEST VERDICT ok"
