#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_worktree: linked worktrees are made whole or not at all, and what is removed comes back."""
import os
import shutil
import subprocess

import harness
import rollback
import worktrees

TOOLSET = ("--toolset", "parallel")


class Worktrees(rollback.Rollback):
    """`root` is the main working tree; worktrees are below `.worktrees`."""

    def setUp(self):
        super().setUp()
        self.common = os.path.realpath(self.root / self.out("rev-parse", "--git-common-dir").strip())
        self.dir = self.root / ".worktrees"
        if harness.linked.LINKED:
            self.dir = harness.pathlib.Path(
                self.common[:-len("/.git")] if self.common.endswith("/.git") else self.common) / ".worktrees"

    def wt(self, action, name=None, *options, root=None, approval="deny", **arguments):
        """One call; whatever it does, it asks nobody."""
        named = {"name": name} if name else {}
        return self.call("git_worktree", {"action": action} | named | arguments, *TOOLSET, *options,
                         root=root, cwd=root, approval=approval)

    def good(self, action, name=None, *options, **arguments):
        """A call that must work; gives its text."""
        result = self.wt(action, name, *options, approval="ask", **arguments)
        self.assertFalse(result.failed, result)
        return result.text

    def bad(self, message, action, name=None, *options, kind="ExecutionFailed", **arguments):
        """A call that must fail like this, and leave nothing behind."""
        before = self.everything()
        result = self.wt(action, name, *options, approval="allow", **arguments)
        self.assertTrue(result.failed, result)
        self.assertEqual(result.kind, kind, result)
        self.assertIn(message, result.error["message"])
        self.assertEqual(self.everything(), before)
        return result

    def everything(self):
        """What an add could leave behind."""
        admin = harness.pathlib.Path(self.common) / "worktrees"
        return (self.out("for-each-ref"), sorted(os.listdir(self.dir)) if self.dir.exists() else None,
                sorted(os.listdir(admin)) if admin.exists() else None,
                (harness.pathlib.Path(self.common) / "config").read_text(encoding="utf-8"))

    def hashes(self, name):
        """Every byte of a worktree: files, index, HEAD, administrative files."""
        place = self.dir / name
        pointer = (place / ".git").read_text(encoding="utf-8")
        admin = harness.pathlib.Path(pointer[len("gitdir: "):].strip())
        found = {}
        for top in (place, admin):
            for path in rollback.files_below(top):
                found[str(path)] = rollback.digest(path)
        return found

    def configure(self, text):
        """The user's configuration."""
        file = self.home / ".config/airlock/config.toml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    # Adding.

    def test_add(self):
        """a worktree of the name is made on a new branch of the name, without configuration"""
        before = self.everything()
        text = self.good("add", "x", "--agent", "ada")
        place = self.dir / "x"
        self.assertIn(str(place), text)
        self.assertEqual(self.out("branch", "--show-current", cwd=place).strip(), "x")
        self.assertEqual(self.out("rev-parse", "x"), self.out("rev-parse", "HEAD"))
        self.assertEqual(self.out("status", "--porcelain", cwd=place), "")
        self.assertEqual(self.everything()[3], before[3])
        self.assertNotIn(".worktrees", self.out("status", "--porcelain", "--ignored=no"))
        self.assertIn("agent ada", self.good("list"))
        self.assertIn("x  " + str(place), self.good("list"))

    def test_branches(self):
        """an existing branch, a new one from somewhere, a locked one"""
        first = self.out("rev-parse", "HEAD").strip()
        self.git("branch", "topic")
        self.commit("a.txt", "two\n", "second")
        self.good("add", "one", branch="topic")
        self.good("add", "two", branch="dir/new", create=True, **{"from": "HEAD~1"}, reason="do not\ttouch")
        self.assertEqual(self.out("rev-parse", "topic", "dir/new").split(), [first, first])
        self.assertIn("locked: do not", self.good("list"))
        self.bad("is locked: do not", "remove", "two")
        self.good("unlock", "two")
        self.bad("is not locked", "unlock", "two")
        self.good("lock", "two")
        self.bad("is locked already", "lock", "two", reason="twice")
        self.rollback()
        self.good("remove", "two")

    def test_bad_names(self):
        """names are one component"""
        for name in (".", "..", ".git", ".GIT", "-x", "a/b", "a b", "x" * 65, "ä", "a\nb", "git~1"):
            self.bad("name", "add", name, kind="BadArgs")
        self.bad("name", "add", kind="BadArgs")
        self.bad("name: has no meaning", "list", "x", kind="BadArgs")
        self.bad("from: needs create", "add", "x", branch="b", **{"from": "HEAD"}, kind="BadArgs")
        self.bad("branch: has no meaning", "remove", "x", branch="b", kind="BadArgs")
        self.bad("reason: must be one line", "add", "x", reason="a\nb", kind="BadArgs")
        self.bad("begins with '.'", "add", ".hidden", kind="BadArgs")
        self.good("add", ".hidden", branch="hidden", create=True)
        for name in ("a", "x" * 64, "A._-9"):
            self.good("add", name)

    def test_refused(self):
        """what exists already, what does not, and what somebody has checked out"""
        self.git("branch", "topic")
        self.good("add", "x")
        self.bad("'x' exists already", "add", "x")
        self.bad("A branch named 'topic' exists already", "add", "topic")
        self.bad("A branch named 'topic' exists already", "add", "y", branch="topic", create=True)
        self.bad("There is no branch 'none'", "add", "y", branch="none")
        self.bad("checked out in the worktree", "add", "y", branch="x")
        self.bad("checked out in the worktree", "add", "y", branch="main")
        self.bad("", "add", "y", **{"from": "nowhere"})
        self.bad("There is no worktree 'y'", "remove", "y")
        self.bad("There is no worktree 'y'", "lock", "y")
        (self.dir / "file").write_text("mine\n", encoding="utf-8")
        self.bad("'file' exists already", "add", "file")
        self.bad("There is no worktree 'file'", "remove", "file")

    def test_unborn(self):
        """a repository without a commit has nothing to check out"""
        other = self.base / "unborn"
        other.mkdir()
        self.git("init", "-q", cwd=other)
        result = self.wt("add", "x", root=other, approval="allow")
        self.assertTrue(result.failed, result)
        self.assertEqual(sorted(os.listdir(other)), [".git"])

    def test_max(self):
        """the limit counts what is below the directory"""
        self.configure("[worktrees]\nmax = 2\n")
        self.git("worktree", "add", "-q", str(self.base / "elsewhere"))
        self.good("add", "one")
        self.good("add", "two")
        self.bad("worktrees.max is 2", "add", "three")
        self.good("remove", "one")
        self.good("add", "three")

    def test_dir(self):
        """another directory, relative and absolute; a link in its path is refused"""
        self.configure('[worktrees]\ndir = "build/trees"\n')
        place = self.dir.parent / "build/trees"
        self.good("add", "x")
        self.assertTrue((place / "x/a.txt").exists())
        self.configure(f'[worktrees]\ndir = "{self.base}/trees"\n')
        self.good("add", "y")
        self.assertTrue((self.base / "trees/y/a.txt").exists())
        self.assertFalse((self.base / "trees/.gitignore").exists())
        os.symlink(self.base / "trees", self.base / "link")
        self.configure(f'[worktrees]\ndir = "{self.base}/link"\n')
        self.bad("a link or a file is in its path", "add", "z")
        shutil.rmtree(place.parent)
        place.parent.write_text("", encoding="utf-8")
        self.configure('[worktrees]\ndir = "build/trees"\n')
        self.bad("a link or a file is in its path", "add", "z")

    def test_configuration(self):
        """wrong directories and limits are errors of the configuration"""
        for line in ('dir = ""', 'dir = "a/../b"', 'dir = "./a"', 'dir = "a/"', 'dir = "/"', 'dir = "a//b"',
                     'dir = ".git/x"', "max = 0", "max = 1001"):
            self.configure(f"[worktrees]\n{line}\n")
            done = self.command("call", *TOOLSET, "git_worktree")
            self.assertEqual(done.returncode, 2, (line, done))
        for line in ('dir = "a/b"', 'dir = "/a"', "max = 1", "max = 1000"):
            self.configure(f"[worktrees]\n{line}\n")
            self.assertNotEqual(self.command("call", *TOOLSET, "git_worktree").returncode, 2, line)

    def test_include(self):
        """ignored files that .worktreeinclude names come along, with their modes; links and others do not"""
        self.commit(".gitignore", ".env\n*.key\nnode/\n/link\n", "ignore")
        self.commit(".worktreeinclude", ".env\n*.key\n!no.key\nplain.txt\nlink\n", "include")
        self.write(".env", "SECRET\n").chmod(0o600)
        self.write("sub/deep/a.key", "a\n").chmod(0o640)
        self.write("no.key", "no\n")
        self.write("plain.txt", "untracked, not ignored\n")
        self.write("node/x", "ignored, not named\n")
        os.symlink("/etc/passwd", self.root / "link")
        text = self.good("add", "x")
        self.assertIn("Copied 2 ignored files", text)
        self.assertIn("1 link was not copied", text)
        place = self.dir / "x"
        self.assertEqual(rollback.digest(place / ".env"), rollback.digest(self.root / ".env"))
        self.assertEqual(rollback.digest(place / "sub/deep/a.key"), rollback.digest(self.root / "sub/deep/a.key"))
        self.assertEqual(sorted(path.name for path in place.iterdir()),
                         [".env", ".git", ".gitignore", ".worktreeinclude", "a.txt", "sub"])
        self.good("add", "y")
        self.assertEqual(self.hashes("y").keys() & {str(self.dir / "y/.worktrees")}, set())

    def test_include_too_large(self):
        """more than 100 MB: nothing is copied, and that is said"""
        self.commit(".gitignore", "*.bin\n", "ignore")
        self.commit(".worktreeinclude", "*.bin\n", "include")
        self.write("small.bin", "small")
        with open(self.root / "large.bin", "wb") as file:
            file.truncate(100_000_000 - 5)
        self.assertIn("Copied 2", self.good("add", "fits"))
        with open(self.root / "large.bin", "wb") as file:
            file.truncate(100_000_000 - 4)
        self.assertIn("more than 100 MB: none was copied", self.good("add", "x"))
        self.assertFalse((self.dir / "x/small.bin").exists())

    def test_sparse(self):
        """a worktree made from a sparse one is as sparse"""
        self.commit("in/a", "a\n", "in")
        self.commit("out/b", "b\n", "out")
        self.git("sparse-checkout", "set", "in")
        self.good("add", "x")
        self.assertTrue((self.dir / "x/in/a").exists())
        self.assertFalse((self.dir / "x/out").exists())

    # Removing.

    def dirty(self, name):
        """Something of everything, in a worktree."""
        place = self.dir / name
        self.commit("own.txt", "own\n", "only here", place)
        self.write("a.txt", "staged\n", place)
        self.git("add", "a.txt", cwd=place)
        self.write("a.txt", "changed\n", place)
        self.write("new/untracked.txt", "untracked\n", place).chmod(0o755)
        os.symlink("a.txt", place / "link")
        return place

    def test_remove(self):
        """a dirty worktree goes without a question, and comes back byte for byte"""
        self.good("add", "x")
        self.dirty("x")
        before, refs = self.hashes("x"), self.out("for-each-ref")
        self.good("remove", "x")
        self.assertFalse((self.dir / "x").exists())
        self.assertFalse((harness.pathlib.Path(self.common) / "worktrees/x").exists())
        self.assertEqual(self.out("for-each-ref"), refs)
        self.assertIn("the worktree 'x'", self.rollback())
        self.assertEqual(self.hashes("x"), before)
        self.assertEqual(self.out("for-each-ref"), refs)
        self.assertIn("MM a.txt", self.out("status", "--porcelain", cwd=self.dir / "x"))
        self.git("fsck", "--strict", cwd=self.dir / "x")
        self.assertIn("the worktree 'x'", self.rollback("--redo"))
        self.assertFalse((self.dir / "x").exists())
        self.rollback()
        self.assertEqual(self.hashes("x"), before)

    def test_remove_detached(self):
        """commits that only its HEAD reached are pinned, through a gc at the worst moment"""
        self.good("add", "x")
        place = self.dirty("x")
        self.git("checkout", "-q", "--detach", cwd=place)
        self.git("branch", "-q", "-D", "x")
        self.commit("alone.txt", "alone\n", "nobody else has this", place)
        before = self.hashes("x")
        self.good("remove", "x")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        self.rollback()
        self.assertEqual(self.hashes("x"), before)
        self.assertEqual(self.out("show", "HEAD:alone.txt", cwd=place), "alone\n")

    def test_remove_with_references(self):
        """a worktree with references of its own comes back through a gc, with them"""
        self.good("add", "x")
        place = self.dir / "x"
        self.git("checkout", "-q", "--detach", cwd=place)
        own = self.commit("own2.txt", "own\n", "only a reference of the worktree has this", place)
        self.git("update-ref", "refs/worktree/mine", own, cwd=place)
        self.git("update-ref", "refs/bisect/bad", own, cwd=place)
        self.git("checkout", "-q", "x", cwd=place)
        self.dirty("x")
        before = self.hashes("x")
        self.good("remove", "x")
        self.git("branch", "-q", "-D", "x")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        self.rollback()
        self.assertEqual(self.hashes("x"), before)
        self.assertEqual(self.out("show", "refs/worktree/mine:own2.txt", cwd=place), "own\n")

    def test_remove_branch_gone(self):
        """a branch that was deleted since comes back with the worktree"""
        self.good("add", "x")
        place = self.dirty("x")
        before, tip = self.hashes("x"), self.out("rev-parse", "x")
        self.good("remove", "x")
        self.git("branch", "-q", "-D", "x")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        self.rollback()
        self.assertEqual(self.out("rev-parse", "x"), tip)
        self.assertEqual(self.hashes("x"), before)
        self.assertEqual(self.out("show", "HEAD:own.txt", cwd=place), "own\n")

    def test_remove_in_progress(self):
        """an unfinished merge comes back unfinished"""
        self.good("add", "x")
        place = self.dir / "x"
        self.commit("a.txt", "theirs\n", "theirs", place)
        self.commit("a.txt", "ours\n", "ours")
        self.git("merge", "main", cwd=place, check=False)
        before = self.hashes("x")
        self.good("remove", "x")
        self.rollback()
        self.assertEqual(self.hashes("x"), before)
        self.assertIn("UU a.txt", self.out("status", "--porcelain", cwd=place))

    def test_remove_ignored(self):
        """what git ignores is in no checkpoint, and named"""
        self.commit(".gitignore", "*.o\nbuild/\n", "ignore")
        self.good("add", "x")
        self.assertNotIn("gnored", self.good("remove", "x"))
        self.good("add", "y")
        for name in ("a.o", "b\n.o", "build/deep/x", "c.o", "d.o"):
            self.write(name, "ignored\n", self.dir / "y")
        self.assertIn("Ignored files went with it and do not come back, unless [journal] include_ignored names them: "
                      "a.o, b<U+000A>.o, build/, c.o, d.o.", self.good("remove", "y"))
        self.rollback()
        self.write("e.o", "ignored\n", self.dir / "y")
        for name in ("a.o", "b.o", "c.o", "d.o", "f.o"):
            self.write(name, "ignored\n", self.dir / "y")
        self.assertIn("a.o, b.o, c.o, d.o, e.o and 1 more.", self.good("remove", "y"))

    def test_remove_left_out(self):
        """a file that no checkpoint has is not lost"""
        self.configure("[journal]\nmax_file_bytes = 10\n")
        self.good("add", "x")
        self.write("large.txt", "more than ten bytes\n", self.dir / "x")
        result = self.bad("'x/large.txt' would be lost", "remove", "x")
        self.assertEqual(result.error["code"], 7001)

    def test_remove_without_checkpoints(self):
        """without a checkpoint it asks: nothing could bring the worktree back"""
        self.good("add", "x")
        result = self.wt("remove", "x", "--no-git", approval="deny")
        self.assertEqual(result.kind, "ApprovalDenied", result)
        self.assertTrue((self.dir / "x/a.txt").exists())

    def test_not_below(self):
        """worktrees elsewhere are listed and left alone"""
        place = self.base / "elsewhere"
        self.git("worktree", "add", "-q", str(place))
        self.assertIn(f"(elsewhere)  {place}", self.good("list"))
        for action in ("remove", "lock", "unlock"):
            self.bad("There is no worktree 'elsewhere'", action, "elsewhere")
        for name in ("root", "main"):
            self.bad("There is no worktree", "remove", name)

    def test_made_again_by_git(self):
        """a worktree that somebody made by git under the old name was not made by the agent"""
        self.good("add", "x", "--agent", "ada")
        self.git("worktree", "remove", str(self.dir / "x"))
        self.git("worktree", "add", "-q", str(self.dir / "x"), "x")
        self.assertNotIn("ada", self.good("list").replace("of agent ada", ""))
        self.good("remove", "x")

    def test_own(self):
        """a call cannot remove the worktree that it is made in"""
        self.good("add", "x")
        result = self.wt("remove", "x", root=self.dir / "x", approval="allow")
        self.assertEqual(result.error.get("message"),
                         "This call runs in the worktree 'x'; remove it from another one", result)

    def test_in_use(self):
        """a worktree in which a call runs stays, whatever server runs it"""
        self.good("add", "x")
        place = self.dir / "x"
        os.mkfifo(place / ".mailmap")
        server = harness.Server(worktrees.Place(self, place))
        server.ask("git_log")
        writer = self.hold(place / ".mailmap")
        self.bad("A call runs in the worktree 'x': git_log of agent e2e (process ", "remove", "x")
        done = self.command("rollback")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("in which git_log", done.stderr)
        os.unlink(place / ".mailmap")
        os.close(os.dup(writer))

    def test_by_hand(self):
        """what somebody moved, removed or forged by hand"""
        for name in ("gone", "moved", "forged"):
            self.good("add", name)
        shutil.rmtree(self.dir / "gone")
        self.assertIn("its files are gone", self.good("list"))
        self.bad("whose files are gone; remove it first", "add", "gone", branch="gone")
        self.good("remove", "gone")
        self.rollback()
        self.assertFalse((self.dir / "gone").exists() and os.listdir(self.dir / "gone"))
        os.rename(self.dir / "moved", self.base / "moved")
        self.good("remove", "moved")
        self.assertTrue((self.base / "moved/a.txt").exists())
        pointer = self.dir / "forged/.git"
        for text in ("gitdir: /etc\n", f"gitdir: {self.common}\n", "nonsense\n", "gitdir: ../loop/.git\n"):
            pointer.write_text(text, encoding="utf-8")
            self.bad("do not name each other", "remove", "forged")
            self.good("list")
        pointer.unlink()
        os.symlink(self.common, pointer)
        self.bad("do not name each other", "remove", "forged")

    def test_list_forged(self):
        """an administrative directory that names a repository elsewhere: list reads nothing there"""
        self.good("add", "x")
        victim = self.base / "victim"
        self.init(victim)
        self.write("untracked.txt", "1\n", victim)
        admin = harness.pathlib.Path(self.common) / "worktrees/evil"
        shutil.copytree(admin.parent / "x", admin)
        (admin / "gitdir").write_text(f"{victim}/.git\n", encoding="utf-8")
        self.assertIn(str(victim), self.out("worktree", "list"))
        os.rename(victim / ".git/config", victim / ".git/was")
        os.mkfifo(victim / ".git/config")  # whoever opens it waits
        listed = [line for line in self.good("list").splitlines() if str(victim) in line]
        self.assertNotIn("untracked", listed[0])
        self.assert_nobody_reads(victim / ".git/config")
        shutil.rmtree(victim / ".git")
        (victim / ".git").write_text(f"gitdir: {admin.parent}/x\n", encoding="utf-8")
        listed = [line for line in self.good("list").splitlines() if str(victim) in line]
        self.assertNotIn("untracked", listed[0])

    # Undoing lock and unlock.

    def make_again(self):
        """Another worktree in the place of x, made by git."""
        self.git("worktree", "remove", "--force", "--force", str(self.dir / "x"))
        self.git("worktree", "add", "-q", str(self.dir / "x"), "x")

    def test_undo_unlock_of_another(self):
        """a worktree that was made again under the name is not locked; the loss is named"""
        self.good("add", "x", reason="mine")
        self.good("unlock", "x")
        self.make_again()
        done = self.command("rollback")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("the lock of the worktree 'x', which was made again since", done.stderr)
        self.rollback("--force")
        self.assertNotIn("locked", self.good("list"))

    def test_undo_lock_of_another(self):
        """the lock of a worktree that was made again under the name stays, though it has the same words"""
        self.good("add", "x")
        self.good("lock", "x", reason="mine")
        self.make_again()
        self.git("worktree", "lock", "--reason=mine", str(self.dir / "x"))
        done = self.command("rollback")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("locked", self.good("list"))

    def test_undo_unlock_of_one_that_came_back(self):
        """a worktree that a rollback brought back, twice even, is still the one that was locked"""
        self.good("add", "x", reason="mine")
        self.good("unlock", "x")
        for _ in range(2):
            self.good("remove", "x")
            self.rollback()
        self.assertNotIn("locked", self.good("list"))
        self.rollback("5")
        self.assertIn("locked: mine", self.good("list"))

    # Undoing an add.

    def test_undo_add(self):
        """a rollback removes what an add made: files, branch, administrative files; a redo makes it again"""
        before = self.everything()
        self.good("add", "x", reason="mine")
        hashes = self.hashes("x")
        self.rollback()
        after = self.everything()
        self.assertEqual((after[0], after[2:]), (before[0], before[2:]))
        self.assertFalse((self.dir / "x").exists())
        self.rollback("--redo")
        self.assertEqual(self.hashes("x"), hashes)
        self.good("unlock", "x")
        self.rollback("2")
        self.assertFalse((self.dir / "x").exists())
        self.rollback()
        self.assertNotIn("locked", self.good("list"))

    def test_undo_add_of_a_locked_one(self):
        """a worktree that somebody locked since stays, --force or not"""
        self.good("add", "x")
        self.git("worktree", "lock", str(self.dir / "x"))
        for options in ((), ("--force",)):
            done = self.command("rollback", *options)
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("which is locked; unlock it first", done.stderr)
        self.assertTrue((self.dir / "x/a.txt").exists())

    def test_undo_add_after_work(self):
        """work that somebody did in it since is named, and not removed without --force"""
        for work in (lambda place: self.write("new.txt", "new\n", place),
                     lambda place: self.write("a.txt", "changed\n", place),
                     lambda place: self.git("checkout", "-q", "--detach", cwd=place)):
            self.good("add", "x")
            place = self.dir / "x"
            self.git("status", cwd=place)
            work(place)
            hashes = self.hashes("x")
            done = self.command("rollback")
            self.assertEqual(done.returncode, 1, done)
            self.assertIn("the worktree 'x'", done.stderr)
            self.assertEqual(self.hashes("x"), hashes)
            self.rollback("--force")
            self.assertFalse(place.exists())
            self.rollback()
            self.assertEqual({name: value for name, value in self.hashes("x").items() if "/index" not in name},
                             {name: value for name, value in hashes.items() if "/index" not in name})
            self.good("remove", "x")
            self.git("branch", "-q", "-D", "x")

    def test_comes_back_into_the_way(self):
        """something in its place, or its branch elsewhere: refused, and nothing changes"""
        self.good("add", "x")
        self.dirty("x")
        before = self.hashes("x")
        self.good("remove", "x")
        (self.dir / "x").mkdir()
        self.write("x/mine", "mine\n", self.dir)
        done = self.command("rollback", "--force")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("something else is at", done.stderr)
        shutil.rmtree(self.dir / "x")
        self.git("worktree", "add", "-q", str(self.base / "other"), "x")
        done = self.command("rollback", "--force")
        self.assertIn("its branch 'x' is checked out in", done.stderr)
        self.git("worktree", "remove", str(self.base / "other"))
        self.rollback()
        self.assertEqual(self.hashes("x"), before)

    def test_its_place_was_taken(self):
        """git gave its name below worktrees/ to another one: refused, and that one stays whole"""
        self.good("add", "x")
        self.good("remove", "x")
        self.git("worktree", "add", "-q", "--detach", str(self.base / "else/x"))
        admin = harness.pathlib.Path(self.common) / "worktrees/x"
        before = {path.name: path.read_bytes() for path in admin.iterdir() if path.is_file()}
        done = self.command("rollback", "--force")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("another one has its place 'x'", done.stderr)
        self.assertEqual({path.name: path.read_bytes() for path in admin.iterdir()
                          if path.is_file()}, before)
        self.git("worktree", "remove", str(self.base / "else/x"))
        self.rollback()
        self.assertTrue((self.dir / "x").exists())

    def test_two_at_once(self):
        """two servers add the same name: one does, and the other says that it exists"""
        servers = [harness.Server(self, *TOOLSET, "--agent", f"a{i}") for i in range(2)]
        for server in servers:
            server.ask("git_worktree", {"action": "add", "name": "x"})
        texts = [server.receive()["result"]["content"][0]["text"] for server in servers]
        self.assertEqual(sorted("Made the worktree 'x'" in text for text in texts), [False, True], texts)
        self.assertEqual([path.name for path in sorted(self.dir.iterdir())], [".gitignore", "x"])
        self.git("fsck", "--strict")
        self.assertEqual(self.out("status", "--porcelain", cwd=self.dir / "x"), "")

    def test_full_disk(self):
        """a git that cannot write its files leaves nothing behind"""
        self.commit("large.txt", "x" * 300_000, "large")
        before = self.everything()
        command = [harness.AIRLOCK, "call", "--json", "--approval", "allow", *TOOLSET, "git_worktree",
                   '{"action": "add", "name": "x"}']
        done = subprocess.run(["sh", "-c", 'ulimit -f 200; trap "" XFSZ; exec "$@"', "sh", *command],
                              cwd=self.root, env=self.env | {"ASAN_OPTIONS": "detect_leaks=0"},
                              stdin=subprocess.DEVNULL, capture_output=True, check=False,
                              timeout=harness.WATCHDOG_SECONDS)
        self.assertEqual(done.returncode, 1, done)
        after = self.everything()
        self.assertEqual((after[0], after[2:]), (before[0], before[2:]), done)
        self.assertIn(after[1], (None, [".gitignore"]))


if __name__ == "__main__":
    harness.main()
