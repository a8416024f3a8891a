# SPDX-License-Identifier: BSD-3-Clause
#: judge Carillon
#: modules mlx5_core ib_uverbs mlx5_ib
#: files build/apps/testpmd/carillon-testpmd rdma dpdk
#: boot hugepages=64 ipv6.disable=1
#: nic --faults dma-delay=40,overwrite,records
#: quick yes
# As macswap, on a NIC whose writes arrive late and in another order, as PCI Express allows, which overwrites what
# was given back to it, and which reads records before anybody rang.
nic_up && carillon --forward-mode=macswap && until_true 900 has RX-packets 3000
carillon_end
[ "$status" = 0 ] && [ "$(count TX-dropped)" = 0 ] && echo "GUEST VERDICT ok"
