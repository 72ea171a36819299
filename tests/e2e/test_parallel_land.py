# SPDX-License-Identifier: Apache-2.0
"""git_land: a branch comes into another one as git would bring it, and the working tree that has it
checked out is brought along, or nothing happens at all."""
import harness
import parallel


class Land(parallel.Parallel):
    def test_merge(self):
        """a merge is the commit that git makes, and the main working tree is brought along"""
        self.branch("feature", b__txt="b\n", lines__txt="1\n2\n3\n4\n5\n6\n7\n8\nnine\n")
        self.commit("lines.txt", "one\n2\n3\n4\n5\n6\n7\n8\n9\n", "main moves")
        base, feature = self.rev("main"), self.rev("feature")
        text = self.landed(branch="feature")
        self.assertIn("into main: merge, 2 commits", text)
        self.assertIn(f"The working tree {self.root} was brought along", text)
        self.assertEqual(self.out("log", "-1", "--format=%P %an <%ae> %cn %B", "main"),
                         f"{base} {feature} A U Thor <author@example.com> A U Thor "
                         "Merge branch 'feature' into main\n\n")
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertEqual((self.root / "b.txt").read_text(), "b\n")
        landed = self.rev("main^{tree}")
        self.git("checkout", "-q", "--detach", base)
        self.git("merge", "-q", "--no-ff", "--no-edit", "feature")
        self.assertEqual(landed, self.rev("HEAD^{tree}"))
        self.git("fsck", "--strict", "--no-dangling")

    def test_squash(self):
        """a squash is one commit of the user, with the subjects of those it is made of"""
        self.branch("feature", b__txt="b\n", c__txt="c\n")
        base = self.rev("main")
        self.landed(branch="feature", strategy="squash")
        self.assertEqual(self.out("log", "-1", "--format=%P %B", "main"),
                         f"{base} Squash branch 'feature'\n\n* feature: b.txt\n"
                         "* feature: c.txt\n\n")
        self.assertEqual(self.rev("main^{tree}"), self.rev("feature^{tree}"))
        self.assertEqual(self.land(branch="feature", strategy="squash").text.split(":")[0],
                         "Nothing to land")

    def test_rebase(self):
        """a rebase makes the commits anew on top, and the branch stays where it was"""
        self.branch("feature", b__txt="b\n", c__txt="c\n")
        self.commit("m.txt", "m\n", "main moves")
        base, feature = self.rev("main"), self.rev("feature")
        self.landed(branch="feature", strategy="rebase")
        self.assertEqual(self.out("log", "--format=%s %an %ai", f"{base}..main"),
                         self.out("log", "--format=%s %an %ai", "-2", "feature"))
        self.assertEqual(self.rev("main~2"), base)
        self.assertEqual(self.rev("feature"), feature)
        landed = self.rev("main^{tree}")
        self.git("checkout", "-q", "--detach", "feature")
        self.git("rebase", "-q", base)
        self.assertEqual(landed, self.rev("HEAD^{tree}"))

    def test_ff(self):
        """a fast-forward makes nothing, and is refused where the branch does not descend"""
        self.branch("feature", b__txt="b\n")
        self.branch("other", c__txt="c\n")
        self.landed(branch="feature", strategy="ff")
        self.assertEqual(self.rev("main"), self.rev("feature"))
        result = self.land(branch="other", strategy="ff")
        self.assertIn("Nothing was landed: main (", result.text)
        self.assertIn("does not have; land it with another strategy than ff", result.text)
        self.assertEqual(self.rev("main"), self.rev("feature"))
        self.assertIn("Nothing to land: main (", self.land(branch="feature").text)

    def test_message(self):
        """the message of a merge and of a squash can be given, cleaned up as git does"""
        self.branch("feature", b__txt="b\n")
        self.branch("other", c__txt="c\n")
        self.landed(branch="feature", message="  Take it  \n\n\n\nwith a body\n\n")
        self.assertEqual(self.out("log", "-1", "--format=%B"), "  Take it\n\nwith a body\n\n")
        self.landed(branch="other", strategy="squash", message="One")
        self.assertEqual(self.out("log", "-1", "--format=%B"), "One\n\n")
        for strategy in ("rebase", "ff"):
            self.assertEqual(self.land(branch="other", strategy=strategy, message="x").kind,
                             "BadArgs")
        self.assertEqual(self.land(branch="other", message=" \n").kind, "BadArgs")

    def test_not_checked_out(self):
        """a branch that nobody has checked out moves, and no file anywhere changes"""
        self.branch("feature", b__txt="b\n")
        self.git("branch", "dev", "main")
        before = [self.own(), self.own(self.root / ".worktrees/feature")]
        text = self.landed(branch="feature", into="dev")
        self.assertNotIn("brought along", text)
        self.assertEqual(self.rev("dev^2"), self.rev("feature"))
        self.assertEqual([self.own(), self.own(self.root / ".worktrees/feature")], before)

    def test_linked(self):
        """whichever working tree has the branch checked out is brought along, and no other"""
        feature = self.branch("feature", b__txt="b\n")
        dev = self.worktree("dev")
        main = self.own()
        text = self.landed(branch="feature", into="dev", working_dir=".worktrees/feature")
        self.assertIn(f"The working tree {dev} was brought along", text)
        self.assertEqual((dev / "b.txt").read_text(), "b\n")
        self.assertEqual(self.out("status", "--porcelain", cwd=dev), "")
        self.assertEqual(self.own(), main)
        self.landed(branch="dev", working_dir=".worktrees/feature")
        self.assertEqual((self.root / "b.txt").read_text(), "b\n")
        self.assertEqual(self.out("status", "--porcelain", cwd=feature), "")

    def test_unrelated_changes(self):
        """changes of files that do not come in stay, staged ones too"""
        self.branch("feature", b__txt="b\n")
        self.write("a.txt", "mine\n")
        self.write("staged.txt", "staged\n")
        self.git("add", "staged.txt")
        self.write("untracked.txt", "mine\n")
        before = self.out("status", "--porcelain")
        self.landed(branch="feature")
        self.assertEqual(self.out("status", "--porcelain"), before)
        self.assertEqual((self.root / "a.txt").read_text(), "mine\n")

    def test_changed_files(self):
        """a file that comes in and that the user has changed, staged, or has there untracked"""
        self.branch("feature", b__txt="b\n", lines__txt="new\n", c__o="ignored\n")
        for prepare, file in ((lambda: self.write("lines.txt", "mine\n"), "lines.txt"),
                              (lambda: self.stage("lines.txt", "mine\n"), "lines.txt"),
                              (lambda: self.write("b.txt", "mine\n"), "b.txt"),
                              (lambda: self.write("b.txt/in", "mine\n"), "b.txt"),
                              (lambda: self.stage("b.txt", "mine\n"), "b.txt"),
                              (lambda: self.write("c.o", "mine\n"), "c.o"),
                              (lambda: self.git("rm", "-q", "lines.txt"), "lines.txt")):
            prepare()
            self.not_landed(f"The working tree {self.root} has changes of its own in {file}",
                            branch="feature")
            self.git("reset", "-q", "--hard")
            self.git("clean", "-q", "-fdx", "-e", ".worktrees")
        # Only touched: its content is as it was.
        self.write("lines.txt", (self.root / "lines.txt").read_text())
        self.landed(branch="feature")

    def stage(self, name, content):
        self.write(name, content)
        self.git("add", "-f", name)

    def test_conflict(self):
        """a conflict is a result that names both sides, and leaves nothing behind"""
        self.branch("feature", lines__txt="theirs\n", b__txt="b\n")
        self.commit("lines.txt", "ours\n", "main moves")
        self.commit("b.txt", "ours\n", "main has one too")
        for strategy in ("merge", "squash", "rebase"):
            before = self.everything()
            result = self.land(branch="feature", strategy=strategy)
            self.assertFalse(result.failed, result)
            feature, main = self.rev("feature")[:8], self.rev("main")[:8]
            self.assertIn(f"Nothing was landed: feature ({feature}) and main ({main}) conflict in ",
                          result.text)
            self.assertIn("\n  lines.txt (contents)\n", result.text)
            self.assertEqual("at commit " in result.text, strategy == "rebase")
            self.assertIn("merge main into feature where", result.text)
            self.assertEqual(self.everything(), before)
            self.assertEqual(self.record()["outcome"], "error")
        self.assertIn("merge main into feature by git_merge where",
                      self.land("--toolset", "everyday", branch="feature").text)

    def test_operations(self):
        """a merge in progress in the working tree, and a branch that is being rebased or bisected"""
        self.branch("feature", b__txt="b\n")
        self.branch("clash", lines__txt="theirs\n")
        self.commit("lines.txt", "ours\n", "main moves")
        self.git("merge", "clash", check=False)
        self.not_landed("onflict", branch="feature")
        self.git("merge", "--abort")
        other = self.worktree("other", "clash")
        self.git("checkout", "-q", "--detach")
        self.git("checkout", "-q", "main", cwd=other)
        self.git("rebase", "clash", cwd=other, check=False)
        self.not_landed(f"The working tree '{other}' is rebasing main; that has to end first",
                        branch="feature")
        self.git("rebase", "--abort", cwd=other)
        self.git("bisect", "start", "main", "main~2", cwd=other)
        self.not_landed(f"The working tree '{other}' is bisecting main", branch="feature")
        self.git("bisect", "reset", cwd=other)
        self.git("checkout", "-q", "--detach", cwd=other)
        self.landed(branch="feature")

    def test_twice(self):
        """a branch that two working trees have checked out"""
        self.branch("feature", b__txt="b\n")
        where = self.root / ".worktrees/again"
        self.git("worktree", "add", "-q", "--force", str(where), "main")
        self.not_landed(f"The working tree '{where}' has main checked out as well",
                        branch="feature")

    def test_link(self):
        """a HEAD that is a symbolic link, an old form of it"""
        if self.head_file() != (self.root / ".git/HEAD").read_text(encoding="utf-8"):
            self.skipTest("HEAD is in no file")
        self.branch("feature", b__txt="b\n")
        dev = self.worktree("dev")
        for head, into in ((self.root / ".git/HEAD", "main"),
                           (self.root / ".git/worktrees/dev/HEAD", "dev")):
            head.unlink()
            head.symlink_to(f"refs/heads/{into}")
            self.assertTrue(self.land(branch="feature", into=into).failed)
            self.assertEqual(self.rev(into), self.rev("feature~"))
        self.assertFalse((self.root / "b.txt").exists() or (dev / "b.txt").exists())

    def test_outside(self):
        """a working tree outside of the roots is not written to, and named"""
        where = self.branch("feature", b__txt="b\n")
        before = self.everything()
        result = self.call("git_land", {"branch": "feature"}, *parallel.TOOLSET, root=where,
                           cwd=where)
        self.assertTrue(result.failed, result)
        self.assertIn(f"The branch is checked out in '{self.root}', which is outside of the roots",
                      result.text)
        self.assertEqual(self.everything(), before)

    def test_names(self):
        """a branch has one spelling"""
        self.branch("feature", b__txt="b\n")
        self.git("symbolic-ref", "refs/heads/alias", "refs/heads/main")
        for name in ("refs/heads/main", "-main", "main~0", "HEAD", "HEAD^", "@{-1}", "main\n", "a..b",
                     ".main", "main.lock", "", "main:"):
            for arguments in ({"branch": "feature", "into": name}, {"branch": name}):
                self.assertEqual(self.land(**arguments).kind, "BadArgs", arguments)
        for name in ("heads/main", "MAIN", "origin/main", "no"):
            self.not_landed(f"There is no branch '{name}'", branch="feature", into=name)
        self.not_landed("Branch 'alias' stands for another branch", branch="feature", into="alias")
        self.not_landed("Branch 'alias' stands for another branch", branch="alias", into="feature")
        self.not_landed("the same branch", branch="main")

    def test_default(self):
        """into is main, else origin's default branch, else master"""
        self.branch("feature", b__txt="b\n")
        self.git("branch", "-m", "main", "trunk")
        self.not_landed("give into", branch="feature")
        self.git("update-ref", "refs/remotes/origin/trunk", "trunk")
        self.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
        self.landed(branch="feature")
        self.assertEqual(self.rev("trunk^2"), self.rev("feature"))

    def test_skipped(self):
        """hooks and the signature that are left out are said"""
        self.branch("feature", b__txt="b\n")
        hook = self.root / ".git/hooks/commit-msg"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text(f"#!/bin/sh\ntouch {self.base}/canary\n", encoding="utf-8")
        hook.chmod(0o755)
        self.git("config", "commit.gpgSign", "true")
        text = self.landed(branch="feature")
        self.assertIn("commit-msg", text)
        self.assertIn("not signed", text)
        self.assertFalse((self.base / "canary").exists())

    def test_rollback(self):
        """a rollback takes a landing back, with the working tree that was brought along"""
        self.branch("feature", b__txt="b\n", lines__txt="new\n")
        dev = self.worktree("dev")
        self.write("a.txt", "mine\n")
        self.write("untracked.txt", "mine\n", dev)
        for into, where in (("main", self.root), ("dev", dev)):
            before = [self.snapshot(path) for path in (self.root, dev)]
            self.landed(branch="feature", into=into)
            self.rollback(cwd=where)
            after = [self.snapshot(path) for path in (self.root, dev)]
            for snapshot in before + after:
                del snapshot["git:index"] # stat data
            self.assertEqual(after, before)


if __name__ == "__main__":
    harness.main()
