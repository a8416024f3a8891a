#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# A newcomer's way: copy apps/echo, build it with its own Makefile against an installed Carillon, and
# start it as it is, without telling the loader where the libraries are. It stays under 150 lines.
#   echo_make.sh BUILD-DIR ECHO-SOURCE-DIR
set -eu
build=$1 src=$2
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
DESTDIR=$dir/root meson install -C "$build" --no-rebuild >"$dir/log"
pc=$(dirname "$(find "$dir/root" -name carillon_dpdk.pc)")
# The .pc files name the final prefix; here it is below DESTDIR.
sed -i "s|^prefix=\(.*\)|prefix=$dir/root\1|" "$pc"/*.pc
cp -r "$src" "$dir/echo"
PKG_CONFIG_PATH=$pc make -s -C "$dir/echo" CFLAGS="-O2 -Wall -Werror"
unset LD_LIBRARY_PATH
ldd "$dir/echo/carillon-echo" >"$dir/ldd"
grep -q "$dir/root.*libcarillon_dpdk" "$dir/ldd" && ! grep 'not found' "$dir/ldd" || {
	echo "carillon-echo does not find the prefix's libraries"
	exit 1
}
lines=$(cat "$src"/main.c "$src"/Makefile | wc -l)
[ "$lines" -lt 150 ] || {
	echo "apps/echo has $lines lines, and was to have fewer than 150"
	exit 1
}
echo "built from the prefix; $lines lines"
