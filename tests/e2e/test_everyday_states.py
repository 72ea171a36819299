#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: every tool in every state of a repository: it answers well, or leaves all as it was."""
import subprocess

import everyday
import harness
from everyday import LINES, text_with

#: One call of each operation, on a repository with a file f.txt and, mostly, a branch topic.
CALLS = (
    ("git_status", {}), ("git_diff", {}), ("git_diff", {"staged": True}), ("git_diff", {"hunks": True}),
    ("git_log", {}), ("git_log", {"patch": True}), ("git_show", {}), ("git_show", {"path": "f.txt"}),
    ("git_grep", {"pattern": "line"}), ("git_blame", {"path": "f.txt"}), ("git_branch", {}),
    ("git_tag", {}), ("git_pr", {}), ("git_stash", {"action": "list"}), ("git_remote", {}),
    ("git_worktree", {}), ("git_conflicts", {}), ("git_undo", {"dry_run": True}),
    ("git_add", {"paths": ["f.txt"]}), ("git_add", {"all": True}),
    ("git_restore", {"paths": ["f.txt"]}), ("git_restore", {"paths": ["f.txt"], "staged": True}),
    ("git_commit", {"message": "m"}), ("git_commit", {"message": "m", "paths": ["f.txt"]}),
    ("git_commit", {"message": "m", "all": True}), ("git_commit", {"amend": True, "message": "m"}),
    ("git_reset", {"to": "HEAD"}), ("git_reset", {"to": "HEAD~1", "mode": "hard"}),
    ("git_reset", {"to": "HEAD~1", "mode": "soft"}), ("git_reset", {"to": "HEAD~1", "mode": "keep"}),
    ("git_stash", {}), ("git_stash", {"action": "pop"}), ("git_branch", {"action": "create", "name": "n"}),
    ("git_branch", {"action": "delete", "name": "topic"}),
    ("git_branch", {"action": "rename", "name": "topic", "new_name": "other"}),
    ("git_switch", {"branch": "topic"}), ("git_switch", {"branch": "n", "create": True}),
    ("git_switch", {"rev": "HEAD"}), ("git_tag", {"action": "create", "name": "v1"}),
    ("git_worktree", {"action": "add", "name": "w"}), ("git_merge", {"branch": "topic"}),
    ("git_merge", {"branch": "topic", "squash": True}), ("git_rebase", {"onto": "topic"}),
    ("git_rebase", {"plan": [{"commit": "HEAD", "do": "reword", "message": "r"}]}),
    ("git_cherry_pick", {"commits": ["topic"]}), ("git_revert", {"commits": ["HEAD"]}),
    ("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "ours"}),
    ("git_conflicts", {"action": "continue"}), ("git_conflicts", {"action": "skip"}),
    ("git_conflicts", {"action": "abort"}), ("git_fetch", {}), ("git_pull", {}), ("git_push", {}),
    ("git_undo", {}),
)

#: What git knows and airlock does not pass on.
GITS_ADVICE = ("hint:", "use \"git", "(use ", "git add/rm", "fatal:", "git rebase --", "git commit --")

#: A clone's remote may be outside of the root.
KINDS = ("ExecutionFailed", "BadArgs", "SandboxViolation")


class States(everyday.Case):
    def sweep(self, fail=(), succeed=()):
        """Each call on what is now: the named tools fail, or succeed, whatever their arguments."""
        kept = self.base / "kept"
        subprocess.run(["cp", "-a", str(self.root), str(kept)], check=True)
        server, before, outcomes = everyday.Server(self), self.snapshot(), {}
        for tool, arguments in CALLS:
            result = server.call(tool, arguments)
            after = self.snapshot()
            for words in GITS_ADVICE:
                self.assertNotIn(words, result.text, (tool, arguments))
            if result.failed:
                self.assertEqual(after, before, (tool, arguments, result))
                self.assertGreaterEqual(len(result.text.splitlines()), 2, (tool, arguments, result))
                self.assertIn(result.kind, KINDS, (tool, arguments, result))
                self.check_remedy(result)
            name = " ".join([tool, *[str(arguments[key]) for key in ("action", "mode")
                                     if key in arguments]])
            outcomes.setdefault(name, set()).add(result.failed)
            if after != before:
                subprocess.run(["find", str(self.root), "-mindepth", "1", "-delete"], check=True)
                subprocess.run(["cp", "-a", f"{kept}/.", str(self.root)], check=True)
        for name in fail:
            self.assertEqual(outcomes[name], {True}, name)
        for name in succeed:
            self.assertEqual(outcomes[name], {False}, name)

    def check_remedy(self, result):
        """Where there is no commit yet, the next step is to make one."""
        if not self.git("rev-parse", "-q", "--verify", "HEAD", check=False).stdout and \
                "HEAD" in result.error["message"]:
            self.assertIn("git_", result.text.splitlines()[1])
            self.assertNotIn("git_status shows the state", result.text)

    def story(self):
        self.fork(text_with(at5="ours"), text_with(at5="theirs"), "".join(LINES))

    def test_unborn(self):
        """a branch without a commit"""
        self.git("init", "-q")
        self.write("f.txt", "line\n")
        self.sweep(fail=("git_reset", "git_reset hard", "git_merge", "git_rebase", "git_revert",
                         "git_cherry_pick", "git_stash pop", "git_conflicts continue", "git_push",
                         "git_tag create", "git_branch create"),
                   succeed=("git_status", "git_branch", "git_tag", "git_stash list", "git_conflicts",
                            "git_remote", "git_worktree"))

    def test_broken(self):
        """a branch whose file a power failure has left empty, zeroed or cut is broken, not without commits"""
        self.story()
        self.git("branch", "-q", "sound")
        self.git("remote", "add", "origin", str(self.base / "nowhere"))
        refs = self.root / ".git/refs"
        (refs / "remotes/origin").mkdir(parents=True)
        (refs / "remotes/origin/HEAD").write_text("ref: refs/remotes/origin/gone\n", encoding="utf-8")
        sound = (refs / "heads/main").read_bytes()
        for content in (b"", b"\0" * 41, sound[:20] + b"\n", b"nonsense\n"):
            (refs / "heads/topic").write_bytes(content)
            result = self.fails("ExecutionFailed", "'refs/heads/topic' is broken", "git_switch", {"branch": "topic"})
            self.assertIn("'git update-ref' writes it", result.text)
            self.assertNotIn("create makes", result.text)
            (refs / "heads/main").write_bytes(content)
            for tool, arguments in (("git_log", {}), ("git_show", {}), ("git_show", {"rev": "HEAD~1"}),
                                    ("git_commit", {"message": "m"}), ("git_stash", {}),
                                    ("git_diff", {"from": "HEAD"})):
                text = self.call(tool, arguments).text
                self.assertIn("'refs/heads/main' is broken: its file holds no commit's id", text, tool)
                self.assertNotIn("no commit yet", text)
            text = self.says("git_status")
            self.assertTrue(text.startswith("main, its reference is broken"), text)
            self.assertNotIn("gone", text)  # the default branch of a remote that has it no more
            self.assertNotIn("o commits yet", harness.Case.call(self, "git_log", {}, "--toolset", "workflow").text)
            (refs / "heads/main").write_bytes(sound)
        self.assertNotIn("broken", self.says("git_status").splitlines()[0])
        (refs / "heads/main").write_bytes(b"deadbeef" * 5 + b"\n")
        for tool in ("git_status", "git_log", "git_diff"):
            self.assertIn("'refs/heads/main' is broken: the commit that it names is not there",
                          self.call(tool, {"from": "HEAD"} if tool == "git_diff" else {}).text, tool)

    def test_bisect(self):
        """a bisection is said, and how it goes on or ends"""
        self.story()
        self.git("bisect", "start", "HEAD", "HEAD~2")
        self.assertIn(", bisect of main in progress: a user can continue it with git bisect",
                      self.says("git_status").splitlines()[0])
        self.assertIn("a bisect is in progress", self.says("git_conflicts"))
        self.fails("ExecutionFailed", "git bisect reset", "git_conflicts", {"action": "abort"})
        self.git("bisect", "reset")
        self.assertNotIn("bisect", self.says("git_status"))

    def test_broken_reftables(self):
        """reftables that were cut are broken, not without commits"""
        if self.git("init", "-q", "--ref-format=reftable", check=False).returncode != 0:
            self.skipTest("this git knows no reftables")
        self.story()
        tables = list((self.root / ".git/reftable").glob("*.ref"))
        sound = {table: table.read_bytes() for table in tables}
        for table in tables:
            table.chmod(0o644)
            table.write_bytes(sound[table][:20])
        for tool, arguments in (("git_log", {}), ("git_show", {}), ("git_commit", {"message": "m"})):
            self.assertIn("'HEAD' is broken: no reference can be read", self.call(tool, arguments).text, tool)
        text = self.says("git_status")
        self.assertTrue(text.startswith("HEAD, its reference is broken"), text)
        self.assertNotIn("o commits yet", harness.Case.call(self, "git_log", {}, "--toolset", "workflow").text)
        for table in tables:
            table.write_bytes(sound[table])
        self.assertNotIn("broken", self.says("git_status").splitlines()[0])

    def test_merge_in_progress(self):
        """a merge that stopped: an index with conflicts"""
        self.story()
        self.git("merge", "-q", "topic", check=False)
        self.sweep(fail=("git_merge", "git_rebase", "git_cherry_pick", "git_revert", "git_stash",
                         "git_pull", "git_switch", "git_commit", "git_conflicts continue",
                         "git_conflicts skip"),
                   succeed=("git_status", "git_diff", "git_log", "git_show", "git_conflicts",
                            "git_conflicts resolve", "git_conflicts abort"))

    def test_gone(self):
        """a file that is only in the index: the next step is named"""
        self.story()
        (self.root / "f.txt").unlink()
        self.assertIn("git_status has the names", self.fails("ExecutionFailed", "No file matches 'f.txt'",
                                                             "git_blame", {"path": "f.txt"}).text)
        self.assertIn("A U Thor", self.says("git_blame", {"path": "f.txt", "rev": "HEAD"}))

    def test_rebase_of_another(self):
        """a rebase that somebody else began with git, with a program in its todo list"""
        self.story()
        self.git("checkout", "-q", "topic")
        self.git("rebase", "-q", "--exec", f"touch {self.base}/ran", "main", check=False)
        self.sweep(fail=("git_merge", "git_rebase", "git_cherry_pick", "git_revert", "git_stash",
                         "git_pull", "git_conflicts continue", "git_conflicts skip"),
                   succeed=("git_status", "git_diff", "git_conflicts", "git_conflicts resolve",
                            "git_conflicts abort"))
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "ours"})
        result = self.fails("ExecutionFailed", "has 'exec' among what is left to do",
                            "git_conflicts", {"action": "continue"})
        self.assertIn("git_conflicts with action abort aborts it", result.text)
        self.assertFalse((self.base / "ran").exists())

    def test_detached(self):
        """HEAD on no branch"""
        self.story()
        self.git("checkout", "-q", "--detach", "topic")
        self.write("f.txt", text_with(at5="theirs", at20="mine"))
        self.sweep(fail=("git_push", "git_pull"),
                   succeed=("git_status", "git_diff", "git_log", "git_add", "git_stash",
                            "git_branch create"))

    def test_partial(self):
        """a partial clone without its blobs: it is said, and nothing is half done"""
        self.story()
        self.git("config", "uploadpack.allowFilter", "true")
        clone = self.base / "clone"
        self.git("clone", "-q", "--no-checkout", "--filter=blob:none", f"file://{self.root}",
                 str(clone))
        self.root = clone
        self.git("read-tree", "HEAD")
        self.sweep(fail=("git_merge", "git_reset hard", "git_blame"),
                   succeed=("git_status", "git_branch", "git_tag"))

    def test_shallow(self):
        """a shallow clone: what is beyond it is not guessed"""
        self.story()
        clone = self.base / "clone"
        self.git("clone", "-q", "--depth=1", f"file://{self.root}", str(clone))
        self.root = clone
        for tool, arguments in (("git_blame", {"path": "f.txt"}), ("git_status", {}), ("git_log", {}),
                                ("git_log", {"changed": "line 7"}),
                                ("git_log", {"changed": "nowhere"}), ("git_show", {"rev": "HEAD~1"}),
                                ("git_log", {"range": "HEAD~3..HEAD"}), ("git_reset", {"to": "HEAD~2"})):
            self.assertEqual(self.call(tool, arguments).text.replace("--unshallow", "").count("shallow"),
                             1, self.call(tool, arguments).text)
        self.assertIn("git fetch --unshallow", self.call("git_show", {"rev": "HEAD~1"}).text)
        self.assertNotIn("shallow", self.call("git_show", {"rev": "nowhere"}).text)
        self.assertNotIn("shallow", self.call("git_log", {"max_count": 1, "range": "HEAD"}).text)
        self.write("f.txt", text_with(at5="ours", at20="mine"))
        self.sweep(fail=("git_reset hard", "git_merge"),
                   succeed=("git_status", "git_log", "git_add", "git_stash", "git_blame"))


if __name__ == "__main__":
    harness.main()
