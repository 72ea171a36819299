# SPDX-License-Identifier: Apache-2.0
"""Calls from and for a subdirectory, locks that hold a call up, and a log that is too long."""
import os
import subprocess

import harness


class Here(harness.Case):
    """Paths below a working directory."""

    def setUp(self):
        super().setUp()
        self.init()
        self.commit("tests/zz.c", "one\n", "second")
        self.write("tests/zz.c", "two\n")
        self.write("top.txt", "top\n")

    def test_hint(self):
        """a path that is there from the top is said to be, with the spelling that works"""
        for tool, arguments in (("git_add", {"paths": ["tests/zz.c"]}),
                                ("git_add", {"paths": ["zz.c", "tests/zz.c"]}),
                                ("git_restore", {"paths": ["tests/zz.c"]}),
                                ("git_checkout", {"paths": ["tests/zz.c"]}),
                                ("git_blame", {"path": "tests/zz.c"})):
            result = self.call(tool, {**arguments, "working_dir": "tests"})
            self.assertTrue(result.failed, tool)
            self.assertIn("'tests/zz.c' is relative to the top of the repository; with this "
                          "working_dir it is 'zz.c'", result.text, tool)
        result = self.call("git_add", {"paths": ["top.txt"], "working_dir": "tests"})
        self.assertIn(f"it is '{self.root}/top.txt'", result.text)
        self.ok("git_add", {"paths": [f"{self.root}/top.txt"], "working_dir": "tests"})
        self.ok("git_add", {"paths": ["zz.c"], "working_dir": "tests"})

    def test_no_hint(self):
        """what is nowhere gets no hint, and neither does a call at the top"""
        for arguments in ({"paths": ["nowhere"], "working_dir": "tests"}, {"paths": ["zz.c"]}):
            result = self.call("git_add", arguments)
            self.assertTrue(result.failed)
            self.assertNotIn("relative to the top", result.text)

    def test_call(self):
        """`airlock call` works in the directory where it is typed"""
        here = self.root / "tests"
        self.assertIn("Staged 1 file(s)", self.ok("git_add", {"paths": ["zz.c"]}, cwd=here).text)
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "tests/zz.c\n")
        self.git("reset", "-q")
        self.ok("git_add", {"paths": ["tests/zz.c"], "working_dir": "."}, cwd=here)
        self.assertTrue(self.call("git_add", {"paths": ["zz.c"], "cwd": "."}, cwd=here).failed)
        done = subprocess.run([harness.AIRLOCK, "call", "--approval=allow", "git_diff",
                               '{"cached": true, "paths": ["zz.c"], "name_only": true}'],
                              cwd=here, env=self.env, capture_output=True, check=True)
        self.assertEqual(done.stdout, b"tests/zz.c\n")

    def test_outside(self):
        """outside the roots the first root is where it works, as before"""
        self.assertIn("top.txt", self.ok("git_status", cwd=self.home).text)


class Locks(harness.Case):
    """An index.lock."""

    def setUp(self):
        super().setUp()
        self.init()
        self.write("b.txt", "b\n")
        self.lock = self.root / ".git/index.lock"

    def hold(self, age):
        """A lock of this age in seconds."""
        self.lock.write_bytes(b"")
        now = os.stat(self.lock).st_mtime
        os.utime(self.lock, (now - age, now - age))

    def says(self, word, approval="allow", **more):
        """The call is refused over the lock, in these words, and the lock stays."""
        result = self.call("git_add", {"paths": ["b.txt"], **more}, approval=approval)
        self.assertEqual((result.kind, result.error["code"]), ("ExecutionFailed", 7020), result)
        self.assertIn(word, result.text)
        self.assertTrue(self.lock.exists())

    def test_stale(self):
        """one whose git is gone is named as stale, with no time to wait in"""
        self.hold(120)
        self.says("index.lock is stale", timeout_ms=600000)
        self.says("index.lock is stale", approval="ask", timeout_ms=600000)
        self.lock.unlink()
        self.ok("git_add", {"paths": ["b.txt"]})

    def test_young(self):
        """a young one is waited for, and nobody is asked meanwhile"""
        self.hold(30)
        self.says("Another git process holds index.lock", timeout_ms=100)
        self.says("Another git process holds index.lock", approval="ask", timeout_ms=100)
        result = self.call("git_add", {"paths": ["b.txt"]}, approval="deny")
        self.assertEqual(result.kind, "ApprovalDenied")

    def test_told(self):
        """who waits in a terminal is told for what, and goes on when it is gone"""
        said = b"airlock: waiting for index.lock, which another git process holds\n"
        self.ok("git_add", {"paths": ["b.txt"]})
        for words in (("call", "--approval", "allow", "git_add", "all=true"),
                      ("rollback", "-y")):
            self.hold(0)
            with subprocess.Popen([harness.AIRLOCK, *words], cwd=self.root, env=self.env,
                                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE) as waiting:
                self.assertEqual(waiting.stderr.readline(), said)
                self.lock.unlink()
                self.assertEqual(waiting.stderr.read(), b"")
            self.assertEqual(waiting.returncode, 0)

    def test_open(self):
        """an old one that a process has open is waited for"""
        self.hold(120)
        with open(self.lock, "rb"):
            self.says("Another git process holds index.lock", timeout_ms=100)
        self.says("index.lock is stale", timeout_ms=100)

    def test_a_git_that_lives(self):
        """an old one is waited for while a git of this user works in the repository"""
        self.hold(120)
        (self.root / "deep").mkdir()
        with subprocess.Popen(["git", "cat-file", "--batch"], cwd=self.root / "deep", env=self.env,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as living:
            living.stdin.write(b"HEAD\n")
            living.stdin.flush()
            living.stdout.readline()
            self.says("Another git process holds index.lock", timeout_ms=100)
            living.stdin.close()
            living.stdout.read()
        self.says("index.lock is stale", timeout_ms=100)

    def test_elsewhere(self):
        """a git in another repository does not count"""
        self.hold(120)
        other = self.base / "other"
        self.init(other)
        with subprocess.Popen(["git", "cat-file", "--batch"], cwd=other, env=self.env,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as living:
            living.stdin.write(b"HEAD\n")
            living.stdin.flush()
            living.stdout.readline()
            self.says("index.lock is stale", timeout_ms=100)
            living.stdin.close()
            living.stdout.read()

    def test_asked_afterwards(self):
        """nobody is asked while it is held; when it goes the question comes"""
        self.hold(0)
        server = harness.AskingServer(self)
        number = server.ask("git_add", {"paths": ["b.txt"]})
        server.send(id="ping", method="ping")
        self.assertEqual(server.receive()["id"], "ping")
        self.lock.unlink()
        question = server.receive()
        self.assertEqual(question["method"], "elicitation/create")
        server.send(id=question["id"], result={"action": "accept", "content": {"decision": "once"}})
        self.assertEqual(server.receive()["id"], number)

    def test_reads(self):
        """what only reads does not care"""
        self.hold(120)
        self.ok("git_status")
        self.ok("git_diff")


class LongLog(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        for number in range(9):
            self.git("commit", "-q", "--allow-empty", "-m", f"commit {number} " + 60 * "x")

    def test_count(self):
        """a log that is cut says how many commits it shows, before the marker and in the cap"""
        narrow = "narrow with max_count, oneline, since, path, author or grep" + harness.MARKER
        for cap in (800, 1000):
            result = self.ok("git_log", {"max_bytes": cap})
            shown = result.text.count("\ncommit ") + 1
            self.assertLessEqual(len(result.text.encode()), cap)
            self.assertTrue(result.text.endswith(
                f"\n\nairlock: the first {shown} commits are here; " + narrow), result.text)
            self.assertTrue(self.out("log").startswith(
                result.text[:result.text.index("\n\nairlock: ")]))
        result = self.ok("git_log", {"max_bytes": 600, "oneline": True})
        self.assertIn("\n\nairlock: the first ", result.text)
        result = self.ok("git_log", {"max_bytes": 500, "format": "%H%n%B"})
        self.assertTrue(result.text.endswith("airlock: not all commits are here; " + narrow))

    def test_whole(self):
        """one that is whole says nothing, and where there is no room the marker has to do"""
        self.assertEqual(self.ok("git_log").text, self.out("log"))
        for cap in (10, 24, 60, 200):
            text = self.ok("git_log", {"max_bytes": cap}).text
            self.assertNotIn("airlock", text)
            self.assertLessEqual(len(text), max(cap, 24))


if __name__ == "__main__":
    harness.main()
