#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: the files .git/remotes/ and .git/branches/, old forms of remotes, give no address.

Nobody is shown what they have, so nothing is sent there.  Plain git uses them, as the control.
Source: gitremotes in git-push(1), "REMOTES".
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import everyday  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position


class Legacy(everyday.Case):
    def setUp(self):
        super().setUp()
        self.top, self.root = self.root, self.root / "repo"
        self.root.mkdir()
        self.init()
        for name in ("evil.git", "good.git"):
            self.git("init", "-q", "--bare", str(self.top / name))
        self.commit("secret.txt", "secret\n", "secret")
        self.evil = self.top / "evil.git"
        for name in ("remotes", "branches"):
            (self.root / ".git" / name).mkdir(exist_ok=True)

    def call(self, tool, arguments=None, *options, **named):
        arguments = {"working_dir": str(self.root), **(arguments or {})}
        return super().call(tool, arguments, *options, root=self.top, approval="allow", **named)

    def plant(self, name):
        """Both old forms of one name."""
        (self.root / f".git/remotes/{name}").write_text(
            f"URL: {self.evil}\nPush: refs/heads/main:refs/heads/main\n"
            "Pull: refs/heads/main:refs/heads/stolen\n")
        (self.root / f".git/branches/{name}").write_text(f"{self.evil}#main\n")

    def sent(self):
        """What has come to the wrong place."""
        return self.out("for-each-ref", cwd=self.evil)

    def test_name_alone(self):
        """a remote that only an old file has is none"""
        self.plant("old")
        self.git("push", "-q", "old", "main")
        self.assertIn("refs/heads/main", self.sent())
        before = self.snapshot()
        self.git("update-ref", "-d", "refs/heads/main", cwd=self.evil)
        for tool in ("git_push", "git_fetch", "git_pull"):
            result = self.call(tool, {"remote": "old", "branch": "main"})
            self.assertIn("There is no remote 'old'", result.text, tool)
            self.assertEqual(self.sent(), "")
            self.assertEqual(self.snapshot(), before)

    def test_half_configured(self):
        """one whose section has no address gets none from the file"""
        self.plant("half")
        self.git("config", "remote.half.fetch", "+refs/heads/*:refs/remotes/half/*")
        self.git("push", "-q", "half", "main")
        self.assertIn("refs/heads/main", self.sent())
        self.git("update-ref", "-d", "refs/heads/main", cwd=self.evil)
        self.assertIn("There is no remote 'half'",
                      self.call("git_push", {"remote": "half", "branch": "main"}).text)
        self.assertEqual(self.sent(), "")

    def test_push_address_only(self):
        """one with an address for pushes alone is not fetched from the file's"""
        self.plant("part")
        self.git("config", "remote.part.pushurl", str(self.top / "good.git"))
        self.git("push", "-q", str(self.evil), "main")
        self.git("fetch", "-q", "part")
        self.assertIn("refs/heads/stolen", self.out("for-each-ref"))
        self.git("update-ref", "-d", "refs/heads/stolen")
        self.call("git_fetch", {"remote": "part", "branch": "main"})
        self.assertNotIn("stolen", self.out("for-each-ref"))
        self.git("update-ref", "-d", "refs/heads/main", cwd=self.evil)
        self.call("git_push", {"remote": "part", "branch": "main"})
        self.assertEqual(self.sent(), "")


if __name__ == "__main__":
    harness.main()
