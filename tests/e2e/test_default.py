#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The toolset of airlock where none is named: everyday."""
import json
import re

import harness
from test_robust_cli import Program

MANY = ("git", "workflow")
GONE = ("git_checkout", "git_conflict_info", "git_resolve_conflict", "git_generate_pr")


class Default(Program):
    toolsets = ()

    def listed(self, *words):
        """The tools of a session, each with its toolset."""
        done = self.run_it("tools", "--json", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return {tool["name"]: tool["toolset"] for tool in json.loads(done.stdout)}

    def test_tools(self):
        """without a word about toolsets a session has everyday, and says nothing about it"""
        self.init()
        names = self.listed()
        self.assertEqual(set(names.values()), {"everyday"})
        self.assertEqual(len(names), 26)
        self.assertEqual(names, self.listed("--toolset", "everyday"))
        done = self.run_it("serve")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.run_it("call", "git_status").stdout.splitlines()[0],
                         "main, clean")

    def test_list(self):
        """the answer to tools/list stays under 16 KB, each tool with all its hints, and names are what
        clients take"""
        self.init()
        server = harness.Server(self)
        server.send(id=1, method="tools/list", params={})
        answer = server.receive()
        names = [tool["name"] for tool in answer["result"]["tools"]]
        self.assertEqual(len(names), 26)
        self.assertTrue(all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names))
        for tool in answer["result"]["tools"]:
            self.assertEqual(sorted(tool["annotations"]),
                             ["destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint"])
        self.assertLess(len(json.dumps(answer, separators=(",", ":"))), 16384)

    def test_as_before(self):
        """`toolsets` of the configuration, or --toolset, gives the tools of git and workflow"""
        self.init()
        words = [word for name in MANY for word in ("--toolset", name)]
        config = self.config('toolsets = ["git", "workflow"]\n')
        names = self.listed(*words)
        self.assertEqual(len(names), 19)
        self.assertEqual(set(names.values()), set(MANY))
        self.assertEqual(self.listed("--config", config), names)
        for more in (words, ["--config", config]):
            done = self.run_it("serve", *more)
            self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_rules(self):
        """rules and grants may still name tools of other toolsets"""
        self.init()
        config = self.config('[[tools.approval.rule]]\ntool = "git_checkout"\ndecision = "deny"\n'
                             '[grants.g]\ntools = ["git_generate_pr", "git_log"]\n'
                             f'fs = {{ "{self.root}" = "rw" }}\n')
        self.assertEqual(set(self.listed("--config", config, "--grant", "g")), {"git_log"})

    def test_idle_rules(self):
        """doctor names a rule that asks or denies, and is about a tool of a toolset not chosen"""
        self.init()
        rules = "".join(
            f"[[tools.approval.rule]]\n{text}\n" for text in (
                'tool = "git_checkout"\ndecision = "deny"',
                'tool = "git_branch"\noperation = "force_delete"\ndecision = "ask"',
                'tool = "git_generate_pr"\ndecision = "allow"',
                'tool = "git_push"\ndecision = "deny"',
                'tool = "git"\noperation = "commit"\ndecision = "ask"', 'tool = "hook"\ndecision = "deny"',
                'tool = "git_*"\ndecision = "ask"', 'effect = "writes_refs"\ndecision = "ask"'))
        config = self.config(rules)
        for more, idle in (((), [("1 (line 1)", "git_checkout", "git"),
                                 ("2 (line 4)", "git_branch", "git")]),
                           (("--toolset", "git"), [("4 (line 11)", "git_push", "workflow")]),
                           (("--toolset", "git", "--toolset", "workflow"), [])):
            done = self.run_it("doctor", "--json", "--config", config, *more)
            found = [entry for entry in json.loads(done.stdout) if entry["check"] == "rules"]
            self.assertEqual([(entry["level"], entry["state"]) for entry in found],
                             [("warning", f"rule {number} is about {tool} of the toolset {toolset}")
                              for number, tool, toolset in idle], more)
            self.assertEqual(done.returncode, 0, done)
        worker = self.write("w.md", "---\nname: w\npolicy: [{tool: git_push, decision: deny}]\n---\n", self.base)
        done = self.run_it("doctor", "--json", "--config", self.config(""), "--worker", str(worker), "--toolset", "git")
        self.assertIn("rule 1 (line 3 of the worker file) is about git_push of the toolset workflow", done.stdout)
        config = self.config('[mcp.servers.fs]\ncommand = ["/bin/false"]\n'
                             '[[tools.approval.rule]]\ntool = "mcp__fs__*"\ndecision = "deny"\n')
        done = self.run_it("doctor", "--json", "--config", config)
        self.assertNotIn('"rules"', done.stdout)

    def test_of_another_toolset(self):
        """a tool that only another toolset has is answered with its name"""
        self.init()
        for name in GONE:
            toolset = "git" if name == "git_checkout" else "workflow"
            for words in (("call", name), ("tools", name), ("policy", "explain", name),
                          ("call", name, "--help")):
                self.assert_usage(f"'{name}' is a tool of the toolset {toolset}, which is not "
                                  f"chosen; add --toolset {toolset}", *words)
            self.assertEqual(self.listed("--toolset", toolset)[name], toolset)

    def test_nearly_of_another_toolset(self):
        """a slip in the name of such a tool is answered with it, if no tool of the session is near"""
        self.init()
        for given, meant, toolset in (("git_chekout", "git_checkout", "git"),
                                      ("git_conflict_inf", "git_conflict_info", "workflow"),
                                      ("bash_comand", "bash_command", "shell")):
            for command in ("call", "tools"):
                self.assert_usage(f"unknown tool '{given}'; did you mean {meant} of the toolset "
                                  f"{toolset}? It is not chosen; add --toolset {toolset}",
                                  command, given)
        for given, meant in (("git_stauts", "git_status"), ("git_lgo", "git_log")):
            self.assert_usage(f"unknown tool '{given}'; did you mean {meant}? airlock tools lists "
                              "them", "tools", given)
        self.assert_usage("unknown tool 'nothing_like_it'; airlock tools lists them", "call",
                          "nothing_like_it")

    def test_rules_of_a_client(self):
        """`install --with-rules` lets the client call what only reads in everyday"""
        self.init()
        done = self.run_it("install", "claude-code", "--with-rules", "--yes")
        self.assertEqual(done.returncode, 0, done)
        rules = json.loads((self.root / ".claude/settings.json").read_text(encoding="utf-8"))
        allowed = rules["permissions"]["allow"]
        self.assertEqual({name.removeprefix("mcp__airlock__") for name in allowed},
                         {"git_status", "git_diff", "git_log", "git_show", "git_grep", "git_blame",
                          "git_pr"})


class Denying(Program):
    """The approval mode deny: what a checkpoint could bring back is refused as well."""

    toolsets = ()

    def test_calls(self):
        """nothing that changes files, index or commits is done; a rule may still allow it"""
        self.init()
        self.commit("b.txt", "b\n", "second")
        self.git("branch", "topic", "HEAD~1")
        self.write("a.txt", "two\n")
        before = self.state()
        for tool, arguments in (
                ("git_add", {"all": True}), ("git_restore", {"paths": ["a.txt"]}),
                ("git_commit", {"message": "x", "all": True}), ("git_reset", {"to": "HEAD~1"}),
                ("git_commit", {"message": "x", "amend": True}), ("git_stash", {}),
                ("git_switch", {"branch": "topic"}), ("git_merge", {"branch": "topic"}),
                ("git_revert", {"commits": ["HEAD"]}),
                ("git_branch", {"action": "delete", "name": "topic"}),
                ("git_branch", {"action": "create", "name": "new"}),
                ("git_branch", {"action": "rename", "name": "topic", "new_name": "new"}),
                ("git_tag", {"action": "create", "name": "v1"}),
                ("git_worktree", {"action": "add", "name": "new"}),
                ("git_remote", {"action": "add", "name": "new", "url": "https://example.org/x"})):
            result = self.call(tool, arguments, approval="deny")
            self.assertIn(result.kind, ("ApprovalDenied", "ExecutionFailed"), (tool, result))
            if result.kind == "ExecutionFailed":  # answered before policy: nothing to merge
                self.assertIn(tool, ("git_merge", "git_revert", "git_reset"), result)
            self.assertEqual(self.state(), before, tool)
        self.assertEqual(self.out("remote"), "")
        for toolset, tool, arguments in (
                ("workflow", "git_branch", {"action": "create", "name": "new"}),
                ("workflow", "git_commit", {"message": "x", "all": True}),
                ("workflow", "git_checkout", {"target": "topic"}),
                ("workflow", "git_stash", {"action": "push"})):
            result = self.call(tool, arguments, "--toolset", toolset, approval="deny")
            self.assertEqual(result.kind, "ApprovalDenied", (tool, result))
            self.assertEqual(self.state(), before, tool)
        self.assertFalse(self.call("git_status", {}, approval="deny").failed)
        config = self.config('[[tools.approval.rule]]\ntool = "git_add"\ndecision = "allow"\n')
        done = self.call("git_add", {"all": True}, "--config", config, approval="deny")
        self.assertFalse(done.failed, done)

    def test_said(self):
        """`tools` and `policy explain` say so"""
        self.init()
        self.write("a.txt", "two\n")
        listed = {tool["name"]: tool["approval"] for tool in json.loads(
            self.run_it("tools", "--json", "--approval", "deny").stdout)}
        self.assertEqual([listed[name] for name in ("git_status", "git_add", "git_restore",
                                                    "git_stash", "git_push")],
                         ["none", "deny", "deny", "some", "deny"])
        for words, decision in ((("git_add", "all=true"), "deny"), (("git_status",), "allow")):
            done = self.run_it("policy", "explain", "--approval", "deny", *words)
            self.assertIn(f"decision   {decision}\n", done.stdout)


class Asking(Program):
    """What `tools`, `policy explain`, the question and the annotations say of one operation."""

    toolsets = ()

    # Operations of everyday: the arguments of a call, and whether it is one that is asked about.
    CALLS = (
        ("git_status", "status", {}, False),
        ("git_diff", "diff", {}, False),
        ("git_log", "log", {}, False),
        ("git_show", "show", {}, False),
        ("git_grep", "grep", {"pattern": "one"}, False),
        ("git_blame", "blame", {"path": "a.txt"}, False),
        ("git_branch", "list", {}, False),
        ("git_branch", "create", {"action": "create", "name": "new"}, False),
        ("git_branch", "rename", {"action": "rename", "name": "new", "new_name": "newer"}, False),
        ("git_branch", "delete", {"action": "delete", "name": "newer", "force": True}, False),
        ("git_tag", "list", {}, False),
        ("git_tag", "create", {"action": "create", "name": "v2"}, False),
        ("git_tag", "delete", {"action": "delete", "name": "v2"}, False),
        ("git_pr", "pr", {}, False),
        ("git_add", "add", {"all": True}, False),
        ("git_restore", "unstage", {"paths": ["a.txt"], "staged": True}, False),
        ("git_restore", "both", {"paths": ["a.txt"], "staged": True, "rev": "HEAD"}, False),
        ("git_restore", "worktree", {"paths": ["a.txt"]}, False),
        ("git_commit", "commit", {"message": "two", "all": True}, False),
        ("git_commit", "amend", {"message": "three", "amend": True}, False),
        ("git_commit", "into", {"into": "HEAD", "message": "four"}, False),
        ("git_commit", "branch", {"branch": "made", "message": "five", "allow_empty": True}, False),
        ("git_reset", "soft", {"to": "HEAD", "mode": "soft"}, False),
        ("git_reset", "mixed", {"to": "HEAD"}, False),
        ("git_reset", "keep", {"to": "HEAD", "mode": "keep"}, False),
        ("git_reset", "hard", {"to": "pushed~1", "mode": "hard"}, True),
        ("git_commit", "amend", {"message": "pushed", "amend": True}, True),
        ("git_rebase", "rebase", {"plan": [{"commit": "HEAD", "do": "reword", "message": "x"}],
                                  "onto": "pushed~1"}, True),
        ("git_switch", "create", {"branch": "side", "create": True}, False),
        ("git_switch", "switch", {"branch": "main"}, False),
        ("git_merge", "merge", {"branch": "topic"}, False),
        ("git_cherry_pick", "cherry_pick", {"commits": ["other"]}, False),
        ("git_revert", "revert", {"commits": ["HEAD"]}, False),
        ("git_undo", "look", {"dry_run": True}, False),
        ("git_conflicts", "show", {}, False),
        ("git_remote", "list", {}, False),
        ("git_remote", "add", {"action": "add", "name": "two", "url": "{hub}"}, False),
        ("git_fetch", "fetch", {"remote": "origin"}, False),
        ("git_push", "push", {}, True),
        ("git_push", "force", {"force": True}, True),
        ("git_push", "delete", {"branch": "topic", "delete": True}, True),
        ("git_push", "tag", {"tag": "v1"}, True),
        ("git_push", "tags", {"tags": True}, True),
        ("git_worktree", "list", {}, False),
    )

    def setUp(self):
        super().setUp()
        self.hub = self.base / "hubs/hub.git"
        self.init()
        self.git("init", "-q", "--bare", str(self.hub))
        self.git("remote", "add", "origin", str(self.hub))
        for branch in ("topic", "other"):
            self.git("checkout", "-q", "-b", branch, "main")
            self.commit(f"{branch}.txt", "x\n", branch)
        self.git("checkout", "-q", "main")
        self.commit("b.txt", "b\n", "second")
        self.git("push", "-q", "origin", "main", "topic")
        self.git("fetch", "-q")
        self.git("branch", "-q", "pushed")
        self.git("tag", "v1")
        self.roots = ("--root", str(self.root), "--root", str(self.hub.parent))

    def rows(self, tool, *options):
        """The operations of a tool, and what `airlock tools TOOL` says of each."""
        text = self.run_it("tools", tool, *options).stdout
        part = text.split("whether you are asked:\n")[1].split("\n\n")[0]
        part = re.sub(r"\n {10,}", " ", part)
        return dict(line.split(None, 1) for line in part.splitlines())

    def test_list_and_rows(self):
        """the column of the list sums up the rows of the tool, in every toolset"""
        for options, asks in (((), "ask"), (("--no-git",), "ask"), (("--approval", "deny"), "deny")):
            for toolset in ("everyday", "git", "workflow", "readonly", "shell", "files", "staging",
                            "parallel"):
                words = ("--toolset", toolset, *options)
                for tool in json.loads(self.run_it("tools", "--json", *words).stdout):
                    rows = set(self.rows(tool["name"], *words).values())
                    wanted = {frozenset({"does not ask"}): "none", frozenset({"asks"}): asks}
                    self.assertEqual(tool["approval"], wanted.get(frozenset(rows), "some"),
                                     (words, tool["name"], rows))

    def test_rows_and_explanations(self):
        """`policy explain` says of a call what the row of its operation says, and so does the call"""
        rows, seen = {}, {}
        self.write("new.txt", "new\n")
        for tool, operation, arguments, asks in self.CALLS:
            given = json.dumps(arguments).replace("{hub}", str(self.hub))
            if asks and tool != "git_push":
                self.git("reset", "-q", "--hard", "pushed")
            rows.setdefault(tool, self.rows(tool))
            done = self.run_it("policy", "explain", "--json", *self.roots, tool, given)
            self.assertEqual(done.returncode, 0, (tool, arguments, done))
            found = json.loads(done.stdout)
            said = rows[tool][operation]
            self.assertEqual((found["operation"], found["decision"]),
                             (operation, "ask" if asks else "allow"), (tool, arguments, said))
            if said == "does not ask" or said == "asks":
                self.assertEqual((found["asks"], asks), (None, said == "asks"), (tool, said))
            elif not asks:
                self.assertEqual(f"asks only {found['asks']}", said)
            result = self.call(tool, json.loads(given), "--root", str(self.hub.parent),
                               approval="ask")
            self.assertEqual(result.kind, "ApprovalRequired" if asks else None, (tool, result))
            seen.setdefault(tool, set()).add(operation)
        left = {(tool, name) for tool, names in rows.items() for name in names
                if name not in seen[tool]}
        self.assertEqual(left, {("git_undo", "undo"), ("git_worktree", "add"),
                                ("git_worktree", "lock"), ("git_worktree", "unlock"),
                                ("git_worktree", "remove"), ("git_conflicts", "resolve"),
                                ("git_conflicts", "resolve_and_continue"),
                                ("git_conflicts", "continue"), ("git_conflicts", "skip"),
                                ("git_conflicts", "abort"), ("git_remote", "rename"),
                                ("git_remote", "remove")})


if __name__ == "__main__":
    harness.main()
