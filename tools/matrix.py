#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The core of the tests against each git that Debian has, for each kind of repository it can make.

  matrix.py AIRLOCK [SUITE...]

A suite is a chroot that debootstrap makes, as root, below $XDG_CACHE_HOME/airlock/matrix (or
$AIRLOCK_MATRIX); it is kept.  One that is called like a version of git is none of Debian's: somebody
has to put it there.  What cannot be had is skipped and named.  Each cell runs the same test files with
other environment variables: tests/e2e/harness.py and tests/attack/lab.py read them.
"""
import concurrent.futures
import os
import re
import resource
import shutil
import subprocess
import sys
import time

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SUITES = ("2.38", "bookworm", "trixie", "forky", "2.54", "sid")
# What airlock is linked with, what the tests need, and servers.
PACKAGES = "git,python3,ca-certificates,libjansson4,nettle-bin,lighttpd,openssh-client,openssh-server,openssl,procps"

# A day in each dialect, every operation's checkpoints, undo and rollback.
CORE = [("e2e", name) for name in (
    "effects", "everyday_day", "workflow_day", "staging_day", "effect_table", "rollback_model", "rollback",
    "everyday_undo", "git_add_commit", "git_stash_restore", "git_branch_checkout", "parallel_land")]
# What depends on the git, and less on the kind of repository.
MORE = [("e2e", name) for name in (
    "parallel_compare", "everyday_merge", "everyday_rebase", "everyday_conflicts", "everyday_states", "git_worktree")]
# What a repository configures, and what a server says, with canaries that plain git falls for.
ATTACKS = [("attack", name) for name in (
    "write_verbs", "network", "filters", "merge", "programs", "everyday_programs", "environment", "gitdir")]
HOOKS = [*(("attack", name, "hook") for name in ("programs", "write_verbs", "merge", "network")),
         ("attack", "everyday_programs"), ("e2e", "doctor", "Repository.test_configured_hooks")]

FILES, REFTABLE = {}, {"GIT_DEFAULT_REF_FORMAT": "reftable"}
SHA1, SHA256 = {}, {"GIT_DEFAULT_HASH": "sha256"}
KNOWS_REFTABLE = ("init", "-q", "--ref-format=reftable", "/tmp/reftable")
KNOWS_HOOKS = ("-C", "/tmp/probe", "-c", "hook.a.event=update", "-c", "hook.a.command=true", "hook", "list", "update")
# Column: what git is asked whether it can, the variables, and the tests with their words.
COLUMNS = {
    "files sha1": ((), FILES | SHA1, CORE + MORE),
    "files sha256": ((), FILES | SHA256, CORE),
    "reftable sha1": (KNOWS_REFTABLE, REFTABLE | SHA1, CORE),
    "reftable sha256": (KNOWS_REFTABLE, REFTABLE | SHA256, CORE),
    "attacks": ((), FILES, ATTACKS),
    "attacks reftable": (KNOWS_REFTABLE, REFTABLE,
                         [("attack", name) for name in ("write_verbs", "merge", "programs", "everyday_programs")]),
    "hooks": (KNOWS_HOOKS, {"AIRLOCK_HOOKS": "config"}, HOOKS),
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
    if suite[0].isdigit():
        return None, f"Debian has none; a chroot with it and an empty file 'complete' would be {chroot}"
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
    """Run one test file: passed, what failed, what was skipped, and the seconds."""
    start = time.monotonic()
    done = inside(chroot, *(f"{key}={value}" for key, value in variables.items()), "python3",
                  f"{TOP}/tests/{folder}/test_{name}.py", airlock, *words)
    lines = done.stdout.splitlines()
    skipped = [f"{name}: {line}" for line in lines if re.match(r"ok\b.*# SKIP", line)]
    bad = [f"{name}: {part.strip()}" for part in re.findall(r"^not ok.*\n(?:#.*\n)*", done.stdout, re.M)]
    good = sum(line.startswith("ok") for line in lines) - len(skipped)
    if done.returncode != 0 and not bad:
        bad = [f"{name}: exit {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1]}"]
    return good, bad, skipped, time.monotonic() - start


def begin(suite, airlock, pool):
    """Begin with the cells of a suite: the version of its git, or why there is none; column -> its tests,
    none where this git cannot."""
    chroot, why = make(suite)
    done = chroot and inside(chroot, airlock, "--version")
    if chroot and done.returncode != 0:
        why = "this build does not run there: " + (done.stderr.strip().splitlines() or ["?"])[-1]
    if why:
        return f"skipped: {why}", {}
    able = {probe: not probe or inside(chroot, "sh", "-c", 'git init -q /tmp/probe; git "$@"', "sh",
                                       *probe).returncode == 0 for probe, *_ in COLUMNS.values()}
    return inside(chroot, "git", "--version").stdout.split()[2], {
        column: [pool.submit(run_test, chroot, airlock, variables, *test) for test in tests if able[probe]]
        for column, (probe, variables, tests) in COLUMNS.items()}


def end(suite, column, tests):
    """Wait for a cell and print it: what it shows in the table, and how many passed, failed and were
    skipped."""
    if not tests:
        print(f"   {suite}, {column}: skipped: this git cannot", flush=True)
        return "–", (0, 0, 1)
    results = [test.result() for test in tests]
    good, seconds = sum(result[0] for result in results), sum(result[3] for result in results)
    bad, skipped = ([line for result in results for line in result[n]] for n in (1, 2))
    text = (f"{good}" + f", {len(bad)} failed" * bool(bad) + f", {len(skipped)} skipped" * bool(skipped) +
            f" ({seconds:.0f} s)")
    print(f"   {suite}, {column}: {text}", flush=True)
    for line in bad + skipped:
        print(f"      {line}", flush=True)
    return text, (good, len(bad), len(skipped))


def main():
    """Run what was named, else everything; the table, and the count in the last line."""
    airlock, suites = os.path.abspath(sys.argv[1]), sys.argv[2:] or SUITES
    start, rows, counts = time.monotonic(), [], []
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        begun = [(suite, *begin(suite, airlock, pool)) for suite in suites]
        for suite, version, cells in begun:
            print(f"== {suite}: {version}", flush=True)
            shown = [end(suite, column, tests) for column, tests in cells.items()]
            rows.append((f"{suite} {version}", *(text for text, _ in shown)))
            counts += [count for _, count in shown] or [(0, 0, 1)]
    print(f"\n| git | {' | '.join(COLUMNS)} |\n|{'---|' * (1 + len(COLUMNS))}")
    for row in rows:
        print(f"| {' | '.join(row)} |")
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    passed, failed, skipped = (sum(numbers) for numbers in zip(*counts))
    print(f"{time.monotonic() - start:.0f} s, {used.ru_utime + used.ru_stime:.0f} s of processors\n"
          f"{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
