"""Asks an app for what its pages link to and send, each time with a part of it spoilt.

The app is called as a server calls it, in one event loop, and a stream of events is left after its first ones.
"""

import asyncio
import html
import random
import re
import traceback
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

HOST = "127.0.0.1:7860"
HOSTILE = [
    "", " ", "0", "-1", "1e999", "nan", "-inf", "null", "true", "9" * 30, "0x10", "1.5", "٣", "..", "../../etc/passwd", "/etc/passwd", "C:\\x", "~", ".", "*", "%",
    "\x00", "\x1b[31m", "\u202e", "\ufeff", "é", "中文", "中文智能体" * 200, "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{ 7*7 }}", "${7*7}",
    "'", '"', "' OR 1=1 --", "AND", "NEAR(", 'a" OR "', "-x", "(", "^", "a:b", "a=b", "=", "@", "x@", "@x", "first@nowhere", "[]", "{}", "[" * 3000, '{"a": [1, {"b": null}]}',
    "a" * 6000, "\r\nset-cookie: a=b", "2026-13-45", "http://evil.example/", "//evil.example", "file:///etc/passwd", "process:touch x", "python:os:system", "\ud7ff\U0010ffff",
]  # fmt: skip
SECONDS = 20.0  # that an answer may take on a machine with much to do


class Ask(NamedTuple):
    """A request."""

    method: str
    path: str
    query: Sequence[tuple[str, str]] = ()
    fields: Sequence[tuple[str, str]] = ()
    body: bytes | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path}?{urlencode(self.query)} {(self.body or urlencode(self.fields).encode())[:2000]!r}"


class Answer(NamedTuple):
    """What came back; a status of 0 means that it did not end."""

    status: int
    headers: Mapping[str, str]
    text: str
    error: str = ""


class Asker:
    """Calls an app with the cookie or the token of one user."""

    def __init__(self, app: Any, headers: Mapping[str, str]) -> None:
        self._app = app
        self._headers = headers
        self.csrf = ""

    async def ask(self, ask: Ask) -> Answer:
        """Return the answer, and the traceback of what the app raised."""
        fields = [(name, self.csrf if name == "csrf" else value) for name, value in ask.fields]
        body = ask.body if ask.body is not None else urlencode(fields, errors="replace").encode()
        kind = "application/json" if ask.body is not None else "application/x-www-form-urlencoded"
        headers = {"host": HOST, "content-type": kind, "x-csrf-token": self.csrf, **self._headers}
        scope: MutableMapping[str, Any] = {
            "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": ask.method, "scheme": "http",
            "path": unquote(ask.path, errors="replace"), "raw_path": ask.path.encode(), "query_string": urlencode(ask.query, errors="replace").encode(),
            "root_path": "", "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
            "client": ("127.0.0.1", 50_000), "server": ("127.0.0.1", 7860),
        }  # fmt: skip
        given = False
        status, answer, found = 0, bytearray(), dict[str, str]()

        async def receive() -> Mapping[str, Any]:
            nonlocal given
            if not given:
                given = True
                return {"type": "http.request", "body": body, "more_body": False}
            await asyncio.sleep(0.05)
            return {"type": "http.disconnect"}

        async def send(message: Mapping[str, Any]) -> None:
            nonlocal status, found
            if message["type"] == "http.response.start":
                status = message["status"]
                found = {name.decode().lower(): value.decode("latin-1") for name, value in message["headers"]}
            else:
                answer.extend(message.get("body", b""))

        error = ""
        try:
            async with asyncio.timeout(SECONDS):
                await self._app(scope, receive, send)
        except TimeoutError:
            status, error = 0, f"did not end within {SECONDS} seconds"
        except Exception:
            error = traceback.format_exc()
        return Answer(status, found, answer.decode("utf-8", "replace"), error)


async def crawl(asker: Asker, starts: Sequence[str], *, most: int = 250) -> Sequence[Ask]:
    """Return the links and the forms of the pages that are reached from these addresses, each form of an action once."""
    waiting, seen, asks = [*starts], dict[str, int](), list[Ask]()
    forms: set[str] = set()
    while waiting and len(asks) < most:
        address = waiting.pop(0)
        path, query = urlsplit(address).path, parse_qsl(urlsplit(address).query, keep_blank_values=True)
        if {"lang", "theme"} & {name for name, _ in query} and path != "/runs":  # links of every page
            continue
        shape = re.sub(r"\d+", "0", path) + "?" + ",".join(sorted({name for name, _ in query}))
        seen[shape] = seen.get(shape, 0) + 1
        if seen[shape] > 2:  # of a kind of address two are enough
            continue
        asks.append(Ask("GET", path, query))
        answer = await asker.ask(asks[-1])
        if not answer.headers.get("content-type", "").startswith("text/html"):
            if "location" in answer.headers:
                waiting.append(answer.headers["location"])
            continue
        asker.csrf = asker.csrf or _first(r'name="csrf" value="([^"]*)"', answer.text)
        waiting += [one for one in _links(answer.text) if one.startswith("/") and not one.startswith("/static/")]
        for form in _forms(answer.text, path):
            shape = f"{form.method} {re.sub(r'[0-9]+', '0', form.path)} {sorted(dict(form.fields))}"
            if shape not in forms:
                forms.add(shape)
                asks.append(form)
    return asks


def spoil(random: random.Random, asks: Sequence[Ask], known: Sequence[str]) -> Ask:
    """Return one of the requests with one to three of its parts replaced."""
    ask = random.choice(asks)
    for _ in range(random.choice((1, 1, 2, 3))):
        value = random.choice(HOSTILE if random.random() < 0.7 else known)
        match random.randrange(6):
            case 0:
                parts = ask.path.split("/")
                parts[random.randrange(1, len(parts))] = quote(value, safe="")
                ask = ask._replace(path="/".join(parts))
            case 1 | 2 if ask.query:
                ask = ask._replace(query=_replaced(random, ask.query, value))
            case 3 | 4 if ask.fields:
                ask = ask._replace(fields=_replaced(random, ask.fields, value))
            case 5:
                name = random.choice([name for one in asks for name, _ in (*one.query, *one.fields)] or ["q"])
                ask = ask._replace(query=[*ask.query, (name, value)])
    return ask


def _replaced(random: random.Random, pairs: Sequence[tuple[str, str]], value: str) -> Sequence[tuple[str, str]]:
    changed = [*pairs]
    at = random.randrange(len(changed))
    match random.randrange(8):
        case 0:
            del changed[at]
        case 1:
            changed.append((changed[at][0], value))
        case 2:
            changed[at] = (value[:100], changed[at][1])
        case _:
            changed[at] = (changed[at][0], value)
    return changed


def _links(page: str) -> Iterator[str]:
    for link in re.findall(r'(?:href|hx-get|src)="([^"#]+)', page):
        yield html.unescape(link)


def _forms(page: str, here: str) -> Iterator[Ask]:
    for head, inside in re.findall(r"<form\b([^>]*)>(.*?)</form>", page, re.DOTALL):
        method = _first(r'method="(\w+)"', head).upper() or "GET"
        if method == "DIALOG":
            continue
        action = html.unescape(_first(r'action="([^"]*)"', head)) or here
        fields = [
            (html.unescape(name), html.unescape(_first(r'value="([^"]*)"', control)))
            for control in re.findall(r"<(?:input|select|textarea|button)\b[^>]*>", inside)
            if (name := _first(r'\bname="([^"]*)"', control))
        ]
        query = parse_qsl(urlsplit(action).query, keep_blank_values=True)
        if method == "GET":
            yield Ask("GET", urlsplit(action).path, [*query, *fields])
        else:
            yield Ask(method, urlsplit(action).path, query, fields)


def _first(pattern: str, text: str) -> str:
    found = re.search(pattern, text)
    return found[1] if found else ""
