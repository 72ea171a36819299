#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent that fills the store of checkpoints, so that what it threw away cannot come back."""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # pylint: disable=wrong-import-position

WORKFLOW = ("--toolset", "workflow")
LIMIT = 1 << 20


class Full(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        path = self.home / ".config/airlock/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"[journal]\nmax_store_bytes = {LIMIT}\n", encoding="ascii")

    def size(self):
        """Bytes of the packs of the only store there is."""
        [packs] = (self.home / ".local/state/airlock").glob("*/checkpoints.git/objects/pack")
        return sum(path.stat().st_size for path in packs.iterdir())

    def fill(self, limit, rounds=20):
        """Calls that nobody is asked about, each with new bytes; gives how many it took."""
        for number in range(rounds):
            if self.size() > limit:
                return number
            self.write("noise", os.urandom(LIMIT // 4))
            self.ok("git_add", {"paths": ["noise"]})
        return rounds

    def rollback(self, *words):
        """Its outcome."""
        return subprocess.run([harness.AIRLOCK, "rollback", *words], cwd=self.root, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True)

    def test_filled(self):
        """what was discarded before the store was filled still comes back; then nothing more is"""
        self.write("a.txt", "a user's\n")
        self.ok("git_checkout", {"target": "HEAD", "paths": ["a.txt"]}, *WORKFLOW)
        count = self.fill(LIMIT)
        self.assertGreater(self.size(), LIMIT)
        self.write("a.txt", "more of it\n")
        for tool, arguments, options in (
                ("git_checkout", {"target": "HEAD", "paths": ["a.txt"]}, WORKFLOW),
                ("git_restore", {"paths": ["a.txt"]}, ()), ("git_checkout", {"paths": ["a.txt"]}, ()),
                ("git_stash", {"action": "clear"}, ()),
                ("git_restore", {"paths": ["a.txt"], "staged": True, "worktree": False}, ())):
            result = self.call(tool, arguments, *options)
            self.assertEqual((result.kind, result.error["code"]), ("ExecutionFailed", 7001), result)
            self.assertIn("full", result.text)
            self.assertEqual((self.root / "a.txt").read_text(), "more of it\n")
        self.ok("git_add", {"paths": ["a.txt"]})
        self.assertIsNotNone(self.record()["git_commit"])
        done = self.rollback(str(count + 2), "--force")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual((self.root / "a.txt").read_text(), "a user's\n")

    def test_asked(self):
        """a user who is asked can have it done, and it comes back as well"""
        self.ok("git_branch", {"create": "b"})
        self.fill(LIMIT)
        self.write("a.txt", "a user's\n")
        server = harness.AskingServer(self)
        _, result = server.decided("once", "git_restore", {"paths": ["a.txt"]})
        server.close()
        self.assertFalse(result.failed, result)
        self.assertEqual((self.root / "a.txt").read_text(), "one\n")
        self.assertEqual(self.rollback().returncode, 0)
        self.assertEqual((self.root / "a.txt").read_text(), "a user's\n")

    def test_twice_over(self):
        """at twice the limit no more is taken: what only adds goes on and says so"""
        self.ok("git_branch", {"create": "b"})
        self.fill(2 * LIMIT)
        self.assertGreaterEqual(self.size(), 2 * LIMIT)
        size = self.size()
        self.write("noise", os.urandom(LIMIT // 4))
        result = self.ok("git_add", {"paths": ["noise"]})
        self.assertIn("is full", result.stderr)
        self.assertEqual(self.size(), size)
        self.write("a.txt", "a user's\n")
        self.assertEqual(self.call("git_restore", {"paths": ["a.txt"]}).error["code"], 7001)


if __name__ == "__main__":
    harness.main()
