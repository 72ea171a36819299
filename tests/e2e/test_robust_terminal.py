#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A user at a terminal: what is shown before an approval, and which answers are one."""
import codecs
import os
import pty
import select
import signal
import subprocess

import harness

PROMPT = "[o]nce [r]eject [d]iff? "
HINT = "Please answer o, r, d or ?.\n"
REASON = "Reason (empty for none): "


class Terminal:
    """`airlock call` on a terminal of its own; what it shows collects in `screen`."""

    def __init__(self, case, tool, arguments, *options, **env):
        master, slave = pty.openpty()
        self.case, self.master, self.screen = case, master, ""
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        case.addCleanup(os.close, master)
        command = [harness.AIRLOCK, "call", *options, tool, harness.json.dumps(arguments)]
        # The slave becomes the controlling terminal by being opened first in a new session.
        self.process = subprocess.Popen(
            ["sh", "-c", 'exec 3<>"$0"; exec 3>&-; exec "$@"', os.ttyname(slave), *command],
            env=case.env | {"TERM": "xterm"} | env, cwd=case.root, stdin=slave, stdout=slave,
            stderr=slave, start_new_session=True)
        case.addCleanup(self.process.wait)
        case.addCleanup(self.process.kill)
        os.close(slave)

    def read(self):
        """More of the screen; False at the end."""
        if not select.select([self.master], [], [], harness.WATCHDOG_SECONDS)[0]:
            raise AssertionError(f"nothing more after {self.screen!r}")
        try:
            data = os.read(self.master, 65536)
        except OSError:
            data = b""
        # What is read may end between the bytes of a character, or of an end of line.
        self.screen = (self.screen + self.decoder.decode(data)).replace("\r\n", "\n")
        return bool(data)

    def asked(self):
        """What is shown up to the question."""
        while not self.screen.endswith(PROMPT):
            self.case.assertTrue(self.read(), self.screen)
        shown, self.screen = self.screen, ""
        return shown

    def answer(self, text):
        """Type it."""
        os.write(self.master, text.encode())
        return self

    def reject(self, reason="", no="r"):
        """Say no, and why."""
        self.answer(no + "\n")
        while not self.screen.endswith(REASON):
            self.case.assertTrue(self.read(), self.screen)
        return self.answer(reason + "\n")

    def end(self):
        """The exit code; the rest is on the screen."""
        while self.read():
            pass
        return self.process.wait()


class Approval(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.write("a.txt", "two\n")

    def staged(self):
        """What is staged."""
        return self.out("diff", "--cached", "--name-only").split()

    def add(self, **env):
        """git_add on a terminal."""
        return Terminal(self, "git_add", {"paths": ["a.txt"]}, **env)

    def test_add(self):
        """git_add shows what it will do, where, how risky that is, and why it asks"""
        terminal = self.add(NO_COLOR="1")
        self.assertEqual(terminal.asked(), f"\nStage 1 file(s): a.txt\nIn {self.root}, by git_add "
                                           "(add)\nWhy it asks: it changes what is staged\n"
                                           f"Risk: medium\n{PROMPT}")
        self.assertEqual(self.staged(), [])
        self.assertEqual(terminal.answer("o\n").end(), 0)
        self.assertEqual(terminal.screen, "o\nStaged 1 file(s)\n")
        self.assertEqual(self.staged(), ["a.txt"])

    def test_commit(self):
        """git_commit shows the summary, once, and the diff, in colours unless NO_COLOR is set"""
        self.git("add", "a.txt")
        message = {"type": "fix", "scope": "ui", "message": "say two"}
        plain = Terminal(self, "git_commit", message, NO_COLOR="1")
        shown = plain.asked()
        self.assertTrue(shown.startswith(
            f"\nCommit: fix(ui): say two\nIn {self.root}, by git_commit (commit)\n"
            "Why it asks: it changes what is staged, moves branches or tags\nRisk: medium\n"), shown)
        diff = "".join(f"  {line}\n" for line in
                       self.out("diff", "--cached", "--no-color").splitlines())
        self.assertIn(diff, shown)
        self.assertTrue(shown.endswith(f"{diff}\n{PROMPT}"), shown)
        self.assertEqual(shown.count("Commit: fix(ui): say two"), 1)
        self.assertNotIn("\033", shown)
        self.assertEqual(plain.reject().end(), 3)
        coloured = Terminal(self, "git_commit", message)
        shown = coloured.asked()
        self.assertIn("\033[1mCommit: fix(ui): say two\033[0m\n", shown)
        self.assertIn("  \033[31m-one\033[0m\n  \033[32m+two\033[0m\n", shown)
        self.assertEqual(coloured.answer("once\n").end(), 0)
        self.assertEqual(self.out("log", "-1", "--format=%s").strip(), "fix(ui): say two")

    def test_dumb_terminal(self):
        """a dumb terminal gets no colours"""
        self.assertNotIn("\033", self.add(TERM="dumb").asked())

    def test_yes(self):
        """o, y, a, and their whole words in any case approve"""
        for answer in ("o", "y", "a", "once", "yes", "Always", "YES", " O "):
            terminal = self.add()
            terminal.asked()
            self.assertEqual(terminal.answer(answer + "\n").end(), 0, answer)
            self.assertEqual(self.staged(), ["a.txt"])
            self.git("reset", "-q")

    def test_no(self):
        """r, no, and the end of input refuse, and nothing is done"""
        for answer in ("r", "reject", "n", "NO", "\x04"):
            terminal = self.add(NO_COLOR="1")
            terminal.asked()
            if answer == "\x04":
                terminal.answer(answer)
            else:
                terminal.reject(" ", answer)
            self.assertEqual(terminal.end(), 3, answer)
            self.assertIn("\nApprovalDenied: Not approved, and nothing was done: Stage 1 file",
                          terminal.screen)
            self.assertEqual(self.staged(), [])

    def test_reason(self):
        """a rejection asks for a reason, which the agent gets and the journal keeps"""
        terminal = self.add(NO_COLOR="1")
        terminal.asked()
        self.assertEqual(terminal.reject("not before\tthe release").end(), 3)
        self.assertIn(REASON, terminal.screen)
        self.assertTrue(terminal.screen.endswith(
            "\nApprovalDenied: Rejected: not before the release\n"), terminal.screen)
        self.assertEqual(self.staged(), [])
        record = self.record()
        self.assertEqual((record["outcome"], record["decision"]), ("declined", "rejected"))
        self.assertIn("Rejected: not before the release", str(record["result"]))

    def test_garbage(self):
        """anything else is no answer, also when it begins like one or is very long"""
        terminal = self.add()
        terminal.asked()
        for answer in ("", "x", "ye", "yess", "nope", "oops", "okay", "allow", "o r", "once more", "a" * 600,
                       "x" * 255 + "o", "x" * 256 + "o", "\u202eo"):
            self.assertTrue(terminal.answer(answer + "\n").asked().endswith(HINT + PROMPT))
        self.assertEqual(self.staged(), [])
        self.assertEqual(terminal.reject().end(), 3)

    def test_help(self):
        """? says what the keys do, those of the question about a push among them, and asks again"""
        for word in ("?", "help", "HELP"):
            terminal = self.add(NO_COLOR="1")
            terminal.asked()
            said = terminal.answer(word + "\n").asked()
            for line in ("o, once     allow this one call", "a, approve  the same",
                         "r, reject   do nothing; you can say why, and the agent reads it",
                         "d, diff     show all that would change",
                         "Also: y and yes for o; n and no for r."):
                self.assertIn(line + "\n", said)
            self.assertNotIn("always", said)
            self.assertEqual(self.staged(), [])
            self.assertEqual(terminal.answer("approve\n").end(), 0)
            self.assertEqual(self.staged(), ["a.txt"])
            self.git("reset", "-q")

    def test_diff_again(self):
        """d shows it all in the pager, and then asks again"""
        self.git("add", "a.txt")
        terminal = Terminal(self, "git_commit", {"type": "fix", "message": "m"}, NO_COLOR="1",
                            PAGER="sed s/^/pager:/")
        first = terminal.asked()
        again = terminal.answer("d\n").asked()
        paged = "".join(f"pager:{line}\n" for line in first.split("\n")[:-1])
        self.assertEqual(again, "d\n" + paged + first)
        self.assertEqual(terminal.answer("o\n").end(), 0)

    def test_typed_before(self):
        """what was typed before the question answers nothing"""
        terminal = self.add().answer("o\n")
        terminal.asked()
        self.assertEqual(self.staged(), [])
        self.assertEqual(terminal.reject().end(), 3)

    def test_interrupted(self):
        """Ctrl-C at either question cancels the call, nothing is done, and the exit code says so"""
        for before in ("", "r\n"):
            terminal = self.add(NO_COLOR="1")
            terminal.asked()
            terminal.answer(before)
            while before and not terminal.screen.endswith(REASON):
                self.assertTrue(terminal.read(), terminal.screen)
            terminal.answer("\x03")
            self.assertEqual(terminal.end(), 128 + signal.SIGINT)
            self.assertTrue(terminal.screen.endswith("\nCancelled\n"), terminal.screen)
            self.assertEqual(self.staged(), [])
            self.assertEqual(self.record()["outcome"], "cancelled")

    def test_hung_up(self):
        """a terminal that goes away approves nothing"""
        terminal = self.add()
        terminal.asked()
        terminal.process.send_signal(signal.SIGHUP)
        self.assertNotEqual(terminal.end(), 0)
        self.assertEqual(self.staged(), [])

    def test_not_asked(self):
        """what needs no approval, or was allowed or denied beforehand, is not asked"""
        for options, tool, code in (([], "git_status", 0), (["--approval", "allow"], "git_add", 0),
                                    (["--approval", "deny"], "git_add", 3)):
            arguments = {"paths": ["a.txt"]} if tool == "git_add" else {}
            terminal = Terminal(self, tool, arguments, *options)
            self.assertEqual(terminal.end(), code)
            self.assertNotIn(PROMPT, terminal.screen)

    def test_refused_before(self):
        """what is refused anyway is not asked"""
        terminal = Terminal(self, "git_add", {"paths": ["../x"]})
        self.assertEqual(terminal.end(), 1)
        self.assertTrue(terminal.screen.startswith(
            "SandboxViolation: Path outside sandbox: ../x\nA path must not contain '..'"))

    def test_nothing_is_hidden(self):
        """control characters in a diff are shown where they are"""
        self.write("a.txt", "ok();\033]0;evil();\007\nshow();\033[8mevil();\nevil();\rgood();\n")
        self.git("add", "a.txt")
        terminal = Terminal(self, "git_commit", {"type": "fix", "message": "m"}, NO_COLOR="1")
        shown = terminal.asked()
        self.assertIn("  +ok();<U+001B>]0;evil();<U+0007>\n", shown)
        self.assertIn("  +show();<U+001B>[8mevil();\n", shown)
        self.assertIn("  +evil();<U+000D>good();\n", shown)
        terminal.reject().end()
        self.assertIn("+ok();\n", self.ok("git_diff", {"cached": True}).text)

    def test_nothing_poses_as_ours(self):
        """a line of a diff cannot look like the question"""
        self.write("a.txt", f"\n{PROMPT}o\nStage 1 file(s): a.txt\n")
        self.git("add", "a.txt")
        terminal = Terminal(self, "git_commit", {"type": "fix", "message": "m"}, NO_COLOR="1")
        lines = terminal.asked().split("\n")
        self.assertEqual(lines[-2:], ["", PROMPT])
        for line in lines[5:-3]:
            self.assertTrue(line.startswith("  "), line)
        terminal.reject().end()

    def test_names_are_safe(self):
        """names of files and directories bring no control sequence to the screen"""
        where = self.root / "x\033]0;title\007y"
        self.init(where)
        name = "b\033[2J.txt"
        self.write(name, "b\n", where)
        terminal = Terminal(self, "git_add", {"working_dir": where.name, "paths": [name]},
                            NO_COLOR="1")
        self.assertNotIn("\033", terminal.asked())
        self.assertEqual(terminal.reject().end(), 3)
        self.assertNotIn("\033", terminal.screen)


if __name__ == "__main__":
    harness.main()
