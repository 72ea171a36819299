#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Build and run the tests, and say in the last line how many there were.

  run-tests.py all     gcc (as a release too) and clang with warnings as errors, all tests, all tests
                       again under ASan and UBSan, lint
  run-tests.py quick   unit and table tests, quick lint
  run-tests.py attack  the attack tests
  run-tests.py asan    all tests under ASan and UBSan
  run-tests.py tsan    all tests under TSan, children started by fork
  run-tests.py configure  nothing but that `build` has the tests

What is counted is the single case inside a test program (a TAP line).  A program that crashed, ran
out of time or did not finish its plan counts as one failure more than its lines show.  So does each
report of a sanitizer: they go to files, since many tests read neither the standard error nor the
exit code of the program they talk to.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "e2e"))
import scratch

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
TAP_LINE = re.compile(r"^(ok|not ok)\b(.*)$", re.M)
SKIP = re.compile(r"#\s*SKIP", re.I)
SANITIZERS = {
    "ASAN_OPTIONS": "halt_on_error=1:abort_on_error=1:detect_leaks=1",
    "UBSAN_OPTIONS": "halt_on_error=1:abort_on_error=1:print_stacktrace=1",
    # A race is reported when it is seen.  Sleeping for a second at each exit, in case another thread
    # has one then, takes longer than all the tests.
    "TSAN_OPTIONS": "halt_on_error=1:atexit_sleep_ms=0",
}


# The tests make and remove some hundred thousand small files, and airlock waits for the disk at
# each checkpoint: in memory they take half the time.
MEMORY = "/dev/shm"
MEMORY_BYTES = 2 << 30

# Some tests wait for others: servers, deadlines, the end of a process.
PROCESSES = (os.cpu_count() or 1) + 1


# The failures that the end of the output repeats, and how much of each.
REPEATED, REPEATED_CHARACTERS = 12, 300


class Count:
    """Cases by outcome."""

    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped
        self.failures = []  # one line each

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def count_tap(text):
    """The cases of a TAP stream."""
    count = Count()
    for verdict, rest in TAP_LINE.findall(text):
        if SKIP.search(rest):
            count.skipped += 1
        elif verdict == "ok":
            count.passed += 1
        else:
            count.failed += 1
    return count


def failures(record):
    """The failed cases of a program, each with the last line it printed about itself."""
    text = record.get("stdout") or ""
    for part in re.split(r"^(?=(?:ok|not ok)\b)", text, flags=re.M):
        if part.startswith("not ok") and not SKIP.search(part.splitlines()[0]):
            lines = [line.strip("# ") for line in part.splitlines()]
            said = [line for line in lines[1:] if line]
            yield f"{record.get('name', '')}: {lines[0][7:]}" + (f": {said[-1]}" if said else "")


def count_program(record):
    """The cases of one line of meson's testlog.json."""
    count = count_tap(record.get("stdout") or "")
    count.failures = list(failures(record))
    result = record["result"]
    if result == "SKIP" and not count.skipped:
        count.skipped += 1
    elif result == "OK" and not (count.passed or count.skipped):
        count.passed += 1
    elif result not in ("OK", "SKIP", "EXPECTEDFAIL") and not count.failed:
        count.failed += 1
        count.failures.append(f"{record.get('name', '')}: {result}")
    return count


def skipped(record):
    """What a program did not do, and why."""
    for _, rest in TAP_LINE.findall(record.get("stdout") or ""):
        if SKIP.search(rest):
            yield record["name"] + ": " + re.sub(r"^[\s\d-]+", "", rest)


def count_reports(directory):
    """What sanitizers wrote there, which is shown: a failure each."""
    count = Count()
    for name in sorted(os.listdir(directory)):
        with open(os.path.join(directory, name), encoding="utf-8", errors="replace") as report:
            text = report.read()
        print(f"   {name}:\n{text}")
        count.failed += 1
        count.failures.append(f"{name}: {' '.join(text.split())}")
    return count


def run(*command, **options):
    """Run a command; true when it worked.  Its output goes where ours goes."""
    sys.stdout.flush()
    return subprocess.run(command, cwd=TOP, check=False, **options).returncode == 0


def step(title, total, work):
    """Do one part, add what it counted, and say so in one line."""
    print(f"== {title}", flush=True)
    start = time.monotonic()
    count = work()
    total.add(count)
    print(f"   {count} ({time.monotonic() - start:.0f} s)", flush=True)


def has_tests(directory):
    """Whether a build directory was configured to have them."""
    with open(os.path.join(TOP, directory, "meson-info", "intro-buildoptions.json"),
              encoding="utf-8") as file:
        return any(option["name"] == "tests" and option["value"] == "enabled"
                   for option in json.load(file))


def configure(directory, *options, compiler=None):
    """Configure (once); true when it worked.  A directory that was made before the packages for the
    tests were there is configured again."""
    env = dict(os.environ)
    if compiler:
        env.update(CC=compiler, CXX=compiler + "++" if compiler == "clang" else "g++")
    if not os.path.exists(os.path.join(TOP, directory, "build.ninja")):
        return run("meson", "setup", directory, *options, "-Dtests=enabled", env=env, stdout=subprocess.DEVNULL)
    return has_tests(directory) or run("meson", "configure", directory, "-Dtests=enabled")


def build(directory, *options, compiler=None):
    """Configure and compile; one case that passes or fails."""
    if compiler and not shutil.which(compiler):
        print(f"   skipped: {compiler} is not installed")
        return Count(skipped=1)
    good = configure(directory, *options, compiler=compiler) and run("ninja", "-C", directory, "--quiet")
    return Count(passed=1) if good else Count(failed=1)


def memory():
    """The directory in memory for scratch files; None without room there, or if TMPDIR is set."""
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK | os.X_OK):
        return None
    about = os.statvfs(MEMORY)
    fits = about.f_bavail * about.f_frsize >= MEMORY_BYTES
    return MEMORY if fits and not about.f_flag & os.ST_NOEXEC else None


def meson_test(directory, *options):
    """Run the tests of a build directory; their cases."""
    place = scratch.directory("airlock-", memory())
    try:
        os.chmod(place, 0o755)  # some tests run as another user
        return meson_test_in(place, directory, *options)
    finally:
        shutil.rmtree(place, ignore_errors=True)


def meson_test_in(place, directory, *options):
    """The same with a place for what the tests make."""
    log = os.path.join(TOP, directory, "meson-logs", "testlog.json")
    if os.path.exists(log):
        os.unlink(log)
    reports = os.path.join(TOP, directory, "reports")
    shutil.rmtree(reports, ignore_errors=True)
    os.mkdir(reports)
    env = os.environ | {"TMPDIR": place}
    for name, words in SANITIZERS.items():
        env[name] = f"{env.get(name, words)}:log_path='{reports}/{name.split('_')[0]}'"
    good = run("meson", "test", "-C", directory, "--no-rebuild", "--print-errorlogs", "--quiet",
               "--num-processes", str(PROCESSES), *options, env=env)
    count = Count()
    if os.path.exists(log):
        with open(log, encoding="utf-8", errors="replace") as lines:
            for line in lines:
                record = json.loads(line)
                count.add(count_program(record))
                for reason in skipped(record):
                    print(f"   skipped: {reason}")
    count.add(count_reports(reports))
    if not good and not count.failed:
        count.add(Count(failed=1))
    return count


def build_and_test(directory, *options, suites=()):
    """Both, where a build that fails runs no test."""
    count = build(directory, *options)
    if not count.failed:
        chosen = [word for suite in suites for word in ("--suite", suite)]
        count.add(meson_test(directory, *chosen))
    return count


def lint(extent):
    """The static checks; their cases."""
    sys.stdout.flush()
    done = subprocess.run(["tools/lint.sh", extent], cwd=TOP, check=False,
                          stdout=subprocess.PIPE, universal_newlines=True)
    for line in done.stdout.splitlines():
        if not line.startswith(("ok ", "1..")):
            print("   " + line)
    count = count_tap(done.stdout)
    if done.returncode != 0 and not count.failed:
        count.failed = 1
    return count


def main():
    what = sys.argv[1] if len(sys.argv) == 2 else ""
    # Warnings are errors where they are true: the sanitizers' own code makes gcc see what is not there.
    # What a report needs is the lines, which -g1 has.
    sanitize = ("-Db_sanitize=address,undefined", "-Db_lundef=false", "-Dwerror=false",
                "-Doptimization=1", "-Ddebug=false", "-Dc_args=-g1", "-Dcpp_args=-g1")
    total = Count()
    if what == "all":
        step("clang, warnings are errors", total, lambda: build("build-clang", compiler="clang"))
        # gcc warns of what its optimiser sees, so more at -O3 than at -O2; clang's warnings do not
        # depend on it.
        step("gcc, as a release, warnings are errors", total,
             lambda: build("build-release", "--buildtype=release", compiler="gcc"))
        step("gcc, warnings are errors; all tests", total, lambda: build_and_test("build"))
        step("all tests under ASan and UBSan", total,
             lambda: build_and_test("build-asan", *sanitize))
        step("lint", total, lambda: lint("test"))
    elif what == "quick":
        step("unit and table tests", total,
             lambda: build_and_test("build", suites=("unit", "tables", "lint")))
        step("lint", total, lambda: lint("quick"))
    elif what == "attack":
        step("attack tests", total, lambda: build_and_test("build", suites=("attack",)))
    elif what == "configure":
        return not configure("build")
    elif what == "asan":
        step("all tests under ASan and UBSan", total,
             lambda: build_and_test("build-asan", *sanitize))
    elif what == "tsan":
        step("all tests under TSan", total,
             lambda: build_and_test("build-tsan", "-Db_sanitize=thread", "-Db_lundef=false",
                                    "-Dwerror=false", "-Dspawn=fork"))
    else:
        sys.exit(__doc__)
    for line in total.failures[:REPEATED]:
        print(f"failed: {line[:REPEATED_CHARACTERS]}")
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
