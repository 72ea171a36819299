#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""store_size.py AIRLOCK [FILES [EXECUTIONS]]: what mixed executions on many files leave in the
store of checkpoints, beyond the content that they changed.  Takes minutes.
"""
import contextlib
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

import changes

LIMIT_MB = 20


def make(where, files):
    """A repository with so many small files."""
    subprocess.run(["git", "init", "-q", where], check=True)
    subprocess.run(["git", "config", "gc.auto", "0"], cwd=where, check=True)
    for number in range(files):
        path = pathlib.Path(where, f"d{number // 1000:03}", f"{number % 1000:03}.txt")
        if number % 1000 == 0:
            path.parent.mkdir()
        path.write_text(f"file {number}\n", encoding="ascii")
    subprocess.run(["git", "add", "-A"], cwd=where, check=True)
    subprocess.run(["git", "commit", "-q", "-m", "first"], cwd=where, check=True)
    subprocess.run(["git", "gc", "-q"], cwd=where, check=True)


def size_of(top):
    """The bytes of all files below a directory."""
    return sum(os.lstat(os.path.join(at, name)).st_size
               for at, _, names in os.walk(top) for name in names)


def execute(server, number, chosen):
    """One execution; the bytes of content that it changed."""
    kind, content = number % 10, f"{number} {chosen.random()}\n"
    server.file = f"d{chosen.randrange(len(os.listdir(server.where)) - 1):03}/007.txt"
    if number % 100 == 98:
        server.edit(content)
        server.call("git_stash", action="push")
    elif number % 100 == 99:
        server.call("git_stash", action="pop")
    elif kind in (0, 1, 3, 5, 6):
        server.edit(content)
        server.call("git_add", paths=[server.file])
    elif kind in (2, 7):
        server.call("git_commit", type="fix", message=f"change {number}")
    elif kind == 4:
        server.call("git_branch", create=f"b{number}")
    else:
        server.edit(content)
        server.call("git_restore", paths=[server.file])
    return len(content) + 20


def main():
    airlock = str(pathlib.Path(sys.argv[1]).resolve())
    files, executions = [int(word) for word in sys.argv[2:]] + [100000, 1000][len(sys.argv) - 2:]
    scratch = tempfile.mkdtemp(prefix="airlock-bench-")
    chosen = random.Random(1)
    try:
        os.environ["XDG_STATE_HOME"] = os.path.join(scratch, "state")
        source = os.path.join(scratch, "source")
        make(source, files)
        with contextlib.closing(changes.Server(airlock, source,
                                               os.path.join(scratch, "work"))) as server:
            stores = os.path.join(scratch, "state", "airlock")
            began = time.monotonic()
            server.call("git_branch", create="first")
            server.edit("first\n")
            server.call("git_stash", action="push")  # the whole tree, once
            server.call("git_stash", action="pop")
            before, changed = size_of(stores), 0
            for number in range(executions):
                changed += execute(server, number, chosen)
            spent = time.monotonic() - began
            grown = (size_of(stores) - before - changed) / 1e6
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"{executions} executions on {files} files: {grown:.1f} MB beyond {changed / 1e6:.2f} MB "
          f"of content, {1000 * spent / executions:.0f} ms each (<= {LIMIT_MB} MB)")
    return 0 if grown <= LIMIT_MB else 1


if __name__ == "__main__":
    sys.exit(main())
