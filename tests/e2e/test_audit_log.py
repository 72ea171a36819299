#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`airlock log`: every call is there, with who decided, and can be read and trusted."""
import datetime
import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios

import harness
import test_robust_terminal

SMALLEST_LOG = 16384  # journal.max_log_bytes


class Audit(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.state_dir = self.home / ".local/state/airlock"

    def command(self, *words, env=None):
        """A command other than `call`, not on a terminal."""
        return subprocess.run([harness.AIRLOCK, *words], cwd=self.root, env=self.env | (env or {}),
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True,
                              timeout=harness.WATCHDOG_SECONDS, start_new_session=True)

    def log(self, *words, env=None):
        """What `airlock log` prints."""
        done = self.command("log", *words, env=env)
        self.assertEqual(done.returncode, 0, done)
        if done.stdout:
            self.assertEqual(done.stderr, "", done)
        return done.stdout

    def records(self, *words):
        """The lines `airlock log --json` gives."""
        return [json.loads(line) for line in self.log("--json", *words).splitlines()]

    def small_files(self):
        """From now on a log is full soon."""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f"[journal]\nmax_log_bytes = {SMALLEST_LOG}\n", encoding="utf-8")

    def large_call(self, server):
        """A call whose line is large."""
        return server.call("git_log", {"grep": "x" * 3000})

    def fill_files(self, count):
        """Record calls until there are `count` full files; gives their names, oldest first."""
        self.small_files()
        server = harness.Server(self)
        while len(self.full()) < count:
            self.large_call(server)
        server.close()
        return self.full()

    def full(self):
        """The names of the full files, oldest first."""
        names = [path.name for path in self.state_dir.glob("tool_log.*.jsonl")]
        return sorted(names, key=lambda name: int(name.split(".")[1]))

    def verify(self, code=0):
        """`airlock log --verify`; gives what it says."""
        done = self.command("log", "--verify", "--json")
        self.assertEqual(done.returncode, code, done)
        found = json.loads(done.stdout)
        self.assertEqual(found["intact"], code == 0)
        return found


class Everything(Audit):
    """Each way a call can end has its line."""

    def assert_last(self, outcome, decision, decided_by):
        """How the last call ended, and who decided it."""
        line = self.record()
        self.assertEqual((line["outcome"], line["decision"], line["decided_by"]),
                         (outcome, decision, decided_by), line)
        self.assertEqual(line["result"]["success"], outcome == "ok", line)
        return line

    def test_ends(self):
        """done, failed, refused, not approved: the line says which, and who decided"""
        add = {"paths": ["a.txt"]}
        self.call("git_status")
        self.assert_last("ok", "auto", "policy")
        self.call("git_show", {"commit": "nothing"})
        self.assert_last("error", "auto", "policy")
        self.call("git_log", {"max_count": "many"})
        self.assertIsNone(self.assert_last("refused", "none", "none")["operation"])
        self.call("git_add", {"paths": ["../x"]})
        self.assert_last("refused", "none", "none")
        self.call("git_add", add, approval="ask")
        self.assert_last("refused", "none", "none")
        self.call("git_add", add, approval="deny")
        self.assert_last("declined", "rejected", "policy")
        self.call("git_add", add)
        self.assert_last("ok", "auto", "policy")
        self.assertEqual(self.verify()["lines"], 7)

    def test_terminal(self):
        """a user at a terminal: reject, once, and always, which ends with the call"""
        self.write("a.txt", "two\n")
        for answer, outcome, decision in (("r\n", "declined", "rejected"), ("o", "ok", "once"),
                                          ("a", "ok", "once")):
            terminal = test_robust_terminal.Terminal(self, "git_add", {"paths": ["a.txt"]})
            terminal.asked()
            terminal.answer(answer + "\n").end()
            self.assert_last(outcome, decision, "terminal")

    def test_rules(self):
        """a rule that allows or denies"""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        for decision, outcome in (("allow", "ok"), ("deny", "declined")):
            config.write_text(f'[[tools.approval.rule]]\ntool = "git_add"\n'
                              f'decision = "{decision}"\n', encoding="utf-8")
            self.call("git_add", {"paths": ["a.txt"]}, approval="ask")
            self.assert_last(outcome, "rule", "policy")

    def test_timeout_and_cancel(self):
        """a call that ran out of time, and one that was cancelled"""
        self.block_log()
        self.call("git_log", {"timeout_ms": 100})
        self.assert_last("timeout", "auto", "policy")
        process = subprocess.Popen([harness.AIRLOCK, "call", "git_log"], env=self.env,
                                   cwd=self.root, stderr=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, start_new_session=True)
        self.hold(self.root / ".mailmap")
        process.send_signal(signal.SIGINT)
        process.wait()
        self.assert_last("cancelled", "auto", "policy")

    def test_killed(self):
        """a call of a server that was killed has its line as soon as one looks, and only one"""
        pipe = self.block_log()
        server = harness.Server(self)
        server.ask("git_log", {"timeout_ms": 600000})
        writer = self.hold(pipe)
        server.process.kill()
        server.process.wait()
        self.wait_for_its_end(writer)
        pipe.unlink()
        self.assertIn("git_log  log  none  interrupted  -  Show git log", self.log())
        self.ok("git_status")
        lines = self.records()
        self.assertEqual([line["outcome"] for line in lines], ["interrupted", "ok"])
        self.assertEqual(lines[0]["tool"], "git_log")
        self.assertIsNone(lines[0]["duration_ms"])
        self.ok("git_status")
        self.assertEqual(self.verify()["lines"], 3)
        self.assertEqual(sorted(os.listdir(self.state_dir / "open")), [])

    def test_other_journal(self):
        """--audit names the journal before the other words and after them"""
        self.ok("git_status")
        file = self.state_dir / "other.jsonl"
        file.write_bytes((self.state_dir / "tool_log.jsonl").read_bytes())
        for words in (("--audit", file, "--json"), ("--json", "--audit", file),
                      ("--json", f"--audit={file}", "1")):
            self.assertEqual(len(self.log(*map(str, words)).splitlines()), 1)
        self.assertEqual(self.command("log", "--verify", "--audit", str(file)).returncode, 1)
        self.assertEqual([path.name for path in self.state_dir.glob("other*")], ["other.jsonl"])

    def running(self, *words):
        """What `airlock log --running --json` says."""
        return [json.loads(line) for line in self.log("--running", "--json", *words).splitlines()]

    def test_seen(self):
        """what runs is shown with its repository and process, also as a table, and nothing else"""
        self.assertEqual(self.log("--running"), "no calls are running\n")
        pipe = self.block_log()
        server = harness.Server(self)
        server.ask("git_log", {"timeout_ms": 600000, "max_count": 7})
        writer = self.hold(pipe)
        server.assert_lives()  # a call that ended
        [call] = self.running()
        self.assertEqual((call["pid"], call["tool"], call["repository"], call["operation"]),
                         (server.process.pid, "git_log", str(self.root), "log"))
        self.assertRegex(call["time"], r"^\d{4}-\d\d-\d\dT")
        self.assertEqual(call["input"]["max_count"], 7)
        for name in ("outcome", "result", "seq", "prev", "duration_ms", "begin"):
            self.assertNotIn(name, call)
        [row] = self.log("--running").splitlines()
        for word in (str(server.process.pid), "git_log", "max_count=7"):
            self.assertIn(word, row.split("  ")[-1] if "=" in word else row.split(), row)
        self.assertIn(str(self.root)[:20], row)  # a long path is shortened
        heading = Table.terminal(self, 200, "--running").splitlines()[0]
        self.assertEqual(re.sub("\033\\[[0-9;]*m", "", heading).split(),
                         ["TIME", "PID", "TOOL", "OPERATION", "AGENT", "REPOSITORY", "SUMMARY"])
        self.assertEqual(self.running("--tool", "git_log"), [call])
        self.assertEqual(self.running("--tool", "git_add"), [])
        server.process.kill()
        server.process.wait()
        self.assertEqual(self.running(), [])
        self.wait_for_its_end(writer)
        pipe.unlink()

    def test_seen_words(self):
        """what does not go with --running is said, and nothing to show is no failure"""
        for words in (["--verify"], ["--follow"], ["3"], ["--since", "today"]):
            done = self.command("log", "--running", *words)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn("--running", done.stderr)
        self.assertEqual(self.running(), [])
        self.ok("git_status")
        self.assertEqual(self.running(), [])
        done = self.command("log", "--running", "--tool", "git_lgo")
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("did you mean 'git_log'", done.stderr)

    def test_running(self):
        """a call that runs is left alone by those who start meanwhile"""
        pipe = self.block_log()
        server = harness.Server(self)
        number = server.ask("git_log", {"timeout_ms": 600000})
        writer = self.hold(pipe)
        self.ok("git_status")
        self.assertEqual([line["outcome"] for line in self.records()], ["ok"])
        os.write(writer, b"\n")
        server.send(method="notifications/cancelled", params={"requestId": number})
        server.close()
        self.assertEqual([line["outcome"] for line in self.records()], ["ok", "cancelled"])


class Table(Audit):
    def terminal(self, width, *words, env=None, command="log"):
        """What is shown on a terminal of this width."""
        master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, width, 0, 0))
        env = self.env | {"TERM": "xterm", "PAGER": "cat"} | (env or {})
        process = subprocess.Popen([harness.AIRLOCK, command, *words], stdout=slave, cwd=self.root,
                                   stdin=subprocess.DEVNULL, stderr=slave,
                                   env={name: value for name, value in env.items() if value is not None})
        os.close(slave)
        text = b""
        while select.select([master], [], [], harness.WATCHDOG_SECONDS)[0]:
            try:
                text += os.read(master, 65536)
            except OSError:
                break
        os.close(master)
        self.assertEqual(process.wait(), 0)
        return text.decode().replace("\r\n", "\n")

    def test_columns(self):
        """time, seq, tool, operation, decision, outcome, ms, summary"""
        self.ok("git_status")
        self.call("git_show", {"commit": "nothing"})
        lines = self.log(env={"TZ": "UTC"}).splitlines()
        for line, record in zip(lines, self.records(), strict=True):
            time = record["time"][:19].replace("T", " ")
            words = [time, str(record["seq"]), record["tool"], record["operation"],
                     record["decision"], record["outcome"], str(record["duration_ms"]),
                     record["summary"]]
            self.assertEqual(re.split("  +", line), words)

    def test_refused(self):
        """of a call without a summary the error, and not the advice below it"""
        self.call("git_restore", {}, "--toolset", "everyday")
        error = self.record()["result"]["error"]
        self.assertIn("\n", error)
        self.assertTrue(self.log().endswith("  " + error.partition("\n")[0] + "\n"), self.log())

    def test_local_time(self):
        """times are those of the user's clock"""
        self.ok("git_status")
        began = datetime.datetime.fromisoformat(self.record()["time"].replace("Z", "+00:00"))
        shown = (began + datetime.timedelta(hours=5, minutes=30)).strftime("%Y-%m-%d %H:%M:%S")
        self.assertTrue(self.log(env={"TZ": "XST-5:30"}).startswith(shown + "  "))

    def test_width(self):
        """no line is longer than the terminal is wide, and the summary goes below where it must"""
        self.call("git_add", {"paths": ["a" * 100]})
        self.call("git_add", {"paths": ["\u4e2d" * 50]})
        for width in (20, 60, 80, 98, 99, 100, 101, 140, 400):
            lines = self.terminal(width, env={"NO_COLOR": "1"}).splitlines()
            for line in lines:
                columns = sum(2 if char >= "\u2e80" else 1 for char in line)
                self.assertLessEqual(columns, width, line)
            self.assertTrue(lines[0].startswith("TIME"), lines)
            if not 80 < width < 140:
                self.assertEqual(len(lines), 3 if width > 80 else 5, lines)
        self.assertIn("a" * 100, self.terminal(400))

    def test_colours(self):
        """colours are for terminals, and for those who want them"""
        self.call("git_add", {"paths": ["../x"]})
        self.assertIn("\033[31mrefused\033[0m", self.terminal(100))
        self.assertNotIn("\033", self.terminal(100, env={"NO_COLOR": "1"}))
        self.assertNotIn("\033", self.terminal(100, env={"TERM": "dumb"}))
        self.assertNotIn("\033", self.log())

    def test_diff(self):
        """a diff has colours on a terminal: of a call, and of an execution"""
        self.commit("f.txt", "old\n", "one")
        words = ("run", "--", "sh", "-c", "printf -- '--- new\\n' >> f.txt")
        self.assertEqual(subprocess.run([harness.AIRLOCK, *words], cwd=self.root, env=self.env,
                                        stdin=subprocess.DEVNULL, check=False).returncode, 0)
        for shown in ((100, "git_diff", "--toolset", "everyday"), (100,)):
            command = "call" if shown[1:] else "diff"
            self.assertIn("\n\033[32m+--- new\033[0m\n", self.terminal(*shown, command=command))
            self.assertIn("\n\033[36m@@ ", self.terminal(*shown, command=command))
            for env in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
                self.assertIn("\n+--- new\n", self.terminal(*shown, command=command, env=env))

    def test_safe(self):
        """nothing in the data reaches the terminal as a control character"""
        name = "x\033[2J\007\u202e\n\r\u009b31m"
        self.call("git_add", {"paths": [name]})
        self.call("git_show", {"commit": name})
        with open(self.state_dir / "tool_log.jsonl", "a", encoding="utf-8") as file:
            file.write('{"tool":"\177\u009b","operation":"a\\u001b[1m","x":"\u202e"}\n')
        for text in (self.terminal(100, env={"NO_COLOR": "1"}), self.log(), self.log("--json")):
            self.assertEqual(re.sub("[^\0-\x1f\x7f-\x9f\u202e]", "", text).strip("\n"), "", text)


class Words(Audit):
    def setUp(self):
        super().setUp()
        for tool in ("git_status", "git_branch", "git_status", "git_log"):
            self.ok(tool)

    def seqs(self, *words):
        """The numbers of the lines shown."""
        return [record["seq"] for record in self.records(*words)]

    def test_last(self):
        """the last N, of the lines that match"""
        self.assertEqual(self.seqs(), [1, 2, 3, 4])
        for count, seqs in ((1, [4]), (3, [2, 3, 4]), (4, [1, 2, 3, 4]), (5, [1, 2, 3, 4])):
            self.assertEqual(self.seqs(str(count)), seqs)
        self.assertEqual(self.seqs("--tool", "git_status"), [1, 3])
        self.assertEqual(self.seqs("1", "--tool=git_status"), [3])
        self.assertEqual(self.seqs("--tool", "git_show"), [])

    def test_since(self):
        """from a time on, however it is written"""
        times = [record["time"] for record in self.records()]
        self.assertEqual(self.seqs("--since", times[2]),
                         [seq + 1 for seq, time in enumerate(times) if time >= times[2]])
        self.assertEqual(self.seqs("--since", "1h"), [1, 2, 3, 4])
        self.assertEqual(self.seqs("--since", "2000-01-01"), [1, 2, 3, 4])
        self.assertEqual(self.seqs("--since", "2999-01-01 10:00"), [])
        for bad in ("tomorrow", "", "2026-13-01", "5", "5x", "h"):
            self.assertEqual(self.command("log", "--since", bad).returncode, 2, bad)

    def test_tool_log(self):
        """--tool-log, --tool-log N and --tool-log=N are `log`"""
        for words, same in ((["--tool-log"], ["log"]), (["--tool-log", "2"], ["log", "2"]),
                            (["--tool-log=2"], ["log", "2"]),
                            (["--tool-log=2", "--json"], ["log", "2", "--json"])):
            self.assertEqual(self.command(*words).stdout, self.command(*same).stdout)
        for bad in ("0", "-1", "x", "1x", "", "1000000001", "99999999999999999999"):
            for words in (["log", bad], ["--tool-log", bad], [f"--tool-log={bad}"]):
                self.assertEqual(self.command(*words).returncode, 2, words)
        self.assertEqual(self.command("log", "1000000000").returncode, 0)


class Files(Audit):
    def test_read_on(self):
        """log, --since and --tool read all files as one"""
        self.ok("git_status")
        self.fill_files(2)
        lines = self.records()
        self.assertEqual([line["seq"] for line in lines], list(range(1, len(lines) + 1)))
        for count in (1, 2, len(lines) - 1, len(lines), len(lines) + 1):
            self.assertEqual(self.records(str(count)), lines[-count:])
        self.assertEqual(len(self.records("--tool", "git_status")), 1)
        self.assertEqual(len(self.records("1", "--tool", "git_status")), 1)
        third = lines[2]["time"]
        self.assertEqual(self.records("--since", third),
                         [line for line in lines if line["time"] >= third])
        self.assertEqual(self.verify()["lines"], len(lines))

    def test_size(self):
        """no file is larger than it may be"""
        for name in self.fill_files(2):
            self.assertLessEqual((self.state_dir / name).stat().st_size, SMALLEST_LOG)

    def test_tampering(self):
        """a changed, removed, moved or dropped line shows in every file, and so does a file"""
        names = self.fill_files(2) + ["tool_log.jsonl"]
        intact = self.verify()
        for name in names:
            path = self.state_dir / name
            text = path.read_bytes()
            lines = text.splitlines(keepends=True)
            changed = [lines[0].replace(b'"git_log"', b'"git_lag"', 1), *lines[1:]]
            moved = [*lines[1:], lines[0]]
            for bad in (changed, lines[1:], lines[:-1], moved if len(lines) > 1 else [], []):
                path.write_bytes(b"".join(bad))
                self.verify(1)
            path.unlink()
            self.verify(1)
            path.write_bytes(text)
            self.assertEqual(self.verify(), intact)

    def test_follow(self):
        """--follow goes on in the next file, and the one after it"""
        self.small_files()
        server = harness.Server(self)
        self.large_call(server)
        with subprocess.Popen([harness.AIRLOCK, "log", "--json", "--follow"], env=self.env,
                              cwd=self.root, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE) as follower:
            seen = [json.loads(follower.stdout.readline())["seq"]]
            while len(self.full()) < 3:
                self.large_call(server)
            server.close()
            while len(seen) < self.record()["seq"]:
                seen.append(json.loads(follower.stdout.readline())["seq"])
            follower.send_signal(signal.SIGINT)
            self.assertEqual(follower.wait(), 0)
        self.assertEqual(seen, list(range(1, len(seen) + 1)))

    def test_several(self):
        """servers that share a journal write one chain through all files"""
        self.small_files()
        servers = [harness.Server(self) for _ in range(3)]
        while len(self.full()) < 2:
            for server in servers:
                server.ask("git_log", {"grep": "x" * 3000})
            for server in servers:
                server.receive()
        for server in servers:
            server.close()
        self.assertEqual(self.verify()["lines"], len(self.records()))


if __name__ == "__main__":
    harness.main()
