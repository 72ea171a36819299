#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Requests of the modern era over HTTP: headers against the body, statuses, a client that goes."""
import base64
import http.client
import json
import socket

import harness
import http_mcp
import http_server
from http_server import META, MODERN


class Modern(http_mcp.Case):
    def message(self, method, params=None, capabilities=None, version=MODERN, number=1):
        """A modern request."""
        return {"jsonrpc": "2.0", "id": number, "method": method, "params": (params or {}) | {
            "_meta": {META + "protocolVersion": version,
                      META + "clientCapabilities": capabilities or {}}}}

    def headers(self, message, **changes):
        """The headers that fit a message, with changes; None takes one away."""
        words = {"Content-Type": "application/json",
                 "Accept": "application/json, text/event-stream",
                 "MCP-Protocol-Version": MODERN, "Mcp-Method": message.get("method")}
        if "name" in message.get("params", {}):
            words["Mcp-Name"] = message["params"]["name"]
        return words | {name.replace("_", "-"): value for name, value in changes.items()}

    def post(self, server, message, **changes):
        """POST it; gives the exchange."""
        return http_mcp.Exchange(self, server, "POST", message, self.headers(message, **changes))

    def code(self, server, message, **changes):
        """Status and code of the error; a result has code 0."""
        answer = self.post(server, message, **changes)
        body = answer.json()
        self.assertEqual(body.get("id"), message.get("id"))
        return answer.status, body.get("error", {"code": 0})["code"]


class Requests(Modern):
    def test_call(self):
        """calls need no handshake and make no session"""
        server = self.serve()
        for message in (self.message("server/discover"), self.message("tools/list"),
                        self.message("tools/call", {"name": "git_status"})):
            answer = self.post(server, message, Mcp_Session_Id="whatever", Last_Event_ID="1-1")
            result = answer.json()["result"]
            self.assertEqual((answer.status, result["resultType"]), (200, "complete"))
            self.assertNotIn("mcp-session-id", answer.headers)

    def test_cache_scope(self):
        """what depends on the token is private"""
        server = self.serve()
        for method in ("server/discover", "tools/list"):
            result = self.post(server, self.message(method)).json()["result"]
            self.assertEqual((result["cacheScope"], result["ttlMs"]), ("private", 60000))

    def test_same_ids(self):
        """clients of one token may use the same id at once"""
        server = self.serve()
        pipe = self.block_log()
        message = self.message("tools/call", {"name": "git_log",
                                              "arguments": {"timeout_ms": 600000}})
        connection = http.client.HTTPConnection("127.0.0.1", server.port)
        self.addCleanup(connection.close)
        connection.request("POST", "/mcp", json.dumps(message), self.headers(message))
        self.hold(pipe)
        status = self.message("tools/call", {"name": "git_status"})
        self.assertEqual(self.code(server, status), (200, 0))

    def test_methods(self):
        """GET and DELETE are 405, whatever the session"""
        session = http_mcp.Session(self, self.serve())
        for method in ("GET", "DELETE", "PUT"):
            words = session.headers | {"MCP-Protocol-Version": MODERN}
            answer = http_mcp.Exchange(self, session.server, method, None, words)
            self.assertEqual((answer.end(), answer.headers["allow"]), (405, "POST"))
        self.assertEqual(session.post(http_mcp.PING).end(), 200)

    def test_unknown(self):
        """methods that there are not, or no more, are 404 with -32601"""
        server = self.serve()
        for method in ("initialize", "ping", "no/such", "logging/setLevel",
                       "resources/subscribe", "subscriptions/listen"):
            self.assertEqual(self.code(server, self.message(method)), (404, -32601), method)

    def test_envelope(self):
        """an envelope that is missing or not whole is 400 with -32602 and the request's id"""
        server = self.serve()
        whole = self.message("server/discover")
        version, capabilities = META + "protocolVersion", META + "clientCapabilities"
        for meta in (None, {}, {version: MODERN}, {capabilities: {}}, {version: 1, capabilities: {}},
                     {version: MODERN, capabilities: []}):
            params = {} if meta is None else {"_meta": meta}
            self.assertEqual(self.code(server, whole | {"params": params}), (400, -32602), meta)
        legacy = {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}
        self.assertEqual(self.code(server, legacy), (400, -32602))

    def test_versions(self):
        """an unsupported version is 400 with -32022 and what is supported"""
        server = self.serve()
        for version in ("1999-01-01", "2025-11-25", ""):
            message = self.message("server/discover", version=version)
            answer = self.post(server, message, MCP_Protocol_Version=version or None)
            error = answer.json()["error"]
            if version:
                self.assertEqual((answer.status, error["code"]), (400, -32022))
                self.assertEqual(error["data"]["requested"], version)
                self.assertEqual(error["data"]["supported"][0], MODERN)
            else:
                self.assertEqual((answer.status, error["code"]), (400, -32020))

    def test_mismatches(self):
        """headers that are missing or differ from the body are 400 with -32020"""
        server = self.serve()
        call = self.message("tools/call", {"name": "git_status"})

        def word(text):
            return "=?base64?" + base64.b64encode(text.encode()).decode() + "?="

        for changes in ({"MCP_Protocol_Version": None}, {"MCP_Protocol_Version": "2025-11-25"},
                        {"MCP_Protocol_Version": "1999-01-01"}, {"Mcp_Method": None},
                        {"Mcp_Method": "tools/list"}, {"Mcp_Method": "Tools/Call"},
                        {"Mcp_Name": None}, {"Mcp_Name": "git_log"}, {"Mcp_Name": "Git_Status"},
                        {"Mcp_Name": word("git_log")}, {"Mcp_Name": "=?base64?*?="},
                        {"Mcp_Name": word("git_status")[:-1]}, {"Mcp_Name": "git_status\u00e9".encode()}):
            self.assertEqual(self.code(server, call, **changes), (400, -32020), changes)
        for changes in ({}, {"Mcp_Name": word("git_status")}, {"Mcp_Name": "  git_status "},
                        {"Mcp_Method": " tools/call"}):
            self.assertEqual(self.code(server, call, **changes), (200, 0), changes)

    def test_unknown_tool(self):
        """an unknown tool is an error with status 200; a call without a name too"""
        server = self.serve()
        nope = self.message("tools/call", {"name": "nope"})
        self.assertEqual(self.code(server, nope), (200, -32602))
        self.assertEqual(self.code(server, self.message("tools/call")), (200, -32602))

    def test_notifications(self):
        """a notification is 202, and cancels nothing"""
        server = self.serve()
        note = self.message("notifications/cancelled", {"requestId": 1})
        del note["id"]
        answer = self.post(server, note)
        self.assertEqual((answer.status, answer.response.read()), (202, b""))
        self.assertEqual(self.post(server, note, Mcp_Method=None).end(), 400)

    def test_batch(self):
        """there are no batches"""
        server = self.serve()
        for batch in ([], [self.message("server/discover")]):
            answer = http_mcp.Exchange(self, server, "POST", batch, self.headers({}))
            self.assertEqual(answer.end(), 400)


class Calls(Modern):
    def test_approval(self):
        """a call that asks ends, and the next one brings the answer"""
        server = self.serve()
        params = {"name": "git_add", "arguments": {"paths": ["a.txt"]}}
        able = {"elicitation": {"form": {}}}
        asked = self.post(server, self.message("tools/call", params, able))
        self.assertEqual(asked.headers["content-type"], "application/json")
        asked = asked.json()["result"]
        self.assertEqual(asked["resultType"], "input_required")
        self.assertEqual(self.staged(), [])
        params |= {"inputResponses": {"approve": http_mcp.ONCE},
                   "requestState": asked["requestState"]}
        done = self.post(server, self.message("tools/call", params, able, number=2)).json()
        self.assertEqual(done["result"]["resultType"], "complete")
        self.assertEqual(self.staged(), ["a.txt"])
        again = self.post(server, self.message("tools/call", params, able, number=3)).json()
        self.assertNotIn("error", again)  # the state is spent: asked again, or nothing left to do

    def test_client_goes(self):
        """a client that goes cancels its call, and no other"""
        server = self.serve()
        pipe = self.block_log()
        message = self.message("tools/call", {"name": "git_log",
                                              "arguments": {"timeout_ms": 600000}})
        connection = http.client.HTTPConnection("127.0.0.1", server.port,
                                                timeout=http_server.WAIT_SECONDS)
        connection.request("POST", "/mcp", json.dumps(message), self.headers(message))
        writer = self.hold(pipe)
        connection.close()
        self.wait_for_its_end(writer)
        self.assertEqual(self.code(server, self.message("tools/list")), (200, 0))

    def test_client_goes_at_once(self):
        """a client that goes before its request was looked at cancels its call too"""
        server = self.serve()
        pipe = self.block_log()
        message = self.message("tools/call", {"name": "git_log",
                                              "arguments": {"timeout_ms": 600000}})
        body = json.dumps(message).encode() + b" " * 3000000  # which takes a while to parse
        words = self.headers(message) | {"Host": "localhost:" + str(server.port),
                                         "Content-Length": str(len(body))}
        head = "".join(f"{name}: {value}\r\n" for name, value in words.items())
        with server.connect() as connection:
            connection.sendall(f"POST /mcp HTTP/1.1\r\n{head}\r\n".encode() + body)
            connection.shutdown(socket.SHUT_WR)
            answer = b"".join(iter(lambda: connection.recv(4096), b""))
        self.assertNotIn(b"result", answer)
        self.assert_nobody_reads(pipe)

    def test_progress(self):
        """progress makes the answer a stream without ids; a client that
        goes meanwhile cancels it"""
        server = self.serve()
        pipe = self.block_log()
        message = self.message("tools/call", {"name": "git_log",
                                              "arguments": {"timeout_ms": 600000}})
        message["params"]["_meta"]["progressToken"] = 5
        call = self.post(server, message)
        self.assertEqual(call.headers["content-type"], "text/event-stream")
        note = call.message()
        self.assertEqual(note["params"]["progressToken"], 5)
        self.assertIsNone(note["event"])
        writer = self.hold(pipe)
        call.cut()
        self.wait_for_its_end(writer)


if __name__ == "__main__":
    harness.main()
