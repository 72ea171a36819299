# SPDX-License-Identifier: Apache-2.0
"""The common part of the end-to-end tests: a scratch repository, the built program, and TAP.

A test file is run as `test_x.py AIRLOCK`.  Its cases are methods of `Case`; the first line of a
method's docstring is the line that is reported.
"""
import contextlib
import json
import os
import pathlib
import select
import shutil
import signal
import subprocess
import sys
import unittest

import linked
import scratch

AIRLOCK = os.path.abspath(sys.argv[1]) if len(sys.argv) > 1 else "airlock"

MARKER = "\n\n... [output truncated]"

# Under the thread sanitizer everything takes many times as long, and a program has a thread more.
TSAN = os.path.exists(AIRLOCK) and b"__tsan_init" in pathlib.Path(AIRLOCK).read_bytes()
SANITIZER_THREADS = 1 if TSAN else 0

# The address sanitizer reserves more memory than a confined child may have, so airlock cannot be
# started below git as the program that answers for credentials.
ASAN = os.path.exists(AIRLOCK) and b"__asan_init" in pathlib.Path(AIRLOCK).read_bytes()

# What a test waits for comes within this, however busy the machine is; only what hangs takes longer.
# It is less than the longest time that a call may be given (ten minutes).
WATCHDOG_SECONDS = 540

# The same for a whole case.
CASE_SECONDS = 600

# Of long rows of moments only every so many-th is tried; `make soak` tries each.
EVERY_STEP = bool(os.environ.get("AIRLOCK_EVERY_STEP"))

# How a text goes on that says which arguments had no effect.
IGNORED = "\n\n[stderr]\nairlock: ignored: "

# The toolsets of a test that names none; tests of the default itself set `Case.toolsets` to none.
TOOLSETS = ("git", "workflow")

# What kind of repository git makes in the tests: those of tools/matrix.py run once for each kind.
KINDS = ("GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT")

CLOCK = 1700000000  # the first commit; each one after it is a minute later


class Result:
    """What one call gave: `airlock call --json`, or the result of `tools/call`."""

    def __init__(self, value, code=None, stderr=""):
        self.value, self.code, self.stderr = value, code, stderr
        self.text = value["content"][0]["text"]
        self.notes = "".join(part["text"] for part in value["content"][1:])
        self.failed = value.get("isError", False)
        self.meta = value["_meta"]["airlock/result"]
        self.error = value["_meta"].get("airlock/error", {})
        self.kind = self.error.get("kind")

    def __repr__(self):
        return f"Result({json.dumps(self.value)}, exit {self.code}, stderr {self.stderr!r})"


class Case(unittest.TestCase):
    """A test with a directory of its own: `home` for the user, `root` for the agent."""

    maxDiff = None
    toolsets = TOOLSETS

    def setUp(self):
        signal.alarm(CASE_SECONDS)
        self.addCleanup(signal.alarm, 0)
        self.base = pathlib.Path(scratch.directory("airlock-e2e-"))
        self.addCleanup(shutil.rmtree, self.base, ignore_errors=True)
        self.home = self.base / "home"
        self.root = self.base / "root"
        self.home.mkdir()
        self.root.mkdir()
        self.commits = 0
        self.env = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "XDG_CONFIG_HOME": str(self.home / ".config"),
            "XDG_STATE_HOME": str(self.home / ".local/state"),
            "XDG_RUNTIME_DIR": str(self.home),
            "LANG": "C.UTF-8",
        }
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS", *KINDS):
            if name in os.environ:
                self.env[name] = os.environ[name]
        (self.home / ".gitconfig").write_text(
            "[user]\n\tname = A U Thor\n\temail = author@example.com\n"
            "[init]\n\tdefaultBranch = main\n", encoding="utf-8")
        if self.toolsets:
            config = self.home / ".config/airlock/config.toml"
            config.parent.mkdir(parents=True)
            config.write_text(f"toolsets = {json.dumps(self.toolsets)}\n", encoding="utf-8")

    # A repository, made by git itself.

    def git(self, *args, cwd=None, stdin=None, check=True, **variables):
        """Run git as a user would; gives the finished process, output in bytes."""
        now = f"{CLOCK + 60 * self.commits} +0000"
        env = self.env | {"GIT_CONFIG_NOSYSTEM": "1", "GIT_AUTHOR_DATE": now,
                          "GIT_COMMITTER_DATE": now} | variables
        done = subprocess.run(["git", *args], cwd=cwd or self.root, env=env, input=stdin,
                              stdin=None if stdin is not None else subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=WATCHDOG_SECONDS)
        if check and done.returncode != 0:
            raise AssertionError(f"git {args}: {done.stderr.decode()}")
        return done

    def out(self, *args, **options):
        """What git prints, as text."""
        return self.git(*args, **options).stdout.decode()

    def write(self, name, content, where=None):
        """Write a file of the repository; text or bytes."""
        path = (where or self.root) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def head_file(self, name="HEAD", where=None):
        """What the file of HEAD or the like says, also where references are in no files; "" without one."""
        if os.environ.get("GIT_DEFAULT_REF_FORMAT") != "reftable":
            path = pathlib.Path(self.out("rev-parse", "--absolute-git-dir", cwd=where).strip()) / name
            return path.read_text(encoding="utf-8") if path.exists() else ""
        named = self.git("symbolic-ref", "-q", name, cwd=where, check=False).stdout.decode()
        return f"ref: {named}" if named else self.git("rev-parse", "-q", "--verify", name, cwd=where,
                                                      check=False).stdout.decode()

    def commit(self, name, content, message, where=None, **variables):
        """Commit one file; gives the commit's id."""
        self.write(name, content, where)
        self.git("add", "--", name, cwd=where)
        self.git("commit", "-q", "-m", message, cwd=where, **variables)
        self.commits += 1
        return self.out("rev-parse", "HEAD", cwd=where).strip()

    def init(self, where=None):
        """`git init` and one commit of a.txt."""
        if where:
            where.mkdir(parents=True, exist_ok=True)
        self.git("init", "-q", cwd=where)
        commit = self.commit("a.txt", "one\n", "first", where)
        if linked.LINKED and not where:
            linked.link(self.root, self.hub())
        return commit

    def hub(self):
        """Where the git directory of `root` is, if `root` is a linked worktree."""
        return self.base / f"hub-{self.root.name}"

    def part(self, name):
        """A path of the repository at `root`, such as .git/config."""
        if linked.LINKED:
            return pathlib.Path(linked.part(self.root, self.hub(), name))
        return self.root / name

    # The program.

    def launch(self, argv):
        """How a command line of airlock is started; for tests that need it somewhere else."""
        return argv

    def named_toolsets(self, options):
        """What makes these options choose the test's toolsets, if neither they nor the
        configuration chooses any."""
        words = dict(zip(options, options[1:]))
        if any(word.partition("=")[0] in ("--toolset", "--worker") for word in options):
            return []
        config = pathlib.Path(words.get("--config", os.path.join(
            self.env["XDG_CONFIG_HOME"], "airlock/config.toml")))
        text = config.read_text(encoding="utf-8", errors="replace") if config.is_file() else ""
        if "toolsets = " in text or "worker = " in text:
            return []
        return [word for name in self.toolsets for word in ("--toolset", name)]

    def call(self, tool, arguments=None, *options, approval="allow", root=None, env=None, cwd=None):
        """`airlock call --json`; nobody can be asked, since there is no terminal."""
        command = [AIRLOCK, "call", "--json", "--root", str(root or self.root), "--approval",
                   approval, *options, *self.named_toolsets(options), tool,
                   json.dumps(arguments or {})]
        done = subprocess.run(self.launch(command), cwd=cwd or self.root,
                              env=self.env | (env or {}),
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=WATCHDOG_SECONDS, start_new_session=True)
        try:
            value = json.loads(done.stdout)
        except ValueError as exc:
            raise AssertionError(f"no result object: exit {done.returncode}, stdout "
                                 f"{done.stdout!r}, stderr {done.stderr!r}") from exc
        return Result(value, done.returncode, done.stderr.decode())

    def ok(self, tool, arguments=None, *options, **named):
        """A call that must work."""
        result = self.call(tool, arguments, *options, **named)
        self.assertFalse(result.failed, result)
        self.assertEqual(result.code, 0, result)
        return result

    def refused(self, kind, message, tool, arguments=None, *options, **named):
        """A call that must fail in this way, saying exactly this."""
        result = self.call(tool, arguments, *options, **named)
        self.assertTrue(result.failed, result)
        self.assertEqual((result.kind, result.error["message"]), (kind, message), result)
        self.assertEqual(result.code, 3 if kind.startswith("Approval") else 1, result)
        return result

    def state(self):
        """What a call that was not allowed must leave alone."""
        return [self.out(*words) for words in (
            ("status", "--porcelain=1", "-b"), ("diff",), ("diff", "--cached"),
            ("for-each-ref",), ("stash", "list", "--format=%H %gs"))]

    def assert_asks(self, summary, tool, arguments):
        """The call needs an approval, says for what, and does nothing without it."""
        before = self.state()
        result = self.call(tool, arguments, approval="ask")
        self.assertTrue(result.failed, result)
        self.assertEqual((result.kind, result.code), ("ApprovalRequired", 3), result)
        self.assertTrue(result.text.startswith(summary + "\n"), result.text)
        result = self.call(tool, arguments, approval="deny")
        self.assertEqual((result.kind, result.code), ("ApprovalDenied", 3), result)
        self.assertEqual(self.state(), before)

    def record(self):
        """What the journal says of the last call."""
        log = self.home / ".local/state/airlock/tool_log.jsonl"
        return json.loads(log.read_text(encoding="utf-8").splitlines()[-1])

    def block(self, commit, where=None):
        """Put a pipe in the place of a commit's object: a git that needs it waits in open(2)."""
        path = (where or self.root) / ".git/objects" / commit[:2] / commit[2:]
        path.unlink()
        os.mkfifo(path)
        return path

    def block_log(self):
        """Put a pipe in the place of .mailmap: `git log` reads it before anything else, and goes on
        reading as long as a process could write."""
        path = self.root / ".mailmap"
        os.mkfifo(path)
        return path

    def hold(self, pipe):
        """Wait until git reads the pipe, then keep it waiting; gives our end."""
        writer = os.open(pipe, os.O_WRONLY)
        self.addCleanup(os.close, writer)
        return writer

    def wait_for_its_end(self, writer):
        """Wait until the last reader of a pipe is gone."""
        watch = select.poll()
        watch.register(writer, 0)
        self.assertTrue(watch.poll(WATCHDOG_SECONDS * 1000))

    def assert_nobody_reads(self, pipe):
        """No process has the pipe open, or waits for it."""
        with self.assertRaises(OSError):
            os.close(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK))

    def processes_in(self, directory):
        """The ids of the processes that work somewhere below a directory."""
        found = []
        for entry in pathlib.Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):
                if pathlib.Path(os.readlink(entry / "cwd")).is_relative_to(directory):
                    found.append(int(entry.name))
        return found


class Server:
    """`airlock serve` and a client of the legacy protocol that sends what it is told."""

    def __init__(self, case, *options, env=None, **popen):
        command = [AIRLOCK, "serve", "--root", str(case.root), "--approval", "allow", *options,
                   *case.named_toolsets(options)]
        self.process = subprocess.Popen(case.launch(command), cwd=case.root,
                                        env=case.env | (env or {}),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, start_new_session=True, **popen)
        case.addCleanup(self.close)
        self.case, self.pending, self.asked = case, b"", 1000
        self.send(id=0, method="initialize", params={
            "protocolVersion": "2025-06-18", "capabilities": {},
            "clientInfo": {"name": "e2e", "version": "1"}})
        self.receive()
        self.send(method="notifications/initialized")

    def send(self, **message):
        """One message."""
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self):
        """The next message; None at the end."""
        while b"\n" not in self.pending:
            if not select.select([self.process.stdout], [], [], WATCHDOG_SECONDS)[0]:
                raise AssertionError("the server says nothing")
            more = os.read(self.process.stdout.fileno(), 65536)
            if not more:
                return None
            self.pending += more
        line, self.pending = self.pending.split(b"\n", 1)
        return json.loads(line)

    def ask(self, tool, arguments=None):
        """Send a call; gives its id."""
        self.asked += 1
        self.send(id=self.asked, method="tools/call",
                  params={"name": tool, "arguments": arguments or {}})
        return self.asked

    def call(self, tool, arguments=None):
        """One call and its result, which is the next message."""
        number, answer = self.ask(tool, arguments), self.receive()
        self.case.assertEqual(answer["id"], number, answer)
        return Result(answer["result"])

    def refused(self, kind, message, tool, arguments=None):
        """A call that must fail in this way, saying exactly this."""
        result = self.call(tool, arguments)
        self.case.assertEqual((result.kind, result.error.get("message")), (kind, message), result)
        return result

    def ok(self, tool, arguments=None):
        """A call that must work."""
        result = self.call(tool, arguments)
        self.case.assertFalse(result.failed, result)
        return result

    def assert_lives(self, **arguments):
        """It answers, and git runs."""
        self.send(id="ping", method="ping")
        self.case.assertEqual(self.receive(), {"jsonrpc": "2.0", "id": "ping", "result": {}})
        return self.ok("git_status", arguments)

    def close(self):
        """End of input, and of the server."""
        self.process.stdin.close()
        self.process.wait(timeout=WATCHDOG_SECONDS)
        self.process.stdout.close()


class AskingServer(Server):
    """The same with a user behind the client, whom the server asks."""

    def __init__(self, case, *options, **named):
        super().__init__(case, "--approval", "ask", *options, **named)
        self.send(id="again", method="initialize", params={
            "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
            "clientInfo": {"name": "e2e", "version": "1"}})
        self.receive()

    def decided(self, decision, tool, arguments):
        """One call that is asked about: what the user is shown, and the result."""
        number = self.ask(tool, arguments)
        question = self.receive()
        self.case.assertEqual(question.get("method"), "elicitation/create", question)
        self.send(id=question["id"],
                  result={"action": "accept", "content": {"decision": decision}})
        answer = self.receive()
        self.case.assertEqual(answer["id"], number, answer)
        return question["params"]["message"], Result(answer["result"])


class TapResult(unittest.TestResult):
    """Prints a line for each case as it ends."""

    subtest_of = None  # the case with the subtest that failed last

    def report(self, good, test, note="", details=""):
        """One TAP line, and what went wrong as comments."""
        title = test.shortDescription() or test.id()
        print(f"{'ok' if good else 'not ok'} {self.testsRun} - {title}{note}")
        for line in details.splitlines():
            print(f"# {line}")
        sys.stdout.flush()

    def addSuccess(self, test):
        super().addSuccess(test)
        self.report(True, test)

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.report(False, test, details=self.failures[-1][1])

    def addError(self, test, err):
        super().addError(test, err)
        self.report(False, test, details=self.errors[-1][1])

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.report(True, test, f" # SKIP {reason}")

    def addSubTest(self, test, subtest, err):
        """A part of a case that failed: the case has one line, and each of its parts comments."""
        before = len(self.failures) + len(self.errors)
        super().addSubTest(test, subtest, err)
        if len(self.failures) + len(self.errors) == before:
            return
        failed = self.failures if self.failures and self.failures[-1][0] is subtest else self.errors
        details = f"{subtest}\n{failed[-1][1]}"
        if self.subtest_of is not test:
            self.report(False, test, details=details)
        else:
            print("".join(f"# {line}\n" for line in details.splitlines()), end="", flush=True)
        self.subtest_of = test


def main(module="__main__"):
    """Run every case of a test file."""
    suite = unittest.defaultTestLoader.loadTestsFromName(module)
    if len(sys.argv) > 2:
        suite = unittest.defaultTestLoader.loadTestsFromNames(sys.argv[2:],
                                                              sys.modules[module])
    print(f"1..{suite.countTestCases()}")
    result = TapResult()
    suite.run(result)
    sys.exit(0 if result.wasSuccessful() else 1)
