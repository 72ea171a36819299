# SPDX-License-Identifier: Apache-2.0
"""A failure says what the caller, or a person, can do about it: the words that fit it."""
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


class Workflow(workflow.Case):
    def test_no_repository(self):
        """the same of toolset workflow"""
        result = self.fails(7000, "git_status")
        self.assertEqual(result.error["message"], f"Not a git repository: {self.root}")


if __name__ == "__main__":
    harness.main()
