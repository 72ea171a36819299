# SPDX-License-Identifier: Apache-2.0
"""The official MCP clients against the built program:  test_sdk.py AIRLOCK DIRECTORY [FOLDER]

FOLDER has what is installed and the tests, clients.mjs.  Without it, that is `sdk`; `sdk_servers`
puts other MCP servers behind airlock.  All is installed below DIRECTORY, once, with npm.  Where there
is no npm, or nothing it could install from, the test is skipped and says so: building and testing
airlock needs no network.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys

COMMON = pathlib.Path(__file__).resolve().parent / "sdk"
SOURCE = COMMON.parent / (sys.argv[3] if len(sys.argv) > 3 else "sdk")
SHARED = ("kinds.mjs", "world.mjs")
MANIFEST = ("package.json", "package-lock.json")
NODE_MIN = 20
INSTALL_SECONDS = 180


def skip(reason):
    """End as a test that could not be run."""
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def output(*command):
    """What a program prints, None when it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return done.stdout.decode().strip() if done.returncode == 0 else None


def check_node():
    """Skip without a node and an npm that are new enough."""
    for name in ("node", "npm"):
        if not shutil.which(name):
            skip(f"{name} is not installed")
    version = output("node", "--version") or "v0"
    if int(version.lstrip("v").split(".")[0]) < NODE_MIN:
        skip(f"node is {version}, and the clients need {NODE_MIN}")


def digest_of(names):
    """What was installed, for the stamp beside it."""
    digest = hashlib.sha256()
    for name in names:
        digest.update((SOURCE / name).read_bytes())
    return digest.hexdigest()


def install(target):
    """Put the clients below `target`, unless they are there already."""
    stamp, digest = target / "installed", digest_of(MANIFEST)
    if stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        return
    for name in MANIFEST:
        shutil.copy(SOURCE / name, target)
    try:
        done = subprocess.run(
            ["npm", "ci", "--prefer-offline", "--no-audit", "--no-fund", "--ignore-scripts",
             "--fetch-retries=1", "--fetch-timeout=20000"],
            cwd=target, stdin=subprocess.DEVNULL, capture_output=True, check=False,
            timeout=INSTALL_SECONDS)
    except subprocess.TimeoutExpired:
        skip("npm took too long to install the clients")
    if done.returncode != 0:
        skip("npm could not install the clients; is there a network?")
    stamp.write_text(digest, encoding="utf-8")


def main():
    """Install what is missing, then become the tests."""
    airlock, target = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    check_node()
    target.mkdir(parents=True, exist_ok=True)
    install(target)
    for script in (*(COMMON / name for name in SHARED), *SOURCE.glob("*.mjs")):
        shutil.copy(script, target)
    sys.stdout.flush()
    os.execvp("node", ["node", str(target / "clients.mjs"), airlock])


if __name__ == "__main__":
    main()
