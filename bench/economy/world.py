# SPDX-License-Identifier: Apache-2.0
"""The repositories that the tasks begin with: made by git, with a fixed clock and identity."""
import os
import pathlib
import shutil
import subprocess

LINES = [f"line {n} of the file, as it was written first" for n in range(1, 121)]


class World:
    """A working tree `repo` and its remote `origin.git`, copied anew for each task."""

    def __init__(self, base):
        self.base = pathlib.Path(base)
        self.home = self.base / "home"
        self.home.mkdir()
        (self.home / ".gitconfig").write_text(
            "[user]\n\tname = A U Thor\n\temail = author@example.com\n"
            "[init]\n\tdefaultBranch = main\n[advice]\n\tdetachedHead = false\n")
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8",
                    "XDG_STATE_HOME": str(self.home / "state"), "LOGNAME": "user", "USER": "user",
                    "MCP_TRANSPORT_TYPE": "stdio", "MCP_LOG_LEVEL": "error",
                    "GIT_SIGN_COMMITS": "false",
                    "GIT_AUTHOR_DATE": "1770000000 +0000", "GIT_COMMITTER_DATE": "1770000000 +0000"}
        self.template = self.base / "template"
        self.template.mkdir()
        self.clock = 1770000000
        self.build()
        self.repo = self.base / "w" / "repo"
        self.origin = self.base / "w" / "origin.git"

    def git(self, *words, repo=None, check=True):
        self.clock += 60
        env = self.env | {name: f"{self.clock} +0000"
                          for name in ("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE")}
        done = subprocess.run(["git", *words], cwd=repo or self.repo, env=env, check=check,
                              capture_output=True, text=True)
        return done.stdout.rstrip("\n")

    def build(self):
        repo = self.template / "repo"
        repo.mkdir()
        self.git("init", "-q", repo=repo)
        self.git("init", "-q", "--bare", "../origin.git", repo=repo)
        for number in range(12):
            (repo / f"f{number}.txt").write_text("\n".join(LINES) + "\n")
            (repo / "src").mkdir(exist_ok=True)
            (repo / "src" / f"m{number}.c").write_text(f"int value{number} = {number};\n" * 8)
            self.git("add", "-A", repo=repo)
            self.git("commit", "-q", "-m", f"part {number}: the file and its module", repo=repo)
        self.git("tag", "v1.0", "HEAD~4", repo=repo)
        self.git("remote", "add", "origin", "../origin.git", repo=repo)
        self.git("push", "-q", "-u", "origin", "main", repo=repo)
        self.git("checkout", "-q", "-b", "topic", repo=repo)
        self.change("f1.txt", 60, "line 60 as topic has it", repo)
        self.git("commit", "-q", "-am", "topic: another line 60", repo=repo)
        (repo / "topic.txt").write_text("topic\n")
        self.git("add", "-A", repo=repo)
        self.git("commit", "-q", "-m", "topic: a file", repo=repo)
        self.git("checkout", "-q", "main", repo=repo)

    @staticmethod
    def change(name, number, line, repo):
        path = repo / name
        lines = path.read_text().split("\n")
        lines[number - 1] = line
        path.write_text("\n".join(lines))

    def begin(self):
        """A fresh copy; the path stays the same, so that names cost the same."""
        shutil.rmtree(self.base / "w", ignore_errors=True)
        shutil.rmtree(self.home / "state", ignore_errors=True)
        shutil.copytree(self.template, self.base / "w", symlinks=True)
        self.git("status")

    def text(self, name):
        return (self.repo / name).read_text()

    def edit(self, name, number, line):
        self.change(name, number, line, self.repo)
