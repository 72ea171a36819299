#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""However a call or the server ends: no git goes on, no lock and no private directory is left."""
import os
import pathlib
import select
import shutil
import signal
import subprocess

import harness


class Ending(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.run_dir = pathlib.Path(self.env["XDG_STATE_HOME"]) / "airlock/run"
        self.lock = self.root / ".git/index.lock"

    def block_status(self):
        """Put a pipe in the place of info/exclude: `git status` waits until a process opens it."""
        path = self.root / ".git/info/exclude"
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        return path

    def held_call(self, server, pipe):
        """A git_log that waits; gives its id and our end of the pipe."""
        number = server.ask("git_log", {"timeout_ms": 600000})
        return number, self.hold(pipe)

    def never_ending_add(self, server):
        """A git_add that holds index.lock and reads a file without an end in sight."""
        with open(self.root / "huge", "wb") as file:
            file.truncate(1 << 40)
        number = server.ask("git_add", {"paths": ["huge"], "timeout_ms": 600000})
        # git registers its lock for removal a moment after it made it, and begins to pack later.
        self.wait_until(lambda: list((self.root / ".git/objects/pack").glob("tmp_pack_*")))
        self.assertTrue(self.lock.exists())
        return number

    def wait_until(self, condition):
        """Look until it is so; the watchdog ends a test for which it never is."""
        while not condition():
            os.sched_yield()

    def assert_nothing_left(self, server=None):
        """No process works in the root, and no private directory is left."""
        own = [server.process.pid] if server else []
        # One that was killed is seen until the kernel has taken it apart.
        self.wait_until(lambda: all(pid in own for pid in self.processes_in(self.base)))
        if not server:
            self.assertEqual(list(self.run_dir.iterdir()), [])

    def private_dirs(self):
        """What is in the run directory."""
        return sorted(os.listdir(self.run_dir))


class Signals(Ending):
    def assert_ends_by(self, number):
        """The signal ends the server and its git, and nothing is left."""
        pipe = self.block_log()
        server = harness.Server(self)
        _, writer = self.held_call(server, pipe)
        server.process.send_signal(number)
        self.wait_for_its_end(writer)
        self.assertEqual(server.process.wait(), 128 + number)
        self.assert_nothing_left()
        pipe.unlink()

    def test_polite_signals(self):
        """SIGTERM, SIGINT and SIGHUP end the server with its git and its private directory"""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            self.assert_ends_by(number)

    def test_signal_while_writing(self):
        """a git that writes puts its lock away when the server gets SIGTERM"""
        server = harness.Server(self)
        self.never_ending_add(server)
        server.process.terminate()
        self.assertEqual(server.process.wait(), 128 + signal.SIGTERM)
        self.assertFalse(self.lock.exists())
        self.assert_nothing_left()

    def test_kill(self):
        """SIGKILL ends the git as well; the next start removes the private directory"""
        pipe = self.block_log()
        server = harness.Server(self)
        _, writer = self.held_call(server, pipe)
        server.process.kill()
        self.wait_for_its_end(writer)
        server.process.wait()
        left = self.private_dirs()
        self.assertEqual(len(left), 1)
        pipe.unlink()
        following = harness.Server(self)
        self.assertNotIn(left[0], self.private_dirs())
        following.assert_lives()
        following.close()
        self.assert_nothing_left()

    def test_kill_while_writing(self):
        """a git that writes puts its lock away when the server gets SIGKILL"""
        server = harness.Server(self)
        self.never_ending_add(server)
        server.process.kill()
        server.process.wait()
        self.wait_until(lambda: not self.lock.exists())
        self.wait_until(lambda: not self.processes_in(self.base))
        self.ok("git_add", {"paths": ["a.txt"]})

    def test_private_directory_in_use(self):
        """a start leaves the private directory of a server that runs"""
        first = harness.Server(self)
        second = harness.Server(self)
        self.assertEqual(len(self.private_dirs()), 2)
        second.close()
        self.assertEqual(len(self.private_dirs()), 1)
        first.assert_lives()

    def test_interrupted_call(self):
        """Ctrl-C on `airlock call` ends its git, says so, and leaves nothing"""
        pipe = self.block_log()
        process = subprocess.Popen([harness.AIRLOCK, "call", "git_log"], env=self.env,
                                   cwd=self.root, stderr=subprocess.PIPE, stdout=subprocess.PIPE,
                                   start_new_session=True, text=True)
        writer = self.hold(pipe)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate()
        self.wait_for_its_end(writer)
        self.assertEqual((process.returncode, out, err), (130, "", "Cancelled\n"))
        self.assert_nothing_left()


class Streams(Ending):
    def test_closed_at_once(self):
        """a server whose input is closed at once exits 0 without a word"""
        done = subprocess.run([harness.AIRLOCK, "serve", "--toolset", "git"], env=self.env, cwd=self.root,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))
        self.assert_nothing_left()

    def test_no_streams(self):
        """a server started with no descriptors at all ends, and writes into none of its own"""
        done = subprocess.run(["sh", "-c", 'exec "$0" serve <&- >&- 2>&-', harness.AIRLOCK],
                              env=self.env, cwd=self.root, check=False)
        self.assertIn(done.returncode, (0, 1))
        self.assert_nothing_left()

    def test_call_without_streams(self):
        """a call whose streams are closed runs, and what it would print is in no file of airlock's"""
        self.commit("f.txt", "text\n", "one")
        for name, streams in (("a", "<&- >&- 2>&-"), ("b", ">&-"), ("c", "<&-"), ("d", "2>&-")):
            line = f'exec "$0" call git_branch create={name} --toolset git --approval allow {streams}'
            done = subprocess.run(["sh", "-c", line, harness.AIRLOCK], env=self.env, cwd=self.root,
                                  stdin=subprocess.DEVNULL, capture_output=True, check=False)
            self.assertEqual(done.returncode, 0, (streams, done))
            self.assertEqual(self.out("branch", "--list", name).strip(), name)
        done = subprocess.run([harness.AIRLOCK, "log", "--verify"], env=self.env, cwd=self.root,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, b"4 lines, chain intact\n"), done)

    def test_output_closed(self):
        """a server that nobody reads ends, with its git"""
        pipe = self.block_log()
        server = harness.Server(self)
        _, writer = self.held_call(server, pipe)
        server.process.stdout.close()
        server.send(id=5, method="ping")
        self.wait_for_its_end(writer)
        self.assertIn(server.process.wait(), (0, 1))
        self.assert_nothing_left()

    def test_call_output_closed(self):
        """`airlock call` into a closed pipe ends quietly"""
        read, write = os.pipe()
        os.close(read)
        done = subprocess.run([harness.AIRLOCK, "call", "git_log"], env=self.env, cwd=self.root,
                              stdout=write, stderr=subprocess.PIPE, check=False)
        os.close(write)
        self.assertGreaterEqual(done.returncode, 0)
        self.assertEqual(done.stderr, b"")

    def test_end_while_writing(self):
        """end of input while git writes: the server exits 0, and no lock is left"""
        server = harness.Server(self)
        self.never_ending_add(server)
        server.process.stdin.close()
        self.assertEqual(server.process.wait(), 0)
        self.assertFalse(self.lock.exists())
        self.assert_nothing_left()

    def test_end_with_many_calls(self):
        """end of input with calls at work and waiting: the server exits 0 and nobody is left"""
        pipe = self.block_log()
        server = harness.Server(self)
        for _ in range(20):
            server.ask("git_log", {"timeout_ms": 600000})
        self.hold(pipe)
        server.process.stdin.close()
        self.assertEqual(server.process.wait(), 0)
        self.assert_nothing_left()


class Calls(Ending):
    def test_cancelled(self):
        """a cancelled git_log takes its git along and gets no answer"""
        pipe = self.block_log()
        server = harness.Server(self)
        number, writer = self.held_call(server, pipe)
        server.send(method="notifications/cancelled", params={"requestId": number})
        self.wait_for_its_end(writer)
        pipe.unlink()
        server.assert_lives()
        self.assert_nothing_left(server)

    def test_cancelled_while_writing(self):
        """a cancelled git_add leaves no lock, stages nothing and frees its turn"""
        server = harness.Server(self)
        number = self.never_ending_add(server)
        server.send(method="notifications/cancelled", params={"requestId": number})
        self.write("b.txt", "b\n")
        server.ok("git_add", {"paths": ["b.txt"]})
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "b.txt\n")
        self.assertFalse(self.lock.exists())
        server.assert_lives()

    def test_cancelled_while_waiting(self):
        """a git_add cancelled while it waits for its turn never begins"""
        server = harness.Server(self)
        first = self.never_ending_add(server)
        self.write("b.txt", "b\n")
        second = server.ask("git_add", {"paths": ["b.txt"], "timeout_ms": 600000})
        for number in (second, first):
            server.send(method="notifications/cancelled", params={"requestId": number})
        server.assert_lives()
        server.ok("git_add", {"paths": ["a.txt"]})
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")

    def test_timeout_of_status(self):
        """a git_status out of time says so, and no git is left"""
        pipe = self.block_status()
        server = harness.Server(self)
        result = server.refused("Timeout", "git command timed out after 150ms", "git_status",
                                {"timeout_ms": 150})
        self.assertEqual((result.error["code"], result.error["name"]), (7035, "GIT_TIMEOUT"))
        self.assert_nobody_reads(pipe)
        pipe.unlink()
        server.assert_lives()
        self.assert_nothing_left(server)

    def test_timeout_while_writing(self):
        """a git_add out of time leaves no lock, and the next one works"""
        server = harness.Server(self)
        with open(self.root / "huge", "wb") as file:
            file.truncate(1 << 40)
        server.refused("Timeout", "git command timed out after 2000ms", "git_add",
                       {"paths": ["huge"], "timeout_ms": 2000})
        self.assertFalse(self.lock.exists())
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        server.ok("git_add", {"paths": ["a.txt"]})

    def test_foreign_lock_is_waited_for(self):
        """an index.lock of another process that goes away in time is waited for"""
        server = harness.Server(self)
        self.write("b.txt", "b\n")
        self.lock.touch()
        number = server.ask("git_add", {"paths": ["b.txt"], "timeout_ms": 600000})
        server.ok("git_status")
        self.assertFalse(select.select([server.process.stdout], [], [], 0)[0])
        self.lock.unlink()
        answer = server.receive()
        self.assertEqual((answer["id"], answer["result"].get("isError", False)), (number, False))
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "b.txt\n")

    def test_foreign_lock_stays(self):
        """an index.lock that stays until the deadline stays after it as well"""
        server = harness.Server(self)
        self.lock.write_text("another's")
        result = server.call("git_add", {"paths": ["a.txt"], "timeout_ms": 200})
        self.assertEqual((result.kind, result.error["code"]), ("ExecutionFailed", 7020))
        self.assertEqual(self.lock.read_text(), "another's")
        server.assert_lives()

    def test_repository_goes_away(self):
        """a repository that is removed while its git runs: the call ends, the server lives"""
        other = self.root / "other"
        self.init(other)
        pipe = self.block_log()
        server = harness.Server(self)
        number, _ = self.held_call(server, pipe)
        shutil.rmtree(self.root / ".git")
        server.send(method="notifications/cancelled", params={"requestId": number})
        server.assert_lives(working_dir="other")


if __name__ == "__main__":
    harness.main()
