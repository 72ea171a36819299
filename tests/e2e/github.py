# SPDX-License-Identifier: Apache-2.0
"""A server like GitHub on loopback: real `git http-backend` behind a door that asks for a token."""
import base64
import contextlib
import http.server
import os
import subprocess
import threading
import unittest

import harness
import pushing
import servers

TOKEN = "ghp_0123456789abcdefABCDEF0123456789abcd"
NEEDED = ("GitHub authentication required.\nEither:\n"
          "  - Set GITHUB_TOKEN environment variable, or\n"
          "  - Run `gh auth login` to authenticate with GitHub CLI")

needs_askpass = unittest.skipIf(harness.ASAN, "askpass cannot start below the limits of memory")


class Handler(http.server.BaseHTTPRequestHandler):
    """One request for git http-backend."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        """Nothing is written down."""

    def body(self):
        """What the client sends."""
        if self.headers.get("Transfer-Encoding") != "chunked":
            return self.rfile.read(int(self.headers.get("Content-Length") or 0))
        pieces = []
        while size := int(self.rfile.readline(), 16):
            pieces.append(self.rfile.read(size))
            self.rfile.readline()
        self.rfile.readline()
        return b"".join(pieces)

    def answer(self, status, headers, body=b""):
        """Send an answer, and count it."""
        self.server.hub.sent += len(body)
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def handle_request(self):
        """Any request."""
        hub, body = self.server.hub, self.body()
        given = self.headers.get("Authorization")
        hub.seen.append((self.command, self.path, given))
        if hub.before(self):
            return
        path, _, query = self.path.partition("?")
        pushes = "git-receive-pack" in self.path
        if (pushes or not hub.is_public) and given != hub.expected:
            self.answer(401, [("WWW-Authenticate", 'Basic realm="GitHub"')])
            return
        self.backend(path, query, body)

    do_GET = do_POST = handle_request

    def backend(self, path, query, body):
        """Let git http-backend answer."""
        env = os.environ | {
            "GIT_PROJECT_ROOT": str(self.server.hub.base), "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": path.lower(), "QUERY_STRING": query, "REQUEST_METHOD": self.command,
            "CONTENT_TYPE": self.headers.get("Content-Type", ""), "REMOTE_USER": "oauth2",
            "CONTENT_LENGTH": str(len(body)), "REMOTE_ADDR": "127.0.0.1",
            "HTTP_CONTENT_ENCODING": self.headers.get("Content-Encoding", ""),
            "GIT_PROTOCOL": self.headers.get("Git-Protocol", ""), "HOME": "/nonexistent",
        }
        done = subprocess.run([servers.program("git"), "http-backend"], input=body, env=env,
                              capture_output=True, check=False).stdout
        head, _, content = done.partition(b"\r\n\r\n")
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n") if line]
        status = next((int(v.split()[0]) for k, v in lines if k == "Status"), 200)
        headers = [(k, v) for k, v in lines if k != "Status"]
        self.answer(status, headers, self.server.hub.change(self.path, content))


class Listener(http.server.ThreadingHTTPServer):
    """Says nothing about connections that break."""

    daemon_threads = True

    def handle_error(self, request, client_address):
        pass


class Hub:
    """The server; `base` has the repositories, as owner/name.git."""

    def __init__(self, case, base, token=TOKEN):
        self.base, self.seen, self.sent, self.is_public = base, [], 0, True
        self.token(token)
        self.listener = Listener(("127.0.0.1", 0), Handler)
        self.listener.hub = self
        self.url = f"http://127.0.0.1:{self.listener.server_address[1]}"
        thread = threading.Thread(target=self.listener.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        case.addCleanup(self.stop, thread)

    def stop(self, thread):
        """The end."""
        self.listener.shutdown()
        thread.join(servers.WAIT_SECONDS)
        self.listener.server_close()

    def token(self, token):
        """The token that opens the door."""
        self.expected = "Basic " + base64.b64encode(f"oauth2:{token}".encode()).decode()

    def before(self, _handler):
        """For tests: true when the request was answered."""
        return False

    def change(self, _path, content):
        """For tests: what is sent instead."""
        return content

    def tokens(self):
        """The different credentials that requests brought."""
        return {given for _, _, given in self.seen if given}


class Held:
    """A hub whose answers to some requests wait until the test lets them go."""

    def __init__(self, case, hub, word):
        self.reached, self.go = threading.Event(), threading.Event()
        case.addCleanup(self.go.set)

        def before(handler):
            if word in f"{handler.command} {handler.path} {handler.headers.get('Authorization')}":
                self.reached.set()
                self.go.wait(servers.WAIT_SECONDS)
            return False

        hub.before = before

    def wait(self):
        """Until such a request came."""
        assert self.reached.wait(servers.WAIT_SECONDS)


class Case(pushing.Pushing):
    """A root with a repository, a workspace, and user/proj on the hub with one commit."""

    TARGET = {"type": "github", "repo": "user/proj"}

    def setUp(self):
        super().setUp()
        self.top = self.base / "hub"
        self.top.mkdir()
        self.far = self.make("user/proj")
        self.git("push", "-q", str(self.far), "HEAD:main")
        self.hub = Hub(self, self.top)
        self.configure(f'github_base_url = "{self.hub.url}"')
        self.env["GITHUB_TOKEN"] = TOKEN

    def make(self, name):
        """An empty repository on the hub."""
        path = self.top / f"{name}.git"
        path.parent.mkdir(exist_ok=True)
        self.git("init", "-q", "--bare", str(path))
        for key in ("uploadpack.allowFilter", "http.receivepack"):
            self.git("config", key, "true", cwd=path)
        return path

    def elsewhere(self, name="far.txt", content="far\n", branch="main"):
        """Somebody else pushes a commit; gives it."""
        clone = self.base / "clone"
        if not clone.exists():
            self.git("clone", "-q", str(self.far), str(clone))
        self.git("fetch", "-q", cwd=clone)
        self.git("checkout", "-q", "-B", branch, f"origin/{branch}", cwd=clone)
        commit = self.commit(name, content, "from elsewhere", clone)
        self.git("push", "-q", "origin", branch, cwd=clone)
        return commit

    def without_gh(self):
        """A PATH with git and no gh."""
        place = self.base / "only-git"
        place.mkdir(exist_ok=True)
        if not (place / "git").exists():
            (place / "git").symlink_to(servers.program("git"))
        return str(place)

    def mirrors(self):
        """The mirrors that there are."""
        run = self.home / ".local/state/airlock/run"
        return [str(path) for path in run.glob("*/mirror-*")]

    def assert_nothing_left(self):
        """No mirror is left in the private directories."""
        self.assertEqual(self.mirrors(), [])

    def assert_no_token(self, token=TOKEN):
        """Nothing below the user's home has the token."""
        for path in self.home.rglob("*"):
            with contextlib.suppress(OSError):
                if path.is_file():
                    self.assertNotIn(token.encode(), path.read_bytes(), path)
