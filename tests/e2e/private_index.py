# SPDX-License-Identifier: Apache-2.0
"""What the tests share that look at airlock's private index of a working tree."""
import os
import time

import harness

FILES = 64  # enough for a copy to be worth making when git would read them all again
SETTLED_SECONDS = 0.05


def stat_of(path):
    """What changes when a file is replaced or written."""
    st = os.lstat(path)
    return st.st_ino, st.st_size, st.st_mtime_ns, st.st_ctime_ns


class Case(harness.Case):
    TRIES_MAX = 200

    def many(self, where=None):
        """A repository with files that its index does not vouch for."""
        self.init(where)
        self.add_many(where)

    def add_many(self, where=None):
        """The same in a repository that is there."""
        for number in range(FILES):
            self.write(f"many/f{number:02d}.txt", "0123456789\n" * 3, where)
        self.git("add", "many", cwd=where)
        self.git("commit", "-q", "-m", "many", cwd=where)
        self.make_stale(where)

    def wait_until_settled(self):
        """An index that changed just now gets no copy, and times cannot be set: wait for the clock."""
        while time.time() < os.stat(self.root / ".git/index").st_ctime + SETTLED_SECONDS:
            os.sched_yield()

    def make_stale(self, where=None):
        """As after a copy of the tree: every stat is another one, the content is the same."""
        for path in sorted(((where or self.root) / "many").iterdir()):
            os.utime(path, (harness.CLOCK, harness.CLOCK))

    def copies(self):
        """The directories of private indexes."""
        return sorted((self.home / ".local/state/airlock/indexes").glob("*"))

    def copy(self):
        """The only one."""
        [found] = self.copies()
        return found

    def until_private(self, server, count=1, **arguments):
        """Call git_status until it has a private index: an index that changed just now gets none,
        since it may change again with the same times."""
        for _ in range(self.TRIES_MAX):
            result = server.ok("git_status", arguments)
            if len([s for s in self.copies() if (s / "record").exists()]) >= count:
                return result
        raise AssertionError("no private index was made")

    def plain(self, *options, cwd=None, **variables):
        """What plain git says, which writes nothing either."""
        return self.out("status", "--porcelain=1", "-b", *options, cwd=cwd, GIT_OPTIONAL_LOCKS="0",
                        **variables)

    def entries(self, index):
        """The stat data that an index holds of each file."""
        return self.out("ls-files", "--debug", GIT_INDEX_FILE=str(index))

    def in_one_second(self, act):
        """Do something again until it happened within one second of the clock."""
        for _ in range(self.TRIES_MAX):
            began = int(time.time())
            act()
            if int(time.time()) == began:
                return
        raise AssertionError("the machine is too slow")
