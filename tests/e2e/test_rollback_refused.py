#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A rollback that is refused or only looks leaves the store of checkpoints as it was."""
import fcntl
import os

import harness
import rollback


class Untouched(rollback.Rollback):
    def setUp(self):
        super().setUp()
        self.git("checkout", "-q", "-b", "old")
        self.commit("old.txt", "only on old\n", "old")
        self.git("checkout", "-q", "main")
        self.write("a.txt", "two\n")
        self.ok("git_restore", {"paths": ["a.txt"]})
        self.ok("git_branch", {"create": "b"})

    def change(self):
        """Give a checkpoint all there is to write: objects of every part, and lost commits."""
        self.write("a.txt", "changed since\n")
        self.write("new.bin", os.urandom(1 << 20))
        self.write("staged.txt", "only staged\n")
        self.git("add", "staged.txt")
        self.write("staged.txt", "and changed\n")
        self.git("stash", "push", "-q", "--keep-index", "-m", "a stash")
        self.write("a.txt", "changed since\n")
        self.write("staged.txt", "and changed again\n")
        self.git("branch", "-q", "-D", "old")

    def test_lost(self):
        """refused, since changes would be lost: with and without a dry run"""
        self.change()
        names = self.command("rollback", "2").stderr
        lost = [line[2:] for line in names.splitlines() if line.startswith("  ")]
        self.assertEqual(lost, ["a.txt"])
        self.assert_untouched(lambda: self.refuses("--force", "2", names=lost))
        done = self.assert_untouched(lambda: self.refuses("--force", "2", "--dry-run", names=lost))
        # What no call changed stays.
        self.assertNotIn("staged.txt", done.stdout)
        self.assertIn(" a.txt ", done.stdout)
        self.assert_untouched(lambda: self.rollback("2", "--force", "--dry-run"))

    def test_first(self):
        """the first refusal, of a store that nothing was read from before"""
        self.change()
        self.assert_untouched(lambda: self.command("rollback", "2"))

    def test_another_at_work(self):
        """refused, since another rollback is at work: this one would take that one back"""
        [lock] = [path.parent / "rollback.lock"
                  for path in (self.home / ".local/state/airlock").glob("*/checkpoints.git")]
        with open(lock, "w", encoding="ascii") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            for words in ((), ("--force",), ("--dry-run",)):
                self.assert_untouched(lambda options=words: self.refuses(
                    "another rollback of this repository is at work", *options))
        self.rollback("2")

    def test_in_progress(self):
        """refused, since the user is in the middle of a merge or the like; not if it was so then"""
        self.git("checkout", "-q", "-b", "side")
        self.commit("c.txt", "theirs\n", "theirs")
        self.git("checkout", "-q", "main")
        self.commit("c.txt", "ours\n", "ours")
        self.ok("git_branch", {"create": "c"})
        for noun, words in (("merge", ("merge", "side")), ("rebase", ("rebase", "side")),
                            ("rebase", ("rebase", "--apply", "side")),
                            ("cherry-pick", ("cherry-pick", "side"))):
            self.git(*words, check=False)
            self.assertNotEqual(self.out("ls-files", "-u"), "")
            for options in ((), ("--force",), ("--dry-run",)):
                self.assert_untouched(lambda options=options, noun=noun: self.refuses(
                    f"a {noun} has been begun since; finish or abort it first", *options))
            self.git(words[0], "--abort")
        self.rollback()
        stopped = self.call("git_merge", {"branch": "side"})
        self.assertIn("c.txt", stopped.text)
        self.assertEqual([line for line in self.rollback().splitlines() if "_" in line or "operation" in line],
                         [" execution: git_merge: Merge side into the current branch",
                          " the state of the operation in progress"])
        self.git("merge", "side", check=False)
        self.ok("git_branch", {"create": "d"})
        self.rollback()
        self.assertIn("side", self.out("log", "--format=%s%d", "MERGE_HEAD", "-1"))

    def test_in_the_way(self):
        """refused, since an ignored file is in the way: --force does not help"""
        self.write("build.o", "tracked by nobody\n")
        self.ok("git_stash", {"action": "push", "include_untracked": True})
        self.write(".gitignore", "*.o\n")
        self.write("build.o", "ignored\n")
        for words in ((), ("--force",), ("--force", "--dry-run")):
            done = self.assert_untouched(lambda options=words: self.command("rollback", *options))
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("  build.o\n", done.stderr)

    def test_dry_run(self):
        """a dry run of a rollback that nothing refuses"""
        self.write("a.txt", "three\n")
        self.ok("git_restore", {"paths": ["a.txt"]})
        done = self.assert_untouched(lambda: self.rollback("--dry-run"))
        self.assertIn(" a.txt | 2 +-\n", done)
        before = self.store()
        self.rollback()
        self.assertNotEqual(self.store(), before)  # the control

    def test_other_refusals(self):
        """refused for its number, and for a redo of nothing"""
        self.change()
        for word, reason in (("77", "only 2 executions"), ("--redo", "nothing to redo")):
            done = self.assert_untouched(lambda option=word: self.command("rollback", option))
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(reason, done.stderr)

    def test_forced(self):
        """forced after a refusal: what a moved branch reached comes back even after a gc"""
        self.git("checkout", "-q", "b")
        self.commit("b.txt", "only on b\n", "by hand")
        self.git("checkout", "-q", "main")
        self.change()
        present = self.snapshot()
        self.assertEqual(self.command("rollback", "2").returncode, 1)
        self.rollback("2", "--force")
        self.assertEqual(self.git("rev-parse", "-q", "--verify", "b", check=False).returncode, 1)
        self.git("reflog", "expire", "--expire=now", "HEAD", "main")
        self.git("gc", "-q", "--prune=now")
        self.rollback()
        self.assert_same(present)
        self.assertEqual(self.out("show", "b:b.txt"), "only on b\n")
        self.assertEqual(self.git("fsck", "--connectivity-only", check=False).returncode, 0)


if __name__ == "__main__":
    harness.main()
