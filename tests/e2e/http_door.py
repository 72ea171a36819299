# SPDX-License-Identifier: Apache-2.0
"""Requests at the front door of a server over HTTP, and servers that must not start."""
import http.client
import json
import os
import signal
import socket
import subprocess
import threading

import harness
import http_server

ONE, TWO, THREE = "1" * 32, "2" * 40, "3" * 64
INITIALIZE = {"jsonrpc": "2.0", "id": 1, "method": "initialize",
              "params": {"protocolVersion": http_server.LEGACY, "capabilities": {},
                         "clientInfo": {"name": "door", "version": "1"}}}


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path):
        super().__init__("localhost", timeout=http_server.WAIT_SECONDS)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(str(self.path))


def answer_of(connection, method, path, headers, body=b""):
    """One request with exactly these headers; gives status, headers and body."""
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for name, value in headers:
        connection.putheader(name, value)
    connection.putheader("Content-Length", str(len(body)))
    connection.endheaders(body)
    response = connection.getresponse()
    found = {name.lower(): value for name, value in response.getheaders()}
    return response.status, found, response.read()


class Case(harness.Case):
    """A repository, and a configuration with two grants."""

    CONFIG = ('[grants.reader]\ntools = ["git_status", "git_log"]\n'
              '[grants.writer]\ntools = ["git_*"]\n')

    def setUp(self):
        super().setUp()
        self.init()
        self.config = self.home / ".config/airlock/config.toml"
        self.base_config = self.config.read_text(encoding="utf-8")
        self.configure()

    def configure(self, more="", text=None):
        """Write the configuration, whole or not at all."""
        new = self.config.with_suffix(".new")
        new.write_text(self.base_config + (self.CONFIG if text is None else text) + more,
                       encoding="utf-8")
        new.replace(self.config)

    def serve(self, *options, tokens=(ONE,), **named):
        """A server with these lines in its token file."""
        return http_server.Endpoint(self, *options, tokens=tokens, **named)

    def ask(self, server, token=ONE, method="POST", path="/mcp", host=None, body=None, **more):
        """A request; `more` are headers, of which None is left out."""
        headers = {"Host": host if host is not None else f"127.0.0.1:{server.port}",
                   "Content-Type": "application/json",
                   "Accept": "application/json, text/event-stream",
                   "Authorization": f"Bearer {token}" if token else None}
        headers |= {name.replace("_", "-"): value for name, value in more.items()}
        body = json.dumps(INITIALIZE).encode() if body is None and method == "POST" else body or b""
        connection = http.client.HTTPConnection("127.0.0.1", server.port,
                                                timeout=http_server.WAIT_SECONDS)
        try:
            return answer_of(connection, method, path,
                             [(name, value) for name, value in headers.items() if value is not None],
                             body)
        finally:
            connection.close()

    def status(self, *words, **named):
        """Only the status of a request."""
        return self.ask(*words, **named)[0]

    def hang_up(self, server, before=None):
        """SIGHUP; gives the line that says what came of it."""
        seen = len(server.said)
        os.kill(server.process.pid, signal.SIGHUP)
        wait_for(lambda: any(b"read again" in line or b"nothing was changed" in line
                             for line in server.said[seen:]))
        return b"".join(server.said[seen:]).decode()

    def fails(self, *options, code=2):
        """`airlock serve` must end at once with this exit code; gives what it says."""
        done = subprocess.run(self.launch([str(harness.AIRLOCK), "serve", *map(str, options)]),
                              cwd=self.root, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False,
                              timeout=http_server.WAIT_SECONDS, start_new_session=True)
        self.assertEqual((done.returncode, done.stdout), (code, b""), done.stderr)
        return done.stderr.decode()

    def tokens(self, *lines, name="tokens", mode=0o600):
        """A token file."""
        path = self.base / name
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        path.chmod(mode)
        return path


def wait_for(test):
    """Wait until something is so; the watchdog of the case ends it."""
    pause = threading.Event()
    while not test():
        pause.wait(0.01)
