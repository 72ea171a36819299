#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tidy.sh [deep]: clang-tidy over src/, as clang compiles it.  `deep` adds the path-sensitive analyzer,
# which takes many times as long.
set -eu
cd "$(dirname "$0")/.."
[ -e build-clang/build.ninja ] || CC=clang CXX=clang++ meson setup build-clang >/dev/null
analyzer='-clang-analyzer-*'
[ "${1:-}" != deep ] || analyzer=
set --
. tools/files.sh
files '^src/.*\.c$' |
    xargs -P "$(nproc)" -n 4 clang-tidy -p build-clang --quiet --checks="$analyzer" 2>/dev/null
