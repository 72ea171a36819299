# SPDX-License-Identifier: Apache-2.0
"""The base of tests of landing: a repository whose branches are in linked worktrees below it."""
import harness
import rollback

TOOLSET = ("--toolset", "parallel")


class Parallel(rollback.Rollback):
    """`root` is the main working tree, on main; worktrees are in .worktrees."""

    def setUp(self):
        super().setUp()
        self.write(".gitignore", ".worktrees\n*.o\n")
        self.git("add", ".gitignore")
        self.commit("lines.txt", "".join(f"{n}\n" for n in range(1, 10)), "lines")

    def worktree(self, branch, start="main"):
        """A linked worktree on a new branch."""
        where = self.root / ".worktrees" / branch
        self.git("worktree", "add", "-q", "-b", branch, str(where), start)
        return where

    def branch(self, name, **files):
        """A linked worktree with one commit for each file; "__" stands for a dot."""
        where = self.worktree(name)
        for file, content in files.items():
            file = file.replace("__", ".")
            self.write(file, content, where)
            self.git("add", "-f", "--", file, cwd=where)
            self.git("commit", "-q", "-m", f"{name}: {file}", cwd=where)
            self.commits += 1
        return where

    def land(self, *options, **arguments):
        """A landing, whatever becomes of it."""
        return self.call("git_land", arguments, *TOOLSET, *options)

    def landed(self, **arguments):
        """A landing that must work; gives its text."""
        result = self.ok("git_land", arguments, *TOOLSET)
        self.assertTrue(result.text.startswith("Landed "), result.text)
        return result.text

    def not_landed(self, message, **arguments):
        """A landing that must fail, and changes nothing anywhere."""
        before = self.everything()
        result = self.land(**arguments)
        self.assertTrue(result.failed, result)
        self.assertIn(message, result.text)
        self.assertEqual(self.everything(), before)
        return result

    def rev(self, word, where=None):
        """The id that a word names."""
        return self.out("rev-parse", word, cwd=where).strip()

    def own(self, where=None):
        """What belongs to one working tree alone."""
        return {name: value for name, value in self.snapshot(where).items()
                if name != "refs" and not name.startswith(".worktrees/")}

    def everything(self):
        """The main working tree and all others with their git directories, and every object."""
        return (self.snapshot(), self.out("status", "--porcelain", "--ignored"),
                self.out("cat-file", "--batch-all-objects", "--batch-check"),
                [self.snapshot(path) for path in sorted((self.root / ".worktrees").glob("*"))])

    def asking(self):
        """A server whose user is asked."""
        return harness.AskingServer(self, *TOOLSET)
