# SPDX-License-Identifier: Apache-2.0
"""The MCP conformance suite over HTTP:  run.py AIRLOCK-FIXTURES

Each revision has a baseline: the scenarios, or single checks of one, that airlock does not pass,
each with its reason.  The test fails when something else fails, and when an entry passes.
"""
import json
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "e2e"))
import harness
import http_server
import npm

HERE = pathlib.Path(__file__).resolve().parent
SUITE = "node_modules/@modelcontextprotocol/conformance/dist/index.js"
NODE_MIN = 22
RUN_SECONDS = 1800
SCENARIO_MS = 300000

# Required scenarios of each revision that the reference server fails, which is
# @modelcontextprotocol/server-everything 2026.8.31 with streamableHttp: airlock has to do better.
REFERENCE = {"2025-11-25": 19, "2026-07-28": 36}

# Scenarios that the suite runs and does not require, because servers of its own fail them.
BESIDES = {
    "2025-11-25": ("server-session-lifecycle", "json-schema-2020-12", "server-sse-polling"),
    "2026-07-28": ("http-header-validation", "json-schema-2020-12"),
}


def entries(baseline):
    """The entries of a baseline, each with the comment above it."""
    found, reason = [], ""
    for line in baseline.read_text(encoding="utf-8").splitlines():
        if line.startswith("  #"):
            reason = line.strip("# ")
        elif line.startswith("  - "):
            found.append((line[4:], reason))
    return found


class Conformance(harness.Case):
    """airlock with the fixtures of the suite, and without any token."""

    toolsets = ("conformance", "everyday")

    def run_suite(self, revision):
        """The suite's own verdict with our baseline."""
        target = npm.install(HERE)
        node = npm.node_of(target, NODE_MIN)
        self.init()
        server = http_server.Endpoint(self)
        out = self.base / "out"
        done = subprocess.run(
            [node, str(target / SUITE), "server", "--url", server.url, "--requirements", revision,
             "--expected-failures", str(HERE / f"baseline-{revision}.yml"), "-o", str(out),
             "--timeout", str(SCENARIO_MS)],
            env=self.env, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=RUN_SECONDS)
        text = re.sub(r"\x1b\[[0-9;]*m", "", done.stdout.decode())
        summary = text[text.find("=== SUMMARY ==="):]
        print("".join(f"# {line}\n" for line in summary.splitlines()), end="", flush=True)
        unexpected = re.findall(r"^  ✗ ([\w-]+)", text.partition("Unexpected failures")[2], re.M)
        self.assertEqual(done.returncode, 0, self.failures(out, unexpected) + done.stderr.decode())
        self.assertEqual(self.failures(out, BESIDES[revision]), "")
        self.assertEqual(server.end(), 0)

    @staticmethod
    def failures(out, scenarios):
        """What the checks of these scenarios say that did not pass; one that did not run fails."""
        said = []
        for scenario in scenarios:
            found = sorted(out.glob(f"server-{scenario}-2*/checks.json"))
            said += [] if found else [f"{scenario}: it did not run"]
            for check in [c for path in found for c in json.loads(path.read_text("utf-8"))]:
                if check["status"] in ("FAILURE", "WARNING"):
                    said.append(f"{scenario}: {check['id']}: {check.get('errorMessage')}")
        return "\n".join(said)

    def test_legacy(self):
        """the scenarios of 2025-11-25, but for the baseline"""
        self.run_suite("2025-11-25")

    def test_modern(self):
        """the scenarios of 2026-07-28, but for the baseline"""
        self.run_suite("2026-07-28")

    def test_baseline(self):
        """the baselines are shorter than the failures of the reference server, and give reasons"""
        for revision, failing in REFERENCE.items():
            found = entries(HERE / f"baseline-{revision}.yml")
            self.assertLess(len({entry.partition(":")[0] for entry, _ in found}), failing)
            self.assertEqual([entry for entry, reason in found if not reason], [])


if __name__ == "__main__":
    npm.install(HERE)  # or the whole test is skipped
    harness.CASE_SECONDS = 2 * RUN_SECONDS
    harness.main()
