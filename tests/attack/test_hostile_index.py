#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A hostile index: what it claims to have seen hides no file from the tools that read.

What plain git believes of a forged index, it is asked first: each attack works on it.
"""
import hashlib
import os
import select
import struct
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness  # pylint: disable=wrong-import-position
import stale_index  # pylint: disable=wrong-import-position

FUTURE = 4000000000  # a file of this time makes no entry of an index as young as the index
OLD_SECONDS = 4  # a directory that did not change for so long is believed


class Attack(stale_index.Case):
    def setUp(self):
        super().setUp()
        self.many()
        self.index = self.root / ".git/index"

    def forge(self, change, seconds=FUTURE):
        """Change the bytes of the user's index, with a checksum that is right again."""
        raw = bytearray(self.index.read_bytes()[:-20])
        change(raw)
        self.index.write_bytes(raw + hashlib.sha1(raw).digest())
        os.utime(self.index, (seconds, seconds))

    def believed(self, *options):
        """What plain git says of the repository as it is, in its own default."""
        return self.plain(*options)

    def truth(self):
        """What git says that has an index of its own making."""
        fresh = str(self.base / "fresh-index")
        if os.path.exists(fresh):
            os.unlink(fresh)
        self.git("read-tree", self.out("write-tree").strip(), GIT_INDEX_FILE=fresh)
        return self.plain(GIT_INDEX_FILE=fresh)

    def wait_until_old(self, *directories):
        """A directory's time of change cannot be set, so this waits for the clock."""
        newest = max(os.stat(d).st_ctime for d in directories)
        while (left := newest + OLD_SECONDS - time.time()) > 0:
            select.select([], [], [], left)


class Extensions(Attack):
    """An index says what git is to believe without a look."""

    def forge_untracked_cache(self):
        """Of two untracked files the cache of the index names only one, twice."""
        self.write("good.sh", "good\n")
        self.write("evil.sh", "evil\n")
        self.git("update-index", "--force-untracked-cache")
        self.git("status", GIT_FORCE_UNTRACKED_CACHE="1")
        os.utime(self.index, (FUTURE, FUTURE))
        self.git("status", GIT_FORCE_UNTRACKED_CACHE="1")

        def hide(raw):
            at = raw.index(b"UNTR")
            self.assertEqual(raw[at:].count(b"evil.sh\0"), 1)
            raw[at:] = raw[at:].replace(b"evil.sh\0", b"good.sh\0")

        self.forge(hide)
        self.assertNotIn("evil.sh", self.believed())
        self.assertIn("evil.sh", self.truth())

    def test_untracked_cache(self):
        """an untracked cache that hides a file"""
        self.git("update-index", "-q", "--refresh")
        self.forge_untracked_cache()
        for toolset in ("git", "workflow"):
            server = harness.Server(self, "--toolset", toolset)
            for _ in range(3):
                self.assertIn("evil.sh", server.ok("git_status").text)
        self.assertEqual(self.ok("git_status").text, self.truth())

    def test_file_system_monitor(self):
        """a list of unchanged files, and a monitor that knows of no change"""
        hook = self.write("../monitor", "#!/bin/sh\nprintf 'token\\0'\n")
        hook.chmod(0o755)
        self.git("config", "core.fsmonitor", str(hook))
        self.git("config", "core.fsmonitorHookVersion", "2")
        self.git("status")
        self.git("update-index", "--fsmonitor")
        self.git("status")
        self.assertIn(b"FSMN", self.index.read_bytes())
        self.write("a.txt", "changed\n")
        self.assertNotIn("a.txt", self.believed())
        self.assertIn(" M a.txt", self.truth())
        server = harness.Server(self)
        for _ in range(3):
            self.assertIn(" M a.txt", server.ok("git_status").text)
            self.assertIn("+changed", server.ok("git_diff").text)


class Stats(Attack):
    """An index says that a changed file is the one it knows."""

    def forge_stat(self):
        """a.txt is another one of the same size, and the index has its stat."""
        os.utime(self.write("a.txt", "two\n"), (harness.CLOCK, harness.CLOCK))
        st = os.stat(self.root / "a.txt")
        now = struct.pack(">10I", int(st.st_ctime), st.st_ctime_ns % 10 ** 9, int(st.st_mtime),
                          st.st_mtime_ns % 10 ** 9, st.st_dev & 0xffffffff,
                          st.st_ino & 0xffffffff, st.st_mode, st.st_uid, st.st_gid, st.st_size)

        def vouch(raw):
            raw[12:52] = now  # the first entry

        self.forge(vouch, int(time.time()))
        self.assertNotIn("a.txt", self.believed())

    def test_a_lie_of_the_index_is_gone_with_it(self):
        """forged stat data that plain git believes too is believed no longer than by it"""
        self.forge_stat()
        server = harness.Server(self)
        self.assertEqual(server.ok("git_status").text, self.believed())
        self.index.unlink()
        self.git("reset", "-q")
        self.assertIn(" M a.txt", server.ok("git_status").text)
        self.assertEqual(server.ok("git_status").text, self.truth())
        self.assertIn("+two", server.ok("git_diff").text)

    def test_a_lie_ends_with_a_look(self):
        """after any change of the file, what is forged counts no more"""
        self.forge_stat()
        server = harness.Server(self)
        self.write("a.txt", "six\n")
        self.assertIn(" M a.txt", server.ok("git_status").text)


class Directories(Attack):
    """An untracked cache of the user's own git believes directories; airlock looks."""

    def primed(self):
        """A server of a repository whose index knows the directories."""
        self.write("many/.gitignore", "*.LOG\n")
        self.write("many/known.txt", "known\n")
        self.wait_until_old(self.root, self.root / "many")
        self.git("update-index", "--force-untracked-cache")
        for _ in range(2):
            self.git("status")
        self.assertIn(b"UNTR", self.index.read_bytes())
        return harness.Server(self)

    def test_a_directory_whose_time_was_set_back(self):
        """a file in a directory whose times look as before is listed"""
        for key, value in (("core.trustctime", "false"), ("core.checkStat", "minimal")):
            self.git("config", key, value)
        server = self.primed()
        was = os.stat(self.root / "many")
        (self.root / "many/known.txt").rename(self.root / "many/evil.sh")  # the size stays
        os.utime(self.root / "many", ns=(was.st_atime_ns, was.st_mtime_ns))
        self.assertNotIn("evil.sh", self.believed())
        for _ in range(2):
            self.assertIn("?? many/evil.sh\n", server.ok("git_status").text)
        self.assertEqual(server.ok("git_status").text, self.truth())

    def test_a_configuration_that_ignores_other_files(self):
        """a file that was ignored under another configuration is listed"""
        self.git("config", "core.ignoreCase", "true")
        self.write("many/evil.log", "evil\n")
        server = self.primed()
        self.assertNotIn("evil.log", server.ok("git_status").text)
        self.git("config", "core.ignoreCase", "false")
        self.assertNotIn("evil.log", self.believed())
        for _ in range(2):
            self.assertIn("?? many/evil.log\n", server.ok("git_status").text)
        self.assertEqual(server.ok("git_status").text, self.truth())


if __name__ == "__main__":
    harness.main()
