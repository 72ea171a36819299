#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The words of terminal commands when there is nothing, or when an option means nothing."""
import subprocess

import harness


class Case(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()

    def run_it(self, *words):
        return subprocess.run(self.launch([harness.AIRLOCK, *words]), cwd=self.root, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=harness.WATCHDOG_SECONDS, check=False)

    def change(self, name):
        self.write(name, "x\n")
        self.ok("git_add", {"paths": [name]}, "--toolset", "everyday")


class Options(Case):
    def test_refused(self):
        """an option that means nothing to a command is refused"""
        for words in (("rollback", "--grant", "g"), ("rollback", "--toolset", "git"),
                      ("rollback", "-v"), ("rollback", "--no-git"), ("diff", "--approval", "allow"),
                      ("diff", "--worker", "w"), ("diff", "--tool", "all"),
                      ("diff", "--command-timeout", "3"), ("doctor", "--agent", "a"),
                      ("tools", "--agent", "a")):
            done = self.run_it(*words)
            self.assertEqual((done.returncode, done.stdout), (2, ""), (words, done))
            self.assertIn(f"{words[1]} means nothing to airlock {words[0]}", done.stderr)
            self.assertNotIn(f"  {words[1]} ", self.run_it(words[0], "--help").stdout, words)
        self.assertEqual(self.run_it("version", "--toolset", "git").returncode, 2)

    def test_taken(self):
        """one that has a meaning is not"""
        self.change("b")
        for words in (("rollback", "--agent", "a", "--dry-run"), ("diff", "--agent", "a"),
                      ("tools", "--toolset", "git"), ("doctor", "--toolset", "git"),
                      ("policy", "explain", "--agent", "a", "git_status"),
                      ("call", "--agent", "a", "git_status"), ("version",)):
            self.assertNotIn("means nothing", self.run_it(*words).stderr, words)

    def test_doctor(self):
        """doctor says which option is wrong, and not that the file is"""
        for option, word in (("--toolset", "nope"), ("--grant", "nope"), ("--approval", "nope")):
            done = self.run_it("doctor", option, word)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(f"Give {option} ", done.stdout)
            self.assertNotIn("Correct the file", done.stdout)
        config = self.write("c.toml", 'toolsets = ["nope"]\n', self.home)
        self.assertIn("Correct the file", self.run_it("doctor", "--config", str(config)).stdout)


class Nothing(Case):
    def test_log(self):
        """airlock log says that nothing matches"""
        self.change("b")
        for words in (("--agent", "nobody"), ("--tool", "git_push"), ("--since", "2100-01-01")):
            done = self.run_it("log", *words)
            self.assertEqual((done.returncode, done.stdout), (0, ""), done)
            self.assertIn("nothing matches", done.stderr)
        self.assertEqual(self.run_it("log").stderr, "")

    def test_diff(self):
        """airlock diff does not speak of going back"""
        self.change("b")
        for words, line in ((("3",), "only 1 execution changed something in this repository"),
                            (("--agent", "nobody"),
                             "no execution of agent nobody changed something in this repository")):
            done = self.run_it("diff", *words)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn(line, done.stderr)
            self.assertNotIn("rolled back", done.stderr)


class Rollback(Case):
    def test_names(self):
        """airlock rollback names the executions it is about, and only those"""
        self.change("b")
        self.change("c")
        self.change("d")
        for words in (("--dry-run",), ()):
            text = self.run_it("rollback", *words, "2").stdout
            self.assertIn(" execution: git_add: Stage d\n execution: git_add: Stage c\n", text)
            self.assertNotIn("Stage b", text)


if __name__ == "__main__":
    harness.main()
