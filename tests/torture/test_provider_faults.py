"""A model's endpoint that fails in every way we know: what passes is retried, what stays is no zero, nothing is lost."""

import asyncio
import gzip
import json
import sys
import time
from contextlib import closing
from typing import NamedTuple

import pytest
from endpoint import Answer, Request, body, cut, data, drip, never, raw
from stage import RUN, Model, Stage, answer_to, asked_in, assert_said_in_every_report, assert_sound, served

import proctor

MEGABYTE = b"x" * 1_000_000
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
ERROR_PAGE = b"<html><title>Bad gateway</title><body>\x1b[31mtry later</body></html>"


class Fault(NamedTuple):
    """A row: what the endpoint does, as which kind it is recorded, and a word of the message."""

    name: str
    answer: Answer
    kind: str
    said: str
    timeout: float = 20.0


def status(number: int, said: str = "") -> Fault:
    return Fault(
        f"status {number}",
        data({"error": {"message": "out of order"}}, number, retry_after="0.02"),
        f"http_{number}",
        said or "out of order",
    )


async def gives_nothing(request: Request, writer: asyncio.StreamWriter) -> None:
    """No content, which is a good status all the same."""
    writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
    await writer.drain()


async def sends_more_than_it_says(request: Request, writer: asyncio.StreamWriter) -> None:
    """A body of which only the beginning counts; the rest must not begin another reply."""
    writer.write(HEAD + b"content-length: 9\r\n\r\n" + said(1))
    await writer.drain()


async def floods(request: Request, writer: asyncio.StreamWriter) -> None:
    """An error of 50 MB."""
    writer.write(b"HTTP/1.1 500 X\r\ncontent-length: 50000000\r\n\r\n")
    for _ in range(50):
        writer.write(MEGABYTE)
        await writer.drain()


RETRIED = [
    Fault("connection reset before the reply", raw(b""), "reset", "closed the connection"),
    Fault("connection closed within the head", raw(b"HTTP/1.1 200 OK\r\ncontent-"), "reset", "closed the connection"),
    Fault("body shorter than its length", cut(), "truncated", "closed the connection"),
    Fault("body longer than its length", sends_more_than_it_says, "not_http", "does not speak HTTP"),
    Fault("chunked body without its end", raw(HEAD + b"transfer-encoding: chunked\r\n\r\n5\r\n{\"cho\r\n"), "truncated", "closed the connection"),
    Fault("compressed body that is none", body(b"no gzip", content_encoding="gzip"), "truncated", "closed the connection"),
    Fault("invalid JSON", body(b'{"choices": [{]}'), "not_json", "no JSON"),
    Fault("JSON nested 100,000 deep", body(b"[" * 100_000), "not_json", "no JSON"),
    Fault("empty body", body(b""), "not_json", "an empty body"),
    Fault("status 204", gives_nothing, "not_json", "an empty body"),
    Fault("JSON without choices", data({"choices": []}), "no_reply", "without choices"),
    Fault("error within a reply of status 200", data({"error": {"code": 503, "message": "overloaded"}}), "http_503", "overloaded"),
    Fault("HTML page with status 200", body(ERROR_PAGE, content_type="text/html"), "not_json", "a web page"),
    Fault("HTML page with status 502", body(ERROR_PAGE, 502, content_type="text/html"), "http_502", "Bad gateway"),
    Fault("server that speaks another protocol", raw(b"SSH-2.0-OpenSSH_9.2\r\n"), "not_http", "does not speak HTTP"),
    Fault("header of a megabyte", raw(HEAD + b"x-long: " + MEGABYTE + b"\r\n\r\n"), "not_http", "does not speak HTTP"),
    *map(status, (408, 409, 425, 429, 500, 502, 503, 504, 529)),
    Fault("error page of 50 MB", floods, "http_500", "500"),
    Fault("server that accepts and never answers", never, "timeout", "did not answer in time", timeout=0.5),
    Fault("reply at a byte a second", drip((b"%c" % byte for byte in b'{"choices": []}' * 9), every=1.0), "timeout", "did not answer in time", timeout=1.3),
]  # fmt: skip


def row(fault: Fault, expected: str) -> object:
    mark = pytest.mark.fault(fault.name, "a local server", expected)
    return pytest.param(fault, marks=mark, id=fault.name.replace(" ", "-"))


def passing(stage: Stage) -> set[int]:
    """Samples that come through when they are sent again; none of them is the first, which is the probe."""
    return {n for n in range(1, stage.samples) if n % 20 in (3, 8)}


def lasting(stage: Stage) -> set[int]:
    """Samples that do not, as long as the fault is there."""
    return {n for n in range(1, stage.samples) if n % 20 in (5, 11, 17)}


@pytest.mark.parametrize(
    "fault", [row(one, "retried; then provider_failed, exit 3, and run again when asked for") for one in RETRIED]
)
def test_what_may_pass_is_retried_and_recorded_when_it_stays(stage: Stage, fault: Fault, long: bool) -> None:
    stays, passes = lasting(stage), passing(stage)
    model = Model(fault.answer, lambda n, time: n in stays or (n in passes and time == 1))
    with served(model) as endpoint:
        broken = stage.run(stage.model(endpoint.url, retries=1, timeout=fault.timeout))
        assert broken.code == 3, broken.error
        assert broken.summary["outcomes"] == {"scored": stage.samples - len(stays), "provider_failed": len(stays)}
        assert_sound(stage, dict.fromkeys(stays, "provider_failed"))
        assert_told(stage, fault, stays, passes)
        if long or fault is RETRIED[0]:
            assert_said_in_every_report(stage, "inconclusive")
        calls = stage.samples + len(passes) + len(stays)
        assert model.asked.total() == len(endpoint.requests) == calls
        model.fault = None
        well = stage.run(stage.go_on("--retry-failed"))
    assert well.code == 0, well.error
    assert_sound(stage)
    assert model.asked.total() == calls + len(stays)


@pytest.mark.fault(
    "failures within --max-failed", "a local server", "exit 0; they widen floor and ceiling all the same"
)
def test_a_share_of_failures_that_is_allowed_ends_well(stage: Stage) -> None:
    stays = lasting(stage)
    with served(Model(data({"error": "broken"}, 500), lambda n, time: n in stays)) as endpoint:
        done = stage.run(stage.model(endpoint.url, "--max-failed", "0.2", retries=0))
    assert done.code == 0, done.error
    assert_sound(stage, dict.fromkeys(stays, "provider_failed"))


REFUSING_ONE = [status(400), status(413), status(422)]


@pytest.mark.parametrize(
    "fault", [row(one, "not retried; provider_failed, exit 3, and run again when asked for") for one in REFUSING_ONE]
)
def test_a_request_that_is_not_accepted_is_sent_once(stage: Stage, fault: Fault) -> None:
    stays = lasting(stage)
    model = Model(fault.answer, lambda n, time: n in stays)
    with served(model) as endpoint:
        broken = stage.run(stage.model(endpoint.url))
        assert broken.code == 3, broken.error
        assert_sound(stage, dict.fromkeys(stays, "provider_failed"))
        assert_told(stage, fault, stays, set(), requests=1)
        assert set(model.asked.values()) == {1}
        model.fault = None
        assert stage.run(stage.go_on("--retry-failed")).code == 0
    assert_sound(stage)
    assert {n for n, times in model.asked.items() if times == 2} == stays


STOPPING = [
    status(401, "refuses the key"),
    status(402, "wants to be paid"),
    status(403, "refuses the key"),
    status(404, "does not know this address or model"),
    Fault("quota used up (429)", data({"error": {"message": "no money", "code": "insufficient_quota"}}, 429), "http_429", "quota"),
    Fault("redirect loop", body(b"", 302, location="/v1/chat/completions"), "http_302", "redirects to /v1/chat/completions"),
]  # fmt: skip


@pytest.mark.parametrize(
    "fault", [row(one, "exit 2 after what was in flight; goes on where it was") for one in STOPPING]
)
def test_a_refusal_on_the_way_stops_the_run_which_goes_on_later(stage: Stage, fault: Fault) -> None:
    model = Model(fault.answer, lambda n, time: n >= stage.samples // 2)
    with served(model) as endpoint:
        broken = stage.run(stage.model(endpoint.url, "--concurrency", "4"))
        assert broken.code == 2
        assert fault.said in broken.error
        assert "proctor run --run r" in broken.error
        assert "sk-secret" not in broken.error
        assert set(model.asked.values()) == {1}
        assert model.asked.total() < stage.samples // 2 + 4 + 1
        done = scored(stage)
        assert_sound(stage, dict.fromkeys(set(range(stage.samples)) - done, ""))
        model.fault = None
        assert stage.run(stage.go_on()).code == 0
    assert_sound(stage)
    assert {n for n, times in model.asked.items() if times > 1} & done == set()


@pytest.mark.parametrize(
    "fault", [row(one._replace(name=f"{one.name} at the first sample"), "exit 2 after one request") for one in STOPPING]
)
def test_a_refusal_of_the_first_sample_is_one_request_and_no_run(stage: Stage, fault: Fault) -> None:
    model = Model(fault.answer)
    with served(model) as endpoint:
        broken = stage.run(stage.model(endpoint.url))
    assert (broken.code, broken.out, model.asked.total()) == (2, "", 1)
    assert fault.said in broken.error
    assert stage.run(["runs"]).out == ""


def said(n: int) -> bytes:
    return json.dumps({"choices": [{"message": {"content": answer_to(n)}, "finish_reason": "stop"}]}).encode()


def dressed(change: bytes, **headers: str) -> Answer:
    """A right answer in another dress: `change` is how its bytes are made of UTF-8."""

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        content = said(asked_in(request.body))
        match change:
            case b"gzip":
                content = gzip.compress(content)
            case b"bom":
                content = b"\xef\xbb\xbf" + content
            case b"surrogate":
                content = content.replace(b'"finish_reason"', b'"x": "\\ud800", "y": NaN, "finish_reason"')
            case b"utf-16":
                content = content.decode().encode("utf-16")
        await body(content, 200, 0.0, **headers)(request, writer)

    return answer


async def closes_at_once(request: Request, writer: asyncio.StreamWriter) -> None:
    """A good reply, after which the connection is closed without a word: the next request may meet that."""
    await body(said(asked_in(request.body)))(request, writer)
    writer.close()


async def says_something_more(request: Request, writer: asyncio.StreamWriter) -> None:
    """A good reply, and behind it another one that nobody asked for: it must not answer the next request."""
    replies = (said(asked_in(request.body)), said(1))
    writer.write(b"".join(HEAD + b"content-length: %d\r\n\r\n%b" % (len(reply), reply) for reply in replies))
    await writer.drain()


HARMLESS = [
    Fault("wrong content type", dressed(b"", content_type="image/png"), "", ""),
    Fault("no content type", dressed(b"", content_type=""), "", ""),
    Fault("charset that nobody knows", dressed(b"", content_type="application/json; charset=klingon"), "", ""),
    Fault("another charset (UTF-16)", dressed(b"utf-16", content_type="application/json; charset=utf-16"), "", ""),
    Fault("byte order mark", dressed(b"bom"), "", ""),
    Fault("half a character and NaN in the reply", dressed(b"surrogate"), "", ""),
    Fault("compressed reply", dressed(b"gzip", content_encoding="gzip"), "", ""),
    Fault("keep-alive connection closed after each reply", closes_at_once, "", ""),
    Fault("second reply that nobody asked for", says_something_more, "", ""),
]


@pytest.mark.parametrize("fault", [row(one, "scored as if nothing were wrong") for one in HARMLESS])
def test_what_can_be_read_is_read_and_no_answer_goes_to_another_sample(stage: Stage, fault: Fault) -> None:
    model = Model(fault.answer)
    with served(model) as endpoint:
        done = stage.run(stage.model(endpoint.url, "--concurrency", "4"))
    assert done.code == 0, done.error
    assert_sound(stage)


async def sends_too_much(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(HEAD + b"content-length: 50000000\r\n\r\n")
    for _ in range(50):
        writer.write(MEGABYTE)
        await writer.drain()


async def sends_a_bomb(request: Request, writer: asyncio.StreamWriter) -> None:
    await body(gzip.compress(b" " * 50_000_000), content_encoding="gzip")(request, writer)


TOO_LARGE = [
    Fault("reply of 50 MB", sends_too_much, "too_large", "above the limit"),
    Fault("compressed reply of 50 MB", sends_a_bomb, "too_large", "above the limit"),
]


@pytest.mark.parametrize("fault", [row(one, "retried, then provider_failed, exit 3") for one in TOO_LARGE])
def test_a_reply_above_the_limit_is_the_endpoints_failure(stage: Stage, fault: Fault) -> None:
    stays = {n for n in range(1, stage.samples) if n % 10 == 7}
    model = Model(fault.answer, lambda n, time: n in stays)
    with served(model) as endpoint:
        done = stage.run(stage.model(endpoint.url, "--concurrency", "2", retries=1))
    assert done.code == 3, done.error
    assert_sound(stage, dict.fromkeys(stays, "provider_failed"))
    assert_told(stage, fault, stays, set())
    assert all(times == (2 if n in stays else 1) for n, times in model.asked.items())


DAY = [
    Fault("wait of a day asked for (429)", data({"error": "come back tomorrow"}, 429, retry_after="86400"), "http_429", "tomorrow"),
    Fault("wait of a day asked for by a date (503)", data({"error": "come back tomorrow"}, 503, retry_after="Fri, 01 Jan 2100 00:00:00 GMT"), "http_503", "tomorrow"),
]  # fmt: skip


@pytest.mark.parametrize(
    "fault", [row(one, "provider_failed at once, exit 3, and run again when asked for") for one in DAY]
)
def test_a_wait_that_is_too_long_is_not_waited_for(stage: Stage, fault: Fault) -> None:
    stage.samples = 60
    model = Model(fault.answer, lambda n, time: n >= 20)
    started = time.monotonic()
    with served(model) as endpoint:
        broken = stage.run(stage.model(endpoint.url))
        assert broken.code == 3, broken.error
        assert_sound(stage, dict.fromkeys(range(20, 60), "provider_failed"))
        model.fault = None
        assert stage.run(stage.go_on("--retry-failed")).code == 0
    assert_sound(stage)
    assert time.monotonic() - started < 120, "a day was asked for"


@pytest.mark.fault("quota said to be used up for a day", "headers of a good reply", "all scored, nothing waited for")
def test_a_quota_that_is_used_up_for_a_day_holds_up_nothing(stage: Stage) -> None:
    async def warns(request: Request, writer: asyncio.StreamWriter) -> None:
        headers = {"x_ratelimit_remaining_requests": "0", "x_ratelimit_reset_requests": "24h"}
        await body(said(asked_in(request.body)), 200, 0.0, **headers)(request, writer)

    started = time.monotonic()
    with served(warns) as endpoint:
        done = stage.run(stage.model(endpoint.url))
    assert done.code == 0, done.error
    assert_sound(stage)
    assert time.monotonic() - started < 120, "a day was asked for"


@pytest.mark.skipif(sys.platform == "win32", reason="needs signals and rights as POSIX has them")
@pytest.mark.fault("no file descriptor left", "a limit of 48 open files, and 100 requests at once", "all scored")
def test_too_few_open_files_are_enough(stage: Stage) -> None:
    stage.samples = 200
    model = Model()

    async def slowly(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0.05)
        await model(request, writer)

    with served(slowly) as endpoint:
        done = stage.run_alone(
            stage.model(endpoint.url, "--concurrency", "100"), before=["sh", "-c", 'ulimit -n 48; exec "$@"', "sh"]
        )
    assert done.code == 0, done.error
    assert_sound(stage)


class Reply(NamedTuple):
    """A row: what the model sends, and how its answer is recorded to have stopped."""

    name: str
    answer: Answer
    stop: str


def stopped(reason: str, **message: object) -> Answer:
    reply = {"choices": [{"message": {"role": "assistant", "content": "1", **message}, "finish_reason": reason}]}
    return data(reply)


REPLIES = [
    Reply("reply cut at the length limit", stopped("length"), "length"),
    Reply("reply cut by a filter", stopped("content_filter"), "filtered"),
    Reply(
        "prompt refused by a filter (400)",
        data({"error": {"message": "no", "code": "content_filter"}}, 400),
        "filtered",
    ),
    Reply("refusal", stopped("stop", content=None, refusal="I cannot help with that."), "refused"),
    Reply("empty reply", stopped("stop", content=""), "empty"),
    Reply("reply that is only thought", stopped("stop", content="<think>hm</think>"), "empty"),
]


@pytest.mark.parametrize(
    "reply",
    [
        pytest.param(
            one,
            marks=pytest.mark.fault(one.name, "a local server", f"scored, not retried, stop={one.stop}"),
            id=one.stop,
        )
        for one in REPLIES
    ],
)
def test_a_poor_reply_is_its_own_class_and_is_scored_once(stage: Stage, reply: Reply) -> None:
    poor = {n for n in range(2, stage.samples) if n % 10 == 7}
    model = Model(reply.answer, lambda n, time: n in poor)
    with served(model) as endpoint:
        done = stage.run(stage.model(endpoint.url))
    assert done.code == 0, done.error
    assert_sound(stage, values=dict.fromkeys(poor, 0.0))
    assert stops(stage) == {n: reply.stop if n in poor else "done" for n in range(stage.samples)}
    assert set(model.asked.values()) == {1}


def assert_told(stage: Stage, fault: Fault, stays: set[int], passes: set[int], *, requests: int = 2) -> None:
    """Each trial says what happened to its requests, and the message names it without control codes."""
    with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
        for trial in store.trials(RUN):
            number = int(trial.sample_id[1:])
            kinds = [call.cause.partition(":")[0] for call in trial.retries]
            assert kinds == [fault.kind] * (requests if number in stays else 1 if number in passes else 0)
            if number in stays:
                assert trial.failure is not None
                assert trial.failure.kind == fault.kind
                assert fault.said in str(trial.failure.reason)
                assert "\x1b" not in str(trial.failure.reason)


def scored(stage: Stage) -> set[int]:
    with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
        return {int(id[1:]) for id, _ in store.finished(RUN)}


def stops(stage: Stage) -> dict[int, str]:
    with closing(proctor.open_run(RUN, store=str(stage.store)).store) as store:
        return {int(trial.sample_id[1:]): trial.trajectory.stop for trial in store.trials(RUN)}
