#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The contents and answers of a client's form: the summary, where, by which tool, and a reason."""
import harness


class Questions(harness.Case):
    def setUp(self):
        super().setUp()
        self.repositories = [self.root / name for name in ("harmless", "production")]
        for repository in self.repositories:
            self.init(repository)
            self.write("a.txt", "two\n", repository)

    def add(self, server, repository, content):
        """git_add there: what is shown, and the result."""
        server.ask("git_add", {"working_dir": repository.name, "paths": ["a.txt"]})
        question = server.receive()
        server.send(id=question["id"], result={"action": "accept", "content": content})
        return question["params"], harness.Result(server.receive()["result"])

    def test_where(self):
        """the same call in two repositories below one root is two different questions"""
        server = harness.AskingServer(self)
        for repository in self.repositories:
            shown, _ = self.add(server, repository, {"decision": "reject"})
            self.assertEqual(shown["message"].split("\n")[:4], [
                "Stage 1 file(s): a.txt", f"In {repository}, by git_add (add)",
                "Why it asks: it changes what is staged",
                '"always" covers every git_add (add) in this repository, until the session ends'])

    def test_reason(self):
        """the agent gets the reason of a rejection, as one safe line, and the journal keeps it"""
        server = harness.AskingServer(self)
        shown, result = self.add(server, self.repositories[0],
                                 {"decision": "reject", "reason": " not\nbefore \u001b[2JMonday "})
        fields = shown["requestedSchema"]
        self.assertEqual(sorted(fields["properties"]), ["decision", "reason"])
        self.assertEqual(fields["required"], ["decision"])
        self.assertEqual((result.kind, result.text),
                         ("ApprovalDenied", "Rejected: not before Monday"))
        record = self.record()
        self.assertEqual((record["outcome"], record["decision"]), ("declined", "rejected"))
        self.assertIn("Rejected: not before Monday", harness.json.dumps(record["result"]))

    def test_reason_approves_nothing(self):
        """a reason is no decision, whatever it says"""
        server = harness.AskingServer(self)
        for content in ({"reason": "once"}, {"reason": "always", "decision": "Once"}):
            _, result = self.add(server, self.repositories[0], content)
            self.assertEqual((result.kind, result.text),
                             ("ApprovalDenied", "Rejected: " + content["reason"]))
        self.assertEqual(self.out("diff", "--cached", cwd=self.repositories[0]), "")

    def test_no_decision(self):
        """a client that accepts without a decision of the user's approves nothing, and is told"""
        server = harness.AskingServer(self)
        for content in ({}, {"decision": "yes"}, {"decision": True}, None):
            _, result = self.add(server, self.repositories[0], content)
            self.assertEqual((result.kind, result.text),
                             ("ApprovalDenied", "Rejected: the client accepted without a decision "
                              "of the user's, which is once, always or reject"))
        self.assertEqual(self.out("diff", "--cached", cwd=self.repositories[0]), "")

    def test_long_reason(self):
        """a reason is cut"""
        server = harness.AskingServer(self)
        _, result = self.add(server, self.repositories[0],
                             {"decision": "reject", "reason": "\u00e9" * 100000})
        self.assertEqual(result.text, "Rejected: " + "\u00e9" * 500)

    def test_long_summary(self):
        """a long summary pushes nothing away: it is cut, and follows whole at the end"""
        self.git("add", "a.txt", cwd=self.repositories[0])
        name = "b" * 100
        names = [f"{name}{number}" for number in range(3)]
        for each in names:
            self.write(each, "new\n", self.repositories[0])
        server = harness.AskingServer(self)
        shown, _ = server.decided("reject", "git_add", {"working_dir": "harmless", "paths": names})
        lines = shown.split("\n")
        self.assertEqual(len(lines[0]), 203)
        self.assertEqual(lines[1], f"In {self.repositories[0]}, by git_add (add)")
        self.assertIn(names[1], lines[-2])


class Impossible(harness.Case):
    """A call that must fail fails before anybody is asked."""

    def setUp(self):
        super().setUp()
        self.init()

    def fails(self, server, tool, arguments, text):
        """The call's answer comes without a question, and nothing was done."""
        before = self.state()
        result = server.call(tool, arguments)
        self.assertEqual((result.kind, result.error["message"]), ("ExecutionFailed", text), result)
        self.assertEqual(self.state(), before)
        self.assertEqual(self.record()["decision"], "none")

    def test_add_missing(self):
        """git_add of a path that is neither on the disk nor in the index"""
        self.write("b.txt", "b\n")
        (self.root / "empty").mkdir()
        (self.root / "dir").mkdir()
        self.commit("gone/c.txt", "c\n", "c")
        (self.root / "gone/c.txt").unlink()
        (self.root / "gone").rmdir()
        server = harness.AskingServer(self)
        message = "fatal: pathspec '{}' did not match any files"
        for paths in (["none.txt"], ["b.txt", "none.txt"], ["none/"], ["b.txt", "dir/none.txt"]):
            self.fails(server, "git_add", {"paths": paths}, message.format(paths[-1]))
        for paths in (["b.txt"], ["gone/c.txt"], ["gone"], ["empty", "b.txt"], ["*.txt"]):
            _, result = server.decided("reject", "git_add", {"paths": paths})
            self.assertEqual(result.kind, "ApprovalDenied", paths)
        self.assertEqual(self.git("add", "none.txt", check=False).stderr.decode().strip(),
                         message.format("none.txt"))

    def test_checkout_elsewhere(self):
        """git_checkout of a branch that another working tree has checked out"""
        for branch in ("side", "free"):
            self.git("branch", branch)
        self.git("worktree", "add", "-q", str(self.base / "beside"), "side")
        text = f"'side' is checked out in the worktree '{self.base}/beside'"
        server = harness.AskingServer(self, "--toolset", "git")
        self.fails(server, "git_checkout", {"branch": "side"}, text)
        other = harness.AskingServer(self, "--toolset", "workflow")
        result = other.call("git_checkout", {"target": "side", "force": True})
        self.assertIn(text, result.text)
        self.assertEqual(self.record()["decision"], "none")
        self.assertNotEqual(self.git("checkout", "-q", "side", check=False).returncode, 0)
        for branch in ("free", "main"):
            for asking, words in ((server, {"branch": branch}),
                                  (other, {"target": branch, "force": True})):
                _, result = asking.decided("reject", "git_checkout", words)
                self.assertEqual(result.kind, "ApprovalDenied", branch)
        _, result = server.decided("reject", "git_checkout", {"commit": "side"})
        self.assertEqual(result.kind, "ApprovalDenied")

    def test_names(self):
        """names that a branch has, and names that nothing has; with git's own words"""
        self.git("branch", "side")
        self.git("tag", "v1")
        self.git("update-ref", "refs/remotes/origin/far", "HEAD")
        self.git("config", "remote.origin.url", "x")
        self.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
        server = harness.AskingServer(self, "--toolset", "git")
        invalid = "fatal: invalid reference: {}"
        there = "fatal: a branch named '{}' already exists"
        for tool, arguments, text in (
                ("git_checkout", {"branch": "nope"}, invalid.format("nope")),
                ("git_checkout", {"commit": "deadbeef"}, invalid.format("deadbeef")),
                ("git_checkout", {"create_branch": "side"}, there.format("side")),
                ("git_branch", {"create": "main"}, there.format("main")),
                ("git_branch", {"rename": "side", "new_name": "main"}, there.format("main")),
                ("git_branch", {"rename": "nope", "new_name": "x"}, "fatal: no branch named 'nope'")):
            self.fails(server, tool, arguments, text)
        for words in (["checkout", "nope", "--"], ["branch", "main"], ["branch", "-m", "side", "main"]):
            self.assertIn(self.git(*words, check=False).stderr.decode().strip().replace(
                "A branch", "a branch"), (invalid.format("nope"), there.format("main")))
        for tool, arguments in (
                ("git_checkout", {"branch": "far"}), ("git_checkout", {"branch": "v1"}),
                ("git_checkout", {"commit": "HEAD~0"}), ("git_checkout", {"create_branch": "new"}),
                ("git_branch", {"create": "new"}),
                ("git_branch", {"rename": "side", "new_name": "new"}),
                ("git_branch", {"rename": "side", "new_name": "side"})):
            _, result = server.decided("reject", tool, arguments)
            self.assertEqual(result.kind, "ApprovalDenied", arguments)
        other = harness.AskingServer(self, "--toolset", "workflow")
        result = other.call("git_checkout", {"target": "nope", "force": True})
        self.assertEqual((result.error["code"], result.error["reason"]), (7033, "not_found"))

    def test_unborn(self):
        """a branch without a commit can be renamed, and left for a new one"""
        empty = self.root / "empty"
        self.git("init", "-q", str(empty))
        server = harness.AskingServer(self, "--toolset", "git")
        for tool, arguments in (("git_branch", {"rename": "main", "new_name": "trunk"}),
                                ("git_checkout", {"create_branch": "other"})):
            _, result = server.decided("once", tool, arguments | {"working_dir": "empty"})
            self.assertFalse(result.failed, result)


if __name__ == "__main__":
    harness.main()
