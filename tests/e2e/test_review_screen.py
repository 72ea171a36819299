#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""airlock review on a terminal: a screen that shows what waits, and answers it."""
import os
import signal
import socket
import subprocess

import harness
import screens


class ReviewScreen(screens.ScreenCase):
    def test_approve(self):
        """a approves the call that is shown; q quits"""
        screen, call, shown = self.asked()
        self.assertIn("Stage 1 file(s): a.txt", shown)
        self.assertEqual(self.staged(), [])
        screen.insist("a", "Question, answered")
        self.assertEqual(call.wait(harness.WATCHDOG_SECONDS), 0)
        self.assertEqual(self.staged(), ["a.txt"])
        screen.type("q").end()

    def test_reject(self):
        """r asks for a reason, which the agent gets"""
        screen, call, _ = self.asked()
        # An "r" too many, of insist(), is text of the reason: Ctrl-U takes it away.
        screen.insist("r", "Reason")
        screen.type("\025").type("not before Monday\r")
        out, err = call.communicate(timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(call.returncode, 3)
        self.assertIn("Rejected: not before Monday", out + err)
        screen.type("q").end()

    def test_typed_together(self):
        """keys that come together answer nothing"""
        screen, call, _ = self.asked()
        screen.type("ja").until("Several keys")
        screen.type("\033[").type("A")
        self.assertEqual(len(self.waiting()), 1)
        self.assertIsNone(call.poll())
        screen.type("q").end()
        self.assertEqual(len(self.waiting()), 1)

    def test_paste(self):
        """what is pasted answers nothing, not in pieces either, and can be the text of a reason"""
        screen = screens.Screen(self)
        self.assertIn("\033[?2004h", screen.until("No call waits"))
        call = self.begin()
        screen.until("approve")
        screen.type("\033[200~").type("q")
        screen.until("Pasted text")
        screen.type("a").type("\033[201~").insist("r", "Reason")
        screen.type("\025").type("\033[200~see\rline 2 \033[201~").until("see line 2")
        self.assertIsNone(call.poll())
        screen.type("of it\r")
        out, err = call.communicate(timeout=harness.WATCHDOG_SECONDS)
        self.assertIn("Rejected: see line 2 of it", out + err)
        screen.type("q").end()
        self.assertIn("\033[?2004l", screen.written)

    def test_problem(self):
        """a process that cannot be asked is named at once, and no longer than it lives"""
        screen = screens.Screen(self)
        screen.until("No call waits")
        other = subprocess.Popen(["cat"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
        self.addCleanup(other.communicate)
        path = self.sockets / f"{other.pid}.sock"
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(str(path))
            listener.listen()
            connection = listener.accept()[0]
            with connection:
                connection.sendall(b"{}\n")
                screen.until("says what airlock review does not know")
        path.unlink()
        call = self.begin()
        shown = screen.until("r reject")
        self.assertNotIn("airlock review does not know", shown)
        screen.type("q").end()
        self.assertIsNone(call.poll())

    def test_typed_ahead(self):
        """the last one of many keys does not count as one that came alone"""
        for count in (64, 65, 128, 129):
            screen, call, _ = self.asked()
            screen.type(" " * (count - 1) + "a").until("Several keys")
            self.assertIsNone(call.poll())
            self.review("reject", self.the_one()["id"])
            self.assertEqual(call.wait(harness.WATCHDOG_SECONDS), 3)
            screen.type("q").end()

    def test_answered_elsewhere(self):
        """a question that another window answers vanishes, and the screen says so"""
        screen, call, _ = self.asked()
        screen.insist("r", "Reason")
        self.review("approve", self.the_one()["id"])
        screen.until("no longer waits")
        self.assertEqual(call.wait(harness.WATCHDOG_SECONDS), 0)
        screen.type("\r").type("q").end()

    def test_running(self):
        """a call that runs is shown without an end"""
        pipe = self.block_log()
        server = harness.Server(self)
        server.ask("git_log")
        self.hold(pipe)
        screen = screens.Screen(self)
        screen.until("1 runs")
        self.assertNotIn("ended", screen.type("j").until("process"))
        os.unlink(pipe)
        screen.type("q").end()

    def test_two_screens(self):
        """two screens show the same call; the first answer counts"""
        other = screens.Screen(self)
        other.until("No call waits")
        screen, call, _ = self.asked()
        other.until("approve")
        screen.insist("a", "Question, answered")
        other.until("no longer waits")
        self.assertEqual(call.wait(harness.WATCHDOG_SECONDS), 0)
        other.type("q").end()
        screen.type("q").end()

    def test_sizes(self):
        """a terminal may change its size, and one that is too small says so"""
        screen, call, _ = self.asked()
        screen.size(10, 40)
        screen.until("too small")
        screen.type("a")
        screen.size(100, 300)
        screen.until("approve")
        self.assertIsNone(call.poll())
        screen.type("q").end()

    def test_signals(self):
        """a signal ends the screen with the terminal as it was, and the call goes on waiting"""
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
            screen = screens.Screen(self)
            screen.until("airlock review")
            screen.process.send_signal(number)
            screen.end(128 + number)

    def test_rollback(self):
        """u shows what going back would change, y does it, Esc does not"""
        subprocess.run([harness.AIRLOCK, "call", "--approval", "allow", "git_add", "paths=a.txt"],
                       cwd=self.root, env=self.env, stdin=subprocess.DEVNULL, check=True,
                       stdout=subprocess.DEVNULL, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(self.staged(), ["a.txt"])
        screen = screens.Screen(self)
        screen.until("No call waits")
        screen.type("G").until("u roll back")
        screen.insist("u", "y roll back")
        screen.type("n").until("Nothing was rolled back")
        self.assertEqual(self.staged(), ["a.txt"])
        screen.insist("u", "y roll back")
        screen.insist("y", "Rolled back")
        self.assertEqual(self.staged(), [])
        screen.type("q").end()

    def test_hostile(self):
        """what a repository says does nothing to the terminal"""
        self.write("\033]0;x\007\u202eb\u0301\u0301\u0301\u0301.txt", "\033[31m\n")
        screen = screens.Screen(self)
        screen.until("No call waits")
        call = subprocess.Popen(
            [harness.AIRLOCK, "call", "git_add", '{"all": true}'], cwd=self.root, env=self.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True)
        self.addCleanup(call.wait)
        self.addCleanup(call.kill)
        shown = screen.until("approve")
        self.assertNotIn("\033]", shown)
        self.assertNotIn("\u202e", shown)
        self.assertNotIn("\007", shown)
        screen.type("q").end()

    def test_plain(self):
        """a dumb terminal, and --list, get plain lines"""
        # ncurses leaks what it had prepared when it does not know the terminal.
        leaks_off = {"ASAN_OPTIONS": os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"}
        for term in ("dumb", "", "no-such-terminal"):
            screen = screens.Screen(self, TERM=term, **leaks_off)
            screen.until("Nothing waits for an answer.")
            screen.end()


if __name__ == "__main__":
    harness.main()
