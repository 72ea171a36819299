#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Files that no checkpoint has, where a rollback is to write: it refuses before it begins."""
import os

import everyday
import harness
import rollback


class InTheWay(rollback.Rollback):
    """A switch removed `d/a` and `z`; the branch that is current now ignores `d` and `z`."""

    def setUp(self):
        super().setUp()
        self.write("d/a", "a\n")
        self.write("z", "z\n")
        self.write("b", "b\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "both")
        self.git("checkout", "-q", "-b", "x")
        self.git("rm", "-rq", "d", "z")
        self.write(".gitignore", "/d\n/z\n")
        self.write("b", "of x\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "x")
        self.git("checkout", "-q", "main")
        self.before = self.snapshot()
        self.ok("git_checkout", {"branch": "x"})

    def in_the_way(self, *names):
        """Nobody touches what is there; without it the rollback goes on."""
        for words in ((), ("--force",), ("--dry-run",), ("--force", "--dry-run")):
            self.refuses("in the way", *words, names=names)

    def test_file_for_directory(self):
        """an ignored file where a directory comes back"""
        self.write("d", "precious\n")
        self.in_the_way("d")
        (self.root / "d").unlink()
        self.rollback()
        self.assert_same(self.before)

    def test_link_for_directory(self):
        """an ignored link where a directory comes back; nothing is written where it leads"""
        outside = self.home / "outside"
        outside.mkdir()
        os.symlink(outside, self.root / "d")
        self.in_the_way("d")
        self.assertEqual(list(outside.iterdir()), [])

    def test_fifo_for_directory(self):
        """a fifo where a directory comes back"""
        os.mkfifo(self.root / "d")
        done = self.command("rollback", "--force")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("In the way, and in no checkpoint:\n  d\n", done.stderr)
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/x\n")

    def test_directories_for_files(self):
        """ignored files in directories where files come back, one of them deep"""
        self.write("d/a/deep/er/p", "precious\n")
        self.write("z/p", "precious\n")
        self.in_the_way("d/a/deep/er/p", "z/p")

    def test_several(self):
        """the first of many is named"""
        for name in ("z/3", "z/1", "z/2"):
            self.write(name, "precious\n")
        self.in_the_way("z/1")

    def test_empty_directories(self):
        """directories without files are no reason to refuse, and go"""
        (self.root / "z/e/f").mkdir(parents=True)
        (self.root / "d/a/g").mkdir(parents=True)
        self.rollback("--dry-run")
        self.assertTrue((self.root / "z/e/f").is_dir())
        self.rollback()
        self.assert_same(self.before)

    def test_directory_of_directory(self):
        """a directory that is in a directory's place is not in the way, whatever it has"""
        self.write("d/mine", "precious\n")
        self.rollback()
        self.assertEqual((self.root / "d/mine").read_text(), "precious\n")
        (self.root / "d/mine").unlink()
        self.assert_same(self.before)

    def test_same_content(self):
        """a file that is already as it comes back is not in the way"""
        self.write("z", "z\n")
        self.write("d/a", "a\n")
        self.rollback()
        self.assert_same(self.before)


class Known(rollback.Rollback):
    """What a checkpoint has goes, and comes back with the next rollback."""

    def change(self, name):
        """A call that removes a file, and something of the user's in its place."""
        self.write("d/a", "a\n")
        self.write("z", "z\n")
        self.git("add", "-A")
        before = self.snapshot()
        self.ok("git_stash", {"action": "push"})
        self.write(name, "of the user\n")
        return before

    def test_known_in_the_way(self):
        """untracked files in the way are named, and go with --force"""
        for name, listed in (("d", "d"), ("z/deep/p", "z/deep/p")):
            with self.subTest(name):
                before = self.change(name)
                (self.root / "z").mkdir(exist_ok=True)
                (self.root / "z/empty").mkdir()
                after = self.snapshot()
                self.refuses("--force", names=(listed,))
                self.rollback("--force")
                self.assert_same(before)
                self.rollback()
                self.assert_same(after)
                self.git("stash", "drop", "-q")
                self.git("clean", "-fdxq")
                self.git("reset", "-q", "--hard")

    def test_ignored_then(self):
        """what is in the way goes with --force, though the rules that come back ignore it"""
        self.write("d/a", "a\n")
        self.write(".gitignore", "/d\n")
        self.git("add", "-f", "d/a", ".gitignore")
        before = self.snapshot()
        self.ok("git_stash", {"action": "push"})
        self.write("d", "of the user\n")
        self.refuses("--force", names=("d",))
        done = self.rollback("--force")
        self.assertNotIn("Left as they are", done)
        self.assert_same(before)

    def test_mixed(self):
        """one file that a checkpoint has and one that none has, in one directory"""
        self.write(".gitignore", "*.o\n")
        self.change("z/p")
        self.write("z/q.o", "ignored\n")
        self.write(".gitignore", "*.o\n")
        done = self.command("rollback", "--force")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("  z/q.o\n", done.stderr)
        self.assertEqual((self.root / "z/p").read_text(), "of the user\n")


class Undo(everyday.Case):
    def test_undo(self):
        """git_undo names the file as well, and undoes when it is gone"""
        self.init()
        self.commit("d/a", "a\n", "with d")
        self.git("checkout", "-q", "-b", "x")
        self.git("rm", "-rq", "d")
        self.commit(".gitignore", "/d\n", "without d")
        self.git("checkout", "-q", "main")
        server = everyday.Server(self)
        server.says("git_switch", {"branch": "x"})
        self.write("d", "precious\n")
        before = self.snapshot()
        result = server.call("git_undo")
        self.assertTrue(result.failed, result)
        self.assertIn("in the way, and no checkpoint has them: d", result.text)
        self.assertEqual(self.snapshot(), before)
        (self.root / "d").unlink()
        server.says("git_undo")
        self.assertEqual((self.root / "d/a").read_text(), "a\n")


if __name__ == "__main__":
    harness.main()
