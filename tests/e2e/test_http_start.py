#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`airlock serve --http`: which servers start, and what they say."""
import contextlib
import json
import os
import re
import signal
import socket
import stat
import subprocess
import threading

import harness
import http_door
import http_server
from http_door import ONE, TWO, THREE


class Options(http_door.Case):
    def test_beyond_loopback(self):
        """an address that others reach needs TLS or a proxy"""
        tokens = self.tokens(ONE)
        for place in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0"):
            with self.subTest(place):
                said = self.fails("--http", place, "--token-file", tokens)
                self.assertIn("add --tls-cert and --tls-key, or --behind-proxy", said)
        said = self.fails("--http", "127.0.0.1:0", "--http", "0.0.0.0:0", "--token-file", tokens)
        self.assertIn("'0.0.0.0:0'", said)

    def test_behind_proxy(self):
        """behind a proxy every address is served, but only under names that are known"""
        self.configure('[serve]\nhttp = ["127.0.0.1:0", "0.0.0.0:0"]\nhosts = ["mcp.example"]\n')
        server = http_server.Endpoint(self, "--behind-proxy", tokens=[ONE])
        http_door.wait_for(lambda: len(server.said) > 0)
        for host, status in ((f"127.0.0.1:{server.port}", 200), ("mcp.example", 200),
                             (f"localhost:{server.port}", 200), ("other.example", 403),
                             (f"0.0.0.0:{server.port}", 403)):
            with self.subTest(host):
                self.assertEqual(self.status(server, host=host), status)

    def test_hosts(self):
        """a server that others reach says that it accepts this machine's names only"""
        warning = b"list the names that they use in [serve] hosts"
        for hosts in ("", 'hosts = ["mcp.example"]\n'):
            for places in (["127.0.0.1:0"], ["127.0.0.1:0", "0.0.0.0:0"]):
                with self.subTest(hosts, places=places):
                    self.configure(f"[serve]\nhttp = {json.dumps(places)}\n{hosts}")
                    server = http_server.Endpoint(self, "--behind-proxy", tokens=[ONE])
                    self.assertEqual(warning in b"".join(server.said), not hosts)
                    server.kill()
        self.configure()
        server = self.serve()
        self.assertNotIn(warning, b"".join(server.said))

    def test_grant_of_no_root(self):
        """a grant that a token has, and that covers no root, is named with the roots"""
        self.configure(text=f'[grants.a]\nfs = {{ "{self.base}/x" = "rw" }}\n[grants.b]\n'
                            f'fs = {{ "{self.root}/sub" = "r" }}\n[grants.c]\n'
                            'tools = ["git_*"]\n')
        warning = f"the grant 'a' covers no root ({self.root})".encode()
        for tokens, options, warns in (([f"{ONE} a"], (), True), ([f"{ONE} b", TWO], (), False),
                                       ([f"{ONE} c"], (), False), ([ONE], (), False),
                                       ([ONE], ("--grant", "a"), True),
                                       ([f"{ONE} b"], ("--grant", "a"), False)):
            with self.subTest(tokens, options=options):
                server = self.serve(*options, tokens=tokens)
                self.assertEqual(warning in b"".join(server.said), warns, server.said)
                server.kill()
        done = subprocess.run([harness.AIRLOCK, "serve", "--grant", "a"], cwd=self.root,
                              env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                              check=True)
        self.assertIn(warning, done.stderr)

    def test_no_token(self):
        """without tokens only this machine is served, and a warning says so"""
        for place in ("0.0.0.0:0", "[::]:0", "192.0.2.1:0"):
            for more in ((), ("--behind-proxy",)):
                with self.subTest(place, more=more):
                    said = self.fails("--http", place, "--no-token", *more)
                    self.assertIn("--no-token is for loopback addresses and Unix sockets", said)
        server = http_server.Endpoint(self)
        self.assertEqual(self.status(server, token=None), 200)
        self.assertEqual(self.status(server, token=THREE), 200)
        self.assertEqual(server.end(), 0)
        self.assertIn(b"warning: --no-token", b"".join(server.said))

    def test_combinations(self):
        """options that mean nothing together are refused"""
        tokens, place = self.tokens(ONE), ("--http", "127.0.0.1:0")
        for words, why in (
                ((*place, "--token-file", tokens, "--no-token"), "exclude each other"),
                ((*place, "--tls-cert", "/x"), "TLS needs both"),
                ((*place, "--tls-key", "/x"), "TLS needs both"),
                (("--token-file", tokens), "add --http"),
                (("--no-token",), "add --http"),
                (("--behind-proxy",), "add --http"),
                (("--tls-cert", "/x", "--tls-key", "/y"), "add --http"),
                (("--http", "localhost:0"), "--http"),
                (("--http", "127.0.0.1"), "--http"),
                (("--http", "127.0.0.1:65536"), "--http"),
                (("--http", "127.0.0.1:x"), "--http"),
                (("--http", "unix:"), "--http"),
                (("--http", ""), "--http"),
                ((*place, "--token-file"), "needs a value"),
                ((*place, "--no-tokens"), "did you mean --no-token?"),
                ((*place, "word"), "serve takes options only")):
            with self.subTest(words):
                self.assertIn(why, self.fails(*words))

    def test_no_place(self):
        """a token file without an address is no error, since a configuration is for all; it is said"""
        for more, warns in (('token_file = "tokens"\n', True), ("no_token = false\n", False)):
            self.configure("[serve]\n" + more)
            done = subprocess.run([harness.AIRLOCK, "serve"], cwd=self.root, env=self.env,
                                  stdin=subprocess.DEVNULL, capture_output=True, check=True)
            self.assertEqual(b"serve.token_file is for a server over HTTP" in done.stderr, warns)

    def test_other_commands(self):
        """no other command knows the options of a server"""
        for words in (("call", "--http", "127.0.0.1:0", "git_status"), ("tools", "--no-token"),
                      ("doctor", "--token-file", "x"), ("call", "--behind-proxy", "git_status")):
            with self.subTest(words):
                done = subprocess.run([str(harness.AIRLOCK), *words], cwd=self.root, env=self.env,
                                      stdin=subprocess.DEVNULL, capture_output=True, check=False)
                self.assertEqual(done.returncode, 2)
                self.assertIn(b"unknown option", done.stderr)

    def test_configured(self):
        """each option has a key, and the option comes first"""
        tokens, other = self.tokens(ONE), self.tokens(TWO, name="other")
        self.configure('[serve]\nhttp = "127.0.0.1:0"\ntoken_file = "' + str(tokens) + '"\n')
        process = subprocess.Popen([str(harness.AIRLOCK), "serve"], cwd=self.root, env=self.env,
                                   stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        line = process.stderr.readline().decode()
        port = int(re.search(r"http://127\.0\.0\.1:(\d+)/mcp", line)[1])
        process.port = port
        self.assertEqual(self.status(process), 200)
        self.assertEqual(self.status(process, token=TWO), 401)
        process.terminate()
        self.assertEqual(process.wait(), 0)
        process.stderr.close()
        server = http_server.Endpoint(self, "--token-file", str(other), tokens=[ONE])
        self.assertEqual(self.status(server, token=TWO), 200)
        self.assertEqual(self.status(server, token=ONE), 401)


class TokenFile(http_door.Case):
    def start(self, path):
        """What a server says that cannot start with this token file."""
        said = self.fails("--http", "127.0.0.1:0", "--token-file", path)
        for token in (ONE, TWO, THREE):
            self.assertNotIn(token, said)
        return said

    def test_rights(self):
        """the file is the user's alone"""
        for mode in (0o640, 0o604, 0o620, 0o644, 0o601):
            with self.subTest(oct(mode)):
                said = self.start(self.tokens(ONE, mode=mode))
                self.assertIn("other users have rights to the token file", said)
        for mode in (0o600, 0o400):
            with self.subTest(oct(mode)):
                path = self.tokens(TWO, name=f"good-{mode}", mode=mode)
                server = http_server.Endpoint(self, "--token-file", str(path), tokens=[ONE])
                self.assertEqual(self.status(server, token=TWO), 200)

    def test_owner(self):
        """a file of another user is refused"""
        path = self.tokens(ONE)
        try:
            os.chown(path, 65534, -1)
        except PermissionError:
            self.skipTest("only root can give a file away")
        self.assertIn("belongs to another user", self.start(path))

    def test_lines(self):
        """a wrong line is named by its number, and no word of it is printed"""
        for lines, where in (
                (["# nothing"], "tokens: there is no token"),
                ([ONE[:31]], "tokens:1: a token has at least 32 characters; make one with"),
                (["reader " + ONE + " bob"], "tokens:1: a token has at least 32 characters, and "
                 "comes first: TOKEN [GRANT [AGENT]]"),
                ([ONE, "", ONE], "tokens:3: the token of line 1 again"),
                ([ONE, TWO + " nobody"], "tokens:2: the second word is no grant"),
                ([ONE + " " + TWO], "tokens:1: the second word is no grant"),
                ([ONE + " reader a b"], "tokens:1: there are more than three words"),
                ([ONE + " reader a\u202eb"], "tokens:1: the third word, the agent's name")):
            with self.subTest(lines):
                self.assertIn(where, self.start(self.tokens(*lines)))

    def test_places(self):
        """a missing file, a directory and a file inside a root are refused"""
        self.assertIn("cannot read", self.start(self.base / "missing"))
        self.assertIn("not a regular file", self.start(self.base))
        path = self.write("tokens", ONE + "\n")
        path.chmod(0o600)
        self.assertIn("token file", self.start(path))

    def test_made(self):
        """without a token file one is made, works, and is printed once"""
        process = subprocess.Popen([str(harness.AIRLOCK), "serve", "--http", "127.0.0.1:0"],
                                   cwd=self.root, env=self.env, stdin=subprocess.DEVNULL,
                                   stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        lines = [process.stderr.readline().decode() for _ in range(4)]
        snippet = json.loads("".join(lines[1:3]))["mcpServers"]["airlock"]
        token = snippet["headers"]["Authorization"].removeprefix("Bearer ")
        self.assertGreaterEqual(len(token), 32)
        process.port = int(re.search(r":(\d+)/mcp", snippet["url"])[1])
        self.assertEqual(self.status(process, token=token), 200)
        self.assertEqual(self.status(process, token=ONE), 401)
        self.assertEqual(self.status(process, token=None), 401)
        for more in ("", "[serve]\nno_token = true\n"):
            self.configure(more)
            os.kill(process.pid, signal.SIGHUP)
            if more:
                self.assertIn("serve.no_token differs", process.stderr.readline().decode())
            self.assertIn("read again: 1 token; all sessions go on",
                          process.stderr.readline().decode())
            self.assertEqual(self.status(process, token=token), 200)
            self.assertEqual(self.status(process, token=None), 401)
        process.terminate()
        self.assertEqual(process.wait(), 0)
        self.assertNotIn(token, "".join(lines[3:]) + process.stderr.read().decode())
        process.stderr.close()


class UnixSocket(http_door.Case):
    def start(self, path, *options):
        """A server on a socket too."""
        server = self.serve("--http", f"unix:{path}", *options)
        http_door.wait_for(lambda: any(b"unix:" in line for line in server.said))
        return server

    def ask_unix(self, path, token=ONE, host="localhost"):
        """The status of a request on a socket."""
        connection = http_door.UnixConnection(path)
        headers = [("Host", host), ("Content-Type", "application/json"),
                   ("Accept", "application/json, text/event-stream")]
        if token:
            headers.append(("Authorization", f"Bearer {token}"))
        try:
            return http_door.answer_of(connection, "POST", "/mcp", headers,
                                       json.dumps(http_door.INITIALIZE).encode())[0]
        finally:
            connection.close()

    def test_serves(self):
        """a socket of the user's alone, with the same rules, gone at the end"""
        path = self.base / "a.sock"
        server = self.start(path)
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        for words, status in (({}, 200), ({"token": None}, 401), ({"token": TWO}, 401),
                              ({"host": "evil.example"}, 403), ({"host": "127.0.0.1"}, 200)):
            with self.subTest(words):
                self.assertEqual(self.ask_unix(path, **words), status)
        self.assertEqual(self.status(server), 200)
        self.assertEqual(server.end(), 0)
        self.assertFalse(path.exists())

    def test_first(self):
        """whoever reaches the server at all gets an answer, however early"""
        for number in range(4):
            path, statuses = self.base / f"{number}.sock", []
            starting = threading.Thread(target=self.start, args=[path])
            starting.start()
            while not statuses:
                with contextlib.suppress(FileNotFoundError, ConnectionRefusedError):
                    statuses.append(self.ask_unix(path))
            starting.join()
            self.assertEqual(statuses, [200])

    def test_dead(self):
        """a socket that nobody listens at is replaced"""
        path = self.base / "a.sock"
        with socket.socket(socket.AF_UNIX) as dead:
            dead.bind(str(path))
        self.start(path)
        self.assertEqual(self.ask_unix(path), 200)

    def test_live(self):
        """a socket of another server is left alone, and so is any other file"""
        path, file = self.base / "a.sock", self.base / "file"
        self.start(path)
        file.write_text("mine", encoding="utf-8")
        for place in (path, file, self.base):
            with self.subTest(place):
                self.fails("--http", f"unix:{place}", "--no-token", code=1)
        self.assertEqual(file.read_text(encoding="utf-8"), "mine")
        self.assertEqual(self.ask_unix(path), 200)

    def test_no_token(self):
        """a socket may be served without tokens"""
        path = self.base / "a.sock"
        server = http_server.Endpoint(self, "--http", f"unix:{path}")
        http_door.wait_for(lambda: any(b"unix:" in line for line in server.said))
        self.assertEqual(self.ask_unix(path, token=None), 200)

    def test_inside_a_root(self):
        """a socket that an agent could replace by its own is refused"""
        (self.base / "link").symlink_to(self.root)
        for place in (self.root / "a.sock", "a.sock", self.base / "link/a.sock",
                      self.root / ".git/a.sock"):
            with self.subTest(place):
                said = self.fails("--http", f"unix:{place}", "--no-token")
                self.assertIn("the socket lies in the root", said)
        self.configure('[serve]\nhttp = "unix:' + str(self.root / "a.sock") + '"\n')
        self.assertIn("the socket lies in the root", self.fails())
        self.assertEqual(list(self.root.glob("*.sock")), [])


class Tls(http_door.Case):
    def certify(self):
        """A key and its certificate, which is found by a link."""
        key, cert = self.base / "key.pem", self.base / "cert.pem"
        done = subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                               "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                               "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                               "-keyout", key, "-out", cert], capture_output=True, check=False)
        if done.returncode:
            self.skipTest("openssl makes no certificate")
        link = self.base / "live.pem"
        link.symlink_to(cert)
        return key, link

    def test_tls(self):
        """with a certificate tokens are encrypted on their way"""
        key, cert = self.certify()
        self.configure('[serve]\nhosts = ["localhost"]\n')
        tokens = self.tokens(ONE)
        process = subprocess.Popen(
            [str(harness.AIRLOCK), "serve", "--http", "0.0.0.0:0", "--token-file", tokens,
             "--tls-cert", cert, "--tls-key", key], cwd=self.root, env=self.env,
            stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        line = process.stderr.readline().decode()
        port = int(re.search(r"https://0\.0\.0\.0:(\d+)/mcp", line)[1])
        for token, status in ((ONE, "200"), (TWO, "401")):
            done = subprocess.run(
                ["curl", "-s", "--cacert", cert, "-o", self.base / "body", "-w", "%{http_code}",
                 "-H", f"Authorization: Bearer {token}", "-H", "Content-Type: application/json",
                 "-H", "Accept: application/json, text/event-stream", "-d",
                 json.dumps(http_door.INITIALIZE), f"https://127.0.0.1:{port}/mcp"],
                capture_output=True, check=False, timeout=http_server.WAIT_SECONDS)
            self.assertEqual(done.stdout.decode(), status, done.stderr)
        process.terminate()
        self.assertEqual(process.wait(), 0)
        process.stderr.close()

    def test_key(self):
        """a key inside a root, a missing one and no certificate at all are refused"""
        tokens, key = self.tokens(ONE), self.write("key.pem", "x")
        for path in (key, "key.pem"):
            said = self.fails("--http", "127.0.0.1:0", "--token-file", tokens, "--tls-cert", "/x",
                              "--tls-key", path)
            self.assertIn("the TLS key lies in the root", said)
        self.fails("--http", "127.0.0.1:0", "--token-file", tokens, "--tls-cert", "/missing",
                   "--tls-key", "/missing")

    def test_key_rights(self):
        """a key that others can read or change is refused, as a token file is"""
        tokens, (key, cert) = self.tokens(ONE), self.certify()
        for mode in (0o604, 0o644, 0o602, 0o620, 0o660, 0o610):
            with self.subTest(oct(mode)):
                key.chmod(mode)
                said = self.fails("--http", "127.0.0.1:0", "--token-file", tokens, "--tls-cert",
                                  cert, "--tls-key", key)
                self.assertIn(f"{key}: other users have rights to the TLS key", said)
                self.assertIn("chmod 600 it", said)


if __name__ == "__main__":
    harness.main()
