#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# tidy.sh: clang-tidy with the checks of .clang-tidy over src/, as clang compiles it.
set -eu
cd "$(dirname "$0")/.."
[ -e build-clang/build.ninja ] || CC=clang CXX=clang++ meson setup build-clang >/dev/null
. tools/files.sh
files '^src/.*\.c$' | xargs -P "$(nproc)" -n 4 clang-tidy -p build-clang --quiet 2>/dev/null
