#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-floors.sh [TREE]: a folder of src/ includes only what tools/floors.txt allows it.
#
# Seen: .c, .h and .cc; indented and spaced directives; "folder/x.h" and <folder/x.h>.  A folder may
# include itself, but the toolsets (folders in src/tools/) may not include each other.
set -eu
. "$(dirname "$0")/files.sh"

files '^src/.*\.(c|h|cc)$' |
    xargs grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*["<]' /dev/null |
    awk '
NR == FNR {
    floors[$1] = 1
    split($1, part, "/")
    rooms[part[1]] = 1
    for (i = 1; i <= NF; i++)
        allowed[$1, $i] = 1
    next
}
function complain(why) {
    print file[1] ":" file[2] ": " why
    bad = 1
}
# The folder a path of src/ is in; all of tools/ is one.
function folder(path) {
    sub(/\/[^\/]*$/, "", path)
    return path ~ /^tools\// ? "tools" : path
}
function wing(of) {
    return sub(/\/.*/, "/*", of) ? of : ""
}
{
    split($0, file, ":")
    from = substr(file[1], 5)
    split(from, part, "/")
    match($0, /["<][^">]*[">]/)
    name = substr($0, RSTART + 1, RLENGTH - 2)
    depth = split(name, to, "/")
    if (substr($0, RSTART, 1) == "<" && !(to[1] in rooms))
        next
    if (!(folder(from) in floors))
        complain("src/" folder(from) " is not in tools/floors.txt")
    else if (depth == 1)
        complain("\"" name "\" is included without its folder")
    else if (to[1] != "airlock" && !((folder(from), folder(name)) in allowed) &&
             !((folder(from), wing(folder(name))) in allowed))
        complain(folder(from) " may not include " name)
    else if (part[1] == "tools" && to[1] == "tools" && part[3] != "" && depth > 2 && part[2] != to[2])
        complain("toolset " part[2] " may not include toolset " to[2])
}
END { exit bad }' tools/floors.txt -
