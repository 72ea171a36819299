#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent's day that has only a sandbox: each way out is one that the user approved."""
import os
import shutil
import subprocess

import github
import harness
import staging


def tree(top):
    """Every file below a directory with its content."""
    found = {}
    for folder, _, names in os.walk(top):
        for name in names:
            path = os.path.join(folder, name)
            if not os.path.islink(path):
                with open(path, "rb") as file:
                    found[os.path.relpath(path, top)] = file.read()
    return found


class Agent(harness.AskingServer):
    """A server with the two toolsets, and a user who answers."""

    def __init__(self, case, *options, **named):
        super().__init__(case, *(options or staging.TOOLSETS), **named)

    def value(self, tool, arguments):
        """The structured result of a call that asks nobody."""
        return self.ok(tool, arguments).value["structuredContent"]

    def write(self, path, content):
        self.ok("write_file", {"path": f"/workspace/{path}", "content": content})

    def stage(self, message, *files):
        """Stage files; the id."""
        return self.value("git_stage", {"files": [f"/workspace/{path}" for path in files],
                                        "message": message})["id"]

    def push(self, staged, target, decision="once", reason=None):
        """A push; what the user is shown, and the result."""
        number = self.ask("git_push", {"commitId": staged, "target": target})
        message = self.receive()
        shown = None
        if message.get("method") == "elicitation/create":
            shown = message["params"]["message"]
            content = {"decision": decision} | ({"reason": reason} if reason else {})
            self.send(id=message["id"], result={"action": "accept", "content": content})
            message = self.receive()
        self.case.assertEqual(message["id"], number, message)
        return shown, harness.Result(message["result"])


class Day(github.Case):
    """The same day at three targets.  The agent has nothing but the toolsets staging and files."""

    def setUp(self):
        super().setUp()
        if not (self.root / ".git").exists():
            self.init()
        self.write("report.md", "# Report\n\nRevenue: open\n\nCosts: open\n")
        self.git("add", "report.md")
        self.git("commit", "-q", "-m", "report")

    def others_push(self, where):
        """Somebody's commit in a clone, pushed to the target."""
        self.git("config", "receive.denyCurrentBranch", "updateInstead", cwd=where)
        clone = self.base / "clone"
        shutil.rmtree(clone, ignore_errors=True)
        self.git("clone", "-q", str(where), str(clone), cwd=self.base)
        (clone / "report.md").write_text("# Report\n\nRevenue: 12 %\n\nCosts: open\n", encoding="utf-8")
        (clone / "theirs.txt").write_text("theirs\n", encoding="utf-8")
        self.git("add", ".", cwd=clone)
        self.git("commit", "-q", "-m", "theirs", cwd=clone)
        self.git("push", "-q", "origin", "HEAD:main", cwd=clone)

    def day(self, target, where, agent):
        """Write, stage, be declined, change it, be approved, collide, pull, settle, push again."""
        self.assertEqual(agent.value("git_pull", {"source": target, "paths": ["report.md"]}),
                         {"pulled": ["report.md"], "conflicts": []})
        agent.write("report.md", "# Report\n\nRevenue: 15 %\n\nCosts: open\n")
        agent.write("charts/a.svg", "<svg/>\n")
        staged = agent.stage("Add revenue", "report.md", "charts/*")
        shown, result = agent.push(staged, target, "reject", "name the source")
        self.assertIn('"Add revenue"', shown)
        self.assertIn("+Revenue: 15 %", shown)
        self.assertEqual((result.kind, "name the source" in result.text), ("ApprovalDenied", True))
        self.assertEqual(self.out("log", "--format=%s", "main", cwd=where), self.log)

        agent.ok("git_discard", {"commitId": staged[:8]})
        agent.write("charts/a.svg", "<svg><!-- source --></svg>\n")
        staged = agent.stage("Add chart", "charts")
        _, result = agent.push(staged, target)
        self.assertEqual(result.value["structuredContent"]["status"], "success", result)
        self.assertEqual(self.out("log", "-1", "--format=%s", "main", cwd=where), "Add chart\n")

        self.others_push(where)
        staged = agent.stage("Add revenue", "report.md")
        head = self.out("rev-parse", "main", cwd=where).strip()
        shown, result = agent.push(staged, target)
        self.assertIsNone(shown)
        self.assertEqual(result.value["structuredContent"],
                         {"status": "conflict", "conflict": {
                             "reason": "non-fast-forward", "targetHead": head,
                             "message": "Target has new commits since your base"}})
        pulled = agent.value("git_pull", {"source": target, "paths": ["report.md"]})
        self.assertEqual(pulled, {"pulled": ["report.md"], "conflicts": ["report.md"]})
        self.assertEqual(
            agent.ok("read_file", {"path": "/workspace/report.md"}).text,
            "# Report\n\n<<<<<<< ours (sandbox)\nRevenue: 15 %\n=======\nRevenue: 12 %\n"
            ">>>>>>> theirs (incoming)\n\nCosts: open\n")
        agent.write("report.md", "# Report\n\nRevenue: 15 %, after 12 %\n\nCosts: open\n")
        staged = agent.stage("Settle revenue", "report.md")
        shown, result = agent.push(staged, target)
        self.assertIn("-Revenue: 12 %\n", shown)
        self.assertIn("+Revenue: 15 %, after 12 %\n", shown)
        self.assertEqual(result.value["structuredContent"]["status"], "success", result)
        self.assertEqual(self.out("show", "main:report.md", cwd=where),
                         "# Report\n\nRevenue: 15 %, after 12 %\n\nCosts: open\n")
        self.assertEqual(self.out("show", "main:theirs.txt", cwd=where), "theirs\n")
        self.git("fsck", "--strict", cwd=where)
        agent.close()

    def assert_only(self, where, before):
        """Beside the target, the sandbox and airlock's own store nothing changed."""
        changed = {path for path, data in (tree(self.base) | before).items()
                   if tree(self.base).get(path) != before.get(path)}
        inside = (str(where.relative_to(self.base)), "home/.local/state/airlock", "clone", "workspace")
        self.assertEqual([path for path in sorted(changed) if not path.startswith(inside)], [])

    def bare(self, where):
        """A bare clone of the root."""
        self.git("clone", "-q", "--bare", str(self.root), str(where), cwd=self.base)
        return where

    def test_worktree(self):
        """a working tree, whose files follow"""
        self.log = self.out("log", "--format=%s", "main")
        before = tree(self.base)
        self.day({"type": "local", "path": ".", "branch": "main"}, self.root, Agent(self))
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assert_only(self.root, before)

    def test_memory(self):
        """the same with the sandbox in memory, which leaves nothing behind"""
        (self.home / ".config/airlock/config.toml").unlink()
        self.log = self.out("log", "--format=%s", "main")
        before = tree(self.base)
        self.day({"type": "local", "path": ".", "branch": "main"}, self.root,
                 Agent(self, *staging.TOOLSETS))
        self.assertFalse(self.workspace.exists())
        self.assert_only(self.root, before)

    def test_own_branch(self):
        """what was pushed to a branch of its own is no change of main: a pull from there keeps it"""
        main = {"type": "local", "path": ".", "branch": "main"}
        lines = [f"{number}\n" for number in range(20)]
        self.write("a", "".join(lines))
        self.write("gone", "x\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "lines")
        agent = Agent(self)
        agent.value("git_pull", {"source": main, "paths": ["**"]})
        lines[10] = "agent\n"
        agent.write("a", "".join(lines))
        agent.ok("delete_file", {"path": "/workspace/gone"})
        _, result = agent.push(agent.stage("first", "a", "gone"), main | {"branch": "agent"})
        self.assertEqual(result.value["structuredContent"]["status"], "success", result)
        self.assertEqual(agent.value("git_pull", {"source": main, "paths": ["**"]})["pulled"], [])
        self.write("b", "theirs\n")
        self.write("a", "".join(f"{number}\n" for number in range(20)).replace("3\n", "three\n", 1))
        self.git("add", ".")
        self.git("commit", "-q", "-m", "theirs")
        self.assertEqual(agent.value("git_pull", {"source": main, "paths": ["**"]}),
                         {"pulled": ["a", "b"], "conflicts": []})
        lines[3] = "three\n"
        self.assertEqual(agent.ok("read_file", {"path": "/workspace/a"}).text, "".join(lines))
        lines[19] = "end\n"
        agent.write("a", "".join(lines))
        shown, result = agent.push(agent.stage("second", "a"), main | {"branch": "agent"})
        self.assertNotIn("-agent", shown)
        self.assertEqual(self.out("show", "agent:a"), "".join(lines))
        self.assertEqual(self.out("ls-tree", "--name-only", "agent", "gone"), "")
        agent.close()

    def test_bare(self):
        """a bare repository"""
        where = self.bare(self.root / "backup.git")
        self.log = self.out("log", "--format=%s", "main")
        before = tree(self.base)
        self.day({"type": "local-bare", "path": "backup.git"}, where, Agent(self))
        self.assert_only(where, before)

    @github.needs_askpass
    def test_http(self):
        """a server with a token"""
        where = self.far
        self.git("push", "-q", "--force", str(where), "HEAD:main")
        self.log = self.out("log", "--format=%s", "main", cwd=where)
        before = tree(self.base)
        self.day(self.TARGET | {"branch": "main"}, where,
                 Agent(self))
        self.assert_only(where, before)


class Program(staging.Staging):
    """A directory as the sandbox, in which ordinary tools work."""

    def test_c_project(self):
        """a C project is pulled, built and tested in the sandbox, and only its sources go out"""
        if not (shutil.which("make") and shutil.which("cc")):
            self.skipTest("no make, or no compiler")
        self.write("hello.c", "#include <stdio.h>\n\nint main(void)\n{\n    puts(\"hello\");\n}\n")
        self.write("Makefile", "check: hello\n\ttest \"$$(./hello)\" = \"$$(cat expected)\"\n")
        self.write("expected", "hello\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "program")
        before = tree(self.root)
        agent = Agent(self, *self.in_directory)
        source = {"type": "local", "path": ".", "branch": "main"}
        agent.value("git_pull", {"source": source, "paths": ["**"]})
        make = ("make", "-C", str(self.workspace), "check")
        subprocess.run(make, check=True, capture_output=True, env=self.env)
        agent.write("hello.c", "#include <stdio.h>\n\nint main(void)\n{\n    puts(\"hello world\");\n}\n")
        self.assertNotEqual(subprocess.run(make, check=False, capture_output=True, env=self.env).returncode, 0)
        agent.write("expected", "hello world\n")
        subprocess.run(make, check=True, capture_output=True, env=self.env)
        self.assertTrue((self.workspace / "hello").exists())
        self.assertEqual(tree(self.root), before)
        staged = agent.stage("Greet the world", "*.c", "expected")
        _, result = agent.push(staged, source)
        self.assertEqual(result.value["structuredContent"]["status"], "success", result)
        self.assertEqual(self.out("show", "--stat", "--format=", "--name-only", "HEAD"),
                         "expected\nhello.c\n")
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertIn("/workspace/hello", agent.ok("git_status").text)
        agent.close()


if __name__ == "__main__":
    harness.main()
