#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_push that is not made: conflicts, targets that refuse, rules, and users who reject."""
import json
import os
import subprocess
import threading

import harness
import pushing

MOVED = "Target has new commits since your base"


class Conflicts(pushing.Pushing):
    """A target that moved, or that refuses."""

    def other(self, target=None, approval="ask"):
        """A conflict for another reason, which asks nobody and changes nothing."""
        before = self.out("for-each-ref"), self.out("status", "--porcelain")
        staged = self.stage({"other.txt": "other\n"})
        found = self.conflict(staged, target, approval=approval)
        self.assertEqual(found["reason"], "other", found)
        self.assertEqual((self.out("for-each-ref"), self.out("status", "--porcelain")), before)
        self.assertIn(staged[:8], self.ok("git_status").text)
        return found["message"]

    def test_moved(self):
        """a target with new commits is a conflict, and nobody is asked"""
        self.pushed(self.stage({"b.txt": "b\n"}))
        staged = self.stage({"c.txt": "c\n"})
        theirs = self.commit("d.txt", "d\n", "theirs")
        self.assertEqual(self.conflict(staged, approval="ask"), {
            "reason": "non-fast-forward", "message": MOVED, "targetHead": theirs})
        self.assertEqual(self.conflict(staged, approval="allow")["targetHead"], theirs)
        self.assertEqual(self.head(), theirs)
        self.assertIn(staged[:8], self.ok("git_status").text)

    def test_other_branch_has_its_own_head(self):
        """what is known of one branch says nothing about another"""
        self.pushed(self.stage({"b.txt": "b\n"}))
        self.git("branch", "side", "HEAD~")
        self.pushed(self.stage({"c.txt": "c\n"}), self.LOCAL | {"branch": "side"})

    def test_branch_is_gone(self):
        """a branch that was pushed to and deleted since is not made again"""
        target = self.LOCAL | {"branch": "x"}
        self.pushed(self.stage({"b.txt": "b\n"}), target)
        self.git("branch", "-D", "x")
        self.assertIn("no longer exists", self.other(target))

    def test_new_branch_of_a_moved_target(self):
        """a new branch begins at HEAD; where HEAD moved, the approval warns"""
        self.pushed(self.stage({"b.txt": "b\n"}))
        staged = self.stage({"c.txt": "c\n"})
        target = self.LOCAL | {"branch": "new"}
        self.assertNotIn("Note:", self.shown(staged, target))
        theirs = self.commit("d.txt", "d\n", "theirs")
        self.assertIn("\nNote:   the target has new commits", self.shown(staged, target))
        self.pushed(staged, target)
        self.assertEqual(self.head("new~"), theirs)

    def test_lock(self):
        """a branch that another process has locked"""
        (self.root / ".git/refs/heads/main.lock").touch()
        self.assertIn("main.lock", self.other(approval="allow"))

    def test_name_in_the_way(self):
        """a branch whose name lies below that of another"""
        self.assertIn("refs/heads/main", self.other(self.LOCAL | {"branch": "main/x"}, "allow"))

    def test_merge(self):
        """a merge in progress on the branch"""
        self.git("switch", "-q", "-c", "side")
        self.commit("a.txt", "side\n", "side")
        self.git("switch", "-q", "main")
        self.commit("a.txt", "main\n", "main")
        self.git("merge", "side", check=False)
        self.assertIn("A merge of this branch is in progress", self.other())
        self.pushed(self.stage({"x.txt": "x\n"}), self.LOCAL | {"branch": "side"})

    def test_rebase(self):
        """a rebase in progress of the branch, while HEAD is detached"""
        self.commit("a.txt", "main\n", "main")
        self.git("switch", "-q", "-c", "side", "HEAD~")
        self.commit("a.txt", "side\n", "side")
        self.git("rebase", "main", check=False)
        self.assertIn("A rebase of this branch is in progress",
                      self.other(self.LOCAL | {"branch": "side"}))

    def test_hidden(self):
        """a branch that the target's configuration hides"""
        self.git("config", "receive.hideRefs", "refs/heads/main")
        self.assertIn("receive.hiderefs", self.other())
        self.git("config", "--add", "transfer.hideRefs", "!refs/heads/main")
        self.pushed(self.stage({"x.txt": "x\n"}))

    def test_protected(self):
        """a target that says it wants no pushes to its current branch"""
        self.git("config", "receive.denyCurrentBranch", "refuse")
        self.assertIn("receive.denycurrentbranch", self.other())
        self.pushed(self.stage({"x.txt": "x\n"}), self.LOCAL | {"branch": "new"})

    def test_checked_out_elsewhere(self):
        """a branch that another working tree outside of the roots has checked out"""
        self.git("worktree", "add", "-q", "-b", "wt", str(self.base / "linked"))
        self.assertIn("Another working tree", self.other(self.LOCAL | {"branch": "wt"}))

    def test_two_pushers(self):
        """of pushes at the same time none is lost, and none is made half"""
        bare = self.make_bare()
        self.pushed(self.stage({"0.txt": "0\n"}), self.BARE)
        staged = [self.stage({f"{n}.txt": f"{n}\n"}, str(n)) for n in range(1, 5)]
        outcomes = {}

        def push(commit):
            outcomes[commit] = self.push(commit, self.BARE)

        threads = [threading.Thread(target=push, args=(commit,)) for commit in staged]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        won = 0
        for result in outcomes.values():
            self.assertFalse(result.failed, result)
            value = result.value["structuredContent"]
            won += value["status"] == "success"
            if value["status"] == "conflict":
                self.assertEqual(value["conflict"]["reason"], "non-fast-forward", value)
        self.assertGreaterEqual(won, 1)
        self.assertEqual(len(self.out("rev-list", "main", cwd=bare).split()), 2 + won)
        self.assertEqual(len(self.out("ls-tree", "--name-only", "main", cwd=bare).split()), 2 + won)
        self.git("fsck", "--strict", cwd=bare)


class Arguments(pushing.Pushing):
    """Targets that are none."""

    def says(self, message, target, kind="BadArgs"):
        """A push to such a target fails with a message that contains this."""
        result = self.push("00000000", target, approval="ask")
        self.assertTrue(result.failed, result)
        self.assertEqual(result.kind, kind, result)
        self.assertIn(message, result.text)

    def test_members(self):
        """every type has its own members"""
        self.says("target.type is required", {"path": "."})
        self.says("'target.type' must be one of: local, local-bare, github", {"type": "gitlab"})
        self.says("target.path is required for type 'local'", {"type": "local"})
        self.says("target.path is required for type 'local-bare'", {"type": "local-bare", "path": ""})
        self.says("target.repo does not go with type 'local'", self.LOCAL | {"repo": "a/b"})
        self.says("target.repo is required for type 'github'", {"type": "github"})
        self.says("unknown parameter 'target.remote'", self.LOCAL | {"remote": "x"})
        result = self.call("git_push", {"commitId": "00000000", "target": "local"})
        self.assertIn("'target' must be an object", result.text)
        result = self.call("git_push", {"commitId": "00000000"})
        self.assertIn("target is required", result.text)
        result = self.call("git_push", {"target": self.LOCAL})
        self.assertIn("commitId is required", result.text)

    def test_branches(self):
        """names that no branch has"""
        for name in ("", "-x", "a..b", "a b", "refs/heads/../x", "@{-1}", "x.lock", "a~1", "HEAD"):
            result = self.push("00000000", self.LOCAL | {"branch": name})
            self.assertEqual(result.kind, "BadArgs", name)
            self.assertIn("target.branch", result.text)

    def test_places(self):
        """paths outside the roots, and what is no repository"""
        outside = self.base / "outside"
        self.init(outside)
        os.symlink(outside, self.root / "link")
        for path in ("..", "../outside", str(outside), "link", "/", "sub/../..", "/etc"):
            self.says("outside sandbox", {"type": "local", "path": path}, "SandboxViolation")
            self.says("outside sandbox", {"type": "local-bare", "path": path}, "SandboxViolation")
        self.says("No such directory", {"type": "local", "path": "missing"}, "ExecutionFailed")
        (self.root / "plain").mkdir()
        self.says("Not a git repository", {"type": "local-bare", "path": "plain"},
                  "ExecutionFailed")

    def test_kinds(self):
        """a bare repository is no working tree, and the other way round"""
        self.make_bare()
        self.says("'bare.git' is a bare repository; give target type 'local-bare'",
                  {"type": "local", "path": "bare.git"}, "ExecutionFailed")
        self.says("'.git' is a bare repository", {"type": "local", "path": ".git"},
                  "ExecutionFailed")
        self.says("'.' is no bare repository; give target type 'local'",
                  {"type": "local-bare", "path": "."}, "ExecutionFailed")
        self.says("is the git directory of a working tree",
                  {"type": "local-bare", "path": ".git"}, "ExecutionFailed")

    def test_separate_git_dir(self):
        """a git directory beside its working tree is not bare"""
        self.git("clone", "-q", "--separate-git-dir", "gd", ".", "tree")
        self.says("'gd' is no bare repository", {"type": "local-bare", "path": "gd"},
                  "ExecutionFailed")

    def test_detached(self):
        """a detached HEAD has no branch"""
        self.git("switch", "-q", "--detach")
        result = self.push(self.stage({"x": "x"}))
        self.assertIn("HEAD is detached); give target.branch", result.text)

    def test_symbolic_branch(self):
        """a branch that stands for another one"""
        self.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
        result = self.push(self.stage({"x": "x"}), self.LOCAL | {"branch": "alias"})
        self.assertIn("is a symbolic reference", result.text)
        self.assertEqual(self.head(), self.first)

    def test_other_format(self):
        """a target whose object ids are of another kind"""
        self.make_bare("--object-format=sha256", source=None)
        result = self.push(self.stage({"x": "x"}), self.BARE)
        self.assertIn("local-bare:bare.git has object ids by SHA-256", result.text)


class Users(pushing.Pushing):
    """What a user is shown, and what the answer does."""

    def test_text(self):
        """the question begins with what is pushed where; deletions and special files come first"""
        self.commit("old.txt", "old\n", "old")
        self.pushed(self.stage({"gone.txt": "gone\n", "mod.txt": "one\n"}))
        staged = self.stage({"mod.txt": "two\n", "new.txt": "x" * 1300 + "\n",
                             ".gitattributes": "* text\n", ".github/workflows/ci.yml": "on: push\n",
                             ".gitmodules": ""}, "Add report\n\nWhy.", delete=["gone.txt"])
        message = self.shown(staged)
        self.assertTrue(message.startswith(
            f'Push staged commit {staged[:8]} "Add report" to local:. (branch: main)\n'), message)
        self.assertIn(
            "Target: local:. (branch: main)\n"
            f'Commit: {staged[:8]} "Add report"\n'
            "    Why.\n"
            "Author: A U Thor <author@example.com>\n\n"
            "Files:\n"
            "  - gone.txt\n"
            "  + .gitattributes (7 B), says how git treats files\n"
            "  + .github/workflows/ci.yml (9 B), runs in CI\n"
            "  + .gitmodules (0 B), says where submodules come from\n"
            "  M mod.txt (4 B)\n"
            "  + new.txt (1.3 KB)\n\n"
            "diff --git a/.gitattributes b/.gitattributes\n", message)
        self.assertIn("\n-one\n+two\n", message)

    def test_title(self):
        """the title in the first line neither passes for a target nor hides the target"""
        for number, (title, shown) in enumerate((
                ('Fix" to github:me/safe (branch: main)', "Fix' to github:me/safe (branch: main)"),
                ("\u00e9" * 59, "\u00e9" * 59), ("\u20ac" * 60, "\u20ac" * 60),
                ("\u20ac" * 61, "\u20ac" * 60 + "\u2026"), ("x" * 5000, "x" * 60 + "\u2026"),
                ("\U0001f600" * 61 + '"', "\U0001f600" * 60 + "\u2026"),
                ("a\u202eb", "a<U+202E>b"), ('"' * 61, "'" * 60 + "\u2026"))):
            staged = self.stage({f"{number}.txt": "x\n"}, title + "\n\nWhy.")
            first, _, rest = self.shown(staged).partition("\n")
            self.assertEqual(
                first, f'Push staged commit {staged[:8]} "{shown}" to local:. (branch: main)')
            if "\u202e" not in title:
                self.assertIn(f'Commit: {staged[:8]} "{title}"\n', rest)

    def test_rejected_then_approved(self):
        """a reason reaches the agent, and the commit stays staged until it is approved"""
        staged = self.stage({"b.txt": "b\n"})
        arguments = {"commitId": staged, "target": self.LOCAL}
        server = pushing.Asked(self)
        number, question = server.question("git_push", arguments)
        server.reply(question, "reject", "Not on a Friday")
        result = server.outcome(number)
        self.assertEqual((result.kind, result.text), ("ApprovalDenied",
                                                      "Rejected: Not on a Friday"))
        self.assertEqual(self.head(), self.first)
        self.assertIn(staged[:8], server.call("git_status").text)
        _, result = server.decided("once", "git_push", arguments)
        self.assertEqual(result.value["structuredContent"]["commitSha"], self.head())

    def test_always(self):
        """always covers this target and this branch alone"""
        staged = [self.stage({f"{n}.txt": "x\n"}) for n in range(3)]
        server = pushing.Asked(self)
        message, _ = server.decided("always", "git_push", {"commitId": staged[0],
                                                           "target": self.LOCAL})
        self.assertIn(f"every git_push (push) for target local:{self.root}, branch refs/heads/main",
                      message)
        server.ok("git_push", {"commitId": staged[1], "target": self.LOCAL})
        server.decided("reject", "git_push", {"commitId": staged[2],
                                              "target": self.LOCAL | {"branch": "x"}})

    def test_nobody(self):
        """without a user nothing is pushed"""
        staged = self.stage({"b.txt": "b\n"})
        result = self.push(staged, approval="ask")
        self.assertEqual(result.kind, "ApprovalRequired")
        self.assertTrue(result.text.startswith(f"Push staged commit {staged[:8]} "), result.text)
        self.assertEqual(self.push(staged, approval="deny").kind, "ApprovalDenied")
        self.assertEqual(self.head(), self.first)

    def test_changed_meanwhile(self):
        """a target that moved while the user decided is asked about again"""
        staged = self.stage({"b.txt": "b\n"})
        server = pushing.Asked(self)
        number, question = server.question("git_push", {"commitId": staged, "target": self.LOCAL})
        theirs = self.commit("theirs.txt", "x\n", "theirs")
        server.reply(question, "once")
        question = server.receive()
        self.assertIn("Something this depends on changed", question["params"]["message"])
        server.reply(question, "once")
        server.outcome(number)
        self.assertEqual(self.head("HEAD~"), theirs)

    def test_moved_meanwhile(self):
        """where the base is known, a target that moved meanwhile is a conflict"""
        self.pushed(self.stage({"b.txt": "b\n"}))
        staged = self.stage({"c.txt": "c\n"})
        server = pushing.Asked(self)
        number, question = server.question("git_push", {"commitId": staged, "target": self.LOCAL})
        theirs = self.commit("theirs.txt", "x\n", "theirs")
        server.reply(question, "once")
        value = server.outcome(number).value["structuredContent"]
        self.assertEqual(value["conflict"], {"reason": "non-fast-forward", "message": MOVED,
                                             "targetHead": theirs})
        self.assertEqual(self.head(), theirs)

    def test_checked_out_meanwhile(self):
        """a branch that is checked out while the user decides is not pushed to without a checkpoint
        of its files"""
        self.git("branch", "side")
        for before, after in (("main", "side"), ("side", "main")):
            self.git("checkout", "-q", before)
            name = f"{before}.txt"
            staged, head = self.stage({name: "x\n"}), self.head("side")
            server = pushing.Asked(self)
            number, question = server.question("git_push", {
                "commitId": staged, "target": {**self.LOCAL, "branch": "side"}})
            self.git("checkout", "-q", after)
            server.reply(question, "once")
            answer = server.receive()
            while "method" in answer:
                server.reply(answer, "once")
                answer = server.receive()
            result = harness.Result(answer["result"])
            self.assertEqual(answer["id"], number)
            if after == "side":
                self.assertIn("was checked out meanwhile, so nothing was pushed", result.text)
                self.assertEqual(self.head("side"), head)
            else:
                self.assertFalse(result.failed, result)
                self.assertEqual(self.content(name, "side"), b"x\n")
            self.assertEqual(self.out("status", "--porcelain"), "")
            self.assertFalse((self.root / name).exists())
            server.close()

    def test_discarded_meanwhile(self):
        """a commit that was discarded while the user decided is not pushed"""
        staged = self.stage({"b.txt": "b\n"})
        server = pushing.Asked(self)
        number, question = server.question("git_push", {"commitId": staged, "target": self.LOCAL})
        self.ok("git_discard", {"commitId": staged})
        server.reply(question, "once")
        self.assertEqual(server.outcome(number).error["reason"], "not_found")
        self.assertEqual(self.head(), self.first)


class Rules(pushing.Pushing):
    """Rules of the user's, by branch and by path."""

    RULES = ('[tools.approval]\nmode = "allow"\n'
             '[[tools.approval.rule]]\ntool = "git_push"\nbranch = "release/*"\n'
             'decision = "deny"\nmessage = "Not to a release."\n'
             '[[tools.approval.rule]]\ntool = "git_push"\npath = ".github/*"\n'
             'decision = "deny"\nmessage = "Not the CI."\n'
             '[[tools.approval.rule]]\ntool = "git_push"\nbranch = "main"\ndecision = "allow"\n')

    def test_rules(self):
        """a rule sees the branch and every file, also in a bare repository"""
        self.make_bare()
        self.configure("", self.RULES)
        ci = self.stage({".github/workflows/ci.yml": "x\n", "a/b.txt": "x\n"})
        plain = self.stage({"plain.txt": "x\n"})
        for target in (self.LOCAL, self.BARE):
            result = self.push(ci, target, approval="ask")
            self.assertEqual((result.kind, result.error["message"]), ("ApprovalDenied", "Not the CI."))
            result = self.push(plain, target | {"branch": "release/1"}, approval="ask")
            self.assertEqual((result.kind, result.error["message"]), ("ApprovalDenied", "Not to a release."))
            self.assertEqual(self.push(plain, target | {"branch": "x"}, approval="ask").kind,
                             "ApprovalRequired")
        self.pushed(plain, approval="ask")  # the last rule allows it

    def test_explain(self):
        """airlock policy explain says which rule decides"""
        self.configure("", self.RULES)
        staged = self.stage({".github/x": "x\n"})
        done = subprocess.run(
            [harness.AIRLOCK, "policy", "explain", "--json", "git_push",
             json.dumps({"commitId": staged, "target": self.LOCAL})],
            cwd=self.root, env=self.env, capture_output=True, check=False,
            stdin=subprocess.DEVNULL, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(json.loads(done.stdout)["decision"], "deny", done.stdout)


if __name__ == "__main__":
    harness.main()
