#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_worktree: a worktree that is removed comes back, and some are not removed."""
import os
import shutil
import tempfile

import harness
import worktrees


class Removes(worktrees.Calls):
    """Worktrees with work in them, in use, elsewhere or forged."""

    def test_remove(self):
        """a dirty worktree goes without a question, and comes back byte for byte"""
        self.good("add", "x")
        self.dirty("x")
        before, refs = self.hashes("x"), self.out("for-each-ref")
        self.good("remove", "x")
        self.assertFalse((self.dir / "x").exists())
        self.assertFalse((harness.pathlib.Path(self.common) / "worktrees/x").exists())
        self.assertEqual(self.out("for-each-ref"), refs)
        self.assertIn("the worktree 'x'", self.rollback())
        self.assertEqual(self.hashes("x"), before)
        self.assertEqual(self.out("for-each-ref"), refs)
        self.assertIn("MM a.txt", self.out("status", "--porcelain", cwd=self.dir / "x"))
        self.git("fsck", "--strict", cwd=self.dir / "x")
        self.assertIn("the worktree 'x'", self.rollback("--redo"))
        self.assertFalse((self.dir / "x").exists())
        self.rollback()
        self.assertEqual(self.hashes("x"), before)

    def test_remove_detached(self):
        """commits that only its HEAD reached are pinned, through a gc at the worst moment"""
        self.good("add", "x")
        place = self.dirty("x")
        self.git("checkout", "-q", "--detach", cwd=place)
        self.git("branch", "-q", "-D", "x")
        self.commit("alone.txt", "alone\n", "nobody else has this", place)
        before = self.hashes("x")
        self.good("remove", "x")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        self.rollback()
        self.assertEqual(self.hashes("x"), before)
        self.assertEqual(self.out("show", "HEAD:alone.txt", cwd=place), "alone\n")

    def test_remove_with_references(self):
        """a worktree with references of its own comes back through a gc, with them"""
        self.good("add", "x")
        place = self.dir / "x"
        self.git("checkout", "-q", "--detach", cwd=place)
        own = self.commit("own2.txt", "own\n", "only a reference of the worktree has this", place)
        self.git("update-ref", "refs/worktree/mine", own, cwd=place)
        self.git("update-ref", "refs/bisect/bad", own, cwd=place)
        self.git("checkout", "-q", "x", cwd=place)
        self.dirty("x")
        before = self.hashes("x")
        self.good("remove", "x")
        self.git("branch", "-q", "-D", "x")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        self.rollback()
        self.assertEqual(self.hashes("x"), before)
        self.assertEqual(self.out("show", "refs/worktree/mine:own2.txt", cwd=place), "own\n")

    def test_remove_branch_gone(self):
        """a branch that was deleted since comes back with the worktree"""
        self.good("add", "x")
        place = self.dirty("x")
        before, tip = self.hashes("x"), self.out("rev-parse", "x")
        self.good("remove", "x")
        self.git("branch", "-q", "-D", "x")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        self.rollback()
        self.assertEqual(self.out("rev-parse", "x"), tip)
        self.assertEqual(self.hashes("x"), before)
        self.assertEqual(self.out("show", "HEAD:own.txt", cwd=place), "own\n")

    def test_remove_in_progress(self):
        """an unfinished merge comes back unfinished"""
        self.good("add", "x")
        place = self.dir / "x"
        self.commit("a.txt", "theirs\n", "theirs", place)
        self.commit("a.txt", "ours\n", "ours")
        self.git("merge", "main", cwd=place, check=False)
        before = self.hashes("x")
        self.good("remove", "x")
        self.rollback()
        self.assertEqual(self.hashes("x"), before)
        self.assertIn("UU a.txt", self.out("status", "--porcelain", cwd=place))

    def test_remove_whole(self):
        """what no checkpoint has comes back, too; the control: git removes it for good"""
        self.configure("[journal]\nmax_file_bytes = 10\n")
        self.commit(".gitignore", "*.o\nbuild/\n", "ignore")
        for name in ("x", "y"):
            self.good("add", name)
            self.fill(name)
        before = self.whole("x")
        self.git("worktree", "remove", "--force", str(self.dir / "y"))
        self.assertFalse((self.dir / "y").exists(), "the control is silent")
        self.assertIn("brings it back whole, ignored files included", self.good("remove", "x"))
        self.assertFalse((self.dir / "x").exists())
        self.assertNotIn("/x", self.out("worktree", "list"))
        self.git("worktree", "prune")
        self.git("worktree", "add", "-q", str(self.base / "other"), "x")  # its branch is free
        self.git("worktree", "remove", str(self.base / "other"))
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.rollback()
        self.assertEqual(self.whole("x"), before)
        self.rollback("--redo")
        self.rollback()
        self.assertEqual(self.whole("x"), before)

    def test_remove_half_way(self):
        """a removal that fails half way leaves the worktree as it was"""
        self.good("add", "x")
        self.fill("x")
        before = self.whole("x")
        admin = harness.pathlib.Path(self.common) / "worktrees"
        admin.chmod(0o555)
        self.addCleanup(admin.chmod, 0o755)
        if os.access(admin, os.W_OK):
            self.skipTest("the superuser may rename what he likes")
        self.bad("cannot be moved aside", "remove", "x")
        self.assertEqual(self.whole("x"), before)
        self.assertEqual(self.aside(), [])

    def test_gone_for_good(self):
        """what is aside was removed: the rollback is refused by name, and nothing changes"""
        self.good("add", "x")
        self.good("remove", "x")
        for entry in self.aside():
            shutil.rmtree(entry)
        before = self.everything()
        for options in ((), ("--force",)):
            done = self.command("rollback", *options)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("the worktree 'x' cannot come back: what was moved aside of it is gone for good",
                          done.stderr)
        self.assertEqual(self.everything(), before)

    def test_another_file_system(self):
        """what cannot be moved to the git directory is hidden beside, and comes back"""
        here = os.stat(self.common).st_dev
        found = [place for place in ("/dev/shm", "/tmp", "/var/tmp")
                 if os.access(place, os.W_OK) and os.stat(place).st_dev != here]
        if not found:
            self.skipTest("there is one file system")
        other = harness.pathlib.Path(tempfile.mkdtemp(dir=found[0]))
        self.addCleanup(shutil.rmtree, other)
        self.dir = other / "trees"
        self.configure(f'[worktrees]\ndir = "{self.dir}"\n')
        self.good("add", "x")
        self.fill("x")
        before = self.whole("x")
        self.good("remove", "x")
        hidden = [name for name in os.listdir(self.dir) if name.startswith(".airlock-aside-")]
        self.assertEqual(len(hidden), 1)
        self.assertEqual((self.dir / hidden[0]).stat().st_mode & 0o777, 0o700)
        self.assertIn("There is no worktree 'x'", self.wt("remove", "x").text)
        self.bad("a worktree's name has", "add", hidden[0], kind="BadArgs")
        self.rollback()
        self.assertEqual(self.whole("x"), before)
        self.assertEqual([name for name in os.listdir(self.dir) if name[0] == "." and name != ".gitignore"], [])

    def test_remove_without_checkpoints(self):
        """without a checkpoint it asks: nothing could bring the worktree back"""
        self.good("add", "x")
        result = self.wt("remove", "x", "--no-git", approval="deny")
        self.assertEqual(result.kind, "ApprovalDenied", result)
        self.assertTrue((self.dir / "x/a.txt").exists())

    def test_not_below(self):
        """worktrees elsewhere are listed and left alone"""
        place = self.base / "elsewhere"
        self.git("worktree", "add", "-q", str(place))
        self.assertIn(f"(elsewhere)  {place}", self.good("list"))
        for action in ("remove", "lock", "unlock"):
            self.bad("There is no worktree 'elsewhere'", action, "elsewhere")
        for name in ("root", "main"):
            self.bad("There is no worktree", "remove", name)

    def test_made_again_by_git(self):
        """a worktree that somebody made by git under the old name was not made by the agent"""
        self.good("add", "x", "--agent", "ada")
        self.git("worktree", "remove", str(self.dir / "x"))
        self.git("worktree", "add", "-q", str(self.dir / "x"), "x")
        self.assertNotIn("ada", self.good("list").replace("of agent ada", ""))
        self.good("remove", "x")

    def test_own(self):
        """a call cannot remove the worktree that it is made in"""
        self.good("add", "x")
        result = self.wt("remove", "x", root=self.dir / "x", approval="allow")
        self.assertEqual(result.error.get("message"),
                         "This call runs in the worktree 'x'; remove it from another one", result)

    def test_in_use(self):
        """a worktree in which a call runs stays, whatever server runs it"""
        self.good("add", "x")
        place = self.dir / "x"
        os.mkfifo(place / ".mailmap")
        server = harness.Server(worktrees.Place(self, place))
        server.ask("git_log")
        writer = self.hold(place / ".mailmap")
        self.bad("A call runs in the worktree 'x': git_log of agent e2e (process ", "remove", "x")
        done = self.command("rollback")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("in which git_log", done.stderr)
        os.unlink(place / ".mailmap")
        os.close(os.dup(writer))

    def test_by_hand(self):
        """what somebody moved, removed or forged by hand"""
        for name in ("gone", "moved", "forged"):
            self.good("add", name)
        shutil.rmtree(self.dir / "gone")
        self.assertIn("its files are gone", self.good("list"))
        self.bad("whose files are gone; remove it first", "add", "gone", branch="gone")
        self.good("remove", "gone")
        self.rollback()
        self.assertFalse((self.dir / "gone").exists() and os.listdir(self.dir / "gone"))
        os.rename(self.dir / "moved", self.base / "moved")
        self.good("remove", "moved")
        self.assertTrue((self.base / "moved/a.txt").exists())
        pointer = self.dir / "forged/.git"
        for text in ("gitdir: /etc\n", f"gitdir: {self.common}\n", "nonsense\n", "gitdir: ../loop/.git\n"):
            pointer.write_text(text, encoding="utf-8")
            self.bad("do not name each other", "remove", "forged")
            self.good("list")
        pointer.unlink()
        os.symlink(self.common, pointer)
        self.bad("do not name each other", "remove", "forged")

    def test_list_forged(self):
        """an administrative directory that names a repository elsewhere: list reads nothing there"""
        self.good("add", "x")
        victim = self.base / "victim"
        self.init(victim)
        self.write("untracked.txt", "1\n", victim)
        admin = harness.pathlib.Path(self.common) / "worktrees/evil"
        shutil.copytree(admin.parent / "x", admin)
        (admin / "gitdir").write_text(f"{victim}/.git\n", encoding="utf-8")
        self.assertIn(str(victim), self.out("worktree", "list"))
        os.rename(victim / ".git/config", victim / ".git/was")
        os.mkfifo(victim / ".git/config")  # whoever opens it waits
        listed = [line for line in self.good("list").splitlines() if str(victim) in line]
        self.assertNotIn("untracked", listed[0])
        self.assert_nobody_reads(victim / ".git/config")
        shutil.rmtree(victim / ".git")
        (victim / ".git").write_text(f"gitdir: {admin.parent}/x\n", encoding="utf-8")
        listed = [line for line in self.good("list").splitlines() if str(victim) in line]
        self.assertNotIn("untracked", listed[0])


if __name__ == "__main__":
    harness.main()
