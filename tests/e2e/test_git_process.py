#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each call ends with exactly one result: on time, with what git said, and with nobody left behind.

A git that must not end by itself is made by a pipe in the place of a file that it will read.
"""
import re

import harness

SECRETS = {
    "MY_API_KEY": "s1", "GITHUB_TOKEN": "s2", "DB_PASSWORD": "s3", "APP_SECRET": "s4",
    "AWS_REGION": "s5", "AWS_SECRET_ACCESS_KEY": "s6", "ANTHROPIC_BASE": "s7", "OPENAI_ORG": "s8",
}
HARMFUL = {
    "GIT_EXTERNAL_DIFF": "touch stolen", "GIT_SSH_COMMAND": "touch stolen", "LD_DEBUG": "unused",
    "GIT_DIR": "/nowhere", "GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.pager",
    "GIT_CONFIG_VALUE_0": "touch stolen", "SSH_ASKPASS": "touch", "EDITOR": "touch stolen",
}


class Ending(harness.Case):
    def blocked_history(self):
        """Commits that git can show, then one whose object never ends; gives the pipe.

        Each has more to say than git keeps back before it writes."""
        first = self.init()
        for number in range(1, 6):
            self.commit("a.txt", f"{number}\n", f"change {number}\n\n" + "more\n" * 2000)
        return self.block(first)

    def test_timeout(self):
        """T-GIT-TIMEOUT-01 a git that takes longer than timeout_ms is killed"""
        pipe = self.blocked_history()
        message = "git command timed out after 300ms"
        result = self.refused("Timeout", message, "git_log", {"timeout_ms": 300})
        self.assertTrue(result.text.startswith(message), result.text)
        self.assertEqual((result.error["code"], result.error["name"]), (7035, "GIT_TIMEOUT"))
        self.assert_nobody_reads(pipe)
        self.assertTrue(self.call("git_log", {"timeout_ms": 100}).text.startswith(
            "git command timed out after 100ms"))

    def test_partial_output(self):
        """T-GIT-TIMEOUT-02 what git had said comes after the message of a timeout"""
        self.blocked_history()
        result = self.call("git_log", {"timeout_ms": 2000, "format": "%s%n%b"})
        self.assertEqual(result.kind, "Timeout")
        self.assertEqual(result.error["message"], "git command timed out after 2000ms")
        self.assertIn("change 5\nmore\n", result.text)
        self.assertIn("change 4\nmore\n", result.text)
        self.assertNotIn("first", result.text)

    def test_kills_and_returns_partial(self):
        """T-GIT-ERR-03 a timeout kills git and gives what there was"""
        pipe = self.blocked_history()
        result = self.call("git_log", {"timeout_ms": 2000})
        self.assertTrue(result.failed)
        self.assertRegex(result.text, r"\Agit command timed out after 2000ms\s+commit [0-9a-f]+\n"
                                      r"Author: A U Thor ")
        self.assert_nobody_reads(pipe)

    def test_whole_group(self):
        """T-GIT-TIMEOUT-04 no process of the call is left after a timeout"""
        pipe = self.blocked_history()
        self.call("git_log", {"timeout_ms": 200})
        self.call("git_diff", {"timeout_ms": 200, "from_ref": "HEAD~5"})
        self.assertEqual(self.processes_in(self.root), [])
        self.assert_nobody_reads(pipe)

    def test_timeout_bounds(self):
        """timeout_ms below 100 is refused and above 600000 is clamped"""
        self.init()
        for value in (99, 0, -1):
            self.refused("BadArgs", "timeout_ms must be at least 100", "git_status",
                         {"timeout_ms": value})
        for value in (100000, 600000, 600001, 10**12):
            self.ok("git_status", {"timeout_ms": value})

    def test_cancelled(self):
        """T-GIT-TIMEOUT-03 a cancelled request kills its git and gets no answer"""
        self.init()
        pipe = self.block_log()
        server = harness.Server(self)
        server.send(id=7, method="tools/call",
                    params={"name": "git_log", "arguments": {"timeout_ms": 600000}})
        writer = self.hold(pipe)
        server.send(method="notifications/cancelled",
                    params={"requestId": 7, "reason": "no longer needed"})
        self.wait_for_its_end(writer)
        server.send(id=8, method="ping")
        self.assertEqual(server.receive()["id"], 8)
        server.process.stdin.close()
        self.assertIsNone(server.receive())
        self.assertEqual(server.process.wait(), 0)

    def test_end_of_input(self):
        """a server whose input ends takes its git with it"""
        self.init()
        pipe = self.block_log()
        server = harness.Server(self)
        server.send(id=7, method="tools/call",
                    params={"name": "git_log", "arguments": {"timeout_ms": 600000}})
        writer = self.hold(pipe)
        server.process.stdin.close()
        self.wait_for_its_end(writer)
        self.assertEqual(server.process.wait(), 0)
        self.assertEqual(self.processes_in(self.root), [])

    def test_a_lock_of_another_process(self):
        """an index.lock that stays is a lock timeout"""
        self.init()
        self.write("b.txt", "b\n")
        (self.root / ".git/index.lock").touch()
        result = self.call("git_add", {"paths": ["b.txt"], "timeout_ms": 300})
        self.assertEqual((result.kind, result.error["code"], result.error["name"]),
                         ("ExecutionFailed", 7020, "GIT_LOCK_TIMEOUT"))
        self.assertTrue((self.root / ".git/index.lock").exists())
        (self.root / ".git/index.lock").unlink()
        self.ok("git_add", {"paths": ["b.txt"], "timeout_ms": 30000})


class Environment(harness.Case):
    def test_secrets(self):
        """T-GIT-SEC-07 git sees no variable that may be a secret or would steer it"""
        self.init()
        pipe = self.block_log()
        server = harness.Server(self, env=SECRETS | HARMFUL | {"HARMLESS_VALUE": "s9"})
        server.send(id=7, method="tools/call",
                    params={"name": "git_log", "arguments": {"timeout_ms": 600000}})
        self.hold(pipe)
        children = [pid for pid in self.processes_in(self.root) if pid != server.process.pid]
        self.assertTrue(children)
        for pid in children:
            with open(f"/proc/{pid}/environ", "rb") as file:
                lines = file.read().decode().split("\0")
            seen = dict(line.split("=", 1) for line in lines if "=" in line)
            self.assertIn("PATH", seen)
            for name in SECRETS | {"HARMLESS_VALUE": ""}:
                self.assertNotIn(name, seen)
            for name, value in HARMFUL.items():
                self.assertNotEqual(seen.get(name), value, name)
        self.assertFalse((self.root / "stolen").exists())


class Output(harness.Case):
    def test_stderr(self):
        """T-GIT-COMMON-01 what git says on stderr comes behind its output"""
        self.init()
        self.git("config", "core.autocrlf", "input")
        self.write("a.txt", b"one\r\ntwo\r\n")
        raw = self.git("diff")
        self.assertIn(b"CRLF will be replaced by LF", raw.stderr)
        self.assertEqual(self.ok("git_diff").text.rstrip("\n"),
                         (raw.stdout + b"\n\n[stderr]\n" + raw.stderr).decode().rstrip("\n"))
        text = self.ok("git_add", {"paths": ["a.txt"]}).text
        self.assertRegex(text, r"\AStaged 1 file\(s\)\n\n\[stderr\]\nwarning: .*CRLF will be "
                               r"replaced by LF")

    def test_stderr_counts(self):
        """the byte cap counts the stderr section"""
        self.init()
        self.git("config", "core.autocrlf", "input")
        self.write("a.txt", b"one\r\ntwo\r\n")
        whole = self.ok("git_diff").text
        result = self.ok("git_diff", {"max_bytes": len(whole) - 1})
        self.assertTrue(result.text.endswith(harness.MARKER))
        self.assertEqual(len(result.text), len(whole) - 1)

    def test_json(self):
        """T-GIT-COMMON-04 a result is one MCP object of the documented shape"""
        self.init()
        result = self.ok("git_status")
        self.assertEqual(sorted(result.value), ["_meta", "content"])
        self.assertEqual(result.value["content"], [{"type": "text", "text": "## main\n"}])
        self.assertEqual(sorted(result.meta), ["duration_ms", "exit_code", "truncated"])
        self.assertEqual((result.meta["exit_code"], result.meta["truncated"]), (0, False))
        self.assertIsInstance(result.meta["duration_ms"], int)

    def test_json_of_a_failure(self):
        """T-GIT-COMMON-04 a failure says its kind, code, name, reason and message"""
        self.init()
        result = self.call("git_add", {"paths": []})
        self.assertIs(result.value["isError"], True)
        message = "At least one of paths, all, or update must be specified"
        self.assertEqual(result.text, message)
        self.assertEqual(result.error, {"kind": "BadArgs", "code": None, "name": None,
                                        "reason": None, "message": message})
        result = self.call("git_diff", {"from_ref": "no-such"})
        self.assertEqual(result.meta["exit_code"], 128)
        self.assertEqual(result.error["kind"], "ExecutionFailed")

    def test_arguments(self):
        """T-GIT-COMMON-04 arguments are checked by name before anything runs"""
        self.init()
        result = self.call("git_status", {"porcelaine": True})
        self.assertEqual(result.kind, "BadArgs")
        self.assertTrue(result.text.startswith(
            "Invalid arguments: unknown parameter 'porcelaine'"), result.text)
        self.assertIn("porcelain, branch, untracked, timeout_ms, working_dir", result.text)
        self.refused("BadArgs", "Invalid arguments: 'porcelain' must be a boolean", "git_status",
                     {"porcelain": "yes"})
        self.refused("BadArgs", "Invalid arguments: 'paths' must be an array of strings",
                     "git_add", {"paths": "a.txt"})
        self.refused("BadArgs", "Invalid arguments: arguments must be an object", "git_status",
                     [1])

    def test_same_over_mcp(self):
        """T-GIT-COMMON-04 a server gives the same object as the command line"""
        self.init()
        server = harness.Server(self)
        server.send(id=1, method="tools/call", params={"name": "git_log", "arguments": {}})
        answer = server.receive()
        self.assertEqual(answer["id"], 1)
        direct = self.ok("git_log").value
        for value in (answer["result"], direct):
            value["_meta"]["airlock/result"].pop("duration_ms")
        self.assertEqual(answer["result"], direct)

    def test_odd_json_over_mcp(self):
        """what JSON allows and arguments do not is refused by name, under the request's id"""
        self.init()
        server = harness.Server(self)
        cases = [
            (b'{"timeout_ms":1' + b"0" * 30 + b"}", None),
            (b'{"timeout_ms":3e4}', None),
            (b'{"timeout_ms":30000.5}', "'timeout_ms' must be an integer"),
            (b'{"working_dir":"a\\u0000b"}', "NUL"),
            (b'{"branch":true,"branch":false}', "twice"),
            (b'{"br\\u001b[31manch":true}', "unknown parameter"),
        ]
        for number, (arguments, complaint) in enumerate(cases, 1):
            server.process.stdin.write(
                b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"git_status",'
                b'"arguments":%s}}\n' % (number, arguments))
            server.process.stdin.flush()
            answer = server.receive()
            self.assertEqual(answer["id"], number)
            result = harness.Result(answer["result"])
            self.assertEqual(result.kind, "BadArgs" if complaint else None, result)
            self.assertIn(complaint or "## main", result.text)
            self.assertNotIn("\x1b", result.text)

    def test_list_is_short(self):
        """the default tools/list stays under 16 KB"""
        self.init()
        server = harness.Server(self)
        server.send(id=1, method="tools/list", params={})
        answer = server.receive()
        names = [tool["name"] for tool in answer["result"]["tools"]]
        for name in ("git_status", "git_diff", "git_log", "git_add", "git_commit"):
            self.assertIn(name, names)
        self.assertTrue(all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name) for name in names))
        self.assertLess(len(harness.json.dumps(answer, separators=(",", ":"))), 16384)


if __name__ == "__main__":
    harness.main()
