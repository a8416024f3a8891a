# SPDX-License-Identifier: BSD-3-Clause
#: judge Carillon
#: modules mlx5_core ib_uverbs mlx5_ib
#: files build/apps/testpmd/carillon-testpmd build/apps/doctor/carillon-doctor rdma dpdk
#: boot hugepages=64
#: quick yes
# Carillon itself: the file that is on the host, without a preload, over the kernel's own uverbs and DevX. An
# engine answers the host's ping.
n=$(ls /sys/class/net | grep -v '^lo$' | head -1)
ip link set lo up
ip link set $n up
dev=$(basename "$(readlink /sys/class/net/$n/device)")
echo "GUEST sha256 $(sha256sum "$(readlink /programs/carillon-testpmd)")"
carillon-testpmd --lcores 0@0,1@0 -a $dev -- --forward-mode=icmpecho --stats-period=1 > /tmp/log 2>&1 &
pid=$!
i=0
while [ $i -lt 100 ] && [ -d /proc/$pid ] && ! grep -q 'NIC statistics' /tmp/log; do
	sleep 0.2
	i=$((i + 1))
done
echo "GUEST up"
# ARP and ten echoes
i=0
while [ $i -lt 100 ] && [ -d /proc/$pid ]; do
	sent=$(grep -o 'TX-packets: [0-9]*' /tmp/log | tail -1)
	[ "${sent##* }" -ge 11 ] && break
	sleep 0.2
	i=$((i + 1))
done
kill -INT $pid
wait $pid
status=$?
tail -25 /tmp/log
echo "GUEST carillon-testpmd ended with $status, sent ${sent##* }"
[ $status = 0 ] && [ "${sent##* }" -ge 11 ] && echo "GUEST VERDICT ok"
