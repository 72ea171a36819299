#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# check-docs.sh [TREE]: every file that the documents name exists, and the documents are short.
#
# A path in backticks below src, tests, tools, bench, docs or man, and the target of a relative link,
# must exist.  A path with a placeholder (<name>, *, …) is not checked.
# README and docs have 20,000 words together; what the program prints of itself does not count.  README
# has 175 lines, of which the first 25 are its first screen.
set -eu
. "$(dirname "$0")/files.sh"

readme=$(wc -l <README.md)
screen=$(sed -n '1,/^## /p' README.md | sed '$d' | wc -l)
words=$(files '^(README|docs/.*)\.md$' | grep -v '^docs/REFERENCE\.md$' | xargs cat | wc -w)

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
    [ "$words" -le 20000 ] || { echo "README.md, docs: $words words, of 20000"; bad=1; }
    [ "$readme" -le 175 ] || { echo "README.md: $readme lines, of 175"; bad=1; }
    [ "$screen" -le 25 ] || { echo "README.md: a first screen of $screen lines, of 25"; bad=1; }
    while IFS= read -r complaint; do
        echo "$complaint"
        bad=1
    done
    exit $bad
}
