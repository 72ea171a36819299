#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Worktrees that are moved aside: hostile repositories and agents lead nothing out of there, put
nothing in, and reach nothing that is there."""
import os
import pathlib
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness
import worktrees

MARK = "airlock-secret-7f3a"


class Hostile(worktrees.Calls):
    """`victim` is a directory outside of the root."""

    def setUp(self):
        super().setUp()
        self.victim = self.base / "victim"
        self.victim.mkdir()
        self.folder = pathlib.Path(self.common) / "airlock/aside"

    def record(self, *fields):
        """An entry that came with the repository: a thing, and a record that says where it goes."""
        entry = self.folder / "7"
        entry.mkdir(parents=True, exist_ok=True)
        (entry / "0").write_text(MARK, encoding="utf-8")
        (entry / "record").write_text("".join(f"{key} {value}\0" for key, value in fields),
                                      encoding="utf-8")

    def test_forged_record(self):
        """a record that came with the repository moves nothing out of it; the control is inside"""
        inside = self.root / "from-the-record"
        for place in (self.victim / "x", f"{self.root}/../victim/x", self.home / ".config/autostart"):
            self.record(("item", str(place)))
            self.ok("git_worktree", {"action": "list"}, *worktrees.TOOLSET)
            self.command("rollback")
            self.assertFalse(os.path.lexists(place), place)
        self.record(("item", str(inside)))
        self.ok("git_worktree", {"action": "list"}, *worktrees.TOOLSET)
        self.assertTrue(inside.exists(), "the control is silent")

    def test_forged_hidden_folder(self):
        """a folder that a record calls its hidden one is neither believed nor removed"""
        hidden = self.victim / ".airlock-aside-7"
        hidden.mkdir()
        (hidden / "1").write_text(MARK, encoding="utf-8")
        (hidden / ".gitignore").write_text("*\n", encoding="utf-8")
        self.record(("beside", str(self.victim)), ("gone", ""))
        self.ok("git_worktree", {"action": "list"}, *worktrees.TOOLSET)
        self.assertEqual(sorted(os.listdir(hidden)), [".gitignore", "1"])

    def test_links(self):
        """a link in place of the folders: the removal fails, and the worktree stays as it was"""
        self.good("add", "x")
        before = self.whole("x")
        for link in (self.folder, self.folder.parent):
            shutil.rmtree(self.folder.parent, ignore_errors=True)
            link.parent.mkdir(exist_ok=True)
            os.symlink(self.victim, link)
            (link / "control").mkdir()
            self.assertTrue((self.victim / "control").exists(), "the control is silent")
            self.bad("cannot make a folder in airlock/aside", "remove", "x")
            self.assertEqual(os.listdir(self.victim), ["control"])
            self.assertEqual(self.whole("x"), before)
            (self.victim / "control").rmdir()
            link.unlink()

    def test_agents_paths(self):
        """no tool of an agent takes a path below a hidden folder, nor one below the aside folder"""
        self.good("add", "x")
        self.write("secret.txt", MARK + "\n", self.dir / "x")
        self.git("add", "secret.txt", cwd=self.dir / "x")
        self.good("remove", "x")
        hidden = self.root / "sub/.airlock-aside-1"
        hidden.parent.mkdir()
        shutil.copytree(self.aside()[0] / "0", hidden / "0")
        (hidden / ".gitignore").write_text("*\n", encoding="utf-8")
        top = os.path.relpath(self.aside()[0] / "0", self.root)
        for place in ("sub/.airlock-aside-1/0", "SUB/../sub/.Airlock-aside-1/0", top):
            for tool, arguments in (("git_add", {"paths": [place + "/secret.txt"]}),
                                    ("git_status", {"working_dir": place}),
                                    ("git_diff", {"paths": [place]})):
                result = self.call(tool, arguments, approval="allow")
                self.assertNotIn(MARK, result.text, (tool, place))
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        control = self.root / "sub/aside"
        shutil.copytree(self.aside()[0] / "0", control)
        (control / ".git").unlink()
        self.ok("git_add", {"paths": ["sub/aside/secret.txt"]})
        self.assertIn("secret.txt", self.out("diff", "--cached", "--name-only"), "the control is silent")

    def test_session_in_it(self):
        """a session whose root is the worktree reaches nothing of it when it is aside"""
        self.good("add", "x")
        place = self.dir / "x"
        self.write("secret.txt", MARK + "\n", place)
        server = harness.Server(worktrees.Place(self, place))
        self.assertIn("secret.txt", server.call("git_status").text)
        self.good("remove", "x")
        for tool, arguments in (("git_status", {}), ("git_diff", {}), ("git_add", {"paths": ["secret.txt"]})):
            result = server.call(tool, arguments)
            self.assertTrue(result.failed, result)
        self.rollback()
        self.assertIn("?? secret.txt", self.out("status", "--porcelain", cwd=place))


if __name__ == "__main__":
    harness.main()
