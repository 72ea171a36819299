#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_restore, git_branch, git_checkout and git_stash: no link inside .git and no tree of a commit
has anything written outside."""
import os
import sys

from hostile import ANY, linked_out, log_all, objects_elsewhere
from lab import remove
from scenes import (CREATE, DELETE, DETACH, DROP, NEW, POP, PUSH, PUSH_ALL, RENAME, RESTORE,
                    SWITCH, UNSTAGE, attack)
from vectors import Verb, main, refused


# Links inside .git

def through(name, sentence, *verbs, content="x\n", before=None, **options):
    """.git/NAME leads outside."""
    attack(*verbs, **{"either": ANY, "dead_end": True, **options})(
        linked_out(name, sentence, content, before))


def kept(name):
    """What .git/NAME holds goes outside, so that the link works."""
    def before(s):
        if s.armed:
            remove(s.out("target"))
            os.rename(s.path(".git/" + name), s.out("target"))
    return before


through("logs/HEAD", "logs/HEAD as a link: no line is appended outside", SWITCH, NEW, DETACH,
        RENAME)
through("logs/refs/stash", "the stash's log as a link: no line is written outside", PUSH, PUSH_ALL)
through("logs/refs/stash", "the stash's log as a link: nothing is rewritten outside",
        quiet=(DROP, POP), before=kept("logs/refs/stash"))
through("logs/refs/heads", "the directory of logs as a link: no file is made outside", CREATE, NEW,
        content=None, before=log_all)
through("refs/heads", "refs/heads as a link: no branch is written outside", CREATE, NEW, RENAME,
        DELETE, before=kept("refs/heads"))
through("refs", "refs as a link: no stash is written outside", PUSH, DROP, before=kept("refs"))
through("config", "the configuration as a link: it is not rewritten outside", RENAME, DELETE,
        before=lambda s: (s.git("config", "branch.merged.x", "y"),
                          s.git("config", "branch.main.x", "y"), kept("config")(s)))
through("index", "the index as a link: the file outside keeps its content", RESTORE, UNSTAGE,
        SWITCH, PUSH, POP, before=kept("index"))
through("packed-refs", "packed-refs as a link: they are not rewritten outside", DELETE,
        before=lambda s: (s.git("pack-refs", "--all"), kept("packed-refs")(s)))
attack(PUSH, either=ANY, dead_end=True)(objects_elsewhere)


# Trees that want to be somewhere else

def literal_tree(s, *entries):
    """A commit whose tree git itself would not write: (mode, name, oid), oid None: a file."""
    raw = b""
    blob = s.git("hash-object", "-w", "--stdin", stdin=s.canary().encode())
    for mode, name, oid in entries:
        raw += f"{mode} {name}".encode() + b"\0" + bytes.fromhex(oid or blob)
    return s.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw)


def at_other(s, tree):
    s.git("update-ref", "refs/heads/other", s.git("commit-tree", "-m", "x", tree))


DOT_GIT = [".git", ".GIT", ".Git"]
for dot_git in DOT_GIT:
    def into_dot_git(s, name=dot_git):
        hooks = literal_tree(s, (100755, "post-checkout", None))
        at_other(s, literal_tree(s, (40000, name, literal_tree(s, (40000, "hooks", hooks)))))
    into_dot_git.__doc__ = f"a tree that holds {dot_git}/hooks/post-checkout"
    attack(quiet=(SWITCH, DETACH) if dot_git == ".git" else (SWITCH,),
           expect={SWITCH: refused("ExecutionFailed", words=("invalid path",))})(into_dot_git)


@attack(quiet=(SWITCH,), expect=refused("ExecutionFailed", words=("invalid path",)))
def climbing_tree(s):
    """a tree with an entry called .."""
    up = literal_tree(s, (100644, "planted", None))
    at_other(s, literal_tree(s, (40000, "..", up)))


def link_then_file(s):
    """main has the link d -> ../outside; other has the file d/x.txt."""
    s.git("checkout", "-q", "-b", "linked")
    s.git("rm", "-q", "-r", "d")
    os.symlink("../outside", s.path("d"))
    s.git("add", "d")
    s.git("commit", "-q", "-m", "a link")


@attack(quiet=(SWITCH,))
def tree_through_a_link(s):
    """a branch that has files where this one has a link that leads outside"""
    link_then_file(s)


@attack(quiet=(SWITCH,))
def tree_through_a_plain_link(s):
    """the same with core.symlinks off"""
    s.armed = True
    link_then_file(s)
    s.config("core.symlinks", "false")


@attack(quiet=(Verb("git_restore", {"paths": ["d/x.txt"]}, (), True),
               Verb("git_checkout", {"paths": ["d/x.txt"]}, (), True)),
        expect=refused("SandboxViolation"))
def path_through_a_link(s):
    """a file whose directory has become a link that leads outside"""
    remove(s.path("d"))
    os.symlink("../outside", s.path("d"))


@attack(quiet=(Verb("git_restore", {"paths": ["."]}, ("restore", "--", "."), True),))
def everything_with_a_link(s):
    """a directory that has become a link is put back, and nothing goes through it"""
    remove(s.path("d"))
    os.symlink("../outside", s.path("d"))


if __name__ == "__main__":
    sys.exit(main())
