#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Huge configurations, other users' repositories, odd places, and roots that are none."""
import os
import sys

from lab import MARK, Scene, changed, choose_toolsets, remove, snapshot, write
from vectors import (ADD_ALL, COMMIT, DIFF, FIVE, LOG, OUTSIDE, STATUS, Skip, check, expect_refused,
                     general_canary, head_commit, main, refused, vector)


def check_named(test, sentence):
    test.__doc__ = sentence
    check(test)


# Configuration without end

def drivers(count, accepted):
    def test(lab, controls_only):
        s = Scene(lab)
        s.attributes(*(f"a.txt diff=d{n}" for n in (0, count - 1)))
        s.raw_config("".join(f'[diff "d{n}"]\n\tcommand = {s.path(".git/canary")}\n'
                             for n in range(count)))
        s.script()
        before = snapshot(s.outside)
        control = lab.git(s.repo, "diff")
        assert general_canary(s, before, control.all), "the control did not run the last driver"
        if controls_only:
            return
        for name in ("fired", ".git/fired"):
            remove(s.path(name))
        remove(s.out("fired"))
        expected = lab.git_ok(lab.template, "diff").decode()
        answer = lab.airlock("git_diff", {}, s.repo)
        assert not general_canary(s, before, answer.text.encode()), answer
        if accepted:
            assert answer.kind is None and answer.body == expected, answer.text[:500]
        else:
            expect_refused(answer, refused("ExecutionFailed", "SandboxViolation"))
    check_named(test, f"git_diff: a configuration with {count} driver keys is "
                      + ("overridden key by key" if accepted else "refused"))


for COUNT, ACCEPTED in ((999, True), (1000, True), (1001, False), (20000, False)):
    drivers(COUNT, ACCEPTED)


@vector(STATUS, DIFF)
def many_sections(s):
    """200,000 harmless sections with one program behind them"""
    s.raw_config("".join(f'[branch "b{n}"]\n\tdescription = x\n' for n in range(200000)))
    s.config("core.fsmonitor", s.canary())


@vector(STATUS, LOG, quiet=(ADD_ALL,))
def long_lines(s):
    """a value of a mebibyte and a section name of 60 kB, with a program behind them"""
    s.raw_config(f'[x "{"y" * 60000}"]\n\tz = {"v" * (1 << 20)}\n')
    s.config("core.fsmonitor", s.canary())
    s.config("log.showSignature", "true")
    s.config("gpg.program", s.script())
    raw = s.git("cat-file", "commit", "HEAD")
    head, _, message = raw.partition("\n\n")
    signature = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----"
    s.git("update-ref", "HEAD", s.git("hash-object", "-t", "commit", "-w", "--stdin",
                                      stdin=f"{head}\n{signature}\n\n{message}\n".encode()))


@check
def alternates_fan_out(lab, controls_only):
    """git_status: alternates that name one another a hundred times each cost nothing"""
    s = Scene(lab)
    place = ".git/objects"
    for n in range(5):
        s.plant(f"store{n}/info/x", "")
        s.plant(place + "/info/alternates", (s.path(f"store{n}") + "\n") * 100)
        place = f"store{n}"
    expected = lab.git_ok(s.repo, *STATUS.git).decode()
    if controls_only:
        return
    answer = lab.airlock("git_status", {"timeout_ms": 20000}, s.repo)
    assert answer.kind == "SandboxViolation" or answer.body == expected, answer


@check
def message_like_a_lock(lab, controls_only):
    """git_add: a path whose name reads like git's message about a lock is no lock"""
    s = Scene(lab)
    name = "index.lock': File exists"
    control = lab.git(s.repo, "add", "--", name)
    assert control.rc == 128 and name.encode() in control.err, control
    if controls_only:
        return
    answer = lab.airlock("git_add", {"paths": [name], "timeout_ms": 2000}, s.repo)
    expect_refused(answer, refused("ExecutionFailed", words=("did not match any files",)))


# Another user's repository

def foreign(what):
    """A scene whose part `what` belongs to uid 12345."""
    if os.getuid() != 0:
        raise Skip("only root can make another user's repository")

    def build(lab):
        s = Scene(lab)
        tops = [s.path(".git")] if what == "git directory" else [s.repo]
        if what == "worktree":
            os.chown(s.repo, 12345, 12345)
            return s
        for top in tops:
            os.chown(top, 12345, 12345)
            for folder, names, files in os.walk(top):
                for name in names + files:
                    os.chown(os.path.join(folder, name), 12345, 12345, follow_symlinks=False)
        return s
    return build


def ownership(what):
    def test(lab, controls_only):
        s = foreign(what)(lab)
        for verb in FIVE:
            control = lab.git(s.repo, *verb.git)
            assert control.rc, f"git {verb.git} does not mind"
        if controls_only:
            return
        before = snapshot(s.repo)
        for verb in FIVE:
            answer = lab.airlock(verb.tool, verb.args, s.repo)
            expect_refused(answer, refused("SandboxViolation", words=("safe.directory",)))
        s.config("safe.directory", s.repo)
        expect_refused(lab.airlock("git_status", {}, s.repo), OUTSIDE)
        write(s.path(".git/config"), before[b".git/config"][1])
        assert not changed(before, snapshot(s.repo)), changed(before, snapshot(s.repo))
        for value in (s.repo, "*"):
            env = own_home(lab, f"[safe]\n\tdirectory = {value}\n")
            expected = lab.git(s.repo, *STATUS.git, env=env)
            assert expected.rc == 0, expected
            answer = lab.airlock("git_status", {}, s.repo, env=env)
            assert answer.kind is None and answer.body == expected.out.decode(), answer
        env = own_home(lab, f"[safe]\n\tdirectory = {s.repo}\n\tdirectory =\n")
        assert lab.git(s.repo, *STATUS.git, env=env).rc, "an empty value does not clear the list"
        expect_refused(lab.airlock("git_status", {}, s.repo, env=env), OUTSIDE)
        env = own_home(lab, f"[safe]\n\tdirectory = {s.outside}\n")
        expect_refused(lab.airlock("git_status", {}, s.repo, env=env), OUTSIDE)
    check_named(test, f"all five: another uid's {what} needs the user's safe.directory")


def own_home(lab, config):
    home = os.path.join(lab.top, "home2")
    write(os.path.join(home, ".gitconfig"), config)
    choose_toolsets(home)
    return lab.env(HOME=home)


for PART in ("repository", "git directory", "worktree"):
    ownership(PART)


# Odd places

PLACES = {"a space": "my repo", "quotes": "a'b\"c`d$(touch x)", "a newline": "a\nb",
          "a backslash": "a\\b\\", "a colon": "a:b", "a leading dash": "--all",
          "a pathspec": ":(top)*", "a hash": "a#b;c", "a name not in UTF-8": "caf\udce9"}


def place(what, name):
    def test(lab, controls_only):
        def build(armed):
            s = Scene(lab, armed, name)
            s.script("tool")
            s.git("config", "core.excludesFile", "")
            write(s.path(".git/info/exclude"), "tool\nfired\n")
            s.config("core.fsmonitor", "./tool")
            return s
        s = build(True)
        before = snapshot(s.outside)
        assert general_canary(s, before, lab.git(s.repo, "status").all), "the control is silent"
        if controls_only:
            return
        clean = build(False)
        answers = [lab.git_ok(clean.repo, *v.git).decode() for v in FIVE]
        commit = head_commit(clean)
        s = build(True)
        for verb, expected in zip(FIVE, answers):
            answer = lab.airlock(verb.tool, verb.args, s.repo)
            why = general_canary(s, before, answer.text.encode())
            assert not why and answer.kind is None, f"{why}: {answer}"
            if not verb.writes:
                assert answer.body == expected, f"{expected}\n{answer.text}"
        assert head_commit(s) == commit
    check_named(test, f"all five: a repository whose path has {what}")


for PLACE in PLACES.items():
    place(*PLACE)


@check
def linked_worktree(lab, controls_only):
    """all five: a linked worktree inside the root or as a root works, its hostile configuration
    does not"""
    def build(armed):
        s = Scene(lab, armed)
        s.git("worktree", "add", "-q", "-b", "side", s.path("side"))
        s.write("side/a.txt", "one\nchanged\n")
        s.write("side/n.txt", "n\n")
        s.config("core.fsmonitor", s.canary())
        return s
    s = build(True)
    before = snapshot(s.outside)
    control = lab.git(s.path("side"), "status")
    assert general_canary(s, before, control.all), "the control is silent"
    if controls_only:
        return
    clean = build(False)
    answers = [lab.git_ok(clean.path("side"), *v.git).decode() for v in FIVE]
    commit = head_commit(clean, "refs/heads/side")
    s = build(True)
    for verb, expected in zip(FIVE, answers):
        answer = lab.airlock(verb.tool, {**verb.args, "working_dir": "side"}, s.repo)
        why = general_canary(s, before, answer.text.encode())
        assert not why and answer.kind is None, f"{verb.tool}: {why}: {answer}"
        if not verb.writes:
            assert answer.body == expected, f"{expected}\n{answer.text}"
    assert head_commit(s, "refs/heads/side") == commit
    s = build(True)
    for verb, expected in zip(FIVE, answers):
        answer = lab.airlock(verb.tool, verb.args, s.path("side"))
        why = general_canary(s, before, answer.text.encode())
        assert not why and answer.kind is None, f"{verb.tool}: {why}: {answer}"
        if not verb.writes:
            assert answer.body == expected, f"{expected}\n{answer.text}"
    answer = lab.airlock("git_add", {"paths": [s.path("a.txt")]}, s.path("side"))
    expect_refused(answer, OUTSIDE)


@check
def repository_above(lab, controls_only):
    """all five: a root below the top of its repository is refused, and shows nothing of it"""
    s = Scene(lab)
    s.git("branch", "-m", MARK)
    os.mkdir(s.path("d/deep"))
    assert MARK.encode() in lab.git(s.path("d/deep"), "status", "-b").out
    if controls_only:
        return
    for verb in (STATUS, DIFF, LOG, ADD_ALL, COMMIT):
        for root in ("d", "d/deep"):
            expect_refused(lab.airlock(verb.tool, verb.args, s.path(root)), OUTSIDE)


if __name__ == "__main__":
    sys.exit(main())
