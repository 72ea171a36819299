#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`d` on the terminal shows all of what a question is about."""
import harness
from test_robust_terminal import Terminal

LINES = 7000
COMMIT = ("git_commit", {"type": "fix", "message": "m"})
OF_WORKFLOW = ("--toolset", "workflow")


class InFull(harness.Case):
    """A change of 7,000 lines, the last of which nobody sees in an excerpt."""

    def setUp(self):
        super().setUp()
        self.init()
        self.change("two", LINES)

    def change(self, word, lines):
        """Another content of a.txt."""
        self.write("a.txt", "".join(f"{word} {number}\n" for number in range(lines)))

    def ask(self, tool, arguments, *options, **env):
        """The question, and then what `d` shows before the question comes again."""
        terminal = Terminal(self, tool, arguments, *options, **{"NO_COLOR": "1", "PAGER": "cat"} | env)
        first = terminal.asked()
        shown = terminal.answer("d\n").asked()
        self.assertTrue(shown.endswith(first), shown[-2000:])
        return terminal, first, shown[len("d\n"):-len(first)]

    def assert_all(self, tool, arguments, *options, sign="+", word="two"):
        """The excerpt lacks the last line; `d` shows each of them once."""
        terminal, first, shown = self.ask(tool, arguments, *options)
        self.assertIn("more line", first)
        self.assertNotIn(f"{word} {LINES - 1}\n", first)
        self.assertNotIn("more line", shown)
        lines = [line for line in shown.splitlines() if line.startswith(f"  {sign}{word} ")]
        self.assertEqual(lines, [f"  {sign}{word} {number}" for number in range(LINES)])
        self.assertEqual(terminal.reject().end(), 3)

    def test_lost(self):
        """what is lost is shown to its last line by every tool that loses it"""
        for tool, arguments, *options in (
                ("git_restore", {"paths": ["a.txt"]}),
                ("git_checkout", {"paths": ["a.txt"]}),
                ("git_checkout", {"target": "HEAD", "force": True}, *OF_WORKFLOW)):
            self.assert_all(tool, arguments, *options)

    def test_staged(self):
        """what is staged is, by every tool that takes it"""
        self.git("add", "a.txt")
        for tool, arguments, *options in (COMMIT, ("git_stash", {"action": "push"}),
                                          ("git_restore", {"paths": ["a.txt"], "staged": True,
                                                           "worktree": False})):
            self.assert_all(tool, arguments, *options)

    def test_merge(self):
        """what a merge brings in is"""
        self.git("checkout", "-q", "-b", "side")
        self.git("commit", "-q", "-a", "-m", "many")
        self.git("checkout", "-q", "main")
        self.assert_all("git_merge", {"branch": "side"}, *OF_WORKFLOW)

    def test_files(self):
        """every file is named, also beyond what a list holds"""
        self.git("checkout", "-q", "a.txt")
        for number in range(300):
            self.write(f"new {number}", "x\n")
        for tool, arguments in (("git_add", {"all": True}), COMMIT):
            terminal, first, shown = self.ask(tool, arguments)
            self.assertNotIn("new 99\n", first)
            for number in range(300):
                self.assertIn(f"new {number}\n", shown)
            self.assertEqual(terminal.reject().end(), 3)
            self.git("add", "-A")

    def test_message(self):
        """the message of a commit is"""
        self.git("add", "a.txt")
        message = "x\n\n" + "".join(f"line {number}\n" for number in range(500))
        config = self.write("asking.toml", '[[tools.approval.rule]]\ntool = "git_commit"\n'
                                           'decision = "ask"\n', where=self.home)
        terminal, first, shown = self.ask("git_commit", {"message": message}, *OF_WORKFLOW,
                                          "--config", str(config))
        self.assertNotIn("line 499\n", first)
        self.assertIn("line 499\n", shown)
        self.assertEqual(terminal.reject().end(), 3)

    def test_approved(self):
        """an answer after it is for what was shown"""
        self.git("add", "a.txt")
        terminal, _, _ = self.ask(*COMMIT)
        self.assertEqual(terminal.answer("o\n").end(), 0)
        self.assertEqual(self.out("show", "HEAD:a.txt").count("\n"), LINES)

    def test_pager(self):
        """it goes through the user's pager, which may be left before its end"""
        self.git("add", "a.txt")
        script = self.write("pager", "#!/bin/sh\nhead -n 6\necho left\n", where=self.home)
        script.chmod(0o755)
        terminal, _, shown = self.ask(*COMMIT, PAGER=str(script))
        self.assertTrue(shown.startswith("\nCommit: fix: m\n"), shown)
        self.assertIn("  1 file, +7000 -1:\n", shown)
        self.assertTrue(shown.endswith("\nleft\n"), shown)
        self.assertEqual(terminal.answer("o\n").end(), 0)

    def test_changed(self):
        """another change is not shown in the place of the question's, and no answer counts for it
        """
        self.git("add", "a.txt")
        terminal = Terminal(self, *COMMIT, NO_COLOR="1", PAGER="cat")
        first = terminal.asked()
        self.change("evil", LINES)
        self.git("add", "a.txt")
        shown = terminal.answer("d\n").asked()
        self.assertNotIn("evil", shown)
        self.assertIn("This cannot be shown in full: what this is about has changed", shown)
        self.assertTrue(shown.endswith(first))
        self.assertIn("evil", terminal.answer("o\n").asked())
        self.assertEqual(terminal.reject().end(), 3)

    def test_small(self):
        """what is shown already goes through the pager too"""
        self.change("three", 1)
        terminal, _, shown = self.ask("git_restore", {"paths": ["a.txt"]}, PAGER="echo pager")
        self.assertEqual(shown, "pager\n")
        self.assertEqual(terminal.reject().end(), 3)


if __name__ == "__main__":
    harness.main()
