#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_status and git_log say what git says."""
import harness


class Status(harness.Case):
    def dirty(self):
        """A repository with one file of every kind."""
        self.init()
        self.commit("gone.txt", "gone\n", "second")
        self.write("a.txt", "two\n")
        self.write("new.txt", "new\n")
        self.write("staged dir/staged.txt", "staged\n")
        self.git("add", "staged dir")
        (self.root / "gone.txt").unlink()

    def test_porcelain(self):
        """T-GIT-STATUS-01 status is git's porcelain output with the branch line"""
        self.dirty()
        raw = self.out("status", "--porcelain=1", "-b")
        self.assertIn("## main\n", raw)
        self.assertEqual(self.ok("git_status").text, raw)
        self.assertEqual(self.ok("git_status", {"porcelain": True, "branch": True,
                                                "untracked": True}).text, raw)

    def test_porcelain_without_branch_or_untracked(self):
        """status leaves out the branch line and untracked files when told to"""
        self.dirty()
        self.assertEqual(self.ok("git_status", {"branch": False}).text,
                         self.out("status", "--porcelain=1"))
        self.assertEqual(self.ok("git_status", {"untracked": False}).text,
                         self.out("status", "--porcelain=1", "-b", "-uno"))
        self.assertEqual(self.ok("git_status", {"branch": False, "untracked": False}).text,
                         self.out("status", "--porcelain=1", "-uno"))

    def test_human(self):
        """T-GIT-STATUS-02 status with porcelain=false is git's text for users"""
        self.dirty()
        raw = self.out("status")
        self.assertIn("Changes not staged for commit:", raw)
        self.assertEqual(self.ok("git_status", {"porcelain": False}).text, raw)
        self.assertEqual(self.ok("git_status", {"porcelain": False, "untracked": False}).text,
                         self.out("status", "-uno"))
        self.assertEqual(self.ok("git_status", {"porcelain": False, "branch": False}).text, raw)

    def test_clean(self):
        """status of a clean working tree is the branch line alone"""
        self.init()
        self.assertEqual(self.ok("git_status").text, "## main\n")
        self.assertEqual(self.ok("git_status", {"branch": False}).text, "")

    def test_empty_repository(self):
        """T-GIT-EDGE-01 status works before the first commit"""
        self.git("init", "-q")
        self.assertEqual(self.ok("git_status").text, self.out("status", "--porcelain=1", "-b"))
        self.write("a.txt", "one\n")
        raw = self.out("status", "--porcelain=1", "-b")
        self.assertEqual(raw, "## No commits yet on main\n?? a.txt\n")
        self.assertEqual(self.ok("git_status").text, raw)
        self.assertEqual(self.ok("git_status", {"porcelain": False}).text, self.out("status"))

    def test_detached(self):
        """T-GIT-EDGE-17 status names a detached HEAD"""
        commit = self.init()
        self.git("checkout", "-q", commit)
        self.assertEqual(self.ok("git_status").text, "## HEAD (no branch)\n")
        self.assertEqual(self.ok("git_status", {"porcelain": False}).text, self.out("status"))

    def test_changes_nothing(self):
        """status leaves the index as it is, even a stale one"""
        self.init()
        index = (self.root / ".git/index").read_bytes()
        self.write("a.txt", "one\n")  # the same content, another time
        self.ok("git_status")
        self.assertEqual((self.root / ".git/index").read_bytes(), index)

    def test_subdirectory(self):
        """status in a directory of the repository is git's there"""
        self.dirty()
        where = self.root / "staged dir"
        self.assertEqual(self.ok("git_status", {"working_dir": "staged dir"}).text,
                         self.out("status", "--porcelain=1", "-b", cwd=where))
        self.assertEqual(self.ok("git_status", {"working_dir": str(where)}).text,
                         self.out("status", "--porcelain=1", "-b", cwd=where))

    def test_linked_worktree(self):
        """a linked worktree within the root works"""
        repo = self.root / "repo"
        self.init(repo)
        self.git("worktree", "add", "-q", "../linked", cwd=repo)
        self.write("linked/new.txt", "new\n")
        self.assertEqual(self.ok("git_status", {"working_dir": "linked"}).text,
                         "## linked\n?? new.txt\n")


class Log(harness.Case):
    def history(self):
        """Five commits of two users, a minute apart."""
        self.init()
        self.commit("b.txt", "b\n", "feat: add b")
        self.commit("a.txt", "two\n", "fix: mend a\n\nBecause it was broken.",
                    GIT_AUTHOR_NAME="Other Person", GIT_AUTHOR_EMAIL="other@example.com")
        self.commit("b.txt", "bb\n", "feat: more b")
        self.commit("c.txt", "c\n", "docs: c", GIT_AUTHOR_NAME="Other Person",
                    GIT_AUTHOR_EMAIL="other@example.com")

    def assert_log(self, arguments, *words):
        """git_log with these arguments is `git log` with these words."""
        raw = self.out("log", *words)
        self.assertEqual(self.ok("git_log", arguments).text, raw, arguments)
        return raw

    def test_plain(self):
        """log without arguments is git's whole log"""
        self.history()
        self.assertEqual(self.assert_log({}).count("\ncommit "), 4)

    def test_max_count(self):
        """T-GIT-LOG-01 log shows as many commits as max_count says"""
        self.history()
        for count in (1, 2, 5, 6):
            raw = self.assert_log({"max_count": count, "oneline": True}, f"-n{count}", "--oneline")
            self.assertEqual(raw.count("\n"), min(count, 5))

    def test_author(self):
        """T-GIT-LOG-02 log keeps the commits of an author"""
        self.history()
        raw = self.assert_log({"author": "Other", "oneline": True}, "--author=Other", "--oneline")
        self.assertEqual(raw.count("\n"), 2)
        self.assert_log({"author": "author@example.com"}, "--author=author@example.com")
        self.assertEqual(self.assert_log({"author": "Nobody"}, "--author=Nobody"), "")

    def test_format_wins(self):
        """T-GIT-LOG-03 log prefers format to oneline"""
        self.history()
        form = "%h|%an|%s"
        raw = self.out("log", f"--format={form}")
        self.assertEqual(self.ok("git_log", {"format": form, "oneline": True}).text,
                         raw + harness.IGNORED + "oneline, since format is given")
        self.assertIn("|Other Person|docs: c\n", raw)
        self.assert_log({"format": form}, f"--format={form}")
        self.assert_log({"oneline": True}, "--oneline")

    def test_grep_and_path(self):
        """log keeps what matches a message pattern or touches a path"""
        self.history()
        self.assertEqual(self.assert_log({"grep": "^feat", "oneline": True}, "--grep=^feat",
                                         "--oneline").count("\n"), 2)
        self.assertEqual(self.assert_log({"path": "a.txt", "oneline": True}, "--oneline", "--",
                                         "a.txt").count("\n"), 2)
        self.assert_log({"path": "b.txt", "grep": "more"}, "--grep=more", "--", "b.txt")

    def test_author_and_dates(self):
        """T-GIT-INT-06 log filters by author and date range together"""
        self.history()
        since, until = harness.CLOCK + 90, harness.CLOCK + 200
        raw = self.assert_log({"author": "Other", "since": f"@{since}", "until": f"@{until}",
                               "oneline": True},
                              "--author=Other", f"--since=@{since}", f"--until=@{until}",
                              "--oneline")
        self.assertEqual(raw.count("\n"), 1)
        self.assert_log({"since": "2023-11-14T22:15:00Z"}, "--since=2023-11-14T22:15:00Z")
        self.assert_log({"until": "2 weeks ago", "oneline": True}, "--until=2 weeks ago",
                        "--oneline")

    def test_single_commit(self):
        """T-GIT-EDGE-05 log of a single commit"""
        self.init()
        self.assertEqual(self.assert_log({}).count("commit "), 1)
        self.assert_log({"max_count": 1, "oneline": True}, "-n1", "--oneline")

    def test_max_count_zero(self):
        """T-GIT-EDGE-06 log with max_count 0 is refused before git runs"""
        self.init()
        self.refused("BadArgs", "max_count must be at least 1", "git_log", {"max_count": 0})
        self.refused("BadArgs", "max_count must be at least 1", "git_log", {"max_count": -1})
        self.refused("BadArgs", "Invalid arguments: 'max_count' must be an integer", "git_log",
                     {"max_count": "3"})
        self.ok("git_log", {"max_count": 1})

    def test_no_commits(self):
        """log before the first commit fails with git's words"""
        self.git("init", "-q")
        raw = self.git("log", check=False)
        self.assertEqual(raw.returncode, 128)
        self.refused("ExecutionFailed", raw.stderr.decode().strip(), "git_log")

    def test_free_text_is_no_option(self):
        """values that begin with a dash stay values"""
        self.init()
        self.assertEqual(self.ok("git_log", {"author": "--output=stolen"}).text, "")
        self.assertEqual(self.ok("git_log", {"grep": "-p"}).text, "")
        self.assertEqual(self.ok("git_log", {"grep": "--output=stolen"}).text, "")
        self.call("git_log", {"since": "--output=stolen"})
        self.call("git_log", {"until": "--output=stolen"})
        self.assertEqual(self.ok("git_log", {"format": "--output=stolen%n"}).text,
                         "--output=stolen\n\n")
        self.assertFalse((self.root / "stolen").exists())

    def test_truncated(self):
        """log is cut at max_bytes and says so"""
        self.history()
        raw = self.out("log")
        result = self.ok("git_log", {"max_bytes": 300})
        self.assertEqual(result.text, raw[:300 - len(harness.MARKER)] + harness.MARKER)
        self.assertTrue(result.meta["truncated"])


if __name__ == "__main__":
    harness.main()
