#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow: git_commit."""
import harness
import workflow


class Commit(workflow.Case):
    def head(self):
        """What the last commit says: short hash, author, message."""
        return self.out("log", "-1", "--format=%H%n%an%n%B").rstrip("\n").split("\n", 2)

    def assert_committed(self, value, message):
        """The result is about the last commit."""
        commit, _, written = self.head()
        self.assertEqual(value, {"hash": commit[:7], "message": message})
        self.assertEqual(written, message)

    def stopped(self):
        """A rebase of two commits of side that stopped at the first, whose a.txt conflicts."""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "side\n", "side one", GIT_AUTHOR_NAME="S Ide")
        self.commit("b.txt", "b\n", "side two")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "main\n", "main one")
        self.git("checkout", "-q", "side")
        self.git("rebase", "main", check=False)
        self.assertTrue((self.root / ".git/rebase-merge").exists())

    def test_examples(self):
        """R4-4 git_commit: the examples of the requirements, through MCP"""
        self.init()
        self.write("a.txt", "two\n")
        self.write("new.txt", "new\n")
        self.git("add", "a.txt")
        server = workflow.Server(self)
        value = server.gives("git_commit", {"message": "feat: add user authentication"})
        self.assert_committed(value, "feat: add user authentication")
        self.assertEqual(self.out("status", "--porcelain"), "?? new.txt\n")
        value = server.gives("git_commit", {"all": True})
        self.assert_committed(value, self.head()[2])
        self.assertIn("new.txt", value["message"])
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_all(self):
        """R4-4 git_commit: all takes what changed, what is gone and what is new, from everywhere"""
        self.init()
        self.commit("dir/gone", "x\n", "gone")
        (self.root / "dir/gone").unlink()
        self.write("a.txt", "two\n")
        self.write("dir/n\new", "new\n")
        self.write(".gitignore", "ignored\n")
        self.write("ignored", "x\n")
        self.write("dir/x", "")
        value = self.gives("git_commit", {"message": "all of it", "all": True, "cwd": "dir"})
        self.assert_committed(value, "all of it")
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertEqual(self.git("show", "--format=", "--name-status", "-z").stdout,
                         b"A\0.gitignore\0M\0a.txt\0D\0dir/gone\0A\0dir/n\new\0A\0dir/x\0")

    LEFT_OUT = {".env": "x", "d/.ENV.local": "x", "a.pem": "x", "k/id_rsa": "x", "b.Key": "x",
                "core.dump": "x", "core.123": "x", "large": "x" * 5000001,
                "elf": b"\x7fELF\x02\x01" + bytes(10) + b"\x04\x00"}
    TAKEN = {".env.example": "x", "id_map.c": "x", "environment": "x", "core.c": "x", "core": "x",
             "pem": "x", "exact": "x" * 5000000, "less": "x" * 4999999,
             "prog": b"\x7fELF\x02\x01" + bytes(10) + b"\x02\x00"}

    def test_left_out(self):
        """git_commit all leaves out new files that look like secrets, core dumps and large ones,
        and names them"""
        self.init()
        self.commit("tracked.pem", "x\n", "tracked")
        self.write("tracked.pem", "y\n")
        for name, content in (self.LEFT_OUT | self.TAKEN).items():
            (self.root / name).parent.mkdir(exist_ok=True)
            self.write(name, content)
        result = self.call("git_commit", {"message": "all", "all": True})
        self.assertEqual(set(self.out("show", "--format=", "--name-only", "HEAD").split()),
                         {*self.TAKEN, "tracked.pem"})
        self.assertEqual(set(self.out("ls-files", "--others").split()), set(self.LEFT_OUT))
        said = result.value["content"][1]["text"]
        for name in self.LEFT_OUT:
            self.assertIn(name + " (", said)

    def test_left_out_rule(self):
        """git_commit all: a rule that allows it for a path takes a file in that is left out"""
        self.init()
        for name in ("deploy.pem", "other.pem"):
            self.write(name, "x\n")
        (self.root.parent / "rules.toml").write_text(
            '[[tools.approval.rule]]\ntool = "git_commit"\npath = "deploy.*"\ndecision = "allow"\n'
            '[[tools.approval.rule]]\ntool = "git_commit"\ndecision = "allow"\n', encoding="utf-8")
        self.gives("git_commit", {"message": "all", "all": True}, "--config",
                   str(self.root.parent / "rules.toml"))
        self.assertEqual(self.out("ls-files", "--others"), "other.pem\n")

    def test_messages(self):
        """git_commit: a message is what was given, without blanks at its end"""
        self.init()
        for number, message in enumerate(("-x", "# no comment", "subject\n\nbody\n# line",
                                          "umlaut \u00e4 \u202e", "two\n\n\n", "--amend")):
            self.write("a.txt", f"{number}\n")
            value = self.gives("git_commit", {"message": message, "all": True})
            self.assert_committed(value, message.rstrip("\n"))
        self.assertEqual(self.out("rev-list", "--count", "HEAD").strip(), "7")

    def test_places(self):
        """git_commit: the first commit, a detached HEAD, a linked worktree"""
        self.git("init", "-q")
        self.write("a.txt", "one\n")
        self.assert_committed(self.gives("git_commit", {"message": "first", "all": True}), "first")
        self.git("checkout", "-q", "--detach")
        self.write("a.txt", "two\n")
        self.assert_committed(self.gives("git_commit", {"message": "second", "all": True}),
                              "second")
        self.git("worktree", "add", "-q", "trees/one", "main")
        self.write("trees/one/a.txt", "linked\n")
        value = self.gives("git_commit", {"message": "third", "all": True, "cwd": "trees/one"})
        self.assertEqual(value["hash"], self.out("rev-parse", "main").strip()[:7])

    def test_no_approval(self):
        """git_commit: nobody is asked, unless a rule says so, and then the change is shown"""
        self.init()
        for number, approval in enumerate(("ask", "allow")):
            self.write("a.txt", f"{number}\n")
            self.assertFalse(self.call("git_commit", {"message": "x", "all": True},
                                       approval=approval).failed)
        config = str(self.write("config.toml", '[[tools.approval.rule]]\ntool = "git_commit"\n'
                                               'decision = "ask"\n', self.home))
        self.write("a.txt", "more\n")
        result = self.call("git_commit", {"message": "x\nbody", "all": True}, "--config", config,
                           approval="ask")
        self.assertEqual(result.kind, "ApprovalRequired", result)
        self.assertTrue(result.text.startswith("Commit every change: x\n"), result.text)
        self.assertEqual(self.out("status", "--porcelain"), " M a.txt\n")

    def test_nothing(self):
        """R4-7036 git_commit: 7036 when nothing is staged, or nothing changed at all"""
        self.init()
        self.fails(7036, "git_commit")
        result = self.fails(7036, "git_commit", {"message": "x"})
        self.assertIn("all: true", result.text.splitlines()[1])
        self.write("new.txt", "untracked\n")
        self.fails(7036, "git_commit", {"message": "x"})
        (self.root / "new.txt").unlink()
        self.fails(7036, "git_commit", {"message": "x", "all": True})

    def conflict(self):
        """A merge that stopped at a.txt."""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "side\n", "side")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "main\n", "main")
        self.git("merge", "side", check=False)

    def test_conflict(self):
        """R4-7030 git_commit: 7030 while conflicts exist; all does not pass them for resolved"""
        self.conflict()
        for arguments in ({"message": "x"}, {"message": "x", "all": True}):
            result = self.fails(7030, "git_commit", arguments)
            self.assertIn("git_conflict_info", result.text.splitlines()[1])
        self.assertTrue(self.out("ls-files", "--unmerged"))
        self.write("a.txt", "both\n")
        self.git("add", "a.txt")
        self.assert_committed(self.gives("git_commit", {"message": "merged"}), "merged")
        self.assertEqual(len(self.out("rev-list", "--parents", "-1", "HEAD").split()), 3)

    def test_merge_of_ours(self):
        """git_commit: a merge resolved wholly to our side is concluded"""
        self.conflict()
        self.git("checkout", "--ours", "a.txt")
        self.git("add", "a.txt")
        self.assert_committed(self.gives("git_commit"), "Merge branch 'side'")
        self.assertEqual(len(self.out("rev-list", "--parents", "-1", "HEAD").split()), 3)

    def test_rebase(self):
        """git_commit: a rebase that stopped goes on, with its own message or another"""
        for arguments, second in (({}, "side one"), ({"message": "renamed"}, "renamed")):
            harness.shutil.rmtree(self.root)
            self.root.mkdir()
            self.stopped()
            self.fails(7030, "git_commit", arguments)
            self.write("a.txt", "both\n")
            self.git("add", "a.txt")
            value = self.gives("git_commit", arguments)
            self.assert_committed(value, "side two")
            self.assertEqual(self.out("log", "--format=%s").splitlines(),
                             ["side two", second, "main one", "first"])
            self.assertEqual(self.out("log", "-1", "--skip=1", "--format=%an").strip(), "S Ide")
            self.assertEqual(self.out("status", "-b", "--porcelain"), "## side\n")

    def test_rebase_of_ours(self):
        """git_commit: a rebase goes on when nothing is left of the commit that stopped"""
        self.stopped()
        self.write("a.txt", "main\n")
        self.git("add", "a.txt")
        self.gives("git_commit", {"message": "not used"})
        self.assertEqual(self.out("log", "--format=%s").splitlines(),
                         ["side two", "main one", "first"])

    def test_rebase_stops_again(self):
        """R4-7030 git_commit: 7030 when a later commit conflicts as well; what was made stays"""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "side\n", "side one")
        self.commit("b.txt", "side\n", "side two")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "main\n", "main one")
        self.commit("b.txt", "main\n", "main two")
        self.git("checkout", "-q", "side")
        self.git("rebase", "main", check=False)
        self.write("a.txt", "both\n")
        result = self.fails(7030, "git_commit", {"all": True})
        self.assertIn("a.txt", result.error["message"])
        self.git("add", "a.txt")
        result = self.fails(7030, "git_commit")
        self.assertEqual(result.error["message"],
                         "The rebase went on and stopped at a conflict in b.txt")
        self.assertEqual(self.out("log", "-1", "--format=%s").strip(), "side one")
        self.write("b.txt", "both\n")
        self.git("add", "b.txt")
        self.assert_committed(self.gives("git_commit"), "side two")

    def test_rebase_runs_nothing(self):
        """git_commit: what another user wrote into the list of a rebase does not run"""
        self.stopped()
        canary = self.base / "canary"
        (self.root / ".git/rebase-merge/git-rebase-todo").write_text(
            f"exec touch {canary}\n", encoding="utf-8")
        self.write("a.txt", "both\n")
        self.git("add", "a.txt")
        copy = self.base / "copy"
        harness.shutil.copytree(self.root, copy)
        self.git("rebase", "--continue", cwd=copy, GIT_EDITOR=":")
        self.assertTrue(canary.exists())  # what plain git does
        canary.unlink()
        self.fails(7010, "git_commit", {"message": "x"})
        self.assertFalse(canary.exists())

    def test_rebase_and_rules(self):
        """git_commit: a rule about writing files holds where it goes on with a rebase"""
        self.stopped()
        self.write("a.txt", "both\n")
        self.git("add", "a.txt")
        config = str(self.write("config.toml", '[[tools.approval.rule]]\n'
                                               'effect = "writes_worktree"\n'
                                               'decision = "deny"\n', self.home))
        result = self.call("git_commit", {"message": "x"}, "--config", config)
        self.assertEqual(result.kind, "ApprovalDenied", result)
        self.assertTrue((self.root / ".git/rebase-merge").exists())
        self.git("rebase", "--abort")
        self.write("a.txt", "more\n")
        self.git("add", "a.txt")
        self.ok("git_commit", {"message": "x"}, "--config", config)

    def test_errors(self):
        """git_commit: 7000 outside a repository, 7010 without a name, 7020 at a lock"""
        self.fails(7000, "git_commit", {"message": "x"})
        self.init()
        self.write("a.txt", "two\n")
        (self.home / ".gitconfig").write_text("", encoding="utf-8")
        result = self.fails(7010, "git_commit", {"message": "x", "all": True})
        self.assertIn("user.name", result.error["message"])
        self.assertEqual(self.out("status", "--porcelain"), " M a.txt\n")
        (self.home / ".gitconfig").write_text("[user]\nname = A\nemail = a@x\n", encoding="utf-8")
        self.write(".git/index.lock", "")
        config = self.write("config.toml", "[tools.git]\ntimeout_ms = 2000\n", self.home)
        for arguments in ({"message": "x", "all": True}, {"message": "x"}):
            self.fails(7020, "git_commit", arguments, "--config", str(config))

    def test_arguments(self):
        """git_commit: an empty message is refused"""
        self.init()
        for message in ("", " ", "\n\n", "a\0b", 7):
            self.assertEqual(self.fails(None, "git_commit", {"message": message}).kind, "BadArgs")

    def test_filters_and_hooks(self):
        """git_commit: staging what goes through a filter is refused, and no hook runs"""
        self.init()
        canary = self.base / "canary"
        for hook in ("pre-commit", "commit-msg", "post-commit", "prepare-commit-msg"):
            path = self.write(f".git/hooks/{hook}", f"#!/bin/sh\ntouch {canary}\n")
            path.chmod(0o755)
        self.write("a.txt", "two\n")
        self.git("commit", "-q", "-a", "-m", "plain git runs them")
        self.assertTrue(canary.exists())
        canary.unlink()
        self.write("a.txt", "three\n")
        self.gives("git_commit", {"message": "x", "all": True})
        self.assertFalse(canary.exists())
        self.git("config", "filter.evil.clean", f"touch {canary}; cat")
        self.write(".gitattributes", "f.txt filter=evil\n")
        self.write("f.txt", "x\n")
        self.assertIn("filter", self.fails(7010, "git_commit", {"message": "x", "all": True}).text)
        self.assertFalse(canary.exists())


if __name__ == "__main__":
    harness.main()
