# SPDX-License-Identifier: Apache-2.0
"""The tools of a fake MCP server: each does what its name says, to one call."""
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time

from fake_wire import ERA, OBJECT, attempt, forever, raw, result, send, stop_reading, text, until


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


def long_note(number, params):
    """Send a notification of that many bytes, then answer."""
    raw('{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"' +
        "x" * params["arguments"]["bytes"] + '"}}\n')
    text(number, "noted")


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


def noise(number, _):
    """Write 2 MiB to standard error, and say whether that had to wait."""
    began = time.monotonic()
    for _ in range(32):
        sys.stderr.write("noise\n" * 10923)
    sys.stderr.flush()
    text(number, "had to wait" if time.monotonic() - began > 0.4 else "at once")


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
    text(number, json.dumps([resource.getrlimit(resource.RLIMIT_CORE)[1],
                             resource.getrlimit(resource.RLIMIT_NOFILE)[1],
                             os.getsid(0) == os.getpid()]))


def tool(function):
    """A tool as tools/list has it."""
    return {"name": function.__name__, "description": function.__doc__, "inputSchema": OBJECT}


FUNCTIONS = {f.__name__: f for f in (
    ask, ask_again, ask_many, withdraw, die_asking, sample, roots, ping, progress, wait_for_cancel,
    late, notes, wrong_ids, garbage, flood, noise, long_line, long_note, many_values, deep, half_line, no_result,
    twice_named, error, structured, die, kill_self, close_output, stop_reading, change, echo,
    environment, read, write, run, connect, leave_children, limits)}
TOOLS = [tool(f) for f in FUNCTIONS.values()]
NOTES = []

next(t for t in TOOLS if t["name"] == "structured").update(
    title="A title", annotations={"readOnlyHint": True, "title": "not this"},
    outputSchema={"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]})
