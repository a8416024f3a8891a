# SPDX-License-Identifier: BSD-3-Clause
#: judge dpdk-testpmd
#: modules mlx5_core ib_uverbs mlx5_ib
#: files dpdk-testpmd rdma dpdk
#: boot hugepages=96 ipv6.disable=1
# Debian's testpmd over its net_mlx5, as they are, on the kernel's uverbs and DevX: it answers the host's ping.
nic_up && testpmd --forward-mode=icmpecho && until_true 300 has TX-packets 11 && sleep 1
testpmd_end
[ "$status" = 0 ] && [ "$(count TX-packets)" -ge 11 ] && echo "GUEST VERDICT ok"
