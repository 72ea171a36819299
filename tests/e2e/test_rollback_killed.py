#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rollback that is killed, wherever that is: the same rollback completes it, and nothing is lost.

Run as `test_rollback_killed.py AIRLOCK STEP [EVERY [FIRST]]`; STEP is the program of step.c, and only
every EVERY-th step from FIRST on is tried.
"""
import os
import pathlib
import shutil
import subprocess
import sys

STEP = os.path.abspath(sys.argv.pop(2))
EVERY = int(sys.argv.pop(2)) if len(sys.argv) > 2 else 1
FIRST = int(sys.argv.pop(2)) if len(sys.argv) > 2 else 1

import harness  # pylint: disable=wrong-import-position
import test_rollback  # pylint: disable=wrong-import-position


class Killed(test_rollback.Rollback):
    def setUp(self):
        super().setUp()
        self.kept = pathlib.Path(str(self.base) + ".kept")
        self.addCleanup(shutil.rmtree, self.kept, ignore_errors=True)

    def prepare(self):
        """Calls that change something of everything; gives how it was before them."""
        self.write("gone.txt", "gone\n")
        self.write("dir/over.txt", "over\n")
        self.write("staged.txt", "staged\n")
        self.git("add", "staged.txt")
        self.write("a.txt", "stashed\n")
        self.git("stash", "push", "-q")
        self.git("branch", "side")
        self.git("branch", "topic")
        self.write("a.txt", "two\n")
        self.write("dir/over.txt", "over\n")
        os.symlink("a.txt", self.root / "link")
        before = self.snapshot()
        for tool, arguments in (("git_stash", {"action": "clear"}),
                                ("git_branch", {"force_delete": "side"}),
                                ("git_add", {"all": True}),
                                ("git_commit", {"type": "fix", "message": "x"}),
                                ("git_checkout", {"branch": "topic"})):
            self.ok(tool, arguments)
        shutil.copytree(self.base, self.kept, symlinks=True)
        return before

    def reset(self):
        """As it was after the calls."""
        shutil.rmtree(self.base)
        shutil.copytree(self.kept, self.base, symlinks=True)

    def step(self, number):
        """`airlock rollback 5`, killed at a step."""
        return subprocess.run([STEP, str(number), harness.AIRLOCK, "rollback", "5"], cwd=self.root,
                              env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, text=True, timeout=harness.WATCHDOG_SECONDS)

    def test_every_step(self):
        """killed at each step: the same rollback completes it, and it can be undone"""
        before = self.prepare()
        after = self.snapshot()
        done = self.step(0)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        self.assert_same(before)
        steps = int(done.stdout.splitlines()[-1])
        for number in range(FIRST, steps + 1, EVERY):
            harness.signal.alarm(harness.WATCHDOG_SECONDS)
            self.reset()
            done = self.step(number)
            if done.returncode != 137:
                break
            last = self.record()
            complete = (last["tool"], last["outcome"]) == ("rollback", "ok")
            if complete:
                self.assert_same(before)
            else:
                # The worst moment for it: nothing that is only remembered by us may go.
                self.git("reflog", "expire", "--expire=now", "--all", check=False)
                self.git("gc", "-q", "--prune=now", check=False)
            try:
                self.finish(before, after, complete)
            except AssertionError as exc:
                raise AssertionError(f"killed at step {number} of {steps}") from exc

    def finish(self, before, after, complete):
        """The same rollback again, unless its line says that it was complete; and back."""
        if not complete:
            self.rollback("5")
        self.assert_same(before)
        lines = [harness.json.loads(line)
                 for line in self.command("log", "--json").stdout.splitlines()]
        begun = [line for line in lines if line["tool"] == "rollback" and line["git_commit"]]
        self.rollback(str(len(begun)), "--force")
        self.assert_same(after)
        self.assertEqual(self.command("log", "--verify").returncode, 0)
        self.assertEqual([name for name in os.listdir(self.root / ".git")
                          if name.endswith(".lock") or name.startswith(".airlock-index")], [])


if __name__ == "__main__":
    harness.main()
