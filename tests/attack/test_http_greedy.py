#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One token that sends all it can, and leaves before its answers: the other one is served.

Messages of a session of which each is short to send and long to serve; a legacy client that leaves
cancels nothing.
"""
import contextlib
import json
import pathlib
import re
import socket
import struct
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

import harness
import http_mcp
import http_server
from http_mcp import ONE, TWO, PING, Session

SENDERS, MESSAGES, CALLS = 8, 8, 10
READ_BYTES = 16384      # that the server reads of each client in its turn, at least
BATCHES = "2025-03-26"  # the revision that has them
THREADS_MAX = 40        # 16 calls, 4 messages of each token, 8 idle ones, and the server's own
MIB_MAX = 160
SLOW = harness.ASAN or harness.TSAN
VALUES = 5000 if SLOW else 100000  # in a body, each of which is an allocation


class Greedy(http_mcp.Case):
    def setUp(self):
        super().setUp()
        self.server = self.serve("--approval", "allow", tokens=[ONE, TWO])
        self.greedy = Session(self, self.server, ONE, BATCHES)
        self.other = Session(self, self.server, TWO)
        self.stopped = threading.Event()
        self.begun = threading.Semaphore(0)

    def status(self, field):
        """A number of /proc/PID/status."""
        text = pathlib.Path(f"/proc/{self.server.process.pid}/status").read_text(encoding="ascii")
        return int(re.search(rf"{field}:\s+(\d+)", text)[1])

    def batch(self, method, count, params=None):
        """The bytes of a POST with so many requests."""
        words = self.greedy.headers | {"Host": f"localhost:{self.server.port}"}
        body = json.dumps([{"jsonrpc": "2.0", "id": number, "method": method,
                            "params": params or {}} for number in range(count)]).encode()
        head = "".join(f"{name}: {value}\r\n" for name, value in words.items())
        return (f"POST /mcp HTTP/1.1\r\n{head}Content-Length: {len(body)}\r\n\r\n").encode() + body

    def send(self, texts):
        """Send message after message, and leave each time when the server has read it: other
        requests are answered in turn with that."""
        health = http_server.Client(self.server, TWO).new_connection()
        with contextlib.closing(health):
            for number in range(100 * MESSAGES):
                if self.stopped.is_set():
                    return
                text = texts[number % len(texts)]
                with contextlib.suppress(OSError), self.server.connect() as connection:
                    connection.sendall(text)
                    for _ in range(4 + len(text) // READ_BYTES):
                        health.request("GET", "/health")
                        health.getresponse().read()
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER,
                                          struct.pack("ii", 1, 0))
                if number < MESSAGES:
                    self.begun.release()

    def attack(self, texts):
        """What the greedy token can do is done while the other one calls."""
        threads = [threading.Thread(target=self.send, args=(texts,)) for _ in range(SENDERS)]
        most = 0
        for thread in threads:
            thread.start()
        try:
            for _ in range(SENDERS * MESSAGES):
                self.begun.acquire()
                most = max(most, self.status("Threads"))
            for number in range(2, 2 + CALLS):
                self.assertEqual(self.other.call(number, "git_status").status, 200)
                most = max(most, self.status("Threads"))
        finally:
            self.stopped.set()
            for thread in threads:
                thread.join()
        if not SLOW:  # a sanitizer's threads are there long after they have ended
            self.assertLessEqual(most, THREADS_MAX)
            self.assertLessEqual(self.status("VmHWM") // 1024, MIB_MAX)
        while (again := self.greedy.post(PING)).status == 429:
            again.end()
        self.assertEqual(again.status, 200)

    def test_lists(self):
        """batches of requests with large answers, as many as may be in one and more"""
        self.attack([self.batch("tools/list", 1000), self.batch("tools/list", 4000)])

    def test_calls(self):
        """batches of calls, most of which are too many"""
        self.attack([self.batch("tools/call", 1000, {"name": "git_status"}),
                     self.batch("tools/call", 1000, {"name": "x" * 90})])

    def test_values(self):
        """large bodies that are small in comparison with what they are parsed to"""
        self.attack([self.batch("tools/call", 1, {"name": "git_status", "arguments": {
            "paths": [[]] * VALUES}})])


if __name__ == "__main__":
    harness.main()
