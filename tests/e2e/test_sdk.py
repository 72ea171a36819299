# SPDX-License-Identifier: Apache-2.0
"""The official MCP clients against the built program:

  test_sdk.py AIRLOCK DIRECTORY [FOLDER [http]]

FOLDER has what is installed and the tests, clients.mjs.  Without it, that is `sdk`; `sdk_servers`
puts other MCP servers behind airlock.  With `http`, the clients talk to airlock over HTTP.  The tests
run in DIRECTORY, with the packages that npm.py has installed.
"""
import os
import pathlib
import shutil
import sys

import npm

COMMON = pathlib.Path(__file__).resolve().parent / "sdk"
SOURCE = COMMON.parent / (sys.argv[3] if len(sys.argv) > 3 else "sdk")
SHARED = ("kinds.mjs", "world.mjs")
NODE_MIN = 20


def main():
    """Install what is missing, then become the tests."""
    airlock, target = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    npm.check_node(NODE_MIN)
    modules = npm.install(SOURCE) / "node_modules"
    target.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(target / "node_modules", ignore_errors=True)  # of an earlier version of this
    (target / "node_modules").unlink(missing_ok=True)
    (target / "node_modules").symlink_to(modules)
    for script in (*(COMMON / name for name in SHARED), *SOURCE.glob("*.mjs")):
        shutil.copy(script, target)
    sys.stdout.flush()
    os.execvp("node", ["node", str(target / "clients.mjs"), airlock, *sys.argv[4:]])


if __name__ == "__main__":
    main()
