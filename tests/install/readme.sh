#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The README's lines work as printed: each command of its section "A shell to work in" is run in
# `meson devenv`, with no input, and must end with exit status 0 within a minute. A program that a line
# elsewhere gives to `meson devenv -C build` must be there, as seen from the build folder.
# usage: readme.sh README BUILD-DIR
set -uo pipefail
readme=$1 build=$2
bad=0
[ "$(id -u)" = 0 ] || {
	echo "SKIP: namespaces need root"
	exit 77
}
# Indented lines; one that ends in a backslash goes on in the next.
mapfile -t lines < <(sed -n '/^## A shell to work in/,/^## /{s/^    //p}' "$readme" |
	sed -e ':a' -e '/\\$/N; s/\\\n *//; ta')
[ "${#lines[@]}" -gt 2 ] || {
	echo "the README's section has ${#lines[@]} commands"
	exit 1
}
while read -r program; do
	[ -x "$build/$program" ] || {
		echo "the README starts $program from the build folder, and it is not there"
		bad=$((bad + 1))
	}
done < <(sed -n 's/^    meson devenv -C build \([^ ]*\/[^ ]*\).*/\1/p' "$readme")
# A word that the scripts do not know is refused, before they do anything.
for script in setup demo check; do
	! out=$(timeout 10 "$(dirname "$readme")/config/$script.sh" --nonsense 2>&1) &&
		grep -q nonsense <<<"$out" || {
		echo "config/$script.sh does not refuse --nonsense"
		bad=$((bad + 1))
	}
done
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
for line in "${lines[@]}"; do
	echo "\$ $line"
	timeout -k 5 60 meson devenv -C "$build" bash -c "$line" </dev/null >"$log" 2>&1
	rc=$?
	[ $rc -eq 0 ] || {
		tail -n 12 "$log"
		echo "exit status $rc"
		bad=$((bad + 1))
	}
done
echo "${#lines[@]} commands, $bad failed"
[ "$bad" -eq 0 ]
