#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes that an execution's operation cannot have made are not the execution's, and stay."""
import os
import threading

import harness
import rollback


class Others(rollback.Rollback):
    def store(self):
        """The store of the repository."""
        [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
        return store

    def interrupt(self):
        """The last execution did not come to its end, as far as its checkpoints say."""
        self.git("update-ref", "-d", "refs/after/" + self.record()["git_commit"], cwd=self.store())

    def others(self):
        """What somebody else does with plain git."""
        self.git("branch", "-f", "theirs", "HEAD~")
        self.git("branch", "new")
        self.git("config", "their.key", "1")

    def assert_others(self, theirs):
        """It is still there."""
        self.assertEqual(self.out("rev-parse", "theirs").strip(), theirs)
        self.assertEqual(self.out("config", "their.key"), "1\n")
        self.git("rev-parse", "--verify", "refs/heads/new")

    def begin(self):
        """A commit to go back to, and a branch of somebody else."""
        self.commit("b.txt", "b\n", "second")
        self.git("branch", "theirs")
        self.write("a.txt", "two\n")
        self.git("add", "a.txt")
        return self.out("rev-parse", "HEAD")

    def add(self, name):
        """Change a file and stage it with a call; gives the entries before."""
        before = self.out("ls-files", "-s", "-v")
        self.write(name, "changed\n")
        self.ok("git_add", {"paths": [name]})
        return before

    def test_index_written_in_another_form(self):
        """somebody who only gives the index another form changes no entry"""
        self.commit("in/a", "a\n", "second")
        self.commit("out/b", "b\n", "third")
        split = [["update-index", form] for form in ("--split-index", "--no-split-index")]
        sparse = [["sparse-checkout", "set", form, "in"] for form in ("--sparse-index",
                                                                      "--no-sparse-index")]
        for one, two in split, split[::-1], sparse, sparse[::-1]:
            self.git(*one)
            before = self.add("in/a")
            self.git(*two)
            self.rollback()
            self.assertEqual(self.out("ls-files", "-s", "-v"), before)
            self.git("checkout", "-q", "--", "in/a")

    def test_long_path(self):
        """an entry behind one whose path is longer than any file's"""
        path = "/".join(["b" * 200] * 170)
        blob = self.out("rev-parse", "HEAD:a.txt").strip()
        self.git("update-index", "--index-info", stdin=f"100644 {blob} 0\t{path}\n".encode())
        self.write("c.txt", "c\n")
        before = self.out("ls-files", "-s")
        self.ok("git_add", {"paths": ["c.txt"]})
        self.rollback()
        self.assertEqual(self.out("ls-files", "-s"), before)

    def test_interrupted_commit(self):
        """an interrupted commit moved the current branch only: --force takes back nothing else"""
        head = self.begin()
        self.ok("git_commit", {"type": "fix", "message": "m"})
        self.interrupt()
        self.others()
        theirs = self.out("rev-parse", "theirs").strip()
        self.refuses("was interrupted")
        self.rollback("--force")
        self.assertEqual(self.out("rev-parse", "main"), head)
        self.assert_others(theirs)

    def test_interrupted_rolled_back(self):
        """a rollback over an interrupted commit and its own rollback goes to before the commit"""
        self.commit("b.txt", "b\n", "second")
        before = self.snapshot()
        self.write("a.txt", "two\n")
        self.ok("git_add", {"paths": ["a.txt"]})
        self.ok("git_commit", {"type": "fix", "message": "m"})
        self.interrupt()
        done = self.snapshot()
        self.rollback("--force")
        added = self.snapshot()
        self.refuses("was interrupted", "3")
        self.rollback("3", "--force")
        self.write("a.txt", "one\n")
        self.assertEqual(self.out("rev-parse", "main"), self.out("rev-parse", "HEAD"))
        self.assertEqual(self.snapshot()["refs"], before["refs"])
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.rollback()
        self.assertEqual(self.snapshot()["refs"], added["refs"])
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "a.txt\n")
        self.assertNotEqual(done["refs"], added["refs"])

    def test_interrupted_branch(self):
        """an interrupted new branch goes, and no other; HEAD and the stash stay, the configuration does
        not: a branch may have an upstream"""
        self.begin()
        self.ok("git_branch", {"create": "ours"})
        self.interrupt()
        self.others()
        theirs = self.out("rev-parse", "theirs").strip()
        self.git("stash", "push", "-q")
        self.git("checkout", "-q", "new")
        self.rollback("--force")
        self.assertNotIn("ours", self.out("branch"))
        self.assertEqual(self.out("rev-parse", "theirs").strip(), theirs)
        self.assertEqual(self.out("branch", "--show-current"), "new\n")
        self.assertIn("stash@{0}", self.out("stash", "list"))
        self.assertEqual(self.git("config", "their.key", check=False).returncode, 1)

    def test_checked_out_since(self):
        """a new branch that the user has checked out since is not deleted under their feet; one that an
        execution began with its first commit is"""
        self.begin()
        self.ok("git_branch", {"create": "ours"})
        self.git("switch", "-q", "ours")
        self.refuses("the rollback would delete 'refs/heads/ours', which is checked out; switch to "
                     "another branch first")
        self.refuses("which is checked out", "--force")
        self.git("switch", "-q", "main")
        self.rollback()
        self.assertNotIn("ours", self.out("branch"))
        self.git("checkout", "-q", "--orphan", "bare")
        self.ok("git_commit", {"type": "feat", "message": "first"})
        self.rollback()
        self.assertEqual(self.out("branch", "--list", "bare"), "")
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/bare\n")

    def test_meanwhile(self):
        """plain git makes a branch and sets a key while a call runs: neither is the call's"""
        self.begin()
        head = self.out("rev-parse", "HEAD")
        self.git("config", "core.filesRefLockTimeout", str(1000 * harness.WATCHDOG_SECONDS))
        self.ok("git_branch", {"create": "warm"})
        lock = self.root / ".git/refs/heads/main.lock"
        lock.touch()
        before = set(self.out("for-each-ref", "refs/before", cwd=self.store()).splitlines())
        call = threading.Thread(target=self.ok, args=(
            "git_commit", {"type": "fix", "message": "m"}))
        call.start()
        while set(self.out("for-each-ref", "refs/before", cwd=self.store()).splitlines()) <= before:
            os.sched_yield()
        self.others()
        lock.unlink()
        call.join()
        theirs = self.out("rev-parse", "theirs").strip()
        self.assertNotEqual(self.out("rev-parse", "main"), head)
        shown = self.command("diff").stdout
        self.assertIn("refs/heads/main", shown)
        self.assertNotIn("refs/heads/new", shown)
        self.rollback()
        self.assertEqual(self.out("rev-parse", "main"), head)
        self.assert_others(theirs)


if __name__ == "__main__":
    harness.main()
