#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: a call that git fails in the middle leaves tree, index and references as they were."""
import everyday
import harness

NAMES = ("a", "d/b", "m", "z")


class PutBack(everyday.Case):
    def fill(self, text, message):
        for name in NAMES:
            self.write(name, f"{name} {text}\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)

    def spoil(self, revision):
        """One object in the middle cannot be read."""
        oid = self.out("rev-parse", f"{revision}:m").strip()
        path = self.root / ".git/objects" / oid[:2] / oid[2:]
        path.chmod(0o644)
        path.write_bytes(b"junk")

    def digest(self):
        """Files, index, references, HEAD: read without the broken object."""
        files = {str(path.relative_to(self.root)): path.read_bytes()
                 for path in self.root.rglob("*")
                 if path.is_file() and ".git" not in path.relative_to(self.root).parts}
        return (files, self.out("ls-files", "-s"), self.out("for-each-ref"),
                (self.root / ".git/HEAD").read_bytes())

    def setUp(self):
        super().setUp()
        self.init()
        self.fill("old", "old")
        self.git("tag", "old")
        self.fill("new", "new")
        for name in NAMES:
            self.write(name, f"{name} mine\n")

    def test_control(self):
        """plain git leaves the files half restored"""
        self.spoil("HEAD")
        before = self.digest()
        self.git("stash", check=False)
        self.assertNotEqual(self.digest(), before)

    def test_put_back(self):
        """git_stash: half done, and put back byte for byte, the entry too"""
        self.git("add", "z")
        self.spoil("HEAD")
        before = self.digest()
        result = self.call("git_stash")
        self.assertTrue(result.failed, result)
        self.assertEqual(self.digest(), before, result)
        self.assertIn("everything was put back as it was", result.text)

    def test_refused_early(self):
        """git_restore, git_reset: what cannot be read is found before anything is written"""
        for revision, tool, arguments in (
                ("old", "git_restore", {"paths": ["."], "rev": "old"}),
                ("old", "git_restore", {"paths": ["."], "rev": "old", "staged": True}),
                ("old", "git_reset", {"to": "old", "mode": "hard"}),
                ("HEAD", "git_restore", {"paths": ["."]})):
            self.spoil(revision)
            before = self.digest()
            result = self.call(tool, arguments)
            self.assertTrue(result.failed, result)
            self.assertEqual(self.digest(), before, result)

    def test_nothing_done(self):
        """what failed before it began says nothing of the kind"""
        for tool, arguments in (("git_restore", {"paths": ["none"]}),
                                ("git_switch", {"branch": "none"}),
                                ("git_reset", {"to": "none"})):
            self.assertNotIn("put back", self.call(tool, arguments).text)

    def test_not_to_undo(self):
        """git_undo: a call that was put back has changed nothing"""
        server = everyday.Server(self)
        self.addCleanup(server.close)
        self.git("add", "z")
        self.spoil("HEAD")
        result = server.call("git_stash", {})
        self.assertIn("everything was put back", result.text)
        self.assertIn("Nothing to undo", server.says("git_undo"))


if __name__ == "__main__":
    harness.main()
