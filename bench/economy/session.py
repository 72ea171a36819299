# SPDX-License-Identifier: Apache-2.0
"""A session with an MCP server, which counts what the conversation costs."""
import json
import os
import subprocess


class Cost:
    """What one task cost."""

    def __init__(self):
        self.calls = self.bytes = self.questions = 0
        self.edits = 0  # of the agent's own file editor


class Failed(Exception):
    """A call that failed."""


class Session:
    """One server on standard input and output.  Questions are answered with yes, and counted."""

    def __init__(self, command, directory, env):
        self.directory, self.cost, self.number = str(directory), Cost(), 0
        self.process = subprocess.Popen(command, cwd=directory, env=env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.ask("initialize", {"protocolVersion": "2025-06-18",
                                "capabilities": {"elicitation": {}},
                                "clientInfo": {"name": "bench", "version": "1"}})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, message):
        """A question of the server's."""
        if message["method"] != "elicitation/create":
            self.send({"jsonrpc": "2.0", "id": message["id"], "result": {}})
            return
        self.cost.questions += 1
        fields = message["params"].get("requestedSchema", {}).get("properties", {})
        content = {name: field["enum"][0] for name, field in fields.items() if "enum" in field}
        content |= {name: True for name, field in fields.items() if field.get("type") == "boolean"}
        self.send({"jsonrpc": "2.0", "id": message["id"],
                   "result": {"action": "accept", "content": content}})

    def ask(self, method, params):
        self.number += 1
        self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
        while True:
            line = self.process.stdout.readline()
            if not line:
                raise EOFError(f"the server ended in {method}")
            try:
                message = json.loads(line)
            except ValueError:
                continue  # some servers write their log there
            if message.get("id") == self.number and "method" not in message:
                return message
            if "method" in message and "id" in message:
                self.answer(message)

    def list_bytes(self):
        """The size of the list of tools, as compact JSON."""
        tools = self.ask("tools/list", {})["result"]["tools"]
        return len(json.dumps(tools, separators=(",", ":"), ensure_ascii=False).encode())

    def call(self, tool, **arguments):
        """Call a tool, and give the text of its result."""
        text, failed = self.attempt(tool, **arguments)
        if failed:
            raise Failed(f"{tool}: {text}")
        return text

    def attempt(self, tool, **arguments):
        """The same for a call that may fail: the text, and whether it did."""
        request = {"name": tool, "arguments": arguments}
        response = self.ask("tools/call", request)
        result = response.get("result") or response.get("error")
        self.cost.calls += 1
        # Clients keep _meta for themselves: the model does not see it.
        seen = {name: value for name, value in result.items() if name != "_meta"}
        for value in (request, seen):
            self.cost.bytes += len(json.dumps(value, separators=(",", ":"),
                                              ensure_ascii=False).encode())
        text = "\n".join(part.get("text", "") for part in result.get("content", []))
        return text or result.get("message", ""), "error" in response or result.get("isError")

    def edit(self, path, content):
        """Write a file with the agent's own editor, for a server that has no tool for it."""
        with open(os.path.join(self.directory, path), "w", encoding="utf-8") as file:
            file.write(content)
        self.cost.calls += 1
        self.cost.edits += 1
        self.cost.bytes += len(content.encode()) + len(path)

    def read(self, path):
        """Read a file with the agent's own editor."""
        with open(os.path.join(self.directory, path), encoding="utf-8") as file:
            content = file.read()
        self.cost.calls += 1
        self.cost.edits += 1
        self.cost.bytes += len(content.encode()) + len(path)
        return content

    def end(self):
        self.process.stdin.close()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
