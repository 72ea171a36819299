#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_stash names entries by id, and knows whose they are."""
import re

import everyday
import harness
from everyday import LINES, text_with


class Stash(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f.txt", "".join(LINES), "base")

    def text(self):
        return (self.root / "f.txt").read_text()

    def push(self, content, **arguments):
        self.write("f.txt", content)
        text = self.says("git_stash", arguments)
        return re.match(r"Stashed as ([0-9a-f]{8}) ", text)[1]

    def test_push_pop(self):
        """git_stash: push and pop, and the words of the entry"""
        one = self.push(text_with(at1="one"), message="mine")
        self.assertEqual(self.text(), "".join(LINES))
        self.assertRegex(self.says("git_stash", {"action": "list"}),
                         rf"^{one} \d{{4}}-\d\d-\d\d  On main: mine$")
        self.assertEqual(self.says("git_stash", {"action": "pop"}),
                         f"Popped {one} On main: mine\nmain, 1 not staged")
        self.assertEqual(self.text(), text_with(at1="one"))
        self.assertEqual(self.says("git_stash", {"action": "list"}), "No stash entries.")

    def test_list_words(self):
        """git_stash: an entry without a message has the same words in the list as when it was made"""
        self.write("f.txt", text_with(at1="one"))
        words = self.says("git_stash").splitlines()[0].removeprefix("Stashed as ")
        self.assertIn(" WIP on main: ", words)
        self.assertEqual(self.says("git_stash", {"action": "list"}).split("  ")[1], words.split(" ", 1)[1])

    def test_staged(self):
        """git_stash: what was staged comes back staged, where the index has not changed there"""
        def begin():
            self.git("reset", "-q", "--hard")
            self.write("new.txt", "new\n")
            self.write("f.txt", text_with(at1="staged"))
            self.git("add", "f.txt", "new.txt")
            self.write("f.txt", text_with(at1="staged", at2="not"))
            before = self.out("status", "--porcelain"), self.out("diff", "--cached")
            self.says("git_stash")
            return before

        def now():
            return self.out("status", "--porcelain"), self.out("diff", "--cached")

        self.commit("other.txt", "other\n", "other")
        for action in ("pop", "apply"):
            before = begin()
            self.assertEqual(before[0], "MM f.txt\nA  new.txt\n")
            server = everyday.Server(self)
            text = server.ok("git_stash", {"action": action}).text
            self.assertIn("2 staged", text)
            self.assertNotIn("told apart", text)
            self.assertEqual(now(), before)
            server.ok("git_undo")
            self.assertEqual(now(), ("", ""))
        self.git("stash", "clear")
        before = begin()
        self.commit("other.txt", "more\n", "elsewhere")
        self.write("other.txt", "staged as well\n")
        self.git("add", "other.txt")
        self.says("git_stash", {"action": "pop"})
        self.assertEqual(self.out("status", "--porcelain"),  # as git stash pop
                         " M f.txt\nA  new.txt\nM  other.txt\n")
        before = begin()
        self.commit("other.txt", "and more\n", "elsewhere")
        self.write("other.txt", "not staged\n")
        self.says("git_stash", {"action": "pop"})
        self.assertEqual(self.out("status", "--porcelain"),
                         "MM f.txt\nA  new.txt\n M other.txt\n")
        before = begin()
        self.commit("f.txt", text_with(at7="upstream"), "elsewhere")
        self.assertIn("\nWhat was staged in it is no longer told apart",
                      self.says("git_stash", {"action": "pop"}))
        self.assertEqual(self.out("status", "--porcelain"), " M f.txt\nA  new.txt\n")
        self.assertEqual(self.text(), text_with(at1="staged", at2="not", at7="upstream"))

    def test_ids(self):
        """git_stash: an id names the same entry, whatever is pushed and dropped meanwhile"""
        one, two = self.push(text_with(at1="one")), self.push(text_with(at2="two"))
        three = self.push(text_with(at3="three"))
        self.assertIn(f"Dropped {two} ", self.says("git_stash", {"action": "drop", "id": two}))
        self.fails("ExecutionFailed", f"No stash entry {two}", "git_stash",
                   {"action": "pop", "id": two})
        self.assertIn("+one\n", self.says("git_stash", {"action": "show", "id": one.upper()}))
        self.says("git_stash", {"action": "apply", "id": one})
        self.assertEqual(self.text(), text_with(at1="one"))
        self.assertEqual(re.findall("^[0-9a-f]{8}", self.says("git_stash", {"action": "list"}),
                                    re.M), [three, one])

    def test_numbers(self):
        """git_stash: stash@{0}, as every user of git writes it, names an entry too"""
        one, two = self.push(text_with(at1="one")), self.push(text_with(at2="two"))
        self.assertIn(one, self.says("git_stash", {"action": "show", "id": "stash@{1}"}))
        self.assertIn(f"Dropped {two} ", self.says("git_stash", {"action": "drop",
                                                                 "id": "stash@{0}"}))
        self.fails("ExecutionFailed", "No stash entry stash@{1}", "git_stash",
                   {"action": "pop", "id": "stash@{1}"})
        for name in ("stash@{}", "stash@{0", "stash@{-1}", "stash@{1}x", "stash@{0000001}",
                     "stash@{now}", "xstash@{0}"):
            self.fails("BadArgs", "id:", "git_stash", {"action": "pop", "id": name})
        self.says("git_stash", {"action": "pop", "id": "stash@{000000}"})
        self.assertEqual(self.text(), text_with(at1="one"))

    def test_show_untracked(self):
        """git_stash: show has the untracked files of the entry"""
        self.write("new.txt", "untracked\n")
        self.says("git_stash", {"untracked": True})
        text = self.says("git_stash", {"action": "show"})
        self.assertIn("Untracked files:\n new.txt | 1 +\n", text)
        self.assertIn("+untracked\n", text + "\n")
        self.write("big.txt", "line\n" * 100000)
        self.says("git_stash", {"untracked": True})
        text = self.says("git_stash", {"action": "show"})
        self.assertIn(" big.txt | 100000 +", text)
        self.assertIn("^3 shows it", text)
        self.push(text_with(at1="one"))
        self.assertNotIn("Untracked", self.says("git_stash", {"action": "show"}))

    def test_paths(self):
        """git_stash: only some paths, with untracked files"""
        self.write("f.txt", "x\n")
        self.write("d/new", "n\n")
        self.says("git_stash", {"paths": ["d"], "untracked": True})
        self.assertEqual(self.text(), "x\n")
        self.assertFalse((self.root / "d/new").exists())
        self.says("git_stash", {"action": "pop"})
        self.assertEqual((self.root / "d/new").read_text(), "n\n")
        self.fails("ExecutionFailed", "There is no 'none' in the working tree", "git_stash",
                   {"paths": ["none"]})

    def test_conflict(self):
        """git_stash: a pop that conflicts is a result, and the entry stays"""
        one = self.push(text_with(at1="mine"))
        self.commit("f.txt", text_with(at1="theirs"), "theirs")
        text = self.says("git_stash", {"action": "pop"})
        self.assertIn(f"Applied {one} ", text)
        self.assertIn("with conflicts; the entry stays", text)
        self.assertIn("1 conflict", text)
        self.assertIn("\nf.txt", text)
        self.assertIn(one, self.says("git_stash", {"action": "list"}))

    def test_conflict_staged(self):
        """git_stash: what was staged is no reason to refuse a conflict; it is said"""
        for action in ("pop", "apply"):
            self.write("f.txt", text_with(at1="mine"))
            self.write("new.txt", "new\n")
            self.git("add", "new.txt")
            self.says("git_stash")
            self.commit("f.txt", text_with(at1=f"theirs {action}"), "theirs")
            text = self.says("git_stash", {"action": action})
            self.assertIn("with conflicts; the entry stays", text)
            self.assertIn("\nWhat was staged in it is no longer told apart", text)
            self.assertEqual(self.out("status", "--porcelain"), "UU f.txt\nA  new.txt\n")
            self.assertEqual(self.out("stash", "list").count("\n"), 1)
            self.says("git_conflicts", {"action": "resolve", "take": "theirs"})
            self.assertEqual(self.text(), text_with(at1="mine"))
            self.says("git_stash", {"action": "drop"})
            self.git("reset", "-q", "--hard")

    def test_conflicts_before(self):
        """git_stash: nothing is brought back while there are conflicts, and the entry stays"""
        self.commit("g.txt", "g\n", "g")
        self.fork(text_with(at1="ours"), text_with(at1="theirs"))
        self.write("g.txt", "mine\n")
        self.says("git_stash")
        self.git("merge", "-q", "topic", check=False)
        for action in ("push", "pop", "apply"):
            result = self.fails("ExecutionFailed", "There are unresolved conflicts in f.txt",
                                "git_stash", {"action": action})
            self.assertIn("git_conflicts shows the conflicts", result.text)
        self.assertEqual(self.out("stash", "list").count("\n"), 1)
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "ours"})
        self.says("git_conflicts", {"action": "continue"})
        self.assertIn("Popped ", self.says("git_stash", {"action": "pop"}))
        self.assertEqual((self.root / "g.txt").read_text(), "mine\n")

    def test_conflicts_of_entry(self):
        """git_stash: an entry that conflicted is not applied again over its conflicts"""
        self.push(text_with(at1="mine"))
        self.commit("f.txt", text_with(at1="theirs"), "theirs")
        self.says("git_stash", {"action": "apply"})
        self.fails("ExecutionFailed", "There are unresolved conflicts in f.txt", "git_stash",
                   {"action": "pop"})

    def test_in_the_way(self):
        """git_stash: a pop that git refuses changes nothing"""
        self.push(text_with(at1="mine"))
        self.write("f.txt", "local\n")
        self.fails("ExecutionFailed", "f.txt", "git_stash", {"action": "pop"})

    def test_bad(self):
        """git_stash: contradictions, ids that are none, nothing there"""
        for arguments in ({"id": "1234"}, {"action": "pop", "message": "m"},
                          {"action": "drop", "paths": ["f.txt"]},
                          {"action": "list", "id": "1234"}, {"action": "pop", "id": "12"},
                          {"action": "pop", "id": "HEAD"}, {"action": "pop", "id": "--index"}):
            self.assertEqual(self.call("git_stash", arguments).kind, "BadArgs", arguments)
        for action in ("pop", "apply", "show", "drop"):
            self.fails("ExecutionFailed", "There is no stash entry", "git_stash",
                       {"action": action})
        self.assertIn("Nothing to stash: no tracked file is changed here; untracked: true", self.says("git_stash"))

    def test_other_worktree(self):
        """git_stash: pop takes this worktree's newest; another's is asked about"""
        other = self.base / "other"
        self.git("worktree", "add", "-q", str(other), "-b", "topic")
        one = self.push(text_with(at1="mine"))
        result = self.call("git_stash", {"action": "pop"}, root=other)
        self.assertIn("This worktree has no stash entry", result.text)
        both = ("--root", str(other))
        result = self.call("git_stash", {"action": "pop", "id": one, "working_dir": str(other)},
                           *both, approval="ask")
        self.assertEqual(result.kind, "ApprovalRequired", result)
        self.ok("git_stash", {"action": "pop", "id": one}, *both, approval="ask")


if __name__ == "__main__":
    harness.main()
