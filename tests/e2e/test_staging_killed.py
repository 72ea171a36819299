#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Staging that is killed, wherever that is: nothing that was staged is lost, and it goes on.

Run as killed.py says.
"""
import json
import os
import time

import harness
import killed
import staging

TWO_DAYS_S = 172800


class Staged(killed.Killed):
    def setUp(self):
        super().setUp()
        self.workspace = self.base / "workspace"
        config = self.base / "config.toml"
        config.write_text('[staging]\nbackend = "directory"\nmax_bytes = 1048576\n'
                          f'path = "{self.workspace}"\n', encoding="utf-8")
        self.options = (*staging.TOOLSETS, "--config", str(config))
        self.write("a", "1\n", self.workspace)
        self.write("d/b", "1\n", self.workspace)
        self.first = self.stage("/workspace/a", "first")
        self.second = self.stage("/workspace/d", "second")
        self.write("a", "2\n", self.workspace)
        self.write("c", "1\n", self.workspace)

    def use(self, tool, arguments):
        """A call of the toolset that must work."""
        return self.ok(tool, arguments, *self.options)

    def words(self, tool, arguments):
        """The same as a command line."""
        return ("call", "--json", "--root", str(self.root), "--approval", "allow", *self.options,
                tool, json.dumps(arguments))

    def stage(self, path, message):
        """Stage, and give the id."""
        made = self.use("git_stage", {"files": [path], "message": message})
        return made.value["structuredContent"]["id"]

    def status(self):
        """GitStatus: the messages of what is staged, and the changed paths."""
        value = self.use("git_status", {}).value["structuredContent"]
        return ([commit["message"] for commit in value["staged"]],
                [entry["path"] for entry in value["unstaged"]])

    def age(self):
        """Make all that the store has two days old, so that whatever may go goes."""
        [store] = (self.home / ".local/state/airlock/staging").iterdir()
        past = time.time() - TWO_DAYS_S
        for path in store.glob("store.git/objects/pack/*"):
            os.utime(path, (past, past))
        (store / "swept").unlink(missing_ok=True)
        return store

    def assert_goes_on(self, messages):
        """What is staged can be shown, more can be staged, and a gc takes nothing away."""
        store = self.age()
        self.write("z", "1\n", self.workspace)
        self.stage("/workspace/z", "last")
        self.assertTrue((store / "swept").exists())
        self.assertEqual(self.status()[0], messages + ["last"])
        shown = self.use("git_diff", {}).text
        for message in messages:
            self.assertIn(f'"{message}"\n\n--- ', shown)
        self.assertEqual(self.out(f"--git-dir={store / 'store.git'}", "fsck", "--no-dangling"), "")
        self.assertEqual([path.name for directory in ("staged", "sandboxes")
                          for path in (store / directory).iterdir() if path.suffix != ".json"], [])

    def test_stage(self):
        """git_stage killed at its steps: staged or not, and what was staged before stays"""
        self.keep()
        outcomes = set()

        def check():
            staged, changed = self.status()
            done = staged == ["first", "second", "third"]
            self.assertEqual((staged, changed),
                             (["first", "second", "third"], []) if done else
                             (["first", "second"], ["/workspace/a", "/workspace/c"]))
            outcomes.add(done)
            self.assert_goes_on(staged)

        self.walk(self.words("git_stage", {"files": ["/workspace"], "message": "third"}), check)
        self.assertIn(False, outcomes)

    def test_stage_with_gc(self):
        """git_stage that clears up, killed at its steps"""
        for _ in range(2):  # more than it is worth clearing up for
            self.write("noise", os.urandom(700000), self.workspace)
            self.use("git_discard", {"commitId": self.stage("/workspace/noise", "noise")})
        (self.workspace / "noise").unlink()
        self.use("git_discard", {"commitId": self.first})
        self.age()
        self.keep()

        self.reset()
        self.stage("/workspace/c", "third")
        [store] = (self.home / ".local/state/airlock/staging").iterdir()
        self.assertLess(sum(path.stat().st_size for path in store.rglob("*")), 700000)

        def check():
            self.assertIn(self.status()[0], (["second"], ["second", "third"]))
            self.assert_goes_on(self.status()[0])

        self.walk(self.words("git_stage", {"files": ["/workspace/c"], "message": "third"}), check)

    def test_discard(self):
        """git_discard killed at its steps: discarded or not"""
        self.keep()

        def check():
            staged, changed = self.status()
            self.assertIn((staged, changed),
                          ((["first", "second"], ["/workspace/a", "/workspace/c"]),
                           (["second"], ["/workspace/a", "/workspace/c"])))
            self.assert_goes_on(staged)

        self.walk(self.words("git_discard", {"commitId": self.first}), check)

    def test_push(self):
        """git_push killed at its steps: what is staged no longer is in the repository"""
        target = {"type": "local", "path": ".", "branch": "main"}
        self.keep()
        outcomes = set()

        def check():
            there = self.git("cat-file", "-e", "main:d/b", check=False).returncode == 0
            staged, changed = self.status()
            self.assertEqual(changed, ["/workspace/a", "/workspace/c"])
            self.assertIn(staged, (["first", "second"], ["first"]))
            self.assertTrue(there or "second" in staged)
            outcomes.add((there, "second" in staged))
            self.git("fsck", "--no-dangling", "--no-progress")
            for path in (self.root / ".git").rglob("*.lock"):
                path.unlink()  # a git that ends with its airlock cannot remove its locks
            self.assert_goes_on(staged)
            if not there:
                self.use("git_push", {"commitId": self.second, "target": target})
                self.git("cat-file", "-e", "main:d/b")

        self.walk(self.words("git_push", {"commitId": self.second, "target": target}), check)
        self.assertIn((False, True), outcomes)

    def test_first(self):
        """the first call there is, which makes the store, killed at its steps"""
        for commit in (self.first, self.second):
            self.use("git_discard", {"commitId": commit})
        [store] = (self.home / ".local/state/airlock/staging").iterdir()
        harness.shutil.rmtree(store.parent)
        self.keep()

        def check():
            self.assertIn(self.status()[0], ([], ["third"]))
            self.write("y", "1\n", self.workspace)
            self.stage("/workspace/y", "fourth")
            self.assert_goes_on(self.status()[0])

        self.walk(self.words("git_stage", {"files": ["/workspace"], "message": "third"}), check)


if __name__ == "__main__":
    harness.main()
