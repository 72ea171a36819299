#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing an agent writes leads out of the root, becomes an option, or reaches the terminal."""
import os
import subprocess

import harness


class WorkingDir(harness.Case):
    def setUp(self):
        super().setUp()
        self.repo = self.root / "repo"
        self.init(self.repo)
        (self.root / "plain").mkdir()

    def test_missing(self):
        """T-GIT-ERR-01 a working_dir that is not there is named"""
        for path in ("nowhere", "repo/nowhere", str(self.root / "nowhere")):
            self.refused("ExecutionFailed", f"No such directory: {path}", "git_status",
                         {"working_dir": path})
        result = self.call("git_status", {"working_dir": "repo/a.txt"})
        self.assertTrue(result.failed)
        self.ok("git_status", {"working_dir": "repo"})

    def test_no_repository(self):
        """T-GIT-ERR-02 a working_dir in no repository is named"""
        for path in ("plain", str(self.root / "plain")):
            result = self.refused("ExecutionFailed", f"Not a git repository: {path}", "git_status",
                                  {"working_dir": path})
            self.assertEqual(result.error["code"], 7000)
        result = self.call("git_status")
        self.assertEqual(result.kind, "ExecutionFailed")
        self.assertIn("Not a git repository", result.text)

    def test_outside(self):
        """T-GIT-SEC-03 a working_dir outside the root is refused, and nothing is said about it"""
        outside = self.base / "outside"
        self.init(outside)
        (self.root / "link").symlink_to(outside)
        (self.root / "up").symlink_to("..")
        for path in (str(outside), "/", "/etc", "..", "../outside", "repo/../../outside",
                     "repo/..", "link", "up", "up/outside", str(self.home)):
            for tool in ("git_status", "git_log", "git_diff"):
                self.refused("SandboxViolation", f"Path outside sandbox: {path}", tool,
                             {"working_dir": path})
        for path in ("repo", str(self.repo), "repo/."):
            self.ok("git_status", {"working_dir": path})

    def test_top_above_the_root(self):
        """a repository whose top is above the root is refused without a word of it"""
        self.init(self.base)
        self.write("secret-name.txt", "x\n", self.base)
        result = self.call("git_status", {"working_dir": "plain"})
        self.assertTrue(result.failed)
        self.assertEqual(result.kind, "SandboxViolation")
        self.assertNotIn("secret-name", result.text)

    def test_git_directory_outside(self):
        """a git directory outside the root is refused"""
        outside = self.base / "outside"
        self.init(outside)
        self.write("plain/.git", f"gitdir: {outside}/.git\n")
        self.assertEqual(self.call("git_log", {"working_dir": "plain"}).kind, "SandboxViolation")

    def test_bad_type(self):
        """a working_dir of another type is refused by name"""
        self.refused("BadArgs", "Invalid arguments: 'working_dir' must be a string", "git_status",
                     {"working_dir": 7})


class Paths(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.outside = self.base / "outside"
        self.write("secret.txt", "secret\n", self.outside)
        (self.root / "dir").mkdir()

    def assert_outside(self, path):
        """Every tool that takes a path refuses this one, before anyone is asked."""
        message = f"Path outside sandbox: {path}"
        for approval in ("allow", "deny"):
            self.refused("SandboxViolation", message, "git_add", {"paths": [path]},
                         approval=approval)
        self.refused("SandboxViolation", message, "git_add", {"paths": ["a.txt", path]})
        self.refused("SandboxViolation", message, "git_diff", {"paths": [path]})
        self.refused("SandboxViolation", message, "git_log", {"path": path})

    def test_traversal(self):
        """T-GIT-SEC-02 a path with '..' is refused, a harmless one too"""
        for path in ("..", "../outside/secret.txt", "dir/../../outside/secret.txt", "dir/../a.txt",
                     "../root/a.txt"):
            self.assert_outside(path)
        self.ok("git_diff", {"paths": ["a.txt", "dir", "./a.txt"]})
        self.write("..a", "x\n")
        self.write("dir/b..", "x\n")
        self.ok("git_add", {"paths": ["..a", "dir/b.."]})

    def test_absolute(self):
        """T-GIT-SEC-02 an absolute path outside the root is refused, one inside is taken"""
        for path in ("/etc/passwd", str(self.outside / "secret.txt"), str(self.home)):
            self.assert_outside(path)
        self.write("a.txt", "two\n")
        self.assertEqual(self.ok("git_diff", {"paths": [str(self.root / "a.txt")]}).text,
                         self.out("diff", "--", "a.txt"))

    def test_links(self):
        """T-GIT-SEC-05 a path through a link that leads outside is refused"""
        (self.root / "away").symlink_to(self.outside)
        (self.root / "relative").symlink_to("../outside")
        (self.root / "dir/again").symlink_to("../away")
        for path in ("away/secret.txt", "relative/secret.txt", "dir/again/secret.txt"):
            self.assert_outside(path)
        (self.root / "inside").symlink_to("dir")
        self.assertEqual(self.ok("git_status", {"working_dir": "inside"}).text,
                         self.out("status", "--porcelain=1", "-b", cwd=self.root / "dir"))

    def test_output_dir(self):
        """T-GIT-SEC-04 an output_dir outside the root is refused and not made"""
        (self.root / "away").symlink_to(self.outside)
        for path in ("../patches", str(self.base / "patches"), "dir/../patches", "away/patches",
                     "away", "/"):
            self.refused("SandboxViolation", f"Path outside sandbox: {path}", "git_diff",
                         {"from_ref": "HEAD", "to_ref": "HEAD", "output_dir": path})
        self.assertFalse((self.base / "patches").exists())
        self.assertFalse((self.root / "patches").exists())
        self.assertEqual(os.listdir(self.outside), ["secret.txt"])
        self.ok("git_diff", {"from_ref": "HEAD", "to_ref": "HEAD", "output_dir": "patches"})

    def test_magic(self):
        """a path that is pathspec magic and names no file is refused"""
        for path in (":/", ":(top)a.txt", ":!a.txt", ":^a.txt"):
            result = self.call("git_add", {"paths": [path]}, approval="deny")
            self.assertEqual(result.kind, "BadArgs", path)
            for options in ((), ("--toolset", "workflow")):
                tool = "git_log" if options else "git_blame"
                self.refused("BadArgs", "path must not begin with ':' (pathspec magic)", tool, {"path": path}, *options)

    def test_nul(self):
        """a NUL in a path is refused by name"""
        result = self.call("git_add", {"paths": ["a.txt\0.png"]})
        self.assertEqual(result.kind, "BadArgs")
        self.assertIn("paths", result.text)


class Refs(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()

    def test_option_like(self):
        """T-GIT-SEC-10 a ref like --exec=malicious is refused and runs nothing"""
        for ref in ("--exec=malicious", "--output=stolen", "--ext-diff", "-p", "--no-index", "-",
                    "--upload-pack=touch stolen"):
            result = self.call("git_diff", {"from_ref": ref})
            self.assertEqual(result.kind, "BadArgs", ref)
            self.assertIn("from_ref", result.text)
            result = self.call("git_diff", {"from_ref": "HEAD", "to_ref": ref})
            self.assertEqual(result.kind, "BadArgs", ref)
            self.assertIn("to_ref", result.text)
        self.assertFalse((self.root / "stolen").exists())

    def test_branch_names_with_a_dash(self):
        """T-GIT-SEC-01 a branch name that begins with a dash never becomes an option"""
        self.git("update-ref", "refs/heads/-evil", "HEAD")
        self.assertEqual(self.call("git_diff", {"from_ref": "-evil"}).kind, "BadArgs")
        self.assertEqual(self.ok("git_diff", {"from_ref": "refs/heads/-evil"}).text, "")

    def test_branch_arguments_with_a_dash(self):
        """T-GIT-SEC-01 no tool makes, deletes, renames or checks out a name with a dash first"""
        self.git("update-ref", "refs/heads/-d", "HEAD")
        self.git("update-ref", "refs/heads/--detach", "HEAD")
        before = self.state()
        for name in ("-d", "--detach", "--orphan=x", "-", "-f", "--"):
            for tool, arguments in (
                    ("git_branch", {"create": name}), ("git_branch", {"delete": name}),
                    ("git_branch", {"force_delete": name}),
                    ("git_branch", {"rename": name, "new_name": "x"}),
                    ("git_branch", {"rename": "main", "new_name": name}),
                    ("git_checkout", {"branch": name}), ("git_checkout", {"commit": name}),
                    ("git_checkout", {"create_branch": name})):
                result = self.call(tool, arguments, approval="ask")
                self.assertEqual(result.kind, "BadArgs", (tool, arguments))
                self.assertIn(next(key for key, value in arguments.items() if value == name),
                              result.text)
        self.assertEqual(self.state(), before)

    def test_option_like_commits(self):
        """T-GIT-SEC-10 a commit like --exec=malicious is refused by show and blame"""
        for ref in ("--exec=malicious", "--output=stolen", "--ext-diff", "--contents=/etc/passwd",
                    "-S/etc/passwd", "-", "--textconv"):
            for tool, arguments in (("git_show", {}), ("git_blame", {"path": "a.txt"})):
                result = self.call(tool, arguments | {"commit": ref})
                self.assertEqual(result.kind, "BadArgs", ref)
                self.assertIn("commit", result.text)
        self.write("--contents=b", "x\n")
        self.git("add", "--", "--contents=b")
        self.git("commit", "-q", "-m", "odd")
        self.assertEqual(self.ok("git_blame", {"path": "--contents=b"}).text,
                         self.out("blame", "--", "--contents=b"))
        for tool in ("git_restore", "git_checkout"):
            self.write("--contents=b", "mine\n")
            self.ok(tool, {"paths": ["--contents=b"]})
            self.assertEqual(self.out("status", "--porcelain=1"), "")

    def test_ordinary_refs(self):
        """refs with slashes, Unicode and revision suffixes are taken"""
        self.git("branch", "feature/foo")
        self.git("branch", "gr\u00fc\u00dfe/\u4e2d")
        self.git("tag", "v1.0")
        for ref in ("feature/foo", "gr\u00fc\u00dfe/\u4e2d", "v1.0", "HEAD", "HEAD^0", "HEAD~0",
                    "main@{0}", "refs/heads/main"):
            self.assertEqual(self.ok("git_diff", {"from_ref": ref, "to_ref": ref}).text, "", ref)


class Text(harness.Case):
    def test_terminal_sequences(self):
        """T-GIT-SEC-08 terminal control sequences do not come through"""
        self.init()
        self.write("a.txt", b"\x1b[31mred\x1b[0m\x1b]0;title\x07plain\x9b\r\x08\x07 tab\tend\n")
        text = self.ok("git_diff").text
        self.assertIn("+redplain", text)
        self.assertIn("tab\tend\n", text)
        self.assertFalse([c for c in text if (ord(c) < 32 and c not in "\t\n") or
                          0x7f <= ord(c) < 0xa0], text)
        self.git("commit", "-q", "--allow-empty", "--cleanup=verbatim", "-m",
                 "say \x1b[2Jgone\x1b]52;c;AAAA\x07 done")
        self.assertIn("say gone done", self.ok("git_log").text)

    def test_direction_marks(self):
        """T-GIT-SEC-08 characters that hide or turn text are made visible"""
        self.init()
        self.write("a.txt", "if (admin\u202e\u2066)\u200b\n")
        text = self.ok("git_diff").text
        self.assertIn("+if (admin<U+202E><U+2066>)<U+200B>\n", text)

    def test_broken_utf8(self):
        """bytes that are not UTF-8 are replaced"""
        self.init()
        self.write("a.txt", b"caf\xe9 \xff\xc3\xa9\n")
        self.assertIn("+caf\ufffd \ufffd\u00e9\n", self.ok("git_diff").text)

    def test_line_endings(self):
        """a CR before a newline stays"""
        self.init()
        self.write("a.txt", b"one\r\ntwo\r\n")
        self.assertIn("+one\r\n+two\r\n", self.ok("git_diff").text)


class Repositories(harness.Case):
    def test_shallow_clone(self):
        """T-GIT-EDGE-18 every tool works in a shallow clone"""
        origin = self.base / "origin"
        self.init(origin)
        self.commit("a.txt", "two\n", "second", origin)
        self.commit("a.txt", "three\n", "third", origin)
        shallow = self.root / "shallow"
        subprocess.run(["git", "clone", "-q", "--depth=1", f"file://{origin}", str(shallow)],
                       env=self.env, check=True, timeout=harness.WATCHDOG_SECONDS)
        here = {"working_dir": "shallow"}
        self.assertEqual(self.ok("git_log", here).text, self.out("log", cwd=shallow))
        self.assertEqual(self.ok("git_log", here | {"oneline": True}).text.count("\n"), 1)
        self.assertEqual(self.ok("git_status", here).text,
                         self.out("status", "--porcelain=1", "-b", cwd=shallow))
        self.assertTrue(self.call("git_diff", here | {"from_ref": "HEAD~1"}).failed)
        self.write("a.txt", "four\n", shallow)
        self.assertEqual(self.ok("git_diff", here).text, self.out("diff", cwd=shallow))
        self.ok("git_add", here | {"all": True})
        self.ok("git_commit", here | {"type": "feat", "message": "four"})
        self.assertEqual(self.out("log", "--format=%s", cwd=shallow), "feat: four\nthird\n")

    def test_shallow_clone_writers(self):
        """T-GIT-EDGE-18 branches, checkouts, stashes and restores in a shallow clone"""
        origin = self.base / "origin"
        self.init(origin)
        self.commit("a.txt", "two\n", "second", origin)
        self.commit("a.txt", "three\n", "third", origin)
        shallow = self.root / "shallow"
        subprocess.run(["git", "clone", "-q", "--depth=2", f"file://{origin}", str(shallow)],
                       env=self.env, check=True, timeout=harness.WATCHDOG_SECONDS)
        here = {"working_dir": "shallow"}
        self.assertEqual(self.ok("git_branch", here | {"list_all": True}).text,
                         self.out("branch", "-va", cwd=shallow))
        self.ok("git_checkout", here | {"create_branch": "topic"})
        self.write("a.txt", "mine\n", shallow)
        self.ok("git_stash", here)
        self.ok("git_checkout", here | {"commit": "HEAD~1"})
        self.assertEqual((shallow / "a.txt").read_text(encoding="utf-8"), "two\n")
        self.assertTrue(self.call("git_checkout", here | {"commit": "HEAD~1"}).failed)
        self.ok("git_checkout", here | {"branch": "topic"})
        self.ok("git_stash", here | {"action": "pop"})
        self.assertEqual((shallow / "a.txt").read_text(encoding="utf-8"), "mine\n")
        self.ok("git_restore", here | {"paths": ["a.txt"]})
        self.ok("git_checkout", here | {"branch": "main"})
        self.ok("git_branch", here | {"delete": "topic"})
        self.assertEqual(self.out("status", "--porcelain=1", "-b", cwd=shallow),
                         "## main...origin/main\n")

    def test_submodule_writers(self):
        """T-GIT-EDGE-20 a submodule's files belong to it, for every tool that takes paths"""
        source = self.base / "source"
        self.init(source)
        self.init()
        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
                 str(source), "sub")
        self.git("commit", "-q", "-m", "submodule")
        sub = self.root / "sub"
        self.write("a.txt", "inside\n", sub)
        for tool, arguments, words in (
                ("git_restore", {"paths": ["sub/a.txt"]}, ("restore", "--", "sub/a.txt")),
                ("git_checkout", {"paths": ["sub/a.txt"]}, ("checkout", "--", "sub/a.txt")),
                ("git_blame", {"path": "sub/a.txt"}, ("blame", "--", "sub/a.txt")),
                ("git_blame", {"path": "sub"}, ("blame", "--", "sub"))):
            result = self.call(tool, arguments)
            self.assertEqual(result.kind, "ExecutionFailed", result)
            self.assertEqual(result.text, self.git(*words, check=False).stderr.decode().strip())
        self.assertEqual((sub / "a.txt").read_text(encoding="utf-8"), "inside\n")
        here = {"working_dir": "sub"}
        self.assertEqual(self.ok("git_show", here).text, self.out("show", cwd=sub))
        self.ok("git_stash", here)
        self.assertEqual((sub / "a.txt").read_text(encoding="utf-8"), "one\n")
        self.ok("git_stash", here | {"action": "pop"})
        self.ok("git_restore", here | {"paths": ["a.txt"]})
        self.ok("git_checkout", here | {"create_branch": "topic"})
        self.commit("a.txt", "two\n", "second", sub)

        # The submodule is at another commit now: nothing that is done above goes into it.
        self.ok("git_restore", {"paths": ["sub"]})
        self.ok("git_stash")
        self.ok("git_checkout", {"create_branch": "side"})
        self.ok("git_checkout", {"branch": "main"})
        self.assertEqual(self.out("log", "--format=%s", cwd=sub), "second\nfirst\n")
        self.assertEqual(self.out("symbolic-ref", "HEAD", cwd=sub), "refs/heads/topic\n")

    def test_submodule(self):
        """T-GIT-EDGE-20 paths and working directories of a submodule"""
        source = self.base / "source"
        self.init(source)
        self.init()
        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
                 str(source), "sub")
        self.git("commit", "-q", "-m", "submodule")
        sub = self.root / "sub"
        self.write("a.txt", "inside\n", sub)

        # What is modified inside a submodule is not asked of git, which would run there by its
        # rules: it is said behind git's answer.
        self.assertEqual(self.ok("git_status").text,
                         self.out("status", "--porcelain=1", "-b", "--ignore-submodules=dirty") +
                         "\n\n[stderr]\nairlock: inside submodules: sub (modified content)")
        self.assertEqual(self.ok("git_status", {"working_dir": "sub"}).text,
                         self.out("status", "--porcelain=1", "-b", cwd=sub))
        raw = self.git("add", "--", "sub/a.txt", check=False)
        self.assertNotEqual(raw.returncode, 0)
        result = self.call("git_add", {"paths": ["sub/a.txt"]})
        self.assertTrue(result.failed)
        self.assertEqual(result.kind, "ExecutionFailed")
        self.assertIn("is in submodule 'sub'", result.text)

        self.ok("git_add", {"working_dir": "sub", "paths": ["a.txt"]})
        self.ok("git_commit", {"working_dir": "sub", "type": "feat", "message": "inside"})
        self.assertEqual(self.out("log", "-1", "--format=%s", cwd=sub), "feat: inside\n")
        self.ok("git_add", {"paths": ["sub"]})
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "sub\n")


if __name__ == "__main__":
    harness.main()
