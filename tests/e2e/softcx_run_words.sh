#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# softcx run (and serve, at the end), wrongly asked: one line that names the cause, a non-zero status,
# and nothing left behind. Rightly asked: the program's arguments, status and signals are its own.
. "$(dirname "$0")/lib.sh"
e2e_begin ibv_devinfo dpdk-testpmd gcc cp setcap

# wrong STATUS PATTERN COMMAND...
wrong()
{
	local status=$1 pattern=$2 rc

	shift 2
	timeout -k 5 20 "$@" >"$T/out" 2>&1 </dev/null
	rc=$?
	is "status of: ${*##*/}" "$rc" "$status"
	grep -qE "$pattern" "$T/out" || { fail "does not say '$pattern': ${*##*/}"; cat "$T/out" >&2; }
}

wrong 64 'usage: softcx run' "$SOFTCX"
wrong 64 "no command 'walk'" "$SOFTCX" walk
wrong 64 'nosuchoption' "$SOFTCX" run --nosuchoption -- true
wrong 64 'no program' "$SOFTCX" run
wrong 64 'no program' "$SOFTCX" run --
for n in 0 9 many -1 ''; do
	wrong 64 "ports wants a number from 1 to 8" "$SOFTCX" run --ports "$n" -- true
done
for n in ' 1' +1 ' -18446744073709551615'; do # which strtoull takes, the last for 1
	wrong 64 "ports wants a number from 1 to 8" "$SOFTCX" run --ports "$n" -- true
done
wrong 64 "no profile 'cx99'" "$SOFTCX" run --profile cx99 -- true
wrong 64 'seed wants a number' "$SOFTCX" run --seed x -- true
for who in dpu cpu:1 gpu:x; do
	wrong 64 'nic-step' "$SOFTCX" run --nic-step $who -- true
done
for who in cpu copy remote; do # an option that would be without effect
	wrong 64 'host-doorbells goes with --nic-step gpu' "$SOFTCX" run --host-doorbells --nic-step $who -- true
done
wrong 64 "no wire 'string'" "$SOFTCX" run --wire string -- true
for name in '' a/b 'a b' fifteencharsxxx all default eth%d; do
	wrong 64 'wants the name of a netdev' "$SOFTCX" run --wire "veth:$name" -- true
done
wrong 64 'wants two files' "$SOFTCX" run --wire pcap:file -- true
wrong 64 'wants two files' "$SOFTCX" run --wire pcap:, -- true
wrong 64 'nosuchfile.*No such file' "$SOFTCX" run --wire "pcap:$T/nosuchfile,$T/out.pcap" -- true
wrong 64 "pcap-out: cannot write $T/none/x: No such file" "$SOFTCX" run --pcap-out "$T/none/x" -- true
wrong 64 "pcap-out: cannot write $T: Is a directory" "$SOFTCX" run --pcap-out "$T" -- true
wrong 64 "log: cannot write $T/none/x: No such file" "$SOFTCX" run --log "$T/none/x" -- true
wrong 64 "wire: cannot write $T/none/x: No such file" "$SOFTCX" run --wire "pcap:,$T/none/x" -- true
[ ! -e "$T/none" ] || fail 'a refused file was made'
mkfifo "$T/pipe"
wrong 64 'pipe is no file' "$SOFTCX" run --wire "pcap:$T/pipe," -- ibv_devinfo
wrong 1 'nobody reads this pipe: start its reader first' "$SOFTCX" run --pcap-out "$T/pipe" -- ibv_devinfo
: >"$T/a.pcap"
ln -s a.pcap "$T/b.pcap"
for files in "--wire pcap:$T/a.pcap,$T/b.pcap" "--wire pcap:,$T/c --pcap-out $T/c" "--log $T/c --pcap-out $T/c"; do
	# shellcheck disable=SC2086 # two options
	for command in run serve vfio; do
		socket=()
		[ $command = serve ] && socket=(--socket "$T/s")
		words=(-- ibv_devinfo)
		[ $command = serve ] && words=()
		wrong 64 'give each its own' "$SOFTCX" $command "${socket[@]}" $files "${words[@]}"
	done
done
ip link add wide0 mtu 60000 type veth peer name wide1 || fail 'no netdev'
wrong 1 'netdev wide0: its MTU is 60000, and the port.s can be 68 to 16362: ip link set' \
	"$SOFTCX" run --wire veth:wide0 -- ibv_devinfo
ip link del wide0
wrong 64 'must be even' "$SOFTCX" run --ports 3 --wire cable -- true
wrong 64 '2 times --wire for 3 ports' "$SOFTCX" run --ports 3 --wire veth:a --wire veth:b -- true
wrong 64 'both ends cable' "$SOFTCX" run --ports 2 --wire cable --wire loopback -- true
wrong 64 'is for one port' "$SOFTCX" run --ports 2 --wire "pcap:,$T/out.pcap" -- true

# The programs that LD_PRELOAD does not reach.
wrong 127 'no such program: nosuchprogram' "$SOFTCX" run -- nosuchprogram
wrong 127 'no such program: /nosuch/program' "$SOFTCX" run -- /nosuch/program
wrong 126 'not an executable file' "$SOFTCX" run -- /etc/passwd
wrong 126 'not an executable file' "$SOFTCX" run -- /etc
mount -t tmpfs -o suid tmpfs /mnt
cp /bin/true /mnt/suid && chmod u+s /mnt/suid
wrong 126 '/mnt/suid is setuid' "$SOFTCX" run -- /mnt/suid
cp /bin/true /mnt/sgid && chmod g+s /mnt/sgid
wrong 126 '/mnt/sgid is setgid' "$SOFTCX" run -- /mnt/sgid
cp /bin/true /mnt/caps && setcap cap_net_raw+ep /mnt/caps || fail "no file capabilities here"
wrong 126 '/mnt/caps has file capabilities' "$SOFTCX" run -- /mnt/caps
printf 'int main(void) { return 0; }\n' >"$T/static.c"
gcc -static -o /mnt/static "$T/static.c" || fail "no static program"
wrong 126 '/mnt/static is a static program' "$SOFTCX" run -- /mnt/static
printf '#!/mnt/static\n' >/mnt/script && chmod +x /mnt/script
wrong 126 '/mnt/static is a static program' "$SOFTCX" run -- /mnt/script
printf '\x7fELF\x01\x01\x01' >/mnt/elf32 && chmod +x /mnt/elf32
wrong 126 '/mnt/elf32 is no 64-bit program' "$SOFTCX" run -- /mnt/elf32

# Without permission: said, with two ways out.
wrong 1 'no permission.*as root.*unshare -Urn' setpriv --reuid 65534 --clear-groups \
	--inh-caps=-all --bounding-set=-all "$SOFTCX" run -- true

# Without the device, said; with it, not; the program's words and status are its own.
wrong 3 'sh never opened the device' "$SOFTCX" run -- sh -c 'exit 3'
wrong 137 'never opened' "$SOFTCX" run -- sh -c 'kill -KILL $$'
wrong 0 '^one two  three$' "$SOFTCX" run -- printf '%s\n' 'one two  three'
wrong 0 'hca_id:.*mlx5_0' "$SOFTCX" run -- ibv_devinfo
grep -q 'never opened' "$T/out" && fail "ibv_devinfo: said that it never opened the device"
"$SOFTCX" run --log "$T/log" -- sh -c 'ibv_devinfo >/dev/null; exec ibv_devinfo -d mlx5_0' >"$T/out" 2>&1 ||
	fail "two programs, one after the other: $(cat "$T/out")"

# A disk that is full from the beginning, and one that is full after a while.
wrong 1 'capture file /dev/full: No space left' "$SOFTCX" run --pcap-out /dev/full -- ibv_devinfo
mkdir "$T/small" && mount -t tmpfs -o size=64k tmpfs "$T/small" || fail "no tmpfs"
"$SOFTCX" run --pcap-out "$T/small/x" -- dpdk-testpmd -l 0,1 --no-huge -m 96 --no-shconf -- \
	--total-num-mbufs=2048 --tx-first --stats-period=1 >"$T/out" 2>&1 </dev/null &
PID=$!
full()
{
	grep -q 'the capture file takes no more: No space left' "$T/out"
}
wait_for 20 full || fail "a full disk was not told of: $(tail -n 5 "$T/out")"
kill -INT "$PID"
wait "$PID"

# An environment that would be cut short: a preload of the caller's would be lost, silently.
long=$(printf '/no/such/library.so:%.0s' $(seq 200))
for command in run vfio; do
	wrong 64 'LD_PRELOAD: 4000 bytes are more' env LD_PRELOAD="$long" \
		"$SOFTCX" $command -- ibv_devinfo
done

# Signals go to the program, once, and to its whole terminal life: it may catch them.
cat >"$T/catcher" <<'C'
trap 'echo caught; n=$((n + 1))' TERM
echo up
while [ "${n:-0}" = 0 ]; do sleep 0.05; done
sleep 0.3
exit "$n"
C
: >"$T/out" # what was there before has the word as well
"$SOFTCX" run -- bash "$T/catcher" >"$T/out" 2>"$T/err" &
PID=$!
up()
{
	grep -qx up "$T/out"
}
wait_for 10 up || fail "the program did not start"
kill -TERM "$PID"
wait "$PID"
is "signals caught" $? 1

# Held and let go by somebody who knows of the program alone: softcx ends when it does.
"$SOFTCX" run -- sh -c 'ibv_devinfo >/dev/null; exec sleep 2' >"$T/out" 2>"$T/err" &
PID=$!
wait_for 10 sh -c "ps -eo args= | grep -qx 'sleep 2'" || fail 'the program did not start'
kill -STOP "$(descendants $PID sleep)"
sleep 0.2
kill -CONT "$(descendants $PID sleep)"
wait_for 8 gone $PID || { fail "SIGSTOP, SIGCONT: softcx does not end"; kill -KILL $PID; }
wait $PID
is "status after SIGSTOP, SIGCONT" $? 0

# softcx serve: the socket's name is none, another's, a dead server's; and what it removes is its own.
wrong 64 'softcx serve: --socket is missing' "$SOFTCX" serve --socket ''
wrong 64 'wants the six bytes of one station' "$SOFTCX" serve --socket "$T/s" --mac 01:00:5e:00:00:01
wrong 64 'seed wants a number' "$SOFTCX" serve --socket "$T/s" --seed ' -1'
wrong 1 "it is no socket: give another name" "$SOFTCX" serve --socket "$T/out"
"$SOFTCX" serve --socket "$T/s" --log "$T/log" &
PID=$!
wait_for 5 [ -S "$T/s" ] || fail 'no socket'
wrong 1 'another server has it' "$SOFTCX" serve --socket "$T/s"
kill -KILL $PID
wait $PID 2>/dev/null
wrong 1 "left by a server that was killed: rm $T/s" "$SOFTCX" serve --socket "$T/s"
rm "$T/s"
"$SOFTCX" serve --socket "$T/s" --log "$T/log" &
PID=$!
wait_for 5 [ -S "$T/s" ] || fail 'no socket'
rm "$T/s"
echo mine >"$T/s"
kill -TERM $PID
wait $PID
is 'status of serve' $? 0
is 'the file that took the name of the socket' "$(cat "$T/s")" mine

[ -z "$(ls /sys/class/net | grep -v '^lo$')" ] || fail "netdevs left: $(ls /sys/class/net)"
! grep -q softcx /proc/self/mountinfo || fail "mounts left"
