#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_rebase with update_refs moves the other branches that git rebase --update-refs
moves, in one step that git_undo takes back; rules see each of them."""
import json
import os
import random

import everyday
import harness
import rebasing
from everyday import LINES, text_with

PLANS = int(os.environ.get("AIRLOCK_PLANS", "8"))
GIT = tuple(int(part) for part in harness.subprocess.run(
    ["git", "version"], capture_output=True, check=True, text=True).stdout.split()[2].split(".")[:2])


class Case(rebasing.Case):
    """`topic` is a stack of commits above `main`, each with a branch of its own."""

    def stack(self, messages, branches=True):
        """Commits, each of a file of its own; gives their ids."""
        self.init()
        self.commit("base.txt", "base\n", "base")
        self.git("checkout", "-q", "-b", "topic")
        ids = []
        for i, message in enumerate(messages):
            ids.append(self.commit(f"{i}.txt", f"{i}\n", message))
            if branches:
                self.git("branch", f"b{i}")
        return ids

    def advance_main(self):
        """A commit on main, so that everything is rewritten."""
        self.git("checkout", "-q", "main")
        self.commit("m.txt", "m\n", "on main")
        self.git("checkout", "-q", "topic")

    def refs(self):
        """Where each branch is."""
        return self.out("for-each-ref", "--format=%(refname) %(objectname)", "refs/heads")

    def shape(self):
        """Each branch with its tree, and the trees below it."""
        names = self.out("for-each-ref", "--format=%(refname)", "refs/heads").split()
        return {name: self.out("log", "--format=%T", name) for name in names}

    def put_back(self, refs):
        """Every branch is where it was."""
        self.git("rebase", "--abort", check=False)
        self.git("checkout", "-q", "-f", "--detach")
        for line in refs.splitlines():
            self.git("update-ref", *line.split())
        self.git("checkout", "-q", "-f", "topic")
        self.git("clean", "-q", "-f", "-d")

    def by_git(self, *words, edit=":"):
        """What git makes of it, and back again."""
        before = self.refs()
        self.git("rebase", "-q", "-i", "--update-refs", *words, GIT_SEQUENCE_EDITOR=edit,
                 GIT_EDITOR=":")
        shape = self.shape()
        self.put_back(before)
        return shape


class LikeGit(Case):
    def same(self, arguments, *words, edit=":"):
        """airlock and git move the same branches to the same trees; git_undo takes all back."""
        server, expected, before = everyday.Server(self), self.by_git(*words, edit=edit), self.refs()
        text = server.says("git_rebase", {**arguments, "update_refs": True})
        self.assertEqual(self.shape(), expected, text)
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/topic\n")
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertEqual(self.out("fsck", "--no-dangling"), "")
        server.says("git_undo")
        self.assertEqual(self.refs(), before)
        return text

    def test_plain(self):
        """a plain rebase: every branch of the stack, one beside the current branch too"""
        self.stack(["one", "two", "three"])
        self.advance_main()
        text = self.same({"onto": "main"}, "main")
        self.assertRegex(text, "Moved along: b0 to [0-9a-f]{8}, b1 to [0-9a-f]{8}, b2 to ")

    def test_default(self):
        """without update_refs no other branch moves, whatever the configuration says"""
        self.stack(["one", "two"])
        self.git("config", "rebase.updateRefs", "true")
        self.advance_main()
        before = self.out("rev-parse", "b0", "b1")
        self.says("git_rebase", {"onto": "main"})
        self.assertEqual(self.out("rev-parse", "b0", "b1"), before)

    def test_detached(self):
        """a detached HEAD: the branches follow all the same"""
        self.stack(["one", "two"])
        self.advance_main()
        self.git("checkout", "-q", "--detach")
        text = self.says("git_rebase", {"onto": "main", "update_refs": True})
        self.assertIn("topic to ", text)
        self.assertEqual(self.out("rev-parse", "topic"), self.out("rev-parse", "HEAD"))

    def test_autosquash(self):
        """autosquash: what is melded goes into the branch of its commit too"""
        self.stack(["one", "two", "fixup! one", "three", "squash! two", "fixup! three"])
        self.same({"onto": "main", "autosquash": True}, "--autosquash", "main")

    def test_known(self):
        """a branch at a commit that is there already stays, as git leaves it"""
        self.stack(["one", "two", "three"])
        self.git("checkout", "-q", "main")
        self.git("cherry-pick", "b1")
        self.git("checkout", "-q", "topic")
        self.same({"onto": "main"}, "main")

    def test_emptied(self):
        """a commit that becomes empty on the way"""
        self.stack(["one", "two", "three"])
        self.git("checkout", "-q", "main")
        self.write("more.txt", "more\n")
        self.git("add", "more.txt")
        self.commit("1.txt", "1\n", "has two, and more")
        self.git("checkout", "-q", "topic")
        self.same({"onto": "main"}, "--empty=drop", "main")

    def test_in_place(self):
        """plan: drop, squash and fixup where they are, for each commit"""
        ids = self.stack(["one", "two", "three", "four"])
        for i, commit in enumerate(ids):
            for do in ("drop", "squash", "fixup")[:1 if not i else 3]:
                with self.subTest(i=i, do=do):
                    plan = [{"commit": each, "do": do if each == commit else "pick"} for each in ids]
                    self.same({"onto": "main", "plan": plan}, "main",
                              edit=f"sed -i 's/^pick {commit[:7]}/{do} {commit[:7]}/'")

    def test_random_in_place(self):
        """random plans that keep the order"""
        dice = random.Random(4)
        ids = self.stack([f"commit {i}" for i in range(6)])
        for _ in range(PLANS):
            plan = [{"commit": ids[0], "do": "pick"}] + [
                {"commit": each, "do": dice.choice(("pick", "drop", "squash", "fixup"))}
                for each in ids[1:]]
            edit = "; ".join(f"s/^pick {step['commit'][:7]}/{step['do']} {step['commit'][:7]}/"
                             for step in plan)
            with self.subTest(plan=plan):
                self.same({"onto": "main", "plan": plan}, "main", edit=f"sed -i '{edit}'")

    def test_random_order(self):
        """random plans: each branch has what its commit became, and nothing is lost by undo"""
        dice = random.Random(5)
        ids = self.stack([f"commit {i}" for i in range(5)])
        server, before = everyday.Server(self), self.refs()
        for _ in range(PLANS):
            plan = rebasing.random_plan(dice, ids)
            server.says("git_rebase", {"onto": "main", "plan": plan, "update_refs": True})
            history = self.out("rev-list", "topic", "main").split()
            for i, commit in enumerate(ids):
                [step] = [step for step in plan if step["commit"] == commit]
                tip = self.out("rev-parse", f"b{i}").strip()
                if step["do"] in ("pick", "reword"):
                    self.assertIn(f"{i}.txt", self.out("ls-tree", "--name-only", tip), plan)
                if not any(other["do"] in ("squash", "fixup") for other in plan):
                    self.assertIn(tip, history, plan)
            server.says("git_undo")
            self.assertEqual(self.refs(), before)
            self.put_back(before)

    def test_moved_fixup(self):
        """plan: what is moved below a commit goes into its branch, as with autosquash"""
        ids = self.stack(["one", "two", "fixup! one"])
        expected = self.by_git("--autosquash", "main")
        self.says("git_rebase", {"onto": "main", "update_refs": True, "plan": [
            {"commit": ids[0]}, {"commit": ids[2], "do": "fixup"}, {"commit": ids[1]}]})
        self.assertEqual(self.shape(), expected)

    def test_split(self):
        """plan: the branch of a commit that is split has all of its parts"""
        self.stack(["one"])
        self.write("y.txt", "y\n")
        self.git("add", "y.txt")
        two = self.commit("x.txt", "x\n", "two")
        self.git("branch", "b1")
        self.commit("z.txt", "z\n", "three")
        tree = self.out("rev-parse", "b1^{tree}")
        self.says("git_rebase", {"update_refs": True, "plan": [
            {"commit": two, "do": "split", "into": [{"message": "x", "paths": ["x.txt"]},
                                                    {"message": "y", "paths": ["y.txt"]}]},
            {"commit": "HEAD"}]})
        self.assertEqual(self.out("log", "--format=%s", "main..b1"), "y\nx\none\n")
        self.assertEqual(self.out("rev-parse", "b1^{tree}"), tree)

    def test_prefix(self):
        """what stays as it is moves no branch"""
        ids = self.stack(["one", "two", "three"])
        text = self.says("git_rebase", {"update_refs": True, "plan": [
            {"commit": ids[0]}, {"commit": ids[1], "do": "reword", "message": "new"},
            {"commit": ids[2]}]})
        self.assertRegex(text, "Moved along: b1 to [0-9a-f]{8}, b2 to [0-9a-f]{8}\n")
        self.assertEqual(self.out("rev-parse", "b0").strip(), ids[0])

    def test_symbolic(self):
        """a branch that stands for another one is left to that"""
        self.stack(["one", "two"])
        self.git("symbolic-ref", "refs/heads/alias", "refs/heads/b0")
        self.git("symbolic-ref", "refs/heads/mine", "refs/heads/topic")
        self.advance_main()
        text = self.says("git_rebase", {"onto": "main", "update_refs": True})
        self.assertRegex(text, "Moved along: b0 to [0-9a-f]{8}, b1 to [0-9a-f]{8}\n")
        self.assertEqual(self.out("symbolic-ref", "refs/heads/alias"), "refs/heads/b0\n")
        self.assertEqual(self.out("rev-parse", "mine"), self.out("rev-parse", "topic"))

    def test_worktree(self):
        """a branch that another working tree uses stays, and is named with the place"""
        self.stack(["one", "two", "three"])
        self.git("worktree", "add", "-q", str(self.base / "there"), "b1")
        self.advance_main()
        before = self.out("rev-parse", "b1")
        text = self.same({"onto": "main"}, "main")
        self.assertIn(f"Not moved along: b1 (checked out in {self.base / 'there'})\n", text)
        self.says("git_rebase", {"onto": "main", "update_refs": True})
        self.assertEqual(self.out("rev-parse", "b1"), before)
        self.assertEqual(self.out("status", "--porcelain", cwd=self.base / "there"), "")


class Stopped(Case):
    """A rebase that stops at its second commit."""

    def begin(self, branches=("b0", "b1", "b2")):
        self.init()
        self.commit("f.txt", "".join(LINES), "base")
        self.git("checkout", "-q", "-b", "topic")
        for i, (name, text) in enumerate((("0.txt", "0\n"), ("f.txt", text_with(at5="topic")),
                                          ("2.txt", "2\n"))):
            self.commit(name, text, f"commit {i}")
            if f"b{i}" in branches:
                self.git("branch", f"b{i}")
        self.git("checkout", "-q", "main")
        self.commit("f.txt", text_with(at5="main"), "on main")
        self.git("checkout", "-q", "topic")

    def stop(self, server, **more):
        text = server.says("git_rebase", {"onto": "main", "update_refs": True, **more})
        self.assertIn("When it is done, these branches follow: b0, b1, b2\n", text)

    def settle(self, server):
        return server.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "theirs",
                                             "continue": True})

    def by_git_settled(self, *words, edit=":"):
        before = self.refs()
        self.git("rebase", "-q", "-i", "--update-refs", *words, check=False,
                 GIT_SEQUENCE_EDITOR=edit)
        self.git("checkout", "-q", "--theirs", "f.txt")
        self.git("add", "f.txt")
        self.git("rebase", "--continue", GIT_EDITOR=":")
        shape = self.shape()
        self.put_back(before)
        return shape

    def test_continue(self):
        """continue: the branches are where git has them, and each step is undone whole"""
        self.begin()
        expected, before, server = self.by_git_settled("main"), self.refs(), everyday.Server(self)
        self.stop(server)
        self.assertEqual(self.refs(), before)
        self.assertIn("update-ref refs/heads/b1",
                      (self.root / ".git/rebase-merge/git-rebase-todo").read_text())
        text = self.settle(server)
        self.assertRegex(text, "Moved along: b0 to [0-9a-f]{8}, b1 to [0-9a-f]{8}, b2 to ")
        self.assertEqual(self.shape(), expected)
        server.says("git_undo")
        self.assertEqual(self.refs(), before)
        self.assertEqual(self.unmerged(), ["f.txt"])
        self.settle(server)
        self.assertEqual(self.shape(), expected)
        server.says("git_undo", {"steps": 2})
        self.assertEqual(self.refs(), before)
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/topic\n")

    def test_git_continues(self):
        """git itself goes on with it, and moves the same"""
        self.begin()
        expected = self.by_git_settled("main")
        self.stop(everyday.Server(self))
        self.git("checkout", "-q", "--theirs", "f.txt")
        self.git("add", "f.txt")
        self.git("rebase", "--continue", GIT_EDITOR=":")
        self.assertEqual(self.shape(), expected)

    def test_begun_by_git(self):
        """one that git stopped goes on as well"""
        self.begin()
        expected = self.by_git_settled("main")
        self.git("rebase", "-q", "--update-refs", "main", check=False)
        self.settle(everyday.Server(self))
        self.assertEqual(self.shape(), expected)

    def test_melded(self):
        """a plan with melded commits that stops"""
        self.begin()
        ids = self.out("rev-list", "--reverse", "main..topic").split()
        expected = self.by_git_settled(
            "main", edit=f"sed -i 's/^pick {ids[1][:7]}/squash {ids[1][:7]}/'")
        server = everyday.Server(self)
        self.stop(server, plan=[{"commit": ids[0]}, {"commit": ids[1], "do": "squash"},
                                {"commit": ids[2]}])
        self.settle(server)
        self.assertEqual(self.shape(), expected)

    def test_given_up(self):
        """abort, and quit by git: no branch moves"""
        self.begin()
        before, server = self.refs(), everyday.Server(self)
        self.stop(server)
        self.git("update-ref", "refs/heads/b0", "main")
        server.says("git_conflicts", {"action": "abort"})
        self.git("update-ref", "refs/heads/b0", "topic~2")
        self.assertEqual(self.refs(), before)
        self.stop(server)
        self.git("rebase", "--quit")
        self.assertEqual(self.refs(), before)

    def test_skip(self):
        """skip: as git does"""
        self.begin()
        before = self.refs()
        self.git("rebase", "-q", "--update-refs", "main", check=False)
        self.git("rebase", "--skip")
        expected = self.shape()
        self.put_back(before)
        server = everyday.Server(self)
        self.stop(server)
        self.assertIn("Moved along: b0 to ", server.says("git_conflicts", {"action": "skip"}))
        self.assertEqual(self.shape(), expected)

    def test_moved_meanwhile(self):
        """a branch that somebody moves while it is stopped stays theirs, and is named"""
        self.begin()
        server = everyday.Server(self)
        self.stop(server)
        self.git("update-ref", "refs/heads/b0", "main")
        self.git("branch", "-q", "-D", "b2", check=False)
        self.git("update-ref", "-d", "refs/heads/b2")
        theirs = self.out("rev-parse", "b0").strip()
        self.assertRegex(self.settle(server), f"Moved along: b0 stays at {theirs[:8]}, "
                                              "b1 to [0-9a-f]{8}, b2 is gone\n")
        self.assertEqual(self.out("rev-parse", "b0").strip(), theirs)
        self.assertEqual(self.out("for-each-ref", "refs/heads/b2"), "")

    def test_all_moved(self):
        """all of them are moved while it is stopped: the current branch is rebased alone"""
        self.begin(("b1",))
        server = everyday.Server(self)
        for goes_on in (self.settle, lambda server: server.says("git_conflicts",
                                                                {"action": "skip"})):
            server.says("git_rebase", {"onto": "main", "update_refs": True})
            self.git("update-ref", "refs/heads/b1", "main")
            self.assertIn("Moved along: b1 stays at ", goes_on(server))
            server.says("git_undo", {"steps": 2})
            self.git("update-ref", "refs/heads/b1", "topic~1")

    def test_in_use(self):
        """a branch that waits to follow is not deleted meanwhile"""
        self.begin()
        server = everyday.Server(self)
        self.stop(server)
        self.assertTrue(server.call("git_branch", {"action": "delete", "name": "b0",
                                                   "force": True}).failed)

    def test_foreign_notes(self):
        """git's notes that name no branch, or cannot be read, are refused; no reference moves"""
        self.begin()
        tip, main = (self.out("rev-parse", name).strip() for name in ("b0", "main"))
        self.git("tag", "t", tip)
        notes = self.root / ".git/rebase-merge/update-refs"
        server = everyday.Server(self)
        self.stop(server)
        server.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "theirs"})
        kept, before = notes.read_text(), self.refs()
        for text in (f"refs/tags/t\n{tip}\n{main}\n", f"HEAD\n{tip}\n{main}\n",
                     f"refs/heads/../tags/t\n{tip}\n{main}\n", f"refs/heads/b0\n{tip}\n",
                     "refs/heads/b0\n1\n2\n", f"\nrefs/heads/b0\n{tip}\n{main}\n",
                     f"refs/heads/b0\0x\n{tip}\n{main}\n", f"{kept}x", f"{kept}\n"):
            with self.subTest(text=text):
                notes.write_text(text, encoding="utf-8")
                result = server.call("git_conflicts", {"action": "continue"})
                self.assertTrue(result.failed, result)
                self.assertEqual(self.refs(), before)
                self.assertEqual(self.out("rev-parse", "t").strip(), tip)
        notes.unlink()
        notes.symlink_to("/etc/hostname")
        self.assertTrue(server.call("git_conflicts", {"action": "continue"}).failed)
        notes.unlink()
        notes.write_text(kept, encoding="utf-8")
        self.assertIn("Moved along", server.says("git_conflicts", {"action": "continue"}))


class Rules(Case):
    """What a rule says of a branch holds for one that would follow."""

    def rule(self, **rule):
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        lines = "".join(f"{key} = {json.dumps(value)}\n" for key, value in rule.items())
        config.write_text(f"[[tools.approval.rule]]\n{lines}", encoding="utf-8")

    def test_denied(self):
        """a protected branch that would follow: refused before anything happens"""
        self.stack(["one", "two"])
        self.advance_main()
        self.rule(decision="deny", branch="b0")
        self.fails("ApprovalDenied", "rule", "git_rebase", {"onto": "main", "update_refs": True})
        self.says("git_rebase", {"onto": "main"})

    def test_not_concerned(self):
        """a protected branch that stays where it is stands in nobody's way"""
        ids = self.stack(["one", "two"])
        self.rule(decision="deny", branch="b0")
        self.says("git_rebase", {"update_refs": True, "plan": [
            {"commit": ids[0]}, {"commit": ids[1], "do": "reword", "message": "x"}]})

    def test_current_too(self):
        """the rules of the current branch hold as before"""
        self.stack(["one", "two"])
        self.advance_main()
        self.rule(decision="deny", branch="topic")
        self.fails("ApprovalDenied", "rule", "git_rebase", {"onto": "main", "update_refs": True})

    def test_continue_denied(self):
        """continue: rules see the branches in git's notes, whoever wrote them"""
        Stopped.begin(self, ("b0",))
        self.git("branch", "protected", "topic~2")
        self.git("rebase", "-q", "--update-refs", "main", check=False)
        self.git("checkout", "-q", "--theirs", "f.txt")
        self.git("add", "f.txt")
        before = self.refs()
        self.rule(decision="deny", branch="protected")
        self.fails("ApprovalDenied", "rule", "git_conflicts", {"action": "continue"})
        self.assertEqual(self.refs(), before)
        self.rule(decision="deny", branch="other")
        self.says("git_conflicts", {"action": "continue"})
        self.assertNotEqual(self.refs(), before)

    def test_published(self):
        """commits of a branch that a remote has: asked, and the question names what follows"""
        ids = self.stack(["one", "two"])
        self.git("update-ref", "refs/remotes/origin/b0", ids[0])
        self.advance_main()
        before = self.snapshot()
        result = self.call("git_rebase", {"onto": "main", "update_refs": True}, approval="ask")
        self.assertEqual(result.kind, "ApprovalRequired", result)
        self.assertEqual(self.snapshot(), before)
        server = everyday.AskingServer(self)
        number = server.ask("git_rebase", {"onto": "main", "update_refs": True})
        question = server.receive()
        self.assertIn("These branches follow: b0 to ", str(question))
        self.git("worktree", "add", "-q", str(self.base / "there"), "b0")
        server.send(id=question["id"], result={"action": "accept", "content": {"decision": "once"}})
        answer = server.receive()
        while answer.get("method") == "elicitation/create":
            server.send(id=answer["id"],
                        result={"action": "accept", "content": {"decision": "once"}})
            answer = server.receive()
        self.assertEqual(answer["id"], number)
        self.assertTrue(answer["result"]["isError"], answer)
        self.assertIn("'b0', which was to follow", str(answer))
        self.assertEqual(self.snapshot(), before)


if __name__ == "__main__":
    if GIT < (2, 38):
        raise SystemExit(77)
    harness.main()
