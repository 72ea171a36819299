#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_show, git_blame, lists of branches and of the stash: reading runs and leaks nothing."""
import os
import sys

import hostile
from hostile import ANY, copy_program, id_ran, partial_clone
from lab import MARK, git_interpreter, remove
from scenes import (BLAME, BLAME_AT, BRANCHES, LIST, READERS, SHOW, SHOW_FILE, SHOW_STASH, attack)
from vectors import Verb, main, refused

LOST = refused("ExecutionFailed")


# Programs

@attack(SHOW, BLAME, BLAME_AT, quiet=(SHOW_FILE, SHOW_STASH))
def textconv(s):
    """diff.<driver>.textconv"""
    s.config("diff.evil.textconv", s.canary("cat"))
    s.attributes("*.txt diff=evil")


@attack(SHOW_FILE, control=("show", "--textconv", "HEAD:a.txt"))
def textconv_of_a_blob(s):
    """diff.<driver>.textconv on a file of a commit"""
    s.config("diff.evil.textconv", s.canary("cat"))
    s.attributes("*.txt diff=evil")


@attack(SHOW, BLAME, BLAME_AT)
def textconv_equals(s):
    """diff.<driver>.textconv of a driver called a=b, which -c cannot name"""
    s.config("diff.a=b.textconv", s.canary("cat"))
    s.attributes("*.txt diff=a=b")


@attack(SHOW, quiet=(BLAME, LIST, BRANCHES), control=("show", "--ext-diff"))
def external_diff(s):
    """diff.external and diff.<driver>.command"""
    s.config("diff.external", s.canary())
    s.config("diff.evil.command", s.canary())
    s.attributes("*.txt diff=evil")


@attack(SHOW_STASH, control=("stash", "show", "-p", "--ext-diff"))
def external_diff_of_a_stash(s):
    """diff.external by way of stash.showPatch"""
    s.config("diff.external", s.canary())
    s.config("stash.showPatch", "true")
    s.instead("stash.showPatch", "true")


@attack(SHOW_STASH, control=("stash", "show", "-p", "--textconv"))
def textconv_of_a_stash(s):
    """diff.<driver>.textconv by way of stash.showPatch"""
    s.config("diff.evil.textconv", s.canary("cat"))
    s.attributes("*.txt diff=evil")
    s.config("stash.showPatch", "true")
    s.instead("stash.showPatch", "true")


@attack(BLAME, quiet=(SHOW, BLAME_AT, BRANCHES, LIST, SHOW_STASH),
        control=("status",))
def fsmonitor(s):
    """core.fsmonitor"""
    s.config("core.fsmonitor", s.canary())


@attack(*READERS, control=("checkout", "-q", "-b", "any"))
def hooks(s):
    """hooks of every name"""
    for name in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
        s.hook(name)


@attack(SHOW, SHOW_FILE, BLAME, BLAME_AT, fired=id_ran,
        control=("blame", "0/x"), quiet=())
def loader_textconv(s):
    """diff.<driver>.textconv naming the dynamic loader"""
    copy_program(s, "id", "0/x")
    s.git("add", "0/x")
    s.git("commit", "-q", "-m", "an innocent file", "0/x")
    s.git("commit", "-q", "--allow-empty", "-m", "another")
    s.config("diff.evil.textconv", git_interpreter())
    s.attributes("* diff=evil")


@attack(Verb("git_blame", {"path": "a.txt", "commit": "HEAD"}, ("blame", "HEAD", "--", "a.txt")),
        control=("status",))
def clean_filter(s):
    """filter.<driver>.clean, which a blame of a commit does not need"""
    s.config("filter.evil.clean", s.canary("cat"))
    s.attributes("*.txt filter=evil")


@attack(BLAME, notes=("filter", "evil"))
def clean_filter_of_a_file(s):
    """filter.<driver>.clean on the file as it is"""
    s.config("filter.evil.clean", s.canary("cat"))
    s.write(".gitattributes", "d/x.txt filter=evil\n")
    os.utime(s.path("d/x.txt"), (1, 1))


attack(SHOW)(hostile.format_pretty)
attack(SHOW, quiet=(LIST, BRANCHES))(hostile.show_signature)
attack(Verb("git_show", {"format": "%G?"}, ("show", "--format=%G?")),
       Verb("git_show", {"format": "%GG%GK"}, ("show", "--format=%GG%GK")),
       fired=hostile.shouts,
       either=refused("ExecutionFailed", "BadArgs"))(hostile.format_argument)
attack(Verb("git_show", {"format": "evil"}, ("show", "--format=evil")),
       either=refused("ExecutionFailed", "BadArgs"))(hostile.format_argument_alias)
attack(SHOW, SHOW_FILE, BLAME_AT, expect=LOST)(hostile.lazy_fetch)
attack(SHOW, BLAME_AT, expect=LOST)(hostile.lazy_fetch_uploadpack)


@attack(SHOW_STASH, expect=LOST)
def lazy_fetch_of_a_stash(s):
    """core.sshCommand by way of a lazy fetch of what a stash holds"""
    oid = s.git("rev-parse", "stash@{0}:a.txt")
    partial_clone(s, "ssh://nowhere.invalid/x")
    if s.armed:
        remove(s.path(f".git/objects/{oid[:2]}/{oid[2:]}"))
    s.config("core.sshCommand", s.canary())


# Files outside

IGNORED = refused("SandboxViolation", words=("blame.ignoreRevsFile",))


@attack(BLAME, BLAME_AT, expect=IGNORED)
def ignore_revs(s):
    """blame.ignoreRevsFile outside, whose first line git would print"""
    s.config("blame.ignoreRevsFile", s.out("secret"))


@attack(BLAME, BLAME_AT, expect=IGNORED)
def ignore_revs_relative(s):
    """blame.ignoreRevsFile outside by a relative path, which counts from the top"""
    s.config("blame.ignoreRevsFile", "../outside/secret")


@attack(BLAME, expect=IGNORED)
def ignore_revs_link(s):
    """blame.ignoreRevsFile that is a link to a file outside"""
    s.link(".git/revs", s.out("secret"))
    s.config("blame.ignoreRevsFile", ".git/revs")


@attack(BLAME, expect=IGNORED)
def ignore_revs_twice(s):
    """blame.ignoreRevsFile outside, though a later empty value takes it back"""
    s.config("blame.ignoreRevsFile", s.out("secret"))
    s.config("blame.ignoreRevsFile", "")


@attack(BLAME, expect=IGNORED)
def ignore_revs_included(s):
    """blame.ignoreRevsFile outside, from an included file"""
    s.plant(".git/more", "[blame]\n\tignoreRevsFile = ../outside/secret\n")
    s.config("include.path", "more")


@attack(quiet=(SHOW, BRANCHES, LIST))
def ignore_revs_of_no_concern(s):
    """blame.ignoreRevsFile outside keeps nothing else from working"""
    s.config("blame.ignoreRevsFile", s.out("secret"))


@attack(quiet=(BLAME, BLAME_AT))
def ignore_revs_inside(s):
    """blame.ignoreRevsFile inside works as in git"""
    s.write(".revs", s.git("rev-parse", "HEAD~1") + "\n")
    s.armed = True
    s.config("blame.ignoreRevsFile", ".revs")


@attack(SHOW, BLAME_AT)
def mailmap(s):
    """mailmap.file outside, shown as an author"""
    s.config("mailmap.file", s.write_outside("map", f"{MARK} <author@example.com>\n"))
    s.config("log.mailmap", "true")


@attack(LIST, either=ANY, dead_end=True)
def log_of_the_stash(s):
    """the stash's log as a link to a file outside"""
    oid = s.git("rev-parse", "stash")
    zeros = "0" * 40
    s.write_outside("target", f"{zeros} {oid} A <a@b> 1 +0000\t{MARK}\n")
    s.link(".git/logs/refs/stash", s.out("target"))


@attack(BRANCHES, either=ANY)
def packed_refs(s):
    """packed-refs as a link to a file outside"""
    oid = s.git("rev-parse", "HEAD")
    s.write_outside("target", f"{oid} refs/heads/{MARK}\n")
    s.link(".git/packed-refs", s.out("target"))


@attack(BRANCHES, either=ANY)
def description_of_a_branch(s):
    """a directory of refs as a link to a directory outside"""
    s.write_outside(f"target/{MARK}", s.git("rev-parse", "HEAD") + "\n")
    s.link(".git/refs/remotes", s.out("target"))


@attack(quiet=(Verb("git_show", {"commit": "HEAD:link"}, ("show", "HEAD:link")), SHOW))
def link_shown(s):
    """a link in a commit that leads outside is a link, not what it leads to"""
    os.symlink("../outside/secret", s.path("link"))
    s.git("add", "link")
    s.git("commit", "-q", "-m", "a link", "link")


@attack(quiet=(Verb("git_blame", {"path": "link"}, ("blame", "link")),
               Verb("git_blame", {"path": "away/secret"}, ("blame", "away/secret"))),
        expect=refused("SandboxViolation"))
def link_blamed(s):
    """a path through a link that leads outside is refused"""
    os.symlink("../outside/secret", s.path("link"))
    os.symlink("../outside", s.path("away"))
    s.git("add", "link", "away")
    s.git("commit", "-q", "-m", "links", "link", "away")


# Answers that must mean what they say

@attack(SHOW, fired=lambda s, out: "escapes" if b"\x1b" in out else None)
def colours(s):
    """color.ui and log.date with terminal sequences"""
    s.config("color.ui", "always")
    s.config("log.date", "format:\x1b[31m%Y")


@attack(BRANCHES, fired=lambda s, out: "escapes" if b"\x1b" in out else None)
def colours_of_branches(s):
    """color.branch and column.ui"""
    s.config("color.branch", "always")
    s.config("column.ui", "always")


if __name__ == "__main__":
    sys.exit(main())
