"""Find the model servers that run on this machine: Ollama and vLLM on their usual ports."""

import os
from collections.abc import Sequence

import msgspec

from proctor.chat.dialect import bearer
from proctor.core.errors import ProctorError
from proctor.models import ollama, vllm
from proctor.runtime.concurrent import run_together
from proctor.transport.client import Client
from proctor.transport.retry import RetryPolicy
from proctor.transport.target import RequestTarget
from proctor.transport.terms import RequestTerms

SECONDS = 2.0  # a server on this machine answers at once, or is none
MOST_SHOWN = 50


class ModelEntry(msgspec.Struct, frozen=True):
    id: str


class ModelList(msgspec.Struct, frozen=True):
    data: list[ModelEntry] | None = None


class ModelServer(msgspec.Struct, frozen=True, kw_only=True):
    """A server that runs, and the names of its models as `--agent` takes them."""

    kind: str
    address: str
    models: Sequence[str]


_decoder = msgspec.json.Decoder(ModelList)


async def find_running() -> list[ModelServer]:
    """Return the servers that answer, in a moment."""
    places = {"ollama": f"{ollama.address()}/v1", "vllm": os.environ.get("VLLM_BASE_URL") or vllm.ADDRESS}
    async with Client(policy=RetryPolicy(attempts=1, attempts_at_first=1)) as client:
        servers = await run_together(*(_ask(client, kind, address) for kind, address in places.items()))
    return [server for server in servers if server is not None]


async def find_endpoint() -> ModelServer | None:
    """Return the OpenAI-compatible server that the environment names, if it lists its models; the official one is asked for none."""
    address = os.environ.get("OPENAI_BASE_URL") or os.environ.get("LLM_BASE_URL")
    if not address:
        return None
    async with Client(policy=RetryPolicy(attempts=1, attempts_at_first=1)) as client:
        return await _ask(client, "openai", address, os.environ.get("LLM_API_KEY", ""))


async def _ask(client: Client, kind: str, address: str, key: str = "") -> ModelServer | None:
    headers = bearer((os.environ.get(f"{kind.upper()}_API_KEY") or key).strip())
    url = f"{address.rstrip('/')}/models"
    target = RequestTarget(
        url, method="GET", headers=headers, terms=RequestTerms(seconds=SECONDS, connect_seconds=SECONDS)
    )
    try:
        listed = await client.post(target, None, _decoder.decode)
    except ProctorError:
        return None
    names = [f"{kind}:{entry.id}" for entry in (listed.data or ())[:MOST_SHOWN]]
    return ModelServer(kind=kind, address=address, models=names)
