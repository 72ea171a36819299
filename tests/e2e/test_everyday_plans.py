#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: random plans of git_rebase give what git rebase -i gives.

AIRLOCK_PLANS is how many are tried of each kind of history; the seed is fixed.
"""
import os
import random

import everyday
import harness
import rebasing

PLANS = int(os.environ.get("AIRLOCK_PLANS", "8"))


class Plans(rebasing.Case):
    def add(self, message, files, *words, encoding="UTF-8", **variables):
        """A commit of these files, with this message to the byte; gives its id."""
        for name, content in files.items():
            if content is None:
                (self.root / name).unlink()
            else:
                self.write(name, content)
        self.git("add", "-A")
        self.git("-c", f"i18n.commitEncoding={encoding}", "commit", "-q", "--allow-empty",
                 "--allow-empty-message", "--cleanup=verbatim", "-F", "-", *words,
                 stdin=message.encode(encoding), **variables)
        self.commits += 1
        return self.out("rev-parse", "HEAD").strip()

    def begin(self):
        self.init()
        self.add("base", {"f.txt": "".join(everyday.LINES), "mode.sh": "x\n"})
        self.git("branch", "base")
        self.git("checkout", "-q", "-b", "topic")

    def try_plans(self, seed, ids, onto):
        """As many plans as asked for; both kinds of ends are among them."""
        dice, start, through = random.Random(seed), self.out("rev-parse", "HEAD").strip(), 0
        server = everyday.Server(self)
        for _ in range(PLANS):
            through += self.judged(server, rebasing.random_plan(dice, ids), onto, start)
        self.assertGreater(through, 0)

    def lines(self, **changes):
        return {"f.txt": everyday.text_with(**changes)}

    def test_messages(self):
        """random plans: messages of every shape, authors, dates and encodings"""
        self.begin()
        ids = [self.add(message, {f"{i}.txt": f"{i}\n"}, encoding="UTF-8",
                        GIT_AUTHOR_NAME=f"Autor {i} Ö", GIT_AUTHOR_DATE=f"{1600000000 + i} +0{i}30")
               for i, message in enumerate(rebasing.MESSAGES[:6])]
        ids.append(self.add("Größe\n\nlatin", {"l.txt": "l\n"}, encoding="ISO-8859-1",
                            GIT_AUTHOR_NAME="Jörg"))
        self.try_plans(1, ids, "base")

    def test_empty(self):
        """random plans: commits without a change, and ones that become empty"""
        self.begin()
        ids = [self.add("one", self.lines(at3="three")), self.add("empty", {}),
               self.add("back", self.lines()), self.add("again", self.lines(at3="three")),
               self.add("", {"no-message.txt": "x\n"}), self.add("known", {"k.txt": "k\n"})]
        self.git("checkout", "-q", "-b", "side", "base")
        self.add("the same", {"k.txt": "k\n"})
        self.git("checkout", "-q", "topic")
        self.try_plans(2, ids[:5] + ids[5:], "base")
        self.try_plans(3, ids, "side")

    def test_conflicts(self):
        """random plans: neighbouring lines, renames, modes and deletions, which stop or do not"""
        self.begin()
        ids = [self.add("three", self.lines(at3="three")),
               self.add("four", self.lines(at3="three", at4="four")),
               self.add("far", self.lines(at3="three", at4="four", at30="thirty"))]
        os.rename(self.root / "f.txt", self.root / "g.txt")
        ids.append(self.add("move", {}))
        (self.root / "mode.sh").chmod(0o755)
        ids.append(self.add("mode", {}))
        ids.append(self.add("gone", {"mode.sh": None, "new.txt": "new\n"}))
        self.try_plans(4, ids, "base")

    def test_elsewhere(self):
        """random plans: onto a branch that has changed the same files"""
        self.begin()
        ids = [self.add(f"step {i}", self.lines(**{f"at{8 * i}": "x"}) | {f"{i}.txt": "i\n"})
               for i in range(5)]
        self.git("checkout", "-q", "-b", "side", "base")
        self.add("other", self.lines(at20="other") | {"mode.sh": "y\n"})
        self.git("checkout", "-q", "topic")
        self.try_plans(5, ids, "side")

    def test_root(self):
        """random plans: from the first commit of the history on"""
        self.git("init", "-q")
        self.git("checkout", "-q", "-b", "topic")
        ids = [self.add("root\n\n# of all", {"f.txt": "".join(everyday.LINES)}),
               self.add("own", {"own.txt": "own\n"}), self.add("three", self.lines(at3="three")),
               self.add("empty", {}), self.add("other", {"other.txt": "o\n"})]
        self.try_plans(6, ids, None)

    def test_root_stops(self):
        """a plan from the first commit on that stops: continued by git_conflicts or git, or given
        up; nothing is missing in the repository"""
        self.git("init", "-q")
        self.git("checkout", "-q", "-b", "topic")
        root = self.add("root", self.lines(), GIT_AUTHOR_NAME="First")
        own = self.add("own", {"own.txt": "own\n"})
        last = self.add("last", self.lines(at3="three"))
        plan = [{"commit": own, "do": "reword", "message": "begins"}, {"commit": last},
                {"commit": root}]
        for by_git in (False, True):
            before = self.snapshot()
            text = self.says("git_rebase", {"plan": plan})
            self.assertIn("The rebase stopped at a conflict.\nRebase 2/3: ", text)
            self.assertEqual(self.unmerged(), ["f.txt"])
            self.says("git_conflicts", {"action": "abort"})
            self.assertEqual(self.snapshot(), before)
            self.says("git_rebase", {"plan": plan})
            for text in (everyday.text_with(at3="three"), "both\n"):
                self.write("f.txt", text)
                if by_git:
                    self.git("add", "f.txt")
                    self.git("rebase", "--continue", GIT_EDITOR=":", check=False)
                else:
                    self.says("git_conflicts", {"action": "resolve", "path": "f.txt",
                                                "take": "disk"})
                    self.says("git_conflicts", {"action": "continue"})
            self.assertEqual(self.out("log", "--format=%an %s"),
                             "First root\nA U Thor last\nA U Thor begins\n")
            self.assertEqual(self.out("log", "--max-parents=0", "--format=%s"), "begins\n")
            self.assertEqual(self.out("show", "HEAD:f.txt"), "both\n")
            self.assertEqual(self.out("status", "--porcelain"), "")
            self.assertEqual(self.out("fsck", "--no-dangling"), "")
            self.git("reset", "-q", "--hard", last)

    def test_root_refused(self):
        """a plan from the first commit on: none left, a shallow clone, commits left out"""
        self.git("init", "-q")
        self.git("checkout", "-q", "-b", "topic")
        ids = [self.add(str(i), {f"{i}.txt": "x\n"}) for i in range(3)]
        self.fails("ExecutionFailed", "Nothing would be left of the history", "git_rebase",
                   {"plan": [{"commit": commit, "do": "drop"} for commit in ids]})
        self.fails("BadArgs", "The plan leaves out " + ids[1][:8], "git_rebase",
                   {"plan": [{"commit": ids[0]}, {"commit": ids[2]}]})
        more = self.add("more", {"0.txt": "y\n"})
        self.fails("ExecutionFailed", f"{more[:8]} cannot be the first commit", "git_rebase",
                   {"plan": [{"commit": commit} for commit in (more, *ids)]})
        self.git("reset", "-q", "--hard", ids[2])
        self.git("fetch", "-q", "--depth=2", f"file://{self.root}/.git", "topic",
                 cwd=self.clone_of_nothing())
        self.root = self.base / "shallow"
        self.git("checkout", "-q", "-b", "topic", "FETCH_HEAD")
        self.fails("ExecutionFailed", "where the history of this shallow clone begins",
                   "git_rebase", {"plan": [{"commit": ids[1]}, {"commit": ids[2]}]})
        self.says("git_rebase", {"plan": [{"commit": ids[2], "do": "reword", "message": "last"}]})

    def clone_of_nothing(self):
        """A new repository."""
        self.git("init", "-q", str(self.base / "shallow"))
        return self.base / "shallow"

    def test_comments(self):
        """lines that begin with "#" stay in the message of a chain that stops, at each of its
        steps, whoever goes on with it"""
        self.begin()
        ids = [self.add(f"subject {i}\n\n# body {i}", self.lines(**{f"at{9 * i}": "x"}))
               for i in range(3)]
        tip = ids[-1]
        given = "#12 is fixed\n\n# heading\ntext"
        combined = "\n\n".join(f"subject {i}\n\n# body {i}" for i in range(3))
        for at in range(3):
            self.git("checkout", "-q", "-B", "side", "base")
            self.add("other", self.lines(**{f"at{9 * at}": "y"}))
            self.git("checkout", "-q", "topic")
            for last, message in (({"do": "squash", "message": given}, given),
                                  ({"do": "fixup"}, given), ({"do": "squash"}, combined)):
                if at == 0 and message == combined:
                    continue  # git drops the first commit if nothing is left of it
                plan = [{"commit": ids[0]}, {"commit": ids[1], "do": "squash"},
                        {"commit": ids[2], **last}]
                if last["do"] == "fixup":
                    plan[0] |= {"do": "reword", "message": given}
                    plan[1]["do"] = "fixup"
                self.says("git_rebase", {"onto": "side", "plan": plan})
                self.assertEqual(self.unmerged(), ["f.txt"])
                while self.unmerged():
                    by_git = at == 1
                    if by_git:
                        self.git("checkout", "-q", "--theirs", "f.txt")
                        self.git("add", "f.txt")
                        self.git("rebase", "--continue", GIT_EDITOR=":", check=False)
                    else:
                        self.says("git_conflicts", {"action": "resolve", "path": "f.txt",
                                                    "take": "theirs"})
                        self.says("git_conflicts", {"action": "continue"})
                self.assertEqual(self.out("log", "--format=%B%x00", "side..topic"),
                                 message + "\n\0\n", (at, plan))
                self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/topic\n")
                self.git("reset", "-q", "--hard", tip)

    def test_comment_char(self):
        """the message of a chain that stops is whole, whatever core.commentChar is"""
        self.begin()
        ids = [self.add(f"subject {i}", self.lines(**{f"at{9 * i}": "x"})) for i in range(3)]
        self.git("checkout", "-q", "-b", "side", "base")
        self.add("other", self.lines(at9="y"))
        self.git("checkout", "-q", "topic")
        given = "12 is fixed\n\n; heading\n! text"
        for setting in ("#", ";", "auto", "!"):
            self.git("config", "core.commentChar", setting)
            for last, message in (({"do": "squash", "message": given}, given),
                                  ({"do": "squash"}, "subject 0\n\nsubject 1\n\nsubject 2")):
                for by_git in (False, True):
                    self.says("git_rebase", {"onto": "side", "plan": [
                        {"commit": ids[0]}, {"commit": ids[1], "do": "squash"},
                        {"commit": ids[2], **last}]})
                    while self.unmerged():
                        if by_git:
                            self.git("checkout", "-q", "--theirs", "f.txt")
                            self.git("add", "f.txt")
                            self.git("rebase", "--continue", GIT_EDITOR="true", check=False)
                        else:
                            self.says("git_conflicts", {"action": "resolve", "path": "f.txt",
                                                        "take": "theirs"})
                            self.says("git_conflicts", {"action": "continue"})
                    self.assertEqual(self.out("log", "--format=%B%x00", "side..topic"),
                                     message + "\n\0\n", (setting, by_git))
                    self.git("reset", "-q", "--hard", ids[2])

    def test_comments_of_one(self):
        """lines that begin with "#" stay in the message of a commit that stopped"""
        self.begin()
        ids = [self.add(f"#{i}\n\n# body", self.lines(**{f"at{9 * i}": "x"})) for i in range(2)]
        self.git("checkout", "-q", "-b", "side", "base")
        self.add("other", self.lines(at0="y", at9="y"))
        self.git("checkout", "-q", "topic")
        self.says("git_rebase", {"onto": "side", "plan": [
            {"commit": ids[0], "do": "reword", "message": "#5\n; text\n# more"},
            {"commit": ids[1]}]})
        for text in (self.lines(at0="x", at9="y"), self.lines(at0="x", at9="x")):
            self.write("f.txt", text["f.txt"])
            self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "disk"})
            self.says("git_conflicts", {"action": "continue"})
        self.assertEqual(self.out("log", "--reverse", "--format=%B%x00", "side..topic"),
                         "#5\n; text\n# more\n\0\n#1\n\n# body\n\0\n")

    def test_merges(self):
        """a merge in the range: left out of a plain rebase, and refused by name in a plan"""
        self.begin()
        first = self.add("first", {"1.txt": "1\n"})
        self.git("checkout", "-q", "-b", "side", "base")
        side = self.add("side", {"s.txt": "s\n"})
        self.git("checkout", "-q", "topic")
        self.git("merge", "-q", "--no-ff", "-m", "merged", "side")
        merge = self.out("rev-parse", "HEAD").strip()
        pick = [{"commit": commit} for commit in (first, side)]
        self.fails("BadArgs", f"{merge[:8]} is not among the commits to rebase", "git_rebase",
                   {"onto": "base", "plan": pick + [{"commit": merge}]})
        text = self.says("git_rebase", {"onto": "base", "plan": pick})
        self.assertIn("1 merge left out", text)
        self.assertEqual(self.out("log", "--reverse", "--format=%s", "base..HEAD"), "first\nside\n")


if __name__ == "__main__":
    harness.main()
