#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The text of a question is read twice from the objects, by git and by airlock's check; whoever
replaces an object in between shows nothing else.

Run as `test_reread.py AIRLOCK STEP`: the program of step.c holds airlock before it starts a child,
for as long as a script takes.  The control is plain git, which shows the object that was put there.
"""
import os
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

STEP = os.path.abspath(sys.argv.pop(2))

import harness  # pylint: disable=wrong-import-position
from test_robust_terminal import PROMPT, Terminal  # pylint: disable=wrong-import-position

EVIL, GOOD = "one\nimport evil\n", "one\nimport good\n"


class Reread(harness.Case):
    airlock = harness.AIRLOCK

    def setUp(self):
        super().setUp()
        self.init()
        self.commit("app.py", "one\n", "app")
        self.write("app.py", EVIL)
        self.git("add", "app.py")
        self.oid = self.out("rev-parse", ":app.py").strip()
        self.other = self.out("hash-object", "-w", "--stdin", stdin=GOOD.encode()).strip()
        self.write("app.py", GOOD)  # else git shows the file for an entry that looks like it
        self.genuine = self.loose(self.oid).read_bytes()
        self.call("git_status")  # which git there is has been asked now: the children are counted

    def loose(self, oid):
        """Where an object lies."""
        return self.root / ".git/objects" / oid[:2] / oid[2:]

    def replace(self, content):
        """Another file in the object's place."""
        self.loose(self.oid).unlink(missing_ok=True)
        self.loose(self.oid).write_bytes(content)

    def forge(self):
        """The object is another one; the control."""
        self.replace(self.loose(self.other).read_bytes())
        self.assertIn("+import good", self.out("diff", "--cached"))

    def question(self, number, script, **arguments):
        """All that is said for a commit when the script runs before this child (0: each one)."""
        def program(name, text):
            path = self.write(name, f"#!/bin/sh\n{text}\n", self.base)
            path.chmod(0o755)
            return path

        # Times of files are coarse: what was written for this question has to be older than it, or
        # airlock looks again, and the children have other numbers.
        ready_ns = time.time_ns() + 40_000_000
        while time.time_ns() < ready_ns:
            pass
        swap = program("swap", script)
        airlock = program("airlock", f'exec {STEP} {number}:{swap} {self.airlock} "$@"')
        harness.AIRLOCK = str(airlock)
        # The search for leaks stops threads with ptrace(2), as step does.
        leaks_off = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        terminal = Terminal(self, "git_commit", {"type": "feat", "message": "x"} | arguments,
                            **leaks_off)
        harness.AIRLOCK = self.airlock
        while not terminal.screen.endswith(PROMPT) and terminal.read():
            pass
        return terminal.screen

    def assert_true(self, shown):
        """A question that shows what would be committed, or none; gives whether there is one."""
        self.assertNotIn("+import good", shown)
        if not shown.endswith(PROMPT):
            self.assertIn("has other content than its id says", shown)
            return False
        self.assertIn("+import evil", shown)
        return True

    def children(self):
        """How many there are up to a question."""
        count = self.base / "count"
        self.assert_true(self.question(0, f"echo >>{count}"))
        return len(count.read_text(encoding="ascii"))

    def between(self, back):
        """Forged at the beginning, and put back by a script at one child after the other: the last
        one at which there is a question lies between the two readings."""
        asked = []
        for number in range(1, self.children() + 1):
            self.forge()
            asked.append(self.assert_true(self.question(number, back)))
        self.forge()
        self.assertFalse(self.assert_true(self.question(99, "")))
        return len(asked) - asked[::-1].index(True)

    def test_file(self):
        """a genuine object that is put back, as another file or in the same one, hides nothing"""
        true, path = self.write("true", self.genuine, self.base), self.loose(self.oid)
        number = self.between(f"cp {true} {self.base}/new; mv -f {self.base}/new {path}")
        self.forge()
        self.assertTrue(self.assert_true(self.question(
            number, f"cat {true} >{path}; touch -d 2001-01-01 {path} {path.parent}")))

    def test_directory(self):
        """nor does a directory on the way to it"""
        number = self.children()
        for part in (f".git/objects/{self.oid[:2]}", ".git/objects", ".git"):
            path, true = self.root / part, self.base / "true"
            self.replace(self.genuine)
            harness.shutil.copytree(path, true, symlinks=True)
            self.forge()
            self.assert_true(self.question(
                number, f"mv {path} {self.base}/forged; mv {true} {path}"))
            harness.shutil.rmtree(self.base / "forged")

    def test_nested(self):
        """nor does a whole repository below a root"""
        inner, number = self.root / "in", self.children()
        self.forge()
        harness.shutil.copytree(self.root / ".git", inner / ".git", symlinks=True)
        self.replace(self.genuine)
        harness.shutil.copytree(self.root / ".git", self.base / "true/.git", symlinks=True)
        self.assert_true(self.question(
            number, f"mv {inner} {self.base}/forged; mv {self.base}/true {inner}",
            working_dir="in"))

    def test_pack(self):
        """nor does a pack"""
        number = self.children()
        self.git("pack-objects", "-q", str(self.base / "pack"), stdin=f"{self.oid}\n".encode())
        self.forge()
        self.assertTrue(self.assert_true(self.question(
            number, f"mv {self.base}/pack-* {self.root}/.git/objects/pack/")))

    def test_alternate(self):
        """nor does a store that the repository borrows from"""
        number = self.children()
        self.git("init", "-q", "--bare", "other.git")
        theirs = self.root / "other.git/objects" / self.oid[:2] / self.oid[2:]
        theirs.parent.mkdir()
        self.forge()
        theirs.write_bytes(self.loose(self.oid).read_bytes())
        self.loose(self.oid).unlink()
        self.write(".git/objects/info/alternates", "../../other.git/objects\n")
        self.assertIn("+import good", self.out("diff", "--cached"))
        true = self.write("true", self.genuine, self.base)
        self.assertTrue(self.assert_true(self.question(number, f"cat {true} >{theirs}")))
        self.forge()
        self.assertTrue(self.assert_true(self.question(number, f"rm {self.loose(self.oid)}; "
                                                               f"cat {true} >{theirs}")))

    def test_link(self):
        """what a link leads to is not shown, since it changes without a trace"""
        true = self.write("true", self.genuine)
        self.loose(self.oid).unlink()
        self.loose(self.oid).symlink_to(true)
        self.assertIn("is a link, so that what is shown", self.question(99, ""))

    def test_honest(self):
        """one who adds something meanwhile is in nobody's way, one who never ends is"""
        number = self.children()
        self.write("b.txt", "b\n")
        path = self.loose(self.oid)
        shown = self.question(number, f"cd {self.root} && git add b.txt && touch {path.parent}/x")
        self.assertTrue(self.assert_true(shown))
        self.assertIn("added: b.txt", shown)
        shown = self.question(0, f"chmod 644 {path}")
        self.assertIn("objects keep changing while they are looked at", shown)
        self.assertFalse(shown.endswith(PROMPT))
        self.assertTrue(self.assert_true(self.question(0, "true")))


if __name__ == "__main__":
    harness.main()
