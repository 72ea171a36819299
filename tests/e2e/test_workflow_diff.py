#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow: git_diff."""
import harness
import workflow

TEN = "".join(f"line {number}\n" for number in range(1, 11))


class Diff(workflow.Case):
    def changed(self):
        """A commit of two files in src, each with a change that is not staged."""
        self.init()
        for name in ("src/index.ts", "src/utils.ts"):
            self.commit(name, TEN, name)
            self.write(name, TEN.replace("line 5\n", "LINE 5\n"))

    def test_examples(self):
        """R4-2 git_diff: the examples of the requirements, through MCP"""
        self.changed()
        server = workflow.Server(self)
        whole = server.gives("git_diff")
        self.assertEqual((whole["diff"], whole["truncated"], whole["filesChanged"]),
                         (self.out("diff"), False, 2))
        hunk = {"file": "src/index.ts", "oldStart": 2, "oldLines": 7, "newStart": 2, "newLines": 7,
                "header": "line 1", "lines": [" line 2", " line 3", " line 4", "-line 5",
                                              "+LINE 5", " line 6", " line 7", " line 8"]}
        self.assertEqual(whole["hunks"], [hunk, hunk | {"file": "src/utils.ts"}])
        empty = {"diff": "", "truncated": False, "filesChanged": 0, "hunks": []}
        self.assertEqual(server.gives("git_diff", {"staged": True}), empty)
        self.git("add", "src/utils.ts")
        staged = server.gives("git_diff", {"staged": True})
        self.assertEqual((staged["diff"], staged["filesChanged"]),
                         (self.out("diff", "--cached"), 1))
        self.commits = 5
        self.commit("b.txt", "b\n", "third")
        value = server.gives("git_diff", {"ref": "HEAD~3"})
        self.assertEqual((value["diff"], value["filesChanged"]), (self.out("diff", "HEAD~3"), 3))
        value = server.gives("git_diff", {"ref": "HEAD~1",
                                          "paths": ["src/index.ts", "src/utils.ts"]})
        self.assertEqual(value["hunks"], [hunk, hunk | {"file": "src/utils.ts"}])

    def test_ranges(self):
        """git_diff: a range, its halves, three dots, and one commit against the index"""
        self.init()
        self.git("checkout", "-q", "-b", "feature")
        self.commit("b.txt", "b\n", "feature")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "two\n", "main")
        for ref in ("main..feature", "main...feature", "feature..", "..feature", "main", "@{0}"):
            self.assertEqual(self.gives("git_diff", {"ref": ref})["diff"], self.out("diff", ref))
        value = self.gives("git_diff", {"ref": "feature", "staged": True})
        self.assertEqual(value["diff"], self.out("diff", "--cached", "feature"))
        for ref in ("main..feature", ".."):
            self.assertEqual(self.fails(None, "git_diff", {"ref": ref, "staged": True}).kind,
                             "BadArgs")
        for ref in ("-x", "", "..-x", "-x..main", "main..feature..main", "a\nb", "....."):
            self.assertEqual(self.fails(None, "git_diff", {"ref": ref}).kind, "BadArgs", ref)

    def test_names(self):
        """git_diff: names in hunks are raw; the patch has what is readable as it is"""
        self.git("init", "-q")
        names = ["a b", '"q"', "new\nline", "t\tab", "\u00e4", "back\\slash", "\x1bx", "b/c"]
        for name in names:
            self.write(name, "one\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "names")
        for name in names:
            self.write(name, "two\n")
        value = self.gives("git_diff")
        self.assertEqual(value["diff"], self.out("-c", "core.quotePath=false", "diff"))
        self.assertEqual(sorted(hunk["file"] for hunk in value["hunks"]), sorted(names))
        self.assertEqual(value["filesChanged"], len(names))

    def test_kinds(self):
        """git_diff: files that came, went, were renamed, are binary, lack a newline, changed mode"""
        self.init()
        for name, content in (("gone", "gone\n2\n"), ("old", TEN * 3), ("mode", "x\n"),
                              ("tail", "x"), ("binary", b"\0\1"), ("empty", "")):
            self.commit(name, content, name)
        (self.root / "gone").unlink()
        self.git("mv", "old", "new")
        self.write("new", TEN * 3 + "more\n")
        (self.root / "mode").chmod(0o755)
        self.write("tail", "y")
        self.write("binary", b"\0\2")
        self.write("empty", "not\n")
        self.write("came", "1\n")
        self.git("add", "-A")
        value = self.gives("git_diff", {"staged": True})
        self.assertEqual(value["filesChanged"], 7)
        hunks = {hunk["file"]: hunk for hunk in value["hunks"]}
        self.assertEqual(set(hunks), {"gone", "new", "tail", "empty", "came"})
        self.assertEqual(hunks["gone"], {"file": "gone", "oldStart": 1, "oldLines": 2,
                                         "newStart": 0, "newLines": 0, "lines": ["-gone", "-2"]})
        self.assertEqual(hunks["came"], {"file": "came", "oldStart": 0, "oldLines": 0,
                                         "newStart": 1, "newLines": 1, "lines": ["+1"]})
        self.assertEqual(hunks["tail"]["lines"],
                         ["-x", "\\ No newline at end of file",
                          "+y", "\\ No newline at end of file"])
        self.assertEqual((hunks["new"]["oldStart"], hunks["new"]["newLines"]), (28, 4))

    def test_content_is_no_header(self):
        """git_diff: lines that look like headers of a patch do not end a hunk"""
        self.init()
        self.commit("a.txt", "-- a/x\n@@ -1 +1 @@\ndiff --git a/x b/x\n\nend\n", "tricky")
        self.write("a.txt", "++ b/y\n@@ -9,9 +9,9 @@\n* Unmerged path x\n\nend\n")
        value = self.gives("git_diff")
        self.assertEqual(value["filesChanged"], 1)
        self.assertEqual([(hunk["file"], hunk["oldLines"]) for hunk in value["hunks"]],
                         [("a.txt", 5)])
        self.assertIn("--- a/x", value["hunks"][0]["lines"])
        self.assertIn("+++ b/y", value["hunks"][0]["lines"])

    def test_conflict(self):
        """git_diff: a conflict is a combined hunk, and counts as one file"""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "side\n", "side")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "main\n", "main")
        self.git("merge", "side", check=False)
        value = self.gives("git_diff")
        self.assertEqual((value["diff"], value["filesChanged"]), (self.out("diff"), 1))
        self.assertEqual(value["hunks"], [{
            "file": "a.txt", "oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 5,
            "lines": ["++<<<<<<< HEAD", " +main", "++=======", "+ side", "++>>>>>>> side"]}])
        self.assertEqual(self.gives("git_diff", {"staged": True})["filesChanged"], 1)
        self.assertEqual(self.gives("git_diff", {"ref": "HEAD"})["filesChanged"], 1)

    def cut(self, length, max_bytes):
        """The diff of a staged file, with this cap."""
        config = self.write("config.toml", f"[tools.git]\nmax_bytes = {max_bytes}\n", self.home)
        result = self.ok("git_diff", {"staged": True}, "--config", str(config))
        value = result.value["structuredContent"]
        self.assertEqual(result.meta["truncated"], value["truncated"])
        self.assertEqual("hunks" in value, not value["truncated"])
        self.assertEqual(len(value["diff"].encode()), min(length, max_bytes))
        return value

    def test_cap(self):
        """git_diff: cut at the cap, with the number of all files and without hunks"""
        self.init()
        for number in range(3):
            self.write(f"{number}.txt", TEN)
        self.git("add", ".")
        length = len(self.git("diff", "--cached").stdout)
        for room in (1, 300, length - 1, length, length + 1):
            value = self.cut(length, room)
            self.assertEqual((value["truncated"], value["filesChanged"]), (room < length, 3))

    def test_cut_in_a_character(self):
        """git_diff: a character that does not fit as a whole is left out"""
        self.init()
        self.write("a.txt", "\u00e4" * 50 + "\n")
        config = self.write("config.toml", "[tools.git]\nmax_bytes = %d\n", self.home)
        ends = set()
        for room in (120, 121):
            config.write_text(f"[tools.git]\nmax_bytes = {room}\n", encoding="utf-8")
            value = self.gives("git_diff", {}, "--config", str(config))
            self.assertNotIn("\ufffd", value["diff"])
            ends.add(len(value["diff"].encode()))
        self.assertEqual(len(ends), 2)
        self.assertTrue(any(end in (119, 120) for end in ends), ends)

    def test_not_utf8(self):
        """git_diff: bytes that are not UTF-8 become U+FFFD, NUL stays"""
        self.init()
        self.write("a.txt", b"x" * 9000 + b"\n\xff\0end\n")
        self.git("add", "a.txt")
        value = self.gives("git_diff", {"staged": True})
        self.assertIn("+\ufffd\0end", value["hunks"][0]["lines"])

    def test_prefixes(self):
        """git_diff: a repository does not choose the prefixes of names"""
        self.changed()
        wanted = self.out("diff")
        for key, value in (("diff.noprefix", "true"), ("diff.mnemonicPrefix", "true"),
                           ("diff.srcPrefix", "x/"), ("diff.dstPrefix", "y/"),
                           ("color.ui", "always"), ("diff.external", "false")):
            self.git("config", key, value)
        self.assertEqual(self.gives("git_diff")["diff"], wanted)

    def test_places(self):
        """git_diff: paths from the top in a directory, a linked worktree, an unborn branch"""
        self.changed()
        value = self.gives("git_diff", {"cwd": "src", "paths": ["src/index.ts"]})
        self.assertEqual(value["filesChanged"], 1)
        self.git("worktree", "add", "-q", "trees/one")
        self.write("trees/one/a.txt", "changed\n")
        self.assertEqual(self.gives("git_diff", {"cwd": "trees/one"})["filesChanged"], 1)
        unborn = self.root / "unborn"
        unborn.mkdir()
        self.git("init", "-q", cwd=unborn)
        self.write("a", "x\n", unborn)
        self.git("add", "a", cwd=unborn)
        self.assertEqual(self.gives("git_diff", {"cwd": "unborn", "staged": True})["filesChanged"],
                         1)

    def test_paths_are_names(self):
        """git_diff: a pattern matches, a name that looks like one is a name"""
        self.init()
        for name in ("a1", "a2", "a*"):
            self.commit(name, "one\n", name)
        for name in ("a1", "a2", "a*"):
            self.write(name, "two\n")
        self.assertEqual(self.gives("git_diff", {"paths": ["a?"]})["filesChanged"], 3)
        self.assertEqual(self.gives("git_diff", {"paths": ["a*"]})["filesChanged"], 1)
        self.assertEqual(self.gives("git_diff", {"paths": ["none"]})["filesChanged"], 0)

    def test_submodule(self):
        """git_diff: a submodule with other commits is one file"""
        self.init()
        self.init(self.root / "sub")
        self.git("add", "sub")
        self.git("commit", "-q", "-m", "sub")
        self.git("config", "diff.submodule", "log")
        self.commit("b.txt", "b\n", "further", self.root / "sub")
        value = self.gives("git_diff")
        self.assertEqual((value["filesChanged"], len(value["hunks"])), (1, 1))

    def test_errors(self):
        """git_diff: 7000, 7002, and a commit that is not there is 7033"""
        self.fails(7000, "git_diff")
        self.init()
        for ref in ("nowhere", "HEAD~9", "main..nowhere", "a.txt"):
            result = self.fails(7033, "git_diff", {"ref": ref})
            self.assertEqual(result.error["reason"], "not_found")
        self.assertEqual(self.fails(7002, "git_diff", {"paths": [".git/config"]}).kind,
                         "SandboxViolation")
        self.assertEqual(self.fails(None, "git_diff", {"paths": ["/etc/passwd"]}).kind,
                         "SandboxViolation")
        self.assertEqual(self.fails(None, "git_diff", {"paths": [":(top)"]}).kind, "BadArgs")

    def test_no_approval(self):
        """git_diff: nobody is asked"""
        self.init()
        self.assertFalse(self.call("git_diff", approval="deny").failed)


if __name__ == "__main__":
    harness.main()
