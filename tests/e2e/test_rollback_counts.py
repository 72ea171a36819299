#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`airlock rollback`: which executions it undoes, and that nothing of a user's is lost."""
import harness
import rollback


class Counts(rollback.Rollback):
    """Which executions are undone."""

    def test_skips(self):
        """reads, refusals, calls that changed nothing and other repositories' are not counted"""
        self.write("a.txt", "two\n")
        before = self.snapshot()
        self.ok("git_add", {"paths": ["a.txt"]})
        staged = self.snapshot()
        self.ok("git_status")
        self.call("git_add", {"paths": ["a.txt"]}, approval="deny")
        self.call("git_add", {"paths": ["nothing"]})
        self.ok("git_add", {"paths": ["a.txt"]})
        self.ok("git_branch", {"create": "b"})
        other = self.base / "other"
        self.init(other)
        self.ok("git_branch", {"create": "b"}, root=other, cwd=other)
        self.rollback()
        self.assert_same(staged)
        self.rollback("3")
        self.assert_same(before)

    def test_numbers(self):
        """too many or none: exit 1; a bad number: exit 2"""
        self.refuses("there is nothing to roll back in this repository")
        self.ok("git_branch", {"create": "b"})
        self.refuses("only 1 execution can be rolled back, not 2", "2")
        self.refuses("only 1 execution can be rolled back, not 1000000000", "1000000000")
        for bad in ("0", "-1", "x", "1x", "1.5", "", "1000000001", "99999999999999999999"):
            self.refuses("", bad, code=2)
            done = self.command(f"--rollback={bad}")
            self.assertEqual(done.returncode, 2, done)
        self.refuses("unexpected second number '2'", "1", "2", code=2)
        self.refuses("unknown option '--fast'", "--fast", code=2)

    def test_spellings(self):
        """--rollback, --rollback N and --rollback=N are `rollback`"""
        for words in (["--rollback"], ["--rollback", "1"], ["--rollback=1"], ["rollback", "1"],
                      ["rollback", "--force", "1"], ["rollback", "1", "--force"]):
            before = self.snapshot()
            self.ok("git_branch", {"create": "b"})
            done = self.command(*words)
            self.assertEqual(done.returncode, 0, done)
            self.assert_same(before)

    def test_no_repository(self):
        """outside a repository there is nothing to go back to"""
        for where in (self.base / "plain", self.home):
            where.mkdir(exist_ok=True)
            for words in (["rollback"], ["--rollback=3"], ["rollback", "--root", str(self.root)]):
                done = self.command(*words, cwd=where)
                if "--root" in words:
                    self.assertIn("nothing to roll back", done.stderr)
                else:
                    self.assertEqual((done.returncode, done.stdout, done.stderr),
                                     (1, "", "Error: rollback requires git repository\n"))

    def test_git_directory_gone(self):
        """what was removed with .git is told from what comes back, and that does"""
        before = self.snapshot()
        self.assertEqual(self.command("run", "--", "rm", "-rf", ".git").returncode, 0)
        done = self.command("rollback")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn("Error: rollback requires git repository\nThe checkpoints of this directory are there still.",
                      done.stderr)
        self.git("init", "-q")
        self.rollback("--force")
        self.assert_same(before)

    def test_moved(self):
        """only where nothing was executed it is said that a repository may have been moved"""
        moved = "A repository that was moved has its history at its old path."
        self.assertIn(moved, self.command("rollback").stderr)
        self.write("a.txt", "two\n")
        self.ok("git_add", {"paths": ["a.txt"]})
        done = self.command("rollback", "7")
        self.assertEqual(done.returncode, 1)
        self.assertNotIn(moved, done.stderr)

    def test_journal(self):
        """a rollback is a line like others, and a refused one too"""
        self.write("a.txt", "two\n")
        self.ok("git_add", {"paths": ["a.txt"]})
        self.rollback()
        line = self.record()
        self.assertEqual([line[name] for name in ("tool", "operation", "outcome", "decision",
                                                  "decided_by", "repository")],
                         ["rollback", "restore", "ok", "once", "terminal", str(self.root)])
        self.assertRegex(line["git_commit"], "^[0-9a-f]{40}$")
        self.write("a.txt", "three\n")
        self.git("add", "a.txt")
        self.refuses("", names=["a.txt in the index"])
        self.assertEqual((self.record()["outcome"], self.record()["git_commit"]),
                         ("refused", None))
        self.assertEqual(self.command("log", "--verify").returncode, 0)

    def names(self):
        """The references of the only store there is."""
        [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
        return self.out(f"--git-dir={store}", "for-each-ref")

    def test_names_no_checkpoint(self):
        """a dry run, and a rollback that is refused, leave no checkpoint behind"""
        self.write("a.txt", "two\n")
        self.ok("git_restore", {"paths": ["a.txt"]})
        self.write("a.txt", "three\n")
        before = self.names()
        for words in (["--dry-run"], [], ["--dry-run", "--force"]):
            self.command("rollback", *words)
            self.assertEqual(self.names(), before, words)
        self.rollback("--force")
        self.assertNotEqual(self.names(), before)

    def test_dry_run(self):
        """--dry-run says what would change and changes nothing, not even the journal"""
        self.write("a.txt", "two\n")
        self.ok("git_restore", {"paths": ["a.txt"]})
        self.ok("git_branch", {"create": "b"})
        self.write("a.txt", "a user's\n")
        self.write("c.txt", "a user's\n")
        journal = self.record()
        before = self.snapshot()
        done = self.command("rollback", "2", "--dry-run")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(" a.txt | 2 +-\n", done.stdout)
        self.assertNotIn("c.txt", done.stdout)
        self.assertIn(" refs/heads/b: ", done.stdout)
        self.assertIn("\n  a.txt\n", done.stderr)
        self.assertEqual((self.snapshot(), self.record()), (before, journal))
        self.write("a.txt", "one\n")
        done = self.command("rollback", "2", "--dry-run")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)


class Others(rollback.Rollback):
    """What a user did since is not taken away: it stays, or is asked about."""

    def setUp(self):
        super().setUp()
        self.commit("b.txt", "b\n", "second")
        self.write("a.txt", "two\n")
        self.ok("git_restore", {"paths": ["a.txt"]})

    def assert_asks_first(self, *names):
        """It names what would be lost, and --force keeps it in a checkpoint."""
        before = self.snapshot()
        self.refuses("what you or another program changed since would be lost", names=names)
        self.rollback("--force")
        self.assertNotEqual(self.snapshot(), before)
        self.rollback()
        self.assert_same(before)

    def assert_stays(self):
        """It is no reason to refuse and stays; only a.txt goes back, and comes again."""
        before = self.snapshot()
        self.rollback()
        after = self.snapshot()
        self.assertEqual((self.root / "a.txt").read_text(), "two\n")
        # The index has the entries that it had, and may have older file times.
        self.assertEqual({name for name in before | after if before.get(name) != after.get(name)}
                         - {"git:index"}, {"a.txt"})
        self.rollback()
        self.assert_same(before)

    def test_edit(self):
        """an edit of a file"""
        self.write("a.txt", "a user's\n")
        self.assert_asks_first("a.txt")

    def test_new_file(self):
        """a new file, with a name that could do things to a terminal"""
        self.write("new\033[2J\n  a.txt", "a user's\n")
        self.assert_stays()

    def test_removed(self):
        """a file that was removed"""
        (self.root / "b.txt").unlink()
        self.assert_stays()

    def test_staged(self):
        """something staged"""
        self.write("a.txt", "a user's\n")
        self.git("add", "a.txt")
        self.assert_asks_first("a.txt")

    def test_commit(self):
        """a commit"""
        self.commit("c.txt", "c\n", "a user's")
        self.assert_stays()

    def test_branch_and_stash(self):
        """a branch and a stash"""
        self.git("branch", "new")
        self.write("b.txt", "stashed\n")
        self.git("stash", "push", "-q")
        self.assert_stays()

    def test_both(self):
        """a branch that a call moved and a user moved since"""
        self.write("a.txt", "three\n")
        self.git("add", "a.txt")
        self.ok("git_commit", {"type": "fix", "message": "a call's"})
        self.commit("c.txt", "c\n", "a user's")
        self.assert_asks_first("refs/heads/main")

    def test_way(self):
        """a user's file where a directory has to come back, and a directory where a file has to"""
        self.write("dir/x", "x\n")
        self.write("file", "x\n")
        self.ok("git_stash", {"action": "push", "include_untracked": True})
        self.write("dir", "a user's\n")
        self.write("file/new", "a user's\n")
        self.write("file/old/new", "a user's\n")
        self.assert_asks_first("dir", "file/new", "file/old/new")

    def test_in_between(self):
        """between two calls, also when the second took it away already"""
        self.write("b.txt", "a user's\n")
        self.ok("git_restore", {"paths": ["b.txt"]})
        self.rollback()
        self.rollback()
        self.rollback("4")
        self.assertEqual((self.root / "b.txt").read_text(), "a user's\n")
        self.assertEqual((self.root / "a.txt").read_text(), "two\n")

    def test_staged_in_between(self):
        """something staged between two calls, of which the second staged the target's again"""
        self.write("a.txt", "two\n")
        self.ok("git_add", {"paths": ["a.txt"]})
        self.write("a.txt", "a user's\n")
        self.git("add", "a.txt")
        staged = self.snapshot()["git:index"]
        self.ok("git_restore", {"paths": ["a.txt"], "staged": True})
        self.refuses("would be lost", "2", names=["a.txt in the index"])
        self.rollback("2", "--force")
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        self.rollback("2")
        self.assertEqual(self.snapshot()["git:index"], staged)

    def test_way_staged(self):
        """a user's entry of the index where a directory has to come back"""
        self.commit("dir/x", "x\n", "third")
        self.write("dir/x", "y\n")
        self.ok("git_add", {"paths": ["dir/x"]})
        self.git("rm", "-q", "-f", "dir/x")
        self.write("dir", "a user's\n")
        self.git("add", "dir")
        self.assert_asks_first("dir in the index", "dir/x in the index")

    def test_the_same(self):
        """what a user did that is as it was before is no reason to refuse"""
        self.write("a.txt", "two\n")
        before = self.snapshot()
        self.rollback()
        self.assertEqual({name: value for name, value in self.snapshot().items()
                          if name != "git:index"},
                         {name: value for name, value in before.items() if name != "git:index"})

    def test_ignored(self):
        """ignored files are never removed or overwritten, whatever the rules are now"""
        self.write("kept.o", "built\n")
        self.write(".gitignore", "*.o\n")
        self.git("add", ".gitignore")
        self.git("commit", "-q", "-m", "ignore")
        self.git("checkout", "-q", "-b", "other")
        self.git("rm", "-q", ".gitignore")
        self.git("commit", "-q", "-m", "do not ignore")
        self.git("checkout", "-q", "main")
        self.ok("git_checkout", {"branch": "other"})
        self.ok("git_add", {"paths": ["kept.o"]})
        self.rollback("2")
        self.assertEqual((self.root / "kept.o").read_text(), "built\n")
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_ignored_in_the_way(self):
        """an ignored file where one comes back stops it, even with --force"""
        self.write("x.o", "untracked\n")
        self.ok("git_stash", {"action": "push", "include_untracked": True})
        self.write(".git/info/exclude", "*.o\n")
        self.write("x.o", "built since\n")
        for words in ([], ["--force"]):
            self.refuses("files are in the way that no checkpoint has", *words, names=["x.o"])
        (self.root / "x.o").unlink()
        self.rollback()
        self.assertEqual((self.root / "x.o").read_text(), "untracked\n")


if __name__ == "__main__":
    harness.main()
