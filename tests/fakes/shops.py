"""The same small shop as an environment of every kind: a class, a program of JSON lines, and an MCP server in both transports.

Run as a program it is one of the latter: `python shops.py lines`, `stdio`, `http PORT`; what it does wrong on purpose is named by a
tool of that name: `exit`, `hang`, `flood`, `garbage`, `chatter`, `grow`, `sample`, `elicit`, `picture`, `orphan`.
"""

import http.server
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

FILE = Path(__file__)
STOCK = {"tea": 3, "jam": 1}
BIG = 50_000_000
PATIENCE = 60


class Shop:
    """A shop with a stock and a basket."""

    def __init__(self, stock: dict[str, int] | None = None) -> None:
        self.stock = dict(STOCK) if stock is None else stock
        self.basket: list[str] = []
        self._opened = time.time()

    def buy(self, item: str, count: int = 1) -> dict[str, int]:
        """Buy something.

        Args:
            item: what to buy
            count: how many
        """
        if self.stock.get(item, 0) < count:
            raise ValueError(f"{item} is sold out")
        self.stock[item] -= count
        self.basket.extend([item] * count)
        return {"left": self.stock[item]}

    def read_basket(self) -> list[str]:
        """Say what is in the basket."""
        return self.basket


class AsyncShop(Shop):
    """The same, asked asynchronously."""

    async def buy(self, item: str, count: int = 1) -> dict[str, int]:  # type: ignore[override]
        """Buy something."""
        return super().buy(item, count)


TOOLS: list[dict[str, Any]] = [
    {
        "name": "buy",
        "description": "Buy something.",
        "parameters": {
            "type": "object",
            "properties": {"item": {"type": "string"}, "count": {"type": "integer"}},
            "required": ["item"],
        },
    },
    {"name": "read_basket", "description": "Say what is in the basket.", "parameters": {"type": "object", "properties": {}}},
]  # fmt: skip
OURS = [{"name": name, "description": "", "parameters": {"type": "object"}} for name in ("reset", "look", "gone")]


def say(value: object) -> None:
    """Write one line."""
    sys.stdout.write((value if isinstance(value, str) else json.dumps(value)) + "\n")
    sys.stdout.flush()


def misbehave(name: str) -> None:
    """Do what a tool of that name does wrong, besides its answer."""
    if name == "exit":
        sys.stderr.write("the shop burns\n")
        sys.stderr.flush()
        os._exit(3)
    if name == "hang":
        time.sleep(PATIENCE)
    if name == "orphan":  # something that outlives its parent, and holds its pipes
        child = subprocess.Popen([sys.executable, "-c", f"import time; time.sleep({PATIENCE})"])
        Path(os.environ["NOTE"]).write_text(str(child.pid), encoding="utf-8")


def run(shop: Shop, name: str, arguments: dict[str, Any]) -> Any:
    """Call a method as any program would: by hand."""
    misbehave(name)
    if name == "flood":
        return "x" * BIG
    if name == "buy":
        return shop.buy(str(arguments["item"]), int(arguments.get("count", 1)))
    if name == "read_basket":
        return shop.read_basket()
    raise ValueError(f"There is no tool {name}")


def serve_lines() -> None:
    """Be a program for `process:`."""
    shop = Shop()
    for line in sys.stdin:
        asked = json.loads(line)
        match asked["do"]:
            case "open":
                shop = Shop(**asked["environment"])
                say({"ok": True})
            case "tools":
                say({"tools": TOOLS})
            case "call" if asked["name"] == "garbage":
                say("I am no JSON")
            case "call":
                try:
                    say({"result": run(shop, asked["name"], asked["arguments"])})
                except ValueError as error:
                    say({"error": str(error)})
            case "state":
                say({"state": {"stock": shop.stock, "basket": shop.basket}})
            case _:
                say({"ok": True})


class Server:
    """The messages of an MCP server of the revision 2025-06-18, without a library."""

    def __init__(self, send: Callable[[object], None]) -> None:
        self.shop = Shop()
        self.grown = False
        self._send = send
        self._asked_us: dict[str, Any] = {}

    def answer(self, message: dict[str, Any]) -> dict[str, Any] | None:
        """Return the answer to a message; None where there is none."""
        if "method" not in message:  # the answer to what we asked
            return self._result(self._asked_us.pop("id"), json.dumps(message.get("error", message.get("result"))))
        match message["method"]:
            case "initialize":
                return self._of(message, {"protocolVersion": "2025-06-18", "capabilities": {"tools": {"listChanged": True}}, "serverInfo": {"name": "shop", "version": "1"}})  # fmt: skip
            case "tools/list":
                more = [{"name": "refund", "description": "", "parameters": {"type": "object"}}] if self.grown else []
                tools = [*TOOLS, *OURS, *more]
                described = [{**tool, "inputSchema": tool["parameters"]} for tool in tools]
                return self._of(message, {"tools": described})
            case "tools/call":
                return self._call(message)
            case method if "id" in message:
                error = {"code": -32601, "message": f"There is no {method}"}
                return {"jsonrpc": "2.0", "id": message["id"], "error": error}
        return None

    def _call(self, message: dict[str, Any]) -> dict[str, Any] | None:
        name, arguments = message["params"]["name"], message["params"].get("arguments") or {}
        if name == "garbage":
            self._send("I am no JSON")
            self._send({"jsonrpc": "2.0", "id": message["id"], "result": {"content": "none"}})
            return None
        if name == "chatter":
            self._send("The shop opens …")
            return self._result(message["id"], "fine")
        if name == "grow":
            self.grown = True
            self._send({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"})
            return self._result(message["id"], "grown")
        if name in ("sample", "elicit"):
            asks = {"sample": "sampling/createMessage", "elicit": "elicitation/create"}[name]
            params: dict[str, Any] = {"message": "How many?", "requestedSchema": {"type": "object", "properties": {}}}
            if name == "sample":
                params = {"messages": [], "maxTokens": 5}
            self._asked_us = {"id": message["id"]}
            self._send({"jsonrpc": "2.0", "id": 77, "method": asks, "params": params})
            return None
        if name == "picture":
            blocks = [
                {"type": "text", "text": "Here."},
                {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"},
                {"type": "resource_link", "uri": "shop://list", "name": "list"},
                {"type": "resource", "resource": {"uri": "shop://note", "text": "a note"}},
            ]
            return self._of(message, {"content": blocks})
        if name == "reset":
            self.shop = Shop(**arguments)
            return self._result(message["id"], "ok")
        if name == "look":
            return self._result(message["id"], json.dumps({"stock": self.shop.stock, "basket": self.shop.basket}))
        try:
            return self._result(message["id"], json.dumps(run(self.shop, name, arguments)))
        except ValueError as error:
            return self._result(message["id"], str(error), is_error=True)

    def _of(self, message: dict[str, Any], result: dict[str, Any]) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": message["id"], "result": result}

    def _result(self, id: object, text: str, *, is_error: bool = False) -> dict[str, Any]:
        result = {"content": [{"type": "text", "text": text}], "isError": is_error}
        return {"jsonrpc": "2.0", "id": id, "result": result}


def serve_stdio() -> None:
    """Be an MCP server over standard input and output."""
    server = Server(say)
    for line in sys.stdin:
        answer = server.answer(json.loads(line))
        if answer is not None:
            say(answer)
    if "STAY" in os.environ:  # one that does not end when nobody speaks to it any more
        time.sleep(PATIENCE)


def serve_http(port: int) -> None:
    """Be an MCP server over streamable HTTP: one shop for everybody."""
    server = Server(lambda _: None)

    class Handler(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            message = json.loads(self.rfile.read(int(self.headers["content-length"])))
            answer = server.answer(message)
            body = b"" if answer is None else json.dumps(answer).encode()
            as_events = self.path.startswith("/events") and answer is not None
            if as_events:
                body = b"event: message\ndata: " + body + b"\n\n"
            self.send_response(202 if answer is None else 200)
            self.send_header("content-type", "text/event-stream" if as_events else "application/json")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    listening = http.server.ThreadingHTTPServer(("127.0.0.1", port), Handler)
    say(str(listening.server_address[1]))
    listening.serve_forever()


@contextmanager
def http_server() -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """Run the MCP server over HTTP, and give its address."""
    with subprocess.Popen([sys.executable, str(FILE), "http", "0"], stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            yield f"http://127.0.0.1:{process.stdout.readline().strip()}/mcp", process
        finally:
            process.kill()


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["lines"]:
            serve_lines()
        case ["stdio"]:
            serve_stdio()
        case ["http", port]:
            serve_http(int(port))
