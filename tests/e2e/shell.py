# SPDX-License-Identifier: Apache-2.0
"""The base of tests of bash_command."""
import json

import harness


class Shell(harness.Case):
    """A repository, and the tool."""

    def setUp(self):
        super().setUp()
        self.init()
        self.options = ("--tool=command",)

    def line(self, command, *options, reason="test", **named):
        """One call."""
        return self.call("bash_command", {"command": command, "reason": reason}, "--toolset",
                         "shell", *self.options, *options, **named)

    def object(self, command, *options, **named):
        """The object of a call; its text is the same."""
        result = self.line(command, *options, **named)
        value = result.value["structuredContent"]
        self.assertEqual(json.loads(result.text), value)
        return value

    def config(self, text):
        """A configuration file."""
        path = self.base / "config.toml"
        path.write_text(text, encoding="utf-8")
        return ("--config", str(path))
