# SPDX-License-Identifier: Apache-2.0
"""The base of tests of `airlock rollback`: all there is to compare, and what must not happen."""
import hashlib
import os
import stat
import subprocess

import harness

# Files of the git directory that an unfinished operation, the stash and the configuration are in.
STATE = ("HEAD", "index", "config", "logs/refs/stash", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE",
         "ORIG_HEAD", "CHERRY_PICK_HEAD", "rebase-merge", "rebase-apply", "sequencer")
STORED = ("ORIG_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "AUTO_MERGE")


def digest(path):
    """What a file is: type, permissions, content."""
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        return "link", os.readlink(path)
    return oct(stat.S_IMODE(info.st_mode)), hashlib.sha256(path.read_bytes()).hexdigest()


def stored(case, root=None):
    """With reftable: what of the state is in no file."""
    if os.environ.get("GIT_DEFAULT_REF_FORMAT") != "reftable":
        return {}
    values = {name: case.head_file(name, root) for name in STORED}
    values["logs/refs/stash"] = case.git("log", "-g", "--date=raw", "--format=%H %gn <%ge> %gd%x09%gs", "refs/stash",
                                         "--", cwd=root, check=False).stdout.decode()
    return {name: value for name, value in values.items() if value}


def files_below(path):
    """Every file below a directory; nested repositories are files like others."""
    if path.is_symlink() or not path.is_dir():
        return [path] if path.is_symlink() or path.exists() else []
    return sorted(found for item in path.iterdir() for found in files_below(item))


class Rollback(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()

    # The program.

    def command(self, *words, cwd=None, env=None):
        """A command other than `call`."""
        return subprocess.run([harness.AIRLOCK, *words], cwd=cwd or self.root,
                              env=self.env | (env or {}), stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, text=True,
                              timeout=harness.WATCHDOG_SECONDS, start_new_session=True)

    def rollback(self, *words, cwd=None):
        """A rollback that must work; gives what it says."""
        done = self.command("rollback", *words, cwd=cwd)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def refuses(self, reason, *words, names=(), code=1, cwd=None):
        """A rollback that must not happen, for a reason, naming what would be lost; it changes
        nothing."""
        before = self.snapshot(cwd)
        done = self.command("rollback", *words, cwd=cwd)
        self.assertEqual(done.returncode, code, done)
        self.assertIn(reason, done.stderr)
        listed = [line[2:] for line in done.stderr.splitlines() if line.startswith("  ")]
        self.assertEqual(sorted(listed), sorted(names), done.stderr)
        self.assertEqual(self.snapshot(cwd), before)
        return done

    # The repository.

    def snapshot(self, root=None):
        """All there is to compare: files, index, HEAD, references, stash, unfinished operations."""
        root = root or self.root
        git_dir = root / ".git"
        if git_dir.is_file():
            git_dir = self.base / self.out("rev-parse", "--absolute-git-dir", cwd=root).strip()
        tree = {}
        for path in files_below(root):
            name = str(path.relative_to(root))
            if not name.startswith(".git/"):
                tree[name] = digest(path)
        for name in STATE:
            for path in files_below(git_dir / name):
                tree["git:" + str(path.relative_to(git_dir))] = digest(path)
        tree["git:HEAD"] = self.head_file(where=root)
        tree.update(("git:" + name, value) for name, value in stored(self, root).items())
        tree["refs"] = self.out("for-each-ref", cwd=root)
        tree["stash"] = self.out("stash", "list", "--format=%H %gd %gs", cwd=root)
        return tree

    def assert_same(self, before, root=None):
        """It is as it was."""
        now = self.snapshot(root)
        differing = {name: (before.get(name), now.get(name)) for name in before | now
                     if before.get(name) != now.get(name)}
        self.assertEqual(differing, {})

    # The store of checkpoints.

    def store(self):
        """Every checkpoint of the only store, and what is kept for them: its references."""
        [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
        return self.out("for-each-ref", "--format=%(objectname) %(refname)", "refs/before",
                        "refs/after", "refs/new", cwd=store)

    def assert_untouched(self, run):
        """A run that leaves no checkpoint in the store; gives its result."""
        before = self.store()
        result = run()
        self.assertEqual(self.store(), before)
        return result

    # The repository, filled.

    def stash(self, content, message):
        """A stash of a.txt."""
        self.write("a.txt", content)
        self.git("stash", "push", "-q", "-m", message)

    def rich(self):
        """A repository with something of everything."""
        self.write(".gitignore", "*.o\n")
        self.write("dir/b.txt", "b\n")
        self.write("run.sh", "#!/bin/sh\n").chmod(0o755)
        os.symlink("a.txt", self.root / "link")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "second")
        self.git("branch", "side", "HEAD~")
        self.git("branch", "other")
        self.git("tag", "-a", "-m", "v1", "v1")
        self.stash("stashed 0\n", "zero")
        self.stash("stashed 1\n", "one")
        self.stash("stashed 2\n", "two")
        self.write("a.txt", "modified\n")
        self.write("dir/b.txt", "staged\n")
        self.git("add", "dir/b.txt")
        self.write("dir/b.txt", "staged and modified\n")
        self.write("new.txt", "staged and new\n")
        self.git("add", "new.txt")
        self.write("untracked.txt", "untracked\n").chmod(0o640)
        self.write("un/tracked/\u4e2d \n\" .txt", b"\0\xff binary\n")
        self.write("x.o", "ignored\n")
        self.git("config", "branch.other.description", "what it is for")
