#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The text shown to a user who decides cannot be emptied or pushed away."""
import hashlib
import os

import harness

EVIL = "import evil"
COMMIT = ("git_commit", {"type": "feat", "message": "x"})


class Shown(harness.Case):
    """Each case: what plain git hides, then what is shown."""

    def setUp(self):
        super().setUp()
        self.init()
        self.commit("app.py", "one\n", "app")

    def stage(self):
        """The change nobody is to see, staged."""
        self.write("app.py", f"one\n{EVIL}\n")
        self.git("add", "app.py")

    def question(self, tool, arguments, *options):
        """What is shown for a call that is then rejected."""
        server = harness.AskingServer(self, *options)
        shown, result = server.decided("reject", tool, arguments)
        self.assertEqual(result.kind, "ApprovalDenied", result)
        return shown

    def assert_hidden_and_shown(self):
        """git shows nothing of it, in what is staged and in what would be lost; a user sees it.
        """
        self.stage()
        self.assertNotIn(EVIL, self.out("diff", "--cached"))
        self.assertIn("+" + EVIL, self.question(*COMMIT))
        self.git("reset", "-q")
        self.assertNotIn(EVIL, self.out("diff"))
        for tool, arguments, *options in (
                ("git_restore", {"paths": ["app.py"]}),
                ("git_checkout", {"paths": ["app.py"]}),
                ("git_checkout", {"target": "HEAD", "force": True}, "--toolset", "workflow")):
            shown = self.question(tool, arguments, *options)
            self.assertIn("+" + EVIL, shown)
            self.assertIn("+1 -0  modified: app.py", shown)

    def test_attributes(self):
        """-diff and binary in .gitattributes hide nothing from who is asked"""
        for line in ("*.py -diff", "*.py binary", "* -diff -text"):
            self.commit(".gitattributes", line + "\n", line)
            self.assert_hidden_and_shown()

    def test_own_attributes(self):
        """-diff in .git/info/attributes hides nothing from who is asked"""
        self.write(".git/info/attributes", "app.py -diff\n")
        self.assert_hidden_and_shown()

    def test_driver(self):
        """a driver that says binary hides nothing, from who is asked or from git_diff"""
        self.write(".git/info/attributes", "app.py diff=x\n")
        self.git("config", "diff.x.binary", "true")
        self.git("config", "diff.x.xfuncname", "(")
        self.stage()
        self.assertIn("+" + EVIL, self.ok("git_diff", {"cached": True}).text)
        self.assertIn("+" + EVIL, self.question(*COMMIT))

    def test_threshold(self):
        """core.bigFileThreshold hides nothing, from who is asked or from git_diff"""
        self.git("config", "core.bigFileThreshold", "1")
        self.assert_hidden_and_shown()
        self.assertIn("+" + EVIL, self.ok("git_diff").text)

    def test_taste(self):
        """what the configuration says about the form of a diff changes nothing that is shown"""
        self.stage()
        expected = self.question(*COMMIT)
        for key, value in (("diff.algorithm", "patience"), ("diff.context", "0"),
                           ("diff.interHunkContext", "9"), ("diff.orderFile", "app.py"),
                           ("diff.relative", "true"), ("diff.noprefix", "true"),
                           ("diff.suppressBlankEmpty", "true"), ("diff.wsErrorHighlight", "all"),
                           ("diff.colorMoved", "zebra"), ("diff.submodule", "log"),
                           ("diff.renames", "false"), ("color.ui", "always"),
                           ("core.whitespace", "cr-at-eol"), ("diff.statGraphWidth", "1")):
            self.git("config", key, value)
            self.assertEqual(self.question(*COMMIT), expected, key)

    def test_binary(self):
        """what is binary on every side is named; a text that gets a NUL is shown"""
        self.write("new.png", b"\x89PNG\0\n" + b"x\n" * 9)
        self.write("app.py", f"one\n{EVIL}\n\0\n")
        self.git("add", "-A")
        shown = self.question(*COMMIT)
        self.assertIn("2 files, +12 -0, of which 1 is not shown in full:", shown)
        self.assertIn("  binary  added: new.png\n", shown)
        self.assertIn("(binary content, not shown)", shown)
        self.assertIn(f"+{EVIL}\n+<U+0000>\n", shown)

    def test_line_ends(self):
        """a change of line ends, which the patch shows as equal lines, is named"""
        self.commit("same.txt", "one\r\ntwo\r\n", "same")
        self.write("app.py", "one\r\n")
        self.write("same.txt", "1\r\ntwo\r\n")
        self.git("commit", "-q", "--allow-empty", "-m", "x")
        self.git("-c", "core.autocrlf=false", "add", "-A")
        shown = self.question(*COMMIT)
        self.assertIn("  +1 -1  modified, line ends change: app.py\n", shown)
        self.assertIn("  +1 -1  modified: same.txt\n", shown)

    def test_list(self):
        """every file is named before the patch, what loses most first"""
        self.commit("run.sh", "#!/bin/sh\n", "run")
        self.commit("link", "x\n", "link")
        self.commit("gone", "a\nb\n", "more")
        self.git("rm", "-q", "gone")
        os.chmod(self.root / "run.sh", 0o755)
        self.git("add", "run.sh")
        (self.root / "link").unlink()
        os.symlink("run.sh", self.root / "link")
        self.write("big", "x\n" * 999)
        self.write(".gitattributes", "* text\n")
        self.write(".github/workflows/ci.yml", "on: push\n")
        self.stage()
        self.git("add", "-A")
        shown = self.question(*COMMIT)
        listed = shown[shown.index("7 files, "):shown.index("diff --git")]
        self.assertEqual(listed, (
            "7 files, +1003 -3, of which 4 are not shown in full:\n"
            "  +0 -2  deleted: gone\n"
            "  +1 -1  another type, mode 100644 to 120000: link\n"
            "  +0 -0  modified, mode 100644 to 100755: run.sh\n"
            "  +1 -0  added, says how git treats files: .gitattributes\n"
            "  +1 -0  added, runs in CI: .github/workflows/ci.yml\n"
            "  +999 -0  added: big\n"
            "  +1 -0  modified: app.py\n"), shown)

    def test_many(self):
        """of more than 200 files the first 200 are named and the rest is counted"""
        for count in (199, 200, 201):
            self.git("reset", "-q", "--hard")
            for number in range(count):
                self.write(f"f{number:03}", "x\n")
            self.git("add", "-A")
            shown = self.question(*COMMIT)
            self.assertEqual(shown.count("added: f"), min(count, 200))
            self.assertEqual("  … and 1 more file\n" in shown, count == 201)
            self.assertIn(f"{count} files, +{count} -0, of which {count - 28} are not shown", shown)

    def forge(self, oid, name):
        """Another object in the place of one: what plain git shows for it is then that."""
        def loose(which):
            return self.root / ".git/objects" / which[:2] / which[2:]
        other = self.out("hash-object", "-w", name).strip()
        true = loose(oid).read_bytes()
        loose(oid).unlink()
        loose(oid).write_bytes(loose(other).read_bytes())
        return loose(oid), true

    def test_forged_new(self):
        """a staged blob with other content in its place is not shown as what is committed"""
        self.stage()
        oid = self.out("rev-parse", ":app.py").strip()
        self.write("app.py", "one\nimport good\n")
        self.write("good", "one\nimport good\n")
        path, true = self.forge(oid, "good")
        self.assertIn("+import good", self.out("diff", "--cached"))
        self.refuse_forged(oid, *COMMIT)
        path.unlink()
        path.write_bytes(true)
        self.assertIn("+" + EVIL, self.question(*COMMIT))

    def test_forged_stat(self):
        """a file that looks like an entry of the index is not shown as the entry's content"""
        self.stage()
        evil = self.out("rev-parse", ":app.py").strip()
        self.write("app.py", f"one\n{EVIL[::-1]}\n")
        self.git("add", "app.py")
        good = self.out("rev-parse", ":app.py").strip()
        index = self.root / ".git/index"
        body = index.read_bytes()[:-20].replace(bytes.fromhex(good), bytes.fromhex(evil))
        index.write_bytes(body + hashlib.sha1(body).digest())
        os.utime(index, (2**31, 2**31))
        self.assertIn(EVIL[::-1], self.out("diff", "--cached"))
        self.assertIn("+" + EVIL, self.question(*COMMIT))
        (self.root / "d").mkdir()
        for where, paths in (("", ["app.py"]), ("", ["*.py"]), ("", [str(self.root / "app.py")]),
                             ("d", [str(self.root / "app.py")])):
            self.assertIn("+" + EVIL, self.question(
                "git_restore", {"paths": paths, "staged": True, "worktree": False,
                                "working_dir": str(self.root / where)}))

    def test_forged_old(self):
        """a blob of HEAD with other content in its place hides no difference"""
        self.stage()
        oid = self.out("rev-parse", "HEAD:app.py").strip()
        path, true = self.forge(oid, "app.py")
        self.refuse_forged(oid, *COMMIT)
        path.unlink()
        path.write_bytes(true)
        self.assertIn("+" + EVIL, self.question(*COMMIT))

    def test_forged_tree(self):
        """a tree of HEAD with another in its place hides no file"""
        self.commit("d/x.py", "x\n", "d")
        self.stage()
        self.write("d/x.py", "y\n")
        self.git("add", "d/x.py")
        old = self.out("rev-parse", "HEAD:d").strip()
        new = self.out("rev-parse", self.out("write-tree").strip() + ":d").strip()
        path = self.root / ".git/objects" / old[:2] / old[2:]
        path.unlink()
        path.write_bytes((self.root / ".git/objects" / new[:2] / new[2:]).read_bytes())
        self.assertNotIn("d/x.py", self.out("diff", "--cached", "--name-only"))
        self.refuse_forged(old, *COMMIT)

    def refuse_forged(self, oid, tool, arguments):
        """A server that would ask refuses without asking, naming the object."""
        server = harness.AskingServer(self)
        result = server.call(tool, arguments)
        self.assertEqual(result.kind, "ExecutionFailed", result)
        self.assertIn(f"Object {oid} of the repository has other content than its id says", result.text)

    LOSING = (("git_restore", {"paths": ["app.py"]}),
              ("git_checkout", {"paths": ["app.py"]}),
              ("git_checkout", {"target": "HEAD", "force": True}, "--toolset", "workflow"),
              ("git_stash", {"action": "push"}))

    def assert_loss_shown(self):
        """git sees no change; who would lose it does."""
        self.assertEqual(self.out("diff"), "")
        for tool, arguments, *options in self.LOSING:
            self.assertIn("+" + EVIL, self.question(tool, arguments, *options), tool)

    def test_marked(self):
        """a file that the index calls unchanged is shown before its change is overwritten"""
        for bit in ("assume-unchanged", "skip-worktree"):
            self.git("update-index", "--" + bit, "app.py")
            self.write("app.py", f"one\n{EVIL}\n")
            self.write("b", "x\n")
            self.assert_loss_shown()
            self.assertNotIn("app.py", self.question("git_add", {"all": True}))
            (self.root / "app.py").unlink()
            self.git("update-index", "--no-" + bit, "app.py")
            self.git("reset", "-q", "--hard")

    def test_marked_and_lost(self):
        """such a change is lost with plain git, and one that moves while it is asked about is
        asked about again"""
        self.git("update-index", "--assume-unchanged", "app.py")
        self.write("app.py", f"one\n{EVIL}\n")
        self.git("checkout", "--", "app.py")
        self.assertEqual((self.root / "app.py").read_text(), "one\n")
        self.write("app.py", f"one\n{EVIL}\n")
        server = harness.AskingServer(self)
        number = server.ask("git_restore", {"paths": ["."]})
        for word in (EVIL, "more"):
            question = server.receive()
            self.assertIn("+" + word, question["params"]["message"])
            if word == EVIL:
                self.write("app.py", "one\nmore\n")
            server.send(id=question["id"],
                        result={"action": "accept", "content": {"decision": "once"}})
        self.assertEqual(server.receive()["id"], number)
        self.assertEqual((self.root / "app.py").read_text(), "one\n")

    def test_looks_alike(self):
        """a file that looks as it did when it was staged is shown all the same"""
        self.git("config", "core.trustctime", "false")
        self.git("config", "core.checkStat", "minimal")
        past = (2**30, 2**30)
        self.write("app.py", f"one\n{EVIL[::-1]}\n")
        os.utime(self.root / "app.py", past)
        self.commit("b", "b\n", "b")
        self.git("commit", "-q", "-a", "-m", "a")
        self.write("app.py", f"one\n{EVIL}\n")
        os.utime(self.root / "app.py", past)
        self.assert_loss_shown()

    def test_line_ends(self):
        """line ends that git would convert are no loss, marked or not"""
        self.git("config", "core.autocrlf", "true")
        self.write("app.py", "one\r\n")
        self.git("update-index", "--assume-unchanged", "app.py")
        server = harness.AskingServer(self)
        self.assertEqual(server.ok("git_restore", {"paths": ["app.py"]}).text,
                         "Restored 1 file(s)")

    def test_merge(self):
        """a commit that concludes a merge, a cherry-pick or a revert says so, with the commits"""
        self.git("checkout", "-q", "-b", "side")
        self.commit("side", "s\n", "the other side")
        self.git("checkout", "-q", "main")
        self.git("merge", "-q", "--no-commit", "--no-ff", "-s", "ours", "side")
        short = self.out("rev-parse", "--short=8", "side").strip()
        for tool, arguments, *options in (COMMIT, (
                "git_merge", {"branch": "x", "abort": True}, "--toolset", "workflow")):
            shown = self.question(tool, arguments, *options)
            if tool == "git_commit":
                self.assertIn("This concludes a merge, and takes in the history of:\n"
                              f"  {short} the other side\n", shown)
        self.git("merge", "--abort")
        self.git("cherry-pick", "--no-commit", "side")
        self.git("update-ref", "CHERRY_PICK_HEAD", "side")
        self.assertIn(f"This continues the cherry-pick of:\n  {short} the other side\n",
                      self.question(*COMMIT))

    def test_nothing(self):
        """who would be asked about nothing is not asked; git says why nothing is done"""
        self.git("branch", "side")
        self.git("checkout", "-q", "-b", "far")
        self.commit("far", "f\n", "far")
        self.git("checkout", "-q", "main")
        server = harness.AskingServer(self)
        for tool, arguments, text in (
                ("git_restore", {"paths": ["app.py"]}, "Restored 1 file(s)"),
                ("git_restore", {"paths": ["app.py"], "staged": True}, "Restored 1 file(s)"),
                ("git_checkout", {"paths": ["app.py"]}, "Restored 1 file(s)"),
                ("git_stash", {"action": "push"}, "No local changes to save"),
                ("git_branch", {"delete": "far"}, "not fully merged"),
                ("git_branch", {"delete": "main"}, "main"),
                ("git_branch", {"force_delete": "main"}, "main"),
                ("git_branch", {"force_delete": "none"}, "none")):
            self.assertIn(text, server.call(tool, arguments).text)
        self.assertIn("Lost, because", self.question("git_branch", {"force_delete": "far"}))
        self.question("git_branch", {"delete": "side"})
        self.write("app.py", "")
        self.question("git_restore", {"paths": ["app.py"]})
        self.git("add", "app.py")
        self.assertIn("This is staged, and stashed:",
                      self.question("git_stash", {"action": "push"}))


if __name__ == "__main__":
    harness.main()
