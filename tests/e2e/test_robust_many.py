#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many calls at once, and many after each other: all right, and nothing accumulates."""
import os
import pathlib
import re
import time

import harness


class Together(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()

    def results(self, server, numbers):
        """The results of these calls, by id, in whatever order they come."""
        found = {}
        while len(found) < len(numbers):
            answer = server.receive()
            self.assertIn(answer["id"], numbers)
            self.assertNotIn(answer["id"], found)
            found[answer["id"]] = harness.Result(answer["result"])
        return found

    def test_reads(self):
        """64 git_status at once are all answered, and all right"""
        self.write("b.txt", "b\n")
        server = harness.Server(self)
        numbers = [server.ask("git_status") for _ in range(64)]
        for result in self.results(server, numbers).values():
            self.assertEqual((result.failed, result.text), (False, "## main\n?? b.txt\n"))

    def test_slow_reads(self):
        """reads that wait, on a dead file server say, hold up no read of another repository"""
        other = self.root / "other"
        self.init(other)
        server, pipe = harness.Server(self), self.block_log()
        numbers = [server.ask("git_log") for _ in range(20)]
        writer = self.hold(pipe)
        for _ in range(3):
            result = server.call("git_status", {"working_dir": "other"})
            self.assertEqual((result.failed, result.text), (False, "## main\n"))
        for number in numbers:
            server.send(method="notifications/cancelled", params={"requestId": number})
        self.wait_for_its_end(writer)
        server.assert_lives(working_dir="other")

    def test_writes(self):
        """16 git_add of different files at once are all staged"""
        names = [f"file{number}.txt" for number in range(16)]
        for name in names:
            self.write(name, name + "\n")
        server = harness.Server(self)
        numbers = [server.ask("git_add", {"paths": [name]}) for name in names]
        for result in self.results(server, numbers).values():
            self.assertEqual((result.failed, result.text), (False, "Staged 1 file(s)"))
        self.assertEqual(self.out("diff", "--cached", "--name-only").split(), sorted(names))
        server.assert_lives()

    def test_order(self):
        """changes of one session take effect in the order in which they were sent"""
        server = harness.Server(self)
        numbers = []
        for number in range(8):
            name = f"file{number}.txt"
            self.write(name, name + "\n")
            numbers.append(server.ask("git_add", {"paths": [name]}))
            numbers.append(server.ask("git_commit", {"type": "feat", "message": name}))
            numbers.append(server.ask("git_status"))
        for result in self.results(server, numbers).values():
            self.assertFalse(result.failed, result.text)
        log = self.out("log", "-8", "--reverse", "--format=%s", "--name-only")
        self.assertEqual(log.replace("feat: ", "").split(),
                         [f"file{number}.txt" for number in range(8) for _ in range(2)])

    def test_reads_and_writes(self):
        """commits in a row between reads: each is there once, in the order of its turn"""
        server = harness.Server(self)
        numbers, commits = [], []
        for number in range(8):
            self.write(f"file{number}.txt", "x\n")
            numbers.append(server.ask("git_add", {"all": True}))
            numbers.append(server.ask("git_log", {"oneline": True}))
            commits.append(server.ask("git_commit", {"type": "feat", "message": f"n{number}"}))
        done = self.results(server, numbers + commits)
        made = [number for number in commits if not done[number].failed]
        self.assertTrue(all(not done[number].failed for number in numbers), done)
        for number in set(commits) - set(made):
            self.assertEqual(done[number].error["message"], "nothing to commit")
        self.assertEqual(self.out("rev-list", "--count", "HEAD").strip(), str(1 + len(made)))
        server.ok("git_status")
        self.assertEqual(self.git("fsck", "--strict").returncode, 0)

    def test_servers(self):
        """servers of one repository share its turns and one journal"""
        names = [f"file{number}.txt" for number in range(12)]
        servers = [harness.Server(self) for _ in range(3)]
        asked = []
        for number, name in enumerate(names):
            self.write(name, "x\n")
            server = servers[number % len(servers)]
            asked.append((server, server.ask("git_add", {"paths": [name]})))
        for server in servers:
            numbers = [number for owner, number in asked if owner is server]
            for result in self.results(server, numbers).values():
                self.assertFalse(result.failed, result)
        self.assertEqual(self.out("diff", "--cached", "--name-only").split(), sorted(names))
        done = harness.subprocess.run([harness.AIRLOCK, "log", "--verify"], env=self.env,
                                      capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, "12 lines, chain intact\n"))


class Afterwards(harness.Case):
    """300 mixed calls: valid, refused, failing, cancelled, out of time."""

    def setUp(self):
        super().setUp()
        self.init()
        for number in range(4):
            self.commit("a.txt", f"{number}\n", f"change {number}")
        # A repository whose git_log waits for ever.
        self.held = self.root / "held"
        self.init(self.held)
        os.mkfifo(self.held / ".mailmap")

    def links(self, proc):
        """Where its descriptors lead; one that is closed meanwhile was none to keep."""
        for entry in (proc / "fd").iterdir():
            try:
                yield re.sub(r"\d+", "N", os.readlink(entry))
            except FileNotFoundError:
                continue

    def spare_threads(self, server):
        """How many there are beyond five of the server's own, and eight that wait for calls."""
        tasks = pathlib.Path("/proc") / str(server.process.pid) / "task"
        return max(0, len(list(tasks.iterdir())) - 5 - harness.SANITIZER_THREADS - 8)

    def snapshot(self, server):
        """Descriptors, spare threads, and resident kilobytes."""
        proc = pathlib.Path("/proc") / str(server.process.pid)
        status = (proc / "status").read_text()
        kilobytes = int(re.search(r"VmRSS:\s+(\d+)", status).group(1))
        links = sorted(self.links(proc))
        # The journal keeps one file open for the calls that run.
        kept = [link for link in links if "/airlock/open/" in link]
        self.assertLessEqual(len(kept), 1)
        links = [link for link in links if link not in kept]
        return links, self.spare_threads(server), kilobytes

    def settled(self, server, like=None):
        """The same, once past calls are cleared away: the next call does that.

        A call's thread may end a moment after its answer is out, so it takes as many calls as it
        takes; what never goes is what the comparison afterwards shows.
        """
        now, end = (None, None), time.monotonic() + harness.WATCHDOG_SECONDS
        while time.monotonic() < end:
            before = now
            server.assert_lives()
            while self.spare_threads(server) and time.monotonic() < end:
                os.sched_yield()
            now = self.snapshot(server)
            if now[:2] == (like or before[:2]):
                break
        return now

    def fifty(self, server):
        """Fifty calls of all kinds, most of them at once."""
        expected = {}
        for number in range(9):
            expected[server.ask("git_status")] = None
            expected[server.ask("git_log", {"max_count": 1 + number % 3})] = None
            expected[server.ask("git_diff", {"from_ref": "HEAD~1"})] = None
            expected[server.ask("git_diff", {"from_ref": "no-such-ref"})] = "ExecutionFailed"
            expected[server.ask("git_status", {"no_such": number})] = "BadArgs"
        expected[server.ask("git_status", {"working_dir": "/etc"})] = "SandboxViolation"
        expected[server.ask("git_log", {"working_dir": "held", "timeout_ms": 100})] = "Timeout"
        cancelled = [server.ask("git_log", {"working_dir": "held", "timeout_ms": 600000})
                     for _ in range(3)]
        for number in cancelled:
            server.send(method="notifications/cancelled", params={"requestId": number})
        for _ in range(len(expected)):
            answer = server.receive()
            self.assertEqual(harness.Result(answer["result"]).kind, expected.pop(answer["id"]))

    def zombies(self, server):
        """Children of the server that nobody reaped, and those that run."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = entry.read_text().rsplit(")", 1)[1].split()
            except OSError:
                continue
            if int(fields[1]) == server.process.pid:
                found.append((entry.parent.name, fields[0]))
        return found

    def test_nothing_accumulates(self):
        """after 300 mixed calls descriptors, threads and children are what they were before"""
        server = harness.Server(self)
        before = self.settled(server)
        for _ in range(2):
            self.fifty(server)
        middle = self.settled(server, before[:2])
        for _ in range(4):
            self.fifty(server)
        after = self.settled(server, before[:2])
        self.assertEqual(after[:2], before[:2])
        self.assertEqual(self.zombies(server), [])
        self.assertLess(after[2], 1.5 * middle[2])


if __name__ == "__main__":
    harness.main()
