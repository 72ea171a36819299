# SPDX-License-Identifier: Apache-2.0
"""The base of tests that kill the program at its steps, which step.c lists.

Such a test is run as `test_x.py AIRLOCK STEP [EVERY [FIRST]]`; STEP is the program of step.c, and
only every EVERY-th step from FIRST on is tried.  With AIRLOCK_EVERY_STEP in the environment it is
each one.
"""
import os
import pathlib
import shutil
import subprocess
import sys

STEP = os.path.abspath(sys.argv.pop(2))
EVERY = int(sys.argv.pop(2)) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 1
FIRST = int(sys.argv.pop(2)) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 1
# The search for leaks stops threads with ptrace(2), which this test already does.
LEAKS_OFF = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}

if os.environ.get("AIRLOCK_EVERY_STEP"):
    EVERY = FIRST = 1

import harness  # pylint: disable=wrong-import-position
import rollback  # pylint: disable=wrong-import-position


class Killed(rollback.Rollback):
    stride = 1  # of the steps to be tried only every so many-th is

    def setUp(self):
        super().setUp()
        self.kept = pathlib.Path(str(self.base) + ".kept")
        self.addCleanup(shutil.rmtree, self.kept, ignore_errors=True)

    def fill(self):
        """Something of everything that a call can take away."""
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

    def keep(self):
        """What reset() goes back to: all there is now."""
        shutil.rmtree(self.kept, ignore_errors=True)
        shutil.copytree(self.base, self.kept, symlinks=True)

    def reset(self):
        """As it was when it was kept."""
        shutil.rmtree(self.base)
        shutil.copytree(self.kept, self.base, symlinks=True)

    def step(self, number, *words):
        """A command of airlock, killed at a step; what it started is gone as well."""
        done = subprocess.run([STEP, str(number), harness.AIRLOCK, *words], cwd=self.root,
                              env=self.env | LEAKS_OFF, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, text=True, timeout=harness.WATCHDOG_SECONDS)
        while number and self.processes_in(self.base):
            os.sched_yield()
        return done

    def count(self, words):
        """How many steps a command takes that must work."""
        self.reset()
        done = self.step(0, *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return int(done.stdout.splitlines()[-1])

    def pace(self):
        """Only every so many-th step is tried."""
        return 1 if EVERY == 1 else EVERY * self.stride

    def walk(self, words, check, first=FIRST):
        """Kill a command at one step after the other, each time from what was kept, and check."""
        steps = self.count(words)
        self.assertGreaterEqual(steps, first)
        for number in range(first, steps + 1, self.pace()):
            harness.signal.alarm(harness.CASE_SECONDS)
            self.reset()
            if self.step(number, *words).returncode != 137:
                break
            try:
                check()
            except AssertionError as exc:
                raise AssertionError(f"killed at step {number} of {steps}") from exc

    def collect(self):
        """Forget all that can be forgotten: nothing that is only remembered by us may go."""
        self.git("reflog", "expire", "--expire=now", "--all", check=False)
        self.git("gc", "-q", "--prune=now", check=False)

    def lines(self):
        """The journal."""
        return [harness.json.loads(line)
                for line in self.command("log", "--json").stdout.splitlines()]
