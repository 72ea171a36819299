# SPDX-License-Identifier: Apache-2.0
"""git_compare, and a day of four agents whose branches land one after the other."""
import harness
import parallel


class Compare(parallel.Parallel):
    def compare(self, **arguments):
        """A comparison, which touches nothing."""
        before = self.everything()
        text = self.ok("git_compare", arguments, *parallel.TOOLSET).text
        self.assertEqual(self.everything(), before)
        return text

    def test_pairs(self):
        """what each branch changed, which of them conflict and where, and an order"""
        self.branch("one", b__txt="b\n")
        self.branch("two", lines__txt="two\n", c__txt="c\n")
        self.branch("three", lines__txt="three\n")
        self.commit("m.txt", "m\n", "main moves")
        base, main = self.rev("main~1")[:8], self.rev("main")[:8]
        text = self.compare()
        self.assertTrue(text.startswith(f"3 branches to land in main at {main}\n"), text)
        self.assertIn(f"two at {self.rev('two')[:8]}: 2 ahead, 1 behind, base {base}, 2 files: "
                      "c.txt, lines.txt\n", text)
        self.assertIn("Conflicts:\n  three and two: lines.txt\n", text)
        self.assertIn("Suggested order: one, three, two", text)

    def test_chosen(self):
        """branches that are named, into another one; unrelated histories; one that has the other"""
        self.branch("one", lines__txt="one\n")
        self.branch("two", b__txt="b\n")
        self.git("branch", "later", "one")
        self.git("checkout", "-q", "--orphan", "orphan")
        self.commit("o.txt", "o\n", "orphan")
        self.git("checkout", "-q", "main")
        self.commit("lines.txt", "main\n", "main moves")
        text = self.compare(branches=["one", "later", "orphan"], into="main")
        self.assertIn("  one and main: lines.txt\n", text)
        self.assertNotIn("one and later", text)
        self.assertIn("orphan at ", text)
        self.assertIn("unrelated histor", text)
        self.assertNotIn("two", text)
        self.assertIn("No conflicts.", self.compare(branches=["two"]))
        self.assertIn("2 branches to land in one", self.compare(into="one",
                                                                 branches=["two", "main"]))

    def test_none(self):
        """nothing to compare, and branches without a worktree"""
        self.assertIn("0 branches to land in main", self.compare())
        self.git("branch", "side", "main~1")
        self.assertIn("0 branches to land in main", self.compare())
        self.git("checkout", "-q", "side")
        self.commit("s.txt", "s\n", "side")
        self.git("checkout", "-q", "main")
        self.assertIn("1 branch to land in main", self.compare())

    def test_many(self):
        """at most 16 branches; what is left out is said"""
        for n in range(18):
            self.git("branch", f"b{n:02}", self.out("commit-tree", "-p", "main", "-m", f"{n}",
                                                     "main^{tree}").strip())
        text = self.compare()
        self.assertIn("16 branches to land in main", text)
        self.assertIn("2 more are left out", text)
        names = [f"b{n:02}" for n in range(17)]
        self.assertEqual(self.call("git_compare", {"branches": names}, *parallel.TOOLSET).kind,
                         "BadArgs")
        self.assertFalse(self.call("git_compare", {"branches": names[:16]},
                                   *parallel.TOOLSET).failed)

    def test_bad(self):
        """names of what is no branch, twice the same, and the one to land in"""
        self.git("branch", "side")
        for arguments in ({"branches": ["side", "side"]}, {"branches": ["main"], "into": "main"},
                          {"branches": ["refs/heads/side"]}, {"branches": ["-x"]},
                          {"into": "side~0"}, {"branches": [""]}):
            result = self.call("git_compare", arguments, *parallel.TOOLSET)
            self.assertEqual(result.kind, "BadArgs", (arguments, result))
        result = self.call("git_compare", {"branches": ["no"]}, *parallel.TOOLSET)
        self.assertIn("There is no branch 'no'", result.text)

    def test_odd_names(self):
        """names of files with control characters are shown, and break no line"""
        self.branch("one", **{"x\ny\x1b[31m__txt": "1\n"})
        self.branch("two", **{"x\ny\x1b[31m__txt": "2\n"})
        text = self.compare()
        self.assertIn("one and two: x<U+000A>y<U+001B>[31m.txt\n", text)
        self.assertIn("  x<U+000A>y<U+001B>[31m.txt (contents)\n",
                      self.land(branch="one", into="two").text)

    def test_four_agents(self):
        """four branches are compared and land one after the other, one of them with a conflict"""
        trees = {name: self.branch(name, **files) for name, files in {
            "api": {"api__txt": "api\n", "lines__txt": "1\n2\n3\n4\n5\n6\n7\n8\nnine\n"},
            "docs": {"docs__txt": "docs\n"},
            "fix": {"lines__txt": "one\n2\n3\n4\n5\n6\n7\n8\n9\n"},
            "clash": {"lines__txt": "ONE\n2\n3\n4\n5\n6\n7\n8\n9\n", "clash__txt": "c\n"},
        }.items()}
        self.write("a.txt", "being edited\n")
        text = self.compare()
        self.assertIn("Conflicts:\n  clash and fix: lines.txt\n", text)
        order = text.rsplit("Suggested order: ", 1)[1].strip().split(", ")
        self.assertEqual(sorted(order), sorted(trees))
        self.assertEqual(order[:2], ["docs", "api"])
        for name in ("docs", "api", "fix"):
            self.landed(branch=name)
        result = self.land(branch="clash")
        self.assertIn("conflict in 1 file\n  lines.txt (contents)\n", result.text)
        where = trees["clash"]
        self.git("merge", "-q", "main", cwd=where, check=False)
        self.write("lines.txt", "ONE\n2\n3\n4\n5\n6\n7\n8\nnine\n", where)
        self.git("commit", "-q", "-am", "resolve", cwd=where)
        self.assertIn("No conflicts.", self.compare())
        self.landed(branch="clash")
        self.assertEqual((self.root / "lines.txt").read_text(), "ONE\n2\n3\n4\n5\n6\n7\n8\nnine\n")
        self.assertEqual(self.out("status", "--porcelain"), " M a.txt\n")
        self.assertEqual(self.out("rev-list", "--first-parent", "--count", "main"), "6\n")
        self.git("fsck", "--strict", "--no-dangling")
        self.rollback("4")
        self.assertEqual(self.out("status", "--porcelain"), " M a.txt\n")
        self.assertFalse((self.root / "docs.txt").exists())


if __name__ == "__main__":
    harness.main()
