#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""More paths than fit on one command line: all of them are shown, decided about and done."""
import subprocess

import harness

MANY, LENGTH = 1500, 1500  # 2.2 MB of paths, where a command line ends at 2 MB


class ManyPaths(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        directory = "/".join(["d" * 240] * (LENGTH // 241))
        self.names = [f"{directory}/{number:0{LENGTH - len(directory) - 1}}"
                      for number in range(MANY)]
        for name in self.names:
            self.write(name, "one\n")
        # The control: no command line takes them.
        with self.assertRaisesRegex(OSError, "Argument list too long"):
            subprocess.run(["git", "-C", self.root, "ls-files", "--", *self.names], check=False)

    def changed(self, *options):
        """How many files differ."""
        return self.out("diff", "--name-only", "-z", *options).count("\0")

    def test_add(self):
        """git_add of 1500 long paths lists them and stages them"""
        server = harness.AskingServer(self)
        shown, result = server.decided("once", "git_add", {"paths": self.names})
        self.assertIn("These files are staged:", shown)
        self.assertIn(self.names[0][:100], shown)
        self.assertEqual(result.text, f"Staged {MANY} file(s)")
        self.assertEqual(self.changed("--cached"), MANY)

    def test_restore(self):
        """git_restore of 1500 long paths shows what is lost, and restores them"""
        self.git("add", "-A")
        for name in self.names:
            self.write(name, "two\n")
        server = harness.AskingServer(self)
        shown, result = server.decided("once", "git_restore", {"paths": self.names})
        self.assertIn("+two", shown)
        self.assertEqual(result.text, f"Restored {MANY} file(s)")
        self.assertEqual(self.changed(), 0)
        shown, result = server.decided("once", "git_restore", {
            "paths": self.names, "staged": True, "worktree": False})
        self.assertIn("This is no longer staged:", shown)
        self.assertEqual(result.text, f"Restored {MANY} file(s)")
        self.assertEqual(self.changed("--cached"), 0)

    def test_checkout(self):
        """git_checkout of 1500 long paths shows what is lost, and puts them back"""
        self.git("add", "-A")
        for name in self.names:
            self.write(name, "two\n")
        server = harness.AskingServer(self)
        shown, result = server.decided("once", "git_checkout", {"paths": self.names})
        self.assertIn("+two", shown)
        self.assertEqual(result.text, f"Restored {MANY} file(s)")
        self.assertEqual(self.changed(), 0)

    def test_diff(self):
        """git_diff says that 1500 long paths are too many, and takes the first 600"""
        self.git("add", "-A")
        self.write(self.names[0], "two\n")
        server = harness.Server(self)
        message = "paths: more than one git diff takes; name fewer, or their directory"
        server.refused("BadArgs", message, "git_diff", {"paths": self.names})
        result = server.ok("git_diff", {"paths": self.names[:600], "name_only": True})
        self.assertEqual(result.text, self.names[0] + "\n")


if __name__ == "__main__":
    harness.main()
