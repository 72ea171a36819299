#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients over HTTP that nobody would want, beside some that work:

  hostile_http.py AIRLOCK [OPTION...]

  --seed N        what to begin the random numbers with (1)
  --steps N       how many things to do (150)
  --seconds N     go on for this long instead

Slow, half, wrong, huge and flooding requests, clients that never read and clients that leave, with
a token and without, go to one server.  Meanwhile agents with another token work, and every answer
they get is right.  After that the server holds the descriptors, threads and memory it held before.
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
import socket
import statistics
import sys
import threading
import time

OPTIONS = argparse.ArgumentParser(usage=__doc__)
OPTIONS.add_argument("airlock")
OPTIONS.add_argument("--seed", type=int, default=1)
OPTIONS.add_argument("--steps", type=int, default=150)
OPTIONS.add_argument("--seconds", type=float)
OPTIONS = OPTIONS.parse_args()
del sys.argv[2:]

# pylint: disable=wrong-import-position
import harness
import http_server

GOOD, BAD = "good-" + "a" * 40, "bad-" + "b" * 40
AGENTS = 4  # that work
HELD_MAX = 40  # connections of the hostile clients at once
GROWTH_MAX_KIB = 24 * 1024  # what the allocator keeps after a crowd
THREADS_KEPT = 8  # idle ones: IDLE_MAX of src/serve/mcp/pool.c
BODY_MAX = 4 * 1024 * 1024
HEADERS_MAX = 32 * 1024
CALLS = [("git_status", {}), ("git_log", {"max_count": 3}), ("git_diff", {}), ("git_nothing", {}),
         ("git_status", {"working_dir": "../.."}), ("git_log", {"format": "\x00"}), ("git_show", {})]


class State:
    """What a process holds on to."""

    def __init__(self, pid):
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
        self.rss_kib = int(re.search(r"VmRSS:\s+(\d+)", status)[1])
        self.peak_kib = int(re.search(r"VmHWM:\s+(\d+)", status)[1])
        self.threads = int(re.search(r"Threads:\s+(\d+)", status)[1])
        self.descriptors = []
        for entry in pathlib.Path(f"/proc/{pid}/fd").iterdir():
            with contextlib.suppress(FileNotFoundError):
                name = os.readlink(entry)
                if "/airlock/open/" not in name:  # the journal keeps one for calls that run
                    self.descriptors.append(re.sub(r"\d+", "N", name))

    def is_like(self, before):
        """It holds on to what it did before; a sanitizer keeps freed memory for a while."""
        sanitized = harness.ASAN or harness.TSAN
        return (len(self.descriptors) <= len(before.descriptors) and
                self.threads <= before.threads + THREADS_KEPT and
                (sanitized or self.rss_kib - before.rss_kib < GROWTH_MAX_KIB))

    def __str__(self):
        return (f"{len(self.descriptors)} descriptors, {self.threads} threads, "
                f"{self.rss_kib / 1024:.1f} MiB, at most {self.peak_kib / 1024:.1f} MiB")


class Agent(threading.Thread):
    """Works until it is told to stop; the first wrong answer stops it."""

    def __init__(self, server, modern):
        super().__init__(daemon=True)
        make = http_server.ModernClient if modern else http_server.Client
        self.client, self.stop = make(server, GOOD), threading.Event()
        self.times, self.trouble = [], None
        self.client.call("git_status", {})

    def run(self):
        try:
            while not self.stop.is_set():
                begin = time.perf_counter()
                result = self.client.call("git_status", {})
                self.times.append(time.perf_counter() - begin)
                if result.failed or result.text != "## main\n":
                    raise AssertionError(result)
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.trouble = error


class Hostile:
    """What is sent, made from one stream of random numbers; some connections are held open."""

    def __init__(self, server, seed):
        self.server, self.random = server, random.Random(seed)
        self.held, self.sessions, self.serial, self.statuses = [], [], 0, {}
        self.kinds = [(8, self.slow), (8, self.half), (12, self.wrong), (6, self.huge),
                      (5, self.flood), (8, self.leaver), (6, self.session), (6, self.deaf),
                      (10, self.call), (6, self.smuggler), (4, self.listener), (4, self.mangled)]

    def step(self):
        """One thing to do; what the server refuses or cuts off is none of our trouble."""
        weights, makers = zip(*self.kinds)
        with contextlib.suppress(OSError):
            self.random.choices(makers, weights)[0]()
        while len(self.held) > HELD_MAX:
            self.held.pop(self.random.randrange(len(self.held))).close()
        for held in self.random.sample(self.held, min(3, len(self.held))):
            with contextlib.suppress(OSError):  # one more byte of a request that never ends
                held.send(b"x", socket.MSG_DONTWAIT)

    def connect(self):
        """A connection; one that hangs ends the step."""
        connection = self.server.connect()
        connection.settimeout(harness.WATCHDOG_SECONDS)
        return connection

    def hold(self, connection):
        """Keep it for a while."""
        self.held.append(connection)

    def head(self, length, token=BAD, **more):
        """The beginning of a POST."""
        words = {"Host": f"127.0.0.1:{self.server.port}", "Content-Type": "application/json",
                 "Accept": "application/json, text/event-stream", "Content-Length": length}
        if token:
            words["Authorization"] = f"Bearer {token}"
        words |= {name.replace("_", "-"): value for name, value in more.items()}
        lines = [f"{name}: {value}" for name, value in words.items() if value is not None]
        return ("POST /mcp HTTP/1.1\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode()

    def message(self, method="tools/call", **params):
        """A message, as bytes."""
        self.serial += 1
        if method == "tools/call" and not params:
            name, arguments = self.random.choice(CALLS)
            params = {"name": name, "arguments": arguments}
            if self.random.random() < 0.3:
                params["_meta"] = {"progressToken": self.serial}
        return json.dumps({"jsonrpc": "2.0", "id": self.serial, "method": method,
                           "params": params}).encode()

    def post(self, connection, body, **headers):
        """A POST in good order."""
        connection.sendall(self.head(len(body), **headers) + body)

    def answer(self, connection):
        """The first bytes of the answer; the status is counted."""
        data = b""
        while b"\r\n\r\n" not in data:
            more = connection.recv(65536)
            if not more:
                break
            data += more
        status = data[9:12].decode("ascii", "replace") if data else "cut off"
        self.statuses[status] = self.statuses.get(status, 0) + 1
        return data

    def of_session(self):
        """The headers of a session that may be there."""
        known = [*self.sessions, "nothing", "x" * 200, None]
        return {"Mcp_Session_Id": self.random.choice(known)}

    # What it does.

    def slow(self):
        """A request that comes byte by byte."""
        connection, data = self.connect(), self.head(100) + self.message()
        connection.sendall(data[:self.random.randrange(1, len(data) - 1)])
        self.hold(connection)

    def half(self):
        """A request that stops, and the connection with it."""
        connection, data = self.connect(), self.head(1000) + self.message()
        connection.sendall(data[:self.random.randrange(len(data))])
        if self.random.random() < 0.5:
            connection.shutdown(socket.SHUT_WR)
        connection.close()

    def wrong(self):
        """Bytes, words or tokens that are none."""
        token = self.random.choice([None, BAD, BAD[:-1], "", "x" * 5000, GOOD[:-1] + "b"])
        body = self.random.choice([b"", b"null", b"[]", b"{", b'{"jsonrpc":"2.0"}', b"\xff\xfe",
                                   b"[" * 70000, self.message("nothing"), b'{"id":1}' * 9])
        method = self.random.choice([b"POST", b"PUT", b"GET", b"DELETE", b"TRACE", b"X" * 300])
        path = self.random.choice([b"/mcp", b"/", b"/mcp/../mcp", b"/%6dcp", b"*", b"/mcp?x=1",
                                   b"http://evil.example/mcp", b"/" + b"a" * 9000])
        with contextlib.closing(self.connect()) as connection:
            data = self.head(len(body), token, **self.of_session()) + body
            connection.sendall(data.replace(b"POST /mcp", method + b" " + path, 1))
            self.answer(connection)

    def mangled(self):
        """A request with some bytes changed, cut out or doubled."""
        data = bytearray(self.head(60) + self.message())
        for _ in range(self.random.randrange(1, 9)):
            at = self.random.randrange(len(data))
            data[at:at + self.random.randrange(3)] = self.random.randbytes(self.random.randrange(3))
        connection = self.connect()
        connection.sendall(data)
        self.hold(connection)

    def huge(self):
        """A body, a header or a number of them that is too large."""
        size = BODY_MAX + self.random.choice([-1, 0, 1, 10 ** 6])
        kind = self.random.randrange(4)
        with contextlib.closing(self.connect()) as connection:
            if kind == 0:
                connection.sendall(self.head(size) + b'"' + b"x" * (size - 2) + b'"')
            elif kind == 1:
                connection.sendall(self.head(10 ** 18) + b"x" * 100000)
            elif kind == 2:
                connection.sendall(self.head(2, X_Long="y" * HEADERS_MAX) + b"{}")
            else:
                more = {f"X_{n}": "z" * 20 for n in range(2000)}
                connection.sendall(self.head(2, **more) + b"{}")
            self.answer(connection)

    def smuggler(self):
        """Two ideas of where a request ends."""
        inner = self.head(2, GOOD) + b"{}"
        head = self.head(len(inner)).removesuffix(b"\r\n")
        more = self.random.choice([b"Transfer-Encoding: chunked\r\n", b"Content-Length: 4\r\n",
                                   b"X: y\r\n Content-Length: 1\r\n", b"Transfer-Encoding: x\r\n",
                                   b"Authorization: Bearer " + GOOD[:-1].encode() + b"\r\n"])
        with contextlib.closing(self.connect()) as connection:
            connection.sendall(head + more + b"\r\n" + inner)
            self.answer(connection)

    def call(self):
        """A call, in an order that nobody else uses."""
        with contextlib.closing(self.connect()) as connection:
            self.post(connection, self.message(), **self.of_session())
            self.answer(connection)

    def flood(self):
        """Many calls at once, on one connection, and on many."""
        connection = self.connect()
        for _ in range(30):
            self.post(connection, self.message(), **self.of_session())
        self.hold(connection)
        for _ in range(10):
            connection = self.connect()
            self.post(connection, self.message(), **self.of_session())
            self.hold(connection)

    def leaver(self):
        """Leaves before the answer, or while it comes."""
        connection = self.connect()
        self.post(connection, self.message(), **self.of_session())
        if self.random.random() < 0.5:
            with contextlib.suppress(OSError):
                connection.recv(20)
        if self.random.random() < 0.5:  # with a reset
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        connection.close()

    def deaf(self):
        """Asks for much, and never reads."""
        connection = self.connect()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        body = self.message("tools/call", name="git_show", arguments={"commit": "big"})
        for _ in range(20):
            self.post(connection, body, **self.of_session())
        self.hold(connection)

    def listener(self):
        """Opens the stream of a session, or asks for what it missed."""
        connection = self.connect()
        head = self.head(0, Last_Event_ID=self.random.choice([None, "1", "x", "9" * 99]),
                         **self.of_session())
        connection.sendall(head.replace(b"POST", b"GET", 1))
        self.hold(connection)

    def session(self):
        """One session more, or one less."""
        with contextlib.closing(self.connect()) as connection:
            if self.sessions and self.random.random() < 0.3:
                head = self.head(0, Mcp_Session_Id=self.sessions.pop())
                connection.sendall(head.replace(b"POST", b"DELETE", 1))
                self.answer(connection)
                return
            self.post(connection, self.message(
                "initialize", protocolVersion=http_server.LEGACY, capabilities={"elicitation": {}},
                clientInfo={"name": "hostile", "version": "0"}))
            found = re.search(rb"(?i)mcp-session-id: *([^\r]+)", self.answer(connection))
            if found:
                self.sessions.append(found[1].decode())


class HostileHttp(harness.Case):
    """One server, and a crowd before it."""

    def settle(self, client, server, before=None):
        """The state once every call has ended; gives up when it never becomes that of before."""
        end = time.monotonic() + harness.WATCHDOG_SECONDS
        while True:
            client.call("git_status", {})
            state = State(server.process.pid)
            if not self.children(server.process.pid) and (not before or state.is_like(before)):
                return state
            if time.monotonic() > end:
                left = list(state.descriptors)
                for name in before.descriptors if before else []:
                    if name in left:
                        left.remove(name)
                self.fail(f"the server did not become quiet: {before} -> {state}: {left}")
            select.select([], [], [], 0.02)  # the end of connections, which nothing tells

    @staticmethod
    def children(pid):
        """The children of a process, zombies among them."""
        found = []
        for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
            with contextlib.suppress(OSError):
                found += (task / "children").read_text(encoding="ascii").split()
        return found

    def test_those_who_work_are_not_disturbed(self):
        """a crowd of hostile clients disturbs no other, and nothing is left of it"""
        self.init()
        self.commit("big.txt", "a line of some length\n" * 40000, "big")
        self.git("tag", "big")
        server = http_server.Endpoint(self, tokens=[GOOD, BAD])
        watcher = http_server.Client(server, GOOD)
        for client in [http_server.Client(server, BAD), http_server.ModernClient(server, GOOD)]:
            client.call("git_status", {})
            client.close()
        agents = [Agent(server, modern=bool(n % 2)) for n in range(AGENTS)]
        before = self.settle(watcher, server)
        for agent in agents:
            agent.start()
        hostile, steps = Hostile(server, OPTIONS.seed), 0
        end = time.monotonic() + OPTIONS.seconds if OPTIONS.seconds else None
        signal.alarm(int((OPTIONS.seconds or 0) + harness.CASE_SECONDS))
        while time.monotonic() < end if end else steps < OPTIONS.steps:
            hostile.step()
            steps += 1
            self.assertIsNone(server.process.poll(), b"".join(server.said).decode())
        for agent in agents:
            agent.stop.set()
        for agent in agents:
            agent.join(harness.WATCHDOG_SECONDS)
            self.assertIsNone(agent.trouble)
            self.assertFalse(agent.is_alive())
        for held in hostile.held:
            held.close()
        server.write_tokens([GOOD])  # which ends the sessions of the other token
        os.kill(server.process.pid, signal.SIGHUP)
        watcher.close()  # unused for longer than idle_s, in a long run; the next call connects again
        after = self.settle(watcher, server, before)
        times = sorted(1000 * t for agent in agents for t in agent.times)
        print(f"# {steps} steps, answers {dict(sorted(hostile.statuses.items()))}")
        print(f"# {len(times)} calls of those who work, median {statistics.median(times):.1f} ms, "
              f"99 of 100 in {times[len(times) * 99 // 100]:.1f} ms, all in {times[-1]:.1f} ms")
        print(f"# before: {before}\n# after: {after}")
        self.assertGreater(len(times), AGENTS)
        self.assertEqual(server.end(), 0)


if __name__ == "__main__":
    harness.main()
