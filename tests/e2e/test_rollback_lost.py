#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`airlock rollback` after a crash and after a gc, and `airlock diff`."""
import json
import os
import shutil

import harness
import rollback


class Crashes(rollback.Rollback):
    def crash(self):
        """Kill a server while git_add writes; what is left of it goes."""
        with open(self.root / "huge", "wb") as file:
            file.truncate(1 << 40)
        server = harness.Server(self)
        server.ask("git_add", {"paths": ["a.txt", "huge"], "timeout_ms": 600000})
        while not list((self.root / ".git/objects/pack").glob("tmp_pack_*")):
            os.sched_yield()
        server.process.kill()
        server.process.wait()
        while (self.root / ".git/index.lock").exists() or self.processes_in(self.root):
            os.sched_yield()
        (self.root / "huge").unlink()

    def test_interrupted(self):
        """after a crash it refuses without --force, and goes back with it"""
        self.write("a.txt", "two\n")
        self.crash()
        before = self.snapshot()
        self.git("add", "a.txt")
        after = self.snapshot()
        self.refuses("execution 1 was interrupted")
        line = self.record()
        self.assertEqual((line["outcome"], line["tool"]), ("refused", "rollback"))
        self.rollback("--force")
        self.assert_same(before)
        self.rollback()
        self.assert_same(after)
        self.assertEqual(self.command("log", "--verify").returncode, 0)

    def test_lock(self):
        """the lock of a killed rollback is named as that, at once, and not as one to be removed"""
        (self.root / ".git/index.lock").write_text("airlock rollback 0123456789abcdef\n")
        self.write("a.txt", "two\n")
        result = self.call("git_add", {"paths": ["a.txt"]})
        self.assertTrue(result.failed, result)
        self.assertIn("A rollback was interrupted", result.text)
        self.assertIn("airlock rollback", result.text)
        self.assertNotIn("remove", result.text)
        self.assertIn("of a rollback that was killed", self.command("doctor").stdout)

    def test_shown(self):
        """after a crash `airlock diff` compares with the present, and keeps no checkpoint of it"""
        self.write("a.txt", "two\n")
        self.crash()
        self.write("new.txt", "since\n")
        self.git("add", "new.txt")
        self.command("diff")  # what the killed server left becomes packs and references
        done = self.assert_untouched(lambda: self.command("diff"))
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        self.assertIn("+since\n", done.stdout)

    def test_taken_away(self):
        """what a killed call had taken away comes back with a rollback, or is named; not with a dry
        run"""
        self.write("a.txt", "two\n")
        self.ok("git_add", {"paths": ["a.txt"]})
        folder = self.root / ".git/airlock/aside/7"
        folder.mkdir(parents=True)
        (folder / "record").write_bytes(b"item " + os.fsencode(self.root / "mine") + b"\0")
        for number in range(2):  # the power failed before the second one's place was on the disk
            (folder / str(number)).write_text(f"mine {number}\n", encoding="utf-8")
        self.assert_untouched(lambda: self.command("rollback", "--dry-run"))
        self.assertFalse((self.root / "mine").exists())
        done = self.command("rollback")
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual((self.root / "mine").read_text(encoding="utf-8"), "mine 0\n")
        self.assertEqual((folder / "1").read_text(encoding="utf-8"), "mine 1\n")
        self.assertIn(f"?: {folder}/1\n", done.stderr)
        self.assertNotIn("aside", self.command("rollback").stderr)  # once is enough

    def test_line(self):
        """the line of the call that was interrupted names its checkpoint"""
        self.crash()
        self.ok("git_status")
        lines = self.command("log", "--json").stdout.splitlines()
        line = json.loads(lines[0])
        self.assertEqual((line["outcome"], line["operation"], line["repository"]),
                         ("interrupted", "add", str(self.root)))
        self.assertRegex(line["git_commit"], "^[0-9a-f]{40}$")


class Lost(rollback.Rollback):
    """Objects that a gc removed meanwhile."""

    def collect(self):
        """Forget all that can be forgotten, in the repository and in the store."""
        stores = [path for path in (self.home / ".local/state/airlock").glob("*/checkpoints.git")]
        self.assertEqual(len(stores), 1)
        for where in (self.root, *stores):
            self.git("-c", "gc.pruneExpire=now", "reflog", "expire", "--expire=now", "--all",
                     cwd=where, check=False)
            self.git("gc", "-q", "--prune=now", cwd=where, check=False)

    def test_collected(self):
        """reflogs expired and objects pruned, in the repository and in the store: nothing is lost"""
        self.rich()
        self.git("checkout", "-q", "side", check=False)
        self.git("stash", "push", "-q", "-m", "on side")
        self.git("checkout", "-q", "side")
        self.commit("side.txt", "only here\n", "only on side")
        self.git("checkout", "-q", "main")
        self.write("a.txt", "staged, then restored\n")
        self.git("add", "a.txt")
        before = self.snapshot()
        calls = (("git_restore", {"paths": ["a.txt"], "staged": True, "worktree": True}),
                 ("git_branch", {"force_delete": "side"}),
                 ("git_stash", {"action": "drop", "index": 0}),
                 ("git_stash", {"action": "clear"}))
        for tool, arguments in calls:
            self.ok(tool, arguments)
        after = self.snapshot()
        self.collect()
        self.rollback(str(len(calls)))
        self.assert_same(before)
        self.assertEqual(self.git("fsck", "--connectivity-only", check=False).returncode, 0)
        self.assertEqual(self.out("show", "side:side.txt"), "only here\n")
        self.assertEqual(self.out("show", "stash@{3}:a.txt"), "stashed 0\n")
        self.assertEqual(self.out("cat-file", "blob", ":a.txt"), "staged, then restored\n")
        self.collect()
        self.rollback()
        self.assert_same(after)

    def test_split_index(self):
        """what was staged comes back for an index that airlock does not read, too"""
        self.git("update-index", "--split-index")
        self.write("a.txt", "staged\n")
        self.write("new.txt", "staged and new\n")
        self.git("add", "a.txt", "new.txt")
        before = self.out("ls-files", "-s")
        self.ok("git_restore", {"paths": ["a.txt", "new.txt"], "staged": True})
        self.git("reset", "-q", "--hard")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        self.rollback("--force")
        self.assertEqual(self.out("ls-files", "-s"), before)
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "a.txt\nnew.txt\n")
        self.git("write-tree")

    def test_cloned_again(self):
        """another repository at the same path has checkpoints, though the store has a commit of
        the first one without its parents"""
        self.git("checkout", "-q", "-b", "side")
        self.commit("side.txt", "side\n", "only on side")
        self.git("checkout", "-q", "main")
        self.ok("git_branch", {"force_delete": "side"})
        self.rollback()
        shutil.rmtree(self.root)
        self.root.mkdir()
        self.init()
        self.commit("a.txt", "another\n", "of the second repository")
        self.write("a.txt", "not committed\n")
        before = self.snapshot()
        self.ok("git_restore", {"paths": ["a.txt"]})
        self.rollback()
        self.assert_same(before)

    def test_expired_stash_log(self):
        """a stash's log that was expired since is no reason to refuse, and comes back"""
        for number in range(3):
            self.write("a.txt", f"{number}\n")
            self.git("stash", "push", "-q", "-m", f"message {number}")
        before = self.snapshot()
        self.ok("git_stash", {"action": "drop", "index": 2})
        self.collect()
        self.rollback()
        self.assertEqual(self.snapshot()["stash"], before["stash"])
        self.assertEqual(self.out("show", "stash@{2}:a.txt"), "0\n")


class Difference(rollback.Rollback):
    def test_files(self):
        """an execution that could change one file and was interrupted: only that file is shown"""
        self.commit("b.txt", "b\n", "second")
        self.write("a.txt", "two\n")
        self.write("b.txt", "since\n")
        self.ok("git_restore", {"paths": ["a.txt"]})
        [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
        self.git("update-ref", "-d", "refs/after/" + self.record()["git_commit"], cwd=store)
        done = self.command("diff")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        self.assertIn("-two\n+one\n", done.stdout)
        self.assertNotIn("b.txt", done.stdout)
        self.assertNotIn("since", done.stdout)

    def test_lines(self):
        """`airlock diff N`: lines, what else changed, and how much"""
        self.write("a.txt", "two\n")
        self.ok("git_restore", {"paths": ["a.txt"]})
        self.ok("git_branch", {"create": "b"})
        self.ok("git_status")
        done = self.command("diff")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        head = self.out("rev-parse", "HEAD")[:10]
        self.assertEqual(done.stdout, "2 git_branch: Create branch 'b'\n"
                                      f" refs/heads/b: (none) -> {head}\n")
        done = self.command("diff", "2")
        self.assertIn("-two\n+one\n", done.stdout)
        self.assertIn(" a.txt | 2 +-\n", self.command("diff", "2", "--stat").stdout)

    def test_safe(self):
        """what a file or a name holds does nothing to the terminal"""
        self.write("x\033[2J", "two\033]0;owned\007\n")
        self.ok("git_stash", {"action": "push", "include_untracked": True})
        text = self.command("diff").stdout
        self.assertIn("two<U+001B>]0;owned", text)
        self.assertNotIn("\033", text)

    def test_none(self):
        """nothing to show, too many, a bad number, no repository"""
        done = self.command("diff")
        self.assertEqual((done.returncode, done.stderr),
                         (1, "airlock: nothing was changed in this repository\n"))
        self.ok("git_branch", {"create": "b"})
        self.assertEqual(self.command("diff", "2").returncode, 1)
        self.assertEqual(self.command("diff", "0").returncode, 2)
        done = self.command("diff", cwd=self.home)
        self.assertEqual((done.returncode, done.stderr),
                         (1, "Error: diff requires git repository\n"))


class Beside(rollback.Rollback):
    """What a call changes beside what it is asked for."""

    def test_autostash(self):
        """a commit that ends a merge puts an autostash back into the files; so does its rollback"""
        self.commit("b.txt", "b\n", "second")
        self.git("checkout", "-q", "-b", "topic")
        self.commit("b.txt", "topic\n", "theirs")
        self.git("checkout", "-q", "main")
        self.commit("b.txt", "main\n", "ours")
        self.write("a.txt", "not committed\n")
        self.git("merge", "-q", "--autostash", "topic", check=False)
        self.write("b.txt", "both\n")
        self.git("add", "b.txt")
        before = self.snapshot()
        self.ok("git_commit", {"type": "fix", "message": "both"})
        self.assertEqual((self.root / "a.txt").read_text(), "not committed\n")
        self.rollback()
        self.assert_same(before)

    def test_stash_log(self):
        """refs/stash comes back with its log, where a user took the newest entry since"""
        for text in ("older\n", "newer\n"):
            self.write("a.txt", text)
            self.git("stash", "push", "-q", "-m", text.strip())
        self.ok("git_stash", {"action": "drop", "index": 1})
        self.git("stash", "pop", "-q")
        self.git("checkout", "-q", "a.txt")
        self.rollback("--force")
        self.assertIn("older", self.out("stash", "list"))


class Nested(rollback.Rollback):
    def test_untracked(self):
        """beside a nested repository, a removed file comes back that git never knew"""
        self.git("init", "-q", "sub")
        self.write("sub/s", "s\n")
        self.git("-C", "sub", "add", "s")
        self.git("-C", "sub", "commit", "-q", "-m", "s")

        config = self.base / "config.toml"
        config.write_text("[tools.shell]\ncommand_whitelist = ['echo', 'unlink']\n",
                          encoding="utf-8")

        def run(command):
            self.ok("bash_command", {"command": command, "reason": "x"}, "--toolset", "shell",
                    "--tool=command", "--config", str(config))

        run("echo hi > new1")
        self.write("x", "precious\n")
        run("echo hi > new2")
        before = self.snapshot()
        run("unlink x")
        self.assertIn("a/x", self.command("diff", "1").stdout)
        self.rollback()
        self.assert_same(before)


if __name__ == "__main__":
    harness.main()
