#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A root that is a linked worktree: forged pointers give an agent no other git directory.

The whole suite runs in such a root as well, with AIRLOCK_LAYOUT=linked; here are the attacks on the
layout itself."""
import contextlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness

MARK = "airlock-secret-7f3a"


class Pointers(harness.Case):
    """`root` is a linked worktree of `main`, beside the worktree `other`; `victim` is another
    repository.  All but `root` lie outside the roots and say MARK."""

    def setUp(self):
        super().setUp()
        self.root.rmdir()
        self.main, self.other, self.victim = (self.base / name for name in ("main", "other", "victim"))
        self.git("init", "-q", str(self.main), cwd=self.base)
        self.commit("a.txt", "one\n", "first", self.main)
        self.git("worktree", "add", "-q", "-b", "topic", str(self.root), cwd=self.main)
        self.git("worktree", "add", "-q", "-b", MARK, str(self.other), cwd=self.main)
        self.git("branch", "-m", "main", MARK + "-main", cwd=self.main)
        self.git("init", "-q", "-b", MARK, str(self.victim), cwd=self.base)
        self.commit("a.txt", MARK + "\n", MARK, self.victim)
        self.own = self.main / ".git/worktrees/root"
        self.dot_git = self.root / ".git"

    def outside(self):
        """All there is outside the root, but not the worktree's own part."""
        return {path: path.read_bytes() for top in (self.main, self.other, self.victim)
                for path in top.rglob("*")
                if path.is_file() and not path.is_symlink() and self.own not in path.parents}

    def refuses(self, server=None, control=True):
        """Plain git uses the other git directory, or believes the pointer; airlock does not, and
        shows and changes nothing of it."""
        seen = self.out("status", "-sb", "--untracked-files=no", check=False)
        if control:
            self.assertIn(MARK, seen, "the control is silent")
        before = self.outside()
        for tool, arguments in (("git_status", {}), ("git_log", {}), ("git_branch", {}),
                                ("git_add", {"all": True}), ("git_branch", {"create": "x"}),
                                ("git_checkout", {"create_branch": "y"})):
            result = (server or self).call(tool, arguments)
            self.assertEqual(result.kind, "SandboxViolation", (tool, result))
            self.assertNotIn(MARK, result.text)
        self.assertEqual(self.outside(), before)

    def both(self, change):
        """The change is made before airlock starts, and while it runs."""
        saved = {path: path.read_bytes() for path in
                 (self.dot_git, self.own / "gitdir", self.own / "commondir")}
        with contextlib.closing(harness.Server(self)) as server:
            server.ok("git_status")
            change()
            self.refuses(server)
        self.refuses()
        if self.dot_git.is_symlink():
            self.dot_git.unlink()
        for path, data in saved.items():
            path.write_bytes(data)
        self.ok("git_status")

    def point(self, git_dir):
        self.dot_git.write_text(f"gitdir: {git_dir}\n", encoding="utf-8")

    def test_other(self):
        """.git names the git directory of another worktree"""
        self.both(lambda: self.point(self.main / ".git/worktrees/other"))

    def test_main(self):
        """.git names the repository's own git directory"""
        self.both(lambda: self.point(self.main / ".git"))

    def test_victim(self):
        """.git names another repository"""
        self.both(lambda: self.point(self.victim / ".git"))

    def test_link(self):
        """.git is a link to any of them"""
        def link(target):
            self.dot_git.unlink()
            self.dot_git.symlink_to(target)
        for target in (self.main / ".git", self.victim / ".git", self.other / ".git"):
            with self.subTest(target=target.parent.name):
                self.both(lambda target=target: link(target))

    def test_commondir(self):
        """commondir leads to another repository"""
        self.both(lambda: (self.own / "commondir").write_text(f"{self.victim}/.git\n",
                                                              encoding="utf-8") and
                  (self.own / "HEAD").write_text(f"ref: refs/heads/{MARK}\n", encoding="utf-8"))

    def test_fake_worktree(self):
        """a git directory made inside the root, whose commondir leads outside"""
        fake = self.root / "fake"
        fake.mkdir()
        for name, text in (("HEAD", f"ref: refs/heads/{MARK}\n"), ("gitdir", f"{self.dot_git}\n"),
                           ("commondir", f"{self.victim}/.git\n")):
            (fake / name).write_text(text, encoding="utf-8")
        self.both(lambda: self.point(fake))

    def test_nested(self):
        """a directory below the root whose .git names one of them"""
        (self.root / "d").mkdir()
        for git_dir in (self.own, self.main / ".git", self.main / ".git/worktrees/other"):
            (self.root / "d/.git").write_text(f"gitdir: {git_dir}\n", encoding="utf-8")
            self.git("status", cwd=self.root / "d")
            result = self.call("git_status", {"working_dir": "d"})
            self.assertEqual(result.kind, "SandboxViolation", (git_dir, result))

    def test_back_pointer(self):
        """a back pointer that names another working tree's .git file, or a hard link of ours"""
        (self.own / "gitdir").write_text(f"{self.other}/.git\n", encoding="utf-8")
        self.refuses(control=False)
        (self.own / "gitdir").write_text(f"{self.dot_git}\n", encoding="utf-8")
        self.ok("git_status")
        os.link(self.dot_git, self.root / "second")
        self.refuses(control=False)

    def test_bounds(self):
        """pointers that are empty, endless, binary, relative or that loop are refused by name"""
        loop = self.root / "loop"
        loop.symlink_to("loop")
        for text in ("", "gitdir: \n", "gitdir: loop\n", "gitdir: .git\n", "gitdir: " + "x/" * 4000,
                     "gitdir: a\0b\n", f"gitdir: {self.own}/../root/../../..\n"):
            self.dot_git.write_text(text, encoding="utf-8")
            result = self.call("git_status")
            self.assertTrue(result.failed, (text[:40], result))
            self.assertIn(result.kind, ("SandboxViolation", "ExecutionFailed"))
        relative = os.path.relpath(self.own, self.root)
        self.dot_git.write_text(f"gitdir: {relative}\n", encoding="utf-8")
        self.ok("git_status")

    def test_owner(self):
        """a common directory of another user"""
        if os.geteuid() != 0:
            self.skipTest("only root gives files away")
        for path in (self.main / ".git", self.own):
            os.chown(path, 12345, 12345)
            self.assertTrue(self.call("git_status").failed, path)
            os.chown(path, 0, 0)
        self.ok("git_status")

    def test_removed(self):
        """a worktree that was removed, or a repository that was replaced, while a server runs"""
        with contextlib.closing(harness.Server(self)) as server:
            server.ok("git_status")
            self.main.rename(self.base / "gone")
            self.assertTrue(server.call("git_status", {}).failed)
            self.git("init", "-q", "-b", MARK, str(self.main), cwd=self.base)
            self.own.mkdir(parents=True)
            for name in ("HEAD", "gitdir", "commondir", "index"):
                (self.own / name).write_bytes((self.base / "gone/.git/worktrees/root" / name).read_bytes())
            result = server.call("git_log", {})
            self.assertTrue(result.failed, result)
            self.assertNotIn(MARK, result.text)


if __name__ == "__main__":
    harness.main()
