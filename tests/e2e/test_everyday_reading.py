#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: what the tools that read answer, and what they refuse."""
import subprocess

import everyday
import harness
from everyday import LINES, text_with

NAMES = ["a b", '"quoted"', "tab\there", "umlaut-\u00e4", "umlaut-a\u0308", "back\\slash", "arrow -> b",
         " leading", "\u6f22\u5b57"]


class Case(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()

    def lines(self, tool, arguments=None):
        return self.says(tool, arguments).splitlines()


class Status(Case):
    def test_clean(self):
        """git_status: where one is, and the last commits"""
        text = self.lines("git_status")
        self.assertEqual(text[:2], ["main, clean", "last commits:"])
        self.assertRegex(text[2], r"^ [0-9a-f]{8} \d{4}-\d\d-\d\d A U Thor  first$")

    def test_files(self):
        """git_status: every kind of change in words, relative to working_dir"""
        for name in ("gone", "old", "mode", "both"):
            self.commit(name, f"content of {name}\n" * 5, name)
        (self.root / "gone").unlink()
        self.git("mv", "old", "new")
        (self.root / "mode").chmod(0o755)
        self.write("both", "staged\n")
        self.git("add", "both")
        self.write("both", "and changed\n")
        self.write("dir/untracked", "u\n")
        text = self.says("git_status", {"working_dir": "dir"})
        self.assertIn("\n2 staged:\n ../both (modified)\n ../new (renamed from ../old)\n", text)
        self.assertIn("\n3 not staged:\n ../both (modified)\n ../gone (deleted)\n ../mode (modified, "
                      "mode changed)\n", text)
        self.assertTrue(text.endswith("\n1 untracked:\n untracked"), text)

    def test_names(self):
        """git_status: names are never quoted, and what is invisible is shown"""
        for name in NAMES + ["new\nline", "\u202ebidi", "\x1b[31mred"]:
            self.write(name, "")
        text = self.says("git_status")
        for name in NAMES[:2] + NAMES[3:]:
            self.assertIn(f"\n {name}\n", text + "\n")
        self.assertIn("\n new<U+000A>line\n", text)
        self.assertIn("<U+202E>bidi", text)
        self.assertIn("<U+001B>[31mred", text)

    def test_unborn(self):
        """git_status: a branch without commits"""
        self.git("checkout", "-q", "--orphan", "fresh")
        self.assertTrue(self.says("git_status").startswith("fresh, no commits yet\n"))
        self.assertEqual(self.says("git_log"), "No commits yet.")
        self.assertEqual(self.says("git_show"), "No commits yet.")

    def test_detached(self):
        """git_status: HEAD on no branch"""
        commit = self.out("rev-parse", "HEAD").strip()
        self.git("checkout", "-q", "--detach")
        self.assertTrue(self.says("git_status").startswith(f"detached at {commit[:8]}, clean\n"))

    def test_bare(self):
        """a bare repository is refused in words"""
        bare = self.base / "bare"
        self.git("clone", "-q", "--bare", str(self.root), str(bare))
        result = self.call("git_status", root=bare)
        self.assertIn("It is a bare repository, which has no working tree", result.text)

    def test_conflict(self):
        """git_status: an operation in progress, its conflicts, and the tool that settles them"""
        self.fork("ours\n", "theirs\n", base="base\n")
        self.git("merge", "topic", check=False)
        text = self.says("git_status")
        self.assertIn("merge in progress: git_conflicts continues or aborts it\n", text)
        self.assertIn("\n1 in conflict, see git_conflicts:\n f.txt (both modified)", text)

    def test_around(self):
        """git_status: upstream, remotes, stash entries, other working trees"""
        far = self.base / "far"
        self.git("clone", "-q", "--bare", str(self.root), str(far))
        self.git("remote", "add", "origin", str(far))
        self.git("push", "-q", "-u", "origin", "main")
        self.commit("b", "b\n", "second")
        self.write("a.txt", "stashed\n")
        self.git("stash", "-q")
        self.git("worktree", "add", "-q", "-b", "side", str(self.root / "side"))
        text = self.says("git_status")
        self.assertTrue(text.startswith("main 1 ahead of origin/main\n"), text)
        self.assertIn(f"remotes: origin {far}\n", text)
        self.assertRegex(text, r"stash: 1 entry.*\n(?! [0-9a-f]{8} WIP)")
        self.says("git_stash", {"message": "mine", "untracked": True})
        self.assertRegex(self.says("git_status"), r"\nstash: 2 entries, 1 of them of this working "
                         r"tree\n [0-9a-f]{8} On main: mine\n")
        self.assertIn(f"other working trees:\n {self.root}/side on side\n", text)

    def test_many(self):
        """git_status: a long list collapses by directory, with numbers"""
        for i in range(120):
            self.write(f"node_modules/{i % 3}/f{i}", "")
        self.write("own", "")
        text = self.says("git_status")
        self.assertIn("\n121 untracked:\n", text)
        self.assertIn(" own", text)
        self.assertLess(len(text.splitlines()), 60)
        self.assertRegex(text, r"node_modules/\S*: \d+ untracked files")


class Diff(Case):
    def setUp(self):
        super().setUp()
        self.commit("f.txt", "".join(LINES), "base")

    def test_one(self):
        """git_diff: one file, without a list in front"""
        self.write("f.txt", text_with(at5="x"))
        self.assertEqual(self.lines("git_diff", {"context": 0}),
                         ["--- f.txt", "@@ -6 +6 @@ line 4", "-line 5", "+x"])

    def test_several(self):
        """git_diff: the numbers of each file first"""
        self.write("f.txt", text_with(at5="x"))
        self.write("a.txt", "two\n")
        text = self.lines("git_diff")
        self.assertEqual(text[:4], ["2 files changed, +2 -2", " a.txt +1 -1", " f.txt +1 -1",
                                    "--- a.txt"])
        self.assertEqual(self.lines("git_diff", {"stat": True}), text[:3])

    def test_conflict(self):
        """git_diff: a file in conflict against ours, alone and beside others; one that is gone"""
        self.git("checkout", "-q", "-b", "topic")
        for name, text in (("f.txt", "theirs\n"), ("gone.txt", "theirs\n")):
            self.commit(name, text, "theirs")
        self.git("checkout", "-q", "main")
        self.commit("f.txt", "ours\n", "ours")
        self.git("merge", "topic", check=False)
        conflict = ["--- f.txt (in conflict)", "@@ -1 +1,5 @@", "+<<<<<<< HEAD", " ours", "+=======",
                    "+theirs", "+>>>>>>> topic"]
        self.assertEqual(self.lines("git_diff"), conflict)
        self.assertEqual(self.lines("git_diff", {"paths": ["f.txt"]}), conflict)
        self.write("a.txt", "two\n")
        self.assertEqual(self.lines("git_diff")[:3], ["2 files changed, +5 -1", " a.txt +1 -1",
                                                      " f.txt +4 -0"])
        self.assertEqual(self.lines("git_diff")[-7:], conflict)
        self.assertEqual(self.lines("git_diff", {"stat": True}),
                         ["2 files changed, +5 -1", " a.txt +1 -1", " f.txt +4 -0"])
        self.git("reset", "-q", "--hard")
        self.git("rm", "-q", "f.txt")
        self.git("commit", "-q", "-m", "removed")
        self.git("merge", "topic", check=False)
        self.assertEqual(self.lines("git_diff"), ["--- f.txt (in conflict)"])

    def test_sides(self):
        """git_diff: staged, from, to, ranges"""
        self.write("f.txt", text_with(at5="x"))
        self.assertEqual(self.says("git_diff", {"staged": True}),
                         "No changes staged.\n"
                         "1 file is changed and not staged: see git_diff without staged")
        self.git("add", ".")
        self.assertEqual(self.says("git_diff"),
                         "No changes in the working tree that are not staged.\n"
                         "1 file is staged: see git_diff with staged")
        self.assertIn("+x", self.says("git_diff", {"staged": True}))
        self.assertIn("+x", self.says("git_diff", {"from": "HEAD"}))
        self.assertIn("--- f.txt (new file)", self.says("git_diff", {"from": "HEAD~1", "to": "HEAD"}))
        self.assertIn("--- f.txt (new file)", self.says("git_diff", {"from": "HEAD~1..HEAD"}))

    def test_words(self):
        """git_diff: binary, mode, rename, link, no final newline, CRLF"""
        self.commit("b.bin", b"\0\1", "binary")
        self.commit("run", "r\n", "run")
        self.commit("crlf", b"a\r\nb\r\n", "crlf")
        self.commit("end", "no newline", "end")
        self.write("b.bin", b"\0\2")
        (self.root / "run").chmod(0o755)
        self.write("crlf", b"a\r\nc\r\n")
        self.write("end", "none either")
        (self.root / "a.txt").unlink()
        (self.root / "a.txt").symlink_to("run")
        self.git("mv", "f.txt", "g.txt")
        text = self.says("git_diff", {"from": "HEAD"})
        for words in ("--- b.bin (binary)\n", " b.bin binary\n", "--- run (executable file, was file)",
                      "--- f.txt -> g.txt (renamed)", "+none either\n\\ No newline at end of file",
                      "--- a.txt (new symbolic link)"):
            self.assertIn(words, text)
        self.assertIn("-b\r\n+c\r\n", text.replace("\r\n+c\n", "\r\n+c\r\n"))

    def test_names(self):
        """git_diff: names are never quoted, in the list and above the hunks"""
        for name in NAMES:
            self.write(name, "x\n")
        self.git("add", "-A")
        text = self.says("git_diff", {"staged": True}) + "\n"
        for name in NAMES:
            shown = name.replace("\t", "<U+0009>")
            self.assertIn(f"\n {shown} +1 -0\n", text)
            self.assertIn(f"\n--- {shown} (new file)\n", text)

    def test_headers_cannot_be_forged(self):
        """git_diff: lines of a file never pass for the header of another one"""
        self.write("f.txt", "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-evil\n+evil\n")
        text = self.says("git_diff")
        self.assertEqual([line for line in text.splitlines() if line.startswith("--- ")],
                         ["--- f.txt"])

    def test_hunks(self):
        """git_diff: every hunk has an id that git_add takes"""
        self.write("f.txt", text_with(at5="x", at30="y"))
        heads = [line for line in self.lines("git_diff", {"hunks": True})
                 if line.startswith("@@ ")]
        self.assertEqual(len(heads), 2)
        self.says("git_add", {"hunks": [heads[1].split()[1]]})
        self.assertIn("+y", self.out("diff", "--cached"))
        self.assertNotIn("+x", self.out("diff", "--cached"))
        left = [line for line in self.lines("git_diff", {"hunks": True}) if line.startswith("@@ ")]
        self.assertEqual([line.split()[1] for line in left], [heads[0].split()[1]])

    def test_refused(self):
        """git_diff: arguments that cannot both hold"""
        for arguments, words in (
                ({"to": "HEAD"}, "to: without from"),
                ({"from": "HEAD..HEAD", "to": "HEAD"}, "from is a range"),
                ({"from": "HEAD..HEAD", "staged": True}, "one revision"),
                ({"from": "HEAD", "to": "HEAD", "staged": True}, "one revision"),
                ({"from": "HEAD", "hunks": True}, "hunks: only changes"),
                ({"stat": True, "hunks": True}, "exclude each other"),
                ({"stat": True, "context": 3}, "no lines are shown"),
                ({"context": -1}, "context "), ({"context": 1001}, "context "),
                ({"from": "--output=x"}, "from must not begin"),
                ({"paths": ["/etc/passwd"]}, "")):
            kind = "SandboxViolation" if "paths" in arguments else "BadArgs"
            self.fails(kind, words, "git_diff", arguments)
        self.says("git_diff", {"context": 1000})
        self.fails("ExecutionFailed", "git_log", "git_diff", {"from": "nope"})


class Log(Case):
    def setUp(self):
        super().setUp()
        self.commit("b", "needle\n", "second\n\nThe body of it.", GIT_AUTHOR_NAME="Lee [bot]")
        self.git("tag", "v1.0")
        self.commit("b", "other\n", "third")
        self.git("checkout", "-q", "-b", "side", "HEAD~1")
        self.commit("c", "c\n", "aside")
        self.git("checkout", "-q", "main")

    def subjects(self, **arguments):
        return [line.split("  ", 1)[1].split(" (")[0] for line in self.lines("git_log", arguments)
                if "  " in line]

    def test_lines(self):
        """git_log: one line a commit, with what names it"""
        text = self.lines("git_log")
        self.assertRegex(text[0], r"^[0-9a-f]{8} \d{4}-\d\d-\d\d A U Thor  third \(HEAD -> main\)$")
        self.assertRegex(text[1], r"Lee \[bot\]  second \(tag: v1.0\)$")

    def test_filters(self):
        """git_log: every filter"""
        for arguments, subjects in (
                ({"range": "main..side"}, ["aside"]), ({"range": "side"}, ["aside", "second", "first"]),
                ({"range": "main...side"}, ["aside", "third"]),
                ({"paths": ["b"]}, ["third", "second"]), ({"paths": ["c"]}, []),
                ({"author": "Lee [bot]"}, ["second"]), ({"author": "Lee ."}, []),
                ({"grep": "body|third"}, ["third", "second"]),
                ({"changed": "needle"}, ["third", "second"]),
                ({"changed": "^need.e$"}, []),
                ({"changed": "^need.e$", "regex": True}, ["third", "second"]),
                ({"since": "v1.0"}, ["third"]), ({"until": "v1.0"}, ["second", "first"]),
                ({"since": "2099-01-01T00:00"}, []), ({"max_count": 1}, ["third"]),
                ({"paths": ["b"], "follow": True}, ["third", "second"])):
            self.assertEqual(self.subjects(**arguments), subjects, arguments)
        self.git("update-ref", "refs/remotes/origin/far", self.out("commit-tree", "main^{tree}",
                                                                     "-m", "far").strip())
        for arguments, subjects in (
                ({"range": "main ^side"}, ["third"]), ({"range": "side main ^v1.0"}, ["aside", "third"]),
                ({"range": "v1.0..side v1.0..main"}, ["aside", "third"]),
                ({"range": "main^{/third that is not}  side ^main"}, None),
                ({"range": "main@{2 days ago}"}, ["third", "second", "first"]),
                ({"range": ":/second"}, ["second", "first"]),
                ({"all": True}, ["aside", "far", "first", "second", "third"])):
            if subjects:
                self.assertEqual(sorted(self.subjects(**arguments)), sorted(subjects), arguments)
            else:
                self.fails("ExecutionFailed", "third that is not", "git_log", arguments)
        self.assertEqual(self.says("git_log", {"paths": ["nothing"]}),
                         "No commits match.\nThere is no 'nothing' in HEAD or the working tree")

    def test_stat_and_patch(self):
        """git_log: whole message, changed files or patch"""
        text = self.says("git_log", {"stat": True, "range": "v1.0", "max_count": 1})
        self.assertIn("Lee [bot] <author@example.com> (tag: v1.0)\n    second\n\n    The body of it.\n"
                      " b +1 -0", text)
        text = self.says("git_log", {"patch": True, "range": "v1.0..main"})
        self.assertIn("    third\n--- b\n@@ -1 +1 @@\n-needle\n+other", text)

    def test_headers_cannot_be_forged(self):
        """git_log: neither a message nor a file can pass for a commit"""
        self.commit("b", "\0abc\n", "binary")
        self.commit("d", "commit 1\nAuthor: x\n", "x\n\ndiff --git a/x b/x\n+++ b/x\n@@ -1 +1 @@\n-y")
        text = self.says("git_log", {"patch": True, "max_count": 2})
        self.assertEqual(sum(line.startswith("--- ") for line in text.splitlines()), 2)
        self.assertIn("\n    diff --git a/x b/x\n", text)

    def test_refused(self):
        """git_log: what cannot hold together, dates git would misread, revisions that are none"""
        for arguments, words in (
                ({"regex": True}, "regex: it is about changed"),
                ({"stat": True, "patch": True}, "exclude each other"),
                ({"follow": True}, "exactly one path"),
                ({"follow": True, "paths": ["a", "b"]}, "exactly one path"),
                ({"since": "gestern"}, "names no commit"), ({"until": "v9.9"}, "names no commit"),
                ({"since": "--all"}, "names no commit"), ({"range": "-1"}, "must not begin"),
                ({"max_count": 0}, "max_count "), ({"max_count": "x"}, "an integer"),
                ({"range": "^main"}, "left out"), ({"range": "main ^a..b"}, "'..'"),
                ({"range": "main -O"}, "must not begin"), ({"range": " "}, "left out"),
                ({"range": "main", "all": True}, "exclude each other"),
                ({"changed": ""}, "changed"), ({"author": ""}, "author")):
            self.fails("BadArgs", words, "git_log", arguments)
        self.assertEqual(self.subjects(max_count=10000), ["third", "second", "first"])
        text = self.says("git_log", {"max_count": 10001})
        self.assertEqual(text.splitlines()[-1], "max_count is at most 10000")
        self.assertIn("third", text)
        self.assertIn("1 more", self.says("git_log", {"max_count": "2"}))
        self.assertEqual(self.subjects(paths="b"), ["third", "second"])
        self.fails("ExecutionFailed", "git_log the commits", "git_log", {"range": "nope"})
        self.fails("ExecutionFailed", "Correct the expression", "git_log", {"grep": "("})


class Show(Case):
    def setUp(self):
        super().setUp()
        self.commit("dir/f.txt", "1\n2\n3\nlast", "second\n\nWhy.")

    def test_commit(self):
        """git_show: the message whole, then the change"""
        text = self.says("git_show")
        self.assertIn("A U Thor <author@example.com> (HEAD -> main)\n\nsecond\n\nWhy.\n\n"
                      "--- dir/f.txt (new file)\n@@", text)
        self.assertTrue(self.says("git_show", {"stat": True}).endswith(
            "\n1 file changed, +4 -0\n dir/f.txt +4 -0"))

    def test_tag(self):
        """git_show: a tag's own text, then its commit"""
        self.git("tag", "-a", "v2", "-m", "Release two", "HEAD~1")
        text = self.says("git_show", {"rev": "v2"})
        self.assertRegex(text, r"^tag v2 \d{4}-\d\d-\d\d A U Thor <author@example.com>\n\n"
                               r"Release two\n\n[0-9a-f]{40} .*\n\nfirst\n")

    def test_merge(self):
        """git_show: a merge says against what"""
        self.git("checkout", "-q", "-b", "side", "HEAD~1")
        self.commit("side", "s\n", "aside")
        self.git("merge", "-q", "--no-edit", "main")
        self.assertIn("; changes against the first parent:\n--- dir/f.txt (new file)",
                      self.says("git_show"))

    def test_paths(self):
        """git_show: files and directories at a revision, paths from working_dir"""
        self.write("dir/f.txt", "changed\n")
        here = {"working_dir": "dir"}
        whole = "1\n2\n3\nlast\n\\ No newline at end of file"
        self.assertEqual(self.says("git_show", {"path": "dir/f.txt"}), whole)
        self.assertEqual(self.says("git_show", {"path": "f.txt"} | here), whole)
        self.assertEqual(self.says("git_show", {"path": "../a.txt"} | here), "one")
        self.assertEqual(self.says("git_show", {"path": "../a.txt", "rev": "HEAD~1"} | here), "one")
        self.assertEqual(self.says("git_show", {"path": "."}), "a.txt 4\ndir/")
        self.assertEqual(self.says("git_show", {"path": ".."} | here), "a.txt 4\ndir/")
        self.assertEqual(self.says("git_show", {"path": "dir/f.txt", "lines": "2,3"}), "2\t2\n3\t3")
        self.assertEqual(self.says("git_show", {"path": "dir/f.txt", "lines": "3,"}),
                         "3\t3\n4\tlast\n\\ No newline at end of file")

    def test_contents(self):
        """git_show: binary and empty files in words"""
        self.commit("b", b"\0\1", "b")
        self.commit("e", "", "e")
        self.assertEqual(self.says("git_show", {"path": "b"}), "Binary file, 2 bytes.")
        self.assertEqual(self.says("git_show", {"path": "e"}), "Empty file.")

    def test_refused(self):
        """git_show: what is not there, and arguments that cannot both hold"""
        for arguments, words in (
                ({"path": "nope"}, "no 'nope' in HEAD"),
                ({"lines": "1,2"}, "no path is given"),
                ({"path": "a.txt", "stat": True}, "stat is of a commit"),
                ({"path": "dir", "lines": "1"}, "no file"), ({"path": "a.txt", "lines": "0"}, "lines"),
                ({"path": "a.txt", "lines": "3,2"}, "lines"),
                ({"path": "a.txt", "lines": "1,2,3"}, "lines"),
                ({"path": "a.txt", "lines": "2,3"}, "has only 1"),
                ({"rev": "-p"}, "must not begin"), ({"rev": "HEAD..HEAD"}, "")):
            self.fails("BadArgs", words, "git_show", arguments)
        self.fails("ExecutionFailed", "git_tag the tags", "git_show", {"rev": "nope"})
        self.fails("ExecutionFailed", "names no branch, tag or commit", "git_show", {"path": "a.txt", "rev": "nope"})
        self.fails("SandboxViolation", "working tree", "git_show", {"path": "../x"})
        self.fails("SandboxViolation", "..", "git_show", {"path": "dir/../a.txt"})


class Search(Case):
    def setUp(self):
        super().setUp()
        self.commit("dir/f.txt", "Alpha\nbeta (x)\ngamma\nalphabet\n", "second")

    def test_grep(self):
        """git_grep: by file, with the numbers of the lines"""
        for arguments, text in (
                ({"pattern": "alpha"}, "dir/f.txt\n4: alphabet"),
                ({"pattern": "alpha", "ignore_case": True}, "dir/f.txt\n1: Alpha\n4: alphabet"),
                ({"pattern": "alpha", "ignore_case": True, "word": True}, "dir/f.txt\n1: Alpha"),
                ({"pattern": "(x)"}, "dir/f.txt\n2: beta (x)"),
                ({"pattern": "^g.*a$", "regex": True}, "dir/f.txt\n3: gamma"),
                ({"pattern": "gamma", "context": 1},
                 "dir/f.txt\n2- beta (x)\n3: gamma\n4- alphabet"),
                ({"pattern": "a", "files_only": True}, "dir/f.txt"),
                ({"pattern": "one", "working_dir": "dir"}, "../a.txt\n1: one"),
                ({"pattern": "one", "working_dir": "dir", "paths": ["."]},
                 "No matches in tracked files."),
                ({"pattern": "alpha", "rev": "HEAD~1"}, "No matches.")):
            self.assertEqual(self.says("git_grep", arguments), text, arguments)

    def test_plain(self):
        """a plain pattern that finds nothing and looks like an expression says what it is"""
        for pattern in ("beta|gamma", "g.*a", "beta \\(x\\)", "[abc]lpha"):
            self.assertIn("\npattern is plain text; regex: true makes it an expression",
                          self.says("git_grep", {"pattern": pattern}))
            self.assertIn("\nchanged is plain text; regex: true makes it an expression",
                          self.says("git_log", {"changed": pattern}))
        for pattern, regex in (("nowhere", False), ("(y)", False), ("n.o", False),
                               ("nowhere|[q]", True)):
            self.assertNotIn("plain", self.says("git_grep", {"pattern": pattern, "regex": regex}))
            self.assertNotIn("plain", self.says("git_log", {"changed": pattern, "regex": regex}))

    def test_grep_refused(self):
        """git_grep: patterns and revisions that are none"""
        for kind, arguments, words in (
                ("BadArgs", {}, "pattern is required"), ("BadArgs", {"pattern": ""}, "pattern"),
                ("BadArgs", {"pattern": "a", "files_only": True, "context": 1}, "context"),
                ("BadArgs", {"pattern": "a", "context": 101}, "context "),
                ("BadArgs", {"pattern": "a", "max_count": 0}, "max_count "),
                ("BadArgs", {"pattern": "a", "rev": "-O"}, "must not begin"),
                ("ExecutionFailed", {"pattern": "[", "regex": True}, "Correct the expression"),
                ("ExecutionFailed", {"pattern": "a", "rev": "nope"}, "git_log the commits")):
            self.fails(kind, words, "git_grep", arguments)

    def test_pattern_is_no_option(self):
        """git_grep: a pattern that looks like an option is a pattern"""
        self.commit("o", "-O--open\n", "o")
        self.assertEqual(self.says("git_grep", {"pattern": "-O"}), "o\n1: -O--open")

    def test_blame(self):
        """git_blame: one header a commit, with its subject once"""
        self.commit("dir/f.txt", "Alpha\nnew\ngamma\nalphabet\n", "third")
        self.write("dir/f.txt", "Alpha\nnew\ngamma\nalphabet\nmine\n")
        text = self.lines("git_blame", {"path": "dir/f.txt"})
        self.assertRegex(text[0], r"^[0-9a-f]{8} \d{4}-\d\d-\d\d A U Thor  second$")
        self.assertEqual(text[1], "1\tAlpha")
        self.assertTrue(text[2].endswith("  third"), text)
        self.assertEqual(text[4], text[0].partition("  ")[0])
        self.assertEqual(text[-2:], ["not committed", "5\tmine"])
        self.assertEqual(self.lines("git_blame", {"path": "f.txt", "working_dir": "dir",
                                                  "lines": "2,2", "rev": "HEAD~1"})[1:],
                         ["2\tbeta (x)"])
        self.assertEqual(self.lines("git_blame", {"path": "dir/f.txt", "lines": "1-2"}), text[:4])

    def test_blame_refused(self):
        """git_blame: what is not there"""
        for kind, arguments, words in (
                ("BadArgs", {}, "path is required"), ("BadArgs", {"path": "a.txt", "lines": "x"}, "lines"),
                ("BadArgs", {"path": "nope"}, "git_show"),
                ("ExecutionFailed", {"path": "a.txt", "lines": "2,3"}, "Give lines that the file has"),
                ("SandboxViolation", {"path": "/etc/passwd"}, "")):
            self.fails(kind, words, "git_blame", arguments)


class Partial(Case):
    def test_missing_content(self):
        """a partial clone and a shallow one: what is missing is said, nothing is downloaded"""
        self.commit("b", "b\n", "second")
        self.git("config", "uploadpack.allowFilter", "true")
        clone = self.base / "clone"
        url = f"file://{self.root}"
        subprocess.run(["git", "clone", "-q", "--no-checkout", "--filter=blob:none", url, str(clone)],
                       env=self.env, check=True, capture_output=True)
        self.assertIn("second", self.call("git_log", root=clone).text)
        self.assertEqual(self.call("git_show", {"path": "."}, root=clone).text, "a.txt\nb")
        for tool, arguments in (("git_show", {"path": "b"}), ("git_show", {}),
                                ("git_grep", {"pattern": "b", "rev": "HEAD"})):
            result = self.call(tool, arguments, root=clone)
            self.assertTrue(result.failed, result)
        shallow = self.base / "shallow"
        subprocess.run(["git", "clone", "-q", "--depth=1", url, str(shallow)], env=self.env,
                       check=True, capture_output=True)
        lines = self.call("git_log", root=shallow).text.splitlines()
        self.assertEqual(lines[1:], ["-- shallow clone: older commits are not here"])


harness.main()
