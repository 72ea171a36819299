#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""demo.py AIRLOCK [--story]: an agent in a scratch repository; --story: the first three acts alone.

Everything shown happens: the server is the real one, spoken to over MCP; the answers are printed as
they came, shortened where that is said.  Ends with 1 when something was not as it should be.
recording.py makes the picture of the README from --story, which is in colour and without times.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time

STORY = "--story" in sys.argv[2:]
WIDTH = 86 if STORY else 96
LABEL = 9
COLOUR = STORY or (sys.stdout.isatty() and "NO_COLOR" not in os.environ)


# What it looks like

def paint(text, code):
    return f"\033[{code}m{text}\033[0m" if COLOUR and code and text else text


def padded(text, width, code):
    """Painted, and as wide as `width` without the paint."""
    return paint(text, code) + " " * (width - len(text))


def bold(text):
    return paint(text, "1")


def dim(text):
    return paint(text, "2")


def chapter(number, title):
    print(f"\n{bold(f'{number}  {title}')}")


def say(who, text, colour="", lines=8, note=""):
    """One party's words: a label, then lines, shortened to what fits."""
    room = WIDTH - LABEL - 5
    rows = text.rstrip().split("\n")
    if len(rows) == 1:
        rows = textwrap.wrap(text, room, break_on_hyphens=False) or [""]
    more = len(rows) - lines
    if more > 1:
        rows = rows[:lines] + [dim(f"… {more} more lines")]
    for i, row in enumerate(rows):
        if len(row) > room and "\033" not in row:
            row = row[:room - 1] + "…"
        gap = room - len(row) - len(note)
        tail = " " * gap + dim(note) if note and i == 0 and gap > 1 and not STORY else ""
        print(f"   {padded(who if i == 0 else '', LABEL, colour)}  {row}{tail}")


def agent(text):
    say("agent", text, "36")


def airlock(text, note="", lines=8):
    say("airlock", text, "32", lines, note)


def you(text):
    say("you", text, "33")


def shell(done, line, colour="", lines=9):
    """A command of yours, and what it printed, the first lines of it."""
    print(f"   {padded('you', LABEL, '33')}  {dim('$')} {bold(line)}")
    rows = (done.stdout + done.stderr).rstrip("\n").split("\n")
    lines += len(rows) == lines + 1  # one more takes no more room than to say so
    for row in rows[:lines]:
        print(f"   {'':{LABEL}}  {paint(row, colour)}")
    if rows[lines:]:
        print(f"   {'':{LABEL}}  {dim(f'… {len(rows) - lines} more lines')}")


def aside(text):
    for line in textwrap.wrap(text, WIDTH - 4):
        print("   " + dim(line))


class Promise(Exception):
    """Something that was promised and is not so."""


def check(fact, promise):
    if not fact:
        raise Promise(promise)


# The stage

FIRST = """\
int skip_blanks(const char *text, int len)
{
    int i = 0;

    while (text[i] == ' ')
        i++;
    return i;
}

int count_words(const char *text, int len)
{
    int words = 0;

    for (int i = 0; i < len; i++)
        words += text[i] == ' ';
    return words;
}
"""

MORNING = (FIRST.replace("while (text[i] == ' ')", "while (i < len && is_blank(text[i]))")
           .replace("int words = 0;", "int words = 0, inside = 0;"))


class Stage:
    """A scratch folder with a home, a small project, and the repository that it is pushed to."""

    def __init__(self):
        self.top = tempfile.mkdtemp(prefix="airlock-demo-")
        self.home = os.path.join(self.top, "home")
        self.project = os.path.join(self.top, "parser")
        self.hubs = os.path.join(self.top, "hubs")
        self.alarms = os.path.join(self.top, "alarms")
        for folder in (self.home, self.project, self.hubs):
            os.mkdir(folder)
        with open(os.path.join(self.home, ".gitconfig"), "w", encoding="ascii") as file:
            file.write("[user]\n\tname = A U Thor\n\temail = author@example.com\n"
                       "[init]\n\tdefaultBranch = main\n[safe]\n\tdirectory = *\n")
        self.env = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": self.home,
                    "LC_ALL": "C.UTF-8", "XDG_STATE_HOME": os.path.join(self.top, "state"),
                    "XDG_CONFIG_HOME": os.path.join(self.top, "config"),
                    "GIT_CONFIG_NOSYSTEM": "1"}
        self._make_project()

    def run(self, *words, **options):
        options.setdefault("env", self.env)
        return subprocess.run(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, check=False,
                              errors="replace", **options)

    def git(self, where, *words):
        done = self.run("git", "-C", where, *words)
        if done.returncode != 0:
            raise Promise(f"git {' '.join(words)}: {done.stderr.strip()}")
        return done.stdout

    def write(self, name, text, mode="w"):
        with open(os.path.join(self.project, name), mode, encoding="ascii") as file:
            file.write(text)

    def _make_project(self):
        self.git(self.hubs, "init", "-q", "--bare", "parser.git")
        self.git(self.project, "init", "-q")
        for name, text, message in (("README.md", "A parser.\n", "Begin"),
                                    ("parser.c", FIRST, "Skip blanks, count words")):
            self.write(name, text)
            self.git(self.project, "add", name)
            self.git(self.project, "commit", "-q", "-m", message)
        self.git(self.project, "remote", "add", "origin", os.path.join(self.hubs, "parser.git"))
        self.git(self.project, "push", "-q", "-u", "origin", "main")

    def alarm(self, name):
        """A program that leaves its name when it runs."""
        path = os.path.join(self.top, "alarm-" + name.replace("/", "-"))
        with open(path, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\necho '{name}' >>'{self.alarms}'\n"
                       f"case $1 in ?*) cat \"$1\" 2>/dev/null ;; *) cat ;; esac\nexit 0\n")
        os.chmod(path, 0o755)
        return path

    def rang(self):
        """The alarms since the last look, each once."""
        if not os.path.exists(self.alarms):
            return []
        with open(self.alarms, encoding="ascii") as file:
            names = list(dict.fromkeys(file.read().split("\n")[:-1]))
        os.unlink(self.alarms)
        return names

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)


class Client:
    """An MCP client on the server's pipes."""

    def __init__(self, binary, stage, roots):
        self.binary, self.top = binary, stage.top
        words = [binary, "serve"] + [word for root in roots for word in ("--root", root)]
        self.log = open(os.path.join(stage.top, "server.log"), "w", encoding="utf-8")
        self.server = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                       stderr=self.log, env=stage.env, cwd=stage.project)
        self.last_id = 0
        self.answer = "once"
        self.ask_lines = 14
        self.was_asked = False

    def _send(self, message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.server.stdin.flush()

    def notify(self, method):
        self._send({"method": method})

    def request(self, method, params):
        """Send a request; what the server asks meanwhile is put to the user."""
        self.last_id += 1
        self._send({"id": self.last_id, "method": method, "params": params})
        while True:
            line = self.server.stdout.readline()
            check(line, "the server goes on")
            message = json.loads(line)
            if message.get("method") == "elicitation/create":
                self._ask(message)
            elif message.get("id") == self.last_id and "method" not in message:
                check("error" not in message, f"{method} works: {message.get('error')}")
                return message["result"]

    def _ask(self, message):
        text = "\n".join(row for row in message["params"]["message"].split("\n")
                         if row and not row.startswith('"always"'))
        say("asks", text.replace(f"{self.top}/", ""), "33;1", lines=self.ask_lines)
        you(self.answer)
        self.was_asked = True
        self._send({"id": message["id"],
                    "result": {"action": "accept", "content": {"decision": self.answer}}})

    def call(self, tool, lines=8, quiet=False, **arguments):
        """Call a tool and show both sides; gives the result and the milliseconds."""
        shown = ", ".join(f"{key}: {json.dumps(value)}" for key, value in arguments.items()
                          if key != "working_dir")
        if not quiet:
            agent(bold(tool) + (f"  {shown}" if shown else ""))
        self.was_asked = False
        start = time.monotonic()
        result = self.request("tools/call", {"name": tool, "arguments": arguments})
        took = (time.monotonic() - start) * 1000
        if not quiet:
            text = result["content"][0]["text"]
            kind = result.get("_meta", {}).get("airlock/error", {}).get("kind")
            text = text.replace(f"{self.top}/", "")
            text = re.sub(r"(?m)^airlock: hook not run.*", lambda row: paint(row[0], "32"), text)
            airlock((paint(kind, "31;1") + ": " if kind else "") + text, lines=lines,
                    note="" if self.was_asked else f"{took:.0f} ms")
        return result, took

    def close(self):
        self.server.stdin.close()
        self.server.wait(timeout=10)
        self.log.close()


# The acts

def kind_of(result):
    return result.get("_meta", {}).get("airlock/error", {}).get("kind")


def connect(client):
    """Greet the server; gives its greeting, its tools and the milliseconds."""
    start = time.monotonic()
    hello = client.request("initialize", {
        "protocolVersion": "2025-11-25", "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "demo", "version": "1"}})
    client.notify("notifications/initialized")
    tools = client.request("tools/list", {})["tools"]
    return hello, tools, (time.monotonic() - start) * 1000


def act_undo(client, stage):
    chapter(1, "An agent throws your work away. One command brings it back.")
    aside("You have edited parser.c all morning, and committed nothing.")
    stage.write("parser.c", MORNING)
    before = stage.git(stage.project, "diff")
    client.call("git_reset", to="HEAD", mode="hard")
    check(not stage.git(stage.project, "diff"), "the changes are discarded")
    aside("Your changes are gone, and git has no copy of them. airlock has:")
    shell(stage.run(client.binary, "rollback", "-y", cwd=stage.project), "airlock rollback -y",
          lines=2)
    check(before == stage.git(stage.project, "diff"), "the changes are back")
    shell(stage.run("git", "diff", "--shortstat", cwd=stage.project), "git diff --shortstat")


def act_push(client, stage):
    chapter(2, "What leaves the machine asks you first.")
    aside("The agent commits your change, unasked: you can undo that. You cannot undo a push.")
    client.call("git_commit", quiet=True, message="Take tabs for blanks", paths=["parser.c"])
    result, _ = client.call("git_push")
    check(not result.get("isError") and client.was_asked, "an approved push happens")


def act_hook(client, stage):
    chapter(3, "What a repository brings along does not run.")
    hook = os.path.join(stage.project, ".git", "hooks", "pre-commit")
    with open(hook, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\necho hook >>'{stage.alarms}'\n"
                   "echo 'planted program: I run as you, and could read ~/.ssh'\n")
    os.chmod(hook, 0o755)
    aside("Somebody has planted .git/hooks/pre-commit. Plain git, in a copy, runs it:")
    stage.write("README.md", "A parser, 1.0.\n")
    twin = os.path.join(stage.top, "twin-of-hook")
    shutil.copytree(stage.project, twin, symlinks=True)
    done = stage.run("git", "commit", "-qam", "Release", cwd=twin)
    shell(done, "git commit -am Release", "31")
    check(stage.rang() == ["hook"], "git runs the hook")
    client.call("git_commit", message="Release", all=True)
    check(not stage.rang(), "airlock does not run the hook")
    os.unlink(hook)


def act_tools(client, stage, greeting):
    chapter(4, "What an agent gets")
    hello, tools, took = greeting
    info = hello["serverInfo"]
    agent("initialize, tools/list")
    airlock(f"{info['name']} {info['version']}, MCP {hello['protocolVersion']}",
            note=f"{took:.1f} ms, {len(tools)} tools")
    listed = json.loads(stage.run(client.binary, "tools", "--json", cwd=stage.project).stdout)
    check({tool["name"] for tool in tools} == {tool["name"] for tool in listed},
          "the agent and the user see the same tools")
    for approval, title in (("none", "never ask   "), ("some", "ask at times")):
        names = " ".join(tool["name"][len("git_"):] for tool in listed if tool["approval"] == approval)
        for i, row in enumerate(textwrap.wrap(names, WIDTH - LABEL - 19)):
            print(f"   {'':{LABEL}}  {bold(title) if i == 0 else ' ' * len(title)}  {row}")


def act_work(client, stage):
    chapter(5, "It commits one of two changes, and takes its own last call back")
    stage.write("parser.c", MORNING.replace("return i;", "return i < len ? i : len;")
                .replace("    return words;", '    printf("%d words\\n", words);\n    return words;'))
    aside("The agent edits parser.c with a tool of its own: a fix, and a line to debug with.")
    result, _ = client.call("git_diff", hunks=True, lines=20)
    ids = re.findall(r"(?m)^@@ (\w{8})", result["content"][0]["text"])
    check(len(ids) == 2, "each change is a hunk with an id")
    result, _ = client.call("git_commit", message="Stay inside the text", hunks=ids[:1])
    check(not result.get("isError"), "one hunk is committed without a question")
    check("printf" in stage.git(stage.project, "diff"), "the other one is not")
    client.call("git_restore", paths=["parser.c"])
    check(not stage.git(stage.project, "diff"), "the change is discarded")
    client.call("git_undo")
    check("printf" in stage.git(stage.project, "diff"), "the change is back")


def act_reject(client):
    chapter(6, "What rewrites what others have asks, and no means no")
    client.call("git_push")
    client.answer = "reject"
    result, _ = client.call("git_commit", amend=True, message="Better words")
    check(kind_of(result) == "ApprovalDenied", "a rejected change does not happen")
    client.answer = "once"


def act_escape(client):
    chapter(8, "It tries to get out")
    for tool, arguments, kind in (
            ("git_diff", {"paths": ["../../../etc/passwd"]}, "SandboxViolation"),
            ("git_status", {"working_dir": "/etc"}, "SandboxViolation"),
            ("git_log", {"paths": ["/etc/shadow"]}, "SandboxViolation"),
            ("git_diff", {"from": "--output=/tmp/pwned"}, "BadArgs")):
        shown = ", ".join(f"{key}: {json.dumps(value)}" for key, value in arguments.items())
        agent(f"{bold(tool)}  {shown}")
        result, _ = client.call(tool, quiet=True, **arguments)
        check(kind_of(result) == kind, f"{tool} {shown} is refused as {kind}, not {kind_of(result)}")
        airlock(paint(kind, "31;1") + ": " + result["content"][0]["text"], lines=2)


def plant(stage):
    """What a hostile repository brings along."""
    git_dir = os.path.join(stage.project, ".git")
    stage.git(stage.project, "config", "core.fsmonitor", stage.alarm("core.fsmonitor"))
    stage.git(stage.project, "config", "diff.evil.textconv", stage.alarm("textconv"))
    stage.git(stage.project, "config", "filter.evil.clean", stage.alarm("filter") + " ''")
    with open(os.path.join(git_dir, "info", "attributes"), "w", encoding="ascii") as file:
        file.write("*.md diff=evil\n*.dat filter=evil\n")
    for hook in ("pre-commit", "post-commit"):
        shutil.copy(stage.alarm(hook), os.path.join(git_dir, "hooks", hook))
    for name in ("README.md", "model.dat"):
        stage.write(name, "one more line\n", "a")
    stage.git(stage.project, "-c", "core.fsmonitor=", "add", "README.md")
    stage.write("README.md", "and another\n", "a")


def act_attack(client, stage):
    chapter(9, "An attacker has changed .git/config")
    aside("Planted: core.fsmonitor, a textconv for *.md, a filter for *.dat, two hooks. Each is a "
          "program that leaves its name when it runs. First plain git on a copy, then airlock:")
    plant(stage)
    twin = os.path.join(stage.top, "twin")
    shutil.copytree(stage.project, twin, symlinks=True)
    stage.rang()
    client.answer = "once"
    rows = (
        ("status", ("status",), "git_status", {}),
        ("diff", ("diff",), "git_diff", {}),
        ("add", ("add", "model.dat"), "git_add", {"paths": ["model.dat"]}),
        ("commit", ("commit", "-q", "-m", "x"), "git_commit", {"message": "x"}),
    )
    print(f"\n   {'':8} {padded('plain git ran', 53, '1')} {bold('airlock ran')}")
    refused = None
    for title, words, tool, arguments in rows:
        if title == "commit":  # of another time than the index has: git has to look at it again
            for top in (twin, stage.project):
                os.utime(os.path.join(top, "model.dat"), (1, 1))
        stage.git(twin, *words)
        theirs = stage.rang()
        result = Silent(client).call(tool, arguments)
        ours = stage.rang()
        if kind_of(result):
            refused = result["content"][0]["text"]
        verdict = paint(", ".join(ours), "31") if ours else paint("nothing", "32")
        print(f"   {title:8} {padded(', '.join(theirs), 53, '31')} {verdict}"
              f"{dim('  refused') if kind_of(result) else ''}")
        check(theirs, f"git {title} falls for it")
        check(not ours, f"airlock's {title} does not fall for it")
    print()
    if refused:
        airlock(refused, lines=3)
    stage.git(stage.project, "config", "--unset", "core.fsmonitor")


class Silent:
    """Calls that are not shown; the user answers once."""

    def __init__(self, client):
        self.client = client

    def call(self, tool, arguments):
        ask, self.client._ask = self.client._ask, self._approve
        try:
            return self.client.call(tool, quiet=True, **arguments)[0]
        finally:
            self.client._ask = ask

    def _approve(self, message):
        self.client._send({"id": message["id"],
                           "result": {"action": "accept", "content": {"decision": "once"}}})


def act_journal(binary, stage):
    chapter(7, "You look at what happened")
    done = stage.run(binary, "log", "7", cwd=stage.top)
    print(f"   {dim('$ airlock log 7')}")
    rows = [re.split(r" {2,}", line[11:]) for line in done.stdout.rstrip("\n").split("\n")]
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        line = "  ".join(word.ljust(width) for word, width in zip(row, widths)).rstrip()
        print("   " + (line if len(line) <= WIDTH - 4 else line[:WIDTH - 5] + "…"))
    print(f"   {dim('$ airlock log --verify')}")
    done = stage.run(binary, "log", "--verify", cwd=stage.top)
    print("   " + (done.stdout or done.stderr).strip())
    check(done.returncode == 0, "an untouched journal verifies")
    copy = os.path.join(stage.top, "state-of-the-attacker")
    shutil.copytree(stage.env["XDG_STATE_HOME"], copy, ignore=shutil.ignore_patterns("*.sock"))
    with open(os.path.join(copy, "airlock", "tool_log.jsonl"), "r+", encoding="ascii") as file:
        text = file.read()
        file.seek(0)
        file.truncate()
        file.write(text.replace('"ApprovalDenied"', '"ok"', 1).replace("declined", "ok", 1))
    aside("An attacker changes one word in a copy: the amend that was declined is made to look "
          "allowed.")
    print(f"   {dim('$ airlock log --verify')}")
    done = stage.run(binary, "log", "--verify", cwd=stage.top,
                     env={**stage.env, "XDG_STATE_HOME": copy})
    print("   " + paint((done.stdout + done.stderr).strip(), "31"))
    check(done.returncode == 1, "a changed journal does not verify")


def main():
    if len(sys.argv) < 2 or sys.argv[2:] not in ([], ["--story"]):
        sys.exit(__doc__)
    binary = os.path.abspath(sys.argv[1])
    stage = Stage()
    try:
        version = stage.run(binary, "--version").stdout.strip().split("\n")
        if not STORY:
            print(bold(version[0]) + dim("  " + ", ".join(version[1:])))
        client = Client(binary, stage, [stage.project, stage.hubs])
        greeting = connect(client)
        act_undo(client, stage)
        act_push(client, stage)
        act_hook(client, stage)
        if STORY:
            client.close()
            return 0
        act_tools(client, stage, greeting)
        act_work(client, stage)
        act_reject(client)
        act_journal(binary, stage)
        act_escape(client)
        act_attack(client, stage)
        client.close()
        print(f"\n{paint('Everything above was real.', '32;1')} The scratch repository is gone; "
              "your repositories were not touched.")
    except Promise as broken:
        print(f"\n{paint('not so:', '31;1')} {broken}")
        return 1
    finally:
        stage.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
