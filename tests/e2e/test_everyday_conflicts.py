#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: git_conflicts shows hunks in three sides and resolves them one by one."""
import re
import subprocess

import everyday
import harness
from everyday import LINES, text_with


def ids(text):
    """The ids of the hunks that a text shows."""
    return re.findall(r"^hunk (\S+), line", text, re.M)


class Show(everyday.Case):
    def test_none(self):
        """git_conflicts: no conflicts, said in words"""
        self.init()
        self.assertEqual(self.says("git_conflicts"),
                         "No conflicts, and nothing is in progress.")

    def test_nothing_to_continue(self):
        """nothing in progress: nothing is said about stash entries"""
        self.init()
        for action in ("continue", "abort", "skip"):
            result = self.fails("ExecutionFailed", "There is nothing to " + action,
                                "git_conflicts", {"action": action})
            self.assertIn("There are no conflicts either", result.text)
            self.assertNotIn("stash", result.text)

    def test_three_sides(self):
        """git_conflicts: ours, base and theirs of every hunk, and the branches by name"""
        self.collide(text_with(at5="ours"), text_with(at5="theirs"), "".join(LINES))
        text = self.says("git_conflicts")
        (one,) = ids(text)
        self.assertRegex(one, "^[0-9a-f]{8}$")
        self.assertEqual(text, "Merge: ours is main, theirs is topic.\n"
                         f"f.txt: 1 hunk\nhunk {one}, line 6\n<<<<<<< ours\nours\n"
                         "||||||| base\nline 5\n=======\ntheirs\n>>>>>>> theirs")

    def test_styles(self):
        """git_conflicts: the same sides whatever merge.conflictStyle is"""
        ours = text_with(at5="ours", at6="both")
        theirs = text_with(at5="theirs", at6="both")
        shown = []
        self.fork(ours, theirs, "".join(LINES))
        for style in ("merge", "diff3", "zdiff3"):
            self.git("-c", f"merge.conflictStyle={style}", "merge", "-q", "topic", check=False)
            shown.append(self.says("git_conflicts"))
            self.git("merge", "--abort")
        self.assertIn("\nours\n||||||| base\nline 5\n", shown[0])
        self.assertIn("=======\ntheirs\n>>>>>>> theirs", shown[0])
        for text in shown:
            self.assertIn("<<<<<<< ours\nours\n", text)

    def test_rebase(self):
        """git_conflicts: in a rebase ours is the branch below, theirs the commit that is replayed"""
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        self.git("checkout", "-q", "topic")
        self.git("rebase", "-q", "main", check=False)
        first = self.says("git_conflicts").splitlines()[0]
        self.assertRegex(first, r'^Rebase 1/1: ours is main and what was replayed on it so far, '
                                r'theirs is [0-9a-f]{8} "theirs" of topic\.$')

    def test_pick_and_revert(self):
        """git_conflicts: a cherry-pick and a revert name their commit"""
        self.fork(text_with(at5="main"), text_with(at5="topic"), "".join(LINES))
        self.git("cherry-pick", "topic", check=False)
        self.assertRegex(self.says("git_conflicts"),
                         r'^Cherry-pick: ours is main, theirs is [0-9a-f]{8} "theirs"\.')
        self.git("cherry-pick", "--abort")
        self.commit("f.txt", text_with(at5="later"), "later")
        self.git("revert", "--no-edit", "HEAD~1", check=False)
        self.assertRegex(self.says("git_conflicts"),
                         r'^Revert: ours is main, theirs is the state before [0-9a-f]{8} "ours"\.')

    def test_stash(self):
        """git_conflicts: a stash entry that conflicts is nothing in progress, and it says so"""
        self.init()
        self.write("a.txt", "stashed\n")
        self.git("stash", "-q")
        self.commit("a.txt", "ours\n", "ours")
        self.git("stash", "pop", check=False)
        self.assertTrue(self.says("git_conflicts").startswith(
            "Nothing is in progress: ours is main, theirs is what was applied, such as a "
            "stash entry.\na.txt: 1 hunk\n"))
        for action in ("continue", "abort", "skip"):
            result = self.fails("ExecutionFailed", "There is nothing to " + action,
                                "git_conflicts", {"action": action})
            self.assertIn("git_undo undoes it", result.text)
        (one,) = ids(self.says("git_conflicts"))
        text = self.says("git_conflicts", {"action": "resolve", "path": "a.txt",
                                           "hunks": [{"id": one, "take": "theirs"}]})
        self.assertIn("Resolved a.txt.", text)
        self.assertEqual((self.root / "a.txt").read_text(), "stashed\n")

    def test_sorts(self):
        """git_conflicts: what has no hunks is told in words, with the way out"""
        self.init()
        self.commit("gone.txt", "base\n", "base")
        self.commit("kept.txt", "base\n", "base")
        self.commit("b.bin", b"\0base", "base")
        self.git("checkout", "-q", "-b", "topic")
        self.git("rm", "-q", "gone.txt")
        self.write("kept.txt", "theirs\n")
        self.write("b.bin", b"\0theirs")
        self.write("new.txt", "theirs\n")
        (self.root / "link").symlink_to("theirs")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "theirs")
        self.git("checkout", "-q", "main")
        self.git("rm", "-q", "kept.txt")
        self.write("gone.txt", "ours\n")
        self.write("b.bin", b"\0ours")
        self.write("new.txt", "ours\n")
        (self.root / "link").symlink_to("ours")
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "ours")
        self.git("merge", "-q", "topic", check=False)
        text = self.says("git_conflicts")
        self.assertIn("b.bin: binary; ours: file ", text)
        self.assertIn("gone.txt: changed in ours, deleted in theirs: take ours keeps it, theirs "
                      "deletes it\n", text)
        self.assertIn("kept.txt: deleted in ours, changed in theirs", text)
        self.assertIn("link: symbolic link; ours: symbolic link ", text)
        self.assertIn("new.txt: 1 hunk, added on both sides\n", text)
        for name, take in (("b.bin", "theirs"), ("gone.txt", "theirs"), ("kept.txt", "theirs"),
                           ("link", "theirs"), ("new.txt", "ours")):
            self.says("git_conflicts", {"action": "resolve", "path": name, "take": take})
        self.assertEqual(self.unmerged(), [])
        self.assertEqual((self.root / "b.bin").read_bytes(), b"\0theirs")
        self.assertFalse((self.root / "gone.txt").exists())
        self.assertEqual((self.root / "link").readlink().name, "theirs")
        self.assertEqual((self.root / "new.txt").read_text(), "ours\n")

    def test_renames_and_modes(self):
        """git_conflicts: renames to different names, and modes that differ"""
        self.init()
        self.commit("old.txt", "".join(LINES), "base")
        self.commit("run.sh", "base\n", "base")
        self.git("checkout", "-q", "-b", "topic")
        self.git("mv", "old.txt", "theirs.txt")
        self.git("update-index", "--chmod=+x", "run.sh")
        self.write("run.sh", "theirs\n")
        (self.root / "run.sh").chmod(0o755)
        self.git("commit", "-q", "-am", "theirs")
        self.git("checkout", "-q", "main")
        self.git("mv", "old.txt", "ours.txt")
        self.write("run.sh", "ours\n")
        self.git("commit", "-q", "-am", "ours")
        self.git("merge", "-q", "topic", check=False)
        text = self.says("git_conflicts")
        self.assertIn("old.txt: gone in both, renamed differently: take ours or theirs removes it",
                      text)
        self.assertIn("ours.txt: only in ours, perhaps by a rename", text)
        self.assertIn("theirs.txt: only in theirs, perhaps by a rename", text)
        self.assertIn("run.sh: 1 hunk", text)
        for name, take in (("old.txt", "ours"), ("ours.txt", "ours"), ("theirs.txt", "ours"),
                           ("run.sh", "theirs")):
            self.says("git_conflicts", {"action": "resolve", "path": name, "take": take})
        self.says("git_conflicts", {"action": "continue"})
        self.assertEqual(self.out("ls-files").split(), ["a.txt", "ours.txt", "run.sh"])
        self.assertIn("100755", self.out("ls-files", "-s", "run.sh"))

    def fork_submodule(self):
        """Two branches that moved a submodule to different commits."""
        self.init()
        inner = self.root / "sub"
        first = self.init_inner(inner)
        self.git("add", "sub")
        self.git("commit", "-q", "-m", "sub")
        self.git("checkout", "-q", "-b", "topic")
        theirs = self.move_inner(inner, first, "theirs")
        self.git("checkout", "-q", "main")
        return self.move_inner(inner, first, "ours"), theirs

    def test_submodule(self):
        """git_conflicts: a submodule has two commits to choose from, whoever merges"""
        ours, theirs = self.fork_submodule()
        for tool, arguments in (("git_merge", {"branch": "topic"}),
                                ("git_rebase", {"onto": "topic"}),
                                ("git_cherry_pick", {"commits": ["topic"]})):
            with self.subTest(tool=tool):
                text = self.says(tool, arguments)
                self.assertIn("\nsub: submodule; ours: submodule at ", text)
                self.assertIn("sub: submodule; ours: submodule at ", self.says("git_conflicts"))
                self.says("git_conflicts", {"action": "abort"})
        self.git("merge", "-q", "topic", check=False)
        text = self.says("git_conflicts")
        self.assertIn(f"sub: submodule; ours: submodule at {ours[:8]}; theirs: submodule at "
                      f"{theirs[:8]}", text)
        self.says("git_conflicts", {"action": "resolve", "path": "sub", "take": "theirs"})
        self.assertIn(theirs, self.out("ls-files", "-s", "sub"))

    def init_inner(self, inner):
        """A repository inside."""
        inner.mkdir()
        self.git("init", "-q", cwd=inner)
        return self.commit("x", "1\n", "x", inner)

    def move_inner(self, inner, start, word):
        """Another commit there, recorded outside."""
        self.git("checkout", "-q", start, cwd=inner)
        commit = self.commit("x", word, word, inner)
        self.git("add", "sub")
        self.git("commit", "-q", "-m", word)
        return commit

    def test_where(self):
        """git_conflicts: from a directory below, paths are relative to it both ways"""
        self.collide("ours\n", "theirs\n", "base\n", name="top.txt")
        (self.root / "below").mkdir()
        text = self.says("git_conflicts", {"working_dir": "below"})
        self.assertIn("../top.txt: 1 hunk\n", text)
        self.says("git_conflicts", {"working_dir": "below", "action": "resolve",
                                    "path": "../top.txt", "take": "theirs"})
        self.assertEqual(self.unmerged(), [])


class Resolve(everyday.Case):
    def resolve(self, **arguments):
        """Resolve f.txt."""
        return self.says("git_conflicts", {"action": "resolve", "path": "f.txt"} | arguments)

    def three(self):
        """Three hunks, the first and the last alike."""
        base = "".join(LINES)
        ours = text_with(at5="same ours", at20="ours", at35="same ours")
        theirs = text_with(at5="same theirs", at20="theirs", at35="same theirs")
        base = text_with(at5="same", at35="same")
        self.collide(ours, theirs, base)
        return ids(self.says("git_conflicts"))

    def test_one_by_one(self):
        """resolve: hunk after hunk; an id names the same hunk while others are settled"""
        first, middle, last = self.three()
        self.assertEqual(last, first + "-2")
        text = self.resolve(hunks=[{"id": first, "take": "theirs"}])
        self.assertTrue(text.startswith("Resolved 1 of 3 hunks of f.txt.\n"), text)
        self.assertEqual(self.unmerged(), ["f.txt"])
        self.assertEqual(ids(self.says("git_conflicts")), [middle, last])
        self.resolve(hunks=[{"id": last, "content": "both"}])
        self.assertEqual(ids(self.says("git_conflicts")), [middle])
        text = self.resolve(hunks=[{"id": middle, "take": "ours"}])
        self.assertTrue(text.startswith("Resolved f.txt.\n"), text)
        self.assertEqual((self.root / "f.txt").read_text(),
                         text_with(at5="same theirs", at20="ours", at35="both"))
        self.assertEqual(self.unmerged(), [])

    def test_all_at_once(self):
        """resolve: several hunks in one call, then continue makes the merge"""
        first, middle, last = self.three()
        self.resolve(hunks=[{"id": last, "content": ""}, {"id": first, "take": "ours"},
                            {"id": middle, "content": "a\nb\n"}])
        self.assertEqual((self.root / "f.txt").read_text(),
                         text_with(at5="same ours", at20="a\nb", at35=""))
        text = self.says("git_conflicts", {"action": "continue"})
        self.assertIn("The merge is done: ", text)
        self.assertEqual(self.out("log", "-1", "--format=%s%n%P").split("\n")[0],
                         "Merge branch 'topic'")
        self.assertEqual(len(self.out("log", "-1", "--format=%P").split()), 2)
        self.assertNotIn("#", self.out("log", "-1", "--format=%B"))

    def test_hunks_refused(self):
        """resolve: ids that are gone, twice there, with both or neither; nothing changes"""
        first, middle, last = self.three()
        arguments = {"action": "resolve", "path": "f.txt"}
        for hunks, words in (
                ([{"id": "00000000", "take": "ours"}],
                 f"hunk 00000000 is not there any more; there are {first}, {middle}, {last}"),
                ([{"id": first + "-3", "take": "ours"}], "is not there any more"),
                ([{"id": first, "take": "ours"}, {"id": first, "take": "theirs"}],
                 "hunks[0] and hunks[1] are one hunk"),
                ([{"id": first}], "hunks[0] takes one of take and content"),
                ([{"id": first, "take": "ours", "content": "x"}],
                 "hunks[0] takes one of take and content"),
                ([{"id": first, "take": "disk"}], "take of a hunk is ours, theirs or both"),
                ([{"take": "ours"}], "hunks[0].id is required"),
                ([], "hunks must contain at least 1"),
        ):
            with self.subTest(hunks=hunks):
                self.fails("BadArgs", words, "git_conflicts", arguments | {"hunks": hunks})

    def test_arguments_refused(self):
        """resolve: arguments that cannot both hold, and files that are not in conflict"""
        self.three()
        for arguments, words in (
                ({"take": "ours"}, "take has no meaning for action show"),
                ({"action": "continue", "path": "f.txt"}, "path has no meaning for action continue"),
                ({"action": "resolve", "content": "x"}, "content takes path"),
                ({"action": "resolve", "path": "f.txt", "paths": ["f.txt"], "take": "ours"},
                 "path and paths cannot be given together"),
                ({"action": "continue", "continue": True}, "continue has no meaning for action continue"),
                ({"action": "resolve", "path": "f.txt"}, "resolve takes one of take (ours, theirs, both, disk)"),
                ({"action": "resolve", "path": "f.txt", "take": "ours", "content": "x"},
                 "resolve takes one of"),
                ({"action": "resolve", "path": "f.txt", "take": "base"}, "take is ours"),
                ({"action": "resolve", "path": "f.txt", "content": "a\n<<<<<<< b\n"},
                 "content still has conflict markers"),
                ({"action": "resolve", "path": "f.txt", "take": "disk"},
                 "'f.txt' still has conflict markers on disk"),
        ):
            with self.subTest(arguments=arguments):
                self.fails("BadArgs", words, "git_conflicts", arguments)
        self.fails("ExecutionFailed", "'a.txt' is not in conflict", "git_conflicts",
                   {"action": "resolve", "path": "a.txt", "take": "ours"})
        self.fails("ExecutionFailed", "There are conflicts left: f.txt (3 hunks)",
                   "git_conflicts", {"action": "continue"})

    def test_disk(self):
        """resolve: a user's own edit is taken as it is, and hunks that a user made too"""
        _, middle, last = self.three()
        text = (self.root / "f.txt").read_text()
        self.write("f.txt", re.sub(r"<<<<<<< HEAD\nsame ours\n.*?>>>>>>> topic\n", "mine\n", text,
                                   count=1, flags=re.S))
        self.assertEqual(ids(self.says("git_conflicts")), [middle, last])
        self.write("f.txt", "settled\n")
        self.assertIn("no hunks are left: take disk", self.says("git_conflicts"))
        self.resolve(take="disk")
        self.assertEqual(self.out("show", ":f.txt"), "settled\n")

    def test_add(self):
        """git_add: a file with conflict markers left is refused, as take disk is"""
        self.three()
        self.write("d/new", "n\n")
        for arguments in ({"paths": ["f.txt"]}, {"paths": ["."]}, {"all": True},
                          {"update": True}, {"update": True, "paths": ["f.txt"]},
                          {"paths": ["../f.txt"], "working_dir": str(self.root / "d")}):
            with self.subTest(arguments=arguments):
                result = self.fails("BadArgs", "'f.txt' still has conflict markers on disk",
                                    "git_add", arguments)
                self.assertIn("let git_conflicts resolve it", result.text)
        self.assertEqual(self.unmerged(), ["f.txt"])
        self.says("git_add", {"paths": ["d/new"]})
        self.write("f.txt", "settled\n")
        self.assertTrue(self.says("git_add", {"all": True}).startswith("Staged f.txt\n"))
        self.assertEqual(self.out("show", ":f.txt"), "settled\n")

    def test_add_others(self):
        """git_add: markers in a file that is not in conflict, or a file that is gone, are staged"""
        self.three()
        marked = (self.root / "f.txt").read_text()
        self.write("doc.txt", marked)
        self.says("git_add", {"paths": ["doc.txt"]})
        self.write("doc.txt", marked + "more\n")
        self.says("git_add", {"paths": ["doc.txt"]})
        self.assertEqual(self.out("show", ":doc.txt"), marked + "more\n")
        (self.root / "f.txt").unlink()
        self.says("git_add", {"paths": ["f.txt"]})
        self.assertEqual(self.unmerged(), [])
        self.write("f.txt", marked)
        self.says("git_add", {"all": True})
        self.assertEqual(self.out("show", ":f.txt"), marked)

    def test_add_marker_size(self):
        """git_add: markers as long as the attributes say"""
        self.init()
        self.commit(".gitattributes", "f.txt conflict-marker-size=9\n", "attributes")
        self.collide("ours\n", "theirs\n", "base\n")
        self.fails("BadArgs", "'f.txt' still has conflict markers on disk", "git_add",
                   {"paths": ["f.txt"]})
        self.write("f.txt", "<<<<<<< seven\n=======\n>>>>>>> seven\n")
        self.says("git_add", {"paths": ["f.txt"]})
        self.assertEqual(self.unmerged(), [])

    def test_disk_gone(self):
        """resolve: a file that is not there is removed with take disk"""
        self.collide("ours\n", "theirs\n", "base\n")
        (self.root / "f.txt").unlink()
        self.resolve(take="disk")
        self.assertEqual(self.out("ls-files").split(), ["a.txt"])

    def test_ends(self):
        """resolve: carriage returns stay, and a side without a newline at its end has none"""
        self.collide("a\r\nours\r\nz", "a\r\ntheirs\r\nz", "a\r\nbase\r\nz")
        (one,) = ids(self.says("git_conflicts"))
        self.resolve(hunks=[{"id": one, "content": "new\nlines"}])
        self.assertEqual((self.root / "f.txt").read_bytes(), b"a\r\nnew\r\nlines\r\nz")

    def test_no_newline(self):
        """resolve: the side whose last line has no newline stays so"""
        self.collide("a\nours", "a\ntheirs\n", "a\nbase\n")
        (one,) = ids(self.says("git_conflicts"))
        self.resolve(hunks=[{"id": one, "take": "ours"}])
        self.assertEqual((self.root / "f.txt").read_bytes(), b"a\nours")


class Stages(everyday.Case):
    """What is in conflict follows from the three stages, whatever the file on disk looks like."""
    OWN = "1\n<<<<<<< HEAD\na\n=======\nb\n>>>>>>> topic\n2\n"

    def resolve(self, name, **arguments):
        """Resolve a file."""
        return self.says("git_conflicts", {"action": "resolve", "path": name} | arguments)

    def disk(self, name="f.txt"):
        """The bytes of a file."""
        return (self.root / name).read_bytes()

    def own(self):
        """A file with markers of its own, before and in its hunks."""
        rest = "".join(LINES[:5])
        ours = self.OWN + rest + "ours\n=======\nours\n" + rest + "x\n" + self.OWN
        theirs = self.OWN + rest + "theirs\n=======\ntheirs\n" + rest + "y\n" + self.OWN
        self.collide(ours, theirs, self.OWN + rest + "base\n" + rest + "z\n" + self.OWN)
        return ours, theirs

    def test_own_markers(self):
        """git_conflicts: markers that are the file's own text are no hunks, and stay"""
        ours, theirs = self.own()
        text = self.says("git_conflicts")
        self.assertIn("f.txt: 2 hunks\n", text)
        self.assertIn("<<<<<<< ours\nours\n=======\nours\n||||||| base\nbase\n=======\n"
                      "theirs\n=======\ntheirs\n>>>>>>> theirs\n", text)
        first, second = ids(text)
        self.fails("BadArgs", "'f.txt' still has conflict markers on disk", "git_add",
                   {"paths": ["f.txt"]})
        self.assertIn("Resolved 1 of 2", self.resolve("f.txt", hunks=[{"id": first,
                                                                       "take": "theirs"}]))
        self.assertEqual(ids(self.says("git_conflicts")), [second])
        self.resolve("f.txt", hunks=[{"id": second, "take": "theirs"}])
        self.assertEqual(self.disk().decode(), theirs)
        self.assertEqual(self.unmerged(), [])
        self.git("checkout", "-q", "-m", "--", "f.txt")
        self.resolve("f.txt", hunks=[{"id": hunk, "take": "ours"} for hunk in (first, second)])
        self.assertEqual(self.disk().decode(), ours)

    def test_own_markers_by_hand(self):
        """resolve, git_add: a file whose only markers are its own is taken, from disk or given"""
        ours, _ = self.own()
        by_hand = ours.replace("ours", "by hand")
        self.write("f.txt", by_hand)
        self.assertIn("no hunks are left", self.says("git_conflicts"))
        self.resolve("f.txt", take="disk")
        self.git("checkout", "-q", "-m", "--", "f.txt")
        self.fails("BadArgs", "content still has conflict markers", "git_conflicts",
                   {"action": "resolve", "path": "f.txt", "content": self.disk().decode()})
        self.resolve("f.txt", content=by_hand)
        self.assertEqual(self.disk().decode(), by_hand)
        self.git("checkout", "-q", "-m", "--", "f.txt")
        self.write("f.txt", by_hand)
        self.says("git_add", {"paths": ["f.txt"]})
        self.assertEqual(self.unmerged(), [])

    def test_own_markers_in_styles(self):
        """git_conflicts: the same with every style of conflicts"""
        self.own()
        for style in ("diff3", "zdiff3", "merge"):
            self.git("checkout", "-q", f"--conflict={style}", "--", "f.txt")
            self.assertIn("f.txt: 2 hunks\n", self.says("git_conflicts"))

    def test_equal_by_hand(self):
        """git_conflicts: of equal hunks the one that is left keeps its id, whichever it is"""
        places = (5, 15, 25)
        ours = text_with(**{f"at{i}": "ours" for i in places})
        self.collide(ours, text_with(**{f"at{i}": "theirs" for i in places}),
                     text_with(**{f"at{i}": "base" for i in places}))
        names = ids(self.says("git_conflicts"))
        made = self.disk().decode()
        parts = re.split(r"(<<<<<<< HEAD\n.*?>>>>>>> topic\n)", made, flags=re.S)
        self.assertEqual([name[8:] for name in names], ["", "-2", "-3"])
        for left in range(3):
            for instead in ("ours\n", "mine\nand more\n", ""):
                edited = [part if not i % 2 or i == 2 * left + 1 else instead
                          for i, part in enumerate(parts)]
                self.write("f.txt", "".join(edited))
                self.assertEqual(ids(self.says("git_conflicts")), [names[left]])

    def test_edited_inside(self):
        """git_conflicts: a hunk that somebody edits between its markers is shown as it is"""
        self.collide(text_with(at5="ours"), text_with(at5="theirs"), "".join(LINES))
        self.write("f.txt", self.disk().decode().replace("ours\n", "ours\nand more\n"))
        text = self.says("git_conflicts")
        self.assertIn("<<<<<<< ours\nours\nand more\n", text)
        self.resolve("f.txt", hunks=[{"id": ids(text)[0], "take": "ours"}])
        self.assertEqual(self.disk().decode(), text_with(at5="ours\nand more"))

    def rename_both(self, ours="Ours", theirs="Theirs"):
        """Both sides rename a file, to different names by default, and change one line."""
        self.init()
        self.commit("First", "".join(LINES), "base")
        self.git("checkout", "-q", "-b", "topic")
        self.git("mv", "First", theirs)
        self.commit(theirs, text_with(at5="id 1"), "theirs")
        self.git("checkout", "-q", "main")
        self.git("mv", "First", ours)
        self.commit(ours, text_with(at5="id 2"), "ours")

    def test_renamed_differently(self):
        """git_conflicts: after two renames both names have the hunk, and a side is without markers"""
        self.rename_both()
        text = self.says("git_merge", {"branch": "topic"})
        self.assertIn("Ours: only in ours, perhaps by a rename: take ours keeps it, theirs removes", text)
        text = self.says("git_conflicts")
        self.assertIn("take ours keeps it, theirs removes it, with 1 hunk\nhunk ", text)
        self.assertEqual(text.count("<<<<<<< ours\nid 2\n=======\nid 1\n>>>>>>> theirs\n"), 1)
        self.assertTrue(text.endswith("<<<<<<< ours\nid 2\n=======\nid 1\n>>>>>>> theirs"), text)
        for name in ("Ours", "Theirs"):
            self.fails("BadArgs", "still has conflict markers on disk", "git_conflicts",
                       {"action": "resolve", "path": name, "take": "disk"})
        self.resolve("Ours", take="ours")
        self.assertEqual(self.disk("Ours").decode(), text_with(at5="id 2"))
        (hunk,) = ids(self.says("git_conflicts", {"path": "Theirs"}))
        self.resolve("Theirs", hunks=[{"id": hunk, "take": "theirs"}])
        self.resolve("First", take="ours")
        self.says("git_conflicts", {"action": "continue"})
        self.assertEqual(self.out("show", "HEAD:Ours"), text_with(at5="id 2"))
        self.assertEqual(self.out("show", "HEAD:Theirs"), text_with(at5="id 1"))

    def test_renamed_and_added(self):
        """resolve: where a rename meets a new file, a side is without the markers inside of it"""
        self.init()
        self.commit("old", "".join(LINES), "base")
        self.git("checkout", "-q", "-b", "topic")
        self.commit("old", text_with(at5="id 1"), "theirs")
        self.commit("new", "new\n", "new")
        self.git("checkout", "-q", "main")
        self.git("mv", "old", "new")
        self.commit("new", text_with(at5="id 2"), "ours")
        for take, content in (("ours", text_with(at5="id 2")), ("theirs", "new\n")):
            self.says("git_merge", {"branch": "topic"})
            self.resolve("new", take=take)
            self.assertEqual((self.disk("new").decode(), self.out("show", ":new")),
                             (content, content))
            self.git("reset", "-q", "--hard")
        self.says("git_merge", {"branch": "topic"})
        (hunk,) = ids(self.says("git_conflicts"))
        self.resolve("new", hunks=[{"id": hunk, "take": "ours"}])
        self.assertEqual(self.disk("new").decode(), text_with(at5="id 2"))

    def test_renamed_document(self):
        """resolve: a renamed file whose own text has long markers keeps them"""
        own = self.OWN.replace("<" * 7, "<" * 8).replace("=" * 7, "=" * 8).replace(">" * 7, ">" * 8)
        self.init()
        self.commit("First", own, "base")
        self.git("checkout", "-q", "-b", "topic")
        self.git("mv", "First", "Theirs")
        self.git("commit", "-q", "-m", "theirs")
        self.git("checkout", "-q", "main")
        self.git("mv", "First", "Ours")
        self.git("commit", "-q", "-m", "ours")
        self.says("git_merge", {"branch": "topic"})
        self.assertNotIn("hunk", self.says("git_conflicts"))
        self.resolve("Ours", take="ours")
        self.resolve("Theirs", take="disk")
        self.assertEqual((self.disk("Ours").decode(), self.disk("Theirs").decode()), (own, own))

    def test_renamed_and_deleted(self):
        """git_conflicts: a rename that meets a deletion is told by what each take does"""
        self.init()
        self.commit("old", "".join(LINES), "base")
        self.git("checkout", "-q", "-b", "topic")
        self.git("rm", "-q", "old")
        self.git("commit", "-q", "-m", "theirs")
        self.git("checkout", "-q", "main")
        self.git("mv", "old", "new")
        self.commit("new", text_with(at5="ours"), "ours")
        self.says("git_merge", {"branch": "topic"})
        self.assertIn("new: changed in ours, deleted in theirs: take ours keeps it, theirs "
                      "deletes it", self.says("git_conflicts"))
        self.resolve("new", take="theirs")
        self.assertEqual(self.out("ls-files").split(), ["a.txt"])

    def test_unmerged_by_attributes(self):
        """git_conflicts: what git does not merge as text is said to be that, with both sides"""
        for attribute in ("-merge", "binary", "merge=binary"):
            with self.subTest(attribute=attribute):
                self.setUp()
                self.init()
                self.commit(".gitattributes", f"f.txt {attribute}\n", "attributes")
                self.fork("ours\n", "theirs\n", "base\n")
                text = self.says("git_merge", {"branch": "topic"})
                self.assertIn("f.txt: not merged as text, by its attributes; ", text)
                self.assertRegex(self.says("git_conflicts"), "f.txt: not merged as text.*; on "
                                 "disk is ours.*; ours: file [0-9a-f]{8}; theirs: file "
                                 "[0-9a-f]{8}; take ours or theirs takes all of that side$")
                self.resolve("f.txt", take="theirs")
                self.assertEqual(self.disk(), b"theirs\n")

    def test_marker_size(self):
        """git_conflicts: markers as long as the attributes say, beside shorter ones of the file"""
        self.init()
        self.commit(".gitattributes", "f.txt conflict-marker-size=12\n", "attributes")
        self.collide(self.OWN + "ours\n", self.OWN + "theirs\n", self.OWN + "base\n")
        self.assertIn("<<<<<<<<<<<< HEAD\n", self.disk().decode())
        (hunk,) = ids(self.says("git_conflicts"))
        self.resolve("f.txt", hunks=[{"id": hunk, "take": "theirs"}])
        self.assertEqual(self.disk().decode(), self.OWN + "theirs\n")

    def test_returns_at_the_end(self):
        """resolve: the last line of a file with carriage returns gets neither one nor a newline"""
        for sides in ((b"a\r\nours", b"a\r\ntheirs", b"a\r\nbase"),
                      (b"a\r\nours", b"a\r\ntheirs\r\n", b"a\r\nbase\r\n")):
            for take, content in (("ours", sides[0]), ("theirs", sides[1])):
                self.setUp()
                self.collide(*sides)
                (hunk,) = ids(self.says("git_conflicts"))
                self.resolve("f.txt", hunks=[{"id": hunk, "take": take}])
                self.assertEqual(self.disk(), content)

    def test_converted(self):
        """git_conflicts: stages have newlines alone where the file on disk has carriage returns"""
        self.init()
        self.git("config", "core.autocrlf", "true")
        own = self.OWN + "".join(LINES[:5])
        self.collide(own + "ours\n", own + "theirs\n", own + "base\n")
        self.assertIn(b"\r\n=======\r\n", self.disk())
        (hunk,) = ids(self.says("git_conflicts"))
        self.resolve("f.txt", hunks=[{"id": hunk, "take": "theirs"}])
        self.assertEqual(self.disk().decode(), (own + "theirs\n").replace("\n", "\r\n"))
        self.assertEqual(self.out("show", ":f.txt"), own + "theirs\n")


class CommandLine(everyday.Case):
    def test_words(self):
        """on the command line a list of objects is one JSON value, and airlock tools says so"""
        self.collide("ours\n", "theirs\n", "base\n")
        (one,) = ids(self.says("git_conflicts"))
        shown = subprocess.run([harness.AIRLOCK, "tools", "--toolset", "everyday", "git_conflicts"],
                               capture_output=True, check=True).stdout.decode()
        self.assertRegex(shown, r"\n  hunks +Of any files\. \(list of objects, as JSON\)\n")
        subprocess.run([harness.AIRLOCK, "call", "--root", str(self.root), "--approval", "allow",
                        "--toolset", "everyday", "git_conflicts", "action=resolve", "path=f.txt",
                        f'hunks=[{{"id": "{one}", "take": "theirs"}}]'], env=self.env,
                       stdin=subprocess.DEVNULL, capture_output=True, check=True)
        self.assertEqual((self.root / "f.txt").read_text(), "theirs\n")


class GoOn(everyday.Case):
    def rebase(self):
        """A rebase by git that stops at the first of two commits."""
        self.fork(text_with(at5="main"), text_with(at5="one"), "".join(LINES))
        self.git("checkout", "-q", "topic")
        self.commit("f.txt", text_with(at5="one", at20="two"), "second")
        self.git("rebase", "-q", "main", check=False)

    def test_continue(self):
        """continue: a rebase goes on to its end; what somebody else began is called that"""
        self.rebase()
        (one,) = ids(self.says("git_conflicts"))
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt",
                                    "hunks": [{"id": one, "take": "theirs"}]})
        text = self.says("git_conflicts", {"action": "continue"})
        self.assertIn("This session had not begun the rebase.\nThe rebase is done: ", text)
        self.assertEqual(self.out("log", "--format=%s", "main..topic").split(),
                         ["second", "theirs"])
        self.assertEqual(self.out("symbolic-ref", "HEAD"), "refs/heads/topic\n")

    def test_skip(self):
        """skip: the commit that stopped is left out"""
        self.rebase()
        left_out = self.out("rev-parse", "REBASE_HEAD")[:8]
        text = self.says("git_conflicts", {"action": "skip"})
        self.assertIn(f"Left out {left_out} theirs. The rebase is done: ", text)
        self.assertEqual(self.out("log", "--format=%s", "main..topic").split(), ["second"])

    def test_skip_shown(self):
        """skip: the question names the commit, and what is lost is not what abort loses"""
        self.rebase()
        self.write("f.txt", "mine\n")
        rule = self.write("ask.toml", '[[tools.approval.rule]]\noperation = "skip"\ndecision = "ask"\n', self.base)
        server = everyday.AskingServer(self, "--config", str(rule))
        question, result = server.decided("reject", "git_conflicts", {"action": "skip"})
        self.assertTrue(result.failed, result)
        left_out = self.out("rev-parse", "REBASE_HEAD")[:8]
        self.assertIn(f"This commit is left out:\n  {left_out} theirs\n", question)
        self.assertIn("These changes are lost:\n", question)
        self.assertIn("f.txt", question)
        self.assertNotIn("Going back", question)

    def test_emptied(self):
        """continue: a commit of which the resolution leaves nothing is named"""
        self.rebase()
        left_out = self.out("rev-parse", "REBASE_HEAD")[:8]
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "ours"})
        text = self.says("git_conflicts", {"action": "continue"})
        self.assertIn("One commit changed nothing here. "
                      f"Left out {left_out} theirs. The rebase ", text)

    def test_abort(self):
        """abort: everything is as before"""
        self.rebase()
        tip = self.out("rev-parse", "topic")
        text = self.says("git_conflicts", {"action": "abort"})
        self.assertIn("Aborted the rebase, which this session had not begun.\n", text)
        self.assertEqual(self.out("rev-parse", "HEAD"), tip)
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_abort_meanwhile(self):
        """abort: what was changed meanwhile, and is gone, is named; what stays is not"""
        for rebases in (True, False):
            if rebases:
                self.fork(text_with(at5="main"), text_with(at5="one"), "".join(LINES))
                self.git("checkout", "-q", "topic")
                self.commit("o.txt", "o\n", "second")
                self.says("git_rebase", {"plan": [{"commit": "topic"}, {"commit": "topic~1"}],
                                         "onto": "main"})
            else:
                self.says("git_merge", {"branch": "main"})
            self.assertEqual(self.unmerged(), ["f.txt"])
            self.write("o.txt", "mine\n")
            self.write("new.txt", "new\n")
            self.git("add", "new.txt")
            text = self.says("git_conflicts", {"action": "abort"})
            gone = "o.txt, new.txt" if not (self.root / "new.txt").exists() and \
                (self.root / "o.txt").read_text() == "o\n" else "new.txt"
            self.assertIn("Changes made meanwhile are gone with it: ", text)
            for name in ("o.txt", "new.txt"):
                self.assertEqual(name in text, name in gone, (rebases, text))
            self.assertEqual(rebases, "o.txt" in gone)
            self.git("reset", "-q", "--hard")

    def test_not_asked(self):
        """continue, skip, abort: nobody is asked about what a checkpoint brings back"""
        for action in ("skip", "abort", "continue"):
            self.rebase()
            if action == "continue":
                self.ok("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "ours"}, approval="ask")
            self.ok("git_conflicts", {"action": action}, approval="ask")
            self.assertEqual(self.unmerged(), [])
            self.git("checkout", "-q", "-f", "main")
            self.git("branch", "-D", "topic")

    def test_merge_has_no_skip(self):
        """skip: a merge has nothing to skip; am is a user's to continue"""
        self.collide("ours\n", "theirs\n", "base\n")
        self.fails("ExecutionFailed", "A merge has no commit to skip", "git_conflicts",
                   {"action": "skip"})
        self.git("merge", "--abort")
        patch = self.out("format-patch", "-1", "--stdout", "topic")
        self.git("am", "-3", stdin=patch.encode(), check=False)
        self.fails("ExecutionFailed", "(git am) cannot be continued here", "git_conflicts",
                   {"action": "continue"})
        self.says("git_conflicts", {"action": "abort"})
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_hostile_todo(self):
        """continue, skip: a todo list that runs a program is refused"""
        self.rebase()
        todo = self.root / ".git/rebase-merge/git-rebase-todo"
        todo.write_text(f"exec touch {self.base}/canary\n" + todo.read_text(), encoding="utf-8")
        self.says("git_conflicts", {"action": "resolve", "path": "f.txt", "take": "theirs"})
        for action in ("continue", "skip"):
            self.fails("ExecutionFailed", "has 'exec' among what is left to do", "git_conflicts",
                       {"action": action})
        self.assertFalse((self.base / "canary").exists())


if __name__ == "__main__":
    harness.main()
