# SPDX-License-Identifier: Apache-2.0
"""Tools of other MCP servers: listed, named, called, and told apart from airlock's own."""
import json
import os

from harness import Result, main
from upstream import Client, UpstreamCase

ERAS = ("legacy", "modern")


class Upstream(UpstreamCase):
    def test_listed(self):
        """Tools of servers of both eras come after the native ones, as their servers define them"""
        self.configure(self.server("old"), self.server("new", "modern"))
        client = Client(self)
        self.assertEqual(client.answer["capabilities"], {"tools": {"listChanged": True}})
        tools = client.list()
        names = list(tools)
        self.assertEqual(names[0], "git_status")
        first = names.index("mcp__new__echo")
        self.assertFalse([name for name in names[:first] if name.startswith("mcp__")])
        for server in ("new", "old"):
            tool = tools[f"mcp__{server}__echo"]
            self.assertEqual(tool["title"], "Echo")
            self.assertEqual(tool["description"], "Say it again.\nAnd again.")
            self.assertEqual(tool["annotations"], {"readOnlyHint": True, "openWorldHint": False})
            self.assertEqual(tool["inputSchema"]["properties"]["count"], {"type": "integer"})
            self.assertNotIn("title", tools[f"mcp__{server}__weather"])
            self.assertEqual(tools[f"mcp__{server}__weather"]["outputSchema"]["required"],
                             ["degrees"])
        self.assertEqual(client.list(), tools)

    def test_called(self):
        """Arguments arrive as they are; results come back safe, with images and structured content"""
        self.configure(self.server("old"), self.server("new", "modern"))
        client = Client(self)
        arguments = {"text": "a\u202eb", "count": 3, "words": ["x", "y"], "more": {"n": [None, 1.5]}}
        for server in ("old", "new"):
            result = client.call(f"mcp__{server}__echo", arguments)
            self.assertEqual(json.loads(result.text)["more"], {"n": [None, 1.5]}, result)
            result = client.call(f"mcp__{server}__weather")
            self.assertEqual(result.value["structuredContent"], {"degrees": 20})
            client.send(id="p", method="tools/call", params={"name": f"mcp__{server}__picture"})
            content = client.answer_of("p")["result"]["content"]
            self.assertEqual(content, [
                {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
                {"type": "resource", "resource": {"uri": "file:///a", "text": "A"}}])
            result = client.call(f"mcp__{server}__fail")
            self.assertTrue(result.failed)
            self.assertEqual((result.text, result.kind), ("no such thing", "ExecutionFailed"))
        self.assertEqual(client.call("git_status").text, "## main\n")

    def test_no_servers(self):
        """Without servers the list never changes, and there is nothing to listen to"""
        client = Client(self)
        self.assertEqual(client.answer["capabilities"], {"tools": {}})
        answer = client.modern("subscriptions/listen", notifications={"toolsListChanged": True})
        self.assertEqual(answer["error"]["code"], -32601)
        client.send(id="x", method="tools/call", params={"name": "mcp__old__echo"})
        self.assertEqual(client.answer_of("x")["error"]["code"], -32602)

    def test_unknown(self):
        """A tool that a server does not have is unknown"""
        self.configure(self.server("old"))
        client = Client(self)
        for name in ("mcp__old__nope", "mcp__other__echo", "mcp__old__", "mcp__old"):
            client.send(id=name, method="tools/call", params={"name": name})
            answer = client.answer_of(name)
            self.assertEqual(answer["error"]["code"], -32602, answer)
            self.assertIn(f"Unknown tool: {name}", answer["error"]["message"])

    def test_not_running(self):
        """A call of a server that does not run is in the journal, without its secrets"""
        self.configure('[mcp.servers.gone]\ncommand = ["no-such-program"]\n')
        client = Client(self)
        client.send(id="x", method="tools/call",
                    params={"name": "mcp__gone__echo", "arguments": {"api_key": "hidden-value"}})
        self.assertTrue(client.answer_of("x")["result"]["isError"])
        line = self.record()
        self.assertEqual((line["tool"], line["outcome"], line["decision"]),
                         ("mcp__gone__echo", "error", "none"), line)
        self.assertIn("there is no program 'no-such-program'", json.dumps(line))
        self.assertNotIn("hidden-value", json.dumps(line))

    def test_collisions(self):
        """A tool with the name of a native one is left out, or takes its place with prefer_mcp"""
        self.configure(self.server("odd", "legacy", "odd"))
        tools = Client(self).list()
        self.assertIn("git_status", tools)
        self.assertNotIn("mcp__odd__git_status", tools)
        self.assertFalse([name for name in tools if "." in name or len(name) > 64])
        self.configure("tools.git.prefer_mcp = true", self.server("odd", "legacy", "odd"))
        client = Client(self)
        tools = client.list()
        self.assertNotIn("git_status", tools)
        self.assertIn("git_log", tools)
        self.assertEqual(client.call("mcp__odd__git_status").text, "the status of another server")
        client.send(id="x", method="tools/call", params={"name": "git_status"})
        error = client.answer_of("x")["error"]
        self.assertEqual((error["code"], error["message"]), (-32602, "Unknown tool: git_status"))

    def test_doctor(self):
        """doctor names each server, and the tools that are not mounted"""
        self.configure(self.server("odd", "legacy", "odd"))
        found = json.loads(self.airlock("doctor", "--json"))
        by_name = {finding["check"]: finding for finding in found}
        self.assertEqual(by_name["mcp odd"]["level"], "ok", by_name["mcp odd"])
        self.assertRegex(by_name["mcp odd"]["state"], r"^fake 1, 16 tools, \S+, confined$")
        left_out = [finding["state"] for finding in found if finding["check"] == "mcp tools"]
        self.assertEqual(len(left_out), 3, left_out)
        self.assertIn("odd: 'a.b' has characters that clients refuse", left_out)
        self.assertIn("not offered, as airlock has tools of these names: odd: git_status", left_out)

    def test_chosen(self):
        """`tools` chooses what is mounted; a name that the server does not have is named"""
        self.configure(self.server("old", more='tools = ["echo", "nope"]'))
        self.assertEqual([name for name in Client(self).list() if name.startswith("mcp__")],
                         ["mcp__old__echo"])
        self.assertIn("old: has no tool 'nope'", self.airlock("doctor"))

    def test_broken(self):
        """A server that cannot start costs its own tools alone"""
        self.configure(self.server("bad", "legacy", "exits"), self.server("old"),
                       '[mcp.servers.none]\ncommand = ["/nonexistent/server"]\n')
        client = Client(self)
        self.assertIn("mcp__old__echo", client.list())
        for name in ("bad", "none"):
            result = client.call(f"mcp__{name}__echo")
            self.assertTrue(result.failed)
            self.assertEqual(result.kind, "ExecutionFailed", result)
            self.assertIn(name, result.text)
        self.assertEqual(client.call("mcp__old__echo").text, "{}")
        self.assertIn("mcp bad", self.airlock("doctor", code=1))

    def test_slow(self):
        """A server that is slow to list keeps nobody waiting; its tools come with list_changed"""
        slow = self.pipe("slow")
        self.configure(self.server("slow", "legacy", "slow"), self.server("old"))
        client = Client(self)
        tools = client.list()
        self.assertIn("mcp__old__echo", tools)
        self.assertNotIn("mcp__slow__echo", tools)
        os.close(os.open(slow, os.O_WRONLY))
        client.next_told("notifications/tools/list_changed")
        self.assertIn("mcp__slow__echo", client.list())

    def test_listening(self):
        """A modern client that listens is told of a change, under the id of its subscription"""
        self.configure(self.server("new", "modern"), self.server("old"))
        client = Client(self)
        listed = client.modern("tools/list")["result"]
        self.assertEqual((listed["ttlMs"], listed["cacheScope"]), (0, "private"))
        client.send(id="sub", method="subscriptions/listen", params={
            "notifications": {"toolsListChanged": True, "promptsListChanged": True}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {}}})
        opened = client.next_told("notifications/subscriptions/acknowledged")["params"]
        self.assertEqual(opened["notifications"], {"toolsListChanged": True})
        client.call("mcp__old__change", {"tool": "echo", "member": "title", "value": "Other"})
        told = client.next_told("notifications/tools/list_changed")
        if "params" not in told:  # the legacy client on the same pipe is told as well
            told = client.next_told("notifications/tools/list_changed")
        self.assertEqual(told["params"]["_meta"],
                         {"io.modelcontextprotocol/subscriptionId": "sub"})
        self.assertEqual(client.list()["mcp__old__echo"]["title"], "Other")

    def test_huge(self):
        """Definitions of a server beyond 1 MiB are left out and named; the others stay"""
        self.configure(self.server("big", "legacy", "huge"), self.server("old"))
        tools = Client(self).list()
        huge = [name for name in tools if name.startswith("mcp__big__huge")]
        self.assertEqual(len(huge), (1 << 20) // 40080, len(huge))
        self.assertIn("mcp__old__echo", tools)
        self.assertIn(f"big: 'huge{len(huge)}' has no room", self.airlock("doctor"))

    def test_killed(self):
        """A server that dies in the middle of a call costs this call; it is started again"""
        self.configure(self.server("one"), self.server("two", "modern"))
        client = Client(self)
        self.assertEqual(client.call("mcp__two__echo").text, "{}")
        result = client.call("mcp__one__die")
        self.assertEqual(result.kind, "ExecutionFailed", result)
        self.assertIn("one", result.text)
        self.assertEqual(client.call("mcp__two__echo").text, "{}")
        self.assertIn("mcp__one__echo", client.list())
        self.assertEqual(client.call("mcp__one__echo").text, "{}")

    def test_cancelled(self):
        """A cancelled call is not answered, and the server goes on"""
        pipe = self.pipe()
        self.configure(self.server("old"))
        client = Client(self)
        client.list()
        client.send(id="w", method="tools/call", params={"name": "mcp__old__wait"})
        writer = os.open(pipe, os.O_WRONLY)
        client.send(method="notifications/cancelled", params={"requestId": "w"})
        client.send(id="p", method="ping")
        self.assertEqual(client.answer_of("p")["result"], {})
        os.close(writer)
        self.assertEqual(client.call("mcp__old__echo").text, "{}")
        self.assertNotIn("w", [message.get("id") for message in client.told])

    def test_progress(self):
        """Progress reaches the client that asked for it"""
        pipe = self.pipe()
        self.configure(self.server("old"), self.server("new", "modern"))
        client = Client(self)
        for name in ("old", "new"):
            client.send(id=name, method="tools/call", params={
                "name": f"mcp__{name}__progress", "_meta": {"progressToken": name}})
            told = client.next_told("notifications/progress")["params"]
            self.assertEqual(told["progressToken"], name)
            self.assertRegex(told["message"], r"^[12] of 2: step [12]$")
            pipe.write_text("done", encoding="utf-8")
            self.assertEqual(Result(client.answer_of(name)["result"]).text, "done")


if __name__ == "__main__":
    main()
