# SPDX-License-Identifier: Apache-2.0
"""Programs that others use to look at MCP servers, against airlock over HTTP and over stdio: the
Inspector's command line, and Claude Code's own check of its servers, which needs no account."""
import json
import pathlib
import subprocess

import harness
import http_server
import npm

HERE = pathlib.Path(__file__).resolve().parent
NODE_MIN = 22
TOKEN = "inspector-" + "0123456789abcdef" * 2
INSPECTOR = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js"
CLAUDE = "node_modules/@anthropic-ai/claude-code-linux-*/claude"

# Nothing but the server that it is told about.
QUIET = {"DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1",
         "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


class Program(harness.Case):
    """A program from npm, or the reason why there is none."""

    toolsets = ("everyday",)

    def installed(self, name):
        """Where npm has installed what a folder names."""
        return npm.install(HERE / name, stop=self.skipTest)

    def run_program(self, *command, env=None):
        """What a program prints and how it ends."""
        done = subprocess.run([str(word) for word in command], env=self.env | (env or {}),
                              cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, timeout=harness.WATCHDOG_SECONDS)
        return done.returncode, done.stdout.decode(), done.stderr.decode()


class Inspector(Program):
    """`npx @modelcontextprotocol/inspector --cli`."""

    def inspect(self, *words):
        """What the Inspector prints, which is JSON."""
        target = self.installed("inspector")
        node = npm.node_of(target, NODE_MIN, stop=self.skipTest)
        code, out, err = self.run_program(node, target / INSPECTOR, "--cli", *words)
        self.assertEqual(code, 0, out + err)
        return json.loads(out), err

    def check(self, era, *server):
        """The tools are portable, and one of them works."""
        listed, err = self.inspect("--protocol-era", era, "--method", "tools/list", "--strict",
                                   *server)
        self.assertEqual(err, "")
        self.assertIn("git_status", [tool["name"] for tool in listed["tools"]])
        done, _ = self.inspect("--protocol-era", era, "--method", "tools/call", "--tool-name",
                               "git_status", *server)
        self.assertEqual(done["content"][0]["text"].split(",")[0].split("\n")[0], "main")

    def test_http(self):
        """the Inspector lists and calls over HTTP with a token, in both eras"""
        self.init()
        server = http_server.Endpoint(self, tokens=[TOKEN])
        for era in ("legacy", "auto", "modern"):
            with self.subTest(era):
                self.check(era, "--transport", "http", "--server-url", server.url, "--header",
                           f"Authorization: Bearer {TOKEN}")

    def test_wrong_token(self):
        """the Inspector fails with a wrong token"""
        self.init()
        server = http_server.Endpoint(self, tokens=[TOKEN])
        target = self.installed("inspector")
        code, out, err = self.run_program(
            npm.node_of(target, NODE_MIN, stop=self.skipTest), target / INSPECTOR, "--cli",
            server.url, "--transport", "http", "--header", f"Authorization: Bearer {TOKEN}x",
            "--method", "tools/list")
        self.assertNotEqual(code, 0, out)
        self.assertNotIn("git_status", out + err)

    def test_stdio(self):
        """the Inspector lists and calls over standard input and output, in both eras"""
        self.init()
        for era in ("legacy", "auto", "modern"):
            with self.subTest(era):
                self.check(era, "--", harness.AIRLOCK, "serve", "--root", self.root, "--toolset",
                           "everyday")


class ClaudeCode(Program):
    """`claude mcp`: what it does without an account."""

    def claude(self, *words):
        """What it prints."""
        found = sorted(self.installed("claude").glob(CLAUDE))
        if not found:
            self.skipTest("there is no Claude Code for this machine")
        code, out, err = self.run_program(found[0], "mcp", *words, env=QUIET)
        self.assertEqual(code, 0, out + err)
        return out

    def test_health(self):
        """Claude Code connects over HTTP with the right token, and with no other"""
        self.init()
        server = http_server.Endpoint(self, tokens=[TOKEN])
        for name, token in (("right", TOKEN), ("wrong", TOKEN + "x")):
            self.claude("add", "--transport", "http", "--scope", "user", name, server.url,
                        "--header", f"Authorization: Bearer {token}")
        self.claude("add", "--scope", "user", "stdio", "--", harness.AIRLOCK, "serve", "--root",
                    str(self.root))
        said = self.claude("list")
        state = {line.partition(":")[0]: "Connected" in line for line in said.splitlines()}
        self.assertEqual((state["right"], state["wrong"], state["stdio"]), (True, False, True), said)
        self.assertEqual(server.end(), 0)


if __name__ == "__main__":
    harness.main()
