#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: what a repository configures is not run by the tools that change something, and no
approval is got around.

Each time plain git runs the planted program first.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import everyday  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position

#: settings, attributes, and what of plain git runs the program
PLANTED = (
    ({"diff.external": "{canary}"}, "", ("diff",)),
    ({"diff.x.command": "{canary}"}, "* diff=x", ("diff",)),
    ({"diff.x.textconv": "{canary}"}, "* diff=x", ("diff",)),
    ({"core.fsmonitor": "{canary}"}, "", ("status",)),
    ({"core.hooksPath": "{hooks}"}, "", ("commit", "--allow-empty", "-m", "control")),
    ({"core.hooksPath": "{hooks}"}, "", ("checkout", "-q", "main")),
)


class Planted(everyday.Case):
    def plant(self, settings, attributes):
        """A program that leaves a file behind."""
        canary, hooks = self.base / "canary.sh", self.base / "hooks"
        canary.write_text(f"#!/bin/sh\ntouch {self.base}/fired\n")
        canary.chmod(0o755)
        hooks.mkdir(exist_ok=True)
        for name in ("pre-commit", "commit-msg", "post-checkout", "post-index-change"):
            (hooks / name).write_text(f"#!/bin/sh\ntouch {self.base}/fired\n")
            (hooks / name).chmod(0o755)
        for key, value in settings.items():
            self.git("config", key, value.format(canary=canary, hooks=hooks))
        (self.root / ".git/info").mkdir(exist_ok=True)
        (self.root / ".git/info/attributes").write_text(attributes + "\n")

    def fired(self):
        try:
            (self.base / "fired").unlink()
        except FileNotFoundError:
            return False
        return True

    def test_planted(self):
        """no planted program runs while hunks are staged, committed, taken back or undone"""
        self.init()
        self.commit("f.txt", "".join(everyday.LINES), "base")
        for settings, attributes, control in PLANTED:
            self.write("f.txt", everyday.text_with(at3="three", at30="thirty"))
            self.plant(settings, attributes)
            self.git(*control, check=False)
            self.assertTrue(self.fired(), (settings, "the control is safe"))
            server = everyday.Server(self)
            ids = server.call("git_add", {"hunks": ["00000000"]}).text
            ids = ids.partition("f.txt: ")[2].split("\n")[0].split(", ")
            self.assertEqual(len(ids), 2, ids)
            server.says("git_add", {"hunks": ids[:1]})
            server.says("git_commit", {"message": "m", "hunks": ids[1:]})
            server.says("git_stash", {"message": "s"})
            server.says("git_stash", {"action": "pop"})
            server.says("git_restore", {"paths": ["."]})
            server.says("git_switch", {"branch": "topic", "create": True})
            server.says("git_switch", {"branch": "main"})
            server.says("git_commit", {"amend": True, "message": "n"})
            server.says("git_reset", {"to": "HEAD~1", "mode": "hard"})
            server.says("git_undo", {"steps": 2})
            server.says("git_undo", {"steps": -1})
            server.close()
            self.assertFalse(self.fired(), settings)
            for key in settings:
                self.git("config", "--unset", key)
            self.git("branch", "-q", "-D", "topic")

    def test_planted_series(self):
        """nor while several commits are made, earlier ones change, one is split, many conflicts are
        settled, and a tag is pushed"""
        self.init()
        remote = self.base / "remote.git"
        self.git("init", "-q", "--bare", str(remote))
        self.git("remote", "add", "origin", str(remote))
        self.commit("f.txt", "".join(everyday.LINES), "base")
        self.git("branch", "theirs")
        self.commit("f.txt", everyday.text_with(at10="ten"), "second")
        start = self.out("rev-parse", "HEAD").strip()
        self.git("checkout", "-q", "theirs")
        self.commit("f.txt", everyday.text_with(at10="dix"), "collides")
        self.git("checkout", "-q", "main")
        for settings, attributes, control in PLANTED:
            self.write("f.txt", everyday.text_with(at3="three", at10="ten", at20="x", at30="y"))
            self.write("new.txt", "new\n")
            self.plant(settings, attributes)
            self.git(*control, check=False)
            self.assertTrue(self.fired(), (settings, "the control is safe"))
            self.git("-c", f"core.hooksPath={self.base}/none", "reset", "-q", "--soft", start)
            self.fired()
            server = everyday.Server(self, "--root", str(remote))
            shown = server.says("git_diff", {"hunks": True, "context": 0})
            ids = re.findall(r"^@@ (\w+) ", shown, re.M)
            self.assertEqual(len(ids), 4, shown)
            server.says("git_commit", {"branch": "series", "commits": [
                {"message": "one", "hunks": [ids[0], ids[3]]}, {"into": "HEAD", "hunks": ids[1:2]}]})
            server.says("git_commit", {"into": "HEAD~", "hunks": ids[2:3], "message": "more"})
            parts = re.findall(r"^@@ (\w+) ", server.says(
                "git_show", {"rev": "HEAD~", "hunks": True}), re.M)
            server.says("git_rebase", {"plan": [
                {"commit": "HEAD~", "do": "split", "into": [
                    {"message": "a", "hunks": parts[:1]}, {"message": "b", "paths": ["f.txt"]}]},
                {"commit": "HEAD"}]})
            server.says("git_merge", {"branch": "theirs"})
            server.says("git_conflicts", {"action": "resolve", "paths": ["."], "take": "both",
                                          "continue": True})
            server.says("git_log", {"all": True, "changed": "dix"})
            server.says("git_tag", {"action": "create", "name": "v1", "message": "one"})
            server.says("git_push", {"tag": "v1"})
            server.says("git_undo", {"steps": 2})
            server.close()
            self.assertFalse(self.fired(), settings)
            for key in settings:
                self.git("config", "--unset", key)
            self.git("checkout", "-q", "-f", "main")
            self.git("branch", "-q", "-D", "series")
            self.git("tag", "-d", "v1", check=False)
            self.git("update-ref", "-d", "refs/tags/v1", cwd=remote)
            self.fired()

    def test_words(self):
        """a word that git could take for an option, a pattern or a place elsewhere is none"""
        self.collide("ours\n", "theirs\n", "base\n")
        self.write("../outside.txt", "outside\n")
        self.write("new.txt", "new\n")

        def part(**named):
            return {"plan": [{"commit": "HEAD", "do": "split", "into": [named]}]}

        for word in ("--exec=touch fired", "-d", "--output=fired"):
            for tool, arguments in (
                    ("git_commit", {"into": word, "message": "m"}),
                    ("git_commit", {"branch": word, "message": "m"}),
                    ("git_commit", {"commits": [{"into": word, "message": "m"}]}),
                    ("git_rebase", {"plan": [{"commit": word}]}),
                    ("git_push", {"tag": word}), ("git_log", {"range": f"main {word}"})):
                self.fails("BadArgs", "", tool, arguments)
        places = ("../outside.txt", ".git/config", "/etc/passwd", "x/../../outside.txt")
        for path in places:
            self.fails("SandboxViolation", "", "git_conflicts", {
                "action": "resolve", "paths": [path], "take": "both", "continue": True})
        for one in ("--all", "../x", "ffffffff"):
            self.fails("BadArgs", "", "git_conflicts", {
                "action": "resolve", "hunks": [{"id": one, "take": "ours"}], "continue": True})
        self.git("merge", "--abort")
        for one in ("--all", "../x", "ffffffff"):
            self.fails("BadArgs", "", "git_commit", {"commits": [{"message": "m",
                                                                  "hunks": [one]}]})
        for path in places:
            self.fails("SandboxViolation", "", "git_commit",
                       {"commits": [{"message": "m", "paths": [path]}]})
            self.fails("SandboxViolation", "", "git_rebase", part(message="m", paths=[path]))
        self.assertFalse((self.root / "fired").exists())

    def test_filters(self):
        """content is not staged, taken back or reset past a filter that is not run"""
        self.init()
        self.commit("f.txt", "a\n", "base")
        self.commit("f.txt", "b\n", "second")
        self.write("f.txt", "c\n")
        self.plant({"filter.x.clean": "{canary}", "filter.x.smudge": "{canary}"}, "* filter=x")
        self.git("add", "f.txt")
        self.assertTrue(self.fired(), "the control is safe")
        self.git("reset", "-q")
        self.fired()
        for tool, arguments in (("git_add", {"paths": ["f.txt"]}), ("git_add", {"all": True}),
                                ("git_commit", {"message": "m", "paths": ["f.txt"]}),
                                ("git_restore", {"paths": ["f.txt"]}),
                                ("git_reset", {"to": "HEAD~1", "mode": "hard"}),
                                ("git_switch", {"rev": "HEAD~1"})):
            result = self.call(tool, arguments)
            self.assertTrue(result.failed, (tool, arguments, result))
            self.assertFalse(self.fired(), (tool, arguments))
            self.assertEqual((self.root / "f.txt").read_bytes(), b"c\n")


if __name__ == "__main__":
    harness.main()
