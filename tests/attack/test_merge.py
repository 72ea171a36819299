#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merging, resolving, going on with a rebase and describing: nothing the repository names runs, and
nothing outside is read or written.  Plain git does it first: its canary must fire."""
import os

from lab import SHOUT, Scene, changed, snapshot, write
from vectors import TESTS, general_canary, main

MERGE = ("git_merge", {"branch": "side"}, ("merge", "--no-edit", "side"))
MERGE_ASKING = MERGE[:2] + (("merge", "side"),)
ABORT = ("git_merge", {"branch": "", "abort": True}, ("merge", "--abort"))
GO_ON = ("git_commit", {"all": True}, ("rebase", "--continue"))
INFO = ("git_conflict_info", {}, ("diff",))
OURS = ("git_resolve_conflict", {"path": "f.txt", "strategy": "ours"},
        ("checkout", "--ours", "--", "f.txt"))
CONTENT = ("git_resolve_conflict", {"path": "f.txt", "strategy": "content", "content": "both\n"},
           ("add", "f.txt"))
PR = ("git_generate_pr", {"target": "side"}, ("log", "-p", "side..HEAD"))


def part(s):
    """main and side change the same file and one each, nothing is left uncommitted."""
    s.git("reset", "-q", "--hard")
    s.git("clean", "-q", "-f")
    s.write("f.txt", "base\n")
    s.git("add", "-A")
    s.git("commit", "-q", "-m", "base")
    for branch, line in (("side", "theirs"), ("main", "ours")):
        if branch == "side":
            s.git("checkout", "-q", "-b", branch)
        else:
            s.git("checkout", "-q", branch)
        s.write("f.txt", line + "\n")
        s.write(f"{branch}.txt", line + "\n")
        s.git("add", "-A")
        s.git("commit", "-q", "-m", line)


def agree(s):
    """The same without a conflict."""
    part(s)
    s.git("checkout", "-q", "main")
    s.write("f.txt", "base\n")
    s.git("commit", "-q", "-a", "-m", "as it was")


def conflict(s):
    """A merge that stopped."""
    part(s)
    s.lab.git(s.repo, "merge", "-q", "side")


def stopped(s):
    """A rebase that stopped, and is resolved."""
    part(s)
    s.lab.git(s.repo, "rebase", "-q", "side")
    s.write("f.txt", "both\n")
    s.git("add", "f.txt")


def fired(s, before, output):
    """Why the attack worked, or None: the mark may also be in a message."""
    return general_canary(s, before, output + s.lab.git(s.repo, "log", "-2", "--format=%B").out)


def attack(start, *verbs, works=True, words=None):
    """Register a builder: plain git must fire for each verb and airlock must not.

    works   the call succeeds all the same: what the repository asked for has no effect
    words   what a refusal has to say; None: it need not be refused
    """
    def register(build):
        for tool, args, plain in verbs:
            def test(lab, controls_only, tool=tool, args=args, plain=plain):
                s = Scene(lab)
                start(s)
                build(s)
                before = snapshot(s.outside)
                done = lab.git(s.repo, *plain, env=lab.env(EDITOR=":"))
                assert fired(s, before, done.all), f"plain git did not: {done.all.decode()}"
                if controls_only:
                    return
                s = Scene(lab)
                start(s)
                build(s)
                before = snapshot(s.outside)
                answer = lab.airlock(tool, args, s.repo, "--toolset", "workflow")
                why = fired(s, before, answer.text.encode())
                assert not why, f"{why}: {answer.text}"
                assert not works or answer.kind is None, answer.text
                assert not words or (answer.kind and words in answer.text), answer.text
            TESTS.append((f"{tool}: {build.__doc__}", test))
        return build
    return register


@attack(part, MERGE, works=False, words="merge driver 'evil'")
def merge_driver(s):
    """merge.<driver>.driver"""
    s.config("merge.evil.driver", s.canary())
    s.attributes("f.txt merge=evil")


@attack(part, MERGE, works=False, words="merge driver 'evil'")
def merge_driver_in_tree(s):
    """merge.<driver>.driver, by an attribute that lies about in the tree"""
    s.config("merge.evil.driver", s.canary())
    s.write(".gitattributes", "* merge=evil\n")


@attack(part, MERGE)
def merge_default(s):
    """merge.default, a driver for every file"""
    s.config("merge.evil.driver", s.canary())
    s.config("merge.default", "evil")


@attack(part, MERGE, works=False, words="filter 'evil'")
def filter_smudge(s):
    """filter.<driver>.smudge of a file that comes in"""
    s.config("filter.evil.smudge", s.canary("cat"))
    s.attributes("side.txt filter=evil")


@attack(agree, MERGE)
def fsmonitor(s):
    """core.fsmonitor"""
    s.config("core.fsmonitor", s.script(then="exit 1"))


@attack(agree, MERGE)
def sign(s):
    """commit.gpgSign with gpg.program"""
    s.config("commit.gpgSign", "true")
    s.config("gpg.program", s.script(then="exit 1"))


@attack(agree, MERGE)
def merge_options_file(s):
    """branch.<name>.mergeOptions, which puts any file into the message"""
    s.config("branch.main.mergeOptions", f"--no-ff -F {s.out('secret')}")


@attack(agree, MERGE_ASKING)
def merge_options_editor(s):
    """branch.<name>.mergeOptions with core.editor"""
    s.config("branch.main.mergeOptions", "--edit")
    s.config("core.editor", s.script())


def register_hooks():
    for name in ("pre-merge-commit", "prepare-commit-msg", "commit-msg", "post-merge",
                 "reference-transaction", "post-index-change"):
        def build(s, name=name):
            s.hook(name)
        build.__doc__ = f"the hook {name}"
        attack(agree, MERGE)(build)
    for name in ("prepare-commit-msg", "post-commit", "post-rewrite", "reference-transaction"):
        def build(s, name=name):
            s.hook(name)
        build.__doc__ = f"the hook {name}, going on with a rebase"
        attack(stopped, GO_ON)(build)


register_hooks()


@attack(conflict, ABORT)
def abort_index_hook(s):
    """the hook post-index-change when a merge is given up"""
    s.hook("post-index-change")


@attack(stopped, GO_ON, works=False, words="'exec' among what is left to do")
def todo_exec(s):
    """exec among what a rebase has left to do"""
    s.plant(".git/rebase-merge/git-rebase-todo", f"exec {s.canary()}\n")


@attack(stopped, GO_ON)
def editor(s):
    """core.editor, going on with a rebase"""
    s.config("core.editor", s.script())


@attack(conflict, INFO)
def fsmonitor_of_conflict(s):
    """core.fsmonitor, looking at a conflict"""
    s.config("core.fsmonitor", s.script(then="exit 1"))


@attack(conflict, OURS, works=False, words="filter 'evil'")
def smudge_side(s):
    """filter.<driver>.smudge of a side that is kept"""
    s.config("filter.evil.smudge", s.canary("cat"))
    s.attributes("f.txt filter=evil")


@attack(conflict, CONTENT, works=False, words="filter 'evil'")
def clean_content(s):
    """filter.<driver>.clean of new content"""
    s.config("filter.evil.clean", s.canary("cat"))
    s.attributes("f.txt filter=evil")


@attack(agree, PR)
def text_conversion(s):
    """diff.<driver>.textconv, describing a pull request"""
    s.config("diff.evil.textconv", s.script(then="cat \"$1\""))
    s.attributes("* diff=evil")


@attack(agree, PR)
def log_format(s):
    """format.pretty, describing a pull request"""
    s.config("format.pretty", "format:" + SHOUT)


def linked_parent(lab, controls_only):
    """git_resolve_conflict: a directory that became a link is not followed"""
    for controlled in (True, False):
        s = Scene(lab)
        part(s)
        s.git("checkout", "-q", "side")
        s.write("dir/g.txt", "theirs\n")
        s.git("add", "-A")
        s.git("commit", "-q", "-m", "theirs")
        s.git("checkout", "-q", "main")
        s.write("dir/g.txt", "ours\n")
        s.git("add", "-A")
        s.git("commit", "-q", "-m", "ours")
        lab.git(s.repo, "merge", "-q", "side")
        os.unlink(s.path("dir/g.txt"))
        os.rmdir(s.path("dir"))
        os.symlink(s.outside, s.path("dir"))
        before = snapshot(s.outside)
        if controlled:
            write(s.path("dir/g.txt"), "what a naive tool does\n")
            assert changed(before, snapshot(s.outside)), "the link leads nowhere"
        elif not controls_only:
            for strategy in ({"strategy": "ours"}, {"strategy": "content", "content": "x\n"}):
                answer = lab.airlock("git_resolve_conflict", {"path": "dir/g.txt", **strategy},
                                     s.repo, "--toolset", "workflow")
                assert answer.kind, answer.text
            assert not changed(before, snapshot(s.outside)), "written outside"


TESTS.append((linked_parent.__doc__, linked_parent))

if __name__ == "__main__":
    main()
