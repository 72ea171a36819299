#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The question about a push marks what a diff alone does not show."""
import harness
import pushing


class Marks(pushing.Pushing):
    def pull(self, *paths):
        """Files of the repository at the root."""
        self.ok("git_pull", {"source": self.LOCAL, "paths": list(paths)})

    def files(self, staged, *options):
        """The lines of the question that name files."""
        message = self.shown(staged, self.LOCAL, *options)
        lines = message[message.index("Files:\n"):].split("\n\n")[0].split("\n")[1:]
        return [line.removeprefix("  ") for line in lines], message

    def test_never_pulled(self):
        """a file that the agent never saw and would replace is marked and comes first"""
        for name in ("seen.txt", "unseen.txt"):
            self.commit(name, "theirs\n", name)
        self.pull("seen.txt")
        staged = self.stage({"a-new.txt": "new\n", "seen.txt": "ours\n", "unseen.txt": "ours\n"})
        lines, _ = self.files(staged)
        self.assertEqual(lines, [
            "M unseen.txt (5 B), replaces a file the agent never pulled", "+ a-new.txt (4 B)",
            "M seen.txt (5 B)"])
        self.pushed(staged)
        staged = self.stage({"unseen.txt": "again\n", "a-new.txt": "again\n"})
        self.assertEqual(self.files(staged)[0], ["M a-new.txt (6 B)", "M unseen.txt (6 B)"])

    def test_binary(self):
        """of a binary file the question has the number of bytes, and not the bytes"""
        png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256)) * 8
        self.commit("old.png", png, "a picture")
        self.pull("old.png")
        staged = self.stage({"new.png": png, "old.png": png[::-1], "one": b"\0",
                             "text.txt": b"text\n" + b"\x01" * 7 + b"\xe4\n"})
        lines, message = self.files(staged)
        self.assertEqual(lines, [
            f"+ new.png (binary, {len(png)} bytes)",
            f"M old.png (binary, {len(png)} bytes)", "+ one (binary, 1 byte)", "+ text.txt (14 B)"])
        self.assertNotIn("IHDR", message)
        self.assertIn("+text\n", message)

    def test_not_binary(self):
        """control characters hide no text, and a NUL byte no text that becomes binary, and no script"""
        self.commit("becomes.sh", "echo one\n", "a script")
        self.pull("becomes.sh")
        staged = self.stage({
            "becomes.sh": b"echo evil\n" + b"\x02" * 40, "few": b"few\n" + b"\x01" * 7,
            "log": b"\x1b[31mred\x1b[0m\t\f\r\n" * 40, "many": b"# " + b"\x01" * 99 + b"\nmany\n",
            "new.sh": b"#!/bin/sh\n# \0\nrm -rf x\n"})
        _, message = self.files(staged)
        self.assertNotIn("binary", message)
        for word in ("+echo evil\n", "+few\n", "[31mred", "+many\n", "+rm -rf x\n"):
            self.assertIn(word, message)

    def test_line_ends(self):
        """a change of line ends, which a diff shows as equal lines, is named"""
        old = {"lf.txt": "one\ntwo\n", "crlf.txt": "one\r\ntwo\r\n", "mixed.txt": "one\r\ntwo\n",
               "half.txt": "one\ntwo\n", "same.txt": "one\r\ntwo\r\n", "open.txt": "one\r\ntwo",
               "more.txt": "one\n", "end.txt": "one"}
        for name, content in old.items():
            self.commit(name, content, name)
        self.pull(*old)
        staged = self.stage({
            "lf.txt": "one\r\ntwo\r\n", "crlf.txt": "one\ntwo\n", "mixed.txt": "one\r\ntwo\r\n",
            "half.txt": "1\ntwo\r\n", "same.txt": "1\r\ntwo\r\n", "open.txt": "1\r\n2",
            "more.txt": "one\n\r\n", "end.txt": "one\n"})
        lines, _ = self.files(staged)
        marked = {line.split()[1] for line in lines if line.endswith(", line ends change")}
        self.assertEqual(marked, {"lf.txt", "crlf.txt", "mixed.txt", "half.txt"})
        self.assertEqual({line.split()[1] for line in lines[:4]}, marked)

    def test_cut(self):
        """a question that is cut names the command that shows all"""
        short = self.stage({"b.txt": "b\n" * 150})
        long = self.stage({"c.txt": "c\n" * 300})
        for staged, cut in ((short, False), (long, True)):
            _, message = self.files(staged)
            line = ("All that is staged, in a terminal: airlock staging diff "
                    f"{staged[:8]}\n")
            (self.assertIn if cut else self.assertNotIn)(line, message + "\n")


if __name__ == "__main__":
    harness.main()
