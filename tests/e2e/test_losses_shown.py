#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday without checkpoints: the question is all there is, so it names everything that is lost."""
import everyday
import harness

MINE = "MY UNTRACKED\n"


class Shown(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f", "base\n", "base")
        self.git("checkout", "-q", "-b", "topic")
        self.commit("u", "-branch version\n", "adds u")
        self.git("checkout", "-q", "main")
        self.commit(".gitignore", "/i\n", "ignores")
        self.server = everyday.AskingServer(self, "--no-git")
        self.addCleanup(self.server.close)

    def decided(self, tool, arguments, decision="once"):
        """What is shown, and the result."""
        return self.server.decided(decision, tool, arguments)

    def test_restore(self):
        """an untracked file in the place of one of the revision is named, and not shown as the
        revision's"""
        self.write("u", MINE)
        self.write("f", "changed\n")
        arguments = {"paths": ["."], "rev": "topic"}
        shown, result = self.decided("git_restore", arguments, "reject")
        self.assertTrue(result.failed, result)
        self.assertIn("Untracked, and written over:\n  u (13 bytes)\n", shown)
        self.assertIn("changed", shown)
        self.assertNotIn("branch version", shown)
        self.assertEqual((self.root / "u").read_text(), MINE)
        _, result = self.decided("git_restore", arguments)
        self.assertFalse(result.failed, result)
        self.assertEqual((self.root / "u").read_text(), "-branch version\n")

    def test_restore_alone(self):
        """the same where nothing else is lost: it is asked about"""
        self.write("u", MINE)
        shown, _ = self.decided("git_restore", {"paths": ["u"], "rev": "topic"})
        self.assertIn("Untracked, and written over:\n  u (13 bytes)\n", shown)

    def test_restored_file(self):
        """a file that is gone loses nothing"""
        (self.root / "f").unlink()
        self.assertFalse(self.server.call("git_restore", {"paths": ["f"], "rev": "HEAD"}).failed)
        self.assertEqual((self.root / "f").read_text(), "base\n")

    def test_keep(self):
        """git_reset keep, which asks about nothing, leaves an ignored file alone"""
        self.git("checkout", "-q", "topic")
        self.commit("i", "theirs\n", "adds i")
        self.git("checkout", "-q", "-B", "here", "main")
        self.write("i", MINE)
        self.server.ask("git_reset", {"to": "topic", "mode": "keep"})
        answer = self.server.receive()
        while answer.get("method") == "elicitation/create":
            self.server.send(id=answer["id"],
                             result={"action": "accept", "content": {"decision": "once"}})
            answer = self.server.receive()
        self.assertTrue(answer["result"].get("isError"), answer)
        self.assertIn("The untracked file 'i' would be overwritten", str(answer["result"]))
        self.assertEqual((self.root / "i").read_text(), MINE)
        self.git("reset", "-q", "--keep", "topic")  # plain git writes over it
        self.assertEqual((self.root / "i").read_text(), "theirs\n")

    def test_abort(self):
        """git_conflicts abort names untracked files in the places of those that come back"""
        self.commit("dir/i", "tracked\n", "adds dir")
        self.git("checkout", "-q", "topic")
        self.git("checkout", "-q", "-b", "other", "main")
        self.git("rm", "-q", "dir/i")
        self.commit("f", "theirs\n", "collides")
        self.git("checkout", "-q", "main")
        self.commit("f", "ours\n", "ours")
        self.git("merge", "-q", "other", check=False)
        self.write("dir/i/mine", MINE)
        self.write(".git/info/exclude", "dir/i\n")
        shown, result = self.decided("git_conflicts", {"action": "abort"}, "reject")
        self.assertTrue(result.failed, result)
        self.assertIn("Untracked, and written over:\n  dir/i/ and everything in it\n", shown)
        self.assertEqual((self.root / "dir/i/mine").read_text(), MINE)
        (self.root / "dir/i/mine").unlink()
        (self.root / "dir/i").rmdir()
        shown, result = self.decided("git_conflicts", {"action": "abort"})
        self.assertNotIn("Untracked", shown)
        self.assertFalse(result.failed, result)

    def test_reset(self):
        """git_reset hard names ignored and untracked files that the commit has"""
        self.git("checkout", "-q", "topic")
        self.commit("i", "theirs\n", "adds i")
        self.git("checkout", "-q", "main")
        self.write("i", MINE)
        self.write("u", MINE)
        arguments = {"to": "topic", "mode": "hard"}
        shown, result = self.decided("git_reset", arguments, "reject")
        self.assertTrue(result.failed, result)
        self.assertIn("Untracked, and written over:\n  i (13 bytes)\n  u (13 bytes)\n", shown)
        self.assertEqual((self.root / "i").read_text(), MINE)

    def test_reset_moved(self):
        """another file comes into the way while the question is open: asked again"""
        self.server.ask("git_reset", {"to": "topic", "mode": "hard"})
        question = self.server.receive()
        self.assertNotIn("written over", question["params"]["message"])
        self.write("u", MINE)
        self.server.send(id=question["id"],
                         result={"action": "accept", "content": {"decision": "once"}})
        again = self.server.receive()
        self.assertIn("written over:\n  u (13 bytes)", again["params"]["message"])
        self.server.send(id=again["id"],
                         result={"action": "accept", "content": {"decision": "reject"}})
        self.assertTrue(self.server.receive()["result"].get("isError"))
        self.assertEqual((self.root / "u").read_text(), MINE)

    def test_replays(self):
        """a pick and a rebase are refused, as a merge is"""
        self.git("checkout", "-q", "topic")
        self.commit("i", "theirs\n", "adds i")
        self.git("checkout", "-q", "main")
        self.write("i", MINE)
        for tool, arguments in (("git_cherry_pick", {"commits": ["topic"]}),
                                ("git_rebase", {"onto": "topic"}),
                                ("git_merge", {"branch": "topic"})):
            _, result = self.decided(tool, arguments)
            self.assertTrue(result.failed, result)
            self.assertIn("The untracked file 'i' would be overwritten", result.text)
            self.assertEqual((self.root / "i").read_text(), MINE)

    def test_worktree(self):
        """git_worktree remove names what is not committed, and promises nothing"""
        self.assertFalse(self.server.call("git_worktree", {
            "action": "add", "name": "w", "branch": "w", "create": True}).failed)
        top = self.root / ".worktrees/w"
        for name, content in (("f", "changed\n"), ("new", MINE), ("i", "ignored\n"),
                              ("s", "staged\n")):
            (top / name).write_text(content)
        self.git("add", "s", cwd=top)
        arguments = {"action": "remove", "name": "w"}
        shown, result = self.decided("git_worktree", arguments, "reject")
        self.assertTrue(result.failed, result)
        self.assertIn("Gone for good, since there is no checkpoint:\n"
                      "  changed: f\n  staged: s\n  untracked: new\n  ignored: i\n", shown)
        self.assertTrue((top / "new").exists())
        shown, result = self.decided("git_worktree", arguments)
        self.assertFalse(result.failed, result)
        self.assertFalse(top.exists())
        self.assertNotIn("brings it back", result.text)

    def test_worktree_changed(self):
        """a file that is made while the question is open: asked again"""
        self.server.call("git_worktree", {"action": "add", "name": "w", "branch": "w",
                                          "create": True})
        self.server.ask("git_worktree", {"action": "remove", "name": "w"})
        question = self.server.receive()
        self.assertNotIn("Gone for good", question["params"]["message"])
        (self.root / ".worktrees/w/new").write_text(MINE)
        self.server.send(id=question["id"],
                         result={"action": "accept", "content": {"decision": "once"}})
        again = self.server.receive()
        self.assertIn("untracked: new", again["params"]["message"])
        self.server.send(id=again["id"],
                         result={"action": "accept", "content": {"decision": "reject"}})
        self.assertTrue(self.server.receive()["result"].get("isError"))
        self.assertTrue((self.root / ".worktrees/w/new").exists())


class Saved(everyday.Case):
    def test_worktree(self):
        """with checkpoints the answer names git_undo, and it does bring everything back"""
        self.init()
        self.commit("f", "base\n", "base")
        server = everyday.Server(self)
        server.says("git_worktree", {"action": "add", "name": "w", "branch": "w", "create": True})
        self.write(".gitignore", "*.o\n", self.root / ".worktrees/w")
        for name in ("new", "new.o"):
            (self.root / ".worktrees/w" / name).write_text(MINE)
        said = server.says("git_worktree", {"action": "remove", "name": "w"})
        self.assertIn("git_undo, or a user with 'airlock rollback', brings it back whole, ignored "
                      "files included.", said)
        server.says("git_undo")
        for name in ("new", "new.o"):
            self.assertEqual((self.root / ".worktrees/w" / name).read_text(), MINE)


if __name__ == "__main__":
    harness.main()
