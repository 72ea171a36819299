#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checkpoints as a user meets them: when one is taken, and what happens when none can be."""
import json
import os
import subprocess

import harness
import rollback


class Checkpoints(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()

    def configure(self, *lines):
        """Write the [journal] table of the configuration."""
        path = self.home / ".config/airlock/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join(["[journal]", *lines, ""]), encoding="utf-8")

    def store(self):
        """The only store there is."""
        [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
        return store

    def stored(self, *words):
        """What git says in the store."""
        return self.out(f"--git-dir={self.store()}", *words)

    def make_unfit(self):
        """The working tree gets more than the store may hold."""
        self.write("noise", os.urandom(2 << 20))

    def test_before_and_after(self):
        """what changes the repository has a checkpoint before, which the journal names, and one after"""
        self.write("a.txt", "two\n")
        self.ok("git_add", {"paths": ["a.txt"]})
        before = self.record()["git_commit"]
        after = self.stored("rev-parse", f"refs/after/{before}").strip()
        self.assertEqual(self.stored("rev-parse", f"refs/before/{before}").strip(), before)
        self.assertEqual(self.stored("rev-parse", f"{after}^").strip(), before)
        self.assertNotEqual(self.stored("rev-parse", f"{before}:index"),
                            self.stored("rev-parse", f"{after}:index"))
        self.stored("fsck", "--full", "--strict")
        self.assertEqual(self.git("cat-file", "-e", before, check=False).returncode, 1)

    def test_effects(self):
        """a checkpoint has what the operation can change, and says what it is without"""
        self.write("a.txt", "two\n")
        for tool, arguments, parts, about in (
                ("git_add", {"paths": ["a.txt"]}, ["index", "state"], "worktree refs"),
                ("git_commit", {"type": "fix", "message": "m"}, ["index", "refs", "state"], "worktree"),
                ("git_branch", {"create": "b"}, ["refs", "state"], "worktree index"),
                ("git_restore", {"paths": ["."]}, ["index", "state", "worktree"], "refs"),
                ("git_stash", {"action": "push", "include_untracked": True},
                 ["index", "refs", "state", "worktree"], None),
                ("git_stash", {"action": "pop"}, ["index", "refs", "state", "worktree"], None)):
            if tool in ("git_restore", "git_stash") and arguments.get("action") != "pop":
                self.write("a.txt", tool)
            if arguments.get("action") != "pop":
                self.write("b.txt", tool)
            self.ok(tool, arguments)
            before = self.record()["git_commit"]
            for checkpoint in (before, f"refs/after/{before}"):
                found = self.stored("ls-tree", "--name-only", checkpoint).split()
                lists = ("modes", "staged", "writes", "written")  # where there are any
                self.assertEqual([name for name in found if name not in lists],
                                 ["about", *parts], tool)
                found = self.stored("cat-file", "blob", f"{checkpoint}:about")
                self.assertIn(f"\nwithout {about}\n" if about else "\nwithout\n", found, tool)
        self.stored("fsck", "--full", "--strict")

    def test_reads_take_none(self):
        """what only reads takes none, and neither does what is refused or only asked about"""
        self.ok("git_status")
        self.ok("git_log")
        self.assertIsNone(self.record()["git_commit"])
        self.call("git_commit", {"message": "m"}, approval="deny")
        self.assertIsNone(self.record()["git_commit"])
        self.assertEqual(list((self.home / ".local/state/airlock").glob("*/checkpoints.git")), [])

    def test_switched_off(self):
        """--no-git and checkpoints = false take none"""
        self.write("a.txt", "two\n")
        self.ok("git_add", {"paths": ["a.txt"]}, "--no-git")
        self.assertIsNone(self.record()["git_commit"])
        self.configure("checkpoints = false")
        self.ok("git_restore", {"paths": ["a.txt"]})
        self.assertIsNone(self.record()["git_commit"])

    def test_nothing_lost_without_one(self):
        """R4-7001 without a checkpoint what loses something is refused, and the rest goes on"""
        self.make_unfit()
        self.configure("max_store_bytes = 1048576")
        self.write("a.txt", "mine\n")
        result = self.call("git_restore", {"paths": ["a.txt"]})
        self.assertEqual((result.kind, result.error["code"], result.error["name"]),
                         ("ExecutionFailed", 7001, "GIT_SNAPSHOT_DISABLED"), result)
        self.assertIn("max_store_bytes", result.text)
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "mine\n")
        self.git("branch", "b")
        result = self.ok("git_checkout", {"branch": "b"})
        self.assertIn("No checkpoint can be taken", result.stderr)
        self.assertIsNone(self.record()["git_commit"])

    def test_warned_only(self):
        """on_snapshot_failure = "warn" goes on, and says so"""
        self.make_unfit()
        self.configure("max_store_bytes = 1048576", 'on_snapshot_failure = "warn"')
        self.write("a.txt", "mine\n")
        result = self.ok("git_restore", {"paths": ["a.txt"]})
        self.assertIn("No checkpoint can be taken", result.stderr)
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "one\n")

    def test_left_out(self):
        """a file beyond max_file_bytes is left out and named, an ignored one taken when it is named"""
        self.configure("max_file_bytes = 1000", 'include_ignored = [".env"]')
        self.write(".gitignore", ".env\n*.log\n")
        self.write(".env", "KEY=1\n")
        self.write("x.log", "log\n")
        self.write("limit", b"x" * 1000)
        self.write("beyond\x1b[31m", b"x" * 1001)
        self.commit("c.txt", "c\n", "second")
        self.write("c.txt", "changed\n")
        self.write("a.txt", "two\n")
        result = self.ok("git_stash", {"action": "push"})
        self.assertIn("leaves out", result.stderr)
        self.assertIn("beyond", result.stderr)
        self.assertNotIn("\x1b", result.stderr)
        names = self.stored("ls-tree", "--name-only", f"{self.record()['git_commit']}:worktree")
        self.assertEqual(names.split(), [".env", ".gitignore", "a.txt", "c.txt", "limit"])

    def test_left_out_and_restored(self):
        """R4-7001 a file that no checkpoint has is restored only if that changes nothing"""
        self.configure("max_file_bytes = 1000")
        self.commit("large", b"x" * 1001, "large")
        self.write("a.txt", "two\n")
        os.utime(self.root / "large", (1, 1))
        self.ok("git_restore", {"paths": ["."]})
        self.assertEqual((self.root / "a.txt").read_text(), "one\n")
        self.write("large", b"y" * 1001)
        for tool in ("git_restore", "git_checkout"):
            result = self.call(tool, {"paths": ["."]})
            self.assertEqual((result.kind, result.error["code"]), ("ExecutionFailed", 7001), result)
            self.assertIn("'large' would be lost", result.text)
        self.assertEqual((self.root / "large").read_bytes(), b"y" * 1001)
        (self.root / "large").unlink()
        self.write("large/kept.o", "ignored\n")
        self.write(".git/info/exclude", "*.o\n")
        result = self.call("git_restore", {"paths": ["."]})
        self.assertEqual((result.kind, result.error["code"]), ("ExecutionFailed", 7001), result)
        self.assertIn("'large/kept.o' would be lost", result.text)

    def test_wrong_keys(self):
        """a wrong value of a key exits 2 and names it"""
        for line, key in (('on_snapshot_failure = "maybe"', "on_snapshot_failure"),
                          ("max_store_bytes = 1", "max_store_bytes"),
                          ("max_age_days = 0", "max_age_days"),
                          ("max_file_bytes = 0", "max_file_bytes"),
                          ('include_ignored = "x"', "include_ignored"),
                          ('checkpoints = "yes"', "checkpoints")):
            self.configure(line)
            done = subprocess.run([harness.AIRLOCK, "call", "git_status"], cwd=self.root,
                                  env=self.env, capture_output=True, check=False, text=True,
                                  stdin=subprocess.DEVNULL, timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(f"journal.{key}", done.stderr)

    def test_hostile(self):
        """nothing a repository configures runs for a checkpoint, and none of it is believed"""
        canary = self.base / "canary"
        evil = self.base / "evil"
        evil.write_text(f"#!/bin/sh\ntouch '{canary}'\ncat\n", encoding="utf-8")
        evil.chmod(0o755)
        for name in ("core.fsmonitor", "filter.x.clean", "filter.x.process", "core.hooksPath"):
            value = self.base if name == "core.hooksPath" else evil
            self.git("config", name, str(value))
        (self.base / "post-index-change").symlink_to(evil)
        self.write(".gitattributes", "* filter=x text=auto working-tree-encoding=UTF-16\n")
        self.write("a.txt", b"raw\r\n\xff")
        self.git("stash", "push", "-q", check=False)
        self.assertTrue(canary.exists(), "the control is safe")
        canary.unlink()
        self.git("config", "--unset", "core.fsmonitor")
        self.write("a.txt", b"raw\r\n\xff")
        self.git("config", "core.fsmonitor", str(evil))
        canary.unlink(missing_ok=True)
        self.ok("git_branch", {"create": "b"})
        self.ok("git_checkout", {"branch": "b"})
        self.assertFalse(canary.exists())
        blob = self.git(f"--git-dir={self.store()}", "cat-file", "blob",
                        f"{self.record()['git_commit']}:worktree/a.txt")
        self.assertEqual(blob.stdout, b"raw\r\n\xff")

    def test_forged_objects(self):
        """an object forged in the repository is not what a checkpoint gives back"""
        self.write("b.txt", "true\n")
        self.ok("git_add", {"paths": ["b.txt"]})
        self.ok("git_add", {"paths": ["b.txt"]})
        before = self.record()["git_commit"]
        true = self.out("rev-parse", ":b.txt").strip()
        self.write("b.txt", "forged\n")
        forged = self.out("hash-object", "-w", "b.txt").strip()
        objects = self.root / ".git/objects"
        path = objects / true[:2] / true[2:]
        path.unlink()
        path.write_bytes((objects / forged[:2] / forged[2:]).read_bytes())
        self.assertEqual(self.out("cat-file", "-p", true), "forged\n")
        name = f"{before}:staged/{true[:2]}/{true[2:]}"
        self.assertEqual(self.stored("cat-file", "-p", name), "true\n")
        self.ok("git_stash", {"action": "push", "include_untracked": True})
        self.assertEqual(self.stored("cat-file", "-p", name), "true\n")

    def test_two_at_once(self):
        """two that use one store at once both have their checkpoints"""
        command = [harness.AIRLOCK, "call", "--json", "--approval", "allow", "git_branch"]
        running = [subprocess.Popen([*command, json.dumps({"create": f"b{i}"})], cwd=self.root,
                                    env=self.env, stdin=subprocess.DEVNULL,
                                    stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
                   for i in range(6)]
        for process in running:
            _, err = process.communicate(timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual((process.returncode, err), (0, b""))
        refs = self.stored("for-each-ref", "--format=%(refname)").split()
        self.assertEqual(len(refs), 12)
        self.stored("fsck", "--full", "--strict")


class Few(rollback.Rollback):
    """Few files are in the checkpoint without the store's index: 64 of 1 MiB together."""

    def made(self, files):
        """The files of the checkpoints before and after a call, beside such files."""
        for name, text in files.items():
            self.write(name, text)
        self.write("a.txt", "changed\n")
        self.ok("git_checkout", {"paths": ["a.txt"]}, "--toolset", "git")
        before = self.record()["git_commit"]
        [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
        found = []
        for commit in (before, self.out("rev-parse", f"refs/after/{before}", cwd=store).strip()):
            names = self.out("ls-tree", "-r", "--name-only", f"{commit}:worktree",
                             cwd=store).split()
            found.append({name: self.out("show", f"{commit}:worktree/{name}", cwd=store)
                          for name in names if name.startswith("new")})
        return found

    def test_number(self):
        """63, 64 and 65 changed files are in both checkpoints"""
        self.made({})
        for number in (62, 63, 64):  # and a.txt
            files = {f"new{i}": f"{number} {i}\n" for i in range(number)}
            self.assertEqual(self.made(files), [files, files])

    def test_bytes(self):
        """so are files of a byte less than 1 MiB together, of 1 MiB, and of a byte more"""
        self.made({})
        for number in (-1, 0, 1):
            files = {"new": "x" * ((1 << 20) - len("changed\n") + number)}
            self.assertEqual(self.made(files), [files, files])


if __name__ == "__main__":
    harness.main()
