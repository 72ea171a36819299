#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: the question about a git_commit of files, hunks or everything shows the commit, and
what is committed after the answer is what was shown.

The control is plain git, which commits what there is by then.
"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))

import everyday  # pylint: disable=wrong-import-position
import harness  # pylint: disable=wrong-import-position

BLOCK = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n"


class Shown(everyday.Case):
    def setUp(self):
        super().setUp()
        config = self.home / ".config/airlock/config.toml"
        config.parent.mkdir(parents=True, exist_ok=True)
        config.write_text('[[tools.approval.rule]]\ntool = "git_commit"\ndecision = "ask"\n')
        self.init()
        self.commit("f.txt", "base\n", "base")
        self.server = everyday.AskingServer(self)
        self.addCleanup(self.server.close)

    def ask(self, arguments):
        """The question, and the number of the call."""
        number = self.server.ask("git_commit", arguments)
        question = self.server.receive()
        self.assertEqual(question.get("method"), "elicitation/create", question)
        return question, number

    def answer(self, question):
        self.server.send(id=question["id"],
                         result={"action": "accept", "content": {"decision": "once"}})

    def refuses(self, number):
        """The call is refused, or asks again; nothing was committed."""
        message = self.server.receive()
        if message.get("method") == "elicitation/create":
            self.server.send(id=message["id"],
                             result={"action": "accept", "content": {"decision": "reject"}})
            message = self.server.receive()
        self.assertEqual(message["id"], number, message)
        self.assertTrue(message["result"].get("isError"), message)
        return message["result"]["content"][0]["text"]

    def shows(self, arguments, *lines, without=()):
        """The question shows these lines of the change and not those, and the commit has it."""
        objects = self.out("count-objects", "-v")
        question, number = self.ask(arguments)
        self.assertEqual(self.out("count-objects", "-v"), objects)
        shown = question["params"]["message"]
        self.answer(question)
        result = self.server.receive()
        self.assertEqual(result["id"], number, result)
        self.assertFalse(result["result"].get("isError"), result)
        for line in lines:
            self.assertRegex(shown, rf"(?m)^ *{re.escape(line)}$")
        for line in without:
            self.assertNotRegex(shown, rf"(?m)^ *{re.escape(line)}$")
        made = self.out("show", "--format=", "HEAD")
        changed = [line for line in made.splitlines() if re.match(r"[-+](?![-+])", line)]
        self.assertEqual(changed, list(lines))
        return shown

    def hunk(self):
        """The id of the only unstaged hunk."""
        return re.findall(r"\b[0-9a-f]{8}\b(?!\.\.)", self.says("git_diff", {"hunks": True}))[-1]

    def test_object_there(self):
        """an object that is there already gets a new time when it is chosen, and is shown all the same"""
        for packed in (False, True):
            self.write("f.txt", f"there {packed}\n")
            self.git("add", "f.txt")
            if packed:
                self.git("stash", "-q")
                self.git("gc", "-q")
                self.write("f.txt", f"there {packed}\n")
            head = self.out("show", "HEAD:f.txt").strip()
            self.shows({"message": "x", "paths": ["f.txt"]}, f"-{head}", f"+there {packed}")

    def test_author(self):
        """another author is shown, on one line"""
        self.write("f.txt", "more\n")
        shown = self.shows({"message": "x", "all": True, "author": "Eve\u202e <eve@example.com>"},
                           "-base", "+more")
        self.assertIn("\nAuthor: Eve<U+202E> <eve@example.com>\n", shown)
        self.assertEqual(self.out("log", "-1", "--format=%ae"), "eve@example.com\n")

    def test_paths(self):
        """what is staged of a file is not the old side of what is shown"""
        self.write("f.txt", "staged\n")
        self.write("g.txt", "other\n")
        self.git("add", "f.txt", "g.txt")
        self.write("f.txt", "disk\n")
        self.shows({"message": "m", "paths": ["f.txt"]}, "-base", "+disk",
                     without=("-staged", "+other"))
        self.assertEqual(self.out("diff", "--cached", "--name-only"), "g.txt\n")

    def test_staged_away(self):
        """a staged change that the disk has not is not shown"""
        self.write("f.txt", "staged\n")
        self.git("add", "f.txt")
        self.write("f.txt", "base\n")
        self.write("new", "new\n")
        self.shows({"message": "m", "paths": ["f.txt", "new"]}, "+new", without=("-staged",))

    def test_all(self):
        """everything: new files too, and the ones that are left out are named"""
        self.write("f.txt", "staged\n")
        self.git("add", "f.txt")
        self.write("f.txt", "disk\n")
        self.write("new", "new\n")
        self.write(".env", "SECRET=1\n")
        shown = self.shows({"message": "m", "all": True}, "-base", "+disk", "+new",
                           without=("-staged", "+SECRET=1"))
        self.assertIn(".env", shown)

    def test_hunks(self):
        """a hunk: neither what is staged nor the other ones"""
        self.commit("f.txt", BLOCK, "lines")
        self.write("f.txt", BLOCK.replace("one", "1"))
        self.git("add", "f.txt")
        self.write("f.txt", BLOCK.replace("one", "1").replace("eight", "8"))
        self.shows({"message": "m", "hunks": [self.hunk()]}, "-eight", "+8", without=("+1",))
        self.assertEqual(self.out("show", "HEAD:f.txt"), BLOCK.replace("eight", "8"))

    def test_amend(self):
        """amending with a file shows what is added to the commit"""
        self.write("f.txt", "staged\n")
        self.git("add", "f.txt")
        self.write("new", "new\n")
        question, _number = self.ask({"amend": True, "paths": ["new"]})
        self.answer(question)
        self.server.receive()
        self.assertIn("+new", question["params"]["message"])
        self.assertNotIn("+staged", question["params"]["message"])

    def changed_meanwhile(self, arguments, change):
        """The change comes while the question is open."""
        head, question = self.out("rev-parse", "HEAD"), self.ask(arguments)
        change()
        staged = self.out("ls-files", "-s")
        self.answer(question[0])
        text = self.refuses(question[1])
        self.assertEqual(self.out("rev-parse", "HEAD"), head)
        self.assertEqual(self.out("ls-files", "-s"), staged)
        return text

    def test_file_changed(self):
        """a file that is changed while the question is open; plain git commits it"""
        self.write("f.txt", "shown\n")
        self.changed_meanwhile({"message": "m", "paths": ["f.txt"]},
                               lambda: self.write("f.txt", "evil!\n"))
        self.git("commit", "-q", "-m", "control", "f.txt")
        self.assertEqual(self.out("show", "HEAD:f.txt"), "evil!\n")

    def test_file_added(self):
        """a new file, for everything and for a directory"""
        self.write("d/a", "shown\n")
        for arguments in ({"all": True}, {"paths": ["d"]}):
            self.changed_meanwhile({"message": "m"} | arguments, lambda: self.write("d/evil", "evil\n"))
            (self.root / "d/evil").unlink()

    def test_index_changed(self):
        """what was staged is exchanged for the same name"""
        self.write("f.txt", "shown\n")
        self.git("add", "f.txt")
        for more in ({}, {"author": "A <a@example.org>"}, {"amend": True}, {"allow_empty": True}):
            self.changed_meanwhile({"message": "m"} | more, lambda: (
                self.write("f.txt", "evil\n"), self.git("add", "f.txt")))
            self.write("f.txt", "shown\n")
            self.git("add", "f.txt")

    def test_hunk_moved(self):
        """the same hunk at another place of the file has the same id, and is not what was shown"""
        self.commit("f.txt", 8 * BLOCK, "lines")
        self.write("f.txt", BLOCK.replace("four", "4") + 7 * BLOCK)
        hunk = self.hunk()
        moved = 7 * BLOCK + BLOCK.replace("four", "4")
        self.changed_meanwhile({"message": "m", "hunks": [hunk]}, lambda: self.write("f.txt", moved))
        self.assertEqual(self.hunk(), hunk)


if __name__ == "__main__":
    harness.main()
