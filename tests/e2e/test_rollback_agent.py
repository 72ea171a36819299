#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`airlock rollback --agent`: what one agent did is undone, and what others did stays."""
import harness
import rollback


class Agents(rollback.Rollback):
    """Two agents, `one` and `two`, in one working tree."""

    def act(self, agent, tool, **arguments):
        """A call of an agent that must work."""
        return self.ok(tool, arguments, "--agent", agent)

    def add(self, agent, name):
        """An agent stages a new file."""
        self.write(name, name + "\n")
        self.act(agent, "git_add", paths=[name])

    def branch(self, agent, name):
        """An agent makes a branch."""
        self.act(agent, "git_branch", create=name)

    def branches(self):
        """All branches but main."""
        return self.out("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads").split()[:-1]

    def test_own(self):
        """only the executions of that agent are undone, however they lie among others"""
        for agent, name in (("one", "1"), ("two", "2"), ("one", "3"), ("two", "4")):
            self.branch(agent, name)
        self.assertIn("Rolled back 1 execution", self.rollback("--agent", "one"))
        self.assertEqual(self.branches(), ["1", "2", "4"])
        self.rollback("--agent", "two", "2")
        self.assertEqual(self.branches(), ["1"])
        self.rollback("--agent=one", "3")  # the rollback, and two that create
        self.assertEqual(self.branches(), [])

    def test_counts(self):
        """a rollback of an agent is an execution of it, and can be undone and redone"""
        self.branch("one", "1")
        self.branch("two", "2")
        said = self.rollback("--agent", "one")
        self.assertNotIn("Roll back further", said)
        self.assertEqual(self.branches(), ["2"])
        self.assertEqual(self.record()["agent"], "one")
        said = self.rollback("--agent", "one")
        self.assertIn("Roll back further: airlock rollback --agent one 3. ", said)
        self.assertEqual(self.branches(), ["1", "2"])
        self.rollback("--redo")
        self.assertEqual(self.branches(), ["2"])
        self.rollback("3")  # of anybody: these three rollbacks
        self.assertEqual(self.branches(), ["1", "2"])

    def test_depends(self):
        """what another agent changed since is named, and nothing happens"""
        self.act("one", "git_branch", create="topic")
        self.act("one", "git_checkout", branch="topic")
        self.add("one", "1")
        self.act("one", "git_commit", type="feat", message="one")
        self.add("two", "2")
        self.act("two", "git_commit", type="feat", message="two")
        self.refuses("would be lost", "--agent", "one", names=("refs/heads/topic",))
        before = self.snapshot()
        self.rollback("--agent", "two", "2")
        self.rollback("--agent", "one")
        self.assertEqual(self.out("log", "-1", "--format=%s"), "first\n")
        self.rollback("--agent", "one")
        self.rollback("--agent", "two")
        self.assert_same(before)

    def test_force(self):
        """--force goes ahead, and the present is in a checkpoint"""
        self.add("one", "1")
        self.act("one", "git_commit", type="feat", message="one")
        self.add("two", "2")
        self.act("two", "git_commit", type="feat", message="two")
        before = self.snapshot()
        self.rollback("--agent", "one", "--force")
        self.assertEqual(self.out("log", "-1", "--format=%s"), "first\n")
        self.rollback()
        self.assert_same(before)

    def test_refused(self):
        """an agent that did nothing here, more than it did, and words that do not go together"""
        self.branch("one", "1")
        self.ok("git_branch", {"create": "nobody"})
        self.refuses("there is nothing to roll back in this repository", "--agent", "two")
        self.refuses("only 1 execution can be rolled back, not 2", "--agent", "one", "2")
        self.refuses("--redo takes no number and no agent", "--redo", "--agent", "one", code=2)
        self.refuses("--agent must be 1 to 64 bytes", "--agent", "", code=2)
        self.rollback("--dry-run", "--agent", "one")
        self.assertIn("1", self.branches())

    def interrupt(self):
        """Make the last line of the journal that of a rollback that was killed; it keeps its length."""
        log = self.home / ".local/state/airlock/tool_log.jsonl"
        *lines, last = log.read_text(encoding="utf-8").splitlines(keepends=True)
        last = last.replace('"outcome":"ok"', '"outcome":"interrupted"').replace("Roll back", "")
        log.write_text("".join(lines) + last, encoding="utf-8")

    def test_interrupted(self):
        """one that was killed is completed for the same agent, and no other one begins before"""
        for done, others in ((("--agent", "one"), ((), ("--agent", "two"))),
                             ((), (("--agent", "one"), ("--agent", "two")))):
            self.branch("one", "1")
            self.branch("two", "2")
            self.rollback(*done)
            self.interrupt()
            for words in others:
                self.refuses("a rollback was interrupted; complete it first: airlock rollback" +
                             "".join(f" {word}" for word in done) + "\n", *words)
            self.assertIn("Finished the rollback that was interrupted", self.rollback(*done))
            self.git("branch", "-D", "2" if done else "1")

    def test_diff(self):
        """airlock diff --agent shows what that agent did"""
        self.add("one", "1")
        self.add("two", "2")
        said = self.command("diff", "--agent", "one").stdout
        self.assertIn("+1\n", said)
        self.assertNotIn("+2\n", said)
        self.assertEqual(self.command("diff", "--agent", "three").returncode, 1)


if __name__ == "__main__":
    harness.main()
