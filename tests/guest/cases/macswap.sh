# SPDX-License-Identifier: BSD-3-Clause
#: judge Carillon
#: modules mlx5_core ib_uverbs mlx5_ib
#: files build/apps/testpmd/carillon-testpmd rdma dpdk
#: boot hugepages=64 ipv6.disable=1
# An engine sends each frame of the host's back with its addresses swapped; the host looks at every one.
nic_up && carillon --forward-mode=macswap && until_true 900 has RX-packets 3000 && sleep 1
carillon_end
[ "$status" = 0 ] && [ "$(count TX-dropped)" = 0 ] && echo "GUEST VERDICT ok"
