#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Each header compiles alone: in C with gcc and clang; those that device code includes in C++ with
# g++ as well, and all of these together with nvcc where there is one.
# usage: headers.sh SOURCE-ROOT [compiler flags...]
set -uo pipefail
root=$1
shift
flags=(-I "$root" -D_GNU_SOURCE -DALLOW_INTERNAL_API -DALLOW_EXPERIMENTAL_API -Wall -Wextra -Werror
	-Wno-unused-parameter -Wno-unused-function -fsyntax-only "$@")
bad=0 done=0

cd "$root" || exit 1
# Without git (a tarball) the folders are searched.
mapfile -t headers < <(
	git ls-files -co --exclude-standard 'gpu_queues/*.h' 'drivers/*.h' 2>/dev/null ||
		find gpu_queues drivers -name '*.h'
)
[ ${#headers[@]} -gt 0 ] || { echo "no headers found in $root"; exit 1; }

try() {
	local what=$1 header=$2
	shift 2
	done=$((done + 1))
	if ! printf '#include "%s"\n' "$header" | "$@" -; then
		echo "$header does not compile alone with $what"
		bad=$((bad + 1))
	fi
}

device=()
for h in "${headers[@]}"; do
	[ -f "$h" ] || continue
	try gcc "$h" gcc -x c -std=gnu11 "${flags[@]}"
	try clang "$h" clang -x c -std=gnu11 "${flags[@]}"
	case $h in
	gpu_queues/*.h | drivers/softcx/dp/dp.h | drivers/mlx5/carillon*.h)
		try g++ "$h" g++ -x c++ -std=c++17 "${flags[@]}"
		;;
	esac
	case $h in
	# Device code: what a kernel of anybody's includes.
	gpu_queues/wire/*.h | gpu_queues/engines/*.h) device+=("$h") ;;
	gpu_queues/*.h) grep -q 'CRL_FN' "$h" && device+=("$h") ;;
	esac
done

if command -v nvcc >/dev/null; then
	dir=$(mktemp -d) || exit 1
	trap 'rm -rf "$dir"' EXIT
	printf '#include "%s"\n' "${device[@]}" >"$dir/all.cu"
	done=$((done + 1))
	nvcc -ptx -arch=sm_90 -std=c++17 -I "$root" -o "$dir/all.ptx" "$dir/all.cu" || {
		echo "the device headers do not compile together with nvcc"
		bad=$((bad + 1))
	}
fi
echo "$done compilations of ${#headers[@]} headers, $bad failed"
[ "$bad" -eq 0 ]
