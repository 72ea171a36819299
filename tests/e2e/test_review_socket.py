#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The socket of airlock review: where it is, what is in its way, and what peers may send to it."""
import fcntl
import json
import os
import pathlib
import signal
import stat

import harness
import reviewing
from test_robust_terminal import Terminal

ADD = {"paths": ["a.txt"]}


class OnTerminal(reviewing.ReviewCase):
    """`airlock call` asks on its terminal and in airlock review."""

    def test_answered(self):
        """airlock review answers what the terminal asks"""
        for words, code, text in ((("approve",), 0, "Staged 1 file(s)"),
                                  (("reject",), 3, "Not approved, and nothing was done")):
            terminal = Terminal(self, "git_add", ADD, NO_COLOR="1")
            terminal.asked()
            entry = self.the_one()
            self.assertEqual((entry["tool"], entry["agent"]), ("git_add", None))
            self.review(*words, entry["id"])
            self.assertEqual(terminal.end(), code)
            self.assertIn(text, terminal.screen)
            self.git("reset", "-q")
        self.assertEqual(list(self.sockets.iterdir()), [])

    def test_no_always(self):
        """one call offers no "always": the question goes on waiting"""
        terminal = Terminal(self, "git_add", ADD, NO_COLOR="1")
        terminal.asked()
        entry = self.the_one()
        self.assertIn("offers no 'always'",
                      self.review("approve", entry["id"], "--always", code=1))
        self.assertEqual(self.the_one(), entry)
        self.assertEqual(terminal.answer("o\n").end(), 0)
        self.review("approve", entry["id"], code=1)

    def test_silent(self):
        """a call that asks nothing makes no socket"""
        self.ok("git_status")
        self.assertFalse(self.sockets.exists())


class Attending(reviewing.ReviewCase):
    """A review that attaches to every process."""

    def lock(self, directory):
        """What such a review holds; gives its file."""
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        file = (directory / "review.lock").open("w+")
        self.addCleanup(file.close)
        fcntl.lockf(file, fcntl.LOCK_SH)
        return file


class NewServer(Attending):
    """A server begins while a review lives, which has not found it yet."""

    def test_waits(self):
        """the first call waits, and the review that comes later answers it"""
        self.lock(self.sockets)
        for decision, text in (("once", "Staged 1 file(s)"), ("reject", "Rejected: no")):
            server = harness.Server(self, "--approval", "ask")
            server.send(id=7, method="tools/call", params={
                "name": "git_add", "arguments": ADD, "_meta": {"progressToken": "p"}})
            self.assertEqual(server.receive()["params"]["message"],
                             "waiting for approval in airlock review")
            attached = reviewing.Attached(self, server.process.pid)
            self.assertEqual(attached.shown, [self.the_one()])
            attached.answer(attached.shown[0]["id"], decision, reason="no")
            while "result" not in (message := server.receive()):
                self.assertEqual(message["method"], "notifications/progress")
            self.assertEqual(harness.Result(message["result"]).text, text)
            self.git("reset", "-q")

    def test_over(self):
        """a review that never comes: the call ends after wait_s"""
        config = self.home / ".config/airlock/config.toml"
        config.write_text('toolsets = ["git"]\n[tools.approval]\nwait_s = 1\n')
        self.lock(self.sockets)
        result = harness.Server(self, "--approval", "ask").call("git_add", ADD)
        self.assertEqual(result.kind, "ApprovalRequired")
        self.assertIn("nobody answered within 1 s", result.text)

    def test_dead(self):
        """a review that has died, or closes before the call, is none: the call ends at once"""
        file = self.lock(self.sockets)
        server = harness.Server(self, "--approval", "ask")
        file.close()
        result = server.call("git_add", ADD)
        self.assertEqual(result.kind, "ApprovalRequired")
        self.assertNotIn("nobody answered", result.text)
        self.assertEqual(self.staged(), [])


class WithoutTerminal(Attending):
    """`airlock call` has no terminal, and a review lives that attaches to every process."""

    def begin(self):
        """git_add, once it waits; gives the process and the entry."""
        process = reviewing.subprocess.Popen(
            [harness.AIRLOCK, "call", "git_add", "paths=a.txt"], cwd=self.root, env=self.env,
            stdin=reviewing.subprocess.DEVNULL, stdout=reviewing.subprocess.PIPE,
            stderr=reviewing.subprocess.PIPE, text=True, start_new_session=True)
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        self.assertEqual(process.stderr.readline(),
                         "airlock: waiting for approval in airlock review\n")
        return process, self.the_one()

    def test_waits(self):
        """the call waits for the review, in either directory"""
        for directory in (self.sockets, self.home / ".local/state/airlock/review"):
            file = self.lock(directory)
            process, entry = self.begin()
            self.review("approve", entry["id"])
            self.assertEqual(process.communicate(), ("Staged 1 file(s)\n", ""))
            self.assertEqual(process.returncode, 0)
            self.git("reset", "-q")
            file.close()

    def test_rejected(self):
        """a rejection is exit 3"""
        self.lock(self.sockets)
        process, entry = self.begin()
        self.review("reject", entry["id"], "no")
        self.assertEqual(process.communicate()[1], "ApprovalDenied: Rejected: no\n")
        self.assertEqual(process.returncode, 3)

    def test_dead(self):
        """a review that has died is none"""
        file = self.lock(self.sockets)
        file.close()
        self.assertEqual(self.call("git_add", ADD, approval="ask").kind, "ApprovalRequired")
        self.assertEqual([entry.name for entry in self.sockets.iterdir()], ["review.lock"])

    def test_nobody(self):
        """without one the call fails at once, and makes no directory"""
        self.assertEqual(self.call("git_add", ADD, approval="ask").kind, "ApprovalRequired")
        self.assertFalse(self.sockets.exists())


class Places(reviewing.ReviewCase):
    """Where the socket is, and what is in its way."""

    def test_modes(self):
        """the directory and the socket are the user's alone, and the end removes the socket"""
        os.umask(0)
        self.addCleanup(os.umask, 0o022)
        server = harness.AskingServer(self)
        path = self.sockets / f"{server.process.pid}.sock"
        self.assertEqual(stat.S_IMODE(self.sockets.stat().st_mode), 0o700)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertTrue(stat.S_ISSOCK(path.stat().st_mode))
        server.close()
        self.assertFalse(path.exists())

    def test_signal(self):
        """SIGTERM removes the socket too"""
        server = harness.AskingServer(self)
        server.process.send_signal(signal.SIGTERM)
        server.process.wait()
        self.assertEqual(list(self.sockets.iterdir()), [])

    def test_killed(self):
        """a server that is killed while a question waits leaves nothing that waits"""
        server = harness.AskingServer(self)
        server.ask("git_add", ADD)
        server.receive()
        entry = self.the_one()
        server.process.kill()
        server.process.wait()
        self.assertEqual(len(list(self.sockets.iterdir())), 1)
        self.review("approve", entry["id"], code=1)
        self.assertEqual(self.waiting(), [])
        self.assertEqual(list(self.sockets.iterdir()), [])
        self.assertEqual(self.staged(), [])

    def test_stopped(self):
        """a process that does not answer is named, and hides no other one"""
        servers = [harness.AskingServer(self) for _ in range(2)]
        for server in servers:
            server.ask("git_add", ADD)
            server.receive()
        servers[0].process.send_signal(signal.SIGSTOP)
        tasks = pathlib.Path(f"/proc/{servers[0].process.pid}/task")
        while any(") T " not in (task / "stat").read_text() for task in tasks.iterdir()):
            pass
        self.addCleanup(servers[0].process.send_signal, signal.SIGCONT)
        done = reviewing.subprocess.run([harness.AIRLOCK, "review", "--list", "--json"],
                                        env=self.env, capture_output=True, check=True)
        self.assertEqual(len(json.loads(done.stdout)), 1)
        self.assertIn(f"process {servers[0].process.pid} does not answer", done.stderr.decode())

    def test_no_session(self):
        """without XDG_RUNTIME_DIR the sockets are below the state directory, and are found"""
        state = self.home / ".local/state/airlock/review"
        for value in ("", "relative", str(self.home / "missing/dir")):
            env = {"XDG_RUNTIME_DIR": value}
            server = harness.AskingServer(self, env=env)
            server.ask("git_add", ADD)
            server.receive()
            self.assertTrue((state / f"{server.process.pid}.sock").exists(), value)
            self.assertEqual(self.the_one(env=env), self.the_one())
            server.close()

    def test_long_path(self):
        """a path that is too long for a socket's address is none"""
        runtime = self.home / ("d" * 200)
        runtime.mkdir()
        env = {"XDG_RUNTIME_DIR": str(runtime)}
        server = harness.AskingServer(self, env=env)
        server.ask("git_add", ADD)
        form = server.receive()["id"]
        self.review("approve", self.the_one(env=env)["id"], env=env)
        self.assertEqual(server.receive()["params"]["requestId"], form)
        self.assertFalse(harness.Result(server.receive()["result"]).failed)

    def refused(self, why):
        """The server says in one line why airlock review cannot reach it, and asks all the same."""
        errors = self.base / "stderr"
        with errors.open("wb") as file:
            server = Loud(self, file)
        server.ask("git_add", ADD)
        form = server.receive()
        server.send(id=form["id"], result={"action": "accept", "content": {"decision": "once"}})
        self.assertFalse(harness.Result(server.receive()["result"]).failed)
        server.close()
        self.assertEqual(errors.read_text(), "airlock: warning: airlock review cannot answer "
                                             f"questions: '{self.sockets}' {why}\n")
        self.git("reset", "-q")

    def test_link(self):
        """a link, a file and another user's directory are not used"""
        elsewhere = self.home / "elsewhere"
        elsewhere.mkdir()
        self.sockets.symlink_to(elsewhere)
        self.refused("is a link or a file; remove it")
        self.assertIn("is a link or a file", self.review_notes())
        self.sockets.unlink()
        self.sockets.write_text("")
        self.refused("is a link or a file; remove it")
        self.assertEqual(list(elsewhere.iterdir()), [])
        if os.geteuid() == 0:
            self.sockets.unlink()
            self.sockets.mkdir()
            os.chown(self.sockets, 1, 1)
            self.refused("belongs to another user; remove it")

    def review_notes(self):
        """What airlock review says on standard error."""
        return reviewing.subprocess.run([harness.AIRLOCK, "review"], env=self.env,
                                        capture_output=True, check=True).stderr.decode()

    def test_open_directory(self):
        """a directory of the user that is open to others is closed"""
        self.sockets.mkdir(mode=0o777)
        self.sockets.chmod(0o777)
        harness.AskingServer(self)
        self.assertEqual(stat.S_IMODE(self.sockets.stat().st_mode), 0o700)


class Loud(harness.AskingServer):
    """A server whose standard error goes to a file."""

    def __init__(self, case, errors):
        popen = harness.subprocess.Popen
        try:
            harness.subprocess.Popen = lambda *words, **named: popen(
                *words, **(named | {"stderr": errors}))
            super().__init__(case)
        finally:
            harness.subprocess.Popen = popen


class Protocol(reviewing.ReviewCase):
    """What a peer sends that is no request costs it the connection, and nobody else anything."""

    def setUp(self):
        super().setUp()
        self.server = harness.AskingServer(self)
        self.server.ask("git_add", ADD)
        self.server.receive()
        self.entry = self.the_one()

    def door(self):
        """A connection."""
        return reviewing.Door(self, self.server.process.pid)

    def test_malformed(self):
        """what is no request is refused, and the question goes on waiting"""
        number = self.entry["id"]
        for line in (b"\n", b"{}\n", b"[]\n", b"\xff\n", b'{"do":"list"\n', b'{"do":1}\n',
                     b'{"do":"list","do":"list"}\n', b'{"do":"List"}\n', b"GET / HTTP/1.1\r\n\r\n",
                     b'{"do":"answer"}\n', b'{"do":"answer","id":"%s"}\n' % number.encode(),
                     b'{"do":"answer","id":"%s","decision":"yes"}\n' % number.encode(),
                     b'{"do":"answer","id":["%s"],"decision":"once"}\n' % number.encode(),
                     b'{"do":"answer","decision":"once"}\n'):
            door = self.door()
            door.raw(line)
            self.assertEqual(list(door.receive()), ["error"], line)
            self.assertIsNone(door.receive(), line)
        for wrong in ("", number[:7], number + "0", number.upper() + "x", "%"):
            self.assertEqual(self.door().answer(wrong, "once"), {"gone": wrong})
        self.assertEqual(self.the_one(), self.entry)

    def test_long_request(self):
        """a request may have 16 KiB, and not one byte more"""
        request = b'{"do":"list","x":"%s"}'
        room = 16 * 1024 - len(request % b"")
        for size, key in ((room - 1, "entry"), (room, "entry"), (room + 1, "error")):
            door = self.door()
            door.raw(request % (b"x" * size) + b"\n")
            self.assertIn(key, door.receive())
        endless = self.door()
        endless.raw(b"x" * (16 * 1024 + 1))
        self.assertIn("error", endless.receive())

    def test_idle(self):
        """connections that say nothing keep nobody out"""
        idle = [self.door() for _ in range(40)]
        self.assertEqual(self.the_one(), self.entry)
        self.assertEqual(idle[-1].send(do="list").entry(), self.entry)

    def test_crowded(self):
        """a process that has no room for one more is named, and is asked when it has room again"""
        self.server.process.send_signal(signal.SIGSTOP)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(self.server.process.pid, os.WUNTRACED)[1]))
        crowd = []
        try:
            while True:
                crowd.append(reviewing.socket.socket(reviewing.socket.AF_UNIX))
                crowd[-1].setblocking(False)
                crowd[-1].connect(str(self.sockets / f"{self.server.process.pid}.sock"))
        except BlockingIOError:
            pass
        done = reviewing.subprocess.run(
            [harness.AIRLOCK, "review", "--list"], env=self.env, capture_output=True, text=True,
            stdin=reviewing.subprocess.DEVNULL, check=False, timeout=harness.WATCHDOG_SECONDS)
        self.server.process.send_signal(signal.SIGCONT)
        self.assertIn("cannot be asked: too many others ask it", done.stderr)
        self.assertEqual(self.the_one(), self.entry)
        for connection in crowd:
            connection.close()

    def test_attached(self):
        """32 reviews are attached at most, and one more is told"""
        attached = [reviewing.Attached(self, self.server.process.pid) for _ in range(32)]
        self.assertEqual(self.door().receive(), {"error": "too many reviews are attached"})
        attached.pop().socket.close()
        while "error" in (message := self.door().send(do="attach").receive()):
            pass  # its end is not seen yet
        self.assertEqual(message["entry"], self.entry)

    def test_deaf(self):
        """a peer that reads nothing keeps nobody waiting"""
        deaf = self.door()
        deaf.socket.setblocking(False)
        try:
            for _ in range(100000):
                deaf.raw(b'{"do":"list"}\n')
        except BlockingIOError:
            pass
        self.assertEqual(self.the_one(), self.entry)
        self.review("approve", self.entry["id"])
        self.server.receive()
        self.assertFalse(harness.Result(self.server.receive()["result"]).failed)

    def test_pieces(self):
        """a request may come in pieces, and several at once"""
        door = self.door()
        for byte in b'{"do":"list"}\n':
            door.raw(bytes([byte]))
        self.assertEqual([door.entry(), door.receive()], [self.entry, {"end": True}])
        door.raw(b'{"do":"list"}\n{"do":"list"}\n')
        for _ in range(2):
            self.assertEqual([door.entry(), door.receive()], [self.entry, {"end": True}])


class Words(reviewing.ReviewCase):
    """The command line."""

    def test_nothing(self):
        """nothing waits where nothing runs"""
        self.assertEqual(self.waiting(), [])
        self.assertEqual(self.review(), "Nothing waits for an answer.\n")
        self.assertFalse(self.sockets.exists())

    def test_wrong(self):
        """wrong words are exit 2, and an id that nothing has is exit 1"""
        for words in (("aprove", "12345678"), ("show",), ("approve",), ("approve", "1", "2"),
                      ("--always",), ("reject", "1", "--always"), ("--list", "show", "1"),
                      ("--nonsense",), ("--grant", "x"), ("approve", "1", "--json")):
            self.assertTrue(self.review(*words, code=2).startswith("airlock: "), words)
        self.assertIn("did you mean approve?", self.review("aprove", "1", code=2))
        for words in (("show", "nothing"), ("approve", "12345678"), ("reject", "1\u001b[2J", "no")):
            said = self.review(*words, code=1)
            self.assertTrue(said.startswith("airlock: no question '"), said)
            self.assertNotIn("\u001b", said)

    def test_wait_s(self):
        """wait_s is between a second and a day"""
        config = self.home / ".config/airlock/config.toml"
        for value, good in ((0, False), (1, True), (86400, True), (86401, False), ('"1"', False)):
            config.write_text(f"[tools.approval]\nwait_s = {value}\n")
            said = self.review("--list", code=0 if good else 2)
            self.assertEqual("tools.approval.wait_s" in said, not good, said)


if __name__ == "__main__":
    harness.main()
