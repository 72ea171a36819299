#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_switch and git_reset move between branches and commits."""
import everyday
import harness
from everyday import LINES, text_with


class Case(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f.txt", "".join(LINES), "base")

    def head(self):
        return self.out("rev-parse", "HEAD").strip()

    def asks(self, tool, arguments):
        before = self.snapshot()
        result = self.call(tool, arguments, approval="ask")
        self.assertEqual(result.kind, "ApprovalRequired", result)
        self.assertEqual(self.snapshot(), before)
        return result


class Switch(Case):
    def test_branches(self):
        """git_switch: makes a branch, changes to it and back, and keeps local changes"""
        self.write("f.txt", text_with(at1="one"))
        self.assertEqual(self.says("git_switch", {"branch": "topic", "create": True}),
                         "Made and switched to topic\ntopic, 1 not staged")
        self.assertEqual(self.says("git_switch", {"branch": "main"}),
                         "Switched to main\nmain, 1 not staged")
        self.assertIn("Already on main", self.says("git_switch", {"branch": "main"}))
        self.fails("ExecutionFailed", "'topic' exists already", "git_switch",
                   {"branch": "topic", "create": True})

    def test_not_made(self):
        """git_switch: whoever means to make a branch is told how"""
        for arguments, told in (({"branch": "topic"}, "create makes a branch of this name"),
                                ({"rev": "topic"}, "git_branch lists the branches there are"),
                                ({"create": "topic"}, "branch=NAME create=true")):
            with self.subTest(arguments):
                result = self.call("git_switch", arguments)
                self.assertTrue(result.failed)
                self.assertIn(told, result.text)
        self.assertEqual(self.out("branch", "--format=%(refname:short)"), "main\n")
        self.assertNotIn("git_fetch", self.call("git_switch", {"branch": "topic"}).text)
        self.git("remote", "add", "origin", "/nowhere")
        self.assertIn("git_fetch brings a branch that only the remote has",
                      self.call("git_switch", {"branch": "topic"}).text)

    def test_from(self):
        """git_switch: a new branch from another commit, and from a remote's branch"""
        first = self.head()
        self.commit("f.txt", "second\n", "second")
        self.says("git_switch", {"branch": "old", "create": True, "from": first})
        self.assertEqual(self.head(), first)
        self.assertEqual((self.root / "f.txt").read_text(), "".join(LINES))
        self.git("update-ref", "refs/remotes/origin/theirs", "main")
        self.git("remote", "add", "origin", "/nowhere")
        self.says("git_switch", {"branch": "theirs"})
        self.assertEqual(self.out("rev-parse", "--abbrev-ref", "theirs@{u}").strip(),
                         "origin/theirs")

    def test_remote_name(self):
        """git_switch: the name of a remote-tracking branch means the branch that follows it"""
        self.git("remote", "add", "origin", "/nowhere")
        self.git("remote", "add", "other", "/nowhere")
        for ref in ("origin/topic", "origin/both", "other/both", "origin/a/b"):
            self.git("update-ref", f"refs/remotes/{ref}", "main")
        self.assertIn("Made and switched to topic\n", self.says("git_switch", {"branch": "origin/topic"}))
        self.assertEqual(self.out("rev-parse", "--abbrev-ref", "topic@{u}").strip(), "origin/topic")
        self.says("git_switch", {"branch": "refs/heads/main"})
        self.assertEqual(self.out("symbolic-ref", "HEAD").strip(), "refs/heads/main")
        self.assertIn("Switched to topic\n", self.says("git_switch", {"branch": "origin/topic"}))
        self.says("git_switch", {"branch": "origin/a/b"})
        self.assertEqual(self.out("rev-parse", "--abbrev-ref", "a/b@{u}").strip(), "origin/a/b")
        told = self.fails("ExecutionFailed", "'both'", "git_switch", {"branch": "both"}).text
        self.assertIn("origin/both", told)
        self.assertIn("other/both", told)
        self.says("git_switch", {"branch": "other/both"})
        self.assertEqual(self.out("rev-parse", "--abbrev-ref", "both@{u}").strip(), "other/both")
        told = self.fails("ExecutionFailed", "origin/new", "git_switch", {"branch": "origin/new"}).text
        self.assertIn("git_fetch", told.splitlines()[-1])
        self.assertEqual(self.out("branch", "--format=%(refname:short)").split(),
                         ["a/b", "both", "main", "topic"])

    def test_remote_name_undone(self):
        """git_undo: takes along the branch that a remote's name made"""
        self.git("remote", "add", "origin", "/nowhere")
        self.git("update-ref", "refs/remotes/origin/topic", "main")
        server = everyday.Server(self)
        self.addCleanup(server.close)
        server.says("git_switch", {"branch": "origin/topic"})
        server.says("git_undo")
        self.assertEqual(self.out("branch", "--format=%(refname:short)"), "main\n")

    def test_own_first(self):
        """git_switch: a branch that is called as a remote's is the branch that is meant"""
        self.git("update-ref", "refs/remotes/origin/topic", "main")
        self.git("branch", "origin/topic")
        self.says("git_switch", {"branch": "origin/topic"})
        self.assertEqual(self.out("symbolic-ref", "HEAD").strip(), "refs/heads/origin/topic")

    def test_rev(self):
        """git_switch: a commit without a branch, and the commit that is left behind"""
        text = self.says("git_switch", {"rev": "HEAD"})
        self.assertRegex(text, r"^On no branch, at [0-9a-f]{8} base\ndetached at ")
        self.git("commit", "-q", "--allow-empty", "-m", "lost")
        self.assertRegex(self.says("git_switch", {"branch": "main"}),
                         r"HEAD was at [0-9a-f]+ lost, which is on no branch: git_branch")

    def test_in_the_way(self):
        """git_switch: what stands in the way is named, and nothing is changed"""
        self.git("checkout", "-q", "-b", "topic")
        self.commit("f.txt", "topic\n", "t")
        self.commit("new", "n\n", "n")
        self.git("checkout", "-q", "main")
        self.write("f.txt", "local\n")
        result = self.fails("ExecutionFailed", "f.txt", "git_switch", {"branch": "topic"})
        self.assertIn("git_status", result.text + "git_status")
        self.git("checkout", "-q", "f.txt")
        self.write("new", "mine\n")
        self.fails("ExecutionFailed", "new", "git_switch", {"branch": "topic"})

    def test_bad(self):
        """git_switch: arguments that cannot both hold, names there are not, a stopped merge"""
        for arguments in ({}, {"branch": "a", "rev": "b"}, {"rev": "HEAD", "create": True},
                          {"branch": "main", "from": "HEAD"},
                          {"branch": "-f", "create": True}, {"branch": "HEAD~0"}):
            self.assertEqual(self.call("git_switch", arguments).kind, "BadArgs", arguments)
        self.fails("ExecutionFailed", "none", "git_switch", {"branch": "none"})
        self.fails("ExecutionFailed", "none", "git_switch", {"rev": "none"})
        self.collide("ours\n", "theirs\n")
        self.fails("ExecutionFailed", "A merge is in progress", "git_switch", {"branch": "topic"})


class Reset(Case):
    def setUp(self):
        super().setUp()
        self.first = self.head()
        self.commit("f.txt", text_with(at1="one"), "second")

    def test_mixed(self):
        """git_reset: the commits go, their changes stay, and one reads which ones left"""
        text = self.says("git_reset", {"to": "HEAD~1"})
        self.assertRegex(text, r"^Reset to [0-9a-f]{8} base\n1 commit left the branch \(it was at "
                         r"[0-9a-f]{8}\):\n  [0-9a-f]{8} second\nmain, 1 not staged$")
        self.assertEqual((self.root / "f.txt").read_text(), text_with(at1="one"))

    def test_modes(self):
        """git_reset: soft keeps the index, keep local changes, hard nothing"""
        self.write("local", "l\n")
        self.git("add", "local")
        self.assertIn("main, 2 staged", self.says("git_reset", {"to": self.first, "mode": "soft"}))
        self.says("git_reset", {"to": "HEAD@{1}", "mode": "mixed"})
        self.git("add", "local")
        self.write("f.txt", "mine\n")
        self.assertIn("\nUncommitted changes were discarded: f.txt, local. git_undo ",
                      self.says("git_reset", {"to": self.first, "mode": "hard"}))
        self.assertFalse((self.root / "local").exists())
        self.assertEqual((self.root / "f.txt").read_text(), "".join(LINES))

    def test_keep(self):
        """git_reset: keep refuses when local changes are in the way"""
        self.write("f.txt", text_with(at1="one", at9="nine"))
        self.fails("ExecutionFailed", "f.txt", "git_reset", {"to": self.first, "mode": "keep"})
        self.commit("other", "o\n", "other")
        self.write("f.txt", text_with(at1="one", at9="nine"))
        self.says("git_reset", {"to": "HEAD~1", "mode": "keep"})
        self.assertEqual((self.root / "f.txt").read_text(), text_with(at1="one", at9="nine"))

    def test_pushed(self):
        """git_reset: asks when a remote-tracking branch has the commits, in every mode"""
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        for mode in ("soft", "mixed", "keep", "hard"):
            self.asks("git_reset", {"to": self.first, "mode": mode})
        self.commit("own", "o\n", "own")
        self.ok("git_reset", {"to": "origin/main", "mode": "hard"}, approval="ask")
        self.git("commit", "-q", "--allow-empty", "-m", "on top")
        self.asks("git_reset", {"to": self.first, "mode": "hard"})

    def test_forged_graph(self):
        """git_reset: what was pushed is read from the commits, whatever core.commitGraph says"""
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.git("config", "core.commitGraph", "true")
        self.git("commit-graph", "write", "--reachable")
        self.asks("git_reset", {"to": self.first})

    def test_untracked(self):
        """git_reset: hard refuses to overwrite a file that no checkpoint has"""
        self.commit(".gitignore", "kept\n", "ignore")
        self.git("checkout", "-q", "-b", "has")
        self.write("kept", "theirs\n")
        self.git("add", "-f", "kept")
        self.git("commit", "-q", "-m", "has it")
        self.git("checkout", "-q", "main")
        self.write("kept", "mine\n")
        self.fails("ExecutionFailed", "'kept' would be lost", "git_reset",
                   {"to": "has", "mode": "hard"})

    def test_bad(self):
        """git_reset: unknown revisions, modes and branches without a commit"""
        self.fails("ExecutionFailed", "nonsense", "git_reset", {"to": "nonsense"})
        for arguments in ({}, {"to": "--hard"}, {"to": "HEAD", "mode": "merge"}, {"to": ""}):
            self.assertEqual(self.call("git_reset", arguments).kind, "BadArgs", arguments)
        self.git("checkout", "-q", "--orphan", "empty")
        self.fails("ExecutionFailed", "The branch has no commit yet", "git_reset",
                   {"to": self.first})

    def test_nothing(self):
        """git_reset: to where it is, nothing left the branch"""
        self.assertNotIn("left the branch", self.says("git_reset", {"to": "HEAD"}))


if __name__ == "__main__":
    harness.main()
