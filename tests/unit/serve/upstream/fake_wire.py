# SPDX-License-Identifier: Apache-2.0
"""The messages of a fake MCP server, and how it was started."""
import json
import signal
import sys

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
OBJECT = {"type": "object"}
ERA = sys.argv[1]
START = sys.argv[2] if len(sys.argv) > 2 else ""


def stop_reading(*_):
    """Read nothing more, and stay."""
    while True:
        signal.pause()


def send(message):
    """Write one message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def raw(text):
    """Write bytes that need not be a message."""
    sys.stdout.write(text)
    sys.stdout.flush()


def result(number, value):
    """Answer a request."""
    send({"id": number, "result": value})


def text(number, value, **more):
    """Answer a call."""
    result(number, {"content": [{"type": "text", "text": str(value)}], **more})


def receive():
    """The next message; the end of input ends the program."""
    line = sys.stdin.readline()
    if not line and START == "ignore_end":
        stop_reading(0, 0)
    if not line:
        sys.exit(0)
    return json.loads(line)


def until(wanted):
    """Read until a message that is wanted."""
    while True:
        message = receive()
        if wanted(message):
            return message


def forever():
    """Do nothing until the input ends."""
    while sys.stdin.readline():
        pass
    sys.exit(0)


def attempt(action):
    """What an action gives, or the name of the error."""
    try:
        return action() or "done"
    except OSError as error:
        return type(error).__name__
