#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A destructive call that is killed, wherever that is: it can be undone, and nothing is lost.

Run as killed.py says.
"""
import json

import harness
import killed

# What a snapshot has of the stash.
STASH = ("stash", "git:logs/refs/stash")


class Killed(killed.Killed):
    def prepare(self, *first):
        """A repository with something to lose, after a call, when there is one."""
        self.fill()
        self.git("checkout", "-q", "side")
        self.side = self.commit("side.txt", "only here\n", "only on side")
        self.git("checkout", "-q", "main")
        for tool, arguments in first:
            self.ok(tool, arguments)
        self.keep()

    def words(self, tool, arguments, *options):
        """The command line of a call."""
        return ("call", "--json", "--root", str(self.root), "--approval", "allow", *options, tool,
                json.dumps(arguments))

    def unlock(self):
        """A git that ends with its airlock cannot remove its locks: a user does, as git says."""
        for path in (self.root / ".git").rglob("*.lock"):
            path.unlink()

    def check(self, tool, before):
        """After a kill, and a gc at the worst moment, it is as if the call had never been."""
        killed_at = self.snapshot()
        self.unlock()
        self.collect()
        collected = self.snapshot()
        self.ok("git_branch", {"create": "next"})
        self.assertIsNotNone(self.record()["git_commit"])
        found = [line for line in self.lines() if line["tool"] == tool]
        self.assertLessEqual(len(found), 1, found)
        if found:
            self.assertIn(found[0]["outcome"], ("interrupted", "ok"))
        if found and found[0]["git_commit"]:
            [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
            done = self.git("rev-parse", "-q", "--verify", "refs/after/" + found[0]["git_commit"],
                            cwd=store, check=False)
            self.rollback("2", "--force")
            # What cannot touch the stash, or did not, leaves its log as it was expired.
            can_touch = tool in ("git_stash", "git_merge", "git_diff")
            kept = STASH if tool != "git_stash" and (done.returncode == 0 or not can_touch) else ()
            self.assert_same(before | {name: collected[name] for name in kept
                                       if name in collected})
        else:
            self.assertEqual(killed_at, before)
            self.rollback()
            self.assert_same(collected)
        self.assertEqual(self.out("show", "side:side.txt"), "only here\n")
        self.assertEqual(self.command("log", "--verify").returncode, 0)
        [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
        self.git("rev-list", "--objects", "--all", "--quiet", cwd=store)
        return found

    def assert_survives(self, tool, arguments, *options, first=lambda: None):
        """The call at its steps; what is looked at first, before anything is put right."""
        before, outcomes = self.snapshot(), set()
        wanted = {("interrupted", True), ("interrupted", False)}

        def check():
            first()
            found = self.check(tool, before)
            outcomes.add((found[0]["outcome"], bool(found[0]["git_commit"])) if found else None)

        # How many steps there are depends on the file system: those between are tried where the
        # ones that were did not show both.
        for between in range(0, self.pace(), 7):
            if not wanted <= outcomes:
                self.walk(self.words(tool, arguments, *options), check, killed.FIRST + between)
        self.assertLessEqual(wanted, outcomes)


class Calls(Killed):
    def test_stash(self):
        """git_stash, the first call there is, killed at its steps"""
        self.prepare()
        self.assert_survives("git_stash", {"action": "clear"})

    def test_restore(self):
        """git_restore killed at its steps"""
        self.prepare(("git_add", {"paths": ["dir/over.txt"]}))
        self.assert_survives("git_restore", {"paths": ["."], "staged": True, "worktree": True})

    def test_checkout(self):
        """git_checkout killed at its steps"""
        self.prepare(("git_add", {"paths": ["dir/over.txt"]}))
        self.assert_survives("git_checkout", {"paths": ["a.txt"]})

    def test_followers(self):
        """git_rebase that moves several branches killed at its steps: all come back, or none went"""
        self.git("checkout", "-q", "-b", "side")
        self.commit("side.txt", "only here\n", "only on side")
        for name in ("one", "two"):
            self.commit(f"{name}.txt", name, name)
            self.git("branch", f"at-{name}")
        self.git("checkout", "-q", "-b", "work")
        self.git("checkout", "-q", "main")
        self.commit("main.txt", "main\n", "on main")
        self.git("checkout", "-q", "work")
        self.write("a.txt", "not committed\n")
        self.keep()
        self.reset()
        self.assert_survives("git_rebase", {"onto": "main", "update_refs": True},
                             "--toolset", "everyday", first=self.none_or_all)

    def none_or_all(self):
        """Both branches and HEAD are above main, or none of the three."""
        counts = {self.out("rev-list", "--count", f"{name}..main").strip()
                  for name in ("HEAD", "at-one", "at-two", "side")}
        self.assertEqual(len(counts), 1, counts)

    def test_patches(self):
        """git_diff that replaces patch files killed at its steps"""
        self.prepare()
        nothing = self.out("hash-object", "-t", "tree", "/dev/null").strip()
        new = {name: self.git("diff", nothing, "side", "--", name).stdout
               for name in ("a.txt", "side.txt")}
        for name in new:
            self.write(f"out/{name}.patch", f"old {name}\n")
        self.keep()

        def whole():
            for name, text in new.items():
                self.assertIn((self.root / f"out/{name}.patch").read_bytes(),
                              (text, f"old {name}\n".encode()))

        self.assert_survives("git_diff", {"from_ref": nothing, "to_ref": "side",
                                          "output_dir": "out"}, first=whole)


class Aborts(Killed):
    """What was half resolved is in no commit and no index."""

    stride = 2

    def snapshot(self, root=None):
        """What an index remembers about file times is not the same in a copy."""
        return super().snapshot(root) | {"git:index": self.out("ls-files", "-s", "-v")}

    def reset(self):
        """git gives nothing up while it takes files for changed."""
        super().reset()
        self.git("update-index", "-q", "--refresh", check=False)

    def assert_aborts(self, operation):
        """git_merge that gives up what is in progress, at its steps."""
        self.git("checkout", "-q", "-b", "side")
        self.commit("side.txt", "only here\n", "only on side")
        self.commit("a.txt", "theirs\n", "theirs")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "ours\n", "ours")
        self.write("untracked.txt", "untracked\n")
        self.git(operation, "-q", "side", check=False)
        self.write("a.txt", "half resolved\n")
        self.keep()
        self.reset()
        self.assert_survives("git_merge", {"branch": "", "abort": True}, "--toolset", "workflow")

    def test_merge(self):
        """git_merge that gives up a merge killed at its steps"""
        self.assert_aborts("merge")

    def test_rebase(self):
        """git_merge that gives up a rebase killed at its steps"""
        self.assert_aborts("rebase")


    def waiting(self):
        """Two branches that collide, and changes of every kind."""
        self.git("checkout", "-q", "-b", "side")
        self.commit("side.txt", "only here\n", "only on side")
        self.commit("a.txt", "theirs\n", "theirs")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "ours\n", "ours")
        self.write("dir/over.txt", "staged\n")
        self.write("new.txt", "new\n")
        self.git("add", "-A")
        self.write("dir/over.txt", "not staged\n")
        self.write("untracked.txt", "untracked\n")

    def test_waiting(self):
        """git_merge that puts uncommitted changes aside killed at its steps"""
        self.waiting()
        self.keep()
        self.reset()
        self.assert_survives("git_merge", {"branch": "side"}, "--toolset", "everyday")

    def test_waited(self):
        """git_conflicts that brings them back killed at its steps"""
        self.waiting()
        self.keep()
        self.ok("git_merge", {"branch": "side"}, "--toolset", "everyday")
        self.keep()
        self.reset()
        self.assert_survives("git_conflicts", {"action": "abort"}, "--toolset", "everyday")


class Branches(Killed):
    """What only a branch reached is kept before it goes, not when airlock looks again."""

    def assert_kept(self, arguments, *options):
        """Killed as soon as the branch is gone, then a gc: its commit comes back all the same."""
        self.prepare()
        before = self.snapshot()
        words = self.words("git_branch", arguments, *options)
        low, high = 0, self.count(words)  # there after low steps, gone after high
        while high - low > 1:
            middle = (low + high) // 2
            self.reset()
            self.assertEqual(self.step(middle, *words).returncode, 137)
            if self.git("rev-parse", "-q", "--verify", "side", check=False).returncode:
                high = middle
            else:
                low = middle
        self.reset()
        self.step(high, *words)
        self.assertEqual(self.git("show", "side", check=False).returncode, 128)
        self.collect()
        self.assertEqual(self.git("cat-file", "-e", self.side, check=False).returncode, 1)
        collected = self.snapshot()
        self.rollback("--force")
        self.assert_same(before | {name: collected[name] for name in STASH if name in collected})
        self.assertEqual(self.out("show", "side:side.txt"), "only here\n")

    def test_delete(self):
        """git_branch killed when the branch was gone"""
        self.assert_kept({"force_delete": "side"})

    def test_workflow_delete(self):
        """workflow's git_branch killed when the branch was gone"""
        self.assert_kept({"action": "delete", "name": "side", "force": True},
                         "--toolset", "workflow")

    def test_workflow_others(self):
        """a branch that workflow's git_branch renames, or makes, does not go: nothing is packed"""
        self.init(self.base / "other")
        other = self.base / "other"
        for arguments in ({"action": "create", "name": "b"},
                          {"action": "rename", "name": "b", "newName": "c"}):
            self.ok("git_branch", arguments, "--toolset", "workflow", root=other, cwd=other)
        store = self.home / ".local/state/airlock"
        self.assertEqual(list(store.glob("*/checkpoints.git/objects/pack/*.keep")), [])
        self.ok("git_branch", {"action": "delete", "name": "c"}, "--toolset", "workflow",
                root=other, cwd=other)
        self.assertEqual(len(list(store.glob("*/checkpoints.git/objects/pack/*.keep"))), 1)


if __name__ == "__main__":
    harness.main()
