# SPDX-License-Identifier: Apache-2.0
"""A failure says what the caller, or a user, can do about it: the words that fit it."""
import json
import shlex
import subprocess

import harness
import workflow


class Outside(harness.Case):
    """What of a repository lies outside the roots is named, and how to let it in."""

    def setUp(self):
        super().setUp()
        self.outside = self.base / "outside"
        self.repo = self.root / "repo"

    def assert_names(self, part, *absent):
        """Each toolset names the part and the option, and no more."""
        for toolset, tool, arguments in (
                ("git", "git_status", {"working_dir": "repo"}),
                ("git", "git_add", {"working_dir": "repo", "all": True}),
                ("workflow", "git_log", {"cwd": "repo"}),
                ("readonly", "Git", {"op": "status", "repo": str(self.repo)})):
            result = self.call(tool, arguments, "--toolset", toolset)
            self.assertEqual(result.kind, "SandboxViolation", result)
            first, second = result.text.split("\n")
            self.assertIn("Path outside sandbox: ", first)
            self.assertIn(part, second)
            self.assertIn("--root", second)
            for word in (str(self.outside), *absent):
                self.assertNotIn(word, result.text.replace(str(self.repo), ""))

    def test_separate_git_dir(self):
        """a separate git directory outside is called that, and one more root lets it in"""
        self.outside.mkdir()
        self.git("init", "-q", f"--separate-git-dir={self.outside}/meta", str(self.repo))
        self.assert_names("git directory", "meta")
        self.ok("git_status", {"working_dir": "repo"}, "--root", str(self.outside))

    def test_nowhere(self):
        """a .git file that points nowhere is said to"""
        self.write(".git", f"gitdir: {self.outside}/gone\n", self.repo)
        self.assert_names("git directory", "gone")
        self.write(".git", "gitdir: ../gone\n", self.repo)
        result = self.refused("ExecutionFailed", "Not a git repository: repo", "git_status",
                              {"working_dir": "repo"})
        self.assertIn("Its .git is a file that names no git directory", result.text)

    def test_linked_worktree(self):
        """the common directory of a linked worktree, whose git directory is inside"""
        self.init(self.outside)
        self.git("worktree", "add", "-q", str(self.repo), "-b", "side", cwd=self.outside)
        inside = self.root / "moved"
        (self.outside / ".git/worktrees/repo").rename(inside)
        (inside / "commondir").write_text(f"{self.outside}/.git\n")
        self.write(".git", f"gitdir: {inside}\n", self.repo)
        self.assert_names("common directory")

    def test_alternates(self):
        """a store of objects that it borrows from"""
        self.init(self.outside)
        self.git("clone", "-q", "--shared", str(self.outside), str(self.repo))
        self.assert_names("borrows objects")
        self.ok("git_status", {"working_dir": "repo"}, "--root", str(self.outside))

    def test_top(self):
        """a root below the top of the working tree"""
        self.init()
        (self.root / "repo").mkdir()
        for given in ({}, {"working_dir": "."}):
            result = self.call("git_status", given, root=self.repo)
            self.assertEqual(result.error["message"], "Path outside sandbox: .")
            self.assertIn("--root <top of the working tree>", result.text)

    def test_no_repository(self):
        """where there is none, the directory is named that was looked in"""
        for given in ({}, {"working_dir": "."}):
            self.refused("ExecutionFailed", f"Not a git repository: {self.root}", "git_status",
                         given)


    def undo(self, command, where):
        """What `airlock diff` or `airlock rollback` says on standard error; it must fail."""
        done = subprocess.run([harness.AIRLOCK, command], cwd=where, env=self.env, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        return done.stderr

    def test_bare(self):
        """a bare repository is said to be one, by calls and by diff and rollback"""
        bare = ("\nIt is a bare repository, which has no working tree: tools that read its history work; "
                "for the others use a clone of it.")
        self.git("init", "-q", "--bare", "repo")
        for given, tool, why in (("repo", "git_status", "git_status needs a working tree here"),
                                 ("repo/objects", "git_status", "Not a git repository: repo/objects"),
                                 ("repo/objects", "git_log", "Not a git repository: repo/objects")):
            result = self.refused("ExecutionFailed", why, tool, {"working_dir": given})
            self.assertTrue(result.text.endswith(bare), result)
        for command in ("diff", "rollback"):
            self.assertEqual(self.undo(command, self.repo),
                             f"Error: {command} requires git repository{bare}\n")
        (self.repo / "refs").rename(self.repo / "gone")
        self.assertNotIn("bare", self.call("git_log", {"working_dir": "repo"}).text)
        self.assertNotIn("bare", self.undo("diff", self.repo))

    def test_roots_are_named(self):
        """a call that finds no repository says where they are; toolset git keeps to git's words"""
        for name in ("b", "a"):
            self.init(self.root / name)
        self.git("init", "-q", "--bare", str(self.root / "c.git"))
        self.git("init", "-q", str(self.root / "deep/d"))
        said = f"The roots: {self.root}."
        below = "Repositories below the first root: a, b, c.git. "
        for arguments, remedy in (({}, f"directory inside a git repository. {below}{said}"),
                                  ({"working_dir": "/tmp"}, f"inside the allowed roots. {said}"),
                                  ({"working_dir": "no"}, f"the first root is meant. {said}")):
            result = self.call("git_log", arguments, "--toolset", "everyday")
            self.assertTrue(result.failed and result.text.endswith(remedy), result)
            self.assertNotIn(said, self.call("git_log", arguments).text)
        for count, more in ((19, ""), (20, ""), (21, " and 1 more")):
            for number in range(count - 3):
                (self.root / f"d{number:02}/.git").mkdir(parents=True, exist_ok=True)
            text = self.call("git_log", {}, "--toolset", "everyday").text
            self.assertEqual(text.count(", "), min(count, 20) - 1, text)
            self.assertIn(f"{more}. {said}", text)
        result = self.call("git_add", {"working_dir": "a", "paths": ["../b/x"]}, "--toolset", "everyday")
        self.assertIn("Paths are relative to working_dir and inside its repository.", result.text)

    def test_undo_outside(self):
        """diff and rollback say what a call says where the git directory lies outside"""
        self.outside.mkdir(exist_ok=True)
        self.git("init", "-q", f"--separate-git-dir={self.outside}/meta", str(self.repo))
        for command in ("diff", "rollback"):
            text = self.undo(command, self.repo)
            self.assertIn("Path outside sandbox: .\nairlock: Its git directory", text)
            self.assertIn("--root", text)

    def test_paths(self):
        """why a path inside the root is refused"""
        self.init(self.repo)
        (self.repo / "out").symlink_to(self.base)
        for path, why in (("b/../a.txt", "must not contain '..'"), ("out", "A link in it leads"),
                          ("out/x", "A link in it leads"), ("out/home", "A link in it leads"),
                          (str(self.base / "home"), None), ("/nowhere", None)):
            result = self.refused("SandboxViolation", f"Path outside sandbox: {path}", "git_diff",
                                  {"working_dir": "repo", "paths": [path]})
            lines = result.text.splitlines()
            self.assertEqual(len(lines), 2 if why else 1, result)
            self.assertIn(why or "", lines[-1])
        result = self.call("git_diff", {"working_dir": "repo", "paths": ["a.txt"]}, "--config",
                           str(self.write("c.toml", "[tools.sandbox]\nallow_absolute = false\n",
                                          self.home)))
        self.assertFalse(result.failed, result)

    def test_missing(self):
        """what is required is missing: what the tool takes stands beside it"""
        for options, tool, arguments, message, takes in (
                ((), "git_commit", {"message": "x"}, "type is required",
                 "git_commit takes: type (required), scope, message (required), "),
                ((), "git_restore", {}, "paths is required",
                 "git_restore takes: paths (required), "),
                (("--toolset", "workflow"), "git_checkout", {}, "target is required",
                 "git_checkout takes: target (required), create, ")):
            result = self.refused("BadArgs", message, tool, arguments, *options)
            first, second = result.text.splitlines()
            self.assertEqual(first, message)
            self.assertTrue(second.startswith(takes), result)


class Workflow(workflow.Case):
    def test_no_repository(self):
        """the same of toolset workflow"""
        result = self.fails(7000, "git_status")
        self.assertEqual(result.error["message"], f"Not a git repository: {self.root}")

    def test_clean(self):
        """nothing to commit: all is not recommended to who gave it"""
        self.init()
        self.assertIn("all: true", self.fails(7036, "git_commit", {"message": "x"}).text)
        for given in ({"all": True}, {"all": True, "message": "x"}):
            text = self.fails(7036, "git_commit", given).text
            self.assertIn("git_status", text)
            self.assertNotIn("all: true", text)
            self.assertNotIn("Stage", text)

    def leave(self, target, **arguments):
        """What is noted about a detached HEAD that is left."""
        return self.ok("git_checkout", {"target": target, **arguments}).notes

    def test_left_commit(self):
        """commits that are on no branch any more are named, with what keeps them"""
        self.init()
        self.git("branch", "side")
        for arguments in ({}, {"force": True}):
            self.git("checkout", "-q", "--detach", "main")
            self.write("a.txt", "two\n")
            self.gives("git_commit", {"all": True, "message": "middle"})
            self.write("a.txt", "three\n")
            left = self.gives("git_commit", {"all": True, "message": "precious"})["hash"]
            note = self.leave("side", **arguments)
            self.assertRegex(note, rf"HEAD was at {left}\w* precious, which is on no branch; "
                                   rf"git_checkout with target {left}\w*, then git_branch with "
                                   "action create, keeps it")
        self.gives("git_checkout", {"target": left})
        self.gives("git_branch", {"action": "create", "name": "kept"})
        self.assertTrue(self.out("rev-parse", "kept").startswith(left))
        self.assertEqual(self.leave("main"), "")

    def test_left_nothing(self):
        """no note where a branch or tag has the commit, or HEAD stays on it"""
        self.init()
        self.commit("a.txt", "two\n", "second")
        self.assertEqual(self.leave("HEAD~1"), "")
        self.assertEqual(self.leave("main"), "")
        self.git("checkout", "-q", "--detach")
        self.commit("a.txt", "three\n", "third")
        self.assertEqual(self.leave("HEAD"), "")
        self.assertEqual(self.leave("kept", create=True), "")
        self.git("checkout", "-q", "--detach")
        self.commit("a.txt", "four\n", "fourth")
        self.git("tag", "v1")
        self.assertEqual(self.leave("main"), "")


class OtherTools(harness.Case):
    """A remedy is for the tools that the session has."""

    def test_branches(self):
        """where the branches are listed"""
        self.init()
        for given, word in ((("--toolset", "git", "--toolset", "workflow"), "list_all"),
                            (("--toolset", "workflow"), "action list"),
                            (("--toolset", "workflow", "--toolset", "git"), "action list"),
                            ((), "list_all")):
            for tool, arguments in (("git_merge", {"branch": "nosuch"}),
                                    ("git_generate_pr", {"target": "nosuch"})):
                result = self.call(tool, arguments, *given)
                self.assertTrue(result.failed)
                self.assertIn(f"See git_branch with {word} for", result.text, given)
        self.ok("git_branch", {"list_all": True})

    def test_push_in_progress(self):
        """git_push of a stopped rebase does not send away from it"""
        self.init()
        self.git("init", "-q", "--bare", "hub.git")
        self.git("remote", "add", "origin", "hub.git")
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "side\n", "side")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "main\n", "main")
        self.git("checkout", "-q", "side")
        self.git("rebase", "main", check=False)
        for options in ((), ("--toolset", "workflow")):
            self.write("a.txt", "<<<<<<< conflict\n")
            self.assertIn("git_resolve_conflict", self.call("git_push", {}, *options).text)
        self.write("a.txt", "both\n")
        self.git("add", "a.txt")
        for options in ((), ("--toolset", "workflow")):
            text = self.call("git_push", {}, *options).text
            self.assertIn("A rebase is in progress; conclude it with git_commit, or give it up "
                          "with git_merge and abort", text)
            self.assertNotIn("git_checkout", text)
        self.git("rebase", "--abort")
        self.git("checkout", "-q", "--detach")
        self.assertIn("git_checkout", self.call("git_push", {}).text)


class CommandLine(harness.Case):
    """What needs approval can be pasted into a terminal."""

    def line(self, tool, arguments, *options):
        """The words of the line, as a shell takes them."""
        text = self.call(tool, arguments, *options, approval="ask").text
        self.assertIn("This needs the user's approval", text)
        self.assertTrue(text.isprintable() or "\n" in text)
        return shlex.split(text[text.index("airlock call"):])

    def test_arguments(self):
        """the line has the toolset and the arguments, and works"""
        self.init()
        name = "it's \"2\"\t\\ $H `x`ä\x7f\u202e"
        self.write(name, "x\n")
        words = self.line("git_add", {"paths": [name]})
        self.assertEqual(words[:5], ["airlock", "call", "--toolset", "git", "git_add"])
        self.ok(words[4], json.loads(words[5]))
        self.assertEqual(self.out("diff", "--cached", "--name-only", "-z"), name + "\0")
        self.assertEqual(self.line("git_stash", {}), ["airlock", "call", "--toolset", "git", "git_stash"])
        given = {"target": "main", "force": True}
        words = self.line("git_checkout", given, "--toolset", "workflow")
        self.assertEqual(words[:5], ["airlock", "call", "--toolset", "workflow", "git_checkout"])
        self.assertEqual(json.loads(words[5]), given)

    def test_roots(self):
        """of several roots the line names each, as one word"""
        self.init()
        self.write("a.txt", "x\n")
        other = self.base / "it's another"
        other.mkdir()
        words = self.line("git_add", {"all": True}, "--root", str(other))
        self.assertEqual(words, ["airlock", "call", "--root", str(self.root), "--root", str(other),
                                 "--toolset", "git", "git_add", '{"all":true}'])

    def test_root_above(self):
        """a root above the repository is named: a relative working_dir is of it"""
        self.init()
        above = self.base / "above"
        self.git("init", "-q", str(above / "repo"))
        (above / "repo/a.txt").write_text("x\n")
        given = {"all": True, "working_dir": "repo"}
        text = self.call("git_add", given, approval="ask", root=above).text
        words = shlex.split(text[text.index("airlock call"):])
        self.assertEqual(words[:4], ["airlock", "call", "--root", str(above)])
        self.assertIn("The user can open airlock review in a terminal", text)
        self.assertEqual(json.loads(words[-1]), given)

    def test_rule(self):
        """the same where a rule asks"""
        self.init()
        self.write("a.txt", "x\n")
        config = self.write("c.toml", '[[tools.approval.rule]]\ndecision = "ask"\n', self.home)
        words = self.line("git_add", {"all": True}, "--config", str(config))
        self.assertEqual(words, ["airlock", "call", "--toolset", "git", "git_add",
                                 '{"all":true}'])

    def test_left_out(self):
        """long arguments and secrets are not repeated"""
        self.init()
        self.write("a.txt", "x\n")
        self.git("add", "a.txt")
        for message in ("x" * 200, "token ghp_" + "a1" * 18, "see https://user:pw@example.com/x"):
            result = self.call("git_commit", {"message": message, "type": "fix"}, approval="ask")
            self.assertTrue(result.text.endswith(
                "in a terminal, with its arguments: airlock call --toolset git git_commit"), result.text)


if __name__ == "__main__":
    harness.main()
