"""Tell what an exception out of the user's agent means: the agent's own fault, or that of the model's provider.

Frameworks call models through the clients of other libraries, each with errors of its own; they are known here by the
library they come from and the status they carry, without importing any of them.
"""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Literal

from proctor.core.errors import AgentFailed, ProctorError, ProviderFailed, Refused
from proctor.transport.faults import shown
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
NETWORK = ("httpx", "httpx2", "httpcore", "httpcore2", "aiohttp", "requests", "urllib3")  # tools use these too
REFUSES = (401, 402, 403, 404)
FAILS = (408, 409, 425, 429)
NOT_ANSWERED = ("Connect", "Timeout", "APIResponseValidation")
BROKEN_OFF = ("APIError", "ModelAPIError")  # an error in the middle of a stream has no status
MOST_LINKS = 30

RaisedBy = Literal["tool", "model"] | None


@contextmanager
def map_agent_errors(raised_by: Callable[[BaseException], RaisedBy] = lambda _: None) -> Iterator[None]:
    """Turn what the user's agent raises inside into our errors; ours, and a cancellation from outside, pass through.

    Args:
        raised_by: returns whether a tool or the model raised an exception, if that is known.

    Raises:
        AgentFailed: the agent raised; the cause is kept.
        ProviderFailed: the provider of its model failed.
        Refused: the provider refuses the key or the model, so no further question will do better.
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
    if raised_by != "tool":
        for cause in _causes(error):
            if (provider_error := _provider_error(cause, raised_by)) is not None:
                return provider_error
    return AgentFailed(
        "The agent raised {type}: {error}", kind="raised", type=type(error).__name__, error=quoted(error)
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the exception, those it was raised from or while handling, and those in groups; each once."""
    todo, seen = [error], set[int]()
    while todo and len(seen) < MOST_LINKS:
        one = todo.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        if isinstance(one, BaseExceptionGroup):
            todo.extend(one.exceptions)
        linked = one.__cause__ or (None if one.__suppress_context__ else one.__context__)
        if linked is not None:
            todo.append(linked)


def _provider_error(error: BaseException, raised_by: RaisedBy) -> ProctorError | None:
    clients = CLIENTS if raised_by is None else (*CLIENTS, *NETWORK)
    names = [kind.__name__ for kind in type(error).__mro__ if _is_one_of(kind, clients)]
    if raised_by == "model" and isinstance(error, ConnectionError | TimeoutError | OSError):
        names.append("TimeoutError" if isinstance(error, TimeoutError) else "ConnectionError")
    if not names:
        return None
    status, text = _status(error), shown(str(error)).rstrip(".") or "-"
    if status in REFUSES or ("OpenAIError" in names and not status and "api_key" in text):
        return Refused(
            "The provider of the agent's model refuses the key, the model or the address ({type}): {text}. Check what the agent is configured with.",
            status=status,
            type=names[0],
            text=text,
        )
    if status in FAILS or status >= 500:
        kind = f"http_{status}"
    elif not status and (names[0] in BROKEN_OFF or any(word in name for name in names for word in NOT_ANSWERED)):
        kind = "timeout" if any("Timeout" in name for name in names) else "connect"
    else:
        return None
    return ProviderFailed(
        "The provider of the agent's model failed ({type}): {text}", kind=kind, type=names[0], text=text
    )


def _is_one_of(kind: type, libraries: Iterable[str]) -> bool:
    return any(kind.__module__ == one or kind.__module__.startswith(f"{one}.") for one in libraries)


def _status(error: BaseException) -> int:
    """Return the HTTP status an error carries, in itself or in its response; 0 without one."""
    for value in (
        getattr(error, "status_code", None),
        getattr(getattr(error, "response", None), "status_code", None),
        getattr(error, "code", None),
    ):
        if isinstance(value, int) and 100 <= value < 600:
            return value
    return 0
