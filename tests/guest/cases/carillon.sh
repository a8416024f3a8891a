# SPDX-License-Identifier: BSD-3-Clause
#: judge Carillon
#: modules mlx5_core ib_uverbs mlx5_ib
#: files build/apps/testpmd/carillon-testpmd rdma dpdk
#: boot hugepages=64 ipv6.disable=1
#: quick yes
# Carillon itself: the file that is on the host, without a preload, over the kernel's own uverbs and DevX. An
# engine answers the host's ping: ARP and ten echoes; a second more, should the host have asked for an address twice.
nic_up && carillon --forward-mode=icmpecho && until_true 300 has TX-packets 11 && sleep 1
carillon_end
[ "$status" = 0 ] && [ "$(count TX-packets)" -ge 11 ] && echo "GUEST VERDICT ok"
