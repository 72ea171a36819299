#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_pull: files of a branch come into the sandbox and are merged with what is there."""
import base64
import os
import subprocess

import harness
import pulling

OURS, MIDDLE, THEIRS = "<<<<<<< ours (sandbox)", "=======", ">>>>>>> theirs (incoming)"
LFS = ("version https://git-lfs.github.com/spec/v1\n"
       "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n")


class Pull:
    """With either backend."""

    def test_words(self):
        """files, directories and patterns; what they stand for and nothing else"""
        self.upstream({"docs/a.md": "a\n", "docs/deep/b.md": "b\n", "src/c.c": "c\n", "d.md": "d\n",
                       "docs.txt": "x\n", "odd[1].txt": "odd\n"})
        server = self.server()
        for words, pulled in (
                (["d.md"], ["d.md"]),
                (["docs/"], ["docs/a.md", "docs/deep/b.md"]),
                (["/workspace/src"], ["src/c.c"]),
                (["odd[1].txt"], ["odd[1].txt"]),
                (["*.txt"], ["a.txt", "docs.txt"]),
                (["."], [])):
            self.assertEqual(self.pull(server, *words), (pulled, [], ""), words)
        self.assertEqual(self.files(server), ["a.txt", "d.md", "docs.txt", "docs/a.md",
                                              "docs/deep/b.md", "odd[1].txt", "src/c.c"])
        self.assertEqual(self.text(server, "docs/deep/b.md"), "b\n")
        self.assertEqual(self.unstaged(server), {})

    def test_patterns_with_directories(self):
        """a pattern with a slash goes by the whole path"""
        self.upstream({"docs/a.md": "a\n", "docs/deep/b.md": "b\n", "x/docs/c.md": "c\n"})
        server = self.server()
        self.assertEqual(self.pull(server, "docs/*.md")[0], ["docs/a.md"])
        self.assertEqual(self.pull(server, "**/b.md")[0], ["docs/deep/b.md"])
        self.assertEqual(self.pull(server, "/workspace/*.txt")[0], ["a.txt"])

    def test_unknown_paths(self):
        """a path that is not there is named, and nothing is pulled"""
        server = self.server()
        for path in ("nothing.md", "docs/", "*.rs", "a.txt/", "a.txt/b", "A.TXT"):
            result = server.refused("ExecutionFailed",
                                    f"there is no '{path}' in local:proj (branch: main)",
                                    "git_pull", {"source": self.source, "paths": ["a.txt", path]})
            self.assertEqual(result.error["reason"], "not_found", path)
        for path, kind in (("../a.txt", "SandboxViolation"), ("/etc/passwd", "SandboxViolation"),
                           ("docs/../../a.txt", "SandboxViolation"), ("", "BadArgs"),
                           ("/workspace//etc", "SandboxViolation")):
            result = server.call("git_pull", {"source": self.source, "paths": [path]})
            self.assertEqual(result.kind, kind, result)
        self.assertEqual(self.files(server), [])

    def test_arguments(self):
        """paths and source are needed, and the zone is the workspace"""
        server = self.server()
        result = server.call("git_pull", {"source": self.source})
        self.assertEqual(result.kind, "BadArgs", result)
        self.assertIn("paths is required", result.text)
        result = server.call("git_pull", {"paths": ["a.txt"]})
        self.assertEqual(result.kind, "BadArgs", result)
        self.assertIn("source is required", result.text)
        result = server.call("git_pull", {"source": self.source, "paths": ["a.txt"],
                                          "destZone": "elsewhere"})
        self.assertEqual(result.kind, "BadArgs", result)
        self.assertIn("workspace", result.text)
        server.ok("git_pull", {"source": self.source, "paths": ["a.txt"], "destZone": "workspace"})

    def test_full_branch_names(self):
        """a branch is named without refs/heads/, and the message says how"""
        server = self.server()
        self.put(server, "new.txt", "new\n")
        staged = self.stage(server, "new.txt")
        for branch, name in (("refs/heads/main", "main"), ("refs/heads/a/b", "a/b")):
            target = {**self.source, "branch": branch}
            server.refused("BadArgs", f"source.branch is a name without refs/heads/; give '{name}'",
                           "git_pull", {"source": target, "paths": ["a.txt"]})
            server.refused("BadArgs", f"target.branch is a name without refs/heads/; give '{name}'",
                           "git_push", {"commitId": staged["id"], "target": target})
        server.ok("git_push", {"commitId": staged["id"],
                               "target": {**self.source, "branch": "heads/main"}})
        self.assertEqual(self.out("for-each-ref", "--format=%(refname)", cwd=self.proj).split(),
                         ["refs/heads/heads/main", "refs/heads/main"])

    def test_sources(self):
        """branches, bare repositories, and what is none"""
        bare = self.root / "backup.git"
        self.git("checkout", "-q", "-b", "templates", cwd=self.proj)
        self.upstream({"a.txt": "of the branch\n"})
        self.git("checkout", "-q", "main", cwd=self.proj)
        self.git("clone", "-q", "--bare", str(self.proj), str(bare))
        server = self.server()
        self.pull(server, "a.txt", source={**self.source, "branch": "templates"})
        self.assertEqual(self.text(server, "a.txt"), "of the branch\n")
        self.pull(server, "a.txt", source={"type": "local-bare", "path": "backup.git"})
        self.assertEqual(self.text(server, "a.txt"), "one\n")
        result = server.call("git_pull", {"source": {**self.source, "branch": "none"},
                                          "paths": ["a.txt"]})
        self.assertEqual((result.kind, result.error["name"], result.error["reason"]),
                         ("ExecutionFailed", "GIT_BRANCH_NOT_FOUND", "not_found"))
        self.assertEqual(server.call("git_pull", {"source": {"type": "local", "path": str(self.base)},
                                                  "paths": ["a.txt"]}).kind, "SandboxViolation")
        self.git("checkout", "-q", "--detach", cwd=self.proj)
        self.assertIn("detached", server.call("git_pull", {"source": self.source,
                                                           "paths": ["a.txt"]}).text)

    def test_empty_repository(self):
        """a branch without a commit is no branch yet"""
        empty = self.root / "empty"
        empty.mkdir()
        self.git("init", "-q", cwd=empty)
        result = self.server().call("git_pull", {"source": {"type": "local", "path": "empty"},
                                                 "paths": ["."]})
        self.assertEqual(result.error["name"], "GIT_BRANCH_NOT_FOUND", result)

    def test_again(self):
        """without paths: what was pulled from this branch before, and no more"""
        self.upstream({"b.txt": "b\n", "docs/x.md": "x\n", "docs/y.md": "y\n"})
        server = self.server()
        self.pull(server, "a.txt", "docs")
        self.assertEqual(self.pull(server), ([], [], ""))
        self.upstream({"a.txt": "two\n", "b.txt": "bb\n", "docs/x.md": None, "docs/z.md": "z\n"})
        self.assertEqual(self.pull(server),
                         (["a.txt"], [], "removed docs/x.md: deleted upstream"))
        self.assertEqual(self.files(server), ["a.txt", "docs/y.md"])
        self.assertEqual(self.unstaged(server), {})

    def test_merge(self):
        """both sides changed: lines are merged, and conflicts have R1's markers"""
        lines = [f"{i}\n" for i in range(9)]
        self.upstream({"a.txt": "".join(lines), "b.txt": "".join(lines)})
        server = self.server()
        self.pull(server, ".")
        self.put(server, "a.txt", "".join(["zero\n", *lines[1:]]))
        self.put(server, "b.txt", "".join(["ours\n", *lines[1:]]))
        self.upstream({"a.txt": "".join([*lines[:8], "eight\n"]),
                       "b.txt": "".join(["theirs\n", *lines[1:]])})
        pulled, conflicts, notes = self.pull(server, ".")
        self.assertEqual((pulled, conflicts), (["a.txt", "b.txt"], ["b.txt"]))
        self.assertIn("conflict in b.txt: the lines between the markers", notes)
        self.assertEqual(self.text(server, "a.txt"), "".join(["zero\n", *lines[1:8], "eight\n"]))
        self.assertEqual(self.text(server, "b.txt"),
                         "".join([OURS + "\nours\n" + MIDDLE + "\ntheirs\n" + THEIRS + "\n",
                                  *lines[1:]]))
        # The incoming versions are the base now: a second pull has nothing to do.
        self.assertEqual(self.pull(server, "."), ([], [], ""))
        self.assertEqual(self.unstaged(server), {"a.txt": "modified", "b.txt": "modified"})

    def test_equal_change(self):
        """the same change on both sides is none"""
        server = self.server()
        self.pull(server, "a.txt")
        self.put(server, "a.txt", "two\n")
        self.upstream({"a.txt": "two\n"})
        self.assertEqual(self.pull(server, "a.txt"), ([], [], ""))
        self.assertEqual(self.unstaged(server), {})

    def test_unchanged_upstream(self):
        """the sandbox's work stays where upstream did nothing"""
        self.upstream({"b.txt": "b\n"})
        server = self.server()
        self.pull(server, ".")
        self.put(server, "a.txt", "mine\n")
        self.remove(server, "b.txt")
        pulled, conflicts, notes = self.pull(server, ".")
        self.assertEqual((pulled, conflicts), ([], []))
        self.assertIn("b.txt: deleted in the sandbox", notes)
        self.assertEqual(self.unstaged(server), {"a.txt": "modified", "b.txt": "deleted"})

    def test_without_base(self):
        """a file that was not pulled before: equal is fine, else a conflict over all of it"""
        self.upstream({"b.txt": "b\n"})
        server = self.server()
        self.put(server, "a.txt", "mine\n")
        self.put(server, "b.txt", "b\n")
        pulled, conflicts, notes = self.pull(server, ".")
        self.assertEqual((pulled, conflicts), (["a.txt"], ["a.txt"]))
        self.assertIn("the sandbox had another file of this name", notes)
        self.assertEqual(self.text(server, "a.txt"), f"{OURS}\nmine\n{MIDDLE}\none\n{THEIRS}\n")

    def test_deletions(self):
        """deleted on one side and changed on the other: nothing of the sandbox is lost"""
        self.upstream({"up.txt": "up\n", "both.txt": "both\n", "down.txt": "down\n"})
        server = self.server()
        self.pull(server, ".")
        self.put(server, "up.txt", "mine\n")
        self.remove(server, "down.txt")
        self.remove(server, "both.txt")
        self.upstream({"up.txt": None, "both.txt": None, "down.txt": "changed\n"})
        pulled, conflicts, notes = self.pull(server, ".")
        self.assertEqual((pulled, conflicts), (["down.txt"], ["down.txt", "up.txt"]))
        self.assertIn("conflict in up.txt: deleted upstream and changed in the sandbox", notes)
        self.assertIn("conflict in down.txt: deleted in the sandbox and changed upstream", notes)
        self.assertEqual(self.text(server, "up.txt"), "mine\n")
        self.assertEqual(self.text(server, "down.txt"), "changed\n")
        self.assertEqual(self.files(server), ["a.txt", "down.txt", "up.txt"])

    def test_binary(self):
        """binary on both sides: the sandbox's file stays, and can be given up for the other"""
        (self.proj / "logo").write_bytes(b"\xff\0base")
        self.upstream({})
        server = self.server()
        self.pull(server, "logo")
        mine = base64.b64encode(b"\xff\0mine").decode()
        server.ok("write_file", {"path": "/workspace/logo", "content": mine, "encoding": "base64"})
        (self.proj / "logo").write_bytes(b"\xff\0theirs")
        self.upstream({})
        for _ in range(2):
            pulled, conflicts, notes = self.pull(server, "logo")
            self.assertEqual((pulled, conflicts), ([], ["logo"]))
            self.assertIn("conflict in logo: binary", notes)
        self.assertEqual(server.ok("read_file", {"path": "/workspace/logo"})
                         .value["structuredContent"]["content"], mine)
        self.remove(server, "logo")
        self.assertEqual(self.pull(server, "logo")[0], ["logo"])
        self.assertEqual(self.unstaged(server), {})

    def test_modes(self):
        """an executable file stays one, and its mode follows upstream"""
        (self.proj / "run").write_text("#!\n", encoding="utf-8")
        (self.proj / "run").chmod(0o755)
        self.upstream({})
        server = self.server()
        self.pull(server, "run")
        self.put(server, "run", "#!mine\n")
        (self.proj / "run").chmod(0o644)
        self.upstream({})
        self.assertEqual(self.pull(server, "run"), (["run"], [], ""))
        self.assertEqual(self.text(server, "run"), "#!mine\n")
        if self.backend == "directory":
            self.assertEqual((self.workspace / "run").stat().st_mode & 0o111, 0)

    def test_directories(self):
        """a file in the place of a directory, and the other way round"""
        self.upstream({"dir/x": "x\n", "file": "f\n"})
        server = self.server()
        self.pull(server, ".")
        self.upstream({"dir/x": None, "file": None})
        self.upstream({"dir": "now a file\n", "file/y": "y\n"})
        self.assertEqual(self.pull(server, ".")[0:2], (["dir", "file/y"], []))
        self.assertEqual(self.files(server), ["a.txt", "dir", "file/y"])

    def test_directories_in_the_way(self):
        """neither takes the place of the agent's own files"""
        self.upstream({"dir": "a file\n", "file/y": "y\n"})
        server = self.server()
        self.put(server, "dir/mine", "mine\n")
        self.put(server, "file", "mine\n")
        pulled, conflicts, notes = self.pull(server, ".")
        self.assertEqual((pulled, conflicts), (["a.txt"], ["dir", "file/y"]))
        self.assertIn("conflict in dir: a file upstream and a directory in the sandbox", notes)
        self.assertIn("conflict in file/y: below a directory upstream that is a file", notes)
        self.assertEqual(self.files(server), ["a.txt", "dir/mine", "file"])

    def test_deleted_directory(self):
        """a file that takes the place of a directory that the agent deleted"""
        self.upstream({"dir/x": "x\n"})
        self.git("checkout", "-q", "-b", "other", cwd=self.proj)
        self.upstream({"dir/x": None})
        self.upstream({"dir": "a file\n"})
        server = self.server()
        self.pull(server, ".", source={**self.source, "branch": "main"})
        self.remove(server, "dir/x")
        self.assertEqual(self.pull(server, "dir"), (["dir"], [], ""))
        self.assertEqual(self.unstaged(server), {})
        self.assertEqual(self.pull(server, ".", source={**self.source, "branch": "main"})[0:2],
                         ([], []))
        self.assertEqual(self.files(server).count("dir"), 1)

    def test_skipped(self):
        """links, submodules and names that a sandbox refuses are left out, and said"""
        (self.proj / "link").symlink_to("a.txt")
        self.write("odd\nname", "x\n", self.proj)
        self.write("pointer.bin", LFS, self.proj)
        self.upstream({})
        self.git("update-index", "--add", "--cacheinfo",
                 f"160000,{self.out('rev-parse', 'HEAD', cwd=self.proj).strip()},sub", cwd=self.proj)
        self.git("commit", "-q", "-m", "submodule", cwd=self.proj)
        server = self.server()
        pulled, conflicts, notes = self.pull(server, ".")
        self.assertEqual((pulled, conflicts), (["a.txt", "pointer.bin"], []))
        self.assertIn("skipped link: it is a symbolic link", notes)
        self.assertIn("skipped sub: it is a submodule", notes)
        self.assertIn("a sandbox cannot have a file of this name", notes)
        self.assertIn("pointer.bin: a pointer of git-lfs, not the file's content", notes)
        self.assertEqual(self.files(server), ["a.txt", "pointer.bin"])

    def test_links_allowed(self):
        """with allow_symlinks a link comes as a link"""
        (self.proj / "link").symlink_to("a.txt")
        self.upstream({})
        server = self.server("allow_symlinks = true\n")
        self.assertEqual(self.pull(server, "."), (["a.txt", "link"], [], ""))
        if self.backend == "directory":
            self.assertTrue((self.workspace / "link").is_symlink())
        self.assertEqual(self.unstaged(server), {})

    def test_bytes(self):
        """content is the blob's bytes: no attribute changes it"""
        content = b"a\r\nb\r\n$Id$\xff\n"
        (self.proj / "crlf.bin").write_bytes(content)
        self.git("add", "-A", cwd=self.proj)
        self.write(".gitattributes", "* text eol=crlf ident\n", self.proj)
        self.git("add", ".gitattributes", cwd=self.proj)
        self.git("commit", "-q", "-m", "x", cwd=self.proj)
        blob = subprocess.run(["git", "show", "HEAD:crlf.bin"], cwd=self.proj, env=self.env,
                              capture_output=True, check=True).stdout
        server = self.server()
        self.pull(server, ".")
        got = server.ok("read_file", {"path": "/workspace/crlf.bin"}).value["structuredContent"]
        self.assertEqual(base64.b64decode(got["content"]), blob)

    def test_frozen_base(self):
        """whatever happens to the target, the base stays: forced pushes and gc --prune=now"""
        self.upstream({"a.txt": "".join(f"{i}\n" for i in range(9))})
        server = self.server()
        self.pull(server, "a.txt")
        self.put(server, "a.txt", "zero\n" + "".join(f"{i}\n" for i in range(1, 9)))
        self.git("reset", "-q", "--hard", "HEAD~1", cwd=self.proj)
        self.write("a.txt", "".join(f"{i}\n" for i in range(8)) + "eight\n", self.proj)
        self.git("commit", "-q", "--amend", "-a", "-m", "other", cwd=self.proj)
        self.git("reflog", "expire", "--expire=now", "--all", cwd=self.proj)
        self.git("gc", "-q", "--prune=now", cwd=self.proj)
        self.assertEqual(self.unstaged(server), {"a.txt": "modified"})
        self.assertEqual(self.pull(server, "a.txt")[0:2], (["a.txt"], []))
        self.assertEqual(self.text(server, "a.txt"),
                         "zero\n" + "".join(f"{i}\n" for i in range(1, 8)) + "eight\n")

    def test_too_large(self):
        """more than the sandbox may hold: an error, and nothing was pulled"""
        limit = 1 << 20
        self.upstream({"big.txt": "x" * (limit - 1), "small.txt": "ab"})
        server = self.server(f"max_bytes = {limit}\n")
        result = server.call("git_pull", {"source": self.source, "paths": ["*.txt"]})
        self.assertEqual(result.kind, "ExecutionFailed", result)
        self.assertIn(f"have more than the {limit} bytes ", result.text)
        result = server.call("git_pull", {"source": self.source, "paths": ["big.txt", "small.txt"]})
        self.assertIn(f"have more than the {limit} bytes ", result.text)
        self.assertEqual(self.files(server), [])
        self.git("mv", "small.txt", "s", cwd=self.proj)
        self.upstream({"s": "a"})
        self.assertEqual(self.pull(server, "big.txt", "s")[0], ["big.txt", "s"])

    def test_older_files(self):
        """a head does not advance over files that were not pulled with it"""
        self.upstream({"b.txt": "b\n"})
        server = self.server()
        self.pull(server, "a.txt", "b.txt")
        self.upstream({"a.txt": "two\n", "b.txt": "bb\n"})
        pulled, _, notes = self.pull(server, "a.txt")
        self.assertEqual(pulled, ["a.txt"])
        self.assertIn("1 other file of local:proj (branch: main) changed", notes)
        self.assertEqual(self.pull(server, "b.txt"), (["b.txt"], [], ""))

    def test_two_branches(self):
        """a file that came from another branch is not removed with this one's"""
        self.git("checkout", "-q", "-b", "other", cwd=self.proj)
        self.upstream({"a.txt": "other\n", "o.txt": "o\n"})
        self.git("checkout", "-q", "main", cwd=self.proj)
        server = self.server()
        self.pull(server, ".")
        self.pull(server, ".", source={**self.source, "branch": "other"})
        self.upstream({"b.txt": "b\n", "a.txt": None})
        self.assertEqual(self.pull(server)[0:2], ([], []))
        self.assertEqual(self.files(server), ["a.txt", "o.txt"])
        self.assertEqual(self.text(server, "a.txt"), "other\n")

    def test_pushed_and_deleted(self):
        """a file that was pushed counts as seen: deleted upstream, it goes"""
        server = self.server()
        self.pull(server, "a.txt")
        self.put(server, "new.txt", "new\n")
        staged = self.stage(server, "new.txt")
        server.ok("git_push", {"commitId": staged["id"], "target": self.source})
        self.git("rm", "-q", "new.txt", cwd=self.proj)
        self.git("commit", "-q", "-m", "gone", cwd=self.proj)
        self.assertEqual(self.pull(server), ([], [], "removed new.txt: deleted upstream"))
        self.assertEqual(self.files(server), ["a.txt"])

    def test_journal(self):
        """a pull is recorded, and needs no approval"""
        server = self.server()
        self.pull(server, "a.txt")
        server.close()
        record = self.record()
        self.assertEqual((record["tool"], record["operation"], record["outcome"]),
                         ("git_pull", "pull", "ok"))
        self.assertNotEqual(record["decision"], "once")


class InMemory(Pull, pulling.Pulling):
    backend = "memory"

    def test_gone(self):
        """a memory sandbox goes with its process, and its bases with it"""
        server = self.server()
        self.pull(server, "a.txt")
        store = self.store()
        self.assertNotEqual(list((store / "sandboxes").iterdir()), [])
        server.close()
        self.assertEqual(list((store / "sandboxes").iterdir()), [])

    def fill_store(self, server):
        """Stage and discard until the store has been cleared up."""
        for _ in range(12):
            content = base64.b64encode(os.urandom(900_000)).decode()
            server.ok("write_file", {"path": "/workspace/big", "content": content,
                                     "encoding": "base64"})
            server.ok("git_discard", {"commitId": self.stage(server, "big")["id"]})
        packs = self.store().rglob("*.pack")
        self.assertLess(sum(file.stat().st_size for file in packs), 12 * 900_000)

    def test_kept(self):
        """what only the sandbox has outlives the clearing up of the store"""
        lines = [f"l{number}\n" for number in range(20)]
        self.upstream({"merged": "".join(lines), "mode": "old\n", "taken": "old\n"})
        server = self.server("max_bytes = 1048576\n")
        self.pull(server, "merged", "mode", "taken")
        ours = lines[:2] + ["ours\n"] + lines[3:]
        self.put(server, "merged", "".join(ours))
        self.put(server, "mode", "mine\n")
        (self.proj / "mode").chmod(0o755)
        self.upstream({"merged": "".join(lines[:17] + ["theirs\n"] + lines[18:]),
                       "taken": "new\n"})
        self.assertEqual(self.pull(server), (["merged", "mode", "taken"], [], ""))
        self.fill_store(server)
        self.assertEqual(self.text(server, "merged"),
                         "".join(ours[:17] + ["theirs\n"] + ours[18:]))
        self.assertEqual(self.text(server, "mode"), "mine\n")
        self.assertEqual(self.text(server, "taken"), "new\n")
        self.stage(server, "merged", "mode")

    def test_no_room_for_merged(self):
        """a merged file counts its bytes; one too many, and nothing is pulled"""
        ours = "o" * 300 + "\n"
        self.upstream({"m": "x\n" * 9 + "end\n", "z": "old\n"})
        server = self.server("max_bytes = 1048576\n")
        self.pull(server, "m", "z")
        self.put(server, "m", ours + "x\n" * 9 + "end\n")
        self.upstream({"m": "x\n" * 9 + "t" * 1000 + "\n", "z": "new\n"})
        self.put(server, "full", "f" * (1048576 - 4 * 128 - 700))
        result = server.call("git_pull", {"source": self.source})
        self.assertTrue(result.failed, result)
        self.assertIn("staging.max_bytes", result.text)
        self.remove(server, "full")
        self.assertEqual(self.text(server, "m"), ours + "x\n" * 9 + "end\n")
        self.assertEqual(self.text(server, "z"), "old\n")
        self.assertEqual(self.pull(server)[0], ["m", "z"])


class InDirectory(Pull, pulling.Pulling):
    backend = "directory"

    def test_restart(self):
        """the base survives a restart"""
        self.pull(self.server(), "a.txt")
        server = self.server()
        self.assertEqual(self.unstaged(server), {})
        self.upstream({"a.txt": None, "b.txt": "b\n"})
        self.assertEqual(self.pull(server), ([], [], "removed a.txt: deleted upstream"))
        self.assertFalse((self.workspace / "a.txt").exists())

    def test_many_conflicts(self):
        """markers may take many times as much as the lines that they are about"""
        def lines(word):
            return f"k\nk\nk\nk\n{word}\n" * 1_000_000

        server = self.server()
        self.upstream({"a.txt": lines("a")})
        self.pull(server, "a.txt")
        self.write("a.txt", lines("b"), self.workspace)
        self.upstream({"a.txt": lines("c")})
        self.assertEqual(self.pull(server)[:2], (["a.txt"], ["a.txt"]))
        self.assertEqual((self.workspace / "a.txt").read_text(encoding="utf-8"), lines(
            "<<<<<<< ours (sandbox)\nb\n=======\nc\n>>>>>>> theirs (incoming)"))


del Pull

if __name__ == "__main__":
    harness.main()
