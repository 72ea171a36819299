#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Names whose bytes are not UTF-8: shown apart from each other, accepted as shown, and undone."""
import json
import os
import pathlib
import subprocess

import everyday
import harness

E8, E9 = b"caf\xe8", b"caf\xe9"


class Names(everyday.Case):
    """Two files, caf\\xe8 and caf\\xe9, in a root whose name is no UTF-8 either."""

    def setUp(self):
        super().setUp()
        self.top = os.fsencode(self.root) + b"/w\xff"
        os.mkdir(self.top)
        self.root = pathlib.Path(os.fsdecode(self.top))
        self.out("init", "-q")
        for name in (E8, E9):
            self.put(name, b"one\n")
        self.out("add", ".")
        self.out("commit", "-q", "-m", "base")
        self.server = everyday.Server(self)
        self.addCleanup(self.server.close)

    def put(self, name, data):
        with open(self.top + b"/" + name, "wb") as file:
            file.write(data)

    def get(self, name):
        with open(self.top + b"/" + name, "rb") as file:
            return file.read()

    def out(self, *words):
        return subprocess.run(["git", *words], cwd=self.top, env=self.env, check=True,
                              capture_output=True, timeout=harness.WATCHDOG_SECONDS).stdout

    def airlock(self, *words):
        return subprocess.run([harness.AIRLOCK, *words], cwd=self.top, env=self.env, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=harness.WATCHDOG_SECONDS)

    def lines(self):
        done = self.airlock("log", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def test_status_and_add(self):
        """git_status names each file apart, and git_add takes it as it is named"""
        self.put(E8, b"two\n")
        self.put(E9, b"two\n")
        text = self.server.says("git_status")
        self.assertIn("caf<E8>", text)
        self.assertIn("caf<E9>", text)
        self.server.says("git_add", {"paths": ["caf<E9>"]})
        self.assertEqual(self.out("diff", "--cached", "--name-only", "-z"), E9 + b"\0")

    def test_diff(self):
        """git_diff heads each file apart, and shows the one that is asked for"""
        self.put(E8, b"two\n")
        self.put(E9, b"three\n")
        text = self.server.says("git_diff")
        self.assertIn("--- caf<E8>\n", text)
        self.assertIn("--- caf<E9>\n", text)
        text = self.server.says("git_diff", {"paths": ["caf<E8>"]})
        self.assertIn("+two", text)
        self.assertNotIn("three", text)

    def test_commit_and_undo(self):
        """git_commit of one of them, and git_undo takes exactly that back"""
        self.put(E8, b"two\n")
        self.put(E9, b"two\n")
        self.server.says("git_commit", {"message": "m", "paths": ["caf<E9>"]})
        self.assertEqual(self.out("show", "--format=", "--name-only", "-z", "HEAD"), E9 + b"\0")
        self.server.says("git_undo")
        self.assertEqual(self.out("rev-list", "--count", "HEAD"), b"1\n")
        self.assertEqual(self.get(E9), b"two\n")

    def test_restore_and_undo(self):
        """git_restore discards one of them, and git_undo brings its bytes back"""
        self.put(E8, b"precious 8\n")
        self.put(E9, b"precious 9\n")
        self.server.says("git_restore", {"paths": ["caf<E8>"]})
        self.assertEqual((self.get(E8), self.get(E9)), (b"one\n", b"precious 9\n"))
        self.server.says("git_undo")
        self.assertEqual((self.get(E8), self.get(E9)), (b"precious 8\n", b"precious 9\n"))

    def test_journal(self):
        """the journal has the exact bytes of the root, and its chain is whole"""
        self.put(E9, b"two\n")
        self.server.says("git_add", {"paths": ["caf<E9>"]})
        line = self.lines()[-1]
        self.assertTrue(line["repository"].endswith("/w<FF>"), line)
        self.assertEqual(line["root"], line["repository"])
        self.assertEqual(self.airlock("log", "--verify").returncode, 0)

    def test_command_line(self):
        """a user's own bytes are accepted as a word, and airlock diff and rollback find them"""
        self.put(E9, b"two\n")
        done = self.airlock("call", "--approval", "allow", "git_restore", b"paths=" + E9)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.get(E9), b"one\n")
        done = self.airlock("diff")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn(b'"b/caf\\351"', done.stdout)  # a patch, in git's own form
        done = self.airlock("rollback", "-y")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.get(E9), b"two\n")

    def test_words_of_a_shell(self):
        """airlock run and airlock git give a command the very bytes of its words"""
        words = [E9, b"caf<E9>", b"<3C>E9>", b"\xff<C3>\xa9\xc3\xa9"]
        done = self.airlock("run", "--", "printf", "%s\\n", *words)
        self.assertEqual(done.stdout, b"".join(word + b"\n" for word in words), done.stderr)
        self.put(b"caf<E9>", b"another\n")
        self.assertEqual(self.airlock("run", "--", "rm", E9).returncode, 0)
        self.assertEqual(self.get(b"caf<E9>"), b"another\n")
        self.assertEqual(self.airlock("git", "add", E9).returncode, 0)
        self.assertEqual(self.out("diff", "--cached", "--name-only", "-z"), E9 + b"\0")
        self.airlock("git", "commit", "-q", "-m", "strip <FF>")
        self.assertEqual(self.out("log", "-1", "--format=%s"), b"strip <FF>\n")
        self.airlock("git", "branch", b"b\xe9")
        self.assertEqual(self.out("for-each-ref", "--format=%(refname:short)", "refs/heads/b*"),
                         b"b\xe9\n")
        secret = "https://me:" + "hunter22@example.org/x"
        self.airlock("run", "--", "true", secret)
        self.assertNotIn("hunter22", json.dumps(self.lines()[-1]))

    def test_label(self):
        """a label is found as it was given"""
        self.airlock("run", "--label", "no <FF>", "--", "rm", E9)
        done = self.airlock("rollback", "-y", "--to", "no <FF>")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.get(E9), b"one\n")

    def test_same_place(self):
        """two repositories that differ in one such byte do not share their undo"""
        other = self.top[:-1] + b"\xfe"
        os.mkdir(other)
        self.put(E9, b"two\n")
        self.server.says("git_restore", {"paths": ["caf<E9>"]})
        self.top, mine = other, self.top
        self.out("init", "-q")
        self.assertNotEqual(self.airlock("rollback", "-y").returncode, 0)
        self.top = mine
        self.assertEqual(self.get(E9), b"one\n")

    def test_literal(self):
        """a name that looks like a shown byte is another name"""
        self.put(b"caf<E9>", b"literal\n")
        self.put(E9, b"two\n")
        text = self.server.says("git_status")
        self.assertIn("caf<3C>E9>", text)
        self.server.says("git_add", {"paths": ["caf<3C>E9>"]})
        self.assertEqual(self.out("diff", "--cached", "--name-only", "-z"), b"caf<E9>\0")

    def test_branch(self):
        """a branch whose name is no UTF-8 is switched to as it is shown"""
        self.out("branch", b"top\xe9")
        self.server.says("git_switch", {"branch": "top<E9>"})
        self.assertEqual(self.out("symbolic-ref", "HEAD"), b"refs/heads/top\xe9\n")
        self.assertIn("top<E9>", self.server.says("git_status"))

    def test_directory(self):
        """a working_dir below such a directory"""
        os.mkdir(self.top + b"/d\xe9")
        self.put(b"d\xe9/new", b"x\n")
        self.server.says("git_add", {"working_dir": "d<E9>", "paths": ["new"]})
        self.assertEqual(self.out("diff", "--cached", "--name-only", "-z"), b"d\xe9/new\0")


if __name__ == "__main__":
    harness.main()
