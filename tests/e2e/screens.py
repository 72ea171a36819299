# SPDX-License-Identifier: Apache-2.0
"""The base of tests of the screen of `airlock review`."""
import codecs
import fcntl
import os
import pty
import select
import struct
import subprocess
import termios

import harness
import reviewing


# What the screen says to a key that decides and came too early.
EARLY = ("at once", "just now", "could be done yet")


class Screen:
    """`airlock review` on a terminal of its own; what it writes collects in `written`.

    `start` is the script of the session's first process: "$0" is the terminal, "$@" the command.
    """

    START = 'exec 3<>"$0"; exec 3>&-; exec "$@"'

    def __init__(self, case, rows=24, columns=80, start=START, words=(), **env):
        self.case, self.written = case, ""
        self.master, self.slave = pty.openpty()
        self.size(rows, columns)
        self.modes = termios.tcgetattr(self.slave)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        case.addCleanup(self.hang_up)
        self.process = subprocess.Popen(
            ["sh", "-c", start, os.ttyname(self.slave), harness.AIRLOCK, "review", *words],
            env=case.env | {"TERM": "xterm", "LC_ALL": "C.UTF-8"} | env, cwd=case.base,
            stdin=self.slave, stdout=self.slave, stderr=self.slave, start_new_session=True)
        case.addCleanup(self.process.wait)
        case.addCleanup(self.process.kill)

    def hang_up(self):
        """The terminal goes away."""
        for end in (self.master, self.slave):
            if end >= 0:
                os.close(end)
        self.master = self.slave = -1

    def size(self, rows, columns):
        """Another size."""
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def until(self, text):
        """Wait for a text; what is written after it is kept for the next one."""
        while text not in self.written:
            if not select.select([self.master], [], [], harness.WATCHDOG_SECONDS)[0]:
                raise AssertionError(f"no {text!r} in {self.written!r}")
            self.written += self.decoder.decode(os.read(self.master, 65536))
        before, self.written = self.written.split(text, 1)
        return before + text

    def repeat(self, key, text):
        """A key again and again until a text is there: it goes to the end of what has come so far."""
        while text not in self.written:
            self.type(key)
            if select.select([self.master], [], [], 0.2)[0]:
                self.written += self.decoder.decode(os.read(self.master, 65536))
        self.until(text)

    def type(self, text):
        """Keys that come together."""
        os.write(self.master, text.encode())
        return self

    def insist(self, key, text):
        """A key that decides, again if it came before the screen was ready for it."""
        self.type(key)
        while text not in self.written:
            early = [words for words in EARLY if words in self.written]
            if early:
                # The same words again would not be written again: the screen has them.  Ctrl-L has it
                # write everything, without them.
                self.until(early[0])
                self.type("\f").until("airlock review")
                self.type(key)
            if not select.select([self.master], [], [], harness.WATCHDOG_SECONDS)[0]:
                raise AssertionError(f"no {text!r} in {self.written!r}")
            self.written += self.decoder.decode(os.read(self.master, 65536))
        self.until(text)

    def end(self, code=0):
        """The screen ends, and the terminal is as it was."""
        while self.process.poll() is None:
            if select.select([self.master], [], [], 0.05)[0]:
                self.written += self.decoder.decode(os.read(self.master, 65536))
        self.case.assertEqual(self.process.returncode, code, self.written)
        self.case.assertEqual(termios.tcgetattr(self.slave), self.modes)


class ScreenCase(reviewing.ReviewCase):
    """A call that waits, and screens that show it."""

    def begin(self, *words):
        """A call without a terminal, which waits for the screen; git_add of a.txt."""
        call = subprocess.Popen(
            [harness.AIRLOCK, "call", *(words or ("git_add", "paths=a.txt"))], cwd=self.root, env=self.env,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        self.addCleanup(call.communicate)
        self.addCleanup(call.kill)
        return call

    def asked(self, *words, **named):
        """A screen that shows a call that waits, and can be answered."""
        screen = Screen(self, **named)
        screen.until("No call waits")
        call = self.begin(*words)
        shown = screen.until("approve")
        return screen, call, shown
