#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: what merges and replays runs no program of a repository; plain git is the control."""
import os
import re
import stat

import everyday
import harness
from everyday import LINES, text_with


class Case(everyday.Case):
    """`main` and `topic` conflict in f.txt; `side` merges with main without conflicts."""

    def setUp(self):
        super().setUp()
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        self.git("checkout", "-q", "-b", "side", "main~1")
        self.commit("f.txt", text_with(at30="side"), "side")
        self.git("checkout", "-q", "main")
        self.start = self.out("rev-parse", "HEAD").strip()

    def canary(self, name):
        """A program that leaves a trace."""
        script = self.root / ".git" / name
        script.write_text(f"#!/bin/sh\necho ran >> {self.base}/canary\ncat\nexit 0\n",
                          encoding="utf-8")
        script.chmod(script.stat().st_mode | stat.S_IXUSR)
        return str(script)

    def hook(self, *names):
        """The same as hooks."""
        for name in names:
            os.rename(self.canary(name), self.root / ".git/hooks" / name)

    def ran(self):
        """Whether one did since the last look."""
        path = self.base / "canary"
        found = path.exists()
        path.unlink(missing_ok=True)
        return found

    def again(self):
        """Back to the beginning; what ran meanwhile is the control's."""
        for words in (("merge", "--abort"), ("cherry-pick", "--abort"), ("revert", "--abort"),
                      ("reset", "-q", "--hard", self.start)):
            self.git(*words, check=False)
        self.ran()

    def control(self, *words):
        """git itself runs it."""
        self.git(*words, check=False)
        self.assertTrue(self.ran(), "the control does not fire")
        self.again()

    def quiet(self, tool, arguments):
        """airlock does not."""
        result = self.call(tool, arguments)
        self.assertFalse(self.ran(), result)
        return result


class Programs(Case):
    def test_hooks(self):
        """hooks of a merge, a pick, a revert, and of continuing: none runs, all are named"""
        self.hook("pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-merge",
                  "post-commit", "pre-commit", "reference-transaction", "post-index-change")
        self.control("merge", "--no-edit", "side")
        result = self.quiet("git_merge", {"branch": "side"})
        self.assertIn("post-merge", result.text)
        self.again()
        self.control("cherry-pick", "side")
        self.assertIn("post-commit", self.quiet("git_cherry_pick", {"commits": ["side"]}).text)
        self.quiet("git_revert", {"commits": ["HEAD"]})
        self.again()
        self.quiet("git_merge", {"branch": "topic"})
        self.quiet("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "ours"})
        self.assertIn("commit-msg", self.quiet("git_conflicts", {"action": "continue"}).text)
        self.again()
        self.quiet("git_cherry_pick", {"commits": ["topic", "side"]})
        self.quiet("git_conflicts", {"action": "skip"})
        self.assertEqual(self.out("log", "-1", "--format=%s"), "side\n")

    def test_merge_driver(self):
        """a merge driver: the merge is refused; shown conflicts do not run it"""
        (self.root / ".git/info/attributes").write_text("f.txt merge=evil\n", encoding="utf-8")
        self.git("config", "merge.evil.driver", self.canary("driver"))
        self.control("merge", "--no-edit", "side")
        for tool, arguments in (("git_merge", {"branch": "side"}),
                                ("git_merge", {"branch": "side", "squash": True}),
                                ("git_cherry_pick", {"commits": ["side"]}),
                                ("git_revert", {"commits": ["HEAD"]})):
            with self.subTest(tool=tool):
                before = self.snapshot()
                result = self.quiet(tool, arguments)
                self.assertEqual(self.snapshot(), before)
                if tool != "git_revert":
                    self.assertTrue(result.failed, result)
            self.again()
        self.git("config", "--unset", "merge.evil.driver")
        self.git("merge", "topic", check=False)
        self.git("config", "merge.evil.driver", self.canary("driver"))
        self.quiet("git_conflicts", {})

    def test_filter(self):
        """a filter: what would go through it is refused, and nothing is half done"""
        (self.root / ".git/info/attributes").write_text("*.txt filter=evil\n", encoding="utf-8")
        for kind in ("clean", "smudge"):
            self.git("config", f"filter.evil.{kind}", self.canary("filter"))
        self.control("merge", "--no-edit", "side")
        for tool, arguments in (("git_merge", {"branch": "side"}),
                                ("git_merge", {"branch": "side", "squash": True, "message": "x"}),
                                ("git_cherry_pick", {"commits": ["side"]})):
            result = self.quiet(tool, arguments)
            self.assertTrue(result.failed, result)
        self.git("config", "--remove-section", "filter.evil")
        self.git("merge", "topic", check=False)
        self.git("config", "filter.evil.clean", self.canary("filter"))
        for more in ({"take": "ours"}, {"content": "x\n"}, {"take": "theirs"}):
            result = self.quiet("git_conflicts",
                                {"action": "resolve", "path": "f.txt"} | more)
            self.assertTrue(result.failed, result)
        self.assertEqual(self.unmerged(), ["f.txt"])

    def test_editors_and_monitors(self):
        """core.editor, sequence.editor, core.fsmonitor, gpg.program: not started"""
        program = self.canary("program")
        for name in ("core.editor", "sequence.editor", "core.fsmonitor", "gpg.program",
                     "core.pager", "diff.external"):
            self.git("config", name, program)
        self.git("config", "commit.gpgSign", "true")
        self.control("revert", "HEAD")
        for tool, arguments in (("git_merge", {"branch": "side"}),
                                ("git_revert", {"commits": ["HEAD~1"]}),
                                ("git_cherry_pick", {"commits": ["side"]}),
                                ("git_merge", {"branch": "topic"}),
                                ("git_conflicts", {}),
                                ("git_conflicts", {"action": "abort"})):
            self.quiet(tool, arguments)

    def test_conflict_style(self):
        """what the repository says about conflicts does not change what airlock shows as sides"""
        self.git("merge", "topic", check=False)
        shown = self.says("git_conflicts")
        for name, value in (("merge.conflictStyle", "diff3"), ("merge.renormalize", "true"),
                            ("core.autocrlf", "input"), ("diff.algorithm", "patience"),
                            ("color.ui", "always"), ("core.quotePath", "true")):
            self.git("config", name, value)
        self.assertEqual(self.says("git_conflicts"), shown)

    def test_links(self):
        """a file in conflict that was replaced by a link out of the root is not read or written"""
        self.git("merge", "topic", check=False)
        secret = self.base / "secret"
        secret.write_text("<<<<<<< a\nsecret\n=======\nx\n>>>>>>> b\n", encoding="utf-8")
        (self.root / "f.txt").unlink()
        (self.root / "f.txt").symlink_to(secret)
        self.assertNotIn("secret", self.says("git_conflicts"))
        self.call("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "ours"})
        self.assertIn("secret", secret.read_text())

    def test_control_characters(self):
        """escapes and bidi controls of a conflict and of a branch do not reach the answer"""
        self.git("checkout", "-q", "-b", "odd", "main~1")
        self.commit("f.txt", text_with(at5="\x1b[31mred\u202etxt"), "odd \x1b[2J\u202esubject")
        self.git("checkout", "-q", "main")
        self.git("cherry-pick", "odd", check=False)
        text = self.says("git_conflicts")
        for bad in ("\x1b", "\u202e"):
            self.assertNotIn(bad, text)


class Approvals(Case):
    def asked(self, change, tool, arguments):
        """A question of a rule, during which something changes; it is accepted, and asked again."""
        rule = self.write("ask.toml", f'[[tools.approval.rule]]\ntool = "{tool}"\ndecision = "ask"\n', self.base)
        server = everyday.AskingServer(self, "--config", str(rule))
        number = server.ask(tool, arguments)
        question = server.receive()
        self.assertEqual(question.get("method"), "elicitation/create", question)
        change()
        server.send(id=question["id"], result={"action": "accept", "content": {"decision": "once"}})
        answer = server.receive()
        while answer.get("method") == "elicitation/create":
            server.send(id=answer["id"], result={"action": "decline"})
            answer = server.receive()
        self.assertEqual(answer["id"], number)
        self.assertTrue(answer["result"]["isError"], answer)

    def test_abort(self):
        """abort: another resolution appears while the user is asked: it is not lost"""
        self.git("merge", "topic", check=False)
        self.asked(lambda: self.write("f.txt", "resolved by hand\n"), "git_conflicts",
                   {"action": "abort"})
        self.assertEqual((self.root / "f.txt").read_text(), "resolved by hand\n")
        self.assertTrue((self.root / ".git/MERGE_HEAD").exists())

    def test_continue(self):
        """continue: something else is staged while the user is asked: it is not committed"""
        self.git("merge", "topic", check=False)
        self.write("f.txt", "settled\n")
        self.git("add", "f.txt")

        def change():
            self.write("f.txt", "something else\n")
            self.git("add", "f.txt")
        self.asked(change, "git_conflicts", {"action": "continue"})
        self.assertEqual(self.out("rev-parse", "HEAD").strip(), self.start)

    def test_operation(self):
        """skip: another operation is in progress by then: it is left alone"""
        self.git("cherry-pick", "topic", "side", check=False)

        def change():
            self.git("cherry-pick", "--abort")
            self.git("revert", "--no-edit", "HEAD~1", check=False)
            self.git("cherry-pick", "topic", check=False)
        self.asked(change, "git_conflicts", {"action": "skip"})

    def test_rule(self):
        """a rule that asks: the content is bound to the file that was shown"""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text('[[tools.approval.rule]]\ntool = "git_conflicts"\n'
                          'operation = "resolve"\ndecision = "ask"\n', encoding="utf-8")
        self.git("merge", "topic", check=False)
        (one,) = re.findall(r"^hunk (\S+),", self.says("git_conflicts"), re.M)
        self.asked(lambda: self.write("f.txt", "mine\n"), "git_conflicts",
                   {"action": "resolve", "path": "f.txt", "hunks": [{"id": one, "take": "ours"}]})
        self.assertEqual((self.root / "f.txt").read_text(), "mine\n")


if __name__ == "__main__":
    harness.main()
