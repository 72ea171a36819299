#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""everyday: names, kinds of files and states of a repository that are not the usual ones.

A call that fails leaves the tree, the index and the references as they were.
"""
import os
import unicodedata

import everyday
import harness

NAMES = ("with space", " lead", "trail ", "quo\"te", "apo's", "back\\slash", "dash-", "-dash", "näh",
         unicodedata.normalize("NFD", "näh2"), "日本語", "bi\u202edi", "zero\u200bwidth", "nl\nx",
         "tab\tx", "esc\x1b[2J", "star*", "[ab]", "q?", ":colon", ":(top)x", "#hash", "$HOME", "a;b",
         "%s%n", "<U+000A>", "émoji😀", "dir\nnl/f")


def shown(name):
    """A name as answers show it."""
    return "".join(f"<U+{ord(c):04X}>" if ord(c) < 32 or c in "\u202e\u200b" else c for c in name)


class Names(everyday.Case):
    def setUp(self):
        super().setUp()
        self.init()
        for i, name in enumerate(NAMES):
            self.write(name, f"{i}\n")
        self.server = everyday.Server(self)

    def names(self, *words):
        return sorted(self.out(*words, "-z").split("\0")[:-1])

    def test_shown_and_taken(self):
        """every name is shown in one way, and taken as it is shown"""
        text = self.server.says("git_status").splitlines()
        for i, name in enumerate(NAMES):
            self.assertIn(" " + shown(name), text, text)
            self.server.says("git_add", {"paths": [shown(name)]})
            self.assertEqual(self.names("diff", "--cached", "--name-only"), [name])
            self.assertIn(shown(name), self.server.says("git_diff", {"staged": True}))
            self.server.says("git_restore", {"paths": [shown(name)], "staged": True})
            self.server.says("git_commit", {"paths": [shown(name)], "message": f"add {i}"})
            self.assertEqual(self.names("show", "--format=", "--name-only"), [name])
            self.write(name, "changed\n")
            self.server.says("git_restore", {"paths": [shown(name)]})
            self.assertEqual((self.root / name).read_text(), f"{i}\n")
            self.assertEqual(self.server.says("git_show", {"path": shown(name)}), str(i))
            self.assertIn(f"add {i}", self.server.says("git_blame", {"path": shown(name)}))
            self.assertEqual(len(self.server.says("git_log", {"paths": [shown(name)]}).splitlines()),
                             1, name)
            self.assertIn(shown(name), self.server.says("git_grep", {"pattern": str(i),
                                                                     "paths": [shown(name)]}))

    def test_as_they_are(self):
        """the same names, given as they are"""
        self.server.says("git_add", {"paths": list(NAMES)})
        self.assertEqual(self.names("diff", "--cached", "--name-only"), sorted(NAMES))

    def test_hunks(self):
        """hunks of files with such names"""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all")
        for name in NAMES:
            self.write(name, "changed\n")
            text = self.server.says("git_diff", {"hunks": True, "paths": [shown(name)]})
            hunk = text.split("@@ ", 1)[1].split()[0]
            self.server.says("git_add", {"hunks": [hunk]})
            self.assertEqual(self.names("diff", "--cached", "--name-only"), [name])
            self.server.says("git_commit", {"message": "m"})

    def test_conflicts(self):
        """conflicts in files with such names"""
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "all")
        self.git("branch", "topic")
        for content, branch in (("ours\n", "main"), ("theirs\n", "topic")):
            self.git("checkout", "-q", branch)
            for name in NAMES:
                self.write(name, content)
            self.git("commit", "-q", "-am", branch)
        self.server.says("git_merge", {"branch": "main"})
        self.assertEqual(len(self.names("diff", "--name-only", "--diff-filter=U")), len(NAMES))
        for name in NAMES:
            self.assertIn(shown(name), self.server.says("git_conflicts", {"path": shown(name)}))
            self.server.says("git_conflicts", {"action": "resolve", "path": shown(name),
                                               "take": "theirs"})
            self.assertEqual((self.root / name).read_text(), "ours\n")
        self.server.says("git_conflicts", {"action": "continue"})
        self.assertEqual(self.out("status", "--porcelain"), "")

    def test_both_exist(self):
        """a file that has the very name that another one is shown with comes first"""
        self.write("same<U+0009>", "literal\n")
        self.write("same\t", "tab\n")
        self.server.says("git_add", {"paths": ["same<U+0009>"]})
        self.assertEqual(self.names("diff", "--cached", "--name-only"), ["same<U+0009>"])
        self.server.says("git_add", {"paths": ["same\t"]})
        self.assertEqual(self.names("diff", "--cached", "--name-only"), ["same\t", "same<U+0009>"])

    def test_other_form(self):
        """an umlaut in its other normal form is another name, and says so"""
        for form, other in (("NFC", "NFD"), ("NFD", "NFC")):
            name = unicodedata.normalize(form, f"ö{form}")
            self.write(name, "x\n")
            self.fails("ExecutionFailed", "There is no", "git_add",
                       {"paths": [unicodedata.normalize(other, name)]})

    def test_not_utf8(self):
        """a name that is no UTF-8 is shown, and a glob takes it"""
        with open(os.fsencode(self.root) + b"/latin-\xe4.txt", "wb") as file:
            file.write(b"x\n")
        self.assertIn("latin-<E4>.txt", self.server.says("git_status"))
        self.server.says("git_add", {"paths": ["latin-*"]})
        self.assertEqual(self.git("diff", "--cached", "--name-only", "-z").stdout,
                         b"latin-\xe4.txt\0")

    def test_outside(self):
        """paths outside the repository, and in .git"""
        (self.base / "secret").write_text("hidden text\n")
        os.symlink(self.base, self.root / "out")
        for path in ("../secret", "../../secret", "/etc/passwd", "out/secret", ".git/config",
                     ".GIT/config", "sub/../../secret", str(self.base / "secret"), "../secret<U+000A>",
                     "..<U+002F>secret", "<U+002E>./secret"):
            for tool, arguments in (("git_add", {"paths": [path]}), ("git_restore", {"paths": [path]}),
                                    ("git_show", {"path": path}), ("git_blame", {"path": path}),
                                    ("git_commit", {"paths": [path], "message": "m"}),
                                    ("git_conflicts", {"action": "resolve", "path": path,
                                                       "content": "x"}),
                                    ("git_stash", {"paths": [path]})):
                before = self.snapshot()
                result = self.server.call(tool, arguments)
                self.assertTrue(result.failed, (tool, path, result))
                if ".git" in path.lower():
                    self.assertIn("Protected path: ", result.text)

                self.assertNotIn("hidden text", result.text)
                self.assertEqual(self.snapshot(), before, (tool, path, result))
        self.assertEqual((self.base / "secret").read_text(), "hidden text\n")


if __name__ == "__main__":
    harness.main()
