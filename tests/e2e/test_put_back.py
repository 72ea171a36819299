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

    def test_rollback(self):
        """what was not downloaded is in no rollback's way, of a branch, a file or a commit"""
        self.partial()
        self.write("a", "mine\n")
        self.write("new", "new\n")
        before = self.tree(), self.state()
        for calls in ((("git_restore", {"paths": ["a"]}),),
                      (("git_checkout", {"create_branch": "topic"}),),
                      (("git_branch", {"delete": "old"}),),
                      (("git_add", {"paths": ["a", "new"]}), ("git_commit", {"type": "feat", "message": "x"}))):
            for tool, arguments in calls:
                self.ok(tool, arguments)
            for words in ((str(len(calls)),), ("--redo",), ("1",)):
                done = harness.subprocess.run(
                    [harness.AIRLOCK, "rollback", "--yes", *words], cwd=self.root, env=self.env,
                    stdin=harness.subprocess.DEVNULL, capture_output=True, check=False)
                self.assertEqual(done.returncode, 0, (calls, words, done))
            self.assertEqual((self.tree(), self.state()), before, calls)

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


class HalfDone(harness.Case):
    """Git fails in the middle of its work: nothing is changed, or it is said what, and a rollback
    puts that back."""
    NAMES = ("a", "d/b", "m", "z")

    CALLS = (
        ("git", "git_checkout", {"branch": "old"}, "old", ("checkout", "old")),
        ("git", "git_checkout", {"commit": "old"}, "old", ()),
        ("workflow", "git_checkout", {"target": "old"}, "old", ()),
        ("workflow", "git_checkout", {"target": "old", "force": True}, "old",
         ("checkout", "-f", "old")),
        ("workflow", "git_checkout", {"target": "old", "paths": ["."]}, "old", ()),
        ("git", "git_checkout", {"paths": ["."]}, "HEAD", ("checkout", ".")),
        ("git", "git_restore", {"paths": ["."]}, "HEAD", ("restore", ".")),
        ("git", "git_restore", {"paths": ["."], "staged": True}, "HEAD", ()),
        ("git", "git_stash", {"action": "push"}, "HEAD", ("stash", "push")),
        ("git", "git_stash", {"action": "pop"}, "stash@{0}", ("stash", "pop")),
        ("workflow", "git_stash", {"action": "apply"}, "stash@{0}", ("stash", "apply")),
        ("workflow", "git_merge", {"branch": "old"}, "old", ()),
    )

    def tree(self):
        """Every file and what it holds, and where HEAD is."""
        files = {str(path.relative_to(self.root)): path.read_bytes()
                 for path in self.root.rglob("*")
                 if path.is_file() and ".git" not in path.relative_to(self.root).parts}
        return files | {"HEAD": (self.root / ".git/HEAD").read_bytes(),
                        "staged": self.out("ls-files", "-s"),
                        "refs": self.out("for-each-ref", "refs/heads", "refs/stash")}

    def fill(self, tool, arguments):
        """`old` is another version of every file; changes, or a stash of them, where a call is
        about these."""
        shape = "merge" if tool == "git_merge" else arguments.get(
            "action", "changed" if set(arguments) & {"force", "paths"} else "clean")
        kept = self.base / shape
        harness.shutil.rmtree(self.root)
        harness.shutil.rmtree(self.home / ".local", ignore_errors=True)
        if not kept.exists():
            self.root.mkdir()
            self.make(shape)
            self.root.rename(kept)
        harness.shutil.copytree(kept, self.root)

    def make(self, shape):
        """The repository of one shape."""
        def write(text):
            for name in self.NAMES:
                self.write(name, f"{name} {text}\n")

        self.init()
        write("new")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "new")
        self.git("checkout", "-q", "-b", "old", *(["HEAD~1"] if shape == "merge" else []))
        write("old")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "old")
        self.git("checkout", "-q", "main")
        if shape == "merge":
            self.git("reset", "-q", "--hard", "HEAD~1")
            self.commit("own", "own\n", "own")
        elif shape != "clean":
            write("mine")
        if shape in ("pop", "apply"):
            self.git("stash", "push", "-q")

    def spoil(self, revision, junk):
        """One object in the middle is another one, or missing."""
        oid = self.out("rev-parse", f"{revision}:m").strip()
        path = self.root / ".git/objects" / oid[:2] / oid[2:]
        path.unlink()
        if junk:
            path.write_bytes(junk)

    def half_done(self, junk, calls):
        """Each call, after plain git where it changes something; gives those that did."""
        changed = []
        for toolset, tool, arguments, revision, plain in calls:
            what = (toolset, tool, arguments)
            self.fill(tool, arguments)
            self.spoil(revision, junk)
            before = self.tree()
            if plain:
                self.git(*plain, check=False)
                changed.append(self.tree() != before)
                self.fill(tool, arguments)
                self.spoil(revision, junk)
            self.assertEqual(self.tree(), before)
            result = self.call(tool, arguments, "--toolset", toolset)
            self.assertTrue(result.failed, (what, result))
            now = self.tree()
            if "The call failed and has no checkpoint" in result.text:
                continue
            for name in before.keys() & set(self.NAMES):
                said = f" {name}," in result.text or f" {name}." in result.text
                self.assertEqual(said, now.get(name) != before[name], (what, name, result.text))
            self.assertEqual("airlock rollback" in result.text, now != before, (what, result.text))
            if now == before:
                continue
            done = harness.subprocess.run([harness.AIRLOCK, "rollback", "--yes"], cwd=self.root,
                                          env=self.env, stdin=harness.subprocess.DEVNULL,
                                          capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, (what, done))
            self.assertEqual(self.tree(), before, what)
        self.assertTrue(any(changed))

    def test_missing(self):
        """an object that is missing in the middle"""
        self.half_done(None, self.CALLS)

    def test_corrupt(self):
        """an object that cannot be read in the middle"""
        self.half_done(b"junk", self.CALLS[3::2])

    def test_nothing_done(self):
        """what failed before it began says nothing of the kind"""
        self.init()
        self.write("a.txt", "mine\n")
        for toolset, tool, arguments in (("git", "git_checkout", {"branch": "none"}),
                                         ("git", "git_restore", {"paths": ["none"]}),
                                         ("git", "git_stash", {"action": "pop"}),
                                         ("workflow", "git_merge", {"branch": "none"})):
            result = self.call(tool, arguments, "--toolset", toolset)
            self.assertTrue(result.failed, result)
            self.assertNotIn("rollback", result.text)


if __name__ == "__main__":
    harness.main()
