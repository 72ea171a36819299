#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""staging.py AIRLOCK REPOSITORY: staging and pushing 1,000 files beside `git add` and `git commit`
of the same files, and pulling a whole repository beside `git worktree add`.

REPOSITORY is cloned, and not changed.  Measured in turn, round by round; the medians count.
"""
import base64
import contextlib
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

FILES, FILE_BYTES, ROUNDS = 1000, 10240, 7
PUSH_BUDGET, PULL_BUDGET, MEMORY_BUDGET_MIB = 1.5, 1.3, 64


class Server:
    """`airlock serve` with the toolsets staging and files, and a client."""

    def __init__(self, airlock, root, config):
        self.process = subprocess.Popen(
            [airlock, "serve", "--root", root, "--toolset", "staging", "--toolset", "files",
             "--approval", "allow", "--config", config],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=root)
        self.number = 0
        self.request("initialize", protocolVersion="2025-06-18", capabilities={},
                     clientInfo={"name": "bench", "version": "1"})
        self.send(method="notifications/initialized")

    def send(self, **message):
        self.process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, **params):
        self.number += 1
        self.send(id=self.number, method=method, params=params)
        while True:
            message = json.loads(self.process.stdout.readline())
            if message.get("id") == self.number:
                return message["result"]

    def call(self, tool, **arguments):
        result = self.request("tools/call", name=tool, arguments=arguments)
        if result.get("isError"):
            sys.exit(f"{tool}: {result['content'][0]['text']}")
        return result.get("structuredContent")

    def peak_mib(self):
        """The most memory that was resident."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM"))

    def close(self):
        self.process.stdin.close()
        self.process.wait()


def git(*words, cwd):
    subprocess.run(["git", *words], cwd=cwd, check=True, stdout=subprocess.DEVNULL)


def timed(work):
    start = time.monotonic()
    result = work()
    return time.monotonic() - start, result


def new_files(number):
    """Text that deflates about as source code does."""
    for i in range(FILES):
        text = base64.b64encode(os.urandom(FILE_BYTES * 3 // 8)).decode()
        yield f"round{number}/d{i % 20:02}/f{i:04}.txt", (text + "\n") * 2


def push_round(server, target, checkout, number):
    """Seconds of staging and pushing, and of git's own commands, for the same files."""
    files = list(new_files(number))
    for path, text in files:
        server.call("write_file", path=f"/workspace/{path}", content=text)
        os.makedirs(os.path.dirname(os.path.join(checkout, path)), exist_ok=True)
        with open(os.path.join(checkout, path), "w", encoding="ascii") as out:
            out.write(text)

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
    return timed(ours)[0], timed(theirs)[0]


def pull_round(airlock, target, config, scratch, number):
    """Seconds of a pull into a new sandbox and of a new worktree, and the server's memory."""
    tree = os.path.join(scratch, f"tree{number}")
    with contextlib.closing(Server(airlock, target, config)) as server:
        ours, _ = timed(lambda: server.call("git_pull", paths=["**"],
                                            source={"type": "local", "path": target}))
        memory = server.peak_mib()
    theirs, _ = timed(lambda: git("worktree", "add", "-q", "--detach", tree, cwd=target))
    git("worktree", "remove", "--force", tree, cwd=target)
    return ours, theirs, memory


def row(title, ours, theirs, budget):
    """One line; whether it is within the budget."""
    median = statistics.median(a / b for a, b in zip(ours, theirs))
    good = median <= budget
    print(f"{title:34} {statistics.median(theirs) * 1000:6.0f} ms {statistics.median(ours) * 1000:6.0f} ms "
          f"{median:7.3f} {'':7}  {f'<= {budget:.2f}':22} {'ok' if good else 'OVER'}")
    return good


def main():
    airlock, big = os.path.abspath(sys.argv[1]), os.path.abspath(sys.argv[2])
    good = True
    scratch = tempfile.mkdtemp(prefix="airlock-bench-")
    try:
        os.environ["XDG_STATE_HOME"] = os.path.join(scratch, "state")
        target, checkout = os.path.join(scratch, "target"), os.path.join(scratch, "checkout")
        for place in (target, checkout):
            git("clone", "-q", big, place, cwd=scratch)
        memory, directory = os.path.join(scratch, "memory.toml"), os.path.join(scratch, "dir.toml")
        for path, text in ((memory, ""), (directory, '[staging]\nbackend = "directory"\n'
                                                     f'path = "{scratch}/workspace"\n')):
            with open(path, "w", encoding="utf-8") as out:
                out.write(text)
        print(f"\n{'the sandbox':34} {'git':>9} {'airlock':>9} {'median':>7} {'':7}  budget")
        with contextlib.closing(Server(airlock, target, memory)) as server:
            rounds = [push_round(server, target, checkout, number) for number in range(ROUNDS)]
        good &= row(f"stage and push {FILES} files", *zip(*rounds), PUSH_BUDGET)
        for title, config in (("pull, sandbox in memory", memory), ("pull, directory", directory)):
            rounds = []
            for number in range(ROUNDS):
                shutil.rmtree(os.path.join(scratch, "workspace"), ignore_errors=True)
                shutil.rmtree(os.path.join(scratch, "state"), ignore_errors=True)
                rounds.append(pull_round(airlock, target, config, scratch, number))
            ours, theirs, peaks = zip(*rounds)
            good &= row(title, ours, theirs, PULL_BUDGET)
            fits = max(peaks) <= MEMORY_BUDGET_MIB
            print(f"{'  memory of the server':34} {max(peaks):27.1f} MiB {'':8} "
                  f"{f'<= {MEMORY_BUDGET_MIB} MiB':22} {'ok' if fits else 'OVER'}")
            good &= fits
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
