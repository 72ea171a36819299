#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients over HTTP that are told of a change of the list of tools, which another server makes."""
import os
import signal

import harness
import http_mcp
import http_server
import upstream
from http_server import META, MODERN


class Listening(upstream.UpstreamCase):
    def setUp(self):
        super().setUp()
        text = (self.home / ".config/airlock/config.toml").read_text(encoding="utf-8")
        self.configure(text, self.server("m"))
        self.endpoint = http_server.Endpoint(self)
        self.token = None

    def post(self, method, params, number=1, connection=None):
        """A modern request; gives its exchange."""
        message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params | {"_meta": {
            META + "protocolVersion": MODERN, META + "clientCapabilities": {}}}}
        headers = {"Content-Type": "application/json", "MCP-Protocol-Version": MODERN,
                   "Mcp-Method": method, "Mcp-Name": params.get("name"),
                   "Authorization": self.token and f"Bearer {self.token}"}
        return http_mcp.Exchange(self, self.endpoint, "POST", message, headers, connection)

    def listen(self, number):
        """Subscribe; gives the stream behind its first message."""
        stream = self.post("subscriptions/listen",
                           {"notifications": {"toolsListChanged": True}}, number)
        first = stream.message()
        self.assertEqual(first["method"], "notifications/subscriptions/acknowledged")
        self.assertEqual(first["params"]["_meta"][META + "subscriptionId"], number)
        return stream

    def change(self):
        """List the tools, so that a change is told, and have the server change one."""
        tools = self.post("tools/list", {}).json()["result"]["tools"]
        self.assertIn("mcp__m__change", [tool["name"] for tool in tools])
        answer = self.post("tools/call", {"name": "mcp__m__change", "arguments": {
            "tool": "echo", "member": "title", "value": "Other"}})
        self.assertEqual(answer.end(), 200)

    def test_modern(self):
        """subscriptions of one id are told each on its stream; one that has gone makes room"""
        streams = [self.listen(7), self.listen(7)]
        self.change()
        for stream in streams:
            told = stream.message()
            self.assertEqual(told["method"], "notifications/tools/list_changed")
            self.assertEqual(told["params"]["_meta"][META + "subscriptionId"], 7)
        more = [self.listen(number) for number in range(14)]
        wanted = {"notifications": {"toolsListChanged": True}}
        answer = self.post("subscriptions/listen", wanted)
        self.assertEqual(answer.json()["error"]["code"], -32600)
        more[0].cut()
        while answer.headers["content-type"] == "application/json":  # until that one has gone
            answer.end()
            answer = self.post("subscriptions/listen", wanted, 1, answer.connection)
        self.assertIsNotNone(answer.message())

    def subscribe(self, token):
        """A subscription to changes, and one to nothing."""
        self.token = token
        streams = [self.listen(1), self.post("subscriptions/listen", {"notifications": {}}, 2)]
        self.assertIsNotNone(streams[1].message())
        return streams

    def test_end(self):
        """subscriptions end with their token, and with the server"""
        one, two = "1" * 32, "2" * 32
        self.endpoint = http_server.Endpoint(self, tokens=[one, two])
        ended, kept = self.subscribe(one), self.subscribe(two)
        self.endpoint.write_tokens([two])
        os.kill(self.endpoint.process.pid, signal.SIGHUP)
        for stream in ended:
            self.assertIsNone(stream.event())
        self.change()
        self.assertEqual(kept[0].message()["method"], "notifications/tools/list_changed")
        os.kill(self.endpoint.process.pid, signal.SIGTERM)
        for stream in kept:
            self.assertIsNone(stream.event())
        self.assertEqual(self.endpoint.wait(), 0)

    def test_legacy(self):
        """a session is told on its own stream, also of what happened before it was opened"""
        session = http_mcp.Session(self, self.endpoint)
        self.assertTrue(session.greeting["result"]["capabilities"]["tools"]["listChanged"])
        listed = session.post({"jsonrpc": "2.0", "id": 2, "method": "tools/list"})
        self.assertIn("mcp__m__echo", str(listed.json()))
        self.change()
        told = session.get().message()
        self.assertEqual(told["method"], "notifications/tools/list_changed")


if __name__ == "__main__":
    harness.main()
