#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tools as clients see them, committed: schema/<toolset>/<tool>.json, and docs/REFERENCE.md.

  golden.py PRINT_TOOLS AIRLOCK            compare, as TAP
  golden.py PRINT_TOOLS AIRLOCK --update   write the files anew (`ninja -C build update-golden`)

A change of these files is a change of the contract with every model that uses them.
"""
import difflib
import json
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent / "schema"
PAGE = "../../../docs/REFERENCE.md"


def definitions(program, airlock):
    """{path below schema/: text} of all tools, and of the page."""
    printed = subprocess.run([program], check=True, capture_output=True, text=True).stdout
    files = {}
    for tool in json.loads(printed):
        path = f"{tool.pop('toolset')}/{tool['name']}.json"
        files[path] = json.dumps(tool, indent=2, ensure_ascii=False) + "\n"
    files[PAGE] = subprocess.run([airlock, "tools", "--markdown"], check=True, capture_output=True,
                                 text=True).stdout
    return files


def committed():
    """{path below schema/: text} of the files that are there."""
    files = {str(path.relative_to(HERE)): path for path in HERE.glob("*/*.json")}
    if (HERE / PAGE).exists():
        files[PAGE] = HERE / PAGE
    return {name: path.read_text(encoding="utf-8") for name, path in files.items()}


def update(files):
    """Write every definition and remove what no tool stands behind."""
    for path in committed().keys() - files.keys():
        (HERE / path).unlink()
    for path, text in files.items():
        (HERE / path).parent.mkdir(parents=True, exist_ok=True)
        (HERE / path).write_text(text, encoding="utf-8")


def compare(files):
    """One TAP line a file; true when all are equal."""
    there = committed()
    names = sorted(files.keys() | there.keys())
    good = True
    print(f"1..{len(names)}")
    for number, name in enumerate(names, 1):
        old, new = there.get(name, ""), files.get(name, "")
        good &= old == new
        print(f"{'ok' if old == new else 'not ok'} {number} - {name}")
        for line in difflib.unified_diff(old.splitlines(), new.splitlines(), "committed", "built",
                                         lineterm=""):
            print(f"# {line}")
    if not good:
        print("# when the change is meant: ninja -C build update-golden")
    return good


def main():
    """The command line."""
    files = definitions(sys.argv[1], sys.argv[2])
    if "--update" in sys.argv[3:]:
        update(files)
        return 0
    return 0 if compare(files) else 1


sys.exit(main())
