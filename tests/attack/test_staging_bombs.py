#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Trees of a few objects that stand for millions of files, as the target of a push."""
import hashlib
import os
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
import harness
import pushing


class Bombs(pushing.Pushing):
    """Each is shown to be one with plain git first."""

    def tree(self, *entries):
        """Write a tree of these (mode, name, id), as a loose object; gives its id."""
        raw = b"".join(f"{mode} {name}".encode() + b"\0" + bytes.fromhex(oid)
                       for mode, name, oid in entries)
        raw = b"tree %d\0" % len(raw) + raw
        oid = hashlib.sha1(raw).hexdigest()
        path = self.root / ".git/objects" / oid[:2] / oid[2:]
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(zlib.compress(raw))
        return oid

    def leaf(self):
        """A tree with one file."""
        return self.tree(("100644", "a", self.out("rev-parse", "HEAD:a.txt").strip()))

    def plant(self, tree):
        """Make it the tree of the branch `bomb`."""
        commit = self.out("commit-tree", tree, "-m", "x").strip()
        self.git("update-ref", "refs/heads/bomb", commit)

    def refused(self, where=None):
        """Each way to push there fails with a clear line; nothing changes."""
        staged = self.stage({"b.txt": "b\n"})
        target = (where or self.LOCAL) | {"branch": "bomb"}
        before = self.out("for-each-ref")
        for approval in ("ask", "allow"):
            result = self.push(staged, target, approval=approval)
            self.assertEqual(result.kind, "ExecutionFailed", result)
            self.assertEqual(len(result.text.splitlines()), 1)
            self.assertIn("the branch has more than 1000000 files and directories", result.text)
        self.assertEqual(self.out("for-each-ref"), before)
        self.pushed(staged, self.LOCAL)

    def test_wide(self):
        """ten trees, each with ten times the same one: more files than any index can have"""
        tree = self.leaf()
        for _ in range(9):
            tree = self.tree(*(("40000", name, tree) for name in "0123456789"))
        self.plant(tree)
        with subprocess.Popen(["git", "ls-tree", "-r", "--name-only", "bomb"], cwd=self.root,
                              env=self.env, stdout=subprocess.PIPE) as listing:
            for _ in range(100001):
                self.assertTrue(listing.stdout.readline(), "no bomb")
            listing.kill()
        self.refused()

    def test_deep(self):
        """directories in each other, more than a path can name"""
        tree = self.leaf()
        for _ in range(1001):
            tree = self.tree(("40000", "d", tree))
        self.plant(tree)
        listed = self.out("ls-tree", "-r", "--name-only", "bomb")
        self.assertEqual(listed, "d/" * 1001 + "a\n", "no bomb")
        self.refused()


if __name__ == "__main__":
    harness.main()
