#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""airlock git: no vector that plain git falls for gets through when the same words are given to it.

The vectors are those of the tools; the control is plain git with the same words.
"""
import os
import subprocess
import sys

# pylint: disable=unused-import
import test_environment
import test_filters
import test_gitdir
import test_leaks
import test_limits
import test_programs
import vectors
from hostile import sub_filter, sub_fsmonitor
from lab import Run, run, snapshot
from vectors import Case, general_canary

#: A helper that runs what the address says, and a remote that is this repository.
EXT = {"protocol.ext.allow": "always"}
HERE = {"remote.origin.url": ".", "remote.origin.fetch": "+refs/heads/*:refs/remotes/origin/*"}

BESIDE = {"remote.origin.url": "beside.git"}

def fetched(where, settings, has_files=False):
    """A submodule sm that is to be fetched from hub, and settings of the repository or of sm."""
    def build(scene):
        canary, script = scene.canary("cat"), scene.script()
        hub = scene.path("hub")
        scene.git("init", "-q", "-b", "main", "--template=", hub)
        scene.write("hub/f.txt", "f\n")
        scene.git("-C", hub, "add", "f.txt")
        scene.git("-C", hub, "commit", "-q", "-m", "sub")
        if has_files:
            scene.git("clone", "-q", hub, scene.path("sm"))
            scene.git("-C", hub, "commit", "-q", "--allow-empty", "-m", "further")
            scene.write("hub/f.txt", "g\n")
            scene.git("-C", hub, "commit", "-qam", "further")
        scene.git("update-index", "--add", "--cacheinfo", "160000," + scene.git("-C", hub, "rev-parse", "HEAD") + ",sm")
        scene.write(".gitmodules", '[submodule "sm"]\n\tpath = sm\n\turl = ./hub\n')
        scene.git("add", ".gitmodules")
        scene.git("commit", "-q", "-m", "with a submodule")
        scene.config("submodule.sm.url", "./hub" if has_files else hub)
        for hook in HOOKS:
            scene.script(f"tools/hooks/{hook}")
        values = {"canary": canary, "script": script, "hooks": scene.path("tools/hooks"), "tools": scene.path("tools")}
        for key, value in settings.items():
            scene.git("-C", scene.path(where), "config", key, value.format(**values))
        if has_files:
            scene.plant("sm/.git/info/attributes", "* filter=x\n")
    build.__doc__ = f"{where}: {settings}"
    return build


#: What plain git needs to fetch from a path.
FILE = ("-c", "protocol.file.allow=always")
UPDATE = ("submodule", "update", "--init", "--recursive")

#: More that runs a program with plain git: words, settings, attributes.
MORE = (
    (("blame", "a.txt"), {"diff.x.textconv": "{canary}"}, "* diff=x"),
    (("show", "HEAD"), {"diff.x.textconv": "{canary}"}, "* diff=x"),
    (("stash",), {"core.hooksPath": "{hooks}"}, ""),
    (("stash",), {"filter.x.clean": "{canary}"}, "* filter=x"),
    (("checkout", "--", "a.txt"), {"filter.x.smudge": "{canary}"}, "* filter=x"),
    (("checkout", "-f", "HEAD~1"), {"core.hooksPath": "{hooks}"}, ""),
    (("reset", "--hard", "HEAD~1"), {"core.hooksPath": "{hooks}"}, ""),
    (("commit", "-am", "x"), {"core.hooksPath": "{hooks}"}, ""),
    (("commit", "-am", "x"), {"commit.gpgSign": "true", "gpg.program": "{script}"}, ""),
    (("commit", "-am", "x"), {"core.fsmonitor": "{script}"}, ""),
    (("tag", "-m", "x", "v9"), {"tag.gpgSign": "true", "gpg.program": "{script}"}, ""),
    (("log", "-1", "--format=%G?"), {"gpg.program": "{script}", "log.showSignature": "true"}, ""),
    (("archive", "--format=evil", "HEAD"), {"tar.evil.command": "{canary}"}, ""),
    (("evil",), {"alias.evil": "!{canary}"}, ""),
    (("rebase", "--exec", "{canary}", "HEAD~1"), {}, ""),
    (("-c", "core.fsmonitor={script}", "status"), {}, ""),
    (("-c", "alias.x=!{canary}", "x"), {}, ""),
    (("grep", "-O{script}", "one"), {}, ""),
    (("diff", "--ext-diff"), {"diff.x.command": "{canary}"}, "* diff=x"),
    (("difftool", "-y", "-t", "evil"), {"difftool.evil.cmd": "{canary}"}, ""),
    (("ls-remote", "ext::{script}"), {"protocol.ext.allow": "always"}, ""),
    (("fetch", "ext::{script}"), EXT, ""),
    (("fetch", "origin"), EXT | {"remote.origin.url": "ext::{script}"}, ""),
    (("fetch", "origin"), EXT | {"remote.origin.url": "a", "url.ext::{script} .insteadOf": "a"}, ""),
    (("fetch", "origin"), EXT | {"remote.origin.url": "{script}", "remote.origin.vcs": "ext"}, ""),
    (("fetch", "--upload-pack={canary}", "origin"), HERE, ""),
    (("fetch", "--upload-p={canary}", "origin"), HERE, ""),
    (("fetch", "--upload-pack", "{canary}", "origin"), HERE, ""),
    (("fetch", "origin"), HERE | {"remote.origin.uploadpack": "{canary}"}, ""),
    (("fetch",), HERE | {"remote.origin.uploadpack": "{canary}"}, ""),
    (("fetch", "--all"), HERE | {"remote.origin.uploadpack": "{canary}"}, ""),
    (("fetch", "--multiple", "origin"), HERE | {"remote.origin.uploadpack": "{canary}"}, ""),
    (("remote", "update"), HERE | {"remote.origin.uploadpack": "{canary}"}, ""),
    (("fetch", "origin"), {"remote.origin.url": "a:b", "core.sshCommand": "{canary};"}, ""),
    (("-c", "core.sshCommand={canary};", "fetch", "origin"), {"remote.origin.url": "a:b"}, ""),
    (("fetch", "origin"), {"remote.origin.url": "git://a/b", "core.gitProxy": "{script}"}, ""),
    (("fetch", "--refmap", "+x:y", "origin"), HERE | {"remote.origin.uploadpack": "{canary}"}, ""),
    (("fetch", "origin"), HERE | {"core.hooksPath": "{hooks}"}, ""),
    (("ls-remote", "--upload-pack={canary}", "origin"), HERE, ""),
    (("ls-remote", "--exec={canary}", "."), {}, ""),
    (("ls-remote", "--sort", "refname"), HERE | {"remote.origin.uploadpack": "{canary}"}, ""),
    (("ls-remote",), HERE | {"remote.origin.uploadpack": "{canary}"}, ""),
    (("pull", "--upload-pack={canary}", "origin", "HEAD"), HERE, ""),
    (("pull", "origin", "HEAD"), HERE | {"remote.origin.uploadpack": "{canary}"}, ""),
    (("pull",), HERE | {"remote.origin.uploadpack": "{canary}"}, ""),
    (("pull", "origin", "HEAD"), EXT | {"remote.origin.url": "ext::{script}"}, ""),
    (("pull", "-s", "evil", "origin", "HEAD"), HERE | {"remote.origin.uploadpack": "{canary}"}, ""),
    (("clone", "--upload-pack={canary}", ".", "copy"), {}, ""),
    (("clone", "-u", "{canary}", ".", "copy"), {}, ""),
    (("push", "origin", "HEAD"), BESIDE | {"core.hooksPath": "{hooks}"}, ""),
    (("push", "origin", "new"), BESIDE | {"remote.origin.receivepack": "{canary}"}, ""),
    (("push", "--receive-pack={canary}", "origin", "new"), BESIDE, ""),
    (("push", "--exec={canary}", "origin", "new"), BESIDE, ""),
    (("push", "--receive", "{canary}", "origin", "new"), BESIDE, ""),
    (("push", "origin", "new"), EXT | {"remote.origin.url": "ext::{script}"}, ""),
    (("push", "ext::{script}", "new"), EXT | HERE, ""),
    (("push", "origin", "new"), EXT | {"remote.origin.url": "a", "url.ext::{script} .pushInsteadOf": "a"}, ""),
    (("push", "origin", "new"), EXT | HERE | {"remote.origin.pushurl": "ext::{script}"}, ""),
    (("push", "origin", "new"), {"remote.origin.url": "a:b", "core.sshCommand": "{canary};"}, ""),
    (("push", "--signed", "origin", "new"), BESIDE | {"gpg.program": "{script}"}, ""),
    (("push", "-u", "origin", "new"), BESIDE | {"core.hooksPath": "{hooks}"}, ""),
    (("ls-remote", "-q", "a:b"), {"core.sshCommand": "{canary};"}, ""),
    (("update-ref", "refs/heads/x", "HEAD"), {"core.hooksPath": "{hooks}"}, ""),
    (("worktree", "add", "-f", "tree", "HEAD"), {"core.hooksPath": "{hooks}"}, ""),
    (("gc",), {"gc.recentObjectsHook": "{canary}", "core.hooksPath": "{hooks}"}, ""),
    (("submodule", "foreach", "{canary}"), {}, ""),
    (("hash-object", "-w", "--path=a.txt", "a.txt"), {"filter.x.clean": "{canary}"}, "* filter=x"),
    (("cat-file", "--filters", "HEAD:a.txt"), {"filter.x.smudge": "{canary}"}, "* filter=x"),
    (("merge", "-s", "evil", "HEAD~1"), {}, ""),
    (("add", "."), sub_fsmonitor, ""),
    (("add", "-A"), sub_filter, ""),
    (("rm", "sm"), sub_fsmonitor, ""),
    (("rm", "-rf", "."), sub_fsmonitor, ""),
    (("rm", "--cached", "sm"), sub_fsmonitor, ""),
    (FILE + UPDATE, fetched(".", {"submodule.sm.update": "!{canary}"}), ""),
    (FILE + UPDATE, fetched(".", {"submodule.sm.update": "!{canary}"}, True), ""),
    (("-c", "protocol.ext.allow=always") + UPDATE, fetched(".", {"submodule.sm.url": "ext::{script}"}), ""),
    (FILE + UPDATE, fetched("sm", {"remote.origin.uploadpack": "{canary}"}, True), ""),
    (FILE + UPDATE, fetched("sm", {"core.fsmonitor": "{canary}"}, True), ""),
    (FILE + UPDATE, fetched("sm", {"core.hooksPath": "{hooks}"}, True), ""),
    (FILE + UPDATE, fetched("sm", {"filter.x.smudge": "{canary}"}, True), ""),
    (UPDATE, fetched("sm", EXT | {"remote.origin.url": "ext::{script}"}, True), ""),
    (FILE + ("submodule", "update", "--remote", "sm"), fetched("sm", {"remote.origin.uploadpack": "{canary}"}, True), ""),
    (("submodule", "add", "ext::{script}", "x"), EXT, ""),
    (("submodule", "add", "a", "x"), EXT | {"url.ext::{script} .insteadOf": "a"}, ""),
)

HOOKS = ("pre-commit", "post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc",
         "pre-push", "commit-msg", "prepare-commit-msg", "post-commit", "fsmonitor-watchman", "post-rewrite")

#: Who commits and how paths are read is the shell's; what airlock itself is loaded with is not git's.
COUNTS = ("GIT_AUTHOR_NAME", "GIT_LITERAL_PATHSPECS", "LD_PRELOAD")

#: Where plain git of this version, or on this machine, does not run it either.
QUIET = {"push --signed", "rebase", "ls-remote", "gc", "submodule foreach", "submodule add", "merge", "log", "rm --cached"}


def airlock(lab, scene, words, env, terminal):
    """airlock git with these words, as plain git had them."""
    argv = [lab.binary, "git", *words]
    return on_terminal(argv, env, scene.repo) if terminal else run(argv, env, cwd=scene.repo)


def on_terminal(argv, env, where):
    """The same with a terminal for output, without which git starts no pager."""
    ours, theirs = os.openpty()
    with open(ours, "rb", buffering=0) as screen:
        with subprocess.Popen(argv, env=env, cwd=where, stdin=subprocess.DEVNULL, stdout=theirs,
                              stderr=theirs) as child:
            os.close(theirs)
            seen = b""
            try:
                while piece := screen.read(4096):
                    seen += piece
            except OSError:
                pass
            return Run(rc=child.wait(540), out=seen, err=b"")


def corpus(case):
    """A vector of the tools, with the words of its control given to airlock git."""
    def test(lab, controls_only):
        if case.fires:
            case._control(lab)  # pylint: disable=protected-access
        if controls_only:
            return
        scene, before, _ = case._prepare(lab, True)  # pylint: disable=protected-access
        done = airlock(lab, scene, case.control, lab.env(**case.env(scene)), case.terminal)
        why = case._why(scene, before, done.all)  # pylint: disable=protected-access
        assert not why, f"got through: {why}: rc {done.rc}: {done.all.decode(errors='replace')[:800]}"
    return test


def allowing(lab):
    """Where the configuration is that answers every question with yes."""
    where = os.path.join(lab.home, "allowing")
    os.makedirs(os.path.join(where, "airlock"), exist_ok=True)
    with open(os.path.join(where, "airlock/config.toml"), "w", encoding="ascii") as f:
        f.write('[[tools.approval.rule]]\ndecision = "allow"\ntool = "git"\n')
    return where


def more(words, settings, attributes):
    def build(lab, scene):
        canary, script = scene.canary(), scene.script()
        if not callable(settings) and "remote.origin.url" in settings:
            lab.git(scene.repo, "init", "-q", "--bare", "beside.git")
            lab.git(scene.repo, "branch", "new")
        for hook in HOOKS:
            scene.script(f"tools/{hook}")
        where = {"canary": canary, "script": script, "hooks": scene.path("tools")}
        if callable(settings):
            settings(scene)
        for key, value in {} if callable(settings) else settings.items():
            scene.config(key.format(**where), value.format(**where))
        if attributes:
            scene.attributes(attributes)
        return [word.format(**where) for word in words]

    def test(lab, controls_only):
        scene = vectors.Scene(lab, True)
        line = build(lab, scene)
        before = snapshot(scene.outside)
        done = lab.git(scene.repo, *line)
        assert words[0] in QUIET or " ".join(words[:2]) in QUIET or general_canary(scene, before, done.all), \
            f"the control did not fire: {done.all.decode(errors='replace')[:400]}"
        if controls_only:
            return
        scene = vectors.Scene(lab, True)
        line = build(lab, scene)
        before = snapshot(scene.outside)
        done = airlock(lab, scene, line[2:] if words[1:] and words[1].startswith("protocol.") else line, lab.env(XDG_CONFIG_HOME=allowing(lab)), False)
        why = general_canary(scene, before, done.all.replace(scene.canary().encode(), b""))
        assert not why, f"got through: {why}: {done.all.decode(errors='replace')[:400]}"
    return test


def main():
    cases = [(name, test.__self__) for name, test in vectors.TESTS
             if isinstance(getattr(test, "__self__", None), Case) and not name.endswith(COUNTS)]
    vectors.TESTS[:] = [(f"git {' '.join(case.control)}: {name}", corpus(case))
                        for name, case in cases]
    vectors.TESTS += [(f"git {' '.join(words)}: {getattr(settings, '__doc__', None) if callable(settings) else settings} {attributes}",
                       more(words, settings, attributes)) for words, settings, attributes in MORE]
    return vectors.main()


if __name__ == "__main__":
    sys.exit(main())
