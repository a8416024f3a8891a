# SPDX-License-Identifier: BSD-3-Clause
#: judge Carillon
#: modules mlx5_core ib_uverbs mlx5_ib
#: files build/apps/doctor/carillon-doctor rdma dpdk
#: boot hugepages=64 ipv6.disable=1
# carillon-doctor finds the NIC, and nothing that stops Carillon: no false alarm.
nic_up
carillon-doctor > /tmp/report
status=$?
cat /tmp/report
echo "GUEST carillon-doctor ended with $status"
[ $status = 0 ] && grep -q mlx5_0 /tmp/report && ! grep -qE '^(STOP|stop|warn)' /tmp/report && echo "GUEST VERDICT ok"
