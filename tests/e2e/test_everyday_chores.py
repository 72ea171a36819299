#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: random series, changes that go into earlier commits, and splits, against the trees that
they must leave and against git's own rebase with fixups.  CHORES is the number of seeds, CHORES_SEED
the first one, CHORES_SECONDS the time after which no other begins."""
import os
import random
import re
import time

import everyday
import harness

SEEDS = int(os.environ.get("CHORES", "40"))
FIRST = int(os.environ.get("CHORES_SEED", "1"))
SECONDS = float(os.environ.get("CHORES_SECONDS", "40"))
FILES = ("a.txt", "b.txt")
FAR = 8  # lines between places that may be changed, so that no two changes meet


class Chores(everyday.Case):
    def begin(self, seed):
        """Four commits, each of which changes places of its own; then changes at free places."""
        self.doCleanups()
        self.setUp()
        self.init()
        self.random = random.Random(seed)
        self.lines = {name: [f"{name} {i}\n" for i in range(100)] for name in FILES}
        places = [(name, at) for name in FILES for at in range(4, 96, FAR)]
        self.random.shuffle(places)
        self.save("base")
        self.chain = []
        for number in range(4):
            for name, at in places[:2]:
                self.lines[name][at] = f"commit {number} {at}\n"
            del places[:2]
            self.chain.append(self.save(f"commit {number}"))
        self.changes = {}
        for name, at in places[:self.random.randint(2, 6)]:
            line = f"change-{name[0]}{at}"
            self.lines[name][at] = line + "\n" + "more\n" * self.random.randint(0, 2)
            self.changes[line] = (name, at)
        for name in FILES:
            self.write(name, "".join(self.lines[name]))
        if self.random.random() < 0.5:
            self.write("new.txt", "new\n")

    def save(self, message):
        """Commit all."""
        for name in FILES:
            self.write(name, "".join(self.lines[name]))
        self.git("add", "-A")
        self.git("commit", "-q", "-m", message)
        return self.out("rev-parse", "HEAD").strip()

    def ids(self, tool="git_diff", **arguments):
        """The ids by the first added line, and by the name of a new file."""
        text = self.says(tool, {"hunks": True} | arguments)
        found = {path: one for one, path in re.findall(r"^@@ (\S+) new file (\S+)", text, re.M)}
        return found | {line: one for one, line in
                        re.findall(r"^@@ (\S+) -.*\n(?: .*\n)*(?:-.*\n)*\+(.+)$", text, re.M)}

    def disk(self):
        return {path.name: path.read_text() for path in self.root.glob("*.txt")}

    def series(self):
        """Every change goes somewhere, or stays; git does the same by hand in a copy."""
        ids = self.ids()
        before = self.disk()
        items, plans, left = [], [], set()
        for name, one in sorted(ids.items()):
            where = self.random.choice(["new", "into", "stay"])
            if where == "stay":
                left.add(name)
            elif where == "into":
                items.append({"into": self.random.choice(self.chain), "hunks": [one]})
            else:
                items.append({"message": f"new {name}", "hunks": [one]})
            if where != "stay":
                plans.append((name, items[-1]))
        if not items:
            return
        expected = self.by_git(plans)
        self.says("git_commit", {"commits": items})
        self.assertEqual(self.history(), expected)
        self.assertEqual(self.disk(), before)
        self.assertEqual(set(self.ids()) if left else left, left)

    def history(self):
        """Subject and tree of each commit."""
        return self.out("log", "--reverse", "--format=%s %T")

    def by_git(self, plans):
        """The history that git makes of the same: a commit each, fixups for what goes into others,
        and a rebase with autosquash."""
        where = self.root.parent / "by-git"
        self.git("worktree", "add", "-q", "-f", "--detach", str(where), "HEAD")
        for name, item in plans:
            if name in self.changes:
                path, at = self.changes[name]
                self.replace(where / path, at, path)
            else:
                (where / name).write_text((self.root / name).read_text())
            self.git("add", "-A", cwd=where)
            message = f"fixup! {item['into']}" if "into" in item else item["message"]
            self.git("commit", "-q", "-m", message, cwd=where)
        root = self.out("rev-list", "--max-parents=0", "HEAD").strip()
        self.git("rebase", "-q", "-i", "--autosquash", root, cwd=where, GIT_SEQUENCE_EDITOR=":",
                 GIT_EDITOR=":")
        text = self.git("log", "--reverse", "--format=%s %T", cwd=where).stdout.decode()
        self.git("worktree", "remove", "--force", str(where))
        return text

    def replace(self, path, at, name):
        """Make one change: the line that had been at this place."""
        text = path.read_text()
        old = f"{name} {at}\n"
        self.assertIn("\n" + old, text)
        path.write_text(text.replace("\n" + old, "\n" + self.lines[name][at], 1))

    def split(self):
        """A commit of the chain in parts; what no part names is left in the working tree."""
        self.git("stash", "-q", "-u")
        commit = self.random.choice(self.chain)
        ids = self.ids("git_show", rev=commit)
        names = sorted(ids)
        self.random.shuffle(names)
        kept = names[:self.random.randint(1, len(names))]
        before = self.disk()
        plan = [{"commit": one} for one in self.chain]
        plan[self.chain.index(commit)] |= {
            "do": "split", "into": [{"message": name, "hunks": [ids[name]]} for name in kept]}
        self.says("git_rebase", {"plan": plan})
        self.assertEqual(self.disk(), before)
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        left = self.ids() if len(kept) < len(names) else {}
        self.assertEqual(sorted(left), sorted(set(names) - set(kept)))
        subjects = self.out("log", "--reverse", "--format=%s").split("\n")[:-1]
        for name in kept:
            self.assertIn(name, subjects)
        self.assertEqual(len(subjects), 2 + 3 + len(kept))
        self.git("fsck", "--connectivity-only")

    def test_random(self):
        """random series, into and splits leave what git leaves, and the files as they were"""
        end = time.monotonic() + SECONDS
        for seed in range(FIRST, FIRST + SEEDS):
            if time.monotonic() > end:
                break
            with self.subTest(seed=seed):
                self.begin(seed)
                self.series() if seed % 3 else self.split()


if __name__ == "__main__":
    harness.main()
