"""An MCP server over streamable HTTP without dependencies, with an oddity by its first argument. Prints its port."""

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ODD = sys.argv[1]
TOOL = {"name": "add", "description": "Adds.", "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}}}
# Sessions by their id, with the calls of each; "" where the server gives no ids.
SESSIONS = {}
MADE = {"lists": 0, "calls": 0, "bare": 0}
LOST = '{"jsonrpc":"2.0","error":{"code":-32001,"message":"Session not found"},"id":null}'
BAD = {
    "nan": '{"jsonrpc":"2.0","id":ID,"result":{"content":[],"structuredContent":{"mean":NaN}}}',
    "surrogate": '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"\\ud83d"}]}}',
    "latin1": '{"jsonrpc":"2.0","id":ID,"result":{"content":[{"type":"text","text":"caf\u00e9"}]}}',
}


class Odd(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def out(self, status, body="", kind="application/json", **headers):
        body = body.encode("latin-1")
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.out(405)

    def do_DELETE(self):
        self.out(200)

    def lost(self):
        if ODD.endswith("400"):
            said = '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Bad Request: No valid session ID provided"},"id":null}'
            return self.out(400, said)
        if ODD.endswith("text"):
            return self.out(404, "Not Found", "text/plain")
        return self.out(404, LOST)

    def do_POST(self):
        message = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))))
        if ODD.startswith("to:"):
            return self.out(int(ODD[3:6]), "", "text/html", Location=ODD[7:])
        id, method, params = message.get("id"), message.get("method"), message.get("params") or {}
        if id is None:
            return self.out(202)
        session = self.headers.get("Mcp-Session-Id") or ""
        headers = {}
        if method == "initialize":
            session = "" if ODD.startswith("bare") else f"s{len(SESSIONS) + 1}"
            SESSIONS[session] = 0
            MADE["bare"] += 1
            if session:
                headers = {"Mcp_Session_Id": session}
            result = {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}}, "serverInfo": {"name": "odd", "version": "1"}}
        elif method == "tools/list":
            MADE["lists"] += 1
            if ODD.startswith("forget-list") and MADE["lists"] == 1:
                return self.lost()
            result = {"tools": [TOOL]}
        elif method == "tools/call":
            MADE["calls"] += 1
            if ODD.startswith("busy:"):
                status, times, after = ODD.split(":")[1:]
                if MADE["calls"] <= int(times):
                    return self.out(int(status), "busy", "text/plain", Retry_After=after)
            first = "forget-first" in ODD and MADE["calls"] == 1
            second = "forget-second" in ODD and MADE["calls"] == 2
            if first or second or "forget-always" in ODD:
                return self.lost()
            SESSIONS[session] += 1
            bad = BAD.get(ODD.removeprefix("sse-"))
            if bad:
                body = bad.replace("ID", json.dumps(id))
                if ODD.startswith("sse-"):
                    return self.out(200, f"event: message\ndata: {body}\n\n", "text/event-stream")
                return self.out(200, body)
            text = f"begun {MADE['bare']}, call {SESSIONS[session]} of the session"
            result = {"content": [{"type": "text", "text": text}]}
        else:
            result = {}
        self.out(200, json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), **headers)


server = ThreadingHTTPServer(("127.0.0.1", 0), Odd)
print(server.server_address[1], flush=True)
server.serve_forever()
