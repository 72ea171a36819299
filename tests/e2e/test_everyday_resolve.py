#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: conflicts of many files are shown by the call that stops, resolved in one call and gone
on with."""
import re

import everyday
import harness
from everyday import LINES, text_with

SIDES = {"ours": text_with(at5="ours", at20="ours"),
         "theirs": text_with(at5="theirs", at20="theirs"),
         "both": "".join(line.replace("line 5\n", "ours\ntheirs\n")
                         .replace("line 20\n", "ours\ntheirs\n") for line in LINES)}


def ids(text):
    """The ids of the hunks that a text shows."""
    return re.findall(r"^hunk (\S+), line", text, re.M)


class Many(everyday.Case):
    def fork_many(self, names=("a.txt", "b.txt", "dir/c.txt", "dir/d.txt")):
        """Every file has two hunks, and `topic` is not merged yet."""
        self.init()
        for side in ("base", "theirs", "ours"):
            if side == "theirs":
                self.git("checkout", "-q", "-b", "topic")
            if side == "ours":
                self.git("checkout", "-q", "main")
            for name in names:
                self.write(name, SIDES.get(side, "".join(LINES)))
            self.git("add", "-A")
            self.git("commit", "-q", "-m", side)

    def many(self):
        self.fork_many()
        return self.says("git_merge", {"branch": "topic"})

    def resolve(self, **arguments):
        return self.says("git_conflicts", {"action": "resolve"} | arguments)

    def text(self, name):
        return (self.root / name).read_text()

    def test_all(self):
        """resolve: a merge of any number of files is two calls with take and continue"""
        for take in ("ours", "theirs", "both"):
            with self.subTest(take=take):
                self.setUp()
                self.many()
                text = self.resolve(take=take, **{"continue": True})
                self.assertTrue(text.startswith(
                    "Resolved a.txt, b.txt, dir/c.txt, dir/d.txt.\n"), text)
                self.assertIn("\nThe merge is done: ", text)
                self.assertEqual(self.out("status", "--porcelain"), "")
                self.assertEqual(len(self.out("rev-parse", "HEAD^@").split()), 2)
                for name in ("a.txt", "dir/d.txt"):
                    self.assertEqual(self.text(name), SIDES[take])

    def test_shown(self):
        """the call that stops shows the hunks, with the ids that resolve takes, of any files"""
        found = ids(self.many())
        self.assertEqual(len(found), 8)
        self.assertEqual(found, ids(self.says("git_conflicts")))
        text = self.resolve(hunks=[{"id": one, "take": "theirs"} for one in found],
                            **{"continue": True})
        self.assertIn("The merge is done: ", text)
        self.assertEqual(self.text("dir/c.txt"), SIDES["theirs"])

    def test_some_hunks(self):
        """resolve: hunks of several files, each with what it becomes; the others stay"""
        found = ids(self.many())
        text = self.resolve(hunks=[{"id": found[0], "content": "mine"},
                                   {"id": found[1], "take": "both"},
                                   {"id": found[4], "take": "ours"}])
        self.assertTrue(text.startswith("Resolved a.txt, 1 of 2 hunks of dir/c.txt.\n"), text)
        self.assertEqual(self.text("a.txt"), text_with(at5="mine", at20="ours\ntheirs"))
        self.assertEqual(ids(self.says("git_conflicts")), found[2:4] + found[5:])
        self.assertEqual(self.unmerged(), ["b.txt", "dir/c.txt", "dir/d.txt"])

    def test_paths(self):
        """resolve, show: files, a directory, a glob; others stay in conflict, and it does not go on
        """
        self.many()
        head = self.out("rev-parse", "HEAD")
        self.assertEqual(len(ids(self.says("git_conflicts", {"paths": ["dir", "a.txt"]}))), 6)
        text = self.resolve(paths=["dir"], take="theirs", **{"continue": True})
        self.assertIn("Resolved dir/c.txt, dir/d.txt.\nIt did not continue: in conflict are still "
                      "a.txt (2 hunks), b.txt (2 hunks).\n", text)
        self.assertEqual(self.out("rev-parse", "HEAD"), head)
        self.assertEqual(self.unmerged(), ["a.txt", "b.txt"])
        self.fails("ExecutionFailed", "'dir' is not in conflict", "git_conflicts",
                   {"action": "resolve", "paths": ["a.txt", "dir"], "take": "ours"})
        self.assertIn("The merge is done", self.resolve(paths=["?.txt"], take="ours",
                                                        **{"continue": True}))
        self.assertEqual(self.text("b.txt"), SIDES["ours"])
        self.assertEqual(self.text("dir/c.txt"), SIDES["theirs"])

    def test_disk(self):
        """resolve: files that a user has edited are taken as they are, all or none"""
        self.many()
        self.write("a.txt", "mine\n")
        self.fails("BadArgs", "still has conflict markers on disk", "git_conflicts",
                   {"action": "resolve", "take": "disk"})
        for name in ("b.txt", "dir/c.txt"):
            self.write(name, "mine\n")
        (self.root / "dir/d.txt").unlink()
        self.assertIn("The merge is done", self.resolve(take="disk", **{"continue": True}))
        self.assertEqual(self.out("ls-files").split(), ["a.txt", "b.txt", "dir/c.txt"])

    def test_refused(self):
        """resolve: one id that is gone, or one file that cannot be so resolved, and nothing changes
        """
        found = ids(self.many())
        self.fails("BadArgs", "hunk 00000000 is not there any more; there are " + found[0],
                   "git_conflicts", {"action": "resolve", "hunks": [
                       {"id": found[0], "take": "ours"}, {"id": "00000000", "take": "ours"}]})
        self.fails("BadArgs", "is not there any more", "git_conflicts",
                   {"action": "resolve", "paths": ["b.txt"],
                    "hunks": [{"id": found[0], "take": "ours"}]})
        self.fails("BadArgs", "content of hunks[1] has conflict markers", "git_conflicts",
                   {"action": "resolve", "hunks": [{"id": found[0], "take": "ours"},
                                                   {"id": found[2], "content": "<<<<<<< x\n"}]})

    def test_both(self):
        """take both: binary and deleted files are refused, with the others"""
        self.init()
        for side in ("base", "theirs", "ours"):
            if side == "theirs":
                self.git("checkout", "-q", "-b", "topic")
            if side == "ours":
                self.git("checkout", "-q", "main")
            self.write("a.txt", SIDES.get(side, "".join(LINES)))
            self.write("b.bin", b"\0" + side.encode())
            if side == "theirs":
                (self.root / "c.txt").unlink()
            else:
                self.write("c.txt", side + "\n")
            self.git("add", "-A")
            self.git("commit", "-q", "-m", side)
        self.says("git_merge", {"branch": "topic"})
        for paths in ([], ["b.bin"], ["c.txt"], ["a.txt", "c.txt"]):
            with self.subTest(paths=paths):
                self.fails("BadArgs", "has no hunks of which both sides can be taken",
                           "git_conflicts", {"action": "resolve", "take": "both"}
                           | ({"paths": paths} if paths else {}))
        self.resolve(paths=["a.txt"], take="both")
        self.resolve(take="ours")
        self.assertEqual((self.root / "b.bin").read_bytes(), b"\0ours")
        self.assertEqual(self.text("c.txt"), "ours\n")
        self.assertEqual(self.text("a.txt"), SIDES["both"])

    def test_both_ends(self):
        """take both: the last line of a file ends as it does on the side that is last"""
        for ours, theirs, together in (("a\n", "b", "a\nb"), ("a", "b\n", "a\nb\n"),
                                       ("a", "b", "a\nb"), ("a\r\n", "b\r\n", "a\r\nb\r\n")):
            with self.subTest(together=together):
                self.setUp()
                self.init()
                self.git("config", "core.autocrlf", "false")
                self.collide(ours, theirs, "base\n")
                self.resolve(take="both")
                self.assertEqual((self.root / "f.txt").read_bytes(), together.encode())

    def test_rebase_goes_on(self):
        """continue: a rebase goes on to the next conflict, which the same answer shows"""
        self.fork_many(("a.txt",))
        self.git("checkout", "-q", "topic")
        self.commit("a.txt", text_with(at5="theirs", at20="theirs", at30="more"), "more")
        self.commit("a.txt", text_with(at5="again", at20="theirs", at30="more"), "again")
        text = self.says("git_rebase", {"onto": "main"})
        self.assertEqual(len(ids(text)), 2)
        text = self.resolve(hunks=[{"id": one, "take": "ours"} for one in ids(text)],
                            **{"continue": True})
        self.assertIn("Resolved a.txt.\n", text)
        self.assertIn("The rebase went on and stopped again.\nRebase 3/3: ours is ", text)
        (one,) = ids(text)
        self.assertIn("The rebase is done: ", self.resolve(hunks=[{"id": one, "take": "theirs"}],
                                                           **{"continue": True}))
        self.assertEqual(self.text("a.txt"), text_with(at5="again", at20="ours", at30="more"))

    def test_nothing_left(self):
        """continue: a pick of which nothing is left is named, and the conflict is there again"""
        self.fork_many(("a.txt",))
        self.says("git_cherry_pick", {"commits": ["topic"]})
        self.fails("ExecutionFailed", "Nothing of commit ", "git_conflicts",
                   {"action": "resolve", "take": "ours", "continue": True})

    def test_nothing_to_continue(self):
        """continue: a stash entry that conflicts is nothing in progress; nothing is resolved"""
        self.init()
        self.write("a.txt", "stashed\n")
        self.git("stash", "-q")
        self.commit("a.txt", "ours\n", "ours")
        self.git("stash", "pop", check=False)
        self.fails("ExecutionFailed", "There is nothing to continue", "git_conflicts",
                   {"action": "resolve", "take": "ours", "continue": True})

    def test_cut(self):
        """a stop with more hunks than fit names the files that are left"""
        names = [f"{i:02}.txt" for i in range(60)]
        self.init()
        for side in ("base", "theirs", "ours"):
            if side == "theirs":
                self.git("checkout", "-q", "-b", "topic")
            if side == "ours":
                self.git("checkout", "-q", "main")
            for name in names:
                self.write(name, (side + " text\n") * 40)
            self.git("add", "-A")
            self.git("commit", "-q", "-m", side)
        text = self.says("git_merge", {"branch": "topic"})
        self.assertLess(len(text), 30000)
        self.assertRegex(text, r"\n-- \d+ files not shown: \d\d\.txt, .* and \d+ more|"
                               r"\n-- \d+ files not shown: \d\d\.txt, ")
        self.assertIn("The merge is done", self.resolve(take="both", **{"continue": True}))

    def test_undone_at_once(self):
        """git_undo: what was resolved and concluded in one call goes back in one step"""
        self.fork_many()
        server = everyday.Server(self)
        server.says("git_merge", {"branch": "topic"})
        before = self.snapshot()
        text = server.says("git_conflicts", {"action": "resolve", "take": "ours",
                                             "continue": True})
        self.assertNotIn("had not begun", text)
        server.says("git_undo")
        self.assertEqual(self.snapshot(), before)

    def test_asks(self):
        """continue: of an operation that somebody else has begun it asks, as action continue does
        """
        self.fork_many()
        self.git("merge", "topic", check=False)
        result = self.call("git_conflicts", {"action": "resolve", "take": "ours",
                                             "continue": True}, approval="deny")
        self.assertTrue(result.failed)


if __name__ == "__main__":
    harness.main()
