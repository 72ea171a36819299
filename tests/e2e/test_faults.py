#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A journal and a store of checkpoints on a disk that gives errors: wherever that is, a call fails
cleanly or succeeds, nothing is lost, and the next one works.

Run as killed.py says; STEP is the program of fault.c, and a step is a system call on a file below
the state directory.
"""
import json
import os
import subprocess

import harness
import killed
import rollback

ERRORS = ["LIKELY"]
if os.environ.get("AIRLOCK_EVERY_STEP"):
    ERRORS += ["EIO", "ENOSPC", "EINTR", "SHORT", "EMFILE"]


class Faults(killed.Killed):
    def setUp(self):
        super().setUp()
        self.state = self.home / ".local/state/airlock"

    def fault(self, number, error, *words):
        """A command of airlock, one of whose system calls fails."""
        done = subprocess.run([killed.STEP, str(number), error, str(self.state), harness.AIRLOCK,
                               *words], cwd=self.root, env=self.env | killed.LEAKS_OFF,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True,
                              timeout=harness.WATCHDOG_SECONDS)
        if done.returncode == 77:
            self.skipTest("this machine's registers are not known")
        return done

    def sweep(self, words, check):
        """Let one call after the other fail, each time from what was kept, and check."""
        self.reset()
        done = self.fault(0, "LIKELY", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        count = int(done.stdout.splitlines()[-1])
        self.assertGreater(count, 10)
        found = []
        for error in ERRORS:
            for number in range(killed.FIRST, count + 1, killed.EVERY):
                harness.signal.alarm(harness.CASE_SECONDS)
                self.reset()
                done = self.fault(number, error, *words)
                try:
                    self.assertIn(done.returncode, (0, 1), done)
                    check(done)
                except (AssertionError, ValueError) as exc:
                    found.append(f"{error} at {number} of {count}: {done}\n{exc}")
        if found:
            raise AssertionError(f"{len(found)} faults\n" + "\n".join(found))

    def assert_journal(self):
        """The chain is whole, also for whoever comes next."""
        done = self.command("log", "--verify")
        if (self.state / "tool_log.jsonl").exists():
            self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        else:
            self.assertIn("there is no journal", done.stderr)

    def words(self, tool, arguments):
        """The command line of a call."""
        return ("call", "--json", "--root", str(self.root), "--approval", "allow", tool,
                json.dumps(arguments))

    def assert_call(self, tool, arguments, first=()):
        """A call that changes something, at its faults."""
        self.fill()
        for earlier in first:
            self.ok(*earlier)
        self.keep()
        before = self.snapshot()
        self.reset()
        self.ok(tool, arguments)
        after = set(self.changed(before))

        def check(done):
            failed = not done.stdout or json.loads(done.stdout).get("isError", False)
            self.assertTrue(done.stdout or done.stderr.startswith("airlock: "), done)
            self.assertEqual(done.returncode == 1, failed)
            now = self.changed(before)
            self.assertEqual(set(now), set() if failed else after)
            self.assert_journal()
            self.ok("git_branch", {"create": "next"})
            self.assert_journal()
            found = [line for line in self.lines()[-2:] if line["tool"] == tool]
            self.assertEqual(self.lines()[-1]["tool"], "git_branch")
            if not failed and not found:
                self.assertIn("journal", done.stderr)
            if found and found[0]["git_commit"] and not failed:
                self.rollback("2", "--force")
            else:
                self.assertTrue(failed or done.stderr, done)
                self.rollback("--force")
            if failed or (found and found[0]["git_commit"]):
                self.assert_same(before)

        self.sweep(self.words(tool, arguments), check)

    def changed(self, before):
        """The names of what differs."""
        now = self.snapshot()
        return [name for name in before | now if before.get(name) != now.get(name)]

    def test_add(self):
        """git_add, the first call there is"""
        self.assert_call("git_add", {"all": True})

    def test_commit(self):
        """git_commit, when there are checkpoints"""
        self.assert_call("git_commit", {"type": "fix", "message": "x"},
                         first=[("git_add", {"all": True})])

    def test_restore(self):
        """git_restore, which discards work: with no checkpoint, nothing happens"""
        self.assert_call("git_restore", {"paths": ["dir/over.txt", "a.txt"]},
                         first=[("git_add", {"paths": ["dir/over.txt"]})])

    def assert_staging(self, tool, arguments_of, outcomes):
        """A call of the toolset staging, at its faults: one of two outcomes, and it goes on."""
        config, workspace = self.base / "config.toml", self.base / "workspace"
        config.write_text(f'[staging]\nbackend = "directory"\npath = "{workspace}"\n',
                          encoding="utf-8")
        options = ("--toolset", "staging", "--config", str(config))

        def stage(name):
            self.write(name, name, workspace)
            made = self.ok("git_stage", {"files": [f"/workspace/{name}"], "message": name}, *options)
            return made.value["structuredContent"]["id"]

        def staged():
            value = self.ok("git_status", {}, *options).value["structuredContent"]
            shown = self.ok("git_diff", {}, *options).text
            messages = [commit["message"] for commit in value["staged"]]
            self.assertEqual(shown.count("\n+"), 2 * len(messages), shown)
            return messages

        first = stage("first")
        self.write("new", "new", workspace)
        self.keep()

        def check(done):
            failed = not done.stdout or json.loads(done.stdout).get("isError", False)
            self.assertTrue(done.stdout or done.stderr.startswith("airlock: "), done)
            found = staged()
            self.assertIn(found, outcomes)
            if not failed:
                self.assertEqual(found, outcomes[-1])
            self.assertIn(stage("last"), self.ok("git_status", {}, *options).value[
                "structuredContent"]["staged"][-1]["id"])
            self.assertEqual(staged(), found + ["last"])

        self.sweep(("call", "--json", "--root", str(self.root), *options, tool,
                    json.dumps(arguments_of(first))), check)

    def test_stage(self):
        """git_stage: staged or not, and what was staged before stays"""
        self.assert_staging("git_stage",
                            lambda _: {"files": ["/workspace"], "message": "new"},
                            (["first"], ["first", "new"]))

    def test_discard(self):
        """git_discard: discarded or not"""
        self.assert_staging("git_discard", lambda first: {"commitId": first}, (["first"], []))

    def test_rollback(self):
        """rollback: where it does not come to its end it says so, and the same again completes it"""
        self.fill()
        before = self.snapshot()
        for tool, arguments in (("git_add", {"all": True}), ("git_stash", {"action": "clear"}),
                                ("git_branch", {"force_delete": "side"})):
            self.ok(tool, arguments)
        self.keep()
        after = self.snapshot()

        def check(done):
            if done.returncode == 0:
                self.assert_same(before)
            else:
                self.assertNotEqual(done.stderr, "", done)
                self.assert_journal()
                again = self.command("rollback", "3")
                if again.returncode != 0:  # what was begun counts as one
                    self.assertEqual(self.changed(after), [], again)
                self.assertEqual(again.returncode, 0, again)
                self.assert_same(before)
            self.assert_journal()
            self.ok("git_branch", {"create": "next"})
            self.assert_journal()

        self.sweep(("rollback", "3"), check)


    def test_rollback_tree(self):
        """rollback: a full disk stops it half way; the same again completes it, --redo takes it back"""
        self.fill()
        before = self.snapshot()
        self.ok("git_stash", {"action": "push", "include_untracked": True})
        self.ok("git_branch", {"force_delete": "side"})
        self.keep()
        after = self.snapshot()
        ways = []

        def check(done):
            if done.returncode == 0:
                self.assert_same(before)
            if "Rolled back" in done.stdout:  # at the most one file was left
                return
            last = self.lines()[-1]
            if last["tool"] == "rollback" and last["git_commit"]:
                ways.append(("rollback", "--redo" if len(ways) % 2 else "2"))
                again = self.command(*ways[-1])
                self.assertEqual(again.returncode, 0, again)
                self.assert_same(before if "2" in ways[-1] else after)
                if "2" in ways[-1]:
                    self.rollback("--redo")
                    self.assert_same(after)
            else:
                self.assertEqual(self.changed(after), [], done)

        self.state, every, killed.EVERY = self.root, killed.EVERY, max(killed.EVERY // 20, 1)
        try:
            self.sweep(("rollback", "2"), check)
        finally:
            killed.EVERY = every
        self.assertGreater(len(ways), 3)


class Reads(Faults):
    """A read that cannot be recorded."""

    def plain(self):
        """What git itself says."""
        return self.out("status", "--porcelain=1", "-b")

    def test_status(self):
        """git_status: whatever fails below the state directory, an answer is right"""
        self.write("new.txt", "new\n")
        self.keep()

        def check(done):
            if done.returncode == 0:
                value = json.loads(done.stdout.splitlines()[0])
                self.assertEqual(value["content"][0]["text"], self.plain())
            self.assertEqual(self.ok("git_status").text, self.plain())

        self.sweep(self.words("git_status", {}), check)

    def test_worktree(self):
        """a removal of a worktree of which a move fails leaves it where it was, whole"""
        self.ok("git_worktree", {"action": "add", "name": "x"}, "--toolset", "parallel")
        tops = self.root / ".worktrees/x", self.root / ".git/worktrees/x"
        self.write("new.txt", "new\n", tops[0])
        self.keep()
        words = ("call", "--json", "--root", str(self.root), "--toolset", "parallel", "git_worktree",
                 json.dumps({"action": "remove", "name": "x"}))
        before = {str(path): rollback.digest(path) for top in tops for path in rollback.files_below(top)}
        outcomes = set()

        def check(done):
            self.assertEqual(tops[0].exists(), tops[1].exists())
            outcomes.add((done.returncode, tops[0].exists()))
            if not tops[0].exists():
                self.rollback()
            self.assertEqual({str(path): rollback.digest(path) for top in tops
                              for path in rollback.files_below(top)}, before)

        self.state, every, killed.EVERY = self.root / ".git/airlock", killed.EVERY, 1
        try:
            self.sweep(words, check)
        finally:
            killed.EVERY = every
        self.assertEqual(outcomes, {(0, False), (1, True)})

    def test_resolve(self):
        """a resolution that cannot move aside what was in the file leaves that where it was"""
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "theirs\n", "theirs")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "ours\n", "ours")
        self.git("merge", "-q", "side", check=False)
        self.write("a.txt", "half resolved\n")
        self.keep()
        words = ("call", "--json", "--root", str(self.root), "--toolset", "everyday", "--approval", "allow",
                 "git_conflicts", json.dumps({"action": "resolve", "path": "a.txt", "take": "ours"}))
        outcomes = set()

        def check(done):
            outcomes.add(done.returncode)
            if not done.returncode:
                self.assertEqual((self.root / "a.txt").read_text(), "ours\n")
                self.rollback()
            self.assertEqual((self.root / "a.txt").read_text(), "half resolved\n")

        self.state, every, killed.EVERY = self.root / ".git/airlock", killed.EVERY, 1
        try:
            self.sweep(words, check)
        finally:
            killed.EVERY = every
        self.assertEqual(outcomes, {0, 1})


if __name__ == "__main__":
    harness.main()
