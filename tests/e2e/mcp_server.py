# SPDX-License-Identifier: Apache-2.0
"""An MCP server for the tests of mounted tools: `mcp_server.py ERA [OPTION...]`.

ERA is `legacy` or `modern`: the one it speaks.  Its tools do what their names say, in the directory
it was started in.  A tool that has to wait does so on a pipe that the test has made, so no test
depends on how fast anything is.
"""
import json
import os
import subprocess
import sys

ERA = sys.argv[1]
OPTIONS = sys.argv[2:]
PREFIX = "io.modelcontextprotocol/"
TEXT = {"type": "object", "properties": {"text": {"type": "string"}}}
ANY = {"type": "object"}

TOOLS = [
    {"name": "echo", "title": "Echo", "description": "Say it again.\nAnd again.",
     "inputSchema": {"type": "object", "properties": {
         "text": {"type": "string", "description": "What to say."},
         "count": {"type": "integer"}, "words": {"type": "array", "items": {"type": "string"}}}},
     "annotations": {"readOnlyHint": True, "openWorldHint": False}},
    {"name": "write_file", "title": "Write File", "description": "Write a file.",
     "inputSchema": {"type": "object", "properties": {
         "path": {"type": "string"}, "content": {"type": "string"}},
         "required": ["path", "content"]}},
    {"name": "weather", "inputSchema": TEXT, "outputSchema": {
        "type": "object", "properties": {"degrees": {"type": "integer"}}, "required": ["degrees"]},
     "annotations": {"readOnlyHint": True}},
    {"name": "picture", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "fail", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "ask", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "sample", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "progress", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "wait", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "die", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "write_and_fail", "inputSchema": TEXT},
    {"name": "git", "inputSchema": {"type": "object", "properties": {
        "commands": {"type": "array", "items": {"type": "array", "items": {"type": "string"}}}}}},
    {"name": "change", "inputSchema": {"type": "object", "properties": {
        "tool": {"type": "string"}, "member": {"type": "string"}, "value": {}}},
     "annotations": {"readOnlyHint": True}},
]
ODD = [
    {"name": "a.b", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "x" * 60, "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
    {"name": "git_status", "inputSchema": ANY, "annotations": {"readOnlyHint": True}},
]


HUGE = [{"name": f"huge{i}", "inputSchema": {"type": "object", "properties": {
    "choice": {"type": "string", "enum": ["x" * 40000]}}}} for i in range(100)]


def send(message):
    """One message."""
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


def receive():
    """The next message; the end of input is the end."""
    line = sys.stdin.readline()
    if not line:
        sys.exit(0)
    return json.loads(line)


def text(words, **more):
    """A result of one text."""
    return {"content": [{"type": "text", "text": words}], **more}


def write(path, content):
    """What write_file does."""
    with open(path, "w", encoding="utf-8") as file:
        file.write(content)


def change(arguments):
    """Change the definition of a tool, or remove it, and say so."""
    for tool in list(TOOLS):
        if tool["name"] == arguments["tool"]:
            if arguments.get("member"):
                tool[arguments["member"]] = arguments.get("value")
            else:
                TOOLS.remove(tool)
    send({"method": "notifications/tools/list_changed"})


def question(method, params, request):
    """Ask the client: a request in the legacy era, a result in the modern one."""
    if ERA == "modern":
        answers = request["params"].get("inputResponses")
        return answers["q"] if answers else {"resultType": "input_required", "requestState": "s1",
                                             "inputRequests": {"q": {"method": method,
                                                                     "params": params}}}
    send({"id": "q1", "method": method, "params": params})
    while True:
        answer = receive()
        if answer.get("id") == "q1" and "method" not in answer:
            return answer.get("result") or {"error": answer["error"]["message"]}


def asked(method, params, request):
    """The text of what the client answered."""
    answer = question(method, params, request)
    return answer if "resultType" in answer else text(json.dumps(answer, sort_keys=True))


def call(request):
    """The result of a tool."""
    params = request["params"]
    name, arguments = params["name"], params.get("arguments") or {}
    if name == "echo":
        return text(json.dumps(arguments, sort_keys=True))
    if name == "write_file":
        write(arguments["path"], arguments["content"])
        return text("wrote " + arguments["path"])
    if name == "write_and_fail":
        write("half.txt", "half\n")
        return text("broke half way", isError=True)
    if name == "git":
        for words in arguments["commands"]:
            subprocess.run(["git", "-c", "user.name=S", "-c", "user.email=s@example.com", *words],
                           check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return text("done")
    if name == "weather":
        return text('{"degrees": 20}', structuredContent={"degrees": 20})
    if name == "picture":
        return {"content": [{"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
                            {"type": "resource", "resource": {"uri": "file:///a", "text": "A"}}]}
    if name == "fail":
        return text("no \x1b[31msuch thing", isError=True)
    if name == "ask":
        return asked("elicitation/create", {"message": "Which one?", "requestedSchema": {
            "type": "object", "properties": {"one": {"type": "string"}}}}, request)
    if name == "sample":
        return asked("sampling/createMessage", {"maxTokens": 5, "messages": [
            {"role": "user", "content": {"type": "text", "text": "Hello"}}]}, request)
    if name == "progress":
        token = params["_meta"]["progressToken"]
        for step in (1, 2):
            send({"method": "notifications/progress", "params": {
                "progressToken": token, "progress": step, "total": 2, "message": f"step {step}"}})
        with open("pipe", encoding="utf-8") as pipe:
            return text(pipe.read())
    if name == "wait":
        with open("pipe", encoding="utf-8") as pipe:
            return text(pipe.read())
    if name == "die":
        os._exit(3)
    if name == "change":
        change(arguments)
        return text("changed")
    if name == "git_status":
        return text("the status of another server")
    return text("called " + name)


def answer(request):
    """The result of a request."""
    method = request["method"]
    if method == "initialize" and ERA == "legacy":
        return {"protocolVersion": request["params"]["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "fake", "version": "1"}}
    if method == "server/discover" and ERA == "modern":
        return {"supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
                "capabilities": {"tools": {"listChanged": True}}}
    if method == "tools/list":
        if "slow" in OPTIONS:
            with open("slow", encoding="utf-8") as pipe:
                pipe.read()
        return {"tools": TOOLS + (ODD if "odd" in OPTIONS else []) +
                         (HUGE if "huge" in OPTIONS else [])}
    if method == "tools/call":
        return call(request)
    return {} if method == "ping" else None


def main():
    """Answer until the end of input."""
    if "exits" in OPTIONS:
        sys.exit(1)
    while True:
        request = receive()
        if "id" not in request or "method" not in request:
            continue
        result = answer(request)
        if result is None:
            send({"id": request["id"], "error": {"code": -32601, "message": "no such method"}})
            continue
        if ERA == "modern":
            result = {"resultType": "complete", "_meta": {PREFIX + "serverInfo": {
                "name": "fake", "version": "1"}}, **result}
            if request["method"] == "tools/list":
                result |= {"ttlMs": 0, "cacheScope": "private"}
        send({"id": request["id"], "result": result})


main()
