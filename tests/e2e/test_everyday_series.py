#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_commit makes several commits in one call, on a new branch, into earlier ones."""
import re

import everyday
import harness
from everyday import LINES, text_with


class Series(everyday.Case):
    """Three commits on main: base, second (line 5 of a.txt), third (b.txt)."""

    def setUp(self):
        super().setUp()
        self.init()
        self.write("a.txt", "".join(LINES))
        self.write("b.txt", "".join(LINES))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        self.second = self.commit("a.txt", text_with(at5="second"), "second")
        self.third = self.commit("b.txt", text_with(at5="third"), "third")

    def ids(self, **arguments):
        """The ids that git_diff shows, by the added line or the path of an untracked file."""
        text = self.says("git_diff", {"hunks": True, "context": 0} | arguments)
        found = {path: one for one, path in re.findall(r"^@@ (\S+) new file (\S+)", text, re.M)}
        return found | {line: one for one, line in
                        re.findall(r"^@@ (\S+) -.*\n(?:-.*\n)*\+(\S+)$", text, re.M)}

    def subjects(self, count=10):
        return self.out("log", f"-{count}", "--format=%s", "--reverse").split("\n")[:-1]

    def dirty(self):
        """Three hunks and two new files."""
        self.write("a.txt", text_with(at5="second", at20="a20", at35="a35"))
        self.write("b.txt", text_with(at5="third", at20="b20"))
        self.write("new.txt", "new\n")
        self.write("other.txt", "other\n")

    def test_series(self):
        """commits: one each, from hunks, paths and new files, in order; the rest stays"""
        self.dirty()
        ids = self.ids()
        files = self.out("ls-files", "-o", "-c", "--exclude-standard")
        text = self.says("git_commit", {"commits": [
            {"message": "one", "hunks": [ids["a20"], ids["new.txt"]]},
            {"message": "two\n\nbody", "hunks": [ids["a35"]], "paths": ["b.txt"]}]})
        self.assertEqual(self.subjects()[-2:], ["one", "two"])
        self.assertRegex(text, r"^[0-9a-f]{8} one\n2 files changed.*\n[0-9a-f]{8} two\n2 files")
        self.assertEqual(self.out("show", "HEAD~:a.txt"), text_with(at5="second", at20="a20"))
        self.assertEqual(self.out("show", "HEAD~:new.txt"), "new\n")
        self.assertEqual(self.out("status", "--porcelain"), "?? other.txt\n")
        self.assertEqual(self.out("log", "-1", "--format=%B"), "two\n\nbody\n\n")
        self.assertEqual(self.out("ls-files", "-o", "-c", "--exclude-standard").split().sort(),
                         files.split().sort())

    def test_series_keeps_staged(self):
        """commits: what is staged and not named stays staged"""
        self.dirty()
        ids = self.ids()
        self.git("add", "b.txt", "other.txt")
        self.says("git_commit", {"commits": [{"message": "one", "hunks": [ids["a20"]]},
                                             {"message": "two", "hunks": [ids["a35"]]}]})
        self.assertEqual(self.out("diff", "--cached", "--name-only").split(),
                         ["b.txt", "other.txt"])
        self.git("fsck", "--full")

    def test_staged_beside(self):
        """commits: a staged hunk beside a chosen one stays staged, with its content"""
        self.write("a.txt", text_with(at5="second", at20="a20"))
        self.git("add", "a.txt")
        self.write("a.txt", text_with(at5="second", at20="a20", at35="a35"))
        ids = self.ids()
        self.says("git_commit", {"commits": [{"message": "one", "hunks": [ids["a35"]]}]})
        self.assertEqual(self.out("show", ":a.txt"),
                         text_with(at5="second", at20="a20", at35="a35"))
        self.assertEqual(self.out("show", "HEAD:a.txt"), text_with(at5="second", at35="a35"))
        self.git("fsck", "--full", "--connectivity-only")

    def test_series_refused(self):
        """commits: two that want a hunk, one that is gone, a third that fails: nothing happened"""
        self.dirty()
        ids = self.ids()
        one, two = {"message": "one", "hunks": [ids["a20"]]}, {"message": "two",
                                                               "hunks": [ids["a35"]]}
        for items, kind, words in (
                ([one, two, {"message": "x", "hunks": [ids["a20"]]}], "BadArgs",
                 f"hunk {ids['a20']} is in commits[0] and commits[2]"),
                ([one, two, {"message": "x", "hunks": ["00000000"]}], "BadArgs",
                 "hunk 00000000 is not there any more"),
                ([one, two, {"message": "x", "paths": ["gone.txt"]}], "ExecutionFailed",
                 "gone.txt"),
                ([{"message": "x", "paths": ["a.txt"]}, two], "BadArgs",
                 "is in commits[0] already, which has the whole file"),
                ([one, two, {"message": "x", "paths": ["a.txt"]}], "ExecutionFailed",
                 "commits[2] has nothing to commit that those before it do not have"),
                ([one, {"message": "x"}], "BadArgs", "commits[1] names nothing"),
                ([one, {"hunks": [ids["a35"]]}], "BadArgs", "commits[1].message is required"),
                ([one, {"into": "nowhere", "hunks": [ids["a35"]]}], "ExecutionFailed", "nowhere"),
        ):
            with self.subTest(words=words):
                self.fails(kind, words, "git_commit", {"commits": items})
        for name, value in (("message", "x"), ("paths", ["a.txt"]), ("hunks", [ids["a20"]]),
                            ("all", True), ("amend", True), ("into", "HEAD")):
            with self.subTest(name=name):
                self.fails("BadArgs", "commits goes with branch and author only", "git_commit",
                           {"commits": [one], name: value})

    def test_author(self):
        """commits: author is that of the new ones"""
        self.dirty()
        ids = self.ids()
        self.says("git_commit", {"commits": [{"message": "one", "hunks": [ids["a20"]]}],
                                 "author": "Jane Roe <jane@example.org>"})
        self.assertEqual(self.out("log", "-1", "--format=%an <%ae>"),
                         "Jane Roe <jane@example.org>\n")
        self.assertEqual(self.out("log", "-1", "--format=%ai %at"),
                         self.out("log", "-1", "--format=%ci %ct"))

    def test_below(self):
        """commits: paths and ids from a directory below, with `..` as the top-level paths take it"""
        self.dirty()
        self.write("dir/in.txt", "in\n")
        ids = self.ids()
        below = {"working_dir": str(self.root / "dir")}
        for given, kind in (("../../x", "SandboxViolation"), ("../.git/config", "SandboxViolation"),
                            ("x/../../a.txt", "SandboxViolation")):
            top = self.fails(kind, "", "git_commit", {"message": "x", "paths": [given]} | below)
            nested = self.fails(kind, "", "git_commit",
                                {"commits": [{"message": "x", "paths": [given]}]} | below)
            self.assertEqual(nested.text, top.text)
        self.says("git_commit", below | {"commits": [
            {"message": "one", "paths": ["../a.txt", "in.txt"]},
            {"message": "two", "paths": ["./../new.txt"], "hunks": [ids["b20"]]},
            {"message": "glob", "paths": ["../o*.txt"]}]})
        self.assertEqual([self.out("show", "--format=", "--name-only", f"HEAD~{back}").split()
                          for back in (2, 1, 0)],
                         [["a.txt", "dir/in.txt"], ["b.txt", "new.txt"], ["other.txt"]])

    # --- into

    def test_into(self):
        """into: the change goes into an earlier commit; those after it are replayed"""
        self.dirty()
        ids = self.ids()
        disk = (self.root / "a.txt").read_text()
        author = self.out("log", "-1", "--format=%an %at", "HEAD~")
        text = self.says("git_commit", {"into": "HEAD~", "hunks": [ids["a20"], ids["new.txt"]]})
        self.assertRegex(text, r"^[0-9a-f]{8} second\n2 files changed.*\n  was "
                         + self.second[:8] + r"\n1 commit replayed after it\n")
        self.assertEqual(self.subjects(), ["first", "base", "second", "third"])
        self.assertEqual(self.out("show", "HEAD~:a.txt"), text_with(at5="second", at20="a20"))
        self.assertEqual(self.out("show", "HEAD~:new.txt"), "new\n")
        self.assertEqual(self.out("log", "-1", "--format=%an %at", "HEAD~"), author)
        self.assertEqual((self.root / "a.txt").read_text(), disk)
        self.assertEqual(sorted(self.ids()), ["a35", "b20", "other.txt"])
        self.git("fsck", "--full")

    def test_into_head(self):
        """into HEAD: as amend, with just the hunks"""
        self.dirty()
        self.says("git_commit", {"into": "HEAD", "hunks": [self.ids()["b20"]], "message": "3rd"})
        self.assertEqual(self.subjects(), ["first", "base", "second", "3rd"])
        self.assertEqual(self.out("show", "HEAD:b.txt"), text_with(at5="third", at20="b20"))

    def test_into_staged(self):
        """into: without a selection what is staged; nothing staged and no message is refused"""
        self.fails("ExecutionFailed", "Nothing is staged that could go into", "git_commit",
                   {"into": "HEAD~"})
        self.write("a.txt", text_with(at5="second", at20="a20"))
        self.git("add", "a.txt")
        self.write("b.txt", text_with(at5="third", at20="b20"))
        self.says("git_commit", {"into": self.second[:7]})
        self.assertEqual(self.out("show", "HEAD~:a.txt"), text_with(at5="second", at20="a20"))
        self.assertEqual(self.out("status", "--porcelain"), " M b.txt\n")

    def test_into_reword(self):
        """into: a message without a change rewords, whatever is dirty"""
        self.dirty()
        before = self.out("status", "--porcelain")
        tree = self.out("rev-parse", "HEAD^{tree}")
        text = self.says("git_commit", {"into": "HEAD~", "message": "renamed\n\nbody"})
        self.assertIn(", reworded\n", text)
        self.assertEqual(self.subjects(), ["first", "base", "renamed", "third"])
        self.assertEqual(self.out("rev-parse", "HEAD^{tree}"), tree)
        self.assertEqual(self.out("status", "--porcelain"), before)

    def test_into_root(self):
        """into the first commit of the history"""
        self.dirty()
        root = self.out("rev-list", "--max-parents=0", "HEAD").strip()
        self.says("git_commit", {"into": root, "hunks": [self.ids()["new.txt"]]})
        self.assertEqual(self.subjects(), ["first", "base", "second", "third"])
        root = self.out("rev-list", "--max-parents=0", "HEAD").strip()
        self.assertEqual(self.out("show", f"{root}:new.txt"), "new\n")

    def test_into_conflict(self):
        """into: a conflict says with which commit and which hunks, and nothing happened"""
        self.write("a.txt", text_with(at5="again"))
        (one,) = self.ids().values()
        result = self.fails("ExecutionFailed", "base", "git_commit", {"into": "HEAD~2", "hunks": [one]})
        self.assertIn("base does not have the lines that the change is about; nothing was done. "
                      'In conflict: a.txt: has "line 5", not "again"\n', result.text)

    def test_into_later_conflict(self):
        """into: a later commit that cannot be replayed is named"""
        self.write("b.txt", text_with(at5="third", at6="b6"))
        (one,) = self.ids().values()
        result = self.fails("ExecutionFailed", "nothing was done", "git_commit",
                            {"into": "HEAD~2", "hunks": [one]})
        self.assertIn("b.txt", result.text)

    def test_into_refused(self):
        """into: off the branch, behind a merge, a commit that gets empty, what cannot both hold"""
        self.git("branch", "side", "HEAD~")
        self.dirty()
        ids = self.ids()
        self.git("stash", "-q", "-u")
        self.git("checkout", "-q", "side")
        side = self.commit("side.txt", "side\n", "side")
        self.git("checkout", "-q", "main")
        self.git("stash", "pop", "-q")
        self.fails("BadArgs", f"into: {side[:8]} is not a commit of this branch", "git_commit",
                   {"into": "side", "hunks": [ids["a20"]]})
        for arguments in ({"author": "A <a@b>"}, {"branch": "x"}, {"allow_empty": True}):
            self.fails("BadArgs", "into goes into a commit that is there", "git_commit",
                       {"into": "HEAD", "hunks": [ids["a20"]]} | arguments)
        self.fails("BadArgs", "amend and into exclude each other\nLeave out amend: into HEAD changes "
                   "the last commit.", "git_commit", {"into": "HEAD", "amend": True})
        self.git("stash", "-q", "-u")
        self.git("merge", "-q", "--no-edit", "side")
        merge = self.out("rev-parse", "HEAD").strip()
        self.git("stash", "pop", "-q")
        for into in ("HEAD", "HEAD~", side):
            self.fails("ExecutionFailed", f"{merge[:8]} is a merge", "git_commit",
                       {"into": into, "hunks": [ids["a20"]]})

    def test_into_emptied(self):
        """into: a change that takes back all of the commit is refused, and drop is named"""
        self.write("b.txt", "".join(LINES))
        (one,) = re.findall(r"^@@ (\S+) -", self.says("git_diff", {"hunks": True}), re.M)
        result = self.fails("ExecutionFailed", "would be empty; nothing was done", "git_commit",
                            {"into": "HEAD", "hunks": [one]})
        self.assertIn("git_rebase", result.text)

    def test_series_into(self):
        """commits with into: revisions mean what they meant before the call"""
        self.dirty()
        ids = self.ids()
        files = {name: (self.root / name).read_text() for name in ("a.txt", "b.txt", "new.txt")}
        text = self.says("git_commit", {"commits": [
            {"into": "HEAD~", "hunks": [ids["a35"]]},
            {"message": "on top", "hunks": [ids["new.txt"]]},
            {"into": "HEAD", "hunks": [ids["b20"]], "message": "third, more"},
            {"into": "HEAD~", "hunks": [ids["a20"]]},
            {"into": "HEAD~2", "message": "the base"}]})
        self.assertEqual(self.subjects(), ["first", "the base", "second", "third, more",
                                           "on top"])
        self.assertEqual(self.out("show", "HEAD~2:a.txt"),
                         text_with(at5="second", at20="a20", at35="a35"))
        self.assertEqual(self.out("show", "HEAD~:b.txt"), text_with(at5="third", at20="b20"))
        self.assertEqual(self.out("show", "HEAD", "--format=", "--name-only"), "new.txt\n")
        self.assertEqual(self.out("status", "--porcelain"), "?? other.txt\n")
        for name, content in files.items():
            self.assertEqual((self.root / name).read_text(), content)
        self.assertEqual(text.count("  was "), 4)

    def test_pushed(self):
        """into: a commit that a remote has asks, as amend does; a series with one, too"""
        remotes_dir = self.root.parent / "remote.git"
        self.git("init", "-q", "--bare", str(remotes_dir))
        self.git("push", "-q", str(remotes_dir), "HEAD~:refs/heads/main")
        self.git("update-ref", "refs/remotes/origin/main", "HEAD~")
        self.dirty()
        ids = self.ids()
        for arguments in ({"into": "HEAD~", "hunks": [ids["a20"]]},
                          {"commits": [{"message": "x", "hunks": [ids["a20"]]},
                                       {"into": "HEAD~", "hunks": [ids["a35"]]}]}):
            result = self.call("git_commit", arguments, approval="ask")
            self.assertEqual(result.kind, "ApprovalRequired", result)
        result = self.call("git_commit", {"into": "HEAD", "hunks": [ids["b20"]]}, approval="ask")
        self.assertFalse(result.failed, result)

    # --- branch

    def test_branch(self):
        """branch: makes it from HEAD and commits there; the branch before stays"""
        self.dirty()
        ids = self.ids()
        text = self.says("git_commit", {"branch": "topic", "message": "on topic",
                                        "hunks": [ids["a20"]]})
        self.assertTrue(text.startswith("On the new branch topic\n"), text)
        self.assertEqual(self.out("symbolic-ref", "--short", "HEAD"), "topic\n")
        self.assertEqual(self.out("rev-parse", "main").strip(), self.third)
        self.assertEqual(self.subjects()[-1], "on topic")
        self.assertEqual(sorted(self.ids()), ["a35", "b20", "new.txt", "other.txt"])
        self.assertIn("on topic", self.out("reflog", "-1", "topic"))
        self.fails("BadArgs", "branch: main is there already", "git_commit",
                   {"branch": "main", "message": "x", "paths": ["a.txt"]})
        self.says("git_commit", {"branch": "topic", "message": "plain", "paths": ["a.txt"]})
        self.assertEqual(self.out("log", "--format=%s", "-2"), "plain\non topic\n")

    def test_branch_kinds(self):
        """branch: with all, with what is staged, with nothing to commit, with a series"""
        self.dirty()
        ids = self.ids()
        self.fails("ExecutionFailed", "nothing to commit", "git_commit",
                   {"branch": "x", "message": "x"})
        self.git("add", "b.txt")
        self.says("git_commit", {"branch": "staged", "message": "staged"})
        self.assertEqual(self.out("show", "--format=", "--name-only"), "b.txt\n")
        self.says("git_commit", {"branch": "series", "commits": [
            {"message": "one", "hunks": [ids["a20"]]},
            {"message": "two", "hunks": [ids["a35"]]}]})
        self.assertEqual(self.out("log", "--format=%s", "-3"), "two\none\nstaged\n")
        self.says("git_commit", {"branch": "all", "message": "all", "all": True})
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.says("git_commit", {"branch": "empty", "message": "none", "allow_empty": True})
        for words in ("-x", "a..b", "a b"):
            self.fails("BadArgs", "branch", "git_commit", {"branch": words, "message": "x"})
        self.fails("BadArgs", "amend replaces", "git_commit", {"branch": "y", "amend": True})

    def test_unborn(self):
        """branch, commits: before the first commit"""
        self.setUp()
        self.root = self.root.parent / "unborn"
        self.root.mkdir()
        self.git("init", "-q", "-b", "main")
        self.git("config", "user.name", "T")
        self.git("config", "user.email", "t@example.org")
        self.write("a.txt", "a\n")
        self.write("b.txt", "b\n")
        self.says("git_commit", {"branch": "topic", "commits": [
            {"message": "one", "paths": ["a.txt"]}, {"message": "two", "paths": ["b.txt"]}]})
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/topic\n")
        self.assertEqual(self.subjects(), ["one", "two"])
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertEqual(self.out("for-each-ref", "--format=%(refname)"), "refs/heads/topic\n")

    def test_undone(self):
        """git_undo: a series, a new branch and what went into others go back in one step"""
        self.dirty()
        ids = self.ids()
        before = self.snapshot()
        server = everyday.Server(self)
        for arguments in (
                {"commits": [{"message": "one", "hunks": [ids["a20"]]},
                             {"into": "HEAD~", "hunks": [ids["a35"]]}]},
                {"into": "HEAD", "hunks": [ids["b20"]]},
                {"branch": "topic", "message": "x", "hunks": [ids["b20"]]}):
            with self.subTest(arguments=arguments):
                server.says("git_commit", arguments)
                self.assertNotEqual(self.snapshot(), before)
                server.says("git_undo")
                self.assertEqual(self.snapshot(), before)


if __name__ == "__main__":
    harness.main()
