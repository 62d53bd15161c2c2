#!/usr/bin/env python3
"""probe.py - a server of one tool, over MCP on standard input and output: `touch` makes a file."""
import json
import os
import sys

TOOL = {"name": "touch", "description": "Makes a file.",
        "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}}


def answer(method, params):
    if method == "initialize":
        return {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                "serverInfo": {"name": "probe", "version": "1"}}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        with open(params["arguments"]["path"], "w") as file:
            file.write(os.environ.get("PROBE_WORD", "nothing"))
        return {"content": [{"type": "text", "text": "made"}]}
    return {}


for line in sys.stdin:
    said = json.loads(line)
    if "id" in said:
        result = answer(said["method"], said.get("params") or {})
        print(json.dumps({"jsonrpc": "2.0", "id": said["id"], "result": result}), flush=True)
