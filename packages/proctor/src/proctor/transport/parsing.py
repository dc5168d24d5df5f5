"""Parse one HTTP/1.1 reply from bytes, without input or output; nothing that is kept grows without a limit.

The grammar is that of llhttp in its strict form, through httptools. What it leaves open is decided here: how large a
head may be, which transfer codings are known, which reply ends with its connection, and that nothing may follow the end.
"""

from collections.abc import Sequence

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

from proctor.core.sentence import say
from proctor.transport.faults import RequestFault, shown

MOST_HEADERS = 128
MOST_FIELD_BYTES = 8_190
MOST_BYTES_BETWEEN = 65_536  # before the body, between two parts of it, and after it
MOST_INTERIM = 100  # replies of the 1xx kind, such as `102 Processing` every few seconds
SWITCHING = 101


class Parser:
    """Parses one reply, however its bytes are cut.

    Args:
        has_body: False for the reply to a request that gets a head only, such as HEAD.

    Attributes:
        status: 0 until the whole head came; interim replies (1xx) are skipped.
        headers: by names in lower case; the values of a name that came several times are joined by commas.
        has_begun: at least a byte came.
        waiting_bytes: how much of the body came and was not taken yet.
        is_complete: the end of the reply came.
        is_followed: there was something after the end.
        keeps_alive: the connection may be used again.
    """

    status = 0
    waiting_bytes = 0
    has_begun = is_complete = is_followed = keeps_alive = False
    _ends_with_connection = False
    _interim = _bytes_between = 0

    def __init__(self, *, has_body: bool = True) -> None:
        self.headers: dict[str, str] = {}
        self._has_body = has_body
        self._pieces: list[bytes] = []
        self._fields: list[tuple[bytes, bytes]] = []  # of the head or trailer that is being parsed
        self._http: HttpResponseParser | None = HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        """Parse the next bytes.

        Raises:
            Fault: they are not those of a reply that we accept.
        """
        if self._http is None:
            self.is_followed = True
            return
        self.has_begun = True
        self._bytes_between += len(data)
        caught: HttpParserError | None = None
        try:
            self._http.feed_data(data)
        except HttpParserUpgrade:  # status 101, which is complete
            pass
        except HttpParserError as error:
            caught = error
        if self.is_complete:
            self._http = None  # it refers back to this parser
            if caught is None:
                return
            self.is_complete = self.is_followed = False
            raise RequestFault("not_http", say("the reply is longer than its head says"))
        if caught is not None:
            own = caught.__context__  # raised in a method below
            raise own if isinstance(own, RequestFault) else RequestFault("not_http", shown(str(caught)))
        if self._bytes_between > MOST_BYTES_BETWEEN:
            raise _too_large()

    def end(self) -> None:
        """Handle the end of the connection.

        Raises:
            Fault: the reply is not complete.
        """
        if self.status and self._ends_with_connection:
            self.is_complete, self._http = True, None
        elif not self.is_complete:
            raise self.broken()

    def broken(self, text: str = "") -> RequestFault:
        """Return the fault of a reply that breaks off here; `text` is what the system says."""
        if self.status:
            return RequestFault("truncated", text or say("the body of the reply breaks off"))
        if self.has_begun:
            return RequestFault("reset", text or say("the head of the reply breaks off"))
        return RequestFault("reset", text or say("it sent no reply"))

    def take(self) -> bytes:
        """Return the part of the body that came since the last time, as it came over the wire."""
        pieces, self._pieces, self.waiting_bytes = self._pieces, [], 0
        return pieces[0] if len(pieces) == 1 else b"".join(pieces)

    def drop(self) -> None:
        """Release the parser of httptools, which refers back to this one."""
        self._http = None

    # What follows is called by httptools, while it is fed.

    def on_message_begin(self) -> None:
        self.is_followed = self.is_complete

    def on_header(self, name: bytes, value: bytes) -> None:
        self._fields.append((name, value))

    def on_headers_complete(self) -> None:
        http = self._http
        if http is None or self.is_complete:
            return
        self._bytes_between = 0
        fields, self._fields = self._fields, []
        if len(fields) > MOST_HEADERS:
            raise _too_large()
        if (version := http.get_http_version()) not in ("1.1", "1.0"):
            raise RequestFault("not_http", say("the version of HTTP is {version}", version=version))
        status = http.get_status_code()
        if 100 <= status < 200 and status != SWITCHING:
            self._interim += 1
            if self._interim > MOST_INTERIM:
                raise _too_large()
            return
        headers = self.headers = _by_name(fields)
        coding = headers.get("transfer-encoding")
        if coding is not None and coding.lower() != "chunked":
            raise RequestFault("not_http", say("the transfer coding '{coding}' is not known", coding=shown(coding)))
        self._ends_with_connection = coding is None and "content-length" not in headers
        self.status = status
        if not self._has_body or status == SWITCHING:
            self._complete(keeps_alive=status != SWITCHING and http.should_keep_alive())

    def on_body(self, data: bytes) -> None:
        if self.is_complete:
            self.is_followed = True
            return
        if not self.status:
            raise RequestFault("not_http", say("an interim reply has a body"))
        self._bytes_between = 0
        self._pieces.append(data)
        self.waiting_bytes += len(data)

    def on_message_complete(self) -> None:
        if self.status and not self.is_complete and self._http is not None:
            self._complete(keeps_alive=self._http.should_keep_alive())

    def _complete(self, *, keeps_alive: bool) -> None:
        self.is_complete, self.keeps_alive = True, keeps_alive


def _by_name(fields: Sequence[tuple[bytes, bytes]]) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in fields:
        if len(name) + len(value) > MOST_FIELD_BYTES:
            raise _too_large()
        key, text = name.decode("latin-1").lower(), value.decode("latin-1").strip()
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def _too_large() -> RequestFault:
    return RequestFault("not_http", say("the head of the reply is too large"))
