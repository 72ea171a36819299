#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""airlock run and snapshot: any command as one execution; going back to a label, a number or a time."""
import fcntl
import json
import os
import resource
import shutil
import signal
import subprocess
import tempfile
import time

import harness


class CommandRun(harness.Case):
    toolsets = ()

    def setUp(self):
        super().setUp()
        self.init()

    def airlock(self, *words, stdin=b"", cwd=None, code=0, env=()):
        done = subprocess.run([harness.AIRLOCK, *words], cwd=cwd or self.root, env=self.env | dict(env), input=stdin,
                              capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, code, done)
        return done.stdout.decode(), done.stderr.decode()

    def log(self):
        path = self.home / ".local/state/airlock/tool_log.jsonl"
        return [json.loads(line) for line in path.read_text(encoding="ascii").splitlines()]

    def text(self, name="a.txt"):
        return (self.root / name).read_text(encoding="ascii")

    def test_passes_through(self):
        """streams, arguments and exit status are the command's; 126 and 127 as shells do"""
        script = 'cat; printf "%s|" "$@" >&2; exit 7'
        out, err = self.airlock("run", "--", "sh", "-c", script, "x", "a b", "--label", stdin=b"in", code=7)
        self.assertEqual((out, err), ("in", "a b|--label|"))
        self.airlock("run", "sh", "-c", "kill -TERM $$", code=128 + signal.SIGTERM)
        self.assertIn("cannot run 'no-such'", self.airlock("run", "no-such", code=127)[1])
        self.write("plain", "text")
        self.assertIn("cannot run './plain'", self.airlock("run", "./plain", code=126)[1])
        self.airlock("run", code=2)
        (self.base / "broken.toml").write_text("roots = [", encoding="ascii")
        self.assertIn("broken.toml", self.airlock("run", "--config", str(self.base / "broken.toml"), "--", "touch", "x", code=2)[1])
        self.assertFalse((self.root / "x").exists())
        self.airlock("snapshot", "x", code=2)

    def test_long_line_of_the_log(self):
        """a long command is cut, and never how it ended; 200 bytes are not long"""
        for length, is_cut in (199, False), (200, False), (201, True), (400, True):
            ends = ": exit status 0 after 0.0 s, 1 file changed"
            self.write("a.txt", f"{length}\n")
            words = ["sh", "-c", ": " + "x" * (length - len("Run sh -c ': '" + ends)) + ";echo >>a.txt"]
            words[2] = words[2][:2] + words[2][2 + len(";echo >>a.txt"):]
            self.airlock("run", "--", *words)
            line, = self.airlock("log", "1")[0].splitlines()
            summary = line[line.index("Run sh"):]
            self.assertRegex(summary, r": exit status 0 after \d\.\d s, 1 file changed$")
            self.assertEqual((len(summary), "..." in summary), (min(length, 200) + 3 * is_cut, is_cut), summary)

    def test_as_young_as_the_index(self):
        """files that are no older than the index of the checkpoints are read again once, not in each checkpoint"""
        for count, is_new in (64, False), (65, True), (66, True):
            shutil.rmtree(self.root)
            self.root.mkdir()
            self.init()
            for number in range(count - len(self.out("ls-files").split())):
                self.write(f"{number}.txt", f"{number}\n")
            self.git("add", ".")
            self.git("commit", "-m", "all")
            self.airlock("snapshot")
            index, = sorted((self.home / ".local/state/airlock").glob("*/checkpoints.git/files.index"),
                            key=lambda path: path.stat().st_ctime_ns)[-1:]
            os.utime(index, (1, 1))
            self.airlock("snapshot")
            self.assertEqual(index.stat().st_mtime > 1, is_new, count)
            self.write("a.txt", "changed\n")
            self.airlock("run", "--", "rm", "a.txt", "0.txt")
            self.airlock("rollback", "--yes")
            self.assertEqual((self.text(), self.text("0.txt")), ("changed\n", "0\n"))

    def test_rolls_back(self):
        """whatever a command did to the working tree comes back, files of every kind"""
        self.write("u.txt", "untracked\n")
        script = "rm a.txt u.txt; echo new >n.txt; mkdir d; ln -s n.txt d/l; git commit -qam gone"
        self.airlock("run", "--label", "tidy", "--", "sh", "-c", script)
        line = self.log()[-1]
        self.assertEqual((line["tool"], line["operation"], line["input"]["label"]), ("run", "run", "tidy"))
        self.assertIn("exit status 0", line["result"]["output"])
        self.assertIn("u.txt", self.airlock("diff", "--since", "tidy", "--stat")[0])
        self.airlock("rollback")
        self.assertEqual((self.text(), self.text("u.txt")), ("one\n", "untracked\n"))
        self.assertFalse((self.root / "n.txt").exists() or os.path.lexists(self.root / "d/l"))
        self.assertEqual(self.out("log", "--format=%s"), "first\n")

    def test_ignored(self):
        """ignored files that a command removed or moved are in no checkpoint: it says so, and the log does"""
        self.write(".gitignore", ".env\n/out/\nkept.log\n")
        for name in (".env", "out/a", "out/b", "kept.log", "d/.env"):
            self.write(name, "x\n")
        _, err = self.airlock("run", "--", "sh", "-c", "rm -r .env out && echo new >new")
        said = "removed or moved, with no undo since ignored: .env, out/"
        self.assertEqual(err, f"airlock: warning: {said}\n")
        self.assertEqual(self.log()[-1]["changes"], f"1 file changed, 1 added, {said}")
        self.assertIn(said, self.airlock("log", "1")[0])
        self.assertEqual(self.airlock("run", "--", "touch", "kept.log")[1], "")
        self.airlock("run", "rm", "d/.env")
        self.assertEqual(self.log()[-1]["changes"], "removed or moved, with no undo since ignored: d/.env")
        self.write(".env", "x\n")  # no undo brings it back under this name
        self.assertIn(".env", self.airlock("run", "--", "sh", "-c", "mv .env .env2; mv .env2 ../")[1])
        self.write("out/a", "x\n")  # what is in its place now is another thing
        self.assertEqual(self.airlock("run", "--", "sh", "-c", "rm -r out && ln -s . out")[1],
                         "airlock: warning: removed or moved, with no undo since ignored: out/\n")

    def test_submodules(self):
        """the git directory of a submodule is in no checkpoint: what removes it says so, and only then"""
        self.git("init", "-q", "lib")
        self.git("-C", "lib", "commit", "-q", "--allow-empty", "-m", "lib")
        for name in ("sub", "libs/deep"):
            self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "--name", name,
                     str(self.root / "lib"), name)
        self.git("commit", "-qm", "sub")
        self.write(".git/info/exclude", "*.o\n")
        self.write("a.o", "x\n")
        self.assertEqual(self.airlock("run", "--", "rm", "-rf", "sub")[1], "")
        gone = f"removed or moved, with no undo since ignored, or the git directory of a submodule: {self.root}/.git/modules/libs/deep"
        self.assertEqual(self.airlock("run", "--", "rm", "-r", ".git/modules/libs/deep")[1], f"airlock: warning: {gone}\n")
        self.assertTrue(self.log()[-1]["changes"].endswith(gone))
        self.assertEqual(self.airlock("run", "--", "rm", "-r", "a.o", ".git/modules")[1],
                         "airlock: warning: removed or moved, with no undo since ignored, or the git directory of a submodule: "
                         f"a.o, {self.root}/.git/modules/sub\n")
        self.assertEqual(self.airlock("run", "--", "rm", "-r", "lib")[1], "")

    def test_few_files(self):
        """a limit of 256 open files is enough, however many files are ignored"""
        self.write(".gitignore", "*.o\n")
        for number in range(300):
            self.write(f"{number}.o", "x\n")
        limit = (256, resource.getrlimit(resource.RLIMIT_NOFILE)[1])
        done = subprocess.run([harness.AIRLOCK, "run", "rm", "0.o"], cwd=self.root, env=self.env, capture_output=True,
                              check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, limit))
        self.assertEqual((done.returncode, done.stderr),
                         (0, b"airlock: warning: removed or moved, with no undo since ignored: 0.o\n"))

    def test_prunes(self):
        """what one command deleted, and let git prune at once, comes back: loose, packed, and stashed"""
        self.git("checkout", "-qb", "topic")
        for name in ("packed.txt", "loose.txt"):
            self.commit(name, f"{name} is only here\n", name)
            if name == "packed.txt":
                self.git("repack", "-adq")
        self.git("checkout", "-q", "main")
        self.write("a.txt", "stashed\n")
        self.git("stash", "push", "-q")
        script = ("git branch -qD topic; git stash clear; git reflog expire --expire=now --all; "
                  "git gc -q --prune=now; git rev-parse -q --verify $1")
        topic = self.out("rev-parse", "topic").strip()
        for _ in range(2):
            self.airlock("run", "--", "sh", "-c", script, "sh", f"{topic}^{{tree}}", code=1)
            self.airlock("rollback")
            self.assertEqual(self.out("log", "--format=%s", "topic"), "loose.txt\npacked.txt\nfirst\n")
            self.assertEqual(self.out("show", "topic:packed.txt"), "packed.txt is only here\n")
            self.assertEqual(self.out("show", "stash@{0}:a.txt"), "stashed\n")
            self.git("fsck", "--strict")

    def test_deep_directory(self):
        """a working directory of more than 64 KiB is refused, and named as that"""
        script = ("import os, subprocess, sys\n"
                  "for i in range(270):\n    os.mkdir('d' * 250)\n    os.chdir('d' * 250)\n"
                  "sys.exit(subprocess.run([sys.argv[1], 'run', '--', 'true']).returncode)\n")
        done = subprocess.run(["python3", "-c", script, harness.AIRLOCK], cwd=self.root, env=self.env, check=False,
                              capture_output=True, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual((done.returncode, done.stderr), (128, b"airlock: working_dir cannot be longer than 65536 bytes\n"))

    def test_objects_removed(self):
        """objects that a command removed are given back by the rollback: some of them, and all"""
        self.commit("b.txt", "second\n", "second")
        self.git("repack", "-dq")
        self.commit("c.txt", "third\n", "third")
        for which in (".git/objects/??", ".git/objects/pack/*", ".git/objects/*"):
            self.write("a.txt", "edited\n")
            self.airlock("run", "--", "sh", "-c", f"rm -rf {which} a.txt")
            self.assertNotEqual(self.git("fsck", check=False).returncode, 0, which)
            self.airlock("rollback", "--force")
            self.assertEqual(self.out("show", "HEAD~:b.txt", "HEAD:c.txt"), "second\nthird\n")
            self.git("fsck", "--strict")
            self.assertEqual((self.root / "a.txt").read_text(), "edited\n")

    def test_prunes_later(self):
        """what came after a first command is held as well, though its directories are there"""
        script = ("git branch -qD topic; git reflog expire --expire=now --all; git gc -q --prune=now; "
                  "git rev-parse -q --verify $1")
        self.git("repack", "-adq")
        for _ in range(2):  # the first one's collection of garbage lets go what is held
            self.airlock("run", "--", "sh", "-c", "date +%N >>a.txt")
        self.git("checkout", "-qb", "topic")
        self.commit("packed.txt", "packed.txt is only here\n", "packed.txt")
        self.git("repack", "-dq")
        self.git("checkout", "-q", "main")
        topic = self.out("rev-parse", "topic").strip()
        self.airlock("run", "--", "sh", "-c", script, "sh", f"{topic}^{{tree}}", code=1)
        self.airlock("rollback")
        self.assertEqual(self.out("show", "topic:packed.txt"), "packed.txt is only here\n")

    def test_changes_nothing(self):
        """a command that changed nothing is no step of an undo"""
        self.airlock("run", "--", "sh", "-c", "echo two >a.txt")
        self.airlock("run", "true")
        self.airlock("rollback")
        self.assertEqual(self.text(), "one\n")

    def test_to(self):
        """rollback --to goes to before a label, the newest of its name, a number, a time"""
        self.airlock("snapshot", "--label", "start")
        self.airlock("run", "--label", "again", "--", "sh", "-c", "echo two >a.txt")
        time.sleep(1.1)
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.airlock("run", "--label", "again", "--", "sh", "-c", "echo three >a.txt")
        self.airlock("git", "commit", "-am", "fourth")
        shown = self.airlock("diff", "--since", "again")[0]
        self.assertIn("three", shown)
        self.assertIn("fourth", shown)
        self.assertIn(" a.txt | 2 +-\n", self.airlock("rollback", "--to", "again", "--dry-run")[0])
        self.assertEqual(self.text(), "three\n")
        self.airlock("rollback", "--to", "again")
        self.assertEqual(self.text(), "two\n")
        self.airlock("rollback", "--redo")
        self.airlock("rollback", "--to", now)
        self.assertEqual(self.text(), "two\n")
        seq = [line["seq"] for line in self.log() if line["operation"] == "snapshot"][0]
        self.airlock("rollback", "--to", str(seq))
        self.assertEqual(self.text(), "one\n")
        self.assertIn("is no number or label", self.airlock("rollback", "--to", "nowhere", code=1)[1])

    def test_refuses(self):
        """what no execution changed is not lost; a label is no number"""
        self.airlock("snapshot", "--label", "start")
        self.airlock("run", "--", "sh", "-c", "echo two >a.txt")
        self.write("a.txt", "mine\n")
        self.assertIn("a.txt", self.airlock("rollback", "--to", "start", code=1)[1])
        self.assertEqual(self.text(), "mine\n")
        self.assertIn("number", self.airlock("snapshot", "--label", "12", code=128)[1])
        self.assertIn("empty", self.airlock("run", "--label", "", "--", "true", code=128)[1])

    def test_labels_that_are_times(self):
        """what --to reads as a number or a time is no label"""
        for label in ("12", "0", "now", "Yesterday", "today", "1 hour ago", "2.days.ago", "last week", "90s", "13:00",
                      "2026-01-31", "2026-01-31T12:30:00Z", "20260131_123000"):
            for words in (("snapshot", "--label", label), ("run", "--label", label, "--", "touch", "ran")):
                self.assertRegex(self.airlock(*words, code=128)[1], "number|time", words)
        self.assertFalse((self.root / "ran").exists())
        for label in ("now what", "v1", "13:00 lunch", "1 hour", "weekend"):
            self.airlock("snapshot", "--label", label)
            self.airlock("run", "--", "sh", "-c", "date +%N >>a.txt")
            self.airlock("rollback", "--to", label)

    def test_number_of_another(self):
        """the number of an execution in another repository is refused, naming that one"""
        other = self.base / "other"
        self.git("clone", "-q", str(self.root), str(other))
        self.airlock("run", "--", "rm", "a.txt", cwd=other)
        self.airlock("run", "--", "sh", "-c", "echo two >a.txt")
        seqs = [line["seq"] for line in self.log()]
        for words in (("rollback", "-y", "--to"), ("rollback", "--dry-run", "--to"), ("diff", "--since")):
            err = self.airlock(*words, str(seqs[0]), code=1)[1]
            self.assertEqual(err, f"airlock: that execution was in another repository: {other}\n")
        self.assertEqual(self.text(), "two\n")
        self.airlock("rollback", "--to", str(seqs[1]))
        self.assertEqual(self.text(), "one\n")

    def test_inside(self):
        """airlock git inside of a command waits for nothing, and has a line of its own"""
        self.airlock("run", "--", "sh", "-c", f"echo two >a.txt; {harness.AIRLOCK} git commit -qam inner")
        self.assertEqual([line["tool"] for line in self.log()], ["git", "run"])
        self.assertEqual(self.out("log", "-1", "--format=%s"), "inner\n")

    def test_meanwhile(self):
        """what others did while a command ran goes only with --force, and is named"""
        script = "echo ready; read go; echo built >out"
        with subprocess.Popen([harness.AIRLOCK, "run", "--agent", "A", "--", "sh", "-c", script], cwd=self.root,
                              env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            self.write("b.txt", "B\n")
            self.airlock("snapshot", "--agent", "C")
            self.airlock("call", "--agent", "B", "git_commit", '{"message":"B","paths":["b.txt"]}')
            process.communicate(b"go\n", harness.WATCHDOG_SECONDS)
        seq = [line["seq"] for line in self.log() if line["agent"] == "B"][0]
        named = f"execution {seq}, git_commit by B"
        for words in (["--agent", "A"], [], ["--agent", "A", "--dry-run"]):
            out, err = self.airlock("rollback", "-y", *words, code=1)
            self.assertIn(named + ", ran meanwhile", err)
            self.assertNotIn("by C", err)
            self.assertEqual("--dry-run" in words, named in out)
        self.assertEqual((self.text("b.txt"), self.out("log", "-1", "--format=%s")), ("B\n", "B\n"))
        self.assertIn(named, self.airlock("rollback", "-y", "--agent", "A", "--force")[0])
        self.assertEqual(self.out("log", "-1", "--format=%s"), "first\n")
        self.airlock("rollback", "--redo")
        self.assertNotIn("meanwhile", self.airlock("rollback", "--execution", str(seq))[0])

    def test_meanwhile_killed(self):
        """the same for a command whose airlock was killed"""
        script = "echo ready; read go"
        with subprocess.Popen([harness.AIRLOCK, "run", "--agent", "A", "--", "sh", "-c", script], cwd=self.root,
                              env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            self.write("b.txt", "B\n")
            self.airlock("call", "--agent", "B", "git_commit", '{"message":"B","paths":["b.txt"]}')
            process.kill()
            process.communicate(timeout=harness.WATCHDOG_SECONDS)  # the command has ended, too
        seq = [line["seq"] for line in self.log() if line["agent"] == "B"][0]
        self.airlock("call", "--agent", "D", "git_branch", '{"name":"later"}')
        out = self.airlock("rollback", "-y", "--agent", "A", "--force")[0]
        self.assertIn(f"execution {seq}, git_commit by B", out)
        self.assertNotIn("by D", out)
        self.assertEqual(self.out("log", "-1", "--format=%s"), "first\n")

    def test_meanwhile_ends_later(self):
        """two commands at once: neither takes the other's work along"""
        commands = []
        for name in "AB":
            script = f"echo ready; read go; echo {name} >{name}; echo ready; read go"
            commands.append(subprocess.Popen([harness.AIRLOCK, "run", "--agent", name, "--", "sh", "-c", script],
                                             cwd=self.root, env=self.env, stdin=subprocess.PIPE,
                                             stdout=subprocess.PIPE))
            self.assertEqual(commands[-1].stdout.readline(), b"ready\n")
        for command in commands:
            command.stdin.write(b"go\n")
            command.stdin.flush()
            self.assertEqual(command.stdout.readline(), b"ready\n")
        for command in commands:
            with command:
                command.communicate(b"go\n", harness.WATCHDOG_SECONDS)
        for name, other in ("AB", "BA"):
            self.assertIn(f"run by {other}", self.airlock("rollback", "--agent", name, code=1)[1])
        self.airlock("rollback", "2")
        self.assertFalse((self.root / "A").exists() or (self.root / "B").exists())

    def test_own_edits(self):
        """a rollback takes back no edits of one's own, and says so"""
        said = "no edits of your own"
        self.assertIn(said, self.airlock("snapshot", "--label", "before")[1])
        (self.root / "a.txt").unlink()
        self.assertIn(said, self.airlock("rollback", "--to", "before", code=1)[1])

    def test_signals(self):
        """a signal that is sent reaches the command, and what it did is recorded"""
        script = "trap 'echo two >a.txt; exit 3' TERM; echo ready; while :; do sleep 0.1; done"
        with subprocess.Popen([harness.AIRLOCK, "run", "--", "sh", "-c", script], cwd=self.root, env=self.env,
                              stdout=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"ready\n")
            process.send_signal(signal.SIGTERM)
            self.assertEqual(process.wait(harness.WATCHDOG_SECONDS), 3)
        self.airlock("rollback")
        self.assertEqual(self.text(), "one\n")

    def test_each_signal(self):
        """each signal that a program sends for a purpose reaches the command"""
        script = ("import signal, sys\nfor n in {}: signal.signal(n, lambda n, f: sys.exit(n))\n"
                  "print('ready', flush=True)\nwhile True: signal.pause()")
        numbers = [signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM,
                   signal.SIGTERM, signal.SIGCONT, signal.SIGWINCH]
        for number in numbers:
            with subprocess.Popen([harness.AIRLOCK, "run", "--", "python3", "-c", script.format([int(n) for n in numbers])],
                                  cwd=self.root, env=self.env, stdout=subprocess.PIPE) as process:
                self.assertEqual(process.stdout.readline(), b"ready\n")
                process.send_signal(number)
                self.assertEqual(process.wait(harness.WATCHDOG_SECONDS), number)

    def test_rule_asks(self):
        """a rule that asks: the command waits for a review, and begins once it is approved"""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text('[[tools.approval.rule]]\ntool = "run"\ndecision = "ask"\nmessage = "Sure?"\n', encoding="ascii")
        err = self.airlock("run", "touch", "x", code=128)[1]
        self.assertRegex(err, r"\Aairlock: [^\n]*Sure\?[^\n]*rule 1 of the configuration[^\n]*airlock review[^\n]*\n\Z")
        sockets = self.home / "airlock"
        sockets.mkdir(mode=0o700, exist_ok=True)
        with open(sockets / "review.lock", "w+", encoding="ascii") as lock:
            fcntl.lockf(lock, fcntl.LOCK_SH)
            for words, code in ((["approve"], 7), (["reject"], 128)):
                script = "trap 'exit 7' TERM; echo x >>x; kill -TERM $PPID; while :; do sleep 0.1; done"
                with subprocess.Popen([harness.AIRLOCK, "run", "--", "sh", "-c", script], cwd=self.root,
                                      env=self.env, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                      text=True, start_new_session=True) as process:
                    self.addCleanup(process.kill)
                    self.assertIn("waiting for approval", process.stderr.readline())
                    asked = json.loads(self.airlock("review", "--list", "--json")[0])[0]
                    self.assertIn("echo x", asked["summary"])
                    self.airlock("review", *words, asked["id"])
                    self.assertEqual(process.wait(harness.WATCHDOG_SECONDS), code)
        self.assertEqual(self.text("x"), "x\n")

    def test_outside(self):
        """outside of a repository it runs, with a warning"""
        where = self.base / "elsewhere"
        where.mkdir()
        out, err = self.airlock("run", "echo", "hello", cwd=where)
        self.assertEqual(out, "hello\n")
        self.assertIn("arning", err)
        self.airlock("snapshot", cwd=where, code=128)

    def test_of_several_roots(self):
        """it is of the repository that the current directory is in, never of another one"""
        second, third = self.base / "work/b", self.base / "work/c"
        for where in (second, third):
            self.git("clone", "-q", str(self.root), str(where))
        (second / "sub").mkdir()
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        for roots in ([self.root, second], [self.root, self.base / "work"]):
            config.write_text(f"roots = {json.dumps([str(root) for root in roots])}\n", encoding="utf-8")
            for where, lost in ((second, "a.txt"), (second / "sub", "../a.txt"), (second / ".git", "../a.txt")):
                self.airlock("run", "--label", "build", "--", "rm", lost, cwd=where)
                self.assertEqual(self.log()[-1]["repository"], str(second))
                self.airlock("rollback", "-y", cwd=second)
                self.assertEqual((second / "a.txt").read_text(encoding="ascii"), "one\n")
        self.airlock("snapshot", cwd=second)
        self.assertEqual(self.log()[-1]["repository"], str(second))
        config.write_text(f'roots = ["{self.root}", "{second}"]\n', encoding="utf-8")
        count = len(self.log())
        out, err = self.airlock("run", "sh", "-c", "echo hello; exit 3", cwd=third, code=3)
        self.assertEqual(out, "hello\n")
        self.assertIn("outside of the roots", err)
        self.assertIn("outside of the roots", self.airlock("snapshot", cwd=third, code=128)[1])
        self.assertEqual([line["git_commit"] for line in self.log()[count:]], [None, None])
        self.airlock("snapshot", "--root", str(second), cwd=third)
        self.assertEqual(self.log()[-1]["repository"], str(second))

    def test_still_running(self):
        """a rollback says that a command which still runs is not what it takes back"""
        pipe = self.base / "pipe"
        os.mkfifo(pipe)
        self.airlock("run", "sh", "-c", "echo first > first.txt")
        with subprocess.Popen([harness.AIRLOCK, "run", "sh", "-c", f"rm a.txt; echo >{pipe}; cat {pipe}"],
                              cwd=self.root, env=self.env, stdout=subprocess.DEVNULL) as running:
            pipe.read_text(encoding="ascii")
            for words in (("--dry-run",), ()):
                self.assertIn("still running, and not taken back: Run sh -c", self.airlock("rollback", *words)[1])
            pipe.write_text("end\n", encoding="ascii")
        self.assertEqual(running.returncode, 0)
        self.assertFalse((self.root / "first.txt").exists())
        self.assertNotIn("still running", self.airlock("rollback", "--dry-run", code=1)[1])

    def test_killed(self):
        """where airlock is killed and its command lives on, it counts as running until it ends"""
        pipe, done = self.base / "pipe", self.base / "done"
        os.mkfifo(pipe)
        os.mkfifo(done)
        self.airlock("run", "sh", "-c", "echo first >first.txt")
        with subprocess.Popen([harness.AIRLOCK, "run", "sh", "-c", f"echo >{pipe}; cat {pipe}; rm a.txt; exec cat {done}"],
                              cwd=self.root, env=self.env, stdout=subprocess.DEVNULL) as running:
            pipe.read_text(encoding="ascii")
            running.kill()
        self.assertIn("Run sh -c", self.airlock("log", "--running")[0])
        self.assertEqual([line["outcome"] for line in self.log()], ["ok"])
        self.assertIn("still running, and not taken back: Run sh -c", self.airlock("rollback", "--dry-run")[1])
        pipe.write_text("go on\n", encoding="ascii")
        with open(done, "w", encoding="ascii"):
            self.assertFalse((self.root / "a.txt").exists())
            self.assertIn("Run sh -c", self.airlock("log", "--running")[0])
        while "no calls" not in self.airlock("log", "--running")[0]:
            pass
        self.airlock("log")
        self.assertEqual([(line["outcome"], line["confinement"]) for line in self.log()], [("ok", "none"), ("interrupted", None)])
        self.assertIn("was interrupted", self.airlock("rollback", code=1)[1])
        self.airlock("rollback", "--force")
        self.assertEqual((self.text(), self.text("first.txt")), ("one\n", "first\n"))

    def test_another_repository(self):
        """what was done in a repository that is gone is not taken back in the one that has its place"""
        self.write("u.txt", "untracked\n")
        self.airlock("run", "--", "rm", "u.txt")
        moved, second = self.base / "moved", ("sh", "-c", "echo two >a.txt")
        shutil.copytree(self.root, moved, symlinks=True)
        shutil.rmtree(self.root)
        shutil.copytree(moved, self.root, symlinks=True)  # as a backup comes back
        self.airlock("rollback")
        self.assertEqual(self.text("u.txt"), "untracked\n")
        self.airlock("rollback", "--redo")
        self.airlock("rollback", "--redo", code=1)
        shutil.rmtree(self.root)
        self.root.mkdir()
        self.init()  # with the same commit, too
        self.assertFalse((self.root / "u.txt").exists())
        for words in ((), ("--dry-run",)):
            self.assertIn("was in another repository, which was here before this one; --force",
                          self.airlock("rollback", *words, code=1)[1])
        self.airlock("run", "--", *second)
        self.airlock("rollback")
        self.assertEqual((self.text(), self.airlock("rollback", "5", code=1)[0]), ("one\n", ""))
        self.assertFalse((self.root / "u.txt").exists())
        self.assertIn("has its history at its old path", self.airlock("rollback", cwd=moved, code=1)[1])
        shutil.rmtree(self.root)
        moved.rename(self.root)
        self.airlock("rollback", "--to", "1", code=1)
        self.airlock("rollback", "--to", "1", "--force")
        self.assertEqual(self.text("u.txt"), "untracked\n")

    def settings(self):
        """What says how git works here, with permissions; git's examples apart."""
        git = self.root / ".git"
        paths = [git / "config", *(path for path in (git / "hooks").rglob("*") if path.suffix != ".sample")]
        paths += [git / "info" / name for name in ("exclude", "attributes", "grafts") if (git / "info" / name).exists()]
        return {str(path.relative_to(git)): (path.lstat().st_mode, os.readlink(path) if path.is_symlink() else
                                             path.read_bytes()) for path in paths if not path.is_dir()}

    def test_settings(self):
        """hooks, configuration and info/ that a command changed are named, and come back, as they were"""
        hooks = self.root / ".git/hooks"
        hooks.mkdir(exist_ok=True)
        for name in ("pre-push", "post-merge", "commit-msg"):
            (hooks / name).write_text(f"#!/bin/sh\necho {name}\n", encoding="ascii")
            (hooks / name).chmod(0o755)
        (hooks / "linked").symlink_to("pre-push")
        (self.root / ".git/config").chmod(0o600)
        before = self.settings()
        script = ("cd .git; echo evil >hooks/pre-commit; chmod +x hooks/pre-commit; mkdir hooks/d; echo x >hooks/d/x; "
                  "rm hooks/pre-push; echo more >>hooks/post-merge; chmod -x hooks/commit-msg; ln -sf /bin/sh hooks/linked; "
                  "echo '*.c' >>info/exclude; echo '* -diff' >info/attributes; git config core.pager evil")
        self.airlock("run", "--", "sh", "-c", script)
        after = self.settings()
        line = self.log()[-1]
        for name in ("config", "hooks/pre-commit", "hooks/pre-push", "info/attributes"):
            self.assertIn(f"{name} in the git directory", line["changes"])
            self.assertIn(f"{name} in the git directory", self.airlock("rollback", "--dry-run")[0])
        self.assertIn("hooks/pre-commit in the git directory", self.airlock("rollback")[0])
        self.assertEqual(self.settings(), before)
        self.airlock("rollback", "--redo")
        self.assertEqual(self.settings(), after)
        self.airlock("rollback", "--redo", code=1)
        self.airlock("rollback")
        self.assertEqual(self.settings(), before)

    def test_settings_of_others(self):
        """a hook that was changed since is an obstacle; other calls leave hooks alone; a huge one is named and stays"""
        hook, huge = self.root / ".git/hooks/pre-commit", self.root / ".git/hooks/huge"
        hook.parent.mkdir(exist_ok=True)
        self.airlock("run", "--", "sh", "-c", "echo evil >.git/hooks/pre-commit")
        hook.write_text("mine\n", encoding="ascii")
        self.assertIn("hooks/pre-commit in the git directory", self.airlock("rollback", code=1)[1])
        self.assertEqual(hook.read_text(encoding="ascii"), "mine\n")
        self.airlock("rollback", "--force")
        self.assertFalse(hook.exists())
        self.write("a.txt", "two\n")
        self.airlock("git", "add", "a.txt")
        hook.write_text("mine\n", encoding="ascii")
        self.airlock("rollback")
        self.assertEqual(hook.read_text(encoding="ascii"), "mine\n")
        huge.write_bytes(b"x" * (2 << 20))
        err = self.airlock("run", "--", "sh", "-c", "echo x >.git/hooks/huge")[1]
        self.assertIn("leaves out '.git/hooks/huge'", err)
        self.assertIn("hooks/huge in the git directory", self.airlock("rollback", code=1)[0])
        self.assertEqual(huge.read_text(encoding="ascii"), "x\n")

    def test_settings_bound(self):
        """settings have 1 MiB together, a link's target included: what is beyond is named, and nothing else is left out"""
        git_dir = self.root / ".git"
        for name in "hooks", "info":
            shutil.rmtree(git_dir / name, ignore_errors=True)
            (git_dir / name).mkdir()
        huge, link, last = git_dir / "hooks/huge", git_dir / "info/exclude", git_dir / "info/attributes"
        for target, more in ((0, -1), (0, 0), (0, 1), (4000, -4001), (4000, -4000), (4000, -3999), (4000, -100)):
            with self.subTest(target=target, more=more):
                huge.write_bytes(b"#" * ((1 << 20) + more))
                link.unlink(missing_ok=True)
                if target:
                    link.symlink_to("x" * 200 + "/" + "y" * (target - 201))
                last.unlink(missing_ok=True)
                if more == -100:  # a wrapped bound would read it
                    with open(last, "wb") as file:
                        file.truncate(1 << 40)
                err = self.airlock("run", "--", "sh", "-c", "echo more >>a.txt")[1]
                self.assertEqual([name for name in ("hooks/huge", "info/exclude", "info/attributes") if name in err],
                                 ["info/exclude", "info/attributes"] if more == -100 else
                                 [] if target + more <= 0 else ["info/exclude" if target else "hooks/huge"])

    def test_directory_gone(self):
        """a command, or a rollback, that removes the directory it began in is an execution like any other"""
        below = self.root / "below"
        below.mkdir()
        self.airlock("run", "sh", "-c", "echo new >new.txt", cwd=below)
        self.assertEqual(self.airlock("rollback", cwd=below)[1], "")
        self.assertFalse((below / "new.txt").exists())
        self.airlock("rollback", "--redo")
        self.assertEqual((below / "new.txt").read_text(), "new\n")
        self.assertEqual(self.airlock("run", "rm", "-rf", str(below), cwd=below)[1], "")
        self.airlock("rollback")
        self.assertEqual((below / "new.txt").read_text(), "new\n")

    def test_repository_gone(self):
        """the status is that of the command which removed the repository; it comes back into a new one"""
        head = self.out("rev-parse", "HEAD")
        for script in ("rm -rf .git; exit 5", 'rm -rf "$PWD"; exit 5'):
            err = self.airlock("run", "sh", "-c", script, code=5)[1]
            self.assertEqual(len(err.splitlines()), 1, err)
            self.assertIn("git init there, and then airlock rollback --force, bring back", err)
            self.assertEqual(self.log()[-1]["outcome"], "ok")
            self.root.mkdir(exist_ok=True)
            self.git("init", "-q", "-b", "main")
            self.airlock("rollback", "--force")
            self.assertEqual((self.out("rev-parse", "HEAD"), self.out("status", "--short")), (head, ""))
            self.git("fsck", "--strict")
        for name in ("HEAD", "objects", "refs"):
            err = self.airlock("run", "rm", "-rf", f".git/{name}")[1]
            self.assertIn("git init there, and then airlock rollback --force, bring back", err)
            self.assertIn("git init there", self.airlock("rollback", code=1)[1])
            self.git("init", "-q")
            self.airlock("rollback", "--force")
            self.assertEqual((self.out("rev-parse", "HEAD"), self.out("status", "--short")), (head, ""))
            self.git("fsck", "--strict")
        found = [place for place in ("/dev/shm", "/tmp", "/var/tmp") if os.access(place, os.W_OK) and
                 os.stat(place).st_dev != os.stat(self.root).st_dev]
        if found:  # the store can hold nothing there, and nothing is promised
            with tempfile.TemporaryDirectory(dir=found[0]) as state:
                err = self.airlock("run", "rm", "-rf", ".git", env={"XDG_STATE_HOME": state})[1]
                self.assertIn("cannot be undone", err)

    def everything(self):
        """References, HEAD, index and status; None where git cannot say."""
        words = (("for-each-ref",), ("symbolic-ref", "HEAD"), ("ls-files", "--stage"), ("status", "--porcelain"))
        found = [self.git(*part, check=False) for part in words]
        return None if any(one.returncode or one.stderr for one in found) else [one.stdout for one in found]

    def test_damage(self):
        """what a program damaged in the git directory is named, and comes back with --force; a copy of it is kept"""
        self.commit("a.txt", "second\n", "second")
        self.git("branch", "packed", "HEAD~1")
        self.git("pack-refs", "--all")
        self.git("commit", "-q", "--allow-empty", "-m", "third")  # refs/heads/main is loose, and an old one packed
        self.git("branch", "side/one")
        self.write("a.txt", "staged\n")
        self.git("add", "a.txt")
        there = self.everything()
        damages = [(f"{script}.git/{name}", name) for name in ("HEAD", "refs/heads/main", "refs/heads/side/one",
                                                               "packed-refs", "index")
                   for script in (": >", "echo garbage >") if (script, name) != (": >", "packed-refs")]
        damages.append((r"printf 'ref: refs/heads/main\nmore\n' >.git/HEAD", "HEAD"))
        for script, name in damages:
            with self.subTest(script=script):
                self.airlock("run", "sh", "-c", script)
                broken = (self.root / ".git" / name).read_bytes()
                self.assertIsNone(self.everything())
                err = self.airlock("rollback", code=1)[1]
                self.assertEqual((len(err.splitlines()), f"git cannot read '{name}'" in err), (1, True), err)
                self.assertEqual((self.root / ".git" / name).read_bytes(), broken)
                self.assertIn(f"git cannot read '{name}'", self.airlock("rollback", "--force")[1])
                self.assertEqual(self.everything(), there)
                self.assertEqual((self.root / ".git/airlock/damaged" / name.replace("/", ":")).read_bytes(), broken)
                self.git("fsck", "--strict")
        copies = {copy.read_bytes() for copy in (self.root / ".git/airlock/damaged").glob("HEAD*")}
        self.assertEqual(copies, {b"", b"garbage\n", b"ref: refs/heads/main\nmore\n"})
        for gone, name in ("side/one", "side"), ("side", "side/one"):
            self.git("branch", "-D", gone)
            self.git("branch", name)
            there = self.everything()
            self.airlock("run", "sh", "-c", f"echo garbage >.git/refs/heads/{name}")
            self.airlock("rollback", "--force")
            self.assertEqual(self.everything(), there)
        self.airlock("run", "sh", "-c", "for name in HEAD packed-refs index refs/heads/main; do echo x >.git/$name; done")
        self.assertEqual(self.airlock("rollback", "--force")[1].count("git cannot read"), 4)
        self.assertEqual(self.everything(), there)

    def test_damage_before(self):
        """a HEAD that a rollback could not bring back stops what would change something; what was before comes back"""
        there = self.everything()
        self.airlock("run", "sh", "-c", "echo second >a.txt")
        for head in "ref: refs/heads/main\nmore\n", "ref: refs/heads/main more\n", "0" * 40 + "\n":
            with self.subTest(head=head):
                self.write(".git/HEAD", head)
                self.assertIn("git cannot read 'HEAD'", self.airlock("call", "git_add", "all=true", code=3)[1])
        self.airlock("rollback", "--force")
        self.assertEqual(self.everything(), there)

    def test_damage_locked(self):
        """a file that somebody else writes to at this moment is not moved away"""
        self.git("branch", "side")
        there = self.everything()
        for name in "HEAD", "refs/heads/side", "index":
            with self.subTest(name=name):
                self.airlock("run", "sh", "-c", f"echo garbage >.git/{name}")
                self.write(f".git/{name}.lock", "")
                self.airlock("rollback", "--force", code=1)
                self.assertEqual((self.root / ".git" / name).read_text(), "garbage\n")
                (self.root / f".git/{name}.lock").unlink()
                self.airlock("rollback", "--force")
                self.assertEqual(self.everything(), there)
                self.assertEqual(list((self.root / ".git").glob("**/*.lock")), [])

    def test_no_damage(self):
        """what git reads, or has a use for, stays: a link as HEAD, what leads nowhere, a lock, a hidden file, other worktrees'"""
        self.write(".git/index", "garbage")
        for force in (), ("--force",):
            self.assertIn("nothing to roll back", self.airlock("rollback", *force, code=1)[1])
        self.assertEqual((self.root / ".git/index").read_text(encoding="ascii"), "garbage")
        (self.root / ".git/index").unlink()
        self.git("reset", "-q")
        self.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/gone")
        self.write(".git/refs/heads/other.lock", "")
        self.write(".git/refs/heads/desktop.ini", "[of another program]\n")
        self.write(".git/refs/heads/lost", "1" * 40 + "\n")
        self.write(".git/refs/heads/.DS_Store", "of a file manager")
        self.write(".git/elsewhere/there", self.out("rev-parse", "HEAD"))
        (self.root / ".git/refs/elsewhere").symlink_to("../elsewhere")
        self.git("worktree", "add", "-q", "-b", "linked", "../linked")
        for name in "refs/bisect/bad", "refs/worktree/own":
            self.git("update-ref", name, "HEAD")  # which git lists in this worktree alone
        self.airlock("run", "sh", "-c", "echo new >new.txt", cwd=self.root.parent / "linked")
        self.assertNotIn("cannot read", self.airlock("rollback", cwd=self.root.parent / "linked")[1])
        self.airlock("run", "sh", "-c", "echo new >new.txt")
        self.assertNotIn("cannot read", self.airlock("rollback")[1])
        self.write(".git/HEAD", self.out("rev-parse", "HEAD").upper())  # as git reads it
        self.airlock("run", "sh", "-c", "echo new >new.txt")
        self.assertNotIn("cannot read", self.airlock("rollback", "--force")[1])
        (self.root / ".git/HEAD").unlink()
        (self.root / ".git/HEAD").symlink_to("refs/heads/main")
        self.airlock("run", "sh", "-c", "echo new >new.txt")
        self.assertNotIn("cannot read", self.airlock("rollback", "--force")[1])
        self.assertFalse((self.root / "new.txt").exists() or (self.root / ".git/airlock/damaged").exists())
        self.git("config", "index.threads", "garbage")
        self.assertIn("bad numeric config value", self.airlock("rollback", "--force", code=1)[1])
        self.git("config", "--unset", "index.threads")
        (self.root / ".git/refs").rename(self.root / ".git/other-refs")
        (self.root / ".git/refs").symlink_to("other-refs")
        self.airlock("run", "sh", "-c", "echo new >new.txt")
        self.assertNotIn("cannot read", self.airlock("rollback", "--force")[1])
        self.airlock("run", "sh", "-c", "echo new >new.txt")
        with (self.root / ".git/config").open("a", encoding="ascii") as file:
            file.write("[garbage\n")
        self.assertIn("bad config line", self.airlock("rollback", "--force", code=1)[1])
        self.assertTrue((self.root / ".git/index").exists())


if __name__ == "__main__":
    harness.main()
