#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
#
# Everything that must hold before a change lands: sets up, builds with warnings as errors, runs all
# tests, lets kernels in virtual machines judge (tests/guest/run --quick), then builds with
# AddressSanitizer and UBSan and runs the tests that need no wire again, then lets libFuzzer look for
# new mistakes for three minutes (tests/fuzz). CI runs this file and nothing else. Exit status 0 means
# that every test that could run passed; the last line counts them: "N passed, N failed, N skipped".
#
# CRL_CHECK=quick   only the first build and the suites that take seconds (unit, golden, ptx, style)
# CRL_CHECK=full    all (the default)
# CRL_FUZZ_SEED=N   the fuzzers' seed (default 1)
# CRL_GUEST=allow-not-run   where no Debian mirror can be reached: guests that cannot run are skipped
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
export LC_ALL=C

case ${1:-} in
'') ;;
-h | --help)
	sed -n '4,/^set /s/^# \{0,1\}//p' config/check.sh
	exit 0
	;;
*)
	echo "check: '$1' is no option; there are none but --help, and CRL_CHECK=quick" >&2
	exit 2
	;;
esac
mode=${CRL_CHECK:-full}
case $mode in
quick | full) ;;
*)
	echo "check: CRL_CHECK is '$mode'; it can be quick or full" >&2
	exit 2
	;;
esac
jobs=$(nproc)
logs=()
status=0

say() { printf '\n== %s (%d s so far)\n' "$*" "$SECONDS"; }

# build DIR MESON-OPTIONS...: configure once, then build (all, or $build_target). A build that fails ends
# the check.
build() {
	local dir=$1 log=$1/check.log
	shift
	mkdir -p "$dir"
	if [ -f "$dir/build.ninja" ]; then
		meson configure "$dir" "$@" >"$log" 2>&1 ||
			meson setup --wipe "$dir" "$@" >"$log" 2>&1
	else
		meson setup "$dir" "$@" >"$log" 2>&1
	fi || {
		tail -n 30 "$log"
		echo "check: meson setup $dir failed"
		exit 1
	}
	# shellcheck disable=SC2086 # no target means all of them
	if ! ninja -C "$dir" -j "$jobs" ${build_target:-} >"$log" 2>&1; then
		grep -E -A6 '^FAILED|error:|undefined reference' "$log" | head -n 60
		echo "check: the build in $dir failed; all of its output is in $log"
		exit 1
	fi
}

# run_tests DIR MESON-TEST-OPTIONS...
run_tests() {
	local dir=$1
	shift
	# A log of an earlier run must not be counted as this one's.
	rm -f "$dir/meson-logs/testlog.json"
	meson test -C "$dir" --no-rebuild --print-errorlogs --num-processes "$jobs" "$@" || status=1
	logs+=("$dir/meson-logs/testlog.json")
}

say "set up"
config/setup.sh || exit 1

say "build with gcc, warnings are errors"
build build-check -Dwerror=true -Dbuildtype=debugoptimized

if [ "$mode" = quick ]; then
	run_tests build-check --suite unit --suite golden --suite ptx --suite style
else
	say "all tests"
	run_tests build-check
	say "virtual machines: QEMU and the newest kernel are fetched once, then some 20 s a case"
	CRL_BUILD=build-check timeout -k 10 1200 tests/guest/run --quick --tally build-check/guest.json \
		--logs build-check/guest ${CRL_GUEST:+"--$CRL_GUEST"} || status=1
	logs+=(build-check/guest.json)
	say "build with AddressSanitizer and UBSan"
	build build-asan -Db_sanitize=address,undefined -Db_lundef=false -Dcuda=disabled \
		-Dbuildtype=debugoptimized
	say "the tests that need no wire, under the sanitizers"
	# halt_on_error: a report that lets the test pass would be a report that nobody reads.
	export UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
	run_tests build-asan --suite unit --suite fail
	say "build the fuzz targets with clang"
	CC=clang build_target=fuzzers build build-fuzz -Dfuzz=true -Dcuda=disabled
	say "fuzz, two targets at a time"
	# One seed and a number of inputs, so that a commit is judged twice alike (tests/fuzz/run says
	# how far that holds); others by hand.
	rm -f build-fuzz/fuzz.json
	tests/fuzz/run --build build-fuzz --seed "${CRL_FUZZ_SEED:-1}" \
		--tally build-fuzz/fuzz.json || status=1
	logs+=(build-fuzz/fuzz.json)
fi

say "done"
/usr/bin/python3 config/tally.py "${logs[@]}" || status=1
exit $status
