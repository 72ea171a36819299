#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The screen of airlock review and its terminal: one that goes away, stops, rings, has no colours;
and what is more than a screen."""
import re
import signal
import subprocess

import harness
import screens

COLOUR = re.compile("\033\\[[0-9;]*3[1-7]m")
ONE_MEGABYTE = 1 << 20
COMMIT = ("git_commit", "type=fix", "message=say two")


class ReviewTerminal(screens.ScreenCase):
    def settings(self, lines):
        """[review] of the user's settings."""
        file = self.home / ".config/airlock/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text('toolsets = ["git"]\n[review]\n' + lines)

    def staged_by_call(self, root):
        """Stage a.txt in a repository without a question."""
        subprocess.run([harness.AIRLOCK, "call", "--approval", "allow", "git_add", "paths=a.txt"],
                       cwd=root, env=self.env, stdin=subprocess.DEVNULL, check=True,
                       stdout=subprocess.DEVNULL, timeout=harness.WATCHDOG_SECONDS)

    def test_terminal_gone(self):
        """a terminal that goes away ends the screen, and the call goes on waiting"""
        screen, call, _ = self.asked()
        screen.hang_up()
        self.assertEqual(screen.process.wait(harness.WATCHDOG_SECONDS), 128 + signal.SIGHUP)
        self.assertIsNone(call.poll())
        self.assertEqual(len(self.waiting()), 1)

    def test_terminal_gone_silently(self):
        """the same without the signal, which only the first process of a session gets"""
        note = self.base / "code"
        screen = screens.Screen(
            self, start='exec 3<>"$0"; exec 3>&-; trap "" HUP; "$@"; echo $? >"$NOTE"',
            NOTE=str(note))
        screen.until("No call waits")
        screen.hang_up()
        screen.process.wait(harness.WATCHDOG_SECONDS)
        self.assertEqual(note.read_text(), f"{128 + signal.SIGHUP}\n")

    def test_suspend(self):
        """Ctrl-Z gives the terminal back, and the screen comes again with what waits then"""
        screen = screens.Screen(
            self, start='exec 3<>"$0"; exec 3>&-; set -m; "$@"; stty -a; echo "left $?"; read go; fg')
        screen.until("No call waits")
        screen.type("\032")
        shown = screen.until("left 0")
        self.assertIn("\033[?2004l", shown)
        self.assertRegex(shown, r"[^-]icanon")
        self.assertRegex(shown, r"[^-]echo\b")
        call = self.begin()
        self.addCleanup(call.poll)
        screen.type("\r")
        self.assertIn("\033[?2004h", screen.until("approve"))
        screen.insist("a", "Question, answered")
        self.assertEqual(call.wait(harness.WATCHDOG_SECONDS), 0)
        screen.type("q").end()

    def test_bell(self):
        """[review] notify = "bell" rings for a question that comes, and nothing else does"""
        _, _, shown = self.asked()
        self.assertNotIn("\007", shown)
        self.review("reject", self.the_one()["id"])
        self.settings('notify = "bell"\n')
        screen = screens.Screen(self)
        self.assertNotIn("\007", screen.until("No call waits"))
        self.begin()
        screen.until("\007")
        self.review("reject", self.the_one()["id"])
        self.assertNotIn("\007", screen.until("no longer waits"))
        screen.type("q").end()
        self.assertNotIn("\007", screen.written)

    def test_colours(self):
        """NO_COLOR and a terminal without colours get none"""
        self.git("add", "a.txt")
        for env, coloured in (({}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "vt100"}, False)):
            screen, call, shown = self.asked(*COMMIT, rows=40, columns=100, **env)
            screen.type("q").end()
            self.assertEqual(bool(COLOUR.search(shown + screen.written)), coloured, env)
            call.kill()
            call.communicate()

    def test_always(self):
        """A covers what the question says: the next call of that session is not asked about"""
        server = harness.AskingServer(self)
        screen = screens.Screen(self)
        screen.until("No call waits")
        server.ask("git_add", {"paths": ["a.txt"]})
        self.assertEqual(server.receive()["method"], "elicitation/create")
        screen.until("A always")
        screen.insist("A", "Question, answered")
        self.assertEqual(server.receive()["method"], "notifications/cancelled")
        self.assertNotIn("error", server.receive())
        self.write("a.txt", "three\n")
        server.ok("git_add", {"paths": ["a.txt"]})
        self.assertEqual(self.record()["decision"], "always")
        other = harness.AskingServer(self)
        self.write("a.txt", "four\n")
        other.ask("git_add", {"paths": ["a.txt"]})
        self.assertEqual(other.receive()["method"], "elicitation/create")
        screen.until("A always")
        screen.type("q").end()

    def test_filter(self):
        """/ lists what has a text; Esc lists everything; c lists what changed something"""
        self.staged_by_call(self.root)
        subprocess.run([harness.AIRLOCK, "call", "git_status"], cwd=self.root, env=self.env,
                       stdin=subprocess.DEVNULL, check=True, stdout=subprocess.DEVNULL,
                       timeout=harness.WATCHDOG_SECONDS)
        screen = screens.Screen(self, rows=30, columns=120)
        screen.until("Stage 1 file(s)")
        screen.type("/").type("no such entry").until("Nothing")
        screen.type("\r").type("\033").until("Stage 1 file(s)")
        screen.type("q").end()

    def test_repository_of_any_name(self):
        """control characters in the path of a repository: preview and rollback find it"""
        root = self.base / "re\001po\nx \033[31m"
        root.mkdir()
        self.init(root)
        self.write("a.txt", "two\n", root)
        self.staged_by_call(root)
        screen = screens.Screen(self)
        screen.until("No call waits")
        screen.type("G").until("u roll back")
        screen.insist("u", "y roll back")
        screen.insist("y", "Rolled back")
        screen.type("q").end()
        self.assertNotIn("\001", screen.written)
        self.assertEqual(self.out("diff", "--cached", "--name-only", cwd=root), "")

    def test_long_line(self):
        """a line of 10 MB is shown as far as its end"""
        self.write("a.txt", "x" * 10 * ONE_MEGABYTE + "the end\n")
        self.git("add", "a.txt")
        screen, call, _ = self.asked(*COMMIT)
        screen.type("\t").repeat("G", "the end")
        self.assertIsNone(call.poll())
        screen.insist("a", "Question, answered")
        self.assertEqual(call.wait(harness.WATCHDOG_SECONDS), 0)
        screen.type("q").end()

    def test_many_files(self):
        """every file is counted and shown in full, also those beyond what a form has room for"""
        blob = self.git("hash-object", "-w", "--stdin", stdin=b"x\n").stdout.decode().strip()
        for count, counted in ((4999, "+4999"), (5000, "+5000"), (5001, "at least +5000")):
            self.git("update-index", "--index-info", stdin="".join(
                f"100644 {blob}\tnew/{number}.txt\n" for number in range(count)).encode())
            screen, call, _ = self.asked(*COMMIT)
            entry = self.the_one()
            self.assertIn(f"{count} files, {counted} -0, of which ", entry["text"])
            self.assertIn(f"{count - 200} more files", entry["text"])
            shown = self.review("show", entry["id"])
            self.assertIn(f"  {count} files, +{count} -0:\n", shown)
            self.assertEqual(shown.count("\n  diff --git"), count)
            self.assertEqual(shown.count("  added: new/"), count)
            screen.type("q").end()
            call.kill()
            call.communicate()


if __name__ == "__main__":
    harness.main()
