"""Decide what an exception out of the user's agent means: the agent's failure, its provider's, or nobody knows whose.

Frameworks call models through the clients of other libraries, each with errors of its own; they are known here by the
library they come from and the status they carry, without importing any of them. A program can only tell in words: the
traceback that it wrote last is read in the same way.

    what failed                                             by a client of models   by a library that tools use too
    no connection, DNS, TLS, no time, a broken reply        provider_failed         undecided
    408, 409, 425, 429, 5xx                                 provider_failed         undecided
    401, 402, 403, 404                                      the run stops           undecided
    400, 413, 422: the conversation is too long             scored, "length"        the same, if the reply is known
    400, 413, 422: a content filter holds it back           scored, "filtered"      the same, if the reply is known
    400, 413, 422 and other 4xx                             provider_failed         undecided
    anything else that is raised                            agent_failed            agent_failed

A library that tools use too counts as a client of models where the address that it asked is one of a model.
"""

import asyncio
import re
import subprocess
import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import dropwhile
from types import FrameType
from typing import Literal, NamedTuple

from proctor.core.errors import AgentFailed, EndpointRefused, ProctorError, ProviderFailed, Undecided
from proctor.core.sentence import say
from proctor.transport.faults import NotAccepted, RequestFault, shown, stop_of
from proctor.transport.redact import quoted

CLIENTS = (
    "openai",
    "anthropic",
    "google.genai",
    "groq",
    "mistralai",
    "cohere",
    "together",
    "ollama",
    "litellm",
    "huggingface_hub",
    "pydantic_ai",
    "google.api_core",
    "google.adk.models",
    "volcenginesdkarkruntime",
)
NETWORK = (  # tools use these too
    *("httpx", "httpx2", "httpcore", "httpcore2", "aiohttp", "requests", "urllib3", "urllib.error", "http.client"),
    *("ssl", "socket"),
)
CALL_CLIENTS = ("google.adk.models", "pydantic_ai")  # of CLIENTS: another client reads the reply for them
REPLIES = ("httpx", "requests", "aiohttp", "http.client", "urllib3")  # modules of their classes
BUILT_IN = ("ConnectionError", "TimeoutError", "gaierror", "IncompleteRead")
MODEL_PATHS = re.compile(
    r"/(?:(?:chat/)?completions|responses|messages|embeddings|api/(?:chat|generate))/?(?:\?|$)|:(?:streamG|g)enerateContent"
)
REFUSES = (401, 402, 403, 404)
FAILS = (408, 409, 425, 429)
NOT_ANSWERED = (
    "Connect",
    "Timeout",
    "Protocol",
    "Read",
    "SSL",
    "URLError",
    "gaierror",
    "APIResponseValidation",
    "Payload",
    "Disconnect",
)
BROKEN_OFF = ("APIError", "ModelAPIError")  # an error in the middle of a stream has no status
BROKEN_BODY = ("JSONDecodeError",)  # in code of the client itself
MOST_LINKS = 30
MOST_BODY = 4_000

RaisedBy = Literal["tool", "model"] | None

_TRACEBACK = "Traceback (most recent call last):"
_CHAINED = ("another exception occurred:", "direct cause of the following exception:")
_RAISED = re.compile(r"^(?P<name>(?:[A-Za-z_]\w*\.)*[A-Za-z_]\w*)(?:: (?P<text>.*))?$", re.MULTILINE)
_STATUS = re.compile(r"(?:\b|_)([45]\d\d)\b")


class _Failed(NamedTuple):
    """What an exception tells of a request that failed.

    Attributes:
        libraries: the modules of its class and those it inherits from; `names` are those of the classes.
        status: of the reply, 0 without one.
        text: what it says; `body` is the reply, as far as it is known.
        url: what was asked, if that is known.
    """

    libraries: Sequence[str]
    names: Sequence[str]
    status: int
    text: str
    body: str = ""
    url: str = ""


@contextmanager
def map_agent_errors(raised_by: Callable[[BaseException], RaisedBy] = lambda _: None) -> Iterator[None]:
    """Turn what the user's agent raises inside into our errors; ours, and a cancellation from outside, pass through.

    Args:
        raised_by: returns whether a tool or the model raised an exception, if that is known.

    Raises:
        AgentFailed: the agent raised; the cause is kept.
        ProviderFailed: the provider of its model failed.
        Refused: the provider refuses the key or the model, so no further question will do better.
        Undecided: a request failed, and nothing shows whether it asked the model or a tool.
    """
    try:
        yield
    except asyncio.CancelledError as error:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        raise agent_error(error) from error  # the agent's own: nobody cancelled us
    except ProctorError:
        raise
    except (Exception, SystemExit) as error:
        raise agent_error(error, raised_by(error)) from error


def agent_error(error: BaseException, raised_by: RaisedBy = None) -> ProctorError:
    """Return our error for an exception; the provider's if one of its errors caused it.

    Args:
        raised_by: where that is known. What a tool raised is the agent's, whatever it is; of a model, errors of the
            network count as the provider's too.

    >>> agent_error(ValueError("no")).sentence.values["error"]
    'no'
    """
    failed = [one for cause in _causes(error) for one in _failed(cause)] if raised_by != "tool" else []
    return _decide(failed, raised_by) or AgentFailed(
        "The agent raised {type}: {error}", kind="raised", type=type(error).__name__, error=quoted(error)
    )


def error_in_words(text: str) -> ProctorError | None:
    """Return our error for what a program wrote, if the traceback at its end names a failed request; else None.

    >>> type(error_in_words("Traceback (most recent call last):\\n  …\\nopenai.RateLimitError: Error code: 429")).__name__
    'ProviderFailed'
    """
    return _decide([*_failed_in_words(text)], None)


def _decide(failed: Sequence[_Failed], raised_by: RaisedBy) -> ProctorError | None:
    for one in failed:
        is_model = raised_by == "model" or bool(MODEL_PATHS.search(one.url))
        if _is_from(one, (*CLIENTS, *NETWORK) if is_model else CLIENTS) or (is_model and _is_built_in(one)):
            known = _model_error(one)
            if known is not None:
                return known
    for one in failed:
        stop = stop_of(one.body) if one.body else None
        if stop is not None:
            return _not_accepted(one)
        if _is_from(one, NETWORK) or _is_built_in(one):
            return Undecided(
                "A request of the agent failed ({type}: {text}), and nothing shows whether it asked its model or a tool.",
                kind="request",
                type=one.names[0],
                text=shown(one.text).rstrip(".") or "-",
            )
    return None


def _model_error(one: _Failed) -> ProctorError | None:
    """Return what an error of a model's client means; None for one that is no failed request."""
    status, text = one.status, shown(one.text).rstrip(".") or "-"
    if status in REFUSES or ("OpenAIError" in one.names and not status and "api_key" in one.text):
        return EndpointRefused(
            "The provider of the agent's model refuses the key, the model or the address ({type}): {text}. Check what the agent is configured with.",
            status=status,
            type=one.names[0],
            text=text,
        )
    if 400 <= status < 500 and status not in FAILS:
        return _not_accepted(one)
    is_cut_off = not status and (
        one.names[0] in (*BROKEN_OFF, *BROKEN_BODY) or any(word in name for name in one.names for word in NOT_ANSWERED)
    )
    if not status and not is_cut_off and not _is_built_in(one):
        return None
    return ProviderFailed(
        "The provider of the agent's model failed ({type}): {text}", kind=_kind(one), type=one.names[0], text=text
    )


def _not_accepted(one: _Failed) -> NotAccepted:
    text = shown(one.text).rstrip(".") or "-"
    said = say("The provider of the agent's model does not accept the request ({type}): {text}", type=one.names[0], text=text)  # fmt: skip
    words = f"{' '.join(one.names)} {one.body}"  # a library may have a class of its own for it
    return NotAccepted(
        said, RequestFault(f"http_{one.status or 400}", text, status=one.status, again=False, code=words)
    )


def _kind(one: _Failed) -> str:
    if one.status:
        return f"http_{one.status}"
    return "timeout" if any("Timeout" in name or "timed out" in one.text for name in one.names) else "connect"


def _is_from(one: _Failed, libraries: Iterable[str]) -> bool:
    return any(own == name or own.startswith(f"{name}.") for own in one.libraries for name in libraries)


def _is_built_in(one: _Failed) -> bool:
    return any(library == "builtins" for library in one.libraries) and any(name in BUILT_IN for name in one.names)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception, those it was raised from or while handling (`from None` only hides them), and those in groups; each once."""
    todo, seen = [error], set[int]()
    while todo and len(seen) < MOST_LINKS:
        exception = todo.pop(0)
        if id(exception) in seen:
            continue
        seen.add(id(exception))
        yield exception
        if isinstance(exception, BaseExceptionGroup):
            todo.extend(exception.exceptions)
        todo.extend(linked for linked in (exception.__cause__, exception.__context__) if linked is not None)


def _failed(error: BaseException) -> Iterator[_Failed]:
    if isinstance(error, subprocess.CalledProcessError):
        for words in (error.stderr, error.output):
            yield from _failed_in_words(words.decode("utf-8", "replace") if isinstance(words, bytes) else words or "")
        return
    libraries = [kind.__module__ for kind in type(error).__mro__ if kind not in (object, BaseException, Exception)]
    response, request = getattr(error, "response", None), None
    if type(error).__name__ in BROKEN_BODY:
        response = _unread_reply(error) if response is None else response
        libraries += [*_raised_in(error), *([type(response).__module__] if response is not None else ())]
    with suppress(Exception):  # httpx raises where there is none
        request = getattr(error, "request", None) or getattr(error, "request_info", None)
    url = getattr(request, "url", None) or getattr(error, "url", None) or getattr(response, "url", None)
    yield _Failed(
        libraries=libraries,
        names=[kind.__name__ for kind in type(error).__mro__],
        status=_status(error),
        text=str(error),
        body=_body(error, response),
        url=str(url or ""),
    )


def _failed_in_words(text: str) -> Iterator[_Failed]:
    """Yield the exceptions of the last traceback in a text, the last one first."""
    _, *parts = text.split(_TRACEBACK)
    if not parts:
        return
    chain = [parts.pop()]
    while parts and parts[-1].rstrip().endswith(_CHAINED):
        chain.append(parts.pop())
    for part in chain:
        for match in _RAISED.finditer(part):
            library, _, name = match["name"].rpartition(".")
            said = match["text"] or ""
            status = _STATUS.search(said[:200]) if library else None
            yield _Failed(
                libraries=[library or "builtins"],
                names=[name, *(["ConnectionError"] if name.startswith("Connection") else [])],
                status=int(status[1]) if status is not None else 0,
                text=said,
                body=said,
            )


def _raised_in(error: BaseException) -> list[str]:
    """Return the module whose code read the reply, and those of the network's libraries that it read it with.

    None where what could not be read are the arguments of a call, which the model wrote.
    """
    names = [str(frame.f_globals.get("__name__", "")) for frame in _frames(error)]
    modules = []
    for name in dropwhile(lambda name: name.split(".")[0] in ("json", "simplejson"), names):
        modules.append(name)
        if name.split(".")[0] not in NETWORK:
            break
    return [] if len(modules) == 1 and modules[0].startswith(CALL_CLIENTS) else modules


def _unread_reply(error: BaseException) -> object:
    """Return the reply whose whole body was no JSON, where the code that read it still holds it; else None.

    A part of a body, such as the model's words, is as long and as worded as no body is: that is the agent's to read.
    """
    text = getattr(error, "doc", None)
    if not isinstance(text, str):
        return None
    for frame in _frames(error)[:MOST_LINKS]:
        for value in [*frame.f_locals.values()]:
            with suppress(Exception):  # objects of the user, and replies that were closed
                if type(value).__module__.startswith(REPLIES) and value.url:
                    length = value.headers.get("content-length")
                    if getattr(value, "text", None) == text or length == str(len(text.encode())):
                        return value
    return None


def _frames(error: BaseException) -> list[FrameType]:
    """Return the frames that an exception passed, the innermost first."""
    return [frame for frame, _ in traceback.walk_tb(error.__traceback__)][::-1]


def _body(error: BaseException, response: object) -> str:
    """Return the reply that an error carries, as text; '' where it is not known."""
    for value in (getattr(error, "body", None), getattr(response, "text", None), getattr(error, "message", None)):
        with suppress(Exception):  # a reply that was streamed, or not read
            if isinstance(value, str | dict | bytes) and value:
                return str(value)[:MOST_BODY]
    if getattr(error, "fp", None) is not None and callable(read := getattr(error, "read", None)):
        with suppress(Exception):
            if data := read(MOST_BODY):  # urllib's errors are replies
                return str(data.decode("utf-8", "replace"))
    return str(error)[:MOST_BODY]


def _status(error: BaseException) -> int:
    """Return the HTTP status an error carries, in itself or in its response; 0 without one."""
    for holder, name in (
        (error, "status_code"),
        (error, "status"),
        (getattr(error, "response", None), "status_code"),
        (error, "code"),  # the last one, as aiohttp warns of its use
    ):
        value = getattr(holder, name, None)
        if isinstance(value, int) and 100 <= value < 600:
            return value
    return 0
