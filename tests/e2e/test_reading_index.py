#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_status and git_diff read with the user's index, whatever it is: git's answers, and not a byte of
it is written."""
import json
import os
import shutil

import harness
import stale_index
from stale_index import stat_of


class Reads(stale_index.Case):
    def setUp(self):
        super().setUp()
        self.many()
        self.index = self.root / ".git/index"

    def test_a_stale_index_stays_as_it_is(self):
        """a read that would refresh the index says what git says, and leaves the index alone"""
        before, raw = stat_of(self.index), self.index.read_bytes()
        self.write("many/f00.txt", "changed\n")
        diff = self.plain_diff()
        self.assertIn("+changed", diff)
        for server in (harness.Server(self), harness.Server(self, "--toolset", "everyday")):
            for _ in range(2):
                self.assertIn("many/f00.txt", server.ok("git_status").text)
                answer = server.ok("git_diff")
                self.assertIn("+changed", answer.text)
                self.assertNotIn("f01", answer.text)
                self.assertNotIn("[stderr]", answer.text)
        server = harness.Server(self)
        self.assertEqual((server.ok("git_status").text, server.ok("git_diff").text),
                         (self.plain(), diff))
        self.assertEqual((stat_of(self.index), self.index.read_bytes()), (before, raw))
        self.assertFalse(list((self.root / ".git").glob("*.lock")))

    def test_a_lock_of_another_git(self):
        """a git that holds the lock of the index does not stop a read"""
        (self.root / ".git/index.lock").write_bytes(b"")
        server = harness.Server(self)
        self.assertEqual(server.ok("git_status").text, self.plain())
        self.assertEqual(server.ok("git_diff").text, self.plain_diff())

    def test_follows_the_user(self):
        """every change of the user shows in the next answer"""
        server = harness.Server(self)

        def same():
            for arguments, options in (({}, ()), ({"untracked": False}, ("-uno",))):
                self.assertEqual(server.ok("git_status", arguments).text, self.plain(*options))
            self.assertEqual(server.ok("git_diff").text,
                             self.out("diff", GIT_OPTIONAL_LOCKS="0"))

        self.write("many/f00.txt", "another\n")
        same()
        self.write("many/new.txt", "new\n")
        same()
        self.git("add", "many/new.txt")
        same()
        self.git("rm", "-q", "--cached", "many/f01.txt")
        same()
        (self.root / "many/f02.txt").unlink()
        same()
        self.write(".gitignore", "new2.txt\n")
        self.write("many/new2.txt", "ignored\n")
        same()
        self.write(".gitignore", "")
        same()
        self.write(".git/info/exclude", "new2.txt\n")
        same()
        self.git("commit", "-q", "-a", "-m", "more")
        same()
        self.git("checkout", "-q", "-f", "-b", "side", "HEAD~1")
        same()
        self.git("reset", "-q", "--hard", "main")
        same()
        self.git("checkout", "-q", "-b", "other", "main~1")
        self.write("many/f07.txt", "theirs\n")
        self.git("commit", "-q", "-a", "-m", "theirs")
        self.git("checkout", "-q", "main")
        self.write("many/f07.txt", "ours\n")
        self.git("commit", "-q", "-a", "-m", "ours")
        self.git("merge", "-q", "other", check=False)
        self.assertIn("UU many/f07.txt\n", self.plain())
        same()
        self.git("merge", "--abort")
        same()
        self.git("update-index", "--assume-unchanged", "many/f08.txt")
        self.write("many/f08.txt", "hidden\n")
        same()
        self.write("many/f09.txt", "wanted\n")
        self.git("rm", "-q", "--cached", "many/f09.txt")
        self.git("add", "-N", "many/f09.txt")
        same()
        self.git("config", "core.fileMode", "false")
        os.chmod(self.root / "many/f05.txt", 0o755)
        same()
        self.git("config", "core.fileMode", "true")
        same()

    def test_a_file_as_young_as_its_entry(self):
        """a change within the second and with the size of what git saw is seen"""
        path = self.root / "many/f00.txt"
        server = harness.Server(self)

        def twice():
            self.git("add", "many/f00.txt")
            path.write_bytes(b"9876543210\n" * 3)
            self.git("add", "many/f00.txt")
            path.write_bytes(b"0000000000\n" * 3)

        self.in_one_second(twice)
        os.utime(self.index, ns=(0, os.lstat(path).st_mtime_ns))
        self.make_stale_but("f00.txt")
        text = server.ok("git_status").text
        self.assertIn("MM many/f00.txt\n", text)
        self.assertEqual(text, self.plain())
        self.assertEqual(server.ok("git_status").text, text)

    def make_stale_but(self, name):
        for path in sorted((self.root / "many").iterdir()):
            if path.name != name:
                os.utime(path, (harness.CLOCK + 1, harness.CLOCK + 1))

    def test_a_file_as_young_as_a_read(self):
        """a change right after a read, with the same size, is seen"""
        path = self.root / "many/f00.txt"
        server = harness.Server(self)

        def change():
            path.write_bytes(b"0123456789\n" * 3)
            self.assertNotIn("f00", server.ok("git_status").text)
            path.write_bytes(b"9876543210\n" * 3)

        self.in_one_second(change)
        self.assertIn(" M many/f00.txt\n", server.ok("git_status").text)
        self.assertIn("+9876543210\n", server.ok("git_diff").text)

    def test_lists_untracked_files_of_every_toolset(self):
        """both forms of listing untracked files stay right beside each other"""
        git, workflow = harness.Server(self), harness.Server(self, "--toolset", "workflow")
        for number in range(3):
            self.write(f"loose/deep/u{number}.txt", "new\n")
            self.assertEqual(git.ok("git_status").text, self.plain())
            said = json.loads(workflow.ok("git_status").text)["untracked"]
            self.assertEqual(sorted(said), sorted(
                line[3:] for line in self.plain("-uall").splitlines() if line.startswith("??")))


class Kinds(stale_index.Case):
    """Every kind of index is git's business."""

    def assert_right(self):
        """git's answer, and nothing in the git directory changed."""
        names = sorted(os.listdir(self.root / ".git"))
        raw = (self.root / ".git/index").read_bytes()
        server = harness.Server(self)
        for _ in range(2):
            self.assertEqual(server.ok("git_status").text, self.plain())
            self.assertNotIn("diff --git", server.ok("git_diff").text)
        self.assertEqual(sorted(os.listdir(self.root / ".git")), names)
        self.assertEqual((self.root / ".git/index").read_bytes(), raw)

    def test_split(self):
        """a split index has its entries elsewhere"""
        self.many()
        self.git("update-index", "--split-index")
        self.assert_right()
        self.assertIn("sharedindex", " ".join(os.listdir(self.root / ".git")))

    def test_split_by_configuration(self):
        """a repository that asks for split indexes gets none by a read"""
        self.many()
        self.git("config", "core.splitIndex", "true")
        self.assert_right()
        self.assertNotIn("sharedindex", " ".join(os.listdir(self.root / ".git")))

    def test_sparse(self):
        """a sparse index has directories for entries"""
        self.many()
        self.write("other/a.txt", "a\n")
        self.git("add", "other")
        self.git("commit", "-q", "-m", "other")
        self.git("sparse-checkout", "set", "--cone", "--sparse-index", "many")
        self.make_stale()
        self.assert_right()

    def test_link(self):
        """an index that is a symbolic link leads elsewhere"""
        self.many()
        os.rename(self.root / ".git/index", self.root / "elsewhere")
        os.symlink("../elsewhere", self.root / ".git/index")
        self.assert_right()

    def test_missing_and_broken(self):
        """no index, an empty one and a broken one are git's business"""
        self.many()
        (self.root / ".git/index").unlink()
        self.assertEqual(self.ok("git_status").text, self.plain())
        for content in (b"", b"DIRC", b"DIRC\0\0\0\7\0\0\0\1" + bytes(60)):
            (self.root / ".git/index").write_bytes(content)
            said = self.git("--git-dir", str(self.root / ".git"), "status",
                            check=False).stderr.decode().splitlines()[0]
            result = harness.Server(self).call("git_status")
            self.assertTrue(result.failed, result)
            self.assertIn(said, result.text)

    def test_bare(self):
        """a bare repository has no working tree to compare"""
        self.git("init", "-q", "--bare", "bare.git")
        self.assertTrue(self.call("git_status", {"working_dir": "bare.git"}).failed)


class Layouts(stale_index.Case):
    def test_linked_worktrees_have_their_own(self):
        """each linked worktree has an index"""
        self.many()
        self.git("worktree", "add", "-q", "side")
        self.make_stale(self.root / "side")
        self.make_stale()
        server = harness.Server(self)
        self.write("side/many/f00.txt", "only there\n")
        self.assertEqual(server.ok("git_status", {"working_dir": "side"}).text,
                         self.plain(cwd=self.root / "side"))
        self.assertEqual(server.ok("git_status").text, self.plain())

    def test_a_submodule_has_its_own(self):
        """a submodule is a working tree like any other"""
        self.many(self.base / "origin")
        self.init()
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q",
                 str(self.base / "origin"), "sub")
        self.git("commit", "-q", "-m", "submodule")
        self.make_stale(self.root / "sub")
        server = harness.Server(self)
        self.write("sub/many/f00.txt", "changed\n")
        self.assertEqual(server.ok("git_status", {"working_dir": "sub"}).text,
                         self.plain(cwd=self.root / "sub"))
        self.assertEqual(server.ok("git_status").text.split("\n\n[stderr]")[0],
                         self.plain("--ignore-submodules=dirty"))

    def test_a_tree_that_is_replaced(self):
        """another repository in the same place has nothing of the first one"""
        self.many()
        server = harness.Server(self)
        old = self.base / "old"
        os.rename(self.root / ".git", old)
        os.rename(self.root / "many", self.base / "many")
        self.init()
        self.assertEqual(server.ok("git_status").text, self.plain())
        shutil.rmtree(self.root / ".git")
        os.rename(old, self.root / ".git")
        self.assertEqual(server.ok("git_status").text, self.plain())


class Together(stale_index.Case):
    def setUp(self):
        super().setUp()
        self.many()

    def test_many_calls_at_once(self):
        """calls of one server at the same time, while the user changes things"""
        server = harness.Server(self)
        for number in range(6):
            asked = [server.ask("git_status") for _ in range(8)]
            answers = [server.receive() for _ in asked]
            self.assertEqual(sorted(a["id"] for a in answers), asked)
            raw = self.plain()
            for answer in answers:
                self.assertEqual(answer["result"]["content"][0]["text"], raw)
            self.write(f"many/f{number:02d}.txt", "changed\n")
            if number % 2:
                self.git("add", "many")

    def test_servers_at_once(self):
        """calls of two servers at the same time"""
        servers = [harness.Server(self) for _ in range(2)]
        for number in range(6):
            for server in servers:
                server.ask("git_status")
            raw = self.plain()
            for server in servers:
                self.assertEqual(server.receive()["result"]["content"][0]["text"], raw)
            self.write(f"many/f{number:02d}.txt", "changed\n")


if __name__ == "__main__":
    harness.main()
