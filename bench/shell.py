#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""shell.py AIRLOCK SMALL BIG: what the agent's shell costs, beside plain git.

A read through the link that is git, and the two events around a command that changed a file.
Measured in turn, call by call; the medians count.  BIG is copied, since files in it are changed.
"""
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROUNDS = 41
EVENTS = pathlib.Path(__file__).resolve().parents[1] / "tests/e2e/hooks/claude-code.json"


def took(words, where, text=None):
    """Milliseconds that a command takes."""
    began = time.perf_counter()
    subprocess.run(words, cwd=where, input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    return (time.perf_counter() - began) * 1e3


def row(title, bare, ours, most, budget):
    good = ours <= most
    print(f"{title:<34} {bare:6.2f} ms {ours:6.2f} ms {most:6.2f} ms  {budget:<26} {'pass' if good else 'OVER'}",
          flush=True)
    return good


def read(shim, where):
    """One read of git's own command line."""
    words = ("status", "--short")
    times = ([], [])
    for number in range(ROUNDS):
        for side in (0, 1) if number % 2 else (1, 0):
            times[side].append(took([(shim, "git")[side], *words], where))
    ours, bare = map(statistics.median, times)
    return row("git status by the link", bare, ours, bare + 5, "<= git + 5 ms")


def events(airlock, where, title):
    """Both events around a command, which changes a file."""
    text = EVENTS.read_text(encoding="utf-8").replace("SESSION", "bench").replace("CWD", str(where))
    before, after, stop = (json.dumps(json.loads(text)[name]).encode() for name in ("before", "after", "stop"))
    file = where / subprocess.run(["git", "ls-files"], cwd=where, check=True, capture_output=True,
                                  text=True).stdout.split("\n", 1)[0]
    ours, bare = [], []
    for number in range(ROUNDS):
        file.write_text(f"{number}\n", encoding="utf-8")
        bare.append(took(["git", "status"], where))
        both = took([airlock, "hook", "claude-code"], where, before)
        file.write_text(f"{number}, changed\n", encoding="utf-8")
        ours.append(both + took([airlock, "hook", "claude-code"], where, after))
    took([airlock, "hook", "claude-code"], where, stop)
    bare, ours = statistics.median(bare), statistics.median(ours)
    return row(title, bare, ours, 3 * bare + 40, "<= 3 x git status + 40 ms")


def main():
    airlock, small, big = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    with tempfile.TemporaryDirectory() as where:
        where = pathlib.Path(where)
        shim = where / "git"
        shim.symlink_to(airlock)
        os.environ["XDG_STATE_HOME"] = str(where / "state")
        print(f"\n{'the shell':<34} {'bare':>9} {'airlock':>9} {'at most':>9}")
        good = []
        for repository in (small, big):
            copy = where / f"copy of {repository.name}"
            subprocess.run(["git", "clone", "-q", repository, copy], check=True)
            os.sync()  # what the clone has written is not what a call waits for
            if repository is small:
                good.append(read(shim, copy))
            good.append(events(airlock, copy, f"both events of a tool, {repository.name}"))
            shutil.rmtree(copy)
    sys.exit(not all(good))


if __name__ == "__main__":
    main()
