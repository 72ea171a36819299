#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_merge, which only computes, and git_branches."""
import base64
import random
import subprocess

import harness
import pulling

LABELS = ("-L", "ours (sandbox)", "-L", "base", "-L", "theirs (incoming)")


class Merge(pulling.Pulling):
    def merged(self, server, **contents):
        """git_merge's status and content."""
        result = server.ok("git_merge", {"path": "/workspace/a.txt", **contents})
        value = result.value["structuredContent"]
        self.assertEqual(set(value) - {"encoding"}, {"status", "content"})
        return value["status"], value["content"]

    def git_merges(self, base, ours, theirs):
        """What git merge-file says to the same."""
        names = []
        for name, content in (("ours", ours), ("base", base), ("theirs", theirs)):
            (self.base / name).write_text(content, encoding="utf-8", newline="")
            names.append(str(self.base / name))
        done = subprocess.run(["git", "merge-file", "-p", *LABELS, *names], env=self.env,
                              capture_output=True, check=False)
        return "conflict" if done.returncode else "clean", done.stdout.decode()

    def test_cases(self):
        """one side, both sides, the same change, a conflict, no base, no content"""
        server = self.server()
        for contents, result in (
                (("a\n", "a\n", "b\n"), ("clean", "b\n")),
                (("a\n", "b\n", "a\n"), ("clean", "b\n")),
                (("a\n", "b\n", "b\n"), ("clean", "b\n")),
                (("1\n2\n3\n4\n", "0\n2\n3\n4\n", "1\n2\n3\n5\n"), ("clean", "0\n2\n3\n5\n")),
                (("a\n", "b\n", "c\n"), ("conflict", "<<<<<<< ours (sandbox)\nb\n=======\nc\n"
                                                     ">>>>>>> theirs (incoming)\n")),
                (("", "", ""), ("clean", ""))):
            base, ours, theirs = contents
            self.assertEqual(self.merged(server, base=base, ours=ours, theirs=theirs), result)
        self.assertEqual(self.merged(server, ours="a\n", theirs="a\n"), ("clean", "a\n"))
        self.assertEqual(self.merged(server, ours="a\nx\n", theirs="a\ny\n"),
                         ("conflict", "a\n<<<<<<< ours (sandbox)\nx\n=======\ny\n"
                                      ">>>>>>> theirs (incoming)\n"))
        self.assertEqual(self.files(server), [])

    def test_as_git(self):
        """whatever the lines are, the result is git merge-file's"""
        chance, server = random.Random(7), self.server()
        endings = ("\n", "\n", "\n", "\r\n")

        def change(lines):
            lines = list(lines)
            for _ in range(chance.randint(0, 3)):
                at = chance.randint(0, len(lines))
                lines[at:at + chance.randint(0, 2)] = [chance.choice("abcdef") + chance.choice(endings)
                                                       for _ in range(chance.randint(0, 2))]
            text = "".join(lines)
            return text[:-1] if text and chance.random() < 0.2 else text

        for _ in range(120):
            lines = [chance.choice("abc") + "\n" for _ in range(chance.randint(0, 12))]
            base, ours, theirs = "".join(lines), change(lines), change(lines)
            if chance.random() < 0.2:
                base = ""
                expected = self.git_merges("", ours, theirs)
                self.assertEqual(self.merged(server, ours=ours, theirs=theirs), expected)
            else:
                expected = self.git_merges(base, ours, theirs)
            self.assertEqual(self.merged(server, base=base, ours=ours, theirs=theirs), expected,
                             (base, ours, theirs))

    def test_binary(self):
        """base64 in, base64 out; binary content that both changed is a conflict without markers"""
        server = self.server()

        def encoded(content):
            return base64.b64encode(content).decode()

        def merge(base, ours, theirs):
            return server.ok("git_merge", {
                "path": "logo.png", "encoding": "base64", "base": encoded(base),
                "ours": encoded(ours), "theirs": encoded(theirs)})

        result = merge(b"\0a", b"\0b", b"\0c")
        self.assertEqual(result.value["structuredContent"],
                         {"status": "conflict", "content": encoded(b"\0b"), "encoding": "base64"})
        self.assertIn("binary", result.value["content"][1]["text"])
        result = merge(b"\0a", b"\0a", b"\0c")
        self.assertEqual(result.value["structuredContent"],
                         {"status": "clean", "content": encoded(b"\0c"), "encoding": "base64"})
        result = merge(b"\xff\n", b"\xff\n\xfe\n", b"\xff\n")
        self.assertEqual(result.value["structuredContent"]["content"], encoded(b"\xff\n\xfe\n"))
        self.assertEqual(server.call("git_merge", {"path": "a", "encoding": "base64", "ours": "?",
                                                   "theirs": "?"}).kind, "BadArgs")

    def test_refused(self):
        """paths that no sandbox has, and what is missing"""
        server = self.server()
        for path, kind in (("/etc/passwd", "SandboxViolation"), ("../a", "SandboxViolation"),
                           ("/workspace/.git/config", "SandboxViolation")):
            result = server.call("git_merge", {"path": path, "ours": "a", "theirs": "b"})
            self.assertEqual(result.kind, kind, path)
        for missing in ("path", "ours", "theirs"):
            arguments = {"path": "a", "ours": "a", "theirs": "b"}
            del arguments[missing]
            result = server.call("git_merge", arguments)
            self.assertEqual(result.kind, "BadArgs", missing)
            self.assertIn(f"{missing} is required", result.text)

    def test_leaves_nothing(self):
        """no file of a merge stays in the store, or among the files of the process"""
        server = self.server()
        state = self.home / ".local/state/airlock"
        before = sorted(path.name for path in (state / "run").glob("*/tmp/*"))
        self.merged(server, base="a\n", ours="b\n", theirs="c\n")
        self.assertEqual(list((self.store() / "store.git").glob("tmp_*")), [])
        self.assertEqual(sorted(path.name for path in (state / "run").glob("*/tmp/*")), before)
        self.assertTrue(list((state / "run").glob("*/tmp")))


class Branches(pulling.Pulling):
    def listed(self, server, **target):
        return server.ok("git_branches", {"target": {**self.source, **target}}) \
            .value["structuredContent"]

    def test_branches(self):
        """as git sorts them, with the current one"""
        for name in ("develop", "feature-x", "a/b", "Zoo", "a-b"):
            self.git("branch", name, cwd=self.proj)
        server = self.server()
        expected = self.out("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads",
                            cwd=self.proj).split()
        self.assertEqual(self.listed(server), {"branches": expected, "current": "main"})
        self.git("checkout", "-q", "a/b", cwd=self.proj)
        self.assertEqual(self.listed(server)["current"], "a/b")
        self.git("checkout", "-q", "--detach", cwd=self.proj)
        self.assertEqual(self.listed(server), {"branches": expected})

    def test_empty(self):
        """a repository without a commit has a current branch and no branches"""
        (self.root / "empty").mkdir()
        self.git("init", "-q", "-b", "trunk", cwd=self.root / "empty")
        self.git("init", "-q", "-b", "trunk", "--bare", str(self.root / "bare.git"))
        server = self.server()
        self.assertEqual(self.listed(server, path="empty"), {"branches": [], "current": "trunk"})
        self.assertEqual(self.listed(server, type="local-bare", path="bare.git"),
                         {"branches": [], "current": "trunk"})

    def test_refused(self):
        """no target, no repository, one outside the roots"""
        server = self.server()
        result = server.call("git_branches", {})
        self.assertEqual(result.kind, "BadArgs", result)
        self.assertIn("target is required", result.text)
        for path, kind in ((str(self.base), "SandboxViolation"), ("none", "ExecutionFailed")):
            result = server.call("git_branches", {"target": {"type": "local", "path": path}})
            self.assertEqual(result.kind, kind, result)


if __name__ == "__main__":
    harness.main()
