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

    def test_others(self):
        """an ignored file that is in nobody's way is no reason"""
        self.secret.unlink()
        self.write("build/x.env", MINE)
        self.commit(".gitignore", "build/\n", "ignores a directory")
        self.ok("git_cherry_pick", {"commits": ["other~1"]})
        self.assertEqual((self.root / "build/x.env").read_text(), MINE)


if __name__ == "__main__":
    harness.main()
