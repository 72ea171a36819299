#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_stash and git_restore: what is put aside, brought back and lost, and who was asked."""
import harness


class Stash(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("b.txt", "b\n", "second")

    def text_of(self, name):
        """A file of the working tree."""
        return (self.root / name).read_text(encoding="utf-8")

    def stashes(self):
        """The entries, newest first."""
        return self.out("stash", "list", "--format=%gs").splitlines()

    def put_aside(self, *contents):
        """One stash entry for each content of a.txt."""
        for content in contents:
            self.write("a.txt", content)
            self.git("stash", "push", "-q", "-m", content.strip())

    def test_push(self):
        """T-GIT-STASH-01 stash push saves the changes and takes them away"""
        self.write("a.txt", "mine\n")
        self.write("b.txt", "staged\n")
        self.git("add", "b.txt")
        self.write("new.txt", "new\n")
        text = self.ok("git_stash").text
        self.assertRegex(text, r"\ASaved working directory and index state WIP on main: "
                               r"[0-9a-f]+ second\n?\Z")
        self.assertEqual((self.text_of("a.txt"), self.text_of("b.txt")), ("one\n", "b\n"))
        self.assertEqual(self.out("status", "--porcelain"), "?? new.txt\n")
        self.assertEqual(self.out("show", "stash@{0}:a.txt"), "mine\n")
        self.assertEqual(self.out("show", "stash@{0}^2:b.txt"), "staged\n")

    def test_push_message(self):
        """a stash has the message it was given, whatever is in it"""
        for number, message in enumerate(("half done", "-m --all", "$(touch x) `y`", "ü 中"), 2):
            self.write("a.txt", f"{number}\n")
            self.assertIn(message, self.ok("git_stash", {"message": message}).text)
            self.assertEqual(self.stashes()[0], f"On main: {message}")
        self.assertFalse((self.root / "x").exists())

    def test_push_untracked(self):
        """stash push takes untracked files only when it is told to, and pop brings them back"""
        self.write("new.txt", "new\n")
        self.write("dir/new.txt", "new\n")
        self.write(".gitignore", "*.o\n")
        self.write("x.o", "ignored\n")
        self.assertEqual(self.ok("git_stash").text.strip(), "No local changes to save")
        self.ok("git_stash", {"include_untracked": True})
        self.assertEqual(self.out("status", "--porcelain"), "?? x.o\n")
        self.ok("git_stash", {"action": "pop"})
        self.assertEqual(self.out("status", "--porcelain"), "?? .gitignore\n?? dir/\n?? new.txt\n")
        self.assertEqual(self.text_of("dir/new.txt"), "new\n")

    def test_nothing_to_save(self):
        """T-GIT-EDGE-10 stash push on a clean working tree says so and saves nothing"""
        result = self.ok("git_stash")
        self.assertEqual(result.text.strip(), "No local changes to save")
        self.assertEqual(result.meta["exit_code"], 0)
        self.assertEqual(self.stashes(), [])

    def test_pop(self):
        """T-GIT-STASH-02 stash pop restores the changes and drops the entry"""
        self.put_aside("first\n", "second\n")
        text = self.ok("git_stash", {"action": "pop"}).text
        self.assertIn("modified:   a.txt", text)
        self.assertRegex(text, r"Dropped stash@\{0\} \([0-9a-f]{40,64}\)")
        self.assertEqual(self.text_of("a.txt"), "second\n")
        self.assertEqual(self.stashes(), ["On main: first"])
        self.git("checkout", "a.txt")
        self.put_aside("third\n")
        self.ok("git_stash", {"action": "pop", "index": 1})
        self.assertEqual((self.text_of("a.txt"), self.stashes()), ("first\n", ["On main: third"]))

    def test_apply_and_drop(self):
        """apply keeps the entry, drop only drops it"""
        self.put_aside("first\n", "second\n")
        self.ok("git_stash", {"action": "apply", "index": 1})
        self.assertEqual((self.text_of("a.txt"), len(self.stashes())), ("first\n", 2))
        text = self.ok("git_stash", {"action": "drop", "index": 1}).text
        self.assertRegex(text, r"\ADropped stash@\{1\} \([0-9a-f]{40,64}\)\n?\Z")
        self.ok("git_stash", {"action": "drop"})
        self.assertEqual((self.text_of("a.txt"), self.stashes()), ("first\n", []))

    def test_list(self):
        """T-GIT-STASH-03 stash list returns the entries as git prints them"""
        self.assertEqual(self.ok("git_stash", {"action": "list"}, approval="deny").text, "")
        self.put_aside("first\n", "second\n")
        self.write("a.txt", "third\n")
        self.git("stash", "push", "-q")
        text = self.ok("git_stash", {"action": "list"}, approval="deny").text
        self.assertEqual(text, self.out("stash", "list"))
        self.assertEqual(len(text.splitlines()), 3)
        self.git("pack-refs", "--all")
        self.assertEqual(self.ok("git_stash", {"action": "list"}).text, text)

    def test_list_elsewhere(self):
        """stash list keeps its form whatever the repository configures"""
        self.put_aside("first\n")
        before = self.out("stash", "list")
        self.git("config", "log.date", "iso")
        self.git("config", "format.pretty", "fuller")
        self.git("config", "log.showSignature", "true")
        self.assertEqual(self.ok("git_stash", {"action": "list"}).text, before)

    def test_show(self):
        """stash show is git's, of the entry that is named"""
        self.put_aside("first\n", "second\nline\n")
        for index in (0, 1):
            self.assertEqual(
                self.ok("git_stash", {"action": "show", "index": index}, approval="deny").text,
                self.out("stash", "show", f"stash@{{{index}}}"))
        self.assertEqual(self.ok("git_stash", {"action": "show"}).text, self.out("stash", "show"))

    def test_clear(self):
        """T-GIT-STASH-04 stash clear removes every entry"""
        self.put_aside("first\n", "second\n")
        self.assertEqual(self.ok("git_stash", {"action": "clear"}).text, "Cleared all stashes")
        self.assertEqual(self.stashes(), [])
        self.assertEqual(self.ok("git_stash", {"action": "clear"}).text,
                         "There was no stash entry to clear")

    def test_empty(self):
        """an entry of an empty stash is not found, before anyone is asked"""
        for action in ("pop", "apply", "drop", "show"):
            for index in ({}, {"index": 0}, {"index": 3}):
                for approval in ("allow", "ask", "deny"):
                    result = self.refused("ExecutionFailed", "No stash entries found.",
                                          "git_stash", {"action": action} | index,
                                          approval=approval)
                    self.assertEqual((result.error["reason"], result.error["code"],
                                      result.error["name"]),
                                     ("not_found", 7037, "GIT_STASH_EMPTY"))

    def test_no_such_entry(self):
        """an entry that is not there is not found"""
        self.put_aside("first\n")
        for action in ("pop", "apply", "drop", "show"):
            result = self.call("git_stash", {"action": action, "index": 1})
            self.assertEqual((result.kind, result.error["reason"]),
                             ("ExecutionFailed", "not_found"), result)
            self.assertEqual(result.text, self.git("stash", action, "stash@{1}", check=False)
                             .stderr.decode().strip())
        self.assertEqual(len(self.stashes()), 1)
        for value in (-1, "0", 1.5):
            self.assertEqual(self.call("git_stash", {"action": "pop", "index": value}).kind,
                             "BadArgs")

    def test_conflict(self):
        """a pop that conflicts says so in git's words, and keeps the entry"""
        self.put_aside("mine\n")
        self.commit("a.txt", "theirs\n", "third")
        result = self.call("git_stash", {"action": "pop"})
        self.assertEqual((result.kind, result.error["reason"], result.error["code"],
                          result.error["name"]),
                         ("ExecutionFailed", "conflict", 7030, "GIT_CONFLICT"), result)
        self.assertIn("CONFLICT (content): Merge conflict in a.txt", result.text)
        self.assertEqual(self.stashes(), ["On main: mine"])
        self.assertIn("<<<<<<< Updated upstream\ntheirs\n", self.text_of("a.txt"))
        self.assertEqual(self.out("status", "--porcelain"), "UU a.txt\n")

    def test_conflict_with_a_warning(self):
        """a pop that conflicts is a conflict, whatever else git says on stderr"""
        self.git("config", "core.autocrlf", "input")
        self.put_aside("mine\n")
        self.commit("a.txt", "theirs\n", "third")
        self.write("b.txt", b"b\r\nchanged\r\n")
        self.assertIn(b"CRLF", self.git("diff").stderr)
        result = self.call("git_stash", {"action": "apply"})
        self.assertEqual((result.error["reason"], result.error["code"]), ("conflict", 7030), result)
        self.assertIn("CONFLICT (content): Merge conflict in a.txt", result.text)

    def test_dirty(self):
        """a pop over local changes is a conflict with them, and changes nothing"""
        self.put_aside("mine\n")
        self.write("a.txt", "other\n")
        result = self.call("git_stash", {"action": "pop"})
        self.assertEqual((result.error["reason"], result.error["code"]), ("conflict", 7031), result)
        self.assertEqual((self.text_of("a.txt"), len(self.stashes())), ("other\n", 1))

    def test_unmerged(self):
        """a push in the middle of a conflict is git's error"""
        self.put_aside("mine\n")
        self.commit("a.txt", "theirs\n", "third")
        self.git("stash", "pop", check=False)
        result = self.call("git_stash")
        self.assertTrue(result.failed)
        done = self.git("stash", check=False)
        self.assertEqual(result.text.splitlines()[0], (done.stderr or done.stdout).decode().strip())

    def test_empty_repository(self):
        """a stash needs a first commit"""
        empty = self.root / "empty"
        empty.mkdir()
        self.git("init", "-q", cwd=empty)
        self.write("x", "x\n", empty)
        result = self.call("git_stash", {"working_dir": "empty", "include_untracked": True})
        self.assertEqual(result.text, self.git("stash", "-u", cwd=empty, check=False)
                         .stderr.decode().strip())
        self.assertTrue((empty / "x").exists())

    def test_approval(self):
        """each change of the stash asks with a summary of its own; looking asks nobody"""
        for text in ("first\n", "second\n", "third\n"):
            self.put_aside(text)
        self.write("b.txt", "mine\n")
        for summary, arguments in (
                ("Stash changes", {}),
                ("Stash changes", {"action": "push"}),
                ("Stash changes: half done", {"message": "half done"}),
                ("Pop stash@{0}", {"action": "pop"}),
                ("Apply stash@{2}", {"action": "apply", "index": 2}),
                ("Drop stash@{0}", {"action": "drop", "index": 0}),
                ("Clear ALL stashes (WARNING: destructive)", {"action": "clear"})):
            self.assert_asks(summary, "git_stash", arguments)
        for arguments, summary in (({"action": "list"}, "List stashes"),
                                   ({"action": "show"}, "Show stash@{0}"),
                                   ({"action": "show", "index": 0}, "Show stash@{0}")):
            for approval in ("ask", "deny"):
                self.ok("git_stash", arguments, approval=approval)
                self.assertEqual(self.record()["summary"], summary)

    def test_effects(self):
        """each action is an operation with effects of its own"""
        self.put_aside("first\n", "second\n", "third\n")
        files = ["writes_index", "writes_worktree"]
        for action, effects in (
                ("list", ["reads"]), ("show", ["reads"]), ("apply", files),
                ("push", ["writes_index", "writes_refs", "writes_worktree"]),
                ("pop", ["writes_index", "writes_refs", "writes_worktree"]),
                ("drop", ["discards_work", "writes_refs"]),
                ("clear", ["discards_work", "writes_refs"])):
            self.ok("git_stash", {"action": action})
            record = self.record()
            self.assertEqual((record["operation"], sorted(record["effects"])), (action, effects))

    def test_unknown_action(self):
        """an action that is none is refused with the list of them"""
        result = self.call("git_stash", {"action": "branch"})
        self.assertEqual(result.kind, "BadArgs")
        for action in ("action", "push", "pop", "apply", "drop", "list", "show", "clear"):
            self.assertIn(action, result.text)

    def test_workflow(self):
        """T-GIT-INT-03 push, list, pop"""
        self.write("a.txt", "mine\n")
        self.ok("git_stash", {"action": "push", "message": "for later"})
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertEqual(self.ok("git_stash", {"action": "list"}).text,
                         "stash@{0}: On main: for later\n")
        self.ok("git_stash", {"action": "pop"})
        self.assertEqual(self.out("diff", "--name-only"), "a.txt\n")
        self.assertEqual(self.ok("git_stash", {"action": "list"}).text, "")


class Restore(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("b.txt", "b\n", "second")

    def text_of(self, name):
        """A file of the working tree."""
        return (self.root / name).read_text(encoding="utf-8")

    def status(self):
        """The short status."""
        return self.out("status", "--porcelain")

    def both_changed(self):
        """a.txt staged with one change and holding another."""
        self.write("a.txt", "staged\n")
        self.git("add", "a.txt")
        self.write("a.txt", "mine\n")

    def test_worktree(self):
        """T-GIT-RESTORE-01 restore puts a file of the working tree back"""
        self.write("a.txt", "mine\n")
        (self.root / "b.txt").unlink()
        self.assertEqual(self.ok("git_restore", {"paths": ["a.txt"]}).text, "Restored 1 file(s)")
        self.assertEqual(self.text_of("a.txt"), "one\n")
        self.assertEqual(self.ok("git_restore", {"paths": ["a.txt", "b.txt"]}).text,
                         "Restored 2 file(s)")
        self.assertEqual((self.text_of("b.txt"), self.status()), ("b\n", ""))

    def test_from_the_index(self):
        """restore of the working tree takes what is staged"""
        self.both_changed()
        self.ok("git_restore", {"paths": ["a.txt"]})
        self.assertEqual((self.text_of("a.txt"), self.status()), ("staged\n", "M  a.txt\n"))

    def test_staged(self):
        """T-GIT-RESTORE-02 restore with staged alone unstages and keeps the file"""
        self.both_changed()
        self.write("new.txt", "new\n")
        self.git("add", "new.txt")
        self.ok("git_restore", {"paths": ["a.txt", "new.txt"], "staged": True, "worktree": False})
        self.assertEqual((self.text_of("a.txt"), self.status()),
                         ("mine\n", " M a.txt\n?? new.txt\n"))

    def test_both(self):
        """restore with both puts index and file back to HEAD"""
        self.both_changed()
        both = {"paths": ["a.txt"], "staged": True}
        text = "Restored 1 file(s)\nStaged changes were unstaged and discarded"
        self.assertEqual(self.ok("git_restore", both).text, text)
        self.assertEqual((self.text_of("a.txt"), self.status()), ("one\n", ""))
        self.write("a.txt", "mine\n")
        self.assertEqual(self.ok("git_restore", both).text, "Restored 1 file(s)")

    def test_neither(self):
        """T-GIT-RESTORE-03 restore refuses both staged and worktree false"""
        self.write("a.txt", "mine\n")
        message = "At least one of staged or worktree must be true"
        for arguments in ({"worktree": False}, {"staged": False, "worktree": False}):
            self.refused("BadArgs", message, "git_restore", {"paths": ["a.txt"]} | arguments)
        self.assertEqual(self.text_of("a.txt"), "mine\n")

    def test_paths(self):
        """restore needs paths"""
        self.refused("BadArgs", "paths must contain at least one element", "git_restore",
                     {"paths": []})
        self.assertIn("paths is required", self.call("git_restore", {}).text)

    def test_globs(self):
        """T-GIT-EDGE-13 restore with a glob pattern in a path"""
        self.commit("dir/c.txt", "c\n", "third")
        self.commit("dir/d.md", "d\n", "fourth")
        for pattern, left in (("*.txt", "dir/d.md"), ("dir/*", "a.txt"), ("dir", "a.txt"),
                              ("?.txt", "dir/c.txt dir/d.md"), ("[a]*", "dir/c.txt dir/d.md")):
            for name in ("a.txt", "dir/c.txt", "dir/d.md"):
                self.write(name, "mine\n")
            self.ok("git_restore", {"paths": [pattern]})
            self.assertEqual(self.out("diff", "--name-only").split(), left.split(), pattern)
        for name in ("a.txt", "dir/c.txt"):
            self.write(name, "mine\n")
        self.ok("git_restore", {"paths": ["*.txt", "*.md"]})
        self.assertEqual(self.status(), "")

    def test_a_name_that_looks_like_a_glob(self):
        """a file that has a pattern's name is that file and no other"""
        self.commit("[ab].txt", "x\n", "third")
        self.commit("*", "star\n", "fourth")
        for name in ("[ab].txt", "*"):
            for other in ("[ab].txt", "*", "a.txt", "b.txt"):
                self.write(other, "mine\n")
            self.ok("git_restore", {"paths": [name]})
            self.assertEqual(len(self.out("diff", "--name-only").split()), 3)
            self.assertNotEqual(self.text_of(name), "mine\n")
        (self.root / "*").unlink()
        self.write("a.txt", "mine\n")
        self.ok("git_restore", {"paths": ["*"]})
        self.assertEqual((self.text_of("a.txt"), self.text_of("*")), ("mine\n", "star\n"))

    def test_unknown(self):
        """a path that git does not know is git's error, and nothing is restored"""
        self.write("a.txt", "mine\n")
        self.write("untracked.txt", "x\n")
        for path in ("no.txt", "untracked.txt", "*.none"):
            for options in ({}, {"staged": True}, {"staged": True, "worktree": False}):
                result = self.call("git_restore", {"paths": ["a.txt", path]} | options)
                self.assertEqual((result.kind, result.error["reason"]),
                                 ("ExecutionFailed", "not_found"), result)
                self.assertEqual(result.text,
                                 self.git("restore", "--", "a.txt", path, check=False)
                                 .stderr.decode().strip())
        self.assertEqual(self.text_of("a.txt"), "mine\n")

    def test_empty_repository(self):
        """in a repository without commits only the working tree can be restored"""
        empty = self.root / "empty"
        empty.mkdir()
        self.git("init", "-q", cwd=empty)
        self.write("x", "staged\n", empty)
        self.git("add", "x", cwd=empty)
        self.write("x", "mine\n", empty)
        here = {"working_dir": "empty", "paths": ["x"]}
        result = self.call("git_restore", here | {"staged": True})
        self.assertEqual(result.text, self.git("restore", "--staged", "x", cwd=empty, check=False)
                         .stderr.decode().strip())
        self.ok("git_restore", here)
        self.assertEqual((empty / "x").read_text(encoding="utf-8"), "staged\n")

    def test_approval(self):
        """restore asks with the summary of what it does"""
        self.both_changed()
        for summary, arguments, operation in (
                ("Restore 1 file(s) to worktree", {}, "worktree"),
                ("Unstage 1 file(s)", {"staged": True, "worktree": False}, "staged"),
                ("Restore and unstage 1 file(s)", {"staged": True}, "both")):
            self.assert_asks(summary, "git_restore", {"paths": ["a.txt"]} | arguments)
            self.assertEqual(self.record()["operation"], operation)
            self.assertIn("discards_work", self.record()["effects"])
        self.assert_asks("Restore 2 file(s) to worktree", "git_restore",
                         {"paths": ["a.txt", "b.txt"]})

    def test_outside(self):
        """a path outside is refused before anyone is asked"""
        (self.root / "link").symlink_to("..")
        for path in ("..", "/etc/passwd", "dir/../a.txt", "link/home/.gitconfig"):
            for tool in ("git_restore", "git_checkout"):
                self.refused("SandboxViolation", f"Path outside sandbox: {path}", tool,
                             {"paths": [path]}, approval="ask")
        for path in (":/", ":!a.txt", ":(top)a.txt"):
            for tool in ("git_restore", "git_checkout"):
                self.assertEqual(self.call(tool, {"paths": [path]}, approval="ask").kind,
                                 "BadArgs")

    def test_undoes_add(self):
        """T-GIT-INT-04 restore undoes add"""
        self.write("a.txt", "mine\n")
        self.write("new.txt", "new\n")
        before = self.status()
        self.ok("git_add", {"all": True})
        self.assertEqual(self.status(), "M  a.txt\nA  new.txt\n")
        self.ok("git_restore", {"paths": ["."], "staged": True, "worktree": False})
        self.assertEqual((self.status(), self.text_of("a.txt")), (before, "mine\n"))


if __name__ == "__main__":
    harness.main()
