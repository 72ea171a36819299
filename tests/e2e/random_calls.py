# SPDX-License-Identifier: Apache-2.0
"""The base of tests with random calls: generated repositories, calls, and edits by others.

A seed gives the same repository and the same calls every time.  AIRLOCK_RANDOM=N tries N calls
instead of a few; AIRLOCK_SEED=N begins with that seed.
"""
import os
import random

import harness
import rollback

FILES = ("a.txt", "b", "d/x", "d/\u4e2d x", "d", "run")
BRANCHES = ("main", "one", "x/y", "x")
SEED = int(os.environ.get("AIRLOCK_SEED", "1"))
CALLS = int(os.environ.get("AIRLOCK_RANDOM", "0"))


class Repository(rollback.Rollback):
    """A generated repository, and a server that works in it."""

    def setUp(self):
        harness.Case.setUp(self)
        self.random = random.Random(0)
        self.server = None

    def begin(self, seed):
        """A new repository for a seed, with a server of its own."""
        if self.server:
            self.server.close()
        self.random = random.Random(seed)
        self.root = self.base / f"repo{seed}"
        self.root.mkdir()
        options = ["--object-format=sha256"] if self.random.random() < 0.2 else []
        self.git("init", "-q", *options)
        for _ in range(self.random.choice((0, 1, 2, 2, 3, 3))):
            for _ in range(3):
                self.apply(self.edit_file())
            self.git("add", "-A")
            self.git("commit", "-q", "--allow-empty", "-m", "made")
            self.git("branch", "-f", self.random.choice(BRANCHES), check=False)
            self.commits += 1
        self.shape()
        self.server = harness.Server(self, *self.options(seed))

    def options(self, seed):
        """Options of the server for a seed."""
        del seed
        return ()

    def shape(self):
        """Forms of the index and of references that a repository may have."""
        some = self.random.random()
        if some < 0.2:
            self.git("update-index", "--index-version", "4")
        elif some < 0.3:
            self.git("update-index", "--split-index")
        elif some < 0.5:
            self.git("pack-refs", "--all")
            self.git("gc", "-q")
        self.write(".git/info/exclude", "*.o\n")

    # What others do.  An operation is a tuple, so that it can be repeated without the seed.

    def name(self):
        """A file."""
        return self.random.choice(FILES)

    def edit(self):
        """One edit by somebody else: of a file, or with plain git, which may fail."""
        words = self.random.choice((
            None, None, None, None, None, None, None, None,
            ("add", "-A"), ("add", "-A"), ("add", "--", self.name()), ("reset", "-q"),
            ("commit", "-q", "-m", "others"), ("commit", "-q", "-a", "-m", "others"),
            ("branch", self.random.choice(BRANCHES)), ("branch", "-D", "one"),
            ("config", "their.key", str(self.random.randrange(9))),
            ("rm", "-q", "--cached", "--", self.name()), ("tag", "t"), ("stash", "push", "-q"),
            ("status",), ("checkout", "-q", self.random.choice(BRANCHES)),
        ))
        return ("git", *words) if words else self.edit_file()

    def edit_file(self):
        """Write or remove a file."""
        name, some = self.name(), self.random.random()
        if some < 0.25:
            return ("remove", name)
        if some < 0.3:
            return ("link", name, self.name())
        text = f"{self.random.randrange(1000)}\n" * self.random.randrange(1, 4)
        return ("write", name, text, 0o755 if self.random.random() < 0.2 else 0o644)

    def clear_way(self, name):
        """Nothing is where a directory has to be, or below a file."""
        path = self.root / name
        for parent in reversed(path.relative_to(self.root).parents):
            where = self.root / parent
            if where.is_symlink() or where.is_file():
                where.unlink()
        if path.is_dir() and not path.is_symlink():
            harness.shutil.rmtree(path)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)

    def apply(self, operation):
        """Do it; gives the result of a call."""
        kind, *words = operation
        if kind == "call":
            return self.server.call(*words)
        if kind == "git":
            self.git(*words, check=False)
            self.commits += 1
        elif kind == "remove":
            if (self.root / words[0]).is_file() or (self.root / words[0]).is_symlink():
                (self.root / words[0]).unlink()
        else:
            self.clear_way(words[0])
            if kind == "link":
                os.symlink(words[1], self.root / words[0])
            else:
                self.write(words[0], words[1]).chmod(words[2])
        return None

    # What the agent does.

    def call_at_random(self):
        """A call: tool and arguments.  It may fail."""
        pick = self.random.choice
        paths = [self.name() for _ in range(self.random.randrange(1, 3))]
        return ("call", *pick((
            lambda: ("git_add", {"paths": paths}),
            lambda: ("git_add", {"all": True}),
            lambda: ("git_add", {"all": True}),
            lambda: ("git_add", {"update": True}),
            lambda: ("git_commit", {"type": "fix", "message": "m"}),
            lambda: ("git_commit", {"type": "fix", "message": "m"}),
            lambda: ("git_checkout", {"create_branch": pick(BRANCHES)}),
            lambda: ("git_checkout", {"branch": pick(BRANCHES)}),
            lambda: ("git_checkout", {"commit": pick(("HEAD", "HEAD~", "one"))}),
            lambda: ("git_checkout", {"paths": paths}),
            lambda: ("git_branch", {"create": pick(BRANCHES)}),
            lambda: ("git_branch", {"delete": pick(BRANCHES)}),
            lambda: ("git_branch", {"force_delete": pick(BRANCHES)}),
            lambda: ("git_branch", {"rename": pick(BRANCHES), "new_name": pick(BRANCHES)}),
            lambda: ("git_restore", {"paths": paths}),
            lambda: ("git_restore", {"paths": paths, "staged": True, "worktree": False}),
            lambda: ("git_restore", {"paths": paths, "staged": True}),
            lambda: ("git_stash", {"action": "push",
                                   "include_untracked": self.random.random() < 0.5}),
            lambda: ("git_stash", {"action": pick(("pop", "apply", "drop", "clear"))}),
            lambda: ("git_merge", {"branch": pick(BRANCHES)}),
            lambda: ("git_merge", {"branch": "", "abort": True}),
            lambda: ("git_remote", {"action": pick(("add", "remove")), "name": "there",
                                    "url": "https://example.com/x"}),
            lambda: ("git_resolve_conflict", {"path": self.name(), "strategy": "ours"}),
        ))())
