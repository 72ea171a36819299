# SPDX-License-Identifier: Apache-2.0
# Sourced by the tests of the checkers.  A sample is a small tree in a scratch directory: `put` adds a
# file to it; `accepts` and `refuses` run the checker on it and start a new sample.
set -u
top=$(cd "$(dirname "$0")/../.." && pwd)
sample=$(mktemp -d)
trap 'rm -rf "$sample"' EXIT
number=0

put() { # NAME; the content comes on standard input
    mkdir -p "$sample/$(dirname "$1")"
    cat >"$sample/$1"
}

verdict() { # ok|not ok, TITLE
    number=$((number + 1))
    echo "$1 $number - $2"
}

begin() {
    rm -rf "$sample"
    mkdir "$sample"
    ! command -v base >/dev/null || base
}

accepts() { # TITLE
    if output=$("$top/$checker" "$sample" 2>&1); then
        verdict ok "accepts $1"
    else
        verdict 'not ok' "accepts $1"
        echo "$output" | sed 's/^/# /'
    fi
    begin
}

refuses() { # TITLE, WORDS that the complaint contains
    if output=$("$top/$checker" "$sample" 2>&1); then
        verdict 'not ok' "refuses $1"
    elif echo "$output" | grep -qF -- "$2"; then
        verdict ok "refuses $1"
    else
        verdict 'not ok' "refuses $1 for the right reason"
        echo "$output" | sed 's/^/# /'
    fi
    begin
}

finish() {
    echo "1..$number"
}
