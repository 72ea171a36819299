#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""airlock hook: each shell command and edit of a client is an execution between two checkpoints."""
import fcntl
import os
import shutil
import signal
import subprocess
import time
import tomllib

import harness
import hooks
import test_install


class Client:
    """A process of its own that starts hooks and other programs in a shell, over sockets as node does, and is killed."""
    def __init__(self, case):
        loop = ("import json,os,signal,socket,subprocess,sys\n"
                "for line in sys.stdin:\n"
                "    words, env, event = json.loads(line)\n"
                "    mine, its = socket.socketpair()\n"
                "    mine.sendall(event.encode())\n"
                "    mine.close()\n"
                "    done = subprocess.run(['sh', '-c', 'timeout 60 \"$@\"; true', 'sh', *words], env=env, stdin=its, text=True,\n"
                "                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT)\n"
                "    print(json.dumps(done.stdout), flush=True)\n"
                "os.kill(os.getpid(), signal.SIGKILL)\n")
        self.case = case
        self.process = subprocess.Popen(["python3", "-c", loop], cwd=case.root, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.communicate(timeout=harness.WATCHDOG_SECONDS)

    def run(self, words, env=(), event=""):
        request = [[str(self.case.airlock_path), *words], self.case.env | dict(env), event]
        print(hooks.json.dumps(request), file=self.process.stdin, flush=True)
        return hooks.json.loads(self.process.stdout.readline())

    def send(self, event):
        return self.run(("hook", "claude-code"), event=hooks.json.dumps(event))

    def edit(self, name, text, session="s1"):
        self.send(self.case.recorded("before", session=session))
        self.case.write(name, text)
        self.send(self.case.recorded("after", session=session))


class Hook(hooks.Case):
    def wait_for(self, condition):
        deadline = time.monotonic() + 30
        while not condition():
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.05)

    def test_start(self):
        """the model is told in 400 bytes, the shell finds airlock's git, a checkpoint is taken"""
        path = self.base / "environment"
        path.write_text("export MINE=1\n", encoding="ascii")
        answer = self.send(self.recorded("start"), env={"CLAUDE_ENV_FILE": str(path)})["hookSpecificOutput"]
        self.assertEqual(answer["hookEventName"], "SessionStart")
        self.assertIn("git_undo", answer["additionalContext"])
        self.assertLessEqual(len(answer["additionalContext"].encode()), 400)
        script = f'. "{path}"; command -v git; echo $MINE$AIRLOCK_SESSION $AIRLOCK_AGENT'
        out = subprocess.run(["sh", "-c", script], env=self.env, capture_output=True, check=True).stdout.decode()
        self.assertEqual(out, f"{self.shim}/git\n1s1 claude-code\n")
        self.wait_for(lambda: (self.home / ".local/state/airlock/tool_log.jsonl").exists() and self.log("run"))
        self.assertEqual((self.log()[0]["operation"], self.log()[0]["conversation_id"]), ("snapshot", "s1"))
        (self.shim / "git").unlink()
        answer = self.send(self.recorded("start"), env={"CLAUDE_ENV_FILE": str(path)})["hookSpecificOutput"]
        self.assertNotIn("git in this shell", answer["additionalContext"])

    def test_command(self):
        """a command is one execution, with the client's ids, and comes back with one undo"""
        self.write("u.txt", "untracked\n")
        self.assertIsNone(self.send(self.recorded("before")))
        self.assertIn("echo two", self.running()[0])
        for name, text in (("a.txt", "two\n"), ("n.txt", "new\n")):
            self.write(name, text)
        (self.root / "u.txt").unlink()
        self.assertIsNone(self.send(self.recorded("after")))
        self.assertEqual(self.running(), [])
        line = self.log()[-1]
        wanted = {"tool": "Bash", "operation": "hook", "agent": "claude-code", "conversation_id": "s1",
                  "call_id": "toolu_01ABC123", "outcome": "ok", "summary": "echo two >a.txt"}
        self.assertEqual({name: line[name] for name in wanted}, wanted)
        self.assertEqual(line["input"]["command"], "echo two >a.txt")
        self.assertEqual(line["changes"], "3 files changed, 1 added, 1 removed")
        self.airlock("rollback")
        self.assertEqual((self.text(), self.text("u.txt"), (self.root / "n.txt").exists()),
                         ("one\n", "untracked\n", False))

    def test_failed_and_edit(self):
        """a tool that failed ends as one that did not; an edit elsewhere is of the repository there"""
        self.send(self.recorded("before"))
        self.write("a.txt", "two\n")
        self.assertIsNone(self.send(self.recorded("failed")))
        self.assertEqual((self.log()[-1]["outcome"], self.log()[-1]["changes"]), ("ok", "1 file changed"))
        other = self.base / "other"
        self.git("init", "-q", str(other))
        (other / "a.txt").write_text("one\n", encoding="ascii")
        edit = {"tool_input": {"file_path": f"{other}/new/b.txt", "content": "x"}, "tool_name": "Write"}
        self.assertIsNone(self.around(lambda: (other / "a.txt").write_text("two\n", encoding="ascii"), "_edit", **edit))
        self.assertEqual(self.log()[-1]["repository"], str(other))
        self.airlock("rollback", cwd=other)
        self.assertEqual((other / "a.txt").read_text(encoding="ascii"), "one\n")
        edit = {"tool_input": {"notebook_path": f"{other}/new/b.ipynb"}, "tool_name": "NotebookEdit"}
        self.assertIsNone(self.around(lambda: None, "_edit", **edit))
        self.assertEqual((self.log()[-1]["repository"], self.log()[-1]["tool"]), (str(other), "NotebookEdit"))

    def test_each_client(self):
        """the recorded events of each client: a command, an edit, a turn that ends between the two"""
        for client in ("claude-code", "codex", "gemini"):
            self.client, session = client, f"of-{client}"
            answer = self.send(self.recorded("start", session=session))["hookSpecificOutput"]
            self.assertIn("airlock rollback", answer["additionalContext"])
            self.assertEqual("git_undo" in answer["additionalContext"], client != "gemini")
            self.assertEqual("git in this shell" in answer["additionalContext"], client != "claude-code")
            for name in ("", "_edit"):
                before = self.send(self.recorded("before" + name, session=session))
                self.assertEqual(bool(before), client == "gemini" and not name)
                self.write("a.txt", client)
                event = self.recorded("after" + name, session=session)
                if before:  # a client takes it in place of the model's, members that are not in it are lost
                    command = f"export PATH={self.shim}:$PATH AIRLOCK_AGENT={client} AIRLOCK_SESSION={session}\necho two >a.txt"
                    self.assertEqual(before["hookSpecificOutput"]["tool_input"], event["tool_input"] | {"command": command})
                    event["tool_input"] = before["hookSpecificOutput"]["tool_input"]
                self.assertIsNone(self.send(event))
                line = self.log()[-1]
                self.assertEqual((line["outcome"], line["agent"], line["conversation_id"], line["changes"]),
                                 ("ok", client, session, "1 file changed"))
                self.assertEqual(line["tool"], event["tool_name"])
                self.airlock("rollback", "--agent", client)
                self.assertEqual(self.text(), "one\n")
            self.send(self.recorded("before", session=session))
            self.assertIsNone(self.send(self.recorded("stop", session=session)))
            self.assertEqual(self.log()[-1]["outcome"], "interrupted")
        self.config('[[tools.approval.rule]]\ntool = "hook"\ndecision = "deny"\n')
        self.assertEqual(self.send(self.recorded("before"))["decision"], "deny")

    def test_leaves_alone(self):
        """tools that read, airlock's own, and events that are not known are no executions"""
        for event in (self.recorded("before_read"), self.recorded("before_own"),
                      self.recorded("before", hook_event_name="Unheard"), self.recorded("before", tool_name="Bas"),
                      self.recorded("stop"), self.recorded("prompt"), self.recorded("end")):
            self.assertIsNone(self.send(event))
        self.assertFalse((self.home / ".local/state/airlock/tool_log.jsonl").exists() and self.log())

    def test_calls_at_once(self):
        """two calls at once are told by their ids; without ids by their input, the newest first"""
        for call, text in (("a", "x"), ("b", "y")):
            self.send(self.recorded("before", tool_use_id=call, tool_input={"command": text}))
        self.assertEqual(len(self.running()), 2)
        self.send(self.recorded("after", tool_use_id="a", tool_input={"command": "x"}))
        self.assertEqual([line["call_id"] for line in self.log()], ["a"])
        for text in ("z", "y"):
            event = self.recorded("before", tool_input={"command": text})
            del event["tool_use_id"]
            self.send(event)
        event = self.recorded("after", tool_input={"command": "y"})
        del event["tool_use_id"]
        self.assertIsNone(self.send(event))
        self.assertEqual([line.get("call_id") for line in self.log()], ["a", None])
        self.assertIsNone(self.send(self.recorded("stop")))
        self.assertEqual(self.running(), [])
        self.assertEqual([line["outcome"] for line in self.log()], ["ok", "ok", "interrupted", "interrupted"])

    def test_parallel(self):
        """calls of a session that ran within another one are steps of their own, if they changed other things"""
        self.send(self.recorded("before", tool_use_id="around"))
        for text in ("two\n", "one\n"):
            self.around(lambda text=text: self.write("a.txt", text), call=text.strip())
        self.write("b.txt", "around\n")
        self.send(self.recorded("after", tool_use_id="around"))
        self.assertEqual([line.get("overlaps") for line in self.log()], [None, None, [1, 2]])
        for left in ("one\n", "two\n", "one\n"):
            self.airlock("call", "--approval", "allow", "git_undo", env={"AIRLOCK_SESSION": "s1"})
            self.assertEqual((self.text(), (self.root / "b.txt").exists()), (left, False))

    def test_edits_meanwhile(self):
        """what an edit wrote while a command ran is the edit's alone, unless something else happened to it"""
        def edit(name, *texts, session="s1"):
            for text in texts:
                self.around(lambda text=text: self.write(name, text), "_edit", session, f"{name}-{text}",
                            tool_input={"file_path": f"{self.root}/{name}"})
        def undo(session="s1"):
            self.airlock("call", "--approval", "allow", "git_undo", env={"AIRLOCK_SESSION": session})
            return [self.text(name) if (self.root / name).exists() else "" for name in ("a.txt", "mine", "theirs")]
        self.send(self.recorded("before", tool_use_id="around"))
        edit("a.txt", "two\n", "three\n")
        edit("theirs", "new\n", session="s2")
        self.write("mine", "around\n")
        self.send(self.recorded("after", tool_use_id="around"))
        for left in (["three\n", "", "new\n"], ["two\n", "", "new\n"], ["one\n", "", "new\n"]):
            self.assertEqual(undo(), left)
        self.assertEqual(undo("s2"), ["one\n", "", ""])
        self.send(self.recorded("before", tool_use_id="again"))
        edit("a.txt", "two\n")
        self.write("a.txt", "formatted\n")
        self.send(self.recorded("after", tool_use_id="again"))
        self.assertEqual(undo(), ["one\n", "", ""])

    def test_nested(self):
        """a nested repository comes back whole also after an undo in it that the index is told of"""
        nested = self.root / "nested"
        def make():
            self.git("init", "-q", str(nested))
            (nested / "f").write_text("x\n", encoding="ascii")
            self.git("add", "f", cwd=nested)
            self.git("commit", "-qm", "x", cwd=nested)
        def swap():
            (nested / "f").unlink()
            (nested / "f").mkdir()
            (nested / "f/in").write_text("y\n", encoding="ascii")
        state = lambda: {str(path): path.read_bytes() for path in nested.rglob("*") if path.is_file()}
        self.around(make, call="c1")
        whole, done = state(), []
        for action in (swap, lambda: (nested / "f").write_bytes(b"z" * (2 << 20)), swap, lambda: shutil.rmtree(nested)):
            self.around(action, call="c2")
            self.airlock("call", "--approval", "allow", "git_undo", env={"AIRLOCK_SESSION": "s1"})
            self.assertEqual(state(), whole)
        self.airlock("call", "--approval", "allow", "git_undo", env={"AIRLOCK_SESSION": "s1"})
        self.assertEqual(state(), {})
        for action in (lambda: self.git("init", "-q", str(nested)), lambda: self.git("reset", "-q", "--hard", cwd=nested),
                       make, lambda: shutil.rmtree(nested)):
            done.append(state())
            self.around(action, call="c3")
        while done:
            self.airlock("call", "--approval", "allow", "git_undo", env={"AIRLOCK_SESSION": "s1"})
            self.assertEqual(state(), done.pop())
            self.assertEqual(self.out("rev-parse", "--absolute-git-dir", cwd=nested).strip(), str(nested / ".git")
                             if done else str(self.root / ".git"))

    def test_shim_within(self):
        """the shim in a hooked shell goes back with the command around it"""
        def act():
            self.airlock("git", "tag", "t", env={"AIRLOCK_SESSION": "s1", "AIRLOCK_AGENT": "claude-code"})
            self.airlock("git", "status", env={"CLAUDE_CODE_SESSION_ID": "s1", "AIRLOCK_AGENT": "\n"})
            self.airlock("git", "status", env={"CODEX_SESSION_ID": "s3"})
            self.airlock("run", "--", "true", env={"AIRLOCK_SESSION": "s1"})
            self.write("a.txt", "two\n")
        self.around(act)
        self.assertEqual([line["agent"] for line in self.log("git")], ["claude-code", "claude-code", "codex"])
        self.assertIsNone(self.log("run")[-1]["agent"])
        self.airlock("rollback", "--execution", str(self.log("git")[0]["seq"]))
        self.assertEqual((self.text(), self.out("tag")), ("one\n", ""))

    def test_interrupted(self):
        """without an end it is closed with the turn, also when the client or the process died"""
        for name in ("prompt", "batch", "stop", "stop_failed", "end"):
            self.send(self.recorded("before", session="s2"))
            self.send(self.recorded("before"))
            self.write("a.txt", name)
            self.send(self.recorded(name))
            self.assertEqual(len(self.running()), 1)
            self.assertEqual((self.log()[-1]["outcome"], self.log()[-1]["changes"]), ("interrupted", "1 file changed"))
            self.airlock("rollback")
            self.assertEqual(self.text(), "one\n")
            self.send(self.recorded("after", session="s2"))
        self.assert_dies()
        with Client(self) as client:  # at once, and whoever lives above it
            client.send(self.recorded("before"))
            self.assertEqual(len(self.running()), 1)
        self.wait_for(lambda: not self.running())
        self.assertEqual(self.log()[-1]["outcome"], "interrupted")
        self.send(self.recorded("before", tool_use_id="killed"))
        os.kill(int(self.running()[0].split()[2]), signal.SIGKILL)
        self.wait_for(lambda: not self.running())
        self.assertIn("no checkpoint", str(self.send(self.recorded("after", tool_use_id="killed"))))
        self.airlock("call", "git_status")
        self.assertEqual(self.log("Bash")[-1]["outcome"], "interrupted")

    def test_session_ends(self):
        """what the user always allows goes with the client's session, and with no other one's end"""
        place = self.home / ".local/state/airlock/sessions"
        place.mkdir(parents=True)
        for session in ("s1", "s2"):
            (place / f"always-{session}").write_text("x\n", encoding="ascii")
        for name in ("prompt", "stop"):
            self.send(self.recorded(name))
        self.assertEqual(len(list(place.iterdir())), 2)
        self.send(self.recorded("end"))
        self.assertEqual([path.name for path in place.iterdir()], ["always-s2"])

    def test_cleared(self):
        """a client that begins a session after another one goes on in it: its server, which it started before, does too"""
        mine = {"CLAUDE_CODE_SESSION_ID": "s1"}
        undo = ("call", "--approval", "allow", "git_undo")
        with Client(self) as client, Client(self) as other:
            client.send(self.recorded("start"))
            client.edit("a.txt", "two\n")
            for old, new, source in (("s1", "s2", "clear"), ("s2", "s3", "resume")):
                client.send(self.recorded("end", session=old, reason=source))
                other.send(self.recorded("start", session=old, source="resume"))
                client.send(self.recorded("start", session=new, source=source))
                client.edit(f"{new}.txt", "new\n", new)
                other.edit(f"{old}.txt", "other\n", old)
                self.assertIn(f"{new}.txt", client.run(undo, mine))
                self.assertEqual((self.log()[-1]["conversation_id"], self.text(f"{old}.txt")), (new, "other\n"))
                self.assertIn("Nothing to undo", client.run(undo, mine))
                self.assertIn(f"{old}.txt", other.run(undo, {"CLAUDE_CODE_SESSION_ID": old}))
                self.assertEqual(self.text(), "two\n")
            client.send(self.recorded("end", session="s3", reason="resume"))
            client.send(self.recorded("start", source="resume"))
            self.assertIn("a.txt", client.run(undo, mine))
            self.assertEqual(self.text(), "one\n")

    def test_subagent(self):
        """the turn of an agent ends without its subagents'; what was closed early is told as that"""
        sub = {"agent_id": "a1", "agent_type": "Explore", "tool_use_id": "toolu_sub"}
        self.assertIsNone(self.send(self.recorded("before", **sub)))
        self.send(self.recorded("before"))
        for name in ("prompt", "stop"):
            self.assertIsNone(self.send(self.recorded(name)))
            self.assertEqual(len(self.running()), 1)
        told = self.send(self.recorded("after"))["hookSpecificOutput"]["additionalContext"]
        self.assertIn("interrupted before it ended", told)
        self.assertNotIn("no checkpoint", told)
        self.write("a.txt", "two\n")
        self.assertIsNone(self.send(self.recorded("after", **sub)))
        self.assertEqual((self.log()[-1]["outcome"], self.log()[-1]["changes"]), ("ok", "1 file changed"))
        for event in (self.recorded("stop", hook_event_name="SubagentStop", agent_id="a1"), self.recorded("end")):
            self.assertIsNone(self.send(self.recorded("before", **sub)))
            self.assertIsNone(self.send(event))
            self.assertEqual(self.running(), [])

    def test_codex_subagent(self):
        """an interrupted turn of Codex ends without its subagents', each of which ends with its own turn or the session"""
        self.client = "codex"
        sub = {"agent_id": self.recorded("sub_stop")["agent_id"], "tool_use_id": "call_sub"}
        for name in ("sub_stop", "end"):
            self.assertIsNone(self.send(self.recorded("before", **sub)))
            self.send(self.recorded("before"))
            self.assertIsNone(self.send(self.recorded("interrupt")))
            self.assertEqual([len(self.running()), self.log()[-1]["outcome"]], [1, "interrupted"])
            self.assertIsNone(self.send(self.recorded(name)))
            self.assertEqual(self.running(), [])

    def test_skill(self):
        """a shell command in the text of a skill, which has no end of its own, ends with what loads it"""
        self.assertIsNone(self.send(self.recorded("skill")))
        self.write("a.txt", "two\n")
        self.assertIsNone(self.send(self.recorded("batch")))
        line = self.log()[-1]
        self.assertEqual((line["tool"], line["call_id"], line["changes"]), ("Bash", "toolu_01MNO345:preamble-0", "1 file changed"))
        self.airlock("call", "--approval", "allow", "git_undo", env={"AIRLOCK_SESSION": "s1"})
        self.assertEqual(self.text(), "one\n")
        self.config('[[tools.approval.rule]]\ntool = "hook"\ndecision = "deny"\n')
        told = self.send(self.recorded("skill"))["hookSpecificOutput"]
        self.assertEqual((told["hookEventName"], told["permissionDecision"]), ("PreSkillShellCommand", "deny"))

    def test_monitor(self):
        """a command that Claude Code watches in the background ends where the client goes on"""
        self.assertIsNone(self.around(lambda: self.write("a.txt", "two\n"), "_monitor"))
        self.assertEqual((self.log()[-1]["tool"], self.log()[-1]["outcome"]), ("Monitor", "ok"))

    def test_wrapper(self):
        """a program that starts the hook with a limit of its own is no client"""
        mine = self.base / "mine"
        mine.write_text('#!/bin/sh\n"$@" | cat\n', encoding="ascii")
        mine.chmod(0o755)
        for wrapper in ("timeout 10", "sh -c 'timeout 10 \"$@\"; true' sh", f"env {mine}"):
            done = subprocess.run(["sh", "-c", f"{wrapper} {self.airlock_path} hook claude-code; true"], env=self.env,
                                  input=hooks.json.dumps(self.recorded("before")).encode(), check=False)
            self.assertEqual(done.returncode, 0)
            time.sleep(2.5)
            self.assertEqual(len(self.running()), 1)
            self.assertIsNone(self.send(self.recorded("after")))
            self.assertEqual(self.log()[-1]["outcome"], "ok")

    def test_undo_after_a_death(self):
        """an undo names the execution that was killed, and what the user runs"""
        undo = ("call", "--approval", "allow", "git_undo")
        session = {"AIRLOCK_SESSION": "s1"}
        self.around(lambda: self.write("a.txt", "two\n"))
        self.send(self.recorded("before"))
        self.write("a.txt", "three\n")
        os.kill(int(self.running()[0].split()[2]), signal.SIGKILL)
        self.wait_for(lambda: not self.running())
        said = "".join(self.airlock(*undo, env=session, code=1))
        self.assertIn("Execution 2 of this session was interrupted", said)
        command = "airlock rollback --execution 2 --force"
        self.assertIn(command, said)
        self.airlock(*command.split()[1:])
        self.assertEqual(self.text(), "two\n")
        self.assertIn("nothing: it is as it was before", "".join(self.airlock(*undo, env=session)))
        self.airlock(*undo, env=session)
        self.assertEqual(self.text(), "one\n")

    def assert_dies(self):
        """The client, which is no shell, sends a beginning and dies."""
        client = ("import subprocess,sys,os,signal,time\n"
                  "subprocess.run(['sh', '-c', sys.argv[1]], input=sys.stdin.buffer.read(), check=True)\n"
                  "time.sleep(3)\n"
                  "os.kill(os.getpid(), signal.SIGKILL)\n")
        done = subprocess.run(["python3", "-c", client, f'"{self.airlock_path}" hook claude-code; true'], env=self.env,
                              input=hooks.json.dumps(self.recorded("before")).encode(), check=False)
        self.assertEqual(done.returncode, -signal.SIGKILL)
        self.wait_for(lambda: not self.running())
        self.assertEqual(self.log()[-1]["outcome"], "interrupted")

    def test_not_covered(self):
        """what no checkpoint covers is told; on_failure = "deny" holds a tool back, never a bad event"""
        blocked = self.home / ".local/state"
        blocked.mkdir(parents=True, exist_ok=True)
        (blocked / "airlock").write_text("no directory\n", encoding="ascii")
        self.assertIsNone(self.send(self.recorded("before")))
        self.assertIn("no checkpoint", self.said)
        told = self.send(self.recorded("after"))["hookSpecificOutput"]
        self.assertEqual(told["hookEventName"], "PostToolUse")
        self.assertIn("cannot undo", told["additionalContext"])
        self.config('[hooks]\non_failure = "deny"\n')
        told = self.send(self.recorded("before"))["hookSpecificOutput"]
        self.assertEqual(told["permissionDecision"], "deny")
        self.assertIn("no checkpoint", told["permissionDecisionReason"])
        self.assertIsNone(self.send(b"{"))
        self.config('[hooks]\non_failure = "deny"\nunheard = 1\n')
        told = self.send(self.recorded("before"))["hookSpecificOutput"]
        self.assertEqual(told["permissionDecision"], "deny")
        self.assertIn("unheard", told["permissionDecisionReason"])
        for event in (b"{", self.recorded("before_read"), self.recorded("prompt"), self.recorded("stop")):
            self.assertIsNone(self.send(event))

    def test_too_late(self):
        """a checkpoint that takes too long holds no tool back, and is none"""
        self.airlock("snapshot")
        [lock] = (self.home / ".local/state/airlock").glob("*/lock")
        with open(lock, "r+", encoding="ascii") as held:
            fcntl.flock(held, fcntl.LOCK_EX)
            self.assertIsNone(self.send(self.recorded("before"), late=True))
            self.assertIn("too long", self.said)
            self.assertEqual(len(self.running()), 1)
            self.assertIn("cannot undo", str(self.send(self.recorded("after"), late=True)))
        self.wait_for(lambda: not self.running())
        self.assertIn("cannot undo", str(self.send(self.recorded("after"))))
        self.assertEqual(self.log()[-1]["outcome"], "error")
        self.assertIn("ran without it", str(self.log()[-1]["result"]))

    def test_another_git(self):
        """a git that is named by its path is advised against, and goes on"""
        event = {"tool_input": {"command": "cd x && /usr/bin/git status"}}
        told = self.around(lambda: None, **event)["hookSpecificOutput"]["additionalContext"]
        self.assertIn("by its name", told)
        self.assertIsNone(self.around(lambda: None, tool_input={"command": "ls /usr/bin/github .git/git"}))
        (self.shim / "git").unlink()
        self.assertIsNone(self.around(lambda: None, **event))

    def test_rules(self):
        """a rule holds a tool back; `allow` is never said"""
        self.config('[[tools.approval.rule]]\ntool = "hook"\ndecision = "deny"\nmessage = "Not today."\n')
        told = self.send(self.recorded("before"))["hookSpecificOutput"]
        self.assertEqual(told["permissionDecision"], "deny")
        self.assertIn("Not today.", told["permissionDecisionReason"])
        self.assertEqual(self.running(), [])

    def test_grant(self):
        """[shell] grant has the tool hook, or each of the client's is held back"""
        for tools, decision in (('"git"', "deny"), ('"git", "run", "hook"', None)):
            self.config(f'[grants.g]\ntools = [{tools}]\n[shell]\ngrant = "g"\n')
            for name in ("", "_edit"):
                told = self.send(self.recorded("before" + name))
                self.assertEqual(told["hookSpecificOutput"]["permissionDecision"] if told else None, decision)
                self.send(self.recorded("after" + name))
        self.assertEqual([line["outcome"] for line in self.log()], ["refused"] * 2 + ["ok"] * 2)

    def test_ask_is_no_opinion(self):
        """a rule that asks leaves it to the client, which asks its own user"""
        self.config('[[tools.approval.rule]]\neffect = "discards_work"\ndecision = "ask"\n')
        self.assertIsNone(self.around(lambda: self.write("a.txt", "two\n")))
        self.assertIsNone(self.around(lambda: self.write("a.txt", "three\n"), "_edit"))
        self.assertEqual([line["outcome"] for line in self.log()], ["ok", "ok"])

    def test_path_rules(self):
        """an edit concerns its own path, and where a link leads it; a shell concerns every one"""
        self.config('[[tools.approval.rule]]\npath = "secret/**"\ndecision = "deny"\n')
        for name in ("secret", "fine"):
            (self.root / name).mkdir()
        (self.root / "fine/in").symlink_to("../secret/x")
        (self.root / "fine/dir").symlink_to("../secret")
        (self.root / "secret/out").symlink_to("../fine/x")
        for path in ("fine/x", "new/dir/x", "a.txt", "secretive"):
            for tool, member in (("Write", "file_path"), ("NotebookEdit", "notebook_path")):
                edit = {"tool_name": tool, "tool_input": {member: f"{self.root}/{path}"}}
                self.assertIsNone(self.around(lambda: None, "_edit", **edit))
        denied = [{"tool_input": {"file_path": f"{self.root}/{path}"}} for path in
                  ("secret/x", "secret/new/x", "fine/in", "fine/dir/x", "secret/out", "fine/../secret/x")]
        for edit in [*denied, {"tool_name": "Bash", "tool_input": {"command": "ls"}}, {"tool_input": {}}]:
            told = self.send(self.recorded("before_edit", **edit))["hookSpecificOutput"]
            self.assertEqual(told["permissionDecision"], "deny", edit)
        self.write(".git/index.lock", "")  # a checkpoint would wait for it, and the tool goes on
        told = self.send(self.recorded("before_edit", **denied[0]), late=True)["hookSpecificOutput"]
        self.assertEqual(told["permissionDecision"], "deny")

    def test_inside_git(self):
        """a shell inside of the git directory is one of its repository"""
        for cwd in (self.root / ".git", self.root / ".git/objects"):
            self.assertIsNone(self.around(lambda: self.write("a.txt", "two\n"), cwd=cwd))
            self.assertEqual(self.log()[-1]["changes"], "1 file changed")
            self.airlock("rollback")
            self.assertEqual(self.text(), "one\n")

    def test_outside(self):
        """outside of a repository and of the roots the tool goes on; the second is told"""
        elsewhere = self.base / "elsewhere"
        elsewhere.mkdir()
        self.assertIsNone(self.around(lambda: None, cwd=elsewhere))
        self.assertIsNone(self.log()[-1]["git_commit"])
        self.config(f'roots = ["{self.root}"]\n')
        self.assertIsNone(self.send(self.recorded("before", cwd=elsewhere)))
        self.assertIn("no checkpoint", self.said)
        self.assertIn("cannot undo", str(self.send(self.recorded("after", cwd=elsewhere))))
        self.assertEqual(self.log()[-1]["outcome"], "refused")
        self.assertIsNone(self.around(lambda: None, cwd=self.root))

    def test_start_elsewhere(self):
        """a session begins with a checkpoint of its own repository; where there is none, it is told"""
        other, plain = self.base / "other", self.base / "plain"
        plain.mkdir()
        self.git("clone", "-q", str(self.root), str(other))
        self.config(f'roots = ["{self.root}", "{other}"]\n')
        self.assertIn("can be undone", str(self.send(self.recorded("start", cwd=other))))
        self.wait_for(lambda: (self.home / ".local/state/airlock/tool_log.jsonl").exists() and self.log("run"))
        self.assertEqual(self.log()[-1]["repository"], str(other))
        self.config(f'roots = ["{self.root}", "{plain}"]\n')
        for cwd in (other, plain):
            told = self.send(self.recorded("start", cwd=cwd))["hookSpecificOutput"]["additionalContext"]
            self.assertNotIn("can be undone", told)
            self.assertIn("cannot be undone", told)
            self.assertLessEqual(len(told.encode()), 400)

    def test_secrets(self):
        """secrets of the input are in no record, while it runs and after"""
        secret = "ghp_" + "A1b2C3d4" * 5
        event = {"tool_input": {"command": f"curl -H 'Authorization: Bearer {secret}' x"}}
        self.assertIsNone(self.send(self.recorded("before", **event)))
        state = self.home / ".local/state/airlock"
        texts = [path.read_bytes() for path in (state / "open").iterdir()]
        self.assertIsNone(self.send(self.recorded("after", **event)))
        for text in [*texts, (state / "tool_log.jsonl").read_bytes()]:
            self.assertNotIn(secret.encode(), text)

    def test_long_events(self):
        """an event has 64 MB at most: a longer one lets the tool go on, and begins nothing"""
        event = self.recorded("before", tool_input={"command": "x", "content": ""})
        room = (64 << 20) - len(hooks.json.dumps(event))
        for more in (-1, 0, 1):
            event["tool_input"]["content"] = "x" * (room + more)
            self.assertIsNone(self.send(event, late=True))
            self.assertEqual("more than 64 MB" in self.said, more > 0, self.said)
            self.assertLessEqual(len(self.running()), more <= 0, more)  # it takes a second
            self.wait_for(self.is_stopped)  # under load it may begin after the client has stopped waiting for it

    def is_stopped(self):
        self.send(self.recorded("stop"))
        return not self.running()

    def test_many_waiting(self):
        """64 that wait are ended at once; what is more, by the next event"""
        for count in (63, 64, 65):
            for i in range(count):
                self.send(self.recorded("before", tool_use_id=f"{count}-{i}"))
            self.assertEqual(len(self.running()), count)
            for left in (max(0, count - 64), 0):
                self.send(self.recorded("stop"))
                self.wait_for(lambda left=left: len(self.running()) == left)

    def test_hostile_events(self):
        """no event stops the client, or is answered with more than its form"""
        deep = b'{"a":' * 100000
        before = self.recorded("before")
        for event in (b"", b"\xff\xfe{", b"[]", b"null", b'"x"', deep, b"{}" * 10, b"\0" * 100,
                      b'{"hook_event_name":"PreToolUse"}', b'{"hook_event_name":7,"tool_name":[]}'):
            self.assertIsNone(self.send(event))
        for change in ({"tool_name": 5}, {"tool_name": None}, {"tool_name": "\x1b[31mBash"}, {"tool_name": "Bash|Edit"},
                       {"tool_name": ""}, {"hook_event_name": "\0"}):
            self.assertIsNone(self.send(before | change))
        self.assertEqual(self.running(), [])
        for change in ({"cwd": 5}, {"cwd": "relative"}, {"cwd": "/no/such"}, {"cwd": "\0"}):
            self.assertIsNone(self.send(before | change))
            self.assertIn("no checkpoint", self.said)
        for change in ({"tool_input": "text"}, {"tool_input": None}, {"session_id": "../../x"}, {"session_id": 5},
                       {"tool_use_id": "\n"}, {"tool_input": {"command": ["x"], "file_path": 5}},
                       {"tool_input": {"command": "\0\x1b[2J\u202e" * 100}}, {"tool_use_id": "x" * 10000}):
            self.assertIsNone(self.send(before | change), change)
        self.assertIsNone(self.send(before | {"tool_input": {"content": "x" * 4_000_000}}))
        for path in (self.home / ".local/state/airlock/open").iterdir():
            self.assertLess(path.stat().st_size, 1 << 20)
        self.assertEqual(len(self.running()), 9)
        for change in ({}, {"session_id": "../../x"}, {"session_id": 5}):
            self.assertIsNone(self.send(self.recorded("stop") | change))
        self.assertEqual(self.running(), [])
        self.assertNotIn("\x1b", self.airlock("log")[0])

    def test_input_without_end(self):
        """standard input that does not end, and one without an end to what it sends"""
        for feed in ("sleep", "9999"), ("yes",):
            with subprocess.Popen(feed, stdout=subprocess.PIPE) as source:
                done = subprocess.run([self.airlock_path, "hook", "claude-code"], env=self.env, stdin=source.stdout,
                                      capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
                source.kill()
            self.assertEqual((done.returncode, done.stdout), (0, b""))

    def test_command_line(self):
        """wrong words end with 1: for a client 2 would mean to stop"""
        for words in ([], ["unheard"], ["zed"], ["claude-code", "x"], ["--unheard"], ["--config", "/no/such", "claude-code"]):
            done = subprocess.run([self.airlock_path, "hook", *words], env=self.env, cwd=self.root,
                                  input=hooks.json.dumps(self.recorded("before")).encode(), capture_output=True,
                                  check=False, timeout=harness.WATCHDOG_SECONDS)
            is_event = "--config" in words  # it may have said to deny
            self.assertEqual((done.returncode, b'"deny"' in done.stdout), (0, True) if is_event else (1, False), words)
            self.assertEqual(bool(done.stdout), is_event)
            self.assertTrue(done.stderr)


class Worktrees(hooks.Case):
    """The client's own worktrees are those of git_worktree."""
    def change(self, which, /, code=0, *, cwd=None, **changes):
        """Send an event that is answered with a path alone.  (path, what is said)"""
        done = subprocess.run([self.airlock_path, "hook", "claude-code"], cwd="/", env=self.env, check=False,
                              input=hooks.json.dumps(self.recorded(which, cwd=cwd) | changes).encode(), capture_output=True,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, code, done)
        return done.stdout.decode(), done.stderr.decode()

    def test_worktree(self):
        """one is made, removed from within it with all that is in it, undone, and made again on its branch"""
        place = self.root / ".worktrees/foo"
        self.around(lambda: self.write("a.txt", "two\n"))
        for _ in range(2):  # the client goes back to one that is there
            self.assertEqual(self.change("worktree"), (f"{place}\n", ""))
        self.assertEqual(self.out("branch", "--show-current", cwd=place), "foo\n")
        line = self.log()[-1]
        self.assertEqual([line[name] for name in ("tool", "operation", "agent")], ["git_worktree", "add", "claude-code"])
        self.airlock("call", "git_undo", env={"AIRLOCK_SESSION": "s1"})
        self.assertEqual((self.text(), place.exists()), ("one\n", True))
        self.assertEqual(self.change("worktree", cwd=place, name="of-it")[0], f"{self.root}/.worktrees/of-it\n")
        (place / "new.txt").write_text("new\n", encoding="ascii")
        self.git("commit", "-q", "--allow-empty", "-m", "theirs", cwd=place)
        self.assertEqual(self.change("no_worktree", cwd=place / "..//foo", worktree_path=str(place)), ("", ""))
        self.assertFalse(place.exists())
        self.airlock("call", "git_undo", env={"AIRLOCK_SESSION": "s1"})
        self.assertEqual((place / "new.txt").read_text(encoding="ascii"), "new\n")
        self.assertEqual(self.change("no_worktree", cwd=self.root, worktree_path=str(place)), ("", ""))
        self.assertEqual(self.change("worktree"), (f"{place}\n", ""))
        self.assertEqual(self.out("log", "-1", "--format=%s", cwd=place), "theirs\n")

    def test_refused(self):
        """what cannot be is no path, and ends with 1; nothing is removed but a worktree of that place"""
        outside = self.base / "outside"
        self.git("worktree", "add", "-q", str(outside))
        for name in ("a/b", "..", "", "-x", "x" * 65, 7, None, "a\0b"):
            out, said = self.change("worktree", 1, name=name)
            self.assertEqual((out, said.startswith("airlock: ")), ("", True), name)
        for path in (str(outside), str(self.root), f"{self.root}/.worktrees", f"{self.root}/.worktrees/x", "foo", 7):
            self.assertEqual(self.change("no_worktree", 1, worktree_path=path)[0], "", path)
        self.assertTrue(outside.exists() and (self.root / "a.txt").exists())
        self.assertEqual(self.change("worktree", 1, cwd=self.base)[0], "")
        self.config('[[tools.approval.rule]]\ntool = "git_worktree"\ndecision = "deny"\nmessage = "Not here."\n')
        self.assertIn("Not here.", self.change("worktree", 1)[1])
        self.assertFalse((self.root / ".worktrees/foo").exists())


class Installed(hooks.Case):
    """install CLIENT --shell: hooks, the PATH and the rule, shown first and taken away exactly."""
    FILES = {"claude-code": [".mcp.json", ".claude/settings.json"], "codex": [".codex/config.toml", ".codex/hooks.json"],
             "gemini": [".gemini/settings.json"]}
    MINE = {".claude/settings.json": '{\n  // mine\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": '
                                     '"say done"}]}],\n  },\n  "permissions": {"deny": ["Read(.env)"]}\n}\n',
            ".codex/config.toml": 'model = "x" # mine\n\n[shell_environment_policy.set]\nMINE = "1"\nPATH = "/mine"\n',
            ".gemini/settings.json": '{"hooks": {"AfterAgent": []}, "ui": {}}\n', ".mcp.json": "{}",
            ".codex/hooks.json": '{\n\t"hooks": {}\n}\n'}

    def install(self, *words, code=0):
        done = subprocess.run([self.airlock_path, "install", *words], cwd=self.root, env=self.env, capture_output=True,
                              stdin=subprocess.DEVNULL, check=False, timeout=harness.WATCHDOG_SECONDS, text=True)
        self.assertEqual(done.returncode, code, done)
        return done.stdout + done.stderr

    def settings(self, name):
        text = (self.root / name).read_text(encoding="utf-8")
        return tomllib.loads(text) if name.endswith("toml") else test_install.Install.loads(text)

    def check(self, client):
        """The hooks are there, and do their work when they are run as the client runs them."""
        hooked = self.settings(self.FILES[client][-1])["hooks"]
        recorded = hooks.json.loads((hooks.RECORDED / f"{client}.json").read_text(encoding="utf-8"))
        for name in [name for name in recorded if "worktree" not in name]:
            event = self.recorded(name, client)
            group = hooked[event["hook_event_name"]][-1]
            [hook] = group["hooks"]
            self.assertEqual(hook["command"], f"{self.airlock_path} hook {client}")
            if "matcher" in group and name not in ("before_read", "before_own"):
                self.assertRegex(event["tool_name"], f"^({group['matcher']})$")
            done = subprocess.run(["sh", "-c", hook["command"]], env=self.env, capture_output=True, check=True,
                                  input=hooks.json.dumps(event).encode(), timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual(done.stderr, b"")
        self.assertEqual(self.log()[-1]["agent"], client)
        if client == "claude-code":
            deny = self.settings(".claude/settings.json")["permissions"]["deny"]
            self.assertEqual(deny[-1], "Bash(/usr/bin/git *)")
            self.assertNotIn("Bash(git *)", deny)
        if client == "codex":
            path = self.settings(".codex/config.toml")["shell_environment_policy"]["set"]["PATH"]
            self.assertEqual(path, f"{self.shim}:" + (self.env["PATH"] if not self.mine else "/mine"))

    def test_each_client(self):
        """new files and the user's own; doctor runs an event"""
        for self.mine in (False, True):
            for client, names in self.FILES.items():
                for name in names if self.mine else ():
                    self.write(name, self.MINE[name])
                shown = self.install(client, "--shell", "--print")
                self.assertIn(f"hook {client}", shown)
                self.assertEqual([name for name in names if (self.root / name).exists()], names if self.mine else [])
                self.assertTrue(self.install(client, "--shell", "--yes").startswith(shown))
                self.check(client)
                self.assertIn("nothing to do", self.install(client, "--shell", "--yes"))
                out = subprocess.run([self.airlock_path, "doctor"], cwd=self.root, env=self.env, capture_output=True,
                                     check=False, timeout=harness.WATCHDOG_SECONDS).stdout.decode()
                [line] = [line for line in out.splitlines() if f"{client} hooks" in line]
                self.assertIn("is answered", line)
                self.assertEqual({row[line.index("/") - 2:line.index("/")] for row in out.splitlines()
                                  if row.startswith("ok ")}, {"  "}, out)
                self.install(client, "--remove", "--yes")
                for name in names:
                    if self.mine:
                        self.assertEqual(self.text(name), self.MINE[name])
                    self.assertEqual((self.root / name).exists(), self.mine)
                    if not self.mine:
                        self.assertFalse((self.root / name).parent.exists() and (self.root / name).parent != self.root)

    def test_remove_after_edits(self):
        """in a file that was edited since, what was added goes, and what the user had before stays"""
        path, own = ".claude/settings.json", {"deny": ["Bash(/usr/bin/git *)"]}
        for before, after in (({"permissions": own}, {"permissions": own}), ({"model": "x"}, {"model": "x"}),
                              ({"hooks": {"Stop": [{"hooks": []}]}}, {"hooks": {"Stop": [{"hooks": []}]}})):
            self.write(path, hooks.json.dumps(before))
            self.install("claude-code", "--shell", "--yes")
            edited = self.settings(path)
            self.write(path, hooks.json.dumps({"mine": 1, **edited}, indent=7))
            self.assertIn("nothing to do", self.install("claude-code", "--shell", "--yes"))
            self.install("claude-code", "--remove", "--yes")
            self.assertEqual(self.settings(path), {"mine": 1, **after})

    def test_remove_touched(self):
        """a made file that was only written in another way since goes, with its directory; a comment is the user's"""
        for client, names in self.FILES.items():
            for more in "", "\n# mine\n":
                self.install(client, "--shell", "--yes")
                for name in names:
                    if name.endswith("toml"):
                        self.write(name, "\n" + self.text(name).replace(" = ", "  =  ") + more)
                    else:
                        self.write(name, hooks.json.dumps(self.settings(name), indent=7) + more.replace("#", "//"))
                self.install(client, "--remove", "--yes")
                for name in names:
                    self.assertEqual((self.root / name).exists(), bool(more), name)
                    if more:
                        self.assertIn("mine", self.text(name))
                        (self.root / name).unlink()
                    elif "/" in name:
                        self.assertFalse((self.root / name).parent.exists())

    def test_again(self):
        """a hook of airlock's is known by what it runs: a second installation takes its place, --remove takes each"""
        mine = {"type": "command", "command": "other hook claude-code"}
        for client, (*_, path) in self.FILES.items():
            self.install(client, "--shell", "--yes")
            edited = self.settings(path)
            for groups in edited["hooks"].values():
                for group in groups:
                    group["hooks"][0]["timeout"] = 99
                groups.append({"hooks": [mine]})
            [first, *_] = edited["hooks"]
            edited["hooks"][first].append({"hooks": [mine, {"type": "command", "command": f"'/x y/airlock' hook {client}"}]})
            edited["hooks"]["Gone"] = [{"hooks": [{"type": "command", "command": f"airlock hook {client}"}]}]
            self.write(path, hooks.json.dumps(edited, indent=7))
            config = self.write("own.toml", "", self.base)
            self.install(client, "--shell", "--yes", "--config", str(config))
            again = self.settings(path)["hooks"]
            self.assertNotIn("Gone", again)
            for event, [own, *others] in again.items():
                self.assertEqual([hook["command"] for hook in own["hooks"]],
                                 [f"{self.airlock_path} hook {client} --config {config}"])
                self.assertNotEqual(own["hooks"][0].get("timeout"), 99)
                self.assertEqual(others, [{"hooks": [mine]}] * len(others))
                self.assertEqual(len(others), 2 if event == first else 1)
            if client == "codex":
                toml = self.settings(".codex/config.toml")
                self.write(".codex/config.toml", f'[mcp_servers.airlock]\ncommand = "{self.airlock_path}"\n'
                           '[shell_environment_policy.set]\nPATH = "%s"\nA = "1"\n'
                           % toml["shell_environment_policy"]["set"]["PATH"])
            self.install(client, "--remove", "--yes")
            left = self.settings(path)["hooks"]
            self.assertEqual({event: groups for event, groups in left.items() if groups != [{"hooks": [mine]}]},
                             {first: [{"hooks": [mine]}] * 2})
            self.assertNotIn("airlock", self.text(path))
            if client == "codex":
                self.assertEqual(self.settings(".codex/config.toml"), {"shell_environment_policy": {"set": {"A": "1"}}})

    def test_path_there(self):
        """Codex gets a whole PATH, with airlock's directory first and once, wherever it is installed from"""
        plain = self.env["PATH"]
        for path in (plain, f"{self.shim}:{plain}", f"{plain}:{self.shim}"):
            self.env["PATH"] = path
            self.assertIn("PATH", self.install("codex", "--shell", "--yes"))
            self.assertEqual(self.settings(".codex/config.toml")["shell_environment_policy"],
                             {"set": {"PATH": f"{self.shim}:{plain}"}})
            self.install("codex", "--remove", "--yes")
        self.env["PATH"] = plain

    def test_doctor(self):
        """a program without its link, and another program in the hooks, are named"""
        self.assertNotIn("is not airlock's", self.install("claude-code", "--shell", "--yes"))
        self.assertIn("runs these hooks when", self.install("codex", "--shell", "--yes"))
        doctor = lambda: subprocess.run([self.airlock_path, "doctor"], cwd=self.root, env=self.env, check=False,
                                        capture_output=True, timeout=harness.WATCHDOG_SECONDS).stdout.decode()
        path = self.root / ".claude/settings.json"
        whole = self.text(path)
        self.assertNotIn("older airlock", doctor())
        path.write_text(whole.replace('"StopFailure"', '"Another"'), encoding="ascii")
        self.assertIn("StopFailure has no hook, since an older airlock wrote them", doctor())
        path.write_text(whole, encoding="ascii")
        (self.shim / "git").unlink()
        self.assertIn("libexec/airlock/bin/git", doctor())
        self.install("claude-code", "--remove", "--yes")
        shutil.rmtree(self.prefix / "libexec")
        (self.prefix / "libexec").write_text("no directory\n", encoding="ascii")
        self.assertIn("is not airlock's", self.install("claude-code", "--shell", "--yes"))
        path.write_text(self.text(path).replace(str(self.airlock_path), "/bin/true"), encoding="ascii")
        self.assertIn("start another program", doctor())

    def test_without_link(self):
        """a package that has no links gets its own; each file that git would take along is named"""
        shutil.rmtree(self.prefix / "libexec")
        self.install("claude-code", "--shell", "--print")
        self.assertFalse(self.shim.exists())
        asked = subprocess.run([self.airlock_path, "install", "claude-code", "--shell"], cwd=self.root, env=self.env,
                               stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=harness.WATCHDOG_SECONDS)
        self.assertNotEqual(asked.returncode, 0)
        self.assertFalse((self.prefix / "libexec").exists())
        said = self.install("claude-code", "--shell", "--yes")
        for name in self.FILES["claude-code"]:
            self.assertIn(f"{name} will be committed", said)
        self.assertNotIn("is not airlock's", said)
        shutil.rmtree(self.prefix / "libexec")
        self.assertIn("nothing to do", self.install("claude-code", "--shell", "--yes"))  # but for the link
        out = subprocess.run([self.shim / "git", "branch", "--show-current"], cwd=self.root, env=self.env, check=True,
                             capture_output=True).stdout
        self.assertEqual(out, b"main\n")
        self.assertEqual(self.log()[-1]["tool"], "git")

    def test_not_supported(self):
        """a client without hooks"""
        self.assertIn("--shell is not supported for Zed", self.install("zed", "--shell", "-y", code=2))


if __name__ == "__main__":
    harness.main()
