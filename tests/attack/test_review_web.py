#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An agent cannot answer on the review page: a command of bash_command connects neither to it
nor to a socket that tells a link, and the key of a link is in no file and no answer of a tool.

The controls are the same programs, started by the user.
"""
import json
import os
import subprocess
import sys
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import harness  # pylint: disable=wrong-import-position
import reviewing  # pylint: disable=wrong-import-position

# Says into a file whether the page can be connected to, and what a socket says to the wish for a
# link.
REACH = """import json, socket, sys

said = []
try:
    socket.create_connection(("127.0.0.1", int(sys.argv[2])), 60).close()
    said.append("connected")
except OSError as error:
    said.append(type(error).__name__)
try:
    peer = socket.socket(socket.AF_UNIX)
    peer.connect(sys.argv[3])
    peer.sendall(b'{"do":"link"}\\n')
    said.append(sorted(json.loads(peer.makefile("rb").readline()))[0])
except OSError as error:
    said.append(type(error).__name__)
with open(sys.argv[1], "w") as file:
    file.write(" ".join(said))
"""


class Attack(reviewing.ReviewCase):
    """A page is served, and the agent has a program that looks for it."""

    def setUp(self):
        super().setUp()
        self.write("reach.py", REACH)
        self.env["PATH"] = "/usr/bin:/bin"  # a python that the sandbox can run
        self.page = subprocess.Popen([harness.AIRLOCK, "review", "--web"], cwd=self.base,
                                     env=self.env, stdin=subprocess.DEVNULL,
                                     stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                     start_new_session=True)
        self.addCleanup(self.page.stderr.close)
        self.addCleanup(self.page.stdout.close)
        self.addCleanup(self.page.wait)
        self.addCleanup(self.page.kill)
        link = urllib.parse.urlsplit(self.page.stdout.readline().decode().strip())
        self.port, self.key = link.port, link.query.removeprefix("k=")
        self.assertEqual(len(self.key), 32)

    def socket_of(self, server):
        """The path of a server's socket."""
        return str(self.sockets / f"{server.process.pid}.sock")

    def configure(self, isolation):
        """The user lets python3 run."""
        (self.home / ".config/airlock/config.toml").write_text(
            'toolsets = ["git", "shell"]\n[tools.shell]\n'
            f'isolation = "{isolation}"\ncommand_whitelist = ["python3"]\n')

    def test_control(self):
        """control: started by the user, the program connects, and a server answers it"""
        server = harness.Server(self)
        subprocess.run([sys.executable, self.root / "reach.py", self.root / "said", str(self.port),
                        self.socket_of(server)], check=True)
        self.assertEqual((self.root / "said").read_text(), "connected error")

    def test_shell(self):
        """bash_command reaches neither the page nor the socket, with every isolation"""
        for isolation in ("auto", "landlock", "none"):
            self.configure(isolation)
            said = self.root / "said"
            said.unlink(missing_ok=True)
            server = harness.Server(self, "--tool=all", "--approval", "allow")
            server.ask("bash_command", {
                "command": f"python3 reach.py said {self.port} {self.socket_of(server)}",
                "reason": "x"})
            answer = server.receive()
            self.assertTrue(said.exists(), answer)
            self.assertEqual(said.read_text(), "PermissionError PermissionError", isolation)
            self.assertNotIn(self.key, json.dumps(answer))

    def test_secret(self):
        """the key of a link is in no file of airlock's, and in nothing that the page says"""
        harness.Server(self).ok("git_status")
        files = [path for path in self.base.rglob("*") if path.is_file()]
        self.assertTrue(any("journal" in path.name or path.suffix == ".jsonl" for path in files),
                        files)
        for path in files:
            self.assertNotIn(self.key.encode(), path.read_bytes(), path)
        self.page.terminate()
        self.assertNotIn(self.key.encode(), self.page.stderr.read())


if __name__ == "__main__":
    harness.main()
