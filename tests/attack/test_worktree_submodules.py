#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A new worktree's submodules: hostile names, links and configuration bring nothing in from outside,
write nothing there, and run nothing."""
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness

MARK = "airlock-secret-7f3a"
FILE = ("-c", "protocol.file.allow=always")


class Hostile(harness.Case):
    """`root` has the submodule `sub`; `victim` is a repository outside that says MARK."""

    def setUp(self):
        super().setUp()
        self.init()
        self.other, self.victim = self.base / "other", self.base / "victim"
        self.init(self.other)
        self.git("init", "-q", "-b", MARK, str(self.victim), cwd=self.base)
        self.commit("a.txt", MARK + "\n", MARK, self.victim)
        self.git(*FILE, "submodule", "add", "-q", str(self.other), "sub")
        self.git("commit", "-q", "-m", "sub")
        self.common = pathlib.Path(os.path.realpath(self.root / self.out("rev-parse", "--git-common-dir").strip()))
        self.sub = pathlib.Path(self.out("rev-parse", "--absolute-git-dir", cwd=self.root / "sub").strip())
        self.place = self.common.parent / ".worktrees/x"
        self.fired = self.base / "fired"

    def outside(self):
        """All there is outside of the root."""
        return {str(path): path.read_bytes() for top in (self.victim, self.other) for path in top.rglob("*")
                if path.is_file() and not path.is_symlink()} | {"": sorted(os.listdir(self.base))}

    def harmless(self, reason=None):
        """The worktree is made; the submodule is not, for this reason; nothing comes from outside."""
        before = self.outside()
        result = self.call("git_worktree", {"action": "add", "name": "x"}, "--toolset", "parallel")
        self.assertEqual(self.outside(), before)
        self.assertFalse(self.fired.exists(), "it ran")
        self.assertFalse(result.failed, result)
        for top in (self.place, self.common / "worktrees/x"):
            for path in top.rglob("*"):
                self.assertFalse(path.is_symlink(), path)
                if path.is_file():
                    self.assertNotIn(MARK.encode(), path.read_bytes(), path)
        self.assertNotIn(MARK, result.text)
        if reason:
            self.assertIn("'sub': ", result.text)
            self.assertIn(reason, result.text)
            self.assertEqual(os.listdir(self.place / "sub"), [])
            self.assertEqual([path for path in (self.common / "worktrees/x").rglob("HEAD")
                              if path.parent.name != "x" and path.parent.parent.name != "x"], [])
        else:
            self.assertIn("Made 1 submodule", result.text)
        return result

    def rename(self, name):
        """The submodule has another name in .gitmodules."""
        (self.root / ".gitmodules").write_text(f'[submodule "{name}"]\n\tpath = sub\n\turl = {self.victim}\n',
                                               encoding="utf-8")
        self.git("commit", "-q", "-am", "renamed")

    def point(self, where):
        """Its .git file names another repository; the control shows that git believes it."""
        (self.root / "sub/.git").write_text(f"gitdir: {where}\n", encoding="utf-8")
        self.assertIn(MARK, self.out("log", cwd=self.root / "sub"), "the control is silent")

    def test_names(self):
        """names that lead out of modules/, or into a git directory"""
        for name in ("../../../victim", "..", "a/../../x", "/etc", "a/.git/b", ".GIT", "a//b", "a/", "./a", "a\\\\b"):
            self.rename(name)
            self.harmless("its name in .gitmodules is no name of a directory")
            self.assertFalse((self.place / "sub/.git").exists(), name)
            self.git("worktree", "remove", "--force", str(self.place))
            self.git("branch", "-D", "x")

    def test_pointer(self):
        """a .git file that names a repository outside"""
        self.point(self.victim / ".git")
        self.harmless("does not name the repository below modules/ that its name means")

    def test_linked_repository(self):
        """a repository below modules/ that is a link to one outside"""
        os.rename(self.sub, self.base / "moved")
        os.symlink(self.victim / ".git", self.sub)
        self.assertIn(MARK, self.out("--git-dir", str(self.sub), "log"), "the control is silent")
        before = self.outside()
        self.harmless("does not name the repository")
        self.assertEqual(self.outside(), before)

    def test_linked_objects(self):
        """an object store that is a link, and links in one"""
        objects = self.sub / "objects"
        pack = objects / "pack"
        os.symlink(self.victim / ".git/HEAD", pack / "pack-1.keep")
        self.harmless()
        self.git("worktree", "remove", "--force", str(self.place))
        self.git("branch", "-D", "x")
        (pack / "pack-1.keep").unlink()
        commit, theirs = (self.out("rev-parse", "HEAD", cwd=where).strip()
                          for where in (self.root / "sub", self.victim))
        (objects / commit[:2] / commit[2:]).unlink()
        os.symlink(self.victim / ".git/objects" / theirs[:2] / theirs[2:], objects / commit[:2] / commit[2:])
        result = self.call("git_worktree", {"action": "add", "name": "x"}, "--toolset", "parallel")
        self.assertIn("'sub': ", result.text)
        self.assertNotIn(MARK, result.text)
        self.assertEqual(os.listdir(self.place / "sub"), [])
        self.git("worktree", "remove", "--force", str(self.place))
        self.git("branch", "-D", "x")
        os.rename(objects, self.sub / "real")
        os.symlink(self.victim / ".git/objects", objects)
        result = self.call("git_worktree", {"action": "add", "name": "x"}, "--toolset", "parallel")
        self.assertIn("'sub': ", result.text)
        self.assertEqual(os.listdir(self.place / "sub"), [])

    def test_borrowed_objects(self):
        """an object store that borrows from one outside"""
        (self.sub / "objects/info").mkdir(exist_ok=True)
        (self.sub / "objects/info/alternates").write_text(f"{self.victim}/.git/objects\n", encoding="utf-8")
        self.git("cat-file", "-e", self.out("rev-parse", "HEAD", cwd=self.victim).strip(), cwd=self.root / "sub")
        self.harmless("it borrows objects")

    def test_configuration(self):
        """programs that the submodule's configuration and .gitmodules name; nothing of it is copied"""
        canary = f"touch {self.fired}"
        for key, value in (("core.fsmonitor", canary), ("core.hooksPath", str(self.sub / "hooks")),
                           ("submodule.a.update", "!" + canary), ("filter.f.smudge", canary),
                           ("core.sshCommand", canary), ("remote.origin.uploadpack", canary),
                           ("remote.origin.url", f"ext::sh -c {canary}"), ("core.alternateRefsCommand", canary)):
            self.git("config", key, value, cwd=self.root / "sub")
        hook = self.sub / "hooks/post-checkout"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\n{canary}\n", encoding="utf-8")
        hook.chmod(0o755)
        self.git("checkout", "-q", "--detach", cwd=self.root / "sub", check=False)
        self.assertTrue(self.fired.exists(), "the control is silent")
        self.fired.unlink()
        self.harmless()
        keys = set(self.out("config", "--file", str(self.common / "worktrees/x/modules/sub/config"), "--list",
                            "--name-only").split())
        self.assertEqual(keys, {"core.repositoryformatversion", "core.filemode", "core.bare", "core.logallrefupdates",
                                "core.worktree", "remote.origin.url", "remote.origin.fetch"})

    def test_filter(self):
        """a file that goes through a configured filter is not written without it"""
        self.commit(".gitattributes", "*.txt filter=f\n", "filter", self.root / "sub")
        self.git("add", "sub")
        self.git("commit", "-q", "-m", "filtered")
        (self.home / ".gitconfig").open("a", encoding="utf-8").write(
            f'[filter "f"]\n\tsmudge = touch {self.fired}\n\tclean = cat\n')
        self.git("checkout", "-q", "HEAD~", cwd=self.root / "sub")
        (self.root / "sub/a.txt").unlink()
        self.git("checkout", "-q", "-", cwd=self.root / "sub")
        self.git("checkout", "-q", "--", "a.txt", cwd=self.root / "sub")
        self.assertTrue(self.fired.exists(), "the control is silent")
        self.fired.unlink()
        result = self.call("git_worktree", {"action": "add", "name": "x"}, "--toolset", "parallel")
        self.assertFalse(self.fired.exists())
        self.assertFalse((self.place / "sub/a.txt").exists() and
                         (self.place / "sub/a.txt").read_text() != "one\n", result)

    def test_swapped(self):
        """a worktree's submodule that was made to name another repository: nothing is read or moved there"""
        self.harmless()
        (self.place / "sub/.git").write_text(f"gitdir: {self.victim}/.git\n", encoding="utf-8")
        before = self.outside()
        result = self.call("git_worktree", {"action": "remove", "name": "x"}, "--toolset", "parallel")
        self.assertEqual(self.outside(), before)
        self.assertNotIn(MARK, result.text)
        self.assertFalse(result.failed, result)
        self.assertFalse(self.place.exists())


if __name__ == "__main__":
    harness.main()
