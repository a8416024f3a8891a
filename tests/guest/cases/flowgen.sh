# SPDX-License-Identifier: BSD-3-Clause
#: judge Carillon
#: modules mlx5_core ib_uverbs mlx5_ib
#: files build/apps/testpmd/carillon-testpmd rdma dpdk
#: boot hugepages=64 ipv6.disable=1
# An engine sends frames of 1024 flows; the host sees each of them come, in sequence.
nic_up && carillon --forward-mode=flowgen && until_true 100 has TX-packets 20000
carillon_end
[ "$status" = 0 ] && [ "$(count TX-packets)" -ge 20000 ] && echo "GUEST VERDICT ok"
