#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hostile repositories to pull from: no program of theirs runs, nothing forged is taken for what it
says it is, and nothing is written outside the sandbox.

Each attack is shown to work on plain git first, where plain git has something to attack.
"""
import os
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # pylint: disable=wrong-import-position
import pulling  # pylint: disable=wrong-import-position

LINES = [f"{i}\n" for i in range(9)]


class Hostile:
    """With either backend."""

    def setUp(self):
        super().setUp()
        self.fired = self.base / "fired"
        self.outside = self.base / "outside"
        self.outside.mkdir()
        (self.outside / "victim").write_text("precious\n", encoding="utf-8")

    def canary(self, then="cat"):
        """A command that leaves a trace."""
        return f"sh -c ': > {self.fired}; {then}'"

    def head(self, what="HEAD"):
        return self.out("rev-parse", what, cwd=self.proj).strip()

    def plant_tree(self, entries):
        """Commit a tree of these (mode, name, id), whatever they are, and point main at it."""
        raw = b"".join(f"{mode} ".encode() + name + b"\0" + bytes.fromhex(oid)
                       for mode, name, oid in entries)
        tree = subprocess.run(["git", "hash-object", "-t", "tree", "-w", "--literally", "--stdin"],
                              cwd=self.proj, env=self.env, input=raw, capture_output=True,
                              check=True).stdout.decode().strip()
        commit = self.out("commit-tree", tree, "-m", "x", cwd=self.proj).strip()
        self.git("update-ref", "refs/heads/main", commit, cwd=self.proj)

    def blob(self, content):
        """Write a blob; gives its id."""
        return subprocess.run(["git", "hash-object", "-w", "--stdin"], cwd=self.proj, env=self.env,
                              input=content, capture_output=True, check=True).stdout.decode().strip()

    def forge(self, oid, kind, content):
        """Another content in the place of a loose object."""
        path = self.proj / ".git/objects" / oid[:2] / oid[2:]
        path.unlink()
        path.write_bytes(zlib.compress(f"{kind} {len(content)}\0".encode() + content))

    def refused(self, server, words):
        """A pull of everything that fails, and leaves nothing."""
        result = server.call("git_pull", {"source": self.source, "paths": ["."]})
        self.assertEqual(result.kind, "ExecutionFailed", result)
        self.assertIn(words, result.text)
        self.assertEqual(self.files(server), [])
        self.assertEqual(self.unstaged(server), {})

    def test_programs(self):
        """a merge driver, a filter, textconv, hooks and fsmonitor do not run"""
        self.upstream({"a.txt": "".join(LINES)})
        server = self.server()
        self.pull(server, "a.txt")
        self.put(server, "a.txt", "".join(["ours\n", *LINES[1:]]))
        self.upstream({"a.txt": "".join([*LINES[:8], "theirs\n"]),
                       ".gitattributes": "* merge=evil filter=evil diff=evil\n"})
        for key, then in (("merge.evil.driver", "true"), ("filter.evil.smudge", "cat"),
                          ("filter.evil.clean", "cat"), ("diff.evil.textconv", "cat"),
                          ("core.fsmonitor", "true"), ("core.pager", "cat")):
            self.git("config", key, self.canary(then), cwd=self.proj)
        for hook in ("post-checkout", "post-merge", "reference-transaction"):
            path = self.proj / ".git/hooks" / hook
            path.parent.mkdir(exist_ok=True)
            path.write_text(f"#!/bin/sh\n: > {self.fired}\n", encoding="utf-8")
            path.chmod(0o755)
        self.git("checkout", "-q", "-f", "-b", "side", "HEAD~1", cwd=self.proj)
        self.git("commit", "-q", "--allow-empty", "-m", "x", cwd=self.proj)
        self.git("merge", "-q", "main", cwd=self.proj, check=False)
        self.assertTrue(self.fired.exists(), "no attack")
        self.fired.unlink()
        pulled, conflicts, _ = self.pull(server, ".", source={**self.source, "branch": "main"})
        self.assertEqual((pulled, conflicts), ([".gitattributes", "a.txt"], []))
        self.assertEqual(self.text(server, "a.txt"), "".join(["ours\n", *LINES[1:8], "theirs\n"]))
        server.ok("git_branches", {"target": self.source})
        self.assertFalse(self.fired.exists())

    def test_attributes_of_the_store(self):
        """an agent's own .gitattributes in the sandbox chooses no driver either"""
        self.upstream({"a.txt": "x\n"})
        server = self.server()
        self.pull(server, "a.txt")
        self.put(server, ".gitattributes", "* merge=ours -text conflict-marker-size=3\n")
        self.put(server, "a.txt", "ours\n")
        self.upstream({"a.txt": "theirs\n"})
        self.pull(server, "a.txt")
        self.assertEqual(self.text(server, "a.txt"), "<<<<<<< ours (sandbox)\nours\n=======\n"
                                                     "theirs\n>>>>>>> theirs (incoming)\n")

    def test_forged_blob(self):
        """a blob with other content than its id says is not pulled"""
        self.forge(self.head("HEAD:a.txt"), "blob", b"forged\n")
        self.assertEqual(self.out("show", "HEAD:a.txt", cwd=self.proj), "forged\n", "no attack")
        self.refused(self.server(), "other content than its id says")

    def test_forged_among_many(self):
        """nor is any other of the files"""
        self.upstream({f"d{i:02}/f": f"{i}\n" for i in range(30)})
        self.forge(self.head("HEAD:d15/f"), "blob", b"forged\n")
        self.assertEqual(self.out("show", "HEAD:d15/f", cwd=self.proj), "forged\n", "no attack")
        self.refused(self.server(), "other content than its id says")
        if self.backend == "directory":
            self.assertEqual(list(self.workspace.iterdir()), [])

    def test_forged_size(self):
        """nor is one that is larger than it says, or than the sandbox"""
        self.forge(self.head("HEAD:a.txt"), "blob", b"x" * 100000)
        self.refused(self.server(), "other content than its id says")

    def test_forged_tree(self):
        """a tree that names other files than its id says is not believed"""
        evil = self.blob(b"evil\n")
        self.forge(self.head("HEAD^{tree}"), "tree", b"100644 evil\0" + bytes.fromhex(evil))
        self.refused(self.server(), "")  # plain git notices this one too

    def test_forged_subtree(self):
        """nor is one below it"""
        self.upstream({"dir/a": "a\n"})
        evil = self.blob(b"evil\n")
        self.forge(self.head("HEAD:dir"), "tree", b"100644 evil\0" + bytes.fromhex(evil))
        self.assertIn("dir/evil", self.out("ls-tree", "-r", "--name-only", "HEAD", cwd=self.proj))
        self.refused(self.server(), "other content than its id says")

    def test_forged_commit(self):
        """a commit with another tree than its id says is not believed"""
        commit = self.head()
        text = self.out("cat-file", "commit", commit, cwd=self.proj)
        self.plant_tree([("100644", b"evil", self.blob(b"evil\n"))])
        tree = self.head("HEAD^{tree}")
        self.git("update-ref", "refs/heads/main", commit, cwd=self.proj)
        self.forge(commit, "commit", f"tree {tree}\n".encode() + text.split("\n", 1)[1].encode())
        self.refused(self.server(), "")  # plain git notices this one too

    def test_forged_graph(self):
        """a commit-graph that names another tree is not read"""
        commit, tree = self.head(), self.head("HEAD^{tree}")
        self.git("commit-graph", "write", "--reachable", cwd=self.proj)
        self.plant_tree([("100644", b"evil", self.blob(b"evil\n"))])
        evil = self.head("HEAD^{tree}")
        self.git("update-ref", "refs/heads/main", commit, cwd=self.proj)
        graph = self.proj / ".git/objects/info/commit-graph"
        content = graph.read_bytes()
        self.assertIn(bytes.fromhex(tree), content)
        graph.chmod(0o644)
        graph.write_bytes(content.replace(bytes.fromhex(tree), bytes.fromhex(evil)))
        self.assertEqual(self.out("log", "-1", "--format=%T", cwd=self.proj).strip(), evil,
                         "no attack")
        self.assertEqual(self.pull(self.server(), ".")[0], ["a.txt"])

    def test_replaced(self):
        """refs/replace/ replaces nothing"""
        self.git("replace", self.head("HEAD:a.txt"), self.blob(b"replaced\n"), cwd=self.proj)
        self.assertEqual(self.out("show", "HEAD:a.txt", cwd=self.proj), "replaced\n", "no attack")
        server = self.server()
        self.pull(server, ".")
        self.assertEqual(self.text(server, "a.txt"), "one\n")

    def test_names(self):
        """names that lead elsewhere or into a .git are skipped, and said"""
        good, evil = self.blob(b"good\n"), self.blob(b"evil\n")
        names = (b".git", b".GIT", b"..", b".", b"git~1", b".git ", b".g\xe2\x80\x8cit",
                 b"../victim", b"a/../../victim", b"/etc/x", b"x/.git/config", b"a//b", b"new\nline")
        self.plant_tree(sorted([("100644", name, evil) for name in names] +
                               [("100644", b"good.txt", good)], key=lambda entry: entry[1]))
        listed = subprocess.run(["git", "ls-tree", "-z", "--name-only", "main"], cwd=self.proj,
                                env=self.env, capture_output=True, check=True).stdout
        self.assertIn(b"../victim", listed, "no attack")
        server = self.server()
        pulled, conflicts, notes = self.pull(server, ".")
        self.assertEqual((pulled, conflicts), (["good.txt"], []))
        self.assertEqual(notes.count("a sandbox cannot have a file of this name"), len(names))
        self.assertEqual(self.files(server), ["good.txt"])
        self.assertEqual((self.outside / "victim").read_text(encoding="utf-8"), "precious\n")
        self.assertFalse((self.workspace / ".git").exists())
        self.assertFalse((self.workspace.parent / "victim").exists())

    def test_case(self):
        """names that differ in case are two files"""
        self.upstream({"Read.me": "1\n", "read.me": "2\n", "READ.ME": "3\n"})
        server = self.server()
        self.pull(server, ".")
        self.assertEqual([self.text(server, name) for name in ("Read.me", "read.me", "READ.ME")],
                         ["1\n", "2\n", "3\n"])

    def test_names_twice(self):
        """a tree with two entries of one name is refused"""
        self.plant_tree([("100644", b"a", self.blob(b"1\n")), ("100644", b"a", self.blob(b"2\n"))])
        self.assertEqual(self.out("ls-tree", "--name-only", "main", cwd=self.proj), "a\na\n")
        self.refused(self.server(), "two entries named 'a'")

    def test_file_and_directory(self):
        """a name that is both a file and a directory: only one of them is written"""
        self.upstream({"dir/x": "x\n"})
        self.plant_tree([("100644", b"a", self.blob(b"1\n")),
                         ("40000", b"a", self.head("HEAD:dir"))])
        pulled, conflicts, notes = self.pull(self.server(), ".")
        self.assertEqual((pulled, conflicts), (["a"], ["a/x"]))
        self.assertIn("below a directory", notes)

    def test_links(self):
        """a link and a file below it: nothing is written through the link"""
        link = self.blob(os.fsencode(self.outside))
        self.upstream({"dir/victim": "evil\n"})
        self.plant_tree([("120000", b"a", link), ("40000", b"a", self.head("HEAD:dir"))])
        server = self.server("allow_symlinks = true\n")
        self.assertEqual(self.pull(server, ".")[0:2], (["a"], ["a/victim"]))
        self.assertEqual((self.outside / "victim").read_text(encoding="utf-8"), "precious\n")

    def test_link_in_the_workspace(self):
        """a link that somebody made in the workspace is not followed"""
        self.upstream({"out/victim": "evil\n"})
        server = self.server()
        if self.backend == "directory":
            (self.workspace / "out").symlink_to(self.outside)
            pulled, conflicts, _ = self.pull(server, ".")
            self.assertEqual((pulled, conflicts), (["a.txt"], ["out/victim"]))
        self.assertEqual((self.outside / "victim").read_text(encoding="utf-8"), "precious\n")

    def test_alternates(self):
        """objects from outside the roots are not borrowed"""
        other = self.base / "other"
        self.init(other)
        oid = self.commit("secret", "secret\n", "x", other)
        (self.proj / ".git/objects/info").mkdir(exist_ok=True)
        (self.proj / ".git/objects/info/alternates").write_text(f"{other}/.git/objects\n",
                                                                encoding="utf-8")
        (self.proj / ".git/refs/heads/main").write_text(oid + "\n", encoding="utf-8")
        self.assertEqual(self.out("show", "main:secret", cwd=self.proj), "secret\n", "no attack")
        result = self.server().call("git_pull", {"source": self.source, "paths": ["."]})
        self.assertEqual(result.kind, "SandboxViolation", result)
        self.assertNotIn("other", result.text)

    def test_places(self):
        """a repository outside the roots, however it is named"""
        other = self.base / "other"
        self.init(other)
        (self.root / "hop").symlink_to(other)
        (self.root / "gitfile").mkdir()
        (self.root / "gitfile/.git").write_text(f"gitdir: {other}/.git\n", encoding="utf-8")
        server = self.server()
        for path in (str(other), "hop", "../other", "gitfile"):
            for tool, name in (("git_pull", "source"), ("git_branches", "target")):
                result = server.call(tool, {name: {"type": "local", "path": path},
                                            **({"paths": ["."]} if name == "source" else {})})
                self.assertEqual(result.kind, "SandboxViolation", (path, result))

    def test_branch_file(self):
        """a branch that is a link to a file outside is no branch"""
        (self.outside / "ref").write_text(self.head() + "\n", encoding="utf-8")
        (self.proj / ".git/refs/heads/evil").symlink_to(self.outside / "ref")
        self.assertEqual(self.head("evil"), self.head(), "no attack")
        result = self.server().call("git_pull", {"source": {**self.source, "branch": "evil"},
                                                 "paths": ["."]})
        self.assertTrue(result.failed, result)

    def test_words(self):
        """no word of an agent becomes an option of git"""
        server = self.server()
        for path in ("--output=/tmp/x", "-z", "--", ":(top)a.txt", ":!a.txt", "HEAD:a.txt"):
            result = server.call("git_pull", {"source": self.source, "paths": [path]})
            self.assertEqual((result.kind, result.error["reason"]), ("ExecutionFailed", "not_found"),
                             path)
        for branch in ("-x", "main:a", "main~1", "../main", "HEAD^{tree}", "a b", "main..x"):
            result = server.call("git_pull", {"source": {**self.source, "branch": branch},
                                              "paths": ["."]})
            self.assertEqual(result.kind, "BadArgs", branch)


class InMemory(Hostile, pulling.Pulling):
    backend = "memory"


class InDirectory(Hostile, pulling.Pulling):
    backend = "directory"


del Hostile

if __name__ == "__main__":
    harness.main()
