#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Questions that wait are listed and answered by airlock review, once, by whoever is first."""
import datetime
import json
import os
import re

import harness
import reviewing
import test_words

ADD = {"paths": ["a.txt"]}


def moment(text):
    """A time of an entry."""
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ")


class Asked(reviewing.ReviewCase):
    """The client can ask: its form and airlock review are two doors of one question."""

    def setUp(self):
        super().setUp()
        self.server = harness.AskingServer(self)

    def ask(self, arguments=None):
        """git_add; gives the id of its form, and the entry."""
        self.server.ask("git_add", arguments or ADD)
        form = self.server.receive()
        self.assertEqual(form["method"], "elicitation/create")
        return form["id"], self.waiting()[-1]

    def withdrawn(self, form):
        """The form is withdrawn, then comes the result."""
        message = self.server.receive()
        self.assertEqual((message["method"], message["params"]["requestId"]),
                         ("notifications/cancelled", form))
        return harness.Result(self.server.receive()["result"])

    def test_entry(self):
        """an entry has what the user needs, and the keys in their order"""
        self.git("add", "a.txt")
        self.server.ask("git_commit", {"type": "fix", "message": "say two"})
        shown = self.server.receive()["params"]["message"]
        entry = self.the_one()
        self.assertEqual(list(entry), reviewing.KEYS)
        self.assertRegex(entry["id"], "^[0-9a-f]{8}$")
        self.assertEqual(moment(entry["deadline"]) - moment(entry["time"]),
                         datetime.timedelta(seconds=600))
        self.assertEqual(
            {key: entry[key] for key in reviewing.KEYS[2:9]},
            {"agent": "e2e", "client": "e2e", "repository": str(self.root), "tool": "git_commit",
             "operation": "commit", "summary": "Commit: fix: say two", "risk": "medium"})
        self.assertIn("+two", entry["text"])
        self.assertIn(entry["text"], shown)
        self.assertEqual(entry["why"], "it changes what is staged, moves branches or tags")

    def test_rule(self):
        """an entry names the rule that asks"""
        config = self.home / ".config/airlock/config.toml"
        config.write_text('toolsets = ["git"]\n[[tools.approval.rule]]\ntool = "git_status"\n'
                          'decision = "ask"\n')
        server = harness.AskingServer(self)
        server.ask("git_status")
        server.receive()
        self.assertIn("rule 1", self.the_one()["why"])

    def test_once(self):
        """approve lets the call run, the form is withdrawn, and the journal says who decided"""
        form, entry = self.ask()
        self.assertEqual(self.review("approve", entry["id"]),
                         "Approved once: Stage 1 file(s): a.txt\n")
        result = self.withdrawn(form)
        self.assertFalse(result.failed, result)
        self.assertEqual(self.staged(), ["a.txt"])
        record = self.record()
        self.assertEqual((record["decision"], record["decided_by"]), ("once", "review"))
        self.assertEqual(self.waiting(), [])

    def test_always(self):
        """approve --always covers what the question says, and the next call is not asked about"""
        form, entry = self.ask()
        self.assertEqual(self.review("approve", entry["id"], "--always"),
                         "Approved always: Stage 1 file(s): a.txt\n")
        self.assertFalse(self.withdrawn(form).failed)
        self.write("a.txt", "three\n")
        self.server.ok("git_add", ADD)
        self.assertEqual(self.record()["decision"], "always")

    def test_reject(self):
        """the agent gets the reason of a rejection as one safe line"""
        form, entry = self.ask()
        self.assertEqual(self.review("reject", entry["id"], "not\nbefore", "\u001b[2JMonday"),
                         "Rejected: Stage 1 file(s): a.txt\n")
        result = self.withdrawn(form)
        self.assertEqual((result.kind, result.text),
                         ("ApprovalDenied", "Rejected: not before Monday"))
        self.assertEqual(self.staged(), [])
        self.assertEqual((self.record()["decision"], self.record()["decided_by"]),
                         ("rejected", "review"))

    def test_reject_silently(self):
        """a rejection needs no reason"""
        form, entry = self.ask()
        self.review("reject", entry["id"])
        self.assertIn("Stage 1 file(s): a.txt", self.withdrawn(form).text)

    def test_long_reason(self):
        """a reason is cut at 500 characters"""
        form, entry = self.ask()
        self.review("reject", entry["id"], "\u00e9" * 30000)
        self.assertEqual(self.withdrawn(form).text, "Rejected: " + "\u00e9" * 500)

    def test_form_first(self):
        """what the client's form has answered no longer waits: exit 1, and nothing else happens"""
        form, entry = self.ask()
        self.server.send(id=form, result={"action": "accept", "content": {"decision": "once"}})
        self.assertFalse(harness.Result(self.server.receive()["result"]).failed)
        for words in (("approve",), ("approve", "--always"), ("reject",), ("show",)):
            self.assertIn(f"no question '{entry['id']}' waits",
                          self.review(*words, entry["id"], code=1))
        self.assertEqual(self.record()["decided_by"], "elicitation")

    def test_form_late(self):
        """the form's answer does not count once airlock review has answered"""
        form, entry = self.ask()
        self.review("reject", entry["id"], "no")
        self.server.send(id=form, result={"action": "accept", "content": {"decision": "once"}})
        message = self.server.receive()
        # A form that was answered before the server came to it need not be withdrawn.
        if message.get("method") == "notifications/cancelled":
            self.assertEqual(message["params"]["requestId"], form)
            message = self.server.receive()
        self.assertEqual(harness.Result(message["result"]).text, "Rejected: no")
        self.assertEqual(self.staged(), [])
        self.server.assert_lives()

    def test_cancelled(self):
        """a question whose call is cancelled no longer waits"""
        _, entry = self.ask()
        self.server.send(method="notifications/cancelled",
                         params={"requestId": self.server.asked})
        self.server.receive()
        self.server.assert_lives()
        self.assertEqual(self.waiting(), [])
        self.review("approve", entry["id"], code=1)

    def test_many(self):
        """several questions are listed oldest first, and each is answered by its own id"""
        names = [f"{number}.txt" for number in range(4)]
        forms = {}
        for name in names:
            self.write(name, "new\n")
            self.server.ask("git_add", {"paths": [name]})
            forms[name] = (self.server.asked, self.server.receive()["id"])
        entries = self.waiting()
        self.assertEqual([entry["summary"][-5:] for entry in entries], names)
        self.assertEqual(sorted(entry["time"] for entry in entries),
                         [entry["time"] for entry in entries])
        self.assertEqual(len({entry["id"] for entry in entries}), 4)
        self.review("reject", entries[2]["id"], "this one")
        self.assertEqual(self.withdrawn(forms["2.txt"][1]).text, "Rejected: this one")
        self.assertEqual([entry["id"] for entry in self.waiting()],
                         [entries[index]["id"] for index in (0, 1, 3)])

    def test_text(self):
        """the list and one question are readable, and show what runs"""
        pipe = self.block_log()
        other = harness.Server(self)
        other.ask("git_log")
        writer = self.hold(pipe)
        _, entry = self.ask()
        listed = self.review("--list")
        self.assertIn(f"Waiting for an answer:\n{entry['id']}  Stage 1 file(s): a.txt\n", listed)
        self.assertIn("git_add (add), risk medium", listed)
        self.assertEqual(listed.count("git_add"), 1)
        self.assertIn(f"Running:\n{other.process.pid:8}  ", listed)
        self.assertIn("git_log", listed)
        self.assertEqual(test_words.completed(self, "review", "show", ""), [entry["id"]])
        # How long ago something began may change between two lists.
        self.assertIn(self.review(), (listed, self.review("--list")))
        shown = self.review("show", entry["id"])
        self.assertIn("summary     Stage 1 file(s): a.txt\n", shown)
        self.assertIn("--always    every git_add (add) in this repository", shown)
        self.assertEqual(json.loads(self.review("show", entry["id"], "--json")), entry)
        os.unlink(pipe)
        os.close(os.dup(writer))

    def test_listed_once(self):
        """a call whose summary was resolved, or has a secret, is listed as waiting only"""
        for branch in (None, "ghp_" + "a1B2" * 9):
            with self.subTest(branch):
                if branch:
                    self.git("switch", "-q", "-c", branch)
                else:
                    self.git("init", "-q", "--bare", str(self.root / "hub.git"))
                    self.git("remote", "add", "origin", str(self.root / "hub.git"))
                server = harness.AskingServer(self, "--toolset", "everyday")
                number = server.ask("git_push", {"branch": branch} if branch else {})
                form = server.receive()["id"]
                entry = self.the_one()
                listed = self.review("--list")
                self.assertIn(f"{entry['id']}  Push ", listed)
                self.assertEqual(listed.count("git_push"), 1, listed)
                self.assertNotIn("Running:", listed)
                server.send(id=form, result={"action": "accept",
                                             "content": {"decision": "reject"}})
                self.assertEqual(server.receive()["id"], number)

    def test_hostile(self):
        """text of the repository does nothing to the terminal of the user"""
        name = "x\u001b[2J\u202e.txt"
        self.write(name, "\u001b]0;title\u0007\n")
        self.git("add", "-A")
        self.server.ask("git_commit", {"type": "fix", "message": "a\u001b[31m \u202e"})
        self.server.receive()
        entry = self.the_one()
        for shown in (self.review(), self.review("show", entry["id"]),
                      self.review("--list", "--json")):
            self.assertFalse(re.search("[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202e]", shown),
                             repr(shown))
        lines = self.review("show", entry["id"]).split("\n\n", 1)[1].splitlines()
        self.assertTrue(all(line.startswith("  ") for line in lines), lines)


class Attending(reviewing.ReviewCase):
    """With a review attached, a call waits although its client cannot ask."""

    def serve(self, *options, **named):
        """A server whose client cannot ask, and a review that is attached to it."""
        server = harness.Server(self, "--approval", "ask", *options, **named)
        return server, reviewing.Attached(self, server.process.pid)

    def test_nobody(self):
        """without one the call ends at once, and is no entry"""
        server = harness.Server(self, "--approval", "ask")
        self.assertEqual(server.call("git_add", ADD).kind, "ApprovalRequired")
        self.assertEqual(self.waiting(), [])

    def test_waits(self):
        """the call waits, and is done once it is approved"""
        server, attached = self.serve()
        server.ask("git_add", ADD)
        entry = attached.entry()
        self.assertEqual(self.the_one(), entry)
        self.assertEqual(self.staged(), [])
        self.review("approve", entry["id"])
        self.assertFalse(harness.Result(server.receive()["result"]).failed)
        self.assertEqual(attached.receive(), {"gone": entry["id"]})

    def test_answer(self):
        """an attached review answers on the connection on which it was told"""
        server, attached = self.serve()
        server.ask("git_add", ADD)
        entry = attached.entry()
        self.assertEqual(attached.answer(entry["id"], "reject", reason="no"), {"ok": True})
        self.assertEqual(harness.Result(server.receive()["result"]).text, "Rejected: no")
        self.assertEqual(attached.answer(entry["id"], "once"), {"gone": entry["id"]})

    def test_progress(self):
        """progress notices say what the call waits for"""
        server, attached = self.serve()
        server.send(id=7, method="tools/call", params={
            "name": "git_add", "arguments": ADD, "_meta": {"progressToken": "p"}})
        notice = server.receive()
        self.assertEqual((notice["method"], notice["params"]["message"]),
                         ("notifications/progress", "waiting for approval in airlock review"))
        attached.answer(attached.entry()["id"], "once")
        while "result" not in (message := server.receive()):
            self.assertEqual(message["method"], "notifications/progress")

    def test_over(self):
        """after wait_s the call fails, for a client that cannot ask and for one that can"""
        config = self.home / ".config/airlock/config.toml"
        config.write_text('toolsets = ["git"]\n[tools.approval]\nwait_s = 1\n')
        server, attached = self.serve()
        result = server.call("git_add", ADD)
        self.assertEqual(result.kind, "ApprovalRequired")
        self.assertIn("nobody answered within 1 s", result.text)
        entry = attached.entry()
        self.assertEqual(attached.receive(), {"gone": entry["id"]})
        asking = harness.AskingServer(self)
        asking.ask("git_add", ADD)
        form = asking.receive()["id"]
        self.assertEqual(asking.receive()["params"]["requestId"], form)
        result = harness.Result(asking.receive()["result"])
        self.assertIn("nobody answered within 1 s", result.text)
        self.assertEqual(self.staged(), [])

    def test_gone(self):
        """a review that dies leaves the question to another one"""
        server, attached = self.serve()
        server.ask("git_add", ADD)
        entry = attached.entry()
        attached.socket.close()
        another = reviewing.Attached(self, server.process.pid)
        self.assertEqual(another.shown, [entry])
        self.assertEqual(another.answer(entry["id"], "once"), {"ok": True})
        self.assertFalse(harness.Result(server.receive()["result"]).failed)

    def test_detached(self):
        """once the last review is gone, a call does not wait any more"""
        server, attached = self.serve()
        attached.socket.close()
        # A later connection is served after the end of an earlier one was seen.
        reviewing.Door(self, server.process.pid).send(do="list").receive()
        self.assertEqual(server.call("git_add", ADD).kind, "ApprovalRequired")

    def test_two(self):
        """of two reviewers one is first, and the other one is told"""
        server, attached = self.serve()
        other = reviewing.Attached(self, server.process.pid)
        for _ in range(20):
            self.write("a.txt", os.urandom(4).hex())
            server.ask("git_add", ADD)
            entry = attached.entry()
            self.assertEqual(other.entry(), entry)
            for door in (attached, other):
                door.send(do="answer", id=entry["id"], decision="once")
            seen = [sorted(json.dumps(door.receive()) for _ in range(2))
                    for door in (attached, other)]
            gone = json.dumps({"gone": entry["id"]})
            self.assertEqual(sorted(seen), sorted([[gone, gone],
                                                   sorted([gone, '{"ok": true}'])]))
            self.assertFalse(harness.Result(server.receive()["result"]).failed)

    def test_modern(self):
        """a modern call waits for an attached review, and ends with its form without one"""
        meta = {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientInfo": {"name": "modern", "version": "1"},
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
        server = harness.Server(self, "--approval", "ask")
        params = {"name": "git_add", "arguments": ADD, "_meta": meta}
        server.send(id=1, method="tools/call", params=params)
        ended = server.receive()["result"]
        self.assertEqual(ended["resultType"], "input_required")
        self.assertEqual(self.waiting(), [])
        attached = reviewing.Attached(self, server.process.pid)
        server.send(id=2, method="tools/call", params=params)
        entry = attached.entry()
        self.assertEqual(entry["client"], "modern")
        attached.answer(entry["id"], "reject", reason="later")
        self.assertEqual(harness.Result(server.receive()["result"]).text, "Rejected: later")
        # The answer that a call brings is looked at first.
        params |= {"requestState": ended["requestState"], "inputResponses": {
            "approve": {"action": "accept", "content": {"decision": "once"}}}}
        server.send(id=3, method="tools/call", params=params)
        self.assertFalse(harness.Result(server.receive()["result"]).failed)
        self.assertEqual(self.record()["decided_by"], "elicitation")


if __name__ == "__main__":
    harness.main()
