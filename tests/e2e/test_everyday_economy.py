#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: a day's tasks need no more calls, bytes and questions than their budgets."""
import pathlib
import subprocess
import sys

import harness

ECONOMY = pathlib.Path(__file__).resolve().parents[2] / "bench/economy/economy.py"


class Economy(harness.Case):
    def test_budgets(self):
        """every task is done, the chores of history and the merge by sides within their budgets"""
        done = subprocess.run([sys.executable, ECONOMY, harness.AIRLOCK], capture_output=True,
                              text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for name in ("chores", "sides"):
            self.assertRegex(done.stdout, f"\n{name}: calls, bytes, questions: ")


if __name__ == "__main__":
    harness.main()
