#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writers of one repository take turns, whichever process they are in, and git's own locks are waited
for."""
import os
import subprocess

import harness
import worktrees

HOLDER = "git_commit of agent other (process 7), since 2026-01-02T03:04:05.678Z"
HELD = f"Another writer has this repository: {HOLDER}"


class Turns(worktrees.Case):
    def setUp(self):
        super().setUp()
        self.write("b.txt", "b\n")

    def rollback(self, config):
        """`airlock rollback`; gives the finished process."""
        return subprocess.run([harness.AIRLOCK, "rollback", "--config", str(config)], cwd=self.root,
                              env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, text=True, timeout=harness.WATCHDOG_SECONDS)

    def test_deadline(self):
        """a writer that waits until its deadline says who has the repository, since when"""
        fd = self.hold_lock(HOLDER)
        result = self.refused("ExecutionFailed", HELD, "git_add",
                              {"paths": ["b.txt"], "timeout_ms": 100})
        self.assertEqual((result.error["code"], result.error["name"]), (7020, "GIT_LOCK_TIMEOUT"))
        self.assertIn("\nNothing was done; try again when it has ended.", result.text)
        self.assertEqual(self.out("status", "--porcelain"), "?? b.txt\n")
        self.ok("git_status")
        self.ok("git_log", {"timeout_ms": 30000})
        os.close(fd)
        self.ok("git_add", {"paths": ["b.txt"]})
        self.assertEqual(self.lock_file().read_text(encoding="utf-8"), "")

    def test_progress(self):
        """the client is told for whom a call waits, and the call goes on when it is free"""
        fd = self.hold_lock(HOLDER)
        server = harness.Server(self)
        server.send(id=1, method="tools/call", params={
            "name": "git_add", "arguments": {"paths": ["b.txt"]}, "_meta": {"progressToken": "p"}})
        note = server.receive()
        self.assertEqual((note["method"], note["params"]["message"]),
                         ("notifications/progress",
                          f"waiting for another writer of this repository: {HOLDER}"))
        os.close(fd)
        answer = server.receive()
        while "id" not in answer:
            answer = server.receive()
        self.assertFalse(harness.Result(answer["result"]).failed, answer)

    def test_not_asked(self):
        """nobody is asked about a call before the lock is free"""
        fd = self.hold_lock(HOLDER)
        self.write("a.txt", "changed\n")
        server = harness.AskingServer(self)
        server.refused("ExecutionFailed", HELD, "git_restore",
                       {"paths": ["a.txt"], "timeout_ms": 100})
        os.close(fd)
        shown, result = server.decided("once", "git_restore", {"paths": ["a.txt"]})
        self.assertIn("+changed", shown)
        self.assertFalse(result.failed, result)

    def test_explained(self):
        """policy explain waits for no writer, neither of airlock nor of git"""
        lock = harness.pathlib.Path(self.common_dir()) / "index.lock"
        lock.touch()
        fd = self.hold_lock(HOLDER)
        done = subprocess.run([harness.AIRLOCK, "policy", "explain", "git_add",
                               '{"paths": ["b.txt"], "timeout_ms": 100}'], cwd=self.root,
                              env=self.env, stdin=subprocess.DEVNULL, capture_output=True,
                              check=False, text=True, timeout=harness.WATCHDOG_SECONDS)
        os.close(fd)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn("\npaths      b.txt\n", done.stdout)

    def test_denied(self):
        """a call that is denied waits for no writer"""
        fd = self.hold_lock(HOLDER)
        self.assertEqual(self.call("git_add", {"paths": ["b.txt"]}, approval="deny").kind,
                         "ApprovalDenied")
        os.close(fd)

    def test_stricter_meanwhile(self):
        """a call that waits is asked about if it is about a pushed commit by then"""
        self.git("init", "-q", "--bare", str(self.base / "hub"))
        self.git("remote", "add", "hub", str(self.base / "hub"))
        fd = self.hold_lock(HOLDER)
        server = harness.AskingServer(self, "--toolset", "everyday")
        server.send(id=1, method="tools/call", params={
            "name": "git_commit", "arguments": {"amend": True, "message": "second"},
            "_meta": {"progressToken": "p"}})
        self.assertIn("waiting for another writer", server.receive()["params"]["message"])
        self.git("push", "-q", "hub", "HEAD:main")
        os.close(fd)
        question = server.receive()
        while question["method"] == "notifications/progress":
            question = server.receive()
        self.assertIn("a commit that a remote-tracking branch has", question["params"]["message"])
        server.send(id=question["id"],
                    result={"action": "accept", "content": {"decision": "reject"}})
        answer = server.receive()
        while "id" not in answer:
            answer = server.receive()
        self.assertTrue(harness.Result(answer["result"]).failed, answer)
        self.assertEqual(self.out("log", "--format=%s"), "first\n")

    def test_worktrees(self):
        """linked worktrees share the lock, other repositories do not"""
        linked, other = self.worktree("linked"), self.root / "other"
        self.init(other)
        fd = self.hold_lock(HOLDER)
        server = self.server(linked)
        server.refused("ExecutionFailed", HELD, "git_branch",
                       {"create": "new", "timeout_ms": 100})
        self.ok("git_branch", {"create": "new", "working_dir": "other", "timeout_ms": 30000})
        os.close(fd)
        server.ok("git_branch", {"create": "new"})

    def test_not_held_for_an_index(self):
        """a call that waits for the index.lock of its worktree lets those of others go first"""
        one, two = self.worktree("one"), self.worktree("two")
        lock = harness.pathlib.Path(self.common_dir()) / "worktrees/one/index.lock"
        fd = os.open(lock, os.O_WRONLY | os.O_CREAT)
        self.addCleanup(os.close, fd)
        server, other = self.server(one), self.server(two)
        self.write("b.txt", "b\n", one)
        self.write("b.txt", "b\n", two)
        server.send(id=1, method="tools/call", params={
            "name": "git_add", "arguments": {"paths": ["b.txt"]}, "_meta": {"progressToken": "p"}})
        self.assertIn("waiting for index.lock", server.receive()["params"]["message"])
        other.ok("git_add", {"paths": ["b.txt"], "timeout_ms": 10000})
        lock.unlink()
        answer = server.receive()
        while "id" not in answer:
            answer = server.receive()
        self.assertFalse(harness.Result(answer["result"]).failed, answer)

    def test_rollback(self):
        """a rollback takes its turn, too"""
        self.ok("git_add", {"paths": ["b.txt"]})
        config = self.home / "c.toml"
        config.write_text("[tools.git]\ntimeout_ms = 100\n", encoding="utf-8")
        fd = self.hold_lock(HOLDER)
        done = self.rollback(config)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(HELD, done.stderr)
        os.close(fd)
        self.assertEqual(self.rollback(config).returncode, 0)
        self.assertEqual(self.out("status", "--porcelain"), "?? b.txt\n")

    def test_killed(self):
        """a call holds the lock while its git runs, and a server that is killed leaves it free"""
        linked = self.worktree("linked")
        server = self.server(linked, "--agent", "one")
        os.mkfifo(linked / ".gitattributes")
        self.write("c.txt", "c\n", linked)
        server.ask("git_add", {"paths": ["c.txt"], "timeout_ms": 600000})
        writer = self.hold(linked / ".gitattributes")
        result = self.call("git_add", {"paths": ["b.txt"], "timeout_ms": 100})
        self.assertRegex(result.error["message"],
                         "^Another writer has this repository: git_add of agent one "
                         rf"\(process {server.process.pid}\), since 2\d\d\d-")
        server.process.kill()
        server.process.wait()
        self.wait_for_its_end(writer)
        self.ok("git_add", {"paths": ["b.txt"]})

    def test_parallel(self):
        """eight processes that write at once all have their turn"""
        calls = []
        for number in range(8):
            self.write(f"{number}.txt", "x\n")
            calls.append(subprocess.Popen(
                [harness.AIRLOCK, "call", "--approval", "allow", "git_add", f"paths={number}.txt"],
                cwd=self.root, env=self.env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, start_new_session=True))
        for call in calls:
            out, errors = call.communicate(timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual((call.returncode, out, errors), (0, b"Staged 1 file(s)\n", b""))
        self.assertEqual(self.out("diff", "--cached", "--name-only").split(),
                         [f"{number}.txt" for number in range(8)])


class GitLocks(worktrees.Case):
    def setUp(self):
        super().setUp()
        self.git("branch", "old")
        self.git("remote", "add", "here", ".")

    def lock(self, name, age=0):
        """A lock of git's, and the time it was made; gives its path."""
        path = self.root / ".git" / name
        path.touch()
        when = path.stat().st_mtime - age
        os.utime(path, (when, when))
        self.addCleanup(path.unlink, missing_ok=True)
        return path

    def test_stale(self):
        """one that no git holds is named as stale at once, before anybody is asked"""
        for name, tool, arguments in (
                ("config.lock", "git_branch", {"delete": "old"}),
                ("packed-refs.lock", "git_branch", {"delete": "old"}),
                ("config.lock", "git_branch", {"rename": "old", "new_name": "new"}),
                ("packed-refs.lock", "git_stash", {"action": "clear"}),
                ("config.lock", "git_remote", {"action": "remove", "name": "here"}),
                ("config.lock", "git_remote", {"action": "add", "name": "x", "url": "."})):
            path, before = self.lock(name, 61), self.state()
            for approval in ("allow", "ask"):
                result = self.call(tool, arguments | ({} if tool == "git_remote" else
                                                      {"timeout_ms": 600000}), approval=approval)
                self.assertEqual((result.kind, result.error["code"], result.error["message"]),
                                 ("ExecutionFailed", 7020,
                                  f"{name} is stale: it is older than 60 s, no process has it open, "
                                  "and no git works in the repository"), result)
                self.assertIn(f"the user can delete the file {name} in the common git directory",
                              result.text)
            self.assertEqual(self.state(), before)
            path.unlink()
        self.ok("git_branch", {"delete": "old"})

    def test_not_needed(self):
        """one that a call does not need does not stop it"""
        self.lock("config.lock", 61)
        self.lock("packed-refs.lock", 61)
        self.write("b.txt", "b\n")
        self.ok("git_branch", {"create": "next"})
        self.ok("git_add", {"paths": ["b.txt"]})
        self.ok("git_stash")
        self.ok("git_checkout", {"branch": "next"})

    def test_held(self):
        """one that is held is waited for, at most until the deadline"""
        for name in ("config.lock", "packed-refs.lock"):
            path = self.lock(name)
            result = self.call("git_branch", {"delete": "old", "timeout_ms": 100})
            self.assertEqual((result.kind, result.error["code"], result.error["message"]),
                             ("ExecutionFailed", 7020,
                              f"Another git process holds {name}; wait for it to end, or remove "
                              "the file if none runs"))
            server = harness.Server(self)
            server.send(id=1, method="tools/call", params={
                "name": "git_branch", "arguments": {"rename": "old", "new_name": "new"},
                "_meta": {"progressToken": "p"}})
            note = server.receive()
            self.assertEqual(note["params"]["message"],
                             f"waiting for {name}, which another git process holds")
            path.unlink()
            answer = server.receive()
            self.assertFalse(harness.Result(answer["result"]).failed, answer)
            server.close()
            self.git("branch", "-m", "new", "old")

    def test_git_elsewhere(self):
        """a git that works in another worktree may hold a lock of the common directory"""
        linked = self.worktree("linked")
        self.lock("packed-refs.lock", 61)
        with subprocess.Popen(["git", "cat-file", "--batch"], cwd=linked, env=self.env,
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE) as git:
            result = self.call("git_branch", {"delete": "old", "timeout_ms": 100})
            self.assertIn("Another git process holds packed-refs.lock", result.text)
            git.stdin.close()
        result = self.call("git_branch", {"delete": "old", "timeout_ms": 100})
        self.assertIn("packed-refs.lock is stale", result.text)


if __name__ == "__main__":
    harness.main()
