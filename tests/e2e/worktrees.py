# SPDX-License-Identifier: Apache-2.0
"""The base of tests of several agents: linked worktrees of one repository, a server in each."""
import fcntl
import os
import struct

import harness
import rollback

TOOLSET = ("--toolset", "parallel")


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


class Calls(rollback.Rollback):
    """Calls of git_worktree.  `root` is the main working tree; worktrees are below `.worktrees`."""

    def setUp(self):
        super().setUp()
        self.common = os.path.realpath(self.root / self.out("rev-parse", "--git-common-dir").strip())
        self.dir = self.root / ".worktrees"
        if harness.linked.LINKED:
            self.dir = harness.pathlib.Path(
                self.common[:-len("/.git")] if self.common.endswith("/.git") else self.common) / ".worktrees"

    def wt(self, action, name=None, *options, root=None, approval="deny", **arguments):
        """One call; whatever it does, it asks nobody."""
        named = {"name": name} if name else {}
        return self.call("git_worktree", {"action": action} | named | arguments, *TOOLSET, *options,
                         root=root, cwd=root, approval=approval)

    def good(self, action, name=None, *options, **arguments):
        """A call that must work; gives its text."""
        result = self.wt(action, name, *options, approval="ask", **arguments)
        self.assertFalse(result.failed, result)
        return result.text

    def bad(self, message, action, name=None, *options, kind="ExecutionFailed", **arguments):
        """A call that must fail like this, and leave nothing behind."""
        before = self.everything()
        result = self.wt(action, name, *options, approval="allow", **arguments)
        self.assertTrue(result.failed, result)
        self.assertEqual(result.kind, kind, result)
        self.assertIn(message, result.error["message"])
        self.assertEqual(self.everything(), before)
        return result

    def everything(self):
        """What an add could leave behind."""
        admin = harness.pathlib.Path(self.common) / "worktrees"
        return (self.out("for-each-ref"), sorted(os.listdir(self.dir)) if self.dir.exists() else None,
                sorted(os.listdir(admin)) if admin.exists() else None,
                (harness.pathlib.Path(self.common) / "config").read_text(encoding="utf-8"))

    def hashes(self, name):
        """Every byte of a worktree: files, index, HEAD, administrative files."""
        place = self.dir / name
        pointer = (place / ".git").read_text(encoding="utf-8")
        admin = harness.pathlib.Path(pointer[len("gitdir: "):].strip())
        found = {}
        for top in (place, admin):
            for path in rollback.files_below(top):
                found[str(path)] = rollback.digest(path)
        return found

    def fill(self, name):
        """What no checkpoint has, in a worktree: ignored and large files, a repository, a FIFO, a
        directory that nobody may read."""
        place = self.dirty(name)
        for file in ("a.o", "b\n.o", "build/deep/x", "large.txt"):
            self.write(file, "in no checkpoint\n", place)
        os.mkfifo(place / "fifo")
        self.init(place / "nested")
        self.write("nested/a.txt", "changed\n", place)
        (place / "build/closed").mkdir(mode=0)
        self.addCleanup(self.open_all, place / "build/closed")

    @staticmethod
    def open_all(path):
        """So that it can be removed after the test."""
        if path.exists():
            path.chmod(0o700)

    def whole(self, name):
        """Every entry of a worktree and of its administrative directory, with inode and times."""
        place = self.dir / name
        pointer = (place / ".git").read_text(encoding="utf-8")
        found = {}
        for top in (place, harness.pathlib.Path(pointer[len("gitdir: "):].strip())):
            for path in top.rglob("*"):
                info = path.lstat()
                found[str(path)] = (info.st_mode, info.st_ino, info.st_size if path.is_file() else 0,
                                    info.st_mtime_ns if path.is_file() else 0)
        return found

    def aside(self):
        """What is aside."""
        folder = harness.pathlib.Path(self.common) / "airlock/aside"
        return sorted(folder.iterdir()) if folder.exists() else []

    def configure(self, text):
        """The user's configuration."""
        file = self.home / ".config/airlock/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def dirty(self, name):
        """Something of everything, in a worktree."""
        place = self.dir / name
        self.commit("own.txt", "own\n", "only here", place)
        self.write("a.txt", "staged\n", place)
        self.git("add", "a.txt", cwd=place)
        self.write("a.txt", "changed\n", place)
        self.write("new/untracked.txt", "untracked\n", place).chmod(0o755)
        os.symlink("a.txt", place / "link")
        return place
