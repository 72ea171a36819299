#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow: git_conflict_info and git_resolve_conflict."""
import os
import shutil

import harness
import merges
import workflow

OURS, THEIRS, MARKERS = merges.OURS, merges.THEIRS, merges.MARKERS


class Info(merges.Case):
    def test_example(self):
        """R4-8 git_conflict_info: the example of the requirements, through MCP"""
        self.conflict()
        self.assertEqual(workflow.Server(self).gives("git_conflict_info"), {
            "hasConflicts": True,
            "files": [{"path": "src/config.ts", "oursContent": OURS, "theirsContent": THEIRS,
                       "markers": MARKERS}]})

    def test_none(self):
        """git_conflict_info: no conflicts, no files"""
        self.init()
        self.assertEqual(self.gives("git_conflict_info"), {"hasConflicts": False, "files": []})

    def test_exact(self):
        """git_conflict_info: sides are whole and exact, markers only the hunks"""
        lines = [f"line {i}\n" for i in range(30)]
        self.init()
        self.commit("f.txt", "".join(lines), "base")
        self.branch("f.txt", "".join(lines[:5] + ["\x1btheirs\u202e\n"] + lines[6:]))
        ours = "".join(lines[:5] + ["ours\r\n"] + lines[6:])
        self.commit("f.txt", ours, "ours")
        self.git("merge", "-q", "feature/auth", check=False)
        result = self.ok("git_conflict_info")
        (file,) = result.value["structuredContent"]["files"]
        self.assertEqual(file["oursContent"], ours)
        self.assertEqual(file["theirsContent"].splitlines()[5], "\x1btheirs\u202e")
        self.assertEqual(file["markers"].count("line"), 0)
        self.assertNotIn("\u202e", result.text)

    def test_deleted(self):
        """git_conflict_info: a side that deleted the file is absent"""
        self.init()
        self.git("checkout", "-q", "-b", "feature/auth")
        self.git("rm", "-q", "a.txt")
        self.git("commit", "-q", "-m", "gone")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "ours\n", "ours")
        self.git("merge", "-q", "feature/auth", check=False)
        self.assertEqual(self.gives("git_conflict_info")["files"],
                         [{"path": "a.txt", "oursContent": "ours\n", "markers": ""}])

    def test_rebase(self):
        """git_conflict_info: a stopped rebase has conflicts too"""
        self.collide()
        self.git("rebase", "-q", "feature/auth", check=False)
        value = self.gives("git_conflict_info")
        self.assertTrue(value["hasConflicts"])
        self.assertEqual(value["files"][0]["oursContent"], THEIRS)

    def test_capped(self):
        """git_conflict_info: what does not fit is left out, and the result says so"""
        self.conflict(ours="o" * 150000 + "\n", theirs="t" * 150000 + "\n")
        result = self.ok("git_conflict_info")
        self.assertTrue(result.meta["truncated"])
        self.assertEqual(result.value["structuredContent"],
                         {"hasConflicts": True, "files": [{"path": "src/config.ts", "markers": ""}]})

    def collides(self, change):
        """What is shown after both sides made a change: change(True) is theirs."""
        self.init()
        self.git("config", "core.fileMode", "false")
        self.git("checkout", "-q", "-b", "feature")
        for theirs in True, False:
            change(theirs)
            self.git("commit", "-q", "-m", "change")
            self.git("checkout", "-q", "main")
        self.git("merge", "-q", "feature", check=False)
        return [(file["path"], file.get("oursContent"), file.get("theirsContent"), file["markers"])
                for file in self.gives("git_conflict_info")["files"]]

    def writes(self, name, ours, theirs):
        """A change that writes a file."""
        def change(is_theirs):
            self.write(name, theirs if is_theirs else ours)
            self.git("add", "-A")
        return change

    def test_renames(self):
        """git_conflict_info: all names of a file that both sides renamed"""
        self.assertEqual(
            self.collides(lambda theirs: self.git("mv", "a.txt", "theirs" if theirs else "ours")),
            [("a.txt", None, None, ""), ("ours", "one\n", None, ""), ("theirs", None, "one\n", "")])

    def test_binary(self):
        """git_conflict_info: where one side is no text, both are absent"""
        self.assertEqual(self.collides(self.writes("a.txt", b"ours\n", b"\xff\n")),
                         [("a.txt", None, None, "")])

    def test_links(self):
        """git_conflict_info: a symbolic link is its target"""
        def change(theirs):
            os.symlink("to-theirs" if theirs else "to-ours", self.root / "link")
            self.git("add", "-A")
        self.assertEqual(self.collides(change), [("link", "to-ours", "to-theirs", "")])

    def test_submodules(self):
        """git_conflict_info: a submodule has no content"""
        def change(theirs):
            self.git("update-index", "--add", "--cacheinfo",
                     f"160000,{('1' if theirs else '2') * 40},sub")
            (self.root / "sub").mkdir(exist_ok=True)
        self.assertEqual(self.collides(change), [("sub", None, None, "")])

    def test_marker_size(self):
        """git_conflict_info: markers of the length that an attribute gives, and of no link"""
        def change(theirs):
            self.part(".git/info/attributes").write_text("*.txt conflict-marker-size=3\n")
            self.writes("a.txt", b"ours\n", b"theirs\n")(theirs)
        markers = "<<< HEAD\nours\n===\ntheirs\n>>> feature"
        self.assertEqual(self.collides(change), [("a.txt", "ours\n", "theirs\n", markers)])
        (self.root / "a.txt").rename(self.root / "b.txt")
        (self.root / "a.txt").symlink_to("b.txt")
        self.assertEqual(self.gives("git_conflict_info")["files"][0]["markers"], "")

    def test_cwd(self):
        """git_conflict_info: from a directory below, paths are still those from the top"""
        self.conflict()
        self.assertEqual(self.gives("git_conflict_info", {"cwd": "src"})["files"][0]["path"],
                         "src/config.ts")


class Resolve(merges.Case):
    def resolve(self, **arguments):
        """git_resolve_conflict of src/config.ts."""
        return self.gives("git_resolve_conflict", {"path": "src/config.ts"} | arguments)

    def content(self):
        """What the file says."""
        return (self.root / "src/config.ts").read_text()

    def assert_resolved(self):
        """No conflict is left, and what is staged is what is there."""
        self.assertEqual(self.out("ls-files", "-u"), "")
        self.assertEqual(self.out("diff", "--name-only"), "")

    def test_examples(self):
        """R4-9 git_resolve_conflict: the three examples of the requirements, through MCP"""
        self.conflict()
        server = workflow.Server(self)
        for arguments, content in (
                ({"strategy": "ours"}, OURS), ({"strategy": "theirs"}, THEIRS),
                ({"strategy": "content", "content": "const port = env || 3000;"},
                 "const port = env || 3000;")):
            self.assertEqual(
                server.gives("git_resolve_conflict", {"path": "src/config.ts"} | arguments),
                {"resolved": True, "path": "src/config.ts", "strategy": arguments["strategy"]})
            self.assertEqual(self.content(), content)
            self.assert_resolved()
            self.git("reset", "-q", "--hard")
            self.git("merge", "-q", "feature/auth", check=False)

    def test_git_directory(self):
        """git_resolve_conflict: content is not written into a git directory of any name"""
        self.init()
        for name in ("HEAD", "objects/x", "refs/x"):
            self.write(f"hub/{name}", "x\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "hub")
        self.conflict(name="hub/config")
        before = self.tree()
        content = {"path": "hub/config", "strategy": "content", "content": "[core]\n"}
        self.fails(7002, "git_resolve_conflict", content)
        self.assertEqual(self.tree(), before)
        self.gives("git_resolve_conflict", {"path": "hub/config", "strategy": "theirs"})
        self.assert_resolved()

    def test_wholly_ours(self):
        """git_resolve_conflict: a merge resolved wholly to ours can be committed"""
        self.conflict()
        self.resolve(strategy="ours")
        self.git("commit", "-q", "-m", "merged")
        self.assertEqual(len(self.out("rev-parse", "HEAD^1", "HEAD^2").split()), 2)

    def test_deleted(self):
        """git_resolve_conflict: the side that deleted the file removes it, the other brings it back"""
        self.init()
        self.commit("dir/f.txt", "base\n", "base")
        self.git("checkout", "-q", "-b", "feature/auth")
        self.commit("dir/f.txt", "theirs\n", "theirs")
        self.git("checkout", "-q", "main")
        self.git("rm", "-q", "dir/f.txt")
        self.git("commit", "-q", "-m", "gone")
        self.git("merge", "-q", "feature/auth", check=False)
        self.gives("git_resolve_conflict", {"path": "dir/f.txt", "strategy": "ours"})
        self.assertFalse((self.root / "dir").exists())
        self.assert_resolved()
        self.git("reset", "-q", "--hard")
        for strategy in ({"strategy": "theirs"}, {"strategy": "content", "content": "theirs\n"}):
            self.git("merge", "-q", "feature/auth", check=False)
            shutil.rmtree(self.root / "dir")
            self.gives("git_resolve_conflict", {"path": "dir/f.txt"} | strategy)
            self.assertEqual((self.root / "dir/f.txt").read_text(), "theirs\n")
            self.assert_resolved()
            self.git("reset", "-q", "--hard")

    def test_modes_links_submodules(self):
        """git_resolve_conflict: modes, links and submodules become what the side has"""
        self.init()
        self.git("checkout", "-q", "-b", "feature/auth")
        os.symlink("/etc/theirs", self.root / "link")
        self.write("run.sh", "theirs\n").chmod(0o755)
        self.git("add", "-A")
        self.git("update-index", "--add", "--cacheinfo", f"160000,{'2' * 40},sub")
        self.git("commit", "-q", "-m", "theirs")
        self.git("checkout", "-q", "main")
        os.symlink("ours", self.root / "link")
        self.write("run.sh", "ours\n")
        self.git("add", "-A")
        self.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},sub")
        self.git("commit", "-q", "-m", "ours")
        self.git("merge", "-q", "feature/auth", check=False)
        for path in ("link", "sub"):
            self.fails(7010, "git_resolve_conflict",
                       {"path": path, "strategy": "content", "content": "x"})
        for path in ("link", "run.sh", "sub"):
            self.gives("git_resolve_conflict", {"path": path, "strategy": "theirs"})
        self.assertEqual(os.readlink(self.root / "link"), "/etc/theirs")
        self.assertEqual((self.root / "run.sh").stat().st_mode & 0o777, 0o755)
        self.assertEqual(self.out("ls-files", "-u"), "")
        self.assertEqual(self.out("ls-files", "-s", "link", "run.sh", "sub"),
                         self.out("ls-tree", "feature/auth", "link", "run.sh", "sub",
                                  "--format=%(objectmode) %(objectname) 0%x09%(path)"))

    def test_mode_kept(self):
        """git_resolve_conflict: new content leaves a file executable"""
        self.init()
        self.write("run.sh", "base\n").chmod(0o755)
        self.git("add", "run.sh")
        self.git("commit", "-q", "-m", "base")
        self.branch("run.sh", "theirs\n")
        self.commit("run.sh", "ours\n", "ours")
        self.git("merge", "-q", "feature/auth", check=False)
        self.gives("git_resolve_conflict",
                   {"path": "run.sh", "strategy": "content", "content": "both\n"})
        self.assertTrue((self.root / "run.sh").stat().st_mode & 0o100)
        self.assertTrue(self.out("ls-files", "-s", "run.sh").startswith("100755 "))

    def test_mode_without_file_modes(self):
        """git_resolve_conflict: with core.fileMode off, the mode is what a merge makes of the three"""
        self.init()
        self.git("config", "core.fileMode", "no")
        for base, ours, theirs, merged in (("+x", "+x", "+x", "100755"), ("-x", "-x", "-x", "100644"),
                                           ("-x", "-x", "+x", "100755"), ("-x", "+x", "-x", "100755"),
                                           ("+x", "-x", "+x", "100644"), ("+x", "+x", "-x", "100644"),
                                           (None, "+x", "-x", "100755"), (None, "-x", "+x", "100644"),
                                           ("+x", "+x", None, "100755"), ("+x", None, "+x", "100755")):
            self.git("checkout", "-q", "--detach", "main")
            self.side("base", base)
            self.git("checkout", "-q", "-B", "feature/auth")
            self.side("theirs", theirs)
            self.git("checkout", "-q", "--detach", "HEAD~1")
            self.side("ours", ours)
            self.git("merge", "-q", "feature/auth", check=False)
            self.assertEqual(self.out("diff", "--name-only", "--diff-filter=U"), "run.sh\n")
            self.gives("git_resolve_conflict",
                       {"path": "run.sh", "strategy": "content", "content": "both\n"})
            self.assertEqual(self.out("ls-files", "-s", "run.sh")[:6], merged,
                             (base, ours, theirs))
            self.assertEqual(self.out("show", ":run.sh"), "both\n")
            self.git("commit", "-q", "-m", "merged")

    def side(self, content, mode):
        """A commit of run.sh, or without it; only the index knows its mode."""
        if mode is None:
            self.git("rm", "-q", "--ignore-unmatch", "run.sh")
        else:
            self.write("run.sh", content + "\n")
            self.git("update-index", "--add", f"--chmod={mode}", "run.sh")
        self.git("commit", "-q", "--allow-empty", "-m", content)

    def test_line_endings(self):
        """git_resolve_conflict: line endings are what git would write"""
        self.init()
        self.git("config", "core.autocrlf", "true")
        self.collide(ours="ours\n", theirs="theirs\n")
        self.git("merge", "-q", "feature/auth", check=False)
        self.resolve(strategy="ours")
        self.assertEqual((self.root / "src/config.ts").read_bytes(), b"ours\r\n")
        self.assert_resolved()

    def test_markers(self):
        """git_resolve_conflict: content that still has markers is refused, with 7030"""
        self.conflict()
        for left in (MARKERS, "<<<<<<< HEAD\n", "a\n>>>>>>> x", "a\n||||||| base\n"):
            result = self.fails(7030, "git_resolve_conflict",
                                {"path": "src/config.ts", "strategy": "content", "content": left})
            self.assertEqual(result.kind, "BadArgs")
        self.resolve(strategy="content", content="Title\n=======\n<<<<<< six\n")

    def test_wrong_paths(self):
        """git_resolve_conflict: paths not in conflict, protected, or outside are refused"""
        self.conflict()
        for path in ("a.txt", "none", "src", "src/config.ts/x", "SRC/config.ts"):
            self.fails(7010, "git_resolve_conflict", {"path": path, "strategy": "ours"})
        for path in (".git/config", ".GIT/config", "src/.git/x", ".git"):
            result = self.fails(7002, "git_resolve_conflict", {"path": path, "strategy": "ours"})
            self.assertEqual(result.kind, "SandboxViolation")
        for path in ("../x", "src/../src/config.ts", "..", "/etc/passwd", "src/.."):
            result = self.call("git_resolve_conflict", {"path": path, "strategy": "ours"})
            self.assertEqual(result.kind, "SandboxViolation", result)

    def test_arguments(self):
        """git_resolve_conflict: strategy and content have to fit"""
        self.conflict()
        for arguments in ({}, {"strategy": "mine"}, {"strategy": "content"},
                          {"strategy": "ours", "content": "x"}):
            result = self.call("git_resolve_conflict", {"path": "src/config.ts"} | arguments)
            self.assertEqual(result.kind, "BadArgs")

    def test_names(self):
        """git_resolve_conflict: a path may be absolute, begin with ./, and hold anything"""
        self.env["GIT_LITERAL_PATHSPECS"] = "1"
        for name in ("*.txt", ":x", "a b", "n\u00e9w\n"):
            shutil.rmtree(self.root / ".git", ignore_errors=True)
            self.conflict(name=name)
            self.gives("git_resolve_conflict", {"path": f"./{name}", "strategy": "theirs"})
            self.assertEqual((self.root / name).read_text(), THEIRS)
            self.assertEqual(self.out("ls-files", "-u"), "")
            (self.root / name).unlink()
        shutil.rmtree(self.root / ".git", ignore_errors=True)
        self.conflict()
        self.gives("git_resolve_conflict",
                   {"path": str(self.root / "src/config.ts"), "strategy": "theirs"})
        self.assertEqual(self.content(), THEIRS)

    def test_cwd(self):
        """git_resolve_conflict: from a directory below, the path is still that from the top"""
        self.conflict()
        self.fails(7010, "git_resolve_conflict",
                   {"path": "config.ts", "strategy": "ours", "cwd": "src"})
        self.gives("git_resolve_conflict",
                   {"path": "src/config.ts", "strategy": "ours", "cwd": "src"})

    def test_asks(self):
        """R4-19 git_resolve_conflict: always asks, and shows what will be written"""
        self.conflict()
        self.assert_asks("Resolve the conflict in src/config.ts with our side",
                         "git_resolve_conflict", {"path": "src/config.ts", "strategy": "ours"})
        server = harness.AskingServer(self, "--toolset", "workflow")
        for arguments, line in (({"strategy": "theirs"}, "    const port = 8080;"),
                                ({"strategy": "content", "content": "x\n\x1by"}, "    <U+001B>y")):
            shown, result = server.decided("reject", "git_resolve_conflict",
                                           {"path": "src/config.ts"} | arguments)
            self.assertEqual(result.kind, "ApprovalDenied")
            self.assertIn(line, shown.splitlines())


if __name__ == "__main__":
    harness.main()
