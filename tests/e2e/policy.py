# SPDX-License-Identifier: Apache-2.0
"""The base of tests of rules and grants: a user's configuration, and what airlock decides."""
import json
import subprocess

import harness

DENIED = "ApprovalDenied"
COMMIT = {"type": "feat", "message": "more"}


class Case(harness.Case):
    """A repository, and a place for the configuration."""

    def setUp(self):
        super().setUp()
        self.init()
        self.config = self.home / ".config/airlock/config.toml"
        self.config.parent.mkdir(parents=True, exist_ok=True)

    def configure(self, text):
        """Write the configuration."""
        self.config.write_text(text, encoding="utf-8")

    def rules(self, *rules):
        """A configuration of rules, each a dictionary; gives the line of each."""
        text, lines = "", []
        for rule in rules:
            lines.append(text.count("\n") + 1)
            text += "[[tools.approval.rule]]\n"
            text += "".join(f"{key} = {json.dumps(value)}\n" for key, value in rule.items())
        self.configure(text)
        return lines

    def command(self, *words, cwd=None):
        """A command other than `call`."""
        if words[0] in ("policy", "tools"):
            words += tuple(self.named_toolsets(words))
        return subprocess.run([harness.AIRLOCK, *words], cwd=cwd or self.root, env=self.env,
                              stdin=subprocess.DEVNULL, capture_output=True, check=False, text=True,
                              timeout=harness.WATCHDOG_SECONDS, start_new_session=True)

    def explain(self, tool, arguments=None, *options):
        """`airlock policy explain --json` of a call that is decided."""
        done = self.command("policy", "explain", "--json", *options, tool,
                            json.dumps(arguments or {}))
        self.assertEqual(done.returncode, 0, done)
        return json.loads(done.stdout)

    def decided(self, decision, rule, tool, arguments=None, *options):
        """It must be decided in this way by this rule."""
        found = self.explain(tool, arguments, *options)
        self.assertEqual((found["decision"], found["rule"]), (decision, rule), found)
        return found

    def staged(self):
        """The names git has staged."""
        return self.out("diff", "--cached", "--name-only").split()

    def last_record(self):
        """How the last call was decided, in the journal."""
        lines = self.command("log", "--json", "1").stdout.splitlines()
        record = json.loads(lines[-1])
        return record["outcome"], record["decision"], record["decided_by"]
