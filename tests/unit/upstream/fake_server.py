#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An MCP server for tests:  fake_server.py ERA [START]

ERA is `legacy`, `modern` or `both`.  Its tools do what their names say, each of them to one call.
START is a way to behave badly before the first call, see `STARTS`.
"""
import json
import os
import signal
import socket
import subprocess
import sys

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
OBJECT = {"type": "object"}


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


# --- Tools ---


def ask_one(number, method, params):
    """Send a request, and answer the call with what comes back."""
    send({"id": "q", "method": method, "params": params})
    answer = until(lambda m: m.get("id") == "q")
    text(number, json.dumps(answer["result"] if "result" in answer else
                            {"error": answer["error"]["code"]}, sort_keys=True))


FORM = {"message": "Sure?", "requestedSchema": {"type": "object", "properties": {}}}


def ask(number, params):
    """Ask the user: in a request, or in a result if the server is modern."""
    if ERA != "modern":
        return ask_one(number, "elicitation/create", FORM)
    if "inputResponses" not in params:
        return result(number, {"resultType": "input_required", "requestState": "s1",
                               "inputRequests": {"a": {"method": "elicitation/create",
                                                       "params": FORM}}})
    return text(number, json.dumps([params["inputResponses"], params["requestState"]]),
                resultType="complete")


def ask_many(number, params):
    """Ask as many questions at once."""
    if "inputResponses" in params:
        return text(number, "asked", resultType="complete")
    question = {"method": "elicitation/create", "params": FORM}
    return result(number, {"resultType": "input_required", "requestState": "s", "inputRequests": {
        str(i): question for i in range(params["arguments"]["count"])}})


def ask_again(number, _):
    """Require input in every result."""
    result(number, {"resultType": "input_required", "requestState": "s",
                    "inputRequests": {"a": {"method": "elicitation/create", "params": FORM}}})


def withdraw(number, _):
    """Ask, and then want no answer any more."""
    send({"id": "q", "method": "elicitation/create", "params": FORM})
    send({"method": "notifications/cancelled", "params": {"requestId": "q"}})
    text(number, "withdrawn")


def die_asking(_number, _):
    """Ask, and end before the answer."""
    send({"id": "q", "method": "elicitation/create", "params": FORM})
    sys.exit(3)


def sample(number, _):
    """Ask for a text."""
    ask_one(number, "sampling/createMessage", {"messages": [], "maxTokens": 5})


def roots(number, _):
    """Ask for something that airlock does not offer."""
    ask_one(number, "roots/list", {})


def ping(number, _):
    """Ping airlock."""
    ask_one(number, "ping", {})


def progress(number, params):
    """Report progress twice, and wrong progress too."""
    token = params["_meta"]["progressToken"]
    for bad in ({"progressToken": token}, {"progressToken": "x", "progress": 1},
                {"progressToken": token, "progress": "1"}, {"progress": 1}):
        send({"method": "notifications/progress", "params": bad})
    send({"method": "notifications/progress",
          "params": {"progressToken": token, "progress": 1, "total": 2, "message": "a\n\x1b[2Jb"}})
    if ERA != "modern":
        return ask_one(number, "elicitation/create", FORM)
    return text(number, "ok")


def wait_for_cancel(number, _):
    """Never answer, and say afterwards what came."""
    message = until(lambda m: m.get("method") == "notifications/cancelled")
    assert message["params"]["requestId"] == number
    NOTES.append("cancelled")


def late(number, _):
    """Answer after the cancel, which is wrong."""
    until(lambda m: m.get("method") == "notifications/cancelled")
    text(number, "late")


def notes(number, _):
    """What earlier calls have seen."""
    text(number, " ".join(NOTES))


def wrong_ids(number, _):
    """Answer other requests, then this one, then this one again."""
    for other in (number + 1000, str(number), -number, None, 1.5, [number], {}, number * 10**18):
        text(other, "other")
    text(number, "mine")
    text(number, "twice")


def garbage(number, _):
    """Write lines that are no messages."""
    for line in ("hello", "{", "[]", "[1]", "null", '"x"', "{}", '{"jsonrpc":"2.0"}',
                 '{"jsonrpc":"1.0","id":1,"method":"ping"}', '{"a":1,"a":2}', "\x00", "\xff",
                 "[" * 5000, '{"jsonrpc":"2.0","method":7}',
                 '{"jsonrpc":"2.0","method":"notifications/progress","params":[1]}',
                 '{"jsonrpc":"2.0","method":"notifications/cancelled"}'):
        raw(line + "\n")
    text(number, "still here")


def flood(number, params):
    """Send notifications that nobody knows."""
    line = '{"jsonrpc":"2.0","method":"notifications/x"}\n'
    raw(line * params["arguments"]["count"])
    text(number, "flooded")


def long_line(number, params):
    """Answer in a line of that many bytes."""
    head = json.dumps({"jsonrpc": "2.0", "id": number, "result": {"content": [
        {"type": "text", "text": ""}]}})
    size = params["arguments"]["bytes"]
    raw(head[:-5] + "x" * (size - len(head)) + head[-5:] + "\n")


def many_values(number, params):
    """Answer with that many values."""
    result(number, {"content": [], "x": [0] * params["arguments"]["count"]})


def deep(number, params):
    """Answer with a result of so many levels of brackets."""
    value = 0
    for _ in range(params["arguments"]["levels"] - 1):
        value = [value]
    result(number, {"content": [], "x": value})


def half_line(_number, _):
    """End in the middle of an answer."""
    raw('{"jsonrpc":"2.0","id":')
    sys.exit(0)


def no_result(number, params):
    """Answer with what the arguments say instead of a result."""
    result(number, params["arguments"]["value"])


def twice_named(number, _):
    """Answer with a name given twice."""
    raw('{"jsonrpc":"2.0","id":%d,"result":{"content":[]},"result":{"content":[]}}\n' % number)


def error(number, _):
    """Answer with an error."""
    send({"id": number, "error": {"code": -32602, "message": "bad\n\x1b[31mthing"}})


def structured(number, params):
    """Answer with that structured content."""
    more = params["arguments"]
    text(number, "s", **more)


def die(_number, _):
    """End with a word on standard error."""
    sys.stderr.write("first\nboom \x1b[31mred\n")
    sys.stderr.flush()
    sys.exit(7)


def kill_self(_number, _):
    """End by a signal."""
    os.kill(os.getpid(), signal.SIGKILL)


def close_output(_number, _):
    """Close the output and stay."""
    sys.stdout.flush()
    os.close(1)
    forever()


def stop_reading(_number, _):
    """Read nothing more, and stay."""
    while True:
        signal.pause()


def change(number, _):
    """Offer another tool from now on."""
    TOOLS.append({"name": "fresh", "inputSchema": OBJECT})
    send({"method": "notifications/tools/list_changed"})
    text(number, "changed")


def echo(number, params):
    """The arguments."""
    text(number, json.dumps(params["arguments"], sort_keys=True))


def environment(number, _):
    """The environment and the working directory."""
    text(number, json.dumps({**os.environ, "cwd": os.getcwd()}))


def read(number, params):
    """The first byte of a file, or the error."""
    def action():
        with open(params["arguments"]["path"], "rb") as file:
            return file.read(1).decode() or "empty"
    text(number, attempt(action))


def write(number, params):
    """Write a file, or give the error."""
    def action():
        with open(params["arguments"]["path"], "w", encoding="utf-8") as file:
            file.write("canary")
    text(number, attempt(action))


def run(number, params):
    """Run a program through pipes, or give the error."""
    def action():
        return subprocess.run(params["arguments"]["argv"], check=False, capture_output=True,
                              stdin=subprocess.DEVNULL).stdout.decode().strip()
    text(number, attempt(action))


def connect(number, params):
    """Connect to a port or to the path of a socket."""
    def action():
        where = params["arguments"].get("path")
        family = socket.AF_UNIX if where else socket.AF_INET
        with socket.socket(family) as made:
            made.connect(where or ("127.0.0.1", params["arguments"]["port"]))
    text(number, attempt(action))


def leave_children(number, _):
    """Start processes that outlive this one, in the session and out of it."""
    pids = [subprocess.Popen(["sleep", "1000"], start_new_session=own,
                             stdin=subprocess.DEVNULL).pid for own in (False, True)]
    text(number, " ".join(map(str, pids)))


def limits(number, _):
    """The resource limits and the session."""
    import resource  # pylint: disable=import-outside-toplevel
    text(number, json.dumps([resource.getrlimit(resource.RLIMIT_CORE)[1],
                             resource.getrlimit(resource.RLIMIT_NOFILE)[1],
                             os.getsid(0) == os.getpid()]))


# --- Lists ---


def tool(function):
    """A tool as tools/list has it."""
    return {"name": function.__name__, "description": function.__doc__, "inputSchema": OBJECT}


FUNCTIONS = {f.__name__: f for f in (
    ask, ask_again, ask_many, withdraw, die_asking, sample, roots, ping, progress, wait_for_cancel, late,
    notes, wrong_ids, garbage, flood, long_line, many_values, deep, half_line, no_result,
    twice_named, error, structured, die, kill_self, close_output, stop_reading, change, echo,
    environment, read, write, run, connect, leave_children, limits)}
TOOLS = [tool(f) for f in FUNCTIONS.values()]
NOTES = []
LIST_BYTES = 128 << 10  # as the tests of the limits set it
ERA = sys.argv[1]
START = sys.argv[2] if len(sys.argv) > 2 else ""

next(t for t in TOOLS if t["name"] == "structured").update(
    title="A title", annotations={"readOnlyHint": True, "title": "not this"},
    outputSchema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})


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


# --- Start ---


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
