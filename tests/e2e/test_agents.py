#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The name of the agent: where it comes from, and where it is shown."""
import json

import harness
import policy
import test_audit_log

META = "io.modelcontextprotocol/"


class Agents(test_audit_log.Audit):
    terminal = test_audit_log.Table.terminal
    configure = policy.Case.configure

    def setUp(self):
        super().setUp()
        self.config = self.home / ".config/airlock/config.toml"
        self.config.parent.mkdir(parents=True, exist_ok=True)

    def greet(self, server, info):
        """Another initialize request, with this clientInfo."""
        params = {"protocolVersion": "2025-06-18", "capabilities": {}}
        server.send(id="again", method="initialize",
                    params=params if info is None else params | {"clientInfo": info})
        self.assertIn("result", server.receive())

    def modern(self, server, info):
        """A call of the revision that has no handshake."""
        meta = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}
        server.send(id="modern", method="tools/call", params={
            "name": "git_status", "arguments": {},
            "_meta": meta if info is None else meta | {META + "clientInfo": info}})
        self.assertFalse(server.receive()["result"].get("isError", False))

    def agent(self):
        """The agent of the last call."""
        return self.record()["agent"]

    def worker(self):
        """A worker file; gives the options that use it."""
        path = self.write("w.md", "---\nname: report-writer\n---\n", self.base)
        return "--worker", str(path)

    def test_client(self):
        """without another name, the agent has the name of its client, of either era"""
        server = harness.Server(self)
        server.ok("git_status")
        self.assertEqual(self.agent(), "e2e")
        self.greet(server, {"name": "other-client", "version": "2"})
        server.ok("git_status")
        self.assertEqual(self.agent(), "other-client")
        self.modern(server, {"name": "modern-client", "version": "3"})
        self.assertEqual(self.agent(), "modern-client")
        self.modern(server, None)
        self.assertIsNone(self.agent())
        server.ok("git_status")
        self.assertEqual(self.agent(), "other-client")

    def test_odd_clients(self):
        """a client's name is made one safe line of at most 64 bytes; without one there is no name"""
        server = harness.Server(self)
        for info, name in (({"name": "a\n\033[31mb\u202e"}, "a b<U+202E>"),
                           ({"name": "x" * 63 + "\u00e9"}, "x" * 63),
                           ({"name": "y" * 100000}, "y" * 64),
                           (None, None), ({}, None), ({"name": " "}, None), ({"name": 7}, None),
                           ({"name": ["e2e"]}, None), ("e2e", None)):
            self.greet(server, info)
            server.ok("git_status")
            self.assertEqual(self.agent(), name)
        self.modern(server, {"name": "z" * 100})
        self.assertEqual(self.agent(), "z" * 64)

    def test_chosen(self):
        """--agent comes before the worker file, the worker file before the grant, and all of them
        before the client"""
        self.configure('[serve]\nagent = "configured"\n[grants.reviewer]\ntools = ["*"]\n')
        plain = self.home / "plain.toml"
        plain.write_text('[grants.reviewer]\ntools = ["*"]\n', encoding="utf-8")
        plain = ("--config", str(plain))
        for options, name in ((("--agent", "given"), "given"), ((), "configured"),
                              (("--agent=given", *self.worker(), "--grant=reviewer"), "given"),
                              ((*plain, *self.worker(), "--grant=reviewer"), "report-writer"),
                              ((*plain, "--grant", "reviewer"), "reviewer"),
                              (plain, "e2e")):
            server = harness.Server(self, *options)
            server.ok("git_status")
            server.close()
            self.assertEqual(self.agent(), name, options)
        self.ok("git_status", None, "--agent", "from a shell")
        self.assertEqual(self.agent(), "from a shell")
        self.ok("git_status", None, *plain)
        self.assertIsNone(self.agent())

    def test_refused(self):
        """a name that is no line of 1 to 64 visible bytes ends airlock with exit code 2"""
        for name in ("", " x", "x ", "a\nb", "\033[1m", "x" * 65):
            done = self.command("call", "--agent", name, "git_status")
            self.assertEqual((done.returncode, done.stderr),
                             (2, "airlock: --agent must be 1 to 64 bytes of visible characters on "
                                 "one line\n"), name)
        self.assertEqual(self.command("call", "--agent", "x" * 64, "git_status").returncode, 0)
        self.configure('[serve]\nagent = " x"\n')
        done = self.command("call", "git_status")
        self.assertEqual((done.returncode, done.stderr),
                         (2, f"airlock: {self.config}:2: serve.agent: must be 1 to 64 bytes of "
                             "visible characters on one line\n"))

    def test_log(self):
        """airlock log --agent, and a column where there are several"""
        for agent in ("one", "two", "one"):
            self.ok("git_status", None, "--agent", agent)
        self.assertEqual([line["agent"] for line in self.records("--agent", "one")], ["one"] * 2)
        self.assertEqual([line["seq"] for line in self.records("--agent=two")], [2])
        self.assertEqual(self.records("--agent", "on"), [])
        self.assertEqual(len(self.records("1", "--agent", "one", "--tool", "git_status")), 1)
        self.assertNotIn("AGENT", self.terminal(200, "--agent", "one"))
        lines = self.terminal(200, env={"NO_COLOR": "1"}).splitlines()
        self.assertIn("MS  AGENT  SUMMARY", lines[0])
        self.assertRegex(lines[2], r"\d  two    ")
        for words in (("--agent",), ("--verify", "--agent", "one"), ("--agnt", "one")):
            self.assertEqual(self.command("log", *words).returncode, 2, words)

    def test_old_lines(self):
        """a line without an agent has none, whatever its arguments say"""
        self.ok("git_status")
        log = self.state_dir / "tool_log.jsonl"
        line = json.loads(log.read_text(encoding="utf-8"))
        del line["agent"]
        old = dict(line, input={"agent": "x"})
        log.write_text(json.dumps(line, separators=(",", ":")) + "\n" +
                       json.dumps(old, separators=(",", ":")) + "\n", encoding="utf-8")
        self.assertNotIn("AGENT", self.terminal(200))
        self.assertEqual(self.records("--agent", "x"), [])
        self.ok("git_status", None, "--agent", "x")
        self.assertIn("AGENT", self.terminal(200))

    def test_running(self):
        """airlock log --running says whose call it is"""
        pipe = self.block_log()
        server = harness.Server(self, "--agent", "one")
        server.ask("git_log")
        writer = self.hold(pipe)
        self.assertEqual(json.loads(self.log("--running", "--json"))["agent"], "one")
        self.assertIn("  one  ", self.log("--running"))
        self.assertEqual(self.log("--running", "--agent", "two"), "no calls are running\n")
        pipe.unlink()
        self.assertIsNotNone(writer)


if __name__ == "__main__":
    harness.main()
