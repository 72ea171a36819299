# SPDX-License-Identifier: Apache-2.0
"""Names as agents write them: the other toolset's spelling of a parameter, a tool's with a slip."""
import json
import subprocess

import harness
import workflow


class Git(harness.Case):
    def setUp(self):
        super().setUp()
        self.init(self.root / "repo")

    def test_working_dir(self):
        """`cwd`, camel case and the schema's own name are one parameter"""
        for name in ("working_dir", "workingDir", "cwd"):
            self.assertEqual(self.ok("git_status", {name: "repo"}).text, "## main\n")
        self.ok("git_log", {"maxCount": 1, "maxBytes": 100, "timeoutMs": 5000, "cwd": "repo"})
        self.refused("SandboxViolation", "Path outside sandbox: ..", "git_status", {"cwd": ".."})
        self.refused("BadArgs", "Invalid arguments: 'working_dir' must be a string", "git_status",
                     {"cwd": 7})

    def test_unknown(self):
        """what is neither spelling is unknown"""
        for name in ("Cwd", "WORKING_DIR", "working-dir", "workingdir", "dir", "working__dir"):
            self.assertEqual(self.call("git_status", {name: "repo"}).kind, "BadArgs", name)

    def test_both(self):
        """two spellings of one parameter in one call are refused, whatever they say"""
        for first, second in (("cwd", "working_dir"), ("working_dir", "cwd"),
                              ("workingDir", "cwd"), ("workingDir", "working_dir")):
            for value in ("repo", ".."):
                self.refused("BadArgs", f"Invalid arguments: '{first}' and '{second}' are the "
                             "same parameter; give one of them", "git_status",
                             {first: "repo", second: value})

    def test_rules(self):
        """a rule of the configuration is asked whichever way a path or a branch is spelled"""
        config = self.home / "rules.toml"
        config.write_text('[[tools.approval.rule]]\nbranch = "new"\ndecision = "deny"\n',
                          encoding="utf-8")
        given = ("--config", str(config))
        for name in ("create_branch", "createBranch"):
            denied = self.call("git_checkout", {name: "new", "cwd": "repo"}, *given)
            self.assertEqual(denied.kind, "ApprovalDenied", denied)

    def test_schema(self):
        """the schemas name the requirements' spelling alone"""
        done = subprocess.run([harness.AIRLOCK, "tools", "--json"], cwd=self.root, env=self.env,
                              capture_output=True, check=True)
        for tool in json.loads(done.stdout):
            names = set(tool["inputSchema"]["properties"])
            self.assertFalse({"cwd", "working_dir"} <= names or "workingDir" in names, tool)


class Workflow(workflow.Case):
    def test_both_spellings(self):
        """toolset workflow takes snake case and working_dir as well"""
        self.init(self.root / "repo")
        for name in ("cwd", "working_dir", "workingDir"):
            self.assertEqual(self.gives("git_status", {name: "repo"})["branch"], "main")
        for name, new in (("newName", "one"), ("new_name", "two")):
            self.git("branch", "old", cwd=self.root / "repo")
            self.gives("git_branch", {"action": "rename", "name": "old", name: new, "cwd": "repo"})
        self.fails(None, "git_branch", {"action": "rename", "name": "one", "newName": "three",
                                        "new_name": "three", "cwd": "repo"})
        self.assertEqual(self.out("branch", "--format=%(refname:short)", cwd=self.root / "repo"),
                         "main\none\ntwo\n")


class Session(harness.Case):
    def server(self, *options):
        """A server, and what it says about itself."""
        server = harness.Server(self, *options)
        server.send(id="again", method="initialize", params={
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "e2e", "version": "1"}})
        return server, server.receive()["result"]["instructions"]

    def test_unknown_tool(self):
        """an unknown tool is answered with the nearest one that this session has"""
        self.init()
        server, _ = self.server()
        for name, meant in (("git_stauts", "git_status"), ("gitStatus", "git_status"),
                            ("mcp__airlock__git_push", "git_push"), ("commit", "git_commit")):
            server.ask(name)
            self.assertEqual(server.receive()["error"]["message"],
                             f"Unknown tool: {name}; did you mean {meant}?")
        server.ask("nothing_like_it")
        self.assertEqual(server.receive()["error"]["message"], "Unknown tool: nothing_like_it")
        server, _ = self.server("--toolset", "git")
        server.ask("git_pusj")
        self.assertEqual(server.receive()["error"]["message"], "Unknown tool: git_pusj")

    def test_instructions(self):
        """the instructions speak of what the session has"""
        self.init()
        everything = ("working_dir", "cwd", "max_bytes", "git add", "git_push", "bash_command",
                      "approval", "Git reads", "/workspace/", "Begin with git_status",
                      "git_diff with hunks", "git_undo", "cursor", "git_land")
        for toolsets, spoken in (
                (("everyday",), ("working_dir", "git add", "approval", "Begin with git_status",
                                 "git_diff with hunks", "git_undo", "cursor")),
                (("everyday", "parallel"),
                 ("working_dir", "git add", "approval", "Begin with git_status",
                  "git_diff with hunks", "git_undo", "cursor", "git_land")),
                (("git",), ("working_dir", "max_bytes", "git add", "approval")),
                (("workflow",), ("cwd", "approval")),
                (("git", "workflow"), ("working_dir", "cwd", "max_bytes", "git add", "approval")),
                (("parallel",), ("working_dir", "approval", "git_land")),
                (("readonly",), ("Git reads",)),
                (("shell",), ("bash_command",)),
                (("files",), ("/workspace/",)),
                (("staging",), ("git_push", "approval")),
                (("files", "staging"), ("git_push", "/workspace/", "approval")),
                (("git", "files", "staging"), ("working_dir", "max_bytes", "git add", "git_push",
                                               "/workspace/", "approval"))):
            options = [word for name in toolsets for word in ("--toolset", name)]
            _, text = self.server(*options)
            self.assertLessEqual(len(text.encode()), 800)
            for word in everything:
                (self.assertIn if word in spoken else self.assertNotIn)(word, text, toolsets)

    def test_long_instructions(self):
        """with every toolset the rules stay, and what does not fit is left out"""
        self.init()
        names = ("everyday", "git", "workflow", "readonly", "shell", "files", "staging", "parallel")
        for order in (names, names[::-1]):
            _, text = self.server(*[word for name in order for word in ("--toolset", name)])
            self.assertLessEqual(len(text.encode()), 800)
            for word in ("git in a shell", "working_dir", "cwd", "a refusal is final", "git_undo"):
                self.assertIn(word, text)
            self.assertTrue(text.endswith("."), text)
        config = self.write("servers.toml", "[mcp.servers.fs]\ncommand = [\"/bin/false\"]\n",
                            self.base)
        for chosen in (names, *((name,) for name in names)):
            _, text = self.server("--config", str(config),
                                  *[word for name in chosen for word in ("--toolset", name)])
            self.assertLessEqual(len(text.encode()), 800, chosen)
            for word in ("mcp__", "Nothing outside the roots"):
                self.assertIn(word, text)

    def test_roots(self):
        """the roots are named"""
        self.init()
        _, text = self.server("--toolset", "git")
        self.assertTrue(text.endswith(f" The roots: {self.root}."), text)

    def test_few_questions(self):
        """everyday says what is asked about; without checkpoints there is no undo to speak of"""
        self.init()
        for options, asks, undoes in ((("--toolset", "everyday"), "The first push, and changes that", True),
                                      (("--toolset", "everyday", "--no-git"), "The first", False),
                                      (("--toolset", "git"), "Calls that change", False)):
            _, text = self.server(*options)
            self.assertIn(asks, text)
            self.assertEqual("git_undo" in text, undoes, options)

    def test_staging_instructions(self):
        """a session that only stages is told of the sandbox, and of no working tree to work in"""
        self.init()
        words = "by way of staged commits: git_stage makes one"
        tree = "show the sandbox and what is staged, not a working tree"
        for toolsets, has_tree in ((("files", "staging"), True), (("git", "staging"), False)):
            _, text = self.server(*[word for name in toolsets for word in ("--toolset", name)])
            self.assertIn(words, text)
            (self.assertIn if has_tree else self.assertNotIn)(tree, text)
            (self.assertNotIn if has_tree else self.assertIn)("git in a shell", text)


if __name__ == "__main__":
    harness.main()
