#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every tool of every toolset changes no more than its effects say, and what changes something has
a checkpoint, with which a rollback brings it back byte for byte.

git_commit that goes on with a stopped rebase is not here: it writes the working tree as well, which
only the repository tells, and asks the rules about that itself."""
import json
import shutil

import harness
import rollback

# What may change in a repository, and the effects that say so.
SAYS = {"index": {"writes_index"}, "worktree": {"writes_worktree"},
        "refs": {"writes_refs"}, "config": {"writes_config"}}

READING = (
    ("git", "git_status", {}), ("git", "git_diff", {}), ("git", "git_diff", {"cached": True}),
    ("git", "git_log", {}), ("git", "git_show", {}), ("git", "git_blame", {"path": "a.txt"}),
    ("git", "git_branch", {"list_all": True}), ("git", "git_stash", {"action": "list"}),
    ("git", "git_stash", {"action": "show"}),
    ("workflow", "git_status", {}), ("workflow", "git_diff", {}), ("workflow", "git_log", {}),
    ("workflow", "git_branch", {"action": "list"}), ("workflow", "git_remote", {"action": "list"}),
    ("workflow", "git_stash", {"action": "list"}), ("workflow", "git_conflict_info", {}),
    ("workflow", "git_generate_pr", {"target": "side"}),
    ("shell", "bash_command", {"command": "echo x > a.txt", "reason": "x"}),
    ("files", "list_files", {}),
    *(("readonly", "Git", {"op": op} | more) for op, more in (
        ("status", {}), ("log", {}), ("diff", {}), ("show", {"ref": "HEAD"}), ("branch", {}),
        ("blame", {"path": "a.txt"}), ("ls_files", {}), ("rev_parse", {"ref": "HEAD"}))),
)

# They need a file of the sandbox, which is in memory here and gone after each call.
IN_MEMORY = {("files", "read_file"), ("files", "delete_file")}

# The tool, its arguments, and what has to be different afterwards: else the test would show
# nothing.  These begin with changes of every kind.
WRITING = (
    ("git", "git_diff", {"from_ref": "HEAD~1", "to_ref": "HEAD", "output_dir": "out"}, "worktree"),
    ("files", "write_file", {"path": "/workspace/a.txt", "content": "x"}, ""),
    ("git", "git_add", {"paths": ["new.txt"]}, "index"),
    ("git", "git_restore", {"paths": ["a.txt"]}, "worktree"),
    ("git", "git_restore", {"paths": ["b.txt"], "staged": True, "worktree": False},
     "index"),
    ("git", "git_restore", {"paths": ["b.txt"], "staged": True, "worktree": True},
     "index worktree"),
    ("git", "git_commit", {"type": "feat", "message": "x"}, "refs"),
    ("git", "git_branch", {"create": "x"}, "refs config"),
    ("git", "git_branch", {"rename": "side", "new_name": "x"}, "refs config"),
    ("git", "git_branch", {"delete": "merged"}, "refs config"),
    ("git", "git_branch", {"force_delete": "side"}, "refs config"),
    ("git", "git_checkout", {"create_branch": "x"}, "refs config"),
    ("git", "git_checkout", {"paths": ["a.txt"]}, "worktree"),
    ("git", "git_stash", {"action": "push"}, "index worktree refs"),
    ("git", "git_stash", {"action": "drop"}, "refs"),
    ("git", "git_stash", {"action": "clear"}, "refs"),
    ("workflow", "git_commit", {"message": "x", "all": True}, "index refs"),
    ("workflow", "git_branch", {"action": "create", "name": "x"}, "refs config"),
    ("workflow", "git_branch", {"action": "rename", "name": "side", "newName": "x"},
     "refs config"),
    ("workflow", "git_branch", {"action": "delete", "name": "merged"}, "refs config"),
    ("workflow", "git_branch", {"action": "delete", "name": "side", "force": True}, "refs config"),
    ("workflow", "git_checkout", {"target": "HEAD", "paths": ["b.txt"]}, "index worktree"),
    ("workflow", "git_checkout", {"target": "x", "create": True}, "refs config"),
    ("workflow", "git_checkout", {"target": "x", "create": True, "force": True},
     "index worktree refs config"),
    ("workflow", "git_stash", {"action": "push"}, "index worktree refs"),
    ("workflow", "git_stash", {"action": "drop"}, "refs"),
    ("workflow", "git_stash", {"action": "clear"}, "refs"),
    ("workflow", "git_remote", {"action": "add", "name": "x", "url": "https://example.com/x"},
     "config"),
    ("workflow", "git_remote", {"action": "rename", "name": "origin", "newName": "x"},
     "refs config"),
    ("workflow", "git_remote", {"action": "remove", "name": "origin"}, "refs config"),
    ("workflow", "git_fetch", {"remote": "origin"}, "refs"),
    ("workflow", "git_push", {"remote": "origin", "branch": "merged", "setUpstream": True},
     "refs config"),
    ("workflow", "git_push", {"remote": "origin", "branch": "merged", "force": True}, "refs"),
    ("shell", "bash_command", {"command": "echo x > a.txt", "reason": "x"}, "worktree"),
)

# And these without any.
WRITING_CLEAN = (
    ("git", "git_checkout", {"branch": "side"}, "index worktree refs"),
    ("git", "git_checkout", {"branch": "theirs"}, "index worktree refs config"),
    ("git", "git_checkout", {"commit": "side"}, "index worktree refs"),
    ("git", "git_stash", {"action": "pop"}, "worktree refs"),
    ("git", "git_stash", {"action": "apply"}, "worktree"),
    ("workflow", "git_checkout", {"target": "side"}, "index worktree refs"),
    ("workflow", "git_checkout", {"target": "theirs"}, "index worktree refs config"),
    ("workflow", "git_stash", {"action": "pop"}, "worktree refs"),
    ("workflow", "git_stash", {"action": "apply"}, "worktree"),
    ("workflow", "git_merge", {"branch": "side"}, "index worktree refs"),
    ("workflow", "git_pull", {"remote": "origin", "branch": "theirs"}, "index worktree refs"),
    ("workflow", "git_pull", {"remote": "origin", "branch": "theirs", "rebase": True},
     "index worktree refs"),
)

# Every verb of toolset everyday, and of parallel, that git_undo takes back: among changes of every kind, without
# any, and in a conflict.
UNDONE = (
    ("git_add", {"paths": ["new.txt"]}), ("git_add", {"all": True}),
    ("git_restore", {"paths": ["a.txt"]}), ("git_restore", {"paths": ["b.txt"], "staged": True}),
    ("git_commit", {"message": "x"}), ("git_commit", {"message": "x", "all": True}),
    ("git_commit", {"message": "x", "amend": True}),
    ("git_reset", {"to": "HEAD~1", "mode": "soft"}), ("git_reset", {"to": "HEAD~1"}),
    ("git_reset", {"to": "HEAD~1", "mode": "hard"}),
    ("git_stash", {"action": "push"}), ("git_stash", {"action": "push", "untracked": True}),
    ("git_switch", {"branch": "x", "create": True}),
    ("git_branch", {"action": "create", "name": "x"}),
    ("git_branch", {"action": "rename", "name": "side", "new_name": "x"}),
    ("git_branch", {"action": "delete", "name": "side", "force": True}),
    ("git_tag", {"action": "create", "name": "x"}),
    ("git_tag", {"action": "create", "name": "x", "message": "x"}),
    ("git_tag", {"action": "delete", "name": "v0"}),
    ("git_remote", {"action": "add", "name": "x", "url": "https://example.com/x"}),
    ("git_remote", {"action": "rename", "name": "origin", "new_name": "x"}),
    ("git_remote", {"action": "remove", "name": "origin"}),
    ("git_worktree", {"action": "add", "name": "x"}), ("git_worktree", {"action": "lock", "name": "w"}),
    ("git_worktree", {"action": "remove", "name": "w"}),
)
UNDONE_CLEAN = (
    ("git_reset", {"to": "side", "mode": "keep"}),
    ("git_switch", {"branch": "side"}), ("git_switch", {"rev": "side"}), ("git_switch", {"branch": "theirs"}),
    ("git_stash", {"action": "drop"}), ("git_stash", {"action": "pop"}), ("git_stash", {"action": "apply"}),
    ("git_merge", {"branch": "side"}), ("git_merge", {"branch": "side", "squash": True}),
    ("git_merge", {"branch": "clash"}),
    ("git_rebase", {"onto": "side"}), ("git_rebase", {"onto": "clash"}),
    ("git_rebase", {"plan": [{"commit": "HEAD", "do": "reword", "message": "x"}]}),
    ("git_cherry_pick", {"commits": ["side"]}), ("git_cherry_pick", {"commits": ["side"], "no_commit": True}),
    ("git_revert", {"commits": ["HEAD"]}), ("git_revert", {"commits": ["HEAD"], "no_commit": True}),
    ("git_pull", {"remote": "origin", "branch": "theirs"}),
    ("git_pull", {"remote": "origin", "branch": "theirs", "rebase": True}),
    *(("git_land", {"branch": "side", "into": "main", "strategy": strategy})
      for strategy in ("merge", "squash", "rebase")),
    ("git_land", {"branch": "main", "into": "behind", "strategy": "ff"}),
)
UNDONE_IN_CONFLICT = (
    ("git_conflicts", {"action": "resolve", "path": "b.txt", "take": "ours"}),
    ("git_conflicts", {"action": "resolve", "path": "b.txt", "content": "x\n"}),
    ("git_conflicts", {"action": "abort"}),
)
UNDO_READS = {"git_status", "git_diff", "git_log", "git_show", "git_grep", "git_blame", "git_pr", "git_compare"}
NO_STEPS = {"git_fetch", "git_push", "git_undo"}


class Effects(rollback.Rollback):
    def setUp(self):
        super().setUp()
        self.other = self.base / "other"
        self.before = self.whole = None
        self.git("config", "branch.autoSetupMerge", "always")
        self.git("config", "branch.autoSetupRebase", "always")
        self.commit("b.txt", "b\n", "second")
        self.git("branch", "merged")
        self.git("checkout", "-q", "-b", "side", "HEAD~1")
        self.commit("side.txt", "side\n", "side")
        self.git("checkout", "-q", "main")
        self.git("clone", "-q", "--bare", str(self.root), str(self.other))
        self.git("remote", "add", "origin", str(self.other))
        self.git("fetch", "-q", "origin")
        self.git("branch", "-q", "-D", "merged")
        self.git("branch", "-q", "--track", "merged", "main")
        self.git("checkout", "-q", "-b", "theirs", "side")
        self.commit("theirs.txt", "theirs\n", "theirs")
        self.git("push", "-q", "origin", "theirs")
        self.git("checkout", "-q", "main")
        self.git("branch", "-q", "-D", "theirs")
        self.git("config", "branch.side.description", "what it is for")
        self.git("push", "-q", "origin", "side:new")
        self.git("update-ref", "-d", "refs/remotes/origin/new")
        self.git("push", "-q", "-f", "origin", "main~1:merged")
        self.stash("stashed\n", "zero")

    def dirty(self):
        """Changes of every kind, so that there is something to take away."""
        self.write("b.txt", "staged\n")
        self.git("add", "b.txt")
        self.write("a.txt", "changed\n")
        self.write("new.txt", "new\n")

    def keep(self):
        """Every call begins with what is there now."""
        for place in (self.root, self.other):
            shutil.copytree(place, self.base / "kept" / place.name, symlinks=True)
        self.before = self.parts()
        self.whole = self.snapshot()

    def reset(self):
        """Back to that."""
        for place in (self.root, self.other):
            shutil.rmtree(place)
            shutil.copytree(self.base / "kept" / place.name, place, symlinks=True)

    def parts(self):
        """What there is, by what effects are about."""
        tree = self.snapshot()
        return {
            "index": self.out("ls-files", "-s", "-v"),
            "worktree": {name: what for name, what in tree.items()
                         if not name.startswith("git:") and name not in ("refs", "stash")},
            "refs": (tree["refs"], tree["stash"], tree["git:HEAD"]),
            "config": tree["git:config"],
        }

    def run_call(self, toolset, tool, arguments, live=False):
        """One call; gives what it changed, and the journal's line."""
        if toolset == "readonly":
            arguments = arguments | {"repo": str(self.root)}
        options = ("--tool", "command") if live and toolset == "shell" else ()
        self.ok(tool, arguments, "--toolset", toolset, "--root", str(self.other), *options)
        after = self.parts()
        return {part for part in SAYS if self.before[part] != after[part]}, self.record()

    def assert_said(self, changed, line, what):
        """The effects say so, and there is a checkpoint."""
        for part in changed:
            self.assertTrue(SAYS[part] & set(line["effects"]), (what, part, line["effects"]))
        says_something = set().union(*SAYS.values(), {"discards_work", "rewrites_history"})
        self.assertEqual(line["git_commit"] is not None,
                         bool(says_something & set(line["effects"])), (what, line))

    def test_reading(self):
        """what only reads changes nothing at all, and has no checkpoint"""
        self.dirty()
        self.before = self.parts()
        before = {path: rollback.digest(path) for path in rollback.files_below(self.root)}
        for toolset, tool, arguments in READING:
            changed, line = self.run_call(toolset, tool, arguments)
            self.assertEqual(changed, set(), (tool, arguments))
            self.assertEqual(line["effects"], ["reads"], (tool, arguments))
            self.assert_said(changed, line, (tool, arguments))
        self.assertEqual(before, {path: rollback.digest(path)
                                  for path in rollback.files_below(self.root)})

    def each(self, calls):
        """Each call from what was kept."""
        self.keep()
        for toolset, tool, arguments, expected in calls:
            harness.signal.alarm(harness.CASE_SECONDS)
            self.reset()
            changed, line = self.run_call(toolset, tool, arguments, live=True)
            self.assertEqual(changed, set(expected.split()), (toolset, tool, arguments))
            self.assert_said(changed, line, (toolset, tool, arguments))
            if line["git_commit"] and tool not in ("git_fetch", "git_push"):  # they are no steps
                said = self.rollback()
                self.assertEqual(self.snapshot(), self.whole, (tool, arguments, said))

    def test_writing(self):
        """what writes says all of what it changes, and has a checkpoint"""
        self.dirty()
        self.each(WRITING)

    def test_writing_clean(self):
        """so does what needs a working tree without changes"""
        self.each(WRITING_CLEAN)

    def test_conflicts(self):
        """so does what is about a conflict"""
        self.git("checkout", "-q", "-b", "clash", "HEAD~1")
        self.commit("b.txt", "other\n", "clash")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "clash", check=False)
        self.each(("workflow", tool, arguments, expected) for tool, arguments, expected in (
            ("git_conflict_info", {}, ""),
            ("git_merge", {"branch": "", "abort": True}, "index worktree"),
            ("git_resolve_conflict", {"path": "b.txt", "strategy": "ours"}, "index worktree"),
            ("git_resolve_conflict",
             {"path": "b.txt", "strategy": "content", "content": "x\n"}, "index worktree")))

    def each_undone(self, calls):
        """Each call is undone, redone and undone, by the session that made it."""
        server = harness.Server(self, "--toolset", "everyday", "--toolset", "parallel",
                                "--root", str(self.other))
        for tool, arguments in calls:
            harness.signal.alarm(harness.CASE_SECONDS)
            before = self.everything()
            result = server.call(tool, arguments)
            after = self.everything()
            self.assertTrue(before != after, (tool, arguments, result))
            for steps, there in ((1, before), (-1, after), (1, before)):
                said = server.ok("git_undo", {"steps": steps})
                self.assertEqual(self.everything(), there, (tool, arguments, steps, said))

    def everything(self):
        """The snapshot with what is known of worktrees."""
        return self.snapshot() | {"worktrees": self.out("worktree", "list", "--porcelain")}

    def test_undone(self):
        """git_undo brings back byte for byte what each verb changed, and does it again"""
        self.git("tag", "-m", "zero", "v0")
        self.ok("git_worktree", {"action": "add", "name": "w"}, "--toolset", "parallel")
        self.dirty()
        self.each_undone(UNDONE)

    def test_undone_clean(self):
        """the same of what needs a working tree without changes"""
        self.git("branch", "behind", "main~1")
        self.git("checkout", "-q", "-b", "clash", "HEAD~1")
        self.commit("b.txt", "other\n", "clash")
        self.git("checkout", "-q", "main")
        self.each_undone(UNDONE_CLEAN)

    def test_undone_conflicts(self):
        """the same of what is about a conflict"""
        self.git("checkout", "-q", "-b", "clash", "HEAD~1")
        self.commit("b.txt", "other\n", "clash")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "clash", check=False)
        self.each_undone(UNDONE_IN_CONFLICT)

    def test_every_tool(self):
        """no tool is left out"""
        seen = {(toolset, tool) for toolset, tool, *_ in READING + WRITING + WRITING_CLEAN}
        seen |= {("workflow", "git_resolve_conflict")} | IN_MEMORY
        for toolset in ("git", "workflow", "readonly", "shell", "files"):
            done = self.command("tools", "--json", "--toolset", toolset)
            listed = json.loads(done.stdout)
            tools = listed["tools"] if isinstance(listed, dict) else listed
            for tool in tools:
                self.assertIn((toolset, tool["name"]), seen)
        undone = {tool for tool, _ in UNDONE + UNDONE_CLEAN + UNDONE_IN_CONFLICT} | UNDO_READS | NO_STEPS
        for toolset in ("everyday", "parallel"):
            done = self.command("tools", "--json", "--toolset", toolset)
            self.assertLessEqual({tool["name"] for tool in json.loads(done.stdout)}, undone)


if __name__ == "__main__":
    harness.main()
