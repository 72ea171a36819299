# SPDX-License-Identifier: Apache-2.0
"""What the tests of several agents share: linked worktrees of one repository, a server in each."""
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
