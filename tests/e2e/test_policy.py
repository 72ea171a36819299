#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The user's rules hold, from the command line and over MCP."""
import harness
import policy

DENIED, COMMIT = policy.DENIED, policy.COMMIT


class Rules(policy.Case):
    def test_deny(self):
        """a rule denies with its message, or names its line, and the journal knows"""
        self.write("a.txt", "two\n")
        lines = self.rules({"tool": "git_log", "decision": "allow"},
                           {"tool": "git_add", "decision": "deny", "message": "Hands off."},
                           {"tool": "git_commit", "decision": "deny"})
        result = self.refused(DENIED, "Hands off.", "git_add", {"all": True})
        self.assertEqual(self.last_record(), ("declined", "rule", "policy"))
        self.assertEqual(result.text, "Hands off.\n\nDenied by rule 2 of the configuration (line "
                                      f"{lines[1]}). Nothing was done.")
        self.assertEqual(self.staged(), [])
        self.git("add", "a.txt")
        self.refused(DENIED, f"Commit: feat: more: denied by rule 3 of the configuration "
                     f"(line {lines[2]}). Nothing was done", "git_commit", COMMIT)
        self.assertEqual(self.out("log", "--format=%s"), "first\n")

    def test_modes(self):
        """rules come before the mode in every mode"""
        self.write("a.txt", "two\n")
        self.rules({"tool": "git_add", "path": "a.txt", "decision": "allow"},
                   {"tool": "git_add", "path": "b.txt", "decision": "deny", "message": "no"},
                   {"tool": "git_add", "path": "c.txt", "decision": "ask", "message": "Sure?"})
        for name in ("b.txt", "c.txt", "d.txt"):
            self.write(name, "x\n")
        for mode in ("ask", "allow", "deny"):
            self.ok("git_add", {"paths": ["a.txt"]}, approval=mode)
            self.assertEqual(self.last_record(), ("ok", "rule", "policy"))
            self.refused(DENIED, "no", "git_add", {"paths": ["b.txt"]}, approval=mode)
            asked = self.call("git_add", {"paths": ["c.txt"]}, approval=mode)
            self.assertEqual((asked.kind, asked.code), ("ApprovalRequired", 3))
            self.assertTrue(asked.text.startswith("Stage 1 file(s): c.txt\n\nSure?\n\n"), asked)
            self.assertIn("rule 3 of the configuration (line 10)", asked.text)
            self.assertNotIn("--approval allow", asked.text)
            self.assertEqual(self.last_record(), ("refused", "none", "none"))
        self.assertEqual(self.staged(), ["a.txt"])
        kinds = {mode: self.call("git_add", {"paths": ["d.txt"]}, approval=mode).kind
                 for mode in ("deny", "ask", "allow")}
        self.assertEqual(kinds, {"ask": "ApprovalRequired", "deny": DENIED, "allow": None})

    def test_reads(self):
        """a rule may tighten what only reads"""
        self.rules({"effect": "reads", "tool": "git_l*", "decision": "deny", "message": "closed"},
                   {"tool": "git_diff", "decision": "ask"})
        self.refused(DENIED, "closed", "git_log")
        self.assertEqual(self.call("git_diff").kind, "ApprovalRequired")
        self.ok("git_status")
        self.ok("git_show", approval="deny")

    def test_order(self):
        """the first match decides"""
        self.write("a.txt", "two\n")
        self.rules({"tool": "git_commit", "decision": "deny"},
                   {"effect": "writes_*", "decision": "allow"},
                   {"tool": "git_add", "decision": "deny"})
        self.ok("git_add", {"all": True}, approval="deny")
        self.assertEqual(self.call("git_commit", COMMIT).kind, DENIED)

    def test_other_refusals_first(self):
        """bad arguments, the sandbox and what cannot be done are said before a rule is"""
        self.rules({"decision": "deny", "message": "never"})
        for tool, arguments, kind in (
                ("git_log", {"max_count": 0}, "BadArgs"),
                ("git_add", {}, "BadArgs"),
                ("git_log", {"path": "../x"}, "SandboxViolation"),
                ("git_diff", {"paths": ["/etc/passwd"]}, "SandboxViolation"),
                ("git_log", {"path": ":(top)x"}, "BadArgs"),
                ("git_status", {"working_dir": "/"}, "SandboxViolation"),
                ("git_add", {"paths": ["/etc/passwd"]}, "SandboxViolation"),
                ("git_commit", COMMIT, "ExecutionFailed")):
            self.assertEqual(self.call(tool, arguments).kind, kind, (tool, arguments))
        self.refused(DENIED, "never", "git_log")

    def test_paths(self):
        """paths are held against rules as they are below the top, from wherever they are named"""
        for name in ("secrets/key", "docs/a.txt", "docs/b.txt", "src/c.c"):
            self.write(name, "x\n")
        (self.root / "docs/link").symlink_to("../secrets/key")
        self.rules({"path": "secrets/*", "decision": "deny"},
                   {"path": "docs/*", "decision": "allow"})
        secret = [["secrets/key"], ["docs/a.txt", "secrets/key"], ["secrets"], ["secrets/"], ["."],
                  [str(self.root / "secrets/key")], ["docs/link"]]
        for paths in secret:
            self.decided("deny", 1, "git_add", {"paths": paths})
        for paths in (["docs/a.txt"], ["docs/a.txt", "docs/b.txt"]):
            self.decided("allow", 2, "git_add", {"paths": paths})
        for paths in (["src/c.c"], ["docs/a.txt", "src/c.c"], ["a.txt"], ["src"]):
            self.decided("ask", "default", "git_add", {"paths": paths})
        self.decided("deny", 1, "git_add", {"working_dir": "secrets", "paths": ["key"]})
        self.decided("allow", 2, "git_add", {"working_dir": "docs", "paths": ["a.txt"]})
        self.assertEqual(self.explain("git_add", {"working_dir": "docs", "paths": ["a.txt"]})
                         ["paths"], ["docs/a.txt"])
        self.assertEqual(self.explain("git_add", {"paths": ["docs/link"]})["paths"],
                         ["secrets/key", "docs/link"])

    def test_directory(self):
        """a rule that names a directory restricts everything in it, and permits nothing there"""
        self.write("secrets/a/key", "x\n")
        for pattern in ("secrets", "secrets/", "s*s", "secrets/a"):
            self.rules({"path": pattern, "decision": "deny"})
            for path in ("secrets/a/key", "secrets/a", "secrets"):
                self.decided("deny", 1, "git_add", {"paths": [path]})
            self.decided("ask", "default", "git_add", {"paths": ["a.txt"]})
        self.rules({"path": "secrets", "decision": "allow"})
        self.decided("ask", "default", "git_add", {"paths": ["secrets/a/key"]})

    def test_trees(self):
        """paths in a tree that is no commit's may be any"""
        self.write("secrets/key", "hidden\n")
        self.git("add", "secrets")
        self.git("commit", "-qm", "keys")
        self.rules({"path": "secrets/*", "decision": "deny"})
        tree = self.out("rev-parse", "HEAD:secrets").strip()
        self.git("tag", "keys", tree)
        for rev in ("HEAD:secrets", tree, "keys", "HEAD:secrets..HEAD"):
            for toolset, tool, name in (("git", "git_diff", "from_ref"),
                                        ("workflow", "git_diff", "ref"),
                                        ("everyday", "git_diff", "from"),
                                        ("everyday", "git_grep", "rev"),
                                        ("everyday", "git_show", "rev")):
                paths = {"path": "key"} if tool == "git_show" else {"paths": ["key"]}
                more = {"pattern": "hidden"} if tool == "git_grep" else {}
                if name not in ("ref", "from") and ".." in rev:
                    continue
                result = self.call(tool, {name: rev, **paths, **more}, "--toolset", toolset)
                self.assertEqual(result.kind, DENIED, (tool, name, rev, result))
            if ".." not in rev:
                self.decided("deny", 1, "git_checkout", {"target": rev, "paths": ["key"]},
                             "--toolset", "workflow")
        for target in ({"target": "HEAD", "paths": ["a.txt"]}, {"target": "new", "create": True}):
            self.assertIsNone(self.call("git_checkout", target, "--toolset", "workflow").kind)
        for rev in ("HEAD", "HEAD~1..HEAD", "HEAD~1..", "..HEAD"):
            result = self.call("git_diff", {"from": rev, "paths": ["a.txt"]}, "--toolset", "everyday")
            self.assertIsNone(result.kind, (rev, result))

    def test_every_path(self):
        """what concerns everything is denied by any path and allowed by none"""
        self.write("secrets/key", "x\n")
        deny = {"path": "secrets/*", "decision": "deny"}
        allow = {"path": "*", "decision": "allow"}
        calls = [("git_add", {"all": True}), ("git_add", {"update": True}),
                 ("git_add", {"all": True, "paths": ["a.txt"]}),
                 ("git_diff", {}), ("git_log", {})]
        self.rules(deny)
        for tool, arguments in calls:
            self.decided("deny", 1, tool, arguments)
        self.rules(allow)
        for tool, arguments in calls:
            found = self.explain(tool, arguments)
            self.assertEqual(found["rule"], "default", found)
        self.decided("allow", 1, "git_add", {"paths": ["a.txt"]})
        self.rules(deny)
        for tool, arguments in (("git_commit", COMMIT), ("git_branch", {"create": "x"}),
                                ("git_checkout", {"create_branch": "x"}), ("git_status", {}),
                                ("git_diff", {"paths": ["a.txt"]}), ("git_blame", {"path": "a.txt"})):
            if tool == "git_commit":
                self.write("a.txt", "two\n")
                self.git("add", "a.txt")
            self.assertEqual(self.explain(tool, arguments)["rule"], "default", (tool, arguments))

    def test_known_paths(self):
        """what is known to leave a path alone is not denied because of it"""
        everyday = ("--toolset", "everyday")
        for name in ("secrets/key", "a.txt"):
            self.write(name, "x\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "both")
        self.git("branch", "plain")
        self.git("checkout", "-q", "-b", "keys")
        self.commit("secrets/key", "y\n", "key")
        self.git("checkout", "-q", "plain")
        self.commit("b.txt", "y\n", "b")
        self.git("checkout", "-q", "main")
        self.write("new.txt", "new\n")
        line = self.rules({"path": "secrets", "decision": "deny"})[0]
        for tool, arguments in (("git_switch", {"branch": "keys"}), ("git_merge", {"branch": "keys"}),
                                ("git_rebase", {"onto": "keys"}), ("git_reset", {"to": "keys"}),
                                ("git_reset", {"to": "keys", "mode": "soft"}),
                                ("git_reset", {"to": "keys", "mode": "hard"}),
                                ("git_cherry_pick", {"commits": ["keys"]}),
                                ("git_log", {"patch": True}), ("git_diff", {}),
                                ("git_commit", {"message": "all", "all": True})):
            result = self.call(tool, arguments, *everyday)
            self.assertEqual(result.kind, DENIED, (tool, arguments, result))
            self.assertIn(f"denied by rule 1 of the configuration (line {line}). Nothing was done",
                          result.text)
            self.assertIn("Calls about other paths than 'secrets' alone are not denied by this rule.", result.text)
        self.write("a.txt", "staged\n")
        self.git("add", "a.txt")
        for tool, arguments in (("git_commit", {"message": "a"}), ("git_log", {}),
                                ("git_log", {"patch": True, "paths": ["a.txt"]}),
                                ("git_switch", {"branch": "plain"}),
                                ("git_switch", {"branch": "new", "create": True}),
                                ("git_merge", {"branch": "main"}),
                                ("git_cherry_pick", {"commits": ["plain"]}),
                                ("git_reset", {"to": "HEAD~1", "mode": "hard"}),
                                ("git_reset", {"to": "HEAD~1"})):
            result = self.call(tool, arguments, *everyday)
            self.assertIsNone(result.kind, (tool, arguments, result))
        self.git("rm", "-q", "--cached", "secrets/key")
        result = self.call("git_commit", {"message": "gone"}, *everyday)
        self.assertEqual(result.kind, DENIED, result)

    def test_undone_paths(self):
        """an undo concerns the files that it changes"""
        rules = self.base / "rules.toml"
        rules.write_text('[[tools.approval.rule]]\ntool = "git_undo"\npath = "secrets"\ndecision = "deny"\n',
                         encoding="utf-8")
        self.commit("secrets/key", "x\n", "key")
        server = harness.Server(self, "--toolset", "everyday", "--config", str(rules))
        for name, denied in (("a.txt", False), ("secrets/key", True)):
            self.write(name, "changed\n")
            server.ok("git_restore", {"paths": [name]})
            result = server.call("git_undo")
            self.assertEqual(result.kind, DENIED if denied else None, (name, result))
            self.assertEqual((self.root / name).read_text("utf-8") == "changed\n", not denied, name)
        server.close()

    def test_more_than_named(self):
        """a call that concerns more than the paths it names, or than the files on disk, says so"""
        everyday = ("--toolset", "everyday")
        for name in ("secrets/key", "a.txt"):
            self.write(name, "x\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "both")
        self.git("checkout", "-q", "-b", "other")
        self.commit("a.txt", "theirs\n", "a")
        self.commit("secrets/key", "y\n", "key")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "ours\n", "a")
        self.write("secrets/key", "staged\n")
        self.git("add", "secrets/key")
        self.write("secrets/key", "x\n")
        self.write("a.txt", "changed\n")
        self.git("stash", "-q")
        self.rules({"path": "secrets", "decision": "deny"})
        self.assertEqual(self.call("git_stash", {"action": "pop"}, *everyday).kind, DENIED)
        self.assertEqual(self.staged(), [])
        result = self.call("git_log", {"paths": ["a.txt"], "follow": True, "patch": True},
                           *everyday)
        self.assertEqual(result.kind, DENIED, result)
        self.git("checkout", "-q", "other")
        self.git("rebase", "-q", "main", check=False)
        resolve = {"action": "resolve", "path": "a.txt", "take": "theirs"}
        result = self.call("git_conflicts", {**resolve, "continue": True}, *everyday)
        self.assertEqual(result.kind, DENIED, result)
        self.assertIsNone(self.call("git_conflicts", resolve, *everyday).kind)

    def test_removed(self):
        """a path that is gone is a file if the index says so, and any directory otherwise"""
        self.commit("keys/a.pem", "x\n", "key")
        self.commit("docs/a.txt", "x\n", "text")
        (self.root / "keys/a.pem").unlink()
        (self.root / "keys").rmdir()
        (self.root / "docs/a.txt").unlink()
        self.rules({"path": "*.pem", "decision": "deny"})
        self.decided("deny", 1, "git_add", {"paths": ["keys"]})
        self.decided("deny", 1, "git_add", {"paths": ["keys/a.pem"]})
        self.decided("ask", "default", "git_add", {"paths": ["docs/a.txt"]})
        self.decided("deny", 1, "git_log", {"path": "gone"})

    def test_branches(self):
        """branches are the ones named, and for a commit the one it would move"""
        self.write("a.txt", "two\n")
        self.git("add", "a.txt")
        lines = self.rules({"branch": "main", "decision": "deny"},
                           {"branch": "feature/*", "decision": "allow"})
        self.assertEqual(lines, [1, 4])
        self.decided("deny", 1, "git_commit", COMMIT)
        self.decided("allow", 2, "git_branch", {"create": "feature/x"})
        for arguments in ({"delete": "main"}, {"rename": "feature/x", "new_name": "main"},
                          {"rename": "main", "new_name": "feature/x"}, {"force_delete": "main"}):
            self.decided("deny", 1, "git_branch", arguments)
        self.decided("ask", "default", "git_branch", {"rename": "feature/x", "new_name": "other"})
        self.decided("allow", "default", "git_branch", {})
        self.ok("git_checkout", {"create_branch": "feature/x"}, approval="deny")
        self.decided("deny", 1, "git_checkout", {"branch": "main"})
        self.decided("ask", "default", "git_stash", {})
        self.ok("git_commit", COMMIT, approval="deny")
        self.assertEqual(self.last_record(), ("ok", "rule", "policy"))
        self.git("checkout", "-q", "--detach")
        self.write("a.txt", "three\n")
        self.git("add", "a.txt")
        self.assertEqual(self.decided("ask", "default", "git_commit", COMMIT)["branches"], ["HEAD"])

    def test_renamed(self):
        """everyday: the branch that is renamed without being named is the one that HEAD is on"""
        config = self.base / "everyday.toml"
        config.write_text('[[tools.approval.rule]]\nbranch = "main"\ndecision = "deny"\n', encoding="utf-8")
        options = ("--toolset", "everyday", "--config", str(config))
        rename = {"action": "rename", "new_name": "trunk"}
        self.assertEqual(self.call("git_branch", rename, *options).kind, "ApprovalDenied")
        self.assertEqual(self.out("symbolic-ref", "--short", "HEAD"), "main\n")
        self.git("checkout", "-q", "-b", "topic")
        self.assertIsNone(self.call("git_branch", rename, *options).kind)
        self.assertEqual(self.out("symbolic-ref", "--short", "HEAD"), "trunk\n")

    def test_branch_by_another_name(self):
        """a branch that is a symbolic reference counts with what it leads to"""
        self.git("symbolic-ref", "refs/heads/feature/x", "refs/heads/main")
        self.rules({"branch": "feature/*", "decision": "allow"})
        self.write("a.txt", "two\n")
        self.git("add", "a.txt")
        for head in ("ref: refs/heads/feature/x\n", "ref:refs/heads/feature/x"):
            self.write(".git/HEAD", head)
            found = self.decided("ask", "default", "git_commit", COMMIT)
            self.assertEqual(found["branches"], ["feature/x", "main"])
        self.write(".git/refs/heads/feature/y", self.out("rev-parse", "main"))
        self.write(".git/HEAD", "ref: refs/heads/feature/y\n")
        self.decided("allow", 1, "git_commit", COMMIT)

    def test_effects(self):
        """an effect objects alone, and permits only when it is all there is"""
        self.write("a.txt", "two\n")
        self.git("add", "a.txt")
        self.rules({"effect": "writes_index", "decision": "allow"})
        self.decided("allow", 1, "git_add", {"all": True})
        self.decided("ask", "default", "git_commit", COMMIT)
        self.rules({"effect": "discards_work", "decision": "deny"})
        self.decided("deny", 1, "git_restore", {"paths": ["a.txt"]})
        self.decided("deny", 1, "git_restore",
                     {"paths": ["a.txt"], "staged": True, "worktree": False})
        self.decided("ask", "default", "git_stash", {"action": "push"})

    def test_patterns(self):
        """a pattern concerns whatever it could match, however it is spelled"""
        for name in ("secrets/x", "src/a.py", "docs/a.md"):
            self.write(name, "1\n")
        self.git("add", "-A")
        self.git("commit", "-qm", "three")
        for name in ("secrets/x", "src/a.py", "docs/a.md"):
            self.write(name, "2\n")
        self.rules({"path": "secrets/*", "decision": "deny"},
                   {"path": "docs/*", "decision": "allow"})
        for word in ("secrets/x", "s*", "[s]ecrets/x", "?ecrets/x", "**/x", "*", "s\\ecrets/x",
                     "secrets/?", "secrets/*", "./s*", "*/x", "[r-t]*", "secret[s]"):
            for tool, arguments in (("git_add", {"paths": [word]}),
                                    ("git_restore", {"paths": [word]}),
                                    ("git_checkout", {"paths": [word]}),
                                    ("git_diff", {"paths": [word]})):
                with self.subTest(tool=tool, word=word):
                    self.assertEqual(self.call(tool, arguments).kind, DENIED)
            result = self.call("git_checkout", {"target": "HEAD", "paths": [word]},
                               "--toolset", "workflow")
            self.assertEqual(result.kind, DENIED, (word, result))
        self.assertEqual(self.staged(), [])
        self.assertEqual((self.root / "secrets/x").read_text(encoding="ascii"), "2\n")
        for word in ("docs/*.md", "docs/?.md", "docs/[a]*", "docs/**"):
            self.decided("allow", 2, "git_add", {"paths": [word]})
        for word in ("src/*", "src/[a].py"):
            self.decided("ask", "default", "git_add", {"paths": [word]})

    def test_literal_names(self):
        """a file that is called like a pattern is that file and nothing else"""
        self.write("secrets/x", "1\n")
        self.write("s*", "1\n")
        self.rules({"path": "secrets/*", "decision": "deny"})
        self.decided("ask", "default", "git_add", {"paths": ["s*"]})
        self.call("git_add", {"paths": ["s*"]}, "--approval", "allow")
        self.assertEqual(self.staged(), ["s*"])

    def test_branches_by_other_names(self):
        """what stands for a branch is that branch"""
        self.git("checkout", "-q", "--track", "-b", "topic", "main")
        self.rules({"tool": "git_checkout", "branch": "main", "decision": "deny"})
        for word in ("main", "@{-1}", "@{u}", "@{upstream}", "topic@{u}"):
            for more in ({}, {"force": True}, {"create": True}):
                if more.get("create") and "@" in word:
                    continue
                result = self.call("git_checkout", {"target": word, **more},
                                   "--toolset", "workflow")
                self.assertEqual(result.kind, DENIED, (word, more, result))
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/topic\n")
        for word in ("topic", "HEAD"):
            result = self.call("git_checkout", {"target": word}, "--toolset", "workflow")
            self.assertFalse(result.failed, result)
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/topic\n")

    def test_branches_of_any_length(self):
        """what stands for a branch is that branch, however long its name is"""
        for length in (127, 128, 129, 240):
            name = "n" * length
            self.git("branch", name)
            self.git("checkout", "-q", "--track", "-b", f"topic-{length}", name)
            self.rules({"tool": "git_checkout", "branch": name, "decision": "deny"})
            for word in (name, "@{-1}", "@{u}"):
                self.git("checkout", "-q", name)
                self.git("checkout", "-q", f"topic-{length}")
                result = self.call("git_checkout", {"target": word}, "--toolset", "workflow")
                self.assertEqual(result.kind, DENIED, (length, word, result))
            self.assertEqual(self.out("symbolic-ref", "HEAD"), f"refs/heads/topic-{length}\n")

    def test_configuration(self):
        """what is wrong with a rule is named with its line, and nothing starts"""
        for text, complaint in (
                ("[[tools.approval.rule]]\neffect = \"erases\"\ndecision = \"deny\"\n",
                 ":2: tools.approval.rule.effect: unknown effect 'erases' (valid: reads, "),
                ("[[tools.approval.rule]]\n", ":1: tools.approval.rule: has no 'decision'"),
                ("[[tools.approval.rule]]\ntool = \"git_ad\"\ndecision = \"deny\"\n",
                 ":1: tools.approval.rule: no tool is called 'git_ad', did you mean 'git_add'?"),
                ("[[tools.approval.rule]]\noperation = \"psuh\"\ndecision = \"deny\"\n",
                 ":1: tools.approval.rule: no operation is called 'psuh', did you mean 'push'?"),
                ("\n[[tools.approval.rule]]\ntool = \"git_l*\"\noperation = \"push\"\n"
                 "decision = \"deny\"\n",
                 ":2: tools.approval.rule: no operation of git_l* is called 'push'; see airlock "
                 "tools"),
                ("[grants.r]\ntools = [\"git_log\", \"git_lgo\"]\n",
                 ":2: grants.r.tools: no tool is called 'git_lgo', did you mean 'git_log'?"),
                ("[[tools.approval.rule]]\ndecision = \"no\"\n",
                 ":2: tools.approval.rule.decision: must be 'ask', 'allow' or 'deny'")):
            self.configure(text)
            for command in (("tools",), ("call", "git_status"), ("serve",),
                            ("policy", "explain", "git_status")):
                done = self.command(*command)
                self.assertEqual(done.returncode, 2, done)
                self.assertIn(f"{self.config}{complaint}", done.stderr)


    def test_not_served(self):
        """a rule and a grant may name what a toolset has that is not served now, and a pattern"""
        rules = "".join(f'[[tools.approval.rule]]\n{words}\ndecision = "deny"\n' for words in (
            'tool = "bash_command"\noperation = "run"', 'tool = "git_pus?"\noperation = "p*"',
            'operation = "switch"', 'tool = "Git"'))
        self.configure(rules + '[grants.r]\ntools = ["*_command", "git_status"]\n')
        self.assertIsNone(self.call("git_status", None, "--grant", "r", "--toolset", "git").kind)


class Explain(policy.Case):
    def test_text(self):
        """policy explain says decision, rule, line and message, and what was looked at"""
        self.write("docs/a.txt", "x\n")
        self.rules({"tool": "git_add", "path": "docs/*", "decision": "deny", "message": "Read it."})
        done = self.command("policy", "explain", "git_add", '{"paths": ["docs/a.txt"]}')
        self.assertEqual((done.returncode, done.stdout),
                         (0, "decision   deny\nrule       1 (line 1)\nmessage    Read it.\n"
                             "operation  git_add add\neffects    writes_index\n"
                             "paths      docs/a.txt\n"))
        done = self.command("policy", "explain", "git_add", '{"paths": ["a.txt"]}')
        self.assertTrue(done.stdout.startswith("decision   ask\nrule       default\n"), done)
        self.assertTrue(done.stdout.endswith("\nbecause    no rule matches, and the mode is ask\n"), done)
        found = self.explain("git_add", {"paths": ["docs/a.txt"]})
        self.assertEqual(found, {
            "decision": "deny", "rule": 1, "line": 1, "message": "Read it.", "asks": None,
            "tool": "git_add", "operation": "add", "effects": ["writes_index"], "branches": [],
            "paths": ["docs/a.txt"], "addresses": []})
        found = self.explain("git_status")
        self.assertEqual((found["decision"], found["rule"], found["line"], found["message"]),
                         ("allow", "default", None, None))

    def test_missing_paths(self):
        """policy explain shows a path that is not there as it was given, whatever it might be"""
        self.write("dir/a.txt", "x\n")
        self.rules({"path": "docs/a.md/x", "decision": "deny"})
        for given, shown in (("docs/a.md", "docs/a.md"), ("docs/a.md/", "docs/a.md/"),
                             ("dir", "dir/"), ("dir/a.txt", "dir/a.txt"), ("./none", "none")):
            found = self.explain("git_add", {"paths": [given]})
            self.assertEqual(found["paths"], [shown])
            self.assertEqual(found["decision"] == "deny", given.startswith("docs"), given)
            self.explain("git_add", {"paths": [given]}, "--toolset", "everyday")
        done = self.command("policy", "explain", "git_add", '{"paths": ["docs/a.md", "dir"]}')
        self.assertIn("\npaths      dir/, docs/a.md\n", done.stdout)

    def test_nothing_happens(self):
        """policy explain runs, asks and records nothing"""
        self.write("a.txt", "two\n")
        self.decided("allow", "default", "git_add", {"all": True}, "--approval", "allow")
        self.assertEqual(self.staged(), [])
        self.assertEqual(self.command("log", "--json").stdout, "")

    def test_what_is_known(self):
        """policy explain of a call that is not whole says what its operations would get"""
        self.rules({"tool": "git_push", "operation": "force", "decision": "deny"})
        done = self.command("policy", "explain", "--toolset", "everyday", "git_push")
        self.assertEqual(done.returncode, 1, done)
        self.assertIn("There is no remote 'origin'", done.stderr)
        self.assertRegex(done.stdout, r"decision   allow\nrule       default\n"
                                      r"operation  git_push push\neffects    .*leaves_machine\n"
                                      r"but        asks for the first push")
        self.assertRegex(done.stdout, r"decision   deny\nrule       1 \(line [0-9]+\)\n"
                                      r"operation  git_push force\n")
        self.configure("")
        found = self.explain("git_undo", {}, "--toolset", "everyday")
        self.assertEqual(found["paths"], [""], "it may be every path, with rules or without")
        done = self.command("policy", "explain", "--toolset", "everyday", "git_commit")
        self.assertIn("BadArgs: message is required", done.stderr)
        self.assertIn("operation  git_commit amend\n", done.stdout)

    def test_exit_codes(self):
        """policy explain: 1 for what the call would fail with, 2 for what cannot be understood"""
        for code, words in ((1, ["git_add", "{}"]), (1, ["git_log", '{"nope": 1}']),
                            (1, ["git_add", '{"paths": ["/etc/passwd"]}']),
                            (1, ["git_status", '{"working_dir": "/"}']),
                            (2, ["nope"]), (2, ["git_log", "{"]), (2, []),
                            (2, ["git_log", "{}", "x"]), (2, ["--nope", "git_log"]),
                            (2, ["--grant", "nope", "git_log"]), (0, ["--help"])):
            done = self.command("policy", "explain", *words)
            self.assertEqual(done.returncode, code, (words, done))
        for words in ((), ("git_log",), ("explains", "git_log"), ("--json", "git_log")):
            self.assertEqual(self.command("policy", *words).returncode, 2, words)
        done = self.command("policy", "explain", "git_add", "{}")
        self.assertTrue(done.stderr.startswith("BadArgs: "), done)


if __name__ == "__main__":
    harness.main()
