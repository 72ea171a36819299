#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A push that is killed, wherever that is: the branch moved or it did not, and nothing is lost.

Run as killed.py says.
"""
import json

import harness
import killed


class Pushed(killed.Killed):
    def setUp(self):
        super().setUp()
        workspace = self.base / "workspace"
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text('toolsets = ["staging"]\n[staging]\nbackend = "directory"\n'
                          f'path = "{workspace}"\n', encoding="utf-8")
        self.first = self.out("rev-parse", "HEAD").strip()
        self.before = self.out("rev-list", "--count", "HEAD").strip()
        self.after = str(int(self.before) + 1)
        self.git("clone", "-q", "--bare", ".", "bare.git")
        self.write("b.txt", "b\n", workspace)
        self.write("d/a.txt", "x\r\n", workspace)
        made = self.ok("git_stage", {"files": ["/workspace"], "message": "pushed"})
        self.staged = made.value["structuredContent"]["id"]

    def check(self, target, where):
        """The branch is where it was or has the whole commit; what is staged can be pushed."""
        head = self.out("rev-parse", "main", cwd=where).strip()
        moved = head != self.first
        self.git("fsck", "--strict", cwd=where)
        self.assertEqual(self.out("rev-list", "--count", "main", cwd=where).strip(),
                         self.after if moved else self.before)
        if moved:
            self.assertEqual(self.out("diff", "--name-only", "main~", "main", cwd=where),
                             "b.txt\nd/a.txt\n")
        again = self.call("git_push", {"commitId": self.staged, "target": target})
        if not moved:
            self.assertFalse(again.failed, again)
            self.assertEqual(again.value["structuredContent"]["status"], "success", again)
        else:
            self.assertTrue(again.failed, again)
            self.assertRegex(again.text, "There is nothing to push|no staged commit")
        self.assertEqual(self.out("rev-list", "--count", "main", cwd=where).strip(),
                         self.after)
        [store] = (self.home / ".local/state/airlock/staging").iterdir()
        self.git(f"--git-dir={store / 'store.git'}", "fsck", "--no-dangling")
        if not moved:
            self.assertEqual(list((store / "store.git").glob(".airlock-*")), [])
        return moved

    def walk_push(self, target, where):
        """Kill a push at its steps."""
        self.keep()
        words = ("call", "--json", "--root", str(self.root), "--approval", "allow", "git_push",
                 json.dumps({"commitId": self.staged, "target": target}))
        outcomes = set()
        self.walk(words, lambda: outcomes.add(self.check(target, where)))
        if killed.EVERY == 1:
            self.assertEqual(outcomes, {True, False})

    def test_bare(self):
        """a push to a bare repository killed at its steps"""
        self.walk_push({"type": "local-bare", "path": "bare.git"}, self.root / "bare.git")

    def test_worktree(self):
        """a push to a working tree killed at its steps"""
        self.walk_push({"type": "local", "path": "."}, self.root)


if __name__ == "__main__":
    harness.main()
