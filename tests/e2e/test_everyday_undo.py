#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_undo takes back what the session's own calls changed, and nobody else's work."""
import json
import subprocess

import everyday
import harness
from everyday import LINES, text_with


class Undo(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f.txt", "".join(LINES), "base")
        self.server = self.serve()

    def serve(self, *options):
        server = everyday.Server(self, *options)
        self.addCleanup(server.close)
        return server

    def fails_with(self, server, kind, words, arguments=None):
        before = self.snapshot()
        result = server.call("git_undo", arguments or {})
        self.assertTrue(result.failed, result)
        self.assertEqual(result.kind, kind, result)
        self.assertIn(words, result.text)
        self.assertEqual(self.snapshot(), before)

    def airlock(self, *words):
        """A command of the user's."""
        subprocess.run([harness.AIRLOCK, *words], cwd=self.root, env=self.env, check=True,
                       stdin=subprocess.DEVNULL, capture_output=True,
                       timeout=harness.WATCHDOG_SECONDS)

    def text(self):
        return (self.root / "f.txt").read_text()

    def test_discard(self):
        """git_undo: brings back what a wrong discard took, and redoes it"""
        self.write("f.txt", "mine\n")
        self.server.says("git_restore", {"paths": ["f.txt"]})
        before = self.snapshot()
        look = self.server.says("git_undo", {"dry_run": True})
        self.assertIn("This would undo git_restore: Discard changes of f.txt\n  f.txt\n", look)
        self.assertEqual(self.snapshot(), before)
        text = self.server.says("git_undo")
        self.assertEqual(text, "Undone: git_restore: Discard changes of f.txt\n  f.txt\n"
                         "main, 1 not staged")
        self.assertEqual(self.text(), "mine\n")
        self.assertIn("Redone what the last undo undid:\n  f.txt\n",
                      self.server.says("git_undo", {"steps": -1}))
        self.assertEqual(self.text(), "".join(LINES))

    def test_nothing_done(self):
        """git_undo: a merge and a reset that had nothing to do are no steps, nor is redo lost"""
        for tool, arguments in (("git_merge", {"branch": "main"}),
                                ("git_reset", {"to": "HEAD", "mode": "hard"})):
            self.write("f.txt", f"{tool}\n")
            self.server.says("git_commit", {"all": True, "message": tool})
            head = self.out("rev-parse", "HEAD")
            self.server.says(tool, arguments)
            self.assertTrue(self.server.says("git_undo").startswith("Undone: git_commit"))
            self.assertNotEqual(self.out("rev-parse", "HEAD"), head)
            self.server.says(tool, {"branch": "main"} if tool == "git_merge" else {"to": "HEAD"})
            self.assertIn("Redone", self.server.says("git_undo", {"steps": -1}))
            self.assertEqual(self.out("rev-parse", "HEAD"), head)
            self.server.says("git_undo")
            self.assertEqual(self.out("status", "--porcelain"), " M f.txt\n")
            self.git("checkout", "-q", "f.txt")

    def test_worktree(self):
        """git_undo: of a worktree that was made"""
        self.server.says("git_worktree", {"action": "add", "name": "w"})
        self.assertIn("the worktree 'w'", self.server.says("git_undo", {"dry_run": True}))
        self.assertTrue((self.root / ".worktrees/w").exists())
        self.assertIn("the worktree 'w'", self.server.says("git_undo"))
        self.assertFalse((self.root / ".worktrees/w").exists())

    def test_unlocked_worktree(self):
        """git_undo: of an unlock whose worktree was removed since"""
        self.server.says("git_worktree", {"action": "add", "name": "w", "reason": "mine"})
        self.server.says("git_worktree", {"action": "unlock", "name": "w"})
        self.git("worktree", "remove", str(self.root / ".worktrees/w"))
        self.fails_with(self.server, "ExecutionFailed", "the lock of the worktree 'w', which is gone")
        self.fails_with(self.server, "ExecutionFailed", "the lock of the worktree 'w', which is gone",
                        {"dry_run": True})
        self.airlock("rollback", "--force")
        self.assertFalse((self.root / ".worktrees/w").exists())

    def test_removed_worktree(self):
        """git_undo: of an unlock and the removal after it brings the worktree back as it was locked"""
        self.server.says("git_worktree", {"action": "add", "name": "w", "reason": "mine"})
        self.server.says("git_worktree", {"action": "unlock", "name": "w"})
        self.server.says("git_worktree", {"action": "remove", "name": "w"})
        self.server.says("git_undo", {"steps": 2})
        self.assertIn("locked mine", self.out("worktree", "list", "--porcelain"))
        self.server.says("git_undo", {"steps": -1})
        self.assertNotIn("locked", self.out("worktree", "list", "--porcelain"))

    def test_locked_worktree(self):
        """git_undo: of a lock whose worktree was removed since has nothing to do"""
        self.server.says("git_worktree", {"action": "add", "name": "w"})
        self.server.says("git_worktree", {"action": "lock", "name": "w"})
        self.git("worktree", "remove", "-f", "-f", str(self.root / ".worktrees/w"))
        self.assertIn("nothing: it is as it was before", self.server.says("git_undo"))

    def test_steps(self):
        """git_undo: one after the other goes further back; steps take several; redo returns"""
        for name in ("a", "b", "c"):
            self.write(name, name)
            self.server.says("git_commit", {"message": name, "all": True})
        done = self.snapshot()
        self.assertIn("git_commit: Commit with every change: c", self.server.says("git_undo"))
        self.assertIn("git_commit: Commit with every change: b", self.server.says("git_undo"))
        self.assertEqual(self.out("log", "-1", "--format=%s").strip(), "a")
        self.server.says("git_undo", {"steps": -1})
        self.server.says("git_undo", {"steps": -1})
        self.assertEqual(self.snapshot(), done)
        self.assertIn("Nothing to redo", self.server.says("git_undo", {"steps": -1}))
        text = self.server.says("git_undo", {"steps": 3})
        self.assertIn("c; git_commit: Commit with every change: b; git_commit: ", text)
        self.assertEqual(self.out("log", "-1", "--format=%s").strip(), "base")
        self.assertIn("Nothing to undo", self.server.says("git_undo"))
        self.server.says("git_add", {"all": True})
        self.fails_with(self.server, "BadArgs", "only 1 call of this session can be undone, not 2",
                        {"steps": 2})

    def test_steps_possible(self):
        """git_undo: where not all of the steps can be taken, it says how many can"""
        for number in range(4):
            self.write("f.txt", f"{number}\n")
            self.server.says("git_commit", {"all": True, "message": f"{number}"})
            if number == 1:
                self.commit("f.txt", "theirs\n", "of somebody else")
        for steps in (3, 4):
            self.fails_with(self.server, "ExecutionFailed", "The last 2 calls can be undone: steps 2", {"steps": steps})
        self.server.says("git_undo", {"steps": 2})
        self.assertEqual(self.out("log", "-1", "--format=%s"), "of somebody else\n")
        self.assertNotIn("can be undone", self.server.call("git_undo", {"steps": 2}).text)

    def test_everything(self):
        """git_undo: commit, switch, reset, stage and restore by hunk, byte for byte"""
        self.write("f.txt", text_with(at1="one"))
        self.write("new", "n\n")
        for tool, arguments in (("git_add", {"paths": ["f.txt", "new"]}),
                                ("git_restore", {"paths": ["new"], "staged": True}),
                                ("git_commit", {"message": "m"}),
                                ("git_commit", {"message": "again", "amend": True}),
                                ("git_switch", {"branch": "topic", "create": True}),
                                ("git_switch", {"rev": "HEAD~1"}),
                                ("git_reset", {"to": "topic", "mode": "hard"}),
                                ("git_reset", {"to": "HEAD~1"})):
            before = self.snapshot()
            self.server.says(tool, arguments)
            self.assertNotEqual(self.snapshot(), before)
            self.server.says("git_undo")
            self.assertEqual(self.snapshot(), before)
            self.server.says("git_undo", {"steps": -1})

    def test_name_only(self):
        """git_undo: an empty file of which only the name was staged is not the same as one staged"""
        self.write("empty", "")
        self.write("other", "o\n")
        self.git("add", "-N", "empty", "other")
        before = self.snapshot()
        self.server.says("git_add", {"paths": ["empty"]})
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "empty\n")
        self.assertIn("Undone: git_add", self.server.says("git_undo"))
        self.assertEqual(self.snapshot(), before)
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        self.assertEqual(self.out("diff", "--name-only"), "empty\nother\n")

    def test_rules(self):
        """a rule by branch and effect holds for an undo and a redo that move the branch, and for no other"""
        config = self.base / "config.toml"
        config.write_text('[[tools.approval.rule]]\nbranch = "main"\neffect = "rewrites_history"\ndecision = "deny"\n')
        self.held_to("configuration", "--config", str(config))

    def test_rules_of_worker(self):
        """so does a rule of a worker file, where the configuration has none"""
        worker = self.base / "worker.md"
        worker.write_text("---\nname: w\npolicy: [{branch: main, effect: rewrites_history, decision: deny}]\n---\n")
        self.held_to("worker file", "--worker", str(worker))

    def held_to(self, source, *options):
        """Undo and redo on two branches, one of which has a rule."""
        self.git("switch", "-qc", "side")
        server = self.serve(*options)
        for branch, moves in ("side", False), ("main", True):
            self.git("switch", "-q", branch)
            self.write("f.txt", f"{branch}\n")
            server.says("git_add", {"paths": ["f.txt"]})
            server.says("git_undo")
            server.says("git_commit", {"message": "m", "paths": ["f.txt"]})
            if moves:
                self.assertIn("This would undo git_commit", server.says("git_undo", {"dry_run": True}))
                before = self.snapshot()
                result = server.call("git_undo", {})
                self.assertTrue(result.failed and f"rule 1 of the {source}" in result.text, result)
                self.assertEqual(self.snapshot(), before)
            else:
                server.says("git_undo")
                server.says("git_undo", {"steps": -1})

    def test_other_sessions(self):
        """git_undo: another session's calls are not this one's"""
        other = self.serve()
        self.write("a", "a")
        self.server.says("git_add", {"paths": ["a"]})
        self.assertIn("Nothing to undo", other.says("git_undo"))
        self.assertEqual(self.out("diff", "--cached", "--name-only").split(), ["a"])
        self.assertIn("Undone: git_add", self.server.says("git_undo"))

    def test_lost(self):
        """git_undo: refuses, naming it, where somebody else's change would be lost"""
        self.write("f.txt", "mine\n")
        self.server.says("git_restore", {"paths": ["f.txt"]})
        self.write("f.txt", "theirs\n")
        self.fails_with(self.server, "ExecutionFailed",
                        "Changed since, by no call of this session here, and would be lost: f.txt")
        self.write("f.txt", "".join(LINES))
        self.server.says("git_undo")
        self.assertEqual(self.text(), "mine\n")

    def test_ended_by_another(self):
        """git_undo: of a merge that another session ended as it had begun says that nothing changed"""
        self.fork(text_with(at1="ours"), text_with(at1="theirs"))
        self.server.says("git_merge", {"branch": "topic"})
        self.serve().says("git_conflicts", {"action": "resolve", "take": "ours", "continue": True})
        self.assertIn("\n  nothing: it is as it was before\n", self.server.says("git_undo"))

    def test_configuration_named(self):
        """git_undo: says that the configuration goes back"""
        self.server.says("git_remote", {"action": "add", "name": "r", "url": "https://example.org/r.git"})
        self.assertIn("\n  config in the git directory\n", self.server.says("git_undo"))
        self.assertEqual(self.out("remote"), "")

    def test_operation_only(self):
        """git_undo: of a merge that has changed no file by now does not say that nothing changes"""
        self.fork(text_with(at1="ours"), text_with(at1="theirs"))
        self.server.says("git_merge", {"branch": "topic"})
        self.server.says("git_conflicts", {"action": "resolve", "take": "ours"})
        self.assertEqual(self.server.says("git_undo", {"steps": 2}).count("nothing"), 0)
        self.assertFalse((self.root / ".git/MERGE_HEAD").exists())

    def test_lost_ref(self):
        """git_undo: a branch that somebody else moved since is not moved back"""
        self.write("a", "a")
        self.server.says("git_commit", {"message": "m", "all": True})
        self.git("commit", "-q", "--allow-empty", "-m", "theirs")
        self.fails_with(self.server, "ExecutionFailed", "refs/heads/main")

    def test_lost_to_session(self):
        """git_undo: another session's change since is somebody else's"""
        other = self.serve()
        self.write("a", "a")
        self.server.says("git_add", {"paths": ["a"]})
        self.write("a", "b")
        other.says("git_add", {"paths": ["a"]})
        self.fails_with(self.server, "ExecutionFailed", "a in the index")
        other.says("git_undo")
        self.server.says("git_undo")
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")

    def test_notes(self):
        """git_undo: what git only notes, as ORIG_HEAD is, is no obstacle when others write it"""
        for name in "ab":
            self.write("f.txt", name)
            self.server.says("git_commit", {"message": name, "paths": ["f.txt"]})
        head = self.out("rev-parse", "HEAD")
        self.server.says("git_reset", {"to": "HEAD~1", "mode": "keep"})
        self.git("reset", "-q", "--hard")
        self.server.says("git_undo")
        self.assertEqual(self.out("rev-parse", "HEAD"), head)

    def test_ignored_here(self):
        """git_undo: of a switch takes files along that are ignored here and tracked there"""
        self.git("checkout", "-q", "-b", "side")
        self.write("gen", "generated\n")
        self.git("add", "gen")
        self.git("commit", "-q", "-m", "tracked")
        self.git("checkout", "-q", "main")
        self.write(".gitignore", "gen\nown\n")
        self.git("add", ".gitignore")
        self.git("commit", "-q", "-m", "ignored")
        self.write("own", "was there before\n")
        for _ in range(2):
            self.server.says("git_switch", {"branch": "side"})
            for steps in (1, -1, 1):
                self.server.says("git_undo", {"steps": steps})
                self.assertEqual((self.root / "gen").exists(), steps < 0)
                self.assertEqual((self.root / "own").read_text(), "was there before\n")

    def test_others_staged(self):
        """git_undo: what somebody else staged since stays staged, as do flags of other entries"""
        for name in ("a", "d/a", "b"):
            self.write(name, name)
        self.git("update-index", "--skip-worktree", "f.txt")
        self.server.says("git_add", {"paths": ["a", "d"]})
        self.git("add", "b")
        self.write("n", "")
        self.git("add", "-N", "n")
        said = self.server.says("git_undo")
        self.assertIn("the index (what is staged)", said)
        self.assertEqual(self.out("ls-files", "-v").split("\n"), 
                         ["H a.txt", "H b", "S f.txt", "H n", ""])
        self.assertEqual(self.out("status", "--porcelain").splitlines(),
                         ["A  b", " A n", "?? a", "?? d/"])
        self.server.says("git_undo", {"steps": -1})
        self.assertEqual(self.out("diff", "--cached", "--name-only").split(), ["a", "b", "d/a"])

    def test_others_staged_flags(self):
        """git_undo: entries come back one by one with their flags and conflicts"""
        self.git("checkout", "-q", "-b", "side")
        self.write("f.txt", "theirs\n")
        self.git("commit", "-q", "-am", "theirs")
        self.git("checkout", "-q", "main")
        self.write("f.txt", "ours\n")
        self.write("g", "g\n")
        self.git("add", "g")
        self.git("commit", "-q", "-am", "ours")
        self.git("merge", "-q", "side", check=False)
        self.git("update-index", "--assume-unchanged", "g")
        before = self.out("ls-files", "-s", "-v")
        self.assertEqual(before.count("f.txt"), 3)
        self.server.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "ours"})
        self.write("other", "o\n")
        self.git("add", "other")
        self.server.says("git_undo")
        self.assertEqual([line for line in self.out("ls-files", "-s", "-v").splitlines()
                          if not line.endswith("\tother")], before.splitlines())
        self.assertIn("other", self.out("ls-files"))

    def test_others_stay(self):
        """git_undo: what somebody else changed elsewhere stays"""
        self.write("f.txt", "mine\n")
        self.server.says("git_restore", {"paths": ["f.txt"]})
        self.write("theirs", "t\n")
        self.server.says("git_undo")
        self.assertEqual((self.root / "theirs").read_text(), "t\n")
        self.assertEqual(self.text(), "mine\n")

    def test_undone_meanwhile(self):
        """git_undo: a step that was undone counts as nothing when an earlier one is undone"""
        self.write("other.txt", "one\n")
        self.git("add", "other.txt")
        self.git("commit", "-q", "-m", "other")
        self.write("f.txt", "mine\n")
        self.server.says("git_commit", {"all": True, "message": "mine"})
        self.write("other.txt", "dirty\n")
        self.server.says("git_restore", {"paths": ["other.txt"]})
        self.server.says("git_undo")
        self.assertEqual((self.root / "other.txt").read_text(), "dirty\n")
        self.write("other.txt", "somebody else's\n")
        self.assertIn("Undone: git_commit", self.server.says("git_undo"))
        self.assertEqual((self.root / "other.txt").read_text(), "somebody else's\n")

    def test_nothing(self):
        """git_undo: nothing to undo is an answer; bad steps are not"""
        self.assertIn("Nothing to undo", self.server.says("git_undo"))
        self.assertIn("Nothing to redo", self.server.says("git_undo", {"steps": -1}))
        for steps in (0, -2, 51, "one"):
            self.assertEqual(self.server.call("git_undo", {"steps": steps}).kind, "BadArgs")

    def test_without_checkpoints(self):
        """git_undo: says so when the session takes no checkpoints"""
        self.fails_with(self.serve("--no-git"), "ExecutionFailed", "takes no checkpoints")

    def test_by_the_user(self):
        """git_undo: what a user rolled back is as it was, and nothing more is undone"""
        self.write("f.txt", "mine\n")
        self.server.says("git_restore", {"paths": ["f.txt"]})
        self.airlock("rollback")
        self.assertEqual(self.text(), "mine\n")
        self.assertIn("nothing: it is as it was before", self.server.says("git_undo"))
        self.assertEqual(self.text(), "mine\n")

    def test_recorded(self):
        """git_undo: is journaled as a rollback of this session, which a user can take back"""
        self.write("f.txt", "mine\n")
        self.server.says("git_restore", {"paths": ["f.txt"]})
        self.server.says("git_undo")
        lines = [json.loads(line) for line in
                 (self.home / ".local/state/airlock/tool_log.jsonl").read_bytes().splitlines()]
        rollback = [line for line in lines if line["tool"] == "rollback"]
        self.assertEqual(len(rollback), 1, lines)
        self.assertEqual(rollback[0]["conversation_id"], lines[0]["conversation_id"])
        self.assertEqual(rollback[0]["decided_by"], "policy")
        self.airlock("rollback")
        self.assertEqual(self.text(), "".join(LINES))


if __name__ == "__main__":
    harness.main()
