#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Pushes from the sandbox to hostile targets: nothing planted runs, nothing is written outside the
target and airlock's store, and what a user approved is what arrives.

Each trap is shown to work on plain git first.
"""
import os
import shutil
import stat
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "e2e"))
import harness
import pushing

HOOKS = ("pre-commit", "prepare-commit-msg", "commit-msg", "post-commit", "reference-transaction",
         "post-index-change", "pre-receive", "update", "proc-receive", "post-receive",
         "post-update", "push-to-checkout", "post-checkout", "post-merge")


def snapshot(*tops, without=()):
    """Every file below some directories, with its type and content."""
    seen = {}
    for top in tops:
        for folder, dirs, files in os.walk(top):
            dirs[:] = [name for name in dirs if os.path.join(folder, name) not in without]
            for name in (*dirs, *files):
                path = os.path.join(folder, name)
                mode = os.lstat(path).st_mode
                content = os.readlink(path) if stat.S_ISLNK(mode) else None
                if stat.S_ISREG(mode):
                    with open(path, "rb") as file:
                        content = file.read()
                seen[path] = (mode, content)
    return seen


class Hostile(pushing.Pushing):
    """A target with a trap, and a canary outside."""

    def setUp(self):
        super().setUp()
        self.canary = self.base / "fired"
        self.outside = self.base / "outside"
        self.outside.mkdir()
        (self.outside / "secret").write_text("secret\n", encoding="utf-8")

    def script(self, path, then="exit 0"):
        """A program that leaves a trace."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\n: >{self.canary}\n: >{self.root}/fired 2>/dev/null\n{then}\n",
                        encoding="utf-8")
        path.chmod(0o755)
        return path

    def fires(self):
        """Whether the trap fired; it is set again."""
        traces = [path for path in (self.canary, self.root / "fired") if path.exists()]
        for path in traces:
            path.unlink()
        return bool(traces)

    def commit_as_a_user(self, name="control.txt"):
        """What plain git does with a file of the target."""
        self.write(name, "control\n")
        self.git("add", "-A", check=False)
        self.git("commit", "-q", "-m", "control", check=False)

    def push_and_look(self, target=None, where=None):
        """A push that works, fires nothing, and changes nothing but target and state."""
        where = where or self.root
        staged = self.stage({"pushed.txt": "pushed\r\n", "d/x.txt": "x\n"})
        without = (str(where), str(self.home / ".local"))
        before = snapshot(self.base, without=without)
        commit, _ = self.pushed(staged, target)
        self.assertFalse(self.fires())
        self.assertEqual(snapshot(self.base, without=without), before)
        self.assertEqual(self.content("d/x.txt", commit, where), b"x\n")
        return commit


class Programs(Hostile):
    """What a repository can make git run."""

    def test_hooks(self):
        """no hook of a working tree runs"""
        for hook in HOOKS:
            self.script(self.root / ".git/hooks" / hook)
        self.commit_as_a_user()
        self.assertTrue(self.fires())
        self.push_and_look()

    def test_hooks_of_bare(self):
        """no hook of a bare repository runs"""
        bare = self.make_bare()
        for hook in HOOKS:
            self.script(bare / "hooks" / hook)
        self.git("push", "-q", "bare.git", "HEAD:refs/heads/control")
        self.assertTrue(self.fires())
        self.push_and_look(self.BARE, bare)

    def test_hooks_path(self):
        """nor one that core.hooksPath names"""
        self.script(self.root / "tools/reference-transaction")
        self.git("config", "core.hooksPath", "tools")
        self.git("branch", "control")
        self.assertTrue(self.fires())
        self.push_and_look()

    def test_fsmonitor(self):
        """core.fsmonitor"""
        self.git("config", "core.fsmonitor", str(self.script(self.root / ".git/canary")))
        self.git("status")
        self.assertTrue(self.fires())
        self.push_and_look()

    def test_filters(self):
        """filter drivers, which a pushed file and an old one go through"""
        program = self.script(self.root / ".git/canary", "cat")
        (self.root / ".git/info/attributes").write_text("* filter=evil\n", encoding="utf-8")
        for name in "clean", "smudge":
            self.git("config", f"filter.evil.{name}", str(program))
        self.commit_as_a_user()
        self.assertTrue(self.fires())
        self.push_and_look()

    def test_process_filter(self):
        """a long running filter, named by an attribute in the tree"""
        self.commit(".gitattributes", "* filter=evil\n", "attributes")
        self.git("config", "filter.evil.process", str(self.script(self.root / ".git/canary")))
        self.git("hash-object", "--path=x", "--stdin", stdin=b"x", check=False)
        self.assertTrue(self.fires())
        self.push_and_look()

    def test_diff_drivers(self):
        """external diffs and textconv, while the user is shown the diff"""
        program = self.script(self.root / ".git/canary", "cat \"$1\"")
        self.commit(".gitattributes", "* diff=evil\n", "attributes")
        self.git("config", "diff.evil.textconv", str(program))
        self.git("config", "diff.external", str(program))
        self.git("show", "--ext-diff", "HEAD", check=False)
        self.assertTrue(self.fires())
        message = self.shown(self.stage({"a.txt": "two\n"}))
        self.assertIn("-one\n+two\n", message)
        self.assertFalse(self.fires())

    def test_merge_driver(self):
        """merge drivers and aliases"""
        program = self.script(self.root / ".git/canary")
        for name in ("read-tree", "update-index", "update-ref", "unpack-objects", "control"):
            self.git("config", f"alias.{name}", f"!{program}")
        self.git("control")
        self.assertTrue(self.fires())
        self.push_and_look()


class Objects(Hostile):
    """Objects that are not what their ids say."""

    def forge(self, oid, content, where=None, kind=b"blob"):
        """A loose object of this id with other content."""
        path = (where or self.root / ".git") / "objects" / oid[:2] / oid[2:]
        path.parent.mkdir(exist_ok=True)
        if path.exists():
            path.chmod(0o644)
        path.write_bytes(zlib.compress(kind + b" %d\0" % len(content) + content))

    def test_staged_blob(self):
        """an object of the target with the id of a staged file and other content"""
        good, evil = b"good\n", b"evil\n"
        oid = self.out("hash-object", "--stdin", stdin=good).strip()
        self.forge(oid, evil)
        self.write("control.txt", good)  # plain git takes what is there for what it is told
        self.git("add", "control.txt")
        self.git("commit", "-q", "-m", "control")
        self.assertEqual(self.content("control.txt"), evil)
        self.git("reset", "-q", "--hard", "HEAD~")
        head = self.head()
        staged = self.stage({"x.txt": good})
        for approval in "ask", "allow":
            result = self.push(staged, approval=approval)
            self.assertTrue(result.failed, result)
            self.assertNotIn("evil", result.text)
            self.assertEqual(self.head(), head)
        self.assertIn(staged[:8], self.ok("git_status").text)

    def test_staged_blob_in_bare(self):
        """the same in a bare repository"""
        bare = self.make_bare()
        oid = self.out("hash-object", "--stdin", stdin=b"good\n").strip()
        self.forge(oid, b"evil\n", bare)
        self.assertEqual(self.out("cat-file", "-p", oid, cwd=bare), "evil\n")
        result = self.push(self.stage({"x.txt": "good\n"}), self.BARE)
        self.assertTrue(result.failed, result)
        self.assertEqual(self.head("main", bare), self.first)

    def test_among_many(self):
        """the same among so many files that git keeps the pack, also a directory of them"""
        files = {f"many/d{i % 3}/f{i:03}": f"{i}\n" for i in range(120)}
        files[".gitattributes"] = "*.txt text\n"
        files["crlf.txt"] = "line\n"
        other = self.outside / "other"
        self.git("clone", "-q", ".", str(other))
        for name, content in files.items():
            self.write(name, content, other)
        self.git("add", "-A", cwd=other)
        commit = self.out("write-tree", cwd=other).strip()
        blob, line, tree = (self.out("rev-parse", f"{commit}:{name}", cwd=other).strip()
                            for name in ("many/d1/f055", "crlf.txt", "many/d1"))
        evil = self.out("hash-object", "-w", "--stdin", stdin=b"evil\n").strip()
        staged = self.stage({**files, "crlf.txt": b"line\r\n"})
        for oid, content, kind in ((blob, b"evil\n", b"blob"), (line, b"evil\n", b"blob"),
                                   (tree, b"100644 f055\0" + bytes.fromhex(evil), b"tree")):
            self.forge(oid, content, kind=kind)
            self.assertEqual(self.git("cat-file", kind.decode(), oid).stdout, content)
            result = self.push(staged)
            self.assertTrue(result.failed, result)
            self.assertEqual(self.head(), self.first)
            (self.root / ".git/objects" / oid[:2] / oid[2:]).unlink()
        commit, _ = self.pushed(staged)
        for name, content in files.items():
            self.assertEqual(self.content(name, commit), content.encode())
        self.git("fsck", "--strict")

    def test_shown_blob(self):
        """a forged old version of a file is not shown"""
        oid = self.out("rev-parse", "HEAD:a.txt").strip()
        self.forge(oid, b"forged\n")
        self.assertEqual(self.content("a.txt"), b"forged\n")
        result = self.push(self.stage({"a.txt": "two\n"}), approval="ask")
        self.assertTrue(result.failed, result)
        self.assertEqual(result.kind, "ExecutionFailed", result)
        self.assertNotIn("forged", result.text)

    def test_alternates(self):
        """objects that lie outside the roots"""
        self.git("clone", "-q", "--bare", ".", str(self.outside / "other.git"))
        (self.root / ".git/objects/info/alternates").write_text(
            f"{self.outside}/other.git/objects\n", encoding="utf-8")
        self.git("log")
        result = self.push(self.stage({"x.txt": "x\n"}))
        self.assertEqual(result.kind, "SandboxViolation", result)

    def test_replaced(self):
        """a replacement of the branch's commit is neither shown nor built on"""
        self.commit("secret.txt", "two\n", "second")
        self.git("replace", "HEAD", self.first)
        self.assertEqual(self.out("ls-tree", "--name-only", "HEAD"), "a.txt\n")
        commit, _ = self.pushed(self.stage({"x.txt": "x\n"}), self.LOCAL | {"branch": "new"})
        self.assertEqual(self.out("--no-replace-objects", "ls-tree", "--name-only", commit),
                         "a.txt\nsecret.txt\nx.txt\n")


class Places(Hostile):
    """Links in and around the target."""

    def test_git_dir_outside(self):
        """a repository whose parts lie outside the roots"""
        victim = self.outside / "victim"
        first = self.init(victim)
        target = self.root / "target"
        target.mkdir()
        staged = self.stage({"x.txt": "x\n"})
        for make in (lambda: os.symlink(victim / ".git", target / ".git"),
                     lambda: (target / ".git").write_text(f"gitdir: {victim}/.git\n",
                                                          encoding="utf-8")):
            make()
            self.assertEqual(self.head(where=target), first)
            before = snapshot(victim)
            result = self.push(staged, {"type": "local", "path": "target"})
            self.assertEqual(result.kind, "SandboxViolation", result)
            self.assertEqual(snapshot(victim), before)
            (target / ".git").unlink()

    def test_refs_outside(self):
        """references and objects that are links to the outside"""
        for name in "refs", "objects":
            with self.subTest(name):
                bare = self.make_bare(path=f"{name}.git")
                shutil.move(bare / name, self.outside / name)
                os.symlink(self.outside / name, bare / name)
                before = snapshot(self.outside)
                result = self.push(self.stage({f"{name}.txt": "x\n"}),
                                   {"type": "local-bare", "path": f"{name}.git"})
                self.assertTrue(result.failed or "conflict" in result.text, result)
                self.assertEqual(snapshot(self.outside), before)

    def test_branch_outside(self):
        """a branch that is a link to a file outside"""
        victim = self.outside / "victim"
        victim.write_text(self.first + "\n", encoding="utf-8")
        os.symlink(victim, self.root / ".git/refs/heads/evil")
        before = snapshot(self.outside)
        self.push(self.stage({"x.txt": "x\n"}), self.LOCAL | {"branch": "evil"})
        self.assertEqual(snapshot(self.outside), before)

    def test_links_in_the_tree(self):
        """a directory of the target that is a link to the outside is not written through"""
        os.symlink(self.outside, self.root / "d")
        self.git("add", "d")
        self.git("commit", "-q", "-m", "link")
        before = snapshot(self.outside)
        self.pushed(self.stage({"d/x.txt": "x\n"}))
        self.assertEqual(snapshot(self.outside), before)

    def test_bare_in_the_tree(self):
        """nothing is written into a bare repository of the working tree"""
        bare = self.make_bare()
        self.git("config", "core.bare", "true", cwd=bare)
        evil = {"bare.git/config": "[core]\n\tbare = true\n\tfsmonitor = false\n",
                "bare.git/hooks/post-receive": "#!/bin/sh\n", "bare.git/deep/er": "x\n"}
        before = snapshot(bare)
        for name, content in evil.items():
            result = self.push(self.stage({name: content}))
            self.assertEqual((result.kind, result.error["name"]),
                             ("SandboxViolation", "GIT_PROTECTED_PATH"), result)
        self.assertEqual(snapshot(bare), before)
        self.assertEqual(self.head(), self.first)

    def test_new_git_directory(self):
        """no push makes a git directory, at once or in two steps"""
        whole = {"x/HEAD": "ref: refs/heads/main\n", "x/objects/y": "", "x/refs/y": "",
                 "x/config": "[core]\n\tfsmonitor = /bin/false\n"}
        for name, content in whole.items():
            self.write(name, content)
        self.git("status", cwd=self.root / "x", check=False)  # git takes it for a repository
        self.assertEqual(self.git("rev-parse", "--git-dir", cwd=self.root / "x").stdout, b".\n")
        shutil.rmtree(self.root / "x")
        for top in "", "deep/":
            result = self.push(self.stage({top + name: text for name, text in whole.items()}))
            self.assertEqual(result.kind, "SandboxViolation", result)
        self.make_bare()
        result = self.push(self.stage({"y/head": "", "y/Objects/y": "", "y/refs/y": ""}), self.BARE)
        self.assertEqual(result.kind, "SandboxViolation", result)
        parts = dict(whole)
        head = {"z/HEAD": parts.pop("x/HEAD")}
        self.pushed(self.stage({"z" + name[1:]: text for name, text in parts.items()}))
        self.assertEqual(self.push(self.stage(head)).kind, "SandboxViolation")
        self.pushed(self.stage({"w/HEAD": "", "w/refs/x": "", "v/objects/x": "", "HEAD": ""}))

    def test_store(self):
        """the store is no target, and no root holds it"""
        self.stage({"x.txt": "x\n"})
        [store] = (self.home / ".local/state/airlock/staging").iterdir()
        result = self.push("00000000", {"type": "local-bare", "path": str(store / "store.git")})
        self.assertEqual(result.kind, "SandboxViolation", result)


class Meanwhile(Hostile):
    """Changes while the question is open."""

    def open_question(self, files, target=None):
        """A push that waits for its answer."""
        staged = self.stage(files)
        server = pushing.Asked(self)
        number, question = server.question("git_push", {"commitId": staged,
                                                        "target": target or self.LOCAL})
        return server, number, question

    def test_forged(self):
        """an object is forged after it was shown"""
        server, number, question = self.open_question({"x.txt": "good\n"})
        oid = self.out("hash-object", "--stdin", stdin=b"good\n").strip()
        Objects.forge(self, oid, b"evil\n")
        server.reply(question, "once")
        result = server.outcome(number)
        self.assertTrue(result.failed, result)
        self.assertEqual(self.head(), self.first)

    def test_staged_files(self):
        """the sandbox changes; what is pushed is what was staged and shown"""
        server, number, question = self.open_question({"x.txt": "shown\n"})
        self.write("x.txt", "later\n", self.workspace)
        server.reply(question, "once")
        commit = server.outcome(number).value["structuredContent"]["commitSha"]
        self.assertEqual(self.content("x.txt", commit), b"shown\n")

    def test_configuration(self):
        """the target gets a setting that would refuse"""
        server, number, question = self.open_question({"x.txt": "x\n"})
        self.git("config", "receive.hideRefs", "refs/heads")
        server.reply(question, "once")
        answer = server.receive()
        if answer.get("method") == "elicitation/create":
            self.fail("asked again about what is refused")
        self.assertEqual(answer["result"]["structuredContent"]["conflict"]["reason"], "other")
        self.assertEqual(self.head(), self.first)

    def test_swapped(self):
        """the target becomes a link to the outside"""
        victim = self.outside / "victim"
        self.git("clone", "-q", ".", str(victim))
        self.git("clone", "-q", ".", "target")
        before = snapshot(self.outside)
        server, number, question = self.open_question({"x.txt": "x\n"}, {"type": "local",
                                                                         "path": "target"})
        shutil.move(self.root / "target", self.root / "aside")
        os.symlink(victim, self.root / "target")
        server.reply(question, "once")
        answer = server.receive()
        while answer.get("method") == "elicitation/create":
            server.reply(answer, "once")
            answer = server.receive()
        self.assertEqual(answer["id"], number)
        self.assertEqual(snapshot(self.outside), before)


if __name__ == "__main__":
    harness.main()
