#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worktree that git_worktree made is a root of the session that made it, and of no other; nothing
that an agent can write makes another directory a root."""
import os
import shutil
import subprocess

import harness
import worktrees

PARALLEL = ("--toolset", "git", "--toolset", "parallel")


class Roots(worktrees.Case):
    """`root` is the main working tree; `one` and `two` are linked ones beside it."""

    def setUp(self):
        super().setUp()
        self.one, self.two = self.worktree("one"), self.worktree("two")
        common = self.common_dir()
        self.main = harness.pathlib.Path(common[:-len("/.git")] if common.endswith("/.git") else common)
        self.dir = self.main / ".worktrees"

    def session(self, place, *options):
        """A server in a working tree."""
        return self.server(place, *PARALLEL, *options)

    def sees(self, server, place):
        """Whether a session may work in a directory."""
        result = server.call("git_status", {"working_dir": str(place)})
        return not result.failed

    def add(self, server, name="x", **arguments):
        """Make a worktree; gives its directory."""
        server.ok("git_worktree", {"action": "add", "name": name} | arguments)
        return self.dir / name

    def test_session(self):
        """at once, and after a restart, for the session that made it; for no other"""
        server, other = self.session(self.one), self.session(self.two)
        place = self.add(server)
        self.write("new.txt", "new\n", place)
        server.ok("git_add", {"paths": ["new.txt"], "working_dir": str(place)})
        server.ok("git_commit", {"type": "fix", "message": "there", "working_dir": str(place)})
        self.assertEqual(self.out("log", "-1", "--format=%s", "x").strip(), "fix: there")
        for allowed, session in ((True, server), (True, self.session(self.one)), (False, other),
                                 (False, self.session(self.two))):
            self.assertEqual(self.sees(session, place), allowed)
            self.assertFalse(self.sees(session, self.main))
            self.assertFalse(self.sees(session, self.dir))
        self.assertTrue(self.sees(self.session(place), "."))

    def test_both_sides(self):
        """the administration is one: made here, listed, locked and removed there"""
        server, main = self.session(self.one, "--agent", "ada"), self.session(self.root)
        place = self.add(server)
        self.assertIn("made by agent ada", main.ok("git_worktree").text)
        main.ok("git_worktree", {"action": "lock", "name": "x"})
        self.assertIn("is locked", server.call("git_worktree", {"action": "remove", "name": "x"}).text)
        server.ok("git_worktree", {"action": "unlock", "name": "x"})
        main.ok("git_worktree", {"action": "remove", "name": "x"})
        self.assertFalse(self.sees(server, place))
        self.add(server, branch="x")
        self.assertTrue(self.sees(server, place))
        self.add(main, "y")
        self.assertFalse(self.sees(server, self.dir / "y"))
        server.ok("git_worktree", {"action": "remove", "name": "y"})
        self.assertFalse((self.dir / "y").exists())

    def test_rollback_in_linked(self):
        """a rollback in the linked worktree brings back what was removed there"""
        server = self.session(self.one)
        place = self.add(server)
        self.write("untracked.txt", "untracked\n", place)
        server.ok("git_worktree", {"action": "remove", "name": "x"})
        done = subprocess.run([harness.AIRLOCK, "rollback"], cwd=self.one, env=self.env, check=False,
                                        stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual((place / "untracked.txt").read_text(encoding="utf-8"), "untracked\n")
        self.assertTrue(self.sees(self.session(self.one), place))

    def test_stash_comes_back(self):
        """stash entries of a worktree that is removed and brought back are its own; a new one's are not"""
        server = self.session(self.one)
        place = self.add(server)
        self.write("a.txt", "stashed\n", place)
        server.ok("git_stash", {"message": "mine", "working_dir": str(place)})
        server.ok("git_worktree", {"action": "remove", "name": "x"})
        self.add(server, branch="x")
        pop = {"action": "pop", "working_dir": str(place)}
        self.assertIn("No stash entries of this worktree", server.call("git_stash", pop).text)
        server.ok("git_worktree", {"action": "remove", "name": "x"})
        done = subprocess.run([harness.AIRLOCK, "rollback", "3"], cwd=self.one, env=self.env, check=False,
                              stdin=subprocess.DEVNULL, capture_output=True)
        self.assertEqual(done.returncode, 0, done)
        server = self.session(self.one)
        server.ok("git_stash", pop)
        self.assertEqual((place / "a.txt").read_text(encoding="utf-8"), "stashed\n")

    def test_swapped(self):
        """another directory under its path is no root: a link, a repository, another worktree"""
        secret = self.base / "secret"
        self.init(secret)
        server = self.session(self.one)
        place = self.add(server)
        os.rename(place, self.base / "moved")
        for swap in (lambda: os.symlink(secret, place), lambda: shutil.copytree(secret, place),
                     lambda: self.git("worktree", "add", "-q", "-f", str(place), "--detach")):
            swap()
            self.assertTrue(self.git("status", cwd=place).stdout)
            self.assertFalse(self.sees(self.session(self.one), place))
            result = server.call("git_log", {"working_dir": str(place)})
            self.assertTrue(result.failed or "first" not in result.text or not place.is_symlink(), result)
            if place.is_symlink():
                place.unlink()
            else:
                shutil.rmtree(place)

    def test_many(self):
        """worktrees that are gone take no room: more than a session has room for come and go"""
        server = self.session(self.one)
        self.git("branch", "often")
        for number in range(132 if os.environ.get("AIRLOCK_EVERY_STEP") else 3):
            place = self.add(server, f"x{number}", branch="often")
            self.assertTrue(self.sees(server, place))
            server.ok("git_worktree", {"action": "remove", "name": place.name})
            self.assertFalse(self.sees(server, place))

    def test_forged(self):
        """a `.git` file that names another git directory leads nowhere"""
        secret = self.base / "secret"
        self.init(secret)
        server = self.session(self.one)
        place = self.add(server)
        admin = harness.pathlib.Path((place / ".git").read_text(encoding="utf-8")[len("gitdir: "):].strip())
        for target in (secret / ".git", self.main / ".git", admin.parent / "one", "/"):
            (place / ".git").write_text(f"gitdir: {target}\n", encoding="utf-8")
            self.assertFalse(self.sees(server, place), target)
            self.assertFalse(self.sees(self.session(self.one), place), target)
        (place / ".git").write_text(f"gitdir: {admin}\n", encoding="utf-8")
        (admin / "commondir").write_text(f"{secret}/.git\n", encoding="utf-8")
        self.assertFalse(self.sees(server, place))
        self.assertFalse(self.sees(self.session(self.one), place))

    def test_directory_is_a_link(self):
        """the directory of worktrees is never followed out of the main working tree"""
        outside = self.base / "outside"
        outside.mkdir()
        os.symlink(outside, self.dir)
        for server in (self.session(self.one), self.session(self.root)):
            result = server.call("git_worktree", {"action": "add", "name": "x"})
            self.assertIn("a link or a file is in its path", result.text)
        self.assertEqual(os.listdir(outside), [])
        self.assertNotIn("refs/heads/x", self.out("for-each-ref"))

    def test_include_from_own(self):
        """the copies come from the worktree of the call, never from the main working tree"""
        self.write(".git/info/exclude" if not harness.linked.LINKED else "../unused", "")
        self.commit(".gitignore", ".env\n", "ignore", self.one)
        self.commit(".worktreeinclude", ".env\n", "include", self.one)
        self.write(".env", "of main\n")
        server = self.session(self.one)
        place = self.add(server)
        self.assertFalse((place / ".env").exists())
        self.write(".env", "of one\n", self.one)
        self.assertEqual((self.add(server, "y") / ".env").read_text(encoding="utf-8"), "of one\n")

    def test_grant(self):
        """a grant that does not have the place is a limit here, too"""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f'[grants.narrow]\ntools = ["*"]\nfs = {{ "{self.one}" = "rw" }}\n', encoding="utf-8")
        server = self.session(self.one, "--grant", "narrow")
        result = server.call("git_worktree", {"action": "add", "name": "x"})
        self.assertTrue(result.failed, result)
        self.assertFalse(self.dir.exists())
        self.add(self.session(self.root))
        for action in ("remove", "lock"):
            self.assertTrue(server.call("git_worktree", {"action": action, "name": "x"}).failed)
        self.assertTrue((self.dir / "x/a.txt").exists())

    def test_bare(self):
        """worktrees of a bare repository"""
        bare = self.base / "bare.git"
        self.git("clone", "-q", "--bare", str(self.main), str(bare))
        linked = self.base / "of-bare"
        self.git("worktree", "add", "-q", str(linked), cwd=bare)
        server = self.session(linked)
        server.ok("git_worktree", {"action": "add", "name": "x"})
        place = bare / ".worktrees/x"
        self.assertTrue(self.sees(server, place))
        self.assertIn("bare", server.ok("git_worktree").text)
        server.ok("git_worktree", {"action": "remove", "name": "x"})
        self.assertFalse(place.exists())


if __name__ == "__main__":
    harness.main()
