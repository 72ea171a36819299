#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""http.py AIRLOCK REPOSITORY: many agents connected to one server over HTTP.

500 agents, each with a session and a connection of its own, call a small git_status in turn: one
call at a time, and 8 at a time beside the same calls over 8 servers on standard input and output.
The two kinds alternate, round by round; the medians of the rounds count.  Memory and threads are the
server's.
"""
import contextlib
import json
import os
import re
import resource
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import time

AGENTS, AT_ONCE, ROUNDS, ROUND_CALLS = 500, 8, 7, 400
IN_TURN = 2 * AGENTS
P99_TIMES_P50 = 5.0
RATE_MIN = 0.80
THREADS_MAX = 40
MIB_MAX = 64
CALL = {"name": "git_status", "arguments": {}}
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {},
              "clientInfo": {"name": "bench", "version": "1"}}


def message(number, method, params):
    """A request."""
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method,
                       "params": params}).encode()


def check(answer):
    """End when a call failed: it would be fast."""
    result = json.loads(answer)["result"]
    if result.get("isError"):
        sys.exit(result["content"][0]["text"])


class Agent:
    """One session on one connection."""

    def __init__(self, port):
        self.port, self.session, self.read = port, None, b""
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send(message(0, "initialize", INITIALIZE))
        head, _ = self.receive()
        self.session = re.search(rb"(?i)mcp-session-id: *([^\r]+)", head)[1].decode()
        self.send(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}).encode())
        self.receive()
        self.call = self.request(message(1, "tools/call", CALL))

    def request(self, body):
        """The bytes of a POST."""
        session = f"Mcp-Session-Id: {self.session}\r\n" if self.session else ""
        return (f"POST /mcp HTTP/1.1\r\nHost: 127.0.0.1:{self.port}\r\n{session}"
                "Accept: application/json, text/event-stream\r\nContent-Type: application/json\r\n"
                f"MCP-Protocol-Version: 2025-11-25\r\nContent-Length: {len(body)}\r\n\r\n"
                ).encode() + body

    def send(self, body):
        self.socket.sendall(self.request(body))

    def fileno(self):
        return self.socket.fileno()

    def begin(self):
        """Send the call."""
        self.socket.sendall(self.call)

    def take(self):
        """What has arrived: the head and body of the answer, None while it is not whole."""
        more = self.socket.recv(1 << 18)
        if not more:
            sys.exit("the server closed a connection")
        self.read += more
        end = self.read.find(b"\r\n\r\n")
        if end < 0:
            return None
        length = re.search(rb"(?i)content-length: *(\d+)", self.read[:end])
        size = end + 4 + (int(length[1]) if length else 0)
        if len(self.read) < size:
            return None
        head, body, self.read = self.read[:end], self.read[end + 4:size], self.read[size:]
        return head, body

    def receive(self):
        """The next answer."""
        while not (answer := self.take()):
            pass
        return answer

    def close(self):
        self.socket.close()


class Pipes:
    """One server on standard input and output."""

    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, bufsize=0)
        self.read = b""
        self.process.stdin.write(message(0, "initialize", INITIALIZE) + b"\n")
        self.receive()
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
        self.call = message(1, "tools/call", CALL) + b"\n"

    def fileno(self):
        return self.process.stdout.fileno()

    def begin(self):
        self.process.stdin.write(self.call)

    def take(self):
        more = os.read(self.fileno(), 1 << 18)
        if not more:
            sys.exit("a server ended")
        self.read += more
        line, end, rest = self.read.partition(b"\n")
        if not end:
            return None
        self.read = rest
        return None, line

    receive = Agent.receive

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Server:
    """The server over HTTP."""

    def __init__(self, command):
        self.process = subprocess.Popen([*command, "--http", "127.0.0.1:0", "--no-token"],
                                        stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        for line in self.process.stderr:
            found = re.search(rb"http://127\.0\.0\.1:(\d+)", line)
            if found:
                self.port = int(found[1])
                return
        sys.exit("the server does not listen")

    def status(self, field):
        """A number of /proc/PID/status."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as file:
            return int(re.search(rf"{field}:\s+(\d+)", file.read())[1])

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stderr.close()


def in_turn(agents):
    """The milliseconds of each call when one follows the other."""
    times = []
    for number in range(IN_TURN):
        agent = agents[number % len(agents)]
        start = time.perf_counter()
        agent.begin()
        _, body = agent.receive()
        times.append(1000 * (time.perf_counter() - start))
        check(body)
    return sorted(times)


def rate(peers):
    """Calls a second with AT_ONCE in flight; the peers take turns."""
    waiting = list(peers)
    begun = done = 0
    start = time.perf_counter()
    with selectors.DefaultSelector() as selector:
        while done < ROUND_CALLS:
            while begun - done < AT_ONCE and begun < ROUND_CALLS:
                peer = waiting.pop(0)
                selector.register(peer, selectors.EVENT_READ)
                peer.begin()
                begun += 1
            for key, _ in selector.select():
                answer = key.fileobj.take()
                if answer:
                    selector.unregister(key.fileobj)
                    waiting.append(key.fileobj)
                    check(answer[1])
                    done += 1
    return ROUND_CALLS / (time.perf_counter() - start)


def row(title, value, budget, good):
    """One line; whether it is within the budget."""
    print(f"{title:34} {value:>36}  {budget:22} {'pass' if good else 'OVER'}", flush=True)
    return good


def main():
    """The rows of 500 agents."""
    airlock, repository = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2 * AGENTS:
        resource.setrlimit(resource.RLIMIT_NOFILE, (2 * AGENTS if hard < 0 else hard, hard))
    with contextlib.ExitStack() as stack:
        config = os.path.join(stack.enter_context(tempfile.TemporaryDirectory()), "config.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write(f"[serve]\nconnections = {AGENTS + 12}\nconnections_per_token = "
                       f"{AGENTS + 12}\nsessions_per_token = {AGENTS + 12}\n")
        command = [airlock, "serve", "--root", repository, "--config", config]
        server = stack.enter_context(contextlib.closing(Server(command)))
        idle_kib = server.status("VmRSS")
        agents = [stack.enter_context(contextlib.closing(Agent(server.port)))
                  for _ in range(AGENTS)]
        connected_kib, connected_threads = server.status("VmRSS"), server.status("Threads")
        pipes = [stack.enter_context(contextlib.closing(Pipes(command))) for _ in range(AT_ONCE)]
        rate(agents), rate(pipes)  # what is made with the first calls
        times = in_turn(agents)
        alone = sorted(in_turn(pipes[:1]))
        rates = [(rate(agents), rate(pipes)) for _ in range(ROUNDS)]
        over_http, over_pipes = (statistics.median(kind) for kind in zip(*rates))
        ratio = statistics.median(a / b for a, b in rates)
        p50, p99 = statistics.median(times), times[len(times) * 99 // 100]
        print(f"\n{AGENTS} agents over HTTP")
        good = row("a git_status in turn, p50, p99", f"{p50:.2f} ms, {p99:.2f} ms "
                   f"(stdio {statistics.median(alone):.2f})", f"p99 <= {P99_TIMES_P50:.0f} x p50",
                   p99 <= P99_TIMES_P50 * p50)
        good &= row("8 at a time, against 8 servers", f"{over_http:.0f}/s, {over_pipes:.0f}/s, "
                    f"{ratio:.2f} x", f">= {RATE_MIN:.2f} x stdio", ratio >= RATE_MIN)
        peak_mib = server.status("VmHWM") / 1024
        good &= row("memory idle, connected, at most", f"{idle_kib / 1024:.1f}, "
                    f"{connected_kib / 1024:.1f}, {peak_mib:.1f} MiB", f"<= {MIB_MAX} MiB",
                    peak_mib <= MIB_MAX)
        threads = server.status("Threads")
        good &= row("threads connected, afterwards", f"{connected_threads}, {threads}",
                    f"<= {THREADS_MAX}", max(threads, connected_threads) <= THREADS_MAX)
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
