#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_status: what has changed inside submodules."""
import os
import shutil
import stat
import time

import harness
import workflow

SAYS = "airlock: inside submodules: "
SUBMODULES_MAX = 64


class Submodules(harness.Case):
    """A repository with the submodule `sub`, whose git directory is in `.git/modules`."""

    def setUp(self):
        super().setUp()
        source = self.base / "source"
        self.init(source)
        self.write("dir/b.txt", "two\n", source)
        self.write("run", "#!/bin/sh\n", source).chmod(0o755)
        (source / "link").symlink_to("a.txt")
        self.write(".gitignore", "*.o\nbuild/\n/top\n", source)
        self.git("add", ".", cwd=source)
        self.git("commit", "-q", "-m", "more", cwd=source)
        self.init()
        self.add_submodule(source, "sub")
        self.sub = self.root / "sub"

    def add_submodule(self, source, name, where=None):
        """A submodule, committed."""
        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(source),
                 name, cwd=where)
        self.git("commit", "-q", "-m", f"with {name}", cwd=where)

    def said(self, **named):
        """What the status says of submodules, '' for nothing.  Under load the look at them may take longer than it may:
        it is asked again."""
        text = "it takes too long"
        while "it takes too long" in text:
            text = self.ok("git_status", {}, **named).text
        return text.split(SAYS)[1] if SAYS in text else ""

    def words(self, name="sub"):
        """git's own words for a submodule; '' where it has none."""
        for line in self.out("status").splitlines():
            if f" {name} (" in line:
                return line.split(":", 1)[1].strip()
        return ""

    def assert_said(self, words, name="sub"):
        """airlock says what plain git says, and that is this."""
        self.assertEqual(self.words(name), words)
        self.assertEqual(self.said(), words)


class Content(Submodules):
    def test_clean(self):
        """a clean submodule, and one that is not checked out: nothing is said"""
        self.assert_said("")
        os.utime(self.sub / "a.txt")  # looks changed, and is not
        self.assert_said("")
        self.write("x.o", "", self.sub)
        self.write("build/a/b", "", self.sub)
        self.write("top", "", self.sub)
        (self.sub / "empty").mkdir()
        self.assert_said("")
        shutil.rmtree(self.sub)
        self.sub.mkdir()
        self.assert_said("")

    def test_modified(self):
        """every kind of change of a file is modified content"""
        changes = {
            "content": lambda: self.write("a.txt", "another\n", self.sub),
            "deeper": lambda: self.write("dir/b.txt", "another\n", self.sub),
            "of the same size": lambda: self.write("a.txt", "eno\n", self.sub),
            "removed": (self.sub / "a.txt").unlink,
            "directory removed": lambda: shutil.rmtree(self.sub / "dir"),
            "mode": lambda: (self.sub / "run").chmod(0o644),
            "link": lambda: ((self.sub / "link").unlink(),
                             (self.sub / "link").symlink_to("b.txt")),
            "type": lambda: ((self.sub / "a.txt").unlink(), os.mkfifo(self.sub / "a.txt")),
            "emptied": lambda: self.write("a.txt", "", self.sub),
            "to be added": lambda: (self.write("new", "", self.sub),
                                    self.git("add", "-N", "new", cwd=self.sub)),
            "staged": lambda: (self.write("a.txt", "another\n", self.sub),
                               self.git("add", "a.txt", cwd=self.sub)),
            "staged alone": lambda: (self.git("rm", "-q", "--cached", "run", cwd=self.sub),
                                     (self.sub / "run").unlink()),
            "new and staged": lambda: (self.write("new", "", self.sub),
                                       self.git("add", "new", cwd=self.sub)),
        }
        for name, change in changes.items():
            with self.subTest(name):
                change()
                self.assert_said("sub (modified content)")
                self.git("reset", "-q", "--hard", cwd=self.sub)
                self.git("clean", "-qfd", cwd=self.sub)
                self.assertEqual(self.said(), "")

    def test_racy(self):
        """a file that was changed with its size and time kept"""
        index = self.root / ".git/modules/sub/index"
        path = self.sub / "a.txt"
        self.git("update-index", "--refresh", cwd=self.sub)
        now = path.stat().st_mtime_ns
        path.write_bytes(b"eno\n")
        os.utime(path, ns=(now, now))
        os.utime(index, ns=(now, now))  # as young as the file
        self.assert_said("sub (modified content)")
        path.write_bytes(b"one\n")
        os.utime(path, ns=(now, now))
        self.assert_said("")

    def test_marks(self):
        """what the index says is unchanged, and what need not be there, is as git has it"""
        self.git("update-index", "--assume-unchanged", "a.txt", cwd=self.sub)
        self.write("a.txt", "eno\n", self.sub)
        self.assert_said("")
        self.git("update-index", "--no-assume-unchanged", "a.txt", cwd=self.sub)
        self.git("update-index", "--skip-worktree", "a.txt", cwd=self.sub)
        (self.sub / "a.txt").unlink()
        self.assert_said("")

    def test_untracked(self):
        """a file that no rule could ignore is untracked content"""
        for name in ("new", "new.c", "dir/new", "fresh/deep/er", "dir/top.c", "build.c"):
            with self.subTest(name):
                self.write(name, "", self.sub)
                self.assert_said("sub (untracked content)")
                self.git("clean", "-qfd", cwd=self.sub)
        self.write("fresh/.gitignore", "*\n", self.sub)
        self.assert_said("")
        self.write("new", "", self.sub)
        self.write("a.txt", "changed\n", self.sub)
        self.assert_said("sub (modified content, untracked content)")

    def test_untracked_and_ignored(self):
        """rules of the user and of info/exclude count too"""
        self.write("mine.swp", "", self.sub)
        self.assert_said("sub (untracked content)")
        self.write(".config/git/ignore", "*.swp\n", self.home)
        self.assert_said("")
        self.write("theirs", "", self.sub)
        self.assert_said("sub (untracked content)")
        with open(self.root / ".git/modules/sub/info/exclude", "w", encoding="ascii") as exclude:
            exclude.write("theirs\n")
        self.assert_said("")
        self.init(self.sub / "other")
        self.assert_said("sub (untracked content)")

    def test_line_ends_and_filters(self):
        """converted line ends are no change; what a filter stores is not known, but from the index"""
        self.write(".gitattributes", "*.txt text eol=crlf\n", self.sub)
        self.git("add", ".gitattributes", cwd=self.sub)
        self.git("commit", "-q", "-m", "crlf", cwd=self.sub)
        self.git("add", "sub")
        self.write("a.txt", "one\r\n", self.sub)
        self.git("add", "a.txt", cwd=self.sub)
        os.utime(self.sub / "a.txt", ns=(10 ** 18, 10 ** 18))
        self.assert_said("")
        self.write(".gitattributes", "/a.txt filter=x\n", self.sub)
        self.git("commit", "-qam", "filter", cwd=self.sub)
        self.git("add", "sub")
        self.git("config", "filter.x.clean", "echo one", cwd=self.sub)
        self.write("a.txt", "two\n", self.sub)
        self.git("add", "a.txt", cwd=self.sub)
        self.write("a.txt", "six\n", self.sub)
        os.utime(self.sub / "a.txt", ns=(10 ** 18, 10 ** 18))
        self.assertEqual(self.said(),
                         "sub (not looked at: what its files are is for a filter to say)")
        self.assert_said("")  # plain git has asked the filter, and written to the index what it said
        now = (self.root / ".git/modules/sub/index").stat().st_mtime_ns
        self.write("a.txt", "ten\n", self.sub)
        os.utime(self.sub / "a.txt", ns=(now, now))
        self.assertEqual(self.words(), "")
        os.utime(self.root / ".git/modules/sub/index", ns=(now, now))  # as young as the file
        self.assertEqual(self.said(),
                         "sub (not looked at: what its files are is for a filter to say)")

    def test_moved(self):
        """a submodule at another commit is git's to show, changes in it are ours"""
        self.commit("c.txt", "c\n", "moved", self.sub)
        self.assertEqual(self.ok("git_status").text, self.out("status", "--porcelain", "-b"))
        self.write("a.txt", "changed\n", self.sub)
        text = self.ok("git_status").text
        self.assertTrue(text.startswith(self.out("status", "--porcelain", "-b")), text)
        self.assertEqual(self.said(), "sub (modified content)")

    def test_indexes(self):
        """indexes of other versions, of one's own and of the repository around it"""
        for words in (("--index-version", "4"), ("--index-version", "3"), ("--untracked-cache",)):
            self.git("update-index", *words)
            self.git("update-index", *words, cwd=self.sub)
            self.assert_said("")
            self.write("dir/b.txt", "changed\n", self.sub)
            self.assert_said("sub (modified content)")
            self.git("reset", "-q", "--hard", cwd=self.sub)
        self.git("update-index", "--split-index")
        self.write("dir/b.txt", "changed\n", self.sub)
        self.assert_said("sub (modified content)")
        self.git("update-index", "--split-index", cwd=self.sub)
        self.assert_said("sub (modified content)")

    def test_sha256(self):
        """ids of SHA-256"""
        root = self.base / "other"
        self.git("init", "-q", "--object-format=sha256", str(root))
        self.git("init", "-q", "--object-format=sha256", str(root / "in"))
        self.commit("a.txt", "one\n", "first", root / "in")
        self.git("add", "in", cwd=root)
        self.assertEqual(self.said(root=root, cwd=root), "")
        self.write("in/a.txt", "eno\n", root)
        self.assertEqual(self.said(root=root, cwd=root), "in (modified content)")


class Nested(Submodules):
    def setUp(self):
        super().setUp()
        self.add_submodule(self.base / "source", "inner", self.sub)
        self.git("add", "sub")
        self.git("commit", "-q", "-m", "sub with inner")

    def test_nested(self):
        """a submodule in the submodule: its changes are the outer one's"""
        inner = self.sub / "inner"
        self.assert_said("")
        self.write("new", "", inner)
        self.assert_said("sub (untracked content)")
        self.write("a.txt", "changed\n", inner)
        self.assert_said("sub (modified content, untracked content)")
        self.git("clean", "-qfd", cwd=inner)
        self.git("commit", "-qam", "moved", cwd=inner)
        self.assert_said("sub (modified content)")


class Bounds(Submodules):
    def test_submodules(self):
        """as many submodules as are looked at, and one more or less"""
        self.count_submodules()

    def test_split(self):
        """the same in a split index, part of whose entries are in the file itself"""
        self.git("update-index", "--split-index")
        self.count_submodules()

    def count_submodules(self):
        """The last of that many."""
        self.git("rm", "-qf", "sub")
        head = self.init(self.root / "m00")
        for number in range(1, SUBMODULES_MAX + 1):  # all with the git directory of the first
            self.write("a.txt", "one\n", self.root / f"m{number:02}")
            self.write(".git", "gitdir: ../m00/.git\n", self.root / f"m{number:02}")
        for count in (SUBMODULES_MAX - 1, SUBMODULES_MAX, SUBMODULES_MAX + 1):
            self.git("update-index", "--add", "--index-info", stdin="".join(
                f"160000 {head}\tm{number:02}\n" for number in range(count)).encode())
            last = f"m{count - 1:02}"
            self.write("a.txt", "eno\n", self.root / last)
            self.assertEqual(self.said(), f"{last} (modified content)" if count <= SUBMODULES_MAX
                             else f"{last} (not looked at: there are too many submodules)")
            self.write("a.txt", "one\n", self.root / last)

    def test_not_checked_out(self):
        """submodules that are not checked out are clean, however many there are"""
        commit = self.out("rev-parse", "HEAD", cwd=self.sub).strip()
        names = [f"n{number}" for number in range(SUBMODULES_MAX + 20)]
        self.git("update-index", "--index-info", stdin="".join(
            f"160000 {commit}\t{name}\n" for name in names).encode())
        for name in names:
            (self.root / name).mkdir()
        self.write("a.txt", "eno\n", self.sub)
        self.assert_said("sub (modified content)")


class Hostile(Submodules):
    def arm(self):
        """A program in the configuration of the submodule; gives the file that it makes."""
        fired = self.base / "fired"
        program = self.write("program", f"#!/bin/sh\ntouch {fired}\n", self.base)
        program.chmod(0o755)
        for key in ("core.fsmonitor", "filter.x.clean", "core.sshCommand"):
            self.git("config", key, str(program), cwd=self.sub)
        self.write(".git/modules/sub/info/attributes", "* filter=x\n")
        return fired

    def test_programs(self):
        """programs that the submodule configures do not run"""
        fired = self.arm()
        self.write("a.txt", "eno\n", self.sub)
        self.git("status", check=False)
        self.assertTrue(fired.exists())
        fired.unlink()
        for tool, options, arguments in (
                ("git_status", (), {}),
                ("git_status", ("--toolset", "workflow"), {}),
                ("Git", ("--toolset", "readonly"), {"op": "status", "repo": str(self.root)})):
            self.ok(tool, arguments, *options)
        self.assertFalse(fired.exists())
        self.assertEqual(self.said(),
                         "sub (not looked at: what its files are is for a filter to say)")
        (self.sub / "run").unlink()
        self.assertEqual(self.said(), "sub (modified content)")
        self.assertFalse(fired.exists())

    def test_outside(self):
        """a git directory outside the roots is not read, nor one that is none"""
        outside = self.base / "outside"
        (self.root / ".git/modules/sub").rename(outside)
        self.git("config", "-f", str(outside / "config"), "--unset", "core.worktree")
        self.write("a.txt", "changed\n", self.sub)
        for pointer in (str(outside), "../../outside"):
            self.write(".git", f"gitdir: {pointer}\n", self.sub)
            self.assertEqual(self.words(), "sub (modified content)")
            self.assertEqual(self.said(), "sub (not looked at: its git directory lies outside the "
                                          "allowed roots)")
        (self.sub / ".git").unlink()
        (self.sub / ".git").symlink_to(outside)
        self.assertEqual(self.said(), "sub (not looked at: its git directory lies outside the "
                                      "allowed roots)")
        (self.sub / ".git").unlink()
        self.write(".git", "gitdir: nowhere\n", self.sub)
        self.assertEqual(self.said(), "sub (not looked at: its .git leads to no git directory)")

    def test_links(self):
        """links in the place of what is looked at are not followed"""
        outside = self.base / "outside"
        shutil.copytree(self.sub / "dir", outside)
        shutil.rmtree(self.sub / "dir")
        (self.sub / "dir").symlink_to(outside)
        self.assert_said("sub (modified content, untracked content)")
        (self.sub / "dir").unlink()
        self.git("checkout", "-q", ".", cwd=self.sub)
        index = self.root / ".git/modules/sub/index"
        index.rename(self.base / "index")
        index.symlink_to(self.base / "index")
        self.assertEqual(self.said(), "sub (not looked at: its index cannot be read)")
        index.unlink()
        os.mkfifo(index)
        self.assertEqual(self.said(), "sub (not looked at: its index cannot be read)")

    def test_index_of_lies(self):
        """names that lead out of the submodule, and an index that is none"""
        index = self.root / ".git/modules/sub/index"
        good = index.read_bytes()
        self.write("secret", "one\n", self.base)
        for name in (b"/etc/", b"../..", b"../a/", b".git/", b"\0\0\0\0\0"):
            index.write_bytes(good.replace(b"a.txt", name))
            self.assertTrue(self.said().startswith("sub ("), name)
        for bad in (b"", b"DIRC" + b"\xff" * 100):
            index.write_bytes(bad)
            self.assertEqual(self.said(), "sub (not looked at: its index cannot be read)")

    def test_borrowed_objects(self):
        """a submodule that borrows objects from outside the roots is not looked at"""
        self.write(".git/modules/sub/objects/info/alternates", f"{self.base}/source/.git/objects\n")
        self.assertEqual(self.said(), "sub (not looked at: its commit cannot be read)")

    def test_name(self):
        """a name that would be seen as another"""
        self.git("mv", "sub", "su\x1b[2Jb")
        self.git("commit", "-q", "-m", "renamed")
        self.write("a.txt", "eno\n", self.root / "su\x1b[2Jb")
        self.assertEqual(self.said(), "su<U+001B>[2Jb (modified content)")


class Toolsets(Submodules):
    def test_workflow(self):
        """workflow: the submodule is modified, and the note says how"""
        server = workflow.Server(self)
        clean = {"branch": "main", "staged": [], "modified": [], "untracked": [], "clean": True}
        self.assertEqual(server.gives("git_status"), clean)
        self.write("new", "", self.sub)
        result = server.ok("git_status")
        self.assertEqual(result.value["structuredContent"],
                         clean | {"modified": ["sub"], "clean": False})
        self.assertEqual(result.notes, SAYS + "sub (untracked content)")
        self.commit("c.txt", "c\n", "moved", self.sub)
        self.assertEqual(server.gives("git_status"), clean | {"modified": ["sub"], "clean": False})
        self.git("submodule", "--quiet", "update")
        (self.sub / "new").unlink()
        (self.root / ".git/modules/sub/index").unlink()
        result = server.ok("git_status")
        self.assertEqual(result.value["structuredContent"], clean)
        self.assertEqual(result.notes, SAYS + "sub (not looked at: its index cannot be read)")

    def test_readonly(self):
        """readonly: the note stands behind the object, for what the path names"""
        self.write("a.txt", "eno\n", self.sub)
        arguments = {"op": "status", "repo": str(self.root)}
        for path, note in ((None, True), ("sub", True), ("a.txt", False), ("su", False)):
            result = self.ok("Git", arguments | ({"path": path} if path else {}),
                             "--toolset", "readonly")
            self.assertEqual(result.value["structuredContent"]["stdout"], "")
            self.assertEqual(result.notes, SAYS + "sub (modified content)" if note else "")

    def age_index(self):
        """Let time pass: an index that changed in the last 20 ms is read each time."""
        changed = (self.root / ".git/index").stat().st_ctime_ns
        while time.time_ns() - changed < 40_000_000:
            pass

    def test_later(self):
        """Git: a submodule that comes after a status is seen by the next one"""
        self.write("a.txt", "eno\n", self.sub)
        self.git("update-index", "--force-remove", "sub")
        self.age_index()
        server = harness.Server(self, "--toolset", "readonly", "--root", str(self.root))
        arguments = {"op": "status", "repo": str(self.root)}
        for _ in range(2):
            self.assertEqual(server.ok("Git", arguments).notes, "")
        self.git("reset", "-q")
        self.assertEqual(server.ok("Git", arguments).notes, SAYS + "sub (modified content)")

    def test_one_session(self):
        """Git: a status of one file does not hide a submodule from the next status"""
        self.write("a.txt", "eno\n", self.sub)
        self.age_index()
        server = harness.Server(self, "--toolset", "readonly", "--root", str(self.root))
        for path, note in (("a.txt", False), ("sub", True), ("a.txt", False), (None, True)):
            arguments = {"op": "status", "repo": str(self.root)} | ({"path": path} if path else {})
            self.assertEqual(server.ok("Git", arguments).notes,
                             SAYS + "sub (modified content)" if note else "", path)

    def test_long(self):
        """git: the long form, and from a directory below"""
        self.write("a.txt", "eno\n", self.sub)
        (self.root / "below").mkdir()
        for arguments in ({"porcelain": False}, {"working_dir": "below"}, {"untracked": False}):
            text = self.ok("git_status", arguments).text
            self.assertTrue(text.endswith("\n\n[stderr]\n" + SAYS + "sub (modified content)"), text)

    def test_without_untracked(self):
        """git: without untracked files, those of a submodule do not count either"""
        self.write("new", "", self.sub)
        self.assertIn(SAYS, self.ok("git_status").text)
        self.assertNotIn("sub (", self.out("status", "-uno"))
        self.assertNotIn(SAYS, self.ok("git_status", {"untracked": False}).text)

    def test_linked(self):
        """in a linked working tree its own submodules are looked at"""
        tree = self.root / "linked"
        self.git("worktree", "add", "-q", "-b", "linked", str(tree))
        self.git("-c", "protocol.file.allow=always", "submodule", "--quiet", "update", "--init",
                 cwd=tree)
        arguments = {"working_dir": "linked"}
        self.assertNotIn(SAYS, self.ok("git_status", arguments).text)
        self.write("a.txt", "eno\n", tree / "sub")
        self.assertIn(SAYS + "sub (modified content)", self.ok("git_status", arguments).text)
        self.assertNotIn("sub (", self.ok("git_status").text)

    def test_nothing_is_written(self):
        """the submodule's files stay as they are"""
        def files():
            return {path: path.lstat().st_mtime_ns for place in (self.sub, self.root / ".git")
                    for path in place.rglob("*") if not stat.S_ISDIR(path.lstat().st_mode)}

        os.utime(self.sub / "a.txt")
        before = files()
        self.ok("git_status")
        self.assertEqual(files(), before)


if __name__ == "__main__":
    harness.main()
