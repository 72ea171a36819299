#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Submodules of a new worktree are made from what is there, and go and come back whole."""
import os
import pathlib
import shutil
import subprocess

import harness
import rollback

TOOLSET = ("--toolset", "parallel")
FILE = ("-c", "protocol.file.allow=always")


class Submodules(rollback.Rollback):
    """`root` has the submodule `sub` (its name is `lib/sub`), which has `deep/inner`."""

    def setUp(self):
        super().setUp()
        inner, sub = self.base / "inner", self.base / "sub"
        self.init(inner)
        self.init(sub)
        self.git(*FILE, "submodule", "add", "-q", str(inner), "deep/inner", cwd=sub)
        self.git("commit", "-q", "-m", "inner", cwd=sub)
        self.git("tag", "-a", "-m", "one", "v1", cwd=sub)
        self.git(*FILE, "submodule", "add", "-q", "--name", "lib/sub", str(sub), "sub")
        self.git(*FILE, "submodule", "update", "-q", "--init", "--recursive")
        self.git("commit", "-q", "-m", "sub")
        self.common = pathlib.Path(os.path.realpath(self.root / self.out("rev-parse", "--git-common-dir").strip()))
        self.source = pathlib.Path(self.out("rev-parse", "--absolute-git-dir", cwd=self.root / "sub").strip())
        self.dir = self.common.parent / ".worktrees"
        shutil.rmtree(inner)  # nothing may be fetched
        shutil.rmtree(sub)

    def wt(self, action, name="x", approval="ask", **arguments):
        return self.call("git_worktree", {"action": action, "name": name} | arguments, *TOOLSET, approval=approval)

    def good(self, action, name="x", **arguments):
        result = self.wt(action, name, **arguments)
        self.assertFalse(result.failed, result)
        return result.text

    def bad(self, message, action, name="x"):
        """A call that must fail like this, and changes nothing."""
        before = self.files(), self.out("for-each-ref")
        result = self.wt(action, name, approval="allow")
        self.assertTrue(result.failed, result)
        self.assertIn(message, result.error["message"])
        self.assertEqual((self.files(), self.out("for-each-ref")), before)

    def files(self):
        """Every file of the worktrees and of their administrative directories."""
        return {str(path): rollback.digest(path) for top in (self.dir, self.common / "worktrees")
                for path in rollback.files_below(top)}

    def assert_whole(self, place):
        """The worktree's submodules are there, clean, and as git would have them."""
        mine, theirs = ([line.split()[:2] for line in self.out("submodule", "status", "--recursive",
                                                                      cwd=where).splitlines()]
                        for where in (place, self.root))
        self.assertEqual((mine, len(mine)), (theirs, 2))
        self.assertEqual(self.out("status", "--porcelain", "--ignore-submodules=none", cwd=place), "")
        admin = self.out("rev-parse", "--absolute-git-dir", cwd=place).strip()
        sub = place / "sub"
        self.assertEqual(self.out("rev-parse", "--absolute-git-dir", cwd=sub).strip(), f"{admin}/modules/lib/sub")
        self.assertEqual(self.out("rev-parse", "--show-toplevel", cwd=sub).strip(), str(sub))
        self.assertEqual(self.out("rev-parse", "--show-toplevel", cwd=sub / "deep/inner").strip(),
                         str(sub / "deep/inner"))
        self.assertTrue((sub / ".git").read_text().startswith("gitdir: ../"))
        self.assertEqual((sub / "deep/inner/a.txt").read_text(), "one\n")
        self.git("fsck", "--strict", cwd=sub)
        self.git("fsck", "--strict", cwd=sub / "deep/inner")

    def test_made(self):
        """they are made whole, nested ones too, with tags and what the remotes had; git works in them"""
        text = self.good("add")
        self.assertIn("Made 2 submodules from what is here.", text)
        place = self.dir / "x"
        self.assert_whole(place)
        for words in (("config", "remote.origin.url"), ("describe", "--tags"),
                      ("for-each-ref", "refs/tags", "refs/remotes/origin/main")):
            mine, theirs = (self.out(*words, cwd=where / "sub") for where in (place, self.root))
            self.assertEqual(mine, theirs)
        before = self.out("for-each-ref", cwd=self.root / "sub")
        self.commit("new.txt", "new\n", "in the submodule", place / "sub")
        self.assertEqual(self.out("for-each-ref", cwd=self.root / "sub"), before)
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertIn("sub", self.out("status", "--porcelain", cwd=place))

    def test_from_a_worktree(self):
        """a worktree that is made in a linked one has its submodules from there"""
        self.good("add")
        result = self.call("git_worktree", {"action": "add", "name": "y"}, *TOOLSET, root=self.dir / "x")
        self.assertIn("Made 2 submodules", result.text)
        self.assert_whole(self.dir / "y")

    def test_only_initialised(self):
        """what is not initialised here is not there either, and nothing is said about it"""
        self.git("submodule", "deinit", "-q", "sub")
        self.assertNotIn("submodule", self.good("add"))
        self.assertEqual(os.listdir(self.dir / "x/sub"), [])
        self.assertFalse((self.common / "worktrees/x/modules").exists())

    def test_not_made(self):
        """what cannot be made is named, with the reason, and nothing of it is left"""
        commit = self.commit("later.txt", "later\n", "only in the main one", self.root / "sub")
        self.git("add", "sub")
        self.git("commit", "-q", "-m", "later")
        self.git("update-ref", "--no-deref", "HEAD", "HEAD~", cwd=self.root / "sub")
        self.git("reflog", "expire", "--expire=now", "--all", cwd=self.root / "sub")
        self.git("branch", "-f", "main", "HEAD", cwd=self.root / "sub", check=False)
        self.git("gc", "-q", "--prune=now", cwd=self.root / "sub")
        text = self.good("add")
        self.assertIn(f"Not made, since airlock follows no address for it:\n  'sub': the repository of it that is "
                      f"here lacks the commit {commit[:8]}", text)
        self.assertEqual(os.listdir(self.dir / "x/sub"), [])
        self.assertEqual(os.listdir(self.common / "worktrees/x/modules")
                         if (self.common / "worktrees/x/modules").exists() else [], [])

    def test_borrowed(self):
        """a repository that borrows its objects gives none away"""
        (self.source / "objects/info/alternates").write_text(f"{self.common}/objects\n")
        self.assertIn("'sub': it borrows objects (objects/info/alternates)", self.good("add"))
        self.assertEqual(os.listdir(self.dir / "x/sub"), [])

    def test_removed(self):
        """a worktree with submodules goes without a question, and a rollback brings all of it back"""
        self.good("add")
        place = self.dir / "x"
        self.git("branch", "mine", "v1", cwd=place / "sub")
        refs = self.out("for-each-ref", "--format=%(objectname) %(refname)", cwd=place / "sub")
        for name in ("a.txt", "sub/a.txt", "sub/deep/inner/new.txt"):
            (place / name).write_text("changed\n")
        self.good("remove")
        self.assertFalse(place.exists())
        self.assertFalse((self.common / "worktrees/x").exists())
        self.rollback()
        for name in ("a.txt", "sub/a.txt", "sub/deep/inner/new.txt"):
            self.assertEqual((place / name).read_text(), "changed\n")
        self.assertEqual(self.out("status", "--porcelain", "--ignore-submodules=dirty", cwd=place / "sub"), " M a.txt\n")
        for where in (place, place / "sub"):
            self.git("checkout", "-q", "a.txt", cwd=where)
        (place / "sub/deep/inner/new.txt").unlink()
        self.assert_whole(place)
        self.assertEqual(self.out("for-each-ref", "--format=%(objectname) %(refname)", cwd=place / "sub"), refs)
        self.good("remove")

    def test_undo_of_add(self):
        """a rollback of the add removes them, and a redo makes them again; not if somebody worked there"""
        self.good("add")
        place = self.dir / "x"
        self.rollback()
        self.assertFalse((self.common / "worktrees/x").exists())
        self.rollback("--redo")
        self.assert_whole(place)
        self.write("deep/inner/new.txt", "mine\n", place / "sub")
        self.git("add", "new.txt", cwd=place / "sub/deep/inner")
        self.assertIn("the worktree 'x'", self.command("rollback").stderr)
        self.assertTrue((place / "sub/deep/inner/new.txt").exists())
        before = self.files()
        self.rollback("--force")
        self.assertFalse(place.exists())
        self.rollback()
        self.assertEqual(self.files(), before)
        self.assertEqual(self.out("status", "--porcelain", cwd=place / "sub/deep/inner"), "A  new.txt\n")

    def test_comes_back_whole(self):
        """changes, stash entries and commits that are nowhere else; the control: git forgets them"""
        for name in ("x", "y"):
            self.good("add", name)
            sub = self.dir / name / "sub"
            self.write("new.txt", "stashed\n", sub)
            self.git("add", "new.txt", cwd=sub)
            self.git("stash", "push", "-q", cwd=sub)
            self.commit("b.txt", "b\n", "nowhere else", sub)
            self.git("checkout", "-q", "--detach", "HEAD~", cwd=sub)
            self.commit("c.txt", "c\n", "nowhere else", sub / "deep/inner")
            self.write("new.txt", "staged\n", sub)
            self.git("add", "new.txt", cwd=sub)
        self.git("worktree", "remove", "--force", str(self.dir / "y"))
        self.assertFalse((self.common / "worktrees/y").exists(), "the control is silent")
        before = self.files()
        self.good("remove")
        self.assertFalse((self.common / "worktrees/x").exists())
        self.git("gc", "-q", "--prune=now")
        self.rollback()
        after = self.files()
        self.assertEqual({path: after.get(path) for path in before if "worktrees/x/" in path},
                         {path: value for path, value in before.items() if "worktrees/x/" in path})
        sub = self.dir / "x/sub"
        self.assertEqual(self.out("show", "stash@{0}:new.txt", ":new.txt", cwd=sub), "stashed\nstaged\n")
        self.git("fsck", "--strict", cwd=sub)

    def test_without_checkpoints(self):
        """nothing would bring the submodules back: it stays, as git says it"""
        self.good("add")
        before = self.files()
        done = self.call("git_worktree", {"action": "remove", "name": "x"}, *TOOLSET, "--no-git", approval="allow")
        self.assertTrue(done.failed, done)
        self.assertIn("has repositories of submodules", done.error["message"])
        self.assertEqual(self.files(), before)

    def test_branch_without_it(self):
        """on a branch without the submodule its repository goes and comes back with the rest"""
        self.good("add")
        place = self.dir / "x"
        self.git("checkout", "-q", "-b", "plain", cwd=place)
        self.git("rm", "-q", "--cached", "sub", cwd=place)
        self.git("rm", "-q", ".gitmodules", cwd=place)
        self.git("commit", "-q", "-m", "no submodule", cwd=place)
        before = self.files()
        self.good("remove")
        self.rollback()
        self.assertEqual(self.files(), before)
        self.git("checkout", "-q", "x", cwd=place)
        self.assert_whole(place)

    def test_killed(self):
        """an add that is killed leaves nothing after the next one, whatever it was doing"""
        server = harness.Server(self, *TOOLSET)
        worktrees = self.common / "worktrees"
        others = set(os.listdir(worktrees)) if worktrees.exists() else set()
        os.mkfifo(self.source / "shallow")
        server.ask("git_worktree", {"action": "add", "name": "x"})
        modules = self.common / "worktrees/x/modules/lib/sub"
        while not modules.exists():
            os.sched_yield()
        server.process.kill()
        server.process.wait()
        while self.processes_in(self.dir):
            os.sched_yield()
        os.unlink(self.source / "shallow")
        self.good("add", "y")
        self.assertFalse((self.dir / "x").exists())
        self.assertEqual(set(os.listdir(worktrees)), others | {"y"})

    def test_full_disk(self):
        """a submodule whose files cannot be written is named, and the worktree is whole without it"""
        self.commit("large.txt", os.urandom(200_000).hex(), "large", self.root / "sub")
        self.git("add", "sub")
        self.git("commit", "-q", "-m", "large")
        command = [harness.AIRLOCK, "call", "--json", "--approval", "allow", *TOOLSET, "git_worktree",
                   '{"action": "add", "name": "x"}']
        done = subprocess.run(["sh", "-c", 'ulimit -f 200; trap "" XFSZ; exec "$@"', "sh", *command],
                              cwd=self.root, env=self.env | {"ASAN_OPTIONS": "detect_leaks=0"},
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertIn(b"'sub': ", done.stdout)
        self.assertEqual(os.listdir(self.dir / "x/sub"), [])
        self.assertEqual(self.out("status", "--porcelain", cwd=self.dir / "x"), "")


if __name__ == "__main__":
    harness.main()
