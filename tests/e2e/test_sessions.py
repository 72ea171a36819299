#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The journal of the commands of an agent's shell: sessions, labels, changes, overlaps; and
what an undo takes along."""
import json
import os
import subprocess
import time

import harness
import test_robust_terminal

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

    def test_ids(self):
        """an id of a session has at most 128 bytes, which can stand in the name of a file"""
        given = ["a" * 127, "a" * 128, "a" * 129, "A-b_c.d:9", "../up", "a b", "a/b"]
        for session in given:
            self.airlock("git", "status", session=session)
        told = [line["conversation_id"] for line in self.log()]
        self.assertEqual([one == other for one, other in zip(given, told)],
                         [True, True, False, True, False, False, False])

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

    def test_meta(self):
        """the first call over MCP may say whose session it is: git_undo then finds what its hooks and shell did"""
        def ask(server, session):
            server.send(id=1, method="tools/call", params={"name": "git_undo", "arguments": {}, "_meta": {
                "threadId": "other", "sessionId": session, "progressToken": 1}})
            while "id" not in (answer := server.receive()):
                continue
            return answer["result"]["content"][0]["text"]
        for first, second, env, finds in ((CLIENT, "other", {}, True), (CLIENT, CLIENT, {"AIRLOCK_SESSION": "mine"}, False),
                                          ("../x", CLIENT, {}, False), (7, CLIENT, {}, False), (None, CLIENT, {}, False)):
            self.shell("echo two >a.txt", CODEX_SESSION_ID=CLIENT)
            server = harness.Server(self, "--toolset", "everyday", env=env)
            said = [ask(server, first), ask(server, second)]
            self.assertEqual(self.text(), "one\n" if finds else "two\n", said)
            self.assertIn("Nothing to undo", said[1])
            if not finds:
                self.airlock("rollback")

    def test_undo_of_the_session(self):
        """git_undo takes back what the session's shell did, and nothing of another's"""
        self.shell("echo two >a.txt", session=CLIENT)
        self.shell("echo b >b.txt", session="other")
        self.airlock("call", "git_undo", session=CLIENT)
        self.assertEqual((self.text(), self.text("b.txt")), ("one\n", "b\n"))

    def config(self, text):
        path = self.home / ".config/airlock/config.toml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def test_always(self):
        """"always" lasts as long as the client's session, in all its processes; else it is not offered"""
        self.config('toolsets = ["git"]\n')
        file = self.home / ".local/state/airlock/sessions" / f"always-{CLIENT}"
        for name in (None, "other", CLIENT):
            env = {"AIRLOCK_SESSION": name} if name else {}
            terminal = test_robust_terminal.Terminal(self, "git_add", {"paths": ["a.txt"]}, **env)
            while not terminal.screen.endswith("[d]iff? "):
                terminal.read()
            self.assertEqual("until the session ends" in terminal.screen, name is not None)
            terminal.answer("a\n" if name == CLIENT else "o\n").end()
            self.assertEqual(self.log()[-1]["decision"], "always" if name == CLIENT else "once")
        recent = file.stat().st_mtime - 80000
        os.utime(file, (recent, recent))
        self.airlock("call", "git_add", '{"paths":["a.txt"]}', session=CLIENT)
        self.assertEqual(file.stat().st_mtime, recent)  # a use is no answer
        self.assertEqual((self.log()[-1]["decision"], file.stat().st_mode & 0o777), ("always", 0o600))
        self.airlock("call", "git_add", '{"paths":["a.txt"]}', session="other", code=3)
        self.airlock("call", "git_add", '{"paths":["."]}', session=CLIENT)
        old = time.time() - 90000
        os.utime(file, (old, old))
        self.airlock("call", "git_add", '{"paths":["a.txt"]}', session=CLIENT, code=3)
        terminal = test_robust_terminal.Terminal(self, "git_add", {"paths": ["a.txt"]}, AIRLOCK_SESSION="other")
        while not terminal.screen.endswith("[d]iff? "):
            terminal.read()
        terminal.answer("a\n").end()
        self.assertEqual([path.name for path in file.parent.iterdir()], ["always-other"])

    def begin(self, name, session):
        """A command that writes a file when it is told to, and then ends when it is."""
        script = f"echo ready; read go; echo {name} >{name}; echo done; read go"
        command = subprocess.Popen([harness.AIRLOCK, "run", "--", "sh", "-c", script], cwd=self.root,
                                   env=dict(self.env, AIRLOCK_SESSION=session), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE)
        self.assertEqual(command.stdout.readline(), b"ready\n")
        return command

    def work(self, command):
        command.stdin.write(b"go\n")
        command.stdin.flush()
        self.assertEqual(command.stdout.readline(), b"done\n")

    def end(self, command):
        with command:
            command.communicate(b"go\n", harness.WATCHDOG_SECONDS)

    def both(self, *sessions):
        """Two commands, both of which may have changed both files."""
        one, two = self.begin("one", sessions[0]), self.begin("two", sessions[1])
        for step in (self.work, self.end):
            step(one)
            step(two)

    def test_others_did_something_else(self):
        """another session's command that ran meanwhile, and changed other things alone, stays"""
        one = self.begin("one", CLIENT)
        self.work(one)
        two = self.begin("two", "other")
        self.end(one)
        self.work(two)
        self.end(two)
        self.assertEqual([line.get("overlaps") for line in self.log()], [None, [1]])
        self.airlock("call", "git_undo", session=CLIENT)
        self.assertFalse((self.root / "one").exists())
        self.assertEqual(self.text("two"), "two\n")

    def test_others_may_have_done_the_same(self):
        """what another session may have changed as well is named, and stays without --force"""
        self.both(CLIENT, "other")
        said = self.airlock("call", "git_undo", session="other", code=1)
        self.assertIn("execution 1, run", said)
        self.assertEqual((self.text("one"), self.text("two")), ("one\n", "two\n"))
        self.assertIn("execution 1, run", self.airlock("rollback", "--force"))
        self.assertFalse((self.root / "two").exists())

    def test_of_one_session(self):
        """two commands of one session that may have changed the same are one step"""
        self.both(CLIENT, CLIENT)
        self.airlock("call", "git_undo", session=CLIENT)
        self.assertFalse((self.root / "one").exists() or (self.root / "two").exists())
        self.assertIn("othing to undo", self.airlock("call", "git_undo", session=CLIENT))

    def test_overlaps(self):
        """the line that ends last names what ran meanwhile in the same working tree"""
        other = self.base / "other"
        other.mkdir()
        self.init(other)
        self.shell(f"{GIT} status; {GIT} tag t; cd {other}; {GIT} tag t")
        self.airlock("git", "tag", "u")
        self.airlock("git", "status")  # which has no checkpoint to be told from
        lines = self.log("--all")
        self.assertEqual([line.get("overlaps") for line in lines], [None, None, None, [2], None, None])

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
        self.config('[grants.reader]\ntools = ["git"]\nfs = { "%s" = "r" }\n[shell]\ngrant = "reader"\n'
                    % self.root)
        self.airlock("git", "status")
        self.airlock("git", "tag", "t", code=128)
        self.assertIn("reader", self.shell("true", code=128))
        self.airlock("call", "git_tag", '{"action": "create", "name": "t"}')


if __name__ == "__main__":
    harness.main()
