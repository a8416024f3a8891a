#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Makes one relocatable archive of Carillon that runs on another Linux x86-64 with nothing but an
# NVIDIA driver: our programs, kernels and plugins, Debian's DPDK (dpdk-testpmd and net_mlx5
# included) and rdma-core. glibc is the target's own, which must be as new as this machine's.
#
# usage: config/bundle.sh [OUTPUT.tar.xz]        default: build-bundle/carillon-bundle.tar.xz
#   CRL_BUILD=DIR   the meson build directory to install from (made if missing): build-bundle/meson
# On the other machine:
#   tar xf carillon-bundle.tar.xz && cd carillon-bundle && ./run-gpu-tests
#   ./softcx run -- ./carillon-testpmd -l 0,1 ... -- ...
# DPDK refuses plugins below a world-writable folder: unpack it in a home folder, not in /tmp.
set -euo pipefail
export LC_ALL=C

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$top/build-bundle
build=${CRL_BUILD:-$work/meson}
out=${1:-$work/carillon-bundle.tar.xz}
limit_mib=60

say() { printf 'bundle: %s\n' "$*"; }
die() {
	printf 'bundle: %s\n' "$*" >&2
	exit 1
}

case ${1:-} in
-h | --help)
	sed -n '4,/^set /s/^# \{0,1\}//p' "$0"
	exit 0
	;;
-*) die "unknown option '$1'; config/bundle.sh --help tells the usage" ;;
esac

"$top/config/setup.sh"
mkdir -p "$work"
[ -f "$build/build.ninja" ] ||
	meson setup "$build" "$top" --prefix=/opt/carillon --libdir=lib >"$work/setup.log" 2>&1 ||
	die "meson setup failed; see $work/setup.log"
ninja -C "$build" >"$work/build.log" 2>&1 || die "the build failed; see $work/build.log"
rm -rf "$work/root" "$work/carillon-bundle"
DESTDIR=$work/root meson install -C "$build" --no-rebuild >"$work/install.log" 2>&1 ||
	die "meson install failed; see $work/install.log"
prefix=$work/root$(meson introspect --buildoptions "$build" |
	/usr/bin/python3 -c 'import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')

b=$work/carillon-bundle
mkdir -p "$b/bin" "$b/lib/pmds" "$b/share"
cp -a "$prefix/bin/." "$b/bin/"
find "$prefix" -path "$prefix/bin" -prune -o \( -name '*.so' -o -name '*.so.*' \) -print0 |
	xargs -0 cp -a -t "$b/lib/"
cp "$top/LICENSE" "$top/README.md" "$b/share/"

# Programs of others that the tests compare with, and the drivers that EAL loads by name.
for p in dpdk-testpmd dpdk-test-gpudev ibv_devinfo ping; do
	cp "$(command -v "$p")" "$b/bin/"
done
multiarch=$(dpkg-architecture -qDEB_HOST_MULTIARCH)
pmds=(bus_auxiliary bus_pci bus_vdev common_mlx5 net_mlx5 mempool_ring)
for p in "${pmds[@]}"; do
	f=$(readlink -f "/usr/lib/$multiarch/librte_$p.so")
	soname=$(objdump -p "$f" | awk '/SONAME/ { print $2 }')
	cp "$f" "$b/lib/$soname"
	# one file, two names: a second copy of a plugin would be a second set of its globals
	# EAL takes from a folder only what ends in .so or .so.ABI, as librte_net_mlx5.so.23.0
	ln -s "../$soname" "$b/lib/pmds/$(basename "$f")"
done

[ ! -e "$b/lib/librte_gpu_crl.so" ] || ln -s ../librte_gpu_crl.so "$b/lib/pmds/librte_gpu_crl.so"

# Loaded by name, when a capture file is wanted: no program's ldd tells of it.
cp -L "/usr/lib/$multiarch/libpcap.so.0.8" "$b/lib/"

# Tests that are programs, and are not installed.
for t in cuda_memory cuda_calls; do
	[ ! -e "$build/tests/gpu/$t" ] || cp "$build/tests/gpu/$t" "$b/bin/"
done

# The closure of all of them, less what glibc and the GPU driver bring on any machine.
for f in "$b"/bin/* "$b"/lib/*.so*; do
	ldd "$f" 2>/dev/null | awk '$2 == "=>" && $3 ~ /^\// { print $1, $3 }'
done | sort -u | while read -r soname path; do
	case $soname in
	libc.so.* | libm.so.* | libdl.so.* | libpthread.so.* | librt.so.* | libresolv.so.* | \
		ld-linux* | libcuda.so.*) ;;
	*) [ -e "$b/lib/$soname" ] || cp -L "$path" "$b/lib/$soname" ;;
	esac
done
[ ! -e "$b/lib/libmlx5.so.1" ] || ln -sf libmlx5.so.1 "$b/lib/libmlx5-rdmav34.so"
find "$b/bin" "$b/lib" -type f -exec strip --strip-unneeded {} + 2>/dev/null || true

# EAL also loads every driver of the folder compiled into it, where the target has the same DPDK
# installed: a second copy of each plugin, which panics it. In this copy the path names no folder.
pmd_path=/usr/lib/$multiarch/dpdk/pmds-
grep -q "$pmd_path" "$b"/lib/librte_eal.so.* || die "librte_eal has no $pmd_path in it: what does EAL load there?"
sed -i "s|$pmd_path|${pmd_path/usr/---}|g" "$b"/lib/librte_eal.so.*

# One small launcher a program: libraries and drivers of the bundle, wherever it lies.
launcher() {
	cat >"$b/$1" <<-EOF
		#!/bin/sh
		# Runs bin/$1 with the libraries of this bundle.
		b=\$(cd "\$(dirname "\$0")" && pwd)
		export LD_LIBRARY_PATH="\$b/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
		export IBV_DRIVERS="\$b/lib/libmlx5" PATH="\$b:\$b/bin:\$PATH"
		exec "\$b/bin/$1" $2 "\$@"
	EOF
	chmod 755 "$b/$1"
}
for p in "$b"/bin/*; do
	n=$(basename "$p")
	case $n in
	dpdk-* | carillon-testpmd) launcher "$n" "-d \"\$b/lib/pmds\"" ;;
	*) launcher "$n" "" ;;
	esac
done
if [ -f "$top/tests/gpu/run-gpu-tests" ]; then
	install -m 755 "$top/tests/gpu/run-gpu-tests" "$b/run-gpu-tests"
	install -Dm 644 -t "$b/share/gpu-tests" "$top/tests/e2e/wire.py" "$top/tests/e2e/apps/dumps.py"
fi
git -C "$top" rev-parse HEAD >"$b/share/commit" 2>/dev/null || echo unknown >"$b/share/commit"
chmod -R go-w "$b"

tar -C "$work" -cJf "$out" carillon-bundle
mib=$(($(stat -c %s "$out") / 1048576 + 1))
[ "$mib" -le "$limit_mib" ] || die "$out is $mib MiB, over the limit of $limit_mib MiB"
say "$out: $mib MiB, $(find "$b" -type f | wc -l) files"
