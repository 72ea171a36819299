#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The list of commits that a question shows: files of the repository hide none of them.

Three files can: an object that is another one, a commit-graph that tells other parents, and a
shallow boundary.  The control is plain git, which does not list the commit.
"""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # pylint: disable=wrong-import-position
from test_robust_terminal import PROMPT, Terminal  # pylint: disable=wrong-import-position

EVIL = "feat: evil"


class Hidden(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("a.txt", "a\n", "base")
        self.git("checkout", "-q", "-b", "topic")
        self.commit("evil.txt", "evil\n", EVIL)
        self.commit("more.txt", "more\n", "feat: more")
        self.commit("good.txt", "good\n", "feat: good")
        self.git("checkout", "-q", "main")

    def other(self):
        """A remote to push to."""
        self.git("init", "-q", "--bare", str(self.root / "there.git"))
        self.git("remote", "add", "there", str(self.root / "there.git"))

    def question(self, tool, arguments):
        """What is asked."""
        config = self.write("ask.toml", f'[[tools.approval.rule]]\ntool = "{tool}"\n'
                            'decision = "ask"\n', self.base)
        terminal = Terminal(self, tool, arguments, "--config", str(config), "--toolset",
                            "workflow")
        while not terminal.screen.endswith(PROMPT) and terminal.read():
            pass
        return terminal.screen

    QUESTIONS = (("git_merge", {"branch": "topic"}),
                 ("git_push", {"remote": "there", "branch": "topic"}),
                 ("git_branch", {"action": "delete", "name": "topic", "force": True}))

    def assert_shown(self, *words):
        """Each question about the branch shows these words."""
        self.other()
        for tool, arguments in self.QUESTIONS:
            screen = self.question(tool, arguments)
            for word in words:
                self.assertIn(word, screen, tool)

    def graph(self):
        """A commit-graph in which the branch begins with its last commit but one (what is named is
        not looked up in it)."""
        self.git("commit-graph", "write", "--reachable")
        path = self.root / ".git/objects/info/commit-graph"
        data = bytearray(path.read_bytes())
        chunks = {}
        for at in range(8, 8 + 12 * (data[6] + 1), 12):
            name, offset = struct.unpack(">4sQ", data[at:at + 12])
            chunks[name] = offset
        ids = [bytes(data[chunks[b"OIDL"] + 20 * n:chunks[b"OIDL"] + 20 * (n + 1)]).hex()
               for n in range((chunks[b"CDAT"] - chunks[b"OIDL"]) // 20)]
        place = {name: ids.index(self.out("rev-parse", name).strip()) for name in ("main", "topic^")}
        parent = chunks[b"CDAT"] + 36 * place["topic^"] + 20
        data[parent:parent + 4] = struct.pack(">I", place["main"])
        path.chmod(0o644)
        path.write_bytes(data)

    def test_shown(self):
        """all commits are listed where nothing is hidden"""
        self.assertIn(EVIL, self.out("log", "--format=%s", "main..topic"))
        self.assert_shown(EVIL, "feat: good")

    def test_commit_graph(self):
        """a commit-graph that tells other parents hides nothing"""
        self.graph()
        self.assertNotIn(EVIL, self.out("log", "--format=%s", "main..topic"))
        self.assert_shown(EVIL, "feat: good")

    def test_forged(self):
        """a commit that is another one is named, and nobody is asked"""
        oid = self.out("rev-parse", "topic^^").strip()
        self.git("checkout", "-q", "topic")
        self.git("commit", "-q", "--allow-empty", "-m", "feat: harmless")
        harmless = self.out("rev-parse", "HEAD").strip()
        self.git("reset", "-q", "--hard", "HEAD^")
        self.git("checkout", "-q", "main")
        path, there = (self.root / ".git/objects" / name[:2] / name[2:] for name in (oid, harmless))
        path.chmod(0o644)
        path.write_bytes(there.read_bytes())
        self.assertIn("feat: harmless", self.out("log", "--format=%s", "topic"))
        self.other()
        for tool, arguments in self.QUESTIONS:
            screen = self.question(tool, arguments)
            self.assertNotIn("harmless", screen, tool)
            self.assertIn(oid, screen, tool)

    def forge(self, name, like, parent):
        """The commit `name` becomes a copy of `like` with this parent."""
        oid = self.out("rev-parse", name).strip()
        text = self.out("cat-file", "commit", like)
        lines = [line for line in text.split("\n") if not line.startswith("parent ")]
        lines.insert(1, "parent " + self.out("rev-parse", parent).strip())
        other = self.out("hash-object", "-t", "commit", "-w", "--stdin",
                         stdin="\n".join(lines).encode()).strip()
        path, there = (self.root / ".git/objects" / name[:2] / name[2:] for name in (oid, other))
        path.chmod(0o644)
        path.write_bytes(there.read_bytes())
        return oid

    def test_forged_on_the_other_side(self):
        """a forged ancestor of what is excluded excludes nothing"""
        self.commit("b.txt", "b\n", "later")
        oid = self.forge("main^", "main^", "topic^^")  # the base has a commit of the branch
        self.assertNotIn(EVIL, self.out("log", "--format=%s", "main..topic"))
        for tool, arguments in self.QUESTIONS[::2]:
            screen = self.question(tool, arguments)
            self.assertIn(oid, screen, tool)
            self.assertNotIn("Merged", screen, tool)

    def test_forged_to_be_merged(self):
        """a merge that seems to bring nothing in is asked about, or refused"""
        self.commit("b.txt", "b\n", "later")
        oid = self.forge("main^", "main^", "topic")
        self.assertEqual(self.out("log", "--format=%s", "main..topic"), "")
        self.assertIn(oid, self.question("git_merge", {"branch": "topic"}))

    def test_shallow(self):
        """a shallow boundary is said"""
        self.write(".git/shallow", self.out("rev-parse", "topic"))
        self.assertNotIn(EVIL, self.out("log", "--format=%s", "main..topic"))
        self.other()
        for tool, arguments in self.QUESTIONS[1:]:
            self.assertIn("commits beyond its boundary are not listed",
                          self.question(tool, arguments), tool)

    def test_not_shallow(self):
        """no boundary is said where there is none"""
        self.other()
        for tool, arguments in self.QUESTIONS:
            self.assertNotIn("boundary", self.question(tool, arguments), tool)


if __name__ == "__main__":
    harness.main()
