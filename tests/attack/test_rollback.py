#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Attacks of a repository on a rollback: run a program, write outside, or hold it up for good.

Each attack is shown to work on plain git, or on a naive way to put a file back, first.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # pylint: disable=wrong-import-position


class Hostile(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.outside = self.base / "outside"
        self.outside.mkdir()
        self.canary = self.outside / "canary"

    def rollback(self, *words):
        """Run it; gives the finished process."""
        return subprocess.run([harness.AIRLOCK, "rollback", *words], cwd=self.root, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True,
                              timeout=harness.WATCHDOG_SECONDS, start_new_session=True)

    def done(self, *words):
        """A rollback that must work."""
        done = self.rollback(*words)
        self.assertEqual(done.returncode, 0, done)

    def program(self):
        """A program that leaves a canary."""
        path = self.base / "evil"
        path.write_text(f"#!/bin/sh\ntouch '{self.canary}'\ncat\nexit 0\n", encoding="utf-8")
        path.chmod(0o755)
        return path

    def assert_fires(self, control):
        """The control leaves the canary."""
        control()
        self.assertTrue(self.canary.exists(), "the control is safe")
        self.canary.unlink()

    def test_hooks(self):
        """no hook runs while references move, nor any program the configuration names"""
        self.ok("git_branch", {"create": "x"})
        evil = self.program()
        hooks = self.root / ".git/hooks"
        hooks.mkdir(exist_ok=True)
        for name in ("reference-transaction", "post-checkout", "post-index-change", "pre-commit"):
            (hooks / name).symlink_to(evil)
        for name, value in (("core.fsmonitor", str(evil)), ("core.hooksPath", str(hooks)),
                            ("filter.x.clean", str(evil)), ("filter.x.smudge", str(evil)),
                            ("diff.external", str(evil)), ("core.alternateRefsCommand", str(evil))):
            self.git("config", name, value)
        (self.root / ".git/info/attributes").write_text("* filter=x\n", encoding="utf-8")
        self.assert_fires(lambda: self.git("update-ref", "refs/heads/y", "HEAD"))
        self.git("update-ref", "-d", "refs/heads/y")
        self.canary.unlink()
        self.done("--force")
        self.assertFalse(self.canary.exists())
        self.assertEqual(self.out("for-each-ref", "--format=%(refname)").split(),
                         ["refs/heads/main"])
        self.canary.unlink(missing_ok=True)

    def as_agent(self, *words):
        """airlock in the shell of an agent; its output."""
        done = subprocess.run([harness.AIRLOCK, *words], cwd=self.root, env=self.env | {"AIRLOCK_SESSION": "s1"},
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def tool(self, *words):
        return self.as_agent("call", "--toolset", "everyday", "--approval", "allow", *words)

    def test_settings(self):
        """an undo by an agent writes no hook, no exclusion and no key that somebody took away while its command ran"""
        hook, exclude = self.root / ".git/hooks/post-checkout", self.root / ".git/info/exclude"
        hook.parent.mkdir(exist_ok=True)
        exclude.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch '{self.canary}'\n", encoding="utf-8")
        hook.chmod(0o755)
        exclude.write_text("canary\n", encoding="utf-8")
        self.git("config", "core.fsmonitor", str(self.program()))
        self.write("u.txt", "untracked\n")
        script = "rm .git/hooks/post-checkout .git/info/exclude u.txt; git config --unset core.fsmonitor"
        self.as_agent("run", "--", "sh", "-c", script)
        self.assert_fires(lambda: (self.done(), self.git("checkout", "-q", "-b", "x")))  # a user's brings all back
        self.canary.unlink(missing_ok=True)
        self.git("checkout", "-q", "main")
        self.git("branch", "-q", "-D", "x")
        self.canary.unlink(missing_ok=True)
        self.done("--redo")
        said = self.tool("git_undo")
        for name in ("config", "hooks/post-checkout", "info/exclude"):
            self.assertIn(f"{name} in the git directory", said)
        self.assertIn("only a user restores them", said)
        self.assertTrue((self.root / "u.txt").exists())
        self.assertFalse(hook.exists() or exclude.exists())
        self.git("checkout", "-q", "-b", "y")
        self.assertFalse(self.canary.exists())
        self.tool("git_remote", '{"action":"add","name":"r","url":"https://example.com/r.git"}')
        self.assertIn("[remote", (self.root / ".git/config").read_text(encoding="utf-8"))
        self.tool("git_undo")
        self.assertNotIn("[remote", (self.root / ".git/config").read_text(encoding="utf-8"))
        self.tool("git_undo", '{"steps":-1}')
        self.assertIn("[remote", (self.root / ".git/config").read_text(encoding="utf-8"))

    def test_linked_directory(self):
        """a directory that became a link to another place: nothing is written or removed there"""
        self.commit("dir/file", "inside\n", "dir")
        self.write("dir/new", "untracked\n")
        self.ok("git_stash", {"action": "push", "include_untracked": True})
        (self.root / "dir/file").unlink()
        (self.root / "dir").rmdir()
        (self.root / "dir").symlink_to(self.outside)
        (self.outside / "file").write_text("a user's\n", encoding="utf-8")
        self.assert_fires(lambda: (self.root / "dir/canary").write_text("x", encoding="utf-8"))
        self.done("--force")
        self.assertEqual(sorted(os.listdir(self.outside)), ["file"])
        self.assertEqual((self.outside / "file").read_text(), "a user's\n")
        self.assertFalse((self.root / "dir").is_symlink())
        self.assertEqual((self.root / "dir/new").read_text(), "untracked\n")

    def test_linked_in_git_directory(self):
        """files of the git directory that became links: what they lead to is not touched"""
        self.write("a.txt", "stashed\n")
        self.git("stash", "push", "-q")
        self.ok("git_stash", {"action": "clear"})
        victim = self.outside / "victim"
        victim.write_text("a user's\n", encoding="utf-8")
        git_dir = self.root / ".git"
        for name in ("logs/refs/stash", "config", "ORIG_HEAD", "index"):
            path = git_dir / name
            keep = path.read_bytes() if path.exists() else None
            path.unlink(missing_ok=True)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(victim)
            self.assert_fires(lambda p=path: (p.write_text("x", encoding="utf-8"),
                                              self.canary.write_text(victim.read_text())))
            victim.write_text("a user's\n", encoding="utf-8")
            self.rollback("--force")
            self.assertEqual(victim.read_text(), "a user's\n", name)
            path.unlink(missing_ok=True)
            if keep is not None:
                path.write_bytes(keep)

    def test_linked_state(self):
        """the directory of an unfinished operation that became a link: nothing is written there"""
        self.git("checkout", "-q", "-b", "other")
        self.commit("a.txt", "theirs\n", "theirs")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "ours\n", "ours")
        self.git("rebase", "other", check=False)
        self.ok("git_merge", {"branch": "other", "abort": True})
        (self.root / ".git/rebase-merge").symlink_to(self.outside)
        self.assert_fires(lambda: self.git("rebase", "--quit", check=False) and
                          (self.root / ".git/rebase-merge/canary").write_text("x"))
        (self.root / ".git/rebase-merge").unlink(missing_ok=True)
        (self.root / ".git/rebase-merge").symlink_to(self.outside)
        self.rollback("--force")
        self.assertEqual(os.listdir(self.outside), [])

    def test_lock(self):
        """an index.lock of another git is respected; one that says it is ours is no lock"""
        self.write("a.txt", "two\n")
        self.ok("git_add", {"paths": ["a.txt"]})
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("[tools.git]\ntimeout_ms = 100\n", encoding="utf-8")
        lock = self.root / ".git/index.lock"
        before = self.out("status", "--porcelain")
        for text in ("", "DIRC", "airlock rollback\n", "airlock rollback 0123456789abcde\n",
                     "airlock rollback 0123456789abcdeg\n", "airlock rollback 0123456789abcdef\n\n"):
            lock.write_text(text, encoding="utf-8")
            done = self.rollback()
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("Another git process holds index.lock", done.stderr)
            self.assertEqual(lock.read_text(), text)
            self.assertEqual(self.out("status", "--porcelain"), before)
        lock.write_text("airlock rollback 0123456789abcdef\n", encoding="utf-8")
        self.done()
        self.assertFalse(lock.exists())

    def test_forged_objects(self):
        """objects that were exchanged in the repository do not come back from the store"""
        self.write("a.txt", "two\n")
        self.ok("git_restore", {"paths": ["a.txt"]})
        blob = self.out("hash-object", "-w", "--stdin", stdin=b"two\n").strip()
        evil = self.out("hash-object", "-w", "--stdin", stdin=b"evil\n").strip()
        objects = self.root / ".git/objects"
        path = objects / blob[:2] / blob[2:]
        path.chmod(0o644)
        path.write_bytes((objects / evil[:2] / evil[2:]).read_bytes())
        self.assertEqual(self.out("cat-file", "blob", blob, check=False), "evil\n")
        self.done("--force")
        self.assertEqual((self.root / "a.txt").read_text(), "two\n")

    def test_pipes(self):
        """a pipe in the place of a file does not hold it up"""
        self.write("new.txt", "untracked\n")
        self.ok("git_stash", {"action": "push", "include_untracked": True})
        os.mkfifo(self.root / "new.txt")
        done = self.rollback("--force")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("new.txt", done.stderr)
        os.unlink(self.root / "new.txt")
        self.done("--force")
        self.assertEqual((self.root / "new.txt").read_text(), "untracked\n")


if __name__ == "__main__":
    harness.main()
