#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rollback that is killed, wherever that is: the same rollback completes it, and nothing is lost.

Run as killed.py says.
"""
import os

import harness
import killed
import rollback


class Rollback(killed.Killed):
    def prepare(self):
        """Calls that change something of everything; gives how it was before them."""
        self.fill()
        before = self.snapshot()
        for tool, arguments in (("git_stash", {"action": "clear"}),
                                ("git_branch", {"force_delete": "side"}),
                                ("git_add", {"all": True}),
                                ("git_commit", {"type": "fix", "message": "x"}),
                                ("git_checkout", {"branch": "topic"})):
            self.ok(tool, arguments)
        self.keep()
        return before

    def test_every_step(self):
        """killed at each step: the same rollback completes it, and it can be undone"""
        before = self.prepare()
        after = self.snapshot()

        def check():
            last = self.record()
            complete = (last["tool"], last["outcome"]) == ("rollback", "ok")
            if complete:
                self.assert_same(before)
            else:
                self.collect()  # the worst moment for it
            self.finish(before, after, complete)

        self.rollback("5")
        self.assert_same(before)
        self.walk(("rollback", "5"), check)

    def everything(self):
        """Every file of the repository and of its git directory, and the names in the store."""
        self.command("serve")  # what is only in a record becomes a reference
        store = next((self.home / ".local/state/airlock").glob("*/checkpoints.git"))
        return ({str(path): rollback.digest(path) for path in rollback.files_below(self.root)},
                self.out(f"--git-dir={store}", "for-each-ref"))

    def test_looked_at(self):
        """killed, then looked at with --dry-run or refused: what it left stays, and it goes on"""
        before = self.prepare()
        steps = self.count(("rollback", "5"))
        looked = 0
        for number in range(steps * 2 // 3, steps, max(steps // 24, 1)):
            self.reset()
            if self.step(number, "rollback", "5").returncode != 137:
                break
            self.command("log")  # opening the journal writes the line of the killed one
            kept = self.everything()
            is_locked = (self.root / ".git/index.lock").exists()
            done = self.command("rollback", "--dry-run")
            self.assertEqual((done.returncode, done.stderr), (0, ""), (number, done))
            self.assertEqual(self.everything(), kept, number)
            last = self.lines()[-1]
            if last["outcome"] == "interrupted" and last["git_commit"] and is_locked:
                looked += 1
                self.assertEqual(self.command("rollback", "77").returncode, 1)
                self.assertEqual(self.everything(), kept, number)
                self.rollback("5")
                self.assert_same(before)
                self.assertFalse((self.root / ".git/index.lock").exists())
        self.assertGreater(looked, 2)

    def test_redo(self):
        """killed, then --redo, at once or after it was completed: as it was before the rollback"""
        before = self.prepare()
        after = self.snapshot()
        steps = self.count(("rollback", "5"))
        looked = 0
        for number in range(steps * 2 // 3, steps, max(steps // 36, 1)):
            self.reset()
            if self.step(number, "rollback", "5").returncode != 137:
                break
            last = self.lines()[-1]
            if last["outcome"] == "interrupted" and last["git_commit"]:
                looked += 1
                if looked % 2:
                    self.rollback("5")
                    self.assert_same(before)
                done = self.command("rollback", "--redo")
                if done.returncode:
                    self.assertIn("was interrupted", done.stderr)
                    self.rollback("--redo", "--force")
                self.assert_same(after)
                self.assertFalse((self.root / ".git/index.lock").exists())
        self.assertGreater(looked, 4)

    def finish(self, before, after, complete):
        """The same rollback again, unless its line says that it was complete; and back."""
        if not complete:
            self.rollback("5")
        self.assert_same(before)
        begun = [line for line in self.lines() if line["tool"] == "rollback" and line["git_commit"]]
        self.rollback(str(len(begun)), "--force")
        self.assert_same(after)
        self.assertEqual(self.command("log", "--verify").returncode, 0)
        self.assertEqual([name for name in os.listdir(self.root / ".git")
                          if name.endswith(".lock") or name.startswith(".airlock-index")], [])


if __name__ == "__main__":
    harness.main()
