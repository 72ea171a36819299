#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A call's changes are in its checkpoints: docs/CHECKPOINTS.md, "What each operation can change"."""
import hashlib
import os
import subprocess

import harness
import random_calls

# In every checkpoint.
STATE = ("HEAD", "ORIG_HEAD", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "MERGE_RR",
         "MERGE_AUTOSTASH", "AIRLOCK_AUTOSTASH", "AUTO_MERGE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD",
         "SQUASH_MSG", "config", "logs/refs/stash")
STATE_DIRECTORIES = ("rebase-merge/", "rebase-apply/", "sequencer/")

# In none: docs/ROLLBACK.md, "Not restored", and what git writes beside its work.
FREE = ("objects/", "logs/", "reftable/", "COMMIT_EDITMSG", "FETCH_HEAD", "rr-cache/", "branches/")


# Ten lines, so that git finds a renamed file that was changed a little.
LINES = "".join(f"line {number}\n" for number in range(10))
RENAMED = ("e/1", "e/2", "e/s/3", "f/1", "f/4", "x.o")
MOVES = (("e", "f"), ("f", "e"), ("e/s", "s"), ("e/1", "e/4"), ("a.txt", "e/5"), ("f/1", "b"),
         ("d", "g"), ("e/2", "d"))


class Effects(random_calls.Repository):
    """More forms of repositories, and more that others do, than the model of rollbacks knows."""

    def shape(self):
        super().shape()
        some = self.random.random()
        if some < 0.15:
            self.write(".gitattributes", "*.txt text eol=crlf\ne/* text eol=crlf\n")
        elif some < 0.2:
            self.git("config", "core.sparseCheckout", "true")
            self.write(".git/info/sparse-checkout", "/*\n!/e/s\n")
        elif some < 0.3:
            self.git("config", "core.autocrlf", "true")
        elif some < 0.4:
            self.git("config", "merge.directoryRenames", "true")
        if self.random.random() < 0.8:
            for name in RENAMED[:3]:
                self.apply(("write", name, LINES + name, 0o644))
            self.git("add", "-A", check=False)
            self.git("commit", "-q", "--allow-empty", "-m", "more")
            for branch in random_calls.BRANCHES[1:3]:
                self.git("branch", "-f", branch, check=False)

    def edit(self):
        pick = self.random.choice
        branch, name = pick(random_calls.BRANCHES), pick(random_calls.FILES + RENAMED)
        some = self.random.random()
        if some < 0.4:
            return super().edit()
        if some < 0.6:
            line = self.random.randrange(10)
            return ("write", pick(RENAMED), LINES.replace(f"{line}\n", f"{line} {some}\n"), 0o644)
        return pick((
            ("git", "mv", *pick(MOVES)), ("git", "mv", *pick(MOVES)),
            ("git", "commit", "-q", "-a", "-m", "others"),
            ("git", "commit", "-q", "-a", "-m", "others"),
            ("git", "add", "-N", "--", name), ("git", "add", "-f", "--", name),
            ("git", "update-index", pick(("--assume-unchanged", "--skip-worktree")), name),
            ("git", "update-index", "--no-assume-unchanged", "--no-skip-worktree", name),
            ("git", "merge", "-q", "--no-edit", branch), ("git", "merge", "--abort"),
            ("git", "cherry-pick", branch), ("git", "cherry-pick", "--abort"),
            ("git", "checkout", "-q", "-f", branch), ("git", "checkout", "-q", branch),
            ("git", "stash", "push", "-q", "-u"), ("git", "stash", "pop", "-q", "--index"),
            ("git", "rm", "-q", "-r", "-f", "--", pick(("e", "d", name))),
            ("touch", name), ("touch", name), ("chmod", name), ("nested", pick(("n", "e/n"))),
            ("remove", name), ("write", name, "short\n", 0o644), ("link", name, "b"),
        ))

    def apply(self, operation):
        kind, *words = operation
        path = self.root / str(words[0])
        if kind == "touch":
            if path.is_file():
                os.utime(path, ns=(0, self.random.randrange(10**18)))
        elif kind == "chmod":
            if path.is_file() and not path.is_symlink():
                path.chmod(path.stat().st_mode ^ 0o111)
        elif kind == "nested":
            self.clear_way(words[0])
            self.git("init", "-q", words[0])
            self.git("-C", words[0], "commit", "-q", "--allow-empty", "-m", "nested")
            if self.random.random() < 0.5:
                self.git("add", words[0], check=False)
        else:
            return super().apply(operation)
        return None

    def options(self, seed):
        self.is_workflow, self.is_everyday = seed % 4 == 0, seed % 4 == 2
        if self.is_everyday:
            return ("--toolset", "everyday")
        first = () if self.is_workflow else ("--toolset", "git")
        return (*first, "--toolset", "workflow", "--toolset", "parallel")

    def workflow_call(self):
        """A call of the toolset workflow that the other toolset has in another form."""
        pick = self.random.choice
        target = pick((*random_calls.BRANCHES, "HEAD~", "HEAD"))
        force = self.random.random() < 0.5
        return ("call", *pick((
            lambda: ("git_checkout", {"target": target, "force": force}),
            lambda: ("git_checkout", {"target": target, "force": force}),
            lambda: ("git_checkout", {"target": pick(("z", "z/y")), "create": True, "force": force}),
            lambda: ("git_checkout", {"target": target, "force": force,
                                      "paths": [pick((".", "e", "d", "b", "x.o", "a.txt"))]}),
            lambda: ("git_merge", {"branch": target}),
            lambda: ("git_stash", {"action": "push", "includeUntracked": force}),
            lambda: ("git_stash", {"action": pick(("pop", "apply", "drop"))}),
            lambda: ("git_branch", {"action": "create", "name": pick(random_calls.BRANCHES)}),
        ))())

    def series_call(self):
        """A call of the toolset everyday that makes several commits, changes earlier ones, or settles
        many conflicts."""
        pick = self.random.choice
        names = [self.random.choice(random_calls.FILES + RENAMED) for _ in range(3)]
        mine = self.out("rev-list", "--reverse", "--no-merges", "-3", "HEAD", check=False).split()
        plan = [{"commit": commit} for commit in mine]
        if mine:
            parts = self.out("diff-tree", "-r", "--root", "--no-commit-id", "--name-only",
                             mine[0]).splitlines()[:pick((1, 9))]
            plan[0] |= {"do": "split", "into": [{"message": f"part of {name}", "paths": [name]}
                                                for name in parts or names]}
        into = pick(mine) if mine else "HEAD"
        return ("call", *pick((
            lambda: ("git_commit", {"into": into, "paths": names[:1]}),
            lambda: ("git_commit", {"into": into, "message": "another"}),
            lambda: ("git_commit", {"branch": pick((*random_calls.BRANCHES, "new")),
                                    "message": "m", "all": True}),
            lambda: ("git_commit", {"commits": [
                {"message": "one", "paths": names[:1]}, {"message": "two", "paths": names[1:2]},
                {"into": into, "paths": names[2:]}][:pick((1, 2, 3))]}),
            lambda: ("git_commit", {"branch": "new", "commits": [{"message": "m",
                                                                  "paths": names[:1]}]}),
            lambda: ("git_rebase", {"plan": plan}),
            lambda: ("git_rebase", {"plan": plan}),
            lambda: ("git_conflicts", {"action": "resolve", "paths": names[:2],
                                       "take": pick(("both", "ours", "theirs", "disk"))}),
            lambda: ("git_conflicts", {"action": "resolve", "continue": True,
                                       "take": pick(("both", "theirs"))}),
            lambda: ("git_tag", {"action": "create", "name": pick(("t", "t/u")),
                                 "message": "tagged"}),
            lambda: ("git_log", {"all": True}),
        ))())

    def everyday_call(self):
        """A call of the toolset everyday that moves several branches, or goes on with one."""
        if self.random.random() < 0.5:
            return self.series_call()
        pick, target = self.random.choice, self.random.choice(random_calls.BRANCHES)
        mine = self.out("rev-list", "--reverse", "--no-merges", "-3", "HEAD", check=False).split()
        plan = [{"commit": commit, "do": pick(("pick", "drop", "fixup") if i else ("pick",))}
                for i, commit in enumerate(mine)]
        return ("call", *pick((
            lambda: ("git_rebase", {"onto": target, "update_refs": True}),
            lambda: ("git_rebase", {"onto": target, "update_refs": True}),
            lambda: ("git_rebase", {"onto": target, "update_refs": True, "autosquash": True}),
            lambda: ("git_rebase", {"plan": plan, "update_refs": True}),
            lambda: ("git_conflicts", {"action": "resolve", "take": pick(("ours", "theirs")),
                                       "continue": True}),
            lambda: ("git_conflicts", {"action": pick(("continue", "skip", "abort"))}),
            lambda: ("git_cherry_pick", {"commits": [target]}),
            lambda: ("git_switch", {"branch": target}),
            lambda: ("git_commit", {"message": pick(("m", "fixup! made")), "all": True}),
            lambda: ("git_merge", {"branch": target}),
        ))())

    def call_at_random(self):
        pick = self.random.choice
        branch = pick(random_calls.BRANCHES)
        if self.is_workflow:
            return self.workflow_call()
        if self.is_everyday:
            return self.everyday_call()
        if self.random.random() < 0.4:
            return super().call_at_random()
        return ("call", *pick((
            lambda: ("git_checkout", {"branch": branch}),
            lambda: ("git_checkout", {"branch": branch}),
            lambda: ("git_checkout", {"commit": pick(("HEAD~", branch))}),
            lambda: ("git_merge", {"branch": branch}),
            lambda: ("git_merge", {"branch": branch, "noFf": True}),
            lambda: ("git_merge", {"branch": branch}),
            lambda: ("git_land", {"branch": branch, "into": pick(random_calls.BRANCHES),
                                  "strategy": pick(("merge", "squash", "rebase", "ff"))}),
            lambda: ("git_land", {"branch": branch, "into": self.current(),
                                  "strategy": pick(("merge", "squash", "rebase", "ff"))}),
            lambda: ("git_stash", {"action": "push",
                                   "include_untracked": self.random.random() < 0.5}),
            lambda: ("git_stash", {"action": "pop"}),
            lambda: ("git_stash", {"action": "apply"}),
            lambda: ("git_restore", {"paths": [pick(("e", "d", "f/1", "."))], "staged": True}),
            lambda: ("git_resolve_conflict", {"path": pick(RENAMED),
                                              "strategy": pick(("ours", "theirs"))}),
        ))())

    def current(self):
        """The branch that is checked out."""
        return self.out("branch", "--show-current", check=False).strip() or "main"

    def everything(self):
        """Each file of the repository, of its git directory too, with its content."""
        found = {}
        for top, directories, names in os.walk(self.root):
            for name in (*names, *directories):
                path = os.path.join(top, name)
                if name in directories and not os.path.islink(path):
                    continue
                info = os.lstat(path)
                content = os.readlink(path).encode() if os.path.islink(path) else None
                if content is None:
                    with open(path, "rb") as file:
                        content = file.read()
                found[os.path.relpath(path, self.root)] = (
                    info.st_mode, hashlib.sha256(content).hexdigest())
        return found

    def part(self, name):
        """The part of a checkpoint that a changed file belongs to; None for one that is free."""
        if not name.startswith(".git/"):
            return "worktree:" + name
        name = name[len(".git/"):]
        if name == "index" or name.startswith("sharedindex."):
            return "index"
        if name.startswith("refs/") or name == "packed-refs":
            return "refs"
        if name in STATE or name.startswith(STATE_DIRECTORIES):
            return None
        return None if name.startswith(FREE) else name

    def saved(self, store, checkpoint, name):
        """The content of a file in a checkpoint, as everything() has it."""
        done = self.git("cat-file", "blob", f"{checkpoint}:worktree/{name}", cwd=store, check=False)
        return hashlib.sha256(done.stdout).hexdigest() if done.returncode == 0 else None

    def assert_saved(self, before, names, states, said):
        """Both checkpoints of an execution have these files as they were.  Ignored files are in
        none."""
        store = self.store_of(before)
        for checkpoint, state in zip((before, f"refs/after/{before}"), states):
            for name in names:
                was = state[name][1] if name in state else None
                if was is None or not name.endswith(".o"):
                    self.assertEqual(self.saved(store, checkpoint, name), was, (name, said))

    def assert_moves(self, before, changed, said):
        """The checkpoint names the references that changed, HEAD and the configuration."""
        about = self.out("cat-file", "blob", f"{before}:about", cwd=self.store_of(before))
        [moves] = [line.split()[1:] for line in about.splitlines() if line.startswith("moves")]
        for name in changed:
            name = name.removeprefix(".git/")
            if name in ("HEAD", "config") or name.startswith("refs/"):
                self.assertTrue(any(name == moved or moved.endswith("/") and name.startswith(moved)
                                    for moved in moves), (name, moves, said))

    def store_of(self, before):
        """The store that has a checkpoint.  A server that ends makes it one for plain git."""
        subprocess.run([harness.AIRLOCK, "serve", "--root", str(self.root)], env=self.env, cwd=self.root,
                       stdin=subprocess.DEVNULL, capture_output=True, check=True)
        [store] = [path for path in (self.home / ".local/state/airlock").glob("*/checkpoints.git")
                   if self.git("cat-file", "-e", before, cwd=path, check=False).returncode == 0]
        return store

    def without(self, before):
        """The parts that one of the two checkpoints of an execution lacks, and the files that are
        the execution's; None: all that changed."""
        store, found = self.store_of(before), set()
        for checkpoint in (before, f"refs/after/{before}"):
            about = self.out("cat-file", "blob", f"{checkpoint}:about", cwd=store).splitlines()
            found |= {word for line in about if line.startswith("without ")
                      for word in line.split()[1:]}
        written = self.git("cat-file", "blob", f"refs/after/{before}:written", cwd=store,
                           check=False)
        files = {f"worktree:{name}" for name in written.stdout.decode().split("\0") if name}
        return found, files if written.returncode == 0 else None

    def check(self, seed, calls):
        """Some calls in the repository of a seed; gives the operations that were without a part."""
        partial = set()
        self.begin(seed)
        for _ in range(calls):
            if self.random.random() < 0.6:
                self.apply(self.edit())
            operation = self.call_at_random()
            _, tool, arguments = operation
            before = self.everything()
            result = self.apply(operation)
            after = self.everything()
            line = self.record()
            changed = {name for name in before | after if before.get(name) != after.get(name)}
            parts = {part for part in map(self.part, changed) if part}
            said = (seed, tool, arguments, result.text, sorted(changed))
            if not line["git_commit"]:
                self.assertEqual(parts, set(), said)
                continue
            without, files = self.without(line["git_commit"])
            wrote = {part for part in parts if part.startswith("worktree:")}
            lacking = {part for part in parts if part.partition(":")[0] in without
                       or part.partition(":")[0] not in ("worktree", "index", "refs")}
            self.assertEqual(lacking, set(), said)
            self.assertLessEqual(wrote, files if files is not None else wrote, said)
            self.assert_moves(line["git_commit"], changed, said)
            self.assert_saved(line["git_commit"], {part.partition(":")[2] for part in wrote},
                              (before, after), said)
            if without or files is not None:
                partial.add((tool, line["operation"]))
        return partial

    def test_random_everyday(self):
        """the same of calls that move several branches, and of those that go on"""
        self.check(random_calls.SEED * 4 + 2, 40)

    def test_random(self):
        """random calls in generated repositories change nothing outside of their checkpoints"""
        partial, each = set(), 25
        seeds = max(random_calls.CALLS // each, 1)
        for seed in range(random_calls.SEED, random_calls.SEED + seeds):
            # Many calls run for hours, beside other work.
            harness.signal.alarm(harness.CASE_SECONDS * (10 if random_calls.CALLS else 1))
            partial |= self.check(seed, each)
        if random_calls.CALLS:
            self.assertLessEqual({("git_add", "add"), ("git_commit", "commit"),
                                  ("git_checkout", "create_branch"), ("git_branch", "create"),
                                  ("git_branch", "rename"), ("git_branch", "force_delete"),
                                  ("git_checkout", "switch"), ("git_checkout", "commit"),
                                  ("git_stash", "push"), ("git_stash", "pop"),
                                  ("git_stash", "apply"), ("git_merge", "merge"),
                                  ("git_restore", "both"), ("git_checkout", "force"),
                                  ("git_restore", "staged"), ("git_restore", "worktree"),
                                  ("git_checkout", "restore_paths")}, partial)


if __name__ == "__main__":
    harness.main()
