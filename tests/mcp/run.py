#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Play MCP transcripts against a server:  run.py BINARY FILE...

Each file gets a server of its own (`BINARY serve`), started as clients start it: with six
environment variables, in a new git repository, below a home of its own.  The first character of a
line says what it is:

  % ARGUMENTS   before anything else: options for `serve`; the user's configuration chooses the
                toolsets git and workflow
  # WHY         begins a case; its name in the TAP output
  $ COMMAND     run by sh in the repository; must succeed
  = TEXT        the next line that the command printed; without any, it must print nothing
  > LINE        sent as it is written, LF added
  < JSON        the next message must match this
  ? JSON        the same, but a run of such lines matches in any order

Sent lines may hold generators:  ${repeat N TEXT}  gives TEXT N times,  ${hex 00ff}  gives bytes,
${pad N}  gives as many x as make the whole line N bytes long, and  ${kept NAME}  gives the text that
stood where an expected message has the string  "${keep NAME}".

A message matches when it has every member of the JSON that is expected, and may have more.  "..."
matches any value that is there, and inside a string any text; "!absent" matches what is not there.
Arrays match item by item; "..." as the last item stands for any number of others.

A case ends with a ping of the runner's own.  The next message must be the answer: the server is
alive, and it said nothing that was not expected.  At the end of a file the input is closed: the
server must exit with 0 and say nothing more.
"""

import json
import os
import re
import select
import shlex
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import scratch

GIVE_UP_S = 540  # long enough for the slowest machine; a case that gets here has failed
ALIVE = {"jsonrpc": "2.0", "id": "runner-ping", "method": "ping"}
GITCONFIG = "[user]\n\tname = A U Thor\n\temail = author@example.com\n[init]\n\tdefaultBranch = main\n"


class Failure(Exception):
    pass


kept = {}  # by name, until the end of the transcript


def text_matches(want, got):
    name = re.fullmatch(r"\$\{keep (\S+)\}", want)
    if name:
        kept[name[1]] = got
        return True
    pattern = ".*".join(re.escape(part) for part in want.split("..."))
    return re.fullmatch(pattern, got, re.S) is not None


def array_matches(want, got):
    if want and want[-1] == "...":
        want = want[:-1]
        got = got[:len(want)]
    return len(want) == len(got) and all(map(matches, want, got))


def object_matches(want, got):
    for name, value in want.items():
        if value == "!absent":
            if name in got:
                return False
        elif name not in got or not matches(value, got[name]):
            return False
    return True


def matches(want, got):
    """Whether a message, or a part of one, is as expected."""
    if want == "...":
        return True
    if type(want) is not type(got):
        return False
    if isinstance(want, dict):
        return object_matches(want, got)
    if isinstance(want, list):
        return array_matches(want, got)
    if isinstance(want, str):
        return text_matches(want, got)
    return want == got


def expand(line):
    """The bytes of a sent line."""
    out = b""
    pad = None
    for part in re.split(r"(\$\{[a-z]+ [^}]*\})", line):
        word = re.fullmatch(r"\$\{([a-z]+) (\S+) ?(.*)\}", part)
        if not word:
            out += part.encode()
        elif word[1] == "repeat":
            out += word[3].encode() * int(word[2])
        elif word[1] == "hex":
            out += bytes.fromhex(word[2])
        elif word[1] == "kept" and word[2] in kept:
            out += kept[word[2]].encode()
        elif word[1] == "pad":
            pad = (len(out), int(word[2]))
        else:
            raise Failure("unknown generator: " + part)
    if pad:
        out = out[:pad[0]] + b"x" * (pad[1] - len(out)) + out[pad[0]:]
    return out


def show(value):
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) < 2000 else text[:2000] + " ..."


class Server:
    """A running server and the place it works in."""

    def __init__(self, binary, options):
        self.base = scratch.directory("airlock-mcp-")
        self.repository = os.path.join(self.base, "repository")
        home = os.path.join(self.base, "home")
        os.mkdir(home)
        os.mkdir(self.repository)
        with open(os.path.join(home, ".gitconfig"), "w", encoding="utf-8") as config:
            config.write(GITCONFIG)
        os.makedirs(os.path.join(home, ".config", "airlock"))
        with open(os.path.join(home, ".config", "airlock", "config.toml"), "w",
                  encoding="utf-8") as config:
            config.write('toolsets = ["git", "workflow"]\n')
        self.environment = {
            "HOME": home,
            "LOGNAME": "author",
            "PATH": os.environ["PATH"],
            "SHELL": "/bin/sh",
            "TERM": "dumb",
            "USER": "author",
        }
        self.environment.update((name, value) for name, value in os.environ.items()
                                if name.endswith("SAN_OPTIONS"))
        self.run("git init -q")
        self.process = subprocess.Popen(
            [binary, "serve"] + options, cwd=self.repository, env=self.environment, bufsize=0,
            stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.pending = b""

    def run(self, command):
        environment = dict(self.environment, GIT_AUTHOR_DATE="2026-01-02T03:04:05Z",
                           GIT_COMMITTER_DATE="2026-01-02T03:04:05Z", TZ="UTC", LC_ALL="C.UTF-8")
        done = subprocess.run(["sh", "-c", command], cwd=self.repository, env=environment,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, check=False)
        if done.returncode:
            raise Failure("exit code %d: %s" % (done.returncode, command))
        return done.stdout.decode().splitlines()

    def send(self, data):
        try:
            self.process.stdin.write(data + b"\n")
        except BrokenPipeError as error:
            raise Failure("the server has gone") from error

    def fill(self):
        """Read more; False at the end."""
        if not select.select([self.process.stdout], [], [], GIVE_UP_S)[0]:
            raise Failure("no message came")
        data = os.read(self.process.stdout.fileno(), 1 << 20)
        self.pending += data
        return bool(data)

    def receive(self):
        while b"\n" not in self.pending:
            if not self.fill():
                raise Failure("the server has gone")
        line, self.pending = self.pending.split(b"\n", 1)
        try:
            return json.loads(line)
        except ValueError as error:
            raise Failure("not JSON: " + show(line.decode(errors="replace"))) from error

    def expect(self, want):
        got = self.receive()
        if not matches(want, got):
            raise Failure("expected %s\ngot %s" % (show(want), show(got)))

    def expect_any_order(self, wants):
        left = list(wants)
        while left:
            got = self.receive()
            found = [want for want in left if matches(want, got)]
            if not found:
                raise Failure("expected one of %s\ngot %s" % (show(left), show(got)))
            left.remove(found[0])

    def finish(self):
        self.process.stdin.close()
        while self.fill():
            pass
        if self.process.wait(GIVE_UP_S) != 0:
            raise Failure("exit code %d" % self.process.returncode)
        if self.pending:
            raise Failure("more than expected: " + show(self.pending.decode()))

    def destroy(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.base, ignore_errors=True)


def read_transcript(path):
    """The options, and a list of cases: (why, [(mark, text)])."""
    options, cases = [], []
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            mark, text = line[0], line[2:].rstrip("\n")
            if line == "\n":
                continue
            if number == 1 and line.startswith("# SPDX"):
                continue
            if mark == "%" and not cases:
                options = shlex.split(text)
            elif mark == "#" and cases and not cases[-1][1]:
                cases[-1] = (cases[-1][0] + " " + text, [])
            elif mark == "#":
                cases.append((text, []))
            elif mark in "$=><?" and cases and line[1] in " \n":
                cases[-1][1].append((mark, text))
            else:
                raise SystemExit("%s:%d: what is this line?" % (path, number))
    return options, cases


def take_run(steps, mark):
    """The texts of the steps at the front that begin with `mark`; they are removed."""
    texts = []
    while steps and steps[0][0] == mark:
        texts.append(steps.pop(0)[1])
    return texts


def play_case(server, steps):
    steps = list(steps)
    while steps:
        mark, text = steps.pop(0)
        if mark == "$":
            wanted, printed = take_run(steps, "="), server.run(text)
            if printed != wanted:
                raise Failure("%s\nprinted %s, not %s" % (text, printed, wanted))
        elif mark == ">":
            server.send(expand(text))
        elif mark == "<":
            server.expect(json.loads(text))
        elif mark == "?":
            wants = [text] + take_run(steps, "?")
            server.expect_any_order([json.loads(want) for want in wants])
        else:
            raise Failure("no command printed this: " + text)
    server.send(json.dumps(ALIVE).encode())
    server.expect({"id": ALIVE["id"], "result": {}})


class Tap:
    def __init__(self):
        self.count = 0
        self.failed = 0

    def report(self, name, play):
        """Run one test; False when it failed."""
        begin = time.monotonic()
        self.count += 1
        try:
            play()
        except Failure as failure:
            self.failed += 1
            print("not ok %d - %s" % (self.count, name))
            for line in str(failure).splitlines():
                print("# " + line)
        else:
            print("ok %d - %s # %d ms" % (self.count, name, (time.monotonic() - begin) * 1000))
        sys.stdout.flush()


def play(tap, binary, path):
    options, cases = read_transcript(path)
    kept.clear()
    server = Server(binary, options)
    name = os.path.splitext(os.path.basename(path))[0]
    try:
        for why, steps in cases:
            tap.report("%s: %s" % (name, why), lambda steps=steps: play_case(server, steps))
        tap.report("%s: the end of input ends it" % name, server.finish)
    finally:
        server.destroy()


def main(arguments):
    if len(arguments) < 2:
        sys.exit(__doc__)
    tap = Tap()
    binary = os.path.realpath(arguments[0])
    for path in arguments[1:]:
        play(tap, binary, path)
    print("1..%d" % tap.count)
    return 1 if tap.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
