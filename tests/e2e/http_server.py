# SPDX-License-Identifier: Apache-2.0
"""`airlock serve --http` on loopback, and clients of both eras that send what they are told."""
import contextlib
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import threading

import harness

WAIT_SECONDS = harness.WATCHDOG_SECONDS
MODERN = "2026-07-28"
LEGACY = "2025-11-25"
META = "io.modelcontextprotocol/"


class Endpoint:
    """A server on a free port; `tokens` are the lines of its token file, None: --no-token."""

    def __init__(self, case, *options, tokens=None, env=None, program=None, roots=None):
        self.case, self.said = case, []
        if tokens is None:
            who = ["--no-token"]
        else:
            self.token_file = case.base / "tokens"
            self.write_tokens(tokens)
            who = ["--token-file", str(self.token_file)]
        command = [str(program or harness.AIRLOCK), "serve", "--http", "127.0.0.1:0", *who]
        for root in roots or [case.root]:
            command += ["--root", str(root)]
        if "--approval" not in options:
            command += ["--approval", "allow"]
        self.process = subprocess.Popen(
            case.launch([*command, *options, *case.named_toolsets(options)]), cwd=case.root,
            env=case.env | (env or {}), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, start_new_session=True)
        case.addCleanup(self.kill)
        self.port = None
        self.ready = threading.Event()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()
        if not self.ready.wait(WAIT_SECONDS) or not self.port:
            raise AssertionError(f"the server does not listen: {b''.join(self.said).decode()}")

    def read(self):
        """Collect what it prints, so that its pipe never fills up."""
        for line in self.process.stderr:
            self.said.append(line)
            found = re.search(rb"http://127\.0\.0\.1:(\d+)", line)
            if found and not self.port:
                self.port = int(found[1])
                self.ready.set()
        self.ready.set()

    def write_tokens(self, lines):
        """The token file, whole or not at all."""
        new = self.token_file.with_suffix(".new")
        new.touch(mode=0o600)
        new.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        new.replace(self.token_file)

    @property
    def url(self):
        """The address for clients."""
        return f"http://127.0.0.1:{self.port}/mcp"

    def connect(self):
        """A connection for bytes that no client library would send."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_SECONDS)

    def end(self):
        """SIGTERM; gives the exit code."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.process.pid, signal.SIGTERM)
        return self.wait()

    def wait(self):
        """The exit code, once the server has ended."""
        code = self.process.wait(timeout=WAIT_SECONDS)
        self.reader.join(WAIT_SECONDS)
        return code

    def kill(self):
        """End it with everything it started, which is in its session."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(timeout=WAIT_SECONDS)
        self.reader.join(WAIT_SECONDS)
        self.process.stderr.close()


class Answer:
    """What came back for one POST: the status, the headers, and the messages."""

    def __init__(self, response, on_request):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.events = []  # (id, message) of a stream
        self.streamed = self.headers.get("content-type", "").startswith("text/event-stream")
        if self.streamed:
            self.messages = []
            for number, message in events(response):
                self.events.append((number, message))
                self.messages.append(message)
                if "method" in message and "id" in message:
                    on_request(message)
        else:
            self.body = response.read()
            with contextlib.suppress(ValueError):
                self.messages = [json.loads(self.body)]
                return
            self.messages = []

    @property
    def message(self):
        """The response itself, which comes last."""
        return self.messages[-1] if self.messages else None


def events(response):
    """The events of a stream that carry data, until it ends."""
    number, data = None, []
    for line in response:
        line = line.rstrip(b"\r\n")
        name, _, value = line.partition(b":")
        value = value.removeprefix(b" ").decode()
        if name == b"id":
            number = value
        elif name == b"data":
            data.append(value)
        elif not line:
            text, data = "\n".join(data), []
            if text:
                yield number, json.loads(text)


class Peer:
    """What both eras share: one connection that is kept, and answers to questions on others."""

    def __init__(self, endpoint, token=None, on_question=None):
        self.endpoint, self.token, self.on_question = endpoint, token, on_question
        self.number, self.asked = 0, []
        self.connection = self.new_connection()
        endpoint.case.addCleanup(self.close)

    def new_connection(self):
        """Another connection to the server."""
        return http.client.HTTPConnection("127.0.0.1", self.endpoint.port, timeout=WAIT_SECONDS)

    def close(self):
        """Close the connection, and nothing else."""
        self.connection.close()

    def headers(self, message):
        """What every POST has."""
        del message
        words = {"Content-Type": "application/json",
                 "Accept": "application/json, text/event-stream"}
        if self.token:
            words["Authorization"] = f"Bearer {self.token}"
        return words

    def start(self, message, connection=None, **headers):
        """Send a message; gives the response with its headers read."""
        connection = connection or self.connection
        words = self.headers(message) | headers
        connection.request("POST", "/mcp", json.dumps(message).encode(),
                           {name: value for name, value in words.items() if value is not None})
        return connection.getresponse()

    def post(self, message, connection=None, **headers):
        """Send a message and read the whole answer."""
        return Answer(self.start(message, connection, **headers), self.answer)

    def answer(self, question):
        """Answer a request of the server, on a connection of its own."""
        self.asked.append(question)
        if not self.on_question:
            return
        result = self.on_question(question)
        with contextlib.closing(self.new_connection()) as connection:
            self.post({"jsonrpc": "2.0", "id": question["id"], "result": result}, connection)

    def message(self, method, params=None):
        """A request with a new id."""
        self.number += 1
        return {"jsonrpc": "2.0", "id": self.number, "method": method, "params": params or {}}

    def request(self, method, params=None, connection=None):
        """A request that must be answered; gives the message."""
        message = self.message(method, params)
        answer = self.post(message, connection)
        if not answer.message or answer.message.get("id") != message["id"]:
            raise AssertionError(f"{method}: {answer.status} {answer.messages}")
        return answer.message

    def call(self, tool, arguments=None, connection=None, meta=None):
        """One call of a tool and its result."""
        params = {"name": tool, "arguments": arguments or {}} | ({"_meta": meta} if meta else {})
        answer = self.request("tools/call", params, connection)
        if "result" not in answer:
            raise AssertionError(f"{tool}: {answer}")
        return harness.Result(answer["result"])


class Client(Peer):
    """A client of the legacy era, with a session."""

    def __init__(self, endpoint, token=None, on_question=None, revision=LEGACY):
        super().__init__(endpoint, token, on_question)
        self.session, self.revision = None, None
        answer = self.post(self.message("initialize", {
            "protocolVersion": revision, "capabilities": {"elicitation": {}} if on_question else {},
            "clientInfo": {"name": "e2e", "version": "1"}}))
        if answer.status != 200:
            raise AssertionError(f"initialize: {answer.status} {answer.body!r}")
        self.session, self.revision = answer.headers.get("mcp-session-id"), revision
        self.greeting = answer.message["result"]
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def headers(self, message):
        words = super().headers(message)
        if self.session:
            words["Mcp-Session-Id"] = self.session
        if self.revision:
            words["MCP-Protocol-Version"] = self.revision
        return words

    def end(self):
        """End the session; gives the status."""
        self.connection.request("DELETE", "/mcp", headers=self.headers({}))
        response = self.connection.getresponse()
        response.read()
        return response.status


class ModernClient(Peer):
    """A client of the modern era: every request says all there is to know."""

    def __init__(self, endpoint, token=None, capabilities=None):
        super().__init__(endpoint, token)
        self.capabilities = capabilities or {}

    def message(self, method, params=None):
        message = super().message(method, params)
        message["params"] = message["params"] | {"_meta": {
            META + "protocolVersion": MODERN, META + "clientCapabilities": self.capabilities,
            META + "clientInfo": {"name": "e2e", "version": "1"}} | (params or {}).get("_meta", {})}
        return message

    def headers(self, message):
        words = super().headers(message) | {"MCP-Protocol-Version": MODERN,
                                            "Mcp-Method": message["method"]}
        if message["method"] == "tools/call":
            words["Mcp-Name"] = message["params"]["name"]
        return words
