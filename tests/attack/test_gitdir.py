#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links inside .git write nothing outside, and pipes inside a repository hang nothing."""
import errno
import os
import select
import subprocess
import sys

from hostile import ANY, linked_out, log_all, objects_elsewhere, references_outside, reftables, survivors
from lab import GIT, LIMIT_S, MARK, Run, Scene, answer_of, changed, snapshot
from vectors import (ADD, ADD_ALL, COMMIT, DIFF, LOG, STATUS, STATUS_LONG, TESTS, check, main, refused,
                     vector)


# Links that are written through

def through(name, sentence, *verbs, content="x\n", prepare=None, **options):
    """.git/NAME leads outside."""
    vector(*verbs, **{"either": ANY, **options})(linked_out(name, sentence, content, prepare))


def keep_refs(s):
    """The branch's value, so that the linked directory works."""
    oid = s.git("rev-parse", "HEAD")
    s.write_outside("target/main", oid + "\n")
    s.write_outside("target/heads/main", oid + "\n")


through("logs/HEAD", "logs/HEAD as a link: no line is appended outside", COMMIT)
through("logs/refs/heads/main", "a branch's log as a link: no line is appended outside", COMMIT)
through("logs/refs/heads", "the directory of logs as a link: no file is made outside", COMMIT,
        content=None, prepare=log_all)
through("COMMIT_EDITMSG", "COMMIT_EDITMSG as a link: the file outside keeps its content", COMMIT)
through("objects/info", "objects/info as a link to a directory outside", LOG, content=None,
        control=("repack", "-q", "-a", "-d"), prepare=None)
through("refs/heads", "refs/heads as a link: no branch is written outside", COMMIT, content=None,
        prepare=lambda s: keep_refs(s) if s.armed else None)
through("rr-cache", "rr-cache as a link: no conflict is recorded outside", COMMIT, content=None,
        prepare=lambda s: rerere(s))


def rerere(s):
    os.mkdir(s.out("target/" + "1" * 40))
    s.config("rerere.enabled", "true")
    s.plant(".git/MERGE_RR", "1" * 40 + "\tc.txt\0")
    s.write("c.txt", "<<<<<<< ours\nA\n=======\nB\n>>>>>>> theirs\n")


@vector(STATUS, expect=refused("SandboxViolation"))
def references_elsewhere(s):
    """extensions.refStorage with an address outside"""
    place = references_outside(s)
    s.config("core.repositoryFormatVersion", "1")
    s.config("extensions.refStorage", place)


@vector(STATUS, expect=refused("SandboxViolation"))
def reftables_elsewhere(s):
    """extensions.refStorage with the address of reftables outside"""
    place = references_outside(s, "reftable")
    s.config("core.repositoryFormatVersion", "1")
    s.config("extensions.refStorage", place)


@vector(STATUS, COMMIT, dead_end=True)
def tables_link(s):
    """the directory of reftables as a link that leads outside"""
    _, _, theirs, _ = reftables(s)
    s.link(".git/reftable", theirs)


@vector(STATUS, dead_end=True)
def table_link(s):
    """a reftable as a link to one outside"""
    _, table, theirs, other = reftables(s)
    s.link(".git/reftable/" + table, os.path.join(theirs, other))


@vector(STATUS, dead_end=True)
def table_named_outside(s):
    """a list of reftables that names one outside"""
    ours, _, theirs, other = reftables(s)
    s.plant(".git/reftable/tables.list", os.path.join(os.path.relpath(theirs, ours), other) + "\n")


@vector(ADD, ADD_ALL, either=ANY)
def objects_fan_out(s):
    """the directory of the next object as a link: no object is written outside"""
    oid = s.git("hash-object", "c.txt")
    os.mkdir(s.out("target"))
    s.link(".git/objects/" + oid[:2], s.out("target"))


vector(ADD, ADD_ALL, either=ANY)(objects_elsewhere)


@vector(ADD_ALL, COMMIT, STATUS, either=ANY)
def index_link(s):
    """the index as a link: the file outside keeps its content"""
    if s.armed:
        os.rename(s.path(".git/index"), s.out("target"))
    s.link(".git/index", s.out("target"))


@vector(COMMIT, either=ANY)
def branch_name_climbs(s):
    """HEAD naming a ref whose directory is a link that leads outside"""
    os.mkdir(s.out("target"))
    s.link(".git/refs/heads/x", s.out("target"))
    s.plant(".git/HEAD", "ref: refs/heads/x/y\n")


# The index belongs to the user: reading tools leave it alone, even a stale one.

def index_rewritten(scene, _output):
    with open(scene.path(".git/index"), "rb") as f:
        now = f.read()
    return "the index was rewritten" if now != scene.index else None


@vector(STATUS, STATUS_LONG, DIFF, fired=index_rewritten)
def stale_index(s):
    """a stale index is not rewritten"""
    os.utime(s.path("d/x.txt"), (1_700_000_000, 1_700_000_000))
    with open(s.path(".git/index"), "rb") as f:
        s.index = f.read()


# Pipes: plain git waits for ever on them.

def opened(path, process):
    """Open the pipe for writing as soon as a process reads it; -1 if none does."""
    while True:
        try:
            return os.open(path, os.O_WRONLY | os.O_NONBLOCK)
        except OSError as why:
            if why.errno not in (errno.ENXIO, errno.ENOENT):
                return -1
        if process.poll() is not None:
            return -1
        select.select([], [], [], 0.002)


def reads_pipe(lab, scene, words, pipe):
    """Whether plain git opens the pipe (and would wait for a writer that never comes)."""
    with subprocess.Popen([GIT, "-C", scene.repo, *words], env=lab.env(),
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL) as git:
        writer = opened(scene.path(pipe), git)
        git.kill()
        if writer >= 0:
            os.close(writer)
    return writer >= 0


def pipe(name, verb, sentence, prepare=None):
    """repo/NAME is a pipe: airlock answers within the call's deadline and leaves nothing behind."""
    def build(lab):
        s = Scene(lab)
        if prepare:
            prepare(s)
        s.fifo(name)
        return s

    def test(lab, controls_only):
        assert reads_pipe(lab, build(lab), verb.git, name), "the control did not read the pipe"
        if controls_only:
            return
        s = build(lab)
        before = snapshot(s.outside)
        answer = lab.airlock(verb.tool, {**verb.args, "timeout_ms": 300}, s.repo)
        known = (None, "Timeout", "ExecutionFailed", "SandboxViolation")
        assert answer.kind in known and answer.result, f"{answer.kind}: {answer.text}"
        assert not survivors(s.top), survivors(s.top)
        assert not changed(before, snapshot(s.outside))
    TESTS.append((f"{verb.tool}: {sentence}", test))


pipe(".git/config", STATUS, "a pipe as .git/config")
pipe(".git/HEAD", LOG, "a pipe as .git/HEAD")
pipe(".git/index", DIFF, "a pipe as .git/index")
pipe(".git/commondir", STATUS, "a pipe as .git/commondir")
pipe(".git/packed-refs", LOG, "a pipe as .git/packed-refs")
pipe(".git/info/exclude", STATUS, "a pipe as .git/info/exclude")
pipe(".git/info/attributes", ADD, "a pipe as .git/info/attributes")
pipe(".git/objects/info/alternates", LOG, "a pipe as objects/info/alternates")
pipe(".git/shallow", LOG, "a pipe as .git/shallow")
pipe(".gitignore", STATUS, "a pipe as .gitignore")
pipe(".gitattributes", DIFF, "a pipe as .gitattributes")
pipe("more", LOG, "a pipe behind include.path", lambda s: s.config("include.path", "../more"))
pipe(".git/reftable/tables.list", LOG, "a pipe as the list of reftables", reftables)
pipe(".git/config.worktree", STATUS, "a pipe as config.worktree",
     lambda s: s.config("extensions.worktreeConfig", "true"))
pipe("orders", DIFF, "a pipe behind diff.orderFile", lambda s: s.config("diff.orderFile", "orders"))
pipe("names", STATUS, "a pipe behind core.excludesFile",
     lambda s: s.config("core.excludesFile", "names"))
pipe("map", LOG, "a pipe behind mailmap.file", lambda s: s.config("mailmap.file", "map"))


# What a git child really is: seen from /proc while it waits on a pipe.

SECRETS = {"AWS_SECRET_ACCESS_KEY": MARK, "GITHUB_TOKEN": MARK, "OPENAI_API_KEY": MARK,
           "DB_PASSWORD": MARK, "SOME_VARIABLE": MARK, "GIT_SSH_COMMAND": MARK, "EDITOR": MARK,
           "SSH_AUTH_SOCK": "/tmp/" + MARK}


def children(pid):
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as f:
            yield from map(int, f.read().split())


def reader_of(server, pipe_path):
    """The child of `server` that reads the pipe whose writing end we hold."""
    while server.poll() is None:
        for pid in children(server.pid):
            try:
                links = [os.readlink(f"/proc/{pid}/fd/{n}") for n in os.listdir(f"/proc/{pid}/fd")]
            except OSError:
                continue
            if pipe_path in links:
                return pid
        select.select([], [], [], 0.002)
    raise AssertionError("no child reads the pipe")


def proc(pid, name):
    with open(f"/proc/{pid}/{name}", "rb") as f:
        return f.read()


@check
def child_as_seen_from_outside(lab, controls_only):
    """a git child has no secret, no other descriptor, its own session and its seccomp filter"""
    s = Scene(lab)
    s.config("core.fsmonitor", f"env > '{s.out('env')}'; true")
    lab.git(s.repo, "status", env=lab.env(**SECRETS))
    with open(s.out("env"), encoding="utf-8") as f:
        assert MARK in f.read(), "the control does not show the environment"
    if controls_only:
        return
    s = Scene(lab)
    s.fifo(".mailmap")
    reader, inherited = os.pipe()
    os.set_inheritable(inherited, True)
    with subprocess.Popen(lab.command("git_log", {}, s.repo), env=lab.env(**SECRETS),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, pass_fds=(inherited,)) as server:
        writer = opened(s.path(".mailmap"), server)
        child = reader_of(server, s.path(".mailmap"))
        environ = proc(child, "environ").decode()
        status = dict(line.split(":\t", 1) for line in proc(child, "status").decode().splitlines()
                      if ":\t" in line)
        session = os.getsid(child)
        fds = {n: os.readlink(f"/proc/{child}/fd/{n}") for n in os.listdir(f"/proc/{child}/fd")}
        os.close(writer)
        out, err = server.communicate(timeout=LIMIT_S)
    os.close(reader)
    os.close(inherited)
    answer = answer_of(Run(rc=server.returncode, out=out, err=err))
    assert answer.kind is None and answer.rc == 0, answer
    assert MARK not in environ, environ.replace("\0", "\n")
    names = {e.partition("=")[0] for e in environ.split("\0") if e}
    assert "HOME" in names and not names & SECRETS.keys(), names
    assert f"HOME={lab.home}\0" not in environ, "the child sees the user's home"
    assert status["NoNewPrivs"] == "1", status["NoNewPrivs"]
    assert status["Seccomp"] == "2", "no seccomp filter"
    assert session == child, f"session {session} is not the child's own"
    extra = {n: t for n, t in fds.items() if int(n) > 2 and not t.startswith(s.repo)}
    assert not extra, f"inherited descriptors: {extra}"


if __name__ == "__main__":
    sys.exit(main())
