#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_merge, with conflicts as a result."""
import everyday
import harness
from everyday import LINES, text_with


class Merge(everyday.Case):
    def clean(self):
        """`topic` and `main` change different lines."""
        self.fork(text_with(at5="main"), text_with(at30="topic"), "".join(LINES))

    def test_merge(self):
        """git_merge: a merge commit with the given message, or git's"""
        self.clean()
        text = self.says("git_merge", {"branch": "topic"})
        self.assertRegex(text, r"^Merged topic: [0-9a-f]{8} Merge branch 'topic'\n"
                               r"1 file changed, \+1 -1\n")
        self.git("reset", "-q", "--hard", "HEAD^")
        self.says("git_merge", {"branch": "topic", "message": "joined\n\nwhy"})
        self.assertEqual(self.out("log", "-1", "--format=%B").strip(), "joined\n\nwhy")
        self.assertIn("Nothing to merge: the branch has topic already.",
                      self.says("git_merge", {"branch": "topic"}))

    def test_tag_of_the_name(self):
        """git_merge: the branch is merged, and not a tag that is called as it is"""
        self.clean()
        self.git("tag", "topic", "main")
        there = self.out("rev-parse", "refs/heads/topic").strip()
        self.assertRegex(self.says("git_merge", {"branch": "topic"}),
                         r"^Merged topic: [0-9a-f]{8} Merge branch 'topic'\n")
        self.assertEqual(self.out("rev-parse", "HEAD^2").strip(), there)
        self.git("reset", "-q", "--hard", "HEAD^")
        self.assertIn("Squashed topic", self.says("git_merge", {"branch": "topic", "squash": True}))
        self.assertIn("topic", (self.root / "f.txt").read_text())

    def test_forward(self):
        """git_merge: a fast-forward, and no_ff"""
        self.clean()
        self.git("checkout", "-q", "-B", "main", "topic~1")
        start = self.out("rev-parse", "HEAD").strip()
        self.assertIn("Moved on to topic: ", self.says("git_merge", {"branch": "topic"}))
        self.git("reset", "-q", "--hard", start)
        self.assertIn("Merged topic: ", self.says("git_merge", {"branch": "topic", "no_ff": True}))
        self.assertEqual(len(self.out("log", "-1", "--format=%P").split()), 2)

    def test_comments(self):
        """git_conflicts: a merge keeps each line of its message but git's list of conflicts"""
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        own = "joined  \n\n\n#123 fix\n; too\n\n# Conflicts:\n#\tno list\nend\n"
        for setting, message, kept in (
                ("#", None, "merge"), ("#", "joined\n; why\n", "merge"), ("#", own, "commit"),
                (";", None, "merge"), (";", "joined\n#1 is fixed\n", "merge"), (";", own, "commit"),
                ("auto", None, "commit"), ("auto", own, "commit")):
            self.git("config", "core.commentChar", setting)
            self.git("merge", "-q", *(("-m", message) if message else ()), "topic", check=False)
            self.git("checkout", "-q", "--theirs", "f.txt")
            self.git("add", "f.txt")
            if kept == "merge":  # as git leaves it after an editor that changes nothing
                self.git("merge", "--continue", GIT_EDITOR="true")
            else:  # git without an editor keeps every line, those of its list too
                self.git("commit", "-q", "--no-edit")
            expected = self.out("log", "-1", "--format=%B")
            self.git("reset", "-q", "--hard", "HEAD^")
            if kept == "commit":
                comment = ";" if setting == ";" else "#"
                listed = f"\n{comment} Conflicts:\n{comment}\tf.txt\n"
                self.assertIn(listed, expected)
                expected = expected.replace(listed, "")
            self.says("git_merge", {"branch": "topic"} | ({"message": message} if message else {}))
            self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "theirs"})
            self.says("git_conflicts", {"action": "continue"})
            self.assertEqual(self.out("log", "-1", "--format=%B"), expected, (setting, message))
            self.git("reset", "-q", "--hard", "HEAD^")

    def test_bytes(self):
        """a prepared message that is no UTF-8 is concluded with what can be read of it"""
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        self.git("-c", "i18n.commitEncoding=latin1", "merge", "-q", "-m", "joined \udce4", "topic",
                 check=False)
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "theirs"})
        self.says("git_conflicts", {"action": "continue"})
        self.assertTrue(self.out("log", "-1", "--format=%B").startswith("joined "))
        self.assertEqual(len(self.out("log", "-1", "--format=%P").split()), 2)

    def test_scissors(self):
        """a merge of the user's with commit.cleanup scissors: the cut and what is below go"""
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        for comment in "#;":
            settings = ("-c", f"core.commentChar={comment}", "-c", "commit.cleanup=scissors")
            self.git(*settings, "merge", "-q", "-m", "joined\n\n#1 fix", "topic", check=False)
            self.assertIn(" >8 ", (self.root / ".git/MERGE_MSG").read_text())
            self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "theirs"})
            self.says("git_conflicts", {"action": "continue"})
            self.assertEqual(self.out("log", "-1", "--format=%B"), "joined\n\n#1 fix\n\n")
            self.git("reset", "-q", "--hard", "HEAD^")

    def test_squash(self):
        """git_merge squash: staged, or one commit with the message"""
        self.clean()
        head = self.out("rev-parse", "HEAD").strip()
        text = self.says("git_merge", {"branch": "topic", "squash": True})
        self.assertIn("Squashed topic: staged; git_commit makes the commit.", text)
        self.assertEqual(self.out("rev-parse", "HEAD").strip(), head)
        self.assertEqual(self.out("status", "--porcelain"), "M  f.txt\n")
        self.git("reset", "-q", "--hard")
        self.says("git_merge", {"branch": "topic", "squash": True, "message": "as one"})
        self.assertEqual(self.out("log", "-1", "--format=%s%n%P"), f"as one\n{head}\n")
        self.assertEqual((self.root / "f.txt").read_text(), text_with(at5="main", at30="topic"))
        self.assertIn("Nothing to merge: its changes are here already.",
                      self.says("git_merge", {"branch": "topic", "squash": True}))

    def test_conflict(self):
        """git_merge: conflicts with the number of hunks of each file, then on to the end"""
        self.fork(text_with(at5="main", at20="main"), text_with(at5="topic", at20="topic"),
                  "".join(LINES))
        before = self.snapshot()
        text = self.says("git_merge", {"branch": "topic"})
        self.assertTrue(text.startswith(
            "The merge of topic stopped at conflicts.\n"
            "Merge: ours is main, theirs is topic.\nf.txt: 2 hunks\nhunk "), text)
        self.assertIn("\n>>>>>>> theirs\ngit_conflicts resolves them, and continues.\n", text)
        self.assertIn("1 conflict", text.splitlines()[-1])
        self.says("git_conflicts", {"action": "abort"})
        self.assertEqual(self.snapshot(), before)
        self.says("git_merge", {"branch": "topic"})
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "theirs"})
        self.assertIn("The merge is done: ", self.says("git_conflicts", {"action": "continue"}))

    def test_squash_conflict(self):
        """git_merge squash: a conflict is nothing in progress; git_conflicts and git_commit end it"""
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        text = self.says("git_merge", {"branch": "topic", "squash": True})
        self.assertIn("\ngit_conflicts resolves them; git_commit commits then.\n", text)
        self.assertIn("Squashing topic stopped at a conflict; once it is resolved, git_commit", text)
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "theirs"})
        self.assertEqual(self.out("status", "--porcelain"), "M  f.txt\n")

    def test_refused(self):
        """git_merge: what is not there, staged changes, files in the way, something in progress"""
        self.clean()
        self.fails("BadArgs", "squash and no_ff cannot both hold: give squash for", "git_merge",
                   {"branch": "topic", "squash": True, "no_ff": True})
        self.fails("BadArgs", "branch is required", "git_merge", {})
        self.fails("ExecutionFailed", "nowhere", "git_merge", {"branch": "nowhere"})
        self.fails("BadArgs", "branch", "git_merge", {"branch": "--abort"})
        for squash in (False, True):
            arguments = {"branch": "topic", "squash": squash}
            self.write("f.txt", "mine\n")
            self.fails("ExecutionFailed", "f.txt", "git_merge", arguments)
            self.git("add", "f.txt")
            self.fails("ExecutionFailed", "no file was changed: 'f.txt'", "git_merge", arguments)
            self.git("reset", "-q", "--hard")

    def test_not_asked(self):
        """git_conflicts: giving up what this session, an earlier one or a user began asks nothing, and can be undone"""
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        server = everyday.AskingServer(self)
        server.ok("git_merge", {"branch": "topic"})
        result = server.ok("git_conflicts", {"action": "abort"})
        self.assertEqual(result.text.splitlines()[0], "Aborted the merge.")
        server.ok("git_merge", {"branch": "topic"})
        other = everyday.AskingServer(self)
        self.assertIn("which this session had not begun", other.ok("git_conflicts", {"action": "abort"}).text)
        for words in (("merge", "topic"), ("cherry-pick", "topic"), ("rebase", "topic")):
            self.git(*words, check=False)
            self.write("f.txt", "half resolved by the user\n")
            self.assertIn("Aborted", server.ok("git_conflicts", {"action": "abort"}).text)
            server.ok("git_undo")
            self.assertEqual((self.root / "f.txt").read_text(), "half resolved by the user\n")
            self.git(words[0], "--abort")

    def test_brought_back(self):
        """what git_undo brings back is still the session's"""
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        server = everyday.AskingServer(self)
        server.ok("git_merge", {"branch": "topic"})
        server.ok("git_conflicts", {"action": "abort"})
        server.ok("git_undo")
        self.assertEqual(self.unmerged(), ["f.txt"])
        self.assertIn("Aborted the merge.", server.ok("git_conflicts", {"action": "abort"}).text)


if __name__ == "__main__":
    harness.main()
