#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Roots whose git directory lies elsewhere: linked worktrees, submodules, separate git directories."""
import shutil

import harness
import linked
import rollback

OUTSIDE = "Path outside sandbox: ."


class Linked(rollback.Rollback):
    """`root` is a linked worktree on `topic`; `hub` is the main working tree, on `main`."""

    def setUp(self):
        super().setUp()
        if linked.LINKED:
            self.skipTest("the layout is made here")
        self.main = self.base / "main"
        self.root.rename(self.main)
        self.git("worktree", "add", "-q", "-b", "topic", str(self.root), cwd=self.main)

    def test_day(self):
        """reading, staging, committing, switching and rolling back; the main working tree does not change"""
        self.write("a.txt", "changed there\n", self.main)
        main = self.snapshot(self.main)
        self.write("new.txt", "new\n")
        before = self.snapshot()
        self.ok("git_add", {"paths": ["new.txt"]})
        self.ok("git_commit", {"type": "feat", "message": "new"})
        self.ok("git_branch", {"create": "next"})
        self.ok("git_checkout", {"branch": "next"})
        self.ok("git_checkout", {"branch": "topic"})
        self.ok("git_restore", {"paths": ["a.txt"]})
        self.assertEqual(self.ok("git_status").text, "## topic\n")
        self.assertEqual(self.out("log", "--format=%s", "topic"), "feat: new\nfirst\n")
        now = self.snapshot(self.main)
        self.assertEqual({name for name in main if main[name] != now.get(name)}, {"refs"})
        self.rollback("5")
        self.assert_same(before)
        self.assertEqual(self.snapshot(self.main), main)

    def test_directories(self):
        """from a directory below, and with the program's own choice of a root"""
        (self.root / "d").mkdir()
        self.assertEqual(self.ok("git_status", {"working_dir": "d"}).text, "## topic\n")
        done = self.command("call", "git_status", cwd=self.root / "d")
        self.assertEqual((done.returncode, done.stdout), (0, "## topic\n"), done)
        self.assertIn("linked worktree", self.command("doctor").stdout)

    def test_not_a_root(self):
        """no tool reaches a file of the git directory or of the main working tree"""
        self.write("secret", "s\n", self.main)
        for path in (self.main / ".git/config", self.main / "secret",
                     self.main / ".git/worktrees/root/HEAD"):
            self.refused("SandboxViolation", f"Path outside sandbox: {path}", "git_add",
                         {"paths": [str(path)]})
            self.refused("SandboxViolation", f"Path outside sandbox: {path.parent}", "git_diff",
                         {"from_ref": "HEAD", "to_ref": "HEAD", "output_dir": str(path.parent)})
        for place in (self.main, self.main / ".git"):
            self.refused("SandboxViolation", f"Path outside sandbox: {place}", "git_status",
                         {"working_dir": str(place)})
        (self.root / "way").symlink_to(self.main / ".git")
        self.refused("SandboxViolation", "Path outside sandbox: way", "git_status",
                     {"working_dir": "way"})

    def test_another_branch(self):
        """a rollback that would move the branch of another worktree is refused, with --force too"""
        other = self.base / "other"
        self.ok("git_branch", {"create": "theirs"})
        self.git("worktree", "add", "-q", str(other), "theirs")
        reason = ("the rollback would move 'refs/heads/theirs', which the worktree 'other' has "
                  "checked out; roll back there, or switch it to another branch first")
        for words in ((), ("--force",), ("--dry-run", "--force")):
            self.refuses(reason, *words)
        head = self.main / ".git/worktrees/other/HEAD"
        head.unlink()
        head.symlink_to("refs/heads/theirs")  # an old form of it
        self.refuses(reason)
        self.git("checkout", "-q", "--detach", cwd=other)
        self.rollback()
        self.assertEqual(self.out("branch", "--list", "theirs"), "")

    def test_branch_taken_since(self):
        """nor does HEAD go back to a branch that another worktree has checked out since"""
        self.git("branch", "next")
        self.ok("git_checkout", {"branch": "next"})
        self.git("checkout", "-q", "topic", cwd=self.main)
        self.refuses("the rollback would check out 'refs/heads/topic', which the main working tree has "
                     "checked out; switch it to another branch first", "--force")
        self.git("checkout", "-q", "main", cwd=self.main)
        self.rollback()
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/topic\n")

    def test_branch_of_others(self):
        """a branch that only the other worktree's user moved stays, and is no reason to refuse"""
        before = self.snapshot()
        self.ok("git_branch", {"create": "mine"})
        moved = self.commit("b", "b\n", "theirs", self.main)
        self.rollback()
        self.assertEqual(self.out("rev-parse", "main").strip(), moved)
        self.assertEqual(self.out("branch", "--list", "mine"), "")
        self.assertEqual({name for name in before if before[name] != self.snapshot()[name]}, {"refs"})
        self.rollback("--redo")
        self.assertEqual(self.out("rev-parse", "main").strip(), moved)
        self.assertIn("mine", self.out("branch", "--list", "mine"))

    def test_main_branch(self):
        """the same for the branch of the main working tree, and where the main one is rolled back"""
        self.ok("git_branch", {"create": "next"})
        self.git("checkout", "-q", "next", cwd=self.main)
        self.refuses("which the main working tree has checked out", "--force")
        self.git("checkout", "-q", "main", cwd=self.main)
        self.rollback()
        self.ok("git_branch", {"create": "third"}, root=self.main, cwd=self.main)
        self.git("checkout", "-q", "third")
        self.refuses("which the worktree 'root' has checked out", "--force", cwd=self.main)

    def test_moved(self):
        """after a move the back pointer is stale: refused with the remedy, until it is repaired"""
        self.root.rename(self.base / "moved")
        self.root = self.base / "moved"
        (self.main / ".git/worktrees/root/locked").write_text("", encoding="ascii")
        result = self.refused("SandboxViolation", OUTSIDE, "git_status")
        self.assertIn("'git worktree repair'", result.text)
        self.git("worktree", "repair")
        self.assertEqual(self.ok("git_status").text, "## topic\n")

    def test_bare(self):
        """the worktree of a bare repository"""
        bare, self.root = self.base / "bare.git", self.base / "tree"
        self.git("clone", "-q", "--bare", str(self.main), str(bare), cwd=self.base)
        self.git("worktree", "add", "-q", str(self.root), "main", cwd=bare)
        self.write("n", "n\n")
        self.ok("git_add", {"all": True})
        self.ok("git_commit", {"type": "feat", "message": "n"})
        self.rollback()
        self.assertEqual(self.out("log", "--format=%s"), "first\n")

    def test_grant(self):
        """a grant for the working tree covers its git directory; one for reading does not write"""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        for rights, fails in (("rw", False), ("r", True)):
            config.write_text(f'[grants.g]\ntools = ["git_add"]\nfs = {{ "{self.root}" = "{rights}" }}\n',
                              encoding="utf-8")
            self.write("a.txt", f"{rights}\n")
            result = self.call("git_add", {"all": True}, "--grant", "g")
            self.assertEqual(result.failed, fails, result)
        config.write_text(f'[grants.g]\ntools = ["git_add"]\nfs = {{ "{self.main}" = "rw" }}\n',
                          encoding="utf-8")
        self.assertEqual(self.call("git_add", {"all": True}, "--grant", "g").kind, "NotGranted")


class Elsewhere(rollback.Rollback):
    """Git directories that are not a repository's common directory."""

    def test_submodule(self):
        """a submodule as a root; its superproject is none"""
        above = self.base / "above"
        self.git("init", "-q", str(above))
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(self.root), "sub",
                 cwd=above)
        self.root = above / "sub"
        self.write("n", "n\n")
        before = self.snapshot()
        self.ok("git_add", {"all": True})
        self.ok("git_commit", {"type": "feat", "message": "n"})
        self.rollback("2")
        self.assert_same(before)
        self.refused("SandboxViolation", f"Path outside sandbox: {above}", "git_status",
                     {"working_dir": str(above)})

    def test_separate(self):
        """`git init --separate-git-dir` needs the user's git_dirs"""
        self.root = self.base / "tree"
        self.git("init", "-q", "--separate-git-dir", str(self.base / "sep"), str(self.root),
                 cwd=self.base)
        self.commit("a.txt", "one\n", "first")
        result = self.refused("SandboxViolation", OUTSIDE, "git_status")
        self.assertIn("tools.sandbox.git_dirs", result.text)
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        for listed, fails in ((self.base / "sep", False), (self.base / "other", True)):
            config.write_text(f'[tools.sandbox]\ngit_dirs = ["{listed}"]\n', encoding="utf-8")
            self.assertEqual(self.call("git_status").failed, fails)
        config.write_text('[tools.sandbox]\ngit_dirs = ["sep"]\n', encoding="utf-8")
        done = self.command("call", "git_status")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("tools.sandbox.git_dirs: must be an absolute path", done.stderr)

    def test_nowhere(self):
        """a .git file that names nothing says so"""
        shutil.rmtree(self.root / ".git")
        self.write(".git", "gitdir: /nowhere/at/all\n")
        self.assertIn("git directory", self.refused("SandboxViolation", OUTSIDE, "git_status").text)


if __name__ == "__main__":
    harness.main()
