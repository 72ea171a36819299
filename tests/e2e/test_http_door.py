#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The front door of `airlock serve --http`: who may come in, from where, and with which rights."""
import json
import os
import resource
import select
import signal
import socket
import time

import harness
import http_door
import http_server
from http_door import ONE, TWO, THREE

# A call that does not end by its own deadline while a test waits.
LONG = {"name": "git_log", "arguments": {"timeout_ms": 600000}}


class Token(http_door.Case):
    def test_authorization(self):
        """a token is the whole word after `Bearer`, in any case of that"""
        server = self.serve(tokens=[ONE, TWO])
        for value, status in (
                (f"Bearer {ONE}", 200), (f"bearer {ONE}", 200), (f"BEARER  {TWO}", 200),
                (None, 401), ("", 401), ("Bearer", 401), (f"Bearer {THREE}", 401),
                (f"Bearer {ONE[:-1]}", 401), (f"Bearer {ONE}1", 401), (f"Bearer {ONE} x", 401),
                (f"Bearer {ONE},{TWO}", 401), (f"Basic {ONE}", 401), (ONE, 401),
                (f"Bearer{ONE}", 401), (f"Token {ONE}", 401)):
            with self.subTest(value):
                got, headers, _ = self.ask(server, token=None, Authorization=value)
                self.assertEqual(got, status)
                self.assertEqual(headers.get("www-authenticate"),
                                 "Bearer" if status == 401 else None)

    def test_which_is_missing(self):
        """the text tells a wrong token from a missing one"""
        server = self.serve(tokens=[ONE])
        for value, text in ((None, b"a token is needed"),
                            (f"Bearer {TWO}", b"no token of this server"),
                            (f"Basic {ONE}", b"no token of this server")):
            with self.subTest(value):
                self.assertIn(text, self.ask(server, token=None, Authorization=value)[2])

    def test_elsewhere(self):
        """a token in the query, in a cookie or in another header is none"""
        server = self.serve()
        for path in (f"/mcp?access_token={ONE}", f"/mcp?token={ONE}", f"/mcp?{ONE}"):
            with self.subTest(path):
                self.assertEqual(self.status(server, token=None, path=path), 401)
                self.assertEqual(self.status(server, path=path), 400)
        self.assertEqual(self.status(server, path="/mcp?"), 400)
        for name in ("Cookie", "X-Api-Key", "Proxy-Authorization", "X-Authorization"):
            with self.subTest(name):
                self.assertEqual(self.status(server, token=None, **{name: f"Bearer {ONE}"}), 401)

    def test_twice(self):
        """two Authorization, Host or Origin headers are refused"""
        server = self.serve()
        body = json.dumps(http_door.INITIALIZE)
        origin = f"http://127.0.0.1:{server.port}"
        for name, value in (("Authorization", f"Bearer {ONE}"), ("Host", origin[7:]),
                            ("Origin", origin)):
            with self.subTest(name), server.connect() as sock:
                sock.sendall((f"POST /mcp HTTP/1.1\r\nHost: {origin[7:]}\r\nOrigin: {origin}\r\n"
                              f"Authorization: Bearer {ONE}\r\n{name}: {value}\r\n"
                              f"Content-Length: {len(body)}\r\n\r\n{body}").encode())
                self.assertIn(b" 400 ", sock.recv(4096).split(b"\r\n")[0])

    def test_paths(self):
        """only /mcp takes a token; /health has no secrets; /review needs its link; nothing else"""
        server = self.serve()
        self.assertEqual(self.ask(server, token=None, method="GET", path="/health")[::2],
                         (200, b"ok"))
        self.assertEqual(self.ask(server, token=THREE, method="GET", path="/health")[0], 200)
        self.assertEqual(self.ask(server, token=None, method="HEAD", path="/health")[::2],
                         (200, b""))
        status, headers, _ = self.ask(server, token=None, path="/health")
        self.assertEqual((status, headers["allow"]), (405, "GET, HEAD"))
        for path in ("/", "/mcp/", "/MCP", "/mcp/x", "/reviews", "/Review", "/health/", "/healthz", "//mcp"):
            for token in (ONE, None):
                with self.subTest(path, token=token):
                    self.assertIn(self.status(server, token=token, path=path), (400, 404))
        for token in (ONE, None):
            for path in ("/review", "/review/live", "/review/events"):
                with self.subTest(path, token=token):
                    self.assertEqual(self.status(server, token=token, method="GET", path=path), 403)
        for method in ("GET", "POST", "DELETE", "PUT", "OPTIONS", "PATCH"):
            with self.subTest(method):
                self.assertEqual(self.status(server, token=None, method=method), 401)

    def test_says_nothing(self):
        """no token, header or body is in what the server prints, with -v either"""
        server = self.serve("-v", tokens=[ONE, TWO])
        secret = "s3cr3t-s3cr3t-s3cr3t-s3cr3t-s3cr3t"
        for words in ({"token": secret}, {"path": f"/mcp?token={secret}"}, {"X_Secret": secret},
                      {"Cookie": secret}, {"path": f"/{secret}"}, {"Origin": f"http://{secret}"},
                      {"host": secret}, {"body": secret.encode()}, {"method": "GET"}):
            self.ask(server, **words)
        client = http_server.Client(server, ONE)
        self.assertFalse(client.call("git_status").failed)
        self.hang_up(server)
        server.write_tokens([secret, secret])
        self.assertIn("nothing was changed", self.hang_up(server))
        server.write_tokens([secret + " " + secret])
        self.assertIn("nothing was changed", self.hang_up(server))
        self.assertEqual(server.end(), 0)
        said = b"".join(server.said).decode()
        for word in (secret, ONE, TWO, "Authorization", "Cookie"):
            self.assertNotIn(word, said)


class Place(http_door.Case):
    def test_host(self):
        """a name that a web page could choose is refused (DNS rebinding)"""
        self.configure('[serve]\nhosts = ["mcp.example", "box.example:99"]\n')
        server = self.serve()
        port = server.port
        for host, status in (
                (f"127.0.0.1:{port}", 200), (f"localhost:{port}", 200), (f"LOCALHOST:{port}", 200),
                ("mcp.example", 200), ("mcp.example:1", 200), ("box.example:99", 200),
                ("127.0.0.1", 403), ("localhost", 403), (f"127.0.0.1:{port + 1}", 403),
                (f"127.0.0.2:{port}", 403), (f"[::1]:{port}", 403), (f"0.0.0.0:{port}", 403),
                (f"evil.example:{port}", 403), (f"localhost.evil.example:{port}", 403),
                (f"localhost.:{port}", 403), ("mcp.example.", 403), ("a.mcp.example", 403),
                ("box.example", 403), ("box.example:98", 403), (f"user@localhost:{port}", 403),
                (f"127.1:{port}", 403)):
            for token in (ONE, None):
                with self.subTest(host, token=token):
                    expected = 401 if status == 200 and not token else status
                    self.assertEqual(self.status(server, token=token, host=host), expected)
        self.assertEqual(self.status(server, method="GET", path="/health", host="evil.example"),
                         403)

    def test_origin(self):
        """a web page of another origin is refused, and gets no CORS header"""
        self.configure('[serve]\norigins = ["https://app.example"]\n')
        server = self.serve()
        port = server.port
        for origin, status in (
                (None, 200), (f"http://127.0.0.1:{port}", 200), (f"http://localhost:{port}", 200),
                ("https://app.example", 200), ("https://app.example:443", 200),
                ("null", 403), ("", 403), ("*", 403), (f"https://127.0.0.1:{port}", 403),
                ("http://127.0.0.1", 403), (f"http://127.0.0.1:{port + 1}", 403),
                (f"http://localhost:{port}/", 403), ("http://app.example", 403),
                ("https://app.example:444", 403), ("https://app.example.evil.example", 403),
                ("https://evil.example", 403), (f"http://user@localhost:{port}", 403),
                (f"http://localhost:{port} https://evil.example", 403), ("file://", 403)):
            with self.subTest(origin):
                got, headers, _ = self.ask(server, Origin=origin)
                self.assertEqual(got, status)
                is_told = origin is not None and status == 200 and "app.example" in origin
                self.assertEqual(headers.get("access-control-allow-origin"),
                                 origin if is_told else None)
        self.assertEqual(self.status(server, token=None, Origin="https://evil.example"), 403)

    def test_preflight(self):
        """a browser's question is answered for configured origins only, and without a token"""
        self.configure('[serve]\norigins = ["https://app.example"]\n')
        server = self.serve()
        words = {"method": "OPTIONS", "token": None, "Access_Control_Request_Method": "POST"}
        status, headers, _ = self.ask(server, Origin="https://app.example", **words)
        self.assertEqual((status, headers["access-control-allow-origin"]),
                         (204, "https://app.example"))
        self.assertIn("Authorization", headers["access-control-allow-headers"])
        self.assertNotIn("access-control-allow-credentials", headers)
        for origin, expected in (("https://evil.example", 403), (None, 401),
                                 (f"http://127.0.0.1:{server.port}", 401)):
            with self.subTest(origin):
                status, headers, _ = self.ask(server, Origin=origin, **words)
                self.assertEqual(status, expected)
                self.assertFalse([name for name in headers if name.startswith("access-control")])

    def test_no_origins(self):
        """without configured origins there is no CORS header at all"""
        server = self.serve()
        for words in ({"Origin": f"http://localhost:{server.port}"}, {"method": "OPTIONS"}):
            _, headers, _ = self.ask(server, **words)
            self.assertFalse([name for name in headers if name.startswith("access-control")])


class Throttle(http_door.Case):
    def start(self, server, token, source="127.0.0.1"):
        """Send a request from an address, and read nothing yet."""
        sock = socket.create_connection(("127.0.0.1", server.port), http_server.WAIT_SECONDS,
                                        (source, 0))
        self.addCleanup(sock.close)
        sock.sendall((f"GET /mcp HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n"
                      f"Authorization: Bearer {token}\r\n\r\n").encode())
        return sock

    def test_wrong_tokens(self):
        """guessing is slow: the eleventh wrong token waits, and nobody else does"""
        server = self.serve()
        for number in range(10):
            self.assertEqual(self.status(server, token=f"{number:032}"), 401)
        begun = time.monotonic()
        late = self.start(server, THREE)
        soon = [self.start(server, ONE), self.start(server, THREE, "127.0.0.2")]
        while soon:
            ready = select.select([late, *soon], [], [], http_server.WAIT_SECONDS)[0]
            self.assertTrue(set(ready) & set(soon), "the late one came first")
            soon = [sock for sock in soon if sock not in ready]
        self.assertIn(b" 401 ", late.recv(4096))
        self.assertGreaterEqual(time.monotonic() - begun, 0.9)
        self.assertEqual(self.status(server), 200)

    def test_no_guess(self):
        """a request without any token is no guess"""
        server = self.serve()
        for _ in range(30):
            self.assertEqual(self.status(server, token=None), 401)
        first = self.start(server, THREE)
        self.assertIn(b" 401 ", first.recv(4096))


class Limits(http_door.Case):
    def test_connections(self):
        """one connection of a token too many is refused, and slows no other token"""
        self.configure("[serve]\nconnections_per_token = 3\n")
        server = self.serve(tokens=[ONE, TWO])
        kept = [http_server.Peer(server, ONE) for _ in range(3)]
        for peer in kept:
            self.assertEqual(peer.post(http_door.INITIALIZE).status, 200)
        status, headers, _ = self.ask(server, token=ONE)
        self.assertEqual((status, headers["retry-after"]), (429, "1"))
        self.assertEqual(self.status(server, token=TWO), 200)
        self.assertEqual(kept[0].post(http_door.INITIALIZE).status, 200)
        kept[0].close()
        http_door.wait_for(lambda: self.status(server, token=ONE) == 200)

    def test_body(self):
        """a body of one byte too many is refused"""
        self.configure("[serve]\nmax_body = 1024\n")
        server = self.serve()
        body = json.dumps(http_door.INITIALIZE).encode()
        for size, status in ((1023, 200), (1024, 200), (1025, 413)):
            with self.subTest(size):
                self.assertEqual(self.status(server, body=body.ljust(size)), status)

    def test_files(self):
        """a low limit of descriptors is raised to what connections and calls need"""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, hard))
        self.addCleanup(resource.setrlimit, resource.RLIMIT_NOFILE, (soft, hard))
        server = self.serve()
        now = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)[0]
        self.assertEqual(now, min(hard, 512 + 128 * 16 + 512))


class Agents(http_door.Case):
    TOKENS = (f"{ONE} reader alice", f"{TWO} writer bob", THREE)

    def test_grants(self):
        """two agents of one server see and may do what their grants have, under their names"""
        server = self.serve(tokens=self.TOKENS)
        alice, bob = http_server.Client(server, ONE), http_server.Client(server, TWO)
        names = [{tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
                 for client in (alice, bob)]
        self.assertEqual(names[0], {"git_status", "git_log"})
        self.assertLess(names[0], names[1])
        self.write("new.txt", "new\n")
        self.assertFalse(alice.call("git_status").failed)
        self.assertEqual(self.record()["agent"], "alice")
        refused = alice.request("tools/call", {"name": "git_add", "arguments": {"all": True}})
        self.assertTrue("error" in refused or refused["result"]["isError"], refused)
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        self.assertFalse(bob.call("git_add", {"paths": ["new.txt"]}).failed)
        self.assertEqual(self.record()["agent"], "bob")
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "new.txt\n")

    def test_modern(self):
        """the same without sessions"""
        server = self.serve(tokens=self.TOKENS)
        alice, bob = http_server.ModernClient(server, ONE), http_server.ModernClient(server, TWO)
        names = [{tool["name"] for tool in client.request("tools/list")["result"]["tools"]}
                 for client in (alice, bob)]
        self.assertEqual(names[0], {"git_status", "git_log"})
        self.assertLess(names[0], names[1])
        self.assertFalse(alice.call("git_log").failed)
        self.assertEqual(self.record()["agent"], "alice")
        self.assertFalse(bob.call("git_status").failed)
        self.assertEqual(self.record()["agent"], "bob")

    def test_names(self):
        """without a name in its line an agent has the option's, the grant's or the client's"""
        server = self.serve(tokens=[ONE, f"{TWO} reader"])
        for token, name in ((ONE, "e2e"), (TWO, "reader")):
            self.assertFalse(http_server.Client(server, token).call("git_status").failed)
            self.assertEqual(self.record()["agent"], name)
        server = self.serve("--agent", "chosen", tokens=[ONE, f"{TWO} reader", f"{THREE} reader x"])
        for token, name in ((ONE, "chosen"), (TWO, "chosen"), (THREE, "x")):
            self.assertFalse(http_server.Client(server, token).call("git_status").failed)
            self.assertEqual(self.record()["agent"], name)

    def test_default_grant(self):
        """--grant is the grant of tokens that name none"""
        server = self.serve("--grant", "reader", tokens=[ONE, f"{TWO} writer"])
        for token, has in ((ONE, False), (TWO, True)):
            tools = http_server.Client(server, token).request("tools/list")["result"]["tools"]
            self.assertEqual("git_add" in {tool["name"] for tool in tools}, has)

    def test_sessions(self):
        """a session belongs to its token"""
        server = self.serve(tokens=self.TOKENS)
        alice, bob = http_server.Client(server, ONE), http_server.Client(server, TWO)
        message = alice.message("tools/list")
        self.assertEqual(alice.post(message).status, 200)
        self.assertEqual(bob.post(message, **{"Mcp-Session-Id": alice.session}).status, 404)
        self.assertEqual(alice.post(message, **{"Mcp-Session-Id": bob.session}).status, 404)
        self.assertEqual(bob.post(message).status, 200)


class Reload(http_door.Case):
    def test_tokens(self):
        """a new token comes in, a removed one does not, and its sessions end"""
        server = self.serve(tokens=[ONE, TWO])
        kept, removed = http_server.Client(server, ONE), http_server.Client(server, TWO)
        message = kept.message("tools/list")
        server.write_tokens([ONE, THREE])
        self.assertEqual(self.status(server, token=THREE), 401)
        self.assertIn("2 tokens; 1 token is gone or has other rights, so its sessions ended", self.hang_up(server))
        self.assertEqual(self.status(server, token=THREE), 200)
        self.assertEqual(kept.post(message).status, 200)
        self.assertEqual(removed.post(message, removed.new_connection()).status, 401)
        server.write_tokens([ONE, TWO])
        self.hang_up(server)
        self.assertEqual(removed.post(message, removed.new_connection()).status, 404)
        self.assertEqual(http_server.Client(server, TWO).request("ping")["result"], {})

    def test_whole_or_not_at_all(self):
        """a wrong file is named, and everything stays as it was"""
        server = self.serve(tokens=[ONE])
        client = http_server.Client(server, ONE)
        good = self.config.read_text(encoding="utf-8")
        for lines, config, why in (
                ([THREE, "short"], good, "tokens:2: a token has at least 32 characters"),
                ([THREE + " nobody"], good, "tokens:1: the second word is no grant"),
                ([], good, "there is no token"),
                ([THREE], good + "[serve]\nnonsense = 1\n", "serve.nonsense: unknown key"),
                ([THREE], good + "[serve\n", "config.toml:"),
                ([THREE], good + '[serve]\norigins = ["*"]\n', "serve.origins"),
                ([THREE + " reader"], self.base_config, "tokens:1: the second word is no grant")):
            with self.subTest(why):
                server.write_tokens(lines)
                self.config.write_text(config, encoding="utf-8")
                said = self.hang_up(server)
                self.assertIn("nothing was changed: ", said)
                self.assertIn(why, said)
                self.assertEqual(self.status(server, token=THREE), 401)
                self.assertEqual(client.post(client.message("ping")).status, 200)
        self.config.unlink()
        self.assertIn("the configuration is gone", self.hang_up(server))
        self.config.write_text(good, encoding="utf-8")
        server.write_tokens([ONE])
        server.token_file.chmod(0o644)
        self.assertIn("other users have rights", self.hang_up(server))
        server.token_file.unlink()
        self.assertIn("cannot read", self.hang_up(server))
        server.write_tokens([ONE, THREE])
        self.assertIn("2 tokens; all sessions go on", self.hang_up(server))
        self.assertEqual(client.post(client.message("ping")).status, 200)
        self.assertEqual(self.status(server, token=THREE), 200)

    def test_rights(self):
        """a token that gets other rights gets another session, the others keep theirs"""
        server = self.serve(tokens=[f"{ONE} reader a", f"{TWO} writer b"])
        one, two = http_server.Client(server, ONE), http_server.Client(server, TWO)
        self.configure(text=self.CONFIG.replace('"git_status", "git_log"', '"git_diff"'))
        self.assertIn("1 token is gone or has other rights", self.hang_up(server))
        self.assertEqual(one.post(one.message("tools/list")).status, 404)
        self.assertEqual(two.post(two.message("tools/list")).status, 200)
        tools = http_server.Client(server, ONE).request("tools/list")["result"]["tools"]
        self.assertEqual([tool["name"] for tool in tools], ["git_diff"])
        server.write_tokens([f"{ONE} reader a", f"{TWO} writer c"])
        self.assertIn("1 token is gone or has other rights", self.hang_up(server))
        self.assertEqual(two.post(two.message("tools/list")).status, 404)
        self.assertFalse(http_server.Client(server, TWO).call("git_log").failed)
        self.configure('[[tools.approval.rule]]\ntool = "git_log"\ndecision = "deny"\n')
        self.assertIn("2 tokens are gone or have other rights", self.hang_up(server))
        self.assertEqual(http_server.Client(server, TWO).call("git_log").kind, "ApprovalDenied")
        for name, *values in (("operation", "log", "diff"), ("tool", "git_log", "git_diff"),
                              ("effect", "reads", "writes_refs"), ("branch", "a", "b"),
                              ("path", "a", "b"), ("address", "a", "b"), ("message", "a", "b")):
            for value in values:
                with self.subTest(name=name, value=value):
                    self.configure('[[tools.approval.rule]]\ndecision = "deny"\n'
                                   f'{name} = "{value}"\n')
                    self.assertIn("2 tokens are gone or have other rights", self.hang_up(server))

    def test_places(self):
        """hosts and origins are read again, without an end of any session"""
        server = self.serve()
        client = http_server.Client(server, ONE)
        self.assertEqual(self.status(server, host="mcp.example"), 403)
        self.configure('[serve]\nhosts = ["mcp.example"]\norigins = ["https://app.example"]\n')
        self.assertIn("all sessions go on", self.hang_up(server))
        self.assertEqual(self.status(server, host="mcp.example"), 200)
        self.assertEqual(self.status(server, Origin="https://app.example"), 200)
        self.configure()
        self.hang_up(server)
        self.assertEqual(self.status(server, host="mcp.example"), 403)
        self.assertEqual(client.post(client.message("ping")).status, 200)

    def test_restart(self):
        """keys that hold until the end are named when they change, and others are not"""
        server = self.serve()
        for more, names in (
                ('[serve]\ncalls_per_token = 3\n', "serve.calls_per_token differs"),
                ('[serve]\nhttp = "127.0.0.1:1"\nidle_s = 1\n', None),
                ('[tools.sandbox]\nallow_absolute = false\n',
                 "tools.sandbox.allow_absolute differs"),
                ('[tools.approval]\nwait_s = 5\n', "tools.approval.wait_s differs"),
                ('[serve]\nhosts = ["x"]\norigins = ["https://x"]\ngrant = "reader"\n', None),
                ('[serve]\nidle_s = 5\nno_token = true\ndrain_s = 1\n',
                 "serve.idle_s, serve.drain_s differ from"),
                ('[mcp.servers.a]\ncommand = ["true"]\n', "mcp.servers differs"),
                ("", None)):
            with self.subTest(more):
                self.configure(more)
                said = self.hang_up(server)
                self.assertEqual("differ" in said, "serve.idle_s" in said or bool(names), said)
                self.assertIn(names or "read again", said)
                self.assertIn("1 token;", said)
        server.write_tokens([ONE, TWO])
        self.assertNotIn("differ", self.hang_up(server))

    def test_grant_of_no_root(self):
        """a grant of a new reading that covers no root is named"""
        server = self.serve(tokens=[f"{ONE} reader"])
        for where, warns in ((self.root, False), (self.base, False), (self.root / "x", False),
                             (self.base / "elsewhere", True)):
            with self.subTest(where):
                self.configure(text=f'[grants.reader]\nfs = {{ "{where}" = "r" }}\n')
                said = self.hang_up(server)
                self.assertIn("read again", said)
                self.assertEqual(f"the grant 'reader' covers no root ({self.root})" in said, warns)

    def test_needs_tokens_on(self):
        """no reading opens a server that began with tokens"""
        server = self.serve()
        self.configure('[serve]\nno_token = true\n')
        self.hang_up(server)
        self.assertEqual(self.status(server, token=None), 401)
        self.assertEqual(self.status(server), 200)

    def test_removed_call(self):
        """the call of a removed token is cancelled"""
        server = self.serve(tokens=[ONE, TWO])
        pipe = self.block_log()
        client = http_server.Client(server, TWO)
        connection = client.new_connection()
        connection.request("POST", "/mcp", json.dumps(
            client.message("tools/call", LONG)).encode(),
            client.headers({}))
        writer = self.hold(pipe)
        server.write_tokens([ONE])
        self.hang_up(server)
        watch = select.poll()
        watch.register(writer, 0)
        self.assertTrue(watch.poll(http_server.WAIT_SECONDS * 1000), "the call goes on")
        connection.close()
        self.assertEqual(self.status(server), 200)


class End(http_door.Case):
    def test_idle(self):
        """SIGTERM ends an idle server with exit code 0"""
        server = self.serve()
        # No call: one counts until shortly after its answer was sent.
        http_server.Client(server, ONE)
        self.assertEqual(server.end(), 0)
        self.assertNotIn(b"waiting", b"".join(server.said))

    def test_in_flight(self):
        """a call in flight is answered, and then the server ends"""
        server = self.serve()
        pipe = self.block_log()
        client = http_server.Client(server, ONE)
        connection = client.new_connection()
        connection.request("POST", "/mcp", json.dumps(
            client.message("tools/call", LONG)).encode(),
            client.headers({}))
        writer = os.open(pipe, os.O_WRONLY)
        server.process.terminate()
        pipe.unlink()
        os.close(writer)
        answer = json.loads(connection.getresponse().read())
        self.assertFalse(answer["result"].get("isError", False), answer)
        self.assertEqual(server.wait(), 0)

    def test_waiting(self):
        """the server says what it waits for, and a second signal ends it at once"""
        server = self.serve()
        pipe = self.block_log()
        client = http_server.Client(server, ONE)
        connection = client.new_connection()
        connection.request("POST", "/mcp", json.dumps(
            client.message("tools/call", LONG)).encode(),
            client.headers({}))
        writer = self.hold(pipe)
        server.process.terminate()
        http_door.wait_for(lambda: any(b"waiting for 1 call, at most 10 s; a second signal" in line
                                       for line in server.said))
        server.process.terminate()
        self.assertEqual(server.wait(), 128 + signal.SIGTERM)
        self.wait_for_its_end(writer)
        connection.close()

    def test_deadline(self):
        """a call that goes on for longer than drain_s is cancelled"""
        self.configure("[serve]\ndrain_s = 0\n")
        server = self.serve()
        pipe = self.block_log()
        client = http_server.Client(server, ONE)
        connection = client.new_connection()
        connection.request("POST", "/mcp", json.dumps(
            client.message("tools/call", LONG)).encode(),
            client.headers({}))
        writer = self.hold(pipe)
        self.assertEqual(server.end(), 0)
        self.wait_for_its_end(writer)
        connection.close()


if __name__ == "__main__":
    harness.main()
