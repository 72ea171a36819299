# SPDX-License-Identifier: Apache-2.0
"""The base of tests that read where the user's index does not vouch for the files."""
import os
import time

import harness

FILES = 64


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

    def make_stale(self, where=None):
        """As after a copy of the tree: every stat is another one, the content is the same."""
        for path in sorted(((where or self.root) / "many").iterdir()):
            os.utime(path, (harness.CLOCK, harness.CLOCK))

    def plain(self, *options, cwd=None, **variables):
        """What plain git says, which writes nothing either."""
        return self.out("status", "--porcelain=1", "-b", *options, cwd=cwd, GIT_OPTIONAL_LOCKS="0",
                        **variables)

    def plain_diff(self):
        """git diff writes the index of its own accord, whatever GIT_OPTIONAL_LOCKS says, so it gets
        a copy."""
        copy = self.base / "copied-index"
        copy.write_bytes((self.root / ".git/index").read_bytes())
        st = os.stat(self.root / ".git/index")
        os.utime(copy, ns=(st.st_atime_ns, st.st_mtime_ns))
        return self.out("diff", GIT_INDEX_FILE=str(copy))

    def in_one_second(self, act):
        """Do something again until it happened within one second of the clock."""
        for _ in range(self.TRIES_MAX):
            began = int(time.time())
            act()
            if int(time.time()) == began:
                return
        raise AssertionError("the machine is too slow")
