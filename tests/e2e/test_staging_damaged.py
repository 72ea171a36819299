#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A store with a damaged reference: it is forgotten, and every tool goes on."""
import json
import subprocess

import harness
import pushing

DAMAGE = (b"", b"{", b"\0\xff" * 100)


class Damaged(pushing.Pushing):
    """References to a base, and to what was last seen of a branch."""

    def setUp(self):
        super().setUp()
        self.commit("b.txt", "b\n", "b")
        self.ok("git_pull", {"source": self.LOCAL, "paths": ["."]})
        [self.store] = (self.home / ".local/state/airlock/staging").iterdir()

    def damage(self, content=b"{", is_origin=False):
        """Damage the one reference."""
        refs = (self.store / "store.git/refs/base").iterdir()
        [ref] = [path for path in refs if ("-" in path.name) == is_origin]
        ref.write_bytes(content)

    def changed(self, result):
        """What a git_status says of each file."""
        return [(entry["status"], entry["path"].removeprefix("/workspace/"))
                for entry in result.value["structuredContent"]["unstaged"]]

    def command(self, *words):
        """`airlock staging`."""
        done = subprocess.run([harness.AIRLOCK, "staging", *words], cwd=self.root, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, check=True, text=True)
        return done.stdout

    def test_base(self):
        """all files count as new, which is said once; a pull makes that good"""
        for content in DAMAGE:
            self.damage(content)
            result = self.ok("git_status")
            self.assertEqual(self.changed(result), [("new", "a.txt"), ("new", "b.txt")])
            self.assertIn("count as new", result.stderr)
            self.assertEqual(self.ok("git_status").stderr.count("damaged"), 0)
            self.ok("git_pull", {"source": self.LOCAL, "paths": ["."]})
            self.assertEqual(self.changed(self.ok("git_status")), [])

    def test_everything_goes_on(self):
        """staging, diffs, pushes, discards and pulls, each as the first to find it"""
        self.write("a.txt", "mine\n", self.workspace)
        self.write("c.txt", "mine\n", self.workspace)
        self.damage()
        staged = self.stage({"a.txt": "mine\n"})
        other = self.stage({"c.txt": "mine\n"})
        self.assertIn("+mine\n", self.ok("git_diff", {"commitId": staged}).text)
        self.assertIn(staged[:8], self.command())
        self.assertIn("Files:\n  M a.txt", self.shown(staged))
        self.ok("git_discard", {"commitId": other})
        self.pushed(staged)
        self.assertEqual(self.content("a.txt"), b"mine\n")
        self.damage()
        self.commit("b.txt", "theirs\n", "theirs")
        self.ok("git_pull", {"source": self.LOCAL, "paths": ["."]})
        self.assertEqual((self.workspace / "b.txt").read_text(encoding="utf-8"), "theirs\n")

    def test_origin(self):
        """what was last seen of a branch is forgotten, and seen again with the next pull"""
        self.damage(is_origin=True)
        self.commit("b.txt", "theirs\n", "theirs")
        result = self.ok("git_pull", {"source": self.LOCAL, "paths": ["."]})
        self.assertEqual(result.value["structuredContent"]["pulled"], ["b.txt"])

    def test_push_that_cannot_be_recorded(self):
        """a push that was made is staged no longer, and stops no other tool until it is recorded"""
        staged = self.stage({"a.txt": "1\n"})
        later = self.stage({"c.txt": "2\n"})
        record = self.store / "staged" / f"{staged}.json"
        pushed = json.loads(record.read_bytes()) | {"pushed": {
            "target": f"local:{self.root}", "branch": "refs/heads/main", "commit": self.head()}}
        record.write_text(json.dumps(pushed), encoding="utf-8")
        base = self.store / "store.git/refs/base"
        base.rename(base.with_name("away"))
        base.write_text("", encoding="utf-8")
        listed = self.command()
        self.assertIn(later[:8], listed)
        self.assertNotIn(staged[:8], listed)
        self.assertIn("is not recorded yet", self.ok("git_diff").stderr)
        self.assertIn("+ c.txt", self.shown(later))
        base.unlink()
        base.with_name("away").rename(base)
        self.assertEqual(self.ok("git_status").stderr.count("recorded"), 0)
        self.assertFalse(record.exists())


if __name__ == "__main__":
    harness.main()
