#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Installs what Carillon is built and tested with, on Debian 12. Run it as root, or as a user with
# sudo; run it again at any time: what is there already is left alone, and then neither root nor a
# network is needed.
#
# Two kinds of header come in no binary package, so they are fetched into .deps/ of this tree, from
# the mirror that this machine's apt is set up with, in an apt state of their own: the system's list
# of sources is read and never changed.
#   .deps/dpdk-sdk   DPDK's driver headers (gpudev_driver.h and others), from Debian's source
#                    package of exactly the version of libdpdk that is installed
#   .deps/mlx5-ifc   mlx5_ifc.h of Linux 6.1, which tests/unit compares our command layouts with
set -euo pipefail
export LC_ALL=C DEBIAN_FRONTEND=noninteractive

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
deps=${CRL_DEPS:-$top/.deps}

say() { printf 'setup: %s\n' "$*"; }
die() {
	printf 'setup: %s\n' "$1" >&2
	[ $# -lt 2 ] || printf 'setup: what to do: %s\n' "$2" >&2
	exit 1
}

case ${1:-} in
'') ;;
-h | --help)
	echo "usage: config/setup.sh          (no options; see the head of the file)"
	exit 0
	;;
*) die "unknown option '$1'" "run config/setup.sh without options" ;;
esac

# ---- what is needed, and what for -------------------------------------------------------------

packages=(
	# build
	gcc g++ clang libc6-dev make meson ninja-build pkg-config
	# the stack below us: rdma-core's libibverbs and libmlx5, DPDK with net_mlx5
	libibverbs-dev ibverbs-providers libdpdk-dev
	# programs that judge us
	dpdk dpdk-dev ibverbs-utils rdma-core
	iputils-ping iproute2 ethtool tcpdump tshark netcat-openbsd spin
	# libraries: NUMA placement, captures, JSON, netlink, unit tests
	libnuma-dev libpcap-dev libjson-c-dev libnl-3-dev libnl-route-3-dev libcmocka-dev
	# carillon-bench: histograms, pictures
	libgsl-dev gnuplot-nox
	# scripts and style tests
	python3 clang-format procps util-linux git
	# libFuzzer and the sanitizers' run-time parts for clang, and names in their reports
	libclang-rt-dev llvm
	# to compile for arm64 as well
	gcc-aarch64-linux-gnu libc6-dev-arm64-cross
	# to fetch the driver headers, and what the guests of tests/guest need
	dpkg-dev xz-utils ca-certificates debootstrap
)

installed() { [ "$(dpkg-query -W -f '${db:Status-Status}' "$1" 2>/dev/null)" = installed ]; }

# Runs its arguments up to three times; a mirror now and then drops a connection.
try_thrice() {
	local n log=$1
	shift
	for n in 1 2 3; do
		"$@" >"$log" 2>&1 && return 0
		say "attempt $n of 3: $(grep -E '^(E|Err|W)' "$log" | tail -n 1 | cut -c1-160)"
		sleep $((n * 2))
	done
	return 1
}

check_system() {
	local id='' version=''
	[ -r /etc/os-release ] && {
		id=$(. /etc/os-release && echo "${ID:-}")
		version=$(. /etc/os-release && echo "${VERSION_ID:-}")
	}
	[ "$id $version" = "debian 12" ] ||
		die "this is '${id:-unknown} ${version:-}', and Carillon is built on Debian 12" \
			"use a Debian 12 machine or container, or install by hand: ${packages[*]}"
	command -v apt-get >/dev/null || die "apt-get is missing" "use a Debian 12 that has apt"
}

install_packages() {
	local p missing=() as_root=() log=$1
	for p in "${packages[@]}"; do
		installed "$p" || missing+=("$p")
	done
	if [ ${#missing[@]} -eq 0 ]; then
		say "all ${#packages[@]} packages are installed"
		return
	fi
	if [ "$(id -u)" -ne 0 ]; then
		command -v sudo >/dev/null ||
			die "${#missing[@]} packages are missing, and neither root nor sudo" \
				"as root: apt-get install --no-install-recommends ${missing[*]}"
		as_root=(sudo -n env DEBIAN_FRONTEND=noninteractive)
		sudo -n true 2>/dev/null || as_root=(sudo env DEBIAN_FRONTEND=noninteractive)
	fi
	say "installing ${#missing[@]} packages: ${missing[*]}"
	try_thrice "$log" "${as_root[@]}" apt-get -o Acquire::Retries=3 update ||
		die "apt-get update failed; its log is $log" "see that the mirror is reached"
	# apt's own lock is waited for, but not for ever.
	try_thrice "$log" "${as_root[@]}" apt-get -o Acquire::Retries=3 \
		-o DPkg::Lock::Timeout=120 install -y -q \
		--no-install-recommends "${missing[@]}" || {
		tail -n 15 "$log" >&2
		die "apt-get install failed; its log is $log" "see above; then run this again"
	}
	for p in "${missing[@]}"; do
		installed "$p" || die "apt-get said yes, but package $p is not installed"
	done
}

# ---- headers from source packages -------------------------------------------------------------

apt_private=()

# An apt state of our own in $1, with deb and deb-src lines for the mirrors that the system uses.
private_apt() {
	local dir=$1 key=/usr/share/keyrings/debian-archive-keyring.gpg opt='' uri release origin
	[ ${#apt_private[@]} -eq 0 ] || return 0
	mkdir -p "$dir/lists/partial" "$dir/cache/archives/partial"
	[ ! -r $key ] || opt="[signed-by=$key] "
	# shellcheck disable=SC2016 # $(X) is apt's own format, not a command
	apt-get indextargets --format '$(REPO_URI)|$(RELEASE)|$(ORIGIN)' \
		'Created-By: Packages' 'Component: main' | sort -u |
		while IFS='|' read -r uri release origin; do
			case $release in
			bookworm | bookworm-updates | bookworm-security | bookworm/updates) ;;
			*) continue ;;
			esac
			case $origin in Debian | '' | '$('*) ;; *) continue ;; esac
			printf 'deb %s%s %s main\ndeb-src %s%s %s main\n' \
				"$opt" "$uri" "$release" "$opt" "$uri" "$release"
		done >"$dir/sources.list"
	grep -q ' bookworm main' "$dir/sources.list" ||
		die "apt is set up with no mirror of Debian bookworm's main part" \
			"add a line 'deb MIRROR bookworm main' to /etc/apt/sources.list"
	apt_private=(-o "Dir::Etc::sourcelist=$dir/sources.list"
		-o Dir::Etc::sourceparts=/dev/null -o "Dir::State::Lists=$dir/lists"
		-o "Dir::Cache=$dir/cache" -o Acquire::Retries=3 -o APT::Sandbox::User=)
	try_thrice "$dir/update.log" apt-get "${apt_private[@]}" update ||
		die "no list of source packages from the mirror: $(tail -n 1 "$dir/update.log")" \
			"see that this machine reaches its mirror"
}

# Headers of the source tree that the driver parts of DPDK need, and mlx5_prm.h for the layout test.
fetch_dpdk_sdk() {
	local work=$1 version have=
	version=$(dpkg-query -W -f '${source:Version}' libdpdk-dev)
	[ ! -r "$deps/dpdk-sdk/.version" ] || have=$(cat "$deps/dpdk-sdk/.version")
	if [ -e "$deps/dpdk-sdk/lib/gpudev/gpudev_driver.h" ] &&
		[ "${have:-$version}" = "$version" ]; then
		say "DPDK's driver headers are in .deps/dpdk-sdk"
		return
	fi
	say "fetching DPDK's driver headers (source package dpdk $version, 16 MB, 2 MB kept)"
	private_apt "$work/apt"
	(cd "$work" && try_thrice "$work/source.log" apt-get "${apt_private[@]}" source -q \
		--download-only "dpdk=$version") ||
		die "cannot fetch source package dpdk $version: $(tail -n 1 "$work/source.log")" \
			"try later; or unpack DPDK's source and give meson -Ddpdk_sdk=PATH"
	(cd "$work" && dpkg-source --no-check -x dpdk_*.dsc dpdk-tree) >"$work/unpack.log" 2>&1 ||
		die "DPDK's source does not unpack: $(tail -n 1 "$work/unpack.log")"
	(cd "$work/dpdk-tree" && find lib/ethdev lib/eal/include lib/gpudev drivers/bus/vdev \
		drivers/bus/pci drivers/bus/auxiliary drivers/common/mlx5 -name '*.h' -print0 |
		xargs -0 cp --parents -t "$work/dpdk-sdk") ||
		die "the headers are not where DPDK 22.11 has them"
	cp "$work/dpdk-tree/license/README" "$work/dpdk-sdk/LICENSE.README" 2>/dev/null || true
	echo "$version" >"$work/dpdk-sdk/.version"
	rm -rf "$deps/dpdk-sdk"
	mv "$work/dpdk-sdk" "$deps/dpdk-sdk"
}

fetch_mlx5_ifc() {
	local work=$1 name
	if [ -e "$deps/mlx5-ifc/mlx5_ifc.h" ]; then
		say "Linux's mlx5_ifc.h is in .deps/mlx5-ifc"
		return
	fi
	private_apt "$work/apt"
	name=$(apt-cache "${apt_private[@]}" pkgnames linux-headers-6.1.0- |
		grep -E '^linux-headers-6\.1\.0-[0-9]+-common$' | sort -V | tail -n 1)
	[ -n "$name" ] || die "the mirror has no package linux-headers-6.1.0-N-common"
	say "fetching Linux's mlx5_ifc.h (package $name, 10 MB, half a MB kept)"
	(cd "$work" && try_thrice "$work/headers.log" \
		apt-get "${apt_private[@]}" download "$name") ||
		die "cannot fetch package $name: $(tail -n 1 "$work/headers.log")" "try later"
	dpkg -x "$work/$name"_*.deb "$work/headers"
	mkdir -p "$work/mlx5-ifc"
	cp "$work"/headers/usr/src/"$name"/include/linux/mlx5/*.h "$work/mlx5-ifc/"
	mv "$work/mlx5-ifc" "$deps/mlx5-ifc"
}

say_cuda() {
	if command -v nvcc >/dev/null; then
		say "nvcc is there: the CUDA kernels are built"
	else
		say "no nvcc on PATH: all but the CUDA kernels is built; engines are host threads"
	fi
}

check_system
mkdir -p "$deps"
work=$(mktemp -d "$deps/setup.XXXXXX") ||
	die "cannot write into $deps" "run this as the owner of the tree"
mkdir -p "$work/dpdk-sdk"
# Logs stay when something failed, for the message names them.
trap 'rc=$?; [ $rc -ne 0 ] || rm -rf "$work"' EXIT
install_packages "$work/apt.log"
fetch_dpdk_sdk "$work"
fetch_mlx5_ifc "$work"
say_cuda
say "ready"
