#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# run.sh BUILD: make the repositories in BUILD/bench-repo (once) and run the benchmark.
#
#   small  100 files, 100 commits        reading and changing tools, the shell, upstream servers, HTTP
#   big    20,000 files, 20,000 commits  reading tools, output past the cap, checkpoints
#   many   100,000 files, one commit     git_status and changing tools (status.py and changes.py)
#   few    5,000 files                   git_status and git_diff with a stale index (status.py)
#   loose  5,000 files, 20,000 untracked git_status (status.py)
#
# BENCH_REPO names a repository to use in place of `big`; nothing is written to it.  Copies that are
# changed are made below TMPDIR.  docs/PERFORMANCE.md has the budgets and what was measured.
set -eu
build=$(cd "$1" && pwd)
here=$(dirname "$0")

# Both sides get a home of their own, so that the user's configuration is not measured.
home=$(mktemp -d)
trap 'rm -rf "$home"' EXIT
printf '[user]\n\tname = A U Thor\n\temail = author@example.com\n[safe]\n\tdirectory = *\n' >"$home/.gitconfig"
# A terminal has a UTF-8 locale, as airlock's git has: loading it is part of both sides' time.
export LC_ALL=C.UTF-8
export HOME="$home" XDG_CONFIG_HOME="$home/.config" XDG_STATE_HOME="$home/.state" GIT_CONFIG_NOSYSTEM=1

small=$build/bench-repo/small
big=${BENCH_REPO:-$build/bench-repo/big}
[ -d "$small/.git" ] || python3 "$here/make-repo.py" "$small" 100 100
if [ -z "${BENCH_REPO:-}" ] && [ ! -e "$big.done" ]; then
    rm -rf "$big"
    echo 'Making a repository of 20,000 commits and 20,000 files (once).'
    python3 "$here/make-repo.py" "$big" 20000 20000
    touch "$big.done"
fi
big=$(cd "$big" && git rev-parse --show-toplevel)
echo "small: $(git -C "$small" rev-list --count HEAD) commits, $(git -C "$small" ls-files | wc -l) files;" \
    "big: $(git -C "$big" rev-list --count HEAD) commits, $(git -C "$big" ls-files | wc -l) files;" \
    "$(git version), $(nproc) cores"
# A file to blame: any file whose name needs no quoting.
a_file()
{
    git -C "$1" ls-files | grep -m 1 -x '[A-Za-z0-9_./-]*'
}
good=true
"$build/bench/bench" "$build/airlock" "$small" "$(a_file "$small")" "$big" "$(a_file "$big")" || good=false

# The checkpoint benchmark changes files, so it gets a copy with its own working tree.
rm -rf "$build/bench-repo/copy"
git clone -q "$big" "$build/bench-repo/copy"
"$build/bench/checkpoint" "$(command -v git)" "$build/bench-repo/copy" "$(a_file "$build/bench-repo/copy")" || good=false
rm -rf "$build/bench-repo/copy"

python3 "$here/status.py" "$build/airlock" "$build/bench-repo" || good=false
python3 "$here/changes.py" "$build/airlock" "$small" "$build/bench-repo" || good=false
python3 "$here/shell.py" "$build/airlock" "$small" "$big" || good=false
python3 "$here/staging.py" "$build/airlock" || good=false
python3 "$here/upstream.py" "$build/airlock" "$small" || good=false
python3 "$here/http.py" "$build/airlock" "$small" || good=false
$good
