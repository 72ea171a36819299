#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The remedies of every toolset for every kind of failure, committed: remedies.txt.

  remedies.py PRINT_REMEDIES            compare, and hold each remedy against the rules; TAP
  remedies.py PRINT_REMEDIES --update   write the file anew (`ninja -C build update-remedies`)

"-": nothing is said.  A tool may still say something of its own where it fails.
"""
import difflib
import pathlib
import re
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
FILE = HERE / "remedies.txt"
# What is no next step, or destroys what the caller may want.
FILLERS = ("shows the state of the repository", "input schema", "try again.", "delete the file",
           "remove the file", "with git itself.", "Please")


def faults(text):
    """Each remedy that names a tool its toolset has not, sends the caller to git, or is a filler."""
    toolset = None
    for line in text.splitlines():
        if not line.startswith(" "):
            toolset = line
            continue
        about, remedy = line[2:36].strip(), line[36:]
        tools = {path.stem for path in (HERE / "schema" / toolset).glob("*.json")}
        if remedy == "-":
            continue
        for word in re.findall(r"\bgit_[a-z_]+", remedy):
            if word not in tools:
                yield f"{toolset}, {about}: there is no {word}"
        if re.search(r"'git |git itself", remedy) and "he user " not in remedy:
            yield f"{toolset}, {about}: git is for the user"
        if any(filler in remedy for filler in FILLERS) or not remedy.endswith("."):
            yield f"{toolset}, {about}: no next step: {remedy}"


def main():
    """The command line."""
    built = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    if "--update" in sys.argv[2:]:
        FILE.write_text(built, encoding="utf-8")
        return 0
    committed = FILE.read_text(encoding="utf-8")
    wrong = list(faults(built))
    print("1..2")
    print(f"{'ok' if committed == built else 'not ok'} 1 - the remedies are those that a person read")
    for line in difflib.unified_diff(committed.splitlines(), built.splitlines(), "committed",
                                     "built", lineterm=""):
        print(f"# {line}")
    if committed != built:
        print("# when the change is meant: ninja -C build update-remedies")
    print(f"{'not ok' if wrong else 'ok'} 2 - each of them is a next step that its caller can take")
    for fault in wrong:
        print(f"# {fault}")
    return 0 if committed == built and not wrong else 1


sys.exit(main())
