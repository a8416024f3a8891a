#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Is what `meson install` puts down of use without this tree? Each installed header compiles alone
# with the flags that pkg-config gives, in C and in C++; the smallest complete program, apps/echo,
# builds from its sources with pkg-config alone, and so does embed.c, which runs on softcx without
# DPDK; programs and libraries start and load from the prefix.
# usage: prefix.sh BUILD-DIR ECHO-SOURCE-DIR
set -uo pipefail
build=$1 echo_dir=$2 here=$(dirname "$(realpath "$0")")
bad=0
complain() {
	echo "$*"
	bad=$((bad + 1))
}

dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
DESTDIR=$dir/root meson install -C "$build" --no-rebuild >"$dir/log" 2>&1 || {
	tail -n 20 "$dir/log"
	echo "meson install fails"
	exit 1
}
# The .pc files name the final prefix: here it is below DESTDIR, so that line is moved.
prefix=$dir/root$(meson introspect --buildoptions "$build" | /usr/bin/python3 -c '
import json, sys
print(next(o["value"] for o in json.load(sys.stdin) if o["name"] == "prefix"))')
pc_dir=$(dirname "$(find "$prefix" -name carillon.pc)")
[ -f "$pc_dir/carillon.pc" ] || {
	echo "no carillon.pc is installed"
	exit 1
}
sed -i "s|^prefix=.*|prefix=$prefix|" "$pc_dir"/*.pc
export PKG_CONFIG_PATH=$pc_dir
lib_dir=$(dirname "$pc_dir")
export LD_LIBRARY_PATH=$lib_dir:$lib_dir/carillon

headers=0
while read -r h; do
	headers=$((headers + 1))
	printf '#include "%s"\n' "$h" |
		gcc -x c -std=gnu11 -fsyntax-only -Wall -Werror -Wno-unused-function \
			$(pkg-config --cflags carillon_dpdk) - || complain "$h does not compile from the prefix"
	printf '#include "%s"\n' "$h" |
		g++ -x c++ -std=c++17 -fsyntax-only -Wall -Werror -Wno-unused-function \
			$(pkg-config --cflags carillon_dpdk) - || complain "$h is none for C++ from the prefix"
	# Strict ISO C has no clocks: whoever asks for it is told of that, or needs none.
	printf '#include "%s"\n' "$h" | gcc -x c -std=c11 -fsyntax-only -Wall -Werror -Wno-unused-function \
		$(pkg-config --cflags carillon_dpdk) - 2>"$dir/iso" || grep -q 'gnu11, or -D_GNU_SOURCE' "$dir/iso" ||
		complain "$h with -std=c11: $(grep -m 1 error "$dir/iso")"
done < <(find "$prefix/include" -name '*.h')
[ "$headers" -gt 0 ] || complain "no header is installed"

cp -r "$echo_dir" "$dir/echo" || exit 1
# shellcheck disable=SC2046 # the flags are words
gcc -std=gnu11 -D_GNU_SOURCE -Wall -Werror -o "$dir/echo/a.out" "$dir"/echo/*.c \
	$(pkg-config --cflags --libs carillon_dpdk) || complain "apps/echo does not build with pkg-config alone"

# A service without DPDK: carillon.pc alone, and nothing of DPDK's in the process.
# shellcheck disable=SC2046
gcc -std=gnu11 -Wall -Wextra -Werror -o "$dir/embed" "$here/embed.c" $(pkg-config --cflags --libs carillon) ||
	complain "embed.c does not build with pkg-config carillon alone"
! ldd "$dir/embed" | grep 'librte\|not found' || complain 'embed.c draws in DPDK, or misses a library'

for p in "$prefix"/bin/*; do
	! ldd "$p" | grep 'not found' || complain "$(basename "$p") misses a library in the prefix"
done
for p in softcx carillon-testpmd; do
	timeout 20 "$prefix/bin/$p" --help >"$dir/help" 2>&1 || {
		tail -n 3 "$dir/help"
		complain "$p --help fails from the prefix"
	}
done
# Its own DPDK plugin is found from there; that there is no NIC is told later.
if [ -f "$lib_dir/carillon/librte_gpu_crl.so" ]; then
	timeout 20 "$prefix/bin/carillon-testpmd" --vdev=gpu_crl_host0 -- --duration=1 >"$dir/plugin" 2>&1
	grep -qx "Loaded $(realpath "$lib_dir/carillon/librte_gpu_crl.so")" "$dir/plugin" ||
		complain "carillon-testpmd in the prefix does not find its plugin: $(tail -n 3 "$dir/plugin")"
fi
if [ "$(id -u)" = 0 ] && [ -x "$prefix/bin/softcx" ]; then
	timeout 60 "$prefix/bin/softcx" run -- ibv_devinfo >"$dir/devinfo" 2>&1 &&
		grep -q 'hca_id:.*mlx5_0' "$dir/devinfo" || {
		tail -n 5 "$dir/devinfo"
		complain "softcx of the prefix shows ibv_devinfo no device"
	}
	timeout 60 "$prefix/bin/softcx" run --log="$dir/embed.scx" -- "$dir/embed" >"$dir/embed.log" 2>&1 ||
		complain "embed: $(tail -n 3 "$dir/embed.log")"
fi
echo "$headers headers, $(find "$prefix/bin" -type f 2>/dev/null | wc -l) programs installed, $bad complaints"
[ "$bad" -eq 0 ]
