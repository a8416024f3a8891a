#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Shows that check_ptx.py can fail: in a copy of the headers one edge at a time is dropped, swapped or
# weakened, and the check must object to each and to nothing in the copy as it is.
# usage: ptx_mutants.sh SOURCE-ROOT
set -euo pipefail
root=$1
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/clean"
cp -r "$root/gpu_queues" "$root/config" "$tmp/clean/"

judge() { # DIRECTORY: 0 nothing wrong, 1 something is, 2 it does not compile
	nvcc -std=c++17 -I "$1" -ptx -arch=compute_80 -o "$1/probe.ptx" "$root/tests/ptx/probe.cu" || return 2
	python3 "$root/tests/ptx/check_ptx.py" "$1/probe.ptx"
}

failures=0
mutant() { # NAME FILE SED-PROGRAM: the change must be seen
	local dir=$tmp/mutant
	rm -rf "$dir"
	cp -r "$tmp/clean" "$dir"
	sed -i -E "$3" "$dir/gpu_queues/$2"
	if cmp -s "$dir/gpu_queues/$2" "$tmp/clean/gpu_queues/$2"; then
		echo "$1: the change does not apply any more"
		failures=$((failures + 1))
	else
		local rc=0
		judge "$dir" >"$dir/said" || rc=$?
		case $rc in
		1) echo "$1: seen: $(head -1 "$dir/said")" ;;
		0) echo "$1: not seen" && failures=$((failures + 1)) ;;
		*) echo "$1: does not compile" && failures=$((failures + 1)) ;;
		esac
	fi
}

drop() { # EDGE: its body loses the fence
	mutant "drop $1" order.h "/^crl_order_$1\(void\)/,/^}/ s/crl_fence_\w+\(\);//"
}

judge "$tmp/clean"
drop wqe_before_record
drop record_before_uar
drop cqe_before_payload
drop reads_before_giveback
mutant "doorbell before the record's fence" sq_doorbell.h \
	's/crl_order_record_before_uar\(\);/(void)0;/; s/(crl_st_mmio64.*)/\1 crl_order_record_before_uar();/'
mutant "record before the WQEs' fence" sq_doorbell.h \
	's/crl_order_wqe_before_record\(\);/(void)0;/; s/(crl_st_be32.*)/\1 crl_order_wqe_before_record();/'
mutant "signalled after the fence" sq_doorbell.h \
	's/crl_sq_signal_last\(sq\);/(void)0;/; s/(crl_st_be32.*)/crl_sq_signal_last(sq); \1/'
mutant "gpu scope" order.h '/^crl_fence_(store|load|mmio)\(/,/^}/ s/"sys"/"gpu"/; s/acq_rel\.sys/acq_rel.gpu/'
mutant "release alone behind a poll" order.h 's/acq_rel\.sys/release.sys/'
mutant "read-only loads" mem.h '/^crl_ld16/,/^}/ s/return .*/return __ldg((const unsigned short *)p);/'
exit $((failures > 0))
