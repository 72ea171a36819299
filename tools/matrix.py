#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The core of the tests against each git that Debian has, for each kind of repository it can make.

  matrix.py AIRLOCK [SUITE...]

A suite is a chroot that debootstrap makes, as root, below $XDG_CACHE_HOME/airlock/matrix (or
$AIRLOCK_MATRIX); it is kept.  What cannot be had is skipped and named.  Each cell runs the same test
files with other environment variables: tests/e2e/harness.py and tests/attack/lab.py read them.
"""
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUITES = ("bookworm", "trixie", "forky", "sid")
# What airlock is linked with, what the tests need, and servers.
PACKAGES = "git,python3,ca-certificates,libjansson4,nettle-bin,lighttpd,openssh-client,openssh-server,openssl,procps"

# A day in each dialect, every operation's checkpoints, undo and rollback.
CORE = ("everyday_day", "workflow_day", "staging_day", "effect_table", "effects", "rollback_model",
        "rollback", "everyday_undo", "git_add_commit", "git_stash_restore", "git_branch_checkout",
        "parallel_land")
# What a repository configures, with canaries.
ATTACKS = ("programs", "everyday_programs", "environment", "write_verbs", "merge", "gitdir")
HOOKS = ("programs", "write_verbs", "merge", "network")

FILES, REFTABLE = {}, {"GIT_DEFAULT_REF_FORMAT": "reftable"}
SHA1, SHA256 = {}, {"GIT_DEFAULT_HASH": "sha256"}
# Column: what git is asked whether it can, the variables, and the tests with their words.
COLUMNS = {
    "files sha1": ((), FILES | SHA1, [("e2e", name) for name in CORE]),
    "files sha256": ((), FILES | SHA256, [("e2e", name) for name in CORE]),
    "reftable sha1": (("init", "--ref-format=reftable", "/tmp/probe"), REFTABLE | SHA1,
                      [("e2e", name) for name in CORE]),
    "reftable sha256": (("init", "--ref-format=reftable", "/tmp/probe"), REFTABLE | SHA256,
                        [("e2e", name) for name in CORE]),
    "attacks": ((), {}, [("attack", name) for name in ATTACKS]),
    "hooks": (("-C", "/tmp/probe", "-c", "hook.a.event=update", "-c", "hook.a.command=true", "hook",
               "list", "update"), {"AIRLOCK_HOOKS": "config"},
              [("attack", name, "hook") for name in HOOKS]),
}

# $0: the chroot, $1: the source tree.  The mounts end with the process.
INSIDE = """mount --bind "$0" "$0" && mount --rbind /dev "$0/dev" && mount -t proc proc "$0/proc" &&
mount -t tmpfs tmpfs "$0/tmp" && mkdir -p "$0$1" && mount --bind "$1" "$0$1" &&
exec chroot "$0" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8 "${@:2}" """


def inside(chroot, *words, **options):
    """Run words in a chroot, with the source tree at its own place."""
    return subprocess.run(["unshare", "--mount", "--propagation", "private", "bash", "-c", INSIDE, chroot, TOP,
                           *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          check=False, **options)


def place():
    """Where the chroots are."""
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.environ.get("AIRLOCK_MATRIX") or os.path.join(cache, "airlock", "matrix")


def make(suite):
    """The chroot of a suite, made if there is none; and why there is none."""
    chroot = os.path.join(place(), suite)
    if os.path.exists(os.path.join(chroot, "complete")):
        return chroot, None
    script = "/usr/share/debootstrap/scripts/"
    if os.geteuid() != 0 or not shutil.which("debootstrap"):
        return None, "needs root and debootstrap"
    shutil.rmtree(chroot, ignore_errors=True)
    os.makedirs(chroot)
    print(f"   making {chroot}", flush=True)
    done = subprocess.run(["debootstrap", "--variant=minbase", "--include=" + PACKAGES, suite, chroot,
                           "", script + (suite if os.path.exists(script + suite) else "sid")],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return None, (done.stdout.strip().splitlines() or ["debootstrap failed"])[-1]
    with open(os.path.join(chroot, "complete"), "w", encoding="ascii"):
        return chroot, None


def run_test(chroot, airlock, variables, folder, name, *words):
    """Run one test file: passed, failed, and what failed."""
    done = inside(chroot, *(f"{key}={value}" for key, value in variables.items()), "python3",
                  f"{TOP}/tests/{folder}/test_{name}.py", airlock, *words)
    good = len(re.findall(r"^ok\b", done.stdout, re.M))
    bad = [f"{name}: {line[7:]}" for line in done.stdout.splitlines() if line.startswith("not ok")]
    if done.returncode != 0 and not bad:
        bad = [f"{name}: exit {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1]}"]
    return good, bad


def run_suite(suite, airlock, pool):
    """The cells of a suite: column -> (passed, failures), and the version of its git."""
    chroot, why = make(suite)
    done = chroot and inside(chroot, airlock, "--version")
    if chroot and done.returncode != 0:
        why = "this build does not run there: " + (done.stderr.strip().splitlines() or ["?"])[-1]
    if why:
        return f"skipped: {why}", {}
    jobs = {}
    for column, (probe, variables, tests) in COLUMNS.items():
        if not probe or inside(chroot, "sh", "-c", 'git init -q /tmp/probe; git "$@"', "sh",
                               *probe).returncode == 0:
            jobs[column] = [pool.submit(run_test, chroot, airlock, variables, *test)
                            for test in tests]
    cells = {}
    for column, tests in jobs.items():
        results = [test.result() for test in tests]
        cells[column] = (sum(good for good, _ in results), [line for _, bad in results for line in bad])
        print(f"   {suite}, {column}: {cells[column][0]} passed, {len(cells[column][1])} failed",
              flush=True)
        for line in cells[column][1]:
            print(f"      {line}", flush=True)
    return inside(chroot, "git", "--version").stdout.split()[2], cells


def main():
    """Run what was named, else everything; the table, and the count in the last line."""
    airlock, suites = os.path.abspath(sys.argv[1]), sys.argv[2:] or SUITES
    start, rows = time.monotonic(), {}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for suite in suites:
            print(f"== {suite}", flush=True)
            rows[suite] = run_suite(suite, airlock, pool)
    print(f"\n| git | {' | '.join(COLUMNS)} |\n|{'---|' * (1 + len(COLUMNS))}")
    for suite, (version, cells) in rows.items():
        shown = (f"{cells[column][0]}, {len(cells[column][1])} failed" if cells.get(column, (0, [1]))[1]
                 and column in cells else str(cells[column][0]) if column in cells else "–"
                 for column in COLUMNS)
        print(f"| {suite} {version} | {' | '.join(shown)} |")
    passed = sum(good for _, cells in rows.values() for good, _ in cells.values())
    failed = sum(len(bad) for _, cells in rows.values() for _, bad in cells.values())
    skipped = sum(not cells for _, cells in rows.values())
    print(f"{time.monotonic() - start:.0f} s\n{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
