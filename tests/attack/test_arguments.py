#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No string an agent gives turns into an option, a pathspec's magic or a way out of the root."""
import json
import os
import sys

from lab import MARK, Scene, changed, snapshot
from vectors import (ADD, DIFF, LOG, OUTSIDE, STATUS, Verb, check, expect_refused, main, refused,
                     staged, vector)

BAD = refused("BadArgs")
NOT_DONE = refused("BadArgs", "ExecutionFailed", "SandboxViolation")
PWN = "--output=../outside/pwn"


def call(tool, git, writes=False, **args):
    return Verb(tool, args, git, writes)


# Options where a revision is expected

@vector(call("git_diff", ("diff", PWN), from_ref=PWN),
        call("git_diff", ("diff", "HEAD~1", PWN), from_ref="HEAD~1", to_ref=PWN),
        call("git_diff", ("diff", PWN, "HEAD~1", "HEAD"), from_ref=PWN, to_ref="HEAD",
             output_dir="p"), expect=BAD)
def ref_is_an_option(s):
    """--output as a revision writes no file"""


@vector(call("git_diff", ("log", "-p", "--ext-diff"), from_ref="--ext-diff"), expect=BAD)
def ref_is_ext_diff(s):
    """--ext-diff as a revision runs no program"""
    s.config("diff.external", s.canary())


@vector(call("git_diff", ("diff", "--no-index", "--", "a.txt", "../outside/secret"),
             from_ref="--no-index", paths=["a.txt", "../outside/secret"]), expect=NOT_DONE)
def ref_is_no_index(s):
    """--no-index as a revision reads no file outside"""


# Paths that lead outside

@vector(call("git_diff", ("diff", "a.txt", "../outside/secret"),
             paths=["a.txt", "../outside/secret"]),
        call("git_diff", ("diff", "--no-index", "--", "a.txt", "link/secret"),
             paths=["a.txt", "link/secret"]),
        call("git_diff", ("diff", "--no-index", "--", "/dev/null", "link/secret"),
             paths=["link/secret"], cached=True), expect=OUTSIDE)
def diff_paths_outside(s):
    """paths outside the worktree do not make it --no-index"""
    s.git("config", "core.excludesFile", "")
    s.link("link", "../outside")


@vector(call("git_add", ("add", "--pathspec-from-file=../outside/secret"), True,
             paths=["--pathspec-from-file=../outside/secret"]), expect=NOT_DONE)
def add_pathspec_from_file(s):
    """--pathspec-from-file as a path reads no file outside"""


@vector(call("git_log", ("log", "-p", PWN), path=PWN), either=NOT_DONE,
        reference=("log", "--", PWN))
def log_path_is_an_option(s):
    """--output as a path writes no file"""


for NAME in ("since", "until"):
    @vector(call("git_log", ("log", "-p", PWN), **{NAME: PWN}), expect=BAD)
    def log_date_is_an_option(s):
        """--output as a date is no date"""


for NAME in ("author", "grep"):
    @vector(call("git_log", ("log", "-p", PWN), **{NAME: PWN}),
            reference=("log", f"--{NAME}={PWN}"))
    def log_text_is_an_option(s):
        """--output as free text is only text"""


@vector(call("git_log", ("log", "-p", PWN), format=PWN), expect=refused("ExecutionFailed"))
def log_format_is_an_option(s):
    """--output as a format writes no file; git itself knows no such format"""


@vector(call("git_commit", ("commit", "-m", "feat: --file=../outside/secret"), True, type="feat",
             message="--file=../outside/secret"), control=("commit", "--file=../outside/secret"))
def message_is_an_option(s):
    """--file as a message is only a message"""


@vector(quiet=(call("git_commit", ("commit", "-m", "feat(x): -a\n\n# kept\n-- >8 --\nkept"), True,
                    type="feat", scope="x", message="-a\n\n# kept\n-- >8 --\nkept"),))
def message_lines(s):
    """a message keeps the lines that an editor's message would lose"""


# Pathspecs

def took_more(scene, _output):
    return "other files are staged too" if b"\tc.txt\0" in staged(scene) else None


def magic(word):
    @vector(call("git_add", ("add", "--", word), True, paths=[word]), fired=took_more, expect=BAD)
    def build(s):
        """a pathspec's magic is refused"""
    return build


for WORD in (":/", ":!nothing", ":(top)*.txt", ":(icase)C.TXT", ":(exclude)nothing", ":(glob)**",
             ":^nothing"):
    magic(WORD)


def shows_a(_scene, output):
    return "the pathspec matched" if b"+three" in output else None


@vector(call("git_diff", ("diff", "--", ":/"), paths=[":/"]),
        call("git_diff", ("diff", "--", ":(top,glob)*"), paths=[":(top,glob)*"]), fired=shows_a,
        expect=BAD)
def magic_in_diff(s):
    """a pathspec's magic is refused"""


@vector(call("git_log", ("log", "--", ":/"), path=":/"),
        fired=lambda s, out: "the pathspec matched" if b"second" in out else None, expect=BAD)
def magic_in_log(s):
    """a pathspec's magic is refused"""


def new_entries(scene):
    """Names in the index that were not there before."""
    names = {entry.partition(b"\t")[2] for entry in staged(scene).split(b"\0")}
    return names - {b"", b"a.txt", b"b.txt", b"d/x.txt"}


def literal(name, *others, fires=True):
    """A file called like a pathspec is staged alone."""
    verb = call("git_add", ("add", "--", name), True, paths=[name])

    @vector(*([verb] if fires else []), quiet=() if fires else [verb],
            reference=("--literal-pathspecs", "add", "--", name),
            fired=lambda s, out: None if new_entries(s) == {name.encode()}
            else f"staged is {new_entries(s)}")
    def build(s):
        """a file called like a pathspec is staged, and nothing else is"""
        s.write(name, "literal\n")
        for other in others:
            s.write(other, "other\n")
    return build


for ENTRY in ((":c.txt",), (":/c.txt",), (":(glob)c.txt",), ("a\\*b", "aXb", "a*b")):
    literal(*ENTRY)
for ENTRY in ("*.txt", "[a-c].txt", "?.txt"):  # git itself prefers the file
    literal(ENTRY, fires=False)


@vector(quiet=tuple(call("git_add", ("--literal-pathspecs", "add", "--", name), True, paths=[name])
                    for name in ("-A", "--all", "--", " x", "new\nline", "a\\*b", "*", "-")))
def odd_names(s):
    """a file called like an option is staged, and it alone"""
    for name in ("-A", "--all", "--", " x", "new\nline", "a\\*b", "*", "-"):
        s.write(name, "odd\n")


@vector(quiet=(call("git_add", ("add", "--", "*.txt"), True, paths=["*.txt"]),
               call("git_diff", ("diff", "--", "*.txt"), paths=["*.txt"]),
               call("git_log", ("log", "--", "d/*"), path="d/*")))
def globs(s):
    """a glob that names no file works as git's"""


# Places to run in, and to write to

def here(tool, **args):
    git = {"git_log": ("log",), "git_status": STATUS.git, "git_diff": ("diff",)}[tool]
    return call(tool, ("-C", args["working_dir"], *git), **args)


@vector(here("git_log", working_dir="../outside/victim"), here("git_log", working_dir="link"),
        here("git_status", working_dir="link"), here("git_diff", working_dir="../outside/victim"),
        expect=OUTSIDE)
def working_dir_outside(s):
    """a working_dir outside, directly or through a link"""
    where = s.outside_repo()
    s.git("-C", where, "branch", "-m", MARK)
    s.write_outside("victim/a.txt", MARK + "\n")
    s.write_outside("victim/a.txt", MARK + " changed\n")
    os.symlink("../outside/victim", s.path("link"))


@vector(here("git_status", working_dir="bare"), here("git_status", working_dir="bare/objects"),
        either=refused("ExecutionFailed", "SandboxViolation"))
def bare_repository_in_tree(s):
    """a bare repository that hides in the worktree"""
    s.write("bare/HEAD", "ref: refs/heads/main\n" if s.armed else "no head\n")
    s.write("bare/objects/x", "")
    s.write("bare/refs/x", "")
    s.write("bare/config", "")
    s.write(".gitignore", "fired\n")
    s.raw_config("[core]\n\trepositoryFormatVersion = 0\n\tbare = false\n\tworktree = ..\n"
                 f'\tfsmonitor = "{s.script()}"\n', "bare/config")


def patches(git, **args):
    return call("git_diff", git, True, from_ref="HEAD~1", to_ref="HEAD", **args)


def written(*names):
    def fired(scene, _output):
        for name in names:
            if os.path.lexists(scene.path(name)):
                return f"{name} was written"
        return None
    return fired


REFS = ("HEAD~1", "HEAD")


@vector(patches(("diff", "--output=link/p", *REFS), output_dir="link"),
        patches(("diff", "--output=link/p", *REFS), output_dir="link/new"),
        patches(("diff", "--output=../outside/p", *REFS), output_dir="../outside/new"),
        expect=OUTSIDE)
def output_dir_outside(s):
    """output_dir outside, directly or through a link"""
    os.symlink("../outside", s.path("link"))


@vector(patches(("diff", "--output=.git/a.txt.patch", *REFS), output_dir=".git"),
        patches(("diff", "--output=.git/a.txt.patch", *REFS), output_dir=".git/hooks"),
        patches(("diff", "--output=.git/a.txt.patch", *REFS), output_dir="g"),
        patches(("diff", "--output=.git/a.txt.patch", *REFS), output_dir=".GIT/x"),
        patches(("diff", "--output=.git/a.txt.patch", *REFS), output_dir="d/.git/x"),
        patches(("diff", "--output=.git/a.txt.patch", *REFS), output_dir="g/info"),
        fired=written(".git/a.txt.patch", ".git/hooks/a.txt.patch", ".GIT/x", "d/.git",
                      ".git/info/a.txt.patch"), expect=refused("SandboxViolation", "BadArgs"))
def output_dir_in_git(s):
    """output_dir in .git, in any case or through a link"""
    os.symlink(".git", s.path("g"))


@vector(patches(("diff", "--output=p/a.txt.patch", *REFS), output_dir="p"), expect=NOT_DONE)
def output_file_is_a_link(s):
    """a patch's name that is a link is not written through"""
    s.write_outside("target", "x\n")
    s.write("p/x", "")
    s.link("p/a.txt.patch", "../../outside/target")


@vector(patches(("diff", "--output=p/a.txt.patch", *REFS), output_dir="p"), expect=NOT_DONE)
def output_file_is_a_dangling_link(s):
    """a patch's name that is a dangling link creates nothing"""
    s.write("p/x", "")
    s.link("p/a.txt.patch", "../../outside/new")


@vector(patches(("diff", "--output=p/a.txt.patch", *REFS), output_dir="p"), expect=NOT_DONE,
        fired=lambda s, out: "overwritten" if open(s.path("p/a.txt.patch"), encoding="utf-8").read()
        != "mine\n" else None)
def output_file_exists(s):
    """a patch's name that exists, and that no checkpoint has, keeps its content"""
    s.write(".gitignore", "*.patch\n")
    s.write("p/a.txt.patch", "mine\n")


def crafted(s, *levels):
    """A commit whose tree has entries that no checkout would accept; returns its id."""
    kind, mode = "blob", b"100644"
    oid = s.git("hash-object", "-w", "--stdin", stdin=b"evil\n")
    for name in reversed(levels):
        raw = mode + b" " + name + b"\0" + bytes.fromhex(oid)
        oid = s.git("hash-object", "-t", "tree", "-w", "--literally", "--stdin", stdin=raw)
        kind, mode = "tree", b"40000"
    assert kind == "tree"
    return s.git("commit-tree", "-m", "crafted", oid)


@check
def output_names_climb(lab, controls_only):
    """git_diff: a tree with entries called .. or /x writes its patches into output_dir only"""
    for levels in ((b"..", b"..", b"outside", b"evil"), (b"../../outside/evil",), (b"..",),
                   (b".git", b"hooks", b"x"), (b"/tmp", b"x"), (b"x" * 300,), (b"-rf",),
                   (b"new\nline",), (b"\xff\x1b[31m",)):
        s = Scene(lab)
        oid = crafted(s, *levels)
        names = lab.git(s.repo, "diff", "--name-only", "-z", "HEAD", oid).out
        assert b"/".join(levels) in names, f"the control does not name {levels}"
        if controls_only:
            continue
        outside, git_dir = snapshot(s.outside), snapshot(s.path(".git"))
        answer = lab.airlock("git_diff", {"from_ref": "HEAD", "to_ref": oid, "output_dir": "p"},
                             s.repo)
        assert not changed(outside, snapshot(s.outside)), levels
        assert not changed(git_dir, snapshot(s.path(".git"))), levels
        top = set(os.listdir(s.repo)) - {".git", "a.txt", "b.txt", "c.txt", "d", "p"}
        assert not top, f"{levels} wrote {top}"
        if answer.kind is None:
            for name in json.loads(answer.body)["patches"]:
                assert "/" not in name and os.path.isfile(s.path("p/" + name)), name
            assert len(os.listdir(s.path("p"))) == len(json.loads(answer.body)["patches"])
        else:
            assert answer.kind in NOT_DONE.kinds, answer


# What is refused is refused before anybody is asked.

REFUSALS = (
    ("git_add", {"paths": ["../outside/secret"]}, "SandboxViolation"),
    ("git_add", {"paths": ["/etc/passwd"]}, "SandboxViolation"),
    ("git_add", {"paths": ["d/../../outside/secret"]}, "SandboxViolation"),
    ("git_add", {"paths": ["d/../a.txt"]}, "SandboxViolation"),
    ("git_add", {"paths": ["link/secret"]}, "SandboxViolation"),
    ("git_add", {"paths": ["c.txt", "link/secret"]}, "SandboxViolation"),
    ("git_add", {"paths": ["dangling/new"]}, "SandboxViolation"),
    ("git_add", {"paths": [":/"]}, "BadArgs"),
    ("git_add", {"paths": [""]}, "BadArgs"),
    ("git_add", {"paths": ["a\0b"]}, "BadArgs"),
    ("git_add", {"paths": ["c.txt"], "working_dir": ".."}, "SandboxViolation"),
    ("git_add", {"all": True, "working_dir": "/"}, "SandboxViolation"),
    ("git_add", {"all": True, "working_dir": "link"}, "SandboxViolation"),
    ("git_add", {"all": True, "working_dir": "/proc/self/cwd/../outside"}, "SandboxViolation"),
    ("git_commit", {"type": "--amend", "message": "x"}, "BadArgs"),
    ("git_commit", {"type": "-F../outside/secret", "message": "x"}, "BadArgs"),
    ("git_commit", {"type": "feat\n", "message": "x"}, "BadArgs"),
    ("git_commit", {"type": "feat", "scope": "--amend", "message": "x", "all": True}, "BadArgs"),
    ("git_commit", {"type": "feat", "scope": "x\n", "message": "x"}, "BadArgs"),
    ("git_commit", {"type": "feat", "scope": "x) -a", "message": "x"}, "BadArgs"),
    ("git_commit", {"type": "feat", "message": "a\0b"}, "BadArgs"),
    ("git_commit", {"type": "feat", "message": " \n\t"}, "BadArgs"),
    ("git_diff", {"from_ref": "--"}, "BadArgs"),
    ("git_diff", {"from_ref": "-"}, "BadArgs"),
    ("git_diff", {"from_ref": ""}, "BadArgs"),
    ("git_diff", {"from_ref": "-O../outside/secret"}, "BadArgs"),
    ("git_diff", {"from_ref": "HEAD\n--output=x"}, "BadArgs"),
    ("git_diff", {"from_ref": "HEAD", "to_ref": "--textconv"}, "BadArgs"),
    ("git_diff", {"paths": ["../outside/secret"]}, "SandboxViolation"),
    ("git_diff", {"from_ref": "HEAD", "paths": ["/etc/passwd"]}, "SandboxViolation"),
    ("git_diff", {"from_ref": "HEAD~1", "to_ref": "HEAD", "output_dir": "a/../../outside"},
     "SandboxViolation"),
    ("git_diff", {"from_ref": "HEAD~1", "to_ref": "HEAD", "output_dir": "dangling"},
     "SandboxViolation"),
    ("git_log", {"path": "../outside/secret"}, "SandboxViolation"),
    ("git_log", {"path": "link/secret"}, "SandboxViolation"),
    ("git_log", {"author": "a\0b"}, "BadArgs"),
    ("git_status", {"working_dir": "../outside"}, "SandboxViolation"),
    ("git_status", {"working_dir": "no-such-dir"}, "ExecutionFailed"),
    ("git_status", {"working_dir": "--help"}, "ExecutionFailed"),
)


def refusal(tool, args, kind):
    def test(lab, controls_only):
        if controls_only:
            return
        s = Scene(lab)
        s.armed = True
        s.link("link", "../outside")
        s.link("dangling", "../outside/nowhere")
        before = snapshot(s.top)
        answer = lab.airlock(tool, args, s.repo, approval="deny")
        assert answer.kind == kind, f"wanted {kind}, got {answer.kind}: {answer.text[:500]!r}"
        expect_refused(answer, refused(kind))
        assert not changed(before, snapshot(s.top)), changed(before, snapshot(s.top))
    words = json.dumps(args).replace("#", "no.")
    check_named(test, f"{tool}: {words} is {kind}, and nobody is asked")


def check_named(test, sentence):
    test.__doc__ = sentence
    check(test)


for ROW in REFUSALS:
    refusal(*ROW)


@vector(quiet=(STATUS, DIFF, LOG, ADD))
def answers_beside_links(s):
    """links that lead outside are content like any other"""
    os.symlink("../outside/secret", s.path("link"))
    s.git("add", "link")


if __name__ == "__main__":
    sys.exit(main())
