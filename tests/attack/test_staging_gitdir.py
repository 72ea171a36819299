#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No branch gets a git directory of another name, whatever several pushes bring together."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
import harness
import pushing


class Together(pushing.Pushing):
    """Branches that are not checked out, and bare repositories."""

    def test_git_directory_in_two_pushes(self):
        """a branch gets no git directory by several pushes, though no file of it is checked out"""
        first = {"HEAD": "ref: refs/heads/main\n", "config": "", "objects/a": ""}
        self.make_bare()
        self.git("branch", "b")
        for number, (target, top) in enumerate((
                (self.LOCAL | {"branch": "b"}, "x/"), (self.BARE, "deep/er/"),
                (self.BARE | {"branch": "b"}, "x/"))):
            top = f"{number}/{top}"
            self.pushed(self.stage({top + name: text for name, text in first.items()}), target)
            for name in "refs/a", "REFS", "commondir", "refs/deep/er":
                staged = self.stage({top + name: "x", "zz.txt": f"{number}"})
                result = self.push(staged, target)
                self.assertEqual((result.kind, result.failed and result.error["code"]),
                                 ("SandboxViolation", 7002), result)
                self.assertIn(f"Protected path: {top}{name} ", result.text)
                self.ok("git_discard", {"commitId": staged})
            self.pushed(self.stage({top + "refsx/a": "", top + "other/refs": ""}), target)
            self.pushed(self.stage({}, delete=[top + "HEAD"]), target)
            self.pushed(self.stage({top + "refs/a": ""}), target)

    def test_git_directory_of_the_user(self):
        """a git directory that the branch has already gets no file; files beside it are pushed"""
        self.git("checkout", "-q", "-b", "b")
        for name in "fix/HEAD", "fix/refs/a", "fix/objects/a":
            self.commit(name, "x", name)
        self.git("checkout", "-q", "main")
        target = self.LOCAL | {"branch": "b"}
        self.assertEqual(self.push(self.stage({"fix/hooks/post-update": "x"}), target).kind,
                         "SandboxViolation")
        self.pushed(self.stage({"fix-1": "x", "fix.txt": "x", "fixes/x": "x"}), target)

    def test_case_twins(self):
        """directories that differ in case alone are one where file systems ignore case"""
        self.make_bare()
        refused = [{"X/HEAD": "x", "x/refs/a": "x", "X/objects/a": "x"},
                   {"d/One/HEAD": "x", "D/oNE/commondir": "x"},
                   {"head": "x", "Refs/a": "x", "OBJECTS/a": "x"},
                   {"y/Head": "x", "Y/refs/a/b": "x", "Y/refs/c": "x", "y-/x": "x", "Y/Objects": "x"},
                   {"É/HEAD": "x", "é/refs/a": "x", "E\u0301/objects/a": "x"},
                   {"s/HEAD": "x", "\u017f/refs/a": "x", "S/objects/a": "x"},
                   {"z/HEAD": "x", "z/ref\u017f/a": "x", "z/ob\u200djects/a": "x"}]
        for target, some in ((self.LOCAL, refused), (self.BARE, (refused[0], refused[4]))):
            for files in some:
                staged = self.stage(files)
                result = self.push(staged, target)
                self.assertEqual((result.kind, result.failed and result.error["code"]),
                                 ("SandboxViolation", 7002), result)
                self.ok("git_discard", {"commitId": staged})
                for name in files:
                    (self.workspace / name).unlink()

    def test_case_twins_of_the_branch(self):
        """the same with what the branch has already; other twins are pushed"""
        self.git("checkout", "-q", "-b", "b")
        self.commit("Lib/HEAD", "x", "x")
        self.commit("lib/objects", "x", "x")
        self.git("checkout", "-q", "main")
        target = self.LOCAL | {"branch": "b"}
        staged = self.stage({"LIB/refs/a": "x"})
        self.assertIn("Protected path: LIB/refs/a ", self.push(staged, target).text)
        self.pushed(self.stage({"lIB/other": "x", "lib/refsx": "x", "LIBS/refs": "x", "refs/a": "x",
                                "é/HEAD": "x", "É/x": "x", "l\u0131b/b": "x"}), target)


if __name__ == "__main__":
    harness.main()
