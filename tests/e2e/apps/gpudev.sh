#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The gpudev plugin under Debian's own dpdk-test-gpudev, unchanged: all of its tests pass on
# gpu_crl_host; without a GPU, gpu_crl_cuda is refused in one line that names cause and fix; over
# the stand-in for libcuda, all pass but the one that needs GDRCopy.
#   gpudev.sh PLUGIN FOLDER-OF-FAKE-LIBCUDA
set -u
plugin=$1 fake=$2
tool=$(command -v dpdk-test-gpudev) || {
	echo "no dpdk-test-gpudev here (Debian package dpdk)"
	exit 77
}
bad=0
# By bare name: EAL refuses a path below a world-writable folder, and a checkout may be there. Meson
# puts the folder of the stand-in there as well; only the second half may find it.
folder=$(dirname "$plugin") plugin=$(basename "$plugin")
export LD_LIBRARY_PATH=$folder

say_bad() {
	echo "FAIL: $*"
	bad=1
}

# gpudev VDEV: its output in $out, its status in $rc
gpudev() {
	out=$(timeout 60 "$tool" --no-huge -m 256 --no-pci --no-shconf --no-telemetry -d "$plugin" \
		--vdev="$1" 2>&1)
	rc=$?
}

count() { grep -c -- "$1" <<<"$out"; }

gpudev gpu_crl_host0
[ $rc = 0 ] && [ "$(count 'TEST: PASSED')" = 5 ] && [ "$(count 'TEST: FAILED')" = 0 ] ||
	say_bad "host: status $rc" "$out"

gpudev gpu_crl_host0,numa=0
[ $rc = 0 ] && [ "$(count 'TEST: PASSED')" = 5 ] && [ "$(count 'NUMA node 0')" = 1 ] ||
	say_bad "host on node 0: status $rc" "$out"

gpudev gpu_crl_host0,numa=77
[ $rc != 0 ] && [ "$(count 'gpu_crl_host0: .*NUMA node 77.*To fix it: ')" = 1 ] ||
	say_bad "a node that does not exist: status $rc" "$out"

gpudev gpu_crl_host0,colour=blue
[ $rc != 0 ] && [ "$(count 'gpu_crl_host0: .*colour=blue.*To fix it: ')" = 1 ] ||
	say_bad "an argument that does not exist: status $rc" "$out"

if [ ! -e /dev/nvidiactl ]; then
	gpudev gpu_crl_cuda0
	[ $rc != 0 ] && [ "$(count 'gpu_crl_cuda0: .*To fix it: ')" = 1 ] ||
		say_bad "no GPU: status $rc" "$out"
fi

export LD_LIBRARY_PATH=$fake:$folder
gpudev gpu_crl_cuda0
[ $rc = 0 ] && [ "$(count 'TEST: PASSED')" = 4 ] && [ "$(count 'TEST: FAILED')" = 1 ] ||
	say_bad "stand-in for CUDA: status $rc" "$out"
grep -A4 'TEST: Map GPU memory for CPU visibility' <<<"$out" | grep -q 'TEST: FAILED' ||
	say_bad "the test that fails over CUDA is not the one that needs GDRCopy" "$out"

gpudev gpu_crl_cuda7
[ $rc != 0 ] && [ "$(count 'gpu_crl_cuda7: there is no GPU 7.*To fix it: ')" = 1 ] ||
	say_bad "a GPU that is not there: status $rc" "$out"

gpudev gpu_crl_cuda0,pci=0000:3b:00.0
[ $rc = 0 ] && [ "$(count 'TEST: PASSED')" = 4 ] || say_bad "by PCI address: status $rc" "$out"
exit $bad
