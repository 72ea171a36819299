#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_worktree: a rollback of add, lock and unlock takes back what the call did, and nothing else."""
import shutil

import harness
import worktrees


class Undoes(worktrees.Calls):
    """Worktrees that somebody changed since."""

    # Undoing lock and unlock.

    def make_again(self):
        """Another worktree in the place of x, made by git."""
        self.git("worktree", "remove", "--force", "--force", str(self.dir / "x"))
        self.git("worktree", "add", "-q", str(self.dir / "x"), "x")

    def test_undo_unlock_of_another(self):
        """a worktree that was made again under the name is not locked; the loss is named"""
        self.good("add", "x", reason="mine")
        self.good("unlock", "x")
        self.make_again()
        done = self.command("rollback")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("the lock of the worktree 'x', which was made again since", done.stderr)
        self.rollback("--force")
        self.assertNotIn("locked", self.good("list"))

    def test_undo_lock_of_another(self):
        """the lock of a worktree that was made again under the name stays, though it has the same words"""
        self.good("add", "x")
        self.good("lock", "x", reason="mine")
        self.make_again()
        self.git("worktree", "lock", "--reason=mine", str(self.dir / "x"))
        done = self.command("rollback")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("locked", self.good("list"))

    def test_undo_unlock_of_one_that_came_back(self):
        """a worktree that a rollback brought back, twice even, is still the one that was locked"""
        self.good("add", "x", reason="mine")
        self.good("unlock", "x")
        for _ in range(2):
            self.good("remove", "x")
            self.rollback()
        self.assertNotIn("locked", self.good("list"))
        self.rollback("5")
        self.assertIn("locked: mine", self.good("list"))

    # Undoing an add.

    def test_undo_add(self):
        """a rollback removes what an add made: files, branch, administrative files; a redo makes it again"""
        before = self.everything()
        self.good("add", "x", reason="mine")
        hashes = self.hashes("x")
        self.rollback()
        after = self.everything()
        self.assertEqual((after[0], after[2:]), (before[0], before[2:]))
        self.assertFalse((self.dir / "x").exists())
        self.rollback("--redo")
        self.assertEqual(self.hashes("x"), hashes)
        self.good("unlock", "x")
        self.rollback("2")
        self.assertFalse((self.dir / "x").exists())
        self.rollback()
        self.assertNotIn("locked", self.good("list"))

    def test_undo_add_of_a_locked_one(self):
        """a worktree that somebody locked since stays, --force or not"""
        self.good("add", "x")
        self.git("worktree", "lock", str(self.dir / "x"))
        for options in ((), ("--force",)):
            done = self.command("rollback", *options)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("which is locked; unlock it first", done.stderr)
        self.assertTrue((self.dir / "x/a.txt").exists())

    def test_undo_add_after_work(self):
        """work that somebody did in it since is named, and not removed without --force"""
        for work in (lambda place: self.write("new.txt", "new\n", place),
                     lambda place: self.write("a.txt", "changed\n", place),
                     lambda place: self.git("checkout", "-q", "--detach", cwd=place)):
            self.good("add", "x")
            place = self.dir / "x"
            self.git("status", cwd=place)
            work(place)
            hashes = self.hashes("x")
            done = self.command("rollback")
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("the worktree 'x'", done.stderr)
            self.assertEqual(self.hashes("x"), hashes)
            self.rollback("--force")
            self.assertFalse(place.exists())
            self.rollback()
            self.assertEqual({name: value for name, value in self.hashes("x").items() if "/index" not in name},
                             {name: value for name, value in hashes.items() if "/index" not in name})
            self.good("remove", "x")
            self.git("branch", "-q", "-D", "x")

    def test_undo_add_and_what_others_put_there(self):
        """an undo of add moves all of it aside, and a redo brings it back: files of others, too"""
        self.commit(".gitignore", "*.o\nbuild/\n", "ignore")
        self.good("add", "x")
        self.write("build/of-others.o", "ignored\n", self.dir / "x")
        before = self.whole("x")
        self.rollback()  # ignored files are no work of anybody's
        self.assertFalse((self.dir / "x").exists())
        self.rollback()
        self.assertEqual(self.whole("x"), before)
        self.git("checkout", "-q", "--detach", cwd=self.dir / "x")
        self.git("branch", "-q", "-f", "x", "main")
        self.fill("x")
        before = self.whole("x")
        self.rollback("3", "--force")
        self.assertFalse((self.dir / "x").exists())
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        self.rollback("--redo")
        self.assertEqual(self.whole("x"), before)
        self.git("fsck", "--strict", cwd=self.dir / "x")
        self.assertEqual(self.out("show", "HEAD:own.txt", ":a.txt", cwd=self.dir / "x"), "own\nstaged\n")

    def test_comes_back_into_the_way(self):
        """something in its place, or its branch elsewhere: refused, and nothing changes"""
        self.good("add", "x")
        self.dirty("x")
        before = self.hashes("x")
        self.good("remove", "x")
        (self.dir / "x").mkdir()
        self.write("x/mine", "mine\n", self.dir)
        done = self.command("rollback", "--force")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("something else is at", done.stderr)
        shutil.rmtree(self.dir / "x")
        self.git("worktree", "add", "-q", str(self.base / "other"), "x")
        done = self.command("rollback", "--force")
        self.assertIn("its branch 'x' is checked out in", done.stderr)
        self.git("worktree", "remove", str(self.base / "other"))
        self.rollback()
        self.assertEqual(self.hashes("x"), before)

    def test_its_place_was_taken(self):
        """git gave its name below worktrees/ to another one: refused, and that one stays whole"""
        self.good("add", "x")
        self.good("remove", "x")
        self.git("worktree", "add", "-q", "--detach", str(self.base / "else/x"))
        admin = harness.pathlib.Path(self.common) / "worktrees/x"
        before = {path.name: path.read_bytes() for path in admin.iterdir() if path.is_file()}
        done = self.command("rollback", "--force")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("another one has its place 'x'", done.stderr)
        self.assertEqual({path.name: path.read_bytes() for path in admin.iterdir()
                          if path.is_file()}, before)
        self.git("worktree", "remove", str(self.base / "else/x"))
        self.rollback()
        self.assertTrue((self.dir / "x").exists())


if __name__ == "__main__":
    harness.main()
