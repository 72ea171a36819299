# SPDX-License-Identifier: Apache-2.0
"""An MCP client on the standard streams of `airlock serve`, for the benchmarks."""
import json
import subprocess
import sys


class Client:
    """`airlock serve` with these arguments, initialized."""

    def __init__(self, airlock, *arguments, **process):
        self.process = subprocess.Popen([airlock, "serve", *arguments], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, **process)
        self.number = 0
        self.request("initialize", protocolVersion="2025-06-18", capabilities={},
                     clientInfo={"name": "bench", "version": "1"})
        self.send(method="notifications/initialized")

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, **params):
        """The result of a request; notifications before it are dropped."""
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.number:
                return message["result"]

    def call(self, tool, **arguments):
        """The structured result of a call.  One that fails ends the program."""
        result = self.request("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            sys.exit(f"{tool} {arguments}: {result['content'][0]['text']}")
        return result.get("structuredContent")

    def close(self):
        self.process.stdin.close()
        self.process.wait()
