#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: one agent's day from morning to evening, with no other tools and one question."""
import re

import everyday
import harness
from everyday import LINES, text_with

EDITS = {"at3": "three", "at20": "twenty", "at36": "thirty-six"}


class Client(everyday.AskingServer):
    """A client whose user says yes, and who remembers what was asked."""

    def __init__(self, case, *options, **named):
        self.questions = []
        super().__init__(case, *options, **named)

    def call(self, tool, arguments=None):
        number = self.ask(tool, {"working_dir": "repo", **(arguments or {})})
        while True:
            message = self.receive()
            if message.get("method") != "elicitation/create":
                self.case.assertEqual(message["id"], number, message)
                return harness.Result(message["result"])
            self.questions.append((tool, message["params"]["message"]))
            self.send(id=message["id"],
                      result={"action": "accept", "content": {"decision": "once"}})


class Day(everyday.Case):
    """Each part of the day is a method; each looks with plain git at what it left."""

    def setUp(self):
        super().setUp()
        self.top, self.root = self.root, self.root / "repo"
        self.root.mkdir()
        self.init()
        self.hub = self.top / "hub.git"
        self.git("init", "-q", "--bare", str(self.hub))
        self.git("remote", "add", "origin", str(self.hub))
        self.commit("f.txt", "".join(LINES), "base")
        self.git("branch", "old/done")
        self.git("push", "-q", "-u", "origin", "main")
        self.git("remote", "set-head", "origin", "main")
        self.client = Client(self)

    def launch(self, argv):
        """The server has the root above the repository."""
        return [str(self.top) if word == str(self.root) else word for word in argv]

    def says(self, tool, arguments=None, **_):
        return self.client.ok(tool, arguments).text

    def text(self, name="f.txt"):
        return (self.root / name).read_text()

    def subjects(self, words="origin/main..HEAD"):
        """Newest first."""
        return self.out("log", "--format=%s", words).splitlines()

    def orient(self):
        """Where one is, and where the line is that is to be changed."""
        text = self.says("git_status")
        for words in ("main", "origin/main", "base"):
            self.assertIn(words, text)
        self.assertIn("f.txt", self.says("git_grep", {"pattern": "line 20"}))
        self.assertIn("base", self.says("git_log", {"changed": "line 20"}))
        self.assertIn("A U Thor", self.says("git_blame", {"path": "f.txt", "lines": "20,21"}))
        self.says("git_switch", {"branch": "topic", "create": True})
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/topic\n")

    def commit_by_hunk(self):
        """Three commits out of one file, which keeps the others' changes each time."""
        self.write("f.txt", text_with(**EDITS))
        ids = re.findall(r"^@@ (\w+)", self.says("git_diff", {"hunks": True}), re.M)
        self.assertEqual(len(ids), 3, ids)
        for i, (name, hunk) in enumerate(zip(EDITS, ids)):
            text = self.says("git_commit", {"message": f"step {i}", "hunks": [hunk]})
            self.assertIn(f"step {i}", text)
            done = {name: EDITS[name] for name in list(EDITS)[:i + 1]}
            self.assertEqual(self.out("show", "HEAD:f.txt"), text_with(**done))
            self.assertEqual(self.out("diff", "--cached"), "")
            self.assertEqual(self.text(), text_with(**EDITS))
            self.assertEqual(self.out("show", "--format=", "--numstat", f":/step {i}").split()[:2],
                             ["1", "1"], name)
        self.assertEqual(self.out("status", "--porcelain"), "")

    def tidy(self):
        """The last two become one, and the first has another message."""
        ids = self.out("log", "--reverse", "--format=%H", "main..HEAD").split()
        tree = self.out("rev-parse", "HEAD^{tree}")
        self.says("git_rebase", {"plan": [
            {"commit": ids[0], "do": "reword", "message": "f: three\n\nWhy three."},
            {"commit": ids[1], "do": "pick"},
            {"commit": ids[2], "do": "squash", "message": "f: both"}]})
        self.assertEqual(self.subjects(), ["f: both", "f: three"])
        self.assertEqual(self.out("log", "-1", "--format=%b", "HEAD~1").strip(), "Why three.")
        self.assertEqual(self.out("rev-parse", "HEAD^{tree}"), tree)
        self.assertEqual(self.out("rev-parse", "HEAD~2"), self.out("rev-parse", "main"))

    def put_aside(self):
        """Unfinished work is put aside, with a file that git does not know."""
        self.write("f.txt", text_with(**EDITS, at10="unfinished"))
        self.write("new.txt", "new\n")
        self.says("git_stash", {"message": "unfinished", "untracked": True})
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertEqual(len(self.out("stash", "list").splitlines()), 1)

    def pull(self):
        """Somebody else changed one of the lines: a rebase that stops, is settled and goes on."""
        other = self.base / "other"
        self.git("clone", "-q", str(self.hub), str(other), cwd=self.base)
        there = self.commit("f.txt", text_with(at20="theirs", at37="theirs"), "elsewhere", other)
        self.git("push", "-q", "origin", "main", cwd=other)
        text = self.says("git_pull", {"branch": "main", "rebase": True})
        self.assertIn("stopped at a conflict", text)
        self.assertEqual(self.unmerged(), ["f.txt"])
        shown = self.says("git_conflicts")
        hunks = re.findall(r"^hunk (\w+)", shown, re.M)
        self.assertEqual(len(hunks), 2, shown)
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "hunks": [
            {"id": hunks[0], "take": "theirs"}]})
        self.assertEqual(self.unmerged(), ["f.txt"])
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "hunks": [
            {"id": hunks[1], "content": "thirty-six\ntheirs\n"}]})
        self.assertEqual(self.unmerged(), [])
        self.says("git_conflicts", {"action": "continue"})
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/topic\n")
        self.assertEqual(self.out("rev-parse", "HEAD~2").strip(), there)
        self.assertEqual(self.subjects(), ["f: both", "f: three"])
        self.assertEqual(self.text(), text_with(**EDITS, at37="theirs"))
        self.says("git_stash", {"action": "pop"})
        self.assertEqual(self.text(), text_with(**EDITS, at10="unfinished", at37="theirs"))
        self.assertEqual(self.text("new.txt"), "new\n")
        self.assertEqual(self.out("stash", "list"), "")

    def amend(self):
        """The rest goes into the last commit, and the user sees it pushed."""
        before = self.out("rev-parse", "HEAD~1")
        self.says("git_commit", {"amend": True, "all": True})
        self.assertEqual(self.subjects(), ["f: both", "f: three"])
        self.assertEqual(self.out("rev-parse", "HEAD~1"), before)
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertEqual(self.out("show", "HEAD:new.txt"), "new\n")
        self.assertEqual(self.client.questions, [])
        self.says("git_push", {"set_upstream": True})
        self.assertEqual([tool for tool, _ in self.client.questions], ["git_push"])
        self.assertEqual(self.out("rev-parse", "topic", cwd=self.hub), self.out("rev-parse", "HEAD"))
        self.assertEqual(self.out("rev-parse", "--abbrev-ref", "@{u}"), "origin/topic\n")

    def describe(self):
        """What the pull request says; a tag; one more push, which nobody is asked about."""
        text = self.says("git_pr")
        for words in ("f: both", "f: three", "new.txt"):
            self.assertIn(words, text)
        self.assertNotIn("elsewhere", text)  # main here is behind, and main there has it
        self.says("git_tag", {"action": "create", "name": "v1", "message": "one"})
        self.assertEqual(self.out("cat-file", "-t", "v1"), "tag\n")
        self.assertEqual(self.out("rev-parse", "v1^{commit}"), self.out("rev-parse", "HEAD"))
        self.write("new.txt", "newer\n")
        self.says("git_commit", {"message": "new: newer", "paths": ["new.txt"]})
        self.says("git_push")
        self.assertEqual(self.out("rev-parse", "topic", cwd=self.hub), self.out("rev-parse", "HEAD"))

    def mistake(self):
        """Work is thrown away by mistake, and comes back to the byte."""
        self.write("f.txt", b"precious\r\nand no end")
        self.write("staged.txt", "staged\n")
        self.git("add", "staged.txt")
        before = self.snapshot()
        self.says("git_restore", {"paths": ["f.txt"]})
        self.assertEqual(self.out("diff", "--name-only"), "")
        self.says("git_undo")
        self.assertEqual((self.root / "f.txt").read_bytes(), b"precious\r\nand no end")
        self.assertEqual(self.snapshot(), before)
        self.says("git_reset", {"to": "HEAD", "mode": "hard"})
        self.assertEqual(self.out("status", "--porcelain"), "")

    def clean_up(self):
        """Back on main: the branch is merged, and what is merged is deleted."""
        self.says("git_switch", {"branch": "main"})
        self.says("git_pull")
        self.says("git_merge", {"branch": "topic"})
        self.assertEqual(self.out("rev-parse", "main"), self.out("rev-parse", "topic"))
        text = self.says("git_branch", {"merged_into": "main"})
        for name in ("old/done", "topic"):
            self.assertIn(name, text)
        self.says("git_branch", {"action": "delete", "names": ["old/done", "topic"]})
        self.assertEqual(self.out("for-each-ref", "--format=%(refname)", "refs/heads"),
                         "refs/heads/main\n")
        self.assertEqual(self.subjects(), ["new: newer", "f: both", "f: three"])

    def test_day(self):
        """a day: each step as git sees it, and one question, of the first push"""
        for part in (self.orient, self.commit_by_hunk, self.tidy, self.put_aside, self.pull,
                     self.amend, self.describe, self.mistake, self.clean_up):
            part()
            self.assertEqual(self.out("fsck", "--no-dangling"), "", part.__name__)
        self.assertEqual(len(self.client.questions), 1, self.client.questions)
        self.assertIn(str(self.hub), self.client.questions[0][1])
        self.assertIn("topic", self.client.questions[0][1])


if __name__ == "__main__":
    harness.main()
