#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`airlock rollback`: back to before, byte for byte."""
import os

import harness
import rollback


class Whole(rollback.Rollback):
    def test_twelve(self):
        """twenty calls, twelve of them destructive: `rollback 12` brings everything back"""
        self.rich()
        before = self.snapshot()
        server = harness.Server(self)
        destructive = 0
        for tool, arguments in (
                ("git_status", {}), ("git_log", {}),
                ("git_stash", {"action": "drop", "index": 1}),
                ("git_restore", {"paths": ["a.txt"]}),
                ("git_diff", {}),
                ("git_restore", {"paths": ["dir/b.txt"], "staged": True, "worktree": True}),
                ("git_branch", {"list_all": True}),
                ("git_branch", {"force_delete": "side"}),
                ("git_add", {"all": True}),
                ("git_show", {}),
                ("git_commit", {"type": "feat", "message": "take everything"}),
                ("git_checkout", {"create_branch": "topic"}),
                ("git_checkout", {"branch": "other"}),
                ("git_blame", {"path": "a.txt"}),
                ("git_stash", {"action": "pop"}),
                ("git_checkout", {"paths": ["a.txt"]}),
                ("git_branch", {"rename": "topic", "new_name": "theme"}),
                ("git_stash", {"action": "clear"}),
                ("git_status", {}), ("git_log", {"oneline": True})):
            result = server.call(tool, arguments)
            if result.failed:
                raise AssertionError((tool, arguments, result))
            with self.subTest(tool=tool, arguments=arguments):
                destructive += self.record()["git_commit"] is not None
        server.close()
        self.assertEqual(destructive, 12)
        after = self.snapshot()
        self.rollback("12")
        self.assert_same(before)
        self.rollback()
        self.assert_same(after)
        self.rollback("2")
        self.assert_same(after)


class Restores(rollback.Rollback):
    """What one destructive call takes away comes back, and goes again."""

    def assert_undone(self, *calls, force=False, **options):
        """Make the calls, undo them, and undo that."""
        before = self.snapshot()
        for tool, arguments in calls:
            self.ok(tool, arguments, **options)
        after = self.snapshot()
        self.assertNotEqual(before, after)
        words = ["--force"] if force else []
        self.rollback(str(len(calls)), *words)
        self.assert_same(before)
        self.rollback()
        self.assert_same(after)
        self.rollback()
        self.assert_same(before)

    def test_untracked(self):
        """untracked files that a stash took, with their bytes, permissions and links"""
        self.write("new.bin", b"\0\xff\r\n").chmod(0o600)
        self.write("run", "#!/bin/sh\n").chmod(0o755)
        os.symlink("/etc/passwd", self.root / "out")
        os.symlink("nowhere", self.root / "dangling")
        self.write("deep/er/file", "x")
        self.assert_undone(("git_stash", {"action": "push", "include_untracked": True}))

    def test_overwritten(self):
        """changes that were not committed, and what was staged"""
        self.write("a.txt", "staged\n")
        self.git("add", "a.txt")
        self.write("a.txt", "modified\n")
        self.assert_undone(("git_restore", {"paths": ["a.txt"], "staged": True, "worktree": True}))

    def test_unseen(self):
        """a file that is changed only on the disk: git restores it, and sees no change"""
        self.commit(".gitattributes", "*.txt ident\n", "attributes")
        self.commit("a.txt", "$Id$\n", "a word that git replaces")
        (self.root / "a.txt").unlink()
        self.git("checkout", "-q", "a.txt")
        expanded = (self.root / "a.txt").read_text()
        zeros = "0" * len(self.out("rev-parse", "HEAD").strip())
        os.utime(self.write("a.txt", f"$Id: {zeros} $\n"), (1, 1))
        self.assertEqual(self.out("ls-files", "--modified"), "")
        self.ok("git_restore", {"paths": ["a.txt"]})
        self.assertEqual((self.root / "a.txt").read_text(), expanded)
        self.rollback()
        self.assertIn(zeros, (self.root / "a.txt").read_text())

    def test_index_time(self):
        """a change within the same second as the index, which git finds by the time of the index"""
        self.git("config", "core.trustctime", "false")
        os.utime(self.write("a.txt", "two\n"), (1000, 1000))
        self.git("add", "a.txt")
        os.utime(self.write("a.txt", "six\n"), (1000, 1000))
        os.utime(self.root / ".git/index", (1000, 1000))
        self.assertEqual(self.out("diff-files", "--name-only"), "a.txt\n")
        os.utime(self.root / ".git/index", (1000, 1000))
        self.write("b.txt", "b\n")
        self.ok("git_add", {"paths": ["b.txt"]})
        self.rollback()
        self.assertEqual(self.out("diff-files", "--name-only"), "a.txt\n")

    def test_index(self):
        """the index, byte for byte, with conflicts, and entries marked unchanged or only intended"""
        self.write("b.txt", "b\n")
        self.git("add", "-N", "b.txt")
        self.git("update-index", "--assume-unchanged", "a.txt")
        self.git("checkout", "-q", "-b", "other")
        self.commit("c.txt", "ours\n", "ours")
        self.git("checkout", "-q", "main")
        self.commit("c.txt", "theirs\n", "theirs")
        self.git("merge", "other", check=False)
        self.assert_undone(("git_add", {"all": True}))

    def test_modes(self):
        """permissions and links that a checkout changed"""
        self.write("run", "x\n").chmod(0o755)
        self.write("plain", "x\n")
        os.symlink("run", self.root / "link")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "modes")
        (self.root / "run").chmod(0o644)
        (self.root / "plain").chmod(0o700)
        (self.root / "link").unlink()
        self.write("link", "a file now\n")
        self.assert_undone(("git_checkout", {"paths": ["run", "plain", "link"]}))

    def test_directories(self):
        """a file where a directory was, and the other way around"""
        self.commit("x/y", "y\n", "a directory")
        self.git("checkout", "-q", "-b", "other")
        self.git("rm", "-q", "-r", "x")
        self.commit("x", "a file\n", "a file")
        self.assert_undone(("git_checkout", {"branch": "main"}))

    def test_commit(self):
        """a commit, also the first one"""
        self.write("a.txt", "two\n")
        self.git("add", "a.txt")
        self.assert_undone(("git_commit", {"type": "fix", "message": "x"}))
        new = self.root / "unborn"
        new.mkdir()
        self.git("init", "-q", cwd=new)
        self.write("f", "f\n", new)
        before = self.snapshot(new)
        self.ok("git_add", {"all": True}, root=new, cwd=new)
        self.ok("git_commit", {"type": "feat", "message": "x"}, root=new, cwd=new)
        self.rollback("2", cwd=new)
        self.assert_same(before, new)

    def test_branches(self):
        """branches: switched, made, renamed, deleted, into each other's directories"""
        self.git("branch", "a")
        self.git("branch", "x/y")
        self.git("config", "branch.a.description", "words")
        self.assert_undone(("git_branch", {"force_delete": "a"}), ("git_branch", {"create": "a/b"}),
                           ("git_branch", {"rename": "x/y", "new_name": "x"}),
                           ("git_checkout", {"create_branch": "x/y".replace("/", "-")}),
                           ("git_checkout", {"commit": "HEAD"}))

    def test_stash(self):
        """stashes that were dropped, popped and cleared, with their log"""
        for number in range(3):
            self.write("a.txt", f"{number}\n")
            self.git("stash", "push", "-q", "-m", f"message {number}")
        self.assert_undone(("git_stash", {"action": "drop", "index": 1}),
                           ("git_stash", {"action": "pop"}), ("git_restore", {"paths": ["a.txt"]}),
                           ("git_stash", {"action": "clear"}))

    def conflict(self):
        """Two branches that conflict; on main."""
        self.git("checkout", "-q", "-b", "other")
        self.commit("a.txt", "theirs\n", "theirs")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "ours\n", "ours")

    def test_merge(self):
        """a merge that was begun, and one that was given up"""
        self.conflict()
        self.assert_undone(("git_merge", {"branch": "other"}))
        self.git("merge", "other", check=False)
        self.assert_undone(("git_merge", {"branch": "other", "abort": True}))

    def test_rebase(self):
        """a rebase in progress that was given up"""
        self.conflict()
        self.git("rebase", "other", check=False)
        self.assertTrue((self.root / ".git/rebase-merge").is_dir())
        self.assert_undone(("git_merge", {"branch": "other", "abort": True}))

    def test_interrupted_abort(self):
        """a merge or a rebase that was given up in part, when the time was over"""
        self.commit("b.txt", "b\n", "b")
        self.conflict()
        self.git("checkout", "-q", "other")
        self.commit("b.txt", "theirs\n", "theirs")
        self.git("checkout", "-q", "main")
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("[tools.git]\ntimeout_ms = 2000\n", encoding="utf-8")
        content = self.out("rev-parse", "main:b.txt").strip()
        path = self.root / ".git/objects" / content[:2] / content[2:]
        kept = path.read_bytes()
        for operation in ("merge", "rebase"):
            self.git(operation, "other", check=False)
            self.write("a.txt", "half resolved\n")
            before = self.snapshot()
            pipe = self.block(content)
            result = self.call("git_merge", {"branch": "", "abort": True}, "--toolset", "workflow")
            self.assertEqual(result.kind, "Timeout", result)
            self.assertIn("Everything was put back", result.text)
            pipe.unlink()
            path.write_bytes(kept)
            if self.snapshot() != before:
                self.rollback()
            self.assert_same(before)
            self.ok("git_merge", {"branch": "", "abort": True}, "--toolset", "workflow")
            self.assertEqual(self.out("status", "--porcelain", "-b"), "## main\n")

    def test_sha256(self):
        """a repository of the other object format"""
        self.root = self.base / "other"
        self.root.mkdir()
        self.git("init", "-q", "--object-format=sha256")
        self.rich_sha256()
        self.assert_undone(("git_stash", {"action": "drop", "index": 0}),
                           ("git_add", {"all": True}), ("git_commit", {"type": "fix",
                                                                       "message": "x"}))

    def rich_sha256(self):
        """Something of everything."""
        self.commit("a.txt", "one\n", "first")
        self.rich()

    def test_worktree(self):
        """a linked working tree, without touching the other"""
        linked = self.base / "root-linked"
        self.git("worktree", "add", "-q", "-b", "linked", str(linked))
        self.write("a.txt", "linked\n", linked)
        self.write("a.txt", "main\n")
        main = self.snapshot()
        before = self.snapshot(linked)
        options = {"root": self.base, "cwd": linked}
        config = ["--root", str(self.base)]
        for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
            self.env[name] = self.move_home()
        self.ok("git_add", {"all": True, "working_dir": str(linked)}, **options)
        self.ok("git_commit", {"type": "fix", "message": "x", "working_dir": str(linked)},
                **options)
        self.rollback(*config, "2", cwd=linked)
        self.assert_same(before, linked)
        self.assert_same(main)

    def move_home(self):
        """The user's directory outside of what is a root now."""
        where = harness.scratch.directory("airlock-home-")
        self.addCleanup(harness.shutil.rmtree, where, ignore_errors=True)
        return where

    def test_submodule(self):
        """with a submodule and a nested repository there"""
        other = self.base / "sub"
        self.init(other)
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
        self.git("commit", "-q", "-m", "submodule")
        self.init(self.root / "nested")
        self.write("sub/a.txt", "changed\n")
        self.write("sub/new", "new\n")
        self.write("nested/new", "new\n")
        self.write("a.txt", "changed\n")
        self.assert_undone(("git_restore", {"paths": ["a.txt"]}))


if __name__ == "__main__":
    harness.main()
