#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_commit of a part, while others stage and commit at each of its steps.

Run as `test_commit_meanwhile.py AIRLOCK STEP`; STEP is the program of step.c, which runs another one
before each git that airlock starts.
"""
import json
import os
import shutil
import subprocess
import sys

STEP = os.path.abspath(sys.argv.pop(2))

import everyday  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position
from everyday import LINES, text_with  # pylint: disable=wrong-import-position

# What others do.  Each leaves its words in the file `did` when git has let it.
OTHERS = {
    "stages": "git add b && echo staged >did",
    "commits": "git commit -q -m other -- c && echo committed >did",
    "commits what is staged": "git add c && git commit -q -m other && echo committed >did",
    "moves the branch alone": """
        tree=$(GIT_INDEX_FILE=.git/other sh -c 'git read-tree HEAD && git add c && git write-tree')
        new=$(echo other | git commit-tree -p HEAD $tree)
        git update-ref HEAD $new HEAD && git reset -q -- c && echo committed >did""",
}


class Meanwhile(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f.txt", "".join(LINES), "base")
        self.commit("c", "old\n", "c")
        self.write(".git/info/exclude", "/did\n/other.sh\n")
        self.write("f.txt", text_with(at3="a", at30="d"))
        self.write("b", "b\n")
        self.write("c", "new\n")
        self.kept = self.base / "kept"
        shutil.copytree(self.root, self.kept)

    def step(self, number, arguments, script):
        """git_commit, while another program runs before its NUMBER-th git."""
        shutil.rmtree(self.root)
        shutil.copytree(self.kept, self.root)
        self.git("update-index", "-q", "--refresh", check=False)
        program = self.base / "other.sh"
        program.write_text(f"#!/bin/sh\ncd {self.root} || exit\ntouch ran\n{script}\n")
        program.chmod(0o755)
        self.write(".git/info/exclude", "/did\n/ran\n")
        return subprocess.run(
            [STEP, f"{number}:{program}", harness.AIRLOCK, "call", "--json", "--root", str(self.root),
             "--toolset", "everyday", "--approval", "allow", "git_commit", json.dumps(arguments)],
            cwd=self.root, env=self.env | {"ASAN_OPTIONS": "detect_leaks=0"}, check=False,
            stdin=subprocess.DEVNULL, capture_output=True, timeout=harness.WATCHDOG_SECONDS)

    def check(self, done, wanted, amend):
        """Nothing that another one did is lost, and the commit has what it was to have."""
        did = (self.root / "did").read_text().strip() if (self.root / "did").exists() else ""
        subjects = self.out("log", "--format=%s").split("\n")
        result = json.loads(done.stdout.splitlines()[-1])
        if did == "committed":
            self.assertEqual(self.out("show", "HEAD:c"), "new\n")
            if amend and "other" not in subjects:  # it was there when the call looked first
                other = self.out("log", "-g", "--format=%h", "--abbrev=8", "--grep=^other$").split()[0]
                self.assertIn(f"Amended {other}: ", result["content"][0]["text"])
            else:
                self.assertIn("other", subjects)
            self.assertEqual(self.out("status", "--porcelain", "--", "c"), "")
        if did == "staged":
            staged = self.out("diff", "--cached", "--name-only").split()
            self.assertTrue("b" in staged or self.out("ls-tree", "HEAD", "b"), staged)
        if done.returncode:
            self.assertTrue(result["isError"], result)
            self.assertNotIn("ours", subjects)
            self.assertEqual(self.out("show", "HEAD:f.txt"), "".join(LINES))
            return False
        self.assertEqual(subjects[0] if subjects[0] != "other" else subjects[1], "ours", done)
        ours = "HEAD" if subjects[0] == "ours" else "HEAD^"
        self.assertEqual(self.out("show", f"{ours}:f.txt"), wanted)
        changed = self.out("show", "--format=", "--name-only", ours).split()
        self.assertLessEqual(set(changed), {"f.txt", "b", "c"} if amend is None else
                             {"f.txt", "c"} if amend else {"f.txt"})
        self.assertEqual(self.out("status", "--porcelain", "--", "c") in ("", " M c\n"), True)
        self.assertFalse((self.root / ".git/index.lock").exists())
        return True

    def assert_safe(self, arguments, wanted, amend=False, others=None):
        """Try each of the others at each step, or at the first and at every other one."""
        stride = 1 if harness.EVERY_STEP else 2
        for turn, (what, script) in enumerate((others or OTHERS).items()):
            done, number = set(), 1
            while True:
                harness.signal.alarm(harness.WATCHDOG_SECONDS)
                result = self.step(number, arguments, script)
                if not (self.root / "ran").exists():
                    break
                with self.subTest(what, number=number):
                    done.add(self.check(result, wanted, amend))
                number += stride if number > 1 else 1 + turn % stride
            self.assertGreater(number, 3)
            self.assertIn(True, done, what)

    def hunk(self):
        """The id of the first one."""
        text = self.call("git_restore", {"hunks": ["00000000"]}).text
        return text.partition("f.txt: ")[2][:8]

    def test_control(self):
        """an index that is copied, changed and put back loses what was staged meanwhile"""
        index = self.root / ".git/index"
        copy = self.base / "copy"
        shutil.copy(index, copy)
        self.git("add", "f.txt", GIT_INDEX_FILE=str(copy))
        self.git("add", "b")
        os.replace(copy, index)
        self.assertEqual(self.out("diff", "--cached", "--name-only").split(), ["f.txt"])

    def test_paths(self):
        """git_commit of paths"""
        self.assert_safe({"message": "ours", "paths": ["f.txt"]}, text_with(at3="a", at30="d"))

    def test_odd_branch(self):
        """git_commit on a branch whose name has brackets in it"""
        self.git("branch", "-m", "a]", cwd=self.kept)
        what = "moves the branch alone"
        self.assert_safe({"message": "ours", "paths": ["f.txt"]}, text_with(at3="a", at30="d"),
                         others={what: OTHERS[what]})

    def test_hunks(self):
        """git_commit of hunks"""
        self.assert_safe({"message": "ours", "hunks": [self.hunk()]}, text_with(at3="a"))

    def test_all(self):
        """git_commit of everything"""
        self.assert_safe({"message": "ours", "all": True}, text_with(at3="a", at30="d"), None)

    def test_amend(self):
        """git_commit that amends with paths"""
        self.assert_safe({"message": "ours", "amend": True, "paths": ["f.txt"]},
                         text_with(at3="a", at30="d"), True)


class Kinds(everyday.Case):
    """Commits that are made of a copy of the index are those that git makes."""

    def twin(self, *words, **named):
        """The same by plain git in a copy, and what its log of HEAD says."""
        copy = self.base / "twin"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(self.root, copy)
        self.git(*words, cwd=copy, **named)
        return self.state(copy)

    def state(self, where):
        inside = where / ".git"
        return [self.out("log", "-1", "--format=%T %P %an %ae %s%n%b", cwd=where),
                self.out("log", "-g", "-1", "--format=%gs", cwd=where),
                self.out("log", "-g", "-1", "--format=%gs", "@{0}", cwd=where),
                self.out("status", "--porcelain", "--branch", cwd=where),
                sorted(path.name for path in inside.iterdir() if path.name.isupper())]

    def assert_same(self, arguments, *words):
        expected = self.twin(*words)
        self.says("git_commit", arguments)
        self.assertEqual(self.state(self.root), expected)

    def test_first(self):
        """the first commit of a branch"""
        self.init()
        self.git("checkout", "-q", "--orphan", "empty")
        self.write("a", "a\n")
        self.git("add", "a")
        self.assert_same({"message": "first\n\nbody  \n\n\n# kept\n"}, "commit", "-q",
                         "--cleanup=whitespace", "-m", "first\n\nbody  \n\n\n# kept\n")

    def test_amend(self):
        """an amend keeps author and message"""
        self.init()
        self.commit("a", "a\n", "one")
        self.git("commit", "-q", "--amend", "--no-edit", "--author", "Jo <jo@x>")
        self.write("a", "b\n")
        self.git("add", "a")
        self.assert_same({"amend": True}, "commit", "-q", "--amend", "--no-edit")

    def test_merge(self):
        """a merge: its parents, and nothing of it is left"""
        self.collide("ours\n", "theirs\n", "base\n")
        self.write("f.txt", "both\n")
        self.git("add", "f.txt")
        self.assert_same({"message": "merged"}, "commit", "-q", "-m", "merged")

    def test_merge_all(self):
        """a merge whose commit takes everything"""
        self.collide("ours\n", "theirs\n", "base\n")
        self.write("f.txt", "both\n")
        self.git("add", "f.txt")
        self.write("more", "m\n")
        copy = self.twin("-c", "alias.x=!git add -A && git commit -q -m merged", "x")
        self.says("git_commit", {"message": "merged", "all": True})
        self.assertEqual(self.state(self.root), copy)

    def test_squash(self):
        """what `git merge --squash` left for the message goes"""
        self.fork("ours\n", "theirs\n", "base\n", "g")
        self.git("checkout", "-q", "-B", "main", "topic^")
        self.git("merge", "-q", "--squash", "topic")
        self.assertTrue((self.root / ".git/SQUASH_MSG").exists())
        self.assert_same({"message": "squashed"}, "commit", "-q", "-m", "squashed")

    def test_split_index(self):
        """a split index, and a configuration of the working tree's own"""
        self.init()
        self.commit("a", "a\n", "one")
        self.git("config", "extensions.worktreeConfig", "true")
        self.git("config", "--worktree", "user.name", "Of This Tree")
        self.git("config", "core.splitIndex", "true")
        self.git("config", "splitIndex.maxPercentChange", "100")
        self.git("update-index", "--split-index")
        for arguments in ({"paths": ["b"]}, {"all": True}, {}):
            self.write("b", f"{arguments}\n")
            if not arguments:
                self.git("add", "b")
            self.says("git_commit", {"message": "m", **arguments})
            self.assertEqual(self.out("status", "--porcelain"), "")
            self.assertEqual(self.out("log", "-1", "--format=%an").strip(), "Of This Tree")
        self.git("fsck")

    def test_linked(self):
        """a linked worktree: its own HEAD moves, with a branch and without"""
        self.init()
        self.commit("a", "a\n", "one")
        linked = self.base / "linked"
        self.git("worktree", "add", "-q", "--detach", str(linked))
        (linked / "b").write_text("b\n")
        before = self.out("rev-parse", "HEAD")
        self.says("git_commit", {"message": "m", "all": True}, root=linked, cwd=linked)
        self.assertEqual(self.out("log", "--format=%s", cwd=linked).split(), ["m", "one", "first"])
        self.assertEqual(self.out("rev-parse", "HEAD"), before)
        self.assertEqual(self.out("status", "--porcelain", "--branch", cwd=linked),
                         "## HEAD (no branch)\n")


if __name__ == "__main__":
    harness.main()
