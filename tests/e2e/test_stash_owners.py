#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Working trees share one stash: an entry belongs to the one in which it was pushed."""
import os
import subprocess

import harness
import worktrees

NONE_OWN = "No stash entries of this worktree found"
NOTHING_PUSHED = "The last push in this worktree saved nothing, so there is nothing to pop"


class Owners(worktrees.Case):
    """`root` on main, `one` and `two` linked; each test runs for both toolsets that have git_stash."""

    TOOLSET = "git"

    def setUp(self):
        super().setUp()
        self.one, self.two = self.worktree("one"), self.worktree("two")

    def stash(self, place, action="push", approval="allow", **arguments):
        """One call in a working tree."""
        return self.call("git_stash", {"action": action} | arguments, "--toolset", self.TOOLSET,
                         "--agent", f"agent-{place.name}", root=place, cwd=place, approval=approval)

    def good(self, place, action="push", **arguments):
        """A call that must work."""
        result = self.stash(place, action, **arguments)
        self.assertFalse(result.failed, result)
        return result

    def bad(self, message, place, action, **arguments):
        """A call that must fail like this, whoever could be asked, and change nothing."""
        before = self.everything()
        for approval in ("allow", "ask", "deny"):
            result = self.stash(place, action, approval, **arguments)
            self.assertEqual((result.kind, result.error["message"]), ("ExecutionFailed", message),
                             (approval, result))
        self.assertEqual(self.everything(), before)

    def push(self, place, content):
        """Put a change of a.txt aside."""
        self.write("a.txt", content, place)
        self.good(place, message=content.strip())

    def plain_push(self, place, content):
        """The same by git itself."""
        self.write("a.txt", content, place)
        self.git("stash", "push", "-q", "-m", content.strip(), cwd=place)

    def entries(self):
        """The messages, newest first."""
        return [line.split(": ")[-1] for line in self.out("stash", "list").splitlines()]

    def content(self, place):
        return (place / "a.txt").read_text(encoding="utf-8")

    def everything(self):
        """What belongs to anybody."""
        return self.out("stash", "list", "--format=%H %gs"), [
            (self.content(place), self.out("status", "--porcelain", cwd=place))
            for place in (self.root, self.one, self.two)]

    def listed(self, place):
        """Whose each entry is, as its message says."""
        text = self.good(place, "list").text.splitlines()
        return [line[line.rindex(" (") + 2:-1] for line in text]

    def test_made_again(self):
        """a worktree that is made again under the old name owns nothing, even with the old inode"""
        self.push(self.one, "mine\n")
        [records] = (self.home / ".local/state/airlock/stashes").iterdir()
        text = records.read_text(encoding="utf-8")
        admin = os.stat(f"{self.common_dir()}/worktrees/one")
        self.assertIn(f"\t{admin.st_ino:x}.", text)
        self.bad(NONE_OWN, self.two, "pop")
        records.write_text(text.replace(f"\t{admin.st_ino:x}.", f"\t{admin.st_ino:x}.1"), encoding="utf-8")
        self.bad(NONE_OWN, self.one, "pop")
        records.write_text(text, encoding="utf-8")
        self.good(self.one, "pop")

    def test_not_there_yet(self):
        """an entry that there is not is not one that another git pushes while the call waits"""
        self.push(self.one, "ours\n")
        fd = self.hold_lock("somebody")
        fatal = "" if self.TOOLSET == "workflow" else "fatal: "
        for action in ("pop", "apply", "drop"):
            self.bad(f"{fatal}log for 'stash' only has 1 entries", self.one, action, index=1)
        self.git("stash", "drop", "-q")
        for action in ("pop", "apply", "drop"):
            self.bad("No stash entries found.", self.one, action)
        os.close(fd)

    def test_pop(self):
        """a pop takes the newest entry of its own worktree, not the newest of all"""
        self.push(self.one, "one first\n")
        self.push(self.one, "one second\n")
        self.push(self.two, "two\n")
        self.push(self.root, "main\n")
        self.good(self.one, "pop")
        self.assertEqual(self.content(self.one), "one second\n")
        self.assertEqual(self.entries(), ["main", "two", "one first"])
        self.git("checkout", "-q", "a.txt", cwd=self.one)
        self.good(self.one, "pop")
        self.good(self.two, "pop")
        self.good(self.root, "pop")
        self.assertEqual([self.content(place) for place in (self.root, self.one, self.two)],
                         ["main\n", "one first\n", "two\n"])
        self.assertEqual(self.entries(), [])

    def test_others(self):
        """apply and drop, too, and apply keeps the entry"""
        self.push(self.one, "ours\n")
        self.push(self.two, "two\n")
        self.good(self.one, "apply")
        self.assertEqual((self.content(self.one), self.entries()), ("ours\n", ["two", "ours"]))
        self.good(self.one, "drop")
        self.assertEqual(self.entries(), ["two"])

    def test_none(self):
        """without an entry of its own a worktree has none, before anybody is asked"""
        self.push(self.one, "ours\n")
        self.plain_push(self.two, "plain\n")
        for place in (self.two, self.root):
            for action in ("pop", "apply", "drop"):
                self.bad(NONE_OWN, place, action)
        self.assertIn("name one by its index", self.stash(self.two, "pop").text)
        self.good(self.one, "pop")
        self.bad(NONE_OWN, self.one, "pop")

    def test_foreign(self):
        """an entry of another worktree, or of nobody, needs its index and asks, saying whose it is"""
        self.push(self.one, "ours\n")
        self.plain_push(self.two, "plain\n")
        for index, whose in ((0, "no worktree"), (1, "worktree one, agent agent-one")):
            for action in ("pop", "apply", "drop"):
                before = self.everything()
                for approval, kind in (("ask", "ApprovalRequired"), ("deny", "ApprovalDenied")):
                    result = self.stash(self.two, action, approval, index=index)
                    self.assertEqual(result.kind, kind, result)
                self.assertEqual(self.everything(), before)
            server = self.server(self.two, "--toolset", self.TOOLSET, kind=harness.AskingServer)
            shown, result = server.decided("once", "git_stash", {"action": "apply", "index": index})
            self.assertFalse(result.failed, result)
            self.assertIn(f"This entry belongs to {whose}, not to this one.\n", shown)
            self.git("checkout", "-q", "a.txt", cwd=self.two)
        self.good(self.two, "pop", index=1)
        self.assertEqual((self.content(self.two), self.entries()), ("ours\n", ["plain"]))

    def test_clear(self):
        """clear drops the entries of its own worktree, and no other"""
        for place, content in ((self.one, "1\n"), (self.two, "2\n"), (self.one, "3\n")):
            self.push(place, content)
        self.plain_push(self.one, "4\n")
        result = self.good(self.one, "clear")
        self.assertIn("2", result.text)
        self.assertEqual(self.entries(), ["4", "2"])
        self.good(self.one, "clear")
        self.assertEqual(self.entries(), ["4", "2"])
        server = self.server(self.two, "--toolset", self.TOOLSET, kind=harness.AskingServer)
        shown, _ = server.decided("once", "git_stash", {"action": "clear"})
        self.assertTrue(shown.startswith("Clear the stashes of this worktree (WARNING: destructive)"))
        self.assertIn("This is lost, 1 entry of this worktree:\nIn stash@{1}:\n", shown)
        self.assertNotIn("+4", shown)
        self.assertEqual(self.entries(), ["4"])

    def test_nothing_pushed(self):
        """after a push that saved nothing a plain pop fails, until a push saves something"""
        self.push(self.one, "older\n")
        self.good(self.one)
        self.bad(NOTHING_PUSHED, self.one, "pop")
        self.bad(NOTHING_PUSHED, self.one, "pop")
        self.good(self.one, "apply")
        self.push(self.one, "newer\n")
        self.good(self.one, "pop")
        self.assertEqual((self.content(self.one), self.entries()), ("newer\n", ["older"]))
        self.git("checkout", "-q", "a.txt", cwd=self.one)
        self.good(self.two)  # of another worktree
        self.good(self.one)
        self.good(self.one, "pop", index=0)
        self.assertEqual((self.content(self.one), self.entries()), ("older\n", []))

    def test_list(self):
        """list says whose each entry is, inside the message"""
        self.push(self.one, "1\n")
        self.push(self.root, "2\n")
        self.plain_push(self.one, "3\n")
        whose = ["no worktree", "the main working tree, agent agent-root",
                 "worktree one, agent agent-one"]
        self.assertEqual(self.listed(self.two), whose)
        self.assertEqual(self.listed(self.one), whose[:2] + ["this worktree"])
        self.assertTrue(self.good(self.two, "list").text.startswith("stash@{0}: On one: 3 ("))

    def test_one_worktree(self):
        """with one working tree nothing changes: a plain pop takes what there is"""
        self.git("worktree", "remove", "--force", str(self.one))
        self.git("worktree", "remove", "--force", str(self.two))
        self.plain_push(self.root, "plain\n")
        self.push(self.root, "own\n")
        self.assertNotIn("worktree", self.good(self.root, "list").text)
        self.good(self.root)
        self.good(self.root, "pop")
        self.assertEqual((self.content(self.root), self.entries()), ("own\n", ["plain"]))
        self.git("checkout", "-q", "a.txt")
        self.good(self.root, "pop")
        self.assertEqual((self.content(self.root), self.entries()), ("plain\n", []))
        self.git("checkout", "-q", "a.txt")
        self.push(self.root, "x\n")
        self.plain_push(self.root, "y\n")
        self.good(self.root, "clear")
        self.assertEqual(self.entries(), [])

    def test_later_worktree(self):
        """what was pushed before there were several belongs to where it was pushed, and a worktree
        that is made again under the same name is another one"""
        self.push(self.one, "ours\n")
        self.git("worktree", "remove", "--force", str(self.one))
        self.git("worktree", "add", "-q", str(self.one), "one")
        self.bad(NONE_OWN, self.one, "pop")

    def test_rolled_back(self):
        """an entry that a rollback brings back has its owner again"""
        self.push(self.one, "ours\n")
        self.good(self.one, "pop")
        self.rollback(self.one)
        self.assertEqual(self.entries(), ["ours"])
        self.good(self.one, "pop")
        self.assertEqual(self.content(self.one), "ours\n")

    def rollback(self, place, *words, code=0):
        """`airlock rollback` in a working tree."""
        done = subprocess.run([harness.AIRLOCK, "rollback", *words], cwd=place, env=self.env,
                              text=True, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, code, done)
        return done.stderr

    def test_rollback_keeps_others(self):
        """a rollback takes no entry out of the stash that another git pushed while a call ran"""
        self.push(self.one, "ours\n")
        self.git("branch", "other", "main")
        self.git("checkout", "-q", "other", cwd=self.one)
        self.commit("z.txt", "z\n", "z", self.one)
        self.git("checkout", "-q", "one", cwd=self.one)
        server = self.server(self.one, "--toolset", "git")
        os.mkfifo(self.one / ".gitattributes")
        server.ask("git_checkout", {"branch": "other", "timeout_ms": 600000})
        writer = os.open(self.one / ".gitattributes", os.O_WRONLY)  # git waits for us
        self.plain_push(self.root, "plain\n")
        (self.one / ".gitattributes").unlink()
        os.close(writer)
        self.assertFalse(harness.Result(server.receive()["result"]).failed)
        self.rollback(self.one)
        self.assertEqual(self.entries(), ["plain", "ours"])
        self.rollback(self.one)
        self.assertEqual(self.entries(), ["plain", "ours"])

    def test_rollback_beside_others(self):
        """what other worktrees push meanwhile stays, whatever a rollback does with its own entries"""
        self.push(self.one, "ours\n")
        self.good(self.one, "pop")
        self.push(self.two, "theirs\n")
        self.rollback(self.one, "1", "--dry-run")
        self.assertEqual(self.entries(), ["theirs"])
        self.rollback(self.one)  # the pop
        self.assertEqual(self.entries(), ["theirs", "ours"])
        self.assertEqual(self.content(self.one), self.content(self.two))
        self.rollback(self.one)  # the rollback
        self.assertEqual(self.entries(), ["theirs"])
        self.rollback(self.one, "--redo")
        self.push(self.root, "more\n")
        self.assertEqual(self.entries(), ["more", "theirs", "ours"])
        self.assertEqual([line[0] for line in self.chain()], ["0" * 40] + [line[1] for line in self.chain()[:-1]])
        self.good(self.two, "pop")
        self.assertEqual(self.content(self.two), "theirs\n")
        self.good(self.one, "pop")
        self.assertEqual((self.content(self.one), self.entries()), ("ours\n", ["more"]))

    def chain(self):
        """The ids before and after, of each entry of the log, oldest first."""
        with open(f"{self.common_dir()}/logs/refs/stash", encoding="utf-8") as lines:
            return [line.split(" ")[:2] for line in lines]

    def test_rollback_of_a_push_beside_others(self):
        """the push of the first entry is undone while another worktree has pushed one"""
        self.push(self.one, "ours\n")
        self.push(self.two, "theirs\n")
        self.rollback(self.one)
        self.assertEqual((self.content(self.one), self.entries()), ("ours\n", ["theirs"]))
        self.git("fsck", "--strict")
        self.plain_push(self.root, "plain\n")
        self.rollback(self.two, code=1)
        self.assertEqual(self.entries(), ["plain", "theirs"])

    def test_damaged(self):
        """records that are damaged or lie are no records of this worktree"""
        self.push(self.one, "ours\n")
        [path] = (self.home / ".local/state/airlock/stashes").iterdir()
        good = path.read_bytes()
        for bad in (b"", good[:-3], good.replace(b"\tone\t", b"\two\t"), b"\0" * 100, b"\n" * 99,
                    good.replace(b"\t", b" ")):
            path.write_bytes(bad)
            self.bad(NONE_OWN, self.one, "pop")
        path.write_bytes(good[:-3] + good)
        self.good(self.one, "pop")

    def test_many_records(self):
        """the file of records is bounded, and the newest stay"""
        self.push(self.one, "ours\n")
        [path] = (self.home / ".local/state/airlock/stashes").iterdir()
        record = path.read_text(encoding="utf-8")
        path.write_text(("\n" + "0" * 40 + "\t7\tother\t\t.\n") * 5000 + record, encoding="utf-8")
        self.push(self.one, "two\n")
        self.assertLess(path.stat().st_size, 256 << 10)
        self.good(self.one, "pop")
        self.git("checkout", "-q", "a.txt", cwd=self.one)
        self.good(self.one, "pop")
        self.assertEqual(self.content(self.one), "ours\n")


class Workflow(Owners):
    """The same for git_stash of the toolset workflow."""

    TOOLSET = "workflow"

    def listed(self, place):
        entries = self.good(place, "list").value["structuredContent"]["stashes"]
        self.assertEqual({key for entry in entries for key in entry} - {"branch"},
                         {"index", "message", "date"})
        return [entry["message"][entry["message"].rindex(" (") + 2:-1] for entry in entries]

    def test_list(self):
        self.push(self.one, "1\n")
        self.plain_push(self.one, "2\n")
        self.assertEqual(self.listed(self.one), ["no worktree", "this worktree"])

    def test_results(self):
        """results name the index that the entry had, and what was dropped"""
        self.push(self.one, "ours\n")
        self.push(self.two, "two\n")
        result = self.good(self.one, "apply").value["structuredContent"]
        self.assertEqual(result["message"], "Applied stash@{1}")
        result = self.good(self.one, "drop").value["structuredContent"]
        self.assertEqual(result, {"dropped": True, "index": 1})
        self.assertEqual(self.good(self.one, "clear").value["structuredContent"], {"count": 0})
        self.assertEqual(self.good(self.two, "clear").value["structuredContent"], {"count": 1})


class Show(Owners):
    """git_stash show, of the toolset git."""

    def test_show(self):
        """show without an index shows the newest of its own worktree"""
        self.push(self.one, "ours\n")
        self.write("b.txt", "b\n", self.two)
        self.git("add", "b.txt", cwd=self.two)
        self.good(self.two)
        self.assertIn("a.txt", self.good(self.one, "show", approval="deny").text)
        self.assertIn("b.txt", self.good(self.one, "show", index=0, approval="deny").text)
        self.bad(NONE_OWN, self.root, "show")

    def test_always(self):
        """an "always" for entries of its own covers no other"""
        self.push(self.one, "1\n")
        self.push(self.two, "2\n")
        server = self.server(self.one, "--toolset", "git", kind=harness.AskingServer)
        shown, result = server.decided("always", "git_stash", {"action": "apply"})
        self.assertFalse(result.failed, result)
        self.assertIn('"always" covers every git_stash (apply) for entries of this worktree in', shown)
        self.git("checkout", "-q", "a.txt", cwd=self.one)
        server.ok("git_stash", {"action": "apply"})
        self.git("checkout", "-q", "a.txt", cwd=self.one)
        shown, _ = server.decided("reject", "git_stash", {"action": "apply", "index": 0})
        self.assertIn("worktree two", shown)


for name in [name for name in dir(Owners) if name.startswith("test_")]:
    if name not in vars(Show):
        setattr(Show, name, None)


if __name__ == "__main__":
    harness.main()
