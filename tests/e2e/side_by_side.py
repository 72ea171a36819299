#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Agents and plain git side by side in one repository:  side_by_side.py AIRLOCK [OPTION...]

  --seed N        what to begin the random numbers with (1)
  --agents N      how many, each a server in a linked worktree of its own (8)
  --seconds N     how long (4)

Every agent makes random calls, half of which write, and rolls some of them back; now and then its
server is killed in the middle of a call.  Plain git commits to main, stashes, packs references and
writes the configuration in the main working tree.  Each agent compares its files, index, HEAD,
branches and stash entries before each of its steps with what they were after the one before: nobody
else may have touched them.  Agents also make worktrees and remove them, and a rollback brings some
back.  At the end every stash entry that was not taken must be there.  Then four of the branches are
compared and land in main one after the other, one with a conflict, and the worktree of an agent is
removed and brought back.
"""
import argparse
import contextlib
import hashlib
import os
import random
import re
import select
import signal
import subprocess
import sys
import threading
import time
import traceback

OPTIONS = argparse.ArgumentParser(usage=__doc__)
OPTIONS.add_argument("airlock")
OPTIONS.add_argument("--seed", type=int, default=1)
OPTIONS.add_argument("--agents", type=int, default=8)
OPTIONS.add_argument("--seconds", type=float, default=4)
OPTIONS = OPTIONS.parse_args()
del sys.argv[2:]

import harness  # pylint: disable=wrong-import-position
import side_by_side_end  # pylint: disable=wrong-import-position
import worktrees  # pylint: disable=wrong-import-position

# What plain git writes to beside the agents, in the words of a rollback.
PLAINS = {"refs/heads/main", "config in the git directory", "the stash", "refs/stash"}

SURE = ("kill", "roll_back", "push", "checkout", "worktree", "merge", "kill")  # the second step of the first agents
GONE = re.compile(r"fatal: Invalid path '[^']*/\.git/worktrees/[^']*': No such file or directory")
KILLS = 0.06  # of the steps
KILL_WITHIN_SECONDS = 0.06
TRACE = 60  # of what an agent did, how much a failure shows
STEPS_MIN = 3  # of each agent, however slow the machine is


class Worker(threading.Thread):
    """Somebody who works in one working tree until the time is over, or something is wrong."""

    def __init__(self, case, place, number):
        super().__init__(daemon=True)
        self.case, self.place, self.number, self.name = case, place, number, f"agent-{number}"
        self.random = random.Random(OPTIONS.seed * 1000 + number)
        self.serial, self.steps, self.problem = 0, 0, None
        self.counts, self.trace = {}, []

    def run(self):
        try:
            while self.steps < STEPS_MIN or time.monotonic() < self.case.end:
                if self.case.wrong.is_set():
                    return
                self.step()
                self.steps += 1
        except BaseException:  # pylint: disable=broad-exception-caught
            done = "\n".join(self.trace)
            self.problem = f"{self.name}:\n{done}\n{traceback.format_exc()}"
            self.case.wrong.set()

    def step(self):
        """One thing to do."""
        raise NotImplementedError

    def new(self):
        """A word that nobody else uses."""
        self.serial += 1
        return f"{self.name}-{self.serial}"

    def count(self, what):
        self.counts[what] = self.counts.get(what, 0) + 1

    def note(self, *words):
        """Remember what was done, for whoever reads a failure."""
        self.trace.append(f"{self.steps}: {' '.join(str(word) for word in words)}")
        del self.trace[:-TRACE]

    def git(self, *words, check=True):
        return self.case.git(*words, cwd=self.place, check=check)

    def out(self, *words):
        return self.git(*words).stdout.decode()

    def stash_lines(self):
        """The stash's log as it is, newest first: id and message."""
        try:
            text = (self.case.common / "logs/refs/stash").read_text(encoding="utf-8")
        except FileNotFoundError:
            return []
        lines = [line.split("\t", 1) for line in text.splitlines()]
        return [(line[0].split(" ")[1], line[1]) for line in reversed(lines)]


class Plain(Worker):
    """A user with plain git, in the main working tree."""

    def __init__(self, case):
        super().__init__(case, case.root, 0)
        self.name = "plain"
        self.pushed = []

    def step(self):
        if self.random.random() < 0.8:
            words = self.random.choice((("status",), ("log", "-3"), ("diff",), ("stash", "list")))
            self.git(*words, check=words[0] != "stash")  # it fails where an agent drops the last entry just then
        else:
            self.random.choice((self.commit, self.commit, self.push, self.push, self.pack, self.configure))()

    def commit(self):
        """The only one that writes to main."""
        (self.place / "main.txt").write_text(self.new() + "\n", encoding="utf-8")
        self.git("commit", "-q", "-a", "-m", "main")

    def push(self):
        """It may fail on a lock that airlock's git holds; then nothing is in the stash."""
        word = self.new()
        (self.place / "main.txt").write_text(word + "\n", encoding="utf-8")
        if self.git("stash", "push", "-q", "-m", f"<{word}>", check=False).returncode == 0:
            self.pushed.append(word)
        else:
            self.git("checkout", "-q", "-f", "main")

    def pack(self):
        self.git("pack-refs", "--all", check=False)

    def configure(self):
        self.git("config", "plain.word", self.new(), check=False)


class Agent(Worker):
    """An agent with a server of its own."""

    def __init__(self, case, place, number):
        super().__init__(case, place, number)
        self.server = None
        self.stash = []  # own entries: messages, oldest first
        self.lost, self.gained = set(), set()  # by calls that were killed: nobody knows
        self.kept = f"kept-{number}.txt"  # branches of different agents do not conflict
        self.restart()
        self.before = self.snapshot()

    def restart(self):
        """Begin a server."""
        self.server = self.case.server(self.place, "--agent", self.name, "--toolset", "git", "--toolset",
                                       "workflow", "--toolset", "parallel")

    def step(self):
        self.assert_untouched()
        writers = (self.commit, self.push, self.push, self.pop, self.pop, self.drop, self.branch,
                   self.checkout, self.merge, self.roll_back, self.worktree)
        if self.steps == 1 and self.number <= len(SURE):  # however short the time is
            getattr(self, SURE[self.number - 1])()
        elif self.random.random() < 0.5:
            self.read()
        elif self.random.random() < KILLS:
            self.kill()
        else:
            self.random.choice(writers)()
        self.before = self.snapshot()

    # What belongs to this agent.

    def snapshot(self):
        """Files, index, HEAD, branches and stash entries."""
        found = {}
        for path in sorted(self.place.iterdir()):
            found[path.name] = path.read_bytes()
        found[".index"] = hashlib.sha256((self.git_dir / "index").read_bytes()).hexdigest()
        found[".HEAD"] = (self.git_dir / "HEAD").read_text(encoding="utf-8")
        found[".refs"] = self.out("for-each-ref", f"refs/heads/{self.name}",
                                  f"refs/heads/b-{self.name}/")
        found[".stash"] = [line for line in self.stash_lines() if f"<{self.name}-" in line[1]]
        return found

    @property
    def git_dir(self):
        return self.case.common / "worktrees" / self.place.name

    def assert_same(self, before, after):
        """Two snapshots are equal."""
        differing = {name: (before.get(name), after.get(name)) for name in before | after
                     if before.get(name) != after.get(name)}
        self.case.assertEqual(differing, {}, self.name)

    def assert_untouched(self):
        """Nobody has touched what belongs to this agent."""
        self.assert_same(self.before, self.snapshot())

    def ok(self, tool, **arguments):
        """A call that must work; again where git met a worktree that was removed just then, which
        fails any git that lists them."""
        self.count(tool)
        self.note(tool, arguments)
        result = self.server.call(tool, arguments)
        if result.failed and GONE.match(result.text):
            self.count("again")
            return self.ok(tool, **arguments)
        self.case.assertFalse(result.failed, result)
        return result

    def edit(self, name="own.txt"):
        """Change a file; gives the word that is in it now.  What is committed and what is stashed
        are two files, so that nothing conflicts."""
        word = self.new()
        (self.place / name).write_text(word + "\n", encoding="utf-8")
        return word

    def clean(self):
        """Take changes back."""
        self.ok("git_restore", paths=["own.txt"], staged=True, worktree=True)

    # What it does.

    def read(self):
        tool, arguments = self.random.choice((
            ("git_status", {}), ("git_log", {"max_count": 3}), ("git_diff", {}),
            ("git_stash", {"action": "list"}), ("git_branch", {})))
        self.ok(tool, **arguments)

    def commit(self):
        word = self.edit(self.kept)
        self.ok("git_add", paths=[self.kept])
        self.ok("git_commit", type="feat", message=word)
        self.case.assertEqual(self.out("log", "-1", "--format=%s"), f"feat: {word}\n")

    def push(self):
        word = self.edit()
        self.ok("git_stash", action="push", message=f"<{word}>")
        self.case.assertNotIn(word, (self.place / "own.txt").read_text(encoding="utf-8"))
        self.stash.append(word)

    def take(self, action):
        """Pop or drop the newest entry of its own; gives its word, None: there is none."""
        if not self.stash:
            result = self.server.call("git_stash", {"action": action})
            self.case.assertEqual((result.failed, result.error.get("code")), (True, 7037), result)
            return None
        result = self.ok("git_stash", action=action)
        self.note(result.text.splitlines()[-1])
        self.case.assertIn("Dropped ", result.text)
        return self.stash.pop()

    def pop(self):
        word = self.take("pop")
        if word:
            self.case.assertEqual((self.place / "own.txt").read_text(encoding="utf-8"), word + "\n")
            self.clean()

    def drop(self):
        self.take("drop")

    def branch(self):
        name = f"b-{self.name}/{self.new()}"
        self.ok("git_branch", create=name)
        self.ok("git_branch", rename=name, new_name=name + "-x")
        self.ok("git_branch", force_delete=name + "-x")

    def checkout(self):
        """Work on another branch, and come back: what is there is not what is here."""
        name = f"b-{self.name}/{self.new()}"
        files = self.snapshot()
        self.ok("git_checkout", create_branch=name)
        self.case.assertEqual(self.out("branch", "--show-current"), name + "\n")
        self.commit()
        self.ok("git_checkout", branch=self.name)
        self.ok("git_branch", force_delete=name)
        files[".index"] = self.snapshot()[".index"]  # its times are those of the files
        self.assert_same(files, self.snapshot())

    def merge(self):
        """Bring in what plain git has committed to main.  If main moves just then, the merge is put
        back."""
        before = self.snapshot()
        result = self.server.call("git_merge", {"branch": "main"})
        self.count("git_merge")
        if result.failed:
            self.count("git_merge refused")
            self.case.assertIn("since another process moved the branch meanwhile", result.text)
            self.assert_same(before, self.snapshot())

    def roll_back(self):
        """Do something, and take it back: everything of this agent is as before, and only that."""
        count, act = self.random.choice(((2, self.commit), (1, self.new_branch), (1, self.clean_up)))
        if act == self.clean_up:
            self.edit()
        before = None if act == self.commit else self.snapshot()
        if act == self.commit:
            word = self.edit(self.kept)
            before = self.snapshot()
            self.ok("git_add", paths=[self.kept])
            self.ok("git_commit", type="feat", message=word)
        else:
            act()
        after = self.snapshot()
        self.count("rollback")
        self.note("rollback", count)
        done = subprocess.run([harness.AIRLOCK, "rollback", str(count)], cwd=self.place,
                              env=self.case.env, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        if done.returncode == 0:
            self.assert_same(before, self.snapshot())
        else:
            self.refused(done, after)
        self.git("reset", "-q", "--hard")

    def refused(self, done, after):
        """What plain git does while a call runs may be the call's: then a rollback names it, and
        changes nothing."""
        self.count("rollback refused")
        listed = {line[2:] for line in done.stderr.splitlines() if line.startswith("  ")}
        listed |= set(re.findall("the rollback would move '(.*?)'", done.stderr))
        listed = {re.sub(r"stash@\{\d+\} \(no worktree\)", "the stash", name) for name in listed}
        self.case.assertTrue(listed and listed <= PLAINS, (done, listed))
        self.assert_same(after, self.snapshot())

    def worktree(self):
        """Make a worktree, work in it, remove it; a rollback brings it back, untracked files included."""
        name = f"w-{self.new()}"
        branch, place = f"b-{self.name}/{name}", self.case.root / ".worktrees" / name
        before = self.snapshot()
        self.ok("git_worktree", action="add", name=name, branch=branch, create=True)
        (place / "untracked.txt").write_text(name, encoding="utf-8")
        (place / "own.txt").write_text(name, encoding="utf-8")
        self.ok("git_add", paths=["own.txt"], working_dir=str(place))
        (place / "own.txt").write_text(name + name, encoding="utf-8")
        there = side_by_side_end.everything_in(self.case, place)
        self.ok("git_worktree", action="remove", name=name)
        self.case.assertFalse(place.exists())
        if self.random.random() < 0.7:
            done = subprocess.run([harness.AIRLOCK, "rollback"], cwd=self.place, env=self.case.env,
                                  stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                                  timeout=harness.WATCHDOG_SECONDS)
            self.case.assertEqual(done.returncode, 0, done)
            self.count("worktree brought back")
            self.case.assertEqual(side_by_side_end.everything_in(self.case, place), there)
            self.ok("git_status", working_dir=str(place))
            self.ok("git_worktree", action="remove", name=name)
        self.ok("git_branch", force_delete=branch)
        self.assert_same(before, self.snapshot())

    def new_branch(self):
        self.ok("git_branch", create=f"b-{self.name}/{self.new()}")

    def clean_up(self):
        self.ok("git_restore", paths=["own.txt"])

    # Killed in the middle.

    def kill(self):
        """Kill the server while it runs a call that writes."""
        self.count("kill")
        word, top = self.edit(), self.stash[-1] if self.stash else None
        tool, arguments = self.random.choice((
            ("git_add", {"paths": ["own.txt"]}),
            ("git_stash", {"action": "push", "message": f"<{word}>"}),
            ("git_stash", {"action": "drop"}),
            # Any agent's next add may remove that branch: it is none of those that nobody touches.
            ("git_worktree", {"action": "add", "name": f"k-{word}", "branch": f"killed/{word}",
                              "create": True}),
            ("git_restore", {"paths": ["own.txt"]})))
        self.note("killed", tool, arguments, "entries", self.stash)
        self.server.ask(tool, arguments)
        select.select([self.server.process.stdout], [], [],
                      self.random.random() * KILL_WITHIN_SECONDS)
        self.server.process.kill()
        self.server.process.wait()
        if tool == "git_stash" and arguments["action"] == "push":
            self.gained.add(word)
        elif tool == "git_stash" and top:
            self.lost.add(top)
        self.recover()

    def recover(self):
        """What a user does after a crash: wait for gits that still run, remove the locks that they
        left, and begin again.  A git whose calls were watched can neither rename nor remove a file
        when nobody watches any more: any lock in the worktree's own directory may stay."""
        while self.case.processes_in(self.place) or self.case.processes_in(self.place):
            os.sched_yield()  # the second look finds the child of one that ended during the first
        for lock in self.git_dir.glob("*.lock"):
            lock.unlink()
        with contextlib.suppress(BrokenPipeError):
            self.server.close()
        self.restart()
        self.git("reset", "-q", "--hard")
        listed = self.ok("git_stash", action="list").text
        own = re.findall(rf"<({self.name}-\d+)> \(this worktree\)", listed)[::-1]
        self.note("afterwards", own)
        self.case.assertLessEqual(set(self.stash) - self.lost, set(own))
        self.case.assertLessEqual(set(own), set(self.stash) | self.gained)
        self.stash = own


class SideBySide(worktrees.Case):
    def setUp(self):
        super().setUp()
        kept = [f"kept-{number}.txt" for number in range(1, OPTIONS.agents + 1)]
        for name in ("own.txt", "main.txt", side_by_side_end.SHARED, *kept):
            self.commit(name, "", name)
        self.common = self.root / ".git"
        self.wrong = threading.Event()

    def test_agents_beside_plain_git(self):
        """agents in linked worktrees beside plain git, killed now and then: nobody loses anything"""
        signal.alarm(int(OPTIONS.seconds) + harness.CASE_SECONDS)
        places = self.make_worktrees()
        self.end = time.monotonic() + OPTIONS.seconds
        agents = [Agent(self, place, number) for number, place in enumerate(places, 1)]
        plain = Plain(self)
        workers = [plain, *agents]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assert_all_is_well(plain, agents)
        side_by_side_end.End(self, agents).run()
        self.report(plain, agents)
        self.assertEqual(self.git("fsck", "--no-dangling").stderr, b"")

    def make_worktrees(self):
        """One for each agent, by git_worktree in the main working tree."""
        names = [f"agent-{number}" for number in range(1, OPTIONS.agents + 1)]
        for name in names:
            self.ok("git_worktree", {"action": "add", "name": name}, "--toolset", "parallel")
        return [self.root / ".worktrees" / name for name in names]

    def assert_all_is_well(self, plain, agents):
        """Nobody found anything wrong, and nothing is lost."""
        self.report(plain, agents)
        for worker in (plain, *agents):
            self.assertIsNone(worker.problem, worker.problem)
        for agent in agents:
            agent.assert_untouched()
        self.assert_all_there(plain, agents)
        self.assertEqual(self.git("fsck", "--no-dangling").stderr, b"")

    def report(self, plain, agents):
        """How much was done."""
        counts = {}
        for worker in (plain, *agents):
            for what, count in worker.counts.items():
                counts[what] = counts.get(what, 0) + count
        print(f"# {sum(worker.steps for worker in agents)} steps, {plain.steps} of plain git: "
              f"{counts}")

    def assert_all_there(self, plain, agents):
        """Every entry that was pushed and not taken is in the stash, once, and no other."""
        messages = [line[1] for line in plain.stash_lines()]
        words = [re.search("<(.*)>", message).group(1) for message in messages]
        self.assertEqual(len(words), len(set(words)), words)
        must = set(plain.pushed).union(*(agent.stash for agent in agents))
        may = must.union(*(agent.gained | agent.lost for agent in agents))
        self.assertLessEqual(must, set(words))
        self.assertLessEqual(set(words), may)


if __name__ == "__main__":
    harness.main()
