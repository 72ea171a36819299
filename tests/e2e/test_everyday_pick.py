#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_cherry_pick and git_revert give what git gives."""
import shutil

import everyday
import harness
from everyday import LINES, text_with

FIELDS = "--format=%T%n%an <%ae> %ad%n%B%x00"


class Case(everyday.Case):
    def branches(self, commits=3):
        """`topic` with commits of its own files by other authors, `main` with one more."""
        self.init()
        self.commit("f.txt", "".join(LINES), "base")
        self.git("checkout", "-q", "-b", "topic")
        ids = []
        for i in range(commits):
            author = {"GIT_AUTHOR_NAME": f"Author {i}", "GIT_AUTHOR_EMAIL": f"{i}@example.com"}
            ids.append(self.commit(f"own{i}.txt", f"{i}\n", f"commit {i}\n\nBody.", **author))
        self.git("checkout", "-q", "main")
        self.commit("m.txt", "m\n", "on main")
        return ids

    def twin(self):
        """A copy for git itself."""
        where = self.base / "twin"
        shutil.rmtree(where, ignore_errors=True)
        shutil.copytree(self.root, where, symlinks=True)
        return where

    def same(self, where):
        """Both have the same history and the same files."""
        self.assertEqual(self.out("log", FIELDS), self.out("log", FIELDS, cwd=where))
        self.assertEqual(self.out("ls-files", "--stage"), self.out("ls-files", "--stage", cwd=where))
        self.assertEqual(self.out("status", "--porcelain"),
                         self.out("status", "--porcelain", cwd=where))


class Pick(Case):
    def test_several(self):
        """git_cherry_pick: revisions and ranges, in order"""
        ids = self.branches()
        where = self.twin()
        self.git("cherry-pick", ids[2], ids[0], ids[1], cwd=where)
        text = self.says("git_cherry_pick", {"commits": [ids[2][:10], f"{ids[0]}^..{ids[1]}"]})
        self.assertTrue(text.startswith("Picked 3 commits:\n"), text)
        self.same(where)

    def test_long_message(self):
        """git_cherry_pick: a message of any length stays whole"""
        self.branches(1)
        (self.base / "message").write_text("long\n\n" + "a line of it\n" * 20000, encoding="utf-8")
        self.git("checkout", "-q", "topic")
        self.git("commit", "-q", "--amend", "-F", str(self.base / "message"))
        self.git("checkout", "-q", "main")
        where = self.twin()
        self.git("cherry-pick", "topic", cwd=where)
        self.says("git_cherry_pick", {"commits": ["topic"]})
        self.same(where)

    def test_author_without_date(self):
        """git_cherry_pick: an author without a date gets that of the new commit"""
        topic = self.branches(1)[0]
        commit = self.out("cat-file", "commit", topic).replace("\nauthor ", "\nauthor A <a@b>\nx ", 1)
        (self.base / "commit").write_text(commit, encoding="utf-8")
        bad = self.out("hash-object", "-t", "commit", "-w", "--literally", str(self.base / "commit")).strip()
        self.says("git_cherry_pick", {"commits": [bad]})
        self.assertRegex(self.out("cat-file", "commit", "HEAD"), r"\nauthor A <a@b> [0-9]+ \+0000\n")

    def test_dirty(self):
        """git_cherry_pick: other local changes stay, staged ones staged; a file in the way is named"""
        ids = self.branches()
        self.write("f.txt", "mine\n")
        self.says("git_cherry_pick", {"commits": [ids[0]]})
        self.assertEqual((self.root / "f.txt").read_text(), "mine\n")
        self.write("own1.txt", "mine\n")
        self.fails("ExecutionFailed", "own1.txt", "git_cherry_pick", {"commits": [ids[1]]})
        self.git("add", "f.txt")
        self.says("git_cherry_pick", {"commits": [ids[2]]})
        self.assertEqual(self.out("status", "--porcelain"), "M  f.txt\n?? own1.txt\n")

    def test_no_commit(self):
        """git_cherry_pick no_commit: the change is staged, the branch stays"""
        ids = self.branches()
        head = self.out("rev-parse", "HEAD")
        text = self.says("git_cherry_pick", {"commits": ids[:2], "no_commit": True})
        self.assertIn("Picked 2 commits, staged and not committed", text)
        self.assertEqual(self.out("rev-parse", "HEAD"), head)
        self.assertEqual(self.out("status", "--porcelain"), "A  own0.txt\nA  own1.txt\n")

    def test_no_commit_conflicts(self):
        """no_commit: after a conflict nothing is in progress that would commit, and it says what is left"""
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        self.git("checkout", "-q", "topic")
        self.commit("last.txt", "x\n", "last")
        self.git("checkout", "-q", "main")
        self.commit("f.txt", text_with(at5="later"), "later")
        before, head = self.snapshot(), self.out("rev-parse", "HEAD")
        left = "The commits after that one were not applied"
        for tool, commits, more in (("git_cherry_pick", ["main..topic"], True),
                                    ("git_cherry_pick", ["topic~1"], False),
                                    ("git_revert", ["HEAD~1"], False),
                                    ("git_revert", ["HEAD~1", "HEAD"], True)):
            with self.subTest(tool=tool, commits=commits):
                server = everyday.Server(self)
                text = server.ok(tool, {"commits": commits, "no_commit": True}).text
                self.assertIn("git_conflicts resolves them; git_commit commits then.", text)
                self.assertEqual(left in text, more)
                for action in ("continue", "skip", "abort"):
                    self.assertTrue(server.call("git_conflicts", {"action": action}).failed)
                server.ok("git_conflicts", {"action": "resolve", "take": "theirs"})
                self.assertEqual(self.out("rev-parse", "HEAD"), head)
                self.assertEqual(self.out("status", "--porcelain"), "M  f.txt\n")
                server.ok("git_undo", {"steps": 2})
                server.close()
                self.assertEqual(self.snapshot(), before)

    def test_nothing_left(self):
        """git_cherry_pick: what is there already is left out, and it says so"""
        ids = self.branches()
        self.says("git_cherry_pick", {"commits": [ids[0]]})
        text = self.says("git_cherry_pick", {"commits": ids[:2]})
        self.assertIn("Picked 1 commit; 1 changed nothing here and was left out:\n", text)
        self.assertEqual(self.out("log", "-2", "--format=%s"), "commit 1\ncommit 0\n")

    def test_conflict(self):
        """git_cherry_pick: a conflict is a result; continue, skip and abort are git's"""
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        self.git("checkout", "-q", "topic")
        last = self.commit("last.txt", "x\n", "last")
        self.git("checkout", "-q", "main")
        before = self.snapshot()
        commits = {"commits": ["main..topic"]}
        where = self.twin()
        self.git("cherry-pick", "main..topic", cwd=where, check=False)
        text = self.says("git_cherry_pick", commits)
        self.assertIn("The cherry-pick stopped at a conflict.\nCherry-pick", text)
        self.assertIn("f.txt: 1 hunk\nhunk ", text)
        self.same(where)
        self.says("git_conflicts", {"action": "abort"})
        self.assertEqual(self.snapshot(), before)
        self.says("git_cherry_pick", commits)
        self.assertRegex(self.says("git_conflicts", {"action": "skip"}),
                         "^Left out [0-9a-f]{8} .*[.] The cherry-pick is done"
                         "|\nLeft out [0-9a-f]{8} .*[.] The cherry-pick is done")
        self.assertEqual(self.out("log", "-1", "--format=%s").strip(), "last")
        self.git("reset", "-q", "--hard", "HEAD~1")
        self.says("git_cherry_pick", commits)
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "theirs"})
        self.says("git_conflicts", {"action": "continue"})
        self.assertEqual(self.out("log", "-2", "--format=%s").split(), ["last", "theirs"])
        self.assertTrue(last)

    def stopped(self, verb):
        """A pick or a revert of "one" and "two" that stopped at "one"."""
        self.fork(text_with(at5="main"), text_with(at5="one"), "".join(LINES))
        if verb == "git_cherry_pick":
            self.git("checkout", "-q", "topic")
            self.commit("g.txt", "g\n", "two")
            self.git("checkout", "-q", "main")
            return self.says(verb, {"commits": ["main..topic"]})
        one = self.out("rev-parse", "HEAD").strip()
        two = self.commit("g.txt", "g\n", "two")
        self.commit("f.txt", text_with(at5="above"), "above")
        return self.says(verb, {"commits": [one, two]})

    def test_emptied(self):
        """a pick or a revert whose commit has nothing left says so, and names skip and abort"""
        for verb in "git_cherry_pick", "git_revert":
            self.assertIn("stopped at a conflict", self.stopped(verb))
            self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "ours"})
            result = self.fails("ExecutionFailed", "Nothing of commit ", "git_conflicts",
                                {"action": "continue"})
            self.assertIn("action skip leaves this commit out", result.text)
            self.assertIn("action abort", result.text)
            self.says("git_conflicts", {"action": "skip"})
            self.assertEqual(self.out("log", "-1", "--format=%s").strip(),
                             "two" if verb == "git_cherry_pick" else 'Revert "two"')
            shutil.rmtree(self.root)
            self.root.mkdir()

    def test_emptied_later(self):
        """the same of a commit that comes later: no words of git's, and the stop is as it was"""
        for verb in "git_cherry_pick", "git_revert":
            self.assertIn("stopped at a conflict", self.stopped(verb))
            self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "theirs"})
            if verb == "git_cherry_pick":
                self.write("g.txt", "g\n")
                self.git("add", "g.txt")
            else:
                self.git("rm", "-q", "g.txt")
            result = self.fails("ExecutionFailed", "would change nothing here", "git_conflicts",
                                {"action": "continue"})
            self.assertIn("git_conflicts with action abort", result.text)
            self.assertNotIn("--allow-empty", result.text)
            self.assertNotIn("working tree clean", result.text)
            self.says("git_conflicts", {"action": "abort"})
            shutil.rmtree(self.root)
            self.root.mkdir()

    def test_comments(self):
        """git_cherry_pick: lines that begin with # stay in the message of a pick that stopped"""
        message = "#1 mend it\n\n# Heading\n- item\n\n# Conflicts:\n#\tno/list\nend\n"
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        self.git("checkout", "-q", "topic")
        self.git("commit", "-q", "--amend", "-m", message)
        self.commit("last.txt", "x\n", "last\n\n# stays\n")
        self.git("checkout", "-q", "main")
        for commits, count in (["topic~1"], 1), (["main..topic"], 2):
            where = self.twin()
            self.git("cherry-pick", *commits, cwd=where, check=False)
            self.git("checkout", "-q", "--theirs", "f.txt", cwd=where)
            self.git("add", "f.txt", cwd=where)
            self.git("cherry-pick", "--continue", cwd=where)  # the control: git lets them go
            self.assertNotIn("# Heading", self.out("log", f"-{count}", "--format=%B", cwd=where))
            self.says("git_cherry_pick", {"commits": commits})
            self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "theirs"})
            self.says("git_conflicts", {"action": "continue"})
            of = "--format=%an <%ae> %ad%n%B"
            self.assertEqual(self.out("log", f"-{count}", of),
                             self.out("log", f"-{count}", of, commits[0].removeprefix("main..")))
            self.assertEqual(self.out("status", "--porcelain"), "")
            self.git("reset", "-q", "--hard", f"HEAD~{count}")

    def test_refused(self):
        """git_cherry_pick: merges, nothing, what is not there; while something is in progress"""
        ids = self.branches()
        self.git("merge", "-q", "--no-ff", "-m", "joined", "topic")
        self.fails("ExecutionFailed", "is a merge, which cannot be picked", "git_cherry_pick",
                   {"commits": ["HEAD"]})
        self.fails("ExecutionFailed", "The range has no commits", "git_cherry_pick",
                   {"commits": ["main..main"]})
        self.fails("ExecutionFailed", "nowhere", "git_cherry_pick", {"commits": ["nowhere"]})
        self.fails("BadArgs", "commits must contain at least 1", "git_cherry_pick",
                   {"commits": []})
        self.fails("BadArgs", "commits", "git_cherry_pick", {"commits": ["--help"]})
        self.fails("BadArgs", "unknown parameter 'mainline'", "git_cherry_pick",
                   {"commits": [ids[0]], "mainline": 1})

    def test_unasked(self):
        """git_cherry_pick, git_revert: what a checkpoint can bring back is not asked about"""
        ids = self.branches()
        self.assertFalse(self.call("git_cherry_pick", {"commits": ids[:1]}, approval="ask").failed)
        self.assertFalse(self.call("git_revert", {"commits": ["HEAD"]}, approval="ask").failed)


class Revert(Case):
    def test_several(self):
        """git_revert: newest first for a range, as given for a list"""
        self.branches()
        self.git("checkout", "-q", "topic")
        where = self.twin()
        self.git("revert", "--no-edit", "HEAD~2..HEAD", cwd=where)
        text = self.says("git_revert", {"commits": ["HEAD~2..HEAD"]})
        self.assertTrue(text.startswith("Reverted 2 commits:\n"), text)
        self.assertEqual(self.out("log", "--format=%T%n%an%n%B"),
                         self.out("log", "--format=%T%n%an%n%B", cwd=where))

    def test_merge(self):
        """git_revert: a merge needs mainline, and says so; what is no merge has none"""
        self.branches()
        self.git("merge", "-q", "--no-ff", "-m", "joined", "topic")
        self.fails("ExecutionFailed", "is a merge", "git_revert", {"commits": ["HEAD"]})
        self.fails("ExecutionFailed", "has 2 parents", "git_revert",
                   {"commits": ["HEAD"], "mainline": 3})
        self.fails("ExecutionFailed", "is no merge", "git_revert",
                   {"commits": ["HEAD^"], "mainline": 1})
        self.fails("BadArgs", "mainline must be at least 1", "git_revert",
                   {"commits": ["HEAD"], "mainline": 0})
        where = self.twin()
        self.git("revert", "--no-edit", "-m", "1", "HEAD", cwd=where)
        self.says("git_revert", {"commits": ["HEAD"], "mainline": 1})
        self.assertEqual(self.out("log", "-1", "--format=%T%n%B"),
                         self.out("log", "-1", "--format=%T%n%B", cwd=where))

    def test_conflict(self):
        """git_revert: a conflict stops as git does"""
        self.init()
        first = self.commit("f.txt", text_with(at5="one"), "one")
        self.commit("f.txt", text_with(at5="two"), "two")
        where = self.twin()
        self.git("revert", "--no-edit", first, cwd=where, check=False)
        text = self.says("git_revert", {"commits": [first]})
        self.assertIn("The revert stopped at a conflict.\nRevert", text)
        self.same(where)
        self.says("git_conflicts", {"action": "abort"})
        self.assertEqual(self.out("status", "--porcelain"), "")


if __name__ == "__main__":
    harness.main()
