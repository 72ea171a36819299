#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_pull, git_push, git_fetch and git_remote."""
import re

import everyday
import harness
from everyday import LINES, text_with


class Case(everyday.Case):
    """`repo` with one commit and the bare `hub.git` beside it, both inside the root."""

    def setUp(self):
        super().setUp()
        self.top, self.root = self.root, self.root / "repo"
        self.root.mkdir()
        self.init()
        self.hub = self.top / "hub.git"
        self.git("init", "-q", "--bare", str(self.hub))
        self.git("remote", "add", "origin", str(self.hub))
        self.commit("f.txt", "".join(LINES), "base")
        self.git("push", "-q", "-u", "origin", "main")

    def call(self, tool, arguments=None, *options, **named):
        arguments = {"working_dir": str(self.root), **(arguments or {})}
        return super().call(tool, arguments, *options, root=self.top, **named)

    def elsewhere(self, name="b.txt", content="b\n", force=False):
        """Another user commits to main of the hub; gives the commit."""
        other = self.base / "other"
        if not other.exists():
            self.git("clone", "-q", str(self.hub), str(other), cwd=self.base)
        self.git("fetch", "-q", cwd=other)
        self.git("checkout", "-q", "-B", "main", "origin/main", cwd=other)
        if force:
            self.git("reset", "-q", "--hard", "HEAD~1", cwd=other)
        commit = self.commit(name, content, "elsewhere", other)
        self.git("push", "-q", "-f", "origin", "main", cwd=other)
        return commit

    def start(self):
        """A session whose user can be asked."""
        return everyday.AskingServer(self)

    def launch(self, argv):
        """A server has the root above the repository."""
        return [str(self.top) if word == str(self.root) and "serve" in argv else word
                for word in argv]

    def at_hub(self, ref="refs/heads/main"):
        """What a reference of the hub is; "" for none."""
        return self.out("rev-parse", "-q", "--verify", ref, cwd=self.hub, check=False).strip()

    def here(self, name="HEAD"):
        """What a revision is here."""
        return self.out("rev-parse", "--verify", name).strip()


class Pull(Case):
    def test_forward(self):
        """git_pull: on to what is there; then nothing to do"""
        there = self.elsewhere()
        text = self.says("git_pull")
        self.assertRegex(text, r"^Moved on to origin/main: [0-9a-f]{8} elsewhere\n1 file changed")
        self.assertEqual(self.here(), there)
        self.assertIn("the branch has origin/main already.", self.says("git_pull"))
        self.assertIn("the branch has origin/main already.", self.says("git_pull", {"rebase": True}))

    def test_merge(self):
        """git_pull: a merge"""
        self.elsewhere()
        self.commit("own.txt", "own\n", "own")
        self.assertIn("Merged origin/main: ", self.says("git_pull"))
        self.assertEqual(len(self.out("log", "-1", "--format=%P").split()), 2)

    def test_rebase(self):
        """git_pull rebase: own commits on top, with their authors and messages"""
        there = self.elsewhere()
        self.commit("own.txt", "own\n", "own\n\nbody", GIT_AUTHOR_NAME="Somebody")
        text = self.says("git_pull", {"rebase": True})
        self.assertIn("Rebased onto origin/main, 1 commit replayed.", text)
        self.assertEqual(self.out("log", "-1", "--format=%an %s %P"), f"Somebody own {there}\n")
        self.assertIn("main 1 ahead of origin/main", text)

    def test_rebase_conflict(self):
        """git_pull rebase: into a conflict, hunk by hunk out of it, and on"""
        self.elsewhere("f.txt", text_with(at5="there", at20="there"))
        self.commit("f.txt", text_with(at5="here", at20="here"), "here")
        before = self.here()
        text = self.says("git_pull", {"rebase": True})
        self.assertIn("Fetched; the rebase onto origin/main stopped at a conflict.\n", text)
        self.assertIn("f.txt: 2 hunks\n", text)
        first, second = re.findall(r"^hunk (\S+),", text, re.M)
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "hunks": [
            {"id": first, "take": "theirs"}, {"id": second, "content": "both\n"}]})
        self.assertIn("The rebase is done", self.says("git_conflicts", {"action": "continue"}))
        self.assertEqual((self.root / "f.txt").read_text(), text_with(at5="here", at20="both"))
        self.assertNotEqual(self.here(), before)
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/main\n")

    def test_refused(self):
        """git_pull: local changes in the way, what is not there, an operation in progress"""
        self.elsewhere("f.txt", "there\n")
        self.fails("ExecutionFailed", "nowhere", "git_pull", {"branch": "nowhere"})
        self.fails("ExecutionFailed", "nobody", "git_pull", {"remote": "nobody"})
        self.fails("BadArgs", "remote", "git_pull", {"remote": "--upload-pack=x"})
        self.write("f.txt", "mine\n")
        self.says("git_fetch")
        for rebase in (False, True):
            self.fails("ExecutionFailed", "no file was changed: 'f.txt'", "git_pull",
                       {"rebase": rebase})

    def test_published(self):
        """git_pull rebase: what another remote-tracking branch has is rewritten only when asked"""
        self.elsewhere()
        commit = self.commit("own.txt", "own\n", "own")
        self.git("update-ref", "refs/remotes/origin/other", commit)
        result = self.call("git_pull", {"rebase": True}, approval="ask")
        self.assertEqual(result.kind, "ApprovalRequired", result)
        self.assertEqual(self.here(), commit)

    def test_published_elsewhere(self):
        """git_pull rebase: a question about something else is none about what only the fetch shows"""
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text('[[tools.approval.rule]]\ntool = "git_pull"\ndecision = "ask"\n')
        self.elsewhere()
        commit = self.commit("own.txt", "own\n", "own")
        self.git("push", "-q", "origin", "main:other")
        self.git("remote", "add", "more", str(self.hub))
        server = self.start()
        self.addCleanup(server.close)
        call = {"rebase": True, "remote": "more", "branch": "main", "working_dir": str(self.root)}
        for decision in ("once", "always"):
            shown, result = server.decided(decision, "git_pull", call)
            self.assertNotIn("rewrites", shown)
            self.assertIn("the rebase would rewrite commits that a remote-tracking branch has",
                          result.text)
            self.assertEqual(self.here(), commit)
            self.git("update-ref", "-d", "refs/remotes/more/main")
        self.git("fetch", "-q", "more", "main")
        shown, result = server.decided("reject", "git_pull", call)
        self.assertIn("It rewrites commits that a remote-tracking branch has.", shown)
        self.assertEqual(self.here(), commit)
        shown, result = server.decided("once", "git_pull", call)
        self.assertFalse(result.failed, result)
        self.assertNotEqual(self.here(), commit)


class Push(Case):
    def test_push(self):
        """git_push: the branch; then there is nothing to push"""
        head = self.commit("c.txt", "c\n", "c")
        text = self.says("git_push")
        self.assertRegex(text, r"^Pushed origin/main: [0-9a-f]+\.\.[0-9a-f]+\n")
        self.assertEqual(self.at_hub(), head)
        self.assertIn("origin/main was up to date already", self.says("git_push"))

    def test_in_progress(self):
        """git_push goes on beside a stopped cherry-pick, as git's own; in a rebase HEAD is on no
        branch, so the branch has to be named"""
        self.git("checkout", "-q", "-b", "side")
        self.commit("c.txt", "side\n", "side")
        self.git("checkout", "-q", "main")
        head = self.commit("c.txt", "main\n", "main")
        self.git("cherry-pick", "side", check=False)
        self.assertIn("Pushed origin/main: ", self.says("git_push"))
        self.assertEqual(self.at_hub(), head)
        self.git("cherry-pick", "--abort")
        self.git("rebase", "side", check=False)
        self.fails("ExecutionFailed", "A rebase is in progress", "git_push")
        self.assertIn("Pushed the new branch", self.says("git_push", {"branch": "side"}))

    def test_new(self):
        """git_push set_upstream: a new branch, and the local one follows it"""
        self.git("checkout", "-q", "-b", "topic")
        text = self.says("git_push", {"set_upstream": True})
        self.assertIn("Pushed the new branch origin/topic; the branch follows it\n", text)
        self.assertEqual(self.out("rev-parse", "--abbrev-ref", "@{u}"), "origin/topic\n")

    def test_follows(self):
        """git_push of a branch that follows none: it follows what it is pushed to, unless that is a
        remote that it is not pulled from"""
        self.git("init", "-q", "--bare", str(self.top / "fork"))
        self.git("remote", "add", "fork", str(self.top / "fork"))
        self.git("checkout", "-q", "-b", "topic")
        text = self.says("git_push", {"remote": "fork"})
        self.assertIn("Pushed the new branch fork/topic\n", text)
        self.assertIn("Pushed the new branch origin/topic; the branch follows it\n",
                      self.says("git_push"))
        self.assertEqual(self.out("rev-parse", "--abbrev-ref", "@{u}"), "origin/topic\n")
        self.assertNotIn("follows", self.says("git_push"))

    def test_pushed_elsewhere(self):
        """git_status: a branch that follows none is compared with what it was pushed to"""
        self.git("checkout", "-q", "-b", "topic")
        self.git("push", "-q", "origin", "topic")
        self.commit("c.txt", "c\n", "c")
        self.assertTrue(self.says("git_status").startswith("topic 1 ahead of origin/topic"))
        self.git("reset", "-q", "--hard", "HEAD~")
        self.assertTrue(self.says("git_status").startswith("topic even with origin/topic"))

    def test_rewritten(self):
        """git_push after a rebase or an amend: force, and no git_pull, which brings all of it twice"""
        self.commit("c.txt", "c\n", "c")
        self.says("git_push")
        self.git("commit", "-q", "--amend", "-m", "again")
        text = self.fails("ExecutionFailed", "force: true", "git_push").text
        self.assertNotIn("git_pull", text)
        self.elsewhere(force=True)
        self.git("fetch", "-q")
        self.assertIn("git_pull", self.fails("ExecutionFailed", "force", "git_push").text)

    def test_moved_back(self):
        """git_push after a pull was undone: force would remove another user's commit, and it says so"""
        self.elsewhere()
        server = self.start()
        for name in ("git_pull", "git_undo"):
            server.call(name, {"working_dir": str(self.root)})
        self.commit("c.txt", "c\n", "c")
        self.assertIn("others' work", self.fails("ExecutionFailed", "force", "git_push").text)

    def test_default(self):
        """git_push without a remote: where the configuration says, not where the branch pulls"""
        for name in ("fork", "mine"):
            self.git("init", "-q", "--bare", str(self.top / name))
            self.git("remote", "add", name, str(self.top / name))
        self.git("config", "remote.pushDefault", "fork")
        self.commit("c.txt", "c\n", "c")
        hub = self.at_hub()
        self.assertIn("fork/main", self.says("git_push"))
        self.git("config", "branch.main.pushRemote", "mine")
        self.assertIn("mine/main", self.says("git_push"))
        self.assertEqual(self.at_hub(), hub)
        self.assertIn("origin/main", self.says("git_push", {"remote": "origin"}))
        self.assertEqual(self.at_hub(), self.here())
        self.git("config", "branch.main.pushRemote", "gone")
        self.fails("ExecutionFailed", "gone", "git_push")

    def test_tags(self):
        """git_push tags: every tag too; one that is there is not moved"""
        self.git("tag", "v1")
        self.git("tag", "-a", "-m", "two", "v2")
        self.commit("c.txt", "c\n", "c")
        self.assertIn(", and 2 new tags", self.says("git_push", {"tags": True}))
        self.assertEqual(self.at_hub("refs/tags/v1"), self.here("v1"))
        was = self.at_hub("refs/tags/v1")
        self.git("tag", "-f", "v1", "HEAD")
        self.fails("ExecutionFailed", "The remote has another 'refs/tags/v1'", "git_push",
                   {"tags": True})
        self.assertEqual(self.at_hub("refs/tags/v1"), was)
        self.git("tag", "-f", "v1", was)
        self.git("reset", "-q", "--hard", "HEAD~1")
        self.commit("d.txt", "d\n", "secret")
        self.git("tag", "v3")
        failed = self.fails("ExecutionFailed", "The remote's branch", "git_push", {"tags": True})
        self.assertIn("These were pushed: refs/tags/v3", failed.text)
        self.assertEqual(self.at_hub("refs/tags/v3"), self.here("v3"))
        for count in (19, 20, 21):
            for i in range(count):
                self.git("tag", f"t{count}-{i:02}")
            failed = self.fails("ExecutionFailed", "The remote's branch", "git_push", {"tags": True})
            self.assertEqual(failed.text.count(f"refs/tags/t{count}-"), min(count, 20))
            self.assertEqual(f"t{count}-19..." in failed.text, count > 20, failed.text)

    def test_tag(self):
        """git_push tag: that tag alone; one that is there is not moved"""
        self.git("tag", "v1")
        self.git("tag", "-a", "-m", "two", "v2")
        self.git("branch", "v3")
        self.commit("c.txt", "c\n", "c")
        was = self.at_hub()
        self.assertIn("Pushed the new tag v2 at origin\n", self.says("git_push", {"tag": "v2"}))
        self.assertEqual((self.at_hub("refs/tags/v2"), self.at_hub("refs/tags/v1"), self.at_hub()),
                         (self.here("v2"), "", was))
        self.assertIn("tag v2 at origin was up to date already",
                      self.says("git_push", {"tag": "v2", "remote": "origin"}))
        there = self.at_hub("refs/tags/v2")
        self.git("tag", "-f", "v2", "HEAD")
        failed = self.fails("ExecutionFailed", "The remote has another tag 'v2'", "git_push",
                            {"tag": "v2"})
        self.assertIn("git_tag", failed.text)
        self.assertEqual(self.at_hub("refs/tags/v2"), there)
        self.fails("ExecutionFailed", "There is no tag 'v3'", "git_push", {"tag": "v3"})
        self.fails("ExecutionFailed", "'v1' is a tag", "git_push", {"branch": "v1"})
        for more in ({"branch": "main"}, {"tags": True}, {"delete": True}, {"set_upstream": True},
                     {"force": True}):
            self.fails("BadArgs", "", "git_push", {"tag": "v1"} | more)
        for name in ("", "-f", "../heads/v3", "v1:refs/heads/main", "a b"):
            self.fails("BadArgs", "tag must not", "git_push", {"tag": name})
        self.assertEqual(self.at_hub("refs/tags/v1"), "")

    def test_force(self):
        """git_push force: a lease on what was last seen there"""
        self.commit("c.txt", "c\n", "c")
        self.says("git_push")
        self.git("commit", "-q", "--amend", "-m", "again")
        self.fails("ExecutionFailed", "has commits that this branch does not have", "git_push")
        self.assertIn("Force pushed origin/main: ", self.says("git_push", {"force": True}))
        self.assertEqual(self.at_hub(), self.here())
        self.elsewhere("d.txt", "d\n")
        there = self.at_hub()
        self.git("commit", "-q", "--amend", "-m", "once more")
        self.fails("ExecutionFailed", "is not what was seen there last", "git_push",
                   {"force": True})
        self.assertEqual(self.at_hub(), there)

    def test_delete(self):
        """git_push delete: a branch there, if it is what was last seen"""
        self.git("push", "-q", "origin", "main:topic", "main:moved")
        self.git("fetch", "-q")
        self.assertIn("Deleted origin/topic\n",
                      self.says("git_push", {"branch": "topic", "delete": True}))
        self.assertEqual(self.at_hub("refs/heads/topic"), "")
        self.git("update-ref", "refs/heads/moved", self.here("HEAD~1"), cwd=self.hub)
        self.fails("ExecutionFailed", "is not what was seen there last", "git_push",
                   {"branch": "moved", "delete": True})
        for gone in ("nowhere", "topic"):
            self.fails("ExecutionFailed", f"There is no 'origin/{gone}' as last seen, so it is not "
                       "deleted\ngit_fetch ", "git_push", {"branch": gone, "delete": True})
        for more in ({}, {"branch": "main", "force": True}, {"branch": "main", "tags": True},
                     {"branch": "main", "set_upstream": True}):
            self.fails("BadArgs", "delete", "git_push", {"delete": True} | more)

    def test_address(self):
        """git_pull, git_push, git_fetch, git_remote: an address is not the name of a remote"""
        for address in (str(self.hub), "https://example.org/x.git", "git@example.org:x.git",
                        "../hub.git"):
            for tool in ("git_pull", "git_push", "git_fetch"):
                self.fails("BadArgs", "remote: the name of a remote is meant, not an address\n"
                           "git_remote lists the names; action add gives an address one.",
                           tool, {"remote": address})

    def test_gone(self):
        """git_pull: of a branch that is gone there, the same name is not what was meant"""
        self.git("push", "-q", "origin", "main:gone")
        self.git("checkout", "-q", "--track", "origin/gone")
        self.git("update-ref", "-d", "refs/heads/gone", cwd=self.hub)
        self.assertIn("The remote has no branch 'gone'\n",
                      self.fails("ExecutionFailed", "", "git_pull").text)

    def test_hooks(self):
        """git_push: pre-push does not run, and the result names it; what the remote says is shown"""
        hook = self.root / ".git/hooks/pre-push"
        hook.write_text(f"#!/bin/sh\ntouch {self.base}/canary\n", encoding="utf-8")
        hook.chmod(0o755)
        there = self.hub / "hooks/post-receive"
        there.write_text("#!/bin/sh\necho thanks\n", encoding="utf-8")
        there.chmod(0o755)
        self.commit("c.txt", "c\n", "c")
        self.git("push", "-q", "--dry-run", "origin", "main")
        self.assertTrue((self.base / "canary").exists())
        (self.base / "canary").unlink()
        text = self.says("git_push")
        self.assertIn("pre-push", text)
        self.assertFalse((self.base / "canary").exists())


class Fetch(Case):
    def test_moved(self):
        """git_fetch: what moved, a line a reference; then nothing new"""
        self.git("push", "-q", "origin", "main:topic")
        self.git("update-ref", "-d", "refs/remotes/origin/topic")
        there = self.elsewhere()
        text = self.says("git_fetch")
        self.assertRegex(text, r"^Fetched from origin:\n[0-9a-f]+\.\.[0-9a-f]+ main -> ")
        self.assertIn("* [new branch] topic -> ", text)
        self.assertEqual(self.here("origin/main"), there)
        self.assertIn("main 1 behind origin/main", text)
        self.assertIn("Fetched from origin: nothing new.", self.says("git_fetch"))

    def test_clash(self):
        """git_fetch: a branch in whose place a directory of branches came needs prune, and says so"""
        self.git("push", "-q", "origin", "main:topic")
        self.git("fetch", "-q")
        self.git("update-ref", "-d", "refs/heads/topic", cwd=self.hub)
        self.git("update-ref", "refs/heads/topic/sub", "main", cwd=self.hub)
        for tool, arguments in (("git_fetch", {}), ("git_pull", {"branch": "topic/sub"})):
            result = self.call(tool, arguments)
            self.assertEqual(result.kind, "ExecutionFailed", result)
            self.assertIn("'origin/topic/sub' and 'origin/topic' cannot both exist", result.text)
            self.assertIn("git_fetch with prune", result.text.splitlines()[-1])
            self.assertNotRegex(result.text, "airlock-[0-9a-f]")
        self.assertIn("topic/sub", self.says("git_fetch", {"prune": True}))

    def test_prune_and_tags(self):
        """git_fetch: prune forgets what is gone, tags brings all of them"""
        self.git("push", "-q", "origin", "main:topic")
        self.git("fetch", "-q")
        self.git("update-ref", "-d", "refs/heads/topic", cwd=self.hub)
        self.git("tag", "loose", self.elsewhere(), cwd=self.base / "other")
        self.git("push", "-q", "origin", "loose", cwd=self.base / "other")
        self.git("update-ref", "refs/heads/main", self.here("origin/main"), cwd=self.hub)
        self.assertIn("[deleted]", self.says("git_fetch", {"prune": True}))
        self.assertEqual(self.out("tag"), "")
        self.assertIn("[new tag]", self.says("git_fetch", {"tags": True}))
        self.assertEqual(self.out("tag"), "loose\n")

    def test_refused(self):
        """git_fetch: what is not there, and arguments that cannot both hold"""
        self.fails("ExecutionFailed", "nobody", "git_fetch", {"remote": "nobody"})
        self.fails("ExecutionFailed", "nowhere", "git_fetch", {"branch": "nowhere"})
        self.fails("BadArgs", "branch and prune cannot both hold", "git_fetch",
                   {"branch": "main", "prune": True})
        self.fails("BadArgs", "branch", "git_fetch", {"branch": "+main:main"})

    def test_new_address(self):
        """git_fetch: an address that the agent added is asked about if it is not on this machine"""
        server = self.start()
        where = {"working_dir": str(self.root)}
        server.ok("git_remote", where | {"action": "add", "name": "far",
                                         "url": "https://127.0.0.1:1/x.git"})
        shown, result = server.decided("reject", "git_fetch", where | {"remote": "far"})
        self.assertIn("This address was added or changed in this session.", shown)
        self.assertTrue(result.failed, result)


class Remote(Case):
    def test_life(self):
        """git_remote: add, list, rename, remove"""
        self.assertEqual(self.says("git_remote"), f"origin {self.hub}")
        text = self.says("git_remote", {"action": "add", "name": "far",
                                        "url": "https://user:secret@example.invalid/x.git"})
        self.assertIn("Added the remote far: https://[redacted]@example.invalid/x.git\n", text)
        self.assertNotIn("secret", self.says("git_remote"))
        self.assertIn("Renamed the remote far to away.", self.says(
            "git_remote", {"action": "rename", "name": "far", "new_name": "away"}))
        self.assertIn("Removed the remote away", self.says(
            "git_remote", {"action": "remove", "name": "away"}))
        self.assertEqual(self.out("remote"), "origin\n")
        self.git("remote", "remove", "origin")
        self.assertEqual(self.says("git_remote"), "There are no remotes.")

    def test_refused(self):
        """git_remote: arguments without their action, names that are taken or not there"""
        for arguments, words in (
                ({"name": "origin"}, "name has no meaning for action list"),
                ({"action": "add", "name": "x"}, "url is required for add"),
                ({"action": "add", "url": "x"}, "name is required for add"),
                ({"action": "remove", "name": "origin", "url": "x"}, "url has no meaning for action remove"),
                ({"action": "rename", "name": "origin"}, "new_name is required for rename"),
                ({"action": "add", "name": "-x", "url": "x"}, "name"),
                ({"action": "add", "name": "x", "url": "--upload-pack=x"}, "url must not begin"),
        ):
            with self.subTest(arguments=arguments):
                self.fails("BadArgs", words, "git_remote", arguments)
        self.fails("ExecutionFailed", "nobody", "git_remote",
                   {"action": "remove", "name": "nobody"})


class Asking(Case):
    def push(self, server, decision=None, **arguments):
        """A push; with a decision it has to be asked about."""
        arguments = {"working_dir": str(self.root)} | arguments
        if decision:
            return server.decided(decision, "git_push", arguments)
        return server.call("git_push", arguments)

    def test_first(self):
        """the first push of a session to each address and branch asks; later ones do not"""
        server = self.start()
        head = self.commit("c.txt", "c\n", "c")
        shown, result = self.push(server, "reject")
        self.assertIn(str(self.hub), shown)
        self.assertTrue(result.failed, result)
        self.assertNotEqual(self.at_hub(), head)
        shown, result = self.push(server, "once")
        self.assertFalse(result.failed, result)
        self.assertEqual(self.at_hub(), head)
        head = self.commit("d.txt", "d\n", "d")
        self.assertFalse(self.push(server).failed)
        self.assertEqual(self.at_hub(), head)
        self.git("checkout", "-q", "-b", "topic")
        _, result = self.push(server, "once")
        self.assertFalse(result.failed, result)

    def test_nothing(self):
        """nothing to push: no question, and the answer says so"""
        server = self.start()
        result = self.push(server)
        self.assertIn("origin/main was up to date already", result.text)
        self.commit("c.txt", "c\n", "c")
        _, result = self.push(server, "once")
        self.assertFalse(result.failed, result)

    def test_refused_already(self):
        """what the remote does not take is not asked about: the answer says why"""
        server = self.start()
        self.git("push", "-q", "origin", "main:topic")
        self.commit("c.txt", "c\n", "c")
        theirs = self.elsewhere()
        self.git("push", "-q", "origin", "main:topic", cwd=self.base / "other")
        for arguments, words in (({}, "has commits that are not here"),
                                 ({"force": True}, "is not what was seen there last"),
                                 ({"branch": "topic", "delete": True}, "is not what was seen there last")):
            result = self.push(server, **arguments)
            self.assertTrue(result.failed, result)
            self.assertIn(words, result.text)
        self.assertEqual([self.at_hub(), self.at_hub("refs/heads/topic")], [theirs] * 2)

    def test_always_asks(self):
        """force, delete and tags ask each time"""
        server = self.start()
        self.commit("c.txt", "c\n", "c")
        self.push(server, "once")
        self.git("push", "-q", "origin", "main:topic")
        self.git("fetch", "-q")
        self.git("tag", "v1")
        self.git("commit", "-q", "--amend", "-m", "again")
        shown, _ = self.push(server, "reject", force=True)
        self.assertIn("To be replaced, and then gone from there:", shown)
        self.assertIn("To be pushed:", shown)
        self.assertNotIn("Pushed", shown)  # it is a question
        shown, _ = self.push(server, "reject", branch="topic", delete=True)
        self.assertIn("The branch is deleted there; it was last seen at ", shown)
        self.push(server, "reject", tags=True)
        self.assertNotEqual(self.at_hub("refs/heads/topic"), "")

    def test_upstream_of_another_name(self):
        """push.default=upstream: the branch that the current one follows is pushed to, as git does, and rules see it"""
        self.git("push", "-q", "origin", "main:other")
        self.git("fetch", "-q")
        self.git("config", "push.default", "upstream")
        self.git("branch", "-q", "--set-upstream-to=origin/other")
        before = self.at_hub()
        commit = self.commit("c.txt", "c\n", "c")
        shown, result = self.push(self.start(), "once")
        self.assertIn("Push main as other to origin\n", shown)
        self.assertIn("Pushed origin/other: ", result.text)
        self.assertEqual((self.at_hub("refs/heads/other"), self.at_hub()), (commit, before))
        self.assertEqual(self.out("config", "branch.main.merge").strip(), "refs/heads/other")
        rules = self.base / "rules.toml"
        rules.write_text('[[tools.approval.rule]]\nbranch = "other"\ndecision = "deny"\n', encoding="utf-8")
        self.commit("c.txt", "d\n", "d")
        result = self.call("git_push", {"working_dir": str(self.root)}, "--config", str(rules))
        self.assertEqual(result.kind, "ApprovalDenied", result)

    def test_what_is_sent(self):
        """the question lists what the other end lacks, whatever remote-tracking branches say"""
        for number in range(5):
            self.commit("c.txt", f"{number}\n", f"private {number}")
        secret = self.out("commit-tree", "-m", "secret", "HEAD^{tree}").strip()
        self.git("update-ref", "refs/remotes/origin/main", "HEAD")
        self.git("update-ref", "refs/remotes/third/main", "HEAD")
        self.git("tag", "v1", secret)
        server = self.start()
        self.git("branch", "topic")
        shown, _ = self.push(server, "reject", branch="topic")
        self.assertIn("To be pushed:\n", shown)
        self.assertEqual(shown.count(" private "), 5, shown)
        self.assertNotIn(" secret", shown)
        shown, _ = self.push(server, "reject", tags=True)
        self.assertIn(" secret", shown)
        self.assertEqual(shown.count(" private "), 5, shown)

    def test_whole_history(self):
        """an address that is new gets the whole history, which the question counts"""
        self.commit("c.txt", "c\n", "private")
        server = self.start()
        self.git("init", "-q", "--bare", "third.git")
        self.git("remote", "add", "third", str(self.root / "third.git"))
        self.git("update-ref", "refs/remotes/third/main", "HEAD~1")
        shown, _ = self.push(server, "reject", remote="third")
        count = self.out("rev-list", "--count", "HEAD").strip()
        self.assertIn("\nWhy it asks: the first push of a session to an address and branch\n", shown)
        self.assertRegex(shown, f"To be pushed: the whole history, {count} commits, [0-9]+ bytes:\n")
        self.assertIn(" private", shown)
        self.assertIn(" first", shown)

    def test_tag_asks_once(self):
        """a tag is a first push of its own, even of a branch's name; then it is not asked again"""
        server = self.start()
        self.git("tag", "main", "HEAD~1")
        self.commit("c.txt", "c\n", "c")
        self.push(server, "once")
        shown, _ = self.push(server, "reject", tag="main")
        self.assertIn("Push the tag main to origin", shown)
        self.assertIn(f"The tag leads to {self.here('refs/tags/main')[:8]}.", shown)
        _, result = self.push(server, "once", tag="main")
        self.assertIn("Pushed the new tag main at origin", result.text)
        self.git("push", "-q", "origin", ":refs/tags/main")
        result = server.call("git_push", {"working_dir": str(self.root), "tag": "main"})
        self.assertIn("Pushed the new tag main at origin", result.text)

    def test_tag_rules(self):
        """a rule about a branch is none about a tag of its name; one about tags is"""
        self.git("tag", "main", "HEAD~1")
        self.commit("c.txt", "c\n", "c")
        config = self.base / "rules.toml"
        config.write_text("".join(
            f'[[tools.approval.rule]]\ntool = "git_push"\nbranch = "{name}"\ndecision = "deny"\n'
            for name in ("main", "refs/tags/v*")), encoding="utf-8")
        self.git("tag", "v1")
        for arguments, denied in (({"branch": "main"}, True), ({"tag": "v1"}, True),
                                  ({"tag": "main"}, False)):
            result = self.call("git_push", arguments, "--config", str(config))
            self.assertEqual(result.kind, "ApprovalDenied" if denied else None, result)

    def test_tags_named(self):
        """the question names the tags that go; of a known address only those it lacks"""
        server = self.start()
        self.git("tag", "old")
        self.git("push", "-q", "origin", "old")
        self.git("tag", "-a", "-m", "two", "v2")
        shown, _ = self.push(server, "reject", tags=True)
        self.assertIn(f"v2 ({self.here('v2')[:8]})", shown)
        self.commit("c.txt", "c\n", "c")
        _, result = self.push(server, "once")
        self.assertFalse(result.failed, result)
        shown, _ = self.push(server, "reject", tags=True)
        self.assertIn(f"Tags that are new there:\n  v2 ({self.here('v2')[:8]})\n", shown)
        self.assertNotIn("old", shown)
        for number in range(20):
            self.git("tag", f"w{number}")
        shown, _ = self.push(server, "reject", tags=True)
        self.assertIn("  and 1 more\n", shown)
        _, result = self.push(server, "once", tags=True)
        self.assertIn("and 21 new tags", result.text)
        self.commit("d.txt", "d\n", "d")
        shown, _ = self.push(server, "reject", tags=True)
        self.assertIn("No tag is new there.\n", shown)

    def test_tags_behind(self):
        """tags beside a branch that is refused: without a new tag nobody is asked, else the question says that only tags go"""
        server = self.start()
        self.commit("c.txt", "c\n", "c")
        self.push(server, "once")
        self.git("commit", "-q", "--amend", "-m", "again")
        result = self.push(server, tags=True)
        self.assertTrue(result.failed, result)
        self.assertIn("has commits that this branch does not have", result.text)
        self.git("tag", "v1", "HEAD~1")
        shown, result = self.push(server, "once", tags=True)
        self.assertIn("Only tags go there. The remote's branch 'main' has commits that this branch does not have.\n",
                      shown)
        self.assertIn("These were pushed: refs/tags/v1", result.text)

    def test_tags_nothing(self):
        """tags that are all there already, beside a branch that is, are not asked about"""
        server = self.start()
        self.git("tag", "v1")
        shown, _ = self.push(server, "once", tag="v1")
        self.assertEqual(shown.count("branch refs/tags/v1"), 1, shown)
        self.assertEqual(self.push(server, tags=True).text.splitlines()[0],
                         "origin/main was up to date already, and no tag is new there")

    def tag_while_asked(self, *change):
        """What the second question of a push with tags says, when tags change during the first."""
        server = self.start()
        number = server.ask("git_push", {"working_dir": str(self.root), "tags": True})
        question = server.receive()
        self.git("tag", *change)
        server.send(id=question["id"], result={"action": "accept", "content": {"decision": "once"}})
        answer = server.receive()
        self.assertEqual(answer.get("method"), "elicitation/create", answer)
        server.send(id=answer["id"], result={"action": "decline"})
        self.assertEqual(server.receive()["id"], number)
        return str(answer)

    def test_tags_stale(self):
        """a tag is made, moved or deleted while the question is open: asked again"""
        self.git("tag", "v1")
        secret = self.out("commit-tree", "-m", "secret", "HEAD^{tree}").strip()
        self.assertIn("sneaky (" + secret[:8], self.tag_while_asked("sneaky", secret))
        self.assertIn("v1 (" + secret[:8], self.tag_while_asked("-f", "v1", secret))
        self.assertNotIn("sneaky", self.tag_while_asked("-d", "sneaky"))
        self.assertEqual(self.out("tag", cwd=self.hub), "")

    def test_stale(self):
        """the branch moves while the question is open: what was not shown is not pushed"""
        server = self.start()
        self.commit("c.txt", "c\n", "c")
        was = self.at_hub()
        number = server.ask("git_push", {"working_dir": str(self.root)})
        question = server.receive()
        self.commit("late.txt", "late\n", "late")
        server.send(id=question["id"], result={"action": "accept", "content": {"decision": "once"}})
        answer = server.receive()
        if answer.get("method") == "elicitation/create":
            self.assertIn("late", str(answer))
            server.send(id=answer["id"], result={"action": "decline"})
            answer = server.receive()
        self.assertEqual(answer["id"], number)
        self.assertTrue(answer["result"]["isError"], answer)
        self.assertEqual(self.at_hub(), was)

    def test_address_moves(self):
        """the address changes while the question is open: nothing goes there, nor to the old one"""
        server = self.start()
        was = self.at_hub()
        self.commit("c.txt", "c\n", "c")
        evil = self.top / "evil.git"
        self.git("init", "-q", "--bare", str(evil))
        number = server.ask("git_push", {"working_dir": str(self.root)})
        question = server.receive()
        self.git("remote", "set-url", "origin", str(evil))
        server.send(id=question["id"], result={"action": "accept", "content": {"decision": "once"}})
        answer = server.receive()
        self.assertEqual(answer.get("id"), number, answer)
        self.assertTrue(answer["result"]["isError"], answer)
        self.assertIn("configuration changed", str(answer))
        self.assertEqual(self.out("for-each-ref", cwd=evil), "")
        self.assertEqual(self.at_hub(), was)
        shown, _ = server.decided("reject", "git_push", {"working_dir": str(self.root)})
        self.assertIn(f"To {evil}", shown)


if __name__ == "__main__":
    harness.main()
