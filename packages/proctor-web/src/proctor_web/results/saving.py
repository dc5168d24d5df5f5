"""Save a page of the app as one file that needs no server: styles and images within, nothing that only a server can do."""

import asyncio
import re
from base64 import b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from html import escape
from html.parser import HTMLParser
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from starlette.requests import Request

from proctor.core.errors import BadInput
from proctor.runtime.visible import visible
from proctor_web.auth import session_of
from proctor_web.users.roles import is_enough, role_needed

Fetch = Callable[[str], Awaitable["Fetched"]]
POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; media-src data:"
DROPPED = frozenset({"script", "dialog", "button", "label", "select", "textarea", "noscript", "iframe", "object"})
DROPPED_CLASSES = frozenset({"unsaved", "filters", "button", "pager", "deeds", "say", "judge-it", "lazy"})
UNWRAPPED = frozenset({"form"})  # a list to choose from is in one
VOID = frozenset({"area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"})
KEPT_ATTRIBUTES = re.compile(r"(?!(?:on|hx-|data-|style$|srcset$|action$|formaction$|download$|tabindex$)).")
IMAGE_BYTES = 4_000_000  # of one; a larger one is left out
ALL_IMAGES_BYTES = 30_000_000
PAGE_BYTES = 30_000_000
PAGE_SECONDS = 120.0


class Fetched(NamedTuple):
    """What the app answers to a path."""

    status: int
    content_type: str
    body: bytes


class _Copy(HTMLParser):
    """Copies a page of ours without the parts that need a server or a script."""

    def __init__(self, footer: str) -> None:
        super().__init__(convert_charrefs=False)
        self.parts: list[str] = []
        self.styles: list[str] = []
        self.images: list[str] = []
        self._footer = footer
        self._skipping: list[str] = []  # the open elements from the one that is dropped on

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        if self._skipping or tag in DROPPED or _needs_server(values):
            if tag not in VOID:
                self._skipping.append(tag)
            return
        if tag in UNWRAPPED:
            return
        if tag == "link":
            if values.get("rel") == "stylesheet":
                self.styles.append(values["href"])
            return
        if tag in ("input", "meta", "base") and "charset" not in values and values.get("name") != "viewport":
            return
        self.parts.append(f"<{tag}{self._attributes(tag, values)}>")

    def handle_startendtag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if self._skipping:
            if tag in self._skipping:
                while self._skipping.pop() != tag:
                    pass
            return
        if tag == "head":
            self.parts.append("\0styles\0")
        if tag == "body":
            self.parts.append(self._footer)
        if tag not in VOID and tag not in UNWRAPPED:
            self.parts.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        self._add(data)

    def handle_entityref(self, name: str) -> None:
        self._add(f"&{name};")

    def handle_charref(self, name: str) -> None:
        self._add(f"&#{name};")

    def handle_decl(self, decl: str) -> None:
        self._add(f"<!{decl}>")

    def _add(self, text: str) -> None:
        if not self._skipping:
            self.parts.append(text)

    def _attributes(self, tag: str, values: Mapping[str, str]) -> str:
        kept = {name: value for name, value in values.items() if KEPT_ATTRIBUTES.match(name)}
        if not kept.get("href", "#").startswith("#"):
            del kept["href"]  # it leads to the server
        if "src" in kept:
            self.images.append(kept["src"])
            kept["src"] = f"\0image{len(self.images) - 1}\0"
        return "".join(f' {name}="{escape(value)}"' if value else f" {name}" for name, value in kept.items())


def _needs_server(values: Mapping[str, str]) -> bool:
    """True of an element that is for reading on, or for writing."""
    classes = values.get("class", "").split()
    return values.get("rel") in ("prev", "next") or not DROPPED_CLASSES.isdisjoint(classes)


async def save(page: str, fetch: Fetch, footer: str) -> str:
    """Return a page of the app as one file.

    Args:
        page: its HTML, made by our templates.
        fetch: asks the app for a style or an image of the page.
        footer: a text that says where the file comes from.
    """
    copy = _Copy(f"<footer>{escape(visible(footer))}</footer>")
    copy.feed(page)
    copy.close()
    styles = [(await fetch(path)).body.decode() for path in dict.fromkeys(copy.styles)]
    head = f'<meta http-equiv="Content-Security-Policy" content="{POLICY}"><style>{"".join(styles)}</style>'
    inserted = {"styles": head}
    left = ALL_IMAGES_BYTES
    for number, path in enumerate(copy.images):
        image = await fetch(path) if path.startswith("/") and left > 0 else Fetched(404, "", b"")
        is_shown = image.status == 200 and image.content_type.startswith("image/") and len(image.body) <= IMAGE_BYTES
        left -= len(image.body)
        encoded = f"{escape(image.content_type)};base64,{b64encode(image.body).decode()}" if is_shown else ","
        inserted[f"image{number}"] = f"data:{encoded}"
    return re.sub("\0(\\w+)\0", lambda found: inserted[found[1]], "".join(copy.parts))


async def ask(request: Request, path: str) -> Fetched:
    """Return what the app answers to the same reader at another path; nothing leaves this process.

    Raises:
        BadInput: the reader may not see it, or the answer does not end: it is too large, or takes too long.
    """
    address = urlsplit(path)
    if not is_enough(session_of(request).person.role, role_needed("GET", unquote(address.path))):
        raise BadInput("'{view}' is no page of this server.", view=path)  # the guard is not asked again
    scope = {
        **request.scope,
        "method": "GET",
        "path": unquote(address.path),
        "raw_path": address.path.encode(),
        "query_string": address.query.encode(),
        "path_params": {},
        "headers": [pair for pair in request.scope["headers"] if pair[0] in (b"host", b"cookie", b"accept-language")],
        "state": {**request.scope["state"], "waits": True},
    }
    head: dict[str, Any] = {}
    body = bytearray()
    is_endless = False
    asked = asyncio.Event()

    async def receive() -> Mapping[str, object]:
        if asked.is_set():
            await asyncio.Event().wait()  # this reader does not go away; who waits for that is cancelled
        asked.set()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Mapping[str, Any]) -> None:
        nonlocal is_endless
        if message["type"] == "http.response.start":
            head.update(message)
        else:
            body.extend(message.get("body", b""))
        is_endless = len(body) > PAGE_BYTES or _type_of(head) == "text/event-stream"
        if is_endless:
            raise ConnectionAbortedError  # no error that the app answers with a page: its answer has begun

    try:
        async with asyncio.timeout(PAGE_SECONDS):
            await request.app(scope, receive, send)
    except TimeoutError:
        raise BadInput("{path} took too long to be saved.", path=path) from None
    except Exception:
        if is_endless:
            raise BadInput("{path} is too large to be saved.", path=path) from None
        raise
    return Fetched(head["status"], _type_of(head), bytes(body))


def _type_of(head: Mapping[str, Any]) -> str:
    types = [value.decode() for name, value in head.get("headers", ()) if name.lower() == b"content-type"]
    return "".join(types[:1]).partition(";")[0].strip()
