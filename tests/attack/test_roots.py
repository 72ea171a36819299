#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Roots and audit files that would let an agent reach airlock's own state are refused at start."""
import os
import sys

from lab import Scene, run, snapshot, write
from vectors import check, main


class Place:
    """A home of its own beside a repository, so that every state file has a known place."""

    def __init__(self, lab):
        self.lab = lab
        self.scene = Scene(lab)
        self.repo = self.scene.repo
        self.top = self.scene.top
        self.home = os.path.join(self.top, "me")
        write(os.path.join(self.home, ".gitconfig"), "[user]\n\tname = x\n\temail = x@y\n")

    def start(self, root, *options, **env):
        words = [self.lab.binary, "call", "--root", root, "--toolset", "git", *options,
                 "git_status", "{}"]
        return run(words, self.lab.env(HOME=self.home, **env))


def refused_root(sentence, root, *options, **env):
    """Exit 2 with a line that says why; nothing was answered, nothing written."""
    def test(lab, controls_only):
        if controls_only:
            return
        place = Place(lab)
        os.symlink(place.home, os.path.join(place.top, "link"))
        os.symlink("/", os.path.join(place.top, "slash"))
        expand = lambda text: text.format(top=place.top, home=place.home, repo=place.repo)
        before = snapshot(place.repo)
        done = place.start(expand(root), *map(expand, options),
                           **{k: expand(v) for k, v in env.items()})
        assert done.rc == 2, done
        assert not done.out and done.err.strip(), done
        assert before == snapshot(place.repo), "something was written"
    test.__doc__ = f"exit 2: {sentence}"
    check(test)


def accepted_root(sentence, root, *options, **env):
    def test(lab, controls_only):
        if controls_only:
            return
        place = Place(lab)
        expand = lambda text: text.format(top=place.top, home=place.home, repo=place.repo)
        os.makedirs(os.path.join(place.home, "src"))
        os.rename(place.repo, os.path.join(place.home, "src/repo"))
        os.symlink(os.path.join(place.home, "src/repo"), os.path.join(place.top, "way"))
        done = place.start(expand(root), *map(expand, options),
                           **{k: expand(v) for k, v in env.items()})
        assert done.rc == 0 and done.out.startswith(b"## main\n"), done
    test.__doc__ = f"exit 0: {sentence}"
    check(test)


refused_root("the root directory as a root", "/")
refused_root("the root directory by another name", "/proc/self/root")
refused_root("the root directory with dots", "{repo}/../../../../../../../../..")
refused_root("the root directory through a link", "{top}/slash")
refused_root("the home directory as a root", "{home}")
refused_root("the home directory with a slash", "{home}/")
refused_root("the home directory through a link", "{top}/link")
refused_root("a parent of the home directory", "{top}")
refused_root("airlock's state directory as a root", "{home}/.local/state")
refused_root("a root that contains the journal", "{repo}", XDG_STATE_HOME="{repo}/state")
refused_root("a root that is the state home", "{repo}", XDG_STATE_HOME="{repo}")
refused_root("a root that contains the configuration", "{repo}", XDG_CONFIG_HOME="{repo}/config")
refused_root("a second root that is refused", "{repo}", "--root", "{home}")
refused_root("an audit file inside the root", "{repo}", "--audit", "{repo}/audit.jsonl")
refused_root("an audit file deeper in the root", "{repo}", "--audit", "{repo}/d/audit.jsonl")
refused_root("an audit file in .git", "{repo}", "--audit", "{repo}/.git/audit.jsonl")
refused_root("an audit file inside the second root", "{repo}", "--root", "{top}/outside", "--audit",
             "{top}/outside/audit.jsonl")
refused_root("a root that does not exist", "{top}/none")
refused_root("a root that is a file", "{top}/outside/secret")
accepted_root("a repository below the home directory", "{home}/src/repo")
accepted_root("a root through a link", "{top}/way")
accepted_root("an audit file beside the root", "{home}/src/repo", "--audit", "{top}/audit.jsonl")
accepted_root("an audit file in a directory whose name begins like the root's", "{home}/src/repo",
              "--audit", "{home}/src/repo-audit.jsonl")
accepted_root("a state home whose name begins like the root's", "{home}/src/repo",
              XDG_STATE_HOME="{home}/src/repo-state")


@check
def audit_through_link(lab, controls_only):
    """exit 2: an audit file that a link leads into the root"""
    if controls_only:
        return
    place = Place(lab)
    os.symlink(place.repo, os.path.join(place.top, "to-repo"))
    done = place.start(place.repo, "--audit", place.top + "/to-repo/audit.jsonl")
    assert done.rc == 2 and not os.path.exists(place.repo + "/audit.jsonl"), done


@check
def audit_is_a_link(lab, controls_only):
    """an audit file that is itself a link into the root is not written through"""
    if controls_only:
        return
    place = Place(lab)
    os.symlink(place.repo + "/audit.jsonl", os.path.join(place.top, "audit.jsonl"))
    done = place.start(place.repo, "--audit", place.top + "/audit.jsonl")
    assert done.rc or b"journal cannot be written" in done.err, done
    assert not os.path.lexists(place.repo + "/audit.jsonl"), done


@check
def configuration_in_root(lab, controls_only):
    """a configuration inside a root is not airlock's"""
    if controls_only:
        return
    place = Place(lab)
    text = '[tools.git]\nenabled = false\n[tools.approval]\nmode = "allow"\n'
    for name in ("airlock.toml", "config.toml", ".config/airlock/config.toml", ".airlock.toml"):
        write(place.repo + "/" + name, text)
    words = [lab.binary, "call", "--root", place.repo, "--toolset", "git", "--json", "git_add",
             '{"all": true}']
    done = run(words, lab.env(HOME=place.home), cwd=place.repo)
    assert done.rc == 3 and b"ApprovalRequired" in done.out, done


if __name__ == "__main__":
    sys.exit(main())
