#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: what a checkpoint could bring back is asked about where none can be taken; and what a
user edits while a call talks to a server stays, however the call ends."""
import http.server
import threading

import everyday
import harness

NO_CHECKPOINT = "No checkpoint of this can be taken"

#: Every changing tool that asks nothing otherwise, and what it is called with.
CHANGES = (
    ("git_add", {"paths": ["f.txt"]}),
    ("git_restore", {"paths": ["f.txt"]}),
    ("git_restore", {"paths": ["s.txt"], "staged": True}),
    ("git_restore", {"paths": ["f.txt"], "rev": "HEAD", "staged": True}),
    ("git_commit", {"message": "m"}),
    ("git_commit", {"message": "m", "paths": ["f.txt"]}),
    ("git_commit", {"message": "m", "amend": True}),
    ("git_reset", {"to": "HEAD~1"}),
    ("git_reset", {"to": "HEAD~1", "mode": "soft"}),
    ("git_reset", {"to": "HEAD~1", "mode": "hard"}),
    ("git_stash", {}),
    ("git_stash", {"action": "drop"}),
    ("git_switch", {"branch": "topic"}),
    ("git_switch", {"branch": "new", "create": True}),
    ("git_branch", {"action": "rename", "name": "topic", "new_name": "other"}),
    ("git_branch", {"action": "delete", "name": "topic", "force": True}),
    ("git_tag", {"action": "delete", "name": "v1"}),
)

#: The same, in a working tree without changes.
CLEAN = (
    ("git_stash", {"action": "pop"}),
    ("git_stash", {"action": "apply"}),
    ("git_merge", {"branch": "topic"}),
    ("git_rebase", {"onto": "topic"}),
    ("git_cherry_pick", {"commits": ["topic"]}),
    ("git_revert", {"commits": ["HEAD"]}),
)


class Unsaved(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f.txt", "base\n", "base")
        self.git("tag", "v1")
        self.git("checkout", "-q", "-b", "topic")
        self.commit("t.txt", "t\n", "topic")
        self.git("checkout", "-q", "main")
        self.commit("m.txt", "m\n", "ours")
        self.write("f.txt", "stashed\n")
        self.git("stash", "push", "-q")

    def asks(self, *options):
        """A server that is asked for every one of these."""
        server = everyday.AskingServer(self, *options)
        self.addCleanup(server.close)
        return server

    def each_asks(self, server, calls):
        """Each call asks since nothing would bring it back, and does nothing when refused."""
        for tool, arguments in calls:
            before = self.snapshot()
            shown, result = server.decided("reject", tool, arguments)
            self.assertIn(NO_CHECKPOINT, shown, (tool, arguments))
            self.assertEqual(result.kind, "ApprovalDenied", result)
            self.assertEqual(self.snapshot(), before)

    def test_changes(self):
        """every changing tool asks without checkpoints, and not with them"""
        self.write("f.txt", "mine\n")
        self.write("s.txt", "s\n")
        self.git("add", "s.txt")
        self.each_asks(self.asks("--no-git"), CHANGES)
        saved = self.asks()
        for tool, arguments in CHANGES[:3]:
            self.assertFalse(saved.call(tool, arguments).failed)

    def test_clean(self):
        """so do those that bring commits together"""
        self.each_asks(self.asks("--no-git"), CLEAN)

    def test_worktrees(self):
        """and what takes a worktree's protection, or the worktree, away"""
        self.says("git_worktree", {"action": "add", "name": "w", "reason": "mine"})
        server = self.asks("--no-git")
        self.each_asks(server, (("git_worktree", {"action": "unlock", "name": "w"}),))
        self.assertIn("locked mine", self.out("worktree", "list", "--porcelain"))
        self.says("git_worktree", {"action": "unlock", "name": "w"})
        self.each_asks(server, (("git_worktree", {"action": "remove", "name": "w"}),))

    def test_conflicts(self):
        """and what settles conflicts"""
        self.git("checkout", "-q", "topic")
        self.commit("m.txt", "theirs\n", "collides")
        server = self.asks("--no-git")
        server.decided("once", "git_merge", {"branch": "main"})
        self.assertEqual(self.unmerged(), ["m.txt"])
        self.each_asks(server, (
            ("git_conflicts", {"action": "resolve", "path": "m.txt", "take": "ours"}),
            ("git_conflicts", {"action": "abort"})))
        self.git("checkout", "-q", "--ours", "m.txt")
        self.git("add", "m.txt")
        self.each_asks(server, (("git_conflicts", {"action": "continue"}),))


class Meanwhile(everyday.Case):
    """A server that fails every request, after the user has edited files."""

    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f.txt", "base\n", "base")
        self.write("f.txt", "before the call\n")
        case = self

        class Fails(http.server.BaseHTTPRequestHandler):
            """Edits, and fails."""

            def do_GET(self):  # pylint: disable=invalid-name
                """What git asks first."""
                case.write("f.txt", "edited meanwhile\n")
                case.write("new.txt", "new\n")
                (case.root / "a.txt").unlink(missing_ok=True)
                self.send_error(500)

            def log_message(self, *_):
                """Nothing."""

        self.http = http.server.HTTPServer(("127.0.0.1", 0), Fails)
        self.addCleanup(self.http.server_close)
        thread = threading.Thread(target=self.http.serve_forever)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(self.http.shutdown)
        self.git("remote", "add", "origin", f"http://127.0.0.1:{self.http.server_port}/hub.git")
        self.git("config", "branch.main.remote", "origin")
        self.git("config", "branch.main.merge", "refs/heads/main")

    def test_edits_stay(self):
        """git_fetch, git_pull, git_push that fail: what the user edited meanwhile is not put back"""
        for tool in ("git_fetch", "git_pull", "git_push"):
            self.write("f.txt", "before the call\n")
            result = self.call(tool)
            self.assertTrue(result.failed, result)
            self.assertEqual((self.root / "f.txt").read_text(), "edited meanwhile\n", tool)
            self.assertEqual((self.root / "new.txt").read_text(), "new\n")
            self.assertFalse((self.root / "a.txt").exists())
            self.assertNotIn("put back", result.text)
            (self.root / "new.txt").unlink()
            self.git("checkout", "-q", "--", "a.txt")


if __name__ == "__main__":
    harness.main()
