"""The one way to call a model or an agent over HTTP: one pool, one pace and one retry policy for a run.

    async with Client(concurrency=8):      # is `current` for everything called inside
        ...

A call that succeeds costs as little as possible: the parts of a request that do not change are
made once, in a `Target`. Proxies come from the environment (HTTP_PROXY, HTTPS_PROXY, NO_PROXY), as do certificate
authorities (SSL_CERT_FILE, SSL_CERT_DIR). Redirects are not followed: a key goes where it was meant to go.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import aclosing, suppress
from functools import partial
from itertools import count
from typing import Protocol, Self, TypeVar
from weakref import WeakKeyDictionary

import msgspec
from msgspec.structs import replace

from proctor.core.around import around
from proctor.core.trial import FailedRequest
from proctor.transport.allowance import Allowance
from proctor.transport.deadline import alarms
from proctor.transport.events import Splitter, are_events
from proctor.transport.faults import (
    NEVER_CONNECTED,
    NEVER_WORKED,
    RequestFault,
    fault_of,
    fault_of_status,
    final_error,
    not_json,
    shown,
    without_traces,
)
from proctor.transport.headers import REMAINING_AND_RESET, used_up_seconds
from proctor.transport.pace import Endpoint, PaceBounds
from proctor.transport.pool import ConnectionPool
from proctor.transport.redact import HIDDEN
from proctor.transport.repair import repaired
from proctor.transport.retry import RetryPolicy, Wait, clock_stopped, keep
from proctor.transport.target import RequestTarget
from proctor.transport.wire import HttpReply, Sender

KEEP_ALIVE_SECONDS = 4.0  # below the 5 seconds after which common servers close, so that we rarely meet a closed one
MOST_REPLY_BYTES = 32_000_000
MOST_REQUEST_BYTES = 64_000_000
MOST_ERROR_BYTES = 64_000
REST_SECONDS = 0.05  # for what may follow the end of a stream, so that its connection can be used again
_LIMITS = tuple(remaining for remaining, _ in REMAINING_AND_RESET)

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)
Receive = Callable[[HttpReply], Awaitable[T]]


class Fold(Protocol[T_co]):
    """Takes the events of a stream one by one, and makes a reply of them.

    `add` is true at the last event, `whole` gets a body that is no stream (the server ignored the request for one),
    `done` raises `Fault` when the end is missing.
    """

    def add(self, data: bytes) -> bool: ...

    def whole(self, body: bytes) -> None: ...

    def done(self) -> T_co: ...


class Client:
    """One pool of connections with the pace of every endpoint; open inside `async with`, and then the `current` one.

    Args:
        concurrency: requests in flight at each endpoint, from the start; None adapts to the endpoint.
        policy: how often to send again.
        allowance: how many requests may be sent.
    """

    def __init__(
        self,
        *,
        concurrency: int | None = None,
        policy: RetryPolicy = RetryPolicy(),  # noqa: B008 - frozen
        allowance: Allowance | None = None,
        most_reply_bytes: int = MOST_REPLY_BYTES,
        most_request_bytes: int = MOST_REQUEST_BYTES,
    ) -> None:
        self.concurrency = concurrency
        self.policy = policy
        self.allowance = allowance or Allowance()
        self.most_reply_bytes = most_reply_bytes
        self.most_request_bytes = most_request_bytes
        self._pool: ConnectionPool | None = None
        self._senders: WeakKeyDictionary[RequestTarget, Sender] = WeakKeyDictionary()
        self._endpoints: dict[str, Endpoint] = {}
        self._waits: dict[int, Wait] = {}
        self._numbers = count(1)
        self._outer: Client | None = None

    @staticmethod
    def current() -> "Client | None":
        """Return the client that is open around the code under way."""
        client: Client | None = around.get().client
        return client

    async def __aenter__(self) -> Self:
        self._outer = around.get().client
        around.set(replace(around.get(), client=self))
        return self

    async def __aexit__(self, *_: object) -> None:
        around.set(replace(around.get(), client=self._outer))
        await self.aclose()

    async def aclose(self) -> None:
        for endpoint in self._endpoints.values():
            endpoint.close()
        self._senders.clear()
        if self._pool is not None:
            await self._pool.aclose()
            self._pool = None

    def endpoint(self, target: RequestTarget) -> Endpoint:
        """Return the pace of a target's address; targets with the same scheme, host and port share it."""
        found = self._endpoints.get(target.key)
        if found is None:
            found = self._endpoints[target.key] = self.endpoint_at(target.key.partition(" ")[0], target.terms.bounds)
        return found

    def endpoint_at(self, origin: str, bounds: PaceBounds | None = None) -> Endpoint:
        """Return the pace of an address, scheme, host and port, kept to these limits too."""
        endpoint = self._endpoints.get(origin)
        if endpoint is None:
            endpoint = self._endpoints[origin] = Endpoint(self.concurrency)
        if bounds is not None:
            endpoint.bound(bounds)
        return endpoint

    @property
    def places(self) -> int:
        """How many requests may be in flight now, at all endpoints called so far; 0 before the first call."""
        return sum(endpoint.limit for endpoint in set(self._endpoints.values()))

    def post(
        self,
        target: RequestTarget,
        body: bytes | None,
        decode: Callable[[bytes], T],
        *,
        look: Callable[[], Awaitable[T | None]] | None = None,
    ) -> Coroutine[object, object, T]:
        """Send a body and decode the reply, again where that can help.

        `decode` raises `msgspec.DecodeError` or `Fault` for a reply that cannot be used. `look` returns what a request made
        whose reply was lost, None if it made nothing: it is asked before such a request is sent again, or has failed.

        Raises:
            Refused: 401, 402, 403, 404, or a quota that is used up.
            BudgetSpent: the allowance does not hold another request.
            ProviderFailed: everything else, after the last attempt; `kind` is that of the last fault.
        """

        async def receive(reply: HttpReply) -> T:
            data = _hidden(await reply.body(self.most_reply_bytes), target.secret_bytes)
            try:
                return decode(data)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
                return _decoded_again(data, reply, decode)

        return self._paced(target, body, partial(self._once, target, body, receive), look)

    def through(
        self, target: RequestTarget, body: bytes, send: Callable[[], Awaitable[bytes]], decode: Callable[[bytes], T]
    ) -> Coroutine[object, object, T]:
        """Have a library send a body, with the pace, the retries and the limits of `post`; `send` raises `Fault`."""

        async def once(_: Endpoint) -> T:
            data = _hidden(await send(), target.secret_bytes)
            if len(data) > self.most_reply_bytes:
                raise RequestFault("too_large", str(self.most_reply_bytes))
            try:
                return decode(data)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise RequestFault("no_reply", shown(str(error))) from error

        return self._paced(target, body, once)

    def waits(self) -> list[Wait]:
        """Return the requests that wait to be sent again; any thread may ask."""
        return list(self._waits.values())

    def begin_wait(self, wait: Wait) -> int:
        """Show that a request waits, until `end_wait` is called with the number that this returns."""
        number = next(self._numbers)
        self._waits[number] = wait
        return number

    def end_wait(self, number: int) -> None:
        """Show a wait no longer."""
        self._waits.pop(number, None)

    def stream(self, target: RequestTarget, body: bytes, fold: Callable[[], Fold[T]]) -> Coroutine[object, object, T]:
        """Send a body and fold the server-sent events that come back; a stream that breaks is begun again."""

        async def receive(reply: HttpReply) -> T:
            folded = fold()
            try:
                await self._fold(reply, folded, target.secret_bytes)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                raise RequestFault("not_json", shown(str(error))) from error
            return folded.done()

        return self._send(target, body, receive)

    def _send(self, target: RequestTarget, body: bytes | None, receive: Receive[T]) -> Coroutine[object, object, T]:
        return self._paced(target, body, partial(self._once, target, body, receive))

    async def _paced(
        self,
        target: RequestTarget,
        body: bytes | None,
        once: Callable[[Endpoint], Awaitable[T]],
        look: Callable[[], Awaitable[T | None]] | None = None,
    ) -> T:
        endpoint = self._endpoints.get(target.key) or self.endpoint(target)
        if body is not None and len(body) > self.most_request_bytes:
            fault = RequestFault("request_too_large", str(self.most_request_bytes), again=False)
            raise final_error(fault, where=target.where, host=target.host, attempts=0, advice="")
        failed = 0
        began = 0.0
        while True:
            if endpoint.in_flight < endpoint.room:
                endpoint.in_flight += 1
            else:
                await endpoint.enter()
            sent = time.monotonic()
            began = began or sent
            try:
                self.allowance.take()
                reply = await once(endpoint)
            except Exception as error:
                fault_or_none = fault_of(error)
                _give_back(endpoint, fault_or_none)
                if fault_or_none is None:
                    raise
                if fault_or_none.kind in NEVER_CONNECTED:
                    self.allowance.give_back()
                without_traces(error)
                fault = fault_or_none
            except BaseException:
                endpoint.leave()
                keep(FailedRequest(cause="cancelled"))  # the time limit of the sample, or the end of the run
                raise
            else:
                endpoint.answered(time.monotonic() - sent)
                return reply
            failed += 1
            if look is not None and fault.may_have_worked and (earlier := await look()) is not None:
                return earlier
            await self._before_the_next(target, endpoint, fault, failed, began=began, sent=sent)

    async def _once(self, target: RequestTarget, body: bytes | None, receive: Receive[T], endpoint: Endpoint) -> T:
        sender = self._senders.get(target) or self._sender(target)
        reply = await sender.send(body)
        try:
            headers = reply.headers
            for name in _LIMITS:
                if name in headers and (wait := used_up_seconds(headers)):
                    endpoint.pause(wait)
                    break
            if 200 <= reply.status < 300:
                return await receive(reply)
            raise fault_of_status(reply.status, headers, await _start_of(reply), target.secrets)
        finally:
            reply.close()

    async def _before_the_next(
        self, target: RequestTarget, endpoint: Endpoint, fault: RequestFault, failed: int, *, began: float, sent: float
    ) -> None:
        """Keep what happened, then wait; or raise the error that ends the call."""
        policy = target.terms.policy or self.policy
        is_likely = endpoint.seen and fault.kind != "too_large"  # each attempt costs as many bytes as we accept
        attempts = policy.attempts if is_likely else min(policy.attempts, policy.attempts_at_first)
        wait = policy.wait(failed, fault.asked)
        now = time.monotonic()
        cause = f"{fault.kind}: {fault.text}" if fault.text else fault.kind
        # Waiting is not the agent's time. Unless the server names a time to come back, it ends when a sample may take no longer.
        limit = around.get().deadline if fault.asked is None else None
        most = policy.budget_seconds if limit is None else min(policy.budget_seconds, limit.seconds)
        is_late = now - began - alarms().paused_since(began) + wait > most
        if not fault.again or failed >= attempts or is_late:
            keep(FailedRequest(cause=cause, status=fault.status))
            raise final_error(
                fault,
                where=target.where,
                host=target.host,
                attempts=failed,
                advice=target.advice,
                too_late=is_late and bool(fault.asked),
            ) from None  # the sentence says it all, and a trace of the library might show a key
        keep(FailedRequest(cause=cause, status=fault.status, waited_seconds=round(wait, 3)))
        number = self.begin_wait(
            Wait(host=target.host, cause=fault.kind, status=fault.status, until=now + wait, asked=fault.asked)
        )
        try:
            with clock_stopped(now - sent):
                await asyncio.sleep(wait)
        finally:
            self.end_wait(number)

    async def _fold(self, reply: HttpReply, fold: Fold[T], secrets: tuple[bytes, ...]) -> None:
        """Give a body to `fold`, as events or whole; the end of the events ends it, even if the server sends no end."""
        splitter, start, are = Splitter(), b"", None
        async with aclosing(reply.pieces(self.most_reply_bytes)) as pieces:
            async for piece in pieces:
                if are is None:
                    start += piece
                    are = are_events(start, reply.content_type)
                    piece = start  # noqa: PLW2901
                if are is False:
                    fold.whole(_hidden(b"".join([piece, *[other async for other in pieces]]), secrets))
                elif are and any(fold.add(_hidden(data, secrets)) for data in splitter.feed(piece)):
                    await reply.drop_rest(REST_SECONDS)
                    return
        if are is None and start.strip():
            fold.whole(_hidden(start, secrets))
        for data in splitter.end():
            fold.add(_hidden(data, secrets))

    def _sender(self, target: RequestTarget) -> Sender:
        if self._pool is None:
            self._pool = ConnectionPool(keep_seconds=KEEP_ALIVE_SECONDS)
        sender = self._senders[target] = Sender(
            self._pool,
            target.method,
            target.url,
            headers=target.headers,
            terms=target.terms,
            proxy=target.proxy,
            certificate=target.certificate,
        )
        return sender


def _hidden(data: bytes, secrets: tuple[bytes, ...]) -> bytes:
    """Return the data without keys, as some endpoints echo what they were sent."""
    for secret in secrets:
        if secret in data:
            data = data.replace(secret, HIDDEN.encode())
    return data


def _give_back(endpoint: Endpoint, fault: RequestFault | None) -> None:
    if fault is None:
        endpoint.leave()
        return
    endpoint.seen = endpoint.seen or fault.kind not in NEVER_WORKED
    if fault.status in (429, 503, 529):  # the last is Anthropic's, when it is overloaded
        endpoint.refused(fault.asked)
    else:
        endpoint.leave()


async def _start_of(reply: HttpReply) -> bytes:
    """Return the first part of an error's body; the connection stays in use if that is all of it."""
    pieces, size = [], 0
    with suppress(RequestFault, OSError):  # the status says enough; OSError: the time is up
        async with aclosing(reply.pieces(sys.maxsize)) as parts:
            async for piece in parts:
                pieces.append(piece)
                size += len(piece)
                if size > MOST_ERROR_BYTES:
                    break
    return b"".join(pieces)


def _decoded_again(data: bytes, reply: HttpReply, decode: Callable[[bytes], T]) -> T:
    try:
        return decode(repaired(data, reply.charset))
    except (ValueError, RecursionError) as error:  # msgspec's errors are ValueErrors
        raise RequestFault("not_json", not_json(data, error)) from error
