#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_pull and git_branches of the toolset staging, with a server like GitHub on loopback."""
import os

import github
import harness
import servers
from github import NEEDED, needs_askpass

LFS = ("version https://git-lfs.github.com/spec/v1\n"
       "oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n")


class Pulls(github.Case):
    """Files of a branch on the server."""

    def pull(self, *paths, branch=None, **named):
        """git_pull; gives pulled, conflicts and the notes."""
        source = self.TARGET | ({"branch": branch} if branch else {})
        arguments = {"source": source} | ({"paths": list(paths)} if paths else {})
        result = self.ok("git_pull", arguments, **named)
        value = result.value["structuredContent"]
        return value["pulled"], value["conflicts"], result.notes

    def text(self, name):
        """A file of the workspace."""
        return (self.workspace / name).read_text(encoding="utf-8")

    def test_public(self):
        """what is public is pulled without a token"""
        del self.env["GITHUB_TOKEN"]
        self.elsewhere("docs/a.md", "a\n")
        self.elsewhere("docs/b.md", "b\n")
        self.assertEqual(self.pull("docs/"), (["docs/a.md", "docs/b.md"], [], ""))
        self.assertEqual(self.text("docs/b.md"), "b\n")
        self.assertFalse((self.workspace / "a.txt").exists())
        self.assertEqual(self.hub.tokens(), set())
        self.assert_nothing_left()

    @needs_askpass
    def test_private(self):
        """what is private is pulled with the token, and else not at all"""
        self.hub.is_public = False
        self.assertEqual(self.pull("a.txt")[0], ["a.txt"])
        self.assertEqual(self.hub.tokens(), {self.hub.expected})
        self.assert_no_token()
        self.env["GITHUB_TOKEN"] = ""
        self.env["PATH"] = self.without_gh()
        for tool, name in (("git_pull", "source"), ("git_branches", "target")):
            result = self.call(tool, {name: self.TARGET} | (
                {"paths": ["a.txt"]} if name == "source" else {}))
            self.assertEqual(result.error["message"], NEEDED, result)

    @needs_askpass
    def test_round_trip(self):
        """pull, change, push; a conflict; pull, resolve, push"""
        self.elsewhere("report.md", "one\ntwo\nthree\n")
        self.assertEqual(self.pull("report.md")[:2], (["report.md"], []))
        first = self.stage({"report.md": "one\n2\nthree\n"}, "mine")
        far = self.elsewhere("report.md", "one\nzwei\nthree\n")
        found = self.conflict(first, self.TARGET, approval="ask")
        self.assertEqual((found["reason"], found["targetHead"]), ("non-fast-forward", far))
        self.ok("git_discard", {"commitId": first})
        self.assertEqual(self.pull("report.md")[:2], (["report.md"], ["report.md"]))
        self.assertEqual(self.text("report.md"),
                         "one\n<<<<<<< ours (sandbox)\n2\n=======\nzwei\n"
                         ">>>>>>> theirs (incoming)\nthree\n")
        commit, _ = self.pushed(self.stage({"report.md": "one\n2 zwei\nthree\n"}), self.TARGET)
        self.assertEqual(self.head("main", self.far), commit)
        self.assertEqual(self.head("main~", self.far), far)
        self.assertEqual(self.pull()[:2], ([], []))

    @needs_askpass
    def test_worker(self):
        """a worker's default target, its new branch, and the files it begins with"""
        worker = self.base / "worker.md"
        worker.write_text(
            "---\nname: reporter\ntoolsets:\n  files: {}\n  staging:\n    default_target:\n"
            "      type: github\n      repo: user/proj\n      branch: \"worker-{timestamp}\"\n"
            "    auto_pull:\n      - path: a.txt\n        source:\n          type: github\n"
            "          repo: user/proj\n---\nText\n", encoding="utf-8")
        server = harness.Server(self, "--worker", str(worker))
        self.assertEqual(server.ok("list_files").text.strip(), "/workspace/a.txt")
        server.ok("write_file", {"path": "/workspace/r.md", "content": "x\n"})
        staged = server.ok("git_stage", {"files": ["/workspace/r.md"], "message": "Report"})
        commit = staged.value["structuredContent"]["id"]
        pushed = server.ok("git_push", {"commitId": commit}).value["structuredContent"]
        branch = self.out("for-each-ref", "--format=%(refname:short)", "refs/heads/worker-*",
                          cwd=self.far).strip()
        self.assertRegex(branch, r"^worker-\d{8}_\d{6}$")
        self.assertEqual(self.head(branch, self.far), pushed["commitSha"])
        self.assertEqual(self.head(f"{branch}~", self.far), self.first)
        self.assertEqual(self.out("log", "-1", "--format=%B", branch, cwd=self.far).strip(),
                         "Report\n\nWorker: reporter")

    def test_branch(self):
        """a branch that is named, and one that is not there"""
        self.git("branch", "templates", "main", cwd=self.far)
        self.elsewhere("t.txt", "t\n", "templates")
        self.assertEqual(self.pull("t.txt", branch="templates")[0], ["t.txt"])
        result = self.call("git_pull", {"source": self.TARGET | {"branch": "none"},
                                        "paths": ["a.txt"]})
        self.assertEqual((result.error["code"], result.error["reason"]), (7033, "not_found"))

    def test_empty(self):
        """an empty repository has nothing to pull"""
        self.make("user/empty")
        result = self.call("git_pull", {"source": {"type": "github", "repo": "user/empty"},
                                        "paths": ["a.txt"]})
        self.assertEqual(result.kind, "ExecutionFailed", result)

    def test_cost(self):
        """only the files that are pulled are fetched, in one exchange, and none again"""
        for n in range(8):
            self.elsewhere(f"big/{n}.bin", os.urandom(200_000))
        for n in range(20):
            self.write(f"small/{n}.txt", f"{n}\n", self.base / "clone")
        self.elsewhere("small/x.txt", "x\n")
        self.git("add", "-A", cwd=self.base / "clone")
        self.elsewhere("small/y.txt", "y\n")
        self.hub.sent, self.hub.seen[:] = 0, []
        self.assertEqual(len(self.pull("small/")[0]), 22)
        self.assertLess(self.hub.sent, 20_000)
        self.assertLess(len(self.hub.seen), 8, self.hub.seen)
        whole = len(self.hub.seen)
        self.pull("small/")
        self.assertLess(len(self.hub.seen), 2 * whole, self.hub.seen)  # no second exchange

    def test_progress(self):
        """a client that asks for it sees git's progress"""
        server = harness.Server(self)
        server.send(id=7, method="tools/call", params={
            "name": "git_pull", "arguments": {"source": self.TARGET, "paths": ["a.txt"]},
            "_meta": {"progressToken": "t"}})
        seen = []
        while (message := server.receive()).get("id") != 7:
            seen.append(message)
        self.assertEqual(message["result"]["structuredContent"]["pulled"], ["a.txt"], message)
        self.assertEqual({note["method"] for note in seen}, {"notifications/progress"})
        self.assertTrue(any("objects" in note["params"]["message"] for note in seen), seen)

    def test_slow_network(self):
        """other calls go on while a pull waits for the content of files"""
        posts = []

        def before(handler):
            if handler.command == "POST" and handler.path.endswith("/git-upload-pack"):
                posts.append(handler.path)
                if len(posts) == 3:  # references, the commit, and now the files
                    held.reached.set()
                    held.go.wait(servers.WAIT_SECONDS)
            return False

        held = github.Held(self, self.hub, "nothing")
        self.hub.before = before
        server = harness.Server(self)
        number = server.ask("git_pull", {"source": self.TARGET, "paths": ["a.txt"]})
        held.wait()
        server.ok("git_status")
        server.ok("write_file", {"path": "/workspace/x.txt", "content": "x\n"})
        server.ok("git_stage", {"files": ["/workspace/x.txt"], "message": "x"})
        held.go.set()
        answer = server.receive()
        self.assertEqual(answer["id"], number)
        self.assertEqual(answer["result"]["structuredContent"],
                         {"pulled": ["a.txt"], "conflicts": []})

    def test_lfs(self):
        """a pointer of git-lfs is named as one"""
        self.elsewhere("model.bin", LFS)
        pulled, _, notes = self.pull("model.bin")
        self.assertEqual(pulled, ["model.bin"])
        self.assertIn("model.bin: a pointer of git-lfs", notes)

    def test_large(self):
        """the limit holds where sizes are known only when the content comes"""
        limit = 1 << 20
        self.configure(f'github_base_url = "{self.hub.url}"\nmax_bytes = {limit}')
        self.elsewhere("big", "x" * limit)
        result = self.call("git_pull", {"source": self.TARGET, "paths": ["big", "a.txt"]})
        self.assertEqual(result.kind, "ExecutionFailed", result)
        self.assertIn(f"have more than the {limit} bytes ", result.text)
        self.assertEqual(self.pull("big")[0], ["big"])

    def test_forged(self):
        """a file with other content than its id says does not get into the sandbox"""
        self.elsewhere("b.txt", "good\n")
        blob = self.out("rev-parse", "main:b.txt", cwd=self.far).strip()
        self.git("repack", "-adq", cwd=self.far)
        other = self.git("hash-object", "-w", "--stdin", cwd=self.far, stdin=b"evil\n")
        self.git("replace", blob, other.stdout.decode().strip(), cwd=self.far)
        result = self.call("git_pull", {"source": self.TARGET, "paths": ["b.txt"]})
        if not result.failed:
            self.assertEqual(self.text("b.txt"), "good\n")

    def test_links_and_modules(self):
        """links are not taken, and no name leads out of the sandbox"""
        clone = self.base / "clone"
        self.elsewhere("b.txt", "b\n")
        os.symlink("/etc/passwd", clone / "link")
        self.git("add", "link", cwd=clone)
        self.elsewhere("c.txt", "c\n")
        pulled, _, notes = self.pull(".")
        self.assertEqual(pulled, ["a.txt", "b.txt", "c.txt"])
        self.assertIn("skipped link", notes)

    def test_branches(self):
        """the branches, without a token, and without fetching anything"""
        self.git("branch", "feature/x", "main", cwd=self.far)
        self.git("tag", "v1", "main", cwd=self.far)
        result = self.ok("git_branches", {"target": self.TARGET})
        self.assertEqual(result.value["structuredContent"], {"branches": ["feature/x", "main"]})
        self.assertEqual([path for method, path, _ in self.hub.seen if method == "POST"],
                         ["/user/proj.git/git-upload-pack"])
        self.assertEqual(self.record()["effects"], ["reads", "uses_network"])
        self.assert_nothing_left()

    def test_many_branches(self):
        """more branches than are read: the first ones, and that there are more"""
        oid = self.out("rev-parse", "main", cwd=self.far).strip()
        (self.far / "packed-refs").write_text("# pack-refs with: peeled fully-peeled sorted \n" + "".join(
            f"{oid} refs/heads/b{number:05}{'x' * 240}\n" for number in range(16000)), encoding="ascii")
        result = self.ok("git_branches", {"target": self.TARGET})
        self.assertEqual(result.value["structuredContent"]["branches"][0], "b00000" + "x" * 240)
        self.assertTrue(result.meta["truncated"])

    def test_hostile_branches(self):
        """names that are none are left out"""
        self.git("branch", "a" * 8, "main", cwd=self.far)
        for name in (b"../../xx", b"aaa..aaa", b"aa\033[31m", b"-aaaaaaa", b"aaa.lock"):
            def change(_path, content, name=name):
                return content.replace(b"refs/heads/aaaaaaaa", b"refs/heads/" + name)
            self.hub.change = change
            result = self.call("git_branches", {"target": self.TARGET})
            if not result.failed:
                names = result.value["structuredContent"]["branches"]
                self.assertLessEqual({"main"}, set(names))
                self.assertNotIn(name.decode(), names)
            self.assertNotIn("\033", result.text)

    def test_refused(self):
        """a rule about the network applies, and names are checked"""
        self.configure(f'github_base_url = "{self.hub.url}"',
                       '[[tools.approval.rule]]\neffect = "uses_network"\ndecision = "deny"\n')
        result = self.call("git_pull", {"source": self.TARGET, "paths": ["a.txt"]})
        self.assertEqual(result.kind, "ApprovalDenied", result)
        result = self.call("git_branches", {"target": self.TARGET | {"repo": "../x"}})
        self.assertEqual(result.kind, "BadArgs", result)
        self.assertFalse(self.workspace.exists() and list(self.workspace.iterdir()))


if __name__ == "__main__":
    harness.main()
