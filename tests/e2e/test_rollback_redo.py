#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`airlock rollback` further back and forward again, and what it asks on a terminal."""
import os
import pty
import signal
import subprocess

import harness
import rollback


class Ways(rollback.Rollback):
    def setUp(self):
        super().setUp()
        self.states = []
        for name in ("b1", "b2", "b3"):
            self.states.append(self.snapshot())
            self.ok("git_branch", {"create": name})
        self.states.append(self.snapshot())

    def ends_with(self, line, *words):
        """A rollback whose last line is this."""
        self.assertEqual(self.rollback(*words).splitlines()[-1], line)

    def test_back_and_forward(self):
        """the last line names the number that goes further back; --redo goes forward step by step"""
        self.ends_with("Roll back further: airlock rollback 3. Redo: airlock rollback --redo")
        self.assert_same(self.states[2])
        self.ends_with("Roll back further: airlock rollback 5. Redo: airlock rollback --redo",
                       "3")
        self.assert_same(self.states[1])
        self.ends_with("Redo: airlock rollback --redo", "5")
        self.assert_same(self.states[0])
        for state in (1, 2, 3):
            self.ends_with("Roll back again: airlock rollback", "--redo")
            self.assert_same(self.states[state])
        self.refuses("there is nothing to redo", "--redo")
        self.rollback()
        self.assert_same(self.states[2])
        self.assertEqual(self.command("log", "--verify").returncode, 0)

    def test_further(self):
        """to undo a rollback goes forward, and is not called further back"""
        self.rollback()
        self.ok("git_branch", {"create": "b4"})
        self.ends_with("Redo: airlock rollback --redo")
        self.assert_same(self.states[2])

    def test_redo_of_a_redo(self):
        """a rollback that undid a redo is redone as well"""
        self.rollback("2")
        self.assertTrue(self.rollback("--redo", "--dry-run").startswith("Redoing would change:\n"))
        self.assertTrue(self.rollback("--redo").startswith("Redone: 0 files\n"))
        self.rollback()
        self.assert_same(self.states[1])
        self.rollback("--redo")
        self.assert_same(self.states[3])

    def test_each_other(self):
        """a rollback and its redo, rolled back together, change nothing, and that is said"""
        self.rollback()
        self.rollback("--redo")
        self.assertTrue(self.rollback("2").startswith(
            "Rolled back 2 executions: nothing changed; a rollback is an execution too, and two of "
            "them can take each other back\n"))
        self.assert_same(self.states[3])

    def test_lost_commits(self):
        """a dry run lists the commits that no reference would have any more"""
        script = ("echo 1 > n; git add n; git commit -qm one; git branch kept; echo 2 > n; "
                  "git commit -qam two; git branch other; echo 3 > n; git commit -qam three; git tag t")
        self.assertEqual(self.command("run", "--", "sh", "-c", script).returncode, 0)
        title = "Commits that no reference would have any more:\n"
        ids = self.out("log", "-3", "--abbrev=8", "--format=%h").split()
        self.assertIn(title + "  {} three\n  {} two\n  {} one\n".format(*ids),
                      self.rollback("--dry-run"))
        self.git("branch", "users", "kept")
        self.assertIn(title + f"  {ids[0]} three\n  {ids[1]} two\n", self.rollback("--dry-run"))
        self.assertNotIn(f"{ids[2]} one", self.rollback("--dry-run"))
        self.git("branch", "all")
        self.assertNotIn(title, self.rollback("--dry-run"))

    def test_looked_at_worktree(self):
        """git may write the index of a worktree anew that came back; what is staged there stays"""
        self.git("worktree", "add", "-q", "wt", "-b", "topic")
        tree = self.root / "wt"
        self.assertEqual(self.command("run", "--", "git", "worktree", "remove", "wt").returncode, 0)
        for staged in (False, True):
            self.rollback()
            index = self.root / ".git/worktrees/wt/index"
            before = index.read_bytes()
            for path in tree.iterdir():
                if path.name != ".git":
                    os.utime(path, (1700000000 + staged, 1700000000 + staged))
            self.git("status", cwd=tree)
            self.assertNotEqual(index.read_bytes(), before) # the control
            if staged:
                (tree / "new").write_text("n\n")
                self.git("add", "new", cwd=tree)
                self.refuses("would be lost", "--redo", names=["worktrees/wt/index in the git directory"])
                self.assertTrue((tree / "new").exists())
            else:
                self.rollback("--redo")
                self.assertFalse(tree.exists())

    def test_nothing_to_redo(self):
        """without a rollback, or after another execution, --redo does nothing; a read is none"""
        self.refuses("there is nothing to redo", "--redo")
        self.rollback()
        self.ok("git_status")
        self.ok("git_add", {"all": True})
        self.command("rollback", "99")
        self.rollback("--redo")
        self.assert_same(self.states[3])
        self.rollback()
        self.ok("git_branch", {"create": "other"})
        self.refuses("there is nothing to redo", "--redo")

    def test_another_user(self):
        """what another user changed since is not taken away by --redo either"""
        self.write("a.txt", "two\n")
        self.ok("git_restore", {"paths": ["a.txt"]})
        self.rollback()
        self.write("a.txt", "three\n")
        self.refuses("what you or another program changed", "--redo", names=["a.txt"])
        self.rollback("--redo", "--force")
        self.assertEqual((self.root / "a.txt").read_text(), "one\n")

    def test_words(self):
        """--redo takes no number, and --dry-run says what it would do"""
        self.rollback("2")
        before = self.snapshot()
        self.assertEqual(self.command("rollback", "--redo", "2").returncode, 2)
        done = self.command("rollback", "--redo", "--dry-run")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        self.assertIn(" refs/heads/b3: ", done.stdout)
        self.assert_same(before)


class Asks(rollback.Rollback):
    def setUp(self):
        super().setUp()
        self.write("a.txt", "two\n")
        self.ok("git_restore", {"paths": ["a.txt"]})

    def terminal(self, answer, *words):
        """Exit code and text of a rollback on a terminal where the user types this."""
        ours, theirs = pty.openpty()
        with subprocess.Popen([harness.AIRLOCK, "rollback", *words], cwd=self.root, env=self.env,
                              stdin=theirs, stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            os.write(ours, answer)
            text = b""
            try:
                while piece := os.read(ours, 65536):
                    text += piece
            except OSError:  # the other side is closed
                pass
            os.close(ours)
            return process.wait(harness.WATCHDOG_SECONDS), text.decode()

    def test_answers(self):
        """on a terminal it says what will change and asks; no, nothing or the end change nothing"""
        for answer in (b"n\n", b"\n", b"maybe\n", b"\x04"):
            code, text = self.terminal(answer)
            self.assertEqual(code, 1, text)
            self.assertIn("a.txt | 2 +-", text)
            self.assertIn("Roll back? [y/N]", text)
            self.assertEqual((self.root / "a.txt").read_text(), "one\n")
            self.assertEqual(self.record()["tool"], "git_restore")
        code, text = self.terminal(b"y\n")
        self.assertEqual(code, 0, text)
        self.assertEqual((self.root / "a.txt").read_text(), "two\n")

    def test_interrupted(self):
        """Ctrl-C at the question ends the rollback, which has changed nothing"""
        ours, theirs = pty.openpty()
        with subprocess.Popen([harness.AIRLOCK, "rollback"], cwd=self.root, env=self.env,
                              stdin=theirs, stdout=theirs, stderr=theirs) as process:
            os.close(theirs)
            text = b""
            while b"[y/N]" not in text:
                text += os.read(ours, 65536)
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(harness.WATCHDOG_SECONDS), 130)
        os.close(ours)
        self.assertEqual((self.root / "a.txt").read_text(), "one\n")

    def test_interrupted_waiting(self):
        """so does Ctrl-C while it waits for another git, with the same exit code"""
        with open(self.root / ".git/index.lock", "wb"), \
                subprocess.Popen([harness.AIRLOCK, "rollback"], cwd=self.root, env=self.env,
                                 stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) as process:
            self.assertIn(b"index.lock", process.stderr.readline())
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(harness.WATCHDOG_SECONDS), 130)
        self.assertEqual((self.root / "a.txt").read_text(), "one\n")

    def test_unasked(self):
        """-y and --yes do not ask, and neither does what refuses anyway"""
        for flag, content in (("-y", "two\n"), ("--yes", "one\n")):
            code, text = self.terminal(b"", flag)
            self.assertEqual(code, 0, text)
            self.assertNotIn("[y/N]", text)
            self.assertEqual((self.root / "a.txt").read_text(), content)
        self.write("a.txt", "three\n")
        code, text = self.terminal(b"")
        self.assertEqual(code, 1, text)
        self.assertNotIn("[y/N]", text)
        self.assertIn("you or another program", text)


if __name__ == "__main__":
    harness.main()
