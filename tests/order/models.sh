#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Searches the models of park and of the shared send queue through, and finds each of their planted
# mistakes. Park is 20 thousand states. Of the shared queue three
# producers of two ranges on a ring of two slots are 18 million states: 25 s of a processor, 1 GB.
# With CRL_ORDER=full also four producers of a range each (12 and 16 million states, 18 and 25 s; all
# searched through without an error), and three of two ranges on four slots, which was not tried.
# usage: models.sh SPIN SHARE.PML PARK.PML
set -u
spin=$1 share=$(readlink -f "$2") park=$(readlink -f "$3") bad=0
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1

# search RESULT FLAGS...: RESULT is the number of errors that must be found, 0 or 1
search()
{
	local want=$1 errors depth

	shift
	"$spin" "$@" -a "$model" >spin.log 2>&1 &&
		${CC:-gcc} -O2 -w -DSAFETY -DCOLLAPSE -DMEMLIM=1500 -o pan pan.c &&
		timeout "${SEARCH_S:-300}" ./pan -m400000 -w24 >pan.log 2>&1
	errors=$(sed -n 's/.*errors: \([0-9]*\)$/\1/p' pan.log)
	depth=$(sed -n 's/^ *\([0-9.e+]*\) states, stored.*/\1/p' pan.log)
	echo "$(basename "$model") ${*:-intact}: ${errors:-no} errors, ${depth:-?} states"
	if [ "${errors:-none}" != "$want" ] || { [ "$want" = 0 ] &&
		grep -qE 'max search depth too small|out of memory|Search not completed' pan.log; }; then
		echo "  must be $want: $(tail -n 5 spin.log) $(head -n 5 pan.log)"
		bad=1
	fi
}

model=$park
search 0
for wrong in NO_NUMBER EARLY REARM_ALONE N=4; do
	search 1 "-D$wrong"
done
model=$share
search 0 -DP=2
search 0 -DP=3 -DM=1
search 0 -DP=3 -DM=1 -DGONE
search 0 -DP=2 -DGONE
search 0 -DP=3 -DM=2 -DD=2
if [ "${CRL_ORDER:-}" = full ]; then
	SEARCH_S=3600
	search 0 -DP=4 -DM=1 -DD=2
	search 0 -DP=4 -DM=1 -DD=4
	search 0 -DP=3 -DM=2 -DD=4
fi
for wrong in NO_ROOM NO_TURN EARLY_ROOM TWO_POLLERS; do
	search 1 -DP=2 "-D$wrong"
done
search 1 -DP=2 -DGONE -DNO_FAIL
exit $bad
