"""The parser: the same reply however its bytes are cut, nothing lenient, nothing without a limit."""

from collections.abc import Iterable, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.transport.faults import RequestFault
from proctor.transport.parsing import Parser

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"


def parsed(data: bytes, cuts: Iterable[int] = (), *, ends: bool = False, has_body: bool = True) -> Parser:
    """Feed the data cut at these places, then end the connection if it `ends`."""
    parser = Parser(has_body=has_body)
    places = [0, *sorted(cuts), len(data)]
    for start, stop in pairwise(places):
        if start < stop:
            parser.feed(data[start:stop])
    if ends:
        parser.end()
    return parser


def seen(parser: Parser) -> tuple[object, ...]:
    state = (parser.status, dict(parser.headers), parser.is_complete, parser.keeps_alive, parser.is_followed)
    return (*state, parser.take())


def outcome(data: bytes, cuts: Iterable[int], *, ends: bool) -> tuple[object, ...]:
    """What comes of the data: the reply, or the kind of its fault and whether anything was complete."""
    try:
        return seen(parsed(data, cuts, ends=ends))
    except RequestFault as fault:
        return (fault.kind,)


def chunked(chunks: Sequence[bytes], trailer: bytes = b"") -> bytes:
    return b"".join(b"%x;ext=1\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n" + trailer + b"\r\n"


names = st.text("abcXYZ-019", min_size=1, max_size=12).map(lambda name: "X-" + name)
values = st.text("abc ,;=\"'é", max_size=20).map(str.strip)
chunks = st.lists(st.binary(min_size=1, max_size=40), max_size=6)


@st.composite
def replies(draw: st.DrawFn) -> tuple[bytes, dict[str, str], bytes, bool]:
    """A reply as bytes, with its headers and body, and whether it ends with the connection."""
    headers = {name.lower(): (name, value) for name, value in draw(st.dictionaries(names, values, max_size=5)).items()}
    lines = b"".join(f"{name}: {value}\r\n".encode("latin-1") for name, value in headers.values())
    parts = draw(chunks)
    framing = draw(st.sampled_from(["length", "chunks", "close"]))
    interim = b"HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n" * draw(st.integers(0, 2))
    own = {"length": b"Content-Length: %d\r\n" % len(b"".join(parts)), "chunks": b"Transfer-Encoding: Chunked\r\n"}
    body = chunked(parts, draw(st.sampled_from([b"", b"Expires: 1\r\n"]))) if framing == "chunks" else b"".join(parts)
    data = interim + OK + lines + own.get(framing, b"") + b"\r\n" + body
    return data, {key: value for key, (_, value) in headers.items()}, b"".join(parts), framing == "close"


@given(replies(), st.data())
def test_a_reply_is_the_same_however_its_bytes_are_cut(
    reply: tuple[bytes, dict[str, str], bytes, bool], data: st.DataObject
) -> None:
    sent, headers, body, ends = reply
    cuts = data.draw(st.lists(st.integers(0, len(sent)), max_size=30))
    parser = parsed(sent, cuts, ends=ends)
    got = {name: value for name, value in parser.headers.items() if name.startswith("x-")}
    assert (parser.status, got, parser.take()) == (200, headers, body)
    assert parser.is_complete
    assert not parser.is_followed
    assert parser.keeps_alive is not ends


@given(replies(), st.data())
def test_bytes_that_are_damaged_come_to_the_same_end_however_they_are_cut(
    reply: tuple[bytes, dict[str, str], bytes, bool], data: st.DataObject
) -> None:
    sent = bytearray(reply[0])
    for _ in range(data.draw(st.integers(1, 4))):
        sent[data.draw(st.integers(0, len(sent) - 1))] = data.draw(st.integers(0, 255))
    cuts = data.draw(st.lists(st.integers(0, len(sent)), max_size=30))
    whole, cut = (outcome(bytes(sent), places, ends=True) for places in ((), cuts))
    if "not_http" in (whole[0], cut[0]) and whole != cut:  # what follows the end is refused only if it came with it
        followed = outcome(bytes(sent), range(len(sent)), ends=True)
        assert followed[0] == "not_http" or followed[2:5] in ((True, True, True), (True, False, True))
    else:
        assert whole == cut


@given(st.binary(max_size=200), st.sampled_from([b"", OK, CHUNKED, OK + b"Content-Length: 5\r\n\r\n"]))
def test_no_bytes_do_anything_but_parse_or_fail(data: bytes, start: bytes) -> None:
    parser = Parser()
    try:
        parser.feed(start + data)
        parser.feed(data)
        parser.end()
    except RequestFault as fault:
        assert fault.kind in ("not_http", "reset", "truncated")  # noqa: PT017 - either may happen
    assert parser.waiting_bytes == len(parser.take())


@pytest.mark.parametrize(
    "data",
    [
        b"SSH-2.0-OpenSSH_9.2\r\n\r\n",
        b"HTTP/3.7 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/2.0 200 OK\r\nContent-Length: 0\r\n\r\n",
        b"HTTP/0.9 200 OK\r\nContent-Length: 0\r\n\r\n",
        OK + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
        OK + b"Content-Length: 2, 2\r\n\r\n{}",
        OK + b"Content-Length: +2\r\n\r\n{}",
        OK + b"Content-Length: 99999999999999999999\r\n\r\n{}",
        OK + b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: identity\r\n\r\n{}",
        OK + b"X-Folded: a\r\n b\r\nContent-Length: 2\r\n\r\n{}",
        OK + b"X Name: a\r\nContent-Length: 2\r\n\r\n{}",
        OK + b"X-Zero: a\0b\r\nContent-Length: 2\r\n\r\n{}",
        b"HTTP/1.1 200 OK\nContent-Length: 2\n\n{}",
        b"HTTP/1.1 2000 OK\r\nContent-Length: 2\r\n\r\n{}",
        CHUNKED + b"2 \r\n{}\r\n0\r\n\r\n",
        CHUNKED + b"2\r\n{}0\r\n\r\n",
        CHUNKED + b"-2\r\n{}\r\n0\r\n\r\n",
        OK + b"Content-Length: 2\r\n\r\n{}junk",
        b"HTTP/1.1 150 Odd\r\nContent-Length: 2\r\n\r\n{}",
    ],
)
def test_what_is_not_quite_http_is_refused(data: bytes) -> None:
    with pytest.raises(RequestFault) as raised:
        parsed(data)
    assert raised.value.kind == "not_http"
    assert "callback" not in str(raised.value.text)


@pytest.mark.parametrize(
    ("endless", "times"),
    [
        (b"X-Many: 1\r\n", 200),
        (b"X-Long: " + b"a" * 9_000 + b"\r\n", 1),
    ],
)
def test_a_head_that_is_too_large_is_refused(endless: bytes, times: int) -> None:
    with pytest.raises(RequestFault, match="not_http") as raised:
        parsed(OK + endless * times + b"Content-Length: 0\r\n\r\n")
    assert str(raised.value.text) == "the head of the reply is too large"


@pytest.mark.parametrize(
    ("start", "endless"),
    [
        (b"", b"\r\n"),
        (OK, b"X-Many: 1\r\n"),
        (OK + b"X-Long: ", b"a" * 100),
        (b"HTTP/1.1 200 ", b"O" * 100),
        (b"", b"HTTP/1.1 102 Processing\r\n\r\n"),
        (CHUNKED + b"1;", b"ext=" * 100),
        (CHUNKED + b"1\r\n{\r\n0\r\n", b"X-Many: 1\r\n"),
        (CHUNKED + b"1\r\n{\r\n0\r\nX-Long: ", b"a" * 100),
    ],
)
def test_a_head_without_end_is_refused(start: bytes, endless: bytes) -> None:
    parser = Parser()

    def feed() -> None:
        parser.feed(start)
        for _ in range(70_000):
            parser.feed(endless)

    with pytest.raises(RequestFault, match="not_http"):
        feed()


@pytest.mark.parametrize(
    ("data", "kind", "said"),
    [
        (b"", "reset", "it sent no reply"),
        (b"HTTP/1.1 100 Continue\r\n\r\n", "reset", "the head of the reply breaks off"),
        (OK + b"content-", "reset", "the head of the reply breaks off"),
        (OK + b"Content-Length: 9\r\n\r\n{}", "truncated", "the body of the reply breaks off"),
        (CHUNKED + b"2\r\n{}\r\n", "truncated", "the body of the reply breaks off"),
        (CHUNKED + b"2\r\n{}\r\n0\r\n", "truncated", "the body of the reply breaks off"),
    ],
)
def test_what_breaks_off_says_where(data: bytes, kind: str, said: str) -> None:
    with pytest.raises(RequestFault) as raised:
        parsed(data, ends=True)
    assert (raised.value.kind, str(raised.value.text)) == (kind, said)


@pytest.mark.parametrize("status", [204, 304])
def test_a_status_without_a_body_ends_with_its_head(status: int) -> None:
    parser = parsed(b"HTTP/1.1 %d X\r\nContent-Length: 5\r\n\r\n" % status)
    assert (parser.status, parser.is_complete, parser.keeps_alive) == (status, True, True)


def test_the_reply_to_a_request_for_the_head_ends_with_it() -> None:
    parser = parsed(OK + b"Content-Length: 5\r\n\r\n", has_body=False)
    assert (parser.is_complete, parser.keeps_alive, parser.is_followed) == (True, True, False)
    parser.feed(b"12345")
    assert parser.is_followed


def test_another_protocol_that_nobody_asked_for_ends_with_its_head() -> None:
    parser = parsed(b"HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n\x81\x00")
    assert (parser.status, parser.is_complete, parser.keeps_alive) == (101, True, False)


@pytest.mark.parametrize(
    ("head", "keeps_alive"),
    [
        (b"HTTP/1.1 200 OK\r\n", True),
        (b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\n", True),
        (b"HTTP/1.1 200 OK\r\nConnection: Close\r\n", False),
        (b"HTTP/1.0 200 OK\r\n", False),
        (b"HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n", True),
    ],
)
def test_a_connection_is_kept_when_both_sides_want_that(head: bytes, keeps_alive: bool) -> None:
    assert parsed(head + b"Content-Length: 2\r\n\r\n{}").keeps_alive is keeps_alive


def test_headers_are_found_by_names_in_lower_case_and_joined() -> None:
    parser = parsed(OK + b"VARY: a \r\nX-Name: caf\xe9\r\nvary:b\r\nContent-Length: 0\r\n\r\n")
    assert parser.headers == {"vary": "a, b", "x-name": "café", "content-length": "0"}


def test_a_trailer_is_no_header() -> None:
    parser = parsed(CHUNKED + chunked([b"{}"], b"Retry-After: 9\r\n"))
    assert parser.is_complete
    assert "retry-after" not in parser.headers


@pytest.mark.parametrize("after", [OK + b"Content-Length: 0\r\n\r\n", OK])
def test_a_second_reply_at_once_is_noticed(after: bytes) -> None:
    parser = parsed(OK + b"Content-Length: 2\r\n\r\n{}" + after)
    assert (parser.take(), parser.is_complete, parser.is_followed) == (b"{}", True, True)
