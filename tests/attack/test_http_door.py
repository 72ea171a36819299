#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Web pages, thieves of tokens and agents at the front door of a server over HTTP.

The controls: a server without these rules does what a web page asks it, and plain programs print the
token file.
"""
import http.server
import json
import os
import pathlib
import subprocess
import sys
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

# pylint: disable=wrong-import-position
import harness
import http_door
import http_server
from http_door import ONE, TWO

COMMIT = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
          "params": {"name": "git_commit", "arguments": {"message": "by a web page"}, "_meta": {
              http_server.META + "protocolVersion": http_server.MODERN,
              http_server.META + "clientCapabilities": {},
              http_server.META + "clientInfo": {"name": "page", "version": "1"}}}}


class Naive(http.server.BaseHTTPRequestHandler):
    """Commits for everybody who asks."""

    def do_POST(self):  # pylint: disable=invalid-name
        """No look at any header."""
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.case.git("commit", "-qm", message["params"]["arguments"]["message"])
        self.send_response(200)
        self.end_headers()

    def log_message(self, *words):  # pylint: disable=arguments-differ
        """Nothing."""


class Pages(http_door.Case):
    """A staged file that a request from a web page would commit."""

    toolsets = ("everyday",)

    def setUp(self):
        super().setUp()
        self.write("b.txt", "b\n")
        self.git("add", "b.txt")

    def head(self):
        """The newest commit's subject."""
        return self.out("log", "-1", "--format=%s").strip()

    def naive(self, **words):
        """The control: the request works where nobody looks at its headers."""
        with http.server.HTTPServer(("127.0.0.1", 0), Naive) as server:
            server.case, server.port = self, server.server_port
            thread = threading.Thread(target=server.handle_request)
            thread.start()
            self.send(server, **words)
            thread.join()
        self.assertEqual(self.head(), "by a web page")
        self.git("reset", "-q", "--soft", "HEAD~1")

    def send(self, server, **words):
        """The request of a page; gives its status."""
        headers = {"token": None, "body": json.dumps(COMMIT).encode(),
                   "MCP_Protocol_Version": http_server.MODERN, "Mcp_Method": "tools/call",
                   "Mcp_Name": "git_commit"}
        return self.status(server, **headers | words)

    def refused(self, server, status, **words):  # pylint: disable=arguments-differ
        """Nothing may come of the request."""
        self.naive(**words)
        self.assertEqual(self.send(server, **words), status)
        self.assertEqual(self.head(), "first")

    def test_cross_site(self):
        """a page of another site reaches a server without tokens, and is refused by its origin"""
        server = http_server.Endpoint(self)
        for origin in ("https://evil.example", "http://127.0.0.1", "http://localhost:80", "null",
                       "http://localhost.evil.example", f"https://localhost:{server.port}",
                       "http://127.0.0.1.evil.example"):
            for kind in ("application/json", "text/plain", "application/x-www-form-urlencoded"):
                with self.subTest(origin, kind=kind):
                    self.refused(server, 403, Origin=origin, Content_Type=kind)
        self.assertEqual(self.send(server), 200)
        self.assertEqual(self.head(), "by a web page")

    def test_rebinding(self):
        """a page whose name leads to this machine is refused by the name"""
        server = http_server.Endpoint(self)
        for host in ("evil.example", f"evil.example:{server.port}", "127.0.0.1.evil.example",
                     f"localhost.evil.example:{server.port}", "0.0.0.0", "[::]", "127.1",
                     f"127.0.0.1:{server.port}.evil.example", "localhost@evil.example"):
            with self.subTest(host):
                self.refused(server, 403, host=host, Origin=f"http://{host}")
                self.refused(server, 403, host=host)
        self.assertEqual(self.send(server), 200)
        self.assertEqual(self.head(), "by a web page")

    def test_tokens(self):
        """with tokens no page comes in, not even one of an accepted origin"""
        server = self.serve()
        origin = f"http://localhost:{server.port}"
        for words in ({}, {"Origin": origin}, {"path": f"/mcp?token={ONE}"}, {"token": TWO},
                      {"Cookie": f"token={ONE}"}):
            with self.subTest(words):
                self.refused(server, 401, **words)
        self.assertEqual(self.send(server, token=ONE, Origin=origin), 200)
        self.assertEqual(self.head(), "by a web page")


class Thieves(http_door.Case):
    """An agent that looks for the token of another one."""

    TOKENS = (f"{ONE} all thief", f"{TWO} all victim")
    CONFIG = ('[tools.shell]\ncommand_whitelist = ["cat", "ls"]\n'
              "[grants.all]\n")

    def client(self, *options):
        """A client of the thief."""
        self.server = self.serve(*options, tokens=self.TOKENS)
        return http_server.Client(self.server, ONE)

    def control(self, *command, stdin=None):
        """A plain program prints the tokens."""
        done = subprocess.run(command, cwd=self.root, env=self.env, capture_output=True,
                              check=False, input=stdin)
        self.assertIn(TWO.encode(), done.stdout + done.stderr, "the control is silent")

    def steals_nothing(self, client, tool, arguments):
        """Whatever comes of the call, no token is in it."""
        answer = client.post(client.message("tools/call", {"name": tool, "arguments": arguments}))
        self.assertNotIn(TWO, json.dumps(answer.messages))
        self.assertNotIn(TWO, "".join(self.out("log", "-p", "--all")))
        return json.dumps(answer.messages)

    def test_git(self):
        """no tool of git reads the token file, by its path or through a link"""
        client = self.client()
        path = str(self.server.token_file)
        self.control("git", "diff", "--no-index", "/dev/null", path)
        (self.root / "link").symlink_to(path)
        self.control("cat", "link")
        for tool, arguments in (
                ("git_diff", {"paths": [path]}), ("git_add", {"paths": [path]}),
                ("git_diff", {"paths": ["link"]}), ("git_diff", {"paths": ["../tokens"]}),
                ("git_blame", {"file": path}), ("git_show", {"ref": path}),
                ("git_add", {"all": True}), ("git_commit", {"message": "x"}),
                ("git_show", {"ref": "HEAD"})):
            with self.subTest(tool, arguments=arguments):
                self.steals_nothing(client, tool, arguments)

    def test_commands(self):
        """no command of bash_command reads the token file"""
        client = self.client("--toolset", "shell", "--tool=command")
        path = self.server.token_file
        self.control("cat", str(path))
        for word in (str(path), "../tokens", "link"):
            (self.root / "link").unlink(missing_ok=True)
            (self.root / "link").symlink_to(path)
            self.steals_nothing(client, "bash_command",
                                {"command": f"cat {word}", "reason": "to steal"})

    def test_replaced(self):
        """an agent that can write beside the token file still has no place to put one"""
        for place in ("tokens", "sub/tokens", ".git/tokens"):
            with self.subTest(place):
                path = self.write(place, ONE + "\n")
                path.chmod(0o600)
                self.assertIn("token file",
                              self.fails("--http", "127.0.0.1:0", "--token-file", path))
        outside = self.base / "elsewhere"
        outside.symlink_to(self.root / "tokens")
        self.assertIn("token file", self.fails("--http", "127.0.0.1:0", "--token-file", outside))
        through = self.root / "through"
        good = self.tokens(ONE)
        through.symlink_to(good)
        self.assertIn("token file", self.fails("--http", "127.0.0.1:0", "--token-file", through))

    def test_processes(self):
        """no token is in the arguments or the environment of what the server starts"""
        client = self.client()
        pipe = self.block_log()
        connection = client.new_connection()
        connection.request("POST", "/mcp", json.dumps(
            client.message("tools/call", {"name": "git_log", "arguments": {}})).encode(),
            client.headers({}))
        writer = self.hold(pipe)
        seen = b""
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.getpgid(int(entry.name)) and os.getsid(int(entry.name)):
                    command = (entry / "cmdline").read_bytes()
                    if b"git\0" in command or b"airlock" in command:
                        seen += command + (entry / "environ").read_bytes()
            except OSError:
                continue
        self.assertIn(b"log", seen)
        self.assertNotIn(TWO.encode(), seen)
        self.assertNotIn(ONE.encode(), seen)
        del writer
        connection.close()


if __name__ == "__main__":
    harness.main()
