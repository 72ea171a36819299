#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Over HTTP the questions of all agents wait in one queue, and each answer reaches its own call."""
import threading

import harness
import http_server
import reviewing

ADD = {"paths": ["a.txt"]}


class OverHttp(reviewing.ReviewCase):
    """Several agents, and one user with airlock review."""

    def serve(self, *agents):
        """A server with a token for each agent."""
        config = self.home / ".config/airlock/config.toml"
        config.write_text('toolsets = ["git"]\n[grants.all]\ntools = ["*"]\n')
        self.tokens = {name: name[0] * 40 for name in agents}
        return http_server.Endpoint(self, "--approval", "ask", tokens=[
            f"{token} all {name}" for name, token in self.tokens.items()])

    def later(self, client, arguments):
        """A call on a thread of its own; gives the thread and where its result will be."""
        results = []
        thread = threading.Thread(target=lambda: results.append(client.call("git_add", arguments)))
        thread.start()
        self.addCleanup(thread.join)
        return thread, results

    def test_form(self):
        """airlock review answers before the client's form, which is withdrawn"""
        server = self.serve("bob")
        seen = []

        def look(question):
            seen.append(self.the_one())
            self.review("reject", seen[0]["id"], "not now")
            return {"action": "accept", "content": {"decision": "once"}}

        client = http_server.Client(server, self.tokens["bob"], on_question=look)
        result = client.call("git_add", ADD)
        self.assertEqual((result.kind, result.text), ("ApprovalDenied", "Rejected: not now"))
        self.assertEqual((seen[0]["agent"], seen[0]["client"]), ("bob", "e2e"))
        self.assertEqual((self.staged(), self.waiting()), ([], []))

    def test_agents(self):
        """two agents of both eras wait for an attached review, and each gets its own answer"""
        self.write("b.txt", "new\n")
        server = self.serve("alice", "bob")
        attached = reviewing.Attached(self, server.process.pid)
        waits = {"alice": self.later(http_server.ModernClient(server, self.tokens["alice"]), ADD),
                 "bob": self.later(http_server.Client(server, self.tokens["bob"]),
                                   {"paths": ["b.txt"]})}
        entries = {entry["agent"]: entry for entry in (attached.entry(), attached.entry())}
        self.assertEqual(sorted(entries), ["alice", "bob"])
        self.review("approve", entries["bob"]["id"])
        self.review("reject", entries["alice"]["id"], "no")
        for thread, _ in waits.values():
            thread.join()
        self.assertEqual(waits["alice"][1][0].text, "Rejected: no")
        self.assertFalse(waits["bob"][1][0].failed, waits)
        self.assertEqual(self.staged(), ["b.txt"])

    def test_gone(self):
        """the question of a modern client that goes away no longer waits"""
        server = self.serve("alice")
        attached = reviewing.Attached(self, server.process.pid)
        client = http_server.ModernClient(server, self.tokens["alice"])
        client.connection.request("POST", "/mcp", harness.json.dumps(
            message := client.message("tools/call", {"name": "git_add", "arguments": ADD})).encode(),
            client.headers(message))
        entry = attached.entry()
        client.close()
        self.assertEqual(attached.receive(), {"gone": entry["id"]})
        self.assertEqual((self.staged(), self.waiting()), ([], []))

    def test_end(self):
        """SIGTERM ends a call that waits, and removes the socket"""
        server = self.serve("alice")
        attached = reviewing.Attached(self, server.process.pid)
        client = http_server.ModernClient(server, self.tokens["alice"])
        client.connection.request("POST", "/mcp", harness.json.dumps(
            message := client.message("tools/call", {"name": "git_add", "arguments": ADD})).encode(),
            client.headers(message))
        attached.entry()
        client.close()
        self.assertEqual(server.end(), 0)
        self.assertEqual(list(self.sockets.iterdir()), [])


if __name__ == "__main__":
    harness.main()
