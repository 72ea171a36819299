#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_rebase gives what git rebase gives, for every plan."""
import os
import shutil
import stat

import everyday
import harness
import rebasing
from everyday import LINES, text_with


class Case(rebasing.Case):
    def story(self, commits=5):
        """A branch `topic` of commits to one file and to files of their own; gives their ids."""
        self.init()
        self.commit("f.txt", "".join(LINES), "base")
        self.git("checkout", "-q", "-b", "topic")
        ids = []
        for i in range(commits):
            author = {"GIT_AUTHOR_NAME": f"Author {i}", "GIT_AUTHOR_EMAIL": f"{i}@example.com"}
            self.write("f.txt", (self.root / "f.txt").read_text().replace(
                f"line {8 * i}\n", f"changed {i}\n"))
            self.git("add", "f.txt")
            ids.append(self.commit(f"own{i}.txt", f"{i}\n", f"commit {i}\n\nBody of {i}.", **author))
        return ids

    def history(self, where=None, base="main"):
        """Trees, authors, dates and messages, oldest first."""
        return self.out("log", "--reverse", rebasing.FIELDS, f"{base}..HEAD", cwd=where)

    def twin(self):
        """A copy of the repository for git itself."""
        where = self.base / "twin"
        shutil.rmtree(where, ignore_errors=True)
        shutil.copytree(self.root, where, symlinks=True)
        return where


class Plans(Case):
    def test_each(self):
        """plan: reorder, reword, squash, fixup and drop, as git rebase -i does each"""
        ids = self.story()
        start, server = self.out("rev-parse", "HEAD").strip(), everyday.Server(self)
        pick = [{"commit": commit, "do": "pick"} for commit in ids]
        for plan in (
                pick[:3] + [pick[4], pick[3]],
                [pick[0], {"commit": ids[1], "do": "reword", "message": "new\n\nbody"}] + pick[2:],
                pick[:3] + [{"commit": ids[3], "do": "squash"}, {"commit": ids[4], "do": "squash"}],
                pick[:3] + [{"commit": ids[3], "do": "squash", "message": "both"}, pick[4]],
                pick[:3] + [{"commit": ids[3], "do": "fixup"}, {"commit": ids[4], "do": "squash"}],
                [{"commit": ids[0], "do": "reword", "message": "first"},
                 {"commit": ids[1], "do": "fixup"}] + pick[2:],
                pick[:2] + [{"commit": ids[2], "do": "drop"}] + pick[3:],
                [{"commit": commit, "do": "drop"} for commit in ids],
        ):
            with self.subTest(plan=plan):
                self.assertTrue(self.judged(server, plan, "main", start))

    def test_below_the_oldest(self):
        """plan: without onto the commits are replayed below the oldest that is named"""
        ids = self.story()
        plan = [{"commit": "HEAD~1", "do": "pick"},
                {"commit": "HEAD", "do": "squash", "message": "last two"}]
        text = self.says("git_rebase", {"plan": plan})
        self.assertIn("2 commits replayed; newest first:\n", text)
        self.assertIn(" last two\n", text)
        self.assertEqual(self.out("log", "-2", "--format=%s"), "last two\ncommit 2\n")
        self.assertEqual(self.out("rev-parse", "HEAD~1").strip(), ids[2])

    def test_refused(self):
        """plan: commits left out, twice there or of another branch, and messages where none go"""
        ids = self.story()
        self.git("branch", "other", "main")
        for plan, words in (
                ([{"commit": ids[4]}, {"commit": ids[2]}], f"The plan leaves out {ids[3][:8]}"),
                ([{"commit": ids[3]}, {"commit": ids[4]}, {"commit": ids[3][:12]}],
                 f"plan[2] names {ids[3][:8]} once more"),
                ([{"commit": ids[0]}], "The plan leaves out " + ids[1][:8]),
                ([{"commit": ids[4], "do": "squash"}], "plan[0] has no commit before it"),
                ([{"commit": ids[3], "do": "drop"}, {"commit": ids[4], "do": "fixup"}],
                 "plan[1] has no commit before it"),
                ([{"commit": ids[4], "do": "reword"}], "plan[0].message is required"),
                ([{"commit": ids[4], "message": "x"}], "plan[0].message goes with reword"),
                ([{"commit": ids[4], "do": "edit"}], "'plan[0].do' must be one of"),
                ([{"do": "pick"}], "plan[0].commit is required"),
        ):
            with self.subTest(plan=plan):
                self.fails("BadArgs", words, "git_rebase", {"plan": plan})
        self.fails("BadArgs", "plan and autosquash cannot both hold", "git_rebase",
                   {"plan": [{"commit": "HEAD"}], "autosquash": True})
        self.fails("ExecutionFailed", "nowhere", "git_rebase", {"onto": "nowhere"})

    def test_stops(self):
        """plan: what conflicts stops as git does, and git_conflicts and git go on with it"""
        self.fork(text_with(at5="main"), text_with(at5="one"), "".join(LINES))
        self.git("checkout", "-q", "topic")
        second = self.commit("g.txt", "two\n", "second")
        first = self.out("rev-parse", "HEAD~1").strip()
        plan = [{"commit": second, "do": "reword", "message": "renamed"},
                {"commit": first, "do": "squash", "message": "both\n\nin one"}]
        tip = self.out("rev-parse", "HEAD").strip()
        for by_git in (False, True):
            text = self.says("git_rebase", {"onto": "main", "plan": plan})
            self.assertIn("The rebase stopped at a conflict.\nRebase 2/2: ours is ", text)
            self.assertIn("f.txt: 1 hunk\nhunk ", text)
            self.assertEqual(self.out("symbolic-ref", "-q", "HEAD", check=False), "")
            self.write("f.txt", text_with(at5="settled"))
            if by_git:
                self.git("add", "f.txt")
                self.git("rebase", "--continue", GIT_EDITOR=":")
            else:
                self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "disk"})
                self.says("git_conflicts", {"action": "continue"})
            self.assertEqual(self.out("log", "--format=%B%x00", "main..topic"),
                             "both\n\nin one\n\0\n")
            self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/topic\n")
            self.assertEqual(self.out("rev-parse", "ORIG_HEAD").strip(), tip)
            self.git("reset", "-q", "--hard", tip)

    def test_stops_unstaged(self):
        """a stopped rebase does not go on over changes that are not staged, and names them"""
        self.fork(text_with(at5="main"), text_with(at5="one"), "".join(LINES))
        self.git("checkout", "-q", "topic")
        self.commit("g.txt", "g\n", "second")
        tip = self.out("rev-parse", "HEAD").strip()
        for tool, arguments in (("git_add", {"paths": ["o.txt"]}), ("git_restore", {"paths": ["o.txt"]}),
                                ("git_stash", {"paths": ["o.txt"]})):
            self.git("checkout", "-q", "main")
            self.commit("o.txt", f"{tool}\n", "other")
            self.git("checkout", "-q", "-B", "topic", tip)
            self.says("git_rebase", {"onto": "main"})
            self.write("f.txt", text_with(at5="settled"))
            self.write("o.txt", "mine\n")
            text = self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "disk",
                                               "continue": True})
            self.assertIn("It did not continue: o.txt has changes that are not staged", text)
            self.assertEqual(self.unmerged(), [])
            text = self.fails("ExecutionFailed", "o.txt has changes that are not staged",
                              "git_conflicts", {"action": "continue"}).text
            self.assertIn(tool, text)
            self.assertEqual(self.out("show", ":f.txt"), text_with(at5="settled"))
            self.says(tool, arguments)
            self.assertIn("The rebase is done", self.says("git_conflicts", {"action": "continue"}))
            self.assertEqual(self.out("show", "HEAD~1:f.txt"), text_with(at5="settled"))
            self.assertEqual(self.out("show", "HEAD~1:o.txt"),
                             "mine\n" if tool == "git_add" else f"{tool}\n")
        self.assertEqual(self.out("stash", "list").count("\n"), 1)

    def test_stops_abort(self):
        """plan: git itself gives a stopped one up, and everything is as before"""
        self.fork(text_with(at5="main"), text_with(at5="one"), "".join(LINES))
        self.git("checkout", "-q", "topic")
        before = self.snapshot()
        for give_up in (lambda: self.git("rebase", "--abort"),
                        lambda: self.says("git_conflicts", {"action": "abort"})):
            self.says("git_rebase", {"onto": "main"})
            self.assertEqual(self.unmerged(), ["f.txt"])
            give_up()
            self.assertEqual(self.snapshot(), before)


class Plain(Case):
    def test_dropped(self):
        """plan: the answer counts what it drops, and lists what the branch has then"""
        ids = self.story(4)
        plan = [{"commit": ids[0]}, {"commit": ids[1], "do": "squash"}, {"commit": ids[2]}, {"commit": ids[3], "do": "drop"}]
        text = self.says("git_rebase", {"plan": plan})
        self.assertIn(", 3 commits replayed, 1 dropped by the plan; newest first:\n", text)
        ids = self.out("log", "--format=%H", "-2").split()
        plan = [{"commit": ids[1]}, {"commit": ids[0], "do": "drop"}]
        text = self.says("git_rebase", {"plan": plan})
        self.assertIn(f", 1 commit replayed, 1 dropped by the plan; newest first:\n  {ids[1][:8]} ", text)

    def test_many(self):
        """the answer lists twenty commits, and counts the older ones as they are then"""
        self.story(26)
        ids = self.out("log", "--reverse", "--format=%h", "-25").split()
        plan = [{"commit": commit, "do": "fixup" if number in (1, 2) else "pick"} for number, commit in enumerate(ids)]
        text = self.says("git_rebase", {"plan": plan})
        self.assertIn("  and 3 older ones\n", text)

    def test_messages(self):
        """the answer has the messages as they are then, in UTF-8, with each control character shown as in git_log"""
        self.story(1)
        tree, who = self.out("rev-parse", "HEAD^^{tree}").strip(), "A <a@example.com> 1800000000 +0000"
        for header, message in ("\nencoding ISO-8859-1", b"caf\xe9"), ("", b"\xff\x1b[31mred\tone\x07\nstill\n\nbody\n"):
            parent = self.out("rev-parse", "HEAD").strip()
            text = f"tree {tree}\nparent {parent}\nauthor {who}\ncommitter {who}{header}\n\n".encode() + message
            commit = self.out("hash-object", "-t", "commit", "-w", "--stdin", "--literally", stdin=text).strip()
            self.git("reset", "-q", "--hard", commit)
        self.git("checkout", "-q", "main")
        self.commit("m.txt", "m\n", "on main")
        self.git("checkout", "-q", "topic")
        text = self.says("git_rebase", {"onto": "main"})
        ids = self.out("log", "--format=%H", "-2").split()
        self.assertIn(f"\n  {ids[0][:8]} \u00ff<U+001B>[31mred<U+0009>one<U+0007> still\n  {ids[1][:8]} caf\u00e9\n", text)

    def test_onto(self):
        """onto: as git rebase; what is there already is left out, and it says so"""
        self.story(3)
        self.git("checkout", "-q", "main")
        self.git("cherry-pick", "topic~2")
        self.commit("m.txt", "m\n", "on main")
        self.git("checkout", "-q", "topic")
        where = self.twin()
        self.git("rebase", "-q", "main", cwd=where)
        text = self.says("git_rebase", {"onto": "main"})
        self.assertIn("Rebased onto main, 2 commits replayed; newest first:\n", text)
        self.assertEqual(len(text.splitlines()), 5, text)  # none of the commits of main
        self.assertIn("1 commit left out: their change is there already\n", text)
        self.assertEqual(self.history(), self.history(where))
        self.assertIn("Nothing to do", self.says("git_rebase", {"onto": "main"}))

    def test_upstream(self):
        """without onto: the upstream; without one, it says what to give"""
        self.story(2)
        self.fails("BadArgs", "has no upstream to rebase onto", "git_rebase")
        self.git("branch", "-q", "--set-upstream-to=main")
        self.git("checkout", "-q", "main")
        self.commit("m.txt", "m\n", "on main")
        self.git("checkout", "-q", "topic")
        self.assertIn("2 commits replayed", self.says("git_rebase"))
        self.assertEqual(self.out("merge-base", "main", "topic"), self.out("rev-parse", "main"))

    def test_autosquash(self):
        """autosquash: the order that git gives"""
        self.init()
        self.git("checkout", "-q", "-b", "topic")
        for i, message in enumerate(["one", "two", "fixup! one", "squash! two\n\nwhy", "three",
                                     "fixup! fixup! one", "amend! three\n\nthird\n\nnew body",
                                     "fixup! nothing"]):
            self.commit(f"{i}.txt", "x\n", message)
        where = self.twin()
        self.git("rebase", "-q", "-i", "--autosquash", "main", cwd=where, GIT_SEQUENCE_EDITOR=":",
                 GIT_EDITOR=":")
        self.says("git_rebase", {"onto": "main", "autosquash": True})
        self.assertEqual(self.history(), self.history(where))

    def test_in_the_way(self):
        """operations in progress, untracked files in the way: refused by name"""
        self.story(2)
        self.git("checkout", "-q", "main")
        self.commit("u.txt", "main\n", "u")
        self.git("checkout", "-q", "topic")
        self.write("u.txt", "mine\n")
        self.fails("ExecutionFailed", "u.txt", "git_rebase", {"onto": "main"})
        (self.root / "u.txt").unlink()
        self.git("checkout", "-q", "-b", "side", "main")
        self.commit("f.txt", "side\n", "side")
        self.git("merge", "-q", "topic", check=False)
        self.fails("ExecutionFailed", "A merge is in progress", "git_rebase", {"onto": "main"})

    def test_asks(self):
        """commits that a remote-tracking branch has: asked before they are rewritten, else not"""
        ids = self.story(3)
        self.git("update-ref", "refs/remotes/origin/topic", ids[1])
        plan = [{"commit": ids[2], "do": "reword", "message": "own"}]
        self.assertFalse(self.call("git_rebase", {"plan": plan}, approval="ask").failed)
        plan = [{"commit": ids[1], "do": "drop"}, {"commit": "HEAD", "do": "pick"}]
        before = self.snapshot()
        result = self.call("git_rebase", {"plan": plan}, approval="ask")
        self.assertEqual(result.kind, "ApprovalRequired", result)
        self.assertEqual(self.snapshot(), before)
        plan = [{"commit": ids[1]}, {"commit": "HEAD"}]
        self.assertIn("Nothing to do",
                      self.call("git_rebase", {"plan": plan}, approval="ask").text)

    def test_question_goes_stale(self):
        """what the answer was about changed while the user was asked: asked again"""
        ids = self.story(3)
        self.git("update-ref", "refs/remotes/origin/topic", ids[2])
        server = everyday.AskingServer(self)
        number = server.ask("git_rebase", {"plan": [
            {"commit": ids[2], "do": "reword", "message": "x"}]})
        question = server.receive()
        self.assertEqual(question.get("method"), "elicitation/create", question)
        self.assertIn(ids[2][:7], str(question))
        self.commit("late.txt", "late\n", "late")
        tip = self.out("rev-parse", "HEAD")
        server.send(id=question["id"], result={"action": "accept", "content": {"decision": "once"}})
        answer = server.receive()
        if answer.get("method") == "elicitation/create":
            server.send(id=answer["id"], result={"action": "decline"})
            answer = server.receive()
        self.assertEqual(answer["id"], number)
        self.assertTrue(answer["result"]["isError"], answer)
        self.assertEqual(self.out("rev-parse", "HEAD"), tip)


class Undo(Case):
    """What the tools do is taken back whole."""

    def undone(self, server, tool, arguments):
        """One call, and git_undo."""
        before = self.snapshot()
        server.ok(tool, arguments)
        self.assertNotEqual(self.snapshot(), before)
        server.ok("git_undo")
        self.assertEqual(self.snapshot(), before)

    def test_undo(self):
        """git_undo: of a rebase, a pick, a revert and a merge, and of ones that stopped"""
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        self.git("branch", "side", "main~1")
        self.git("checkout", "-q", "side")
        ids = [self.commit(f"own{i}.txt", f"{i}\n", f"own {i}") for i in range(3)]
        server = everyday.Server(self)
        self.write("untracked.txt", "mine\n")
        self.undone(server, "git_rebase", {"onto": "main"})
        self.undone(server, "git_rebase", {"plan": [
            {"commit": ids[1], "do": "drop"}, {"commit": ids[2], "do": "reword", "message": "x"}]})
        self.undone(server, "git_cherry_pick", {"commits": ["topic"]})
        self.undone(server, "git_revert", {"commits": [ids[1]]})
        self.undone(server, "git_merge", {"branch": "main"})
        self.undone(server, "git_merge", {"branch": "main", "squash": True})
        self.git("checkout", "-q", "topic")
        self.undone(server, "git_rebase", {"onto": "main"})
        self.undone(server, "git_cherry_pick", {"commits": ["main"]})
        self.undone(server, "git_merge", {"branch": "main"})
        self.undone(server, "git_merge", {"branch": "main", "squash": True})
        server.ok("git_merge", {"branch": "main"})
        self.undone(server, "git_conflicts", {"action": "resolve", "path": "f.txt",
                                              "take": "ours"})
        self.undone(server, "git_conflicts", {"action": "abort"})


class Hostile(Case):
    """Programs that a repository names do not run; plain git is the control."""

    def canary(self, name):
        """A script that leaves a trace."""
        script = self.root / ".git" / name
        script.write_text(f"#!/bin/sh\necho ran >> {self.base}/canary\nexit 0\n", encoding="utf-8")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return str(script)

    def ran(self):
        """Whether it was left since the last look."""
        path = self.base / "canary"
        if not path.exists():
            return False
        path.unlink()
        return True

    def divergent(self):
        """`topic` with two commits, `main` with one; they do not conflict."""
        self.fork(text_with(at5="main"), text_with(at30="topic"), "".join(LINES))
        self.git("checkout", "-q", "topic")
        self.commit("g.txt", "g\n", "second")
        return self.out("rev-parse", "HEAD").strip()

    def check_both(self, plant, **named):
        """git runs it; airlock does not, whether the rebase goes through or stops."""
        tip = self.divergent()
        plant()
        self.git("rebase", "main", check=False, **named)
        self.assertTrue(self.ran(), "the control does not fire")
        self.git("rebase", "--abort", check=False)
        self.git("reset", "-q", "--hard", tip, check=False)
        self.ran()
        result = self.call("git_rebase", {"onto": "main"})
        self.assertFalse(self.ran(), result)
        return result

    def test_hooks(self):
        """hooks: none runs, and the result names them"""
        def plant():
            for hook in ("pre-rebase", "post-rewrite", "post-checkout", "reference-transaction"):
                os.rename(self.canary(hook), self.root / ".git/hooks" / hook)
        result = self.check_both(plant)
        self.assertFalse(result.failed, result)
        self.assertIn("pre-rebase", result.text)

    def test_sequence_editor(self):
        """sequence.editor and core.editor: not started for a plan"""
        tip = self.divergent()
        script = self.canary("editor")
        self.git("config", "sequence.editor", script)
        self.git("config", "core.editor", script)
        self.git("rebase", "-i", "main~1", check=False)
        self.assertTrue(self.ran())
        self.git("rebase", "--abort", check=False)
        self.git("reset", "-q", "--hard", tip)
        first = self.out("rev-parse", "HEAD~1").strip()
        self.says("git_rebase", {"onto": "main", "plan": [
            {"commit": first, "do": "reword", "message": "a"},
            {"commit": tip, "do": "squash", "message": "b"}]})
        self.assertFalse(self.ran())

    def test_merge_driver(self):
        """a merge driver: refused by name"""
        def plant():
            self.git("config", "merge.evil.driver", self.canary("driver"))
            (self.root / ".git/info/attributes").write_text("f.txt merge=evil\n", encoding="utf-8")
        result = self.check_both(plant)
        self.assertTrue(result.failed, result)
        self.assertIn("evil", result.text)

    def test_filter(self):
        """a filter: refused or not run"""
        def plant():
            self.git("config", "filter.evil.smudge", self.canary("filter"))
            (self.root / ".git/info/attributes").write_text("*.txt filter=evil\n", encoding="utf-8")
        result = self.check_both(plant)
        self.assertTrue(result.failed, result)

    def test_fsmonitor(self):
        """core.fsmonitor: not run"""
        def plant():
            self.git("config", "core.fsmonitor", self.canary("monitor"))
        result = self.check_both(plant)
        self.assertFalse(result.failed, result)

    def test_rebase_settings(self):
        """rebase.* settings change neither what is replayed nor the todo list of one that stops"""
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        self.git("checkout", "-q", "topic")
        for name, value in (("rebase.instructionFormat", f"%s%nexec touch {self.base}/canary"),
                            ("rebase.autosquash", "true"), ("rebase.updateRefs", "true"),
                            ("rebase.rebaseMerges", "true"), ("rebase.backend", "apply"),
                            ("rebase.missingCommitsCheck", "error"), ("core.commentChar", "p"),
                            ("rebase.abbreviateCommands", "true")):
            self.git("config", name, value)
        self.says("git_rebase", {"onto": "main"})
        todo = self.root / ".git/rebase-merge/git-rebase-todo"
        self.assertNotIn("exec", todo.read_text() if todo.exists() else "")
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "theirs"})
        self.says("git_conflicts", {"action": "continue"})
        self.assertFalse((self.base / "canary").exists())
        self.assertEqual(self.out("log", "--format=%s", "main..topic"), "theirs\n")


if __name__ == "__main__":
    harness.main()
