#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The toolset `readonly`: its one tool, by the acceptance criteria of its requirements."""
import json
import os
import subprocess

import harness

OUT_MAX = 1 << 20
ERR_MAX = 256 << 10

KEYS = ["op", "exit_code", "stdout", "stderr", "duration_s", "timed_out", "cmd",
        "stdout_truncated", "stderr_truncated"]


class Readonly(harness.Case):
    """A repository with one commit, and the tool."""

    def setUp(self):
        super().setUp()
        self.first = self.init()

    def ask(self, op, *options, repo=None, **more):
        """One call of the tool."""
        named = {name: more.pop(name) for name in ("env", "root") if name in more}
        arguments = {"op": op, "repo": str(repo or self.root), **more}
        return self.call("Git", arguments, "--toolset", "readonly", *options, **named)

    def said(self, op, **more):
        """The object of a call that must work; its text is the same object."""
        result = self.ask(op, **more)
        self.assertFalse(result.failed, result)
        value = result.value["structuredContent"]
        self.assertEqual(json.loads(result.text), value)
        self.assertEqual(list(value), KEYS)
        return value

    def no(self, words, op, *options, **more):
        """A call that is refused with these first words."""
        result = self.ask(op, *options, **more)
        self.assertTrue(result.failed, result)
        self.assertTrue(result.text.startswith(words), result)
        # The remedy, where there is one, is a line of its own.
        self.assertEqual(result.text.partition("\n")[0], result.error["message"])
        self.assertNotIn("structuredContent", result.value)
        kind = {"invalid_args": ["BadArgs"], "fs_denied": ["SandboxViolation", "NotGranted"],
                "tool_failed": ["ExecutionFailed"]}[words.split(":")[0]]
        self.assertIn(result.kind, kind, result)
        return result


class Listing(Readonly):
    def tools(self, env=None):
        done = subprocess.run([harness.AIRLOCK, "tools", "--toolset", "readonly", "--json"],
                              cwd=self.root, env=self.env | (env or {}), capture_output=True,
                              check=True, timeout=harness.WATCHDOG_SECONDS)
        return json.loads(done.stdout)

    def test_registered(self):
        """R2-1 the toolset registers Git, and nothing else, with an output schema"""
        tools = self.tools()
        self.assertEqual([tool["name"] for tool in tools], ["Git"])
        self.assertEqual(tools[0]["effects"], ["reads"])
        self.assertEqual(tools[0]["outputSchema"]["required"], KEYS)
        self.assertEqual(tools[0]["inputSchema"]["properties"]["timeout_s"]["maximum"], 120)

    def test_without_git(self):
        """R2-1 without a git the tool is there, and its call fails"""
        env = {"PATH": str(self.home)}
        self.assertEqual([tool["name"] for tool in self.tools(env)], ["Git"])
        for op in ("status", "log", "rev_parse"):
            result = self.no("tool_failed: ", op, env=env)
            self.assertEqual(result.text, "tool_failed: git binary not available")

    def test_not_by_default(self):
        """the tool is offered only by a session that asks for the toolset"""
        done = subprocess.run([harness.AIRLOCK, "call", "Git", "{}"], cwd=self.root, env=self.env,
                              capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 2)

    def test_same_over_mcp(self):
        """a client gets the object too, and a refusal as a failed result"""
        server = harness.Server(self, "--toolset", "readonly")
        arguments = {"op": "log", "repo": str(self.root), "args": ["-n", "1"]}
        value = server.ok("Git", arguments).value["structuredContent"]
        self.assertEqual(value["stdout"], self.out("log", "-n", "1"))
        failed = server.call("Git", arguments | {"op": "push"})
        self.assertTrue(failed.text.startswith("invalid_args: "), failed)


class Ops(Readonly):
    def test_others(self):
        """R2-2 other operations are invalid_args"""
        for op in ("push", "commit", "fetch", "clone", "gc", "config", "", "Log", "log ", "-h",
                   "ls-files", "rev-parse", "status --porcelain", "log\n"):
            self.no("invalid_args: ", op)
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_missing(self):
        """op and repo are required, and nothing else is taken"""
        for arguments in ({}, {"op": "log"}, {"repo": str(self.root)},
                          {"op": "log", "repo": str(self.root), "cwd": "/"}):
            result = self.call("Git", arguments, "--toolset", "readonly")
            self.assertTrue(result.text.startswith("invalid_args: "), result)

    def test_status(self):
        """R2-6 status is porcelain, and empty where nothing changed"""
        value = self.said("status")
        self.assertEqual((value["exit_code"], value["stdout"], value["op"]), (0, "", "status"))
        self.write("new.txt", "new\n")
        self.write("a.txt", "changed\n")
        self.assertEqual(self.said("status")["stdout"], " M a.txt\n?? new.txt\n")
        self.assertEqual(self.said("status", path="new.txt")["stdout"], "?? new.txt\n")

    def test_log(self):
        """R2-7 log -n 1 begins with the commit's first line"""
        self.commit("a.txt", "two\n", "second")
        value = self.said("log", args=["-n", "1"])
        self.assertEqual(value["stdout"], self.out("log", "-n", "1"))
        self.assertIn("second", value["stdout"])
        self.assertNotIn("first", value["stdout"])

    def test_log_flags(self):
        """log takes its five flags"""
        self.commit("b.txt", "b\n", "second", GIT_AUTHOR_NAME="Other Person")
        for args in (["--oneline"], ["--graph"], ["--oneline", "--graph", "-n", "2"],
                     ["--author=Other Person"], ["--since=2 weeks ago"],
                     ["--since=2023-11-14T22:14:00+00:00"], ["-n", "0"], ["-n", "999999999"]):
            self.assertEqual(self.said("log", args=args)["stdout"], self.out("log", *args), args)
        self.assertEqual(self.said("log", args=["--oneline"], ref="HEAD", path="b.txt")["stdout"],
                         self.out("log", "--oneline", "HEAD", "--", "b.txt"))

    def test_diff(self):
        """diff compares what ref and path say"""
        self.commit("a.txt", "two\n", "second")
        self.commit("b.txt", "b\n", "third")
        self.write("a.txt", "three\n")
        for ref, words in ((None, []), ("HEAD~1", ["HEAD~1"]), ("HEAD~2..HEAD", ["HEAD~2..HEAD"]),
                           ("HEAD~2...HEAD", ["HEAD~2...HEAD"])):
            given = {"ref": ref} if ref else {}
            self.assertEqual(self.said("diff", **given)["stdout"], self.out("diff", *words))
        self.assertEqual(self.said("diff", ref="HEAD~2..HEAD", path="b.txt")["stdout"],
                         self.out("diff", "HEAD~2..HEAD", "--", "b.txt"))

    def test_show(self):
        """show wants a ref"""
        self.assertEqual(self.said("show", ref=self.first)["stdout"], self.out("show", self.first))
        blob = self.out("rev-parse", "HEAD:a.txt").strip()
        self.assertEqual(self.said("show", ref=blob)["stdout"], "one\n")
        self.no("invalid_args: ref is required for show", "show")

    def test_branch(self):
        """branch lists all of them and takes no words"""
        self.git("branch", "topic")
        self.assertEqual(self.said("branch")["stdout"], self.out("branch", "-a", "--no-color"))
        self.no("invalid_args: ", "branch", ref="new")
        self.no("invalid_args: ", "branch", args=["-D", "topic"])
        self.no("invalid_args: ", "branch", args=["new"])

    def test_blame(self):
        """blame wants a path"""
        self.assertEqual(self.said("blame", path="a.txt")["stdout"], self.out("blame", "a.txt"))
        self.assertEqual(self.said("blame", path="a.txt", ref="HEAD")["stdout"],
                         self.out("blame", "HEAD", "--", "a.txt"))
        self.no("invalid_args: path is required for blame", "blame")

    def test_ls_files(self):
        """ls_files lists all, or what a path names"""
        self.commit("d/b.txt", "b\n", "second")
        self.assertEqual(self.said("ls_files")["stdout"], "a.txt\nd/b.txt\n")
        self.assertEqual(self.said("ls_files", path="d")["stdout"], "d/b.txt\n")
        self.no("invalid_args: ", "ls_files", ref="HEAD")

    def test_rev_parse(self):
        """rev_parse abbreviates HEAD, or the ref"""
        self.assertEqual(self.said("rev_parse")["stdout"], self.out("rev-parse", "--short", "HEAD"))
        self.assertEqual(self.said("rev_parse", ref="main")["stdout"],
                         self.out("rev-parse", "--short", "main"))
        self.no("invalid_args: ", "rev_parse", path="a.txt")
        self.no("invalid_args: ", "rev_parse", ref="HEAD..HEAD")

    def test_command_line(self):
        """cmd shows what ran, and prints the same when it is run"""
        self.commit("a.txt", "two\n", "second")
        value = self.said("log", args=["--oneline", "-n", "5"])
        self.assertEqual(value["cmd"][1:],
                         ["-C", str(self.root), "log", "--oneline", "-n", "5"])
        for op, more in (("status", {}), ("log", {"ref": "HEAD~1"}), ("diff", {"ref": "HEAD~1"}),
                         ("show", {"ref": "HEAD"}), ("branch", {}), ("blame", {"path": "a.txt"}),
                         ("ls_files", {"path": "a.txt"}), ("rev_parse", {})):
            value = self.said(op, **more)
            self.assertTrue(os.path.isabs(value["cmd"][0]))
            self.assertEqual(value["cmd"][1:3], ["-C", str(self.root)])
            again = subprocess.run(value["cmd"], cwd="/", env=self.env, capture_output=True,
                                   check=True, timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(again.stdout.decode(), value["stdout"], op)

    def test_git_that_fails(self):
        """a git that fails is a result with its exit code"""
        value = self.said("log", ref="missing")
        self.assertEqual(value["exit_code"], 128)
        self.assertIn("missing", value["stderr"])
        self.assertEqual(self.said("blame", path="missing.txt")["exit_code"], 128)


class Words(Readonly):
    def test_ref(self):
        """R2-3 a ref with shell metacharacters, spaces or newlines is refused"""
        for ref in ("a;b", "a b", "a\nb", "a|b", "a&b", "$(id)", "`id`", "a>b", "a'b", 'a"b', "a*",
                    "a\\b", "HEAD:a.txt", "HEAD@{1}", "--all", "-p", "--output=x", "", "\u00e9",
                    "a\tb", "a\x7f"):
            for op in ("log", "diff", "show", "rev_parse", "blame"):
                path = {"path": "a.txt"} if op == "blame" else {}
                self.no("invalid_args: ref", op, ref=ref, **path)

    def test_ref_pattern(self):
        """the schema has R2's pattern of a ref"""
        done = subprocess.run([harness.AIRLOCK, "tools", "--json", "--toolset", "readonly"],
                              cwd=self.root, env=self.env, capture_output=True, check=True)
        properties = json.loads(done.stdout)[0]["inputSchema"]["properties"]
        self.assertEqual(properties["ref"]["pattern"], "^[A-Za-z0-9_./~^@-]{1,200}$")
        for ref in ("-n1", "--all"):
            self.no("invalid_args: ref", "log", ref=ref)

    def test_ref_length(self):
        """R2-3 a ref has at most 200 characters"""
        for length in (199, 200):
            self.assertEqual(self.said("log", ref="a" * length)["exit_code"], 128)
        self.no("invalid_args: ref", "log", ref="a" * 201)

    def test_ref_that_is_fine(self):
        """refs of every form that the pattern has are taken"""
        self.commit("a.txt", "two\n", "second")
        for ref in ("HEAD", "HEAD~1", "HEAD^", "@", "main", "refs/heads/main", self.first,
                    "HEAD~1..HEAD", "^HEAD"):
            self.assertEqual(self.said("log", ref=ref)["exit_code"], 0, ref)

    def test_path(self):
        """R2-4 a path that is absolute or has '..' is refused"""
        for path in ("/etc/passwd", str(self.root / "a.txt"), "..", "../x", "a/../b", "d/..",
                     "./../a.txt", "", "a\nb", "a\x01b"):
            for op in ("log", "blame", "status", "ls_files", "diff"):
                self.no("invalid_args: ", op, path=path)

    def test_path_magic(self):
        """R2-4 a path is no pathspec with magic"""
        for path in (":(top)a.txt", ":/", ":!a.txt"):
            for op in ("log", "status", "ls_files", "diff"):
                self.no("invalid_args: path", op, path=path)
            self.assertEqual(self.said("blame", path=path)["exit_code"], 128)

    def test_path_by_links(self):
        """R2-4 a path that leads out by a link is refused"""
        outside = self.base / "outside"
        outside.mkdir()
        (outside / "secret").write_text("secret\n", encoding="utf-8")
        (self.root / "out").symlink_to(outside)
        self.no("invalid_args: path leads out", "blame", path="out/secret")
        self.no("invalid_args: path leads out", "log", path="out/secret")

    def test_path_that_is_fine(self):
        """names with dots and patterns are taken"""
        self.commit("a..b", "x\n", "dots")
        self.commit("..c", "x\n", "dots")
        self.assertEqual(self.said("ls_files", path="a..b")["stdout"], "a..b\n")
        self.assertEqual(self.said("ls_files", path="..c")["stdout"], "..c\n")
        self.assertEqual(self.said("ls_files", path="*.txt")["stdout"], "a.txt\n")

    def test_flags(self):
        """R2-5 flags that an operation does not list are refused, --exec-path first"""
        for flag in ("--exec-path=/tmp", "--exec-path", "-c", "--output=x", "--output", "-p",
                     "--all", "--one", "--onelin", "--oneline=x", "--since", "--author", "-n5",
                     "-5", "--max-count=1", "--git-dir=/", "-O/etc/passwd", "--ext-diff",
                     "--textconv", "--no-index", "--", "HEAD", "", "--show-signature",
                     "--format=%H", "-S", "-L1,2:a.txt", "--until=now"):
            self.no("invalid_args: args", "log", args=[flag])
        for op in ("status", "diff", "show", "branch", "blame", "ls_files", "rev_parse"):
            given = {"show": {"ref": "HEAD"}, "blame": {"path": "a.txt"}}.get(op, {})
            for flag in ("--oneline", "--output=x", "-n", "--exec-path=/tmp", "-z"):
                self.no("invalid_args: args", op, args=[flag], **given)
        self.assertFalse((self.root / "x").exists())

    def test_flag_values(self):
        """R2-5 values hold no newline, NUL or shell metacharacter"""
        for value in ("a\nb", "a\x00b", "a;b", "$(id)", "`id`", "a|b", "a&b", "a>b", "<b", "a'b",
                      'a"b', "a*", "a\\b", "(a)", "{a}", "[a]", "a#b", "!a", "a?"):
            self.no("invalid_args: ", "log", args=[f"--author={value}"])
            self.no("invalid_args: ", "log", args=[f"--since={value}"])
        for number in ("x", "", "-1", "1x", "0x1", "1000000000", "1 "):
            self.no("invalid_args: args", "log", args=["-n", number])
        self.no("invalid_args: args", "log", args=["-n"])
        self.no("invalid_args: args", "log", args=["--oneline", "--oneline"])

    def test_timeout(self):
        """timeout_s is 1 to 120"""
        for seconds in (0, -1, 121, 10**9, "5", 1.5):
            self.no("invalid_args: ", "status", timeout_s=seconds)
        for seconds in (1, 2, 119, 120):
            self.said("status", timeout_s=seconds)


class Boundaries(Readonly):
    def grant(self, access, tools='["Git"]', path=None):
        """A configuration with one grant."""
        config = self.base / "config.toml"
        config.write_text(f'[grants.g]\ntools = {tools}\n'
                          f'fs = {{ "{path or self.root}" = "{access}" }}\n', encoding="utf-8")
        return ("--config", str(config), "--grant", "g")

    def test_grant(self):
        """R2-8 without `r` on the repository the call is fs_denied"""
        other = self.base / "other"
        other.mkdir()
        for access in ("r", "rw"):
            result = self.ask("status", *self.grant(access))
            self.assertFalse(result.failed, result)
        self.no("fs_denied: ", "status", *self.grant("r", path=other))
        self.no("fs_denied: ", "log", *self.grant("r", path=self.root / "d"))

    def test_tool_not_granted(self):
        """a grant without the tool does not have it"""
        self.no("fs_denied: ", "status", *self.grant("r", tools='["git_log"]'))

    def test_outside(self):
        """a repository outside the roots is fs_denied, whatever it is"""
        other = self.base / "other"
        self.init(other)
        for repo in (other, "/", "/etc", self.base, self.base / "missing"):
            result = self.no("fs_denied: ", "status", repo=repo)
            self.assertEqual(result.error["message"], f"fs_denied: Path outside sandbox: {repo}")

    def test_repo(self):
        """repo is absolute and contains .git"""
        (self.root / "d").mkdir()
        for repo in (".", "root", "./.git", ""):
            result = self.call("Git", {"op": "status", "repo": repo}, "--toolset", "readonly")
            self.assertTrue(result.text.startswith("invalid_args: repo"), result)
        self.no("invalid_args: repo does not contain .git", "status", repo=self.root / "d")
        self.no("invalid_args: ", "status", repo=self.root / "missing")
        self.no("invalid_args: ", "status", repo=self.root / "a.txt")
        inner = self.root / "inner"
        self.init(inner)
        self.assertEqual(self.said("ls_files", repo=inner)["stdout"], "a.txt\n")

    def test_no_repository(self):
        """a directory in no repository is invalid_args"""
        plain = self.base / "plain"
        plain.mkdir()
        self.no("invalid_args: Not a git repository", "status", repo=plain, root=plain)

    def test_linked_worktree(self):
        """a linked worktree is a repository too"""
        self.git("worktree", "add", "-q", str(self.root / "tree"), "-b", "tree")
        self.assertEqual(self.said("branch", repo=self.root / "tree")["exit_code"], 0)


class Hostile(Readonly):
    """What a repository's configuration would run does not run, for any operation."""

    CALLS = (("status", {}, ("status", "--porcelain")), ("log", {}, ("log",)),
             ("diff", {}, ("diff",)), ("show", {"ref": "HEAD"}, ("show", "HEAD")),
             ("branch", {}, ("branch", "-a", "--no-color")),
             ("blame", {"path": "a.txt", "ref": "HEAD"}, ("blame", "HEAD", "a.txt")),
             ("ls_files", {}, ("ls-files",)), ("rev_parse", {}, ("rev-parse", "--short", "HEAD")))

    def setUp(self):
        super().setUp()
        self.commit("a.txt", "two\n", "second")
        self.write("a.txt", "three\n")
        self.canary = self.base / "canary"
        self.script = self.base / "script"
        self.script.write_text(f"#!/bin/sh\ntouch {self.canary}\ncat \"$1\" 2>/dev/null\n",
                               encoding="utf-8")
        self.script.chmod(0o755)

    def check(self, control, config, attributes=None):
        """Plain git falls for it, and the tool answers as git does without it."""
        clean = {op: self.out(*words) for op, _, words in self.CALLS}
        for name, value in config.items():
            self.git("config", name, value)
        if attributes:
            (self.root / ".git/info").mkdir(exist_ok=True)
            (self.root / ".git/info/attributes").write_text(attributes, encoding="utf-8")
        self.git(*control, check=False)
        self.assertTrue(self.canary.exists(), "the control must fire")
        self.canary.unlink()
        for op, more, _ in self.CALLS:
            self.assertEqual(self.said(op, **more)["stdout"], clean[op], op)
            self.assertFalse(self.canary.exists(), op)

    def test_external_diff(self):
        """diff.external does not run"""
        self.check(("diff",), {"diff.external": str(self.script)})

    def test_driver(self):
        """diff.<driver>.command and textconv do not run"""
        self.check(("diff",), {"diff.evil.command": str(self.script),
                               "diff.evil.textconv": str(self.script)}, "*.txt diff=evil\n")

    def test_fsmonitor(self):
        """core.fsmonitor does not run"""
        self.check(("status",), {"core.fsmonitor": str(self.script)})

    def test_clean_filter(self):
        """a filter does not run"""
        self.check(("diff",), {"filter.evil.clean": str(self.script)}, "*.txt filter=evil\n")

    def test_signatures(self):
        """no program checks signatures"""
        tree = self.out("write-tree").strip()
        text = (f"tree {tree}\nauthor A <a@b> 0 +0000\ncommitter A <a@b> 0 +0000\n"
                "gpgsig -----BEGIN PGP SIGNATURE-----\n x\n -----END PGP SIGNATURE-----\n\nm\n")
        commit = self.out("hash-object", "-t", "commit", "-w", "--stdin", stdin=text.encode())
        self.git("update-ref", "HEAD", commit.strip())
        self.check(("log",), {"log.showSignature": "true", "gpg.program": str(self.script)})

    def test_ignore_revs(self):
        """a file outside that blame.ignoreRevsFile names is not read"""
        secret = self.base / "secret"
        secret.write_text("top secret\n", encoding="utf-8")
        self.git("config", "blame.ignoreRevsFile", str(secret))
        self.assertIn(b"top secret", self.git("blame", "a.txt", check=False).stderr)
        self.no("fs_denied: ", "blame", path="a.txt")


class Output(Readonly):
    def test_timeout(self):
        """R2-9 timed_out says that the time was up, with what came until then"""
        self.block_log()
        value = self.said("log", timeout_s=1)
        self.assertEqual((value["timed_out"], value["exit_code"]), (True, -1))
        self.assertEqual(self.processes_in(self.root), [])

    def test_not_timed_out(self):
        """R2-9 timed_out is false for a git that ended"""
        value = self.said("log", timeout_s=120)
        self.assertFalse(value["timed_out"])
        self.assertLess(value["duration_s"], 120)

    def blob(self, size):
        """The id of a file of this size."""
        return self.out("hash-object", "-w", "--stdin", stdin=b"x" * size).strip()

    def test_stdout_cap(self):
        """stdout is cut at 1 MB, and says so"""
        for size in (OUT_MAX - 1, OUT_MAX, OUT_MAX + 1, 2 * OUT_MAX):
            value = self.said("show", ref=self.blob(size))
            self.assertEqual(len(value["stdout"]), min(size, OUT_MAX))
            self.assertEqual(value["stdout_truncated"], size > OUT_MAX, size)
            self.assertEqual((value["stderr_truncated"], value["exit_code"]), (False, 0))

    def complain(self, size):
        """Changed files for whose line ends `git diff` says exactly this much on standard error."""
        self.git("config", "core.autocrlf", "true")
        self.write("x", "changed\n")
        self.git("add", "-N", "x")
        fixed = len(self.git("diff").stderr) - len("x")
        (self.root / "x").unlink()
        self.git("rm", "-q", "--cached", "x")
        names = []
        while size:
            length = min(200, size - fixed)
            if 0 < size - fixed - length <= fixed:
                length -= fixed
            names.append(f"{len(names):04}".ljust(length, "n"))
            size -= fixed + length
        for name in names:
            self.write(name, "changed\n")
        self.git("add", "-N", "--", *names)

    def test_stderr_cap(self):
        """stderr is cut at 256 KB, and says so"""
        for size in (ERR_MAX - 1, ERR_MAX, ERR_MAX + 1):
            self.complain(size)
            self.assertEqual(len(self.git("diff").stderr), size)
            value = self.said("diff")
            self.assertEqual(len(value["stderr"]), min(size, ERR_MAX))
            self.assertEqual(value["stderr_truncated"], size > ERR_MAX, size)
            self.git("rm", "-rqf", "--cached", ".")
            self.git("clean", "-qfdx")
            self.git("reset", "-q", "--hard")

    def test_control_sequences(self):
        """text of the repository cannot drive a terminal"""
        blob = self.out("hash-object", "-w", "--stdin", stdin=b"a\x1b[2Jb\n").strip()
        self.assertEqual(self.said("show", ref=blob)["stdout"], "ab\n")

    def test_journal(self):
        """the journal has the operation"""
        self.said("ls_files")
        record = self.record()
        self.assertEqual((record["tool"], record["operation"], record["effects"]),
                         ("Git", "ls_files", ["reads"]))


if __name__ == "__main__":
    harness.main()
