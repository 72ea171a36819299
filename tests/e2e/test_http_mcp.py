#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions of the legacy era over HTTP: handshake, streams, questions, progress, and their end."""
import harness
import http_mcp
from http_mcp import PING, Session


class Handshake(http_mcp.Case):
    def test_session(self):
        """initialize gives an id of 128 random bits and nothing else does; two sessions differ"""
        server = self.serve()
        first, second = Session(self, server), Session(self, server)
        self.assertRegex(first.id, "^[0-9a-f]{32}$")
        self.assertNotEqual(first.id, second.id)
        self.assertEqual(first.greeting["result"]["protocolVersion"], "2025-11-25")
        self.assertEqual(first.hello.headers["content-type"], "application/json")
        ping = first.post(PING)
        self.assertEqual((ping.status, ping.json()), (200, {"jsonrpc": "2.0", "id": 7,
                                                            "result": {}}))
        self.assertNotIn("mcp-session-id", ping.headers)

    def test_bad_initialize(self):
        """an initialize that fails makes no session"""
        server = self.serve(sessions_per_token=1)
        bad = http_mcp.INITIALIZE | {"params": {}}
        headers = {"Content-Type": "application/json", "Accept": "*/*"}
        for _ in range(2):
            answer = http_mcp.Exchange(self, server, "POST", bad, headers)
            self.assertEqual(answer.json()["error"]["code"], -32602)
            self.assertNotIn("mcp-session-id", answer.headers)
        Session(self, server)

    def test_ids(self):
        """a request without a session's id is 400, with another one 404; so are GET and DELETE"""
        session = Session(self, self.serve())
        other = session.id[:-1] + ("0" if session.id[-1] != "0" else "1")
        for id_, status in ((None, 400), (other, 404), (session.id + "0", 404), ("", 400)):
            self.assertEqual(session.post(PING, Mcp_Session_Id=id_).end(), status, id_)
            self.assertEqual(session.get(Mcp_Session_Id=id_).end(), status, id_)
            self.assertEqual(session.delete(Mcp_Session_Id=id_), status, id_)
        self.assertEqual(session.post(PING).end(), 200)

    def test_delete(self):
        """DELETE ends the session and cancels its calls; afterwards it is 404"""
        session = Session(self, self.serve())
        other = Session(self, session.server)
        call, _ = self.question(session, 1)
        self.assertEqual(session.delete(), 204)
        withdrawn = call.message()
        self.assertIn(withdrawn and withdrawn["method"], (None, "notifications/cancelled"))
        self.assertIsNone(call.message())
        for answer in (session.post(PING).end(), session.get().end(), session.delete()):
            self.assertEqual(answer, 404)
        self.assertEqual(other.post(PING).end(), 200)
        self.assertEqual(self.staged(), [])

    def test_versions(self):
        """the version header of a session may be missing or legacy; any other is 400"""
        session = Session(self, self.serve())
        for version, status in (("2025-11-25", 200), ("2025-03-26", 200), (None, 200),
                                ("1999-01-01", 400), ("x", 400), ("2026-07-28", 400)):
            self.assertEqual(session.post(PING, MCP_Protocol_Version=version).end(), status,
                             version)

    def test_headers(self):
        """content type and accepted types"""
        session = Session(self, self.serve())
        both = "application/json, text/event-stream"
        for accept, status in (("application/json", 406), ("text/event-stream", 406),
                               ("text/html", 406), (None, 200), ("*/*", 200), (both, 200),
                               ("text/*, application/*", 200), (both + ";q=0", 406),
                               ("Text/Event-Stream;q=0.5,APPLICATION/JSON;q=0.1", 200)):
            self.assertEqual(session.post(PING, Accept=accept).end(), status, accept)
        for kind, status in (("text/plain", 415), (None, 415), ("application/jsonx", 415),
                             ("Application/JSON; charset=utf-8", 200)):
            self.assertEqual(session.post(PING, Content_Type=kind).end(), status, kind)
        self.assertEqual(session.get(Accept="application/json").end(), 406)

    def test_bodies(self):
        """bodies that cannot be read are 400; what has no answer is 202 without a body"""
        session = Session(self, self.serve())
        for body, code in ((b"{", -32700), (b"", -32700), (b'"x"', -32600), (b"{}", -32600),
                           (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600)):
            answer = session.post(body)
            self.assertEqual((answer.status, answer.json()["error"]["code"]), (400, code), body)
        for message in ({"jsonrpc": "2.0", "method": "notifications/initialized"},
                        {"jsonrpc": "2.0", "id": "nobody-asked", "result": {}}):
            answer = session.post(message)
            self.assertEqual((answer.status, answer.response.read()), (202, b""))
        unknown = session.post(PING | {"method": "no/such"})
        self.assertEqual((unknown.status, unknown.json()["error"]["code"]), (200, -32601))

    def test_methods(self):
        """other methods are 405 and name those there are"""
        session = Session(self, self.serve())
        for method in ("PUT", "PATCH", "OPTIONS"):
            answer = http_mcp.Exchange(self, session.server, method, None, session.headers)
            self.assertEqual(answer.end(), 405, method)
            self.assertEqual(answer.headers["allow"], "POST, GET, DELETE")

    def test_batches(self):
        """batches are for sessions of 2025-03-26 alone, and hold no modern request"""
        server = self.serve()
        old = Session(self, server, revision="2025-03-26")
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        modern = {"jsonrpc": "2.0", "id": 9, "method": "server/discover"}
        both = old.post([PING, note, PING | {"id": "8"}, modern])
        self.assertEqual(both.status, 200)
        answers = both.json()
        self.assertEqual([a["id"] for a in answers], [7, "8", 9])
        self.assertEqual(answers[2]["error"]["code"], -32600)
        self.assertEqual(old.post([note, note]).end(), 202)
        self.assertEqual(old.post([]).end(), 400)
        calls = old.post([{"jsonrpc": "2.0", "id": n, "method": "tools/call",
                           "params": {"name": "git_status"}} for n in range(3)])
        self.assertEqual(sorted(a["id"] for a in calls.json()), [0, 1, 2])
        self.assertEqual(Session(self, server).post([PING]).end(), 400)
        self.assertEqual(old.post([PING], Mcp_Session_Id=None).end(), 400)


class Calls(http_mcp.Case):
    def test_plain(self):
        """a call that neither asks nor reports is answered with JSON"""
        session = Session(self, self.serve())
        answer = session.call(1, "git_status")
        self.assertEqual(answer.headers["content-type"], "application/json")
        self.assertIn("a.txt", answer.json()["result"]["content"][0]["text"])

    def test_question(self):
        """a call that asks is a stream: the question, and after a POST with the answer the result"""
        session = Session(self, self.serve())
        call, question = self.question(session, 1)
        self.assertEqual(call.headers["content-type"], "text/event-stream")
        self.assertEqual(session.answer(question), 202)
        answer = call.message()
        self.assertEqual(answer["id"], 1)
        self.assertNotIn("isError", answer["result"])
        self.assertIsNone(call.message())
        self.assertEqual(self.staged(), ["a.txt"])

    def test_first_event(self):
        """a stream of revision 2025-11-25 begins with an id and no message, older ones do not"""
        server = self.serve()
        new, _ = Session(self, server), None
        call = new.call(1, "git_add", {"paths": ["a.txt"]})
        first = call.event()
        self.assertEqual((first["data"], bool(first["id"]), bool(first["retry"])), ("", True, True))
        old = Session(self, server, revision="2025-06-18")
        call = old.call(1, "git_add", {"paths": ["a.txt"]})
        self.assertIn("elicitation/create", call.event()["data"])

    def test_progress(self):
        """progress comes on the stream of its own call, with its own token"""
        session = Session(self, self.serve())
        call = session.call(1, "git_add", {"paths": ["a.txt"]}, token="t")
        messages = [call.message(), call.message()]
        notes = [m for m in messages if m["method"] == "notifications/progress"]
        self.assertEqual([m["params"]["progressToken"] for m in notes], ["t"])
        question = next(m for m in messages if m["method"] == "elicitation/create")
        session.answer(question)
        messages = []
        while message := call.message():
            messages.append(message)
        self.assertEqual(messages[-1]["id"], 1)

    def test_at_once(self):
        """calls at once in one session are answered each on its own stream"""
        session = Session(self, self.serve())
        calls = [self.question(session, number) for number in range(3)]
        self.assertEqual(len({question["id"] for _, question in calls}), 3)
        for call, question in reversed(calls):
            session.answer(question, {"action": "decline"})
        for number, (call, _) in enumerate(calls):
            self.assertEqual(call.message()["id"], number)

    def test_same_id(self):
        """an id in flight is refused in its session, and free in another one"""
        session = Session(self, self.serve())
        other = Session(self, session.server)
        self.question(session, 1)
        again = session.call(1, "git_status")
        self.assertEqual((again.status, again.json()["error"]["code"]), (400, -32600))
        self.assertEqual(other.call(1, "git_status").json()["id"], 1)

    def test_cancel(self):
        """a cancelled call withdraws its question and ends its stream without an answer"""
        session = Session(self, self.serve())
        call, question = self.question(session, 1)
        self.assertEqual(session.cancel(1), 202)
        withdrawn = call.message()
        self.assertEqual((withdrawn["method"], withdrawn["params"]["requestId"]),
                         ("notifications/cancelled", question["id"]))
        self.assertIsNone(call.message())
        self.assertEqual(session.answer(question), 202)
        self.assertEqual(self.staged(), [])

    def test_cancel_plain(self):
        """a cancelled call that had sent nothing ends without an answer"""
        pipe = self.block_log()
        session = Session(self, self.serve())
        number = 5
        connection = http_mcp.http.client.HTTPConnection("127.0.0.1", session.server.port)
        self.addCleanup(connection.close)
        connection.request("POST", "/mcp", http_mcp.json.dumps(
            {"jsonrpc": "2.0", "id": number, "method": "tools/call",
             "params": {"name": "git_log", "arguments": {"timeout_ms": 600000}}}).encode(),
            {name: value for name, value in session.headers.items() if value})
        writer = self.hold(pipe)
        session.cancel(number)
        self.assertEqual(connection.getresponse().read(), b"")
        self.wait_for_its_end(writer)


class Streams(http_mcp.Case):
    def test_dropped(self):
        """a dropped connection cancels nothing; GET with the last event's id brings the rest"""
        session = Session(self, self.serve())
        call, question = self.question(session, 1)
        call.cut()
        session.answer(question)
        again = session.get(question["event"])
        self.assertEqual(again.headers["content-type"], "text/event-stream")
        self.assertEqual(again.message()["id"], 1)
        self.assertIsNone(again.message())
        self.assertEqual(self.staged(), ["a.txt"])

    def test_replay(self):
        """what a stream sent can be had again, from any of its events, also after its end"""
        session = Session(self, self.serve())
        call, question = self.question(session, 1)
        session.answer(question)
        answer = call.message()
        self.assertIsNone(call.message())
        first = question["event"].split("-")[0] + "-0"
        for last, expected in ((first, [question, answer]), (question["event"], [answer]),
                               (answer["event"], [])):
            again = session.get(last)
            self.assertEqual([again.message() for _ in expected], expected)
            self.assertIsNone(again.message())

    def test_taken_over(self):
        """a second connection to a stream takes it over from the first"""
        session = Session(self, self.serve())
        call, question = self.question(session, 1)
        again = session.get(question["event"])
        self.assertIsNone(call.message())
        session.answer(question)
        self.assertEqual(again.message()["id"], 1)

    def test_bad_last_ids(self):
        """an id of no kept event is 400"""
        session = Session(self, self.serve())
        _, question = self.question(session, 1)
        stream, number = question["event"].split("-")
        for last in ("x", "1", "-", "1-", "-1", f"{stream}-{int(number) + 1}", "999-1",
                     f"{stream}-{number} ", f"{stream}-{number}x", "9" * 40 + "-1",
                     f"{stream}-" + "9" * 40):
            self.assertEqual(session.get(last.strip()).end() if last.strip() != question["event"]
                             else 400, 400, last)

    def test_forgotten(self):
        """of the streams that have ended, the last eight are kept"""
        session = Session(self, self.serve())
        events = []
        for number in range(10):
            call, question = self.question(session, number)
            session.answer(question, {"action": "decline"})
            while call.message():
                pass
            events.append(question["event"])
        self.question(session, 10)  # looks through those that have ended
        self.assertEqual([session.get(event).status for event in events], [400] * 2 + [200] * 8)

    def test_own_stream(self):
        """GET opens the session's own stream; a second one takes its place; DELETE ends it"""
        session = Session(self, self.serve())
        first = session.get()
        self.assertEqual((first.status, first.headers["content-type"]),
                         (200, "text/event-stream"))
        second = session.get()
        self.assertIsNone(first.message())
        self.assertEqual(session.post(PING).end(), 200)
        session.delete()
        self.assertIsNone(second.message())


class End(http_mcp.Case):
    def test_drain(self):
        """SIGTERM: no new call, but those in flight may end, and get their answers"""
        server = self.serve(drain_s=60)
        session = Session(self, server)
        call, question = self.question(session, 1)
        waiting = session.post(PING)
        waiting.response.read()
        answering = waiting.connection
        server.process.send_signal(harness.signal.SIGTERM)
        refused = http_mcp.Exchange(self, server, "POST", PING, session.headers, answering)
        while refused.end() == 200:
            refused = http_mcp.Exchange(self, server, "POST", PING, session.headers, answering)
        self.assertEqual(refused.status, 503)
        body = {"jsonrpc": "2.0", "id": question["id"], "result": http_mcp.ONCE}
        self.assertEqual(http_mcp.Exchange(self, server, "POST", body, session.headers,
                                           answering).end(), 202)
        self.assertEqual(call.message()["id"], 1)
        self.assertEqual(server.wait(), 0)
        self.assertEqual(self.staged(), ["a.txt"])

    def test_drain_ends(self):
        """a call that does not end within drain_s is cancelled"""
        server = self.serve(drain_s=1)
        session = Session(self, server)
        call, _ = self.question(session, 1)
        self.assertEqual(server.end(), 0)
        self.assertEqual(self.staged(), [])


if __name__ == "__main__":
    harness.main()
