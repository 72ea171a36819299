#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_add and git_commit change what was approved and nothing else."""
import harness

IDENTITY = ("Git user.name or user.email not configured. Run: git config --global user.name "
            "'Your Name' && git config --global user.email 'you@example.com'")


class Add(harness.Case):
    def staged(self):
        """What the index has that HEAD has not: names with their status."""
        return self.out("diff", "--cached", "--name-status").splitlines()

    def changed(self):
        """A modified, a deleted and two untracked files."""
        self.init()
        self.commit("b.txt", "b\n", "second")
        self.write("a.txt", "two\n")
        (self.root / "b.txt").unlink()
        self.write("new.txt", "new\n")
        self.write("dir/new.txt", "new\n")

    def test_paths(self):
        """T-GIT-ADD-01 add stages the named paths only"""
        self.changed()
        self.assertEqual(self.ok("git_add", {"paths": ["a.txt", "new.txt"]}).text,
                         "Staged 2 file(s)")
        self.assertEqual(self.staged(), ["M\ta.txt", "A\tnew.txt"])
        self.assertEqual(self.ok("git_add", {"paths": ["b.txt"]}).text, "Staged 1 file(s)")
        self.assertEqual(self.staged(), ["M\ta.txt", "D\tb.txt", "A\tnew.txt"])

    def test_all(self):
        """T-GIT-ADD-02 add with all stages everything and ignores paths"""
        self.changed()
        self.assertEqual(self.ok("git_add", {"all": True, "paths": ["a.txt"]}).text,
                         "Staged 4 file(s)" + harness.IGNORED + "paths, since all is given")
        self.assertEqual(self.staged(), ["M\ta.txt", "D\tb.txt", "A\tdir/new.txt", "A\tnew.txt"])
        self.assertEqual(self.out("status", "--porcelain=1").count("?"), 0)

    def test_update(self):
        """add with update stages changes of tracked files only"""
        self.changed()
        self.assertEqual(self.ok("git_add", {"update": True}).text, "Staged 2 file(s)")
        self.assertEqual(self.staged(), ["M\ta.txt", "D\tb.txt"])

    def test_all_excludes_update(self):
        """T-GIT-ADD-03 add refuses all together with update"""
        self.changed()
        self.refused("BadArgs", "all and update are mutually exclusive", "git_add",
                     {"all": True, "update": True})
        self.refused("BadArgs", "all and update are mutually exclusive", "git_add",
                     {"all": True, "update": True, "paths": ["a.txt"]}, approval="deny")
        self.assertEqual(self.staged(), [])

    def test_needs_something(self):
        """add without paths, all or update is refused"""
        self.changed()
        message = "At least one of paths, all, or update must be specified"
        for arguments in ({}, {"paths": []}, {"all": False}, {"paths": [], "update": False}):
            self.refused("BadArgs", message, "git_add", arguments)

    def test_missing_file(self):
        """add of a file that is not there fails with git's words and stages nothing"""
        self.changed()
        raw = self.git("add", "--", "nowhere.txt", check=False)
        result = self.call("git_add", {"paths": ["a.txt", "nowhere.txt"]})
        self.assertTrue(result.failed)
        self.assertEqual(result.kind, "ExecutionFailed")
        self.assertIn(raw.stderr.decode().strip(), result.text)
        self.assertEqual(self.staged(), [])

    def test_names_with_spaces(self):
        """T-GIT-EDGE-14 add takes names with spaces, quotes and dashes as they are"""
        self.init()
        names = ["with space.txt", " leading", "dir name/it's.txt", '"quoted"', "-dash",
                 "semi;colon", "$HOME", "caf\u00e9.txt"]
        for name in names:
            self.write(name, "x\n")
        self.assertEqual(self.ok("git_add", {"paths": names}).text, "Staged 8 file(s)")
        self.assertEqual(sorted(self.out("diff", "--cached", "--name-only", "-z").split("\0")),
                         sorted(names + [""]))

    def test_ignored_file(self):
        """add of an ignored file fails as it does with git"""
        self.init()
        self.write(".gitignore", "*.log\n")
        self.write("x.log", "x\n")
        result = self.call("git_add", {"paths": ["x.log"]})
        self.assertTrue(result.failed)
        self.assertIn("ignored", result.text)


class Commit(harness.Case):
    def stage(self):
        """A repository with one staged change."""
        self.init()
        self.write("a.txt", "two\n")
        self.git("add", "a.txt")

    def message(self):
        """The message of HEAD, whole."""
        return self.out("log", "-1", "--format=%B")

    def assert_committed(self, result, subject):
        """The result is git's report of the commit that HEAD now is."""
        head = self.out("rev-parse", "--short", "HEAD").strip()
        self.assertEqual(result.text.splitlines()[0], f"[main {head}] {subject}")
        self.assertIn(" 1 file changed, 1 insertion(+), 1 deletion(-)", result.text)
        self.assertEqual(self.message().splitlines()[0], subject)

    def test_conventional(self):
        """T-GIT-COMMIT-01 commit writes 'type: message'"""
        self.stage()
        self.assert_committed(self.ok("git_commit", {"type": "feat", "message": "say two"}),
                              "feat: say two")
        self.assertEqual(self.out("log", "--format=%an <%ae>", "-1"),
                         "A U Thor <author@example.com>\n")
        self.assertEqual(self.out("status", "--porcelain=1"), "")

    def test_scope(self):
        """T-GIT-COMMIT-02 commit with a scope writes 'type(scope): message'"""
        self.stage()
        self.assert_committed(self.ok("git_commit", {"type": "fix", "scope": "api-v2_x",
                                                     "message": "say two"}),
                              "fix(api-v2_x): say two")

    def test_nothing_staged(self):
        """T-GIT-COMMIT-03 commit with nothing staged is refused before anyone is asked"""
        head = self.init()
        self.write("a.txt", "not staged\n")
        for approval in ("allow", "ask", "deny"):
            result = self.refused("ExecutionFailed", "nothing to commit", "git_commit",
                                  {"type": "feat", "message": "x"}, approval=approval)
            self.assertEqual(result.error["code"], 7036)
            self.assertEqual(result.error["name"], "GIT_NO_STAGED_CHANGES")
        self.assertEqual(self.out("rev-parse", "HEAD").strip(), head)

    def test_first_commit(self):
        """commit makes the first commit of a repository"""
        self.git("init", "-q")
        self.refused("ExecutionFailed", "nothing to commit", "git_commit",
                     {"type": "feat", "message": "begin"})
        self.write("a.txt", "one\n")
        self.git("add", "a.txt")
        text = self.ok("git_commit", {"type": "feat", "message": "begin"}).text
        head = self.out("rev-parse", "--short", "HEAD").strip()
        self.assertEqual(text.splitlines()[0], f"[main (root-commit) {head}] feat: begin")

    def test_words_are_checked(self):
        """commit refuses a wrong type, scope or message by name"""
        self.stage()
        kind = "type must be lowercase letters only (e.g., feat, fix, docs)"
        for word in ("", "Feat", "feat!", "feat fix", "feat\n", "f-x"):
            self.refused("BadArgs", kind, "git_commit", {"type": word, "message": "x"})
        scope = "scope must be lowercase alphanumeric, underscore, or hyphen"
        for word in ("", "API", "a b", "a/b", "a\n"):
            self.refused("BadArgs", scope, "git_commit",
                         {"type": "feat", "scope": word, "message": "x"})
        for word in ("", " ", "\n\t "):
            self.refused("BadArgs", "message must not be empty", "git_commit",
                         {"type": "feat", "message": word})
        self.refused("BadArgs", "message is required", "git_commit", {"type": "feat"})
        self.refused("BadArgs", "type is required", "git_commit", {"message": "x"})
        self.assertEqual(self.out("rev-list", "--count", "HEAD"), "1\n")

    def test_several_lines(self):
        """T-GIT-EDGE-15 commit keeps a message of several lines"""
        self.stage()
        self.ok("git_commit", {"type": "docs", "message": "say two\n\nBecause one\nwas not enough."
                                                          "\n\n- item\n# no comment"})
        self.assertEqual(self.message(), "docs: say two\n\nBecause one\nwas not enough.\n\n- item\n"
                                         "# no comment\n\n")

    def test_shell_words(self):
        """T-GIT-SEC-09 commit takes shell metacharacters as text"""
        self.stage()
        message = "$(touch pwned) `touch pwned`; touch pwned && x | y > pwned \"'\\ ${HOME} !!"
        self.ok("git_commit", {"type": "feat", "message": message})
        self.assertEqual(self.message(), f"feat: {message}\n\n")
        self.assertFalse((self.root / "pwned").exists())

    def test_dashes_in_the_message(self):
        """commit takes a message that looks like an option as text"""
        self.stage()
        self.ok("git_commit", {"type": "feat", "message": "--amend --no-verify"})
        self.assertEqual(self.message(), "feat: --amend --no-verify\n\n")
        self.assertEqual(self.out("rev-list", "--count", "HEAD"), "2\n")

    def test_no_identity(self):
        """T-GIT-EDGE-21 commit without user.name or user.email is refused before anyone is asked"""
        self.stage()
        head = self.out("rev-parse", "HEAD")
        config = self.home / ".gitconfig"
        for text in ("", "[user]\n\tname = A U Thor\n", "[user]\n\temail = a@example.com\n"):
            config.write_text(text, encoding="utf-8")
            for approval in ("allow", "deny"):
                self.refused("ExecutionFailed", IDENTITY, "git_commit",
                             {"type": "feat", "message": "x"}, approval=approval)
        self.assertEqual(self.out("rev-parse", "HEAD"), head)

    def test_identity_of_the_repository(self):
        """commit takes the identity of the repository's own configuration"""
        self.stage()
        (self.home / ".gitconfig").write_text("", encoding="utf-8")
        self.git("config", "user.name", "Local Person")
        self.git("config", "user.email", "local@example.com")
        self.ok("git_commit", {"type": "feat", "message": "x"})
        self.assertEqual(self.out("log", "-1", "--format=%an <%ae>"),
                         "Local Person <local@example.com>\n")

    def test_add_then_commit(self):
        """T-GIT-INT-01 add, then commit, then a clean status"""
        self.init()
        self.write("new.txt", "new\n")
        self.ok("git_add", {"paths": ["new.txt"]})
        self.ok("git_commit", {"type": "feat", "scope": "core", "message": "add new"})
        self.assertEqual(self.ok("git_status").text, "## main\n")
        self.assertEqual(self.out("log", "--format=%s"), "feat(core): add new\nfirst\n")
        self.assertEqual(self.out("show", "HEAD:new.txt"), "new\n")


class Approval(harness.Case):
    """Who may not be asked, may not change anything."""

    def setUp(self):
        super().setUp()
        self.init()
        self.write("a.txt", "two\n")
        self.write("b.txt", "b\n")
        self.write("c.txt", "c\n")

    def test_add(self):
        """T-GIT-COMMON-02 add needs an approval and sums itself up"""
        self.assert_asks("Stage 1 file(s): a.txt", "git_add", {"paths": ["a.txt"]})
        self.assert_asks("Stage 2 file(s): a.txt, b.txt", "git_add",
                         {"paths": ["a.txt", "b.txt"]})
        self.assert_asks("Stage 3 file(s): a.txt, b.txt...", "git_add",
                         {"paths": ["a.txt", "b.txt", "c.txt"]})
        self.assert_asks("Stage all changes", "git_add", {"all": True})
        self.assert_asks("Stage modified/deleted files", "git_add", {"update": True})

    def test_commit(self):
        """T-GIT-COMMON-02 commit needs an approval and sums itself up"""
        self.git("add", "a.txt")
        self.assert_asks("Commit: feat: say two...", "git_commit",
                         {"type": "feat", "message": "say two\n\nAnd a body."})
        self.assert_asks("Commit: fix(core): say two", "git_commit",
                         {"type": "fix", "scope": "core", "message": "say two"})
        result = self.call("git_commit", {"type": "feat", "message": "m" * 51}, approval="ask")
        self.assertIn("Commit: feat: " + "m" * 50, result.text)
        self.assertNotIn("m" * 51, result.text)

    def test_reading(self):
        """T-GIT-COMMON-02 reading needs no approval"""
        for tool in ("git_status", "git_diff", "git_log"):
            for approval in ("ask", "deny"):
                self.ok(tool, approval=approval)


if __name__ == "__main__":
    harness.main()
