#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A worker file chooses the toolsets of a session, and it only narrows everything else."""
import json

import harness
import policy


class Workers(policy.Case):
    """A worker file beside the repository."""

    def worker(self, settings, name="w.md"):
        """Write a worker file; gives the options that use it."""
        path = self.write(name, f"---\nname: report-writer\n{settings}\n---\n# Text\n", self.base)
        return "--worker", str(path)

    def names(self, *options):
        """The tools that are offered, with their toolsets."""
        done = self.command("tools", "--json", *options)
        self.assertEqual(done.returncode, 0, done)
        return [(tool["toolset"], tool["name"]) for tool in json.loads(done.stdout)]

    def wrong(self, message, *words, cwd=None):
        """A command that must end with exit code 2, saying this."""
        done = self.command(*words, cwd=cwd)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (2, "", message), done)

    def test_toolsets(self):
        """the worker file chooses the toolsets, in its order; --toolset takes precedence"""
        options = self.worker("toolsets:\n  filesystem: {}\n  git: {}\n  readonly:")
        chosen = [toolset for toolset, _ in self.names(*options)]
        self.assertEqual(sorted(set(chosen), key=chosen.index), ["files", "staging", "readonly"])
        self.assertEqual({"git"}, {toolset for toolset, _ in self.names(
            *options, "--toolset", "git")})
        self.assertEqual(self.names(*self.worker("description: none")), self.names())

    def test_configured(self):
        """serve.worker is relative to the configuration file, and --worker takes precedence"""
        self.worker("toolsets: {readonly: {}}", "home/.config/airlock/own.md")
        self.configure('[serve]\nworker = "own.md"\n')
        self.assertEqual(self.names(), [("readonly", "Git")])
        self.assertIn(("shell", "bash_command"),
                      self.names(*self.worker("toolsets: {shell: {}}")))
        self.configure('[serve]\nworker = "none.md"\n')
        self.wrong(f"airlock: {self.config.parent}/none.md: cannot read: No such file or "
                   "directory\n", "serve")

    def test_wrong(self):
        """a wrong worker file ends every command with file, line and key"""
        option, path = self.worker("toolsets:\n  databse: {}")
        message = (f"airlock: {path}:4: toolsets.databse: Unknown toolset \"databse\" in worker "
                   "\"report-writer\". Valid toolsets: git, workflow, readonly, shell, files, "
                   "staging, everyday, parallel\n")
        for words in (("serve",), ("tools",), ("call", "git_status"),
                      ("policy", "explain", "git_status")):
            self.wrong(message, words[0], *words[1:], option, path)
        self.assertIn("Unknown toolset", self.command("doctor", option, path).stdout)
        self.worker("toolsets:\n  readonly: {path: x}")
        self.wrong(f"airlock: {path}:4: toolsets.readonly.path: unknown key; the toolset readonly "
                   "has no settings\n", "serve", option, path)
        self.worker("policy:\n  - decision: allow")
        self.wrong(f"airlock: {path}:4: policy[0].decision: must be 'ask' or 'deny': a worker file "
                   "only narrows\n", "serve", option, path)
        self.worker("policy:\n  - {tool: git_psh, decision: deny}")
        self.wrong(f"airlock: {path}:4: policy: no tool is called 'git_psh', did you mean "
                   "'git_push'?\n", "serve", option, path)
        self.worker("grants: {tools: [nope]}")
        self.wrong(f"airlock: {path}: grants.tools: no tool is called 'nope'; see airlock tools\n",
                   "serve", option, path)

    def test_place(self):
        """a worker file that an agent could change is refused"""
        inside = self.write("w.md", "---\nname: w\n---\n")
        link = self.base / "link.md"
        link.symlink_to(inside)
        outside = self.write("out.md", "---\nname: w\n---\n", self.base)
        (self.root / "outward.md").symlink_to(outside)
        for path in (inside, link, self.root / "outward.md", "w.md", "../root/w.md"):
            done = self.command("call", "--worker", str(path), "git_status")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(f"the worker file lies in the root '{self.root}'", done.stderr)
            done = self.command("serve", "--worker", str(path))
            self.assertEqual((done.returncode, done.stdout), (2, ""), done)
        self.assertFalse(self.call("git_status", None, "--worker", str(outside)).failed)
        self.assertFalse(self.call("git_status", None, "--worker", "../out.md").failed)

    def test_doctor(self):
        """doctor names the worker, and says what is wrong with its place"""
        option, path = self.worker("roots: ['.']")
        found = self.findings(option, path)
        self.assertEqual((found["worker"]["level"], found["worker"]["state"]),
                         ("ok", f"report-writer ({path})"))
        self.assertEqual(found["roots"]["state"], str(self.root))
        self.assertNotIn("worker", self.findings())
        inside = self.write("w.md", "---\nname: w\n---\n")
        found = self.findings("--worker", str(inside))
        self.assertEqual(found["worker"]["level"], "missing")
        self.assertIn("lies in the root", found["worker"]["state"])
        self.assertIn("~/.config/airlock", found["worker"]["fix"])

    def test_doctor_of_a_wrong_file(self):
        """doctor names a wrong worker file as such, and the configuration as fine"""
        wrong = self.worker("toolsets:\n  databse: {}")
        for option, path in (wrong, ("--worker", str(self.base / "none.md"))):
            found = self.findings(option, path)
            self.assertEqual(found["configuration"]["level"], "ok")
            self.assertEqual((found["worker"]["level"], found["worker"]["fix"]), (
                "missing", "Correct the worker file, or choose another with --worker."))
            self.assertTrue(found["worker"]["state"].startswith(f"{path}:"), found)
        self.configure("[serve]\nnope = 1\n")
        self.assertEqual(self.findings(*wrong)["configuration"]["level"], "missing")

    def findings(self, *options):
        """What doctor says, by check."""
        done = self.command("doctor", "--json", *options)
        return {entry["check"]: entry for entry in json.loads(done.stdout)}

    def test_roots(self):
        """roots of a worker file lie in the session's, and are then all there is"""
        other = self.base / "root/other"
        self.init(other)
        self.init(self.base / "beside")
        options = self.worker("roots: [other]")
        self.assertEqual(self.ok("git_status", None, *options).failed, False)
        refused = self.call("git_status", {"working_dir": str(self.root)}, *options)
        self.assertEqual(refused.kind, "SandboxViolation")
        for root in ("..", "../beside", str(self.base), "/"):
            option, path = self.worker(f"roots: ['{root}']")
            done = self.command("call", option, path, "git_status")
            self.assertEqual(done.returncode, 2, done)
            self.assertIn(f"{path}:3: roots[0]: ", done.stderr)
        option, path = self.worker("roots: [other, ../beside]")
        self.wrong(f"airlock: {path}:3: roots[1]: '../beside' is in no root; a worker file only "
                   "narrows the roots\n", "call", option, path, "git_status")

    def test_linked_worktree(self):
        """a narrowed root may be a linked worktree, whose git directory is no place for the file"""
        linked = self.root / "sub/linked"
        self.git("worktree", "add", "-q", str(linked))
        options = self.worker("roots: [sub/linked]")
        result = self.ok("git_status", {"working_dir": str(linked)}, *options)
        self.assertIn("linked", result.text)
        self.assertEqual(self.call("git_status", {"working_dir": str(self.root)}, *options).kind,
                         "SandboxViolation")
        inside = self.write("w.md", "---\nname: w\n---\n", self.root / ".git/worktrees/linked")
        done = self.command("call", "--root", str(linked), "--worker", str(inside), "git_status",
                            cwd=linked)
        self.assertEqual(done.returncode, 2, done)
        self.assertIn("the worker file lies in the root", done.stderr)

    def test_grants(self):
        """a call needs the grant of the session and that of the worker file"""
        self.configure('[grants.log]\ntools = ["git_log", "git_add"]\n')
        options = self.worker("grants:\n  tools: ['git_l*', git_status]\n  fs:\n"
                              f"    {self.root}: r")
        self.assertIsNone(self.call("git_status", None, *options).kind)
        self.refused("NotGranted", "The grant 'worker report-writer' does not include the tool "
                     "'git_add'. Nothing was done", "git_add", {"all": True}, *options)
        self.assertIsNone(self.call("git_log", None, *options, "--grant", "log").kind)
        self.refused("NotGranted", "The grant 'log' does not include the tool 'git_status'. "
                     "Nothing was done", "git_status", None, *options, "--grant", "log")
        options = self.worker(f"grants: {{fs: {{'{self.root}': r}}}}")
        self.write("a.txt", "two\n")
        self.assertEqual(self.call("git_add", {"all": True}, *options).kind, "NotGranted")

    def test_rules(self):
        """rules of a worker file tighten what the configuration and the mode say"""
        self.write("a.txt", "two\n")
        options = self.worker("policy:\n  - tool: git_add\n    decision: deny\n"
                              "    message: Not here.\n  - {tool: git_log, decision: ask}")
        self.refused(policy.DENIED, "Not here.", "git_add", {"all": True}, *options)
        self.assertEqual(self.call("git_log", None, *options).kind, "ApprovalRequired")
        self.assertIn("as rule 2 of the worker file (line 7) says",
                      self.call("git_log", None, *options).text)
        self.rules({"tool": "git_add", "decision": "deny"}, {"tool": "git_log",
                                                             "decision": "allow"})
        self.decided("deny", 1, "git_add", {"all": True}, *self.worker(
            "policy:\n  - {tool: git_add, decision: ask}"))
        found = self.decided("ask", 1, "git_log", None, *self.worker(
            "policy:\n  - {tool: git_log, decision: ask}"))
        self.assertEqual((found["from"], found["line"]), ("worker", 4))
        self.assertEqual(self.staged(), [])


if __name__ == "__main__":
    harness.main()
