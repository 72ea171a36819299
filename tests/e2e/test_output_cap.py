#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A git that writes is never stopped for what it says: whatever the cap, the repository is
afterwards what plain git makes of it."""
import hashlib
import os
import re
import shutil

import harness

# As many files with names as long as this, and what git says of each does not fit into a pipe and
# one read of it: a git that nobody reads any more waits in the middle of its work.
FILES, DIRECTORY, NAME = 110, "/".join("abcde"[i] * 240 for i in range(5)), "n" * 200
# git says so much about them when it merges them, and cannot say less than this cap.
SMALL, BEYOND = 1, 5000

WAITING = ("MERGE_HEAD", "CHERRY_PICK_HEAD", "REVERT_HEAD", "rebase-merge", "rebase-apply",
           "sequencer", "index.lock")


def lines(first="1", last="9", at_start="", at_end=""):
    """The content of a file whose two ends two branches change."""
    return at_start + "\n".join([first, *"2345678", last]) + "\n" + at_end


def paths():
    """The files there are many of."""
    return [f"{DIRECTORY}/{number:03}{NAME}" for number in range(FILES)]


def build(case):
    """Make `repo` with the branches main, clean, hard and keep, and `hub.git` that has them, below
    the root of a case; packed, so that they are quick to copy."""
    repo, hub = case.root / "repo", case.root / "hub.git"

    def record(message, **ends):
        for path in paths():
            case.write(path, lines(**ends), repo)
        case.git("add", "-A", cwd=repo)
        case.git("commit", "-q", "-m", message, cwd=repo)

    case.init(repo)
    record("files")
    for branch in ("keep", "gone"):
        case.git("branch", branch, cwd=repo)
    case.git("checkout", "-q", "-b", "clean", cwd=repo)
    record("their end", last="ninth")
    case.git("checkout", "-q", "-b", "hard", "main", cwd=repo)
    record("their beginning", first="theirs")
    case.git("checkout", "-q", "main", cwd=repo)
    record("our beginning", first="first")
    case.git("gc", "-q", cwd=repo)
    case.git("init", "-q", "--bare", str(hub))
    case.git("remote", "add", "origin", "../hub.git", cwd=repo)
    case.git("push", "-q", "origin", "main", "clean", "hard", cwd=repo)


def digest_of(text):
    """Short enough to be shown when two differ."""
    return f"{len(text.splitlines())} lines, {hashlib.sha256(text.encode()).hexdigest()}"


class Cap(harness.Case):
    """One verb, done by git and by airlock on two copies of one repository."""

    toolset, where = "workflow", "cwd"

    template = None

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.template, ignore_errors=True)

    def setUp(self):
        super().setUp()
        self.plain = self.base / "plain"
        if not type(self).template:
            type(self).template = self.base.with_name(self.base.name + "-template")
            build(self)
            self.root.rename(self.template)
        shutil.rmtree(self.root, ignore_errors=True)
        for top in (self.plain, self.root):
            shutil.copytree(self.template, top, symlinks=True)
            self.git("update-index", "-q", "--refresh", cwd=top / "repo")

    def on_both(self, *words, check=True):
        """What a user did before, in both."""
        for top in (self.plain, self.root):
            self.git(*words, cwd=top / "repo", check=check)

    def in_both(self, change):
        """The same with the files."""
        for top in (self.plain, self.root):
            change(top / "repo")

    def fill_both(self, **ends):
        """All files of both."""
        self.in_both(lambda repo: [(repo / path).write_text(lines(**ends)) for path in paths()])

    def capped(self, tool, arguments, max_bytes):
        """One call of airlock with this cap."""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text(f"[tools.git]\nmax_bytes = {max_bytes}\n", encoding="utf-8")
        return self.call(tool, {self.where: "repo", **arguments}, "--toolset", self.toolset)

    def all_of(self, top):
        """What a repository is, but for the times of its commits."""
        repo = top / "repo"

        def out(*words):
            text = self.git(*words, cwd=repo, check=False).stdout.decode()
            # git leaves the end of an address off where it names a pull's merge; and an entry of
            # the stash names the commit by its id
            return re.sub("( on [a-z]+: )[0-9a-f]+", r"\1", text).replace("hub.git", "hub")

        history = [(line.split("\t")[:2], len(line.split("\t")[2].split()))
                   for line in out("log", "--all", "--topo-order", "--reverse",
                                   "--format=%T%x09%s%x09%P").splitlines()]
        files = hashlib.sha256()
        for path in sorted(repo.rglob("*")):
            if ".git" not in path.relative_to(repo).parts and path.is_file():
                files.update(os.fsencode(path.relative_to(repo)) + b"\0" + path.read_bytes())
        return {
            "head": out("symbolic-ref", "-q", "HEAD"), "commit": out("log", "-1", "--format=%T %s"),
            "refs": sorted(out("for-each-ref", "--format=%(refname) %(tree)").splitlines()),
            "history": sorted(map(repr, history)), "index": digest_of(out("ls-files", "-s")),
            "status": digest_of(out("status", "--porcelain=v1")), "files": files.hexdigest(),
            "config": sorted(out("config", "--local", "--list").splitlines()),
            "waits": [name for name in WAITING if (repo / ".git" / name).exists()],
            "hub": sorted(out("-C", str(top / "hub.git"), "for-each-ref",
                              "--format=%(refname) %(tree)").splitlines()),
        }

    def check(self, words, tool, arguments, max_bytes=BEYOND, fails=False, succeeds=None):
        """Both give one repository; gives airlock's result."""
        self.git(*words, cwd=self.plain / "repo", check=False)
        result = self.capped(tool, arguments, max_bytes)
        said = f"{words[:3]}: {repr(result)[-2000:]}"
        self.assertEqual(self.all_of(self.root), self.all_of(self.plain), said)
        self.assertEqual(result.failed, fails, said)
        if succeeds is not None:
            self.assertEqual(result.value["structuredContent"]["success"], succeeds)
        return result


class Workflow(Cap):
    def test_merge_with_conflicts(self):
        """a merge that says more than the cap ends in its conflicts, and waits for them"""
        result = self.check(("merge", "-q", "hard"), "git_merge", {"branch": "hard"},
                            succeeds=False)
        self.assertEqual(len(result.value["structuredContent"]["conflicts"]), FILES)
        self.assertTrue(result.meta["truncated"])
        self.assertEqual(self.all_of(self.root)["waits"], ["MERGE_HEAD"])

    def test_clean_merge(self):
        """a clean merge that says more than the cap is committed"""
        result = self.check(("merge", "-q", "--no-edit", "clean"), "git_merge",
                            {"branch": "clean"}, succeeds=True)
        self.assertTrue(result.meta["truncated"])

    def test_merge_abort(self):
        """so is giving it up"""
        self.on_both("merge", "-q", "hard", check=False)
        self.check(("merge", "--abort"), "git_merge", {"branch": "", "abort": True}, SMALL)

    def test_pull(self):
        """so is a pull that merges"""
        self.check(("pull", "-q", "--no-rebase", "--no-edit", "origin", "clean"), "git_pull",
                   {"branch": "clean"}, succeeds=True)

    def test_pull_with_conflicts(self):
        """a pull that ends in conflicts says so"""
        self.check(("merge", "-q", "refs/remotes/origin/hard"), "git_pull", {"branch": "hard"},
                   succeeds=False)

    def test_pull_rebase(self):
        """a pull that rebases goes to its end"""
        self.check(("pull", "-q", "--rebase", "origin", "clean"), "git_pull",
                   {"branch": "clean", "rebase": True}, succeeds=True)

    def test_pull_rebase_with_conflicts(self):
        """or waits, and says so"""
        self.check(("pull", "-q", "--rebase", "origin", "hard"), "git_pull",
                   {"branch": "hard", "rebase": True}, succeeds=False)

    def test_rebase_continue(self):
        """a rebase that goes on does so to its end"""
        self.on_both("rebase", "-q", "hard", check=False)
        self.fill_both(first="both")
        self.on_both("add", "-A")
        self.check(("-c", "core.editor=true", "rebase", "--continue"), "git_commit", {}, SMALL)

    def test_stash_pop(self):
        """stash pop: clean, and in conflict"""
        self.fill_both(first="first", at_end="more\n")
        self.on_both("stash", "-q")
        self.check(("stash", "pop", "-q"), "git_stash", {"action": "pop"})

    def test_stash_pop_conflict(self):
        """a pop that conflicts is an error, and the entry stays"""
        self.fill_both(first="stashed")
        self.on_both("stash", "-q")
        self.on_both("checkout", "-q", "hard")
        result = self.check(("stash", "pop"), "git_stash", {"action": "pop"}, fails=True)
        self.assertEqual(result.error["code"], 7030, result)
        self.assertIn("refs/stash", self.out("for-each-ref", cwd=self.root / "repo"))

    def test_checkout_keeps_changes(self):
        """a checkout that names every change it keeps gets to the other branch"""
        self.fill_both(first="first", at_end="kept\n")
        self.on_both("branch", "same")
        self.check(("checkout", "-q", "same"), "git_checkout", {"target": "same"})
        self.assertEqual(self.all_of(self.root)["head"], "refs/heads/same\n")

    def test_checkout_create(self):
        """so does one that makes the branch"""
        self.fill_both(first="first", at_end="kept\n")
        self.check(("checkout", "-q", "-b", "fresh"), "git_checkout",
                   {"target": "fresh", "create": True}, SMALL)

    def test_small(self):
        """every other verb of `workflow`, under the smallest cap"""
        self.in_both(lambda repo: (repo / "new.txt").write_text("new\n"))
        self.fill_both(first="first", at_end="changed\n")
        rows = [
            (("add", "-A"), None, None),
            (("commit", "-q", "-m", "all"), "git_commit", {"message": "all", "all": True}),
            (("branch", "made"), "git_branch", {"action": "create", "name": "made"}),
            (("branch", "-m", "made", "named"), "git_branch",
             {"action": "rename", "name": "made", "newName": "named"}),
            (("branch", "-D", "gone"), "git_branch",
             {"action": "delete", "name": "gone", "force": True}),
            (("fetch", "-q", "origin"), "git_fetch", {}),
            (("push", "-q", "origin", "main"), "git_push", {}),
            (("push", "-q", "origin", "keep"), "git_push", {"branch": "keep"}),
            (("checkout", "-q", "clean", "--", DIRECTORY), "git_checkout",
             {"target": "clean", "paths": [DIRECTORY]}),
            (("stash", "-q"), "git_stash", {"action": "push"}),
            (("stash", "apply", "-q"), "git_stash", {"action": "apply"}),
            (("stash", "drop", "-q"), "git_stash", {"action": "drop"}),
            (("checkout", "-q", "-f", "keep"), "git_checkout", {"target": "keep", "force": True}),
            (("merge", "-q", "clean"), "git_merge", {"branch": "clean"}),
            (("remote", "add", "two", "../hub.git"), "git_remote",
             {"action": "add", "name": "two", "url": "../hub.git"}),
            (("remote", "remove", "two"), "git_remote", {"action": "remove", "name": "two"}),
        ]
        self.follow(rows)

    def follow(self, rows):
        """One verb after the other; without a tool git alone does it."""
        for words, tool, arguments in rows:
            if tool:
                self.check(words, tool, arguments, SMALL)
            else:
                self.git(*words, cwd=self.plain / "repo")

    def test_resolve(self):
        """conflicts resolved and the merge concluded, under the smallest cap"""
        self.on_both("merge", "-q", "hard", check=False)
        for path in paths()[2:]:
            self.in_both(lambda repo, path=path: (repo / path).write_text("mine\n"))
        self.on_both("add", "--", *paths()[2:])
        self.follow([
            (("checkout", "-q", "--ours", "--", paths()[0]), None, None),
            (("add", "--", paths()[0]), "git_resolve_conflict",
             {"path": paths()[0], "strategy": "ours"}),
            (("checkout", "-q", "--theirs", "--", paths()[1]), None, None),
            (("add", "--", paths()[1]), "git_resolve_conflict",
             {"path": paths()[1], "strategy": "theirs"}),
            (("commit", "-q", "-m", "concluded"), "git_commit", {"message": "concluded"}),
        ])


class Git(Cap):
    toolset, where = "git", "working_dir"

    def test_checkout_keeps_changes(self):
        """toolset git: a checkout that names every change it keeps gets to the other branch"""
        self.fill_both(first="first", at_end="kept\n")
        self.on_both("branch", "same")
        result = self.check(("checkout", "-q", "same"), "git_checkout", {"branch": "same"})
        self.assertTrue(result.meta["truncated"])
        self.assertEqual(result.meta["exit_code"], 0)

    def test_stash_pop(self):
        """toolset git: a pop that names all its files drops the entry"""
        self.fill_both(first="first", at_end="more\n")
        self.on_both("stash", "-q")
        result = self.check(("stash", "pop", "-q"), "git_stash", {"action": "pop"})
        self.assertTrue(result.text.endswith(harness.MARKER), result.text[-100:])

    def test_stash_pop_conflict(self):
        """toolset git: a pop that conflicts is an error"""
        self.fill_both(first="stashed")
        self.on_both("stash", "-q")
        self.on_both("checkout", "-q", "hard")
        self.check(("stash", "pop"), "git_stash", {"action": "pop"}, fails=True)

    def test_commit(self):
        """toolset git: a commit that names all new files is made"""
        self.in_both(lambda repo: [(repo / (path + "x")).write_text("new\n") for path in paths()])
        self.on_both("add", "-A")
        self.check(("commit", "-q", "-m", "feat: more"), "git_commit",
                   {"type": "feat", "message": "more"})

    def test_small(self):
        """toolset git: every verb, under the smallest cap"""
        self.in_both(lambda repo: (repo / "new.txt").write_text("new\n"))
        self.fill_both(first="first", at_end="changed\n")
        rows = [
            (("add", "-A"), "git_add", {"all": True}),
            (("restore", "--staged", "new.txt"), "git_restore",
             {"paths": ["new.txt"], "staged": True, "worktree": False}),
            (("commit", "-q", "-m", "feat: more"), "git_commit",
             {"type": "feat", "message": "more"}),
            (("rm", "-q", "--cached", "a.txt"), None, None),
            (("add", "a.txt", "new.txt"), "git_add", {"paths": ["a.txt", "new.txt"]}),
            (("branch", "made"), "git_branch", {"create": "made"}),
            (("branch", "-m", "made", "named"), "git_branch",
             {"rename": "made", "new_name": "named"}),
            (("branch", "-D", "gone"), "git_branch",
             {"force_delete": "gone"}),
            (("stash", "-q"), "git_stash", {"action": "push"}),
            (("stash", "apply", "-q"), "git_stash", {"action": "apply"}),
            (("restore", "--staged", "--worktree", "."), "git_restore",
             {"paths": ["."], "staged": True}),
            (("stash", "drop", "-q"), "git_stash", {"action": "drop"}),
            (("checkout", "-q", "keep"), "git_checkout", {"branch": "keep"}),
            (("checkout", "-q", "main~1"), "git_checkout", {"commit": "main~1"}),
            (("checkout", "-q", "-b", "fresh"), "git_checkout", {"create_branch": "fresh"}),
            (("stash", "clear"), "git_stash", {"action": "clear"}),
        ]
        Workflow.follow(self, rows)


if __name__ == "__main__":
    harness.main()
