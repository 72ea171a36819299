# SPDX-License-Identifier: Apache-2.0
"""The base of tests of toolset `everyday`: plain text results, and two branches that collide."""
import hashlib

import harness

LINES = [f"line {i}\n" for i in range(40)]


def text_with(**changes):
    """The forty lines with some replaced: at5="x" for the line number 5."""
    lines = list(LINES)
    for name, line in changes.items():
        lines[int(name[2:])] = line + "\n" if line else ""
    return "".join(lines)


class Case(harness.Case):
    """Calls of toolset `everyday`."""

    def call(self, tool, arguments=None, *options, **named):
        """`airlock call --toolset everyday`; a result is never empty and has no JSON."""
        result = super().call(tool, arguments, "--toolset", "everyday", *options, **named)
        self.assertNotIn("structuredContent", result.value, result)
        self.assertTrue(result.text.strip(), result)
        return result

    def says(self, tool, arguments=None, **named):
        """The text of a call that must work."""
        return self.ok(tool, arguments, **named).text

    def snapshot(self):
        """A digest of the tree, the index and all references: what a failing call leaves alone."""
        digest = hashlib.sha256()
        for path in sorted(self.root.rglob("*")):
            inside = path.relative_to(self.root)
            if inside.parts[0] == ".git":
                continue
            digest.update(f"{inside} {path.lstat().st_mode}".encode())
            if path.is_symlink():
                digest.update(str(path.readlink()).encode())
            elif path.is_file():
                digest.update(path.read_bytes())
        for words in (("ls-files", "--stage"), ("for-each-ref",), ("rev-parse", "HEAD"),
                      ("symbolic-ref", "-q", "HEAD"), ("status", "--porcelain=2", "--branch")):
            digest.update(self.git(*words, check=False).stdout)
        return digest.hexdigest()

    def fails(self, kind, words, tool, arguments=None, **named):
        """A call that must fail so, with these words, and leave everything as it was."""
        before = self.snapshot()
        result = self.call(tool, arguments, **named)
        self.assertTrue(result.failed, result)
        self.assertEqual(result.kind, kind, result)
        self.assertIn(words, result.text)
        self.assertEqual(self.snapshot(), before, result)
        return result

    def fork(self, ours, theirs, base=None, name="f.txt"):
        """`main` and `topic` change one file differently; text or None for no file."""
        if not (self.root / ".git").exists():
            self.init()
        if base is not None:
            self.commit(name, base, "base")
        self.git("checkout", "-q", "-b", "topic")
        self.change(name, theirs, "theirs")
        self.git("checkout", "-q", "main")
        self.change(name, ours, "ours")

    def change(self, name, content, message):
        """Commit a file, or that it is gone."""
        if content is None:
            self.git("rm", "-q", "--", name)
            self.git("commit", "-q", "-m", message)
        else:
            self.commit(name, content, message)

    def collide(self, ours, theirs, base=None, name="f.txt"):
        """The same, and a merge by git that stops."""
        self.fork(ours, theirs, base, name)
        self.git("merge", "-q", "topic", check=False)

    def unmerged(self):
        """The paths in conflict."""
        return sorted(set(self.out("diff", "--name-only", "--diff-filter=U").split()))


class Server(harness.Server):
    """`airlock serve --toolset everyday`."""

    def __init__(self, case, *options, **named):
        super().__init__(case, "--toolset", "everyday", *options, **named)

    def says(self, tool, arguments=None):
        """The text of a call that must work."""
        return self.ok(tool, arguments).text


class AskingServer(harness.AskingServer):
    """The same with a user behind the client."""

    def __init__(self, case, *options, **named):
        super().__init__(case, "--toolset", "everyday", *options, **named)
