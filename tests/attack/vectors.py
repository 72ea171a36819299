# SPDX-License-Identifier: Apache-2.0
"""One test per vector and verb: control, reference, airlock, comparison; reported as TAP.

control    plain git on the hostile repository: the canary must fire, else the test proves nothing
reference  plain git on the same repository without the attack
airlock    on a fresh copy of the hostile repository: the canary must not fire, and the answer and
           the repository afterwards are the reference's
"""
import os
import re
import shutil
import sys
import traceback
from dataclasses import dataclass
from typing import NamedTuple

from lab import GIT, MARK, SHOUT, Lab, Scene, changed, remove, run, snapshot


@dataclass(frozen=True, eq=False)
class Verb:
    """A tool with its arguments, and the same as plain git's words."""
    tool: str
    args: dict
    git: tuple
    writes: bool = False


STATUS = Verb("git_status", {}, ("status", "--porcelain=1", "-b"))
STATUS_LONG = Verb("git_status", {"porcelain": False}, ("status",))
DIFF = Verb("git_diff", {}, ("diff",))
DIFF_CACHED = Verb("git_diff", {"cached": True}, ("diff", "--cached"))
DIFF_REFS = Verb("git_diff", {"from_ref": "HEAD~1", "to_ref": "HEAD"}, ("diff", "HEAD~1", "HEAD"))
LOG = Verb("git_log", {}, ("log",))
ADD = Verb("git_add", {"paths": ["c.txt"]}, ("add", "--", "c.txt"), True)
ADD_ALL = Verb("git_add", {"all": True}, ("add", "-A"), True)
COMMIT = Verb("git_commit", {"type": "feat", "message": "say it"},
              ("commit", "-m", "feat: say it"), True)
FIVE = (STATUS, DIFF, LOG, ADD_ALL, COMMIT)


class Skip(Exception):
    """The reason why a test cannot run here."""


class Refused(NamedTuple):
    """The answer expected instead of git's: a failure of one of these kinds, naming these words."""
    kinds: tuple
    words: tuple = ()


def refused(*kinds, words=()):
    return Refused(kinds, words)


OUTSIDE = refused("SandboxViolation")
TESTS = []


def vector(*verbs, quiet=(), expect=None, either=None, fired=None, control=None, notes=None,
           reference=(), env=None, tidy=None, terminal=False, dead_end=False):
    """Register a builder; its docstring is the sentence that the test proves.

    verbs      where plain git must fire
    quiet      where plain git need not fire, and airlock must not either
    expect     verb -> Refused, where git's answer is not what is wanted; one Refused: all verbs
    either     a Refused that is as good as the reference's answer
    fired      (scene, output) -> why, in place of the general canaries
    control    git words that make it fire where the verb itself does not
    notes      verb -> words the [stderr] section must contain
    reference  git words for the reference, where they are not the verb's
    env        scene -> variables for plain git and for airlock
    terminal   whether plain git needs one to fire
    tidy       what airlock makes of git's text
    dead_end   git without the attack answers something else: that it does not work is enough
    """
    def register(build):
        for verb in (*verbs, *quiet):
            wanted = expect if isinstance(expect, Refused) else (expect or {}).get(verb)
            case = Case(build, verb, fires=verb in verbs, wanted=wanted, either=either,
                        fired=fired, control=control or verb.git, env=env or (lambda s: {}),
                        notes=(notes or {}).get(verb, ()), reference=reference or verb.git,
                        tidy=tidy or str, terminal=terminal, dead_end=dead_end)
            TESTS.append((f"{verb.tool}: {build.__doc__}", case.run))
        return build
    return register


def check(test):
    """Register a test that is more than one call; its docstring is the sentence it proves."""
    TESTS.append((test.__doc__, test))
    return test


def general_canary(scene, before, output):
    """Why the attack worked, or None."""
    moved = changed(before, snapshot(scene.outside))
    if moved:
        return f"outside changed: {moved}"
    for name in ("fired", ".git/fired"):
        if os.path.lexists(scene.path(name)):
            return f"a planted program ran and wrote {name}"
    for word in (MARK, SHOUT):
        if word.encode() in output:
            return f"{word} is in the output"
    return None


def references(scene):
    """HEAD and each reference with its value, read from reftables without the repository's own words."""
    reader = os.path.join(scene.lab.top, "reader")
    remove(reader)
    run([GIT, "init", "-q", "--bare", "--template=", "--ref-format=reftable", reader], scene.lab.env())
    remove(os.path.join(reader, "reftable"))
    shutil.copytree(scene.path(".git/reftable"), os.path.join(reader, "reftable"))
    env = scene.lab.env(GIT_OBJECT_DIRECTORY=scene.path(".git/objects"))
    listed = scene.lab.git(reader, "for-each-ref", "--format=%(refname) %(objectname)", env=env).out.decode()
    return {"HEAD": scene.lab.git(reader, "symbolic-ref", "HEAD", env=env).out.decode(),
            **dict(line.split(" ") for line in listed.splitlines())}


def head_commit(scene, name="refs/heads/main", strict=True):
    """Tree, parents, author and message of the branch, read without the repository's own words."""
    oid = "missing"
    if os.path.isfile(scene.path(".git/reftable/tables.list")):
        oid = references(scene).get(name, oid)
    elif strict or os.path.isfile(scene.path(".git/" + name)):
        with open(scene.path(".git/" + name), encoding="ascii") as f:
            oid = f.read().strip()
    env = scene.lab.env(GIT_OBJECT_DIRECTORY=scene.path(".git/objects"))
    read = scene.lab.git_ok if strict else lambda *w, env: scene.lab.git(*w, env=env).out
    raw = read(scene.lab.template, "cat-file", "commit", oid, env=env).decode()
    return re.sub(r" \d+ [+-]\d{4}$", "", raw, flags=re.M)


def staged(scene):
    env = scene.lab.env(GIT_INDEX_FILE=scene.path(".git/index"))
    return scene.lab.git_ok(scene.lab.template, "ls-files", "-s", "-z", env=env)


class Case:
    """A vector on one verb."""

    def __init__(self, build, verb, **options):
        self.build, self.verb = build, verb
        self.__dict__.update(options)

    def run(self, lab, controls_only):
        if self.fires:
            self._control(lab)
        if controls_only:
            return
        expected = None if self.wanted else self._reference(lab)
        scene, before_out, before = self._prepare(lab, True)
        answer = lab.airlock(self.verb.tool, self.verb.args, scene.repo,
                             env=lab.env(**self.env(scene)))
        why = self._why(scene, before_out, answer.text.encode())
        assert not why, f"got through: {why}\n{self._show(answer)}"
        if not self.verb.writes:
            moved = changed(before, snapshot(scene.repo))
            assert not moved, f"a reading tool changed {moved}\n{self._show(answer)}"
        if self.wanted:
            expect_refused(answer, self.wanted)
        elif not (self.either and answer.kind in self.either.kinds):
            self._compare(scene, answer, expected)

    def _prepare(self, lab, armed):
        scene = Scene(lab, armed)
        self.build(scene)
        return scene, snapshot(scene.outside), snapshot(scene.repo)

    def _why(self, scene, before, output):
        if self.fired:
            return self.fired(scene, output)
        why = general_canary(scene, before, output)
        if not why and self.verb.writes and MARK in head_commit(scene, strict=False):
            why = "the secret is in the commit"
        return why

    def _control(self, lab):
        scene, before, _ = self._prepare(lab, True)
        git = lab.git_on_terminal if self.terminal else lab.git
        done = git(scene.repo, *self.control, env=lab.env(**self.env(scene)))
        assert self._why(scene, before, done.all), \
            f"the control did not fire: rc {done.rc}: {done.all.decode(errors='replace')[:800]}"

    def _reference(self, lab):
        scene, _, _ = self._prepare(lab, False)
        out = lab.git_ok(scene.repo, *self.reference).decode(errors="replace")
        return out, staged(scene), head_commit(scene)

    def _compare(self, scene, answer, expected):
        if self.dead_end:
            return
        out, index, commit = self.tidy(expected[0]), *expected[1:]
        assert answer.kind is None and answer.rc == 0, self._show(answer)
        for word in self.notes:
            assert word in answer.notes, f"[stderr] does not name {word}\n{self._show(answer)}"
        if not self.verb.writes:
            same = answer.body.rstrip("\n") == out.rstrip("\n")
            assert same, f"git answers\n{out}\nairlock\n{self._show(answer)}"
        assert staged(scene) == index, f"the index is not git's\n{self._show(answer)}"
        assert head_commit(scene) == commit, f"the commit is not git's\n{self._show(answer)}"

    @staticmethod
    def _show(answer):
        return f"rc {answer.rc}, kind {answer.kind}: {answer.text[:1500]!r}"


def expect_refused(answer, wanted):
    """A failure of the wanted kind that names the wanted words and no secret."""
    shown = f"rc {answer.rc}, kind {answer.kind}: {answer.text[:800]!r}, stderr {answer.err[:400]}"
    assert answer.kind in wanted.kinds, f"wanted {wanted.kinds}, got {shown}"
    assert answer.rc == 1 and answer.result.get("isError") is True, shown
    assert MARK not in answer.text, shown
    for word in wanted.words:
        assert word in answer.text, f"{word!r} is not named: {shown}"


def main():
    """Run what the importing script registered."""
    controls_only = "--controls-only" in sys.argv
    words = [w for w in sys.argv[1:] if not w.startswith("--")]
    binary = os.path.abspath(words.pop(0)) if words and not controls_only else ""
    chosen = [t for t in TESTS if not words or any(w in t[0] for w in words)]
    lab = Lab(binary)
    failed = 0
    print(f"1..{len(chosen)}")
    for number, (sentence, test) in enumerate(chosen, 1):
        what = f"{number} - {sentence.replace('#', 'no.')}"
        try:
            test(lab, controls_only)
            print(f"ok {what}", flush=True)
        except Skip as why:
            print(f"ok {what} # SKIP {why}", flush=True)
        except Exception as bad:  # pylint: disable=broad-except
            failed += 1
            text = str(bad) if isinstance(bad, AssertionError) else traceback.format_exc()
            print(f"not ok {what}")
            print("".join(f"# {line}\n" for line in text[:3000].splitlines()), end="", flush=True)
    lab.close()
    return 1 if failed else 0
