#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow: git_branch and git_checkout."""
import harness
import workflow


class Repository(workflow.Case):
    def head(self, ref="HEAD"):
        """The commit of a reference."""
        return self.out("rev-parse", ref).strip()

    def branches(self):
        """The names of the local branches."""
        return self.out("for-each-ref", "--format=%(refname:short)", "refs/heads").split()

    def conflict(self):
        """A merge that stopped at a.txt."""
        self.init()
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "side\n", "side")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "main\n", "main")
        self.git("merge", "side", check=False)

    def with_origin(self):
        """A clone that tracks main, of a repository that also has develop."""
        origin = self.base / "root" / "origin"
        self.init(origin)
        self.git("branch", "develop", cwd=origin)
        self.git("clone", "-q", str(origin), "clone")
        return "clone"


class Branch(Repository):
    def test_examples(self):
        """R4-5 git_branch: the examples of the requirements, through MCP"""
        self.init()
        self.git("branch", "old-feature")
        self.git("branch", "old-name")
        server = workflow.Server(self)
        self.assertEqual(server.gives("git_branch", {"action": "list"}), {
            "branches": [{"name": name, "current": name == "main", "hash": self.head()}
                         for name in ("main", "old-feature", "old-name")],
            "current": "main"})
        self.assertEqual(
            server.gives("git_branch", {"action": "create", "name": "feature/auth"}),
            {"message": "Created branch 'feature/auth'", "branch": "feature/auth"})
        self.assertEqual(
            server.gives("git_branch", {"action": "delete", "name": "old-feature"}),
            {"message": "Deleted branch 'old-feature'", "branch": "old-feature"})
        self.assertEqual(
            server.gives("git_branch", {"action": "rename", "name": "old-name",
                                        "newName": "new-name"}),
            {"message": "Renamed branch 'old-name' to 'new-name'", "branch": "new-name"})
        self.assertEqual(self.branches(), ["feature/auth", "main", "new-name"])

    def test_delete_asks(self):
        """R4-16 git_branch: deleting asks, creating, renaming and listing do not"""
        self.init()
        self.git("branch", "gone")
        self.assert_asks("Delete branch 'gone'", "git_branch", {"action": "delete", "name": "gone"})
        self.assert_asks("Force delete branch 'gone'", "git_branch",
                         {"action": "delete", "name": "gone", "force": True})
        for arguments in ({"action": "create", "name": "new"}, {"action": "list"},
                          {"action": "rename", "name": "new", "newName": "newer"}):
            for approval in ("ask", "allow"):
                if arguments["action"] != "list":
                    self.git("branch", "-D", "new", check=False)
                    self.git("branch", "-D", "newer", check=False)
                if arguments["action"] == "rename":
                    self.git("branch", "new")
                self.assertFalse(self.call("git_branch", arguments, approval=approval).failed)

    def test_remotes(self):
        """git_branch: remote branches are listed when asked for, upstreams always"""
        where = self.with_origin()
        local = {"name": "main", "current": True, "upstream": "origin/main",
                 "hash": self.out("rev-parse", "HEAD", cwd=self.root / where).strip()}
        self.assertEqual(self.gives("git_branch", {"action": "list", "cwd": where})["branches"],
                         [local])
        there = {"current": False, "remote": True, "hash": local["hash"]}
        self.assertEqual(
            self.gives("git_branch", {"action": "list", "remote": True, "cwd": where})["branches"],
            [local, {"name": "origin/develop"} | there, {"name": "origin/main"} | there])
        self.git("checkout", "-q", "-b", "local", "--track", "main", cwd=self.root / where)
        found = self.gives("git_branch", {"action": "list", "cwd": where})
        self.assertEqual((found["current"], found["branches"][0]["upstream"]), ("local", "main"))

    def test_heads(self):
        """git_branch: an unborn branch is current and not listed; detached, HEAD is"""
        self.git("init", "-q")
        self.assertEqual(self.gives("git_branch", {"action": "list"}),
                         {"branches": [], "current": "main"})
        self.fails(7010, "git_branch", {"action": "create", "name": "x"})
        self.commit("a.txt", "one\n", "first")
        self.git("checkout", "-q", "--detach")
        found = self.gives("git_branch", {"action": "list"})
        self.assertEqual((found["current"], [branch["current"] for branch in found["branches"]]),
                         ("HEAD", [False]))

    def test_unmerged(self):
        """R4-7010 git_branch: what is not merged goes with force only, the current branch never"""
        self.init()
        self.git("checkout", "-q", "-b", "work")
        self.commit("b.txt", "b\n", "work")
        self.git("checkout", "-q", "main")
        result = self.fails(7010, "git_branch", {"action": "delete", "name": "work"})
        self.assertIn("not fully merged", result.error["message"])
        self.fails(7010, "git_branch", {"action": "delete", "name": "main"})
        self.fails(7010, "git_branch", {"action": "delete", "name": "main", "force": True})
        self.assertEqual(self.branches(), ["main", "work"])
        self.gives("git_branch", {"action": "delete", "name": "work", "force": True})
        self.assertEqual(self.branches(), ["main"])

    def test_errors(self):
        """R4-7032 R4-7033 git_branch: a name that is taken, and one that is not there"""
        self.fails(7000, "git_branch", {"action": "list"})
        self.init()
        self.git("branch", "there")
        for arguments in ({"action": "create", "name": "there"},
                          {"action": "rename", "name": "main", "newName": "there"}):
            self.fails(7032, "git_branch", arguments)
        for arguments in ({"action": "delete", "name": "none"},
                          {"action": "delete", "name": "none", "force": True},
                          {"action": "rename", "name": "none", "newName": "x"}):
            result = self.fails(7033, "git_branch", arguments)
            self.assertEqual(result.error["reason"], "not_found")
        self.assertEqual(self.branches(), ["main", "there"])

    def test_lock(self):
        """R4-7020 git_branch: a reference that another process has locked is 7020"""
        self.init()
        self.write(".git/refs/heads/new.lock", "")
        self.fails(7020, "git_branch", {"action": "create", "name": "new"})

    def test_arguments(self):
        """git_branch: what an action needs is required, and names are checked"""
        self.init()
        for arguments in ({}, {"action": "show"}, {"action": "create"}, {"action": "delete"},
                          {"action": "rename", "name": "main"}, {"action": "rename",
                                                                 "newName": "main"},
                          {"action": "create", "name": "-x"}, {"action": "create", "name": "a..b"},
                          {"action": "create", "name": "HEAD"}, {"action": "create", "name": ""},
                          {"action": "rename", "name": "main", "newName": "x y"}):
            self.assertEqual(self.fails(None, "git_branch", arguments).kind, "BadArgs", arguments)
        self.assertEqual(self.branches(), ["main"])

    def test_policy(self):
        """git_branch: a rule may ask where the mode does not, and allow where the mode asks"""
        self.init()
        self.git("branch", "gone")
        config = str(self.write("config.toml", """
[[tools.approval.rule]]
operation = "create"
decision = "ask"
[[tools.approval.rule]]
operation = "delete"
decision = "allow"
""", self.home))
        result = self.call("git_branch", {"action": "create", "name": "new"}, "--config", config,
                           approval="ask")
        self.assertEqual(result.kind, "ApprovalRequired", result)
        self.assertTrue(result.text.startswith("Create branch 'new'\n"), result.text)
        self.assertFalse(self.call("git_branch", {"action": "delete", "name": "gone"}, "--config",
                                   config, approval="ask").failed)
        self.assertEqual(self.branches(), ["main"])


class Checkout(Repository):
    def test_examples(self):
        """R4-6 git_checkout: the examples of the requirements, through MCP"""
        self.init()
        self.commit("src/config.ts", "one\n", "config")
        self.git("branch", "develop")
        server = workflow.Server(self)
        self.assertEqual(server.gives("git_checkout", {"target": "develop"}),
                         {"ref": "develop", "created": False})
        self.assertEqual(server.gives("git_checkout", {"target": "feature/new", "create": True}),
                         {"ref": "feature/new", "created": True})
        self.write("src/config.ts", "two\n")
        self.assertEqual(
            server.gives("git_checkout", {"target": "HEAD", "paths": ["src/config.ts"]}),
            {"ref": "feature/new", "created": False, "restoredFiles": ["src/config.ts"]})
        self.assertEqual((self.root / "src/config.ts").read_text(), "one\n")
        self.write("src/config.ts", "two\n")
        self.assertEqual(server.gives("git_checkout", {"target": "main", "force": True}),
                         {"ref": "main", "created": False})
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_asks(self):
        """R4-17 git_checkout: force asks and shows what is lost, the rest asks nothing"""
        self.init()
        self.git("branch", "other")
        self.write("a.txt", "local\n")
        self.assert_asks("Switch to 'other', discarding local changes", "git_checkout",
                         {"target": "other", "force": True})
        self.assert_asks("Create and switch to branch 'new', discarding local changes",
                         "git_checkout", {"target": "new", "force": True, "create": True})
        self.assert_asks("Put 1 file(s) back from 'HEAD', discarding local changes",
                         "git_checkout", {"target": "HEAD", "force": True, "paths": ["a.txt"]})
        for approval in ("ask", "allow"):
            for arguments in ({"target": "other"}, {"target": "main"},
                              {"target": "new-" + approval, "create": True},
                              {"target": "HEAD", "paths": ["a.txt"]}):
                self.assertFalse(self.call("git_checkout", arguments, approval=approval).failed)

    def test_create(self):
        """git_checkout: create on a branch that is there switches to it"""
        self.init()
        self.git("branch", "there")
        self.assertEqual(self.gives("git_checkout", {"target": "there", "create": True}),
                         {"ref": "there", "created": False})
        self.assertEqual(self.gives("git_checkout", {"target": "new", "create": True,
                                                     "force": True}),
                         {"ref": "new", "created": True})

    def test_tracking(self):
        """git_checkout: a branch that only a remote has is created"""
        where = self.with_origin()
        self.assertEqual(self.gives("git_checkout", {"target": "develop", "cwd": where}),
                         {"ref": "develop", "created": True})
        self.assertEqual(self.out("rev-parse", "--abbrev-ref", "@{upstream}",
                                  cwd=self.root / where).strip(), "origin/develop")

    def test_detached(self):
        """git_checkout: on a commit, ref is its full hash"""
        self.init()
        first = self.head()
        self.commit("b.txt", "b\n", "second")
        self.git("tag", "v1")
        for target, ref in (("HEAD~1", first), (first[:7], first), ("v1", self.head()),
                            ("main", "main"), ("HEAD", "main"), ("main^0", self.head())):
            self.assertEqual(self.gives("git_checkout", {"target": target}),
                             {"ref": ref, "created": False})
        self.assertEqual(self.gives("git_checkout", {"target": "HEAD", "paths": ["a.txt"]}),
                         {"ref": self.head(), "created": False, "restoredFiles": []})

    def test_paths(self):
        """git_checkout: paths come back into the index too, from any commit, and are listed"""
        self.init()
        for name in ("dir/a b", "dir/\u00e4", "dir/new\nline", "dir/gone"):
            self.commit(name, "one\n", name)
        first = self.head()
        for name in ("dir/a b", "dir/\u00e4", "dir/new\nline"):
            self.commit(name, "two\n", name)
        (self.root / "dir/gone").unlink()
        self.commit("dir/later", "x\n", "later")
        value = self.gives("git_checkout", {"target": first, "paths": ["dir"], "cwd": "dir"})
        self.assertEqual(sorted(value["restoredFiles"]),
                         sorted(["dir/a b", "dir/\u00e4", "dir/new\nline", "dir/gone"]))
        self.assertEqual((self.root / "dir/gone").read_text(), "one\n")
        self.assertTrue((self.root / "dir/later").exists())
        self.assertEqual(len(self.git("diff", "--cached", "--name-only", "-z").stdout
                             .split(b"\0")) - 1, 3)
        self.assertEqual(self.gives("git_checkout", {"target": "main",
                                                     "paths": ["dir/a*", "dir/later"]})
                         ["restoredFiles"], ["dir/a b"])

    def test_not_utf8(self):
        """git_checkout: a name that is not UTF-8 is restored by a pattern, and as it is shown"""
        self.init()
        name = bytes(self.root) + b"/caf\xe9"
        with open(name, "wb") as file:
            file.write(b"one\n")
        self.git("add", ".")
        self.git("commit", "-q", "-m", "latin")
        with open(name, "wb") as file:
            file.write(b"two\n")
        for path in ("caf?", "caf<E9>"):
            with open(name, "wb") as file:
                file.write(b"two\n")
            value = self.gives("git_checkout", {"target": "HEAD", "paths": [path]})
            self.assertEqual(value["restoredFiles"], ["caf<E9>"])
            with open(name, "rb") as file:
                self.assertEqual(file.read(), b"one\n")

    def test_dirty(self):
        """R4-7031 git_checkout: local changes and untracked files in the way, by name"""
        self.init()
        self.git("checkout", "-q", "-b", "other")
        self.commit("a.txt", "other\n", "other")
        self.commit("new.txt", "other\n", "new")
        self.git("checkout", "-q", "main")
        self.write("a.txt", "local\n")
        result = self.fails(7031, "git_checkout", {"target": "other"})
        self.assertEqual(result.error["message"], "Your local changes to the following files would "
                                                  "be overwritten by checkout: a.txt")
        self.assertIn("git_stash", result.text.splitlines()[1])
        self.git("checkout", "-q", "a.txt")
        self.write("new.txt", "local\n")
        self.fails(7031, "git_checkout", {"target": "other"})
        self.assertEqual((self.root / "new.txt").read_text(), "local\n")

    def test_conflict(self):
        """git_checkout: 7030 while conflicts exist; force puts files in conflict back"""
        self.conflict()
        self.git("branch", "third", "side")
        self.fails(7030, "git_checkout", {"target": "third"})
        value = self.gives("git_checkout", {"target": "HEAD", "paths": ["a.txt"], "force": True})
        self.assertEqual(value["restoredFiles"], ["a.txt"])
        self.assertEqual((self.root / "a.txt").read_text(), "main\n")

    def test_errors(self):
        """R4-7002 R4-7033 git_checkout: what is no branch and no commit, a file's name too"""
        self.fails(7000, "git_checkout", {"target": "main"})
        self.init()
        for arguments in ({"target": "none"}, {"target": "a.txt"}, {"target": "HEAD~9"},
                          {"target": "none", "paths": ["a.txt"]}, {"target": "none", "force": True},
                          {"target": "HEAD~9", "paths": ["a.txt"]}):
            self.fails(7033, "git_checkout", arguments)
        result = self.fails(7010, "git_checkout", {"target": "HEAD", "paths": ["none"]})
        self.assertEqual(result.error["reason"], "not_found")
        for path in (".git/config", ".git", ".GIT/hooks/x", "sub/.git/x"):
            self.assertEqual(self.fails(7002, "git_checkout", {"target": "HEAD", "paths": [path]})
                             .kind, "SandboxViolation")
        (self.root / "link").symlink_to(".git")
        self.fails(7002, "git_checkout", {"target": "HEAD", "paths": ["link/config"]})
        for path in ("../x", "/etc/passwd"):
            self.assertEqual(self.fails(None, "git_checkout", {"target": "HEAD", "paths": [path]})
                             .kind, "SandboxViolation")

    def test_lock(self):
        """R4-7020 git_checkout: an index.lock that stays is 7020"""
        self.init()
        self.write("a.txt", "two\n")
        self.write(".git/index.lock", "")
        config = self.write("config.toml", "[tools.git]\ntimeout_ms = 2000\n", self.home)
        self.fails(7020, "git_checkout", {"target": "HEAD", "paths": ["a.txt"]}, "--config",
                   str(config))
        self.assertEqual((self.root / "a.txt").read_text(), "two\n")

    def test_arguments(self):
        """git_checkout: target is required and checked, create makes no files"""
        self.init()
        for arguments in ({}, {"target": ""}, {"target": "-f"}, {"target": "main..other"},
                          {"target": "x y", "create": True}, {"target": "HEAD", "create": True},
                          {"target": "main", "create": True, "paths": ["a.txt"]},
                          {"target": "main", "paths": "a.txt"}):
            self.assertEqual(self.fails(None, "git_checkout", arguments).kind, "BadArgs", arguments)

    def test_filters(self):
        """git_checkout: content that goes through a filter driver is refused"""
        self.init()
        self.git("config", "filter.evil.smudge", "touch /dev/null; cat")
        self.git("config", "filter.evil.clean", "cat")
        self.git("checkout", "-q", "-b", "other")
        self.commit(".gitattributes", "b.txt filter=evil\n", "attributes")
        self.commit("b.txt", "b\n", "filtered")
        self.write("b.txt", "changed\n")
        self.assertIn("filter", self.fails(7010, "git_checkout",
                                           {"target": "other", "paths": ["b.txt"]}).text)
        self.git("checkout", "-q", "-f", "main")
        self.assertIn("filter", self.fails(7010, "git_checkout", {"target": "other"}).text)
        self.assertIn("filter", self.fails(7010, "git_checkout",
                                           {"target": "other", "paths": ["b.txt"]}).text)
        self.assertFalse((self.root / "b.txt").exists())


if __name__ == "__main__":
    harness.main()
