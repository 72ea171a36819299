# SPDX-License-Identifier: Apache-2.0
"""The base of tests of toolset `workflow`: every result is held against its output schema."""
import functools
import json
import subprocess

import harness
import schema

CODES = {
    7000: "GIT_NOT_INITIALIZED", 7001: "GIT_SNAPSHOT_DISABLED", 7002: "GIT_PROTECTED_PATH",
    7010: "GIT_OPERATION_FAILED", 7020: "GIT_LOCK_TIMEOUT", 7030: "GIT_CONFLICT",
    7031: "GIT_DIRTY_WORKDIR", 7032: "GIT_BRANCH_EXISTS", 7033: "GIT_BRANCH_NOT_FOUND",
    7034: "GIT_REMOTE_ERROR", 7035: "GIT_TIMEOUT", 7036: "GIT_NO_STAGED_CHANGES",
    7037: "GIT_STASH_EMPTY",
}


@functools.cache
def output_schemas():
    """{tool: schema} as `airlock tools --json` shows them."""
    done = subprocess.run([harness.AIRLOCK, "tools", "--json", "--toolset", "workflow"],
                          capture_output=True, check=True)
    return {tool["name"]: tool["outputSchema"] for tool in json.loads(done.stdout)}


def check(case, tool, result):
    """What every result of this toolset keeps to."""
    if result.failed:
        case.assertNotIn("structuredContent", result.value, result)
        code = result.error["code"]
        case.assertEqual(result.error["name"], CODES[code] if code else None, result)
        if not result.kind.startswith("Approval"):
            case.assertIn(len(result.text.splitlines()), (1, 2), result)
            case.assertEqual(result.text.splitlines()[0], result.error["message"], result)
    else:
        value = result.value["structuredContent"]
        case.assertEqual(schema.faults(value, output_schemas()[tool]), [], result)
        case.assertEqual(json.loads(result.text), value, result)
    return result


class Case(harness.Case):
    """Calls of toolset `workflow`."""

    def call(self, tool, arguments=None, *options, **named):
        """`airlock call --toolset workflow`."""
        result = super().call(tool, arguments, "--toolset", "workflow", *options, **named)
        return check(self, tool, result)

    def gives(self, tool, arguments=None, *options, **named):
        """What a call that must work gives, as an object."""
        return self.ok(tool, arguments, *options, **named).value["structuredContent"]

    def fails(self, code, tool, arguments=None, *options, **named):
        """A call that must fail with this code (None: without one)."""
        result = self.call(tool, arguments, *options, **named)
        self.assertTrue(result.failed, result)
        self.assertEqual(result.error["code"], code, result)
        return result


class Server(harness.Server):
    """`airlock serve --toolset workflow`, as a client of MCP sees it."""

    def __init__(self, case, *options, **named):
        super().__init__(case, "--toolset", "workflow", *options, **named)

    def call(self, tool, arguments=None):
        return check(self.case, tool, super().call(tool, arguments))

    def gives(self, tool, arguments=None):
        """What a call that must work gives, as an object."""
        return self.ok(tool, arguments).value["structuredContent"]
