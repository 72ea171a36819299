#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`airlock doctor` looks at the repository it stands in, and says where calls would not work."""
import json
import os
import shutil

import harness
from test_robust_cli import Program


class Repository(Program):
    def setUp(self):
        super().setUp()
        self.init()

    def found(self, directory, *words):
        """Level and state of each check in this directory, and the exit code."""
        done = self.run_it("doctor", "--json", *words, cwd=directory)
        self.assertEqual(done.stderr, "")
        findings = {entry["check"]: entry for entry in json.loads(done.stdout)}
        table = self.run_it("doctor", *words, cwd=directory)
        self.assertEqual(table.returncode, done.returncode)
        for name in findings:
            self.assertRegex(table.stdout, rf"(?m)^(ok|warning|missing) +{name} ")
        self.assertEqual(done.returncode,
                         int(any(entry["level"] == "missing" for entry in findings.values())))
        return findings

    def assert_calls(self, works, directory, *words):
        """Whether a call works there is what doctor has to say."""
        done = self.run_it("call", *words, "git_status", cwd=directory)
        self.assertEqual(done.returncode == 0, works, done)

    def assert_refused(self, directory, state):
        """A repository in which every call fails, and how to mend that."""
        found = self.found(directory)["repository"]
        self.assertEqual((found["level"], found["state"]), ("missing", state))
        self.assert_calls(False, directory)
        return found["fix"]

    def assert_mended(self, directory, fix):
        """The options that the fix names let the repository in."""
        words = fix.split("airlock with ")[1].split()
        self.assert_calls(True, directory, *words)

    def test_normal(self):
        """a repository with nothing special has nothing to warn of, below its top too"""
        below = self.root / "sub"
        below.mkdir()
        for directory in (self.root, below):
            found = self.found(directory)
            self.assertEqual({entry["level"] for entry in found.values()}, {"ok"}, found)
            self.assertEqual(found["repository"]["state"], str(self.root))
            self.assert_calls(True, directory)

    def test_linked_worktree(self):
        """a linked worktree works; one that was moved is refused, and the fix lets it in"""
        linked, moved = self.base / "linked", self.base / "moved"
        self.out("worktree", "add", "-q", str(linked))
        self.assertEqual(self.found(linked)["repository"]["state"], f"{linked}, linked worktree")
        self.assert_calls(True, linked)
        linked.rename(moved)
        fix = self.assert_refused(moved, "linked worktree")
        self.assertIn("git worktree repair", fix)
        self.out("worktree", "repair", str(moved))
        self.assert_mended(moved, fix)
        inside = self.root / "inside"
        self.out("worktree", "add", "-q", str(inside))
        found = self.found(inside, "--root", str(inside), "--root", str(self.root / ".git"))
        self.assertEqual(found["roots"]["level"], "ok")

    def test_separate(self):
        """a separate git directory and a submodule are told by their names, the first with its fix"""
        top = self.base / "modules" / "top"
        (self.base / "modules").mkdir()
        self.out("clone", "-q", "--separate-git-dir", str(self.base / "modules" / "store"),
                 str(self.root), str(top))
        line = self.assert_refused(top, "separate git directory").split(": ", 1)[1]
        config = self.base / "config.toml"
        config.write_text("[tools.sandbox]\n" + line.split(" below")[0] + "\n", encoding="utf-8")
        self.assert_calls(True, top, "--config", str(config))
        self.out("-c", "protocol.file.allow=always", "submodule", "--quiet", "add",
                 str(self.root), "part")
        part = self.root / "part"
        self.assertEqual(self.found(part)["repository"]["state"], f"{part}, submodule")
        self.assert_calls(True, part)

    def test_bare(self):
        """a bare repository has no working tree for calls; those that read history work"""
        bare = self.base / "bare.git"
        self.out("clone", "-q", "--bare", str(self.root), str(bare))
        found = self.found(bare)["repository"]
        self.assertEqual((found["level"], found["state"]), ("warning", f"{bare}, bare"))
        self.assertIn("only calls that read its history work", found["fix"])
        self.assert_calls(False, bare)
        self.assertEqual(self.run_it("call", "git_log", cwd=bare).returncode, 0)

    def test_none(self):
        """no repository at all is no failure: a root may hold several"""
        plain = self.base / "plain"
        plain.mkdir()
        self.assertEqual(self.found(plain)["repository"]["level"], "warning")
        found = self.found(plain, "--root", str(self.root))
        self.assertEqual(found["repository"]["state"], str(self.root))

    def test_parts_missing(self):
        """a partial and a shallow clone say what is not there"""
        self.out("config", "uploadpack.allowFilter", "true")
        for name, option in (("partial clone", "--filter=blob:none"),
                             ("shallow clone", "--depth=1")):
            clone = self.base / name.split()[0]
            self.out("clone", "-q", option, f"file://{self.root}", str(clone))
            found = self.found(clone)
            self.assertEqual((found[name]["level"], found["repository"]["level"]),
                             ("warning", "ok"))
            self.assertNotIn(name, self.found(self.root))

    def test_not_run(self):
        """hooks, filters and signing are named where they are asked for, and only there"""
        hook = self.root / ".git/hooks/pre-commit"
        hook.parent.mkdir(exist_ok=True)
        hook.write_text("#!/bin/sh\n")
        hook.chmod(0o644)
        self.out("config", "commit.gpgsign", "false")
        self.out("config", "filter.part.clean", "cat")
        for name in ("hooks", "signing", "filters"):
            self.assertNotIn(name, self.found(self.root))
        hook.chmod(0o755)
        self.out("config", "commit.gpgsign", "true")
        self.write(".gitattributes", "*.bin filter=part\n")
        found = self.found(self.root)
        self.assertEqual(found["hooks"]["state"], "not run: pre-commit")
        self.assertEqual(found["filters"]["state"], "not run: part")
        self.assertEqual(found["signing"]["level"], "warning")

    def test_configured_hooks(self):
        """hooks of the configuration are named by the event, unless they are switched off, where git runs such"""
        for name in ("one", "two"):
            self.out("config", f"hook.{name}.command", "true")
        self.out("config", "hook.one.event", "commit-msg")
        self.out("config", "--global", "hook.two.event", "post-merge")
        if self.git("hook", "list", "commit-msg", check=False).returncode != 0:
            self.assertNotIn("hooks", self.found(self.root))
            self.skipTest("this git runs no hooks of the configuration")
        self.assertEqual(self.found(self.root)["hooks"]["state"], "not run: commit-msg, post-merge")
        self.out("config", "hook.one.enabled", "false")
        self.assertEqual(self.found(self.root)["hooks"]["state"], "not run: post-merge")

    def test_locks(self):
        """a lock that is young is waited for, an old one that nobody has is to be removed"""
        lock = self.root / ".git/index.lock"
        lock.touch()
        found = self.found(self.root)["index.lock"]
        self.assertEqual((found["level"], found["state"]),
                         ("warning", "held, or younger than a minute"))
        os.utime(lock, (1, 1))
        found = self.found(self.root)["index.lock"]
        self.assertEqual((found["state"], str(lock) in found["fix"]), ("stale", True))
        with open(lock, encoding="utf-8"):
            self.assertNotEqual(self.found(self.root)["index.lock"]["state"], "stale")
        lock.unlink()
        self.assertNotIn("index.lock", self.found(self.root))

    def test_broken(self):
        """a .git that names nothing is told, with what mends it"""
        broken = self.base / "broken"
        shutil.copytree(self.root, broken)
        shutil.rmtree(broken / ".git")
        (broken / ".git").write_text("gitdir: ../nowhere\n")
        found = self.found(broken)["repository"]
        self.assertEqual(found["level"], "missing")
        self.assert_calls(False, broken)

    def test_damage(self):
        """a HEAD that git cannot read is told, with the command that mends it"""
        self.assertNotIn("damage", self.found(self.root))
        (self.root / ".git/HEAD").write_text("trash\n")
        found = self.found(self.root)["damage"]
        self.assertEqual(found["level"], "missing")
        self.assertIn("git cannot read 'HEAD' of the git directory; 'airlock rollback --force'", found["state"])


class Serve(Repository):
    """What `[serve]` says of a server over HTTP."""

    def setUp(self):
        super().setUp()
        self.place = self.home / ".config/airlock"
        self.place.mkdir(parents=True, exist_ok=True)
        self.tokens = self.place / "tokens"
        self.tokens.write_text("1" * 32 + "\n" + "2" * 32 + "\n", encoding="ascii")
        self.tokens.chmod(0o600)

    def serve(self, *lines):
        """The findings with these lines in [serve]."""
        (self.place / "config.toml").write_text("\n".join(("[serve]", *lines)), encoding="utf-8")
        return self.found(self.root)

    def test_nothing(self):
        """without [serve] nothing is said of it"""
        self.assertFalse({"serve", "tokens", "tls", "hosts"} & set(self.found(self.root)))

    def test_fine(self):
        """places, number of tokens and hosts, and no token"""
        found = self.serve('http = ["127.0.0.1:7420"]', f'token_file = "{self.tokens}"',
                           'hosts = ["git.example"]')
        self.assertEqual([found[name]["state"] for name in ("serve", "tokens", "hosts")],
                         ["127.0.0.1:7420", f"2 tokens ({self.tokens})", "git.example"])
        self.assertEqual({found[name]["level"] for name in ("serve", "tokens", "hosts")}, {"ok"})
        self.assertNotIn("1" * 32, str(found))
        self.assertEqual(self.serve('http = ["127.0.0.1:0"]')["tokens"]["state"],
                         "one is made at each start")

    def test_tokens(self):
        """a token file that others may read, with a wrong line, or that is not there"""
        lines = ('http = ["127.0.0.1:7420"]', f'token_file = "{self.tokens}"')
        self.tokens.chmod(0o644)
        self.assertEqual(self.serve(*lines)["tokens"]["level"], "missing")
        self.tokens.chmod(0o600)
        self.assertEqual(self.serve(*lines)["tokens"]["level"], "ok")
        self.tokens.write_text("short\n", encoding="ascii")
        found = self.serve(*lines)["tokens"]
        self.assertEqual(found["level"], "missing")
        self.assertIn(f"{self.tokens}:1:", found["state"])
        self.tokens.unlink()
        self.assertEqual(self.serve(*lines)["tokens"]["level"], "missing")

    def test_tls(self):
        """a key that others may read; a certificate that is not there; one without the other"""
        cert, key = self.place / "cert.pem", self.place / "key.pem"
        cert.write_text("x", encoding="ascii")
        key.write_text("x", encoding="ascii")
        lines = ('http = ["0.0.0.0:7420"]', f'tls_cert = "{cert}"', f'tls_key = "{key}"')
        key.chmod(0o644)
        self.assertEqual(self.serve(*lines)["tls"]["level"], "missing")
        key.chmod(0o600)
        found = self.serve(*lines)
        self.assertEqual((found["tls"]["level"], found["tls"]["state"]), ("ok", f"{cert}, {key}"))
        self.assertEqual(found["hosts"]["level"], "warning")
        cert.unlink()
        self.assertIn("certificate", self.serve(*lines)["tls"]["state"])
        self.assertIn("TLS needs both", self.serve(*lines[:2])["serve"]["state"])

    def test_places(self):
        """a place that others reach without TLS, and a wrong name in hosts"""
        found = self.serve('http = ["0.0.0.0:7420"]')["serve"]
        self.assertEqual(found["level"], "missing")
        self.assertIn("0.0.0.0:7420", found["state"])
        found = self.serve('http = ["127.0.0.1:7420"]', 'hosts = ["a b"]')["configuration"]
        self.assertEqual(found["level"], "missing")
        self.assertIn("serve.hosts", found["state"])


if __name__ == "__main__":
    harness.main()
