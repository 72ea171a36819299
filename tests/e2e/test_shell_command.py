#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""bash_command: its parameters, its previews, and what a run results in."""
import json
import os
import subprocess

import harness
import shell


class Parameters(shell.Shell):
    def test_required(self):
        """R3-1 command and reason are required, and not empty"""
        for arguments, name in (({}, "command"), ({"command": "ls"}, "reason"),
                                ({"reason": "x"}, "command"),
                                ({"command": "ls", "reason": ""}, "reason"),
                                ({"command": " ", "reason": "x"}, "command"),
                                ({"command": "ls", "reason": "x", "cwd": "/"}, "cwd")):
            result = self.call("bash_command", arguments, "--toolset", "shell")
            self.assertEqual(result.kind, "BadArgs", arguments)
            self.assertIn(name, result.text)

    def test_listed(self):
        """R3-1 the tool has R3's name, description and parameters"""
        done = subprocess.run([harness.AIRLOCK, "tools", "--toolset", "shell", "--json"],
                              env=self.env, cwd=self.root, capture_output=True, check=True,
                              timeout=harness.WATCHDOG_SECONDS)
        tool, = json.loads(done.stdout)
        self.assertEqual(tool["name"], "bash_command")
        self.assertEqual(tool["description"], "Execute a bash command. Whitelist enforced. "
                                              "Shows preview in dry-run. No shell: pipes and "
                                              "redirects of ls, cat, grep, find, head, tail, wc, "
                                              "echo, pwd, date, go, and git (log, diff, show, "
                                              "status), unless configured otherwise.")
        self.assertEqual(tool["inputSchema"]["required"], ["command", "reason"])
        self.assertEqual(tool["approval"], "none")
        self.assertIn("runs_program", tool["effects"])

    def test_recorded(self):
        """R3-1 the reason is in the journal"""
        self.line("ls", reason="to see what there is")
        record = self.record()
        self.assertEqual(record["input"], {"command": "ls", "reason": "to see what there is"})
        self.assertEqual((record["operation"], record["outcome"], record["decision"]),
                         ("run", "ok", "auto"))
        self.assertEqual(record["root"], str(self.root))

    def test_length(self):
        """a command has at most 16384 bytes"""
        for length in (16383, 16384):
            self.assertEqual(self.line("echo " + "x" * (length - 5)).code, 0)
        self.assertEqual(self.line("echo " + "x" * 16380).kind, "BadArgs")

    def test_counts(self):
        """a pipeline has at most 16 commands, a line 2000 words"""
        for count in (15, 16):
            self.assertFalse(self.line("|".join(["echo x"] + ["cat"] * (count - 1))).failed)
        self.assertEqual(self.line("|".join(["cat"] * 17)).kind, "BadArgs")
        for count in (1999, 2000):
            self.assertFalse(self.line("echo" + " x" * (count - 1)).failed)
        self.assertEqual(self.line("echo" + " x" * 2000).kind, "BadArgs")


class Preview(shell.Shell):
    def setUp(self):
        super().setUp()
        self.options = ()

    def test_default(self):
        """R3-2 without --tool nothing runs: the result is a preview"""
        value = self.object("ls *.txt | wc -l > out.txt 2>&1")
        self.assertEqual(value, {
            "dry_run": True, "command": "ls *.txt | wc -l > out.txt 2>&1",
            "stages": [{"command": "ls", "args": ["a.txt"]},
                       {"command": "wc", "args": ["-l"], "stdout": "out.txt", "stderr": "&1"}],
            "cwd": str(self.root), "env": ["PATH", "LC_ALL", "TERM", "HOME", "TMPDIR"]})
        self.assertFalse((self.root / "out.txt").exists())
        record = self.record()
        self.assertEqual((record["operation"], record["outcome"], record["effects"]),
                         ("preview", "dry_run", ["reads"]))

    def test_missing_program(self):
        """R3-2 a preview does not ask whether the program exists; a run gives 127"""
        config = self.config('[tools.shell]\ncommand_whitelist = ["nosuchprogram"]\n')
        self.assertTrue(self.object("nosuchprogram x", *config)["dry_run"])
        self.options = ("--tool=all",)
        value = self.object("nosuchprogram x", *config)
        self.assertEqual((value["exit_code"], value["stderr"]),
                         (127, "nosuchprogram: command not found\n"))

    def test_tool_option(self):
        """R3-3 command and all let it run; read and write do not"""
        for words, runs in (("command", True), ("all", True), ("read", False), ("write", False),
                            ("read,write", False), ("read,command", True), ("all,read", True)):
            value = self.object("echo x", f"--tool={words}")
            self.assertEqual("dry_run" not in value, runs, words)
        config = self.config('[tools.shell]\ntool = ["read", "command"]\n')
        self.assertNotIn("dry_run", self.object("echo x", *config))
        self.assertIn("dry_run", self.object("echo x", *config, "--tool=read"))
        for words in ("", "commands", "command,", "Command", "command all", "none"):
            done = subprocess.run([harness.AIRLOCK, "call", f"--tool={words}", "--toolset", "shell",
                                   "bash_command", "{}"], env=self.env, cwd=self.root,
                                  capture_output=True, check=False,
                                  timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode, 2, words)

    def test_other_tools(self):
        """R3-3 --tool restricts no other tool"""
        self.assertFalse(self.call("git_status", {}, "--tool=read").failed)
        self.write("b.txt", "b\n")
        self.assertFalse(self.call("git_add", {"paths": ["b.txt"]}, "--tool=read").failed)


class Results(shell.Shell):
    def test_success(self):
        """R3-5 success: stdout, stderr, exit_code, duration_ms"""
        value = self.object("cat a.txt nosuch | cat")
        self.assertEqual(list(value), ["stdout", "stderr", "exit_code", "duration_ms"])
        self.assertEqual((value["stdout"], value["exit_code"]), ("one\n", 0))
        self.assertIn("nosuch", value["stderr"])
        self.assertIsInstance(value["duration_ms"], int)

    def test_failure(self):
        """R3-5 failure: error, stdout, stderr, exit_code, as a failed result"""
        result = self.line("cat a.txt nosuch")
        self.assertTrue(result.failed)
        self.assertEqual((result.kind, result.code), ("ExecutionFailed", 1))
        self.assertEqual(result.error["message"], "command failed: exit code 1")
        self.assertEqual(result.value["structuredContent"], {
            "error": "command failed: exit code 1", "stdout": "one\n",
            "stderr": "cat: nosuch: No such file or directory\n", "exit_code": 1})
        self.assertEqual(result.meta["exit_code"], 1)
        self.assertEqual(self.record()["outcome"], "error")

    def test_no_match(self):
        """a search that finds nothing is R3's failure, and says that it found nothing"""
        for command in ("grep x a.txt", "cat a.txt | grep x", "grep -q x a.txt", "grep -c x a.txt"):
            value = self.object(command)
            self.assertEqual((value["error"], value["exit_code"], value["stderr"]),
                             ("command failed: exit code 1 (no match)", 1, ""), command)
        for command in ("grep x nosuch", "cat nosuch", "grep x a.txt | cat nosuch",
                        "ls nosuch | grep '['"):
            self.assertRegex(self.object(command)["error"], r"^command failed: exit code \d$")
        self.assertNotIn("error", self.object("grep x a.txt | cat"))

    def test_unreadable(self):
        """what no command may read is named behind the program's own words"""
        secret = self.base / "secret"
        secret.write_text("x\n", encoding="utf-8")
        (self.root / "link").symlink_to(secret)
        said = "airlock: outside the allowed roots, so no command may read it: "
        for command, names in (("cat /etc/passwd", "/etc/passwd"), (f"cat {secret}", str(secret)),
                               ("cat link", "link"), ("grep x ../secret a.txt", "../secret"),
                               ("cat /etc/passwd a.txt | cat", "/etc/passwd"),
                               ("cat link /etc/passwd", "link, /etc/passwd")):
            if "/etc" not in command and str(self.base).startswith("/dev/"):
                continue  # devices are no secret: no path below /dev is named
            lines = self.object(command)["stderr"].splitlines()
            self.assertIn("Permission denied", lines[0], command)
            self.assertEqual(lines[-1], said + names)
        for command in ("cat nosuch", "cat a.txt", "echo /etc/passwd | cat", "ls /etc/passwd"):
            self.assertNotIn("airlock:", self.object(command)["stderr"])

    def test_outputs(self):
        """what go would write outside is refused, in the preview and live"""
        (self.root / "way").symlink_to(self.base)
        for options in (("--tool=command",), ()):
            self.options = options
            for words in ("build -o ../x", "build --o=../x", "build -o way/x", "build -o /tmp/x",
                          "test -coverprofile=../x", "test -trace ../x", "mod vendor -o ../x",
                          "build -C ..", "build -o '../'x", "test -outputdir .."):
                result = self.line(f"go {words}")
                self.assertEqual(result.kind, "SandboxViolation", words)
        for words in ("build -o x", "build -o=sub/x", "test -coverprofile x", "build -o /dev/null"):
            self.assertTrue(self.object(f"go {words}")["dry_run"])

    def test_failure_on_stdout(self):
        """R3-5 without --json a failure's object is on standard output, a refusal on standard error"""
        base = [harness.AIRLOCK, "call", "--root", str(self.root), "--toolset", "shell",
                "--tool=command", "bash_command"]
        done = subprocess.run([*base, '{"command": "ls nosuch", "reason": "x"}'], env=self.env,
                              capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual((done.returncode, json.loads(done.stdout)["exit_code"]), (1, 2))
        done = subprocess.run([*base, '{"command": "rm x", "reason": "x"}'], env=self.env,
                              capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual((done.returncode, done.stdout), (1, b""))
        self.assertIn(b"Command 'rm' not in whitelist", done.stderr)

    def test_timeout(self):
        """R3-4 R3-5 timeout: error, what came until then, exit code -1"""
        os.mkfifo(self.root / "fifo")
        result = self.line("cat a.txt fifo", "--command-timeout", "1")
        self.assertTrue(result.failed)
        self.assertEqual((result.kind, result.code), ("Timeout", 1))
        self.assertEqual(result.value["structuredContent"], {
            "error": "command timeout after 1s", "stdout": "one\n", "stderr": "", "exit_code": -1})
        self.assertEqual(self.processes_in(self.root), [])
        self.assertEqual(self.record()["outcome"], "timeout")

    def test_timeout_of_a_pipeline(self):
        """R3-4 one deadline for all of a pipeline, and nobody is left"""
        os.mkfifo(self.root / "fifo")
        value = self.object("echo x | cat - fifo | cat | cat", "--command-timeout=1")
        self.assertEqual((value["exit_code"], value["stdout"]), (-1, "x\n"))
        self.assertEqual(self.processes_in(self.root), [])
        self.assert_nobody_reads(self.root / "fifo")

    def test_timeout_bounds(self):
        """R3-4 --command-timeout is 1 to 600 seconds"""
        for value, good in (("0", False), ("1", True), ("600", True), ("601", False), ("x", False),
                            ("-1", False), ("1.5", False), ("", False)):
            done = subprocess.run([harness.AIRLOCK, "tools", "--command-timeout", value],
                                  env=self.env, cwd=self.root, capture_output=True, check=False,
                                  timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode == 0, good, value)

    def test_cap(self):
        """R3-12 standard output is cut at max_bytes, and says so"""
        config = self.config("[tools.git]\nmax_bytes = 1000\n")
        for size in (999, 1000, 1001, 100000):
            self.write("x", "x" * size)
            result = self.line("cat x", *config)
            self.assertFalse(result.failed, result)
            value = result.value["structuredContent"]
            self.assertEqual(result.meta["truncated"], size > 1000)
            self.assertEqual(len(value["stdout"]), min(size, 1000))
            self.assertEqual(value["stdout"].endswith(harness.MARKER), size > 1000)
            self.assertEqual(value["exit_code"], 0)

    def test_cap_of_a_pipeline(self):
        """R3-12 a pipeline that never ends is stopped at the cap"""
        config = self.config("[tools.git]\nmax_bytes = 1000\n")
        self.write("x", "x\n" * 100000)
        result = self.line("cat x x x x x x x x | cat | grep x", *config)
        self.assertTrue(result.meta["truncated"])
        self.assertEqual(self.processes_in(self.root), [])

    def test_errors_cap(self):
        """R3-12 standard error is cut at 64 KiB"""
        result = self.line("cat " + " ".join(f"{'n' * 150}{i}" for i in range(90)))
        self.assertFalse(result.meta["truncated"])
        self.write("many/" + "n" * 200, "")
        for i in range(400):
            os.symlink("/nowhere" + "x" * 10, self.root / "many" / f"{i:03}{'n' * 200}")
        result = self.line("cat many/*")
        self.assertTrue(result.meta["truncated"])
        self.assertEqual(len(result.value["structuredContent"]["stderr"]), 65536)

    def test_same_over_mcp(self):
        """a client gets the same objects, and they keep the output schema"""
        server = harness.Server(self, "--toolset", "shell", "--tool=command")
        good = server.call("bash_command", {"command": "ls", "reason": "x"})
        self.assertEqual(good.value["structuredContent"]["stdout"], "a.txt\n")
        bad = server.call("bash_command", {"command": "ls nosuch", "reason": "x"})
        self.assertTrue(bad.failed)
        self.assertEqual(bad.value["structuredContent"]["exit_code"], 2)


if __name__ == "__main__":
    harness.main()
