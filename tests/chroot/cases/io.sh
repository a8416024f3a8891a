#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The suite's testpmd with its net_mlx5: packets go round a loopback, none is lost, nothing is refused.
. /carillon/tests/e2e/lib.sh
e2e_begin dpdk-testpmd stdbuf
for args in '' txq_inline_max=0; do
	DEVARGS=$args
	pmd_start "io${args:+_plain}" --rxq=2 --txq=2
	pmd_do 'set fwd io'
	pmd_do 'start tx_first'
	sleep 1
	pmd_do stop
	xstats 0
	[ "${XS[rx_good_packets]}" -gt 1000 ] || fail "only ${XS[rx_good_packets]} packets${args:+ with $args}"
	is "errors${args:+ with $args}" "$((XS[rx_errors] + XS[tx_errors] + XS[rx_mbuf_allocation_errors]))" 0
	note "${XS[rx_good_packets]} packets${args:+ with $args}"
	pmd_quit
done
