#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: hunks, files and untracked files chosen in one call."""
import re

import everyday
import harness
from everyday import LINES, text_with


class Select(everyday.Case):
    """Two hunks in a.txt and in b.txt, one of b.txt staged; two untracked files."""

    def setUp(self):
        super().setUp()
        self.init()
        for name in ("a.txt", "b.txt", "c.txt"):
            self.write(name, "".join(LINES))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "base")
        self.write("a.txt", text_with(at5="a5", at20="a20"))
        self.write("b.txt", text_with(at5="b5"))
        self.git("add", "b.txt")
        self.write("b.txt", text_with(at5="b5", at20="b20"))
        self.write("docs/new.md", "one\ntwo\nthree\n")
        self.write("docs/other.md", "text without an end")

    def shown(self, **arguments):
        """What git_diff shows: ids by the added line or by the path of an untracked file."""
        text = self.says("git_diff", {"hunks": True, "context": 0} | arguments)
        found = {path: one for one, path in re.findall(r"^@@ (\S+) new file (\S+)", text, re.M)}
        return found | {line: one for one, line in
                        re.findall(r"^@@ (\S+) -.*\n-.*\n\+(\S+)$", text, re.M)}

    def test_shown(self):
        """git_diff hunks: untracked files are listed, one id each, with their lines"""
        text = self.says("git_diff", {"hunks": True})
        self.assertRegex(text, r"\n@@ [0-9a-f]{8} new file docs/new.md \+3\n"
                               r"@@ [0-9a-f]{8} new file docs/other.md \+1$")
        self.assertEqual(sorted(self.shown()), ["a20", "a5", "b20", "docs/new.md",
                                                "docs/other.md"])
        self.assertEqual(sorted(self.shown(paths=["docs"])), ["docs/new.md", "docs/other.md"])
        self.assertEqual(sorted(self.shown(staged=True)), ["b5"])

    def test_kinds(self):
        """git_diff hunks: links, binary and executable files have ids; large ones are paths'"""
        self.write("bin", b"\0\1")
        self.write("run", "#!/bin/sh\n")
        before = self.shown()["run"]
        (self.root / "run").chmod(0o755)
        (self.root / "link").symlink_to("run")
        self.write("large", "x" * 5000001)
        found = self.shown()
        self.assertNotEqual(found["run"], before)
        self.assertNotIn("large", found)
        text = self.says("git_diff", {"hunks": True})
        self.assertIn(" new file bin binary\n", text)
        self.assertIn("Other untracked files are large or many: paths names them.", text)
        self.says("git_add", {"hunks": [found["bin"], found["run"], found["link"]]})
        self.assertEqual([line.split()[0] for line in
                          self.out("ls-files", "-s", "bin", "link", "run").splitlines()],
                         ["100644", "120000", "100755"])

    def test_large(self):
        """git_diff hunks: a new file of 5 MB has an id, and one with a byte more has none"""
        for size in (4999999, 5000000, 5000001):
            self.write("large", "x" * (size - 1) + "\n")
            text, found = self.says("git_diff", {"hunks": True}), self.shown()
            self.assertEqual(("large" in found, "Other untracked files" in text),
                             (size <= 5000000, size > 5000000))
        self.write("large", "x" * 5000000)
        self.says("git_add", {"hunks": [self.shown()["large"]]})
        self.assertEqual(self.out("cat-file", "-s", ":large"), "5000000\n")

    def test_many(self):
        """git_diff hunks: 1,000 new files have ids, those beyond have them where paths are narrower"""
        for number in range(996):
            self.write(f"many/{number:04}", f"{number}\n")
        for count, name in ((999, "many/x"), (1000, "many/y"), (1001, "many/z")):
            self.write(name, name + "\n")
            text, found = (self.says("git_diff", {"hunks": True, "max_bytes": 200000}),
                           self.shown(max_bytes=200000))
            self.assertEqual(len([one for one in found if "/" in one]), min(count, 1000))
            self.assertEqual("Other untracked files are large or many" in text, count > 1000)
        self.assertNotIn("many/z", found)
        (last,) = self.shown(paths=["many/z"]).values()
        self.says("git_add", {"hunks": [last, found["a5"]]})
        self.assertEqual(self.out("diff", "--cached", "--name-only").split(),
                         ["a.txt", "b.txt", "many/z"])
        self.fails("BadArgs", "is not there any more", "git_add", {"hunks": [last]})

    def test_add(self):
        """git_add: hunks, paths and untracked ids in one call"""
        found = self.shown()
        text = self.says("git_add", {"hunks": [found["a5"], found["docs/new.md"]],
                                     "paths": ["b.txt"]})
        self.assertIn("Staged 1 hunk of a.txt (+1 -1)\n", text)
        self.assertIn("Staged b.txt, docs/new.md\n", text)
        self.assertEqual(self.out("diff", "--cached", "--name-only").split(),
                         ["a.txt", "b.txt", "docs/new.md"])
        self.assertEqual(sorted(self.shown()), ["a20", "docs/other.md"])

    def test_commit(self):
        """git_commit: hunks, paths and untracked ids; what else is staged stays staged"""
        found = self.shown()
        self.git("add", "docs/other.md")
        self.write("c.txt", "changed\n")
        text = self.says("git_commit", {"message": "chosen",
                                        "hunks": [found["a20"], found["docs/new.md"]],
                                        "paths": ["c.txt", "b.txt"]})
        self.assertIn("4 files changed", text)
        self.assertEqual(self.out("show", "HEAD:b.txt"), text_with(at5="b5", at20="b20"))
        self.assertEqual(self.out("show", "HEAD:a.txt"), text_with(at20="a20"))
        self.assertEqual(self.out("status", "--porcelain"), " M a.txt\nA  docs/other.md\n")

    def test_commit_hunk_of_two(self):
        """git_commit: a hunk beside paths leaves the staged hunk of its file staged"""
        found = self.shown()
        self.says("git_commit", {"message": "chosen", "hunks": [found["b20"]],
                                 "paths": ["a.txt"]})
        self.assertEqual(self.out("show", "HEAD:b.txt"), text_with(at20="b20"))
        self.assertEqual(self.out("show", ":b.txt"), text_with(at5="b5", at20="b20"))

    def test_hunk_in_path(self):
        """a hunk of a file that paths name as well is in it once"""
        found = self.shown()
        self.says("git_commit", {"message": "chosen", "hunks": [found["a5"]],
                                 "paths": ["a.txt"]})
        self.assertEqual(self.out("show", "HEAD:a.txt"), text_with(at5="a5", at20="a20"))
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "b.txt\n")

    def test_restore(self):
        """git_restore: hunks and paths in one call"""
        found = self.shown()
        text = self.says("git_restore", {"hunks": [found["a5"]], "paths": ["b.txt"]})
        self.assertIn("Discarded 1 hunk of a.txt (+1 -1)\nDiscarded changes of b.txt\n", text)
        self.assertEqual((self.root / "a.txt").read_text(), text_with(at20="a20"))
        self.assertEqual((self.root / "b.txt").read_text(), text_with(at5="b5"))

    def test_restore_untracked(self):
        """git_restore: the id of an untracked file is refused, and the file stays"""
        one = self.shown()["docs/new.md"]
        for staged in (False, True):
            result = self.fails("BadArgs", f"hunk {one} is a new file that is not tracked", "git_restore",
                                {"hunks": [one], "staged": staged})
            self.assertNotIn("not there any more", result.text)

    def test_gone(self):
        """an untracked file that was edited since has another id; nothing is done"""
        found = self.shown()
        self.write("docs/new.md", "another\n")
        for tool in ("git_add", "git_commit"):
            self.fails("BadArgs", "is not there any more", tool,
                       {"hunks": [found["docs/new.md"], found["a5"]]}
                       | ({"message": "x"} if tool == "git_commit" else {}))
            now = self.shown()
            self.fails("BadArgs", f"; new files: docs/new.md: {now['docs/new.md']}, docs/other.md: "
                       f"{now['docs/other.md']}\ngit_diff", tool,
                       {"hunks": ["00000000"]} | ({"message": "x"} if tool == "git_commit" else {}))

    def test_refused(self):
        """what cannot both hold"""
        one = self.shown()["a5"]
        self.fails("BadArgs", "hunks cannot be given together with all or update", "git_add",
                   {"hunks": [one], "all": True})
        self.fails("BadArgs", "all cannot be given together with paths or hunks", "git_commit",
                   {"hunks": [one], "all": True, "message": "x"})

    def test_rules(self):
        """rules about paths see that hunks may be of any file, whatever paths name"""
        found = self.shown()
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text('[[tools.approval.rule]]\npath = "docs/**"\ndecision = "deny"\n',
                          encoding="utf-8")
        for tool in ("git_add", "git_commit"):
            self.fails("ApprovalDenied", "denied by rule 1", tool,
                       {"paths": ["a.txt"], "hunks": [found["docs/new.md"]]}
                       | ({"message": "x"} if tool == "git_commit" else {}))
        self.says("git_add", {"paths": ["a.txt"]})

    def test_below(self):
        """from a directory below, ids of untracked files above are taken"""
        one = self.shown()["docs/new.md"]
        self.git("mv", "c.txt", "docs/c.txt")
        self.says("git_commit", {"message": "x", "hunks": [one],
                                 "working_dir": str(self.root / "docs")})
        self.assertEqual(self.out("show", "--format=", "--name-only", "HEAD"), "docs/new.md\n")


if __name__ == "__main__":
    harness.main()
