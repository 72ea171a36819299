# SPDX-License-Identifier: Apache-2.0
"""Tools of other MCP servers in the pipeline: rules, questions, record, checkpoint, rollback."""
import json

from harness import Result, main
from upstream import Client, UpstreamCase

FORM = {"elicitation": {}}
RULES = """
[[tools.approval.rule]]
tool = "mcp__deny__*"
effect = "writes_worktree"
decision = "deny"
message = "Not with this one."
[[tools.approval.rule]]
tool = "mcp__ask__write_file"
decision = "ask"
[[tools.approval.rule]]
tool = "mcp__*__write_file"
decision = "allow"
"""


class Approval(UpstreamCase):
    def asking(self, *options):
        """A client whose user is asked."""
        return Client(self, "--approval", "ask", *options, capabilities=FORM)

    def begin(self, client, tool, arguments):
        """Send a call that asks; gives its id and the question."""
        number = client.ask(tool, arguments)
        return number, client.next_told("elicitation/create")

    def decide(self, client, number, question, decision="once"):
        """Answer the question; gives the call's result."""
        client.send(id=question["id"],
                    result={"action": "accept", "content": {"decision": decision}})
        return Result(client.answer_of(number)["result"])

    def test_rules(self):
        """A rule denies, another asks, a third allows; log shows it and rollback undoes it"""
        self.configure(RULES, self.server("deny"), self.server("ask"), self.server("yes", "modern"))
        client = self.asking()
        arguments = {"path": "new.txt", "content": "by the server\n"}
        denied = client.call("mcp__deny__write_file", arguments)
        self.assertEqual((denied.kind, denied.error["message"]), ("ApprovalDenied", "Not with this one."))
        self.assertFalse((self.root / "new.txt").exists())
        self.assertFalse(client.call("mcp__deny__echo").failed)
        number, question = self.begin(client, "mcp__ask__write_file", arguments)
        self.assertFalse((self.root / "new.txt").exists())
        message = question["params"]["message"]
        self.assertTrue(message.startswith(
            'Call "Write File" of ask with {"path":"new.txt","content":"by the server\\n"}\n'
            f"In {self.root}, by mcp__ask__write_file (call)\n"), message)
        self.assertIn('  path: "new.txt"\n', message)
        result = self.decide(client, number, question)
        self.assertEqual(result.text, "wrote new.txt", result)
        self.assertEqual((self.root / "new.txt").read_text(encoding="utf-8"), "by the server\n")
        client.call("mcp__yes__write_file", {"path": "a.txt", "content": "two\n"})
        client.close()
        record = self.records()[-2]
        self.assertEqual((record["tool"], record["decision"], record["decided_by"]),
                         ("mcp__ask__write_file", "once", "elicitation"))
        self.assertEqual(self.records()[-1]["decision"], "rule")
        self.assertIn("mcp__ask__write_file", self.airlock("log"))
        self.airlock("rollback", "--root", str(self.root), "2")
        self.assertFalse((self.root / "new.txt").exists())
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "one\n")

    def test_rejected(self):
        """A rejection calls nothing"""
        self.configure(self.server("old"))
        client = self.asking()
        number, question = self.begin(client, "mcp__old__write_file",
                                      {"path": "x", "content": "x"})
        self.assertEqual(self.decide(client, number, question, "reject").kind, "ApprovalDenied")
        self.assertFalse((self.root / "x").exists())

    def test_nobody(self):
        """Without a user to ask, nothing is called, and the text says how it could be"""
        self.configure(self.server("old"))
        client = Client(self, "--approval", "ask")
        result = client.call("mcp__old__write_file", {"path": "x", "content": "x"})
        self.assertEqual(result.kind, "ApprovalRequired")
        self.assertIn("airlock call mcp__old__write_file", result.text)
        self.assertNotIn("--toolset", result.text)
        self.assertFalse((self.root / "x").exists())

    def test_always(self):
        """`always` covers this definition of the tool, and no other"""
        self.configure(self.server("old"))
        client = self.asking()
        number, question = self.begin(client, "mcp__old__write_file",
                                      {"path": "x", "content": "1"})
        self.assertRegex(question["params"]["message"],
                         r'"always" covers every mcp__old__write_file \(call\) for definition '
                         r"[0-9a-f]{64} in this repository")
        self.decide(client, number, question, "always")
        client.call("mcp__old__write_file", {"path": "x", "content": "2"})
        self.assertEqual((self.root / "x").read_text(encoding="utf-8"), "2")
        client.list()
        client.call("mcp__old__change",
                    {"tool": "write_file", "member": "description", "value": "Other."})
        client.next_told("notifications/tools/list_changed")
        number, question = self.begin(client, "mcp__old__write_file",
                                      {"path": "x", "content": "3"})
        self.decide(client, number, question, "reject")
        self.assertEqual((self.root / "x").read_text(encoding="utf-8"), "2")

    def changed_meanwhile(self, **change):
        """The server changes its tool while the user is asked; gives the result of the approval."""
        client = self.asking()
        client.list()
        number, question = self.begin(client, "mcp__old__write_file",
                                      {"path": "x", "content": "x"})
        other = client.ask("mcp__old__change", {"tool": "write_file", **change})
        client.answer_of(other)
        client.next_told("notifications/tools/list_changed")
        result = self.decide(client, number, question)
        self.assertFalse((self.root / "x").exists())
        self.assertEqual(result.kind, "ExecutionFailed", result)
        self.assertIn("has changed its tool write_file", result.text)
        return client

    def test_title_changed(self):
        """An approval is void when the server changes the title that was shown"""
        self.configure(self.server("old"))
        client = self.changed_meanwhile(member="title", value="Read File")
        _, question = self.begin(client, "mcp__old__write_file", {"path": "x", "content": "x"})
        self.assertIn('Call "Read File" of old', question["params"]["message"])

    def test_annotations_changed(self):
        """… or calls the tool read-only, which then needs no approval of its own"""
        self.configure(self.server("old", "modern"))
        self.changed_meanwhile(member="annotations", value={"readOnlyHint": True})

    def test_tool_removed(self):
        """… or no longer has the tool"""
        self.configure(self.server("old"))
        self.changed_meanwhile()

    def test_modern(self):
        """A modern client asks its user between two calls; a changed tool is asked about again"""
        self.configure(self.server("old"))
        client = Client(self, "--approval", "ask")
        client.list()
        call = {"name": "mcp__old__write_file", "arguments": {"path": "x", "content": "x"}}
        first = client.modern("tools/call", capabilities=FORM, **call)["result"]
        self.assertEqual(first["resultType"], "input_required")
        client.call("mcp__old__change", {"tool": "write_file", "member": "title", "value": "Other"})
        client.next_told("notifications/tools/list_changed")
        answers = {"approve": {"action": "accept", "content": {"decision": "once"}}}
        again = client.modern("tools/call", capabilities=FORM, inputResponses=answers,
                              requestState=first["requestState"], **call)["result"]
        self.assertEqual(again["resultType"], "input_required")
        self.assertIn('Call "Other"', again["inputRequests"]["approve"]["params"]["message"])
        self.assertFalse((self.root / "x").exists())
        done = client.modern("tools/call", capabilities=FORM, inputResponses=answers,
                             requestState=again["requestState"], **call)["result"]
        self.assertEqual(done["content"][0]["text"], "wrote x")

    def test_long_arguments(self):
        """No argument pushes another one out of the question, and no title hides the server"""
        self.configure(self.server("old"))
        client = self.asking()
        client.list()
        client.call("mcp__old__change", {"tool": "write_file", "member": "title",
                                         "value": "Read only, harmless\u202e" + "x" * 5000})
        client.next_told("notifications/tools/list_changed")
        number, question = self.begin(client, "mcp__old__write_file", {
            "a": "line\n" * 100000, "content": "c" * 100000, "path": "danger.txt"})
        message = question["params"]["message"]
        self.assertLess(len(message), 100000)
        self.assertRegex(message, r'^Call "Read only, harmless<U\+202E>x+…" of old with ')
        self.assertIn(f"\nIn {self.root}, by mcp__old__write_file (call)\n", message[:600])
        self.assertIn('\n  path: "danger.txt"\n', message)
        self.decide(client, number, question, "reject")

    def test_redacted(self):
        """The journal has no secret of the arguments, neither as such nor in the summary"""
        self.configure(self.server("old"))
        client = Client(self)
        client.call("mcp__old__write_file",
                    {"path": "x", "content": "x", "api_key": "s3cret-value",
                     "url": "https://me:s3cret-value@example.com/"})
        client.close()
        record = self.records()[-1]
        self.assertEqual(record["tool"], "mcp__old__write_file")
        self.assertNotIn("s3cret-value", json.dumps(record))
        self.assertIn("[redacted]", record["summary"])

    def test_half_done(self):
        """A call that fails after it has changed something says so, and can be undone"""
        self.configure(self.server("old"))
        client = Client(self)
        result = client.call("mcp__old__write_and_fail")
        client.close()
        self.assertEqual((result.text, result.kind), ("broke half way", "ExecutionFailed"))
        self.assertIn("half.txt", result.notes)
        self.airlock("rollback", "--root", str(self.root))
        self.assertFalse((self.root / "half.txt").exists())

    def test_whole_repository(self):
        """What a server does to branches, index, stash and history is undone as well"""
        self.configure(self.server("old"))
        self.git("branch", "topic")
        self.write("kept.txt", "mine\n")
        before = self.state()
        client = Client(self)
        result = client.call("mcp__old__git", {"commands": [
            ["branch", "-D", "topic"], ["add", "kept.txt"], ["commit", "-q", "-m", "theirs"],
            ["tag", "v1"], ["checkout", "-q", "-b", "other"], ["rm", "-q", "a.txt"]]})
        client.close()
        self.assertEqual(result.text, "done", result)
        self.assertNotEqual(self.state(), before)
        self.airlock("rollback", "--root", str(self.root))
        self.assertEqual(self.state(), before)
        self.assertEqual((self.root / "kept.txt").read_text(encoding="utf-8"), "mine\n")

    def test_grants(self):
        """A grant holds for tools of other servers; what it cannot include is not started"""
        self.configure(self.server("old"), self.server("off"),
                       '[grants.some]\ntools = ["git_*", "mcp__old__echo", "mcp__old__write*"]\n'
                       f'fs = {{ "{self.root}" = "rw" }}\n')
        client = Client(self, "--grant", "some")
        names = [name for name in client.list() if name.startswith("mcp__")]
        self.assertEqual(names, ["mcp__old__echo", "mcp__old__write_file",
                                 "mcp__old__write_and_fail"])
        self.assertFalse(client.call("mcp__old__echo").failed)
        self.assertEqual(client.call("mcp__old__weather").kind, "NotGranted")
        client.send(id="off", method="tools/call", params={"name": "mcp__off__echo"})
        self.assertEqual(client.answer_of("off")["error"]["code"], -32602)

    def test_worker(self):
        """A worker file narrows which tools of other servers there are, and adds none"""
        self.configure(self.server("old"), self.server("off"))
        worker = self.home / "worker.md"
        worker.write_text("---\nname: w\ngrants:\n  tools: [git_status, mcp__old__echo, mcp__old__w*]\n"
                          "policy:\n  - {tool: mcp__old__write_file, decision: deny}\n---\n",
                          encoding="utf-8")
        client = Client(self, "--worker", str(worker))
        self.assertEqual(list(client.list()), [
            "git_status", "mcp__old__echo", "mcp__old__write_file", "mcp__old__weather",
            "mcp__old__wait", "mcp__old__write_and_fail"])
        self.assertEqual(client.call("mcp__old__write_file", {"path": "x", "content": "x"}).kind,
                         "ApprovalDenied")
        worker.write_text("---\nname: w\nmcp:\n  servers: {}\n---\n", encoding="utf-8")
        self.assertIn("mcp", self.airlock("serve", "--worker", str(worker), code=2))

    def test_narrow_grants(self):
        """A grant that is narrower than the roots has no other servers: they could use all of it"""
        for name, dirs in (("read", f'"{self.root}" = "r"'), ("other", '"/srv/other" = "rw"'),
                           ("part", f'"{self.root}" = "rw", "{self.root}/kept" = "r"')):
            self.configure(self.server("old"), f"[grants.{name}]\nfs = {{ {dirs} }}\n")
            client = Client(self, "--grant", name)
            self.assertFalse([tool for tool in client.list() if tool.startswith("mcp__")])
            client.send(id="x", method="tools/call", params={"name": "mcp__old__echo"})
            self.assertEqual(client.answer_of("x")["error"]["code"], -32602)
            client.close()

    def test_questions(self):
        """A server's question reaches the user, and says that it is the server's"""
        for era in ("legacy", "modern"):
            self.configure(self.server("old", era))
            client = Client(self, capabilities=FORM | {"sampling": {}})
            number = client.ask("mcp__old__ask")
            question = client.next_told("elicitation/create")
            self.assertTrue(question["params"]["message"].startswith(
                "The MCP server old asks this, while it runs ask. It is not a question of "
                "airlock's:\n    Which one?"), question)
            client.send(id=question["id"], result={"action": "accept", "content": {"one": "1"}})
            answer = Result(client.answer_of(number)["result"])
            self.assertEqual(json.loads(answer.text),
                             {"action": "accept", "content": {"one": "1"}})
            number = client.ask("mcp__old__sample")
            wanted = client.next_told("sampling/createMessage")
            self.assertEqual(wanted["params"]["maxTokens"], 5)
            client.send(id=wanted["id"], result={"role": "assistant", "model": "m", "content": {
                "type": "text", "text": "Hi"}})
            answer = Result(client.answer_of(number)["result"])
            self.assertEqual(json.loads(answer.text)["content"]["text"], "Hi")
            client.close()

    def test_modern_questions(self):
        """A modern client answers a server's question with its next request, once"""
        for era in ("legacy", "modern"):
            self.configure(self.server("old", era))
            client = Client(self)
            call = {"name": "mcp__old__ask", "arguments": {"x": [1]}}
            first = client.modern("tools/call", "m1", FORM, **call)["result"]
            self.assertEqual(first["resultType"], "input_required")
            question = first["inputRequests"]["question"]
            self.assertEqual(question["method"], "elicitation/create")
            self.assertIn("\n    Which one?", question["params"]["message"])
            state = first["requestState"]
            answers = {"question": {"action": "accept", "content": {"one": "1"}}}
            for wrong in ({"name": "mcp__old__echo", "arguments": {"x": [1]}},
                          {"name": "mcp__old__ask", "arguments": {"x": [2]}},
                          {"name": "mcp__old__ask"}):
                refused = client.modern("tools/call", "m2", FORM, requestState=state,
                                        inputResponses=answers, **wrong)
                self.assertEqual(refused["error"]["code"], -32602, refused)
            for responses in ({}, {"question": 1}, {"approve": answers["question"]}):
                refused = client.modern("tools/call", "m3", FORM, requestState=state,
                                        inputResponses=responses, **call)
                self.assertEqual(refused["error"]["code"], -32602, refused)
            refused = client.modern("tools/call", "m4", FORM, requestState=state[:-1] + "x",
                                    inputResponses=answers, **call)
            self.assertEqual(refused["error"]["code"], -32602, refused)
            self.assertEqual(client.call("git_status").text, "## main\n")
            done = client.modern("tools/call", "m5", FORM, requestState=state,
                                 inputResponses=answers, **call)["result"]
            self.assertEqual((done["resultType"], json.loads(done["content"][0]["text"])),
                             ("complete", {"action": "accept", "content": {"one": "1"}}))
            again = client.modern("tools/call", "m6", FORM, requestState=state,
                                  inputResponses=answers, **call)
            self.assertEqual(again["error"]["code"], -32602)
            client.close()
            self.assertEqual(self.records()[-1]["tool"], "mcp__old__ask")

    def test_modern_question_after_approval(self):
        """A call that was approved and then asks for its server is one call, and runs once"""
        self.configure(self.server("old"))
        client = Client(self, "--approval", "ask")
        client.list()
        client.call("mcp__old__change", {"tool": "ask", "member": "annotations", "value": {}})
        client.next_told("notifications/tools/list_changed")
        call = {"name": "mcp__old__ask", "arguments": {}}
        approve = {"approve": {"action": "accept", "content": {"decision": "once"}}}
        first = client.modern("tools/call", "m1", FORM, **call)["result"]
        second = client.modern("tools/call", "m2", FORM, requestState=first["requestState"],
                               inputResponses=approve, **call)["result"]
        self.assertEqual(list(second["inputRequests"]), ["question"])
        done = client.modern("tools/call", "m3", FORM, requestState=second["requestState"],
                             inputResponses={"question": {"action": "decline"}}, **call)["result"]
        self.assertEqual(json.loads(done["content"][0]["text"]), {"action": "decline"})

    def test_unanswered(self):
        """A question that a modern client never answers ends with the session, and is recorded"""
        self.configure(self.server("old"))
        client = Client(self)
        first = client.modern("tools/call", "m1", FORM, name="mcp__old__ask")["result"]
        self.assertEqual(first["resultType"], "input_required")
        client.close()
        self.assertEqual(client.process.returncode, 0)
        self.assertEqual(self.records()[-1]["outcome"], "cancelled")

    def test_no_questions(self):
        """A client that cannot be asked costs the server its answer, and nothing else"""
        self.configure(self.server("old"))
        client = Client(self)
        client.call("mcp__old__ask")
        self.assertEqual(client.call("mcp__old__echo").text, "{}")
        self.assertFalse([m for m in client.told if m["method"] == "elicitation/create"])


if __name__ == "__main__":
    main()
