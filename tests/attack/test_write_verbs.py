#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_restore, git_branch, git_checkout and git_stash: nothing planted runs, nothing is written
outside, and what cannot be done rightly is refused."""
import os
import sys

from hostile import (copy_program, hook_pre_auto_gc, id_ran, partial_clone, quoted, sub_filter,
                     sub_fsmonitor, survivors)
from lab import Scene, changed, choose_toolsets, git_interpreter, remove, snapshot
from scenes import (APPLY, CLEAR, CREATE, DELETE, DETACH, DROP, NEW, PATHS, POP, PUSH, PUSH_ALL,
                    RENAME, RESTORE, SWITCH, UNSTAGE, attack, prepare)
from vectors import Verb, check, main, refused

ANY = refused("SandboxViolation", "ExecutionFailed")
LOST = refused("ExecutionFailed")
FILTERED = refused("ExecutionFailed", words=("filter", "evil"))
DRIVEN = refused("ExecutionFailed", words=("merge driver", "evil"))

FILES = (RESTORE, PATHS, SWITCH, DETACH, PUSH, POP, APPLY)
REFS = (CREATE, DELETE, NEW, DROP, CLEAR)
ALL = (*FILES, *REFS, RENAME, UNSTAGE, PUSH_ALL)


# Programs

@attack(*FILES, UNSTAGE, PUSH_ALL, quiet=(*REFS, RENAME))
def fsmonitor(s):
    """core.fsmonitor"""
    s.config("core.fsmonitor", s.canary())


@attack(SWITCH, DETACH, NEW, notes=("post-checkout",), quiet=(CREATE, PUSH, POP))
def hook_post_checkout(s):
    """the hook post-checkout"""
    s.hook("post-checkout")


@attack(PATHS, RESTORE)
def hook_post_checkout_of_paths(s):
    """the hook post-checkout, which runs after paths as well"""
    s.hook("post-checkout")


@attack(*FILES, UNSTAGE, quiet=(CREATE, DELETE, DROP, CLEAR))
def hook_post_index_change(s):
    """the hook post-index-change"""
    s.hook("post-index-change")


@attack(CREATE, DELETE, RENAME, NEW, DETACH, PUSH, PUSH_ALL, POP, DROP, CLEAR,
        quiet=(SWITCH, APPLY, RESTORE, UNSTAGE))
def hook_reference_transaction(s):
    """the hook reference-transaction"""
    s.hook("reference-transaction")


@attack(SWITCH, NEW, notes=("post-checkout",))
def hooks_path(s):
    """core.hooksPath that points elsewhere"""
    s.script(".git/tools/post-checkout")
    s.config("core.hooksPath", ".git/tools")


attack(PUSH, quiet=(POP, DROP), control=("-c", "gc.auto=1", "gc", "--auto"))(hook_pre_auto_gc)


@attack(PUSH, POP, RENAME, SWITCH, control=("st",))
def aliases(s):
    """aliases named like the commands that a stash starts"""
    for name in ("st", "stash", "reset", "clean", "apply", "status", "checkout", "branch",
                 "update-index", "diff-index"):
        s.config("alias." + name, "!" + s.canary())


# The hole that the execute list has: git's own loader may be executed.

@attack(PUSH, POP, APPLY, fired=id_ran, control=("diff", "HEAD"))
def loader_external(s):
    """diff.external and diff.<driver>.command naming the dynamic loader"""
    copy_program(s, "id", "0/x")
    s.git("add", "0/x")
    s.git("commit", "-q", "-m", "an innocent file", "0/x")
    with open(s.path("0/x"), "ab") as f:
        f.write(b"\n")
    s.config("diff.external", git_interpreter())
    s.config("diff.evil.command", git_interpreter())
    s.config("diff.evil.textconv", git_interpreter())
    s.attributes("* diff=evil")


def loader_ran(s, output):
    return "the loader ran" if b"cannot open shared object" in output else id_ran(s, output)


@attack(PUSH, POP, SWITCH, control=("checkout", "-q", "-b", "x"), fired=loader_ran)
def loader_hooks(s):
    """hooks that are links to the dynamic loader"""
    for name in ("reference-transaction", "post-index-change", "post-checkout"):
        s.link(".git/hooks/" + name, git_interpreter())


# Filters

@attack(RESTORE, PATHS, SWITCH, DETACH, PUSH, POP, APPLY, expect=FILTERED)
def filter_smudge(s):
    """filter.<driver>.smudge"""
    s.config("filter.evil.smudge", s.canary("cat"))
    s.attributes("a.txt filter=evil")


@attack(PUSH, POP, expect=FILTERED)
def filter_clean(s):
    """filter.<driver>.clean"""
    s.config("filter.evil.clean", s.canary("cat"))
    s.attributes("a.txt filter=evil")
    os.utime(s.path("a.txt"), (1, 1))


@attack(RESTORE, PATHS, SWITCH, PUSH, POP, expect=FILTERED)
def filter_process(s):
    """filter.<driver>.process, required"""
    s.config("filter.evil.process", s.canary())
    s.config("filter.evil.required", "true")
    s.attributes("* filter=evil")


@attack(RESTORE, SWITCH, PUSH, expect=refused("ExecutionFailed", words=("filter", "evil=b")))
def filter_equals(s):
    """filter.<driver>.smudge of a driver called evil=b, which -c cannot name"""
    s.config("filter.evil=b.smudge", s.canary("cat"))
    s.attributes("*.txt filter=evil=b")


@attack(quiet=(RESTORE, PATHS, SWITCH, DETACH, PUSH, POP, APPLY, UNSTAGE, *REFS))
def filter_elsewhere(s):
    """a filter on files that are not touched keeps nothing from working"""
    s.config("filter.evil.smudge", s.canary("cat"))
    s.config("filter.evil.clean", s.canary("cat"))
    s.attributes("d/* filter=evil", "c.txt filter=evil")


@attack(PUSH_ALL, expect=FILTERED)
def filter_untracked(s):
    """filter.<driver>.clean on an untracked file that is stashed"""
    s.config("filter.evil.clean", s.canary("cat"))
    s.attributes("c.txt filter=evil")


def their_own(s):
    """A home whose configuration has a filter, as git-lfs installs itself."""
    s.write("../theirs/.gitconfig", "[user]\n\tname = A U Thor\n\temail = author@example.com\n"
            f'[filter "evil"]\n\tsmudge = {quoted(s.canary("cat"))}\n\tclean = cat\n'
            "\trequired = true\n")
    choose_toolsets(os.path.join(s.top, "theirs"))
    return {"HOME": os.path.join(s.top, "theirs")}


@attack(RESTORE, SWITCH, PUSH, quiet=(CREATE,), env=their_own,
        expect=dict.fromkeys((RESTORE, SWITCH, PUSH), FILTERED))
def filter_of_the_person(s):
    """a filter that the user's own configuration defines, as git-lfs does"""
    s.attributes("a.txt filter=evil")


def attributes_of_the_target(s):
    """`other` has a.txt changed and a .gitattributes that gives it the filter."""
    s.git("checkout", "-q", "other")
    s.write(".gitattributes", "a.txt filter=evil\n")
    s.write("a.txt", "from other\n")
    s.git("add", "-A")
    s.git("commit", "-q", "-m", "with attributes", "a.txt", ".gitattributes")
    s.git("checkout", "-q", "main")


@attack(SWITCH, expect=FILTERED)
def filter_of_the_target(s):
    """a filter that the .gitattributes of the branch to go to bring"""
    attributes_of_the_target(s)
    s.config("filter.evil.smudge", s.canary("cat"))


@attack(quiet=(SWITCH,))
def filter_that_the_target_has_not(s):
    """a filter of this branch's .gitattributes that the branch to go to has not"""
    s.write(".gitattributes", "a.txt filter=evil\n")
    s.git("add", ".gitattributes")
    s.git("commit", "-q", "-m", "with attributes")
    s.config("filter.evil.smudge", s.canary("cat"))


@attack(SWITCH, expect=FILTERED)
def filter_of_an_untracked_file(s):
    """a filter that an untracked .gitattributes brings, which git reads where a commit has none"""
    s.write(".gitattributes", "a.txt filter=evil\n")
    s.config("filter.evil.smudge", s.canary("cat"))


@attack(SWITCH, expect=FILTERED)
def filter_of_the_target_by_tag(s):
    """a filter of the branch to go to, where a tag of that name stands in its way"""
    attributes_of_the_target(s)
    s.git("tag", "other", "HEAD")
    s.config("filter.evil.smudge", s.canary("cat"))


@attack(Verb("git_checkout", {"branch": "far"}, ("checkout", "far"), True), expect=FILTERED)
def filter_of_a_remote_branch(s):
    """a filter of a branch that only a remote has, and that a checkout creates"""
    prepare(SWITCH, s)
    attributes_of_the_target(s)
    s.git("update-ref", "refs/remotes/origin/far", "other")
    s.git("config", "remote.origin.url", "https://example.com/x")
    s.git("config", "remote.origin.fetch", "+refs/heads/*:refs/remotes/origin/*")
    s.config("filter.evil.smudge", s.canary("cat"))


def stash_with_attributes(s):
    """The stash brings a .gitattributes that gives a.txt the filter."""
    s.git("checkout", "-q", "stash@{0}", "--", "a.txt")
    s.write(".gitattributes", "a.txt filter=evil\n")
    s.git("add", ".gitattributes")
    s.git("stash", "push", "-q")


@attack(POP, APPLY, expect=FILTERED)
def filter_of_the_stash(s):
    """a filter that the .gitattributes of a stash bring"""
    stash_with_attributes(s)
    s.config("filter.evil.smudge", s.canary("cat"))


@attack(POP, expect=FILTERED)
def filter_of_stashed_untracked_files(s):
    """a filter on an untracked file that a stash brings back"""
    s.git("stash", "push", "-q", "-u")
    s.config("filter.evil.smudge", s.canary("cat"))
    s.attributes("c.txt filter=evil")


@attack(PUSH, expect=FILTERED)
def filter_that_head_has(s):
    """a filter that HEAD's .gitattributes bring back, though the working tree's do not"""
    s.git("checkout", "-q", "--", "a.txt")
    s.write(".gitattributes", "a.txt filter=evil\n")
    s.git("add", ".gitattributes")
    s.git("commit", "-q", "-m", "with attributes")
    s.write(".gitattributes", "# none\n")
    s.write("a.txt", "changed\n")
    s.config("filter.evil.smudge", s.canary("cat"))


# Merge drivers

def merge_needed(s):
    """a.txt has changed at both ends since the stash was made."""
    s.write("a.txt", "zero\none\ntwo\n")
    s.git("commit", "-q", "-m", "at the other end", "a.txt")


@attack(POP, APPLY, expect=DRIVEN)
def merge_driver(s):
    """merge.<driver>.driver on a file that is merged"""
    merge_needed(s)
    s.config("merge.evil.driver", s.canary("false"))
    s.attributes("a.txt merge=evil")


@attack(POP, either=DRIVEN)
def merge_default(s):
    """merge.<driver>.driver that merge.default names"""
    merge_needed(s)
    s.config("merge.evil.driver", s.canary("false"))
    s.config("merge.default", "evil")


@attack(quiet=(POP, APPLY, PUSH))
def merge_driver_elsewhere(s):
    """merge.<driver>.driver on files that are not merged"""
    s.config("merge.evil.driver", s.canary("false"))
    s.attributes("d/* merge=evil")


# Submodules

@attack(PUSH, PUSH_ALL, either=ANY, dead_end=True)
def submodule_filter(s):
    """a submodule's own filter.<driver>.clean"""
    sub_filter(s)


@attack(PUSH, quiet=(SWITCH,), either=ANY, dead_end=True)
def submodule_fsmonitor(s):
    """a submodule's own core.fsmonitor"""
    sub_fsmonitor(s)


@attack(PUSH, either=ANY, dead_end=True)
def submodule_of_gitmodules(s):
    """a submodule's own core.fsmonitor, with .gitmodules asking for it to be looked at"""
    sub_fsmonitor(s)
    with open(s.path(".gitmodules"), "a", encoding="utf-8") as f:
        f.write("\tignore = none\n")


# Partial clones

def lose(s, oid):
    if s.armed:
        remove(s.path(f".git/objects/{oid[:2]}/{oid[2:]}"))


@attack(RESTORE, PATHS, SWITCH, DETACH, expect={RESTORE: LOST, PATHS: LOST}, dead_end=True)
def lazy_fetch(s):
    """core.sshCommand by way of a lazy fetch"""
    oids = [s.git("rev-parse", name) for name in ("HEAD~1:a.txt", ":a.txt")]
    partial_clone(s, "ssh://nowhere.invalid/x")
    for oid in oids:
        lose(s, oid)
    s.config("core.sshCommand", s.canary())


@attack(POP, PUSH, expect=LOST)
def lazy_fetch_uploadpack(s):
    """remote.<name>.uploadpack by way of a lazy fetch"""
    oids = [s.git("rev-parse", "HEAD:a.txt")]
    if s.git("for-each-ref", "refs/stash"):
        oids.append(s.git("rev-parse", "stash:a.txt"))
    partial_clone(s, s.repo)
    for oid in oids:
        lose(s, oid)
    s.config("remote.origin.uploadpack", s.canary())


# A call that runs out of time

def blocked(verb, name, sentence, then):
    """The object of `name` is a pipe: git waits for it with its locks held, until the deadline."""
    def test(lab, controls_only):
        if controls_only:
            return
        s = Scene(lab)
        prepare(verb, s)
        oid = s.git("rev-parse", name)
        path = s.path(f".git/objects/{oid[:2]}/{oid[2:]}")
        os.rename(path, s.out("object"))
        os.mkfifo(path)
        outside = snapshot(s.outside)
        answer = lab.airlock(verb.tool, {**verb.args, "timeout_ms": 500}, s.repo)
        assert answer.kind == "Timeout", (answer.kind, answer.text)
        assert not survivors(s.top), survivors(s.top)
        assert not changed(outside, snapshot(s.outside))
        locks = [n for n in snapshot(s.path(".git")) if n.endswith(b".lock")]
        assert not locks, locks
        remove(path)
        os.rename(s.out("object"), path)
        then(s)
        answer = lab.airlock(verb.tool, verb.args, s.repo)
        assert answer.kind is None, answer.text
    test.__doc__ = f"{verb.tool}: {sentence}"
    check(test)


def not_gone(s):
    """git goes last: HEAD and the index are as before, files may be half way."""
    assert s.git("symbolic-ref", "HEAD") == "refs/heads/main"
    assert s.git("diff", "--cached", "--name-only") == ""
    s.git("checkout", "-q", "--", ".")


def entry_saved(s):
    """git saves the entry first, and takes the changes away after it: both are put back."""
    assert s.git("stash", "list") == ""
    with open(s.path("a.txt"), encoding="utf-8") as file:
        assert "three" in file.read()


def entry_kept(s):
    """git drops the entry last."""
    assert len(s.git("stash", "list").splitlines()) == 1
    s.git("reset", "-q", "--hard")


blocked(SWITCH, "other:a.txt", "a checkout that runs out of time leaves no lock", not_gone)
blocked(PUSH, "HEAD:a.txt", "a stash push that runs out of time leaves no lock and loses nothing",
        entry_saved)
blocked(POP, "stash@{0}:a.txt", "a stash pop that runs out of time leaves no lock and its entry",
        entry_kept)


if __name__ == "__main__":
    sys.exit(main())
