#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# The suite's ibv_devinfo sees the device, with firmware and an active port.
. /carillon/tests/e2e/lib.sh
e2e_begin ibv_devinfo
"$SOFTCX" run -- ibv_devinfo > "$T/devinfo" 2>&1 || fail "ibv_devinfo: $(tail -n 1 "$T/devinfo")"
cat "$T/devinfo"
grep -q 'fw_ver:.*22.41.1000' "$T/devinfo" || fail "no firmware version"
grep -q 'PORT_ACTIVE' "$T/devinfo" || fail "the port is not active"
