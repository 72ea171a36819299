#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_pull, git_merge and git_switch, while others are at work at each of their steps: what they did is
not the call's, and stays when it is undone; what git did with a branch that they moved is.

Run as `test_pull_meanwhile.py AIRLOCK STEP`; STEP is the program of step.c.
"""
import json
import os
import shutil
import subprocess
import sys

STEP = os.path.abspath(sys.argv.pop(2))

import everyday  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position

STRIDE = 1 if harness.EVERY_STEP else 3

THEIRS = """
test -e .git/marker && exit
git rev-parse -q --verify refs/remotes/origin/main >.git/marker
git branch theirs && git tag theirs
git update-ref --create-reflog -m theirs refs/stash HEAD
git worktree list >/dev/null
echo theirs >theirs.txt
"""


class Meanwhile(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f.txt", "base\n", "base")
        self.git("init", "-q", "--bare", str(self.root / "hub.git"))
        self.write(".git/info/exclude", "hub.git\n")
        self.git("remote", "add", "origin", str(self.root / "hub.git"))
        self.git("push", "-q", "-u", "origin", "main")
        self.before = self.out("rev-parse", "HEAD")
        self.commit("g.txt", "from there\n", "there")
        self.there = self.out("rev-parse", "HEAD")
        self.git("push", "-q", "origin", "main")
        self.git("update-ref", "refs/remotes/origin/main", self.before.strip())
        self.git("reset", "-q", "--hard", self.before.strip())
        self.kept = self.base / "kept"

    def pull(self, number, toolset, arguments):
        """git_pull, while others work before its NUMBER-th git."""
        program = self.base / "other.sh"
        program.write_text(f"#!/bin/sh\ncd {self.root} || exit\n{THEIRS}\n")
        program.chmod(0o755)
        done = subprocess.run(
            [STEP, f"{number}:{program}", harness.AIRLOCK, "call", "--json", "--root", str(self.root),
             "--toolset", toolset, "--approval", "allow", "git_pull", json.dumps(arguments)],
            cwd=self.root, env=self.env | {"ASAN_OPTIONS": "detect_leaks=0"}, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 0, done)
        return (self.root / ".git/marker").exists()

    def assert_theirs(self, during_fetch):
        self.assertEqual(self.out("rev-parse", "refs/heads/theirs"), self.out("rev-parse", "refs/tags/theirs"))
        self.assertEqual(self.out("log", "-g", "--format=%gs", "refs/stash").strip(), "theirs")
        if during_fetch:
            self.assertEqual((self.root / "theirs.txt").read_text(), "theirs\n")

    def assert_stays(self, toolset, arguments, commit=None):
        """Others at each step; then the call is undone."""
        fetching = 0
        if commit:
            self.commit(commit, "here\n", "here")
        here = self.out("rev-parse", "HEAD")
        shutil.copytree(self.root, self.kept)
        number = 1
        while True:
            harness.signal.alarm(harness.WATCHDOG_SECONDS)
            shutil.rmtree(self.root)
            shutil.copytree(self.kept, self.root)
            self.git("update-index", "-q", "--refresh", check=False)
            if not self.pull(number, toolset, arguments):
                break
            during_fetch = (self.root / ".git/marker").read_text() == self.before
            fetching += during_fetch
            with self.subTest(number=number, during_fetch=during_fetch):
                self.assertEqual((self.root / "g.txt").read_text(), "from there\n")
                self.assert_theirs(True)
                done = subprocess.run([harness.AIRLOCK, "rollback"], cwd=self.root, env=self.env,
                                      stdin=subprocess.DEVNULL, capture_output=True, check=False,
                                      timeout=harness.WATCHDOG_SECONDS)
                self.assertEqual(done.returncode, 0, done)
                self.assertEqual(self.out("rev-parse", "HEAD"), here)
                self.assertFalse((self.root / "g.txt").exists())
                self.assertEqual(self.out("rev-parse", "origin/main"), self.there)
                self.assert_theirs(during_fetch)
            number += STRIDE
        self.assertGreater(fetching, 1)
        self.assertGreater(number // STRIDE - fetching, 1)

    def test_fast_forward(self):
        """everyday: a pull that moves on"""
        self.assert_stays("everyday", {})

    def test_merge(self):
        """everyday: a pull that merges"""
        self.assert_stays("everyday", {}, "h.txt")

    def test_rebase(self):
        """everyday: a pull that rebases"""
        self.assert_stays("everyday", {"rebase": True}, "h.txt")

    def test_workflow(self):
        """workflow: a pull that merges"""
        self.assert_stays("workflow", {}, "h.txt")


class Moved(everyday.Case):
    """The branch that the call is about has other files by the time git reads it."""

    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f.txt", "base\n", "base")
        self.git("checkout", "-q", "-b", "topic")
        self.commit("t.txt", "topic\n", "topic")
        self.git("checkout", "-q", "-b", "later")
        self.write("f.txt", "later\n")
        self.commit("new.txt", "later\n", "later")
        self.git("commit", "-q", "-a", "-m", "more")
        self.git("checkout", "-q", "main")
        self.write("own.txt", "untracked\n")
        self.kept = self.base / "kept"

    def everything(self):
        """Files, index, HEAD and branches but the one that is moved."""
        return ({path.name: path.read_bytes() for path in self.root.iterdir() if path.is_file()},
                self.out("ls-files", "-s"), self.out("rev-parse", "HEAD"), self.out("symbolic-ref", "HEAD"),
                self.out("for-each-ref", "refs/heads/main", "refs/heads/later"))

    def execute(self, *words):
        return subprocess.run(words, cwd=self.root, env=self.env | {"ASAN_OPTIONS": "detect_leaks=0"},
                              check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=harness.WATCHDOG_SECONDS)

    def at_each_step(self, tool, arguments):
        """The branch is moved before the NUMBER-th git; gives how many calls worked, and failed."""
        worked = failed = 0
        before = self.everything()
        shutil.copytree(self.root, self.kept)
        program = self.base / "other.sh"
        program.write_text(f"#!/bin/sh\ncd {self.root} && git branch -f topic later && touch .git/marker\n")
        program.chmod(0o755)
        while True:
            harness.signal.alarm(harness.WATCHDOG_SECONDS)
            shutil.rmtree(self.root)
            shutil.copytree(self.kept, self.root)
            self.git("update-index", "-q", "--refresh")
            done = self.execute(STEP, f"{worked + failed + 1}:{program}", harness.AIRLOCK, "call", "--json", "--root",
                            str(self.root), "--toolset", "everyday", "--approval", "allow", tool,
                            json.dumps(arguments))
            if not (self.root / ".git/marker").exists():
                break
            with self.subTest(tool, number=worked + failed + 1):
                if done.returncode == 0:
                    worked += 1
                    undone = self.execute(harness.AIRLOCK, "rollback")
                    self.assertEqual(undone.returncode, 0, (done, undone))
                else:
                    failed += 1
                    self.assertIn("another process moved the branch meanwhile", done.stdout)
                    self.assertIn("everything was put back as it was", done.stdout)
                self.assertEqual(self.everything(), before, done)
        return worked, failed

    def test_merge(self):
        """everyday: a merge of two lines"""
        self.commit("h.txt", "here\n", "here")
        worked, failed = self.at_each_step("git_merge", {"branch": "topic"})
        self.assertGreater(worked, 0)
        self.assertGreater(failed, 0)

    def test_fast_forward(self):
        """everyday: a merge that moves on"""
        worked, failed = self.at_each_step("git_merge", {"branch": "topic"})
        self.assertGreater(worked, 0)
        self.assertGreater(failed, 0)

    def test_switch(self):
        """everyday: a switch is undone whole, wherever the branch was"""
        worked, failed = self.at_each_step("git_switch", {"branch": "topic"})
        self.assertGreater(worked, 0)
        self.assertEqual(failed, 0)


if __name__ == "__main__":
    harness.main()
