#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The toolset `files`: the sandbox, in memory and in a directory, over MCP and from a shell."""
import base64
import json
import os
import subprocess

import harness

TOOLS = ["read_file", "write_file", "list_files", "delete_file"]


class Files(harness.Case):
    """A server with the toolset, in each backend."""

    def setUp(self):
        super().setUp()
        self.init()

    def configure(self, text):
        """The user's configuration file."""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("[staging]\n" + text, encoding="utf-8")

    def workspace(self):
        return self.root / ".sandbox/workspace"

    def servers(self, more=""):
        """The same server with either backend."""
        for backend in ("memory", "directory"):
            self.configure(f'backend = "{backend}"\n{more}')
            server = harness.Server(self, "--toolset", "files")
            self.backend = backend
            yield server
            server.close()

    def content(self, server, path, **more):
        """The structured content of read_file, whose text is the content."""
        result = server.ok("read_file", {"path": path, **more})
        value = result.value["structuredContent"]
        self.assertEqual(result.text, value["content"])
        self.assertEqual(value["path"], path)
        return value

    def write_file(self, server, path, content, **more):
        return server.ok("write_file", {"path": path, "content": content, **more}).text


class Use(Files):
    def test_listed(self):
        """four tools, none of which asks; only the writing ones have side effects"""
        done = subprocess.run([harness.AIRLOCK, "tools", "--json", "--toolset", "files"],
                              cwd=self.root, env=self.env, capture_output=True, check=True,
                              timeout=harness.WATCHDOG_SECONDS)
        tools = {tool["name"]: tool for tool in json.loads(done.stdout)}
        self.assertEqual(list(tools), TOOLS)
        for name, tool in tools.items():
            self.assertEqual(tool["approval"], "none", name)
            self.assertEqual(tool["effects"],
                             ["reads"] if name in ("read_file", "list_files")
                             else ["writes_files"], name)

    def test_files(self):
        """what was written is listed, read, replaced and deleted"""
        for server in self.servers():
            self.assertEqual(self.write_file(server, "/workspace/docs/a.md", "one\n"),
                             "Wrote 4 bytes to /workspace/docs/a.md")
            self.write_file(server, "/workspace/b.txt", "")
            self.assertEqual(server.ok("list_files").text,
                             "/workspace/b.txt\n/workspace/docs/a.md\n")
            self.assertEqual(server.ok("list_files", {"path": "/workspace/docs/"}).text,
                             "/workspace/docs/a.md\n")
            self.assertEqual(server.ok("list_files", {"pattern": "*.md"}).text,
                             "/workspace/docs/a.md\n")
            for path, pattern, text in (
                    ("", "*.none", " match '*.none'"), ("/docs", "*.none", "/docs match '*.none'"),
                    ("", "*.{md,txt}", " match '*.{md,txt}'; '{…}' is not expanded, so give a "
                                       "pattern for each of its words"),
                    ("", "!*.md", " match '!*.md'; a pattern cannot exclude files")):
                self.assertEqual(server.ok("list_files", {"path": f"/workspace{path}",
                                                          "pattern": pattern}).text,
                                 f"no files in /workspace{text}")
            for path in ("doc", "docs/a", "docs/a/", "doc/a.md"):
                for more in ({}, {"pattern": "*.md"}):
                    result = server.refused(
                        "ExecutionFailed", f"no such directory: '/workspace/{path}'; list_files "
                        "without path shows what is there",
                        "list_files", {"path": f"/workspace/{path}"} | more)
                    self.assertEqual(result.error["reason"], "not_found")
            server.refused("ExecutionFailed", "'/workspace/b.txt' is a file; name a directory",
                           "list_files", {"path": "/workspace/b.txt"})
            self.assertEqual(self.content(server, "/workspace/docs/a.md"),
                             {"path": "/workspace/docs/a.md", "content": "one\n", "size": 4,
                              "offset": 0, "truncated": False})
            self.write_file(server, "/workspace/docs/a.md", "two")
            self.assertEqual(self.content(server, "/workspace/docs/a.md")["content"], "two")
            self.assertEqual(server.ok("delete_file", {"path": "/workspace/docs/a.md"}).text,
                             "Deleted /workspace/docs/a.md")
            self.assertEqual(server.ok("list_files").text, "/workspace/b.txt\n")

    def test_exact(self):
        """content is exact, whatever a terminal would do with it"""
        text = "\x1b[31mred\x1b[0m\r\nbell \x07 bidi \u202e nul-free \u00e4 \U0001f600\n"
        for server in self.servers():
            self.write_file(server, "/workspace/t", text)
            value = self.content(server, "/workspace/t")
            self.assertEqual(value["content"], text)
            self.assertNotIn("encoding", value)
            self.assertEqual(value["size"], len(text.encode()))

    def test_binary(self):
        """bytes that are not UTF-8 come and go as base64"""
        for data in (bytes(range(256)), b"\xff", b"text and \xc3", b"\0", b""):
            encoded = base64.b64encode(data).decode()
            for server in self.servers():
                self.write_file(server, "/workspace/bin", encoded, encoding="base64")
                value = self.content(server, "/workspace/bin")
                self.assertEqual(value["size"], len(data))
                if value.get("encoding") == "base64":
                    self.assertEqual(value["content"], encoded)
                else:
                    self.assertEqual(value["content"].encode(), data)
        for wrong, missing in (("AAA", "="), ("AA", "=="), ("AAAAAA", "=="), ("AA==\nAA", None)):
            for server in self.servers():
                server.refused("BadArgs", f"content is base64 without its padding; end it with "
                                          f"'{missing}'" if missing else
                               "content is not base64; leave encoding out for text", "write_file",
                               {"path": "/workspace/b", "content": wrong, "encoding": "base64"})
        for wrong in ("A", "!", "AA=A", "A===", "AAAA="):
            for server in self.servers():
                result = server.refused("BadArgs", "content is not base64; leave encoding out for "
                                        "text", "write_file", {"path": "/workspace/b",
                                                               "content": wrong,
                                                               "encoding": "base64"})
                self.assertNotIn("structuredContent", result.value)

    def test_past_the_end(self):
        """an offset past the end gives nothing and says so; one at the end is no mistake"""
        for server in self.servers():
            self.write_file(server, "/workspace/t", "12345")
            for offset, note in ((4, ""), (5, ""),
                                 (6, "offset 6 is past the end: the file has 5 bytes")):
                result = server.ok("read_file", {"path": "/workspace/t", "offset": offset})
                self.assertEqual((result.text, result.notes), ("12345"[offset:], note))

    def test_parts(self):
        """offset and limit are in bytes; no character is cut; nextOffset leads to the end"""
        text = "a\u00e4\u20ac\U0001f600z" * 20
        for server in self.servers():
            self.write_file(server, "/workspace/t", text)
            for limit in (4, 5, 7, 100, len(text.encode()) - 1, len(text.encode()),
                          len(text.encode()) + 1):
                got, offset = "", 0
                while True:
                    value = self.content(server, "/workspace/t", offset=offset, limit=limit)
                    self.assertNotIn("encoding", value)
                    self.assertLessEqual(len(value["content"].encode()), limit)
                    got += value["content"]
                    if not value["truncated"]:
                        self.assertNotIn("nextOffset", value)
                        break
                    self.assertGreater(value["nextOffset"], offset)
                    offset = value["nextOffset"]
                self.assertEqual(got, text)
            self.assertEqual(self.content(server, "/workspace/t", offset=10 ** 6)["content"], "")
            self.assertEqual(self.content(server, "/workspace/t", offset=2, limit=1)["encoding"],
                             "base64")

    def test_notes(self):
        """a cut answer and base64 are said in a second text item, for clients that show text"""
        for server in self.servers():
            self.write_file(server, "/workspace/t", "0123456789")
            self.write_file(server, "/workspace/b", "/wD/AA==", encoding="base64")
            for path, more, notes in (
                    ("t", {}, ""),
                    ("t", {"limit": 9}, "bytes 0 to 8 of 10; go on with offset 9"),
                    ("t", {"limit": 10}, ""),
                    ("t", {"limit": 11}, ""),
                    ("t", {"offset": 2, "limit": 3}, "bytes 2 to 4 of 10; go on with offset 5"),
                    ("t", {"offset": 5}, ""),
                    ("t", {"offset": 10}, ""),
                    ("b", {}, "the content is base64"),
                    ("b", {"limit": 3},
                     "the content is base64\nbytes 0 to 2 of 4; go on with offset 3")):
                result = server.ok("read_file", {"path": f"/workspace/{path}", **more})
                self.assertEqual(result.notes.strip(), notes, (path, more))

    def test_restart(self):
        """files in a directory stay; files in memory go"""
        for server in self.servers():
            self.write_file(server, "/workspace/a", "kept")
            server.close()
            server = harness.Server(self, "--toolset", "files")
            self.assertEqual(server.ok("list_files").text,
                             "/workspace/a\n" if self.backend == "directory"
                             else "no files in /workspace")
            self.assertEqual(self.workspace().exists(), self.backend == "directory")


class Refused(Files):
    def test_paths(self):
        """no path leads out of the sandbox or to a git directory"""
        for server in self.servers():
            for path, kind, words in (
                    ("/etc/passwd", "SandboxViolation", "Path outside sandbox: /etc/passwd"),
                    ("a.txt", "BadArgs", "'a.txt' is no path of the sandbox"),
                    ("/workspace/../x", "SandboxViolation", "'.' or '..' component"),
                    ("/workspace/.git/config", "SandboxViolation", "Protected path"),
                    ("/workspace/x/.GIT", "SandboxViolation", "Protected path"),
                    ("/workspace//x", "BadArgs", "empty component"),
                    ("/workspace/x\ny", "BadArgs", "control character"),
                    ("/workspace/x/", "BadArgs", "names a directory"),
                    ("/workspace", "ExecutionFailed", "is a directory"),
                    ("/workspace/" + "x" * 256, "BadArgs", "more than 255 bytes")):
                for tool, more in (("read_file", {}), ("write_file", {"content": "x"}),
                                   ("delete_file", {})):
                    result = server.call(tool, {"path": path, **more})
                    self.assertTrue(result.failed, (path, result))
                    self.assertEqual(result.kind, kind, (path, result))
                    self.assertIn(words, result.text)
            self.assertEqual(server.ok("list_files").text, "no files in /workspace")

    def test_missing(self):
        """a file that is missing is named, with the reason not_found"""
        for server in self.servers():
            for tool in ("read_file", "delete_file"):
                result = server.refused("ExecutionFailed", "no such file: '/workspace/x'; "
                                        "list_files shows what is there", tool,
                                        {"path": "/workspace/x"})
                self.assertEqual(result.error["reason"], "not_found")

    def test_full(self):
        """a file is as large as the sandbox takes, and not a byte larger"""
        most = 1 << 20
        for server in self.servers(f"max_bytes = {most}\n"):
            fits = most - len("f") - 128
            for size, good in ((fits - 1, True), (fits, True), (fits + 1, False)):
                result = server.call("write_file", {"path": "/workspace/f", "content": "x" * size})
                self.assertEqual(result.failed, not good, (size, result.text))
                if not good:
                    self.assertIn("staging.max_bytes", result.text)
            self.assertEqual(self.content(server, "/workspace/f", limit=1)["size"], fits)

    def test_symlinks(self):
        """a link in the directory is followed by a shell, and by no tool"""
        self.configure('backend = "directory"\n')
        outside = self.base / "outside"
        outside.mkdir()
        (outside / "secret").write_text("secret", encoding="utf-8")
        self.workspace().mkdir(parents=True)
        os.symlink(outside, self.workspace() / "dir")
        os.symlink(outside / "secret", self.workspace() / "file")
        self.assertEqual((self.workspace() / "dir/secret").read_text("utf-8"), "secret")
        server = harness.Server(self, "--toolset", "files")
        for path in ("/workspace/dir/secret", "/workspace/dir/new", "/workspace/file"):
            for tool, more in (("read_file", {}), ("write_file", {"content": "x"})):
                result = server.call(tool, {"path": path, **more})
                self.assertEqual(result.kind, "SandboxViolation", result)
                self.assertIn("is a symbolic link", result.text)
        server.ok("delete_file", {"path": "/workspace/file"})
        self.assertEqual(os.listdir(outside), ["secret"])
        self.assertEqual((outside / "secret").read_text("utf-8"), "secret")


class Output(Files):
    def test_read_cap(self):
        """no text is longer than the configured cap, base64 included"""
        config = "\n[tools.git]\nmax_bytes = 1000\n"
        for server in self.servers(config):
            self.write_file(server, "/workspace/t", "x" * 5000)
            value = self.content(server, "/workspace/t", limit=4000)
            self.assertEqual((len(value["content"]), value["truncated"], value["nextOffset"]),
                             (1000, True, 1000))
            data = base64.b64encode(b"\xff" * 5000).decode()
            self.write_file(server, "/workspace/b", data, encoding="base64")
            value = self.content(server, "/workspace/b")
            self.assertEqual(len(value["content"]), 1000)
            self.assertEqual(value["nextOffset"], 750)

    def test_list_cap(self):
        """a list is cut between lines, and says how many files are left out"""
        for server in self.servers("\n[tools.git]\nmax_bytes = 1000\n"):
            for i in range(100):
                self.write_file(server, f"/workspace/file{i:03}", "")
            result = server.ok("list_files")
            lines = result.text.split("\n")
            self.assertTrue(result.meta["truncated"])
            self.assertLessEqual(len(result.text), 1000)
            self.assertEqual(lines[:-1], [f"/workspace/file{i:03}" for i in range(len(lines) - 1)])
            self.assertEqual(lines[-1], f"... {101 - len(lines)} more files; name a directory or a "
                             "pattern")


class Place(Files):
    """Where the directory may be."""

    def start(self, path, cwd=None):
        """The exit code and the last line of a server with this workspace."""
        self.configure(f'backend = "directory"\npath = "{path}"\n')
        done = subprocess.run([harness.AIRLOCK, "serve", "--toolset", "files", "--root",
                               str(self.root)], cwd=cwd or self.root, env=self.env, input="",
                              capture_output=True, check=False, text=True,
                              timeout=harness.WATCHDOG_SECONDS)
        return done.returncode, (done.stderr.splitlines() or [""])[-1]

    def test_good(self):
        """the directory may be in a root, beside it, or below the home directory"""
        for path, made in ((str(self.base / "ws"), self.base / "ws"),
                           ("deep/er/ws", self.root / "deep/er/ws"),
                           ("~/ws", self.home / "ws")):
            self.assertEqual(self.start(path), (0, ""))
            self.assertTrue(made.is_dir(), path)

    def test_not_apart(self):
        """the directory never holds a root, the home directory or airlock's own files"""
        state = self.home / ".local/state/airlock"
        for path, why in ((self.root, "is or contains"), (".", "is or contains"),
                          (self.base, "is or contains"), ("/", "is or contains"),
                          (self.home, "is or contains"), (self.home / ".config", "is or contains"),
                          (self.home / ".config/airlock", "is or contains"),
                          (self.home / ".config/airlock/ws", "is inside airlock's own"),
                          (state, "is or contains"), (state / "ws", "is inside airlock's own"),
                          (state.parent, "is or contains")):
            code, line = self.start(path)
            self.assertEqual(code, 2, (path, line))
            self.assertIn("staging.path: ", line)
            self.assertIn(why, line)

    def test_link_in_root(self):
        """a link that a repository brings along does not lead the sandbox out of its root"""
        outside = self.base / "outside"
        outside.mkdir()
        os.symlink(outside, self.root / ".sandbox")
        os.makedirs(self.root / ".sandbox/control")
        self.assertEqual(os.listdir(outside), ["control"])
        code, line = self.start(".sandbox/workspace")
        self.assertEqual(code, 2)
        self.assertIn("symbolic link inside a root", line)
        self.assertEqual(os.listdir(outside), ["control"])

    def test_git_directory(self):
        """the directory is in no git directory, of whatever name"""
        self.git("init", "-q", "--bare", str(self.base / "bare"))
        for path in (self.root / ".git/ws", self.base / "bare", self.base / "bare/hooks"):
            code, line = self.start(path)
            self.assertEqual(code, 2, path)
            self.assertIn("is inside a git directory", line)
        self.assertFalse((self.root / ".git/ws").exists())


class Shell(Files):
    def call_file(self, tool, **arguments):
        return self.call(tool, arguments, "--toolset", "files")

    def test_note(self):
        """`airlock call` says that what it writes into memory does not last"""
        for backend, noted in (("memory", True), ("directory", False)):
            self.configure(f'backend = "{backend}"\n')
            done = self.call_file("write_file", path="/workspace/a", content="x")
            self.assertEqual("the sandbox is in memory and ends with this command" in done.stderr,
                             noted, done)
            self.assertNotIn("in memory", self.call_file("list_files").stderr)

    def test_raw(self):
        """`airlock call read_file` writes the content as it is, unless to a terminal"""
        self.configure('backend = "directory"\n')
        text = "red \x1b[31m and \x07\n"
        self.call_file("write_file", path="/workspace/a", content=text)
        command = [harness.AIRLOCK, "call", "--toolset", "files", "read_file",
                   "path=/workspace/a"]
        done = subprocess.run(command, cwd=self.root, env=self.env, capture_output=True, check=True,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.stdout.decode(), text)
        ours, theirs = os.openpty()
        subprocess.run(command, cwd=self.root, env=self.env, stdout=theirs, check=True,
                       stdin=subprocess.DEVNULL, timeout=harness.WATCHDOG_SECONDS)
        os.close(theirs)
        shown = os.read(ours, 1000)
        os.close(ours)
        self.assertEqual(shown, b"red  and \r\n")


class Session(Files):
    def test_no_repository(self):
        """outside of a repository the tools work, without a warning or a checkpoint"""
        plain = self.base / "plain"
        plain.mkdir()
        self.configure('backend = "directory"\npath = "../ws"\n'.replace("../ws",
                                                                        str(self.base / "ws")))
        done = self.call("write_file", {"path": "/workspace/a", "content": "x"}, "-v", "--toolset",
                         "files", root=plain, cwd=plain)
        self.assertFalse(done.failed, done)
        self.assertNotIn("Warning", done.stderr)
        self.assertEqual((self.base / "ws/a").read_text("utf-8"), "x")
        line = self.record()
        self.assertEqual((line["tool"], line["operation"], line["effects"], line["git_commit"],
                          line["repository"]), ("write_file", "write", ["writes_files"], None, None))

    def test_grant(self):
        """a grant covers the tools by their names; its directories do not concern the sandbox"""
        self.configure("\n[grants.g]\ntools = [\"write_file\"]\n"
                       f"fs = {{ \"{self.root}\" = \"r\" }}\n")
        server = harness.Server(self, "--toolset", "files", "--grant", "g")
        server.ok("write_file", {"path": "/workspace/a", "content": "x"})
        result = server.call("read_file", {"path": "/workspace/a"})
        self.assertEqual(result.kind, "NotGranted")

    def test_rule(self):
        """the user's rules reach the tools"""
        self.configure("\n[[tools.approval.rule]]\ntool = \"write_file\"\ndecision = \"deny\"\n")
        server = harness.Server(self, "--toolset", "files")
        result = server.call("write_file", {"path": "/workspace/a", "content": "x"})
        self.assertEqual(result.kind, "ApprovalDenied")
        self.assertEqual(server.ok("list_files").text, "no files in /workspace")


if __name__ == "__main__":
    harness.main()
