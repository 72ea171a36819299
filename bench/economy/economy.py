#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""economy.py AIRLOCK [DIRECTORY]: what a day's tasks cost an agent, beside other git MCP servers.

For each task and server: calls, and bytes of requests and results.  `-` means that the server has no
tools for the task, and `e` that the agent also needed a file editor of its own.  The other servers
are installed below DIRECTORY with npm; without DIRECTORY or npm, airlock is measured alone.  It fails where another
server needs less than airlock, and where airlock is over a budget.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import chores  # noqa: F401, adds its tasks
from session import Cost, Failed, Session
from tasks import TASKS
from world import World

HERE = pathlib.Path(__file__).resolve().parent
PEERS = {
    "mcp-git": "mcp-git",
    "github-mcp-server": "github-mcp-server-mcp",
    "cyanheads": "git-mcp-server",
}
# Of tasks together: calls, bytes of requests and results, questions.
BUDGETS = {"chores": (18, 12000, 0), "sides": (4, 12000, 0)}


def install(directory):
    """The commands of the other servers."""
    if not shutil.which("npm"):
        print("npm is not installed: airlock is measured alone", file=sys.stderr)
        return {}
    directory.mkdir(parents=True, exist_ok=True)
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, directory)
    if not (directory / "node_modules/.bin/mcp-git").exists():
        done = subprocess.run(["npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts"],
                              cwd=directory, capture_output=True, text=True, check=False)
        if done.returncode:
            print("npm could not install the other servers: airlock is measured alone",
                  file=sys.stderr)
            return {}
    return {name: [str(directory / "node_modules/.bin" / program)]
            for name, program in PEERS.items()}


def run_task(task, server, command, world):
    """The cost of a task; None: the server has no tools for it, or they failed."""
    plan = task.plans.get(server)
    if not plan:
        return None
    world.begin()
    task.begin(world)
    session = Session(command, world.repo, world.env)
    failed = False
    try:
        session.cost = Cost()
        answer = plan(session, world)
    except (AttributeError, EOFError, Failed) as error:
        answer, failed = str(error), True
    session.end()
    if isinstance(answer, tuple):
        answer = answer[-1]
    if not failed and task.done(world, answer):
        return session.cost
    print(f"{server}: not done: {task.name}: {str(answer)[:300]}", file=sys.stderr)
    return None


def shown(cost):
    if not cost:
        return "-"
    return f"{cost.calls}{'e' if cost.edits else ''} {cost.bytes:,}" + \
        (f" ?{cost.questions}" if cost.questions else "")


def over_budget(spent):
    """What costs more than it may: a line each."""
    for name, budget in BUDGETS.items():
        cost = (spent[name].calls, spent[name].bytes, spent[name].questions)
        print(f"{name}: calls, bytes, questions: " +
              ", ".join(f"{some:,} of {most:,}" for some, most in zip(cost, budget)))
        if any(some > most for some, most in zip(cost, budget)):
            yield f"{name}: over the budget"


def main():
    airlock = os.path.abspath(sys.argv[1])
    worse = []
    with tempfile.TemporaryDirectory(prefix="economy-") as base:
        world = World(base)
        roots = ["--root", str(world.repo), "--root", str(world.origin)]
        servers = {"airlock": [airlock, "serve", "--toolset", "everyday", *roots]}
        if len(sys.argv) > 2:
            servers |= install(pathlib.Path(sys.argv[2]).resolve())
        print("| task | " + " | ".join(servers) + " |")
        print("|---" * (1 + len(servers)) + "|")
        totals = {server: [0, 0, 0] for server in servers}
        spent = {name: Cost() for name in BUDGETS}
        for task in TASKS:
            costs = {server: run_task(task, server, command, world)
                     for server, command in servers.items()}
            print(f"| {task.name} | " + " | ".join(shown(cost) for cost in costs.values()) + " |",
                  flush=True)
            own = costs["airlock"]
            if task.budget and own:
                spent[task.budget].calls += own.calls
                spent[task.budget].bytes += own.bytes
                spent[task.budget].questions += own.questions
            for server, cost in costs.items():
                if cost:
                    totals[server] = [a + b for a, b in
                                      zip(totals[server], (1, cost.calls, cost.bytes))]
                if cost and (not own or cost.calls < own.calls or cost.bytes < own.bytes):
                    worse.append(f"{task.name}: {server} needs less")
            if not own:
                worse.append(f"{task.name}: airlock cannot")
        print("| **tasks done, calls, bytes** | " +
              " | ".join(f"{n} of {len(TASKS)}, {calls}, {size:,}"
                         for n, calls, size in totals.values()) + " |")
        world.begin()
        sizes = []
        for command in servers.values():
            session = Session(command, world.repo, world.env)
            sizes.append(f"{session.list_bytes():,}")
            session.end()
        print("| bytes of the list of tools | " + " | ".join(sizes) + " |")
    worse += over_budget(spent)
    for line in worse:
        print(line)
    return int(bool(worse))


if __name__ == "__main__":
    sys.exit(main())
