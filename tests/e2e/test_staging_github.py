#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_push of the toolset staging to repositories on GitHub, with a real server on loopback."""
import subprocess

import github
import harness
import pushing
from github import needs_askpass


class Pushes(github.Case):
    """Pushes that a user approved."""

    @needs_askpass
    def test_push(self):
        """a push is a commit on the branch, whose parent is what was there"""
        staged = self.stage({"report.md": "# Q4\n", "sub/data.json": "{}\n"}, "Add report")
        commit, notes = self.pushed(staged, self.TARGET)
        self.assertEqual(self.head("main", self.far), commit)
        self.assertEqual(self.head("main~", self.far), self.first)
        self.assertEqual(notes, f"Branch main was at {self.first}")
        self.assertEqual(self.content("sub/data.json", "main", self.far), b"{}\n")
        self.assertEqual(self.content("a.txt", "main", self.far), b"one\n")
        self.git("fsck", "--strict", cwd=self.far)
        self.assertEqual(self.ok("git_status").text.strip(), "Sandbox Status:\n  No changes")
        self.assertEqual(self.head(), self.first)
        self.assert_nothing_left()
        self.assert_no_token()

    @needs_askpass
    def test_private(self):
        """a repository that nobody may read without the token"""
        self.hub.is_public = False
        commit, _ = self.pushed(self.stage({"b.txt": "b\n"}), self.TARGET)
        self.assertEqual(self.head("main", self.far), commit)
        self.assertEqual(self.hub.tokens(), {self.hub.expected})

    def test_asks(self):
        """the approval says where it goes, and shows the change of the branch there"""
        self.elsewhere("b.txt", "old\n")
        staged = self.stage({"b.txt": "new\n"}, "Change b")
        message = self.shown(staged, self.TARGET | {"branch": "main"})
        self.assertTrue(message.startswith(
            f'Push staged commit {staged[:8]} "Change b" to github:user/proj (branch: main)'),
            message)
        self.assertIn("-old\n+new\n", message)
        self.assertEqual(self.hub.tokens(), set())

    def test_no_approval(self):
        """nothing is pushed without one"""
        before = self.out("for-each-ref", cwd=self.far)
        staged = self.stage({"b.txt": "b\n"})
        for approval, kind in (("ask", "ApprovalRequired"), ("deny", "ApprovalDenied")):
            result = self.push(staged, self.TARGET, approval=approval)
            self.assertEqual(result.kind, kind, result)
        self.assertEqual(self.out("for-each-ref", cwd=self.far), before)
        self.assertEqual(self.hub.tokens(), set())

    @needs_askpass
    def test_new_branch(self):
        """a branch that is missing begins at the server's HEAD"""
        staged = self.stage({"b.txt": "b\n"})
        target = self.TARGET | {"branch": "feature/x"}
        self.assertIn("(branch: feature/x, new branch)", self.shown(staged, target))
        commit, notes = self.pushed(staged, target)
        self.assertEqual(self.head("feature/x", self.far), commit)
        self.assertEqual(self.head("feature/x~", self.far), self.first)
        self.assertEqual(self.head("main", self.far), self.first)
        self.assertEqual(notes, "Branch feature/x is new")

    @needs_askpass
    def test_tag_is_no_branch(self):
        """a tag of the name of a branch is not taken for it"""
        self.git("tag", "x", "main", cwd=self.far)
        staged = self.stage({"b.txt": "b\n"})
        commit, notes = self.pushed(staged, self.TARGET | {"branch": "x"})
        self.assertEqual(self.head("refs/heads/x", self.far), commit)
        self.assertEqual(self.head("refs/tags/x", self.far), self.first)
        self.assertEqual(notes, "Branch x is new")

    @needs_askpass
    def test_empty(self):
        """an empty repository gets a root commit on the branch of its HEAD"""
        empty = self.make("user/empty")
        self.git("symbolic-ref", "HEAD", "refs/heads/trunk", cwd=empty)
        staged = self.stage({"b.txt": "b\n"})
        commit, _ = self.pushed(staged, {"type": "github", "repo": "user/empty"})
        self.assertEqual(self.out("rev-list", "--parents", "trunk", cwd=empty).strip(), commit)

    @needs_askpass
    def test_several(self):
        """our own push does not stop the commits that are still staged"""
        one = self.stage({"1.txt": "1\n"}, "one")
        two = self.stage({"2.txt": "2\n"}, "two")
        self.pushed(one, self.TARGET)
        self.pushed(two, self.TARGET | {"repo": "User/Proj"})
        self.assertEqual(self.out("log", "--format=%s", "main", cwd=self.far),
                         "two\none\nfirst\n")

    @needs_askpass
    def test_many(self):
        """a push of many files, and of a deleted and a changed one"""
        for n in range(3):
            self.elsewhere(f"old/{n}.txt", f"{n}\n")
        one = self.stage({f"d{n % 7}/{n}.txt": f"{n}\n" for n in range(150)})
        commit, _ = self.pushed(one, self.TARGET)
        self.assertEqual(len(self.out("ls-tree", "-r", "--name-only", commit,
                                      cwd=self.far).split()), 154)
        self.pushed(self.stage({"d1/1.txt": "changed\n"}, delete=["d2/2.txt"]), self.TARGET)
        self.git("fsck", "--strict", cwd=self.far)

    @needs_askpass
    def test_command_line(self):
        """airlock staging push takes such a target"""
        staged = self.stage({"b.txt": "b\n"})
        done = subprocess.run(
            [harness.AIRLOCK, "staging", "push", staged[:8], "--target", "github:user/proj",
             "--branch", "x", "--root", str(self.root), "--approval", "allow"],
            env=self.env, cwd=self.root, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.content("b.txt", "x", self.far), b"b\n")

    @needs_askpass
    def test_lfs(self):
        """a file that the target keeps with git-lfs is named, a pointer is not"""
        self.elsewhere(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n")
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{64 * '1'}\nsize 1\n"
        staged = self.stage({"whole.bin": b"\0\1\2", "pointer.bin": pointer, "b.txt": "b\n"})
        message = self.shown(staged, self.TARGET)
        self.assertIn("whole.bin (binary, 3 bytes), kept with git-lfs there: its content goes into the "
                      "repository itself", message)
        self.assertEqual(message.count("git-lfs there"), 1, message)
        _, notes = self.pushed(staged, self.TARGET)
        self.assertIn("whole.bin: the target keeps it with git-lfs, and its content went into the "
                      "repository itself", notes)
        self.assertEqual(notes.count("git-lfs"), 1, notes)
        self.assertEqual(self.content("whole.bin", "main", self.far), b"\0\1\2")

    @needs_askpass
    def test_always(self):
        """always is for the repository and the branch that were shown"""
        server = pushing.Asked(self)
        for number, target in enumerate((self.TARGET, self.TARGET | {"branch": "main"})):
            staged = self.stage({f"{number}.txt": "x\n"})
            if number == 0:
                _, result = server.decided("always", "git_push",
                                           {"commitId": staged, "target": target})
            else:
                result = server.call("git_push", {"commitId": staged, "target": target})
            self.assertEqual(result.value["structuredContent"]["status"], "success", result)
        staged = self.stage({"other.txt": "x\n"})
        self.make("user/other")
        for target in (self.TARGET | {"branch": "other"}, self.TARGET | {"repo": "user/other"}):
            _, result = server.decided("reject", "git_push",
                                       {"commitId": staged, "target": target})
            self.assertEqual(result.kind, "ApprovalDenied", result)

    @needs_askpass
    def test_journal(self):
        """the journal names the repository, and the rule's effects are those of a network"""
        self.pushed(self.stage({"b.txt": "b\n"}), self.TARGET)
        record = self.record()
        self.assertEqual(record["repository"], "github:user/proj")
        self.assertEqual(record["effects"], ["uses_network", "leaves_machine"])
        self.assertIsNone(record["git_commit"])
        self.configure(f'github_base_url = "{self.hub.url}"',
                       '[[tools.approval.rule]]\neffect = "leaves_machine"\ndecision = "deny"\n')
        result = self.push(self.stage({"c.txt": "c\n"}), self.TARGET)
        self.assertEqual(result.kind, "ApprovalDenied", result)
        self.assertEqual(len(self.out("rev-list", "main", cwd=self.far).split()), 2)


class Conflicts(github.Case):
    """Pushes that the other side does not take."""

    @needs_askpass
    def test_moved(self):
        """a branch that moved since the base is a conflict, and nobody is asked"""
        self.pushed(self.stage({"b.txt": "b\n"}), self.TARGET)
        staged = self.stage({"b.txt": "c\n"})
        far = self.elsewhere()
        found = self.conflict(staged, self.TARGET, approval="ask")
        self.assertEqual(found, {"reason": "non-fast-forward", "targetHead": far,
                                 "message": "Target has new commits since your base"})
        self.assertEqual(self.head("main", self.far), far)

    @needs_askpass
    def test_moved_while_asked(self):
        """a branch that moved after the question is not overwritten"""
        server = pushing.Asked(self)
        staged = self.stage({"b.txt": "b\n"})
        number, question = server.question("git_push",
                                           {"commitId": staged, "target": self.TARGET})
        far = self.elsewhere()
        server.reply(question, "once")
        found = server.outcome(number).value["structuredContent"]["conflict"]
        self.assertEqual((found["reason"], found["targetHead"]), ("non-fast-forward", far))
        self.assertEqual(self.head("main", self.far), far)
        self.assertIn(staged[:8], self.ok("git_status").text)

    @needs_askpass
    def test_new_branch_while_asked(self):
        """nor is a branch that appeared after the question"""
        server = pushing.Asked(self)
        staged = self.stage({"b.txt": "b\n"})
        number, question = server.question(
            "git_push", {"commitId": staged, "target": self.TARGET | {"branch": "x"}})
        self.git("branch", "x", "main", cwd=self.far)
        server.reply(question, "once")
        found = server.outcome(number).value["structuredContent"]["conflict"]
        self.assertEqual((found["reason"], found["targetHead"]), ("non-fast-forward", self.first))
        self.assertEqual(self.head("x", self.far), self.first)

    @needs_askpass
    def test_hook(self):
        """a server that refuses is the reason other, with its words made safe"""
        hook = self.far / "hooks/pre-receive"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\nprintf 'main is \\033[31mprotected\\033[0m\\033]0;t\\007\\n"
                        "ask \\342\\200\\256us\\n'\nexit 1\n", encoding="utf-8")
        hook.chmod(0o755)
        staged = self.stage({"b.txt": "b\n"})
        found = self.conflict(staged, self.TARGET)
        self.assertEqual((found["reason"], found.get("targetHead")), ("other", self.first))
        self.assertIn("main is protected", found["message"])
        self.assertIn("ask <U+202E>us", found["message"])
        for sign in "\033", "\007", "\u202e":
            self.assertNotIn(sign, found["message"])
        self.assertEqual(self.head("main", self.far), self.first)
        self.assertIn(staged[:8], self.ok("git_status").text)

    @needs_askpass
    def test_lost_answer(self):
        """a push whose answer was lost is looked at again: it did arrive"""
        def change(path, content):
            return b"" if path.endswith("/git-receive-pack") else content
        self.hub.change = change
        commit, _ = self.pushed(self.stage({"b.txt": "b\n"}), self.TARGET)
        self.assertEqual(self.head("main", self.far), commit)


class Names(github.Case):
    """What is no repository on GitHub."""

    def test_names(self):
        """a name with other characters, or that leads elsewhere"""
        staged = self.stage({"b.txt": "b\n"})
        for name in ("proj", "user/", "-user/proj", "user/-proj", "user/..", "../proj",
                     "user/proj/x", "user/proj.git", "user/proj?x", "u@h/proj", "user/pr oj"):
            result = self.push(staged, self.TARGET | {"repo": name})
            self.assertEqual(result.kind, "BadArgs", result)
            self.assertIn("target.repo must be 'owner/name'", result.text)
        self.assertEqual(self.hub.seen, [])

    def test_missing(self):
        """a repository that is not there"""
        result = self.push(self.stage({"b.txt": "b\n"}), self.TARGET | {"repo": "user/none"})
        self.assertEqual(result.error["code"], 7034, result)
        self.assertIn("There is no repository at", result.text)
        self.assertNotIn("git_remote", result.text)
        self.assert_nothing_left()

    def test_nobody_there(self):
        """a server that is not there"""
        staged = self.stage({"b.txt": "b\n"})
        self.configure('github_base_url = "http://127.0.0.1:1"')
        result = self.push(staged, self.TARGET)
        self.assertIn("Nobody answers at", result.text)


if __name__ == "__main__":
    harness.main()
