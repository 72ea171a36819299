# SPDX-License-Identifier: Apache-2.0
"""since and until: what git reads as a date is taken, what it passes over is refused."""
import json
import pathlib
import re

import harness

HERE = pathlib.Path(__file__).resolve().parent
NOW = 1700000001


def values(name):
    """The strings of a list that the unit test has too."""
    text = (HERE.parent / "unit" / "guard" / name).read_text(encoding="utf-8")
    return [json.loads(word) for word in re.findall(r'"(?:[^"\\]|\\.)*"', text)]


TAKEN, REFUSED = values("dates_taken.h"), values("dates_refused.h")
MEANS_NOW = ("now",)


class Dates(harness.Case):
    def reads(self, value):
        """What plain git makes of it, in seconds; it never fails."""
        return int(self.out("rev-parse", f"--since={value}", GIT_TEST_DATE_NOW=str(NOW),
                            TZ="UTC").strip().split("=")[1])

    def test_git(self):
        """git reads something of every value that is taken, and fails for none that is refused"""
        self.init()
        self.assertGreater(len(TAKEN), 50)
        for value in TAKEN:
            (self.assertEqual if value in MEANS_NOW else self.assertNotEqual)(
                self.reads(value), NOW, value)
        for value in REFUSED:
            self.reads(value)

    def test_git_toolset(self):
        """git_log of toolset git; in a session, so that each value costs one git"""
        self.init()
        server = harness.Server(self, "--toolset", "git")
        for value in TAKEN:
            server.ok("git_log", {"since": value})
        for value in REFUSED:
            for name in ("since", "until"):
                result = server.call("git_log", {name: value})
                self.assertEqual(result.kind, "BadArgs", (name, value))
                self.assertTrue(result.text.startswith(f"{name}: git cannot read '"), result.text)

    def test_others(self):
        """the other tools that have a date"""
        self.init()
        workflow = harness.Server(self, "--toolset", "workflow")
        readonly = harness.Server(self, "--toolset", "readonly")
        for value in ("2 weeks ago", "yesterday", "1.week.ago", "@0 +0000", "never"):
            workflow.ok("git_log", {"since": value})
            workflow.ok("git_log", {"until": value})
        for value in ("gestern", "v2.30.0", "today"):
            for name in ("since", "until"):
                self.assertEqual(workflow.call("git_log", {name: value}).kind, "BadArgs", value)
            result = readonly.call("Git", {"op": "log", "repo": str(self.root),
                                           "args": [f"--since={value}"]})
            self.assertTrue(result.text.startswith("invalid_args: args: --since: git cannot read"),
                            result.text)
        readonly.ok("Git", {"op": "log", "repo": str(self.root), "args": ["--since=1.week.ago"]})

    def test_finds(self):
        """what is taken filters as with git"""
        self.init()
        self.commit("a.txt", "two\n", "second")
        middle = harness.CLOCK + 30
        self.assertEqual(self.ok("git_log", {"since": f"@{middle} +0000", "format": "%s"}).text,
                         "second\n")
        self.assertEqual(self.ok("git_log", {"until": str(middle), "format": "%s"}).text,
                         "first\n")


if __name__ == "__main__":
    harness.main()
