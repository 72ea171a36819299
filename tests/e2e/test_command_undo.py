#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rollbacks after commands of an agent's shell: a bisection, permissions, all or nothing."""
import os
import stat
import subprocess
import tempfile

import harness

SESSION = {"AIRLOCK_SESSION": "a-session"}


class CommandUndo(harness.Case):
    toolsets = ()

    def setUp(self):
        super().setUp()
        self.init()

    def airlock(self, *words, code=0, env=()):
        done = subprocess.run([harness.AIRLOCK, *words], cwd=self.root, env=self.env | dict(env), capture_output=True,
                              stdin=subprocess.DEVNULL, check=False, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, code, done)
        return done.stdout.decode(), done.stderr.decode()

    def sh(self, script, **options):
        return self.airlock("run", "--", "sh", "-c", script, **options)

    def state(self):
        """All that git knows of the repository, and all of its files but objects and logs."""
        shown = [self.git(*words, check=False).stdout for words in
                 (("status", "--short"), ("for-each-ref",), ("ls-files", "-s"), ("stash", "list"), ("bisect", "log"), ("worktree", "list"))]
        files = {str(path.relative_to(self.root)): path.read_bytes() for path in sorted(self.root.rglob("*"))
                 if path.is_file() and (path.parent == self.root / ".git" or ".git" not in path.parts)}
        for name in ("index", "ORIG_HEAD", "FETCH_HEAD", "COMMIT_EDITMSG", "packed-refs"):
            files.pop(f".git/{name}", None)
        return shown, files

    # A bisection.

    def test_bisect(self):
        """a bisection goes back whole, step by step: its files, references, HEAD"""
        for i in range(6):
            self.commit("a.txt", f"{i}\n", f"commit {i}")
        steps = [("start",), ("bad",), ("good", "HEAD~5"), ("good",), ("reset",)]
        states = [self.state()]
        for words in steps:
            self.airlock("git", "bisect", *words)
            states.append(self.state())
        for i in range(len(steps)):
            self.airlock("rollback", str(2 * i + 1))
            self.assertEqual(self.state(), states[-2 - i], steps[-1 - i])
        self.airlock("git", "bisect", "start", "HEAD", "HEAD~5")
        self.airlock("rollback")
        self.assertEqual(self.state(), states[0])

    # Permissions.

    def test_permissions(self):
        """permissions come back, whatever git makes of them: of files that are clean, changed, staged, untracked"""
        self.commit("clean.sh", "clean\n", "clean")
        names = ("clean.sh", "a.txt", "staged.txt", "untracked.txt")
        for name in names[1:]:
            self.write(name, f"changed {name}\n")
        self.git("add", "staged.txt")
        for before in (0o644, 0o755, 0o600, 0o640, 0o700):
            for after in ("600", "755", "644", "400"):
                for name in names:
                    os.chmod(self.root / name, before)
                self.sh(f"chmod {after} {' '.join(names)}")
                if int(after, 8) != before:
                    self.airlock("rollback")
                for name in names:
                    self.assertEqual(oct(stat.S_IMODE((self.root / name).stat().st_mode)), oct(before), (name, after))

    # Linked worktrees.

    def test_worktree_removed(self):
        """a worktree inside that a command removed comes back with its index and HEAD, and works; and goes again"""
        self.git("worktree", "add", "-q", "wt")
        where = self.root / "wt"
        self.commit("b.txt", "b\n", "in the worktree", where)
        self.git("checkout", "-q", "--detach", cwd=where)
        self.write("a.txt", "changed\n", where)
        self.write("s.txt", "staged\n", where)
        self.git("add", "s.txt", cwd=where)
        shown = [("status",), ("log", "--format=%s"), ("diff", "--cached"), ("ls-files", "-s"), ("stash", "list"),
                 ("worktree", "list")]

        def look():  # without writing an index
            files = sorted(path for path in where.iterdir() if path.is_file())
            return [self.out(*words, cwd=where, GIT_OPTIONAL_LOCKS="0") for words in shown], \
                [(path.name, path.read_bytes()) for path in files]

        before = look()
        for script in ("rm -rf wt", "rm -rf wt; git worktree prune", "git worktree remove --force wt",
                       "rm -rf wt .git/worktrees; git branch -D wt; git reflog expire --expire=now --all; git gc -q --prune=now"):
            with self.subTest(script):
                self.sh(script)
                for _ in range(2):
                    self.airlock("rollback")
                    self.assertEqual(look(), before)
                    self.git("fsck", "--strict", cwd=where)
                    self.airlock("rollback", "--redo")
                    self.assertFalse(where.exists())
                self.airlock("rollback")

    def test_worktree_copied(self):
        """a command that copied a worktree, or its .git, is undone without what the worktree itself has"""
        where = self.root.parent / (self.root.name + "-wt")
        self.git("worktree", "add", "-q", str(where))
        self.addCleanup(subprocess.run, ["rm", "-rf", str(where)], check=True)
        self.write("s.txt", "staged\n", where)
        self.git("add", "s.txt", cwd=where)
        for script in (f"cp -r {where} copy", f"mkdir copy; cp {where}/.git copy/"):
            with self.subTest(script):
                self.sh(script)
                self.airlock("rollback")
                self.assertFalse((self.root / "copy").exists())
                self.assertEqual(self.out("status", "--short", cwd=where), "A  s.txt\n")

    def test_description(self):
        """a command that writes .git/description is undone: the repository is the same"""
        self.sh("echo mine >.git/description; echo more >>a.txt")
        self.airlock("rollback")
        self.assertEqual(self.out("status", "--short"), "")

    def test_worktree_of_others(self):
        """what somebody does in a worktree while a command runs beside it is theirs"""
        self.git("worktree", "add", "-q", "wt")
        where = self.root / "wt"
        self.sh("echo more >>a.txt; cd wt; git checkout -q --detach")
        self.airlock("rollback")
        self.assertEqual(self.out("status", "--short", "-b", cwd=where), "## HEAD (no branch)\n")
        self.assertEqual(self.out("status", "--short"), "?? wt/\n")

    def test_worktree_added(self):
        """a worktree that a command added, inside or outside, goes whole with its branch, and comes back"""
        self.git("branch", "there")
        outside = self.base / "outside"
        outside.mkdir()
        inside, beside = self.root / "wt", outside / "beside"
        ways = [(inside, ("wt",)), (inside, ("-b", "new", "wt")), (inside, ("--detach", "wt")), (inside, ("wt", "there")),
                (self.root / "deep/wt", ("deep/wt",)), (beside, (str(beside),)),
                (beside, ("-b", "new", str(beside))), (beside, ("--detach", str(beside))),
                (beside, ("../outside/beside", "there")), (self.base / "more/wt", ("../more/wt", "there"))]

        def look(where):
            return self.state(), self.out("status", "-b", cwd=where), self.out("worktree", "list", "--porcelain")

        without = self.state(), self.out("reflog", "there")
        for where, words in ways:
            for link in ((), ("run", "--"))[not where.is_relative_to(self.root):]:  # airlock git stays inside of the roots
                with self.subTest(words=words, link=link):
                    self.airlock(*link, "git", "worktree", "add", "-q", *words, env=SESSION)
                    has = look(where)
                    for undo in ("rollback",), ("rollback",), ("call", "git_undo"):
                        self.airlock(*undo, env=SESSION)
                        self.assertEqual((self.state(), self.out("reflog", "there")), without, undo)
                        self.assertFalse(where.exists())
                        self.assertEqual(self.out("worktree", "prune", "-n", "-v"), "")
                        self.git("fsck", "--strict")
                        if undo == ("rollback",):
                            self.airlock("rollback", "--redo", env=SESSION)
                            self.assertEqual(look(where), has)
                            self.git("fsck", "--strict", cwd=where)

    def test_worktree_added_by_another_path(self):
        """a worktree whose files name each other by relative paths, as git 2.48 can, goes too; one whose path is none is left out"""
        without = self.state()
        self.airlock("run", "--", "sh", "-c", "git worktree add -q wt && echo ../../../wt/.git >.git/worktrees/wt/gitdir"
                     " && echo gitdir: ../.git/worktrees/wt >wt/.git", env=SESSION)
        self.airlock("rollback")
        self.assertEqual(self.state(), without)
        self.assertFalse((self.root / "wt").exists())
        self.airlock("run", "--", "sh", "-c", "echo new >new && git worktree add -q --detach wt && echo //a//../b/.git >.git/worktrees/wt/gitdir",
                     env=SESSION)
        self.airlock("rollback", "--force")
        self.assertFalse((self.root / "new").exists())

    def test_worktree_added_and_used(self):
        """a worktree that a command added stays where somebody has worked in it since"""
        for where, words in ((self.root / "wt", ("wt",)), (self.base / "beside", ("../beside",))):
            for work in ("echo changed >a.txt", "echo new >b.txt", "git checkout -q --detach", "git commit -q --allow-empty -m more"):
                with self.subTest(words=words, work=work):
                    self.airlock("run", "--", "git", "worktree", "add", "-q", *words, env=SESSION)
                    subprocess.run(["sh", "-c", work], cwd=where, env=self.env, check=True)
                    has = self.state()
                    for undo in (("rollback",), ("call", "git_undo")):
                        out, err = self.airlock(*undo, code=1, env=SESSION)
                        self.assertIn(f"the worktree '{words[0].rpartition('/')[2]}'", out + err)
                        self.assertEqual(self.state(), has)
                    self.airlock("rollback", "--force")
                    self.assertFalse(where.exists())
                    self.git("fsck", "--strict")

    def test_worktree_added_and_removed(self):
        """a worktree that a command added and somebody removed is no longer there, which is all that is wanted"""
        without = self.state()
        self.airlock("run", "--", "git", "worktree", "add", "-q", "wt", env=SESSION)
        self.git("worktree", "remove", "wt")
        self.airlock("rollback")
        self.assertEqual(self.state(), without)

    def test_worktree_moved(self):
        """a worktree that a command moved outside is not one that it added: its undo leaves it there, with its work"""
        old, new = self.base / "old", self.base / "new"
        self.git("worktree", "add", "-q", str(old))
        (old / "dirty").write_text("work\n", encoding="utf-8")
        self.sh(f"echo more >>a.txt; git worktree move {old} {new}")
        self.airlock("rollback")
        self.assertEqual(self.out("status", "--short"), "")
        self.assertEqual(self.out("status", "--short", cwd=new), "?? dirty\n")

    def test_worktree_moved_within(self):
        """a worktree that a command moved within the root goes back: git knows where it is"""
        self.git("worktree", "add", "-q", "old")
        self.write("dirty", "work\n", self.root / "old")

        def look():
            return [self.out("worktree", "list", "--porcelain")] + [self.out(*words, cwd=self.root / "old") for words in (
                ("status", "--short"), ("rev-parse", "HEAD"))]

        before = look()
        self.sh("git worktree move old new")
        self.assertNotEqual(self.out("worktree", "list", "--porcelain"), before[0])
        self.airlock("rollback")
        self.assertEqual(look(), before)
        self.assertFalse((self.root / "new").exists())
        self.airlock("rollback", "--redo")
        self.assertEqual(self.out("status", "--short", cwd=self.root / "new"), "?? dirty\n")

    def test_worktree_moved_across(self):
        """one that a command moved out of the root, or into it, stays where it is, whole, and the undo says so"""
        inside, outside = self.root / "in", self.base / "out"
        for old, new in ((inside, outside), (outside, inside)):
            with self.subTest(old=old):
                if not old.exists():
                    self.git("worktree", "add", "-q", str(old), "-b", old.name)
                self.write("dirty", "work\n", old)
                self.sh(f"echo more >>a.txt; git worktree move {old} {new}")
                listed = self.out("worktree", "list", "--porcelain")
                self.assertIn(f"the worktree '{inside.name}', which was moved", self.airlock("rollback", code=1)[0])
                self.assertEqual(self.out("worktree", "list", "--porcelain"), listed)
                self.assertFalse(old.exists())
                self.assertEqual(self.out("status", "--short", cwd=new), "?? dirty\n")
                self.assertEqual((self.root / "a.txt").read_text(encoding="ascii"), "one\n")
                self.airlock("rollback", "--redo")
                self.assertEqual(self.out("worktree", "list", "--porcelain"), listed)
                self.airlock("rollback")

    def test_worktree_added_and_edited(self):
        """one that a command added and a later one edited goes whole with both, once that is forced"""
        self.git("branch", "topic")
        self.sh("git worktree add -q wt topic")
        self.sh("echo more >>wt/a.txt; echo new >wt/new; cd wt; git add new; git commit -qm second")
        err = self.airlock("rollback", "2", code=1)[1]
        self.assertIn("the worktree 'wt'", err)
        self.airlock("rollback", "2", "--force")
        self.assertFalse((self.root / "wt").exists())
        self.assertEqual(self.out("worktree", "list").count("\n"), 1)
        self.airlock("rollback", "--redo")
        self.assertEqual(self.out("status", "--short", cwd=self.root / "wt"), " M a.txt\n")
        self.assertEqual(self.out("log", "-1", "--format=%s", "topic"), "second\n")

    # All or nothing.

    def test_objects_gone(self):
        """where the store could not hold what the repository lost, a rollback is refused before it begins"""
        found = [place for place in ("/dev/shm", "/tmp", "/var/tmp") if os.access(place, os.W_OK) and
                 os.stat(place).st_dev != os.stat(self.root).st_dev]
        if not found:
            self.skipTest("needs a second file system")
        self.git("branch", "topic")
        self.commit("a.txt", "two\n", "second")
        self.commit("a.txt", "three\n", "third")
        self.write("u.txt", "untracked\n")
        prune = "git reflog expire --expire=now --all; git gc -q --prune=now"
        for script in (f"rm u.txt; git reset -q --hard topic; {prune}", "rm -rf .git u.txt; git init -q -b main"):
            with self.subTest(script), tempfile.TemporaryDirectory(dir=found[0]) as state:
                env = {"XDG_STATE_HOME": state}
                self.sh(script, env=env)
                before = self.state()
                out, err = self.airlock("rollback", "--force", code=1, env=env)
                self.assertEqual((out, err), ("", "airlock: the repository has lost objects that the rollback needs, and the "
                                              "checkpoints do not have them\n"))
                self.assertEqual(self.state(), before)
                self.airlock("run", "--", "sh", "-c", "echo new >u.txt", env=env)
                self.airlock("rollback", env=env)
                self.assertEqual(self.state(), before)


if __name__ == "__main__":
    harness.main()
