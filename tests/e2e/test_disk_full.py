#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The disk of the state directory is full: what was not saved is not lost, and airlock says why."""
import os
import shutil
import subprocess

import harness

SCRIPT = """
mount -t tmpfs -o size=3m tmpfs "$1" || exit 77
shift
"$@"
"""


class DiskFull(harness.Case):
    def setUp(self):
        super().setUp()
        if not shutil.which("unshare") or "ASAN_OPTIONS" in os.environ:
            self.skipTest("needs unshare, and less memory than a sanitizer takes")
        self.init()
        self.state = self.base / "state"
        self.state.mkdir()
        self.env["XDG_STATE_HOME"] = str(self.state)

    def run_on_small_disk(self, script):
        """What a script prints, in which $A is airlock and the state directory holds 3 MiB."""
        user = [] if os.geteuid() == 0 else ["--map-root-user"]
        done = subprocess.run(["unshare", *user, "--mount", "sh", "-c", SCRIPT, "sh",
                               str(self.state), "sh", "-c", script], cwd=self.root,
                              env=self.env | {"A": harness.AIRLOCK}, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                              text=True, timeout=harness.WATCHDOG_SECONDS)
        if done.returncode == 77:
            self.skipTest("no file system can be mounted here")
        return done.stdout

    def test_full(self):
        """the call is refused with what helps, doctor sees it, and half a pack does not stay"""
        self.write("a.txt", "two\n")
        (self.root / "large").write_bytes(os.urandom(8 << 20))
        restore = "$A call --toolset everyday --approval allow git_restore '{\"paths\": [\"a.txt\"]}'; echo $?; "
        shown = self.run_on_small_disk(restore + "$A doctor; find $XDG_STATE_HOME -name 'tmp_*'; "
                                       "rm large; echo again; cat a.txt; " + restore)
        first, second = shown.split("again\n")
        self.assertIn("No checkpoint can be taken", first)
        self.assertIn("see airlock doctor", first)
        self.assertNotIn("turn checkpoints on", first)
        self.assertRegex(first, "(?m)^(warning|missing) +disk +[0-9]+ MiB and")
        self.assertNotIn("tmp_", first.split("disk  ")[1])
        self.assertTrue(second.startswith("two\n"), second)
        self.assertTrue(second.endswith("\n0\n"), second)


if __name__ == "__main__":
    harness.main()
