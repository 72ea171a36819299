# SPDX-License-Identifier: Apache-2.0
"""Builders of what makes a repository hostile for more than one test, and how to tell it worked.

A builder takes the scene; one whose docstring is a sentence can be registered as it is, with
vectors.vector() or scenes.attack(), for whichever verbs it concerns.
"""
import os
import shutil

from lab import GIT_VERSION, MARK, SHOUT, git_interpreter, remove
from vectors import Skip, refused


# Programs

def copy_program(s, name, target):
    """A program of this machine as a file of the tree, for the loader to run."""
    path = shutil.which(name, path="/usr/bin:/bin")
    if not path or not git_interpreter():
        raise Skip(f"no {name} or no loader to borrow")
    with open(path, "rb") as f:
        s.write(target, f.read(), 0o644)


def id_ran(_scene, output):
    """The borrowed program is id: its answer or its complaint shows that the loader ran it."""
    for word in (b"uid=", b"extra operand", b"no such user", b"Try '0/x"):
        if word in output:
            return f"id ran: {word.decode()}"
    return None


def hook_pre_auto_gc(s):
    """the hook pre-auto-gc by way of gc.auto"""
    s.config("gc.auto", "1")
    s.config("maintenance.strategy", "gc")
    s.config("gc.autoDetach", "false")
    s.hook("pre-auto-gc")
    for n in range(10):
        s.plant(f".git/objects/17/{n:038x}", "")


# References

def keep_references_in(s, where, form):
    """The references of a repository in files or reftables, without their logs, which git 2.47 cannot turn."""
    if s.git("-C", where, "rev-parse", "--show-ref-format") != form:
        remove(os.path.join(where, ".git/logs"))
        s.git("-C", where, "refs", "migrate", "--ref-format=" + form)


def references_outside(s, form="files"):
    """An address of a repository outside whose branch is called like the secret (git 2.54)."""
    if GIT_VERSION < (2, 54):
        raise Skip("this git knows no address of references")
    victim = s.outside_repo()
    s.lab.git_ok(victim, "symbolic-ref", "HEAD", "refs/heads/" + MARK)
    keep_references_in(s, victim, form)
    return f"{form}://{s.out('victim/.git')}"


def reftables(s):
    """The references of the repository, and of one outside whose branch is called like the secret, are in
    reftables; gives the two directories and the table of each."""
    if GIT_VERSION < (2, 46):
        raise Skip("this git does not turn references into reftables")
    victim = s.outside_repo()
    s.lab.git_ok(victim, "symbolic-ref", "HEAD", "refs/heads/" + MARK)
    found = []
    for where in (s.repo, victim):
        keep_references_in(s, where, "reftable")
        s.git("-C", where, "pack-refs", "--all")
        tables = os.path.join(where, ".git/reftable")
        with open(os.path.join(tables, "tables.list"), encoding="ascii") as f:
            found += [tables, f.read().split()[0]]
    return found


# Signatures, which a program verifies

def signed_head(s):
    """Give HEAD a signature header, so that there is something to verify."""
    raw = s.git("cat-file", "commit", "HEAD")
    head, _, message = raw.partition("\n\n")
    text = (f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n iQ==\n"
            f" -----END PGP SIGNATURE-----\n\n{message}\n")
    oid = s.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=text.encode())
    s.git("update-ref", "refs/heads/main", oid)


def show_signature(s):
    """gpg.program by way of log.showSignature"""
    signed_head(s)
    s.config("log.showSignature", "true")
    s.config("gpg.openpgp.program", s.script())


def format_pretty(s):
    """gpg.program by way of format.pretty"""
    signed_head(s)
    s.config("format.pretty", "%H %G? %s")
    s.config("gpg.program", s.script())


def format_argument(s):
    """gpg.program by way of a format argument"""
    signed_head(s)
    s.config("gpg.program", s.script())
    s.instead("gpg.program", "/bin/false")


def format_argument_alias(s):
    """gpg.program by way of a pretty.<name> that the format argument names"""
    signed_head(s)
    s.config("pretty.evil", "%H %G?")
    s.config("gpg.program", s.script())
    s.instead("pretty.evil", "medium")


def shouts(s, out):
    """Why the attack worked where the program's words are the answer."""
    return "ran" if os.path.exists(s.path("fired")) or SHOUT.encode() in out else None


# Lazy fetch in a partial clone

def partial_clone(s, url):
    """A partial clone of `url` that lacks HEAD's a.txt."""
    s.config("core.repositoryFormatVersion", "1")
    s.config("extensions.partialClone", "origin")
    s.config("remote.origin.promisor", "true")
    s.config("remote.origin.url", url)
    if s.armed:
        oid = s.git("rev-parse", "HEAD:a.txt")
        remove(s.path(f".git/objects/{oid[:2]}/{oid[2:]}"))


def lazy_fetch(s):
    """core.sshCommand by way of a lazy fetch"""
    partial_clone(s, "ssh://nowhere.invalid/x")
    s.config("core.sshCommand", s.canary())


def lazy_fetch_uploadpack(s):
    """remote.<name>.uploadpack by way of a lazy fetch"""
    partial_clone(s, s.repo)
    s.config("remote.origin.uploadpack", s.canary())


# A submodule brings a configuration of its own, which the overrides do not reach.

def quoted(command):
    """A value in a configuration file."""
    return '"' + command.replace("\\", "\\\\").replace('"', '\\"') + '"'


def submodule(s, arm):
    """A populated submodule sm with a changed file; arm(config) writes its hostile part."""
    sub = s.path("sm")
    s.git("init", "-q", "-b", "main", "--template=", sub)
    s.write("sm/f.txt", "f\n")
    s.git("-C", sub, "add", "f.txt")
    s.git("-C", sub, "commit", "-q", "-m", "sub")
    s.git("update-index", "--add", "--cacheinfo", "160000," + s.git("-C", sub, "rev-parse", "HEAD")
          + ",sm")
    s.write(".gitmodules", '[submodule "sm"]\n\tpath = sm\n\turl = ./sm\n')
    s.git("add", ".gitmodules")
    s.git("commit", "-q", "-m", "with a submodule")
    s.write("b.txt", "b again\n")
    s.git("add", "b.txt")
    s.write("sm/f.txt", "g\n")
    arm(lambda text: s.raw_config(text, "sm/.git/config"))


def sub_fsmonitor(s):
    """A submodule with core.fsmonitor."""
    submodule(s, lambda add: add(f"[core]\n\tfsmonitor = {quoted(s.canary())}\n"))
    s.config("submodule.sm.ignore", "none")


def sub_filter(s):
    """A submodule with a filter on every file."""
    submodule(s, lambda add: add(f'[filter "x"]\n\tclean = {quoted(s.canary("cat"))}\n'))
    s.plant("sm/.git/info/attributes", "* filter=x\n")
    s.config("submodule.sm.ignore", "none")
    s.config("diff.ignoreSubmodules", "none")


# Links inside .git that are written through

ANY = refused("SandboxViolation", "ExecutionFailed")


def linked_out(name, sentence, content="x\n", prepare=None):
    """A builder, with this docstring: .git/NAME is a link to an outside file or (content None) an
    outside directory."""
    def build(s):
        if content is None:
            os.mkdir(s.out("target"))
        else:
            s.write_outside("target", content)
        if prepare:
            prepare(s)
        s.link(".git/" + name, s.out("target"))
    build.__doc__ = sentence
    return build


def log_all(s):
    """Every reference has a log."""
    s.config("core.logAllRefUpdates", "always")


def objects_elsewhere(s):
    """.git/objects as a link: no object is written outside"""
    if s.armed:
        os.rename(s.path(".git/objects"), s.out("target"))
    s.link(".git/objects", s.out("target"))


# What is left of a call

def survivors(top):
    """Processes whose working directory is still below `top`."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if (os.readlink(f"/proc/{pid}/cwd") + "/").startswith(top + "/"):
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    found.append(f.read())
        except OSError:
            continue
    return found
