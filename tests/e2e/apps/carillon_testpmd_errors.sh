#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What carillon-testpmd says when it cannot: one line with cause and fix, an exit status that is not
# zero, and nothing left behind.
# Environment besides lib.sh's: TESTPMD (the program), PLUGIN (librte_gpu_crl.so).
. "$(dirname "$0")/../lib.sh"
e2e_begin dpdk-testpmd "$TESTPMD"
export XDG_RUNTIME_DIR=$T
EALOPT=(-l '0,1' --no-huge -m 256 --no-shconf --no-telemetry --file-prefix crl)

# refused NAME PATTERN COMMAND...: exactly one line of ours, with the pattern and a cure
refused()
{
	local name=$1 pattern=$2 out

	shift 2
	out=$(timeout 30 "$@" 2>&1 </dev/null)
	RC=$?
	[ $RC != 0 ] && [ $RC -lt 124 ] || fail "$name: status $RC"
	is "$name: lines" "$(grep -c '^carillon-testpmd: ' <<<"$out")" 1
	grep -qE "^carillon-testpmd: .*$pattern" <<<"$out" || fail "$name: $(grep '^carillon' <<<"$out")"
	grep -qE '^carillon-testpmd: .* Fix: .' <<<"$out" || fail "$name names no cure: $(grep '^carillon' <<<"$out")"
}

nic() { refused "$1" "$2" "$SOFTCX" run -- "$TESTPMD" "${EALOPT[@]}" "${@:3}"; }

before=$(ip -o link | wc -l)
refused 'wrong option' "unknown option '--nonsense'" "$TESTPMD" "${EALOPT[@]}" -- --nonsense
refused 'ring size' '--rxd=1000 is no power of two.*512 or 1024' "$TESTPMD" "${EALOPT[@]}" -- --rxd=1000
refused 'no device' 'mlx5|RDMA' "$TESTPMD" "${EALOPT[@]}" -- --duration=1
nic 'a device that is not there' 'no mlx5 device' -a 0000:01:02.3 -- --duration=1
nic 'too few lcores' '5 worker lcores' -- --nb-cores=5
nic 'no dashes' "EAL's own message.*behind --" --duration=1
nic 'no port' 'portmask' -- --portmask=0x80
nic 'no such gpudev' 'gpu_crl_cuda0' -- --gpu=gpu_crl_cuda0
refused 'report' "cannot write $T/none/x.json" "$TESTPMD" "${EALOPT[@]}" -- --json="$T/none/x.json"
refused 'report to a folder' "cannot write $T: Is a dir" "$TESTPMD" "${EALOPT[@]}" -- --json="$T"
nic 'report to a full disk' 'cannot write /dev/full: No space' -- --duration=0.1 --json=/dev/full
[ -c /dev/full ] || fail 'the report took the place of a device'

# Each option that the installed testpmd lists is one here, or is refused by name with what to do instead.
options()
{
	local word words

	words=$(timeout 30 dpdk-testpmd --no-pci --no-huge -m 64 -l 0,1 --no-shconf --no-telemetry \
		--file-prefix words -- --help 2>/dev/null </dev/null | grep -oE '^ *--[a-z][a-z0-9-]+' | sort -u)
	[ "$(wc -l <<<"$words")" -ge 90 ] || fail "testpmd lists few options: $words"
	for word in $words; do
		"$TESTPMD" -- --help | grep -q -- "$word\b" && continue
		[ $word = --port-topology ] && continue # one of its values is taken
		out=$("$TESTPMD" -- "$word=1" 2>&1)
		grep -qE "^carillon-testpmd: options: testpmd's $word is not an option here. Fix: ." <<<"$out" ||
			fail "testpmd's $word: $out"
	done
}

options
if [ -n "${PLUGIN:-}" ]; then
	out=$(timeout 20 "$SOFTCX" run -- "$TESTPMD" "${EALOPT[@]}" -d "$PLUGIN" --vdev=gpu_crl_host0 \
		-- --gpu=gpu_crl_host0 --tx-first --duration=0.5 2>&1)
	is 'gpu_crl_host: status' $? 0
	grep -qE '^Path of port 0 .*gpu_crl_host0' <<<"$out" || fail "gpu_crl_host: $(tail -n 5 <<<"$out")"
	# The program finds the plugin by itself, with --vdev and without, and tells which it is.
	for vdev in --vdev=gpu_crl_host0,numa=0 --log-level=6; do
		out=$(timeout 20 "$SOFTCX" run -- "$TESTPMD" "${EALOPT[@]}" $vdev \
			-- --gpu=gpu_crl_host0 --tx-first --duration=0.3 2>&1)
		is "gpu_crl_host with $vdev: status" $? 0
		grep -q "^Loaded /.*/$(basename "$PLUGIN")\$" <<<"$out" &&
			grep -qE '^Path of port 0 .*gpu_crl_host0' <<<"$out" ||
			fail "gpu_crl_host with $vdev: $(tail -n 5 <<<"$out")"
	done
	for args in numa=x numa=4000 colour=red; do
		nic "gpu_crl_host with $args" 'no gpudev.* gpu_crl_host0' --vdev=gpu_crl_host0,$args \
			-- --gpu=gpu_crl_host0 --duration=1
	done
	cp "$TESTPMD" "$T/alone"
	nic_alone() { refused "$1" "$2" "$SOFTCX" run -- "$T/alone" "${EALOPT[@]}" "${@:3}"; }
	nic_alone 'no plugin' 'librte_gpu_crl.so: it is not in' --vdev=gpu_crl_host0 -- --duration=1
fi
is 'netdevs left behind' "$(ip -o link | wc -l)" "$before"
is 'files left behind' "$(find "$T" -name 'x.json*' | wc -l)" 0
"$TESTPMD" --help | grep -q -- --forward-mode= || fail '--help'
"$TESTPMD" -- --help | grep -q -- --forward-mode= || fail '-- --help'
