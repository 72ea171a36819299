#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_push into a working tree whose index has marks, and beside working trees that use the branch."""
import os
import subprocess

import harness
import pushing


class Marks(pushing.Pushing):
    """Entries that are assume-unchanged or skip-worktree."""

    def setUp(self):
        super().setUp()
        for name in "bcd":
            self.commit(f"{name}.txt", f"{name}\n", name)

    def marks(self):
        """The tags of `git ls-files -v` that are not those of ordinary entries."""
        lines = self.out("ls-files", "-v").splitlines()
        return {line[2:]: line[0] for line in lines if line[0] != "H"}

    def text(self, name):
        """The content of a file of the working tree; None: there is none."""
        path = self.root / name
        return path.read_text(encoding="utf-8") if path.exists() else None

    def test_unmodified(self):
        """files that are as their entries say follow, and the marks stay"""
        self.git("update-index", "--assume-unchanged", "a.txt", "c.txt")
        self.git("update-index", "--skip-worktree", "b.txt", "c.txt")
        before = self.marks()
        self.assertEqual(before, {"a.txt": "h", "b.txt": "S", "c.txt": "s"})
        _, notes = self.pushed(self.stage({f"{name}.txt": "pushed\n" for name in "abcd"}))
        self.assertEqual(self.marks(), before)
        self.assertEqual([self.text(f"{name}.txt") for name in "abcd"], ["pushed\n"] * 4)
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        self.assertNotIn("left as they are", notes)

    def test_modified(self):
        """modified ones stay and are named, the others follow, and the marks stay"""
        self.git("update-index", "--assume-unchanged", "a.txt")
        self.git("update-index", "--skip-worktree", "b.txt")
        before = self.marks()
        self.write("a.txt", "mine\n")
        self.write("b.txt", "mine\n")
        _, notes = self.pushed(self.stage({f"{name}.txt": "pushed\n" for name in "abc"}))
        self.assertEqual(self.marks(), before)
        self.assertEqual([self.text(f"{name}.txt") for name in "abc"],
                         ["mine\n", "mine\n", "pushed\n"])
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        self.assertTrue(notes.endswith("left as they are: a.txt, b.txt"), notes)
        self.assertNotIn("git would not", notes)

    def test_missing(self):
        """a file that is skipped and not there is not written, and nothing is said of it"""
        self.git("update-index", "--skip-worktree", "b.txt")
        (self.root / "b.txt").unlink()
        _, notes = self.pushed(self.stage({"b.txt": "pushed\n", "c.txt": "pushed\n"}))
        self.assertEqual(self.marks(), {"b.txt": "S"})
        self.assertEqual((self.text("b.txt"), self.text("c.txt")), (None, "pushed\n"))
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertNotIn("left as they are", notes)

    def test_sparse(self):
        """a sparse checkout stays one"""
        self.commit("far/x.txt", "x\n", "x")
        self.commit("near/y.txt", "y\n", "y")
        self.git("sparse-checkout", "set", "near")
        self.assertFalse((self.root / "far").exists())
        _, notes = self.pushed(self.stage({"far/x.txt": "pushed\n", "near/y.txt": "pushed\n"}))
        self.assertEqual(self.marks(), {"far/x.txt": "S"})
        self.assertFalse((self.root / "far").exists())
        self.assertEqual(self.text("near/y.txt"), "pushed\n")
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertNotIn("left as they are", notes)

    def test_deleted(self):
        """an entry that the push deletes is gone with its mark; a modified file of it stays"""
        self.pushed(self.stage({"e.txt": "e\n", "f.txt": "f\n"}))
        self.git("update-index", "--assume-unchanged", "e.txt", "f.txt")
        self.write("f.txt", "mine\n")
        _, notes = self.pushed(self.stage({}, delete=["e.txt", "f.txt"]))
        self.assertEqual(self.marks(), {})
        self.assertEqual((self.text("e.txt"), self.text("f.txt")), (None, "mine\n"))
        self.assertTrue(notes.endswith("left as they are: f.txt"), notes)


class Users(pushing.Pushing):
    """Branches that another working tree uses; git itself refuses to move them."""

    def setUp(self):
        super().setUp()
        self.commit("a.txt", "two\n", "two")
        self.commit("a.txt", "three\n", "three")
        self.git("branch", "side")

    def refused(self, branch, words, target=None, forces=True):
        """git refuses to move the branch, and so does a push; gives nothing away."""
        target = target or self.LOCAL
        if forces:
            done = self.git("branch", "-f", branch, "main~", check=False)
            self.assertNotEqual(done.returncode, 0, "no control")
        before = self.out("for-each-ref")
        staged = self.stage({"b.txt": "b\n"})
        found = self.conflict(staged, target | {"branch": branch}, approval="ask")
        self.assertEqual(found["reason"], "other")
        self.assertIn(words, found["message"])
        self.assertEqual(self.out("for-each-ref"), before)
        self.ok("git_discard", {"commitId": staged})

    def allowed(self, branch, target=None):
        """A push to the branch works."""
        self.pushed(self.stage({"ok.txt": f"{branch}\n"}), (target or self.LOCAL) | {"branch": branch})

    def text(self, name):
        """The content of a file; None: there is none."""
        path = self.root / name
        return path.read_text(encoding="utf-8") if path.exists() else None

    def linked(self, *words, check=True):
        """git in the linked working tree."""
        return self.git(*words, cwd=self.root / "linked", check=check)

    def add_linked(self, branch="side"):
        """A linked working tree on a branch."""
        self.git("worktree", "add", "-q", "linked", branch)

    def test_rebase(self):
        """a branch that a linked working tree rebases, until the rebase is over"""
        self.git("branch", "base", "main~2")
        self.add_linked()
        self.write("linked/a.txt", "side\n")
        self.linked("commit", "-q", "-a", "-m", "side")
        self.commit("a.txt", "main\n", "main")
        self.linked("rebase", "main", check=False)
        self.assertEqual(self.linked("symbolic-ref", "-q", "HEAD", check=False).returncode, 1)
        self.refused("side", "Another working tree of the target rebases this branch")
        self.allowed("base")
        self.linked("rebase", "--abort")
        self.allowed("side")
        self.assertEqual(self.text("linked/ok.txt"), "side\n")
        self.linked("checkout", "-q", "--detach")

    def test_rebase_with_apply(self):
        """the same with the other way of rebasing"""
        self.add_linked()
        self.write("linked/a.txt", "side\n")
        self.linked("commit", "-q", "-a", "-m", "side")
        self.commit("a.txt", "main\n", "main")
        self.linked("rebase", "--apply", "main", check=False)
        self.refused("side", "Another working tree of the target rebases this branch")

    def test_rebase_of_several(self):
        """a branch that a rebase of another one takes along"""
        self.git("checkout", "-q", "-b", "lower", "main~")
        self.commit("l.txt", "l\n", "l")
        self.commit("a.txt", "lower\n", "lower")
        self.git("checkout", "-q", "main")
        self.git("branch", "upper", "lower")
        self.add_linked("upper")
        self.write("linked/u.txt", "u\n")
        self.linked("add", "u.txt")
        self.linked("commit", "-q", "-m", "u")
        self.linked("rebase", "--update-refs", "main", check=False)
        self.refused("lower", "Another working tree of the target rebases this branch")
        self.refused("upper", "Another working tree of the target rebases this branch")

    def test_bisect(self):
        """a branch that a linked working tree, or the target itself, bisects"""
        self.add_linked()
        self.linked("bisect", "start", "side", "side~2")
        self.refused("side", "Another working tree of the target bisects this branch")
        self.linked("bisect", "reset")
        self.linked("checkout", "-q", "--detach")
        self.allowed("side")
        self.git("bisect", "start", "main", "main~2")
        self.refused("main", "A bisection of this branch is in progress in the target")
        self.git("bisect", "reset")
        self.allowed("main")

    def test_unborn(self):
        """a branch without commits that a linked working tree is on"""
        self.add_linked()
        self.linked("checkout", "-q", "--orphan", "unborn")
        self.refused("unborn", "has this branch checked out", forces=False)
        self.linked("checkout", "-q", "side")
        self.allowed("unborn")

    def test_from_linked(self):
        """the main working tree counts as well when the target is a linked one"""
        self.add_linked()
        target = {"type": "local", "path": "linked"}
        self.allowed("main", target)
        self.assertEqual((self.text("ok.txt"), self.text("linked/ok.txt")), ("main\n", None))
        self.git("bisect", "start", "main", "main~2")
        self.refused("main", "bisects this branch", target)
        self.git("bisect", "reset")
        self.git("checkout", "-q", "--detach")
        self.allowed("side", target)
        self.assertEqual(self.text("linked/ok.txt"), "side\n")

    def test_follows(self):
        """the working tree that has the branch checked out follows, as the question says; no other"""
        self.add_linked()
        self.git("worktree", "add", "-q", "-b", "third", "third", "main")
        self.write("linked/a.txt", "mine\n")
        before = (self.out("status", "--porcelain"), self.out("status", "--porcelain", cwd=self.root / "third"))
        staged = self.stage({"a.txt": "pushed\n", "b.txt": "b\n"})
        target = self.LOCAL | {"branch": "side"}
        self.assertIn(f"the files of the working tree '{self.root}/linked' are brought along",
                      self.shown(staged, target))
        _, notes = self.pushed(staged, target)
        self.assertIn(f"Changed in the working tree of {self.root}/linked and left as they are: a.txt", notes)
        self.assertEqual((self.text("linked/a.txt"), self.text("linked/b.txt")), ("mine\n", "b\n"))
        self.assertEqual((self.out("status", "--porcelain"),
                          self.out("status", "--porcelain", cwd=self.root / "third")), before)
        self.assertEqual((self.text("b.txt"), self.text("third/b.txt")), (None, None))
        done = subprocess.run([harness.AIRLOCK, "rollback"], cwd=self.root / "linked", env=self.env,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual((self.text("linked/a.txt"), self.text("linked/b.txt")), ("mine\n", None))
        self.assertEqual(self.out("rev-parse", "side"), self.out("rev-parse", "main"))

    def test_moved_meanwhile(self):
        """what was pulled through one working tree is compared when another one follows"""
        self.add_linked()
        self.ok("git_pull", {"source": self.LOCAL | {"branch": "side"},
                             "paths": ["a.txt"]})
        self.write("linked/a.txt", "new\n")
        self.linked("commit", "-q", "-a", "-m", "new")
        staged = self.stage({"a.txt": "pushed\n"})
        found = self.conflict(staged, self.LOCAL | {"branch": "side"})
        self.assertEqual(found["reason"], "non-fast-forward")

    def test_outside(self):
        """a working tree outside of the roots, or one that is gone, is not written to"""
        self.git("worktree", "add", "-q", str(self.base / "elsewhere"), "side")
        self.refused("side", "has this branch checked out")
        self.git("worktree", "remove", str(self.base / "elsewhere"))
        self.add_linked()
        (self.root / "linked").rename(self.base / "moved")
        self.refused("side", "has this branch checked out")

    def test_bare(self):
        """a linked working tree of a bare repository; its own HEAD is nobody's working tree"""
        bare = self.make_bare()
        self.git("worktree", "add", "-q", "../linked", "side", cwd=bare)
        self.git("bisect", "start", "side", "side~2", cwd=self.root / "linked")
        staged = self.stage({"b.txt": "b\n"})
        self.assertIn("bisects this branch",
                      self.conflict(staged, self.BARE | {"branch": "side"})["message"])
        self.pushed(staged, self.BARE | {"branch": "main"})

    def test_twice(self):
        """a branch that is checked out in the target and in another working tree"""
        self.git("worktree", "add", "-q", "--force", "linked", "main")
        self.refused("main", "Another working tree of the target has this branch checked out")

    def test_link(self):
        """a HEAD that is a symbolic link, an old form of it"""
        self.add_linked()
        head = self.root / ".git/worktrees/linked/HEAD"
        head.unlink()
        os.symlink("refs/heads/side", head)
        self.refused("side", "has this branch checked out")


class OtherBases(pushing.Pushing):
    """Files that were changed from another version than the branch has."""

    SAYS = "the branch has another version than these files were changed from"
    DID = "The branch had another version than these files were changed from: "

    def setUp(self):
        super().setUp()
        self.commit("b.txt", "b\n", "b")
        self.git("checkout", "-q", "-b", "dev")
        self.commit("a.txt", "dev\n", "dev")
        self.git("checkout", "-q", "main")

    def pull(self, *paths, branch="main"):
        """git_pull from a branch."""
        self.ok("git_pull", {"source": self.LOCAL | {"branch": branch}, "paths": list(paths)})

    def test_pulled_from_elsewhere(self):
        """the question and the result say so, in one line"""
        self.pull("a.txt", "b.txt")
        self.pull("a.txt", branch="dev")
        staged = self.stage({"a.txt": "dev\nagent\n", "b.txt": "agent\n"})
        lines = [line for line in self.shown(staged).splitlines() if self.SAYS in line]
        self.assertEqual(len(lines), 1)
        self.assertTrue(lines[0].endswith(": a.txt"), lines)
        self.assertNotIn(self.SAYS, self.shown(staged, self.LOCAL | {"branch": "dev"}))
        _, notes = self.pushed(staged)
        self.assertIn(self.DID + "a.txt", notes)

    def test_deleted(self):
        """a deletion of a file that was pulled from elsewhere"""
        self.pull("a.txt", branch="dev")
        staged = self.stage({}, delete=["a.txt"])
        self.assertIn(self.SAYS, self.shown(staged))

    def test_same(self):
        """nothing is said of files that the branch has in the same version, or not at all"""
        self.pull("a.txt", "b.txt")
        self.pull("b.txt", branch="dev")
        self.git("branch", "third", "main")
        staged = self.stage({"a.txt": "agent\n", "b.txt": "agent\n", "new.txt": "new\n"})
        self.assertNotIn(self.SAYS, self.shown(staged))
        self.assertNotIn(self.SAYS, self.shown(staged, self.LOCAL | {"branch": "new"}))
        _, notes = self.pushed(staged)
        self.assertNotIn(self.DID, notes)
        self.assertNotIn(self.SAYS, self.shown(self.stage({"new.txt": "newer\n"}),
                                               self.LOCAL | {"branch": "third"}))

    def test_line_ends(self):
        """line ends that a push of our own converted are no other version"""
        self.commit(".gitattributes", "*.txt text\n", "attributes")
        self.pushed(self.stage({"c.txt": b"x\r\n"}))
        staged = self.stage({"c.txt": b"y\r\n"})
        self.assertNotIn(self.SAYS, self.shown(staged))
        _, notes = self.pushed(staged)
        self.assertNotIn(self.DID, notes)


if __name__ == "__main__":
    harness.main()
