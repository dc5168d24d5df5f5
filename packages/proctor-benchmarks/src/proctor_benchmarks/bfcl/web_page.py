"""Read a page of the public web for a model: nothing of this machine or its network, in bounded time and size.

The address is the model's, and pages are anybody's: only http and https, only addresses that are public after the name was
resolved (and the connection goes to the very address that was checked), redirects checked the same way, 20 seconds and
5 MB in all.

The modes are those of bfcl-eval 2026.3.23, `multi_turn_eval/func_source_code/web_search.py` (`fetch_url_content`).
"""

import http.client
import socket
import time
import urllib.parse

import msgspec

from proctor.core.errors import MissingExtra
from proctor.core.installing import is_installed
from proctor.transport.tls import context_of
from proctor_benchmarks.boxes.host_proxy import is_public

MOST_BYTES = 5_000_000
SECONDS = 20.0
MOST_REDIRECTS = 10

_CHUNK = 65_536
_PORTS = {"http": 80, "https": 443}
_HEADERS = {
    "User-Agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36",
    "Accept": "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
    "Accept-Language": "en-US,en;q=0.9",
    "Accept-Encoding": "identity",
    "Connection": "close",
}


class WebPage(msgspec.Struct, frozen=True):
    """A reply: its status and text, and where it leads on."""

    status: int
    text: str
    reason: str = ""
    location: str = ""


class NotPublic(ValueError):
    """The address does not belong to the public web."""


def check_installed() -> None:
    """Raise `MissingExtra` if what turns pages into text is not installed."""
    if not (is_installed("bs4") and is_installed("html2text")):
        raise MissingExtra("bfcl", "Reading web pages")


def read(url: str, mode: str) -> dict[str, str]:
    """Return the content of a page as raw text, Markdown or plain text; or the error that the model sees."""
    try:
        page = get(url)
        if page.status >= 400:
            side = "Client" if page.status < 500 else "Server"
            raise ValueError(f"{page.status} {side} Error: {page.reason} for url: {url}")
        return {"content": _in_mode(page.text, mode)}
    except Exception as error:  # noqa: BLE001 - whatever a page does is a result, as upstream
        return {"error": f"An error occurred while fetching {url}: {error}"}


def get(url: str) -> WebPage:
    """Return the page at an address, after redirects.

    Raises:
        NotPublic: an address that is not of the public web, or is none at all.
        ValueError: too many redirects, or a page that is too large.
        OSError: it cannot be reached, or not in time.
    """
    deadline = time.monotonic() + SECONDS
    for _ in range(MOST_REDIRECTS + 1):
        page = _get_one(url, deadline)
        if not page.location:
            return page
        url = urllib.parse.urljoin(url, page.location)
    raise ValueError(f"Exceeded {MOST_REDIRECTS} redirects.")


def public_addresses(host: str, port: int) -> list[str]:
    """Return the addresses of a name, all of them public.

    Raises:
        NotPublic: one of them is private, of this machine, or otherwise not for everybody.

    >>> public_addresses("127.0.0.1", 80)
    Traceback (most recent call last):
    ...
    proctor_benchmarks.bfcl.web_page.NotPublic: 127.0.0.1 is not an address of the public web
    """
    try:
        addresses = [str(row[4][0]) for row in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]
    except UnicodeError:
        raise NotPublic(f"{host[:200]} is not a host name") from None
    for address in addresses:
        if not is_public(address):
            raise NotPublic(f"{host} is not an address of the public web")
    return addresses


def _get_one(url: str, deadline: float) -> WebPage:
    parts = urllib.parse.urlsplit(url)
    if parts.scheme not in _PORTS or not parts.hostname or parts.username is not None:
        raise NotPublic("not an http or https address")
    if not url.isprintable() or " " in url:
        url = urllib.parse.quote(url, safe=":/?#[]@!$&'()*+,;=%~")
        parts = urllib.parse.urlsplit(url)
    host, port = parts.hostname or "", parts.port or _PORTS[parts.scheme]
    connection = http.client.HTTPConnection(host, port)
    try:
        connection.sock = _connected(host, port, deadline, is_secure=parts.scheme == "https")
        target = urllib.parse.urlunsplit(("", "", parts.path or "/", parts.query, ""))
        connection.request("GET", urllib.parse.quote(target, safe="/?#[]@!$&'()*+,;=%~:"), headers=_HEADERS)
        reply = connection.getresponse()
        location = reply.headers.get("Location", "") if reply.status in (301, 302, 303, 307, 308) else ""
        body = b"" if location else _body(reply, connection, deadline)
    finally:
        connection.close()
    return WebPage(reply.status, _decoded(body, reply.headers.get("Content-Type", "")), reply.reason, location)


def _connected(host: str, port: int, deadline: float, *, is_secure: bool) -> socket.socket:
    """Connect to the address that was checked: asked again, the name could lead elsewhere."""
    address = public_addresses(host, port)[0]
    plain = socket.create_connection((address, port), timeout=_left(deadline))
    if not is_secure:
        return plain
    try:
        return context_of().wrap_socket(plain, server_hostname=host)
    except BaseException:
        plain.close()
        raise


def _body(reply: http.client.HTTPResponse, connection: http.client.HTTPConnection, deadline: float) -> bytes:
    body = bytearray()
    while True:
        if connection.sock is not None:
            connection.sock.settimeout(_left(deadline))
        _left(deadline)
        chunk = reply.read1(_CHUNK)
        if not chunk:
            return bytes(body)
        body += chunk
        if len(body) > MOST_BYTES:
            raise ValueError(f"The page is larger than {MOST_BYTES} bytes.")


def _left(deadline: float) -> float:
    left = deadline - time.monotonic()
    if left <= 0:
        raise TimeoutError(f"Read timed out. (read timeout={SECONDS:g})")
    return left


def _decoded(body: bytes, kind: str) -> str:
    charset = kind.partition("charset=")[2].partition(";")[0].strip(" '\"") or "utf-8"
    try:
        return body.decode(charset, "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def _in_mode(text: str, mode: str) -> str:
    if mode == "raw":
        return text
    if mode == "markdown":
        import html2text

        return html2text.HTML2Text().handle(text)
    if mode == "truncate":
        from bs4 import BeautifulSoup

        soup = BeautifulSoup(text, "html.parser")
        for element in soup(["script", "style"]):
            element.extract()
        return soup.get_text(separator="\n", strip=True)
    raise ValueError(f"Unsupported mode: {mode}")
