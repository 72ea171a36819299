#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# fuzz.sh [TARGET...]: build the fuzz targets and run each (or those named) for FUZZ_SECONDS, 60 by
# default and two at a time; one line for each, and failure when one of them found something.
#
# New inputs stay in build-fuzz/corpus for the next run.  `fuzz.sh --merge` copies those that reach
# new code into tests/fuzz/corpora.
set -eu
cd "$(dirname "$0")/.."
build=build-fuzz
corpora=tests/fuzz/corpora
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-halt_on_error=1:print_stacktrace=1}"

# The user sees the short lines below; everything else goes to the log.
run_one() {
    target=$1
    log=$build/fuzz-$target.log
    mkdir -p "$build/corpus/$target" "$build/found"
    if "$build/tests/fuzz/fuzz_$target" -max_total_time="${FUZZ_SECONDS:-60}" -timeout=20 \
        -rss_limit_mb=2048 -print_final_stats=1 -artifact_prefix="$build/found/$target-" \
        "$build/corpus/$target" "$corpora/$target" >"$log" 2>&1; then
        runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
        echo "ok $target: $runs runs in ${FUZZ_SECONDS:-60} s, nothing found"
    else
        input=$(sed -n 's/.*Test unit written to //p' "$log")
        echo "not ok $target: see $log${input:+, fed $input}"
        return 1
    fi
}

merge_one() {
    mkdir -p "$build/corpus/$1"
    "$build/tests/fuzz/fuzz_$1" -merge=1 -use_counters=0 "$corpora/$1" "$build/corpus/$1" >"$build/merge-$1.log" 2>&1
    find "$corpora/$1" -type f | wc -l | sed "s/\$/ inputs for $1/"
}

case ${1:-} in
--one) run_one "$2"; exit ;;
--merge) step=merge; shift ;;
*) step=fuzz ;;
esac
tools/deps.sh fuzz
[ -e $build/build.ninja ] || CC=clang CXX=clang++ meson setup $build -Dfuzz=true \
    -Db_sanitize=address,undefined -Db_lundef=false >/dev/null
[ $# != 0 ] || set -- $(ls $corpora)
for target; do
    echo "tests/fuzz/fuzz_$target"
done | xargs ninja -C $build --quiet
if [ $step = merge ]; then
    for target; do
        merge_one "$target"
    done
else
    printf '%s\n' "$@" | xargs -n 1 -P 2 "$0" --one
fi
