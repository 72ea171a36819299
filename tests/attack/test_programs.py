#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing that a repository names as a program is run."""
import os
import sys

import hostile
from hostile import copy_program, id_ran, partial_clone, signed_head
from lab import GIT, GIT_VERSION, git_interpreter, run, write
from vectors import (ADD, ADD_ALL, COMMIT, DIFF, DIFF_CACHED, DIFF_REFS, FIVE, LOG, STATUS,
                     Skip, Verb, main, refused, vector)


# core.fsmonitor

@vector(STATUS, DIFF, ADD, ADD_ALL, COMMIT, quiet=(LOG,))
def fsmonitor_command(s):
    """core.fsmonitor as a shell command"""
    s.config("core.fsmonitor", s.canary())


@vector(STATUS, DIFF, ADD_ALL, COMMIT)
def fsmonitor_hook(s):
    """core.fsmonitor as the repository's own hook file, protocol 1"""
    s.config("core.fsmonitorHookVersion", "1")
    s.config("core.fsmonitor", s.hook("fsmonitor-watchman"))


@vector(STATUS, ADD_ALL)
def fsmonitor_relative(s):
    """core.fsmonitor as a program in the worktree"""
    s.script("build/tool")
    s.raw_config(b"\n[CORE]\r\n\tFsMonitor = \\\n./build/tool\n")
    s.write(".gitignore", "build\nfired\n")


@vector(STATUS, DIFF)
def fsmonitor_worktree_config(s):
    """core.fsmonitor in config.worktree"""
    s.config("extensions.worktreeConfig", "true")
    s.plant(".git/config.worktree", "")
    s.raw_config(f'[core]\n\tfsmonitor = "{s.script()}"\n', ".git/config.worktree")


@vector(STATUS, DIFF)
def fsmonitor_included(s):
    """core.fsmonitor in a file included through includeIf.onbranch"""
    s.config("includeIf.onbranch:main.path", "more")
    s.plant(".git/more", '[include]\n\tpath = "hooks/../more2"\n')
    s.plant(".git/more2", "")
    s.plant(".git/hooks/x", "")
    s.raw_config(f'[core]\n\tfsmonitor = "{s.script()}"\n', ".git/more2")


def daemon_runs(s, _output):
    """Whether a daemon was started; it is stopped."""
    started = os.path.lexists(s.path(".git/fsmonitor--daemon.ipc"))
    if started:
        s.lab.git(s.repo, "fsmonitor--daemon", "stop")
    return "a daemon was started" if started else None


@vector(STATUS, ADD_ALL, quiet=(DIFF, LOG, COMMIT), fired=daemon_runs)
def fsmonitor_daemon(s):
    """core.fsmonitor as git's own daemon (git 2.55)"""
    if GIT_VERSION < (2, 55):
        raise Skip("this git has no daemon here")
    s.config("core.fsmonitor", "true")


# Hooks


@vector(COMMIT, notes={COMMIT: ("pre-commit",)})
def hook_pre_commit(s):
    """the hook pre-commit"""
    s.hook("pre-commit")


@vector(COMMIT, notes={COMMIT: ("commit-msg",)})
def hook_commit_msg(s):
    """the hook commit-msg"""
    s.hook("commit-msg")


@vector(COMMIT, notes={COMMIT: ("prepare-commit-msg",)})
def hook_prepare_commit_msg(s):
    """the hook prepare-commit-msg, which --no-verify does not cover"""
    s.hook("prepare-commit-msg")


@vector(COMMIT, notes={COMMIT: ("post-commit",)})
def hook_post_commit(s):
    """the hook post-commit"""
    s.hook("post-commit")


@vector(STATUS, ADD, ADD_ALL, COMMIT)
def hook_post_index_change(s):
    """the hook post-index-change"""
    s.hook("post-index-change")


@vector(COMMIT, quiet=(ADD,))
def hook_reference_transaction(s):
    """the hook reference-transaction"""
    s.hook("reference-transaction")


@vector(COMMIT, notes={COMMIT: ("pre-commit",)})
def hooks_path(s):
    """core.hooksPath that points into the worktree"""
    s.script("tools/hooks/pre-commit")
    s.config("core.hooksPath", "tools/hooks")


@vector(COMMIT)
def hook_exits(s):
    """a failing pre-commit hook that is a program of another kind"""
    s.plant(".git/hooks/pre-commit", f"#!/usr/bin/env -S sh -e\n{s.canary('exit 1')}\n", 0o755)


vector(COMMIT)(hostile.hook_pre_auto_gc)


# diff drivers

@vector(DIFF, DIFF_CACHED, DIFF_REFS, quiet=(STATUS, LOG))
def diff_external(s):
    """diff.external"""
    s.config("diff.external", s.canary())


@vector(DIFF, DIFF_REFS)
def diff_command(s):
    """diff.<driver>.command"""
    s.config("diff.evil.command", s.canary())
    s.attributes("*.txt diff=evil")


@vector(DIFF, DIFF_REFS)
def diff_command_equals(s):
    """diff.<driver>.command of a driver called a=b, which -c cannot name"""
    s.config("diff.a=b.command", s.canary())
    s.attributes("*.txt diff=a=b")


@vector(DIFF, DIFF_REFS, quiet=(LOG,))
def diff_textconv(s):
    """diff.<driver>.textconv"""
    s.config("diff.evil.textconv", s.canary("cat"))
    s.attributes("*.txt diff=evil")


@vector(DIFF, DIFF_REFS)
def diff_textconv_cached(s):
    """diff.<driver>.textconv with cachetextconv, through an attribute macro"""
    s.config("diff.Evil One.cachetextconv", "true")
    s.raw_config(f'[diff "Evil One"] textconv = {s.script(then="cat")}\n')
    s.write(".gitattributes", "*.txt evil\n")
    s.config("diff.macro.textconv", s.script(then="cat"))
    s.attributes("[attr]evil diff=macro", "a.txt evil")


@vector(DIFF, DIFF_REFS)
def diff_driver_odd_name(s):
    """diff.<driver>.textconv of the driver whose name has a dot and a quote"""
    s.config('diff.we.ird".textconv', s.canary("cat"))
    s.attributes('*.txt diff=we.ird"')


@vector(DIFF, fired=id_ran)
def loader_external(s):
    """diff.external naming the dynamic loader, with a program of mode 644 in the worktree"""
    copy_program(s, "id", "0/x")
    s.config("diff.external", git_interpreter())
    s.git("add", "0/x")
    s.git("commit", "-q", "-m", "an innocent file", "0/x")
    s.write("0/x", open(s.path("0/x"), "rb").read() + b"\n")


@vector(DIFF, fired=id_ran)
def loader_external_new_file(s):
    """diff.external naming the dynamic loader on a new file, which needs no temporary file"""
    copy_program(s, "id", "0/x")
    s.config("diff.external", git_interpreter())
    s.git("add", "-N", "0/x")


@vector(DIFF, fired=id_ran)
def loader_command(s):
    """diff.<driver>.command naming the dynamic loader"""
    copy_program(s, "id", "0/x")
    s.config("diff.evil.command", git_interpreter())
    s.attributes("0/x diff=evil")
    s.git("add", "-N", "0/x")


@vector(DIFF, fired=id_ran)
def loader_textconv(s):
    """diff.<driver>.textconv naming the dynamic loader"""
    copy_program(s, "id", "0/x")
    s.config("diff.evil.textconv", git_interpreter())
    s.attributes("0/x diff=evil")
    s.git("add", "-N", "0/x")


# Pagers, editors

@vector(LOG, DIFF, quiet=(STATUS, ADD_ALL, COMMIT), terminal=True)
def core_pager(s):
    """core.pager"""
    s.config("core.pager", s.canary("cat"))


@vector(*FIVE, terminal=True)
def pager_of_command(s):
    """pager.<command>"""
    for name in ("status", "diff", "log", "add", "commit", "config"):
        s.config("pager." + name, s.canary("cat"))


@vector(*FIVE, control=("-c", "core.pager=false", "commit", "-e", "-m", "x"))
def core_editor(s):
    """core.editor"""
    s.config("core.editor", s.canary())


@vector(COMMIT, quiet=(LOG,), control=("rebase", "-q", "-i", "--autostash", "HEAD~1"))
def sequence_editor(s):
    """sequence.editor"""
    s.config("sequence.editor", s.canary())


@vector(COMMIT, control=("commit", "--trailer", "x: y", "-m", "feat: say it"))
def trailer_command(s):
    """trailer.<name>.command and .cmd"""
    s.config("trailer.evil.command", s.canary())
    s.config("trailer.evil2.cmd", s.canary())
    s.config("trailer.evil.key", "Evil")


@vector(STATUS, LOG, COMMIT, control=("st",))
def aliases(s):
    """aliases named like the tools' own commands"""
    for name in ("st", "status", "diff", "log", "add", "commit", "config", "rev-parse"):
        s.config("alias." + name, "!" + s.canary())


# Signatures


@vector(COMMIT)
def commit_gpg_sign(s):
    """gpg.program by way of commit.gpgSign"""
    s.config("commit.gpgSign", "true")
    s.config("gpg.program", s.script())


@vector(COMMIT)
def commit_ssh_sign(s):
    """gpg.ssh.program and gpg.ssh.defaultKeyCommand by way of gpg.format"""
    s.config("commit.gpgSign", "true")
    s.config("gpg.format", "ssh")
    s.config("gpg.ssh.defaultKeyCommand", s.script())
    s.config("gpg.ssh.program", s.script())


vector(LOG, quiet=(STATUS, DIFF))(hostile.show_signature)
vector(LOG)(hostile.format_pretty)


@vector(LOG)
def pretty_alias_signature(s):
    """gpg.program by way of a pretty.<name> that format.pretty names"""
    signed_head(s)
    s.config("format.pretty", "evil")
    s.config("pretty.evil", "%H %GG")
    s.config("gpg.program", s.script())


vector(Verb("git_log", {"format": "%G?"}, ("log", "--format=%G?")),
       Verb("git_log", {"format": "%H%n%GG%GK"}, ("log", "--format=%H%n%GG%GK")),
       fired=hostile.shouts,
       either=refused("ExecutionFailed", "BadArgs"))(hostile.format_argument)
vector(Verb("git_log", {"format": "evil"}, ("log", "--format=evil")),
       either=refused("ExecutionFailed", "BadArgs"))(hostile.format_argument_alias)


# Lazy fetch in a partial clone

LOST = refused("ExecutionFailed", "SandboxViolation")
vector(DIFF, DIFF_REFS, expect=LOST)(hostile.lazy_fetch)
vector(DIFF, expect=LOST)(hostile.lazy_fetch_uploadpack)


@vector(DIFF, expect=LOST)
def lazy_fetch_ext(s):
    """an ext:: url that the repository itself allows, by way of a lazy fetch"""
    partial_clone(s, f"ext::{s.script()}")
    s.config("protocol.ext.allow", "always")


@vector(DIFF, expect=LOST)
def lazy_fetch_git_proxy(s):
    """core.gitProxy by way of a lazy fetch"""
    partial_clone(s, "git://nowhere.invalid/x")
    s.config("core.gitProxy", s.script())


@vector(DIFF, expect=LOST)
def lazy_fetch_instead_of(s):
    """url.<base>.insteadOf by way of a lazy fetch"""
    partial_clone(s, "https://nowhere.invalid/x")
    s.config(f"url.ext::{s.script()} .insteadOf", "https://nowhere.invalid/")
    s.config("protocol.ext.allow", "always")


@vector(STATUS, quiet=(LOG,), control=("diff",))
def partial_clone_answers(s):
    """a partial clone answers what needs no missing object"""
    partial_clone(s, "ssh://nowhere.invalid/x")
    s.config("core.sshCommand", s.canary())


@vector(LOG, quiet=(STATUS, COMMIT), control=("log", "--alternate-refs"))
def alternate_refs_command(s):
    """core.alternateRefsCommand with an alternate inside the root"""
    run([GIT, "init", "-q", "--template=", s.path("sub")], s.lab.env())
    s.git("-C", "sub", "commit", "-q", "--allow-empty", "-m", "sub")
    s.config("core.alternateRefsCommand", s.canary())
    write(s.path(".git/objects/info/alternates"), s.path("sub/.git/objects") + "\n")


# Merge drivers where nothing is merged

@vector(COMMIT)
def rerere_merge_driver(s):
    """merge.<driver>.driver by way of rerere"""
    s.config("merge.evil.driver", s.canary("false"))
    s.config("rerere.enabled", "true")
    s.attributes("c.txt merge=evil")
    conflict = "<<<<<<< ours\nA\n=======\nB\n>>>>>>> theirs\n"
    ident = "1111111111111111111111111111111111111111"
    s.write("c.txt", conflict)
    s.plant(f".git/rr-cache/{ident}/preimage", "<<<<<<<\nA\n=======\nB\n>>>>>>>\n")
    s.plant(f".git/rr-cache/{ident}/postimage", "C\n")
    s.plant(".git/MERGE_RR", f"{ident}\tc.txt\0")


if __name__ == "__main__":
    sys.exit(main())
