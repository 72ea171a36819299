#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tool that reads cannot write even where none of our own checks is left.

Usage: test_guards_off.py SOURCE BUILD MESON NINJA.  Builds the program with -Dguards=off: any
option, reference and path reaches git, operations that write are among those offered, and grants
count for nothing.  What is left is the kernel.  As a control each command line, run as the result
shows it by plain git, does write.
"""
import json
import os
import subprocess
import sys

from lab import LIMIT_S, Lab, Report, changed, snapshot

SOURCE, BUILD, MESON, NINJA = sys.argv[1:5]
BUILD_S = 3600

# (op, args, ref): each writes something when plain git runs it.
WRITES = (
    ("commit", ["--allow-empty", "-m", "x"], None),
    ("update_ref", ["refs/heads/planted", "HEAD"], None),
    ("update_ref", ["-d", "refs/heads/main"], None),
    ("config", ["core.pager", "touch pwned"], None),
    ("gc", ["--prune=now", "--quiet"], None),
    ("branch", ["-m", "main", "trunk"], None),
    ("branch", ["-c", "main", "planted"], None),
    ("branch", ["--edit-description"], None),
    ("log", ["--output=planted", "-p"], None),
    ("log", ["--output=.git/hooks/post-commit", "-p"], None),
    ("log", ["--output={outside}/planted", "-p"], None),
    ("diff", ["--output=planted"], None),
    ("diff", ["--output={outside}/planted"], None),
    ("diff", [], "--output=planted"),
    ("show", ["--output=a.txt"], "HEAD"),
)


def build():
    """The program without guards."""
    env = {name: value for name, value in os.environ.items() if name not in ("DESTDIR",)}
    if not os.path.exists(os.path.join(BUILD, "build.ninja")):
        subprocess.run([MESON, "setup", "-Dguards=off", "-Dbuildtype=debug", BUILD, SOURCE],
                       check=True, env=env, stdout=subprocess.DEVNULL, timeout=BUILD_S)
    subprocess.run([NINJA, "-C", BUILD, "airlock"], check=True, env=env,
                   stdout=subprocess.DEVNULL, timeout=BUILD_S)
    return os.path.join(BUILD, "airlock")


def fresh(lab):
    """A repository with two commits and a change, and a directory outside."""
    lab.git_ok(lab.top, "clone", "-q", "--no-hardlinks", lab.template, lab.case)
    os.makedirs(os.path.join(lab.top, "outside"), exist_ok=True)
    with open(os.path.join(lab.case, "a.txt"), "a", encoding="ascii") as f:
        f.write("changed\n")
    return lab.case, os.path.join(lab.top, "outside")


def forget(lab):
    """Remove both."""
    subprocess.run(["rm", "-rf", lab.case, os.path.join(lab.top, "outside")], check=True)


def seen(*places):
    """What is in them."""
    return [snapshot(place) for place in places]


def differs(before, after):
    """The names that changed."""
    return [name for one, two in zip(before, after) for name in changed(one, two)]


def check_write(lab, report, op, words, ref):
    """Plain git writes, the tool without guards does not."""
    what = f"{op} {' '.join(words)} {ref or ''}".strip()
    repo, outside = fresh(lab)
    arguments = {"op": op, "repo": repo, "args": [word.format(outside=outside) for word in words]}
    if ref:
        arguments["ref"] = ref
    before = seen(repo, outside)
    done = subprocess.run(lab.command("Git", arguments, repo, "--toolset", "readonly"),
                          env=lab.env(), capture_output=True, check=False, timeout=LIMIT_S)
    result = json.loads(done.stdout).get("structuredContent")
    left = differs(before, seen(repo, outside))
    report(result is not None and not left, f"nothing is written by {what}",
           f"changed: {left}\n{done.stdout.decode()}{done.stderr.decode()}")
    if result is None:
        forget(lab)
        return
    env = lab.env(GIT_EDITOR="echo planted >")
    subprocess.run(result["cmd"], env=env, cwd=repo, stdin=subprocess.DEVNULL,
                   capture_output=True, check=False, timeout=LIMIT_S)
    written = differs(before, seen(repo, outside))
    report(bool(written), f"control: plain git writes by {what}", " ".join(result["cmd"]))
    forget(lab)


def check_grant(lab, report):
    """The check of grants is among what is off: else the above would prove less."""
    repo, _ = fresh(lab)
    config = os.path.join(lab.top, "config.toml")
    with open(config, "w", encoding="ascii") as f:
        f.write('[grants.none]\ntools = ["Git"]\nfs = { "/nonexistent" = "r" }\n')
    command = lab.command("Git", {"op": "status", "repo": repo}, repo, "--toolset", "readonly",
                          "--config", config, "--grant", "none")
    done = subprocess.run(command, env=lab.env(), capture_output=True, check=False, timeout=LIMIT_S)
    report(not json.loads(done.stdout).get("isError"), "grants are off in this build",
           done.stdout.decode())
    report(b"checks neither arguments nor grants" in done.stderr, "such a build says so",
           done.stderr.decode())
    forget(lab)


def check_install(report):
    """Nothing of it can be installed."""
    target = os.path.join(BUILD, "installed")
    done = subprocess.run([MESON, "install", "-C", BUILD, "--no-rebuild", "--destdir", target],
                          capture_output=True, check=False, timeout=LIMIT_S)
    found = [name for _, _, names in os.walk(target) for name in names]
    report(done.returncode != 0 and not found, "such a build cannot be installed", f"{found}")


def main():
    """The command line."""
    report = Report(2 * len(WRITES) + 3)
    lab = Lab(build())
    try:
        for op, words, ref in WRITES:
            check_write(lab, report, op, words, ref)
        check_grant(lab, report)
        check_install(report)
    finally:
        lab.close()
    return report.failed > 0


sys.exit(main())
