#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# lint.sh quick|test|full: every static check, as TAP.  `test` adds clang-tidy, `full` its analyzer.
set -u
cd "$(dirname "$0")/.." || exit 2
number=0
failed=0

# check NAME [needs PROGRAM] COMMAND...
check() {
    number=$((number + 1))
    name=$1
    shift
    if [ "$1" = needs ]; then
        command -v "$2" >/dev/null || {
            echo "ok $number - $name # SKIP $2 is not installed"
            return
        }
        shift 2
    fi
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
check 'no room has more code than its ceiling' tools/check-rooms.sh
check 'banned functions are not called' tools/check-banned.sh
check 'headers compile alone and say what they promise' tools/check-headers.sh
check 'files carry their licence and no leftovers' tools/check-text.sh
check 'what the documents name is there' tools/check-docs.sh
check 'sources are in the one format' needs clang-format tools/format.sh --check
case ${1:-full} in
quick) ;;
test) check 'clang-tidy finds nothing' needs clang-tidy tools/tidy.sh ;;
*) check 'clang-tidy finds nothing, its analyzer neither' needs clang-tidy tools/tidy.sh deep ;;
esac
echo "1..$number"
exit $failed
