#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Work that no checkpoint has is not thrown away.

What an agent can do to have a file left out of a checkpoint, and everything that would then
overwrite it.  Each time git does it first, which shows that the work would be lost.
"""
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # pylint: disable=wrong-import-position

LIMIT = 1000
LARGE = "x" * LIMIT + "\n"
COMMAND = ("--toolset", "shell", "--tool=command")
WORKFLOW = ("--toolset", "workflow")


class Discards(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        path = self.home / ".config/airlock/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"[journal]\nmax_file_bytes = {LIMIT}\n", encoding="ascii")

    def text(self, name):
        """What is in a file."""
        return (self.root / name).read_text(encoding="utf-8")

    def keeps(self, name, tool, arguments, *options, control):
        """git overwrites the file; airlock refuses, naming it, and nothing changed."""
        before = self.text(name)
        held = {path: path.read_bytes() for path in self.root.rglob("*") if path.is_file()}
        self.git(*control)
        self.assertNotEqual((self.root / name).is_file() and self.text(name), before,
                            "the control is safe")
        self.restore(held)
        result = self.call(tool, arguments, *options)
        self.assertEqual((result.kind, result.error and result.error["code"]),
                         ("ExecutionFailed", 7001), (tool, arguments, result))
        self.assertIn(f"'{name}'", result.text)
        self.assertEqual(self.text(name), before, (tool, arguments))

    def restore(self, held):
        """Every file as it was; directories that were made go."""
        for path in sorted(self.root.rglob("*"), reverse=True):
            if path.is_dir() and not path.is_symlink():
                if not any(path in other.parents for other in held):
                    path.rmdir()
            elif path not in held:
                path.unlink()
        for path, data in held.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            if not path.is_file() or path.read_bytes() != data:
                path.unlink(missing_ok=True)
                path.write_bytes(data)

    def test_too_large(self):
        """a changed file over max_file_bytes: nothing that discards it goes ahead"""
        self.commit("d/big", "small\n", "big")
        self.write("d/big", LARGE)
        for words in (["d/big"], ["d"], ["."], ["d/*"]):
            self.keeps("d/big", "git_restore", {"paths": words}, control=("restore", "d/big"))
        self.keeps("d/big", "git_checkout", {"paths": ["d"]}, control=("checkout", "--", "d/big"))
        self.keeps("d/big", "git_restore", {"paths": ["."], "staged": True},
                   control=("restore", "--staged", "--worktree", "d/big"))
        self.keeps("d/big", "git_restore", {"paths": ["big"], "working_dir": "d"},
                   control=("restore", "d/big"))
        for arguments in ({"target": "HEAD", "paths": ["d/big"]}, {"target": "HEAD", "paths": ["."]},
                          {"target": "HEAD", "paths": ["d"], "force": True},
                          {"target": "main", "force": True},
                          {"target": "new", "create": True, "force": True}):
            self.keeps("d/big", "git_checkout", arguments, *WORKFLOW,
                       control=("checkout", "-f", "HEAD"))

    def test_at_the_limit(self):
        """one at the limit is discarded, and comes back; so is what is beside a large one"""
        self.commit("a", "a\n", "a")
        self.commit("big", LARGE + "committed\n", "big")
        self.write("a", "x" * LIMIT)
        self.write("untracked", LARGE)
        self.write("ignored", LARGE)
        self.write(".gitignore", "ignored\n")
        for tool, arguments, options in (
                ("git_restore", {"paths": ["a"]}, ()), ("git_restore", {"paths": ["."]}, ()),
                ("git_checkout", {"paths": ["a"]}, ()),
                ("git_restore", {"paths": ["a"], "staged": True}, ()),
                ("git_checkout", {"target": "HEAD", "paths": ["."]}, WORKFLOW),
                ("git_checkout", {"target": "main", "force": True}, WORKFLOW)):
            self.write("a", "x" * LIMIT)
            self.ok(tool, arguments, *options)
            self.assertEqual(self.text("a"), "a\n")
            done = subprocess.run([harness.AIRLOCK, "rollback"], cwd=self.root, env=self.env,
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(self.text("a"), "x" * LIMIT, (tool, arguments))
        self.assertEqual(self.text("untracked"), LARGE)

    def test_ignored(self):
        """an ignored file in the way of a commit's: neither a switch nor paths overwrite it"""
        self.git("checkout", "-q", "-b", "side")
        self.commit("build/out", "theirs\n", "side")
        self.git("checkout", "-q", "main")
        self.commit(".gitignore", "build\nout\n", "ignore")
        self.write("build/out", "mine\n")
        for arguments in ({"target": "side", "paths": ["build/out"]},
                          {"target": "side", "paths": ["."]}, {"target": "side", "force": True}):
            self.keeps("build/out", "git_checkout", arguments, *WORKFLOW,
                       control=("checkout", "-f", "side", "--", "build"))
            self.git("reset", "-q")
        self.git("tag", "other", "main")
        self.git("branch", "other", "side")
        for word in ("refs/heads/side", "side~0", self.out("rev-parse", "side").strip(), "other"):
            self.keeps("build/out", "git_checkout", {"target": word, "force": True}, *WORKFLOW,
                       control=("checkout", "-f", "side", "--", "build"))
            self.git("reset", "-q")
        for arguments, options in (({"branch": "side"}, ()), ({"commit": "side"}, ()),
                                   ({"target": "side"}, WORKFLOW)):
            result = self.call("git_checkout", arguments, *options)
            self.assertIn("overwritten", result.text, (arguments, result))
            self.assertEqual(self.text("build/out"), "mine\n")
            self.assertEqual(self.out("branch", "--show-current").strip(), "main")
        (self.root / "build/out").unlink()
        self.ok("git_checkout", {"branch": "side"})
        self.assertEqual(self.text("build/out"), "theirs\n")

    def test_ignored_remote(self):
        """the same where git makes the branch of one that a remote has, and its name is no commit"""
        self.git("checkout", "-q", "-b", "side")
        self.commit("build/out", "theirs\n", "side")
        self.git("checkout", "-q", "main")
        self.commit(".gitignore", "build\n", "ignore")
        self.write("build/out", "mine\n")
        self.git("remote", "add", "origin", "https://example.com/r")
        self.git("update-ref", "refs/remotes/origin/topic", "side")
        self.keeps("build/out", "git_checkout", {"target": "topic", "force": True}, *WORKFLOW,
                   control=("checkout", "-q", "-f", "topic"))

    def test_ignored_in_place_of(self):
        """an ignored file where a directory is to be, and one in a directory where a file is to be"""
        self.git("checkout", "-q", "-b", "side")
        self.commit("x/y", "theirs\n", "directory")
        self.commit("z", "theirs\n", "file")
        self.git("checkout", "-q", "main")
        self.commit(".gitignore", "x\nkept\n", "ignore")
        self.write("x", "mine\n")
        self.keeps("x", "git_checkout", {"target": "side", "paths": ["x"]}, *WORKFLOW,
                   control=("checkout", "-f", "side", "--", "x"))
        self.git("reset", "-q")
        (self.root / "x").unlink()
        self.write("z/deep/kept", "mine\n")
        self.keeps("z/deep/kept", "git_checkout", {"target": "side", "paths": ["z"]}, *WORKFLOW,
                   control=("checkout", "-f", "side", "--", "z"))

    def test_no_longer_tracked(self):
        """a file that left the index and is ignored: what restores it from HEAD can be undone"""
        self.commit("a.log", "old\n", "log")
        self.git("rm", "-q", "--cached", "a.log")
        self.write(".gitignore", "*.log\n")
        self.write("a.log", "mine\n")
        self.git("restore", "--staged", "--worktree", "a.log")  # the control
        self.assertEqual(self.text("a.log"), "old\n")
        self.git("rm", "-q", "--cached", "a.log")
        self.write("a.log", "mine\n")
        result = self.call("git_restore", {"paths": ["a.log"], "staged": True})
        if not result.failed:  # a checkpoint that had it once has it still
            subprocess.run([harness.AIRLOCK, "rollback", "--yes"], cwd=self.root, env=self.env,
                           stdin=subprocess.DEVNULL, capture_output=True, check=True)
        self.assertEqual(self.text("a.log"), "mine\n")
        self.git("rm", "-q", "--cached", "a.log", check=False)
        self.ok("git_restore", {"paths": ["a.log"], "staged": True, "worktree": False})
        self.assertEqual(self.text("a.log"), "mine\n")

    def test_conflict(self):
        """half a resolution that is too large: neither an abort nor a side takes it away"""
        self.commit("f", "base\n", "base")
        self.git("checkout", "-q", "-b", "side")
        self.commit("f", "theirs\n", "side")
        self.git("checkout", "-q", "main")
        self.commit("f", "ours\n", "main")
        self.git("merge", "-q", "side", check=False)
        self.write("f", LARGE)
        for tool, arguments in (("git_resolve_conflict", {"path": "f", "strategy": "ours"}),
                                ("git_merge", {"branch": "", "abort": True})):
            self.keeps("f", tool, arguments, *WORKFLOW, control=("checkout", "--ours", "f"))
        self.write("f", "half\n")
        self.ok("git_merge", {"branch": "", "abort": True}, *WORKFLOW)
        self.assertEqual(self.text("f"), "ours\n")

    def test_redirect(self):
        """a redirect of a command: what it writes over is in the checkpoint, or it is refused"""
        self.write(".gitignore", "*.log\n")
        for name, text in (("d/big", LARGE), ("d/a.log", "mine\n")):
            self.write(name, "control\n")
            subprocess.run(["sh", "-c", f"ls nothing > {name}"], cwd=self.root, check=False,
                           stderr=subprocess.DEVNULL)
            self.assertEqual(self.text(name), "", "the control is safe")
            self.write(name, text)
            for word in (name, f"./{name}", f"d/../{name}", str(self.root / name)):
                for sign in (">", "2>"):
                    result = self.call("bash_command", {"command": f"ls nothing {sign} {word}",
                                                        "reason": "x"}, *COMMAND)
                    self.assertTrue(result.failed, (word, sign, result))
                    self.assertEqual(self.text(name), text, (word, sign))
            result = self.call("bash_command", {"command": f"echo x > {name}", "reason": "x"},
                               *COMMAND)
            self.assertEqual(result.error["code"], 7001, result)
            self.ok("bash_command", {"command": f"echo x >> {name}", "reason": "x"}, *COMMAND)
            self.assertEqual(self.text(name), text + "x\n")
        for name in ("a.txt", "d/new", "new.log"):
            self.ok("bash_command", {"command": f"echo x > {name}", "reason": "x"}, *COMMAND)
            self.assertEqual(self.text(name), "x\n")

    def test_unreadable(self):
        """a file whose permissions were taken away is not overwritten"""
        if not os.geteuid():
            self.skipTest("root reads everything")
        self.write("a.txt", "mine\n").chmod(0)
        result = self.call("git_restore", {"paths": ["a.txt"]})
        self.assertEqual(result.error["code"], 7001, result)

    def test_warned(self):
        """on_snapshot_failure = "warn": it goes ahead, and says what is lost"""
        with open(self.home / ".config/airlock/config.toml", "a", encoding="ascii") as file:
            file.write('on_snapshot_failure = "warn"\n')
        self.write("a.txt", LARGE)
        result = self.ok("git_restore", {"paths": ["a.txt"]})
        self.assertIn("'a.txt' would be lost", result.stderr)
        self.assertEqual(self.text("a.txt"), "one\n")


class Restless(harness.Case):
    """A file that another process writes while it is read."""

    def setUp(self):
        super().setUp()
        self.init()
        self.body = b"a line of a large file, 32 bytes\n"[1:] * (24 << 15)
        self.write("big", self.body[:-1])
        self.git("add", "big")
        self.git("commit", "-q", "-m", "big")
        self.write("big", self.body)

    def busy(self, step):
        """A process that does something to the file for ever."""
        program = f"import os, sys\nwhile True:\n    {step}\n    sys.stdout.write('.'); sys.stdout.flush()\n"
        process = subprocess.Popen([sys.executable, "-c", program], cwd=self.root,
                                   stdout=subprocess.PIPE)
        drain = []
        self.addCleanup(lambda: [one.wait() for one in (process, *drain)])
        self.addCleanup(process.kill)  # first of all: the others end when it has
        process.stdout.read(1)
        drain.append(subprocess.Popen(["cat"], stdin=process.stdout, stdout=subprocess.DEVNULL))
        process.stdout.close()
        return process

    def test_times(self):
        """its times are touched in a loop: it is in the checkpoint all the same"""
        process = self.busy("os.utime('big')")
        self.ok("git_checkout", {"target": "HEAD", "paths": ["big"]}, *WORKFLOW)
        process.kill()
        process.wait()
        self.assertEqual((self.root / "big").stat().st_size, len(self.body) - 1)
        done = subprocess.run([harness.AIRLOCK, "rollback", "--force"], cwd=self.root, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual((self.root / "big").read_bytes(), self.body)

    def test_content(self):
        """its content changes in a loop: what discards it is refused, naming it"""
        process = self.busy("fd = os.open('big', os.O_WRONLY); os.pwrite(fd, os.urandom(64), 0); "
                            "os.close(fd)")
        result = self.call("git_checkout", {"target": "HEAD", "paths": ["big"]}, *WORKFLOW)
        process.kill()
        process.wait()
        self.assertEqual((result.kind, result.error["code"]), ("ExecutionFailed", 7001), result)
        self.assertIn("'big'", result.text)
        self.assertEqual((self.root / "big").stat().st_size, len(self.body))


if __name__ == "__main__":
    harness.main()
