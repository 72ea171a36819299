# SPDX-License-Identifier: Apache-2.0
"""The base of tests of `airlock review`: its commands, and a review that is attached."""
import contextlib
import json
import pathlib
import select
import socket
import subprocess

import harness

KEYS = ["id", "time", "agent", "client", "repository", "tool", "operation", "summary", "risk",
        "why", "text", "deadline"]


class ReviewCase(harness.Case):
    """A repository in which a.txt is changed, so that git_add of it is asked about."""

    def setUp(self):
        super().setUp()
        self.init()
        self.write("a.txt", "two\n")
        self.sockets = self.home / "airlock"

    def review(self, *words, code=0, env=None):
        """`airlock review`; gives what it prints."""
        done = subprocess.run([harness.AIRLOCK, "review", *words], cwd=self.base,
                              env=self.env | (env or {}), stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, start_new_session=True,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, code, done)
        return (done.stderr if code else done.stdout).decode()

    def waiting(self, **named):
        """The entries of `airlock review --list --json`."""
        return json.loads(self.review("--list", "--json", **named))

    def the_one(self, **named):
        """The only entry."""
        entries = self.waiting(**named)
        self.assertEqual(len(entries), 1, entries)
        return entries[0]

    def staged(self):
        """What is staged."""
        return self.out("diff", "--cached", "--name-only").split()


class Door:
    """A connection to the socket of a process, on which lines are sent and received."""

    def __init__(self, case, pid, directory=None):
        self.case, self.pending = case, b""
        self.socket = socket.socket(socket.AF_UNIX)
        case.addCleanup(self.socket.close)
        self.path = pathlib.Path(directory or case.sockets) / f"{pid}.sock"
        self.socket.connect(str(self.path))

    def send(self, **message):
        """One request."""
        self.raw(json.dumps(message).encode() + b"\n")
        return self

    def raw(self, data):
        """Any bytes.  What a peer said before it hung up can be received all the same."""
        with contextlib.suppress(BrokenPipeError):
            self.socket.sendall(data)

    def receive(self):
        """The next message; None at the end."""
        while b"\n" not in self.pending:
            if not select.select([self.socket], [], [], harness.WATCHDOG_SECONDS)[0]:
                raise AssertionError(f"no message; {self.pending!r}")
            try:
                more = self.socket.recv(65536)
            except ConnectionResetError:
                more = b""
            if not more:
                return None
            self.pending += more
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def entry(self):
        """The next message, which is a question."""
        message = self.receive()
        self.case.assertIn("entry", message or {}, message)
        return message["entry"]

    def answer(self, number, decision, **more):
        """Answer a question; gives what is said to it, past what else was."""
        self.send(do="answer", id=number, decision=decision, **more)
        while True:
            message = self.receive()
            if message is None or "entry" not in message and "end" not in message:
                return message


class Attached(Door):
    """A review that is attached, as a screen or a browser is."""

    def __init__(self, case, pid, directory=None):
        super().__init__(case, pid, directory)
        self.shown = []
        self.send(do="attach")
        while "end" not in (message := self.receive()):
            self.shown.append(message["entry"])
