#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Print a C file that has each text file as a string.

  embed.py HEADER NAME=FILE...   NAME is declared in HEADER
"""
import sys


def main():
    header, *pairs = sys.argv[1:]
    print("/* SPDX-License-Identifier: Apache-2.0 */")
    print(f'#include "{header}"')
    for pair in pairs:
        name, _, path = pair.partition("=")
        with open(path, "rb") as file:
            numbers = ",".join(str(byte) for byte in file.read())
        print(f"const char {name}[] = {{{numbers},0}};")


main()
