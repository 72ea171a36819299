#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-docs.sh [TREE]: every file that the documents name exists.
#
# A path in backticks below src, tests, tools, bench, docs or man, and the target of a relative link,
# must exist.  A path with a placeholder (<name>, *, …) is not checked.
set -eu
. "$(dirname "$0")/files.sh"

files '\.md$' | while IFS= read -r page; do
    {
        grep -noE '`(src|tests|tools|bench|docs|man)/[A-Za-z0-9_./-]+`' "$page" | tr -d '`'
        grep -nE '\]\([^):#]+(#[^)]*)?\)' "$page" |
            sed -E 's/^([0-9]+):.*\]\(([^):#]+)(#[^)]*)?\).*/\1:LINK\2/'
    } | while IFS=: read -r line path; do
        case $path in
        LINK*) path=$(dirname "$page")/${path#LINK} ;;
        esac
        [ -e "$path" ] || echo "$page:$line: there is no $path"
    done
done | sort -u | {
    bad=0
    while IFS= read -r complaint; do
        echo "$complaint"
        bad=1
    done
    exit $bad
}
