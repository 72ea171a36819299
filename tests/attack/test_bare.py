#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A bare repository as root, or below one: its configuration, hooks and links run nothing and show
nothing, also when they change while airlock runs."""
import contextlib
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness

MARK = "airlock-secret-7f3a"


class Bare(harness.Case):
    """The root is a bare repository; `secret` lies outside of it."""

    below = ""

    def setUp(self):
        super().setUp()
        work = self.base / "work"
        self.init(work)
        self.commit("a.txt", "two\n", "second", work)
        self.repo = self.root / self.below
        self.where = {"working_dir": self.below or "."}
        if not self.below:
            self.root.rmdir()
        self.git("clone", "-q", "--bare", str(work), str(self.repo), cwd=self.base)
        self.secret, self.fired = self.base / "secret", self.base / "fired"
        self.secret.write_text(MARK + "\n", encoding="utf-8")
        script = self.base / "canary"
        script.write_text(f"#!/bin/sh\ntouch {self.fired}\n", encoding="utf-8")
        script.chmod(0o755)
        self.canary = str(script)

    def arm(self, *settings):
        for key, value in settings:
            self.git("config", key, value, cwd=self.repo)

    def assert_fires(self, *words):
        """The control: plain git runs it."""
        self.git(*words, cwd=self.repo, check=False)
        self.assertTrue(self.fired.exists(), f"the control is silent: {words}")
        self.fired.unlink()

    def harmless(self, server):
        """Every reading call answers, runs nothing and shows nothing from outside."""
        for tool, arguments in (("git_log", {}), ("git_show", {"commit": "HEAD"}), ("git_branch", {}),
                                ("git_diff", {"from_ref": "HEAD~", "to_ref": "HEAD"}),
                                ("git_blame", {"path": "a.txt", "commit": "HEAD"})):
            result = server.call(tool, {**arguments, **self.where})
            self.assertFalse(self.fired.exists(), tool)
            self.assertNotIn(MARK, result.text)
            self.assertFalse(result.failed, (tool, result))

    def test_programs(self):
        """programs that the configuration names, before airlock starts and while it runs"""
        for early in (True, False):
            with contextlib.closing(harness.Server(self)) if not early else contextlib.nullcontext() as server:
                self.arm(("diff.external", self.canary), ("diff.t.textconv", self.canary), ("core.pager", self.canary),
                         ("pager.log", self.canary), ("core.fsmonitor", self.canary), ("gpg.program", self.canary),
                         ("log.showSignature", "true"))
                (self.repo / "info").mkdir(exist_ok=True)
                (self.repo / "info/attributes").write_text("*.txt diff=t\n", encoding="utf-8")
                self.assert_fires("diff", "HEAD~", "HEAD")
                if early:
                    server = harness.Server(self)
                self.harmless(server)
                if early:
                    server.close()

    def test_outside(self):
        """a configuration that includes, and objects that are borrowed from, a place outside"""
        self.arm(("include.path", str(self.secret)))
        with contextlib.closing(harness.Server(self)) as server:
            for tool in ("git_log", "git_branch"):
                self.assertNotIn(MARK, server.call(tool, self.where).text)
        self.git("config", "--unset", "include.path", cwd=self.repo, check=False)
        victim = self.base / "victim"
        self.init(victim)
        self.commit("a.txt", MARK, MARK, victim)
        (self.repo / "objects/info").mkdir(exist_ok=True)
        (self.repo / "objects/info/alternates").write_text(f"{victim}/.git/objects\n", encoding="utf-8")
        result = self.call("git_show", {"commit": self.out("rev-parse", "HEAD", cwd=victim).strip(), **self.where})
        self.assertNotIn(MARK, result.text)
        self.assertTrue(result.failed)

    def test_work_tree(self):
        """one that says in the end that it is none leads git to no files elsewhere"""
        victim = self.base / "victim"
        victim.mkdir()
        (victim / "a.txt").write_text(MARK, encoding="utf-8")
        (self.repo / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n\tbare = false\n"
                                          f"\tworktree = {victim}\n", encoding="utf-8")
        self.git("read-tree", "HEAD", cwd=self.repo)
        self.assertIn(MARK, self.out("diff", cwd=self.repo))
        for tool in ("git_status", "git_diff"):
            result = self.call(tool, self.where)
            self.assertIn("names another one (core.worktree)", result.text)


class Below(Bare):
    """The same below a root."""

    below = "bare.git"


if __name__ == "__main__":
    harness.main()
