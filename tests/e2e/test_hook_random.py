#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random shell edits under the hooks of two sessions in one working tree: each comes back byte for byte, and nothing of
the other's.  AIRLOCK_RANDOM: how many (20).  AIRLOCK_NESTED=1: in nested repositories too."""
import json
import os
import pathlib
import random
import shutil
import signal
import stat
import subprocess

import harness
import hooks

EDITS = int(os.environ.get("AIRLOCK_RANDOM", "20"))
NAMES = [b"plain", b"with space", b"-dash", b"new\nline", b"quo'te\"", "\u00e4\u6f22.txt".encode(), b"\xff\xfe bytes", b"$HOME",
         b"sub/deep/x", b"sub/y", b"sub2/-", b".hidden", b"a;rm", b"caf\xe9/z"]
# Each is run with the session's directory as working directory, a name that may be there, one that may not, and a text.
SCRIPTS = ['mkdir -p "$(dirname "./$2")" 2>/dev/null; printf "%s" "$3" >"./$2"', 'printf "%s\\n" "$3" >>"./$1"', 'rm -rf "./$1"',
           'mv "./$1" "./$2"', 'chmod 755 "./$1"', 'chmod 600 "./$1"', 'ln -sfn "$3" "./$2"', 'ln -sfn "$1" ./link',
           'rm -rf sub', 'rm -rf "./$1"; mkdir -p "./$1"; echo "$3" >"./$1/in"', ': >"./$1"',
           'printf "\\000\\377" >"./$2"']
NESTED = ['git init -q nested; cd nested; echo "$3" >f; git add f; git commit -qm "$3"',
          'cd nested && echo "$3" >f; GIT commit -qam past', 'cd nested && git checkout -q -b "b$(date +%N)"',
          'rm -rf nested', 'mkdir -p nested && cd nested && GIT init -q', 'cd nested && git reset -q --hard']
SCRIPTS += NESTED if os.environ.get("AIRLOCK_NESTED") else []


class Random(hooks.Case):
    def setUp(self):
        super().setUp()
        fixed = "AIRLOCK_RANDOM" not in os.environ
        seed = int(os.environ.get("AIRLOCK_SEED", "0")) or (2 if fixed else random.randrange(1 << 30))
        print(f"# AIRLOCK_SEED={seed} AIRLOCK_RANDOM={EDITS}", flush=True)
        self.random = random.Random(seed)
        self.before = {"s1": [], "s2": []}
        for session in self.before:
            (self.root / session).mkdir()

    def state(self, session):
        """All files of the session's directory: kinds, permissions, bytes."""
        found = {}
        for top, names, files in os.walk(os.fsencode(self.root / session)):
            for name in names + files:
                path = os.path.join(top, name)
                mode = os.lstat(path).st_mode
                if stat.S_ISLNK(mode):
                    found[path] = os.readlink(path)
                elif stat.S_ISREG(mode):
                    found[path] = (stat.S_IMODE(mode), pathlib.Path(os.fsdecode(path)).read_bytes())
        return found

    def run_script(self, session):
        names = self.random.sample(NAMES, 2)
        there = [os.path.relpath(path, os.fsencode(self.root / session)) for path in self.state(session)]
        there = [path for path in there if not path.startswith(b"nested/")]
        if there:
            names[0] = self.random.choice(there)
        script = self.random.choice(SCRIPTS).replace("GIT", shutil.which("git"))
        env = self.env | {"PATH": f"{self.shim}:{os.environ['PATH']}", "AIRLOCK_SESSION": session}
        subprocess.run(["sh", "-c", script, "sh", *names, str(self.random.random())], cwd=self.root / session, env=env,
                       capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        return script

    def begin(self, session, call):
        signal.alarm(harness.CASE_SECONDS)  # for each, and not for all
        self.assertIsNone(self.send(self.recorded("before", session=session, tool_use_id=call)))

    def end(self, session, call, before, script):
        self.assertIsNone(self.send(self.recorded("after", session=session, tool_use_id=call)))
        line = [line for line in self.log("Bash") if line["call_id"] == call and line["outcome"] == "ok"][-1]
        if self.state(session) != before:
            self.assertIn("changes", line, script)
        if "changes" in line:
            self.before[session].append((before, script))

    def undo(self, session):
        signal.alarm(harness.CASE_SECONDS)
        before, script = self.before[session].pop()
        other = {"s1": "s2", "s2": "s1"}[session]
        theirs = self.state(other)
        self.airlock("call", "--approval", "allow", "git_undo", env={"AIRLOCK_SESSION": session})
        now = self.state(session)
        self.assertEqual({path: (before.get(path), now.get(path)) for path in before.keys() | now.keys()
                          if before.get(path) != now.get(path)}, {}, script)
        self.assertEqual(self.state(other), theirs, script)

    def test_random(self):
        """one after the other, and two that overlap in time"""
        call = 0
        while call < EDITS:
            one, two = self.random.sample(sorted(self.before), 2)
            states = {session: self.state(session) for session in self.before}
            call += 1
            self.begin(one, f"c{call}")
            first = self.run_script(one)
            if self.random.random() < 0.5:
                self.end(one, f"c{call}", states[one], first)
                continue
            call += 1
            self.begin(two, f"c{call}")
            self.end(one, f"c{call - 1}", states[one], first)
            second = self.run_script(two)
            self.end(two, f"c{call}", states[two], second)
        print("# " + json.dumps({name: len(done) for name, done in self.before.items()}), flush=True)
        while any(self.before.values()):
            self.undo(self.random.choice([name for name, done in self.before.items() if done]))
        self.assertEqual(self.state("s1") | self.state("s2"), {})


class Together(hooks.Case):
    def test_same_time(self):
        """what either of two can have changed is not undone behind the other's back"""
        for session in ("s1", "s2"):
            self.send(self.recorded("before", session=session))
        self.write("a.txt", "one of them\n")
        for session in ("s1", "s2"):
            self.send(self.recorded("after", session=session))
        self.assertEqual(self.log()[-1]["overlaps"], [self.log()[0]["seq"]])
        done = self.airlock("call", "--approval", "allow", "git_undo", env={"AIRLOCK_SESSION": "s2"}, code=1)
        self.assertIn("Bash by claude-code, ran at the same time", "".join(done))
        self.assertEqual(self.text(), "one of them\n")
        self.airlock("rollback", "-y", "--force")
        self.assertEqual(self.text(), "one\n")


if __name__ == "__main__":
    harness.main()
