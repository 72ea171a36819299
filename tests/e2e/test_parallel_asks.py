# SPDX-License-Identifier: Apache-2.0
"""git_land asks: what the user is shown is what lands, and rules by branch and path hold."""
import json

import harness
import parallel


class Asks(parallel.Parallel):
    def configure(self, *rules):
        """The user's rules, each a dictionary."""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text("".join(
            "[[tools.approval.rule]]\n" +
            "".join(f"{key} = {json.dumps(value)}\n" for key, value in rule.items())
            for rule in rules), encoding="utf-8")

    def call(self, tool, arguments=None, *options, **named):
        if parallel.TOOLSET[1] not in options:
            options = (*parallel.TOOLSET, *options)
        return super().call(tool, arguments, *options, **named)

    def question(self, server, during=None, decision="once", **arguments):
        """A landing that is asked about; something happens before the answer.  Gives what was
        shown, and the next message."""
        number = server.ask("git_land", arguments)
        question = server.receive()
        self.assertEqual(question.get("method"), "elicitation/create", question)
        if during:
            during()
        server.send(id=question["id"],
                    result={"action": "accept", "content": {"decision": decision}})
        answer = server.receive()
        self.assertTrue("method" in answer or answer["id"] == number, answer)
        return question["params"]["message"], answer

    def test_shown(self):
        """the user sees the commits, the files and the diff, and where files are written"""
        self.branch("feature", b__txt="b\n", lines__txt="new\n")
        self.commit("m.txt", "m\n", "main moves")
        feature, main = self.rev("feature")[:8], self.rev("main")[:8]
        server = self.asking()
        shown, answer = self.question(server, branch="feature", strategy="squash")
        self.assertIn(f"Land branch 'feature' (2 commits, {feature}) into 'main' ({main}): squash",
                      shown)
        self.assertIn(f"The files of the working tree '{self.root}' are brought along.", shown)
        for part in ("A U Thor: feature: b.txt", "+1 -0  added: b.txt", "+new", "-9", "2 files, +2 -9"):
            self.assertIn(part, shown)
        self.assertNotIn("m.txt", shown)
        self.assertIn("Landed feature", answer["result"]["content"][0]["text"])

    def test_message(self):
        """the whole message of the commit is shown, given or made"""
        self.branch("feature", b__txt="b\n")
        self.commit("m.txt", "m\n", "main moves")
        message = "subject\n\nbody\n\nReviewed-by: Somebody <s@example.com>\n"
        for arguments, words in (({"message": message}, ("subject", "Reviewed-by: Somebody")),
                                 ({}, ("Merge branch 'feature'",))):
            shown, _ = self.question(self.asking(), decision="reject", branch="feature",
                                     **arguments)
            for word in words:
                self.assertIn(word, shown.split("The commit's message:\n")[1])
        shown, _ = self.question(self.asking(), decision="reject", branch="feature",
                                 strategy="rebase")
        self.assertNotIn("The commit's message", shown)

    def test_rejected(self):
        """a landing that is rejected, or that nobody can be asked about, leaves nothing"""
        self.branch("feature", b__txt="b\n")
        before = self.everything()
        _, answer = self.question(self.asking(), decision="reject", branch="feature")
        self.assertTrue(answer["result"]["isError"], answer)
        self.assertEqual(self.everything(), before)
        self.assert_asks(f"Land branch 'feature' (1 commit, {self.rev('feature')[:8]}) into 'main' "
                         f"({self.rev('main')[:8]}): merge", "git_land", {"branch": "feature"})
        self.assertEqual(self.everything(), before)

    def test_moved(self):
        """either branch moves, or a file changes, while the user decides: asked again or refused"""
        where = self.branch("feature", b__txt="b\n")
        for during in (lambda: self.commit("evil.txt", "evil\n", "sneaks in", where),
                       lambda: self.commit("m.txt", "m\n", "main moves")):
            server = self.asking()
            before = self.rev("main")
            _, answer = self.question(server, during, branch="feature")
            self.assertEqual(answer.get("method"), "elicitation/create", answer)
            self.assertIn("changed after your answer", answer["params"]["message"])
            server.send(id=answer["id"], result={"action": "accept",
                                                 "content": {"decision": "reject"}})
            self.assertTrue(server.receive()["result"]["isError"])
            self.assertIn(self.rev("main"), (before, self.rev("main")))
            self.assertNotIn("evil.txt", self.out("ls-tree", "--name-only", "main"))
            server.close()
        _, answer = self.question(self.asking(), lambda: self.write("b.txt", "mine\n"),
                                  branch="feature")
        self.assertIn("has changes of its own in b.txt", json.dumps(answer))
        self.assertEqual((self.root / "b.txt").read_text(), "mine\n")

    def test_checked_out_meanwhile(self):
        """a branch that is checked out while the user decides: its files have no checkpoint"""
        self.branch("feature", b__txt="b\n")
        self.git("branch", "dev", "main")
        before = self.rev("dev")
        _, answer = self.question(self.asking(), lambda: self.git("checkout", "-q", "dev"),
                                  branch="feature", into="dev")
        if answer.get("method"):
            return  # asked again, with the working tree that is brought along now
        self.assertIn("checked out", json.dumps(answer))
        self.assertEqual(self.rev("dev"), before)

    def test_rules_by_branch(self):
        """a rule goes by the branch that moves, not by the one that comes in, however it is named"""
        self.branch("feature", b__txt="b\n")
        self.git("branch", "dev", "main")
        self.configure({"tool": "git_land", "branch": "main", "decision": "deny"},
                       {"tool": "git_land", "branch": "feature", "decision": "allow"},
                       {"tool": "git_land", "branch": "dev", "decision": "allow"})
        for arguments in ({"branch": "feature"}, {"branch": "feature", "into": "main"},
                          {"branch": "feature", "strategy": "ff"},
                          {"branch": "feature", "working_dir": ".worktrees/feature"}):
            result = self.call("git_land", arguments)
            self.assertEqual(result.kind, "ApprovalDenied", result)
        self.assertFalse(self.call("git_land", {"branch": "feature", "into": "dev"},
                                   approval="ask").failed)

    def test_rules_by_path(self):
        """a rule goes by the files that change in the branch that moves"""
        self.branch("feature", b__txt="b\n", secret__key="k\n")
        self.branch("harmless", c__txt="c\n")
        self.configure({"tool": "git_land", "path": "*.key", "decision": "deny"},
                       {"tool": "git_land", "path": "*.txt", "decision": "allow"})
        self.assertEqual(self.call("git_land", {"branch": "feature"}).kind, "ApprovalDenied")
        self.assertFalse(self.call("git_land", {"branch": "harmless"}, approval="ask").failed)

    def test_always(self):
        """"always" covers this branch, this target and this strategy, and no others"""
        where = self.branch("feature", b__txt="b\n")
        self.branch("other", c__txt="c\n")
        server = self.asking()
        _, answer = self.question(server, decision="always", branch="feature")
        self.assertNotIn("method", answer, answer)
        self.commit("d.txt", "d\n", "more", where)
        self.assertIn("Landed", server.ok("git_land", {"branch": "feature"}).text)
        self.commit("e.txt", "e\n", "more", where)
        for arguments in ({"branch": "other"}, {"branch": "feature", "strategy": "squash"},
                          {"branch": "feature", "into": "other"}):
            _, answer = self.question(server, decision="reject", **arguments)
            self.assertTrue(answer["result"]["isError"], answer)

    def test_nothing_to_ask(self):
        """a conflict, and a branch that has landed already, ask nobody"""
        self.branch("feature", lines__txt="theirs\n")
        self.branch("old")
        self.commit("lines.txt", "ours\n", "main moves")
        for branch, text in (("feature", "conflict in 1 file"), ("old", "Nothing to land")):
            result = self.call("git_land", {"branch": branch}, approval="ask")
            self.assertFalse(result.failed, result)
            self.assertIn(text, result.text)


if __name__ == "__main__":
    harness.main()
