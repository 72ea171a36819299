#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints of a server that runs, or was killed: every airlock sees them, and so does plain git."""
import harness
import rollback


class Recent(rollback.Rollback):
    def references(self):
        """The names of the store's references, as plain git has them."""
        [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
        return self.out("for-each-ref", "--format=%(refname)", cwd=store).split()

    def work(self, server):
        """Two calls; the repository before each and after both."""
        server.ok("git_branch", {"create": "first"})
        seen = self.references()
        states = [self.snapshot()]
        server.ok("git_add", {"paths": ["dir/b.txt", "untracked.txt"]})
        states.append(self.snapshot())
        server.ok("git_commit", {"type": "fix", "message": "x"})
        self.assertEqual(len(self.references()), len(seen) + 4)
        return (*states, self.snapshot())

    def kill(self, server):
        """The server does not come to its end."""
        server.process.kill()
        server.process.wait()

    def test_terminal(self):
        """a command in a terminal goes back while the server runs, and the server goes on"""
        self.rich()
        server = harness.Server(self)
        _, second, _ = self.work(server)
        self.assertEqual(self.command("diff").returncode, 0)
        self.rollback()
        self.assert_same(second)
        server.ok("git_branch", {"create": "more"})
        self.assertEqual(self.out("rev-parse", "more"), self.out("rev-parse", "HEAD"))
        self.rollback()
        self.assert_same(second)
        server.ok("git_restore", {"paths": ["dir/b.txt"], "staged": True})
        self.rollback()
        self.assert_same(second)
        self.assertEqual(self.command("log", "--verify").returncode, 0)

    def test_killed(self):
        """a server that is killed leaves everything that it did"""
        self.rich()
        server = harness.Server(self)
        first, second, third = self.work(server)
        self.kill(server)
        self.rollback()
        self.assert_same(second)
        self.rollback()
        self.assert_same(third)
        self.rollback("4")
        self.assert_same(first)

    def test_stash(self):
        """a stash that is dropped comes back, whatever gc ran"""
        self.rich()
        server = harness.Server(self)
        server.ok("git_branch", {"create": "first"})
        server.ok("git_stash", {"action": "push"})
        lost, stashes = self.out("rev-parse", "stash@{0}").strip(), self.out("stash", "list")
        server.ok("git_stash", {"action": "drop"})
        self.kill(server)
        self.git("reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all")
        self.git("gc", "-q", "--prune=now")
        self.assertNotEqual(self.git("cat-file", "-e", lost, check=False).returncode, 0)
        self.rollback()
        self.assertEqual(self.out("stash", "list"), stashes)
        self.git("fsck", "--strict")
        self.assertEqual(self.out("show", f"{lost}:a.txt"), "modified\n")
        self.rollback("3")
        self.assertEqual(self.out("show", ":dir/b.txt"), "staged\n")

    def test_next(self):
        """the next server goes on where the killed one was"""
        self.rich()
        server = harness.Server(self)
        first, _, _ = self.work(server)
        self.kill(server)
        server = harness.Server(self)
        server.ok("git_branch", {"create": "next"})
        self.kill(server)
        self.rollback("3")
        self.assert_same(first)

    def test_ended(self):
        """a server that ends leaves plain git everything"""
        self.rich()
        server = harness.Server(self)
        self.work(server)
        server.process.stdin.close()
        server.process.wait()
        found = self.references()
        self.assertEqual(len([name for name in found if name.startswith("refs/before/")]), 3)
        self.assertEqual({name.replace("before", "after") for name in found},
                         {name.replace("before", "after") for name in found
                          if name.startswith("refs/after/")})
        [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
        self.git("fsck", "--strict", cwd=store)


if __name__ == "__main__":
    harness.main()
