#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A checkout that fails half way leaves the repository as it was, and what a partial clone lacks is
told as such."""
import harness


class PutBack(harness.Case):
    def partial(self):
        """A partial clone of a repository whose older files it has not."""
        source = self.base / "source"
        source.mkdir()
        self.git("init", "-q", cwd=source)
        for number in range(3):
            for name in ("a", "d/b", "z"):
                self.write(name, f"{name} {number}\n", source)
            self.write(f"only{number}", "only\n", source)
            if number:
                (source / f"only{number - 1}").unlink()
            self.git("add", "-A", cwd=source)
            self.git("commit", "-q", "-m", str(number), cwd=source)
            self.commits += 1
        self.git("config", "uploadpack.allowFilter", "true", cwd=source)
        self.git("branch", "old", "main~2", cwd=source)
        self.root.rmdir()
        self.git("clone", "-q", "--filter=blob:none", source.as_uri(), str(self.root),
                 cwd=self.base)
        self.git("branch", "old", "origin/old")

    def tree(self):
        """Every file and what it holds."""
        return {str(path.relative_to(self.root)): path.read_bytes()
                for path in self.root.rglob("*")
                if path.is_file() and ".git" not in path.relative_to(self.root).parts}

    def check(self, toolset, tool, arguments, said="promisor"):
        """It fails and says so, and nothing is otherwise than before."""
        before, state = self.tree(), self.state()
        head = (self.root / ".git/HEAD").read_text()
        result = self.call(tool, arguments, "--toolset", toolset)
        self.assertTrue(result.failed, result)
        self.assertIn(said, result.text)
        self.assertEqual((self.tree(), self.state()), (before, state))
        self.assertEqual((self.root / ".git/HEAD").read_text(), head)
        return result

    def test_partial_clone(self):
        """a checkout that lacks what was not downloaded leaves everything, changes too"""
        self.partial()
        self.write("mine", "untracked\n")
        self.write("d/own", "untracked\n")
        for toolset, arguments in (("git", {"commit": "HEAD~2"}), ("git", {"branch": "old"}),
                                   ("workflow", {"target": "HEAD~2"}),
                                   ("workflow", {"target": "old"})):
            result = self.check(toolset, "git_checkout", arguments)
            self.assertIn("Not downloaded: this is a partial clone", result.text)

    def test_nothing_is_emptied(self):
        """what would put back content that was not downloaded is refused before it writes"""
        self.partial()
        self.write("a", "mine\n")
        self.ok("git_restore", {"paths": ["a"]})  # what is here is put back
        self.assertEqual((self.root / "a").read_text(), "a 2\n")
        fresh = self.base / "fresh"
        self.git("clone", "-q", "--no-checkout", "--filter=blob:none",
                 (self.base / "source").as_uri(), str(fresh), cwd=self.base)
        self.root = fresh
        self.git("read-tree", "HEAD")
        self.write("a", "my own unsaved work\n")
        mine = self.tree()
        for toolset, tool, arguments in (
                ("git", "git_restore", {"paths": ["a"]}),
                ("git", "git_restore", {"paths": ["."], "staged": True}),
                ("git", "git_checkout", {"paths": ["a"]}),
                ("git", "git_stash", {"action": "push"}),
                ("workflow", "git_checkout", {"target": "HEAD", "paths": ["a"]}),
                ("workflow", "git_checkout", {"target": "main", "force": True})):
            result = self.call(tool, arguments, "--toolset", toolset)
            self.assertTrue(result.failed, (tool, arguments, result))
            self.assertIn("ot downloaded", result.text)
            self.assertEqual(self.tree(), mine, (tool, arguments))
            self.assertFalse((self.root / ".git/refs/stash").exists())

    def test_goes_on(self):
        """one that works does, and changes are kept"""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("b", "side\n", "side")
        self.git("checkout", "-q", "main")
        self.write("a.txt", "changed\n")
        self.write("mine", "untracked\n")
        self.ok("git_checkout", {"branch": "side"}, "--toolset", "git")
        self.assertEqual(self.tree(), {"a.txt": b"changed\n", "b": b"side\n",
                                       "mine": b"untracked\n"})


if __name__ == "__main__":
    harness.main()
