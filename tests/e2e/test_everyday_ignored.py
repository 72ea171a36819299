#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git writes over ignored files without a word; airlock refuses, naming the file."""
import everyday
import harness

MINE = "the user's, and nowhere else\n"


class Ignored(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.git("checkout", "-q", "-b", "other")
        self.commit("secret.env", "theirs\n", "adds the file")
        self.git("rm", "-q", "secret.env")
        self.git("commit", "-q", "-m", "removes the file")
        self.git("checkout", "-q", "-")
        self.commit(".gitignore", "secret.env\n", "ignores it")
        self.secret = self.write("secret.env", MINE)

    def test_control(self):
        """plain git writes over the file, and removes it"""
        self.git("cherry-pick", "other~1")
        self.assertEqual(self.secret.read_text(), "theirs\n")
        self.git("cherry-pick", "other")
        self.assertFalse(self.secret.exists())

    def test_refused(self):
        """picks, rebases, merges and resets leave it alone"""
        for tool, arguments in (
                ("git_cherry_pick", {"commits": ["other~1"]}),
                ("git_cherry_pick", {"commits": ["other~1"], "no_commit": True}),
                ("git_merge", {"branch": "other~1"}),
                ("git_merge", {"branch": "other~1", "squash": True}),
                ("git_rebase", {"onto": "other~1"}),
                ("git_revert", {"commits": ["other"]}),
                ("git_reset", {"to": "other~1", "mode": "keep"}),
                ("git_reset", {"to": "other~1", "mode": "hard"}),
                ("git_switch", {"rev": "other~1"})):
            head = self.out("rev-parse", "HEAD")
            if tool == "git_revert":
                self.git("merge", "-q", "-s", "ours", "-m", "joins", "other")
                head = self.out("rev-parse", "HEAD")
            result = self.call(tool, arguments)
            self.assertTrue(result.failed, (tool, arguments, result))
            self.assertIn("'secret.env' would be lost", result.text, (tool, arguments))
            self.assertEqual(self.secret.read_text(), MINE)
            self.assertEqual(self.out("rev-parse", "HEAD"), head)

    def make_clash(self):
        """A branch with the file and another .gitignore, and then without the file."""
        self.secret.unlink()
        self.git("checkout", "-q", "-b", "clash", "other~1")
        self.commit(".gitignore", "others\n", "clashes")
        self.git("rm", "-q", "secret.env")
        self.write(".gitignore", "more\n")
        self.git("commit", "-q", "-am", "removes the file, and clashes")
        self.git("checkout", "-q", "main")
        self.write("secret.env", MINE)

    def test_control_of_a_stop(self):
        """a rebase by plain git that stops has written over the file before it stops"""
        self.make_clash()
        self.git("rebase", "clash~1", check=False)
        self.assertEqual(self.secret.read_text(), "theirs\n")

    def test_stopped(self):
        """a rebase or a revert that would stop at a conflict leaves it alone, too"""
        self.make_clash()
        self.assert_refused("git_rebase", {"onto": "clash~1"})
        self.git("merge", "-q", "-s", "ours", "-m", "joins", "clash")
        self.assert_refused("git_revert", {"commits": ["clash"]})

    def assert_refused(self, tool, arguments):
        head = self.out("rev-parse", "HEAD")
        result = self.call(tool, arguments)
        self.assertTrue(result.failed, result)
        self.assertIn("'secret.env' would be overwritten", result.text)
        self.assertEqual(self.secret.read_text(), MINE)
        self.assertEqual(self.out("rev-parse", "HEAD"), head)
        self.assertFalse((self.root / ".git/rebase-merge").exists())

    def test_others(self):
        """an ignored file that is in nobody's way is no reason"""
        self.secret.unlink()
        self.write("build/x.env", MINE)
        self.commit(".gitignore", "build/\n", "ignores a directory")
        self.ok("git_cherry_pick", {"commits": ["other~1"]})
        self.assertEqual((self.root / "build/x.env").read_text(), MINE)


if __name__ == "__main__":
    harness.main()
