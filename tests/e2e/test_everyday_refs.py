#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_branch, git_tag and git_pr."""
import shutil
import subprocess

import everyday
import harness


class Case(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.side = self.commit("b", "b\n", "aside")
        self.git("checkout", "-q", "main")
        self.git("branch", "old")

    def branches(self):
        return self.out("for-each-ref", "--format=%(refname:short)", "refs/heads").split()

    def tags(self):
        return self.out("tag").split()


class Branch(Case):
    def test_list(self):
        """git_branch: commit, upstream, merged or not, working tree; remote-tracking ones last"""
        far = self.base / "far"
        self.git("clone", "-q", "--bare", str(self.root), str(far))
        self.git("remote", "add", "origin", str(far))
        self.git("fetch", "-q")
        self.git("branch", "-q", "-u", "origin/main")
        self.commit("c", "c\n", "ahead")
        self.git("worktree", "add", "-q", str(self.base / "root/tree"), "old")
        text = self.says("git_branch")
        self.assertRegex(text, r"(?m)^\* main [0-9a-f]{8} \d{4}-\d\d-\d\d  ahead \(ahead 1 of origin/main\)$")
        self.assertRegex(text, r"(?m)^  side [0-9a-f]{8} \S+  aside \(not merged\)$")
        self.assertRegex(text, r"(?m)^  old .*  first \(merged, in .*/tree\)$")
        local, _, remote = text.partition("remote-tracking:\n")
        self.assertNotIn("origin/side", local)
        self.assertIn("  origin/side ", remote)

    def test_filters(self):
        """git_branch: a glob, merged_into, contains"""
        def names(**arguments):
            return [line[2:].split()[0] for line in self.says("git_branch", arguments).splitlines()]

        self.assertEqual(names(name="s*"), ["side"])
        self.assertEqual(sorted(names(merged_into="main")), ["main", "old"])
        self.assertEqual(names(contains="side"), ["side"])
        self.assertEqual(self.says("git_branch", {"name": "z*"}), "No branches match.")
        self.assertEqual(self.says("git_branch", {"name": "main", "contains": "side"}),
                         "No branches match.")
        self.assertEqual(self.says("git_branch", {"name": "z"}),
                         "No branch is called 'z'; action create makes one.")

    def test_clash(self):
        """a name that is a directory of another one: said in words, wherever a branch is made"""
        self.git("branch", "feature/x")
        for tool, arguments in (
                ("git_branch", {"action": "create", "name": "main/x"}),
                ("git_branch", {"action": "create", "name": "feature"}),
                ("git_branch", {"action": "rename", "name": "old", "new_name": "feature/x/y"}),
                ("git_switch", {"branch": "feature", "create": True}),
                ("git_switch", {"branch": "feature", "create": True, "from": "side"}),
                ("git_worktree", {"action": "add", "name": "w", "branch": "feature", "create": True})):
            with self.subTest(arguments):
                result = self.fails("ExecutionFailed", "cannot both exist", tool, arguments)
                self.assertIn("Choose another name", result.text)
                self.assertNotIn("refs/heads/", result.text)
                self.assertIn("'feature/x'" if "main/x" not in result.text else "'main'", result.text)
        self.git("tag", "v1")
        self.fails("ExecutionFailed", "The tags 'v1/a' and 'v1' cannot both exist", "git_tag",
                   {"action": "create", "name": "v1/a"})
        self.says("git_branch", {"action": "rename", "name": "old", "new_name": "old/deeper"})

    def test_changes(self):
        """git_branch: create, rename, delete; nobody is asked, since a checkpoint has it"""
        self.assertIn("Created branch new;", self.says("git_branch", {
            "action": "create", "name": "new", "from": "side"}, approval="ask"))
        self.assertEqual(self.out("rev-parse", "new").strip(), self.side)
        self.says("git_branch", {"action": "rename", "name": "new", "new_name": "newer"}, approval="ask")
        self.says("git_branch", {"action": "rename", "new_name": "trunk"}, approval="ask")
        self.assertEqual(self.branches(), ["newer", "old", "side", "trunk"])
        text = self.says("git_branch", {"action": "delete", "names": ["old", "newer"], "force": True},
                         approval="ask")
        self.assertIn(f"Deleted branch newer, was at {self.side[:8]}.\n", text)
        self.assertEqual(self.branches(), ["side", "trunk"])

    def test_no_checkpoint(self):
        """git_branch: without checkpoints a deletion is asked about, and shows what is lost"""
        result = self.call("git_branch", {"action": "delete", "name": "side", "force": True},
                           "--no-git", approval="ask")
        self.assertEqual(result.kind, "ApprovalRequired", result)
        self.assertIn("side", self.branches())

    def test_all_or_none(self):
        """git_branch: of several branches none is deleted if one cannot be"""
        for names, words in ((["old", "side"], "'side' is not merged: 1 of its commits is not in main"),
                             (["nope", "side", "main"], "There is no branch 'nope'; 'side' is not merged: 1 of its "
                              "commits is not in main; 'main' is the current branch"),
                             (["old", "nope"], "no branch 'nope'"),
                             (["old", "main"], "'main' is the current branch")):
            self.fails("ExecutionFailed", words, "git_branch", {"action": "delete", "names": names})

    def test_ahead_of_upstream(self):
        """git_branch: a merged branch that its upstream lacks is called merged, and stays without force"""
        self.git("update-ref", "refs/remotes/origin/old", "old")
        self.git("config", "branch.old.remote", "origin")
        self.git("config", "branch.old.merge", "refs/heads/old")
        self.git("remote", "add", "origin", str(self.base / "nowhere"))
        self.git("branch", "-f", "old", "side")
        delete = {"action": "delete", "name": "old"}
        self.fails("ExecutionFailed", "'old' is not merged: 1 of its commits is not in origin/old", "git_branch", delete)
        self.git("merge", "-q", "--no-edit", "side")
        result = self.fails("ExecutionFailed", "'old' is merged into main, but 1 ahead of origin/old", "git_branch", delete)
        self.assertIn("git_undo brings it back", result.text)
        self.git("update-ref", "refs/remotes/origin/old", "old")
        self.says("git_branch", delete)

    def test_refused(self):
        """git_branch: arguments of another action, and names that are none"""
        for arguments, words in (
                ({"new_name": "x"}, "no meaning for action list"),
                ({"force": True}, "no meaning for action list"),
                ({"action": "create", "name": "x", "contains": "main"}, "no meaning"),
                ({"action": "delete", "name": "x", "from": "main"}, "no meaning"),
                ({"action": "create"}, "needs the name"), ({"action": "rename"}, "needs new_name"),
                ({"action": "delete"}, "either name or names"),
                ({"action": "delete", "name": "a", "names": ["b"]}, "either name or names"),
                ({"action": "create", "name": "-f"}, "name"), ({"action": "create", "name": "a..b"}, "name"),
                ({"action": "create", "name": "x", "from": "--force"}, "from"),
                ({"contains": "--format=x"}, "contains"), ({"name": "--format=x"}, "no glob"),
                ({"action": "move"}, "must be one of")):
            self.fails("BadArgs", words, "git_branch", arguments)
        self.fails("ExecutionFailed", "already exists", "git_branch", {"action": "create", "name": "old"})


class Tag(Case):
    def test_tags(self):
        """git_tag: create, annotated or not, list and delete"""
        self.assertEqual(self.says("git_tag"), "No tags.")
        self.says("git_tag", {"action": "create", "name": "v1", "rev": "side"}, approval="ask")
        self.says("git_tag", {"action": "create", "name": "v2", "message": "Release\n\n# two"},
                  approval="ask")
        self.assertEqual(self.out("rev-parse", "v1").strip(), self.side)
        self.assertEqual(self.out("tag", "-l", "--format=%(contents)", "v2").strip(), "Release\n\n# two")
        text = self.says("git_tag")
        self.assertRegex(text, r"(?m)^v1 [0-9a-f]{8} \d{4}-\d\d-\d\d  aside$")
        self.assertRegex(text, r"(?m)^v2 [0-9a-f]{8} \d{4}-\d\d-\d\d  Release$")
        self.assertEqual(self.says("git_tag", {"pattern": "x*"}), "No tags match.")
        self.says("git_tag", {"action": "delete", "name": "v1"}, approval="ask")
        self.assertEqual(self.tags(), ["v2"])

    def test_brought_back(self):
        """git_tag: a deleted tag, and the commit that only it had, can be brought back"""
        self.git("tag", "-a", "only", "-m", "text", self.side)
        self.git("branch", "-q", "-D", "side")
        tag = self.out("rev-parse", "only").strip()
        self.says("git_tag", {"action": "delete", "name": "only"})
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        done = subprocess.run([harness.AIRLOCK, "rollback", "--yes", "--root", str(self.root)],
                              cwd=self.root, env=self.env, capture_output=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.out("rev-parse", "only").strip(), tag)
        self.assertEqual(self.out("rev-parse", "only^{commit}").strip(), self.side)

    def test_refused(self):
        """git_tag: arguments of another action, and names that are none"""
        self.git("tag", "v1")
        for kind, arguments, words in (
                ("BadArgs", {"name": "v1"}, "no meaning for action list"),
                ("BadArgs", {"action": "create", "name": "v9", "pattern": "x"}, "no meaning"),
                ("BadArgs", {"action": "delete", "name": "v1", "rev": "main"}, "no meaning"),
                ("BadArgs", {"action": "delete", "name": "v1", "message": "x"}, "no meaning"),
                ("BadArgs", {"action": "create"}, "needs the name"),
                ("BadArgs", {"action": "create", "name": "-d"}, "name"),
                ("BadArgs", {"action": "create", "name": "v9", "rev": "-x"}, "rev"),
                ("ExecutionFailed", {"action": "create", "name": "v1"}, "already"),
                ("ExecutionFailed", {"action": "create", "name": "v9", "rev": "nope"}, "nope"),
                ("ExecutionFailed", {"action": "delete", "name": "v9"}, "no tag 'v9'")):
            self.fails(kind, words, "git_tag", arguments)


class PullRequest(Case):
    def test_text(self):
        """git_pr: title and text from the commits; nothing is sent"""
        self.git("checkout", "-q", "side")
        text = self.says("git_pr", {"target": "main"})
        self.assertIn("aside", text)
        self.assertIn("-- 1 commit, 1 file. Nothing was sent", text)
        self.assertRegex(text, r"(?m)^- \S+ \+\d+ -\d+$")
        self.assertTrue(self.says("git_pr", {"target": "main", "template": "T {branch}\n{commits}{files}"})
                        .find("T side") > 0)
        self.git("checkout", "-q", "main")
        self.assertIn("nothing to ask for", self.says("git_pr", {"target": "side"}))

    def test_refused(self):
        """git_pr: a target that is none"""
        self.fails("ExecutionFailed", "nope", "git_pr", {"target": "nope"})
        self.fails("BadArgs", "target", "git_pr", {"target": "--all"})


class Worktrees(everyday.Case):
    def test_where(self):
        """git_worktree: what changes something ends with where one is; errors say the next step"""
        self.init()
        for arguments in ({"action": "add", "name": "one"}, {"action": "lock", "name": "one"},
                          {"action": "unlock", "name": "one"}, {"action": "remove", "name": "one"}):
            text = self.says("git_worktree", arguments)
            self.assertEqual(text.splitlines()[-1], "main", text)
            self.assertEqual(len(text.splitlines()), 2, text)
        for kind, arguments in (("ExecutionFailed", {"action": "remove", "name": "none"}),
                                ("BadArgs", {"action": "add"}),
                                ("BadArgs", {"action": "add", "name": "a/b"}),
                                ("BadArgs", {"name": "one"}),
                                ("ExecutionFailed", {"action": "add", "name": "x", "branch": "y"}),
                                ("ExecutionFailed", {"action": "add", "name": "x", "create": True,
                                                     "branch": "z", "from": "nowhere"})):
            result = self.fails(kind, "", "git_worktree", arguments)
            # What an argument has to be is its own next step.
            self.assertLessEqual(len(result.text.splitlines()), 2, result)
            self.assertTrue(kind == "BadArgs" or "\n" in result.text, result)

    def toolset(self, toolset, tool, arguments):
        """A call of another toolset, allowed whatever it asks."""
        return harness.Case.call(self, tool, arguments, "--toolset", toolset, "--approval", "allow")

    def test_held(self):
        """git_branch: what another worktree has checked out is not renamed or deleted under it"""
        self.init()
        self.git("branch", "free")
        self.git("worktree", "add", "-q", "-b", "held", str(self.base / "other"))
        self.git("worktree", "add", "-q", "-f", str(self.base / "twin"), "main")
        words = f"'held' is checked out in the worktree '{self.base}/other'"
        for action in ({"action": "rename", "new_name": "x"}, {"action": "delete", "force": True}):
            result = self.fails("ExecutionFailed", words, "git_branch", action | {"name": "held"})
            self.assertIn("Call from that worktree, or switch that worktree to another branch first", result.text)
            self.assertNotIn("git_status shows", result.text)
        for toolset, arguments in (("git", {"rename": "held", "new_name": "x"}), ("git", {"force_delete": "held"}),
                                   ("workflow", {"action": "rename", "name": "held", "newName": "x"}),
                                   ("workflow", {"action": "delete", "name": "held", "force": True})):
            result = self.toolset(toolset, "git_branch", arguments)
            self.assertTrue(result.failed, result)
            self.assertIn(words, result.text)
        for arguments in ({"name": "main"}, {}):  # the current branch, which the twin has too
            self.fails("ExecutionFailed", f"'main' is checked out in the worktree '{self.base}/twin'", "git_branch",
                       {"action": "rename", "new_name": "x"} | arguments)
        self.assertEqual(self.git("symbolic-ref", "HEAD", cwd=self.base / "other").stdout, b"refs/heads/held\n")
        self.git("worktree", "remove", str(self.base / "twin"))
        for name in ("main", "free"):
            self.says("git_branch", {"action": "rename", "name": name, "new_name": name + "-x"})
            self.says("git_undo")

    def test_gone(self):
        """a branch whose worktree lost its files: what holds it, and how it gets free"""
        self.init()
        for name, held in (("theirs", self.base / "theirs"), ("locked", self.base / "locked")):
            self.git("worktree", "add", "-q", "-b", name, str(held))
        self.git("worktree", "lock", str(self.base / "locked"))
        self.says("git_worktree", {"action": "add", "name": "ours"})
        for path in (self.base / "theirs", self.base / "locked", self.root / ".worktrees/ours"):
            shutil.rmtree(path)
        for name, remedy in (("theirs", "'git worktree prune'"), ("locked", "'git worktree unlock'"),
                             ("ours", "git_worktree with action remove")):
            for tool, arguments in (("git_switch", {"branch": name}),
                                    ("git_branch", {"action": "delete", "name": name}),
                                    ("git_branch", {"action": "rename", "name": name, "new_name": "x"}),
                                    ("git_worktree", {"action": "add", "name": "n", "branch": name})):
                result = self.fails("ExecutionFailed", "whose files are gone", tool, arguments)
                self.assertIn(remedy, result.text, result)
            for toolset, arguments in (("git", {"delete": name}), ("workflow", {"action": "delete", "name": name})):
                self.assertIn(remedy, self.toolset(toolset, "git_branch", arguments).text)
        self.says("git_worktree", {"action": "remove", "name": "ours"})
        self.git("worktree", "prune")
        for name in ("ours", "theirs"):
            self.says("git_switch", {"branch": name})


harness.main()
