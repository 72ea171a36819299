#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-rooms.sh [TREE]: no room of src/ has more code lines than its ceiling in tools/rooms.txt.
# check-rooms.sh --lower: put the ceilings down to what the rooms have now.
#
# A code line is neither blank nor a comment.  Each row of the table: a room, which is a folder of src/,
# the code lines it shall have in the end, and those it may have now.  A budget and a ceiling are lowered
# when a room got smaller, never raised.
set -eu
lower=
if [ "${1:-}" = --lower ]; then
    lower=1
    shift
fi
. "$(dirname "$0")/files.sh"

table=tools/rooms.txt
[ -z "$lower" ] || trap 'rm -f "$table.new"' EXIT
files '^src/.*/' | { echo "$table"; cat; } | xargs awk -v table="$table" -v lower="$lower" '
function complain(why) {
    print why
    bad = 1
}
function room_of(path) {
    split(path, part, "/")
    if (!(part[2] in ceiling))
        complain(path ": no room of " table " has this folder")
    return part[2]
}
# What is left of a line of C without its comments; what strings say is left out as well.
function code(line,   rest) {
    rest = ""
    while (line != "") {
        if (comment) {
            if (!match(line, /\*\//))
                return rest
            comment = 0
        } else if (!match(line, /"(\\.|[^"\\])*"|\047(\\.|[^\047\\])*\047|\/\/.*|\/\*/)) {
            return rest line
        } else {
            rest = rest substr(line, 1, RSTART - 1)
            if (substr(line, RSTART, 2) == "/*")
                comment = 1
            else if (substr(line, RSTART, 2) != "//")
                rest = rest "x"
        }
        line = substr(line, RSTART + RLENGTH)
    }
    return rest
}
FILENAME == table {
    text[++rows] = $0
    if ($0 ~ /^#/ || NF < 3)
        next
    name[rows] = $1
    budget[$1] = $2
    ceiling[$1] = $3
    next
}
FNR == 1 {
    comment = 0
    is_c = FILENAME ~ /\.(c|h|cc)$/
    here = room_of(FILENAME)
}
is_c ? code($0) ~ /[^ \t]/ : !/^[ \t]*(#|$)/ { lines[here]++ }
END {
    printf "%-10s %8s %8s %8s\n", "room", "code", "ceiling", "budget"
    for (i = 1; i <= rows; i++) {
        if (!(i in name))
            continue
        r = name[i]
        printf "%-10s %8d %8d %8d%s\n", r, lines[r], ceiling[r], budget[r],
            (lines[r] > ceiling[r] ? "   over its ceiling" : lines[r] > budget[r] ? "" : "   within its budget")
        if (lines[r] > ceiling[r])
            bad = 1
        now += lines[r]
        most += ceiling[r]
        goal += budget[r]
        if (lines[r] < ceiling[r])
            sub(" " ceiling[r] "$", sprintf(" %" length(ceiling[r]) "d", lines[r]), text[i])
    }
    printf "%-10s %8d %8d %8d\n", "all", now, most, goal
    for (i = 1; lower && i <= rows; i++)
        print text[i] >(table ".new")
    exit bad
}'
[ -z "$lower" ] || mv "$table.new" "$table"
