# SPDX-License-Identifier: BSD-3-Clause
#: judge mlx5_core
#: modules mlx5_core
#: files ethtool
# 4 MiB each way over TCP, with the offloads that mlx5_core turns on (checksums, TSO), compared by md5sum. The
# driver's own counters say that the NIC made and judged checksums, and cut segments.
n=$(ls /sys/class/net | grep -v '^lo$' | head -1)
ip link set lo up
ip link set $n up
ip addr add 192.168.77.2/24 dev $n
sleep 1
dd if=/dev/urandom of=/tmp/out bs=64k count=64 2> /dev/null
echo "GUEST md5 $(md5sum < /tmp/out)"
echo "GUEST up"
nc 192.168.77.1 7001 < /tmp/out
# nc ends with its input, so that has to last
sleep 30 | nc -l -p 7002 > /tmp/in &
sleep 0.5
echo "GUEST listening"
i=0
while [ $i -lt 100 ] && [ "$(wc -c < /tmp/in)" -lt 4194304 ]; do
	sleep 0.25
	i=$((i + 1))
done
echo "GUEST md5in $(md5sum < /tmp/in)"
ethtool -S $n > /tmp/stat
unused=
for c in tx_csum_partial tx_tso_packets 'rx_csum_\(complete\|unnecessary\)'; do
	grep "^ *$c: *[1-9]" /tmp/stat || unused="$unused $c"
done
[ -z "$unused" ] && echo "GUEST VERDICT ok" || echo "GUEST did nothing:$unused"
