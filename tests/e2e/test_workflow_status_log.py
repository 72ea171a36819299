#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow: git_status and git_log."""
import json
import time

import harness
import workflow


class Status(workflow.Case):
    def test_example(self):
        """R4-1 git_status: the example of the requirements, through MCP"""
        self.init()
        self.commit("src/app.ts", "one\n", "app")
        self.write("src/app.ts", "two\n")
        self.assertEqual(workflow.Server(self).gives("git_status"), {
            "branch": "main", "staged": [], "modified": ["src/app.ts"], "untracked": [],
            "clean": False})

    def test_clean(self):
        """git_status: a clean tree says so"""
        self.init()
        self.assertEqual(self.gives("git_status"), {
            "branch": "main", "staged": [], "modified": [], "untracked": [], "clean": True})

    def test_kinds(self):
        """R4-1 git_status: staged, modified and untracked files of every kind"""
        self.init()
        for name in ("gone.txt", "old.txt", "twice.txt"):
            self.commit(name, f"content of {name}\n" * 5, name)
        (self.root / "gone.txt").unlink()
        self.git("mv", "old.txt", "new.txt")
        self.write("twice.txt", "staged\n")
        self.git("add", "twice.txt")
        self.write("twice.txt", "and changed\n")
        self.write("dir/a", "")
        self.write("dir/b", "")
        self.assertEqual(self.gives("git_status"), {
            "branch": "main", "staged": ["new.txt", "twice.txt"],
            "modified": ["gone.txt", "twice.txt"], "untracked": ["dir/a", "dir/b"],
            "clean": False})

    def test_names(self):
        """git_status: names are raw, never quoted"""
        self.init()
        names = ["a b", '"quoted"', "new\nline", "tab\there", "umlaut-\u00e4", "back\\slash",
                 "arrow -> b", " leading", "\u202ebidi", "\x1b[31mred"]
        for name in names:
            self.write(name, "")
        result = self.ok("git_status")
        self.assertEqual(sorted(result.value["structuredContent"]["untracked"]), sorted(names))
        self.assertNotIn("\u202e", result.text)
        self.assertNotIn("\x1b", result.text)

    def test_not_utf8(self):
        """git_status: bytes that are not UTF-8 are shown"""
        self.init()
        with open(bytes(self.root) + b"/caf\xe9.txt", "wb"):
            pass
        self.assertEqual(self.gives("git_status")["untracked"], ["caf<E9>.txt"])

    def test_cwd(self):
        """git_status: from a directory below, names are still those from the top"""
        self.init()
        self.write("dir/new", "")
        self.assertEqual(self.gives("git_status", {"cwd": "dir"})["untracked"], ["dir/new"])
        self.assertEqual(self.gives("git_status", {"cwd": str(self.root / "dir")})["untracked"],
                         ["dir/new"])

    def test_branches(self):
        """git_status: an unborn branch has its name, and no branch is HEAD"""
        self.git("init", "-q")
        self.assertEqual(self.gives("git_status")["branch"], "main")
        self.commit("a.txt", "one\n", "first")
        self.git("checkout", "-q", "-b", "(detached)")
        self.assertEqual(self.gives("git_status")["branch"], "(detached)")
        self.git("checkout", "-q", "--detach")
        self.assertEqual(self.gives("git_status")["branch"], "HEAD")

    def test_conflict(self):
        """git_status: files in conflict are modified"""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "side\n", "side")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "main\n", "main")
        self.git("merge", "side", check=False)
        self.assertEqual(self.gives("git_status"), {
            "branch": "main", "staged": [], "modified": ["a.txt"], "untracked": [],
            "clean": False})

    def test_worktree_and_submodule(self):
        """git_status: a linked worktree, and a submodule with other commits"""
        self.init()
        self.git("worktree", "add", "-q", "-b", "linked", "trees/linked")
        self.write("trees/linked/new", "")
        self.assertEqual(self.gives("git_status", {"cwd": "trees/linked"}), {
            "branch": "linked", "staged": [], "modified": [], "untracked": ["new"],
            "clean": False})
        self.init(self.root / "sub")
        self.git("add", "sub")
        self.git("commit", "-q", "-m", "sub")
        self.commit("b.txt", "b\n", "further", self.root / "sub")
        self.assertEqual(self.gives("git_status")["modified"], ["sub"])

    def test_more_than_fits(self):
        """git_status: what does not fit is left out, and the result says so"""
        self.init()
        for number in range(30):
            self.write(f"file-{number:02}", "")
        config = self.write("config.toml", "[tools.git]\nmax_bytes = 100\n", self.home)
        result = self.ok("git_status", {}, "--config", str(config))
        self.assertEqual(len(result.value["structuredContent"]["untracked"]), 100 // 10)
        self.assertFalse(result.value["structuredContent"]["clean"])
        self.assertTrue(result.meta["truncated"])

    def test_errors(self):
        """R4-7000 git_status: not a repository is 7000, outside the roots is refused"""
        result = self.fails(7000, "git_status")
        self.assertEqual(result.kind, "ExecutionFailed")
        self.assertEqual(len(result.text.splitlines()), 2)
        self.init()
        self.assertEqual(self.fails(None, "git_status", {"cwd": ".."}).kind, "SandboxViolation")
        self.assertEqual(self.fails(None, "git_status", {"cwd": ""}).kind, "BadArgs")
        self.assertEqual(self.fails(None, "git_status", {"directory": "."}).kind, "BadArgs")

    def test_no_approval(self):
        """git_status: nobody is asked"""
        self.init()
        self.assertFalse(self.call("git_status", approval="deny").failed)


class Listing(harness.Case):
    def test_default(self):
        """tools/list: nineteen tools, once each, below 16 KB, those of git first"""
        server = harness.Server(self)
        server.send(id="list", method="tools/list")
        result = server.receive()["result"]
        self.assertEqual([tool["name"] for tool in result["tools"]], (
            "git_status git_diff git_log git_show git_blame git_restore git_add git_commit "
            "git_branch git_checkout git_stash git_merge git_conflict_info git_resolve_conflict "
            "git_fetch git_pull git_push git_remote git_generate_pr").split())
        self.assertLess(len(json.dumps(result, separators=(",", ":"), ensure_ascii=False).encode()),
                        16 * 1024)
        for tool in result["tools"]:
            self.assertEqual("outputSchema" in tool, tool["name"] not in (
                "git_status git_diff git_log git_show git_blame git_restore git_add git_commit "
                "git_branch git_checkout git_stash").split(), tool["name"])

    def test_workflow(self):
        """tools/list: the fifteen tools of the requirements, each with an output schema"""
        server = workflow.Server(self)
        server.send(id="list", method="tools/list")
        tools = server.receive()["result"]["tools"]
        self.assertEqual([tool["name"] for tool in tools], (
            "git_status git_diff git_log git_commit git_branch git_checkout git_merge "
            "git_conflict_info git_resolve_conflict git_stash git_fetch git_pull git_push "
            "git_remote git_generate_pr").split())
        for tool in tools:
            self.assertEqual(tool["outputSchema"]["type"], "object")
            self.assertIn("cwd", tool["inputSchema"]["properties"])


class Log(workflow.Case):
    def history(self, count, where=None):
        """Commits one to `count` of n.txt."""
        self.git("init", "-q", cwd=where)
        for number in range(1, count + 1):
            self.commit("n.txt", f"{number}\n", f"commit {number}", where)

    def subjects(self, arguments=None, **named):
        """The messages of the commits that are listed."""
        value = self.gives("git_log", arguments, **named)
        self.assertEqual(value["count"], len(value["commits"]))
        return [commit["message"] for commit in value["commits"]], value["truncated"]

    def test_examples(self):
        """R4-3 git_log: the examples of the requirements, through MCP"""
        self.history(12)
        now = int(time.time())
        self.write("src/api/handler.ts", "x\n")
        self.git("add", "src")
        self.git("commit", "-q", "-m", "handler", "--author=John Doe <john@example.com>",
                 GIT_COMMITTER_DATE=f"{now} +0000", GIT_AUTHOR_DATE="1700000720 +0100")
        server = workflow.Server(self)
        value = server.gives("git_log")
        self.assertEqual((value["count"], len(value["commits"]), value["truncated"]),
                         (10, 10, True))
        head = self.out("rev-parse", "HEAD").strip()
        handler = {"hash": head, "shortHash": head[:7], "author": "John Doe <john@example.com>",
                   "date": "2023-11-14T23:25:20+01:00", "message": "handler"}
        self.assertEqual(value["commits"][0], handler)
        self.assertEqual(server.gives("git_log", {"author": "john@example.com", "limit": 20}),
                         {"commits": [handler], "count": 1, "truncated": False})
        self.assertEqual(server.gives("git_log", {"path": "src/api/handler.ts"})["commits"],
                         [handler])
        self.assertEqual(server.gives("git_log", {"since": "1.week.ago"})["commits"], [handler])

    def test_limit(self):
        """R4-3 git_log: limit is 1 to 100, and truncated tells that more commits match"""
        self.history(3)
        self.assertEqual(self.subjects({"limit": 2}), (["commit 3", "commit 2"], True))
        self.assertEqual(self.subjects({"limit": 3}),
                         (["commit 3", "commit 2", "commit 1"], False))
        self.assertEqual(len(self.subjects({"limit": 4})[0]), 3)
        self.assertEqual(self.subjects({"limit": 1}), (["commit 3"], True))
        self.assertFalse(self.call("git_log", {"limit": 100}).failed)
        for limit in (0, 101, -1, 1.5, "3"):
            self.assertEqual(self.fails(None, "git_log", {"limit": limit}).kind, "BadArgs")

    def test_hundred(self):
        """git_log: a hundred commits of a hundred and one"""
        self.git("init", "-q")
        commit = ("commit refs/heads/main\ncommitter C <c@x> 17000000{0:02} +0000\n"
                  "data 3\nm{0:02}\n")
        self.git("fast-import", "--quiet", stdin="".join(
            commit.format(number % 100) for number in range(101)).encode())
        self.git("reset", "-q", "--hard")
        subjects, truncated = self.subjects({"limit": 100})
        self.assertEqual((len(subjects), truncated), (100, True))

    def test_dates_and_authors(self):
        """git_log: since, until and author, which is no pattern"""
        self.history(3)
        self.git("commit", "-q", "--allow-empty", "-m", "by a bot",
                 "--author=robot[bot] <1+robot[bot]@example.com>")
        self.assertEqual(self.subjects({"author": "robot[bot]"})[0], ["by a bot"])
        self.assertEqual(self.subjects({"author": "1+robot[bot]@"})[0], ["by a bot"])
        self.assertEqual(self.subjects({"author": "A.U.Thor"})[0], [])
        self.assertEqual(self.subjects({"author": "-x"})[0], [])
        self.assertEqual(self.subjects({"since": "2023-11-14T22:14:20Z", "author": "Thor"})[0],
                         ["commit 3", "commit 2"])
        self.assertEqual(self.subjects({"until": "2023-11-14T22:14:20Z"})[0],
                         ["commit 2", "commit 1"])

    def test_path(self):
        """git_log: paths are from the top, wherever cwd is, and may be gone"""
        self.history(1)
        self.commit("dir/a b", "x\n", "dir")
        self.git("rm", "-q", "dir/a b")
        self.git("commit", "-q", "-m", "gone")
        self.write("dir/other", "")
        for path in ("dir", "dir/a b"):
            self.assertEqual(self.subjects({"path": path, "cwd": "dir"})[0], ["gone", "dir"])
        self.assertEqual(self.subjects({"path": "none"}), ([], False))

    def test_text(self):
        """git_log: subjects and names are data, and the text shows what is in them"""
        self.git("init", "-q")
        self.commit("a", "a", "esc \x1b[31m bidi \u202e umlaut \u00e4 \"quote\" \\ end")
        self.git("commit", "-q", "--allow-empty", "--allow-empty-message", "-m", "")
        self.git("-c", "i18n.commitEncoding=latin1", "commit", "-q", "--allow-empty", "-F", "-",
                 stdin="latin \u00e4".encode("latin-1"))
        result = self.ok("git_log")
        self.assertEqual([commit["message"] for commit in
                          result.value["structuredContent"]["commits"]],
                         ["latin \u00e4", "",
                          "esc \x1b[31m bidi \u202e umlaut \u00e4 \"quote\" \\ end"])
        self.assertNotIn("\u202e", result.text)
        self.assertNotIn("\x1b", result.text)

    def test_empty(self):
        """git_log: a branch without commits has an empty history, detached HEAD has one"""
        self.git("init", "-q")
        self.assertEqual(self.subjects(), ([], False))
        self.commit("a.txt", "one\n", "first")
        self.git("checkout", "-q", "--detach")
        self.assertEqual(self.subjects(), (["first"], False))

    def test_cap(self):
        """git_log: commits that do not fit are left out, whole"""
        self.history(5)
        config = self.write("config.toml", "[tools.git]\nmax_bytes = 500\n", self.home)
        result = self.ok("git_log", {}, "--config", str(config))
        value = result.value["structuredContent"]
        self.assertEqual((value["count"], value["truncated"], result.meta["truncated"]),
                         (2, True, True))

    def test_errors(self):
        """R4-7035 git_log: .git is refused, not a repository is 7000, a git that is slow 7035"""
        self.fails(7000, "git_log")
        self.history(1)
        for path in (".git", ".git/config", "a/.GIT/x"):
            self.assertEqual(self.fails(7002, "git_log", {"path": path}).kind, "SandboxViolation")
        self.assertEqual(self.fails(None, "git_log", {"path": "../x"}).kind, "SandboxViolation")
        config = self.write("config.toml", "[tools.git]\ntimeout_ms = 100\n", self.home)
        self.block_log()
        result = self.fails(7035, "git_log", {}, "--config", str(config))
        self.assertEqual((result.kind, result.error["message"]),
                         ("Timeout", "git command timed out after 100ms"))


if __name__ == "__main__":
    harness.main()
