# SPDX-License-Identifier: Apache-2.0
"""Requests over HTTP one by one: streams that are read event by event, and any headers."""
import http.client
import json

import harness
import http_server

ONE, TWO = "1" * 32, "2" * 32
ONCE = {"action": "accept", "content": {"decision": "once"}}
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
    "protocolVersion": http_server.LEGACY, "capabilities": {"elicitation": {}},
    "clientInfo": {"name": "e2e", "version": "1"}}}
PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}


class Exchange:
    """One request on a connection of its own, whose answer is read piece by piece."""

    def __init__(self, case, server, method, body, headers, connection=None):
        self.connection = connection or http.client.HTTPConnection(
            "127.0.0.1", server.port, timeout=http_server.WAIT_SECONDS)
        case.addCleanup(self.connection.close)
        if body is not None and not isinstance(body, bytes):
            body = json.dumps(body).encode()
        self.connection.request(method, "/mcp", body,
                                {name: value for name, value in headers.items() if value})
        self.response = self.connection.getresponse()
        self.status = self.response.status
        self.headers = {name.lower(): value for name, value in self.response.getheaders()}

    def event(self):
        """The next event as a dictionary of its fields; None: the stream has ended."""
        fields = {}
        for line in self.response:
            line = line.decode().rstrip("\n")
            if not line:
                return fields
            name, _, value = line.partition(":")
            fields[name] = value.removeprefix(" ")
        return None

    def message(self):
        """The next message of a stream; None: it has ended."""
        while (event := self.event()) is not None:
            if event.get("data"):
                return json.loads(event["data"]) | {"event": event.get("id")}
        return None

    def json(self):
        """The whole answer, which is no stream."""
        return json.loads(self.response.read())

    def end(self):
        """Read to the end; gives the status."""
        self.response.read()
        return self.status

    def cut(self):
        """Close the connection without a word."""
        self.response.close()
        self.connection.close()


class Session:
    """A legacy session of which the test sends every message."""

    def __init__(self, case, server, token=None, revision=http_server.LEGACY, capabilities=None):
        self.case, self.server = case, server
        self.headers = {"Content-Type": "application/json",
                        "Accept": "application/json, text/event-stream",
                        "Authorization": f"Bearer {token}" if token else None}
        params = INITIALIZE["params"] | {"protocolVersion": revision}
        if capabilities is not None:
            params["capabilities"] = capabilities
        self.hello = self.post(INITIALIZE | {"params": params})
        self.greeting = self.hello.json()
        self.headers["Mcp-Session-Id"] = self.hello.headers["mcp-session-id"]
        self.headers["MCP-Protocol-Version"] = revision

    @property
    def id(self):
        """Its id."""
        return self.headers["Mcp-Session-Id"]

    def post(self, body, **headers):
        """POST these bytes or this message; None takes a header away."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return Exchange(self.case, self.server, "POST", body, self.headers | headers)

    def get(self, last=None, **headers):
        """GET: the stream of the session, or what followed an event."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        headers["Last-Event-ID"] = last
        return Exchange(self.case, self.server, "GET", None, self.headers | headers)

    def delete(self, **headers):
        """DELETE; gives the status."""
        headers = {name.replace("_", "-"): value for name, value in headers.items()}
        return Exchange(self.case, self.server, "DELETE", None, self.headers | headers).end()

    def call(self, number, tool, arguments=None, token=None, **headers):
        """Begin a call."""
        params = {"name": tool, "arguments": arguments or {}}
        if token is not None:
            params["_meta"] = {"progressToken": token}
        return self.post({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                          "params": params}, **headers)

    def answer(self, question, result=None):
        """Answer a question of the server."""
        return self.post({"jsonrpc": "2.0", "id": question["id"], "result": result or ONCE}).end()

    def cancel(self, number):
        """Cancel a call."""
        return self.post({"jsonrpc": "2.0", "method": "notifications/cancelled",
                          "params": {"requestId": number}}).end()


class Case(harness.Case):
    """A repository with a file to add, and servers whose limits the test chooses."""

    def setUp(self):
        super().setUp()
        self.init()
        self.write("a.txt", "two\n")
        self.config = self.home / ".config/airlock/config.toml"

    def serve(self, *options, tokens=None, **limits):
        """A server; `limits` are keys of [serve]."""
        if limits:
            with open(self.config, "a", encoding="utf-8") as config:
                config.write("[serve]\n" + "".join(f"{k} = {v}\n" for k, v in limits.items()))
        return http_server.Endpoint(self, *(options or ["--approval", "ask"]), tokens=tokens)

    def question(self, session, number, **named):
        """Begin a git_add that asks; gives its exchange and the question."""
        call = session.call(number, "git_add", {"paths": ["a.txt"]}, **named)
        message = call.message()
        while "id" not in message:
            message = call.message()
        self.assertEqual(message["method"], "elicitation/create")
        return call, message

    def staged(self):
        """What is in the index and not in HEAD."""
        return self.out("diff", "--cached", "--name-only").split()
