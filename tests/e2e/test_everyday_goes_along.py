#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An operation that goes on, and files that git takes along with a renamed directory: to names that
no commit has, and where an ignored file may be."""
import everyday
import harness

MINE = "the user's, and nowhere else\n"


class GoesAlong(everyday.Case):
    """main renamed `dir`.  The first commit of `topic` collides, the second one adds a file to the
    directory, which git takes along to a name that main ignores."""

    def setUp(self):
        super().setUp()
        self.init()
        self.git("config", "merge.directoryRenames", "true")
        self.write(".gitignore", "*.o\n")
        for name in "abc":
            self.write(f"dir/{name}", name + "\n" * 5)
        self.git("add", "-A")
        self.commit("f", "base\n", "base")
        self.git("checkout", "-q", "-b", "topic")
        self.commit("f", "topic\n", "collides")
        self.commit_ignored("dir/new.o", "theirs\n")
        self.git("checkout", "-q", "main")
        self.git("mv", "dir", "moved")
        self.commit("f", "main\n", "renames")

    def commit_ignored(self, name, content):
        """A file that is tracked although it is ignored."""
        self.write(name, content)
        self.git("add", "-f", name)
        self.git("commit", "-q", "-m", f"adds {name}")

    def stop(self, tool):
        """Begin, and give the file a content of the user's where it stopped."""
        if tool == "git_rebase":
            self.git("checkout", "-q", "topic")
            self.says(tool, {"onto": "main"})
        else:
            self.says(tool, {"commits": ["topic~1", "topic"]})
        return self.write("moved/new.o", MINE)

    def goes_on(self, tool, action, result="theirs\n"):
        """It refuses until the file is away."""
        mine = self.stop(tool)
        if action == "continue":
            self.says("git_conflicts", {"action": "resolve", "path": "f", "content": "both\n"})
        failed = self.fails("ExecutionFailed", "'moved/new.o'", "git_conflicts",
                            {"action": action})
        self.assertNotIn("git_stash", failed.text)  # neither takes ignored files
        self.assertEqual(mine.read_text(), MINE)
        mine.unlink()
        self.write("moved/other.o", MINE)  # in nobody's way
        self.says("git_conflicts", {"action": action})
        self.assertEqual(mine.read_text(), result)
        self.assertEqual((self.root / "moved/other.o").read_text(), MINE)
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_control(self):
        """plain git writes over the file"""
        mine = self.stop("git_cherry_pick")
        self.commit("f", "both\n", "settled")
        self.git("cherry-pick", "--continue")
        self.assertEqual(mine.read_text(), "theirs\n")

    def test_pick(self):
        """a cherry-pick that continues"""
        self.goes_on("git_cherry_pick", "continue")

    def test_pick_skip(self):
        """a cherry-pick that leaves a commit out"""
        self.goes_on("git_cherry_pick", "skip")

    def test_rebase(self):
        """a rebase that continues"""
        self.goes_on("git_rebase", "continue")

    def test_rebase_skip(self):
        """a rebase that leaves a commit out"""
        self.goes_on("git_rebase", "skip")

    def test_directory_of_ours(self):
        """a commit renames the directory, and takes along a file that main added"""
        self.git("checkout", "-q", "-B", "topic", "topic~1")
        self.git("mv", "dir", "moved")
        self.git("commit", "-q", "-m", "renames")
        self.git("checkout", "-q", "-B", "main", "topic~2")
        self.commit_ignored("dir/new.o", "ours\n")
        self.commit("f", "main\n", "ours")
        self.goes_on("git_cherry_pick", "continue", "ours\n")

    def test_stops_before(self):
        """what comes after another conflict is looked at there"""
        self.git("checkout", "-q", "-B", "topic", "topic~1")
        self.commit("f", "again\n", "collides again")
        self.commit_ignored("dir/new.o", "theirs\n")
        self.git("checkout", "-q", "main")
        self.says("git_cherry_pick", {"commits": ["topic~2", "topic~1", "topic"]})
        mine = self.write("moved/new.o", MINE)
        for content in ("x\n", "y\n"):
            self.says("git_conflicts", {"action": "resolve", "path": "f", "content": content})
            result = self.call("git_conflicts", {"action": "continue"})
        self.assertTrue(result.failed, result)
        self.assertIn("'moved/new.o'", result.text)
        self.assertEqual(mine.read_text(), MINE)

    def test_revert(self):
        """a revert that continues and brings a file back to where its directory is now"""
        self.git("checkout", "-q", "topic")
        self.git("rm", "-q", "dir/new.o")
        self.git("commit", "-q", "-m", "removes the file")
        self.commit("f", "one\n", "changes")
        self.git("mv", "dir", "moved")
        self.commit("f", "two\n", "changes again")
        self.says("git_revert", {"commits": ["HEAD~1", "HEAD~2"]})
        mine = self.write("moved/new.o", MINE)
        self.says("git_conflicts", {"action": "resolve", "path": "f", "content": "x\n"})
        self.fails("ExecutionFailed", "'moved/new.o'", "git_conflicts", {"action": "continue"})
        self.assertEqual(mine.read_text(), MINE)
        mine.unlink()
        self.says("git_conflicts", {"action": "continue"})
        self.assertEqual(mine.read_text(), "theirs\n")

    def test_commit(self):
        """git_commit of the other toolsets goes on, too"""
        mine = self.stop("git_cherry_pick")
        self.write("f", "both\n")
        self.git("add", "f")
        words = {"git": {"type": "fix", "message": "goes on"}, "workflow": {"message": "goes on"}}
        for toolset, arguments in words.items():
            before = self.snapshot()
            result = harness.Case.call(self, "git_commit", arguments, "--toolset", toolset)
            self.assertTrue(result.failed, (toolset, result))
            self.assertIn("'moved/new.o'", result.text)
            self.assertEqual(mine.read_text(), MINE)
            self.assertEqual(self.snapshot(), before)
        mine.unlink()
        result = harness.Case.call(self, "git_commit", words["workflow"], "--toolset", "workflow")
        self.assertFalse(result.failed, result)
        self.assertEqual(mine.read_text(), "theirs\n")


if __name__ == "__main__":
    harness.main()
