#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: directories that become files and the other way round, and what an operation that goes
on writes over."""
import os

import everyday
import harness

MINE = "the user's, and nowhere else\n"


class Kinds(everyday.Case):
    """`topic` makes the tracked directory `dir/sub` a file, and the file `one` a directory."""

    def setUp(self):
        super().setUp()
        self.init()
        self.write(".gitignore", "*.o\n/late\n")
        self.write("dir/sub/x", "x\n")
        self.write("dir/sub/deep/y", "y\n")
        self.write("one", "one\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        self.git("checkout", "-q", "-b", "topic")
        self.git("rm", "-rq", "dir/sub", "one")
        self.write("dir/sub", "a file now\n")
        self.write("one/a", "a directory now\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "other kinds")
        self.git("checkout", "-q", "main")
        self.commit("f", "f\n", "ours")

    def refused(self, name):  # pylint: disable=arguments-differ
        """Every way to take the branch in names the file, and changes nothing."""
        for tool, arguments in (("git_merge", {"branch": "topic"}),
                                ("git_merge", {"branch": "topic", "squash": True}),
                                ("git_cherry_pick", {"commits": ["topic"]}),
                                ("git_rebase", {"onto": "topic"})):
            before = self.snapshot()
            result = self.call(tool, arguments)
            self.assertTrue(result.failed, (tool, arguments, result))
            self.assertIn(name, result.text, (tool, arguments))
            self.assertEqual(self.snapshot(), before, (tool, arguments))

    def test_merged(self):
        """as plain git merges them, with undo"""
        before = self.snapshot()
        (self.root / "dir/sub/empty").mkdir()
        server = everyday.Server(self)
        server.says("git_merge", {"branch": "topic"})
        self.assertEqual((self.root / "dir/sub").read_text(), "a file now\n")
        self.assertEqual((self.root / "one/a").read_text(), "a directory now\n")
        self.assertEqual(self.out("status", "--porcelain"), "")
        server.says("git_undo")
        self.assertEqual(self.snapshot(), before)

    def test_ignored_below(self):
        """an ignored file in the directory"""
        self.write("dir/sub/deep/z.o", MINE)
        self.refused("dir/sub")
        self.assertEqual((self.root / "dir/sub/deep/z.o").read_text(), MINE)

    def test_untracked_below(self):
        """an untracked file in the directory"""
        self.write("dir/sub/new", MINE)
        self.refused("dir/sub")
        self.assertEqual((self.root / "dir/sub/new").read_text(), MINE)

    def test_ignored_for_directory(self):
        """an ignored file where the branch has a directory"""
        self.git("checkout", "-q", "topic")
        self.commit("late.d/in", "in\n", "adds a directory")
        self.git("mv", "late.d", "late")
        self.git("commit", "-q", "-m", "renames it")
        self.git("checkout", "-q", "main")
        self.write("late", MINE)
        self.refused("late")
        self.assertEqual((self.root / "late").read_text(), MINE)
        (self.root / "late").unlink()
        os.symlink("nowhere", self.root / "late")
        self.refused("late")
        (self.root / "late").unlink()
        self.says("git_merge", {"branch": "topic"})


class GoesOn(everyday.Case):
    """The first commit of `topic` collides; the second one adds `secret`, which main ignores."""

    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f", "base\n", "base")
        self.git("checkout", "-q", "-b", "topic")
        self.commit("f", "topic\n", "collides")
        self.commit("secret", "theirs\n", "adds the file")
        self.git("checkout", "-q", "main")
        self.write(".gitignore", "secret\nother\n")
        self.git("add", ".gitignore")
        self.commit("f", "main\n", "ours")

    def stop(self, tool):
        """Begin, and give the file a content of the user's where it stopped."""
        if tool == "git_rebase":
            self.git("checkout", "-q", "topic")
            self.says(tool, {"onto": "main"})
        else:
            self.says(tool, {"commits": ["topic~1", "topic"]})
        self.write("secret", MINE)
        return self.root / "secret"

    def goes_on(self, tool, action):
        """It refuses until the file is away."""
        secret = self.stop(tool)
        if action == "continue":
            self.says("git_conflicts", {"action": "resolve", "path": "f", "take": "theirs"})
        before = self.snapshot()
        result = self.call("git_conflicts", {"action": action})
        self.assertTrue(result.failed, result)
        self.assertIn("'secret'", result.text)
        self.assertEqual(secret.read_text(), MINE)
        self.assertEqual(self.snapshot(), before)
        secret.unlink()
        self.write("other", MINE)  # in nobody's way
        self.says("git_conflicts", {"action": action})
        self.assertEqual(secret.read_text(), "theirs\n")
        self.assertEqual((self.root / "other").read_text(), MINE)
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_control(self):
        """plain git writes over the file"""
        secret = self.stop("git_rebase")
        self.write("f", "both\n")
        self.git("add", "f")
        self.git("-c", "core.editor=true", "rebase", "--continue")
        self.assertEqual(secret.read_text(), "theirs\n")

    def test_rebase(self):
        """a rebase that continues"""
        self.goes_on("git_rebase", "continue")

    def test_rebase_skip(self):
        """a rebase that leaves a commit out"""
        self.goes_on("git_rebase", "skip")

    def test_pick(self):
        """a cherry-pick that continues"""
        self.goes_on("git_cherry_pick", "continue")

    def test_pick_skip(self):
        """a cherry-pick that leaves a commit out"""
        self.goes_on("git_cherry_pick", "skip")

    def test_merge_picked(self):
        """a cherry-pick that continues with a merge, which git shows no change of"""
        self.git("checkout", "-q", "-b", "merged", "topic~1")
        self.commit("g", "g\n", "more")
        self.git("merge", "-q", "-m", "takes the file", "topic")
        self.git("checkout", "-q", "main")
        self.git("config", "log.diffMerges", "off")
        self.git("cherry-pick", "-m", "1", "topic~1", "merged", check=False)
        secret = self.write("secret", MINE)
        self.says("git_conflicts", {"action": "resolve", "path": "f", "take": "theirs"})
        result = self.call("git_conflicts", {"action": "continue"})
        self.assertTrue(result.failed, result)
        self.assertIn("'secret'", result.text)
        self.assertEqual(secret.read_text(), MINE)
        secret.unlink()
        self.says("git_conflicts", {"action": "continue"})
        self.assertEqual(secret.read_text(), "theirs\n")

    def test_revert(self):
        """a revert that continues and brings a removed file back"""
        self.git("checkout", "-q", "topic")
        self.git("rm", "-q", "secret")
        self.git("commit", "-q", "-m", "removes the file")
        self.write(".gitignore", "secret\n")
        self.git("add", ".gitignore")
        self.commit("f", "one\n", "changes")
        self.commit("f", "two\n", "changes again")
        self.says("git_revert", {"commits": ["HEAD~1", "HEAD~2"]})
        secret = self.write("secret", MINE)
        self.says("git_conflicts", {"action": "resolve", "path": "f", "content": "x\n"})
        result = self.call("git_conflicts", {"action": "continue"})
        self.assertTrue(result.failed, result)
        self.assertIn("'secret'", result.text)
        self.assertEqual(secret.read_text(), MINE)
        secret.unlink()
        self.says("git_conflicts", {"action": "continue"})
        self.assertEqual(secret.read_text(), "theirs\n")

    def test_kept_on_purpose(self):
        """an ignored file that a commit only has, and does not change, is in nobody's way"""
        self.git("checkout", "-q", "main")
        self.commit("gone", "gone\n", "adds")
        self.git("checkout", "-q", "-B", "topic")
        self.commit("f", "topic\n", "collides")
        self.commit("g", "g\n", "more")
        self.git("checkout", "-q", "main")
        self.git("rm", "-q", "gone")
        self.write(".gitignore", "gone\n")
        self.git("add", ".gitignore")
        self.commit("f", "again\n", "ours")
        self.git("checkout", "-q", "topic")
        self.says("git_rebase", {"onto": "main"})
        self.write("gone", MINE)
        self.says("git_conflicts", {"action": "resolve", "path": "f", "take": "theirs"})
        self.says("git_conflicts", {"action": "continue"})
        self.assertEqual((self.root / "gone").read_text(), MINE)


class MovedAway(everyday.Case):
    """main changes the file `p`, of which `topic` makes a directory: git gives the file another
    name, which main ignores."""

    def setUp(self):
        super().setUp()
        self.init()
        self.write(".gitignore", "*~*\n")
        self.git("add", "-A")
        self.commit("sub/p", "p\n", "base")
        self.git("checkout", "-q", "-b", "topic")
        self.git("rm", "-q", "sub/p")
        self.commit("sub/p/x", "x\n", "a directory")
        self.git("checkout", "-q", "main")
        self.commit("sub/p", "ours\n", "ours")

    def test_control(self):
        """plain git writes over the file"""
        mine = self.write("sub/p~HEAD", MINE)
        self.git("merge", "topic", check=False)
        self.assertEqual(mine.read_text(), "ours\n")

    def test_kept(self):
        """every tool leaves it alone"""
        mine = self.write("sub/p~HEAD", MINE)
        for tool, arguments in (("git_merge", {"branch": "topic"}),
                                ("git_merge", {"branch": "topic", "squash": True}),
                                ("git_cherry_pick", {"commits": ["topic"]})):
            self.fails("ExecutionFailed", "'sub/p~HEAD'", tool, arguments)
            self.assertEqual(mine.read_text(), MINE, tool)
        mine.unlink()
        self.write("sub/p~", MINE)  # an editor's, and no name that git gives
        self.says("git_merge", {"branch": "topic"})
        self.assertEqual((self.root / "sub/p~").read_text(), MINE)

    def test_theirs(self):
        """the other way round, with the name of a branch or a commit"""
        self.git("checkout", "-q", "topic")
        for name, tool, arguments in (
                ("main", "git_merge", {"branch": "main"}),
                (self.out("log", "-1", "--format=%h (%s)", "main").strip(), "git_cherry_pick",
                 {"commits": ["main"]})):
            mine = self.write(f"sub/p~{name}", MINE)
            self.fails("ExecutionFailed", f"'sub/p~{name}'", tool, arguments)
            self.assertEqual(mine.read_text(), MINE, tool)
            mine.unlink()


class Renamed(everyday.Case):
    """main renamed the directory to which `topic` adds a file; git takes the file along, to a name
    that main ignores."""

    def setUp(self):
        super().setUp()
        self.init()
        self.write(".gitignore", "*.o\n")
        for name in "abc":
            self.write(f"dir/{name}", name + "\n" * 5)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        self.git("checkout", "-q", "-b", "topic")
        self.write("dir/new.o", "theirs\n")
        self.git("add", "-f", "dir/new.o")
        self.git("commit", "-q", "-m", "adds")
        self.git("checkout", "-q", "main")
        self.git("mv", "dir", "moved")
        self.git("commit", "-q", "-m", "renames")
        self.mine = self.write("moved/new.o", MINE)

    def test_control(self):
        """plain git writes over the file"""
        self.git("merge", "topic", check=False)
        self.assertEqual(self.mine.read_text(), "theirs\n")

    def kept(self, tool, arguments):
        """It refuses while the file is there, and takes the branch without it."""
        for value in ("conflict", "true"):
            self.git("config", "merge.directoryRenames", value)
            before = self.snapshot()
            result = self.call(tool, arguments)
            self.assertTrue(result.failed, (value, result))
            self.assertIn("'moved/new.o'", result.text)
            self.assertEqual(self.mine.read_text(), MINE)
            self.assertEqual(self.snapshot(), before)
        self.mine.unlink()
        self.write("moved/other.o", MINE)  # in nobody's way
        self.says(tool, arguments)
        self.assertEqual(self.mine.read_text(), "theirs\n")
        self.assertEqual((self.root / "moved/other.o").read_text(), MINE)

    def test_merge(self):
        """a merge"""
        self.kept("git_merge", {"branch": "topic"})

    def test_squash(self):
        """a squash"""
        self.kept("git_merge", {"branch": "topic", "squash": True})

    def test_pick(self):
        """a cherry-pick"""
        self.kept("git_cherry_pick", {"commits": ["topic"]})

    def test_rebase(self):
        """a rebase, where main is what is replayed"""
        self.kept("git_rebase", {"onto": "topic"})

    def test_stash(self):
        """an entry of the stash that is brought back"""
        renamed = self.out("rev-parse", "main").strip()
        self.git("reset", "-q", "--hard", "main~1")
        self.write("dir/new.o", "theirs\n")
        self.git("add", "-f", "dir/new.o")
        self.git("stash", "push", "-q")
        self.git("reset", "-q", "--hard", renamed)
        self.mine = self.write("moved/new.o", MINE)
        self.kept("git_stash", {"action": "pop"})

    def make_entry(self):
        """An entry of the stash with the file, and the directory renamed in the index only."""
        self.git("reset", "-q", "--hard", "main~1")
        self.write("dir/new.o", "theirs\n")
        self.git("add", "-f", "dir/new.o")
        self.git("stash", "push", "-q")
        self.mine.unlink()
        self.mine.parent.rmdir()
        self.git("mv", "dir", "moved")
        self.mine = self.write("moved/new.o", MINE)

    def test_control_of_staged(self):
        """plain git writes over the file when the directory is renamed in the index only"""
        self.git("config", "merge.directoryRenames", "true")
        self.make_entry()
        self.git("stash", "pop", check=False)
        self.assertEqual(self.mine.read_text(), "theirs\n")

    def test_stash_staged(self):
        """an entry of the stash, where the directory is renamed in the index only"""
        self.make_entry()
        self.kept("git_stash", {"action": "pop"})

    def test_picked_before(self):
        """a cherry-pick that stops at a later commit"""
        self.git("config", "merge.directoryRenames", "true")
        self.git("checkout", "-q", "topic")
        self.commit("a.txt", "theirs\n", "collides")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "ours\n", "ours")
        self.kept("git_cherry_pick", {"commits": ["topic~1", "topic"]})


if __name__ == "__main__":
    harness.main()
