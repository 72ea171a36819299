#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Answers are what is in the repository: no terminal escapes, no disguise, no forged history."""
import re
import sys

from lab import Scene, run
from vectors import (ADD_ALL, DIFF, DIFF_REFS, LOG, STATUS, STATUS_LONG, Verb, check, main,
                     refused, vector)

ESC, CSI8, RLO, ZWSP = "\x1b", "\u009b", "\u202e", "\u200b"
SEQUENCE = re.compile(r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"
                      r"|\x1b[ -/]*[0-~]")
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
HIDDEN = re.compile("[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")


def tidy(text):
    """What a user may be shown of `text`."""
    text = CONTROL.sub("", SEQUENCE.sub("", text))
    return HIDDEN.sub(lambda m: f"<U+{ord(m.group()):04X}>", text)


def unsafe(_scene, output):
    text = output.decode(errors="replace")
    found = CONTROL.search(text) or HIDDEN.search(text)
    return f"{found.group()!r} is in the answer" if found else None


def has(word):
    return lambda s, out: f"{word} is in the answer" if word.encode() in out else None


def lacks(word):
    return lambda s, out: f"{word} is not in the answer" if word.encode() not in out else None


# Configuration that puts escapes or disguise into answers

@vector(LOG, fired=unsafe)
def log_date(s):
    """log.date as a format with escapes"""
    s.config("log.date", f"format:{ESC}]0;owned\x07{ESC}[2J%Y")


@vector(LOG, DIFF, STATUS_LONG, fired=unsafe)
def color_ui(s):
    """color.ui=always"""
    s.config("color.ui", "always")
    s.config("color.diff.new", "reverse")


@vector(DIFF, STATUS_LONG, fired=unsafe)
def color_each(s):
    """color.diff=always and color.status=always"""
    s.config("color.diff", "always")
    s.config("color.status", "always")
    s.config("diff.colorMoved", "zebra")


@vector(LOG, fired=has("forged"))
def format_pretty(s):
    """format.pretty that prints something else"""
    s.config("format.pretty", f"{ESC}[1mcommit forged")


@vector(LOG, fired=has("forged"))
def pretty_medium(s):
    """pretty.medium, the name of the default format"""
    s.config("pretty.medium", "%H forged")
    s.config("pretty.mine", "%H forged")
    s.config("format.pretty", "mine")


@vector(LOG, fired=lacks("second"))
def output_encoding(s):
    """i18n.logOutputEncoding=UTF-16"""
    s.config("i18n.logOutputEncoding", "UTF-16")


@vector(LOG, fired=lacks("second"))
def commit_encoding(s):
    """i18n.commitEncoding=UTF-16, which the output falls back to"""
    s.config("i18n.commitEncoding", "UTF-16")


@vector(STATUS, STATUS_LONG, fired=lacks("c.txt"))
def hides_untracked(s):
    """status.showUntrackedFiles=no hides no file"""
    s.config("status.showUntrackedFiles", "no")


@vector(STATUS_LONG, fired=lacks("Changes not staged"))
def status_short(s):
    """status.short does not change the long form"""
    s.config("status.short", "true")


@vector(DIFF, DIFF_REFS, fired=lacks("+++ b/a.txt"))
def diff_prefix(s):
    """diff.noprefix and diff.mnemonicPrefix do not change a patch"""
    s.config("diff.mnemonicPrefix", "true")
    s.config("diff.noprefix", "true")


@vector(quiet=(LOG, Verb("git_log", {"format": "%aN"}, ("log", "--format=%aN"))))
def mailmap_in_tree(s):
    """the in-tree .mailmap still works"""
    s.write(".mailmap", "Real Name <author@example.com>\n")


# Forged history

@vector(LOG, fired=lacks("first"))
def grafts(s):
    """.git/info/grafts hides no commit"""
    s.plant(".git/info/grafts", s.git("rev-parse", "HEAD") + "\n")


@vector(LOG, DIFF_REFS, fired=has("forged"))
def replace_refs(s):
    """refs/replace shows no other commit"""
    oid = s.git("rev-parse", "HEAD")
    blob = s.git("hash-object", "-w", "--stdin", stdin=b"forged\n")
    tree = s.git("mktree", stdin=f"100644 blob {blob}\ta.txt\n".encode())
    other = s.git("commit-tree", "-p", "HEAD~1", "-m", "forged", tree)
    s.plant(".git/refs/replace/" + oid, other + "\n")


# Content that carries escapes: the answer is git's, made safe

EVIL = f"a{ESC}[31mred{ESC}]0;t\x07b{CSI8}2Jc{RLO}d{ZWSP}e\x08\x7f{ESC}Mf"


@vector(LOG, Verb("git_log", {"oneline": True}, ("log", "--oneline")),
        Verb("git_log", {"format": "%s%x1b[31m"}, ("log", "--format=%s%x1b[31m")),
        Verb("git_log", {"format": "%C(always,red)%s"}, ("log", "--format=%C(always,red)%s")),
        fired=unsafe, tidy=tidy)
def message_escapes(s):
    """escapes and bidi controls in a commit's message and author"""
    s.git("-c", f"user.name=A{RLO}{ESC}[8m", "commit", "-q", "-m", EVIL + "\n\n" + EVIL)


@vector(DIFF, DIFF_REFS, fired=unsafe, tidy=tidy)
def content_escapes(s):
    """escapes, carriage returns and bidi controls in a diff's lines"""
    s.write("a.txt", f"{EVIL}\nhidden\rshown\nwindows\r\n\tx\n")
    s.git("commit", "-q", "-m", "evil", "a.txt")
    s.write("a.txt", f"x{EVIL}\n")


@vector(DIFF, fired=lambda s, out: "not UTF-8" if b"\xff" in out else None)
def content_not_utf8(s):
    """bytes in a diff that are not UTF-8"""
    s.write("a.txt", b"\xff\xfe\xc0\xaf\xed\xa0\x80\n")


@vector(STATUS, STATUS_LONG, DIFF, fired=unsafe, tidy=tidy)
def name_bidi(s):
    """bidi controls in a file's name with core.quotePath=false"""
    s.git("config", "core.quotePath", "false")
    s.write(f"in{RLO}txt.exe", "x\n")
    s.git("add", "-N", f"in{RLO}txt.exe")


@vector(STATUS, STATUS_LONG, fired=unsafe, tidy=tidy)
def branch_bidi(s):
    """bidi controls in a branch's name"""
    s.git("branch", "-m", f"ma{RLO}in")
    s.git("branch", "main")


@vector(ADD_ALL, fired=unsafe, expect=refused("ExecutionFailed", words=("filter",)),
        control=("-c", "alias.x=!git config -l; :", "x"))
def filter_name_escapes(s):
    """escapes in the name of a filter that a refusal names"""
    s.config(f"filter.e{ESC}[31m{RLO}x.clean", "cat")
    s.attributes(f"*.txt filter=e{ESC}[31m{RLO}x")


@vector(STATUS, fired=unsafe, control=("config", "-l"))
def hook_name_escapes(s):
    """escapes in values that a note could quote"""
    s.config("core.hooksPath", f"{ESC}[31m{RLO}")
    s.config("core.fsmonitor", f"{ESC}[31m{RLO}")


@check
def refusal_escapes(lab, controls_only):
    """git_diff: escapes in a refused argument are not in the refusal"""
    if controls_only:
        return
    s = Scene(lab)
    for args in ({"paths": [f"../{ESC}[31m{RLO}"]}, {"from_ref": f"-{ESC}[31m{RLO}"},
                 {"working_dir": f"{ESC}[31m{RLO}"}, {f"{ESC}[31m{RLO}": 1}, {"stat": EVIL},
                 {"from_ref": f"x{RLO}{CSI8}31m"}):
        answer = lab.airlock("git_diff", args, s.repo)
        assert answer.kind, answer
        assert not unsafe(s, answer.text.encode()), (args, answer.text)


@check
def plain_output_escapes(lab, controls_only):
    """git_log: neither stdout nor stderr of a call without --json carries an escape"""
    s = Scene(lab)
    s.git("commit", "-q", "-m", EVIL)
    assert unsafe(s, lab.git(s.repo, "log").out), "the control is safe"
    if controls_only:
        return
    words = [w for w in lab.command("git_log", {}, s.repo) if w != "--json"]
    done = run(words, lab.env())
    assert done.rc == 0 and not unsafe(s, done.all), done
    words[-1] = '{"path": "../\\u001b[31m"}'
    done = run(words, lab.env())
    assert done.rc == 1 and not unsafe(s, done.all), done


if __name__ == "__main__":
    sys.exit(main())
