#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a call changes is in its checkpoints: docs/CHECKPOINTS.md, "What each operation can change"."""
import hashlib
import os

import harness
import random_calls

# In every checkpoint.
STATE = ("HEAD", "ORIG_HEAD", "MERGE_HEAD", "MERGE_MODE", "MERGE_MSG", "MERGE_RR",
         "MERGE_AUTOSTASH", "AUTO_MERGE", "CHERRY_PICK_HEAD", "REVERT_HEAD", "REBASE_HEAD",
         "SQUASH_MSG", "config", "logs/refs/stash")
STATE_DIRECTORIES = ("rebase-merge/", "rebase-apply/", "sequencer/")

# In none: docs/ROLLBACK.md, "Not restored", and what git writes beside its work.
FREE = ("objects/", "logs/", "COMMIT_EDITMSG", "FETCH_HEAD", "rr-cache/", "branches/")


class Effects(random_calls.Repository):
    def everything(self):
        """Each file of the repository, of its git directory too, with its content."""
        found = {}
        for top, _, names in os.walk(self.root):
            for name in names:
                path = os.path.join(top, name)
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

    def without(self, before):
        """The parts that one of the two checkpoints of an execution lacks, and the files of the
        working tree that both have all the same."""
        [store] = [path for path in (self.home / ".local/state/airlock").glob("*/checkpoints.git")
                   if self.git("cat-file", "-e", before, cwd=path, check=False).returncode == 0]
        found, files = [], []
        for checkpoint in (before, f"refs/after/{before}"):
            about = self.out("cat-file", "blob", f"{checkpoint}:about", cwd=store).splitlines()
            found.append({word for line in about if line.startswith("without ")
                          for word in line.split()[1:]})
            pieces = self.out("ls-tree", "-r", "--name-only", checkpoint, "paths/", cwd=store)
            text = b"".join(self.git("cat-file", "blob", f"{checkpoint}:{piece}", cwd=store).stdout
                            for piece in pieces.split())
            files.append({f"worktree:{name.decode()}" for name in text.split(b"\0") if name})
            if "worktree" not in found[-1]:
                files.pop()
        return found[0] | found[1], set.intersection(*files) if files else set()

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
            lacking = {part for part in parts - files if part.partition(":")[0] in without
                       or part.partition(":")[0] not in ("worktree", "index", "refs")}
            self.assertEqual(lacking, set(), said)
            if without:
                partial.add((tool, line["operation"]))
        return partial

    def test_random(self):
        """random calls in generated repositories change nothing outside of their checkpoints"""
        partial, each = set(), 25
        seeds = max(random_calls.CALLS // each, 1)
        for seed in range(random_calls.SEED, random_calls.SEED + seeds):
            harness.signal.alarm(harness.WATCHDOG_SECONDS)
            partial |= self.check(seed, each)
        if random_calls.CALLS:
            self.assertLessEqual({("git_add", "add"), ("git_commit", "commit"),
                                  ("git_checkout", "create_branch"), ("git_branch", "create"),
                                  ("git_branch", "rename"), ("git_branch", "force_delete"),
                                  ("git_restore", "staged"), ("git_restore", "worktree"),
                                  ("git_checkout", "restore_paths")}, partial)


if __name__ == "__main__":
    harness.main()
