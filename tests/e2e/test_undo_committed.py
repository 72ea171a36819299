#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Changes that were staged and have been committed since: going back never stages the opposite."""
import re

import harness
import rollback
import everyday

COMMITTED = "Staged then, and committed since, not by a call of this session: "


class Undo(everyday.Case):
    """git_undo."""

    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f.txt", "base\n", "base")
        self.server = everyday.Server(self)
        self.addCleanup(self.server.close)

    def refused(self, *names):
        """The undo is refused and names these files."""
        before = self.snapshot()
        result = self.server.call("git_undo")
        self.assertTrue(result.failed, result)
        self.assertIn(COMMITTED + ", ".join(names) + ".", result.text)
        self.assertEqual(self.snapshot(), before)
        self.assertEqual(self.staged(), "")

    def undone(self):
        """The undo works."""
        self.assertIn("Undone: ", self.server.says("git_undo"))

    def staged(self):
        return self.out("diff", "--cached", "--name-status")

    def test_new_file(self):
        """the file that was staged is in a commit: its removal is not staged"""
        self.write("new", "n\n")
        self.server.says("git_add", {"paths": ["new"]})
        self.git("commit", "-q", "-m", "theirs")
        self.refused("new")

    def test_changed_file(self):
        """its old content is not staged"""
        self.write("f.txt", "mine\n")
        self.write("g.txt", "g\n")
        self.server.says("git_add", {"paths": ["f.txt", "g.txt"]})
        self.git("commit", "-q", "-m", "theirs")
        self.refused("f.txt", "g.txt")

    def test_first_commit(self):
        """the first commit of a branch, too"""
        self.git("checkout", "-q", "--orphan", "other")
        self.git("rm", "-q", "--cached", "f.txt")
        self.server.says("git_add", {"paths": ["f.txt"]})
        self.git("commit", "-q", "-m", "theirs")
        self.refused("f.txt")

    def test_unstaged(self):
        """what was unstaged, and committed as it was then, is not staged again"""
        self.write("f.txt", "mine\n")
        self.git("add", "f.txt")
        self.write("g.txt", "g\n")
        self.git("add", "g.txt")
        self.server.says("git_restore", {"paths": ["f.txt"], "staged": True})
        self.git("commit", "-q", "-m", "theirs")
        # g.txt alone was committed, so f.txt can be staged again.
        self.undone()
        self.assertEqual(self.staged(), "M\tf.txt\n")

    def test_unstaged_then_reverted(self):
        """an entry that was unstaged is not brought back over a commit that changed the file"""
        self.write("f.txt", "mine\n")
        self.git("add", "f.txt")
        self.server.says("git_restore", {"paths": ["f.txt"], "staged": True})
        self.git("commit", "-q", "--allow-empty", "-m", "theirs")
        self.undone()
        self.assertEqual(self.staged(), "M\tf.txt\n")
        self.server.says("git_undo", {"steps": -1})
        tree = self.out("commit-tree", "-m", "other", "-p", "HEAD", self.out(
            "mktree", stdin=b"").strip()).strip()
        self.git("update-ref", "HEAD", tree)
        before = self.snapshot()
        result = self.server.call("git_undo")
        self.assertIn(COMMITTED + "f.txt.", result.text)
        self.assertEqual(self.snapshot(), before)

    def test_switch(self):
        """a switch: where HEAD was, a commit has come since, and files and index would lack it"""
        for name in ("same", "other"):
            self.git("checkout", "-q", "-b", name)
            self.git("commit", "-q", "--allow-empty", "-m", "empty")
            if name == "other":
                self.commit("o.txt", "o\n", "o")
            self.git("checkout", "-q", "main")
            self.server.says("git_switch", {"branch": name})
            self.git("checkout", "-q", "main")
            self.commit(f"{name}.txt", "theirs\n", "theirs")
            self.git("checkout", "-q", name)
            before = self.snapshot()
            result = self.server.call("git_undo")
            self.assertTrue(result.failed, result)
            self.assertEqual(result.text, f"Committed since, where HEAD was, not by a call of this "
                             f"session: {name}.txt. An undo would stage the opposite of that "
                             "commit\ngit_switch goes to where HEAD was, as it is now.")
            self.assertEqual(self.snapshot(), before)
            self.git("checkout", "-q", "main")

    def test_hunks(self):
        """a hunk that was staged"""
        self.commit("h.txt", "".join(everyday.LINES), "lines")
        self.write("h.txt", everyday.text_with(at1="one", at30="thirty"))
        shown = self.server.says("git_diff", {"hunks": True})
        hunks = re.findall(r"\b[0-9a-f]{8}\b(?!\.\.)", shown)
        self.server.says("git_add", {"hunks": hunks[-1:]})
        self.git("commit", "-q", "-m", "theirs")
        self.refused("h.txt")

    def test_message_only(self):
        """a commit that has the same files is no reason to refuse"""
        self.write("new", "n\n")
        self.server.says("git_add", {"paths": ["new"]})
        self.git("commit", "-q", "--amend", "-m", "other words", "--only")
        self.undone()
        self.assertEqual(self.staged(), "")
        self.assertEqual(self.out("status", "--porcelain"), "?? new\n")

    def test_other_files(self):
        """nor one that has other files"""
        self.write("new", "n\n")
        self.write("g.txt", "theirs\n")
        self.git("add", "g.txt")
        self.server.says("git_add", {"paths": ["new"]})
        self.git("commit", "-q", "-m", "theirs", "--only", "g.txt")
        self.undone()
        self.assertEqual(self.staged(), "")

    def test_own_commit(self):
        """one's own commit is undone first"""
        self.write("new", "n\n")
        self.server.says("git_add", {"paths": ["new"]})
        self.server.says("git_commit", {"message": "mine"})
        self.undone()
        self.assertEqual(self.staged(), "A\tnew\n")
        self.undone()
        self.assertEqual(self.staged(), "")
        self.server.says("git_undo", {"steps": -1})
        self.server.says("git_undo", {"steps": -1})
        self.assertIn("git_commit", self.server.says("git_undo", {"steps": 2}))
        self.assertEqual(self.staged(), "")

    def test_own_reset(self):
        """one's own reset is undone together with what was unstaged after it"""
        self.commit("f.txt", "two\n", "two")
        before = self.snapshot()
        self.server.says("git_reset", {"to": "HEAD~1", "mode": "soft"})
        self.server.says("git_restore", {"paths": ["f.txt"], "staged": True})
        self.server.says("git_undo", {"steps": 2, "dry_run": True})
        self.server.says("git_undo", {"steps": 2})
        self.assertEqual(self.snapshot(), before)

    def test_own_switch(self):
        """and one's own switch, with what was staged after it"""
        self.git("branch", "other")
        self.git("checkout", "-q", "--detach")
        self.git("commit", "-q", "--allow-empty", "-m", "same files")
        self.write("new", "n\n")
        before = self.snapshot()
        self.server.says("git_switch", {"branch": "other"})
        self.server.says("git_add", {"paths": ["new"]})
        self.server.says("git_undo", {"steps": 2})
        self.assertEqual(self.snapshot(), before)

    def test_commit_after_own_reset(self):
        """a commit that somebody else made between them is not undone"""
        self.commit("f.txt", "two\n", "two")
        self.server.says("git_reset", {"to": "HEAD~1", "mode": "soft"})
        self.server.says("git_restore", {"paths": ["f.txt"], "staged": True})
        self.git("commit", "-q", "-a", "-m", "theirs")
        before = self.snapshot()
        self.assertTrue(self.server.call("git_undo", {"steps": 2}).failed)
        self.assertEqual(self.snapshot(), before)

    def test_commit_after_own_commit(self):
        """nor one that was made before one's own, or after a branch was created"""
        self.server.says("git_branch", {"action": "create", "name": "unrelated"})
        self.write("new", "n\n")
        self.server.says("git_add", {"paths": ["new"]})
        self.git("commit", "-q", "-m", "theirs")
        self.write("g.txt", "g\n")
        self.server.says("git_commit", {"all": True, "message": "mine"})
        before = self.snapshot()
        result = self.server.call("git_undo", {"steps": 3})
        self.assertIn(COMMITTED + "new.", result.text)
        self.assertEqual(self.snapshot(), before)

    def test_commit_before_staging(self):
        """a commit by somebody else before the file was staged is no reason to refuse"""
        self.server.says("git_branch", {"action": "create", "name": "unrelated"})
        self.commit("f.txt", "theirs\n", "theirs")
        self.write("f.txt", "mine\n")
        self.server.says("git_add", {"paths": ["f.txt"]})
        self.server.says("git_undo", {"steps": 2})
        self.assertEqual(self.staged(), "")

    def test_other_session(self):
        """another session's commit is somebody else's"""
        other = everyday.Server(self)
        self.addCleanup(other.close)
        self.write("new", "n\n")
        self.server.says("git_add", {"paths": ["new"]})
        other.says("git_commit", {"message": "theirs"})
        self.refused("new")
        other.says("git_undo")
        self.undone()
        self.assertEqual(self.staged(), "")

    def test_packed(self):
        """where the branch is in packed-refs"""
        self.git("pack-refs", "--all")
        self.write("new", "n\n")
        self.server.says("git_add", {"paths": ["new"]})
        self.undone()
        self.server.says("git_undo", {"steps": -1})
        self.git("commit", "-q", "-m", "theirs")
        self.git("pack-refs", "--all")
        self.refused("new")

    def test_gone_commit(self):
        """a commit that was amended, and is gone: the index as a whole is named"""
        self.write("new", "n\n")
        self.server.says("git_add", {"paths": ["new"]})
        self.git("commit", "-q", "--amend", "-m", "theirs")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        self.refused("the index (what is staged)")


class Command(rollback.Rollback):
    """`airlock rollback`."""

    def setUp(self):
        super().setUp()
        self.write("new", "n\n")
        self.ok("git_add", {"paths": ["new"]})
        self.git("commit", "-q", "-m", "theirs")

    def test_refused(self):
        """refuses and names the file; --force goes ahead, and can be taken back"""
        before = self.snapshot()
        self.refuses("has been committed since", names=["new"])
        self.refuses("has been committed since", "--dry-run", names=["new"])
        self.rollback("--force")
        self.assertEqual(self.out("diff", "--cached", "--name-status"), "D\tnew\n")
        self.rollback()
        self.assert_same(before)

    def test_several(self):
        """also between two executions"""
        self.write("more", "m\n")
        self.ok("git_add", {"paths": ["more"]})
        self.refuses("has been committed since", "2", names=["new"])
        self.rollback()
        self.assertEqual(self.out("diff", "--cached", "--name-status"), "")


if __name__ == "__main__":
    harness.main()
