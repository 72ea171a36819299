#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_diff shows what git shows, within its cap, and writes patches only where it may."""
import json
import os
import stat

import harness


class Diff(harness.Case):
    def changed(self):
        """One staged and one unstaged change."""
        self.init()
        self.commit("b.txt", "".join(f"line {n}\n" for n in range(30)), "second")
        self.write("a.txt", "staged\n")
        self.git("add", "a.txt")
        self.write("b.txt", "".join(f"line {n}{'!' if n == 15 else ''}\n" for n in range(30)))

    def assert_diff(self, arguments, *words):
        """git_diff with these arguments is `git diff` with these words."""
        raw = self.out("diff", *words)
        self.assertEqual(self.ok("git_diff", arguments).text, raw, arguments)
        return raw

    def test_cached(self):
        """T-GIT-DIFF-01 diff shows the index with cached and the working tree without"""
        self.changed()
        self.assertIn("+staged", self.assert_diff({"cached": True}, "--cached"))
        self.assertIn("line 15!", self.assert_diff({"cached": False}))
        self.assertIn("line 15!", self.assert_diff({}))

    def test_forms(self):
        """diff takes name_only, stat, unified and paths"""
        self.changed()
        self.assertEqual(self.assert_diff({"name_only": True}, "--name-only"), "b.txt\n")
        self.assertIn("1 file changed", self.assert_diff({"stat": True}, "--stat"))
        for lines in (0, 1, 100):
            self.assert_diff({"unified": lines}, f"-U{lines}")
        self.assertEqual(self.assert_diff({"paths": ["a.txt"]}, "--", "a.txt"), "")
        self.assert_diff({"paths": ["a.txt", "b.txt"]}, "--", "a.txt", "b.txt")
        self.assert_diff({"cached": True, "paths": ["a.txt"]}, "--cached", "--", "a.txt")
        self.refused("BadArgs", "unified must be at least 0", "git_diff", {"unified": -1})

    def test_refs(self):
        """diff compares two commits, or one with the working tree"""
        self.changed()
        self.assert_diff({"from_ref": "HEAD~1", "to_ref": "HEAD"}, "HEAD~1", "HEAD")
        self.assert_diff({"from_ref": "HEAD~1"}, "HEAD~1")
        self.assert_diff({"from_ref": "main", "to_ref": "main"}, "main", "main")
        self.assert_diff({"from_ref": "HEAD~1", "to_ref": "HEAD", "paths": ["b.txt"],
                          "stat": True}, "--stat", "HEAD~1", "HEAD", "--", "b.txt")

    def test_unknown_ref(self):
        """diff from an unknown commit fails"""
        self.init()
        result = self.call("git_diff", {"from_ref": "no-such-branch"})
        self.assertTrue(result.failed)
        self.assertEqual(result.kind, "ExecutionFailed")
        self.assertIn("no-such-branch", result.text)

    def test_cached_excludes_refs(self):
        """T-GIT-DIFF-03 diff refuses cached together with from_ref or to_ref"""
        self.init()
        message = "cached cannot be used with from_ref/to_ref"
        for refs in ({"from_ref": "HEAD"}, {"to_ref": "HEAD"},
                     {"from_ref": "HEAD", "to_ref": "HEAD"}):
            self.refused("BadArgs", message, "git_diff", {"cached": True, **refs})
        self.ok("git_diff", {"cached": False, "from_ref": "HEAD"})

    def test_name_only_wins(self):
        """T-GIT-DIFF-04 diff prefers name_only to stat"""
        self.changed()
        self.assertEqual(self.ok("git_diff", {"name_only": True, "stat": True}).text,
                         "b.txt\n" + harness.IGNORED + "stat, since name_only is given")
        self.assert_diff({"name_only": True}, "--name-only")

    def test_required_together(self):
        """diff asks for what output_dir and to_ref need, in this order"""
        self.init()
        both = "output_dir requires both from_ref and to_ref"
        self.refused("BadArgs", both, "git_diff", {"output_dir": "out"})
        self.refused("BadArgs", both, "git_diff", {"output_dir": "out", "from_ref": "HEAD"})
        self.refused("BadArgs", both, "git_diff", {"output_dir": "out", "to_ref": "HEAD"})
        self.refused("BadArgs", "to_ref requires from_ref", "git_diff", {"to_ref": "HEAD"})
        self.refused("BadArgs", "cached cannot be used with from_ref/to_ref", "git_diff",
                     {"cached": True, "output_dir": "out", "to_ref": "HEAD"})
        self.assertFalse((self.root / "out").exists())

    def test_nothing_changed(self):
        """T-GIT-EDGE-02 diff without changes is empty and no failure"""
        self.init()
        for arguments in ({}, {"cached": True}, {"stat": True}, {"name_only": True},
                          {"from_ref": "HEAD", "to_ref": "HEAD"}):
            result = self.ok("git_diff", arguments)
            self.assertEqual((result.text, result.meta["truncated"], result.meta["exit_code"]),
                             ("", False, 0))

    def test_two_tags(self):
        """T-GIT-INT-05 diff between two tagged commits"""
        self.init()
        self.git("tag", "v1")
        self.commit("a.txt", "two\n", "second")
        self.commit("dir/new.txt", "new\n", "third")
        self.git("tag", "-a", "-m", "two", "v2")
        raw = self.assert_diff({"from_ref": "v1", "to_ref": "v2"}, "v1", "v2")
        self.assertIn("+two", raw)
        self.assertIn("dir/new.txt", raw)
        self.assert_diff({"from_ref": "v2", "to_ref": "v1"}, "v2", "v1")

    def test_changes_nothing(self):
        """diff does not write the index, even a stale one"""
        self.init()
        index = (self.root / ".git/index").read_bytes()
        self.write("a.txt", "one\n")  # the same content, another time
        self.assertEqual(self.ok("git_diff").text, "")
        self.assertEqual((self.root / ".git/index").read_bytes(), index)


class Cap(harness.Case):
    def long_diff(self):
        """A diff of a few kilobytes, and what git prints for it."""
        self.init()
        self.write("a.txt", "".join(f"line {n} of many\n" for n in range(300)))
        return self.out("diff")

    def test_exactly_the_cap(self):
        """T-GIT-EDGE-03 diff of exactly max_bytes is whole"""
        raw = self.long_diff()
        result = self.ok("git_diff", {"max_bytes": len(raw)})
        self.assertEqual(result.text, raw)
        self.assertFalse(result.meta["truncated"])
        self.assertEqual(self.ok("git_diff", {"max_bytes": len(raw) + 1}).text, raw)

    def test_one_byte_more(self):
        """T-GIT-EDGE-04 diff of one byte more than max_bytes is cut, marker included"""
        raw = self.long_diff()
        cap = len(raw) - 1
        result = self.ok("git_diff", {"max_bytes": cap})
        self.assertEqual(result.text, raw[:cap - len(harness.MARKER)] + harness.MARKER)
        self.assertEqual(len(result.text), cap)
        self.assertTrue(result.meta["truncated"])

    def test_marker(self):
        """T-GIT-COMMON-03 cut output ends with the marker and fits the cap"""
        raw = self.long_diff()
        for cap in (25, 100, 1000):
            result = self.ok("git_diff", {"max_bytes": cap})
            self.assertEqual(result.text, raw[:cap - len(harness.MARKER)] + harness.MARKER)
            self.assertEqual((result.meta["truncated"], result.meta["exit_code"]), (True, 0))
        for cap in (1, 23, 24):
            self.assertEqual(self.ok("git_diff", {"max_bytes": cap}).text, harness.MARKER)

    def test_bounds(self):
        """max_bytes is between 1 and 5000000"""
        self.init()
        self.refused("BadArgs", "max_bytes cannot exceed 5000000", "git_diff",
                     {"max_bytes": 5000001})
        self.refused("BadArgs", "max_bytes must be at least 1", "git_diff", {"max_bytes": 0})
        self.ok("git_diff", {"max_bytes": 5000000})

    def test_characters_stay_whole(self):
        """a cut never splits a character"""
        self.init()
        self.write("a.txt", "\u00e9\u4e2d\U0001f30d" * 400 + "\n")
        raw = self.out("diff").encode()
        for cap in range(500, 510):
            text = self.ok("git_diff", {"max_bytes": cap}).text
            body = text.removesuffix(harness.MARKER).encode()
            self.assertTrue(raw.startswith(body))
            self.assertLessEqual(len(text.encode()), cap)
            self.assertGreater(len(text.encode()), cap - 4)


class Patches(harness.Case):
    def two_commits(self):
        """Three changed paths, one of them in a directory, and one renamed file."""
        self.init()
        self.commit("old.txt", "a file that is renamed\n" * 5, "second")
        self.write("a.txt", "two\n")
        self.write("dir/sub/new.txt", "new\n")
        self.git("mv", "old.txt", "moved.txt")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "third")

    def patches(self, directory, **more):
        """Ask for patches; gives the names listed in the result."""
        result = self.ok("git_diff", {"from_ref": "HEAD~1", "to_ref": "HEAD",
                                      "output_dir": directory, **more})
        return json.loads(result.text)["patches"]

    def test_writes_patches(self):
        """T-GIT-DIFF-02 diff writes one patch per path to output_dir and lists them"""
        self.two_commits()
        names = {"a.txt": "a.txt.patch", "dir/sub/new.txt": "dir__sub__new.txt.patch",
                 "old.txt": "old.txt.patch", "moved.txt": "moved.txt.patch"}
        self.assertEqual(sorted(self.patches("out/patches")), sorted(names.values()))
        where = self.root / "out/patches"
        self.assertEqual(sorted(os.listdir(where)), sorted(names.values()))
        for path, name in names.items():
            self.assertEqual((where / name).read_bytes(),
                             self.git("diff", "--no-renames", "HEAD~1", "HEAD", "--",
                                      path).stdout)
        self.assertEqual(stat.S_IMODE(where.stat().st_mode), 0o750)

    def test_into_an_existing_directory(self):
        """patches go into a directory that is there, beside what it holds"""
        self.two_commits()
        self.write("out/kept.txt", "kept\n")
        self.assertIn("a.txt.patch", self.patches("out", paths=["a.txt"]))
        self.assertEqual(sorted(os.listdir(self.root / "out")), ["a.txt.patch", "kept.txt"])

    def test_relative_to_working_dir(self):
        """output_dir is relative to working_dir"""
        self.two_commits()
        self.patches("out", working_dir="dir")
        self.assertTrue((self.root / "dir/out").is_dir())

    def test_patches_apply(self):
        """the patches together make the change"""
        self.two_commits()
        self.patches("out")
        self.git("checkout", "-q", "HEAD~1")
        for name in sorted(os.listdir(self.root / "out")):
            self.git("apply", "--index", f"out/{name}")
        self.assertEqual(self.out("write-tree"), self.out("rev-parse", "main^{tree}"))

    def test_colliding_names(self):
        """two paths with one sanitized name get two files"""
        self.init()
        self.write("d/x", "slash\n")
        self.write("d__x", "underscores\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "second")
        names = self.patches("out")
        self.assertEqual(len(set(names)), 2)
        self.assertIn("d__x.patch", names)
        texts = sorted((self.root / "out" / name).read_text() for name in names)
        self.assertEqual(texts, sorted(self.out("diff", "HEAD~1", "HEAD", "--", path)
                                       for path in ("d/x", "d__x")))

    def test_the_index_stays(self):
        """writing patches leaves repository and index alone"""
        self.two_commits()
        index = (self.root / ".git/index").read_bytes()
        self.patches("out")
        self.assertEqual((self.root / ".git/index").read_bytes(), index)
        self.assertEqual(self.out("status", "--porcelain=1"), "?? out/\n")

    def test_no_files_into_the_git_directory(self):
        """a .git component in output_dir is refused"""
        self.two_commits()
        for directory in (".git/out", ".GIT/out", "out/.git", ".git"):
            result = self.call("git_diff", {"from_ref": "HEAD~1", "to_ref": "HEAD",
                                            "output_dir": directory})
            self.assertTrue(result.failed, directory)
            self.assertIn(result.kind, ("SandboxViolation", "BadArgs"), directory)
        self.assertFalse((self.root / ".git/out").exists())
        self.assertFalse((self.root / "out").exists())

    def test_links_are_not_followed(self):
        """a link in the place of a patch is not written through"""
        self.two_commits()
        self.write("precious.txt", "precious\n")
        (self.root / "out").mkdir()
        (self.root / "out/a.txt.patch").symlink_to("../precious.txt")
        self.call("git_diff", {"from_ref": "HEAD~1", "to_ref": "HEAD", "output_dir": "out"})
        self.assertEqual((self.root / "precious.txt").read_text(), "precious\n")


if __name__ == "__main__":
    harness.main()
