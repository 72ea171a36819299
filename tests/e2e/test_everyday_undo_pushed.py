#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_undo beside a remote.  What was pushed stays there, and so does what is known of
it."""
import subprocess

import everyday
import harness


class Pushed(everyday.Case):
    """`main` follows a bare repository inside the root."""

    def setUp(self):
        super().setUp()
        self.init()
        self.git("init", "-q", "--bare", str(self.root / "hub.git"))
        self.write(".git/info/exclude", "hub.git\n")
        self.git("remote", "add", "origin", str(self.root / "hub.git"))
        self.commit("f.txt", "base\n", "base")
        self.git("push", "-q", "-u", "origin", "main")
        self.base_commit = self.at("HEAD")
        self.pushed = 0
        self.server = everyday.AskingServer(self)

    def at(self, name):
        """The commit of a revision; "" for none."""
        return self.out("rev-parse", "-q", "--verify", name, check=False).strip()

    def make(self, name="g.txt"):
        """A commit of the session."""
        self.write(name, "new\n")
        self.server.ok("git_commit", {"message": f"adds {name}", "paths": [name]})
        return self.at("HEAD")

    def push(self, **arguments):
        """Push the current branch, which is asked about the first time."""
        self.pushed += 1
        result = (self.server.call("git_push", arguments) if self.pushed > 1 else
                  self.server.decided("once", "git_push", arguments)[1])
        self.assertFalse(result.failed, result)

    def undo(self, **arguments):
        """The text of an undo."""
        return self.server.ok("git_undo", arguments).text

    def test_only_pushed(self):
        """a push alone is nothing to undo"""
        commit = self.commit("g.txt", "new\n", "by the user")
        self.push()
        text = self.undo()
        self.assertIn("Nothing to undo", text)
        self.assertIn("stays on the remote", text)
        self.assertEqual(self.at("origin/main"), commit)

    def test_commit(self):
        """the commit before the push is what is undone, and origin/main stays where it is"""
        commit = self.make()
        self.push()
        text = self.undo()
        self.assertIn("git_commit", text)
        self.assertIn("What was pushed stays on the remote", text)
        self.assertEqual(self.at("HEAD"), self.base_commit)
        self.assertEqual(self.at("origin/main"), commit)
        self.assertIn("behind", self.server.ok("git_status").text)
        self.undo(steps=-1)
        self.assertEqual(self.at("HEAD"), commit)
        self.assertEqual(self.at("origin/main"), commit)

    def amend_asks(self):
        """Whether an amend of HEAD is asked about; it is rejected then."""
        before = self.at("HEAD")
        number = self.server.ask("git_commit", {"amend": True, "message": "other words"})
        message = self.server.receive()
        asks = message.get("method") == "elicitation/create"
        if asks:
            self.server.send(id=message["id"],
                             result={"action": "accept", "content": {"decision": "reject"}})
            message = self.server.receive()
        self.assertEqual(message["id"], number)
        self.assertEqual(self.at("HEAD") == before, asks)
        return asks

    def assert_stays_pushed(self, remove):
        """The commit at HEAD counts as pushed when no remote-tracking branch has it any more."""
        self.assertTrue(self.amend_asks())
        remove()
        self.assertEqual(self.out("branch", "-r"), "")
        self.assertTrue(self.amend_asks())
        self.make("own.txt")
        self.assertFalse(self.amend_asks())  # the control: this one nobody else has

    def test_removed(self):
        """a remote that is removed first of all: what it has stays pushed"""
        self.server.ok("git_remote", {"action": "remove", "name": "origin"})
        self.assertEqual(self.out("branch", "-r"), "")
        self.assertTrue(self.amend_asks())

    def test_removed_later(self):
        """what this session pushed stays pushed when the remote goes, by airlock and by git"""
        self.make()
        self.push()
        self.assert_stays_pushed(
            lambda: self.server.ok("git_remote", {"action": "remove", "name": "origin"}))

    def test_removed_by_others(self):
        """the same when somebody else removes what airlock has seen, and collects garbage"""
        self.assert_stays_pushed(lambda: (self.git("update-ref", "-d", "refs/remotes/origin/main"),
                                          self.git("gc", "-q", "--prune=now")))

    def test_pruned(self):
        """a branch that is gone from the remote is pruned: its commits stay pushed"""
        self.git("push", "-q", "origin", "main:other")
        self.git("update-ref", "-d", "refs/heads/main", cwd=self.root / "hub.git")
        self.git("update-ref", "-d", "refs/heads/other", cwd=self.root / "hub.git")
        self.server.ok("git_fetch", {"prune": True})
        self.assertEqual(self.out("branch", "-r"), "")
        self.assertTrue(self.amend_asks())

    def test_reset_and_rebase(self):
        """a reset past a commit of a remote that is gone asks too"""
        self.make()
        self.push()
        self.server.ok("git_remote", {"action": "remove", "name": "origin"})
        _, result = self.server.decided("reject", "git_reset", {"mode": "soft", "to": "HEAD~"})
        self.assertTrue(result.failed)
        self.assertEqual(self.at("HEAD~"), self.base_commit)

    def test_rollback(self):
        """airlock rollback leaves what is known of a remote: a push is no step, and it says so"""
        commit = self.make()
        self.push()
        for options in (["--dry-run"], ["--yes"]):
            text = self.rolled_back(*options)
            self.assertEqual(text.count("What was pushed stays on the remote.\n"), 1, text)
            self.assertIn(" execution: git_commit", text)
        self.assertEqual((self.at("HEAD"), self.at("origin/main")), (self.base_commit, commit))
        self.assertEqual(self.out("rev-parse", "main", cwd=self.root / "hub.git").strip(), commit)
        self.rolled_back("--yes", "--redo")
        self.assertEqual((self.at("HEAD"), self.at("origin/main")), (commit, commit))
        self.make("h.txt")
        self.assertNotIn("remote", self.rolled_back("--yes"))

    def test_rollback_of_a_push_alone(self):
        """airlock rollback has nothing to do where only pushes and fetches were made"""
        commit = self.commit("mine.txt", "m\n", "by the user")
        self.push()
        self.server.ok("git_fetch")
        done = self.run_rollback("--yes")
        self.assertEqual((done.returncode, done.stdout), (1, ""), done)
        self.assertIn("What was pushed stays on the remote.\n", done.stderr)
        self.assertIn("nothing to roll back", done.stderr)
        self.assertEqual((self.at("HEAD"), self.at("origin/main")), (commit, commit))

    def run_rollback(self, *options):
        return subprocess.run([harness.AIRLOCK, "rollback", *options], cwd=self.root, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              text=True, timeout=harness.WATCHDOG_SECONDS, start_new_session=True)

    def rolled_back(self, *options):
        """What airlock rollback of the last execution prints."""
        done = self.run_rollback(*options)
        self.assertEqual(done.returncode, 0, done)
        return done.stdout

    def test_amend_is_asked(self):
        """amending what was pushed is asked about after an undo, too"""
        self.make()
        self.push()
        self.undo()
        _, result = self.server.decided("deny", "git_commit", {"message": "x", "amend": True})
        self.assertEqual(result.kind, "ApprovalDenied", result)

    def test_many_steps(self):
        """pushes between the commits are no steps"""
        first = self.make()
        self.push()
        self.make("h.txt")
        self.push()
        self.git("fetch", "-q")
        last = self.make("i.txt")
        self.undo(steps=2)
        self.assertEqual(self.at("HEAD"), first)
        self.assertNotEqual(self.at("origin/main"), last)
        self.undo()
        self.assertEqual(self.at("HEAD"), self.base_commit)

    def test_new_branch(self):
        """the upstream that a push set stays, until the branch itself is undone"""
        self.server.ok("git_switch", {"branch": "side", "create": True})
        self.make()
        self.push(set_upstream=True)
        self.undo()
        self.assertEqual(self.out("config", "branch.side.merge").strip(), "refs/heads/side")
        self.undo()
        self.assertEqual(self.at("refs/heads/side"), "")
        self.assertNotEqual(self.at("origin/side"), "")

    def test_force_and_delete(self):
        """a push that is forced or deletes a branch is no step, and its upstream stays; a stash is no push"""
        self.make()
        self.server.ok("git_stash", {"action": "push"})
        self.assertNotIn("remote", self.undo(dry_run=True))
        self.server.ok("git_switch", {"branch": "side", "create": True})
        self.make("h.txt")
        self.server.decided("once", "git_push", {"force": True, "set_upstream": True})
        self.server.decided("once", "git_push", {"delete": True, "branch": "side"})
        text = self.undo()
        self.assertIn("git_commit", text)
        self.assertIn("What was pushed stays on the remote", text)
        self.assertEqual(self.out("config", "branch.side.merge").strip(), "refs/heads/side")

    def test_fetch(self):
        """a fetch is no step"""
        commit = self.make()
        other = self.base / "other"
        self.git("clone", "-q", str(self.root / "hub.git"), str(other), cwd=self.base)
        theirs = self.commit("t.txt", "t\n", "theirs", other)
        self.git("push", "-q", "origin", "main", cwd=other)
        self.server.ok("git_fetch")
        self.assertEqual(self.at("origin/main"), theirs)
        self.assertIn("git_commit", self.undo(dry_run=True))
        self.undo()
        self.assertEqual((self.at("HEAD"), self.at("origin/main")), (self.base_commit, theirs))
        self.assertEqual(self.at(commit), commit)

    def test_remote(self):
        """a remote that was removed comes back with its branches"""
        commit = self.make()
        self.push()
        self.server.ok("git_remote", {"action": "remove", "name": "origin"})
        self.assertEqual(self.at("refs/remotes/origin/main"), "")
        self.undo()
        self.assertEqual(self.at("origin/main"), commit)
        self.undo()
        self.assertEqual((self.at("HEAD"), self.at("origin/main")), (self.base_commit, commit))

    def run_airlock(self, *words):
        """A command of the shell, which may push."""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text('[[tools.approval.rule]]\ndecision = "allow"\ntool = "git"\n', encoding="ascii")
        done = subprocess.run([harness.AIRLOCK, *words], cwd=self.root, env=self.env, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 0, done)

    def theirs(self, name):
        """A commit and a tag, the same name, that somebody else pushes."""
        other = self.base / name
        self.git("clone", "-q", str(self.root / "hub.git"), str(other), cwd=self.base)
        commit = self.commit(name, "t\n", name, other)
        self.git("tag", name, cwd=other)
        self.git("push", "-q", "--tags", "origin", "main", cwd=other)
        return commit

    def test_shell(self):
        """a push or a fetch of the shell's git, a command's too, is no step"""
        for link in (), ("run", "--"):
            with self.subTest(link):
                self.run_airlock("git", "commit", "-q", "--allow-empty", "-m", "own")
                commit = self.at("HEAD")
                self.run_airlock(*link, "git", "push", "-q", "origin", "HEAD")
                self.run_airlock(*link, "git", "fetch", "-q", "--no-tags")
                text = self.rolled_back("--yes")
                self.assertEqual("stays on the remote" in text, not link, text)
                self.assertEqual((self.at("HEAD"), self.at("origin/main")), (self.at(commit + "~"), commit))
                self.git("merge", "-q", "--ff-only", "origin/main")

    def test_shell_upstream(self):
        """the upstream that a push of the shell's git set stays"""
        self.run_airlock("git", "switch", "-q", "-c", "side")
        self.run_airlock("git", "push", "-q", "-u", "origin", "side")
        self.rolled_back("--yes")
        self.assertEqual((self.out("branch", "--show-current"), self.at("refs/heads/side")), ("main\n", ""))
        self.assertEqual(self.at("origin/side"), self.base_commit)

    def test_tags_of_a_fetch(self):
        """the tags that a fetch brought stay, and the fetch is no step; a pull goes back without them"""
        for name, fetch in (("t1", lambda: self.server.ok("git_fetch")),
                            ("t2", lambda: self.run_airlock("git", "fetch", "-q")),
                            ("t3", lambda: self.run_airlock("git", "remote", "update")),
                            ("t4", lambda: self.run_airlock("git", "pull", "-q", "--ff-only"))):
            with self.subTest(name):
                head, theirs = self.at("HEAD"), self.theirs(name)
                if name != "t4":
                    self.make("own" + name)
                fetch()
                self.rolled_back("--yes")
                self.assertEqual((self.at("HEAD"), self.at("origin/main"), self.at(name)), (head, theirs, theirs))

    def test_shell_remote(self):
        """what a command took along with the remote, or the repository, comes back"""
        for words in (("git", "remote", "remove", "origin"), ("run", "--", "git", "remote", "remove", "origin"),
                      ("run", "--", "sh", "-c", "rm -rf .git; git init -q")):
            with self.subTest(words):
                self.run_airlock(*words)
                self.assertEqual(self.at("refs/remotes/origin/main"), "")
                self.rolled_back("--yes", "--force")
                self.assertEqual(self.at("refs/remotes/origin/main"), self.base_commit)
                self.assertNotIn("gone", self.out("status", "-b", "--short"))


if __name__ == "__main__":
    harness.main()
