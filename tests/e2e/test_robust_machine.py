#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hardships of a machine for a program: things that are missing, full, locked or taken away.

Each is one clear line, nothing is half done, and the server goes on when the machine does.
"""
import json
import os
import pathlib
import shutil
import subprocess
import unittest

import harness

NOBODY = 65534


def can_mount():
    """Whether a private mount namespace with a small disk in it can be had."""
    script = 'mount -t tmpfs -o size=64k none "$1"'
    try:
        return subprocess.run(["unshare", "-m", "sh", "-c", script, "sh", "/tmp"],
                              capture_output=True, check=False).returncode == 0
    except OSError:
        return False


class MissingGit(harness.Case):
    MESSAGE = "git binary not available"

    def setUp(self):
        super().setUp()
        self.init()
        self.bin = self.base / "bin"
        self.bin.mkdir()
        self.path = {"PATH": str(self.bin)}

    def install(self):
        """A git of our own, taken into its place at once as a package manager does."""
        new = self.bin / "git.new"
        shutil.copy(shutil.which("git"), new)
        new.rename(self.bin / "git")

    def test_from_the_start(self):
        """no git on PATH is said when a tool is called, and the server lives"""
        server = harness.Server(self, env=self.path)
        for tool in ("git_status", "git_log", "git_diff"):
            server.refused("ExecutionFailed", self.MESSAGE, tool)
        server.refused("ExecutionFailed", self.MESSAGE, "git_add", {"all": True})
        server.send(id=1, method="ping")
        self.assertEqual(server.receive()["result"], {})
        self.refused("ExecutionFailed", self.MESSAGE, "git_status", env=self.path)

    def test_too_old(self):
        """a git before 2.38 is refused by name when a session begins, and by the doctor"""
        git = self.bin / "git"
        for version, works in (("2.37.7", False), ("2.38.0", True), ("2.39", True),
                               ("2.4.1", False), ("1.9", False), ("2.37.7", False)):
            git.write_text(f"#!/bin/sh\necho 'git version {version}'\n", encoding="ascii")
            git.chmod(0o755)
            line = f"airlock: '{git}' is git {version}, and airlock needs git 2.38 or newer\n"
            for words in (["serve"], ["call", "git_status"]):
                for _ in range(2):  # also when it is known
                    done = self.run_airlock(*words)
                    self.assertEqual(done.stderr == line and done.returncode == 2, not works, done)
            self.assertEqual(self.run_airlock("serve").returncode, 0 if works else 2)
            found = json.loads(self.run_airlock("doctor", "--json").stdout)[0]
            self.assertEqual((found["check"], found["state"]), ("git", f"{version} ({git})"))
            self.assertEqual((found["level"], found.get("fix")), ("ok", None) if works else (
                "missing", "Install git 2.38 or newer."))

    def run_airlock(self, *words):
        """airlock with the git of our own."""
        return subprocess.run([harness.AIRLOCK, *words], env=self.env | self.path, cwd=self.root,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              check=False, timeout=harness.WATCHDOG_SECONDS)

    def test_other_commands(self):
        """without git the version says so and the doctor fails, saying what to do"""
        for command, code, text in (("--version", 0, "git not found"), ("doctor", 1, "not found")):
            done = subprocess.run([harness.AIRLOCK, command], env=self.env | self.path,
                                  cwd=self.root, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, code, done)
            self.assertIn(text, done.stdout)
        self.assertIn("Install git", done.stdout)

    def test_taken_away(self):
        """a git that goes away while serving is missing until it is back"""
        self.install()
        server = harness.Server(self, env=self.path)
        server.assert_lives()
        (self.bin / "git").unlink()
        server.refused("ExecutionFailed", self.MESSAGE, "git_status")
        server.refused("ExecutionFailed", self.MESSAGE, "git_add", {"all": True})
        self.install()
        server.assert_lives()

    def test_upgraded(self):
        """a git that is replaced while serving is used"""
        self.install()
        server = harness.Server(self, env=self.path)
        server.assert_lives()
        self.install()
        server.assert_lives()

    def test_relative_path(self):
        """a git in the agent's own directory is not taken, however PATH names it"""
        shutil.copy(shutil.which("git"), self.root / "git")
        for path in (".", "", "root", ":"):
            self.refused("ExecutionFailed", self.MESSAGE, "git_status", env={"PATH": path})


class Roots(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()

    def assert_gone(self, server):
        """Calls fail in one line that names the root, and the server lives."""
        for tool in ("git_status", "git_log", "git_add"):
            more = {"paths": ["a.txt"]} if tool == "git_add" else {}
            result = server.call(tool, more)
            self.assertEqual(result.kind, "ExecutionFailed", result)
            self.assertNotIn("\n", result.text)
            self.assertIn(f"No such directory: {self.root}", result.text)
        server.send(id=1, method="ping")
        self.assertEqual(server.receive()["result"], {})

    def test_renamed_and_back(self):
        """a root that is moved away fails by name, and works when it is back"""
        server = harness.Server(self)
        server.assert_lives()
        self.root.rename(self.base / "away")
        self.assert_gone(server)
        (self.base / "away").rename(self.root)
        server.assert_lives()

    def test_made_anew(self):
        """a root that is removed and made again says what to do"""
        server = harness.Server(self)
        server.assert_lives()
        shutil.rmtree(self.root)
        self.assert_gone(server)
        self.root.mkdir()
        self.init()
        self.assert_gone(server)
        server.refused("ExecutionFailed", f"No such directory: {self.root} (the root was replaced "
                       "by another directory; start airlock again)", "git_status")
        harness.Server(self).assert_lives()

    def test_replaced_by_a_link(self):
        """a link in the place of a root leads nowhere"""
        server = harness.Server(self)
        server.assert_lives()
        self.root.rename(self.base / "away")
        outside = self.base / "outside"
        self.init(outside)
        self.root.symlink_to(outside)
        self.assert_gone(server)

    def test_another_root(self):
        """one root that is gone takes nothing from another"""
        other = self.base / "other"
        self.init(other)
        server = harness.Server(self, "--root", str(other))
        server.assert_lives(working_dir=str(other))
        shutil.rmtree(self.root)
        self.assert_gone(server)
        server.assert_lives(working_dir=str(other))
        self.write("b.txt", "b\n", other)
        server.ok("git_add", {"working_dir": str(other), "paths": ["b.txt"]})
        self.assertEqual(self.out("diff", "--cached", "--name-only", cwd=other), "b.txt\n")

    def as_nobody(self):
        """Options that run the program as a user without privileges who owns the files."""
        if os.geteuid():
            return {}
        for path in [self.base, *self.base.rglob("*")]:
            os.lchown(path, NOBODY, NOBODY)
        nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        try:
            subprocess.run([harness.AIRLOCK, "--help"], check=True, capture_output=True, **nobody)
        except (OSError, subprocess.CalledProcessError):
            self.skipTest("the program cannot be run by another user here")
        return nobody

    def test_unreadable(self):
        """a root that cannot be read fails by name, and works when it can"""
        server = harness.Server(self, **self.as_nobody())
        self.addCleanup(self.root.chmod, 0o700)
        server.assert_lives()
        self.root.chmod(0)
        self.assert_gone(server)
        self.root.chmod(0o700)
        server.assert_lives()

    def test_unreadable_from_the_start(self):
        """a root that cannot be read at the start is named in one line"""
        nobody = self.as_nobody()
        self.addCleanup(self.root.chmod, 0o700)
        self.root.chmod(0)
        done = subprocess.run([harness.AIRLOCK, "call", "--root", str(self.root), "git_status"],
                              env=self.env, cwd=self.base, capture_output=True, text=True,
                              check=False, **nobody)
        self.assertIn(done.returncode, (1, 2), done)
        self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
        self.assertIn(str(self.root), done.stderr)


class Disk(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.write("a.txt", "two\n")
        for number in range(8):
            self.write(f"file{number}.txt", f"{number} and some text\n" * 8192)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "second")

    def arguments(self):
        """A call that writes nine patches, of more than 100 kB each."""
        return harness.json.dumps({"from_ref": "HEAD~1", "to_ref": "HEAD", "output_dir": "out"})

    @unittest.skipUnless(can_mount(), "no private mount namespace")
    def test_full(self):
        """patches that do not fit on the disk: none of them is there"""
        script = ('mount -t tmpfs -o size="$1" none "$2" && cp -a "$3/." "$2" && cd "$2" && '
                  'shift 3 && "$@"; code=$?; find . -path ./.git -prune -o -path "./out*" -print; '
                  'exit $code')
        disk = self.base / "disk"
        disk.mkdir()
        found = {}
        for size in ("1300k", "64m"):
            done = subprocess.run(
                ["unshare", "-m", "sh", "-c", script, "sh", size, str(disk), str(self.root),
                 harness.AIRLOCK, "call", "--root", str(disk), "git_diff", self.arguments()],
                env=self.env, capture_output=True, text=True, check=False)
            found[size] = done
        self.assertEqual(found["64m"].returncode, 0, found)
        self.assertEqual(found["64m"].stdout.count("./out/"), 9)
        full = found["1300k"]
        self.assertEqual(full.returncode, 1, full)
        self.assertEqual(full.stderr.count("\n"), 1, full.stderr)
        self.assertIn("No space left on device", full.stderr)
        self.assertNotIn("./out/", full.stdout)

    def test_file_size_limit(self):
        """patches beyond the limit of a file's size: none of them is there"""
        done = subprocess.run(["prlimit", "--fsize=65536", harness.AIRLOCK, "call", "git_diff",
                               self.arguments()], env=self.env, cwd=self.root,
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("File too large", done.stderr)
        self.assertEqual(self.listing("out"), [])
        self.assertIn("file0.txt.patch", self.ok("git_diff", harness.json.loads(
            self.arguments())).text)

    def listing(self, name):
        """The files of a directory, which need not be there."""
        where = self.root / name
        return sorted(os.listdir(where)) if where.exists() else []


class State(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.write("b.txt", "b\n")
        self.state = pathlib.Path(self.env["XDG_STATE_HOME"])

    def assert_reads_only(self, **env):
        """Reads work with a warning, and what changes the repository is refused."""
        result = self.ok("git_status", env=env)
        self.assertIn("?? b.txt", result.text)
        self.assertIn("airlock: warning: the journal cannot be written, so only reading is "
                      "possible: ", result.stderr)
        result = self.call("git_add", {"paths": ["b.txt"]}, env=env)
        self.assertEqual(result.kind, "ExecutionFailed", result)
        self.assertIn("journal", result.text)
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")

    def test_journal_is_no_file(self):
        """a journal that cannot be written: reads go on, writes are refused"""
        (self.state / "airlock/tool_log.jsonl").mkdir(parents=True)
        self.assert_reads_only()

    def test_state_is_no_directory(self):
        """a state directory that cannot be made: reads go on, writes are refused"""
        self.state.parent.mkdir(parents=True, exist_ok=True)
        self.state.write_text("in the way\n")
        self.assert_reads_only()
        self.assertEqual(self.state.read_text(), "in the way\n")

    def test_journal_goes_away(self):
        """a journal that is removed while serving: reads go on, writes are refused"""
        server = harness.Server(self)
        server.assert_lives()
        journal = self.state / "airlock/tool_log.jsonl"
        journal.unlink()
        result = server.call("git_add", {"paths": ["b.txt"]})
        self.assertEqual(result.kind, "ExecutionFailed", result)
        self.assertIn("The journal cannot be written", result.text)
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        server.assert_lives()
        self.ok("git_add", {"paths": ["b.txt"]})

    def test_no_home(self):
        """without HOME and XDG variables everything works, with the home of the password file"""
        env = {name: value for name, value in self.env.items()
               if name != "HOME" and not name.startswith("XDG_")}
        done = subprocess.run([harness.AIRLOCK, "doctor"], env=env, cwd=self.root,
                              capture_output=True, text=True, check=False)
        self.assertIn("/.local/state/airlock/tool_log.jsonl", done.stdout)
        self.assertNotIn("(null)", done.stdout)

    def test_state_home(self):
        """XDG_STATE_HOME is where the journal is, and HOME is where it is without that"""
        elsewhere = self.base / "elsewhere"
        self.ok("git_status", env={"XDG_STATE_HOME": str(elsewhere)})
        self.assertTrue((elsewhere / "airlock/tool_log.jsonl").exists())
        self.assertFalse(self.state.exists())
        self.ok("git_status", env={"XDG_STATE_HOME": ""})
        self.assertTrue((self.home / ".local/state/airlock/tool_log.jsonl").exists())


if __name__ == "__main__":
    harness.main()
