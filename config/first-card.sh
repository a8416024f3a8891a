#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# For whoever has a ConnectX: twenty checks with the outcome written down beforehand, in some ten
# minutes, and one JSON file to send us. docs/first-card.md says what each outcome retires, what the
# machine needs, and how to report. It sends frames on the chosen port for a few seconds, makes two
# queues fail on purpose, and changes nothing for good.
#
# usage: config/first-card.sh [-d DEVICE] [-b BUILD] [-o FILE] [--loop | --no-frames]
#   -d DEVICE  PCI address or RDMA name (default: what carillon-doctor chooses, else the first)
#   -b BUILD   build directory (default: build)
#   -o FILE    where the JSON goes (default: first-card.json)
#   --loop     the port hears what it sends: a loopback plug (a switch does not do that)
#   --no-frames  send nothing: leaves out 16, 17, 18 and 20
# Rehearsal without a card:  softcx run -- config/first-card.sh --loop
# Exit status: 0 all that ran was as predicted, 1 something was not, 2 it could not begin.
set -uo pipefail
export LC_ALL=C
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
build=$top/build out=first-card.json device='' loop=0 frames=1

die()
{
	printf 'first-card: %s\n' "$*" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	-d | -b | -o) [ -n "${2:-}" ] || die "$1 wants a value; --help tells the usage" ;;
	esac
	case $1 in
	-d) device=$2 && shift ;;
	-b)
		build=$(cd "$2" 2>/dev/null && pwd) || die "there is no folder $2"
		shift
		;;
	-o) out=$2 && shift ;;
	--loop) loop=1 ;;
	--no-frames) frames=0 ;;
	-h | --help)
		sed -n '4,/^set /s/^# \{0,1\}//p' "$0"
		exit 0
		;;
	*) die "unknown option '$1'; --help tells the usage" ;;
	esac
	shift
done
# Now, not after ten minutes. A folder that is not there cannot be written either.
[ ! -d "$out" ] || die "$out is a folder, and the report a file"
if [ -e "$out" ]; then [ -w "$out" ]; else [ -w "$(dirname -- "$out")" ]; fi || die "cannot write $out"

# Number, name, predicted outcome, what it retires (the sentence's number in docs/first-card.md).
table='1|doctor|carillon-doctor finds nothing that stops Carillon|U1
2|devinfo|ibv_devinfo opens the device; its part id is the PCI device id|U1
3|devx|the capability page, read at our offsets, has ring sizes of 2^10 to 2^20 entries|U2
4|uar|an uncached doorbell page with rdma-core 45 or newer, a BlueFlame page before|U3
5|open|crl_open succeeds: protection and transport domain, TIS, events|U2
6|queue|the firmware takes our CREATE_CQ and CREATE_SQ and moves the SQ to RDY|U4
7|nop|one NOP completes: doorbell record, register, WQE fetch, CQE|U5
8|laps|192 NOPs on a ring of 64 complete in order, each with its own index|U6
9|quiet|the CQE after the last is not valid: owner bit and invalid opcode|U6
10|key|a send with an unknown key: syndrome 04, vendor 52, hardware 92|U7
11|key-signature|its byte 0x3e is the exclusive or by the formula, its last byte d2|U8
12|flush|the WQE behind it: syndrome 05, vendor f9|U7
13|bounds|a send past its key: syndrome 04, vendor 53, hardware 9d|U7
14|bounds-signature|as 11|U8
15|again|a queue made after the errors works|U4
16|send|two seconds of txonly: frames sent, no error, an orderly end|U9
17|receive|600 frames round, RSS over four queues, error and overrun as events (with --loop)|U10
18|kill|after kill -9 in the middle of sending, the next start succeeds|U11
19|log|the kernel log has no new line of mlx5 with "error", "failed" or "dump"|U12
20|gpu|two seconds of txonly with rings in GPU memory, rung by a kernel (with a GPU)|U13'

doctor=$build/apps/doctor/carillon-doctor probe=$build/tests/first_card/card_probe
testpmd=$build/apps/testpmd/carillon-testpmd packet=$build/tests/e2e/mlx5/mlx5_queue_packet
for p in "$doctor" "$probe" "$testpmd" "$packet"; do
	[ -x "$p" ] || die "there is no $p: config/setup.sh, meson setup build, ninja -C build"
done
command -v python3 >/dev/null || die 'needs python3'
work=$(mktemp -d) || die 'no temporary folder'
trap 'rm -rf "$work"' EXIT
# A program that ends in order at Ctrl-C would let bash go on with the next check.
trap 'exit 130' INT
trap 'exit 143' TERM
: >"$work/results"

# verdict NAME as-predicted|otherwise|not-run SEEN
verdict()
{
	printf '%s\t%s\t%s\n' "$1" "$2" "$(printf '%s' "$3" | tr '\t\n' '  ' | cut -c 1-1500)" >>"$work/results"
	printf '%-17s %-12s %s\n' "$1" "$2" "$(printf '%s' "$3" | tr '\n' ' ' | cut -c 1-100)"
}

# judge NAME SEEN COMMAND...: as predicted when the command succeeds
judge()
{
	local name=$1 seen=$2

	shift 2
	if "$@"; then verdict "$name" as-predicted "$seen"; else verdict "$name" otherwise "$seen"; fi
}

# ask EXPRESSION: of the doctor's report r; f(ID) is the first finding of that id, or None
ask()
{
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
device = sys.argv[2]
def f(name):
    return next((x for x in r["findings"] if x["id"] == name and device in ("", x["subject"])), None)
print(eval(sys.argv[3]))' "$work/doctor.json" "${rdma:-}" "$1"
}

"$doctor" --json >"$work/doctor.json" 2>"$work/doctor.err"
[ -s "$work/doctor.json" ] || die "carillon-doctor: $(cat "$work/doctor.err")"
if [ -z "$device" ]; then
	device=$(rdma='' ask '(r["choices"] or [{"rdma": (f("devx.opens") or {"subject": ""})["subject"]}])[0]["rdma"]')
fi
[ -n "$device" ] || die "no device that opens; carillon-doctor says: $("$doctor" | head -n 12)"

sys=${SYSFS_PATH:-/sys}
case $device in
*:*) bdf=$device rdma=$(basename "$(echo "$sys/bus/pci/devices/$bdf/infiniband/"*)") ;;
*) rdma=$device bdf=$(basename "$(readlink -f "$sys/class/infiniband/$rdma/device")") ;;
esac
[ -e "$sys/class/infiniband/$rdma" ] || die "there is no RDMA device $device"
eal=(-l '0,1' --no-huge -m 256 --no-shconf --no-telemetry --file-prefix "first-card-$$" -a "$bdf")
dmesg >"$work/dmesg.before" 2>/dev/null || : >"$work/no-dmesg"
printf 'first-card: %s at %s\n' "$rdma" "$bdf"

# 1 to 4: what the doctor and ibv_devinfo say
stops=$(rdma='' ask '" ".join(x["id"] for x in r["findings"] if x["level"] == "stop") or "nothing"')
judge doctor "$stops" [ "$stops" = nothing ]
ibv_devinfo -d "$rdma" >"$work/devinfo" 2>&1
part=$(awk '/vendor_part_id:/ { print $2 }' "$work/devinfo")
judge devinfo "vendor_part_id ${part:-none}, PCI $(cat "$sys/bus/pci/devices/$bdf/device")" \
	[ "$((${part:-0}))" = "$(($(cat "$sys/bus/pci/devices/$bdf/device")))" ]
seen=$(ask '(f("devx.opens") or f("devx.refused") or {"evidence": "nothing"})["evidence"]')
size=$(printf '%s' "$seen" | sed -n 's/.*log_max_wq_sz \([0-9]*\).*/\1/p')
judge devx "$seen" [ "${size:-0}" -ge 10 -a "${size:-0}" -le 20 ]
seen=$(ask 'next((x["evidence"] for x in r["findings"] if x["check"] == "uar" and x["subject"] == device), "nothing")')
version=$(rdma='' ask 'next(x["evidence"] for x in r["findings"] if x["check"] == "rdma-core")' |
	sed -n 's/.*\.so\.[0-9]*\.[0-9]*\.\([0-9]*\).*/\1/p')
kind=bf
[ "${version:-0}" -lt 45 ] || kind=nc_dedicated
judge uar "$seen, rdma-core ${version:-?}" [ "${seen##* }" = "$kind" ]

# 5 to 15: no cable needed
timeout --foreground 60 "$probe" "$rdma" >"$work/probe" 2>&1
for name in open queue nop laps quiet key key-signature flush bounds bounds-signature again; do
	seen=$(sed -n "s/^$name \(ok\|bad\) //p" "$work/probe" | tail -n 1)
	judge "$name" "${seen:-card_probe did not get there: $(tail -n 1 "$work/probe")}" \
		grep -q "^$name ok" "$work/probe"
done

# 16 to 18: frames
run_testpmd()
{
	timeout --foreground 60 "$testpmd" "${eal[@]}" "${@:2}" >"$work/$1.log" 2>&1
}

sent()
{
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
print(sum(p["tx_packets"] for p in r["ports"]))' "$work/$1.json" 2>/dev/null || echo 0
}

check_send()
{
	local rc

	run_testpmd send -- --forward-mode=txonly --duration=2 --json="$work/send.json"
	rc=$?
	judge send "status $rc, $(sent send) frames; $(grep -m 1 'carillon-testpmd: ' "$work/send.log")" \
		[ "$rc" = 0 -a "$(sent send)" -gt 0 ]
}

check_receive()
{
	local rc

	if [ "$loop" = 0 ]; then
		verdict receive not-run 'needs --loop: a loopback plug in the port'
		return
	fi
	timeout --foreground 60 "$packet" "${eal[@]}" >"$work/packet.log" 2>&1
	rc=$?
	judge receive "status $rc; $(tail -n 3 "$work/packet.log")" [ "$rc" = 0 ]
}

check_kill()
{
	local pid rc

	"$testpmd" "${eal[@]}" -- --forward-mode=txonly --duration=30 >"$work/kill.log" 2>&1 &
	pid=$!
	for _ in $(seq 100); do
		grep -q '^Path of port' "$work/kill.log" && break
		sleep 0.1
	done
	sleep 0.5
	kill -9 "$pid" 2>/dev/null
	wait "$pid" 2>/dev/null
	run_testpmd after -- --forward-mode=txonly --duration=1 --json="$work/after.json"
	rc=$?
	judge kill "status $rc after it, $(sent after) frames" [ "$rc" = 0 -a "$(sent after)" -gt 0 ]
}

for name in send receive kill; do
	if [ "$frames" = 1 ]; then "check_$name"; else verdict "$name" not-run '--no-frames'; fi
done

# 19 and 20
if [ -n "${SYSFS_PATH:-}" ]; then
	verdict log not-run 'a software NIC has no kernel driver'
elif [ -e "$work/no-dmesg" ]; then
	verdict log not-run 'this user may not read the kernel log'
else
	new=$(dmesg | tail -n "+$(($(wc -l <"$work/dmesg.before") + 1))" | grep -E 'mlx5.*(rror|failed|dump)')
	judge log "${new:-nothing}" [ -z "$new" ]
fi
if [ "$frames" = 0 ]; then
	verdict gpu not-run '--no-frames'
elif [ -e /proc/driver/nvidia/version ]; then
	run_testpmd gpu --vdev=gpu_crl_cuda0 -- --gpu=gpu_crl_cuda0 --forward-mode=txonly --duration=2 \
		--json="$work/gpu.json"
	rc=$?
	judge gpu "status $rc, $(sent gpu) frames; $(grep -m 1 'carillon-testpmd: ' "$work/gpu.log")" \
		[ "$rc" = 0 -a "$(sent gpu)" -gt 0 ]
else
	verdict gpu not-run 'no NVIDIA driver here'
fi

printf '%s\n' "$table" >"$work/table"
python3 - "$work" "$out" "$rdma" "$(cat "$sys/class/infiniband/$rdma/fw_ver" 2>/dev/null)" \
	"$(cat "$sys/bus/pci/devices/$bdf/device")" "${SYSFS_PATH:+softcx}" <<'EOF'
import json, os, platform, sys
work, out, rdma, firmware, device, software = sys.argv[1:7]
seen = {}
for line in open(os.path.join(work, "results"), encoding="utf-8", errors="replace"):
    name, verdict, text = line.rstrip("\n").split("\t")
    seen[name] = (verdict, text)
checks = []
for line in open(os.path.join(work, "table"), encoding="utf-8"):
    number, name, predicted, retires = line.rstrip("\n").split("|")
    verdict, text = seen.get(name, ("not-run", "the script did not get there"))
    checks.append({"number": int(number), "name": name, "predicted": predicted, "verdict": verdict,
                   "seen": text, "retires": retires if verdict == "as-predicted" and not software else ""})
report = {"kit": 1, "software": bool(software), "pci_device": device, "firmware": firmware,
          "kernel": platform.release(), "machine": platform.machine(), "checks": checks,
          "doctor": json.load(open(os.path.join(work, "doctor.json"), encoding="utf-8"))}
with open(out, "w", encoding="utf-8") as file:
    json.dump(report, file, indent=1)
count = {v: sum(c["verdict"] == v for c in checks) for v in ("as-predicted", "otherwise", "not-run")}
print(f"first-card: {count['as-predicted']} as predicted, {count['otherwise']} otherwise, "
      f"{count['not-run']} not run; all of it in {out}")
sys.exit(count["otherwise"] != 0)
EOF
