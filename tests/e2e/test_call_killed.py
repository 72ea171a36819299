#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A destructive call that is killed, wherever that is: it can be undone, and nothing is lost.

Run as killed.py says.
"""
import json

import harness
import killed


class Killed(killed.Killed):
    def prepare(self, *first):
        """A repository with something to lose, after a call, when there is one."""
        self.fill()
        self.git("checkout", "-q", "side")
        self.side = self.commit("side.txt", "only here\n", "only on side")
        self.git("checkout", "-q", "main")
        for tool, arguments in first:
            self.ok(tool, arguments)
        self.keep()

    def words(self, tool, arguments, *options):
        """The command line of a call."""
        return ("call", "--json", "--root", str(self.root), "--approval", "allow", *options, tool,
                json.dumps(arguments))


class Calls(Killed):
    def unlock(self):
        """A git that ends with its airlock cannot remove its locks: a person does, as git says."""
        for path in (self.root / ".git").rglob("*.lock"):
            path.unlink()

    def check(self, tool, before):
        """After a kill, and a gc at the worst moment, it is as if the call had never been."""
        killed_at = self.snapshot()
        self.unlock()
        self.collect()
        collected = self.snapshot()
        self.ok("git_branch", {"create": "next"})
        self.assertIsNotNone(self.record()["git_commit"])
        found = [line for line in self.lines() if line["tool"] == tool]
        self.assertLessEqual(len(found), 1, found)
        if found:
            self.assertIn(found[0]["outcome"], ("interrupted", "ok"))
        if found and found[0]["git_commit"]:
            self.rollback("2", "--force")
            self.assert_same(before)
        else:
            self.assertEqual(killed_at, before)
            self.rollback()
            self.assert_same(collected)
        self.assertEqual(self.out("show", "side:side.txt"), "only here\n")
        self.assertEqual(self.command("log", "--verify").returncode, 0)
        [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
        self.git("rev-list", "--objects", "--all", "--quiet", cwd=store)
        return found

    def assert_survives(self, tool, arguments, *options):
        """The call at its steps."""
        before, outcomes = self.snapshot(), set()

        def check():
            found = self.check(tool, before)
            outcomes.add((found[0]["outcome"], bool(found[0]["git_commit"])) if found else None)

        self.walk(self.words(tool, arguments, *options), check)
        self.assertIn(("interrupted", True), outcomes)
        self.assertIn(("interrupted", False), outcomes)

    def test_stash(self):
        """git_stash, the first call there is, killed at its steps"""
        self.prepare()
        self.assert_survives("git_stash", {"action": "clear"})

    def test_restore(self):
        """git_restore killed at its steps"""
        self.prepare(("git_add", {"paths": ["dir/over.txt"]}))
        self.assert_survives("git_restore", {"paths": ["."], "staged": True, "worktree": True})

    def test_checkout(self):
        """git_checkout killed at its steps"""
        self.prepare(("git_add", {"paths": ["dir/over.txt"]}))
        self.assert_survives("git_checkout", {"paths": ["a.txt"]})


if __name__ == "__main__":
    harness.main()
