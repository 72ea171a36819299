#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_rebase splits a commit by the ids that git_show gives its hunks."""
import re

import everyday
import harness
from everyday import LINES, text_with


class Split(everyday.Case):
    """base, "all" (two hunks of a.txt, one of b.txt, a new file), "later" (line 30 of a.txt)."""

    def setUp(self):
        super().setUp()
        self.init()
        self.write("a.txt", "".join(LINES))
        self.write("b.txt", "".join(LINES))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        self.write("a.txt", text_with(at5="a5", at20="a20"))
        self.write("b.txt", text_with(at5="b5"))
        self.write("new.txt", "new\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all", "--author=A <a@example.org>")
        self.all = self.out("rev-parse", "HEAD").strip()
        self.later = self.commit("a.txt", text_with(at5="a5", at20="a20", at30="later"), "later")

    def ids(self, rev="HEAD~"):
        """The ids of a commit, by the added line."""
        text = self.says("git_show", {"rev": rev, "hunks": True})
        return {line: one for one, line in
                re.findall(r"^@@ (\S+) -.*\n(?: .*\n)*(?:-.*\n)*\+(\S+)$", text, re.M)}

    def plan(self, parts, later="pick"):
        return {"plan": [{"commit": self.all, "do": "split", "into": parts},
                         {"commit": self.later, "do": later}]}

    def subjects(self):
        return self.out("log", "--format=%s", "--reverse").split("\n")[:-1]

    def test_shown(self):
        """git_show hunks: the ids of a commit, of the first one, of a merge; of nothing else"""
        self.assertEqual(sorted(self.ids()), ["a20", "a5", "b5", "new"])
        text = self.says("git_show", {"rev": self.all, "hunks": True})
        self.assertTrue(text.startswith(f"{self.all[:8]} all\n--- a.txt +2 -2\n@@ "), text)
        self.assertIn("--- first.txt" if "first.txt" in self.out("ls-files") else "--- ",
                      self.says("git_show", {"rev": "HEAD~3", "hunks": True}))
        self.fails("BadArgs", "hunks are of a commit, without stat and path", "git_show",
                   {"hunks": True, "stat": True})
        self.fails("BadArgs", "is no commit", "git_show", {"rev": "HEAD^{tree}", "hunks": True})

    def test_below(self):
        """split: paths from a directory below, with `..` as the top-level paths take it"""
        self.write("dir/x", "")
        below = {"working_dir": str(self.root / "dir")}
        for given in ("../../x", "../.git/config", "x/../../a.txt"):
            top = self.fails("SandboxViolation", "", "git_add", {"paths": [given]} | below)
            nested = self.fails("SandboxViolation", "", "git_rebase", below | self.plan(
                [{"message": "x", "paths": [given]}]))
            self.assertEqual(nested.text, top.text)
        self.says("git_rebase", below | self.plan([
            {"message": "one", "paths": ["../a.txt"]}, {"message": "two", "paths": ["../*.txt"]}]))
        self.assertEqual([self.out("show", "--format=", "--name-only", f"HEAD~{back}").split()
                          for back in (2, 1)], [["a.txt"], ["b.txt", "new.txt"]])

    def test_split(self):
        """split: into parts, with hunks and paths; later commits follow, files stay"""
        ids = self.ids()
        tree = self.out("rev-parse", "HEAD^{tree}")
        text = self.says("git_rebase", self.plan([
            {"message": "one", "hunks": [ids["a20"], ids["new"]]},
            {"message": "two\n\nbody", "paths": ["a.txt", "b.txt"]}]))
        self.assertIn("3 commits replayed", text)
        self.assertEqual(self.subjects()[-3:], ["one", "two", "later"])
        self.assertEqual(self.out("rev-parse", "HEAD^{tree}"), tree)
        self.assertEqual(self.out("show", "HEAD~2:a.txt"), text_with(at20="a20"))
        self.assertEqual(self.out("show", "HEAD~2", "--format=%an", "--name-only").split(),
                         ["A", "a.txt", "new.txt"])
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.git("fsck", "--full")

    def test_rest(self):
        """split: what no part names stays uncommitted in the working tree, and is named"""
        ids = self.ids()
        files = {name: (self.root / name).read_text() for name in ("a.txt", "b.txt", "new.txt")}
        text = self.says("git_rebase", self.plan([{"message": "one", "hunks": [ids["a20"]]}]))
        self.assertIn(f"Left uncommitted of {self.all[:8]}: hunks of a.txt, b.txt, new.txt\n",
                      text)
        self.assertEqual(self.subjects()[-2:], ["one", "later"])
        self.assertEqual(self.out("show", "HEAD:a.txt"), text_with(at20="a20", at30="later"))
        self.assertEqual(self.out("status", "--porcelain"), " M a.txt\n M b.txt\n?? new.txt\n")
        for name, content in files.items():
            self.assertEqual((self.root / name).read_text(), content)
        self.git("fsck", "--full")

    def test_rest_and_staged(self):
        """a split that leaves a rest is not begun over staged changes; one without takes them along"""
        ids = self.ids()
        self.write("b.txt", text_with(at5="b5", at30="mine"))
        self.git("add", "b.txt")
        before = self.snapshot()
        self.fails("ExecutionFailed", "There are staged changes: ", "git_rebase",
                   self.plan([{"message": "one", "hunks": [ids["a5"]]}]))
        self.assertEqual(self.snapshot(), before)
        self.says("git_rebase", self.plan([{"message": "one", "hunks": [ids["a5"]]},
                                           {"message": "two", "paths": ["."]}]))
        self.assertEqual(self.out("status", "--porcelain"), "M  b.txt\n")

    def test_rest_needed(self):
        """split: a later commit that needs what no part names is refused; nothing happened"""
        self.git("checkout", "-q", "-B", "main", self.all)
        self.later = self.commit("a.txt", text_with(at5="again", at20="a20"), "later")
        ids = self.ids()
        result = self.fails("ExecutionFailed", "later cannot be replayed on the parts",
                            "git_rebase", self.plan([{"message": "one", "hunks": [ids["a20"]]}]))
        self.assertIn('In conflict: a.txt: has "line 5", not "again"', result.text)
        self.git("checkout", "-q", "-B", "main", self.all)
        self.git("mv", "new.txt", "moved.txt")
        self.git("commit", "-q", "-m", "later")
        self.later = self.out("rev-parse", "HEAD").strip()
        self.fails("ExecutionFailed", "later cannot be replayed on the parts", "git_rebase",
                   self.plan([{"message": "one", "hunks": [ids["a20"]]}]))

    def test_refused(self):
        """split: a hunk in two parts, one that is gone, an empty part, what cannot both hold"""
        ids = self.ids()
        one = {"message": "one", "hunks": [ids["a20"]]}
        for parts, words in (
                ([one, {"message": "two", "hunks": [ids["a20"]]}],
                 f"hunk {ids['a20']} is in two parts"),
                ([{"message": "one", "paths": ["a.txt"]}, one], "is in two parts"),
                ([{"message": "one", "hunks": ["00000000"]}],
                 "hunk 00000000 is not there any more; the commit's hunks are: a.txt: "),
                ([{"message": "one", "hunks": ["00000000"]}],
                 "; git_show with hunks those of a commit."),
                ([one, {"message": "two"}], "into[1] has no hunk of the commit"),
                ([one, {"message": "two", "paths": ["c.txt"]}],
                 "into[1] has no hunk of the commit"),
                ([{"hunks": [ids["a20"]]}], "message is required"),
                ([], "into"),
        ):
            with self.subTest(words=words):
                self.fails("BadArgs", words, "git_rebase", self.plan(parts))
        self.fails("BadArgs", "split takes into", "git_rebase",
                   {"plan": [{"commit": self.all, "do": "pick", "into": [one]},
                             {"commit": self.later}]})
        self.fails("BadArgs", "split takes into", "git_rebase",
                   {"plan": [{"commit": self.all, "do": "split"}, {"commit": self.later}]})

    def test_first(self):
        """split: the first commit of the history"""
        root = self.out("rev-list", "--max-parents=0", "HEAD").strip()
        rest = self.out("rev-list", "--reverse", "HEAD").split()[1:]
        name = self.out("show", "--format=", "--name-only", root).split()[0]
        self.says("git_rebase", {"plan": [
            {"commit": root, "do": "split", "into": [{"message": "root", "paths": [name]}]}]
            + [{"commit": one} for one in rest]})
        self.assertEqual(self.subjects(), ["root", "base", "all", "later"])

    def test_undone(self):
        """git_undo: a split with a rest goes back in one step"""
        ids = self.ids()
        before = self.snapshot()
        server = everyday.Server(self)
        server.says("git_rebase", self.plan([{"message": "one", "hunks": [ids["a20"]]}]))
        server.says("git_undo")
        self.assertEqual(self.snapshot(), before)


if __name__ == "__main__":
    harness.main()
