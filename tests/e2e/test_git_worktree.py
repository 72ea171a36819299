#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_worktree: linked worktrees are made whole or not at all."""
import os
import shutil
import subprocess

import harness
import rollback
import worktrees


class Worktrees(worktrees.Calls):
    """A worktree is made, listed and configured."""

    def test_add(self):
        """a worktree of the name is made on a new branch of the name, without configuration"""
        before = self.everything()
        text = self.good("add", "x", "--agent", "ada")
        place = self.dir / "x"
        self.assertIn(str(place), text)
        self.assertEqual(self.out("branch", "--show-current", cwd=place).strip(), "x")
        self.assertEqual(self.out("rev-parse", "x"), self.out("rev-parse", "HEAD"))
        self.assertEqual(self.out("status", "--porcelain", cwd=place), "")
        self.assertEqual(self.everything()[3], before[3])
        self.assertNotIn(".worktrees", self.out("status", "--porcelain", "--ignored=no"))
        self.assertIn("agent ada", self.good("list"))
        self.assertIn("x  " + str(place), self.good("list"))

    def test_branches(self):
        """an existing branch, a new one from somewhere, a locked one"""
        first = self.out("rev-parse", "HEAD").strip()
        self.git("branch", "topic")
        self.commit("a.txt", "two\n", "second")
        self.good("add", "one", branch="topic")
        self.good("add", "two", branch="dir/new", create=True, **{"from": "HEAD~1"}, reason="do not\ttouch")
        self.assertEqual(self.out("rev-parse", "topic", "dir/new").split(), [first, first])
        self.assertIn("locked: do not", self.good("list"))
        self.bad("is locked: do not", "remove", "two")
        self.good("unlock", "two")
        self.bad("is not locked", "unlock", "two")
        self.good("lock", "two")
        self.bad("is locked already", "lock", "two", reason="twice")
        self.rollback()
        self.good("remove", "two")

    def test_bad_names(self):
        """names are one component"""
        for name in (".", "..", ".git", ".GIT", "-x", "a/b", "a b", "x" * 65, "ä", "a\nb", "git~1"):
            self.bad("name", "add", name, kind="BadArgs")
        self.bad("name", "add", kind="BadArgs")
        self.bad("name has no meaning", "list", "x", kind="BadArgs")
        self.bad("from: needs create", "add", "x", branch="b", **{"from": "HEAD"}, kind="BadArgs")
        self.bad("branch has no meaning", "remove", "x", branch="b", kind="BadArgs")
        self.bad("reason: must be one line", "add", "x", reason="a\nb", kind="BadArgs")
        self.bad("begins with '.'", "add", ".hidden", kind="BadArgs")
        self.good("add", ".hidden", branch="hidden", create=True)
        for name in ("a", "x" * 64, "A._-9"):
            self.good("add", name)

    def test_refused(self):
        """what exists already, what does not, and what somebody has checked out"""
        self.git("branch", "topic")
        self.good("add", "x")
        self.bad("'x' exists already", "add", "x")
        result = self.bad("A branch named 'topic' exists already", "add", "topic")
        self.assertIn("branch without create checks that one out", result.text)
        self.bad("A branch named 'topic' exists already", "add", "y", branch="topic", create=True)
        self.bad("There is no branch 'none'", "add", "y", branch="none")
        self.bad("checked out in the worktree", "add", "y", branch="x")
        self.bad("checked out in the worktree", "add", "y", branch="main")
        self.bad("", "add", "y", **{"from": "nowhere"})
        self.bad("There is no worktree 'y'", "remove", "y")
        self.bad("There is no worktree 'y'", "lock", "y")
        (self.dir / "file").write_text("mine\n", encoding="utf-8")
        self.bad("'file' exists already", "add", "file")
        self.bad("There is no worktree 'file'", "remove", "file")

    def test_unborn(self):
        """a repository without a commit has nothing to check out"""
        other = self.base / "unborn"
        other.mkdir()
        self.git("init", "-q", cwd=other)
        result = self.wt("add", "x", root=other, approval="allow")
        self.assertTrue(result.failed, result)
        self.assertEqual(sorted(os.listdir(other)), [".git"])

    def test_max(self):
        """the limit counts what is below the directory"""
        self.configure("[worktrees]\nmax = 2\n")
        self.git("worktree", "add", "-q", str(self.base / "elsewhere"))
        self.good("add", "one")
        self.good("add", "two")
        self.bad("worktrees.max is 2; remove one first, with action remove", "add", "three")
        self.good("remove", "one")
        self.good("add", "three")

    def test_dir(self):
        """another directory, relative and absolute; a link in its path is refused"""
        self.configure('[worktrees]\ndir = "build/trees"\n')
        place = self.dir.parent / "build/trees"
        self.good("add", "x")
        self.assertTrue((place / "x/a.txt").exists())
        self.configure(f'[worktrees]\ndir = "{self.base}/trees"\n')
        self.good("add", "y")
        self.assertTrue((self.base / "trees/y/a.txt").exists())
        self.assertFalse((self.base / "trees/.gitignore").exists())
        os.symlink(self.base / "trees", self.base / "link")
        self.configure(f'[worktrees]\ndir = "{self.base}/link"\n')
        self.bad("a link or a file is in its path", "add", "z")
        shutil.rmtree(place.parent)
        place.parent.write_text("", encoding="utf-8")
        self.configure('[worktrees]\ndir = "build/trees"\n')
        self.bad("a link or a file is in its path", "add", "z")

    def test_configuration(self):
        """wrong directories and limits are errors of the configuration"""
        for line in ('dir = ""', 'dir = "a/../b"', 'dir = "./a"', 'dir = "a/"', 'dir = "/"', 'dir = "a//b"',
                     'dir = ".git/x"', "max = 0", "max = 1001"):
            self.configure(f"[worktrees]\n{line}\n")
            done = self.command("call", *worktrees.TOOLSET, "git_worktree")
            self.assertEqual(done.returncode, 2, (line, done))
        for line in ('dir = "a/b"', 'dir = "/a"', "max = 1", "max = 1000"):
            self.configure(f"[worktrees]\n{line}\n")
            self.assertNotEqual(self.command("call", *worktrees.TOOLSET, "git_worktree").returncode, 2, line)

    def test_include(self):
        """ignored files that .worktreeinclude names come along, with their modes; links and others do not"""
        self.commit(".gitignore", ".env\n*.key\nnode/\n/link\n", "ignore")
        self.commit(".worktreeinclude", ".env\n*.key\n!no.key\nplain.txt\nlink\n", "include")
        self.write(".env", "SECRET\n").chmod(0o600)
        self.write("sub/deep/a.key", "a\n").chmod(0o640)
        self.write("no.key", "no\n")
        self.write("plain.txt", "untracked, not ignored\n")
        self.write("node/x", "ignored, not named\n")
        os.symlink("/etc/passwd", self.root / "link")
        text = self.good("add", "x")
        self.assertIn("Copied 2 ignored files", text)
        self.assertIn("1 link was not copied", text)
        place = self.dir / "x"
        self.assertEqual(rollback.digest(place / ".env"), rollback.digest(self.root / ".env"))
        self.assertEqual(rollback.digest(place / "sub/deep/a.key"), rollback.digest(self.root / "sub/deep/a.key"))
        self.assertEqual(sorted(path.name for path in place.iterdir()),
                         [".env", ".git", ".gitignore", ".worktreeinclude", "a.txt", "sub"])
        self.good("add", "y")
        self.assertEqual(self.hashes("y").keys() & {str(self.dir / "y/.worktrees")}, set())

    def test_include_too_large(self):
        """more than 100 MB: nothing is copied, and that is said"""
        self.commit(".gitignore", "*.bin\n", "ignore")
        self.commit(".worktreeinclude", "*.bin\n", "include")
        self.write("small.bin", "small")
        with open(self.root / "large.bin", "wb") as file:
            file.truncate(100_000_000 - 5)
        self.assertIn("Copied 2", self.good("add", "fits"))
        with open(self.root / "large.bin", "wb") as file:
            file.truncate(100_000_000 - 4)
        self.assertIn("more than 100 MB: none was copied", self.good("add", "x"))
        self.assertFalse((self.dir / "x/small.bin").exists())

    def test_sparse(self):
        """a worktree made from a sparse one is as sparse"""
        self.commit("in/a", "a\n", "in")
        self.commit("out/b", "b\n", "out")
        self.git("sparse-checkout", "set", "in")
        self.good("add", "x")
        self.assertTrue((self.dir / "x/in/a").exists())
        self.assertFalse((self.dir / "x/out").exists())

    def test_two_at_once(self):
        """two servers add the same name: one does, and the other says that it exists"""
        servers = [harness.Server(self, *worktrees.TOOLSET, "--agent", f"a{i}") for i in range(2)]
        for server in servers:
            server.ask("git_worktree", {"action": "add", "name": "x"})
        texts = [server.receive()["result"]["content"][0]["text"] for server in servers]
        self.assertEqual(sorted("Made the worktree 'x'" in text for text in texts), [False, True], texts)
        self.assertEqual([path.name for path in sorted(self.dir.iterdir())], [".gitignore", "x"])
        self.git("fsck", "--strict")
        self.assertEqual(self.out("status", "--porcelain", cwd=self.dir / "x"), "")

    def test_full_disk(self):
        """a git that cannot write its files leaves nothing behind"""
        self.commit("large.txt", "x" * 300_000, "large")
        before = self.everything()
        command = [harness.AIRLOCK, "call", "--json", "--approval", "allow", *worktrees.TOOLSET, "git_worktree",
                   '{"action": "add", "name": "x"}']
        done = subprocess.run(["sh", "-c", 'ulimit -f 200; trap "" XFSZ; exec "$@"', "sh", *command],
                              cwd=self.root, env=self.env | {"ASAN_OPTIONS": "detect_leaks=0"},
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 1, done)
        after = self.everything()
        self.assertEqual((after[0], after[2:]), (before[0], before[2:]), done)
        self.assertIn(after[1], (None, [".gitignore"]))


if __name__ == "__main__":
    harness.main()
