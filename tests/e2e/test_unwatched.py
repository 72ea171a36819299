#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A kernel that lets nobody listen to git makes airlock say so, or refuse to work."""
import ctypes
import json
import platform
import struct
import subprocess

import harness

LIBC = ctypes.CDLL(None, use_errno=True)
SYS_SECCOMP = {"x86_64": 317, "aarch64": 277}.get(platform.machine())
SAID = ("airlock: warning: git cannot be watched here: what somebody saves while a call discards "
        "files can be lost\n")


class Program(ctypes.Structure):  # struct sock_fprog
    _fields_ = [("len", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


ROWS = [(0x20, 0, 0, 0),                   # the number
        (0x15, 0, 3, SYS_SECCOMP or 0),
        (0x20, 0, 0, 24),                  # the second argument
        (0x45, 0, 1, 8),                   # SECCOMP_FILTER_FLAG_NEW_LISTENER
        (0x06, 0, 0, 0x00050000 | 16),     # EBUSY
        (0x06, 0, 0, 0x7fff0000)]          # allowed
CODE = b"".join(struct.pack("=HBBI", *row) for row in ROWS)
FILTER = Program(len(ROWS), CODE)


def refuse_listeners():
    """For a child: as if another program listened already."""
    if LIBC.prctl(38, 1, 0, 0, 0) or LIBC.prctl(22, 2, ctypes.byref(FILTER)):
        raise OSError(ctypes.get_errno(), "no filter")


class Unwatched(harness.Case):
    def setUp(self):
        super().setUp()
        if not SYS_SECCOMP:
            self.skipTest("another machine")
        self.init()
        self.write("a.txt", "changed\n")

    def run_it(self, *words):
        """The program where nobody may listen."""
        return subprocess.run([harness.AIRLOCK, *words], env=self.env, cwd=self.root, text=True,
                              capture_output=True, check=False, stdin=subprocess.DEVNULL,
                              timeout=harness.WATCHDOG_SECONDS, preexec_fn=refuse_listeners)

    def restore(self, *words):
        return self.run_it("call", "--approval", "allow", *words, "git_restore", "paths=a.txt")

    def required(self):
        return ("--config", str(self.write("required.toml", "[tools.sandbox]\n"
                                           "require_confinement = true\n", self.base)))

    def doctor(self, *words):
        done = self.run_it("doctor", "--json", *words)
        [found] = [entry for entry in json.loads(done.stdout) if entry["check"] == "watching"]
        return found, done

    def test_said(self):
        """it is said once on standard error and by doctor, and calls work"""
        done = self.restore()
        self.assertEqual((done.returncode, done.stderr.count(SAID)), (0, 1), done)
        self.assertNotEqual((self.root / "a.txt").read_text(), "changed\n")
        found, done = self.doctor()
        self.assertEqual((found["level"], done.returncode), ("warning", 0))
        self.assertIn("ptrace_scope", found["fix"])

    def test_required(self):
        """require_confinement refuses it, before anything is touched"""
        done = self.restore(*self.required())
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("git cannot be watched here and require_confinement is set", done.stderr)
        self.assertEqual((self.root / "a.txt").read_text(), "changed\n")
        found, done = self.doctor(*self.required())
        self.assertEqual((found["level"], done.returncode), ("missing", 1))


if __name__ == "__main__":
    harness.main()
