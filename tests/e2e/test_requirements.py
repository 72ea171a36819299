#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tests/e2e/REQUIREMENTS.md and the tests name the same ids and the same cases."""
import pathlib
import re

import harness

TOP = pathlib.Path(__file__).resolve().parents[2]

# How many tests the requirements have of each kind.
COUNTS = {
    "STATUS": 2, "DIFF": 4, "RESTORE": 3, "ADD": 3, "COMMIT": 3, "LOG": 3, "BRANCH": 4,
    "CHECKOUT": 4, "STASH": 4, "SHOW": 2, "BLAME": 3, "ERR": 5, "SEC": 10, "COMMON": 4,
    "EDGE": 22, "TIMEOUT": 4, "INT": 8,
}


# Ids of the other requirements, which number what they accept.
NUMBERED = {
    "R2": [*range(1, 11)],
    "R3": [*range(1, 13)],
    "R4": [*range(1, 23), 7000, 7001, 7002, 7010, 7020, *range(7030, 7038)],
}

ID = r"(?:T-GIT-[A-Z]+-\d\d|R\d-\d+)"


def listed():
    """{id: (file or a reason, [case])} of the page."""
    rows = {}
    text = (TOP / "tests/e2e/REQUIREMENTS.md").read_text(encoding="utf-8")
    for name, where, cases in re.findall(rf"^\| ({ID}) \| (.+?) \| (.+?) \|$", text, re.M):
        if name in rows:
            raise AssertionError(f"{name} is listed twice")
        rows[name] = (where.strip("`"), cases.replace("`", "").split(", "))
    return rows


def written():
    """{(id, file, case)} of the test files."""
    found = set()
    for path in sorted((TOP / "tests/e2e").glob("test_*.py")):
        group = case = ""
        for line in path.read_text(encoding="utf-8").splitlines():
            if match := re.match(r"class (\w+)\(", line):
                group = match[1]
            elif match := re.match(r"    def (test_\w+)\(", line):
                case = match[1]
            elif match := re.match(rf'        """((?:{ID} )+)', line):
                found |= {(name, f"tests/e2e/{path.name}", f"{group}.{case}")
                          for name in match[1].split()}
    return found


class Requirements(harness.unittest.TestCase):
    def test_ids(self):
        """every id of the requirements is listed, in their order"""
        self.assertEqual(list(listed()), [f"T-GIT-{kind}-{number:02}"
                                          for kind, count in COUNTS.items()
                                          for number in range(1, count + 1)]
                         + [f"{kind}-{number}" for kind, numbers in NUMBERED.items()
                            for number in numbers])

    def test_cases(self):
        """the listed cases are those that say the id"""
        claimed = {(name, where, case) for name, (where, cases) in listed().items()
                   if where.startswith("tests/") for case in cases}
        self.assertEqual(sorted(claimed), sorted(written()))

    def test_reasons(self):
        """what has no test says why"""
        for name, (where, cases) in listed().items():
            if not where.startswith("tests/"):
                self.assertEqual(where, "not tested", name)
                self.assertTrue(cases[0], name)


if __name__ == "__main__":
    harness.main()
