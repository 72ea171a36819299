# SPDX-License-Identifier: Apache-2.0
"""Other MCP servers that misbehave, behind airlock: each costs its own calls, and reaches nothing."""
import os
import pathlib
import select
import signal
import socket
import sys

from harness import WATCHDOG_SECONDS, main
from upstream import Client, UpstreamCase

FAKE = pathlib.Path(__file__).resolve().parents[1] / "unit/serve/upstream/fake_server.py"

# What a call of a tool with these arguments says, and whether it fails.
ANSWERS = (
    ("wrong_ids", {}, False, "mine"),
    ("garbage", {}, False, "still here"),
    ("error", {}, True, "MCP server 'bad' answered with error -32602: bad thing"),
    ("twice_named", {}, True, "MCP server 'bad' answered with the same name twice in one object"),
    ("die", {}, True, "the call was lost: MCP server 'bad' ended with exit code 7: boom red"),
    ("no_result", {"value": []}, True,
     "MCP server 'bad' answered with something that is no result of a tool"),
    ("structured", {"structuredContent": {}}, False, "s"),
    ("deep", {"levels": 1000}, True, "MCP server 'bad' answered with a result that is nested too "
     "deeply"),
    ("long_line", {"bytes": 50 << 20}, True, "MCP server 'bad' sent a line of more than 10 MiB"),
    ("many_values", {"count": 600000}, True, "MCP server 'bad' sent a message of too many values"),
    ("flood", {"count": 1000000}, True, "the call was lost: MCP server 'bad' floods airlock with "
     "messages that nobody asked for"),
)

STARTS = ("exit", "hang", "garbage", "half", "long", "close", "list_hangs", "endless_pages",
          "list_error", "unknown", "many_tools", "strange_tools")


def fake(name, start="", era="legacy", more=""):
    """The configuration of one fake server."""
    words = (sys.executable, "-B", FAKE, era, start or "well")
    command = ", ".join(f'"{word}"' for word in words)
    return (f"[mcp.servers.{name}]\ncommand = [{command}]\n{more}\n"
            f"[mcp.servers.{name}.allow]\nread = [\"{FAKE.parent}\"]\n")


def children_of(pid):
    """The processes that a process has started, in any of its threads."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children", encoding="ascii") as file:
            found += map(int, file.read().split())
    return found


class Hostile(UpstreamCase):
    def assert_gone(self, pidfds):
        """Wait until every process has ended."""
        for pidfd in pidfds:
            self.assertTrue(select.select([pidfd], [], [], WATCHDOG_SECONDS)[0], "a process is left")
            os.close(pidfd)

    def watch_children(self, client):
        """A descriptor for each process that airlock has started."""
        return [os.pidfd_open(pid) for pid in children_of(client.process.pid)]

    def test_answers(self):
        """A bad answer costs its call, says why in one line, and the server goes on or starts again"""
        self.configure(fake("bad"), fake("good", era="modern"))
        client = Client(self)
        client.list()
        for tool, arguments, failed, text in ANSWERS:
            result = client.call(f"mcp__bad__{tool}", arguments)
            self.assertEqual((result.failed, result.text.split("\n")[0]), (failed, text), tool)
            self.assertEqual(client.call("mcp__bad__echo", {"a": 1}).text, '{"a": 1}', tool)
            self.assertEqual(client.call("mcp__good__echo", {"b": 2}).text, '{"b": 2}', tool)
        self.assertEqual(client.call("git_status").text, "## main\n")

    def test_starts(self):
        """Twelve servers that cannot start or list properly hide and hold up nothing"""
        self.configure(*(fake(start, start) for start in STARTS), fake("good"))
        client = Client(self)
        names = set(client.list())
        while "mcp__good__echo" not in names:
            client.next_told("notifications/tools/list_changed")
            names = set(client.list())
        self.assertIn("git_status", names)
        self.assertEqual(client.call("mcp__good__echo", {"a": 1}).text, '{"a": 1}')
        result = client.call("mcp__exit__echo")
        self.assertTrue(result.failed)
        self.assertIn("MCP server 'exit' ended with exit code 4: no such luck", result.text)
        started = self.watch_children(client)
        self.assertGreater(len(started), 3)
        client.close()
        self.assert_gone(started)

    def test_killed(self):
        """What airlock has started ends with it, however airlock ends, and leaves no process"""
        for how in (signal.SIGKILL, signal.SIGTERM):
            self.configure(fake("good"), fake("deaf", "ignore_end"))
            client = Client(self)
            client.list()
            while len(children_of(client.process.pid)) < 2:
                client.next_told("notifications/tools/list_changed")
                client.list()
            started = self.watch_children(client)
            client.process.send_signal(how)
            self.assert_gone(started)
            client.process.wait()

    def test_confined(self):
        """A server cannot read, write, run or connect outside; without confinement it can"""
        outside = self.base / "outside"
        outside.mkdir()
        (outside / "secret").write_text("s", encoding="utf-8")
        program = self.root / "program"
        program.write_text("#!/bin/sh\necho ran\n", encoding="utf-8")
        program.chmod(0o755)
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        local = socket.socket(socket.AF_UNIX)
        self.addCleanup(local.close)
        local.bind(str(self.root / "socket"))
        local.listen()
        attacks = (
            ("read", {"path": str(outside / "secret")}, "s"),
            ("read", {"path": str(self.home / ".config/airlock/config.toml")}, "["),
            ("write", {"path": str(outside / "canary")}, "done"),
            ("run", {"argv": [str(program)]}, "ran"),
            ("connect", {"port": listener.getsockname()[1]}, "done"),
            ("connect", {"path": str(self.root / "socket")}, "done"),
        )
        self.configure(fake("open", more="confine = false"), fake("shut"))
        client = Client(self)
        client.list()
        for tool, arguments, fired in attacks:
            (outside / "canary").unlink(missing_ok=True)
            self.assertEqual(client.call(f"mcp__shut__{tool}", arguments).text, "PermissionError",
                             (tool, arguments))
            self.assertFalse((outside / "canary").exists())
            self.assertEqual(client.call(f"mcp__open__{tool}", arguments).text, fired,
                             (tool, arguments))
        self.assertTrue(client.call("mcp__shut__write", {"path": "new"}).text, "done")
        self.assertTrue((self.root / "new").exists())
        client.close()
        said = {line["tool"].split("__")[1]: line["confinement"] for line in self.records()}
        self.assertEqual(said["open"], "none", said)
        self.assertNotEqual(said["shut"], "none", said)


if __name__ == "__main__":
    main()
