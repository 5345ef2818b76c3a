"""An MCP server without dependencies whose answers are given as its first argument, a JSON object: `pages` by their cursor
("" is the first, "*" any other), and `answer`, the line that answers a call, with ID for its id and a byte for each character."""

import json
import sys

ODD = json.loads(sys.argv[1])


def send(line):
    sys.stdout.buffer.write(line.encode("latin-1") + b"\n")
    sys.stdout.flush()


def result(id, value):
    send(json.dumps({"jsonrpc": "2.0", "id": id, "result": value}))


for line in sys.stdin:
    message = json.loads(line)
    id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
    if method == "initialize":
        if "hello" in ODD:
            send(ODD["hello"].replace("ID", json.dumps(id)))
            continue
        result(id, {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "odd", "version": "1"},
        })
    elif method == "tools/list":
        pages = ODD["pages"]
        result(id, pages.get(params.get("cursor") or "", pages.get("*")))
    elif method == "tools/call":
        if "answer" in ODD:
            send(ODD["answer"].replace("ID", json.dumps(id)))
        else:
            text = json.dumps([params["name"], params.get("arguments")])
            result(id, {"content": [{"type": "text", "text": text}]})
