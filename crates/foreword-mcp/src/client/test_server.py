# An MCP server of our own for tests, in as many ways as servers can be wrong.
import json, sys, time

KIND = sys.argv[1]
SCHEMA = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def send(message):
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def tools(params):
    if KIND == "loop":
        return {"tools": [], "nextCursor": "again"}
    echo = {"name": "echo", "description": "Echo a text.", "inputSchema": SCHEMA}
    if KIND == "deep":
        schema = {"type": "object"}
        for _ in range(300):
            schema = {"type": "object", "properties": {"in]side": schema}}
        echo["inputSchema"] = schema
    if params.get("cursor"):
        rest = [{"name": name, "inputSchema": {"type": "object"}} for name in ("add", "picture")]
        bare = [{"name": "bare", "description": "Has no schema."}] if KIND == "noschema" else []
        return {"tools": bare + rest}
    return {"tools": [echo], "nextCursor": "2"}


def call(params):
    name = params["name"]
    if KIND == "hang":
        time.sleep(600)
    if KIND == "crash":
        sys.exit(3)
    if KIND == "huge":
        return {"content": [{"type": "text", "text": "x" * (50 << 20)}]}
    while KIND == "flood":
        data = {"level": "info", "data": "y" * 10000}
        send({"jsonrpc": "2.0", "method": "notifications/message", "params": data})
    if KIND == "changes":
        send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
    if name == "echo":
        return {"content": [{"type": "text", "text": params["arguments"]["text"]}]}
    if name == "picture":
        return {"content": [{"type": "image", "data": "AAAAAAAA", "mimeType": "image/png"}]}
    if name == "add":
        return {"content": [{"type": "text", "text": "a and b are missing"}], "isError": True}
    raise LookupError("no such tool")


if KIND == "exit":
    sys.exit(1)
for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked or KIND == "mute":
        continue
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    params = asked.get("params") or {}
    try:
        if asked["method"] == "initialize":
            answer["result"] = {
                "protocolVersion": params["protocolVersion"],
                "capabilities": {"tools": {"listChanged": True}},
                "serverInfo": {"name": "test", "version": "1"},
            }
        elif asked["method"] == "tools/list":
            answer["result"] = tools(params)
        elif asked["method"] == "tools/call":
            answer["result"] = call(params)
        else:
            answer["result"] = {}
    except LookupError as error:
        answer["error"] = {"code": -32602, "message": str(error)}
    send(answer)
