#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The whole text of a question, which a door asks for: made of the state that an answer counts for,
wherever the call waits."""
import harness
import reviewing
from test_robust_terminal import Terminal

COMMIT = {"type": "fix", "message": "a change"}
LINES = 5000


class Text(reviewing.ReviewCase):
    """git_commit of a deleted file and of one that is longer than the client's form shows."""

    def setUp(self):
        super().setUp()
        self.commit("b.txt", "gone\n", "second")
        (self.root / "b.txt").unlink()
        self.write("a.txt", "".join(f"line {number}\n" for number in range(LINES)))
        self.git("add", "-A")

    def whole(self, door, number, ticket=7):
        """The whole text of a question, past what else the door is told."""
        door.send(do="text", id=number, ticket=ticket)
        text, more = "", True
        while more:
            message = door.receive()
            if message is None or "error" in message or "gone" in message:
                return message
            if "text" in message:
                self.assertEqual(message["ticket"], ticket)
                text, more = text + message["text"], message["more"]
        return text

    def check(self, text):
        """Deleted files first, then the statistics of the others, then the diff in full."""
        lines = text.splitlines()
        first = lines.index(f"2 files, +{LINES} -2:")
        self.assertEqual(lines[first + 1:first + 3], ["  +0 -1  deleted: b.txt", f"  +{LINES} -1  modified: a.txt"])
        for number in (0, LINES - 1):
            self.assertIn(f"+line {number}", lines)
        self.assertNotIn("more line", text)

    def test_form(self):
        """while the client shows its form, which is neither withdrawn nor asked again"""
        server = harness.AskingServer(self)
        server.ask("git_commit", COMMIT)
        form = server.receive()
        door = reviewing.Attached(self, server.process.pid)
        entry = door.shown[0]
        self.assertIn("more line", entry["text"])
        self.check(self.whole(door, entry["id"]))
        self.check(self.whole(door, entry["id"], 8))  # and once more
        server.send(id=form["id"], result={"action": "accept", "content": {"decision": "once"}})
        self.assertFalse(harness.Result(server.receive()["result"]).failed)
        self.assertEqual(self.staged(), [])

    def test_terminal(self):
        """while a terminal asks, for a door that is not attached"""
        terminal = Terminal(self, "git_commit", COMMIT, NO_COLOR="1")
        terminal.asked()
        door = reviewing.Door(self, terminal_pid(self))
        self.check(self.whole(door, self.the_one()["id"]))
        self.assertEqual(terminal.answer("o\n").end(), 0)

    def test_nobody_else(self):
        """while the call waits for a review alone"""
        server = harness.Server(self, "--approval", "ask")
        door = reviewing.Attached(self, server.process.pid)
        server.ask("git_commit", COMMIT)
        entry = door.entry()
        self.check(self.whole(door, entry["id"]))
        self.assertEqual(door.answer(entry["id"], "once", ticket=9), {"ok": True, "ticket": 9})
        self.assertFalse(harness.Result(server.receive()["result"]).failed)

    def test_show(self):
        """airlock review show prints it all, or an excerpt when that is not possible"""
        server = harness.AskingServer(self)
        server.ask("git_commit", COMMIT)
        server.receive()
        number = self.the_one()["id"]
        self.check("".join(line.removeprefix("  ") for line in
                           self.review("show", number).splitlines(True)))
        self.write("a.txt", "another\n")
        self.git("add", "-A")
        self.assertIn("more line", self.review("show", number))

    def test_changed(self):
        """what changed meanwhile is not shown as if it were asked about"""
        server = harness.AskingServer(self)
        server.ask("git_commit", COMMIT)
        server.receive()
        door = reviewing.Attached(self, server.process.pid)
        self.write("a.txt", "another\n")
        self.git("add", "-A")
        answer = self.whole(door, door.shown[0]["id"])
        self.assertIn("has changed meanwhile", answer["error"])
        self.assertEqual(answer["ticket"], 7)
        door.answer(door.shown[0]["id"], "reject")
        server.receive()

    def test_refused(self):
        """no such question; and two at a time"""
        server = harness.AskingServer(self)
        server.ask("git_commit", COMMIT)
        server.receive()
        door = reviewing.Attached(self, server.process.pid)
        self.assertEqual(self.whole(door, "00000000"), {"gone": "00000000", "ticket": 7})
        number = door.shown[0]["id"]
        door.send(do="text", id=number, ticket=1).send(do="text", id=number, ticket=2)
        said = [door.receive()]
        while said[-1].get("more", True):
            said.append(door.receive())
        self.assertEqual([message for message in said if "error" in message],
                         [{"error": "another text is on its way; ask for one after the other",
                           "ticket": 2}])
        door.send(do="text")
        while "error" not in (message := door.receive()):
            pass
        self.assertIn("needs an id", message["error"])
        self.assertIsNone(door.receive())
        self.assertEqual(self.the_one()["id"], number)

    def test_left(self):
        """a door that leaves before the text is there disturbs nobody"""
        server = harness.AskingServer(self)
        server.ask("git_commit", COMMIT)
        server.receive()
        for _ in range(5):
            door = reviewing.Attached(self, server.process.pid)
            door.send(do="text", id=door.shown[0]["id"])
            door.socket.close()
        door = reviewing.Attached(self, server.process.pid)
        self.check(self.whole(door, door.shown[0]["id"]))


class Push(reviewing.ReviewCase):
    """git_push: the commits in the form, and commit by commit what they change in full."""

    def setUp(self):
        super().setUp()
        self.git("init", "-q", "--bare", str(self.root / "hub.git"))
        self.git("remote", "add", "origin", str(self.root / "hub.git"))
        self.git("commit", "-q", "-am", "two")

    def asked(self, **arguments):
        """The question of a push."""
        self.server = harness.AskingServer(self, "--toolset", "everyday")
        self.server.ask("git_push", arguments)
        self.server.receive()
        return self.the_one()

    def test_commits(self):
        """the first commit of a repository too"""
        entry = self.asked()
        self.assertNotIn("+two", entry["text"])
        lines = [line.strip() for line in self.review("show", entry["id"]).splitlines()]
        last, first = (self.out("log", "--abbrev=8", "--format=%h %s", *words).split("\n")[0]
                       for words in (("-1",), ("--max-parents=0",)))
        self.assertLess(lines.index(f"commit {last}"), lines.index("+two"))
        self.assertLess(lines.index("+two"), lines.index(f"commit {first}"))
        self.assertEqual(lines.count("+two"), 1)

    def test_force(self):
        """what is replaced stands beside what replaces it"""
        self.git("push", "-q", "-u", "origin", "HEAD")
        self.git("commit", "-q", "--amend", "-m", "two, again")
        shown = self.review("show", self.asked(force=True)["id"])
        old, new = (self.out("rev-parse", "--short=8", word).strip() for word in ("@{u}", "HEAD"))
        self.assertRegex(shown, f"1: +{old} ! 1: +{new} two\\n")


def terminal_pid(case):
    """The process that asks on a terminal, by its socket."""
    return next(case.sockets.glob("*.sock")).stem


if __name__ == "__main__":
    harness.main()
