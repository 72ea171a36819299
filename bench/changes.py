#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""changes.py AIRLOCK SMALL DIR: changing calls beside the same git commands, checkpoints included,
in the repository SMALL and in one of 100,000 files, 100 in each directory, made in DIR once.

Each side has a copy of the repository.  The two are measured in turn, round by round, and the
medians count.  Git's side is a process that Python starts, from before its start until after its
end.  Airlock's is a call of a server that runs, from the request to the answer, with the
checkpoints before and after and the lines of the journal.  Rows that begin with two spaces, and a
rebase in the small repository, have no budget.
"""
import contextlib
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import mcp_client
import status

ROUNDS = {"small": 30, "large": 8}
TOOLSETS = ("git", "workflow", "everyday")  # git_rebase is only in the last
BUDGETS = {"small": (1.5, 3.0), "large": (1.3, 0.0)}  # times git, or so many milliseconds more
# A command that takes git less than SHORT_MS does not look at the 100,000 files (git checkout -b).
# What airlock adds to it is the same in every repository: reading the request, the lock, two
# checkpoints, a synchronised record, a confined child.  That is more than 0.3 times 2.5 ms, and it
# must not grow with the files.  So SHORT_MORE_MS more is good, too, which is less than the 3 ms of a
# small repository.
SHORT_MS, SHORT_MORE_MS = 6.0, 2.0
UNJUDGED = {("small", "git_rebase, ten commits")}  # no budget names it


class Side:
    """A copy of the repository, and what is done in it."""

    def __init__(self, source, where):
        self.where = where
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", source, where], check=True)
        subprocess.run(["git", "remote", "remove", "origin"], cwd=where, check=True)
        subprocess.run(["git", "status"], cwd=where, check=True, stdout=subprocess.DEVNULL)
        names = subprocess.run(["git", "ls-files", "-z"], cwd=where, check=True,
                               capture_output=True).stdout.decode().split("\0")
        self.file = names[len(names) // 2]

    def edit(self, text):
        """Append to a file."""
        with open(os.path.join(self.where, self.file), "a", encoding="utf-8") as file:
            file.write(text)

    def make_ten(self):
        """A branch of ten commits, to be rebased."""
        self.git("checkout", "-b", "ten")
        for number in range(10):
            pathlib.Path(self.where, f"ten{number}").write_text("new\n", encoding="ascii")
            self.git("add", f"ten{number}")
            self.git("commit", "-q", "-m", f"feat: {number}")
        self.git("checkout", "-")

    def git(self, *words):
        """Milliseconds that a command takes."""
        begin = time.perf_counter()
        subprocess.run(["git", *words], cwd=self.where, check=True, stdout=subprocess.DEVNULL,
                       stderr=subprocess.DEVNULL)
        return 1000 * (time.perf_counter() - begin)


class Server(Side):
    """A copy with `airlock serve` in it."""

    def __init__(self, airlock, source, where):
        super().__init__(source, where)
        self.airlock = airlock
        self.client = mcp_client.Client(
            airlock, "--root", where, "--approval", "allow",
            *(word for name in TOOLSETS for word in ("--toolset", name)), cwd=where)

    def call(self, tool, **arguments):
        """Milliseconds that a call takes."""
        begin = time.perf_counter()
        self.client.call(tool, **arguments)
        return 1000 * (time.perf_counter() - begin)

    def rollback(self):
        """Milliseconds that a rollback of the last execution takes."""
        begin = time.perf_counter()
        subprocess.run([self.airlock, "rollback"], cwd=self.where, check=True,
                       stdout=subprocess.DEVNULL)
        return 1000 * (time.perf_counter() - begin)

    def close(self):
        self.client.close()


def one_round(ours, theirs, number, note):
    """Every call once, and the same commands."""
    branch = f"bench{number}"

    def pair(title, words, tool, **arguments):
        bare = theirs.git(*words)
        note(title, bare, ours.call(tool, **arguments))

    for side in (ours, theirs):
        side.edit(f"{number}\n")
    pair("git_add, one file", ("add", theirs.file), "git_add", paths=[ours.file])
    pair("git_commit", ("commit", "-q", "-m", "fix: x"), "git_commit", type="fix", message="x")
    pair("git_checkout, create_branch", ("checkout", "-b", branch), "git_checkout",
         create_branch=branch)
    for side in (ours, theirs):
        side.edit(f"stashed {number}\n")
    pair("git_stash, push", ("stash", "push"), "git_stash", action="push")
    pair("git_stash, pop", ("stash", "pop"), "git_stash", action="pop")
    pair("git_restore, one file", ("restore", theirs.file), "git_restore", paths=[ours.file])
    pair("git_checkout, branch", ("checkout", "side"), "git_checkout", branch="side")
    pair("git_merge", ("merge", "--no-ff", "-m", "x", branch), "git_merge", branch=branch,
         message="x", noFf=True)
    note("  merge rolled back (git reset --keep)", theirs.git("reset", "--keep", "HEAD~"),
         ours.rollback())
    for side in (ours, theirs):
        side.git("checkout", "-B", "rebased", "ten")
    pair("git_rebase, ten commits", ("rebase", branch), "git_rebase", onto=branch)
    note("  rebase rolled back (git reset --keep)", theirs.git("reset", "--keep", "ten"),
         ours.rollback())
    theirs.git("checkout", branch)
    ours.git("checkout", branch)


def compare(airlock, source, size, scratch):
    """The rows of one repository; whether all are within their budgets."""
    times, good = {}, True
    theirs = Side(source, os.path.join(scratch, size + "-git"))
    with contextlib.closing(Server(airlock, source, os.path.join(scratch, size))) as ours:
        for side in (ours, theirs):
            side.git("branch", "side")
            side.make_ten()
        ours.call("git_branch", create="warm")
        ours.edit("warm\n")
        ours.call("git_restore", paths=[ours.file])
        for number in range(ROUNDS[size]):
            one_round(ours, theirs, number,
                      lambda title, *pair: times.setdefault(title, []).append(pair))
    for title, pairs in times.items():
        bare, spent = (statistics.median(column) for column in zip(*pairs))
        factor, slack = BUDGETS[size]
        if size == "large" and bare < SHORT_MS:
            slack = SHORT_MORE_MS
        budget = f"<= {factor:.2f}" + (f" or +{slack:.1f} ms" if slack else "")
        fits = spent <= factor * bare or spent <= bare + slack
        measured = title.startswith("  ") or (size, title) in UNJUDGED
        good &= fits or measured
        print(f"{title:38} {bare:6.2f} ms {spent:6.2f} ms {spent / bare:7.3f} {'':7}  "
              f"{'' if measured else budget:22} {'' if measured else 'pass' if fits else 'OVER'}",
              flush=True)
    return good


def main():
    airlock = str(pathlib.Path(sys.argv[1]).resolve())
    scratch = tempfile.mkdtemp(prefix="airlock-bench-")
    good = True
    large = status.make(os.path.join(sys.argv[3], "many"), status.MANY)
    try:
        os.environ["XDG_STATE_HOME"] = os.path.join(scratch, "state")
        for size, source, title in (("small", sys.argv[2], "small repository"),
                                    ("large", large, f"{status.MANY:,} files")):
            print(f"\n{'changes, ' + title:38} {'git':>9} {'airlock':>9} "
                  f"{'median':>7} {'':7}  budget")
            good &= compare(airlock, source, size, scratch)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
