"""Classify what went wrong with a request: a short kind to count by, whether to send it again, and the error for people."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from proctor.core.errors import EndpointRefused, ProctorError, ProviderFailed
from proctor.core.sentence import Sentence, clip, say
from proctor.core.trial import FailedRequest
from proctor.transport.headers import asked_seconds
from proctor.transport.redact import redact
from proctor.transport.retry import AGAIN

SHOWN = 300
MOST_CAUSES = 20
NEVER_CONNECTED = ("dns", "connect", "tls")
NEVER_WORKED = (*NEVER_CONNECTED, "not_http", "not_json")  # with a wrong address too, so that it is not tried for long
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_TITLE = re.compile(r"<title[^>]{0,200}>([^<]{1,200})", re.IGNORECASE)
_WAIT = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")
_BAD_KEY = ("API_KEY_INVALID",)  # Google, with status 400
_NO_CREDIT = "credit balance is too low"  # Anthropic, with status 400
_FILTERED = re.compile(
    r"content[ _]?filter|content[ _]?(?:management|policy)|ResponsibleAIPolicy|data_inspection_failed|sensitive[ _]words?",
    re.IGNORECASE,
)
_TOO_LONG = re.compile(
    r"context[ _]?(?:length|window|size)|ContextWindow|prompt is too long|(?:input|prompt|request) (?:token count )?"
    r"(?:is too long|exceeds the maximum|exceeds the limit)|reduce the length|too many (?:input )?tokens",
    re.IGNORECASE,
)
_COUNTS = re.compile(r"length is (\d{1,9}) tokens.{1,80}\((\d{1,9}) in the messages", re.IGNORECASE)
_TOO_MUCH_ASKED = re.compile(r"max_(?:completion_|output_)?tokens", re.IGNORECASE)  # an option of the agent
_OUT_OF_MONEY = ("insufficient_quota", "billing_hard_limit_reached", "insufficient_balance")

REFUSED = {
    "http_401": "{where} refuses the key (status {status}): {text}. {advice}",
    "http_402": "{where} wants to be paid first (status {status}): {text}. {advice}",
    "http_403": "{where} refuses the key (status {status}): {text}. {advice}",
    "http_404": "{where} does not know this address or model (status {status}): {text}. {advice}",
    "http_407": "The proxy on the way to {where} refuses us (status {status}): {text}. Put user and password into HTTP_PROXY or HTTPS_PROXY: http://USER:PASSWORD@HOST:PORT.",
}
BROKEN = {
    "dns": "The name of {host} cannot be found (DNS): {text}. Check the address and the network. {advice}",
    "connect": "There is no connection to {host}: {text}. Check that the server runs, the address, and the proxy settings. {advice}",
    "tls": "There is no secure connection to {host}: {text}. Check the address, the clock, and SSL_CERT_FILE if the certificate authority is your own.",
    "timeout": "{host} did not answer in time, tried {times} times. Raise the option 'timeout', or look at the server.",
    "reset": "{host} closed the connection before its reply was complete, tried {times} times: {text}",
    "truncated": "{host} closed the connection before its reply was complete, tried {times} times: {text}",
    "not_http": "{host} does not speak HTTP: {text}. Check the address. {advice}",
    "not_json": "{host} sent no JSON, tried {times} times: {text}. Check that {where} is the address of the API. {advice}",
    "no_reply": "{host} sent no usable reply, tried {times} times: {text}",
    "too_large": "{host} sent a reply above the limit of {text} bytes, tried {times} times.",
    "request_too_large": "The request is above the limit of {text} bytes, so it was not sent to {host}.",
    "later": "{host} asks to come back in {seconds} seconds (status {status}): {text}. Go on then with --retry-failed, or raise the option 'retry_seconds'.",
    "status": "{host} failed with status {status}, tried {times} times: {text}",
}


class RequestFault(Exception):
    """A request that failed.

    Attributes:
        kind: connect, dns, tls, timeout, reset, truncated, not_http, not_json, no_reply, too_large, or http_<status>.
        text: what was seen, short and without keys; `code` is the error code the server gave.
        status: of the reply; 0 without one.
        again: True if sending the request again can help.
        asked: how many seconds the server wants us to wait.
    """

    def __init__(
        self,
        kind: str,
        text: Sentence | str = "",
        *,
        status: int = 0,
        again: bool = True,
        asked: float | None = None,
        code: str = "",
    ) -> None:
        super().__init__(kind)
        self.kind = kind
        self.text = text
        self.status = status
        self.again = again
        self.asked = asked
        self.code = code

    @property
    def may_have_worked(self) -> bool:
        """True if the server may have done what it was asked for, and only its reply was lost."""
        return self.again and self.status != 429 and self.kind not in NEVER_CONNECTED


class NotAccepted(ProviderFailed):
    """The endpoint does not accept this one request, such as a prompt that is too long; `code` is its word for it.

    Attributes:
        stop: "length" if the conversation is longer than the model can read, and "filtered" if a content filter holds it
            back. Both are answers of the model under test, which are scored; None for a request that is wrong in itself.
    """

    def __init__(self, said: Sentence, fault: RequestFault) -> None:
        super().__init__(said, kind=fault.kind)
        self.status = fault.status
        self.code = fault.code
        self.stop = stop_of(f"{fault.code} {said}")


def stop_of(text: str) -> Literal["length", "filtered"] | None:
    """Return how a request ended that was not accepted, by the words of the endpoint; None where it was wrong in itself.

    >>> stop_of("This model's maximum context length is 8192 tokens, your messages have 9000"), stop_of("bad tool")
    ('length', None)
    """
    if _FILTERED.search(text):
        return "filtered"
    if not _TOO_LONG.search(text):
        return None
    if (counts := _COUNTS.search(text)) is not None:  # the reply that was asked for counts too
        return "length" if int(counts[2]) >= int(counts[1]) else None
    return None if _TOO_MUCH_ASKED.search(text) else "length"


def reached(calls: Sequence[FailedRequest]) -> int:
    """Return how many of the requests that failed had a connection, so that they may have been counted and billed.

    >>> reached([FailedRequest(cause="http_500: overloaded", status=500), FailedRequest(cause="dns: no such name")])
    1
    """
    return sum(call.cause.partition(":")[0] not in NEVER_CONNECTED for call in calls)


def fault_of(error: Exception) -> RequestFault | None:
    """Return the fault that caused an exception; None if the network did not cause it."""
    match error:
        case RequestFault():
            return error
        case TimeoutError():
            kind = "timeout"
        case OSError():
            kind = "reset"
        case _:
            return None
    return RequestFault(kind, shown(str(error) or type(error).__name__))


def without_traces(error: BaseException | None) -> None:
    """Drop the frames of an error and of those that caused it, as they keep what was being read in memory.

    The error would keep itself alive by them, until the garbage collector looks: with a large reply for every attempt.
    """
    for _ in range(MOST_CAUSES):
        if error is None:
            return
        error.__traceback__ = None
        error = error.__cause__ or error.__context__


def fault_of_status(status: int, headers: Mapping[str, str], body: bytes, secrets: Sequence[str] = ()) -> RequestFault:
    """Return the fault that a status other than 2xx reports, with the server's own text."""
    text, code, asked = _said(body, secrets)
    again = status in AGAIN or status >= 500
    meant = status  # where 400 is all that is said
    if status == 400 and (code in _BAD_KEY or _NO_CREDIT in text):
        meant = 401 if code in _BAD_KEY else 402
    if meant == 402 or code in _OUT_OF_MONEY:
        again = False
    if 300 <= status < 400:
        text = shown(re.split("[?#]", headers.get("location", ""), maxsplit=1)[0], secrets)  # a query may hold keys
    return RequestFault(
        f"http_{meant}", text, status=status, again=again, asked=asked_seconds(headers) or asked, code=code
    )


def final_error(
    fault: RequestFault, *, where: str, host: str, attempts: int, advice: Sentence | str, too_late: bool = False
) -> ProctorError:
    """Return the error that ends a call: what happened, where, how often, and what to do.

    `too_late` says that the server named a time to come back that is beyond the policy.
    """
    status, text = fault.status, fault.text
    if isinstance(text, str):
        text = text.rstrip(".") or "-"
    if fault.kind in REFUSED:
        return EndpointRefused(
            REFUSED[fault.kind], kind=fault.kind, where=where, status=status, text=text, advice=advice
        )
    if status == 429 and not fault.again:
        return EndpointRefused(
            "The quota at {where} is used up: {text}. {advice}", kind="quota", where=where, text=text, advice=advice
        )
    if 300 <= status < 400:
        return EndpointRefused(
            "{where} redirects to {text} (status {status}). Give the final address. {advice}",
            where=where,
            status=status,
            text=text,
            advice=advice,
        )
    if status and not fault.again:
        said = say("{host} does not accept this request (status {status}): {text}", host=host, status=status, text=text)
        return NotAccepted(said, fault)
    kind = fault.kind if fault.kind in BROKEN else "later" if too_late else "status"
    return ProviderFailed(
        BROKEN[kind],
        kind=fault.kind,
        where=where,
        host=host,
        status=status,
        times=attempts,
        seconds=f"{fault.asked or 0:g}",
        text=text,
        advice=advice,
    )


def shown(text: str, secrets: Sequence[str] = ()) -> str:
    """Return a text of a server or library in the form in which a message may quote it: one line, short, without keys and control codes.

    >>> shown("no\\x1b[31m way\\n" + "x" * 400)[:12]
    'no [31m way '
    """
    text = _CONTROL.sub(" ", redact(text[: 4 * SHOWN], secrets)).strip()
    return clip(text, SHOWN)


def not_json(data: bytes, error: Exception) -> str:
    """Return what came instead of JSON, in a few words."""
    start = data[:200].decode("utf-8", "replace").strip()
    return shown("an empty body" if not start else "a web page" if start.startswith("<") else f"{error}; {start!r}")


def _said(body: bytes, secrets: Sequence[str]) -> tuple[str, str, float | None]:
    """Return the message and the code in the body of an error, in the forms that are common, and the seconds that it asks for."""
    try:
        said = json.loads(body)
    except (ValueError, RecursionError):
        text = body.decode("utf-8", "replace").strip()
        title = _TITLE.search(text) if text[:1] == "<" else None
        return shown(f"a web page: {title[1]}" if title else text, secrets), "", None
    if isinstance(said, list) and len(said) == 1:  # Google's chat completions
        said = said[0]
    error = said.get("error", said) if isinstance(said, dict) else said
    if not isinstance(error, dict):
        return shown(str(error), secrets), "", None
    text = next((error[key] for key in ("message", "detail", "msg", "error") if error.get(key)), said)
    code, asked = _of_google(error.get("details"))
    return shown(str(text), secrets), code or str(error.get("code") or error.get("type") or ""), asked


def _of_google(details: object) -> tuple[str, float | None]:
    """Return the reason and the wait in the details of an error of Google (google/rpc/error_details.proto).

    A quota of a whole day is one that is used up.
    """
    reason, asked = "", None
    for detail in details[:MOST_CAUSES] if isinstance(details, list) else ():
        if not isinstance(detail, dict):
            continue
        reason = reason or str(detail.get("reason") or "")
        if (wait := _WAIT.fullmatch(str(detail.get("retryDelay")))) is not None:
            asked = float(wait[1])
        if "PerDay" in str(detail.get("violations")):
            reason = "insufficient_quota"
    return reason, asked
