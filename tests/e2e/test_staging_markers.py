#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Conflict markers that git_pull wrote: they are resolved before the file is staged."""
import harness
import pulling

LEFT = ("'/workspace/{}' still has the conflict markers that git_pull wrote; resolve each conflict "
        "with write_file, then call git_stage again")
SEPARATOR = ("'/workspace/{}' still has a line ======= of the conflict markers that git_pull "
             "wrote; remove it with write_file, then call git_stage again")


class Markers:
    """With either backend."""

    def conflict(self, *names):
        """Files that changed on both sides, pulled; gives the server."""
        self.upstream({name: "one\n" for name in names})
        server = self.server()
        self.pull(server, *names)
        for name in names:
            self.put(server, name, "ours\n")
        self.upstream({name: "theirs\n" for name in names})
        self.assertEqual(self.pull(server, *names)[1], list(names))
        return server

    def refused(self, server, name, *files, left=LEFT):
        """git_stage names a file that still has markers, and stages nothing."""
        result = server.refused("ExecutionFailed", left.format(name), "git_stage", {
            "files": [f"/workspace/{path}" for path in files or (name,)], "message": "x"})
        self.assertEqual(result.error["reason"], "conflict")
        self.assertNotIn("Staged Commits", self.status(server))

    def test_left(self):
        """a file with markers is refused, by its name or with others, and staged once resolved"""
        server = self.conflict("a.md", "sub/b.md")
        self.put(server, "c.md", "new\n")
        self.refused(server, "a.md")
        self.refused(server, "a.md", "c.md", "a.md")
        self.refused(server, "a.md", "")
        self.refused(server, "sub/b.md", "sub/*.md")
        self.put(server, "a.md", "resolved\n")
        self.refused(server, "sub/b.md", "")
        half = self.text(server, "sub/b.md").replace("<<<<<<< ours (sandbox)\n", "")
        self.put(server, "sub/b.md", half)
        self.refused(server, "sub/b.md", "")
        self.put(server, "sub/b.md", "resolved\n=======\n")
        self.refused(server, "sub/b.md", "", left=SEPARATOR)
        self.put(server, "sub/b.md", "resolved\n========\n")
        self.assertEqual(len(self.stage(server, "")["files"]), 3)

    def test_title(self):
        """a line that looks like a marker and was in the file before is staged"""
        title = "A title\n=======\n"
        self.upstream({"a.md": f"{title}one\n", "b.md": "one\n"})
        server = self.server()
        self.pull(server, "a.md", "b.md")
        self.put(server, "a.md", f"{title}ours\n")
        self.put(server, "b.md", "ours\n")
        self.upstream({"a.md": f"{title}theirs\n", "b.md": "theirs\n"})
        self.assertEqual(self.pull(server, "a.md", "b.md")[1], ["a.md", "b.md"])
        self.refused(server, "a.md")
        self.put(server, "a.md", f"{title}both\n")
        self.put(server, "b.md", "ours\r\n=======\r\ntheirs")
        self.refused(server, "b.md", "", left=SEPARATOR)
        self.put(server, "b.md", "both\n=======")
        self.refused(server, "b.md", left=SEPARATOR)
        self.put(server, "b.md", "both\n")
        self.assertEqual(len(self.stage(server, "")["files"]), 2)

    def test_status(self):
        """git_status names the files that have to be resolved, in a second text"""
        server = self.conflict("a.md", "b.md")
        for content, left in (("ours\n", "/workspace/b.md"), ("x <<<<<<< ours (sandbox)\n", "")):
            before = server.ok("git_status")
            self.assertIn("/workspace/a.md", before.notes + before.text)
            self.put(server, "a.md" if left else "b.md", content)
            notes = server.ok("git_status").notes
            self.assertEqual(notes, left and "Conflict markers of git_pull have to be resolved in: "
                             + left)
        self.stage(server, "")

    def test_without_the_file(self):
        """the other files can be staged, and the file can be deleted"""
        server = self.conflict("a.md")
        self.put(server, "c.md", "new\n")
        self.stage(server, "c.md")
        self.remove(server, "a.md")
        self.assertEqual(self.stage(server, "")["files"][0]["operation"], "delete")

    def test_no_base(self):
        """a file that the sandbox had already is merged, and refused likewise"""
        self.upstream({"a.md": "theirs\n"})
        server = self.server()
        self.put(server, "a.md", "ours\n")
        self.assertEqual(self.pull(server, "a.md")[1], ["a.md"])
        self.refused(server, "a.md")

    def test_others(self):
        """conflicts without markers, and markers that no pull wrote, are staged"""
        self.upstream({"bin": b"\0one", "gone.md": "one\n"})
        server = self.server()
        self.pull(server, "bin", "gone.md")
        self.put(server, "bin", "ours")
        self.put(server, "gone.md", "ours\n")
        self.put(server, "about.md", "<<<<<<< ours (sandbox)\n>>>>>>> theirs (incoming)\n")
        self.upstream({"bin": b"\0two", "gone.md": None})
        self.assertEqual(self.pull(server)[1], ["bin", "gone.md"])
        self.assertEqual(len(self.stage(server, "")["files"]), 3)


class InMemory(Markers, pulling.Pulling):
    pass


class InDirectory(Markers, pulling.Pulling):
    backend = "directory"

    def test_restart(self):
        """another server knows it as well"""
        server = self.conflict("a.md")
        server = self.server()
        self.refused(server, "a.md")
        (self.workspace / "a.md").write_text("resolved\n", encoding="utf-8")
        self.stage(server, "a.md")


del Markers

if __name__ == "__main__":
    harness.main()
