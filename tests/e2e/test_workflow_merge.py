#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow: git_merge."""
import os

import harness
import merges
import workflow


class Merge(merges.Case):
    def test_example(self):
        """R4-7 git_merge: the first example of the requirements, through MCP"""
        self.init()
        self.branch("b.txt", "b\n")
        value = workflow.Server(self).gives("git_merge", {"branch": "feature/auth"})
        self.assertEqual((value["success"], value["fastForward"]), (True, True))
        self.assertIn("Fast-forward", value["message"])
        self.assertNotIn("conflicts", value)
        self.assertEqual(self.out("log", "-1", "--format=%s"), "feat: theirs\n")

    def test_example_no_ff(self):
        """R4-7 git_merge: noFf and message make a merge commit that says so"""
        self.init()
        self.branch("b.txt", "b\n")
        value = self.gives("git_merge", {"branch": "feature/auth", "noFf": True,
                                         "message": "Merge feature/auth"})
        self.assertEqual((value["success"], value["fastForward"]), (True, False))
        self.assertEqual(self.out("log", "-1", "--format=%s"), "Merge feature/auth\n")
        self.assertEqual(len(self.out("rev-parse", "HEAD^1", "HEAD^2").split()), 2)

    def test_example_abort(self):
        """R4-7 git_merge: abort with an empty branch goes back"""
        self.conflict()
        value = self.gives("git_merge", {"branch": "", "abort": True})
        self.assertEqual(value, {"success": True, "message": "Aborted the merge in progress."})
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_git_message(self):
        """git_merge: without a message, and with an empty one, git's own"""
        self.init()
        for empty in ({}, {"message": ""}):
            self.branch("b.txt", f"{empty}\n")
            self.gives("git_merge", {"branch": "feature/auth", "noFf": True} | empty)
            self.assertEqual(self.out("log", "-1", "--format=%s"), "Merge branch 'feature/auth'\n")

    def test_up_to_date(self):
        """git_merge: nothing to merge is a success that says so"""
        self.init()
        self.git("branch", "feature/auth")
        self.assertEqual(self.gives("git_merge", {"branch": "feature/auth"}), {
            "success": True, "message": "Already up to date.", "fastForward": False})

    def test_conflict(self):
        """git_merge: a conflict is a result with the files' raw names"""
        self.collide("n\u00e9w \"file\"")
        value = self.gives("git_merge", {"branch": "feature/auth"})
        self.assertEqual((value["success"], value["conflicts"]), (False, ["n\u00e9w \"file\""]))
        self.assertIn("Automatic merge failed", value["message"])
        self.assertNotIn("fastForward", value)
        self.assertTrue((self.root / ".git/MERGE_HEAD").exists())

    def test_conflicts_exist(self):
        """git_merge: 7030 while conflicts exist, 7010 while a merge is not concluded"""
        self.conflict()
        self.fails(7030, "git_merge", {"branch": "feature/auth"})
        self.git("checkout", "--ours", ".")
        self.git("add", ".")
        self.fails(7010, "git_merge", {"branch": "feature/auth"})

    def test_dirty(self):
        """git_merge: 7031 where changes or untracked files, ignored ones too, would be overwritten"""
        self.init()
        self.branch("b.txt", "b\n")
        for exclude in ("", "b.txt\n"):
            self.write(".git/info/exclude", exclude)
            self.write("b.txt", "mine\n")
            result = self.fails(7031, "git_merge", {"branch": "feature/auth"})
            self.assertIn("b.txt", result.text)
            self.assertEqual((self.root / "b.txt").read_text(), "mine\n")
        (self.root / "b.txt").unlink()
        self.branch("a.txt", "theirs\n")
        self.write("a.txt", "edited\n")
        self.assertIn("a.txt", self.fails(7031, "git_merge", {"branch": "feature/auth"}).text)
        self.assertEqual((self.root / "a.txt").read_text(), "edited\n")

    def test_unknown(self):
        """git_merge: 7033 for what is no branch and no commit"""
        self.init()
        for branch in ("no-such", "origin/no-such", "HEAD:a.txt", "main~7"):
            self.fails(7033, "git_merge", {"branch": branch})

    def test_words(self):
        """git_merge: an empty branch and one that begins with '-' are wrong, whatever else"""
        self.init()
        self.branch("b.txt", "b\n")
        for branch in ("", "-s", "--abort", "-X", "feature/auth\n"):
            self.assertEqual(self.call("git_merge", {"branch": branch}).kind, "BadArgs")
        self.assertEqual(self.call("git_merge", {}).kind, "BadArgs")
        for arguments in ({}, {"abort": False}, {"noFf": True}):
            result = self.call("git_merge", arguments)
            self.assertEqual((result.kind, result.error["message"]),
                             ("BadArgs", "branch is required"))
        self.assertEqual(self.call("git_merge", {"branch": 1, "abort": True}).kind, "BadArgs")

    def test_nothing_to_abort(self):
        """git_merge: nothing to abort is 7010"""
        self.init()
        for arguments in ({"branch": ""}, {}, {"branch": "main"}):
            result = self.fails(7010, "git_merge", {**arguments, "abort": True})
            self.assertIn("There is nothing to abort", result.text)
            self.assertNotIn("try again", result.text)

    def test_abort_others(self):
        """git_merge: abort gives up a rebase, a cherry-pick and a revert as well"""
        self.collide()
        self.commit("src/config.ts", "again\n", "fix: again")
        for words, name in ((("rebase", "feature/auth"), "rebase"),
                            (("cherry-pick", "feature/auth"), "cherry-pick"),
                            (("revert", "HEAD~1"), "revert")):
            before = self.out("rev-parse", "HEAD")
            self.assertNotEqual(self.git(*words, check=False).returncode, 0)
            (self.root / "src/config.ts").write_text("resolved\n")
            self.git("add", "-A")
            said = self.fails(7010, "git_merge", {"branch": "feature/auth"}).text
            self.assertTrue(said.startswith(f"A {name} is in progress; conclude it with"), said)
            value = self.gives("git_merge", {"abort": True})
            self.assertEqual(value["message"], f"Aborted the {name} in progress.")
            self.assertEqual(self.out("rev-parse", "HEAD"), before)
            self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/main\n")
            self.assertEqual(self.out("status", "--porcelain"), "")

    def test_asks(self):
        """R4-18 git_merge: every merge and abort asks, and shows what comes in or is lost"""
        self.init()
        self.branch("b.txt", "b\n")
        self.assert_asks("Merge feature/auth into the current branch", "git_merge",
                         {"branch": "feature/auth"})
        server = harness.AskingServer(self, "--toolset", "workflow")
        shown, result = server.decided("reject", "git_merge", {"branch": "feature/auth"})
        self.assertEqual(result.kind, "ApprovalDenied")
        self.assertIn("feat: theirs", shown)
        self.assertIn("+++ b/b.txt", shown)
        self.conflict(name="c.txt")
        self.assert_asks("Abort what is in progress and go back (WARNING: destructive)",
                         "git_merge", {"branch": "", "abort": True})

    def test_asks_again(self):
        """git_merge: a branch that moved while a user was asked is asked about again"""
        self.init()
        self.branch("b.txt", "b\n")
        server = harness.AskingServer(self, "--toolset", "workflow")
        server.ask("git_merge", {"branch": "feature/auth"})
        question = server.receive()
        self.branch("c.txt", "c\n", "feat: moved")
        server.send(id=question["id"], result={"action": "accept", "content": {"decision": "once"}})
        question = server.receive()
        self.assertEqual(question["method"], "elicitation/create")
        self.assertIn("feat: moved", question["params"]["message"])
        server.send(id=question["id"],
                    result={"action": "accept", "content": {"decision": "reject"}})
        self.assertEqual(harness.Result(server.receive()["result"]).kind, "ApprovalDenied")

    def test_nothing_comes_in(self):
        """git_merge: nobody is asked about a branch that brings nothing"""
        self.init()
        self.git("branch", "feature/auth")
        result = self.call("git_merge", {"branch": "feature/auth"}, approval="ask")
        self.assertFalse(result.failed, result)
        self.assertIn("Already up to date", result.text)
        self.branch("b.txt", "b\n")
        self.refused_to_ask("git_merge", {"branch": "feature/auth"})

    def refused_to_ask(self, tool, arguments):
        """There is something to be asked about, and nobody to ask."""
        self.assertEqual(self.call(tool, arguments, approval="ask").kind, "ApprovalRequired")

    def test_forged_commit(self):
        """git_merge: what was put in the place of a commit is not shown as if it were the commit"""
        self.init()
        self.branch("b.txt", "b\n")
        self.git("checkout", "-q", "feature/auth")
        self.commit("c.txt", "c\n", "feat: last")
        self.git("commit", "-q", "--allow-empty", "-m", "feat: harmless")
        self.git("reset", "-q", "--soft", "HEAD^")
        self.git("checkout", "-q", "main")
        oid = self.out("rev-parse", "feature/auth^").strip()
        path, other = (self.loose(name) for name in (oid, "feature/auth@{1}"))
        path.chmod(0o644)
        path.write_bytes(other.read_bytes())
        self.assertIn("feat: harmless", self.out("log", "--format=%s", "feature/auth"))
        result = self.call("git_merge", {"branch": "feature/auth"}, approval="ask")
        self.assertEqual(result.kind, "ExecutionFailed", result)
        self.assertIn(oid, result.text)

    def loose(self, name):
        """The file of an object."""
        oid = self.out("rev-parse", name).strip()
        return self.root / ".git/objects" / oid[:2] / oid[2:]

    def test_interrupted(self):
        """git_merge: a merge that is cancelled half way was never there"""
        self.init()
        self.branch("dir/b.txt", "b\n")
        self.write("mine.txt", "untracked\n")
        before, state = self.tree(), self.state()
        (self.root / ".git/logs/HEAD").unlink()
        os.mkfifo(self.root / ".git/logs/HEAD")
        result = self.call("git_merge", {"branch": "feature/auth"}, "--config",
                           str(self.write("config.toml", "[tools.git]\ntimeout_ms = 700\n",
                                          self.base)))
        (self.root / ".git/logs/HEAD").unlink()
        self.assertEqual((result.kind, result.error["code"]), ("Timeout", 7035), result)
        self.assertIn("put back as it was", result.text)
        self.assertEqual((self.tree(), self.state()), (before, state))
        self.assertFalse((self.root / ".git/ORIG_HEAD").exists())

    def test_cwd(self):
        """git_merge: cwd says which repository"""
        self.init()
        other = self.root / "other"
        self.init(other)
        self.git("branch", "side", cwd=other)
        self.assertTrue(self.gives("git_merge", {"branch": "side", "cwd": "other"})["success"])
        self.fails(7033, "git_merge", {"branch": "side"})


if __name__ == "__main__":
    harness.main()
