#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_commit commits exactly what it is told, and whatever else is staged stays staged."""
import os
import re

import everyday
import harness
from everyday import LINES, text_with


class Removed(everyday.Case):
    """Paths of which the removal is staged."""

    def test_paths(self):
        """git_commit: a staged removal and a staged rename are committed by their paths"""
        self.init()
        for name in ("gone", "old", "dir/a", "stays"):
            self.write(name, f"{name}\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "files")
        self.git("rm", "-q", "gone", "stays")
        self.git("rm", "-q", "-r", "dir")
        self.git("mv", "old", "new")
        self.says("git_commit", {"message": "one", "paths": ["gone"]})
        self.assertEqual(self.out("show", "--format=", "--name-status"), "D\tgone\n")
        self.says("git_commit", {"message": "two", "paths": ["old", "new", "dir"]})
        self.assertEqual(self.out("show", "--format=", "--name-status", "-M"),
                         "D\tdir/a\nR100\told\tnew\n")
        self.assertEqual(self.out("status", "--porcelain"), "D  stays\n")
        result = self.call("git_commit", {"message": "three", "paths": ["gone"]})
        self.assertIn("There is no 'gone' in the working tree", result.text)


class Case(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f.txt", "".join(LINES), "base")

    def hunk_ids(self, staged=False):
        text = self.call("git_restore", {"hunks": ["00000000"], "staged": staged}).text
        return re.findall(r"\b([0-9a-f]{8}(?:-\d+)?)\b", text.partition("hunks are")[2])

    def content(self, rev, path="f.txt"):
        return self.git("show", f"{rev}:{path}").stdout.decode()

    def names(self, *words):
        return self.out(*words, "--name-only").split()


class Commit(Case):
    def test_staged(self):
        """git_commit: id, subject, what changed, and where one is"""
        self.write("f.txt", text_with(at1="one"))
        self.write("new", "n\n")
        self.git("add", ".")
        text = self.says("git_commit", {"message": "add: new\n\nbody\n"})
        self.assertRegex(text, r"^[0-9a-f]{8} add: new\n2 files changed, \+2 -1\nmain$")
        self.assertEqual(self.out("log", "-1", "--format=%B").strip(), "add: new\n\nbody")
        self.fails("ExecutionFailed", "nothing to commit", "git_commit", {"message": "m"})

    def test_paths(self):
        """git_commit: paths with new and deleted files; what else is staged stays staged"""
        self.commit("gone", "g\n", "gone")
        self.write("f.txt", text_with(at1="one"))
        self.write("d/new", "n\n")
        self.write("other", "o\n")
        self.git("add", "other", "f.txt")
        self.write("f.txt", text_with(at1="one", at2="two"))
        os.remove(self.root / "gone")
        self.says("git_commit", {"message": "m", "paths": ["d", "gone"]})
        self.assertEqual(self.names("show", "--format="), ["d/new", "gone"])
        self.assertEqual(self.names("diff", "--cached"), ["f.txt", "other"])
        self.assertEqual(self.content(""), text_with(at1="one"))
        self.says("git_commit", {"message": "m", "paths": ["f.txt"]})
        self.assertEqual(self.content("HEAD"), text_with(at1="one", at2="two"))
        self.assertEqual(self.names("diff", "--cached"), ["other"])
        self.assertEqual(self.out("status", "--porcelain").split(), ["A", "other"])

    def test_first(self):
        """git_commit: paths on a branch without a commit"""
        self.git("checkout", "-q", "--orphan", "empty")
        self.git("rm", "-q", "-r", "--cached", ".")
        self.write("other", "o\n")
        self.git("add", "other")
        self.says("git_commit", {"message": "m", "paths": ["f.txt"]})
        self.assertEqual(self.out("ls-tree", "--name-only", "HEAD").split(), ["f.txt"])
        self.assertEqual(self.names("diff", "--cached"), ["other"])

    def test_three_commits_of_one_file(self):
        """git_commit: three commits by hunk out of one file"""
        self.write("f.txt", text_with(at3="a", at5="b", at7="c"))
        ids = self.hunk_ids()
        self.says("git_commit", {"message": "b", "hunks": [ids[1]]})
        self.assertEqual(self.content("HEAD"), text_with(at5="b"))
        self.says("git_commit", {"message": "a", "hunks": [ids[0]]})
        self.says("git_commit", {"message": "c", "hunks": [ids[2]]})
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertEqual(self.content("HEAD"), text_with(at3="a", at5="b", at7="c"))

    def test_staged_hunks(self):
        """git_commit: a staged and an unstaged hunk, the other staged ones stay"""
        self.write("f.txt", text_with(at3="a", at30="d"))
        self.write("new", "n\n")
        self.git("add", ".")
        self.write("f.txt", text_with(at3="a", at5="b", at7="c", at30="d"))
        staged, unstaged = self.hunk_ids(True), self.hunk_ids()
        self.assertEqual((len(staged), len(unstaged)), (3, 2))
        self.says("git_commit", {"message": "m", "hunks": [staged[1], unstaged[0]]})
        self.assertEqual(self.content("HEAD"), text_with(at5="b", at30="d"))
        self.assertEqual(self.content(""), text_with(at3="a", at5="b", at30="d"))
        self.assertEqual(self.names("diff", "--cached"), ["f.txt", "new"])

    def test_hunk_on_a_staged_line(self):
        """git_commit: a hunk on top of a staged one is not committed without it"""
        self.write("f.txt", text_with(at3="a"))
        self.git("add", ".")
        self.write("f.txt", text_with(at3="b"))
        (one,) = self.hunk_ids()
        self.fails("ExecutionFailed", "is in the same lines as a hunk that is chosen",
                   "git_commit", {"message": "m", "hunks": [one]})
        self.says("git_commit", {"message": "m", "hunks": [one, *self.hunk_ids(True)]})
        self.assertEqual(self.content("HEAD"), text_with(at3="b"))

    def test_all(self):
        """git_commit: all takes new files, with git_add's exceptions"""
        self.write(".env", "T=1\n")
        self.write("new", "n\n")
        text = self.says("git_commit", {"message": "m", "all": True})
        self.assertIn("Left out: .env (looks like a secret); name them in paths", text)
        self.assertEqual(self.names("show", "--format="), ["new"])
        self.fails("ExecutionFailed", "nothing to commit. Left out: .env (looks like a secret)\n"
                   "Name them in paths", "git_commit", {"message": "m", "all": True})

    def test_gone_hunk(self):
        """git_commit: a hunk that is not there, and nothing is staged or committed"""
        self.write("f.txt", text_with(at3="a"))
        self.fails("BadArgs", "hunk 12345678 is not there any more", "git_commit",
                   {"message": "m", "hunks": [*self.hunk_ids(), "12345678"]})

    def test_author_and_empty(self):
        """git_commit: another author, and a commit without a change"""
        text = self.says("git_commit",
                         {"message": "e", "allow_empty": True, "author": "Jané <j@x>"})
        self.assertIn(" e\nNo file changed: an empty commit\n", text)
        self.assertEqual(self.out("log", "-1", "--format=%an %ae").strip(), "Jané j@x")
        for author in ("Jane", "<j@x>", "a\nb <j@x>", "--x"):
            self.fails("BadArgs", "author", "git_commit", {"message": "m", "author": author})

    def test_bad(self):
        """git_commit: missing messages and contradictions"""
        for arguments in ({}, {"message": " \n"}, {"message": "m", "all": True, "paths": ["f.txt"]},
                          {"message": "m", "hunks": ["1"], "paths": ["f.txt"]}):
            self.assertEqual(self.call("git_commit", arguments).kind, "BadArgs", arguments)
        self.fails("ExecutionFailed", "There is no 'none' in the working tree", "git_commit",
                   {"message": "m", "paths": ["none"]})

    def test_hooks(self):
        """git_commit: hooks that did not run are told, and the canary does not fire"""
        hook = self.root / ".git/hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\ntouch fired\n")
        hook.chmod(0o755)
        self.write("f.txt", "x\n")
        for arguments in ({"paths": ["f.txt"]}, {"amend": True, "message": "n"}, {"allow_empty": True}):
            self.assertIn("pre-commit", self.says("git_commit", {"message": "m", **arguments}))
        self.assertFalse((self.root / "fired").exists())
        self.git("commit", "-q", "--allow-empty", "-m", "control")
        self.assertTrue((self.root / "fired").exists())


class Amend(Case):
    def test_amend(self):
        """git_commit: amend keeps message, author and date; with a part, exactly that part"""
        self.git("commit", "-q", "--amend", "--author", "Jo <jo@x>", "--date",
                 "2020-02-02T02:02:02+0200", "--no-edit")
        before = self.out("log", "-1", "--format=%an %ae %ad %s")
        self.write("f.txt", text_with(at3="a", at30="d"))
        self.write("other", "o\n")
        self.git("add", "other")
        self.assertRegex(self.says("git_commit", {"amend": True, "hunks": self.hunk_ids()[:1]}),
                         r"^Amended [0-9a-f]{8}: [0-9a-f]{8} base\n")
        self.assertEqual(self.out("log", "-1", "--format=%an %ae %ad %s"), before)
        self.assertEqual(self.content("HEAD"), text_with(at3="a"))
        self.assertEqual(self.names("diff", "--cached"), ["other"])
        self.says("git_commit", {"amend": True, "message": "new words"})
        self.assertEqual(self.out("log", "-1", "--format=%s").strip(), "new words")
        self.assertEqual(self.out("rev-list", "--count", "HEAD").strip(), "2")

    def test_pushed(self):
        """git_commit: amending asks when a remote-tracking branch has the commit"""
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        result = self.call("git_commit", {"amend": True, "message": "x"}, approval="ask")
        self.assertEqual(result.kind, "ApprovalRequired", result)
        self.commit("g", "g\n", "own")
        self.ok("git_commit", {"amend": True, "message": "x"}, approval="ask")
        self.git("update-ref", "refs/remotes/origin/other", "HEAD")
        self.git("commit", "-q", "--allow-empty", "-m", "on top")
        self.git("reset", "-q", "--soft", "HEAD~1")
        result = self.call("git_commit", {"amend": True, "message": "x"}, approval="ask")
        self.assertEqual(result.kind, "ApprovalRequired", result)

    def test_forged_commit_graph(self):
        """git_commit: what a remote-tracking branch has is not taken from a commit-graph"""
        self.commit("g", "g\n", "second")
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.git("commit-graph", "write", "--reachable")
        result = self.call("git_commit", {"amend": True}, approval="ask")
        self.assertEqual(result.kind, "ApprovalRequired", result)

    def test_unborn(self):
        """git_commit: there is nothing to amend yet"""
        self.git("checkout", "-q", "--orphan", "empty")
        self.fails("ExecutionFailed", "There is no commit to amend yet", "git_commit",
                   {"amend": True, "message": "m"})

    def test_operations(self):
        """git_commit: a merge is concluded whole, other operations by git_conflicts"""
        self.git("checkout", "-q", "-b", "topic")
        self.commit("t", "t\n", "t")
        self.git("checkout", "-q", "main")
        self.commit("m", "m\n", "m")
        self.git("merge", "-q", "--no-ff", "--no-commit", "topic")
        self.fails("ExecutionFailed", "A merge is in progress", "git_commit",
                   {"message": "m", "paths": ["m"]})
        self.fails("ExecutionFailed", "A merge is in progress", "git_commit", {"amend": True})
        self.says("git_commit", {"message": "merged"})
        self.assertEqual(len(self.out("log", "-1", "--format=%P").split()), 2)


if __name__ == "__main__":
    harness.main()
