#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A pull that is killed, wherever that is: the sandbox has all of it or nothing.

Run as killed.py says.
"""
import json

import harness
import killed
import staging

LINES = [f"{i}\n" for i in range(5)]


class Workspace(killed.Killed):
    """A sandbox in a directory, and a repository to pull from."""

    def setUp(self):
        super().setUp()
        self.workspace = self.base / "workspace"
        config = self.base / "config.toml"
        config.write_text('[staging]\nbackend = "directory"\n'
                          f'path = "{self.workspace}"\n', encoding="utf-8")
        self.options = (*staging.TOOLSETS, "--config", str(config))
        self.proj = self.root / "proj"
        self.init(self.proj)
        self.arguments = {"source": {"type": "local", "path": "proj"}, "paths": ["."]}
        self.words = ("call", "--json", "--root", str(self.root), *self.options, "git_pull",
                      json.dumps(self.arguments))

    def upstream(self, files):
        for name, content in files.items():
            self.write(name, content, self.proj)
        self.git("add", "-A", cwd=self.proj)
        self.git("commit", "-q", "-m", "x", cwd=self.proj)

    def use(self, tool, arguments):
        """A call of the toolset that must work."""
        return self.ok(tool, arguments, *self.options).value.get("structuredContent")

    def content(self):
        """Every file of the sandbox."""
        paths = (path.relative_to(self.workspace) for path in self.workspace.rglob("*"))
        return {str(path): (self.workspace / path).read_text(encoding="utf-8") for path in paths
                if (self.workspace / path).is_file() and not any(part.startswith(".airlock-")
                                                          for part in path.parts)}

    def changed(self):
        """The paths that git_status names."""
        return {entry["path"].removeprefix("/workspace/")
                for entry in self.use("git_status", {})["unstaged"]
                if "/.airlock-" not in entry["path"]}  # what was being written

    def assert_no_record(self):
        """No pull is left to be taken back."""
        [store] = (self.home / ".local/state/airlock/staging").iterdir()
        self.assertEqual(list((store / "store.git/refs/pull").glob("*")), [])


class First(Workspace):
    """The first pull, into a directory that has another file."""

    def setUp(self):
        super().setUp()
        new = {"b": "two\n", "d/e/large": "large\n" * 40000, "d/e/same": "one\n", "z": "z\n"}
        self.upstream(new)
        self.write("own", "own\n", self.workspace)
        self.before = self.content()
        self.after = {**self.before, **new, "a.txt": "one\n"}

    def test_pull(self):
        """the first git_pull killed at its steps: all or nothing, and the next one completes it"""
        self.keep()
        outcomes = set()

        def check():
            self.assertEqual(self.changed(), {"own"})
            done = self.content() == self.after
            self.assertEqual(self.content(), self.after if done else self.before)
            outcomes.add(done)
            if not done:
                self.assertEqual(set(self.use("git_pull", self.arguments)["pulled"]),
                                 set(self.after) - set(self.before))
            self.assertEqual(self.content(), self.after)
            self.assertEqual(self.use("git_pull", self.arguments), {"pulled": [], "conflicts": []})
            self.assert_no_record()

        self.walk(self.words, check)
        self.assertIn(False, outcomes)

    def appears(self, path, condition=":"):
        """A program that creates this file, if the condition holds and nothing is there."""
        program = self.base.parent / f"{self.base.name}.appears"
        self.addCleanup(program.unlink, missing_ok=True)
        program.write_text(f"#!/bin/sh\n{condition} || exit 0\nmkdir -p {path.parent}; set -C\n"
                           f"{{ echo mine >{path}; }} 2>/dev/null && echo made >&2\n",
                           encoding="utf-8")
        program.chmod(0o755)
        return program

    def check_in_the_way(self, step):
        """A pull at whose step d/e/same appears.  Whether it failed, and whether it appeared."""
        self.reset()
        done = self.step(step, *self.words)
        content, is_there = self.content(), "made" in done.stderr
        if done.returncode:
            self.assertRegex(done.stdout, "(created|changed) meanwhile")
            self.assertEqual(content, {**self.before, "d/e/same": "mine\n"})
            self.assertEqual(self.changed(), {"own", "d/e/same"})
        else:
            self.assertEqual({**content, "d/e/same": "one\n"}, self.after)
        self.assertEqual("mine\n" in content["d/e/same"], is_there, (step, content))
        self.assert_no_record()
        return bool(done.returncode), is_there

    def test_in_the_way(self):
        """a file that appears while a pull runs stays, and the pull brings all or nothing"""
        self.keep()
        appears = self.appears(self.workspace / "d/e/same")
        outcomes = {self.check_in_the_way(f"{number}:{appears}") for number in range(1, 20)}
        self.assertLessEqual({(False, True), (False, False)}, outcomes)

    def test_in_the_way_decided(self):
        """a file that appears when it is decided what is pulled lets the pull fail"""
        self.keep()
        # How many children there are before depends on how long ago files were changed.
        appears = self.appears(self.workspace / "d/e/same",
                               f"ls {self.home}/.local/state/airlock/staging/*/store.git/refs/"
                               "pull/* >/dev/null 2>&1")
        self.assertEqual(self.check_in_the_way(f"0:{appears}"), (True, True))


class Later(Workspace):
    """A pull that merges and removes."""

    def setUp(self):
        super().setUp()
        self.upstream({"merged": "".join(LINES), "gone": "x\n", "dir/x": "x\n", "conflict": "x\n"})
        self.use("git_pull", self.arguments)
        self.write("merged", "".join(["ours\n", *LINES[1:]]), self.workspace)
        self.write("conflict", "ours\n", self.workspace)
        self.before = self.content()
        (self.proj / "gone").unlink()
        (self.proj / "dir/x").unlink()
        (self.proj / "dir").rmdir()
        self.upstream({"a.txt": "two\n", "merged": "".join([*LINES[:4], "theirs\n"]),
                       "new": "n\n", "dir": "d\n", "conflict": "theirs\n"})
        self.after = {**self.before, "a.txt": "two\n", "new": "n\n", "dir": "d\n",
                      "merged": "".join(["ours\n", *LINES[1:4], "theirs\n"]),
                      "conflict": "<<<<<<< ours (sandbox)\nours\n=======\ntheirs\n"
                                  ">>>>>>> theirs (incoming)\n"}
        del self.after["gone"], self.after["dir/x"]

    def test_pull(self):
        """git_pull killed at its steps: all or nothing, and the next pull completes it"""
        self.keep()
        outcomes = set()

        def check():
            self.assertEqual(self.changed(), {"merged", "conflict"})
            done = self.content() == self.after
            self.assertEqual(self.content(), self.after if done else self.before)
            outcomes.add(done)
            if not done:
                self.assertEqual(self.use("git_pull", self.arguments)["conflicts"], ["conflict"])
            self.assertEqual(self.content(), self.after)
            self.assertEqual(self.use("git_pull", self.arguments), {"pulled": [], "conflicts": []})
            self.assert_no_record()

        self.walk(self.words, check)
        self.assertIn(False, outcomes)


if __name__ == "__main__":
    harness.main()
