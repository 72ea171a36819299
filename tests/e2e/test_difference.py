#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`airlock diff`: the patch of each execution, wherever it is of: files, index, commits."""
import harness
import rollback
import test_audit_log


class Difference(rollback.Rollback):
    def parts(self, *words):
        """What is shown: a list of executions, each as (heading, changes, {places: patch})."""
        done = self.command("diff", *words)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done)
        found = []
        for text in done.stdout.split("\n\n"):
            heading, *rest = text.splitlines(keepends=True)
            changes = [line.strip() for line in rest if line.startswith(" ")
                       and not any(other.startswith("In ") for other in rest[:rest.index(line)])]
            patches = {}
            for line in rest[len(changes):]:
                if line.startswith("In "):
                    place = line[3:].rstrip(":\n")
                    patches[place] = ""
                else:
                    patches[place] += line
            found.append((heading.strip(), changes, patches))
        return found

    def test_each(self):
        """git_add, git_commit, git_restore, git_checkout: a heading and a patch each"""
        self.write("a.txt", "two\n")
        self.write("b.txt", "b\n")
        staged = self.out("diff", "HEAD", "--", "a.txt").rstrip("\n")
        self.ok("git_add", {"paths": ["a.txt"]})
        self.ok("git_status")
        self.ok("git_commit", {"type": "fix", "message": "x"})
        self.write("a.txt", "three\n")
        lost = self.out("diff", "-R", "--src-prefix=b/", "--dst-prefix=a/").rstrip("\n")
        self.ok("git_restore", {"paths": ["a.txt"]})
        add, commit, restore = self.parts("3")
        self.assertEqual(add[0], "1 git_add: Stage 1 file(s): a.txt")
        self.assertEqual({name: text.rstrip("\n") for name, text in add[2].items()},
                         {"the index": staged})
        self.assertTrue(commit[0].startswith("3 git_commit: "), commit)
        self.assertEqual([line.split(":")[0] for line in commit[1]], ["refs/heads/main"])
        self.assertEqual({name: text.rstrip("\n") for name, text in commit[2].items()},
                         {"the commits of HEAD": staged})
        self.assertEqual(restore[1], [])
        self.assertEqual({name: text.rstrip("\n") for name, text in restore[2].items()},
                         {"the working tree": lost})
        self.assertEqual(self.parts("1"), [restore])
        self.assertEqual(self.parts(), [restore])

    def test_push(self):
        """a push is no step: beside one it is not shown, by its number it is"""
        bare = self.root / "bare.git"
        (self.root / ".git/info/exclude").write_text("bare.git\n")
        self.git("clone", "-q", "--bare", ".", str(bare))
        self.git("remote", "add", "origin", str(bare))
        self.write("a.txt", "two\n")
        self.ok("git_commit", {"all": True, "message": "two"}, "--toolset", "everyday")
        self.ok("git_push", {}, "--toolset", "everyday")
        commit, = self.parts()
        self.assertEqual(commit[0], "1 git_commit: Commit with every change: two")
        push, = self.parts("--execution", "2")
        self.assertTrue(push[0].startswith("2 git_push: "), push)

    def test_once(self):
        """one patch for all the places that it is of"""
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "side\n", "side")
        self.git("checkout", "-q", "main")
        patch = self.out("diff", "main", "side")
        self.ok("git_merge", {"branch": "side"})
        [(_, _, patches)] = self.parts()
        self.assertEqual(patches, {"the working tree, the index, the commits of HEAD": patch})
        [(_, _, patches)] = self.parts("--stat")
        self.assertIn("a.txt | 2 +-", patches["the working tree, the index, the commits of HEAD"])

    def test_first(self):
        """the first commit there is, and the first thing staged"""
        other = self.base / "empty"
        other.mkdir()
        self.git("init", "-q", cwd=other)
        self.write("new.txt", "new\n", other)
        self.root = other
        self.ok("git_add", {"all": True})
        self.ok("git_commit", {"type": "feat", "message": "first"})
        add, commit = self.parts("2")
        self.assertIn("+new", add[2]["the index"])
        self.assertIn("+new", commit[2]["the commits of HEAD"])

    def test_conflict(self):
        """an index in a conflict is no tree: it is named, and the files have their patch"""
        self.git("checkout", "-q", "-b", "side")
        self.commit("a.txt", "side\n", "side")
        self.git("checkout", "-q", "main")
        self.commit("a.txt", "main\n", "main")
        self.call("git_merge", {"branch": "side"})
        [(_, changes, patches)] = self.parts()
        self.assertIn("the index (what is staged)", changes)
        self.assertEqual(list(patches), ["the working tree"])
        self.assertIn("+<<<<<<< ", patches["the working tree"])

    def test_gone(self):
        """commits that are nowhere any more are named, and nothing fails"""
        self.write("a.txt", "two\n")
        self.ok("git_add", {"all": True})
        self.ok("git_commit", {"type": "fix", "message": "x"})
        self.git("reset", "-q", "--hard", "HEAD~")
        self.git("reflog", "expire", "--expire=now", "--all")
        self.git("gc", "-q", "--prune=now")
        self.assertEqual(self.command("diff").returncode, 0)

    def test_others(self):
        """what another user did between two executions is in neither"""
        self.ok("git_branch", {"create": "one"})
        self.commit("b.txt", "mine\n", "mine")
        self.ok("git_branch", {"create": "two"})
        self.assertNotIn("mine", self.command("diff", "2").stdout)

    def test_nothing_stays(self):
        """what is made to look is not left in the store or the repository"""
        self.write("a.txt", "two\n")
        self.ok("git_add", {"all": True})
        before = self.snapshot()
        self.parts()
        self.assert_same(before)
        self.assertEqual(list((self.home / ".local/state/airlock").glob("*/checkpoints.git/*.index")),
                         [])

    def test_hostile(self):
        """attributes and drivers of the repository run nothing and hide nothing"""
        canary = self.base / "canary"
        self.git("config", "diff.x.command", f"touch {canary}")
        self.git("config", "diff.x.textconv", f"touch {canary}; cat")
        self.write(".gitattributes", "*.txt diff=x\n")
        self.write("a.txt", "two\n")
        self.git("diff")
        self.assertTrue(canary.exists())
        canary.unlink()
        self.ok("git_add", {"all": True})
        self.ok("git_commit", {"type": "fix", "message": "x"})
        for _, _, patches in self.parts("2"):
            self.assertIn("+two", "".join(patches.values()))
        self.assertFalse(canary.exists())

    def test_full(self):
        """what cannot be written is an error"""
        self.ok("git_branch", {"create": "one"})
        for words in (["diff"], ["log", "--verify"], ["tools"], ["tools", "--json"], ["--help"],
                      ["call", "git_status"], ["policy", "explain", "git_status"],
                      ["rollback", "--dry-run"]):
            with open("/dev/full", "w", encoding="utf-8") as full:
                done = harness.subprocess.run([harness.AIRLOCK, *words], cwd=self.root,
                                              env=self.env, stdout=full, check=False,
                                              stdin=harness.subprocess.DEVNULL,
                                              stderr=harness.subprocess.PIPE,
                                              timeout=harness.WATCHDOG_SECONDS)
            self.assertEqual((done.returncode, done.stderr),
                             (1, b"airlock: cannot write: No space left on device\n"), words)

    def test_pager(self):
        """on a terminal it is paged"""
        self.ok("git_branch", {"create": "one"})
        shown = test_audit_log.Table.terminal(self, 80, env={"PAGER": "sed s/^/paged:/"},
                                              command="diff")
        self.assertIn("paged:1 git_branch", shown)


if __name__ == "__main__":
    harness.main()
