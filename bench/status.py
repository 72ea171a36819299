#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""status.py AIRLOCK DIR: git_status and git_diff where the index matters, beside plain git.

Plain git writes no index either: --no-optional-locks, and a lock of the index where it is stale.
Measured in turn, call by call; the medians of the later calls count.  The repositories
are made in DIR, once.
"""
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import mcp_client

ROUNDS, FIRST = 31, 4  # the first calls fill caches
MANY, STALE, LOOSE = 100000, 5000, 20000
STATUS = ("status", "--porcelain=1", "-b", "--ignore-submodules=dirty")
LISTED = ("status", "--porcelain=v2", "--branch", "--no-ahead-behind", "-z",
          "--untracked-files=all", "--find-renames", "--ignore-submodules=dirty")
DIFF = ("diff", "--no-ext-diff", "--no-textconv", "--ignore-submodules=dirty", "--")


class Server(mcp_client.Client):
    """`airlock serve` with one toolset."""

    def __init__(self, airlock, root, state, toolset):
        super().__init__(airlock, "--root", root, "--toolset", toolset,
                         env={**os.environ, "XDG_STATE_HOME": state})


def git(where, *words, **named):
    subprocess.run(["git", "-C", where, *words], check=True, **named)


def make(where, files, loose=0):
    """A repository of so many files, a hundred in each directory, and so many untracked ones."""
    if os.path.exists(where + ".done"):
        return where
    shutil.rmtree(where, ignore_errors=True)
    subprocess.run(["git", "init", "-q", "-b", "main", where], check=True)
    with subprocess.Popen(["git", "-C", where, "fast-import", "--quiet"],
                          stdin=subprocess.PIPE) as feed:
        feed.stdin.write(b"commit refs/heads/main\n"
                         b"committer C O Mitter <committer@example.com> 1600000000 +0000\n"
                         b"data 4\nall\n\n")
        for i in range(files):
            body = b"line %d of this file\n" % i * 12
            feed.stdin.write(b"M 100644 inline src/part%04d/file%02d.c\ndata %d\n%s\n"
                             % (i // 100, i % 100, len(body), body))
    git(where, "reset", "-q", "--hard")
    for i in range(loose):
        os.makedirs(f"{where}/loose/{i // 100}", exist_ok=True)
        with open(f"{where}/loose/{i // 100}/{i}", "wb"):
            pass
    # Files as young as their index are read each time.
    time.sleep(2)
    os.unlink(os.path.join(where, ".git", "index"))
    git(where, "reset", "-q")
    with open(where + ".done", "wb"):
        pass
    return where


def bare(where, words):
    # Like airlock's reader: everything is read, and nothing else happens with it.
    subprocess.run(["git", "--no-optional-locks", *words], cwd=where, stdout=subprocess.PIPE, check=True)


def compare(title, airlock, ours, theirs, tool, words, budget, toolset="git"):
    """A line of the table; False when it is over the budget."""
    state = tempfile.mkdtemp()
    server = Server(airlock, ours, state, toolset)
    times = ([], [])
    for number in range(ROUNDS):
        steps = [lambda: server.call(tool), lambda: bare(theirs, words)]
        for side in (0, 1) if number % 2 else (1, 0):
            began = time.perf_counter()
            steps[side]()
            times[side].append((time.perf_counter() - began) * 1e3)
    server.close()
    shutil.rmtree(state)
    pairs = [a / b for a, b in zip(*times)][FIRST:]
    ratio, good = statistics.median(pairs), statistics.median(pairs) <= budget
    own, plain = (statistics.median(side[FIRST:]) for side in times)
    print(f"{title:<34} {plain:6.2f} ms {own:6.2f} ms {ratio:7.3f} "
          f"{sorted(pairs)[len(pairs) * 95 // 100]:7.3f}  {f'<= {budget:.2f}':<22} "
          f"{'pass' if good else 'OVER'}", flush=True)
    return good


def stale(where, name):
    """A copy, as after a restore: every inode and time of change is another one."""
    copy = f"{where}-{name}"
    shutil.rmtree(copy, ignore_errors=True)
    subprocess.run(["cp", "-r", where, copy], check=True)
    # `git diff` refreshes the index whatever its options are.
    with open(os.path.join(copy, ".git", "index.lock"), "wb"):
        pass
    return copy


def main():
    airlock, top = sys.argv[1:]
    many = make(os.path.join(top, "many"), MANY)
    few = make(os.path.join(top, "few"), STALE)
    loose = make(os.path.join(top, "loose"), STALE, LOOSE)
    ours, theirs = stale(few, "ours"), stale(few, "theirs")
    time.sleep(2)
    print(f"\n{'working trees':<34} {'bare':>9} {'airlock':>9} {'median':>7} {'p95':>7}  budget")
    good = [
        compare(f"git_status, {MANY:,} files", airlock, many, many, "git_status", STATUS, 1.05),
        compare(f"git_status, stale, {STALE:,} files", airlock, ours, theirs, "git_status",
                STATUS, 1.05),
        compare(f"git_diff, stale, {STALE:,} files", airlock, ours, theirs, "git_diff", DIFF,
                1.05),
        compare(f"git_status, {LOOSE:,} untracked", airlock, loose, loose, "git_status", STATUS,
                1.05),
        compare(f"workflow git_status, {LOOSE:,}", airlock, loose, loose, "git_status", LISTED,
                1.05, "workflow"),
    ]
    for copy in (ours, theirs):
        shutil.rmtree(copy)
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
