#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: what changes its kind: files, links, directories, submodules, modes, line endings."""
import itertools
import os
import shutil

import everyday
import harness

KINDS = ("file", "link", "directory", "submodule", "nothing")


class Kinds(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.module = self.base / "module"
        self.git("init", "-q", str(self.module))
        self.first = self.commit("m.txt", "m\n", "module", self.module)

    def remove(self):
        path = self.root / "x"
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        elif os.path.lexists(path):
            path.unlink()

    def make(self, kind):
        """`x` of this kind, in the working tree only."""
        path = self.root / "x"
        self.remove()
        if kind == "link":
            path.symlink_to("a.txt")
        elif kind == "directory":
            self.write("x/one.txt", "one\n")
            self.write("x/two.txt", "two\n")
        elif kind == "submodule":
            self.git("clone", "-q", str(self.module), str(path))
        elif kind == "binary":
            self.write("x", b"\0\1\2binary")
        elif kind != "nothing":
            self.write("x", "x\n")
            path.chmod(0o755 if kind == "program" else 0o644)

    def commit_kind(self, kind):
        self.git("rm", "-q", "-r", "-f", "--cached", "--ignore-unmatch", "x")
        self.make(kind)
        self.git("-c", "advice.addEmbeddedRepo=false", "add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", kind)

    def index(self):
        return self.out("ls-files", "--stage", "x")

    def tree(self):
        return sorted((str(path.relative_to(self.root)), path.lstat().st_mode,
                       os.readlink(path) if path.is_symlink() else
                       path.read_bytes() if path.is_file() else b"")
                      for path in (self.root / "x", *(self.root / "x").glob("*.txt"))
                      if os.path.lexists(path))

    def staged_by_git(self):
        """What git's own index is after git add."""
        self.git("-c", "advice.addEmbeddedRepo=false", "add", "-A", "x", check=False)
        index = self.index()
        self.git("reset", "-q")
        return index

    def pairs(self):
        return [*itertools.permutations(KINDS, 2), ("file", "program"), ("program", "link"),
                ("file", "binary")]

    def test_changes(self):
        """each kind to each other: said in words, staged as git stages it, unstaged again"""
        server = everyday.Server(self)
        for old, new in self.pairs():
            self.commit_kind(old)
            self.make(new)
            expected = self.staged_by_git()
            before = self.snapshot()
            if (old, new) == ("submodule", "directory"):
                continue  # for git one that is not checked out
            for tool, arguments in (("git_status", {}), ("git_diff", {}),
                                    ("git_diff", {"hunks": True}), ("git_diff", {"stat": True})):
                text = server.ok(tool, arguments).text
                if not (tool == "git_diff" and old == "nothing"):  # it is untracked
                    self.assertRegex(text, r"(?m)\bx\b", (old, new, tool, arguments))
                if tool == "git_status" and new == "nothing":
                    self.assertRegex(text, r" x(/\S+)? \(deleted\)", (old, new))
                if tool == "git_status" and {old, new} <= {"file", "link", "submodule"}:
                    self.assertIn(" x (type changed)", text, (old, new))
            self.assertEqual(self.snapshot(), before, (old, new))
            result = server.call("git_add", {"paths": ["x"]})
            self.assertFalse(result.failed, (old, new, result))
            self.assertEqual(self.index(), expected, (old, new, result))
            server.ok("git_diff", {"staged": True})
            server.ok("git_restore", {"paths": ["."], "staged": True})
            self.assertEqual(self.snapshot(), before, (old, new))

    def test_restored(self):
        """each kind is restored from each other, or refused with everything left as it was"""
        server = everyday.Server(self)
        for old, new in self.pairs():
            if "nothing" == old:
                continue
            self.commit_kind(old)
            wanted = self.tree()
            self.make(new)
            before = self.snapshot()
            result = server.call("git_restore", {"paths": ["x"]})
            if result.failed:
                self.assertEqual(self.snapshot(), before, (old, new, result))
                self.assertIn("submodule", (old, new), result)
                continue
            if "submodule" not in (old, new):
                self.assertEqual(self.tree(), wanted, (old, new, result))
                self.assertEqual(self.out("status", "--porcelain", "x"), "", (old, new, result))
            server.ok("git_undo")
            if "submodule" not in (old, new):
                self.assertEqual(self.snapshot(), before, (old, new))

    def test_committed(self):
        """each change of kind is committed by path and by all, and taken back by reset and revert"""
        server = everyday.Server(self)
        for old, new in self.pairs():
            if "submodule" in (old, new):
                continue
            self.commit_kind(old)
            wanted = self.tree()
            self.make(new)
            made = self.tree()
            server.ok("git_commit", {"message": "m", "paths": ["x"]})
            self.assertEqual(self.out("status", "--porcelain"), "", (old, new))
            self.assertEqual(self.tree(), made, (old, new))
            server.ok("git_revert", {"commits": ["HEAD"]})
            self.assertEqual(self.tree(), wanted, (old, new))
            self.assertEqual(self.out("status", "--porcelain"), "", (old, new))
            server.ok("git_reset", {"to": "HEAD~1", "mode": "hard"})
            self.assertEqual(self.tree(), made, (old, new))
            server.ok("git_undo")
            self.assertEqual(self.tree(), wanted, (old, new))

    def test_submodule_lines(self):
        """a submodule: its line in the diff, its new commit staged and committed"""
        self.commit_kind("submodule")
        second = self.commit("m.txt", "n\n", "more", self.root / "x")
        text = self.says("git_diff")
        self.assertIn(f"--- x\nfrom commit {self.first[:8]} to commit {second[:8]}\n", text + "\n")
        self.assertRegex(self.says("git_status"), r"(?m)\bx\b")
        self.says("git_commit", {"message": "m", "paths": ["x"]})
        self.assertIn(second, self.out("ls-tree", "HEAD", "x"))
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_line_endings(self):
        """CRLF, no newline at the end, binary: hunk by hunk and whole, byte for byte"""
        lines = [b"line %d\r\n" % i for i in range(30)]
        cases = {"crlf.txt": b"".join(lines), "mixed.txt": b"".join(lines[:9]) + b"x\n" * 21,
                 "end.txt": b"".join(lines)[:-2], "cr.txt": b"a\rb\rc\n" * 30, "nul.bin": b"a\0b\n" * 30}
        for name, content in cases.items():
            self.write(name, content)
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all")
        server = everyday.Server(self)
        for name, content in cases.items():
            kept = content.splitlines(keepends=True) if b"\r\n" in content else content.split(b"\n")
            joint = b"" if b"\r\n" in content else b"\n"
            changed = joint.join([b"first" + kept[0], *kept[1:-1], kept[-1] + b"no end"])
            self.write(name, changed)
            text = server.ok("git_diff", {"hunks": True, "paths": [name]}).text
            hunks = [line.split()[1] for line in text.splitlines() if line.startswith("@@ ")]
            if name == "nul.bin":
                self.assertIn("binary", text.lower())
                self.assertEqual(len(hunks), 1)
            for hunk in hunks:
                server.ok("git_add", {"hunks": [hunk]})
            if not hunks:
                server.ok("git_add", {"paths": [name]})
            self.assertEqual(self.git("show", f":{name}").stdout, changed, name)
            server.ok("git_restore", {"paths": [name], "staged": True})
            self.assertEqual(self.git("show", f":{name}").stdout, content, name)
            server.ok("git_restore", {"paths": [name]})
            self.assertEqual((self.root / name).read_bytes(), content, name)

    def test_mode_only(self):
        """a mode alone is shown in words, staged, and taken back"""
        self.commit_kind("file")
        (self.root / "x").chmod(0o755)
        for arguments in ({}, {"hunks": True}):
            self.assertRegex(self.says("git_diff", arguments | {"hunks": True}), r"--- x\n@@ \w+ mode 100644 -> 100755")
        self.says("git_add", {"paths": ["x"]})
        self.assertTrue(self.index().startswith("100755 "))
        self.says("git_restore", {"paths": ["x"], "staged": True})
        self.says("git_restore", {"paths": ["x"]})
        self.assertFalse(os.access(self.root / "x", os.X_OK))


if __name__ == "__main__":
    harness.main()
