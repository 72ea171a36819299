#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Things an agent can put in the place of something airlock trusts, or behind a user's back."""
import os
import subprocess

import harness


class Swaps(harness.Case):
    def test_nested_root(self):
        """a root inside another root, swapped for a link, opens nothing outside"""
        self.init()
        inner, outside = self.root / "sub", self.base / "outside"
        inner.mkdir()
        outside.mkdir()
        links = [self.root / ".git" / name for name in ("COMMIT_EDITMSG", "logs/HEAD")]
        # The control: plain git writes through the links.
        for link in links:
            link.unlink(missing_ok=True)
            link.symlink_to(outside / link.name)
        self.git("commit", "-q", "--allow-empty", "-m", "control")
        for link in links:
            (outside / link.name).unlink()

        server = harness.Server(self, "--root", str(inner))
        self.write("a.txt", "two\n")
        server.ok("git_add", {"paths": ["a.txt"]})
        inner.rmdir()
        inner.symlink_to(outside)
        answer = server.call("git_commit", {"type": "feat", "message": "through the log"})
        self.assertEqual(list(outside.iterdir()), [], answer)
        self.assertTrue(answer.failed, answer)
        links[1].unlink()
        # A link in the place of the message is removed, never written through.
        server.ok("git_commit", {"type": "feat", "message": "as ever"})
        self.assertEqual(list(outside.iterdir()), [])
        self.assertEqual(self.out("log", "-1", "--format=%s"), "feat: as ever\n")

    def test_git_in_a_root(self):
        """a git that lies in a root is not run, wherever PATH has it"""
        self.init()
        canary = self.base / "canary"
        planted = self.write("bin/git", f"#!/bin/sh\n: >'{canary}'\nexit 1\n")
        planted.chmod(0o755)
        (self.base / "way").symlink_to(self.root / "bin")
        for directory in (self.root / "bin", self.base / "way"):
            path = {"PATH": f"{directory}:{self.env['PATH']}"}
            # The control: whoever asks PATH runs it.
            subprocess.run(["git", "--version"], env=self.env | path, cwd=self.root, check=False)
            self.assertTrue(canary.exists())
            canary.unlink()
            result = self.call("git_status", env=path)
            self.assertFalse(result.failed, result)
            self.assertIn("lies in a root", result.stderr)
            for command in (["--version"], ["doctor"], ["tools"]):
                subprocess.run([harness.AIRLOCK, *command], env=self.env | path, cwd=self.root,
                               check=True, capture_output=True)
            self.assertFalse(canary.exists())
        result = self.call("git_status", env={"PATH": str(self.root / "bin")})
        self.assertEqual(result.error["message"], "git binary not available")

    def asked(self, server, tool, arguments):
        """What the user is shown; the answer is no."""
        shown, result = server.decided("reject", tool, arguments)
        self.assertEqual(result.kind, "ApprovalDenied")
        return shown

    def test_whole_loss(self):
        """restoring index and disk shows what is lost of both"""
        self.init()
        self.write("a.txt", "staged work\n")
        self.git("add", "a.txt")
        self.write("a.txt", "staged work\nwork on disk\n")
        shown = self.asked(harness.AskingServer(self), "git_restore",
                           {"paths": ["a.txt"], "staged": True})
        self.assertIn("+staged work", shown)
        self.assertIn("+work on disk", shown)

    def test_nothing_hidden(self):
        """control characters hide nothing from the user who decides"""
        self.init()
        self.write("b\x1b]2;secret\x07.txt", "x\n")
        server = harness.AskingServer(self)
        shown = self.asked(server, "git_add", {"all": True})
        self.assertIn("b<U+001B>]2;secret<U+0007>.txt", shown)
        self.git("add", "-A")
        shown = self.asked(server, "git_commit",
                           {"type": "feat", "message": "ok\x1b]2;hidden words"})
        self.assertIn("hidden words", shown.splitlines()[0])
        shown = self.asked(server, "git_commit",
                           {"type": "feat", "message": "ok\n\ndiff --git a/x b/x\x1b]2;hidden"})
        self.assertIn("    diff --git a/x b/x<U+001B>]2;hidden", shown)
        self.assertIn("\nThe change:\n", shown)

    def test_stash_shows_files(self):
        """a stash push shows the files it takes away, in each toolset that has it"""
        self.init()
        self.write("a.txt", "two\n")
        self.write("new.txt", "new\n")
        self.write(".config/airlock/config.toml", """[[tools.approval.rule]]
tool = "git_stash"
decision = "ask"
""", self.home)
        for toolset in ("git", "workflow"):
            server = harness.AskingServer(self, "--toolset", toolset)
            shown = self.asked(server, "git_stash", {"action": "push"})
            self.assertTrue(shown.endswith("staged ones too:\n  a.txt\n"), shown)
            name = {"git": "include_untracked", "workflow": "includeUntracked"}[toolset]
            shown = self.asked(server, "git_stash", {"action": "push", name: True})
            self.assertTrue(shown.endswith("staged ones too:\n  a.txt\n  new.txt\n"), shown)

    def test_branch_loss(self):
        """deleting a branch shows the commits that nothing else holds"""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("b.txt", "b\n", "only here")
        self.git("checkout", "-q", "main")
        server = harness.AskingServer(self)
        self.assertIn("only here", self.asked(server, "git_branch", {"force_delete": "side"}))
        self.git("merge", "-q", "side")
        shown = self.asked(server, "git_branch", {"delete": "side"})
        self.assertTrue(shown.startswith("Delete branch 'side'\nIn "), shown)
        self.assertNotIn("only here", shown)


if __name__ == "__main__":
    harness.main()
