#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing outside the roots is read into an answer, a commit or the object store."""
import os
import sys

from lab import MARK
from vectors import (ADD_ALL, COMMIT, DIFF, FIVE, LOG, OUTSIDE, STATUS, STATUS_LONG,
                     Verb, main, refused, staged, vector)

ANY = refused("SandboxViolation", "ExecutionFailed")
EDITED = ("-c", "core.editor=cat", "commit", "-v")


# Files that the configuration names

@vector(STATUS, DIFF, ADD_ALL, quiet=(LOG, COMMIT))
def attributes_file(s):
    """core.attributesFile outside, quoted in a warning"""
    s.write_outside("secret", f"*.txt -{MARK}=\n*.txt !bad!{MARK}\n")
    s.config("core.attributesFile", s.out("secret"))


def hides_c(_scene, output):
    return "c.txt is hidden" if b"c.txt" not in output else None


@vector(STATUS, STATUS_LONG, fired=hides_c)
def excludes_file(s):
    """core.excludesFile outside, whose patterns hide files"""
    s.config("core.excludesFile", s.write_outside("names", "c.txt\n"))


@vector(LOG, Verb("git_log", {"format": "%aN"}, ("log", "--format=%aN")))
def mailmap_file(s):
    """mailmap.file outside, shown as an author"""
    s.config("mailmap.file", s.write_outside("map", f"{MARK} <author@example.com>\n"))


@vector(COMMIT, control=EDITED)
def commit_template(s):
    """commit.template outside"""
    s.config("commit.template", s.out("secret"))


def order_changed(_scene, output):
    d, a = output.find(b"b/d/x.txt"), output.find(b"b/a.txt")
    return "the files come in another order" if 0 <= d < a else None


@vector(DIFF, fired=order_changed)
def order_file(s):
    """diff.orderFile outside, seen in the order of the files"""
    s.write("d/x.txt", "changed\n")
    s.config("diff.orderFile", s.write_outside("order", "d/*\n"))


@vector(LOG, COMMIT, either=ANY)
def include_outside(s):
    """include.path outside, whose values show up in answers"""
    ini = s.write_outside("ini", f"[user]\n\tname = {MARK}\n[format]\n\tpretty = {MARK}\n")
    s.config("include.path", ini)


@vector(LOG, COMMIT, either=ANY)
def include_if_outside(s):
    """includeIf.gitdir with a relative path that climbs out"""
    s.write_outside("ini", f"[user]\n\tname = {MARK}\n[format]\n\tpretty = {MARK}\n")
    s.config("includeIf.gitdir:/**.path", "../../outside/ini")


@vector(LOG, COMMIT, either=ANY)
def include_through_link(s):
    """include.path to a link in the worktree that leads outside"""
    s.write_outside("ini", f"[user]\n\tname = {MARK}\n[format]\n\tpretty = {MARK}\n")
    s.write(".gitignore", "more\n")
    s.link("more", s.out("ini"))
    s.config("include.path", "../more")


@vector(quiet=(COMMIT, STATUS))
def include_inside(s):
    """include.path inside the root keeps working"""
    s.armed = True
    s.config("include.path", "../team.ini")
    s.write("team.ini", "[user]\n\tname = Their Own\n")


# Where the repository is

@vector(STATUS, DIFF, ADD_ALL, expect=refused("ExecutionFailed"),
        fired=lambda s, out: "the secret is in the answer"
        if MARK.encode() in out else objects_leak(s))
def core_worktree(s):
    """core.worktree outside: neither the files there nor those here are taken for the repository's"""
    s.write_outside(MARK, "x\n")
    s.write_outside("a.txt", f"{MARK}\n")
    s.config("core.worktree", s.outside)


def objects_leak(s):
    """Whether an entry of the index is a file that only exists outside."""
    return "an outside file is staged" if MARK.encode() in staged(s) else None


@vector(*FIVE, expect=OUTSIDE)
def gitfile_outside(s):
    """a .git file that names a repository outside"""
    where = s.outside_repo()
    s.git("-C", where, "branch", "-m", MARK)
    s.plant(".git", f"gitdir: {where}/.git\n")


@vector(STATUS, LOG, expect=OUTSIDE)
def gitfile_relative(s):
    """a .git file with a relative path that climbs out"""
    s.outside_repo()
    s.git("-C", s.out("victim"), "branch", "-m", MARK)
    s.plant(".git", "gitdir: ../outside/victim/.git\n")


@vector(STATUS, LOG, ADD_ALL, COMMIT, expect=OUTSIDE)
def git_link_outside(s):
    """.git as a link to a repository outside"""
    where = s.outside_repo()
    s.git("-C", where, "branch", "-m", MARK)
    s.link(".git", f"{where}/.git")


@vector(LOG, ADD_ALL, quiet=(COMMIT,), expect=OUTSIDE)
def commondir_outside(s):
    """.git/commondir outside"""
    s.plant(".git/commondir", f"{s.outside_repo()}/.git\n")


@vector(LOG, expect=OUTSIDE)
def commondir_through_inside(s):
    """a linked worktree's commondir that climbs out through a directory inside"""
    s.outside_repo()
    s.plant(".git/worktrees/w/commondir", "../../../../outside/victim/.git\n")
    s.plant(".git/worktrees/w/HEAD", "ref: refs/heads/main\n")
    if s.armed:
        os.rename(s.path(".git"), s.path("real"))
    s.plant(".git", "gitdir: real/worktrees/w\n")


def borrowed(s, alternates, link=False):
    """HEAD is a commit that only an outside object store has."""
    where = s.outside_repo()
    oid = s.git("-C", where, "rev-parse", "HEAD")
    if link:
        s.link(".git/objects/info/alternates", s.write_outside("list", f"{where}/.git/objects\n"))
    else:
        s.plant(".git/objects/info/alternates", alternates(where))
    s.plant(".git/HEAD", oid + "\n")


@vector(LOG, expect=OUTSIDE)
def alternates_outside(s):
    """an alternate object store outside"""
    borrowed(s, lambda where: f"{where}/.git/objects\n")


@vector(LOG, expect=OUTSIDE)
def alternates_relative(s):
    """an alternate that climbs out, after a comment and quoted"""
    borrowed(s, lambda where: '# here\n"../../../outside/v\\151ctim/.git/objects"\n')


@vector(LOG, expect=OUTSIDE)
def alternates_of_alternates(s):
    """an alternate inside the root that has one outside"""
    borrowed(s, lambda where: "../../store\n")
    where = s.out("victim")
    s.plant("store/info/alternates", f"{where}/.git/objects\n")
    s.plant(".git/info/exclude", "store\n")


@vector(LOG, expect=ANY)
def alternates_link(s):
    """objects/info/alternates as a link to a list outside"""
    borrowed(s, None, link=True)


@vector(LOG, expect=ANY)
def objects_pack_link(s):
    """objects/pack as a link to the packs of a repository outside"""
    where = s.outside_repo()
    s.git("-C", where, "repack", "-q", "-a", "-d")
    oid = s.git("-C", where, "rev-parse", "HEAD")
    s.link(".git/objects/pack", f"{where}/.git/objects/pack")
    s.plant(".git/HEAD", oid + "\n")


@vector(LOG, ADD_ALL, expect=ANY)
def objects_link(s):
    """.git/objects as a link to the store of a repository outside"""
    where = s.outside_repo()
    oid = s.git("-C", where, "rev-parse", "HEAD")
    s.link(".git/objects", f"{where}/.git/objects")
    s.plant(".git/HEAD", oid + "\n")


def gitlink_leak(scene, _output):
    """An entry of mode 160000: the outside repository's HEAD."""
    return "an outside oid is staged" if b"160000" in staged(scene) else None


@vector(Verb("git_add", {"all": True}, ("add", "-A"), True), fired=gitlink_leak, either=ANY)
def embedded_gitfile(s):
    """a nested directory whose .git file names a repository outside"""
    s.plant("nested/.git", f"gitdir: {s.outside_repo()}/.git\n")


# Files below .git that are links: git quotes what it cannot parse

def linked(name, verbs, sentence, content=MARK + "\n", prepare=None, **options):
    """A vector: .git/NAME is a link to an outside file with this content."""
    def build(s):
        if prepare:
            prepare(s)
        s.link(".git/" + name, s.write_outside("linked", content))
    build.__doc__ = sentence
    vector(*verbs, **{"either": ANY, **options})(build)


linked("shallow", (LOG,), ".git/shallow as a link outside, quoted in an error")
linked("info/grafts", (LOG,), ".git/info/grafts as a link outside, quoted in an error")
linked("info/attributes", (DIFF, ADD_ALL), ".git/info/attributes as a link outside",
       f"*.txt !bad!{MARK}\n")
linked("MERGE_HEAD", (COMMIT,), ".git/MERGE_HEAD as a link outside, quoted in an error")
linked("config", (LOG, COMMIT), ".git/config as a link outside",
       f"[user]\n\tname = {MARK}\n[format]\n\tpretty = {MARK}\n")
linked("packed-refs", (Verb("git_log", {"format": "%D"}, ("log", "--format=%D")),),
       ".git/packed-refs as a link outside, quoted in an error")
linked("BISECT_START", (STATUS_LONG,), ".git/BISECT_START as a link outside, shown as a branch",
       prepare=lambda s: s.write(".git/BISECT_LOG", ""))


# The same with a file that every process may read: it is still outside.

def system(name, verb, sentence, prepare=None, words=b"root:x:0:0"):
    def accounts(_scene, output):
        return "the system's accounts are in the answer" if words in output else None

    def build(s):
        if prepare:
            prepare(s)
        s.link(".git/" + name, "/etc/passwd")
    build.__doc__ = sentence
    vector(verb, fired=accounts, either=ANY)(build)


system("shallow", LOG, ".git/shallow as a link to a system file")
system("BISECT_START", STATUS_LONG, ".git/BISECT_START as a link to a system file",
       prepare=lambda s: s.write(".git/BISECT_LOG", ""))
system("MERGE_HEAD", COMMIT, ".git/MERGE_HEAD as a link to a system file")
system("packed-refs", Verb("git_log", {"format": "%D"}, ("log", "--format=%D")),
       ".git/packed-refs as a link to a system file")
system("info/attributes", DIFF, ".git/info/attributes as a link to a system file",
       words=b"is not a valid attribute name")


@vector(STATUS_LONG, either=ANY)
def rebase_state_link(s):
    """.git/rebase-merge as a link outside, shown as the last command"""
    s.write_outside("state/interactive", "")
    s.write_outside("state/done", f"pick {MARK}\n")
    s.write_outside("state/git-rebase-todo", f"pick {MARK}\n")
    s.write_outside("state/onto", "x\n")
    s.link(".git/rebase-merge", s.out("state"))


@vector(STATUS, either=ANY)
def head_link_like_a_ref(s):
    """.git/HEAD as a link that looks like a ref and climbs out"""
    s.write_outside("head", f"ref: refs/heads/{MARK}\n")
    s.link(".git/HEAD", "refs/../../../outside/head")


@vector(LOG, expect=ANY)
def ref_link(s):
    """.git/refs as a link to the refs of a repository outside, with its objects"""
    where = s.outside_repo()
    s.link(".git/refs", f"{where}/.git/refs")
    s.link(".git/objects", f"{where}/.git/objects")


if __name__ == "__main__":
    sys.exit(main())
