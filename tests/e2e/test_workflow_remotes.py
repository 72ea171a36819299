#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""git_remote, git_fetch and git_push of toolset `workflow`, with repositories on this machine."""
import harness
import remotes


class Remotes(remotes.Case):
    """git_remote."""

    def test_examples(self):
        """R4-14 the examples of the requirements, one after the other"""
        self.assertEqual(self.gives("git_remote", {"action": "list"}), {"remotes": []})
        url = "https://github.com/org/repo.git"
        added = self.gives("git_remote", {"action": "add", "name": "upstream", "url": url})
        self.assertEqual(added, {"message": f"Added remote upstream: {url}", "name": "upstream"})
        self.assertEqual(self.gives("git_remote", {"action": "list"}), {"remotes": [
            {"name": "upstream", "fetchUrl": url, "pushUrl": url}]})
        renamed = self.gives("git_remote", {"action": "rename", "name": "upstream",
                                            "newName": "origin"})
        self.assertEqual(renamed["name"], "origin")
        self.assertEqual(self.out("remote").split(), ["origin"])
        removed = self.gives("git_remote", {"action": "remove", "name": "origin"})
        self.assertEqual(removed, {"message": "Removed remote origin", "name": "origin"})
        self.assertEqual(self.out("remote"), "")

    def test_asks(self):
        """R4-22 remove asks, saying where the remote leads; the others ask nothing"""
        self.git("remote", "add", "origin", "https://user:s3cret@example.com/r.git")
        result = self.call("git_remote", {"action": "remove", "name": "origin"}, approval="ask")
        self.assertEqual((result.kind, result.code), ("ApprovalRequired", 3), result)
        self.assertTrue(result.text.startswith("Remove remote 'origin'\n"), result.text)
        self.assertNotIn("s3cret", str(result))
        self.assertEqual(self.out("remote").split(), ["origin"])
        for arguments in ({"action": "list"},
                          {"action": "add", "name": "b", "url": "https://example.com/b"},
                          {"action": "rename", "name": "b", "newName": "c"}):
            self.gives("git_remote", arguments, approval="ask")

    def test_passwords_are_not_shown(self):
        """passwords in addresses appear in no result, error or journal"""
        url = "https://user:s3cret@example.com/r.git"
        result = self.ok("git_remote", {"action": "add", "name": "origin", "url": url})
        self.assertNotIn("s3cret", str(result))
        result = self.ok("git_remote", {"action": "list"})
        self.assertEqual(result.value["structuredContent"]["remotes"][0]["fetchUrl"],
                         "https://[redacted]@example.com/r.git")
        bad = "https://user:s3cret@example.com:99999/r.git"
        result = self.fails(7034, "git_remote", {"action": "add", "name": "b", "url": bad})
        self.assertNotIn("s3cret", str(result))
        log = self.home / ".local/state/airlock/tool_log.jsonl"
        self.assertNotIn("s3cret", log.read_text(encoding="utf-8"))

    def test_push_url_and_own_rewrites(self):
        """list shows push addresses, and the user's own url.*.insteadOf"""
        self.git("remote", "add", "origin", "gh:org/r")
        self.git("config", "remote.origin.pushurl", "git@example.com:org/r")
        self.git("config", "--global", "url.https://example.com/.insteadOf", "gh:")
        self.assertEqual(self.gives("git_remote", {"action": "list"}), {"remotes": [
            {"name": "origin", "fetchUrl": "https://example.com/org/r",
             "pushUrl": "git@example.com:org/r"}]})

    def test_bad_arguments(self):
        """what is missing or cannot be a name is said"""
        for arguments, word in (({"action": "add", "name": "x"}, "url is required"),
                                ({"action": "add", "url": "x"}, "name is required"),
                                ({"action": "rename", "name": "x"}, "newName is required"),
                                ({"action": "remove"}, "name is required"),
                                ({"action": "remove", "name": "-x"}, "name must not"),
                                ({"action": "add", "name": "a b", "url": "x"}, "name must not"),
                                ({"action": "rename", "name": "x", "newName": "--y"},
                                 "newName must not"),
                                ({}, "action is required")):
            result = self.call("git_remote", arguments)
            self.assertEqual(result.kind, "BadArgs", result)
            self.assertIn(word, result.text)

    def test_what_is_there_already_and_what_is_not(self):
        """a name that is taken, and one that is unknown, are 7034"""
        self.git("remote", "add", "origin", "https://example.com/r")
        self.fails(7034, "git_remote", {"action": "add", "name": "origin", "url": "https://h/r"})
        self.fails(7034, "git_remote", {"action": "remove", "name": "none"})
        self.fails(7034, "git_remote", {"action": "rename", "name": "none", "newName": "x"})
        self.git("remote", "add", "other", "https://example.com/r")
        self.fails(7034, "git_remote", {"action": "rename", "name": "other", "newName": "origin"})
        self.assertEqual(self.out("remote").split(), ["origin", "other"])

    def test_addresses_that_are_refused(self):
        """helpers, options and paths outside the roots are not written down"""
        for url in ("-x", "--upload-pack=id", "-https://h/r"):
            result = self.fails(None, "git_remote", {"action": "add", "name": "x", "url": url})
            self.assertEqual(result.kind, "BadArgs", result)
            self.assertIn("url must not begin with '-'", result.text)
        for url in ("ext::sh -c id", "foo::bar", "ftp://h/r", "ssh://-x/r", "git@-x:r", ""):
            self.fails(7034, "git_remote", {"action": "add", "name": "x", "url": url})
        for url in (str(self.base / "elsewhere"), "../../elsewhere", "file:///etc"):
            result = self.fails(7034, "git_remote", {"action": "add", "name": "x", "url": url})
            self.assertEqual(result.kind, "SandboxViolation", result)
        self.assertEqual(self.out("remote"), "")


class Fetches(remotes.Case):
    """git_fetch."""

    def test_examples(self):
        """R4-11 the examples of the requirements"""
        self.with_origin()
        commit = self.elsewhere()
        got = self.gives("git_fetch", {})
        self.assertEqual((got["success"], got["remote"]), (True, "origin"))
        self.assertIn("main", got["message"])
        self.assertEqual(self.here("origin/main"), commit)
        self.elsewhere("c.txt", "c\n", "develop")
        got = self.gives("git_fetch", {"branch": "develop"})
        self.assertEqual(got["branch"], "develop")
        self.assertEqual(self.here("origin/develop"), self.at_hub("develop"))
        self.git("branch", "-q", "-D", "develop", cwd=self.hub)
        self.git("remote", "add", "second", str(self.hub))
        got = self.gives("git_fetch", {"all": True, "prune": True})
        self.assertEqual((got["remote"], got["pruned"]), ("all", True))
        self.assertNotEqual(self.git("rev-parse", "-q", "--verify", "origin/develop",
                                     check=False).returncode, 0)
        self.assertEqual(self.here("second/main"), commit)

    def test_asks_nothing(self):
        """fetching needs no approval, and leaves branch and files alone"""
        self.with_origin()
        before = self.here(), self.out("status", "--porcelain")
        self.elsewhere()
        self.gives("git_fetch", {}, approval="ask")
        self.assertEqual((self.here(), self.out("status", "--porcelain")), before)

    def test_tags(self):
        """tags on what is fetched come along, also those on commits that were there"""
        self.with_origin()
        self.git("tag", "-a", "-m", "v1", "v1", "main", cwd=self.hub)
        self.gives("git_fetch", {})
        self.assertEqual(self.out("tag").split(), ["v1"])

    def test_nothing_new(self):
        """a second fetch says that nothing is new"""
        self.with_origin()
        self.assertEqual(self.gives("git_fetch", {})["message"], "Fetched from origin: nothing new")

    def test_unknown(self):
        """R4-7034 no origin, no remotes at all, no such branch"""
        self.fails(7034, "git_fetch", {})
        self.fails(7034, "git_fetch", {"all": True})
        self.with_origin()
        self.fails(7034, "git_fetch", {"remote": "none"})
        result = self.fails(7033, "git_fetch", {"branch": "none"})
        self.assertEqual(result.error["reason"], "not_found", result)

    def test_bad_arguments(self):
        """what cannot be a remote or a branch is no argument"""
        self.with_origin()
        for arguments in ({"remote": "--upload-pack=x"}, {"branch": "-x"}, {"branch": "a:b"},
                          {"remote": ""}, {"branch": "refs/heads/*"}):
            self.assertEqual(self.call("git_fetch", arguments).kind, "BadArgs", arguments)

    def test_worktree_as_remote(self):
        """another working tree is a remote, by a path relative to the top"""
        self.init(self.top / "peer")
        self.commit("p.txt", "p\n", "peer", self.top / "peer")
        self.git("remote", "add", "origin", "../peer")
        self.gives("git_fetch", {"cwd": str(self.root)})
        self.assertEqual(self.here("origin/main"), self.out("rev-parse", "HEAD",
                                                            cwd=self.top / "peer").strip())

    def test_outside(self):
        """a remote outside the roots, directly, by a link or by its alternates, is refused"""
        away = self.base / "away.git"
        self.git("clone", "-q", "--bare", str(self.root), str(away), cwd=self.base)
        (self.top / "link").symlink_to(away)
        borrowed = self.top / "borrowed.git"
        self.git("clone", "-q", "--bare", "--shared", str(away), str(borrowed), cwd=self.base)
        for url in (str(away), "../../away.git", "../link", str(borrowed), f"file://{away}"):
            self.git("config", "remote.origin.url", url)
            result = self.fails(7034, "git_fetch", {})
            self.assertEqual(result.kind, "SandboxViolation", result)
        self.assertEqual(self.git("for-each-ref", "refs/remotes").stdout, b"")

    def test_not_a_repository(self):
        """a path inside the roots that holds no repository"""
        (self.top / "empty").mkdir()
        self.git("config", "remote.origin.url", "../empty")
        self.fails(7034, "git_fetch", {})
        self.git("config", "remote.origin.url", "../missing")
        self.fails(7034, "git_fetch", {})

    def test_refspecs(self):
        """refspecs of the remote count, unless they would move branches here"""
        self.with_origin()
        self.git("config", "remote.origin.fetch", "+refs/heads/ma*:refs/remotes/o/ma*")
        self.gives("git_fetch", {})
        self.assertEqual(self.here("refs/remotes/o/main"), self.here())
        for refspec in ("+refs/heads/*:refs/heads/*", "main:refs/stash", "+main:HEAD"):
            self.git("config", "remote.origin.fetch", refspec)
            self.fails(7034, "git_fetch", {})

    def test_grant(self):
        """a grant covers the other repository too, for what is done with it"""
        self.with_origin()
        config = self.base / "config.toml"
        for hub, tool, kind in (("", "git_fetch", "NotGranted"),
                                (f', "{self.hub}" = "r"', "git_fetch", None),
                                (f', "{self.hub}" = "r"', "git_push", "NotGranted"),
                                (f', "{self.hub}" = "rw"', "git_push", None)):
            config.write_text(f'[grants.one]\nfs = {{ "{self.root}" = "rw"{hub} }}\n',
                              encoding="utf-8")
            result = self.call(tool, {}, "--config", str(config), "--grant", "one")
            self.assertEqual(result.kind, kind, (hub, tool, result))


class Pushes(remotes.Case):
    """git_push."""

    def test_examples(self):
        """R4-13 the examples of the requirements"""
        self.git("remote", "add", "origin", str(self.hub))
        got = self.gives("git_push", {})
        self.assertEqual((got["success"], got["remote"], got["branch"]), (True, "origin", "main"))
        self.assertEqual(self.at_hub(), self.here())
        self.assertNotEqual(self.git("rev-parse", "-q", "--verify", "@{u}", check=False).returncode,
                            0)
        self.gives("git_push", {"setUpstream": True})
        self.assertEqual(self.out("rev-parse", "--abbrev-ref", "@{u}").strip(), "origin/main")
        self.git("commit", "-q", "--amend", "-m", "rewritten")
        got = self.gives("git_push", {"force": True})
        self.assertEqual(got["forced"], True)
        self.assertEqual(self.at_hub(), self.here())
        self.assertEqual(self.here("origin/main"), self.here())

    def test_asks(self):
        """R4-21 force asks, and says what goes; an ordinary push does not"""
        self.with_origin()
        self.commit("a.txt", "two\n", "to be lost")
        self.gives("git_push", {}, approval="ask")
        self.git("reset", "-q", "--hard", "HEAD~1")
        result = self.call("git_push", {"force": True}, approval="ask")
        self.assertEqual((result.kind, result.code), ("ApprovalRequired", 3), result)
        self.assertTrue(result.text.startswith("Force push the current branch to origin\n"),
                        result.text)
        self.assertNotEqual(self.at_hub(), self.here())

    def test_branch(self):
        """a named branch goes to the same name, and is no refspec"""
        self.with_origin()
        self.git("branch", "feature/x")
        self.gives("git_push", {"branch": "feature/x"})
        self.assertEqual(self.at_hub("feature/x"), self.here())
        for branch in ("main:evil", ":main", "refs/heads/*", "-f", "HEAD", ""):
            self.assertEqual(self.call("git_push", {"branch": branch}).kind, "BadArgs", branch)
        self.fails(7033, "git_push", {"branch": "none"})

    def test_detached(self):
        """HEAD on no branch is not pushed"""
        self.with_origin()
        self.git("checkout", "-q", "--detach")
        self.fails(7010, "git_push", {})

    def test_behind(self):
        """a remote that is ahead is 7034, with what to do"""
        self.with_origin()
        commit = self.elsewhere()
        self.commit("a.txt", "two\n", "mine")
        for _ in range(2):
            result = self.fails(7034, "git_push", {})
            self.assertIn("git_pull", result.text)
            self.assertEqual(self.at_hub(), commit)
            self.git("fetch", "-q")

    def test_lease(self):
        """force does not overwrite what was not seen, and does what was"""
        self.with_origin()
        self.git("commit", "-q", "--amend", "-m", "mine")
        unseen = self.elsewhere()
        result = self.fails(7034, "git_push", {"force": True})
        self.assertIn("git_fetch", result.text)
        self.assertEqual(self.at_hub(), unseen)
        self.gives("git_fetch", {})
        self.gives("git_push", {"force": True})
        self.assertEqual(self.at_hub(), self.here())

    def test_lease_on_what_was_never_seen(self):
        """force does not overwrite a branch that was never fetched"""
        self.with_origin()
        self.elsewhere("c.txt", "c\n", "theirs")
        theirs = self.at_hub("theirs")
        self.git("branch", "theirs")
        self.fails(7034, "git_push", {"force": True, "branch": "theirs"})
        self.assertEqual(self.at_hub("theirs"), theirs)

    def test_checked_out(self):
        """a branch that is checked out at the remote is not pushed to"""
        self.init(self.top / "peer")
        self.git("remote", "add", "origin", "../peer")
        self.git("pull", "-q", "--rebase", "origin", "main")
        self.commit("n.txt", "n\n", "new")
        self.fails(7034, "git_push", {})

    def test_several_push_addresses(self):
        """every push address gets the branch"""
        self.with_origin()
        second = self.top / "second.git"
        self.git("init", "-q", "--bare", str(second))
        self.git("config", "--add", "remote.origin.pushurl", str(self.hub))
        self.git("config", "--add", "remote.origin.pushurl", str(second))
        self.commit("a.txt", "two\n", "second")
        self.gives("git_push", {})
        self.assertEqual(self.out("rev-parse", "main", cwd=second).strip(), self.here())
        self.assertEqual(self.at_hub(), self.here())

    def test_journal(self):
        """the journal has operation and effects"""
        self.with_origin()
        self.gives("git_push", {"force": True})
        record = self.record()
        self.assertEqual((record["tool"], record["operation"]), ("git_push", "force"))
        for effect in ("uses_network", "leaves_machine", "rewrites_history", "writes_refs"):
            self.assertIn(effect, record["effects"])


if __name__ == "__main__":
    harness.main()
