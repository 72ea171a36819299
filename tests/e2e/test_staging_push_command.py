#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A push that cannot be made, or needs a terminal: what agent, user and journal are told."""
import json
import os
import shlex
import subprocess

import harness
import pushing

MOVED = "Target has new commits since your base"


class Told(pushing.Pushing):
    def say(self, *words, code=0):
        """airlock staging without a terminal; gives its output and its errors."""
        done = subprocess.run([harness.AIRLOCK, "staging", *words], cwd=self.root, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              start_new_session=True, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, code, done)
        return done.stdout.decode(), done.stderr.decode()

    def moved(self):
        """A staged commit whose target has moved."""
        self.ok("git_pull", {"source": self.LOCAL, "paths": ["a.txt"]})
        staged = self.stage({"a.txt": "ours\n"})
        self.commit("a.txt", "theirs\n", "meanwhile")
        return staged

    WAY_ON = ("Nothing was pushed. To go on: git_pull the files from there, resolve what "
              "conflicts, then git_stage and git_push them again")

    def test_conflict(self):
        """a conflict says how to go on, in a second text, and going on so works"""
        staged = self.moved()
        result = self.push(staged)
        value = result.value["structuredContent"]
        self.assertEqual(value, {"status": "conflict", "conflict": {
            "reason": "non-fast-forward", "message": MOVED, "targetHead": self.head()}})
        self.assertEqual(json.loads(result.text), value)
        self.assertEqual(result.notes, self.WAY_ON)
        self.ok("git_pull", {"source": self.LOCAL, "paths": ["a.txt"]})
        self.write("a.txt", "both\n", self.workspace)
        self.pushed(self.stage({"a.txt": "both\n"}))
        self.assertEqual(self.content("a.txt"), b"both\n")

    def test_superseded(self):
        """what is staged again after a pull replaces the older staged commit; nothing else does"""
        self.commit("b.txt", "b\n", "b")
        self.ok("git_pull", {"source": self.LOCAL, "paths": ["."]})
        older = self.stage({"a.txt": "ours\n", "b.txt": "ours\n"})
        other = self.stage({"other.txt": "ours\n"})
        self.commit("a.txt", "theirs\n", "meanwhile")
        self.conflict(older)
        self.ok("git_pull", {"source": self.LOCAL, "paths": ["."]})
        status = self.ok("git_status").value["structuredContent"]
        self.assertEqual([entry["path"] for entry in status["unstaged"]],
                         [f"/workspace/{name}" for name in ("a.txt", "b.txt", "other.txt")])
        self.assertEqual([commit["id"] for commit in status["staged"]], [older, other])
        newer = self.stage({"a.txt": "both\n"})
        status = self.ok("git_status").value["structuredContent"]
        self.assertEqual([entry["path"] for entry in status["unstaged"]],
                         ["/workspace/b.txt", "/workspace/other.txt"])
        self.assertEqual([commit["id"] for commit in status["staged"]], [other, newer])
        self.pushed(newer)
        self.conflict(other)
        self.pushed(self.stage({"b.txt": "ours\n"}))
        self.pushed(self.stage({"other.txt": "ours\n"}))
        self.assertEqual((self.content("a.txt"), self.content("b.txt")), (b"both\n", b"ours\n"))
        self.assertEqual(self.ok("git_status").value["structuredContent"],
                         {"staged": [], "unstaged": []})

    def test_journal(self):
        """the journal says that nothing was done, and that nobody decided"""
        staged = self.moved()
        for approval, decided in (("ask", ("none", "none")), ("allow", ("auto", "policy"))):
            self.conflict(staged, approval=approval)
            line = self.record()
            self.assertEqual((line["outcome"], line["decision"], line["decided_by"]),
                             ("error", *decided), line)
            self.assertFalse(line["result"]["success"])
            self.assertIn(MOVED, str(line["result"]))

    def test_command(self):
        """airlock staging push says in plain text what happened, and its exit code tells it"""
        staged = self.moved()
        self.assertEqual(self.say("push", staged[:8], code=1),
                         ("", f"Conflict: {MOVED}\n{self.WAY_ON}\n"))
        out, _ = self.say("push", staged[:8], "--json", code=1)
        self.assertEqual(json.loads(out)["structuredContent"]["conflict"]["message"], MOVED)
        out, err = self.say("push", staged, "--branch", "side", "--approval", "allow")
        self.assertEqual((out, err), (f"Pushed as commit {self.head('side')}\nBranch side is new\n",
                                      ""))
        staged = self.stage({"b.txt": "b\n"})
        out, err = self.say("push", staged, "--json", "--approval", "allow", "--branch", "other")
        self.assertEqual(json.loads(out)["structuredContent"]["commitSha"], self.head("other"))
        self.assertEqual(err, "")

    def test_call(self):
        """airlock call git_push prints the object, as ever"""
        staged = self.moved()
        done = subprocess.run(
            [harness.AIRLOCK, "call", "git_push", json.dumps({"commitId": staged,
                                                              "target": self.LOCAL})],
            cwd=self.root, env=self.env, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            start_new_session=True, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(json.loads(done.stdout)["status"], "conflict")

    def test_only_deletions(self):
        """an empty repository gets no commit without files"""
        bare = self.make_bare(source=None)
        self.ok("git_pull", {"source": self.LOCAL, "paths": ["a.txt"]})
        staged = self.stage({}, delete=["a.txt"])
        result = self.push(staged, self.BARE)
        self.assertEqual((result.kind, result.error["message"]), (
            "ExecutionFailed",
            "There is nothing to push: local-bare:bare.git has no commits, and the staged commit "
            "only deletes files; git_discard removes the staged commit"), result)
        self.assertEqual(self.out("for-each-ref", cwd=bare), "")
        self.ok("git_discard", {"commitId": staged})
        commit, _ = self.pushed(self.stage({"b.txt": "b\n"}, delete=[]), self.BARE)
        self.assertEqual(self.head("main", bare), commit)

    def test_terminal(self):
        """a push that nobody could be asked about names the command for a terminal"""
        self.make_bare()
        staged = self.stage({"b.txt": "b\n"})
        for target, words in ((self.LOCAL, ""), (self.BARE, " --target local-bare:bare.git"),
                              (self.LOCAL | {"branch": "a/b"}, " --target local:. --branch a/b")):
            result = self.push(staged, target, approval="ask")
            self.assertEqual(result.kind, "ApprovalRequired", result)
            self.assertTrue(result.text.endswith(f"terminal: airlock staging push {staged}{words} "
                                                 f"--root {self.root}"), result.text)
        worker = self.base / "a worker.md"
        worker.write_text("---\nname: w\n---\n", encoding="utf-8")
        result = self.push(staged, self.BARE, "--worker", "../a worker.md", approval="ask")
        self.assertTrue(result.text.endswith(
            f"push {staged} --target local-bare:bare.git --root {self.root} "
            f"--worker '{worker}'"), result.text)
        odd = worker.rename(self.base / "it's.md")
        words = self.push(staged, self.LOCAL, "--worker", odd, approval="ask").text.rpartition("terminal: ")[2]
        self.assertEqual(shlex.split(words)[-1], str(odd))
        odd = odd.rename(self.base / "a\x01worker.md")
        self.assertIn("terminal, with its arguments: airlock call ",
                      self.push(staged, self.LOCAL, "--worker", odd, approval="ask").text)
        odd = self.LOCAL | {"branch": "a;b"}
        self.assertIn("terminal, with its arguments: airlock call ",
                      self.push(staged, odd, approval="ask").text)

    def test_ids(self):
        """an id that names nothing: where ids are listed; a short one: how many characters"""
        staged = self.stage({"b.txt": "b\n"})
        for word, why in (("abcdef12", "; git_status lists them, and airlock staging in a terminal"),
                          (staged[:5], ": give at least six characters of its id"),
                          ("x", ": give at least six characters of its id")):
            result = self.push(word)
            self.assertEqual((result.kind, result.error["reason"], result.error["message"]),
                             ("ExecutionFailed", "not_found", f"no staged commit '{word}'{why}"))
            self.assertIn(why, self.say("show", word, code=1)[1])

    def test_outside(self):
        """a target outside of the roots: the message names the roots"""
        staged = self.stage({"b.txt": "b\n"})
        other = self.base / "other"
        self.init(other)
        for path in (str(other), "../other", "../nothing"):
            for kind in ("local", "local-bare"):
                result = self.push(staged, {"type": kind, "path": path})
                self.assertEqual((result.kind, result.error["message"]), (
                    "SandboxViolation",
                    f"Path outside sandbox: {path} (targets lie in the roots: {self.root})"))

    def test_left_lock(self):
        """an index.lock that no git holds stops a push soon, and before anybody is asked"""
        staged = self.stage({"a.txt": "new\n"})
        lock = self.root / ".git/index.lock"
        for age, words in ((0, "index.lock is in the git directory, but no git works in the "
                               "repository"), (120, "index.lock is stale")):
            lock.write_bytes(b"")
            now = os.stat(lock).st_mtime
            os.utime(lock, (now - age, now - age))
            for approval in ("ask", "allow"):
                result = self.push(staged, approval=approval)
                self.assertEqual((result.kind, result.error["code"]), ("ExecutionFailed", 7020))
                self.assertIn(words, result.text)
                self.assertIn("the user can delete the file index.lock", result.text)
        lock.unlink()
        self.pushed(staged)


if __name__ == "__main__":
    harness.main()
