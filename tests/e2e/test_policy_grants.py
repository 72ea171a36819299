#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The user's grants hold, and both rules and grants hold for a server."""
import json

import harness
import policy

DENIED = policy.DENIED


class Grants(policy.Case):
    def setUp(self):
        super().setUp()
        self.other = self.base / "root/other"
        self.init(self.other)
        self.configure(f"""
[grants.reviewer]
tools = ["git_log", "git_s*"]

[grants.reader]
fs = {{ "{self.root}" = "r" }}

[grants.own]
fs = {{ "{self.root}" = "r", "{self.other}" = "rw" }}

[grants.elsewhere]
fs = {{ "{self.base}/nowhere" = "rw" }}

[grants.none]
tools = []
""")

    def granted(self, name, tool, arguments=None):
        """The kind of failure of a call under a grant; None when it works."""
        return self.call(tool, arguments, "--grant", name).kind

    def test_names(self):
        """a call that finds no repository names those below only where the grant covers them"""
        above = self.base / "above"
        for name in ("open", "secret"):
            self.init(above / name)
        self.configure(f"""
[grants.open]
fs = {{ "{above}/open" = "r" }}

[grants.all]
fs = {{ "{above}" = "r" }}
""")
        for grant, names in (("open", ""), ("all", "Repositories below the first root: open, secret. ")):
            result = self.call("git_log", {}, "--toolset", "everyday", "--grant", grant, root=above, cwd=above)
            self.assertTrue(result.text.endswith(f"inside a git repository. {names}The roots: {above}."), result)

    def test_tools(self):
        """tools that a grant does not list are not granted, and the failure names the grant"""
        for tool in ("git_log", "git_status", "git_show"):
            self.assertIsNone(self.granted("reviewer", tool))
        self.refused("NotGranted",
                     "The grant 'reviewer' does not include the tool 'git_add'. Nothing was done",
                     "git_add", {"all": True}, "--grant", "reviewer")
        self.assertEqual(self.last_record(), ("refused", "none", "none"))
        self.assertIn("tools/list has the tools that it includes",
                      self.call("git_add", {"all": True}, "--grant", "reviewer").text)
        self.assertEqual(self.granted("none", "git_status"), "NotGranted")

    def test_directories(self):
        """the nearest listed directory says whether a repository may be read or written"""
        self.write("a.txt", "two\n")
        self.write("a.txt", "two\n", self.other)
        here = {"all": True}
        there = {"working_dir": "other", "all": True}
        self.assertIsNone(self.granted("reader", "git_status"))
        self.assertEqual(self.granted("reader", "git_add", here), "NotGranted")
        self.assertIn("a user can give it \"rw\" in its 'fs'",
                      self.call("git_add", here, "--grant", "reader").text)
        self.assertEqual(self.granted("reader", "git_add", there), "NotGranted")
        self.assertEqual(self.granted("reader", "git_diff", {
            "from_ref": "HEAD", "to_ref": "HEAD", "output_dir": "out"}), "NotGranted")
        self.assertFalse((self.root / "out").exists())
        self.assertIsNone(self.granted("own", "git_status"))
        self.assertEqual(self.granted("own", "git_add", here), "NotGranted")
        self.assertIsNone(self.granted("own", "git_add", there))
        self.assertEqual(self.granted("elsewhere", "git_status"), "NotGranted")
        self.assertEqual(self.granted("none", "git_add", here), "NotGranted")
        self.assertEqual(self.staged(), [])

    def test_output_dir(self):
        """patch files go only where the grant allows writing"""
        self.commit("b.txt", "x\n", "second", self.other)
        arguments = {"working_dir": "other", "from_ref": "HEAD~1", "to_ref": "HEAD"}
        self.assertEqual(self.granted("own", "git_diff",
                                      arguments | {"output_dir": str(self.root / "out")}),
                         "NotGranted")
        self.assertFalse((self.root / "out").exists())
        self.assertIsNone(self.granted("own", "git_diff", arguments | {"output_dir": "out"}))
        self.assertTrue((self.other / "out").exists())

    def test_git_directory_elsewhere(self):
        """a repository is covered with all its parts: a gitfile cannot borrow another's history"""
        inside = self.other / "sub"
        inside.mkdir()
        self.write("sub/.git", f"gitdir: {self.root / '.git'}\n", self.other)
        self.ok("git_log", {"working_dir": "other/sub"})
        self.configure(f"[grants.g]\nfs = {{ \"{self.other}\" = \"rw\" }}\n")
        self.assertEqual(self.granted("g", "git_log", {"working_dir": "other/sub"}), "NotGranted")
        self.assertIsNone(self.granted("g", "git_log", {"working_dir": "other"}))

    def test_list(self):
        """tools lists what is granted"""
        names = [tool["name"] for tool in
                 json.loads(self.command("tools", "--json", "--grant", "reviewer").stdout)]
        self.assertEqual(names, ["git_status", "git_log", "git_show", "git_stash"])
        text = self.command("tools", "--grant=reviewer").stdout
        self.assertIn("git_log", text)
        self.assertNotIn("git_add", text)
        self.assertIn("the grant 'none' includes none", self.command("tools", "--grant",
                                                                     "none").stdout)

    def test_unknown(self):
        """an unknown grant ends every command, naming the configured ones"""
        for command in (("call", "--grant", "nope", "git_status"), ("tools", "--grant", "nope"),
                        ("serve", "--grant", "nope"),
                        ("policy", "explain", "--grant", "nope", "git_status")):
            done = self.command(*command)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("unknown grant 'nope' (configured: elsewhere, none, own, reader, "
                          "reviewer)", done.stderr)
        self.configure("")
        done = self.command("tools", "--grant", "nope")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("the configuration has no [grants.NAME]", done.stderr)

    def test_configured(self):
        """the configuration chooses a grant, the option another"""
        self.config.write_text("serve.grant = \"none\"\n" + self.config.read_text("utf-8"),
                               encoding="utf-8")
        self.assertEqual(self.call("git_status").kind, "NotGranted")
        self.assertIsNone(self.granted("reviewer", "git_status"))

    def test_explain(self):
        """policy explain knows grants too"""
        done = self.command("policy", "explain", "--grant", "reviewer", "git_add", '{"all": true}')
        self.assertEqual(done.returncode, 1)
        self.assertTrue(done.stderr.startswith("NotGranted: The grant 'reviewer' "), done)


class Server(policy.Case):
    def ask(self, server, method, **params):
        """One request and its result."""
        server.send(id=7, method=method, params=params)
        return server.receive()["result"]

    def kind(self, server, name, **arguments):
        """The kind of failure of a call; None when it works."""
        result = self.ask(server, "tools/call", name=name, arguments=arguments)
        return result["_meta"].get("airlock/error", {}).get("kind")

    def test_rules(self):
        """a server keeps the rules, in mode allow as well"""
        self.write("a.txt", "two\n")
        self.rules({"tool": "git_log", "decision": "deny"}, {"path": "a.txt", "decision": "ask"})
        server = harness.Server(self)
        self.assertEqual(self.kind(server, "git_log"), DENIED)
        self.assertEqual(self.kind(server, "git_add", paths=["a.txt"]), "ApprovalRequired")
        self.assertIsNone(self.kind(server, "git_status"))
        self.assertEqual(self.staged(), [])

    def test_grant(self):
        """a server offers what is granted, and says so of the rest"""
        self.configure("[grants.reviewer]\ntools = [\"git_log\"]\n")
        server = harness.Server(self, "--grant", "reviewer")
        tools = self.ask(server, "tools/list")["tools"]
        self.assertEqual([tool["name"] for tool in tools], ["git_log"])
        self.assertIsNone(self.kind(server, "git_log"))
        self.assertEqual(self.kind(server, "git_status"), "NotGranted")
        server.send(id=8, method="tools/call", params={"name": "nope", "arguments": {}})
        self.assertIn("error", server.receive())


if __name__ == "__main__":
    harness.main()
