# SPDX-License-Identifier: Apache-2.0
"""The base of tests of the toolsets `files` and `staging`."""
import re

import harness

TOOLSETS = ("--toolset", "files", "--toolset", "staging")
UUID = r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"


class Staging(harness.Case):
    """A repository at the root, and servers whose agents work in a sandbox."""

    def setUp(self):
        super().setUp()
        self.init()
        self.workspace = self.base / "workspace"
        self.config = self.base / "config.toml"
        self.config.write_text('[staging]\nbackend = "directory"\n'
                               f'path = "{self.workspace}"\n', encoding="utf-8")
        self.in_directory = (*TOOLSETS, "--config", str(self.config))

    def serve(self, *options):
        """A server whose sandbox is in memory, or where the options say."""
        return harness.Server(self, *(options or TOOLSETS))

    def put(self, server, path, content):
        """Write a file of the sandbox."""
        server.ok("write_file", {"path": f"/workspace/{path}", "content": content})

    def remove(self, server, path):
        """Delete one."""
        server.ok("delete_file", {"path": f"/workspace/{path}"})

    def stage(self, server, *paths, message="x"):
        """Stage files; gives the StagedCommit."""
        files = [f"/workspace/{path}" for path in paths]
        return server.ok("git_stage", {"files": files, "message": message}).value["structuredContent"]

    def status(self, server):
        """The text of git_status."""
        return server.ok("git_status").text

    def store(self):
        """The directory of the one store."""
        [store] = (self.home / ".local/state/airlock/staging").iterdir()
        return store

    def assert_staged_commit(self, staged, message, *files):
        """R1's StagedCommit, with these files as (operation, path)."""
        self.assertEqual(list(staged), ["id", "message", "files", "createdAt"])
        self.assertRegex(staged["id"], f"^{UUID}$")
        self.assertRegex(staged["createdAt"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(staged["message"], message)
        self.assertEqual([(file["operation"], file["sandboxPath"]) for file in staged["files"]],
                         [(operation, f"/workspace/{path}") for operation, path in files])
        for file in staged["files"]:
            self.assertEqual(list(file), ["sandboxPath", "operation", "contentHash", "size"])
            self.assertTrue(re.fullmatch(r"[0-9a-f]{40}", file["contentHash"]), file)
