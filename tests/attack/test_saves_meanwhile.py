#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing is destroyed that is not in the store: others save files while a call discards some.

Run as `test_saves_meanwhile.py AIRLOCK MEANWHILE [SEEDS]`.  The program of meanwhile.c stops
airlock, and every git that it starts, before a system call, and there another process saves,
replaces, creates, moves or deletes files.  Afterwards every saved byte is in the working tree, in a
checkpoint, in what the repository reaches, or aside with its name in the answer.

A seed chooses steps and actions; the default is a fixed slice.  With SEEDS it is so many seeds more,
from the time on.  Plain git is the control: it loses what is saved before it unlinks a file.
"""
import collections
import os
import pathlib
import random
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

MEANWHILE = os.path.abspath(sys.argv.pop(2))
SEEDS = int(sys.argv.pop(2)) if len(sys.argv) > 2 and sys.argv[2].isdigit() else 0
STEPS = 3 if not SEEDS else 24  # of each verb, for each seed
STRIDE = 3 if not SEEDS else 1  # of the steps that are tried one after the other

import harness  # pylint: disable=wrong-import-position

NAMES = ("clean", "dirty", "gone", "deep", "staged", "untracked", "new")

# Two calls in one session.
CLIENT = """
import json, subprocess, sys
server = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
for number, (method, params) in enumerate((
        ("initialize", {"protocolVersion": "2025-06-18", "capabilities": {},
                        "clientInfo": {"name": "test", "version": "1"}}),
        ("tools/call", {"name": "git_reset", "arguments": {"to": "HEAD", "mode": "hard"}}),
        ("tools/call", {"name": "git_undo", "arguments": {}}))):
    print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}),
          file=server.stdin, flush=True)
    print(server.stdout.readline())
"""

LEAKS_OFF = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}


class Meanwhile(harness.Case):
    toolsets = None

    def setUp(self):
        super().setUp()
        self.init()
        self.kept = pathlib.Path(str(self.base) + ".kept")
        self.addCleanup(shutil.rmtree, self.kept, ignore_errors=True)
        for name in ("clean", "dirty", "gone", "d/deep", "d/dirty", "staged"):
            self.write(name, f"{name} committed\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "base")

    def dirty(self):
        """Changes of every kind."""
        self.write("dirty", "dirty mine\n")
        self.write("d/dirty", "d/dirty mine\n")
        self.write("staged", "staged mine\n")
        self.git("add", "staged")
        (self.root / "gone").unlink()
        self.write("untracked", "untracked mine\n")

    def collide(self):
        """Two branches that a merge stops at."""
        self.git("checkout", "-q", "-b", "side")
        self.write("clean", "theirs\n")
        self.write("dirty", "theirs\n")
        self.write("d/new", "theirs\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "theirs")
        self.git("checkout", "-q", "main")
        self.write("clean", "ours\n")
        self.git("commit", "-q", "-am", "ours")

    def conflict(self):
        """A merge that stops."""
        self.collide()
        self.git("merge", "-q", "side", check=False)

    # A run.

    def keep(self):
        """What each run begins with."""
        shutil.copytree(self.base, self.kept, symlinks=True)

    def reset(self):
        """As it was when it was kept; the times of files are kept as well."""
        shutil.rmtree(self.base)
        shutil.copytree(self.kept, self.base, symlinks=True)

    def words(self, toolset, tool, arguments):
        """A command line of airlock."""
        return [harness.AIRLOCK, "call", "--root", str(self.root), "--approval", "allow",
                "--toolset", toolset, tool, harness.json.dumps(arguments)]

    def run_to(self, step, actions, words, **variables):
        """Run it, with the actions at a step; gives all it says."""
        harness.signal.alarm(harness.WATCHDOG_SECONDS)
        number, line = step
        if line:
            variables["MEANWHILE_STEP"] = line
        done = subprocess.run([MEANWHILE, str(number), "\n".join(actions), *words], cwd=self.root,
                              env=self.env | LEAKS_OFF | variables, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, text=True, timeout=100)
        return done.stdout + done.stderr

    def steps(self, words, names=NAMES, **variables):
        """The steps that are about files of these names, and how many there are of all.

        A step is the number of those that are about the same, and what it is about.
        """
        told = self.home / "steps"
        self.reset()
        self.run_to((0, None), [], words, MEANWHILE_STEPS=str(told), **variables)
        lines = told.read_text(errors="surrogateescape").splitlines()
        about, seen = [], collections.Counter()
        for line in lines:
            seen[line] += 1
            if os.path.basename(line.partition(" ")[2]) in names:
                about.append((seen[line], line))
        return about, len(lines)

    # What is left.

    def everything(self):
        """The content of each file of the tree, and of each that is aside."""
        tree, aside = set(), {}
        for path in self.root.rglob("*"):
            if path.is_file() and not path.is_symlink():
                name = path.relative_to(self.root).parts
                if name[0] != ".git":
                    tree.add(path.read_bytes())
                elif name[1:3] == ("airlock", "aside"):
                    aside[path.read_bytes()] = path
        return tree, aside

    def has_object(self, content):
        """It is in a checkpoint, or the repository reaches it."""
        oid = self.out("hash-object", "--stdin", stdin=content).strip()
        if oid in self.out("rev-list", "--objects", "--all", "--reflog", "--indexed-objects"):
            return True
        return any(not self.git("--git-dir", str(store), "cat-file", "-e", oid, check=False).returncode
                   for store in (self.home / ".local/state/airlock").glob("*/checkpoints.git"))

    def check(self, contents, said):
        """None of these is lost."""
        tree, aside = self.everything()
        for name, text in contents:
            content = text.encode()
            if content in tree or self.has_object(content):
                continue
            self.assertIn(content, aside, f"{name}: {text!r} is lost; airlock said: {said}")
            self.assertIn(str(aside[content]), said, f"{name} is aside and not named")

    def actions(self, chance, number, names):
        """Something that somebody does, and the content that must not be lost."""
        name, kind = chance.choice(names), chance.choice(("save", "save", "replace", "open", "move",
                                                          "create"))
        path, text = self.root / name, f"saved-{number}-{chance.random()}"
        if kind == "move":
            return [f"move {path} {path}.moved", f"save {path} {text}"], [(name, text)]
        if kind == "create":
            return [f"delete {path}", f"save {path} {text}"], [(name, text)]
        if kind == "open":
            return [f"open {path} {text} more"], [(name, text + "more")]
        return [f"{kind} {path} {text}"], [(name, text)]

    def attack(self, toolset, tool, arguments, names=("dirty", "d/dirty", "staged", "gone", "clean")):
        """Save at steps of a call, for each seed."""
        self.attack_words(f"{tool} {arguments}", self.words(toolset, tool, arguments), names)

    def attack_words(self, title, words, names):
        """The same for any command line."""
        if not self.kept.exists():
            self.keep()
        about, count = self.steps(words)
        self.assertGreater(len(about), 0, "no step is about a file")
        first = int(time.time()) if SEEDS else 1
        for seed in range(first, first + max(SEEDS, 1)):
            chance = random.Random(f"{seed} {title}")
            for turn in range(STEPS):
                step = chance.choice(about) if turn % 3 else (chance.randint(1, count), None)
                actions, contents = self.actions(chance, step[0], names)
                self.reset()
                said = self.run_to(step, actions, words)
                try:
                    self.check(contents, said)
                except AssertionError as exc:
                    raise AssertionError(f"seed {seed}, step {step} of {count}: {actions}") from exc

    # The verbs.

    def test_control(self):
        """git reset --hard, without airlock, loses what is saved before it unlinks the file"""
        self.dirty()
        words = [shutil.which("git"), "reset", "-q", "--hard"]
        self.keep()
        about, _ = self.steps(words)
        lost = 0
        for step in about[::STRIDE]:
            self.reset()
            self.run_to(step, [f"save {self.root / 'dirty'} saved"], words)
            lost += b"saved" not in self.everything()[0]
        self.assertGreater(lost, 0)

    def test_reset(self):
        """git_reset hard"""
        self.dirty()
        self.attack("everyday", "git_reset", {"to": "HEAD", "mode": "hard"})

    def test_restore(self):
        """git_restore, of both toolsets"""
        self.dirty()
        self.attack("everyday", "git_restore", {"paths": ["dirty", "d", "gone"]})
        self.attack("git", "git_restore", {"paths": ["."], "staged": True})

    def test_checkout(self):
        """git_checkout, of paths and with force"""
        self.dirty()
        self.attack("git", "git_checkout", {"paths": ["dirty", "d"]})
        self.attack("workflow", "git_checkout", {"target": "main", "force": True})

    def test_switch(self):
        """git_switch, which writes files that nobody has changed"""
        self.git("branch", "side")
        self.write("clean", "other\n")
        self.write("d/deep", "other\n")
        self.git("rm", "-q", "gone")
        self.git("commit", "-q", "-am", "other")
        self.attack("everyday", "git_switch", {"branch": "side"}, ("clean", "d/deep", "gone"))

    def test_stash(self):
        """git_stash push, untracked files included"""
        self.dirty()
        names = ("dirty", "d/dirty", "staged", "untracked")
        self.attack("everyday", "git_stash", {"action": "push", "untracked": True}, names)
        self.attack("workflow", "git_stash", {"action": "push"}, names)

    def test_conflicts(self):
        """git_conflicts resolve and abort"""
        self.conflict()
        names = ("clean", "dirty", "d/new")
        self.attack("everyday", "git_conflicts", {"action": "abort"}, names)
        self.attack("everyday", "git_conflicts",
                    {"action": "resolve", "path": "clean", "take": "ours"}, names)
        self.attack("everyday", "git_conflicts",
                    {"action": "resolve", "path": "clean", "content": "both\n"}, names)

    def test_waiting(self):
        """changes that are put aside where an operation stops, and that come back when it ends"""
        names = ("dirty", "d/dirty", "staged", "gone", "clean")
        self.collide()
        self.dirty()
        self.attack("everyday", "git_merge", {"branch": "side"}, names)
        self.attack("everyday", "git_rebase", {"onto": "side"}, names)
        self.reset()
        subprocess.run(self.words("everyday", "git_merge", {"branch": "side"}), cwd=self.root,
                       env=self.env, check=True, capture_output=True)
        self.assertTrue((self.root / ".git/AIRLOCK_AUTOSTASH").exists())
        shutil.rmtree(self.kept)
        self.keep()
        self.attack("everyday", "git_conflicts", {"action": "abort"}, names)
        self.attack("everyday", "git_conflicts",
                    {"action": "resolve", "take": "ours", "continue": True}, names)

    def test_undo(self):
        """git_undo, which writes files itself, in the session of the call that it undoes"""
        self.dirty()
        words = [sys.executable, "-S", "-c", CLIENT, harness.AIRLOCK, "serve",
                 "--root", str(self.root), "--approval", "allow", "--toolset", "everyday"]
        self.attack_words("git_undo", words, ("dirty", "d/dirty", "staged", "gone", "clean"))

    def test_killed(self):
        """no git of an airlock that is killed waits for it: not where git begins, in its directory"""
        self.dirty()
        self.keep()
        words = self.words("everyday", "git_reset", {"to": "HEAD", "mode": "hard"})
        about, _ = self.steps(words, (self.root.name,))
        self.assertGreater(len(about), 3)
        for step in about:
            self.reset()
            self.run_to(step, ["kill"], words)  # until nothing of it is left

    def rolling_back(self):
        """Files of every kind to bring back and to remove."""
        self.dirty()
        subprocess.run(self.words("everyday", "git_reset", {"to": "HEAD", "mode": "hard"}),
                       cwd=self.root, env=self.env, check=True, capture_output=True)
        self.keep()
        return [harness.AIRLOCK, "rollback"]

    def test_rollback(self):
        """airlock rollback, and the other way round"""
        words = self.rolling_back()
        names = ("dirty", "d/dirty", "staged", "gone")
        self.attack_words("rollback", words, names)
        self.reset()
        subprocess.run(words, cwd=self.root, env=self.env, check=True, capture_output=True)
        shutil.rmtree(self.kept)
        self.keep()
        self.attack_words("redo", [*words, "--redo"], names)

    def test_left(self):
        """what is saved when a rollback is about to write that file stays there, and is named"""
        self.leave()

    def test_left_plain(self):
        """the same on a file system that neither exchanges names nor refuses to replace one"""
        done = subprocess.run([MEANWHILE, "0", "", "/bin/true"], check=False,
                              env=self.env | {"MEANWHILE_PLAIN": "1"})
        if done.returncode == 77:
            self.skipTest("not on this machine")
        self.leave(("dirty",), MEANWHILE_PLAIN="1")

    def test_left_name(self):
        """the same for a file whose name is no UTF-8"""
        name = os.fsdecode(b"caf\xe9")
        self.write(name, "committed\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "odd")
        self.write(name, "mine\n")
        self.leave((name,), name, "caf<E9>")

    def leave(self, names=NAMES, name="dirty", shown="dirty", **variables):
        """Save at each step that is about a file of these names."""
        words = self.rolling_back()
        about, _ = self.steps(words, names, **variables)
        left = 0
        for step in about[::STRIDE if names is NAMES else 1]:
            self.reset()
            said = self.run_to(step, [f"save {self.root / name} saved"], words, **variables)
            self.assertEqual((self.root / name).read_text(), "saved", said)
            if "Left as they are" in said:
                left += 1
                self.assertIn(f"  {shown}\n", said)
                self.assertEqual((self.root / "d/dirty").read_text(), "d/dirty mine\n")
                subprocess.run([*words, "--redo"], cwd=self.root, env=self.env, check=True,
                               capture_output=True)  # it is not the rollback's change
                self.assertEqual((self.root / name).read_text(), "saved")
                self.assertEqual((self.root / "d/dirty").read_text(), "d/dirty committed\n")
        self.assertGreater(left, 0)


if __name__ == "__main__":
    harness.main()
