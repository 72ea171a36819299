#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""staging.py AIRLOCK: staging and pushing 1,000 files beside `git add` and `git commit` of the same
files, and pulling a repository of 20,000 files beside `git worktree add`.

No two of the files are the same.  Measured in turn, round by round; the medians count.  The column
`cpu` compares the time that all processes of a side computed.
"""
import base64
import contextlib
import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

import mcp_client

FILES, FILE_BYTES, ROUNDS = 1000, 10240, 5
REPOSITORY_FILES = 20000
PUSH_BUDGET, PULL_BUDGET, MEMORY_BUDGET_MIB = 1.5, 1.3, 64
ONE_FILE_BUDGET_MIB = 8  # memory follows the change, not the repository


class Server(mcp_client.Client):
    """`airlock serve` with the toolsets staging and files."""

    def __init__(self, airlock, root, config):
        super().__init__(airlock, "--root", root, "--toolset", "staging", "--toolset", "files",
                         "--approval", "allow", "--config", config, cwd=root)

    def peak_mib(self):
        """The most memory that was resident."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))

    def cpu(self):
        """Seconds that the server and its children computed so far."""
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def git(*words, cwd):
    subprocess.run(["git", *words], cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def children_cpu():
    """Seconds that the children computed which this process has waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def timed(work, cpu):
    """Seconds that passed, and seconds that were computed as `cpu` tells."""
    computed, start = cpu(), time.monotonic()
    work()
    return time.monotonic() - start, cpu() - computed


def text(source, size):
    """Text of about this size that deflates about as source code does."""
    return (base64.b64encode(source.randbytes(size * 3 // 8)).decode() + "\n") * 2


def make_repository(where):
    """A repository of so many files, a hundred in each directory, always the same one."""
    source = random.Random(1)
    git("init", "-q", "-b", "main", where, cwd="/")
    with subprocess.Popen(["git", "fast-import", "--quiet"], cwd=where,
                          stdin=subprocess.PIPE) as feed:
        feed.stdin.write(b"commit refs/heads/main\ncommitter A <a@example.com> 1600000000 +0000\n"
                         b"data 4\nmany\n")
        for i in range(REPOSITORY_FILES):
            content = text(source, source.randrange(100, 6000))
            feed.stdin.write(f"M 100644 inline src/part{i // 100:03}/file{i % 100:02}.c\n"
                             f"data {len(content)}\n{content}\n".encode())
        feed.stdin.close()
        if feed.wait() != 0:
            sys.exit("git fast-import failed")
    git("reset", "-q", "--hard", cwd=where)


def new_files(number):
    """The files of a round."""
    source = random.Random(1000 + number)
    for i in range(FILES):
        yield f"round{number}/d{i % 20:02}/f{i:04}.txt", text(source, FILE_BYTES)


def push_round(server, target, checkout, number):
    """Seconds of staging and pushing, and of git's own commands, for the same files."""
    for path, content in new_files(number):
        server.call("write_file", path=f"/workspace/{path}", content=content)
        os.makedirs(os.path.dirname(os.path.join(checkout, path)), exist_ok=True)
        with open(os.path.join(checkout, path), "w", encoding="ascii") as out:
            out.write(content)

    def ours():
        staged = server.call("git_stage", files=[f"/workspace/round{number}"],
                             message=f"round {number}")
        pushed = server.call("git_push", commitId=staged["id"],
                             target={"type": "local", "path": target, "branch": "pushed"})
        if pushed["status"] != "success":
            sys.exit(f"git_push: {pushed}")

    def theirs():
        git("add", "--", f"round{number}", cwd=checkout)
        git("commit", "-q", "-m", f"round {number}", cwd=checkout)
    return timed(ours, server.cpu), timed(theirs, children_cpu)


def pull_round(airlock, target, backend, scratch):
    """Seconds of a pull into a new sandbox and of a new worktree, and the server's memory.

    Nothing is removed before the end: ext4 is slow to give out inodes that were just freed.
    """
    config, tree = os.path.join(scratch, "config.toml"), os.path.join(scratch, "tree")
    os.mkdir(scratch)
    write_config(config, f'backend = "{backend}"\npath = "{scratch}/workspace"\n')
    os.environ["XDG_STATE_HOME"] = os.path.join(scratch, "state")
    with contextlib.closing(Server(airlock, target, config)) as server:
        ours = timed(lambda: server.call("git_pull", paths=["**"],
                                         source={"type": "local", "path": target}), server.cpu)
        memory = server.peak_mib()
    theirs = timed(lambda: git("worktree", "add", "-q", "--detach", tree, cwd=target), children_cpu)
    return ours, theirs, memory


def one_file(airlock, target, config):
    """The server's memory when it pulls one file, stages a change of it and pushes that."""
    with contextlib.closing(Server(airlock, target, config)) as server:
        path = "src/part000/file00.c"
        place = {"type": "local", "path": target}
        server.call("git_pull", paths=[path], source=place)
        server.call("write_file", path=f"/workspace/{path}", content="changed\n")
        staged = server.call("git_stage", files=[f"/workspace/{path}"], message="one")
        server.call("git_push", commitId=staged["id"], target={**place, "branch": "one"})
        return server.peak_mib()


def write_config(path, settings):
    """A configuration with these settings of the sandbox."""
    with open(path, "w", encoding="utf-8") as out:
        out.write(f"[staging]\n{settings}")


def row(title, ours, theirs, budget):
    """One line; whether it is within the budget."""
    median, cpu = (statistics.median(a[i] / b[i] for a, b in zip(ours, theirs)) for i in (0, 1))
    passed = [statistics.median(side[0] for side in sides) * 1000 for sides in (theirs, ours)]
    good = median <= budget
    print(f"{title:34} {passed[0]:6.0f} ms {passed[1]:6.0f} ms {median:7.3f} {cpu:7.3f}  "
          f"{f'<= {budget:.2f}':22} {'ok' if good else 'OVER'}")
    return good


def memory_row(title, mib, budget):
    """One line about memory; whether it is within the budget."""
    good = mib <= budget
    print(f"{title:34} {mib:27.1f} MiB {'':8} {f'<= {budget} MiB':22} {'ok' if good else 'OVER'}")
    return good


def main():
    airlock = os.path.abspath(sys.argv[1])
    good = True
    scratch = tempfile.mkdtemp(prefix="airlock-bench-")
    try:
        os.environ["XDG_STATE_HOME"] = os.path.join(scratch, "state")
        target, checkout = os.path.join(scratch, "target"), os.path.join(scratch, "checkout")
        make_repository(target)
        git("clone", "-q", target, checkout, cwd=scratch)
        config = os.path.join(scratch, "memory.toml")
        write_config(config, "")
        print(f"\n{'the sandbox':34} {'git':>9} {'airlock':>9} {'median':>7} {'cpu':>7}  budget")
        with contextlib.closing(Server(airlock, target, config)) as server:
            rounds = [push_round(server, target, checkout, number) for number in range(ROUNDS)]
        good &= row(f"stage and push {FILES} files", *zip(*rounds), PUSH_BUDGET)
        for title, backend in (("pull, sandbox in memory", "memory"),
                               ("pull, directory", "directory")):
            rounds = [pull_round(airlock, target, backend,
                                 os.path.join(scratch, f"{backend}{number}"))
                      for number in range(ROUNDS)]
            ours, theirs, peaks = zip(*rounds)
            good &= row(title, ours, theirs, PULL_BUDGET)
            good &= memory_row("  memory of the server", max(peaks), MEMORY_BUDGET_MIB)
        good &= memory_row("one file: memory of the server", one_file(airlock, target, config),
                           ONE_FILE_BUDGET_MIB)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
