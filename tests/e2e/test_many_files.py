#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many changed files at once: a checkpoint stores them in another way than few, and has every byte
of them in both."""
import os

import harness
import rollback

LIMIT = 8192         # with so many bytes of paths, and a NUL after each, files are stored one by one
LARGE = 256 * 1024   # larger files always are


class ManyFiles(rollback.Rollback):
    def discard(self, length):
        """Files that were changed, and are restored by a call, come back.  Their paths take so many
        bytes."""
        special = ["at the limit", "over the limit", '"quoted"\n', "link"]
        names = [f"part{number % 7}/file {number:03}" for number in range(LIMIT // 15 - 20)]
        rest = length - sum(len(name) + 1 for name in names + special)
        names.append("long".ljust(rest // 2 - 1, "g"))
        names.append("last".ljust(rest - rest // 2 - 1, "t"))
        for name in names:
            self.write(name, "one\n")
        self.write("at the limit", "one\n")
        self.write("over the limit", "one\n")
        self.write('"quoted"\n', "one\n")
        os.symlink("part0", self.root / "link")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "one")
        for number, name in enumerate(names):
            self.write(name, f"changed {number}\r\n")
        self.write("at the limit", "x" * LARGE)
        self.write("over the limit", "x" * (LARGE + 1))
        self.write('"quoted"\n', "changed\n")
        os.chmod(self.root / names[0], 0o700)
        os.unlink(self.root / "link")
        os.symlink("part1", self.root / "link")
        self.assertEqual(len(self.out("diff", "--name-only", "-z")), length)
        before = self.snapshot()
        harness.Server(self, "--approval", "allow").ok("git_restore", {"paths": ["."]})
        # The limit of the store counts packs.
        [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git/objects")
        self.assertEqual([file for file in store.glob("??/*") if file.stat().st_size > 4096], [])
        self.assertEqual(self.out("diff", "--name-only", "-z"), "")
        self.rollback()
        self.assertEqual(self.snapshot(), before)

    def test_below(self):
        """one byte less than the limit"""
        self.discard(LIMIT - 1)

    def test_at(self):
        """as many bytes as the limit"""
        self.discard(LIMIT)

    def test_over(self):
        """one byte more than the limit"""
        self.discard(LIMIT + 1)


if __name__ == "__main__":
    harness.main()
