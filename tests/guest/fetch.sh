#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# What the guests need, by package name, into a folder of its own (first argument): a Debian trixie chroot with
# the QEMU of trixie-backports, which has vfio-user; bookworm's kernel 6.1 unpacked, never installed; busybox.
# Nothing is installed on this machine. Each part is left alone once it is complete. Needs root for the chroot.
# Called by tests/guest/run; the last line of the output says what went wrong.
set -euo pipefail

cache=${1:?folder}
mirror=${CRL_DEBIAN_MIRROR:-http://deb.debian.org/debian}
kernel=linux-image-cloud-amd64
mkdir -p "$cache"
cache=$(cd "$cache" && pwd)
root=$cache/trixie

die() { echo "fetch: $*"; exit 1; }
in_chroot() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@"; }
# apt drops to a user that may not write where it downloads to
download() { (cd "$1" && apt-get -q -o APT::Sandbox::User=root download "$2") >> "$cache/fetch.log" 2>&1; }

[ "$(id -u)" = 0 ] || die "a chroot needs root"
[ "$(dpkg --print-architecture)" = amd64 ] || die "only amd64 guests are known"
: > "$cache/fetch.log"

if [ ! -e "$cache/.chroot" ]; then
	dbs=$(command -v debootstrap || true)
	if [ -z "$dbs" ]; then
		rm -rf "$cache/debootstrap"
		mkdir -p "$cache/debootstrap"
		download "$cache/debootstrap" debootstrap || die "no package debootstrap"
		dpkg -x "$cache"/debootstrap/debootstrap_*.deb "$cache/debootstrap"
		dbs=$cache/debootstrap/usr/sbin/debootstrap
		export DEBOOTSTRAP_DIR=$cache/debootstrap/usr/share/debootstrap
	fi
	rm -rf "$root"
	"$dbs" --variant=minbase trixie "$root" "$mirror" >> "$cache/fetch.log" 2>&1 || die "debootstrap: see fetch.log"
	printf 'deb %s trixie-backports main\ndeb %s bookworm main\n' "$mirror" "$mirror" \
		> "$root/etc/apt/sources.list.d/guest.list"
	in_chroot apt-get -q update >> "$cache/fetch.log" 2>&1 || die "apt-get update: see fetch.log"
	in_chroot apt-get -q install -y --no-install-recommends -t trixie-backports qemu-system-x86 \
		>> "$cache/fetch.log" 2>&1 || die "qemu-system-x86: see fetch.log"
	touch "$cache/.chroot"
fi
if [ ! -e "$cache/.kernel" ]; then
	rm -rf "$cache/kernel" "$root/dl"
	mkdir -p "$cache/kernel" "$root/dl"
	name=$(in_chroot apt-cache show "$kernel/bookworm" |
		sed -n 's/^Depends: \(linux-image-[^ ,]*\).*/\1/p' | head -1)
	[ -n "$name" ] || die "bookworm has no $kernel"
	for p in "$name" busybox-static; do
		in_chroot sh -c "cd /dl && apt-get -q -o APT::Sandbox::User=root download $p/bookworm" \
			>> "$cache/fetch.log" 2>&1 || die "$p: see fetch.log"
	done
	for deb in "$root"/dl/*.deb; do
		dpkg -x "$deb" "$cache/kernel"
	done
	rm -rf "$root/dl"
	touch "$cache/.kernel"
fi
