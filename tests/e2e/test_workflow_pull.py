#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_pull of toolset `workflow`, and every example of the network tools over MCP."""
import concurrent.futures
import signal
import unittest.mock

import harness
import remotes
import workflow


class Pulls(remotes.Case):
    """git_pull."""

    def setUp(self):
        super().setUp()
        self.with_origin()

    def conflict(self):
        """The same file is changed here and there; gives both commits."""
        theirs = self.elsewhere("a.txt", "theirs\n")
        return self.commit("a.txt", "ours\n", "ours"), theirs

    def test_moves_on(self):
        """a branch without commits of its own moves on"""
        commit = self.elsewhere()
        got = self.gives("git_pull", {})
        self.assertEqual((got["success"], got["remote"], got["filesUpdated"]), (True, "origin", 1))
        self.assertNotIn("rebased", got)
        self.assertEqual(self.here(), commit)
        self.assertEqual((self.root / "b.txt").read_text(), "b\n")
        got = self.gives("git_pull", {})
        self.assertEqual((got["filesUpdated"], got["message"]),
                         (0, "Already up to date with origin/main"))

    def test_merges(self):
        """commits on both sides are merged, with git's words"""
        theirs = self.elsewhere()
        ours = self.commit("c.txt", "c\n", "mine")
        got = self.gives("git_pull", {})
        self.assertEqual((got["success"], got["filesUpdated"]), (True, 1))
        self.assertEqual(self.out("log", "-1", "--format=%P").split(), [ours, theirs])
        self.assertEqual(self.out("log", "-1", "--format=%s").strip(),
                         f"Merge branch 'main' of {self.hub}")

    def test_rebases(self):
        """with rebase, commits go on top of what was pulled"""
        theirs = self.elsewhere()
        self.commit("c.txt", "c\n", "mine")
        got = self.gives("git_pull", {"rebase": True})
        self.assertEqual((got["success"], got["rebased"]), (True, True))
        self.assertEqual(self.out("log", "-1", "--format=%P %s").split(), [theirs, "mine"])

    def test_renamed_directory(self):
        """an ignored file stays where a new file moves along with a renamed directory"""
        self.write(".gitignore", "moved/new\n")
        for name in "abc":
            self.write(f"dir/{name}", name + "\n" * 5)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        self.git("push", "-q", "origin", "HEAD:main")
        self.elsewhere("dir/new", "theirs\n")
        self.git("mv", "dir", "moved")
        self.git("commit", "-q", "-m", "renames")
        mine = self.write("moved/new", "mine\n")
        for arguments in ({}, {"rebase": True}):
            result = self.call("git_pull", arguments)
            self.assertTrue(result.failed, (arguments, result))
            self.assertIn("'moved/new'", result.text)
            self.assertEqual(mine.read_text(), "mine\n")
        mine.unlink()
        self.git("config", "merge.directoryRenames", "true")
        self.assertTrue(self.gives("git_pull", {"rebase": True})["rebased"])
        self.assertEqual(mine.read_text(), "theirs\n")

    def test_added_for_a_while(self):
        """an ignored file stays which one commit adds that is rebased, and a later one removes"""
        self.write(".gitignore", "*.o\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        self.git("push", "-q", "origin", "HEAD:main")
        self.elsewhere("new", "theirs\n")
        self.write("x.o", "a while\n")
        self.git("add", "-f", "x.o")
        self.git("commit", "-q", "-m", "adds")
        self.git("rm", "-q", "x.o")
        self.git("commit", "-q", "-m", "removes")
        mine = self.write("x.o", "mine\n")
        self.assertTrue(self.gives("git_pull", {"rebase": True})["rebased"])
        self.assertEqual(mine.read_text(), "mine\n")

    def test_named_branch(self):
        """a named branch is pulled into the current one; an unknown one is 7033"""
        commit = self.elsewhere("d.txt", "d\n", "develop")
        self.gives("git_pull", {"branch": "develop"})
        self.assertEqual(self.here(), commit)
        self.fails(7033, "git_pull", {"branch": "none"})

    def test_followed_branch(self):
        """without a name it is the branch that is followed, else the one of the same name"""
        develop = self.elsewhere("d.txt", "d\n", "develop")
        self.git("checkout", "-q", "-b", "mine")
        self.git("config", "branch.mine.remote", "origin")
        self.git("config", "branch.mine.merge", "refs/heads/develop")
        self.gives("git_pull", {})
        self.assertEqual(self.here(), develop)
        self.git("checkout", "-q", "-b", "unknown")
        self.fails(7033, "git_pull", {})
        self.git("checkout", "-q", "--detach")
        self.fails(7010, "git_pull", {})

    def test_unborn(self):
        """a repository without commits takes everything over"""
        fresh = self.top / "fresh"
        fresh.mkdir()
        self.git("init", "-q", cwd=fresh)
        self.git("remote", "add", "origin", "../hub.git", cwd=fresh)
        for arguments in ({"rebase": True}, {}):
            got = self.gives("git_pull", {"cwd": str(fresh), **arguments})
            self.assertTrue(got["success"], got)
        self.assertEqual((fresh / "a.txt").read_text(), "one\n")

    def test_merge_conflict(self):
        """a conflict of a merge is a result that can be resolved or given up"""
        ours, _ = self.conflict()
        got = self.gives("git_pull", {})
        self.assertEqual((got["success"], got["conflicts"]), (False, ["a.txt"]))
        self.assertIn("<<<<<<<", (self.root / "a.txt").read_text())
        self.fails(7030, "git_pull", {})
        self.gives("git_merge", {"branch": "", "abort": True})
        self.assertEqual((self.here(), self.out("status", "--porcelain")), (ours, ""))

    def test_rebase_conflict(self):
        """a conflict of a rebase is a result that can be resolved or given up"""
        ours, theirs = self.conflict()
        got = self.gives("git_pull", {"rebase": True})
        self.assertEqual((got["success"], got["rebased"], got["conflicts"]),
                         (False, False, ["a.txt"]))
        self.fails(7030, "git_pull", {"rebase": True})
        self.gives("git_merge", {"branch": "", "abort": True})
        self.assertEqual(self.here(), ours)
        self.gives("git_pull", {"rebase": True})
        self.gives("git_resolve_conflict", {"path": "a.txt", "strategy": "content",
                                            "content": "both\n"})
        self.gives("git_commit", {"message": "both"})
        self.assertEqual(self.out("log", "-1", "--format=%P").split(), [theirs])
        self.assertEqual(self.out("symbolic-ref", "HEAD").strip(), "refs/heads/main")

    def test_dirty(self):
        """uncommitted changes in the way are 7031, and stay"""
        self.elsewhere("a.txt", "theirs\n")
        self.write("a.txt", "mine\n")
        for arguments in ({}, {"rebase": True}):
            before = self.here()
            self.fails(7031, "git_pull", arguments)
            self.assertEqual((self.root / "a.txt").read_text(), "mine\n")
            self.assertEqual(self.here(), before)

    def test_untracked_in_the_way(self):
        """an untracked file in the way is 7031, and stays"""
        self.elsewhere("b.txt", "theirs\n")
        self.write("b.txt", "mine\n")
        for arguments in ({}, {"rebase": True}):
            self.fails(7031, "git_pull", arguments)
            self.assertEqual((self.root / "b.txt").read_text(), "mine\n")

    def test_asks_nothing(self):
        """pulling needs no approval"""
        self.elsewhere()
        self.gives("git_pull", {}, approval="ask")

    def test_settings_do_not_matter(self):
        """pull.*, branch.*, rebase.* and merge.* of the repository change nothing"""
        for key, value in (("pull.rebase", "true"), ("branch.main.rebase", "interactive"),
                           ("branch.main.mergeOptions", "--squash"), ("merge.ff", "only"),
                           ("pull.ff", "only"), ("rebase.autostash", "true")):
            self.git("config", key, value)
        theirs = self.elsewhere()
        ours = self.commit("c.txt", "c\n", "mine")
        self.gives("git_pull", {})
        self.assertEqual(self.out("log", "-1", "--format=%P").split(), [ours, theirs])

    def test_cancelled_in_the_middle(self):
        """a pull that is cancelled while it fetches leaves everything as it was"""
        self.elsewhere()
        before = self.state()
        pipe = self.block(self.at_hub(), self.hub_as_a_worktree())
        server = workflow.Server(self, "--root", str(self.top))
        number = server.ask("git_pull", {"cwd": str(self.root)})
        writer = self.hold(pipe)
        server.send(method="notifications/cancelled", params={"requestId": number})
        self.wait_for_its_end(writer)
        self.assertEqual(self.state(), before)

    def hub_as_a_worktree(self):
        """block() looks for .git/objects."""
        place = self.base / "place"
        place.mkdir()
        (place / ".git").symlink_to(self.hub)
        return place

    def test_deadline(self):
        """a pull out of time says so, and leaves everything as it was"""
        self.elsewhere()
        before = self.state()
        self.block(self.at_hub(), self.hub_as_a_worktree())  # for good: nobody ever writes
        config = self.base / "config.toml"
        for timeout_ms in 300, 3000, 30000:  # until the fetch is what the time runs out in
            config.write_text(f"[tools.git]\ntimeout_ms = {timeout_ms}\n", encoding="utf-8")
            seen = False
            with concurrent.futures.ThreadPoolExecutor() as pool:
                call = pool.submit(self.fails, 7035, "git_pull", {}, "--config", str(config))
                while not concurrent.futures.wait([call], timeout=.01).done:
                    seen = seen or bool(self.processes_in(self.hub))
            self.assertEqual(call.result().kind, "Timeout", call.result())
            self.assertEqual(self.state(), before)
            self.assertEqual(self.processes_in(self.hub), [])
            if seen:
                return
        self.fail("the pull never came to the fetch")


class Examples(remotes.Case):
    """Every example of the requirements, through MCP."""

    def test_through_mcp(self):
        """R4-12 git_remote, git_push, git_fetch and git_pull over MCP"""
        with unittest.mock.patch.object(self, "root", self.top):
            server = workflow.Server(self)
        cwd = {"cwd": str(self.root)}
        url = {"url": "https://github.com/org/repo.git"}
        self.assertEqual(server.gives("git_remote", {"action": "list", **cwd}), {"remotes": []})
        server.gives("git_remote", {"action": "add", "name": "upstream", **url, **cwd})
        server.gives("git_remote", {"action": "rename", "name": "upstream", "newName": "old-remote",
                                    **cwd})
        server.gives("git_remote", {"action": "remove", "name": "old-remote", **cwd})
        server.gives("git_remote", {"action": "add", "name": "origin", "url": "../hub.git", **cwd})
        for arguments in ({}, {"setUpstream": True}, {"force": True}):
            self.assertTrue(server.gives("git_push", {**arguments, **cwd})["success"])
        self.elsewhere("c.txt", "c\n", "develop")
        for arguments in ({}, {"all": True, "prune": True}, {"branch": "develop"}):
            self.assertTrue(server.gives("git_fetch", {**arguments, **cwd})["success"])
        for arguments in ({}, {"rebase": True}, {"branch": "main"}):
            self.assertTrue(server.gives("git_pull", {**arguments, **cwd})["success"])


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    harness.main()
