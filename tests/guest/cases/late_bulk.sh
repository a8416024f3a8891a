# SPDX-License-Identifier: BSD-3-Clause
#: judge mlx5_core
#: modules mlx5_core
#: nic --faults dma-delay=40,overwrite,records
# As bulk, on a NIC whose writes arrive late and in another order, as PCI Express allows, which overwrites what was
# given back to it, and which reads records before anybody rang.
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
echo "GUEST VERDICT ok"
