#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bare repository as root: what reads history works, what needs a working tree or changes something
says so, and no directory becomes one that the user has not named."""
import os

import harness


class Bare(harness.Case):
    """`bare` is a bare clone of a repository with two commits."""

    def setUp(self):
        super().setUp()
        work = self.base / "work"
        self.init(work)
        self.commit("dir/b.txt", "needle\n", "second", work)
        self.git("branch", "side", "HEAD~", cwd=work)
        self.git("tag", "v1", cwd=work)
        self.bare = self.base / "bare.git"
        self.git("clone", "-q", "--bare", str(work), str(self.bare))

    def run_in(self, toolset, tool, arguments=None, root=None, **named):
        root = root or self.bare
        return self.call(tool, arguments or {}, "--toolset", toolset, root=root, cwd=root, **named)

    def everything(self):
        return {str(path): path.read_bytes() for path in self.bare.rglob("*") if path.is_file()}

    def test_reading(self):
        """log, show, diff of two revisions, blame at one, search at one, branches, tags"""
        before = self.everything()
        for toolset, tool, arguments, words in (
                ("git", "git_log", {}, "second"),
                ("git", "git_show", {"commit": "HEAD"}, "+needle"),
                ("git", "git_diff", {"from_ref": "HEAD~", "to_ref": "HEAD"}, "+needle"),
                ("git", "git_blame", {"path": "dir/b.txt", "commit": "HEAD"}, "needle"),
                ("git", "git_branch", {}, "side"),
                ("readonly", "Git", {"repo": str(self.bare), "op": "log"}, "second"),
                ("readonly", "Git", {"repo": str(self.bare), "op": "show", "ref": "HEAD"}, "+needle"),
                ("everyday", "git_log", {}, "second"),
                ("everyday", "git_branch", {}, "side"),
                ("everyday", "git_show", {}, "+needle"),
                ("everyday", "git_diff", {"from": "HEAD~", "to": "HEAD"}, "+needle"),
                ("everyday", "git_blame", {"path": "dir/b.txt", "rev": "HEAD"}, "needle"),
                ("everyday", "git_grep", {"pattern": "needle", "rev": "HEAD"}, "dir/b.txt"),
                ("workflow", "git_log", {}, "second")):
            result = self.run_in(toolset, tool, arguments)
            self.assertFalse(result.failed, (toolset, tool, result))
            self.assertIn(words, result.text, (toolset, tool))
        self.assertEqual(self.everything(), before)

    def test_needs_a_working_tree(self):
        """what cannot be answered without a working tree says so in a line, and what to do"""
        for toolset, tool, arguments in (
                ("git", "git_status", {}), ("git", "git_diff", {}), ("git", "git_diff", {"from_ref": "HEAD"}),
                ("everyday", "git_status", {}),
                ("everyday", "git_diff", {}), ("workflow", "git_status", {})):
            result = self.run_in(toolset, tool, arguments)
            self.assertEqual((result.kind, result.error.get("message")),
                             ("ExecutionFailed", f"{tool} needs a working tree here"), (toolset, result))
            self.assertIn("It is a bare repository", result.text)
        result = self.run_in("readonly", "Git", {"repo": str(self.bare), "op": "status"})
        self.assertIn("must be run in a work tree", result.text)

    def test_changes(self):
        """what changes something is refused, whatever the user allows, and changes nothing"""
        before = self.everything()
        for toolset, tool, arguments in (
                ("git", "git_add", {"all": True}), ("git", "git_commit", {"type": "fix", "message": "x"}),
                ("git", "git_branch", {"create": "x"}), ("git", "git_stash", {}),
                ("git", "git_checkout", {"branch": "side"}), ("git", "git_restore", {"paths": ["a.txt"]}),
                ("everyday", "git_branch", {"action": "create", "name": "x"}),
                ("parallel", "git_worktree", {"action": "add", "name": "x"}),
                ("parallel", "git_land", {"branch": "side"})):
            result = self.run_in(toolset, tool, arguments)
            self.assertTrue(result.failed, (toolset, tool, result))
            if result.kind != "BadArgs":
                self.assertIn("A bare repository is only read", result.text, (toolset, tool))
            self.assertEqual(self.everything(), before, (toolset, tool))

    def test_only_the_root(self):
        """a bare repository below a root, a directory in one, and one that became one later are none"""
        above = self.base / "above"
        above.mkdir()
        self.git("clone", "-q", "--bare", str(self.bare), str(above / "bare.git"))
        for root, where in ((above, "bare.git"), (above, "bare.git/refs"), (self.bare, "refs"),
                            (self.bare, "objects")):
            result = self.call("git_log", {"working_dir": where}, root=root, cwd=root)
            self.assertTrue(result.failed, (where, result))
            self.assertIn("Not a git repository", result.text)
        plain = self.base / "plain"
        plain.mkdir()
        server = harness.Server(Place(self, plain))
        self.assertIn("Not a git repository", server.call("git_log").text)
        for name in os.listdir(self.bare):
            os.rename(self.bare / name, plain / name)
        self.assertIn("second", self.out("log", cwd=plain))
        self.assertIn("Not a git repository", server.call("git_log").text)

    def test_not_marked(self):
        """a directory with HEAD, objects and refs that its configuration does not call bare"""
        self.git("config", "core.bare", "false", cwd=self.bare)
        self.assertIn("Not a git repository", self.call("git_log", {}, root=self.bare, cwd=self.bare).text)

    def test_changed_meanwhile(self):
        """a bare root that gets a .git or a commondir while airlock runs is not followed there"""
        server = harness.Server(Place(self, self.bare))
        self.assertIn("second", server.ok("git_log").text)
        other = self.base / "bare.git/inside"
        self.init(other)
        (self.bare / "commondir").write_text("inside/.git\n", encoding="utf-8")
        self.assertIn("Not a git repository", server.call("git_log").text)
        (self.bare / "commondir").unlink()
        self.assertIn("second", server.ok("git_log").text)


class Place:
    """A test case whose root is another directory, for harness.Server."""

    def __init__(self, case, root):
        self.case, self.root = case, root

    def __getattr__(self, name):
        return getattr(self.case, name)


if __name__ == "__main__":
    harness.main()
