#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_push of the toolset staging: what a staged commit becomes in its target."""
import os
import subprocess

import harness
import pushing

MIB = 1 << 20


class Success(pushing.Pushing):
    """Pushes that a user approved."""

    def test_worktree(self):
        """a push to a working tree is a commit on its branch, and its files follow"""
        staged = self.stage({"report.md": "# Q4\n", "sub/data.json": "{}\n"}, "Add report\n\nBody.")
        commit, notes = self.pushed(staged)
        self.assertEqual(self.head(), commit)
        self.assertEqual(notes, f"Branch main was at {self.first}")
        self.assertEqual(self.out("log", "-1", "--format=%P|%an|%ae|%cn|%ce|%B").strip(),
                         f"{self.first}|A U Thor|author@example.com|A U Thor|author@example.com|"
                         "Add report\n\nBody.")
        self.assertEqual((self.root / "report.md").read_text(encoding="utf-8"), "# Q4\n")
        self.assertEqual((self.root / "sub/data.json").read_text(encoding="utf-8"), "{}\n")
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.git("fsck", "--strict")
        self.assertEqual(self.ok("git_status").text.strip(), "Sandbox Status:\n  No changes")
        self.assertEqual(self.record()["operation"], "status")

    def test_bare(self):
        """a push to a bare repository, which has no checkpoint, says what the branch was"""
        bare = self.make_bare()
        commit, notes = self.pushed(self.stage({"b.txt": "b\n"}), self.BARE)
        self.assertEqual(self.head("main", bare), commit)
        self.assertEqual(self.head("main~", bare), self.first)
        self.assertEqual(notes, f"Branch main was at {self.first}")
        self.assertEqual(self.content("b.txt", "main", bare), b"b\n")
        self.assertEqual(self.head(), self.first)
        self.assertIsNone(self.record()["git_commit"])

    def test_empty_bare(self):
        """an empty bare repository gets a root commit"""
        bare = self.make_bare(source=None)
        commit, notes = self.pushed(self.stage({"b.txt": "b\n"}), self.BARE)
        self.assertEqual(self.out("rev-list", "--parents", "main", cwd=bare).strip(), commit)
        self.assertEqual(notes, "Branch main is new")

    def test_unborn(self):
        """a working tree without commits gets a root commit, and its files"""
        empty = self.root / "empty"
        empty.mkdir()
        self.git("init", "-q", cwd=empty)
        commit, _ = self.pushed(self.stage({"b.txt": "b\n"}), {"type": "local", "path": "empty"})
        self.assertEqual(self.out("rev-list", "--parents", "main", cwd=empty).strip(), commit)
        self.assertEqual(self.out("status", "--porcelain", cwd=empty), "")
        self.assertEqual((empty / "b.txt").read_text(encoding="utf-8"), "b\n")

    def test_new_branch(self):
        """a branch that is missing begins at HEAD, and the approval says that it is new"""
        staged = self.stage({"b.txt": "b\n"}, "Add b")
        target = self.LOCAL | {"branch": "feature/x"}
        message = self.shown(staged, target)
        self.assertTrue(message.startswith(
            f'Push staged commit {staged[:8]} "Add b" to local:. (branch: feature/x, new branch)'),
            message)
        commit, notes = self.pushed(staged, target)
        self.assertEqual(self.head("feature/x"), commit)
        self.assertEqual(self.head("feature/x~"), self.first)
        self.assertEqual(notes, "Branch feature/x is new")
        self.assertEqual(self.head(), self.first)
        self.assertFalse((self.root / "b.txt").exists())

    def test_other_branch(self):
        """a branch that is not checked out moves, and no file changes"""
        self.git("branch", "other")
        self.git("switch", "-q", "-c", "mine")
        commit, _ = self.pushed(self.stage({"b.txt": "b\n"}), self.LOCAL | {"branch": "other"})
        self.assertEqual(self.head("other"), commit)
        self.assertEqual(self.head(), self.first)
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_linked_worktree(self):
        """a linked working tree inside the roots is a target like any other"""
        self.git("worktree", "add", "-q", "-b", "wt", "linked")
        commit, _ = self.pushed(self.stage({"b.txt": "b\n"}), {"type": "local", "path": "linked"})
        self.assertEqual(self.head("wt"), commit)
        self.assertTrue((self.root / "linked/b.txt").exists())
        self.assertEqual(self.head(), self.first)

    def test_sha256(self):
        """SHA-256 in the repository at the root, and in the target"""
        root = self.base / "sha256"
        root.mkdir()
        self.git("init", "-q", "--object-format=sha256", cwd=root)
        self.git("init", "-q", "--bare", "--object-format=sha256", "bare.git", cwd=root)
        self.commit("a.txt", "one\n", "first", root)
        for target, where in ((self.LOCAL, root), (self.BARE, root / "bare.git")):
            content = f"{target['type']}\r\n".encode()
            self.write("b.txt", content, self.workspace)
            staged = self.ok("git_stage", {"files": ["/workspace/b.txt"], "message": "x"},
                             root=root, cwd=root).value["structuredContent"]["id"]
            commit, _ = self.pushed(staged, target, root=root, cwd=root)
            self.assertEqual(len(commit), 64)
            self.assertEqual(self.content("b.txt", "main", where), content)
            self.git("fsck", "--strict", cwd=where)
        self.assertEqual(self.out("status", "--porcelain", cwd=root), "?? bare.git/\n")

    def test_several(self):
        """our own push does not stop the commits that are still staged"""
        one = self.stage({"1.txt": "1\n"}, "one")
        two = self.stage({"2.txt": "2\n"}, "two")
        self.pushed(one)
        self.pushed(two)
        three = self.stage({"3.txt": "3\n"}, "three")
        self.pushed(three)
        self.assertEqual(self.out("log", "--format=%s"), "three\ntwo\none\nfirst\n")

    def test_order(self):
        """a staged commit does not overtake an older one of the same file"""
        one = self.stage({"b.txt": "1\n"}, "one")
        two = self.stage({"b.txt": "2\n"}, "two")
        self.assertIn(f"push {one[:8]} first or discard it", self.push(two).text)
        self.assertEqual(self.head(), self.first)
        self.pushed(one)
        self.pushed(two)
        self.assertEqual(self.content("b.txt"), b"2\n")

    def test_many(self):
        """many files in one push"""
        files = {f"d{n % 7}/{n}.txt": f"{n}\n" for n in range(150)}
        commit, _ = self.pushed(self.stage(files))
        self.assertEqual(len(self.out("ls-tree", "-r", "--name-only", commit).split()), 151)
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.git("fsck", "--strict")

    def test_rollback(self):
        """airlock rollback undoes a push"""
        self.write("mine.txt", "mine\n")
        self.pushed(self.stage({"b.txt": "b\n", "a.txt": "two\n"}))
        done = subprocess.run([harness.AIRLOCK, "rollback", "--root", str(self.root)],
                              cwd=self.root, env=self.env, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.head(), self.first)
        self.assertEqual(self.out("status", "--porcelain"), "?? mine.txt\n")
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "one\n")

    def test_rollback_elsewhere(self):
        """a push to a branch that is not checked out is undone whatever the files have become"""
        self.git("branch", "side")
        self.pushed(self.stage({"b.txt": "b\n", "a.txt": "two\n"}), {**self.LOCAL, "branch": "side"})
        self.assertEqual(self.content("b.txt", "side"), b"b\n")
        self.write("a.txt", "mine\n")
        self.git("add", "a.txt")
        self.write("mine.txt", "mine\n")
        done = subprocess.run([harness.AIRLOCK, "rollback", "--root", str(self.root)],
                              cwd=self.root, env=self.env, capture_output=True, check=False,
                              stdin=subprocess.DEVNULL, timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual((self.head("side"), self.head()), (self.first, self.first))
        self.assertEqual(self.out("status", "--porcelain"), "M  a.txt\n?? mine.txt\n")

    def test_checkpoint(self):
        """the checkpoint of a push has the files only if the working tree is on the branch"""
        self.git("branch", "side")
        for number, (branch, has_files) in enumerate((("side", False), ("new", False),
                                                      ("main", True), (None, True))):
            target = {**self.LOCAL, **({"branch": branch} if branch else {})}
            self.pushed(self.stage({f"{number}.txt": f"{number}\n"}), target)
            [store] = (self.home / ".local/state/airlock").glob("*/checkpoints.git")
            after = self.out(f"--git-dir={store}", "rev-parse",
                             f"refs/after/{self.record()['git_commit']}").strip()
            parts = self.out(f"--git-dir={store}", "ls-tree", "--name-only", after).split()
            self.assertEqual(("worktree" in parts, "refs" in parts), (has_files, True), branch)

    def test_staged_elsewhere(self):
        """a prefix names a staged commit; an unknown one is not found"""
        staged = self.stage({"b.txt": "b\n"})
        self.assertEqual(self.push("ffffff00").error["reason"], "not_found")
        self.assertEqual(self.push(staged[:5]).error["reason"], "not_found")
        self.pushed(staged[:6])
        self.assertEqual(self.push(staged).error["reason"], "not_found")


class Content(pushing.Pushing):
    """What files become."""

    def test_delete_and_rename(self):
        """deletions and renames"""
        self.pushed(self.stage({"old.txt": "same\n", "gone.txt": "x\n"}))
        (self.workspace / "old.txt").rename(self.workspace / "new.txt")
        (self.workspace / "gone.txt").unlink()
        done = self.ok("git_stage", {"files": ["/workspace/old.txt", "/workspace/new.txt",
                                               "/workspace/gone.txt"], "message": "move"})
        self.pushed(done.value["structuredContent"]["id"])
        self.assertEqual(self.out("ls-tree", "-r", "--name-only", "HEAD"), "a.txt\nnew.txt\n")
        self.assertEqual(sorted(os.listdir(self.root)), [".git", "a.txt", "new.txt"])
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_executable(self):
        """an executable bit is pushed, and marked"""
        self.write("run.sh", "#!/bin/sh\n", self.workspace).chmod(0o755)
        staged = self.ok("git_stage", {
            "files": ["/workspace/run.sh"], "message": "x"}).value["structuredContent"]["id"]
        self.assertIn("+ run.sh (", self.shown(staged))
        self.assertIn(", executable\n", self.shown(staged))
        self.pushed(staged)
        self.assertTrue(self.out("ls-tree", "HEAD", "run.sh").startswith("100755"))
        self.assertTrue(os.access(self.root / "run.sh", os.X_OK))

    def test_crlf(self):
        """files are stored as git add would store them"""
        self.commit(".gitattributes", "*.txt text\n*.auto text=auto\n*.bin -text\n", "attributes")
        crlf, line = b"x\r\ny\r\n", b"x" * (MIB - 1)  # files are staged in pieces of so many
        self.pushed(self.stage({"d/t.txt": crlf, "t.auto": crlf, "t.bin": crlf, "t.none": crlf,
                                "parted.txt": line + b"\r\n", "cr.txt": line + b"\r" + line,
                                "twice.txt": crlf}))
        for name, content in (("d/t.txt", b"x\ny\n"), ("t.auto", b"x\ny\n"), ("t.bin", crlf),
                              ("t.none", crlf), ("parted.txt", line + b"\n"),
                              ("cr.txt", line + b"\r" + line), ("twice.txt", b"x\ny\n")):
            self.assertEqual(self.content(name), content, name)
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_own_attributes(self):
        """attributes that come with the same push count"""
        self.pushed(self.stage({".gitattributes": "*.txt text\n", "t.txt": b"x\r\n"}))
        self.assertEqual(self.content("t.txt"), b"x\n")

    def test_directory_becomes_file(self):
        """a file in the place of a directory removes what was in it, and says so"""
        self.commit("d/x.txt", "x\n", "d")
        self.commit("d/y.txt", "y\n", "d")
        staged = self.stage({"d": "now a file\n"})
        message = self.shown(staged)
        self.assertIn("Files:\n  - d/x.txt\n  - d/y.txt\n  + d (", message)
        self.pushed(staged)
        self.assertEqual(self.out("ls-tree", "-r", "--name-only", "HEAD"), "a.txt\nd\n")
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_file_becomes_directory(self):
        """and the other way round"""
        staged = self.stage({"a.txt/x": "x\n"})
        self.assertIn("  - a.txt\n", self.shown(staged))
        self.pushed(staged)
        self.assertEqual(self.out("ls-tree", "-r", "--name-only", "HEAD"), "a.txt/x\n")
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_names(self):
        """names with spaces, quotes and bytes that are special to git"""
        names = ["a b.txt", 'q"uote', ":(top)x", "*.txt", "é.txt", "-dash"]
        self.pushed(self.stage({name: name for name in names}))
        listed = self.out("ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
        self.assertEqual(sorted(listed[:-1]), sorted(names + ["a.txt"]))
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_ignored(self):
        """what the target ignores is pushed, and marked"""
        self.commit(".gitignore", "*.log\n", "ignore")
        staged = self.stage({"x.log": "x\n", "y.txt": "y\n"})
        message = self.shown(staged)
        self.assertIn("  + x.log (2 B), ignored by the target\n  + y.txt (2 B)\n", message)
        self.pushed(staged)
        self.assertEqual(self.content("x.log"), b"x\n")

    def test_nothing(self):
        """what the target has already is not pushed again"""
        staged = self.stage({"a.txt": "one\n"})
        self.assertIn("There is nothing to push", self.push(staged).text)
        self.assertEqual(self.head(), self.first)

    def test_author(self):
        """[staging] author comes first; then the user, the target, and airlock itself"""
        (self.home / ".gitconfig").write_text("[init]\n\tdefaultBranch = main\n", encoding="utf-8")
        self.pushed(self.stage({"1": "1"}))
        self.git("config", "user.name", "Target")
        self.git("config", "user.email", "target@example.com")
        self.pushed(self.stage({"2": "2"}))
        (self.home / ".gitconfig").write_text(
            "[user]\n\tname = A U Thor\n\temail = author@example.com\n", encoding="utf-8")
        self.pushed(self.stage({"3": "3"}))
        self.configure('author = "Bot <bot@example.com>"')
        self.pushed(self.stage({"4": "4"}))
        self.assertEqual(self.out("log", "-4", "--format=%an <%ae> %cn").splitlines(), [
            "Bot <bot@example.com> Bot", "A U Thor <author@example.com> A U Thor",
            "Target <target@example.com> Target", "airlock <airlock@localhost> airlock"])

    def test_worker(self):
        """the trailer names the worker that staged, whatever the agent's message says"""
        worker = self.write("w.md", "---\nname: real\n---\n", self.base)
        self.write("b.txt", "b\n", self.workspace)
        staged = self.ok("git_stage", {"files": ["/workspace/b.txt"],
                                       "message": "x\n\nWorker: fake\nReviewed-by: Y"},
                         "--worker", str(worker)).value["structuredContent"]["id"]
        self.pushed(staged)
        self.assertEqual(self.out("log", "-1", "--format=%(trailers)").split("\n")[:2],
                         ["Reviewed-by: Y", "Worker: real"])
        self.pushed(self.stage({"c.txt": "c\n"}, "y\n\nSigned-off-by: Z"))
        self.assertEqual(self.out("log", "-1", "--format=%(trailers:key=Worker)").strip(), "")

    def test_forged_worker(self):
        """no line of the agent's message passes for the trailer; the other lines stay"""
        worker = self.write("w.md", "---\nname: real\n---\n", self.base)
        for number, (message, wanted) in enumerate({
                "x\n\nWorker: fake\n\n---\nrest": "x\n\n\n---\nrest\n\nWorker: real\n",
                "x\n\nWORKER \t: fake\nworker:fake\nA: b": "x\n\nA: b\nWorker: real\n",
                "x\nWorker: fake\n\nWhy.": "x\n\nWhy.\n\nWorker: real\n",
                "x\n\nWorker: a\n\nWorker: b\n# c": "x\n\nWorker: real\n\n\n# c\n",
                "worker: no leak": "worker: no leak\n\nWorker: real\n",
                "x\n\nWorkers: w\nCo-Worker: c": "x\n\nWorkers: w\nCo-Worker: c\nWorker: real\n",
        }.items()):
            self.write(f"{number}.txt", "b\n", self.workspace)
            staged = self.ok("git_stage", {"files": [f"/workspace/{number}.txt"],
                                           "message": message},
                             "--worker", str(worker)).value["structuredContent"]["id"]
            self.pushed(staged)
            self.assertEqual(self.out("cat-file", "commit", "HEAD").split("\n\n", 1)[1], wanted)
            self.assertEqual(self.out("log", "-1", "--format=%(trailers:key=Worker,valueonly)")
                             .strip(), "real")
        self.pushed(self.stage({"c.txt": "c\n"}, "y\n\nWorker: text"))
        self.assertEqual(self.out("log", "-1", "--format=%B"), "y\n\nWorker: text\n\n")


class Worktree(pushing.Pushing):
    """What a push does to the files of a checked-out branch."""

    def setUp(self):
        super().setUp()
        self.commit("b.txt", "b\n", "b")
        self.commit("c.txt", "c\n", "c")

    def test_modified(self):
        """a modified file stays, and is named; its entry follows"""
        self.write("a.txt", "mine\n")
        _, notes = self.pushed(self.stage({"a.txt": "pushed\n", "b.txt": "pushed\n"}))
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual((self.root / "b.txt").read_text(encoding="utf-8"), "pushed\n")
        self.assertEqual(self.out("status", "--porcelain"), " M a.txt\n")
        self.assertTrue(notes.endswith(
            "\nChanged in the working tree of local:. and left as they are: a.txt"), notes)

    def test_staged(self):
        """a change that the user staged stays staged"""
        self.write("a.txt", "mine\n")
        self.git("add", "a.txt")
        self.pushed(self.stage({"a.txt": "pushed\n", "b.txt": "pushed\n"}))
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual(self.out("show", ":a.txt"), "mine\n")
        self.assertEqual(self.out("status", "--porcelain"), "M  a.txt\n")

    def test_untracked(self):
        """an untracked file in the way stays"""
        self.write("new.txt", "mine\n")
        _, notes = self.pushed(self.stage({"new.txt": "pushed\n"}))
        self.assertEqual((self.root / "new.txt").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual(self.out("status", "--porcelain"), " M new.txt\n")
        self.assertIn("left as they are: new.txt", notes)

    def test_untracked_directory(self):
        """an untracked directory where a file would come stays"""
        self.write("new/mine.txt", "mine\n")
        self.pushed(self.stage({"new": "pushed\n", "b.txt": "pushed\n"}))
        self.assertEqual((self.root / "new/mine.txt").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual(self.content("new"), b"pushed\n")

    def test_untracked_parent(self):
        """an untracked file where a directory would come stays, and nothing is undone by a commit"""
        self.write("new", "mine\n")
        self.pushed(self.stage({"new/x.txt": "pushed\n", "b.txt": "pushed\n"}))
        self.assertEqual((self.root / "new").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")

    def test_deleted_but_modified(self):
        """a file that is deleted by the push and modified by the user stays"""
        self.pushed(self.stage({"d.txt": "d\n"}))
        self.write("d.txt", "mine\n")
        self.pushed(self.stage({}, delete=["d.txt"]))
        self.assertEqual((self.root / "d.txt").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual(self.out("status", "--porcelain"), "?? d.txt\n")

    def test_ignored_parent(self):
        """an ignored file where a directory would come stays, and the other files follow"""
        self.commit(".gitignore", "cfg\n", "ignore")
        self.write("cfg", "mine\n")
        _, notes = self.pushed(self.stage({"cfg/x": "pushed\n", "b.txt": "pushed\n"}))
        self.assertEqual((self.root / "cfg").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual((self.root / "b.txt").read_text(encoding="utf-8"), "pushed\n")
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        self.assertTrue(notes.endswith("left as they are: cfg/x"), notes)

    def test_ignored_in_directory(self):
        """a file does not take the place of a directory that holds an ignored file"""
        self.commit(".gitignore", "*.key\n", "ignore")
        self.commit("d/deep/x.txt", "x\n", "d")
        self.write("d/deep/my.key", "mine\n")
        _, notes = self.pushed(self.stage({"d": "pushed\n", "b.txt": "pushed\n"}))
        self.assertEqual((self.root / "d/deep/my.key").read_text(encoding="utf-8"), "mine\n")
        self.assertFalse((self.root / "d/deep/x.txt").exists())
        self.assertEqual((self.root / "b.txt").read_text(encoding="utf-8"), "pushed\n")
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        self.assertTrue(notes.endswith("left as they are: d"), notes)

    def test_untracked_in_directory(self):
        """nor of one with an untracked or a modified file; empty directories are in nobody's way"""
        for name, content in (("d/mine.txt", "mine\n"), ("e/x.txt", "mine\n"), ("f/x.txt", "x\n")):
            self.commit(name[0] + "/x.txt", "x\n", "x")
            self.write(name, content)
        (self.root / "f/empty/empty").mkdir(parents=True)
        _, notes = self.pushed(self.stage({"d": "pushed\n", "e": "pushed\n", "f": "pushed\n"}))
        self.assertEqual((self.root / "d/mine.txt").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual((self.root / "e/x.txt").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual((self.root / "f").read_text(encoding="utf-8"), "pushed\n")
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        self.assertTrue(notes.endswith("left as they are: d, e, e/x.txt"), notes)

    def test_staged_in_the_way(self):
        """what the user staged above or beneath a new path stays staged"""
        self.commit("d/x.txt", "x\n", "d")
        self.write("d/mine.txt", "mine\n")
        self.write("cfg", "mine\n")
        self.git("add", "d/mine.txt", "cfg")
        self.pushed(self.stage({"d": "pushed\n", "cfg/x": "pushed\n", "b.txt": "pushed\n"}))
        self.assertEqual(self.out("show", ":d/mine.txt", ":cfg"), "mine\nmine\n")
        self.assertEqual((self.root / "d/mine.txt").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual((self.root / "cfg").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual((self.root / "b.txt").read_text(encoding="utf-8"), "pushed\n")

    def test_file_modified_where_directory_comes(self):
        """a modified file that becomes a directory stays"""
        self.write("a.txt", "mine\n")
        _, notes = self.pushed(self.stage({"a.txt/x": "pushed\n", "b.txt": "pushed\n"}))
        self.assertEqual((self.root / "a.txt").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual((self.root / "b.txt").read_text(encoding="utf-8"), "pushed\n")
        self.assertTrue(notes.endswith("left as they are: a.txt, a.txt/x"), notes)

    def test_submodule(self):
        """index and files follow beside a submodule, whose changes are its own"""
        source = self.base / "source"
        self.out("clone", "-q", str(self.root), str(source))
        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source),
                 "sub")
        self.git("commit", "-q", "-m", "submodule")
        _, notes = self.pushed(self.stage({"b.txt": "pushed\n", "new.txt": "pushed\n"}))
        self.assertEqual((self.root / "b.txt").read_text(encoding="utf-8"), "pushed\n")
        self.assertEqual(self.out("status", "--porcelain"), "")
        self.assertEqual(len(notes.splitlines()), 1, notes)
        self.write("sub/a.txt", "mine\n")
        self.pushed(self.stage({"b.txt": "again\n"}))
        self.assertEqual((self.root / "b.txt").read_text(encoding="utf-8"), "again\n")
        self.assertEqual(self.out("status", "--porcelain"), " M sub\n")

    def test_file_for_submodule(self):
        """a submodule's directory stays when a file comes in the place of the submodule"""
        source = self.base / "source"
        self.out("clone", "-q", str(self.root), str(source))
        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source),
                 "sub")
        self.git("commit", "-q", "-m", "submodule")
        self.write("sub/mine.txt", "mine\n")
        _, notes = self.pushed(self.stage({"sub": "pushed\n", "b.txt": "pushed\n"}))
        self.assertEqual((self.root / "sub/mine.txt").read_text(encoding="utf-8"), "mine\n")
        self.assertEqual((self.root / "b.txt").read_text(encoding="utf-8"), "pushed\n")
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "")
        self.assertTrue(notes.endswith("left as they are: sub"), notes)

    def test_link_in_the_way(self):
        """nothing is written through a link of the working tree"""
        outside = self.base / "outside"
        outside.mkdir()
        os.symlink(outside, self.root / "dir")
        self.pushed(self.stage({"dir/x.txt": "pushed\n"}))
        self.assertEqual(os.listdir(outside), [])

    def test_untouched_others(self):
        """files that the push does not touch keep every change"""
        self.write("c.txt", "mine\n")
        self.write("b.txt", "staged\n")
        self.git("add", "b.txt")
        _, notes = self.pushed(self.stage({"a.txt": "pushed\n"}))
        self.assertEqual(self.out("status", "--porcelain"), "M  b.txt\n M c.txt\n")
        self.assertNotIn("left as they are", notes)


if __name__ == "__main__":
    harness.main()
