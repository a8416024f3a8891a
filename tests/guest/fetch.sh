#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the guests need, by package name, into a folder of its own (first argument): a Debian trixie chroot with
# the QEMU of trixie-backports, which has vfio-user, and the kernels that the other arguments name, unpacked and
# never installed, each with busybox beside it:
#   6.1 bookworm's, 6.12 trixie's, newest trixie-backports'
# Nothing is installed on this machine. Each part is left alone once it is complete. Needs root for the chroot.
# Called by tests/guest/run; it fails with two lines, what went wrong and what to do.
set -uo pipefail

cache=${1:?folder}
updated=
shift
package=linux-image-cloud-amd64
mkdir -p "$cache" || exit 1
cache=$(cd "$cache" && pwd)
root=$cache/trixie
log=$cache/fetch.log

die() {
	local why
	# apt's own last words are "Download Failed"; what failed is above them
	why=$(grep -hE '^(E|Err|W):|^E |[Cc]ould not|cannot|unable|not found|timed out' "$log" 2>/dev/null |
		grep -v 'Download Failed' | tail -n 1 | sed 's/^ *//' | cut -c1-160)
	echo "not fetched: $*${why:+ ($why)}; all of it is in $log"
	echo "what to do: see that the mirror is reached (CRL_DEBIAN_MIRROR names another one), or give a folder that" \
		"was filled elsewhere as CRL_GUEST_CACHE; to do without guests: tests/guest/run --allow-not-run, or" \
		"CRL_GUEST=allow-not-run for config/check.sh"
	exit 1
}
inside=(chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin)
in_chroot() { "${inside[@]}" "$@"; }

# Up to three times, and all of it in a bounded time; a mirror now and then drops a connection. One that does not
# answer at all is given up after half a minute an attempt; it is asked by apt before debootstrap, which waits long.
net=(-o Acquire::http::Timeout=20 -o Acquire::https::Timeout=20 -o Acquire::Retries=1)
seconds=${CRL_GUEST_FETCH_SECONDS:-600}
try() {
	local n
	for n in 1 2 3; do
		[ $((seconds - SECONDS)) -gt 0 ] || { echo "E: $seconds s have passed" >> "$log"; return 1; }
		timeout $((seconds - SECONDS)) "$@" >> "$log" 2>&1 && return 0
		sleep $((n * 2))
	done
	return 1
}
try_in_chroot() { try "${inside[@]}" "$@"; }

# The mirror of Debian that this machine's apt is set up with.
mirror() {
	# shellcheck disable=SC2016 # $(X) is apt's own format, not a command
	apt-get indextargets --format '$(REPO_URI) $(CODENAME) $(LABEL)' 'Created-By: Packages' 2> /dev/null |
		awk '$2 == "bookworm" && $3 == "Debian" {print $1; exit}'
}

fetch_chroot() {
	local at dbs
	at=${CRL_DEBIAN_MIRROR:-$(mirror)}
	at=${at:-http://deb.debian.org/debian}
	at=${at%/}
	dbs=$(command -v debootstrap || true)
	if [ -z "$dbs" ]; then
		rm -rf "$cache/debootstrap"
		mkdir -p "$cache/debootstrap"
		# apt drops to a user that may not write where it downloads to
		(cd "$cache/debootstrap" &&
			try apt-get -q "${net[@]}" -o APT::Sandbox::User=root download debootstrap) ||
			die "no package debootstrap"
		dpkg -x "$cache"/debootstrap/debootstrap_*.deb "$cache/debootstrap"
		dbs=$cache/debootstrap/usr/sbin/debootstrap
		export DEBOOTSTRAP_DIR=$cache/debootstrap/usr/share/debootstrap
	fi
	try /usr/lib/apt/apt-helper "${net[@]}" download-file "$at/dists/trixie/InRelease" "$cache/InRelease" ||
		die "no Debian trixie at $at"
	rm -rf "$root" "$cache/InRelease"
	try "$dbs" --variant=minbase trixie "$root" "$at" || die "no Debian trixie from $at by debootstrap"
	printf 'deb %s trixie-backports main\ndeb %s bookworm main\n' "$at" "$at" \
		> "$root/etc/apt/sources.list.d/guest.list"
	try_in_chroot apt-get -q "${net[@]}" update || die "no trixie-backports and bookworm from $at"
	try_in_chroot apt-get -q "${net[@]}" install -y --no-install-recommends -t trixie-backports qemu-system-x86 ||
		die "no qemu-system-x86 of trixie-backports"
	in_chroot qemu-system-x86_64 -device help 2>> "$log" | grep -q vfio-user-pci ||
		die "the QEMU of trixie-backports has no vfio-user-pci"
	touch "$cache/.chroot"
	updated=1
}

# The packages with a kernel's files that a package depends on, of that very version.
parts() {
	in_chroot apt-cache show "$1" | sed -n '0,/^Depends: /s/^Depends: //p' | tr ',' '\n' |
		sed 's/^ *//; s/ .*//' | grep -E '^linux-(image|binary|modules)-[0-9]'
}

fetch_kernel() {
	local suite=$1 to=$2 p list=() name
	# the archive keeps no version but its newest: lists of another day name files that are gone
	[ -n "$updated" ] || try_in_chroot apt-get -q "${net[@]}" update || die "no lists of $suite"
	updated=1
	name=$(parts "$package/$suite" | grep '^linux-image' | head -1)
	[ -n "$name" ] || die "$suite has no $package"
	mapfile -t list < <({ echo "$name"; parts "$name"; } | sort -u)
	rm -rf "$to" "$root/dl"
	mkdir -p "$to" "$root/dl"
	for p in "${list[@]}" busybox-static; do
		try_in_chroot sh -c "cd /dl && apt-get -q ${net[*]} -o APT::Sandbox::User=root download $p" ||
			die "no package $p"
	done
	for p in "$root"/dl/*.deb; do
		dpkg -x "$p" "$to" || die "$p does not unpack"
	done
	rm -rf "$root/dl"
	# one name, wherever the packages put it
	p=$(find "$to" -name 'vmlinuz*' -type f | head -1)
	[ -n "$p" ] || die "no kernel in ${list[*]}"
	mv "$p" "$to/vmlinuz"
	[ -e "$to/bin" ] || ln -s usr/bin "$to/bin"
	echo "${name#linux-image-}" > "$to/version"
	touch "$to/.complete"
}

: > "$log"
[ "$(id -u)" = 0 ] || die "a chroot needs root"
[ "$(dpkg --print-architecture)" = amd64 ] || die "only amd64 guests are known"
[ -e "$cache/.chroot" ] || fetch_chroot
for k in "$@"; do
	case $k in
	6.1) suite=bookworm ;;
	6.12) suite=trixie ;;
	newest) suite=trixie-backports ;;
	*) die "kernels are 6.1, 6.12, newest, not $k" ;;
	esac
	[ -e "$cache/kernels/$k/.complete" ] || fetch_kernel "$suite" "$cache/kernels/$k"
done
