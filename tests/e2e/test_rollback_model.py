#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Rollbacks among random calls and edits by others, against a small model of them.

The model knows the repository before and after each call.  A thing that calls changed comes back as
it was before the first of them; one that somebody else changed as well is named, and everything else
stays.  A failure is shrunk to the shortest sequence that still fails.
"""
import harness
import random_calls
import rollback

NAMED = {"HEAD": "HEAD", "state:logs/refs/stash": "the stash", "index": "the index (what is staged)"}
SPLIT = "index:"  # the index is split; None: and empty, so that it differs from no other in that
NOTES = {"state:ORIG_HEAD", "state:AUTO_MERGE", SPLIT}  # git writes them also where there is nothing to do
STATE = ("ORIG_HEAD", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "MERGE_RR", "MERGE_AUTOSTASH", "AIRLOCK_AUTOSTASH",
         "AUTO_MERGE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD", "SQUASH_MSG", "config",
         "logs/refs/stash", "rebase-merge", "rebase-apply", "sequencer")


def words_of(name):
    """What a rollback calls a thing."""
    kind, _, rest = name.partition(":")
    if name in NAMED:
        return NAMED[name]
    places = {"state": " in the git directory", "index": " in the index"}
    return rest + places.get(kind, "")


def loses_entry(now, target):
    """Whether the log of a stash has an entry that the target does not have."""
    lines = now[1].splitlines() if now else []
    return any(line.partition(" ")[2] not in (target[1] if target else "") for line in lines)


def index_of(things):
    """What is staged."""
    return {name: value for name, value in things.items()
            if name.startswith("index:") and value is not None}


def with_one_index(things):
    """The same with the index as one thing."""
    index = index_of(things)
    return {name: value for name, value in things.items() if name not in index} | {"index": index}


def has_place(name, value):
    """Whether it is a file or an entry, so that nothing else may need a directory there; the sides of
    a conflict may."""
    return bool(value) and (name.startswith("file:") or
                            name.startswith("index:") and value.endswith(" 0\n"))


def changes(before, after):
    """From each thing that differs to its values."""
    return {name: (before.get(name), after.get(name)) for name in before.keys() | after.keys()
            if before.get(name) != after.get(name)}


class Model:
    """The executions that changed something: everything before and after each.  One that changed only
    what git notes is no step by itself, and goes back with an earlier one."""

    def __init__(self):
        self.executions = []

    def steps(self):
        """Where the executions are that a rollback counts."""
        return [at for at, pair in enumerate(self.executions) if changes(*pair).keys() - NOTES]

    def add(self, before, after):
        """An execution, if it changed anything."""
        if changes(before, after):
            self.executions.append((before, after))

    @staticmethod
    def resolve_conflicts(target, first):
        """Of a file and a directory in the same place the one that was there earlier comes back."""
        yielding = set()
        for name in sorted(target, key=str.encode):
            parts = name.split("/")
            for above in ("/".join(parts[:size]) for size in range(1, len(parts))):
                if has_place(name, target[name]) and has_place(above, target.get(above)):
                    loser = name if first[above] < first[name] else above
                    target[loser] = None
                    yielding.add(loser)
        return yielding

    def way_back(self, count, present):
        """What a rollback of `count` gives, and the things that others changed as well."""
        executions = self.executions[self.steps()[-count]:]
        if SPLIT in present or any(SPLIT in before | after and
                                   index_of(before | {SPLIT: 0}) != index_of(after | {SPLIT: 0})
                                   for before, after in executions):
            executions = [tuple(map(with_one_index, pair)) for pair in executions]
            present = with_one_index(present)
        target, left, first, lost = {}, {}, {}, set()

        def check(name, value):
            if value != target[name] and (name != "state:logs/refs/stash" or
                                          loses_entry(value, target[name])):
                lost.add(name)

        for number, pair in enumerate(executions):
            for name, (before, after) in changes(*pair).items():
                if name == SPLIT:  # of an index with the same entries
                    continue
                if name not in target:
                    target[name], first[name] = before, number
                elif before != left[name]:
                    check(name, before)
                left[name] = after
        yielding = self.resolve_conflicts(target, first)
        lost |= {name for name in yielding if present.get(name)}
        for name, value in left.items():
            if name not in yielding and present.get(name) not in (value, target[name]):
                check(name, present.get(name))
        result = present | target
        for name in target:
            if not has_place(name, target[name]) or present.get(name) == target[name]:
                continue
            for other in present:
                if has_place(other, present[other]) and other not in target and (
                        other.startswith(name + "/") or name.startswith(other + "/")):
                    result[other] = None
                    lost.add(other)
        result |= result.pop("index", {})
        return {name: value for name, value in result.items() if value is not None}, lost


class Random(random_calls.Repository):
    def things(self):
        """The repository as the model sees it."""
        found = {}
        for path in rollback.files_below(self.root):
            name = str(path.relative_to(self.root))
            if not name.startswith(".git/"):
                found["file:" + name] = rollback.digest(path)
        git_dir = self.root / ".git"
        for name in STATE:
            for path in rollback.files_below(git_dir / name):
                found["state:" + str(path.relative_to(git_dir))] = (
                    rollback.digest(path)[0], path.read_text())
        found["HEAD"] = self.head_file()
        found.update(("state:" + name, value) for name, value in rollback.stored(self).items())
        for entry in self.out("ls-files", "-s", "-v", "-z").split("\0")[:-1]:
            values, _, name = entry.partition("\t")
            found["index:" + name] = found.get("index:" + name, "") + values + "\n"
        if self.out("rev-parse", "--shared-index-path"):
            found[SPLIT] = "split" if index_of(found) else None
        for line in self.out("for-each-ref", "--format=%(refname) %(objectname)").splitlines():
            name, value = line.split()
            found["ref:" + name] = value
        return found

    def roll_back(self, model, count, saying):
        """A rollback, forced if it has to be.  It takes no branch away that was checked out since."""
        present = self.things()
        expected, lost = model.way_back(count, present)
        head = present["HEAD"]
        branch, begun = "ref:" + head[5:-1], model.executions[model.steps()[-count]][0]
        self.server.close()
        if head == expected["HEAD"] != begun["HEAD"] and branch in present.keys() - expected.keys():
            done = self.command("rollback", str(count), "--force")
            self.assertIn("is checked out; switch to another branch first", done.stderr, saying)
            self.assert_things(present, saying)
            self.server = harness.Server(self, *self.options(0))
            return
        done = self.command("rollback", str(count))
        said, committed, _ = done.stderr.partition("Staged then, and committed since:\n")
        if lost or committed:
            listed = {line[2:] for line in said.splitlines() if line.startswith("  ")}
            self.assertEqual((done.returncode, listed), (1, {words_of(name) for name in lost}),
                             (saying, done))
            self.assertEqual(self.things(), present, saying)
            done = self.command("rollback", str(count), "--force")
        self.assertEqual((done.returncode, done.stderr), (0, ""), (saying, done))
        self.assert_things(expected, saying)
        model.add(present, self.things())
        self.server = harness.Server(self, *self.options(0))

    def assert_things(self, expected, saying):
        """It is as the model says, but for the form of an index with the same entries."""
        differs = changes(expected, self.things())
        differs.pop(SPLIT, None)
        self.assertEqual(differs, {}, saying)

    def run_all(self, seed, operations):
        """The operations in a new repository of a seed."""
        model = Model()
        self.begin(seed)
        for operation in operations:
            harness.signal.alarm(harness.CASE_SECONDS)
            if operation[0] == "rollback":
                count = min(operation[1], len(model.steps()))
                if count:
                    self.roll_back(model, count, operation)
                continue
            before = self.things() if operation[0] == "call" else None
            self.apply(operation)
            if before is not None:
                model.add(before, self.things())

    def fails(self, seed, operations):
        """Why the operations fail; None when they do not."""
        try:
            self.run_all(seed, operations)
        except AssertionError as exc:
            return str(exc)
        finally:
            if self.server:
                self.server.close()
            self.server = None
            for path in (*self.base.glob("repo*"), self.home / ".local"):
                harness.shutil.rmtree(path, ignore_errors=True)
        return None

    def shrink(self, seed, operations, why):
        """The shortest sequence that still fails, found by leaving parts out."""
        size = len(operations) // 2
        while size:
            at = 0
            while at < len(operations):
                shorter = operations[:at] + operations[at + size:]
                found = self.fails(seed, shorter)
                if found:
                    operations, why = shorter, found
                else:
                    at += size
            size //= 2
        return operations, why

    def sequence(self, seed):
        """Random operations; they do not depend on the repository."""
        self.random = random_calls.random.Random(-seed)
        found = []
        for _ in range(28):
            some = self.random.random()
            found.append(("rollback", self.random.choice((1, 1, 2, 3, 5))) if some < 0.12
                         else self.edit() if some < 0.55 else self.call_at_random())
        return [*found, ("rollback", 3), ("rollback", 1)]

    def test_random(self):
        """random sequences of calls, edits and rollbacks: as the model says"""
        seeds = max(random_calls.CALLS // 30, 1)
        for seed in range(random_calls.SEED, random_calls.SEED + seeds):
            operations = self.sequence(seed)
            why = self.fails(seed, operations)
            if why:
                operations, why = self.shrink(seed, operations, why)
                lines = "\n".join(map(repr, operations))
                raise AssertionError(f"seed {seed}:\n{lines}\n{why}")


class Everyday(Random):
    """The same with the toolset everyday: commits in earlier ones, several at once, plans, sides."""

    def options(self, seed):
        return ("--toolset", "everyday")

    def call_at_random(self):
        pick, word = self.random.choice, f"{self.random.randrange(1000)}"
        paths, branch = [self.name() for _ in range(self.random.randrange(1, 3))], pick(random_calls.BRANCHES)
        commit = pick(("HEAD", "HEAD~", "HEAD~2", *random_calls.BRANCHES))
        return ("call", *pick((
            ("git_add", {"paths": paths}), ("git_add", {"all": True}),
            ("git_commit", {"message": word}), ("git_commit", {"message": word, "all": True}),
            ("git_commit", {"message": word, "paths": paths}), ("git_commit", {"message": word, "amend": True}),
            ("git_commit", {"all": True, "into": commit}), ("git_commit", {"message": word, "into": commit}),
            ("git_commit", {"message": word, "all": True, "branch": branch}),
            ("git_commit", {"commits": [{"message": word, "paths": paths[:1]},
                                        {"into": commit, "paths": [self.name()]}]}),
            ("git_switch", {"branch": branch}), ("git_switch", {"branch": branch, "create": True}),
            ("git_branch", {"action": "delete", "name": branch}),
            ("git_branch", {"action": "create", "name": branch, "from": commit}),
            ("git_tag", {"action": "create", "name": "v" + word[:1]}), ("git_tag", {"action": "delete", "name": "v1"}),
            ("git_restore", {"paths": paths}), ("git_restore", {"paths": paths, "staged": True}),
            ("git_reset", {"mode": pick(("soft", "mixed", "hard")), "to": commit}),
            ("git_stash", {"action": pick(("push", "push", "pop", "apply", "drop"))}),
            ("git_stash", {"action": "push", "paths": paths}),
            ("git_merge", {"branch": branch}), ("git_rebase", {"onto": branch}),
            ("git_rebase", {"plan": [{"commit": "HEAD", "do": "reword", "message": word}]}),
            ("git_rebase", {"plan": [{"commit": "HEAD", "do": "pick"}, {"commit": "HEAD~", "do": "pick"}]}),
            ("git_rebase", {"plan": [{"commit": "HEAD~", "do": "pick"}, {"commit": "HEAD", "do": "squash"}]}),
            ("git_cherry_pick", {"commits": [commit]}), ("git_revert", {"commits": [commit]}),
            ("git_conflicts", {"action": "abort"}), ("git_conflicts", {"action": "continue"}),
            ("git_conflicts", {"action": "resolve", "take": pick(("ours", "theirs", "both", "disk"))}),
            ("git_undo", {"steps": 1}), ("git_undo", {"steps": -1}),
        )))


if __name__ == "__main__":
    harness.main()
