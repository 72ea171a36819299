#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A fifo where git opens a file makes git wait for good: airlock answers, and names it.

Plain git is the control: it opens the fifo, and goes on only when a process writes.
"""
import contextlib
import os
import pathlib
import select
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # pylint: disable=wrong-import-position

NAMED = "'{}' is a fifo or a device, and git waits for what it opens there; remove it"
BOTH = {"staged": True, "worktree": True}
MS = 6000  # of which a checkpoint's git gets a quarter


class Waits(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("side.txt", "side\n", "beside")
        self.git("checkout", "-q", "-")
        self.commit("d/b.txt", "b\n", "second")
        self.write("a.txt", "changed\n")
        self.write("new/deep/c.txt", "c\n")

    def plant(self, name, verb="status"):
        """The fifo; plain git waits for it."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(path)
        with subprocess.Popen(["git", verb], cwd=self.root, env=self.env,
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL) as git:
            os.close(os.open(path, os.O_WRONLY))  # which returns when git has opened it
            git.kill()
        (self.root / ".git/index.lock").unlink(missing_ok=True)
        return path

    def mark(self):
        """With a marked entry the checkpoint is about the whole tree, which git has to list."""
        self.git("update-index", "--assume-unchanged", "d/b.txt")

    def test_checkpoint(self):
        """what would lose something is refused, naming the fifo, and loses nothing"""
        self.mark()
        for name in (".gitignore", "d/.gitignore", "new/deep/.gitignore"):
            path = self.plant(name)
            self.refused("ExecutionFailed", "No checkpoint can be taken: " + NAMED.format(name),
                         "git_restore", {"paths": ["a.txt"], "timeout_ms": MS, **BOTH})
            self.assertEqual((self.root / "a.txt").read_text(), "changed\n")
            self.assert_nobody_reads(path)
            path.unlink()
        self.ok("git_restore", {"paths": ["a.txt"], **BOTH})

    def test_parts(self):
        """a checkpoint of some files opens no fifo beside them"""
        path = self.plant("new/.gitignore")
        self.ok("git_add", {"paths": ["d/b.txt"], "timeout_ms": MS})
        self.ok("git_restore", {"paths": ["a.txt"], "timeout_ms": MS})
        self.assertEqual((self.root / "a.txt").read_text(), "one\n")
        self.assert_nobody_reads(path)

    def test_adding(self):
        """what only adds goes on with a warning"""
        self.mark()
        self.plant("new/.gitignore")
        result = self.ok("git_checkout", {"branch": "side", "timeout_ms": MS})
        self.assertIn(NAMED.format("new/.gitignore"), result.stderr)
        self.assertTrue((self.root / "side.txt").exists())

    def test_reading(self):
        """a reading call takes its time and says why"""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("[tools.git]\ntimeout_ms = 1000\n", encoding="utf-8")
        for name, verb, toolset in (("d/.gitignore", "status", "git"),
                                    (".gitattributes", "diff", "git"),
                                    ("new/.gitignore", "status", "workflow")):
            path = self.plant(name, verb)
            result = self.call("git_" + verb, {}, "--toolset", toolset)
            self.assertEqual(result.kind, "Timeout", result)
            self.assertEqual(result.text.splitlines(), [
                "git command timed out after 1000ms", NAMED.format(name)])
            self.assertEqual(result.error["message"], "git command timed out after 1000ms")
            self.assert_nobody_reads(path)
            path.unlink()

    def test_odd_name(self):
        """the name is made safe for a terminal"""
        self.plant("d\n\x1b[31m/.gitignore")
        result = self.call("git_status", {"timeout_ms": 1000})
        self.assertEqual(len(result.text.splitlines()), 2, result)
        self.assertNotIn("\x1b", result.text)

    def lister(self, server, *others):
        """The process of the checkpoint's git, once there is one that is none of the others."""
        while not select.select([server.process.stdout], [], [], 0)[0]:
            for pid in self.processes_in(self.root):
                with contextlib.suppress(OSError):
                    words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
                    if b"--exclude-standard" in words and pid not in others:
                        return pid
            os.sched_yield()
        self.fail(f"no such git: {server.receive()}")

    def test_slow(self):
        """a git that is slow, with no such fifo in the tree, begins again and gets all the time"""
        self.mark()
        (self.root / ".git/info/exclude").unlink(missing_ok=True)  # so that the store has no copy
        server = harness.Server(self)
        server.ok("git_restore", {"paths": ["a.txt"]})
        self.write("a.txt", "changed\n")
        [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
        pipe = store / "info/exclude"
        os.mkfifo(pipe)
        server.ask("git_stash", {"action": "push", "timeout_ms": MS})
        self.lister(server, self.lister(server))
        writer = os.open(pipe, os.O_WRONLY)  # which returns when the second one has opened it
        pipe.unlink()
        os.close(writer)
        result = harness.Result(server.receive()["result"])
        self.assertFalse(result.failed, result)
        self.assertEqual((self.root / "a.txt").read_text(), "one\n")
        self.assertIsNotNone(self.record()["git_commit"])

    def test_others(self):
        """fifos of other names, and files and directories of these, hold nobody up"""
        os.mkfifo(self.root / "d/fifo")
        os.mkfifo(self.root / "gitignore")
        self.write("new/.gitignore", "*.o\n")
        (self.root / "new/deep/.gitignore").mkdir()
        os.symlink("../gitignore", self.root / "d/.gitignore")  # git follows none
        self.ok("git_status")
        self.ok("git_restore", {"paths": ["a.txt"]})
        self.assertEqual((self.root / "a.txt").read_text(), "one\n")


if __name__ == "__main__":
    harness.main()
