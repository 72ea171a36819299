# SPDX-License-Identifier: Apache-2.0
"""The base of tests of pushes from the sandbox: a workspace, and a user who is asked."""
import json

import harness


class Asked(harness.AskingServer):
    """A client whose user is asked, and may give a reason."""

    def question(self, tool, arguments):
        """Make a call; gives its id and the question, which stays open."""
        number, question = self.ask(tool, arguments), self.receive()
        self.case.assertEqual(question.get("method"), "elicitation/create", question)
        return number, question

    def reply(self, question, decision, reason=None):
        """Answer an open question."""
        content = {"decision": decision} | ({"reason": reason} if reason else {})
        self.send(id=question["id"], result={"action": "accept", "content": content})

    def outcome(self, number):
        """The result of the call, which is the next message."""
        answer = self.receive()
        self.case.assertEqual(answer["id"], number, answer)
        return harness.Result(answer["result"])


class Pushing(harness.Case):
    """A repository with one commit at the root, and a workspace outside of it."""

    LOCAL = {"type": "local", "path": "."}
    BARE = {"type": "local-bare", "path": "bare.git"}

    def setUp(self):
        super().setUp()
        self.first = self.init()
        self.workspace = self.base / "workspace"
        self.configure("")

    def configure(self, more, rules=""):
        """The user's configuration: `more` for [staging], and rules."""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text('toolsets = ["files", "staging"]\n'
                          f'[staging]\nbackend = "directory"\npath = "{self.workspace}"\n'
                          f"{more}\n{rules}\n", encoding="utf-8")

    def make_bare(self, *options, path="bare.git", source="."):
        """A bare clone inside the root; with source None an empty bare repository."""
        words = ("clone", "-q", "--bare", *options, source, path) if source else (
            "init", "-q", "--bare", *options, path)
        self.git(*words)
        return self.root / path

    def stage(self, files, message="x", delete=()):
        """Write files of the workspace, delete others, and stage all of them; gives the id."""
        for name, content in files.items():
            self.write(name, content, self.workspace)
        for name in delete:
            (self.workspace / name).unlink()
        words = [f"/workspace/{name}" for name in (*files, *delete)]
        done = self.ok("git_stage", {"files": words, "message": message})
        return done.value["structuredContent"]["id"]

    def push(self, commit, target=None, *options, **named):
        """git_push; gives the result."""
        return self.call("git_push", {"commitId": commit, "target": target or self.LOCAL},
                         *options, **named)

    def pushed(self, commit, target=None, *options, **named):
        """A push that must work; gives the new commit and the notes."""
        result = self.push(commit, target, *options, **named)
        self.assertFalse(result.failed, result)
        value = result.value["structuredContent"]
        self.assertEqual(json.loads(result.text), value)
        self.assertEqual(list(value), ["status", "commitSha"], value)
        self.assertEqual(value["status"], "success")
        return value["commitSha"], result.notes

    def conflict(self, commit, target=None, *options, **named):
        """A push that must end in a conflict; gives the conflict."""
        result = self.push(commit, target, *options, **named)
        self.assertFalse(result.failed, result)
        value = result.value["structuredContent"]
        self.assertEqual(list(value), ["status", "conflict"], value)
        self.assertEqual(value["status"], "conflict")
        return value["conflict"]

    def head(self, ref="HEAD", where=None):
        """The commit of a reference."""
        return self.out("rev-parse", ref, cwd=where).strip()

    def content(self, name, ref="HEAD", where=None):
        """The bytes of a file of a commit."""
        return self.git("cat-file", "blob", f"{ref}:{name}", cwd=where).stdout

    def shown(self, commit, target=None, *options):
        """The question about a push, which is rejected."""
        server = Asked(self, *options)
        message, result = server.decided("reject", "git_push", {
            "commitId": commit, "target": target or self.LOCAL})
        self.assertEqual(result.kind, "ApprovalDenied", result)
        server.close()
        return message
