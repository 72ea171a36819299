#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_show and git_blame answer what git answers."""
import subprocess

import harness

LFS = ("version https://git-lfs.github.com/spec/v1\n"
       "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\n"
       "size 12345\n")


class Show(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("b.txt", "b\n", "second\n\nIts body.")

    def assert_same(self, arguments, *words, where=None):
        """The answer is that of `git show` with these words."""
        self.assertEqual(self.ok("git_show", arguments).text,
                         self.out("show", *words, cwd=where))

    def test_commit(self):
        """T-GIT-SHOW-01 show displays a commit, HEAD by default"""
        self.assert_same({})
        self.assertIn("Its body.", self.ok("git_show").text)
        for commit in ("HEAD", "HEAD~1", "HEAD^", "main", self.out("rev-parse", "HEAD").strip(),
                       self.out("rev-parse", "--short", "HEAD~1").strip()):
            self.assert_same({"commit": commit}, commit)

    def test_name_only_wins(self):
        """T-GIT-SHOW-02 name_only takes precedence over stat"""
        self.assertEqual(self.ok("git_show", {"name_only": True, "stat": True}).text,
                         self.out("show", "--name-only") + harness.IGNORED +
                         "stat, since name_only is given")
        self.assert_same({"name_only": True}, "--name-only")
        self.assert_same({"stat": True}, "--stat")
        self.assertNotEqual(self.out("show", "--stat"), self.out("show", "--name-only"))

    def test_format(self):
        """T-GIT-INT-08 show with a custom format"""
        for value in ("%H %s", "%an <%ae>%n%B", "format:%h", "oneline", "raw", ""):
            self.assert_same({"format": value}, f"--format={value}")
        self.assert_same({"format": "%s", "name_only": True, "commit": "HEAD~1"}, "--format=%s",
                         "--name-only", "HEAD~1")
        self.assertEqual(self.call("git_show", {"format": "--output=stolen"}).text,
                         "fatal: invalid --pretty format: --output=stolen")
        self.assertFalse((self.root / "stolen").exists())

    def test_merge(self):
        """T-GIT-EDGE-16 show displays a merge with all its parents"""
        base = self.out("rev-parse", "HEAD~1").strip()
        self.git("checkout", "-q", "-b", "side", base)
        self.commit("a.txt", "one\nside\n", "side")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "one\nmain\n", "main")
        self.git("merge", "-q", "side", check=False)
        self.write("a.txt", "one\nboth\n")
        self.git("commit", "-q", "-a", "-m", "merged")
        text = self.ok("git_show").text
        self.assertIn("\nMerge: ", text)
        self.assertIn("\ndiff --cc a.txt\n", text)
        self.assert_same({})
        self.assert_same({"stat": True}, "--stat")
        self.assert_same({"name_only": True}, "--name-only")
        self.assert_same({"commit": "HEAD^2"}, "HEAD^2")

    def test_other_objects(self):
        """a tag, a tree and a file of a commit are shown as git shows them"""
        self.git("tag", "-a", "-m", "a tag", "v1")
        for name in ("v1", "HEAD^{tree}", "HEAD:a.txt", ":/first"):
            self.assert_same({"commit": name}, name)

    def test_unknown(self):
        """a commit that does not exist is git's error, and not found"""
        for name in ("no-such", "HEAD~7", "0" * 39 + "1", "HEAD:no-such.txt"):
            result = self.call("git_show", {"commit": name})
            self.assertEqual((result.kind, result.error["reason"]),
                             ("ExecutionFailed", "not_found"), result)
            self.assertEqual(result.text,
                             self.git("show", name, "--", check=False).stderr.decode().strip())

    def test_never_a_file(self):
        """a commit argument never names a file or a range"""
        self.write("file", "x\n")
        self.assertEqual(self.call("git_show", {"commit": "file"}).error["reason"], "not_found")
        for name in ("HEAD~1..HEAD", "a...b"):
            result = self.call("git_show", {"commit": name})
            self.assertEqual(result.kind, "BadArgs")
            self.assertIn("commit", result.text)

    def test_empty_repository(self):
        """show in a repository without commits is git's error"""
        empty = self.root / "empty"
        empty.mkdir()
        self.git("init", "-q", cwd=empty)
        result = self.call("git_show", {"working_dir": "empty"})
        self.assertEqual(result.kind, "ExecutionFailed")
        self.assertEqual(result.meta["exit_code"], 128)

    def test_cap(self):
        """the byte cap cuts a large commit and says so"""
        self.commit("big.txt", "a line of it\n" * 1000, "big")
        whole = self.out("show")
        self.assertEqual(self.ok("git_show", {"max_bytes": len(whole)}).text, whole)
        result = self.ok("git_show", {"max_bytes": len(whole) - 1})
        self.assertEqual(len(result.text), len(whole) - 1)
        self.assertTrue(result.text.endswith(harness.MARKER))
        self.assertTrue(result.meta["truncated"])
        self.refused("BadArgs", "max_bytes cannot exceed 5000000", "git_show",
                     {"max_bytes": 5000001})

    def test_needs_no_approval(self):
        """show and blame ask nobody and say what they show"""
        for tool, arguments, summary in (
                ("git_show", {}, "Show commit HEAD"),
                ("git_show", {"commit": "main"}, "Show commit main"),
                ("git_blame", {"path": "a.txt"}, "Blame a.txt"),
                ("git_blame", {"path": "a.txt", "start_line": 1, "end_line": 1},
                 "Blame a.txt lines 1-1")):
            for approval in ("ask", "deny"):
                self.ok(tool, arguments, approval=approval)
            record = self.record()
            self.assertEqual((record["summary"], record["operation"], record["effects"]),
                             (summary, tool[4:], ["reads"]))


class Blame(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("a.txt", "one\ntwo\nthree\n", "second", GIT_AUTHOR_NAME="Somebody Else")
        self.commit("a.txt", "one\ntwo\nthree!\nfour\n", "third")

    def assert_same(self, arguments, *words):
        """The answer is that of `git blame` with these words."""
        self.assertEqual(self.ok("git_blame", arguments).text, self.out("blame", *words))

    def test_lines(self):
        """T-GIT-BLAME-01 blame shows who wrote each line"""
        self.assert_same({"path": "a.txt"}, "a.txt")
        text = self.ok("git_blame", {"path": "a.txt"}).text
        self.assertEqual([("Somebody Else" in line) for line in text.splitlines()],
                         [False, True, False, False])
        self.write("dir/b.txt", "b\n")
        self.git("add", "dir")
        self.git("commit", "-q", "-m", "dir")
        for path in ("dir/b.txt", "./dir/b.txt", str(self.root / "dir/b.txt")):
            self.assert_same({"path": path}, "dir/b.txt")
        self.assertEqual(self.ok("git_blame", {"path": "b.txt", "working_dir": "dir"}).text,
                         self.out("blame", "b.txt", cwd=self.root / "dir"))

    def test_range(self):
        """T-GIT-BLAME-02 blame shows the lines that were asked for"""
        for given, words in (({"start_line": 2, "end_line": 3}, "-L2,3"),
                             ({"start_line": 3}, "-L3,"), ({"end_line": 2}, "-L1,2"),
                             ({"start_line": 1, "end_line": 1}, "-L1,1"),
                             ({"start_line": 4, "end_line": 4}, "-L4,4"),
                             ({"start_line": 4, "end_line": 5}, "-L4,5"),
                             ({"end_line": 9}, "-L1,9")):
            self.assert_same({"path": "a.txt"} | given, words, "a.txt")
        result = self.call("git_blame", {"path": "a.txt", "start_line": 5})
        self.assertEqual(result.text, self.git("blame", "-L5,", "a.txt",
                                               check=False).stderr.decode().strip())

    def test_range_turned_round(self):
        """T-GIT-BLAME-03 blame refuses a start_line behind the end_line"""
        for start, end in ((2, 1), (4, 3)):
            self.refused("BadArgs", "start_line must be <= end_line", "git_blame",
                         {"path": "a.txt", "start_line": start, "end_line": end})
        self.ok("git_blame", {"path": "a.txt", "start_line": 2, "end_line": 2})
        for name in ("start_line", "end_line"):
            result = self.call("git_blame", {"path": "a.txt", name: 0})
            self.assertEqual(result.kind, "BadArgs")
            self.assertIn(name, result.text)

    def test_path(self):
        """blame needs a path that is not blank"""
        self.assertIn("path is required", self.call("git_blame", {}).text)
        for path in ("", " ", "\t\n"):
            self.refused("BadArgs", "path must not be empty", "git_blame", {"path": path})
        for path in ("../root/a.txt", "/etc/passwd", "dir/../a.txt"):
            self.refused("SandboxViolation", f"Path outside sandbox: {path}", "git_blame",
                         {"path": path})

    def test_history(self):
        """T-GIT-INT-07 blame at a commit of the past, of a file that is gone since too"""
        self.assert_same({"path": "a.txt", "commit": "HEAD~1"}, "HEAD~1", "--", "a.txt")
        self.git("rm", "-q", "a.txt")
        self.git("commit", "-q", "-m", "gone")
        self.assert_same({"path": "a.txt", "commit": "HEAD~1", "end_line": 2}, "-L1,2", "HEAD~1",
                         "--", "a.txt")

    def test_not_there(self):
        """a file that is not there at that commit is git's error, and not found"""
        for arguments, words in (({"path": "no.txt"}, ("no.txt",)),
                                 ({"path": "no.txt", "commit": "HEAD"}, ("HEAD", "--", "no.txt")),
                                 ({"path": "a.txt", "commit": "none"}, ("none", "--", "a.txt"))):
            result = self.call("git_blame", arguments)
            self.assertEqual((result.kind, result.error["reason"]),
                             ("ExecutionFailed", "not_found"), result)
            self.assertEqual(result.text,
                             self.git("blame", *words, check=False).stderr.decode().strip())

    def test_crlf(self):
        """T-GIT-EDGE-11 blame of a file with Windows line endings"""
        self.commit("dos.txt", b"one\r\ntwo\r\n", "dos")
        raw = self.git("blame", "dos.txt").stdout
        self.assertIn(b"one\r\n", raw)
        self.assertEqual(self.ok("git_blame", {"path": "dos.txt"}).text, raw.decode())
        self.git("config", "core.autocrlf", "true")
        self.assert_same({"path": "dos.txt"}, "dos.txt")

    def test_not_committed(self):
        """T-GIT-EDGE-12 blame of a file that is only staged, and of changed lines"""
        self.write("new.txt", "new\n")
        result = self.call("git_blame", {"path": "new.txt"})
        self.assertTrue(result.failed)
        self.git("add", "new.txt")
        when = {"GIT_AUTHOR_DATE": "", "GIT_COMMITTER_DATE": ""}
        for path in ("new.txt", "a.txt"):
            self.write("a.txt", "one\ntwo\nchanged\nfour\n")
            text = self.ok("git_blame", {"path": path}).text
            raw = self.out("blame", path, **when)
            self.assertIn("Not Committed Yet", text)
            # Lines that are not committed carry the time of the call.
            self.assertEqual([line.split(")")[1:] for line in text.splitlines()],
                             [line.split(")")[1:] for line in raw.splitlines()])
            self.assertEqual([line.split(" (")[0] for line in text.splitlines()],
                             [line.split(" (")[0] for line in raw.splitlines()])

    def test_large_file_stub(self):
        """T-GIT-EDGE-19 blame of a file in Git LFS shows its pointer, and says why"""
        self.commit("big.bin", LFS, "pointer")
        self.commit(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n", "attributes")
        raw = self.out("blame", "big.bin")
        for name in ("clean", "smudge", "process"):
            self.git("config", f"filter.lfs.{name}", "git-lfs-is-not-here %f")
        self.git("config", "filter.lfs.required", "true")
        body, _, notes = self.ok("git_blame", {"path": "big.bin"}).text.partition(
            "\n\n[stderr]\n")
        self.assertEqual(body.rstrip("\n"), raw.rstrip("\n"))
        self.assertEqual(notes.rstrip("\n"), "airlock: filter not run: lfs")
        self.assertEqual(self.ok("git_blame", {"path": "big.bin", "commit": "HEAD"}).text,
                         self.out("blame", "HEAD", "--", "big.bin"))

    def test_binary(self):
        """blame of a binary file is what git makes of it"""
        self.commit("data.bin", b"\x00\x01\x02\xff\n\x00\n", "data")
        text = self.ok("git_blame", {"path": "data.bin"}).text
        self.assertEqual(len(text.splitlines()), len(self.git("blame", "data.bin")
                                                     .stdout.splitlines()))
        self.assertFalse([c for c in text if ord(c) < 32 and c not in "\t\n"])

    def test_ignored_revisions(self):
        """blame.ignoreRevsFile inside the repository works as in git"""
        third = self.out("rev-parse", "HEAD").strip()
        self.write(".ignore-revs", f"# formatting\n{third}\n")
        before = self.out("blame", "a.txt")
        self.git("config", "blame.ignoreRevsFile", ".ignore-revs")
        self.assertNotEqual(self.out("blame", "a.txt"), before)
        self.assert_same({"path": "a.txt"}, "a.txt")
        self.write("dir/x", "x\n")
        self.assertEqual(self.ok("git_blame", {"path": str(self.root / "a.txt"),
                                               "working_dir": "dir"}).text,
                         self.out("blame", "../a.txt", cwd=self.root / "dir"))

    def test_empty_repository(self):
        """blame in a repository without commits is git's error"""
        empty = self.root / "empty"
        empty.mkdir()
        self.git("init", "-q", cwd=empty)
        self.write("a.txt", "x\n", empty)
        result = self.call("git_blame", {"working_dir": "empty", "path": "a.txt"})
        self.assertEqual((result.kind, result.meta["exit_code"]), ("ExecutionFailed", 128))

    def test_shallow(self):
        """blame and show stop at the edge of a shallow clone"""
        shallow = self.root / "shallow"
        subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{self.root}", str(shallow)],
                       env=self.env, check=True, timeout=harness.WATCHDOG_SECONDS)
        here = {"working_dir": "shallow"}
        text = self.ok("git_blame", here | {"path": "a.txt"}).text
        self.assertTrue(all(line.startswith("^") for line in text.splitlines()), text)
        self.assertEqual(text, self.out("blame", "a.txt", cwd=shallow))
        self.assertEqual(self.ok("git_show", here).text, self.out("show", cwd=shallow))
        self.assertEqual(self.call("git_show", here | {"commit": "HEAD~1"}).error["reason"],
                         "not_found")


if __name__ == "__main__":
    harness.main()
