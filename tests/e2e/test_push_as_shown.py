#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_push brings what was shown to where it was shown, whatever changes while the user is asked;
and an "always" is for one branch and one address."""
import os
import pathlib

import harness
import remotes
import servers

FORCE = {"branch": "feature", "force": True}


def read_link(path):
    """Where a link leads; "" when it is gone."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


class Shown(remotes.Session):
    """A forced push of `feature`, and what happens while the question is open."""

    def while_asked(self, change, arguments):
        """Ask, change something, say yes; gives what was shown and the message that follows."""
        number = self.session.ask("git_push", self.arguments(arguments))
        question = self.session.receive()
        self.assertEqual(question.get("method"), "elicitation/create", question)
        change()
        self.answer(question, "once")
        return question["params"]["message"], number, self.session.receive()

    def answer(self, question, decision):
        """What the user says."""
        self.session.send(id=question["id"],
                          result={"action": "accept", "content": {"decision": decision}})

    def asked_again(self, change, arguments):
        """A change that the answer does not cover: nothing is pushed; gives the second question."""
        shown, number, message = self.while_asked(change, arguments)
        self.assertNotIn("secret", shown)
        self.assertEqual(message.get("method"), "elicitation/create", message)
        self.answer(message, "reject")
        result = self.session.receive()
        self.assertEqual(result["id"], number, result)
        self.assertEqual(harness.Result(result["result"]).kind, "ApprovalDenied", result)
        return message["params"]["message"]

    def secret(self):
        """The branch `work` gets another commit."""
        commit = self.out("commit-tree", "-m", "secret", "-p", "work", "work^{tree}").strip()
        self.git("update-ref", "refs/heads/work", commit)

    def absent(self, where):
        """The branch did not get there."""
        self.assertEqual(self.out("for-each-ref", "refs/heads/feature", cwd=where), "")

    def test_nothing_changes(self):
        """an answer is enough where nothing changes, and the reason is what cannot be taken back"""
        self.git("branch", "feature")
        self.start()
        shown, number, message = self.while_asked(lambda: None, FORCE)
        self.assertIn(f"To {self.hub}\n", shown)
        self.assertIn("Why it asks: it rewrites history, sends data to another machine\n", shown)
        self.assertEqual(message["id"], number, message)
        self.assertEqual(self.at_hub("feature"), self.here("feature"))

    def test_symbolic(self):
        """a symbolic reference whose branch moves is asked about again"""
        self.git("branch", "work")
        self.git("symbolic-ref", "refs/heads/feature", "refs/heads/work")
        self.start()
        self.assertIn("secret", self.asked_again(self.secret, FORCE))
        self.absent(self.hub)

    def test_link(self):
        """a reference that is a link to another file is asked about again"""
        self.git("branch", "work")
        (self.root / ".git/refs/heads/feature").symlink_to("work")
        self.start()
        self.assertIn("secret", self.asked_again(self.secret, FORCE))
        self.absent(self.hub)

    def test_packed(self):
        """a packed reference that a loose one replaces is asked about again"""
        self.git("branch", "work")
        self.git("branch", "feature")
        self.git("pack-refs", "--all")
        self.start()

        def change():
            self.secret()
            self.git("update-ref", "refs/heads/feature", "refs/heads/work")
        self.assertIn("secret", self.asked_again(change, FORCE))
        self.absent(self.hub)

    def test_linked_address(self):
        """an address that is a link to another repository by then is asked about again"""
        self.git("branch", "feature")
        evil, there = self.second(), self.top / "there"
        there.symlink_to(self.hub)
        self.git("config", "remote.origin.url", "../there")
        self.start()

        def change():
            there.unlink()
            there.symlink_to(evil)
        self.asked_again(change, FORCE)
        self.absent(evil)
        self.absent(self.hub)

    def test_renamed_repository(self):
        """the same where another repository got the name"""
        self.git("branch", "feature")
        evil, old = self.second(), self.top / "old.git"
        self.start()

        def change():
            self.hub.rename(old)
            evil.rename(self.hub)
        self.asked_again(change, FORCE)
        self.absent(old)
        self.absent(self.hub)

    def test_between_two_pushes(self):
        """an address that is a link to another repository once the push to the first is done"""
        self.git("branch", "feature")
        evil, good, there = self.second(), self.top / "good.git", self.top / "there"
        self.git("init", "-q", "--bare", str(good))
        there.symlink_to(good)
        hook = self.hub / "hooks/post-receive"
        hook.write_text(f"#!/bin/sh\nln -sfn '{evil}' '{there}'\n", encoding="utf-8")
        hook.chmod(0o755)
        first = servers.Daemon(self, self.top).url("hub.git")
        for url in first, str(there):
            self.git("config", "--add", "remote.origin.pushurl", url)
        self.start()
        result = self.asked("once", "git_push", FORCE)[1]
        self.assertEqual(there.resolve(), evil)
        self.assertEqual(self.at_hub("feature"), self.here("feature"))
        self.assertEqual(result.error["code"], 7034, result)
        self.assertIn("leads to another repository by now", result.text)
        self.absent(evil)
        self.absent(good)

    def test_repository_below(self):
        """a repository in the git directory of the other one is not the one that is meant"""
        self.git("branch", "feature")
        peer = self.top / "peer"
        self.git("clone", "-q", str(self.hub), str(peer))
        self.git("init", "-q", "--bare", str(peer / ".git/.git"))
        self.git("config", "remote.origin.url", str(peer))
        self.git("push", "-q", str(peer / ".git"), "feature:control")
        self.assertIn("control", self.out("--git-dir", str(peer / ".git/.git"), "for-each-ref"))
        self.start()
        result = self.session.call("git_push", self.arguments({"branch": "feature"}))
        self.assertEqual(result.error["code"], 7034, result)
        self.absent(peer / ".git/.git")


class Always(remotes.Session):
    """What an "always" covers."""

    def always(self, arguments):
        """A call that is asked about and gets an "always"; gives what the user reads."""
        shown, result = self.asked("always", "git_push", arguments)
        self.assertFalse(result.failed, result)
        return shown

    def test_branch_and_address(self):
        """an "always" for a forced push is for its branch and its address"""
        self.git("branch", "feature")
        self.git("remote", "add", "mine", str(self.second()))
        self.start()
        mine = {"remote": "mine", **FORCE}
        shown = self.always(mine)
        self.assertIn(f"for branch feature, address {self.top}/second.git in this repo", shown)
        self.quiet("git_push", mine)
        self.asked("reject", "git_push", {"remote": "mine", "branch": "main", "force": True})
        self.asked("reject", "git_push", FORCE)
        third = self.top / "third.git"
        self.git("init", "-q", "--bare", str(third))
        self.add(third, "late")
        self.asked("reject", "git_push", {"remote": "late", **FORCE})
        self.git("config", "remote.mine.pushurl", str(third))
        self.asked("reject", "git_push", mine)
        self.git("config", "--unset", "remote.mine.pushurl")
        self.quiet("git_push", mine)

    def behind_lock(self, change, arguments):
        """A push that waits for its turn while something changes: it has to be asked about; gives
        what the user reads."""
        lock = self.root / ".git/index.lock"
        fds = pathlib.Path(f"/proc/{self.session.process.pid}/fd")
        lock.touch()
        number = self.session.ask("git_push", self.arguments(arguments))
        while "anon_inode:inotify" not in [read_link(fd) for fd in fds.iterdir()]:
            os.sched_yield()
        change()
        lock.unlink()
        question = self.session.receive()
        self.assertEqual(question.get("method"), "elicitation/create", question)
        self.session.send(id=question["id"],
                          result={"action": "accept", "content": {"decision": "reject"}})
        self.assertEqual(self.session.receive()["id"], number)
        return question["params"]["message"]

    def test_turn(self):
        """an "always" for a branch is not for the one that is current when the turn has come"""
        force = {"remote": "origin", "force": True}
        self.git("checkout", "-q", "-b", "feature")
        self.start()
        self.always(force)
        self.quiet("git_push", force)
        self.git("branch", "work")
        shown = self.behind_lock(lambda: self.git("symbolic-ref", "HEAD", "refs/heads/work"), force)
        self.assertIn("for branch work, address", shown)
        self.assertEqual(self.out("for-each-ref", "refs/heads/work", cwd=self.hub), "")

    def test_fetch(self):
        """an "always" for what fetches from a new address is for that address"""
        self.start()
        self.add("https://127.0.0.1:1/other", "other")
        for tool in ("git_fetch", "git_pull"):
            self.add("https://127.0.0.1:1/" + tool, tool)
            shown = self.asked("always", tool, {"remote": tool})[0]
            self.assertIn(f"for address https://127.0.0.1:1/{tool} in this repository", shown)
            self.asked("reject", tool, {"remote": "other"})
        self.asked("reject", "git_fetch", {"all": True})

    def test_rule(self):
        """the same for a push that a rule asks about, and passwords are not shown"""
        self.git("remote", "add", "mine", str(self.second()))
        self.git("config", "--add", "remote.mine.pushurl", str(self.hub))
        self.git("config", "--add", "remote.mine.pushurl", "https://u:s3cret@127.0.0.1:1/r")
        self.start(*self.configured('[[tools.approval.rule]]\ntool = "git_push"\n'
                                    'decision = "ask"\n'))
        shown = self.asked("always", "git_push", {"remote": "mine"})[0]
        self.assertIn(f"address {self.hub}, address https://[redacted]@127.0.0.1:1/r", shown)
        self.assertNotIn("s3cret", shown)
        self.git("config", "remote.mine.pushurl", "https://u:other@127.0.0.1:1/r",
                 "s3cret")
        self.asked("reject", "git_push", {"remote": "mine"})

    def test_stash(self):
        """an "always" for one action of git_stash is for that action"""
        self.start()
        self.write("a.txt", "two\n")
        self.git("stash", "-q")
        self.write("a.txt", "three\n")
        self.git("stash", "-q")
        shown, result = self.asked("always", "git_stash", {"action": "drop"})
        self.assertFalse(result.failed, result)
        self.assertIn('"always" covers every git_stash (drop)', shown)
        self.asked("reject", "git_stash", {"action": "clear"})


if __name__ == "__main__":
    harness.main()
