#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker file whose default target, or source of files, is a repository on GitHub."""
import github
import harness
import pushing
from github import needs_askpass


class Worker(github.Case):
    """A worker with a target on the hub."""

    def worker(self, *settings, more=""):
        """Write a worker file with settings of the toolset staging; gives the options."""
        lines = "".join(f"    {line}\n" for line in settings)
        path = self.write("w.md", "---\nname: night-shift\ntoolsets:\n  files:\n  staging:\n"
                          f"{lines}{more}---\n", self.base)
        return "--worker", str(path)

    def staged(self, server, name, content):
        """A staged commit of one file; gives its id."""
        server.ok("write_file", {"path": f"/workspace/{name}", "content": content})
        done = server.ok("git_stage", {"files": [f"/workspace/{name}"], "message": "x"})
        return done.value["structuredContent"]["id"]

    @needs_askpass
    def test_default_target(self):
        """a call without a target goes there, with an approval, and pulls come from there"""
        self.elsewhere("docs/a.md", "theirs\n")
        server = pushing.Asked(self, *self.worker(
            "default_target: {type: github, repo: user/proj, branch: '{worker}'}"))
        pulled = server.ok("git_pull", {"paths": ["docs/"]}).value["structuredContent"]
        self.assertEqual(pulled, {"pulled": ["docs/a.md"], "conflicts": []})
        self.assertEqual(server.ok("git_branches").value["structuredContent"],
                         {"branches": ["main"]})
        staged = self.staged(server, "docs/a.md", "ours\n")
        message, result = server.decided("once", "git_push", {"commitId": staged})
        self.assertIn("to github:user/proj (branch: night-shift, new branch)",
                      message.split("\n")[0])
        self.assertFalse(result.failed, result)
        commit = result.value["structuredContent"]["commitSha"]
        self.assertEqual(self.head("night-shift", self.far), commit)
        self.assertEqual(self.content("docs/a.md", "night-shift", self.far), b"ours\n")
        self.assertEqual(self.out("log", "-1", "--format=%(trailers:key=Worker)", commit,
                                  cwd=self.far).strip(), "Worker: night-shift")
        again = self.staged(server, "b.md", "b\n")
        message, result = server.decided("reject", "git_push", {"commitId": again})
        self.assertIn("(branch: night-shift)", message.split("\n")[0])
        self.assertEqual(result.kind, "ApprovalDenied", result)
        server.close()
        self.assert_nothing_left()
        self.assert_no_token()

    def test_rules(self):
        """rules of the worker file hold for the default target"""
        options = self.worker("default_target: {type: github, repo: user/proj}",
                              more="policy:\n  - {tool: git_push, branch: main, decision: deny, "
                                   "message: Not main.}\n")
        server = harness.Server(self, *options)
        staged = self.staged(server, "b.md", "b\n")
        result = server.call("git_push", {"commitId": staged})
        self.assertEqual((result.kind, result.error["message"]), ("ApprovalDenied", "Not main."), result)
        self.assertIn("Denied by rule 1 of the worker file (line 8).", result.text)
        self.assertEqual(self.hub.tokens(), set())
        server.close()
        self.assert_nothing_left()

    def test_auto_pull(self):
        """files come from there in the background; a call of a tool waits for them"""
        self.elsewhere("docs/a.md", "theirs\n")
        held = github.Held(self, self.hub, "git-upload-pack")
        server = harness.Server(self, *self.worker(
            "auto_pull:", "  - path: docs/", "    source: {type: github, repo: user/proj}"))
        held.wait()
        number = server.ask("list_files")
        server.send(id="ping", method="ping")
        self.assertEqual(server.receive()["id"], "ping")
        held.go.set()
        answer = server.receive()
        self.assertEqual(answer["id"], number)
        self.assertEqual(harness.Result(answer["result"]).text, "/workspace/docs/a.md\n")
        self.assertEqual(server.ok("git_status").text.strip(), "Sandbox Status:\n  No changes")
        server.close()
        self.assert_nothing_left()

    def test_end_while_it_pulls(self):
        """the end of the server ends a pull that hangs"""
        held = github.Held(self, self.hub, "git-upload-pack")
        server = harness.Server(self, *self.worker(
            "auto_pull:", "  - path: a.txt", "    source: {type: github, repo: user/proj}"))
        held.wait()
        server.close()
        self.assertEqual(server.process.returncode, 0)
        self.assert_nothing_left()

    def test_fails(self):
        """a repository that is not there is a warning, and the session goes on"""
        result = self.ok("list_files", None, *self.worker(
            "auto_pull:", "  - path: a.txt", "    source: {type: github, repo: user/none}",
            "  - path: a.txt", "    source: {type: github, repo: user/proj}"))
        self.assertEqual(result.stderr.count("auto_pull of 'a.txt' failed: "), 1, result.stderr)
        self.assertEqual(result.text, "/workspace/a.txt\n")


class Sha256(github.Case):
    """A server whose repository has object ids of the other kind."""

    def setUp(self):
        super().setUp()
        self.other = self.top / "user/other.git"
        self.git("init", "-q", "--bare", "--object-format=sha256", str(self.other))
        for key in ("uploadpack.allowFilter", "http.receivepack"):
            self.git("config", key, "true", cwd=self.other)

    def test_refused(self):
        """git_pull and git_push say that the ids differ, and nobody is asked"""
        target = {"type": "github", "repo": "user/other"}
        source = self.base / "source"
        self.git("init", "-q", "--object-format=sha256", str(source))
        self.commit("b.txt", "b\n", "b", source)
        self.git("push", "-q", str(self.other), "HEAD:main", cwd=source)
        staged = self.stage({"b.txt": "ours\n"})
        self.refused("ExecutionFailed",
                     "github:user/other has object ids by SHA-256, and what is staged here has them "
                     "by SHA-1, as the repository at the first root; start airlock with a clone of "
                     "it as its first root", "git_push", {"commitId": staged, "target": target},
                     approval="ask")
        self.refused("ExecutionFailed",
                     "github:user/other (branch: main) has SHA-256 object ids and the sandbox SHA-1; "
                     "start airlock with a clone of it as the first root",
                     "git_pull", {"source": target, "paths": ["b.txt"]})
        self.assertEqual(self.ok("git_branches", {"target": target}).value["structuredContent"],
                         {"branches": ["main"]})
        self.assert_nothing_left()

    @needs_askpass
    def test_empty(self):
        """an empty repository does not tell its kind; its server refuses the push, which is said"""
        result = self.push(self.stage({"b.txt": "b\n"}), {"type": "github", "repo": "user/other"})
        self.assertEqual(result.kind, "ExecutionFailed", result)
        self.assertIn("The object ids of ", result.text)
        self.assertIn(" are of another kind than those here (SHA-1, SHA-256)", result.text)
        self.assertEqual(self.out("for-each-ref", cwd=self.other), "")
        self.assertEqual(len(self.ok("git_status").value["structuredContent"]["staged"]), 1)


if __name__ == "__main__":
    harness.main()
