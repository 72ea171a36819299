# SPDX-License-Identifier: Apache-2.0
"""Operations in progress, names as they are, and remedies that name tools of the session."""
import harness
import workflow


class Status(workflow.Case):
    """The line beside the status of toolset workflow."""

    def diverge(self, commits=1):
        """A branch `side` whose commits conflict with main's one."""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        for number in range(commits):
            self.commit("a.txt", f"side {number}\n", f"side {number}")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "main\n", "main")

    def assert_line(self, line):
        """What git_status says beside its object."""
        self.assertEqual(self.ok("git_status").notes, line)

    def test_rebase(self):
        """a rebase says how far it is and how many conflicts there are"""
        self.diverge(3)
        self.assert_line("")
        self.git("checkout", "-q", "side")
        self.git("rebase", "main", check=False)
        self.assert_line("A rebase is in progress (1 of 3), 1 conflict")
        self.write("a.txt", "both\n")
        self.git("add", "a.txt")
        self.assert_line("A rebase is in progress (1 of 3)")
        self.git("rebase", "--abort")
        self.assert_line("")

    def test_others(self):
        """a merge, a cherry-pick, a revert, and conflicts without one"""
        self.diverge()
        for words, name in ((("merge", "side"), "merge"), (("cherry-pick", "side"), "cherry-pick"),
                            (("revert", "HEAD~1"), "revert")):
            self.git(*words, check=False)
            self.assert_line(f"A {name} is in progress, 1 conflict")
            self.git(words[0], "--abort")
        self.write("a.txt", "stashed\n")
        self.git("stash", "-q")
        self.commit("a.txt", "other\n", "other")
        self.git("stash", "pop", check=False)
        self.assert_line("1 conflict")

    def test_filter(self):
        """a file of Git LFS says who can do it, and what goes on working"""
        self.init()
        self.git("config", "filter.lfs.clean", "git-lfs-is-not-here %f")
        self.commit(".gitattributes", "*.bin filter=lfs\n", "attributes")
        self.write("big.bin", "content\n")
        result = self.call("git_commit", {"all": True, "message": "x"})
        self.assertIn("goes through the filter 'lfs'", result.text.splitlines()[0], result)
        self.assertIn("The user can do this with git itself", result.text.splitlines()[1], result)
        self.assertNotIn("git_status", result.text)
        (self.root / "big.bin").unlink()
        self.write("a.txt", "two\n")
        self.ok("git_commit", {"all": True, "message": "x"})

    def test_remedies(self):
        """what helps is the right thing, and no word about git_status where that does not help"""
        self.diverge()
        for words, tool, arguments in (
                ("git_branch with force deletes it", "git_branch",
                 {"action": "delete", "name": "side"}),
                ("HEAD is on it", "git_branch", {"action": "delete", "name": "main"}),
                ("Nothing has to be aborted", "git_merge", {"branch": "", "abort": True})):
            result = self.call(tool, arguments)
            self.assertIn(words, result.text.splitlines()[1], result)
            self.assertNotIn("then try again", result.text)

    def test_annotations(self):
        """git_diff of this toolset writes nothing, and says so to clients"""
        server = workflow.Server(self)
        server.send(id="list", method="tools/list")
        tools = {tool["name"]: tool for tool in server.receive()["result"]["tools"]}
        self.assertTrue(tools["git_diff"]["annotations"]["readOnlyHint"])


class Switched(harness.Case):
    """Both toolsets' git_checkout away from what stopped, and git_status of toolset git."""

    def begin(self, what):
        """`what` stopped in a conflict of branch side with main, which is settled; gives HEAD."""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "side\n", "side")
        self.commit("b.txt", "side\n", "side again")
        self.git("checkout", "-q", "main")
        head = self.commit("a.txt", "main\n", "main")
        self.git("branch", "other")
        if what == "rebase":
            self.git("rebase", "main", "side", check=False)
        else:
            self.git(what, "side~1", check=False)
        self.write("a.txt", "main\n")
        self.git("add", "a.txt")
        return head

    def progress(self, **arguments):
        """What git_status of toolset git says beside git's own text."""
        return self.ok("git_status", arguments).notes

    def test_rebase(self):
        """a rebase stays: the answer has the ways back, and a commit elsewhere does not end it"""
        head = self.begin("rebase")
        self.assertEqual(self.progress(), "A rebase is in progress (1 of 2)")
        self.assertEqual(self.progress(porcelain=False), "")
        left = ("A rebase is in progress (1 of 2) and was left: git_checkout of "
                f"{head[:10]} goes back to where it stopped, ")
        self.assertEqual(self.ok("git_checkout", {"branch": "other"}).notes,
                         left + "git_merge with abort aborts it")
        self.write("c.txt", "mine\n")
        self.git("add", "c.txt")
        before = self.state()
        for options, arguments in (((), {"type": "fix", "message": "mine"}),
                                   (("--toolset", "workflow"), {"message": "mine"})):
            self.refused("ExecutionFailed", "A rebase is in progress, but HEAD is on branch "
                         "'other' and not where the rebase stopped", "git_commit", arguments,
                         *options)
        self.assertEqual(self.state(), before)
        self.git("reset", "-q", "--hard")
        self.assertEqual(self.ok("git_checkout", {"commit": head[:10]}, "--toolset", "git").notes,
                         left + "a user aborts it with 'git rebase --abort'")
        self.write("a.txt", "both\n")
        self.git("add", "a.txt")
        self.assertIn("went on to its end",
                      self.ok("git_commit", {"type": "fix", "message": "both"}).text)
        self.assertEqual(self.progress(), "")
        self.assertEqual(self.ok("git_checkout", {"branch": "other"}).notes, "")

    def test_ended(self):
        """a merge, a cherry-pick and a revert end where git ends them"""
        for what in ("merge", "cherry-pick", "revert"):
            self.setUp()
            self.begin(what)
            self.assertEqual(self.progress(), f"A {what} is in progress")
            result = self.ok("git_checkout", {"target": "other"}, "--toolset", "workflow")
            self.assertEqual(result.notes, f"The {what} that was in progress is ended, "
                             "unfinished: a commit made now is not part of it")
            self.assertEqual(self.progress(), "")

    def test_question(self):
        """the user is told before, and paths are no switch"""
        self.begin("rebase")
        left = "A rebase is in progress (1 of 2), and switching leaves it unfinished."
        question, result = harness.AskingServer(self, "--toolset", "workflow").decided(
            "no", "git_checkout", {"target": "other", "force": True})
        self.assertIn(left, question)
        server = harness.AskingServer(self)
        self.write("a.txt", "lost\n")
        question, result = server.decided("no", "git_checkout", {"paths": ["a.txt"]})
        self.assertIn("This is lost", question)
        self.assertNotIn("in progress", question)
        question, result = server.decided("once", "git_checkout", {"create_branch": "new"})
        self.assertIn(left, question)
        self.assertIn("and was left", result.notes)


class Git(harness.Case):
    def test_names(self):
        """names come as they are, and what a terminal would act on comes quoted"""
        self.init()
        self.write("ümlaut.txt", "x\n")
        self.write("t\tb.txt", "x\n")
        text = self.ok("git_status").text
        self.assertIn("?? ümlaut.txt\n", text)
        self.assertIn('?? "t\\tb.txt"\n', text)
        self.git("add", "-A")
        for tool, arguments in (("git_diff", {"cached": True}),
                                ("git_diff", {"cached": True, "name_only": True})):
            self.assertIn("ümlaut.txt", self.ok(tool, arguments).text)
        self.git("commit", "-q", "-m", "second")
        self.assertIn("ümlaut.txt", self.ok("git_show", {"name_only": True}).text)

    def test_remedies(self):
        """a remedy names a tool that the session has"""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("b.txt", "b\n", "second")
        self.git("checkout", "-q", "main")
        result = self.call("git_branch", {"delete": "side"})
        self.assertIn("\ngit_branch with force_delete deletes it", result.text)
        self.assertNotIn("git branch -D", result.text)
        self.git("merge", "-q", "side")
        self.write("a.txt", "mine\n")
        self.git("branch", "old", "HEAD~1")
        self.git("checkout", "-q", "old", check=False)
        self.git("reset", "-q", "--hard")
        self.commit("a.txt", "two\n", "third")
        self.git("checkout", "-q", "main")
        self.write("a.txt", "mine\n")
        given = ("--grant", "narrow", "--config", str(self.write(
            "c.toml", '[grants.narrow]\ntools = ["git_checkout"]\nfs = { "%s" = "rw" }\n' % self.root,
            self.home)))
        result = self.call("git_checkout", {"branch": "old"})
        self.assertIn("git_stash", result.text)
        for word in ("Please commit", "Aborting"):
            self.assertNotIn(word, result.text)
        result = self.call("git_checkout", {"branch": "old"}, *given)
        self.assertTrue(result.failed)
        self.assertNotIn("git_stash", result.text)

    def test_detached(self):
        """a detached HEAD is said in two lines, and what keeps commits is a tool"""
        first = self.init()
        text = self.ok("git_checkout", {"commit": first}).text
        self.assertIn("You are in 'detached HEAD' state.", text)
        self.assertIn("git_checkout with create_branch keeps commits", text)
        for word in ("git switch", "advice.detachedHead", "undo this operation"):
            self.assertNotIn(word, text)
        self.assertIn("HEAD is now at", text)


if __name__ == "__main__":
    harness.main()
