#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_diff writes patch files over others: what was there comes back, and all of them or none."""
import json
import os

import harness
import rollback

REFS = {"from_ref": "HEAD~1", "to_ref": "HEAD"}
UNKEPT = "output_dir: '{}' exists already and no checkpoint has it; remove it or choose another " \
         "directory"


class OutputDir(rollback.Rollback):
    def setUp(self):
        super().setUp()
        for name in ("a.txt", "b.txt", "c.txt"):
            self.write(name, f"{name} changed\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "second")

    def patches(self, directory="out", *options, **named):
        """Write them; gives the names."""
        result = self.ok("git_diff", REFS | {"output_dir": directory}, *options, **named)
        return json.loads(result.text)["patches"]

    def patch(self, name):
        """What git itself says of one path."""
        return self.git("diff", "HEAD~1", "HEAD", "--", name).stdout

    def assert_refused(self, message, directory="out", *options, kind="ExecutionFailed"):
        """No patch is written, and everything is as it was."""
        before = self.snapshot()
        self.refused(kind, message, "git_diff", REFS | {"output_dir": directory}, *options)
        self.assert_same(before)

    def configure(self, *lines):
        """[journal] of the user's configuration."""
        path = self.home / ".config/airlock/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(("[journal]", *lines, "")), encoding="utf-8")

    def test_git_directories(self):
        """no patch goes into a git directory, whatever it is called and whose it is"""
        self.git("init", "-q", "--bare", str(self.root / "hub"))
        self.git("init", "-q", "--separate-git-dir", str(self.root / "meta"),
                 str(self.root / "inner"))
        for directory in ("hub", "hub/hooks", "hub/new/a", "meta", "meta/refs/heads"):
            self.assert_refused("output_dir cannot lie in a .git directory"
                                if (self.root / directory).exists() else
                                f"Protected path: {directory} (inside a git directory)",
                                directory, kind="SandboxViolation")
        self.assertEqual(len(self.patches("inner/out")), 3)

    def test_back(self):
        """replaced patches, tracked or not, come back byte for byte with their permissions"""
        self.write("out/a.txt.patch", b"tracked \0\xff").chmod(0o755)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "patch")
        self.git("reset", "-q", "--soft", "HEAD~1")
        self.write("out/a.txt.patch", b"changed since \0\xfe\r\n")
        self.write("out/b.txt.patch", "").chmod(0o600)
        self.write("out/kept", "kept\n")
        before = self.snapshot()
        names = self.patches()
        self.assertEqual(sorted(names), ["a.txt.patch", "b.txt.patch", "c.txt.patch"])
        self.assertEqual(sorted(os.listdir(self.root / "out")), sorted([*names, "kept"]))
        for name in ("a.txt", "b.txt", "c.txt"):
            self.assertEqual((self.root / f"out/{name}.patch").read_bytes(), self.patch(name))
        self.rollback()
        self.assert_same(before)
        self.rollback()  # of the rollback
        self.assertEqual((self.root / "out/b.txt.patch").read_bytes(), self.patch("b.txt"))

    def test_new_ones_go(self):
        """patches that replaced nothing are gone after a rollback"""
        before = self.snapshot()
        self.patches()
        self.rollback()
        self.assert_same(before)
        self.assertFalse((self.root / "out").exists())

    def test_again(self):
        """the same patches again replace themselves, also at the top and in a nested repository"""
        other = self.root / "nested"
        self.init(other)
        for directory in ("out", ".", "nested", "nested/out"):
            self.patches(directory)
            self.write(f"{directory}/b.txt.patch", "mine\n")
            before = self.snapshot()
            self.patches(directory)
            self.assertNotEqual(self.snapshot(), before)
            self.rollback()
            self.assert_same(before)
            self.assertEqual((self.root / directory / "b.txt.patch").read_text(), "mine\n")

    def test_nobody_is_asked(self):
        """no approval is needed; the journal says what was written and which checkpoint there is"""
        self.write("out/a.txt.patch", "mine\n")
        self.patches(approval="ask")
        line = self.record()
        self.assertEqual((line["operation"], line["decision"]), ("write_patches", "auto"))
        self.assertEqual(line["effects"], ["reads", "writes_worktree", "writes_files"])
        self.assertIsNotNone(line["git_commit"])
        self.ok("git_diff", REFS)
        self.assertIsNone(self.record()["git_commit"])

    def test_ignored(self):
        """a file that no checkpoint has stays, and so do those that one has"""
        self.write(".gitignore", "b.txt.patch\n")
        self.write("out/a.txt.patch", "mine\n")
        self.write("out/b.txt.patch", "ignored\n")
        self.assert_refused(UNKEPT.format("b.txt.patch"))
        self.configure('include_ignored = ["*.patch"]')
        before = self.snapshot()
        self.patches()
        self.rollback()
        self.assert_same(before)

    def test_too_large(self):
        """a file that is too large for a checkpoint stays; one that is not is replaced"""
        self.configure("max_file_bytes = 1024")
        self.write("out/b.txt.patch", "x" * 1025)
        self.assert_refused(UNKEPT.format("b.txt.patch"))
        for size in (1024, 1023):
            self.write("out/b.txt.patch", "x" * size)
            self.patches()
            self.rollback()
            self.assertEqual((self.root / "out/b.txt.patch").stat().st_size, size)

    def test_outside_the_repository(self):
        """beside the repository, where no checkpoint looks, files stay; new ones are written"""
        repo = self.root / "repo"
        self.init(repo)
        self.commit("b.txt", "b\n", "second", repo)
        arguments = REFS | {"working_dir": "repo", "output_dir": str(self.root / "beside")}
        self.ok("git_diff", arguments)
        self.refused("ExecutionFailed", UNKEPT.format("b.txt.patch"), "git_diff", arguments)

    def test_without_checkpoints(self):
        """where no checkpoint is taken files stay; new ones are written"""
        self.write("out/a.txt.patch", "mine\n")
        self.assert_refused(UNKEPT.format("a.txt.patch"), "out", "--no-git")
        self.patches("new", "--no-git")
        for line in ('on_snapshot_failure = "warn"', 'on_snapshot_failure = "refuse"'):
            self.configure("max_store_bytes = 1048576", line)
            self.write("large", os.urandom(2 << 20))
            self.assert_refused(UNKEPT.format("a.txt.patch"))

    def test_no_files(self):
        """what is in the way and no file stays, and what could be replaced does too"""
        for make in (os.mkdir, os.mkfifo, lambda path: os.symlink("../a.txt", path),
                     lambda path: os.symlink("nowhere", path)):
            self.write("out/a.txt.patch", "mine\n")
            make(self.root / "out/b.txt.patch")
            before = (self.root / "out/b.txt.patch").lstat()
            self.refused("ExecutionFailed", "output_dir: 'b.txt.patch' exists and is no file; "
                         "remove it or choose another directory", "git_diff",
                         REFS | {"output_dir": "out"})
            self.assertEqual((self.root / "out/b.txt.patch").lstat().st_ino, before.st_ino)
            self.assertEqual((self.root / "out/a.txt.patch").read_text(), "mine\n")
            self.assertEqual((self.root / "a.txt").read_text(), "a.txt changed\n")
            self.assertEqual(len(os.listdir(self.root / "out")), 2)
            os.rename(self.root / "out", self.base / f"{before.st_mode}-{before.st_ino}")

    def test_git_fails(self):
        """git that fails in the middle: the old files are whole, and nothing else is there"""
        self.patches()
        self.write("out/a.txt.patch", "mine\n")
        before = self.snapshot()
        blob = self.out("rev-parse", "HEAD:b.txt").strip()
        (self.root / ".git/objects" / blob[:2] / blob[2:]).unlink()
        self.assertEqual(self.call("git_diff", REFS | {"output_dir": "out"}).kind,
                         "ExecutionFailed")
        self.assert_same(before)


if __name__ == "__main__":
    harness.main()
