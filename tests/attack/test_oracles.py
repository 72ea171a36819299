#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether something outside the roots exists, and what it is, does not show in an answer."""
import os
import sys

from lab import Scene, remove, write
from vectors import COMMIT, LOG, STATUS, check, main

KINDS = ("absent", "a file", "a program", "a configuration", "a directory", "a link")


def make(path, kind):
    if kind == "a file":
        write(path, "no configuration\n")
    elif kind == "a program":
        write(path, "#!/bin/sh\n", 0o755)
    elif kind == "a configuration":
        write(path, "[user]\n\tname = somebody else\n")
    elif kind == "a directory":
        os.makedirs(path)
    elif kind == "a link":
        os.symlink("/nowhere", path)


def same_for_all(sentence, answer_to):
    """answer_to(scene) is the same whatever there is outside, at the path "goal"."""
    def test(lab, controls_only):
        if controls_only:
            return
        answers = {}
        for kind in KINDS:
            s = Scene(lab)
            make(s.out("goal"), kind)
            answers.setdefault(answer_to(s), []).append(kind)
        assert len(answers) == 1, "\n".join(f"{who}: {what}" for what, who in answers.items())
    test.__doc__ = sentence
    check(test)


def oracle(verb, sentence, hostile):
    """The answer is the same whatever hostile(scene, path) points at."""
    def answer_to(s):
        hostile(s, s.out("goal"))
        answer = s.lab.airlock(verb.tool, verb.args, s.repo)
        return answer.kind, answer.text.split("] ", 1)[-1] if verb is COMMIT else answer.text
    same_for_all(f"{verb.tool}: {sentence} tells nothing about what is there", answer_to)


def hook(s, path):
    os.makedirs(s.path(".git/hooks"))
    os.symlink(path, s.path(".git/hooks/pre-commit"))


def hooks_path(s, path):
    s.config("core.hooksPath", os.path.dirname(path))
    if os.path.lexists(path):
        os.rename(path, os.path.join(os.path.dirname(path), "pre-commit"))


def gitfile(s, path):
    remove(s.path(".git"))
    s.write(".git", f"gitdir: {path}\n")


oracle(STATUS, "include.path", lambda s, path: s.config("include.path", path))
oracle(LOG, "includeIf.gitdir", lambda s, path: s.config("includeIf.gitdir:/**.path", path))
oracle(COMMIT, "a hook that is a link", hook)
oracle(COMMIT, "core.hooksPath", hooks_path)
oracle(STATUS, "a .git file", gitfile)
oracle(STATUS, "objects/info/alternates",
       lambda s, path: s.plant(".git/objects/info/alternates", path + "\n"))
oracle(STATUS, ".git/commondir", lambda s, path: s.plant(".git/commondir", path + "\n"))
oracle(STATUS, "core.attributesFile", lambda s, path: s.config("core.attributesFile", path))
oracle(STATUS, "core.excludesFile", lambda s, path: s.config("core.excludesFile", path))
oracle(LOG, "mailmap.file", lambda s, path: s.config("mailmap.file", path))
oracle(COMMIT, "commit.template", lambda s, path: s.config("commit.template", path))


def argument(tool, sentence, args):
    """The same for what an argument names; `args` is made from the path."""
    def answer_to(s):
        os.symlink("../outside/goal", s.path("way"))
        answer = s.lab.airlock(tool, args("../outside/goal"), s.repo)
        linked = s.lab.airlock(tool, args("way"), s.repo)
        return answer.kind, answer.text, linked.kind, linked.text
    same_for_all(f"{tool}: {sentence} tells nothing about what is outside", answer_to)


argument("git_status", "working_dir", lambda path: {"working_dir": path})
argument("git_add", "a path", lambda path: {"paths": [path + "/x"]})
argument("git_diff", "a path", lambda path: {"paths": [path + "/x"]})
argument("git_log", "a path", lambda path: {"path": path + "/x"})
argument("git_diff", "output_dir",
         lambda path: {"from_ref": "HEAD~1", "to_ref": "HEAD", "output_dir": path})


if __name__ == "__main__":
    sys.exit(main())
