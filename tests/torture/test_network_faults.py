"""No way to the endpoint, at the start and on the way, a handshake that breaks off, an outage, and a clock that jumps."""

import asyncio
import socket
import ssl
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from endpoint import Answer, Endpoint, Request, body, chat, data
from stage import RUN, Model, Stage, answer_to, asked_in, assert_sound, ended, served, wait_until

import proctor

CERTIFICATE = Path(__file__).parents[1] / "data" / "localhost.pem"
QUICK = ("--agent-set", "retries=0", "--agent-set", "connect_timeout=0.5")
LOGIN_PAGE = body(b"<html><title>Sign in to the guest network</title></html>", content_type="text/html")


class NoWay(NamedTuple):
    """A row: an address that cannot work, and a word of the message. `answer` is of the server behind `port`."""

    name: str
    address: str
    said: str
    answer: Answer | None = None


NO_WAY = [
    NoWay("connection refused", "http://127.0.0.1:{closed}/v1", "no connection to 127.0.0.1"),
    NoWay("name that DNS does not know", "http://no-such-host.invalid/v1", "(DNS)"),
    NoWay("certificate that nobody vouches for", "https://localhost:{tls}/v1", "no secure connection"),
    NoWay("server without TLS behind https", "https://localhost:{rubbish}/v1", "no secure connection"),
    NoWay("server that never ends the TLS handshake", "https://localhost:{port}/v1", "it took too long"),
]
IN_THE_WAY = [
    NoWay("login page of a network instead of the API", "http://127.0.0.1:{port}/v1", "a web page", answer=LOGIN_PAGE),
]


def row(fault: NoWay, expected: str) -> object:
    return pytest.param(
        fault, marks=pytest.mark.fault(fault.name, "a real socket", expected), id=fault.name.replace(" ", "-")
    )


@contextmanager
def at_the_end_of(fault: NoWay) -> Iterator[str]:
    """The address, with what is behind it."""
    answer = fault.answer or chat()
    with (
        socket.socket() as closed,
        served(answer) as endpoint,
        served(answer, tls=server_tls()) as secure,
        gate(0, range(1000)) as (rubbish, _),
    ):
        closed.bind(("127.0.0.1", 0))
        ports = {"closed": closed.getsockname()[1], "port": port_of(endpoint), "tls": port_of(secure)}
        yield fault.address.format(rubbish=rubbish, **ports)


def port_of(endpoint: Endpoint) -> int:
    return int(endpoint.url.rpartition(":")[2])


def server_tls() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(CERTIFICATE)
    return context


@pytest.mark.parametrize(
    "fault",
    [row(one, "at the first sample: exit 2, no other tried; goes on when mended") for one in [*NO_WAY, *IN_THE_WAY]],
)
def test_what_would_meet_all_samples_is_said_at_the_first(
    stage: Stage, fault: NoWay, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = stage.command("openai:some-model", *QUICK)
    with at_the_end_of(fault) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        broken = stage.run(command)
    assert (broken.code, broken.out) == (2, "")
    assert fault.said in broken.error
    assert "no other was tried" in broken.error
    model = Model()
    with served(model) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint.url}/v1")
        mended = stage.run([*command, "--retry-failed"])
    assert mended.code == 0, mended.error
    assert_sound(stage)
    assert set(model.asked.values()) == {1}


@pytest.mark.parametrize(
    "fault",
    [
        row(one._replace(name=f"{one.name}, on the way"), "exit 2, what is done is kept; goes on when mended")
        for one in NO_WAY
    ],
)
def test_a_way_that_is_lost_later_loses_nothing(stage: Stage, fault: NoWay, monkeypatch: pytest.MonkeyPatch) -> None:
    command = stage.command("openai:some-model", *QUICK, "--concurrency", "1")
    half = stage.samples // 2
    model = Model(data({"error": "expired"}, 401), lambda n, time: n == half)
    with served(model) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint.url}/v1")
        assert stage.run(command).code == 2
    with at_the_end_of(fault) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", address)
        broken = stage.run(stage.go_on())
    assert broken.code == 2
    assert fault.said in broken.error
    assert f"proctor run --run {RUN}" in broken.error
    assert_sound(stage, {half: "provider_failed"} | dict.fromkeys(range(half + 1, stage.samples), ""))
    model.fault = None
    with served(model) as endpoint:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{endpoint.url}/v1")
        mended = stage.run(stage.go_on("--retry-failed"))
    assert mended.code == 0, mended.error
    assert_sound(stage)
    assert all(times == 1 for n, times in model.asked.items() if n != half)


@contextmanager
def gate(to: int, broken: range) -> Iterator[tuple[int, list[int]]]:
    """A port that passes connections on, except that those with these numbers get rubbish in the middle of a handshake."""
    opened: list[int] = []
    loop = asyncio.new_event_loop()

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while piece := await reader.read(1 << 16):
                writer.write(piece)
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            writer.close()

    async def pass_on(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        opened.append(len(opened))
        if opened[-1] in broken:
            await reader.read(64)
            writer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            writer.close()
            return
        back, forth = await asyncio.open_connection("127.0.0.1", to)
        await asyncio.gather(pipe(reader, forth), pipe(back, writer))

    server = loop.run_until_complete(asyncio.start_server(pass_on, "127.0.0.1", 0))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    try:
        yield server.sockets[0].getsockname()[1], opened
    finally:
        loop.call_soon_threadsafe(server.close)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        for task in asyncio.all_tasks(loop):
            task.cancel()
        loop.run_until_complete(asyncio.sleep(0.01))
        loop.close()


async def last_one_on_its_connection(request: Request, writer: asyncio.StreamWriter) -> None:
    message = {"role": "assistant", "content": answer_to(asked_in(request.body))}
    reply = {"choices": [{"message": message, "finish_reason": "stop"}]}
    await data(reply, connection="close")(request, writer)
    writer.close()


@pytest.mark.fault("TLS handshake that breaks off", "a gate before a TLS server", "retried, all scored")
def test_a_handshake_that_breaks_off_is_tried_again(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(CERTIFICATE))
    broken = range(3, stage.samples // 2, 3)
    with (
        served(last_one_on_its_connection, tls=server_tls()) as endpoint,
        gate(port_of(endpoint), broken) as (port, opened),
    ):
        done = stage.run(stage.model(f"https://localhost:{port}"))
    assert done.code == 0, done.error
    assert_sound(stage)
    assert len(opened) == stage.samples + len(broken)
    assert set(causes(stage)) <= {"tls", "reset"}
    assert len(causes(stage)) == len(broken)


@pytest.mark.fault(
    "server that goes away and comes back",
    "closing its port in the middle of a run",
    "provider_failed, exit 3; run again when asked for",
)
def test_an_outage_fails_what_it_met_and_loses_nothing(stage: Stage) -> None:
    stage.samples = max(stage.samples, 60)
    slow = Model()

    async def slowly(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.02)
        await slow(request, writer)

    with served(slowly) as endpoint:
        port = port_of(endpoint)
        process = stage.start(stage.model(endpoint.url, "--concurrency", "8", retries=0))
        wait_until(lambda: slow.asked.total() >= 10)
    broken = ended(process)
    assert broken.code == 3, broken.error
    assert set(causes(stage)) <= {"connect", "reset"}
    lost = failed(stage)
    assert len(lost) > stage.samples // 2
    assert_sound(stage, dict.fromkeys(lost, "provider_failed"))
    with served(slow, port=port):
        well = stage.run(stage.go_on("--retry-failed"))
    assert well.code == 0, well.error
    assert_sound(stage)
    assert {n for n, times in slow.asked.items() if times > 1} <= lost


JUMPING = """
import itertools, time
from questions import questions

real, jumps = time.time, itertools.cycle([0, 10**9, -(10**9), 3600, -3600])
time.time = lambda: real() + next(jumps)
"""


@pytest.mark.fault(
    "clock that jumps by years", "time.time of the process", "all scored, lengths of time stay right, waits are obeyed"
)
def test_a_clock_that_jumps_moves_no_limit_and_no_number(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(time, "time", time.time)  # put right at the end: `show` reads the task file in this process
    stage.script("jumping.py", JUMPING)
    wait = data(
        {"error": "slow down"}, 429, date="Thu, 01 Jan 1998 00:00:00 GMT", retry_after="Thu, 01 Jan 1998 00:00:01 GMT"
    )
    model = Model(wait, lambda n, time: n == 4 and time == 1)
    with served(model) as endpoint:
        command = stage.command(
            "openai:some-model",
            "--base-url",
            f"{endpoint.url}/v1",
            "--set",
            f"count={stage.samples}",
            task="./jumping.py:questions",
        )
        done = stage.run_alone(command)
    assert done.code == 0, done.error
    assert_sound(stage)
    assert model.asked.total() == stage.samples + 1
    assert 1 <= done.summary["seconds"] < 60
    with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
        assert all(0 <= trial.seconds < 60 for trial in store.trials(RUN))
        assert [call.waited_seconds for trial in store.trials(RUN) for call in trial.retries] == [
            pytest.approx(1.05, abs=0.06)
        ]
    assert stage.run(["show", RUN]).code == stage.run(["runs"]).code == 0


def causes(stage: Stage) -> list[str]:
    with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
        return [call.cause.partition(":")[0] for trial in store.trials(RUN) for call in trial.retries]


def failed(stage: Stage) -> set[int]:
    with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
        return {int(trial.sample_id[1:]) for trial in store.trials(RUN, outcome="provider_failed")}
