# SPDX-License-Identifier: Apache-2.0
"""Of two arguments one wins, as the requirements say; the result says which was ignored."""
import harness
import workflow

LINE = "airlock: ignored: "


class Git(harness.Case):
    def setUp(self):
        super().setUp()
        self.init()
        self.commit("b.txt", "b\n", "second")
        self.git("branch", "side")

    def says(self, words, tool, arguments):
        """The last line of a call that works."""
        text = self.ok(tool, arguments).text
        self.assertTrue(text.endswith("\n\n[stderr]\n" + LINE + words), text)

    def test_checkout(self):
        """git_checkout {branch, paths} switches, and the paths are named"""
        self.write("a.txt", "mine\n")
        self.says("paths, since branch is given", "git_checkout",
                  {"branch": "side", "paths": ["a.txt"]})
        self.assertEqual((self.root / "a.txt").read_text(), "mine\n")
        self.says("commit, paths, since branch is given", "git_checkout",
                  {"branch": "main", "commit": "HEAD~1", "paths": ["a.txt"]})
        self.says("branch, commit, since create_branch is given", "git_checkout",
                  {"create_branch": "new", "branch": "main", "commit": "HEAD"})
        self.says("paths, since commit is given", "git_checkout",
                  {"commit": "HEAD", "paths": ["a.txt"]})

    def test_add(self):
        """git_add all and update with paths"""
        self.says("paths, since all is given", "git_add", {"all": True, "paths": ["a.txt"]})
        self.says("paths, since update is given", "git_add", {"update": True, "paths": ["a.txt"]})

    def test_reads(self):
        """git_diff, git_log and git_show"""
        self.write("a.txt", "two\n")
        self.says("stat, since name_only is given", "git_diff", {"name_only": True, "stat": True})
        self.says("oneline, since format is given", "git_log", {"oneline": True, "format": "%s"})
        self.says("stat, since name_only is given", "git_show", {"name_only": True, "stat": True})
        result = self.ok("git_diff", {"from_ref": "HEAD~1", "to_ref": "HEAD", "stat": True,
                                      "name_only": True, "output_dir": "out"})
        self.assertEqual(result.notes, LINE + "name_only, stat, since output_dir is given")

    def test_branch_and_stash(self):
        """git_branch and git_stash"""
        self.says("list_all, create, since delete is given", "git_branch",
                  {"delete": "side", "create": "x", "list_all": True})
        self.says("delete, force_delete, since rename is given", "git_branch",
                  {"rename": "main", "new_name": "trunk", "force_delete": "x", "delete": "y"})
        self.says("message, index, include_untracked, since action is list", "git_stash",
                  {"action": "list", "message": "m", "include_untracked": True, "index": 1})

    def test_nothing(self):
        """where each argument has its effect nothing is said"""
        self.write("a.txt", "two\n")
        for tool, arguments in (
                ("git_add", {"paths": ["a.txt"]}), ("git_add", {"all": True}),
                ("git_diff", {"name_only": True, "cached": True}), ("git_diff", {"stat": True}),
                ("git_log", {"oneline": True}), ("git_log", {"format": "%s", "oneline": False}),
                ("git_show", {"stat": True}), ("git_branch", {"create": "n"}),
                ("git_branch", {"rename": "n", "new_name": "m"}), ("git_branch", {"list_all": True}),
                ("git_branch", {"list_all": True, "list_remote": True}),
                ("git_checkout", {"branch": "side", "paths": []}),
                ("git_stash", {"message": "m", "include_untracked": True}),
                ("git_stash", {"action": "pop", "index": 0})):
            result = self.ok(tool, arguments)
            self.assertNotIn("ignored", result.text + result.notes, (tool, arguments))

    def test_cap(self):
        """the note is inside the cap"""
        result = self.ok("git_log", {"oneline": True, "format": "%B", "max_bytes": 50})
        self.assertLessEqual(len(result.text), 50)


class Workflow(workflow.Case):
    def test_actions(self):
        """toolset workflow says it beside its object"""
        self.init()
        self.git("remote", "add", "o", "https://example.com/r")
        for words, tool, arguments in (
                ("name, newName, force, since action is list", "git_branch",
                 {"action": "list", "name": "x", "newName": "y", "force": True}),
                ("newName, remote, since action is create", "git_branch",
                 {"action": "create", "name": "x", "newName": "y", "remote": True}),
                ("name, url, since action is list", "git_remote",
                 {"action": "list", "name": "x", "url": "y"}),
                ("url, newName, since action is remove", "git_remote",
                 {"action": "remove", "name": "o", "url": "y", "newName": "z"}),
                ("message, includeUntracked, since action is list", "git_stash",
                 {"action": "list", "message": "m", "includeUntracked": True})):
            self.assertEqual(self.ok(tool, arguments).notes, LINE + words)
        for tool, arguments in (("git_branch", {"action": "list", "remote": True}),
                                ("git_stash", {"action": "list"})):
            self.assertEqual(self.ok(tool, arguments).notes, "")


if __name__ == "__main__":
    harness.main()
