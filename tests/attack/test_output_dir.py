#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Traps where git_diff writes its patches: nothing is written through them, into a git
directory, or where the user's rules say no.

Each attack is shown to work on plain git first.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # pylint: disable=wrong-import-position

RULE = '[[tools.approval.rule]]\ndecision = "deny"\n'


class Hostile(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("a.txt", "two\n", "second")
        self.outside = self.base / "outside"
        self.outside.mkdir()
        (self.outside / "victim").write_text("precious\n")
        (self.root / "p").mkdir()

    def control(self, path="p/a.txt.patch"):
        """Plain git writes its patch there."""
        self.git("diff", f"--output={path}", "HEAD~1", "HEAD")

    def patches(self, directory="p", *options, **more):
        """The same asked of airlock."""
        return self.call("git_diff", {"from_ref": "HEAD~1", "to_ref": "HEAD",
                                      "output_dir": directory} | more, *options)

    def assert_untouched(self):
        """The file outside is what it was."""
        self.assertEqual((self.outside / "victim").read_text(), "precious\n")
        self.assertEqual(os.listdir(self.outside), ["victim"])

    def attack(self, plant):
        """Something hostile in a patch's place; gives airlock's answer."""
        place = self.root / "p/a.txt.patch"
        plant(place)
        self.control()
        self.assertNotEqual((self.outside / "victim").read_text(), "precious\n", "no attack")
        place.unlink()
        (self.outside / "victim").write_text("precious\n")
        plant(place)
        return self.patches()

    def test_hard_link(self):
        """a patch's name that is a hard link to a file outside gets a file of its own"""
        result = self.attack(lambda place: os.link(self.outside / "victim", place))
        self.assertFalse(result.failed, result)
        self.assert_untouched()
        self.assertNotEqual((self.root / "p/a.txt.patch").stat().st_ino,
                            (self.outside / "victim").stat().st_ino)

    def test_link(self):
        """a patch's name that is a link is refused, and so is a chain of them"""
        def chain(place):
            (self.root / "hop").unlink(missing_ok=True)
            os.symlink(self.outside / "victim", self.root / "hop")
            os.symlink("../hop", place)
        for plant in (lambda place: os.symlink(self.outside / "victim", place), chain):
            result = self.attack(plant)
            self.assertEqual(result.kind, "ExecutionFailed", result)
            self.assert_untouched()
            (self.root / "p/a.txt.patch").unlink()

    def test_fifo(self):
        """a patch's name that is a fifo is neither read nor written, and holds nobody up"""
        place = self.root / "p/a.txt.patch"
        os.mkfifo(place)
        reader = os.open(place, os.O_RDONLY | os.O_NONBLOCK)
        self.addCleanup(os.close, reader)
        self.control()
        self.assertTrue(os.read(reader, 65536).startswith(b"diff --git"), "no attack")
        self.assertEqual(self.patches().kind, "ExecutionFailed")
        self.assertEqual(os.read(reader, 100), b"")
        os.unlink(place)
        os.mkfifo(place)  # which nobody reads
        self.assertEqual(self.patches().kind, "ExecutionFailed")

    def test_git_directory_of_another_name(self):
        """a git directory that is not called .git is one all the same"""
        self.git("init", "-q", "--separate-git-dir", "store")
        self.control("store/refs/heads/canary")
        self.assertNotEqual(self.git("for-each-ref", check=False).stderr, b"", "no attack")
        (self.root / "store/refs/heads/canary").unlink()
        os.symlink("store/refs", self.root / "link")
        for directory in ("store", "store/refs/heads", "store/new", "link/heads", "link"):
            result = self.patches(directory)
            self.assertEqual((result.kind, result.text),
                             ("SandboxViolation", "output_dir cannot lie in a .git directory"))
        self.assertEqual(self.git("for-each-ref", "--format=%(refname)").stdout,
                         b"refs/heads/main\n")
        self.assertFalse((self.root / "store/new").exists())
        self.assertFalse(self.patches("storeroom").failed)

    def test_git_directory_of_a_linked_tree(self):
        """nor is anything written into the git directory of a linked working tree"""
        self.git("init", "-q", "--separate-git-dir", "store")
        self.git("worktree", "add", "-q", "linked")
        for directory in ("store", "store/worktrees/linked", "store/refs"):
            result = self.patches(str(self.root / directory), working_dir="linked")
            self.assertEqual(result.kind, "SandboxViolation", directory)

    def test_rules(self):
        """a directory that a rule protects is protected, by whatever name and beside paths"""
        rule = self.home / ".config/airlock/config.toml"
        rule.parent.mkdir(parents=True, exist_ok=True)
        (self.root / "kept").mkdir()
        os.symlink("../kept", self.root / "p/link")
        words = ("kept", "kept/deep", "p/link", "p/link/deep", str(self.root / "kept"), ".")
        for text, directories in (
                ('path = "kept/*"\neffect = "writes_*"\n', words),
                ('effect = "writes_worktree"\n', ("p", *words)),
                ('effect = "writes_files"\n', ("p", *words)),
                ('path = "p/link"\n', ("p", "p/link", "."))):
            for directory in directories:
                rule.write_text("", encoding="utf-8")
                self.assertFalse(self.patches(directory, paths=["a.txt"]).failed, "no attack")
                rule.write_text(RULE + text, encoding="utf-8")
                result = self.patches(directory, paths=["a.txt"])
                self.assertEqual(result.kind, "ApprovalDenied", (text, directory))
        rule.write_text(RULE + 'path = "kept/*"\n', encoding="utf-8")
        self.assertFalse(self.patches("p", paths=["a.txt"]).failed)
        self.assertTrue(self.patches("p").failed)  # which reads every path

    def test_submodule(self):
        """in a submodule's working tree files are replaced and come back; its .git is not reached"""
        other = self.base / "other"
        self.init(other)
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
        self.git("commit", "-q", "-m", "submodule")
        self.write("sub/a.txt.patch", "mine\n")
        result = self.patches("sub", paths=["a.txt"], from_ref="HEAD~2")
        self.assertEqual(json.loads(result.text), {"patches": ["a.txt.patch"]})
        undone = harness.subprocess.run([harness.AIRLOCK, "rollback"], cwd=self.root, env=self.env,
                                        stdin=harness.subprocess.DEVNULL, capture_output=True,
                                        check=False)
        self.assertEqual(undone.returncode, 0, undone)
        self.assertEqual((self.root / "sub/a.txt.patch").read_text(), "mine\n")
        self.git("status", cwd=self.root / "sub")
        for directory in ("sub/.git", ".git/modules/sub", "sub/.git/hooks"):
            self.assertEqual(self.patches(directory).kind, "SandboxViolation", directory)


if __name__ == "__main__":
    harness.main()
