#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_commit of both toolsets goes on with a rebase, a cherry-pick or a revert that stopped."""
import harness


class Resume(harness.Case):
    """What stopped is gone on with by git in one repository and by airlock in the other."""

    def begin(self, what, count=2):
        """`what` of this many commits of side that stopped at the first, in both repositories."""
        self.plain = self.base / "plain"
        for where in (self.plain, self.root):
            self.commits = 0
            where.mkdir(exist_ok=True)
            self.git("init", "-q", cwd=where)
            self.commit("a.txt", "one\n", "first", where)
            self.git("checkout", "-q", "-b", "side", cwd=where)
            picked = [self.commit("a.txt", "side\n", "side one", where, GIT_AUTHOR_NAME="S Ide")]
            for number in range(1, count):
                picked.append(self.commit(f"{number}.txt", "new\n", f"side more {number}", where))
            if what != "revert":
                self.git("checkout", "-q", "main", cwd=where)
            self.commit("a.txt", "main\n", "main one", where)
            words = {"rebase": ["rebase", "main", "side"], "cherry-pick": ["cherry-pick", *picked],
                     "revert": ["revert", "--no-edit", *picked]}[what]
            self.git(*words, cwd=where, check=False)
            self.write("a.txt", "resolved\n", where)
            self.git("add", "a.txt", cwd=where)

    def stopped_at(self, where):
        """What waits in a repository."""
        return [name for name in ("rebase-merge", "sequencer", "CHERRY_PICK_HEAD", "REVERT_HEAD")
                if (where / ".git" / name).exists()]

    def all_of(self, where):
        """The history, and what waits."""
        return (self.out("log", "--format=%T %an %B", cwd=where), self.stopped_at(where),
                self.out("status", "--porcelain", "-b", cwd=where),
                self.out("ls-files", "-s", cwd=where))

    def by_git(self, what, *message):
        """Gone on with by git itself."""
        if message and what != "rebase":
            self.git("commit", "-q", "-m", *message, cwd=self.plain)
            if not self.stopped_at(self.plain):
                return
        self.git("-c", "core.editor=:", what, "--continue", cwd=self.plain)

    def workflow(self, arguments=None, *options, **named):
        """git_commit of `workflow`."""
        return self.call("git_commit", arguments, "--toolset", "workflow", *options, **named)

    def check(self, what, result):
        """It went on to the end, as git does, and says so."""
        self.assertFalse(result.failed, result)
        self.assertIn(f"The {what} in progress went on to its end.", result.text + result.notes)
        self.assertEqual(self.all_of(self.root), self.all_of(self.plain))
        self.assertEqual(self.stopped_at(self.root), [])

    def test_own_message(self):
        """workflow: with its own message where none is given"""
        for what in ("rebase", "cherry-pick", "revert"):
            for count in (1, 2):
                self.setUp()
                self.begin(what, count)
                self.assertNotEqual(self.stopped_at(self.root), [])
                self.by_git(what)
                self.check(what, self.workflow())

    def test_message(self):
        """both toolsets: with the message that is given"""
        for what in ("cherry-pick", "revert"):
            for toolset, arguments in (("workflow", {"message": "feat: mine"}),
                                       ("git", {"type": "feat", "message": "mine"})):
                self.setUp()
                self.begin(what)
                self.by_git(what, "feat: mine")
                self.check(what, self.call("git_commit", arguments, "--toolset", toolset))
                self.assertIn("feat: mine", self.all_of(self.root)[0])

    def test_rebase_of_git(self):
        """toolset git: a rebase goes on, on its branch and with all its commits"""
        self.begin("rebase")
        result = self.ok("git_commit", {"type": "fix", "message": "mine"}, "--toolset", "git")
        self.assertIn("The rebase in progress went on to its end.", result.text)
        self.assertEqual(self.out("log", "--format=%an %s", "-3"),
                         "A U Thor side more 1\nS Ide fix: mine\nA U Thor main one\n")
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/side\n")
        self.assertEqual(self.stopped_at(self.root), [])

    def test_nothing_stopped(self):
        """a commit says nothing of the kind where nothing stopped, nor in a merge"""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("b.txt", "b\n", "side")
        self.git("checkout", "-q", "main")
        self.commit("c.txt", "c\n", "main")
        for merging in (False, True):
            if merging:
                self.git("merge", "-q", "--no-commit", "side")
            self.write("d.txt", f"{merging}\n")
            self.git("add", "d.txt")
            result = self.ok("git_commit", {"type": "fix", "message": "mine"}, "--toolset", "git")
            self.assertNotIn("in progress", result.text)
        self.assertEqual(len(self.out("log", "-1", "--format=%P").split()), 2)

    def test_stops_again(self):
        """both toolsets: a later conflict is an error that names it, the commit before is made"""
        for toolset, arguments in (("workflow", {}), ("git", {"type": "fix", "message": "mine"})):
            self.setUp()
            self.init()
            self.git("checkout", "-q", "-b", "side")
            self.commit("a.txt", "side\n", "side one")
            self.commit("b.txt", "side\n", "side two")
            self.git("checkout", "-q", "main")
            self.commit("a.txt", "main\n", "main one")
            self.commit("b.txt", "main\n", "main two")
            self.git("cherry-pick", "main..side", check=False)
            self.git("checkout", "-q", "--theirs", "a.txt")
            self.git("add", "a.txt")
            result = self.call("git_commit", arguments, "--toolset", toolset)
            self.assertTrue(result.failed, result)
            self.assertEqual(result.error["code"], 7030)
            self.assertEqual(result.error["message"],
                             "The cherry-pick went on and stopped at a conflict in b.txt")
            self.assertEqual(self.out("rev-list", "--count", "main..").strip(), "0")
            self.assertEqual(self.out("diff", "--name-only", "--diff-filter=U"), "b.txt\n")
            self.write("b.txt", "both\n")
            self.git("add", "b.txt")
            self.assertFalse(self.call("git_commit", arguments, "--toolset", toolset).failed)
            self.assertEqual(self.stopped_at(self.root), [])

    def test_conflict_is_left(self):
        """both toolsets: not while there is a conflict"""
        for toolset, arguments in (("workflow", {}), ("git", {"type": "fix", "message": "mine"})):
            self.setUp()
            self.begin("cherry-pick")
            self.git("checkout", "-q", "--merge", "a.txt")
            before = self.all_of(self.root)
            result = self.call("git_commit", arguments, "--toolset", toolset)
            self.assertEqual((result.failed, result.error.get("code")), (True, 7030), result)
            self.assertEqual(self.all_of(self.root), before)

    def test_left_to_git(self):
        """both toolsets: notes that say more than which commits are left are refused"""
        for name, content, said in (
                ("sequencer/opts", "[options]\n\tstrategy = evil\n", "merge strategy of its own"),
                ("sequencer/opts", "[options]\n\tGPG-sign = x\n", "signs its commits"),
                ("sequencer/todo", "pick HEAD x\nexec touch canary\n", "has 'HEAD' among"),
                ("sequencer/todo", "exec touch canary\n", "has 'exec' among")):
            self.setUp()
            self.begin("cherry-pick")
            self.write(".git/" + name, content)
            before = self.all_of(self.root)
            for toolset, arguments in (("workflow", {}),
                                       ("git", {"type": "fix", "message": "mine"})):
                result = self.call("git_commit", arguments, "--toolset", toolset)
                self.assertTrue(result.failed, result)
                self.assertIn(said, result.error["message"])
                self.assertEqual(self.all_of(self.root), before)

    def test_rules(self):
        """a rule about writing files, about paths and about the operation holds where it goes on"""
        for rule in ('effect = "writes_worktree"', 'path = "1.txt"', 'operation = "commit"'):
            self.setUp()
            self.begin("cherry-pick")
            config = self.write("config.toml", f'[[tools.approval.rule]]\ntool = "git_commit"\n{rule}\n'
                                               'decision = "deny"\n', self.home)
            before = self.all_of(self.root)
            for toolset, arguments in (("workflow", {}),
                                       ("git", {"type": "fix", "message": "mine"})):
                result = self.call("git_commit", arguments, "--toolset", toolset,
                                   "--config", str(config))
                self.assertEqual(result.kind, "ApprovalDenied", result)
                self.assertEqual(self.all_of(self.root), before)


if __name__ == "__main__":
    harness.main()
