#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A push that is asked about on a terminal: the frame, its keys, and `airlock staging push`."""
import codecs
import fcntl
import os
import pty
import select
import struct
import termios
import unicodedata

import harness
import pushing


class Terminal:
    """A command of airlock on a terminal of so many columns."""

    def __init__(self, case, *words, columns=80):
        self.case, self.text, self.said = case, "", 0
        self.decoder = codecs.getincrementaldecoder("utf-8")()
        self.shown = ""
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
            os.chdir(case.root)
            os.execve(harness.AIRLOCK, [harness.AIRLOCK, *words],
                      case.env | {"NO_COLOR": "1", "TERM": "xterm"})

    def until(self, end):
        """Read until what follows the last word typed ends like this; None: to its end."""
        while end is None or not self.text[self.said:].endswith(end):
            if not select.select([self.fd], [], [], harness.WATCHDOG_SECONDS)[0]:
                raise AssertionError(f"no {end!r}: {self.text}")
            try:
                more = os.read(self.fd, 4096)
            except OSError:
                more = b""
            if not more:
                self.case.assertIsNone(end, self.text)
                break
            self.shown += self.decoder.decode(more)  # a read may end inside of a character
            self.text = self.shown.replace("\r\n", "\n")
        return self.text

    def say(self, line):
        """Type a line."""
        self.said = len(self.text)
        os.write(self.fd, line.encode() + b"\n")

    def end(self):
        """The exit code, once it has ended."""
        self.until(None)
        os.close(self.fd)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


class Frame(pushing.Pushing):
    """R1's box."""

    def columns(self, line):
        return sum(1 + (unicodedata.east_asian_width(c) == "W") for c in line)

    def frame(self, text):
        """The lines in the frame; all are equally wide and fit on the terminal."""
        lines = text[text.index("┌"):text.index("┘") + 1].split("\n")
        self.assertEqual({self.columns(line) for line in lines}, {len(lines[0])})
        self.assertLessEqual(len(lines[0]), 80)
        return "\n".join(line[1:-1].strip() for line in lines[1:-1])

    def test_frame(self):
        """the frame says what R1 wants, below the diff, and its keys work"""
        staged = self.stage({"é.md": "# Q4\n", "報告.md": "x\n", "dir/" + "x" * 90: "x\n"},
                            "Add quarterly report")
        terminal = Terminal(self, "staging", "push", staged[:8])
        text = terminal.until("> ")
        self.assertEqual(self.frame(text), "\n".join((
            "git_push", "", "Target: local:. (branch: main)",
            f'Commit: {staged[:8]} "Add quarterly report"',
            "Author: A U Thor <author@example.com>", "", "Files:",
            "+ dir/" + "x" * 67, "x" * 23 + " (2 B)", "+ é.md (5 B)", "+ 報告.md (2 B)", "",
            "[d]iff  [a]pprove  [r]eject  [?]help")))
        self.assertLess(text.index("  +# Q4"), text.index("┌"))
        terminal.say("?")
        self.assertIn("a, approve  push it, this once\n", terminal.until("> "))
        self.assertIn("\nAlso: o, once, y and yes for a; n and no for r.\n", terminal.text)
        terminal.say("maybe")
        self.assertIn("Please answer d, a, r or ?.\n", terminal.until("> "))
        terminal.say("d")
        self.assertEqual(terminal.until("> ").count("┌"), 2)
        terminal.say("r")
        terminal.until("none): ")
        terminal.say("Too long")
        self.assertEqual(terminal.end(), 3)
        self.assertIn("Rejected: Too long\n", terminal.text)
        self.assertEqual(self.head(), self.first)

    def test_approved(self):
        """'a' approves this one push, and the words name target and branch"""
        self.make_bare()
        staged = self.stage({"b.txt": "b\n"})
        terminal = Terminal(self, "staging", "push", "--target", "local-bare:bare.git",
                            "--branch=new", staged, columns=50)
        terminal.until("> ")
        terminal.say("a")
        self.assertEqual(terminal.end(), 0, terminal.text)
        self.assertIn(self.head("new", self.root / "bare.git"), terminal.text)

    def test_keys(self):
        """the keys of other questions answer this one as well"""
        for number, word in enumerate(("o", "once", "y", "yes", "approve", "A")):
            staged = self.stage({f"{number}.txt": "b\n"})
            terminal = Terminal(self, "staging", "push", staged)
            terminal.until("> ")
            terminal.say(word)
            self.assertEqual(terminal.end(), 0, terminal.text)
            self.assertIn(f"\nPushed as commit {self.head()}\n", terminal.text)
        for word in ("n", "no", "r", "reject"):
            terminal = Terminal(self, "staging", "push", self.stage({f"{word}.txt": "n\n"}))
            terminal.until("> ")
            terminal.say(word)
            terminal.until("none): ")
            terminal.say("")
            self.assertEqual(terminal.end(), 3)

    def test_default_target(self):
        """without words the default target of a worker file counts"""
        self.make_bare()
        self.write("w.md", "---\nname: w\ntoolsets:\n  staging:\n    default_target:\n"
                   "      {type: local-bare, path: bare.git, branch: side}\n---\n", self.base)
        staged = self.stage({"b.txt": "b\n"})
        for options in (("--worker", str(self.base / "w.md")), ()):
            terminal = Terminal(self, "staging", "push", staged, *options)
            text = terminal.until("> ")
            self.assertIn("Target: local-bare:bare.git (branch: side, new branch)" if options
                          else "Target: local:. (branch: main)", text)
            terminal.say("r")
            terminal.until("none): ")
            terminal.say("")
            self.assertEqual(terminal.end(), 3)

    def test_no_terminal(self):
        """without a terminal nothing is pushed; wrong words are a usage error"""
        staged = self.stage({"b.txt": "b\n"})
        for code, words in ((3, ("push", staged)), (2, ("push",)), (2, ("push", staged, "x")),
                            (2, ("push", staged, "--target", "nowhere")),
                            (2, ("push", staged, "--target")),
                            (2, ("show", staged, "--branch", "x")),
                            (1, ("push", staged, "--target", "gitlab:a/b"))):
            self.assertEqual(harness.subprocess.run(
                [harness.AIRLOCK, "staging", *words], cwd=self.root, env=self.env,
                stdin=harness.subprocess.DEVNULL, capture_output=True, start_new_session=True,
                check=False, timeout=harness.WATCHDOG_SECONDS).returncode, code, words)
        self.assertEqual(self.head(), self.first)


if __name__ == "__main__":
    harness.main()
