# SPDX-License-Identifier: Apache-2.0
"""What the tests of several agents share: linked worktrees of one repository, a server in each."""
import fcntl
import os
import struct

import harness


class Place:
    """A test case whose root is another directory, for harness.Server."""

    def __init__(self, case, root):
        self.case, self.root = case, root

    def __getattr__(self, name):
        return getattr(self.case, name)


class Case(harness.Case):
    """`root` is the main working tree, on `main`."""

    def setUp(self):
        super().setUp()
        self.init()

    def worktree(self, name):
        """A linked worktree beside `root`, on a branch of its name; gives its directory."""
        path = self.base / name
        self.git("worktree", "add", "-q", "-b", name, str(path))
        return path

    def server(self, root, *options, kind=harness.Server):
        """A server in a working tree."""
        return kind(Place(self, root), *options)

    def common_dir(self):
        """The directory that all working trees share."""
        return os.path.realpath(self.root / self.out("rev-parse", "--git-common-dir").strip())

    def lock_file(self):
        """The file by which writers of the repository take turns."""
        found = os.stat(self.common_dir())
        return self.home / f".local/state/airlock/locks/{found.st_dev:x}-{found.st_ino:x}"

    def hold_lock(self, holder):
        """Hold the lock of the writers, as another process does; gives its descriptor."""
        path = self.lock_file()
        path.parent.mkdir(parents=True, exist_ok=True)
        fd = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.fcntl(fd, fcntl.F_OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, os.SEEK_SET, 0, 1, 0))
        os.write(fd, holder.encode() + b"\n")
        return fd
