#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_worktree that is killed, wherever that is: an add leaves nothing that the next one does not
remove, and a removal can be undone.

Run as killed.py says.
"""
import json
import os

import harness
import killed
import rollback


class Killed(killed.Killed):
    def words(self, **arguments):
        """The command line of a call."""
        return ("call", "--json", "--root", str(self.root), "--toolset", "parallel", "git_worktree",
                json.dumps(arguments))

    def unlock(self):
        """A git that ends with its airlock cannot remove its locks: a user does, as git says."""
        for path in (self.root / ".git").rglob("*.lock"):
            path.unlink()

    def places(self):
        """What is there of worktrees and branches."""
        admin, trees = self.root / ".git/worktrees", self.root / ".worktrees"
        return (self.out("for-each-ref", "--format=%(refname)"),
                sorted(os.listdir(admin)) if admin.exists() else [],
                [name for name in sorted(os.listdir(trees)) if name[0] != "."] if trees.exists() else [])

    def hashes(self, where=".worktrees/x"):
        """Every byte of the worktree x."""
        return {str(path): rollback.digest(path)
                for top in (self.root / where, self.root / ".git/worktrees/x")
                for path in rollback.files_below(top)}

    def test_add(self):
        """the next add finds nothing in its way, and what it makes is whole"""
        self.commit("b.txt", "b\n", "second")
        self.keep()

        def check():
            self.unlock()
            result = self.call("git_worktree", {"action": "add", "name": "x"}, "--toolset", "parallel")
            if result.failed:  # it was complete
                self.assertIn("exists already", result.error["message"])
            else:
                refs, admin, trees = self.places()
                self.assertEqual((refs, admin, trees),
                                 ("refs/heads/main\nrefs/heads/x\n", ["x"], ["x"]))
            self.assertEqual(self.out("status", "--porcelain", cwd=self.root / ".worktrees/x"), "")
            self.git("fsck", "--strict")

        self.walk(self.words(action="add", name="x"), check)

    def test_add_of_another(self):
        """an add of another name removes all that is left"""
        self.keep()

        def check():
            self.unlock()
            done = self.places()[2] == ["x"] and "making" not in "".join(
                path.read_text(encoding="utf-8")
                for path in (self.home / ".local/state/airlock/worktrees").glob("*/x"))
            self.ok("git_worktree", {"action": "add", "name": "y"}, "--toolset", "parallel")
            refs, admin, trees = self.places()
            self.assertIn(refs, ("refs/heads/main\nrefs/heads/y\n", "refs/heads/main\nrefs/heads/x\nrefs/heads/y\n"))
            if not done or "refs/heads/x" not in refs:
                self.assertEqual((refs, admin), ("refs/heads/main\nrefs/heads/y\n", ["y"]))
                self.assertIn(trees, (["y"], ["x", "y"]))  # an empty directory

        self.walk(self.words(action="add", name="x"), check)

    def test_add_and_a_branch_of_another(self):
        """a branch that somebody else makes afterwards at that commit stays, and one that is used, too"""
        self.keep()

        def check():
            self.unlock()
            exists = "refs/heads/x\n" in self.places()[0]
            if not exists:
                self.git("branch", "x")
            elif "x" in self.places()[1]:  # in another worktree as well
                self.git("worktree", "add", "-q", "--force", str(self.base / "other"), "x")
            self.ok("git_worktree", {"action": "add", "name": "y"}, "--toolset", "parallel")
            if not exists or (self.base / "other").exists():
                self.assertIn("refs/heads/x\n", self.places()[0])

        self.walk(self.words(action="add", name="x"), check)

    def test_remove(self):
        """a rollback brings the worktree back byte for byte"""
        self.ok("git_worktree", {"action": "add", "name": "x"}, "--toolset", "parallel")
        place = self.root / ".worktrees/x"
        self.write("a.txt", "staged\n", place)
        self.git("add", "a.txt", cwd=place)
        self.write("new.txt", "new\n", place)
        before = self.hashes()
        self.keep()

        def check():
            self.unlock()
            self.ok("git_branch", {"create": "next"}, "--toolset", "git")
            found = [line for line in self.lines() if line["tool"] == "git_worktree" and line["operation"] == "remove"]
            if found and found[0]["git_commit"]:
                self.rollback("2", "--force")
            self.assertEqual(self.hashes(), before)

        self.walk(self.words(action="remove", name="x"), check)

    def test_undo_of_add(self):
        """the worktree is whole at its place or aside, and a redo brings all of it back"""
        self.commit(".gitignore", "*.o\n", "ignore")
        self.ok("git_worktree", {"action": "add", "name": "x"}, "--toolset", "parallel")
        self.write("build/ignored.o", "ignored\n", self.root / ".worktrees/x")
        self.write("build/deep.o", "ignored\n", self.root / ".worktrees/x")
        before = self.hashes()
        self.keep()

        def check():
            self.unlock()
            self.ok("git_worktree", {"action": "list"}, "--toolset", "parallel")
            self.assertIn(self.hashes(), (before, {}))
            if self.hashes():
                self.rollback("--force")
                self.assertEqual(self.hashes(), {})
            else:  # one that was killed is completed; one that was complete is taken back
                self.command("rollback")
            if not self.hashes():
                self.rollback("--redo", "--force")
            if not self.hashes():  # it had gone before the kill, so the first of the two took it
                self.rollback("3", "--force")
            self.assertEqual(self.hashes(), before)

        self.walk(("rollback", "--force"), check)  # a copy is another worktree

    def test_undo_of_a_command(self):
        """one outside of the root that a command added: the next rollback completes it, and a redo brings all of it back"""
        outside = self.base / "outside/x"
        self.assertEqual(self.command("run", "--", "git", "worktree", "add", "-q", str(outside)).returncode, 0)
        before = self.hashes(outside)
        self.keep()

        def check():
            self.unlock()
            self.rollback("--force")
            if not self.hashes(outside):
                self.rollback("--redo", "--force")
            self.assertEqual(self.hashes(outside), before)

        self.walk(("rollback", "--force"), check)  # a copy is another worktree

    def test_redo_of_add(self):
        """the same on the way back"""
        self.ok("git_worktree", {"action": "add", "name": "x"}, "--toolset", "parallel")
        before = self.hashes()
        self.rollback()
        self.keep()

        def check():
            self.unlock()
            self.ok("git_worktree", {"action": "list"}, "--toolset", "parallel")
            self.assertIn(self.hashes(), (before, {}))
            if not self.hashes():
                self.rollback(*(("--redo",) if self.lines()[0]["summary"] != "Undo the last rollback" else ()))
            self.assertEqual(self.hashes(), before)

        self.walk(("rollback", "--redo"), check)


if __name__ == "__main__":
    harness.main()
