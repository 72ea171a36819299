#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Comparing and landing branches: nothing the repository names runs, nothing outside is read or
written, and the attributes of a tree are read as attributes only.  Plain git does it first: its
canary must fire."""
import os

from lab import MARK, SHOUT, Scene, changed, snapshot
from vectors import TESTS, general_canary, main

MERGE = (("git_land", {"branch": "side"}), ("merge", "--no-edit", "side"))
SQUASH = (("git_land", {"branch": "side", "strategy": "squash"}), ("merge", "--squash", "side"))
REBASE = (("git_land", {"branch": "side", "strategy": "rebase"}), ("rebase", "main", "side"))
COMPARE = (("git_compare", {"branches": ["side"]}), ("merge", "--no-edit", "side"))
SHOW = (("git_land", {"branch": "side"}), ("diff", "main", "side"))
SHOW_LOG = (("git_land", {"branch": "side"}), ("log", "-p", "main..side"))


def part(s):
    """main and side change different ends of one file, and one each; main is checked out."""
    s.git("reset", "-q", "--hard")
    s.git("clean", "-q", "-f")
    lines = [f"{n}\n" for n in range(20)]
    s.write("f.txt", "".join(lines))
    s.git("add", "-A")
    s.git("commit", "-q", "-m", "base")
    for branch, at in (("side", 0), ("main", 19)):
        s.git("checkout", "-q", *(["-b", branch] if branch == "side" else [branch]))
        s.write("f.txt", "".join(lines[:at] + [branch + "\n"] + lines[at + 1:]))
        s.write(f"{branch}.txt", branch + "\n")
        s.git("add", "-A")
        s.git("commit", "-q", "-m", branch)


def attack(*verbs, works=True, words=None, approval="allow"):
    """Register a builder: plain git must fire for each verb and airlock must not.

    works     the call succeeds all the same: what the repository asked for has no effect
    words     what a refusal has to say
    approval  "ask": everything that a question shows is made, and nobody can be asked
    """
    def register(build):
        for (tool, args), plain in verbs:
            def test(lab, controls_only, tool=tool, args=args, plain=plain):
                s = Scene(lab)
                part(s)
                build(s)
                before = snapshot(s.outside)
                done = lab.git(s.repo, *plain, env=lab.env(EDITOR=":"))
                assert general_canary(s, before, done.all), f"plain git did not: {done.all}"
                if controls_only:
                    return
                s = Scene(lab)
                part(s)
                build(s)
                before, heads = snapshot(s.outside), s.git("rev-parse", "main", "side")
                answer = lab.airlock(tool, args, s.repo, "--toolset", "parallel", approval=approval)
                why = general_canary(s, before, answer.text.encode())
                assert not why, f"{why}: {answer.text}"
                if approval == "ask":
                    assert answer.kind == "ApprovalRequired", answer.text
                elif works:
                    assert answer.kind is None, answer.text
                assert not words or (answer.kind and words in answer.text), answer.text
                if answer.kind:
                    assert s.git("rev-parse", "main", "side") == heads
            TESTS.append((f"{tool} {args.get('strategy', '')}: {build.__doc__}", test))
        return build
    return register


EVERY = (MERGE, SQUASH, REBASE, COMPARE)


@attack(*EVERY, works=False, words="merge driver 'evil'")
def merge_driver(s):
    """merge.<driver>.driver"""
    s.config("merge.evil.driver", s.canary())
    s.attributes("f.txt merge=evil")


@attack(*EVERY, works=False, words="merge driver 'evil'")
def merge_driver_in_tree(s):
    """merge.<driver>.driver, by an attribute that lies about in the tree"""
    s.config("merge.evil.driver", s.canary())
    s.write(".gitattributes", "* merge=evil\n")


@attack(MERGE, SQUASH, COMPARE, works=False, words="merge driver 'evil'")
def merge_driver_of_ours(s):
    """merge.<driver>.driver, by a committed attribute of the branch that is landed in"""
    s.config("merge.evil.driver", s.canary())
    s.write(".gitattributes", "* merge=evil\n")
    s.git("add", ".gitattributes")
    s.git("commit", "-q", "-m", "attributes")


@attack(*EVERY)
def merge_default(s):
    """merge.default, a driver for every file"""
    s.config("merge.evil.driver", s.canary())
    s.config("merge.default", "evil")


@attack(MERGE, SQUASH, works=False, words="filter 'evil'")
def filter_smudge(s):
    """filter.<driver>.smudge of a file that comes in"""
    s.config("filter.evil.smudge", s.canary("cat"))
    s.attributes("side.txt filter=evil")


@attack(MERGE, COMPARE, works=False)
def filter_clean_renormalize(s):
    """filter.<driver>.clean that a merge runs to compare, by merge.renormalize"""
    s.config("filter.evil.clean", s.canary("cat"))
    s.config("merge.renormalize", "true")
    s.attributes("f.txt filter=evil")


@attack(MERGE, SQUASH, REBASE)
def fsmonitor(s):
    """core.fsmonitor"""
    s.config("core.fsmonitor", s.script(then="exit 1"))


@attack(MERGE)
def sign(s):
    """commit.gpgSign with gpg.program"""
    s.config("commit.gpgSign", "true")
    s.config("gpg.program", s.script(then="exit 1"))


@attack(MERGE)
def merge_hook(s):
    """the hook post-merge"""
    s.hook("post-merge")


@attack(MERGE, SQUASH, REBASE)
def transaction_hook(s):
    """the hook reference-transaction"""
    s.hook("reference-transaction")


@attack(MERGE, SQUASH)
def index_hook(s):
    """the hook post-index-change"""
    s.hook("post-index-change")


@attack(MERGE)
def hooks_path(s):
    """core.hooksPath"""
    s.script("hooks/post-merge")
    s.config("core.hooksPath", s.path("hooks"))


@attack(SHOW, approval="ask")
def external_diff(s):
    """diff.external, in what the user is shown"""
    s.config("diff.external", s.script())


@attack(SHOW, approval="ask")
def textconv(s):
    """diff.<driver>.textconv, in what the user is shown"""
    s.config("diff.evil.textconv", s.script(then="cat"))
    s.attributes("* diff=evil")


@attack(SHOW_LOG, approval="ask")
def show_signature(s):
    """log.showSignature, in what the user is shown"""
    commit = s.git("cat-file", "commit", "side")
    head, _, message = commit.partition("\n\n")
    signed = (f"{head}\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n "
              f"-----END PGP SIGNATURE-----\n\n{message}\n")
    made = s.git("hash-object", "-t", "commit", "-w", "--stdin", stdin=signed.encode())
    s.git("update-ref", "refs/heads/side", made)
    s.config("log.showSignature", "true")
    s.config("gpg.program", s.script(then="exit 1"))


def odd_tree(lab, controls_only):
    """git_compare: names of a tree lead nowhere, and a link is no attribute file"""
    if controls_only:
        return
    s = Scene(lab)
    part(s)
    blob = s.git("hash-object", "-w", "--stdin", stdin=b"f.txt merge=union\n")
    link = s.git("hash-object", "-w", "--stdin", stdin=os.fsencode(s.out("secret")))
    file = s.git("rev-parse", "main:f.txt")

    def tree(*lines):
        return s.git("mktree", "-z", stdin=b"".join(line.encode() + b"\0" for line in lines))

    attributes = f"100644 blob {blob}\t.gitattributes"
    up = tree(attributes)
    for _ in range(12):
        up = tree(f"040000 tree {up}\t..")
    entries = {
        "up": (f"040000 tree {up}\t..", f"100644 blob {file}\tf.txt"),
        "dot": (f"040000 tree {tree(attributes)}\t.", f"100644 blob {file}\tf.txt"),
        "link": (f"120000 blob {link}\t.gitattributes", f"100644 blob {file}\tf.txt"),
        "sub": (f"160000 commit {s.git('rev-parse', 'main')}\t.gitattributes",
                f"100644 blob {file}\tf.txt"),
        "dir": (f"040000 tree {tree(attributes)}\t.gitattributes", f"100644 blob {file}\tf.txt"),
    }
    for name, lines in entries.items():
        commit = s.git("commit-tree", "-p", "main", "-m", name, tree(*lines))
        s.git("update-ref", f"refs/heads/{name}", commit)
    before, state = snapshot(s.outside), snapshot(lab.home)
    for name in entries:
        for into in ("side", name):
            answer = lab.airlock("git_compare", {"branches": [name if into == "side" else "side"],
                                                 "into": into}, s.repo, "--toolset", "parallel")
            assert MARK not in answer.text, answer.text
    assert not changed(before, snapshot(s.outside))
    grown = [name for name in changed(state, snapshot(lab.home)) if "gitattributes" in name]
    assert not grown, grown


TESTS.append((odd_tree.__doc__, odd_tree))


def leaks(lab, controls_only):
    """git_compare: files outside that the configuration names are not read"""
    s = Scene(lab)
    part(s)
    s.config("core.attributesFile", s.out("secret"))
    done = lab.git(s.repo, "merge", "--no-edit", "side")
    assert MARK in done.all.decode(errors="replace") or done.rc == 0
    if controls_only:
        return
    s = Scene(lab)
    part(s)
    for key in ("core.attributesFile", "mailmap.file", "commit.template", "diff.orderFile"):
        s.config(key, s.out("secret"))
    s.link(".git/info/attributes", s.out("secret"))
    answer = lab.airlock("git_compare", {"branches": ["side"]}, s.repo, "--toolset", "parallel")
    assert MARK not in answer.text, answer.text
    assert SHOUT not in answer.text


TESTS.append((leaks.__doc__, leaks))

if __name__ == "__main__":
    main()
