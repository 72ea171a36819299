#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bare repository as root: what reads history works, what needs a working tree or changes something
says so; a root does not become one."""
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

    def everything(self, where=None):
        return {str(path): path.read_bytes() for path in (where or self.bare).rglob("*") if path.is_file()}

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
        """one below a root is read like a root; a directory in one, one below a working tree, and a
        root that became one later are none"""
        above = self.base / "above"
        above.mkdir()
        self.git("clone", "-q", "--bare", str(self.bare), str(above / "bare.git"))
        before = self.everything(above)
        given = {"working_dir": "bare.git"}
        self.assertIn("second", self.ok("git_log", given, root=above, cwd=above).text)
        for tool, arguments in (("git_commit", {"type": "fix", "message": "x"}), ("git_branch", {"create": "x"})):
            result = self.call(tool, {**given, **arguments}, root=above, cwd=above)
            self.assertIn("A bare repository is only read", result.text)
        self.assertEqual(self.everything(above), before)
        self.init(above / "tree")
        self.git("clone", "-q", "--bare", str(self.bare), str(above / "tree/bare.git"))
        self.assertNotIn("second", self.ok("git_log", {"working_dir": "tree/bare.git"}, root=above, cwd=above).text)
        for root, where in ((above, "bare.git/refs"), (self.bare, "refs"), (self.bare, "objects")):
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


class Layouts(harness.Case):
    """Where `.git` leads to a repository that has no working tree, or another one."""

    def setUp(self):
        super().setUp()
        self.seed = self.base / "seed"
        self.init(self.seed)
        self.commit("a.txt", "two\n", "two", self.seed)
        self.project = self.base / "project"
        self.project.mkdir()

    def everything(self, top):
        return {str(path): path.read_bytes() for path in top.rglob("*") if path.is_file()}

    def run_in(self, where, toolset, tool, arguments=None):
        return self.call(tool, arguments or {}, "--toolset", toolset, root=where, cwd=where)

    def assert_no_work_tree(self, top):
        """git has no working tree here, so no call sees or writes one; history is read."""
        self.assertIn(b"must be run in a work tree",
                      self.git("status", cwd=top, check=False).stderr)
        before = self.everything(top)
        for toolset, tool, arguments in (
                ("git", "git_status", {}), ("everyday", "git_status", {}), ("everyday", "git_diff", {}),
                ("git", "git_add", {"all": True}), ("everyday", "git_add", {"all": True}),
                ("everyday", "git_commit", {"message": "x", "all": True}),
                ("workflow", "git_commit", {"message": "x", "all": True}),
                ("everyday", "git_stash", {"action": "push", "include_untracked": True}),
                ("everyday", "git_restore", {"paths": ["a.txt"]}),
                ("everyday", "git_reset", {"mode": "hard", "to": "HEAD"})):
            result = self.run_in(top, toolset, tool, arguments)
            self.assertTrue(result.failed, (tool, result))
            if result.kind != "BadArgs":
                self.assertIn("core.bare is set", result.text)
            self.assertEqual(self.everything(top), before, tool)
        for toolset, tool, arguments, words in (
                ("everyday", "git_log", {}, "two"), ("everyday", "git_show", {}, "+two"),
                ("git", "git_blame", {"path": "a.txt", "commit": "HEAD"}, "two")):
            self.assertIn(words, self.run_in(top, toolset, tool, arguments).text)

    def test_project(self):
        """a project's directory with a bare repository, and `.git` as file, link and directory"""
        self.git("clone", "-q", "--bare", str(self.seed), ".bare", cwd=self.project)
        (self.project / "sub").mkdir()
        (self.project / ".git").write_text("gitdir: ./.bare\n")
        self.assert_no_work_tree(self.project)
        result = self.run_in(self.project, "everyday", "git_commit",
                             {"message": "x", "all": True, "working_dir": "sub"})
        self.assertIn("core.bare is set", result.text)
        (self.project / ".git").unlink()
        (self.project / ".git").symlink_to(".bare")
        self.assert_no_work_tree(self.project)
        (self.project / ".git").unlink()
        (self.project / ".bare").rename(self.project / ".git")
        self.assert_no_work_tree(self.project)

    def test_switched_on(self):
        """core.bare in an ordinary repository, in its configuration or in config.worktree"""
        self.git("config", "core.bare", "true", cwd=self.seed)
        self.assert_no_work_tree(self.seed)
        self.git("config", "core.bare", "false", cwd=self.seed)
        self.assertFalse(self.run_in(self.seed, "everyday", "git_status").failed)
        self.git("config", "extensions.worktreeConfig", "true", cwd=self.seed)
        self.git("config", "--worktree", "core.bare", "true", cwd=self.seed)
        self.assert_no_work_tree(self.seed)

    def test_meanwhile(self):
        """core.bare that is set while airlock runs"""
        server = harness.Server(Place(self, self.seed))
        self.assertFalse(server.call("git_status").failed)
        self.git("config", "core.bare", "true", cwd=self.seed)
        self.assertIn("core.bare is set", server.call("git_status").text)
        self.git("config", "core.bare", "false", cwd=self.seed)
        self.assertFalse(server.call("git_status").failed)

    def test_linked(self):
        """a linked worktree of a bare repository is a working tree; new ones go beside it"""
        self.git("clone", "-q", "--bare", str(self.seed), ".bare", cwd=self.project)
        (self.project / ".git").write_text("gitdir: ./.bare\n")
        self.git("worktree", "add", "-q", "main", "main", cwd=self.project)
        main = self.project / "main"
        (main / "new").write_text("new\n")
        self.assertFalse(self.run_in(main, "everyday", "git_commit", {"message": "m", "all": True}).failed)
        self.assertEqual(self.out("show", "main:new", cwd=self.project), "new\n")
        before = sorted(os.listdir(self.project / ".bare"))
        result = self.run_in(main, "everyday", "git_worktree", {"action": "add", "name": "next"})
        self.assertFalse(result.failed, result)
        added = self.project / ".worktrees/next"
        self.assertEqual((added / "new").read_text(), "new\n")
        self.assertEqual(sorted(set(os.listdir(self.project / ".bare")) - set(before) - {"refs", "logs"}), [])
        self.assertEqual(self.out("status", "--porcelain", cwd=added), "")
        self.assertIn("next", self.run_in(main, "everyday", "git_worktree").text)
        self.assertFalse(self.run_in(main, "everyday", "git_worktree",
                                     {"action": "remove", "name": "next"}).failed)

    def test_other_work_tree(self):
        """core.worktree: here, it is a working tree; elsewhere, the files here are not the repository's"""
        self.git("config", "core.worktree", str(self.seed), cwd=self.seed)
        self.assertFalse(self.run_in(self.seed, "everyday", "git_status").failed)
        self.git("config", "core.worktree", "..", cwd=self.seed)
        self.assertFalse(self.run_in(self.seed, "everyday", "git_status").failed)
        (self.seed / "b").write_text("b\n")
        (self.project / "c").write_text("c\n")
        self.git("config", "core.worktree", str(self.project), cwd=self.seed)
        self.assertIn("?? ../project/c", self.out("status", "--porcelain", cwd=self.project,
                                                  GIT_DIR=str(self.seed / ".git")).replace("?? c", "?? ../project/c"))
        before = self.everything(self.seed)
        for tool, arguments in (("git_status", {}), ("git_commit", {"message": "x", "all": True}),
                                ("git_add", {"all": True})):
            result = self.run_in(self.seed, "everyday", tool, arguments)
            self.assertIn("core.worktree", result.text)
            self.assertTrue(result.failed)
        self.assertEqual(self.everything(self.seed), before)


class Place:
    """A test case whose root is another directory, for harness.Server."""

    def __init__(self, case, root):
        self.case, self.root = case, root

    def __getattr__(self, name):
        return getattr(self.case, name)


if __name__ == "__main__":
    harness.main()
