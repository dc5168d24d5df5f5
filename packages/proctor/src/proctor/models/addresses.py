"""Read the options that every address of a model shares: limits, retries, headers and variables of the environment."""

import os
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal
from urllib.parse import quote

import msgspec

from proctor.core.errors import BadInput
from proctor.transport.retry import RetryPolicy

Count = Annotated[int, msgspec.Meta(ge=1)]
Positive = Annotated[float, msgspec.Meta(gt=0)]
Effort = Literal["none", "minimal", "low", "medium", "high", "xhigh", "max"]
_VARIABLE = re.compile(r"\{env:(\w+)\}")


class ModelOptions(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of a chat model, however it is reached.

    Attributes:
        base_url: the address of the API; else that of the environment, or of the provider.
        api_key_env: the environment variable that holds the key.
        max_tokens: tokens of a reply at most.
        reasoning_effort: how much the model may think; which of the words a model takes is said by its provider.
        timeout: seconds, of one request; else LLM_TIMEOUT and our default.
        headers: more headers; a value `env:NAME` is read from the environment.
        tools: "native" offers tools as the API does, "prompt" describes them in words.
        max_steps: requests at most in one turn when tools are run; else the limit of steps of the run.
        retries, retry_seconds: how often a request is sent again at most, and for how long.
        concurrency, requests_per_minute, tokens_per_minute: fixed limits; without them the pace adapts.
        pictures: send the pictures in results of tools; false for a model of text only, which gets a line about each instead.
        pdf, sound: send PDFs, or WAV and MP3 files, in questions and results; false for a model that gets a line instead.
    """

    base_url: str | None = None
    api_key_env: str | None = None
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: Count | None = None
    stop: str | Sequence[str] | None = None
    reasoning_effort: Effort | None = None
    timeout: Positive | None = None
    headers: Mapping[str, str] = {}
    tools: Literal["native", "prompt"] = "native"
    max_steps: Count | None = None
    retries: Annotated[int, msgspec.Meta(ge=0)] | None = None
    retry_seconds: Annotated[float, msgspec.Meta(ge=0)] | None = None
    concurrency: Count | None = None
    requests_per_minute: Positive | None = None
    tokens_per_minute: Positive | None = None
    pictures: bool = True
    pdf: bool = True
    sound: bool = True

    def stops(self) -> list[str]:
        """Return the texts at which a reply stops."""
        return [self.stop] if isinstance(self.stop, str) else list(self.stop or ())


class EndpointOptions(ModelOptions, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The options of a chat model that we send the requests to ourselves, whatever its API.

    Attributes:
        model: the name of the model, where it does not follow the colon.
        first_byte_timeout, connect_timeout: seconds, of one request.
        client_certificate: a PEM file with a certificate and its key, for an endpoint that asks for one.
        extra_body: more fields of the request, as they are.
        stream: ask for a stream, and measure the time to the first token.
    """

    model: str | None = None
    first_byte_timeout: Positive | None = None
    connect_timeout: Positive | None = None
    client_certificate: str | None = None
    extra_body: Mapping[str, Any] = {}
    stream: bool = False


def refuse_keys(values: Mapping[str, object], variable: str) -> None:
    """Refuse a key among options, which are stored with the run.

    Raises:
        BadInput: there is one.
    """
    for name in ("api_key", "key", "token"):
        if name in values:
            raise BadInput(
                "A key is no option, because options are stored with the run. Put it into {variable}, or into a variable that the option 'api_key_env' names.",
                variable=variable,
            )


def access_of(
    options: EndpointOptions, official: str, addresses: Sequence[str], keys: Sequence[str]
) -> tuple[str, str]:
    """Return the base URL, and the variable with the key: the first of those of the API that is set.

    Raises:
        BadInput: the variable that an option names is not set.
    """
    base = options.base_url or next((url for name in addresses if (url := os.environ.get(name))), official)
    if options.api_key_env is None:
        return base, next((name for name in keys if os.environ.get(name)), keys[0])
    if not os.environ.get(options.api_key_env):
        raise BadInput(
            "The environment variable {variable} is not set, but the option 'api_key_env' names it.",
            variable=options.api_key_env,
        )
    return base, options.api_key_env


def policy_of(retries: int | None, retry_seconds: float | None) -> RetryPolicy | None:
    """Return the retry policy of these options; None when they leave it to the run."""
    if retries is None and retry_seconds is None:
        return None
    usual = RetryPolicy()
    attempts = usual.attempts if retries is None else retries + 1
    return RetryPolicy(
        attempts=attempts,
        attempts_at_first=usual.attempts_at_first if retries is None else attempts,
        budget_seconds=usual.budget_seconds if retry_seconds is None else retry_seconds,
    )


def fill_variables(address: str) -> str:
    """Return an address with each `{env:NAME}` in it replaced by that environment variable.

    Raises:
        BadInput: a variable is not set.
    """
    return _VARIABLE.sub(lambda found: quote(header_value("http", f"env:{found[1]}"), safe=""), address)


def header_value(name: str, value: str) -> str:
    """Return the value of a header; `env:NAME` is read from the environment variable NAME."""
    if not value.startswith("env:"):
        return value
    text = os.environ.get(value[4:])
    if not text:
        raise BadInput(
            "The header {header} wants the environment variable {variable}, which is not set.",
            header=name,
            variable=value[4:],
        )
    return text


def seconds_of_the_environment() -> float | None:
    """Return the time limit of one request in LLM_TIMEOUT, if it is set."""
    value = os.environ.get("LLM_TIMEOUT")
    try:
        seconds = float(value) if value else None
    except ValueError:
        seconds = 0.0
    if seconds is not None and not 0 < seconds < float("inf"):
        raise BadInput("LLM_TIMEOUT has to be a number of seconds, not '{value}'.", value=value)
    return seconds
