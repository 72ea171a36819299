#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: uncommitted changes wait while an operation is stopped, and come back when it ends."""
import subprocess

import everyday
import harness
from everyday import LINES, text_with

FILE = "AIRLOCK_AUTOSTASH"
STATUS = ("MM both.txt\n M edited.txt\nMM f.txt\n D gone.txt\nA  new.txt\nD  removed.txt\n M run.sh\n"
          "?? untracked.txt\n")


class Waiting(everyday.Case):
    """topic and main collide in line 5 of f.txt; so do the two commits of topic with each other."""

    def setUp(self):
        super().setUp()
        self.init()
        for name in ("both.txt", "edited.txt", "gone.txt", "removed.txt", "run.sh"):
            self.write(name, f"{name}\n")
        self.git("add", "-A")
        self.commit("f.txt", "".join(LINES), "base")
        self.git("branch", "topic")
        self.commit("f.txt", text_with(at5="main"), "on main")
        self.git("checkout", "-q", "topic")
        self.commit("f.txt", text_with(at5="first"), "first")
        self.commit("f.txt", text_with(at5="topic"), "second")
        self.hub = self.base / "hub.git"
        self.git("init", "-q", "--bare", str(self.hub))
        self.git("push", "-q", str(self.hub), "main")
        self.git("remote", "add", "origin", str(self.hub))
        self.git("fetch", "-q", "origin")
        self.tip = self.out("rev-parse", "HEAD").strip()

    def dirty(self):
        """Changes of every kind, in the file that will be in conflict, too."""
        self.write("both.txt", "staged\n")
        self.write("new.txt", "new\n")
        self.write("f.txt", text_with(at5="topic", at30="staged"))
        self.git("add", "both.txt", "new.txt", "f.txt")
        self.git("rm", "-q", "removed.txt")
        self.write("both.txt", "staged\nnot staged\n")
        self.write("f.txt", text_with(at5="topic", at30="staged", at38="not"))
        self.write("edited.txt", "edited\n")
        (self.root / "gone.txt").unlink()
        (self.root / "run.sh").chmod(0o755)
        self.write("untracked.txt", "untracked\n")

    def verbs(self):
        """Each that is stopped; revert collides with a later commit of the same branch."""
        return (("git_rebase", {"onto": "main"}), ("git_cherry_pick", {"commits": ["main"]}),
                ("git_revert", {"commits": ["topic~1"]}), ("git_merge", {"branch": "main"}),
                ("git_pull", {"remote": "origin", "branch": "main"}),
                ("git_pull", {"remote": "origin", "branch": "main", "rebase": True}))

    def anew(self):
        """As it was before, and dirty."""
        for words in (("rebase", "--abort"), ("merge", "--abort"), ("cherry-pick", "--abort"),
                      ("revert", "--abort"), ("reset", "-q", "--hard"), ("stash", "clear")):
            self.git(*words, check=False)
        (self.root / ".git" / FILE).unlink(missing_ok=True)
        self.git("clean", "-qfd")
        self.git("checkout", "-q", "-B", "topic", self.tip)
        self.dirty()

    def server(self):
        server = everyday.Server(self, "--root", str(self.hub))
        self.addCleanup(server.close)
        return server

    def waits(self):
        return (self.root / ".git" / FILE).exists()

    def stop(self, server, tool, arguments):
        """Begin, and see that nothing is left of the changes but the note."""
        text = server.ok(tool, arguments).text
        self.assertIn("ncommitted changes of 7 files wait", text)
        self.assertIn("<<<<<<< ours", text)
        self.assertEqual(self.out("status", "--porcelain"), "UU f.txt\n?? untracked.txt\n")
        self.assertTrue(self.waits())
        self.assertEqual(self.out("stash", "list"), "")
        status = server.ok("git_status").text
        self.assertEqual(status.count("wait"), 1, status)

    def go_on(self, server, tool):
        """Settle each conflict until it ends; what it says then."""
        text = "stopped again"
        while "stopped again" in text:
            text = server.ok("git_conflicts", {"action": "resolve", "take": "theirs",
                                               "continue": True}).text
        self.assertNotIn("in progress", server.ok("git_status").text, tool)
        return text

    def is_back(self, at5):
        """All of it is there again, staged as it was, on what came in."""
        self.assertEqual(self.out("status", "--porcelain"), STATUS)
        self.assertFalse(self.waits())
        self.assertEqual(self.out("show", ":f.txt"), text_with(at5=at5, at30="staged"))
        self.assertEqual((self.root / "f.txt").read_text(),
                         text_with(at5=at5, at30="staged", at38="not"))
        self.assertEqual(self.out("show", ":both.txt"), "staged\n")
        self.assertEqual((self.root / "both.txt").read_text(), "staged\nnot staged\n")
        self.assertTrue((self.root / "run.sh").stat().st_mode & 0o100)
        self.assertEqual(self.out("stash", "list"), "")

    def each(self):
        """Each verb, stopped over changes; what there was before."""
        for tool, arguments in self.verbs():
            self.anew()
            before = self.snapshot()
            server = self.server()
            self.stop(server, tool, arguments)
            yield tool, server, before

    def test_abort(self):
        """given up: byte for byte as before"""
        for tool, server, before in self.each():
            text = server.ok("git_conflicts", {"action": "abort"}).text
            self.assertIn("are back", text)
            self.assertEqual(self.snapshot(), before, tool)
            self.assertFalse(self.waits())

    def test_command(self):
        """given up by airlock git, which says that the changes wait still"""
        self.anew()
        server = self.server()
        self.stop(server, "git_merge", {"branch": "main"})
        for _ in range(2):
            done = subprocess.run([harness.AIRLOCK, "git", "merge", "--abort"], cwd=self.root, env=self.env,
                                  check=False, capture_output=True, text=True, timeout=harness.WATCHDOG_SECONDS)
            self.assertIn("airlock: Uncommitted changes of 7 files wait: git_conflicts", done.stderr)
        server.ok("git_conflicts", {"action": "continue"})
        self.is_back("topic")

    def test_continue(self):
        """went on to its end; the undo of that is the stop, and that of the stop the beginning"""
        for tool, server, before in self.each():
            stopped = self.snapshot()
            steps = 0
            while True:
                steps += 1
                text = server.ok("git_conflicts", {"action": "resolve", "take": "theirs",
                                                   "continue": True}).text
                if "stopped again" not in text:
                    break
            self.assertIn("uncommitted changes that waited are back", text, tool)
            self.is_back(self.out("show", "HEAD:f.txt").splitlines()[5])
            after = self.snapshot()
            server.ok("git_undo", {"steps": steps})
            self.assertEqual(self.snapshot(), stopped, tool)
            self.assertTrue(self.waits())
            server.ok("git_undo", {"steps": -1})
            self.assertEqual(self.snapshot(), after, tool)
            self.assertFalse(self.waits())
            server.ok("git_undo", {"steps": steps + 1})
            self.assertEqual(self.snapshot(), before, tool)
            self.assertFalse(self.waits())

    def test_undo(self):
        """the stop undone, and done again"""
        for tool, server, before in self.each():
            stopped = self.snapshot()
            server.ok("git_undo")
            self.assertEqual(self.snapshot(), before, tool)
            self.assertFalse(self.waits())
            server.ok("git_undo", {"steps": -1})
            self.assertEqual(self.snapshot(), stopped, tool)
            self.assertTrue(self.waits())
            server.ok("git_conflicts", {"action": "abort"})
            self.assertEqual(self.snapshot(), before, tool)

    def test_skip(self):
        """the commits left out"""
        for tool, arguments in self.verbs()[:3]:
            self.anew()
            server = self.server()
            self.stop(server, tool, arguments)
            text = "stopped again"
            while "stopped again" in text:
                text = server.ok("git_conflicts", {"action": "skip"}).text
            self.assertIn("are back", text)
            self.is_back("main" if tool == "git_rebase" else "topic")

    def forget(self):
        """All that git can forget."""
        oid = (self.root / ".git" / FILE).read_text().strip() if self.waits() else "HEAD~9"
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        self.assertTrue(self.git("cat-file", "-e", oid, check=False).returncode)

    def test_gc(self):
        """nothing that git forgets is lost: what waits comes from the store"""
        for tool, server, before in self.each():
            self.forget()
            self.assertIn("wait", server.ok("git_status").text)
            if tool in ("git_cherry_pick", "git_revert"):
                server.ok("git_undo")
                self.assertEqual(self.snapshot(), before, tool)
                self.forget()
                server.ok("git_undo", {"steps": -1})
                self.assertTrue(self.waits())
                self.forget()
            if tool in ("git_merge", "git_rebase"):
                self.go_on(server, tool)
                self.assertEqual(self.out("status", "--porcelain"), STATUS)
                server.ok("git_undo")
                self.assertTrue(self.waits())
            server.ok("git_conflicts", {"action": "abort"})
            self.assertEqual(self.out("status", "--porcelain"), STATUS, tool)

    def test_plain_git(self):
        """git itself ends it: git_status says what waits, and continue brings it back"""
        self.anew()
        before = self.snapshot()
        server = self.server()
        self.stop(server, "git_rebase", {"onto": "main"})
        self.git("rebase", "--abort")
        self.assertIn("git_conflicts with action continue", server.ok("git_status").text)
        self.assertIn("uncommitted changes wait", server.ok("git_tag", {"action": "create",
                                                                        "name": "t"}).text)
        self.git("tag", "-d", "t")
        self.assertIn("are back", server.ok("git_conflicts", {"action": "continue"}).text)
        self.assertEqual(self.snapshot(), before)
        server.ok("git_undo")
        self.assertTrue(self.waits())

    def test_another(self):
        """nothing else is put aside while something waits"""
        self.anew()
        server = self.server()
        self.stop(server, "git_merge", {"branch": "main"})
        self.git("merge", "--abort")
        self.write("edited.txt", "once more\n")
        self.git("add", "edited.txt")
        before = self.snapshot()
        failed = server.call("git_rebase", {"onto": "main"})
        self.assertTrue(failed.failed)
        self.assertIn("git_conflicts with action continue", failed.text)
        self.assertEqual(self.snapshot(), before)

    def test_meanwhile(self):
        """what a user changed while it was stopped stays, staged or not, and is merged"""
        self.anew()
        server = self.server()
        self.stop(server, "git_cherry_pick", {"commits": ["main"]})
        self.write("f.txt", text_with(at5="both", at12="user"))
        self.write("later.txt", "later\n")
        server.ok("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "disk",
                                    "continue": True})
        self.assertEqual((self.root / "f.txt").read_text(),
                         text_with(at5="both", at12="user", at30="staged", at38="not"))
        self.anew()
        server = self.server()
        self.stop(server, "git_merge", {"branch": "main"})
        self.git("merge", "--abort")
        self.write("f.txt", text_with(at5="topic", at12="user"))
        self.write("staged.txt", "staged\n")
        self.git("add", "staged.txt")
        server.ok("git_conflicts", {"action": "continue"})
        self.assertEqual(self.out("status", "--porcelain"),
                         STATUS.replace("?? ", "A  staged.txt\n?? "))
        self.assertEqual((self.root / "f.txt").read_text(),
                         text_with(at5="topic", at12="user", at30="staged", at38="not"))

    def test_conflict(self):
        """what conflicts at the end becomes a stash entry, and nothing is written over"""
        for tool, server, _ in self.each():
            text = "stopped again"
            while "stopped again" in text:
                self.write("f.txt", text_with(at5="both", at30="theirs"))
                text = server.ok("git_conflicts", {"action": "resolve", "take": "disk",
                                                   "continue": True}).text
            self.assertIn("'f.txt'", text, tool)
            self.assertIn("git_stash", text)
            self.assertEqual(self.out("status", "--porcelain"), "?? untracked.txt\n")
            self.assertEqual((self.root / "f.txt").read_text(), text_with(at5="both", at30="theirs"))
            self.assertEqual(self.out("stash", "list").count("\n"), 1)
            self.assertFalse(self.waits())
            self.assertIn("1 entry", server.ok("git_stash", {"action": "list"}).text
                          + server.ok("git_status").text)
            self.assertEqual(self.out("show", "stash@{0}:both.txt"), "staged\nnot staged\n")
            self.assertIn("with conflicts; the entry stays",
                          server.ok("git_stash", {"action": "pop"}).text)
            self.assertIn("UU f.txt\n", self.out("status", "--porcelain"))
            server.ok("git_undo", {"steps": 2})
            self.assertTrue(self.waits())
            self.assertEqual(self.out("stash", "list"), "")

    def test_in_the_way(self):
        """an untracked file where a waiting one was: not written over"""
        self.anew()
        server = self.server()
        self.stop(server, "git_merge", {"branch": "main"})
        self.write("new.txt", "the user's\n")
        text = server.ok("git_conflicts", {"action": "abort"}).text
        self.assertIn("new.txt", text)
        self.assertEqual((self.root / "new.txt").read_text(), "the user's\n")
        self.assertEqual(self.out("show", "stash@{0}:new.txt"), "new\n")

    def test_untracked_lost(self):
        """not put aside where an untracked file is in the place of a file of HEAD"""
        for ignored in (False, True):
            for place in ("gone.txt/inside", "removed.txt"):
                self.anew()
                self.write(place, "the user's\n")
                if ignored:
                    (self.root / ".git/info/exclude").write_text(f"/{place}\n")
                before = self.snapshot()
                failed = self.server().call("git_merge", {"branch": "main"})
                self.assertTrue(failed.failed, place)
                self.assertIn(place.partition("/")[0], failed.text)
                self.assertEqual(self.snapshot(), before)
                self.assertEqual((self.root / place).read_text(), "the user's\n")

    def test_ignored_in_the_way(self):
        """an ignored file that the merge would write over: nothing happens, nothing waits"""
        self.git("checkout", "-q", "main")
        self.commit("ignored.txt", "tracked\n", "tracks it")
        self.git("checkout", "-q", "topic")
        (self.root / ".git/info/exclude").write_text("/ignored.txt\n")
        for tool, arguments in (("git_merge", {"branch": "main"}), ("git_rebase", {"onto": "main"}),
                                ("git_merge", {"branch": "main", "squash": True})):
            self.anew()
            self.write("ignored.txt", "the user's\n")
            before = self.snapshot()
            failed = self.server().call(tool, arguments)
            self.assertIn("'ignored.txt'", failed.text, tool)
            self.assertEqual(self.snapshot(), before, tool)
            self.assertFalse(self.waits())

    def test_line_endings(self):
        """what would not come back byte for byte does not wait; what does, does"""
        self.commit(".gitattributes", "*.txt text\n*.bat text eol=crlf\n", "attributes")
        for name, dirty, waits in (("a.txt", "a\r\n", False), ("b.txt", "b\r\nb\n", False),
                                   ("c.bat", "c\n", False), ("d.txt", "d\n", True),
                                   ("e.bat", "e\r\n", True), ("f.bin", "f\r\nf\n", True)):
            self.git("reset", "-q", "--hard")
            self.git("checkout", "-q", "-b", f"at-{name}")
            self.commit(name, "committed\n", name)
            (self.root / name).write_bytes(dirty.encode())
            server = self.server()
            result = server.call("git_rebase", {"onto": "main"})
            self.assertEqual((result.failed, self.waits()), (not waits, waits), (name, result))
            if waits:
                server.ok("git_conflicts", {"action": "abort"})
            else:
                self.assertIn("line endings", result.text)
            self.assertEqual((self.root / name).read_bytes(), dirty.encode())
            self.assertFalse(self.waits())

    def test_left_alone(self):
        """what git leaves alone stays where it is"""
        for tool, arguments in self.verbs()[1:5]:
            self.anew()
            self.git("reset", "-q", "--hard")
            (self.root / "untracked.txt").unlink()
            self.write("edited.txt", "edited\n")
            server = self.server()
            self.assertNotIn("wait", server.ok(tool, arguments).text)
            self.assertEqual((self.root / "edited.txt").read_text(), "edited\n")
            self.assertFalse(self.waits())
            server.ok("git_conflicts", {"action": "abort"})
            self.assertEqual(self.out("status", "--porcelain"), " M edited.txt\n", tool)
            self.write("f.txt", text_with(at5="topic", at38="not"))
            self.assertIn("of 2 files wait", server.ok(tool, arguments).text)
            server.ok("git_conflicts", {"action": "abort"})
            self.assertEqual(self.out("status", "--porcelain"), " M edited.txt\n M f.txt\n", tool)

    def test_not_in_progress(self):
        """a squash and a pick without a commit: continue brings them back"""
        for tool, arguments in (("git_merge", {"branch": "main", "squash": True}),
                                ("git_cherry_pick", {"commits": ["main"], "no_commit": True})):
            self.anew()
            server = self.server()
            self.stop(server, tool, arguments)
            failed = server.call("git_conflicts", {"action": "continue"})
            self.assertTrue(failed.failed, failed)
            server.ok("git_conflicts", {"action": "resolve", "take": "theirs"})
            text = server.ok("git_commit", {"message": "All"}).text
            self.assertIn("uncommitted changes wait", text)
            server.ok("git_conflicts", {"action": "continue"})
            self.is_back("main")

    def test_committed(self):
        """git_commit concludes a merge, and continue brings back what waited"""
        self.anew()
        server = self.server()
        self.stop(server, "git_merge", {"branch": "main"})
        server.ok("git_conflicts", {"action": "resolve", "take": "theirs"})
        text = server.ok("git_commit", {"message": "m"}).text
        self.assertIn("uncommitted changes wait", text)
        self.assertIn("Uncommitted changes of 7 files wait: git_conflicts with action continue",
                      text)
        self.assertIn("continue", server.call("git_conflicts", {"action": "abort"}).text)
        server.ok("git_conflicts", {"action": "continue"})
        self.is_back("main")

    def test_intended(self):
        """a file that is only intended to be added cannot wait: nothing happens"""
        self.anew()
        self.write("later.txt", "later\n")
        self.git("add", "-N", "later.txt")
        before = self.snapshot()
        for tool, arguments in self.verbs():
            failed = self.server().call(tool, arguments)
            self.assertIn("only intended to be added", failed.text, tool)
            self.assertEqual(self.out("status", "--porcelain"),
                             STATUS.replace("A  new", " A later.txt\nA  new"))
            self.assertFalse(self.waits())
        self.assertEqual(self.snapshot(), before)

    def test_other_toolset(self):
        """the others refuse, as before"""
        self.anew()
        before = self.snapshot()
        failed = harness.Case.call(self, "git_merge", {"branch": "main"}, "--toolset", "workflow")
        self.assertTrue(failed.failed)
        self.assertEqual(self.snapshot(), before)

    def test_gone(self):
        """a note that names nothing is said, and nothing else happens"""
        self.anew()
        server = self.server()
        (self.root / ".git" / FILE).write_text("1" * 40 + "\n")
        before = self.snapshot()
        self.assertIn("Uncommitted changes wait: ", server.ok("git_status").text)
        failed = server.call("git_conflicts", {"action": "continue"})
        self.assertIn(FILE, failed.text)
        self.assertEqual(self.snapshot(), before)
        (self.root / ".git" / FILE).write_text("no id\n")
        self.assertIn("nothing to continue",
                      server.call("git_conflicts", {"action": "continue"}).text)


if __name__ == "__main__":
    harness.main()
