#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: names and paths that are not there, and what may have been meant."""
import everyday
import harness


class Case(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("src/parse.c", "int parse;\n", "parse")
        self.commit("src/deep/print.c", "int print;\n", "print")


class Paths(Case):
    def test_mistyped(self):
        """a mistyped path is named, with the one that may have been meant"""
        for given, meant in (("src/prase.c", "src/parse.c"), ("scr/parse.c", "src/parse.c"),
                             ("scr", "src"), ("src/depe", "src/deep"),
                             ("print.c", "src/deep/print.c"), ("a.tx", "a.txt")):
            line = f"There is no '{given}' in the working tree; did you mean '{meant}'?"
            here = {"paths": [given]}
            for tool, arguments in (("git_diff", here), ("git_diff", here | {"staged": True}),
                                    ("git_grep", here | {"pattern": "int"})):
                self.assertEqual(self.says(tool, arguments).splitlines()[1:], [line], arguments)
            self.assertIn(f"There is no '{given}' in HEAD or the working tree; did you mean "
                          f"'{meant}'?", self.says("git_log", here))
            for tool, arguments in (("git_add", here), ("git_restore", here), ("git_stash", here),
                                    ("git_commit", here | {"message": "m"})):
                self.fails("ExecutionFailed", line, tool, arguments)
            for tool in ("git_show", "git_blame"):
                self.fails("BadArgs", f"There is no '{given}' in HEAD; did you mean '{meant}'?",
                           tool, {"path": given})

    def test_untracked(self):
        """git_show and git_blame of a file that no commit has say that it is on disk"""
        self.write("src/new.c", "int new;\n")
        for tool in ("git_show", "git_blame"):
            text = self.fails("BadArgs", "There is no 'src/new.c' in HEAD, though it is on disk\n", tool,
                              {"path": "src/new.c"}).text
            self.assertIn("git_add", text)

    def test_nothing_near(self):
        """a path that is like no other has no suggestion"""
        for given in ("x", "nothing/at/all", "src/parsers.h", "é\n"):
            shown = given.replace("\n", "<U+000A>")
            self.assertEqual(self.says("git_diff", {"paths": [given]}).splitlines()[1],
                             f"There is no '{shown}' in the working tree")

    def test_beside_others(self):
        """a path that is missing is named although the answer is about others"""
        self.write("a.txt", "changed\n")
        self.git("rm", "-q", "src/deep/print.c")
        missing = "There is no 'a.tx' in HEAD or the working tree; did you mean 'a.txt'?"
        for tool, arguments in (("git_diff", {}), ("git_diff", {"stat": True}), ("git_diff", {"hunks": True}),
                                ("git_diff", {"from": "HEAD"}), ("git_log", {})):
            text = self.says(tool, {"paths": ["a.txt", "a.tx"]} | arguments)
            self.assertEqual(text.splitlines()[-1], missing, (tool, arguments))
            self.assertIn("a.txt" if tool == "git_diff" else "first", text)
        text = self.says("git_grep", {"pattern": "changed", "paths": ["a.txt", "a.tx"]})
        self.assertEqual(text, "a.txt\n1: changed\nThere is no 'a.tx' in the working tree; did you mean 'a.txt'?")
        for paths in (["a.txt", "src"], ["a.txt", "src/deep/print.c"], ["a.txt", "*.py"]):
            for tool, arguments in (("git_diff", {}), ("git_diff", {"from": "HEAD"}), ("git_log", {})):
                self.assertNotIn("There is no", self.says(tool, {"paths": paths} | arguments), (tool, paths))

    def test_there(self):
        """a path that is there is not said to be missing: unchanged, deleted, a directory, a glob"""
        (self.root / "a.txt").unlink()
        self.git("mv", "src/parse.c", "src/moved.c")
        for paths in (["src/deep/print.c"], ["src"], ["."], ["*.py"], ["src/moved.c"]):
            for tool, arguments in (("git_diff", {}), ("git_grep", {"pattern": "none"}),
                                    ("git_log", {"author": "nobody"})):
                text = self.says(tool, {"paths": paths} | arguments)
                self.assertNotIn("There is no", text, (tool, paths))
        text = self.says("git_grep", {"pattern": "none", "paths": ["a.txt"]})
        self.assertNotIn("There is no", text)
        self.assertNotIn("There is no", self.says("git_log", {
            "paths": ["src/parse.c"], "author": "nobody"}))

    def test_revisions(self):
        """a path is looked for where the call looks"""
        self.git("tag", "v1")
        self.commit("new.c", "int new;\n", "new")
        for arguments, where in (({"from": "v1", "to": "v1"}, "v1..v1"), ({"from": "v1..v1"}, "v1..v1"),
                                 ({"from": "v1...v1"}, "v1...v1")):
            self.assertIn(f"There is no 'new.c' in {where}",
                          self.says("git_diff", arguments | {"paths": ["new.c"]}))
        self.assertIn("There is no 'new.c' in v1", self.says(
            "git_grep", {"pattern": "int", "rev": "v1", "paths": ["new.c"]}))
        self.assertNotIn("There is no", self.says(
            "git_grep", {"pattern": "none", "rev": "HEAD", "paths": ["new.c"]}))
        self.assertNotIn("There is no", self.says("git_diff", {"from": "v1", "to": "v1",
                                                               "paths": ["src/parse.c"]}))

    def test_untracked(self):
        """a file that git does not track is said to be one"""
        self.write("new.c", "int new;\n")
        for tool, arguments in (("git_diff", {}), ("git_grep", {"pattern": "int"})):
            self.assertIn("\n'new.c' is not tracked",
                          self.says(tool, {"paths": ["new.c"]} | arguments))
        for tool in ("git_restore", "git_stash"):
            result = self.fails("ExecutionFailed", "'new.c' is not tracked", tool,
                                {"paths": ["new.c"]})
            self.assertIn("git_add", result.text)

    def test_working_dir(self):
        """paths are relative to working_dir, the suggested one too"""
        text = self.says("git_diff", {"paths": ["prase.c"], "working_dir": "src"})
        self.assertIn("There is no 'prase.c' in the working tree; did you mean 'parse.c'?", text)
        text = self.says("git_diff", {"paths": ["a.txt"], "working_dir": "src"})
        self.assertIn("did you mean '../a.txt'?", text)
        self.assertIn("working_dir is a directory", self.fails(
            "ExecutionFailed", "No such directory: nope", "git_status", {"working_dir": "nope"}).text)

    def test_blame(self):
        """git_blame of a directory says so"""
        for arguments in ({"path": "src"}, {"path": "src", "rev": "HEAD"}, {"path": "src/deep/"}):
            self.fails("BadArgs", "it is a directory, and git_blame takes one file", "git_blame",
                       arguments)

    def test_elsewhere(self):
        """git_diff without changes says where else changes are"""
        self.write("a.txt", "two\n")
        self.git("add", "a.txt")
        self.write("new.c", "int new;\n")
        self.assertEqual(self.says("git_diff"),
                         "No changes in the working tree that are not staged.\n"
                         "1 file is staged: see git_diff with staged\n"
                         "1 file is untracked: see git_status")
        self.git("reset", "-q")
        self.assertIn("1 file is changed and not staged: see git_diff without staged",
                      self.says("git_diff", {"staged": True}))


class Inside(Case):
    def test_inside(self):
        """a file of a submodule, a clone or a worktree inside: named with its working_dir, never to be deleted"""
        for name in ("sub", "clone"):
            self.init(self.base / name)
            self.commit("s", "1\n", "s1", where=self.base / name)
        allow = ("-c", "protocol.file.allow=always")
        self.git(*allow, "submodule", "--quiet", "add", str(self.base / "sub"), "sub")
        self.git("commit", "-q", "-m", "sub")
        self.git("clone", "-q", str(self.base / "clone"), "deep/clone")
        self.git("worktree", "add", "-q", "wt")
        (self.root / "wt/s").write_text("1\n", encoding="utf-8")
        for place in ("sub", "deep/clone", "wt"):
            (self.root / place / "s").write_text("2\n", encoding="utf-8")
            words = f"'{place}/s' is in another working tree, with working_dir '{self.root}/{place}'"
            for tool, key in (("git_restore", "paths"), ("git_blame", "path"), ("git_diff", "paths")):
                result = self.call(tool, {key: f"{place}/s" if key == "path" else [f"{place}/s"]})
                self.assertIn(words, result.text, tool)
                self.assertNotIn("delete", result.text)
                self.assertNotIn("git_status shows", result.text)
            self.assertIn("s", self.says("git_diff", {"working_dir": str(self.root / place)}))
        result = self.fails("ExecutionFailed", "'sub/s' is in another working tree", "git_add", {"paths": ["sub/s"]})
        self.assertIn("Call again with that working_dir", result.text)
        self.write("loose", "1\n")
        result = self.fails("ExecutionFailed", "'loose' is not tracked\ngit_add tracks it.", "git_restore", {"paths": ["loose"]})


class Names(Case):
    def setUp(self):
        super().setUp()
        self.git("branch", "feature/login")
        self.git("tag", "v1.0")

    def test_revisions(self):
        """a wrong revision is called one, with the name that may have been meant"""
        for given, meant in (("mian", "main"), ("login", "feature/login"), ("v1.1", "v1.0"),
                             ("mian~1", "main")):
            line = f"'{given}' names no branch, tag or commit; did you mean '{meant}'?"
            for tool, arguments in (
                    ("git_merge", {"branch": given}), ("git_rebase", {"onto": given}),
                    ("git_cherry_pick", {"commits": [given]}), ("git_reset", {"to": given}),
                    ("git_log", {"range": given}), ("git_log", {"range": f"HEAD..{given}"}),
                    ("git_log", {"range": f"{given}..HEAD"}), ("git_diff", {"from": given}),
                    ("git_switch", {"rev": given})):
                self.assertIn(line, self.call(tool, arguments).text, (tool, arguments))
        self.assertIn("'mian' names no branch, tag or commit; did you mean 'main'?",
                      self.call("git_switch", {"branch": "mian"}).text)

    def test_codes(self):
        """a name that nothing has is the same failure in every tool"""
        for tool, arguments in (
                ("git_log", {"range": "gone"}), ("git_diff", {"from": "gone"}),
                ("git_blame", {"path": "a.txt", "rev": "gone"}), ("git_show", {"rev": "gone"}),
                ("git_grep", {"pattern": "x", "rev": "gone"}), ("git_merge", {"branch": "gone"}),
                ("git_branch", {"contains": "gone"}), ("git_branch", {"action": "delete", "name": "gone"})):
            error = self.call(tool, arguments).error
            self.assertEqual((error["kind"], error["code"], error["reason"]),
                             ("ExecutionFailed", 7033, "not_found"), (tool, arguments))
        error = self.call("git_tag", {"action": "delete", "name": "gone"}).error
        self.assertEqual((error["code"], error["reason"]), (None, "not_found"))

    def test_commits(self):
        """a wrong commit is not called a branch"""
        for tool, arguments in (
                ("git_rebase", {"plan": [{"commit": "deadbeef", "do": "pick"}]}),
                ("git_revert", {"commits": ["deadbeef"]}), ("git_reset", {"to": "deadbeef"}),
                ("git_show", {"rev": "deadbeef"})):
            text = self.call(tool, arguments).text
            self.assertIn("'deadbeef' names no commit\n", text)
            self.assertIn("git_log", text)
        self.assertIn("'HEAD~50' names no commit, although 'HEAD' does",
                      self.call("git_reset", {"to": "HEAD~50"}).text)

    def test_branches(self):
        """a branch, tag or remote that is not there"""
        for tool, arguments, line in (
                ("git_branch", {"action": "delete", "name": "feature/logn"},
                 "There is no branch 'feature/logn'; did you mean 'feature/login'?"),
                ("git_branch", {"action": "rename", "name": "logim", "new_name": "x"},
                 "branch named 'logim'"),
                ("git_tag", {"action": "delete", "name": "v1"},
                 "There is no tag 'v1'"),
                ("git_tag", {"action": "delete", "name": "v1.2"},
                 "There is no tag 'v1.2'; did you mean 'v1.0'?"),
                ("git_push", {"branch": "v1.0"}, "'v1.0' is a tag, and git_push pushes branches"),
                ("git_push", {"branch": "mian"}, "There is no branch 'mian'; did you mean 'main'?")):
            self.assertIn(line, self.call(tool, arguments).text, arguments)
        self.git("remote", "add", "upstream", "https://example.invalid/x")
        self.assertIn("There is no remote 'upsteam'; did you mean 'upstream'?",
                      self.call("git_fetch", {"remote": "upsteam"}).text)

    def test_unborn(self):
        """a branch without a commit is called one"""
        self.git("checkout", "-q", "--orphan", "empty")
        for tool, arguments in (("git_reset", {"to": "HEAD"}), ("git_diff", {"from": "HEAD"}),
                                ("git_revert", {"commits": ["HEAD~1"]}),
                                ("git_log", {"range": "main..HEAD"})):
            text = self.call(tool, arguments).text
            self.assertIn("There is no commit on this branch yet\n", text)
            self.assertIn("git_commit makes the first one", text)

    def test_kinds(self):
        """a tag in the place of a branch is called a tag"""
        self.assertIn("it names a tag or a commit, and no branch",
                      self.call("git_switch", {"branch": "v1.0"}).text)
        for arguments in ({"into": "v1.0"}, {"branches": ["v1.0"]}):
            self.assertIn("There is no branch 'v1.0'; it is a tag",
                          self.call("git_compare", arguments, "--toolset", "parallel").text)


class Hunks(Case):
    def test_ids(self):
        """what is no id is told from an id whose hunk is gone"""
        for tool, more in (("git_add", {}), ("git_restore", {}), ("git_commit", {"message": "m"})):
            for word in ("nope", "3fa9c1d", "3fa9c1d22", "3fa9c1dg", "-1"):
                text = self.fails("BadArgs", f"'{word}' is no id of a hunk, as 3fa9c1d2 is", tool,
                                  {"hunks": [word]} | more).text
                self.assertIn("git_diff with hunks", text)
            for word in ("3fa9c1d2", "3fa9c1d2-2"):
                self.fails("BadArgs", f"hunk {word} is not there any more", tool,
                           {"hunks": [word]} | more)


class Markers(Case):
    def setUp(self):
        super().setUp()
        self.git("checkout", "-q", "-b", "topic")
        self.commit("a.txt", "theirs\n", "topic")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "ours\n", "main")
        self.says("git_merge", {"branch": "topic"})

    def test_markers(self):
        """git_conflicts: content with markers is refused, and the remedy is about that content"""
        text = self.says("git_conflicts")
        hunk = text[text.index("\nhunk ") + 6:][:8]
        bad = "<<<<<<< x\na\n=======\nb\n>>>>>>> y\n"
        for arguments, cause, remedy in (
                ({"hunks": [{"id": hunk, "content": bad}]},
                 "content of hunks[0] has conflict markers", "Give only the lines that the hunk"),
                ({"content": bad}, "content still has conflict markers", "Give the whole file"),
                ({"take": "disk"}, "still has conflict markers on disk", "Edit the file until")):
            result = self.call("git_conflicts", {"action": "resolve", "path": "a.txt"} | arguments)
            self.assertEqual(result.kind, "BadArgs")
            self.assertIn(cause, result.text)
            self.assertIn(remedy, result.text)
        self.assertNotIn("git_diff", self.call("git_conflicts", {
            "action": "resolve", "path": "a.txt"}).text)
        self.says("git_conflicts", {"action": "resolve", "path": "a.txt",
                                    "hunks": [{"id": hunk, "content": "=======\nboth\n"}]})
        self.assertEqual((self.root / "a.txt").read_text(), "=======\nboth\n")


class Nothing(Case):
    def test_amend(self):
        """git_commit: an amend that changes nothing makes no other commit"""
        head = self.out("rev-parse", "HEAD")
        for arguments in ({}, {"message": "print"}, {"message": "print\n"}):
            self.assertIn("Nothing to amend: nothing is staged",
                          self.says("git_commit", {"amend": True} | arguments))
            self.assertEqual(self.out("rev-parse", "HEAD"), head)
        for arguments in ({"message": "printer"}, {"author": "B <b@example.com>"}):
            self.assertIn("Amended", self.says("git_commit", {"amend": True} | arguments))
        self.write("a.txt", "two\n")
        self.git("add", "a.txt")
        self.assertIn("Amended", self.says("git_commit", {"amend": True}))

    def test_restore(self):
        """git_restore: of a file whose changes are all staged it names what takes them back"""
        self.write("a.txt", "two\n")
        self.git("add", "a.txt")
        text = self.says("git_restore", {"paths": ["."]})
        self.assertIn("staged: true unstages", text)
        self.assertIn("restores: a.txt\n", text)
        self.says("git_restore", {"paths": ["."], "staged": True, "rev": "HEAD"})
        self.assertEqual((self.root / "a.txt").read_text(), "one\n")
        self.assertIn("nothing there is changed", self.says("git_restore", {"paths": ["."]}))

    def test_numbers(self):
        """summaries count one and several"""
        self.write("a.txt", "two\n")
        self.write("src/parse.c", "two\n")
        text = self.says("git_diff", {"hunks": True})
        ids = [line.split()[1] for line in text.splitlines() if line.startswith("@@ ")]
        self.says("git_add", {"hunks": ids[:1]})
        self.assertEqual(self.record()["summary"], "Stage 1 hunk")
        self.git("reset", "-q")
        self.says("git_commit", {"hunks": ids, "message": "both"})
        self.assertEqual(self.record()["summary"], "Commit 2 hunks: both")
        self.says("git_undo")
        self.assertEqual(self.record()["summary"], "Undo the last call of this session")

    def test_undo(self):
        """git_undo of more calls than there are says only that"""
        server = harness.Server(self, "--toolset", "everyday")
        self.write("b.txt", "b\n")
        server.ok("git_add", {"paths": ["b.txt"]})
        text = server.call("git_undo", {"steps": 7}).text
        self.assertEqual(text, "steps: only 1 call of this session can be undone, not 7\n"
                               "Give fewer steps.")

    def test_push(self):
        """git_push: the question names the branch and the remote"""
        far = self.base / "root/far"
        self.git("init", "-q", "--bare", str(far))
        self.git("remote", "add", "there", str(far))
        for arguments, summary in (({}, "Push main to there"),
                                   ({"force": True, "tags": True},
                                    "Force push main to there with all tags")):
            text = self.call("git_push", arguments, approval="ask").text
            self.assertEqual(text.splitlines()[0], summary)


if __name__ == "__main__":
    harness.main()
