#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-banned.sh [TREE]: no call of a function that tools/banned.txt keeps from the caller's file.
#
# The preprocessor removes the comments and sed the strings; `name(` is then a call, unless the name
# is a member (`x.name(`, `x->name(`).
set -eu
. "$(dirname "$0")/files.sh"

code() {
    case $1 in
    *.cc) lang=c++ ;;
    *) lang=c ;;
    esac
    ${CC:-cc} -x $lang -fpreprocessed -dD -E "$1" 2>/dev/null |
        sed -e 's/"\(\\.\|[^"\\]\)*"/""/g' -e "s/'\\(\\\\.\\|[^'\\\\]\\)'/' '/g"
}

files '^(src|include|tests|bench)/.*\.(c|h|cc)$' | while IFS= read -r file; do
    echo "=== $file"
    code "$file"
done | awk '
function excused(prefixes,    n, k, prefix) {
    n = split(prefixes, prefix, " ")
    for (k = 1; k <= n; k++)
        if (index(file, prefix[k]) == 1)
            return 1
    return 0
}
NR == FNR {
    if ($0 ~ /^#/ || NF == 0)
        next
    names = ""
    for (i = 1; i <= NF && $i !~ /\//; i++)
        names = names " " $i
    may = ""
    for (; i <= NF; i++)
        may = may " " $i
    n = split(names, each, " ")
    for (k = 1; k <= n; k++)
        banned[each[k]] = may " "
    next
}
/^=== / { file = $2; line = 0; next }
/^# [0-9]+ "/ { line = $2 - 1; next }
{
    line++
    rest = $0
    while (match(rest, /[A-Za-z_][A-Za-z0-9_]*[ \t]*\(/)) {
        name = substr(rest, RSTART, RLENGTH - 1)
        sub(/[ \t]+$/, "", name)
        before = RSTART > 1 ? substr(rest, RSTART - 1, 1) : ""
        rest = substr(rest, RSTART + RLENGTH)
        if (!(name in banned) || before == "." || before == ">")
            continue
        if (!excused(banned[name])) {
            print file ":" line ": " name "() is banned here (tools/banned.txt)"
            bad = 1
        }
    }
}
END { exit bad }' tools/banned.txt -
