# SPDX-License-Identifier: Apache-2.0
"""The base of tests of mounted tools: a configuration with servers, and a client of either era."""
import json
import os
import pathlib
import subprocess
import sys

from harness import AIRLOCK, WATCHDOG_SECONDS, Case, Result, Server

PROGRAM = pathlib.Path(__file__).resolve().parent / "mcp_server.py"
META = "io.modelcontextprotocol/"


class UpstreamCase(Case):
    """A repository, and servers whose working directory it is."""

    def setUp(self):
        super().setUp()
        self.init()

    def server(self, name, era="legacy", *options, more=""):
        """The configuration of one server, which may read its own program."""
        command = ", ".join(f'"{word}"' for word in (sys.executable, PROGRAM, era, *options))
        return (f"[mcp.servers.{name}]\ncommand = [{command}]\n{more}\n"
                f"[mcp.servers.{name}.allow]\nread = [\"{PROGRAM.parent}\"]\n")

    def configure(self, *parts):
        """Write the user's configuration."""
        path = self.home / ".config/airlock/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(parts), encoding="utf-8")

    def airlock(self, *words, code=0):
        """What a command prints; standard error if it fails."""
        done = subprocess.run([AIRLOCK, *words], cwd=self.root, env=self.env, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=WATCHDOG_SECONDS,
                              start_new_session=True)
        self.assertEqual(done.returncode, code, done)
        return (done.stdout if code == 0 else done.stdout + done.stderr).decode()

    def pipe(self, name="pipe"):
        """A pipe that a server waits for."""
        os.mkfifo(self.root / name)
        return self.root / name

    def records(self):
        """Every line of the journal."""
        log = self.home / ".local/state/airlock/tool_log.jsonl"
        return [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]


class Client(Server):
    """A client that keeps what it was told beside the answers."""

    def __init__(self, case, *options, capabilities=None, **named):
        super().__init__(case, *options, **named)
        self.told = []
        self.send(id="again", method="initialize", params={
            "protocolVersion": "2025-11-25", "capabilities": capabilities or {},
            "clientInfo": {"name": "e2e", "version": "1"}})
        self.answer = self.answer_of("again")["result"]

    def answer_of(self, number):
        """The answer to a request; what comes before it is kept in `told`."""
        while True:
            message = self.receive()
            if message is None:
                raise AssertionError("the server has ended")
            if message.get("id") == number and "method" not in message:
                return message
            self.told.append(message)

    def next_told(self, method):
        """The next notification or request with this method."""
        for message in self.told:
            if message["method"] == method:
                self.told.remove(message)
                return message
        while True:
            message = self.receive()
            if message.get("method") == method:
                return message
            self.told.append(message)

    def list(self):
        """The tools by name."""
        self.send(id="list", method="tools/list")
        return {tool["name"]: tool for tool in self.answer_of("list")["result"]["tools"]}

    def call(self, tool, arguments=None, **more):
        """One call and its result."""
        self.asked += 1
        self.send(id=self.asked, method="tools/call",
                  params={"name": tool, "arguments": arguments or {}, **more})
        answer = self.answer_of(self.asked)
        self.case.assertIn("result", answer)
        return Result(answer["result"])

    def modern(self, method, number="m", capabilities=None, **params):
        """A request of the modern era, and its answer."""
        self.send(id=number, method=method, params=params | {"_meta": {
            META + "protocolVersion": "2026-07-28",
            META + "clientCapabilities": capabilities or {}}})
        return self.answer_of(number)
