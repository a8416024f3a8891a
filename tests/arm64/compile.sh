#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Compiles for arm64 what needs nothing that only Debian's arm64 has: the queues, the software
# ConnectX's data path, firmware and wires, and the driver without its DPDK part; and each installed
# device header alone, as C and as C++. What a barrier becomes there is read from the objects.
# usage: compile.sh SOURCE-ROOT
set -euo pipefail
root=$1
cc=aarch64-linux-gnu-gcc
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# Headers that are the same for every architecture, and no others of this machine's.
mkdir "$tmp/inc"
for d in infiniband rdma pcap json-c; do
	[ ! -e "/usr/include/$d" ] || ln -s "/usr/include/$d" "$tmp/inc/$d"
done
for f in pcap.h numa.h numaif.h numacompat1.h; do
	[ ! -e "/usr/include/$f" ] || ln -s "/usr/include/$f" "$tmp/inc/$f"
done

flags=(-std=gnu11 -O2 -D_GNU_SOURCE -Wall -Wextra -Wno-unused-parameter -Werror -fPIC
	-I "$root" -I "$root/drivers/mlx5/include" -idirafter "$tmp/inc")
sources=()
for f in "$root"/gpu_queues/*.c "$root"/drivers/softcx/{dp,fw,wire}/*.c "$root"/drivers/gpu/*.c \
	"$root"/drivers/mlx5/*.c; do
	# DPDK's headers are another matter: they are configured for one architecture
	grep -qE '#include (<rte_|<eal_|"dpdk_internal|"gpudev_driver|<gpudev_driver|<bus_)' "$f" || sources+=("$f")
done
printf '%s\n' "${sources[@]}" |
	xargs -P 2 -I{} sh -c 'n=$(echo "$2" | tr / _); out=$1/$n.o; shift 2; exec "$@" -o "$out"' \
		_ "$tmp" {} "$cc" "${flags[@]}" -c {}
echo "${#sources[@]} files for arm64"

for h in "$root"/gpu_queues/*.h "$root"/gpu_queues/wire/*.h "$root"/gpu_queues/engines/*.h; do
	printf '#include "%s"\n' "$h"
done >"$tmp/all.c"
"$cc" "${flags[@]}" -Wno-unused-function -fsyntax-only "$tmp/all.c"

# A post must have its barriers: dmb oshst before the record and before the register, and what
# pushes the register out. A word that hands over has the one that holds loads too.
cat >"$tmp/post.c" <<-'EOF'
	#include "gpu_queues/sq_doorbell.h"
	bool post(struct crl_sq *sq);
	bool post(struct crl_sq *sq) { return crl_sq_ring(sq); }
	void hand(void);
	void hand(void) { crl_order_work_before_word(); }
EOF
"$cc" "${flags[@]}" -Wno-unused-function -S -o "$tmp/post.s" "$tmp/post.c"
barriers=$(awk '/^[a-z]+:/ {f = $1} $1 == "dmb" || $1 == "dsb" {print f $1, $2}' "$tmp/post.s" | paste -sd' ')
[ "$barriers" = "post:dmb oshst post:dmb oshst post:dsb st hand:dmb osh" ] ||
	{ echo "for arm64 the barriers are: $barriers"; exit 1; }
echo "barriers of a post, and of a word that hands over: $barriers"
