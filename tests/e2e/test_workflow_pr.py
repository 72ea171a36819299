#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""workflow: git_generate_pr."""
import os

import harness
import workflow


class GeneratePr(workflow.Case):
    def feature(self, branch="feature/add-user_authentication"):
        """The branch of the requirements' example; gives its commits' abbreviated ids."""
        self.init()
        self.git("checkout", "-q", "-b", branch)
        ids = [self.commit("src/auth/login.ts", "in\n", "feat: add login endpoint"),
               self.commit("src/auth/logout.ts", "out\n", "feat: add logout endpoint")]
        return [oid[:7] for oid in ids]

    def body_of(self, first, second):
        """The layout of the requirements."""
        return (f"## Changes\n\n- {first} feat: add login endpoint\n"
                f"- {second} feat: add logout endpoint\n\n"
                "## Files Changed\n\n- src/auth/login.ts\n- src/auth/logout.ts")

    def test_example(self):
        """R4-15 git_generate_pr: the example of the requirements, through MCP"""
        ids = self.feature()
        self.assertEqual(workflow.Server(self).gives("git_generate_pr", {"target": "main"}), {
            "title": "Add user authentication", "body": self.body_of(*ids), "commits": 2,
            "filesChanged": ["src/auth/login.ts", "src/auth/logout.ts"]})

    def test_default_target(self):
        """git_generate_pr: without a target it is main, else what origin has as its default"""
        ids = self.feature()
        self.assertEqual(self.gives("git_generate_pr")["body"], self.body_of(*ids))
        self.git("update-ref", "refs/remotes/origin/trunk", "main")
        self.git("symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/trunk")
        self.git("branch", "-q", "-D", "main")
        self.assertEqual(self.gives("git_generate_pr")["body"], self.body_of(*ids))
        self.git("update-ref", "-d", "refs/remotes/origin/HEAD")
        self.fails(7033, "git_generate_pr")

    def test_targets(self):
        """git_generate_pr: a target may be a remote's branch, by either name; unknown ones are 7033"""
        ids = self.feature()
        self.git("update-ref", "refs/remotes/origin/next", "main")
        for target in ("next", "origin/next", "main", "HEAD~2"):
            self.assertEqual(self.gives("git_generate_pr", {"target": target})["body"],
                             self.body_of(*ids))
        for target in ("no-such", "origin/no-such"):
            self.fails(7033, "git_generate_pr", {"target": target})
        for target in ("", "-x", "--all", "main..HEAD"):
            self.assertEqual(self.call("git_generate_pr", {"target": target}).kind, "BadArgs")

    def test_merge_base(self):
        """git_generate_pr: what the target did meanwhile is not part of it"""
        ids = self.feature()
        self.git("checkout", "-q", "main")
        self.commit("other.txt", "x\n", "fix: elsewhere")
        self.git("checkout", "-q", "-")
        self.assertEqual(self.gives("git_generate_pr")["body"], self.body_of(*ids))

    def test_titles(self):
        """git_generate_pr: one commit is its own title, several are called as the branch"""
        self.init()
        self.git("checkout", "-q", "-b", "fix/the-thing")
        self.assertEqual(self.gives("git_generate_pr"), {
            "title": "The thing", "commits": 0, "filesChanged": [],
            "body": "## Changes\n\nNo commits.\n\n## Files Changed\n\nNo files."})
        self.commit("b.txt", "b\n", "fix(core): one thing")
        self.assertEqual(self.gives("git_generate_pr")["title"], "fix(core): one thing")
        self.commit("c.txt", "c\n", "fix: another")
        self.assertEqual(self.gives("git_generate_pr")["title"], "The thing")
        self.git("checkout", "-q", "--detach")
        self.assertEqual(self.gives("git_generate_pr")["title"], "fix(core): one thing")

    def test_renames(self):
        """git_generate_pr: files have the names they have now, raw"""
        self.feature()
        self.git("mv", "src/auth/login.ts", "src/auth/n\u00e9w\n.ts")
        self.git("commit", "-q", "-m", "refactor: name")
        value = self.gives("git_generate_pr")
        self.assertEqual(value["filesChanged"], ["src/auth/logout.ts", "src/auth/n\u00e9w\n.ts"])
        self.assertTrue(value["body"].endswith("- src/auth/n\u00e9w<U+000A>.ts"))

    def test_template(self):
        """git_generate_pr: a template's lines stay, its placeholders are replaced once"""
        first, second = self.feature("topic/x-{files}")
        commits = f"- {first} feat: add login endpoint\n- {second} feat: add logout endpoint"
        files = "- src/auth/login.ts\n- src/auth/logout.ts"
        value = self.gives("git_generate_pr", {"template": (
            "# {title} {unknown} {\n  {{commits}}\n{files}{files}\n\t{branch} -> {target}\r\n")})
        self.assertEqual(value["body"], (
            f"# X {{files}} {{unknown}} {{\n  {{{commits}}}\n{files}{files}\n"
            "\ttopic/x-{files} -> main\r\n"))
        self.assertEqual(self.gives("git_generate_pr", {"template": "Why:\n"})["body"],
                         "Why:\n\n" + self.body_of(first, second))
        self.assertEqual(self.gives("git_generate_pr", {"template": "Why"})["body"],
                         "Why\n\n" + self.body_of(first, second))

    def test_own_template(self):
        """git_generate_pr: the repository's template is used where it usually lies"""
        ids = self.feature()
        for place in ("docs/pull_request_template.md", "PULL_REQUEST_TEMPLATE.md",
                      ".github/PULL_REQUEST_TEMPLATE.md"):
            self.write(place, f"From {place}\n\n- [ ] tested\n")
            self.assertEqual(self.gives("git_generate_pr")["body"],
                             f"From {place}\n\n- [ ] tested\n\n" + self.body_of(*ids))
        self.assertEqual(self.gives("git_generate_pr", {"template": "{files}"})["body"],
                         "- src/auth/login.ts\n- src/auth/logout.ts")

    def test_hostile_template(self):
        """git_generate_pr: a template that is a link, a pipe, too large or no text is not used"""
        ids = self.feature()
        place = self.root / "PULL_REQUEST_TEMPLATE.md"
        secret = self.write("secret", "a secret\n", self.base)
        for target in (secret, "inside.md"):
            self.write("inside.md", "inside\n")
            place.symlink_to(target)
            self.assertEqual(self.gives("git_generate_pr")["body"], self.body_of(*ids))
            place.unlink()
        os.mkfifo(place)
        self.assertEqual(self.gives("git_generate_pr")["body"], self.body_of(*ids))
        place.unlink()
        (self.root / ".github").symlink_to(self.base)
        self.write("PULL_REQUEST_TEMPLATE.md", "a secret\n", self.base)
        self.assertEqual(self.gives("git_generate_pr")["body"], self.body_of(*ids))
        (self.root / ".github").unlink()
        for content in (b"\0", b"\xff", b"x" * (64 * 1024 + 1), b""):
            place.write_bytes(content)
            self.assertEqual(self.gives("git_generate_pr")["body"], self.body_of(*ids))
        place.write_bytes(b"x" * (64 * 1024))
        self.assertTrue(self.gives("git_generate_pr")["body"].startswith("xxx"))

    def test_capped(self):
        """git_generate_pr: what does not fit is counted, and the result says so"""
        self.init()
        self.git("checkout", "-q", "-b", "topic")
        for i in range(40):
            self.write(f"dir/{i:02}", "x\n")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "feat: many")
        config = self.write("config.toml", "[tools.git]\nmax_bytes = 300\n", self.base)
        result = self.ok("git_generate_pr", {}, "--config", str(config))
        value = result.value["structuredContent"]
        self.assertTrue(result.meta["truncated"])
        self.assertEqual(value["commits"], 1)
        shown = len(value["filesChanged"])
        self.assertTrue(0 < shown < 40)
        self.assertTrue(value["body"].endswith(f"\n- and {40 - shown} more"))

    def test_reads(self):
        """git_generate_pr: asks nobody and changes nothing"""
        self.feature()
        before = self.state()
        self.assertFalse(self.call("git_generate_pr", approval="ask").failed)
        self.assertEqual(self.state(), before)

    def test_cwd(self):
        """git_generate_pr: cwd says which repository"""
        self.feature()
        self.init(self.root / "other")
        self.assertEqual(self.gives("git_generate_pr", {"cwd": "other"})["commits"], 0)
        self.assertEqual(self.gives("git_generate_pr", {"cwd": "src"})["commits"], 2)


if __name__ == "__main__":
    harness.main()
