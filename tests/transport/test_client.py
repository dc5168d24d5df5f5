"""One HTTP path: what is sent again, what is not, and how a call ends."""

import asyncio
import gzip
import socket
import ssl
import time
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from endpoint import Answer, Endpoint, body, chat, cut, data, drip, events, never, raw
from msgspec.structs import replace

from proctor.core.around import around
from proctor.core.errors import BadInput, EndpointRefused, ProviderFailed
from proctor.core.sentence import say
from proctor.transport import pace, retry
from proctor.transport.client import Client
from proctor.transport.deadline import Deadline
from proctor.transport.faults import NotAccepted, RequestFault
from proctor.transport.retry import RetryPolicy
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms

QUICK = RetryPolicy(attempts=3, attempts_at_first=2, wait_seconds=0.001, longest_wait_seconds=0.002, budget_seconds=5.0)
KEY = "sk-this-is-the-key-1234"
CERTIFICATE = Path(__file__).parents[1] / "data" / "localhost.pem"  # for localhost, with its key, good for 100 years
HTML = b"<html><title>Bad gateway</title><body>\x1b[31mtry later</body></html>"


def target(endpoint: Endpoint, **more: Any) -> RequestTarget:
    return RequestTarget(endpoint.url + "/v1/chat", headers={"Authorization": f"Bearer {KEY}"}, **more)


async def post(endpoint: Endpoint, *, policy: RetryPolicy = QUICK, most: int = 100_000, **more: Any) -> Any:
    async with Client(policy=policy, most_reply_bytes=most) as client:
        return await client.post(target(endpoint, **more), b'{"q": 1}', msgspec.json.decode)


@pytest.mark.parametrize(
    ("fault", "cause"),
    [
        (raw(b""), "reset"),
        (cut(), "truncated"),
        (body(b'{"choices": ['), "not_json"),
        (body(b""), "not_json"),
        (body(HTML, content_type="text/html"), "not_json"),
        (body(b"no json", content_type="text/plain; charset=x-nobody-knows"), "not_json"),
        (raw(b"SSH-2.0-OpenSSH_9.2\r\n\r\n"), "not_http"),
        (body(b"not gzip at all", content_encoding="gzip"), "truncated"),
        *((data({"error": {"message": "later"}}, status), f"http_{status}") for status in (408, 409, 425, 429)),
        *((body(HTML, status), f"http_{status}") for status in (500, 502, 503, 504, 529)),
    ],
)
async def test_what_may_pass_is_sent_again_and_kept(fault: Answer, cause: str) -> None:
    made = retry.record_calls()
    async with Endpoint(fault, chat()) as endpoint:
        reply = await post(endpoint)
    assert reply["choices"][0]["message"]["content"] == "Paris"
    assert [call.cause.partition(":")[0] for call in made] == [cause]
    assert made[0].waited_seconds > 0
    assert [request.body for request in endpoint.requests] == [b'{"q": 1}'] * 2


@pytest.mark.parametrize(
    ("fault", "kind", "times", "said"),
    [
        (raw(b""), "reset", 3, "closed the connection"),
        (cut(), "truncated", 3, "closed the connection"),
        (body(HTML, content_type="text/html"), "not_json", QUICK.attempts_at_first, "a web page"),
        (body(HTML, 503), "http_503", 3, "status 503, tried 3 times: a web page: Bad gateway"),
        (data({"error": {"message": "too many"}}, 429), "http_429", 3, "status 429, tried 3 times: too many"),
    ],
)
async def test_what_does_not_pass_ends_as_a_failure_of_the_provider(
    fault: Answer, kind: str, times: int, said: str
) -> None:
    made = retry.record_calls()
    async with Endpoint(fault) as endpoint:
        with pytest.raises(ProviderFailed, match=said) as raised:
            await post(endpoint)
    assert raised.value.kind == kind
    assert len(endpoint.requests) == len(made) == times
    assert made[-1].waited_seconds == 0, "nothing is waited for after the last one"


@pytest.mark.parametrize("status", [400, 413, 418, 422])
async def test_a_request_that_is_not_accepted_is_sent_once(status: int) -> None:
    answer = data({"error": {"message": f"context too long, key {KEY}", "code": "context_length_exceeded"}}, status)
    async with Endpoint(answer) as endpoint:
        with pytest.raises(NotAccepted, match=f"{status}.*context too long") as raised:
            await post(endpoint)
    assert raised.value.kind == f"http_{status}"
    assert raised.value.code == "context_length_exceeded"
    assert KEY not in str(raised.value)
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        *(data({"error": {"message": f"wrong key {KEY}"}}, status) for status in (401, 402, 403, 404)),
        data({"error": {"message": "pay", "code": "insufficient_quota"}}, 429),
        body(b"", 302, location="https://elsewhere.example/v1"),
        body(b"", 302, location=f"/login?key={KEY}&token=other-key-of-ours" + "x" * 5000),
        body(b"", 307, location="/v1/chat"),
    ],
)
async def test_a_refusal_stops_the_run_at_once_and_says_what_to_check(answer: Answer) -> None:
    async with Endpoint(answer) as endpoint:
        with pytest.raises(EndpointRefused) as raised:
            await post(endpoint, advice=say("Check the key in OPENAI_API_KEY."))
    assert f"{endpoint.url}/v1/chat" in str(raised.value)
    assert "OPENAI_API_KEY" in str(raised.value)
    assert KEY not in str(raised.value)
    assert "other-key" not in str(raised.value)
    assert len(str(raised.value)) < 600
    assert len(endpoint.requests) == 1, "a redirect is not followed: the key goes where it was meant to go"


@pytest.mark.parametrize(
    ("headers", "least"),
    [
        ({"retry_after": "0.2"}, 0.2),
        ({"retry_after": "{date}", "date": "{now}"}, 1.0),
        ({"retry_after_ms": "150", "retry_after": "9"}, 0.15),
        ({"x_ratelimit_remaining_requests": "0", "x_ratelimit_reset_requests": "120ms"}, 0.12),
    ],
)
async def test_a_server_that_says_when_to_come_back_is_obeyed(headers: Mapping[str, str], least: float) -> None:
    now = datetime.now(UTC).replace(microsecond=0) + timedelta(hours=3)  # the server's clock is wrong; only it counts
    dates = {
        "{date}": format_datetime(now + timedelta(seconds=1), usegmt=True),
        "{now}": format_datetime(now, usegmt=True),
    }
    headers = {name: dates.get(value, value) for name, value in headers.items()}
    started = time.monotonic()
    async with Endpoint(body(b"{}", 429, 0.0, **headers), chat()) as endpoint:
        await post(endpoint)
    assert least <= time.monotonic() - started < least + 10


async def test_a_wait_beyond_the_budget_ends_the_call_at_once() -> None:
    started = time.monotonic()
    async with Endpoint(data({}, 429, retry_after="3600")) as endpoint:
        with pytest.raises(ProviderFailed):
            await post(endpoint)
    assert time.monotonic() - started < 60, "an hour was asked for"
    assert len(endpoint.requests) == 1


async def test_what_a_library_sends_has_the_same_pace_and_limits() -> None:
    replies: list[bytes | RequestFault] = [
        b'{"echo": "%s"}' % KEY.encode(),
        b"1" * 101,
        RequestFault("http_503", status=503),
        b'{"a": 1}',
    ]
    made = retry.record_calls()

    async def send() -> bytes:
        reply = replies.pop(0)
        if isinstance(reply, RequestFault):
            raise reply
        return reply

    async with Endpoint() as endpoint, Client(policy=QUICK, most_reply_bytes=100) as client:
        ask = partial(client.through, target(endpoint), b"{}", send, msgspec.json.decode)
        assert await ask() == {"echo": "[hidden]"}
        assert await ask() == {"a": 1}
    assert [call.cause.partition(":")[0] for call in made] == ["too_large", "http_503"]


async def test_an_answer_that_never_comes_runs_into_the_time_limit() -> None:
    async with Endpoint(never) as endpoint:
        with pytest.raises(ProviderFailed, match="did not answer in time") as raised:
            await post(endpoint, terms=RequestTerms(seconds=0.05))
    assert raised.value.kind == "timeout"


async def test_a_slow_drip_runs_into_the_total_time_limit() -> None:
    async with Endpoint(drip([b" "] * 1000, every=0.01)) as endpoint:
        with pytest.raises(ProviderFailed) as raised:
            await post(endpoint, terms=RequestTerms(seconds=0.1, first_byte_seconds=0.05))
    assert raised.value.kind == "timeout"


async def test_the_first_byte_has_a_time_limit_of_its_own() -> None:
    started = time.monotonic()
    async with Endpoint(never, chat()) as endpoint:
        await post(endpoint, terms=RequestTerms(first_byte_seconds=1.0))
    assert time.monotonic() - started < 10


@pytest.mark.parametrize("answer", [body(b" " * 50_000_000), drip([b" " * 1_000_000] * 50, every=0)])
async def test_a_reply_above_the_limit_is_a_failure_of_the_provider_and_not_read_to_its_end(answer: Answer) -> None:
    async with Endpoint(answer) as endpoint:
        with pytest.raises(ProviderFailed, match="limit of 100000 bytes") as raised:
            await post(endpoint)
    assert raised.value.kind == "too_large"
    assert len(endpoint.requests) == QUICK.attempts_at_first


async def test_a_reply_above_the_limit_once_is_asked_for_again() -> None:
    async with Endpoint(chat("Berlin"), body(b" " * 200_000), chat()) as endpoint:
        await post(endpoint)
        assert (await post(endpoint))["choices"][0]["message"]["content"] == "Paris"


async def test_a_small_body_that_unpacks_to_a_large_one_is_above_the_limit_too() -> None:
    async with Endpoint(body(gzip.compress(b" " * 5_000_000), content_encoding="gzip")) as endpoint:
        with pytest.raises(ProviderFailed):
            await post(endpoint)


async def test_packed_replies_are_unpacked() -> None:
    async with Endpoint(body(gzip.compress(b'{"a": 1}'), content_encoding="gzip")) as endpoint:
        assert await post(endpoint) == {"a": 1}
    assert "gzip" in endpoint.requests[0].headers["accept-encoding"]


async def test_a_request_above_the_limit_is_not_sent() -> None:
    async with Endpoint(chat()) as endpoint, Client(most_request_bytes=10) as client:
        with pytest.raises(ProviderFailed, match="limit of 10 bytes"):
            await client.post(target(endpoint), b"x" * 11, msgspec.json.decode)
    assert not endpoint.requests


@pytest.mark.parametrize(
    ("content", "kind"),
    [
        (b'{"a": "\\ud800x"}', "application/json"),
        ('\ufeff{"a": "é"}'.encode(), "application/json"),
        ('{"a": "中"}'.encode("gbk"), "application/json; charset=gbk"),
        (b'{"a": "x", "logprobs": NaN}', "text/html"),
    ],
)
async def test_json_that_is_not_quite_strict_is_repaired_rather_than_asked_for_again(content: bytes, kind: str) -> None:
    async with Endpoint(body(content, content_type=kind)) as endpoint:
        reply = await post(endpoint)
    reply["a"].encode()
    assert len(endpoint.requests) == 1


async def test_text_in_no_known_charset_is_asked_for_again_rather_than_guessed() -> None:
    async with Endpoint(body(b'{"a": "\xff\xfex"}'), data({"a": "x"})) as endpoint:
        assert await post(endpoint) == {"a": "x"}
    async with Endpoint(body(b'{"a": "\xff\xfex"}')) as endpoint:
        with pytest.raises(ProviderFailed, match="utf-8") as raised:
            await post(endpoint)
    assert raised.value.kind == "not_json"


async def test_json_of_endless_depth_is_a_broken_reply() -> None:
    async with Endpoint(body(b"[" * 90_000 + b"]" * 9_000)) as endpoint:
        with pytest.raises(ProviderFailed):
            await post(endpoint)


async def test_a_key_that_is_echoed_never_comes_back() -> None:
    async with Endpoint(data({"a": f"you sent {KEY}"})) as endpoint:
        assert await post(endpoint) == {"a": "you sent [hidden]"}


async def test_a_port_where_nobody_listens_is_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with Client(policy=QUICK) as client:
        with pytest.raises(ProviderFailed, match=f"127.0.0.1:{port}.*Check that the server runs") as raised:
            await client.post(RequestTarget(f"http://127.0.0.1:{port}/v1"), b"{}", msgspec.json.decode)
        with pytest.raises(ProviderFailed, match=r"127\.0\.0\.1:\d+: Connection refused\. Check") as secure:
            await client.post(RequestTarget(f"https://127.0.0.1:{port}/v1"), b"{}", msgspec.json.decode)
    assert raised.value.kind == "connect"
    assert "object at 0x" not in str(secure.value)


async def test_a_name_that_nobody_has_is_named() -> None:
    made = retry.record_calls()
    async with Client(policy=QUICK) as client:
        with pytest.raises(ProviderFailed, match=r"nobody-has-this-name\.invalid.*DNS") as raised:
            await client.post(RequestTarget("http://nobody-has-this-name.invalid/v1"), b"{}", msgspec.json.decode)
    assert raised.value.kind == "dns"
    assert len(made) == QUICK.attempts_at_first, "an address that never worked is tried less often"


async def test_a_server_without_tls_is_no_secure_endpoint() -> None:
    async def refuse(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1)
        writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(refuse, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Client(policy=QUICK) as client:
        with pytest.raises(ProviderFailed, match="SSL_CERT_FILE") as raised:
            await client.post(RequestTarget(f"https://127.0.0.1:{port}"), b"{}", msgspec.json.decode)
    assert raised.value.kind == "tls"
    assert "object at 0x" not in str(raised.value)


async def test_a_certificate_authority_of_ones_own_is_taken_from_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    async with Endpoint(data({"a": 1}), tls=context) as endpoint:
        async with Client(policy=QUICK) as client:
            with pytest.raises(ProviderFailed) as raised:
                await client.post(target(endpoint), b"{}", msgspec.json.decode)
        assert raised.value.kind == "tls"
        monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
        async with Client(policy=QUICK) as client:
            assert await client.post(target(endpoint), b"{}", msgspec.json.decode) == {"a": 1}


@pytest.mark.parametrize("url", ["", "api.example/v1", "ftp://x/y", "http://", "file:///etc/passwd", "http://[::1"])
def test_what_is_no_address_is_said_before_anything_is_sent(url: str) -> None:
    with pytest.raises(BadInput, match="no address"):
        RequestTarget(url)


async def test_proxies_of_the_environment_are_used_but_never_for_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    async with Endpoint(data({"through": "proxy"})) as proxy, Endpoint(data({"through": "nothing"})) as direct:
        monkeypatch.setenv("http_proxy", proxy.url.replace("//", "//me:secret@"))
        monkeypatch.setenv("no_proxy", "intern.example")
        async with Client(policy=QUICK) as client:
            reply = await client.post(RequestTarget("http://api.example/v1"), b"{}", msgspec.json.decode)
            near = await client.post(target(direct), b"{}", msgspec.json.decode)
    assert (reply, near) == ({"through": "proxy"}, {"through": "nothing"})
    assert proxy.requests[0].path == "http://api.example/v1"
    assert "proxy-authorization" in proxy.requests[0].headers
    assert RequestTarget("http://intern.example/v1").proxy is None


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_proxy_that_refuses_us_stops_the_run(scheme: str, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Endpoint(data({}, 407)) as proxy:
        monkeypatch.setenv(f"{scheme}_proxy", proxy.url.replace("//", "//me:secret@"))
        async with Client(policy=QUICK) as client:
            with pytest.raises(EndpointRefused, match=r"The proxy on the way to .*api\.example.* refuses us") as raised:
                await client.post(RequestTarget(f"{scheme}://api.example/v1"), b"{}", msgspec.json.decode)
    assert len(proxy.requests) == 1
    assert "secret" not in str(raised.value)


def test_a_proxy_without_a_scheme_speaks_http(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("https_proxy", "127.0.0.1:7890")
    assert str(RequestTarget("https://api.example/v1").proxy) == "http://127.0.0.1:7890"


@pytest.mark.parametrize("proxy", ["socks5://me:secret@127.0.0.1:1080", "http://[bad", "http://"])
def test_a_proxy_that_cannot_be_used_is_said_before_anything_is_sent(
    proxy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("https_proxy", proxy)
    with pytest.raises(BadInput, match="HTTPS_PROXY cannot be used") as raised:
        RequestTarget("https://api.example/v1")
    assert "secret" not in str(raised.value)


async def test_a_server_that_wants_to_be_left_alone_for_longer_than_the_policy_is_not_asked_again() -> None:
    refused = data({"error": {"message": "that was all for today"}}, 429, retry_after="7200")
    async with Endpoint(refused) as endpoint, Client() as client:
        with pytest.raises(ProviderFailed, match=r"come back in 7200 seconds .*for today.*--retry-failed"):
            await client.post(target(endpoint), b"{}", msgspec.json.decode)
    assert len(endpoint.requests) == 1


async def test_connections_are_kept_and_no_more_are_opened_than_requests_in_flight() -> None:
    async with Endpoint(data({}, seconds=0.002)) as endpoint, Client(concurrency=8) as client:
        to = target(endpoint)
        await asyncio.gather(*(client.post(to, b"{}", msgspec.json.decode) for _ in range(200)))
    assert len(endpoint.requests) == 200
    assert endpoint.most_at_once == 8
    assert endpoint.connections <= 10


async def test_an_error_with_a_small_body_keeps_the_connection() -> None:
    async with Endpoint(data({}, 500), chat()) as endpoint:
        await post(endpoint)
    assert endpoint.connections == 1


async def test_a_cancelled_call_gives_its_place_back() -> None:
    async with Endpoint(never, chat()) as endpoint, Client(concurrency=1) as client:
        to = target(endpoint)
        hanging = asyncio.create_task(client.post(to, b"{}", msgspec.json.decode))
        waiting = asyncio.create_task(client.post(to, b"{}", msgspec.json.decode))
        await asyncio.sleep(0.05)
        waiting.cancel()
        hanging.cancel()
        await asyncio.gather(hanging, waiting, return_exceptions=True)
        assert client.endpoint(to).in_flight == 0
        await client.post(to, b"{}", msgspec.json.decode)


async def test_an_error_of_ours_gives_the_place_back_and_goes_up_as_it_is() -> None:
    def broken(content: bytes) -> None:
        raise ZeroDivisionError

    async with Endpoint(chat()) as endpoint, Client(concurrency=1) as client:
        to = target(endpoint)
        with pytest.raises(ZeroDivisionError):
            await client.post(to, b"{}", broken)
        assert client.endpoint(to).in_flight == 0


@pytest.mark.parametrize("status", [429, 503, 529])
async def test_a_server_that_is_overloaded_is_asked_less(status: int, monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[float | None] = []
    refused = pace.Endpoint.refused

    def note(at: pace.Endpoint, asked: float | None) -> None:
        noted.append(asked)
        refused(at, asked)

    monkeypatch.setattr(pace.Endpoint, "refused", note)
    async with Endpoint(data({}, status), chat()) as endpoint:
        await post(endpoint)
    assert len(noted) == 1


async def test_waiting_for_an_endpoint_is_not_the_time_of_the_attempt() -> None:
    async with Endpoint(data({}, 503, retry_after="0.3"), chat()) as endpoint, Client(policy=QUICK) as client:
        await _in_time(0.2, client, target(endpoint))
    assert len(endpoint.requests) == 2


async def test_an_endpoint_that_fails_for_ever_takes_no_longer_than_a_sample_may() -> None:
    async with Endpoint(data({}, 500)) as endpoint, Client(policy=RetryPolicy(wait_seconds=0.05)) as client:
        begin = time.monotonic()
        with pytest.raises(ProviderFailed, match="failed with status 500"):
            await _in_time(0.3, client, target(endpoint))
        assert time.monotonic() - begin < 1.5  # ten tries would wait for 13 seconds at least


async def test_the_time_limit_of_the_attempt_goes_on_once_the_wait_is_over() -> None:
    async with Endpoint(data({}, 503), never) as endpoint, Client(policy=QUICK) as client:
        with pytest.raises(TimeoutError):
            await _in_time(0.1, client, target(endpoint))


async def _in_time(seconds: float, client: Client, to: RequestTarget) -> None:
    with Deadline(seconds) as limit:
        around.set(replace(around.get(), deadline=limit))
        try:
            await client.post(to, b"{}", msgspec.json.decode)
        finally:
            around.set(replace(around.get(), deadline=None))


async def test_a_client_is_current_inside_its_block_only() -> None:
    assert Client.current() is None
    async with Client() as client:
        assert Client.current() is client
        assert await asyncio.create_task(_current()) is client
    assert Client.current() is None


async def _current() -> Client | None:
    return Client.current()


class Joined:
    """Folds events by joining them."""

    def __init__(self) -> None:
        self.said: list[str] = []

    def add(self, content: bytes) -> bool:
        self.said.append(content.decode())
        return content == b"[DONE]"

    def whole(self, content: bytes) -> None:
        self.said.append("whole " + content.decode())

    def done(self) -> list[str]:
        return self.said


async def test_a_stream_is_read_event_by_event_in_whatever_pieces_it_comes() -> None:
    stream = b'data: {"a":1}\r\n\r\n: a comment\nevent: x\ndata:{"b":2}\n\ndata: [DONE]'
    async with Endpoint(body(stream, content_type="text/event-stream")) as endpoint, Client() as client:
        assert await client.stream(target(endpoint), b"{}", Joined) == ['{"a":1}', '{"b":2}', "[DONE]"]


async def test_a_server_that_does_not_stream_is_understood() -> None:
    async with Endpoint(data({"a": 1})) as endpoint, Client() as client:
        assert await client.stream(target(endpoint), b"{}", Joined) == ['whole {"a": 1}']


async def test_an_endless_stream_is_above_the_limit() -> None:
    async with (
        Endpoint(events(*["x" * 1000] * 200)) as endpoint,
        Client(policy=QUICK, most_reply_bytes=100_000) as client,
    ):
        with pytest.raises(ProviderFailed):
            await client.stream(target(endpoint), b"{}", Joined)


async def test_a_stream_never_shows_the_key() -> None:
    async with Endpoint(events(f"key {KEY}", end=False)) as endpoint, Client() as client:
        assert await client.stream(target(endpoint), b"{}", Joined) == ["key [hidden]"]
