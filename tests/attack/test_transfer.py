#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server that sends without end, or that is cut: what a transfer writes is bounded, and what it
leaves goes."""
import os
import pathlib
import subprocess
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
import harness
import remotes
import servers

LIMIT = 1 << 20


class Case(remotes.Case):
    """A hub with more than a transfer may write."""

    def setUp(self):
        super().setUp()
        self.with_origin()
        self.elsewhere("big.bin", os.urandom(2 * LIMIT))
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f"[tools.git]\nmax_fetch_bytes = {LIMIT}\n", encoding="utf-8")
        self.config = config
        self.objects = self.root / ".git/objects"

    def daemon(self):
        """The hub is reached over the network."""
        server = servers.Daemon(self, self.top)
        self.git("config", "remote.origin.url", server.url("hub.git"))
        return server

    def temporary(self):
        """Names of unfinished packs and objects."""
        return sorted(path.name for path in self.objects.rglob("tmp_*"))

    def written(self):
        """How much is in the object store."""
        return sum(path.stat().st_size for path in self.objects.rglob("*") if path.is_file())


class Bound(Case):
    """max_fetch_bytes"""

    def too_much(self):
        """A fetch that is stopped, saying why."""
        before = self.written()
        for tool in "git_fetch", "git_pull":
            result = self.fails(7034, tool)
            self.assertIn("max_fetch_bytes", result.text)
            self.assertEqual(self.temporary(), [])
            self.assertEqual(self.written(), before)

    def test_control(self):
        """plain git writes all of it, and leaves what it had when it is stopped"""
        limited = ["prlimit", f"--fsize={LIMIT}", "git", "fetch", "-q", "origin"]
        done = subprocess.run(limited, cwd=self.root, env=self.env, check=False,
                              capture_output=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertTrue(self.temporary())
        self.git("fetch", "-q", "origin")
        self.assertGreater(self.written(), 2 * LIMIT)

    def test_network(self):
        """a fetch over the network writes no more than max_fetch_bytes"""
        self.daemon()
        self.too_much()

    def test_here(self):
        """the same from a repository on this machine"""
        self.too_much()

    def test_unpacking(self):
        """the limit is for all objects together, whatever unpackLimit says"""
        for i in range(3):
            self.elsewhere(f"part{i}", os.urandom(LIMIT * 3 // 4))
        for key in "fetch.unpackLimit", "transfer.unpackLimit":
            self.git("config", key, "1000")
        self.too_much()

    def test_enough(self):
        """what fits comes, a byte count larger than that of one read"""
        self.daemon()
        self.config.write_text(f"[tools.git]\nmax_fetch_bytes = {3 * LIMIT}\n", encoding="utf-8")
        self.gives("git_pull")
        self.assertEqual(self.here(), self.at_hub())
        self.git("fsck", "--strict")

    def test_push(self):
        """a push to a repository on this machine is bounded as well"""
        self.commit("mine.bin", os.urandom(2 * LIMIT), "mine")
        self.git("branch", "mine")
        before = sorted(path.name for path in (self.hub / "objects").rglob("*"))
        self.fails(7034, "git_push", {"branch": "mine"})
        self.assertEqual(sorted(path.name for path in (self.hub / "objects").rglob("*")), before)


class Leftovers(Case):
    """What a transfer that was cut leaves; the limit is no matter here."""

    def cut(self):
        """A fetch whose connection ends in the middle of the pack."""
        self.config.unlink()
        cut = servers.Cut(self, self.daemon().port, LIMIT)
        self.git("config", "remote.origin.url", f"git://127.0.0.1:{cut.port}/hub.git")

    def outlive_margin(self, names):
        """Let time pass until these files are older than a transfer that begins now: times of files
        are coarse, so a transfer takes those of the last 20 ms for its own."""
        for name in names:
            changed = (self.objects / "pack" / name).stat().st_ctime_ns
            while time.time_ns() - changed < 40_000_000:
                pass

    def test_cut(self):
        """a connection that is cut leaves nothing, where plain git leaves a pack"""
        self.cut()
        self.git("-c", "fetch.unpackLimit=1", "fetch", "-q", check=False)
        left = self.temporary()
        self.assertTrue(left)
        self.outlive_margin(left)
        self.fails(7034, "git_fetch")
        self.assertEqual(self.temporary(), left)

    def test_killed(self):
        """one that is killed at its deadline leaves nothing either"""
        held = servers.Held(self, self.daemon().port, LIMIT)
        self.addCleanup(held.go.set)
        self.git("config", "remote.origin.url", f"git://127.0.0.1:{held.port}/hub.git")
        self.config.write_text("[tools.git]\ntimeout_ms = 700\n", encoding="utf-8")
        self.fails(7035, "git_fetch")
        self.assertEqual(self.temporary(), [])

    def test_others(self):
        """what others wrote stays: older files, links, directories, other names, open files"""
        old = self.objects / "pack/tmp_pack_old1"
        old.write_bytes(b"x")
        self.outlive_margin([old.name])
        self.cut()
        held = servers.Held(self, servers.Daemon(self, self.top).port, LIMIT)
        self.git("config", "remote.origin.url", f"git://127.0.0.1:{held.port}/hub.git")
        server = harness.Server(self, "--toolset", "workflow", "--root", str(self.top))
        number = server.ask("git_fetch", {"cwd": str(self.root)})
        while not any(name.startswith("tmp_pack_") and name != old.name
                      for name in self.temporary()):
            pass
        pack = self.objects / "pack"
        (pack / "tmp_pack_link").symlink_to(old)
        (pack / "tmp_pack_dir").mkdir()
        (pack / "tmp-else").write_bytes(b"x")
        with open(pack / "tmp_idx_open", "wb"):
            server.send(method="notifications/cancelled", params={"requestId": number})
            server.close()  # it ends when its calls have
            held.go.set()
            self.assertEqual(self.temporary(), ["tmp_idx_open", "tmp_pack_dir", "tmp_pack_link",
                                                "tmp_pack_old1"])
            self.assertTrue((pack / "tmp-else").exists())

    def test_another_git(self):
        """while another git works in the repository everything stays"""
        self.cut()
        reader = subprocess.Popen(["git", "cat-file", "--batch"], cwd=self.root, env=self.env,
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        reader.stdin.write(b"HEAD\n")
        reader.stdin.flush()
        reader.stdout.readline()
        self.fails(7034, "git_fetch")
        self.assertTrue(self.temporary())
        reader.communicate()


if __name__ == "__main__":
    harness.main()
