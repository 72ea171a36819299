# SPDX-License-Identifier: Apache-2.0
"""Tools of other MCP servers on the command line, and what a configuration of them may not say."""
import json
import os
import subprocess

from harness import AIRLOCK, main
from upstream import UpstreamCase


class CommandLine(UpstreamCase):
    def test_tools(self):
        """airlock tools lists them, and shows one with its parameters"""
        self.configure(self.server("old"))
        text = self.airlock("tools")
        self.assertIn("\nmcp__old\n", text)
        self.assertRegex(text, r"\n  mcp__old__echo +low +none  Say it again\.\n")
        self.assertRegex(text, r"\n  mcp__old__write_file +high +ask +Write a file\.\n")
        text = self.airlock("tools", "mcp__old__echo")
        self.assertIn("MCP server old; risk low.\n", text)
        self.assertRegex(text, r"\n  text +What to say\. \(string\)\n")
        self.assertRegex(text, r"\n  words +\(list; may be repeated\)\n")
        tools = {tool["name"]: tool for tool in json.loads(self.airlock("tools", "--json"))}
        self.assertEqual(tools["mcp__old__echo"]["effects"], ["reads"])
        self.assertEqual(tools["mcp__old__weather"]["effects"], ["reads", "uses_network"])
        self.assertEqual(len(tools["mcp__old__write_file"]["effects"]), 11)
        self.assertEqual(tools["mcp__old__weather"]["outputSchema"]["type"], "object")

    def test_missing_server(self):
        """A server that cannot start is named, and a command does not say that it tries again"""
        self.configure(self.server("old"), '[mcp.servers.gone]\ncommand = ["no-such-program"]\n')
        problem = "MCP server 'gone': there is no program 'no-such-program'\n"
        done = subprocess.run([AIRLOCK, "tools"], cwd=self.root, env=self.env, check=True,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.assertIn(b"mcp__old__echo", done.stdout)
        self.assertEqual(done.stderr.decode(),
                         f"airlock: warning: the tools of gone are missing: {problem}")
        for words in (("tools",), ("call",), ("policy", "explain")):
            self.assertEqual(self.airlock(*words, "mcp__gone__x", code=1), f"airlock: {problem}")
        self.assertIn("list what it reads", " ".join(self.airlock("doctor", code=1).split()))

    def test_rule_for_no_tool(self):
        """doctor warns of a rule about a tool that the server does not have"""
        for pattern, good in (("mcp__old__echo", True), ("mcp__old__ech*", True), ("*__nope", True),
                              ("mcp__old__ecko", False), ("mcp__o*nope", False)):
            self.configure(f'[[tools.approval.rule]]\ntool = "{pattern}"\ndecision = "deny"\n',
                           self.server("old"))
            text = self.airlock("doctor")
            self.assertEqual(f"rule in line 1 is about '{pattern}'" not in text, good, text)

    def test_call(self):
        """airlock call starts the server of the tool, and reads NAME=VALUE by its schema"""
        self.configure(self.server("old"), self.server("bad", "legacy", "exits"))
        text = self.airlock("call", "mcp__old__echo", "text=5", "count=5", "words=a", "words=b")
        self.assertEqual(json.loads(text), {"text": "5", "count": 5, "words": ["a", "b"]})
        text = self.airlock("call", "mcp__old__echo", "txt=5", code=2)
        self.assertIn("mcp__old__echo has no parameter 'txt'; did you mean text?", text)
        self.assertIn("unknown tool 'mcp__old__ecko'; did you mean mcp__old__echo?",
                      self.airlock("call", "mcp__old__ecko", code=2))
        self.assertIn("unknown tool 'mcp__old__nope'",
                      self.airlock("call", "mcp__old__nope", code=2))
        self.assertIn("unknown tool 'mcp__off__echo'",
                      self.airlock("call", "mcp__off__echo", code=2))
        result = self.ok("mcp__old__write_file", {"path": "x", "content": "x"})
        self.assertEqual(result.text, "wrote x")
        self.assertIn("mcp__old__write_file",
                      self.airlock("log", "--tool", "mcp__old__write_file"))
        self.assertNotIn("mcp__old__echo", self.airlock("log", "--tool", "mcp__old__write_file"))
        self.airlock("log", "--tool", "mcp__old", code=2)
        self.airlock("rollback")
        self.assertFalse((self.root / "x").exists())

    def test_explain(self):
        """airlock policy explain knows them"""
        self.configure('[[tools.approval.rule]]\ntool = "mcp__old__write*"\nbranch = "main"\n'
                       'decision = "deny"\n', self.server("old"))
        text = self.airlock("policy", "explain", "mcp__old__write_file", "path=x", "content=x")
        self.assertIn("decision   deny\nrule       1 (line 1)\n", text)
        self.assertIn("operation  mcp__old__write_file call\n", text)
        self.assertIn("branches   main\npaths      (every path)\n", text)
        self.assertIn("decision   allow\n", self.airlock("policy", "explain", "mcp__old__echo"))

    def test_rules(self):
        """A rule or a grant for a server that is not configured is refused at the start"""
        for pattern, good in (("mcp__old__write_file", True), ("mcp__o*", True), ("*write*", True),
                              ("mcp__new__write_file", False), ("mcp__ol", False)):
            for text in (f'[[tools.approval.rule]]\ntool = "{pattern}"\ndecision = "ask"\n',
                         f'[grants.g]\ntools = ["{pattern}"]\n'):
                self.configure(text, self.server("old"))
                answer = self.airlock("call", "git_status", code=0 if good else 2)
                if not good:
                    self.assertIn(f"no tool is called '{pattern}'", answer)
        self.configure('[[tools.approval.rule]]\ntool = "mcp__old__*"\noperation = "read"\n'
                       'decision = "ask"\n', self.server("old"))
        self.assertIn("no operation of mcp__old__* is called 'read'",
                      self.airlock("call", "git_status", code=2))

    def test_own_files(self):
        """A server gets neither configuration nor journal nor state, whatever its allow says"""
        for key in ("read", "write", "exec"):
            for place in (self.home, self.home / ".config", self.home / ".local/state/airlock", "/"):
                self.configure('[mcp.servers.x]\ncommand = ["x"]\n'
                               f'[mcp.servers.x.allow]\n{key} = ["{place}"]\n')
                self.assertIn(f"mcp.servers.x.allow.{key}: '{place}' contains airlock's own",
                              self.airlock("call", "git_status", code=2))
            own = self.home / ".config/airlock", self.home / ".local/state/airlock"
            (self.home / "link").unlink(missing_ok=True)
            (self.home / "link").symlink_to(own[1])
            for place in (own[0] / "config.toml.d", own[1] / "journal", self.home / "link/run"):
                self.configure('[mcp.servers.x]\ncommand = ["x"]\n'
                               f'[mcp.servers.x.allow]\n{key} = ["{place}"]\n')
                self.assertIn(f"mcp.servers.x.allow.{key}: '{place}' lies in airlock's own",
                              self.airlock("call", "git_status", code=2))
        self.configure('[mcp.servers.x]\ncommand = ["x"]\n'
                       f'[mcp.servers.x.allow]\nread = ["{self.home}/Documents", '
                       f'"{self.home}/.config/airlocks", "{self.home}/.local/state/other"]\n')
        self.airlock("call", "git_status")

    def test_leftovers(self):
        """What a killed airlock left of its servers is removed, and of one that runs it stays"""
        run = self.home / ".local/state/airlock/run"
        gone = subprocess.run(["sh", "-c", "echo $$"], check=True, capture_output=True).stdout
        for pid in (int(gone), os.getpid()):
            (run / f"mcp-{pid}-1/old/home").mkdir(parents=True)
        self.configure(self.server("old"))
        self.airlock("call", "mcp__old__echo")
        self.assertEqual([entry.name for entry in run.glob("mcp-*")], [f"mcp-{os.getpid()}-1"])

    def test_unconfined(self):
        """doctor warns of a server that is not confined"""
        self.configure(self.server("old", more="confine = false"))
        self.assertRegex(self.airlock("doctor"), r"warning  mcp old +fake 1, .*, not confined\n")


if __name__ == "__main__":
    main()
