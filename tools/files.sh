# SPDX-License-Identifier: Apache-2.0
# Sourced by the checkers: changes to the tree to check ($1, by default this repository) and defines
# `files`, which lists the project's files that match an extended regular expression.
cd "${1:-$(dirname "$0")/..}" || exit 2

files() {
    if [ -e .git ]; then
        git ls-files --cached --others --exclude-standard
    else
        find . -type f -not -path './build*' | sed 's|^\./||'
    fi | LC_ALL=C sort -u | grep -E "$1" | while IFS= read -r name; do
        [ ! -f "$name" ] || printf '%s\n' "$name"
    done
}
