#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# format.sh [--check] [TREE]: format the C and C++ sources by .clang-format, or name the first line of
# each file that is not formatted.
set -eu
check=
if [ "${1:-}" = --check ]; then
    check=yes
    shift
fi
. "$(dirname "$0")/files.sh"

sources() {
    files '^(src|include|tests|bench)/.*\.(c|h|cc)$'
}

if [ -z "$check" ]; then
    sources | xargs clang-format -i
    exit
fi
complaints=$(sources | xargs clang-format --dry-run 2>&1) || { echo "$complaints"; exit 2; }
echo "$complaints" | awk -F: '
/-Wclang-format-violations/ && !seen[$1]++ { print $1 ":" $2 ": not in the format (make format)" }
/-Wclang-format-violations/ { bad = 1 }
END { exit bad }'
