#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A client that does everything a client should not:  hostile_client.py AIRLOCK [OPTION...]

  --seed N        what to begin the random numbers with (1)
  --steps N       how many things to do (150)
  --seconds N     go on for this long instead

Valid and invalid messages, half lines, floods that nobody reads, cancels, long lines and deep
nesting go to one server.  After that it must answer as before, with the children, descriptors and
memory it had before.  With the same seed and number of steps the same bytes are sent.
"""
import argparse
import contextlib
import json
import os
import pathlib
import random
import re
import select
import signal
import sys
import time

OPTIONS = argparse.ArgumentParser(usage=__doc__)
OPTIONS.add_argument("airlock")
OPTIONS.add_argument("--seed", type=int, default=1)
OPTIONS.add_argument("--steps", type=int, default=150)
OPTIONS.add_argument("--seconds", type=float)
OPTIONS = OPTIONS.parse_args()
del sys.argv[2:]

import harness  # pylint: disable=wrong-import-position

OLD_SECONDS = 0.1  # an index as young as the clock's step is read without more ado
LINE_MAX_BYTES = 10 * 1024 * 1024
SPARE_MAX = 1  # of src/history/open_records.c
GROWTH_MAX_KIB = 16 * 1024  # once the threads of a crowd have gone, and given back what they held
PEAK_MAX_KIB = 1024 * 1024  # the longest line as a tree of values, and answers nobody reads

REVISIONS = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "1999-01-01", 7, None]
CALLS = [
    ("git_status", {}), ("git_status", {"porcelain": True}), ("git_status", {"timeout_ms": 100}),
    ("git_log", {"max_bytes": 10}), ("git_log", {"limit": 3}), ("git_diff", {}),
    ("git_diff", {"working_dir": "../.."}), ("git_status", {"working_dir": "/etc"}),
    ("git_add", {"paths": ["a.txt"]}), ("git_add", {"paths": ["*"], "all": True}),
    ("git_commit", {"type": "fix", "message": "\u202e\x1b[31m"}), ("git_commit", {"type": "X"}),
    ("git_nothing", {}), ("git_status", []), ("git_status", {"\x00": "\x00"}),
]


class Hostile:
    """What is sent, made from one stream of random numbers."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.serial = 0
        self.open = [0]
        self.kinds = [(40, self.call), (10, self.ping), (8, self.cancel), (8, self.mangled),
                      (8, self.nonsense), (5, self.noise), (5, self.batch), (4, self.greeting),
                      (3, self.response), (3, self.nested), (2, self.flood), (2, self.long),
                      (1, self.too_long), (1, self.many_calls), (2, self.blank)]

    def step(self):
        """The bytes of one thing to do."""
        weights, makers = zip(*self.kinds)
        return self.random.choices(makers, weights)[0]()

    def identity(self):
        """A new id; the kinds that may be echoed, and now and then one that is in use."""
        self.serial += 1
        new = self.random.choice([self.serial, str(self.serial), -self.serial,
                                  10 ** 30 + self.serial, self.random.choice(self.open)])
        self.open = self.open[-300:] + [new]
        return new

    def value(self, depth=0):
        """Any JSON."""
        kind = self.random.randrange(8 if depth < 4 else 6)
        if kind < 6:
            return [None, True, -1, 1.5e300, "x\u0000\ud7ff\U0010ffff", 2 ** 63][kind]
        if kind == 6:
            return [self.value(depth + 1) for _ in range(self.random.randrange(4))]
        return {self.random.choice(["id", "method", "params", "name", "arguments", "_meta", ""]):
                self.value(depth + 1) for _ in range(self.random.randrange(4))}

    @staticmethod
    def line(message):
        """A message as it is sent."""
        return json.dumps(message).encode() + b"\n"

    def request(self, method, **params):
        """A request that is in order."""
        message = {"jsonrpc": "2.0", "id": self.identity(), "method": method}
        return message | ({"params": params} if params else {})

    def a_call(self):
        """A call, valid or nearly."""
        name, arguments = self.random.choice(CALLS)
        message = self.request("tools/call", name=name, arguments=arguments)
        if self.random.random() < 0.2:
            message["params"]["_meta"] = {"progressToken": self.random.choice(["t", 7, None, 1.5])}
        return message

    def call(self):
        return self.line(self.a_call())

    def ping(self):
        return self.line(self.request(self.random.choice(["ping", "tools/list", "nothing", ""])))

    def cancel(self):
        return self.line({"jsonrpc": "2.0", "method": "notifications/cancelled",
                          "params": {"requestId": self.random.choice(self.open + [None, {}])}})

    def mangled(self):
        """A call with some bytes changed, cut out or doubled."""
        text = bytearray(self.call())
        for _ in range(self.random.randrange(1, 6)):
            at = self.random.randrange(len(text))
            text[at:at + self.random.randrange(3)] = self.random.randbytes(
                self.random.randrange(3))
            if not text:
                break
        return bytes(text) + b"\n"

    def nonsense(self):
        """JSON that is no message, or one whose members are anything."""
        message = self.value()
        if self.random.random() < 0.7:
            message = self.a_call() | {self.random.choice(["id", "method", "params", "jsonrpc"]):
                                       self.value()}
        return self.line(message)

    def noise(self):
        return self.random.randbytes(self.random.randrange(2000)) + b"\n"

    def batch(self):
        return self.line([self.random.choice([self.a_call, self.value])()
                          for _ in range(self.random.randrange(12))])

    def greeting(self):
        return self.line(self.request("initialize", capabilities=self.value(),
                                      protocolVersion=self.random.choice(REVISIONS)))

    def response(self):
        return self.line({"jsonrpc": "2.0", "id": self.random.choice(self.open),
                          self.random.choice(["result", "error"]): self.value()})

    def nested(self):
        """Brackets far deeper than anything can be, closed or not."""
        depth = self.random.choice([60, 64, 65, 66, 2000, 50000])
        mark, end = self.random.choice([(b"[", b"]"), (b'{"a":', b"}"), (b"[{\"b\":", b"}]")])
        inner = mark * depth + b"1" + end * self.random.choice([depth, 0])
        head = b'{"jsonrpc":"2.0","id":"deep","method":"tools/call","params":{"name":"git_status",'
        return head + b'"arguments":{"a":' + inner + b"}}}\n"

    def flood(self):
        return b"".join(self.ping() for _ in range(400))

    def many_calls(self):
        """More than may be in flight."""
        return b"".join(self.call() for _ in range(300))

    def long(self):
        message = self.a_call()
        message["params"]["arguments"] = {"paths": ["x" * self.random.randrange(1000)] * 1000}
        return self.line(message)

    def too_long(self):
        size = LINE_MAX_BYTES + self.random.choice([-100, 0, 1, 100000])
        filler = self.random.choice([b"x" * size, b'"' + b"y" * (size - 2) + b'"',
                                     b"[" + b"1," * (size // 2 - 1) + b"1]"])
        return filler + b"\n"

    def blank(self):
        return self.random.choice([b"\n", b"\r\n", b" \t \r\n", b"\xef\xbb\xbf{}\n", b"\0\n"])


class State:
    """What a process holds on to."""

    def __init__(self, pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        self.rss_kib = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
        self.peak_kib = int(re.search(r"VmHWM:\s+(\d+)", status)[1])
        self.threads = int(re.search(r"Threads:\s+(\d+)", status)[1])
        self.descriptors = self.spare = 0
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):  # the call that had it has just ended
                if "/airlock/open/" in os.readlink(entry):  # the journal keeps one for calls that run
                    self.spare += 1
                else:
                    self.descriptors += 1
        self.children = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has just ended
                stat = (entry / "stat").read_bytes()
                if int(stat.rsplit(b")", 1)[1].split()[1]) == pid:  # zombies are among them
                    self.children.append(entry.name)
        self.sanitized = harness.ASAN or harness.TSAN

    def is_like(self, before):
        """It holds on to what it did before; a sanitizer keeps freed memory for a while."""
        return (self.descriptors <= before.descriptors and
                (self.sanitized or self.rss_kib - before.rss_kib < GROWTH_MAX_KIB))

    def __str__(self):
        return (f"{self.descriptors} descriptors, {self.spare} spare, {len(self.children)} children, "
                f"{self.threads} threads, {self.rss_kib // 1024} MiB, at most "
                f"{self.peak_kib // 1024} MiB")


class Session:
    """The server's two pipes; sending never waits for a server that waits to be read."""

    def __init__(self, server):
        self.input = server.process.stdin.fileno()
        self.output = server.process.stdout.fileno()
        os.set_blocking(self.input, False)
        self.pending = server.pending
        self.sent = self.lines = 0

    def take(self):
        """Read what is there; gives the messages."""
        more = os.read(self.output, 1 << 20)
        if not more:
            raise AssertionError("the server is gone")
        *lines, self.pending = (self.pending + more).split(b"\n")
        self.lines += len(lines)
        return [json.loads(line) for line in lines]

    def send(self, data, read_first):
        """Send everything, and read: whenever there is something, or only when it must be."""
        view = memoryview(data)
        while view:
            want = [self.output] if read_first else []
            readable, writable, _ = select.select(want, [self.input], [], 0)
            if not readable and not writable:
                readable, writable, _ = select.select([self.output], [self.input], [],
                                                      harness.WATCHDOG_SECONDS)
                if not readable and not writable:
                    raise AssertionError("the server neither reads nor writes")
            if readable:
                self.take()
            elif writable:
                done = os.write(self.input, view[:65536])
                self.sent += done
                view = view[done:]

    def ask(self, name, **message):
        """Send a request and wait for its answer, past all others."""
        self.send(Hostile.line({"jsonrpc": "2.0", "id": name} | message), True)
        while True:
            if not select.select([self.output], [], [], harness.WATCHDOG_SECONDS)[0]:
                raise AssertionError("the server says nothing")
            for answer in self.take():
                if isinstance(answer, dict) and answer.get("id") == name:
                    return answer


class HostileClient(harness.Case):
    """One server, one client nobody would want."""

    @staticmethod
    def wait_until_old(path):
        """A time of change cannot be set, so this waits for the clock."""
        while (left := path.stat().st_ctime + OLD_SECONDS - time.time()) > 0:
            select.select([], [], [], left)

    def settle(self, talk, pid, before=None):
        """The state once every call has ended; gives up when it never becomes that of before."""
        end = time.monotonic() + harness.WATCHDOG_SECONDS
        for turn in range(1 << 30):
            answer = talk.ask(f"settle-{turn}", method="tools/call",
                              params={"name": "git_status", "arguments": {}})
            talk.ask(f"ping-{turn}", method="ping")
            state = State(pid)
            good = not state.children and "error" not in answer
            if good and (not before or state.is_like(before)):
                return state, answer["result"]
            if time.monotonic() > end:
                self.fail(f"the server did not become quiet: {state}, {answer}")
        return None

    def test_nothing_is_left_of_a_hostile_client(self):
        """after a hostile client the server answers and holds what it held before"""
        self.init()
        server = harness.Server(self)
        pid = server.process.pid
        talk = Session(server)
        talk.ask("writer", method="tools/call",  # what writers need is made with the first
                 params={"name": "git_add", "arguments": {"paths": ["a.txt"]}})
        self.wait_until_old(self.root / ".git/index")  # what readers need is made with an older one
        before, first = self.settle(talk, pid)
        hostile = Hostile(OPTIONS.seed)
        end = time.monotonic() + OPTIONS.seconds if OPTIONS.seconds else None
        signal.alarm(int((OPTIONS.seconds or 0) + harness.CASE_SECONDS))
        steps = 0
        while time.monotonic() < end if end else steps < OPTIONS.steps:
            data = hostile.step()
            half = hostile.random.randrange(len(data) + 1)
            talk.send(data[:half], hostile.random.random() < 0.7)
            talk.send(data[half:], hostile.random.random() < 0.7)
            steps += 1
        talk.send(b"\n", True)
        after, last = self.settle(talk, pid, before)
        print(f"# {steps} steps, {talk.sent} bytes sent, {talk.lines} lines read")
        print(f"# before: {before}\n# after: {after}")
        self.assertEqual(("isError" in first, "isError" in last), (False, False))
        self.assertLessEqual(after.spare, SPARE_MAX)
        self.assertEqual(self.processes_in(self.base), [pid])
        if not after.sanitized:
            self.assertLess(after.peak_kib, PEAK_MAX_KIB)
        os.set_blocking(talk.input, True)


if __name__ == "__main__":
    harness.main()
