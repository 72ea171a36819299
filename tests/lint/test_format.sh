#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
. "$(dirname "$0")/lib.sh"

if ! command -v clang-format >/dev/null; then
    echo '1..0 # SKIP clang-format is not installed'
    exit 0
fi
check() { # ok|not ok expected, TITLE
    mkdir -p "$sample/src"
    cp "$top/.clang-format" "$sample/"
    cat >"$sample/src/a.c"
    if "$top/tools/format.sh" --check "$sample" >/dev/null 2>&1; then got=accepts; else got=refuses; fi
    if [ "$got" = "$1" ]; then verdict ok "$1 $2"; else verdict 'not ok' "$1 $2"; fi
}

check accepts 'the one format' <<'EOT'
int f(int a)
{
    if (a)
        return 1;
    return 0;
}
EOT
check refuses 'another brace' <<'EOT'
int f(int a) {
    return a;
}
EOT
check refuses 'another indent' <<'EOT'
int f(int a)
{
  return a;
}
EOT
finish
