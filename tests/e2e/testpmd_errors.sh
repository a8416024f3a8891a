#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Wrong words to softcx and to testpmd on it: each ends soon, with a non-zero status and a line that
# names the cause; a wrong word to a port leaves the port usable.
. "$(dirname "$0")/lib.sh"
e2e_begin dpdk-testpmd stdbuf ibv_devinfo

# wrong PATTERN COMMAND...: fails within 30 seconds and says PATTERN
wrong()
{
	local pattern=$1 rc

	shift
	timeout -k 5 30 "$@" >"$T/out" 2>&1 </dev/null
	rc=$?
	[ $rc != 0 ] || fail "succeeded: $*"
	[ $rc != 124 ] && [ $rc != 137 ] || fail "did not end: $*"
	[ $rc -lt 128 ] || fail "died of a signal, status $rc: $*"
	grep -qiE "$pattern" "$T/out" || fail "does not say '$pattern': $*: $(tail -n 4 "$T/out")"
}

wrong 'usage|softcx run' "$SOFTCX"
wrong 'nosuchverb' "$SOFTCX" nosuchverb
wrong 'nosuchoption' "$SOFTCX" run --nosuchoption -- true
wrong 'nosuchprogram' "$SOFTCX" run -- nosuchprogram
wrong 'nosuchwire' "$SOFTCX" run --wire nosuchwire -- true
wrong 'netdev' "$SOFTCX" run --wire veth:no/such/dev -- ibv_devinfo
wrong 'cx99' "$SOFTCX" run --profile cx99 -- ibv_devinfo
wrong 'ports' "$SOFTCX" run --ports 0 -- ibv_devinfo
wrong 'ports' "$SOFTCX" run --ports many -- ibv_devinfo
wrong 'seed' "$SOFTCX" run --seed x -- ibv_devinfo
wrong 'program|usage' "$SOFTCX" run --

# What the interposer cannot reach is refused by name: static and setuid programs.
cat >"$T/static.c" <<'C'
int main(void) { return 0; }
C
if gcc -static -o "$T/static" "$T/static.c" 2>/dev/null; then
	wrong 'static' "$SOFTCX" run -- "$T/static"
fi
mount -t tmpfs -o suid tmpfs /mnt
cp "$(type -P true)" /mnt/setuid
chmod u+s /mnt/setuid
wrong 'setuid|set-user-id' "$SOFTCX" run -- /mnt/setuid

# A program that never opens the device: its own status, and a line that says so.
"$SOFTCX" run -- true >"$T/out" 2>&1 || fail "true: status $?"
grep -qi 'never opened' "$T/out" ||
	fail "nothing said of a program that opens no device: $(cat "$T/out")"

find_ports 1
BDF=${BDFS[0]}
testpmd()
{
	local args=$1

	shift
	echo quit | "$SOFTCX" run -- dpdk-testpmd -l 0,1 --no-huge -m 96 --no-shconf -a "$args" -- \
		--total-num-mbufs=2048 "$@"
}
export -f testpmd
export SOFTCX
# testpmd goes on without a port, or with its default, after most of these: its words count
tp()
{
	timeout -k 5 30 bash -c 'testpmd "$@"' - "${@:2}" >"$T/out" 2>&1
	[ $? -lt 124 ] || fail "did not end, or died: testpmd ${*:2}"
	grep -qiE "$1" "$T/out" || fail "does not say '$1': testpmd ${*:2}: $(tail -n 4 "$T/out")"
}
tp 'nosuchdevarg' "$BDF,nosuchdevarg=1" -i
tp 'dv_flow_en' "$BDF,dv_flow_en=7" -i
tp 'no probed ethernet|no ethernet|cannot' 0000:77:00.0 --auto-start
tp 'rxq|queue' "$BDF" --rxq=70000 --auto-start
tp 'burst' "$BDF" --burst=9999
tp 'mode' "$BDF" --forward-mode=nosuchmode

# A ring that is no power of two is net_mlx5's to round; a wrong word at the prompt hurts nothing.
pmd_start odd --rxq=1 --txq=1 --rxd=300 --txd=300 --forward-mode=io
PMD_EXPECT='mlx5_net|refused'
pmd_do 'port stop 0' 20
pmd_do 'port config all rxq 3000'
pmd_do 'port config all rxq 1'
pmd_do 'port start 0' 20
pmd_do 'set txpkts 70000'
pmd_do 'start tx_first'
sleep 0.2
pmd_do stop
xstats 0
[ "${XS[rx_good_packets]}" -gt 100 ] || fail "after wrong words only ${XS[rx_good_packets]} packets"
pmd_quit
