#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# What a session is told at its start: at most 400 bytes.
if command -v @program@ >/dev/null 2>&1; then
    echo "Use @program@'s tools for git: every change is saved before it is made, and git_undo takes it back."
    echo "The first push of a branch, and what cannot be taken back, asks the user."
else
    echo "The plugin @name@ needs the program @program@, which is not in PATH. Tell the user to install it: @homepage@"
fi
