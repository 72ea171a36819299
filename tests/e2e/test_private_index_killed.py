#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A read that is killed, wherever that is: the next one is right, and refreshes its index again.

Run as killed.py says.
"""
import json

import harness
import killed
import private_index
from private_index import stat_of


class Reads(killed.Killed, private_index.Case):
    def setUp(self):
        super().setUp()
        self.add_many()
        self.write("many/f00.txt", "changed\n")
        self.write("new.txt", "new\n")
        self.words = ("call", "--json", "--root", str(self.root), "git_status", json.dumps({}))
        self.index = self.root / ".git/index"

    def reset(self):
        """As it was, with an index that gets a copy."""
        super().reset()
        self.wait_until_settled()
        self.before = stat_of(self.index), self.index.read_bytes()

    def check(self):
        """The user's index is as it was, and every answer is right."""
        self.assertEqual((stat_of(self.index), self.index.read_bytes()), self.before)
        self.assertFalse(list((self.root / ".git").rglob("*.lock")))
        for _ in range(2):
            self.assertEqual(self.ok("git_status").text, self.plain())
        self.assertFalse((self.copy() / "work/index.lock").exists())
        self.assertFalse((self.copy() / "ready/new").exists())
        self.assertEqual(self.out("ls-files", "--stage", GIT_INDEX_FILE=str(
            self.copy() / "ready/index")), self.out("ls-files", "--stage"))
        self.write("many/f01.txt", "changed\n")
        self.git("add", "many/f01.txt")
        self.assertEqual(self.ok("git_status").text, self.plain())

    def test_the_first_read(self):
        """killed while the private index is made and refreshed"""
        self.keep()
        self.walk(self.words, self.check)


if __name__ == "__main__":
    harness.main()
