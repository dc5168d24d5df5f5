"""Models of an Ollama server: `ollama:MODEL`, at OLLAMA_HOST or on its usual port of this machine."""

import os
from collections.abc import Mapping

from proctor.core.parts import ModelPart
from proctor.models.openai import ChatModel, Options, make_served

ADDRESS = "http://localhost:11434"


def address(host: str | None = None) -> str:
    """Return the address of the server: that of OLLAMA_HOST, which may be a host alone, or the usual one.

    >>> address("gpu")
    'http://gpu:11434'
    """
    host = (os.environ.get("OLLAMA_HOST", "") if host is None else host).strip().rstrip("/")
    if not host:
        return ADDRESS
    host = host if "://" in host else f"http://{host}"
    scheme, _, rest = host.partition("://")
    rest = rest.replace("0.0.0.0", "localhost", 1)  # noqa: S104 - what a server listens on is no address to call
    return f"{scheme}://{rest}" if ":" in rest or scheme == "https" else f"{scheme}://{rest}:11434"


def make(argument: str, options: Mapping[str, object]) -> ChatModel:
    """Return the model `ollama:MODEL` with the options of `openai:`."""
    return make_served("ollama", argument, options, f"{address()}/v1", "OLLAMA_API_KEY")


PART = ModelPart(make=make, options=Options)
