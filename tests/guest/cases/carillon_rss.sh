# SPDX-License-Identifier: BSD-3-Clause
#: judge Carillon
#: modules mlx5_core ib_uverbs mlx5_ib
#: files build/apps/testpmd/carillon-testpmd rdma dpdk
#: boot hugepages=96 ipv6.disable=1
# Two queues of Carillon's behind one rule of net_mlx5's: 200 datagrams of 100 source ports reach both.
nic_up && carillon --forward-mode=rxonly --rxq=2 --txq=2 && echo "GUEST send 4000" && until_true 300 has RX-packets 200
sleep 1
carillon_end
for q in 0 1; do
	v=$(sed -n "/Queue= $q ->/,/TX-packets/s/.*RX-packets: *\([0-9]*\).*/\1/p" /tmp/log | tail -1)
	echo "GUEST queue $q received ${v:-0}"
	[ "${v:-0}" -ge 40 ] || status=few
done
[ "$status" = 0 ] && [ "$(count RX-packets)" -ge 200 ] && echo "GUEST VERDICT ok"
