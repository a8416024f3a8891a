#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# rdma-core's own ibv_devinfo on a softcx: it finds the devices, opens them and is told the truth.
. "$(dirname "$0")/lib.sh"
e2e_begin ibv_devinfo ibv_devices

has()
{
	grep -qE "$1" "$T/out" || { fail "ibv_devinfo does not say '$1'"; cat "$T/out" >&2; }
}

"$SOFTCX" run -- ibv_devinfo >"$T/out" 2>"$T/err" || fail "ibv_devinfo: status $?: $(cat "$T/err")"
has '^hca_id:\s+mlx5_0'
has 'vendor_id:\s+0x02c9'
has 'vendor_part_id:\s+[0-9]+'
has 'phys_port_cnt:\s+1'
has 'state:\s+PORT_ACTIVE \(4\)'
has 'link_layer:\s+Ethernet'
is 'ports of the first device' "$(grep -c '^hca_id' "$T/out")" 1

"$SOFTCX" run -- ibv_devinfo -v >"$T/out" 2>"$T/err" ||
	fail "ibv_devinfo -v: status $?: $(cat "$T/err")"
has 'max_mr_size:'
has 'max_mtu:'

"$SOFTCX" run --ports 3 -- ibv_devices >"$T/out" 2>"$T/err" || fail "ibv_devices: status $?"
is 'devices of --ports 3' "$(grep -c 'mlx5_' "$T/out")" 3

# A GUID of its own for each, or tools take two ports for one card.
is 'different GUIDs' "$(awk '/mlx5_/ { print $2 }' "$T/out" | sort -u | wc -l)" 3

# A machine of one NUMA node has the NIC there: programs take memory on the NIC's node.
node=$(cat /sys/devices/system/node/online 2>/dev/null)
case $node in
*[!0-9]* | '') node=-1 ;;
esac
is 'NUMA node' "$("$SOFTCX" run -- sh -c 'cat "$SYSFS_PCI_DEVICES"/*/numa_node' 2>"$T/err")" "$node"

# The exit status is the program's.
"$SOFTCX" run -- sh -c 'exit 7'
is 'exit status' $? 7
"$SOFTCX" run -- ibv_devinfo -d nosuch >"$T/out" 2>&1 && fail 'ibv_devinfo -d nosuch succeeded'
has "IB device 'nosuch' wasn't found"
