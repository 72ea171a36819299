#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`airlock rollback` and `airlock diff`: back to before, byte for byte, and nothing is lost."""
import hashlib
import json
import os
import stat
import subprocess

import harness

# Files of the git directory that an unfinished operation, the stash and the configuration are in.
STATE = ("HEAD", "index", "config", "logs/refs/stash", "MERGE_HEAD", "MERGE_MSG", "MERGE_MODE",
         "ORIG_HEAD", "CHERRY_PICK_HEAD", "rebase-merge", "rebase-apply", "sequencer")


def digest(path):
    """What a file is: type, permissions, content."""
    info = path.lstat()
    if stat.S_ISLNK(info.st_mode):
        return "link", os.readlink(path)
    return oct(stat.S_IMODE(info.st_mode)), hashlib.sha256(path.read_bytes()).hexdigest()


def files_below(path):
    """Every file below a directory; nested repositories are files like others."""
    if path.is_symlink() or not path.is_dir():
        return [path] if path.is_symlink() or path.exists() else []
    return sorted(found for item in path.iterdir() for found in files_below(item))


class Rollback(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()

    # The program.

    def command(self, *words, cwd=None, env=None):
        """A command other than `call`."""
        return subprocess.run([harness.AIRLOCK, *words], cwd=cwd or self.root,
                              env=self.env | (env or {}), stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, text=True,
                              timeout=harness.WATCHDOG_SECONDS, start_new_session=True)

    def rollback(self, *words, cwd=None):
        """A rollback that must work; gives what it says."""
        done = self.command("rollback", *words, cwd=cwd)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        return done.stdout

    def refuses(self, reason, *words, names=(), code=1, cwd=None):
        """A rollback that must not happen, for a reason, naming what would be lost; it changes
        nothing."""
        before = self.snapshot(cwd)
        done = self.command("rollback", *words, cwd=cwd)
        self.assertEqual(done.returncode, code, done)
        self.assertIn(reason, done.stderr)
        listed = [line[2:] for line in done.stderr.splitlines() if line.startswith("  ")]
        self.assertEqual(sorted(listed), sorted(names), done.stderr)
        self.assertEqual(self.snapshot(cwd), before)
        return done

    # The repository.

    def snapshot(self, root=None):
        """All there is to compare: files, index, HEAD, references, stash, unfinished operations."""
        root = root or self.root
        git_dir = root / ".git"
        if git_dir.is_file():
            git_dir = self.base / self.out("rev-parse", "--absolute-git-dir", cwd=root).strip()
        tree = {}
        for path in files_below(root):
            name = str(path.relative_to(root))
            if not name.startswith(".git/"):
                tree[name] = digest(path)
        for name in STATE:
            for path in files_below(git_dir / name):
                tree["git:" + str(path.relative_to(git_dir))] = digest(path)
        tree["refs"] = self.out("for-each-ref", cwd=root)
        tree["stash"] = self.out("stash", "list", "--format=%H %gd %gs", cwd=root)
        return tree

    def assert_same(self, before, root=None):
        """It is as it was."""
        now = self.snapshot(root)
        differing = {name: (before.get(name), now.get(name)) for name in before | now
                     if before.get(name) != now.get(name)}
        self.assertEqual(differing, {})

    def stash(self, content, message):
        """A stash of a.txt."""
        self.write("a.txt", content)
        self.git("stash", "push", "-q", "-m", message)

    def rich(self):
        """A repository with something of everything."""
        self.write(".gitignore", "*.o\n")
        self.write("dir/b.txt", "b\n")
        self.write("run.sh", "#!/bin/sh\n").chmod(0o755)
        os.symlink("a.txt", self.root / "link")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "second")
        self.git("branch", "side", "HEAD~")
        self.git("branch", "other")
        self.git("tag", "-a", "-m", "v1", "v1")
        self.stash("stashed 0\n", "zero")
        self.stash("stashed 1\n", "one")
        self.stash("stashed 2\n", "two")
        self.write("a.txt", "modified\n")
        self.write("dir/b.txt", "staged\n")
        self.git("add", "dir/b.txt")
        self.write("dir/b.txt", "staged and modified\n")
        self.write("new.txt", "staged and new\n")
        self.git("add", "new.txt")
        self.write("untracked.txt", "untracked\n").chmod(0o640)
        self.write("un/tracked/\u4e2d \n\" .txt", b"\0\xff binary\n")
        self.write("x.o", "ignored\n")
        self.git("config", "branch.other.description", "what it is for")


class Whole(Rollback):
    def test_twelve(self):
        """twenty calls, twelve of them destructive: `rollback 12` brings everything back"""
        self.rich()
        before = self.snapshot()
        server = harness.Server(self)
        destructive = 0
        for tool, arguments in (
                ("git_status", {}), ("git_log", {}),
                ("git_stash", {"action": "drop", "index": 1}),
                ("git_restore", {"paths": ["a.txt"]}),
                ("git_diff", {}),
                ("git_restore", {"paths": ["dir/b.txt"], "staged": True, "worktree": True}),
                ("git_branch", {"list_all": True}),
                ("git_branch", {"force_delete": "side"}),
                ("git_add", {"all": True}),
                ("git_show", {}),
                ("git_commit", {"type": "feat", "message": "take everything"}),
                ("git_checkout", {"create_branch": "topic"}),
                ("git_checkout", {"branch": "other"}),
                ("git_blame", {"path": "a.txt"}),
                ("git_stash", {"action": "pop"}),
                ("git_checkout", {"paths": ["a.txt"]}),
                ("git_branch", {"rename": "topic", "new_name": "theme"}),
                ("git_stash", {"action": "clear"}),
                ("git_status", {}), ("git_log", {"oneline": True})):
            result = server.call(tool, arguments)
            if result.failed:
                raise AssertionError((tool, arguments, result))
            with self.subTest(tool=tool, arguments=arguments):
                destructive += self.record()["git_commit"] is not None
        server.close()
        self.assertEqual(destructive, 12)
        after = self.snapshot()
        self.rollback("12")
        self.assert_same(before)
        self.rollback()
        self.assert_same(after)
        self.rollback("2")
        self.assert_same(after)


class Restores(Rollback):
    """What one destructive call takes away comes back, and goes again."""

    def assert_undone(self, *calls, force=False, **options):
        """Make the calls, undo them, and undo that."""
        before = self.snapshot()
        for tool, arguments in calls:
            self.ok(tool, arguments, **options)
        after = self.snapshot()
        self.assertNotEqual(before, after)
        words = ["--force"] if force else []
        self.rollback(str(len(calls)), *words)
        self.assert_same(before)
        self.rollback()
        self.assert_same(after)
        self.rollback()
        self.assert_same(before)

    def test_untracked(self):
        """untracked files that a stash took, with their bytes, permissions and links"""
        self.write("new.bin", b"\0\xff\r\n").chmod(0o600)
        self.write("run", "#!/bin/sh\n").chmod(0o755)
        os.symlink("/etc/passwd", self.root / "out")
        os.symlink("nowhere", self.root / "dangling")
        self.write("deep/er/file", "x")
        self.assert_undone(("git_stash", {"action": "push", "include_untracked": True}))

    def test_overwritten(self):
        """changes that were not committed, and what was staged"""
        self.write("a.txt", "staged\n")
        self.git("add", "a.txt")
        self.write("a.txt", "modified\n")
        self.assert_undone(("git_restore", {"paths": ["a.txt"], "staged": True, "worktree": True}))

    def test_index(self):
        """the index, byte for byte, with conflicts, and entries marked unchanged or only intended"""
        self.write("b.txt", "b\n")
        self.git("add", "-N", "b.txt")
        self.git("update-index", "--assume-unchanged", "a.txt")
        self.git("checkout", "-q", "-b", "other")
        self.commit("c.txt", "ours\n", "ours")
        self.git("checkout", "-q", "main")
        self.commit("c.txt", "theirs\n", "theirs")
        self.git("merge", "other", check=False)
        self.assert_undone(("git_add", {"all": True}))

    def test_modes(self):
        """permissions and links that a checkout changed"""
        self.write("run", "x\n").chmod(0o755)
        self.write("plain", "x\n")
        os.symlink("run", self.root / "link")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "modes")
        (self.root / "run").chmod(0o644)
        (self.root / "plain").chmod(0o700)
        (self.root / "link").unlink()
        self.write("link", "a file now\n")
        self.assert_undone(("git_checkout", {"paths": ["run", "plain", "link"]}))

    def test_directories(self):
        """a file where a directory was, and the other way around"""
        self.commit("x/y", "y\n", "a directory")
        self.git("checkout", "-q", "-b", "other")
        self.git("rm", "-q", "-r", "x")
        self.commit("x", "a file\n", "a file")
        self.assert_undone(("git_checkout", {"branch": "main"}))

    def test_commit(self):
        """a commit, also the first one"""
        self.write("a.txt", "two\n")
        self.git("add", "a.txt")
        self.assert_undone(("git_commit", {"type": "fix", "message": "x"}))
        new = self.root / "unborn"
        new.mkdir()
        self.git("init", "-q", cwd=new)
        self.write("f", "f\n", new)
        before = self.snapshot(new)
        self.ok("git_add", {"all": True}, root=new, cwd=new)
        self.ok("git_commit", {"type": "feat", "message": "x"}, root=new, cwd=new)
        self.rollback("2", cwd=new)
        self.assert_same(before, new)

    def test_branches(self):
        """branches: switched, made, renamed, deleted, into each other's directories"""
        self.git("branch", "a")
        self.git("branch", "x/y")
        self.git("config", "branch.a.description", "words")
        self.assert_undone(("git_branch", {"force_delete": "a"}), ("git_branch", {"create": "a/b"}),
                           ("git_branch", {"rename": "x/y", "new_name": "x"}),
                           ("git_checkout", {"create_branch": "x/y".replace("/", "-")}),
                           ("git_checkout", {"commit": "HEAD"}))

    def test_stash(self):
        """stashes that were dropped, popped and cleared, with their log"""
        for number in range(3):
            self.write("a.txt", f"{number}\n")
            self.git("stash", "push", "-q", "-m", f"message {number}")
        self.assert_undone(("git_stash", {"action": "drop", "index": 1}),
                           ("git_stash", {"action": "pop"}), ("git_restore", {"paths": ["a.txt"]}),
                           ("git_stash", {"action": "clear"}))

    def conflict(self):
        """Two branches that conflict; on main."""
        self.git("checkout", "-q", "-b", "other")
        self.commit("a.txt", "theirs\n", "theirs")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "ours\n", "ours")

    def test_merge(self):
        """a merge that was begun, and one that was given up"""
        self.conflict()
        self.assert_undone(("git_merge", {"branch": "other"}))
        self.git("merge", "other", check=False)
        self.assert_undone(("git_merge", {"branch": "other", "abort": True}))

    def test_rebase(self):
        """a rebase in progress that was given up"""
        self.conflict()
        self.git("rebase", "other", check=False)
        self.assertTrue((self.root / ".git/rebase-merge").is_dir())
        self.assert_undone(("git_merge", {"branch": "other", "abort": True}))

    def test_sha256(self):
        """a repository of the other object format"""
        self.root = self.base / "other"
        self.root.mkdir()
        self.git("init", "-q", "--object-format=sha256")
        self.rich_sha256()
        self.assert_undone(("git_stash", {"action": "drop", "index": 0}),
                           ("git_add", {"all": True}), ("git_commit", {"type": "fix",
                                                                       "message": "x"}))

    def rich_sha256(self):
        """Something of everything."""
        self.commit("a.txt", "one\n", "first")
        self.rich()

    def test_worktree(self):
        """a linked working tree, without touching the other"""
        linked = self.base / "root-linked"
        self.git("worktree", "add", "-q", "-b", "linked", str(linked))
        self.write("a.txt", "linked\n", linked)
        self.write("a.txt", "main\n")
        main = self.snapshot()
        before = self.snapshot(linked)
        options = {"root": self.base, "cwd": linked}
        config = ["--root", str(self.base)]
        self.env["XDG_CONFIG_HOME"] = self.env["XDG_STATE_HOME"] = self.move_home()
        self.ok("git_add", {"all": True, "working_dir": str(linked)}, **options)
        self.ok("git_commit", {"type": "fix", "message": "x", "working_dir": str(linked)},
                **options)
        self.rollback(*config, "2", cwd=linked)
        self.assert_same(before, linked)
        self.assert_same(main)

    def move_home(self):
        """The person's directory outside of what is a root now."""
        where = harness.tempfile.mkdtemp(prefix="airlock-home-")
        self.addCleanup(harness.shutil.rmtree, where, ignore_errors=True)
        return where

    def test_submodule(self):
        """with a submodule and a nested repository there"""
        other = self.base / "sub"
        self.init(other)
        self.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(other), "sub")
        self.git("commit", "-q", "-m", "submodule")
        self.init(self.root / "nested")
        self.write("sub/a.txt", "changed\n")
        self.write("sub/new", "new\n")
        self.write("nested/new", "new\n")
        self.write("a.txt", "changed\n")
        self.assert_undone(("git_restore", {"paths": ["a.txt"]}))


class Counts(Rollback):
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
        self.refuses("there is nothing to undo in this repository")
        self.ok("git_branch", {"create": "b"})
        self.refuses("only 1 execution can be undone, not 2", "2")
        self.refuses("only 1 execution can be undone, not 1000000000", "1000000000")
        for bad in ("0", "-1", "x", "1x", "1.5", "", "1000000001", "99999999999999999999"):
            self.refuses("", bad, code=2)
            done = self.command(f"--rollback={bad}")
            self.assertEqual(done.returncode, 2, done)
        self.refuses("one number is enough: '2'", "1", "2", code=2)
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
                    self.assertIn("nothing to undo", done.stderr)
                else:
                    self.assertEqual((done.returncode, done.stdout, done.stderr),
                                     (1, "", "Error: rollback requires git repository\n"))

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
        self.refuses("", names=["a.txt"])
        self.assertEqual((self.record()["outcome"], self.record()["git_commit"]),
                         ("refused", None))
        self.assertEqual(self.command("log", "--verify").returncode, 0)

    def test_dry_run(self):
        """--dry-run says what would change and changes nothing, not even the journal"""
        self.write("a.txt", "two\n")
        self.ok("git_restore", {"paths": ["a.txt"]})
        self.ok("git_branch", {"create": "b"})
        self.write("c.txt", "a person's\n")
        journal = self.record()
        before = self.snapshot()
        done = self.command("rollback", "2", "--dry-run")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(" a.txt | 2 +-\n", done.stdout)
        self.assertIn(" c.txt | 1 -\n", done.stdout)
        self.assertIn(" refs/heads/b: ", done.stdout)
        self.assertIn("\n  c.txt\n", done.stderr)
        self.assertEqual((self.snapshot(), self.record()), (before, journal))
        (self.root / "c.txt").unlink()
        done = self.command("rollback", "2", "--dry-run")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)


class Others(Rollback):
    """What a person did since is not taken away."""

    def setUp(self):
        super().setUp()
        self.commit("b.txt", "b\n", "second")
        self.write("a.txt", "two\n")
        self.ok("git_restore", {"paths": ["a.txt"]})

    def assert_asks_first(self, *names):
        """It names what would be lost, and --force keeps it in a checkpoint."""
        before = self.snapshot()
        self.refuses("what somebody else changed since would be lost", names=names)
        self.rollback("--force")
        self.assertNotEqual(self.snapshot(), before)
        self.rollback()
        self.assert_same(before)

    def test_edit(self):
        """an edit of a file"""
        self.write("a.txt", "a person's\n")
        self.assert_asks_first("a.txt")

    def test_new_file(self):
        """a new file, with a name that could do things to a terminal"""
        self.write("new\033[2J\n  a.txt", "a person's\n")
        self.assert_asks_first("new   a.txt")

    def test_removed(self):
        """a file that was removed"""
        (self.root / "b.txt").unlink()
        self.assert_asks_first("b.txt")

    def test_staged(self):
        """something staged"""
        self.write("a.txt", "a person's\n")
        self.git("add", "a.txt")
        self.assert_asks_first("a.txt", "the index (what is staged)")

    def test_commit(self):
        """a commit"""
        self.commit("c.txt", "c\n", "a person's")
        self.assert_asks_first("c.txt", "the index (what is staged)", "refs/heads/main")

    def test_branch_and_stash(self):
        """a branch and a stash"""
        self.git("branch", "new")
        self.write("b.txt", "stashed\n")
        self.git("stash", "push", "-q")
        done = self.refuses("", names=["refs/heads/new", "refs/stash", "the stash",
                                       "ORIG_HEAD in the git directory"][:3] + (
                                ["ORIG_HEAD in the git directory"]
                                if (self.root / ".git/ORIG_HEAD").exists() else []))
        self.assertNotIn("Traceback", done.stderr)

    def test_in_between(self):
        """between two calls, also when the second took it away already"""
        self.write("b.txt", "a person's\n")
        self.ok("git_restore", {"paths": ["b.txt"]})
        self.rollback()
        self.rollback()
        self.refuses("", "4", names=["b.txt"])

    def test_the_same(self):
        """what a person did that is as it was before is no reason to refuse"""
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
        said = self.rollback("2")
        self.assertIn("kept.o", said)
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
