#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow: git_stash."""
import harness
import workflow


class Stash(workflow.Case):
    def entry(self, content="stashed\n", message=None):
        """One more entry of the stash, made by git."""
        self.write("a.txt", content)
        self.git("stash", "push", "-q", *(["-m", message] if message else []))

    def entries(self):
        """How many entries there are."""
        return len(self.out("stash", "list").splitlines())

    def test_examples(self):
        """R4-10 git_stash: the examples of the requirements, through MCP"""
        self.init()
        server = workflow.Server(self)
        self.write("a.txt", "two\n")
        self.assertEqual(server.gives("git_stash", {"action": "push",
                                                    "message": "WIP: auth feature"}), {
            "stashed": True,
            "message": "Saved working directory and index state On main: WIP: auth feature"})
        self.write("new.txt", "new\n")
        self.assertTrue(server.gives("git_stash", {"action": "push",
                                                   "includeUntracked": True})["stashed"])
        self.assertFalse((self.root / "new.txt").exists())
        stashes = server.gives("git_stash", {"action": "list"})["stashes"]
        self.assertEqual([(entry["index"], entry["message"], entry["branch"])
                          for entry in stashes],
                         [(0, f"{self.out('rev-parse', '--short', 'HEAD').strip()} first", "main"),
                          (1, "WIP: auth feature", "main")])
        self.assertRegex(stashes[0]["date"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(Z|[+-]\d\d:\d\d)$")
        self.assertEqual(server.gives("git_stash", {"action": "apply"}),
                         {"applied": True, "message": "Applied stash@{0}"})
        self.assertEqual((self.root / "new.txt").read_text(), "new\n")
        (self.root / "new.txt").unlink()
        self.assertEqual(server.gives("git_stash", {"action": "pop"}),
                         {"applied": True, "message": "Popped stash@{0}"})
        self.assertEqual(self.entries(), 1)
        self.assertEqual(server.gives("git_stash", {"action": "drop", "index": 0}),
                         {"dropped": True, "index": 0})
        self.entry("first\n")
        self.entry("second\n")
        self.assertEqual(server.gives("git_stash", {"action": "clear"}), {"count": 2})
        self.assertEqual(self.entries(), 0)

    def test_index(self):
        """R4-10 git_stash: pop, apply and drop take any entry"""
        self.init()
        for number in range(4):
            self.entry(f"{number}\n", f"entry {number}")
        self.gives("git_stash", {"action": "apply", "index": 2})
        self.assertEqual((self.root / "a.txt").read_text(), "1\n")
        self.git("checkout", "-q", "a.txt")
        self.assertEqual(self.gives("git_stash", {"action": "pop", "index": 3})["message"],
                         "Popped stash@{3}")
        self.assertEqual((self.root / "a.txt").read_text(), "0\n")
        self.assertEqual(self.gives("git_stash", {"action": "drop", "index": 1}),
                         {"dropped": True, "index": 1})
        self.assertEqual([entry["message"] for entry in
                          self.gives("git_stash", {"action": "list"})["stashes"]],
                         ["entry 3", "entry 1"])

    def test_nothing(self):
        """git_stash: nothing to save is no error, and an empty stash is listed and cleared"""
        self.init()
        self.write("new.txt", "untracked\n")
        self.assertEqual(self.gives("git_stash", {"action": "push"}),
                         {"stashed": False, "message": "No local changes to save"})
        self.assertEqual(self.gives("git_stash", {"action": "list"}), {"stashes": []})
        self.assertEqual(self.gives("git_stash", {"action": "clear"}), {"count": 0})

    def test_asks(self):
        """R4-20 git_stash: drop and clear ask, the rest does not"""
        self.init()
        self.entry()
        self.assert_asks("Drop stash@{0}", "git_stash", {"action": "drop"})
        self.assert_asks("Clear ALL stashes (WARNING: destructive)", "git_stash",
                         {"action": "clear"})
        for approval in ("ask", "allow"):
            for action in ("apply", "push", "list", "pop", "push"):
                result = self.call("git_stash", {"action": action}, approval=approval)
                self.assertFalse(result.failed, result)

    def test_subjects(self):
        """git_stash: messages and branches as they are, and what git does not say is left out"""
        self.init()
        self.git("checkout", "-q", "-b", "feature/a-b")
        self.entry(message="esc \x1b[31m \u202e: colons: here")
        self.git("checkout", "-q", "--detach")
        self.entry(message="detached")
        self.write("a.txt", "stored\n")
        made = self.out("stash", "create").strip()
        self.git("checkout", "-q", "a.txt")
        self.git("stash", "store", "-m", "On its own", made)
        result = self.ok("git_stash", {"action": "list"})
        self.assertEqual([(entry["message"], entry.get("branch"))
                          for entry in result.value["structuredContent"]["stashes"]],
                         [("On its own", None), ("detached", None),
                          ("esc \x1b[31m \u202e: colons: here", "feature/a-b")])
        self.assertNotIn("\u202e", result.text)

    def test_cap(self):
        """git_stash: entries that do not fit are left out, and the result says so"""
        self.init()
        for number in range(5):
            self.entry(f"{number}\n", f"entry {number}")
        config = self.write("config.toml", "[tools.git]\nmax_bytes = 300\n", self.home)
        result = self.ok("git_stash", {"action": "list"}, "--config", str(config))
        self.assertEqual(len(result.value["structuredContent"]["stashes"]), 2)
        self.assertTrue(result.meta["truncated"])

    def test_empty(self):
        """R4-7037 git_stash: 7037 when there is nothing to bring back or to drop"""
        self.init()
        for action in ("pop", "apply", "drop"):
            result = self.fails(7037, "git_stash", {"action": action})
            self.assertEqual(result.error["message"], "No stash entries found.")

    def test_no_such_entry(self):
        """git_stash: an entry that is not there is 7010"""
        self.init()
        self.entry()
        for action in ("pop", "apply", "drop"):
            result = self.fails(7010, "git_stash", {"action": action, "index": 7})
            self.assertIn("list", result.text.splitlines()[1])
        self.assertEqual(self.entries(), 1)

    def test_conflict(self):
        """git_stash: 7030 for a pop that conflicts, which keeps the entry"""
        self.init()
        self.entry()
        self.commit("a.txt", "committed\n", "second")
        for action in ("pop", "apply"):
            result = self.fails(7030, "git_stash", {"action": action})
            self.assertEqual(result.error["reason"], "conflict")
            self.assertIn("a.txt", result.error["message"])
            self.assertIn("<<<<<<<", (self.root / "a.txt").read_text())
            self.assertEqual(self.entries(), 1)
            self.fails(7030, "git_stash", {"action": "push"})
            self.git("reset", "-q", "--hard")

    def test_dirty(self):
        """git_stash: 7031 when what is brought back lies on local changes or untracked files"""
        self.init()
        self.entry()
        self.write("a.txt", "local\n")
        for action in ("pop", "apply"):
            self.fails(7031, "git_stash", {"action": action})
            self.assertEqual((self.root / "a.txt").read_text(), "local\n")
        self.git("checkout", "-q", "a.txt")
        self.write("new.txt", "stashed\n")
        self.git("stash", "push", "-q", "-u")
        self.write("new.txt", "local\n")
        self.fails(7031, "git_stash", {"action": "pop"})
        self.assertEqual((self.root / "new.txt").read_text(), "local\n")
        self.assertEqual(self.entries(), 2)

    def test_errors(self):
        """git_stash: 7000 outside a repository, 7010 without a commit, 7020 at a lock"""
        self.fails(7000, "git_stash", {"action": "list"})
        self.git("init", "-q")
        self.write("a.txt", "one\n")
        self.git("add", "a.txt")
        self.fails(7010, "git_stash", {"action": "push"})
        self.git("commit", "-q", "-m", "first")
        self.write("a.txt", "two\n")
        self.write(".git/index.lock", "")
        config = self.write("config.toml", "[tools.git]\ntimeout_ms = 2000\n", self.home)
        self.fails(7020, "git_stash", {"action": "push"}, "--config", str(config))

    def test_arguments(self):
        """git_stash: an action is required, an index is a number from 0 on"""
        self.init()
        for arguments in ({}, {"action": "show"}, {"action": "pop", "index": -1},
                          {"action": "pop", "index": 1 << 31}, {"action": "pop", "index": "0"},
                          {"action": "push", "with_untracked": True}):
            self.assertEqual(self.fails(None, "git_stash", arguments).kind, "BadArgs", arguments)

    def test_filters(self):
        """git_stash: content that goes through a filter driver is refused"""
        self.init()
        self.commit(".gitattributes", "a.txt filter=evil\n", "attributes")
        self.git("config", "filter.evil.clean", "cat")
        self.git("config", "filter.evil.smudge", "cat")
        self.write("a.txt", "two\n")
        self.assertIn("filter", self.fails(7010, "git_stash", {"action": "push"}).text)
        self.assertEqual((self.root / "a.txt").read_text(), "two\n")


if __name__ == "__main__":
    harness.main()
