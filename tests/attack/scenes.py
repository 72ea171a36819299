# SPDX-License-Identifier: Apache-2.0
"""Verbs that need something to work on first, and what such a verb leaves behind.

Each of these verbs has a preparation: git's own commands on a repository that is still harmless.
The attack comes after it.
"""
import os

from lab import changed, snapshot
from vectors import TESTS, Case, Refused, Verb, references, staged


def nothing(_s):
    """The template as it is: a.txt changed, b.txt staged, c.txt untracked."""


def clean(s):
    """A clean tree, with branches to go to: `other` a commit behind, `same` at HEAD."""
    s.git("rm", "-q", "--cached", "b.txt")
    os.unlink(s.path("b.txt"))
    s.git("checkout", "-q", "--", "a.txt")
    s.git("branch", "other", "HEAD~1")
    s.git("branch", "same")


def stashed(s):
    """Everything put aside."""
    s.git("stash", "push", "-q")


def branched(s):
    """A branch beside main."""
    s.git("branch", "merged")


SHOW = Verb("git_show", {}, ("show",))
SHOW_FILE = Verb("git_show", {"commit": "HEAD:a.txt"}, ("show", "HEAD:a.txt"))
BLAME = Verb("git_blame", {"path": "d/x.txt"}, ("blame", "d/x.txt"))
BLAME_AT = Verb("git_blame", {"path": "a.txt", "commit": "HEAD"}, ("blame", "HEAD", "--", "a.txt"))
BRANCHES = Verb("git_branch", {"list_all": True}, ("branch", "-v", "-a"))
LIST = Verb("git_stash", {"action": "list"}, ("stash", "list"))
SHOW_STASH = Verb("git_stash", {"action": "show"}, ("stash", "show"))
READERS = (SHOW, SHOW_FILE, BLAME, BLAME_AT, BRANCHES, LIST, SHOW_STASH)

RESTORE = Verb("git_restore", {"paths": ["a.txt"]}, ("restore", "--", "a.txt"), True)
UNSTAGE = Verb("git_restore", {"paths": ["b.txt"], "staged": True, "worktree": False},
               ("restore", "--staged", "--", "b.txt"), True)
PATHS = Verb("git_checkout", {"paths": ["a.txt"]}, ("checkout", "--", "a.txt"), True)
SWITCH = Verb("git_checkout", {"branch": "other"}, ("checkout", "other"), True)
NEW = Verb("git_checkout", {"create_branch": "new"}, ("checkout", "-b", "new"), True)
DETACH = Verb("git_checkout", {"commit": "HEAD~1"}, ("checkout", "HEAD~1"), True)
CREATE = Verb("git_branch", {"create": "topic"}, ("branch", "topic"), True)
DELETE = Verb("git_branch", {"delete": "merged"}, ("branch", "-d", "merged"), True)
RENAME = Verb("git_branch", {"rename": "main", "new_name": "trunk"},
              ("branch", "-m", "main", "trunk"), True)
PUSH = Verb("git_stash", {}, ("stash", "push"), True)
PUSH_ALL = Verb("git_stash", {"include_untracked": True}, ("stash", "push", "-u"), True)
POP = Verb("git_stash", {"action": "pop"}, ("stash", "pop"), True)
APPLY = Verb("git_stash", {"action": "apply"}, ("stash", "apply"), True)
DROP = Verb("git_stash", {"action": "drop"}, ("stash", "drop"), True)
CLEAR = Verb("git_stash", {"action": "clear"}, ("stash", "clear"), True)

PREPARE = {
    "git_show": nothing, "git_blame": nothing, "git_restore": nothing, "git_branch": branched,
    PATHS: nothing, SWITCH: clean, NEW: clean, DETACH: clean, PUSH: nothing, PUSH_ALL: nothing,
    POP: stashed, APPLY: stashed, DROP: stashed, CLEAR: stashed, LIST: stashed,
    SHOW_STASH: stashed,
}


def prepare(verb, s):
    """What this verb needs."""
    PREPARE.get(verb, PREPARE.get(verb.tool, nothing))(s)


def tree_and_parents(s, oid):
    """The trees of a commit and of its parents: what a stash entry holds, without its time."""
    env = s.lab.env(GIT_OBJECT_DIRECTORY=s.path(".git/objects"))
    lines = s.lab.git_ok(s.lab.template, "cat-file", "commit", oid, env=env).decode().splitlines()
    found = [lines[0]]
    for line in lines:
        if line.startswith("parent "):
            found += s.lab.git_ok(s.lab.template, "cat-file", "commit", line[7:],
                                  env=env).decode().splitlines()[:1]
    return found


def reference_files(s):
    """HEAD, branches and stash as their files say."""
    found = {}
    for name in ("HEAD", "refs/stash", "refs/heads"):
        top = s.path(".git/" + name)
        files = [os.path.join(folder, file) for folder, _, names in os.walk(top) for file in names]
        for path in files or [top] * os.path.isfile(top):
            with open(path, encoding="utf-8") as f:
                found[name + path[len(top):]] = f.read()
    return found


def left_behind(s):
    """HEAD, branches, stash, index and files, read without the repository's own words."""
    state = {"index": staged(s)}
    state.update(references(s) if os.path.isdir(s.path(".git/reftable")) else reference_files(s))
    if "refs/stash" in state:
        state["refs/stash"] = tree_and_parents(s, state["refs/stash"].strip())
    top = os.fsencode(s.repo)
    for name, what in snapshot(top).items():
        if name != b".git" and not name.startswith(b".git/"):
            state[os.fsdecode(name)] = what
    return state


class Prepared(Case):
    """A vector on one verb whose preparation comes first, compared by all it leaves behind."""

    def _prepare(self, lab, armed):
        build = self.build

        def whole(s):
            prepare(self.verb, s)
            build(s)
        self.build = whole
        try:
            return super()._prepare(lab, armed)
        finally:
            self.build = build

    def _reference(self, lab):
        scene, _, _ = self._prepare(lab, False)
        out = lab.git_ok(scene.repo, *self.reference).decode(errors="replace")
        return out, left_behind(scene)

    def _compare(self, scene, answer, expected):
        out, state = expected
        shown = self._show(answer)
        if self.dead_end:
            return
        assert answer.kind is None and answer.rc == 0, shown
        for word in self.notes:
            assert word in answer.notes, f"[stderr] does not name {word}\n{shown}"
        if not self.verb.writes:
            same = answer.body.rstrip("\n") == out.rstrip("\n")
            assert same, f"git answers\n{out}\nairlock\n{shown}"
        names = changed(state, left_behind(scene))
        assert not names, f"not as git leaves them: {names}\n{shown}"


def attack(*verbs, quiet=(), expect=None, either=None, fired=None, control=None, notes=(),
           env=None, dead_end=False):
    """vectors.vector() for these verbs.

    notes     words the [stderr] section must contain, for every one of `verbs`
    dead_end  git without the attack answers something else: that it does not work is enough
    """
    def register(build):
        for verb in (*verbs, *quiet):
            wanted = expect if isinstance(expect, Refused) else (expect or {}).get(verb)
            case = Prepared(build, verb, fires=verb in verbs, wanted=wanted, either=either,
                            fired=fired, control=control or verb.git, env=env or (lambda s: {}),
                            notes=notes if verb in verbs else (), reference=verb.git, tidy=str,
                            terminal=False, dead_end=dead_end)
            what = " ".join(str(v) for v in verb.args.values()) or "as it is"
            TESTS.append((f"{verb.tool} ({what}): {build.__doc__}", case.run))
        return build
    return register
