#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow: git_status and git_log."""
import harness
import workflow


class Status(workflow.Case):
    def test_example(self):
        """git_status: the example of the requirements, through MCP"""
        self.init()
        self.commit("src/app.ts", "one\n", "app")
        self.write("src/app.ts", "two\n")
        self.assertEqual(workflow.Server(self).gives("git_status"), {
            "branch": "main", "staged": [], "modified": ["src/app.ts"], "untracked": [],
            "clean": False})

    def test_clean(self):
        """git_status: a clean tree says so"""
        self.init()
        self.assertEqual(self.gives("git_status"), {
            "branch": "main", "staged": [], "modified": [], "untracked": [], "clean": True})

    def test_kinds(self):
        """git_status: staged has the new name of a rename, modified what was deleted, and
        untracked every file"""
        self.init()
        for name in ("gone.txt", "old.txt", "twice.txt"):
            self.commit(name, f"content of {name}\n" * 5, name)
        (self.root / "gone.txt").unlink()
        self.git("mv", "old.txt", "new.txt")
        self.write("twice.txt", "staged\n")
        self.git("add", "twice.txt")
        self.write("twice.txt", "and changed\n")
        self.write("dir/a", "")
        self.write("dir/b", "")
        self.assertEqual(self.gives("git_status"), {
            "branch": "main", "staged": ["new.txt", "twice.txt"],
            "modified": ["gone.txt", "twice.txt"], "untracked": ["dir/a", "dir/b"],
            "clean": False})

    def test_names(self):
        """git_status: names are raw, never quoted"""
        self.init()
        names = ["a b", '"quoted"', "new\nline", "tab\there", "umlaut-\u00e4", "back\\slash",
                 "arrow -> b", " leading", "\u202ebidi", "\x1b[31mred"]
        for name in names:
            self.write(name, "")
        result = self.ok("git_status")
        self.assertEqual(sorted(result.value["structuredContent"]["untracked"]), sorted(names))
        self.assertNotIn("\u202e", result.text)
        self.assertNotIn("\x1b", result.text)

    def test_not_utf8(self):
        """git_status: bytes that are not UTF-8 show as U+FFFD"""
        self.init()
        with open(bytes(self.root) + b"/caf\xe9.txt", "wb"):
            pass
        self.assertEqual(self.gives("git_status")["untracked"], ["caf\ufffd.txt"])

    def test_cwd(self):
        """git_status: from a directory below, names are still those from the top"""
        self.init()
        self.write("dir/new", "")
        self.assertEqual(self.gives("git_status", {"cwd": "dir"})["untracked"], ["dir/new"])
        self.assertEqual(self.gives("git_status", {"cwd": str(self.root / "dir")})["untracked"],
                         ["dir/new"])

    def test_branches(self):
        """git_status: an unborn branch has its name, and no branch is HEAD"""
        self.git("init", "-q")
        self.assertEqual(self.gives("git_status")["branch"], "main")
        self.commit("a.txt", "one\n", "first")
        self.git("checkout", "-q", "-b", "(detached)")
        self.assertEqual(self.gives("git_status")["branch"], "(detached)")
        self.git("checkout", "-q", "--detach")
        self.assertEqual(self.gives("git_status")["branch"], "HEAD")

    def test_conflict(self):
        """git_status: files in conflict are modified"""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "side\n", "side")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "main\n", "main")
        self.git("merge", "side", check=False)
        self.assertEqual(self.gives("git_status"), {
            "branch": "main", "staged": [], "modified": ["a.txt"], "untracked": [],
            "clean": False})

    def test_worktree_and_submodule(self):
        """git_status: a linked worktree, and a submodule with other commits"""
        self.init()
        self.git("worktree", "add", "-q", "-b", "linked", "trees/linked")
        self.write("trees/linked/new", "")
        self.assertEqual(self.gives("git_status", {"cwd": "trees/linked"}), {
            "branch": "linked", "staged": [], "modified": [], "untracked": ["new"],
            "clean": False})
        self.init(self.root / "sub")
        self.git("add", "sub")
        self.git("commit", "-q", "-m", "sub")
        self.commit("b.txt", "b\n", "further", self.root / "sub")
        self.assertEqual(self.gives("git_status")["modified"], ["sub"])

    def test_more_than_fits(self):
        """git_status: what does not fit is left out, and the result says so"""
        self.init()
        for number in range(30):
            self.write(f"file-{number:02}", "")
        config = self.write("config.toml", "[tools.git]\nmax_bytes = 100\n", self.home)
        result = self.ok("git_status", {}, "--config", str(config))
        self.assertEqual(len(result.value["structuredContent"]["untracked"]), 100 // 10)
        self.assertFalse(result.value["structuredContent"]["clean"])
        self.assertTrue(result.meta["truncated"])

    def test_errors(self):
        """git_status: not a repository is 7000, outside the roots is refused"""
        result = self.fails(7000, "git_status")
        self.assertEqual(result.kind, "ExecutionFailed")
        self.assertEqual(len(result.text.splitlines()), 2)
        self.init()
        self.assertEqual(self.fails(None, "git_status", {"cwd": ".."}).kind, "SandboxViolation")
        self.assertEqual(self.fails(None, "git_status", {"cwd": ""}).kind, "BadArgs")
        self.assertEqual(self.fails(None, "git_status", {"working_dir": "."}).kind, "BadArgs")

    def test_no_approval(self):
        """git_status: nobody is asked"""
        self.init()
        self.assertFalse(self.call("git_status", approval="deny").failed)


if __name__ == "__main__":
    harness.main()
