#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: what a repository configures is not run by searching, blaming, tagging, picking,
reverting, rebasing, merging in memory or applying hunks.

Plain git runs each planted program first; then all that get along are planted at once.
"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import everyday  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position
from lab import HOOKS_ARE_CONFIGURED  # pylint: disable=wrong-import-position

HOOKS = ("applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout",
         "post-commit", "post-index-change", "post-merge", "post-rewrite", "pre-applypatch", "pre-auto-gc",
         "pre-commit", "pre-merge-commit", "pre-push", "pre-rebase", "prepare-commit-msg",
         "reference-transaction", "sendemail-validate")

#: What one reads with.
READS = (
    ("git_status", {}), ("git_diff", {"from": "topic", "to": "main"}), ("git_log", {"patch": True}),
    ("git_log", {"changed": "three"}), ("git_show", {}), ("git_show", {"rev": "v0"}),
    ("git_show", {"path": "."}), ("git_show", {"path": "f.txt"}), ("git_grep", {"pattern": "line"}),
    ("git_grep", {"pattern": "line", "rev": "topic"}), ("git_blame", {"path": "f.txt"}),
    ("git_branch", {}), ("git_tag", {}), ("git_pr", {"target": "topic"}),
    ("git_stash", {"action": "list"}),
)

#: What one makes commits and tags with; each leaves a clean tree on main.
WRITES = (
    ("git_tag", {"action": "create", "name": "v1", "message": "one"}),
    ("git_tag", {"action": "create", "name": "v2"}),
    ("git_tag", {"action": "delete", "name": "v1"}),
    ("git_branch", {"action": "create", "name": "n"}),
    ("git_branch", {"action": "delete", "name": "n", "force": True}),
    ("git_cherry_pick", {"commits": ["topic"]}), ("git_revert", {"commits": ["HEAD"]}),
    ("git_rebase", {"plan": [{"commit": "HEAD~1", "do": "reword", "message": "reworded"},
                             {"commit": "HEAD", "do": "squash", "message": "joined"}]}),
    ("git_rebase", {"onto": "topic"}), ("git_undo", {}),
    ("git_merge", {"branch": "topic"}), ("git_undo", {}),
    ("git_merge", {"branch": "topic", "squash": True, "message": "squashed"}),
    ("git_undo", {"steps": 4}), ("git_undo", {"steps": -1}),
)

#: Settings, attributes, and what of plain git runs the program, which is {canary} or a hook of HOOKS.
PLANTED = (
    ({"diff.x.textconv": "{canary}"}, "* diff=x", ("blame", "f.txt")),
    ({"diff.x.textconv": "{canary}"}, "* diff=x", ("grep", "--textconv", "line")),
    ({"diff.x.textconv": "{canary}"}, "* diff=x", ("log", "-p", "-Sthree")),
    ({"diff.x.command": "{canary}"}, "* diff=x", ("log", "-p", "--ext-diff")),
    ({"diff.external": "{canary}"}, "", ("diff", "topic", "main")),
    ({"core.fsmonitor": "{canary}"}, "", ("grep", "line")),
    ({"core.fsmonitor": "{canary}"}, "", ("cherry-pick", "topic")),
    ({"core.hooksPath": "{hooks}"}, "", ("cherry-pick", "topic")),
    ({"core.hooksPath": "{hooks}"}, "", ("revert", "--no-edit", "HEAD")),
    ({"core.hooksPath": "{hooks}"}, "", ("rebase", "topic")),
    ({"core.hooksPath": "{hooks}"}, "", ("tag", "-m", "control", "control")),
    ({"commit.gpgSign": "true", "gpg.program": "{canary}"}, "", ("cherry-pick", "topic")),
    ({"commit.gpgSign": "true", "gpg.program": "{canary}"}, "", ("rebase", "-f", "HEAD~1")),
    ({"tag.gpgSign": "true", "gpg.program": "{canary}"}, "", ("tag", "-m", "control", "control")),
    ({"gpg.format": "ssh", "gpg.ssh.program": "{canary}", "commit.gpgSign": "true",
      "user.signingKey": "key::ssh-ed25519 AAAA"}, "", ("revert", "--no-edit", "HEAD")),
    ({"log.showSignature": "true", "gpg.program": "{canary}"}, "", ("log", "signed")),
    ({"core.editor": "{canary}"}, "", ("tag", "-a", "control")),
    ({"core.editor": "{canary}"}, "", ("revert", "--edit", "HEAD")),
    ({"sequence.editor": "{canary}"}, "", ("rebase", "-i", "HEAD~1")),
    ({"alias.st": "!{canary}", "core.sshCommand": "{canary}"}, "", ("st",)),
)

#: The same where content would be written through the program, or merged by it.
REFUSED = (
    ({"filter.x.clean": "{canary}", "filter.x.smudge": "{canary}"}, "* filter=x",
     ("cherry-pick", "topic")),
    ({"filter.x.process": "{canary}"}, "* filter=x", ("rebase", "topic")),
    ({"merge.x.driver": "{canary}"}, "* merge=x", ("merge-tree", "--write-tree", "main", "clash")),
    ({"merge.x.driver": "{canary}"}, "* merge=x", ("cherry-pick", "clash")),
    ({"merge.x.driver": "{canary}"}, "* merge=x", ("rebase", "clash")),
)


class Planted(everyday.Case):
    def setUp(self):
        super().setUp()
        self.fork(everyday.text_with(at3="three"), everyday.text_with(at30="thirty"),
                  "".join(everyday.LINES))
        self.commit("own.txt", "own\n", "own")
        self.git("tag", "-m", "zero", "v0")
        self.git("branch", "clash", "main~2")
        self.git("checkout", "-q", "clash")
        self.commit("f.txt", everyday.text_with(at3="clash"), "clash")
        self.git("checkout", "-q", "main")
        text = self.out("cat-file", "commit", "HEAD").replace(
            "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\n", 1)
        signed = self.out("hash-object", "-t", "commit", "-w", "--stdin", stdin=text.encode()).strip()
        self.git("branch", "signed", signed)
        self.refs = self.git("for-each-ref", "--format=%(objectname) %(refname)").stdout

    def program(self, path):
        """A program that leaves a file behind."""
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\ntouch {self.base}/fired\n")
        path.chmod(0o755)
        return path

    def plant(self, settings, attributes):
        canary = self.program(self.base / "canary.sh")
        for name in HOOKS:
            self.program(self.base / "hooks" / name)
        for key, value in settings.items():
            if key == "core.hooksPath" and HOOKS_ARE_CONFIGURED:
                self.git("config", "hook.evil.command", str(canary))
                for name in HOOKS:
                    self.git("config", "--add", "hook.evil.event", name)
            else:
                self.git("config", key, value.format(canary=canary, hooks=self.base / "hooks"))
        (self.root / ".git/info").mkdir(exist_ok=True)
        (self.root / ".git/info/attributes").write_text(attributes + "\n")

    def fired(self):
        try:
            (self.base / "fired").unlink()
        except FileNotFoundError:
            return False
        return True

    def clean(self, settings):
        """As before: what was configured is gone, and what was made."""
        for key in settings:
            self.git("config", "--unset", key, check=False)
        self.git("config", "--remove-section", "hook.evil", check=False)
        (self.root / ".git/info/attributes").write_text("")
        for what in ("rebase", "cherry-pick", "revert", "merge"):
            self.git(what, "--abort", check=False)
        for line in self.git("for-each-ref", "--format=%(objectname) %(refname)").stdout.splitlines():
            if line not in self.refs.splitlines():
                self.git("update-ref", "-d", line.split()[1].decode(), check=False)
        self.git("symbolic-ref", "HEAD", "refs/heads/main")
        for line in self.refs.decode().splitlines():
            self.git("update-ref", line.split()[1], line.split()[0])
        self.git("reset", "-q", "--hard")

    def control(self, settings, attributes, words):
        """Plain git runs it."""
        self.plant(settings, attributes)
        self.fired()
        self.git(*words, check=False)
        self.assertTrue(self.fired(), (settings, words, "the control is safe"))
        self.clean(settings)
        self.plant(settings, attributes)
        self.fired()

    def test_controls(self):
        """plain git runs each of the planted programs"""
        for settings, attributes, words in PLANTED + REFUSED:
            self.control(settings, attributes, words)
            self.clean(settings)

    def together(self):
        """All settings at once, twice: signatures are of one format."""
        for left_out in ("gpg.format", "gpg.program"):
            both = {key: value for settings, _, _ in PLANTED for key, value in settings.items()
                    if left_out not in settings}
            self.plant(both, "* diff=x")
            self.fired()
            yield both
            self.clean(both)

    def test_reading(self):
        """no planted program runs while one reads"""
        for settings in self.together():
            server = everyday.Server(self)
            for tool, arguments in READS:
                server.ok(tool, arguments)
                self.assertFalse(self.fired(), (settings, tool, arguments))
            server.close()

    def test_writing(self):
        """no planted program runs while commits and tags are made"""
        for settings in self.together():
            server = everyday.Server(self)
            for tool, arguments in WRITES:
                server.ok(tool, arguments)
                self.assertFalse(self.fired(), (settings, tool, arguments))
            self.write("f.txt", everyday.text_with(at3="three", at10="ten", at35="more"))
            ids = server.call("git_add", {"hunks": ["00000000"]}).text
            ids = ids.partition("f.txt: ")[2].split("\n")[0].split(", ")
            server.ok("git_add", {"hunks": ids[:1]})
            server.ok("git_restore", {"hunks": ids[1:]})
            server.close()
            self.assertFalse(self.fired(), settings)

    def test_refused(self):
        """content is neither written through a filter nor merged by a driver of the repository"""
        for settings, attributes, words in REFUSED:
            self.control(settings, attributes, words)
            before = self.snapshot()
            server = everyday.Server(self)
            for tool, arguments in (("git_cherry_pick", {"commits": ["clash"]}),
                                    ("git_cherry_pick", {"commits": ["topic"]}),
                                    ("git_revert", {"commits": ["HEAD~1"]}),
                                    ("git_rebase", {"onto": "clash"}),
                                    ("git_merge", {"branch": "clash"}),
                                    ("git_merge", {"branch": "clash", "squash": True})):
                self.fired()  # plain git looks at the tree between the calls
                result = server.call(tool, arguments)
                self.assertTrue(result.failed, (settings, tool, result))
                self.assertFalse(self.fired(), (settings, tool, result))
                self.assertEqual(self.snapshot(), before, (settings, tool))
            server.close()
            self.fired()
            self.clean(settings)


if __name__ == "__main__":
    harness.main()
