# SPDX-License-Identifier: BSD-3-Clause
#: judge Carillon
#: modules mlx5_core ib_uverbs mlx5_ib
#: files build/apps/testpmd/carillon-testpmd rdma dpdk
#: boot hugepages=64 ipv6.disable=1
#: nic --faults send-error=6
#: quick yes
# The sixth send of all completes in error, a reply to a ping: the engine stops its queue, the lcore says in one line
# what happened and what to do, and the status is 1. After that a new queue answers again.
nic_up && carillon --forward-mode=icmpecho && until_true 300 in_log 'queue 0x.* stopped at WQE .* Fix: '
carillon_end
said=$(grep -c '^carillon-testpmd: .*queue 0x.* stopped at WQE .* Fix: ' /tmp/log)
first=$status
echo "GUEST after the error: $(grep '^carillon-testpmd: ' /tmp/log)"
carillon --forward-mode=icmpecho && echo "GUEST again" && until_true 300 has TX-packets 5 && sleep 1
carillon_end
[ "$first" = 1 ] && [ "$said" = 1 ] && [ "$status" = 0 ] && [ "$(count TX-packets)" -ge 5 ] && echo "GUEST VERDICT ok"
