# SPDX-License-Identifier: Apache-2.0
"""Connections that nobody with a token made, at a server that has no room for more."""
import harness
import http_door
import http_server

TOKEN = "crowd-" + "c" * 40
ROOM = 8


class Crowd(http_door.Case):
    """A server that has room for a few connections."""

    def setUp(self):
        super().setUp()
        self.configure(f"[serve]\nconnections = {ROOM}\n")
        self.server = http_server.Endpoint(self, tokens=[TOKEN])

    def crowd(self, first=b""):
        """As many connections as there is room for, and more."""
        held = []
        for _ in range(2 * ROOM):
            held.append(self.server.connect())
            self.addCleanup(held[-1].close)
            if first:
                held[-1].sendall(first)
        return held

    def check(self, client):
        """The client goes on, and a new one is let in."""
        self.assertFalse(client.call("git_status").failed)
        self.assertFalse(http_server.Client(self.server, TOKEN).call("git_status").failed)
        self.assertFalse(client.call("git_status").failed)

    def test_silent(self):
        """connections that say nothing keep nobody out"""
        client = http_server.Client(self.server, TOKEN)
        self.crowd()
        self.check(client)

    def test_half(self):
        """half requests without a token keep nobody out"""
        client = http_server.Client(self.server, TOKEN)
        self.crowd(b"POST /mcp HTTP/1.1\r\nHost: x")
        self.check(client)

    def test_guesses(self):
        """wrong tokens, whose answers are delayed, keep nobody out"""
        client = http_server.Client(self.server, TOKEN)
        guess = (f"GET /mcp HTTP/1.1\r\nHost: localhost:{self.server.port}\r\n"
                 f"Authorization: Bearer {'g' * 40}\r\n\r\n").encode()
        with self.server.connect() as connection:
            for _ in range(10):
                connection.sendall(guess)
                self.assertIn(b" 401 ", connection.recv(4096))
        self.crowd(100 * guess)
        self.check(client)

    def test_lingering(self):
        """refused requests whose clients stay keep nobody out"""
        client = http_server.Client(self.server, TOKEN)
        for connection in self.crowd(b"GET /mcp HTTP/1.0\r\n\r\n"):
            connection.recv(4096)
        self.check(client)

    def test_former(self):
        """connections of a token that is gone keep nobody out"""
        former = "former-" + "f" * 40
        self.server.write_tokens([TOKEN, former])
        self.hang_up(self.server)
        old = [http_server.Client(self.server, former) for _ in range(ROOM - 1)]
        self.server.write_tokens([TOKEN])
        self.hang_up(self.server)
        for client in old:
            client.connection.request("GET", "/mcp", headers=client.headers({}))
            answer = client.connection.getresponse()
            self.assertEqual((answer.status, answer.read()[:20]), (401, b"Authorization has no"))
        client = http_server.Client(self.server, TOKEN)
        self.check(client)

    def test_tokens(self):
        """those who have shown a token are not sent away"""
        clients = [http_server.Client(self.server, TOKEN) for _ in range(ROOM)]
        with self.assertRaises((OSError, AssertionError, http_server.http.client.HTTPException)):
            http_server.Client(self.server, TOKEN)
        for client in clients:
            self.assertFalse(client.call("git_status").failed)


if __name__ == "__main__":
    harness.main()
