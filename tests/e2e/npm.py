# SPDX-License-Identifier: Apache-2.0
"""Programs from npm that a test needs, at the versions of a package-lock.json.

They are installed once, into the user's cache and not into the sources.  Where there is no npm, or
nothing it could install from, the test is skipped and says so: building and testing airlock needs
no network.
"""
import hashlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

MANIFEST = ("package.json", "package-lock.json")
INSTALL_SECONDS = 300


def skip(reason):
    """End as a test that could not be run."""
    print(f"1..0 # SKIP {reason}")
    sys.exit(0)


def output(*command):
    """What a program prints, None when it fails."""
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    except OSError:
        return None
    return done.stdout.decode().strip() if done.returncode == 0 else None


def major(node):
    """The number before the first dot of a node's version; 0: it is none."""
    version = (output(node, "--version") or "v0").lstrip("v")
    return int(version.split(".")[0])


def check_node(at_least):
    """Skip without a node and an npm that are new enough."""
    for name in ("node", "npm"):
        if not shutil.which(name):
            skip(f"{name} is not installed")
    if major("node") < at_least:
        skip(f"node is {output('node', '--version')}, and this needs {at_least}")


def run_npm(target, stop):
    """Install what the manifest in `target` names; `stop` is told why it cannot be.  What npm remembers of a package may be older
    than the manifest, so it is asked a second time without its memory."""
    for how in (["--prefer-offline"], []):
        try:
            done = subprocess.run(
                ["npm", "ci", *how, "--no-audit", "--no-fund", "--ignore-scripts",
                 "--fetch-retries=1", "--fetch-timeout=20000"],
                cwd=target, stdin=subprocess.DEVNULL, capture_output=True, check=False,
                timeout=INSTALL_SECONDS)
        except subprocess.TimeoutExpired:
            stop("npm took too long to install what this needs")
        if done.returncode == 0:
            return
    stop("npm could not install what this needs; is there a network?")


def install(source, stop=skip):
    """The directory with `node_modules` for the manifest in `source`.  Two tests may install the
    same at once: the first to end wins.  `stop` gets the reason when there is nothing, and does not
    return."""
    digest = hashlib.sha256(b"".join((source / name).read_bytes() for name in MANIFEST))
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
    target = cache / "airlock-tests" / f"{source.name}-{digest.hexdigest()[:12]}"
    if target.is_dir():
        return target
    if not shutil.which("npm"):
        stop("npm is not installed")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent) as scratch:
        half = pathlib.Path(scratch) / "half"
        half.mkdir()
        for name in MANIFEST:
            shutil.copy(source / name, half)
        run_npm(half, stop)
        try:
            half.rename(target)
        except OSError:
            if not target.is_dir():
                raise
    return target


def node_of(target, at_least, stop=skip):
    """A node that is new enough: the system's, or the one that was installed."""
    found = shutil.which("node")
    if found and major(found) >= at_least:
        return found
    for path in sorted(target.glob("node_modules/node-linux-*/bin/node")):
        if major(str(path)) >= at_least:
            return str(path)
    stop(f"there is no node {at_least} for this machine")
    return None
