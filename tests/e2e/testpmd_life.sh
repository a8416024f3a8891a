#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The life of a device under unmodified programs: ports stopped and started many times, rings from
# 64 to 8192 entries, several programs at once, one that opens the device again, one that forks.
. "$(dirname "$0")/lib.sh"
e2e_begin dpdk-testpmd stdbuf ibv_devinfo

# Packets go round for a moment, and none is lost.
turn()
{
	counters_clear 0
	pmd_do 'start tx_first'
	sleep 0.1
	pmd_do stop
	xstats 0
	[ "${XS[rx_good_packets]}" -gt 100 ] || fail "$1: only ${XS[rx_good_packets]} packets"
	is "$1: out of buffer" "${XS[rx_out_of_buffer]}" 0
	is "$1: errors" "$((XS[rx_errors] + XS[tx_errors]))" 0
}

CYCLES=15
full && CYCLES=100
pmd_start cycles --rxq=2 --txq=2 --rxd=256 --txd=256 --rss-udp --forward-mode=macswap
TESTPMD=$(descendants $PMD_PID dpdk-testpmd | tail -n 1)
turn 'before the cycles'
OPEN=$(ls /proc/"$TESTPMD"/fd | wc -l)
for ((i = 0; i < CYCLES; i++)); do
	pmd_do 'port stop 0' 20
	pmd_do 'port start 0' 20
	[ $((i % 5)) != 0 ] || turn "cycle $i"
done
is "open files after $CYCLES cycles" "$(ls /proc/"$TESTPMD"/fd | wc -l)" "$OPEN"
[ "$OPEN" -gt 5 ] || fail "cannot see testpmd's open files"

# MTU, promiscuity, MAC: each remakes queues or rules
pmd_do 'port stop 0' 20
pmd_do 'port config mtu 0 1400'
pmd_do 'port start 0' 20
turn 'another MTU'
pmd_do 'set promisc 0 off'
pmd_do 'set allmulti 0 on'
pmd_do 'set promisc 0 on'
turn 'promiscuous again'
pmd_do 'mac_addr add 0 02:00:00:00:77:01'
pmd_do 'mac_addr remove 0 02:00:00:00:77:01'
turn 'a second MAC address'

# One queue stopped and started
pmd_do 'port 0 rxq 1 stop'
pmd_do 'port 0 rxq 1 start'
turn 'a queue restarted'

# Closed and opened again in the same process
pmd_do 'port stop 0' 20
pmd_do 'port close 0' 20
pmd_do "device detach ${BDFS[0]}" 20
pmd_do "port attach ${BDFS[0]}" 20
grep -q 'is attached' <<<"$PMD_OUT" || fail "port not attached again: $(tail -n 3 <<<"$PMD_OUT")"
pmd_do 'port start 0' 20
turn 'attached again'
pmd_quit

MBUFS=40000 PMD_MB=256
for ring in 64 8192; do
	# net_mlx5 gives receive slots back a quarter of the ring at a time, and those of a burst only
	# after it was sent: 32 frames going round can find fewer than 32 of 64 slots.
	pmd_start ring$ring --rxq=1 --txq=1 --rxd=$ring --txd=$ring --burst=16 --forward-mode=io
	turn "rings of $ring"
	pmd_do 'set fwd txonly' # a queue that is always full
	pmd_do start
	sleep 0.2
	pmd_do stop
	pmd_do 'set fwd rxonly'
	pmd_do start
	sleep 0.2
	pmd_do stop
	pmd_do 'set fwd io'
	turn "rings of $ring, filled"
	pmd_quit
done

# Two programs at once: each under a softcx of its own
MBUFS=4096 PMD_MB=96
pmd_start one --rxq=1 --txq=1 --forward-mode=macswap
pmd_do 'start tx_first'
ONE_PID=$PMD_PID ONE_FD=$PMD_FD ONE_LOG=$PMD_LOG ONE_MARK=$PMD_MARK
pmd_start two --rxq=1 --txq=1 --forward-mode=macswap
turn 'a second program'
pmd_quit
PMD_PID=$ONE_PID PMD_FD=$ONE_FD PMD_LOG=$ONE_LOG PMD_MARK=$ONE_MARK
pmd_do stop
turn 'the first program, after the second'
pmd_quit

# Two programs under one softcx, at once and one after the other; a shell between them
THREE='ibv_devinfo >"$0"/a & ibv_devinfo >"$0"/b & wait; ibv_devinfo >"$0"/c'
"$SOFTCX" run -- sh -c "$THREE" "$T" || fail 'three ibv_devinfo'
for f in a b c; do
	is "ibv_devinfo $f" "$(grep -c PORT_ACTIVE "$T/$f")" 1
done

# A program that forks: the child's device is dead, the parent's lives.
cat >"$T/fork.py" <<'P'
import ctypes, errno, os, sys
ib = ctypes.CDLL('libibverbs.so.1', use_errno=True)
ib.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
for name in ('ibv_open_device', 'ibv_alloc_pd'):
    getattr(ib, name).restype = ctypes.c_void_p
    getattr(ib, name).argtypes = [ctypes.c_void_p]
ib.ibv_close_device.argtypes = ib.ibv_dealloc_pd.argtypes = [ctypes.c_void_p]
devices = ib.ibv_get_device_list(None)
for again in range(3):
    ctx = ib.ibv_open_device(devices[0])
    if not ctx:
        sys.exit('open %d failed' % again)
    pd = ib.ibv_alloc_pd(ctx)
    if not pd:
        sys.exit('no PD at open %d' % again)
    child = os.fork()
    if child == 0:
        dead = ib.ibv_alloc_pd(ctx)
        os._exit(1 if dead else 0 if ctypes.get_errno() == errno.EIO else 2)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code:
        sys.exit('in the child the device is alive' if code == 1 else 'in the child: not EIO')
    more = ib.ibv_alloc_pd(ctx)
    if not more:
        sys.exit('after the fork the parent has no device')
    if ib.ibv_dealloc_pd(more) or ib.ibv_dealloc_pd(pd) or ib.ibv_close_device(ctx):
        sys.exit('close failed')
P
"$SOFTCX" run -- /usr/bin/python3 "$T/fork.py" || fail 'open, fork, close, open again'
