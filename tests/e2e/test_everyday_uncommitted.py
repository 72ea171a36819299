#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: uncommitted changes go along with a rebase, pick, revert, merge and pull; staged ones
stay staged."""
import everyday
import harness
from everyday import LINES, text_with


class Uncommitted(everyday.Case):
    """main has changed line 1 of f.txt since topic, which has changed line 20, began."""

    def setUp(self):
        super().setUp()
        self.init()
        self.write("other.txt", "other\n")
        self.git("add", "other.txt")
        self.commit("f.txt", "".join(LINES), "base")
        self.git("branch", "topic")
        self.commit("f.txt", text_with(at1="main"), "on main")
        self.git("checkout", "-q", "topic")
        self.commit("f.txt", text_with(at20="topic"), "on topic")

    def status(self):
        return self.out("status", "--porcelain")

    def file(self):
        return (self.root / "f.txt").read_text()

    def change_elsewhere(self):
        """What meets nothing: a staged new file, a staged and an unstaged change."""
        self.write("new.txt", "new\n")
        self.write("other.txt", "staged\n")
        self.git("add", "new.txt", "other.txt")
        self.write("other.txt", "not staged\n")
        return self.status()

    def change_same_file(self):
        """Line 30 is staged, line 38 is not."""
        self.write("f.txt", text_with(at20="topic", at30="staged"))
        self.git("add", "f.txt")
        self.write("f.txt", text_with(at20="topic", at30="staged", at38="not"))

    def runs(self):
        """Each tool, on topic, in a session of its own; "" and its arguments."""
        return (("git_rebase", {"onto": "main"}), ("git_cherry_pick", {"commits": ["main"]}),
                ("git_merge", {"branch": "main"}),
                ("git_merge", {"branch": "main", "no_ff": True, "message": "Both"}),
                ("git_merge", {"branch": "main", "squash": True, "message": "All"}))

    def each(self, change):
        """Run each tool after a change, and undo it; byte for byte as before."""
        start = self.out("rev-parse", "HEAD").strip()
        for tool, arguments in self.runs():
            self.git("reset", "-q", "--hard", start)
            change()
            before = self.snapshot()
            server = everyday.Server(self)
            text = server.ok(tool, arguments).text
            yield tool, text
            server.ok("git_undo")
            self.assertEqual(self.snapshot(), before, tool)

    def test_elsewhere(self):
        """what meets nothing stays byte for byte, staged as it was"""
        for tool, _ in self.each(self.change_elsewhere):
            self.assertEqual(self.status(), "A  new.txt\nMM other.txt\n", tool)
            self.assertEqual((self.root / "other.txt").read_text(), "not staged\n")
            self.assertEqual(self.out("show", ":other.txt"), "staged\n")
            self.assertEqual(self.file(), text_with(at1="main", at20="topic"))

    def test_same_file(self):
        """changes of a file that what comes in changes too are merged, index and file each"""
        for tool, _ in self.each(self.change_same_file):
            self.assertEqual(self.status(), "MM f.txt\n", tool)
            self.assertEqual(self.out("show", "HEAD:f.txt"), text_with(at1="main", at20="topic"))
            self.assertEqual(self.out("show", ":f.txt"),
                             text_with(at1="main", at20="topic", at30="staged"))
            self.assertEqual(self.file(),
                             text_with(at1="main", at20="topic", at30="staged", at38="not"))

    def test_conflict(self):
        """where they would conflict nothing happens, and the files are named"""
        start = self.out("rev-parse", "HEAD").strip()
        for stages in (False, True):
            for tool, arguments in self.runs():
                self.git("reset", "-q", "--hard", start)
                self.write("f.txt", text_with(at20="topic", at1="mine"))
                if stages:
                    self.git("add", "f.txt")
                before = self.snapshot()
                failed = self.fails("ExecutionFailed", "'f.txt'", tool, arguments)
                self.assertIn("git_stash", failed.text)
                self.assertEqual(self.snapshot(), before, (tool, stages))

    def test_conflict_names(self):
        """ten files that would conflict are named, and of those beyond the number"""
        names = [f"{number:02}.txt" for number in range(11)]
        self.git("checkout", "-q", "main")
        for name in names:
            self.write(name, "main\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "eleven")
        self.git("checkout", "-q", "topic")
        for count in (9, 10, 11):
            self.git("reset", "-q", "--hard")
            for name in names[:count]:
                self.write(name, "mine\n")
            self.git("add", *names[:count])
            failed = self.fails("ExecutionFailed",
                                "Uncommitted changes conflict with what comes in, and no file "
                                "was changed: '00.txt', '01.txt'", "git_merge",
                                {"branch": "main"})
            self.assertEqual([f"'{name}'" in failed.text for name in names],
                             [number < min(count, 10) for number in range(11)], failed)
            self.assertEqual("'09.txt' and 1 more" in failed.text, count > 10)

    def test_intended(self):
        """a file that is only intended to be added: said where it is in the way"""
        self.write("later.txt", "later\n")
        self.git("add", "-N", "later.txt")
        self.write("f.txt", text_with(at20="topic", at38="mine"))
        before = self.snapshot()
        failed = self.fails("ExecutionFailed", "no file was changed", "git_merge",
                            {"branch": "main"})
        self.assertIn("only intended to be added", failed.text)
        self.assertEqual(self.snapshot(), before)

    def test_revert(self):
        """git_revert, with and without a commit"""
        for no_commit in (False, True):
            self.git("reset", "-q", "--hard", "topic")
            self.change_same_file()
            self.says("git_revert", {"commits": ["topic"], "no_commit": no_commit})
            self.assertEqual(self.file(), text_with(at30="staged", at38="not"))
            self.assertEqual(self.out("show", ":f.txt"), text_with(at30="staged"))
            self.git("checkout", "-q", "-B", "topic", "topic" if no_commit else "topic~1", "-f")

    def test_forward(self):
        """a fast-forward: the same"""
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "topic")
        self.git("checkout", "-q", "topic")
        self.change_same_file()
        self.assertIn("Moved on to main", self.says("git_merge", {"branch": "main"}))
        self.assertEqual(self.out("rev-parse", "HEAD"), self.out("rev-parse", "main"))
        self.assertEqual(self.file(),
                         text_with(at1="main", at20="topic", at30="staged", at38="not"))
        self.assertEqual(self.status(), "MM f.txt\n")

    def test_message(self):
        """the merge commit has the parents and the message that git gives it"""
        self.git("tag", "v1", "main")
        self.git("update-ref", "refs/remotes/origin/far", "main")
        for name in ("main", "v1", "origin/far", self.out("rev-parse", "main").strip()):
            self.git("reset", "-q", "--hard", "topic")
            tip = self.out("rev-parse", "HEAD").strip()
            self.git("merge", "-q", "--no-edit", name)
            wanted = self.out("log", "-1", "--format=%B%P%T")
            self.git("reset", "-q", "--hard", tip)
            self.change_elsewhere()
            self.says("git_merge", {"branch": name})
            self.assertEqual(self.out("log", "-1", "--format=%B%P%T"), wanted)
            self.assertIn(f"merge {name}: Merge made by", self.out("log", "-1", "-g", "--format=%gs"))
            self.git("reset", "-q", "--hard", tip)

    def test_pull(self):
        """git_pull, merging and rebasing"""
        hub = self.base / "hub.git"
        self.git("init", "-q", "--bare", str(hub))
        self.git("push", "-q", str(hub), "main:topic")
        self.git("remote", "add", "origin", str(hub))
        for rebase in (False, True):
            self.git("reset", "-q", "--hard", "topic")
            tip = self.out("rev-parse", "HEAD").strip()
            self.change_same_file()
            self.ok("git_pull", {"remote": "origin", "branch": "topic", "rebase": rebase}, "--root",
                    str(hub))
            self.assertEqual(self.status(), "MM f.txt\n")
            self.assertEqual(self.file(),
                             text_with(at1="main", at20="topic", at30="staged", at38="not"))
            self.git("reset", "-q", "--hard", tip)


if __name__ == "__main__":
    harness.main()
