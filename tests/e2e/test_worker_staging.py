#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker file gives the toolset staging a default target, and files to begin with."""
import json
import os
import subprocess

import harness
import staging

BRANCH = r"^report-writer-\d{8}_\d{6}$"
TARGET = "{type: local, path: ., branch: '{worker}-{timestamp}'}"


class WorkerStaging(staging.Staging):
    """A worker file with the toolsets files and staging."""

    def worker(self, *settings, more=""):
        """Write a worker file with settings of the toolset staging; gives the options."""
        lines = "".join(f"    {line}\n" for line in settings)
        path = self.write("w.md", "---\nname: report-writer\ntoolsets:\n  filesystem:\n  git:\n"
                          f"{lines}{more}---\n", self.base)
        return "--worker", str(path)

    def wrong(self, *settings):
        """What a command says that ends with exit code 2, without the name of the file."""
        option, path = self.worker(*settings)
        done = subprocess.run([harness.AIRLOCK, "tools", option, path], cwd=self.root, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertTrue(done.stderr.startswith(f"airlock: {path}:"), done)
        return done.stderr.removeprefix(f"airlock: {path}:").rstrip("\n")

    def required(self, *options):
        """The required parameters of git_push."""
        done = subprocess.run([harness.AIRLOCK, "tools", "--json", *options], cwd=self.root,
                              env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                              check=True, timeout=harness.WATCHDOG_SECONDS)
        [tool] = [tool for tool in json.loads(done.stdout) if tool["name"] == "git_push"]
        return tool["inputSchema"]["required"]

    def pushed(self, server, arguments):
        """Push what a user approves; gives the commit and the question."""
        number = server.ask("git_push", arguments)
        question = server.receive()
        self.assertEqual(question.get("method"), "elicitation/create", question)
        server.send(id=question["id"], result={"action": "accept", "content": {"decision": "once"}})
        answer = server.receive()
        self.assertEqual(answer["id"], number, answer)
        value = answer["result"]["structuredContent"]
        self.assertEqual(value["status"], "success", value)
        return value["commitSha"], question["params"]["message"]

    def test_default_target(self):
        """a push without a target goes to the default one, on a branch made once at start"""
        server = harness.AskingServer(self, *self.worker(f"default_target: {TARGET}"))
        self.put(server, "report.md", "text\n")
        staged = self.stage(server, "report.md", message="Report")
        commit, question = self.pushed(server, {"commitId": staged["id"]})
        branches = self.out("for-each-ref", "--format=%(refname:short) %(objectname)",
                            "refs/heads/report-writer-*").split()
        self.assertEqual(len(branches), 2)
        self.assertRegex(branches[0], BRANCH)
        self.assertEqual(branches[1], commit)
        self.assertIn(f"to local:. (branch: {branches[0]}, new branch)", question.splitlines()[0])
        self.assertEqual(self.out("log", "-1", "--format=%(trailers:key=Worker)", commit).strip(),
                         "Worker: report-writer")
        self.put(server, "more.md", "text\n")
        again = self.stage(server, "more.md")
        second, question = self.pushed(server, {"commitId": again["id"]})
        self.assertIn(f"(branch: {branches[0]})", question.splitlines()[0])
        self.assertEqual(self.out("rev-parse", f"{branches[0]}~").strip(), commit)
        self.assertEqual(self.out("rev-parse", branches[0]).strip(), second)

    def test_other_target(self):
        """a target of the call takes precedence over the default one"""
        server = harness.AskingServer(self, *self.worker(f"default_target: {TARGET}"))
        self.put(server, "report.md", "text\n")
        staged = self.stage(server, "report.md")
        commit, _ = self.pushed(server, {"commitId": staged["id"], "target": {
            "type": "local", "path": ".", "branch": "other"}})
        self.assertEqual(self.out("rev-parse", "other").strip(), commit)
        self.assertEqual(self.out("branch", "--list", "report-writer-*"), "")

    def test_required(self):
        """the schema asks for a target where there is no default one, and the tool agrees"""
        self.assertEqual(self.required(*self.worker(f"default_target: {TARGET}")), ["commitId"])
        without = self.worker("auto_pull: []")
        self.assertEqual(self.required(*without), ["commitId", "target"])
        self.refused("BadArgs", "target is required", "git_push", {"commitId": "abcdef"}, *without)

    def test_rules_and_roots(self):
        """the default target is held to rules and roots like any other"""
        option = self.worker("default_target: {type: local, path: ., branch: release}",
                             more="policy:\n  - {branch: 'rel*', decision: deny, message: Not there.}\n")
        server = self.serve(*option)
        self.put(server, "a.md", "text\n")
        staged = self.stage(server, "a.md")
        server.refused("ApprovalDenied", "Not there.", "git_push", {"commitId": staged["id"]})
        beside = self.base / "beside"
        self.init(beside)
        for path in (str(beside), "../beside"):
            server = self.serve(*self.worker(f"default_target: {{type: local, path: '{path}'}}"),
                                "--approval", "allow")
            self.put(server, "a.md", "text\n")
            staged = self.stage(server, "a.md")
            server.refused("SandboxViolation", f"Path outside sandbox: {path} (targets lie in the roots: "
                           f"{self.root})", "git_push",
                           {"commitId": staged["id"]})

    def test_place(self):
        """a worker file in the directory of the sandbox is refused, as the agent writes there"""
        inside = self.write("sub/w.md", "---\nname: w\n---\n", self.workspace)
        done = subprocess.run([harness.AIRLOCK, "call", *self.in_directory, "--worker", str(inside),
                               "list_files"], cwd=self.root, env=self.env, check=False, text=True,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertIn(f"'{self.workspace}' is or contains '{inside}'", done.stderr)

    def test_record(self):
        """what is staged says which worker staged it"""
        server = self.serve(*self.worker())
        self.put(server, "a.md", "text\n")
        staged = self.stage(server, "a.md")
        record = json.loads((self.store() / "staged" / f"{staged['id']}.json").read_text("utf-8"))
        self.assertEqual(record["worker"], "report-writer")

    def files(self, server):
        """The files of the sandbox."""
        return server.ok("list_files").text.split()

    def make_templates(self):
        """A directory with two files on main."""
        self.commit("templates/a.md", "template\n", "a template")
        return self.commit("templates/sub/b.md", "more\n", "another")

    def test_auto_pull(self):
        """files are in the sandbox before the first call, and the journal says where from"""
        self.make_templates()
        options = self.worker("auto_pull:", "  - path: templates/",
                              "    source: {type: local, path: .}", "  - path: a.txt",
                              "    source: {type: local, path: ., branch: main}")
        server = self.serve(*options)
        pulled = ["/workspace/a.txt", "/workspace/templates/a.md", "/workspace/templates/sub/b.md"]
        self.assertEqual(self.files(server), pulled)
        self.assertEqual(self.status(server).count("/workspace"), 0)
        self.assertEqual(server.ok("read_file", {"path": "/workspace/templates/a.md"}).text,
                         "template\n")
        records = [json.loads(line) for line in self.log()]
        self.assertEqual([record["tool"] for record in records[:2]], ["git_pull", "git_pull"])
        self.assertEqual(records[0]["input"]["paths"], ["templates/"])
        self.assertEqual(records[0]["outcome"], "ok")
        self.assertEqual(self.ok("list_files", None, *options).text.split(), pulled)

    def log(self):
        """The lines of the journal."""
        return (self.home / ".local/state/airlock/tool_log.jsonl").read_text("utf-8").splitlines()

    def test_auto_pull_from_the_default_target(self):
        """a branch that the first push will make is pulled from where it will begin"""
        head = self.make_templates()
        server = harness.AskingServer(self, *self.worker(
            f"default_target: {TARGET}", "auto_pull:", "  - path: templates/"))
        self.put(server, "templates/a.md", "changed\n")
        staged = self.stage(server, "templates/a.md")
        self.assertEqual(staged["files"][0]["operation"], "update")
        commit, question = self.pushed(server, {"commitId": staged["id"]})
        self.assertIn("new branch", question.splitlines()[0])
        self.assertEqual(self.out("rev-parse", f"{commit}~").strip(), head)
        self.assertEqual(self.out("show", f"{commit}:templates/a.md"), "changed\n")
        branches = server.ok("git_branches").value["structuredContent"]
        self.assertEqual(branches["current"], "main")
        self.assertEqual(len(branches["branches"]), 2)
        self.assertFalse(server.call("git_pull").failed)

    def test_auto_pull_fails(self):
        """what cannot be pulled is a warning, and the session goes on with the rest"""
        self.make_templates()
        options = self.worker("auto_pull:", "  - path: none/",
                              "    source: {type: local, path: .}", "  - path: a.txt",
                              "    source: {type: local, path: .}", "  - path: a.txt",
                              "    source: {type: local, path: ../beside}")
        result = self.ok("list_files", None, *options)
        self.assertEqual(result.text.split(), ["/workspace/a.txt"])
        self.assertEqual(result.stderr.count("warning: auto_pull of "), 2, result.stderr)
        self.assertIn("auto_pull of 'none/' failed: ", result.stderr)
        options = self.worker("auto_pull:", "  - path: a.txt",
                              "    source: {type: local, path: .}",
                              more="policy:\n  - {tool: git_pull, decision: deny, message: No.}\n")
        result = self.ok("list_files", None, *options)
        self.assertIn("auto_pull of 'a.txt' failed: No.", result.stderr)
        self.assertEqual(result.text, "no files in /workspace")

    def test_auto_pull_takes_long(self):
        """a server answers while it pulls; calls of tools wait until the pulls have ended"""
        head = self.make_templates()
        options = self.worker("auto_pull:", "  - path: a.txt",
                              "    source: {type: local, path: .}")
        pipe = self.block(head)
        server = self.serve(*options)
        numbers = [server.ask("list_files"), server.ask("git_status")]
        for word in ("one", "two"):
            server.send(id=word, method="ping")
            self.assertEqual(server.receive()["id"], word)
        server.send(method="notifications/cancelled", params={"requestId": numbers[1]})
        server.send(id="three", method="tools/list")
        self.assertEqual(server.receive()["id"], "three")
        os.close(os.open(pipe, os.O_WRONLY))
        answer = server.receive()
        self.assertEqual(answer["id"], numbers[0])
        self.assertEqual(harness.Result(answer["result"]).text, "no files in /workspace")

    def test_end_while_it_pulls(self):
        """the end of the server ends pulls that still run"""
        head = self.make_templates()
        options = self.worker("auto_pull:", "  - path: a.txt",
                              "    source: {type: local, path: .}")
        pipe = self.block(head)
        server = self.serve(*options)
        server.ask("list_files")
        server.close()
        self.assertEqual(server.process.returncode, 0)
        self.assert_nobody_reads(pipe)

    def test_auto_pull_beside_another_git_pull(self):
        """an earlier toolset with a git_pull of its own changes nothing"""
        self.make_templates()
        option, path = self.worker("auto_pull:", "  - path: a.txt",
                                   "    source: {type: local, path: .}")
        text = self.base / "w.md"
        text.write_text(text.read_text("utf-8").replace(
            "toolsets:\n", "toolsets:\n  workflow: {}\n"), encoding="utf-8")
        self.assertEqual(self.ok("list_files", None, option, path).text.split(),
                         ["/workspace/a.txt"])

    def test_wrong(self):
        """settings that are wrong are named with line and key"""
        place = "toolsets.git.default_target"
        self.assertEqual(self.wrong("default_target: {type: gitlab, path: .}"),
                         f"6: {place}.type: must be 'local', 'local-bare' or 'github'")
        self.assertEqual(self.wrong("default_target:", "  type: local", "  path: .",
                                    "  branch: '{worker} {timestamp}'").split("'")[0],
                         f"9: {place}.branch: ")
        self.assertEqual(self.wrong("default_target: {type: local, path: ., branch: 'x{day}'}"),
                         f"6: {place}.branch: unknown placeholder '{{day}}'; there are {{timestamp}} "
                         "and {worker}")
        self.assertEqual(self.wrong("auto_pull:", "  - path: a"),
                         "7: toolsets.git.auto_pull[0]: needs a 'source': there is no default_target")
        self.assertEqual(self.wrong("branch: x"), "6: toolsets.git.branch: unknown key")
        self.assertEqual(self.wrong("default_target: {type: local, path: ., branch: \"a\\e[2Jb\"}"),
                         f"6: {place}.branch: 'ab': the name must not contain control characters")


if __name__ == "__main__":
    harness.main()
