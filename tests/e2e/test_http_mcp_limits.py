#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Limits of sessions and calls over HTTP, made small: one below, at, and one above."""
import json

import harness
import http_mcp
from http_mcp import ONE, TWO, PING, Session

ANSWER_BYTES = 4 << 20  # of a batch, before requests are left out


class Limits(http_mcp.Case):
    def initialize(self, server, token=None, connection=None):
        """One more session: its exchange."""
        headers = {"Content-Type": "application/json", "Accept": "*/*",
                   "Authorization": f"Bearer {token}" if token else None}
        return http_mcp.Exchange(self, server, "POST", http_mcp.INITIALIZE, headers,
                                 connection)

    def refused(self, exchange):
        """The request was refused because too much runs, and may be sent again."""
        self.assertEqual(exchange.status, 429)
        self.assertGreater(int(exchange.headers["retry-after"]), 0)
        self.assertIn("too many", exchange.json()["error"]["message"])

    def test_sessions(self):
        """a session too many is 429; none is evicted, and one that ends makes room"""
        server = self.serve("--approval", "ask", tokens=[ONE, TWO], sessions_per_token=2)
        sessions = [Session(self, server, ONE) for _ in range(2)]
        self.refused(self.initialize(server, ONE))
        Session(self, server, TWO)
        for session in sessions:
            self.assertEqual(session.post(PING).end(), 200)
        self.assertEqual(sessions[0].delete(), 204)
        self.assertEqual(self.initialize(server, ONE).status, 200)
        self.refused(self.initialize(server, ONE))

    def test_calls_per_token(self):
        """a call too many of a token is 429, over all its sessions; other tokens have their own"""
        server = self.serve("--approval", "ask", tokens=[ONE, TWO], calls_per_token=2)
        first, second, other = (Session(self, server, token) for token in (ONE, ONE, TWO))
        self.assertEqual(first.call(0, "git_status").json()["id"], 0)
        _, question = self.question(first, 1)
        self.assertEqual(first.call(2, "git_status").status, 200)
        held, _ = self.question(second, 3)
        self.refused(first.call(4, "git_status"))
        self.refused(second.call(4, "git_status"))
        self.assertEqual(second.post(PING).end(), 200)
        self.assertEqual(second.post({"jsonrpc": "2.0", "id": 8, "method": "tools/list"}).end(), 200)
        self.assertEqual(other.call(4, "git_status").status, 200)
        self.assertEqual(first.answer(question, {"action": "decline"}), 202)
        second.cancel(3)
        while held.message():
            pass
        self.assertEqual(second.call(5, "git_status").status, 200)

    def test_argument_bytes(self):
        """arguments of a token's calls in flight: 8 times max_body, of values and their text"""
        server = self.serve("--approval", "ask", tokens=[ONE, TWO], max_body=16384)
        first, other = (Session(self, server, token) for token in (ONE, TWO))
        paths = {"paths": ["a.txt"] * 900}  # about 62,000 bytes: two fit

        def asked(session, number):
            call = session.call(number, "git_add", paths, token="t")
            self.assertEqual(call.status, 200)
            message = call.message()
            while "id" not in message:
                message = call.message()
            return call, message

        held, question = asked(first, 1)
        asked(first, 2)
        self.refused(first.call(3, "git_add", paths))
        asked(other, 3)
        first.answer(question, {"action": "decline"})
        while held.message():
            pass
        asked(first, 4)

    def test_calls(self):
        """a call too many of the server is 429 for every token, and no session is harmed"""
        server = self.serve("--approval", "ask", tokens=[ONE, TWO], calls=2)
        first, second = Session(self, server, ONE), Session(self, server, TWO)
        self.question(first, 1)
        held, question = self.question(second, 1)
        self.refused(first.call(2, "git_status"))
        self.refused(second.call(2, "git_status"))
        second.answer(question, {"action": "decline"})
        while held.message():
            pass
        self.assertEqual(first.call(3, "git_status").status, 200)

    def test_dropped_call_counts(self):
        """a call whose client has dropped its connection still counts"""
        server = self.serve(calls_per_token=1)
        session = Session(self, server)
        call, question = self.question(session, 1)
        call.cut()
        self.refused(session.call(2, "git_status"))
        session.answer(question, {"action": "decline"})
        rest = session.get(question["event"])
        while rest.message():
            pass
        self.assertEqual(session.call(3, "git_status").status, 200)

    def test_batch(self):
        """a batch has 1000 messages at most"""
        session = Session(self, self.serve(), revision="2025-03-26")
        for count in (999, 1000):
            answers = session.post([PING | {"id": number} for number in range(count)])
            self.assertEqual([answer["id"] for answer in answers.json()], list(range(count)))
        refused = session.post([PING] * 1001)
        self.assertEqual(refused.status, 400)
        self.assertIn("1000 messages", refused.json()["error"]["message"])

    def test_batch_answers(self):
        """answers of a batch that are too large are left out, each with an error of its own"""
        session = Session(self, self.serve(), revision="2025-03-26")
        lists = [{"jsonrpc": "2.0", "id": number, "method": "tools/list"} for number in range(900)]
        text = session.post(lists).response.read().decode()
        answers = json.loads(text)
        self.assertEqual([answer["id"] for answer in answers], list(range(900)))
        given = [answer for answer in answers if "result" in answer]
        left = [answer["error"]["message"] for answer in answers if "error" in answer]
        self.assertEqual(answers, given + [answer for answer in answers if "error" in answer])
        self.assertEqual(set(left), {"the answers to this batch are too large; send the other "
                                     "requests again"})
        size = text.index('"error"') // len(given)
        self.assertLess((len(given) - 1) * size, ANSWER_BYTES)
        self.assertGreaterEqual((len(given) + 1) * size, ANSWER_BYTES)
        notice = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        self.assertEqual(session.post([notice] * 1000).end(), 202)

    def test_events(self):
        """what streams of a token keep is limited: the oldest ended one cannot be resumed then"""
        server = self.serve(tokens=[ONE, TWO], max_body=1024)
        first, second, other = (Session(self, server, token) for token in (ONE, ONE, TWO))
        ids = {}
        for session in (other, first):
            call, question = self.question(session, 1)
            session.answer(question, {"action": "decline"})
            self.assertEqual(call.message()["id"], 1)
            ids[session] = question["event"]
            self.assertEqual(session.get(ids[session]).message()["id"], 1)
        again = first.get(ids[first])
        for number in range(2, 40):
            if again.status != 200:
                break
            call, question = self.question(second, number)
            second.answer(question, {"action": "decline"})
            self.assertEqual(call.message()["id"], number)
            again = first.get(ids[first])
        self.assertEqual(again.status, 400)
        self.assertIn("not kept", again.json()["error"]["message"])
        self.assertEqual(other.get(ids[other]).message()["id"], 1)
        self.assertEqual(second.get(question["event"]).message()["id"], number - 1)
        self.assertEqual(first.post(PING).end(), 200)

    def test_idle(self):
        """a session that is not used ends after idle_s, one with a call or a stream does not"""
        server = self.serve(idle_s=1, sessions_per_token=3)
        waiting, listening, idle = (Session(self, server) for _ in range(3))
        _, question = self.question(waiting, 1)
        stream = listening.get()
        again = self.initialize(server)
        while again.status == 429:  # until the idle one has ended
            again.end()
            again = self.initialize(server, connection=again.connection)
        self.assertEqual(again.status, 200)
        self.assertEqual(idle.post(PING).end(), 404)
        self.assertEqual(listening.post(PING).end(), 200)
        self.assertEqual(waiting.answer(question), 202)
        listening.delete()
        self.assertIsNone(stream.message())


if __name__ == "__main__":
    harness.main()
