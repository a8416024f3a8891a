#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# kill -9 of softcx run, or of the program, at any moment: no process, netdev or mount stays, with a
# netdev outside that softcx made (it goes) and one that was there before (it stays, and works again).
. "$(dirname "$0")/lib.sh"
e2e_begin ibv_devinfo ip

left()
{
	[ -z "$(descendants $$ sleep)" ] && ! ip link show dev made0 >/dev/null 2>&1 &&
		! grep -q softcx /proc/self/mountinfo
}

ip link add there0 type veth peer name there1
ip link set there0 up
ip link set there1 up
RANDOM=$((SEED & 0x7fff))
note "seed $SEED"
for round in 1 2 3 4 5 6; do
	wire=veth:made
	[ $((round % 2)) = 0 ] && wire=veth:there
	"$SOFTCX" run --ports 2 --wire $wire --log "$T/log" -- sh -c 'ibv_devinfo >/dev/null; exec sleep 1000' \
		>"$T/out" 2>&1 &
	PID=$!
	sleep 0.0$((RANDOM % 9))
	[ "$round" -gt 4 ] && sleep 0.4
	victim=$PID
	[ "$round" -gt 2 ] && victim=$(descendants $PID sleep)
	kill -KILL "${victim:-$PID}"
	wait "$PID" 2>/dev/null
	wait_for 5 left || fail "round $round, $wire: something stays: $(ps -ef; ip -br link; cat "$T/out")"
	ip link show dev there0 >/dev/null 2>&1 || fail "round $round: the netdev of ours is gone"
done

# What the program started goes as well: in the background, out of its session, orphaned. The same at
# an orderly end.
families='sleep 1001 & setsid sleep 1002 & (setsid sh -c "sleep 1003 & sleep 1004" &) ; sleep 0.1'
for end in 'exec sleep 1000' 'sleep 1000; :' 'sleep 0.2'; do
	"$SOFTCX" run --wire veth:made -- sh -c "ibv_devinfo >/dev/null; $families; $end" >"$T/out" 2>&1 &
	PID=$!
	case $end in
	'sleep 0.2') wait_for 10 gone $PID || fail 'an orderly end takes long' ;;
	*)
		wait_for 10 sh -c "ps -eo args | grep -q '^sleep 1004' && ps -eo args | grep -q '^sleep 1000'" ||
			fail "no family: $(ps -ef; cat "$T/out")"
		kill -KILL $PID
		;;
	esac
	wait "$PID" 2>/dev/null
	wait_for 5 left || fail "'$end': something stays: $(ps -ef; ip -br link; cat "$T/out")"
	wait_for 5 sh -c '! ps -eo args | grep -q "^sleep 100"' || fail "'$end': a grandchild stays: $(ps -ef)"
done

# The program is stopped from its terminal and goes on, as under a shell.
python3 - "$SOFTCX" >"$T/pty" 2>&1 <<'EOF' || fail "terminal: $(cat "$T/pty")"
import os, pty, select, sys, time

pid, fd = pty.fork()
if pid == 0:
    os.execvp("bash", ["bash", "--norc", "-i"])
seen = b""

def until(word):
    global seen
    end = time.monotonic() + 10
    while word not in seen:
        if time.monotonic() > end or not select.select([fd], [], [], 10)[0]:
            sys.exit("no %r in %r" % (word, seen))
        seen += os.read(fd, 4096)
    seen = seen[seen.index(word) + len(word):]

def say(text):
    os.write(fd, text)

say(b"PS1=; set +o history\n")
say(sys.argv[1].encode() + b" run -- sh -c 'echo sta''rted; read x; echo got $x; sleep 50'\n")
until(b"started")
time.sleep(0.3)
say(b"\x1a")
until(b"Stopped")
say(b"echo sh''ell; fg\n")
until(b"shell")
until(b"softcx")
time.sleep(0.3)
say(b"wo''rd\n")
until(b"got wo''rd")
time.sleep(0.3)
say(b"\x03")
until(b"opened the device")
say(b"echo en''ded $?\n")
until(b"ended 130")
EOF
