#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make-repo.py DIR COMMITS FILES: a repository of that size, always the same one.

Commit i writes file i (modulo FILES), so that history and tree grow together; folders hold a hundred
files each.  The last line of one file in fifty is then changed in the working tree.
"""
import os
import subprocess
import sys
import time

WORDS = ("the parser keeps its table sorted so that a lookup costs what a reader expects "
         "and the writer never has to look twice at what it wrote before").split()


def line(seed, count):
    """A line of words that depends on nothing but the seed."""
    return " ".join(WORDS[(seed * 7 + k * 13) % len(WORDS)] for k in range(count))


def name(number):
    """Where file `number` lives."""
    return f"src/part{number // 100:03d}/file{number % 100:02d}.c"


def history(commits, files):
    """The stream for git fast-import."""
    for i in range(commits):
        body = "".join(line(i + k, 9) + "\n" for k in range(12))
        message = f"part {i % files // 100}: {line(i, 6)}\n\n{line(i + 1, 14)}\n"
        stamp = 1600000000 + i * 600
        yield (f"commit refs/heads/main\n"
               f"author A U Thor <author@example.com> {stamp} +0000\n"
               f"committer C O Mitter <committer@example.com> {stamp} +0000\n"
               f"data {len(message)}\n{message}"
               f"M 100644 inline {name(i % files)}\ndata {len(body)}\n{body}\n")


def main():
    where, commits, files = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    git = ["git", "-C", where]
    subprocess.run(["git", "init", "-q", "-b", "main", where], check=True)
    with subprocess.Popen(git + ["fast-import", "--quiet"], stdin=subprocess.PIPE) as feed:
        for piece in history(commits, files):
            feed.stdin.write(piece.encode())
        feed.stdin.close()
        if feed.wait() != 0:
            sys.exit("git fast-import failed")
    subprocess.run(git + ["reset", "-q", "--hard"], check=True)
    for number in range(0, files, 50):
        with open(os.path.join(where, name(number)), "a", encoding="ascii") as file:
            file.write("one more line\n")
    # An index older than its files by less than the clock's step makes git read them all each time.
    time.sleep(2)
    os.unlink(os.path.join(where, ".git", "index"))
    subprocess.run(git + ["reset", "-q"], check=True)


if __name__ == "__main__":
    main()
