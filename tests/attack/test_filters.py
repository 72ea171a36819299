#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Filters and submodules: content does not pass through programs, and the answer says so.

Reading tools answer with the filter off; git_add refuses what it would have to write through one.
"""
import os
import sys

from hostile import quoted, sub_filter, sub_fsmonitor, submodule
from lab import choose_toolsets, write
from vectors import (ADD, ADD_ALL, COMMIT, DIFF, DIFF_REFS, LOG, STATUS, STATUS_LONG, Verb, main,
                     refused, vector)


FILTERED = refused("ExecutionFailed", words=("filter", "evil"))
SAYS_SO = {STATUS: ("filter", "evil"), DIFF: ("filter", "evil")}
ADD_A = Verb("git_add", {"paths": ["a.txt"]}, ("add", "--", "a.txt"), True)
ADD_UPDATE = Verb("git_add", {"update": True}, ("add", "-u"), True)


@vector(STATUS, DIFF, ADD_A, ADD_ALL, ADD_UPDATE, notes=SAYS_SO, quiet=(LOG, COMMIT),
        expect=dict.fromkeys((ADD_A, ADD_ALL, ADD_UPDATE), FILTERED))
def filter_clean(s):
    """filter.<driver>.clean"""
    s.config("filter.evil.clean", s.canary("cat"))
    s.attributes("*.txt filter=evil")


@vector(STATUS, DIFF, ADD_A, expect={ADD_A: FILTERED}, notes=SAYS_SO)
def filter_clean_required(s):
    """filter.<driver>.clean that is required, from .gitattributes"""
    s.config("filter.evil.clean", s.script(then="cat"))
    s.config("filter.evil.smudge", s.script(then="cat"))
    s.config("filter.evil.required", "true")
    s.plant(".gitattributes", "*.txt filter=evil\n")
    if not s.armed:
        s.write(".gitattributes", "*.txt filter=evil\n")


@vector(STATUS, DIFF, ADD_A, expect={ADD_A: FILTERED}, notes=SAYS_SO)
def filter_process(s):
    """filter.<driver>.process"""
    s.config("filter.evil.process", s.canary())
    s.attributes("* filter=evil")


@vector(STATUS, DIFF, ADD_A, expect={ADD_A: refused("ExecutionFailed", words=("filter", "evil=b"))})
def filter_equals(s):
    """filter.<driver>.clean of a driver called evil=b, which -c cannot name"""
    s.config("filter.evil=b.clean", s.canary("cat"))
    s.config("filter.evil=b.required", "true")
    s.attributes("*.txt filter=evil=b")


@vector(STATUS, ADD_A, expect={ADD_A: FILTERED}, notes=SAYS_SO)
def filter_macro(s):
    """filter.<driver>.clean chosen by an attribute macro, in git's older section syntax"""
    s.raw_config(f'[FILTER.evil]\n\tCLEAN = \\\n"{s.script(then="cat")}"\n')
    s.attributes("[attr]binary2 -text filter=evil", "*.txt binary2")


@vector(STATUS, ADD_A, expect={ADD_A: FILTERED}, notes=SAYS_SO)
def filter_included(s):
    """filter.<driver>.clean from an included file on one line"""
    s.config("include.path", "../tools.ini")
    s.plant("tools.ini", f'[filter "evil"] clean = "{s.script(then="cat")}"\n')
    s.attributes("*.txt filter=evil")
    s.write(".gitignore", "tools.ini\nfired\n.gitignore\n")


@vector(STATUS, ADD_A, expect={ADD_A: FILTERED}, notes=SAYS_SO)
def filter_worktree_config(s):
    """filter.<driver>.clean from config.worktree"""
    s.config("core.repositoryFormatVersion", "1")
    s.config("extensions.worktreeConfig", "true")
    s.plant(".git/config.worktree", f'[filter "evil"]\n\tclean = "{s.script(then="cat")}"\n')
    s.attributes("*.txt filter=evil")


@vector(STATUS, DIFF, quiet=(ADD,))
def filter_stat_only(s):
    """filter.<driver>.clean on files whose time alone changed"""
    s.config("filter.evil.clean", s.canary("cat"))
    s.attributes("d/x.txt filter=evil")
    s.write("d/x.txt", "x\n")


@vector(STATUS, DIFF, ADD_ALL, expect={ADD_ALL: FILTERED}, notes=SAYS_SO)
def filter_nested(s):
    """filter.<driver>.clean chosen by a subdirectory's .gitattributes"""
    s.config("filter.evil.clean", s.canary("cat"))
    s.write("d/.gitattributes", "x.txt filter=evil\n")
    s.write("d/x.txt", "y\n")


def their_own(s):
    """A home whose configuration has a filter, as git-lfs installs itself."""
    home = os.path.join(s.lab.top, "theirs")
    write(os.path.join(home, ".gitconfig"),
          "[user]\n\tname = A U Thor\n\temail = author@example.com\n"
          f'[filter "evil"]\n\tclean = {quoted(s.canary("cat"))}\n\trequired = true\n')
    choose_toolsets(home)
    return {"HOME": home}


@vector(STATUS, DIFF, ADD_A, ADD_ALL, quiet=(ADD,), notes=SAYS_SO, env=their_own,
        expect={ADD_A: FILTERED, ADD_ALL: FILTERED})
def filter_of_the_person(s):
    """a filter that the user's own configuration defines, as git-lfs does"""
    s.attributes("a.txt filter=evil", "d/* filter=evil")


@vector(STATUS, quiet=(ADD,))
def filter_elsewhere(s):
    """a filter on other files does not keep git_add from a file without one"""
    s.config("filter.evil.clean", s.canary("cat"))
    s.attributes("d/x.txt filter=evil")


@vector(STATUS, quiet=(ADD, LOG))
def filter_unset(s):
    """a filter that a later attribute unsets does not apply"""
    s.config("filter.evil.clean", s.canary("cat"))
    s.attributes("*.txt filter=evil", "c.txt -filter", "b.txt !filter")


@vector(DIFF_REFS)
def filter_smudge(s):
    """filter.<driver>.smudge by way of an external diff"""
    s.config("filter.evil.smudge", s.canary("cat"))
    s.config("diff.external", "true")
    s.attributes("*.txt filter=evil")


# A submodule

@vector(STATUS, quiet=(LOG, COMMIT))
def submodule_fsmonitor_status(s):
    """a submodule's own core.fsmonitor"""
    sub_fsmonitor(s)
    s.instead("submodule.sm.ignore", "dirty")


@vector(STATUS_LONG, DIFF)
def submodule_fsmonitor_diff(s):
    """a submodule's own core.fsmonitor, in a long status and a diff"""
    sub_fsmonitor(s)
    s.instead("submodule.sm.ignore", "dirty")


@vector(STATUS, DIFF)
def submodule_filter(s):
    """a submodule's own filter.<driver>.clean"""
    sub_filter(s)
    s.instead("submodule.sm.ignore", "dirty")


REFUSAL = refused("ExecutionFailed", "SandboxViolation")


@vector(Verb("git_add", {"all": True}, ("add", "-A"), True),
        Verb("git_add", {"paths": ["sm"]}, ("add", "--", "sm"), True), either=REFUSAL)
def submodule_fsmonitor_add(s):
    """a submodule's own core.fsmonitor"""
    sub_fsmonitor(s)


@vector(Verb("git_add", {"all": True}, ("add", "-A"), True), either=REFUSAL)
def submodule_filter_add(s):
    """a submodule's own filter.<driver>.clean"""
    sub_filter(s)


@vector(quiet=(ADD,))
def submodule_harmless_add(s):
    """a harmless submodule does not keep a file beside it from being staged"""
    submodule(s, lambda add: None)


@vector(DIFF, either=None)
def submodule_diff(s):
    """diff.submodule=diff with the submodule's own diff.external"""
    submodule(s, lambda add: add(f"[diff]\n\texternal = {quoted(s.canary())}\n"))
    s.git("-C", s.path("sm"), "-c", "core.fsmonitor=false", "-c", "diff.external=", "commit", "-q",
          "-a", "-m", "moved")
    s.config("diff.submodule", "diff")


@vector(STATUS_LONG)
def submodule_summary(s):
    """status.submoduleSummary with the submodule's own configuration"""
    sub_fsmonitor(s)
    s.config("status.submoduleSummary", "true")
    s.instead("submodule.sm.ignore", "dirty")


@vector(STATUS, quiet=(DIFF,))
def submodule_gitfile(s):
    """a submodule whose gitfile names a hostile directory in the worktree"""
    submodule(s, lambda add: None)
    s.git("-C", s.path("sm"), "init", "-q", "--separate-git-dir", s.path("sm-git"))
    s.raw_config(f"[core]\n\tfsmonitor = {quoted(s.canary())}\n", "sm-git/config")
    s.write(".gitignore", "sm-git\n.gitignore\nfired\n")
    s.instead("submodule.sm.ignore", "dirty")


if __name__ == "__main__":
    sys.exit(main())
