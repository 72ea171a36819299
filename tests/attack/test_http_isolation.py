#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Things of one token over HTTP cannot be seen, used or ended with another: one attack a kind.

Each attack is made with the owner's words (session id, event id, request id, cursor, state), which
the attacker is given here; the same words work for the owner, before or after."""
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

import harness
import http_mcp
import http_server
from http_mcp import ONE, TWO, PING, Session
from http_server import META, MODERN

KEPT_CURSORS = 256  # of all tokens
ALWAYS = {"action": "accept", "content": {"decision": "always"}}


class Case(http_mcp.Case):
    def setUp(self):
        super().setUp()
        self.write("b.txt", "new\n")
        self.server = self.serve("--approval", "ask", tokens=[ONE, TWO])
        self.owner, self.thief = (Session(self, self.server, token) for token in (ONE, TWO))

    def ask(self, session, number, path="a.txt"):
        """A call that asks: its exchange and the question."""
        call = session.call(number, "git_add", {"paths": [path]}, token="t")
        message = call.message()
        while "id" not in message:
            message = call.message()
        return call, message

    def rest(self, exchange):
        """All messages up to the end of a stream."""
        messages = []
        while (message := exchange.message()) is not None:
            messages.append(message)
        return messages

    def modern(self, token, params, number=1):
        """A modern call of git_add; gives the answer."""
        message = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params | {
            "_meta": {META + "protocolVersion": MODERN,
                      META + "clientCapabilities": {"elicitation": {"form": {}}}}}}
        headers = self.owner.headers | {
            "MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/call", "Mcp-Name": params["name"],
            "Authorization": f"Bearer {token}", "Mcp-Session-Id": None}
        return http_mcp.Exchange(self, self.server, "POST", message, headers).json()


class Isolation(Case):
    def test_session(self):
        """another token's session is not there: no request, no stream, no end"""
        stolen = {"Mcp_Session_Id": self.owner.id}
        self.assertEqual(self.thief.post(PING, **stolen).end(), 404)
        self.assertEqual(self.thief.call(1, "git_status", **stolen).end(), 404)
        self.assertEqual(self.thief.get(**stolen).end(), 404)
        self.assertEqual(self.thief.get("1-0", **stolen).end(), 404)
        self.assertEqual(self.thief.delete(**stolen), 404)
        self.assertEqual(self.owner.post(PING).end(), 200)

    def test_no_token(self):
        """a session id without its token, or with a wrong one, is nothing"""
        for header in (None, "Bearer " + "3" * 32, f"Bearer {ONE}x", f"Basic {ONE}"):
            self.assertEqual(self.owner.post(PING, Authorization=header).end(), 401, header)
        self.assertEqual(self.owner.post(PING).end(), 200)

    def test_stream(self):
        """an event id brings back the events of one's own session only"""
        _, question = self.ask(self.owner, 1)
        own, _ = self.ask(self.thief, 900, "b.txt")
        own.cut()
        stolen = self.thief.get(question["event"].split("-")[0] + "-0")
        other = Session(self, self.server, TWO)
        self.assertEqual(other.get(question["event"]).end(), 400)
        self.thief.cancel(900)
        text = str(self.rest(stolen)) if stolen.status == 200 else ""
        self.assertNotIn("a.txt", text)
        self.assertEqual(self.owner.get(question["event"]).status, 200)

    def test_session_of_one_token(self):
        """two sessions of one token do not see each other's streams either"""
        _, question = self.ask(self.owner, 1)
        other = Session(self, self.server, ONE)
        self.assertEqual(other.get(question["event"]).end(), 400)

    def test_cancel(self):
        """a cancel reaches the calls of its own session only"""
        call, question = self.ask(self.owner, 1)
        brother = Session(self, self.server, ONE)
        for session in (self.thief, brother):
            session.cancel(1)
            session.cancel(question["id"])
            session.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {
                "requestId": 1, "_meta": {META + "protocolVersion": MODERN}}},
                MCP_Protocol_Version=MODERN, Mcp_Method="notifications/cancelled").end()
        self.owner.answer(question)
        self.assertEqual(self.rest(call)[-1]["id"], 1)
        self.assertEqual(self.staged(), ["a.txt"])

    def test_approval(self):
        """an answer to a question counts in the session that was asked only"""
        call, question = self.ask(self.owner, 1)
        brother = Session(self, self.server, ONE)
        for session in (self.thief, brother):
            self.assertEqual(session.answer(question), 202)
        self.assertEqual(self.thief.post({"jsonrpc": "2.0", "id": question["id"],
                                          "result": http_mcp.ONCE},
                                         Mcp_Session_Id=self.owner.id).end(), 404)
        self.assertEqual(self.staged(), [])
        self.owner.answer(question, {"action": "decline"})
        self.assertTrue(self.rest(call)[-1]["result"]["isError"])

    def test_always(self):
        """ "always" is for the session that said it: every other is asked"""
        call, question = self.ask(self.owner, 1)
        self.owner.answer(question, ALWAYS)
        self.rest(call)
        self.git("reset", "-q")
        self.assertNotIn("isError", self.owner.call(2, "git_add", {"paths": ["a.txt"]})
                         .json()["result"])
        for session in (self.thief, Session(self, self.server, ONE)):
            _, question = self.ask(session, 3, "b.txt")
            session.answer(question, {"action": "decline"})

    def test_progress(self):
        """progress goes to the call that it is about, though tokens and ids are the same"""
        mine, question = self.ask(self.owner, 1)
        theirs, other = self.ask(self.thief, 1, "b.txt")
        self.owner.answer(question, {"action": "decline"})
        self.thief.answer(other, {"action": "decline"})
        for call in (mine, theirs):
            numbers = [m["params"]["progress"] for m in self.rest(call) if "params" in m]
            self.assertEqual(numbers, sorted(set(numbers)))
        self.assertNotIn("b.txt", str(question))
        self.assertNotIn("a.txt", str(other["params"]))

    def test_state(self):
        """a requestState of one token is refused for another"""
        params = {"name": "git_add", "arguments": {"paths": ["a.txt"]}}
        asked = self.modern(ONE, params)["result"]
        self.assertEqual(asked["resultType"], "input_required")
        answer = params | {"inputResponses": {"approve": http_mcp.ONCE},
                           "requestState": asked["requestState"]}
        self.assertEqual(self.modern(TWO, answer, 2)["error"]["code"], -32602)
        self.assertEqual(self.staged(), [])
        self.assertEqual(self.modern(ONE, answer, 3)["result"]["resultType"], "complete")
        self.assertEqual(self.staged(), ["a.txt"])

    def test_result(self):
        """a result that its owner has not read goes to nobody else, with its event id and number"""
        call, question = self.ask(self.owner, 1)
        stream, begin = question["event"].split("-")
        call.cut()
        self.owner.answer(question)
        thieves = (self.thief, Session(self, self.server, TWO), Session(self, self.server, ONE))
        for thief in thieves:
            for event in (question["event"], f"{stream}-0", f"{stream}-{int(begin) + 1}"):
                exchange = thief.get(event)
                self.assertEqual(exchange.end(), 400, (thief.id, event))
            same, other = self.ask(thief, 1, "b.txt")  # a call with the same number
            thief.answer(other, {"action": "decline"})
            self.assertNotIn("a.txt", str(self.rest(same)))
        messages = self.rest(self.owner.get(question["event"]))
        self.assertEqual(messages[-1]["id"], 1)
        self.assertNotIn("isError", messages[-1]["result"])
        self.assertEqual(self.staged(), ["a.txt"])

    def test_ending(self):
        """the end of one session ends no call of another"""
        call, question = self.ask(self.owner, 1)
        brother = Session(self, self.server, ONE)
        self.ask(self.thief, 1, "b.txt")
        self.assertEqual((self.thief.delete(), brother.delete()), (204, 204))
        self.owner.answer(question)
        self.assertEqual(self.rest(call)[-1]["id"], 1)


class Cursors(Case):
    toolsets = ["everyday"]

    def test_cursor(self):
        """a cursor goes on in the session of its answer only"""
        for number in range(30):
            self.commit("c.txt", f"{number}\n", f"commit {number} {'x' * 50}")
        answer = self.owner.call(1, "git_log", {"max_bytes": 1000, "max_count": 100}).json()
        text = answer["result"]["content"][0]["text"]
        cursor = {"cursor": text.split('cursor "')[1].split('"')[0], "max_bytes": 1000}
        for session in (self.thief, Session(self, self.server, ONE)):
            result = session.call(2, "git_log", cursor).json()["result"]
            self.assertTrue(result["isError"])
            self.assertIn("not of this session", result["content"][0]["text"])
        own = self.owner.call(2, "git_log", cursor).json()["result"]
        self.assertNotIn("isError", own)

    def test_many_cursors(self):
        """a token that makes more cursors than the server keeps takes its own places only"""
        for number in range(4):
            self.commit("c.txt", f"{number}\n", f"commit {number} {'x' * 300}")
        words = {"max_bytes": 1000, "max_count": 100}

        def cursor_of(session):
            call = session.call(1, "git_log", words)
            text = call.json()["result"]["content"][0]["text"]
            call.cut()
            return {"cursor": text.split('cursor "')[1].split('"')[0], "max_bytes": 1000}

        mine, first = cursor_of(self.owner), cursor_of(self.thief)
        for _ in range(KEPT_CURSORS):
            last = cursor_of(self.thief)
        self.assertTrue(self.thief.call(2, "git_log", first).json()["result"]["isError"])
        for session, cursor in ((self.thief, last), (self.owner, mine)):
            self.assertNotIn("isError", session.call(2, "git_log", cursor).json()["result"])


class Ownership(http_mcp.Case):
    """Two agents in two linked worktrees of one repository, which share stash and journal."""
    toolsets = ["everyday"]

    def setUp(self):
        super().setUp()
        self.trees = [self.base / "one", self.base / "two"]
        for tree in self.trees:
            self.git("worktree", "add", "-q", "-b", tree.name, str(tree))
        config = self.home / ".config/airlock/config.toml"
        with config.open("a", encoding="utf-8") as file:
            for tree in self.trees:
                file.write(f'[grants.{tree.name}]\nfs = {{ "{tree}" = "rw", '
                           f'"{self.root}/.git" = "rw" }}\n')
        self.server = http_server.Endpoint(self, tokens=[f"{ONE} one one", f"{TWO} two two"],
                                           roots=[self.root, *self.trees])
        self.owner, self.thief = (Session(self, self.server, token) for token in (ONE, TWO))

    def result(self, session, tree, tool, **arguments):
        """The result of a call in a worktree: whether it failed, and its text."""
        answer = session.call(9, tool, arguments | {"working_dir": str(tree)}).json()["result"]
        return answer.get("isError", False), answer["content"][0]["text"]

    def test_stash(self):
        """an entry of another token's worktree is not popped, and its worktree is not reached"""
        one, two = self.trees
        self.write("a.txt", "mine\n", one)
        self.assertFalse(self.result(self.owner, one, "git_stash", action="push")[0])
        for action in ("pop", "apply", "drop"):
            self.assertTrue(self.result(self.thief, two, "git_stash", action=action)[0], action)
            failed, text = self.result(self.thief, one, "git_stash", action=action)
            self.assertTrue(failed)
            self.assertIn("does not cover", text)
        self.assertEqual(len(self.out("stash", "list").splitlines()), 1)
        self.assertFalse(self.result(self.owner, one, "git_stash", action="pop")[0])
        self.assertEqual((one / "a.txt").read_text(encoding="utf-8"), "mine\n")

    def test_undo(self):
        """an undo takes back nothing that another token did"""
        one, two = self.trees
        self.write("a.txt", "mine\n", one)
        self.assertFalse(self.result(self.owner, one, "git_add", all=True)[0])
        before = self.out("diff", "--cached", cwd=one)
        self.assertIn("+mine", before)
        self.result(self.thief, two, "git_undo")
        failed, text = self.result(self.thief, one, "git_undo")
        self.assertTrue(failed)
        self.assertIn("does not cover", text)
        self.assertEqual(self.out("diff", "--cached", cwd=one), before)
        failed, text = self.result(self.owner, one, "git_undo")
        self.assertFalse(failed, text)
        self.assertEqual(self.out("diff", "--cached", cwd=one), "")


class SameTree(http_mcp.Case):
    """Two agents in one working tree: they share its files, and nothing of each other's calls."""
    toolsets = ["everyday"]

    def setUp(self):
        super().setUp()
        self.server = self.serve("--approval", "ask", tokens=[ONE, TWO])
        self.owner, self.thief = (Session(self, self.server, token) for token in (ONE, TWO))

    def result(self, session, tool, arguments=None):
        """The result of a call that asks nobody, or whose question is declined."""
        call = session.call(9, tool, arguments)
        if "json" in call.headers["content-type"]:
            return call.json()["result"]
        while (message := call.message()) is not None:
            if message.get("method") == "elicitation/create":
                self.questions.append(message)
                session.answer(message, {"action": "decline"})
            elif "result" in message:
                last = message["result"]
        return last

    def good(self, session, tool, arguments=None):
        """The text of a call that must work without a question."""
        self.questions = []
        result = self.result(session, tool, arguments)
        self.assertNotIn("isError", result, result)
        self.assertEqual(self.questions, [])
        return result["content"][0]["text"]

    def test_undo(self):
        """an undo takes back one's own calls, and says nothing of another token's"""
        self.write("b.txt", "theirs\n")
        self.good(self.owner, "git_add", {"paths": ["a.txt"]})
        for session in (self.thief, Session(self, self.server, ONE)):
            text = self.good(session, "git_undo")
            self.assertIn("Nothing to undo: this session has changed nothing here", text)
            self.assertNotIn("a.txt", text)
            self.assertNotIn("git_add", text)
        self.assertEqual(self.staged(), ["a.txt"])
        self.good(self.thief, "git_add", {"paths": ["b.txt"]})
        self.good(self.thief, "git_undo")
        self.assertEqual(self.staged(), ["a.txt"])
        self.good(self.owner, "git_undo")
        self.assertEqual(self.staged(), [])

    def test_undo_below(self):
        """an undo of a call that another token's call came after leaves the later one alone"""
        self.write("b.txt", "theirs\n")
        self.good(self.owner, "git_add", {"paths": ["a.txt"]})
        self.good(self.thief, "git_commit", {"message": "theirs", "paths": ["b.txt"]})
        head = self.out("rev-parse", "HEAD")
        self.questions = []
        self.result(self.owner, "git_undo")
        self.assertEqual(self.out("rev-parse", "HEAD"), head)
        self.assertEqual(self.out("show", "HEAD:b.txt"), "theirs\n")

    def test_begun(self):
        """what one token has begun, another one gives up, skips or continues only when allowed"""
        self.commit("f.txt", "base\n", "base")
        self.git("checkout", "-q", "-b", "topic")
        self.commit("f.txt", "theirs\n", "theirs")
        self.git("checkout", "-q", "main")
        self.commit("f.txt", "ours\n", "ours")
        pick = self.good(self.owner, "git_cherry_pick", {"commits": ["topic"]})
        self.assertIn("stopped at a conflict", pick)
        for action in ("abort", "skip"):
            self.questions = []
            result = self.result(self.thief, "git_conflicts", {"action": action})
            self.assertTrue(result["isError"], result)
            self.assertEqual(len(self.questions), 1, action)
            self.assertIn("Another session has begun it", str(self.questions))
        self.assertIn("cherry-pick", self.good(self.owner, "git_status"))
        self.good(self.owner, "git_conflicts", {"action": "abort"})


if __name__ == "__main__":
    harness.main()
