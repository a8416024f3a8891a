#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# What a user may get wrong on the command line of a program of Carillon's: each is one line that names
# cause and fix, and a non-zero exit status. Arguments: softcx, and a program that passes its arguments
# to crl_eal_init().

set -u
softcx=$1
program=$2
eal="--no-huge -m 256 --no-shconf --no-telemetry -l 0"
failed=0

# refused WORDS -- COMMAND...: fails with a line that has the words, within 20 s.
refused()
{
	local words=$1 out rc
	shift 2
	out=$(timeout 20 "$@" 2>&1)
	rc=$?
	if [ $rc = 0 ] || [ $rc -ge 124 ]; then
		echo "FAIL: exit status $rc, wanted a refusal: $*"
		failed=1
	fi
	if ! grep -F "Fix: " <<<"$out" | grep -qFe "$words"; then
		echo "FAIL: no line with \"$words\" and a fix: $*"
		tail -n 5 <<<"$out"
		failed=1
	fi
}

# Words of $eal are separate arguments.
# shellcheck disable=SC2086
{
	refused "there is 0000:99:00.0" -- "$softcx" run -- "$program" $eal -a 0000:ff:00.0
	refused "0000:99:00.0 twice" -- "$softcx" run -- "$program" $eal -a 99:00.0 -a 0000:99:00.0
	refused "--no-pci" -- "$softcx" run -- "$program" $eal --no-pci
	refused "leave no mlx5 device" -- "$softcx" run -- "$program" $eal -b 0000:99:00.0
	refused "rte_eal_init failed" -- "$softcx" run -- "$program" $eal --no-such-option
	refused "dv_flow_en=1" -- "$softcx" run -- "$program" $eal -a 99:00.0,dv_flow_en=2
	refused "cmd_fd is Carillon's" -- "$softcx" run -- "$program" $eal -a 99:00.0,cmd_fd=3
	refused "nonsense=1" -- "$softcx" run -- "$program" $eal -a 99:00.0,nonsense=1
}
exit $failed
