"""Connections are opened: names and addresses, proxies, TLS, and what goes wrong on the way."""

import asyncio
import socket
import ssl
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec
import pytest
from endpoint import Endpoint, chat, data
from proxy import Proxy

from proctor.core.errors import BadInput, EndpointRefused, ProviderFailed
from proctor.core.sample import Message
from proctor.models.openai import make
from proctor.transport.address import parse
from proctor.transport.client import Client
from proctor.transport.retry import RetryPolicy
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms

ONCE = RetryPolicy(attempts=1)
CERTIFICATE = Path(__file__).parents[1] / "data" / "localhost.pem"


def server_tls(*, asks_for_certificate: bool = False) -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    if asks_for_certificate:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(CERTIFICATE)
    return context


def port_of(url: str) -> int:
    return int(url.rpartition(":")[2])


async def post(client: Client, target: RequestTarget) -> Any:
    return await client.post(target, b"{}", msgspec.json.decode)


def through(proxy: Proxy | str, target: RequestTarget) -> RequestTarget:
    """The same target by way of a proxy; the environment never names one for this machine."""
    target.proxy = parse(proxy if isinstance(proxy, str) else proxy.url.replace("//", "//me:se%20cret@"))
    return target


@pytest.fixture
def _trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))


class Resolver:
    """Stands for the name service; `wait` is how long it takes."""

    def __init__(self, *addresses: str, wait: float = 0.0) -> None:
        self.addresses = addresses
        self.asked: list[str] = []
        self.wait = wait

    async def __call__(self, host: str, port: int, **more: Any) -> Sequence[Any]:
        found = self.addresses
        if host.endswith(".example"):
            self.asked.append(host)
            await asyncio.sleep(self.wait)
        else:  # an address, which uvloop looks up as well before it connects
            found = (host,)
        if not found:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
        return [
            (socket.AF_INET6, socket.SOCK_STREAM, 6, "", (address, port, 0, 0))
            if ":" in address
            else (socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port))
            for address in found
        ]


@contextmanager
def asking(resolver: Resolver) -> Iterator[None]:
    """Let the running loop look names up there."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(asyncio.get_running_loop(), "getaddrinfo", resolver)
        yield


@contextmanager
def deaf_host(address: str, port: int) -> Iterator[None]:
    """An address that lets connections wait for ever: its queue is full."""
    with socket.socket() as deaf:
        deaf.bind((address, port))
        deaf.listen(0)
        waiting = []
        for _ in range(4):
            one = socket.socket()
            one.setblocking(False)
            one.connect_ex((address, port))
            waiting.append(one)
        try:
            yield
        finally:
            for one in waiting:
                one.close()


async def test_a_name_is_looked_up_once_for_all_who_wait() -> None:
    resolver = Resolver("127.0.0.1", wait=0.05)
    async with Endpoint(data({}, seconds=0.02)) as endpoint, Client(policy=ONCE) as client:
        target = RequestTarget(f"http://api.example:{port_of(endpoint.url)}/v1")
        with asking(resolver):
            async with asyncio.TaskGroup() as group:
                for _ in range(20):
                    group.create_task(post(client, target))
    assert resolver.asked == ["api.example"]
    assert endpoint.requests[0].headers["host"] == f"api.example:{port_of(endpoint.url)}"


async def test_a_name_that_was_not_found_is_looked_up_again() -> None:
    resolver = Resolver()
    async with Endpoint(data({"a": 1})) as endpoint, Client(policy=ONCE) as client:
        target = RequestTarget(f"http://api.example:{port_of(endpoint.url)}/v1")
        with asking(resolver):
            with pytest.raises(ProviderFailed, match=r"api\.example.*DNS.*Name or service not known") as raised:
                await post(client, target)
            resolver.addresses = ("127.0.0.1",)
            assert await post(client, target) == {"a": 1}
    assert raised.value.kind == "dns"


async def test_one_who_stops_waiting_for_a_name_stops_nobody_else() -> None:
    resolver = Resolver("127.0.0.1", wait=0.1)
    async with Endpoint(data({"a": 1})) as endpoint, Client(policy=ONCE) as client:
        target = RequestTarget(f"http://api.example:{port_of(endpoint.url)}/v1")
        with asking(resolver):
            first, second = (asyncio.create_task(post(client, target)) for _ in range(2))
            await asyncio.sleep(0.02)
            first.cancel()
            assert await second == {"a": 1}
            assert (await asyncio.gather(first, return_exceptions=True))[0].__class__ is asyncio.CancelledError


@pytest.mark.parametrize("addresses", [("::1", "127.0.0.1"), ("127.0.0.1", "::1"), ("127.0.0.3", "127.0.0.1")])
async def test_an_address_where_nobody_listens_is_passed_over(addresses: Sequence[str]) -> None:
    async with Endpoint(data({"a": 1})) as endpoint, Client(policy=ONCE) as client:
        with asking(Resolver(*addresses)):
            assert await post(client, RequestTarget(f"http://api.example:{port_of(endpoint.url)}/v1")) == {"a": 1}


async def test_an_address_that_does_not_answer_costs_a_quarter_of_a_second() -> None:
    started = time.monotonic()
    async with Endpoint(data({"a": 1})) as endpoint, Client(policy=ONCE) as client:
        port = port_of(endpoint.url)
        with deaf_host("127.0.0.2", port), asking(Resolver("127.0.0.2", "127.0.0.1")):
            assert await post(client, RequestTarget(f"http://api.example:{port}/v1")) == {"a": 1}
    assert 0.2 < time.monotonic() - started < 5


async def test_the_time_limit_of_connecting_is_one_for_all_addresses() -> None:
    async with Endpoint(data({})) as endpoint, Client(policy=ONCE) as client:
        port = port_of(endpoint.url)
        target = RequestTarget(f"http://api.example:{port}/v1", terms=RequestTerms(connect_seconds=0.4))
        with (
            deaf_host("127.0.0.2", port),
            deaf_host("127.0.0.4", port),
            asking(Resolver("127.0.0.2", "127.0.0.4")),
            pytest.raises(ProviderFailed, match="it took too long") as raised,
        ):
            await post(client, target)
    assert raised.value.kind == "connect"


async def test_where_no_address_answers_all_are_named() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    async with Client(policy=ONCE) as client:
        with asking(Resolver("127.0.0.1", "127.0.0.2")), pytest.raises(ProviderFailed) as raised:
            await post(client, RequestTarget(f"http://api.example:{port}/v1"))
    assert raised.value.kind == "connect"
    assert "('127.0.0.1'" in str(raised.value)
    assert "('127.0.0.2'" in str(raised.value)


async def test_an_address_of_ip_version_6_is_reached_and_named_in_brackets() -> None:
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        writer.close()

    server = await asyncio.start_server(serve, "::1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, Client(policy=ONCE) as client:
        assert await post(client, RequestTarget(f"http://[::1]:{port}/v1")) == {}
    assert f"Host: [::1]:{port}\r\n".encode() in heads[0]


@pytest.mark.usefixtures("_trusted")
@pytest.mark.parametrize("proxy_tls", [False, True])
async def test_a_secure_endpoint_is_reached_through_a_tunnel(*, proxy_tls: bool) -> None:
    async with (
        Endpoint(data({"a": 1}), tls=server_tls()) as endpoint,
        Proxy(port_of(endpoint.url), tls=server_tls() if proxy_tls else None) as proxy,
        Client(policy=ONCE) as client,
    ):
        target = through(proxy, RequestTarget("https://localhost/v1"))
        assert [await post(client, target) for _ in range(3)] == [{"a": 1}] * 3
    assert len(proxy.asked) == endpoint.connections == 1, "a tunnel is kept as any connection"
    assert proxy.asked[0].startswith("CONNECT localhost:443 HTTP/1.1\r\nHost: localhost:443\r\n")
    assert "Proxy-Authorization: Basic bWU6c2UgY3JldA==\r\n" in proxy.asked[0]
    assert "proxy-authorization" not in endpoint.requests[0].headers, "what is meant for the proxy stays there"


@pytest.mark.usefixtures("_trusted")
async def test_the_name_of_the_endpoint_is_checked_through_a_tunnel_too() -> None:
    async with (
        Endpoint(data({}), tls=server_tls()) as endpoint,
        Proxy(port_of(endpoint.url)) as proxy,
        Client(policy=ONCE) as client,
    ):
        with pytest.raises(ProviderFailed, match=r"no secure connection.*api\.example") as raised:
            await post(client, through(proxy, RequestTarget("https://api.example/v1")))
    assert raised.value.kind == "tls"
    assert not endpoint.requests


@pytest.mark.parametrize(
    ("proxy", "said"),
    [
        (Proxy(status=502), "the proxy answered with status 502"),
        (Proxy(says=b"220 smtp.example ESMTP\r\n"), "the proxy made no tunnel: Expected HTTP/"),
        (Proxy(says=b"HTTP/1.1 200 OK\r\n", closes=True), "the proxy made no tunnel: the head of the reply breaks off"),
        (Proxy(says=b"", closes=True), "the proxy made no tunnel: it sent no reply"),
        (Proxy(says=b""), "it took too long"),
    ],
)
async def test_a_proxy_that_makes_no_tunnel_is_said(proxy: Proxy, said: str) -> None:
    terms = RequestTerms(connect_seconds=0.2 if said == "it took too long" else 60.0)
    async with proxy, Client(policy=ONCE) as client:
        with pytest.raises(ProviderFailed, match=said) as raised:
            await post(client, through(proxy, RequestTarget("https://api.example/v1", terms=terms)))
    assert raised.value.kind == "connect", "the endpoint was not reached, and bills nothing"
    assert client.allowance.sent == 0


async def test_a_proxy_that_wants_another_password_stops_the_run() -> None:
    async with Proxy(status=407) as proxy, Client(policy=ONCE) as client:
        with pytest.raises(EndpointRefused, match=r"The proxy on the way .*user and password are missing or wrong"):
            await post(client, through(proxy, RequestTarget("https://api.example/v1")))


async def test_no_request_goes_around_a_proxy_that_is_not_there() -> None:
    async with Endpoint(data({})) as endpoint, Client(policy=ONCE) as client:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            nobody = f"http://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(ProviderFailed):
            await post(client, through(nobody, RequestTarget(endpoint.url)))
    assert not endpoint.requests


@pytest.mark.usefixtures("_trusted")
async def test_a_client_certificate_is_shown_to_who_asks_for_it() -> None:
    async with (
        Endpoint(data({"a": 1}), tls=server_tls(asks_for_certificate=True)) as endpoint,
        Client(policy=ONCE) as client,
    ):
        assert await post(client, RequestTarget(endpoint.url, certificate=str(CERTIFICATE))) == {"a": 1}
        with pytest.raises(ProviderFailed) as raised:
            await post(client, RequestTarget(endpoint.url))
    assert raised.value.kind in ("tls", "reset")
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("name", ["missing.pem", "broken.pem"])
async def test_a_client_certificate_that_cannot_be_used_is_said(name: str, tmp_path: Path) -> None:
    (tmp_path / "broken.pem").write_text("no certificate")
    async with Endpoint(data({}), tls=server_tls()) as endpoint, Client(policy=ONCE) as client:
        with pytest.raises(BadInput, match=f"client certificate .*{name} cannot be used"):
            await post(client, RequestTarget(endpoint.url, certificate=str(tmp_path / name)))


@pytest.mark.usefixtures("_trusted")
async def test_a_secure_connection_is_kept() -> None:
    async with Endpoint(data({"a": 1}), tls=server_tls()) as endpoint, Client(policy=ONCE) as client:
        target = RequestTarget(endpoint.url)
        for _ in range(5):
            assert await post(client, target) == {"a": 1}
            await asyncio.sleep(0.01)
    assert endpoint.connections == 1


async def test_a_handshake_without_end_ends_with_the_time_for_connecting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as deaf:  # the system connects, and nobody is there
        url = f"https://127.0.0.1:{deaf.getsockname()[1]}"
        async with Client(policy=ONCE) as client:
            with pytest.raises(ProviderFailed, match="it took too long") as raised:
                await post(client, RequestTarget(url, terms=RequestTerms(connect_seconds=0.2)))
    assert raised.value.kind == "connect"


@pytest.mark.usefixtures("_trusted")
async def test_a_model_takes_a_client_certificate_as_an_option() -> None:
    async with Endpoint(chat(), tls=server_tls(asks_for_certificate=True)) as endpoint, Client(policy=ONCE):
        options = {"base_url": endpoint.url, "client_certificate": str(CERTIFICATE)}
        step = await make("m", options).complete([Message.of("user", "Hello")])
    assert step.message.text == "Paris"
