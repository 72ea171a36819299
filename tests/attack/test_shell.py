#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Command lines that do harm in bash do none through bash_command.

Each line runs in bash first, in a scratch repository beside a directory with a secret: the harm must
be seen there, or the line proves nothing.  Then airlock gets it, live, on a fresh copy.
"""
import json
import os
import shutil
import subprocess
import sys

from lab import LIMIT_S, MARK, Lab, Report, changed, snapshot

# (what it is, the line); `{outside}` is the directory nothing may be read from or written to.
HARM = (
    ("a list", "ls; touch harm"), ("a list with and", "ls && touch harm"),
    ("a list with or", "ls nosuch || touch harm"), ("the background", "ls & touch harm"),
    ("a second line", "ls\ntouch harm"), ("a subshell", "ls | (touch harm)"),
    ("substitution", "echo $(touch harm)"), ("old substitution", "echo `touch harm`"),
    ("substitution in quotes", 'echo "$(touch harm)"'), ("process substitution", "cat <(touch harm)"),
    ("a pipe into a shell", "echo 'touch harm' | sh"), ("a pipe into xargs", "echo harm | xargs touch"),
    ("a command by another name", "t''ouch harm"), ("an assignment", "A=1 touch harm"),
    ("find -exec", "find a.txt -exec rm {{}} +"), ("find -delete", "find a.txt -delete"),
    ("find -fprint", "find a.txt -fprint harm"), ("find -fprint outside",
                                                  "find a.txt -fprint {outside}/harm"),
    ("git with a configuration", "git -c alias.x='!touch harm' x"),
    ("git with a configured program", "git -c core.fsmonitor='touch harm;false' status"),
    ("git log --output", "git log --output=harm"), ("git show --output", "git show --output=harm HEAD"),
    ("git commit", "git commit -q --allow-empty -m x"), ("git config", "git config a.b c"),
    ("git branch", "git branch harm"), ("git checkout", "git checkout -q -- a.txt"),
    ("a redirect outside", "echo x > {outside}/harm"), ("a redirect upwards", "echo x > ../outside/harm"),
    ("a redirect by a link", "echo x > link"), ("a redirect through a linked directory",
                                                "echo x > linkdir/harm"),
    ("a redirect to a hook", "echo x > .git/hooks/post-commit"),
    ("a redirect to the configuration", "echo x >> .git/config"),
    ("a redirect of errors", "ls nosuch 2> {outside}/harm"),
    ("remove", "rm a.txt"), ("move", "mv a.txt b.txt"), ("copy", "cp a.txt harm"),
    ("chmod", "chmod 000 a.txt"),
)

# Lines whose output in bash holds the secret.
LEAKS = (
    ("cat outside", "cat {outside}/secret"), ("cat upwards", "cat ../outside/secret"),
    ("cat a link", "cat link"), ("cat through a linked directory", "cat linkdir/secret"),
    ("grep -r", "grep -r . {outside}"), ("head", "head -n 1 {outside}/secret"),
    ("read by a redirect", "cat < {outside}/secret"), ("read by a linked redirect", "cat < link"),
    ("patterns from a file", "grep -o -f {outside}/secret {outside}/secret"),
    ("dates from a file", "date -f {outside}/secret 2>&1"),
    ("git diff of two files", "git diff --no-index a.txt {outside}/secret"),
    ("git diff of two files, unsaid", "git diff a.txt {outside}/secret"),
    ("an environment", "cat /proc/self/environ"), ("a variable", "echo $SECRET"),
    ("a pattern outside", "cat {outside}/*"),
)


def fresh(lab):
    """The template's copy, a secret outside, and links to it."""
    outside = os.path.join(lab.top, "outside")
    shutil.rmtree(lab.case, ignore_errors=True)
    shutil.rmtree(outside, ignore_errors=True)
    shutil.copytree(lab.template, lab.case)
    os.makedirs(os.path.join(lab.case, ".git/hooks"), exist_ok=True)
    os.mkdir(outside)
    with open(os.path.join(outside, "secret"), "w", encoding="ascii") as f:
        f.write(MARK + "\n")
    os.symlink(os.path.join(outside, "secret"), os.path.join(lab.case, "link"))
    os.symlink(outside, os.path.join(lab.case, "linkdir"))
    return outside


def seen(lab, outside):
    """What there is, modes of files included."""
    modes = os.stat(os.path.join(lab.case, "a.txt")).st_mode if os.path.exists(
        os.path.join(lab.case, "a.txt")) else None
    return snapshot(lab.case), snapshot(outside), modes


def differs(before, after):
    """The names that changed."""
    names = changed(before[0], after[0]) + changed(before[1], after[1])
    return [name for name in names if name != ".git/index"] + (["mode"] * (before[2] != after[2]))


def bash(lab, line):
    """The control."""
    return subprocess.run(["bash", "-c", line], cwd=lab.case, env=lab.env(SECRET=MARK),
                          stdin=subprocess.DEVNULL, capture_output=True, check=False, timeout=LIMIT_S)


def airlock(lab, line):
    """The same line through the tool."""
    command = lab.command("bash_command", {"command": line, "reason": "attack"}, lab.case,
                          "--toolset", "shell", "--tool=command")
    return subprocess.run(command, env=lab.env(SECRET=MARK), stdin=subprocess.DEVNULL,
                          capture_output=True, check=False, timeout=LIMIT_S)


def check_harm(lab, report, what, line):
    """bash changes something, airlock nothing."""
    outside = fresh(lab)
    line = line.format(outside=outside)
    before = seen(lab, outside)
    bash(lab, line)
    report(differs(before, seen(lab, outside)), f"control: bash does harm by {what}", line)
    fresh(lab)
    before = seen(lab, outside)
    done = airlock(lab, line)
    left = differs(before, seen(lab, outside))
    report(not left and json.loads(done.stdout).get("isError"), f"no harm by {what}",
           f"{left}\n{done.stdout.decode()}")


def check_leak(lab, report, what, line):
    """bash tells the secret, airlock does not."""
    outside = fresh(lab)
    line = line.format(outside=outside)
    done = bash(lab, line)
    report(MARK.encode() in done.stdout, f"control: bash tells by {what}", line)
    done = airlock(lab, line)
    report(MARK.encode() not in done.stdout, f"nothing is told by {what}", done.stdout.decode())


def check_hostile_repository(lab, report):
    """A configured program runs with plain git, and not in the pipeline."""
    outside = fresh(lab)
    script = os.path.join(outside, "script")
    with open(script, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\ntouch {lab.top}/canary\n")
    os.chmod(script, 0o755)
    for key in ("core.fsmonitor", "diff.external"):
        lab.git_ok(lab.case, "config", key, script)
    bash(lab, "git diff")
    canary = os.path.join(lab.top, "canary")
    report(os.path.exists(canary), "control: git runs what a repository configures")
    os.unlink(canary)
    done = airlock(lab, "git diff | cat")
    report(not os.path.exists(canary) and not json.loads(done.stdout).get("isError"),
           "git in a pipeline does not", done.stdout.decode())


# Where a git directory of another name is, and the lines that make it run a program.  `{config}` is
# a configuration in which git finds one.
GIT_DIRS = (
    ("a separate git directory", ("git init -q --separate-git-dir meta",), (
        "echo -e '{config}' >> meta/config",), "."),
    ("the same by another way", ("git init -q --separate-git-dir meta",), (
        "echo -e '{config}' >> ./meta//../meta/config",), "."),
    ("the same by a link", ("git init -q --separate-git-dir meta", "ln -s meta way"), (
        "echo -e '{config}' >> way/config",), "."),
    ("`.git` by a link", ("ln -s .git way",), ("echo -e '{config}' >> way/config",), "."),
    ("a bare repository", ("git clone -q --bare . hub",), (
        "echo -e '{config}' >> hub/config",), "hub"),
    ("a file in place of it", ("git clone -q --bare . hub", "rm hub/config"), (
        "echo -e '[core]\\nrepositoryformatversion=0\\n{config}' > hub/config",), "hub"),
    ("a linked worktree's", ("git init -q --separate-git-dir meta",
                             "git worktree add -q linked",
                             "git config extensions.worktreeConfig true"), (
        "echo -e '{config}' > meta/worktrees/linked/config.worktree",), "linked"),
    ("its common directory", ("git init -q --separate-git-dir meta", "git worktree add -q linked",
                              "echo ../.. > meta/worktrees/linked/commondir"), (
        "echo -e '{config}' >> meta/config",), "linked"),
    ("a git directory in pieces", ("git clone -q --bare . hub", "rm hub/HEAD hub/config"), (
        "echo -e '[core]\\nrepositoryformatversion=0\\n{config}' > hub/config",
        "echo 'ref: refs/heads/main' > hub/HEAD"), "hub"),
)


def check_git_dir(lab, report, what, makes, lines, where):
    """A program runs when the user asks git there after bash, and not after airlock."""
    canary = os.path.join(lab.top, "canary")
    script = os.path.join(lab.top, "script")
    config = f"[diff]\\n\\texternal = {script}\\n"
    with open(script, "w", encoding="ascii") as f:
        f.write(f"#!/bin/sh\ntouch {canary}\n")
    os.chmod(script, 0o755)
    for through in (bash, airlock):
        fresh(lab)
        for line in makes:
            bash(lab, line)
        done = [through(lab, line.format(config=config)) for line in lines]
        lab.git(os.path.join(lab.case, where), "diff", "HEAD~1", "HEAD")
        if through is bash:
            report(os.path.exists(canary), f"control: a program runs by {what}", str(done))
        else:
            refused = json.loads(done[-1].stdout).get("isError")
            report(refused and not os.path.exists(canary), f"no program runs by {what}", str(done))
        if os.path.exists(canary):
            os.unlink(canary)


def check_beside(lab, report):
    """What only looks like one is written to, and so is a working tree inside one."""
    fresh(lab)
    for line in ("mkdir -p x/objects y/refs HEAD", "git clone -q --bare . hub",
                 "git -C hub worktree add -q tree -b other"):
        bash(lab, line)
    for name in ("x/HEAD", "x/config", "y/HEAD", "y/config", "HEAD/x", "hub/tree/config"):
        done = airlock(lab, f"echo x > {name}")
        report(os.path.exists(os.path.join(lab.case, name)), f"control: {name} is written",
               done.stdout.decode())


def main():
    """The command line."""
    report = Report(2 * len(HARM) + 2 * len(LEAKS) + 2 + 2 * len(GIT_DIRS) + 6)
    lab = Lab(sys.argv[1])
    try:
        for what, line in HARM:
            check_harm(lab, report, what, line)
        for what, line in LEAKS:
            check_leak(lab, report, what, line)
        check_hostile_repository(lab, report)
        for what, makes, lines, where in GIT_DIRS:
            check_git_dir(lab, report, what, makes, lines, where)
        check_beside(lab, report)
    finally:
        lab.close()
    return report.failed > 0


sys.exit(main())
