#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# carillon-doctor on a software ConnectX finds nothing that stops Carillon; without one, only that
# there is none.
. "$(dirname "$0")/../lib.sh"
e2e_begin python3

# ids LEVEL: what the JSON in $T/json says at that level
ids()
{
	python3 -c 'import json, sys
for f in json.load(open(sys.argv[1]))["findings"]:
    if f["level"] == sys.argv[2]:
        print(f["id"])' "$T/json" "$1" | sort -u | tr '\n' ' '
}

"$SOFTCX" run --ports 2 -- "$CARILLON_DOCTOR" --json >"$T/json" 2>"$T/err"
is 'status on softcx' $? 0
is 'what stops on softcx' "$(ids stop)" ''
for id in nic.model nic.driver rdma.node firmware.version devx.opens link.up dpdk.version \
	place.softcx; do
	case " $(ids ok)" in
	*" $id "*) ;;
	*) fail "$id is not well on softcx: $(cat "$T/json")" ;;
	esac
done
is 'devices opened' "$(grep -c '"id":"devx.opens"' "$T/json")" 2

for profile in cx5 cx7 bf3; do
	"$SOFTCX" run --profile=$profile -- "$CARILLON_DOCTOR" --json >"$T/json" 2>"$T/err"
	is "status on $profile" $? 0
	is "what stops on $profile" "$(ids stop)" ''
	is "what is doubted of $profile" "$(ids warn | tr ' ' '\n' | grep -v '^hugepages')" ''
done

"$SOFTCX" run -- "$CARILLON_DOCTOR" >"$T/out" 2>"$T/err"
is 'status of the text' $? 0
grep -q '^doctor: 0 stop' "$T/out" || fail "the text ends otherwise: $(tail -n 1 "$T/out")"

# A machine without a NIC: where this one has a real one, there is nothing to test.
if ! grep -qs 0x15b3 /sys/bus/pci/devices/*/vendor; then
	"$CARILLON_DOCTOR" --json >"$T/json" 2>"$T/err"
	is 'status without a NIC' $? 1
	is 'what stops without a NIC' "$(ids stop)" 'nic.none '
fi
