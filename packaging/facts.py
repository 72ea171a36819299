#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""facts.py NAME: print one of the facts that every package and the build are made from."""
import json
import pathlib
import sys

FACTS = json.loads(pathlib.Path(__file__).with_name("facts.json").read_text(encoding="utf-8"))

if __name__ == "__main__":
    print(FACTS[sys.argv[1]])
