#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""changes.py AIRLOCK SMALL DIR: changing calls beside the same git commands, checkpoints included,
in the repository SMALL and in one of 100,000 files, 100 in each directory, made in DIR once.

Each side has a copy of the repository.  The two are measured in turn, round by round, and the
medians count.  Git's side is a process that Python starts, from before its start until after its
end.  Airlock's is a call of a server that runs, from the request to the answer, with the
checkpoints before and after and the lines of the journal.

What a call may cost beside git's own time is counted in `git status` of that tree, and in two
fsyncs of its file system; both are measured in the same round.  The git children of each call are
counted in a round of their own, where git is a script that writes a line.
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
MANY_RESTORED = 20000
REPLAYED = 10  # commits of the rebase


def index_budget(size, bare, looked):
    """A call that writes references or the index."""
    del looked
    return bare + 12 if size == "small" else 1.3 * bare + 60


def files_budget(_, bare, looked):
    """A call that writes files."""
    return bare + 2 * looked + 15


def rebase_budget(_, bare, looked):
    """3 ms more for each commit that is replayed."""
    return files_budget(_, bare, looked) + 3 * REPLAYED


def discard_budget(_, bare, looked):
    """A call that discards many files."""
    return 2 * bare + 2 * looked + 15


def rollback_budget(size, _, looked):
    """A rollback of one execution; in a small repository it has no budget."""
    return 3 * looked + 50 if size == "large" else None


def first_budget(_, bare, __):
    """The first checkpoint; git's side is `git status` with a stale index."""
    return 2 * bare


class Side:
    """A copy of the repository, and what is done in it."""

    def __init__(self, source, where):
        self.where = where
        subprocess.run(["git", "clone", "-q", "--no-hardlinks", source, where], check=True)
        subprocess.run(["git", "remote", "remove", "origin"], cwd=where, check=True)
        subprocess.run(["git", "status"], cwd=where, check=True, stdout=subprocess.DEVNULL)
        names = subprocess.run(["git", "ls-files", "-z"], cwd=where, check=True,
                               capture_output=True).stdout.decode().split("\0")
        self.names = [name for name in names if name]
        self.file = names[len(names) // 2]

    def edit(self, text):
        """Append to a file."""
        with open(os.path.join(self.where, self.file), "a", encoding="utf-8") as file:
            file.write(text)

    def edit_many(self, text):
        """Append to many files."""
        for name in self.names[:MANY_RESTORED]:
            with open(os.path.join(self.where, name), "a", encoding="utf-8") as file:
                file.write(text)

    def two_fsyncs(self):
        """Milliseconds that two small files take until they are on the disk."""
        begin = time.perf_counter()
        for name in ("one", "two"):
            fd = os.open(os.path.join(self.where, ".git", name), os.O_WRONLY | os.O_CREAT, 0o600)
            os.write(fd, name.encode())
            os.fsync(fd)
            os.close(fd)
        return 1000 * (time.perf_counter() - begin)

    def make_ten(self):
        """A branch of ten commits, to be rebased."""
        self.git("checkout", "-b", "ten")
        for number in range(REPLAYED):
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
    looked = theirs.git("status")
    synced = ours.two_fsyncs()

    def pair(title, budget, words, tool, **arguments):
        bare = theirs.git(*words)
        note(title, budget, bare, ours.call(tool, **arguments), looked, synced)

    for side in (ours, theirs):
        side.edit(f"{number}\n")
    pair("git_add, one file", index_budget, ("add", theirs.file), "git_add", paths=[ours.file])
    pair("git_commit", index_budget, ("commit", "-q", "-m", "fix: x"), "git_commit", type="fix",
         message="x")
    pair("git_branch", index_budget, ("branch", branch + "b"), "git_branch", create=branch + "b")
    pair("git_checkout, create_branch", index_budget, ("checkout", "-b", branch), "git_checkout",
         create_branch=branch)
    for side in (ours, theirs):
        side.edit(f"stashed {number}\n")
    pair("git_stash, push", files_budget, ("stash", "push"), "git_stash", action="push")
    pair("git_stash, pop", files_budget, ("stash", "pop"), "git_stash", action="pop")
    pair("git_restore, one file", files_budget, ("restore", theirs.file), "git_restore",
         paths=[ours.file])
    pair("git_checkout, branch", files_budget, ("checkout", "side"), "git_checkout", branch="side")
    pair("git_merge", files_budget, ("merge", "--no-ff", "-m", "x", branch), "git_merge",
         branch=branch, message="x", noFf=True)
    note("a merge rolled back (git reset --keep)", rollback_budget,
         theirs.git("reset", "--keep", "HEAD~"), ours.rollback(), looked, synced)
    for side in (ours, theirs):
        side.git("checkout", "-B", "rebased", "ten")
    pair("git_rebase, ten commits", rebase_budget, ("rebase", branch), "git_rebase", onto=branch)
    note("a rebase rolled back (git reset --keep)", rollback_budget,
         theirs.git("reset", "--keep", "ten"), ours.rollback(), looked, synced)
    theirs.git("checkout", branch)
    ours.git("checkout", branch)


def restore_many(ours, theirs, note):
    """Many files are discarded at once."""
    for _ in range(3):
        for side in (ours, theirs):
            side.edit_many("discarded\n")
        bare = theirs.git("restore", ".")
        spent = ours.call("git_restore", paths=["."])
        note(f"git_restore, {MANY_RESTORED:,} files", discard_budget, bare, spent,
             theirs.git("status"), ours.two_fsyncs())


def first_call(ours, theirs, note):
    """The first call that takes a checkpoint, beside a status that reads every file."""
    for name in theirs.names:
        os.utime(os.path.join(theirs.where, name))
    stale = theirs.git("--no-optional-locks", "status")
    theirs.git("status")
    ours.edit("first\n")
    note("the first checkpoint (status, stale)", first_budget, stale,
         ours.call("git_restore", paths=[ours.file]), 0, ours.two_fsyncs())


def children_so_far(log):
    """The git processes of a trace that no other git has started."""
    parents, gits, count = {}, set(), 0
    with open(log, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            pid, _, what = line.partition(" ")
            what = what.strip()
            if what.startswith("execve(") and '["git"' in what and "= -1" not in what:
                above = pid
                while above in parents and above not in gits:
                    above = parents[above]
                count += above not in gits
                gits.add(pid)
            elif "exec" not in what and what.rpartition("= ")[2].isdigit():
                parents[what.rpartition("= ")[2]] = pid
    return count


def count_children(airlock, source, scratch):
    """The git children that airlock starts for each call, in a small copy."""
    log = os.path.join(scratch, "children")
    traced = os.path.join(scratch, "traced")
    with open(traced, "w", encoding="ascii") as script:
        script.write('#!/bin/sh\nexec strace -f -qq -e trace=execve,clone,clone3,fork,vfork '
                     f'-A -o "{log}" "{airlock}" "$@"\n')
    os.chmod(traced, 0o755)
    counts, before = {}, 0

    def note(title, *_):
        nonlocal before
        now = children_so_far(log)
        counts[title], before = now - before, now

    theirs = Side(source, os.path.join(scratch, "counted-git"))
    with contextlib.closing(Server(traced, source, os.path.join(scratch, "counted"))) as ours:
        for side in (ours, theirs):
            side.git("branch", "side")
            side.make_ten()
        ours.call("git_branch", create="warm")
        before = children_so_far(log)
        one_round(ours, theirs, 0, note)
    return counts


def judge(size, rows, children):
    """Print the rows; whether all are within their budgets."""
    good = True
    for title, (budget, times) in rows.items():
        bare, spent, looked, synced = (statistics.median(column) for column in zip(*times))
        most = budget(size, bare, looked)
        fits = most is None or spent <= most + synced
        good &= fits
        print(f"{title:38} {bare:8.2f} ms {spent:8.2f} ms  "
              f"{'' if most is None else f'<= {most + synced:.2f} ms':18} "
              f"{children.get(title, ''):>8}  "
              f"{'' if most is None else 'pass' if fits else 'OVER'}", flush=True)
    return good


def compare(airlock, source, size, scratch, children):
    """The rows of one repository; whether all are within their budgets."""
    rows = {}
    theirs = Side(source, os.path.join(scratch, size + "-git"))

    def note(title, budget, *times):
        rows.setdefault(title, (budget, []))[1].append(times)

    with contextlib.closing(Server(airlock, source, os.path.join(scratch, size))) as ours:
        if size == "large":
            first_call(ours, theirs, note)
        for side in (ours, theirs):
            side.git("branch", "side")
            side.make_ten()
        ours.call("git_branch", create="warm")
        ours.edit("warm\n")
        ours.call("git_restore", paths=[ours.file])
        for number in range(ROUNDS[size]):
            one_round(ours, theirs, number, note)
        if size == "large":
            restore_many(ours, theirs, note)
    return judge(size, rows, children)


def main():
    airlock = str(pathlib.Path(sys.argv[1]).resolve())
    scratch = tempfile.mkdtemp(prefix="airlock-bench-")
    good = True
    large = status.make(os.path.join(sys.argv[3], "many"), status.MANY)
    children = {}
    try:
        os.environ["XDG_STATE_HOME"] = os.path.join(scratch, "state")
        if shutil.which("strace"):
            children = count_children(airlock, sys.argv[2], scratch)
        for size, source, title in (("small", sys.argv[2], "small repository"),
                                    ("large", large, f"{status.MANY:,} files")):
            print(f"\n{'changes, ' + title:38} {'git':>11} {'airlock':>11}  {'budget':18} children")
            good &= compare(airlock, source, size, scratch, children)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
