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


class Pulled(killed.Killed):
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
        return {str(path.relative_to(self.workspace)): path.read_text(encoding="utf-8")
                for path in self.workspace.rglob("*") if path.is_file()
                and not path.name.startswith(".airlock-")}

    def test_pull(self):
        """git_pull killed at its steps: all or nothing, and the next pull completes it"""
        self.keep()
        outcomes = set()

        def check():
            changed = {entry["path"].removeprefix("/workspace/")
                       for entry in self.use("git_status", {})["unstaged"]
                       if "/.airlock-" not in entry["path"]}  # what was being written
            self.assertEqual(changed, {"merged", "conflict"})
            done = self.content() == self.after
            self.assertEqual(self.content(), self.after if done else self.before)
            outcomes.add(done)
            if not done:
                self.assertEqual(self.use("git_pull", self.arguments)["conflicts"], ["conflict"])
            self.assertEqual(self.content(), self.after)
            self.assertEqual(self.use("git_pull", self.arguments), {"pulled": [], "conflicts": []})
            [store] = (self.home / ".local/state/airlock/staging").iterdir()
            self.assertEqual(list((store / "sandboxes").glob("*.pull")), [])

        words = ("call", "--json", "--root", str(self.root), *self.options, "git_pull",
                 json.dumps(self.arguments))
        self.walk(words, check)
        self.assertIn(False, outcomes)


if __name__ == "__main__":
    harness.main()
