#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""upstream.py AIRLOCK REPOSITORY: listing and calling the tools of another MCP server through
airlock, beside the same server alone.

Measured in turn, call by call; the medians count.
"""
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

CALLS, WARM, BUDGET_MS = 400, 50, 1.0
PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)),
                       "..", "tests", "e2e", "mcp_server.py")


class Peer:
    """A server on standard input and output, and its client."""

    def __init__(self, command, cwd):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, cwd=cwd, bufsize=0)
        self.out = self.process.stdout.fileno()
        self.number, self.read = 0, b""
        self.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                                    "clientInfo": {"name": "bench", "version": "1"}})
        self.process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n')

    def request(self, method, params):
        """The result of a request, and how many seconds it took."""
        self.number += 1
        line = json.dumps({"jsonrpc": "2.0", "id": self.number, "method": method,
                           "params": params}).encode() + b"\n"
        start = time.perf_counter()
        self.process.stdin.write(line)
        while True:
            while b"\n" not in self.read:
                self.read += os.read(self.out, 1 << 20)
            taken = time.perf_counter() - start
            answer, self.read = self.read.split(b"\n", 1)
            message = json.loads(answer)
            if message.get("id") == self.number:
                return message["result"], taken

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def row(title, through, alone, method, ours, theirs):
    """One line; whether it is within the budget."""
    times = ([], [])
    for number in range(WARM + CALLS):
        for peer, params, into in ((alone, theirs, times[0]), (through, ours, times[1])):
            result, taken = peer.request(method, params)
            if result.get("isError"):
                sys.exit(f"{title}: {result['content'][0]['text']}")
            if number >= WARM:
                into.append(taken * 1000)
    alone_ms, through_ms = (statistics.median(kind) for kind in times)
    good = through_ms - alone_ms <= BUDGET_MS
    print(f"{title:34} {alone_ms:6.2f} ms {through_ms:6.2f} ms {through_ms - alone_ms:+6.2f} ms "
          f"(at most +{BUDGET_MS:.0f} ms){'' if good else '  TOO SLOW'}")
    return good


def main():
    """Two rows: the list, and a call that reads."""
    airlock, repository = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    command = [sys.executable, PROGRAM, "legacy"]
    with tempfile.TemporaryDirectory() as scratch:
        config = os.path.join(scratch, "config.toml")
        with open(config, "w", encoding="utf-8") as file:
            file.write("toolsets = [\"everyday\"]\n[mcp.servers.s]\n"
                       f"command = {json.dumps(command)}\n[mcp.servers.s.allow]\n"
                       f"read = [{json.dumps(os.path.dirname(PROGRAM))}]\n")
        print(f"\n{'another MCP server':34} {'alone':>9} {'airlock':>9}")
        with contextlib.closing(Peer(command, repository)) as alone, \
                contextlib.closing(Peer([airlock, "serve", "--root", repository, "--config", config,
                                         "--approval", "allow"], repository)) as through:
            good = row("tools/list", through, alone, "tools/list", {}, {})
            arguments = {"text": "x" * 100}
            good &= row("a call that reads", through, alone, "tools/call",
                        {"name": "mcp__s__echo", "arguments": arguments},
                        {"name": "echo", "arguments": arguments})
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
