"""Models of an Ollama server: `ollama:MODEL`, at OLLAMA_HOST or on its usual port of this machine."""

import os
from collections.abc import Mapping

from proctor.core.parts import ModelPart
from proctor.models.openai import ChatModel, OpenAIOptions, make_served

ADDRESS = "http://localhost:11434"
_PORTS = {"http": "80", "https": "443"}  # of an address with its scheme
_LISTENED_ON = ("", "0.0.0.0", "[::]")  # noqa: S104 - what a server listens on is no address to call


def address(host: str | None = None) -> str:
    """Return the address of the server: that of OLLAMA_HOST, read as Ollama reads it, or the usual one.

    >>> address("gpu"), address("http://gpu"), address("https://gpu/ollama"), address("::1")
    ('http://gpu:11434', 'http://gpu:80', 'https://gpu:443/ollama', 'http://[::1]:11434')

    Source: ollama/ollama, envconfig/config.go, `Host`.
    """
    host = (os.environ.get("OLLAMA_HOST", "") if host is None else host).strip().rstrip("/")
    if not host:
        return ADDRESS
    scheme, _, rest = host.rpartition("://")
    authority, slash, path = rest.partition("/")
    if authority.count(":") > 1 and not authority.startswith("["):
        authority = f"[{authority}]"
    name, colon, port = authority.rpartition(":")
    if not colon or port.endswith("]"):
        name, port = authority, _PORTS.get(scheme, "11434")
    name = "localhost" if name in _LISTENED_ON else name
    return f"{scheme or 'http'}://{name}:{port}{slash}{path}"


def make(argument: str, options: Mapping[str, object]) -> ChatModel:
    """Return the model `ollama:MODEL` with the options of `openai:`."""
    return make_served("ollama", argument, options, f"{address()}/v1", "OLLAMA_API_KEY")


PART = ModelPart(make=make, options=OpenAIOptions)
