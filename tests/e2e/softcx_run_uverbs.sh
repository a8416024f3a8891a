#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# The uverbs front against a driver that makes mistakes (softcx_run_uverbs.c): Linux's errno for each,
# a line in the log for each, and a device that is dead in a child.
. "$(dirname "$0")/lib.sh"
e2e_begin "$UVERBS"

"$SOFTCX" run --log "$T/log" -- "$UVERBS" || fail "mistakes"
for words in 'attribute 0x1 is missing' 'comes twice' 'is not known' 'no handle 9999' 'of another kind' \
	'not all mapped writable' 'remote write without local write' 'no dma-buf' 'pgsz_bitmap' \
	'names another object' 'not one for this method'; do
	grep -q "$words" "$T/log" || fail "the log does not say: $words"
done
"$SOFTCX" run --log "$T/log" -- "$UVERBS" fork || fail "the device in a child"
