#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers say that no commit is signed where the configuration asks for it, or refuse; and
`workflow` says which hooks did not run."""
import harness

ASKED = "No commit made here is signed, although commit.gpgSign asks for it."
SAID = "airlock: not signed, although commit.gpgSign asks for it"
WORKFLOW = ("--toolset", "workflow")
COMMIT = {"type": "feat", "message": "more"}


class Unsigned(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.number = 0

    def stage(self):
        """One more staged change."""
        self.number += 1
        self.write("a.txt", f"{self.number}\n")
        self.git("add", "a.txt")

    def two_branches(self):
        """main and side have each a commit of their own."""
        self.git("checkout", "-q", "-b", "side")
        self.commit("b.txt", "side\n", "side")
        self.git("checkout", "-q", "main")
        self.commit("c.txt", "main\n", "main")

    def stopped_pick(self):
        """A cherry-pick whose conflict is resolved."""
        self.git("checkout", "-q", "-b", "picked", "HEAD~1")
        self.write("c.txt", "other\n")
        self.git("add", "c.txt")
        self.git("commit", "-q", "--no-gpg-sign", "-m", "other")
        self.git("checkout", "-q", "main")
        self.git("cherry-pick", "--no-gpg-sign", "picked", check=False)
        self.write("c.txt", "both\n")
        self.git("add", "c.txt")

    def origin(self):
        """A remote that has one commit more, and one here."""
        self.git("init", "-q", "--bare", "origin.git")
        self.git("remote", "add", "origin", str(self.root / "origin.git"))
        self.git("push", "-q", "origin", "side:main")
        self.write(".git/info/exclude", "origin.git\n")

    def every(self):
        """The result of each way to make a commit, all of it."""
        results = []
        for tool, arguments, options in (("git_commit", COMMIT, ()),
                                         ("git_commit", {"message": "more"}, WORKFLOW)):
            self.stage()
            results.append(self.call(tool, arguments, *options))
        self.stage()
        results.append(self.call("git_commit", {"message": "more", "all": True}, *WORKFLOW))
        self.git("reset", "-q", "--hard")
        results.append(self.call("git_merge", {"branch": "side", "noFf": True}, *WORKFLOW))
        for arguments, options in ((COMMIT, ()), ({}, WORKFLOW)):
            self.git("reset", "-q", "--hard", "start")
            self.stopped_pick()
            results.append(self.call("git_commit", arguments, *options))
            self.git("cherry-pick", "--abort", check=False)
            self.git("branch", "-q", "-D", "picked")
        for rebase in (False, True):
            self.git("reset", "-q", "--hard", "start")
            results.append(self.call("git_pull", {"remote": "origin", "branch": "main",
                                                  "rebase": rebase}, *WORKFLOW))
        return results

    def begin(self):
        """All that the ways to make a commit need."""
        self.two_branches()
        self.git("tag", "start")
        self.origin()

    def personal(self, text):
        """More of the user's own configuration."""
        with open(self.home / ".gitconfig", "a", encoding="utf-8") as file:
            file.write(text)

    def test_said(self):
        """each result says so, whoever asks for signatures; without that, none does"""
        self.begin()
        self.git("config", "commit.gpgSign", "true")
        for result in self.every():
            self.assertFalse(result.failed, result)
            self.assertIn(SAID, result.text + result.notes)
        self.git("config", "--unset", "commit.gpgSign")
        self.personal("[commit]\n\tgpgSign\n")
        self.stage()
        self.assertIn(SAID, self.ok("git_commit", COMMIT).text)
        self.git("config", "commit.gpgSign", "off")
        self.stage()
        self.assertNotIn(SAID, self.ok("git_commit", COMMIT).text)

    def test_no_commit_is_made(self):
        """a merge that only moves the branch says nothing of it"""
        self.two_branches()
        self.git("reset", "-q", "--hard", "HEAD~1")
        self.git("config", "commit.gpgSign", "true")
        result = self.ok("git_merge", {"branch": "side"}, *WORKFLOW)
        self.assertNotIn("signed", result.text + result.notes)

    def test_question(self):
        """each question says so"""
        self.two_branches()
        rules = self.base / "ask.toml"
        rules.write_text('[[tools.approval.rule]]\ntool = "git_commit"\ndecision = "ask"\n',
                         encoding="utf-8")
        ask = (*WORKFLOW, "--config", str(rules))
        for value, check in (("true", self.assertIn), ("false", self.assertNotIn)):
            self.git("config", "commit.gpgSign", value)
            for tool, arguments, options in (
                    ("git_commit", COMMIT, ()), ("git_commit", {"message": "more"}, ask),
                    ("git_commit", {"message": "more", "all": True}, ask),
                    ("git_merge", {"branch": "side"}, WORKFLOW)):
                if tool == "git_commit":
                    self.stage()
                server = harness.AskingServer(self, *options)
                shown, _ = server.decided("reject", tool, arguments)
                server.close()
                check(ASKED, shown)
                self.git("reset", "-q", "--hard")

    def test_hooks_in_the_question(self):
        """the question of a commit names the hooks that do not run"""
        hook = self.root / ".git/hooks/commit-msg"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
        hook.chmod(0o755)
        rules = self.base / "ask.toml"
        rules.write_text('[[tools.approval.rule]]\ntool = "git_commit"\ndecision = "ask"\n',
                         encoding="utf-8")
        for toolset, arguments in (("git", COMMIT), ("workflow", {"message": "more"}),
                                   ("everyday", {"message": "more"})):
            self.stage()
            server = harness.AskingServer(self, "--toolset", toolset, "--config", str(rules))
            shown, _ = server.decided("reject", "git_commit", arguments)
            server.close()
            self.assertIn("airlock: hook not run: commit-msg\n", shown, toolset)

    def test_hooks(self):
        """`workflow` names the hooks that git would have run"""
        self.begin()
        self.git("config", "commit.gpgSign", "false")
        for name in ("pre-commit", "post-merge", "pre-rebase", "pre-push", "post-checkout"):
            hook = self.root / ".git/hooks" / name
            hook.parent.mkdir(exist_ok=True)
            hook.write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
            hook.chmod(0o755)
        self.stage()
        for tool, arguments, hooks in (
                ("git_commit", {"message": "more"}, "hook not run: pre-commit"),
                ("git_merge", {"branch": "side"}, "hook not run: post-merge"),
                ("git_push", {"remote": "origin", "branch": "main"}, "hook not run: pre-push"),
                ("git_checkout", {"target": "side"}, "hook not run: post-checkout"),
                ("git_pull", {"remote": "origin", "branch": "main", "rebase": True},
                 "hooks not run: pre-rebase, post-checkout")):
            result = self.ok(tool, arguments, *WORKFLOW)
            self.assertEqual(result.notes, f"airlock: {hooks}")


if __name__ == "__main__":
    harness.main()
