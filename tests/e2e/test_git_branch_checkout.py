#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_branch and git_checkout: which operation runs, what it asks for, and what git makes of it."""
import subprocess

import harness


class Branch(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("a.txt", "two\n", "second")

    def branches(self):
        """The names of the local branches."""
        return self.out("for-each-ref", "--format=%(refname:short)", "refs/heads").split()

    def with_remote(self):
        """A remote-tracking branch beside the local one."""
        self.git("update-ref", "refs/remotes/origin/far", "HEAD~1")
        self.git("config", "remote.origin.url", "https://example.com/x")
        self.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")

    def test_list(self):
        """T-GIT-BRANCH-01 branch lists with verbose output"""
        self.git("branch", "other", "HEAD~1")
        self.with_remote()
        for arguments, words in (({}, ()), ({"list_all": True}, ("-a",)),
                                 ({"list_remote": True}, ("-r",)),
                                 ({"list_all": True, "list_remote": True}, ("-a",))):
            self.assertEqual(self.ok("git_branch", arguments, approval="deny").text,
                             self.out("branch", "-v", *words))
        self.assertIn("second", self.ok("git_branch").text)
        self.assertEqual((self.record()["operation"], self.record()["effects"],
                          self.record()["summary"]), ("list", ["reads"], "List branches"))

    def test_list_nothing(self):
        """a repository without commits has no branches"""
        empty = self.root / "empty"
        empty.mkdir()
        self.git("init", "-q", cwd=empty)
        self.assertEqual(self.ok("git_branch", {"working_dir": "empty"}).text, "")
        result = self.call("git_branch", {"working_dir": "empty", "create": "x"})
        self.assertEqual((result.kind, result.meta["exit_code"]), ("ExecutionFailed", 128))

    def test_list_detached(self):
        """the list says where a detached HEAD is"""
        self.git("checkout", "-q", "HEAD~1")
        text = self.ok("git_branch").text
        self.assertEqual(text, self.out("branch", "-v"))
        self.assertTrue(text.startswith("* (HEAD detached at "), text)

    def test_create(self):
        """T-GIT-BRANCH-02 branch creates a branch at HEAD and stays where it was"""
        self.assertEqual(self.ok("git_branch", {"create": "topic"}).text, "Created branch 'topic'")
        self.assertEqual(self.branches(), ["main", "topic"])
        self.assertEqual(self.out("rev-parse", "topic"), self.out("rev-parse", "HEAD"))
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/main\n")
        result = self.refused("ExecutionFailed", self.git("branch", "topic", check=False)
                              .stderr.decode().strip(), "git_branch", {"create": "topic"})
        self.assertEqual((result.error["code"], result.error["name"]),
                         (7032, "GIT_BRANCH_EXISTS"))

    def test_delete(self):
        """T-GIT-BRANCH-03 branch deletes a merged branch, and with force any"""
        self.git("branch", "merged")
        self.git("branch", "loose", self.out("commit-tree", "-m", "x", "HEAD^{tree}").strip())
        text = self.ok("git_branch", {"delete": "merged"}).text
        self.assertRegex(text, r"\ADeleted branch merged \(was [0-9a-f]+\)\.\n?\Z")
        before = self.git("branch", "-d", "loose", check=False).stderr.decode().strip()
        self.assertEqual(self.call("git_branch", {"delete": "loose"}).text.splitlines(),
                         [before.splitlines()[0],
                          "git_branch with force_delete deletes it all the same."])
        self.assertEqual(self.branches(), ["loose", "main"])
        self.ok("git_branch", {"force_delete": "loose"})
        self.assertEqual(self.branches(), ["main"])

    def test_delete_refused(self):
        """deleting the current branch, or one that is not there, is git's error"""
        for name in ("delete", "force_delete"):
            result = self.call("git_branch", {name: "main"})
            self.assertEqual(result.kind, "ExecutionFailed")
            self.assertEqual(result.text, self.git("branch", "-d", "main", check=False)
                             .stderr.decode().strip())
            result = self.call("git_branch", {name: "nope"})
            self.assertEqual((result.error["reason"], result.error["code"]), ("not_found", 7033))
        self.assertEqual(self.branches(), ["main"])

    def test_rename(self):
        """T-GIT-BRANCH-04 rename requires new_name, and renames"""
        self.refused("BadArgs", "rename requires new_name", "git_branch", {"rename": "main"})
        self.refused("BadArgs", "rename requires new_name", "git_branch",
                     {"rename": "main", "create": "x", "delete": "main"})
        self.git("branch", "old")
        self.git("config", "branch.old.description", "kept")
        self.assertEqual(self.ok("git_branch", {"rename": "old", "new_name": "new"}).text,
                         "Renamed branch 'old' to 'new'")
        self.assertEqual(self.branches(), ["main", "new"])
        self.assertEqual(self.out("config", "branch.new.description"), "kept\n")
        self.ok("git_branch", {"rename": "main", "new_name": "trunk"})
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/trunk\n")
        result = self.call("git_branch", {"rename": "new", "new_name": "trunk"})
        self.assertEqual(result.error["code"], 7032)
        result = self.call("git_branch", {"rename": "nope", "new_name": "x"})
        self.assertEqual((result.error["reason"], result.error["code"]), ("not_found", 7033))
        self.assertEqual(self.branches(), ["new", "trunk"])

    def test_new_name_alone(self):
        """new_name without rename renames nothing"""
        self.assertEqual(self.ok("git_branch", {"new_name": "x"}, approval="deny").text,
                         self.out("branch", "-v"))
        self.assertEqual(self.branches(), ["main"])

    def test_precedence(self):
        """the first of rename, force_delete, delete, create is what runs"""
        self.git("branch", "one")
        self.git("branch", "two")
        everything = {"create": "c", "delete": "one", "force_delete": "two", "rename": "one",
                      "new_name": "uno", "list_all": True}
        for drop, operation, effects, left in (
                ((), "rename", ["writes_refs", "writes_config"], "main two uno"),
                (("rename",), "force_delete", ["discards_work", "writes_refs", "writes_config"],
                 "main uno"),
                (("force_delete",), "delete", None, None),
                (("delete",), "create", ["writes_refs", "writes_config"], "c main")):
            for name in drop:
                del everything[name]
            everything["delete"] = "uno"
            if drop == ("delete",):
                del everything["delete"]
            self.ok("git_branch", everything)
            record = self.record()
            self.assertEqual(record["operation"], operation)
            if effects:
                self.assertEqual(sorted(record["effects"]), sorted(effects))
            if left:
                self.assertEqual(self.branches(), left.split())

    def test_approval(self):
        """each change of branches asks, with a summary of its own"""
        self.git("branch", "x")
        for summary, arguments in (
                ("Create branch 'y'", {"create": "y"}),
                ("Delete branch 'x'", {"delete": "x"}),
                ("Force delete branch 'x'", {"force_delete": "x"}),
                ("Rename branch 'x' to 'y'", {"rename": "x", "new_name": "y"})):
            self.assert_asks(summary, "git_branch", arguments)
        for arguments in ({}, {"list_all": True}, {"list_remote": True}, {"new_name": "y"}):
            for approval in ("ask", "deny"):
                self.ok("git_branch", arguments, approval=approval)

    def test_unicode(self):
        """T-GIT-EDGE-07 branch names with Unicode characters"""
        for name in ("grün", "分支", "\U0001f680", "é".encode().decode()):
            self.assertIn(name, self.ok("git_branch", {"create": name}).text)
            self.assertIn(name, self.branches())
            self.ok("git_checkout", {"branch": name})
            self.assertEqual(self.out("symbolic-ref", "HEAD"), f"refs/heads/{name}\n")
            self.assertEqual(self.ok("git_branch").text, self.out("branch", "-v"))
            self.ok("git_branch", {"rename": name, "new_name": name + "-2"})
            self.ok("git_checkout", {"branch": "main"})
            self.ok("git_branch", {"delete": name + "-2"})
        self.assertEqual(self.branches(), ["main"])

    def test_slashes(self):
        """T-GIT-EDGE-08 branch names with slashes"""
        self.ok("git_branch", {"create": "feature/foo"})
        self.ok("git_checkout", {"create_branch": "feature/deep/er/bar"})
        self.assertEqual(self.branches(), ["feature/deep/er/bar", "feature/foo", "main"])
        self.ok("git_checkout", {"branch": "feature/foo"})
        result = self.call("git_branch", {"create": "feature"})
        self.assertIn("'feature' and 'feature/deep", result.text)
        self.assertIn("cannot both exist", result.text)
        self.assertEqual(result.kind, "ExecutionFailed")
        for name in ("/x", "x/", "a//b", "a/.b", "a/b.lock"):
            result = self.call("git_branch", {"create": name})
            self.assertEqual(result.kind, "BadArgs", name)
            self.assertIn("create", result.text)

    def test_bad_names(self):
        """what cannot be a branch is refused by name, before anyone is asked"""
        bad = ["", "-", "-d", "--list", "a b", "a..b", "a~1", "a^", "a:b", "a?", "a*", "a[b", "a\\b",
               "a@{b", "@", "HEAD", "@{-1}", "x.", ".x", "x.lock", "a\tb", "a\nb", "a\x7fb"]
        for name in bad:
            for arguments in ({"create": name}, {"delete": name}, {"force_delete": name},
                              {"rename": name, "new_name": "x"},
                              {"rename": "main", "new_name": name}):
                result = self.call("git_branch", arguments, approval="ask")
                self.assertEqual(result.kind, "BadArgs", (name, arguments))
        for name in ("a.b", "a-b", "a@b", "a{b", "x.locks", "{", "refs/heads/x"):
            self.ok("git_branch", {"create": name})
            self.assertIn(f"refs/heads/{name}", self.out("for-each-ref", "--format=%(refname)"))


class Checkout(harness.Case):
    def setUp(self):
        super().setUp()
        self.first = self.init()
        self.git("branch", "other")
        self.second = self.commit("a.txt", "two\n", "second")

    def head(self):
        """What HEAD holds, and what it comes to."""
        return (self.head_file().strip(),
                self.out("rev-parse", "HEAD").strip())

    def said_by_git(self, *words):
        """What git says when it does the same in a copy, on either stream."""
        copy = self.base / "copy"
        subprocess.run(["rm", "-rf", str(copy)], check=True)
        subprocess.run(["cp", "-a", str(self.root), str(copy)], check=True)
        done = self.git(*words, cwd=copy, check=False)
        return (done.stdout + done.stderr).decode().strip()

    def test_branch(self):
        """T-GIT-CHECKOUT-01 checkout switches to a branch"""
        said = self.said_by_git("checkout", "other")
        self.assertEqual(self.ok("git_checkout", {"branch": "other"}).text.strip(), said)
        self.assertEqual(self.head(), ("ref: refs/heads/other", self.first))
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "one\n")
        self.assertEqual(self.ok("git_checkout", {"branch": "other"}).text.strip(),
                         "Already on 'other'")

    def test_create(self):
        """T-GIT-CHECKOUT-02 checkout with create_branch creates it and switches"""
        self.write("a.txt", "carried along\n")
        said = self.said_by_git("checkout", "-b", "new")
        self.assertEqual(self.ok("git_checkout", {"create_branch": "new"}).text.strip(), said)
        self.assertEqual(self.head(), ("ref: refs/heads/new", self.second))
        self.assertEqual(self.out("status", "--porcelain"), " M a.txt\n")
        result = self.call("git_checkout", {"create_branch": "other"})
        self.assertEqual((result.kind, result.error["code"]), ("ExecutionFailed", 7032))
        self.assertEqual(self.head(), ("ref: refs/heads/new", self.second))

    def test_commit(self):
        """T-GIT-CHECKOUT-03 checkout of a commit says that HEAD is detached"""
        said = self.said_by_git("checkout", self.first)
        text = self.ok("git_checkout", {"commit": self.first}).text
        about, _, rest = said.partition("If you want to create a new branch")
        self.assertTrue(text.startswith(about), text)
        self.assertTrue(text.strip().endswith(rest.splitlines()[-1]), text)
        self.assertIn("You are in 'detached HEAD' state.", text)
        self.assertEqual(self.head(), (self.first, self.first))

    def test_commit_always_detaches(self):
        """a commit that names a branch, or stands for one, detaches HEAD all the same"""
        self.git("checkout", "-q", "other")
        self.git("checkout", "-q", "main")
        self.git("config", "branch.main.remote", ".")
        self.git("config", "branch.main.merge", "refs/heads/other")
        self.git("tag", "v1", "HEAD~1")
        self.git("branch", "packed", "HEAD~1")
        self.git("pack-refs", "--all")
        self.git("branch", "loose", "HEAD~1")
        for word in ("other", "packed", "loose", "@{-1}", "@{u}", "main@{upstream}", "v1", "HEAD~1",
                     "heads/other", "refs/heads/other", "other~0", ":/first", self.first[:9]):
            self.git("checkout", "-q", "main")
            self.git("checkout", "-q", "other")
            self.git("checkout", "-q", "main")
            text = self.ok("git_checkout", {"commit": word}).text
            self.assertEqual(self.head(), (self.first, self.first), word)
            self.assertIn("You are in 'detached HEAD' state.", text, word)
        self.git("checkout", "-q", "main")
        for word in ("HEAD", "@"):
            self.git("checkout", "-q", "main")
            text = self.ok("git_checkout", {"commit": word}).text
            self.assertEqual(self.head(), (self.second, self.second), word)
            self.assertIn("You are in 'detached HEAD' state.", text, word)

    def test_quiet_advice(self):
        """a repository cannot take the warning about a detached HEAD away"""
        self.git("config", "advice.detachedHead", "false")
        self.assertNotIn("detached HEAD", self.said_by_git("checkout", self.first))
        self.assertIn("You are in 'detached HEAD' state.",
                      self.ok("git_checkout", {"commit": self.first}).text)

    def test_nothing_given(self):
        """T-GIT-CHECKOUT-04 checkout requires at least one parameter"""
        message = "At least one of branch, create_branch, commit, or paths must be specified"
        for arguments in ({}, {"paths": []}, {"timeout_ms": 1000}):
            self.refused("BadArgs", message, "git_checkout", arguments)

    def test_precedence(self):
        """the first of create_branch, branch, commit, paths is what runs"""
        everything = {"create_branch": "new", "branch": "other", "commit": self.second,
                      "paths": ["b.txt"]}
        self.write("b.txt", "b\n")
        self.git("add", "b.txt")
        self.write("b.txt", "mine\n")
        for name, operation, head, effects in (
                ("create_branch", "create_branch", "ref: refs/heads/new",
                 ["writes_config", "writes_refs"]),
                ("branch", "switch", "ref: refs/heads/other",
                 ["writes_config", "writes_index", "writes_refs", "writes_worktree"]),
                ("commit", "commit", self.second,
                 ["writes_index", "writes_refs", "writes_worktree"]),
                ("paths", "restore_paths", self.second, ["discards_work", "writes_worktree"])):
            self.assertEqual((self.root / "b.txt").read_text(encoding="utf-8"), "mine\n")
            self.ok("git_checkout", everything)
            record = self.record()
            self.assertEqual((record["operation"], sorted(record["effects"])),
                             (operation, effects))
            self.assertEqual(self.head()[0], head)
            del everything[name]
        self.assertEqual((self.root / "b.txt").read_text(encoding="utf-8"), "b\n")

    def test_paths_with_commit(self):
        """with commit and paths HEAD is detached and the paths are left alone"""
        self.write("b.txt", "b\n")
        self.git("add", "b.txt")
        self.write("b.txt", "b\nmine\n")
        self.ok("git_checkout", {"commit": self.first, "paths": ["b.txt"]})
        self.assertEqual(self.head()[0], self.first)
        self.assertEqual((self.root / "b.txt").read_text(encoding="utf-8"), "b\nmine\n")

    def test_paths(self):
        """paths come back from the index, which stays as it is"""
        self.write("a.txt", "staged\n")
        self.git("add", "a.txt")
        self.write("a.txt", "lost\n")
        self.write("dir/b.txt", "b\n")
        self.assertEqual(self.ok("git_checkout", {"paths": ["a.txt"]}).text, "Restored 1 file(s)")
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "staged\n")
        self.assertEqual(self.out("status", "--porcelain"), "M  a.txt\n?? dir/\n")
        self.assertEqual(self.head(), ("ref: refs/heads/main", self.second))
        result = self.call("git_checkout", {"paths": ["a.txt", "no.txt"]})
        self.assertEqual((result.kind, result.error["reason"]), ("ExecutionFailed", "not_found"))
        self.assertEqual(result.text, self.said_by_git("checkout", "--", "a.txt", "no.txt"))

    def test_restoring_asks(self):
        """T-GIT-EDGE-22 a checkout of paths needs an approval"""
        self.write("a.txt", "mine\n")
        self.assert_asks("Restore 1 file(s) from HEAD", "git_checkout", {"paths": ["a.txt"]})
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "mine\n")
        self.ok("git_checkout", {"paths": ["a.txt"]})
        self.assertEqual(sorted(self.record()["effects"]), ["discards_work", "writes_worktree"])

    def test_switching_asks(self):
        """every switch needs an approval, with a summary of its own"""
        self.write("a.txt", "mine\n")
        for summary, arguments in (
                ("Create and switch to branch 'new'", {"create_branch": "new"}),
                ("Switch to branch 'other'", {"branch": "other"}),
                (f"Checkout commit '{self.first}'", {"commit": self.first}),
                ("Restore 2 file(s) from HEAD", {"paths": ["a.txt", "."]})):
            self.assert_asks(summary, "git_checkout", arguments)
        self.assertEqual(self.head(), ("ref: refs/heads/main", self.second))

    def test_named_like_a_file(self):
        """T-GIT-EDGE-09 a branch that has a file's name is the branch, and the file a path"""
        self.git("branch", "a.txt", "HEAD~1")
        self.write("a.txt", "two\n")
        self.ok("git_checkout", {"branch": "a.txt"})
        self.assertEqual(self.head(), ("ref: refs/heads/a.txt", self.first))
        self.write("a.txt", "changed\n")
        self.ok("git_checkout", {"paths": ["a.txt"]})
        self.assertEqual(self.head(), ("ref: refs/heads/a.txt", self.first))
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "one\n")
        self.write("only-a-file", "x\n")
        self.git("add", "only-a-file")
        self.write("only-a-file", "mine\n")
        for name in ("branch", "commit"):
            result = self.call("git_checkout", {name: "only-a-file"})
            self.assertEqual((result.kind, result.error["reason"]),
                             ("ExecutionFailed", "not_found"), result)
        self.assertEqual((self.root / "only-a-file").read_text(encoding="utf-8"), "mine\n")

    def test_unknown(self):
        """T-GIT-ERR-04 an unknown branch is not_found"""
        result = self.refused("ExecutionFailed", "fatal: invalid reference: nope", "git_checkout",
                              {"branch": "nope"})
        self.assertEqual((result.error["reason"], result.error["code"], result.error["name"]),
                         ("not_found", 7033, "GIT_BRANCH_NOT_FOUND"))
        result = self.call("git_checkout", {"commit": "nope"})
        self.assertEqual(result.error["reason"], "not_found")
        self.assertEqual(self.head(), ("ref: refs/heads/main", self.second))

    def test_dirty(self):
        """T-GIT-ERR-05 a checkout over uncommitted changes is a conflict and changes nothing"""
        self.write("a.txt", "mine\n")
        said = self.said_by_git("checkout", "other")
        for arguments in ({"branch": "other"}, {"commit": "other"}):
            result = self.call("git_checkout", arguments)
            self.assertEqual((result.kind, result.error["reason"], result.error["code"]),
                             ("ExecutionFailed", "conflict", 7031), result)
            self.assertEqual(result.text.splitlines(), said.splitlines()[:2] + [
                "Commit these changes with git_commit, or put them aside with git_stash, first."])
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual(self.head(), ("ref: refs/heads/main", self.second))
        self.git("rm", "-q", "-f", "a.txt")
        self.git("commit", "-q", "-m", "gone")
        self.write("a.txt", "untracked\n")
        result = self.call("git_checkout", {"branch": "other"})
        self.assertEqual(result.error["reason"], "conflict")
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "untracked\n")

    def test_conflicts(self):
        """while files are in conflict a switch and a commit fail before anybody is asked, and say how to go on"""
        self.git("checkout", "-q", "other")
        self.commit("a.txt", "theirs\n", "theirs")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "mine\n", "mine")
        self.git("merge", "-q", "other", check=False)
        self.assertIn("a.txt", self.out("diff", "--name-only", "--diff-filter=U"))
        for tool, arguments in (("git_checkout", {"branch": "other"}), ("git_checkout", {"commit": "other"}),
                                ("git_commit", {"type": "fix", "message": "m"})):
            for approval in ("ask", "allow"):
                result = self.call(tool, arguments, approval=approval)
                self.assertEqual((result.kind, result.error["code"]), ("ExecutionFailed", 7030), result)
                self.assertIn("stage them with git_add, first.", result.text)

    def test_carried_changes(self):
        """a change that the switch does not touch comes along, and is told"""
        self.commit("b.txt", "b\n", "third")
        self.git("branch", "near")
        self.commit("a.txt", "three\n", "fourth")
        self.write("b.txt", "mine\n")
        said = self.said_by_git("checkout", "near")
        text = self.ok("git_checkout", {"branch": "near"}).text
        self.assertEqual(text.strip(), said)
        self.assertIn("M\tb.txt", text)

    def test_remote_branch(self):
        """a branch that only a remote has is created to track it, as git does"""
        self.git("update-ref", "refs/remotes/origin/far", self.first)
        self.git("config", "remote.origin.url", "https://example.com/x")
        self.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
        said = self.said_by_git("checkout", "far")
        self.assertEqual(self.ok("git_checkout", {"branch": "far"}).text.strip(), said)
        self.assertEqual(self.head(), ("ref: refs/heads/far", self.first))

    def test_empty_repository(self):
        """a repository without commits can only name its branch"""
        empty = self.root / "empty"
        empty.mkdir()
        self.git("init", "-q", cwd=empty)
        self.ok("git_checkout", {"working_dir": "empty", "create_branch": "new"})
        self.assertEqual(self.head_file(where=empty),
                         "ref: refs/heads/new\n")
        for arguments in ({"branch": "new"}, {"commit": "HEAD"}, {"paths": ["x"]}):
            self.assertTrue(self.call("git_checkout", arguments | {"working_dir": "empty"}).failed)

    def test_workflow(self):
        """T-GIT-INT-02 create a branch, switch to it, commit, come back, delete it"""
        self.ok("git_branch", {"create": "topic"})
        self.ok("git_checkout", {"branch": "topic"})
        self.write("new.txt", "new\n")
        self.ok("git_add", {"paths": ["new.txt"]})
        self.ok("git_commit", {"type": "feat", "message": "new file"})
        self.ok("git_checkout", {"branch": "main"})
        self.assertFalse((self.root / "new.txt").exists())
        self.assertIn("not fully merged", self.call("git_branch", {"delete": "topic"}).text)
        self.git("merge", "-q", "--ff-only", "topic")
        self.ok("git_branch", {"delete": "topic"})
        self.assertEqual(self.out("branch", "--format=%(refname:short)"), "main\nother\n")


if __name__ == "__main__":
    harness.main()
