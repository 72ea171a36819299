#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A day of an agent over MCP, against each kind of server: from a fresh clone to the text of a pull
request, with another user at work in the same file."""
import unittest

import harness
import remotes
import servers
import workflow


class Day:
    """What is done; the server is another one in each class."""

    def clone(self, url, **variables):
        """The test's clone is where the agent works."""
        self.git("push", "-q", str(self.hub), "main")
        self.work = self.top / "work"
        self.git("clone", "-q", url, str(self.work), cwd=self.top, **variables)

    def day(self):
        """Branch, edit, commit, pull and meet a conflict, resolve it, push, describe."""
        server = workflow.Server(self, "--root", str(self.top))

        def gives(tool, **arguments):
            return server.gives(tool, {"cwd": str(self.work), **arguments})

        self.assertTrue(gives("git_checkout", target="feature/words", create=True)["created"])
        self.write("a.txt", "one, by me\n", self.work)
        self.write("b.txt", "new\n", self.work)
        status = gives("git_status")
        self.assertEqual((status["modified"], status["untracked"]), (["a.txt"], ["b.txt"]))
        gives("git_commit", message="feat: better words", all=True)
        pushed = gives("git_push", setUpstream=True)
        self.assertEqual(pushed["branch"], "feature/words")

        theirs = self.elsewhere("a.txt", "one, by them\n")
        pulled = gives("git_pull", branch="main", rebase=True)
        self.assertEqual((pulled["success"], pulled["conflicts"]), (False, ["a.txt"]))
        shown = gives("git_conflict_info")["files"][0]
        self.assertIn("<<<<<<<", shown["markers"])
        gives("git_resolve_conflict", path="a.txt", strategy="content",
              content="one, by both\n")
        gives("git_commit", message="feat: better words")
        self.assertEqual(self.out("log", "-1", "--format=%P", cwd=self.work).strip(), theirs)

        refused = server.call("git_push", {"cwd": str(self.work)})
        self.assertEqual(refused.error["code"], 7034, refused)
        self.assertTrue(gives("git_push", force=True)["forced"])
        self.assertEqual(self.at_hub("feature/words"),
                         self.out("rev-parse", "HEAD", cwd=self.work).strip())

        self.git("branch", "-q", "-f", "main", "origin/main", cwd=self.work)
        text = gives("git_generate_pr", target="main")
        self.assertEqual(text["commits"], 1)
        self.assertEqual(sorted(text["filesChanged"]), ["a.txt", "b.txt"])
        self.assertEqual(gives("git_status")["clean"], True)
        self.git("fsck", "--strict", cwd=self.work)


class OverGit(Day, remotes.Case):
    """git daemon"""

    def test_day(self):
        """a day with git daemon"""
        self.clone(servers.Daemon(self, self.top).url("hub.git"))
        self.day()


class OverHttp(Day, remotes.Case):
    """http with credentials"""

    @unittest.skipIf(harness.ASAN, "askpass cannot start below the limits of memory")
    def test_day(self):
        """a day with http and a password"""
        server = servers.Http(self, self.top)
        self.git("config", "http.receivepack", "true", cwd=self.hub)
        self.git("config", "--global", "credential.helper",
                 f"!f() {{ echo username={server.user}; echo password={server.password}; }}; f")
        self.list_servers(f"http://127.0.0.1:{server.port}")
        self.clone(server.private("hub.git"))
        self.day()


class OverSsh(Day, remotes.Case):
    """sshd"""

    def launch(self, argv):
        return self.server.at_home(argv)

    def test_day(self):
        """a day with sshd"""
        self.server = servers.Sshd(self, self.top)
        self.server.trust()
        home = self.home / ".ssh"
        self.clone(self.server.url("hub.git"),
                   GIT_SSH_COMMAND=f"ssh -F none -i {home}/id_ed25519 "
                                   f"-o UserKnownHostsFile={home}/known_hosts")
        self.day()


if __name__ == "__main__":
    harness.main()
