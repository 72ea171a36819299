#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint.sh quick|full: every static check, as TAP.  `full` adds clang-tidy, which takes a minute.
set -u
cd "$(dirname "$0")/.." || exit 2
number=0
failed=0

check() {
    number=$((number + 1))
    name=$1
    shift
    if output=$("$@" 2>&1); then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        echo "$output" | sed 's/^/#   /'
        failed=1
    fi
}

check 'folders include only what tools/floors.txt allows' tools/check-floors.sh
check 'files and functions are short' tools/check-size.sh
check 'banned functions are not called' tools/check-banned.sh
check 'headers compile alone and say what they promise' tools/check-headers.sh
check 'files carry their licence and no leftovers' tools/check-text.sh
check 'what the documents name is there' tools/check-docs.sh
check 'sources are in the one format' tools/format.sh --check
if [ "${1:-full}" = full ]; then
    check 'clang-tidy finds nothing' tools/tidy.sh
fi
echo "1..$number"
exit $failed
