#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_add and git_restore stage, unstage and take back files and single hunks."""
import os
import re

import everyday
import harness
from everyday import LINES, text_with


class Case(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("f.txt", "".join(LINES), "base")

    def hunk_ids(self, staged=False):
        """The ids there are: the error of an id that is not there names them."""
        arguments = {"hunks": ["00000000"], "staged": staged}
        result = self.call("git_restore", arguments)
        self.assertIn("hunk 00000000 is not there any more", result.text)
        return re.findall(r"\b([0-9a-f]{8}(?:-\d+)?)\b", result.text.partition("hunks are")[2].splitlines()[0])

    def index(self, path="f.txt"):
        return self.git("show", f":{path}").stdout.decode()


class Racy(Case):
    """A file that was written again in the second in which the index was written."""

    def again(self, name, text):
        """Write a file of the same size: same inode, same time, and the index is as old."""
        with open(self.root / name, "r+", encoding="utf-8") as file:
            file.write(text)
        for path in (self.root / name, self.root / ".git/index"):
            os.utime(path, (1700000000, 1700000000))

    def test_commit(self):
        """git_commit: a change that only its content shows is committed"""
        self.git("config", "core.trustctime", "false")
        for name, options in (("a", {"all": True}), ("b", {"paths": ["."]}),
                              ("c", {"paths": ["c"], "amend": True})):
            self.write(name, "1\n")
            os.utime(self.root / name, (1700000000, 1700000000))
            self.git("add", name)
            self.git("commit", "-q", "-m", "one")
            self.again(name, "2\n")
            self.write("other", f"{options}\n")
            self.says("git_commit", {"message": "two", **options})
            self.assertEqual(self.out("show", f"HEAD:{name}"), "2\n", options)
            self.assertEqual(self.out("diff", "--", name), "")

class Add(Case):
    def test_sparse(self):
        """git_add: git passes over files outside a sparse checkout, and the answer says so"""
        for name in ("in/f", "out/f"):
            self.write(name, "one\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "two directories")
        self.git("sparse-checkout", "set", "--cone", "in")
        self.write("out/f", "two\n")
        outside = "Not staged, as a user can widen the sparse checkout first: out/f\n"
        for options in ({"all": True}, {"update": True}):
            self.assertEqual(self.says("git_add", options),
                             f"Nothing was staged\n{outside}main, 1 not staged")
        self.write("in/f", "two\n")
        self.assertEqual(self.says("git_add", {"all": True}),
                         f"Staged in/f\n{outside}main, 1 staged, 1 not staged")
        self.write("in/f", "three\n")
        self.assertEqual(self.says("git_add", {"paths": ["out/f", "in/f"]}),
                         f"Staged in/f\n{outside}main, 1 staged, 1 not staged")
        self.write("out/new", "new\n")
        text = self.says("git_commit", {"message": "m", "paths": ["out/new", "in/f"]})
        self.assertIn("Not committed, as a user can widen the sparse checkout first: out/new\n", text)
        self.assertEqual(self.out("show", "--format=", "--name-only", "HEAD"), "in/f\n")

    def test_marked(self):
        """git_add and git_commit: a marked file is named, and blocks no other"""
        for name in ("skip", "same", "f"):
            self.write(name, "one\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "three")
        self.git("update-index", "--skip-worktree", "skip")
        self.git("update-index", "--assume-unchanged", "same")
        for name, tool, options in (("skip", "git_add", {}), ("same", "git_add", {}),
                                    ("skip", "git_commit", {"message": "m"}), ("same", "git_commit", {"message": "m"})):
            for changed in ("f", "skip", "same"):
                self.write(changed, f"{name} {tool}\n")
            said = ("Not staged" if tool == "git_add" else "Not committed") + (
                ", as a user can unmark it first (git update-index --no-skip-worktree, --no-assume-unchanged): "
                + name)
            self.assertIn(said + "\n", self.says(tool, {**options, "paths": [name, "f"]}))
            self.assertEqual(self.out("show", ":f"), f"{name} {tool}\n")
        self.refused("ExecutionFailed", f"nothing to commit. {said}", "git_commit",
                     {"message": "m", "paths": [name]})
        self.assertEqual(self.out("show", "HEAD:skip", "HEAD:same"), "one\none\n")
        self.git("update-index", "--no-skip-worktree", "skip")
        self.assertIn("1 file changed", self.says("git_commit", {"message": "m", "paths": ["skip"]}))

    def test_blocking(self):
        """git_add: a file whose filter is not run and a repository without a commit block no other"""
        self.write(".git/info/attributes", "*.bin filter=x\n")
        self.git("config", "filter.x.clean", "cat")
        self.git("config", "filter.x.required", "true")
        self.git("init", "-q", "empty")
        self.write("a.txt", "a\n")
        self.write("b.bin", "b\n")
        for arguments in ({"paths": ["empty", "a.txt", "b.bin"]}, {"all": True}):
            text = self.says("git_add", arguments)
            self.assertTrue(text.startswith("Staged a.txt\nNot staged, since airlock runs no filter"), text)
            self.assertIn("b.bin", text)
            self.assertIn("empty/", text)
            self.assertEqual(self.out("diff", "--cached", "--name-only"), "a.txt\n")
            self.git("reset", "-q")
        self.fails("ExecutionFailed", "'b.bin' goes through the filter 'x'", "git_add", {"paths": ["b.bin"]})
        self.assertIn("Nothing was staged", self.says("git_add", {"paths": ["empty"]}))

    def test_not_compared(self):
        """git_status, git_commit: a file whose filter is not run is not compared, and blocks no other"""
        self.write(".gitattributes", "*.bin filter=x\n")
        self.write("b.bin", "b\n")
        self.git("config", "filter.x.clean", "tr a-z A-Z")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "one")
        self.assertEqual(self.out("show", "HEAD:b.bin"), "B\n")
        os.utime(self.root / "b.bin", (1700000000, 1700000000))
        self.write("f.txt", "x\n")
        self.write("new.txt", "n\n")
        self.assertEqual(self.out("diff", "--name-only"), "f.txt\n")
        os.utime(self.root / "b.bin", (1700000001, 1700000001))
        self.assertIn("2 not staged:\n b.bin (not compared: its filter is not run)\n f.txt (modified)\n",
                      self.says("git_status"))
        for arguments in ({"paths": ["b.bin"]}, {"paths": ["."]}):
            self.assertIn("'b.bin' goes through the filter 'x'",
                          self.call("git_commit", {"message": "m", **arguments}).text)
        text = self.says("git_commit", {"message": "m", "all": True})
        self.assertIn("2 files changed, +2 -40\nNot committed, since airlock runs no filter; a user can commit "
                      "them with git itself: b.bin\n", text)
        self.assertEqual(self.out("show", "HEAD:b.bin", "HEAD:f.txt", "HEAD:new.txt"), "B\nx\nn\n")
        self.assertIn("'b.bin' goes through the filter 'x'",
                      self.call("git_commit", {"message": "m", "all": True}).text)
        self.git("config", "--unset", "filter.x.clean")
        self.assertIn(" b.bin (modified)", self.says("git_status"))
        self.assertIn("1 file changed", self.says("git_commit", {"message": "m", "all": True}))

    def test_two_reasons(self):
        """git_commit: a file that has two reasons to be left out is one, and blocks no other"""
        self.write(".gitattributes", "*.key filter=x\n")
        self.git("config", "filter.x.clean", "tr a-z A-Z")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "one")
        self.write("a.key", "k\n")
        self.write("f.txt", "x\n")
        text = self.says("git_commit", {"message": "m", "all": True})
        self.assertIn("Left out: a.key (looks like a secret)", text)
        self.assertIn("since airlock runs no filter", text)
        self.assertEqual((self.out("show", "HEAD:f.txt"), self.out("status", "--porcelain")), ("x\n", "?? a.key\n"))
        self.assertIn("'a.key' goes through the filter 'x'", self.call("git_commit", {"message": "m", "all": True}).text)

    def test_paths(self):
        """git_add: names what was staged, then where one is"""
        self.write("f.txt", "x\n")
        self.write("dir/new file.txt", "n\n")
        self.assertEqual(self.says("git_add", {"paths": ["f.txt", "dir"]}),
                         "Staged dir/new file.txt, f.txt\nmain, 2 staged")
        self.assertEqual(self.says("git_add", {"paths": ["f.txt"]}).splitlines()[0],
                         "Nothing to stage: no change here is unstaged")

    def test_many(self):
        """git_add: more than twenty names are counted"""
        for i in range(25):
            self.write(f"n{i:02}", "n\n")
        text = self.says("git_add", {"paths": ["n*"]})
        self.assertIn("n19 and 5 more\n", text)

    def test_all(self):
        """git_add: all leaves secrets and large files out, unless paths names them"""
        self.write(".env", "TOKEN=1\n")
        self.write("big", "x" * 5000001)
        self.write("new", "n\n")
        text = self.says("git_add", {"all": True})
        self.assertIn("Staged new\n", text)
        self.assertIn("Left out: .env (looks like a secret), big (larger than 5 MB)", text)
        text = self.says("git_add", {"all": True, "paths": [".env"]})
        self.assertIn("Staged .env\n", text)
        self.assertIn("Left out: big", text)
        self.assertEqual(self.git("diff", "--cached", "--name-only").stdout.split(),
                         [b".env", b"new"])

    def test_inside(self):
        """a worktree, a clone and a repository without commits inside: left out under all, said by path"""
        self.git("worktree", "add", "-q", ".claude/wt")
        self.init(self.root / "deep/clone")
        self.commit("s", "1\n", "s", where=self.root / "deep/clone")
        self.init(self.root / "fresh")
        self.write("fresh/x", "1\n")
        for tool, arguments in (("git_add", {"all": True}), ("git_commit", {"message": "m", "all": True})):
            self.write("n", f"{tool}\n")
            text = self.says(tool, arguments)
            for name in (".claude/wt/", "deep/clone/"):
                self.assertIn(f"{name} (a repository of its own)", text)
            self.assertNotIn("160000", self.out("ls-files", "-s"))
            self.assertEqual(self.out("ls-files"), "a.txt\nf.txt\nn\n")
        text = self.says("git_add", {"paths": ["deep/clone"]})
        self.assertIn("is a repository of its own: only its commit is staged", text)

    def test_update(self):
        """git_add: update stages tracked files only, in paths if given"""
        self.commit("d/g.txt", "g\n", "g")
        self.write("f.txt", "x\n")
        self.write("d/g.txt", "x\n")
        self.write("d/new", "n\n")
        self.assertIn("Staged d/g.txt\n", self.says("git_add", {"update": True, "paths": ["d"]}))
        self.assertIn("Staged f.txt\n", self.says("git_add", {"update": True}))

    def test_ignored(self):
        """git_add: an ignored file is an error that names the rule, and nothing else is staged"""
        self.commit(".gitignore", "*.log\n", "ignore")
        self.write("a.log", "x")
        self.write("f.txt", "x")
        self.fails("ExecutionFailed", "'a.log' is ignored by .gitignore:1 *.log", "git_add",
                   {"paths": ["f.txt", "a.log"]})
        self.fails("ExecutionFailed", "There is no 'none' in the working tree", "git_add",
                   {"paths": ["f.txt", "none"]})

    def test_hunks(self):
        """git_add: stages chosen hunks, whose neighbours keep their ids"""
        self.write("f.txt", text_with(at3="three", at5="five", at30="thirty"))
        ids = self.hunk_ids()
        self.assertEqual(len(ids), 3)
        self.assertEqual(self.says("git_add", {"hunks": [ids[1]]}),
                         "Staged 1 hunk of f.txt (+1 -1)\nmain, 1 staged, 1 not staged")
        self.assertEqual(self.index(), text_with(at5="five"))
        self.assertEqual(self.hunk_ids(), [ids[0], ids[2]])
        self.fails("BadArgs", f"hunk {ids[1]} is not there any more; the unstaged hunks are: "
                   f"f.txt: {ids[0]}, {ids[2]}", "git_add", {"hunks": [ids[0], ids[1]]})
        self.says("git_add", {"hunks": [ids[2].upper(), ids[0]]})
        self.assertEqual(self.index(), text_with(at3="three", at5="five", at30="thirty"))

    def test_contradictions(self):
        """git_add: arguments that cannot both hold are refused"""
        for arguments in ({}, {"all": True, "update": True}, {"hunks": ["1"], "all": True},
                          {"hunks": ["1"], "paths": ["f.txt"]}):
            result = self.call("git_add", arguments)
            self.assertEqual(result.kind, "BadArgs", result)
        self.fails("SandboxViolation", "", "git_add", {"paths": ["../../x"]})
        self.fails("BadArgs", "is no id of a hunk", "git_add", {"hunks": ["--all"]})

    def test_names(self):
        """git_add: odd names are staged and shown as they are"""
        for name in ("a b", "q\"uote", "back\\slash", "ü", "-dash", "日本"):
            self.write(name, "x\n")
            given = name if name != "back\\slash" else "back\\\\slash"
            self.assertEqual(self.says("git_add", {"paths": [given]}).splitlines()[0],
                             f"Staged {name}")

    def test_nothing_is_asked(self):
        """git_add, git_restore: no question while there are checkpoints, else one"""
        self.write("f.txt", "x\n")
        for arguments in ("git_add", {"paths": ["f.txt"]}), ("git_restore", {"paths": ["f.txt"]}):
            self.ok(*arguments, approval="ask")
            self.write("f.txt", "y\n")
            result = self.call(*arguments, "--no-git", approval="ask")
            self.assertEqual(result.kind, "ApprovalRequired", result)


class Restore(Case):
    def test_worktree(self):
        """git_restore: takes changes back from the index, and what is staged stays"""
        self.write("f.txt", text_with(at1="staged"))
        self.git("add", "f.txt")
        self.write("f.txt", "x\n")
        self.assertEqual(self.says("git_restore", {"paths": ["."]}),
                         "Discarded changes of f.txt\nmain, 1 staged")
        self.assertEqual((self.root / "f.txt").read_bytes().decode(), text_with(at1="staged"))
        self.assertIn("Nothing to restore", self.says("git_restore", {"paths": ["f.txt"]}))

    def test_not_in_rev(self):
        """git_restore: a file that the revision lacks is removed, and the answer says so"""
        server = everyday.Server(self)
        first = self.out("rev-parse", "HEAD").strip()
        self.commit("new.txt", "new\n", "new")
        self.write("f.txt", "x\n")
        self.assertIn(f"Removed new.txt: it is not in {first[:8]}\n",
                      server.says("git_restore", {"paths": ["new.txt"], "rev": "HEAD~1"}))
        self.assertFalse((self.root / "new.txt").exists())
        server.says("git_undo")
        self.assertEqual((self.root / "new.txt").read_bytes(), b"new\n")
        text = server.says("git_restore", {"paths": ["."], "rev": "HEAD~1", "staged": True})
        self.assertIn(f"Restored f.txt as of {first[:8]}\n"
                      f"Removed new.txt: it is not in {first[:8]}\n", text)
        self.assertEqual(self.out("ls-files", "new.txt"), "")

    def test_staged(self):
        """git_restore: staged never touches the file"""
        self.write("f.txt", "x\n")
        self.write("new", "n\n")
        self.git("add", ".")
        self.assertEqual(self.says("git_restore", {"paths": ["."], "staged": True}),
                         "Unstaged f.txt, new\nmain, 1 not staged")
        self.assertEqual((self.root / "f.txt").read_bytes().decode(), "x\n")

    def test_unborn(self):
        """git_restore with staged: before the first commit it unstages, as git reset does then"""
        self.git("checkout", "-q", "--orphan", "empty")
        self.git("rm", "-r", "-q", "--cached", ".")
        for name in (".env", "a", "b", "dir/c"):
            self.write(name, f"{name}\n")
        self.git("add", "-f", ".env", "a", "b", "dir")
        self.assertIn(".env", self.says("git_restore", {"paths": [".env"], "staged": True}))
        self.assertEqual(self.out("ls-files"), "a\nb\ndir/c\n")
        self.says("git_restore", {"hunks": self.hunk_ids(True)[:1], "staged": True})
        self.assertEqual(self.out("ls-files"), "b\ndir/c\n")
        harness.Case.ok(self, "git_restore", {"paths": ["b"], "staged": True}, "--toolset", "git")
        self.fails("ExecutionFailed", "none", "git_restore", {"paths": ["none"], "staged": True})
        self.says("git_restore", {"paths": ["."], "staged": True})
        self.assertEqual(self.out("ls-files"), "")
        self.assertEqual((self.root / ".env").read_text(encoding="utf-8"), ".env\n")

    def test_rev(self):
        """git_restore: rev restores the file, with staged the index too"""
        self.commit("f.txt", "second\n", "second")
        self.assertIn("Restored f.txt as of ",
                      self.says("git_restore", {"paths": ["f.txt"], "rev": "HEAD~1"}))
        self.assertEqual((self.root / "f.txt").read_bytes().decode(), "".join(LINES))
        self.assertEqual(self.index(), "second\n")
        self.says("git_restore", {"paths": ["f.txt"], "rev": "HEAD~1", "staged": True})
        self.assertEqual(self.index(), "".join(LINES))
        self.fails("ExecutionFailed", "nonsense", "git_restore",
                   {"paths": ["f.txt"], "rev": "nonsense"})

    def test_hunks(self):
        """git_restore: takes back or unstages just those hunks"""
        self.write("f.txt", text_with(at3="three", at5="five", at30="thirty"))
        ids = self.hunk_ids()
        self.assertIn("Discarded 1 hunk of f.txt (+1 -1)",
                      self.says("git_restore", {"hunks": [ids[0]]}))
        self.assertEqual((self.root / "f.txt").read_bytes().decode(), text_with(at5="five", at30="thirty"))
        self.git("add", "f.txt")
        staged = self.hunk_ids(staged=True)
        self.assertEqual(len(staged), 2)
        result = self.fails("BadArgs", "there are no unstaged changes", "git_restore",
                            {"hunks": [staged[0]]})
        self.assertIn("This hunk is staged", result.text)
        self.says("git_restore", {"hunks": [staged[1]], "staged": True})
        self.assertEqual(self.index(), text_with(at5="five"))
        self.assertEqual((self.root / "f.txt").read_bytes().decode(), text_with(at5="five", at30="thirty"))
        self.write("new.txt", "n\n")
        new = re.search(r"^@@ (\S+) new file", self.says("git_diff", {"hunks": True}), re.M)[1]
        result = self.fails("BadArgs", "is a new file that is not tracked", "git_restore",
                            {"hunks": [new]})
        self.assertNotIn("not there any more", result.text)

    def test_unmatched(self):
        """git_restore: a name that matches nothing is an error, and nothing is restored"""
        self.write("f.txt", "x\n")
        self.fails("ExecutionFailed", "There is no 'none' in the working tree", "git_restore",
                   {"paths": ["f.txt", "none"]})
        for arguments in ({}, {"paths": ["f.txt"], "hunks": ["1"]}, {"hunks": ["1"], "rev": "HEAD"}):
            self.assertEqual(self.call("git_restore", arguments).kind, "BadArgs")

    def test_bytes(self):
        """git_restore: hunks with CRLF, without a newline at the end, and modes"""
        self.commit("c.txt", "a\r\nb\r\nc\r\nd\r\ne", "crlf")
        self.write("c.txt", "A\r\nb\r\nc\r\nd\r\nE\r\n")
        os.chmod(self.root / "c.txt", 0o755)
        ids = self.hunk_ids()
        self.assertEqual(len(ids), 3)
        for one in ids:
            self.says("git_restore", {"hunks": [one]})
        self.assertEqual(self.git("status", "--porcelain").stdout, b"")


if __name__ == "__main__":
    harness.main()
