#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An MCP server for tests:  fake_server.py ERA [START]

ERA is `legacy`, `modern` or `both`.  START is a way to behave badly before the first call, or to list
strange tools.
"""
import os
import signal
import sys

from fake_tools import FUNCTIONS, NOTES, TOOLS
from fake_wire import (ERA, META, MODERN, OBJECT, START, forever, raw, receive, result, send,
                       stop_reading)

LIST_BYTES = 128 << 10  # as the tests of the limits set it


def nested(levels):
    """A schema of so many levels of brackets."""
    schema = {"type": "object"}
    for _ in range((levels - 1) // 2):
        schema = {"type": "object", "properties": {"a": schema}}
    return schema


def strange_tools():
    """Tools most of which cannot be offered."""
    def named(name, schema=None, **more):
        return {"name": name, "inputSchema": OBJECT if schema is None else schema, **more}
    return [named("good"), named("a.b-c_d9"), named("n" * 128), named("n" * 129), named("n" * 300),
            named(""), named("a\x1b[31mb"), named("a\nb"), named("ä"), named("a b"), named("a/b"),
            named(7), named(None), {"inputSchema": OBJECT}, {"name": "no_schema"}, "text", None, [],
            named("good", {"type": "object", "title": "second"}), named("array", []),
            named("no_type", {}), named("string", {"type": "string"}),
            named("no_such_type", {"type": "object", "properties": {"a": {"type": "strin"}}}),
            named("far", {"type": "object", "properties": {"a": {"$ref": "https://x.test/s"}}}),
            named("lost", {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}}}),
            named("found", {"type": "object", "properties": {"a": {"$ref": "#/$defs/b"}},
                            "$defs": {"b": {"type": "string"}}}),
            named("deep_31", nested(31)), named("deep_33", nested(33)), named("deep", nested(999)),
            named("large", {"type": "object", "description": "x" * 70000}),
            named("bad_output", outputSchema={"type": "object", "required": "a"}),
            named("bad_pattern", outputSchema={"type": "object", "properties": {
                "a": {"type": "string", "pattern": "(["}}}),
            named("input_pattern", {"type": "object", "properties": {
                "a": {"type": "string", "pattern": "(?P<x>a)"}}}),
            named("texts", {"type": "object", "properties": {
                "description": {"type": "string", "description": "a\u202eb\x1b[2J"}}},
                description="one\x1b[31m\ntwo" + "x" * 5000, title="a\nb", annotations=[])]


def page(cursor):
    """One page of tools, and the cursor of the next."""
    if START == "strange_tools":
        return strange_tools(), None
    if START == "many_tools" or START.startswith("tools="):
        count = int(START.partition("=")[2] or 10000)
        return [{"name": f"t{i}", "inputSchema": OBJECT} for i in range(count)], None
    if START.startswith("pages="):
        following = int(cursor or 0) + 1
        return ([{"name": f"t{following}", "inputSchema": OBJECT}],
                str(following) if following < int(START[6:]) else None)
    if START == "endless_pages":
        return [{"name": "good", "inputSchema": OBJECT}], "again"
    if START == "pages":
        at = int(cursor or 0)
        return TOOLS[at:at + 10], str(at + 10) if at + 10 < len(TOOLS) else None
    return TOOLS, None


def fill_list(number, more, params):
    """Three pages that together have the most bytes of a list, and so many more."""
    at = int(params.get("cursor", 0))
    sizes = [LIST_BYTES // 2, LIST_BYTES - LIST_BYTES // 2 - 200, 200 + more]
    head = '{"jsonrpc":"2.0","id":%d,"result":{"tools":[],' % number
    tail = ('"nextCursor":"%d"}}' % (at + 1) if at < 2 else '"last":1}}')
    room = sizes[at] - len(head) - len(tail) - len('"x":"",')
    raw(head + '"x":"' + "x" * room + '",' + tail + "\n")


def list_tools(number, params):
    """Answer tools/list."""
    if START == "no_list":
        return result(number, {"tools": "none"})
    if START == "list_error":
        return send({"id": number, "error": {"code": -32603, "message": "no list"}})
    if START == "list_hangs":
        return forever()
    if START.startswith("bytes="):
        return fill_list(number, int(START[6:]), params)
    if START == "long_list":
        return raw('{"jsonrpc":"2.0","id":%d,"result":"%s"}\n' % (number, "x" * (10 << 20)))
    tools, cursor = page(params.get("cursor"))
    return result(number, {"tools": tools, **({"nextCursor": cursor} if cursor else {}),
                           **({"resultType": "complete"} if ERA == "modern" else {})})


def misbehave():
    """What START says, before anything is read."""
    if START == "exit":
        sys.stderr.write("no such luck\n")
        sys.exit(4)
    if START == "hang":
        stop_reading(0, 0)
    if START == "ignore_end":
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if START == "talk":
        raw("Listening on stdio\n")
    if START == "garbage":
        while True:
            raw("garbage\n" * 1000)
    if START == "long":
        raw("x" * (50 << 20) + "\n")
    if START == "half":
        raw('{"jsonrpc":"2.0","id":1,"resu')
        forever()
    if START == "close":
        os.close(1)
        forever()
    if START == "stderr":
        sys.stderr.write("noise\n" * 100000)


def hello(number, params):
    """Answer initialize."""
    version = {"old": "2024-11-05", "unknown": "1999-01-01", "modern_answer": MODERN}.get(
        START, params["protocolVersion"])
    if START == "no_version":
        return result(number, {"capabilities": {}})
    capabilities = {} if START == "no_tools" else {"tools": {"listChanged": True}}
    NOTES.append("elicitation" if "elicitation" in params["capabilities"] else "silent")
    return result(number, {"protocolVersion": version, "capabilities": capabilities,
                           "serverInfo": {"name": "fa\x07ke", "version": "1.0"}})


def discover(number):
    """Answer server/discover, as the era and START say."""
    if ERA == "legacy" and START == "exit_when_probed":
        sys.exit(1)
    if ERA == "legacy" and START == "silent_when_probed":
        return None
    if ERA == "legacy":
        return send({"id": number, "error": {"code": -32601, "message": "Method not found"}})
    if START == "only_newer":
        return send({"id": number, "error": {"code": -32022, "message": "no",
                                             "data": {"supported": ["2031-01-01"]}}})
    if START == "by_error":
        return send({"id": number, "error": {"code": -32022, "message": "no",
                                             "data": {"supported": [MODERN]}}})
    versions = ["2025-11-25"] if START == "says_legacy" else [MODERN, "2025-11-25"]
    return result(number, {"supportedVersions": versions, "resultType": "complete", "ttlMs": 0,
                           "capabilities": {"tools": {"listChanged": True}}, "cacheScope": "private",
                           "_meta": {META + "serverInfo": {"name": "fake", "version": "1.0"}}})


def check_envelope(message):
    """A modern server needs its envelope in every request."""
    meta = message["params"]["_meta"]
    assert meta[META + "protocolVersion"] == MODERN
    assert isinstance(meta[META + "clientCapabilities"], dict)


def serve(message):
    """Answer one request."""
    method, number, params = message["method"], message["id"], message.get("params", {})
    if method == "server/discover":
        return discover(number)
    if method == "initialize" and (ERA != "modern" or START == "says_legacy"):
        return hello(number, params)
    if ERA == "modern" and START != "says_legacy" and method != "initialize":
        check_envelope(message)
    if method == "subscriptions/listen" and ERA == "modern":
        NOTES.append("listened")
        return send({"method": "notifications/subscriptions/acknowledged", "params": {}})
    if method == "tools/list":
        return list_tools(number, params)
    if method == "tools/call":
        return FUNCTIONS[params["name"]](number, params)
    return send({"id": number, "error": {"code": -32601, "message": "Method not found"}})


def main():
    """Serve until the input ends."""
    sys.setrecursionlimit(10000)
    misbehave()
    while True:
        try:
            message = receive()
        except KeyboardInterrupt:
            return
        if "id" in message and "method" in message:
            serve(message)


if __name__ == "__main__":
    main()
