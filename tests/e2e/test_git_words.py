#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git's English, which src/git/failure.c reads where git has nothing else to read."""
import pathlib
import re

import harness

SOURCE = pathlib.Path(__file__).resolve().parents[2] / "src/git/failure.c"
# Words of a git that is older or newer than others, and of states that a test cannot make at will.
SOME_GITS = {"No branch named '", "no branch named '", "error: branch '", "error: refname refs/heads/",
             "resolve revision: ", "does not exist in '", "no such path",
             "already exists, no checkout", " would be removed by ", "bad object ",
             "You have unstaged changes", "index contains uncommitted changes", ": needs merge",
             "nothing added to commit", "no changes added to commit",
             "resolve your current index first", "Pathspec '", "not found"}


class Words(harness.Case):
    def said(self, *args):
        """What git says in the repository, in English."""
        done = self.git(*args, check=False)
        return (done.stdout + done.stderr).decode(errors="replace")

    def conflict(self):
        """A cherry-pick that conflicts, and one that becomes empty."""
        self.git("checkout", "-q", "-b", "side")
        self.write("a.txt", "side\n")
        self.git("commit", "-qam", "side")
        self.git("checkout", "-q", "main")
        self.write("a.txt", "main\n")
        self.git("commit", "-qam", "main")
        yield self.said("branch", "-d", "side")
        yield self.said("merge", "side")
        yield self.said("commit", "-m", "x")
        yield self.said("checkout", "--", "a.txt")
        yield self.said("commit", "--amend", "-m", "x")
        self.git("merge", "--abort")
        yield self.said("cherry-pick", "side")
        self.write("a.txt", "main\n")
        self.git("add", "a.txt")
        yield self.said("cherry-pick", "--continue")
        self.git("reset", "-q", "--hard")
        self.git("rebase", "side", check=False)
        yield self.said("branch", "-m", "main", "x")
        self.git("rebase", "--abort")
        self.write("a.txt", "in work\n")
        self.write("staged.txt", "x\n")
        self.git("add", "staged.txt")
        self.git("stash", "-q")
        self.write("a.txt", "another\n")
        self.git("commit", "-qam", "another")
        yield self.said("stash", "pop", "--index")
        self.git("reset", "-q", "--hard", "HEAD~1")
        self.git("stash", "drop", "-q")
        self.write("a.txt", "put aside\n")
        self.git("stash", "-q")

    def in_the_way(self):
        """Files that are changed, or not tracked, where git would write."""
        self.git("checkout", "-q", "-b", "more")
        self.write("new.txt", "x\n")
        self.git("add", ".")
        self.git("commit", "-qm", "new")
        self.git("checkout", "-q", "main")
        self.write("new.txt", "mine\n")
        yield self.said("checkout", "more")
        (self.root / "new.txt").unlink()
        self.write("a.txt", "changed\n")
        yield self.said("checkout", "side")
        yield self.said("read-tree", "-m", "-u", "main", "side")
        self.git("checkout", "-q", "--", "a.txt")
        self.write(".gitignore", "*.o\n")
        self.write("x.o", "x\n")
        yield self.said("add", "x.o")

    def names(self):
        """Names that nothing has."""
        for args in (("switch", "none"), ("branch", "--contains", "none"), ("log", "none"), ("log", "none", "--"),
                     ("rev-list", "none"), ("branch", "-m", "none", "x"), ("restore", "none"), ("add", "none"), ("branch", "main"), ("branch", "-d", "main"),
                     ("stash", "drop", "stash@{9}"), ("blame", "-L", "90,99", "a.txt"), ("commit", "-m", "x"),
                     ("grep", "-E", "{1}"), ("grep", "-E", "(a")):
            yield self.said(*args)
        (self.root / ".git/index.lock").write_text("")
        yield self.said("add", "a.txt")
        (self.root / ".git/index.lock").unlink()
        (self.root / "a.txt").unlink()
        yield self.said("blame", "a.txt")

    def test_words(self):
        """each of them is said by this git, or is among those that some gits say"""
        self.git("init", "-q", "-b", "main", ".")
        said = [self.said("log"), self.said("log", "HEAD"), self.said("rev-list", "HEAD")]
        self.init()
        self.write("a.txt", "a\n")
        self.git("commit", "-qam", "a", check=False)
        for story in (self.conflict, self.in_the_way, self.names):
            said += story()
        self.git("init", "-q", "--bare", str(self.root / "bare"))
        said.append(self.said("-C", str(self.root / "bare"), "status"))
        table = SOURCE.read_text(encoding="utf-8").split("} known[] = {")[1].split("\n};")[0]
        words = re.findall(r'^    \{ "((?:[^"\\]|\\.)*)"', table, re.M)
        self.assertGreater(len(words), 30)
        silent = [word for word in words if word not in SOME_GITS and not any(word in text for text in said)]
        self.assertEqual(silent, [], "\n".join(said))


if __name__ == "__main__":
    harness.main()
