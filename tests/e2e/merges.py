# SPDX-License-Identifier: Apache-2.0
"""The base of tests of merges: two branches with different commits."""
import workflow

OURS, THEIRS = "const port = 3000;\n", "const port = 8080;\n"
MARKERS = ("<<<<<<< HEAD\nconst port = 3000;\n=======\nconst port = 8080;\n"
           ">>>>>>> feature/auth")


class Case(workflow.Case):
    """A repository in which `main` and `feature/auth` have diverged."""

    def branch(self, name, content, message="feat: theirs"):
        """A commit on feature/auth."""
        self.git("checkout", "-q", "-B", "feature/auth")
        self.commit(name, content, message)
        self.git("checkout", "-q", "main")

    def collide(self, name="src/config.ts", ours=OURS, theirs=THEIRS):
        """Both sides add a file."""
        if not (self.root / ".git").exists():
            self.init()
        self.branch(name, theirs)
        self.commit(name, ours, "feat: ours")

    def conflict(self, **named):
        """The same, and the merge that stops."""
        self.collide(**named)
        self.git("merge", "-q", "feature/auth", check=False)

    def tree(self):
        """Every file of the working tree and what it says."""
        return {str(path.relative_to(self.root)): path.read_bytes()
                for path in self.root.rglob("*") if path.is_file() and ".git" not in path.parts}
