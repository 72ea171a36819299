# SPDX-License-Identifier: Apache-2.0
"""Scratch repositories for attack tests, and what it takes to see whether an attack worked.

A case directory holds `repo` (the allowed root) and `outside` (where nothing may be read or
written).  A Scene builds both.  What is benign always happens; what is hostile (configuration,
hooks, links inside .git) happens only when the scene is armed, so that the same function builds
the hostile repository and the clean one whose answers git is asked for.
"""
import json
import os
import re
import shlex
import shutil
import stat
import subprocess
import sys
import types

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import linked
import scratch

MARK = "airlock-secret-7f3a"  # what a secret outside contains; seeing it in an answer is a leak
SHOUT = "CANARY-RAN"          # what a planted program says; never spelled out in a repository
# From git 2.54 on: the tests of hooks then run a second time.
HOOKS_ARE_CONFIGURED = os.environ.get("AIRLOCK_HOOKS") == "config"

LIMIT_S = 540                 # a process that takes longer hangs, and the test fails

# As in tests/e2e/harness.py.
KINDS = ("GIT_DEFAULT_HASH", "GIT_DEFAULT_REF_FORMAT")

GIT = shutil.which("git") or "/usr/bin/git"


GIT_VERSION = tuple(int(n) for n in re.findall(r"\d+", subprocess.run(
    [GIT, "--version"], stdout=subprocess.PIPE, text=True, check=False).stdout)[:2])


def git_interpreter():
    """The dynamic loader that git itself names in its ELF header."""
    with open(os.path.realpath(GIT), "rb") as f:
        found = re.search(rb"/lib[\w/.+-]*/ld[\w.+-]+\x00", f.read(65536))
    return found.group(0)[:-1].decode() if found else None


class Run(types.SimpleNamespace):
    """A finished process: rc, out, err (bytes)."""

    @property
    def all(self):
        return self.out + self.err


class Answer(types.SimpleNamespace):
    """What airlock answered: text, body (before [stderr]), notes (after it), kind, rc, result."""


def run(argv, env, stdin=b"", cwd=None):
    done = subprocess.run(argv, env=env, input=stdin, cwd=cwd, timeout=LIMIT_S, check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    return Run(rc=done.returncode, out=done.stdout, err=done.stderr)


def snapshot(top):
    """Every entry below `top` with its type and content; links are not followed."""
    seen = {}
    stack = [os.fsencode(top)]
    while stack:
        folder = stack.pop()
        for entry in os.scandir(folder):
            st = entry.stat(follow_symlinks=False)
            if stat.S_ISDIR(st.st_mode):
                stack.append(entry.path)
                what = b""
            elif stat.S_ISLNK(st.st_mode):
                what = os.readlink(entry.path)
            elif stat.S_ISREG(st.st_mode):
                with open(entry.path, "rb") as f:
                    what = f.read()
            else:
                what = b""
            seen[os.path.relpath(entry.path, os.fsencode(top))] = (stat.S_IFMT(st.st_mode), what)
    return seen


def changed(before, after):
    """Names that differ between two snapshots, for users."""
    names = {n for n in before.keys() | after.keys() if before.get(n) != after.get(n)}
    return sorted(os.fsdecode(n) for n in names)


def choose_toolsets(home):
    """The user's configuration: the toolsets of a test that names none."""
    config = os.path.join(home, ".config", "airlock", "config.toml")
    os.makedirs(os.path.dirname(config), exist_ok=True)
    with open(config, "w", encoding="ascii") as f:
        f.write('toolsets = ["git", "workflow"]\n')


class Lab:
    """One scratch directory: an isolated home, a template repository, one case at a time."""

    def __init__(self, binary):
        self.binary = binary
        self.top = scratch.directory("airlock-attack-")
        self.home = os.path.join(self.top, "home")
        self.case = os.path.join(self.top, "case")
        os.mkdir(self.home)
        with open(os.path.join(self.home, ".gitconfig"), "w", encoding="ascii") as f:
            f.write("[user]\n\tname = A U Thor\n\temail = author@example.com\n"
                    "[init]\n\tdefaultBranch = main\n")
        choose_toolsets(self.home)
        self.template = os.path.join(self.top, "template")
        self._make_template()

    def close(self):
        shutil.rmtree(self.top, ignore_errors=True)

    def env(self, **more):
        env = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": self.home, "LC_ALL": "C.UTF-8",
               "TZ": "UTC", "GIT_CONFIG_NOSYSTEM": "1",
               "GIT_AUTHOR_DATE": "2026-01-02T03:04:05Z",
               "GIT_COMMITTER_DATE": "2026-01-02T03:04:05Z"}
        env.update((k, v) for k, v in os.environ.items()
                   if k.endswith("SAN_OPTIONS") or k in KINDS)
        env.update(more)
        return env

    def git(self, where, *args, env=None, stdin=b""):
        """Plain git: no wrapper, no flag, no override."""
        return run([GIT, "-C", where, *args], env or self.env(), stdin)

    def git_on_terminal(self, where, *args, env):
        """The same with a terminal for output, without which git starts no pager."""
        ours, theirs = os.openpty()
        with open(ours, "rb", buffering=0) as screen:
            argv = [GIT, "-C", where, *args]
            with subprocess.Popen(argv, env=env, stdin=subprocess.DEVNULL, stdout=theirs,
                                  stderr=theirs) as git:
                os.close(theirs)
                seen = b""
                try:
                    while piece := screen.read(4096):
                        seen += piece
                except OSError:  # the other side is closed
                    pass
                return Run(rc=git.wait(LIMIT_S), out=seen, err=b"")

    def git_ok(self, where, *args, env=None, stdin=b""):
        done = self.git(where, *args, env=env, stdin=stdin)
        if done.rc:
            raise AssertionError(f"git {args}: {done.all.decode(errors='replace')}")
        return done.out

    def command(self, tool, args, root, *options, approval="allow"):
        return [self.binary, "call", "--root", root, "--approval", approval, *options,
                "--json", tool, json.dumps(args)]

    def airlock(self, tool, args, root, *options, approval="allow", env=None, cwd=None):
        words = self.command(tool, args, root, *options, approval=approval)
        done = run(words, env or self.env(), cwd=cwd)
        return answer_of(done)

    def _make_template(self):
        """Two commits; then a.txt changed, b.txt staged, c.txt untracked."""
        top = self.template
        run([GIT, "init", "-q", "-b", "main", "--template=", top], self.env())
        os.mkdir(os.path.join(top, ".git", "info"))
        os.mkdir(os.path.join(top, "d"))
        for message, files in (("first", {"a.txt": "one\n", "d/x.txt": "x\n"}),
                               ("second", {"a.txt": "one\ntwo\n"})):
            for name, text in files.items():
                write(os.path.join(top, name), text)
            self.git_ok(top, "add", "-A")
            self.git_ok(top, "commit", "-q", "-m", message)
        write(os.path.join(top, "b.txt"), "b\n")
        self.git_ok(top, "add", "b.txt")
        write(os.path.join(top, "a.txt"), "one\ntwo\nthree\n")
        write(os.path.join(top, "c.txt"), "c\n")
        for name in ("COMMIT_EDITMSG", "description"):
            remove(os.path.join(top, ".git", name))


def answer_of(done):
    """Read the result object; a crash, a sanitizer report or no JSON at all fails the test."""
    said = done.err.decode(errors="replace")
    if done.rc < 0 or "Sanitizer" in said or "runtime error:" in said:
        raise AssertionError(f"airlock died: rc {done.rc}: {said[-2000:]}")
    try:
        result = json.loads(done.out) if done.out.strip() else {}
    except ValueError as bad:
        raise AssertionError(f"not JSON: {bad}: {done.out[:400]!r}, stderr: {said[:400]}") from None
    text = "".join(c.get("text", "") for c in result.get("content", []))
    body, _, notes = text.partition("\n\n[stderr]\n")
    kind = result.get("_meta", {}).get("airlock/error", {}).get("kind")
    return Answer(rc=done.rc, result=result, text=text, body=body, notes=notes, kind=kind, err=said)


def write(path, data, mode=None):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as f:
        f.write(os.fsencode(data) if isinstance(data, str) else data)
    if mode is not None:
        os.chmod(path, mode)


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


class Scene:
    """A case directory under construction."""

    def __init__(self, lab, armed=True, name="repo"):
        self.lab = lab
        self.armed = armed
        self.top = lab.case
        remove(self.top)
        self.repo = os.path.join(self.top, name)
        self.outside = os.path.join(self.top, "outside")
        os.makedirs(self.outside)
        shutil.copytree(lab.template, self.repo, symlinks=True)
        self.hub = os.path.join(self.top, "hub")
        if linked.LINKED:
            linked.link(self.repo, self.hub)
        write(self.out("secret"), MARK + "\n")

    # Benign: always done.

    def path(self, name):
        if linked.LINKED:
            return linked.part(self.repo, self.hub, name)
        return os.path.join(self.repo, name)

    def out(self, name):
        return os.path.join(self.outside, name)

    def write(self, name, data, mode=None):
        write(self.path(name), data, mode)

    def write_outside(self, name, data):
        write(self.out(name), data)
        return self.out(name)

    def git(self, *args, stdin=b""):
        return self.lab.git_ok(self.repo, *args, stdin=stdin).decode().strip()

    def outside_repo(self, name="victim"):
        """A repository outside whose every name and content carries the mark."""
        where = self.out(name)
        run([GIT, "init", "-q", "-b", "main", "--template=", where], self.lab.env())
        write(os.path.join(where, "a.txt"), MARK + " content\n")
        self.lab.git_ok(where, "add", "-A")
        self.lab.git_ok(where, "commit", "-q", "-m", MARK + " message")
        return where

    # Hostile: done only when armed.

    def config(self, key, value):
        """Append `key` to .git/config in git's own quoting; a driver may be called anything."""
        if linked.LINKED and key.startswith("include") and value.startswith("../"):
            value = self.path(value[3:])  # it is relative to the file that names it
        section, _, rest = key.partition(".")
        middle, _, name = rest.rpartition(".")
        quoted = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        sub = middle.replace("\\", "\\\\").replace('"', '\\"')
        head = f'[{section} "{sub}"]' if middle else f"[{section}]"
        self.raw_config(f'{head}\n\t{name} = "{quoted}"\n')

    def instead(self, key, value):
        """What the clean repository says where the hostile one attacks: what git shall answer."""
        if not self.armed:
            self.armed = True
            self.config(key, value)
            self.armed = False

    def raw_config(self, text, name=".git/config"):
        if self.armed:
            with open(self.path(name), "ab") as f:
                f.write(os.fsencode(text) if isinstance(text, str) else text)

    def attributes(self, *lines):
        if self.armed:
            write(self.path(".git/info/attributes"), "".join(line + "\n" for line in lines))

    def plant(self, name, data, mode=None):
        if self.armed:
            remove(self.path(name))
            write(self.path(name), data, mode)

    def link(self, name, target):
        if self.armed:
            remove(self.path(name))
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            os.symlink(target, self.path(name))

    def fifo(self, name):
        if self.armed:
            remove(self.path(name))
            os.makedirs(os.path.dirname(self.path(name)), exist_ok=True)
            os.mkfifo(self.path(name))

    def canary(self, then="true"):
        """A shell command that leaves a trace wherever it is allowed to: outside, here, stderr."""
        shout = SHOUT.replace("-", "%s")
        touch = "; ".join(": >" + shlex.quote(name) for name in
                          (self.out("fired"), self.path("fired"), self.path(".git/fired")))
        return f"{touch}; printf '{shout}\\n' - >&2; {then}"

    def script(self, name=".git/canary", then="true", text=None):
        """The canary as an executable file inside the repository; returns its path."""
        self.plant(name, "#!/bin/sh\n" + (text or self.canary(then)) + "\n", 0o755)
        return self.path(name)

    def hook(self, name):
        """A hook: a file, or with AIRLOCK_HOOKS=config a program that the configuration names."""
        if HOOKS_ARE_CONFIGURED:
            self.config("hook.evil.command", self.canary())
            self.config("hook.evil.event", name)
            return self.script()
        return self.script(".git/hooks/" + name)


class Report:
    """TAP, for tests that are a list of findings; `count` of them."""

    def __init__(self, count):
        print(f"1..{count}")
        self.number = self.failed = 0

    def __call__(self, good, what, details=""):
        self.number += 1
        self.failed += not good
        print(f"{'ok' if good else 'not ok'} {self.number} - {what}", flush=True)
        for line in details.splitlines() if not good else ():
            print(f"# {line}")
