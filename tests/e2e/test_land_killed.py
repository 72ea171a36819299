#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A landing that is killed, wherever that is: it can be made again or taken back, and nothing is lost.

Run as killed.py says.
"""
import json

import harness
import killed


class Landed(killed.Killed):
    def setUp(self):
        super().setUp()
        self.commit("lines.txt", "1\n2\n3\n", "lines")
        self.git("checkout", "-q", "-b", "feature")
        self.commit("b.txt", "b\n", "feature")
        self.commit("lines.txt", "1\n2\nthree\n", "feature")
        self.git("checkout", "-q", "main")
        self.commit("m.txt", "m\n", "main moves")
        self.write("a.txt", "mine\n")
        self.write("untracked.txt", "mine\n")
        self.first = self.out("rev-parse", "main").strip()
        self.before = self.files()
        self.outcomes = set()

    def files(self):
        """The files, and what git says of them."""
        return ({name: value for name, value in self.snapshot().items()
                 if not name.startswith("git:") and name != "refs"},
                self.out("status", "--porcelain"), self.out("rev-parse", "main", "feature", "HEAD"))

    def unlock(self):
        """Remove the locks that a killed git left, as its user would."""
        for lock in (self.root / ".git").rglob("*.lock"):
            lock.unlink()

    def check(self):
        """The branch is where it was, and it lands; or it moved, and a rollback takes it back."""
        self.unlock()
        self.git("fsck", "--strict", "--no-dangling")
        moved = self.out("rev-parse", "main").strip() != self.first
        self.outcomes.add(moved)
        if not moved:
            self.assertEqual(self.files(), self.before)
            self.ok("git_land", {"branch": "feature"}, "--toolset", "parallel")
            self.assertEqual((self.root / "b.txt").read_text(encoding="utf-8"), "b\n")
        self.assertEqual(self.out("rev-parse", "main^2"), self.out("rev-parse", "feature"))
        done = self.command("rollback", *(["--force"] if moved else []))  # it cannot tell what was done since
        self.assertEqual(done.returncode, 0, done)
        for line in done.stderr.splitlines():  # a file that git had replaced already
            self.assertIn("a call was killed, and what it had taken away is kept", line)
        self.assertEqual(self.files(), self.before)

    def test_merge(self):
        """a landing in the branch that is checked out killed at its steps"""
        self.keep()
        self.walk(("call", "--root", str(self.root), "--approval", "allow", "--toolset", "parallel",
                   "git_land", json.dumps({"branch": "feature"})), self.check)
        if killed.EVERY == 1:
            self.assertEqual(self.outcomes, {True, False})


if __name__ == "__main__":
    harness.main()
