#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow: the message of a commit that was given none."""
import harness
import workflow


class Client(workflow.Server):
    """A client of a legacy revision whose model writes."""

    def __init__(self, case, revision="2025-11-25", capabilities=None, *options, **named):
        super().__init__(case, *options, **named)
        self.send(id="again", method="initialize", params={
            "protocolVersion": revision,
            "capabilities": {"sampling": {}} if capabilities is None else capabilities,
            "clientInfo": {"name": "e2e", "version": "1"}})
        self.receive()

    def commit(self, result=None, error=None, **arguments):
        """One commit; the model's answer is this result or error.  Gives what it was asked, and
        what the commit gave."""
        number = self.ask("git_commit", arguments)
        question = self.receive()
        self.case.assertEqual(question.get("method"), "sampling/createMessage", question)
        self.send(id=question["id"], **({"error": error} if error else {"result": result}))
        answer = self.receive()
        self.case.assertEqual(answer["id"], number, answer)
        return question["params"], workflow.check(self.case, "git_commit",
                                                  harness.Result(answer["result"]))

    def says(self, text, **members):
        """What the commit is called when the model says this."""
        params, result = self.commit({"role": "assistant", "model": "m", "stopReason": "endTurn",
                                      "content": {"type": "text", "text": text}} | members)
        self.case.assertFalse(result.failed, result)
        return params, result.value["structuredContent"]["message"]


class Message(workflow.Case):
    def stage(self, text="one\n"):
        """A staged change of a known name."""
        if not (self.root / ".git").exists():
            self.init()
        self.write("src/auth/login.ts", text)
        self.git("add", "-A")

    def test_made(self):
        """git_commit: without a message it gets one from the change, the same each time"""
        self.stage()
        value = self.gives("git_commit")
        self.assertEqual(value["message"], "feat(auth): add login.ts")
        self.assertEqual(self.out("log", "-1", "--format=%B").strip(), value["message"])

    def test_made_of_all(self):
        """git_commit: with all, the message is about everything"""
        self.init()
        self.write("docs/guide.md", "one\n")
        self.write("docs/setup.md", "one\n")
        self.assertEqual(self.gives("git_commit", {"all": True})["message"],
                         "docs: add guide.md and setup.md\n\n"
                         "- add docs/guide.md (+1 -0)\n- add docs/setup.md (+1 -0)")

    def test_nothing(self):
        """git_commit: nothing staged is 7036, and no model is asked"""
        self.init()
        self.assertEqual(Client(self).call("git_commit").error["code"], 7036)

    def test_written(self):
        """git_commit: where the client's model writes, it is asked with the staged change"""
        self.stage("the new line\n")
        for number, revision in enumerate(("2025-06-18", "2025-11-25", "2024-11-05")):
            self.stage(f"the new line {number}\n")
            params, message = Client(self, revision).says("feat(auth): let people in\n\nAt last.\n")
            self.assertEqual(message, "feat(auth): let people in\n\nAt last.")
            self.assertEqual(self.out("log", "-1", "--format=%B").strip(), message)
            self.assertIn(f"+the new line {number}", params["messages"][0]["content"]["text"])
            self.assertEqual(params["messages"][0]["role"], "user")
            self.assertGreater(params["maxTokens"], 0)

    def test_bounded(self):
        """git_commit: the model gets no more of a change than a bounded part"""
        self.stage("a long line of the change\n" * 10000)
        params, _ = Client(self).says("feat: x")
        self.assertLess(len(params["messages"][0]["content"]["text"]), 20000)

    def test_not_taken(self):
        """git_commit: what cannot be a message is not taken: the made one is"""
        text = {"type": "text", "text": "feat: evil"}
        for number, (said, members) in enumerate((
                ("", {}), ("x" * 73, {}), ("feat: \x1b[31mred", {}), ("feat: \u202etxet", {}),
                ("feat: a\n\nbody\x07", {}), ("feat: a\x00b", {}), ("x\n" + "y" * 20000, {}),
                ("feat: cut", {"stopReason": "maxTokens"}), ("feat: user", {"role": "user"}),
                ("", {"content": [text, text]}), ("", {"content": "feat: evil"}),
                ("", {"content": {"type": "image", "data": "", "mimeType": "image/png"}}),
                ("", {"content": None}), ("", {"content": {"type": "text", "text": 7}}))):
            self.stage(f"{number}\n")
            _, message = Client(self).says(said, **members)
            self.assertIn(message.splitlines()[0], ("feat(auth): add login.ts",
                                                    "fix(auth): update login.ts"))

    def test_error(self):
        """git_commit: a client that answers with an error, or nonsense, changes nothing"""
        self.stage()
        _, result = Client(self).commit(error={"code": -1, "message": "feat: evil"})
        self.assertEqual(result.value["structuredContent"]["message"], "feat(auth): add login.ts")
        for nonsense in (None, [], "feat: evil", {}):
            self.stage(f"{nonsense}\n")
            _, result = Client(self).commit(nonsense)
            self.assertEqual(result.value["structuredContent"]["message"],
                             "fix(auth): update login.ts")

    def test_list_of_one(self):
        """git_commit: content may be a list of one block, as from 2025-11-25"""
        self.stage()
        self.assertEqual(Client(self).says("", content=[{"type": "text", "text": "feat: x"}])[1],
                         "feat: x")

    def test_not_asked(self):
        """git_commit: no model is asked without the capability, or where a message is given"""
        self.stage()
        self.assertEqual(Client(self, capabilities={}).gives("git_commit")["message"],
                         "feat(auth): add login.ts")
        self.stage("two\n")
        self.assertEqual(Client(self).gives("git_commit", {"message": "mine"})["message"], "mine")

    def test_not_asked_in_the_modern_era(self):
        """git_commit: a modern client is not sent requests, whatever it declares"""
        self.stage()
        server = Client(self)
        server.send(id=7, method="tools/call", params={
            "name": "git_commit", "arguments": {}, "_meta": {
                "io.modelcontextprotocol/protocolVersion": "2026-07-28",
                "io.modelcontextprotocol/clientCapabilities": {"sampling": {}}}})
        answer = server.receive()
        self.assertEqual(answer["id"], 7)
        self.assertEqual(answer["result"]["structuredContent"]["message"],
                         "feat(auth): add login.ts")

    def test_merge(self):
        """git_commit: a merge that is concluded keeps git's message, and no model is asked"""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "theirs\n", "theirs")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "ours\n", "ours")
        self.git("merge", "-q", "side", check=False)
        self.git("checkout", "--ours", "a.txt")
        self.git("add", "a.txt")
        self.assertEqual(Client(self).gives("git_commit")["message"], "Merge branch 'side'")

    def test_cancelled(self):
        """git_commit: a call that is cancelled while the model writes has committed nothing"""
        self.stage()
        before = self.out("rev-parse", "HEAD")
        server = Client(self)
        number = server.ask("git_commit")
        question = server.receive()
        server.send(method="notifications/cancelled", params={"requestId": number})
        withdrawn = server.receive()
        self.assertEqual((withdrawn["method"], withdrawn["params"]["requestId"]),
                         ("notifications/cancelled", question["id"]))
        server.send(id=question["id"], result={"role": "assistant", "content": {
            "type": "text", "text": "feat: late"}})
        server.send(id="ping", method="ping")
        self.assertEqual(server.receive()["id"], "ping")
        self.assertEqual(self.out("rev-parse", "HEAD"), before)

    def test_shown(self):
        """git_commit: a user who is asked by a rule is shown the message that will be used"""
        self.stage()
        config = self.write("config.toml", "[[tools.approval.rule]]\ntool = \"git_commit\"\n"
                            "decision = \"ask\"\n", self.base)
        server = Client(self, "2025-11-25", {"sampling": {}, "elicitation": {}},
                        "--config", str(config))
        server.ask("git_commit")
        question = server.receive()
        server.send(id=question["id"], result={"role": "assistant", "content": {
            "type": "text", "text": "feat: from the model"}})
        question = server.receive()
        self.assertEqual(question["method"], "elicitation/create")
        self.assertIn("    feat: from the model\n", question["params"]["message"])
        server.send(id=question["id"], result={"action": "accept", "content": {"decision": "once"}})
        result = harness.Result(server.receive()["result"])
        self.assertEqual(result.value["structuredContent"]["message"], "feat: from the model")


if __name__ == "__main__":
    harness.main()
