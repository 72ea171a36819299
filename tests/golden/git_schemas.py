#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The input schemas of toolset `git` are those of its requirements, field by field.

  git_schemas.py PRINT_TOOLS

Only the descriptions are airlock's own.
"""
import json
import subprocess
import sys

TEXT = {"type": "string"}
PATHS = {"type": "array", "items": {"type": "string"}}
TIMEOUT = {"type": "integer", "minimum": 100, "default": 30000}
MAX_BYTES = {"type": "integer", "minimum": 1, "maximum": 5000000, "default": 200000}
NO, YES = ({"type": "boolean", "default": value} for value in (False, True))


def at_least(minimum):
    """An integer with a lower bound and no default."""
    return {"type": "integer", "minimum": minimum}


WANTED = {
    "git_status": {"porcelain": YES, "branch": YES, "untracked": YES},
    "git_diff": {"cached": NO, "name_only": NO, "stat": NO, "unified": at_least(0),
                 "paths": PATHS, "from_ref": TEXT, "to_ref": TEXT, "output_dir": TEXT,
                 "max_bytes": MAX_BYTES},
    "git_restore": {"paths": PATHS | {"minItems": 1}, "staged": NO, "worktree": YES},
    "git_add": {"paths": PATHS, "all": NO, "update": NO},
    "git_commit": {"type": TEXT | {"pattern": "^[a-z]+$"},
                   "scope": TEXT | {"pattern": "^[a-z0-9_-]+$"},
                   "message": TEXT | {"minLength": 1}},
    "git_log": {"max_count": at_least(1), "oneline": NO, "format": TEXT, "author": TEXT,
                "since": TEXT, "until": TEXT, "grep": TEXT, "path": TEXT,
                "max_bytes": MAX_BYTES},
    "git_branch": {"list_all": NO, "list_remote": NO, "create": TEXT, "delete": TEXT,
                   "force_delete": TEXT, "rename": TEXT, "new_name": TEXT},
    "git_checkout": {"branch": TEXT, "create_branch": TEXT, "commit": TEXT, "paths": PATHS},
    "git_stash": {"action": TEXT | {"enum": ["push", "pop", "apply", "drop", "list", "show",
                                             "clear"], "default": "push"},
                  "message": TEXT, "index": at_least(0), "include_untracked": NO},
    "git_show": {"commit": TEXT | {"default": "HEAD"}, "stat": NO, "name_only": NO,
                 "format": TEXT, "max_bytes": MAX_BYTES},
    "git_blame": {"path": TEXT, "start_line": at_least(1), "end_line": at_least(1),
                  "commit": TEXT, "max_bytes": MAX_BYTES},
}
REQUIRED = {"git_restore": ["paths"], "git_commit": ["type", "message"], "git_blame": ["path"]}


def wanted(name):
    """The whole schema of one tool."""
    common = {"timeout_ms": TIMEOUT, "working_dir": TEXT}
    schema = {"type": "object", "properties": WANTED[name] | common,
              "additionalProperties": False}
    if name in REQUIRED:
        schema["required"] = REQUIRED[name]
    return schema


def without_descriptions(schema):
    """The schema as it would be written without our words."""
    properties = {name: {key: value for key, value in rules.items() if key != "description"}
                  for name, rules in schema["properties"].items()}
    return schema | {"properties": properties}


def main():
    """One TAP line a tool of the toolset."""
    printed = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    tools = [tool for tool in json.loads(printed) if tool["toolset"] == "git"]
    good = bool(tools)
    print(f"1..{len(tools)}")
    for number, tool in enumerate(tools, 1):
        ours, theirs = without_descriptions(tool["inputSchema"]), wanted(tool["name"])
        same = ours == theirs and list(ours["properties"]) == list(theirs["properties"])
        good &= same
        print(f"{'ok' if same else 'not ok'} {number} - {tool['name']}")
        if not same:
            print(f"# wanted {json.dumps(theirs)}\n# is     {json.dumps(ours)}")
    return 0 if good else 1


sys.exit(main())
