#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Reading on a private index: git's answers, and the user's index as it was."""
import json
import os
import shutil
import subprocess

import harness
import private_index
from private_index import stat_of


class Reads(private_index.Case):
    def setUp(self):
        super().setUp()
        self.many()
        self.index = self.root / ".git/index"

    def test_cures_a_stale_index(self):
        """a stale index is refreshed once, in airlock's copy alone"""
        before, raw = stat_of(self.index), self.index.read_bytes()
        server = harness.Server(self)
        self.assertEqual(self.until_private(server).text, self.plain())
        self.assertIn("mtime: 1700000000:0", self.entries(self.copy() / "ready/index"))
        self.assertNotIn("mtime: 1700000000:0", self.entries(self.index))
        self.assertEqual(server.ok("git_status").text, self.plain())
        self.assertEqual((stat_of(self.index), self.index.read_bytes()), (before, raw))
        self.assertFalse(list((self.root / ".git").glob("*.lock")))

    def test_is_shared_by_calls_and_servers(self):
        """the copy of one process is used by the next one, also by `airlock call`"""
        self.until_private(harness.Server(self))
        kept = stat_of(self.copy() / "ready/index")
        self.assertEqual(self.ok("git_status").text, self.plain())
        self.assertEqual(harness.Server(self).ok("git_status").text, self.plain())
        self.assertEqual(len(self.copies()), 1)
        self.assertEqual(stat_of(self.copy() / "ready/index")[1], kept[1])

    def test_follows_the_user(self):
        """every change of the user shows in the next answer"""
        server = harness.Server(self)
        self.until_private(server)

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
        text = self.until_private(server).text
        self.assertIn("MM many/f00.txt\n", text)
        self.assertEqual(text, self.plain())
        self.assertEqual(server.ok("git_status").text, text)

    def make_stale_but(self, name):
        for path in sorted((self.root / "many").iterdir()):
            if path.name != name:
                os.utime(path, (harness.CLOCK + 1, harness.CLOCK + 1))

    def test_a_file_as_young_as_a_refresh(self):
        """a change right after the refresh, with the same size, is seen"""
        path = self.root / "many/f00.txt"
        server = harness.Server(self)
        self.until_private(server)

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
        self.until_private(git)
        for number in range(3):
            self.write(f"loose/deep/u{number}.txt", "new\n")
            self.assertEqual(git.ok("git_status").text, self.plain())
            said = json.loads(workflow.ok("git_status").text)["untracked"]
            self.assertEqual(sorted(said), sorted(
                line[3:] for line in self.plain("-uall").splitlines() if line.startswith("??")))

    def test_the_readonly_toolset_has_none(self):
        """the toolset that writes nothing at all makes no private index"""
        server = harness.Server(self, "--toolset", "readonly")
        for _ in range(3):
            server.ok("Git", {"op": "status", "repo": str(self.root)})
        self.assertEqual(self.copies(), [])

    def test_what_is_asked_does_not_rely_on_it(self):
        """a private index that lies changes no question and no checkpoint"""
        server = harness.Server(self)
        self.until_private(server)
        self.write("many/f00.txt", "lost\n")
        ready = self.copy() / "ready/index"
        env = {"GIT_INDEX_FILE": str(ready)}
        kept = ready.stat()
        self.git("update-index", "--assume-unchanged", "many/f00.txt", **env)
        os.utime(ready, ns=(kept.st_atime_ns, kept.st_mtime_ns))
        self.assertNotIn("f00", self.plain(**env))
        question, _ = harness.AskingServer(self).decided("reject", "git_restore",
                                                         {"paths": ["many/f00.txt"]})
        self.assertIn("+lost", question)
        self.assertEqual(server.ok("git_status").text, self.plain())


class Unfit(private_index.Case):
    """Indexes that are read as they are."""

    def assert_alone(self, where=None, **arguments):
        """git's answer, without a private index."""
        server = harness.Server(self)
        for _ in range(3):
            self.assertEqual(server.ok("git_status", arguments).text, self.plain(cwd=where))
        self.assertEqual([s for s in self.copies() if (s / "record").exists()], [])
        return server

    def test_fresh(self):
        """a small index that vouches for its files is read as it is"""
        self.init()
        self.assert_alone()
        self.assertEqual(self.copies(), [])

    def test_split(self):
        """a split index has its entries elsewhere"""
        self.many()
        self.git("update-index", "--split-index")
        self.assert_alone()
        self.assertIn("sharedindex", " ".join(os.listdir(self.root / ".git")))

    def test_split_by_configuration(self):
        """a repository that asks for split indexes gets none beside the user's"""
        self.many()
        self.git("config", "core.splitIndex", "true")
        names = set(os.listdir(self.root / ".git"))
        self.until_private(harness.Server(self))
        self.assertEqual(set(os.listdir(self.root / ".git")), names)
        self.assertEqual(list(self.copy().rglob("sharedindex*")), [])

    def test_sparse(self):
        """a sparse index has directories for entries"""
        self.many()
        self.write("other/a.txt", "a\n")
        self.git("add", "other")
        self.git("commit", "-q", "-m", "other")
        self.git("sparse-checkout", "set", "--cone", "--sparse-index", "many")
        self.make_stale()
        self.assert_alone()

    def test_link(self):
        """an index that is a symbolic link leads elsewhere"""
        self.many()
        os.rename(self.root / ".git/index", self.root / "elsewhere")
        os.symlink("../elsewhere", self.root / ".git/index")
        self.assert_alone()

    def test_of_another_user(self):
        """an index of another user is not copied"""
        if os.geteuid() != 0:
            self.skipTest("only root can give a file away")
        self.many()
        os.chown(self.root / ".git/index", 12345, 12345)
        self.assert_alone()

    def test_missing_and_broken(self):
        """no index, an empty one and a broken one are git's business"""
        self.many()
        (self.root / ".git/index").unlink()
        self.assert_alone()
        for content in (b"", b"DIRC", b"DIRC\0\0\0\7\0\0\0\1" + bytes(60)):
            (self.root / ".git/index").write_bytes(content)
            said = self.git("status", check=False).stderr.decode().splitlines()[0]
            result = harness.Server(self).call("git_status")
            self.assertTrue(result.failed, result)
            self.assertIn(said, result.text)
        self.assertEqual([s for s in self.copies() if (s / "record").exists()], [])

    def test_bare(self):
        """a bare repository has no working tree to compare"""
        self.git("init", "-q", "--bare", "bare.git")
        self.assertTrue(self.call("git_status", {"working_dir": "bare.git"}).failed)
        self.assertEqual(self.copies(), [])

    def test_a_state_directory_that_cannot_be_written(self):
        """without a place for it there is no private index, and no complaint"""
        self.many()
        state = self.home / ".local/state/airlock"
        state.mkdir(parents=True)
        (state / "indexes").write_text("in the way", encoding="utf-8")
        self.assert_alone()


class Layouts(private_index.Case):
    def test_linked_worktrees_have_their_own(self):
        """each linked worktree has an index, and a private one"""
        self.many()
        self.git("worktree", "add", "-q", "side")
        self.make_stale(self.root / "side")
        self.make_stale()
        server = harness.Server(self)
        self.until_private(server, working_dir="side")
        self.until_private(server, 2)
        self.write("side/many/f00.txt", "only there\n")
        self.assertEqual(server.ok("git_status", {"working_dir": "side"}).text,
                         self.plain(cwd=self.root / "side"))
        self.assertEqual(server.ok("git_status").text, self.plain())
        self.assertEqual(len(self.copies()), 2)

    def test_a_submodule_has_its_own(self):
        """a submodule is a working tree like any other"""
        self.many(self.base / "origin")
        self.init()
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q",
                 str(self.base / "origin"), "sub")
        self.git("commit", "-q", "-m", "submodule")
        self.make_stale(self.root / "sub")
        server = harness.Server(self)
        self.until_private(server, working_dir="sub")
        self.write("sub/many/f00.txt", "changed\n")
        self.assertEqual(server.ok("git_status", {"working_dir": "sub"}).text,
                         self.plain(cwd=self.root / "sub"))
        self.assertEqual(server.ok("git_status").text.split("\n\n[stderr]")[0],
                         self.plain("--ignore-submodules=dirty"))

    def test_a_tree_that_is_replaced(self):
        """another repository in the same place has nothing of the first one"""
        self.many()
        server = harness.Server(self)
        self.until_private(server)
        old = self.base / "old"
        os.rename(self.root / ".git", old)
        os.rename(self.root / "many", self.base / "many")
        self.init()
        self.assertEqual(server.ok("git_status").text, self.plain())
        shutil.rmtree(self.root / ".git")
        os.rename(old, self.root / ".git")
        self.assertEqual(server.ok("git_status").text, self.plain())


class Damaged(private_index.Case):
    """The files below the state directory are not as airlock left them."""

    def setUp(self):
        super().setUp()
        self.many()
        self.server = harness.Server(self)
        self.until_private(self.server)
        self.write("many/f03.txt", "changed\n")
        self.write("new.txt", "new\n")

    def assert_right(self):
        """The server that knows the copy, a new one, and then a copy that is right again."""
        for server in (self.server, harness.Server(self), self.server):
            self.assertEqual(server.ok("git_status").text, self.plain())
        self.until_private(self.server)
        self.assertEqual(self.server.ok("git_status").text, self.plain())
        self.assertEqual(self.out("ls-files", "--stage", GIT_INDEX_FILE=str(
            self.copy() / "ready/index")), self.out("ls-files", "--stage"))

    def test_emptied(self):
        """an index of no bytes is made again"""
        os.truncate(self.copy() / "ready/index", 0)
        self.assert_right()

    def test_cut(self):
        """a torn index is made again"""
        ready = self.copy() / "ready/index"
        os.truncate(ready, ready.stat().st_size // 2)
        self.assert_right()

    def test_zeros(self):
        """an index of zeros, with the times of the good one, is made again"""
        ready = self.copy() / "ready/index"
        st = ready.stat()
        with open(ready, "r+b") as file:
            file.write(bytes(st.st_size))
        os.utime(ready, ns=(st.st_atime_ns, st.st_mtime_ns))
        self.assert_right()

    def test_replaced(self):
        """the index of another tree is not used"""
        self.many(self.base / "other")
        shutil.copy2(self.base / "other/.git/index", self.copy() / "ready/index")
        self.assert_right()

    def test_the_work_file_is_another_one(self):
        """what git left behind when its airlock was killed is not given to anybody"""
        work = self.copy() / "work/index"
        work.unlink()
        self.git("read-tree", "--empty", GIT_INDEX_FILE=str(work))
        self.assert_right()

    def test_lock_left_behind(self):
        """a lock of a killed git does not stop the next refresh"""
        (self.copy() / "work/index.lock").write_bytes(b"")
        self.assert_right()
        self.assertFalse((self.copy() / "work/index.lock").exists())

    def test_records_of_other_times(self):
        """a record of another format, boot, or none at all is not believed"""
        record = self.copy() / "record"
        good = record.read_bytes()
        for bad in (b"", good[:50], b"index 0" + good[7:], good[:8] + b"x" + good[9:]):
            record.write_bytes(bad)
            self.assert_right()
        record.unlink()
        self.assert_right()

    def test_removed(self):
        """a server whose store is removed goes on"""
        shutil.rmtree(self.copy())
        self.assert_right()
        shutil.rmtree(self.home / ".local/state/airlock/indexes")
        self.assert_right()

    def test_read_only(self):
        """a store that cannot be written does not stop an answer"""
        (self.copy() / "record").unlink()
        for name in ("work", "ready"):
            shutil.rmtree(self.copy() / name)
            (self.copy() / name).write_bytes(b"")
        self.assertEqual(self.server.ok("git_status").text, self.plain())
        self.assertEqual(harness.Server(self).ok("git_status").text, self.plain())


class Together(private_index.Case):
    def setUp(self):
        super().setUp()
        self.many()

    def hanging(self):
        """A server whose git waits in the middle of a status, with the private index locked."""
        server = harness.Server(self)
        self.until_private(server)
        pipe = self.root / "many/.gitignore"
        os.mkfifo(pipe)
        server.ask("git_status")
        self.until((self.copy() / "work/index.lock").exists)
        return server, pipe

    def until(self, condition):
        """The watchdog ends it if it never comes."""
        while not condition():
            os.sched_yield()

    def test_two_servers(self):
        """a server that may not refresh reads what is there, and is right"""
        server, pipe = self.hanging()
        second = harness.Server(self)
        for name in ("f00.txt", "f01.txt"):
            self.write(f"many/{name}", "changed\n")
            self.assertEqual(second.ok("git_status", {"untracked": False}).text,
                             self.plain("-uno"))
        self.git("add", "many/f00.txt")
        self.assertEqual(second.ok("git_status", {"untracked": False}).text, self.plain("-uno"))
        pipe.open("wb").close()
        self.assertIn("result", server.receive())

    def test_killed_in_the_middle(self):
        """a server that is killed leaves nothing that stops or misleads the next one"""
        server, pipe = self.hanging()
        ready = stat_of(self.copy() / "ready/index")
        server.process.kill()
        server.process.wait()
        self.until(lambda: not self.processes_in(self.root))
        pipe.unlink()
        self.assertEqual(stat_of(self.copy() / "ready/index"), ready)
        self.write("many/f00.txt", "changed\n")
        second = harness.Server(self)
        for _ in range(2):
            self.assertEqual(second.ok("git_status").text, self.plain())
        self.assertFalse((self.copy() / "work/index.lock").exists())

    def test_a_deadline_in_the_middle(self):
        """a git that is stopped leaves no lock behind"""
        server = harness.Server(self)
        self.until_private(server)
        pipe = self.root / "many/.gitignore"
        os.mkfifo(pipe)
        self.assertEqual(server.call("git_status", {"timeout_ms": 300}).kind, "Timeout")
        pipe.unlink()
        self.assertFalse((self.copy() / "work/index.lock").exists())
        self.assertEqual(server.ok("git_status").text, self.plain())

    def test_many_calls_at_once(self):
        """calls of one server at the same time, while the user changes things"""
        server = harness.Server(self)
        self.until_private(server)
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
        self.until_private(servers[0])
        for number in range(6):
            for server in servers:
                server.ask("git_status")
            raw = self.plain()
            for server in servers:
                self.assertEqual(server.receive()["result"]["content"][0]["text"], raw)
            self.write(f"many/f{number:02d}.txt", "changed\n")

    def test_unused_ones_go(self):
        """the private index of a working tree that is gone is removed with time"""
        server = harness.Server(self)
        self.until_private(server)
        first = self.copy()
        server.close()
        other = self.base / "other"
        self.many(other)
        shutil.rmtree(self.root)
        self.root = other
        self.make_stale()
        second = harness.Server(self)
        self.until(lambda: second.ok("git_status") and not first.exists())
        self.assertEqual(len(self.copies()), 1)


if __name__ == "__main__":
    harness.main()
