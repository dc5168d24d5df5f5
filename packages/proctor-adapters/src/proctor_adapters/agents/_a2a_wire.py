"""Send the requests of the A2A library through our client.

The library uses httpx; its requests go through `transport` all the same, so that pace, retries, time limits and
errors are those of the run.
"""

from collections.abc import Mapping
from urllib.parse import urlsplit

import httpx
import msgspec
from msgspec.structs import replace

from proctor.core.errors import BadInput
from proctor.core.sentence import say
from proctor.transport.client import Client
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms

SECONDS = 600.0
_OWN_HEADERS = ("host", "content-length", "connection", "accept-encoding", "user-agent")


class Way(httpx.AsyncBaseTransport):
    """Sends what httpx is asked to send.

    Args:
        headers: more headers, such as a key; they go to the host of `url` and to no other.
    """

    def __init__(
        self,
        url: str,
        headers: Mapping[str, str],
        terms: RequestTerms,
    ) -> None:
        self._origin = _origin(url)
        self._headers = dict(headers)
        self._terms = replace(terms, seconds=terms.seconds or SECONDS)
        self._targets: dict[tuple[str, str, str], RequestTarget] = {}

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        client = Client.current()
        if client is not None:
            return await self._send(client, request)
        async with Client() as own:
            return await self._send(own, request)

    async def _send(self, client: Client, request: httpx.Request) -> httpx.Response:
        target = self._target(request)
        body = await request.aread() or None
        if request.headers.get("accept") == "text/event-stream" and body is not None:
            return await client.stream(target, body, _Events)
        data = await client.post(target, body, _checked)
        return httpx.Response(200, headers={"Content-Type": "application/json"}, content=data)

    def _target(self, request: httpx.Request) -> RequestTarget:
        url = str(request.url)
        key = (request.method, url, request.headers.get("accept", ""))
        target = self._targets.get(key)
        if target is None:
            if self._headers and _origin(url) != self._origin:
                raise BadInput(
                    "The card of {where} sends us to {other}, another host than the one the headers are meant for. If you trust it, give that address as the option 'address'.",
                    where=self._origin,
                    other=_origin(url),
                )
            headers = {name: value for name, value in request.headers.items() if name not in _OWN_HEADERS}
            target = self._targets[key] = RequestTarget(
                url,
                method=request.method,
                headers=headers | self._headers,
                terms=self._terms,
                advice=say("Check the address, and the key that the option 'headers' names with env:NAME."),
            )
        return target


class _Events:
    """Collects a stream, so that the library can read it in one go."""

    def __init__(self) -> None:
        self._lines: list[bytes] = []

    def add(self, data: bytes) -> bool:
        self._lines.append(b"data: " + data.replace(b"\n", b"\ndata: ") + b"\n\n")
        return False

    def whole(self, body: bytes) -> None:
        self._lines = [_checked(body)]

    def done(self) -> httpx.Response:
        stream = not self._lines or self._lines[0].startswith(b"data: ")
        media_type = "text/event-stream" if stream else "application/json"
        return httpx.Response(200, headers={"Content-Type": media_type}, content=b"".join(self._lines))


def _checked(data: bytes) -> bytes:
    msgspec.json.decode(data)  # a reply that is no JSON is asked for again
    return data


def _origin(url: str) -> str:
    parts = urlsplit(url)
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme)
    return f"{parts.scheme}://{parts.hostname}:{port}"
