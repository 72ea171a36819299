# SPDX-License-Identifier: Apache-2.0
"""Scratch directories whose random names can be no part of a word that a test looks for."""
import os
import random
import tempfile


def directory(prefix, top=None):
    """A new directory of the user's alone, below `top` or the usual place; its path, without links.

    The caller removes it.
    """
    chance = random.SystemRandom()
    while True:
        name = "".join(chance.choices("qxz", k=20))
        path = os.path.join(os.path.realpath(top or tempfile.gettempdir()), prefix + name)
        try:
            os.mkdir(path, 0o700)
        except FileExistsError:
            continue
        return path
