#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The environment of airlock's caller steers no git child."""
import os
import sys

from hostile import references_outside
from lab import GIT, MARK, Scene, remove, run, snapshot, write
from vectors import (ADD_ALL, COMMIT, DIFF, FIVE, LOG, STATUS, Verb, check, general_canary, main,
                     refused, vector)


def victim(s):
    return s.out("victim/.git")


@vector(*FIVE, env=lambda s: {"GIT_DIR": victim(s)})
def git_dir(s):
    """GIT_DIR"""
    s.git("-C", s.outside_repo(), "branch", "-m", MARK)


@vector(DIFF, env=lambda s: {"GIT_WORK_TREE": s.out("victim")})
def git_work_tree(s):
    """GIT_WORK_TREE"""
    s.outside_repo()


@vector(LOG, env=lambda s: {"GIT_COMMON_DIR": victim(s)}, fired=lambda s, out:
        "refs come from outside" if b"bad object HEAD" in out else None)
def git_common_dir(s):
    """GIT_COMMON_DIR"""
    s.outside_repo()


@vector(ADD_ALL, env=lambda s: {"GIT_INDEX_FILE": s.out("victim/.git/index")})
def git_index_file(s):
    """GIT_INDEX_FILE"""
    s.outside_repo()


@vector(ADD_ALL, env=lambda s: {"GIT_OBJECT_DIRECTORY": s.out("victim/.git/objects")})
def git_object_directory(s):
    """GIT_OBJECT_DIRECTORY"""
    s.outside_repo()


@vector(LOG, env=lambda s: {"GIT_ALTERNATE_OBJECT_DIRECTORIES": s.out("victim/.git/objects")},
        expect=refused("ExecutionFailed", "SandboxViolation"))
def git_alternates(s):
    """GIT_ALTERNATE_OBJECT_DIRECTORIES"""
    s.plant(".git/HEAD", s.git("-C", s.outside_repo(), "rev-parse", "HEAD") + "\n")


@vector(STATUS, DIFF, ADD_ALL, COMMIT,
        env=lambda s: {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.fsmonitor",
                       "GIT_CONFIG_VALUE_0": s.canary()})
def git_config_count(_scene):
    """GIT_CONFIG_COUNT"""


@vector(STATUS, COMMIT, env=lambda s: {"GIT_CONFIG_PARAMETERS": f"'core.fsmonitor={s.tool}'"})
def git_config_parameters(s):
    """GIT_CONFIG_PARAMETERS"""
    s.tool = s.script()


@vector(STATUS, env=lambda s: {"GIT_REFERENCE_BACKEND": "files://" + s.out("victim/.git")})
def reference_backend(s):
    """GIT_REFERENCE_BACKEND"""
    references_outside(s)


@vector(STATUS, env=lambda s: {"GIT_REFERENCE_BACKEND": "reftable://" + s.out("victim/.git")})
def reference_backend_reftable(s):
    """GIT_REFERENCE_BACKEND with reftables"""
    references_outside(s, "reftable")


@vector(DIFF, env=lambda s: {"GIT_EXTERNAL_DIFF": s.canary()}, quiet=(STATUS, LOG))
def git_external_diff(_scene):
    """GIT_EXTERNAL_DIFF"""


@vector(DIFF, env=lambda s: {"GIT_SSH_COMMAND": s.canary()},
        expect=refused("ExecutionFailed", "SandboxViolation"))
def git_ssh_command(s):
    """GIT_SSH_COMMAND by way of a lazy fetch"""
    s.config("core.repositoryFormatVersion", "1")
    s.config("extensions.partialClone", "origin")
    s.config("remote.origin.promisor", "true")
    s.config("remote.origin.url", "ssh://nowhere.invalid/x")
    oid = s.git("rev-parse", "HEAD:a.txt")
    if s.armed:
        remove(s.path(f".git/objects/{oid[:2]}/{oid[2:]}"))


@vector(COMMIT, env=lambda s: {"GIT_EDITOR": s.canary(), "VISUAL": s.canary()},
        control=("commit",))
def git_editor(_scene):
    """GIT_EDITOR"""


@vector(*FIVE, env=lambda s: {"GIT_TRACE": s.out("trace")})
def git_trace(_scene):
    """GIT_TRACE"""


@vector(STATUS, COMMIT, env=lambda s: {"GIT_TRACE2_EVENT": s.out("trace2"),
                                       "GIT_TRACE_SETUP": s.out("setup")})
def git_trace2(_scene):
    """GIT_TRACE2_EVENT and GIT_TRACE_SETUP"""


@vector(LOG, quiet=(STATUS,), env=lambda s: {"GIT_EXEC_PATH": s.out("bin")}, control=("st",))
def git_exec_path(s):
    """GIT_EXEC_PATH"""
    write(s.out("bin/git-st"), "#!/bin/sh\n" + s.canary(), 0o755)


@vector(LOG, env=lambda s: {"GIT_SHALLOW_FILE": s.out("secret")})
def git_shallow_file(_scene):
    """GIT_SHALLOW_FILE"""


@vector(LOG, env=lambda s: {"GIT_GRAFT_FILE": s.out("secret")})
def git_graft_file(_scene):
    """GIT_GRAFT_FILE"""


@vector(COMMIT, env=lambda s: {"GIT_AUTHOR_NAME": MARK, "GIT_COMMITTER_NAME": MARK,
                               "EMAIL": MARK})
def git_author(_scene):
    """GIT_AUTHOR_NAME"""


@vector(STATUS, env=lambda s: {"GIT_NAMESPACE": "x", "LD_PRELOAD": s.out("none.so")},
        fired=lambda s, out: "LD_PRELOAD reached git" if b"cannot be preloaded" in out else None)
def ld_preload(_scene):
    """LD_PRELOAD"""


@vector(Verb("git_add", {"paths": ["*.txt"]}, ("add", "--", "*.txt"), True),
        env=lambda s: {"GIT_LITERAL_PATHSPECS": "1"}, fired=lambda s, out:
        "the pathspec was taken literally" if b"did not match" in out else None)
def git_literal_pathspecs(_scene):
    """GIT_LITERAL_PATHSPECS"""


@vector(COMMIT, env=lambda s: {"GIT_QUARANTINE_PATH": s.outside}, fired=lambda s, out:
        "updates are forbidden" if b"quarantine" in out else None)
def git_quarantine(_scene):
    """GIT_QUARANTINE_PATH"""


# A program called git that the agent can write

FAKES = {".:/usr/bin:/bin": "the current directory", ":/usr/bin:/bin": "an empty entry",
         "bin:/usr/bin:/bin": "a relative directory"}


def fake_git(path, where):
    def test(lab, controls_only):
        def build():
            s = Scene(lab)
            s.write(".gitignore", "git\nbin\n.gitignore\nfired\n")
            for name in ("git", "bin/git"):
                s.script(name, then=f"exec {GIT} \"$@\"")
            return s
        env = lab.env(PATH=path)
        s = build()
        before = snapshot(s.outside)
        control = run(["/bin/sh", "-c", "git status"], env, cwd=s.repo)
        assert general_canary(s, before, control.all), "the control did not run the fake"
        if controls_only:
            return
        s = build()
        expected = lab.git_ok(s.repo, *STATUS.git).decode()
        answer = lab.airlock("git_status", {}, s.repo, env=env, cwd=s.repo)
        assert not os.path.lexists(s.path("fired")) and not os.path.lexists(s.out("fired")), answer
        if answer.kind:
            assert answer.kind == "ExecutionFailed", answer
        else:
            assert answer.body == expected, answer
    test.__doc__ = f"git_status: a git in the repository is not run through {where} in PATH"
    check(test)


for PATH, WHERE in FAKES.items():
    fake_git(PATH, WHERE)


if __name__ == "__main__":
    sys.exit(main())
