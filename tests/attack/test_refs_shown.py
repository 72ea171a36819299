#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: the question about a new tag or branch names its commit, and the answer is about that
commit.  The control is plain git, which takes what the name leads to by then."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import everyday  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position

CALLS = (("git_tag", {"action": "create", "name": "new", "rev": "t"}, "refs/tags/new"),
         ("git_tag", {"action": "create", "name": "new", "rev": "t", "message": "the release"},
          "refs/tags/new"),
         ("git_branch", {"action": "create", "name": "new", "from": "t"}, "refs/heads/new"))


class Shown(everyday.Case):
    def setUp(self):
        super().setUp()
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("".join(f'[[tools.approval.rule]]\ntool = "{tool}"\ndecision = "ask"\n'
                                  for tool in ("git_tag", "git_branch")))
        self.init()
        self.commit("f.txt", "base\n", "base")
        self.git("checkout", "-q", "-b", "t")
        self.commit("f.txt", "good\n", "the good one")
        self.git("checkout", "-q", "-b", "evil", "main")
        self.commit("f.txt", "sneaky\n", "sneaky")
        self.git("checkout", "-q", "main")
        self.server = everyday.AskingServer(self)
        self.addCleanup(self.server.close)

    def question(self):
        """The next message, which asks."""
        message = self.server.receive()
        self.assertEqual(message.get("method"), "elicitation/create", message)
        return message["id"], message["params"]["message"]

    def answer(self, number, decision):
        self.server.send(id=number, result={"action": "accept", "content": {"decision": decision}})

    def commit_of(self, ref):
        return self.out("rev-parse", "-q", "--verify", ref + "^{commit}", check=False).strip()

    def test_shown(self):
        """the commit, its subject and the message of the tag are in the question"""
        for tool, arguments, ref in CALLS:
            good = self.commit_of("t")
            self.server.ask(tool, arguments)
            number, shown = self.question()
            self.assertIn(f"{good[:8]} the good one", shown)
            if "message" in arguments:
                self.assertIn("the release", shown)
            self.answer(number, "once")
            self.assertFalse(self.server.receive()["result"].get("isError"))
            self.assertEqual(self.commit_of(ref), good)
            self.git("update-ref", "-d", ref)

    def test_moved(self):
        """the name leads elsewhere while the question is open: asked again, with the new commit"""
        for tool, arguments, ref in CALLS:
            good, evil = self.commit_of("t"), self.commit_of("evil")
            self.server.ask(tool, arguments)
            number, _ = self.question()
            self.git("branch", "-f", "t", "evil")
            self.answer(number, "once")
            number, shown = self.question()
            self.assertIn(f"{evil[:8]} sneaky", shown)
            self.assertEqual(self.commit_of(ref), "")
            self.answer(number, "reject")
            self.assertTrue(self.server.receive()["result"].get("isError"))
            self.assertEqual(self.commit_of(ref), "")
            self.git("branch", "-f", "t", good)

    def test_head_moved(self):
        """the same where no commit is named: HEAD"""
        for tool, arguments, ref in CALLS:
            plain = {name: value for name, value in arguments.items()
                     if name not in ("rev", "from")}
            base = self.commit_of("main")
            self.server.ask(tool, plain)
            number, shown = self.question()
            self.assertIn(f"{base[:8]} base", shown)
            self.git("reset", "-q", "--hard", "evil")
            self.answer(number, "once")
            number, shown = self.question()
            self.assertIn("sneaky", shown)
            self.answer(number, "reject")
            self.assertTrue(self.server.receive()["result"].get("isError"))
            self.assertEqual(self.commit_of(ref), "")
            self.git("reset", "-q", "--hard", base)

    def test_control(self):
        """plain git: the tag is where the name leads when it is made"""
        self.git("branch", "-f", "t", "evil")
        self.git("tag", "new", "t")
        self.assertEqual(self.commit_of("new"), self.commit_of("evil"))

    def test_upstream(self):
        """a branch from a remote-tracking one follows it, as git does"""
        hub = self.base / "hub.git"
        self.git("init", "-q", "--bare", str(hub))
        self.git("remote", "add", "origin", str(hub))
        self.git("push", "-q", "origin", "t")
        self.server.ask("git_branch", {"action": "create", "name": "new", "from": "origin/t"})
        number, shown = self.question()
        self.assertIn("the good one", shown)
        self.answer(number, "once")
        self.assertFalse(self.server.receive()["result"].get("isError"))
        self.assertEqual(self.out("config", "branch.new.merge"), "refs/heads/t\n")

    def test_unknown(self):
        """no commit of this name: nobody is asked"""
        for tool, arguments, _ in CALLS:
            named = {**arguments, "rev" if tool == "git_tag" else "from": "nowhere"}
            result = self.server.call(tool, named)
            self.assertTrue(result.failed, result)
            self.assertIn("'nowhere' names no branch, tag or commit", result.text)


if __name__ == "__main__":
    harness.main()
