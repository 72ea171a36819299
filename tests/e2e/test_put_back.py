#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A checkout that fails half way leaves the repository as it was, and what a partial clone lacks is
told as such."""
import contextlib
import os
import pathlib
import threading

import harness


class PutBack(harness.Case):
    def partial(self):
        """A partial clone of a repository whose older files it has not."""
        source = self.base / "source"
        source.mkdir()
        self.git("init", "-q", cwd=source)
        for number in range(3):
            for name in ("a", "d/b", "z"):
                self.write(name, f"{name} {number}\n", source)
            self.write(f"only{number}", "only\n", source)
            if number:
                (source / f"only{number - 1}").unlink()
            self.git("add", "-A", cwd=source)
            self.git("commit", "-q", "-m", str(number), cwd=source)
            self.commits += 1
        self.git("config", "uploadpack.allowFilter", "true", cwd=source)
        self.git("branch", "old", "main~2", cwd=source)
        self.root.rmdir()
        self.git("clone", "-q", "--filter=blob:none", source.as_uri(), str(self.root),
                 cwd=self.base)
        self.git("branch", "old", "origin/old")

    def tree(self):
        """Every file and what it holds."""
        return {str(path.relative_to(self.root)): path.read_bytes()
                for path in self.root.rglob("*")
                if path.is_file() and ".git" not in path.relative_to(self.root).parts}

    def check(self, toolset, tool, arguments, said="promisor"):
        """It fails and says so, and nothing is otherwise than before."""
        before, state = self.tree(), self.state()
        head = (self.root / ".git/HEAD").read_text()
        result = self.call(tool, arguments, "--toolset", toolset)
        self.assertTrue(result.failed, result)
        self.assertIn(said, result.text)
        self.assertEqual((self.tree(), self.state()), (before, state))
        self.assertEqual((self.root / ".git/HEAD").read_text(), head)
        return result

    def test_partial_clone(self):
        """a checkout that lacks what was not downloaded leaves everything, changes too"""
        self.partial()
        self.write("mine", "untracked\n")
        self.write("d/own", "untracked\n")
        for toolset, arguments in (("git", {"commit": "HEAD~2"}), ("git", {"branch": "old"}),
                                   ("workflow", {"target": "HEAD~2"}),
                                   ("workflow", {"target": "old"})):
            result = self.check(toolset, "git_checkout", arguments)
            self.assertIn("Not downloaded: this is a partial clone", result.text)

    def test_nothing_is_emptied(self):
        """what would put back content that was not downloaded is refused before it writes"""
        self.partial()
        self.write("a", "mine\n")
        self.ok("git_restore", {"paths": ["a"]})  # what is here is put back
        self.assertEqual((self.root / "a").read_text(), "a 2\n")
        fresh = self.base / "fresh"
        self.git("clone", "-q", "--no-checkout", "--filter=blob:none",
                 (self.base / "source").as_uri(), str(fresh), cwd=self.base)
        self.root = fresh
        self.git("read-tree", "HEAD")
        self.write("a", "my own unsaved work\n")
        mine = self.tree()
        for toolset, tool, arguments in (
                ("git", "git_restore", {"paths": ["a"]}),
                ("git", "git_restore", {"paths": ["."], "staged": True}),
                ("git", "git_checkout", {"paths": ["a"]}),
                ("git", "git_stash", {"action": "push"}),
                ("workflow", "git_checkout", {"target": "HEAD", "paths": ["a"]}),
                ("workflow", "git_checkout", {"target": "main", "force": True})):
            result = self.call(tool, arguments, "--toolset", toolset)
            self.assertTrue(result.failed, (tool, arguments, result))
            self.assertIn("ot downloaded", result.text)
            self.assertEqual(self.tree(), mine, (tool, arguments))
            self.assertFalse((self.root / ".git/refs/stash").exists())

    def test_rollback(self):
        """what was not downloaded is in no rollback's way, of a branch, a file or a commit"""
        self.partial()
        self.write("a", "mine\n")
        self.write("new", "new\n")
        before = self.tree(), self.state()
        for calls in ((("git_restore", {"paths": ["a"]}),),
                      (("git_checkout", {"create_branch": "topic"}),),
                      (("git_branch", {"delete": "old"}),),
                      (("git_add", {"paths": ["a", "new"]}), ("git_commit", {"type": "feat", "message": "x"}))):
            for tool, arguments in calls:
                self.ok(tool, arguments)
            for words in ((str(len(calls)),), ("--redo",), ("1",)):
                done = harness.subprocess.run(
                    [harness.AIRLOCK, "rollback", "--yes", *words], cwd=self.root, env=self.env,
                    stdin=harness.subprocess.DEVNULL, capture_output=True, check=False)
                self.assertEqual(done.returncode, 0, (calls, words, done))
            self.assertEqual((self.tree(), self.state()), before, calls)

    def test_goes_on(self):
        """one that works does, and changes are kept"""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("b", "side\n", "side")
        self.git("checkout", "-q", "main")
        self.write("a.txt", "changed\n")
        self.write("mine", "untracked\n")
        self.ok("git_checkout", {"branch": "side"}, "--toolset", "git")
        self.assertEqual(self.tree(), {"a.txt": b"changed\n", "b": b"side\n",
                                       "mine": b"untracked\n"})


class HalfDone(harness.Case):
    """Git fails in the middle of its work: nothing is changed, or it is said what, and a rollback
    puts that back."""
    NAMES = ("a", "d/b", "m", "z")

    CALLS = (
        ("git", "git_checkout", {"branch": "old"}, "old", ("checkout", "old")),
        ("git", "git_checkout", {"commit": "old"}, "old", ()),
        ("workflow", "git_checkout", {"target": "old"}, "old", ()),
        ("workflow", "git_checkout", {"target": "old", "force": True}, "old",
         ("checkout", "-f", "old")),
        ("workflow", "git_checkout", {"target": "old", "paths": ["."]}, "old", ()),
        ("git", "git_checkout", {"paths": ["."]}, "HEAD", ("checkout", ".")),
        ("git", "git_restore", {"paths": ["."]}, "HEAD", ("restore", ".")),
        ("git", "git_restore", {"paths": ["."], "staged": True}, "HEAD", ()),
        ("git", "git_stash", {"action": "push"}, "HEAD", ("stash", "push")),
        ("git", "git_stash", {"action": "pop"}, "stash@{0}", ("stash", "pop")),
        ("workflow", "git_stash", {"action": "apply"}, "stash@{0}", ("stash", "apply")),
        ("workflow", "git_merge", {"branch": "old"}, "old", ()),
    )

    def tree(self):
        """Every file and what it holds, and where HEAD is."""
        files = {str(path.relative_to(self.root)): path.read_bytes()
                 for path in self.root.rglob("*")
                 if path.is_file() and ".git" not in path.relative_to(self.root).parts}
        return files | {"HEAD": (self.root / ".git/HEAD").read_bytes(),
                        "staged": self.out("ls-files", "-s"),
                        "refs": self.out("for-each-ref", "refs/heads", "refs/stash")}

    def fill(self, tool, arguments):
        """`old` is another version of every file; changes, or a stash of them, where a call is
        about these."""
        shape = "merge" if tool == "git_merge" else arguments.get(
            "action", "changed" if set(arguments) & {"force", "paths"} else "clean")
        kept = self.base / shape
        harness.shutil.rmtree(self.root)
        harness.shutil.rmtree(self.home / ".local", ignore_errors=True)
        if not kept.exists():
            self.root.mkdir()
            self.make(shape)
            self.root.rename(kept)
        harness.shutil.copytree(kept, self.root)

    def make(self, shape):
        """The repository of one shape."""
        def write(text):
            for name in self.NAMES:
                self.write(name, f"{name} {text}\n")

        self.init()
        write("new")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "new")
        self.git("checkout", "-q", "-b", "old", *(["HEAD~1"] if shape == "merge" else []))
        write("old")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "old")
        self.git("checkout", "-q", "main")
        if shape == "merge":
            self.git("reset", "-q", "--hard", "HEAD~1")
            self.commit("own", "own\n", "own")
        elif shape != "clean":
            write("mine")
        if shape in ("pop", "apply"):
            self.git("stash", "push", "-q")

    def spoil(self, revision, junk):
        """One object in the middle is another one, or missing."""
        oid = self.out("rev-parse", f"{revision}:m").strip()
        path = self.root / ".git/objects" / oid[:2] / oid[2:]
        path.unlink()
        if junk:
            path.write_bytes(junk)

    def half_done(self, junk, calls):
        """Each call, after plain git where it changes something; gives those that did."""
        changed = []
        for toolset, tool, arguments, revision, plain in calls:
            what = (toolset, tool, arguments)
            self.fill(tool, arguments)
            self.spoil(revision, junk)
            before = self.tree()
            if plain:
                self.git(*plain, check=False)
                changed.append(self.tree() != before)
                self.fill(tool, arguments)
                self.spoil(revision, junk)
            self.assertEqual(self.tree(), before)
            result = self.call(tool, arguments, "--toolset", toolset)
            self.assertTrue(result.failed, (what, result))
            now = self.tree()
            if "The call failed and has no checkpoint" in result.text:
                continue
            for name in before.keys() & set(self.NAMES):
                said = f" {name}," in result.text or f" {name}." in result.text
                self.assertEqual(said, now.get(name) != before[name], (what, name, result.text))
            self.assertEqual("airlock rollback" in result.text, now != before, (what, result.text))
            if now == before:
                continue
            done = harness.subprocess.run([harness.AIRLOCK, "rollback", "--yes"], cwd=self.root,
                                          env=self.env, stdin=harness.subprocess.DEVNULL,
                                          capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, (what, done))
            self.assertEqual(self.tree(), before, what)
        self.assertTrue(any(changed))

    def test_missing(self):
        """an object that is missing in the middle"""
        self.half_done(None, self.CALLS)

    def test_corrupt(self):
        """an object that cannot be read in the middle"""
        self.half_done(b"junk", self.CALLS[3::2])

    def test_nothing_done(self):
        """what failed before it began says nothing of the kind"""
        self.init()
        self.write("a.txt", "mine\n")
        for toolset, tool, arguments in (("git", "git_checkout", {"branch": "none"}),
                                         ("git", "git_restore", {"paths": ["none"]}),
                                         ("git", "git_stash", {"action": "pop"}),
                                         ("workflow", "git_merge", {"branch": "none"})):
            result = self.call(tool, arguments, "--toolset", toolset)
            self.assertTrue(result.failed, result)
            self.assertNotIn("rollback", result.text)


class Stopped(harness.Case):
    """git is killed in the middle of its work, where it writes what HEAD did into a pipe that
    nobody reads: files are written by then.  All is put back, but for what others did meanwhile."""

    TIMEOUT_MS = 1500

    def setUp(self):
        super().setUp()
        self.init()
        for name in ("t.txt", "gone.txt", "elsewhere.txt", "mine.txt"):
            self.commit(name, "base\n", name)
        self.git("checkout", "-q", "-b", "topic")
        self.commit("t.txt", "topic\n", "topic: first")
        self.commit("new/n.txt", "new\n", "topic: second")
        (self.root / "link").symlink_to("t.txt")
        self.git("add", "link")
        self.git("rm", "-q", "gone.txt")
        self.git("commit", "-q", "-m", "topic: third")
        self.git("checkout", "-q", "main")
        self.commit("c.txt", "c\n", "main")
        self.write("own.txt", "untracked\n")
        self.config = self.base / "config.toml"
        self.config.write_text(f"[tools.git]\ntimeout_ms = {self.TIMEOUT_MS}\n", encoding="utf-8")

    def conflict(self):
        """topic's second commit, not its first, cannot go where HEAD is."""
        self.commit("new/n.txt", "ours\n", "ours")

    def settle(self, *words, name="new/n.txt"):
        """Begin it, and resolve the conflict."""
        self.git(*words, check=False)
        self.write(name, "both\n")
        self.git("add", name)

    def everything(self):
        """Files, index, references, HEAD and what is in progress; not the logs."""
        inside = self.root / ".git"
        files = {str(path.relative_to(self.root)):
                 str(path.readlink()) if path.is_symlink() else path.read_bytes()
                 for path in self.root.rglob("*")
                 if (path.is_symlink() or path.is_file()) and inside not in path.parents}
        states = {str(path.relative_to(inside)): path.read_bytes()
                  for place in ("rebase-merge", "sequencer") for path in (inside / place).rglob("*")}
        states |= {path.name: path.read_bytes() for path in inside.glob("*_HEAD")
                   if path.name != "FETCH_HEAD"}
        return (files, states, self.out("ls-files", "-s"), self.out("for-each-ref"),
                (inside / "HEAD").read_bytes(), (inside / "MERGE_MSG").exists())

    def meanwhile(self, tracked, done):
        """As soon as git has written a file, somebody saves others."""
        before = self.files_here()
        while not done.is_set():
            if self.files_here() != before:
                for name in ("elsewhere.txt", "other.txt")[not tracked:]:
                    self.write("../saved", "saved meanwhile\n")  # git may be reading the old one
                    (self.root / "../saved").rename(self.root / name)
                return
            done.wait(.002)

    def files_here(self):
        times = []
        for name in ("t.txt", "new/n.txt", "gone.txt", "c.txt"):
            try:
                times.append((self.root / name).lstat().st_mtime_ns)
            except FileNotFoundError:
                times.append(0)
        return times

    @staticmethod
    def is_git(process):
        with contextlib.suppress(OSError):
            return (process / "comm").read_text(encoding="utf-8") == "git\n"
        return False

    def has_open(self, pipe):
        """Whether a git has it open."""
        for number in self.processes_in(self.root):
            process = pathlib.Path(f"/proc/{number}")
            with contextlib.suppress(OSError):
                for name in (process / "fd").iterdir():
                    if os.readlink(name) == str(pipe) and self.is_git(process):
                        return True
        return False

    def let_one_through(self, pipe, done):
        """The pipe is full, so its writer waits until there is another pipe, where the writer of
        the next entry waits."""
        both = os.open(pipe, os.O_RDWR | os.O_NONBLOCK)
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(both, b"\n" * 4096)
        while not done.is_set() and not self.has_open(pipe):
            done.wait(.002)
        os.mkfifo(pipe.with_name("next"))
        pipe.with_name("next").rename(pipe)
        with open(f"/proc/self/fd/{both}", "rb") as log:
            os.close(both)
            log.read()

    def let_through(self, pipe, count, done):
        """git writes the first entries of the log; and all of them, once the one that waits for its
        turn is gone."""
        for _ in range(count):
            self.let_one_through(pipe, done)
        while not (done.is_set() or (self.root / "other.txt").exists()):
            done.wait(.01)
        waiting = []
        while not waiting and not done.wait(self.TIMEOUT_MS / 3000):
            processes = [pathlib.Path(f"/proc/{number}") for number in self.processes_in(self.root)]
            waiting = [process for process in processes if self.is_git(process)]
        while not done.is_set() and any(process.exists() for process in waiting):
            done.wait(.01)
        while not done.is_set():
            with open(pipe, "rb") as log:
                log.read()

    def check(self, toolset, tool, arguments, *options, log="HEAD", lets=0, tracked=True):
        """The call is stopped when it has written `lets` entries of the log and files, and what it
        did is put back."""
        pipe = self.root / ".git/logs" / log
        self.git("status")  # files that were put back look changed until then
        before = self.everything()
        pipe.unlink()
        os.mkfifo(pipe)
        done = threading.Event()
        others = [threading.Thread(target=self.meanwhile, args=(tracked, done)),
                  threading.Thread(target=self.let_through, args=(pipe, lets, done))]
        for other in others:
            other.start()
        try:
            result = self.call(tool, arguments, "--toolset", toolset, "--config",
                               str(self.config), *options)
        finally:
            done.set()
            os.close(os.open(pipe, os.O_RDWR))
            for other in others:
                other.join()
            pipe.unlink()
        pipe.touch()
        self.assertEqual(result.kind, "Timeout", result)
        self.assertIn("put back as it was", result.text, result)
        for name in ("other.txt", "elsewhere.txt")[:1 + tracked]:
            self.assertEqual(self.root.joinpath(name).read_text(), "saved meanwhile\n", name)
        self.root.joinpath("other.txt").unlink()
        self.write("elsewhere.txt", before[0]["elsewhere.txt"])
        self.assertEqual(self.everything(), before)

    def test_merge(self):
        """git_merge, and a squash of everyday"""
        self.write("mine.txt", "mine\n")
        self.check("workflow", "git_merge", {"branch": "topic"})
        self.git("checkout", "-q", "mine.txt")
        self.check("everyday", "git_merge", {"branch": "topic"})
        self.check("everyday", "git_merge", {"branch": "topic", "squash": True, "message": "x"})
        self.git("reset", "-q", "--hard", "HEAD^")
        self.check("workflow", "git_merge", {"branch": "topic"})

    def test_switch(self):
        """git_checkout, git_switch, git_reset"""
        self.write("mine.txt", "mine\n")
        self.check("git", "git_checkout", {"branch": "topic"})
        self.check("workflow", "git_checkout", {"target": "topic"})
        self.check("everyday", "git_switch", {"branch": "topic"})
        self.check("everyday", "git_reset", {"to": "topic", "mode": "hard"}, tracked=False)
        self.check("everyday", "git_reset", {"to": "topic", "mode": "keep"})

    def test_rebase(self):
        """git_rebase that ends, and one that will stop"""
        self.git("checkout", "-q", "topic")
        self.check("everyday", "git_rebase", {"onto": "main"})
        self.git("checkout", "-q", "main")
        self.conflict()
        self.git("checkout", "-q", "topic")
        self.check("everyday", "git_rebase", {"onto": "main"})

    def test_pick(self):
        """git_cherry_pick that ends, and one that will stop"""
        self.check("everyday", "git_cherry_pick", {"commits": ["main..topic"]})
        self.conflict()
        self.check("everyday", "git_cherry_pick", {"commits": ["main~1..topic"]})

    def test_goes_on(self):
        """what goes on with a cherry-pick, or gives it up"""
        self.conflict()
        self.settle("cherry-pick", "main~1..topic")
        for toolset, tool, arguments, lets in (
                ("git", "git_commit", {"type": "feat", "message": "x"}, 1),
                ("workflow", "git_commit", {"message": "x"}, 1),
                ("everyday", "git_conflicts", {"action": "continue"}, 1),
                ("everyday", "git_conflicts", {"action": "skip"}, 1),
                ("everyday", "git_conflicts", {"action": "abort"}, 0),
                ("workflow", "git_merge", {"abort": True}, 0)):
            self.check(toolset, tool, arguments, lets=lets, tracked=False)

    def test_rebase_goes_on(self):
        """the same of a rebase, at its end"""
        self.conflict()
        self.git("checkout", "-q", "topic")
        self.settle("rebase", "main")
        for toolset, tool, arguments in (
                ("git", "git_commit", {"type": "feat", "message": "x"}),
                ("workflow", "git_commit", {"message": "x"}),
                ("everyday", "git_conflicts", {"action": "continue"}),
                ("everyday", "git_conflicts", {"action": "skip"})):
            self.check(toolset, tool, arguments, log="refs/heads/topic", tracked=False)

    def test_pull(self):
        """git_pull that merges, or rebases"""
        self.git("clone", "-q", "--bare", str(self.root), str(self.base / "hub.git"))
        self.git("remote", "add", "origin", str(self.base / "hub.git"))
        self.git("fetch", "-q", "origin")
        for toolset in ("workflow", "everyday"):
            for rebase in (False, True):
                self.check(toolset, "git_pull", {"branch": "topic", "rebase": rebase}, "--root",
                           str(self.base / "hub.git"))


if __name__ == "__main__":
    harness.main()
