#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""After a power failure: what was synchronised is there, of the rest any part, and `log --verify`
and `rollback` work or say what is gone.

docs/CHECKPOINTS.md, "Order of writing", and docs/JOURNAL.md, "Synchronisation", say what is
synchronised when.
"""
import json
import shutil

import harness
import rollback


class PowerFailure(rollback.Rollback):
    def setUp(self):
        super().setUp()
        self.state = self.home / ".local/state/airlock"

    def top(self):
        """The directory of the only store."""
        [store] = self.state.glob("*/checkpoints.git")
        return store.parent

    def lose(self, path, how):
        """Damage a file that was not synchronised."""
        if not path.exists():
            return
        content = path.read_bytes()
        path.unlink()
        if how != "gone":
            path.write_bytes({"empty": b"", "cut": content[:len(content) // 2],
                              "zeros": bytes(len(content)), "whole": content}[how])

    def lose_power(self, how):
        """The power failed while the checkpoint after the last execution was written: it has no name
        yet, and a pack is cut.  All files that are not synchronised are damaged in one way."""
        store = self.top() / "checkpoints.git"
        after = max((store / "refs/after").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        pack = max((store / "objects/pack").glob("pack-*.pack"),
                   key=lambda path: path.stat().st_mtime_ns)
        (store / "objects/pack/tmp_pack_x").write_bytes(pack.read_bytes()[:-1])
        after.rename(store / "refs/new" / ("0" * 16))
        for path in (*store.glob("refs/last/*"), *store.glob("*.index"), self.top() / "seen",
                     self.top() / "staged", self.top() / "expiry"):
            self.lose(path, how)

    def assert_whole(self):
        """No reference of the store leads to what is not there."""
        store = self.top() / "checkpoints.git"
        env = self.env | {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(self.root / ".git/objects")}
        done = harness.subprocess.run(["git", "rev-list", "--objects", "--all", "--quiet"], cwd=store,
                                      env=env, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def verify(self):
        """What `log --verify` says: exit code and text."""
        done = self.command("log", "--verify")
        return done.returncode, done.stdout + done.stderr

    def two_calls(self):
        """A repository, how it was before two calls, between them, and after them."""
        self.rich()
        first = self.snapshot()
        self.ok("git_add", {"paths": ["dir/b.txt", "untracked.txt"]})
        second = self.snapshot()
        self.ok("git_commit", {"type": "fix", "message": "x"})
        return first, second

    def test_last_checkpoint(self):
        """the checkpoint after is lost: the execution counts as interrupted, and comes back"""
        for number, how in enumerate(("gone", "empty", "cut", "zeros", "whole")):
            if number:
                self.clean()
            _, second = self.two_calls()
            self.lose_power(how)
            self.assertEqual(self.verify()[0], 0)
            done = self.command("rollback", "1")
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("interrupted", done.stderr)
            self.rollback("1", "--force")
            self.assert_whole()
            self.assert_same(second)
            self.ok("git_add", {"all": True})
            self.rollback()
            self.assert_same(second)
            self.assert_whole()

    def clean(self):
        """Begin with a new repository."""
        shutil.rmtree(self.root)
        shutil.rmtree(self.state)
        self.root.mkdir()
        self.init()

    def test_everything_else(self):
        """both executions go back, whatever was lost of the last one"""
        for number, how in enumerate(("gone", "empty", "cut", "zeros", "whole")):
            if number:
                self.clean()
            first, _ = self.two_calls()
            self.lose_power(how)
            self.rollback("2", "--force")
            self.assert_same(first)
            self.assert_whole()
            self.assertEqual(self.verify()[0], 0)

    def kill_server(self):
        """A server that adds a file and is killed; the lines of the log then."""
        server = harness.Server(self)
        result = server.call("git_add", {"paths": ["dir/b.txt"]})
        self.assertFalse(result.failed, result)
        server.process.kill()
        server.process.wait()
        for stream in (server.process.stdin, server.process.stdout, server.process.stderr):
            if stream:
                stream.close()
        return (self.state / "tool_log.jsonl").read_bytes().splitlines(keepends=True)

    def open_again(self, line):
        """The record of a call in the journal, as it is until the journal is on the disk."""
        for record in (self.state / "open").iterdir():
            record.unlink()
        call = json.loads(line)
        call.update(seq=None, prev=None, outcome="interrupted", duration_ms=None)
        (self.state / "open/2000000000-0.jsonl").write_text(
            json.dumps(call) + '\n{"written":true}\n', encoding="utf-8")

    def test_line(self):
        """the line of an answered call is lost: the journal has the call as interrupted"""
        self.rich()
        self.ok("git_branch", {"create": "first"})
        before = self.snapshot()
        head = (self.state / "tool_log.head").read_bytes()
        lines = self.kill_server()
        self.open_again(lines[-1])
        (self.state / "tool_log.jsonl").write_bytes(b"".join(lines[:-1]))
        (self.state / "tool_log.head").write_bytes(head)
        self.lose_power("gone")
        self.ok("git_status")
        lines = [json.loads(line) for line in
                 (self.state / "tool_log.jsonl").read_text(encoding="utf-8").splitlines()]
        [lost] = [line for line in lines if line["tool"] == "git_add"]
        self.assertEqual(lost["outcome"], "interrupted")
        self.assertTrue(lost["git_commit"])
        self.assertEqual(self.verify()[0], 0)
        self.rollback("1", "--force")
        self.assert_same(before)
        self.assert_whole()

    def test_head(self):
        """the head is newer than the log: `log --verify` says so, and rollback works"""
        self.rich()
        self.ok("git_branch", {"create": "first"})
        before = self.snapshot()
        lines = self.kill_server()
        self.open_again(lines[-1])
        (self.state / "tool_log.jsonl").write_bytes(b"".join(lines[:-1]))
        code, text = self.verify()
        self.assertEqual(code, 1)
        self.assertIn("missing", text)
        self.lose_power("zeros")
        done = self.command("rollback", "1", "--force")
        self.assertEqual(done.returncode, 0, done)
        self.assert_same(before)
        self.assert_whole()
        self.assertEqual(self.verify()[0], 1)


if __name__ == "__main__":
    harness.main()
