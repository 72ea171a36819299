#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A user who decides about a stash is asked, and is shown all of an entry, untracked files too."""
import os

import harness

WORKFLOW = ("--toolset", "workflow")


class Case(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()

    def question(self, tool, arguments, *options):
        """What is shown for a call that is then rejected."""
        server = harness.AskingServer(self, *options)
        shown, result = server.decided("reject", tool, arguments)
        self.assertEqual(result.kind, "ApprovalDenied", result)
        return shown

    def put_aside(self, *words):
        """An entry with what is changed and untracked."""
        self.git("stash", "push", "-q", "-u", *words)
        self.assertEqual(self.out("status", "--porcelain"), "")

    def untracked_entry(self):
        """An entry that has nothing but an untracked file."""
        self.write("u.txt", "only copy\n")
        self.put_aside()
        self.assertEqual(self.out("stash", "show"), "")


class Stash(Case):
    def test_untracked_only(self):
        """an entry that has untracked files alone is asked about, and they are shown"""
        self.untracked_entry()
        for action in ("apply", "pop", "drop", "clear"):
            shown = self.question("git_stash", {"action": action})
            self.assertIn("Untracked files:\n1 file, +1 -0:\n  +1 -0  added: u.txt\n", shown)
            self.assertIn("+only copy\n", shown)
            self.assertEqual("This is lost:\n" in shown, action in ("drop", "clear"))
        for action in ("drop", "clear"):
            self.assertIn("+only copy\n", self.question("git_stash", {"action": action}, *WORKFLOW))
        self.assertFalse((self.root / "u.txt").exists())
        self.assertEqual(len(self.out("stash", "list").splitlines()), 1)
        server = harness.AskingServer(self)
        _, result = server.decided("once", "git_stash", {"action": "pop"})
        self.assertFalse(result.failed, result)
        self.assertEqual((self.root / "u.txt").read_text(), "only copy\n")

    def test_all_parts(self):
        """changes, what was staged beside them and untracked files are all shown, of each entry"""
        self.write("a.txt", "staged\n")
        self.git("add", "a.txt")
        self.write("a.txt", "on the disk\n")
        self.write("u.txt", "only copy\n")
        self.put_aside()
        for arguments, *options in (({"action": "drop"},), ({"action": "clear"},),
                                    ({"action": "drop"}, *WORKFLOW),
                                    ({"action": "clear"}, *WORKFLOW), ({"action": "pop"},)):
            shown = self.question("git_stash", arguments, *options)
            for line in ("+on the disk\n", "+staged\n", "+only copy\n"):
                self.assertIn(line, shown)
        self.assertNotIn("+staged\n", self.question("git_stash", {"action": "apply"}))
        self.untracked_entry()
        shown = self.question("git_stash", {"action": "clear"})
        self.assertLess(shown.index("In stash@{0}:\nUntracked files:\n"),
                        shown.index("In stash@{1}:\n1 file, +1 -1:\n"))
        self.assertIn("+on the disk\n", self.question("git_stash", {"action": "pop", "index": 1}))

    def test_staged_alone(self):
        """what was staged alone, and is as before on the disk, is shown of an entry"""
        self.write("a.txt", "staged\n")
        self.git("add", "a.txt")
        self.write("a.txt", "one\n")
        self.put_aside()
        self.assertEqual(self.out("stash", "show"), "")
        for action in ("pop", "drop", "clear"):
            self.assertIn("+staged\n", self.question("git_stash", {"action": action}))
        self.assertIn("(it has no changes)", self.question("git_stash", {"action": "apply"}))

    def test_many(self):
        """a clear of many entries says which it does not show"""
        for number in range(12):
            self.write("u.txt", f"copy {number}\n")
            self.put_aside()
        shown = self.question("git_stash", {"action": "clear"})
        self.assertIn("+copy 2\n", shown)
        self.assertNotIn("+copy 1\n", shown)
        self.assertIn("What is in the entries from stash@{10} on is not shown.\n", shown)

    def test_no_list(self):
        """entries that are in no list are asked about and shown"""
        self.untracked_entry()
        (self.root / ".git/logs/refs/stash").unlink()
        self.assertEqual(self.out("stash", "list"), "")
        self.assertIn("+only copy\n", self.question("git_stash", {"action": "clear"}))

    def test_damaged(self):
        """an entry that cannot be read is asked about all the same"""
        self.untracked_entry()
        commit = self.out("rev-parse", "stash^3").strip()
        (self.root / ".git/objects" / commit[:2] / commit[2:]).unlink()
        shown = self.question("git_stash", {"action": "drop"})
        self.assertIn("Untracked files:\n(git cannot show it)\n", shown)

    def test_names(self):
        """names in a question are shown as they are"""
        self.write("neue Datei ä.txt", "x\n")
        self.put_aside()
        shown = self.question("git_stash", {"action": "drop"})
        self.assertIn("added: neue Datei ä.txt\n", shown)
        self.assertIn("+++ b/neue Datei ä.txt", shown)
        self.assertNotIn("\\303", shown)

    def test_names_in_answers(self):
        """names in answers are as they are; the readonly tool prints what git prints"""
        self.write("ä.txt", "x\n")
        self.git("add", "ä.txt")
        quoted = '"a/\\303\\244.txt" "b/\\303\\244.txt"'
        self.assertIn(quoted, self.out("diff", "--cached"))
        for name, options in (("git_diff", ()), ("git_diff", WORKFLOW)):
            text = self.ok(name, {"cached" if not options else "staged": True}, *options).text
            self.assertIn("diff --git a/ä.txt b/ä.txt", text)
        text = self.ok("git_commit", {"type": "feat", "message": "x"}).text
        self.assertIn(" create mode 100644 ä.txt", text)
        self.write("ä.txt", "y\n")
        result = self.call("Git", {"op": "diff", "repo": str(self.root)}, "--toolset", "readonly")
        self.assertIn("303", result.text)
        self.assertNotIn("ä", result.text)


class Unasked(Case):
    """Calls that nobody is asked about change nothing, whatever it is that would change."""

    CALLS = (("git_stash", {}), ("git_stash", {"include_untracked": True}),
             ("git_stash", {"action": "pop"}), ("git_stash", {"action": "apply"}),
             ("git_stash", {"action": "drop"}), ("git_stash", {"action": "clear"}),
             ("git_restore", {"paths": ["."]}), ("git_restore", {"paths": ["."], "staged": True}),
             ("git_restore", {"paths": ["."], "staged": True, "worktree": False}),
             ("git_checkout", {"paths": ["."]}))

    def holds(self):
        """All that the calls could change."""
        files = {}
        for path in sorted(self.root.rglob("*")):
            if ".git" not in path.parts and path.is_file():
                files[path.name] = (path.read_bytes(), path.stat().st_mode)
        return (files, self.out("ls-files", "--stage"), self.out("stash", "list", "--format=%H"),
                self.out("for-each-ref"))

    def assert_asked(self, *expected):
        """Each call asks or changes nothing; `expected` of them ask, as plain git changes something.
        """
        before = self.holds()
        asked = []
        for number, (tool, arguments) in enumerate(self.CALLS):
            result = self.call(tool, arguments, approval="ask")
            self.assertEqual(self.holds(), before, (tool, arguments, result))
            if result.kind == "ApprovalRequired":
                asked.append(number)
        self.assertEqual(asked, list(expected))

    def test_clean(self):
        """nothing to do, nobody to ask"""
        self.assert_asked()

    def test_binary(self):
        """binary content"""
        self.write("a.txt", b"\0\1\2")
        self.assert_asked(0, 1, 6, 7, 9)
        self.put_aside()
        self.assert_asked(2, 3, 4, 5)

    def test_mode(self):
        """the mode alone"""
        os.chmod(self.root / "a.txt", 0o755)
        self.assert_asked(0, 1, 6, 7, 9)
        self.put_aside()
        self.assert_asked(2, 3, 4, 5)

    def test_staged(self):
        """what is staged alone, an empty file"""
        self.write("empty", "")
        self.git("add", "empty")
        self.assert_asked(0, 1, 7, 8)
        self.put_aside()
        self.assert_asked(2, 3, 4, 5)

    def test_staged_away(self):
        """a file that the index has lost and the disk has"""
        self.git("rm", "-q", "--cached", "a.txt")
        self.assert_asked(0, 1, 7, 8)

    def test_untracked(self):
        """an untracked file, and an empty one"""
        self.write("empty", "")
        self.assert_asked(1)
        self.put_aside()
        self.assert_asked(2, 3, 4, 5)

    def test_gone(self):
        """a file that is not there any more"""
        (self.root / "a.txt").unlink()
        self.assert_asked(0, 1, 6, 7, 9)

    def test_submodule(self):
        """another repository that the index has at another commit"""
        inner = self.root / "sub"
        self.git("init", "-q", str(inner))
        self.git("commit", "-q", "--allow-empty", "-m", "good", cwd=inner)
        self.git("-c", "advice.addEmbeddedRepo=false", "add", "sub")
        self.git("commit", "-q", "-m", "sub")
        self.git("commit", "-q", "--allow-empty", "-m", "evil", cwd=inner)
        self.git("add", "sub")
        self.assert_asked(0, 1, 7, 8)


if __name__ == "__main__":
    harness.main()
