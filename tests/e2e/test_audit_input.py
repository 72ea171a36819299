#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The journal's `input`: it says which file or branch, holds no secret, and has a bound."""
import hashlib

import harness

TOKEN = "ghp_0123456789abcdefghijABCDEFGHIJ012345"
LINE_MAX = 256 << 10


class Names(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()

    def assert_input(self, tool, arguments, *options, wanted=None):
        """What the line of a call has of its arguments."""
        self.call(tool, arguments, *options)
        self.assertEqual(self.record()["input"], wanted or arguments, (tool, arguments))

    def test_names(self):
        """a file, a branch or a revision that looks like a secret is named"""
        self.write(TOKEN, "x\n")
        self.write("a:/x@y", "x\n")
        for paths in ([TOKEN], ["a://x@y"], [f"dir/{TOKEN}", "b"]):
            self.assert_input("git_add", {"paths": paths})
            self.assert_input("git_restore", {"paths": paths})
            self.assert_input("git_diff", {"paths": paths})
        self.assert_input("git_branch", {"create": TOKEN})
        self.assert_input("git_checkout", {"branch": TOKEN})
        self.assert_input("git_checkout", {"commit": TOKEN})
        self.assert_input("git_show", {"commit": TOKEN})
        self.assert_input("git_diff", {"from_ref": TOKEN, "to_ref": "main"})
        self.assert_input("git_merge", {"branch": TOKEN})
        self.assert_input("git_checkout", {"target": TOKEN}, "--toolset", "workflow")
        self.assert_input("git_log", {"working_dir": TOKEN})

    def test_secrets(self):
        """what is no name is redacted as before"""
        self.assert_input("git_commit", {"type": "fix", "message": f"with {TOKEN}"},
                          wanted={"type": "fix", "message": "with [redacted]"})
        self.assert_input("git_remote", {"action": "add", "name": "x",
                                         "url": f"https://u:{TOKEN}@example.com/r.git"},
                          wanted={"action": "add", "name": "x",
                                  "url": "https://[redacted]@example.com/r.git"})
        self.assert_input("git_fetch", {"remote": "https://u:p@example.com/r.git"},
                          wanted={"remote": "https://[redacted]@example.com/r.git"})
        self.assert_input("git_log", {"author": TOKEN}, wanted={"author": "[redacted]"})
        self.assert_input("git_add", {"paths": {"x": TOKEN}}, wanted={"paths": {"x": "[redacted]"}})
        self.assert_input("git_add", {"files": [TOKEN]}, wanted={"files": ["[redacted]"]})

    def test_large(self):
        """a refused call with arguments of megabytes takes a bounded line"""
        server = harness.Server(self)
        large = {"message": "\x7f" * 1500000, "type": "fix", "scope": ["x"] * 30000}
        server.call("git_commit", large)
        server.close()
        cut = self.record()["input"]
        digest = hashlib.sha256(large["message"].encode()).hexdigest()
        self.assertTrue(cut["message"].startswith("\x7f" * 1000))
        self.assertTrue(cut["message"].endswith(f"... [1500000 bytes, SHA-256 {digest}]"))
        self.assertEqual(cut["type"], "fix")
        self.assertTrue(cut["scope"].startswith('["x","x",'))
        [line] = (self.home / ".local/state/airlock/tool_log.jsonl").read_bytes().splitlines()
        self.assertLess(len(line), LINE_MAX)


if __name__ == "__main__":
    harness.main()
