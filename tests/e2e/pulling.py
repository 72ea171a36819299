# SPDX-License-Identifier: Apache-2.0
"""The base of tests of pulling: a repository to pull from, and servers with either backend."""
import staging


class Pulling(staging.Staging):
    """A repository inside the root, apart from the sandbox."""

    backend = "memory"

    def setUp(self):
        super().setUp()
        self.proj = self.root / "proj"
        self.init(self.proj)
        self.source = {"type": "local", "path": "proj"}
        self.started = None

    def server(self, more=""):
        """A server with the sandbox and its tools; the one before it ends."""
        self.config.write_text(f'[staging]\nbackend = "{self.backend}"\n'
                               f'path = "{self.workspace}"\n{more}', encoding="utf-8")
        if self.started:
            self.started.close()
        self.started = self.serve(*self.in_directory)
        return self.started

    def upstream(self, files, where=None):
        """Commit files to pull; None deletes one."""
        where = where or self.proj
        for name, content in files.items():
            if content is None:
                self.git("rm", "-q", "--", name, cwd=where)
            else:
                self.write(name, content, where)
        self.git("add", "-A", cwd=where)
        self.git("commit", "-q", "-m", "change", cwd=where)

    def pull(self, server, *paths, source=None):
        """git_pull's pulled, conflicts and notes."""
        arguments = {"source": source or self.source}
        if paths:
            arguments["paths"] = list(paths)
        result = server.ok("git_pull", arguments)
        value = result.value["structuredContent"]
        self.assertEqual(list(value), ["pulled", "conflicts"])
        return value["pulled"], value["conflicts"], "\n".join(
            item["text"] for item in result.value["content"][1:])

    def text(self, server, path):
        """The content of a file of the sandbox."""
        return server.ok("read_file", {"path": f"/workspace/{path}"}).text

    def files(self, server):
        """The paths in the sandbox."""
        lines = server.ok("list_files").text.splitlines()
        return [line.removeprefix("/workspace/") for line in lines if line.startswith("/workspace/")]

    def unstaged(self, server):
        """What git_status says of each changed file."""
        status = server.ok("git_status").value["structuredContent"]
        return {entry["path"].removeprefix("/workspace/"): entry["status"]
                for entry in status["unstaged"]}
