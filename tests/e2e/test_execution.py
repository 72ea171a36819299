#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One execution by its number in the log: airlock diff and airlock rollback with --execution."""
import json

import harness
import rollback


class Execution(rollback.Rollback):
    """Three executions change something, and one looks."""

    def setUp(self):
        super().setUp()
        for text in ("two\n", "three\n"):
            self.write("a.txt", text)
            self.ok("git_add", {"paths": ["a.txt"]})
        self.ok("git_status")
        self.ok("git_commit", {"type": "fix", "message": "a change"})
        self.numbers = [line["seq"] for line in self.lines() if line["git_commit"]]

    def cli(self, *words, code=0):
        """A command that ends with this code."""
        done = self.command(*words)
        self.assertEqual(done.returncode, code, done)
        return done

    def lines(self):
        """The journal."""
        return [json.loads(line) for line in self.cli("log", "--json").stdout.splitlines()]

    def test_diff(self):
        """the changes of that execution alone, of a commit its patch"""
        middle = self.cli("diff", "--execution", str(self.numbers[1])).stdout
        self.assertIn("-two\n+three\n", middle)
        self.assertEqual(middle.count("git_add: "), 1)
        last = self.cli("diff", "--execution", str(self.numbers[2])).stdout
        self.assertIn("In the commits of HEAD:\n", last)
        self.assertIn("+three\n", last)

    def test_rollback(self):
        """that execution and all later ones are undone"""
        number = str(self.numbers[1])
        shown = self.cli("rollback", "--execution", number, "--dry-run").stdout
        self.assertIn("Rolling back 2 executions would change:", shown)
        self.cli("rollback", "--execution", number, "--newest", str(self.numbers[2]), "--yes")
        self.assertEqual(self.out("show", ":a.txt"), "two\n")
        self.assertEqual(self.out("log", "--format=%s").splitlines()[0], "first")

    def test_newer(self):
        """what came since the user looked stops it, and nothing changes"""
        before = self.out("rev-parse", "HEAD"), self.out("ls-files", "-s")
        for words in (("--dry-run",), ("--yes",)):
            done = self.cli("rollback", "--execution", str(self.numbers[0]), "--newest",
                            str(self.numbers[1]), *words, code=1)
            self.assertIn(f"execution {self.numbers[2]} came since", done.stderr)
        self.assertEqual((self.out("rev-parse", "HEAD"), self.out("ls-files", "-s")), before)

    def test_none(self):
        """a number without a checkpoint here, and wrong words"""
        looked = next(line["seq"] for line in self.lines() if line["tool"] == "git_status")
        for number in (looked, 999):
            for command in ("diff", "rollback"):
                done = self.cli(command, "--execution", str(number), code=1)
                self.assertIn(f"there is no execution {number}", done.stderr)
        for words in (("--execution",), ("--execution", "x"), ("--execution", "0"),
                      ("--newest", "1"), ("--execution", "1", "2"),
                      ("--execution", "1", "--agent", "x"), ("--execution", "1", "--redo")):
            self.cli("rollback", *words, code=2)
        self.cli("diff", "--newest", "1", code=2)


if __name__ == "__main__":
    harness.main()
