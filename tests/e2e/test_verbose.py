#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`-v`: what a call does, on standard error, while it does it."""
import re
import subprocess

import harness


class Verbose(harness.Case):
    def lines(self, tool, arguments, *options, approval="allow"):
        """The lines of a call with -v, and of one without, which has none."""
        self.call(tool, arguments, *options, approval=approval)
        result = self.call(tool, arguments, "-v", *options, approval=approval)
        return [line for line in result.stderr.splitlines() if not line.startswith("airlock: ")]

    def assert_lines(self, lines, *patterns):
        """Each line is as its pattern says."""
        self.assertEqual(len(lines), len(patterns), lines)
        for line, pattern in zip(lines, patterns, strict=True):
            self.assertRegex(line, f"^{pattern}$")

    def test_change(self):
        """a call that changes the repository names its checkpoint"""
        self.init()
        self.assert_lines(
            self.lines("git_add", {"paths": ["a.txt"], "timeout_ms": 1500}), "Tool: git_add",
            r"Command: Stage 1 file\(s\): a\.txt",
            r"Validation: \u2713 passed \(add: writes_index; auto, policy\)",
            r"Git: committed [0-9a-f]{10} \(pre-tool: git_add at \d{8}_\d{6}\)",
            r"Executing with timeout 1\.5s\.\.\.", r"Duration: \d+ms",
            r"Result: Staged 1 file\(s\)")

    def test_configured(self):
        """serve.verbose is -v"""
        self.init()
        config = self.write("v.toml", "[serve]\nverbose = true\n", self.base)
        self.assertIn("Tool: git_status", self.call("git_status", {}, "--config", str(config)).stderr)

    def test_read(self):
        """a call that reads has no checkpoint, and one that fails says why"""
        self.init()
        self.assert_lines(
            self.lines("git_status", {}), "Tool: git_status", "Command: Show git status",
            r"Validation: \u2713 passed \(status: reads; auto, policy\)",
            r"Executing with timeout 30s\.\.\.", r"Duration: \d+ms", "Result: ## main")
        self.assert_lines(
            self.lines("git_show", {"commit": "nothing"}), "Tool: git_show", "Command: .*",
            "Validation: .*", "Executing .*", "Duration: .*", "Result: failed: .*nothing.*")

    def test_whitelist(self):
        """bash_command says which programs were found in the whitelist, each once"""
        self.init()
        words = ("--toolset", "shell", "--tool=command")
        for command, found in (("ls -la | grep a.txt", "ls, grep"), ("echo x", "echo"),
                               ("cat a.txt | cat | wc -l", "cat, wc")):
            lines = self.lines("bash_command", {"command": command, "reason": "x"}, *words)
            self.assertEqual(lines[0], "Tool: bash_command")
            self.assertEqual(lines[1], f"Command: {command}")
            self.assertEqual(lines[2], f"Validation: \u2713 passed ({found} in whitelist)")
        for command in ("ls | rm x", "grep; ls"):
            lines = self.lines("bash_command", {"command": command, "reason": "x"}, *words)
            self.assertEqual(lines[1], f"Command: {command}")
            self.assertRegex("\n".join(lines), "Validation: \u2717 ")
            self.assertNotIn("in whitelist)", "\n".join(lines))
        lines = self.lines("bash_command", {"command": "pwd", "reason": "x"}, *words,
                           "--command-timeout=7")
        self.assertIn("Executing with timeout 7s...", lines)
        lines = self.lines("bash_command", {"command": "pwd", "reason": "x"}, *words[:2])
        self.assertIn("Executing with timeout 30s...", lines)
        self.assertEqual(lines[2], "Validation: \u2713 passed (pwd in whitelist)")

    def test_refused(self):
        """a call that is refused says why and executes nothing"""
        self.init()
        self.assert_lines(self.lines("git_log", {"x": 1}), "Tool: git_log",
                          "Validation: \u2717 Invalid arguments: unknown parameter 'x' .*",
                          r"Duration: \d+ms")
        self.assert_lines(self.lines("git_add", {"paths": ["a.txt"]}, approval="deny"),
                          "Tool: git_add", "Command: .*", "Validation: \u2717 .*mode deny.*",
                          r"Duration: \d+ms")

    def test_no_repository(self):
        """outside a repository it warns that there is no checkpoint"""
        self.assert_lines(self.lines("git_status", {}), "Tool: git_status", "Command: .*",
                          "Validation: \u2717 Not a git repository: .*",
                          r"Warning: git auto-commit failed \(not in git repo\?\)",
                          r"Duration: \d+ms")

    def test_no_repository_once(self):
        """that there is no checkpoint is said once, with -v or without"""
        for options in ((), ("-v",)):
            result = self.call("bash_command", {"command": "pwd", "reason": "x"}, "--toolset=shell", "--tool=all",
                               *options)
            self.assertEqual(result.stderr.count("git auto-commit failed"), 1, result)

    def test_safe(self):
        """no control character of an argument or a result reaches the terminal"""
        self.init()
        self.commit("a.txt", "two\n", "\033[2Jsubject")
        for line in self.lines("git_log", {"format": "%s%x1b]0;x%x07", "max_count": 1}) + \
                self.lines("git_add", {"paths": ["\033]0;owned\007"]}):
            self.assertIsNone(re.search("[\0-\x1f\x7f]", line), line)

    def test_serve(self):
        """a server says it on standard error, and its output stays the protocol's"""
        self.init()
        done = subprocess.run(
            [harness.AIRLOCK, "serve", "-v"], cwd=self.root, env=self.env, check=True,
            capture_output=True, text=True, timeout=harness.WATCHDOG_SECONDS,
            input="".join(harness.json.dumps({"jsonrpc": "2.0"} | message) + "\n" for message in (
                {"id": 0, "method": "initialize", "params": {
                    "protocolVersion": "2025-06-18", "capabilities": {},
                    "clientInfo": {"name": "e2e", "version": "1"}}},
                {"method": "notifications/initialized"},
                {"id": 1, "method": "tools/call", "params": {"name": "git_status",
                                                             "arguments": {"x": 1}}})))
        for line in done.stdout.splitlines():
            self.assertEqual(harness.json.loads(line)["jsonrpc"], "2.0")
        self.assertIn("Tool: git_status\n", done.stderr)
        self.assertIn("Validation: \u2717 ", done.stderr)


if __name__ == "__main__":
    harness.main()
