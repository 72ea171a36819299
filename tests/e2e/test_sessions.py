#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the commands of an agent's shell write into the journal: sessions, labels, changes, overlaps; and
what an undo takes along."""
import json
import re
import subprocess

import harness

CLIENT = "7d1c0e9a-5b7e-4c3f-9d6f-1f2e3d4c5b6a"
GIT = f"{harness.AIRLOCK} git"


class Sessions(harness.Case):
    toolsets = ()

    def setUp(self):
        super().setUp()
        self.init()

    def airlock(self, *words, session=None, code=0, **variables):
        env = dict(self.env, **variables)
        if session:
            env["AIRLOCK_SESSION"] = session
        done = subprocess.run([harness.AIRLOCK, *words], cwd=self.root, env=env, stdin=subprocess.DEVNULL,
                              capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, code, done)
        return done.stdout.decode() + done.stderr.decode()

    def shell(self, script, *options, **named):
        return self.airlock("run", *options, "--", "sh", "-c", script, **named)

    def log(self, *words):
        lines = [json.loads(line) for line in self.airlock("log", "--json", *words).splitlines()]
        self.assertIn("intact", self.airlock("log", "--verify"))
        return lines

    def text(self, name="a.txt"):
        return (self.root / name).read_text(encoding="ascii")

    def test_fields(self):
        """what is new in a line is there only where it says something"""
        self.airlock("git", "status")
        self.shell("echo two >a.txt; echo new >b.txt; mkdir d; echo new >d/c.txt", "--label", "tidy")
        self.shell("true")
        self.shell("rm b.txt; git add a.txt; git commit -qm second")
        plain, tidy, nothing, commit = self.log()
        for line in (plain, nothing):
            self.assertFalse({"call_id", "label", "changes", "overlaps"} & set(line))
        self.assertEqual((tidy["label"], tidy["changes"]), ("tidy", "3 files changed, 2 added"))
        self.assertEqual(commit["changes"], "1 file changed, 1 removed, the index, references")
        self.assertEqual([list(line)[-1] for line in self.log()], ["prev"] * 4)
        shown = self.airlock("log")
        self.assertRegex(shown, r"\(tidy\): exit status 0 after [0-9.]+ s, 3 files changed, 2 added\n")
        self.assertRegex(shown, r"Run sh -c true: exit status 0 after [0-9.]+ s\n")

    def test_nothing_is_kept(self):
        """a command that changed nothing keeps no second checkpoint, and is none that was interrupted"""
        self.shell("true")
        self.airlock("snapshot")
        store = next(self.home.glob(".local/state/airlock/*/checkpoints.git"))
        for line in self.log():
            after = (store / "refs/after" / line["git_commit"]).read_text(encoding="ascii")
            self.assertEqual(after, line["git_commit"] + "\n")
        self.assertIn("nothing to roll back", self.airlock("rollback", code=1))

    def test_session(self):
        """the client's session is that of all its processes; else each command has its own"""
        self.shell(f"echo two >a.txt; {GIT} add a.txt", session=CLIENT)
        self.airlock("git", "commit", "-qm", "second", CLAUDE_CODE_SESSION_ID=CLIENT)
        self.shell(f"{GIT} status")
        self.airlock("git", "status", session="no session\n")
        self.airlock("call", "git_status", session=CLIENT)
        lines = self.log()
        names = [line["conversation_id"] for line in lines]
        self.assertEqual([name == CLIENT for name in names], [True, True, True, False, False, False, True])
        self.assertEqual(names[3], names[4])
        self.assertNotIn(names[5], names[:5])
        self.assertEqual(len({(line["conversation_id"], line["id"]) for line in lines}), len(lines))
        self.assertEqual(self.log("--session", CLIENT), [line for line in lines if line["conversation_id"] == CLIENT])

    def test_undo_of_the_session(self):
        """git_undo takes back what the session's shell did, and nothing of another's"""
        self.shell("echo two >a.txt", session=CLIENT)
        self.shell("echo b >b.txt", session="other")
        self.airlock("call", "git_undo", session=CLIENT)
        self.assertEqual((self.text(), self.text("b.txt")), ("one\n", "b\n"))

    def test_overlaps(self):
        """the line that ends last names what ran meanwhile in the same working tree"""
        other = self.base / "other"
        other.mkdir()
        self.init(other)
        self.shell(f"{GIT} status; {GIT} tag t; cd {other}; {GIT} tag t")
        self.airlock("git", "tag", "u")
        lines = self.log()
        self.assertEqual([line.get("overlaps") for line in lines], [None, None, None, [2], None])

    def test_takes_along(self):
        """undoing a command takes along what ran inside of it, as one step, to before the command"""
        self.shell("echo zero >a.txt", session=CLIENT)
        self.shell(f"echo two >a.txt; {GIT} commit -qam inner; echo three >a.txt; {GIT} stash -q", session=CLIENT)
        said = self.airlock("rollback", "--dry-run")
        self.assertIn("git stash -q", said)
        self.airlock("call", "git_undo", session=CLIENT)
        self.assertEqual((self.text(), self.out("log", "--format=%s")), ("zero\n", "first\n"))
        self.airlock("call", "git_undo", session=CLIENT)
        self.assertEqual(self.text(), "one\n")
        self.assertIn("othing to undo", self.airlock("call", "git_undo", session=CLIENT))
        self.airlock("rollback", "--redo")
        self.airlock("rollback", "--redo")
        self.assertEqual((self.text(), self.out("log", "--format=%s")), ("two\n", "inner\nfirst\n"))

    def test_inner_alone(self):
        """one that ran inside is undone with the command around it"""
        self.shell(f"echo b >b.txt; {GIT} tag t")
        inner = self.log()[0]["seq"]
        self.airlock("rollback", "--execution", str(inner))
        self.assertEqual(self.out("tag"), "")
        self.assertFalse((self.root / "b.txt").exists())

    def test_grant(self):
        """[shell] grant narrows the shell's commands, and nothing else"""
        config = self.base / "config.toml"
        config.write_text('[grants.reader]\ntools = ["git"]\nfs = { "%s" = "r" }\n[shell]\ngrant = "reader"\n'
                          % self.root, encoding="utf-8")
        where = self.home / ".config/airlock"
        where.mkdir(parents=True, exist_ok=True)
        config.rename(where / "config.toml")
        self.airlock("git", "status")
        self.airlock("git", "tag", "t", code=128)
        self.shell("true", code=128)


if __name__ == "__main__":
    harness.main()
